"""The command `repl`: a prompt where formulas extend one program, which later formulas can use.

> f(x) = 2 x + 1        extends the program
> Y = f(3)              extends the program, and prints the value of Y, which is 7
"""

from __future__ import annotations

import atexit
import os
import sys
from code import InteractiveConsole
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from grammar import nodes
from grammar.completion import Known, complete
from grammar.errors import UNFINISHED, NotationError, relocate
from grammar.parser import parse, spelling_of
from grammar.printer import to_text

from ..files.text import InputError
from ..programs.parsed import find_shadowing_names
from ..scope.binder import bind
from ..scope.names import key
from ..scope.symbols import Scope
from .arguments import read_source, resolve_imports
from .console import AT_THE_PROMPT, Console
from .formula_commands import table
from .inputs import values_of
from .parsers import ANY, Argument, command

GREETING = r"""A formula prints its value; name = … assigns it. In a formula, \odot and Tab give ⊙, \alpha gives α.
A line that ends with an operator or in an open bracket continues; an empty line ends the formula.
The words quit and exit, or the end of input, end the session."""
LACKS_ELEMENTS = 406
END_WORDS = ("quit", "exit")


class SessionStatement(NamedTuple):
    """A statement of the session's program, with the names that it defines or declares."""

    text: str
    statement: nodes.Statement
    names: frozenset[str]
    elements: str = ""  # the left-hand side if it defines elements of a name

    def replaces(self, other: SessionStatement) -> bool:
        """Return whether this statement replaces another statement, because both define or declare the same name."""
        return bool(self.names & other.names) and self.elements in ("", other.elements)


class Prompt(InteractiveConsole):
    """A session: a program that each entered formula extends, and the inputs of the command."""

    def __init__(self, console: Console, values: dict[str, Any]):
        super().__init__()
        self.console, self.failed = console, False
        self.values = {str(key(name)): value for name, value in values.items()}
        self.entries: list[SessionStatement] = []

    # ------------------------------------------------------------------------------------------------------- statements
    def enter(self, text: str, evaluated: bool = True) -> str:
        """Add the entered statements to the program, and return the value of the last statement as text.

        Raise NotationError and leave the program unchanged if the statements do not fit.
        """
        new = self.read(text)
        entries, values = self.entries, self.values
        for entry in new:
            entries = [other for other in entries if not entry.replaces(other)] + [entry]
            values = {name: value for name, value in values.items() if name not in entry.names}
            if entry is not new[-1] and isinstance(entry.statement, nodes.Value):
                entries.pop()
        start = len(join(entries)) - len(new[-1].text)
        try:
            is_kept, printed = self.answer(join(entries), values, start, evaluated)
        except NotationError as problem:
            raise relocate(problem, new[-1].text, start) from None
        self.entries, self.values = entries if is_kept else entries[:-1], values
        return printed

    def answer(self, source: str, values: dict[str, Any], start: int, evaluated: bool) -> tuple[bool, str]:
        """Return whether to keep the last statement in the program, and the text to print.

        The last statement begins at `start`.
        """
        from ..programs.evaluate import evaluate

        program = self.parse(source, values)
        scope = bind(source, program, {key(name): frozenset(getattr(X, "axes", ())) for name, X in values.items()})
        if isinstance(program.statements[-1], nodes.Value):
            return False, table(evaluate(source, values, syntax="text")) if evaluated else ""
        defined = [
            item.key for group in scope.definitions.values() for item in group if item.statement.span[0] >= start
        ]
        is_claim = any(claim.span[0] >= start for claim in scope.claims)
        if not evaluated or not (defined or is_claim):
            return True, ""
        try:
            value = evaluate(f"{source}\n{defined[-1] if defined else 0}", values, syntax="text")
        except NotationError as problem:
            if problem.code != LACKS_ELEMENTS or not defined:
                raise
            return True, f"{defined[-1]} still has undefined elements"
        return bool(defined), table(value) if defined else "this holds"

    def read(self, text: str) -> list[SessionStatement]:
        """Return the statements in a text. Parse f(x) as a call if the program defines f as a function."""
        shadowed = find_shadowing_names(list(map(key, self.values)))
        functions = frozenset(self.known().functions)
        if spelling_of(text) == "latex":
            text = to_text(parse(text, "latex", shadowed, functions=functions))
        statements = parse(text, "text", shadowed, functions=functions).statements
        new = [entry_of(statement, text) for statement in statements]
        if any(isinstance(entry.statement, nodes.Ellipsis) for entry in new):  # Together they make a rule.
            return [SessionStatement(text, nodes.Ellipsis(), frozenset[str]().union(*(entry.names for entry in new)))]
        return new

    def parse(self, source: str, values: dict[str, Any]) -> nodes.Program:
        return parse(source, "text", find_shadowing_names(list(map(key, values))))

    def known(self) -> Known:
        """Return the names that completion can offer."""
        source = join(self.entries)
        scope = bind(source, self.parse(source, self.values)) if source else Scope(source, nodes.Program(()))
        tensors = [*self.values, *(definition.key for definition in scope.all_definitions())]
        tensors += [name.key() for _, name, _, _ in scope.declarations]
        axes = [axis for value in self.values.values() for axis in getattr(value, "axes", ())]
        return Known(
            tuple(dict.fromkeys(map(str, tensors))),
            tuple(scope.functions),
            tuple(dict.fromkeys([*axes, *scope.axes_named])),
        )

    # ------------------------------------------------------------------------------------------------------------ lines
    def runsource(self, source: str, filename: str = "", symbol: str = "") -> bool:
        """Enter a formula and print its value. Return whether the formula continues on the next line."""
        if not any(line.split("#")[0].strip() for line in source.splitlines()):
            return False
        if source.startswith(":"):
            self.report("the prompt's commands were removed in 0.2; write namedtensor check, explain, derive or render")
            return False
        if not source.endswith("\n") and goes_on(source):
            return True
        try:
            if printed := self.enter(source.strip("\n")):
                self.console.print(printed)
            self.console.flush()
        except NotationError as problem:
            self.report(self.console.error(problem))
        except MemoryError:
            self.report("the result does not fit in memory")
        return False

    def report(self, text: str) -> None:
        self.console.note(text)
        self.failed = True

    def raw_input(self, prompt: str = "") -> str:
        line = input("  " if self.buffer else "> ")
        if line.strip() in END_WORDS:
            raise EOFError
        return line

    def write(self, data: str) -> None:
        self.console.note(data.rstrip("\n"))

    def run_terminal(self) -> None:
        """Read formulas from a terminal, with completion and history if Python has the module readline."""
        with suppress(ImportError):
            import readline

            readline.set_completer(self.complete_line)
            readline.set_completer_delims("")
            readline.parse_and_bind("tab: complete")
            with suppress(OSError):
                history = history_file()
                readline.read_history_file(history)
                atexit.register(readline.write_history_file, history)
        self.interact(GREETING, "")

    def run_pipe(self) -> None:
        """Read formulas from a pipe or file, which is in UTF-8 regardless of the terminal's encoding."""
        stream: Any = getattr(sys.stdin, "buffer", sys.stdin)
        for line in stream:
            text = line.decode("utf-8", "replace") if isinstance(line, bytes) else line
            if text.strip() in END_WORDS:
                break
            self.push(text.rstrip("\r\n"))

    def complete_line(self, text: str, state: int) -> str | None:
        """Return the line completed with completion number `state`, or None if there are fewer completions.

        A macro that is typed in full completes only to its symbol.
        """
        choices = complete(text, self.known())
        choices = [choice for choice in choices if choice.meaning == text[len(text) - choice.length :]][:1] or choices
        if state >= len(choices):
            return None
        return text[: len(text) - choices[state].length] + choices[state].text


