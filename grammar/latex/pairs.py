"""Find the formulas in a LaTeX source, and match its brackets and environments."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import Hint, NotationError
from .macros import CLOSERS, CLOSING, DISPLAYS, DOLLARS, TEXTS, Piece, closing_of, never_closed


class Maths(NamedTuple):
    """The formulas of a source, and a map from each opening piece to its closing piece, by index."""

    # The start, the end, and the opener: \begin{align}, $, or "" for a source without math mode.
    units: list[tuple[int, int, str]]
    partner: dict[int, int]


ONLY_MATHS = frozenset("\\" + name for name in "nfun nbin ndot nsum nprod ncat nmatrix frac sum prod odot".split())


def maths_of(source: str, pieces: list[Piece]) -> Maths:
    """Find the formulas in a source.

    If the source does not separate formulas from prose, the whole source is one formula.
    """
    return _Pairing(source, pieces).run()


class _Pairing:
    def __init__(self, source: str, pieces: list[Piece]):
        self.source, self.pieces = source, pieces
        self.opened: list[int] = []
        self.maths = Maths([], {})

    def run(self) -> Maths:
        in_prose = self.has_prose()
        for index, piece in enumerate(self.pieces):
            text = piece[0]
            if text not in CLOSING and text not in CLOSERS and not text.startswith(("\\begin{", "\\end{")):
                continue
            if in_prose and not self.opened and text not in DISPLAYS and text not in DOLLARS:
                continue
            if text in DOLLARS:
                self.dollar(index, text)
            elif text in CLOSING or text.startswith("\\begin"):
                self.opened.append(index)
            else:
                self.close(index)
        if self.opened:
            raise never_closed(self.source, self.pieces[self.opened[-1]])
        if in_prose:
            self.refuse_maths_in_prose()
        return self.maths if in_prose else Maths([(0, len(self.pieces), "")], self.maths.partner)

    def refuse_maths_in_prose(self) -> None:
        """Raise NotationError if a math-only macro is outside math mode.

        The reader would skip the macro there. LaTeX also raises an error for it.
        """
        index = 0
        for start, end, _ in [*self.maths.units, (len(self.pieces), 0, "")]:
            for text, first, last in self.pieces[index:start]:
                if text in ONLY_MATHS:
                    raise NotationError(
                        101, f"{text} is outside math mode", self.source, (first, last),
                        hint=r"write it between \[ and \], or inside the environment before it",
                    )  # fmt: skip
            index = max(index, end)

    def has_prose(self) -> bool:
        texts = {piece[0] for piece in self.pieces}
        if not texts.isdisjoint(DISPLAYS):
            return True
        return not texts.isdisjoint(DOLLARS) and self.dollar_outside_text()

    def dollar_outside_text(self) -> bool:
        r"""Return whether a $ occurs outside upright text. In \text{$i$ odd}, the $ is inside."""
        groups: list[bool] = []
        before = ""
        for text, _, _ in self.pieces:
            if text == "{":
                groups.append(before[1:] in TEXTS or bool(groups and groups[-1]))
            elif text == "}" and groups:
                groups.pop()
            elif text in DOLLARS and not (groups and groups[-1]):
                return True
            before = text
        return False

    def dollar(self, index: int, text: str) -> None:
        top = self.pieces[self.opened[-1]][0] if self.opened else ""
        if top not in DOLLARS:
            self.opened.append(index)
            return
        self.paired(index)
        if top != text:  # $a$$b$
            self.pieces[index] = ("$", *self.pieces[index][1:])
            self.opened.append(index)

    def paired(self, index: int) -> None:
        opening = self.opened.pop()
        self.maths.partner[opening] = index
        if not self.opened:
            self.maths.units.append((opening + 1, index, self.pieces[opening][0]))

    def close(self, index: int) -> None:
        text, start, end = self.pieces[index]
        opening = self.pieces[self.opened[-1]] if self.opened else None
        if opening is not None and closing_of(opening[0]) == text:
            return self.paired(index)
        if opening is None or (text == "}" and opening[0] != "{"):
            raise NotationError(
                103, f"{text} has nothing to close", self.source, (start, end), hint=Hint("remove it", "")
            )
        if not (text.startswith("\\end") and opening[0].startswith("\\begin")):
            raise never_closed(self.source, opening)
        raise NotationError(
            110,
            f"{text} does not match {opening[0]}",
            self.source,
            (start, end),
            labels=((opening[1:], "opened here"),),
            hint=f"write {closing_of(opening[0])}",
        )
