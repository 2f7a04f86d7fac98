"""Define elementwise operators, which lift functions of numbers over the union of the axes (paper §3.2).

Each row of a table defines an operator, starting with its name, its meaning and the equivalent NumPy expression.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from ..core.axes import Order
from . import definitions, transposes
from .builder import OfOne, OperatorBuilder, Write
from .plain_numbers import conjunction, disjunction, power, product, quotient
from .record import FINITE, A, Example, Operator, elementwise, get_primitive, register

SECTION = "§3.2 Elementwise operations and broadcasting"


def _unary(name: str, meaning: str, numpy: str, write: Write, rule: str = "numbers", **more: Any) -> Operator:
    lower = elementwise(write, rule)
    return register(Operator(name, "elementwise", "->", lower, meaning, numpy, SECTION, **more))


def _binary(name: str, meaning: str, numpy: str, write: Write, rule: str = "numbers", **more: Any) -> Operator:
    lower = elementwise(write, rule)
    return register(Operator(name, "elementwise", ", ->", lower, meaning, numpy, SECTION, arity=(2, 2), **more))


POSITIVE: dict[str, Any] = {"sign": "≥ 0"}
EVEN: dict[str, Any] = {"parity": "even"}
ODD: dict[str, Any] = {"parity": "odd"}


# ------------------------------------------------------------------------------------------------------ of one number
def _sigmoid(b: OperatorBuilder, x: Any):
    """Compute the sigmoid.

    For libraries other than NumPy, do not use |x|, because its derivative at zero would be wrong.
    """

    def write():
        if b.target.name != "numpy":
            return b.exp(b.negative(b.logaddexp(b.negative(x), 0)))
        small = b.exp(b.negative(b.abs(x)))
        return b.divide(b.where(b.greater_equal(x, 0), 1.0, small), b.add(small, 1.0))

    return b.native_or("sigmoid", (x,), write)


def _silu(b: OperatorBuilder, x: Any):
    return b.native_or("silu", (x,), lambda: b.multiply(x, _sigmoid(b, x)))


def _relu(b: OperatorBuilder, x: Any):
    def write():
        return b.maximum(x, 0) if b.target.name == "numpy" else b.where(b.less_equal(x, 0), 0, x)

    return b.native_or("relu", (x,), write)


def _softplus(b: OperatorBuilder, x: Any):
    """Compute max(x, 0) + log(1 + exp −|x|), which never overflows."""

    def write():
        if b.target.name != "numpy":
            return b.logaddexp(x, 0)
        return b.add(b.maximum(x, 0), b.log1p(b.exp(b.negative(b.abs(x)))))

    return b.native_or("softplus", (x,), write)


def _gelu(b: OperatorBuilder, x: Any):
    def write():
        return b.multiply(b.multiply(b.add(b.erf(b.multiply(x, math.sqrt(0.5))), 1.0), 0.5), x)

    return b.native_or("gelu", (x,), write)


def _gelu_tanh(b: OperatorBuilder, x: Any):
    scale = math.sqrt(2.0 / math.pi)

    def write():
        inner = b.multiply(b.add(b.multiply(b.multiply(x, x), scale * 0.044715), scale), x)
        return b.multiply(b.multiply(b.add(b.tanh(inner), 1.0), 0.5), x)

    return b.native_or("gelu_tanh", (x,), write)


NOTHING: dict[str, Any] = {}
ANALYTIC = (
    ("exp", "the exponential", "np.exp(X)", get_primitive("exp"),
     "exp X ⊙ ∂X", math.exp, definitions.exp, {**POSITIVE, "finite": "X ≤ 0"}),
    ("log", "the natural logarithm", "np.log(X)", get_primitive("log"),
     "∂X / X", math.log, definitions.log, {"finite": "X > 0"}),
    ("sqrt", "the square root", "np.sqrt(X)", get_primitive("sqrt"),
     "∂X / (2 √X)", math.sqrt, definitions.total(math.sqrt), {"sign": "≥ 0, > 0 of > 0", "finite": "X ≥ 0"}),
    ("sin", "the sine", "np.sin(X)", get_primitive("sin"),
     "cos X ⊙ ∂X", math.sin, definitions.total(math.sin), {**FINITE, **ODD}),
    ("cos", "the cosine", "np.cos(X)", get_primitive("cos"),
     "−sin X ⊙ ∂X", math.cos, definitions.total(math.cos), {**FINITE, **EVEN}),
    ("tan", "the tangent", "np.tan(X)", get_primitive("tan"),
     "∂X / cos(X)^2", None, definitions.total(math.tan), ODD),
    ("tanh", "the hyperbolic tangent", "np.tanh(X)", get_primitive("tanh"),
     "(1 − tanh(X)^2) ⊙ ∂X", None, math.tanh, {**FINITE, **ODD}),
    ("sinh", "the hyperbolic sine", "np.sinh(X)", get_primitive("sinh"),
     "cosh X ⊙ ∂X", None, definitions.sinh, ODD),
    ("cosh", "the hyperbolic cosine", "np.cosh(X)", get_primitive("cosh"),
     "sinh X ⊙ ∂X", None, definitions.cosh, {**POSITIVE, **EVEN}),
)  # fmt: skip
for _name, _meaning, _numpy, _write, _differential, _folded, _definition, _known in ANALYTIC:
    _unary(
        _name, _meaning, _numpy, _write, "floats", differentials=(_differential,), complex=True, folded=_folded,
        definition=_definition, analytic=True, aliases=("ln",) if _name == "log" else (), **_known,
    )  # fmt: skip

INVERSE = (
    ("arctan", "the inverse tangent", "np.arctan(X)", math.atan, "∂X / (1 + X^2)"),
    ("arcsin", "the inverse sine", "np.arcsin(X)", definitions.total(math.asin), "∂X / √(1 − X^2)"),
    ("arccos", "the inverse cosine", "np.arccos(X)", definitions.total(math.acos), "−∂X / √(1 − X^2)"),
    ("log1p", "log(1 + x), accurate for small x", "np.log1p(X)", definitions.log1p, "∂X / (1 + X)"),
    ("expm1", "exp(x) − 1, accurate for small x", "np.expm1(X)", definitions.expm1, "exp X ⊙ ∂X"),
)
for _name, _meaning, _numpy, _definition, _differential in INVERSE:
    _unary(
        _name, _meaning, _numpy, get_primitive(_name), "floats", differentials=(_differential,), definition=_definition, analytic=True,
        **({**FINITE, **ODD} if _name == "arctan" else NOTHING),
    )  # fmt: skip


def _logsigmoid(b: OperatorBuilder, x: Any):
    return b.negative(_softplus(b, b.negative(x)))


def _leaky(b: OperatorBuilder, x: Any):
    return b.where(b.greater(x, 0), x, b.multiply(x, 0.01))


def _elu(b: OperatorBuilder, x: Any):
    """Compute elu without min(x, 0), because libraries halve its derivative at 0."""
    positive = b.greater(x, 0)
    return b.where(positive, x, b.expm1(b.where(positive, 0, x)))


BENT = (
    ("logsigmoid", "log σ(x)", "-np.logaddexp(0, -X)", _logsigmoid, ()),
    ("leaky_relu", "x above zero, x / 100 below", "np.where(X > 0, X, 0.01 * X)", _leaky, ("{ ∂X if X > 0; 0.01 ∂X otherwise }",)),
    ("elu", "x above zero, exp(x) − 1 below", "np.where(X > 0, X, np.expm1(np.minimum(X, 0)))", _elu, ("{ 1 if X > 0; exp X otherwise } ⊙ ∂X",)),
)  # fmt: skip
for _name, _meaning, _numpy, _write, _differentials in BENT:
    _unary(
        _name, _meaning, _numpy, _write, "floats", differentials=_differentials, analytic=_name == "logsigmoid", **FINITE,
    )  # fmt: skip

OF_FLOATS = (
    ("gelu", "x Φ(x), where Φ is the standard normal distribution function", "0.5 * X * (1 + erf(X / np.sqrt(2)))", _gelu,
     "((1 + erf(X / √2)) / 2 + X ⊙ exp(−X^2 / 2) / √(2 π)) ⊙ ∂X", None),
    ("gelu_tanh", "the tanh approximation of gelu",
     "0.5 * X * (1 + np.tanh(np.sqrt(2 / np.pi) * (X + 0.044715 * X**3)))", _gelu_tanh,
     # Multiply X ⊙ X by the slope of tanh first, which reaches 0 before X ⊙ X overflows.
     "((1 + tanh(√(2/π) (X + 0.044715 X^3))) / 2 + (X ⊙ (1 − tanh(√(2/π) (X + 0.044715 X^3))^2) + "
     "X ⊙ (1 − tanh(√(2/π) (X + 0.044715 X^3))^2) ⊙ X ⊙ X ⊙ 0.134145) ⊙ √(2/π) / 2) ⊙ ∂X", None),
    ("silu", "x σ(x)", "X / (1 + np.exp(-X))", _silu,
     "σ(X) ⊙ (1 + X ⊙ (1 − σ(X))) ⊙ ∂X", None),
    ("softplus", "log(1 + exp x)", "np.logaddexp(0, X)", _softplus,
     "σ(X) ⊙ ∂X", definitions.softplus),
    ("erf", "the error function", "scipy.special.erf(X)", get_primitive("erf"),
     "2 exp(−X^2) ⊙ ∂X / √π", math.erf),
)  # fmt: skip
for _name, _meaning, _numpy, _write, _differential, _definition in OF_FLOATS:
    _unary(
        _name, _meaning, _numpy, _write, "floats", differentials=(_differential,), definition=_definition, heavy=True,
        analytic=True, sign="≥ 0" if _name == "softplus" else "", parity="odd" if _name == "erf" else "", **FINITE,
    )  # fmt: skip
_unary(
    "σ", "the logistic function 1/(1 + exp(−x))", "1 / (1 + np.exp(-X))", _sigmoid, "floats",
    aliases=("sigmoid",), ascii="sigmoid", latex=r"\sigma", python="sigmoid",
    differentials=("σ(X) ⊙ (1 − σ(X)) ⊙ ∂X",), heavy=True,
    analytic=True, **FINITE, **POSITIVE,
)  # fmt: skip


def _make_rounding(primitive: str) -> OfOne:
    return lambda b, x: x if b.kind(x) in "iu" else b.elementwise(primitive, x)


OF_NUMBERS = (
    ("sign", "−1, 0 or 1", "np.sign(X)", get_primitive("sign"), None, definitions.sign),
    ("floor", "the largest integer that is not greater", "np.floor(X)", _make_rounding("floor"), math.floor, definitions.floor),
    ("ceil", "the smallest integer that is not less", "np.ceil(X)", _make_rounding("ceil"), math.ceil, definitions.ceil),
)  # fmt: skip
for _name, _meaning, _numpy, _write, _folded, _definition in OF_NUMBERS:
    _unary(
        _name, _meaning, _numpy, _write, differentials=("0",), folded=_folded, definition=_definition,
        parity="odd" if _name == "sign" else "", **FINITE,
    )  # fmt: skip
_unary(
    "abs",
    "the absolute value",
    "np.abs(X)",
    get_primitive("abs"),
    differentials=("sign(X) ⊙ ∂X",),
    complex=True,
    folded=abs,
    definition=abs,
    **EVEN,
    **FINITE,
    **POSITIVE,
)


def _nearest(b: OperatorBuilder, x: Any):
    """Round to the nearest integer. Halves are rounded to even."""
    if b.kind(x) in "iu":
        return x
    below = b.floor(x)
    away = b.subtract(x, below)
    up = b.logical_or(b.greater(away, 0.5), b.logical_and(b.equal(away, 0.5), b.equal(b.remainder(below, 2), 1)))
    return b.where(b.isfinite(x), b.where(up, b.add(below, 1), below), x)


_unary("round", "the nearest integer; ties go to the even one", "np.round(X)", _nearest, differentials=("0",), definition=definitions.nearest, **FINITE)  # fmt: skip
_unary(
    "relu", "max(0, x)", "np.maximum(X, 0)", _relu, aliases=("ReLU",), differentials=("𝕀[X > 0] ⊙ ∂X",),
    **FINITE, **POSITIVE,
)  # fmt: skip
_unary(
    "negative",
    "the negative",
    "-X",
    get_primitive("negative"),
    ascii="-",
    latex="-",
    differentials=("−∂X",),
    complex=True,
    folded=operator.neg,
    definition=operator.neg,
    transpose=transposes.transpose_negative,
    **FINITE,
)


def _with_rest(rest: int) -> OfOne:
    return lambda b, x: b.equal(b.remainder(x, 2), rest)


def _has_rest(rest: int) -> Callable[[Any], bool]:
    return lambda number: number % 2 == rest


for _name, _rest in (("odd", 1), ("even", 0)):
    _unary(
        _name, f"whether a number is {_name}", f"X % 2 == {_rest}", _with_rest(_rest),
        boolean=(False, True), ascii=_name, latex=rf"\text{{{_name}}}", differentials=("0",), folded=_has_rest(_rest),
        definition=_has_rest(_rest),
    )  # fmt: skip


# ----------------------------------------------------------------------------------------------------- of two numbers
def _power(b: OperatorBuilder, x: Any, y: Any):
    """Compute x^y, or return x itself if y is the number 1."""
    return x if type(y) is int and y == 1 and hasattr(x, "order") else b.power(x, y)


ARITHMETIC = (
    ("+", "the sum", "X + Y", get_primitive("add"), "numbers", "+", "+", "add", ("∂X", "∂Y"),
     operator.add, operator.add,
     {"transpose": transposes.transpose_sum, "sign": "≥ 0 of ≥ 0, > 0 of one > 0", **FINITE}),
    ("-", "the difference", "X - Y", get_primitive("subtract"), "numbers", "-", "-", "subtract", ("∂X", "−∂Y"),
     operator.sub, operator.sub,
     {"transpose": transposes.transpose_difference, **FINITE}),
    ("/", "the quotient", "X / Y", get_primitive("divide"), "floats", "/", r"\frac", "divide",
     ("∂X / Y", "−X / Y ⊙ ∂Y / Y"), quotient, definitions.divide,
     {"finite": "Y ≠ 0", "sign": "of factors"}),
    ("juxtaposed", "the product of juxtaposed factors", "X * Y", get_primitive("multiply"), "numbers", "", "", "multiply",
     ("∂X ⊙ Y", "X ⊙ ∂Y"), product, operator.mul, {"term": "⊙"}),
)  # fmt: skip
for (
    _name,
    _meaning,
    _numpy,
    _make,
    _rule,
    _ascii,
    _latex,
    _python,
    _differentials,
    _folded,
    _definition,
    _more,
) in ARITHMETIC:
    _binary(
        _name, _meaning, _numpy, _make, _rule, ascii=_ascii, latex=_latex, python=_python, differentials=_differentials,
        complex=True, folded=_folded, definition=_definition, method=False, **_more,
    )  # fmt: skip
_binary(
    "^", "the power", "X ** Y", _power, aliases=("pow",), ascii="^", latex="^", python="pow", complex=True, folded=power,
    definition=definitions.power, finite="X > 0 ∨ Y ≥ 0",
    differentials=("{ Y ⊙ X^{Y − 1} if Y ≠ 0; 0 otherwise } ⊙ ∂X", "{ log(X) ⊙ X^Y if X > 0; 0 otherwise } ⊙ ∂Y"),
)  # fmt: skip


_binary(
    "mod", "the remainder of X divided by Y: x − y ⌊x / y⌋", "np.mod(X, Y)", get_primitive("remainder"), differentials=("∂X", "−floor(X / Y) ⊙ ∂Y"),
    definition=definitions.remainder,
)  # fmt: skip

COMPARISONS = (
    ("=", "whether equal", "X == Y", "equal", "=", "=", operator.eq),
    ("≠", "whether different", "X != Y", "not_equal", "!=", r"\neq", operator.ne),
    ("<", "whether less", "X < Y", "less", "<", "<", operator.lt),
    ("≤", "whether at most", "X <= Y", "less_equal", "<=", r"\leq", operator.le),
    (">", "whether greater", "X > Y", "greater", ">", ">", operator.gt),
    ("≥", "whether at least", "X >= Y", "greater_equal", ">=", r"\geq", operator.ge),
)
for _name, _meaning, _numpy, _function, _ascii, _latex, _folded in COMPARISONS:
    _binary(
        _name, _meaning, _numpy, get_primitive(_function), "compared", ascii=_ascii, latex=_latex, boolean=(False, True), python=_function,
        differentials=("0", "0"), complex=_name in "=≠", folded=_folded,
        definition=_folded, method=False,
    )  # fmt: skip

LOGIC = (
    ("∧", "whether both hold", "X & Y", "logical_and", "and", r"\land", conjunction, Example("(A > 2, A < 5)", (A, A))),
    (
        "∨",
        "whether one holds, or both",
        "X | Y",
        "logical_or",
        "or",
        r"\lor",
        disjunction,
        Example("(A < 2, A > 5)", (A, A)),
    ),
)
TRUTHS: dict[str, Any] = {"rule": "as they are", "boolean": (True, True), "differentials": ("0", "0")}
for _name, _meaning, _numpy, _function, _ascii, _latex, _folded, _example in LOGIC:
    _binary(
        _name, _meaning, _numpy, get_primitive(_function), ascii=_ascii, latex=_latex, python=_function, folded=_folded,
        definition=_folded, method=False, example=_example, **TRUTHS
    )  # fmt: skip
_unary(
    "¬",
    "logical negation",
    "~X",
    get_primitive("logical_not"),
    ascii="not",
    latex=r"\lnot",
    python="logical_not",
    folded=operator.not_,
    definition=operator.not_,
    example=Example("(A > 2)", (A,)),
    **TRUTHS,
)


# --------------------------------------------------------------------------------------------------- of three numbers
def _where(b: OperatorBuilder, condition: Any, x: Any, y: Any):
    x, y = b.common((x, y), numbers=True)
    return b.where(condition, x, y)


def _clip(b: OperatorBuilder, x: Any, low: Any, high: Any):
    return b.minimum(b.maximum(x, low), high)


def _lower_where(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
    return _where(b, b.array(arguments[0]), *arguments[1:])


_THREE: dict[str, Any] = {"section": SECTION, "arity": (3, 3)}
register(
    Operator(
        "where", "elementwise", ", , ->", _lower_where,
        "where(cond, a, b) is a where the condition holds, and b elsewhere", "np.where(cond, A, B)",
        differentials=("0", "where(X, ∂Y, 0)", "where(X, 0, ∂Z)"), complex=True,
        method=False, chooses=True, example=Example("(A > 2, A, 0)", (A, A, {})), **FINITE, **_THREE,
    )
)  # fmt: skip
register(
    Operator(
        "clip", "elementwise", ", , ->", elementwise(_clip),
        "clip(X, low, high) is X, no less than low and no more than high", "np.clip(X, low, high)",
        differentials=("𝕀[X ≥ Y ∧ X ≤ Z] ⊙ ∂X", "𝕀[X < Y ∧ Y ≤ Z] ⊙ ∂Y", "𝕀[X > Z ∨ Y > Z] ⊙ ∂Z"), **FINITE,
        **_THREE,
    )
)  # fmt: skip
