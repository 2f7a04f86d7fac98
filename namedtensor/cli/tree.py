"""A syntax tree to look at: one line for each node, its parts indented below it, each with what it is there.

Value
  body: Call operator='⊙'
    subscript: Name text='key'
    arguments: Name text='Q'
    arguments: Name text='K'
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def outline(node: Any) -> str:
    """The tree below `node` as indented lines.

    >>> from grammar.parser import parse
    >>> print(outline(parse("2 x").statements[0]))
    Value
      body: Call operator='juxtaposed'
        arguments: Number value=2
        arguments: Name text='x'
    """
    lines: list[str] = []
    stack: list[tuple[int, str, Any]] = [(0, "", node)]
    while stack:
        depth, part, current = stack.pop()
        lines.append("  " * depth + (f"{part}: " if part else "") + _line(current))
        stack.extend((depth + 1, name, child) for name, child in reversed(list(_parts(current))))
    return "\n".join(lines)


def record(node: Any) -> Any:
    """The tree as plain dictionaries and lists, for JSON."""
    if isinstance(node, tuple):
        return [record(part) for part in node]
    if not hasattr(node, "span"):
        return node
    fields = {name: record(getattr(node, name)) for name in node.__slots__ if name != "span"}
    return {"node": type(node).__name__, **fields, "span": list(node.span)}


def _line(node: Any) -> str:
    fields = [(name, getattr(node, name)) for name in node.__slots__ if not name.endswith("span")]
    words = [f"{name}={value!r}" for name, value in fields if isinstance(value, (str, int, float)) and value != ""]
    return " ".join([type(node).__name__, *words])


def _parts(node: Any) -> Iterator[tuple[str, Any]]:
    for name in node.__slots__:
        if not name.endswith("span"):
            for child in _flat(getattr(node, name)):
                yield name, child


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for item in value:
            yield from _flat(item)
    elif hasattr(value, "span"):
        yield value
