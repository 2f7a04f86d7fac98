"""The report on a document: errors, warnings, notes, and formulas that were not checked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from grammar.errors import NotationError, Span

from ..terms.inference import CheckWarning
from .directives import Ignored
from .document import Document, Section
from .shown_axes import find_axis_macro
from .verdicts import Tried

NO_NAMED_AXES = "no named axes"  # the reason for leaving a formula out
EQUATION = re.compile(r"(?<![\\:<>!])=")


class Skipped(NamedTuple):
    """A formula that was skipped, and why. `named` is true if it contains a named axis."""

    span: Span
    reason: str
    named: bool = False
    problem: NotationError | None = None


class Note(NamedTuple):
    """A note for the user about a position in a document, such as a limit that was reached."""

    position: int
    text: str


@dataclass(frozen=True)
class Report:
    """The report of one document. All spans refer to its source."""

    source: str
    sections: tuple[Section, ...]
    errors: tuple[NotationError, ...]
    warnings: tuple[CheckWarning, ...]
    skipped: tuple[Skipped, ...]
    notes: tuple[Note, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    tried: tuple[Tried, ...] = ()

    @property
    def unread(self) -> tuple[Skipped, ...]:
        """The formulas with named axes that were not checked."""
        return tuple(left for left in self.skipped if left.named)

    @property
    def formulas(self) -> int:
        """The number of formulas that were parsed and typed, including separate shapes and types."""
        return sum(not maths.written for section in self.sections for maths in (*section.formulas, *section.shapes))

    @property
    def scopes(self) -> list[Section]:
        """The sections that contain checked formulas."""
        return [section for section in self.sections if not all(maths.written for maths in section.formulas)]


@dataclass
class Findings:
    """The errors, warnings, skipped formulas and notes that a check has collected so far."""

    errors: list[NotationError] = field(default_factory=list)
    warnings: list[CheckWarning] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    read: int = 0  # characters of math parsed
    tried: list[Tried] = field(default_factory=list)
    conflicts: int = 0  # definitions that contradict each other

    def count_untested(self, source: str) -> None:
        """Add a note that states how many equations are not tested because they have no named axes."""
        left = [skipped.span for skipped in self.skipped if skipped.reason == NO_NAMED_AXES]
        untested = sorted(span for span in left if EQUATION.search(source, *span))
        if untested:
            which, them = ("equation is", "it") if len(untested) == 1 else ("equations are", "them")
            text = f"{len(untested)} {which} not tested: no named axes (--all tests {them})"
            self.notes.append(Note(untested[0][0], text))

    def nothing_read(self, document: Document) -> None:
        """Add an error if a document contains formulas with named axes but none of them was checked."""
        unread = [left for left in self.skipped if left.named]
        span = unread[0].span if unread else find_axis_macro(document)
        if span is None or self.errors:
            return
        which = "formula" if len(unread) == 1 else f"{len(unread)} formulas"
        why = f"the {which} with named axes could not be read" if unread else "named axes are here, and no formula"
        notes = (f"the first was left out for this: {unread[0].reason}",) if unread else ()
        hint = "check --all says it of each" if unread else "write math in $…$, \\[…\\] or an environment such as align"
        message = f"nothing was checked: {why}"
        self.errors.append(NotationError(108, message, document.source, span, notes=notes, hint=hint))
