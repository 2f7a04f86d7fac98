"""Types, errors and axes as plain data for replies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from grammar.errors import CATALOGUE, NotationError, excerpt

from ..core.sizes import SizeVariable, resolve
from ..display.colors import tints
from ..terms.inference import format_shape

Reply = dict[str, Any]


def error_data(problem: NotationError, repairs: Sequence[Reply] = ()) -> Reply:
    """Return an error as data. `repairs` contains the edits that buttons on the page apply."""
    line, column = problem.position() if problem.span is not None else (None, None)
    return {
        "kind": problem.kind,
        "code": problem.code,
        "title": CATALOGUE.get(problem.code, ""),
        "message": problem.message,
        "line": line,
        "column": column,
        "span": _span(problem.span),
        "labels": [{"span": list(span), "text": text} for span, text in problem.labels],
        "notes": list(problem.notes),
        "hint": problem.hint,
        "repairs": list(repairs),
        "full": problem.to_text(),
        "input": None,
    }


def warning_data(warning: Any, source: str) -> Reply:
    """Return a warning as data in the format of an error."""
    edits = [{"span": list(at or warning.span), "text": text} for at, text in getattr(warning.hint, "edits", ())]
    shown = excerpt(source, ((warning.span, ""),))
    full = "\n".join([f"warning: {warning.message}", *shown, f"  hint: {warning.hint}"])
    return {**error_data(warning.make_strict_error(source), edits), "kind": "warning", "title": "", "full": full}


def _span(span: Any) -> list[int] | None:
    return None if span is None else list(span)


def shape_data(shape: Mapping[str, Any]) -> list[list[Any]]:
    """Return each axis paired with its size, which is None if it is unknown."""
    return [[axis, number_of(size)] for axis, size in shape.items()]


def number_of(size: Any) -> int | None:
    """Return a size as an integer, or None if the size is unknown."""
    size = resolve(size)
    return None if isinstance(size, SizeVariable) else size


def type_data(shape: Mapping[str, Any] | None) -> Reply | None:
    return None if shape is None else {"text": format_shape(shape), "axes": shape_data(shape)}


def axes_data(axes: Iterable[str], sizes: Mapping[str, Any]) -> list[Reply]:
    """Return the data of axes, with their colors, in the order of the colors."""
    return [
        {
            "name": axis, "size": sizes.get(axis), "color": tint.number, "underlined": tint.underlined,
            "light": tint.color.light, "dark": tint.color.dark,
        }
        for axis, tint in tints(axes).items()
    ]  # fmt: skip
