"""The reply to `check`: the types of all parts of a formula, its inputs, and its errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grammar.errors import NotationError, Span
from grammar.nodes import Number
from grammar.parser import spelling_of
from grammar.printer import to_latex, to_text

from ..core.axes import show
from ..display.colors import tints
from ..editor.parts import find_typed_parts
from ..editor.repairs import repairs
from ..positional.offers import looks_positional, with_offer, with_offers
from ..scope.names import read_spelling
from .marked_latex import write_marked_latex
from .plans import plan_of
from .replies import Reply, axes_data, error_data, shape_data, type_data, warning_data
from .requests import Request
from .typed import TypedInput, TypedText, first_mentions, read_typed_text

NOTHING: Reply = {
    "latex": None, "plain_latex": None, "macros_latex": None, "axes": [], "inputs": [], "parts": [], "names": [],
    "type": None, "warnings": [],
}  # fmt: skip
MENDED = 3  # errors whose repairs are tried


def check(request: Request) -> Reply:
    """Return the reply to a request `check`."""
    text, syntax = request.word("text", None), request.word("syntax", "auto")
    request.inputs()  # If these fields are invalid, the request is invalid, and not the text.
    request.sizes()
    try:
        typed_text = read_typed_text(request)
    except NotationError as raised:
        problem = with_offer(raised, text, request.inputs())
        spelling = syntax if syntax in ("text", "latex") else spelling_of(text)
        return {
            "syntax": spelling,
            "text": text,
            **NOTHING,
            "positional": looks_positional(text),
            "errors": [error_data(problem, mending(problem, [problem], request))],
        }
    reply = reply_to_check(typed_text, request)
    if request.flag("plan"):
        reply["plan"] = reply_with_plan(typed_text)
    return reply


def reply_with_plan(typed_text: TypedText) -> Reply | None:
    """Return the reply to `plan` for a checked formula, or None if the formula has errors or no type."""
    if typed_text.errors or typed_text.checked.result.shape is None:
        return None
    try:
        return {"ok": True, **plan_of(typed_text)}
    except NotationError as problem:
        return {"ok": False, "error": error_data(problem)}


def mending(problem: NotationError, errors: Sequence[NotationError], request: Request) -> list[Reply]:
    """Return, as data, the edits that can repair an error. The list is empty unless the error is in the formula."""

    def errors_of(text: str) -> Sequence[NotationError]:
        try:
            return read_typed_text(Request({**request.fields, "text": text})).errors
        except NotationError as error:
            return [error]

    if problem.source != request.word("text", None):
        return []
    return [{"span": list(repair.span), "text": repair.text} for repair in repairs(problem, errors, errors_of)]


def reply_to_check(typed_text: TypedText, request: Request) -> Reply:
    result, program = typed_text.checked.result, typed_text.program
    parts = parts_of(typed_text)
    colors = tints(typed_text.axes)
    above = find_named_parts(typed_text, parts) if request.flag("superscripts") else {}
    syntax = program.syntax if program.syntax != "auto" else spelling_of(program.source)
    tree = program.tree if typed_text.checked.checker is None else typed_text.checked.checker.scope.program
    return {
        "syntax": syntax,
        "text": to_text(tree),
        "latex": write_marked_latex(tree, colors, {tuple(part["span"]) for part in parts}, above),
        "plain_latex": to_latex(tree),
        "macros_latex": to_latex(tree, macros=True),
        "axes": axes_data(typed_text.axes, typed_text.axes),
        "inputs": [input_data(input_, typed_text) for input_ in typed_text.inputs],
        "parts": parts,
        "names": [{"name": name, **(type_data(shape) or {})} for name, shape in result.shapes.items()],
        "type": type_data(result.shape),
        "positional": looks_positional(program.source),
        "errors": [
            *({**error_data(error), "input": name} for name, error in typed_text.problems),
            *(
                error_data(error, mending(error, typed_text.errors, request))
                for error in find_errors(typed_text, request)
            ),
            *map(error_data, result.errors[MENDED:]),
        ],
        "warnings": [
            warning_data(warning, program.source)
            for warning in with_offers(result.warnings, program.source, request.inputs())
        ],
    }


def find_errors(typed_text: TypedText, request: Request) -> list[NotationError]:
    """Return the first errors in a formula.

    If the formula is in positional notation, the hint of the first error contains a translation.
    """
    errors = [*typed_text.checked.result.errors[:MENDED]]
    return [with_offer(error, typed_text.program.source, request.inputs()) for error in errors[:1]] + errors[1:]


def parts_of(typed_text: TypedText) -> list[Reply]:
    """Return the data of each typed piece of the formula. A piece in several definitions is returned once."""
    checker = typed_text.checked.checker
    return [] if checker is None else [
        {
            "span": list(typed_part.span), "text": checker.text(typed_part.node), "type": show(typed_part.shape), "axes": shape_data(typed_part.shape),
            "place": list(typed_part.place),
        }
        for typed_part in find_typed_parts(checker)
    ]  # fmt: skip


def find_named_parts(typed_text: TypedText, parts: list[Reply]) -> dict[Span, Mapping[str, Any]]:
    """Return the axes of each piece that is a name, keyed by the span of the piece. In x^2, the name is x."""
    types = {(start, end): dict(part["axes"]) for part in parts for start, end in [part["span"]]}
    checker = typed_text.checked.checker
    nodes = [] if checker is None else [node for node, _, _ in checker.trace]
    named = {node.span for node in nodes if node.span in types and read_spelling(node) is not None}
    return {span: types[span] for span in named if not any(inside(other, span) for other in named)}


def inside(inner: Span, outer: Span) -> bool:
    return inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]


def input_data(given: TypedInput, typed_text: TypedText) -> Reply:
    """Return the data of an input: its name, type, origin, number and domain, and its first position in the formula."""
    first_mention = first_mentions(typed_text.goal).get(given.name)
    return {
        "name": given.name,
        "type": show(given.axes),
        "axes": shape_data(given.axes),
        "from": given.origin,
        "needed": "tensor" if given.number is None else "number",
        "number": given.number,
        "domain": domain_of(given.name, typed_text),
        "span": None if first_mention is None else list(first_mention),
    }


def domain_of(name: str, typed_text: TypedText) -> Reply:
    """Return the kind of numbers in an input, and their bounds, as data. Without a known set, the kind is the reals."""
    for _, declared, sets, _ in typed_text.program.scope.declarations:
        bounds = [float(element.value) for element in sets[0].elements if isinstance(element, Number)]
        is_known = len(bounds) == len(sets[0].elements) and sets[0].domain != "field"
        if is_known and str(declared.key()) == name:
            return {"kind": sets[0].domain, "bounds": bounds}
    return {"kind": "reals", "bounds": []}
