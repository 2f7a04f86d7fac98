r"""Directives in comments: assumptions that the checker adds, and findings that it ignores.

    % namedtensor: X ∈ ℝ^{seq × chans}      an assumption in text or LaTeX syntax; semicolons separate several
    % namedtensor: ignore                   ignore all findings on this line or in the next display
    % namedtensor: ignore 301, 314          ignore only these codes

An assumption is added as LaTeX to the program of its section. Its errors are reported at the statement in the comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from grammar import nodes
from grammar.errors import NotationError, Span
from grammar.parser import parse
from grammar.printer import to_latex

REMARK = re.compile(r"(?<!\\)%[ \t]*namedtensor:[ \t]*([^\n]*)")
IGNORE = re.compile(r"ignore(?![A-Za-z_^=(])[ \t:]*(?P<numbers>[0-9, \t]*)$")
SEPARATOR = re.compile(r"[{(\[]|[})\]]|;")


class Ignored(NamedTuple):
    """A directive to ignore findings with certain codes or, if it states no codes, all findings."""

    position: int
    numbers: frozenset[int]


class FactDirective(NamedTuple):
    """An assumption in a comment, with its span and its LaTeX form."""

    span: Span
    written: str


def remarks(source: str, start: int, end: int) -> Iterator[Ignored | FactDirective | NotationError]:
    """Yield the directives in the comments of a range of the source, or the errors in them."""
    for remark in REMARK.finditer(source, start, end):
        if ignored := IGNORE.fullmatch(remark[1].rstrip()):
            yield Ignored(remark.start(), frozenset(map(int, re.findall(r"\d+", ignored["numbers"]))))
            continue
        for span in _pieces(source, *remark.span(1)):
            try:
                yield from facts(source, span, latex="\\" in source[slice(*span)])
            except NotationError as problem:
                yield problem


def facts(source: str, span: Span, latex: bool = False) -> list[FactDirective]:
    """Return the assumptions in a span, which is in text or LaTeX syntax. Raise NotationError if they are invalid."""
    text = source[slice(*span)]
    try:
        program = parse(text, "latex" if latex else "text")
    except NotationError as problem:
        raise _move_error(problem, source, span) from None
    for statement in program.statements:
        if isinstance(statement, nodes.Value):
            hint = "an assumption is a statement, such as X ∈ ℝ^{seq × chans}; findings are switched off by: ignore 301"
            value = (span[0] + statement.span[0], span[0] + statement.span[1])
            raise NotationError(101, "this directive states nothing", source, value, hint=hint)
    if latex:
        return [FactDirective(span, rf"\({text.strip().strip('$')}\)")]
    return [
        FactDirective((span[0] + line.span[0], span[0] + line.span[1]), rf"\({to_latex(nodes.Program((line,)))}\)")
        for line in program.statements
    ]


def _pieces(source: str, start: int, end: int) -> Iterator[Span]:
    """Yield the spans of a range between semicolons. Semicolons in brackets do not separate."""
    depth, position = 0, start
    for sign in SEPARATOR.finditer(source, start, end):
        if sign[0] == ";" and depth == 0:
            yield position, sign.start()
            position = sign.end()
        depth += {"{": 1, "(": 1, "[": 1, ";": 0}.get(sign[0], -1)
    if source[position:end].strip() or position == start:
        yield position, end


def _move_error(problem: NotationError, source: str, span: Span) -> NotationError:
    """Return an error in a part of a source with its span converted to a span of the whole source."""
    result = problem.span or (0, 0)
    moved = (span[0] + result[0], min(span[0] + result[1], span[1]))
    return problem.replace(source=source, span=moved, labels=())
