"""The commands `eval`, `explain`, `diagram` and `to-code`: a formula and inputs, one result of it, as text or JSON."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ..core.extents import Extent, shown
from ..files.formats import writable
from ..files.text import InputError
from .arguments import sizes_of, source_of, values_of
from .check import shapes_of
from .console import Console
from .evaluate import labeled_by, print_value, read_call, table, value_record
from .parsers import Command, call_argument, digits_argument, formula_arguments, name_argument


class Result(NamedTuple):
    """One result of a formula; `compute` reads the options, `record` is its JSON, `text` is printed otherwise."""

    compute: Callable[[Any, Console], Any]
    record: Callable[[Any], Any]
    text: Callable[[Any, Any], str]
    refused: tuple[str, ...] = ()  # options that do not apply


def print_result(name: str, options: Any, console: Console) -> None:
    """Compute one result of the table and print it. Raises InputError if another option contradicts it."""
    row = RESULTS[name]
    for option in row.refused:
        if getattr(options, option, None):
            raise InputError(f"--{option} does not apply to --{name}; leave it out")
    result = row.compute(options, console)
    if options.json:
        console.json(row.record(result))
    else:
        console.print(row.text(result, options))


def select_goal(options: Any) -> Any:
    """Return the program, or its name that --of gives. Raises NotationError if it has no such name."""
    from ..programs.program import Program

    source = source_of(options)
    program = Program(source.text, source.syntax)
    return program if options.of is None else program[options.of]


# ----------------------------------------------------------------------------------------------------------------- eval
def eval_arguments(parser: argparse.ArgumentParser) -> None:
    formula_arguments(parser)
    name_argument(parser)
    call_argument(parser)
    parser.add_argument(
        "--gradient",
        metavar="NAME,...|all",
        help="print the value, a scalar, and its gradients with respect to these names (all: all declared real parameters)",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="write the value to a file instead: .npy, .npz, .json, .csv, .parquet, .nc or .zarr",
    )
    parser.add_argument(
        "--strict", action="store_true", help="make outer broadcasts and redefined built-in names errors"
    )
    parser.add_argument(
        "--limit", metavar="NAME=N", action="append", default=[],
        help="raise a limit, such as max_steps; see nt.Limits",
    )  # fmt: skip
    digits_argument(parser)


def eval_command(options: Any, console: Console) -> None:
    if options.gradient is not None:
        return print_result("gradient", options, console)
    if options.out:
        writable(options.out)
    return print_value(options, source_of(options), console)


class Gradients(NamedTuple):
    """A scalar and its gradients; `values` are the inputs, whose labels the tables have."""

    of: str
    value: Any
    slopes: dict[str, Any]
    values: Any


def compute_gradients(options: Any, console: Console) -> Gradients:
    names = [name.strip() for name in NAMES.split(options.gradient) if name.strip()]
    if not names:
        raise InputError("--gradient names nothing; write --gradient W,b_1, or --gradient all")
    slopes = select_goal(options).gradient(None if names == ["all"] else names, return_value=True)
    values = values_of(options.inputs, options.header, console)
    value, by_name = slopes(values=values, sizes=sizes_of(options.sizes))
    return Gradients(slopes.of, value, by_name, values)


def gradients_record(gradients: Gradients) -> dict[str, Any]:
    records = {name: value_record(slope) for name, slope in gradients.slopes.items()}
    return {"value": value_record(gradients.value), "gradient": records}


def gradients_text(gradients: Gradients, options: Any) -> str:
    texts = [f"{gradients.of} = {table(gradients.value, options.digits)}"]
    for name, slope in gradients.slopes.items():
        texts.append(f"∂/∂{name}\n{table(labeled_by(gradients.values, slope), options.digits)}")
    return "\n\n".join(texts)


# -------------------------------------------------------------------------------------------------------------- explain
def explain_arguments(parser: argparse.ArgumentParser) -> None:
    from ..planning.optimizations import OPTIMIZATIONS

    formula_arguments(parser, "tensors and numbers; for --cost and --parameters, shapes are enough: Q='ℝ^{seq[512]}'")
    name_argument(parser)
    call_argument(parser)
    parser.add_argument("--inside", metavar="NAME", help="show only the steps in the definition of a name: FFN, X^2")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--cost", action="store_true", help="print operations and bytes of each step instead")
    kinds.add_argument(
        "--parameters", action="store_true", help="print the parameters (declared, not defined) with their shapes"
    )
    parser.add_argument(
        "--disable", metavar="NAME", action="append", default=[], choices=list(OPTIMIZATIONS),
        help=f"with --cost: disable an optimization: {', '.join(OPTIMIZATIONS)}",
    )  # fmt: skip
    digits_argument(parser)


def explain_command(options: Any, console: Console) -> None:
    name = "cost" if options.cost else "parameters" if options.parameters else "steps"
    if options.disable and not options.cost:
        raise InputError("--disable is about costs; add --cost")
    print_result(name, options, console)


def compute_steps(options: Any, console: Console) -> Any:
    from ..programs.api import program
    from ..programs.evaluate import explain

    source = source_of(options)
    name, arguments, values = read_call(options, console)
    sizes = sizes_of(options.sizes)
    if name is None:
        steps = explain(source.text, values, sizes=sizes, syntax=source.syntax)
    else:
        steps = program(source.text, source.syntax)[name].explain(*arguments, values=values, sizes=sizes)
    return steps.inside(options.inside) if options.inside else steps


def steps_record(steps: Any) -> dict[str, Any]:
    return {"steps": [step_record(step) for step in steps]}


def step_record(step: Any) -> dict[str, Any]:
    """Return a step for machines."""
    return {"text": step.text, "type": step.type, "inside": list(step.inside), "value": value_record(step.value)}


def steps_text(steps: Any, options: Any) -> str:
    from ..tensors.digits import set_printoptions

    with set_printoptions(options.digits):
        return str(steps)


def compute_cost(options: Any, console: Console) -> Any:
    shapes, sizes = shapes_of(options.inputs, options.header, console), sizes_of(options.sizes)
    return select_goal(options).cost(shapes, sizes=sizes, disable=tuple(options.disable))


TOTALS = ("multiply_adds", "operations", "bytes", "largest")


def cost_record(cost: Any) -> dict[str, Any]:
    """Return a cost for machines: polynomials of open sizes as texts."""
    return write_sizes(
        {"steps": [row._asdict() for row in cost.rows], **{name: getattr(cost, name) for name in TOTALS}}
    )


def write_sizes(value: Any) -> Any:
    """Return the value with the text of each symbolic size in its place."""
    if isinstance(value, dict):
        return {name: write_sizes(part) for name, part in value.items()}
    if isinstance(value, list):
        return [write_sizes(part) for part in value]
    return shown(value) if isinstance(value, Extent) else value


def compute_parameters(options: Any, console: Console) -> Any:
    shapes = shapes_of(options.inputs, options.header, console)
    return select_goal(options).parameters(sizes_of(options.sizes), **shapes)


def parameters_text(parameters: Any, options: Any) -> str:
    return "\n".join(f"{name} ∈ {shape}" for name, shape in parameters.items())


# -------------------------------------------------------------------------------------------------------------- diagram
def diagram_arguments(parser: argparse.ArgumentParser) -> None:
    formula_arguments(
        parser, "types of the inputs, X='ℝ^{seq × chans}', or tensors; other undefined names are parameters"
    )
    name_argument(parser, "the value or function to draw (default: the last)")
    parser.add_argument(
        "--expand",
        metavar="NAME,...",
        default="",
        help="functions to draw from the inside, families to draw one member at a time",
    )
    parser.add_argument("--out", "-o", metavar="FILE", help="write the SVG to a file")


def diagram_command(options: Any, console: Console) -> None:
    if options.out:
        compute_diagram(options, console).save(options.out)
    else:
        print_result("diagram", options, console)


def compute_diagram(options: Any, console: Console) -> Any:
    expand = [name.strip() for name in NAMES.split(options.expand) if name.strip()]
    shapes = shapes_of(options.inputs, options.header, console)
    return select_goal(options).diagram(sizes=sizes_of(options.sizes), expand=expand, **shapes)


NAMES = re.compile(r",(?![^{]*\})")  # A comma within W^{l,Q} separates no names.


# -------------------------------------------------------------------------------------------------------------- to-code
def code_arguments(parser: argparse.ArgumentParser) -> None:
    formula_arguments(parser, "shapes with sizes (einsum needs none), Q='ℝ^{seq[512] × key[64]}', or tensors")
    name_argument(parser)
    parser.add_argument(
        "--library",
        choices=("numpy", "torch", "jax", "loops", "javascript", "einsum"),
        help="the library of a Python function, loops of plain Python, a JavaScript module, or one call of einsum "
        "(default: numpy; torch for --style module)",
    )
    parser.add_argument(
        "--style",
        choices=("function", "module", "readable"),
        help="with a Python library: a function, a PyTorch module with the parameters of the program, or code "
        "as you would write it (default: function)",
    )
    parser.add_argument(
        "--standalone", action="store_true", help="with javascript: include the runtime functions that it needs"
    )


def code_command(options: Any, console: Console) -> None:
    print_result("code", options, console)


def compute_code(options: Any, console: Console) -> str:
    shapes, sizes = shapes_of(options.inputs, options.header, console), sizes_of(options.sizes)
    library = options.library or ("torch" if options.style == "module" else "numpy")
    if options.standalone and library != "javascript":
        raise InputError("--standalone is about JavaScript; add --library javascript")
    if options.style and library in ("javascript", "einsum"):
        raise InputError(f"--style is about Python; {library} has one style, so leave it out")
    goal = select_goal(options)
    if library == "einsum":
        return goal.to_einsum(shapes, sizes=sizes)
    if library == "javascript":
        return goal.to_javascript(shapes, sizes=sizes, standalone=options.standalone)
    return goal.to_python(library, shapes, sizes=sizes, style=options.style or "function")


RESULTS = {
    "gradient": Result(compute_gradients, gradients_record, gradients_text, ("call", "out", "strict", "limit")),
    "steps": Result(compute_steps, steps_record, steps_text),
    "cost": Result(compute_cost, cost_record, lambda cost, options: repr(cost), ("call", "inside", "digits")),
    "parameters": Result(compute_parameters, lambda shapes: shapes, parameters_text, ("call", "inside", "digits")),
    "diagram": Result(
        compute_diagram, lambda drawing: {"svg": drawing.to_svg()}, lambda drawing, options: drawing.to_svg()
    ),
    "code": Result(compute_code, lambda code: {"source": code}, lambda code, options: code.rstrip("\n")),
}

EVAL_EXAMPLES = """
  namedtensor eval '1 + 1/2'
  namedtensor eval 'π / 3' --digits 12
  namedtensor eval 'A ⊙_{width} x' A='[[3,1,4],[1,5,9]]:height,width' x='[2,7,1]:width'
  namedtensor eval 'softmax_{seq}(Q @_{key} K / sqrt(|key|))' Q=q.npy:key K=k.npz[k]:seq,key
  namedtensor eval '∑_{a} (w ⊙ x)^2' --gradient w w='[1,2]:a' x='[3,1]:a'
  namedtensor eval model.nt --of loss --gradient all X=x.npy:batch,chans W=w.npy:chans,out
  namedtensor eval docs/examples/iris.nt X=docs/examples/iris.csv:flower,feature
  namedtensor eval layers.tex --call LayerNorm X X=x.json:seq,chans --sizes chans=512
  echo 'mean_{a} X' | namedtensor eval - X=x.csv:a,b --out mean.json
