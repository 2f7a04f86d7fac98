"""Validation of requests. A field of the wrong type raises a NotationError that names the field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grammar.errors import NotationError

from ..core.kinds import is_mapping

LONGEST = 20_000  # characters of one text
MOST = 200  # names in a mapping


@dataclass(frozen=True)
class Request:
    """The fields of one request."""

    fields: Mapping[str, Any]

    def word(self, name: str, default: str | None = "", longest: int = LONGEST) -> str:
        """Return a field that is a string of at most `longest` characters.

        If the field is missing, return `default`, or raise NotationError if `default` is None.
        """
        field = self.fields.get(name, default)
        if not isinstance(field, str):
            raise _wrong(name, "a text")
        if len(field) > longest:
            raise NotationError(404, f"{name} has {len(field)} characters, and at most {longest} are read")
        if any("\ud800" <= character <= "\udfff" for character in field):
            raise NotationError(106, f"{name} holds half a character")
        return field

    def flag(self, name: str) -> bool:
        return self.fields.get(name) is True

    def mapping(self, name: str) -> dict[str, Any]:
        """Return a field that is an object, or an empty dictionary if it is missing."""
        field: Any = self.fields.get(name) or {}
        if not is_mapping(field) or len(field) > MOST:
            raise _wrong(name, f"an object of at most {MOST} names")
        return dict(field)

    def inputs(self) -> dict[str, str | int | float]:
        """Return the field `inputs`, which contains the types and numbers of inputs by name."""
        inputs = self.mapping("inputs")
        for name, value in inputs.items():
            if isinstance(value, bool) or not isinstance(value, (str, int, float)) or len(str(value)) > LONGEST:
                raise _wrong(f"{name} in inputs", "a type or a number")
        return inputs

    def sizes(self, name: str = "sizes") -> dict[str, int]:
        """Return a field that contains sizes by axis name."""
        sizes = self.mapping(name)
        for axis, size in sizes.items():
            if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size <= 2**31:
                raise _wrong(f"{axis} in {name}", "an integer")
        return sizes


def _wrong(name: str, expected: str) -> NotationError:
    return NotationError(101, f"{name} is to be {expected}")
