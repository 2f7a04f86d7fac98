r"""The breadth of LaTeX as it is set, in ems of its own font: an estimate, rather too much than too little.

\frac{Q \ndot{\name{key}} K}{2}        the broader of the two parts
"""

from __future__ import annotations

import re
from collections.abc import Iterator

TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\s+|.", re.DOTALL)
SCRIPT_SCALE = 0.72  # the size of a script
BINARY, RELATION, THIN = 0.44, 0.56, 0.17  # spaces around and beside signs

LETTERS = dict.fromkeys("ijl", 0.42) | dict.fromkeys("mwMW", 0.95) | dict.fromkeys("fIrst", 0.47)
SIGNS = dict.fromkeys("+-", 0.78 + BINARY) | dict.fromkeys("=<>:", 0.78 + RELATION)
SIGNS |= (
    dict.fromkeys("()", 0.4)
    | dict.fromkeys("[]|.", 0.3)
    | {",": 0.45, ";": 0.45, "'": 0.3, "/": 0.5, "*": 0.5, "~": 0.33}
)
MACROS = dict.fromkeys(r"\odot \cdot \oplus \star \times \land \lor".split(), 0.78 + BINARY)
MACROS |= dict.fromkeys(r"\leq \geq \neq \le \ge \in \to \rightarrow \colon \le".split(), 1.0 + RELATION)
MACROS |= dict.fromkeys(r"\exp \log \sin \cos \tan \max \min \det".split(), 1.75) | dict.fromkeys(
    r"\sinh \cosh \tanh".split(), 2.3
)
MACROS |= dict.fromkeys(r"\left \right \bigl \bigr \Bigl \Bigr \notag \limits \displaystyle \mathinner".split(), 0.0)
MACROS |= {
    r"\quad": 1.0,
    r"\qquad": 2.0,
    r"\,": THIN,
    r"\;": 0.28,
    r"\!": -THIN,
    r"\ ": 0.33,
    r"\sum": 1.45 + THIN,
    r"\prod": 1.3 + THIN,
}
MACROS |= {
    r"\partial": 0.6,
    r"\infty": 1.0,
    r"\ldots": 1.3,
    r"\dots": 1.3,
    r"\cdots": 1.3,
    r"\mathord-": 0.8,
    r"\reals": 0.75,
    r"\\": 0.0,
}
LETTER_EMS = 0.62  # any other macro: a letter


def breadth(latex: str) -> float:
    r"""The ems that a piece of LaTeX takes in a line.

    >>> breadth("x + y") < breadth("x + y + z") < 6
    True
    >>> breadth(r"\frac{a + b + c}{2}") == breadth(r"\frac{2}{a + b + c}")
    True
    """
    return Measure(latex).row()


class Measure:
    """The breadth of a text, piece by piece."""

    def __init__(self, text: str):
        self.tokens = [token for token in TOKEN.findall(text) if not token.isspace()]
        self.at = 0

    def row(self, until: str = "") -> float:
        """The breadth of a row, to its end or to a closing token; of several rows under a sign the broadest."""
        widest = total = 0.0
        for width in self.atoms(until):
            if width is None:
                widest, total = max(widest, total), 0.0
            else:
                total += width
        return max(widest, total)

    def atoms(self, until: str) -> Iterator[float | None]:
        """The breadth of each piece with its scripts; None at the end of a row."""
        while self.at < len(self.tokens) and self.tokens[self.at] != until:
            if self.tokens[self.at] == r"\\":
                self.at += 1
                yield None
                continue
            yield self.with_scripts(self.piece())
        self.at += 1

    def with_scripts(self, width: float) -> float:
        below = False
        beside: dict[str, float] = {}
        while self.at < len(self.tokens) and self.tokens[self.at] in ("_", "^", r"\limits"):
            sign = self.tokens[self.at]
            self.at += 1
            if sign == r"\limits":
                below = True
            else:
                beside[sign] = max(beside.get(sign, 0.0), SCRIPT_SCALE * self.piece())
        widest = max(beside.values(), default=0.0)
        return max(width, widest + 2 * THIN) if below else width + widest

    def piece(self) -> float:
        """The breadth of one token with its arguments."""
        if self.at >= len(self.tokens):
            return 0.0
        token = self.tokens[self.at]
        self.at += 1
        if token == "{":
            return self.row("}")
        if token in TAKING:
            return TAKING[token](self)
        if token in MACROS or token.startswith("\\"):
            return MACROS.get(token, LETTER_EMS)
        return SIGNS.get(token, LETTERS.get(token, 0.8 if token.isupper() else 0.53))

    def skip(self) -> None:
        """An argument that is not printed, or one in square brackets."""
        if self.at < len(self.tokens) and self.tokens[self.at] == "[":
            self.at = self.tokens.index("]", self.at) + 1
        self.piece()

    def fraction(self) -> float:
        return max(self.piece(), self.piece()) + 0.24

    def tinted(self) -> float:
        self.skip()
        return self.piece()

    def under(self, width: float = 0.78) -> float:
        return max(width, SCRIPT_SCALE * self.piece()) + BINARY

    def stacked(self, space: float) -> float:
        """A script below or above what it belongs to."""
        return max(SCRIPT_SCALE * self.piece(), self.piece()) + space

    def matrix(self) -> float:
        down, across = self.piece(), self.piece()
        self.at += 1
        return down + max(across, self.table("}")) + THIN

    def environment(self) -> float:
        name = self.named()
        if name in ("bmatrix", "cases", "matrix"):
            width = self.table(r"\end")
            self.named()
            return width
        return 0.0

    def table(self, until: str) -> float:
        """Columns, each as broad as its broadest cell."""
        cells: list[list[float]] = [[0.0]]
        while self.at < len(self.tokens) and self.tokens[self.at] != until:
            token = self.tokens[self.at]
            if token == "&":
                cells[-1].append(0.0)
            elif token == r"\\":
                cells.append([0.0])
            else:
                cells[-1][-1] += self.with_scripts(self.piece())
                continue
            self.at += 1
        self.at += 1
        columns = max(map(len, cells))
        return (
            sum(max((row[at] for row in cells if at < len(row)), default=0.0) for at in range(columns)) + columns + 0.4
        )

    def named(self) -> str:
        r"""Return the name of the environment after \begin."""
        end = self.tokens.index("}", self.at)
        name = "".join(self.tokens[self.at + 1 : end])
        self.at = end + 1
        return name


TAKING = {
    r"\frac": Measure.fraction,
    r"\sqrt": lambda measure: measure.piece() + 0.85,
    r"\textcolor": Measure.tinted,
    r"\ndot": Measure.under,
    r"\ncat": Measure.under,
    r"\nbin": lambda measure: measure.stacked(BINARY),
    r"\nsum": lambda measure: measure.under(1.45),
    r"\nprod": lambda measure: measure.under(1.3),
    r"\nfun": lambda measure: measure.stacked(THIN),
    r"\nmatrix": Measure.matrix,
    r"\overset": lambda measure: measure.stacked(0.0),
    r"\begin": Measure.environment,
    r"\mathbin": lambda measure: measure.piece() + BINARY,
    r"\mathop": lambda measure: measure.piece() + THIN,
    **dict.fromkeys((r"\name", r"\mathsf", r"\mathrm", r"\text", r"\mathbb", r"\mathit", r"\substack"), Measure.piece),
}
