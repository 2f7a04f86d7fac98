"""The number of significant digits in printed tensors, which `nt.set_printoptions` sets."""

from __future__ import annotations

from typing import Any

from grammar.errors import NotationError

IN_TABLES, IN_LINES, IN_HALVES = 4, 6, 3  # default digits in tables, in one-line output, and for float16

_digits: int | None = None


class set_printoptions:
    """Set the number of significant digits in printed tensors.

    In a `with` statement, the setting applies until the end of the block. To format a single tensor, write
    `A.to_text(digits=…)` or `f"{A:.8f}"`.

    Parameters
    ----------
    digits : int or None
        The number of significant digits, from 1 to 17. None restores the default.

    Raises
    ------
    NotationError
        If `digits` is not an integer from 1 to 17.

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([2 / 3, 1.00001], "a")
    >>> with nt.set_printoptions(digits=8):
    ...     print(A)
    a │          1        2
    ──┼────────────────────
      │ 0.66666667  1.00001
    >>> print(A)
    a │      1      2
    ──┼──────────────
      │ 0.6667  1.000
    """

    def __init__(self, digits: int | None):
        global _digits
        self._before = _digits
        _digits = None if digits is None else check_digits(digits)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *problem: Any) -> None:
        global _digits
        _digits = self._before

    def __repr__(self) -> str:
        return f"set_printoptions({_digits})"


def check_digits(digits: Any) -> int:
    """Return the number of digits if it is an integer from 1 to 17. Otherwise, raise NotationError."""
    if isinstance(digits, bool) or not isinstance(digits, int) or not 1 <= digits <= 17:
        raise NotationError(310, f"the number of digits must be an integer from 1 to 17, got {digits!r}")
    return digits


def digits_of(usual: int, asked: int | None = None) -> int:
    """Return `asked` if it is given, or else the setting of `set_printoptions` if there is one, or else `usual`."""
    if asked is not None:
        return check_digits(asked)
    return usual if _digits is None else _digits
