"""Represent errors in formulas and inputs, and display them with a caret.

Every error has a code. Its first digit is the kind (1 syntax, 2 name, 3 shape, 4 value). Each code has a title in
`CATALOGUE` and a section in `docs/errors.md`. A message shows the source line, a caret under the smallest part that
must change, and notes. For example, the notes give the axes of each operand and explain why they must agree. Many
messages also suggest a repair.

Messages are for people. Programs inspect the fields of an error instead: `code`, `symbol`, `axis` and `reason`, which
is one of `REASONS`.
"""

from __future__ import annotations

import copy
import os
import sys
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any, Self

from .plain_text import encodable, error_in_ascii, shows

Span = tuple[int, int]

KINDS = {1: "syntax", 2: "name", 3: "shape", 4: "value"}

CATALOGUE = {
    101: "unexpected or missing token",
    102: "unclosed bracket",
    103: "unmatched closing bracket",
    104: "mismatched brackets",
    105: "missing operand or axis",
    106: "unsupported symbol",
    107: "ambiguous expression",
    108: "no formula to parse",
    109: "malformed LaTeX macro",
    110: "mismatched LaTeX environment",
    111: "unsupported LaTeX macro",
    112: "invalid subscript",
    113: "invalid tensor literal",
    114: "invalid left-hand side",
    115: "untranslatable source notation",
    116: "ambiguous source notation",
    201: "undefined name",
    202: "duplicate definition",
    203: "circular definition",
    204: "unknown axis",
    205: "name used as both axis and tensor",
    206: "no value for a declared name",
    207: "declared name not used",
    208: "invalid name",
    209: "built-in name redefined",
    210: "member of a family not defined",
    211: "definition not used",
    301: "missing axis",
    302: "conflicting axis sizes",
    303: "duplicate axis",
    304: "wrong number of arguments",
    305: "argument is missing a signature axis",
    306: "axis name collision in lifting",
    307: "type mismatch with the declared set",
    308: "size constraint violated",
    309: "size cannot be inferred",
    310: "invalid size",
    311: "ragged rows",
    312: "invalid rename",
    313: "invalid merge or split",
    314: "possibly unintended outer product",
    315: "boolean where a number is expected, or the reverse",
    316: "wrong number of axes",
    317: "value does not match its declaration",
    318: "axis order required",
    319: "axis combined with its starred counterpart",
    401: "index out of range",
    402: "index is not an integer",
    403: "assertion failed",
    404: "limit exceeded",
    405: "value undefined or unsupported",
    406: "elements left undefined",
    407: "value outside its declared set",
    408: "backend or library unavailable or unsupported",
    409: "file cannot be read or written",
    411: "operands that seem wrong",
    412: "labels that do not match",
}
REMOVED_CODES = {
    212: "unlike the usual definition",
    213: "unlike similar formulas",
    410: "condition that always or never holds",
}  # No error reuses the code of an error that was removed.


# A reason distinguishes errors that share a code.
UNFINISHED = "unfinished"
ENDLESS_MACRO = "endless macro"
SIZE_NEEDED = "size needed"
NO_VALUE = "no value"
AXES_NEEDED = "axes needed"
SIDES_DIFFER = "sides differ"
TYPE_NEEDED = "type needed"
REASONS = {
    UNFINISHED: "the text ends after an operator, and may continue",
    ENDLESS_MACRO: "a LaTeX macro expands without end",
    SIZE_NEEDED: "`sizes=` may give the number or the size of the axis that `symbol` names",
    NO_VALUE: "one side of an assertion is NaN or infinite, so it is not a counterexample",
    AXES_NEEDED: "a translation needs the axes of the input that `symbol` names",
    SIDES_DIFFER: "the two sides of an assertion have different axes",
    TYPE_NEEDED: "no known name is like the one that `symbol` names: it may be an input that needs a type",
}


def columns(text: str) -> int:
    """Return the width of `text` in terminal columns."""
    if text.isascii():
        return len(text)
    width = 0
    for character in printable(text):
        if unicodedata.category(character) in ("Mn", "Me"):
            continue
        width += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return width


