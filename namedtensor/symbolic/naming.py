"""Name repeated subexpressions, such as z = softmax_{s}(Q ⊙_{key} K), if this shortens the whole formula."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from grammar import nodes
from grammar.nodes import Node
from grammar.traversal import walk

from .forms import ONE_, Factor, Form, FormHead, FormIndex
from .read_back import ReadBack
from .spelling import UnwritableError, distinct, length

LETTERS = "zuvwpqrghm"
MAX_NAMES = 6  # The maximum number of names in one formula.
MAX_NAMED_PARTS = 12  # The maximum number of subexpressions that are tried as names.


class Where(NamedTuple):
    """A name and the formula that it represents."""

    name: str
    node: Node


class NameReading(NamedTuple):
    """A formula and its names. Each name is defined by earlier names."""

    node: Node
    names: tuple[Where, ...]

    @property
    def length(self) -> int:
        """The number of symbols in the formula and its definitions, including the names and the equals signs."""
        return length(self.node) + sum(2 + length(name.node) for name in self.names)


def find_repeated_heads(forms: Iterator[Form] | tuple[Form, ...]) -> list[FormHead]:
    """Return the heads that occur several times in forms. Outer heads come before the heads inside them."""
    heads: Counter[FormHead] = Counter()

    def look(form: Form) -> None:
        for product in form:
            for factor in product.factors:
                if factor.head.parts and factor.head.label not in ("literal", "iota"):
                    heads[factor.head] += 1
                    if heads[factor.head] == 1 or factor.head.kind == "bracket":
                        for part in factor.head.parts:
                            look(part)

    for form in forms:
        look(form)
    return sorted((head for head, times in heads.items() if times > 1), key=lambda head: -head.serial)


def read(write: Callable[[ReadBack, Form], Node], form: Form, taken: set[str]) -> NameReading:
    """Return the shortest formula for a form, possibly with names for repeated subexpressions."""
    best = _read(write, form, (), taken)
    chosen: tuple[FormHead, ...] = ()
    for head in find_repeated_heads((form,))[:MAX_NAMED_PARTS]:
        if len(chosen) == MAX_NAMES:
            break
        try:
            reading = _read(write, form, (*chosen, head), taken)
        except UnwritableError:
            continue
        if reading.length < best.length:
            best, chosen = reading, (*chosen, head)
    return best


def _read(
    write: Callable[[ReadBack, Form], Node], form: Form, heads: tuple[FormHead, ...], taken: set[str]
) -> NameReading:
    free = names_left(taken)
    letters = {head: next(free) for head in sorted(heads, key=lambda head: head.serial)}
    writer = ReadBack(letters)
    node = write(writer, form)
    names = []
    for head in letters:
        read_back = ReadBack({symbol: name for symbol, name in letters.items() if symbol is not head})
        names.append(Where(letters[head], definition(read_back, head)))
    words = {word for part in (node, *(name.node for name in names)) for word in words_of(part)}
    return NameReading(node, tuple(name for name in names if name.name in words))


def definition(writer: ReadBack, head: FormHead) -> Node:
    """Return the formula of a head, with the head's own axis names."""
    axes = distinct(head.axes)
    count = len(axes) - len(head.slots)
    if head.kind == "bracket":
        return writer.form(head.parts[0], dict(zip(head.slots, axes)))
    outs = tuple(FormIndex(axis, axis) for axis in axes[:count])
    names = {**dict(zip(outs, axes)), **dict(zip(head.slots, axes[count:]))}
    return writer.atom(Factor(head, (*outs, *head.slots), ONE_), names)


def words_of(node: Any) -> set[str]:
    """Return the names in an expression or a statement."""
    return {part.text for part in walk(node) if isinstance(part, nodes.Name)}


def names_left(taken: set[str]) -> Iterator[str]:
    yield from (letter for letter in LETTERS if letter not in taken)
    number = 1
    while True:
        if f"z{number}" not in taken:
            yield f"z{number}"
        number += 1
