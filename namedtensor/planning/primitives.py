"""The instruction set of plans, and its verifier, `verify`.

Each primitive has one row with its arity and its shape. A comment in the row describes its options and its meaning.

`verify` checks the invariants of every plan. Each argument exists before its use, each primitive has a row, and each
result has the shape that the row infers. `verify_memory` checks in-place reuse, so that overwritten memory is never
read. In tests, both functions check every plan; outside tests, neither function runs.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..core.extents import Extent, Size
from .memory import VIEWS, Workspace, find_donated
from .plan import Plan, PlanValue, Scalar, Step

Shape = tuple[int, ...]
Shaped = Callable[[list[Shape], dict[str, Any]], "Shape | None"]  # None if the row does not determine the shape
MANY = sys.maxsize


# ---------------------------------------------------------------------------------------------------------- the shapes
def broadcast(shapes: list[Shape], options: dict[str, Any]) -> Shape | None:
    """Return the shape of an elementwise result. The shapes are aligned at the right, and sizes must be equal or 1."""
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    result = []
    for sizes in zip(*padded):
        wide = set(sizes) - {1}
        if len(wide) > 1:
            raise ValueError(f"the sizes {sizes} do not broadcast")
        result.append(wide.pop() if wide else 1)
    return tuple(result)


def same(shapes: list[Shape], options: dict[str, Any]) -> Shape | None:
    return shapes[0]


def none(shapes: list[Shape], options: dict[str, Any]) -> Shape | None:
    return ()


def shape_from_options(shapes: list[Shape], options: dict[str, Any]) -> Shape | None:
    return tuple(options["sizes"])


def not_inferred(shapes: list[Shape], options: dict[str, Any]) -> Shape | None:
    return None


def length(start: Size, stop: Size) -> Size:
    """Return the number of integers from `start` (inclusive) to `stop` (exclusive)."""
    return stop - start if isinstance(stop - start, Extent) else max(0, stop - start)


def reshaped(shapes: list[Shape], options: dict[str, Any]) -> Shape | None:
    if math.prod(shapes[0]) != math.prod(options["sizes"]):
        raise ValueError(f"{shapes[0]} has not as many numbers as {options['sizes']}")
    return tuple(options["sizes"])


def transposed(shapes: list[Shape], options: dict[str, Any]) -> Shape | None:
    if sorted(options["moves"]) != list(range(len(shapes[0]))):
        raise ValueError(f"{options['moves']} is not an order of {len(shapes[0])} axes")
    return tuple(shapes[0][move] for move in options["moves"])


def reduced(shapes: list[Shape], options: dict[str, Any]) -> Shape | None:
    (shape,), at = shapes, options["at"]
    places = range(len(shape)) if at is None else at if isinstance(at, tuple) else (at,)
    if options["keep"]:
        return tuple(1 if index in places else size for index, size in enumerate(shape))
    return tuple(size for index, size in enumerate(shape) if index not in places)


def expanded(shapes: list[Shape], options: dict[str, Any]) -> Shape | None:
    sizes = iter(shapes[0])
    return tuple(next(sizes) if is_kept else 1 for is_kept in options["kept"])


def picked(shapes: list[Shape], options: dict[str, Any]) -> Shape | None:
    return tuple(size for size, position in zip(shapes[0], options["places"]) if position is None)


def product(shapes: list[Shape], options: dict[str, Any]) -> Shape | None:
    """Return the shape of a product of matrices and vectors, according to the rules of `dot`."""
    left, right = shapes
    summed = right[-2:][0]  # the last but one, the only one of a vector
    if left[-1] != summed:
        raise ValueError(f"{left} and {right} have no product")
    return (*left[:-1], *right[:-2], *right[-1:]) if len(right) > 1 else left[:-1]


def shape_of_stacked_product(shapes: list[Shape], options: dict[str, Any]) -> Shape | None:
    left, right = shapes
    if left[-1] != right[-2]:
        raise ValueError(f"{left} and {right} have no product")
    outer = broadcast([left[:-2], right[:-2]], {})
    return (*(outer or ()), left[-2], right[-1])


def vectors(shapes: list[Shape], options: dict[str, Any]) -> Shape | None:
    return (broadcast(shapes, {}) or ())[:-1]


def joined(shapes: list[Shape], options: dict[str, Any]) -> Shape | None:
    at = options["at"]
    return (*shapes[0][:at], sum(shape[at] for shape in shapes), *shapes[0][at + 1 :])


def shape_with_new_axis(shapes: list[Shape], options: dict[str, Any]) -> Shape | None:
    return (len(shapes), *shapes[0])


def of_rows(shapes: list[Shape], options: dict[str, Any]) -> Shape | None:
    return shapes[0][:-1]


def infer_matrix_shape(shapes: list[Shape], options: dict[str, Any]) -> Shape | None:
    return shapes[0][:-2]


# ------------------------------------------------------------------------------------------------------------ the table
class Primitive(NamedTuple):
    """An instruction. `arguments` is the minimum and maximum number of arguments; `shape` infers the result shape."""

    name: str
    arguments: tuple[int, int]
    shape: Shaped


NONE, ONE, TWO, THREE, SEVERAL = (0, 0), (1, 1), (2, 2), (3, 3), (1, MANY)
UNARY = (
    "exp log log1p expm1 sqrt sin cos tan arctan arcsin arccos tanh sinh cosh abs sign floor ceil negative logical_not isfinite erf gelu gelu_tanh "
    "silu softplus sigmoid relu lgamma exact_abs"
).split()
BINARY = (
    "add subtract multiply divide power remainder maximum minimum equal not_equal less less_equal greater greater_equal "
    "logical_and logical_or logaddexp exact_add exact_subtract"
).split()
REDUCTIONS = "sum prod max min any all mean exact_sum".split()
ROWS = (
    *(Primitive(name, ONE, same) for name in UNARY),  # this function of each number
    *(Primitive(name, TWO, broadcast) for name in BINARY),  # this function of each pair of numbers
    *(Primitive(name, ONE, reduced) for name in REDUCTIONS),  # over the axes `at`, which stay with size 1 if `keep` is set
    Primitive("where", THREE, broadcast),  # the second argument if the first is true, else the third
    # inputs and constants
    Primitive("constant", NONE, none),  # one `number`
    Primitive("numbers", NONE, shape_from_options),  # the numbers of a literal
    Primitive("ones", NONE, lambda shapes, options: (options["size"],)),  # a vector of ones
    Primitive("arange", NONE, lambda shapes, options: (length(options["start"], options["stop"]),)),  # from `start` on, before `stop`
    Primitive("eye", NONE, lambda shapes, options: (options["size"],) * 2),  # the identity matrix
    Primitive("as_array", ONE, none),  # a plain number as an array without axes
    # dtypes and memory
    Primitive("cast", ONE, same),  # the array in the dtype `to`
    Primitive("exact_cast", ONE, same),  # the array in the dtype `to`, or a failure if `to` cannot represent an element
    Primitive("contiguous", ONE, same),  # the array, dense in memory
    Primitive("same", ONE, same),  # the array with renamed axes, which needs no line of source text
    # axes
    Primitive("transpose", ONE, transposed),  # the axes in the order of `moves`
    Primitive("reshape", ONE, reshaped),  # the same numbers, row-major, in other `sizes`
    Primitive("expand", ONE, expanded),  # a new axis of size 1 wherever `kept` is false
    Primitive("broadcast", ONE, shape_from_options),  # repeated along axes of size 1 and new ones
    Primitive("unfold", ONE, not_inferred),  # the windows of `size` elements along the axis `at`, along a new last axis
    # parts and joins
    Primitive("pick", ONE, picked),  # the elements at one position along each axis that has a position
    Primitive("head", ONE, lambda shapes, options: (*shapes[0][:-1], options["size"])),  # the first `size` of the last axis
    Primitive("part", ONE, lambda shapes, options: (*shapes[0][:-1], options["stop"] - options["start"])),  # a slice of the last axis
    Primitive("concat", SEVERAL, joined),  # one after the other along the axis `at`
    Primitive("stack", SEVERAL, shape_with_new_axis),  # side by side along a new first axis
    Primitive("take", TWO, shape_from_options),  # the elements of the axis `at` at the positions
    Primitive("put", THREE, lambda shapes, options: shapes[0]),  # the first array, in which the second replaces one slice along the axis `at`; the third is its index, counted from `first`
    Primitive("scatter_add", TWO, shape_from_options),  # zeros, and each number added to the element of the axis `at` at its position
    Primitive("take_along", TWO, lambda shapes, options: shapes[1]),  # the elements of the last axis at the positions, row by row
    Primitive("item", ONE, not_inferred),  # the result of a step of several results, by its number `at`
    # products
    Primitive("dot", TWO, product),  # the product of matrices and vectors
    Primitive("matmul", TWO, shape_of_stacked_product),  # a stack of products of matrices
    Primitive("vecdot", TWO, vectors),  # a stack of products of vectors, over the last axis
    Primitive("multiply_transposed", (2, 3), lambda shapes, options: (*shapes[0][:-1], shapes[1][0])),  # X Wᵀ in the dtype of X; W may contain integers, and a scale for each row of W may follow
    Primitive("addmm", THREE, lambda shapes, options: (*shapes[0][:-1], shapes[1][0])),  # X Wᵀ + b, the library's linear map
    # along axes
    Primitive("cumsum", ONE, same),  # the sums up to each element
    Primitive("exact_cumsum", ONE, same),  # the sums up to each element, or a failure if the dtype cannot represent one
    Primitive("cumprod", ONE, same),  # the products up to each element
    Primitive("sort", ONE, same),  # ascending along the axis `at`
    Primitive("ascending", ONE, same),  # the positions that sort the last axis in ascending order; equal elements keep their order, and nan is last
    Primitive("descending", ONE, same),  # the positions that sort the last axis in descending order, stable
    Primitive("argmax", ONE, lambda shapes, options: shapes[0][:-1]),  # the first position of the largest element along the last axis
    Primitive("softmax", ONE, same),  # the library's softmax
    Primitive("shifted", (3, 3), same),  # the sums of exp x `along` axes. If a sum is below 1 or very large, exp(x − max x) replaces the exponentials of its row in place
    Primitive("standardize", THREE, same),  # x / √(∑ x² / n + ε), with the sum `along` axes
    Primitive("normalize", (4, 4), same),  # a product over sums. If it overflows, the factors are divided first
    Primitive("normalize_slices", (3, MANY), same),  # the same for sums over slices. Otherwise, the inner `plan` computes all scores
    Primitive("logsoftmax", ONE, same),  # the library's logarithm of softmax
    Primitive("layer_norm", (1, 3), same),  # the library's layer norm over the last axes
    Primitive("attention", (3, 4), lambda shapes, options: (*shapes[0][:-1], shapes[2][-1])),  # the library's scaled dot-product attention
    # matrices
    Primitive("det", ONE, infer_matrix_shape),  # the determinant of the last two axes
    Primitive("logdet", ONE, infer_matrix_shape),  # the logarithm of the absolute determinant of the last two axes
    Primitive("trace", ONE, infer_matrix_shape),  # the sum of the diagonal of the last two axes
    Primitive("inv", ONE, same),  # the inverse of the last two axes
    Primitive("cofactors", ONE, same),  # the derivative of the determinant
    Primitive("cholesky", ONE, same),  # the lower Cholesky factor of the last two axes
    Primitive("eigvalsh", ONE, of_rows),  # the eigenvalues of the last two axes, ascending
    Primitive("eigh", ONE, same),  # the eigenvectors of the last two axes, as columns, each with a positive largest component
    Primitive("expm", ONE, same),  # the exponential of the matrices of the last two axes
    # primitives that fail depending on data
    Primitive("positions", ONE, same),  # indices from `base`, converted to positions from 0 and checked to be in range
    Primitive("whole_positions", ONE, same),  # floats converted to integers, or a failure if one is not an integer
    Primitive("covered", ONE, none),  # fails if no case holds
    # functions within
    Primitive("python", (0, MANY), not_inferred),  # a user's Python function
    Primitive("placed", ONE, same),  # the array on the devices that the function `number` places it on
    Primitive("keep_in_range", SEVERAL, same),  # the first argument, or the inner `plan` of the last arguments if the first one or one of the next `made` arguments is out of range
    Primitive("tiling", SEVERAL, shape_from_options),  # the results of the inner `plan` for all tiles, assembled
    Primitive("slices", SEVERAL, not_inferred),  # the results of the inner `plan` for all slices, combined
    Primitive("loop", (0, MANY), not_inferred),  # the inner `plan` for each step: the final states, then the states of all steps, as arrays if `kept`, as lists if `listed`
)  # fmt: skip
PRIMITIVES: Mapping[str, Primitive] = {row.name: row for row in ROWS}


# ----------------------------------------------------------------------------------------------------------- invariants
class MalformedPlanError(Exception):
    """Raised if `verify` or `verify_memory` rejects a plan, which indicates a defect in this package."""


def verify(plan: Plan) -> None:
    """Raise MalformedPlanError if a step does not match its primitive, or if no step makes a result.

    The plans within steps are not included, because each of them is verified separately.
    """
    there: set[Any] = set(plan.inputs)
    for step in plan.steps:
        for problem in _problems(step, there):
            raise MalformedPlanError(f"{problem}, in {step.primitive} of\n{plan}")
        there.add(step.value)
    missing = [value for value in plan.results if isinstance(value, (PlanValue, Scalar)) and value not in there]
    if missing:
        raise MalformedPlanError(f"the result {missing[0]!r} is made by no step of\n{plan}")


def _problems(step: Step, there: set[Any]) -> Iterator[str]:
    row = PRIMITIVES.get(step.primitive)
    if row is None:
        yield "there is no such primitive"
        return
    values = [argument for argument in step.arguments if isinstance(argument, (PlanValue, Scalar))]
    if any(value not in there for value in values):
        yield "an argument is used before it is made"
    fewest, most = row.arguments
    if not fewest <= len(step.arguments) <= most:
        yield f"it has {len(step.arguments)} arguments"
        return
    order, shape = step.value.order, step.value.shape
    if step.primitive not in ("loop", "slices") and (len(order) != len(shape) or len(set(order)) != len(order)):
        yield f"the order {order} does not fit the shape {shape}"
    if step.value.fixed and any(not value.fixed for value in values):
        yield "a fixed value is made of one that is not"
    try:
        expected = row.shape(
            [argument.shape if isinstance(argument, PlanValue) else () for argument in step.arguments], step.options
        )
    except (ValueError, IndexError) as problem:
        yield str(problem)
        return
    if expected is not None and expected != shape:
        yield f"it gives {shape} where its arguments make {expected}"


def verify_memory(plan: Plan, over: Mapping[PlanValue, PlanValue], workspace: Workspace | None = None) -> None:
    """Raise MalformedPlanError if in-place reuse or the workspaces of a plan are invalid.

    Reuse is invalid if an array is read after its memory was overwritten, if an input is overwritten but not donated,
    or if a step writes to a buffer that it reads. `over` maps each value to the value that it overwrites, and
    `workspace` maps values to buffers. A view shares the memory of its array.
    """
    memory: dict[Any, Any] = {input_: input_ for input_ in plan.inputs}
    alive: dict[Any, set[Any]] = {input_: {input_} for input_ in plan.inputs}
    buffers = workspace.places if workspace is not None else {}
    for step in plan.steps:
        _read(step.arguments, memory, alive, plan)
        for value in find_donated(step) if step.primitive == "loop" else ():
            if memory[value] not in plan.donated:
                raise MalformedPlanError(f"{plan.names[value]} is written over by a loop in\n{plan}")
            alive[memory[value]] = set()
        if step.value in buffers:
            if any(
                memory.get(argument) == buffers[step.value]
                for argument in step.arguments
                if isinstance(argument, PlanValue)
            ):
                raise MalformedPlanError(
                    f"{plan.names[step.value]} is written into the memory that it is made of in\n{plan}"
                )
            memory[step.value] = buffers[step.value]
            alive[memory[step.value]] = {step.value}
        elif step.value in over:
            memory[step.value] = memory[over[step.value]]
            if memory[step.value] in plan.inputs and memory[step.value] not in plan.donated:
                raise MalformedPlanError(f"{plan.names[step.value]} is written over an input in\n{plan}")
            alive[memory[step.value]] = {step.value}
        elif step.primitive in VIEWS and step.arguments and step.arguments[0] in memory:
            memory[step.value] = memory[step.arguments[0]]
            alive[memory[step.value]].add(step.value)
        else:
            memory[step.value], alive[step.value] = step.value, {step.value}
    _read(plan.results, memory, alive, plan)


def _read(values: Sequence[Any], memory: Mapping[Any, Any], alive: Mapping[Any, set[Any]], plan: Plan) -> None:
    for value in values:
        if isinstance(value, PlanValue) and value not in alive[memory[value]]:
            raise MalformedPlanError(f"{plan.names[value]} is read after its memory was written over in\n{plan}")
