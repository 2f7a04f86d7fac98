"""Convert a source in text syntax to tokens.

The source may use Unicode or ASCII. Each line is a statement, unless a bracket is open or the line begins or ends with
an operator.
"""

from __future__ import annotations

import re

from .customary_forms import may_be_indicator
from .draws import ends_distribution
from .errors import NotationError
from .folding import fold, marks
from .partials import read_operators
from .stray_characters import advice, format_character, unescape_entity
from .symbols import (
    ASCII_MACROS,
    GREEK_MACROS,
    SPELLED_GREEK,
    SUBSCRIPTS,
    SUPERSCRIPTS,
)
from .text_tables import (
    BARRED,
    BEFORE_SET,
    BRACKETS,
    CLOSING,
    CONDITION,
    HEAD,
    JOINS_AFTER,
    JOINS_BEFORE,
    MARK,
    MARK_STARTS,
    MULTIPLIED,
    OF_AXES,
    PLAIN,
    PRIMES,
    SETS,
    SIGNS,
    SPECIAL,
    SUBSCRIPTED,
    TOKEN,
    WORD_VALUES,
    WORDS,
)
from .tokens import ENDS_OPERAND, Token, is_alone, numeral, too_deep


def tokenize(source: str, nesting: int | None = None) -> list[Token]:
    """Return the tokens of a source, before function names are recognized and brackets are matched."""
    return Lexer(source, nesting).run()


