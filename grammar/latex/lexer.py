r"""Convert LaTeX to tokens: each macro abbreviates text, and the text lexer interprets that text.

\\nfun{\\seq}{softmax} \\frac{X}{2}     softmax_{seq} {{X}/{2}}

source --macros--> pieces: the author's macros are expanded, and the formulas are located in the prose
       --reader--> tokens: handlers and `tables` give each macro and sign its meaning; & and \\\\ become SEPARATOR
       --statements--> tokens: a SEPARATOR remains only between statements
"""

from __future__ import annotations

import itertools

from ..errors import NotationError
from ..partials import read_operators
from ..tokens import Token
from . import abbreviations, brackets, upright
from .characters import ampersand, comma, prime, quad, row, script, star, times, union
from .macros import ENVIRONMENTS, FONTS, TEXTS, expand, scan
from .pairs import maths_of
from .reader import Action, Reader
from .statements import statements
from .tables import ACCENT_MACROS, BARS, DROPPED, LOOKS, PRIMES, SIGNS, SIZED, STARS


def tokenize(source: str) -> list[Token]:
    """Return the tokens of a LaTeX source.

    The tokens do not yet distinguish functions from tensors, and brackets may be unbalanced.
    """
    pieces = expand(source, scan(source))
    units, partner = maths_of(source, pieces)
    reader = Reader(source, pieces, partner, ACTIONS)
    for start, end, opened_by in units:
        reader.formula(start, end, opened_by)
    tokens = statements(reader.tokens) or reader.words_alone
    for token in tokens:
        if token.type == "PERIOD":
            hint = "write a decimal point between digits, and a period at the end of a formula"
            raise NotationError(106, ". is not an operator", source, token.span, hint=hint)
    return read_operators(tokens, source) if any(token.type == "PARTIAL" for token in tokens) else tokens


def big(reader: Reader, position: int, end: int) -> int:
    r"""Read a big operator such as \sum_{i=1}^{n}, with its lower bound first, even if the source has it last."""
    sign, start, stop = reader.pieces[position]
    reader.add(*SIGNS[sign], start, stop)
    upper = reader.skip_looks(position + 1, end)
    lower = script_end(reader, upper, end, "^")
    after = script_end(reader, lower, end, "_") if lower > upper else upper
    if after == lower or lower == upper:
        return upper
    return reader.put([(lower, after), (upper, lower)], after, end)


def script_end(reader: Reader, position: int, end: int, sign: str) -> int:
    """Return the end of the script that begins at `position` with `sign`.

    Return `position` if there is no such script, or if its content is neither in braces nor a single character.
    """
    if position + 1 >= end or reader.pieces[position][0] != sign:
        return position
    content = reader.pieces[position + 1][0]
    if content == "{":
        return reader.partner[position + 1] + 1
    return position + 2 if len(content) == 1 and reader.is_operand(content) else position


# ---------------------------------------------------------------------------------------------- environments and looks
def begin(reader: Reader, position: int, end: int) -> int:
    r"""Read the beginning of a table inside another table, such as \begin{aligned}."""
    reader.ampersands = 0
    if "alignedat" in reader.pieces[position][0]:
        return reader.argument(position, position + 1, end)[1]
    is_place = reader.piece(position + 2) in tuple("tbc")
    return reader.option(position, position + 1, end)[1] if is_place else position + 1


def skip(reader: Reader, position: int, end: int) -> int:
    return position + 1


def drop(reader: Reader, position: int, end: int) -> int:
    """Skip a macro such as \\label{…} or \\textcolor[HTML]{…}."""
    after = position + 1 + (reader.piece(position + 1) == "*")
    return reader.argument(position, reader.option(position, after, end)[1], end)[1]


def box(reader: Reader, position: int, end: int) -> int:
    """Read \\mathmakebox[6em][l]{…} as its content."""
    after = position + 1
    for _ in range(2):
        after = reader.option(position, after, end)[1]
    return after


def spanning(reader: Reader, position: int, end: int) -> int:
    """Read \\IEEEeqnarraymulticol{3}{l}{…} as the contents of the spanned columns."""
    return reader.arguments(position, position + 1, end, 2)[-1][1]


def skip_intertext(reader: Reader, position: int, end: int) -> int:
    """Read \\intertext{…} as the end of a row, and skip its content."""
    row(reader, position, end)
    return reader.argument(position, position + 1, end)[1]


def dots_within(reader: Reader, position: int, end: int) -> int:
    """Read \\vdotswithin{=}, which stands for omitted lines."""
    after = position + 1
    if after < end:
        after = reader.partner.get(after, after) + 1
    reader.add("ELLIPSIS", "⋮", reader.pieces[position][1], reader.pieces[after - 1][2])
    return after


