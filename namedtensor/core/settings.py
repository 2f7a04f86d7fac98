"""Define the settings of an evaluation: resource limits for a formula, and strict mode, which forbids outer broadcasts.

Outer broadcasts such as x_{a} + y_{b} can be forbidden in a block, in a session, or by an environment variable:

    with nt.strict(): …        in this block, in this thread or task
    nt.strict()                after this call, in all threads
    NAMEDTENSOR_STRICT=1       from the start

A formula that exceeds a limit raises an error, so that a mistake cannot exhaust the machine. The planner checks the
limits; repeated calls do not. Only formulas with an outer broadcast check strict mode at each call.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextvars import ContextVar, Token
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, ParamSpec, TypeVar
from weakref import WeakSet

from grammar.errors import NotationError
from grammar.lengths import MAX_LITERAL_NUMBERS, MAX_TEXT_CHARS
from grammar.locks import call_with_lock

from .kinds import require_number

Given = ParamSpec("Given")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Limits:
    """Limits on the time and memory of one formula.

    Attributes
    ----------
    max_nesting : int
        The nesting depth of brackets and calls (default: 200).
    max_literal_elements : int
        The number of elements in all tensor literals of a formula.
    max_result_bytes : int
        The size of one result, in bytes (default: 4 GiB).
    max_steps : int
        The number of steps in a recurrence, or of terms in a sum (default: 10**6).
    max_source_chars : int
        The number of characters in the source.
    max_expanded_nodes : int
        The number of nodes in the formula after the expansion of calls, sums, recurrences and derivatives. It may exceed this limit by the number of characters in the source (default: 50,000).

    Examples
    --------
    >>> Limits(max_steps=10).max_steps
    10
    """

    max_nesting: int = 200
    max_literal_elements: int = MAX_LITERAL_NUMBERS
    max_result_bytes: int = 4 * 2**30
    max_steps: int = 10**6
    max_source_chars: int = MAX_TEXT_CHARS
    max_expanded_nodes: int = 5 * 10**4

    def __post_init__(self) -> None:
        for field in fields(self):
            require_number(getattr(self, field.name), f"the limit {field.name}", 0, f"write Limits({field.name}=10**6)")

    def __repr__(self) -> str:
        """Return the call that creates these limits. Default values are omitted."""
        changed = (field.name for field in fields(self) if getattr(self, field.name) != field.default)
        return f"Limits({', '.join(f'{name}={getattr(self, name)}' for name in changed)})"


DEFAULT = Limits()
HEADROOM = 20_000  # The recursion limit inside the context.


class recursion_headroom:
    """A context that raises Python's recursion limit.

    A formula with 200 nested brackets may exceed the default limit. All threads share the limit. The first thread to
    enter the context raises the limit, and the last thread to leave restores it. If an interrupt prevents a thread from
    leaving, its context counts until it is garbage-collected. A forked child does not count the threads of its parent.
    """

    inside: WeakSet[recursion_headroom] = WeakSet()
    before: int = 0  # The limit to restore, or 0 if it has not been raised.

    def __init__(self, source: str | None = None):
        self.source: str | None = source

    def __enter__(self) -> None:
        call_with_lock(self._enter)

    def _enter(self) -> None:
        recursion_headroom.inside.add(self)
        limit = sys.getrecursionlimit()
        if limit < HEADROOM:
            recursion_headroom.before = limit
            sys.setrecursionlimit(HEADROOM)

    def __exit__(self, *problem: Any) -> None:
        call_with_lock(self._leave)
        if problem[0] is RecursionError:
            raise NotationError(
                404,
                "the formula is nested too deep",
                self.source,
                None if self.source is None else (0, len(self.source)),
                hint="define a part in a separate equation",
            ) from None

    def _leave(self) -> None:
        recursion_headroom.inside.discard(self)
        if recursion_headroom.before and not recursion_headroom.inside:
            sys.setrecursionlimit(recursion_headroom.before)
            recursion_headroom.before = 0

    @classmethod
    def _reset_after_fork(cls) -> None:
        """Reset the state in a child process, because the parent's threads do not run there.

        Only the forking thread continues in the child. It may be inside the context.
        """
        cls.inside = WeakSet()
        if cls.before:
            sys.setrecursionlimit(cls.before)
            cls.before = 0


def raise_recursion_limit(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Wrap a function so that it runs with a higher recursion limit."""

    @wraps(function)
    def call(*arguments: Given.args, **options: Given.kwargs) -> Result:
        with recursion_headroom():
            return function(*arguments, **options)

    return call


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=recursion_headroom._reset_after_fork)  # pyright: ignore[reportPrivateUsage]


OUTER = ("+", "-", "⊙", "juxtaposed", "/")  # Only outer broadcasts of these operators are reported.

_in_block: ContextVar[bool | None] = ContextVar("strict", default=None)
_in_session = os.environ.get("NAMEDTENSOR_STRICT", "").strip().lower() not in ("", "0", "false", "no")


class strict:
    """A context in which every outer broadcast raises an error (314).

    In an outer broadcast, each operand has an axis that the other operand lacks. In a `with` statement, strict mode
    applies to the block. A plain call sets it for the session, in all threads. To check a single formula, pass
    `strict=True` to `evaluate`, `program` or `formula`.

    Parameters
    ----------
    on : bool
        Whether an outer broadcast raises an error (default: True).

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
        if not self._tokens:  # A `with` statement sets the mode for a block, not for the session.
            _in_session = self._before
        self._tokens.append(_in_block.set(self._on))

    def __exit__(self, *failure: object) -> None:
        _in_block.reset(self._tokens.pop())

    def __repr__(self) -> str:
        return f"strict({self._on})"


def is_strict() -> bool:
    """Return whether outer broadcasts are currently forbidden."""
    in_block = _in_block.get()
    return _in_session if in_block is None else in_block


def refuse(problem: NotationError) -> None:
    """Raise the error for an outer broadcast if strict mode is on."""
    if is_strict():
        raise problem.replace()


def guard_broadcast(run: Callable[..., Any], problem: NotationError | None) -> Callable[..., Any]:
    """Return a function that raises `problem` in strict mode and otherwise calls `run`.

    If `problem` is None, return `run` itself.
    """
    if problem is None:
        return run

    def function(*arguments: Any) -> Any:
        refuse(problem)
        return run(*arguments)

    return function


# ------------------------------------------------------------------------------------------------------------ misspelled
MIN_LETTERS = 4  # Shorter names are not compared.


def misspelt(left: list[str], right: list[str]) -> tuple[str, str] | None:
    """Return an axis from each side that may be misspellings of one name, or None if there is no such pair.

    Two names match if they differ by one letter: added, dropped, swapped or replaced.
    """
    pairs = ((one, other) for one in left for other in right)
    return next((pair for pair in pairs if all(map(_is_word, pair)) and is_one_letter_apart(*pair)), None)


def _is_word(axis: str) -> bool:
    return len(axis) >= MIN_LETTERS and axis.isalpha()


def is_one_letter_apart(one: str, other: str) -> bool:
    """Return whether the Damerau–Levenshtein distance between two words is 1.

    >>> is_one_letter_apart("chans", "chan"), is_one_letter_apart("hieght", "height"), is_one_letter_apart("seqs", "seqs")
    (True, True, False)
    """
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    if len(one) < len(other):
        one, other = other, one
    first = next((index for index, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), len(other))
    rest, other_rest = one[first:], other[first:]
    if len(one) > len(other):
        return rest[1:] == other_rest
    return rest[1:] == other_rest[1:] or (rest[:2] == other_rest[1::-1] and rest[2:] == other_rest[2:])