def printable(text: str) -> str:
    """Return `text` with each nonprintable character replaced by a space or a replacement character."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else " " if character.isspace() else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )


def clip_line(text: str) -> str:
    """Replace nonprintable characters in a line, and shorten it if it is too long for a message."""
    text = printable(text)
    return text if len(text) <= MAX_LINE_CHARS else f"{text[: MAX_LINE_CHARS - 60]} … {text[-50:]}"


MAX_LINE_CHARS = 400  # The maximum length of a line in a message.


class Hint(str):
    """A suggested repair, in words.

    If the repair is a definite edit, `edits` contains it as pairs (span, replacement text). A span of None means the
    span of the error.
    """

    edits: tuple[tuple[Span | None, str], ...]

    def __new__(cls, text: str, *instead: str, at: Span | None = None) -> Self:
        """Create a hint that suggests replacing the span `at` with one of the strings in `instead`."""
        new = super().__new__(cls, text)
        new.edits = tuple((at, name) for name in instead)
        return new


class OperandNote(str):
    """A note about the type of an operand. Programs that repair errors use its source text and axes."""

    operand: str
    axes: tuple[str, ...]

    def __new__(cls, text: str, operand: str = "", axes: Iterable[str] = ()) -> Self:
        """Create a note with an operand and its axes."""
        note = super().__new__(cls, text)
        note.operand, note.axes = operand, tuple(axes)
        return note


class NotationWarning(UserWarning):
    """A warning that a formula may not mean what its author intended. `check` reports it, too."""


class NotationError(Exception):
    """An error in a formula or an input, with its position, its reason and a suggested repair.

    Attributes
    ----------
    code : int
        The error code, a section of `docs/errors.md`.
    kind : {"syntax", "name", "shape", "value"}
        The kind of error, given by the code's first digit.
    message : str
        The problem, in one sentence.
    source : str or None
        The source of the formula.
    span : tuple of int or None
        Start and end in `source` of the text to change. `span_text` is this text.
    notes : tuple of str
        The types of the operands, and other information.
    hint : str or None
        A suggested repair. If the repair is a definite edit, `edits` contains the replacements.
    symbol, axis, reason : str or None
        The name and the axis that the error concerns. The reason is one of `REASONS` and distinguishes errors that
        share a code.

    Examples
    --------
    >>> error = NotationError(301, "⊙_{key} needs axis key", source="A ⊙_{key} x", span=(5, 8), hint="try height")
    >>> print(error)
    shape error 301: ⊙_{key} needs axis key
      1 | A ⊙_{key} x
        |      ^^^
      hint: try height
    """

    def __init__(
        self, code: int, message: str, source: str | None = None, span: Span | None = None, notes: Iterable[str] = (),
        hint: str | None = None, labels: Iterable[tuple[Span, str]] = (), *, symbol: str | None = None,
        axis: str | None = None, reason: str | None = None,
    ):  # fmt: skip
        super().__init__(code, message, source, span, tuple(notes), hint, tuple(labels))
        self.code: int = code
        self.message: str = message
        self.source: str | None = source
        self.span: Span | None = span
        self.notes: tuple[str, ...] = tuple(notes)
        self.hint: str | None = hint
        self.labels: tuple[tuple[Span, str], ...] = tuple(labels)
        self.symbol: str | None = symbol
        self.axis: str | None = axis
        self.reason: str | None = reason

    def __reduce__(self) -> Any:
        return _restore_error, (type(self), self.args, self.__dict__)

    @property
    def kind(self) -> str:
        """The kind of error: syntax, name, shape or value."""
        return KINDS[self.code // 100]

    @property
    def edits(self) -> tuple[tuple[Span, str], ...]:
        """The edits that the hint suggests, as pairs of a span in `source` and the replacement text."""
        result = ((span or self.span, text) for span, text in getattr(self.hint, "edits", ()))
        return tuple((span, text) for span, text in result if span is not None and self.source is not None)

    @property
    def span_text(self) -> str | None:
        """The source text under the caret, or None if the error has no position."""
        if self.source is None or self.span is None:
            return None
        return self.source[self.span[0] : self.span[1]]

    def located(self, source: str | None, span: Span | None) -> NotationError:
        """Return a copy with the given source. If the error has no span, the copy has the given span.

        If the error already has a source, or if `source` is None, return the error unchanged.
        """
        if self.source is not None or source is None:
            return self
        return self.replace(source=source, span=self.span or span)

    def replace(self, **changes: Any) -> NotationError:
        """Return a copy of the error with some fields changed. The copy drops notes from `add_note`."""
        unknown = changes.keys() - vars(self).keys()
        if unknown:
            raise TypeError(f"an error has no field {', '.join(sorted(unknown))}")
        changed = copy.copy(self)
        vars(changed).pop("__notes__", None)
        vars(changed).update(changes)
        changed.notes, changed.labels = tuple(changed.notes), tuple(changed.labels)
        changed.args = (
            changed.code, changed.message, changed.source, changed.span, changed.notes, changed.hint, changed.labels
        )  # fmt: skip
        return changed

    def alone(self) -> NotationError:
        """Return the error without its traceback, unless the environment sets NAMEDTENSOR_TRACEBACK."""
        return self if "NAMEDTENSOR_TRACEBACK" in os.environ else self.with_traceback(None)

    def moved(self, source: str | None, position: Callable[[Span], Span | None]) -> NotationError:
        """Return a copy for another source. `position` maps each span to a new span, or to None to drop it."""
        labels = tuple((moved, text) for span, text in self.labels if (moved := position(span)) is not None)
        hint = self.hint
        if isinstance(hint, Hint) and any(span is not None for span, _ in hint.edits):
            hint = copy.copy(hint)
            hint.edits = tuple(
                (moved, text)
                for span, text in hint.edits
                if (moved := position(span) if span is not None else None) is not None or span is None
            )
        span = None if self.span is None else position(self.span)
        return self.replace(source=source, span=span, labels=labels, hint=hint)

    def position(self) -> tuple[int, int]:
        """Return the 1-based line and column of the caret. They refer to `file` unless `file` is empty."""
        if self.source is None or self.span is None:
            return 1, 1
        start = self.span[0]
        return location(self.source, start)[1], start - (self.source.rfind("\n", 0, start) + 1) + 1

    @property
    def file(self) -> str:
        """The imported file that contains the error, or "" if the error is in the source itself."""
        return "" if self.source is None or self.span is None else location(self.source, self.span[0])[0]

    def __str__(self) -> str:
        """Return the message, in ASCII if standard output cannot encode it."""
        text = self.to_text()
        return text if text.isascii() or shows(sys.stdout, text) else error_in_ascii(self).to_text()

    @encodable
    def __repr__(self) -> str:
        return super().__repr__()

    def to_text(self) -> str:
        """Return the message, the source lines with carets, the notes and the hint as one string."""
        lines = [clip_line(f"{self.kind} error {self.code}: {self.message}")]
        if self.source is not None and self.span is not None:
            lines += excerpt(self.source, ((self.span, ""), *self.labels))
        lines += [f"  {clip_line(note)}" for note in self.notes]
        if self.hint:
            lines.append(f"  hint: {clip_line(self.hint)}")
        return "\n".join(lines)


def _restore_error(kind: type[NotationError], args: tuple[Any, ...], fields: dict[str, Any]) -> NotationError:
    """Rebuild a pickled error from its fields."""
    error = kind.__new__(kind, *args)
    vars(error).update(fields)
    return error


def relocate(problem: NotationError, text: str, start: int) -> NotationError:
    """Return the error with spans relative to `text`, or unchanged if the error is not in `text` at `start`."""
    is_here = problem.source is not None and problem.source.startswith(text, start)
    if not is_here or problem.span is None or problem.span[0] < start:
        return problem
    return problem.moved(text, lambda span: (span[0] - start, span[1] - start) if span[0] >= start else None)


def excerpt(source: str, labels: tuple[tuple[Span, str], ...]) -> list[str]:
    """Return each source line that contains the start of a label, followed by one caret line per label."""
    shown: dict[int, list[tuple[int, int, str]]] = {}
    for span, text in labels:
        start = max(0, min(span[0], len(source)))
        first = source.rfind("\n", 0, start) + 1
        end = max(start, min(span[1], line_end(source, start)))
        shown.setdefault(first, []).append((start - first, end - first, text))
    places = {first: location(source, first) for first in shown}
    margin = len(str(max(number for _, number in places.values())))
    lines: list[str] = []
    before = ""
    for first in sorted(shown):
        file, number = places[first]
        if file != before:
            lines.append(f"  {file or 'the program itself'}:")
            before = file
        offset, text = window(source[first : line_end(source, first)], min(start for start, _, _ in shown[first]))
        lines.append(f"  {number:>{margin}} | {printable(text)}".rstrip())
        for start, end, label in sorted(shown[first]):
            blank, width = caret(text, max(0, start - offset), max(0, end - offset))
            lines.append(f"  {'':>{margin}} | {' ' * blank}{'^' * width} {label}".rstrip())
    return lines


def location(source: str, offset: int) -> tuple[str, int]:
    r"""Return the file and the 1-based line of an offset. The file is "" unless the text is imported.

    >>> location("a = 1\nb = 2", 8)
    ('', 2)
    """
    locate = getattr(source, "locate", None)
    return ("", source.count("\n", 0, offset) + 1) if locate is None else locate(offset)


def line_end(source: str, start: int) -> int:
    """Return the position of the end of the line that contains the position `start`."""
    index = source.find("\n", start)
    return len(source) if index < 0 else index


def window(line: str, first: int) -> tuple[int, str]:
    """Shorten a line to the text around column `first`, with ellipses. Return the offset and the shortened text."""
    if len(line) <= 160:
        return 0, line
    start = max(0, first - 60)
    text = line[start : start + 150] + (" …" if start + 150 < len(line) else "")
    return (start - 2, "… " + text) if start else (0, text)


def caret(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the start column and the width of a caret under a range of characters, in terminal columns."""
    while 0 < start < len(text) and columns(text[start:end]) == 0 and columns(text[start]) == 0:
        start -= 1
    return columns(text[:start]), max(1, min(columns(text[start:end]), 160))


def list_names(names: list[str], most: int = 12) -> str:
    """Return the first few names for a message, followed by the number of the remaining names.

    >>> list_names(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
