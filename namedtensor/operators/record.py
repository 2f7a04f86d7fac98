"""Define records of operators, and the registry of all records.

A record contains all information about an operator, including its names, signature, implementation and meaning. The
checker lifts the operator by its signature. The evaluator and the Python functions run `lower`, and the documentation
prints `meaning` and `numpy`.

`lower(b, arguments, axes, options)` defines the computation of an operator in one place. The builder `b` writes the
steps of a plan (see `builder`). An argument is a value of the plan or a plain Python number, and `axes` contains the
axes in the call. The function returns the value of the result. The caller may set two options: `sizes`, the sizes of
axes that the operator creates, and `base`, the first index (1, as in formulas).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from grammar.errors import NotationError

from ..core.axes import AxisSignature, Order, Shape, lift, same, signature
from .builder import ArrayValue, Lower, OperatorBuilder, Write
from .transposes import Transpose

MANY = 1000  # The maximum number of arguments of a variadic operator.


class Example(NamedTuple):
    """An example call of a Python function: the text after the function's name, and the shapes, axes and sizes.

    In the text, `A` is an array with the axes height and width, and `S` is a square matrix.
    """

    written: str
    shapes: tuple[Shape, ...] = ()
    axes: tuple[str, ...] = ()
    sizes: Mapping[str, int] = {}
    order: tuple[str, ...] = ()  # The result's axes in storage order, if they differ from the default.


A: Shape = {"height": 2, "width": 3}
S: Shape = {"row": 2, "column": 2}


Kind = Literal[
    "elementwise", "reduction", "axis_map", "contraction", "window", "index", "creation", "matrix", "structure"
]

Finite = Literal[  # When the result is known to be finite: never, always, or if all operands are finite and …
    "", "always", "of finite", "X of finite or −∞", "Y ≠ 0", "X ≥ 0", "X > 0", "X ≤ 0", "X > 0 ∨ Y ≥ 0"
]
Sign = Literal[  # The known sign of the result. An operator that moves numbers keeps the operands' sign.
    "", "≥ 0", "≥ 0, > 0 of > 0", "≥ 0 of ≥ 0", "≥ 0 of ≥ 0, > 0 of one > 0", "of operands", "of factors"
]

FINITE: dict[str, Any] = {"finite": "of finite"}
MOVES: dict[str, Any] = {**FINITE, "sign": "of operands"}  # For operators that move numbers.
NEVER_NEGATIVE = ("≥ 0", "≥ 0, > 0 of > 0")  # The signs of values that are at least 0.


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of the notation, with its signature and all of its rules.

    `signature` has the paper's form ("ax… -> ax…", "seq -> seq kernel", ", ->"). An elementwise operator does not need
    axes. `arity` is the minimum and the maximum number of arguments. `options` contains the parameters after `;`, such
    as p or eps, and their defaults, by position. `new_sizes` computes the sizes of axes that the operator creates. Its
    arguments are the shapes, the axes in the call, and the known sizes.

    `differentials` contains the contribution of each argument in the notation, such as ("∂X ⊙_{ax} Y", "X ⊙_{ax}
    ∂Y"). The arguments are X, Y and Z over `ax` or the axes of the signature. A contribution is "0" if the argument
    does not affect the differential. The tuple is empty if the differentials are unknown or follow from the prelude. If
    an operator accepts one or two arguments, the first contribution is also the differential for one argument.

    `kind` groups operators that are checked in the same way. `definition` computes the operator in the reference
    evaluator. It accepts plain numbers, lists of numbers for a reduction or a function along axes, or tensors with only
    the axes of the signature. If it is missing, the evaluator uses the operator's line in the prelude. The other fields
    are information for the callers of an operator.
    """

    name: str
    kind: Kind
    signature: str
    lower: Lower
    meaning: str
    numpy: str
    section: str
    aliases: tuple[str, ...] = ()
    ascii: str = ""
    latex: str = ""
    arity: tuple[int, int] = (1, 1)
    options: tuple[tuple[str, Any], ...] = ()
    new_sizes: Callable[..., Mapping[str, Any]] | None = None
    boolean: tuple[bool, bool] = (False, False)  # Whether its operands are Boolean, and whether its result is Boolean.
    python: str = ""  # the Python function's name, if it differs
    transpose: Transpose | None = None  # The backward rule of a linear operator (see `transposes`).
    joins: bool = False  # Whether it joins its operands, so that its differential joins their differentials.
    term: str = ""  # The operator of its terms, if the name differs.
    differentials: tuple[str, ...] = ()
    complex: bool = False  # Whether it accepts complex numbers, which have no order.
    definition: Callable[..., Any] | None = None
    of_nothing: bool = False  # Whether it has a value along an axis of size 0.
    folded: Callable[..., Any] | None = None  # Computes its result for plain numbers during a check.
    heavy: bool = False  # Whether its cost is comparable to a product, so that tiling is worthwhile.
    # Whether NumPy warns about correct results, such as −∞ or a handled overflow of a square.
    warns: bool = False
    finite: Finite = ""
    sign: Sign = ""
    parity: Literal["", "even", "odd"] = ""  # For a function of one number: f(−x) = f(x) or −f(x).
    total: int | None = None  # The sum of its result along its axes, if it does not depend on the operands.
    picks: bool = False  # Whether its result is 1 or a fraction of 1 at selected elements, and 0 elsewhere.
    chooses: bool = False  # Whether its first operand is a condition that selects one of the others.
    analytic: bool = False  # Whether it is analytic and not constantly zero, so that it is almost never zero.
    method: bool = True  # Whether tensors have a method for it.
    example: Example | None = field(default=None, compare=False)  # An example call, if the signature does not suffice.
    moves: bool = False  # Whether it moves elements along its axes, so that their labels no longer apply.
    counts_from_zero: bool = False  # Whether its Python function uses 0-based indices.

    @property
    def lifted(self) -> AxisSignature:
        """The parsed signature. The signature of an operator without operands has no inputs."""
        result = signature(self.signature)
        return result if self.arity[1] else result._replace(inputs=())

    def lifted_over(self, arguments: int) -> AxisSignature:
        """Return the signature. For a variadic operator, it has one input per argument."""
        result = self.lifted
        return result if self.arity[1] < MANY else result._replace(inputs=result.inputs[:1] * arguments)

    @property
    def new_formals(self) -> list[str]:
        """The axes in the signature that no argument has. The caller specifies their sizes."""
        if self.kind == "structure":
            return []
        taken = {formal for group in self.lifted.inputs for formal in group}
        return [formal for formal in self.lifted.formals if formal not in taken]

    def result_shape(
        self,
        shapes: tuple[Shape, ...],
        axes: tuple[str, ...],
        new_sizes: Mapping[str, Any] | None,
        unify: Callable[[Any, Any], bool] = same,
    ) -> dict[str, Any]:
        """Return the shape of a call's result. Raise ShapeMismatchError if the arguments do not fit the signature."""
        return lift(self.lifted_over(len(shapes)), axes, shapes, unify, new_sizes, differing=self.kind == "structure")

    @property
    def python_name(self) -> str:
        """The name of the Python function."""
        return self.python or self.name


