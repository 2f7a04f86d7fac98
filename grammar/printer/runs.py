"""Convert nodes to runs, which are pieces of text with script levels and axes, for pages and images.

    softmax_{seq} X        Run("softmax"), Run("seq", scripts=("below",), axis="seq"), Run(" "), Run("X", slanted=True)

Scripts need no brackets, because the level is explicit. The tree determines which names are axes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from .. import nodes
from ..nodes import Call, axis_of
from ..symbols import FUNCTIONS
from ..traversal import walk
from .boxes import Part, write
from .operators import CALLS, sums_over_indices
from .statements import TextLayout, is_name

NAMING = (nodes.Name, nodes.Subscript, nodes.Superscript)


class Run(NamedTuple):
    """A piece of text in one style: its enclosing scripts, outermost first, its axis, and whether it is slanted.

    `name` is the scripted name that contains the piece, such as X^1.
    """

    text: str
    scripts: tuple[str, ...] = ()
    axis: str | None = None
    slanted: bool = False
    name: str = ""


def to_runs(node: Any, axes: Collection[str] | None = None) -> tuple[Run, ...]:
    """Convert `node` to runs.

    `axes` contains the names of axes. The default is `axes_in(node)`.

    >>> from grammar.parser import parse
    >>> [(run.text, run.scripts, run.axis) for run in to_runs(parse("∑_{seq} X^2"))]
    [('∑', (), None), ('seq', ('below',), 'seq'), (' ', (), None), ('X', (), None), ('2', ('above',), None)]
    """
    known = frozenset(axes_in(node) if axes is None else axes)
    runs: list[Run] = []
    stack: list[tuple[Part, Run]] = [(TextLayout(node).box(), Run(""))]
    while stack:
        part, style = stack.pop()
        if isinstance(part, str):
            add_run(runs, style._replace(text=part if style.axis else part.replace("-", "−")))
        elif part.kind != "gap":
            parts = part.parts
            is_naming = part.kind == "word" or type(part.node) in NAMING and is_name(part.node)
            if not style.name and is_naming:
                style = style._replace(name=write(part))
            if part.kind in ("below", "above"):
                parts, style = parts[1:-1], style._replace(scripts=(*style.scripts, part.kind))
            elif part.kind == "axis" and part.data in known:
                style = style._replace(axis=part.data)
            elif part.kind == "word":
                style = style._replace(slanted=len(part.data.rstrip("'*†")) == 1 and part.data[0].isalpha())
            stack.extend((inner, style) for inner in reversed(parts))
    return tuple(runs)


def add_run(runs: list[Run], run: Run) -> None:
    """Append a nonempty run, or extend the last run if both have the same style and are not slanted."""
    if runs and runs[-1][1:] == run[1:] and not run.slanted:
        runs[-1] = run._replace(text=runs[-1].text + run.text)
    elif run.text:
        runs.append(run)


def plain(runs: Iterable[Run]) -> str:
    """Return the text of the runs."""
    return "".join(run.text for run in runs)


def axes_in(node: Any) -> tuple[str, ...]:
    """Return the names that are certainly axes, in the order in which they first occur.

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
    """Return the components of a built-in's subscript that are axes in every context."""
    if call.operator in ("maxk", "argmaxk"):
        return call.subscript[:1]
    method = CALLS.get(call.operator)
    if method == "big":
        return () if sums_over_indices(call) else call.subscript
    return call.subscript if call.operator in FUNCTIONS or method == "product" else ()
