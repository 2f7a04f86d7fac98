"""The derivative of a formula with respect to one of its names, with a closed form and a derivation."""

from __future__ import annotations

from typing import Any

from grammar.errors import NotationError
from grammar.parser import parse
from grammar.printer import to_latex, to_text
from grammar.printer.runs import axes_in

from ..derivations.closed_form import ClosedForm, closed_form
from ..display.colors import tints
from ..programs.program import Formula
from .marked_latex import write_marked_latex
from .replies import Reply, axes_data
from .requests import Request
from .typed import TypedText, read_typed_text

MOST = 20_000  # the most rewrites in a derivation


def derive(request: Request) -> Reply:
    """Return the reply to a request `derive`."""
    typed_text, by = read_typed_text(request).right(), request.word("by", None)
    written = Formula(typed_text.program.source, typed_text.program.syntax).derivative(by)
    axes = dict(typed_text.axes)
    as_written = {"text": to_text(written.tree), "latex": highlight(written.tree, axes)}
    try:
        closed = reply_with_closed_form(closed_form(written, shapes_of(typed_text), typed_text.sizes, MOST), axes)
    except NotationError as problem:
        if problem.code not in (404, 405):
            raise
        return {
            "text": None, "latex": None, "steps": [], "as_written": as_written, "program": as_written["text"],
            "axes": axes_data(axes, axes), "why": problem.message,
        }  # fmt: skip
    return {**closed, "as_written": as_written, "why": None}


def reply_with_closed_form(closed: ClosedForm, axes: dict[str, Any]) -> Reply:
    tree = closed.expression.tree
    axes |= {axis: axes.get(axis) for axis in axes_in(tree)}
    return {
        "text": to_text(tree),
        "latex": highlight(tree, axes),
        "steps": [
            {
                "rule": step.rule, "text": to_text(step.node), "latex": highlight(step.node, axes),
                "identity": step.identity, "latex_identity": latex_of(step.identity),
            }
            for step in closed.steps
        ],
        "program": closed.program.to_text(),
        "axes": axes_data(axes, axes),
    }  # fmt: skip


def latex_of(identity: str) -> str | None:
    """Return the identity of a rule in LaTeX, or None if it is not an expression of the notation."""
    try:
        return to_latex(parse(identity, "text"))
    except NotationError:
        return None


def highlight(tree: Any, axes: Any) -> str:
    return write_marked_latex(tree, tints({**axes, **dict.fromkeys(axes_in(tree))}))


def shapes_of(typed_text: TypedText) -> dict[str, Any]:
    return {name: value for name, value in typed_text.given.items() if isinstance(value, dict)}