"""
EXPLAIN_EXAMPLES = """
  namedtensor explain '2 A + 1' A='[1,2,3]:seq'
  namedtensor explain 'softmax_{seq}(Q ⊙_{key} K / √|key|)' Q='[1,2]:key' K='[[1,0],[0,1]]:seq,key'
  namedtensor explain docs/examples/iris.nt X=docs/examples/iris.csv:flower,feature --inside near
  namedtensor explain layers.nt --call FFN X X=x.json:seq,chans W_1=w.npy:chans,hidden
  namedtensor explain 'A ⊙_{width} x' --cost A='ℝ^{height[300] × width[400]}' x='R^{width[400]}'
  namedtensor explain 'gelu(X)' --cost X='R^{seq[4096], hidden[2048]}' --disable tiling --json
  namedtensor explain 'W ∈ ℝ^{a × b}' --parameters --sizes a=3,b=2
  namedtensor explain layers.nt --parameters --of FFN --sizes chans=8,hidden=16 --json

  For --cost, a shape has dtype float32, and the steps are those for NumPy.
"""
DIAGRAM_EXAMPLES = """
  namedtensor diagram 'Y = softmax_{seq}(Q ⊙_{key} K) ⊙_{seq} V' Q='ℝ^{key}' K='ℝ^{seq × key}' V='ℝ^{seq × val}' -o y.svg
  namedtensor diagram layers.nt X='ℝ^{seq × chans}' --of Block --expand FFN,Attention -o block.svg
