"""Elementwise operations and broadcasting (paper §3.2): functions of numbers, lifted over the union of the axes.

A row of a table is an operator: what it is called, what it means, the same in NumPy, and a *make* of its kernel.
"""

from __future__ import annotations

import math
from typing import Any

from .dtypes import Kernel, common, floating, is_numpy
from .error_function import erf
from .lowering import Make, chunked, elementwise
from .record import Operator, register

SECTION = "§3.2 Elementwise operations and broadcasting"


def named(name: str) -> Make:
    """The namespace's own function of this name."""
    return lambda xp: getattr(xp, name)


def _unary(name: str, meaning: str, numpy: str, make: Make, rule: str = "numbers", **more: Any) -> Operator:
    lower = elementwise(make, rule)
    return register(Operator(name, "elementwise", "->", lower, meaning, numpy, SECTION, **more))


def _binary(name: str, meaning: str, numpy: str, make: Make, rule: str = "numbers", **more: Any) -> Operator:
    lower = elementwise(make, rule)
    return register(Operator(name, "elementwise", ", ->", lower, meaning, numpy, SECTION, arity=(2, 2), **more))


# ------------------------------------------------------------------------------------------------------ of one number
def _sigmoid(xp: Any) -> Kernel:
    """Elsewhere than in NumPy by a function whose derivative at zero is right: that of |x| is not."""
    if not is_numpy(xp):
        return lambda x: xp.exp(-xp.logaddexp(-x, xp.zeros_like(x)))

    def sigmoid(x):
        small = xp.exp(-xp.abs(x))
        return xp.where(x >= 0, xp.ones_like(small), small) / (1.0 + small)

    return chunked(xp, sigmoid)


def _silu(xp: Any) -> Kernel:
    sigmoid = _sigmoid(xp)
    return lambda x: x * sigmoid(x)


def _relu(xp: Any) -> Kernel:
    if is_numpy(xp):
        return lambda x: xp.maximum(x, 0)
    return lambda x: xp.where(x <= 0, xp.zeros_like(x), x)


def _softplus(xp: Any) -> Kernel:
    """max(x, 0) + log(1 + exp −|x|), which cannot overflow."""
    if not is_numpy(xp):
        return lambda x: xp.logaddexp(x, xp.zeros_like(x))

    def softplus(x):
        return xp.where(x < 0, xp.zeros_like(x), x) + xp.log1p(xp.exp(-xp.abs(x)))

    return chunked(xp, softplus)


def _gelu(xp: Any) -> Kernel:
    of_error = erf(xp)

    def gelu(x):
        return (of_error(x * math.sqrt(0.5)) + 1.0) * x * 0.5

    return chunked(xp, gelu)


def _gelu_tanh(xp: Any) -> Kernel:
    scale = math.sqrt(2.0 / math.pi)

    def gelu_tanh(x):
        return (xp.tanh(x * (scale + scale * 0.044715 * x * x)) + 1.0) * x * 0.5

    return chunked(xp, gelu_tanh)


OF_FLOATS = (
    ("exp", "the exponential", "np.exp(X)", named("exp")),
    ("log", "the natural logarithm", "np.log(X)", named("log")),
    ("sqrt", "the square root", "np.sqrt(X)", named("sqrt")),
    ("sin", "the sine", "np.sin(X)", named("sin")),
    ("cos", "the cosine", "np.cos(X)", named("cos")),
    ("tan", "the tangent", "np.tan(X)", named("tan")),
    ("tanh", "the hyperbolic tangent", "np.tanh(X)", named("tanh")),
    ("sinh", "the hyperbolic sine", "np.sinh(X)", named("sinh")),
    ("cosh", "the hyperbolic cosine", "np.cosh(X)", named("cosh")),
    ("gelu", "x Φ(x), Φ being the normal distribution function", "0.5 * X * (1 + erf(X / np.sqrt(2)))", _gelu),
    ("gelu_tanh", "gelu by its approximation with tanh",
     "0.5 * X * (1 + np.tanh(np.sqrt(2 / np.pi) * (X + 0.044715 * X**3)))", _gelu_tanh),
    ("silu", "x σ(x)", "X / (1 + np.exp(-X))", _silu),
    ("softplus", "log(1 + exp x)", "np.logaddexp(0, X)", _softplus),
    ("erf", "the error function", "scipy.special.erf(X)", lambda xp: chunked(xp, erf(xp))),
)  # fmt: skip
for _row in OF_FLOATS:
    _unary(*_row, rule="floats")
_unary(
    "σ", "the logistic function 1/(1 + exp(−x))", "1 / (1 + np.exp(-X))", _sigmoid, "floats",
    aliases=("sigmoid",), ascii="sigmoid", latex=r"\sigma", python="sigmoid",
)  # fmt: skip

