"""8-bit storage of parameters. A weight W is stored as integers and a scale, with W = W^{int8} ⊙ W^{scale}.

All elements that a product sums over, or all elements of a table row, share one element of the scale. The definition of
W is the only change to the formulas. The planner uses the integers directly (`planning/scaled_integers.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from grammar.errors import NotationError
from grammar.nodes import Equation, Index, Range
from grammar.printer import to_text

from ..core.arrays import HALF, dtype_name, kind_of
from ..core.tensor import NamedTensor
from ..programs.families import index_in, labels_of
from ..scope.names import Key, key, read_spelling, walk
from ..tensors.quantization import quantize
from .families import INT8
from .memory import declaration_of, products_with

SCALE = "scale"  # the label of the scale
MIN_SHARED = 16  # the fewest elements that share a scale: scales of fewer elements would use much memory


def add_label(name: str, label: str) -> str:
    """Return the name with an additional label, such as W^{l,Q,int8}."""
    base, subscript, superscript = key(name)
    return str(Key(base, subscript, (*superscript, label)))


class Quantization:
    """The conversion of a layer's parameters to 8-bit storage."""

    def __init__(self, kind: str, formula: Any):
        self.kind, self.tree, self.declared = kind, formula.tree, formula.declared
        self.summed = products_with(self.tree)
        self.indexed = self._find_indexed_axes()

    def _find_indexed_axes(self) -> dict[str, set[str]]:
        """Return, for each indexed tensor, the axes that indices select from.

        If the formulas contain an equation such as U = E, products with U also count as products with E.
        """
        indexed: dict[str, set[str]] = {}
        for node in walk(self.tree):
            if isinstance(node, Index) and (name := read_spelling(node.base)) is not None:
                indexed.setdefault(str(name.key()), set()).update(axis.name for axis, _ in node.items)
            elif isinstance(node, Equation) and len(node.sides) == 2:
                left, right = (read_spelling(side) for side in node.sides)
                if left is not None and right is not None and (axes := self.summed.get(str(left.key()))):
                    self.summed.setdefault(str(right.key()), axes)
        return indexed

    def shared(self, name: str, value: Any) -> tuple[str, ...]:
        """Return the axes along which a parameter's elements share a scale, or () if it is not stored as integers."""
        if not isinstance(value, NamedTensor) or kind_of(dtype_name(value.layout.dtype)) != "f":
            return ()
        known = declaration_of(name, self.declared)
        axes = {*value.axes} & self.summed.get(known, frozenset())
        if not axes and known in self.indexed:
            axes = {*value.axes} - self.indexed[known]
        enough = math.prod(value.sizes[axis] for axis in axes) >= MIN_SHARED
        return tuple(axis for axis in value.axes if axis in axes) if enough and axes < {*value.axes} else ()

    def parts(self, name: str, value: Any) -> dict[str, Any]:
        """Return the integers and the scale that store a parameter.

        If it is not quantized, return the parameter unchanged, but with at least single precision.
        """
        if isinstance(value, NamedTensor) and dtype_name(value.layout.dtype) in HALF:
            value = value.astype("float32")
        axes = self.shared(name, value)
        if not axes:
            return {name: value}
        try:
            integers, scale = quantize(value, axes)
        except NotationError as problem:
            raise problem.replace(
                message=f"{name} of {self.kind} cannot be stored as int8: {problem.message}"
            ) from None
        return {add_label(name, INT8): integers, add_label(name, SCALE): scale}

    def definitions(self, parameters: Mapping[str, Any]) -> str:
        """Return the lines that define each parameter as the product of its stored parts.

        Raises NotationError if no parameter is stored as integers.
        """
        stored = [name for name in self._names(parameters) if add_label(name, INT8) in parameters]
        if not stored:
            raise NotationError(
                405, f"{self.kind} has no weights to store as int8: no product sums over one, and no index takes its elements",
                hint='choose another dtype, such as "float16"',
            )  # fmt: skip
        families: dict[str, list[str]] = {}
        for name in stored:
            families.setdefault(declaration_of(name, self.declared), []).append(name)
        lines: list[str] = []
        for declaration, members in families.items():
            counted = self._range(declaration, members, parameters)
            for name in (declaration,) if counted is not None else members:
                member = members[0] if counted is not None else name
                lines.append(f"{name} = {add_label(name, INT8)} ⊙ {add_label(name, SCALE)}{counted or ''}")
                for label in (INT8, SCALE):
                    axes = " × ".join(parameters[add_label(member, label)].axes)
                    lines.append(f"{add_label(name, label)} ∈ ℝ^{{{axes}}}")
        return "\n".join(lines)

    def _names(self, parameters: Iterable[str]) -> list[str]:
        """Return the names that the parameters had before they were stored as integers."""
        names: dict[str, None] = {}
        for name in parameters:
            base, subscript, superscript = key(name)
            is_part = superscript and superscript[-1] in (INT8, SCALE)
            names[str(Key(base, subscript, superscript[:-1])) if is_part else name] = None
        return [*names]

    def _range(self, declaration: str, members: Sequence[str], parameters: Mapping[str, Any]) -> str | None:
        """Return the text of a family's index range, such as ` for l = 1, …, L`, if one line can define the family.

        Return None if the definition needs one line for each member.
        """
        if declaration == members[0]:
            return None
        others = [name for name in parameters if declaration_of(name, self.declared) == declaration]
        shapes = {
            (value.axes, *value.sizes.values()) for value in (parameters[add_label(name, INT8)] for name in members)
        }
        position = index_in(labels_of(members[0]), labels_of(declaration))
        if others or len(shapes) > 1 or position is None:
            return None
        variable = labels_of(declaration)[position]
        ranges = (node for node in walk(self.tree) if isinstance(node, Range) and node.variable.text == variable)
        over = next((node for node in ranges if node.further is None), None)
        return None if over is None else f" for {variable} = {to_text(over.first)}, …, {to_text(over.last)}"
