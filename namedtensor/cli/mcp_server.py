"""The server of `namedtensor mcp`: tools of the Model Context Protocol, over standard input and output.

Each tool is answered by `mcp_tools` in a process of its own, which is ended where one takes too long.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from grammar.errors import NotationError

from ..core.processes import AnsweringProcess
from ..core.version import __version__
from ..files.text import InputError
from .mcp_tools import error_answer

if TYPE_CHECKING:
    from mcp.server import MCPServer

INSTRUCTIONS = """\
Tools for named tensor notation (Chiang, Rush, Barak): formulas whose tensors have named axes, as text or as LaTeX.
softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V is attention: ⊙_{key} multiplies and sums over the axis key, |key| is its size, and
axes are aligned by name. ASCII works too: @_{key} for ⊙_{key}, sum_{a} for ∑_{a}. Types are written ℝ^{seq × key[64]}, or
R^{seq, key[64]}. Several lines are definitions. In formulas, indices count from 1. If "ok" is false, "message" says
what is wrong and how to fix it. Check a formula with `check` before you show it."""
Syntax = Literal["auto", "text", "latex"]
Types = dict[str, str]
Sizes = dict[str, int]
Answer = dict[str, Any]
NONE: dict[str, Any] = {}  # the default of an argument, which no tool changes


class BoundedTools:
    """The tools with limits of time and memory; `code` is the folder whose Python files `read` may run, if any."""

    def __init__(self, seconds: float, memory: int, code: str | None = None):
        self.process = AnsweringProcess(f"{__package__}.mcp_tools", memory)
        self.seconds, self.code = seconds, code

    def ask(self, tool: str, **arguments: Any) -> Answer:
        line = json.dumps({"tool": tool, "arguments": arguments}).encode()
        try:
            return json.loads(self.process.ask_bounded(line, self.seconds))
        except NotationError as problem:
            return error_answer(problem)

    def check(self, formula: str, types: Types = NONE, sizes: Sizes = NONE, syntax: Syntax = "auto") -> Answer:
        """Infer the type of a formula or program and of each name in it, without data, or report every error with a fix.

        types: the type of each input, such as {"Q": "ℝ^{key}", "K": "ℝ^{seq × key}"}; sizes: sizes that these leave open.
        """
        return self.ask("check", formula=formula, types=types, sizes=sizes, syntax=syntax)

    def evaluate(
        self, formula: str, inputs: dict[str, Any] = NONE, sizes: Sizes = NONE, syntax: Syntax = "auto"
    ) -> Answer:
        """Compute the value of a formula.

        inputs: a number, or nested lists with the names of their axes, {"X": {"data": [[1, 2], [3, 4]], "axes": "a b"}}.
        """
        return self.ask("evaluate", formula=formula, inputs=inputs, sizes=sizes, syntax=syntax)

    def equivalent(self, first: str, second: str, types: Types = NONE, given: str = "") -> Answer:
        """Test whether two formulas have the same axes and values; where they differ, say how.

        types: the type of each input; given: statements that both formulas may use.
        """
        return self.ask("equivalent", first=first, second=second, types=types, given=given)

    def derive(
        self, formula: str, wrt: str, types: Types = NONE, sizes: Sizes = NONE, syntax: Syntax = "auto"
    ) -> Answer:  # fmt: skip
        """Derive a formula by one of its names: the derivative, its closed form, and the steps to it.

        Axes of the name are starred in the result. types: the type of each input.
        """
        return self.ask("derive", formula=formula, wrt=wrt, types=types, sizes=sizes, syntax=syntax)

    def translate(self, source: str, axes: Types = NONE, kind: str = "", reading: int | None = None) -> Answer:
        """Translate matrices, indices, einsum, einops, NumPy or PyTorch to a formula with named axes, compared on tensors.

        axes: the axes of each input in order, {"Q": "query key", "K": "seq key"}; reading: which reading of an ambiguous
        source, from 1 on. The source is never run.
        """
        return self.ask("translate", source=source, axes=axes, kind=kind, reading=reading)

    def read(self, target: str, inputs: Types, against: str | None = None) -> Answer:
        """Read a PyTorch module or function in a file as a program, and compare it with a formula.

        target: model.py:Attention(16, heads=2); inputs: the axes of each input, {"x": "batch,seq,chans[16]"}; against: a
        formula. It needs a server with --code FOLDER, and runs the file.
        """
        return self.ask("read", code=self.code, target=target, inputs=inputs, against=against)

    def close(self) -> None:
        self.process.close()


def server_of(tools: BoundedTools) -> MCPServer[Any]:
    """The server with these tools. Raises InputError where the package mcp is not installed."""
    try:
        from mcp.server import MCPServer
    except ImportError:
        raise InputError("namedtensor mcp needs the package mcp; pip install 'named-tensor-notation[mcp]'") from None
    server: MCPServer[Any] = MCPServer(
        "namedtensor", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    for tool in (tools.check, tools.evaluate, tools.equivalent, tools.derive, tools.translate, tools.read):
        server.tool()(tool)
    return server
