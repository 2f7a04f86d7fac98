"""What operators are called in NumPy, PyTorch and JAX, for code that a person reads: a template for each.

{0}, {1}, … are the operands, {axis} the positions of the axes, {p} a parameter. A name that begins with a helper of HELPERS
brings its definition along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from grammar.errors import NotationError

from ..terms.terms import Term

ATOM, POWER, PRODUCT, SUM, BOTH, EITHER, RELATION, LOOSE = range(8, 0, -1)  # how tightly a piece of code binds


@dataclass(frozen=True)
class CodeExpression:
    """An expression: its text, how tightly it binds, the axes of its array in order, and how many operations it has."""

    text: str
    axes: tuple[str, ...] = ()
    level: int = ATOM
    operations: int = 0
    integer: bool = False  # whether its numbers are integers

    def within(self, level: int) -> str:
        return self.text if self.level >= level else f"({self.text})"


class Writes(Protocol):
    """What a rule asks of the writer of the lines."""

    library: Library
    inputs: Mapping[str, str]
    suggested: dict[int, str]

    def code(self, term: Term, limit: int = ...) -> CodeExpression: ...
    def has_a_name(self, term: Term) -> bool: ...
    def call(self, term: Term, name: str, *operands: str, **words: Any) -> str: ...
    def arranged(self, code: CodeExpression, order: Sequence[str], level: int = 0) -> str: ...
    def broadcast(self, code: CodeExpression, order: Sequence[str], shape: Mapping[str, Any] | None = None) -> str: ...
    def unreadable(self, term: Term, why: str = "") -> NotationError: ...


class Infix(NamedTuple):
    """A sign between two operands, how tightly it binds, and how tightly each operand has to."""

    sign: str
    level: int
    left: int
    right: int


class Library(NamedTuple):
    """A library: what it is imported as, the keyword for axes, and the templates of its own."""

    prefix: str
    imports: tuple[str, ...]
    axis: str
    own: dict[str, str]


INFIX = {
    "+": Infix("+", SUM, SUM, SUM), "-": Infix("-", SUM, SUM, PRODUCT), "⊙": Infix("*", PRODUCT, PRODUCT, POWER),
    "/": Infix("/", PRODUCT, PRODUCT, POWER), "mod": Infix("%", PRODUCT, PRODUCT, POWER), "^": Infix("**", POWER, ATOM, POWER),
    "∧": Infix("&", BOTH, BOTH, SUM), "∨": Infix("|", EITHER, EITHER, BOTH),
    **{sign: Infix(python, RELATION, EITHER, EITHER) for sign, python in (
        ("=", "=="), ("≠", "!="), ("<", "<"), ("≤", "<="), (">", ">"), ("≥", ">="))},
}  # fmt: skip
SAME = ("exp", "log", "sqrt", "sin", "cos", "tan", "tanh", "sinh", "cosh", "arctan", "arcsin", "arccos", "log1p", "expm1", "sign",
        "floor", "ceil", "abs", "round")  # fmt: skip
COMMON = {  # the same in all three, but for the prefix P and the keyword for axes
    **{name: f"P.{name}({{0}})" for name in SAME},
    "where": "P.where({0}, {1}, {2})", "clip": "P.clip({0}, {1}, {2})", "sum": "P.sum({0}, {axis})", "mean": "P.mean({0}, {axis})",
    "cumsum": "P.cumsum({0}, {axis})", "cumprod": "P.cumprod({0}, {axis})", "any": "P.any({0}, {axis})", "all": "P.all({0}, {axis})",
    "det": "P.linalg.det({0})", "inv": "P.linalg.inv({0})", "cholesky": "P.linalg.cholesky({0})", "solve": "P.linalg.solve({0}, {1})",
    "trace": 'P.einsum("...ii", {0})', "logdet": "P.linalg.slogdet({0})[1]", "eigvalsh": "P.linalg.eigvalsh({0})",
    "standardize": "standardize({0}, {axis})", "standardize eps": "standardize({0}, {axis}, eps={p})",
    "argmax": "one_hot_largest({0}, {axis})", "argmin": "one_hot_largest(-{0}, {axis})",
    "max two": "P.maximum({0}, {1})", "min two": "P.minimum({0}, {1})", "einsum": "P.einsum({0})",
    "silu": "{0} * sigmoid({0})", "elu": "P.where({0} > 0, {0}, P.expm1({0}))", "leaky_relu": "P.where({0} > 0, {0}, 0.01 * {0})",
}  # fmt: skip
ARRAYS = {  # the same in NumPy and JAX
    "max": "P.max({0}, {axis})", "min": "P.min({0}, {axis})", "prod": "P.prod({0}, {axis})", "var": "P.var({0}, {axis})",
    "std": "P.std({0}, {axis})", "sort": "P.sort({0}, {axis})", "median": "P.median({0}, {axis})",
    "quantile": "P.quantile({0}, {p}, {axis})", "norm": "P.linalg.norm({0}, {axis})", "norm p": "P.linalg.norm({0}, {p}, {axis})",
    "concatenate": "P.concatenate([{0}], {axis})", "float": "{0}.astype(float)", "array": "P.array({0})", "eye": "P.eye({0})",
    "transpose": "P.transpose({0}, {1})", "integer": "{0}.astype(int)",
}  # fmt: skip
NUMPY = Library("np", ("import numpy as np",), "axis", {
    **ARRAYS, "relu": "np.maximum({0}, 0)", "σ": "sigmoid({0})", "softmax": "softmax({0}, {axis})",
    "logsoftmax": "log_softmax({0}, {axis})", "logsumexp": "logsumexp({0}, {axis})",
    "softplus": "np.logaddexp(0, {0})", "logsigmoid": "-np.logaddexp(0, -{0})",
    "gelu_tanh": "0.5 * {0} * (1 + np.tanh(np.sqrt(2 / np.pi) * ({0} + 0.044715 * {0}**3)))",
    "windows": "np.lib.stride_tricks.sliding_window_view({0}, {size}, {axis})",
})  # fmt: skip
TORCH = Library("torch", ("import torch",), "dim", {
    "relu": "torch.relu({0})", "σ": "torch.sigmoid({0})", "softmax": "torch.softmax({0}, {axis})",
    "logsoftmax": "torch.log_softmax({0}, {axis})", "logsumexp": "torch.logsumexp({0}, {axis})",
    "softplus": "torch.nn.functional.softplus({0})", "logsigmoid": "torch.nn.functional.logsigmoid({0})",
    "gelu": "torch.nn.functional.gelu({0})", "gelu_tanh": 'torch.nn.functional.gelu({0}, approximate="tanh")',
    "silu": "torch.nn.functional.silu({0})", "elu": "torch.nn.functional.elu({0})",
    "leaky_relu": "torch.nn.functional.leaky_relu({0})", "erf": "torch.erf({0})",
    "max": "torch.amax({0}, {axis})", "min": "torch.amin({0}, {axis})", "prod": "torch.prod({0}, {axis})",
    "var": "torch.var({0}, {axis}, correction=0)", "std": "torch.std({0}, {axis}, correction=0)",
    "sort": "torch.sort({0}, {axis}).values", "median": "torch.quantile({0}, 0.5, {axis})",
    "quantile": "torch.quantile({0}, {p}, {axis})", "norm": "torch.linalg.vector_norm({0}, {axis})",
    "norm p": "torch.linalg.vector_norm({0}, {p}, {axis})", "concatenate": "torch.cat([{0}], {axis})",
    "float": "{0}.to(torch.get_default_dtype())", "array": "torch.tensor({0})", "eye": "torch.eye({0})",
    "transpose": "torch.permute({0}, {1})", "integer": "{0}.long()",
})  # fmt: skip
JAX = Library("jnp", ("import jax", "import jax.numpy as jnp"), "axis", {
    **ARRAYS, "relu": "jax.nn.relu({0})", "σ": "jax.nn.sigmoid({0})", "softmax": "jax.nn.softmax({0}, {axis})",
    "logsoftmax": "jax.nn.log_softmax({0}, {axis})", "logsumexp": "jax.nn.logsumexp({0}, {axis})",
    "softplus": "jax.nn.softplus({0})", "logsigmoid": "jax.nn.log_sigmoid({0})", "gelu": "jax.nn.gelu({0}, approximate=False)",
    "gelu_tanh": "jax.nn.gelu({0})", "silu": "jax.nn.silu({0})", "erf": "jax.scipy.special.erf({0})",
})  # fmt: skip
LIBRARIES = {"numpy": NUMPY, "torch": TORCH, "jax": JAX}

HELPERS = {  # definitions that a template needs; K is keepdims or keepdim, V the keyword of a variance
    "sigmoid": """def sigmoid(x):
    return 1 / (1 + P.exp(-x))""",
    "softmax": """def softmax(x, axis):
    e = P.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)""",
    "log_softmax": """def log_softmax(x, axis):
    x = x - x.max(axis, keepdims=True)
    return x - P.log(P.exp(x).sum(axis, keepdims=True))""",
    "logsumexp": """def logsumexp(x, axis):
    largest = x.max(axis, keepdims=True)
    return P.log(P.exp(x - largest).sum(axis)) + largest.squeeze(axis)""",
    "standardize": """def standardize(x, AXIS, eps=1e-05):
    return (x - x.mean(AXIS, K=True)) / P.sqrt(x.var(AXIS, V) + eps)""",
    "one_hot_largest": """def one_hot_largest(x, AXIS):
    largest = x == LARGEST
    return largest / largest.sum(AXIS, K=True)""",
}


def template(library: Library, name: str) -> str | None:
    """The template of an operator in a library, or None where it has none."""
    text = library.own.get(name) or COMMON.get(name)
    return (
        None if text is None else text.replace("P.", f"{library.prefix}.").replace("{axis}", f"{library.axis}={{axis}}")
    )


def helper(library: Library, name: str) -> str:
    """The definition of a helper in a library."""
    torch = library is TORCH
    largest = "x.amax(dim, keepdim=True)" if torch else "x.max(axis, keepdims=True)"
    return (
        HELPERS[name]
        .replace("LARGEST", largest)
        .replace("V)", "correction=0, K=True)" if torch else "K=True)")
        .replace("K=", "keepdim=" if torch else "keepdims=")
        .replace("AXIS", library.axis)
        .replace("P.", f"{library.prefix}.")
    )
