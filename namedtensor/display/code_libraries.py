"""The templates of operators in NumPy, PyTorch, JAX and plain Python, for readable code.

In a template, {0}, {1}, … are the operands, and {0:atom} is an operand in parentheses if it binds less tightly. {axis}
are the positions of the axes, {p} is a parameter, {dtype} is the dtype of the inputs, and {typed} is the keyword
argument for this dtype. If a template calls a function in HELPERS, the code includes the
function's definition.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

ATOM, POWER, PRODUCT, SUM, BOTH, EITHER, RELATION, LOOSE = range(8, 0, -1)  # how tightly a piece of code binds
LEVELS = {"": 0, "atom": ATOM, "power": POWER, "product": PRODUCT, "sum": SUM, "relation": RELATION, "loose": LOOSE}


@dataclass(frozen=True)
class CodeExpression:
    """An expression: its text, its precedence, and its axes in order. In loops, `axes` are the indices it uses."""

    text: str
    axes: tuple[str, ...] = ()
    level: int = ATOM
    integer: bool = False  # whether its numbers are integers

    def within(self, level: int) -> str:
        """Return the text, in parentheses if the precedence is below the given level."""
        return self.text if self.level >= level else f"({self.text})"

    def __format__(self, level: str) -> str:
        """Return the text, in parentheses if its precedence is below the named level.

        >>> f"{CodeExpression('x + 1', level=SUM):product} * 2"
        '(x + 1) * 2'
        """
        return self.within(LEVELS[level])


class Infix(NamedTuple):
    """An infix operator: its sign with spaces, its precedence, and the precedence that each operand must have."""

    sign: str
    level: int
    left: int
    right: int


INFIX = {
    "+": Infix(" + ", SUM, SUM, SUM), "-": Infix(" - ", SUM, SUM, PRODUCT), "⊙": Infix(" * ", PRODUCT, PRODUCT, POWER),
    "/": Infix(" / ", PRODUCT, PRODUCT, POWER), "mod": Infix(" % ", PRODUCT, PRODUCT, POWER), "^": Infix("**", POWER, ATOM, POWER),
    "∧": Infix(" & ", BOTH, BOTH, SUM), "∨": Infix(" | ", EITHER, EITHER, BOTH),
    **{sign: Infix(f" {python} ", RELATION, EITHER, EITHER) for sign, python in (
        ("=", "=="), ("≠", "!="), ("<", "<"), ("≤", "<="), (">", ">"), ("≥", ">="))},
}  # fmt: skip


class Library(NamedTuple):
    """A library: its title, import name, import lines, keyword for axes, specific templates, and infix operators.

    The title includes a preposition, such as "in NumPy". `limits` contains the maximum number of operations in
    an operand, for each operator whose limit differs from the default in this library.
    """

    title: str
    prefix: str
    imports: tuple[str, ...]
    axis: str
    own: dict[str, str]
    signs: Mapping[str, Infix] = INFIX
    limits: Mapping[str, int] = {}

    @property
    def default_dtype(self) -> str:
        """The dtype of floats, as code, for a formula without floating-point inputs."""
        return "torch.get_default_dtype()" if self.prefix == "torch" else "float"


SAME = ("exp", "log", "sqrt", "sin", "cos", "tan", "tanh", "sinh", "cosh", "arctan", "arcsin", "arccos", "log1p", "expm1", "sign",
        "floor", "ceil", "abs", "round")  # fmt: skip
COMMON = {  # the same in all array libraries except for the prefix P and the keyword for axes
    **{name: f"P.{name}({{0}})" for name in SAME},
    "where": "P.where({0}, {1}, {2})", "clip": "P.clip({0}, {1}, {2})", "sum": "P.sum({0}, {axis})", "mean": "P.mean({0}, {axis})",
    "cumsum": "P.cumsum({0}, {axis})", "cumprod": "P.cumprod({0}, {axis})", "any": "P.any({0}, {axis})", "all": "P.all({0}, {axis})",
    "det": "P.linalg.det({0})", "inv": "P.linalg.inv({0})", "cholesky": "P.linalg.cholesky({0})", "solve": "P.linalg.solve({0}, {1})",
    "trace": 'P.einsum("...ii", {0:atom})', "logdet": "P.linalg.slogdet({0})[1]", "eigvalsh": "P.linalg.eigvalsh({0})",
    "standardize": "standardize({0}, {axis})", "standardize eps": "standardize({0}, {axis}, eps={p})",
    "argmax": "one_hot_largest({0}, {axis})", "argmin": "one_hot_largest(-{0:atom}, {axis})",
    "eye": "P.eye({0}{typed})", "ones": "P.ones({0}{typed})",
    "max two": "P.maximum({0}, {1})", "min two": "P.minimum({0}, {1})", "einsum": "P.einsum({0})",
    "silu": "{0:atom} * sigmoid({0})", "elu": "P.where({0} > 0, {0}, P.expm1({0}))", "leaky_relu": "P.where({0} > 0, {0}, 0.01 * {0})",
}  # fmt: skip
ARRAYS = {  # the same in NumPy and JAX
    "max": "P.max({0}, {axis})", "min": "P.min({0}, {axis})", "prod": "P.prod({0}, {axis})", "var": "P.var({0}, {axis})",
    "std": "P.std({0}, {axis})", "sort": "P.sort({0}, {axis})", "median": "P.median({0}, {axis})",
    "quantile": "P.quantile({0}, {p}, {axis})", "norm": "P.linalg.norm({0}, {axis})", "norm p": "P.linalg.norm({0}, {p}, {axis})",
    "concatenate": "P.concatenate([{0}], {axis})", "float": "{0:atom}.astype({dtype})", "array": "P.array({0}{typed})",
    "transpose": "P.transpose({0}, {1})", "integer": "{0:atom}.astype(int)",
}  # fmt: skip
NUMPY = Library("in NumPy", "np", ("import numpy as np",), "axis", {
    **ARRAYS, "relu": "np.maximum({0}, 0)", "σ": "sigmoid({0})", "softmax": "softmax({0}, {axis})",
    "logsoftmax": "log_softmax({0}, {axis})", "logsumexp": "logsumexp({0}, {axis})",
    "softplus": "np.logaddexp(0, {0})", "logsigmoid": "-np.logaddexp(0, -{0:atom})",
    "gelu_tanh": "0.5 * {0:atom} * (1 + np.tanh((2 / np.pi)**0.5 * ({0} + 0.044715 * {0:atom}**3)))",
    "windows": "np.lib.stride_tricks.sliding_window_view({0}, {size}, axis={place})",
})  # fmt: skip
TORCH = Library("in PyTorch", "torch", ("import torch",), "dim", {
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
    "float": "{0:atom}.to({dtype})", "array": "torch.tensor({0}{typed})",
    "transpose": "torch.permute({0}, {1})", "integer": "{0:atom}.long()", "windows": "{0:atom}.unfold({place}, {size}, 1)",
})  # fmt: skip
JAX = Library("in JAX", "jnp", ("import jax", "import jax.numpy as jnp"), "axis", {
    **ARRAYS, "relu": "jax.nn.relu({0})", "σ": "jax.nn.sigmoid({0})", "softmax": "jax.nn.softmax({0}, {axis})",
    "logsoftmax": "jax.nn.log_softmax({0}, {axis})", "logsumexp": "jax.nn.logsumexp({0}, {axis})",
    "softplus": "jax.nn.softplus({0})", "logsigmoid": "jax.nn.log_sigmoid({0})", "gelu": "jax.nn.gelu({0}, approximate=False)",
    "gelu_tanh": "jax.nn.gelu({0})", "silu": "jax.nn.silu({0})", "erf": "jax.scipy.special.erf({0})",
})  # fmt: skip
OPERANDS_IN_VARIABLES = "⊕ concat unroll pool index cumsum cumprod norm argmax argmin".split()
LOOPS = Library("as loops", "math", ("import math",), "", {
    "arctan": "math.atan({0})", "arcsin": "math.asin({0})", "arccos": "math.acos({0})", "abs": "abs({0})", "round": "round({0})",
    "ln": "math.log({0})", "sign": "sign({0})", "relu": "max({0}, 0)", "clip": "min(max({0}, {1}), {2})", "σ": "sigmoid({0})",
    "silu": "silu({0})", "elu": "elu({0})", "leaky_relu": "max({0}, 0.01 * {0})", "softplus": "softplus({0})",
    "logsigmoid": "-softplus(-{0:atom})", "gelu": "gelu({0})", "gelu_tanh": "gelu_tanh({0})", "erf": "math.erf({0})", "isnan": "math.isnan({0})",
    "lgamma": "math.lgamma({0})", "Γ": "math.gamma({0})", "factorial": "math.gamma({0:sum} + 1)", "float": "float({0})",
}, {**INFIX, "∧": Infix(" and ", LOOSE, RELATION, RELATION), "∨": Infix(" or ", LOOSE, RELATION, RELATION)},
    dict.fromkeys(OPERANDS_IN_VARIABLES, 0))  # fmt: skip
LIBRARIES = {"numpy": NUMPY, "torch": TORCH, "jax": JAX, "loops": LOOPS}

HELPERS = {  # functions that templates call; K stands for keepdims or keepdim, and V for the keyword of a variance
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
    largest = (x == LARGEST).TO(x.dtype)
    return largest / largest.sum(AXIS, K=True)""",
    "sign": """def sign(x):
    return (x > 0) - (x < 0)""",
    "silu": """def silu(x):
    return x / (1 + P.exp(-x))""",
    "elu": """def elu(x):
    return x if x > 0 else P.expm1(x)""",
    "softplus": """def softplus(x):
    return max(x, 0) + P.log1p(P.exp(-abs(x)))""",
    "gelu": """def gelu(x):
    return x * (1 + P.erf(x / P.sqrt(2))) / 2""",
    "gelu_tanh": """def gelu_tanh(x):
    return 0.5 * x * (1 + P.tanh(P.sqrt(2 / P.pi) * (x + 0.044715 * x**3)))""",
}


def template(library: Library, name: str) -> str | None:
    """Return the template of an operator in a library, or None if the library has no such template."""
    text = library.own.get(name) or COMMON.get(name)
    return (
        None if text is None else text.replace("P.", f"{library.prefix}.").replace("{axis}", f"{library.axis}={{axis}}")
    )


def repeats(library: Library, name: str) -> bool:
    """Return whether the template of an operator contains the same operand twice."""
    operands = re.findall(r"\{(\d)", template(library, name) or "")
    return len(operands) > len({*operands})


def helper(library: Library, name: str) -> str:
    """Return the source code of a helper function for a library."""
    torch = library is TORCH
    largest = "x.amax(dim, keepdim=True)" if torch else "x.max(axis, keepdims=True)"
    return (
        HELPERS[name]
        .replace("LARGEST", largest)
        .replace("V)", "correction=0, K=True)" if torch else "K=True)")
        .replace("K=", "keepdim=" if torch else "keepdims=")
        .replace("AXIS", library.axis)
        .replace("TO(", "to(" if torch else "astype(")
        .replace("P.", f"{library.prefix}.")
    )
