"""Programs whose derivatives are read: their checker, made here and nowhere else, and the statements that a formula needs
(program slicing)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grammar import nodes

from ..operators.user_functions import IN_USE, NO_OPERATORS, USER_FUNCTIONS, known_functions
from ..scope.binder import bind
from ..scope.names import Key, by_key, walk
from ..symbolic.linearizing import ReadingChecker
from ..symbolic.naming import words_of
from ..terms.inference import InputType

Shapes = Mapping[str, Mapping[str, Any]]


def reading_checker(
    source: str, program: nodes.Program, shapes: Shapes, sizes: Mapping[str, int] | None, labels: Shapes | None = None
) -> ReadingChecker:
    """A checker of a program for inputs of these shapes; `labels` are inputs whose source text is one name."""
    inputs = by_key({name: InputType(dict(shape)) for name, shape in shapes.items()})
    inputs |= {Key(name): InputType(dict(shape)) for name, shape in (labels or {}).items()}
    return ReadingChecker(
        bind(source, program),
        inputs,
        dict(sizes or {}),
        infer_parameters=True,
        python=USER_FUNCTIONS if IN_USE.get() is NO_OPERATORS else known_functions(),
    )


def needed(statements: tuple[Any, ...], words: set[str]) -> tuple[Any, ...]:
    """The statements that say something of these words, or of what these need."""
    words = set(words)
    chosen: set[int] = set()
    changed = True
    while changed:
        changed = False
        for index, statement in enumerate(statements):
            if index not in chosen and defined_by(statement) & words:
                chosen.add(index)
                words |= words_of(statement) | {
                    node.operator for node in walk(statement) if isinstance(node, nodes.Call)
                }
                changed = True
    return tuple(line for position, line in enumerate(statements) if position in chosen)


def words_in(program: nodes.Program) -> set[str]:
    """The names of a program, and those that closed forms have."""
    return words_of(program) | {"D", "I", "e"}


def base_of(node: Any) -> Any:
    """A name without its scripts and indices."""
    while hasattr(node, "base"):
        node = node.base
    return node


def defined_by(statement: Any) -> set[str]:
    """The names, or functions, that a statement is about."""
    if isinstance(statement, nodes.Equation):
        heads: tuple[Any, ...] = statement.sides[:1]
    elif isinstance(statement, nodes.Declaration):
        heads = statement.names
    elif isinstance(statement, nodes.Signature):
        return {statement.head.operator}
    else:
        return set()
    defined: set[str] = set()
    for head in map(base_of, heads):
        defined |= {head.operator} if isinstance(head, nodes.Call) else words_of(head)
    return defined
