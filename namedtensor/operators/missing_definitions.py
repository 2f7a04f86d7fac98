"""Reference definitions of the functions of missing values, which are represented by nan. See `definitions`."""

from __future__ import annotations

import math
from typing import Any

from .definitions import mean, variance


def isnan(x: Any) -> bool:
    return x != x


def fillna(x: Any, y: Any) -> Any:
    return y if x != x else x


def present(x: list[Any]) -> list[Any]:
    """Return the numbers that are not missing."""
    return [entry for entry in x if entry == entry]


def nansum(x: list[Any]) -> Any:
    return sum(present(x))


def nanmean(x: list[Any]) -> float:
    return mean(present(x)) if present(x) else math.nan


def nanmax(x: list[Any]) -> Any:
    return max(present(x), default=math.nan)


def nanmin(x: list[Any]) -> Any:
    return min(present(x), default=math.nan)


def nanvar(x: list[Any], ddof: float = 0) -> float:
    return variance(present(x), ddof) if len(present(x)) > ddof else math.nan


def nanstd(x: list[Any], ddof: float = 0) -> float:
    return math.sqrt(nanvar(x, ddof))
