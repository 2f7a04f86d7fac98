"""The command `render`: converts a formula to another syntax, or prints its tree."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from grammar.plain_text import SAMPLE, shows

from .arguments import source_of
from .console import Console
from .parsers import FORMULA, JSON, SYNTAX, Argument, command


# ------------------------------------------------------------------------------------------------------ the syntax tree
def outline(node: Any) -> str:
    """Return the tree below `node` as indented lines, one for each node.

    >>> from grammar.parser import parse
    >>> print(outline(parse("2 x").statements[0]))
    Value
      body: Call operator='juxtaposed'
        arguments: Number value=2
        arguments: Name text='x'
    """
    lines: list[str] = []
    stack: list[tuple[int, str, Any]] = [(0, "", node)]
    while stack:
        depth, part, current = stack.pop()
        fields = {name: getattr(current, name) for name in current.__slots__ if not name.endswith("span")}
        plain = {name: value for name, value in fields.items() if isinstance(value, (str, int, float)) and value != ""}
        words = [type(current).__name__, *(f"{name}={value!r}" for name, value in plain.items())]
        lines.append("  " * depth + (f"{part}: " if part else "") + " ".join(words))
        parts = [(depth + 1, name, child) for name, value in fields.items() for child in _nodes_in(value)]
        stack.extend(reversed(parts))
    return "\n".join(lines)


def _nodes_in(value: Any) -> Iterator[Any]:
    """Yield the nodes in a field, which may be a nested tuple."""
    if isinstance(value, tuple):
        for item in value:
            yield from _nodes_in(item)
    elif hasattr(value, "span"):
        yield value


def record(node: Any) -> Any:
    """Return the tree as plain dictionaries and lists, for JSON."""
    if isinstance(node, tuple):
        return [record(part) for part in node]
    if not hasattr(node, "span"):
        return node
    fields = {name: record(getattr(node, name)) for name in node.__slots__ if name != "span"}
    return {"node": type(node).__name__, **fields, "span": list(node.span)}


# -------------------------------------------------------------------------------------------------------- the spellings
def make_printer(name: str, **options: Any) -> Callable[[Any], str]:
    """Return a function that prints a program by the function `name` of the module `grammar.printer`."""

    def print_program(program: Any) -> str:
        from grammar import printer

        return getattr(printer, name)(program, **options)

    return print_program


PAGE = 34.5  # ems of a line of the class `article`
SPELLINGS: dict[str, Callable[[Any], str]] = {
    "text": make_printer("to_text"),
    "ascii": make_printer("to_text", ascii=True),
    "latex": make_printer("to_latex"),
    "latex-macros": make_printer("to_latex", macros=True),
    "latex-display": make_printer("to_latex", macros=True, width=PAGE),
    "tree": outline,
}


@command(
    FORMULA,
    SYNTAX,
    JSON,
    Argument("--to", tuple(SPELLINGS), "the output format (default: LaTeX, or text for a LaTeX formula)"),
)
def render_command(options: Any, console: Console) -> None:
    r"""Convert a formula to text, ASCII or LaTeX, or show its tree.

    namedtensor render 'softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V'
    namedtensor render '\nfun{\seq}{softmax} X' --to ascii
    namedtensor render layers.nt --to latex-macros
    namedtensor render 'A + 2 x' --to tree
    """
    from grammar.parser import parse, spelling_of

    source = source_of(options)
    program = parse(source.text, source.syntax)
    spelling = spelling_of(source.text) if source.syntax == "auto" else source.syntax
    return spell(program, options.to or ("text" if spelling == "latex" else "latex"), options, console)


def spell(program: Any, to: str, options: Any, console: Console) -> None:
    """Print a program in a syntax. Text becomes ASCII if the terminal cannot show other characters."""
    if to == "text" and (options.ascii or not shows(sys.stdout, SAMPLE)):
        to = "ascii"
    if options.json:
        console.json({"to": to, **({"tree": record(program)} if to == "tree" else {"text": SPELLINGS[to](program)})})
    else:
        console.print(SPELLINGS[to](program))
