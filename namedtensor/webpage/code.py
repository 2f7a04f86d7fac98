"""A text as a function of other libraries, none of which is needed to write it; as a call of einsum, where it is one."""

from __future__ import annotations

from grammar.errors import NotationError

from ..display.code import UnreadableFormula, named_terms, readable_code
from ..planning.optimizations import ROWS
from ..programs.compiled import to_javascript, to_python
from ..programs.einsum import to_einsum
from ..programs.executable import Options
from .replies import Reply
from .requests import Request
from .stages import Stages, stages_of
from .typed import TypedText, typed

LIBRARIES = ("numpy", "torch", "jax", "javascript", "einsum")

UNREADABLE = tuple(row.name for row in ROWS if row.name not in ("contraction-order",))  # of use to machines alone


def code(request: Request) -> Reply:
    """The answer to `code`."""
    library = request.word("library", None)
    if library not in LIBRARIES:
        raise NotationError(408, f"unknown library {library!r}", hint=f"available: {', '.join(LIBRARIES)}")
    typed_text = typed(request).right()
    if library == "einsum":
        return as_einsum(typed_text)
    options = Options(dict(typed_text.sizes), disable=UNREADABLE)
    if library == "javascript":
        return {"text": to_javascript(typed_text.goal, typed_text.given, False, options), "why": None}
    try:
        return {"text": code_of(stages_of(typed_text), library), "why": None}
    except UnreadableFormula:
        pass  # the function that runs
    return {"text": to_python(typed_text.goal, library, typed_text.given, options), "why": None}


def code_of(stages: Stages, library: str) -> str:
    """The code that a person reads. Raises Unreadable where an operator has no such form."""
    return readable_code(library, stages.root, named_terms(stages.checker), list(stages.typed.given))


def as_einsum(typed_text: TypedText) -> Reply:
    try:
        return {"text": to_einsum(typed_text.goal, typed_text.given, Options(dict(typed_text.sizes))), "why": None}
    except NotationError as problem:
        return {"text": None, "why": problem.message}
