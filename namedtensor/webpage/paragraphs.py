"""The paragraphs of the docs on each error code, from `errors.json`, which is generated with the docs."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from grammar.errors import CATALOGUE, NotationError

from .replies import Reply
from .requests import Request


@cache
def sections() -> dict[str, list[dict[str, str]]]:
    return json.loads((files(__name__.rpartition(".")[0]) / "errors.json").read_text(encoding="utf-8"))


def paragraph(request: Request) -> Reply:
    """Return the reply to a request `error`, which contains the paragraphs on an error code."""
    code: Any = request.fields.get("code")
    if not isinstance(code, int) or code not in CATALOGUE:
        raise NotationError(101, f"there is no error {code!r}", hint="errors are numbered from 101 on")
    return {"code": code, "title": CATALOGUE[code], "examples": sections().get(str(code), [])}
