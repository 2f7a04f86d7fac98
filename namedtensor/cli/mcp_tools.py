"""Tools of `namedtensor mcp` for the Model Context Protocol, which run in a separate process with limits.

Each tool calls public functions of the package, and returns the result as a record. For a formula or an
input with an error, the record describes the error.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from grammar.errors import NotationError

from ..core.kinds import wrong
from ..core.processes import AnsweringProcess
from ..core.settings import recursion_headroom
from ..core.version import __version__
from ..files.text import InputError, finite
from .console import error_record

if TYPE_CHECKING:
    from mcp.server import MCPServer

MAX_NUMBERS = 10_000  # elements of the largest value that a tool returns
INPUT_HINT = 'write {"X": {"data": [[1, 2], [3, 4]], "axes": "a b"}}, or a number'
INSTRUCTIONS = """\
Tools for named tensor notation (Chiang, Rush, Barak): formulas whose tensors have named axes, as text or as LaTeX.
softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V is attention: ⊙_{key} multiplies and sums over the axis key, |key| is its size, and
axes are aligned by name. ASCII works too: @_{key} for ⊙_{key}, sum_{a} for ∑_{a}. Types are written ℝ^{seq × key[64]}, or
R^{seq, key[64]}. Several lines are definitions. In formulas, indices count from 1. If "ok" is false, "message" says
what is wrong and how to fix it. Check a formula with `check` before you show it."""
Syntax = Literal["auto", "text", "latex"]
Types = dict[str, str]
Sizes = dict[str, int]
Record = dict[str, Any]
NONE: dict[str, Any] = {}  # the default of an argument, which no tool changes


def check(formula: str, types: Types = NONE, sizes: Sizes = NONE, syntax: Syntax = "auto") -> Record:
    """Infer the type of a formula or program and of each name in it, without data, or report every error with a fix.

    types: the type of each input, such as {"Q": "ℝ^{key}", "K": "ℝ^{seq × key}"}; sizes: the sizes that the types leave
    open.
    """
    from ..programs.api import check
    from .check import make_check_record

    checked = check(formula, types, sizes=sizes, syntax=syntax)
    record = make_check_record(checked, None)
    return record if checked.ok else {**record, "message": "\n\n".join(error.to_text() for error in checked.errors)}


def evaluate(formula: str, inputs: dict[str, Any] = NONE, sizes: Sizes = NONE, syntax: Syntax = "auto") -> Record:
    """Compute the value of a formula.

    inputs: numbers, or nested lists with the names of their axes, such as {"X": {"data": [[1, 2], [3, 4]], "axes": "a
    b"}}.
    """
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


def equivalent(first: str, second: str, types: Types = NONE, given: str = "") -> Record:
    """Test whether two formulas have the same axes and values; if they differ, describe how.

    types: the type of each input; given: statements that both formulas may use.
    """
    from ..teaching.equivalence import equivalent

    shapes: dict[str, Any] = {**types}
    comparison = equivalent(first, second, given=given, **shapes)
    record = {"equal": bool(comparison), "proved": comparison.proved, "difference": comparison.difference}
    return {**record, "message": str(comparison)}


def derive(formula: str, wrt: str, types: Types = NONE, sizes: Sizes = NONE, syntax: Syntax = "auto") -> Record:
    """Differentiate a formula with respect to one of its names: the derivative, its closed form, and the steps.

    The axes of that name are starred in the result. types: the type of each input.
    """
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


def translate(source: str, axes: Types = NONE, kind: str = "", reading: int | None = None) -> Record:
    """Translate matrices, indices, einsum, einops, NumPy or PyTorch to a formula with named axes, and check it.

    axes: the axes of each input in order, such as {"Q": "query key", "K": "seq key"}; reading: the number of the
    interpretation of an ambiguous source, from 1. The source is never run.
    """
    from ..positional.translation import translate
    from .translate import RECORDED

    translation = translate(source, axes, kind=kind, reading=reading)
    return {name: getattr(translation, name) for name in RECORDED}


def read(target: str, inputs: Types, against: str | None = None, code: str | None = None) -> Record:
    """Read a PyTorch module or function in a file as a program, and compare it with a formula.

    target: a module, such as model.py:Attention(16, heads=2); inputs: the axes of each input, such as
    {"x": "batch,seq,chans[16]"}; against: the formula. The server must be started with --code FOLDER. The tool runs the
    file.
    """
    from ..teaching.equivalence import equivalent
    from .read import TARGET, read_module

    match = TARGET.fullmatch(target)
    if match is None:
        raise NotationError(409, f"{target!r} is not a module", hint="write model.py:Attention(16, heads=2)")
    if code is None:
        hint = "start the server with --code FOLDER, which allows it to run the Python files in this folder"
        raise NotationError(409, "this server runs no Python files", hint=hint)
    path = Path(code, match["file"]).resolve()
    if not path.is_relative_to(Path(code).resolve()):
        raise NotationError(409, f"{match['file']} is outside the folder of --code", hint="name a file in it")
    words = [f"{name}={axes}" for name, axes in inputs.items()]
    program = read_module(f"{path}{target[len(match['file']) :]}", words)
    record: Record = {"program": program.text, "axes": list(program.axes), "notes": list(map(str, program.reading))}
    record["remarks"] = [remark.sentence for remark in program.remarks]
    if against is not None:
        comparison = equivalent(program, against)
        lines = [line.line for line in comparison.lines]
        record["against"] = {"equal": bool(comparison), "message": str(comparison), "lines": lines}
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


class BoundedTools:
    """The tools with limits on time and memory. `code` is the folder of files that `read` may run, if given."""

    def __init__(self, seconds: float, memory: int, code: str | None = None):
        self.process = AnsweringProcess(__name__, memory)
        self.seconds, self.code = seconds, code

    def ask(self, tool: str, **arguments: Any) -> Record:
        """Return a tool's answer for these arguments, or an error if the tool takes too long."""
        folder = {"code": self.code} if tool == "read" else {}
        line = json.dumps({"tool": tool, "arguments": {**arguments, **folder}}).encode()
        try:
            return json.loads(self.process.ask_bounded(line, self.seconds))
        except NotationError as problem:
            return error_answer(problem)

    def bound(self, tool: Callable[..., Record]) -> Callable[..., Record]:
        """Wrap a tool to run with the server's limits. Clients cannot pass the argument `code`."""

        @wraps(tool)
        def ask(**arguments: Any) -> Record:
            return self.ask(tool.__name__, **arguments)

        signature = inspect.signature(tool, eval_str=True)
        shown = [parameter for name, parameter in signature.parameters.items() if name != "code"]
        ask.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
        return ask

    def close(self) -> None:
        self.process.close()


def server_of(tools: BoundedTools) -> MCPServer[Any]:
    """Return a server with these tools. Raise InputError if the package mcp is not installed."""
    try:
        from mcp.server import MCPServer
    except ImportError:
        raise InputError("namedtensor mcp needs the package mcp; pip install '.[mcp]'") from None
    server: MCPServer[Any] = MCPServer(
        "namedtensor", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    for tool in TOOLS.values():
        server.tool()(tools.bound(tool))
    return server


# ------------------------------------------------------------------------------------------------------- in the process
def prepare() -> None:
    """Load the modules that most requests need."""
    check("softmax_{a}(X ⊙_{b} Y)", {"X": "ℝ^{b}", "Y": "ℝ^{a × b}"}, {}, "auto")


def answer_line(line: bytes) -> bytes:
    """Return the answer to a line of JSON that contains the name of a tool and its arguments."""
    question = json.loads(line)
    record = answer(question["tool"], question["arguments"])
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "replace")  # A lone surrogate is not a character.


def answer(tool: str, arguments: Record) -> Record:
    """Return the record that a tool produces for these arguments, or the record of its error."""
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
