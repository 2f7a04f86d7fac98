r"""Offsets of indices that one formula lacks, and the size or the terms beside it have.

M_{memory(i), seq(j)} = { 0 if i ≤ j; … }, where |memory| = |seq| + before
E_{vocab(ids + 1)} + P_{place(positions + 1)} + S_{type(types)}
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from grammar import nodes

from ..scope.names import walk
from .index_ranges import COMPARED
from .index_values import Affine, affine
from .lines import DocumentLines, Line, Suspicion, factors_of, is_call, terms_of

CODE = 213
MIN_LIKE = 2  # comparisons, or terms, that have the offset


def lost_offsets(lines: DocumentLines) -> Iterator[Suspicion]:
    """Yield a suspicion for each index without an offset that the document gives it elsewhere."""
    lengths = [length for line in lines.all if (length := _length(line)) is not None]
    for line in lines.all:
        for length in lengths:
            yield from _of_comparisons(lines, line, length)
        sums = [node for node in line.body_nodes if is_call(node, "+")]
        inner = {id(argument) for node in sums for argument in node.arguments}
        for node in sums:
            if id(node) not in inner:
                yield from _of_terms(lines, line, node)


class Length(NamedTuple):
    """The line that states |longer| = |shorter| + offset; no offset where it adds none, as in |longer| = |shorter| - before."""

    line: Line
    longer: str
    shorter: str
    offset: str | None


def _length(line: Line) -> Length | None:
    body = affine(line.body[0]) if isinstance(line.head, nodes.Size) and len(line.body) == 1 else None
    if body is None or body.constant:
        return None
    sizes = [name for name in body.names if name.startswith("|")]
    others = [*body.names.difference(sizes)]
    if len(sizes) != 1 or len(others) > 1 or body.coefficients[sizes[0]] != 1:
        return None
    added = [name for name in others if body.coefficients[name] == 1]
    return Length(line, line.head.axis.name, sizes[0].strip("|"), added[0] if added else None)


def _of_comparisons(lines: DocumentLines, line: Line, length: Length) -> Iterator[Suspicion]:
    """The comparisons of indices of two axes whose sizes differ by an offset: each has it, or none."""
    items = line.head.items if isinstance(line.head, nodes.Index) else ()
    variables = {axis.name: at.text for axis, at in items if isinstance(at, nodes.Name)}
    one, other = variables.get(length.longer), variables.get(length.shorter)
    if one is None or other is None:
        return
    compared = [(node, shift) for node, shift in _differences(line) if shift.coefficients.get(one) == -1 and shift.coefficients.get(other) == 1]  # fmt: skip
    lacking = [node for node, shift in compared if shift.coefficients.get(length.offset or "") != 1]
    if length.offset is not None and lacking:
        sizes = f"|{length.longer}| = |{length.shorter}| + {length.offset}"
        text = f"{lines.text(line, lacking[0])} has {other} without {length.offset}, and {sizes}"
        yield Suspicion(CODE, line, lacking[0], text, f"write {other} + {length.offset}")
    if length.offset is None and len(compared) >= MIN_LIKE:
        added = [
            {name for name, factor in shift.coefficients.items() if factor == 1} - {other} for _, shift in compared
        ]
        for name in sorted(set[str].intersection(*added)):
            body = length.line.body[0]
            text = f"|{length.longer}| is {lines.text(length.line, body)}, and its indices are compared with {other} + {name}"
            yield Suspicion(CODE, length.line, body, text, f"write |{length.shorter}| + {name}")


def _differences(line: Line) -> Iterator[tuple[Any, Affine]]:
    """The comparisons in the cases of a definition, each with both differences of its sides."""
    for node in (node for side in line.body if isinstance(side, nodes.Cases) for node in walk(side)):
        if is_call(node, *COMPARED) and len(node.arguments) == 2:
            left, right = map(affine, node.arguments)
            if left is not None and right is not None:
                yield node, left.plus(right, -1)
                yield node, right.plus(left, -1)


def _of_terms(lines: DocumentLines, line: Line, node: Any) -> Iterator[Suspicion]:
    """A term of a sum that is a part of a table, T_{ax(i)}, where the indices of all others are the next, T_{ax(i + 1)}."""
    parts = [factor for term in terms_of(node) for factor in factors_of(term) if isinstance(factor, nodes.Index)]
    indices = [part.items[0][1] for part in parts if len(part.items) == 1]
    without = [at for at in indices if isinstance(at, (nodes.Name, nodes.Number))]
    offset = [at for at in indices if is_call(at, "+") and isinstance(at.arguments[1], nodes.Number)]
    if len(without) == 1 and len(offset) >= MIN_LIKE and len(offset) + 1 == len(indices) == len(terms_of(node)):
        text, example = lines.text(line, without[0]), lines.text(line, offset[0])
        message = f"index {text} has no offset, and {len(offset)} similar terms have one: {example}"
        yield Suspicion(CODE, line, without[0], message, "add it, or leave out the others")
