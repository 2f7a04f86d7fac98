"""Detection of range variables that have another meaning outside the range, which the body of the family can see."""

from __future__ import annotations

from ..scope.names import Key
from ..terms.environment import Environment
from ..terms.inference import Inference


def means_something(checker: Inference, variable: str, env: Environment) -> bool:
    """Return whether a variable has another meaning in a family's environment, visible to the family's body."""
    key = Key(variable)
    if checker.solver.scalar(key, env) is not None or is_defined(checker, key, env):
        return True
    return checker.find(key, env, None) is not None


def is_defined(checker: Inference, key: Key, env: Environment) -> bool:
    """Return whether an equation visible from an environment defines a name, without evaluating it."""
    holders = (outer for outer in env.outward if outer is checker.top or outer.function is not None)
    return any(key in checker.definitions_of(holder) for holder in holders)
