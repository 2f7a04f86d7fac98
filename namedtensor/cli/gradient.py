"""The command `gradient`: the gradients of a scalar with respect to parameters, each with the axes of its parameter."""

from __future__ import annotations

import argparse
from typing import Any

from .arguments import sizes_of, source_of, values_of
from .console import Console
from .evaluate import labeled_by, table, value_record
from .parsers import digits_argument, formula_arguments


def gradient_arguments(parser: argparse.ArgumentParser) -> None:
    formula_arguments(parser)
    parser.add_argument(
        "--wrt",
        metavar="NAME,...",
        help="the parameters to differentiate with respect to, such as W,b_1 (default: all declared real parameters)",
    )
    parser.add_argument("--of", metavar="NAME", help="the scalar to differentiate (default: the value of the program)")
    digits_argument(parser)


def gradient_command(options: Any, console: Console) -> None:
    from ..programs.api import program

    source = source_of(options)
    result = program(source.text, source.syntax)
    by = [name.strip() for name in options.wrt.split(",")] if options.wrt else None
    slopes = (result if options.of is None else result[options.of]).gradient(by, return_value=True)
    values = values_of(options.inputs, options.header, console)
    value, element = slopes(values=values, sizes=sizes_of(options.sizes))
    if options.json:
        records = {name: value_record(slope) for name, slope in element.items()}
        console.json({"value": value_record(value), "gradient": records})
        return
    console.print(f"{slopes.of} = {table(value, options.digits)}")
    for name, slope in element.items():
        console.print(f"\n∂/∂{name}\n{table(labeled_by(values, slope), options.digits)}")


GRADIENT_EXAMPLES = """
  namedtensor gradient '∑_{a} (w ⊙ x)^2' --wrt w w='[1,2]:a' x='[3,1]:a'
  namedtensor gradient model.nt --of loss X=x.npy:batch,chans W=w.npy:chans,out
"""
