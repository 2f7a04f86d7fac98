"""Plans that evaluate formulas in one library, with arguments by name and with numbers or symbols as sizes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from grammar.errors import NotationError

from ..backends.absent import Absent, Tabled
from ..backends.function import target_of
from ..checking.checker import Checker
from ..core.settings import recursion_headroom
from ..planning.plan import Plan
from ..planning.target import Target
from ..scope.names import key
from ..terms.terms import Term
from .arguments import DTYPE, Abstract, normalize_names, types_of, whole_sizes
from .entries import Goal, Several, argument_names
from .executable import PLAIN, Options, check_goal, plan_terms
from .size_symbols import SizeSymbols, names_in, with_conditions

LIBRARIES = {"numpy": "numpy", "torch": "array_api_compat.torch", "jax": "jax.numpy"}


def target_named(library: str) -> Target:
    """Return the target for a library's name. Raise NotationError if the library is unknown or not installed."""
    target = target_for_text(library)
    if isinstance(target, (Absent, Tabled)):
        raise NotationError(408, f"{library} is not installed", hint=f"pip install {library}")
    return target


def target_for_text(library: str) -> Target:
    """Return the target of a library for source text that does not run here. The library need not be installed."""
    if not isinstance(library, str) or library not in LIBRARIES:
        raise NotationError(408, f"unknown backend {library!r}", hint=f"available: {', '.join(LIBRARIES)}")
    try:
        import_module(library)
        return target_of(import_module(LIBRARIES[library]))
    except ImportError:
        return Tabled() if library == "numpy" else Absent(library)


def text_target(library: str) -> Target:
    """Return the target of a library for source text, without importing it, since PyTorch loads slowly."""
    known = isinstance(library, str) and library in LIBRARIES and library != "numpy"
    return Absent(library) if known and library not in sys.modules else target_for_text(library)


def check_by_name(goal: Goal, abstract: Abstract, options: Options) -> tuple[Checker, tuple[Term, ...]]:
    """Return the checker and the requested terms of a goal. The arguments of a function are passed by name."""
    inputs = types_of(abstract)
    scope = goal.program.scope_given(inputs)
    entry = goal.entry(scope)
    if entry is None or isinstance(goal, Several):
        return check_goal(goal, inputs, [], options, scope)
    arguments = [(name, inputs.pop(key(name))) for name in argument_names(goal, scope) if key(name) in inputs]
    return check_goal(entry, inputs, arguments, options, scope)


def plan_of(
    goal: Goal, target: Target, given: Mapping[str, Any], options: Options = PLAIN, dtypes: Mapping[str, str] = {},
    dtype: str = DTYPE,
) -> tuple[Plan, list[Any]]:  # fmt: skip
    """Return a formula's plan, which reads open sizes from the arrays, and the Python functions that the plan calls.

    `dtypes` contains the dtypes of inputs that are given as shapes, by name; the default is `dtype`.
    """
    sizes = whole_sizes(options.sizes)
    symbols = SizeSymbols(names_in(given) | target.backend.reserved)
    layouts = {name: symbols.layout(value, name, sizes, dtypes.get(name, dtype)) for name, value in given.items()}
    abstract = normalize_names(layouts)

    def make() -> tuple[Plan, list[Any]]:
        with recursion_headroom(goal.program.source):
            checker, terms = check_by_name(goal, abstract, options._replace(sizes=sizes))
            return plan_terms(checker.scope.source, terms, abstract, target, disable=options.disable)

    (plan, python), conditions = with_conditions(make)
    plan.conditions = conditions
    return plan, python
