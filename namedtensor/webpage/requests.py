"""Validation of requests: JSON fields of the expected types, or a NotationError that names the invalid field."""

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
    """The fields of one question."""

    fields: Mapping[str, Any]

    def word(self, name: str, default: str | None = "", longest: int = LONGEST) -> str:
        """A field that is a text."""
        found = self.fields.get(name, default)
        if not isinstance(found, str):
            raise _wrong(name, "a text")
        if len(found) > longest:
            raise NotationError(404, f"{name} has {len(found)} characters, and at most {longest} are read")
        if any("\ud800" <= each <= "\udfff" for each in found):
            raise NotationError(106, f"{name} holds half a character")
        return found

    def flag(self, name: str) -> bool:
        return self.fields.get(name) is True

    def mapping(self, name: str) -> dict[str, Any]:
        """Return a field that is an object (default: empty)."""
        found: Any = self.fields.get(name) or {}
        if not is_mapping(found) or len(found) > MOST:
            raise _wrong(name, f"an object of at most {MOST} names")
        return dict(found)

    def inputs(self) -> dict[str, str | int | float]:
        """Types and numbers by name."""
        found = self.mapping("inputs")
        for name, value in found.items():
            if isinstance(value, bool) or not isinstance(value, (str, int, float)) or len(str(value)) > LONGEST:
                raise _wrong(f"{name} in inputs", "a type or a number")
        return found

    def sizes(self, name: str = "sizes") -> dict[str, int]:
        """Return integers by axis names."""
        found = self.mapping(name)
        for axis, size in found.items():
            if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size <= 2**31:
                raise _wrong(f"{axis} in {name}", "an integer")
        return found


def _wrong(name: str, due: str) -> NotationError:
    return NotationError(101, f"{name} is to be {due}")
