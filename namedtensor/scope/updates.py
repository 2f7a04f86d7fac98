"""Convert updates, such as C ← C + 1, to single-assignment form, in which each update defines a new name.

C = x            C₀ = x
C ← C + 1        C = C₀ + 1
C ⊙ 2            C ⊙ 2
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.nodes import Call, Equation, Index, Name, Subscript, Update
from grammar.traversal import names_in, rebuilt

# These fields contain no tensor names.
LABELS: dict[Any, tuple[str, ...]] = {Subscript: ("components",), Call: ("subscript",)}
VERSION = REPLACING = "←"  # Names in source text cannot contain this character.


def replace_updates(program: nodes.Program) -> nodes.Program:
    """Convert a program to single-assignment form.

    Each update becomes an equation for a new version of the name. Each use refers to the current version.
    """
    left: dict[str, int] = {}  # The number of remaining updates of each name.
    for line in program.statements:
        if isinstance(line, Update):
            left[target_of(line)] = left.get(target_of(line), 0) + 1
    named: set[str] = set()
    current: dict[str, str] = {}
    names: set[str] = set()
    result: list[Any] = []
    for statement in program.statements:
        if isinstance(statement, Equation) and isinstance(statement.sides[0], Name):
            text = statement.sides[0].text
            if text in left and text not in named:  # This is the initial value of a tensor that a later line updates.
                names.add(text)
                current[text] = version(text, left[text])
        if isinstance(statement, Update):
            text = target_of(statement)
            new = version(text, left[text] - 1 if text in names or text not in named | uses(statement) else left[text])
            left[text] -= 1
            body = rename_versions(body_of(statement), current)
            current[text] = new
            names |= set() if text in named | uses(statement) else {text}
            target = statement.target.base if isinstance(statement.target, Index) else statement.target
            statement = Equation((Name(new, target.span), body), span=statement.span)
        else:
            statement = rename_versions(statement, current)
        named |= {text for text in left if text in words(statement)}
        result.append(statement)
    return replace(program, statements=tuple(result))


def target_of(update: Update) -> str:
    target = update.target.base if isinstance(update.target, Index) else update.target
    assert isinstance(target, Name)
    return target.text


def uses(update: Update) -> set[str]:
    """Return the names whose previous values an update needs."""
    return words(update.body) | ({target_of(update)} if isinstance(update.target, Index) else set())


def words(node: Any) -> set[str]:
    return {text.partition(VERSION)[0] for text in names_in(node)}


def version(text: str, later: int) -> str:
    """Return the name of the version that `later` updates follow. The last version keeps the original name."""
    return text if later == 0 else f"{text}{VERSION}{later}"


def body_of(update: Update) -> Any:
    """Return the expression for the new value of an update.

    For X_{seq(2)} ← 0, it is an operation that returns X with its second element replaced.
    """
    if not isinstance(update.target, Index):
        return update.body
    return Call(REPLACING, (), (), (update.target, update.body), (), update.span, update.target.span)


def rename_versions(node: Any, current: dict[str, str]) -> Any:
    """Replace each updated name in a node with the name of its current version."""
    if isinstance(node, Name):
        return replace(node, text=current[node.text]) if node.text in current else node
    if isinstance(node, nodes.Set):
        return node
    return rebuilt(node, lambda part: rename_versions(part, current), apart=LABELS.get(type(node), ()))
