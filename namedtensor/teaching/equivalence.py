"""`nt.equivalent`: whether two formulas have the same values, up to the names of new axes; if not, how they differ.

Types first, then values on draws, then whether a proof of it is found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grammar.errors import NotationError
from grammar.plain_text import encodable

from ..core.hooks import answered
from ..derivations.equal_forms import has_proof
from .comparison import Difference, Matching, difference, largest, matchings
from .differences import Words, axes_differ, related, sizes_differ, value_differs
from .mutants import slip
from .settings import Drawn, Setting, declared
from .spelling import called, expression, text_of
from .values import Value

NEUTRAL = Words("the first", "the value of the first", "the second", "what the second is")
TURNED = Words("the second", "the value of the second", "the first", "what the first is")


@dataclass(frozen=True)
class Equivalence:
    """Whether two formulas are the same on all draws: true or false, and how they differ.

    `how` is "same", "axes", "sizes", "value", "relation" where all values have one to those due, or "slip"; `record` is where the values differ most, counted from 1, with
    `found` and `due` there; `axes` pairs new axes of the first with those of the second that they stand for; `sizes` are
    those that were drawn; `proved` is true where they are the same for all tensors, and not only for those that were drawn. Of a
    module that was read, `lines` are those of its source where it parts from the formula.
    """

    how: str
    told: str
    axes: Mapping[str, str]
    record: Mapping[str, int] | None = None
    found: Any = None
    due: Any = None
    draws: int = 0
    sizes: Mapping[str, int] | None = None
    proved: bool = False
    lines: tuple[Any, ...] = ()

    def __bool__(self) -> bool:
        return self.how == "same"

    @encodable
    def __str__(self) -> str:
        return self.told

    @encodable
    def __repr__(self) -> str:
        return f"<{'same' if self else 'not the same'}: {self.told}>"


def equivalent(first: Any, second: Any, /, *, given: str = "", seed: int = 0, **types: Any) -> Equivalence:
    """Whether two formulas have the same axes and values, whatever their new axes are called.

    Types first, then values: tensors of the types given are drawn, every axis with a size of its own, in five styles
    (normal, whole, positive, large, small numbers), and values are compared to 1e-8; what is equal then is proved, as by `prove`,
    where that can be. `types` are sets by name, X="ℝ^{n}"; `given` are statements of the language that both may use. Raises
    NotationError where one of the two is wrong.

    >>> import namedtensor as nt
    >>> nt.equivalent("mean_{n}(X^2) − (mean_{n} X)^2", "var_{n} X", X="ℝ^{n × feature}")
    <same: the same for all tensors, which is proved>
    >>> print(nt.equivalent("softmax_{key}(Q ⊙_{key} K)", "softmax_{seq}(Q ⊙_{key} K)", Q="ℝ^{key}", K="ℝ^{seq × key}").how)
    Traceback (most recent call last):
        ...
    grammar.errors.NotationError: shape error 301: softmax_{key} needs axis key, missing from Q ⊙_{key} K
      1 | softmax_{key}(Q ⊙_{key} K)
        |          ^^^
      Q ⊙_{key} K : ℝ^{seq}
      hint: its axes are seq
    >>> print(nt.equivalent("∑_{n} X / |n|", "∑_{n} X", X="ℝ^{n}"))
    the first is what the second is with mean_n instead of ∑_{n}; the first is −0.1264, the second is −0.3791
    """
    if hasattr(first, "lines_of"):
        return answered("equivalent of code", first, second, given, seed)
    setting = Setting("\n".join(filter(str.strip, (declared(types), given))))
    first, second = text_of(first), text_of(second)
    found = compared(setting, first, second, NEUTRAL, seed)
    if found and has_proof_of(setting, first, second):
        return replace(found, proved=True, told="the same for all tensors, which is proved")
    if found.how == "value":  # the second may be the one that lacks something
        turned = compared(setting, second, first, TURNED, seed)
        if turned.how == "slip":
            return replace(found, how="slip", told=turned.told)
    return found


def has_proof_of(setting: Setting, first: str, second: str) -> bool:
    """Whether two expressions, and no longer programs, are proved to be equal for all tensors of their types."""
    try:
        sides = [expression(each) for each in (first, second)]
    except NotationError:
        return False
    return has_proof(f"{setting.given}\n{sides[0]} = {sides[1]}", {})


def compared(setting: Setting, found: str, due: str, words: Words, seed: int = 0) -> Equivalence:
    """The first of two formulas against the second, by their values on draws of the setting."""
    found, due = (called(each, tuple(setting.sets)) for each in (found, due))
    setting.check(due)
    setting.check(found)
    state: list[tuple[Drawn, Value, Value]] = []
    for drawn, value in setting.draws(due, seed):
        state.append((drawn, setting.value(found, drawn), value))
    if not state:
        return Equivalence("value", "neither has a value on any draw", {})
    return judged(setting, [(drawn.values, own, value) for drawn, own, value in state], words, due)


def judged(
    setting: Setting,
    state: Sequence[tuple[Mapping[str, Value], Value, Value]],
    words: Words,
    model: str | None = None,
) -> Equivalence:
    """Values beside those due, each with what was drawn for it."""
    pairs = [(own, value) for _, own, value in state]
    found, due = pairs[0]
    ways = list(matchings(found, due, setting.axes))
    extents = [{axis: size for each in values.values() for axis, size in each.sizes.items()} for values, _, _ in state]
    if not ways:
        wrong = sizes_differ(found, due, words) if set(found.axes) == set(due.axes) else None
        return Equivalence("sizes" if wrong else "axes", wrong or axes_differ(found, due, setting.axes, words), {})
    if wrong := sizes_differ(found, due, words):
        return Equivalence("sizes", wrong, {})
    scales = [largest((*values.values(), value)) for values, _, value in state]
    closest: tuple[int, Matching, Difference] | None = None
    for way in ways:
        differing = _first_difference(pairs, way, scales)
        if differing is None:
            return Equivalence(
                "same", f"the same on {len(pairs)} of {len(pairs)} draws", way, draws=len(pairs), sizes=extents[0]
            )
        if closest is None or differing[0] > closest[0]:
            closest = (differing[0], way, differing[1])
    assert closest is not None
    _, way, where = closest
    named = slip(setting, model, state, scales, words) if model is not None else None
    told = value_differs(where, words)
    relation = named or related([(*pair, sizes) for pair, sizes in zip(pairs, extents)], way, words)
    told = f"{relation}; {told}" if relation else told
    return Equivalence(
        "slip" if named else "relation" if relation else "value",
        told,
        way,
        where.record,
        where.found,
        where.due,
        len(pairs),
        extents[0],
    )


def _first_difference(
    pairs: Sequence[tuple[Value, Value]], way: Matching, scales: Sequence[float]
) -> tuple[int, Difference] | None:
    for at, ((found, due), scale) in enumerate(zip(pairs, scales)):
        if sizes_differ(found, due, Words()):
            continue
        if where := difference(found, due, way, scale):
            return at, where
    return None
