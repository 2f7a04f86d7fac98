"""The command line: subcommands that evaluate, check, convert and explain formulas.

    namedtensor eval 'softmax_{key} A' A=A.json:query,key

Each command is a record: its help, arguments, examples and function. `arguments` and `inputs` read what a command is
given; `console` writes its output. Exit status: 0 success, 1 error in the formula or an input, 2 usage error.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..core.settings import recursion_headroom
from ..core.suggestions import did_you_mean, near
from ..core.version import __version__
from ..files.text import InputError
from .arguments import FormulaSource, place_of
from .check import check_command
from .console import (
    AT_THE_PROMPT,
    FINE,
    INTERRUPTED,
    WRONG_FORMULA,
    WRONG_USE,
    Console,
    StreamProblem,
    error_record,
    rehinted,
)
from .cost import cost_command, without_argument
from .derive import DERIVE_EXAMPLES, derive_arguments, derive_command
from .devices import DEVICES_EXAMPLES, devices_arguments, devices_command
from .evaluate import EVAL_EXAMPLES, eval_arguments, eval_command
from .explain import (
    DIAGRAM_EXAMPLES,
    EXPLAIN_EXAMPLES,
    diagram_arguments,
    diagram_command,
    explain_arguments,
    explain_command,
)
from .gradient import GRADIENT_EXAMPLES, gradient_arguments, gradient_command
from .help import HELP_EXAMPLES, help_arguments, help_command
from .lsp import LSP_EXAMPLES, lsp_arguments, lsp_command
from .mcp import MCP_EXAMPLES, mcp_arguments, mcp_command
from .parsers import Parser, check_arguments, formula_arguments
from .playground import PLAYGROUND_EXAMPLES, playground_arguments, playground_command
from .read import READ_EXAMPLES, read_arguments, read_command
from .render import render_command, spelling_argument
from .to_code import (
    EINSUM_EXAMPLES,
    JAVASCRIPT_EXAMPLES,
    PARAMETERS_EXAMPLES,
    PYTHON_EXAMPLES,
    einsum_arguments,
    einsum_command,
    javascript_arguments,
    javascript_command,
    parameters_arguments,
    parameters_command,
    python_arguments,
    python_command,
)
from .translate import TRANSLATE_EXAMPLES, translate_arguments, translate_command


# -------------------------------------------------------------------------------------------------------------- commands
class Command(NamedTuple):
    """One word after `namedtensor`; `run` returns the exit status, or None for 0."""

    meaning: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[Any, Console], int | None]
    examples: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command as from a terminal; return the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = _status(words)
        if sys.stdout is not None:
            Console().flush()
        return status
    except BrokenPipeError:
        _let_go()  # the reader has gone
        return WRONG_FORMULA
    except StreamProblem as problem:
        Console().note(f"namedtensor: {problem}")
        _let_go()
        return WRONG_USE
    except KeyboardInterrupt:
        return INTERRUPTED


def _status(words: list[str]) -> int:
    """Return the exit status, also if argparse ends the command, after help or a usage error."""
    try:
        return _dispatch(words)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else WRONG_USE


def _let_go() -> None:
    """What Python still holds for standard output must not be written when the process ends."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _dispatch(words: list[str]) -> int:
    if words[:1] == ["help"] and len(words) == 2 and words[1] in COMMANDS:
        words = [words[1], "--help"]
    if not words or words[0] not in COMMANDS:
        if words and words[0][:1] != "-" and (meant := near(words[0], COMMANDS)):
            _overview().error(f"there is no command {words[0]}; {did_you_mean(meant)}")
        _overview().parse_args(words or ["--help"])
        return FINE
    options = _parser(words[0], COMMANDS[words[0]]).parse_intermixed_args(_guarded(words[1:]))
    console = Console(options.ascii, getattr(options, "json", False))
    try:
        with recursion_headroom():
            return COMMANDS[words[0]].run(options, console) or FINE
    except NotationError as problem:
        return _failed(problem, options, console)
    except InputError as problem:
        return _misused(problem, console)
    except MemoryError:
        return _failed(NotationError(404, "the result does not fit in memory"), options, console)


def _guarded(words: list[str]) -> list[str]:
    """The words, those after -- so that none is taken for an option: one that holds a blank never is."""
    if "--" not in words:
        return words
    at = words.index("--")
    return words[:at] + [f" {word}" if word[:1] == "-" and word != "-" else word for word in words[at + 1 :]]


def _failed(problem: NotationError, options: Any, console: Console) -> int:
    source: FormulaSource | None = getattr(options, "source", None)
    if console.machine:
        console.json({"error": error_record(rehinted(problem, console.hints), source.name if source else None)})
    else:
        console.note(console.error(problem, place_of(problem, source)))
    return WRONG_FORMULA


