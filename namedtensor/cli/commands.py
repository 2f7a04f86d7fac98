"""The command line: a formula and its tensors in, its value, type, spelling or error out.

    namedtensor eval 'softmax_{key} A' A=A.json:query,key

Each command is a record: what it means, its arguments, its examples, and the function that does it. What a command is
given is read by `given` and `files`, what it says is written by `console`. Exit status: 0 all is well, 1 the formula or a tensor is
wrong, 2 the command is.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..core.suggestions import did_you_mean, near
from ..files.formats import writable, write
from ..files.text import InputError, as_number
from ..programs.given_names import Told
from .arguments import Source, limits_of, place_of, sizes_of, source_of, values_of
from .check import check_command, shapes_of
from .console import AT_THE_PROMPT, Console, StreamProblem, error_record, rehinted
from .cost import cost_command, without_argument
from .inputs import read_value
from .render import render_command, spell, spelling_argument

FINE, WRONG_FORMULA, WRONG_USE, INTERRUPTED = 0, 1, 2, 130


# -------------------------------------------------------------------------------------------------------------- commands
class Command(NamedTuple):
    """One word after `namedtensor`."""

    meaning: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[Any, Console], int]
    examples: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command as from a terminal; the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = _dispatch(words)
        if sys.stdout is not None:
            Console().flush()
        return status
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else WRONG_USE
    except BrokenPipeError:
        _let_go()  # whoever read has gone
        return WRONG_FORMULA
    except StreamProblem as problem:
        Console().note(f"namedtensor: {problem}")
        _let_go()
        return WRONG_USE
    except KeyboardInterrupt:
        return INTERRUPTED


def _let_go() -> None:
    """What Python still holds for standard output must not be written when the process ends."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _dispatch(words: list[str]) -> int:
    if not words or words[0] not in COMMANDS:
        if words and (meant := near(words[0], COMMANDS)):
            _overview().error(f"there is no command {words[0]}; {did_you_mean(meant)}")
        _overview().parse_args(words or ["--help"])
        return FINE
    parser = _parser(words[0], COMMANDS[words[0]])
    options = parser.parse_intermixed_args(_guarded(words[1:]))
    console = Console(options.ascii, getattr(options, "json", False))
    try:
        return COMMANDS[words[0]].run(options, console)
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
    source: Source | None = getattr(options, "source", None)
    if console.machine:
        console.json({"error": error_record(rehinted(problem, console.hints), source.name if source else None)})
    else:
        console.note(console.error(problem, place_of(problem, source)))
    return WRONG_FORMULA


def _misused(problem: InputError, console: Console) -> int:
    if console.machine:
        record = dict.fromkeys(("number", "line", "column", "span", "span_text", "hint"))
        console.json({"error": {"kind": "input", "message": str(problem), **record}})
    else:
        console.note(f"namedtensor: {problem}")
    return WRONG_USE


# --------------------------------------------------------------------------------------------------------------- parsers
class _Parser(argparse.ArgumentParser):
    """Help and complaints go through a console: a terminal may be unable to show ⊙."""

    def _print_message(self, message: str, file: Any = None) -> None:
        if message:
            console = Console()
            (console.note if file is sys.stderr else console.print)(message.rstrip("\n"))

    def error(self, message: str) -> Any:
        if message.startswith("unrecognized arguments: -"):
            message += "; before a formula that begins with - write --"
        self.exit(WRONG_USE, f"{self.prog}: {message}\n{self.format_usage()}See {self.prog} --help.\n")


def _overview() -> argparse.ArgumentParser:
    from .. import __version__

    lines = [f"  {name:<8} {command.meaning}" for name, command in COMMANDS.items()]
    parser = _Parser(
        prog="namedtensor",
        description="Named tensor notation, executable: formulas as text or as LaTeX.",
        usage="namedtensor COMMAND ...",
        epilog="commands:\n" + "\n".join(lines) + "\n\nnamedtensor COMMAND --help shows examples of each.\n\n" + INPUTS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"namedtensor {__version__}")
    parser.add_argument("command", metavar="COMMAND", choices=list(COMMANDS), help="one of those below")
    return parser


