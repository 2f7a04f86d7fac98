"""The source text of a layer class's formulas: its `notation`, or a file next to its module.

The file may be in a zip archive. In a file with several layers, a line `#: layer Name` starts each layer.

A class can set the attribute `changes` to the name of a file with definitions. Its formulas are then the formulas of
its base class, except for the definitions that the file replaces.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from grammar.errors import NotationError

from .layer_calls import variant

HEADING = re.compile(r"^#: layer (\w+)\n", re.MULTILINE)


def own_text(kind: type) -> str:
    """Return the source text of a class's formulas, from the class body or a file next to the module."""
    file = kind.__dict__.get("file")
    if not file:
        return inspect.cleandoc(kind.__dict__.get("notation", ""))
    whole = text_beside(kind, file)
    _, *parts = HEADING.split(whole)
    layers = dict(zip(parts[::2], parts[1::2]))
    if layers and kind.__name__ not in layers:
        raise NotationError(
            409, f"{file} has no layer {kind.__name__}; it has {', '.join(layers)}",
            hint=f"write the line `#: layer {kind.__name__}` before its formulas",
        )  # fmt: skip
    return layers.get(kind.__name__, whole).strip()


def text_beside(kind: type, file: str) -> str:
    """Return the text of a file next to the module of a class. The module can be in a zip archive."""
    spec = sys.modules[kind.__module__].__spec__
    folder = files(spec.parent) if spec is not None and spec.parent else Path(inspect.getfile(kind)).parent
    try:
        text = folder.joinpath(file).read_text("utf-8")
    except OSError as problem:
        raise NotationError(
            409, f"{kind.__name__} cannot read {file}: {(problem.strerror or 'no such file').lower()}",
            hint="put the file beside the module of the class",
        ) from None  # fmt: skip
    return inspect.cleandoc(text)


class ChangedText:
    """A descriptor that computes, on access, the formulas of a base class with some definitions changed."""

    def __init__(self, base: Callable[[], str], changes: str, removes: tuple[str, ...]):
        self.base, self.changes, self.removes = base, changes, frozenset(removes)

    def __get__(self, layer: Any, owner: type) -> str:
        return variant(self.base(), self.changes, self.removes).source


def apply_changes(kind: type, file: str, removes: tuple[str, ...]) -> tuple[str, ChangedText]:
    """Return the definitions in a file, and the formulas of the base class changed by these definitions.

    The file is next to the module of the class. Names in `removes` lose their definitions.
    """
    base: Any = kind.__mro__[1]
    changes = text_beside(kind, file)
    return changes, ChangedText(lambda: base.notation, changes, removes)
