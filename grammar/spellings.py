"""Names with their scripts, as token texts: match uses to left-hand sides before there is a tree.

W_1(x) = …         W_1 is a function, and W_2 is none
h_2^t = … for t    h_2^{t-1} is a tensor, and h_3^{t-1} is not known from this
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import product
from typing import NamedTuple

from .tokens import Token


class Spelling(NamedTuple):
    """A name, and the texts of the components of its scripts: `W_1^{l,Q}` is Spelling("W", ("1",), ("l", "Q"))."""

    base: str
    subscript: tuple[str, ...] = ()
    superscript: tuple[str, ...] = ()

    def pattern(self) -> Spelling:
        """As a head, for all that it may mean: a word stands for anything, and a number for itself."""
        return Spelling(self.base, tuple(map(_open, self.subscript)), tuple(map(_open, self.superscript)))

    def fits(self, patterns: Collection[Spelling]) -> bool:
        """Whether a use can mean what one of these heads, as patterns, defines."""
        if len(self.subscript) + len(self.superscript) > MAX_SCRIPT_COMPONENTS:  # too many to try each reading of
            return any(self.is_of(pattern) for pattern in patterns)
        below = list(product(*((part, ANY) for part in self.subscript)))
        if len(self.subscript) > 1:
            below.append((ANY,))  # one axis of a head stands for as many as the use names
        above = list(product(*((part, ANY) for part in self.superscript)))
        return any(Spelling(self.base, first, second) in patterns for first in below for second in above)

    def is_of(self, pattern: Spelling) -> bool:
        below = (ANY,) * len(self.subscript) if pattern.subscript == (ANY,) else pattern.subscript
        parts = (*self.subscript, *self.superscript), (*below, *pattern.superscript)
        return (self.base, len(self.subscript), len(self.superscript)) == (
            pattern.base,
            len(below),
            len(pattern.superscript),
        ) and all(part in (use, ANY) for use, part in zip(*parts))

    def shorter(self) -> Iterator[Spelling]:
        """The name itself, then with fewer scripts: h_2^3 may be a power of h_2."""
        yield self
        for each in (self._replace(superscript=()), self._replace(subscript=()), Spelling(self.base)):
            if each != self:
                yield each


MAX_SCRIPT_COMPONENTS = 6  # components
ANY = "…"  # in a pattern: whatever the use has there


def _open(component: str) -> str:
    return ANY if component[:1].isalpha() else component


def spelling(tokens: list[Token]) -> Spelling:
    """The name that these tokens are."""
    scripts: dict[str, list[str]] = {"SUB": [], "SUP": []}
    position = 1
    while position < len(tokens):
        kind = tokens[position].type
        group, position = _group(tokens, position + 1)
        if kind in scripts:
            scripts[kind] += _components(group)
    return Spelling(tokens[0].text, tuple(scripts["SUB"]), tuple(scripts["SUP"]))


def _group(tokens: list[Token], start: int) -> tuple[list[Token], int]:
    """The tokens of a script, without the braces around them, and where they end."""
    if start >= len(tokens) or tokens[start].type != "LBRACE":
        return tokens[start : start + 1], start + 1
    depth = 0
    for end in range(start, len(tokens)):
        depth += (tokens[end].type == "LBRACE") - (tokens[end].type == "RBRACE")
        if depth == 0:
            return tokens[start + 1 : end], end + 1
    return tokens[start + 1 :], len(tokens)


def _components(tokens: Iterable[Token]) -> list[str]:
    found = [""]
    for token in tokens:
        if token.type == "COMMA":
            found.append("")
        else:
            found[-1] += token.text
    return found


def compact(name: str) -> str:
    """A name as `values` has it, in the way that its tokens are written one after another: W^{l,Q} as W^l,Q."""
    return name.replace("{", "").replace("}", "")
