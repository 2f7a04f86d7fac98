"""Where a document mentions names and axes, and which of these mentions are of the same one.

An axis belongs to all of its program, except one that the head of a function binds: that belongs to the function. So does a
parameter, and an index to its statement.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from grammar import nodes
from grammar.errors import Span
from grammar.nodes import Call, axis_of
from grammar.printer.runs import axes_in
from grammar.symbols import FUNCTIONS
from grammar.traversal import children

from ..scope.names import MARKS, walk
from .analysis import EditedDocument, FormulaRegion

AXIS, NAME, FUNCTION, INDEX = "axis", "name", "function", "index"
MACRO = re.compile(r"\\[A-Za-z]+")
SUM_SIGNS = ("∑", "∏")
BUILT_IN = FUNCTIONS | {"juxtaposed", "negative"}


class Occurrence(NamedTuple):
    """A mention of a name or an axis: where, what kind, what it is called, whether it is its definition, and what it belongs to.

    `owner` is the place of the function or statement that binds it; None for what belongs to the program.
    """

    span: Span  # in the text of its region
    kind: str
    name: str
    defines: bool
    owner: Span | None
    region: int


def occurrences(document: EditedDocument) -> list[Occurrence]:
    """All mentions in the programs of a document, in their order."""
    mentions: list[Occurrence] = []
    for number, region in enumerate(document.regions):
        mentions += _Region(region, number).found()
    return mentions


class _Region:
    """The mentions in one region."""

    def __init__(self, region: FormulaRegion, number: int):
        self.region, self.number = region, number
        self.axes = frozenset(axes_in(region.tree))
        self.owners = list(owners_of(region))

    def found(self) -> list[Occurrence]:
        return sorted(mention for statement in self.region.tree.statements for mention in self.statement(statement))

    def statement(self, statement: Any) -> Iterator[Occurrence]:
        indices = indices_of(statement)
        defining = {id(node) for node in heads(statement)}
        stack: list[tuple[Any, bool]] = [(statement, False)]  # with whether it is a label
        while stack:
            node, label = stack.pop()
            below = list(children(node))
            if isinstance(node, nodes.Axis):
                yield self.axis(node.span, node.name)
            elif isinstance(node, nodes.Name):
                if node.text in indices:
                    yield Occurrence(node.span, INDEX, node.text, False, statement.span, self.number)
                elif not label:
                    yield self.name(node.span, node.text, NAME, id(node) in defining)
            elif isinstance(node, Call):
                stack += ((inner, True) for inner in node.superscript)
                below = [*node.arguments, *node.parameters]
                for part in node.subscript:
                    yield from self.component(part, indices, statement.span)
                if node.operator[:1].isalpha() and node.operator not in BUILT_IN:
                    yield self.name(self.operator_span(node), node.operator, FUNCTION, id(node) in defining)
            elif isinstance(node, (nodes.Superscript, nodes.Subscript)):
                if id(node) in defining:
                    defining.add(id(node.base))
                stack += ((inner, True) for inner in node.components)
                below = [node.base]
            elif isinstance(node, nodes.Index) and id(node) in defining:
                defining.add(id(node.base))
            stack += ((inner, label) for inner in below)

    def component(self, part: Any, indices: Collection[str], within: Span) -> Iterator[Occurrence]:
        """A component of the subscript of a call: an axis, or an index."""
        axis = axis_of(part)
        if axis is not None and axis.name.rstrip(MARKS) in {known_axis.rstrip(MARKS) for known_axis in self.axes}:
            yield self.axis(part.span, axis.name)
            return
        for node in walk(part):
            if isinstance(node, nodes.Name) and node.text in indices:
                yield Occurrence(node.span, INDEX, node.text, False, within, self.number)

    def operator_span(self, node: Call) -> Span:
        start = node.operator_span[0]
        text = self.region.text[slice(*node.operator_span)]
        at = text.find(node.operator)
        return (start + at, start + at + len(node.operator)) if at >= 0 else node.operator_span

    def axis(self, span: Span, name: str) -> Occurrence:
        plain = name.rstrip(MARKS)
        owner = next(
            (function.span for function in self.owners if plain in function.axes and function.holds(span)), None
        )
        return Occurrence(span, AXIS, plain, False, owner, self.number)

    def name(self, span: Span, name: str, kind: str, defines: bool) -> Occurrence:
        owner = next(
            (function.span for function in self.owners if name in function.names and function.holds(span)), None
        )
        return Occurrence(span, kind, name, defines, owner, self.number)


class Owner(NamedTuple):
    """A function: its names and axes, and the statements that belong to it."""

    span: Span
    names: frozenset[str]
    axes: frozenset[str]
    statements: tuple[Span, ...]

    def holds(self, span: Span) -> bool:
        """Whether a place is in its statements."""
        return any(start <= span[0] and span[1] <= end for start, end in self.statements)


def owners_of(region: FormulaRegion) -> Iterator[Owner]:
    """The functions of a region, inner ones first."""
    functions = list(region.scope.all_functions()) if region.scope is not None else []
    for function in sorted(functions, key=lambda function_or_fact: -function_or_fact.position):
        facts = [
            function_or_fact for group in function.facts.values() for function_or_fact in group
        ] + function.families
        spans = [function.statement.span, *(function_or_fact.statement.span for function_or_fact in facts)]
        names = frozenset(function.bound) | {function_or_fact.name.base for function_or_fact in facts}
        signature = (function.signature.span,) if function.signature is not None else ()
        yield Owner(function.statement.span, names, function.over_axes, (*spans, *signature))


def heads(statement: Any) -> Iterator[Any]:
    """The nodes that a statement defines or declares."""
    if isinstance(statement, nodes.Equation):
        head = statement.sides[0]
        yield head
        if isinstance(head, Call):
            yield from (*head.arguments, *head.parameters)
    elif isinstance(statement, nodes.Declaration):
        yield from statement.names
    elif isinstance(statement, nodes.Signature):
        yield statement.head
    elif isinstance(statement, nodes.Update):
        yield statement.target


def indices_of(statement: Any) -> frozenset[str]:
    """The indices that a statement binds: l of `for l = 1, …, L`, i of A_{seq(i)} = … and of ∑_i."""
    names: set[str] = set()
    for node in walk(statement):
        if isinstance(node, nodes.Range):
            names |= node.variables
        elif isinstance(node, (nodes.IndexSum, nodes.Over)):
            names.add(node.variable.text)
        elif isinstance(node, Call) and node.operator in SUM_SIGNS and len(node.subscript) == 1:
            name = node.subscript[0]
            below = (inner for argument in node.arguments for inner in walk(argument) if isinstance(inner, nodes.Index))
            places = (at for inner in below for _, at in inner.items)
            if isinstance(name, nodes.Name) and any(name in walk(at) for at in places):
                names.add(name.text)
    head = statement.sides[0] if isinstance(statement, nodes.Equation) else getattr(statement, "target", None)
    if isinstance(head, nodes.Index):
        names |= {node.text for _, at in head.items for node in walk(at) if isinstance(node, nodes.Name)}
    return frozenset(names)


# ------------------------------------------------------------------------------------------------------ which are the same
def at_offset(document: EditedDocument, offset: int) -> Occurrence | None:
    """The mention at a place of a document, or that ends there."""
    regions = document.regions
    best: tuple[int, int, Occurrence] | None = None
    for mention in occurrences(document):
        span = regions[mention.region].place(mention.span)
        if span is not None and span[0] <= offset <= span[1]:
            rank = (span[1] - span[0], int(offset == span[1]))
            if best is None or rank < best[:2]:
                best = (*rank, mention)
    if best is None and document.report is not None:
        return _defined_at(document, offset)
    return None if best is None else best[2]


def _defined_at(document: EditedDocument, offset: int) -> Occurrence | None:
    r"""A mention of the macro of LaTeX that is written at a place outside of formulas, as in \ndef{\seq}{seq}."""
    macro = macro_at(document.text, offset)
    if macro is None:
        return None
    regions = document.regions
    places = ((mention, regions[mention.region].place(mention.span)) for mention in occurrences(document))
    return next((mention for mention, span in places if span and document.text[slice(*span)] == macro), None)


def macro_at(text: str, offset: int) -> str | None:
    """The macro of LaTeX that is written at a place."""
    start = text.rfind("\\", 0, offset + 1)
    macro = MACRO.match(text, max(start, 0))
    return macro[0] if start >= 0 and macro is not None and macro.end() >= offset else None


def same_as(document: EditedDocument, chosen: Occurrence) -> list[Occurrence]:
    """The mentions of the same name or axis as this one."""
    regions = document.regions
    groups = (
        {chosen.region} if not regions[chosen.region].latex or chosen.owner is not None else _linked(document, chosen)
    )
    kinds = (AXIS,) if chosen.kind == AXIS else (INDEX,) if chosen.kind == INDEX else (NAME, FUNCTION)
    return [
        mention
        for mention in occurrences(document)
        if mention.kind in kinds
        and mention.name == chosen.name
        and mention.region in groups
        and mention.owner == chosen.owner
    ]


def _linked(document: EditedDocument, chosen: Occurrence) -> set[int]:
    """The sections of a document in which a name is the same: those that inherit it from one. An axis is the same in all."""
    regions = document.regions
    if document.report is None:
        return {chosen.region}
    if chosen.kind == AXIS:
        return set(range(len(regions)))
    first = chosen.region
    while first > 0 and chosen.name in regions[first].inherits:
        first -= 1
    last = chosen.region
    mentioned = {mention.region for mention in occurrences(document) if mention.name == chosen.name}
    while last + 1 < len(regions) and (chosen.name in regions[last + 1].inherits or last + 1 not in mentioned):
        last += 1
    return set(range(first, last + 1))
