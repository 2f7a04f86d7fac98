"""The cost model, which derives multiply-adds, operations, bytes and the largest array of a plan from axis sizes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import reduce
from typing import Any, NamedTuple

from grammar.plain_text import encodable

from ..core.extents import Size, format_size, is_size_of, largest, proves_at_most
from ..terms.environment import distinct_names, source_name
from .failures import span_of
from .memory import VIEWS
from .plan import Plan, PlanValue, Step

PRODUCTS = ("dot", "matmul", "vecdot", "addmm", "multiply_transposed")
PICKING = ("take", "take_along")  # these read as many elements as they return, not their whole operand
ADDING = ("scatter_add",)  # these do work for each element of their operand, not of their result
HEADINGS = ("multiply-adds", "operations", "bytes")
MAX_FORMULA_CHARS = 40  # characters of the formula in a row


class CostRow(NamedTuple):
    """A row of the cost table: the operation, formula part, axes, number of runs, costs and result size of a step.

    `multiply_adds` and `operations` count all runs, and `bytes` is the size of the result of one run. If axis sizes are
    unknown, the costs are polynomials, such as `2 |seq|² |key|`.
    """

    step: str
    part: str
    axes: dict[str, Size]
    times: Size
    multiply_adds: Size
    operations: Size
    bytes: Size

    @encodable
    def __str__(self) -> str:
        over = " × ".join(
            axis if is_size_of(axis, size) else f"{axis}[{format_size(size)}]" for axis, size in self.axes.items()
        )
        often = f", {amount(self.times)} times" if self.times != 1 else ""
        return f"{self.step} over {over or 'one number'}{often}{self.part and f': {self.part}'}"


class Cost:
    """The steps of a plan and their costs, which are printed as a table.

    `multiply_adds` counts the multiply-adds of products. `operations` also counts one operation for each element that
    another step processes. `bytes` is the total number of bytes written, and `largest` is the size of the largest
    result in bytes.
    """

    def __init__(self, rows: list[CostRow]):
        self.rows: tuple[CostRow, ...] = tuple(rows)
        self.multiply_adds: Size = sum(row.multiply_adds for row in rows)
        self.operations: Size = sum(row.operations for row in rows)
        self.bytes: Size = sum(row.bytes * row.times for row in rows)
        self.largest: Size = largest_of(row.bytes for row in rows)

    @encodable
    def __repr__(self) -> str:
        """Return a table of the steps, with the totals in its last row.

        If the totals are polynomials, which are long, they follow the table.
        """
        cells = [(row.multiply_adds, row.operations, row.bytes * row.times, str(row)) for row in self.rows]
        totals = (self.multiply_adds, self.operations, self.bytes)
        if all(type(total) is int for total in totals):
            return table([*cells, (*totals, f"in all; the largest array {amount(self.largest)} B")])
        named = zip((*HEADINGS, "bytes of the largest array"), (*totals, self.largest))
        return "\n".join((table(cells), "", "in all", *(f"  {amount(total)} {name}" for name, total in named)))


def table(cells: list[tuple[Any, ...]]) -> str:
    """Return a table with headings. Each row consists of three numbers and a description."""
    rows = [(*HEADINGS, "step"), *((*map(amount, cell[:3]), cell[3]) for cell in cells)]
    widths = [max(len(row[at]) for row in rows) for at in range(3)]
    return "\n".join("  ".join((*(f"{row[at]:>{widths[at]}}" for at in range(3)), row[3])) for row in rows)


def amount(number: Size) -> str:
    """Format a number with thousands separators, or a polynomial of sizes."""
    return f"{number:,}" if type(number) is int else format_size(number)


def itemsize(value: PlanValue) -> int:
    """Return the number of bytes per element of a value."""
    return max(1, int("".join(filter(str.isdigit, value.dtype)) or 8) // 8)


def axes_of(step: Step, sizes: dict[str, Size]) -> dict[str, Size]:
    """Return all axes that a step works on, with their sizes. Axes merged for a matrix product appear separately."""
    axes: dict[str, Size] = {}
    values = (
        ()
        if step.primitive in PICKING
        else (argument for argument in step.arguments if isinstance(argument, PlanValue))
    )
    values = tuple(values) if step.primitive in ADDING else (step.value, *values)
    names = distinct_names(dict.fromkeys(axis for value in values for axis in value.order))
    for value in values:
        for axis, size in zip(value.order, value.shape):
            if axis[:1] == "(":
                axes.update((source_name(word), sizes[word]) for word in axis[1:-1].split(",") if word in sizes)
            elif axis in sizes:
                axes[names[axis]] = largest(size, axes.get(names[axis], 1))
    return axes


def sizes_of(plan: Plan) -> dict[str, Size]:
    """Return the sizes of the axes of a plan, except for unnamed axes."""
    values = [
        *(input_ for input_ in plan.inputs if isinstance(input_, PlanValue)),
        *(step.value for step in plan.steps),
    ]
    sizes: dict[str, Size] = {}
    for value in values:
        for axis, size in zip(value.order, value.shape):
            if not axis.startswith("1"):
                sizes[axis] = largest(size, sizes.get(axis, 1))
    return sizes


def part_of(step: Step, source: str) -> str:
    """Return the part of the formula that a step computes, on one line and shortened if it is long."""
    if step.origin is None:
        return ""
    start, end = span_of(step.origin, source)
    text = " ".join(source[start:end].split())
    return text if len(text) <= MAX_FORMULA_CHARS else f"{text[: MAX_FORMULA_CHARS - 1]}…"


def work_of(step: Step) -> tuple[Size, Size]:
    """Return the number of multiply-adds and the number of operations in a single run of a step."""
    values = [argument for argument in step.arguments if isinstance(argument, PlanValue)]
    if step.primitive == "attention":
        q, k, v = values[:3]
        products = q.count * k.shape[-2] + v.count * q.shape[-2]
        return products, products
    if step.primitive in PRODUCTS:
        products = step.value.count * values[0].shape[-1]
        return products, products
    read = () if step.primitive in PICKING else values
    return 0, largest_of((step.value.count, *(value.count for value in read)))


def rows_of(plan: Plan, times: Size = 1) -> list[CostRow]:
    """Return a cost row for each step that creates an array at every call.

    A step of an inner plan has one row for all blocks, slices or loop steps.
    """
    rows: list[CostRow] = []
    sizes = sizes_of(plan)
    ones = {step.value for step in plan.steps if step.primitive == "ones"}
    for step in plan.steps:
        if step.primitive in VIEWS or step.value.fixed:
            continue
        part, size = part_of(step, plan.source), step.value.count * itemsize(step.value)
        if step.primitive == "slices":
            options = step.options
            rows += rows_of(options["plan"], times * -(-(options["stop"] - options["start"]) // options["rows"]))
        elif step.primitive == "loop":
            rows += rows_of(step.options["plan"], times * step.options["steps"])
        elif step.primitive == "tiling":
            rows += rows_of(step.options["plan"], times * blocks_of(step.options))
            result = dict(zip(map(source_name, step.value.order), step.value.shape))
            rows.append(CostRow("blocks put together", part, result, times, 0, 0, size))
        else:
            axes = axes_of(step, sizes)
            summed = (
                step.primitive == "dot" and step.arguments[1] in ones
            )  # a sum, which is computed as a product because this is faster
            step = step._replace(primitive="sum") if summed else step
            multiply_adds, operations = work_of(step)
            rows.append(CostRow(step.primitive, part, axes, times, times * multiply_adds, times * operations, size))
    return rows


def blocks_of(options: dict[str, Any]) -> Size:
    """Return the number of blocks of a tiled step."""
    *picked, sliced = options["counts"]
    return math.prod(picked) * -(-sliced // options["rows"])


def cost_of(plan: Plan) -> Cost:
    """Return the cost of a plan, step by step."""
    return Cost(rows_of(plan))


def largest_of(sizes: Iterable[Size]) -> Size:
    """Return the largest of several sizes, or 0 if no sizes are given.

    For symbolic sizes, the result is a maximum. It omits a size if another size is certain to be at least as large.
    """
    remaining: list[Size] = []
    for size in sizes:
        if not any(proves_at_most(size, other) for other in remaining):
            remaining = [other for other in remaining if not proves_at_most(other, size)] + [size]
    return reduce(largest, remaining, 0)
