"""Detect names that have a meaning in an environment, such as range variables and indices."""

from __future__ import annotations

from typing import Any

from grammar.errors import NotationError

from ..scope.names import Key
from ..terms.environment import Environment
from ..terms.inference import Inference


def means_something(checker: Inference, variable: str, env: Environment, node: Any = None) -> bool:
    """Return whether a name has a value in an environment, or would have one without an error in its definition."""
    key = Key(variable)
    if checker.solver.scalar(key, env) is not None or is_defined(checker, key, env):
        return True
    try:
        return checker.find(key, env, node) is not None
    except NotationError:
        return True


def is_defined(checker: Inference, key: Key, env: Environment) -> bool:
    """Return whether a visible equation defines a name. The equation is not evaluated."""
    holders = (outer for outer in env.outward if outer is checker.top or outer.function is not None)
    return any(key in checker.definitions_of(holder) for holder in holders)