def _parser(name: str, command: Command) -> argparse.ArgumentParser:
    parser = _Parser(
        prog=f"namedtensor {name}",
        description=command.meaning[:1].upper() + command.meaning[1:] + ".",
        epilog=f"examples:\n{command.examples.strip(chr(10))}\n\n{INPUTS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.arguments(parser)
    parser.add_argument("--ascii", action="store_true", help="write ASCII alone: A @_{key} B, R^{a, b}")
    return parser


INPUTS = """\
inputs:
  NAME=FILE:axis,axis           .json .npy .npz .csv .tsv .safetensors, the axes in the order of the file
  NAME=FILE[MEMBER]:axis,axis   one array of an .npz or .safetensors file, one column of a table
  NAME='[[1,2],[3,4]]:a,b'      a tensor written out;  NAME=2.5  a number
  A name is spelled as in text: W^Q, b_1, gamma. Before a formula that begins with - write --.

exit status: 0 all is well, 1 the formula or a tensor is wrong, 2 the command is"""


def _formula_arguments(parser: argparse.ArgumentParser, inputs: str = "the tensors and numbers it needs") -> None:
    parser.add_argument(
        "formula", metavar="FORMULA|FILE|-", help="a formula, a file (.nt text, .tex LaTeX), or - to read it"
    )
    if inputs:
        parser.add_argument("inputs", metavar="NAME=...", nargs="*", help=inputs)
        parser.add_argument(
            "--sizes", metavar="NAME=N,...", action="append", default=[], help="sizes that nothing else fixes: heads=8"
        )
    parser.add_argument(
        "--syntax", choices=("auto", "text", "latex"), default="auto", help="the spelling; auto tells by looks"
    )
    parser.add_argument("--json", action="store_true", help="results and errors as JSON")


# ------------------------------------------------------------------------------------------------------------------ eval
def _eval_arguments(parser: argparse.ArgumentParser) -> None:
    _formula_arguments(parser)
    _call_argument(parser)
    parser.add_argument(
        "--out", metavar="FILE", help="write the value to .npy, .npz, .json or .csv, and do not print it"
    )
    parser.add_argument("--strict", action="store_true", help="refuse an outer product that may be unintended")
    parser.add_argument(
        "--limit", metavar="NAME=N", action="append", default=[],
        help="raise a limit: nesting, literal, result, steps, text, pieces",
    )  # fmt: skip
    _digits_argument(parser)


def _digits_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--digits", metavar="N", type=_digits, help="print so many significant digits; 4 in tables where it is left out"
    )


def _digits(text: str) -> int:
    from ..tensors.digits import checked

    try:
        return checked(int(text) if text.isdecimal() else text)
    except NotationError as problem:
        raise argparse.ArgumentTypeError(problem.message) from None


def _call_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--call",
        metavar=("NAME", "ARGUMENT"),
        nargs="+",
        help="call a function of the program; arguments as after NAME=",
    )


def _eval(options: Any, console: Console) -> int:
    if options.out:
        writable(options.out)
    source = source_of(options)
    value = _value(options, source, console)
    if options.out:
        write(value, options.out)
        console.note(f"{options.out}: {value.shape}, axes in the order {', '.join(value.axes) or 'of none'}")
    if options.json:
        console.json({"value": value_record(value)})
    elif not options.out:
        console.print(table(value, options.digits))
    return FINE


def _value(options: Any, source: Source, console: Console) -> Any:
    from ..programs.api import evaluate, program

    name, arguments, values = _called(options, console)
    sizes = sizes_of(options.sizes)
    if name is not None:
        return program(source.text, source.syntax)[name](*arguments, values=values, sizes=sizes)
    limits = limits_of(options.limit)
    return evaluate(source.text, values, sizes=sizes, syntax=source.syntax, strict=options.strict, limits=limits)


def _called(options: Any, console: Console) -> tuple[str | None, list[Any], Told]:
    """The function that --call names, its arguments, and the inputs by name."""
    name, words = (options.call[0], options.call[1:]) if options.call else (None, [])
    values = values_of(options.inputs + [word for word in words if GIVEN.match(word)], console)
    words = [word for word in words if not GIVEN.match(word)]
    values.used = frozenset(words)
    return name, [_argument(word, values) for word in words], values


GIVEN = re.compile(r"[^=:\[\]/\\]+=")


