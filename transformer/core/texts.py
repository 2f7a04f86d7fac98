"""The text of a layer's class: its `notation`, or a file beside its module, which may lie in a zip."""

from __future__ import annotations

import inspect
import sys
from importlib.resources import files
from pathlib import Path


def own_text(kind: type) -> str:
    """The formulas that a class is written with, in it or in a file beside its module."""
    file = kind.__dict__.get("file")
    return inspect.cleandoc(text_beside(kind, file) if file else kind.__dict__.get("notation", ""))


def text_beside(kind: type, file: str) -> str:
    """The text of a file beside the module of a class; one in a package may be in a zip."""
    spec = sys.modules[kind.__module__].__spec__
    folder = files(spec.parent) if spec is not None and spec.parent else Path(inspect.getfile(kind)).parent
    return folder.joinpath(file).read_text("utf-8")
