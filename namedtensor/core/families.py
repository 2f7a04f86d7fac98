"""Store a family of tensors with equal shapes, such as W^{1,Q}, …, W^{96,Q}, in one array under one name.

The first axis of the array enumerates the members. The family is a single input of a plan, and a single leaf of a JAX
tree. A loop over the members reads the array directly.
"""

from __future__ import annotations

ALONG = "(members)"  # The first axis of a family's array. No formula can contain this name.


class FamilyName(str):
    """The name of a family's array. The name determines the sequence of members.

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
