"""The command `read`: reads a PyTorch module or function as a program, and compares it with a formula."""

from __future__ import annotations

import ast
import itertools
import os
import re
import runpy
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from grammar.errors import NotationError

from ..files.text import InputError
from .console import FINE, WRONG_FORMULA, Console
from .formats import annotation
from .inputs import split_pair
from .parsers import ANY, LIST, Argument, command

TARGET = re.compile(r"(?P<file>.+\.py):(?P<name>[A-Za-z_]\w*)(?P<arguments>\(.*\))?")
AXIS = re.compile(r"(?P<name>[^\[\]\s]+)(?:\[(?P<size>\d+)\])?")
DEFAULTS = (3, 5, 7, 2, 11, 13)
TRIES = 200


@command(
    Argument("target", "FILE.py:NAME", "a module class, with its arguments as NAME(16, heads=2), or a function"),
    Argument("inputs", "NAME=AXES", "axes of an input, x=batch,seq,chans[16]; indices: ids=batch,seq:int", ANY),
    Argument("--name", "PARAMETER=AXES", "axes of a parameter: 'q.weight=(heads[8] key) chans'", LIST),
    Argument("--against", "FORMULA", "a formula, or the label of one in a document: paper.tex#eq:attention"),
    Argument("--training", "", "read the module in training mode; dropout masks become inputs"),
    Argument("--format", ("text", "json", "github"), "output format (default: text)", {"default": "text"}),
    Argument("--json", "", "the same as --format json"),
)
def read_command(options: Any, console: Console) -> int:
    """Read a PyTorch module as a program, and compare it.

    namedtensor read model.py:Attention x=batch,seq,chans
    namedtensor read 'model.py:Attention(16, heads=2)' x=batch,seq,chans[16] --name 'q.weight=(heads[2] key) chans'
    namedtensor read model.py:Attention x=batch,seq,chans --against paper.tex#eq:attention --format github
    namedtensor read model.py:loss x=batch,chans y=batch:int --json

    The file is imported, so its top-level code runs. The module is traced with example tensors that have the given
    axes. The exit status is 1 if a view splits a named axis, or if the code differs from the formula.
    """
    from ..teaching.equivalence import equivalent
    from ..teaching.function_tests import resolve_formula

    names = dict(split_pair(word, "the axes of a parameter; write NAME=axis,axis") for word in options.name)
    read = read_module(options.target, options.inputs, names, options.training)
    comparison = equivalent(read, resolve_formula(options.against, os.getcwd())) if options.against else None
    report(read, comparison, options, console)
    return FINE if not read.remarks and (comparison is None or comparison) else WRONG_FORMULA


def read_module(target: str, words: Iterable[str], names: Mapping[str, str] = {}, training: bool = False) -> Any:
    """Return a module as a program. `words` lists its inputs with their axes, and `names` maps parameters to axes."""
    from ..positional.torch_reading import from_torch

    subject, inputs = subject_of(target), [input_of(word) for word in words]
    axes = {name: " ".join(axis for axis, _ in axes) for name, axes, _ in inputs}
    return from_torch(subject, names={**axes, **names}, training=training, **examples(subject, inputs))


def report(read: Any, translation: Any, options: Any, console: Console) -> None:
    console.machine = console.machine or options.format == "json"
    if console.machine:
        remarks = [{**line_record(remark.source), "message": remark.sentence} for remark in read.remarks]
        record = {"program": read.text, "axes": list(read.axes), "reading": list(read.reading), "remarks": remarks}
        against = None
        if translation is not None:
            against = {"same": bool(translation), "difference": translation.difference, "message": str(translation)}
            against["lines"] = [line_record(line) for line in translation.lines]
        console.json({**record, "against": against})
    elif options.format == "github":
        for remark in read.remarks:
            console.print(annotation("warning", place_of(remark.source), remark.sentence))
        for line in translation.lines or (None,) if translation is not None and not translation else ():
            console.print(annotation("error", place_of(line), str(translation)))
    else:
        console.print(read.text)
        for remark in (*read.reading, *map(str, read.remarks)):
            console.note(remark)
        if translation is not None:
            console.print(f"\n{translation}")


def place_of(line: Any) -> dict[str, str]:
    """Return the file and line of a source line as properties of a GitHub annotation, or {} if the line has no file."""
    return {"file": os.path.relpath(line.file), "line": str(line.line)} if line is not None and line.file else {}


def line_record(line: Any) -> dict[str, Any]:
    return {"file": line.file, "line": line.line}


