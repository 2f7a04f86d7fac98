"""What a program states of its tensors: claims, sets that they lie in, shapes that results have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Name, Node

from ..core.sizes import resolve, unify
from ..scope.names import Key, match_key, spelled, walk
from ..scope.symbols import Claim, Definition
from ..terms.environment import Environment
from ..terms.terms import Term
from . import elements
from .diagnostics import shown
from .report import AlreadyReported, CheckWarning

if TYPE_CHECKING:
    from .checker import Checker


MISSING = (201, 204, 206, 309)  # what a claim about something that is not given gets


def check_claims(checker: Checker, whole: bool = True) -> None:
    """Check all that the program claims; of a part of it, not `whole`, what can be said with what is given for that part."""
    checker.steps = len(checker.trace)  # what claims need is no step to the value
    passed = MISSING if not whole else (204, 309) if checker.infer_parameters else ()
    holders = {*checker.scope.definitions, *checker.inputs}
    claims = [(claim, checker.top) for claim in checker.scope.claims]
    for claim, env in [*claims, *member_claims(checker, holders, checker.scope.families, checker.top)]:
        try:
            checker.claim(claim, env)
        except NotationError as problem:
            if checker.recover and problem.number not in passed:
                checker.note(problem)
            elif problem.number not in passed:
                raise
        except AlreadyReported:
            pass
    while checker.pending_claims:
        claim, env = checker.pending_claims.pop()
        checker.claim(claim, env)
    for key, group in checker.domains(whole):
        checker.domain_claim(key, group)


def member_claims(
    checker: Checker, names: Iterable[Key], families: list[Definition], holder: Environment
) -> Iterator[tuple[Claim, Environment]]:
    """A member of a family that is given, or has an equation of its own: what the family says of it is a claim."""
    for name in names:
        for family in families:
            indices = match_key(family.name, name, checker.scope.indices)
            over = family.range
            if indices is None or over is None or not str(indices.get(over.variable.text)).isdecimal():
                continue
            index = int(indices[over.variable.text])
            first, last = checker.solver.value(over.first, holder), checker.solver.value(over.last, holder)
            if family.head is not None and isinstance(first, int) and isinstance(last, int) and first <= index <= last:
                env = Environment(
                    parent=holder, sizes_parent=holder, depth=holder.depth,
                    indices={**indices, over.variable.text: index},
                )  # fmt: skip
                yield Claim(family.head, family.body, family.statement.span), env


def watch_replaced(checker: Checker) -> None:
    """Warn of the program's own definitions that replace a built-in of that name; raise where that is refused."""
    for each in checker.scope.replaced:
        message = f"{each.name} is built in, and the {each.name} of this formula replaces it"
        hint = "give it a name of its own, unless that is meant"
        if checker.strict:
            raise checker.error(202, message, each.span, hint=hint)
        checker.warnings.append(CheckWarning(message, each.span, hint))


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


def domains(checker: Checker, whole: bool):
    for key in checker.inputs:
        declared, env = checker.declaration(key)
        if declared is not None and declared.domain != "reals" and (whole or key in checker.used):
            yield checker.top.variables[key], (declared, env)


def domain_claim(checker: Checker, term: Term, group) -> None:
    declared, env = group
    values = domain_values(checker, declared, env)
    if values is not None:
        checker.claim_terms.append((term, (declared.domain, values), declared.span))


def domain_values(checker: Checker, of: nodes.Set, env: Environment) -> tuple | None:
    """0 and 1 of {0, 1}, n of [n]; None where nothing is said of values, or a number is not known."""
    values = [checker.solver.value(node, env) for node in of.elements]
    if of.domain == "reals" or not all(isinstance(value, (int, float)) for value in values):
        return None
    return tuple(values)


def numbered(checker: Checker, over: nodes.Range, env: Environment) -> Iterator[Environment]:
    """An environment for each number of a range."""
    first, last = checker.solver.value(over.first, env), checker.solver.value(over.last, env)
    if not isinstance(first, int) or not isinstance(last, int):
        raise checker.unknown_bound(over, env)
    if last - first >= getattr(checker.limits, "steps", 10**6):
        raise checker.error(404, "this range is too long", over, hint="raise limits.steps")
    for step in range(first, last + 1):
        yield Environment(parent=env, sizes_parent=env, depth=env.depth, indices={over.variable.text: step})


def with_elements(checker: Checker, sides: tuple[Any, ...], env: Environment) -> Environment:
    """An environment in which i of A_{height(i)} is every index, where nothing says what i is: the claim is about all elements."""
    parts = [part for side in sides for part in walk(side) if isinstance(part, nodes.Index)]
    for part in parts:
        if any(isinstance(index, Name) and elements.is_free(checker, index, env) for _, index in part.items):
            env = elements.each_element(checker, part.items, checker.infer(part.base, env).shape, env)
    return env


def claim(checker: Checker, claim: Claim, env: Environment) -> None:
    """Check a claim's shape now, and note its values to be compared when there are some."""
    if claim.range is not None:
        for place in numbered(checker, claim.range, env):
            checker.claim(replace(claim, range=None), place)
        return
    env = checker.with_elements((claim.left, claim.right), env)
    if isinstance(claim.right, nodes.Set):
        checker.check_member(checker.infer(claim.left, env), claim.right, env, claim.left)
        return
    with checker.changing((claim.left, claim.right), env):
        left, right = checker.infer(claim.left, env), checker.infer(claim.right, env)
    shape = checker.broadcast((left, right), claim.left, claim.span, "=", (claim.left, claim.right))
    axes = [{axis for axis in side.shape if not elements.of_index(axis)} for side in (left, right)]
    if axes[0] != axes[1] and all(axes):
        raise checker.error(
            307,
            f"the two sides of = have different axes: {shown(left.shape)} and {shown(right.shape)}",
            claim.span,
            notes=(checker.described(claim.left, left.shape), checker.described(claim.right, right.shape)),
        )
    del shape
    checker.claim_terms.append((left, right, claim.span))


def check_member(checker: Checker, term: Term, of: nodes.Set, env: Environment, node: Node) -> None:
    axes = checker.set_axes(of, env)
    names = {axis for axis, _, _ in axes}
    have = {axis for axis in term.shape if "@" not in axis}
    if names != have:
        raise checker.axes_differ(term, node, names, of, f"{checker.text(node)} ∈ {checker.text(of)}")
    for axis, size, where in axes:
        value = None if size is None else checker.solver.value(size, env)
        if value is not None and not unify(value, term.shape[axis]):
            raise checker.error(
                308,
                f"{axis} has {resolve(term.shape[axis])} here, and {checker.text(of)} says {resolve(value)}",
                where,
                notes=(checker.described(node, term.shape),),
            )
        if size is not None and value is None:
            checker.learn(size, term.shape[axis], env)
    values = domain_values(checker, of, env)
    if values is not None:
        checker.claim_terms.append((term, (of.domain, values), of.span))


def bind_size(checker: Checker, size: Node, actual: Any, env: Environment) -> None:
    name = spelled(size)
    if name is not None:
        env.scalars.setdefault(name.key(env.index), actual)


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