def ordinary(reader: Reader, position: int, end: int) -> int:
    r"""Read \mathord-. It is a placeholder for an operand in a signature, and a minus sign elsewhere."""
    following = [piece[0] for piece in reader.pieces[position + 1 : min(position + 4, end)]]
    after = position + (2 if following[:1] == ["-"] else 4 if following == ["{", "-", "}"] else 1)
    rest = itertools.takewhile(lambda piece: piece[0] not in ROWS, reader.pieces[after:end])
    if after > position + 1 and not any(piece[0] in (":", "\\colon") for piece in rest):
        reader.add(*SIGNS["-"], reader.pieces[position][1], reader.pieces[after - 1][2])
    return after


ROWS = ("\\\\", "\\\\*", "\\cr", "\\newline", "\\tabularnewline")


def signs(*terminals: str) -> list[str]:
    return [sign for sign, (terminal, _) in SIGNS.items() if terminal in terminals]


# Maps each piece to its handler. A symbol becomes one token. Other pieces are names or unknown.
ACTIONS: dict[str, tuple[str, str] | Action] = {
    **SIGNS,
    **dict.fromkeys(signs("BIG"), big),
    **dict.fromkeys(signs("LPAREN", "LBRACKET", "LBRACE"), brackets.open_bracket),
    **dict.fromkeys(signs("RPAREN", "RBRACKET", "RBRACE"), brackets.close_bracket),
    **dict.fromkeys(signs("TIMES"), times),
    **dict.fromkeys(signs("COMMA", "PERIOD"), comma),
    **dict.fromkeys(BARS, brackets.read_bar),
    **dict.fromkeys(SIZED, brackets.read_size),
    **dict.fromkeys(STARS, star),
    **dict.fromkeys(PRIMES, prime),
    **dict.fromkeys(["_", "^"], script),
    "&": ampersand,
    **dict.fromkeys(ROWS, row),
    **dict.fromkeys(["\\quad", "\\qquad"], quad),
    **dict.fromkeys(["\\intertext", "\\shortintertext"], skip_intertext),
    **dict.fromkeys(["$", "$$", "\\(", "\\["], upright.dollar),
    **dict.fromkeys([f"\\{name}" for name in TEXTS], upright.text),
    **dict.fromkeys([f"\\{name}" for name in FONTS], upright.font),
    **dict.fromkeys(["\\mathbb", "\\mathds", "\\mathbbm"], upright.blackboard),
    **dict.fromkeys([*ACCENT_MACROS, "\\mathcal", "\\mathscr", "\\cal"], upright.decorate),
    "a word": upright.word_in_text,
    "a name in a font": upright.read_name,
    **dict.fromkeys(abbreviations.TEXTS, abbreviations.abbreviation),
    **dict.fromkeys(abbreviations.FRACTIONS, abbreviations.fraction),
    **dict.fromkeys(["\\nbin", "\\underset"], abbreviations.binary),
    **dict.fromkeys(["\\stackrel", "\\overset"], abbreviations.read_relation),
    **dict.fromkeys(["\\underbrace", "\\overbrace"], abbreviations.read_brace),
    "\\nfun": abbreviations.function,
    "\\nmatrix": abbreviations.matrix,
    "\\mathinner": abbreviations.inner,
    "\\sqrt": abbreviations.root,
    "{": abbreviations.group,
    **dict.fromkeys(["\\lVert", "\\lfloor", "\\lceil", "⌊", "⌈"], brackets.open_pair),
    **dict.fromkeys(["\\rVert", "\\rfloor", "\\rceil", "⌋", "⌉"], brackets.close_pair),
    **dict.fromkeys(brackets.NORMS, brackets.read_norm_bar),
    "\\mathmakebox": box,
    **dict.fromkeys(["\\IEEEeqnarraymulticol", "\\multicolumn"], spanning),
    **dict.fromkeys(["\\cup", "∪"], union),
    **dict.fromkeys([f"\\begin{{{name}}}" for name in ENVIRONMENTS], begin),
    **dict.fromkeys([f"\\end{{{name}}}" for name in ENVIRONMENTS], skip),
    **dict.fromkeys(["\\begin{cases}", "\\begin{dcases}", "\\begin{rcases}"], abbreviations.cases),
    "\\begin{array}": abbreviations.array,
    "\\vdotswithin": dots_within,
    "\\mathord": ordinary,
    **dict.fromkeys(LOOKS | {"}"}, skip),
    "\\mathop": upright.font,
    **dict.fromkeys(DROPPED, drop),
}
