"""The commands `eval`, `explain`, `diagram` and `to-code`, which print results of a formula as text or JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..files.formats import writable, write
from ..files.text import InputError, parse_number
from ..planning.optimizations import OPTIMIZATIONS
from ..programs.arguments import KeywordValues
from .arguments import FormulaSource, source_of
from .console import Console
from .inputs import limits_of, read_value, shapes_of, sizes_of, values_of
from .parsers import CALL, DIGITS, LIST, OF, Argument, command, formula_with


class Result(NamedTuple):
    """A kind of result that a command prints, such as a value or its cost.

    `compute` returns the result for the given options, `record` its JSON, and `text` its printed form.
    """

    compute: Callable[[Any, Console], Any]
    record: Callable[[Any], Any]
    text: Callable[[Any, Any], str]
    refused: tuple[str, ...] = ()  # options that do not apply


def print_result(name: str, options: Any, console: Console) -> None:
    """Compute and print a result of the kind `name`. Raise InputError if an option does not apply to this kind."""
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
    """Return a command's program, or the part that --of selects. Raise NotationError if that part is not defined."""
    from ..programs.program import Program

    source = source_of(options)
    program = Program(source.text, source.syntax)
    return program if options.of is None else program[options.of]


# ---------------------------------------------------------------------------------------------------------------- values
def table(value: Any, digits: int | None = None) -> str:
    """Return a tensor as a text table. `digits` is the number of significant digits of its elements."""
    from ..tensors.tables import text_table

    return text_table(value, digits)


def add_labels(values: Mapping[str, Any], value: Any) -> Any:
    """Return a value with labels on axes that have none. The labels are from input axes with the same names."""
    from ..core.labels import find_common_labels, labels_of

    labels = find_common_labels([labels_of(getattr(given, "layout", None)) for given in values.values()])
    free = {axis: size for axis, size in value.sizes.items() if axis not in value.labels}
    fits = {axis: axis_labels for axis, axis_labels in labels.items() if free.get(axis) == len(axis_labels)}
    return value.with_labels(fits) if fits else value


def value_record(value: Any) -> dict[str, Any]:
    """Return a tensor as a JSON record."""
    array = value.to_array(value.axes)
    record = {"axes": list(value.axes), "sizes": dict(value.sizes), "type": str(value.shape)}
    return {**record, "dtype": str(array.dtype), "data": array.tolist()}


# ----------------------------------------------------------------------------------------------------------------- eval
@command(
    *formula_with("tensors and numbers that the formula needs"),
    OF,
    CALL,
    Argument("--gradient", "NAME,...|all", "print a scalar value, and its gradients (all: declared real parameters)"),
    Argument("--out", "FILE", "write the value to a file: .npy, .npz, .json, .csv, .parquet, .nc or .zarr"),
    Argument("--strict", "", "make outer broadcasts and redefined built-in names errors"),
    Argument("--limit", "NAME=N", "raise a limit, such as max_steps; see nt.Limits", LIST),
    DIGITS,
)
def eval_command(options: Any, console: Console) -> None:
    """Print the value of a formula, or its gradients.

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
    if options.gradient is not None:
        return print_result("gradient", options, console)
    if options.out:
        writable(options.out)
    source = source_of(options)
    value, remark = compute_value(options, source, console)
    if options.out:
        write(value, options.out)
        order = ", ".join(value.axes) or "of none"
        console.note(f"{options.out}: {value.shape}, axes in the order {order}")
    if options.json:
        console.json({"value": value_record(value)})
    elif not options.out:
        console.print(table(value, options.digits))
    if remark:
        console.note(f"if this is matrix notation: {remark}")


def compute_value(options: Any, source: FormulaSource, console: Console) -> tuple[Any, str | None]:
    """Return a formula's value, and a remark if the formula would have another value when read as matrix notation."""
    from ..positional.offers import remark_on
    from ..programs.api import program
    from ..programs.evaluate import evaluate

    name, arguments, values = read_call(options, console)
    sizes = sizes_of(options.sizes)
    if name is not None:
        return program(source.text, source.syntax)[name](*arguments, values=values, sizes=sizes), None
    limits = limits_of(options.limit)
    value = evaluate(source.text, values, sizes=sizes, syntax=source.syntax, strict=options.strict, limits=limits)
    return value, remark_on(source.text, values, value.axes)


def read_call(options: Any, console: Console) -> tuple[str | None, list[Any], KeywordValues]:
    """Return the function or name to evaluate, the arguments of --call, and the inputs by name.

    The function or name is None if neither --call nor --of is given. Raise InputError if both are given.
    """
    if options.call and options.of:
        raise InputError("--of and --call both name a part of the program; leave one out")
    name, words = (options.call[0], options.call[1:]) if options.call else (options.of, [])
    inputs = options.inputs + [word for word in words if GIVEN.match(word)]
    values = values_of(inputs, options.header, console)
    words = [word for word in words if not GIVEN.match(word)]
    values.used = frozenset(words)
    return name, [argument_of(word, values) for word in words], values


GIVEN = re.compile(r"[^=:\[\]/\\]+=")


