"""Type definitions by cases, such as { 0 if i ≤ j; -∞ otherwise }.

A condition with a known value selects or excludes its case. Excluded cases are typed but not evaluated, so their
indices may be out of range. A condition on a definition's element indices is a guard. Elements that fail the guard are
not evaluated either.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Node

from ..core import axes as named
from ..core.sizes import unify
from ..scope.names import plain_key
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term
from .application import broadcast, truth


def cases(checker: Inference, node: nodes.Cases, env: Environment) -> Term:
    """Return the term of a definition by cases."""
    arguments: list[Term] = []
    parts: list[Node] = []
    untaken: list[Term] = []  # Excluded cases and conditions add only axes to the result.
    guards: list[Term] = []  # The negations of the preceding conditions on element indices.
    for position, (value, condition) in enumerate(node.branches):
        if condition is None and position != len(node.branches) - 1:
            raise checker.error(101, "otherwise must be the last case", value, hint="move this case to the end")
        holds = None
        if condition is not None:
            (holds,) = checker.infer_all((condition,), env)
            truth(checker, holds, condition)
        decided = bool(len(arguments) % 2)  # An earlier condition is always true.
        if decided or (holds is not None and holds.number is False):
            untaken += [*exclude_case(checker, value, env), *([] if holds is None else [holds])]
        elif holds is None or holds.number is True:
            arguments.append(guard_term(checker, value, guards, env))
            parts.append(value)
        else:
            assert condition is not None
            arguments += [guard_term(checker, value, [*guards, holds], env), holds]
            parts += [value, condition]
            if depends_on_elements(holds):
                guards.append(negation(checker, holds))
    return make_case_term(checker, arguments, parts, untaken, node)


def indicator(checker: Inference, node: nodes.Indicator, env: Environment) -> Term:
    """Return the term of an indicator 𝕀[…], which is 1 if the condition is true and 0 otherwise."""
    condition = truth(checker, checker.infer(node.condition, env), node.condition)
    return checker.graph.intern("indicator", (condition,), shape=condition.shape, node=node)


def exclude_case(checker: Inference, value: Node, env: Environment) -> list[Term]:
    """Type an excluded case. Return a list with its term, or [] if the case has a value error.

    Examples of value errors are an index out of range and a missing member of a family.
    """
    recover, checker.recover = checker.recover, False
    try:
        return [checker.infer(value, env)]
    except NotationError as problem:
        if problem.kind != "value" and not is_beyond_family(checker, problem, env):
            raise
        return []
    finally:
        checker.recover = recover


def is_beyond_family(checker: Inference, problem: NotationError, env: Environment) -> bool:
    """Return whether an error reports a missing family member, such as F_{-1} if F_n is defined for n ≥ 0."""
    if problem.code != 201 or problem.symbol is None:
        return False
    base = plain_key(problem.symbol).base
    return any(family.name.base == base for family in checker.families_around(env))


def make_case_term(
    checker: Inference, arguments: list[Term], parts: list[Node], untaken: list[Term], node: Node
) -> Term:
    if not arguments:
        raise checker.error(405, "no case applies", node, hint="add an otherwise case at the end")
    shapes = [term.shape for term in (*arguments, *untaken)]
    shape = broadcast(checker, shapes, node.span, "{…}", [*parts, *(term.node for term in untaken)])
    if len(arguments) > 1:
        return checker.graph.intern("cases", tuple(arguments), shape=shape, node=node)
    return checker.spread(arguments[0], shape, node)


def negation(checker: Inference, condition: Term) -> Term:
    return checker.graph.intern("¬", (condition,), shape=condition.shape, boolean=True, node=condition.node)


def guard_term(checker: Inference, value: Node, guards: list[Term], env: Environment) -> Term:
    with open_guards(checker, [*checker.guards, *filter(depends_on_elements, guards)]):
        (term,) = checker.infer_all((value,), env)
    return term


def depends_on_elements(guard: Term) -> bool:
    """Return whether a condition depends on element indices, which are the indices of a definition or a sum.

    Such a condition has axes, and all of them come from lifting.
    """
    return bool(guard.shape) and all("@" in axis for axis in guard.shape)


@contextmanager
def isolate(checker: Inference) -> Generator[None]:
    """Suspend all guards and allow size inference inside the block.

    A name therefore has the same value wherever it is used.
    """
    with open_guards(checker, []), checker.solver.inferring(True):
        yield


@contextmanager
def open_guards(checker: Inference, guards: Sequence[Term]) -> Generator[None]:
    """Apply exactly the given guards inside the block."""
    outer, checker.guards = checker.guards, [*guards]
    try:
        yield
    finally:
        checker.guards = outer


def guard_index(checker: Inference, at: Term) -> Term:
    """Return the index with 1 in place of each element that fails a guard."""
    for guard in checker.guards:
        one = checker.graph.number(1)
        shape = named.broadcast((guard.shape, at.shape), unify)
        at = checker.graph.intern("where", (guard, at, one), shape=shape, node=at.node)
    return at
