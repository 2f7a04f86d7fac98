"""A document: its sections, formulas and macro definitions, and the findings about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from grammar import nodes
from grammar.errors import NotationError, Span

from ..terms.inference import CheckWarning
from .directives import Ignored
from .verdicts import Draws, Tried


class MathSpan(NamedTuple):
    """A formula with its delimiters, or an assumption in a comment, for which `written` is the LaTeX form."""

    start: int
    end: int
    display: bool
    written: str = ""


@dataclass
class Section:
    """A section of a document with its title and formulas. Its definitions form one scope."""

    title: str
    start: int
    maths: list[MathSpan] = field(default_factory=list)
    formulas: list[MathSpan] = field(default_factory=list)
    shapes: list[MathSpan] = field(default_factory=list)  # math that is a shape or a type without a name
    programs: dict[MathSpan, nodes.Program] = field(default_factory=dict)
    mentioned: dict[MathSpan, frozenset[str]] = field(default_factory=dict)  # cached names of formulas
    types: dict[str, str] = field(default_factory=dict)
    functions: frozenset[str] = frozenset()  # names that earlier sections and the first `known` formulas define
    tensors: frozenset[str] = frozenset()
    known: int = 0
    inherited: frozenset[MathSpan] = frozenset()  # assumptions of earlier sections that this one needs
    holds: list[Any] = field(default_factory=list)  # the statements that hold at its end
    own: list[Any] = field(default_factory=list)  # the statements in `holds` that are not inherited
    checked: list[tuple[Any, Any]] = field(default_factory=list)  # its programs as assembled, and checked
    unknown: dict[str, int] = field(default_factory=dict)  # unexplained names, and their first uses


class DocumentMacro(NamedTuple):
    """A macro definition, with its span and the macros that its body mentions."""

    start: int
    end: int
    name: str
    mentions: frozenset[str]


class Skipped(NamedTuple):
    """A skipped formula with the reason; `named` is true if the formula contains a named axis."""

    span: Span
    reason: str
    named: bool = False
    problem: NotationError | None = None


class Note(NamedTuple):
    """A note for the user at a position. It is not an error."""

    position: int
    text: str


@dataclass
class Document:
    """A document with its sections, formulas, macro definitions and findings. All spans refer to its source."""

    source: str
    sections: list[Section]
    errors: list[NotationError] = field(default_factory=list)
    warnings: list[CheckWarning] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    ignored: list[Ignored] = field(default_factory=list)
    definitions: dict[str, list[DocumentMacro]] = field(default_factory=dict)  # by name, in their order
    openers: dict[str, str] = field(default_factory=dict)  # the document's macros that begin a display, and their kinds
    closers: dict[str, str] = field(default_factory=dict)  # the document's macros that end a display, and their kinds
    axes: set[str] = field(default_factory=set)  # macros that the document defines to be axes
    others: set[str] = field(default_factory=set)  # macros of the notation with another meaning in this document
    named: bool = True  # whether sans-serif letters may be axes rather than only a font
    speaks: bool = False  # whether it uses a macro of the notation
    everything: bool = False  # whether formulas that seem to use another notation are checked too
    given: Mapping[str, Any] = field(default_factory=dict)  # shapes that are given in addition to the formulas
    sizes: Mapping[str, int] | None = None
    draws: Draws | None = None  # the settings of random tests; None if assertions are not tested
    unclosed: dict[str, int] = field(default_factory=dict)  # unclosed openings, with the end of the search
    common: int = 0  # assumptions up to here apply to all sections
    unread_rows: dict[int, frozenset[Span]] = field(
        default_factory=dict
    )  # skipped rows and comments of each display, by its start
    passed: list[Span] = field(default_factory=list)  # definitions, and verbatim text
    remarks: int = 0  # the number of directives in comments
    parsed: int = 0  # the number of characters in formulas
    conflicts: int = 0  # the number of conflicts between definitions

    @property
    def unread(self) -> list[Skipped]:
        """The formulas with named axes that were not checked."""
        return [left for left in self.skipped if left.named]

    @property
    def formulas(self) -> int:
        """The number of parsed and typed formulas, including shapes and types that stand alone."""
        return sum(not maths.written for section in self.sections for maths in (*section.formulas, *section.shapes))

    @property
    def scopes(self) -> list[Section]:
        """The sections that contain formulas."""
        return [section for section in self.sections if not all(maths.written for maths in section.formulas)]
