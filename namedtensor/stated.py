"""What a program states of its tensors: claims, sets that they lie in, shapes that results have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Name, Node

from .frames import Frame
from .misfits import shown
from .names import spelled
from .scope import Claim
from .sizes import agree, known
from .terms import Term

if TYPE_CHECKING:
    from .check import Checker


def check_claims(checker: Checker) -> None:
    checker.steps = len(checker.trace)  # what claims need is no step to the value
    for claim in (*checker.scope.claims, *checker.given_definitions()):
        try:
            checker.claim(claim, checker.top)
        except NotationError as problem:
            if problem.number not in (201, 206) and not checker.missing_inputs(problem):
                raise
    while checker.pending_claims:
        claim, frame = checker.pending_claims.pop()
        checker.claim(claim, frame)
    for key, group in checker.domains():
        checker.domain_claim(key, group)


def given_definitions(checker: Checker) -> list[Claim]:
    """A name that is given a value and has an equation too: the equation is a claim."""
    return [
        Claim(group[0].head, group[0].body, group[0].statement.span)
        for key, group in checker.scope.definitions.items()
        if key in checker.inputs and group[0].head is not None and not group[0].elements
    ]


def refused_head(checker: Checker, name: str) -> NotationError | None:
    """The error of f(x + 1) = …, which does not define f, where f is asked for."""
    for claim in checker.scope.claims:
        if not isinstance(claim.left, Call) or claim.left.operator != "juxtaposed":
            continue
        head, argument = claim.left.arguments
        if isinstance(head, Name) and head.text == name and checker.scope.source[argument.span[0]] == "(":
            return checker.error(
                114,
                f"{checker.text(claim.left)} cannot be defined: the arguments of a head are plain names",
                argument,
                hint=f"write {name}(t) = …",
            )
    return None


def missing_inputs(checker: Checker, problem: NotationError) -> bool:
    return problem.number in (204, 309)


def domains(checker: Checker):
    for key in checker.inputs:
        declared, frame = checker.declaration(key)
        if declared is not None and declared.domain != "reals" and key in checker.used:
            yield checker.top.variables[key], (declared, frame)


def domain_claim(checker: Checker, term: Term, group) -> None:
    declared, frame = group
    values: list[Any] = []
    for node in declared.elements:
        value = checker.solver.value(node, frame)
        if not isinstance(value, (int, float)):
            return
        values.append(value)
    checker.claim_terms.append((term, (declared.domain, tuple(values)), declared.span))


def claim(checker: Checker, claim: Claim, frame: Frame) -> None:
    """Check a claim's shape now, and note its values to be compared when there are some."""
    if isinstance(claim.right, nodes.Set):
        checker.check_member(checker.term(claim.left, frame), claim.right, frame, claim.left)
        return
    with checker.changing((claim.left, claim.right), frame):
        left, right = checker.term(claim.left, frame), checker.term(claim.right, frame)
    shape = checker.broadcast((left, right), claim.left, claim.span, "=", (claim.left, claim.right))
    if set(left.shape) != set(right.shape) and right.shape and left.shape:
        raise checker.error(
            307,
            f"the two sides of = have different axes: {shown(left.shape)} and {shown(right.shape)}",
            claim.span,
            notes=(checker.described(claim.left, left.shape), checker.described(claim.right, right.shape)),
        )
    del shape
    checker.claim_terms.append((left, right, claim.span))


def check_member(checker: Checker, term: Term, of: nodes.Set, frame: Frame, node: Node) -> None:
    axes = checker.set_axes(of, frame)
    names = {axis for axis, _, _ in axes}
    have = {axis for axis in term.shape if "@" not in axis}
    if names != have:
        raise checker.axes_differ(term, node, names, of, f"{checker.text(node)} ∈ {checker.text(of)}")
    for axis, size, where in axes:
        value = None if size is None else checker.solver.value(size, frame)
        if value is not None and not agree(value, term.shape[axis]):
            raise checker.error(
                308,
                f"{axis} has {known(term.shape[axis])} here, and {checker.text(of)} says {known(value)}",
                where,
                notes=(checker.described(node, term.shape),),
            )
        if size is not None and value is None:
            checker.learn(size, term.shape[axis], frame)


def learn(checker: Checker, size: Node, actual: Any, frame: Frame) -> None:
    name = spelled(size)
    if name is not None:
        frame.scalars.setdefault(name.key(frame.index), actual)


def axes_differ(checker: Checker, term: Term, node: Node, names: set[str], of: nodes.Set, text: str):
    have = {axis for axis in term.shape if "@" not in axis}
    missing, further = names - have, have - names
    parts = []
    if further:
        parts.append(f"has {_axes(further)} besides")
    if missing:
        parts.append(f"lacks {_axes(missing)}")
    return checker.error(
        307,
        f"{checker.text(node)} {' and '.join(parts)}: it cannot be in {checker.text(of)}",
        node,
        notes=(checker.described(node, {a: s for a, s in term.shape.items() if "@" not in a}),),
        labels=((of.span, "stated here"),),
        hint=_rename_hint(missing, further) or "a value has exactly the axes of its set: change one of the two",
    )


def _axes(names: set[str]) -> str:
    return ("the axis " if len(names) == 1 else "the axes ") + ", ".join(sorted(names))


def _rename_hint(missing: set[str], further: set[str]) -> str | None:
    if len(missing) == 1 and len(further) == 1:
        return f"rename it: [ … ]_{{{further.copy().pop()}→{missing.copy().pop()}}}"
    return None
