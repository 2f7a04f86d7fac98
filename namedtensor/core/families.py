"""Families in one array: members W^{1,Q}, …, W^{96,Q} of equal shape along its first axis, under one name.

Such a family is one input of a plan, and one leaf for JAX, however many members it has. A loop over the members reads
it directly.
"""

from __future__ import annotations

ALONG = "(members)"  # the first axis of such an array; no name that a formula can write


class FamilyName(str):
    """The name of a family's array. Each such name denotes one sequence of members.

    >>> FamilyName(("W^1", "W^2", "W^3"))
    'W^1 … W^3'
    """

    __slots__ = ("members",)
    members: tuple[str, ...]

    def __new__(cls, members: tuple[str, ...]):
        new = super().__new__(cls, f"{members[0]} … {members[-1]}")
        new.members = tuple(members)
        return new

    def __reduce__(self):
        return FamilyName, (self.members,)
