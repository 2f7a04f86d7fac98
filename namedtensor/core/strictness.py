"""Strictness: whether an outer broadcast, x_{a} + y_{b}, is an error. For a block, for a session, or by the environment.

    with nt.strict(): …        in this block, of this thread or task alone
    nt.strict()                from here on, in all threads
    NAMEDTENSOR_STRICT=1       from the start

What runs again and again was checked once; only what has an outer broadcast asks at each call whether it may.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any

from grammar.errors import NotationError

OUTER = ("+", "-", "⊙", "juxtaposed", "/")  # the operators whose outer broadcast is reported

_in_block: ContextVar[bool | None] = ContextVar("strict", default=None)
_in_session = os.environ.get("NAMEDTENSOR_STRICT", "").strip().lower() not in ("", "0", "false", "no")


class strict:
    """Turn every outer broadcast, where each side has an axis that the other lacks, into an error (314).

    Called as a function, it applies to the session, in all threads; in a `with` statement, to the block. `evaluate`, `program` and
    `formula` take `strict=True` for one formula.

    Parameters
    ----------
    on : bool
        Whether an outer broadcast is an error (default: True).

    Examples
    --------
    >>> import namedtensor as nt
    >>> x, y = nt.tensor([1, 2], "seq"), nt.tensor([1, 2], "key")
    >>> with nt.strict():
    ...     x + y
    Traceback (most recent call last):
    grammar.errors.NotationError: shape error 314: + broadcasts ℝ^{seq[2]} against ℝ^{key[2]} (outer product)
      hint: if unintended, check the axis names
    """

    def __init__(self, on: bool = True):
        global _in_session
        self._on: bool = on
        self._before, _in_session = _in_session, on
        self._tokens: list[Token[bool | None]] = []

    def __enter__(self) -> None:
        global _in_session
        if not self._tokens:  # it is for a block, and not for the session
            _in_session = self._before
        self._tokens.append(_in_block.set(self._on))

    def __exit__(self, *failure: object) -> None:
        _in_block.reset(self._tokens.pop())

    def __repr__(self) -> str:
        return f"strict({self._on})"


def is_strict() -> bool:
    """Whether an outer broadcast is an error here."""
    in_block = _in_block.get()
    return _in_session if in_block is None else in_block


def refuse(problem: NotationError) -> None:
    """Raise the error of an outer broadcast where these are errors."""
    if is_strict():
        raise problem.replace()


def guarded(run: Callable[..., Any], problem: NotationError | None) -> Callable[..., Any]:
    """The function; where it has an outer broadcast, one that raises its error where these are errors."""
    if problem is None:
        return run

    def function(*arguments: Any) -> Any:
        refuse(problem)
        return run(*arguments)

    return function


# ------------------------------------------------------------------------------------------------------------ misspelt
MIN_LETTERS = 4  # of names that are compared


def misspelt(left: list[str], right: list[str]) -> tuple[str, str] | None:
    """An axis of one side and one of the other that are one letter apart: inserted, dropped, exchanged or replaced."""
    pairs = ((one, other) for one in left for other in right)
    return next((pair for pair in pairs if all(map(_is_word, pair)) and is_one_letter_apart(*pair)), None)


def _is_word(axis: str) -> bool:
    return len(axis) >= MIN_LETTERS and axis.isalpha()


def is_one_letter_apart(one: str, other: str) -> bool:
    """Whether the Damerau–Levenshtein distance of two words is 1.

    >>> is_one_letter_apart("chans", "chan"), is_one_letter_apart("hieght", "height"), is_one_letter_apart("seqs", "seqs")
    (True, True, False)
    """
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    if len(one) < len(other):
        one, other = other, one
    first = next((place for place, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), len(other))
    rest, other_rest = one[first:], other[first:]
    if len(one) > len(other):
        return rest[1:] == other_rest
    return rest[1:] == other_rest[1:] or (rest[:2] == other_rest[1::-1] and rest[2:] == other_rest[2:])
