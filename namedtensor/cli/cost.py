"""The command `cost`: what a formula would cost, step by step, with no data needed."""

from __future__ import annotations

import argparse
from typing import Any

from ..core.extents import Extent, shown
from .arguments import sizes_of, source_of
from .check import shapes_of
from .console import Console


def without_argument(parser: argparse.ArgumentParser) -> None:
    from ..planning.optimizations import OPTIMIZATIONS

    names = ", ".join(OPTIMIZATIONS)
    parser.add_argument(
        "--disable", metavar="NAME", action="append", default=[], choices=list(OPTIMIZATIONS),
        help=f"disable an optimization: {names}",
    )  # fmt: skip


def cost_command(options: Any, console: Console) -> None:
    from ..programs.program import Program

    source = source_of(options)
    program = Program(source.text, source.syntax)
    cost = program.cost(
        shapes_of(options.inputs, options.header, console),
        sizes=sizes_of(options.sizes),
        disable=tuple(options.disable),
    )
    if options.json:
        console.json(cost_record(cost))
    else:
        console.print(repr(cost))


TOTALS = ("multiply_adds", "operations", "bytes", "largest")


def cost_record(cost: Any) -> dict[str, Any]:
    """A cost for machines: polynomials of open sizes as texts."""
    record = {"steps": [row._asdict() for row in cost.rows], **{name: getattr(cost, name) for name in TOTALS}}
    return with_texts(record)


def with_texts(value: Any) -> Any:
    """The same with the text of each symbolic size in its place."""
    if isinstance(value, dict):
        return {name: with_texts(part) for name, part in value.items()}
    if isinstance(value, list):
        return [with_texts(part) for part in value]
    return shown(value) if isinstance(value, Extent) else value
