"""The statements of a document in their order, and what they say of names: the material of the rules in `suspicions`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeGuard

from grammar import nodes
from grammar.cache import cached_property
from grammar.errors import Span
from grammar.printer import to_text
from grammar.traversal import children, mapped

from ..operators import REGISTRY
from ..scope.names import Spelled, spelled, walk
from .assembled import assembled
from .document import Document, MathSpan
from .notation import base_of, head_of


class Line(NamedTuple):
    """A statement of a document, and the section and formula that it is in."""

    statement: Any
    section: int
    maths: MathSpan

    @property
    def head(self) -> Any:
        """The left side of an equation, else None."""
        return self.statement.sides[0] if isinstance(self.statement, nodes.Equation) else None

    @property
    def body(self) -> tuple[Any, ...]:
        """The right sides of an equation."""
        return self.statement.sides[1:] if isinstance(self.statement, nodes.Equation) else ()

    @property
    def body_nodes(self) -> Iterator[Any]:
        """The nodes of its right sides."""
        return (node for side in self.body for node in walk(side))

    @property
    def with_ancestors(self) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        """The nodes of its right sides, each with those above it, the nearest last."""
        stack: list[tuple[Any, tuple[Any, ...]]] = [(side, ()) for side in reversed(self.body)]
        while stack:
            current, parents = stack.pop()
            yield current, parents
            stack.extend((child, (*parents, current)) for child in reversed(children(current)))

    @property
    def ranges(self) -> tuple[nodes.Range, ...]:
        """Its ranges: l = 1, …, L."""
        over = getattr(self.statement, "range", None)
        return over.each if over is not None else ()

    @property
    def indices(self) -> dict[str, Any]:
        """The variables that it binds, each with its least value: those of its ranges, and those of elements, from 1."""
        result = {range_.variable.text: range_.low for range_ in self.ranges}
        if isinstance(self.head, nodes.Index):
            for _, at in self.head.items:
                if isinstance(at, nodes.Name):
                    result.setdefault(at.text, nodes.Number(1))
        return result


class Suspicion(NamedTuple):
    """What a rule suspects to be a mistake: a node of a line, and a message and a repair with its texts in braces."""

    code: int
    line: Line
    node: Any
    message: str
    hint: str


class DocumentLines:
    """All statements of a document."""

    def __init__(self, document: Document, reported: set[MathSpan]):
        self.document = document
        self.reported = reported
        functions = _functions(document)
        self.all = [
            Line(mapped(statement, lambda node: _called(node, functions)), number, maths)
            for number, section in enumerate(document.sections)
            for maths in section.formulas
            if maths not in section.inherited
            for statement in section.programs[maths].statements
        ]

    def source_span(self, line: Line, node: Any) -> Span | None:
        """The span of a node in the document."""
        return assembled(self.document, [line.maths]).span(node.span)

    def text(self, line: Line, node: Any) -> str:
        """A node as the document writes it, on one line."""
        span = self.source_span(line, node)
        return " ".join(self.document.source[slice(*span)].split()) if span and span[0] < span[1] else to_text(node)

    def is_reported(self, line: Line) -> bool:
        """Whether a line shows a named axis, or is a display that uses a name that such a line defines, or the reverse.

        A definition of a built-in function is compared with that function, and not looked at here.
        """
        if is_call(line.head, *REGISTRY):
            return False
        if line.maths.written or not (line.maths.display or line.maths in self.reported):
            return False
        if line.maths in self.reported:
            return True
        defined, used = self._reported_names
        return bool(
            defined & set(map(base_of, walk(line.statement))) or used & set(map(base_of, _heads(line.statement)))
        )

    @cached_property
    def _reported_names(self) -> tuple[set[str], set[str]]:
        """The names that lines with named axes define, and all those in them."""
        lines = [line.statement for line in self.all if line.maths in self.reported]
        defined = {base_of(head) for statement in lines for head in _heads(statement)}
        return defined - {""}, {base_of(node) for statement in lines for node in walk(statement)} - {""}

    @cached_property
    def defined(self) -> dict[tuple[int, str], list[Line]]:
        """The equations by their section and the base of the name, or of the function, that they define."""
        result: dict[tuple[int, str], list[Line]] = {}
        for line in self.all:
            if line.head is not None and (base := base_of(line.head)):
                result.setdefault((line.section, base), []).append(line)
        return result

    @cached_property
    def used(self) -> list[tuple[Any, list[Spelled | str]]]:
        """The statements that use names, each with the names and the functions in it, without labels: W^Q does not use Q."""
        result: list[tuple[Any, list[Spelled | str]]] = []
        for line in self.all:
            if not isinstance(line.statement, (nodes.Declaration, nodes.Signature)):
                result.append((line.statement, list(_names_without_labels(line.statement))))
        return result

    def definitions(self, line: Line, base: str) -> list[Line]:
        """Return the equations for a name in the section of a line, or in the last one before it that has any."""
        return self.defined.get((self._defining_section(line, base), base), [])

    def _defining_section(self, line: Line, base: str) -> int:
        return next((section for section in range(line.section, -1, -1) if (section, base) in self.defined), -1)

    @cached_property
    def declared(self) -> dict[str, list[tuple[Line, Any]]]:
        """The declarations by the base of the names, each with its line."""
        result: dict[str, list[tuple[Line, Any]]] = {}
        for line in self.all:
            for name in getattr(line.statement, "names", ()):
                if base := base_of(name):
                    result.setdefault(base, []).append((line, name))
        return result

    def number(self, line: Line, name: str) -> float | None:
        """Return the number that the only definition of a name gives, or None."""
        return self._numbers.get((self._defining_section(line, name), name))

    @cached_property
    def _numbers(self) -> dict[tuple[int, str], float]:
        """The numbers that names are, by section and name."""
        result: dict[tuple[int, str], float] = {}
        for slot, lines in self.defined.items():
            bodies = [line.body[0] for line in lines if isinstance(line.head, nodes.Name)]
            if len(bodies) == 1 and isinstance(bodies[0], nodes.Number):
                result[slot] = bodies[0].value
        return result

    def is_parameter(self, line: Line, node: Any) -> bool:
        """Whether a node is a name that is declared and that no equation defines, or a parameter of the line's function."""
        name = bare(node)
        if name is None:
            return False
        base = base_of(name)
        if isinstance(line.head, nodes.Call) and base in map(base_of, (*line.head.arguments, *line.head.parameters)):
            return base in map(base_of, line.head.parameters)
        return base in self.declared and not self.definitions(line, base)