def _argument(word: str, values: dict[str, Any]) -> Any:
    """An argument of --call: the name of an input, a number, a tensor."""
    if word in values:
        return values[word]
    if as_number(word) is None and not re.search(r"[:.\[]", word):
        known = f"; the inputs are {', '.join(values)}" if values else ""
        raise InputError(f"{word} is no input, number or tensor file{known}")
    return read_value(word, word)[0]


def table(value: Any, digits: int | None = None) -> str:
    from ..tensors.tables import text_table

    return text_table(value, digits)


def value_record(value: Any) -> dict[str, Any]:
    """A tensor for machines."""
    array = value.to_array(value.axes)
    record = {"axes": list(value.axes), "sizes": dict(value.sizes), "type": str(value.shape)}
    return {**record, "dtype": str(array.dtype), "data": array.tolist()}


EVAL_EXAMPLES = """
  namedtensor eval '1 + 1/2'
  namedtensor eval 'π / 3' --digits 12
  namedtensor eval 'A ⊙_{width} x' A='[[3,1,4],[1,5,9]]:height,width' x='[2,7,1]:width'
  namedtensor eval 'softmax_{seq}(Q @_{key} K / sqrt(|key|))' Q=q.npy:key K=k.npz[k]:seq,key
  namedtensor eval docs/examples/iris.nt X=docs/examples/iris.csv:flower,feature
  namedtensor eval layers.tex --call LayerNorm X X=x.json:seq,chans --sizes chans=512
  echo 'mean_{a} X' | namedtensor eval - X=x.csv:a,b --out mean.json
"""


# ----------------------------------------------------------------------------------------------------------------- check
def _check_arguments(parser: argparse.ArgumentParser) -> None:
    _formula_arguments(parser, "shapes, A='ℝ^{height[3] × width}', or tensors")
    parser.add_argument(
        "--all", action="store_true", help="in a document: check maths that seems to be of no named axes too"
    )
    parser.add_argument("--types", action="store_true", help="in a document: print the types of all names")
    parser.add_argument("--strict", action="store_true", help="count warnings as errors")


CHECK_EXAMPLES = """
  namedtensor check 'A ⊙_{widht} x' A='ℝ^{height[3] × width[3]}' x='R^{width[3]}'
  namedtensor check layers.nt --sizes heads=8 X=x.npy:seq,chans
  namedtensor check paper.tex               or notes.md, with what it includes; a section is a scope; errors as file:line:column
  namedtensor check paper.tex --json --all
"""


# ------------------------------------------------------------------------------------------------------------------ cost
def _cost_arguments(parser: argparse.ArgumentParser) -> None:
    _formula_arguments(parser, "shapes with sizes, Q='ℝ^{seq[512] × key[64]}', or tensors")
    without_argument(parser)


COST_EXAMPLES = """
  namedtensor cost 'A ⊙_{width} x' A='ℝ^{height[300] × width[400]}' x='R^{width[400]}'
  namedtensor cost 'softmax_{seq}(Q @_{key} K) @_{seq} V' Q='R^{key}' K='R^{seq, key}' V='R^{seq, val}' --sizes seq=4096,key=64,val=64
  namedtensor cost 'gelu(X)' X='R^{seq[4096], hidden[2048]}' --without blocks --json
  namedtensor cost layers.nt X=x.npy:seq,chans

  Numbers of a shape have four bytes. The steps are those for NumPy.
"""


# ---------------------------------------------------------------------------------------------------------------- render
def _render_arguments(parser: argparse.ArgumentParser) -> None:
    _formula_arguments(parser, inputs="")
    spelling_argument(parser, "the spelling; LaTeX where it is left out, and text where the formula is LaTeX")


RENDER_EXAMPLES = r"""
  namedtensor render 'softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V'
  namedtensor render '\nfun{\seq}{softmax} X' --to ascii
  namedtensor render layers.nt --to latex-macros
  namedtensor render 'A + 2 x' --to tree
"""


