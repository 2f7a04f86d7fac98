"""The checker of a program whose derivatives are read: made here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grammar import nodes

from ..operators.user_functions import USER_FUNCTIONS
from ..scope.binder import bind
from ..scope.names import Key, by_key
from ..symbolic.linearizing import ReadingChecker
from ..terms.inference import InputType

Shapes = Mapping[str, Mapping[str, Any]]


def reading_checker(
    source: str, program: nodes.Program, shapes: Shapes, sizes: Mapping[str, int] | None, labels: Shapes | None = None
) -> ReadingChecker:
    """A checker of a program for inputs of these shapes; `labels` are inputs whose whole spelling is one name."""
    inputs = by_key({name: InputType(dict(shape)) for name, shape in shapes.items()})
    inputs |= {Key(name): InputType(dict(shape)) for name, shape in (labels or {}).items()}
    return ReadingChecker(
        bind(source, program), inputs, dict(sizes or {}), infer_parameters=True, python=USER_FUNCTIONS
    )