# ------------------------------------------------------------------------------------------------------------ the subject
def subject_of(target: str) -> Any:
    """Return the function or module that a target such as model.py:Attention(16, heads=2) denotes.

    The arguments of a class must be literals.
    """
    match = TARGET.fullmatch(target)
    if match is None:
        file = target if target.endswith(".py") else "model.py"
        if file == target and not os.path.isfile(file):
            raise InputError(f"there is no file {file}")
        raise InputError(f"{target!r} is not a module; write {file}:Attention, or {file}:Attention(16, heads=2)")
    definitions = run_file(match["file"])
    if match["name"] not in definitions:
        raise InputError(f"{match['file']} has no {match['name']}")
    subject = definitions[match["name"]]
    if not isinstance(subject, type):
        return subject
    positional, named = literals(match["arguments"] or "()")
    try:
        return subject(*positional, **named)
    except TypeError as problem:
        hint = f"write {match['name']}(…) with its arguments"
        raise InputError(f"{match['name']} cannot be made: {problem}; {hint}") from None


def run_file(file: str) -> dict[str, Any]:
    """Return the names that a file defines. Raise InputError if the file cannot be run."""
    path = os.path.abspath(file)
    if not os.path.isfile(path):
        raise InputError(f"there is no file {file}")
    sys.path.insert(0, os.path.dirname(path))
    try:
        return runpy.run_path(path, run_name=os.path.basename(file).removesuffix(".py"))
    except Exception as problem:
        raise InputError(f"{file} does not run: {type(problem).__name__}: {problem}") from None
    finally:
        sys.path.remove(os.path.dirname(path))


def literals(text: str) -> tuple[list[Any], dict[str, Any]]:
    """Return the positional and keyword arguments in a string such as (16, heads=2).

    Raise InputError if they are not literals.
    """
    try:
        call = ast.parse(f"f{text}", mode="eval").body
        assert isinstance(call, ast.Call)
        return [ast.literal_eval(arg) for arg in call.args], {
            str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords
        }
    except (SyntaxError, ValueError, AssertionError):
        raise InputError(f"{text} are not literal arguments") from None


# ------------------------------------------------------------------------------------------------------------- the inputs
Input = tuple[str, list[tuple[str, int | None]], bool]


def input_of(word: str) -> Input:
    """Return an input's name, its axes with sizes, and whether it contains integers.

    The argument has the form x=batch,seq,chans[16] or ids=batch,seq:int. Raise InputError if it is invalid.
    """
    name, text = split_pair(word, "an input; write NAME=axis,axis")
    text, _, kind = text.partition(":")
    axes = [AXIS.fullmatch(other.strip()) for other in text.split(",")]
    if kind not in ("", "int", "float") or None in axes:
        raise InputError(f"{word!r} is not an input; write {name}=batch,seq,chans[16], or {name}=batch,seq:int")
    return name, [(axis["name"], int(axis["size"]) if axis["size"] else None) for axis in axes if axis], kind == "int"


def examples(subject: Any, inputs: list[Input]) -> dict[str, Any]:
    """Return example tensors for the inputs, with sizes for which the module runs.

    Sizes that are not stated are small primes or sizes of the module's parameters. Raise NotationError if the module
    runs with none of the tried sizes.
    """
    import torch

    stated = {axis: size for _, axes, _ in inputs for axis, size in axes if size}
    open_axes = list(dict.fromkeys(axis for _, axes, _ in inputs for axis, size in axes if axis not in stated))
    parameters = getattr(subject, "parameters", lambda: ())()
    known = sorted({length for parameter in parameters for length in parameter.shape if length > 1})
    choices = itertools.product(*[[DEFAULTS[index % len(DEFAULTS)], *known] for index in range(len(open_axes))])
    problem: Exception | None = None
    for sizes in itertools.islice(choices, TRIES):
        lengths = {**stated, **dict(zip(open_axes, sizes))}
        arrays = {}
        for name, axes, whole in inputs:
            shape = [lengths[axis] for axis, _ in axes]
            arrays[name] = torch.randint(0, 2, shape) if whole else torch.randn(shape)
        try:
            with torch.no_grad():
                subject(**arrays)
        except Exception as failed:  # a module may raise any exception for sizes that do not fit
            problem = problem or failed
            continue
        return arrays
    lines = str(problem).strip().splitlines()[:1]
    hint = f"state sizes: {inputs[0][0]}=batch,seq,chans[16]" if inputs else "name its inputs: x=batch,seq,chans[16]"
    raise NotationError(
        405, f"the module does not run on these inputs: {type(problem).__name__}: {''.join(lines)}", hint=hint
    )
