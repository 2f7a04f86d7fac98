"""Mentions of names and axes in a document, and the name or axis that each mention refers to.

An axis belongs to the whole program, unless the left-hand side of a function definition binds it. Then the axis belongs
to the function. Parameters also belong to their function, and an index belongs to its statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from grammar import nodes
from grammar.errors import Span
from grammar.nodes import Call, axis_of
from grammar.printer.runs import axes_in
from grammar.symbols import FUNCTIONS
from grammar.traversal import children

from ..scope.heads import heads
from ..scope.names import MARKS, walk
from ..scope.uses import find_indices, uses_of
from .analysis import EditedDocument, FormulaRegion

AXIS, NAME, FUNCTION, INDEX = "axis", "name", "function", "index"
MACRO = re.compile(r"\\[A-Za-z]+")
BUILT_IN = FUNCTIONS | {"juxtaposed", "negative"}


class Occurrence(NamedTuple):
    """A mention of a name or an axis.

    `defines` is true if the mention is the definition. `owner` is the position of the function or statement that binds
    the name, or None if the program binds the name.
    """

    span: Span  # in the text of its region
    kind: str
    name: str
    defines: bool
    owner: Span | None
    region: int
    at: Span | None  # in the document; None in another file


def occurrences(document: EditedDocument) -> list[Occurrence]:
    """Return all mentions of names and axes in the programs of a document, in document order."""
    return [mention for number, region in enumerate(document.regions) for mention in sorted(mentions(region, number))]


def mentions(region: FormulaRegion, number: int) -> Iterator[Occurrence]:
    """Yield the mentions of names and axes in a region, whose index is `number`."""
    axes = {axis.rstrip(MARKS) for axis in axes_in(region.tree)}
    owners = list(owners_of(region))

    def mention(span: Span, kind: str, name: str, defines: bool = False) -> Occurrence:
        names = (
            owner.span
            for owner in owners
            if name in (owner.axes if kind == AXIS else owner.names) and owner.holds(span)
        )
        return Occurrence(span, kind, name, defines, next(names, None), number, region.place(span))

    for statement in region.tree.statements:
        indices = indices_of(statement)
        defining = {id(node) for node in find_defined_nodes(statement)}
        stack: list[tuple[Any, bool]] = [(statement, False)]  # each node, and whether it is a label
        while stack:
            node, label = stack.pop()
            below = list(children(node))
            if isinstance(node, nodes.Axis):
                yield mention(node.span, AXIS, node.name.rstrip(MARKS))
            elif isinstance(node, nodes.Name):
                if node.text in indices:
                    yield mention(node.span, INDEX, node.text)._replace(owner=statement.span)
                elif not label:
                    yield mention(node.span, NAME, node.text, id(node) in defining)
            elif isinstance(node, Call):
                stack += ((inner, True) for inner in node.superscript)
                below = [*node.arguments, *node.parameters]
                for part in node.subscript:
                    axis = axis_of(part)
                    if axis is not None and axis.name.rstrip(MARKS) in axes:
                        yield mention(part.span, AXIS, axis.name.rstrip(MARKS))
                    else:
                        stack += ((inner, True) for inner in walk(part) if isinstance(inner, nodes.Name))
                if node.operator[:1].isalpha() and node.operator not in BUILT_IN:
                    yield mention(operator_span(region, node), FUNCTION, node.operator, id(node) in defining)
            elif isinstance(node, (nodes.Superscript, nodes.Subscript)):
                if id(node) in defining:
                    defining.add(id(node.base))
                stack += ((inner, True) for inner in node.components)
                below = [node.base]
            elif isinstance(node, nodes.Index) and id(node) in defining:
                defining.add(id(node.base))
            stack += ((inner, label) for inner in below)


def operator_span(region: FormulaRegion, node: Call) -> Span:
    """Return the span of a function's name in its call."""
    start, end = node.operator_span
    at = region.text.find(node.operator, start, end)
    return (at, at + len(node.operator)) if at >= 0 else node.operator_span


