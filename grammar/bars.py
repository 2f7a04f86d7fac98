"""Pair opening bars with closing bars, which use the same character.

|key|              one name: a size if `key` is an axis, or an absolute value if it is a tensor
|x − |y||          a longer expression: abs(x − |y|), if only one pairing is possible
|x| y |z|          ambiguous, either (|x|) y (|z|) or |x (|y|) z|
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from .errors import NotationError, clip_line
from .tokens import CLOSING, OPENING, Token

# The first list contains the tokens that can start an operand. The second contains the tokens that can end an operand.
BEGINS = frozenset("""NUMBER NAME FUNCTION LPAREN LBRACE LBRACKET BAR ROOT PARTIAL BIG MINUS INDICATOR EXPECTED
    EXPECTATION""".split())  # fmt: skip
ENDS = frozenset("NUMBER NAME STAR RPAREN RBRACE RBRACKET BAR FACTORIAL".split())
# Tokens that end an expression.
PARTS = frozenset("""SEPARATOR COMMA SEMICOLON COLON EQUALS APPROX UPDATE RELATION IN DRAWN ARROW FOR IF OTHERWISE AND OR
    NOT DOTS ELLIPSIS""".split())  # fmt: skip
ONE_NAME = re.compile(r"NAME( SUB (NAME|NUMBER|LBRACE (NAME|NUMBER) RBRACE)| SUP (STAR|LBRACE STAR RBRACE))*")
BESIDE = re.compile(r"(?<=[\w)])(?=abs\()|(?<=\))(?=\w)")
MAX_NESTED_BARS = 50  # The maximum nesting depth of bars.
MAX_NAME_TOKENS = 64  # The maximum number of tokens in a name with scripts and stars.


class Pairing(NamedTuple):
    """A partial pairing: the open bars and the completed pairs.

    `opened` is true if the last bar opens a pair.
    """

    open: tuple[int, ...]
    pairs: tuple[Any, ...]  # Nested pairs: copying a flat tuple for each bar would be slow.
    opened: bool

    def entries(self) -> Iterator[tuple[int, int]]:
        pairs = self.pairs
        while pairs:
            last, pairs = pairs
            yield last


START = Pairing((), (), False)


def replace_bars(tokens: list[Token], source: str) -> list[Token]:
    """Replace each pair of bars around an expression with abs( … ) and return the new tokens.

    A pair around a single name is kept. Unpaired bars are also kept, and the parser reports them. Raise NotationError
    if the bars can be paired in two ways.
    """
    replaced: dict[int, str] = {}
    for places in groups(tokens):
        readings = pairings(tokens, places)
        if len(readings) > 1:
            readings = pair_around_names(tokens, readings) or readings
        if len(readings) > 1:
            raise two_readings(tokens, readings, source)
        for opening, close in readings[0] if readings else ():
            if is_one_name(tokens[opening + 1 : close]):
                tokens[opening + 1].place = "axis"
                continue
            for inner in tokens[opening + 1 : close]:
                inner.place = "" if inner is tokens[opening + 1] and inner.type == "NAME" else inner.place
            replaced |= {opening: "abs", close: ""}
    result: list[Token] = []
    for index, token in enumerate(tokens):
        name = replaced.get(index)
        if name is None:
            result.append(token)
        elif name:
            result += [Token("FUNCTION", name, *token.span), Token("CALL", "(", *token.span)]
        else:
            result.append(Token("RPAREN", ")", *token.span))
    return result


def groups(tokens: list[Token]) -> list[list[int]]:
    """Return the token indices of each group that contains a bar.

    A group consists of the tokens directly inside one pair of brackets, or of the tokens outside all brackets.
    """
    result: list[list[int]] = []
    stack: list[list[int]] = [[]]
    for index, token in enumerate(tokens):
        if token.type in CLOSING and len(stack) > 1:
            result.append(stack.pop())
        stack[-1].append(index)
        if token.type in OPENING:
            stack.append([])
    return [group for group in (*result, *stack) if any(tokens[position].type == "BAR" for position in group)]


def pairings(tokens: list[Token], places: list[int]) -> list[tuple[tuple[int, int], ...]]:
    """Return at most two valid pairings of the bars in one group.

    Two pairings are enough to detect ambiguity.
    """
    done: list[tuple[tuple[int, int], ...]] = [()]
    current = [START]
    for index, position in enumerate(places):
        token = tokens[position]
        if token.type in PARTS:
            done = combine_pairings(done, current)
            current = [START]
            continue
        if token.type != "BAR":
            continue
        before = tokens[places[index - 1]].type if index else ""
        after = tokens[places[index + 1]].type if index + 1 < len(places) else ""
        beside = index > 0 and tokens[places[index - 1]].type == "BAR"
        current = distinct([
            following for pairing in current for following in steps(pairing, position, before, after, beside, token.place)
        ])  # fmt: skip
    return combine_pairings(done, current)


def combine_pairings(
    done: list[tuple[tuple[int, int], ...]], current: list[Pairing]
) -> list[tuple[tuple[int, int], ...]]:
    """Add each complete pairing in `current` to each earlier pairing in `done`, and return at most two results."""
    ended = [tuple(pairing.entries()) for pairing in current if not pairing.open][:2]
    return [before + pairs for before in done for pairs in ended][:2]


def steps(pairing: Pairing, position: int, before: str, after: str, beside: bool, side: str) -> list[Pairing]:
    """Return each pairing in which the next bar opens or closes a pair.

    The result has two pairings if the bar can do both, and none if the bar can do neither. If the LaTeX source
    specifies the direction, `side` is "opens" or "closes".
    """
    ends = before in ENDS and not (beside and pairing.opened)
    result: list[Pairing] = []
    opened, pairs, _ = pairing
    if side != "closes" and after in BEGINS and before not in ("SUB", "SUP") and len(opened) < MAX_NESTED_BARS:
        result.append(Pairing((*opened, position), pairs, True))
    if side != "opens" and opened and ends:
        *others, opening = opened
        doubled = pairs[:1] == ((opening + 1, position - 1),)  # ||x|| is not an absolute value.
        if not doubled:
            result.append(Pairing(tuple(others), ((opening, position), pairs), False))
    return result


def distinct(pairings: list[Pairing]) -> list[Pairing]:
    """Keep at most two pairings with the same number of open bars and the same direction of the last bar."""
    counts: dict[tuple[int, bool], int] = {}
    result: list[Pairing] = []
    for pairing in pairings:
        state = len(pairing.open), pairing.opened
        counts[state] = counts.get(state, 0) + 1
        if counts[state] <= 2:
            result.append(pairing)
    return result


def pair_around_names(
    tokens: list[Token], readings: list[tuple[tuple[int, int], ...]]
) -> list[tuple[tuple[int, int], ...]]:
    """Return the pairings in which every starred name between bars, such as |ax*|, has its own pair.

    Return [] if no starred name is between bars.
    """
    marked = [pair for reading in readings for pair in reading if is_marked_name(tokens[pair[0] + 1 : pair[1]])]
    return [reading for reading in readings if marked and all(pair in reading for pair in marked)]


def is_marked_name(inside: list[Token]) -> bool:
    return is_one_name(inside) and (inside[-1].type in ("STAR", "RBRACE") or inside[-1].text.endswith("*"))


def is_one_name(inside: list[Token]) -> bool:
    return len(inside) < MAX_NAME_TOKENS and ONE_NAME.fullmatch(" ".join(token.type for token in inside)) is not None


def two_readings(tokens: list[Token], readings: list[tuple[tuple[int, int], ...]], source: str) -> NotationError:
    """Return the error for bars that can be paired in two ways.

    Its span covers the bars that the pairings treat differently.
    """
    one, other = (set(reading) for reading in readings[:2])
    apart = [position for pair in one ^ other for position in pair]
    first, last = min(apart), max(apart)
    start, end = tokens[first].start, tokens[last].end
    notes: list[str] = []
    for reading in (one, other):
        signs = {position: sign for pair in reading for position, sign in zip(pair, ("abs(", ")"))}
        text, at = "", start
        for position in sorted(sign for sign in signs if first <= sign <= last):
            text += source[at : tokens[position].start].strip() + signs[position]
            at = tokens[position].end
        notes.append(BESIDE.sub(" ", text + source[at:end].strip()))
    return NotationError(
        107, f"{clip_line(source[start:end])} is ambiguous", source, (start, end),
        notes=(f"could mean {clip_line(notes[0])}", f"could mean {clip_line(notes[1])}"), hint="write abs(…), or add parentheses",
    )  # fmt: skip
