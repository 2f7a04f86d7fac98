"""Formulas as HTML, with subscripts, superscripts, and a color for each axis."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from grammar.errors import printable
from grammar.printer.runs import Run, to_runs

from .colors import Tint, axis_rules, classes

TAGS = {"below": "sub", "above": "sup"}
STYLE = (
    ".nt-formula{font-family:'STIX Two Text','Cambria','Times New Roman',serif;line-height:1.9;font-size:1.05em}"
    ".nt-formula sub,.nt-formula sup{font-size:.74em;line-height:0}"
    ".nt-formula .nt-axis{font-family:ui-sans-serif,'Helvetica Neue',Arial,sans-serif;font-weight:600;font-size:.92em}"
    ".named-tensor-steps td{vertical-align:top}.named-tensor-steps .nt-formula{white-space:nowrap}"
    ".nt-legend{font-size:.85em;margin-top:.3em}.nt-legend span{margin-right:1.2em;white-space:nowrap}"
)


def style() -> str:
    return f"<style>{STYLE}{axis_rules()}</style>"


def html_runs(runs: Iterable[Run], tints: Mapping[str, Tint]) -> str:
    """Return runs as HTML with nested scripts. Axis names are spans with the CSS class of their color."""
    names: list[str] = []
    stack: tuple[str, ...] = ()
    for run in runs:
        common = len(os.path.commonprefix([stack, run.scripts]))
        names += [f"</{TAGS[script]}>" for script in reversed(stack[common:])]
        names += [f"<{TAGS[script]}>" for script in run.scripts[common:]]
        stack = run.scripts
        names.append(html_run(run, tints))
    return "".join(names) + "".join(f"</{TAGS[script]}>" for script in reversed(stack))


def html_run(run: Run, tints: Mapping[str, Tint]) -> str:
    text = html.escape(run.text)
    if run.axis is not None and run.axis in tints:
        return f'<span class="nt-axis {classes(tints[run.axis])}">{text}</span>'
    return f"<i>{text}</i>" if run.slanted else text


def html_formula(node: Any, tints: Mapping[str, Tint]) -> str:
    """Return a formula as one line of HTML, or a program as one line for each statement."""
    statements = getattr(node, "statements", (node,))
    lines = [html_runs(to_runs(statement, tints), tints) for statement in statements]
    if len(lines) == 1:
        return f'<span class="nt-formula">{lines[0]}</span>'
    return '<div class="nt-formula">' + "".join(f"<div>{line}</div>" for line in lines) + "</div>"


def html_piece(node: Any, text: str, tints: Mapping[str, Tint]) -> str:
    """Return a part of a formula as HTML. If `node` is not a syntax node, show `text` instead."""
    return html_formula(node, tints) if hasattr(node, "span") else f"<code>{html.escape(printable(text))}</code>"


def html_legend(tints: Mapping[str, Tint], sizes: Mapping[str, Any]) -> str:
    entries = [
        f'<span><span class="nt-axis {classes(tint)}">{html.escape(axis)}</span>{size_of(axis, sizes)}</span>'
        for axis, tint in tints.items()
    ]
    return f'<div class="nt-formula nt-legend">{"".join(entries)}</div>' if entries else ""


def size_of(axis: str, sizes: Mapping[str, Any]) -> str:
    return f" = {html.escape(str(sizes[axis]))}" if axis in sizes else ""


def html_program(node: Any, tints: Mapping[str, Tint], sizes: Mapping[str, Any]) -> str:
    """Return a program as self-contained HTML, with its styles and a legend."""
    return f'<div class="nt-program">{style()}{html_formula(node, tints)}{html_legend(tints, sizes)}</div>'


def type_runs(axes: Mapping[str, Any], is_sized: bool = True) -> tuple[Run, ...]:
    """Return a type such as ℝ^{seq[3] × key[2]} as runs. If `is_sized` is false, sizes are left out."""
    runs = [Run("ℝ")]
    for axis, size in axes.items():
        runs += [Run(" × ", ("above",))] if len(runs) > 1 else []
        runs += [Run(axis, ("above",), axis), *([Run(f"[{size}]", ("above",))] if is_sized else [])]
    return tuple(runs)


def html_type(axes: Mapping[str, Any], tints: Mapping[str, Tint]) -> str:
    """Return a type such as ℝ^{seq[3] × key[2]} as HTML."""
    return f'<span class="nt-formula">{html_runs(type_runs(axes), tints)}</span>' if axes else "ℝ"


def html_table(header: Sequence[str], rows: Iterable[str], caption: str = "") -> str:
    """Return an HTML table with its style, given the HTML cells of the header and of the rows."""
    head = "".join(f"<th>{name}</th>" for name in header)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'{style()}<table class="named-tensor-steps">{caption}<tr>{head}</tr>{body}</table>'


def html_cell(text: str, depth: int | None = None, tag: str = "td") -> str:
    """Return an HTML cell with left-aligned text, indented by a depth."""
    indent = "" if depth is None else f";padding-left:{0.6 + 1.4 * depth:.1f}em"
    return f'<{tag} style="text-align:left{indent}">{text}</{tag.partition(" ")[0]}>'
