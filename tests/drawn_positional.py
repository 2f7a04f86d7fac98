"""Random matrix, index and NumPy expressions, each with its value by plain NumPy, compared with their translations.

    python tests/drawn_positional.py 10000 0

draws that many with that seed, and prints how many translations are equal, asked, refused and different.
"""

from __future__ import annotations

import random
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import namedtensor as nt
from grammar.errors import NotationError

SHAPES = {"A": "n d", "B": "n d", "C": "d d", "D": "n n", "W": "d m", "x": "d", "y": "n", "s": ""}
WORDS = re.compile(r"\\[A-Za-z]+|_\{[^}]*\}|_\w|[a-z]{2,}")
SIZES = {"n": 3, "d": 4, "m": 5}
ARRAYS = {
    name: np.random.default_rng(number).uniform(0.3, 1.7, [SIZES[axis] for axis in shape.split()])
    for number, (name, shape) in enumerate(SHAPES.items())
}
COLUMNS = {name: array.reshape(*array.shape, *[1] * (2 - array.ndim)) for name, array in ARRAYS.items()}


class Drawn(NamedTuple):
    """A source, its value in plain NumPy as an expression, and how tightly it binds."""

    source: str
    value: str
    level: int = 4


def bracketed(piece: Drawn, level: int) -> str:
    return piece.source if piece.level >= level else f"({piece.source})"


# ----------------------------------------------------------------------------------------------------------- matrices
class Matrices:
    """Expressions with rows and columns, of axes or 1."""

    def __init__(self, chance: random.Random):
        self.chance = chance

    def draw(self) -> tuple[str, str] | None:
        rows, columns = self.chance.choice(["n", "d", "m", ""]), self.chance.choice(["n", "d", "m", ""])
        drawn = self.matrix(rows, columns, self.chance.choice([2, 3, 4]))
        return None if drawn is None or not 8 < len(drawn.source) < 200 else (drawn.source, drawn.value)

    def leaf(self, rows: str, columns: str) -> Drawn | None:
        options = []
        for name, shape in SHAPES.items():
            names = (*shape.split(), "", "")[:2]
            options += [Drawn(name, name)] if names == (rows, columns) else []
            options += [Drawn(f"{name}^\\top", f"{name}.T")] if names == (columns, rows) and names != ("", "") else []
        return self.chance.choice(options) if options else None

    def matrix(self, rows: str, columns: str, depth: int) -> Drawn | None:
        if depth < 0 or (depth == 0 and self.chance.random() < 0.8) or self.chance.random() < 0.1:
            return self.leaf(rows, columns)
        kinds = ["product"] * 4 + ["+", "-", "T", "∘", "scaled", "special"]
        return FORMS[self.chance.choice(kinds)](self, rows, columns, depth - 1)

    def product(self, rows: str, columns: str, depth: int) -> Drawn | None:
        middle = self.chance.choice(["n", "d", "m", ""] if rows and columns else ["n", "d", "m"])
        left, right = self.matrix(rows, middle, depth), self.matrix(middle, columns, depth)
        return (
            left
            and right
            and Drawn(f"{bracketed(left, 3)} {bracketed(right, 4)}", f"({left.value} @ {right.value})", 3)
        )

    def joined(self, sign: str, rows: str, columns: str, depth: int) -> Drawn | None:
        left, right = self.matrix(rows, columns, depth), self.matrix(rows, columns, depth)
        position = {"+": 1, "-": 1, "∘": 2}[sign]
        return (
            left
            and right
            and Drawn(
                f"{bracketed(left, position)} {sign} {bracketed(right, position + 1)}",
                f"({left.value} {'*' if sign == '∘' else sign} {right.value})",
                position,
            )
        )

    def transpose(self, rows: str, columns: str, depth: int) -> Drawn | None:
        inner = self.matrix(columns, rows, depth)
        return inner and Drawn(f"({inner.source})^\\top", f"{inner.value}.T")

    def scaled(self, rows: str, columns: str, depth: int) -> Drawn | None:
        inner = self.matrix(rows, columns, depth)
        factor = self.chance.choice(["2", "s", r"\frac{1}{2}"])
        value = {"2": "2", "s": "s", r"\frac{1}{2}": "0.5"}[factor]
        return inner and Drawn(f"{factor} {bracketed(inner, 3)}", f"({value} * {inner.value})", 3)

    def special(self, rows: str, columns: str, depth: int) -> Drawn | None:
        """Functions: of a number, of a square matrix, of each element, of rows."""
        if not rows and not columns:
            first, second = self.chance.choice([("n", "d"), ("d", "d"), ("d", "m")])
            inner = self.matrix(first, second, depth)
            if inner is None:
                return None
            if first == second and self.chance.random() < 0.5:
                return Drawn(f"\\operatorname{{tr}}({inner.source})", f"np.trace({inner.value}).reshape(1, 1)")
            return Drawn(f"\\|{inner.source}\\|_F", f"np.sqrt(np.sum({inner.value}**2)).reshape(1, 1)")
        if rows and rows == columns and rows != "m" and self.chance.random() < 0.5:
            base = {"d": "C", "n": "D"}[rows]
            return Drawn(
                f"({base}^\\top {base} + I)^{{-1}}", f"np.linalg.inv({base}.T @ {base} + np.eye({SIZES[rows]}))"
            )
        if rows and columns and self.chance.random() < 0.4:
            inner = self.matrix(rows, columns, depth)
            return inner and Drawn(f"\\text{{softmax}}({inner.source})", f"softmax({inner.value})")
        if rows and self.chance.random() < 0.4:
            vector = {"n": "y", "d": "x"}.get(rows)
            inner = self.matrix(rows, columns, depth)
            return (
                inner
                and vector
                and Drawn(f"\\mathrm{{diag}}({vector}) {bracketed(inner, 4)}", f"({vector} * {inner.value})", 3)
                or None
            )
        inner = self.matrix(rows, columns, depth)
        return inner and Drawn(f"\\tanh({inner.source})", f"np.tanh({inner.value})")


