"""The reply to `translate`: matrix notation, index notation or array code as a formula with declarations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grammar.errors import AXES_NEEDED, NotationError
from grammar.parser import parse
from grammar.printer import to_text

from ..positional.refusals import AmbiguousError
from .replies import Reply, error_data
from .requests import Request

MAX_INPUTS = 12  # the most inputs of a text whose axes the reply requests


def translate(request: Request) -> Reply:
    """Return the reply to a request `translate`."""
    text = request.word("text", None)
    shapes = {name: axes for name, axes in request.mapping("shapes").items() if isinstance(axes, str)}
    missing: list[str] = []
    error: NotationError | None = None
    readings: Sequence[Any] = ()
    try:
        readings = readings_of(text, shapes, missing)
    except NotationError as problem:
        error = problem
    asked = [] if error else missing
    return {
        "inputs": [
            *(
                {"name": name, "axes": " ".join(axes)}
                for name, axes in inputs_of(readings).items()
                if name not in asked
            ),
            *({"name": name, "axes": None} for name in asked),
        ],
        "readings": [] if asked else [reading_data(reading) for reading in readings if is_new(reading, text)],
        "error": error and error_data(error),
    }


def readings_of(text: str, shapes: Mapping[str, str], missing: list[str]) -> Sequence[Any]:
    """Return the translations of a source.

    A name whose axes are not known is added to `missing`, and treated as a scalar. If the source still has no
    translation, return an empty sequence.
    """
    from ..positional.translation import translate as translation

    while True:
        try:
            return (translation(text, {**shapes, **dict.fromkeys(missing, "")}),)
        except AmbiguousError as question:
            return question.readings
        except NotationError as problem:
            if problem.reason != AXES_NEEDED or problem.symbol is None or len(missing) == MAX_INPUTS:
                if missing:
                    return ()
                raise
            missing.append(problem.symbol)


def inputs_of(readings: Sequence[Any]) -> Mapping[str, tuple[str, ...]]:
    return readings[0].axes if readings else {}


def reading_data(reading: Any) -> Reply:
    """Return a translation as data. In its declarations, axes have the order of the source."""
    return {
        "formula": reading.formula,
        "text": reading.declared,
        "notes": [*reading.chosen, *reading.reading, reading.checked],
    }


def is_new(reading: Any, text: str) -> bool:
    """Return whether a translation differs from its source, which may already be in named tensor notation."""
    try:
        return to_text(parse(text)) not in (reading.formula, reading.declared)
    except NotationError:
        return True
