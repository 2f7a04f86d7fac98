"""What a formula may use: limits that keep a slip of the pen from eating a machine. Passing one is a value error."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """`nesting` of brackets and calls, numbers in a `literal`, bytes of one `result`, `steps` of a recurrence or sum.

    >>> Limits(steps=10).steps
    10
    """

    nesting: int = 200
    literal: int = 10**6
    result: int = 4 * 2**30
    steps: int = 10**6


DEFAULT = Limits()
