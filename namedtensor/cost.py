"""What a formula costs before it is run: multiply-adds, bytes and the largest array in between, by the names of axes."""

from __future__ import annotations

import math
from typing import NamedTuple

from .backends.places import VIEWS
from .frames import plain
from .plan import Plan, Step, Value

PRODUCTS = ("dot", "matmul", "vecdot")


class Row(NamedTuple):
    """A step: what it does, the axes over which it works, its operations, and the bytes of its result (a view has none)."""

    step: str
    axes: dict[str, int]
    operations: int
    bytes: int


class Cost:
    """The steps of a plan, with what each costs; prints as a table.

    `multiply_adds` are those of products, `operations` all, `bytes` what is written in all, `largest` the largest array
    that is made.
    """

    def __init__(self, rows: list[Row], multiply_adds: int):
        self.rows, self.multiply_adds = tuple(rows), multiply_adds
        self.operations = sum(row.operations for row in rows)
        self.bytes = sum(row.bytes for row in rows)
        self.largest = max((row.bytes for row in rows), default=0)

    def __repr__(self) -> str:
        lines = [
            f"{row.operations:>16,}  {row.bytes:>14,} B  {row.step} over {' × '.join(f'{a}[{n}]' for a, n in row.axes.items()) or 'one number'}"
            for row in self.rows
        ]
        total = f"{self.operations:>16,}  {self.bytes:>14,} B  in all; {self.multiply_adds:,} multiply-adds; largest {self.largest:,} B"
        return "\n".join([*lines, total])


def itemsize(value: Value) -> int:
    """Bytes of one number."""
    return max(1, int("".join(filter(str.isdigit, value.dtype)) or 8) // 8)


def axes_of(step: Step) -> dict[str, int]:
    """Every axis that a step works over."""
    found: dict[str, int] = {}
    for value in (step.value, *(each for each in step.arguments if isinstance(each, Value))):
        for axis, size in zip(value.order, value.shape):
            found[plain(axis)] = max(size, found.get(plain(axis), 1))
    return found


def cost_of(plan: Plan, times: int = 1) -> Cost:
    """The cost of a plan, whose blocks count as often as they are run."""
    rows: list[Row] = []
    multiply_adds = 0
    for step in plan.steps:
        if step.primitive in VIEWS or step.value.fixed:
            continue
        if step.primitive == "blocks":
            counts, rows_each = step.options["counts"], step.options["rows"]
            inner = cost_of(step.options["plan"], times * math.prod(counts[:-1]) * -(-counts[-1] // rows_each))
            rows += inner.rows
            multiply_adds += inner.multiply_adds
            rows.append(Row("blocks put together", axes_of(step), 0, step.value.count * itemsize(step.value)))
            continue
        axes = axes_of(step)
        operations = times * math.prod(axes.values())
        if step.primitive in PRODUCTS:
            multiply_adds += operations
        elif step.primitive == "attention":
            q, k, v = step.arguments[:3]
            operations = times * q.count * k.shape[-2] + times * v.count * q.shape[-2]
            multiply_adds += operations
        rows.append(Row(step.primitive, axes, operations, step.value.count * itemsize(step.value)))
    return Cost(rows, multiply_adds)
