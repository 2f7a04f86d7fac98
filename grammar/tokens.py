"""Define tokens, which both lexers produce and the parser reads, and the steps that both syntaxes share.

characters --lexer--> tokens --check brackets, tell functions from tensors--> tokens --LALR--> nodes
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, product, takewhile
from typing import NamedTuple

from .errors import Hint, NotationError, Span

OPENING = {"LPAREN": "RPAREN", "CALL": "RPAREN", "LBRACE": "RBRACE", "LBRACKET": "RBRACKET"}
CLOSING = {"RPAREN", "RBRACE", "RBRACKET"}
CLOSED_BY = {
    "‖": "‖",
    "⌊": "⌋",
    "⌈": "⌉",
    "\\lVert": "\\rVert",
    "\\lfloor": "\\rfloor",
    "\\lceil": "\\rceil",
    "\\|": "\\|",
}
ROUND = {"LPAREN", "CALL", "LBRACKET"}
ENDS_OPERAND = frozenset({"NAME", "NUMBER", "RPAREN", "RBRACE", "RBRACKET", "STAR"})
SIGNS = {"RPAREN": ")", "RBRACE": "}", "RBRACKET": "]"}


class Token:
    """A token: a terminal of the grammar, its `text`, which becomes part of the tree, and its span.

    `place` is one of five values. It is "axis" for a token directly inside a subscript or a shape, where every word is
    a name. It is "mean" for 𝔼, "product" for a × outside shapes, and "opens" or "closes" for a LaTeX bar with a
    direction. For all other tokens, it is "".
    """

    __slots__ = ("type", "text", "start", "end", "place")
    # Lark reads these attributes from the last token when it creates the end token.
    line = column = end_line = end_column = start_pos = end_pos = None

    def __init__(self, type: str, text: str, start: int, end: int, context: str = ""):
        self.type, self.text, self.start, self.end, self.place = type, text, start, end, context

    @property
    def span(self) -> Span:
        return self.start, self.end

    def __repr__(self):
        return f"{self.type}({self.text!r})"


def numeral(character: str, before: Token | None, source: str, start: int, end: int) -> list[Token]:
    """Return the tokens for a fraction character, such as {1/2} for ½. Raise NotationError for the ambiguous 3½."""
    if before is not None and before.type == "NUMBER" and before.end == start:
        shown = source[before.start : end]
        raise NotationError(
            107, f"{shown} is ambiguous", source, (before.start, end),
            notes=(f"could mean {before.text} + {character}", f"could mean {before.text} · {character}"), hint="write the operator",
        )  # fmt: skip
    above, below = unicodedata.normalize("NFKC", character).split("⁄")
    kinds = (("LBRACE", "{"), ("NUMBER", above), ("SLASH", "/"), ("NUMBER", below), ("RBRACE", "}"))
    return [Token(kind, text, start, end) for kind, text in kinds]


def too_deep(nesting: int, source: str, span: Span) -> NotationError:
    return NotationError(
        404,
        f"brackets are nested more than {nesting} deep",
        source,
        span,
        hint="define a part in a separate equation, or raise limits.max_nesting",
    )


def match_brackets(tokens: list[Token], source: str, nesting: int) -> None:
    """Raise NotationError if brackets do not match or are nested more deeply than `nesting`."""
    open_brackets: list[Token] = []
    for token in tokens:
        kind = token.type
        if kind in OPENING:
            open_brackets.append(token)
            if len(open_brackets) > nesting:
                raise too_deep(nesting, source, token.span)
        elif kind in CLOSING:
            if not open_brackets:
                raise NotationError(
                    103,
                    f"{source[token.start : token.end]} has no opening bracket",
                    source,
                    token.span,
                    hint=Hint("remove it", ""),
                )
            opened = open_brackets.pop()
            if OPENING[opened.type] != kind:
                raise NotationError(
                    104,
                    f"{source[token.start : token.end]} does not match {source[opened.start : opened.end]}",
                    source,
                    token.span,
                    labels=((opened.span, "opened here"),),
                    hint=Hint(
                        f"write {SIGNS[OPENING[opened.type]]} here, or close it before", SIGNS[OPENING[opened.type]]
                    ),
                )
        elif kind == "SEPARATOR" and open_brackets:
            break
    if open_brackets:
        opened = open_brackets[-1]
        sign = source[opened.start : opened.end]
        closer, end = CLOSED_BY.get(sign) or SIGNS[OPENING[opened.type]], _statement_end(tokens, opened)
        raise NotationError(
            102,
            f"{sign} is not closed",
            source,
            opened.span,
            hint=Hint(f"close it with {closer}", closer, at=(end, end)),
        )


def group_end(tokens: Sequence[Token], start: int) -> int:
    """Return the index after the closing bracket of the group that begins at `start`."""
    depth = 0
    for position in range(start, len(tokens)):
        if tokens[position].type in OPENING:
            depth += 1
        elif tokens[position].type in CLOSING:
            depth -= 1
            if depth == 0:
                return position + 1
    return len(tokens)


def has_several_parts(tokens: Sequence[Token], start: int) -> bool:
    """Return whether the group that begins at `start` contains a comma or semicolon outside inner brackets."""
    group = tokens[start : group_end(tokens, start)]
    return any(depth == 1 and token.type in ("COMMA", "SEMICOLON") for token, depth in zip(group, depths(group)))


def depths(tokens: Iterable[Token]) -> Iterator[int]:
    """Yield the number of brackets around each token.

    For an opening bracket, the number includes this bracket. For a closing bracket, it does not.
    """
    return accumulate((token.type in OPENING) - (token.type in CLOSING) for token in tokens)


def covering(tokens: Sequence[Token]) -> Span:
    """Return the span that covers all tokens. In LaTeX, the tokens may be out of order."""
    return min(token.start for token in tokens), max(token.end for token in tokens)


def is_alone(texts: Iterable[str], signs: Collection[str]) -> bool:
    """Return whether a sign has no partner: the enclosing bracket closes before another of the `signs` occurs.

    `texts` contains the text after the sign. Signs inside inner brackets do not count. In KL(p ‖ q), for example, ‖
    has no partner, so it separates two arguments.
    """
    depth = 0
    for text in texts:
        depth += (text in "([{") - (text in ")]}")
        if depth < 0 or (not depth and text in signs):
            return depth < 0
    return False


def scripts_end(
    tokens: Sequence[Token], start: int, kinds: Collection[str] = ("SUB", "SUP", "WITH"), most: int | None = None
) -> int:
    """Return the index after the scripts that begin at `start`.

    Count only scripts that begin with one of `kinds`, and at most `most` scripts.
    """
    position = start
    while position < len(tokens) and tokens[position].type in kinds and most != 0:
        position += 1
        if position < len(tokens) and tokens[position].type == "LBRACE":
            position = group_end(tokens, position)
        else:
            position += 1
        most = None if most is None else most - 1
    return min(position, len(tokens))


def _statement_end(tokens: list[Token], within: Token) -> int:
    """Return the end of the statement that contains the token `within`, as a position in the source."""
    later = takewhile(
        lambda token: token.type != "SEPARATOR", (token for token in tokens if token.start >= within.start)
    )
    return max((token.end for token in later), default=within.end)


class Spelling(NamedTuple):
    """A name and the components of its scripts. `W_1^{l,Q}` is Spelling("W", ("1",), ("l", "Q"))."""

    base: str
    subscript: tuple[str, ...] = ()
    superscript: tuple[str, ...] = ()

    def pattern(self) -> Spelling:
        """Return the pattern for a left-hand side.

        Words in the pattern match anything, and numbers match only themselves.
        """
        return Spelling(self.base, tuple(map(_open, self.subscript)), tuple(map(_open, self.superscript)))

    def fits(self, patterns: Collection[Spelling]) -> bool:
        """Return whether this name matches at least one of the patterns."""
        if len(self.subscript) + len(self.superscript) > MAX_SCRIPT_COMPONENTS:  # Too many combinations to look up.
            return any(self.is_of(pattern) for pattern in patterns)
        below = list(product(*((part, ANY) for part in self.subscript)))
        if len(self.subscript) > 1:
            below.append((ANY,))  # One axis of a left-hand side matches any number of axes in a use.
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
        """Yield the name, then the same name with fewer scripts.

        For example, h_2^3 may be a power of h_2.
        """
        yield self
        for shorter in (self._replace(superscript=()), self._replace(subscript=()), Spelling(self.base)):
            if shorter != self:
                yield shorter


MAX_SCRIPT_COMPONENTS = 6  # A name with more components is compared with each pattern.
ANY = "…"  # Matches any component of a script.


def _open(component: str) -> str:
    return ANY if component[:1].isalpha() else component


def read_names(tokens: list[Token]) -> tuple[list[list[Token]], int]:
    """Return the names at the beginning of `tokens`, separated by commas or semicolons, and the position after them.

    Return no names and 0 if `tokens` does not begin with a name, or if a separator is not followed by a name.
    """
    names: list[list[Token]] = []
    start = 0
    while start < len(tokens) and tokens[start].type == "NAME":
        end = scripts_end(tokens, start + 1)
        names.append(tokens[start:end])
        if end == len(tokens) or tokens[end].type not in ("COMMA", "SEMICOLON"):
            return names, end
        start = end + 1
    return [], 0


def spelling(tokens: list[Token]) -> Spelling:
    """Return the name that `tokens` spell, with the components of its scripts."""
    scripts: dict[str, list[str]] = {"SUB": [], "SUP": []}
    position = 1
    while position < len(tokens):
        kind = tokens[position].type
        start = position + 1
        braced = start < len(tokens) and tokens[start].type == "LBRACE"
        position = group_end(tokens, start) if braced else start + 1
        if kind in scripts:
            scripts[kind] += _components(tokens[start + braced : position - braced])
    return Spelling(tokens[0].text, tuple(scripts["SUB"]), tuple(scripts["SUP"]))


def _components(tokens: Iterable[Token]) -> list[str]:
    components = [""]
    for token in tokens:
        if token.type == "COMMA":
            components.append("")
        else:
            components[-1] += token.text
    return components


def compact(name: str) -> str:
    """Return a name without braces, such as W^l,Q for W^{l,Q}. Values are stored under such names."""
    return name.replace("{", "").replace("}", "")


SCRIPTS = ("SUP", "SUB")
SCRIPT_SIGNS = ("PLUS", "MINUS")


def name_signs(tokens: list[Token]) -> None:
    """Turn each + or − that is a whole script, as in x^+, into a name.

    The function modifies `tokens`. In x^-1, the minus belongs to the number.
    """
    for index, token in enumerate(tokens):
        if token.type not in SCRIPT_SIGNS or index == 0:
            continue
        before, after = tokens[index - 1], tokens[index + 1] if index + 1 < len(tokens) else None
        if before.type == "LBRACE":
            whole = index > 1 and tokens[index - 2].type in SCRIPTS and after is not None and after.type == "RBRACE"
        else:
            apart = after is None or after.start > token.end or after.type not in ("NUMBER", "NAME", "LPAREN")
            whole = before.type in SCRIPTS and apart
        if whole:
            token.type = "NAME"