REGISTRY: dict[str, Operator] = {}


def register(operator: Operator) -> Operator:
    """Register a record under each of its names, and return it. Raise ValueError if a name is already in use."""
    operator = operator if operator.complex else replace(operator, lower=refuse_complex(operator))
    for name in (operator.name, *operator.aliases):
        if name in REGISTRY:
            raise ValueError(f"two operators are called {name}")
        REGISTRY[name] = operator
    return operator


def refuse_complex(operator: Operator) -> Lower:
    """Extend an operator's lowering rule so that it raises NotationError (405) for complex operands."""

    def lower(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
        for argument in arguments:
            if hasattr(argument, "order") and b.kind(argument) == "c":
                raise NotationError(
                    405, f"{operator.name} expects real numbers, got {argument.dtype}",
                    hint="pass its absolute value, or its real and imaginary parts separately",
                )  # fmt: skip
        return operator.lower(b, arguments, axes, options)

    return lower


class InvalidIndexError(IndexError):
    """Raised at run time for an index that is out of range or not an integer."""

    def __init__(self, value: Any, size: int | None):
        super().__init__(value, size)
        self.index, self.size = value, size


CALLERS = ("sizes", "base")


def own_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the operator itself, without the options that callers add."""
    return {name: value for name, value in options.items() if name not in CALLERS}


def elementwise(write: Write, rule: str = "numbers") -> Lower:
    """Return the rule that lowers a function of numbers over the union of the axes (paper §3.2)."""

    def lower(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
        return write(b, *b.coerced(arguments, rule), **own_options(options))

    return lower


def lower_over_axes(write: Write, rule: str = "numbers") -> Lower:
    """Return the rule that lowers a function over some axes (paper §3.3), given as write(b, x, axes)."""

    def lower(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
        (x,) = b.coerced(arguments, rule)
        return write(b, x, axes, **own_options(options))

    return lower


def get_primitive(primitive: str) -> Write:
    """Return the function that adds the elementwise primitive of this name to a plan."""

    def write(b: OperatorBuilder, *arguments: Any) -> ArrayValue:
        return b.elementwise(primitive, *arguments)

    return write


def countable(b: OperatorBuilder, x: Any) -> Any:
    """Cast integers to the default integer dtype if the library cannot compare them or use them as indices."""
    return b.cast(x, b.target.default_whole) if x.dtype in b.target.stored else x
