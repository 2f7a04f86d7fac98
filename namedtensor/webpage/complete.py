"""Completions shown while the user types."""

from __future__ import annotations

from grammar.completion import Known, complete

from .replies import Reply
from .requests import Request


def completions(request: Request) -> Reply:
    """Return the reply to a request `complete`, for the text before the caret."""
    names = request.mapping("names")
    known = Known(*(tuple(map(str, names.get(kind) or ())) for kind in ("tensors", "functions", "axes")))
    return {"completions": [completion._asdict() for completion in complete(request.word("before"), known)]}
