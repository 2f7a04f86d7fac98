"""A session: formulas one after another, each knowing what was entered before.

What is entered is kept in one of two modes. `Y = …` is computed, and its value kept. What has no value of its own (a
function, a signature, a declaration, a size, a recurrence) is a fact: its text is put before the next formula.

    > f(x) = 2 x + 1        a fact
    > Y = f(3)              a value, 7
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from grammar import nodes
from grammar.completion import Known
from grammar.errors import NotationError
from grammar.parser import parse, spelling_of

from ..programs.parsed import shadowed_by
from ..scope.names import key, spelled, walk
from .evaluate import table

LACKS_ELEMENTS = 406


class EnteredStatement(NamedTuple):
    """One statement as it was entered: its text, its tree, and the source that the tree's spans are about."""

    text: str
    statement: Any
    source: str
    values: dict[str, Any]

    @property
    def scope(self) -> Any:
        """What the statement defines."""
        from ..scope.binder import bind

        return bind(self.source, nodes.Program((self.statement,), self.statement.span), self.given)

    @property
    def given(self) -> dict[Any, frozenset[str]]:
        """The values that an equation may be an assertion about: a name that is alone on its left is given a new one."""
        sides = getattr(self.statement, "sides", ())
        return (
            {}
            if sides and spelled(sides[0]) is not None
            else {key(name): frozenset(getattr(X, "axes", ())) for name, X in self.values.items()}
        )

    @property
    def names(self) -> tuple[str, ...]:
        """What it is about: a later statement about the same replaces it."""
        statement = self.statement
        if isinstance(statement, nodes.Declaration):
            return tuple(f"{self.source[slice(*name.span)]} ∈" for name in statement.names)
        if isinstance(statement, nodes.Signature):
            return (f"{self.source[slice(*statement.head.span)]} :",)
        if not isinstance(statement, nodes.Equation):
            return ()
        scope = self.scope
        titles = [function.title for function in scope.all_functions()]
        names = (*titles, *map(str, scope.definitions), *(str(family.key) for family in scope.families))
        return names or (self.source[slice(*statement.sides[0].span)],)


