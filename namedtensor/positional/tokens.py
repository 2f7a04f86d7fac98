"""The tokens of matrix and index notation, in text and LaTeX, each with its span in the source.

The grammar splits LaTeX into pieces and expands the author's macros. This module only classifies the pieces. Adjacent
letters such as `A B` are a product, so `AB` is several names, unless it is a function or a given name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import NamedTuple

from grammar.errors import NotationError, Span
from grammar.latex.macros import FONTS, TEXTS, Piece, expand, is_number, read_plain_name, scan
from grammar.latex.tables import ACCENT_MACROS, ARITY, BARS, LOOKS, NAMES, PAIRS, SIZED
from grammar.latex.tables import SIGNS as LATEX_SIGNS
from grammar.symbols import ACCENTS, SUPERSCRIPTS
from grammar.symbols import SUBSCRIPTS as SUBSCRIPT_SIGNS

from .refusals import make_refusal

NAME, NUMBER, FUNCTION, SIGN, END = "name", "number", "function", "sign", "end"


class SourceToken(NamedTuple):
    kind: str
    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        return self.start, self.end


FUNCTIONS = {  # from the written form in lower case to the operator, or to the word that `matrix_calls` knows
    **{name: name for name in "exp log sin cos tan tanh sinh cosh sqrt abs sign relu gelu silu elu softplus erf softmax logsoftmax".split()},
    **{name: name for name in "logsumexp det diag vec max min argmax argmin inv rank mean var std".split()},
    "ln": "log", "arctan": "arctan", "sigmoid": "σ", "sgn": "sign", "tr": "trace", "trace": "trace", "swish": "silu",
    "log_softmax": "logsoftmax", "concat": "concat", "norm": "norm", "logdet": "logdet", "𝔼": "expectation", "leakyrelu": "leaky_relu",
}  # fmt: skip
SIGNS = {"−": "-", "–": "-", "∗": "*", "⋅": "·", "∙": "·", "∥": "‖", "∣": "|", "ᵀ": "⊤", "′": "'", "’": "'", "\u2061": "", "〈": "⟨", "〉": "⟩",
    ":=": "=", "≔": "=", "...": "…", "$": "", "$$": "", "~": "", "&": ""}  # fmt: skip
PLAIN = set("+-*·∘⊙⊗×/=(){}[]^_,|‖√'<>≤≥≠∈∑∏∇∂∞⟨⟩⊤†@←→;…:.")
# Macros whose sign named notation lacks or does not distinguish.
MACROS = {
    "\\top": "⊤", "\\intercal": "⊤", "\\cdot": "·", "\\ast": "*", "\\langle": "⟨", "\\rangle": "⟩", "\\nabla": "∇", "\\sqrt": "√", "\\|": "‖", "\\Vert": "‖",
    "\\infty": "∞", "\\lbrace": "{", "\\rbrace": "}", "\\leftarrow": "←",
    "\\dagger": "†", "\\dag": "†",
    **{macro: "frac" for macro, arguments in ARITY.items() if arguments == 2 and macro.endswith("frac")},
    **dict.fromkeys(BARS, "|"), **{macro: sign for macro, sign in PAIRS.items() if sign == "‖"}, "\\prime": "'",
}  # fmt: skip
MACROS = {macro: sign for macro, (_, sign) in LATEX_SIGNS.items() if macro[0] == "\\" and sign in PLAIN} | MACROS
GREEK = {macro: letter for macro, letter in NAMES.items() if letter not in "∞l"} | {"\\ell": "ℓ"}
SKIPPED = LOOKS | SIZED.keys() | {"\\quad", "\\qquad", "\\ "}
FONT_MACROS = {f"\\{name}" for name in (*TEXTS, *FONTS, "mathcal", "mathscr", "vec")} | {"\\operatorname*"}
BLACKBOARD = {"1": (NAME, "𝟏"), "R": (SIGN, "ℝ"), "E": (FUNCTION, "𝔼")}
ENVIRONMENT = re.compile(r"\\(begin|end)\{(.*)\}")
ENVIRONMENTS = {"matrix", "bmatrix", "pmatrix", "smallmatrix", "bsmallmatrix"}
SUPERSCRIPT_SIGNS = {**SUPERSCRIPTS, "ᵀ": "⊤"}
RUN = re.compile(r"[A-Za-z]+")
LOWER = re.compile(r"[a-zα-ω]+")
MAX_TOKENS = 1_000  # of a line


class Scanner:
    """A scanner that splits a source into tokens in one pass.

    Each of the given `names` that has several letters is one token.
    """

    def __init__(self, source: str, names: Collection[str]):
        self.source, self.tokens = source, list[SourceToken]()
        self.left = expand(source, scan(source))[::-1]  # reversed, so that the next piece is the last
        self.latex = "\\" in source
        self.matrices = 0  # the number of open matrix environments
        self.scripts = 0  # the number of open braces in subscripts
        self.argument_end = 0
        self.words = sorted((name for name in names if len(name) > 1 and name.isidentifier()), key=len, reverse=True)

    def refuse(self, span: Span, message: str, hint: str | None = None) -> NotationError:
        return make_refusal(self.source, (span[0], max(span[1], span[0] + 1)), message, hint)

    def add(self, kind: str, text: str, start: int, end: int) -> None:
        self.tokens.append(SourceToken(kind, text, start, end))

    def peek(self) -> str:
        return self.left[-1][0] if self.left else ""

    def follows_script(self) -> bool:
        return bool(self.tokens) and self.tokens[-1].kind == SIGN and self.tokens[-1].text in ("_", "^")

    def keep(self, piece: Piece, length: int) -> tuple[str, int, int]:
        """Return the first characters of a piece, and store the remaining characters as the next piece."""
        text, start, end = piece
        if length >= len(text):
            return piece
        middle = min(start + length, end)
        self.left.append((text[length:], middle, end))
        return text[:length], start, middle

    def scan(self) -> list[SourceToken]:
        if not self.latex and "%" in self.source:
            raise self.refuse((self.source.index("%"), 0), "unsupported character %")
        while self.left:
            piece = self.left.pop()
            text, start, end = piece
            if text[0] == "\\":
                self.macro(piece)
            elif text == "&" and self.matrices:
                self.add(SIGN, ",", start, end)
            elif is_number(text):
                self.number(piece)
            elif text in SUPERSCRIPT_SIGNS or text in SUBSCRIPT_SIGNS:
                self.unicode_script(piece)
            elif not self.read_given(piece):
                self.characters(piece)
        self.add(END, "", len(self.source), len(self.source))
        return self.tokens

    def read_given(self, piece: Piece) -> bool:
        """Read a given name with several letters, such as W1, and return whether one starts here.

        The name may end inside a later piece.
        """
        text, end, at = piece[0], piece[2], len(self.left) - 1
        while at >= 0 and self.left[at][1] == end and len(text) < 100:
            text, end, at = text + self.left[at][0], self.left[at][2], at - 1
        word = next((word for word in self.words if text.startswith(word)), None)
        if word is None:
            return False
        missing = len(word) - len(piece[0])
        last = self.keep(piece, len(word))
        while missing > 0:
            last = self.left.pop()
            missing, last = missing - len(last[0]), self.keep(last, missing)
        self.add(NAME, word, piece[1], last[2])
        return True

    def number(self, piece: Piece) -> None:
        """Add the token of a number. In text, all adjacent digits after `_` or `^` are one number.

        In LaTeX, a script without braces has one digit, so raise NotationError for a second digit.
        """
        text, start, end = piece
        previous = self.tokens[-1] if self.tokens else None
        glued = previous is not None and previous.kind == NUMBER and previous.end == start and not self.scripts
        if glued and len(self.tokens) > 1 and self.tokens[-2].text in ("_", "^") and self.tokens[-2].kind == SIGN:
            assert previous is not None
            sign, whole = self.tokens[-2].text, previous.text + text
            if self.latex:
                raise self.refuse(
                    (previous.start, end),
                    f"TeX reads {sign}{whole} as {sign}{previous.text} {text}",
                    f"write {sign}{{{whole}}}",
                )
            self.tokens[-1] = SourceToken(NUMBER, whole, previous.start, end)
            return
        self.add(NUMBER, text, start, end)

    def characters(self, piece: Piece) -> None:
        """Add the tokens of the word, letter or sign at the start of a piece. The rest of the piece is read next."""
        text, start, _ = piece
        if run := RUN.match(text):
            self.word(self.keep(piece, len(run[0])))
        elif unicodedata.combining(text[0]) and self.tokens and self.tokens[-1].kind == NAME:
            last = self.tokens.pop()
            self.keep(piece, 1)
            self.add(NAME, unicodedata.normalize("NFC", last.text + text[0]), last.start, start + 1)
        elif text[0].isalpha() and text[0] not in PLAIN or text[0] == "𝟏":
            character, start, end = self.keep(piece, 1)
            if character == "Σ" and (
                self.peek() == "_" or self.peek() in SUBSCRIPT_SIGNS and not SUBSCRIPT_SIGNS[self.peek()].isdigit()
            ):
                self.add(SIGN, "∑", start, end)
            else:
                self.add(NAME, unicodedata.normalize("NFC", character), start, end)
        else:
            self.sign(piece)

    def word(self, piece: Piece) -> None:
        """Add the tokens of a word: the text of a script, a function, or several one-letter names.

        Raise NotationError for a word that is likely an unknown name.
        """
        word, start, _ = piece
        if self.scripts:
            return self.add(NAME, *piece)
        if self.follows_script():
            return self.add(NAME, *self.keep(piece, self.letters_of_script(word)))
        following = self.peek()
        if len(word) > 1 and word.lower() in FUNCTIONS:
            self.add(FUNCTION, *piece)
        elif len(word) > 4 or (len(word) > 1 and word.islower() and following == "("):
            hint = "give its shape, or write its letters apart if they are factors"
            raise self.refuse(piece[1:], f"unknown name or function {word}", hint)
        else:
            for offset, letter in enumerate(word):
                self.add(NAME, letter, min(start + offset, piece[2] - 1), min(start + offset + 1, piece[2]))

    def letters_of_script(self, word: str) -> int:
        """Return how many letters belong to a script that is written without braces.

        A LaTeX script has one letter. In text, the script of W_ij has two letters, and each script of x_iy_i has one.
        """
        run = LOWER.match(word)
        if self.latex or run is None:
            return 1
        return max(1, len(run[0]) - (run[0] == word and self.peek() in ("_", "^")))

    def sign(self, piece: Piece) -> None:
        text, start, end = piece
        fraction = unicodedata.normalize("NFKC", text[0])
        if "⁄" in fraction:
            self.keep(piece, 1)
            for kind, part in ((SIGN, "{"), (NUMBER, fraction[0]), (SIGN, "/"), (NUMBER, fraction[2:]), (SIGN, "}")):
                self.add(kind, part, start, start + 1)
            return
        text = SIGNS.get(text, text)
        if text and text not in PLAIN:
            raise self.refuse((start, end), f"unsupported character {text}")
        if text == "{" and (self.scripts or (self.tokens and self.tokens[-1].text == "_")):
            self.scripts += 1
        elif text == "}" and self.scripts:
            self.scripts -= 1
        if text:
            self.add(SIGN, text, start, end)

    def unicode_script(self, piece: Piece) -> None:
        """Add the tokens of Unicode scripts: x² is read as x^{2}, and Wᵢⱼ as W_{ij}."""
        table, opener = (SUPERSCRIPT_SIGNS, "^") if piece[0] in SUPERSCRIPT_SIGNS else (SUBSCRIPT_SIGNS, "_")
        self.left.append(piece)
        self.add(SIGN, opener, piece[1], piece[1])
        self.add(SIGN, "{", piece[1], piece[1])
        end = piece[1]
        while self.peek() in table and self.left[-1][1] == end:
            character, start, end = self.left.pop()
            text, last = table[character], self.tokens[-1]
            if text.isdigit() and last.kind == NUMBER and last.end == start:
                self.tokens[-1] = SourceToken(NUMBER, last.text + text, last.start, end)
            else:
                self.add(NUMBER if text.isdigit() else NAME if text.isalpha() else SIGN, text, start, end)
        self.add(SIGN, "}", end, end)

    # ---------------------------------------------------------------------------------------------------------- macros
    def macro(self, piece: Piece) -> None:
        text, start, end = piece
        if match := ENVIRONMENT.fullmatch(text):
            self.environment(match[1], match[2], piece)
        elif text.startswith("\\\\"):
            if self.matrices:
                self.add(SIGN, ";", start, end)
        elif text in SKIPPED:
            if text in ("\\left", "\\right") and self.peek() == ".":
                self.left.pop()
        elif (name := read_plain_name(text)) is not None:
            self.add_name(name, piece)
        elif text in FONT_MACROS:
            self.font(piece)
        elif text in ACCENT_MACROS:
            self.accent(piece)
        elif text.startswith(("\\mathbb", "\\mathds", "\\mathbbm")):
            self.blackboard(piece)
        elif text in MACROS:
            self.add(SIGN, MACROS[text], start, end)
            if text == "\\sqrt" and self.peek().isdigit():  # TeX takes one digit
                self.add(NUMBER, *self.keep(self.left.pop(), 1))
        elif text in GREEK:
            self.add(NAME, GREEK[text], start, end)
        elif text[1:].lower() in FUNCTIONS:
            self.add(FUNCTION, text[1:], start, end)
        else:
            raise self.refuse((start, end), f"{text} is not supported in matrix or index notation")

    def environment(self, side: str, name: str, piece: Piece) -> None:
        r"""Read \begin{bmatrix} as [ and \end{bmatrix} as ]. Raise NotationError for an unsupported environment."""
        if name not in ENVIRONMENTS:
            raise self.refuse(piece[1:], f"the environment {name} is not supported")
        self.matrices += 1 if side == "begin" else -1
        self.add(SIGN, "[" if side == "begin" else "]", *piece[1:])

    def argument(self, macro: Piece) -> list[Piece]:
        """Remove and return the pieces of the next group, or the next letter, digit or macro."""
        if not self.left or self.peek() == "}":
            raise self.refuse(macro[1:], f"{macro[0]} is missing an argument", f"write {macro[0]}{{x}}")
        piece = self.left.pop()
        if piece[0] != "{":
            piece = piece if piece[0][0] == "\\" else self.keep(piece, 1)
            self.argument_end = piece[2]
            return [piece]
        group, depth = list[Piece](), 1
        while depth:
            if not self.left:
                raise self.refuse(piece[1:], "{ is not closed", "close it with }")
            part = self.left.pop()
            depth += (part[0] == "{") - (part[0] == "}")
            group.append(part)
        self.argument_end = group[-1][2]
        return group[:-1]

    def add_name(self, text: str, piece: Piece) -> None:
        r"""Add the token of a name in a font, such as \text{softmax}, \mathrm{ReLU} or \mathbf{x}."""
        known = len(text) > 1 and text.lower() in FUNCTIONS
        if not known and text not in self.words and not re.sub(r"['*]", "", text).isalnum():
            raise self.refuse(piece[1:], f"{text} is not a name or a known function", "give the formula without prose")
        self.add(FUNCTION if known else NAME, text, *piece[1:])

    def font(self, macro: Piece) -> None:
        r"""Read a font macro, such as \mathbf{1} or \mathcal L. The font of \boldsymbol{\beta} is ignored."""
        group = self.argument(macro)
        end = self.argument_end
        text = self.source[group[0][1] : group[-1][2]] if group else ""
        if text == "1":
            self.add(NAME, "𝟏", macro[1], end)
        elif len(group) == 1 and group[0][0][0] != "\\" and text.isalnum():
            self.add_name(text, (text, macro[1], end))
        elif macro[0][1:] in (*TEXTS, "mathrm") or macro[0].startswith("\\operatorname"):
            raise self.refuse(
                (macro[1], end), f"{text} is not a name or a known function", "give the formula without prose"
            )
        else:
            braces = [("{", macro[1], macro[1]), *group, ("}", end, end)] if len(group) != 1 else group
            self.left.extend(reversed(braces))

    def accent(self, macro: Piece) -> None:
        group = [part for part in self.argument(macro) if part[0] not in FONT_MACROS and part[0] not in "{}"]
        letter = "" if len(group) != 1 else GREEK.get(group[0][0]) or read_plain_name(group[0][0]) or group[0][0]
        if len(letter) != 1 or not letter.isalpha():
            raise self.refuse((macro[1], self.argument_end), "an accent belongs to one letter")
        text = unicodedata.normalize("NFC", letter + ACCENTS[ACCENT_MACROS[macro[0]]])
        self.add(NAME, text, macro[1], self.argument_end)

    def blackboard(self, piece: Piece) -> None:
        text, start, end = piece
        letter = text.rstrip(" }")[-1]
        if text in FONT_MACROS or text[1:].isalpha():
            letter = "".join(part[0] for part in self.argument(piece))
        if letter not in BLACKBOARD:
            raise self.refuse((start, end), f"{text} is not supported in matrix or index notation")
        self.add(*BLACKBOARD[letter], start, end)


def merge_bars(tokens: list[SourceToken], source: str) -> list[SourceToken]:
    """Return the tokens with ‖ in place of each ||, unless a single | shows that bars are nested, as in ||a|-|b||."""
    merged = list[SourceToken]()
    for token in tokens:
        before = merged[-1] if merged else tokens[-1]
        adjacent = source[before.end : token.start] in {"", *SIZED}
        if adjacent and token.kind == before.kind == SIGN and token.text == before.text == "|":
            merged[-1] = SourceToken(SIGN, "‖", before.start, token.end)
        else:
            merged.append(token)
    return tokens if any(token.kind == SIGN and token.text == "|" for token in merged) else merged


def tokens_of(source: str, names: Collection[str] = ()) -> list[SourceToken]:
    """Return the tokens of a source, followed by a token of kind `END`.

    Raise NotationError for an unsupported character, macro or word, or if a line has too many tokens.
    """
    tokens = merge_bars(Scanner(source, names).scan(), source)
    if len(tokens) > MAX_TOKENS:
        raise make_refusal(
            source, (0, 1), f"a line has more than {MAX_TOKENS} signs", "write a part in a separate line"
        )
    return tokens


def is_operator_word(source: str, token: SourceToken, applied: bool) -> bool:
    r"""Return whether a name is marked as an operator: \operatorname{prox}, or \mathrm{conv} before an operand."""
    word = applied and len(token.text) > 2 and source.startswith(("\\mathrm", "\\text"), token.start)
    return word or len(token.text) > 1 and source.startswith("\\operatorname", token.start)


def is_derivative(tokens: list[SourceToken], at: int, names: Collection[str]) -> bool:
    """Return whether a fraction is a derivative.

    Its numerator begins with ∂, or both of its parts begin with a d that is not an input.
    """
    signs, after = list[str](), ""
    depth = 0
    while len(signs) < 2 and tokens[at].kind != END:
        token, following = tokens[at], tokens[at + 1]
        if depth == 0 and token.text != "{":
            return False
        if depth == 0:
            signs.append(following.text)
            after = tokens[min(at + 2, len(tokens) - 1)].text
        depth += (token.text == "{") - (token.text == "}")
        at += 1
    return len(signs) == 2 and (
        signs[0] == "∂" or (signs == ["d", "d"] and "d" not in names and after not in ("}", "_", "^"))
    )
