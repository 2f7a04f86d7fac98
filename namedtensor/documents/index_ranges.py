r"""Indices, sizes and conditions that are wrong, or say nothing, whatever the tensors are.

E_{place(positions + 1)}, where positions_{seq(i)} = 1 - i        the index is less than 1
{ 0 if i ≤ before; … }, where before = 0                          the condition never holds
{ 0 if 0 ≤ i + j < window; … }                                    0 ≤ i + j always holds
|edge| = 1 - |kernel|                                             the size is never positive
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from operator import add, mul, sub, truediv
from typing import Any

from grammar import nodes

from ..scope.names import walk
from .index_values import Affine, affine
from .lines import DocumentLines, Line, Suspicion, is_call
from .notation import base_of

CONDITION, INDEX, SIZE = 410, 401, 310
TRIED = range(6)  # how far beyond its least value an index is tried
SIZES = (2, 4, 6, 8, 12)  # of axes
ARITHMETIC = {"+": add, "-": sub, "⊙": mul, "juxtaposed": mul, "/": truediv}
COMPARED = ("=", "<", ">", "≤", "≥")


def wrong_indices(lines: DocumentLines) -> Iterator[Suspicion]:
    """Yield a suspicion for each index, size and condition with values that cannot be meant."""
    for line in lines.all:
        known = _numbers(lines, line)
        if isinstance(line.head, nodes.Size) and (suspicion := _of_size(lines, line, known)) is not None:
            yield suspicion
        for node in line.body_nodes:
            for axis, at in node.items if isinstance(node, nodes.Index) else ():
                if (suspicion := _of_index(lines, line, axis, at, known)) is not None:
                    yield suspicion
            for _, condition in node.branches if isinstance(node, nodes.Cases) else ():
                yield from _of_condition(lines, line, condition, known)


def _numbers(lines: DocumentLines, line: Line) -> dict[str, Affine]:
    """The integers that names of a line are: before = 0."""
    names = {node.text for node in walk(line.statement) if isinstance(node, nodes.Name)} - line.indices.keys()
    numbers = {name: lines.number(line, name) for name in names}
    return {name: Affine({}, number) for name, number in numbers.items() if isinstance(number, int)}


def _of_size(lines: DocumentLines, line: Line, known: Mapping[str, Affine]) -> Suspicion | None:
    """What is wrong with |ax| = …: it is not positive whatever the other sizes are."""
    body = line.body[-1]
    sizes = sorted({node.axis.name for node in walk(body) if isinstance(node, nodes.Size)})
    names = {node.text for node in walk(body) if isinstance(node, nodes.Name)}
    if names - known.keys() or len(sizes) > 4:
        return None
    values = [_value(body, dict(zip(sizes, of)), known) for of in product(SIZES, repeat=len(sizes))]
    if any(value is None or value > 0 for value in values):
        return None
    is_zero = all(value == 0 for value in values)
    text = lines.text(line, body)
    return Suspicion(SIZE, line, body, f"{text} is {'0' if is_zero else 'never positive'}, and a size is at least 1", "change the sign, or exchange the operands")  # fmt: skip


def _value(node: Any, sizes: Mapping[str, int], known: Mapping[str, Affine]) -> float | None:
    """The value of an expression of sizes and numbers."""
    if isinstance(node, nodes.Number):
        return node.value
    if isinstance(node, nodes.Size):
        return sizes[node.axis.name]
    if isinstance(node, nodes.Name):
        return known[node.text].constant if node.text in known else None
    if not is_call(node, *ARITHMETIC) or node.subscript or len(node.arguments) != 2:
        return None
    left, right = (_value(argument, sizes, known) for argument in node.arguments)
    if left is None or right is None or node.operator == "/" and right == 0:
        return None
    return ARITHMETIC[node.operator](left, right)


def _of_index(
    lines: DocumentLines, line: Line, axis: nodes.Axis, at: Any, known: Mapping[str, Affine]
) -> Suspicion | None:
    """What is wrong with an index: it is less than 1 for most of its values, or for those that a table begins with."""
    text = lines.text(line, at)
    hint = "the indices of an axis begin with 1"
    index = affine(at, known)
    bound = {name: least.constant for name, node in line.indices.items() if (least := affine(node)) and not least.names}
    lengths = {range_.variable.text: affine(range_.high) for range_ in line.ranges}
    if index is not None and index.names and all(name in bound or name.startswith("|") for name in index.names):
        sizes = [name for name in index.names if name not in bound]
        ends = {name: length for name, length in lengths.items() if length is not None and length.names & set(sizes)}
        if any(length.coefficients != {size: 1} for length in ends.values() for size in length.names):
            return None
        values = [
            index.at({**dict.fromkeys(sizes, TRIED.stop), **dict(zip(bound, numbers))})
            for numbers in product(*(range(least, least + TRIED.stop) for least in bound.values()))
        ]
        is_bounded = not sizes or any(name in ends for name in index.names)
        if is_bounded and sum(value >= 1 for value in values) * TRIED.stop <= len(values):
            return Suspicion(
                INDEX, line, at, f"index {text} of {axis.name} is less than 1 for most of its values", hint
            )
        return None
    table = _table(lines, line, at)
    if table is None:
        return None
    name, entries = table
    first = affine(at, {name: entries})
    if first is None or len(first.names) != 1 or name in line.indices:
        return None
    values = [first.at(dict.fromkeys(first.names, number)) for number in range(1, 1 + TRIED.stop)]
    if min(values) >= 1:
        return None
    return Suspicion(INDEX, line, at, f"index {text} of {axis.name} is {', '.join(map(str, values[:3]))}, …", hint)


def _table(lines: DocumentLines, line: Line, node: Any) -> tuple[str, Affine] | None:
    """The name in an index that is a tensor with one axis, T_{ax(i)} = i - 1, and its elements."""
    names = [part.text for part in walk(node) if isinstance(part, nodes.Name)]
    definitions = lines.definitions(line, names[0]) if len(names) == 1 else []
    if len(definitions) != 1 or not isinstance(definitions[0].head, nodes.Index) or len(definitions[0].body) != 1:
        return None
    items = definitions[0].head.items
    entries = affine(definitions[0].body[0])
    if entries is None or len(items) != 1 or entries.names != {getattr(items[0][1], "text", None)}:
        return None
    return names[0], entries


def _of_condition(lines: DocumentLines, line: Line, condition: Any, known: Mapping[str, Affine]) -> Iterator[Suspicion]:
    """What is wrong with the comparisons of indices in a condition: one never holds, or a sum of indices is compared with 0."""
    for node in walk(condition) if condition is not None else ():
        if not is_call(node, *COMPARED) or len(node.arguments) != 2:
            continue
        left, right = (affine(side, known) for side in node.arguments)
        if left is None or right is None:
            continue
        difference = right.plus(left, -1) if node.operator in ("≤", "<", "=") else left.plus(right, -1)
        least, most = _ends(line, difference)
        is_strict = node.operator in ("<", ">")
        text = lines.text(line, node)
        if most is not None and most < is_strict or node.operator == "=" and least is not None and least > 0:
            yield Suspicion(CONDITION, line, node, f"{text} never holds{_where(known, node)}", "change the condition")
        elif least is not None and least >= is_strict and node.operator != "=" and len(difference.names) > 1:
            yield Suspicion(CONDITION, line, node, f"{text} always holds{_where(known, node)}", "change the condition")


def _ends(line: Line, index: Affine) -> tuple[int | None, int | None]:
    """The least and the greatest value of a sum of indices, where it has one."""
    least = {name: low.constant for name, node in line.indices.items() if (low := affine(node)) and not low.names}
    if not index.names or not index.names <= least.keys():
        return None, None
    value = index.at(least)
    signs = {factor > 0 for factor in index.coefficients.values()}
    return (value if signs == {True} else None), (value if signs == {False} else None)


def _where(known: Mapping[str, Affine], node: Any) -> str:
    names = sorted({base_of(part) for part in walk(node)} & known.keys())
    return f", where {' and '.join(f'{name} = {known[name].constant}' for name in names)}" if names else ""
