"""Detect range variables that already have a meaning in the environment of a family."""

from __future__ import annotations

from ..scope.names import Key
from ..terms.environment import Environment
from ..terms.inference import Inference


def means_something(checker: Inference, variable: str, env: Environment) -> bool:
    """Return whether a range variable already has a meaning that is visible in the family's body."""
    key = Key(variable)
    if checker.solver.scalar(key, env) is not None or is_defined(checker, key, env):
        return True
    return checker.find(key, env, None) is not None


def is_defined(checker: Inference, key: Key, env: Environment) -> bool:
    """Return whether a visible equation defines a name. The equation is not evaluated."""
    holders = (outer for outer in env.outward if outer is checker.top or outer.function is not None)
    return any(key in checker.definitions_of(holder) for holder in holders)
