"""Names of axes as people write them: "height width", or ("height", "width")."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from grammar.errors import NotationError
from grammar.text import fold

AXIS = re.compile(r"[^\W\d_][^\W_]*(?:_[^\W_]+)*(?:['*†‡]|_[^\W_]+)*")


def check_axis(name: Any) -> str:
    """A name of an axis as the language compares it. Raises NotationError where it is none.

    >>> check_axis("seq’")
    "seq'"
    """
    return _checked(name) if isinstance(name, str) else _checked.__wrapped__(name)


@lru_cache(maxsize=4096)
def _checked(name: Any) -> str:
    if isinstance(name, str):
        folded = fold(name.strip())
        if AXIS.fullmatch(folded):
            return folded
    hint = "a name is made of letters and digits, with ', *, † or _label at its end"
    if isinstance(name, str) and "," in name:
        hint = f'axes are separated with spaces, not commas: "{" ".join(part.strip() for part in name.split(","))}"'
    raise NotationError(208, f"{name!r} is no name of an axis", hint=hint)


def names_of(axes: str | Iterable[str]) -> tuple[str, ...]:
    """Names from one string, separated by blanks, or from several.

    >>> names_of("height width")
    ('height', 'width')
    """
    if isinstance(axes, str):
        return _from_text(axes)
    try:
        return tuple([check_axis(axis) for axis in axes])
    except TypeError:
        raise NotationError(
            208, f"{axes!r} names no axes", hint='write "height width", or ("height", "width")'
        ) from None


@lru_cache(maxsize=4096)
def _from_text(text: str) -> tuple[str, ...]:
    if "," in text:
        check_axis(text)
    return tuple(check_axis(axis) for axis in text.split())
