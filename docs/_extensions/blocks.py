"""The executable blocks of a page, for the build and the tests. This module does not import Sphinx.

A page is Markdown. A block is a fence marked `{run}` (Python) or `{formula}` (a formula to evaluate). The blocks of
a page run from the top in one namespace, which starts with `np`, `nt` and `grammar`. A block that raises fails the page,
unless it has the option `:error:`. Then it must raise, and the page shows the message.

    ```{formula}
    :with: A, W^Q=w        inputs: names of the page, or NAME=expression
    :sizes: heads=2        sizes of axes
    :call: Attention(Q)    call a function that the formula defines
    :of: h^3               show the value of this name, not of the last statement
    :as: Y                 keep the value under this name
    :error:                it must fail
    :quiet:                show no value
    :picture: a.svg TEXT   store the resulting picture in this file, with a description
    A ⊙_{height} x
    ```
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import re
import zlib
from dataclasses import dataclass, field
from typing import Any

FENCE = re.compile(
    r"^(?P<ticks>```+)\{(?P<kind>run|formula)\}[^\n]*\n(?P<body>.*?)^(?P=ticks)[ ]*$", re.DOTALL | re.MULTILINE
)
MOST_NUMBERS = 400  # in a tensor that a link contains
OPTION = re.compile(r":([a-z]+):[ ]*(.*)")


@dataclass(frozen=True)
class Block:
    kind: str
    options: dict[str, str]
    body: str
    line: int = 0


@dataclass(frozen=True)
class Outcome:
    """The result of a block: its printed text, its value, or the expected error."""

    printed: str = ""
    value: Any = None
    error: BaseException | None = None
    latex: str | None = None
    state: dict[str, Any] | None = None  # of the playground that the link opens

    def text(self) -> str:
        """Return the result as plain text."""
        parts = [self.printed.rstrip("\n")] if self.printed else []
        if self.error is not None:
            parts.append(str(self.error))
        elif self.value is not None:
            parts.append(str(self.value) if isinstance(self.value, str) else repr(self.value))
        return "\n".join(parts)


@dataclass
class Page:
    """The namespace and the axis colors that the blocks of one page share."""

    names: dict[str, Any] = field(default_factory=dict)
    axes: dict[str, None] = field(default_factory=dict)  # in the order in which formulas name them

    def __post_init__(self):
        import numpy as np

        import grammar
        import namedtensor as nt

        self.names.update(np=np, nt=nt, grammar=grammar, __name__="page")

    def run(self, block: Block) -> Outcome:
        work = self._python if block.kind == "run" else self._formula
        printed = io.StringIO()
        error = None
        value = latex = None
        with contextlib.redirect_stdout(printed):
            try:
                value, latex = work(block)
            except Exception as problem:
                if "error" not in block.options:
                    raise
                error = problem
        if "error" in block.options and error is None:
            raise AssertionError(f"this block should raise an error, but its value is {value!r}:\n{block.body}")
        shown = None if "quiet" in block.options else value
        return Outcome(printed.getvalue(), shown, error, latex, self.state(block) if block.kind == "formula" else None)

    def state(self, block: Block) -> dict[str, Any] | None:
        """Return the playground's state for a formula and its inputs, or None if an input is large or has another type."""
        options, text = block.options, block.body
        inputs = dict(self._pair(item) for item in split(options.get("with", "")))
        if "call" in options:
            name, _, arguments = options["call"].partition("(")
            words = split(arguments.rstrip().removesuffix(")"))
            if not all(word.isidentifier() for word in words):
                return None
            inputs |= {word: self.names[word] for word in words}
            text += f"\n{options['call']}"
        elif "of" in options:
            text += f"\n{options['of']}"
        sizes = dict(self._pair(item) for item in split(options.get("sizes", "")))
        result: dict[str, Any] = {"text": text, "inputs": {}, "values": {}, "sizes": sizes}
        for name, value in inputs.items():
            if isinstance(value, (int, float)):
                result["inputs"][name] = value
            elif hasattr(value, "axes") and value.to_array(value.axes).size <= MOST_NUMBERS:
                result["inputs"][name] = str(value.shape)
                result["values"][name] = rounded(value.to_array(value.axes).tolist())
            else:
                return None
        return {key: entry for key, entry in result.items() if entry}

    def _python(self, block: Block):
        tree = ast.parse(block.body)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
        exec(compile(tree, "<page>", "exec"), self.names)
        return (eval(compile(last, "<page>", "eval"), self.names) if last else None), None

    def _formula(self, block: Block):
        nt = self.names["nt"]
        options = block.options
        inputs = dict(self._pair(item) for item in split(options.get("with", "")))
        sizes = dict(self._pair(item) for item in split(options.get("sizes", "")))
        if "call" in options or "of" in options:
            program = nt.program(block.body)
            if "call" in options:
                name, _, arguments = options["call"].partition("(")
                positional = [eval(item, self.names) for item in split(arguments.rstrip().removesuffix(")"))]
                value = program[name.strip()](*positional, values=inputs, sizes=sizes)
            else:
                value = program[options["of"]](values=inputs, sizes=sizes)
        else:
            value = nt.evaluate(block.body, inputs, sizes=sizes)
        if "as" in options:
            self.names[options["as"]] = value
        return value, self._typeset(nt.program(block.body).to_text())

    def _typeset(self, text: str) -> str:
        """Return LaTeX with a CSS class for each axis. All blocks of the page use the same colors."""
        from grammar.parser import parse
        from grammar.printer import to_latex
        from grammar.printer.runs import axes_in
        from namedtensor.display.colors import classes, tints

        tree = parse(text)
        self.axes.update(dict.fromkeys(axes_in(tree)))
        latex = to_latex(tree, colors={axis: classes(tint) for axis, tint in tints(self.axes).items()})
        return latex.replace("\\textcolor{nt-", "\\htmlClass{nt-")

    def _pair(self, item: str):
        name, _, expression = item.partition("=")
        return name.strip(), eval(expression or name, self.names)


def rounded(numbers: Any) -> Any:
    """Round nested lists of numbers to six digits, which keeps links short."""
    return [*map(rounded, numbers)] if isinstance(numbers, list) else float(f"{numbers:.6g}")


def packed(state: dict[str, Any]) -> str:
    """Return the URL fragment that opens the playground with a state: base64url(deflate-raw(JSON))."""
    squeezed = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = squeezed.compress(json.dumps(state, ensure_ascii=False, separators=(",", ":")).encode()) + squeezed.flush()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def split(items: str) -> list[str]:
    """Split a list at the commas outside brackets."""
    result, depth, start = [], 0, 0
    for position, character in enumerate(items):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            result.append(items[start:position].strip())
            start = position + 1
    result.append(items[start:].strip())
    return [item for item in result if item]


def blocks_of(text: str) -> list[Block]:
    """Return the blocks of a page, in order."""
    blocks = []
    for match in FENCE.finditer(text):
        options, lines = {}, match["body"].splitlines()
        while lines and (option := OPTION.fullmatch(lines[0].rstrip())):
            options[option[1]] = option[2]
            lines.pop(0)
        line = text.count("\n", 0, match.start()) + 1
        blocks.append(Block(match["kind"], options, "\n".join(lines).strip("\n"), line))
    return blocks
