r"""Split LaTeX source into pieces and expand the author's macros, like TeX, but without interpreting formulas.

    characters --scan--> pieces --expand--> pieces without the author's macros

A piece is a TeX token, with two exceptions. A run of letters is one piece, because it is one name in this notation. A
name with a font, such as `\\name{seq}`, is also one piece. A piece from a macro body has the span of the macro call.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..errors import ENDLESS_MACRO, NotationError, Span
from ..folding import fold
from ..symbols import GREEK_LETTERS, SUBSCRIPTS, SUPERSCRIPTS

Piece = tuple[str, int, int]  # The text of a piece, and its start and end in the source.

MAX_MACRO_PIECES = 100_000  # The maximum number of pieces that the author's macros may produce.

# These macros show a word in upright text, where `if` and `odd` are words of the notation, or in a font for names.
TEXTS = ("text", "textrm", "textit", "textbf", "textsf", "texttt", "textnormal", "mbox", "hbox")
FONTS = ("name", "mathsf", "mathrm", "mathit", "mathbf", "mathtt", "mathnormal", "boldsymbol", "bm", "operatorname")
AXIS_FONTS = ("\\name", "\\mathsf")

# A paper may define these macros for their appearance. They keep their meaning in the notation.
NOTATION = {"ndef", "ndot", "nfun", "nsum", "nprod", "ncat", "nbin", "nmatrix", "reals", *TEXTS, *FONTS}

OUTER = "align equation gather multline eqnarray flalign alignat xalignat displaymath math dmath IEEEeqnarray empheq".split()
WITH_ARGUMENTS = ("alignat", "xalignat", "IEEEeqnarray", "empheq")  # \begin{IEEEeqnarray}[…]{rCl}
INNER = "aligned split gathered alignedat cases dcases rcases".split()
ENVIRONMENTS = {name + star for name in OUTER for star in ("", "*")} | set(INNER)

_STAND_ALONE = "".join(GREEK_LETTERS) + "".join(SUBSCRIPTS) + "".join(SUPERSCRIPTS) + "ℝ𝕀"
NAMED = re.compile(
    rf"\\({'|'.join(TEXTS + FONTS)})\*?\s*\{{\s*([^\W\d_][^\W_]*(?:\\?_[^\W_]+)*['′’]*[*∗†‡]?)[\s.,;:]*\}}"
)
PIECE = re.compile(
    rf"""\\(?:{"|".join(TEXTS + FONTS)})\*?\s*\{{\s*[^\W\d_][^\W_]*(?:\\?_[^\W_]+)*['′’]*[*∗†‡]?[\s.,;:]*\}}
    |\\(?:begin|end)\{{[A-Za-z]+\*?\}}
    |\\arg\s*(?:\\[,!]\s*)?\\(?:max|min)(?![A-Za-z])
    |\\math(?:bb|ds|bbm)(?:\s*\{{\s*[A-Z1]\s*\}}|\s+[A-Z])
    |\\\\\*?(?:\s*\[\s*-?[\d.]*\s*(?:ex|em|pt|mm|cm|in|pc|mu|bp|sp|\\(?:jot|baselineskip))\s*\])?
    |\\[A-Za-z]+
    |\\.
    |(?<=[\^_])[0-9]|(?<=frac)[0-9]|(?<=frac[0-9])[0-9]|(?<=binom)[0-9]|(?<=binom[0-9])[0-9]
    |(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?
    |[{"".join(GREEK_LETTERS)}]
    |[^\W\d_{_STAND_ALONE}]+
    |\.\.\.
    |:=
    |\$\$?
    |&(?:lt|gt|amp);
    |\#[1-9]
    |%[^\n]*
    |\s+
    |.""",
    re.VERBOSE | re.DOTALL,
)


ESCAPED = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}  # HTML needs entities for these characters.
ARG = re.compile(r"\\arg\W[^a-z]*([a-z]+)")  # \arg\max is one operator, whatever a document calls \argmax.


def scan(source: str) -> list[Piece]:
    """Split a source into pieces, without blanks and comments."""
    pieces, start = [], 0
    for text in PIECE.findall(source):
        end = start + len(text)
        if text[0] != "%" and not text.isspace():
            pieces.append((ESCAPED.get(text) or ARG.sub(r"\\operatorname{arg\1}", text), start, end))
        start = end
    return pieces


def is_word(text: str) -> bool:
    """Return whether a piece consists of letters only."""
    return text[0].isalpha() and text[0] not in _STAND_ALONE or text in GREEK_LETTERS


def is_number(text: str) -> bool:
    return text[0] in "0123456789" or text[0] == "." and text[1:2].isdigit()


def is_macro(text: str) -> bool:
    """Return whether a piece is a control word such as \\seq."""
    return text[0] == "\\" and text[1:].isalpha()


# -------------------------------------------------------------------------------------------------- the author's macros
class Macro(NamedTuple):
    r"""A macro that the source defines, for example with \newcommand or \ndef.

    `body` is None if the definition uses unsupported features. If `sized` is true, a star or an optional argument sets
    the size of the brackets, as in \norm*{x} and \norm[\big]{x}.
    """

    parameters: int
    body: list[Piece] | None
    sized: bool = False


PARAMETER = re.compile("#[1-9]")
DEFINES = re.compile(
    r"\\(?:(?:re)?new(?:command|environment)|providecommand|DeclareMathOperator|DeclarePairedDelimiterX?|[gex]?def|let|ndef)(?![A-Za-z])"
)


# The macros \nidx{ax}{1}, \nset{ax}{n} and \nmov{ax}{bx} of the LaTeX package before 2021-03.
OLDER = {
    "\\nidx": Macro(2, scan(r"\name{#1}(#2)")),
    "\\nset": Macro(2, scan(r"\name{#1}[#2]")),
    "\\nmov": Macro(2, scan(r"\name{#1}\rightarrow\name{#2}")),
}
USES_OLDER = re.compile(rf"\\(?:{'|'.join(name[1:] for name in OLDER)})(?![A-Za-z])")


def expand(source: str, pieces: list[Piece]) -> list[Piece]:
    """Return the pieces with macros expanded.

    These macros are defined in the source or in older versions of the LaTeX package `namedtensor`.
    """
    return _Expander(source, pieces).run() if DEFINES.search(source) or USES_OLDER.search(source) else pieces


class _Expander:
    def __init__(self, source: str, pieces: list[Piece]):
        self.source = source
        self.left = pieces[::-1]  # The unread pieces. The next piece is last.
        self.macros: dict[str, Macro] = dict(OLDER)
        self.made = 0

    def run(self) -> list[Piece]:
        done: list[Piece] = []
        while self.left:
            piece = self.left.pop()
            text = piece[0]
            if text in self.macros:
                self.use(piece, self.macros[text])
            elif text in DEFINITIONS:
                DEFINITIONS[text](self, piece)
            else:
                done.append(piece)
        return done

    def use(self, piece: Piece, macro: Macro) -> None:
        text, start, end = piece
        if macro.body is None:
            raise NotationError(
                111,
                f"the definition of {text} is not supported",
                self.source,
                (start, end),
                hint="define it with \\newcommand and plain arguments",
            )
        if macro.sized and self.peek() == "*":
            self.left.pop()
        elif macro.sized and self.peek() == "[":
            self.bracket()
        arguments = [self.argument(piece) for _ in range(macro.parameters)]
        end = max([end, *(argument[-1][2] for argument in arguments if argument)])
        body: list[Piece] = []
        for part in macro.body:
            if PARAMETER.fullmatch(part[0]):
                body += arguments[int(part[0][1]) - 1][1:-1]
            else:
                body.append((part[0], start, end))
            self.bound(piece, len(body))
        self.made += len(body) + 1
        self.left.extend(reversed(body))

    def bound(self, piece: Piece, more: int) -> None:
        if self.made + more > MAX_MACRO_PIECES:
            raise NotationError(
                109,
                f"{self.source[piece[1] : piece[2]]} expands endlessly",
                self.source,
                piece[1:],
                hint="do not use a macro in its own definition",
                reason=ENDLESS_MACRO,
            )

    # ------------------------------------------------------------------------------------------------- its arguments
    def peek(self) -> str:
        return self.left[-1][0] if self.left else ""

    def argument(self, macro: Piece) -> list[Piece]:
        """Return the next group with its braces.

        For a single piece, or the first character of a word or number, add two braces of width zero.
        """
        if not self.left or self.peek() == "}":
            raise lacks_argument(self.source, macro)
        piece = self.left.pop()
        text, start, end = piece
        if text == "{":
            return self.group(piece)
        if len(text) > 1 and (text.isdecimal() or is_word(text)):
            self.left.append((text[1:], min(start + 1, end), end))
            piece = (text[0], start, min(start + 1, end))
        return [("{", start, start), piece, ("}", piece[2], piece[2])]

    def group(self, opening: Piece) -> list[Piece]:
        group, depth = [opening], 1
        while depth:
            if not self.left:
                raise never_closed(self.source, opening)
            piece = self.left.pop()
            depth += (piece[0] == "{") - (piece[0] == "}")
            group.append(piece)
        return group

    # ----------------------------------------------------------------------------------------------- its definitions
    def new_name(self, defining: Piece) -> str:
        group = self.argument(defining)
        if len(group) != 3 or group[1][0][0] != "\\":
            raise NotationError(
                109,
                f"{defining[0]} does not name a macro",
                self.source,
                defining[1:],
                hint=rf"write {defining[0]}{{\name}}",
            )
        return group[1][0]

    def define(self, name: str, parameters: int, body: list[Piece] | None, sized: bool = False) -> None:
        """Define a macro, unless the notation already defines it.

        If the body uses more arguments than the macro declares, store None as the body.
        """
        used = max([int(piece[0][1]) for piece in body or () if PARAMETER.fullmatch(piece[0])], default=0)
        if name[1:] not in NOTATION:
            self.macros[name] = Macro(parameters, body if used <= parameters else None, sized)

    def command(self, defining: Piece) -> None:
        """Read \\newcommand{\\name}[number of arguments]{body}."""
        if self.peek() == "*":
            self.left.pop()
        name, parameters = self.new_name(defining), self.parameters()
        self.define(name, parameters, self.argument(defining)[1:-1])

    def parameters(self) -> int:
        """Read [2] as the number of arguments and return the number. Return -1 for [2][x], which has a default."""
        number, known = 0, True
        while self.peek() == "[":
            inside = self.bracket()
            known = number == 0 and inside.isdecimal() and len(inside) == 1
            number = int(inside) if known else -1
        return number if known else -1

    def bracket(self) -> str:
        inside = ""
        while self.left:
            text = self.left.pop()[0]
            if text == "]":
                break
            inside += text.strip("[")
        return inside

    def paired(self, defining: Piece) -> None:
        r"""Read \DeclarePairedDelimiter{\norm}{\lVert}{\rVert}, or its X form, which also accepts [2] and a body."""
        name, body = self.new_name(defining), [("#1", *defining[1:])]
        parameters = self.parameters() or 1
        before, after = self.argument(defining)[1:-1], self.argument(defining)[1:-1]
        if defining[0].endswith("X"):
            body = self.argument(defining)[1:-1]
        left, right = ("\\left", *defining[1:]), ("\\right", *defining[1:])
        self.define(name, parameters, [left, *before, *body, right, *after], sized=True)

    def environment(self, defining: Piece) -> None:
        """Read \\newenvironment{name}{before}{after} as definitions of the macros \\begin{name} and \\end{name}."""
        if self.peek() == "*":
            self.left.pop()
        name = "".join(piece[0] for piece in self.argument(defining)[1:-1])
        parameters = self.parameters()
        before, after = self.argument(defining)[1:-1], self.argument(defining)[1:-1]
        if name not in ENVIRONMENTS:
            self.define(f"\\begin{{{name}}}", parameters, before)
            self.define(f"\\end{{{name}}}", 0, after)

    def definition(self, defining: Piece) -> None:
        """Read \\def\\name#1#2{body}."""
        name, parameters = self.new_name(defining), ""
        while self.left and self.peek() != "{":
            parameters += self.left.pop()[0]
        body = self.argument(defining)[1:-1]
        number = len(parameters) // 2
        plain = parameters == "".join(f"#{index + 1}" for index in range(number)) and number < 10
        self.define(name, number, body if plain else None)

    def alias(self, defining: Piece) -> None:
        """Read \\let\\name=\\other."""
        name = self.new_name(defining)
        if self.peek() == "=":
            self.left.pop()
        other = self.argument(defining)[1:-1]
        known = self.macros.get(other[0][0]) if len(other) == 1 else None
        if known is None:
            self.define(name, 0, other)
        elif name[1:] not in NOTATION:
            self.macros[name] = known

    def axis(self, defining: Piece) -> None:
        """Read \\ndef{\\name}{axis}."""
        self.shown(defining, "\\name")

    def operator(self, defining: Piece) -> None:
        """Read \\DeclareMathOperator{\\name}{operator}."""
        if self.peek() == "*":
            self.left.pop()
        self.shown(defining, "\\operatorname")

    def shown(self, defining: Piece, font: str) -> None:
        name = self.new_name(defining)
        group = self.argument(defining)
        whole = font + "{" + "".join(piece[0] for piece in group[1:-1]) + "}"
        named = NAMED.fullmatch(whole)
        self.define(name, 0, [(whole, *defining[1:])] if named else [(font, *defining[1:]), *group])


DEFINITIONS = {
    "\\newcommand": _Expander.command,
    "\\renewcommand": _Expander.command,
    "\\providecommand": _Expander.command,
    "\\DeclarePairedDelimiter": _Expander.paired,
    "\\DeclarePairedDelimiterX": _Expander.paired,
    "\\newenvironment": _Expander.environment,
    "\\renewenvironment": _Expander.environment,
    "\\def": _Expander.definition,
    "\\gdef": _Expander.definition,
    "\\edef": _Expander.definition,
    "\\xdef": _Expander.definition,
    "\\let": _Expander.alias,
    "\\ndef": _Expander.axis,
    "\\DeclareMathOperator": _Expander.operator,
}


# -------------------------------------------------------------------------------------------------------------- errors
CLOSING = {"{": "}", "\\[": "\\]", "\\(": "\\)", "$": "$", "$$": "$$"}
CLOSERS = set(CLOSING.values())
DISPLAYS = {"\\[", "\\("} | {f"\\begin{{{name}{star}}}" for name in OUTER for star in ("", "*")}
DOLLARS = {"$", "$$"}


def closing_of(text: str) -> str:
    return CLOSING.get(text) or text.replace("begin", "end", 1)


def read_plain_name(text: str) -> str | None:
    r"""Return the name in \name{…} or \text{…}, with its labels, or None for another piece."""
    named = NAMED.fullmatch(text)
    return named and fold(named[2].replace("\\_", "_").replace("∗", "*"))


def lacks_argument(source: str, macro: Piece) -> NotationError:
    text, start, end = macro
    return NotationError(
        109, f"{text} is missing an argument", source, (start, end), hint=f"write it in braces: {text}{{…}}"
    )


def never_closed(source: str, opening: Piece) -> NotationError:
    text = opening[0]
    span: Span = opening[1:]
    return NotationError(102, f"{text} is not closed", source, span, hint=f"close it with {closing_of(text)}")
