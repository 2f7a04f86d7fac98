"""Shapes as they are given: as text, as sizes by name, or by a tensor that has one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grammar.errors import NotationError
from grammar.nodes import Declaration
from grammar.parser import parse

from ..core.axes import check_axis
from ..core.sizes import SizeVariable
from ..scope.names import arithmetic


def shape_of(text: Any, name: str) -> dict[str, Any]:
    """A shape from its text (ℝ^{a[3] × b}), a mapping of sizes, or a tensor; an axis without a size has an unknown one."""
    if hasattr(text, "sizes") and hasattr(text, "axes"):
        return dict(text.sizes)
    if isinstance(text, (int, float)):
        return {}
    if isinstance(text, Mapping):
        return {check_axis(axis): size_of(size, axis) for axis, size in text.items()}
    if not isinstance(text, str):
        raise NotationError(317, f"the shape of {name} is a text such as ℝ^{{seq[3]}}, not {type(text).__name__}")
    tree = parse(f"x ∈ {text}")
    declaration = tree.statements[0]
    if len(tree.statements) != 1 or not isinstance(declaration, Declaration):
        raise NotationError(317, f"{text!r} is no shape", hint="write ℝ^{seq[3] × chans[2]}, or R^{seq[3], chans[2]}")
    shape: dict[str, Any] = {}
    for axis, size in declaration.sets[0].axes:
        number = None if size is None else arithmetic(size, lambda name: None)
        if number is not None:
            shape[axis.name] = size_of(number, axis.name)
        else:
            shape[axis.name] = SizeVariable(f"|{axis.name}|" if size is None else _source_of(size))
    return shape


def size_of(size: Any, axis: str) -> Any:
    """A size as it is given: a whole number, or not known yet. Raises NotationError for anything else."""
    if size is None:
        return SizeVariable(f"|{axis}|")
    if isinstance(size, SizeVariable):
        return size
    if isinstance(size, bool) or not hasattr(size, "__index__") or size < 0:
        raise NotationError(310, f"the size of {axis} is a whole number from 0, not {size!r}", hint=f"write {axis}[3]")
    return int(size)


def _source_of(node) -> str:
    from grammar.printer import to_text

    return to_text(node)