OF_NUMBERS = (
    ("abs", "the absolute value", "np.abs(X)", named("abs")),
    ("sign", "−1, 0 or 1", "np.sign(X)", named("sign")),
    ("floor", "the largest whole number that is not above", "np.floor(X)", named("floor")),
    ("ceil", "the smallest whole number that is not below", "np.ceil(X)", named("ceil")),
)
for _row in OF_NUMBERS:
    _unary(*_row)
_unary("relu", "max(0, x)", "np.maximum(X, 0)", _relu, aliases=("ReLU",))
_unary("negative", "the negative", "-X", named("negative"), ascii="-", latex="-")
for _name, _rest in (("odd", 1), ("even", 0)):
    _unary(
        _name, f"whether a number is {_name}", f"X % 2 == {_rest}", lambda xp, rest=_rest: lambda x: x % 2 == rest,
        boolean=(False, True), ascii=_name, latex=rf"\text{{{_name}}}",
    )  # fmt: skip


# ----------------------------------------------------------------------------------------------------- of two numbers
def _power(xp: Any) -> Kernel:
    """Whole numbers stay whole unless an exponent is negative."""

    def power(x, y):
        if not hasattr(x, "dtype"):
            x, y = common(xp, (x, y))
        if not xp.isdtype(x.dtype, "integral"):
            return x**y
        if isinstance(y, float) or (hasattr(y, "dtype") and not xp.isdtype(y.dtype, "integral")):
            return floating(xp, x) ** y
        negative = y < 0 if isinstance(y, int) else bool(xp.any(y < 0))
        return xp.pow(*common(xp, (x, y), need_floats=True)) if negative else x**y

    return power


ARITHMETIC = (
    ("+", "the sum", "X + Y", named("add"), "numbers", "+", "+", "add"),
    ("-", "the difference", "X - Y", named("subtract"), "numbers", "-", "-", "subtract"),
    ("/", "the quotient", "X / Y", named("divide"), "floats", "/", r"\frac", "divide"),
    ("juxtaposed", "the product, written side by side", "X * Y", named("multiply"), "numbers", "", "", "multiply"),
)
for _name, _meaning, _numpy, _make, _rule, _ascii, _latex, _python in ARITHMETIC:
    _binary(_name, _meaning, _numpy, _make, _rule, ascii=_ascii, latex=_latex, python=_python)
_binary("^", "the power", "X ** Y", _power, aliases=("pow",), ascii="^", latex="^", python="pow")

COMPARISONS = (
    ("=", "whether equal", "X == Y", "equal", "=", "="),
    ("≠", "whether different", "X != Y", "not_equal", "!=", r"\neq"),
    ("<", "whether less", "X < Y", "less", "<", "<"),
    ("≤", "whether at most", "X <= Y", "less_equal", "<=", r"\leq"),
    (">", "whether greater", "X > Y", "greater", ">", ">"),
    ("≥", "whether at least", "X >= Y", "greater_equal", ">=", r"\geq"),
)
for _name, _meaning, _numpy, _function, _ascii, _latex in COMPARISONS:
    _binary(
        _name, _meaning, _numpy, named(_function), ascii=_ascii, latex=_latex, boolean=(False, True), python=_function
    )

LOGIC = (
    ("∧", "whether both hold", "X & Y", "logical_and", "and", r"\land"),
    ("∨", "whether one holds, or both", "X | Y", "logical_or", "or", r"\lor"),
)
TRUTHS: dict[str, Any] = {"rule": "as they are", "boolean": (True, True)}
for _name, _meaning, _numpy, _function, _ascii, _latex in LOGIC:
    _binary(_name, _meaning, _numpy, named(_function), ascii=_ascii, latex=_latex, python=_function, **TRUTHS)
_unary(
    "¬",
    "whether it does not hold",
    "~X",
    named("logical_not"),
    ascii="not",
    latex=r"\lnot",
    python="logical_not",
    **TRUTHS,
)


# --------------------------------------------------------------------------------------------------- of three numbers
def _where(xp: Any) -> Kernel:
    def where(condition, x, y):
        x, y = common(xp, (x, y))
        return xp.where(condition, x, y)

    return where


def _clip(xp: Any) -> Kernel:
    return lambda x, low, high: xp.minimum(xp.maximum(x, low), high)


_THREE: dict[str, Any] = {"section": SECTION, "arity": (3, 3)}
register(
    Operator(
        "where", "elementwise", ", , ->", elementwise(_where, "as they are"),
        "where(cond, a, b) is a where the condition holds, and b elsewhere", "np.where(cond, A, B)", **_THREE,
    )
)  # fmt: skip
register(
    Operator(
        "clip", "elementwise", ", , ->", elementwise(_clip),
        "clip(X, low, high) is X, no less than low and no more than high", "np.clip(X, low, high)", **_THREE,
    )
)  # fmt: skip