class Owner(NamedTuple):
    """A function that binds names: its names, its axes, and the spans of its statements."""

    span: Span
    names: frozenset[str]
    axes: frozenset[str]
    statements: list[Span]

    def holds(self, span: Span) -> bool:
        """Return whether a span is inside one of the function's statements."""
        return any(start <= span[0] and span[1] <= end for start, end in self.statements)


def owners_of(region: FormulaRegion) -> Iterator[Owner]:
    """Yield the functions of a region, later ones first."""
    functions = list(region.scope.all_functions()) if region.scope is not None else []
    for function in sorted(functions, key=lambda function: -function.position):
        facts = [*function.all_definitions()]
        statements = [function.statement, *(fact.statement for fact in facts), function.signature]
        names = frozenset(function.bound).union(fact.name.base for fact in facts)
        spans = [statement.span for statement in statements if statement is not None]
        yield Owner(function.statement.span, names, function.over_axes, spans)


def find_defined_nodes(statement: Any) -> Iterator[Any]:
    """Yield the nodes that a statement defines or declares, and the parameters of a function."""
    for head in heads(statement):
        yield head
        if isinstance(head, Call) and isinstance(statement, nodes.Equation):
            yield from (*head.arguments, *head.parameters)


def indices_of(statement: Any) -> frozenset[str]:
    """Return the indices that a statement binds, such as l in `for l = 1, …, L`, and i in A_{seq(i)} = … and in ∑_i."""
    names = find_indices(statement)
    items = (item for head in heads(statement) if isinstance(head, nodes.Index) for item in head.items)
    return frozenset(names.union(*(uses_of(position).variables for _, position in items)))


# ------------------------------------------------------------------------------------------- mentions of the same name
def find_occurrence(document: EditedDocument, offset: int) -> Occurrence | None:
    r"""Return the mention that contains an offset of a document or ends there, or None if there is none.

    Outside of formulas, return a mention of the macro at that position, as in \ndef{\seq}{seq}.
    """
    placed = [(mention, mention.at) for mention in occurrences(document) if mention.at is not None]
    here = [(mention, span) for mention, span in placed if span[0] <= offset <= span[1]]
    if here:
        return min(here, key=lambda pair: (pair[1][1] - pair[1][0], offset == pair[1][1]))[0]
    macro = macro_at(document.text, offset) if document.report is not None else None
    return next((mention for mention, span in placed if document.text[slice(*span)] == macro), None)


def macro_at(text: str, offset: int) -> str | None:
    """Return the LaTeX macro at an offset, or None if there is no macro."""
    start = text.rfind("\\", 0, offset + 1)
    macro = MACRO.match(text, max(start, 0))
    return macro[0] if start >= 0 and macro is not None and macro.end() >= offset else None


def same_as(document: EditedDocument, chosen: Occurrence) -> list[Occurrence]:
    """Return all mentions of the name or axis that a mention refers to."""
    regions, every = document.regions, occurrences(document)
    is_local = not regions[chosen.region].latex or chosen.owner is not None or document.report is None
    groups = {chosen.region} if is_local else find_linked_regions(regions, every, chosen)
    kinds = (chosen.kind,) if chosen.kind in (AXIS, INDEX) else (NAME, FUNCTION)
    expected = chosen.name, chosen.owner
    return [
        mention
        for mention in every
        if mention.kind in kinds and mention.region in groups and (mention.name, mention.owner) == expected
    ]


def find_linked_regions(regions: Sequence[FormulaRegion], every: Sequence[Occurrence], chosen: Occurrence) -> set[int]:
    """Return the indices of the regions in which the chosen name has the same meaning.

    A region inherits names from earlier regions. All regions share an axis.
    """
    if chosen.kind == AXIS:
        return set(range(len(regions)))
    first = last = chosen.region
    while first > 0 and chosen.name in regions[first].inherits:
        first -= 1
    mentioned = {mention.region for mention in every if mention.name == chosen.name}
    while last + 1 < len(regions) and (chosen.name in regions[last + 1].inherits or last + 1 not in mentioned):
        last += 1
    return set(range(first, last + 1))
