"""The command `render`: converts a formula to another syntax, or prints its tree."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from grammar.plain_text import SAMPLE, shows

from .arguments import source_of
from .console import Console
from .parsers import Command, formula_arguments


def spelling_argument(parser: argparse.ArgumentParser, message: str) -> None:
    parser.add_argument(
        "--to",
        choices=list(SPELLINGS),
        help=message,
    )


def _tree(program: Any) -> str:
    from .tree import outline

    return outline(program)


def _spell(name: str, **options: Any) -> Callable[[Any], str]:
    def spelled(program: Any) -> str:
        from grammar import printer

        return getattr(printer, name)(program, **options)

    return spelled


PAGE = 34.5  # ems of a line of the class `article`
SPELLINGS: dict[str, Callable[[Any], str]] = {
    "text": _spell("to_text"),
    "ascii": _spell("to_text", ascii=True),
    "latex": _spell("to_latex"),
    "latex-macros": _spell("to_latex", macros=True),
    "latex-display": _spell("to_latex", macros=True, width=PAGE),
    "tree": _tree,
}


def render_command(options: Any, console: Console) -> None:
    from grammar.parser import parse, spelling_of

    source = source_of(options)
    program = parse(source.text, source.syntax)
    spelling = spelling_of(source.text) if source.syntax == "auto" else source.syntax
    return spell(program, options.to or ("text" if spelling == "latex" else "latex"), options, console)


def spell(program: Any, to: str, options: Any, console: Console) -> None:
    """Print a tree in a syntax; in ASCII where the terminal shows no more."""
    if to == "text" and (options.ascii or not shows(sys.stdout, SAMPLE)):
        to = "ascii"
    if options.json:
        from .tree import record

        console.json(
            {"to": to, "tree" if to == "tree" else "text": record(program) if to == "tree" else SPELLINGS[to](program)}
        )
    else:
        console.print(SPELLINGS[to](program))


def render_arguments(parser: argparse.ArgumentParser) -> None:
    formula_arguments(parser, inputs="")
    spelling_argument(parser, "the output format (default: LaTeX, or text for a LaTeX formula)")


RENDER_EXAMPLES = r"""
  namedtensor render 'softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V'
  namedtensor render '\nfun{\seq}{softmax} X' --to ascii
  namedtensor render layers.nt --to latex-macros
  namedtensor render 'A + 2 x' --to tree
"""
COMMAND = Command(
    "convert a formula to text, ASCII or LaTeX, or show its tree", render_arguments, render_command, RENDER_EXAMPLES
)
