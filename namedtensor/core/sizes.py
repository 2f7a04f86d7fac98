"""Represent sizes of axes as numbers or as variables, which unification resolves during a check without values.

A `SizeVariable` is an unknown size. The alignment of two axes unifies their sizes, which binds a variable to a number
or to another variable. Arithmetic on variables returns a new variable that keeps its source text.
"""

from __future__ import annotations

from functools import partialmethod
from typing import Any

from .extents import Extent
from .size_conditions import assume_equal, canonical


class SizeVariable:
    """An unknown size. `text` is its source text."""

    __slots__ = ("text", "value")

    def __init__(self, text: str):
        self.text: str = text
        self.value: Size | None = None

    def __str__(self) -> str:
        result = resolve(self)
        return str(result) if result is not self else self.text

    __repr__ = __str__

    def _with(self, sign: str, other: Any) -> SizeVariable:
        """Return a variable for an expression with this variable as its left operand, such as n + 1."""
        return SizeVariable(f"{self}{sign}{other}")

    def _from(self, sign: str, other: Any) -> SizeVariable:
        """Return a variable for an expression with this variable as its right operand, such as 1 + n."""
        return SizeVariable(f"{other}{sign}{self}")

    __add__, __radd__ = partialmethod(_with, "+"), partialmethod(_from, "+")
    __sub__, __rsub__ = partialmethod(_with, "-"), partialmethod(_from, "-")
    __mul__, __rmul__ = partialmethod(_with, "·"), partialmethod(_from, "·")
    __truediv__, __rtruediv__ = partialmethod(_with, "/"), partialmethod(_from, "/")
    __floordiv__, __rfloordiv__ = __truediv__, __rtruediv__

    def __mod__(self, other: Any) -> int:
        return 0

    __rmod__ = __mod__


Size = Any  # An int, an Extent or a SizeVariable.


def resolve(size: Any) -> Any:
    """Return the number or Extent that is bound to a size variable, or the variable itself if it is still unknown."""
    while type(size) is SizeVariable and size.value is not None:
        size = size.value
    return canonical(size) if type(size) is Extent else size


def unify(left: Any, right: Any) -> bool:
    """Unify two sizes and return whether they are equal. Bind an unknown variable to the other size.

    >>> n = SizeVariable("n")
    >>> unify(n, 3), resolve(n), unify(n, 4)
    (True, 3, False)
    """
    if left is right:
        return True
    left, right = resolve(left), resolve(right)
    if left is right or (not isinstance(left, SizeVariable) and not isinstance(right, SizeVariable)):
        if type(left) is Extent or type(right) is Extent:
            return assume_equal(left, right)
        return left is right or left == right
    if isinstance(left, SizeVariable):
        left.value = right
    else:
        right.value = left
    return True


def is_ground(size: Any) -> bool:
    """Return whether a size is a number or an Extent, rather than an unknown variable."""
    return type(size) is int or not isinstance(resolve(size), SizeVariable)
