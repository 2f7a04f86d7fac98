"""A formula as readable code in NumPy, PyTorch, JAX or plain Python loops, with the formula's names and parts.

    def function(Q, K, V):
        scores = K @ Q / np.sqrt(2)  # seq
        weights = softmax(scores, axis=0)  # seq
        return weights @ V  # val

This code looks like handwritten code; for fast code, use `to_python`. All targets divide the formula into
statements by the same rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from grammar.errors import NotationError
from grammar.nodes import Number

from ..scope.names import key
from ..terms.terms import Term
from .code_arrays import ArrayWriter
from .code_contractions import RULES
from .code_libraries import LIBRARIES
from .code_loop_rules import LOOP_RULES
from .code_loops import LoopWriter
from .code_writer import ReadableCode
from .steps import places

if TYPE_CHECKING:
    from ..checking.checker import Checker


def find_named_terms(checker: Checker) -> dict[int, str]:
    """Return the names that a program's equations give to terms, by the terms' ids.

    Names within functions are left out, because each call computes their values again.
    """
    last = {places(env): term for node, term, env in checker.trace[: checker.steps] if not isinstance(node, Number)}
    functions = checker.scope.functions
    return {
        id(term): locations[-1].name
        for locations, term in last.items()
        if locations
        and term.operator not in ("input", "number")
        and not any(key(location.name).base in functions for location in locations)
    }


def readable_code(
    library: str,
    root: Term,
    names: Mapping[int, str],
    inputs: Sequence[str],
    narrow: Sequence[str] = (),
    floating: Sequence[str] = (),
) -> ReadableCode:
    """Return a readable function as source code. Its parameters are the inputs that the formula uses.

    Inputs in `narrow` contain integers of fewer than 64 bits, which could overflow. Inputs in `floating` may contain
    floats. Raise NotationError if the library is unknown, and UnreadableFormulaError if an operator has no readable form.
    """
    if library not in LIBRARIES:
        raise NotationError(408, f"unknown backend {library!r}", hint=f"available: {', '.join(LIBRARIES)}")
    writer, rules = (LoopWriter, LOOP_RULES) if library == "loops" else (ArrayWriter, RULES)
    return writer(LIBRARIES[library], rules, root, names, inputs).function(narrow, floating)
