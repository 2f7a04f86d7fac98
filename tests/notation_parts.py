"""The parts of the second evaluator of notation: its characters, and NumPy matrices as matrix notation combines them.

A vector is a matrix with one column, and a given vector may lie down.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

Array = Any


GREEK = {r"\alpha": "α", r"\beta": "β", r"\gamma": "γ", r"\eta": "η", r"\theta": "θ", r"\lambda": "λ", r"\mu": "μ", r"\pi": "π",
         r"\sigma": "σ", r"\tau": "τ", r"\epsilon": "ε", r"\delta": "δ", r"\Sigma": "Σ"}  # fmt: skip
SIGNS = {r"\top": "⊤", r"\intercal": "⊤", r"\cdot": "·", r"\circ": "∘", r"\odot": "∘", r"\otimes": "⊗", r"\times": "×", r"\sum": "∑",
         r"\prod": "∏", r"\|": "‖", r"\lVert": "‖", r"\rVert": "‖", r"\langle": "⟨", r"\rangle": "⟩", r"\nabla": "∇", r"\partial": "∂", r"\infty": "∞",
         r"\neq": "≠", r"\le": "≤", r"\leq": "≤", r"\ge": "≥", r"\geq": "≥", "⊙": "∘", "−": "-", "ᵀ": "⊤", "′": "'", r"\sqrt": "√"}  # fmt: skip
SMALL = dict(zip("₀₁₂₃₄₅₆₇₈₉ᵢⱼₖₗₘₙₜ", "0123456789ijklmnt")), dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵀ", "0123456789-⊤"))
ACCENTS = {"hat": "\u0302", "tilde": "\u0303", "bar": "\u0304"}


class Unread(Exception):
    """A form that this evaluator does not read."""


class Special(NamedTuple):
    """I or 𝟏 times a number; its size comes from its neighbor."""

    name: str
    factor: float = 1.0


def softmax(x: Array) -> Array:
    weights = np.exp(x - x.max())
    return weights / weights.sum()


def softmax_of_rows(x: Array) -> Array:
    if np.ndim(x) == 0:
        raise Unread("a softmax over letters")
    return softmax(x) if 1 in x.shape else np.stack([softmax(row) for row in x])


def silu(x: Array) -> Array:
    return x / (1 + np.exp(-x))


FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp, "log": np.log, "ln": np.log, "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "σ": lambda x: 1 / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0), "leakyrelu": lambda x: np.where(x > 0, x, 0.01 * x), "silu": silu, "abs": np.abs,
    "gelu": lambda x: x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2, "softmax": softmax_of_rows,
    "tr": lambda x: float(np.trace(x)), "trace": lambda x: float(np.trace(x)), "det": lambda x: float(np.linalg.det(x)),
    "vec": lambda x: x.T.reshape(-1, 1), "diag": lambda x: np.diag(x[:, 0]) if 1 in x.shape else np.diag(x)[:, None],
    "mean": np.mean, "𝔼": np.mean,
}  # fmt: skip


def unread(x: Any) -> Any:
    raise Unread(x)


def matrix(array: Array) -> Array:
    if np.ndim(array) > 2:
        raise Unread("more than two axes")
    return float(array) if np.ndim(array) == 0 else np.reshape(array, (*np.shape(array), 1)[:2])


def lie(x: Array, lies: bool) -> Array:
    return x.view(Lying) if lies and isinstance(x, np.ndarray) else np.asarray(x) if isinstance(x, np.ndarray) else x


class Lying(np.ndarray):
    """A vector that may be a row or a column."""


def simple(x: Array) -> Array:
    return float(x[0, 0]) if np.shape(x) == (1, 1) else np.asarray(x) if np.ndim(x) else x


def multiply(x: Array, y: Array) -> Array:
    if isinstance(y, Special) and y.name == "𝟏" and np.ndim(x):
        return simple(np.sum(x, 1, keepdims=True))
    if isinstance(x, Special) and x.name == "𝟏⊤" and np.ndim(y):
        return simple(np.sum(y, 0, keepdims=True))
    if any(isinstance(side, Special) and side.name != "I" for side in (x, y)):
        raise Unread("𝟏")
    if isinstance(x, Special) or isinstance(y, Special):
        eye, other = (x, y) if isinstance(x, Special) else (y, x)
        if isinstance(other, Special):
            return eye._replace(factor=eye.factor * other.factor)
        return eye._replace(factor=eye.factor * other) if np.ndim(other) == 0 else eye.factor * other
    if np.ndim(x) == 0 or np.ndim(y) == 0:
        return simple(x * y)
    if x.shape[1] != y.shape[0] and isinstance(x, Lying):
        x = x.T
    if x.shape[1] != y.shape[0] and isinstance(y, Lying):
        y = y.T
    if x.shape[1] != y.shape[0]:
        raise Unread("shapes")
    return simple(np.asarray(x) @ np.asarray(y))


def transpose(x: Array) -> Array:
    if isinstance(x, Special):
        return x if x.name == "I" else x._replace(name="𝟏⊤")
    return x.T if np.ndim(x) else x


def times(factor: float, x: Array) -> Array:
    return x._replace(factor=factor * x.factor) if isinstance(x, Special) else factor * x


def fill(x: Special, side: int) -> Array:
    return x.factor * np.eye(side) if x.name == "I" else x.factor


def fit(x: Array, y: Array) -> tuple[Array, Array]:
    """Return both values with the shape of an elementwise operation."""
    if isinstance(x, Special) or isinstance(y, Special):
        side = (y if isinstance(x, Special) else x).shape[0]
        return tuple(fill(one, side) if isinstance(one, Special) else one for one in (x, y))
    if np.ndim(x) == 2 == np.ndim(y) and x.shape != y.shape:
        x = x.T if isinstance(x, Lying) and x.shape[0] == y.shape[1] else x
        y = y.T if isinstance(y, Lying) and y.shape[0] == x.shape[1] else y
    if np.ndim(x) == 2 == np.ndim(y) and x.shape != y.shape and 1 not in (*x.shape, *y.shape):
        raise Unread("shapes")
    return x, y


def add(x: Array, y: Array) -> Array:
    if isinstance(x, Special) and isinstance(y, Special):
        return Special(x.name, x.factor + y.factor)
    x, y = fit(x, y)
    return simple(x + y)


def elements(x: Array, y: Array) -> Array:
    x, y = fit(x, y)
    return simple(x * y)


def divide(x: Array, y: Array) -> Array:
    return times(1 / y, x) if isinstance(x, Special) else simple(x / y)


def dot(x: Array, y: Array) -> Array:
    return float((x * y).sum()) if np.ndim(x) and np.shape(x) == np.shape(y) and 1 in x.shape else multiply(x, y)


def outer(x: Array, y: Array) -> Array:
    return np.kron(x, y.T if x.shape[1] == 1 == y.shape[1] else y) if np.ndim(x) and np.ndim(y) else x * y


def power(x: Array, p: Array) -> Array:
    if np.ndim(x) and 1 not in x.shape:
        return np.linalg.matrix_power(x, int(p))
    return x**p


def invert(x: Array) -> Array:
    return 1 / x if np.ndim(x) == 0 else np.linalg.inv(x)


BINARY = {"·": dot, "∘": elements, "⊗": outer, "×": elements, "/": divide, "": multiply}


WORDS = rf"(?<![A-Za-z])(?:{'|'.join(name for name in FUNCTIONS if len(name) > 1)})(?![A-Za-z])|"


def plain(source: str) -> str:
    """Return a source without fonts, spaces and accents."""
    if re.search(r"\\begin|\\newcommand|\\Declare|\[", source):
        raise Unread(source)
    fonts = r"\\(?:mathbf|boldsymbol|bm|mathcal|mathit|mathsf)\b\s*"
    source = re.sub(r"\\(?:left|right)\b\.?|\\[,;!: ]|\\q?quad|\$", " ", source)
    source = re.sub(fonts + r"(?:\{(\\?\w+)\}|(\\?\w))", lambda m: (m[1] or m[2]).replace("1", "𝟏") + " ", source)
    source = re.sub(r"\\(?:mathrm|text|operatorname)\s*\{(\w+)\}", r" \\\1 ", source)
    accent = rf"\\({'|'.join(ACCENTS)})\s*(?:\{{(\\?\w+)\}}|(\\?\w))"
    source = re.sub(accent, lambda m: GREEK.get(m[2] or m[3], m[2] or m[3]) + ACCENTS[m[1]], source)
    for sign, table in zip("_^", SMALL):
        run = f"[{''.join(table)}]+"
        source = re.sub(run, lambda m: f"{sign}{{{''.join(map(table.__getitem__, m[0]))}}}", source)  # noqa: B023
    source = re.sub(r"Σ(?=_\{?[a-z])", "∑", source)
    source = re.sub(r"_([a-z]{2,3})(?![A-Za-z(])", r"_{\1}", source)
    return unicodedata.normalize("NFC", source)


def number(text: str, env: Mapping[str, int]) -> int:
    """Return the value of an index such as i+1, n-1 or n/2."""
    whole, slash, divisor = text.partition("/")
    pieces = re.findall(r"([+-]?)(\d+|\w)", whole)
    total = sum((-1 if sign == "-" else 1) * (int(word) if word.isdigit() else env[word]) for sign, word in pieces)
    return total // int(divisor) if slash else total
