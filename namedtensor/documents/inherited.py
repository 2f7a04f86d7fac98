"""Inheritance of definitions between sections.

The formulas of a section can use definitions from earlier sections. They can also use function signatures from later
sections.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from grammar import nodes
from grammar.printer import to_latex, to_text
from grammar.printer.runs import axes_in

from ..scope.heads import base_of, function_head, head_names
from ..scope.uses import reach, uses_of
from .assembled import assemble_program
from .document import Document, MathSpan, Section
from .notation import find_names

StatementKey = tuple[MathSpan, int]  # of a statement: its formula, and its number there


def later_signatures(document: Document) -> dict[str, StatementKey]:
    """Return the signatures of the functions whose signature is the same in all sections that state it.

    Function names with one letter are left out, because another section may use the same letter for another function.
    """
    signatures: dict[str, StatementKey] = {}
    texts: dict[str, set[str]] = {}
    for section in document.sections:
        for maths in section.formulas:
            for number, statement in enumerate(section.programs[maths].statements):
                if isinstance(statement, nodes.Signature) and len(statement.head.operator) > 1:
                    signatures[statement.head.operator] = maths, number
                    texts.setdefault(statement.head.operator, set()).add(to_text(statement))
    return {name: key for name, key in signatures.items() if len(texts[name]) == 1}


class Inheritance:
    """The statements of the document so far, by the names that they define or describe.

    For each name, only the last section that defines it counts. `later` maps function names to signatures in later
    sections.
    """

    def __init__(self, document: Document, later: Mapping[str, StatementKey] | None = None):
        self.document = document
        self.known: dict[str, list[StatementKey]] = {}  # the statements about each name
        self.later = {name: [key] for name, key in (later or {}).items()}
        self.sections = {maths: section for section in document.sections for maths in section.formulas}
        self.functions: frozenset[str] = frozenset()

    def take(self, section: Section) -> dict[MathSpan, nodes.Program]:
        """Return the statements of earlier sections that a section needs, grouped by the formulas that contain them.

        Statements of the section itself take precedence.
        """
        statements = [line for maths in section.formulas for line in section.programs[maths].statements]
        described = {name for statement in statements for name in names_told(statement)}
        names = {name for name in described if not self.is_the_same(name, statements)}
        equations = (statement for statement in statements if isinstance(statement, nodes.Equation))
        redefined = {name for equation in equations for name in names_told(equation)}
        speaks: dict[str, set[str]] = {}  # for each name, the axes in the formulas of the section that use it
        for maths in section.formulas:
            axes = axes_in(section.programs[maths])
            for name in find_names(section, maths):
                speaks.setdefault(name, set()).update(axes)
        facts: dict[StatementKey, tuple[MathSpan, nodes.Program]] = {}

        def needed_by(name: str) -> Iterator[str]:
            """Yield the names that occur in earlier statements about a name. These statements become assumptions."""
            if name in names or name in speaks and self.is_another(name, speaks[name]):
                return
            for pair in self.known.get(name) or self.later.get(name, ()):
                statement = self.statement(pair)
                is_free = pair not in facts and names.isdisjoint(names_told(statement))
                if is_free and not self.has_other_parts(name, statement, redefined):
                    facts[pair] = self.fact(pair)
                    yield from uses_of(statement).words

        reach(sorted(speaks), needed_by)
        self.add(section)
        return dict(facts.values())

    def has_other_parts(self, name: str, statement: Any, redefined: set[str]) -> bool:
        """Return whether a section redefines a name in the body of an inherited function, such as Y in f(X) = Y.

        The section then inherits only the signature of the function.
        """
        parameters = bound_by(statement)
        signed = any(isinstance(self.statement(other), nodes.Signature) for other in self.known.get(name, ()))
        return signed and bool(parameters and redefined & uses_of(statement.sides[1]).words - {*parameters})

    def is_another(self, name: str, axes: set[str]) -> bool:
        """Return whether a section gives the name of an earlier tensor to a tensor that shares no axis with it."""
        statements = [self.statement(pair) for pair in self.known.get(name, ())]
        names = {axis for statement in statements for axis in axes_in(statement)}
        functions = any(
            isinstance(getattr(statement, "sides", (statement,))[0], (nodes.Call, nodes.Signature))
            for statement in statements
        )
        return bool(names) and not functions and not names & axes

    def is_the_same(self, name: str, statements: Iterable[Any]) -> bool:
        """Return whether a section only repeats the declaration of a tensor with known elements."""
        before = [self.statement(pair) for pair in self.known.get(name, ())]
        if not any(isinstance(statement, nodes.Equation) and _is_known(statement.sides[1]) for statement in before):
            return False
        sets = {of for statement in before if isinstance(statement, nodes.Declaration) for of in statement.sets}
        return all(
            isinstance(statement, nodes.Declaration) and sets.issuperset(statement.sets)
            for statement in statements
            if name in names_told(statement)
        )

    def add(self, section: Section) -> None:
        new: dict[str, list[StatementKey]] = {}
        for maths in section.formulas:
            self.sections[maths] = section
            for number, statement in enumerate(section.programs[maths].statements):
                for name in names_told(statement):
                    new.setdefault(name, []).append((maths, number))
        self.known.update(new)
        self.functions |= section.functions

    def statement(self, pair: StatementKey) -> Any:
        maths, number = pair
        return self.sections[maths].programs[maths].statements[number]

    def fact(self, pair: StatementKey) -> tuple[MathSpan, nodes.Program]:
        """Return a statement as an assumption for later sections, with the formula that contains the statement."""
        statement = self.statement(pair)
        if isinstance(statement, nodes.Equation):
            statement = nodes.Equation(statement.sides[:2], (), statement.range, statement.span)
        maths = pair[0]
        span = maths[:2] if maths.written else assemble_program(self.document, [maths]).span(statement.span)
        assert span is not None
        program = nodes.Program((statement,))
        return MathSpan(*span, False, rf"\({to_latex(program)}\)"), program


class Needs:
    """The dependencies between the formulas of a section: the formulas that define each name."""

    def __init__(self, formulas: list[MathSpan], section: Section):
        self.formulas, self.section = formulas, section
        self.tells: dict[str, list[MathSpan]] = {}
        self.binds: dict[str, list[MathSpan]] = {}  # the formulas in which a function has this parameter
        self.sizes: list[MathSpan] = []
        for maths in formulas:
            for statement in section.programs[maths].statements:
                for name in names_told(statement):
                    self.tells.setdefault(name, []).append(maths)
                for name in bound_by(statement):
                    self.binds.setdefault(name, []).append(maths)
                if any(isinstance(side, nodes.Size) for side in getattr(statement, "sides", ())):
                    self.sizes.append(maths)

    def of(self, spans: list[MathSpan], following: int) -> list[MathSpan]:
        """Return the given formulas, and the formulas that define the names in them.

        A definition before the position `following` is preferred to a later one.
        """

        @lru_cache(maxsize=4096)
        def said_before(name: str) -> list[MathSpan]:
            return [*self.before(self.tells, name, following), *self.before(self.binds, name, following)]

        chosen = reach(
            [*spans, *(maths for maths in self.sizes if maths.start < following)],
            lambda maths: [other for name in find_names(self.section, maths) for other in said_before(name)],
        )
        return [maths for maths in self.formulas if maths in chosen]

    def before(self, group: dict[str, list[MathSpan]], name: str, following: int) -> list[MathSpan]:
        spans = group.get(name, [])
        return [maths for maths in spans if maths.start < following] or (spans[:1] if group is self.tells else [])


def bound_by(statement: Any) -> list[str]:
    """Return the names of the parameters in the function that an equation defines, or an empty list."""
    head = function_head(statement) if isinstance(statement, nodes.Equation) else None
    return [] if head is None else [name for name in map(base_of, (*head.arguments, *head.parameters)) if name]


def names_told(statement: Any) -> list[str]:
    """Return the names that a statement introduces. An equation about f(2 X) or a renamed tensor introduces no name."""
    if isinstance(statement, nodes.Equation):
        head = statement.sides[0]
        is_known = isinstance(head, nodes.Rename) or not all(
            isinstance(argument, _PLAIN) for argument in getattr(head, "arguments", ())
        )
        return [] if is_known or not base_of(head)[:1].isalpha() else [base_of(head)]
    return sorted(head_names(statement))


def _is_known(body: nodes.Node) -> bool:
    """Return whether an expression is a literal tensor of numbers."""
    return isinstance(body, nodes.Literal) and not uses_of(body).variables


_PLAIN = (nodes.Name, nodes.Subscript, nodes.Superscript)
