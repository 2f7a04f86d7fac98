"""Lines of text that begin with a sign at the left margin and continue a complete equation: y = 2 x, and then −∑_{a} x."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .errors import Span
from .function_names import statements
from .text_tables import JOINS_AFTER
from .tokens import Token, depths

ENDS_SIDE = ("EQUALS", "APPROX", "FOR", "IN")


def continued_lines(tokens: Sequence[Token], source: str) -> tuple[Span, ...]:
    """For each such line the span from its sign to the end of that side of the equation."""
    return tuple(span for line in statements(tokens) for span in _continued(line, source))


def _continued(line: Sequence[Token], source: str) -> Iterator[Span]:
    margin = _indentation(line[0].start, source)
    equated = False
    starts: list[int] = []  # of such lines in this side of the equation
    for before, token, depth in zip(line, line[1:], depths(line)):
        if depth:
            continue
        equated = equated or before.type == "EQUALS"
        if token.type in ENDS_SIDE:
            yield from ((start, before.end) for start in starts)
            starts = []
        elif equated and token.type in ("PLUS", "MINUS") and before.type not in JOINS_AFTER:
            indentation = _indentation(token.start, source)
            if margin is not None and indentation is not None and indentation <= margin:
                starts.append(token.start)
    yield from ((start, line[-1].end) for start in starts)


def _indentation(start: int, source: str) -> int | None:
    """The distance of a position from the left margin; None where more than blanks is before it in its line."""
    first = source.rfind("\n", 0, start) + 1
    return None if source[first:start].strip() else start - first
