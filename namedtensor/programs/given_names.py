"""Values that are told of one formula, by keyword; a mapping of values may hold more than a formula needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Told(dict[str, Any]):
    """Values of which none may be left over, as if each was given by keyword, but those that are `used` elsewhere."""

    used: frozenset[str] = frozenset()


def told_names(values: Mapping[str, Any] | None, named: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of what is told of this formula: by keyword, not in a mapping."""
    return (*(values.keys() - values.used), *named) if isinstance(values, Told) else (*named,)
