"""What the tools of `namedtensor mcp` answer: plain data from plain data, in a process with limits of time and memory.

Each is the verb of that name with its result as a record. A wrong formula or input is an answer, too: its error.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from grammar.errors import NotationError

from ..core.kinds import wrong
from ..core.settings import recursion_headroom
from ..files.text import InputError, finite
from .console import error_record

MAX_NUMBERS = 10_000  # of a value that is answered whole
INPUT_HINT = 'write {"X": {"data": [[1, 2], [3, 4]], "axes": "a b"}}, or a number'
Record = dict[str, Any]


def check(formula: str, types: Mapping[str, str], sizes: Mapping[str, int], syntax: str) -> Record:
    from ..programs.api import check
    from .check import checked_record

    checked = check(formula, types, sizes=sizes, syntax=syntax)
    record = checked_record(checked, None)
    return record if checked.ok else {**record, "message": "\n\n".join(error.to_text() for error in checked.errors)}


def evaluate(formula: str, inputs: Mapping[str, Any], sizes: Mapping[str, int], syntax: str) -> Record:
    from ..programs.evaluate import evaluate

    given = {name: _tensor(value, name) for name, value in inputs.items()}
    value = evaluate(formula, given, sizes=sizes, syntax=syntax)
    record: Record = {"axes": list(value.axes), "sizes": dict(value.sizes)}
    count = math.prod(value.sizes.values())
    if count > MAX_NUMBERS:
        return {
            **record,
            "values": None,
            "note": f"the value has {count} numbers: sum over an axis, or select elements",
        }
    return {**record, "values": finite(value.tolist())}


def equivalent(first: str, second: str, types: Mapping[str, str], given: str) -> Record:
    from ..teaching.equivalence import equivalent

    shapes: dict[str, Any] = {**types}
    comparison = equivalent(first, second, given=given, **shapes)
    return {
        "equal": bool(comparison),
        "proved": comparison.proved,
        "difference": comparison.difference,
        "message": str(comparison),
    }


def derive(formula: str, wrt: str, types: Mapping[str, str], sizes: Mapping[str, int], syntax: str) -> Record:
    from ..programs.api import derivative

    derived: Any = derivative(formula, wrt, syntax=syntax)
    record: Record = {"derivative": derived.to_text()}
    try:
        closed = derived.closed_form(sizes=sizes, **types)
        expression = closed.expression
    except NotationError as problem:
        if problem.code not in (404, 405):
            raise
        return {**record, "closed_form": None, "note": problem.message}
    steps = [{"rule": step.rule, "equation": step.equation} for step in closed.steps]
    return {**record, "closed_form": str(closed), "latex": expression.to_latex(), "steps": steps}


def translate(source: str, axes: Mapping[str, Any], kind: str, reading: int | None) -> Record:
    from ..positional.translation import translate
    from .translate import RECORDED

    translation = translate(source, axes, kind=kind, reading=reading)
    return {name: getattr(translation, name) for name in RECORDED}


def read(code: str | None, target: str, inputs: Mapping[str, str], against: str | None) -> Record:
    """Read a module of PyTorch in a file below the folder `code`; its file runs."""
    from ..positional.torch_reading import from_torch
    from ..teaching.equivalence import equivalent
    from .read import TARGET, examples, input_of, subject_of

    match = TARGET.fullmatch(target)
    if match is None:
        raise NotationError(409, f"{target!r} is not a module", hint="write model.py:Attention(16, heads=2)")
    if code is None:
        hint = "start the server with --code FOLDER, which allows it to run the Python files in this folder"
        raise NotationError(409, "this server runs no Python files", hint=hint)
    path = Path(code, match["file"]).resolve()
    if not path.is_relative_to(Path(code).resolve()):
        raise NotationError(409, f"{match['file']} is outside the folder of --code", hint="name a file in it")
    subject = subject_of(f"{path}{target[len(match['file']) :]}")
    words = [input_of(f"{name}={axes}") for name, axes in inputs.items()]
    names = {name: " ".join(axis for axis, _ in axes) for name, axes, _ in words}
    program = from_torch(subject, names=names, **examples(subject, words))
    record: Record = {"program": program.text, "axes": list(program.axes), "notes": list(map(str, program.reading))}
    record["remarks"] = [remark.sentence for remark in program.remarks]
    if against is not None:
        comparison = equivalent(program, against)
        record["against"] = {
            "equal": bool(comparison),
            "message": str(comparison),
            "lines": [line.line for line in comparison.lines],
        }
    return record


TOOLS: dict[str, Callable[..., Record]] = {
    tool.__name__: tool for tool in (check, evaluate, equivalent, derive, translate, read)
}


def _tensor(value: Any, name: str) -> Any:
    from ..core.tensor import tensor

    if isinstance(value, (bool, int, float)):
        return value
    if not isinstance(value, Mapping) or set(value) != {"data", "axes"}:
        raise wrong(value, f"the input {name}", "a number, or data with axes", INPUT_HINT)
    return tensor(value["data"], value["axes"])


# ------------------------------------------------------------------------------------------------------- in the process
def prepare() -> None:
    """Load what most questions need."""
    check("softmax_{a}(X ⊙_{b} Y)", {"X": "ℝ^{b}", "Y": "ℝ^{a × b}"}, {}, "auto")


def answer_line(line: bytes) -> bytes:
    """Return the answer to a line: the name of a tool, and its arguments."""
    question = json.loads(line)
    record = answer(question["tool"], question["arguments"])
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "replace")  # A lone surrogate is not a character.


def answer(tool: str, arguments: Record) -> Record:
    """The record of a tool, or of the error."""
    try:
        with recursion_headroom():
            return {"ok": True, **TOOLS[tool](**arguments)}
    except NotationError as problem:
        return error_answer(problem)
    except InputError as problem:
        return error_answer(NotationError(409, str(problem)))
    except MemoryError:
        return error_answer(NotationError(404, "the result does not fit in memory", hint="make it smaller"))


def error_answer(problem: NotationError) -> Record:
    return {"ok": False, "message": problem.to_text(), "error": error_record(problem)}
