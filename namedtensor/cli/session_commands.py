"""The commands of the prompt, which begin with a colon, and what one line of it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grammar import nodes
from grammar.errors import NotationError

from ..files.formats import writable
from ..files.text import InputError, as_number, read_text
from ..scope.names import key
from .arguments import FormulaSource, imported
from .evaluate import written
from .help import lines_of, named, operator_entry
from .inputs import headers_of, read_given, split_given
from .session import Session

BARE = {"help": ":help", "?": ":help", "quit": ":quit", "exit": ":quit"}  # typed without the colon


def enter(session: Session, line: str) -> str:
    """Run a line, command or formula; return the text to print."""
    word = line.strip()
    if word in BARE and word not in session.facts and word not in session.values:
        word = BARE[word]
    return command(session, word) if word.startswith(":") else session.enter(line)


def command(session: Session, line: str) -> str:
    """Run a line that begins with a colon. Raises InputError if there is no such command."""
    name, _, rest = line[1:].partition(" ")
    commands = [text for text in COMMANDS if text == name] or [
        text for text in COMMANDS if name and text.startswith(name)
    ]
    if len(commands) != 1:
        raise InputError(f"there is no command :{name}; :help lists those there are")
    return COMMANDS[commands[0]][0](session, rest.strip())


def _load(session: Session, rest: str) -> str:
    """The statements of a file become facts, but for formulas without a name."""
    syntax = "latex" if _needed(rest, "load").endswith(".tex") else "text" if rest.endswith(".nt") else "auto"
    before = dict(session.facts), dict(session.values)
    try:
        pieces = session.read(session.as_text(imported(FormulaSource(read_text(rest), rest, syntax)).text, syntax))
        together = any(isinstance(piece.statement, nodes.Ellipsis) for piece in pieces)
        (session.keep_together if together else session.keep)(pieces)
    except NotationError:
        session.facts, session.values = before
        raise
    return ", ".join(dict.fromkeys(name.split()[0] for piece in pieces for name in piece.names if "|" not in name))


def _tensor(session: Session, rest: str) -> str:
    rest, option, choice = _needed(rest, "tensor").partition(" header=")
    inputs = read_given(rest, headers_of([f"{split_given(rest)[0]}={choice}"] if option else []))
    session.notes += inputs.notes
    name = str(key(inputs.name))
    session.facts.pop(name, None)
    session.values[name] = inputs.value
    return f"{name} : {getattr(inputs.value, 'shape', 'ℝ')}"


def _type(session: Session, rest: str) -> str:
    from ..programs.api import check

    def well_typed(source: str, values: dict[str, Any], syntax: str) -> Any:
        checked = check(source, values, syntax=syntax)
        if checked.errors:
            raise checked.errors[0]
        return checked

    text = session.as_text(_needed(rest, "type"))
    checked = session.asked(well_typed, text)
    return checked.type or "\n".join(f"{name} : {shape}" for name, shape in checked.types.items())


def _latex(session: Session, rest: str) -> str:
    from grammar.printer import to_latex

    text = session.as_text(_needed(rest, "latex"))
    return to_latex(nodes.Program(tuple(piece.statement for piece in session.read(text))))


def _explain(session: Session, rest: str) -> str:
    from ..programs.evaluate import explain

    text = session.as_text(_needed(rest, "explain"))
    return str(session.asked(explain, text))


def _derive(session: Session, rest: str) -> str:
    """The closed form of a derivative, of the types that the values have."""
    from ..programs.program import Formula

    formula, _, name = _needed(rest, "derive").rpartition(" by ")
    if not formula:
        raise InputError("usage: :derive FORMULA by NAME")

    def closed_form(source: str, values: dict[Any, Any], syntax: str) -> str:
        shapes: dict[str, Any] = {name: getattr(value, "shape", "ℝ") for name, value in values.items()}
        return str(Formula(source, syntax).derivative(name.strip()).closed_form(**shapes))

    return session.asked(closed_form, session.as_text(formula))


def _cost(session: Session, rest: str) -> str:
    from ..programs.api import cost

    text = session.as_text(_needed(rest, "cost"))
    return repr(session.asked(cost, text))


def _save(session: Session, rest: str) -> str:
    name, file = (_needed(rest, "save").split(maxsplit=1) + [""])[:2]
    if not file:
        raise InputError("usage: :save NAME FILE")
    value: Any = session.values.get(str(key(name)))
    if not hasattr(value, "axes"):
        raise InputError(f"there is no tensor {name}; :names lists what is known")
    writable(file)
    return written(value, file)


def _digits(session: Session, rest: str) -> str:
    from ..tensors.digits import set_printoptions

    number: Any = as_number(rest) if rest else None
    if rest and number is None:
        raise InputError("usage: :digits 8")
    set_printoptions(number)
    return ""


def _names(session: Session, rest: str) -> str:
    values = [f"{name} : {getattr(value, 'shape', value)}" for name, value in session.values.items()]
    return "\n".join([*session.facts.values(), *values])


def _forget(session: Session, rest: str) -> str:
    name = str(key(_needed(rest, "forget")))
    if name not in session.values and name not in session.facts:
        raise InputError(f"nothing is known of {name}")
    session.values.pop(name, None)
    session.facts.pop(name, None)
    return ""


def _help(session: Session, rest: str) -> str:
    if rest:
        return "\n".join(lines_of(operator_entry(named(rest))))
    width = max(len(usage) for _, usage, _ in COMMANDS.values())
    lines = [f"  {usage:<{width}}   {meaning}" for _, usage, meaning in COMMANDS.values()]
    return "\n".join([GREETING, *lines])


def _quit(session: Session, rest: str) -> str:
    session.over = True
    return ""


def _needed(rest: str, name: str) -> str:
    if not rest:
        raise InputError(f"usage: :{name} {COMMANDS[name][1].split(' ', 1)[1]}")
    return rest


GREETING = r"""A formula prints its value; name = … assigns it. In a formula, \odot and Tab give ⊙, \alpha gives α.
A line that ends with an operator or in an open bracket continues; an empty line ends the formula."""

COMMANDS: dict[str, tuple[Callable[[Session, str], str], str, str]] = {
    "tensor": (
        _tensor,
        ":tensor NAME=FILE:axis,axis",
        "read a tensor; also NAME=[[1,2],[3,4]]:a,b and NAME=2.5; header=yes or no after a table",
    ),
    "load": (_load, ":load FILE", "load the definitions of a program, .nt or .tex"),
    "type": (_type, ":type FORMULA", "show its type"),
    "explain": (_explain, ":explain FORMULA", "show every step with its type and value"),
    "derive": (_derive, ":derive FORMULA by NAME", "show the closed form of its derivative"),
    "cost": (_cost, ":cost FORMULA", "show operations and bytes, step by step"),
    "latex": (_latex, ":latex FORMULA", "convert it to LaTeX"),
    "names": (_names, ":names", "list all names with their types and definitions"),
    "save": (_save, ":save NAME FILE", "write a tensor to .npy, .npz, .json or .csv"),
    "digits": (_digits, ":digits N", "set the number of significant digits (default: 4 in tables)"),
    "forget": (_forget, ":forget NAME", "delete a value or a definition"),
    "help": (_help, ":help [NAME]", "show this list, or describe a function or a symbol"),
    "quit": (_quit, ":quit", "exit; so does the end of input"),
}
