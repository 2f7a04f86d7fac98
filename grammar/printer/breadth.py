r"""Estimates of the typeset width of LaTeX, in ems. They are too large rather than too small.

\frac{Q \ndot{\name{key}} K}{2}        the broader of the two parts
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\s+|.", re.DOTALL)
SCRIPT_SCALE = 0.72  # the size of a script
BINARY, RELATION, THIN = 0.44, 0.56, 0.17  # spaces around and beside signs
WIDTHS = {  # in ems, with the space around: the tokens of each width
    0.0: r"\left \right \bigl \bigr \Bigl \Bigr \notag \limits \displaystyle \mathinner \\",
    -THIN: r"\!",
    THIN: r"\,",
    0.28: r"\;",
    0.3: r"[ ] | . '",
    0.33: "~",
    0.4: "( )",
    0.42: "i j l",
    0.45: ", ;",
    0.47: "f I r s t",
    0.5: "/ *",
    0.6: r"\partial",
    0.75: r"\reals",
    0.8: r"\mathord-",
    0.95: "m w M W",
    0.78 + BINARY: r"+ - \odot \cdot \oplus \star \times \land \lor",
    0.78 + RELATION: "= < > :",
    1.0: r"\quad \infty",
    1.0 + RELATION: r"\leq \geq \neq \le \ge \in \to \rightarrow \colon",
    1.3: r"\ldots \dots \cdots",
    1.3 + THIN: r"\prod",
    1.45 + THIN: r"\sum",
    1.75: r"\exp \log \sin \cos \tan \max \min \det",
    2.0: r"\qquad",
    2.3: r"\sinh \cosh \tanh",
}
WIDTH = {token: width for width, tokens in WIDTHS.items() for token in tokens.split()} | {r"\ ": 0.33}
LETTER, CAPITAL, MACRO = 0.53, 0.8, 0.62  # any other token


def breadth(latex: str) -> float:
    r"""Return the width of a piece of LaTeX on a line, in ems.

    >>> breadth("x + y") < breadth("x + y + z") < 6
    True
    >>> breadth(r"\frac{a + b + c}{2}") == breadth(r"\frac{2}{a + b + c}")
    True
    """
    return Measure(latex).row()


class Measure:
    """A measurement of the width of a LaTeX string, piece by piece."""

    def __init__(self, text: str):
        self.tokens = [token for token in TOKEN.findall(text) if not token.isspace()]
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def row(self, until: str = "") -> float:
        """Return the width of a row, up to the end of the row or a closing token.

        For several rows under a symbol, return the largest.
        """
        return max(sum(cells) for cells in self.rows(until))

    def table(self, until: str) -> float:
        """Return the total width of columns that are each as wide as their widest cell."""
        rows = list(self.rows(until))
        columns = max(map(len, rows))
        widths = (max((row[at] for row in rows if at < len(row)), default=0.0) for at in range(columns))
        return sum(widths) + columns + 0.4

    def rows(self, until: str) -> Iterator[list[float]]:
        """Yield the widths of the cells in each row."""
        cells = [0.0]
        while self.at < len(self.tokens) and self.peek() != until:
            token = self.peek()
            if token == "&":
                self.at += 1
                cells.append(0.0)
            elif token == r"\\":
                self.at += 1
                yield cells
                cells = [0.0]
            else:
                cells[-1] += self.with_scripts(self.piece())
        self.at += 1
        yield cells

    def with_scripts(self, width: float) -> float:
        below = False
        beside: dict[str, float] = {}
        while self.peek() in ("_", "^", r"\limits"):
            sign = self.peek()
            self.at += 1
            if sign == r"\limits":
                below = True
            else:
                beside[sign] = max(beside.get(sign, 0.0), SCRIPT_SCALE * self.piece())
        widest = max(beside.values(), default=0.0)
        return max(width, widest + 2 * THIN) if below else width + widest

    def piece(self) -> float:
        """Return the width of one token, including its arguments."""
        token = self.peek()
        self.at += 1
        if token == "{":
            return self.row("}")
        if token == r"\begin":
            return self.environment()
        if token == r"\nmatrix":
            down, across = self.piece(), self.piece()
            self.at += 1
            return down + max(across, self.table("}")) + THIN
        if token in TAKING:
            number, combine = TAKING[token]
            if self.peek() == "[":
                self.at = self.tokens.index("]", self.at) + 1
            arguments = [self.piece() for _ in range(number)]
            return combine(*arguments)
        other = MACRO if token.startswith("\\") else CAPITAL if token.isupper() else LETTER
        return WIDTH.get(token, other) if token else 0.0

    def environment(self) -> float:
        name = self.name_of_environment()
        width = self.table(r"\end") if name in ("bmatrix", "cases", "matrix") else 0.0
        if width:
            self.name_of_environment()
        return width

    def name_of_environment(self) -> str:
        r"""Return the name of the environment after \begin or \end."""
        end = self.tokens.index("}", self.at)
        name = "".join(self.tokens[self.at + 1 : end])
        self.at = end + 1
        return name


def under(sign: float) -> Callable[[float], float]:
    return lambda script: max(sign, SCRIPT_SCALE * script) + BINARY


def make_stack(space: float) -> Callable[[float, float], float]:
    return lambda script, base: max(SCRIPT_SCALE * script, base) + space


# How many arguments a macro takes, and its breadth by theirs.
TAKING: dict[str, tuple[int, Callable[..., float]]] = {
    r"\frac": (2, lambda above, below: max(above, below) + 0.24),
    r"\sqrt": (1, lambda operand: operand + 0.85),
    r"\textcolor": (2, lambda color, text: text),
    r"\ndot": (1, under(0.78)),
    r"\ncat": (1, under(0.78)),
    r"\nsum": (1, under(1.45)),
    r"\nprod": (1, under(1.3)),
    r"\nbin": (2, make_stack(BINARY)),
    r"\nfun": (2, make_stack(THIN)),
    r"\overset": (2, make_stack(0.0)),
    r"\mathbin": (1, lambda sign: sign + BINARY),
    r"\mathop": (1, lambda sign: sign + THIN),
    **dict.fromkeys((r"\name", r"\mathsf", r"\mathrm", r"\text", r"\mathbb", r"\mathit", r"\substack"), (1, float)),
}
