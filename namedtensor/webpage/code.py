"""The reply to `code`: a formula as loops, as a function of another library, in JavaScript or as an einsum call.

The libraries are not imported.
"""

from __future__ import annotations

from grammar.errors import NotationError, Span

from ..display.code_statements import UnreadableFormulaError
from ..planning.optimizations import ROWS
from ..programs.compiled import to_javascript, to_python
from ..programs.einsum import to_einsum
from ..programs.executable import Options
from ..programs.readable import readable
from .replies import Reply
from .requests import Request
from .typed import TypedText, read_typed_text

LIBRARIES = ("loops", "numpy", "torch", "jax", "javascript", "einsum")

UNREADABLE = tuple(row.name for row in ROWS if row.name not in ("contraction-order",))  # for speed, not for readers


def code(request: Request) -> Reply:
    """Return the reply to a request `code`."""
    library = request.word("library", None)
    if library not in LIBRARIES:
        raise NotationError(408, f"unknown library {library!r}", hint=f"available: {', '.join(LIBRARIES)}")
    typed_text = read_typed_text(request).right()
    if library == "einsum":
        return reply_with_einsum(typed_text)
    options = Options(dict(typed_text.sizes), disable=UNREADABLE)
    if library == "javascript":
        return reply(to_javascript(typed_text.goal, typed_text.given, False, options))
    try:
        return reply(*readable(typed_text.goal, library, typed_text.given, options))
    except UnreadableFormulaError:
        if library == "loops":
            raise
    return reply(to_python(typed_text.goal, library, typed_text.given, options))  # the code that runs


def reply(text: str | None, spans: tuple[Span | None, ...] = (), why: str | None = None) -> Reply:
    return {"text": text, "spans": [span and list(span) for span in spans], "why": why}


def reply_with_einsum(typed_text: TypedText) -> Reply:
    try:
        return reply(to_einsum(typed_text.goal, typed_text.given, Options(dict(typed_text.sizes))))
    except NotationError as problem:
        return reply(None, why=problem.message)
