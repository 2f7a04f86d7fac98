"""Families of tensors with equal shapes, such as W^{1,Q}, …, W^{96,Q}, stored in one array under one name.

The members are along the first axis of the array. For a plan, the family is a single input, and for JAX, it is a single
leaf. A loop over the members reads the array directly.
"""

from __future__ import annotations

ALONG = "(members)"  # the first axis of such an array, a name that no formula can contain


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