FORMS: dict[str, Callable[..., Drawn | None]] = {
    "product": Matrices.product, "T": Matrices.transpose, "scaled": Matrices.scaled, "special": Matrices.special,
    **{sign: (lambda self, rows, columns, depth, sign=sign: self.joined(sign, rows, columns, depth)) for sign in "+-∘"},
}  # fmt: skip


def softmax(x):
    weights = np.exp(x - x.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


# ------------------------------------------------------------------------------------------------------------ indices
class Indices:
    """Sums of products of indexed tensors: y_i = A_{ik} x_k + …, with and without ∑."""

    LETTERS = {"n": "ij", "d": "kl", "m": "pq"}

    def __init__(self, chance: random.Random):
        self.chance = chance

    def draw(self) -> tuple[str, str] | None:
        free = self.chance.sample("ijklp", self.chance.choice([0, 1, 1, 2]))
        terms = [self.term(free) for _ in range(self.chance.choice([1, 1, 2]))]
        if any(term is None for term in terms):
            return None
        sources = " + ".join(term[0] for term in terms if term)
        values = " + ".join(term[1] for term in terms if term)
        return f"z_{{{''.join(free)}}} = {sources}" if free else f"z = {sources}", values

    def term(self, free: list[str]) -> tuple[str, str] | None:
        factors = []
        for _ in range(self.chance.choice([1, 2, 2, 3])):
            name = self.chance.choice("ABCDWxy")
            factors.append((name, "".join(self.chance.choice(self.LETTERS[axis]) for axis in SHAPES[name].split())))
        letters = "".join(local for _, local in factors)
        if any(letter not in letters for letter in free):
            return None
        once = [letter for letter in dict.fromkeys(letters) if letters.count(letter) == 1 and letter not in free]
        more = [letter for letter in dict.fromkeys(letters) if letters.count(letter) > 2 and letter not in free]
        bound = once + more
        written = " ".join(f"{name}_{{{local}}}" if len(local) > 1 else f"{name}_{local}" for name, local in factors)
        if self.chance.random() < 0.3:
            bound = [letter for letter in dict.fromkeys(letters) if letter not in free]
        sums = "".join(f"\\sum_{letter} " for letter in bound)
        spec = ",".join(local for _, local in factors) + "->" + "".join(free)
        return sums + written, f"np.einsum('{spec}', {', '.join(name for name, _ in factors)})"


# --------------------------------------------------------------------------------- sums under conditions, parts of axes
class Sums:
    """y_i = ∑_{j≠i} …, ∑_{i<j} …, ∑_{i=1}^{n-1} … x_{i+1}, each against a loop over numbers."""

    FACTORS = ("D_{ij}", "D_{ji}", "y_j", "y_i", "(y_i - y_j)", "\\exp(y_j)", "y_j^2", "\\|A_i - B_j\\|^2")
    SHIFTED = ("y_i", "y_{i+1}", "D_{i,i+1}", "A_{i+1}^\\top x", "\\tanh(y_{i+1})", "(y_{i+1} - y_i)^2")
    VALUES = {
        "D_{ij}": "D[i, j]", "D_{ji}": "D[j, i]", "y_j": "y[j]", "y_i": "y[i]", "(y_i - y_j)": "(y[i] - y[j])",
        "\\exp(y_j)": "np.exp(y[j])", "y_j^2": "y[j]**2", "\\|A_i - B_j\\|^2": "((A[i] - B[j])**2).sum()", "y_{i+1}": "y[i+1]",
        "D_{i,i+1}": "D[i, i+1]", "A_{i+1}^\\top x": "(A[i+1] @ x)", "\\tanh(y_{i+1})": "np.tanh(y[i+1])",
        "(y_{i+1} - y_i)^2": "(y[i+1] - y[i])**2",
    }  # fmt: skip
    RELATIONS = {"\\neq": "!=", "<": "<", "\\le": "<=", ">": ">", "\\geq": ">="}

    def __init__(self, chance: random.Random):
        self.chance = chance

    def draw(self) -> tuple[str, str] | None:
        if self.chance.random() < 0.4:
            return self.shifted()
        terms = self.chance.sample(self.FACTORS, self.chance.choice([1, 2, 2, 3]))
        sign = self.chance.choice(list(self.RELATIONS))
        value = " * ".join(self.VALUES[term] for term in terms)
        test = f"j {self.RELATIONS[sign]} i"
        if not any("j" in term for term in terms):
            return None
        if self.chance.random() < 0.5:
            source = f"z_i = \\sum_{{j {sign} i}} {' '.join(terms)}"
            return source, f"np.array([sum(({value}) if {test} else 0.0 for j in range(3)) for i in range(3)])"
        source = f"z = \\sum_i \\sum_{{j {sign} i}} {' '.join(terms)}"
        return source, f"sum(({value}) if {test} else 0.0 for j in range(3) for i in range(3))"

    def shifted(self) -> tuple[str, str]:
        terms = self.chance.sample(self.SHIFTED, self.chance.choice([1, 2]))
        value = " * ".join(self.VALUES[term] for term in terms)
        first = self.chance.choice([1, 2])
        return (
            f"\\sum_{{i={first}}}^{{n-1}} {' '.join(terms)}",
            f"sum(({value}) for i in range({first - 1}, 2)) + 0.0",
        )


# --------------------------------------------------------------------------------------------------------------- NumPy
class Code:
    """NumPy expressions; what NumPy refuses is drawn again."""

    def __init__(self, chance: random.Random):
        self.chance = chance

    def draw(self) -> tuple[str, str] | None:
        source = self.expression(self.chance.choice([1, 2, 3]))
        return None if len(source) > 200 or not any(sign in source for sign in ".@[") else (source, source)

    def expression(self, depth: int) -> str:
        choose = self.chance.choice
        if depth <= 0:
            return choose("ABCDWxy" + "AB")
        inner = self.expression(depth - 1)
        return choose(
            [
                lambda: f"({inner} {choose('+-*/')} {self.expression(depth - 1)})",
                lambda: f"({inner} @ {self.expression(depth - 1)})",
                lambda: f"({inner} @ {self.expression(depth - 1)}.T)",
                lambda: f"({inner}).T",
                lambda: (
                    f"({inner}).{choose(['sum', 'mean', 'max', 'var'])}(axis={choose([0, 1, -1])}{choose(['', ', keepdims=True'])})"
                ),
                lambda: f"np.{choose(['exp', 'tanh', 'sqrt'])}({inner})",
                lambda: f"({inner}){choose(['[:, None]', '[None]', '[0]', '[1:]', '[..., -1]', '[:, 1]', '[:-1]'])}",
                lambda: f"(({inner}){choose(['**2', '.reshape(-1)', '.transpose()', '.sum()'])})",
                lambda: f"np.{choose(['maximum', 'minimum', 'outer', 'dot'])}({inner}, {self.expression(depth - 1)})",
                lambda: f"np.where({inner} > 1, {inner}, {choose('012')})",
                lambda: f"np.{choose(['sort', 'cumsum', 'cumprod', 'diff', 'flip'])}({inner}, axis={choose([0, -1])})",
                lambda: f"np.{choose(['tril', 'triu'])}({inner}, {choose([-1, 0, 1])})",
                lambda: f"np.{choose(['stack', 'concatenate'])}([{inner}, {inner}], axis={choose([0, -1])})",
                lambda: f"({inner})[({inner}) {choose('<>')} 1].{choose(['sum', 'prod'])}()",
                lambda: f"({inner} {choose('%/')} {choose(['2', inner])})",
                lambda: f"(({inner} > 1) {choose('&|')} ~({inner} < 0.5)).astype(float)",
                lambda: f"np.{choose(['diag', 'trace'])}({choose('CD')} * {choose('CD')})",
                lambda: f"np.kron({inner}, {choose('ABx')})",
                lambda: f"({inner}){choose(['[::-1]', '[:, ::-1]', '[-1]', '[:2]'])}",
                lambda: (
                    f"np.einsum('{choose(['ij,jk->ik', 'ij,kj->ik', 'ij->ji', 'ij->j', 'ii->i', 'ij,ij->'])}', {inner}, {self.expression(depth - 1)})"
                ),
            ]
        )()


KINDS = {"matrices": Matrices, "indices": Indices, "sums": Sums, "numpy": Code}


def outcome(kind: str, source: str, expression: str) -> tuple[str, str]:
    """`equal`, `asked`, `refused`, `different`; or `invalid` where NumPy has no value. And why."""
    arrays = COLUMNS if kind == "matrices" else ARRAYS
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = np.asarray(eval(expression, {"np": np, "softmax": softmax, **arrays}))
        except (ValueError, IndexError, np.exceptions.AxisError, TypeError, np.linalg.LinAlgError):
            return "invalid", ""
        letters = source if kind == "numpy" else WORDS.sub(" ", source)  # the s of \sum is no input
        used = {name: shape for name, shape in SHAPES.items() if name in letters}
        try:
            translation = nt.translate(source, used, check=False)
        except NotationError as problem:
            return ("asked" if problem.code == 116 else "refused"), problem.message
        try:
            actual = np.asarray(translation(**{name: ARRAYS[name] for name in translation.axes}))
        except NotationError as problem:
            return fails(source, used, translation.formula, problem)
    shapes = actual.squeeze().shape == expected.squeeze().shape
    scale = np.max(np.abs(expected[np.isfinite(expected)]), initial=1.0)
    if shapes and np.allclose(actual.squeeze(), expected.squeeze(), rtol=1e-6, atol=1e-8 * scale, equal_nan=True):
        return "equal", translation.formula
    return "different", translation.formula


def fails(source: str, shapes: dict[str, str], formula: str, problem: NotationError) -> tuple[str, str]:
    """A formula without a value: it has to be refused where it is compared with its source."""
    try:
        nt.translate(source, shapes)
    except NotationError as refusal:
        return "refused", refusal.message
    return "different", f"{formula}, which fails: {problem.message}"


def draws(count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Draw that many valid expressions: the tally of outcomes by kind, and those that differ."""
    chance = random.Random(seed)
    makers = {kind: maker(chance) for kind, maker in KINDS.items()}
    tally: Counter[str] = Counter()
    different: list[str] = []
    while tally.total() < count:
        kind = chance.choice(list(KINDS))
        drawn = makers[kind].draw()
        result, why = ("invalid", "") if drawn is None else outcome(kind, *drawn)
        if drawn is None or result == "invalid":
            continue
        tally[f"{kind} {result}"] += 1
        if result == "different":
            different.append(f"{kind}: {drawn[0]!r} is translated to {why!r}")
    return tally, different


if __name__ == "__main__":
    outcomes, wrong = draws(int(sys.argv[1]), int(sys.argv[2]))
    for line, number in sorted(outcomes.items()):
        print(f"{number:6} {line}")
    print(*wrong[:20], f"{len(wrong)} different", sep="\n")
