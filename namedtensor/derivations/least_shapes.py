"""Shape inference for inputs without a shape: the least shapes with which a formula is right.

A name that is not known becomes a number; where an operator needs an axis that its operand lacks, each name of the
operand that was not given gets it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Node
from grammar.printer import to_text

from ..core.sizes import SizeVariable
from ..scope.names import spelled, walk
from .reading import base_of, defined_by

Shapes = Mapping[str, Mapping[str, Any]]
Found = TypeVar("Found")
MAX_INFERRED_SIZES = 24  # axes and names that are found so


def with_shapes(given: Shapes, run: Callable[[dict[str, dict[str, Any]]], Found], tree: nodes.Program) -> Found:
    """Run with the shapes, made larger until it is right; its first error where that does not help."""
    shapes = {name: dict(shape) for name, shape in given.items()}
    first: NotationError | None = None
    for _ in range(MAX_INFERRED_SIZES):
        try:
            return run({name: dict(shape) for name, shape in shapes.items()})
        except NotationError as problem:
            first = first or problem
            if not (problem.code == 201 and named(problem, tree, shapes)) and not (
                problem.code in (301, 303) and widened(tree, shapes, set(given))
            ):
                raise first from None
    assert first is not None
    raise first


def taken_by(tree: nodes.Program) -> set[str]:
    """The names that derivatives are taken with respect to and nothing defines or declares."""
    texts = {node.variable.text for node in walk(tree) if isinstance(node, nodes.Derivative)
             and isinstance(node.variable, nodes.Name)}  # fmt: skip
    return texts.difference(*map(defined_by, tree.statements))


def named(problem: NotationError, tree: nodes.Program, shapes: dict[str, dict[str, Any]]) -> bool:
    """Whether the name that is not known could be added, as a number; not where the program has equations for it."""
    name = marked_text(problem)
    if not name or name in shapes or " " in name:
        return False
    for statement in tree.statements:
        if isinstance(statement, nodes.Equation):
            head: Any = base_of(statement.sides[0])
            if isinstance(head, nodes.Name) and name.startswith(head.text):
                return False
    shapes[name] = {}
    return True


def marked_text(problem: NotationError) -> str:
    start, end = problem.span or (0, 0)
    return (problem.source or "")[start:end]


def widened(tree: nodes.Program, shapes: dict[str, dict[str, Any]], given: set[str]) -> bool:
    """Whether a name that was not given could get an axis that an operator needs."""
    changed = False
    for call in walk(tree):
        if isinstance(call, Call) and call.subscript and call.arguments:
            for operand in call.arguments:
                for name in alone(operand):
                    if name in shapes and name not in given:
                        for axis in filter(None, map(nodes.axis_of, call.subscript)):
                            if axis.name not in shapes[name]:
                                shapes[name][axis.name] = SizeVariable(f"|{axis.name}|")
                                changed = True
    return changed


def alone(node: Node) -> list[str]:
    """The one name that an operand is made of, if it is made of one."""
    names = {to_text(part) for part in walk(node) if isinstance(part, nodes.Name) and spelled(part) is not None}
    return list(names) if len(names) == 1 else []