def _misused(problem: InputError, console: Console) -> int:
    if console.machine:
        record = dict.fromkeys(("code", "line", "column", "span", "span_text", "hint", "symbol", "axis", "reason"))
        console.json({"error": {"kind": "input", "message": str(problem), **record}})
    else:
        console.note(f"namedtensor: {problem}")
    return WRONG_USE


# --------------------------------------------------------------------------------------------------------------- parsers


def _overview() -> argparse.ArgumentParser:
    lines = [f"  {name:<13} {command.meaning}" for name, command in COMMANDS.items()]
    parser = Parser(
        prog="namedtensor",
        description="Run formulas in named tensor notation, as text or as LaTeX.",
        usage="namedtensor COMMAND ...",
        epilog="commands:\n" + "\n".join(lines) + "\n\nnamedtensor COMMAND --help shows its options and examples.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"namedtensor {__version__}")
    parser.add_argument("command", metavar="COMMAND", choices=list(COMMANDS), help="a command of the list below")
    return parser


def _parser(name: str, command: Command) -> argparse.ArgumentParser:
    parser = Parser(
        prog=f"namedtensor {name}",
        description=command.meaning[:1].upper() + command.meaning[1:] + ".",
        epilog=f"examples:\n{command.examples.strip(chr(10))}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.arguments(parser)
    parser.add_argument("--ascii", action="store_true", help="write only ASCII: A @_{key} B, R^{a, b}")
    return parser


# ----------------------------------------------------------------------------------------------------------------- check
CHECK_EXAMPLES = """
  namedtensor check 'A ⊙_{widht} x' A='ℝ^{height[3] × width[3]}' x='R^{width[3]}'
  namedtensor check layers.nt --sizes heads=8 X=x.npy:seq,chans
  namedtensor check paper.tex notes.md talk.ipynb      documents, with the files they include
  namedtensor check model.py --all                     formulas in strings that are passed to nt.evaluate, nt.program, …
  namedtensor check paper.tex --strict --format github --ignore 314
  namedtensor check paper.tex --assumptions assumptions.nt --baseline known.json
"""


# ------------------------------------------------------------------------------------------------------------------ cost
def _cost_arguments(parser: argparse.ArgumentParser) -> None:
    formula_arguments(parser, "shapes with sizes, Q='ℝ^{seq[512] × key[64]}', or tensors")
    without_argument(parser)


COST_EXAMPLES = """
  namedtensor cost 'A ⊙_{width} x' A='ℝ^{height[300] × width[400]}' x='R^{width[400]}'
  namedtensor cost 'softmax_{seq}(Q @_{key} K) @_{seq} V' Q='R^{key}' K='R^{seq, key}' V='R^{seq, val}' --sizes seq=4096,key=64,val=64
  namedtensor cost 'gelu(X)' X='R^{seq[4096], hidden[2048]}' --disable tiling --json
  namedtensor cost layers.nt X=x.npy:seq,chans

  A shape has dtype float32. The steps are those for NumPy.
"""


# ---------------------------------------------------------------------------------------------------------------- render
def _render_arguments(parser: argparse.ArgumentParser) -> None:
    formula_arguments(parser, inputs="")
    spelling_argument(parser, "the output format (default: LaTeX, or text for a LaTeX formula)")


RENDER_EXAMPLES = r"""
  namedtensor render 'softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V'
  namedtensor render '\nfun{\seq}{softmax} X' --to ascii
  namedtensor render layers.nt --to latex-macros
  namedtensor render 'A + 2 x' --to tree
"""


# ------------------------------------------------------------------------------------------------------------------ repl
def _repl_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="a program to load first, as :load FILE does")
    parser.add_argument("inputs", metavar="NAME=...", nargs="*", help="tensors and numbers to load first")
    parser.add_argument("--plain", action="store_true", help="plain input, even if prompt_toolkit is installed")


def _repl(options: Any, console: Console) -> int:
    from .repl import run

    console.hints = AT_THE_PROMPT
    words = [*([options.file] if options.file else []), *options.inputs]
    files = [word for word in words if "=" not in word]
    return run(files, [word for word in words if "=" in word], options.plain, console)


REPL_EXAMPLES = r"""
  namedtensor repl
  namedtensor repl layers.nt X=x.npy:seq,chans
  namedtensor repl < session.txt

  At the prompt, \odot and Tab give ⊙, and :help lists the commands.
"""


# ------------------------------------------------------------------------------------------------------------- exercises
def _exercises_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "act",
        choices=("validate", "release", "grade"),
        help="validate a file, release a copy for students, or grade answers",
    )
    parser.add_argument(
        "file", metavar="FILE.nt", help="exercises, or 'lesson 1'; with grade, a submission or a folder of submissions"
    )
    parser.add_argument("-o", "--out", metavar="PATH", help="output path of the released file or of the grades")
    parser.add_argument("--key", metavar="FILE.nt", help="the exercises with reference solutions, or 'lesson 1'")
    parser.add_argument(
        "--to",
        choices=("csv", "moodle", "gradescope", "nbgrader", "json"),
        help="format of the grades (default: text); csv and moodle are for a folder",
    )
    parser.add_argument("--roster", metavar="FILE.csv", help="names and e-mail addresses of the students, for a folder")
    parser.add_argument(
        "--report", metavar="PATH", help="write a report of the most common mistakes in a folder: .html or .txt"
    )
    parser.add_argument(
        "--counts", choices=("last", "best", "first"),
        help="the attempt that counts (default: that of the file of exercises, else last)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random tests (default: 0)")


