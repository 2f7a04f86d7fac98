"""The commands `explain` and `diagram`: the steps to a value, and where the values go."""

from __future__ import annotations

import argparse
import re
from typing import Any

from .arguments import sizes_of, source_of
from .check import shapes_of
from .console import Console
from .evaluate import _called, value_record
from .parsers import call_argument, digits_argument, formula_arguments
from .to_code import goal_of


def explain_arguments(parser: argparse.ArgumentParser) -> None:
    formula_arguments(parser)
    call_argument(parser)
    parser.add_argument("--inside", metavar="NAME", help="show only the steps in the definition of a name: FFN, X^2")
    digits_argument(parser)


def explain_command(options: Any, console: Console) -> None:
    from ..programs.api import program
    from ..programs.evaluate import explain

    source = source_of(options)
    name, arguments, values = _called(options, console)
    sizes = sizes_of(options.sizes)
    if name is None:
        steps = explain(source.text, values, sizes=sizes, syntax=source.syntax)
    else:
        steps = program(source.text, source.syntax)[name].explain(*arguments, values=values, sizes=sizes)
    if options.inside:
        steps = steps.inside(options.inside)
    if options.json:
        console.json({"steps": [step_record(step) for step in steps]})
    else:
        from ..tensors.digits import set_printoptions

        with set_printoptions(options.digits):
            console.print(str(steps))


def step_record(step: Any) -> dict[str, Any]:
    """A step for machines."""
    return {"text": step.text, "type": step.type, "inside": list(step.inside), "value": value_record(step.value)}


EXPLAIN_EXAMPLES = """
  namedtensor explain '2 A + 1' A='[1,2,3]:seq'
  namedtensor explain 'softmax_{seq}(Q ⊙_{key} K / √|key|)' Q='[1,2]:key' K='[[1,0],[0,1]]:seq,key'
  namedtensor explain docs/examples/iris.nt X=docs/examples/iris.csv:flower,feature --inside near
  namedtensor explain layers.nt --call FFN X X=x.json:seq,chans W_1=w.npy:chans,hidden
"""


def diagram_arguments(parser: argparse.ArgumentParser) -> None:
    formula_arguments(
        parser, "types of the inputs, X='ℝ^{seq × chans}', or tensors; other undefined names are parameters"
    )
    parser.add_argument("--of", metavar="NAME", help="the value or function to draw (default: the last)")
    parser.add_argument(
        "--expand",
        metavar="NAME,...",
        default="",
        help="functions to draw from the inside, families to draw one member at a time",
    )
    parser.add_argument("--out", "-o", metavar="FILE", help="write the SVG to a file")


def diagram_command(options: Any, console: Console) -> None:
    expand = [name.strip() for name in NAMES.split(options.expand) if name.strip()]
    drawing = goal_of(options).diagram(
        sizes=sizes_of(options.sizes), expand=expand, **shapes_of(options.inputs, options.header, console)
    )
    if options.out:
        drawing.save(options.out)
    elif options.json:
        console.json({"svg": drawing.to_svg()})
    else:
        console.print(drawing.to_svg())


NAMES = re.compile(r",(?![^{]*\})")  # the commas between names: none within W^{l,Q}
DIAGRAM_EXAMPLES = """
  namedtensor diagram 'Y = softmax_{seq}(Q ⊙_{key} K) ⊙_{seq} V' Q='ℝ^{key}' K='ℝ^{seq × key}' V='ℝ^{seq × val}' -o y.svg
  namedtensor diagram layers.nt X='ℝ^{seq × chans}' --of Block --expand FFN,Attention -o block.svg
"""