def join(entries: list[SessionStatement]) -> str:
    return "\n".join(entry.text for entry in entries)


def entry_of(statement: nodes.Statement, source: str) -> SessionStatement:
    """Return a statement of a source with the names that it defines.

    If an equation does not define a name, the text of its left-hand side is used as the name.
    """
    text = source[slice(*statement.span)]
    if isinstance(statement, nodes.Declaration):
        return SessionStatement(
            text, statement, frozenset(f"{source[slice(*name.span)]} ∈" for name in statement.names)
        )
    if isinstance(statement, nodes.Signature):
        return SessionStatement(text, statement, frozenset((f"{source[slice(*statement.head.span)]} :",)))
    if not isinstance(statement, nodes.Equation):
        return SessionStatement(text, statement, frozenset())
    scope = bind(source, nodes.Program((statement,), statement.span))
    head = source[slice(*statement.sides[0].span)]
    definitions = list(scope.all_definitions())
    names = {str(definition.key) for definition in definitions} | {function.title for function in scope.all_functions()}
    elements = head if any(definition.elements for definition in definitions) else ""
    return SessionStatement(text, statement, frozenset(names or (head,)), elements)


def goes_on(text: str) -> bool:
    """Return whether a statement continues on the next line, because a bracket is open or it ends with an operator."""
    try:
        parse(text)
    except NotationError as problem:
        at_end = problem.span is not None and not text[problem.span[1] :].strip(" \t)}]")
        return problem.code == 102 or (problem.reason == UNFINISHED and at_end)
    return False


def history_file() -> str:
    """Return the path of the file with the history of earlier sessions, creating the file if needed."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    path = Path(state, "namedtensor", "history")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return str(path)


@command(
    Argument("file", "FILE", "a program that the session starts with", {"nargs": "?"}),
    Argument("inputs", "NAME=...", "tensors and numbers", ANY),
)
def repl_command(options: Any, console: Console) -> int:
    r"""Evaluate formulas at a prompt, as lines of one program.

    namedtensor repl
    namedtensor repl layers.nt X=x.npy:seq,chans
    namedtensor repl < session.txt

    At the prompt, type \odot and press Tab to enter ⊙.
    """
    console.hints = AT_THE_PROMPT
    words = [word for word in (options.file, *options.inputs) if word]
    prompt = Prompt(console, values_of([word for word in words if "=" in word], [], console))
    for word in words:
        if "=" not in word:
            prompt.enter(resolve_imports(read_source(word, "auto")).text, evaluated=False)
    if sys.stdin is None:
        raise InputError("standard input is closed")
    is_terminal = sys.stdin.isatty()
    prompt.run_terminal() if is_terminal else prompt.run_pipe()
    if prompt.buffer:
        prompt.push("")
    return int(prompt.failed and not is_terminal)