class Session:
    """`enter` takes a formula and gives what to print; it raises NotationError or InputError, and nothing is lost then."""

    def __init__(self) -> None:
        self.facts: dict[str, str] = {}  # by what they are about: "f", "f :", "W ∈", "|a| = 2"
        self.values: dict[str, Any] = {}
        self.notes: list[str] = []
        self.over = False

    def enter(self, line: str) -> str:
        """Take in a formula; the text to print."""
        before = dict(self.facts), dict(self.values)
        try:
            return self.state(self.read(self.as_text(line)))
        except NotationError:
            self.facts, self.values = before
            raise

    # --------------------------------------------------------------------------------------------------------- reading
    def parsed(self, text: str, syntax: str = "text") -> nodes.Program:
        return parse(text, syntax, shadowed_by([key(name) for name in self.values]))

    def read(self, text: str) -> list[EnteredStatement]:
        """The statements of a text, read with the facts before it: they say whether f(x) is a call."""
        source, start = self.whole(text)
        try:
            tree = self.parsed(source)
        except NotationError as problem:
            raise self.located(problem, source, text, start) from None
        new = [statement for statement in tree.statements if statement.span[0] >= start]
        return [EnteredStatement(source[slice(*statement.span)], statement, source, self.values) for statement in new]

    def as_text(self, line: str, syntax: str = "auto") -> str:
        """A formula in text syntax, as the session stores it."""
        if syntax == "text" or (syntax == "auto" and spelling_of(line) == "text"):
            return line
        from grammar.printer import to_text

        return to_text(self.read_latex(line))

    def read_latex(self, line: str) -> nodes.Program:
        """The tree of LaTeX, read after the LaTeX of the functions that are known."""
        from grammar.printer import to_latex

        functions = [piece.statement for piece in self.known_pieces() if piece.scope.functions]
        if not functions:
            return self.parsed(line, "latex")
        before = rf"\[ {to_latex(nodes.Program(tuple(functions)))} \]" + "\n"
        text = line if re.search(r"\$|\\\[|\\\(|\\begin\{(?!cases)", line) else rf"\[ {line} \]"
        tree = self.parsed(before + text, "latex")
        return nodes.Program(tuple(statement for statement in tree.statements if statement.span[0] >= len(before)))

    def known_pieces(self) -> list[EnteredStatement]:
        """The facts, each statement by itself."""
        source = "\n".join(self.facts.values())
        if not source:
            return []
        return [
            EnteredStatement(source[slice(*statement.span)], statement, source, {})
            for statement in self.parsed(source).statements
        ]

    # ------------------------------------------------------------------------------------------------------- statements
    def state(self, pieces: list[EnteredStatement]) -> str:
        """One statement, or several at once: of those all but the last are facts."""
        if any(isinstance(piece.statement, nodes.Ellipsis) for piece in pieces):
            self.keep_together(pieces)
            return ""
        self.keep(pieces[:-1])
        last = pieces[-1]
        if isinstance(last.statement, nodes.Value):
            return table(self.evaluate(last.text))
        if isinstance(last.statement, nodes.Equation):
            return self.equation(last)
        self.keep([last])
        return ""

    def equation(self, piece: EnteredStatement) -> str:
        scope = piece.scope
        if scope.functions or scope.families or (scope.sizes and not scope.definitions):
            self.keep([piece])
            return ""
        if not scope.definitions:
            self.evaluate(piece.text, ending="\n0")
            return "this holds"
        return self.define(str(next(iter(scope.definitions))), piece.text)

    def define(self, name: str, text: str) -> str:
        """Compute a name and keep its value; a part of its elements waits for the rest."""
        waiting = self.facts.get(name)
        for whole in (text, f"{waiting}\n{text}") if waiting else (text,):
            try:
                value = self.evaluate(whole, without=(name,), ending=f"\n{name}")
            except NotationError as problem:
                if problem.code != LACKS_ELEMENTS:
                    raise
                self.values.pop(name, None)
                self.facts[name] = whole
                continue
            self.facts.pop(name, None)
            self.values[name] = plain_number(value)
            return table(value)
        return f"{name} still has undefined elements"

    def keep(self, pieces: list[EnteredStatement]) -> None:
        """Keep statements as facts, in place of earlier facts about the same names; they must agree with the rest."""
        for piece in pieces:
            for name in piece.names[1:]:
                self.facts.pop(name, None)
            for name in piece.names[:1]:
                before = self.facts.get(name, "")
                adds = before and before != piece.text and self.by_elements(before) and self.by_elements(piece.text)
                self.facts[name] = f"{before}\n{piece.text}" if adds else piece.text
                self.values.pop(name, None)
        self.check_together()

    def keep_together(self, pieces: list[EnteredStatement]) -> None:
        """Keep statements with ⋮ between them as one fact: they make a rule together."""
        names = [name for piece in pieces for name in piece.names]
        for name in names:
            self.facts.pop(name, None)
        self.facts[", ".join(names)] = "\n".join(piece.text for piece in pieces)
        self.check_together()

    def by_elements(self, text: str) -> bool:
        groups = [group for piece in self.read(text) for group in piece.scope.definitions.values()]
        return bool(groups) and all(definition.elements for group in groups for definition in group)

    def check_together(self) -> None:
        """Raise NotationError if the statements so far do not form a program."""
        from ..scope.binder import bind

        source = "\n".join(self.facts.values())
        if source:
            bind(source, self.parsed(source))

    # ----------------------------------------------------------------------------------------------------------- values
    def whole(self, text: str, without: tuple[str, ...] = ()) -> tuple[str, int]:
        """The facts and then `text`, and where that begins."""
        before = "".join(fact + "\n" for name, fact in self.facts.items() if name not in without)
        return before + text, len(before)

    def evaluate(self, text: str, without: tuple[str, ...] = (), ending: str = "") -> Any:
        from ..programs.evaluate import evaluate

        return self.asked(evaluate, text, without, ending)

    def asked(self, function: Callable[..., Any], text: str, without: tuple[str, ...] = (), ending: str = "") -> Any:
        """Apply `function` to the statements so far, `text` and the values; errors point into `text`."""
        source, start = self.whole(text, without)
        source += ending
        values = {name: value for name, value in self.values.items() if name not in without}
        try:
            return function(source, values, syntax="text")
        except NotationError as problem:
            raise self.located(problem, source, text, start) from None

    def located(self, problem: NotationError, source: str, text: str, start: int) -> NotationError:
        """An error about facts and a line, as an error about one of the two."""
        if problem.source != source or problem.span is None:
            return problem
        first, line = start, text
        if problem.span[0] < start:
            first = source.rfind("\n", 0, problem.span[0]) + 1
            line = source[first : source.index("\n", first)]

        def moved(span: tuple[int, int]) -> tuple[int, int]:
            return span[0] - first, span[1] - first

        labels = [(moved(span), label) for span, label in problem.labels if 0 <= span[0] - first < len(line)]
        return problem.replace(source=line, span=moved(problem.span), labels=labels)

    # ------------------------------------------------------------------------------------------------ what is known here
    def known(self) -> Known:
        """The names that completion offers."""
        functions, tensors = [], dict.fromkeys(self.values)
        axes = {axis: None for value in self.values.values() for axis in getattr(value, "axes", ())}
        for piece in self.known_pieces():
            scope = piece.scope
            axes |= {node.name: None for node in walk(piece.statement) if isinstance(node, nodes.Axis)}
            functions += [function.operator for function in scope.all_functions()]
            tensors |= dict.fromkeys(map(str, scope.definitions))
            tensors |= {str(name.key()): None for _, name, _, _ in scope.declarations}
        return Known(tuple(tensors), tuple(functions), tuple(axes))


def plain_number(value: Any) -> Any:
    """A tensor without axes as a Python number, which may be a size or an index."""
    return value if value.axes else value.array.item() if hasattr(value.array, "item") else value.array