class Lexer:
    """The lexer of the text syntax: the tokens so far and the open brackets. The LaTeX reader is a subclass."""

    def __init__(self, source: str, nesting: int | None = None):
        self.source = source
        self.nesting = nesting
        self.tokens: list[Token] = []
        self.brackets: list[str] = []  # The open brackets: "(", "[", "{", "|", "‖", "sub", "sup", "shape", "item".
        self.in_set = False  # Whether ∈ or : precedes, so that R, x, [ and { may belong to sets.
        self.newline: int | None = None

    def run(self) -> list[Token]:
        source = self.source
        for match in TOKEN.finditer(source, 0, len(source.rstrip())):  # Skip trailing blanks, which are slow to search.
            kind = match.lastgroup
            assert kind is not None
            if kind == "comment":
                continue
            start, end = match.span(kind)
            if kind == "newline":
                if not self.brackets:
                    self.newline = start
                continue
            getattr(self, kind)(source[start:end], start, end)
        return read_operators(self.tokens, source) if "∂" in source else self.tokens

    # ------------------------------------------------------------------------------------------- emitting a token
    def add(self, type: str, text: str, start: int, end: int) -> None:
        brackets = self.brackets
        if self.newline is not None:
            joined = type in JOINS_BEFORE or (self.tokens and self.tokens[-1].type in JOINS_AFTER)
            if type in ("OPERATOR", "DOT") and HEAD.match(self.source, end):
                joined = False
            if self.tokens and not joined:
                self.tokens.append(Token("SEPARATOR", "\n", self.newline, self.newline + 1))
                self.in_set = False
            self.newline = None
        if not brackets:
            if type in ("IN", "COLON"):
                self.in_set = True
            elif type in ("EQUALS", "FOR"):
                self.in_set = type == "EQUALS" and self.in_set and self.previous() in ("RBRACE", "REALS", "RBRACKET")
        context = "axis" if brackets and brackets[-1] in OF_AXES else ""
        self.tokens.append(Token(type, text, start, end, context))

    def previous(self) -> str:
        return self.tokens[-1].type if self.tokens and self.newline is None else ""

    @property
    def in_axes(self) -> bool:
        return bool(self.brackets) and self.brackets[-1] in OF_AXES

    # ------------------------------------------------------------------------------------- one method a kind of match
    def imports(self, text: str, start: int, end: int) -> None:
        """Add the tokens of an import line, which has a different syntax from other lines."""
        from .import_lines import tokens_of_import

        for token in tokens_of_import(self.source, start, end):
            self.add(token.type, fold(token.text) if token.type == "NAME" else token.text, *token.span)

    def number(self, text: str, start: int, end: int) -> None:
        self.add("NUMBER", text, start, end)

    def entity(self, text: str, start: int, end: int) -> None:
        """Read an HTML entity as its character, so that text pasted from a web page works: &odot; becomes ⊙."""
        character = unescape_entity(text)
        match = TOKEN.fullmatch(character) if character is not None and character != "&" else None
        if match is None or match.lastgroup is None:
            if character is None or not character.isspace():
                self.other("&", start, end)
            return
        getattr(self, match.lastgroup)(match[match.lastgroup], start, end)

    def vulgar(self, text: str, start: int, end: int) -> None:
        before = self.tokens[-1] if self.tokens and self.newline is None else None
        first, *rest = numeral(text, before, self.source, start, end)
        self.add(first.type, first.text, start, end)
        self.tokens += rest

    def greek(self, text: str, start: int, end: int) -> None:
        self.name(fold(text), start, end)

    def macro(self, text: str, start: int, end: int) -> None:
        if start < self.skip or self.marked(start):
            return
        if text in ASCII_MACROS:
            return self.add(*ASCII_MACROS[text], start, end)
        plain = text.rstrip(PRIMES)
        letter = GREEK_MACROS.get(plain[1:])
        if letter is None:
            message = f"{text} is LaTeX, but the rest of the formula is text syntax"
            hint = 'write the whole formula in one syntax, or pass syntax="latex"'
            raise NotationError(106, message, self.source, (start, end), hint=hint)
        self.name(fold(letter + text[len(plain) :]), start, end)

    def word(self, text: str, start: int, end: int) -> None:
        source = self.source
        if text == "in" and self.brackets[-1:] == ["sub"] and self.previous() == "NAME":  # max_{i in [n]}
            return self.add("IN", "∈", start, end)
        if text == "x" and self.brackets[-1:] == ["shape"] and self.previous() in ("NAME", "RBRACKET"):
            return self.add("TIMES", "×", start, end)  # In ℝ^{a[3] x b[2]}, x is not an axis.
        special = text in SPECIAL or text[0] == "d" or text[-1] in PRIMES
        if special and not self.in_axes and self.previous() != "SUB":
            follows = source[end : end + 1]
            if text in WORDS and (text != "in" or not self.brackets):
                if text in ("sum", "prod") and not re.compile(r"\s*[_₀-ₜᵢ-ᵪⱼ]").match(source, end):
                    if re.search(rf"(?m)(?:^|where|,)\s*{text}\s*(?:=|:=|≜|∈)", source):  # sum = …
                        return self.name(text, start, end)
                    raise NotationError(
                        105,
                        f"{text} needs an axis",
                        source,
                        (start, end),
                        hint=f"write {text}_{{axis}} before its operand",
                    )
                return self.add(WORDS[text], WORD_VALUES.get(text, text), start, end)
            if self.among_sets:
                if text in SETS and self.previous() in (*BEFORE_SET, "LPAREN"):
                    return self.add("REALS", SETS[text], start, end)
                if text == "x" and self.previous() in ("RBRACE", "REALS", "RBRACKET", "NAME", "RPAREN"):
                    return self.add("TIMES", "×", start, end)
            if text == "I" and follows == "[":
                return self.add("INDICATOR", "𝕀", start, end)
            if text == "inf":
                return self.add("NAME", "∞", start, end)
            if (
                text == "d"
                and follows == "("
                and self.previous() not in ("SUB", "SUP")
                and re.compile(r"[^\n]*/\s*d[A-Za-z]").match(source, end)
            ):
                return self.add("PARTIAL", "∂", start, end)
            if text[0] == "d" and len(text) > 1 and self.previous() == "SLASH" and MARK.match(source, end):
                self.add("PARTIAL", "∂", start, start + 1)
                return self.name(text[1:], start + 1, end)
            plain = text.rstrip(PRIMES)
            if plain in SPELLED_GREEK:
                text = SPELLED_GREEK[plain] + text[len(plain) :]
        self.name(fold(text), start, end)

    def name(self, text: str, start: int, end: int) -> None:
        """Read a name.

        A star or dagger after a name is part of the name in two cases. Either an axis is expected, or the name is the
        variable of a derivative and no operand follows.
        """
        source = self.source
        match = MARK.match(source, end) if source[end : end + 1] in MARK_STARTS else None
        if match:
            closes = self.closes(match.end()) or self.follows_operator or source[match.end() : match.end() + 1] == "∂"
            if self.in_axes and not MULTIPLIED.match(source, end) or (self.previous() == "PARTIAL" and closes):
                self.skip = match.end()
                return self.add("NAME", text + marks(match.group()), start, match.end())
        self.add("NAME", text, start, end)
        if source[start:end] == "𝔼" and not self.in_axes:
            self.tokens[-1].place = "mean"

    def closes(self, end: int) -> bool:
        """Return whether no operand begins at `end`, so that a star before `end` is not a multiplication."""
        after = self.source[end : end + 1]
        return not after or after in CLOSING or after.isspace() or self.source.startswith("|_", end)

    skip = -1

    @property
    def follows_operator(self) -> bool:
        """Whether the last tokens are ∂/∂, so that the variable of a derivative comes next."""
        return [token.type for token in self.tokens[-3:]] == ["PARTIAL", "SLASH", "PARTIAL"]

    def multiple(self, text: str, start: int, end: int) -> None:
        self.add(*SIGNS[text], start, end)

    def sub(self, text: str, start: int, end: int) -> None:
        self.script("SUB", "".join(SUBSCRIPTS[character] for character in text), start, end)

    def sup(self, text: str, start: int, end: int) -> None:
        self.script("SUP", "".join(SUPERSCRIPTS[character] for character in text), start, end)

    def marked(self, start: int) -> bool:
        """Add the stars and daggers at `start` as one token, unless they multiply. Return whether they were added."""
        match = MARK.match(self.source, start)
        if match is None:
            return False
        end, previous = match.end(), self.previous()
        raised = previous == "SUP" or (previous == "LBRACE" and self.brackets[-1] == "sup")
        if not raised:
            if not (self.in_axes and not MULTIPLIED.match(self.source, start) or self.ends_derivative(start, end)):
                return False
            self.add("SUP", "^", start, start)
        self.add("STAR", marks(match.group()), start, end)
        self.skip = end
        return True

    def ends_derivative(self, start: int, end: int) -> bool:
        """Return whether a star ends the variable of a derivative, as in ∂W^{1,Q}*, rather than multiplies."""
        tokens = self.tokens
        if not tokens or tokens[-1].end != start or not self.closes(end):
            return False
        count = len(tokens) - 1
        while count > 1:
            if tokens[count].type == "RBRACE":
                while count > 0 and tokens[count].type != "LBRACE":
                    count -= 1
            if tokens[count - 1].type not in ("SUP", "SUB"):
                break
            count -= 2
        return count > 0 and tokens[count].type == "NAME" and tokens[count - 1].type == "PARTIAL"

    def script(self, type: str, text: str, start: int, end: int) -> None:
        """Read Unicode subscripts and superscripts as _{…} and ^{…}."""
        self.add(type, text, start, start)
        self.tokens.append(Token("LBRACE", "{", start, start))
        context = "axis" if type == "SUB" else ""
        for token in tokenize(text):
            if token.type == "FUNCTION":
                token.type = "NAME"
            self.tokens.append(Token(token.type, token.text, start, end, context))
        self.tokens.append(Token("RBRACE", "}", end, end))

    def other(self, text: str, start: int, end: int) -> None:
        if text == "⊤":
            return self.add("NAME", "top", start, end)
        if text in BRACKETS:
            return self.read_function_brackets(text, start, end)
        if text == "×":
            return self.times(start, end)
        if text in PLAIN:
            return self.add(*PLAIN[text], start, end)
        if start < self.skip or self.marked(start):
            return
        last = self.tokens[-1] if self.tokens else None
        if text in PRIMES and last is not None and last.end == start and last.type in ("NUMBER", "NAME"):
            self.tokens.pop()
            return self.add("NAME", last.text + "'", last.start, end)
        if text == "@" and not SUBSCRIPTED.match(self.source, end):
            raise NotationError(
                105,
                "@ needs an axis to contract",
                self.source,
                (start, end),
                hint="write A @_{axis} B, or A * B for an elementwise product",
            )
        if text not in SIGNS:
            message = f"unsupported character {format_character(text)}"
            if text == ".":
                method = self.source[end : end + 1].isalpha()
                message = "a formula has no methods or attributes" if method else ". is not an operator"
            raise NotationError(106, message, self.source, (start, end), hint=advice(text, self.source, end))
        self.bracket_or_sign(text, start, end)

    def times(self, start: int, end: int) -> None:
        """Add a token for ×, and mark it as a product unless it separates axes or sets."""
        self.add("TIMES", "×", start, end)
        if not self.is_shape_product:
            self.tokens[-1].place = "product"

    def open_bracket(self, type: str, text: str, start: int, end: int) -> None:
        """Add an opening bracket, and record its kind, which determines the role of the words inside."""
        previous = self.previous()
        self.add(type, text, start, end)
        self.brackets.append(self.bracket(text, previous))

    def bracket_or_sign(self, text: str, start: int, end: int) -> None:
        """Add the token of a bracket, bar or other symbol, and update the stack of open brackets."""
        type, spelled = SIGNS[text]
        if type in ("LPAREN", "LBRACKET", "LBRACE"):
            self.open_bracket(type, spelled, start, end)
            if self.nesting is not None and len(self.brackets) > self.nesting:
                raise too_deep(self.nesting, self.source, (start, end))
            return
        if type in ("RPAREN", "RBRACKET", "RBRACE") and self.brackets:
            self.brackets.pop()
        if type == "BAR":
            if self.source[end : end + 1] == "_" and self.brackets[-1:] != ["|"]:
                return self.add("AT", "|", start, end)
            if self.brackets and self.brackets[-1] == "|":
                self.brackets.pop()
            else:
                self.add(type, spelled, start, end)
                if BARRED.match(self.source, end):
                    self.brackets.append("|")
                return
        self.add(type, spelled, start, end)

    @property
    def is_shape_product(self) -> bool:
        """Whether a × at the current position separates axes or sets."""
        return self.among_sets or self.brackets[-1:] == ["shape"]

    @property
    def among_sets(self) -> bool:
        """Whether a set may occur at the current position, as in the parentheses of (ℝ → ℝ)."""
        return self.in_set and all(bracket == "(" for bracket in self.brackets)

    def read_function_brackets(self, text: str, start: int, end: int) -> None:
        """Read ⌊, ⌈ or ‖ as a function, and its partner as the end of the operand.

        A ‖ without a partner, as in KL(p ‖ q), becomes a comma.
        """
        if text in "⌋⌉" or (text == "‖" and self.brackets[-1:] == ["‖"]):
            return self.close_call(start, end)
        if (
            text == "‖"
            and self.brackets[-1:] == ["("]
            and self.previous() in ENDS_OPERAND
            and is_alone(self.source[end:], "‖")
        ):
            return self.add("COMMA", ",", start, end)
        self.open_call(BRACKETS[text], start, end)

    def open_call(self, name: str, start: int, end: int) -> None:
        """Add a function such as ⌊ or ‖, and the opening bracket of its operand."""
        self.add("FUNCTION", name, start, end)
        self.add("CALL", "(", start, end)
        self.brackets.append("‖" if name == "‖" else "(")

    def close_call(self, start: int, end: int) -> None:
        if self.brackets:
            self.brackets.pop()
        self.add("RPAREN", ")", start, end)

    @property
    def under_indicator(self) -> bool:
        """Whether the subscript that begins here is the condition of an indicator, as in 1_{x > 1} and I_{x > 1}."""
        return may_be_indicator(self.tokens, len(self.tokens) - 3) and bool(
            CONDITION.match(self.source, self.tokens[-1].end)
        )

    def ends_set(self, last: int) -> bool:
        """Return whether the token at index `last` ends a set or a distribution, so that its superscript is a shape."""
        before = self.tokens[last].type if last >= 0 else ""
        field = before == "NAME" and last > 0 and self.tokens[last - 1].type in BEFORE_SET
        is_set = self.among_sets and (field or before in ("REALS", "RBRACE", "RBRACKET"))
        return is_set or ends_distribution(self.tokens[: last + 1])

    def bracket(self, text: str, previous: str) -> str:
        """Return the kind of an opening bracket, which determines the role of the words inside."""
        if text == "{" and previous == "SUB":
            return "{" if self.under_indicator else "sub"
        if previous == "SUP":
            return "shape" if self.ends_set(len(self.tokens) - 3) else "sup"
        if text == "(" and self.in_axes and previous in ("LBRACE", "COMMA", "ARROW"):
            return "item"  # (height,width)→layer
        return text
