"""Elementwise operations and broadcasting (paper §3.2): functions of numbers, lifted to tensors over the union of axes."""

from __future__ import annotations

import math
from typing import Any, Callable

from .error_function import erf
from .lowering import common, elementwise, floating, is_numpy, reduction
from .record import Operator, register

SECTION = "§3.2 Elementwise operations and broadcasting"


def _named(name: str, real: bool) -> Callable[[Any], Callable]:
    """The namespace's own function; with `real`, of floating numbers."""

    def make(xp):
        function = getattr(xp, name)
        if is_numpy(xp) or not real:
            return function
        return lambda x: function(floating(xp, x))

    return make


def _unary(name, meaning, numpy, make, aliases=(), latex="", ascii=""):
    register(
        Operator(
            name, "elementwise", "->", elementwise(make), meaning, numpy, SECTION, aliases, latex=latex, ascii=ascii
        )
    )  # fmt: skip


def _binary(name, meaning, numpy, make, aliases=(), latex="", ascii="", boolean=(False, False), python=""):
    register(
        Operator(
            name, "elementwise", ", ->", elementwise(make), meaning, numpy, SECTION, aliases, ascii, latex, (2, 2),
            boolean=boolean, python=python,
        )
    )  # fmt: skip


def _sigmoid(xp):
    def sigmoid(x):
        x = floating(xp, x)
        small = xp.exp(-xp.abs(x))
        return xp.where(x >= 0, 1.0 / (1.0 + small), small / (1.0 + small))

    return sigmoid


def _relu(xp):
    if is_numpy(xp):
        return lambda x: xp.maximum(x, 0)
    return lambda x: xp.where(x > 0, x, xp.zeros_like(x))


def _softplus(xp):
    def softplus(x):
        x = floating(xp, x)
        return xp.where(x > 0, x, xp.zeros_like(x)) + xp.log1p(xp.exp(-xp.abs(x)))

    return softplus


def _silu(xp):
    sigmoid = _sigmoid(xp)

    def silu(x):
        x = floating(xp, x)
        return x * sigmoid(x)

    return silu


def _gelu(xp):
    error = erf(xp)

    def gelu(x):
        x = floating(xp, x)
        return 0.5 * x * (1.0 + error(x * math.sqrt(0.5)))

    return gelu


def _gelu_tanh(xp):
    scale = math.sqrt(2.0 / math.pi)

    def gelu_tanh(x):
        x = floating(xp, x)
        return 0.5 * x * (1.0 + xp.tanh(scale * (x + 0.044715 * x * x * x)))

    return gelu_tanh


def _divide(xp):
    if is_numpy(xp):
        return xp.divide
    return lambda a, b: floating(xp, a) / floating(xp, b)


def _power(xp):
    def power(base, exponent):
        negative = isinstance(exponent, int) and exponent < 0
        if negative or not isinstance(exponent, int):
            base, exponent = common(xp, (base, exponent))
            if xp.isdtype(base.dtype, "integral") and (negative or not bool(xp.all(exponent >= 0))):
                base, exponent = floating(xp, base), floating(xp, exponent)
        if isinstance(exponent, int) and exponent == 2:
            return base * base
        if not is_numpy(xp) and isinstance(exponent, int):
            return base**exponent
        return xp.pow(base, exponent)

    return power


def _named_binary(name: str) -> Callable[[Any], Callable]:
    return lambda xp: getattr(xp, name)


UNARY = (
    ("exp", "the exponential", "np.exp(X)", _named("exp", True)),
    ("log", "the natural logarithm", "np.log(X)", _named("log", True)),
    ("sqrt", "the square root", "np.sqrt(X)", _named("sqrt", True)),
    ("sin", "the sine", "np.sin(X)", _named("sin", True)),
    ("cos", "the cosine", "np.cos(X)", _named("cos", True)),
    ("tan", "the tangent", "np.tan(X)", _named("tan", True)),
    ("tanh", "the hyperbolic tangent", "np.tanh(X)", _named("tanh", True)),
    ("sinh", "the hyperbolic sine", "np.sinh(X)", _named("sinh", True)),
    ("cosh", "the hyperbolic cosine", "np.cosh(X)", _named("cosh", True)),
    ("abs", "the absolute value", "np.abs(X)", _named("abs", False)),
    ("sign", "−1, 0 or 1", "np.sign(X)", _named("sign", False)),
    ("floor", "the largest whole number not above", "np.floor(X)", _named("floor", False)),
    ("ceil", "the smallest whole number not below", "np.ceil(X)", _named("ceil", False)),
    ("gelu", "x Φ(x), with Φ by the error function", "0.5 * X * (1 + erf(X / np.sqrt(2)))", _gelu),
    ("gelu_tanh", "gelu by its tanh approximation",
     "0.5 * X * (1 + np.tanh(np.sqrt(2 / np.pi) * (X + 0.044715 * X**3)))", _gelu_tanh),
    ("silu", "x σ(x)", "X / (1 + np.exp(-X))", _silu),
    ("softplus", "log(1 + exp x)", "np.logaddexp(0, X)", _softplus),
    ("erf", "the error function", "scipy.special.erf(X)", erf),
)  # fmt: skip
for _row in UNARY:
    _unary(*_row)
