"""Labels that represent sizes, such as n-1 in h^{n-1} for an open n, or t in h^t if t counts members."""

from __future__ import annotations

import re
from typing import Any

from ..core.extents import Extent, Size, is_size
from ..core.size_conditions import counter_named
from ..core.sizes import resolve
from ..scope.names import Key
from ..terms.inference import Inference

OFFSET = re.compile(r"(.+?)(?:([+-])(\d+))?")


def size_of_label(checker: Inference, text: Any) -> Size | None:
    """Return the number that a label denotes, such as n-1 with an open n or a counter n, or None."""
    if is_size(text) or (isinstance(text, str) and text.isdecimal()):
        return text if is_size(text) else int(text)
    parts = OFFSET.fullmatch(text) if isinstance(text, str) else None
    if parts is None:
        return None
    name = parts[1]
    known = counter_named(name)
    if known is None:
        top = checker.top
        known = resolve(top.sizes.get(name[1:-1]) if name.startswith("|") else top.scalars.get(Key(name)))
    return known + offset_of(parts) if isinstance(known, Extent) else None


def offset_of(parts: re.Match[str]) -> int:
    """Return the integer offset in a label, such as −1 in t-1."""
    return int(parts[2] + parts[3]) if parts[2] else 0


def with_label(key: Key, label: str, text: str) -> Key:
    """Return a name with one label replaced by another label."""
    subscript, superscript = (tuple(text if part == label else part for part in script) for script in key[1:])
    return Key(key.base, subscript, superscript)
