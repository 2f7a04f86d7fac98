"""Nest operators whose condition binds several indices, as in ∑_{1≤i<j≤n} X and ∑_{i≠j} X.

    ∑_{1≤i<j≤n} X       ∑_{i=1}^{n} ∑_{j=i+1}^{n} X
    ∑_{i≠j} A_{r(i),c(j)}     ∑_i ∑_{j≠i} A_{r(i),c(j)}, if i and j are unknown

A condition binds names between two relations, and names that the operator's operand uses as indices. A known name is
not a new index, so ∑_{j≠i} sums only over j if i is known. A name is known if it is given, defined, declared, an
argument, or bound by an enclosing operator.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.nodes import Call, Equation, Index, IndexSum, Name, Node, Over
from grammar.symbols import BINDERS
from grammar.traversal import conjuncts, names_in, rebuilt

from .names import Key, component_names, read_spelling, walk
from .shifted_heads import add_number

# Matches a relation in a subscript. A source without a match has no such condition, and its program is not searched.
CONDITION = re.compile(r"_\s*\{[^}]*(?:[<>≤≥≠]|!=|\\(?:n|l|g)eq?|\\[lg]t|\\[lg]eqslant)")
FLIPPED = {">": "<", "≥": "≤"}
ORDERS = ("<", "≤")


def replace_index_conditions(program: nodes.Program, given: Iterable[Key]) -> nodes.Program:
    """Replace each operator over a condition with nested operators over ranges, one per index."""
    known = frozenset(name for statement in program.statements for name in said_by(statement))
    known |= {name.base for name in given}
    statements = tuple(convert_statement(statement, known) for statement in program.statements)
    same = all(new is old for new, old in zip(statements, program.statements))
    return program if same else replace(program, statements=statements)


def said_by(statement: nodes.Statement) -> Iterator[str]:
    """Yield the names that a statement introduces: defined or declared names and function parameters."""
    if isinstance(statement, nodes.Declaration):
        yield from (name.base for name in map(read_spelling, statement.names) if name is not None)
    if isinstance(statement, Equation):
        head = statement.sides[0]
        if isinstance(head, Name):
            yield head.text
        elif isinstance(head, Call) and head.operator != "juxtaposed":
            yield from (argument.text for argument in (*head.arguments, *head.parameters) if isinstance(argument, Name))


def bound_by_head(head: Node) -> set[str]:
    """Return the indices of a left-hand side, such as t in h^t, i in Y_{a(i)} or l in f^l(x)."""
    parts: list[Node] = []
    while isinstance(head, (Index, nodes.Superscript, nodes.Subscript)):
        parts += [part for _, part in head.items] if isinstance(head, Index) else head.components
        head = head.base
    if isinstance(head, Call):
        parts += (*head.superscript, *head.subscript)
    return set[str]().union(*map(component_names, parts))


def convert_statement(statement: Any, known: frozenset[str]) -> Any:
    fixed = known
    if isinstance(statement, Equation):
        fixed |= bound_by_head(statement.sides[0])
    over = getattr(statement, "range", None)
    return convert_node(statement, fixed | over.variables if over is not None else fixed)


def convert_node(node: Any, fixed: frozenset[str]) -> Any:
    if isinstance(node, Over) and not isinstance(node.over, nodes.Set) and node.operator not in BINDERS:
        return convert_condition(node, fixed)
    inner = fixed
    if isinstance(node, (IndexSum, Over)):
        inner = fixed | {node.variable.text}
    elif isinstance(node, nodes.Expectation):
        inner = fixed | {draw.name if isinstance(draw, nodes.Draw) else draw.text for draw in node.draws}
    elif isinstance(node, Call):
        indexed = indices_of(node.arguments)
        inner = fixed | {part.text for part in node.subscript if isinstance(part, Name) and part.text in indexed}
    return rebuilt(node, lambda part: convert_node(part, inner), apart=("variable",))


def convert_condition(node: Over, fixed: frozenset[str]) -> Node:
    relations = list(map(orient_relation, conjuncts(node.over)))
    variables = bound_indices(node, fixed)
    body = convert_node(node.body, fixed | set(variables))
    if len(variables) == 1 and len(relations) == 1:
        same = variables[0] == node.variable.text
        variable = node.variable if same else Name(variables[0], node.variable.span)
        return node if same and body is node.body else replace(node, variable=variable, body=body)
    return nest_operators(replace(node, body=body), variables, relations)


def orient_relation(relation: Call) -> Call:
    """Rewrite a relation with > or ≥ as a relation with < or ≤. Return any other relation unchanged."""
    if relation.operator not in FLIPPED:
        return relation
    return replace(relation, operator=FLIPPED[relation.operator], arguments=relation.arguments[::-1])


def indices_of(parts: Iterable[Node]) -> set[str]:
    """Return the names inside indices, such as i and j in A_{r(i), c(j+1)}."""
    items = (item for part in parts for node in walk(part) if isinstance(node, Index) for _, item in node.items)
    return set[str]().union(*map(names_in, items))


def bound_indices(node: Over, fixed: Collection[str]) -> list[str]:
    """Return the indices that an operator's condition binds, in order of appearance.

    If the condition binds none, return the operator's variable.
    """
    between = find_conjoined_names(node.over)
    mentioned = dict.fromkeys(
        name for relation in conjuncts(node.over) for part in relation.arguments for name in names(part)
    )
    indexed = indices_of((node.body,))
    texts = [name for name in mentioned if name not in fixed and (name in between or name in indexed)]
    return texts or [node.variable.text]


def find_conjoined_names(condition: Any) -> set[str]:
    """Return the names in the middle of a chain of relations, such as i and j in 1 ≤ i < j ≤ n."""
    inside = [relation.arguments[0] for relation in conjuncts(condition)[1:]]
    return {node.text for node in inside if isinstance(node, Name)}


def names(part: Node) -> Iterator[str]:
    return (node.text for node in walk(part) if isinstance(node, Name))


def nest_operators(node: Over, variables: list[str], relations: list[Call]) -> Node:
    """Return nested operators, one per index. The first index has the outermost operator.

    Each relation goes to the innermost of its indices.
    """
    order = {name: index for index, name in enumerate(variables)}
    calls: dict[str, list[Call]] = {name: [] for name in variables}
    for relation in relations:
        mentioned = [name for name in names(relation) if name in order]
        calls[max(mentioned, key=order.__getitem__) if mentioned else variables[-1]].append(relation)
    indexed = indices_of((node.body,))
    body = node.body
    for name in reversed(variables):
        variable = Name(name, node.variable.span)
        first, last = (find_index_bound(name, at, relations, order) for at in (0, 1))
        rest = [call for call in calls[name] if not is_bound(call, name)]
        condition = conjunction(calls[name])
        if first is not None and last is not None and not rest:
            body = IndexSum(node.operator, variable, first, last, body, node.span)
        elif condition is not None or name not in indexed:
            whole = condition if condition is not None else node.over
            body = Over(node.operator, variable, whole, body, node.span)
        else:
            body = Call(node.operator, (), (variable,), (body,), (), node.span, node.span)
    return body


def is_bound(relation: Call, name: str) -> bool:
    """Return whether a relation bounds an index from below or above. For example, i < j and j ≤ n bound j."""
    return relation.operator in ORDERS and any(side == Name(name) for side in relation.arguments)


def find_index_bound(
    name: str, at: int, relations: list[Call], order: dict[str, int], seen: frozenset[str] = frozenset()
) -> Node | None:
    """Return the first (`at` 0) or last (`at` 1) value of an index, or None if the relations do not determine it.

    If a bound is a later index, use the bound of that index instead.
    """
    for relation in relations:
        sides = relation.arguments
        if relation.operator not in ORDERS or sides[1 - at] != Name(name):
            continue
        bound = sides[at]
        later = [text for text in names(bound) if text in order and order[text] >= order[name]]
        if not later:
            return (
                bound if relation.operator == "≤" else add_number(bound, -1 if at else 1)
            )  # The bound is j + 1 for j <, and n − 1 for < n.
        if isinstance(bound, Name) and bound.text not in seen | {name}:
            further = find_index_bound(bound.text, at, relations, order, seen | {name})
            if further is not None and not any(order.get(text, -1) >= order[name] for text in names(further)):
                return further
    return None


def conjunction(relations: list[Call]) -> Node | None:
    node: Node | None = None
    for relation in relations:
        node = relation if node is None else Call("∧", (), (), (node, relation), (), relation.span, relation.span)
    return node
