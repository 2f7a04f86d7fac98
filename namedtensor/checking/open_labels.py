"""Resolve labels that represent sizes, such as n-1 in h^{n-1} for an unknown n, or t in h^t if t counts members."""

from __future__ import annotations

import re
from typing import Any

from ..core.extents import Extent, Size, is_size
from ..core.size_conditions import counter_named
from ..core.sizes import resolve
from ..scope.names import Key
from ..terms.environment import Environment
from ..terms.inference import Inference

OFFSET = re.compile(r"(.*?)([+-]\d+)?", re.DOTALL)


def size_of_label(checker: Inference, text: Any, env: Environment | None = None) -> Size | None:
    """Return the size that a label denotes, such as n-1 for an unknown n or a counter n, or None for any other label.

    In a function, whose environment is `env`, |seq| is the size of the argument's axis.
    """
    if is_size(text) or (isinstance(text, str) and text.isdecimal()):
        return text if is_size(text) else int(text)
    if not isinstance(text, str):
        return None
    name, offset = split_offset(text)
    known = counter_named(name)
    if known is None:
        top = checker.top
        known = size_in_sight(name[1:-1], env or top) if name.startswith("|") else resolve(top.scalars.get(Key(name)))
    return known + offset if isinstance(known, Extent) else None


def size_in_sight(written: str, env: Environment) -> Any:
    """Return the size of an axis in this environment, possibly a variable. In a call, use the argument's axis."""
    axis = env.resolve_axis(written)[0]
    return resolve(next((outer.sizes[axis] for outer in env.outward if axis in outer.sizes), None))


def split_offset(label: str) -> tuple[str, int]:
    """Return the variable of a label and its offset, such as t and −1 for t-1."""
    variable, offset = OFFSET.fullmatch(label).groups()  # pyright: ignore
    return variable, int(offset or 0)


def counts_members(checker: Inference, key: Key) -> bool:
    """Return whether a label of a name is a family's index or an unknown size, as in W^t and W^{n}."""
    for text in (*key.subscript, *key.superscript):
        if split_offset(str(text))[0] in checker.scope.indices or type(size_of_label(checker, text)) is Extent:
            return True
    return False


def with_label(key: Key, label: str, text: str) -> Key:
    """Replace one label of a name with another label."""
    subscript, superscript = (tuple(text if part == label else part for part in script) for script in key[1:])
    return Key(key.base, subscript, superscript)