# ---------------------------------------------------------------------------------------------------------------- derive
def _derive_arguments(parser: argparse.ArgumentParser) -> None:
    _formula_arguments(
        parser, "shapes, X='ℝ^{seq}'; or its tensors and numbers: then the value of the derivative is printed"
    )
    parser.add_argument("--by", metavar="NAME", required=True, help="what the derivative is taken by: X, W^Q, b_1")
    spelling_argument(parser, "the spelling of the derivative; text where it is left out")
    parser.add_argument("--as-written", action="store_true", help="print ∂…/∂X*, not worked out")
    parser.add_argument("--steps", action="store_true", help="print the way to the closed form, a rule a line")


def _derive(options: Any, console: Console) -> int:
    from ..programs.api import derivative

    source = source_of(options)
    found = derivative(source.text, options.by, source.syntax)
    if all(SHAPE.match(word) for word in options.inputs):
        return derived(found, options, console)
    value = found(values=values_of(options.inputs, console), sizes=sizes_of(options.sizes))
    if options.json:
        console.json({"value": value_record(value)})
    else:
        console.print(table(value))
    return FINE


SHAPE = re.compile(r"[^=]+=\s*(ℝ|R\b|\\mathbb|\\reals)")  # NAME=ℝ^{…}


def derived(found: Any, options: Any, console: Console) -> int:
    """Print a derivative: its closed form, unless shapes are missing that nothing says, or there is none."""
    shapes = shapes_of(options.inputs, console)
    if options.as_written:
        return spell(found.tree, options.to or "text", options, console)
    try:
        closed = found.worked_out(sizes=sizes_of(options.sizes), **shapes)
    except NotationError as problem:
        if shapes or options.steps or problem.number not in (201, 206, 301, 302, 303, 309, 405):
            raise
        return spell(found.tree, options.to or "text", options, console)
    return spell(
        closed.derivation.tree if options.steps else closed.closed.tree, options.to or "text", options, console
    )


DERIVE_EXAMPLES = r"""
  namedtensor derive 'softmax_{ax} X' --by X
  namedtensor derive 'softmax_{ax} X' --by X --steps
  namedtensor derive 'x ⊙_{a} W' --by W x='ℝ^{a}' W='ℝ^{a × b}'
  namedtensor derive 'softmax_{ax} X' --by X X='[1,2,3]:ax'
  namedtensor derive '\nfun{\seq}{softmax} X' --by X --to latex-macros
  namedtensor derive loss.nt --by W^1 > gradient.nt
"""


# --------------------------------------------------------------------------------------------------------------- explain
def _explain_arguments(parser: argparse.ArgumentParser) -> None:
    _formula_arguments(parser)
    _call_argument(parser)
    parser.add_argument("--inside", metavar="NAME", help="only the steps in the definition of a name: FFN, X^2")
    _digits_argument(parser)


def _explain(options: Any, console: Console) -> int:
    from ..programs.api import explain, program

    source = source_of(options)
    name, arguments, values = _called(options, console)
    sizes = sizes_of(options.sizes)
    if name is None:
        steps = explain(source.text, values, sizes=sizes, syntax=source.syntax)
    else:
        steps = program(source.text, source.syntax)[name].explain(*arguments, values=values, sizes=sizes)
    if options.inside:
        steps = steps.inside(options.inside)
    if options.json:
        console.json({"steps": [step_record(step) for step in steps]})
    else:
        from ..tensors.digits import set_digits

        with set_digits(options.digits):
            console.print(str(steps))
    return FINE


def step_record(step: Any) -> dict[str, Any]:
    """A step for machines."""
    return {"text": step.text, "type": step.type, "inside": list(step.inside), "value": value_record(step.value)}


EXPLAIN_EXAMPLES = """
  namedtensor explain '2 A + 1' A='[1,2,3]:seq'
  namedtensor explain 'softmax_{seq}(Q ⊙_{key} K / √|key|)' Q='[1,2]:key' K='[[1,0],[0,1]]:seq,key'
  namedtensor explain docs/examples/iris.nt X=docs/examples/iris.csv:flower,feature --inside near
  namedtensor explain layers.nt --call FFN X X=x.json:seq,chans W_1=w.npy:chans,hidden
"""


# --------------------------------------------------------------------------------------------------------------- diagram
def _diagram_arguments(parser: argparse.ArgumentParser) -> None:
    _formula_arguments(parser, "types of the inputs, X='ℝ^{seq × chans}', or tensors; all else is a parameter")
    parser.add_argument("--of", metavar="NAME", help="the value or function to draw; the last where it is left out")
    parser.add_argument(
        "--expand", metavar="NAME,...", default="", help="functions to open, families to draw one by one"
    )
    parser.add_argument("--out", "-o", metavar="FILE", help="write the SVG to a file")


