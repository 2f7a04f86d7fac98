"""Conversion of nodes to runs, which are pieces of text with script levels and axes, for pages and images.

    softmax_{seq} X        Run("softmax"), Run("seq", scripts=("below",), axis="seq"), Run(" "), Run("X", slanted=True)

Scripts are written without brackets, because their level is explicit. The tree decides which names are axes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from .. import nodes
from ..nodes import Call, axis_of
from ..symbols import FUNCTIONS
from ..traversal import walk
from .operators import FORMS, sums_over_indices
from .text import Text

# Marks inside a piece that no formula can contain: they begin a script, an axis, or a slanted name, and end each.
BELOW, ABOVE, AXIS, SLANTED, NAMED, END = "\ue000\ue001\ue002\ue003\ue004\ue005"
MARKED = re.compile(f"([^{BELOW}-{END}]*)([{BELOW}-{END}]?)")
SCRIPTS = {BELOW: "below", ABOVE: "above"}


class Run(NamedTuple):
    """A piece of uniform style with its enclosing scripts, outermost first, its axis, and whether it is slanted."""

    text: str
    scripts: tuple[str, ...] = ()
    axis: str | None = None
    slanted: bool = False


def to_runs(node: Any, axes: Collection[str] | None = None) -> tuple[Run, ...]:
    """Return the runs of `node`.

    `axes` are the names to read as axes if the tree leaves that open.

    >>> from grammar.parser import parse
    >>> [(run.text, run.scripts, run.axis) for run in to_runs(parse("∑_{seq} X^2"))]
    [('∑', (), None), ('seq', ('below',), 'seq'), (' ', (), None), ('X', (), None), ('2', ('above',), None)]
    """
    return tuple(runs_of(Marked(axes_in(node) if axes is None else axes).text(node)))


def axes_in(node: Any) -> tuple[str, ...]:
    """Return the axes that a tree names, in order of appearance.

    >>> from grammar.parser import parse
    >>> axes_in(parse("LN_W(X_{a→b}) ⊙_{key} W_Q"))
    ('key', 'a', 'b')
    """
    result: dict[str, None] = {}
    sure: set[str] = set()
    for current in walk(node):
        if isinstance(current, nodes.Axis):
            sure.add(current.name)
            result.setdefault(current.name)
        elif isinstance(current, Call):
            for axis in filter(None, map(axis_of, current.subscript)):
                result.setdefault(axis.name)
            sure |= {axis.name for axis in filter(None, map(axis_of, certain(current)))}
    return tuple(axis for axis in result if axis in sure)


def certain(call: Call) -> tuple[Any, ...]:
    """Return the components of a built-in's subscript that are certainly axes."""
    if call.operator in ("maxk", "argmaxk"):
        return call.subscript[:1]
    form = FORMS.get(call.operator)
    if form == "big":
        return () if sums_over_indices(call) else call.subscript
    return call.subscript if call.operator in FUNCTIONS or form == "product" else ()


class Marked(Text):
    """The text syntax with control characters around scripts and axes."""

    def __init__(self, axes: Collection[str]):
        self.colors, self.after = {axis: f"{AXIS}{axis}{NAMED}" for axis in axes}, END

    def word(self, text: str) -> str:
        slanted = len(text.rstrip("'*†")) == 1 and text[0].isalpha()
        return f"{SLANTED}{text}{END}" if slanted else text

    def head(self, node):
        """Print the head of a call without a space before the bracket, even for a function d."""
        head = yield from super().head(node)
        return self.word("d") if head == "d " else head

    def scripted(self, sign: str, content: str, always: bool = False) -> str:
        return (BELOW if sign == "_" else ABOVE) + content + END if content else ""


def runs_of(marked: str) -> Iterator[Run]:
    """Yield the runs of text with control characters."""
    open_marks: list[str] = []
    axes: list[str] = []
    for text, mark in MARKED.findall(marked):
        if mark == NAMED:
            axes.append(text)
            continue
        if text:
            yield run(text, open_marks, axes)
        if mark == END and open_marks.pop() == AXIS:
            axes.pop()
        elif mark and mark != END:
            open_marks.append(mark)


def run(text: str, open_marks: list[str], axes: list[str]) -> Run:
    scripts = tuple(SCRIPTS[mark] for mark in open_marks if mark in SCRIPTS)
    axis = axes[-1] if axes else None
    return Run(text if axis else text.replace("-", "−"), scripts, axis, SLANTED in open_marks)


def plain(runs: tuple[Run, ...]) -> str:
    """Return only the characters of the runs."""
    return "".join(run.text for run in runs)
