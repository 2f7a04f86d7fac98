"""Conversion of exceptions at run time to NotationErrors, which show the failing part of the formula and the reason."""

from __future__ import annotations

from grammar.errors import NotationError

from ..core.kinds import to_integer
from ..terms.environment import source_name
from ..terms.terms import Term


def span_of(term: Term | None, source: str) -> tuple[int, int]:
    """Return the span of a term in the formula, or the whole text if the span is unknown."""
    return getattr(getattr(term, "node", None), "span", (0, len(source)))


def make_rejection_error(problem: Exception, source: str, term: Term) -> NotationError:
    """Return the error, with the position of the term in the formula, for a computation that a library rejected."""
    why = "there is too little memory" if isinstance(problem, MemoryError) else " ".join(str(problem).split())
    hint = "pass float64: x.astype('float64')" if isinstance(problem, TypeError) else None
    return NotationError(405, f"cannot compute this: {why}", source, span_of(term, source), hint=hint)


def overflow_error(dtype: str = "int64") -> NotationError:
    """Return the error for an integer overflow that is detected at run time."""
    bits = 32 if "32" in dtype else 64
    hint = "compute in floating point: multiply a tensor by 1.0, or pass it as float64"
    if bits == 32:
        hint = 'enable 64 bits: jax.config.update("jax_enable_x64", True)'
    message = f"integer overflow: exceeds int{bits} (maximum {2 ** (bits - 1) - 1})"
    return NotationError(405, message, hint=hint)


def is_index_problem(problem: IndexError) -> bool:
    """Return whether an IndexError has the attributes `index` and `size`. A library's own IndexError has neither."""
    return hasattr(problem, "index") and hasattr(problem, "size")


def index_error(problem: IndexError, axis: str, base: int = 1) -> NotationError:
    """Return the error for an invalid index along an axis: an index that is out of range or not an integer.

    `problem.index` is the invalid index. `problem.size` is the axis size, or None if the index is out of range for
    every axis. The first valid index is `base`.
    """
    value, size = to_integer(problem.index), problem.size  # type: ignore[attr-defined]
    if value is None:
        return NotationError(402, f"index must be an integer, got {problem.index}", hint="pass integers")  # type: ignore[attr-defined]
    if base == 0:
        hint = "in Python, indices start at 0"
    else:
        hint = "indices start at 1; negative indices are not supported" if value < 1 else None
    if size is None:  # a float of 2^63 or more
        message = f"index {problem.index} is out of range for axis {axis}"  # type: ignore[attr-defined]
    else:
        message = f"index {value} is out of range for axis {axis} ({base} to {size - 1 + base})"
    return NotationError(401, message, hint=hint)


def index_error_at(problem: IndexError, source: str, term: Term) -> NotationError:
    """Return the error for an invalid index, with the position of the term in the formula."""
    axis = source_name(term.axes[0]) if term.axes else "the axis"
    return index_error(problem, axis).located(source, term.node.span if term.node is not None else None)


OF_MATRICES = frozenset(("inv", "cholesky"))  # the primitives that a library rejects for some matrices


def make_matrix_error(problem: Exception) -> NotationError | None:
    """Return the error for a matrix without an inverse or a Cholesky factor, or None for any other failure."""
    text = str(problem)
    if "positive" in text and "definite" in text:
        return NotationError(405, "the matrix is not positive definite, so it has no Cholesky factor")
    if "ingular" in text:
        return NotationError(405, "the matrix is singular: it has no inverse")
    return None
