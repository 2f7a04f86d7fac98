"""The syntax tree of matrix and index notation, and the statements that consist of such trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grammar.errors import Span

OPEN = "open"  # the text of a gradient whose operand follows the operator, as in ∇_x f


@dataclass(frozen=True)
class Tree:
    """A node of the syntax tree: its kind, span, parts and text. A ∑ also has letters, limits and conditions."""

    op: str
    span: Span
    parts: tuple[Tree, ...] = ()
    text: str = ""
    letters: tuple[str, ...] = ()
    upper: str = ""
    lower: str = ""
    conditions: tuple[tuple[str, str, str], ...] = ()

    def all(self) -> Iterator[Tree]:
        """Yield this tree and all trees below it."""
        waiting: list[Tree] = [self]
        while waiting:
            tree = waiting.pop()
            yield tree
            waiting.extend(reversed(tree.parts))


@dataclass(frozen=True)
class Statement:
    """A statement `head = body`, or a value `body` without a name if `head` is None."""

    head: Tree | None
    body: Tree


def is_function(name: str) -> bool:
    """Return whether a name before a bracket denotes a function: a letter such as f or σ, or an ASCII word."""
    return name in "fghσφψϕ" or (len(name) > 1 and name.isascii() and name.isalpha())


def base_of(tree: Tree) -> str:
    """Return the name of a tree without its scripts, such as W for W_1."""
    return tree.text if tree.op == "name" else base_of(tree.parts[0]) if tree.op in ("sub", "^") else ""
