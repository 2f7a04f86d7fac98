"""The commands `to-python`, `to-javascript`, `to-einsum` and `parameters`: a formula as code, and the parameters it needs."""

from __future__ import annotations

import argparse
from typing import Any

from .arguments import sizes_of, source_of
from .check import shapes_of
from .console import Console
from .parsers import formula_arguments

SHAPES = "shapes with sizes, Q='ℝ^{seq[512] × key[64]}', or tensors"


def of_name_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--of", metavar="NAME", help="a name of the program (default: its value)")


def python_arguments(parser: argparse.ArgumentParser) -> None:
    formula_arguments(parser, SHAPES)
    of_name_argument(parser)
    parser.add_argument(
        "--library",
        choices=("numpy", "torch", "jax", "loops"),
        help="the library of the code; loops is plain Python (default: numpy; torch for --style module)",
    )
    parser.add_argument(
        "--style",
        choices=("function", "module", "readable"),
        default="function",
        help="a function, a PyTorch module whose parameters are those of the program, or code as you would write it "
        "(default: function)",
    )


def javascript_arguments(parser: argparse.ArgumentParser) -> None:
    formula_arguments(parser, SHAPES)
    of_name_argument(parser)
    parser.add_argument("--standalone", action="store_true", help="include the runtime functions that it needs")


def einsum_arguments(parser: argparse.ArgumentParser) -> None:
    formula_arguments(parser, "shapes, which need no sizes, Q='ℝ^{query × key}', or tensors")
    of_name_argument(parser)


def parameters_arguments(parser: argparse.ArgumentParser) -> None:
    formula_arguments(parser, "the inputs that are not parameters: shapes, X='ℝ^{seq × a}', or tensors")
    of_name_argument(parser)


def goal_of(options: Any) -> Any:
    """The program, or the name of it that is asked for. Raises NotationError if it has no such name."""
    from ..programs.program import Program

    source = source_of(options)
    program = Program(source.text, source.syntax)
    return program if options.of is None else program[options.of]


def python_command(options: Any, console: Console) -> None:
    shapes = shapes_of(options.inputs, options.header, console)
    library = options.library or ("torch" if options.style == "module" else "numpy")
    text = goal_of(options).to_python(library, shapes, sizes=sizes_of(options.sizes), style=options.style)
    return printed(options, console, text)


def javascript_command(options: Any, console: Console) -> None:
    shapes = shapes_of(options.inputs, options.header, console)
    code = goal_of(options).to_javascript(shapes, sizes=sizes_of(options.sizes), standalone=options.standalone)
    return printed(options, console, code)


def einsum_command(options: Any, console: Console) -> None:
    shapes = shapes_of(options.inputs, options.header, console)
    return printed(options, console, goal_of(options).to_einsum(shapes, sizes=sizes_of(options.sizes)))


def printed(options: Any, console: Console, text: str) -> None:
    """A source text as it is, or as a string of JSON; its comments have the signs of the notation, which a file needs."""
    if options.json:
        console.json({"source": text})
    else:
        console.print(text.rstrip("\n"))


def parameters_command(options: Any, console: Console) -> None:
    parameters = goal_of(options).parameters(
        sizes_of(options.sizes), **shapes_of(options.inputs, options.header, console)
    )
    if options.json:
        console.json(parameters)
    else:
        for name, shape in parameters.items():
            console.print(f"{name} ∈ {shape}")


PYTHON_EXAMPLES = """
  namedtensor to-python 'A ⊙_{width} x' A='ℝ^{height[3] × width[4]}' x='R^{width[4]}'
  namedtensor to-python 'softmax_{seq} X' X='R^{seq[5]}' --library torch
  namedtensor to-python 'softmax_{seq} X' X='R^{seq[5]}' --library loops
  namedtensor to-python layers.nt --of FFN X='R^{seq[5], chans[8]}' --sizes hidden=16
  namedtensor to-python layers.nt --of FFN --style module X='R^{seq, chans[8]}' --sizes hidden=16
"""
JAVASCRIPT_EXAMPLES = """
  namedtensor to-javascript 'A ⊙_{width} x' A='ℝ^{height[3] × width[4]}' x='R^{width[4]}'
  namedtensor to-javascript 'softmax_{seq} X' X='R^{seq[5]}' --standalone
"""
EINSUM_EXAMPLES = """
  namedtensor to-einsum 'Q ⊙_{key} K' Q='ℝ^{query × key}' K='ℝ^{seq × key}'
  namedtensor to-einsum 'trace_{a,b} X' X='R^{a, b}'
"""
PARAMETERS_EXAMPLES = """
  namedtensor parameters 'W ∈ ℝ^{a × b}' --sizes a=3,b=2
  namedtensor parameters layers.nt --of FFN --sizes chans=8,hidden=16 --json
"""
