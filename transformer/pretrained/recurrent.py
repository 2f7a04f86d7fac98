"""Language models with a recurrent state, in which every new token takes the same time and memory.

The size of the state does not depend on the length of the sequence. The formulas define the initial state. Each step
computes the state after a token from the state before the token.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, ClassVar

import namedtensor as nt

from .generation import LanguageModel, last_logits, numbers, one, variant
from .model import families

STEP = """
    now = logits_{seq(1)}
"""
ALIGNED = nt.program("""
    moved = tokens_{seq(from)}
    real = { mask_{seq(from)} if iota_{seq} > after; 0 otherwise }
    from = max(iota_{seq} - after, 1)
    after = |seq| - max_{seq} { iota_{seq} if mask = 1; 1 otherwise }
    tokens ∈ ℝ^{seq}
    mask ∈ {0,1}^{seq}
""")


class RecurrentModel(LanguageModel):
    """A language model with a recurrent state.

    `memory` maps the name of each state before a call to the name of the state after the call. `cached` declares the
    shapes of the states. Before generation, padding after a prompt is moved in front of the prompt.
    """

    optional_inputs = ("mask",)
    cached: ClassVar[str] = ""

    def next_logits(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, ids: Any, mask: Any, positions: Any, tokens: list[Any], most: int, given: dict[str, Any]
    ) -> Iterator[nt.NamedTensor]:
        """Yield the logits of the next token at each step. The caller then appends its chosen token to `tokens`."""
        before, after = (families(self, names) for names in (self.memory, self.memory.values()))
        ids, mask = ALIGNED["moved", "real"](tokens=ids, mask=mask)
        states, *memory = self.evaluate(("states", *after), **{self.inputs[-1]: ids, "mask": mask, **given})
        constant = {name: value for name, value in self.stored.items() if isinstance(value, nt.NamedTensor)}
        yield last_logits(self, states, mask)
        step = self._step()["now", *after].bind(constant, self.sizes)
        for _ in range(1, most):
            now, *memory = step({self.inputs[-1]: one(tokens[-1]), **dict(zip(before, memory))})
            yield now

    def _step(self) -> nt.Program:
        """Return the formulas that compute the logits for one new token from the state.

        Plain numbers are inlined.
        """
        texts = (inspect.cleandoc(STEP), inspect.cleandoc(self.cached), *numbers(self))
        return variant(self.formula, "\n".join(texts), frozenset(self.memory))