def _diagram(options: Any, console: Console) -> int:
    from ..programs.program import Program

    source = source_of(options)
    program = Program(source.text, source.syntax)
    asked = program if options.of is None else program[options.of]
    expand = [name.strip() for name in NAMES.split(options.expand) if name.strip()]
    drawing = asked.diagram(sizes=sizes_of(options.sizes), expand=expand, **shapes_of(options.inputs, console))
    if options.out:
        drawing.save(options.out)
    elif options.json:
        console.json({"svg": drawing.to_svg()})
    else:
        console.print(drawing.to_svg())
    return FINE


NAMES = re.compile(r",(?![^{]*\})")  # the commas between names: none within W^{l,Q}
DIAGRAM_EXAMPLES = """
  namedtensor diagram 'Y = softmax_{seq}(Q ⊙_{key} K) ⊙_{seq} V' Q='ℝ^{key}' K='ℝ^{seq × key}' V='ℝ^{seq × val}' -o y.svg
  namedtensor diagram layers.nt X='ℝ^{seq × chans}' --of Block --expand FFN,Attention -o block.svg
"""


# ------------------------------------------------------------------------------------------------------------------ repl
def _repl_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="a program to begin with, as :load FILE")
    parser.add_argument("inputs", metavar="NAME=...", nargs="*", help="tensors and numbers to begin with")
    parser.add_argument("--plain", action="store_true", help="plain input, also where prompt_toolkit is installed")


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

  In it, \odot and the tabulator key give ⊙; :help lists what else there is.
"""


# ------------------------------------------------------------------------------------------------------------- exercises
def _exercises_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("act", choices=("check", "release", "mark"), help="prove a file, release it, mark an answer")
    parser.add_argument("file", metavar="FILE.nt", help="exercises; with mark, what a student handed in")
    parser.add_argument("-o", "--out", metavar="PATH", help="where the released file, or the marks, are written")
    parser.add_argument("--key", metavar="FILE.nt", help="the exercises that answers are marked by")
    parser.add_argument("--to", choices=("json", "gradescope", "nbgrader"), help="marks as a grader reads them")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="another number draws other tensors")


def _exercises(options: Any, console: Console) -> int:
    from .exercises import exercises_command  # needs arrays

    return exercises_command(options, console)


EXERCISES_EXAMPLES = """
  namedtensor exercises check week3.nt                  every model is right, every slip wrong in its own words
  namedtensor exercises release week3.nt -o student/    the same without models; it marks itself
  namedtensor exercises mark ada.nt --key week3.nt      what is said of each answer
  namedtensor exercises mark ada.nt --key week3.nt --to gradescope"""


COMMANDS = {
    "eval": Command("print the value of a formula as a table with named axes", _eval_arguments, _eval, EVAL_EXAMPLES),
    "check": Command(
        "print types, errors and warnings, with no data needed", _check_arguments, check_command, CHECK_EXAMPLES
    ),
    "cost": Command(
        "print what a formula costs, step by step, with no data needed", _cost_arguments, cost_command, COST_EXAMPLES
    ),
    "render": Command(
        "spell a formula as text, ASCII, LaTeX, or show its tree", _render_arguments, render_command, RENDER_EXAMPLES
    ),
    "derive": Command(
        "print the derivative of a formula by a name, or its value", _derive_arguments, _derive, DERIVE_EXAMPLES
    ),
    "explain": Command(
        "print every step of a formula: its type and value", _explain_arguments, _explain, EXPLAIN_EXAMPLES
    ),
    "diagram": Command(
        "draw where the values of a program go, each with its type, as SVG",
        _diagram_arguments,
        _diagram,
        DIAGRAM_EXAMPLES,
    ),
    "exercises": Command(
        "prove, release and mark files of exercises",
        _exercises_arguments,
        _exercises,
        EXERCISES_EXAMPLES,
    ),
    "repl": Command("calculate at a prompt; names and values persist", _repl_arguments, _repl, REPL_EXAMPLES),
}

__all__ = ["main"]
