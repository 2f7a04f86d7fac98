"""The tokens of matrix and index notation, in text and LaTeX, each with its span in the source.

`A B` is a product here and no name, so letters side by side are several names, unless they are a function, or a name that
is given. Fonts and accents of LaTeX, scripts in Unicode, `\\left` and spaces are dealt with here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import NamedTuple

from grammar.errors import NotationError, Span

from .refusals import refused

NAME, NUMBER, FUNCTION, SIGN, END = "name", "number", "function", "sign", "end"


class SourceToken(NamedTuple):
    kind: str
    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        return self.start, self.end


FUNCTIONS = {  # as written, in lower case: the operator of the notation, or what `matrices` knows by this word
    **{name: name for name in "exp log sin cos tan tanh sinh cosh sqrt abs sign relu gelu silu elu softplus erf softmax logsoftmax".split()},
    **{name: name for name in "logsumexp det diag vec max min argmax argmin inv rank mean var std".split()},
    "ln": "log", "arctan": "arctan", "sigmoid": "σ", "sgn": "sign", "tr": "trace", "trace": "trace", "swish": "silu",
    "log_softmax": "logsoftmax", "concat": "concat", "norm": "norm", "logdet": "logdet", "𝔼": "expectation", "leakyrelu": "leaky_relu",
}  # fmt: skip
MACROS = {  # what a macro stands for
    "top": "⊤", "intercal": "⊤", "mathsf T": "⊤", "cdot": "·", "circ": "∘", "odot": "⊙", "otimes": "⊗", "times": "×", "ast": "*",
    "lVert": "‖", "rVert": "‖", "Vert": "‖", "|": "‖", "lvert": "|", "rvert": "|", "vert": "|", "mid": "|", "langle": "⟨", "rangle": "⟩",
    "sum": "∑", "prod": "∏", "nabla": "∇", "partial": "∂", "infty": "∞", "neq": "≠", "ne": "≠", "leq": "≤", "le": "≤", "geq": "≥",
    "ge": "≥", "lt": "<", "gt": ">", "in": "∈", "prime": "'", "dagger": "†", "frac": "frac", "dfrac": "frac", "tfrac": "frac",
    "sqrt": "√", "coloneqq": "=", "triangleq": "=", "{": "{", "}": "}", "lbrace": "{", "rbrace": "}", "leftarrow": "←", "to": "→",
    "ell": "ℓ", "ldots": "…", "dots": "…", "cdots": "…",
}  # fmt: skip
GREEK = {
    name: unicodedata.lookup(f"GREEK {'CAPITAL' if name[0].isupper() else 'SMALL'} LETTER {name.upper().replace('LAMBDA', 'LAMDA')}")
    for name in "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi chi psi omega "
    "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega".split()
} | {"varepsilon": "ε", "varphi": "φ", "vartheta": "θ"}  # fmt: skip
FONTS = set(
    "text textrm textbf textit mathrm mathbf mathit mathsf mathcal mathtt boldsymbol bm vec operatorname operatorname* mathop".split()
)
ACCENTS = {
    "hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303", "widetilde": "\u0303", "bar": "\u0304", "overline": "\u0304",
    "dot": "\u0307",
}  # fmt: skip
SKIPPED = set(
    "left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr displaystyle textstyle quad qquad ! , ; : limits nolimits rm bf".split()
) | {" "}
BLACKBOARD = {"1": (NAME, "𝟏"), "R": (SIGN, "ℝ"), "E": (FUNCTION, "𝔼")}
ENVIRONMENTS = {"matrix", "bmatrix", "pmatrix", "smallmatrix", "bsmallmatrix"}
SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᵀⁿ", "0123456789-+⊤n"))
SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉ᵢⱼₖₗₘₙₚₛₜₐₓᵣₕ", "0123456789ijklmnpstaxrh"))
SIGNS = {"−": "-", "∗": "*", "⋅": "·", "∙": "·", "∥": "‖", "ᵀ": "⊤", "′": "'", "\u2061": "", "〈": "⟨", "〉": "⟩"}
PLAIN = set("+-*·∘⊙⊗×/=(){}[]^_,|‖√'<>≤≥≠∈∑∏∇∂∞⟨⟩⊤†@←→;…:.")
WORD = re.compile(r"[A-Za-z]+")
DIGITS = re.compile(r"\d+(?:\.\d+)?(?:[eE]-?\d+)?|\.\d+", re.ASCII)  # 𝟏 is a vector of ones
MACRO = re.compile(r"\\(?:operatorname\*|[A-Za-z]+|.)", re.DOTALL)
MAX_TOKENS = 1_000  # of a line


class Scanner:
    """One pass over a source; `names` are those that are given, of which the longer ones are words."""

    def __init__(self, source: str, names: Collection[str]):
        self.source, self.tokens, self.position = source, list[SourceToken](), 0
        self.matrices = 0  # that are open
        self.scripts = 0  # braces of subscripts that are open
        self.words = sorted((name for name in names if len(name) > 1 and name.isidentifier()), key=len, reverse=True)

    def refuse(self, start: int, message: str, hint: str | None = None) -> NotationError:
        return refused(self.source, (start, max(self.position, start + 1)), message, hint)

    def add(self, kind: str, text: str, start: int, end: int) -> None:
        self.tokens.append(SourceToken(kind, text, start, end))

    def scan(self) -> list[SourceToken]:
        source = self.source
        while self.position < len(source):
            start, character = self.position, source[self.position]
            if character == "&" and self.matrices:
                self.position += 1
                self.add(SIGN, ",", start, self.position)
            elif character.isspace() or character in "$&~":
                self.position += 1
            elif character == "\\":
                self.macro()
            elif match := DIGITS.match(source, start):
                self.digits(match)
            elif character in SUPERSCRIPTS or character in SUBSCRIPTS:
                self.unicode_script()
            elif (word := next((word for word in self.words if source.startswith(word, start)), None)) is not None:
                self.position += len(word)
                self.add(NAME, word, start, self.position)
            elif WORD.match(source, start):
                self.word()
            elif (character.isalpha() or character == "𝟏") and character not in PLAIN and character not in SIGNS:
                self.letter()
            else:
                self.sign()
        self.add(END, "", len(source), len(source))
        return self.tokens

    def digits(self, match: re.Match[str]) -> None:
        """A number; in a script without braces only its first digit."""
        end = match.end()
        if self.tokens and self.tokens[-1].text in ("_", "^"):
            end = match.start() + 1
        self.position = end
        self.add(NUMBER, self.source[match.start() : end], match.start(), end)

    def word(self) -> None:
        """A function, or letters that are names each."""
        match = WORD.match(self.source, self.position)
        assert match
        word, start = match[0], match.start()
        if self.tokens and self.tokens[-1].text in ("_", "^"):
            word = word[:1]
        if self.scripts:
            self.position = match.end()
            return self.add(NAME, word, start, self.position)
        if len(word) > 1 and word.lower() in FUNCTIONS:
            self.add(FUNCTION, word, start, start + len(word))
        elif len(word) > 4 or (len(word) > 1 and word.islower() and self.source[match.end() : match.end() + 1] == "("):
            self.position = start + len(word)
            hint = "give its shape, or write its letters apart if they are factors"
            raise self.refuse(start, f"unknown name or function {word}", hint)
        else:
            for offset, letter in enumerate(word):
                self.add(NAME, letter, start + offset, start + offset + 1)
        self.position = start + len(word)

    def letter(self) -> None:
        """A letter with its accents; a Σ with a script is a sum."""
        start = self.position
        self.position += 1
        following = self.source[self.position : self.position + 1]
        if (
            self.source[start] == "Σ"
            and (following == "_" or following in SUBSCRIPTS and not following.isdigit())
            and following
        ):
            return self.add(SIGN, "∑", start, self.position)
        while self.position < len(self.source) and unicodedata.combining(self.source[self.position]):
            self.position += 1
        text = unicodedata.normalize("NFC", self.source[start : self.position])
        self.add(NAME, text, start, self.position)

    def sign(self) -> None:
        start, character = self.position, self.source[self.position]
        text = SIGNS.get(character, character)
        if "⁄" in (fraction := unicodedata.normalize("NFKC", character)):
            for kind, piece in ((SIGN, "{"), (NUMBER, fraction[0]), (SIGN, "/"), (NUMBER, fraction[2:]), (SIGN, "}")):
                self.add(kind, piece, start, start + 1)
            self.position += 1
            return
        if text not in PLAIN:
            raise self.refuse(start, f"unsupported character {character}")
        if text == "{" and (self.scripts or (self.tokens and self.tokens[-1].text == "_")):
            self.scripts += 1
        elif text == "}" and self.scripts:
            self.scripts -= 1
        self.position += 1
        self.add(SIGN, text, start, self.position)

    def unicode_script(self) -> None:
        """x², Wᵢⱼ as x^{2}, W_{ij}"""
        table, opener = (SUPERSCRIPTS, "^") if self.source[self.position] in SUPERSCRIPTS else (SUBSCRIPTS, "_")
        start = self.position
        self.add(SIGN, opener, start, start)
        self.add(SIGN, "{", start, start)
        while self.position < len(self.source) and (character := self.source[self.position]) in table:
            kind = NUMBER if table[character].isdigit() else NAME if table[character].isalpha() else SIGN
            self.add(kind, table[character], self.position, self.position + 1)
            self.position += 1
        self.add(SIGN, "}", self.position, self.position)

    def macro(self) -> None:
        match = MACRO.match(self.source, self.position)
        if match is None:
            raise self.refuse(self.position, "a macro has no name")
        word, start = match[0][1:], match.start()
        self.position = match.end()
        if word in ("begin", "end"):
            self.environment(word, start)
        elif word == "\\" and self.matrices:
            self.add(SIGN, ";", start, self.position)
        elif word in SKIPPED or word == "\\":
            if word in ("left", "right") and self.source[self.position : self.position + 1] == ".":
                self.position += 1
        elif word in FONTS:
            self.font(start)
        elif word in ACCENTS:
            self.accent(start, ACCENTS[word])
        elif word == "mathbb":
            self.blackboard(start)
        elif word in MACROS:
            self.add(SIGN, MACROS[word], start, self.position)
        elif word in GREEK:
            self.add(NAME, GREEK[word], start, self.position)
        elif word.lower() in FUNCTIONS:
            self.add(FUNCTION, word, start, self.position)
        else:
            raise self.refuse(start, f"\\{word} is not supported in matrix or index notation")

    def environment(self, word: str, start: int) -> None:
        r"""\begin{bmatrix} as a bracket; its & and \\ are commas and semicolons."""
        name, _, _ = self.argument()
        if name not in ENVIRONMENTS:
            raise self.refuse(start, f"the environment {name} is not supported")
        self.matrices += 1 if word == "begin" else -1
        self.add(SIGN, "[" if word == "begin" else "]", start, self.position)

    def argument(self) -> tuple[str, int, int]:
        """The text of the next group, or of the next character; and where it is."""
        while self.source[self.position : self.position + 1].isspace():
            self.position += 1
        start = self.position
        if self.source[start : start + 1] == "{":
            end = self.source.find("}", start)
            if end < 0 or "{" in self.source[start + 1 : end]:
                raise self.refuse(start, "this group is not closed, or not a plain name")
            self.position = end + 1
            return self.source[start + 1 : end].strip(), start + 1, end
        if macro := MACRO.match(self.source, start):
            self.position = macro.end()
            return macro[0], start, macro.end()
        self.position = min(start + 1, len(self.source))
        return self.source[start : start + 1], start, self.position

    def font(self, start: int) -> None:
        r"""\mathbf{x}, \text{softmax}, \mathrm{ReLU}"""
        text, _, _ = self.argument()
        if text.startswith("\\"):
            text = GREEK.get(text[1:], text)
        span = start, self.position
        if text.lower() in FUNCTIONS and len(text) > 1:
            self.add(FUNCTION, text, *span)
        elif text == "1":
            self.add(NAME, "𝟏", *span)
        elif len(text) == 1 or text in self.words or text.isalnum():
            self.add(NAME, text, *span)
        else:
            raise self.refuse(start, f"{text} is not a name or a known function", "give the formula without prose")

    def accent(self, start: int, mark: str) -> None:
        text, _, _ = self.argument()
        text = GREEK.get(text.removeprefix("\\"), text)
        if len(text) != 1 or not text.isalpha():
            inner = re.sub(r"\\[a-z]+|[{}\s]", "", text)
            if len(inner) != 1:
                raise self.refuse(start, "an accent belongs to one letter")
            text = inner
        self.add(NAME, unicodedata.normalize("NFC", text + mark), start, self.position)

    def blackboard(self, start: int) -> None:
        text, _, _ = self.argument()
        if text not in BLACKBOARD:
            raise self.refuse(start, f"\\mathbb{{{text}}} is not supported in matrix or index notation")
        self.add(*BLACKBOARD[text], start, self.position)


def tokens_of(source: str, names: Collection[str] = ()) -> list[SourceToken]:
    """The tokens of a source, the last of kind `END`. Raises NotationError for what cannot be read."""
    tokens = Scanner(source, names).scan()
    if len(tokens) > MAX_TOKENS:
        raise refused(source, (0, 1), f"a line has more than {MAX_TOKENS} signs", "define a part in a line of its own")
    return tokens
