"""The display of a derivation as text or as a table: the names of the parts, then each equation with its rule."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from grammar.plain_text import encodable
from grammar.printer import to_text
from grammar.printer.runs import axes_in

from .colors import Tint, tints
from .html import html_cell, html_formula, html_table


class Way(Protocol):
    """An object that contains a derivation: the definitions of its names, and its steps with their rules."""

    @property
    def definitions(self) -> Sequence[Any]: ...
    @property
    def steps(self) -> Sequence[Any]: ...


class StepTable(tuple[Any, ...]):
    """The steps of a derivation. They print with each rule beside its equation, and as a table in notebooks."""

    way: Way

    @encodable
    def __str__(self) -> str:
        return way_text(self.way)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        trees = [*self.way.definitions, *(step.node for step in self)]
        return way_html(self.way, tints(axis for tree in trees for axis in axes_in(tree)))


def way_text(way: Way, ascii: bool = False) -> str:
    """Return the derivation as text: the definitions, an empty line, and each equation with its rule beside it."""
    lines = [to_text(step.node, ascii=ascii) for step in way.steps]
    width = max(map(len, lines), default=0)
    steps = [f"{line:<{width}}   {step.rule}" for line, step in zip(lines, way.steps)]
    names = [to_text(definition, ascii=ascii) for definition in way.definitions]
    return "\n".join([*names, *([""] if names else []), *steps])


def way_html(way: Way, tints: Mapping[str, Tint]) -> str:
    """Return the derivation as an HTML table, in which the tooltip of each rule shows the rule's identity."""
    rows = [row("", definition, "", tints) for definition in way.definitions]
    for number, step in enumerate(way.steps, 1):
        rule = f'<span title="{html.escape(step.identity)}">{html.escape(step.rule)}</span>'
        rows.append(row(str(number), step.node, rule, tints))
    return html_table(("", "equation", "rule"), rows)


def row(number: str, equation: Any, rule: str, tints: Mapping[str, Tint]) -> str:
    return f"<td>{number}</td>{html_cell(html_formula(equation, tints))}{html_cell(rule)}"
