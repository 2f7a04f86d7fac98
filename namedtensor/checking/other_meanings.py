"""Whether the variable of a range has another meaning outside it, which the body of its family could see."""

from __future__ import annotations

from ..scope.names import Key
from ..scope.symbols import FunctionDefinition
from ..terms.environment import Environment
from ..terms.inference import Inference


def means_something(checker: Inference, variable: str, env: Environment) -> bool:
    """Whether a variable has another meaning where a family is held, which its body would see."""
    key = Key(variable)
    if checker.solver.scalar(key, env) is not None or is_defined(checker, key, env):
        return True
    return checker.find(key, env, None) is not None


def is_defined(checker: Inference, key: Key, env: Environment) -> bool:
    """Whether an equation that an environment sees defines a name; its value, which may need the family, is not asked for."""
    current: Environment | None = env
    while current is not None:
        held = checker.scope if current is checker.top else current.function
        if held is not None and key in (held.facts if isinstance(held, FunctionDefinition) else held.definitions):
            return True
        current = current.parent
    return False
