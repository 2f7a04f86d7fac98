"""Operators with special syntax: powers, cases, elements, renames of several axes, literals.

Each function takes what writes forms, the head, the forms within, the names of its axes, and those of indices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from grammar import nodes
from grammar.nodes import Axis, Cases, Indicator, Name, Node, Rename, Superscript

from .applying import OPPOSITE
from .factoring import factored
from .forms import Form, FormHead, FormIndex
from .spelling import Unwritable, call, expression, number_node

Names = Mapping[FormIndex, str]
Writing = Callable[[Any, FormHead, tuple[Form, ...], list[str], Names], Node]


def _between(self: Any, head: FormHead, parts: tuple[Form, ...], axes: list[str], names: Names) -> Node:
    return call(head.label, *(self.form(part, names) for part in parts))


def _raised(self: Any, head: FormHead, parts: tuple[Form, ...], axes: list[str], names: Names) -> Node:
    base, exponent = (self.form(part, names) for part in parts)
    return Superscript(base, (exponent,))


def _cases(self: Any, head: FormHead, parts: tuple[Form, ...], axes: list[str], names: Names) -> Node:
    forms = [self.form(part, names) for part in parts]
    branches = tuple((forms[at], forms[at + 1] if at + 1 < len(forms) else None) for at in range(0, len(forms), 2))
    return Cases(branches)


def _indicator(self: Any, head: FormHead, parts: tuple[Form, ...], axes: list[str], names: Names) -> Node:
    return Indicator(self.form(parts[0], names))


def _indexed(self: Any, head: FormHead, parts: tuple[Form, ...], axes: list[str], names: Names) -> Node:
    whole, at = (self.form(part, names) for part in parts)
    return nodes.Index(whole, ((Axis(axes[0]), at),))


def _written_node(self: Any, head: FormHead, parts: tuple[Form, ...], axes: list[str], names: Names) -> Node:
    return expression(f"iota_{{{axes[0]}}}")


def _reshaped(self: Any, head: FormHead, parts: tuple[Form, ...], axes: list[str], names: Names) -> Node:
    old = len(head.bound)
    items = ((tuple(map(Axis, axes[:old])), tuple(map(Axis, axes[old:]))),)
    return Rename(self.form(factored(parts[0]), names), items)


def _literal(self: Any, head: FormHead, parts: tuple[Form, ...], axes: list[str], names: Names) -> Node:
    extent, numbers = head.options[0]
    cells = [
        number_node(Fraction(repr(value))) if value == value and abs(value) != float("inf") else Name("∞")
        for value in numbers
    ]
    width = extent[-1]
    rows = tuple(tuple(cells[at : at + width]) for at in range(0, len(cells), width))
    return nodes.Literal(rows, tuple(map(Axis, axes)))


def _joined(self: Any, head: FormHead, parts: tuple[Form, ...], axes: list[str], names: Names) -> Node:
    if not all(parts):
        raise Unwritable("what is 0 along an axis has no size to be written")
    written = [self.form(part, names) for part in parts]
    return written[0] if len(written) == 1 else call("⊕", *written, axes=axes)


WRITERS: dict[str, Writing] = {
    "^": _raised, "cases": _cases, "indicator": _indicator, "index": _indexed, "iota": _written_node, "merge": _reshaped,
    "split": _reshaped, "literal": _literal, "⊕": _joined, **dict.fromkeys((*OPPOSITE, "∧", "∨", "¬", "odd", "even"), _between),
}  # fmt: skip
