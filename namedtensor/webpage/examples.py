"""The gallery, `examples.json`: formulas with small inputs from the paper and from texts that teach transformers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from .replies import Reply
from .requests import Request
from .site import SITE


class PageExample(NamedTuple):
    """A formula in the gallery of the page.

    `values` are inputs that produce an interesting result. `labels` name the positions along an axis. `record` is the
    index that the page shows first.
    """

    name: str
    title: str
    source: str
    text: str
    inputs: Mapping[str, str | int] = {}
    values: Mapping[str, Any] = {}
    labels: Mapping[str, Sequence[str]] = {}
    record: Mapping[str, int] = {}


FILE = files(__name__.rpartition(".")[0]) / "examples.json"
EXAMPLES = tuple(PageExample(**example) for example in json.loads(FILE.read_text(encoding="utf-8")))


def examples(request: Request) -> Reply:
    """Return the reply to a request `examples`."""
    return {"examples": [example._asdict() for example in EXAMPLES], "site": SITE}
