"""Report a missing family member, such as h^5 if h^t is defined only for t = 1, …, 3."""

from __future__ import annotations

from typing import Any

from grammar.errors import NotationError
from grammar.nodes import Name, Range

from ..core.extents import is_size, proves_at_most
from ..core.sizes import is_ground, resolve
from ..scope.names import Key
from ..scope.symbols import Definition
from ..terms.environment import Environment
from ..terms.inference import Inference


def beyond_family(checker: Inference, key: Key, node: Any, env: Environment) -> NotationError | None:
    """Return an error if an index is not an integer or is outside its family's range, or None otherwise."""
    for family in families_of(checker, key, env):
        for over, text in indices_of(family, key):
            value = number_of(checker, text, env)
            if isinstance(value, float):
                return checker.error(
                    201, f"undefined name {key}: {text} is {value:g}, and the members of {key.base} have integer indices", node, symbol=str(key),
                    notes=(f"{key.base} is defined {checker.text(over).strip()}",),
                )  # fmt: skip
            low, high = (checker.solver.value(end, env) for end in (over.low, over.high))
            if not (isinstance(value, int) and is_size(low) and is_size(high)):
                continue
            is_above = proves_at_most(high + 1, value)
            if is_above or proves_at_most(value + 1, low):
                name = f", and {text} is {value}" if text != str(value) else ""
                return checker.error(
                    201, f"undefined name {key}: {key.base} is defined {checker.text(over).strip()}{name}", node, symbol=str(key),
                    hint=f"extend the range to {value}" if is_above else f"define its start: {start(key, text, value)} = …",
                )  # fmt: skip
    return None


def families_of(checker: Inference, key: Key, env: Environment) -> list[Definition]:
    lengths = len(key.subscript), len(key.superscript)
    return [
        definition
        for definition in checker.families_around(env)
        if definition.key.base == key.base
        and (len(definition.name.subscript), len(definition.name.superscript)) == lengths
    ]


def indices_of(family: Definition, key: Key) -> list[tuple[Range, str]]:
    """Return each range of a family, paired with the component of the key that is the index for this range."""
    parts = zip((*family.name.subscript, *family.name.superscript), (*key.subscript, *key.superscript))
    over = {range_.variable.text: range_ for range_ in family.ranges}
    return [(over[node.text], text) for node, text in parts if isinstance(node, Name) and node.text in over]


def number_of(checker: Inference, text: str, env: Environment) -> Any:
    """Return the number that a component of a name denotes, such as n in h^n, or None if it is unknown."""
    try:
        return int(text)
    except ValueError:
        number = checker.number(Key(text), env)
        number = checker.solver.scalar(Key(text), env) if number is None else number
        return resolve(number) if is_ground(number) else number


def start(key: Key, text: str, value: int) -> str:
    return str(key).replace(text, str(value))