def _names_without_labels(node: Any) -> Iterator[Spelled | str]:
    """The names in a node, and the functions that it calls; no labels of them."""
    stack = [node]
    while stack:
        current = stack.pop()
        name = spelled(current) if isinstance(current, (nodes.Name, nodes.Superscript, nodes.Subscript)) else None
        if name is not None:
            yield name
            powers = [*name.superscript] if isinstance(current, nodes.Superscript) else []
            stack.extend(component for component in powers if not isinstance(component, nodes.Name))
            continue
        if isinstance(current, nodes.Call):
            yield current.operator
        stack.extend(children(current))


def _functions(document: Document) -> set[str]:
    """The functions that a document defines."""
    statements = (
        line for section in document.sections for tree in section.programs.values() for line in tree.statements
    )
    return {head.operator for head in map(head_of, statements) if head is not None}


def _called(node: Any, functions: set[str]) -> Any:
    """A call of a function that another formula defines, which is read as a product in its own: act(X)."""
    if not is_call(node, "juxtaposed"):
        return None
    left, right = node.arguments
    factor = left.arguments[1] if is_call(left, "juxtaposed") else left
    name = factor.base if isinstance(factor, nodes.Superscript) else factor
    if not isinstance(name, nodes.Name) or name.text not in functions:
        return None
    labels = factor.components if isinstance(factor, nodes.Superscript) else ()
    argument = mapped(right, lambda below: _called(below, functions))
    call = nodes.Call(name.text, labels, (), (argument,), (), (factor.span[0], node.span[1]), factor.span)
    if not is_call(left, "juxtaposed"):
        return call
    return nodes.Call("juxtaposed", (), (), (left.arguments[0], call), (), node.span, node.span)


def _heads(statement: Any) -> list[Any]:
    """The names that a statement declares or defines."""
    return [*getattr(statement, "names", ()), *getattr(statement, "sides", ())[:1]]


def bare(node: Any) -> Any:
    """The name with its scripts that a node is, perhaps with other axes; None for all else."""
    while isinstance(node, nodes.Rename):
        node = node.base
    inner = node
    while isinstance(inner, (nodes.Subscript, nodes.Superscript)):
        inner = inner.base
    return node if isinstance(inner, nodes.Name) else None


def is_call(node: Any, *operators: str) -> TypeGuard[nodes.Call]:
    """Whether a node is a call of one of some operators."""
    return isinstance(node, nodes.Call) and node.operator in operators


def factors_of(node: Any) -> list[Any]:
    """Return the factors of a product without axes."""
    return _operands_of(node, lambda inner: is_call(inner, "⊙", "juxtaposed") and not inner.subscript)


def terms_of(node: Any) -> list[Any]:
    """Return the terms of a sum."""
    return _operands_of(node, lambda inner: is_call(inner, "+") and len(inner.arguments) == 2)


def _operands_of(node: Any, is_inner: Callable[[Any], bool]) -> list[Any]:
    """Return the operands of nested calls in the order written."""
    result: list[Any] = []
    stack: list[Any] = [node]
    while stack:
        current = stack.pop()
        if is_inner(current):
            stack.extend(reversed(current.arguments))
        else:
            result.append(current)
    return result