_unary("σ", "the logistic function 1/(1 + exp(−x))", "1 / (1 + np.exp(-X))", _sigmoid, ("sigmoid",), r"\sigma")
_unary("relu", "max(0, x)", "np.maximum(X, 0)", _relu, ("ReLU",))
_unary("negative", "the negative", "-X", _named("negative", False), latex="-", ascii="-")

BINARY = (
    ("+", "the sum", "X + Y", "add", "+", "+", "add"),
    ("-", "the difference", "X - Y", "subtract", "-", "-", "subtract"),
)
for _name, _meaning, _numpy, _function, _latex, _ascii, _python in BINARY:
    _binary(_name, _meaning, _numpy, _named_binary(_function), (), _latex, _ascii, python=_python)
_binary("/", "the quotient", "X / Y", _divide, (), r"\frac", "/", python="divide")
_binary("^", "the power", "X ** Y", _power, ("pow",), "^", "^", python="pow")
_binary("juxtaposed", "the product, by writing side by side", "X * Y", _named_binary("multiply"), python="multiply")

COMPARISONS = (
    ("=", "whether equal", "X == Y", "equal", "=", "=", "equal"),
    ("≠", "whether different", "X != Y", "not_equal", r"\neq", "!=", "not_equal"),
    ("<", "whether less", "X < Y", "less", "<", "<", "less"),
    ("≤", "whether at most", "X <= Y", "less_equal", r"\leq", "<=", "less_equal"),
    (">", "whether greater", "X > Y", "greater", ">", ">", "greater"),
    ("≥", "whether at least", "X >= Y", "greater_equal", r"\geq", ">=", "greater_equal"),
)
for _name, _meaning, _numpy, _function, _latex, _ascii, _python in COMPARISONS:
    _binary(_name, _meaning, _numpy, _named_binary(_function), (), _latex, _ascii, (False, True), _python)
_binary("∧", "whether both", "X & Y", _named_binary("logical_and"), (), r"\land", "and", (True, True), "logical_and")
_binary("∨", "whether one or both", "X | Y", _named_binary("logical_or"), (), r"\lor", "or", (True, True), "logical_or")


def _boolean(name, signature, meaning, numpy, make, takes, ascii, latex, python):
    register(
        Operator(
            name, "elementwise", signature, elementwise(make), meaning, numpy, SECTION, (), ascii, latex,
            boolean=(takes, True), python=python,
        )
    )  # fmt: skip


_boolean("¬", "->", "whether not", "~X", _named("logical_not", False), True, "not", r"\lnot", "logical_not")
_boolean("odd", "->", "whether odd", "X % 2 == 1", lambda xp: lambda x: x % 2 == 1, False, "odd", r"\text{odd}", "odd")
_boolean("even", "->", "whether even", "X % 2 == 0", lambda xp: lambda x: x % 2 == 0, False, "even", r"\text{even}", "even")


def _where(xp):
    def where(condition, yes, no):
        yes, no = common(xp, (yes, no))
        return xp.where(condition, yes, no)

    return where


def _clip(xp):
    def clip(x, low, high):
        return xp.minimum(xp.maximum(x, low), high)

    return clip


def _three(name, meaning, numpy, make, mixed):
    register(
        Operator(
            name, "elementwise", ", , ->", elementwise(make, mixed), meaning, numpy, SECTION, arity=(3, 3)
        )
    )  # fmt: skip


_three("where", "where(cond, a, b): a where the condition holds, b elsewhere", "np.where(cond, A, B)", _where, False)
_three("clip", "clip(X, low, high): X, but not below low and not above high", "np.clip(X, low, high)", _clip, True)


def _extreme(name: str, pair: str):
    """max and min: over axes with one argument, elementwise with two."""
    over = reduction(lambda xp: lambda array, positions: getattr(xp, name)(array, axis=positions))
    of_two = elementwise(_named_binary(pair))

    def lower(xp, orders, axes, options):
        return (over if axes else of_two)(xp, orders, axes, options)

    return lower


for _name, _pair, _word in (("max", "maximum", "largest"), ("min", "minimum", "smallest")):
    register(
        Operator(
            _name, "reduction", "ax… ->", _extreme(_name, _pair),
            f"the {_word} element over axes, or the {_word} of two arguments",
            f"np.{_name}(X, axis) or np.{_pair}(X, Y)", "§3.3 Reductions", arity=(1, 2),
        )
    )  # fmt: skip
