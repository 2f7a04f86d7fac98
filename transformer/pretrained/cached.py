"""Language models as PyTorch modules that accept and return a key-value cache.

module = model.module(cache=True)
logits, *cache = module(ids, *module.empty_cache(batch=1))
logits, *cache = module(next_ids, *cache)
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import namedtensor as nt
from grammar.nodes import Declaration
from grammar.printer import to_text
from namedtensor.layers import LayerModule

from .model import families

FORMULAS = """
    K^l = past^{l,K}_{past→memory} ⊕_{memory} k^l_{seq→memory} for l = 1, …, L
    V^l = past^{l,V}_{past→memory} ⊕_{memory} v^l_{seq→memory} for l = 1, …, L
    before = |past|
    seen ∈ ℝ^{memory}
"""
DEFAULTS = {  # definitions of inputs that may be given instead
    "positions": "positions_{seq(i)} = |past| + i - 1",
    "seen": "seen_{memory(i)} = 1",
}
PAST, MEMORY = "past", "memory"  # the axes of the cache that is given, and of the one that is returned


class CachedModule(LayerModule):
    """A language model whose `forward` accepts a cache of keys and values and returns it extended by the new tokens."""

    def __init__(self, model: Any, inputs: Mapping[str, Any]):
        model = model.unstack_layers()
        axes = {name: ("batch", *order) for name, order in cache_axes(model.cached).items()}
        cached, constant = families(model, ("past^{l,K}", "past^{l,V}")), families(model, model.fixed)
        self._past_orders = tuple(expand_axes(axes, cached))
        shapes = {**inputs, **dict(zip((*constant, *cached), expand_axes(axes, (*constant, *cached))))}
        names = (model.output, *families(model, ("K^l", "V^l")))
        caches = (tuple(MEMORY if axis == PAST else axis for axis in order) for order in self._past_orders)
        super().__init__(  # caches are returned with their axes in the same order
            model, shapes, names, formulas_with_cache(model, shapes), (("batch", "seq", "vocab"), *caches)
        )

    def empty_cache(self, batch: int = 1) -> tuple[Any, ...]:
        """Return the cache before the first token. Its keys and values for each layer are empty.

        Parameters
        ----------
        batch : int, optional
            Number of sequences (default: 1).

        Returns
        -------
        tuple of torch.Tensor
            The arguments of the first call that follow the tokens.
        """
        sizes: dict[str, int] = {}
        for value in self.tensors.values():
            sizes |= getattr(value, "sizes", {})
        sizes |= {"batch": batch, PAST: 0}
        return tuple(self.zeros([sizes[axis] for axis in order]) for order in self._past_orders)


def formulas_with_cache(model: Any, given: Collection[str]) -> nt.Program:
    """Return the formulas of a model with a cache, without the definitions of inputs that a call passes."""
    declared = inspect.cleandoc(model.cached).replace(MEMORY, PAST)
    defaults = (text for name, text in DEFAULTS.items() if name not in given)
    replaced = {*DEFAULTS, *model.optional_inputs} & {*given} & {*model.formula.names}
    texts = (inspect.cleandoc(FORMULAS), declared, *defaults)
    return model.formula.replace_definitions("\n".join(texts), ({*model.fixed} - model.removed) | replaced)


def cache_axes(declared: str) -> dict[str, tuple[str, ...]]:
    """Return the axes of each declared family of the cache, in order. The axis `past` is the next-to-last."""
    axes: dict[str, tuple[str, ...]] = {}
    for statement in nt.program(inspect.cleandoc(declared)).tree.statements:
        if isinstance(statement, Declaration):
            first, *others = (axis.name for axis, _ in statement.sets[0].axes)
            order = (*others[:-1], PAST if first == MEMORY else first, others[-1])
            axes |= {to_text(name): order for name in statement.names}
    return axes


def expand_axes(axes: Mapping[str, tuple[str, ...]], names: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the axes of each named tensor. `axes` contains the axes of each family, such as past^{l,K}."""
    return [axes[re.sub(r"\b\d+\b", "l", name)] for name in names]