def _exercises(options: Any, console: Console) -> int | None:
    from .exercises import exercises_command  # needs arrays

    return exercises_command(options, console)


EXERCISES_EXAMPLES = """
  namedtensor exercises validate week3.nt               validate reference solutions and common mistakes
  namedtensor exercises release 'lesson 1' -o student/
  namedtensor exercises release week3.nt -o student/    write a self-grading copy without solutions
  namedtensor exercises grade ada.nt --key week3.nt     grade each answer and print the feedback
  namedtensor exercises grade ada.nt --key week3.nt --to gradescope
  namedtensor exercises grade handed-in/ --key week3.nt --to csv -o grades.csv --report report.html
  namedtensor exercises grade handed-in/ --key week3.nt --to moodle --roster students.csv -o grades.csv"""


COMMANDS = {
    "eval": Command(
        "print the value of a formula as a table with named axes", eval_arguments, eval_command, EVAL_EXAMPLES
    ),
    "check": Command(
        "print types, errors and warnings, with no data needed", check_arguments, check_command, CHECK_EXAMPLES
    ),
    "explain": Command(
        "print every step of a formula with its type and value", explain_arguments, explain_command, EXPLAIN_EXAMPLES
    ),
    "derive": Command(
        "print the derivative of a formula, as a formula or as a value",
        derive_arguments,
        derive_command,
        DERIVE_EXAMPLES,
    ),
    "gradient": Command(
        "print the gradients of a scalar with respect to its parameters",
        gradient_arguments,
        gradient_command,
        GRADIENT_EXAMPLES,
    ),
    "cost": Command(
        "print operations and bytes of a formula, step by step, with no data needed",
        _cost_arguments,
        cost_command,
        COST_EXAMPLES,
    ),
    "diagram": Command(
        "draw the data flow of a program with its types, as SVG",
        diagram_arguments,
        diagram_command,
        DIAGRAM_EXAMPLES,
    ),
    "parameters": Command(
        "print the parameters of a program (declared, not defined) with their shapes",
        parameters_arguments,
        parameters_command,
        PARAMETERS_EXAMPLES,
    ),
    "render": Command(
        "convert a formula to text, ASCII or LaTeX, or show its tree",
        _render_arguments,
        render_command,
        RENDER_EXAMPLES,
    ),
    "to-python": Command(
        "print a formula as a function for NumPy, PyTorch or JAX, or as a PyTorch module",
        python_arguments,
        python_command,
        PYTHON_EXAMPLES,
    ),
    "to-javascript": Command(
        "print a formula as a JavaScript module", javascript_arguments, javascript_command, JAVASCRIPT_EXAMPLES
    ),
    "to-einsum": Command(
        "print the equivalent call of einsum, if any", einsum_arguments, einsum_command, EINSUM_EXAMPLES
    ),
    "translate": Command(
        "translate matrix notation, index notation, einsum or array code to a formula",
        translate_arguments,
        translate_command,
        TRANSLATE_EXAMPLES,
    ),
    "read": Command(
        "read a PyTorch module as a program, and compare it with a formula", read_arguments, read_command, READ_EXAMPLES
    ),
    "exercises": Command(
        "validate, release and grade files of exercises", _exercises_arguments, _exercises, EXERCISES_EXAMPLES
    ),
    "playground": Command(
        "open an interactive page for formulas: types, steps, values, exercises",
        playground_arguments,
        playground_command,
        PLAYGROUND_EXAMPLES,
    ),
    "repl": Command("evaluate formulas at a prompt; names and values persist", _repl_arguments, _repl, REPL_EXAMPLES),
    "devices": Command(
        "print memory, FLOPs and communication of each device of a mesh, with no devices needed",
        devices_arguments,
        devices_command,
        DEVICES_EXAMPLES,
    ),
    "lsp": Command(
        "run the language server: errors, types, completion and renaming in editors",
        lsp_arguments,
        lsp_command,
        LSP_EXAMPLES,
    ),
    "mcp": Command(
        "run the MCP server: check, evaluate, derive and other tools for language models",
        mcp_arguments,
        mcp_command,
        MCP_EXAMPLES,
    ),
    "help": Command("describe a function, an operator or an error", help_arguments, help_command, HELP_EXAMPLES),
}

__all__ = ["main"]