"""
CODE_EXAMPLES = """
  namedtensor to-code 'A ⊙_{width} x' A='ℝ^{height[3] × width[4]}' x='R^{width[4]}'
  namedtensor to-code 'softmax_{seq} X' X='R^{seq[5]}' --library loops
  namedtensor to-code 'softmax_{seq} X' X='R^{seq[5]}' --library javascript --standalone
  namedtensor to-code 'Q ⊙_{key} K' Q='ℝ^{query × key}' K='ℝ^{seq × key}' --library einsum
  namedtensor to-code layers.nt --of FFN X='R^{seq[5], chans[8]}' --sizes hidden=16
  namedtensor to-code layers.nt --of FFN --style module X='R^{seq, chans[8]}' --sizes hidden=16
"""
EVAL = Command("print the value of a formula, or its gradients", eval_arguments, eval_command, EVAL_EXAMPLES)
EXPLAIN = Command(
    "print every step of a formula, its cost or parameters", explain_arguments, explain_command, EXPLAIN_EXAMPLES
)
DIAGRAM = Command("draw the data flow of a program as SVG", diagram_arguments, diagram_command, DIAGRAM_EXAMPLES)
CODE = Command("print a formula as Python, JavaScript or einsum", code_arguments, code_command, CODE_EXAMPLES)