def argument_of(word: str, values: dict[str, Any]) -> Any:
    """Return the value of an argument of --call, which is the name of an input, a number or a tensor.

    Raise InputError if the argument is none of these.
    """
    if word in values:
        return values[word]
    if parse_number(word) is None and not re.search(r"[:.\[]", word):
        known = f"; the inputs are {', '.join(values)}" if values else ""
        raise InputError(f"{word} is not an input, number or tensor file{known}")
    return read_value(word, word).value


class Gradients(NamedTuple):
    """A scalar with its gradients. `values` contains the inputs, whose labels appear in the output."""

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
        texts.append(f"∂/∂{name}\n{table(add_labels(gradients.values, slope), options.digits)}")
    return "\n\n".join(texts)


# -------------------------------------------------------------------------------------------------------------- explain
@command(
    *formula_with("tensors and numbers; for --cost and --parameters, shapes are enough: Q='ℝ^{seq[512]}'"),
    OF,
    CALL,
    Argument("--inside", "NAME", "show only the steps in the definition of a name: FFN, X^2"),
    Argument("--cost", "", "print operations and bytes of each step instead"),
    Argument("--parameters", "", "print the parameters (declared, not defined) with their shapes"),
    Argument("--disable", "NAME", "with --cost: " + ", ".join(OPTIMIZATIONS), {"choices": list(OPTIMIZATIONS), **LIST}),
    DIGITS,
)
def explain_command(options: Any, console: Console) -> None:
    """Print every step of a formula, its cost or parameters.

    namedtensor explain '2 A + 1' A='[1,2,3]:seq'
    namedtensor explain 'softmax_{seq}(Q ⊙_{key} K / √|key|)' Q='[1,2]:key' K='[[1,0],[0,1]]:seq,key'
    namedtensor explain docs/examples/iris.nt X=docs/examples/iris.csv:flower,feature --inside near
    namedtensor explain layers.nt --call FFN X X=x.json:seq,chans W_1=w.npy:chans,hidden
    namedtensor explain 'A ⊙_{width} x' --cost A='ℝ^{height[300] × width[400]}' x='R^{width[400]}'
    namedtensor explain 'gelu(X)' --cost X='R^{seq[4096], hidden[2048]}' --disable tiling --json
    namedtensor explain 'W ∈ ℝ^{a × b}' --parameters --sizes a=3,b=2
    namedtensor explain layers.nt --parameters --of FFN --sizes chans=8,hidden=16 --json

    For --cost, a shape has dtype float32, and the steps are NumPy steps.
    """
    if options.cost and options.parameters:
        raise InputError("--cost and --parameters are two results; leave one out")
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
    """Return a step of an explanation as a JSON record."""
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
    return {"steps": [row._asdict() for row in cost.rows], **{name: getattr(cost, name) for name in TOTALS}}


def compute_parameters(options: Any, console: Console) -> Any:
    shapes = shapes_of(options.inputs, options.header, console)
    return select_goal(options).parameters(sizes_of(options.sizes), **shapes)


def parameters_text(parameters: Any, options: Any) -> str:
    return "\n".join(f"{name} ∈ {shape}" for name, shape in parameters.items())


# -------------------------------------------------------------------------------------------------------------- diagram
@command(
    *formula_with("types of the inputs, X='ℝ^{seq × chans}', or tensors; other undefined names are parameters"),
    Argument("--of", "NAME", "the value or function to draw (default: the last)"),
    Argument("--expand", "NAME,...", "functions and families to draw from the inside", {"default": ""}),
    Argument("--out -o", "FILE", "write the SVG to a file"),
)
def diagram_command(options: Any, console: Console) -> None:
    """Draw the data flow of a program as SVG.

    namedtensor diagram 'Y = softmax_{seq}(Q ⊙_{key} K) ⊙_{seq} V' Q='ℝ^{key}' K='ℝ^{seq × key}' V='ℝ^{seq × val}' -o y.svg
    namedtensor diagram layers.nt X='ℝ^{seq × chans}' --of Block --expand FFN,Attention -o block.svg
    """
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
LIBRARIES = ("numpy", "torch", "jax", "loops", "javascript", "einsum")


@command(
    *formula_with("shapes with sizes (einsum needs none), Q='ℝ^{seq[512] × key[64]}', or tensors"),
    OF,
    Argument("--library", LIBRARIES, "the library of the code (default: numpy; torch for --style module)"),
    Argument("--style", ("function", "module", "readable"), "the style of Python code (default: function)"),
    Argument("--standalone", "", "with javascript: include the runtime functions that it needs"),
)
def code_command(options: Any, console: Console) -> None:
    """Print a formula as Python, JavaScript or einsum.

    namedtensor to-code 'A ⊙_{width} x' A='ℝ^{height[3] × width[4]}' x='R^{width[4]}'
    namedtensor to-code 'softmax_{seq} X' X='R^{seq[5]}' --library loops
    namedtensor to-code 'softmax_{seq} X' X='R^{seq[5]}' --library javascript --standalone
    namedtensor to-code 'Q ⊙_{key} K' Q='ℝ^{query × key}' K='ℝ^{seq × key}' --library einsum
    namedtensor to-code layers.nt --of FFN X='R^{seq[5], chans[8]}' --sizes hidden=16
    namedtensor to-code layers.nt --of FFN --style module X='R^{seq, chans[8]}' --sizes hidden=16
    """
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
