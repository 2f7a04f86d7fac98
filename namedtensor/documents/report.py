"""What checking a document found: errors, warnings, notes, and the maths that was not checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from grammar.errors import NotationError, Span

from ..terms.inference import CheckWarning
from .maths import Section


class Skipped(NamedTuple):
    """Maths that was not checked, and why; `named` where it is a formula that shows a named axis."""

    span: Span
    reason: str
    named: bool = False


class Note(NamedTuple):
    """What a reader of the report should know of a place, and no error."""

    position: int
    text: str


@dataclass(frozen=True)
class Report:
    """What checking a document found; every span is one of the document."""

    source: str
    sections: tuple[Section, ...]
    errors: tuple[NotationError, ...]
    warnings: tuple[CheckWarning, ...]
    skipped: tuple[Skipped, ...]
    notes: tuple[Note, ...] = ()

    @property
    def unread(self) -> tuple[Skipped, ...]:
        """Formulas with named axes that were not checked."""
        return tuple(left for left in self.skipped if left.named)

    @property
    def formulas(self) -> int:
        return sum(len(section.formulas) for section in self.sections)

    @property
    def scopes(self) -> list[Section]:
        """The sections that hold formulas."""
        return [section for section in self.sections if section.formulas]


@dataclass
class Findings:
    """What was found so far."""

    errors: list[NotationError] = field(default_factory=list)
    warnings: list[CheckWarning] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    read: int = 0  # characters of maths that the parser was given
    conflicts: int = 0  # definitions that cannot stand together

    def nothing_read(self, source: str) -> None:
        """Where formulas with named axes were all left out, that is an error: who checks a document wants to know."""
        unread = [left for left in self.skipped if left.named]
        if not unread or self.errors:
            return
        formulas = "formula" if len(unread) == 1 else f"{len(unread)} formulas"
        self.errors.append(
            NotationError(
                108,
                f"nothing was checked: the {formulas} with named axes could not be read",
                source,
                unread[0].span,
                notes=(f"the first was left out for this: {unread[0].reason}",),
                hint="check --all says it of each",
            )  # fmt: skip
        )
