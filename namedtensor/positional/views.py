"""reshape, view and flatten: dimensions regrouped. What is merged holds several axes; what is cut falls into new ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import values
from .axes import Axes, Axis, Dim
from .operations import Misuse, Part, Size
from .values import Value


class Views:
    """The views of one translation: sizes that it states, and axes that it splits."""

    def __init__(self, axes: Axes):
        self.axes = axes
        self.stated: list[tuple[Axis, int]] = []
        self.products: list[tuple[Axis, tuple[Axis, ...]]] = []

    def reshape(self, x: Value, shape: Sequence[Any]) -> Value:
        """x.reshape(…) of lengths of x, one -1, and divisors. Raises Misuse where they do not name its axes."""
        waiting = [*x.dims]
        result: list[Dim] = []
        items = [*shape]
        while items and not (isinstance(items[0], int) and items[0] != 1):
            item = items.pop(0)
            if item == 1 and not isinstance(item, Size):
                result.append(())
                waiting = waiting[1:] if waiting and not waiting[0] else waiting
            elif isinstance(item, Size) and waiting and same(item.dim, waiting[0]):
                result.append(waiting.pop(0))
            else:
                break
        tail: list[Dim] = []
        while items and isinstance(items[-1], Size) and waiting and same(items[-1].dim, waiting[-1]):
            items.pop()
            tail.insert(0, waiting.pop())
        if not items and not waiting:
            return x.moved((*result, *tail))
        if items == [-1]:
            return x.moved((*result, tuple(axis for dim in waiting for axis in dim), *tail))
        if len(waiting) == 1 and len(waiting[0]) == 1 and len(items) >= 2:
            return self.split(x, waiting[0][0], items, result, tail)
        raise Misuse(f"the shape ({', '.join(map(spelled, shape))}) does not name the axes of the tensor")

    def split(self, x: Value, axis: Axis, items: list[Any], before: list[Dim], after: list[Dim]) -> Value:
        """One axis as several, of which one may be left open."""
        parts: list[Axis] = []
        open_ones = 0
        for item in items:
            part = self.axes.new()
            if isinstance(item, Part):
                if not same(item.whole.dim, (axis,)) or item.divisor not in items:
                    raise Misuse("this is not the length of a part")
                open_ones += 1
            elif isinstance(item, int) and item > 1:
                self.stated.append((part, item))
            elif item == -1:
                open_ones += 1
            else:
                raise Misuse("this does not name the lengths of the parts")
            parts.append(part)
        if open_ones > 1:
            raise Misuse("more than one length is left open")
        if not open_ones and axis.kind.size is None:
            self.axes.apart(parts)
        self.products.append((axis, tuple(parts)))
        node = values.merged(x.node, [axis], parts)
        rest = [each for each in x.axes if each is not axis]
        self.axes.apart(rest, parts)
        return Value(node, (*before, *((part,) for part in parts), *after))


def same(first: Dim, second: Dim) -> bool:
    """Whether two dimensions have one length: they are of the same kinds."""
    return len(first) == len(second) and all(a.kind is b.kind for a, b in zip(first, second))


def spelled(item: Any) -> str:
    return "a length" if isinstance(item, (Size, Part)) else str(item)
