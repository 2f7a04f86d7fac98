"""The syntax tree of matrix and index notation, its statements, and the letters and limits that a sum binds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from grammar.errors import Span

OPEN = "open"  # the text of a gradient whose operand follows the operator, as in ∇_x f


@dataclass(frozen=True)
class Tree:
    """A node of the syntax tree: its kind, span, parts and text. A ∑ also has letters, limits and conditions."""

    op: str
    span: Span
    parts: tuple[Tree, ...] = ()
    text: str = ""
    letters: tuple[str, ...] = ()
    upper: str = ""
    lower: str = ""
    conditions: tuple[tuple[str, str, str], ...] = ()

    def all(self) -> Iterator[Tree]:
        """Yield this tree and all trees below it."""
        waiting: list[Tree] = [self]
        while waiting:
            tree = waiting.pop()
            yield tree
            waiting.extend(reversed(tree.parts))


@dataclass(frozen=True)
class Statement:
    """A statement `head = body`, or a value `body` without a name if `head` is None."""

    head: Tree | None
    body: Tree


def is_function(name: str) -> bool:
    """Return whether a name before a bracket denotes a function: a letter such as f or σ, or an ASCII word."""
    return name in "fghσφψϕ" or (len(name) > 1 and name.isascii() and name.isalpha())


def base_of(tree: Tree) -> str:
    """Return the name of a tree without its scripts, such as W for W_1."""
    return tree.text if tree.op == "name" else base_of(tree.parts[0]) if tree.op in ("sub", "^") else ""


RELATION = re.compile(r"([≠≤<≥>=])")
END = re.compile(r"(?P<factor>\d+)?(?P<name>[^\W\d_](?:_\w|_\{\w+\})?)?(?:/(?P<divisor>[1-9]\d*))?(?P<shift>[+-]\d+)?")
COUNTING = set("ijst")  # letters that are indices, not lengths
ITEM = re.compile(r"([+-]?)([a-zα-ω]|\d+|\|\w+\|)")


@dataclass(frozen=True)
class IndexBinder:
    """A parsed binder such as j ≠ i or 1 ≤ i < j ≤ n: its letters, first index, conditions and upper end."""

    letters: tuple[str, ...]
    lower: str = ""
    conditions: tuple[tuple[str, str, str], ...] = ()
    upper: str = ""


def binder(raw: str) -> IndexBinder | None:
    """Return the binder that a subscript of a sum denotes, or None if the subscript is not supported."""
    sides = RELATION.split(raw)
    left = tuple(sides[0].replace(",", ""))
    if len(sides) == 1:
        return IndexBinder(left) if left and all(map(str.isalpha, left)) else None
    if len(sides) == 3 and sides[1] == "=":
        if not left or not all(map(str.isalpha, left)):
            return None
        if sides[2].isdigit():
            return IndexBinder(left, sides[2])
        relation = {0: "≥", 1: ">"}.get(start.offset) if (start := item_of(sides[2])) else None
        if start and relation and len(left) == len(start.plus) == 1 and not start.minus:  # ∑_{j=i+1}
            return IndexBinder(left, conditions=((left[0], relation, start.plus[0]),))
        return None
    if "=" in sides[1::2]:
        return None
    ends = sides[0::2]
    lower = upper = ""
    if len(ends) > 2 and ends[0].isdigit() and sides[1] in "≤<":
        first = int(ends[0]) + (sides[1] == "<")
        lower, ends, sides = "" if first == 1 else str(first), ends[1:], sides[2:]
        is_length = ends[-1].isalpha() and (len(ends) > 2 or ends[-1] not in COUNTING)
        if is_length and (sides[-2] == "≤" or len(ends) == 2 and sides[-2] == "<"):
            upper, ends, sides = ends[-1] + ("-1" if sides[-2] == "<" else ""), ends[:-1], sides[:-2]
    if not all(len(end) == 1 and end.isalpha() and end.islower() for end in ends[:-1]):
        return None
    if len(ends) == 1 and len(ends[0]) == 1 and ends[0].isalpha():
        return IndexBinder((ends[0],), lower, (), upper)
    if not (ends[-1].isdigit() or (len(ends[-1]) == 1 and ends[-1].isalpha() and ends[-1].islower())):
        return None
    conditions = tuple(zip(ends, sides[1::2], ends[1:]))
    return IndexBinder((ends[0],), lower, conditions, upper)


@dataclass(frozen=True)
class SumEnd:
    """The upper end `factor` · `name` / `divisor` + `shift` of a sum. Without a name, it is the number `factor`."""

    name: str
    factor: int = 1
    divisor: int = 1
    shift: int = 0


def end_of(text: str) -> SumEnd | None:
    """Return the upper limit that a superscript of a sum denotes, or None if the superscript is not supported."""
    match = END.fullmatch(text)
    if match is None or not text or not (match["name"] or text.isdigit()):
        return None
    return SumEnd(match["name"] or "", int(match["factor"] or 1), int(match["divisor"] or 1), int(match["shift"] or 0))


@dataclass(frozen=True)
class Item:
    """A parsed index. For example, t-k+1 has the letters t and -k and the offset 1, and |n|-i+1 has the length n."""

    plus: tuple[str, ...]
    minus: tuple[str, ...]
    offset: int
    length: str = ""

    @property
    def text(self) -> str:
        """The text of an index that counts backward, such as n-i+1 or 4-i."""
        letters = "".join(f"-{letter}" for letter in self.minus)
        shift = f"{self.offset:+}" if self.offset else ""
        return f"{self.length}{letters}{shift}" if self.length else f"{self.offset}{letters}"

    @property
    def letters(self) -> tuple[str, ...]:
        return (*self.plus, *self.minus)


def item_of(text: str) -> Item | None:
    """Return the index that a text denotes, or None if the text is not a sum or difference of letters and numbers."""
    pieces = list(ITEM.finditer(text))
    if not pieces or "".join(piece[0] for piece in pieces) != text or any(not piece[1] for piece in pieces[1:]):
        return None
    signed = [(piece[1] or "+", piece[2]) for piece in pieces]
    offset = sum(int(sign + word) for sign, word in signed if word.isdigit())
    lengths = [(sign, word) for sign, word in signed if word[0] == "|"]
    if len(lengths) > 1 or lengths and lengths[0][0] == "-":
        return None
    letters = [(sign, word) for sign, word in signed if word.isalpha()]
    return Item(
        tuple(word for sign, word in letters if sign == "+"),
        tuple(word for sign, word in letters if sign == "-"),
        offset,
        lengths[0][1].strip("|") if lengths else "",
    )
