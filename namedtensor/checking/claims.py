"""Check the assertions of a program: its equations, memberships and shapes that do not define names."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.errors import SIDES_DIFFER, NotationError
from grammar.nodes import Name, Node

from ..core.extents import SizeSymbol, extent, is_size, proves_at_most
from ..core.size_conditions import counting
from ..scope.dependencies import pattern_of
from ..scope.distributions import depends_on_draws
from ..scope.names import Key, match_key, walk
from ..scope.symbols import Claim, Definition, equal_sides
from ..scope.uses import is_open
from ..terms.environment import Environment
from ..terms.inference import AlreadyReportedError, CheckWarning, Inference, format_shape
from ..terms.terms import Term
from .application import broadcast
from .counting import members_defined
from .declarations import check_member, declaration, domain_values, local_declaration
from .filled_positions import Positions
from .indexing import iota
from .other_meanings import means_something
from .ranges import number_indices, numbers_of

# Each pair contains a reason why values are not compared, and a hint.
OPEN = "a limit, or a minimum over all tensors, has no value", "its type is right"
ESTIMATE = "it is about an estimate", "namedtensor check --random compares estimates with many seeds"
MISSING = (201, 204, 206, 309)  # The error codes for names and sizes without a value.


def check_claims(checker: Inference, whole: bool = True) -> None:
    """Check the program's assertions. If `whole` is false, skip assertions about names without values."""
    passed = MISSING if not whole else (204, 309) if checker.infer_parameters else ()
    holders = {*checker.scope.definitions, *checker.inputs}
    claims = [(claim, checker.top) for claim in checker.scope.claims]
    for claim, env in [*claims, *member_claims(checker, holders, checker.top), *claims_of_later_families(checker)]:
        try:
            with members_defined(checker, claim):
                check_claim(checker, claim, env)
        except NotationError as problem:
            if checker.recover and (problem.code not in passed or ends_openly(claim, problem)):
                checker.note(problem)
            elif problem.code not in passed:
                raise
        except AlreadyReportedError:
            pass
    while checker.pending_claims:
        claim, env = checker.pending_claims.pop()
        with members_defined(checker, claim):
            check_claim(checker, claim, env)
    for key, group in domains(checker, whole):
        domain_claim(checker, key, group)


def ends_openly(claim: Claim, problem: NotationError) -> bool:
    """Return whether an error reports that an end of an assertion's range has no value.

    In recovery, the checker records this error even if it ignores other errors with the same code.
    """
    if claim.range is None or problem.code != 309 or problem.span is None:
        return False
    return any(range_.span[0] <= problem.span[0] < range_.span[1] for range_ in claim.range.each)


def member_claims(checker: Inference, names: Iterable[Key], holder: Environment) -> Iterator[tuple[Claim, Environment]]:
    """Yield a family's equation as an assertion about each member that is an input or has a separate equation."""
    for name in names:
        if name.base not in checker.scope.bases_of_families:
            continue
        for family in checker.scope.families_of(name):
            indices = match_key(family.name, name, checker.scope.indices)
            over = family.range
            if indices is None or over is None:
                continue
            indices = number_indices(indices, over)
            if not all(isinstance(indices[variable], int) for variable in over.variables):
                continue
            if family.head is not None and are_in_ranges(checker, over, indices, holder):
                env = Environment(parent=holder, sizes_parent=holder, depth=holder.depth, indices=indices)
                yield Claim(family.head, family.body, family.statement.span), env


def claims_of_later_families(checker: Inference) -> Iterator[tuple[Claim, Environment]]:
    """Yield a family's equation as an assertion about each member that an earlier family already defines."""
    earlier: dict[Key, list[nodes.Range]] = {}
    for family in checker.scope.families:
        over, parts = family.range, (*family.name.subscript, *family.name.superscript)
        if over is None or over.variable not in parts or over.further or family.elements or family.head is None:
            continue
        others = earlier.setdefault(pattern_of(family.name, checker.scope.indices), [])
        for other in others:
            common = intersection(checker, other, over)
            if common is not None:
                yield Claim(family.head, family.body, family.statement.span, common), checker.top
        others.append(over)


def intersection(checker: Inference, one: nodes.Range, other: nodes.Range) -> nodes.Range | None:
    """Return the range of the numbers in both ranges, or None if it is empty or unknown.

    The result has the variable of `other`.
    """

    def least(left: Node, right: Node) -> Node | None:
        sizes = [checker.solver.number(node, checker.top) for node in (left, right)]
        if not all(map(is_size, sizes)):
            return None
        return left if proves_at_most(*sizes) else right if proves_at_most(*reversed(sizes)) else None

    low = one.low if least(one.low, other.low) is other.low else other.low
    high = least(one.high, other.high)
    if high is None or least(low, high) is not low:
        return None
    return nodes.Range(other.variable, low, high, other.span)


def are_in_ranges(checker: Inference, over: nodes.Range, indices: dict[str, Any], holder: Environment) -> bool:
    """Return whether the indices are certainly in their ranges."""
    for range_ in over.each:
        environment = Environment(parent=holder, sizes_parent=holder, indices=indices)
        first, last = checker.solver.number(range_.low, environment), checker.solver.number(range_.high, environment)
        if not is_size(first) or not is_size(last):
            return False
        if not proves_at_most(first, number := indices[range_.variable.text]) or not proves_at_most(number, last):
            return False
    return True


def perturbing(checker: Inference, sides: tuple[Any, ...], env: Environment) -> AbstractContextManager[None]:
    """Return a context manager that gives ∂X a value, or one without effect if no side contains a differential."""
    if not any(isinstance(node, nodes.Differential) for side in sides if side is not None for node in walk(side)):
        return nullcontext()
    from ..calculus.derivative import perturbing

    return perturbing(checker, sides, env)


def warn_of_replaced(checker: Inference) -> None:
    """Warn about each definition that replaces a built-in function or number. Raise an error in strict mode."""
    for replaced in checker.scope.replaced:
        message = f"{replaced.name} shadows the built-in {replaced.name}"
        hint = "rename it, unless you mean to override the built-in"
        if checker.strict:
            raise checker.error(209, message, replaced.span, hint=hint)
        checker.warnings.append(CheckWarning(209, message, replaced.span, hint))


def domains(checker: Inference, whole: bool):
    for key in checker.inputs:
        if key.base not in checker.scope.bounded:
            continue
        declared, env = declaration(checker, key)
        if declared is not None and declared.domain != "reals" and (whole or key in checker.used):
            yield checker.top.variables[key], (declared, env)


def domain_claim(checker: Inference, term: Term, group: tuple[nodes.Set, Environment]) -> None:
    declared, env = group
    values = domain_values(checker, declared, env)
    if values is not None:
        checker.claim_terms.append((term, (declared.domain, values), declared.span, None))


def enumerate_range(checker: Inference, over: nodes.Range, env: Environment) -> Iterator[Environment]:
    """Yield an environment for each number in a range, in which the range's variable has this value.

    If the length of the range is unknown, yield a single environment in which the variable is a size symbol.
    """
    numbers = numbers_of(checker, over, env)
    if isinstance(numbers, Positions):
        counter = SizeSymbol(over.variable.text, "")
        with counting({counter: (numbers.first, numbers.last)}):
            yield Environment(parent=env, sizes_parent=env, depth=env.depth, indices={counter.name: extent(counter)})
        return
    for step in numbers:
        yield Environment(parent=env, sizes_parent=env, depth=env.depth, indices={over.variable.text: step})


def with_elements(checker: Inference, sides: tuple[Any, ...], env: Environment) -> Environment:
    """Return an environment in which each undefined index, such as i in A_{height(i)}, covers its whole axis."""
    parts = [part for side in sides for part in walk(side) if isinstance(part, nodes.Index)]
    for part in parts:
        if any(isinstance(index, Name) and is_free(checker, index, env) for _, index in part.items):
            env = each_element(checker, part.items, checker.infer(part.base, env).shape, env)
    return env


def check_claim(checker: Inference, claim: Claim, env: Environment) -> None:
    """Check the shape of an assertion, and record its sides for a later comparison of values."""
    if claim.range is not None:
        for environment in enumerate_range(checker, claim.range, env):
            check_claim(checker, replace(claim, range=claim.range.further), environment)
        return
    env = with_elements(checker, (claim.left, claim.right), env)
    if isinstance(claim.right, nodes.Set):
        check_member(checker, checker.infer(claim.left, env), claim.right, env, claim.left)
        return
    open = is_open(claim.left) or is_open(claim.right)
    estimate = depends_on_draws(checker.scope, (claim.left, claim.right))
    with perturbing(checker, (claim.left, claim.right), env), only_typed(checker, open):
        left, right = checker.infer(claim.left, env), checker.infer(claim.right, env)
    check_same_axes(checker, "=", (left, right), (claim.left, claim.right), claim.span)
    if open or estimate:
        checker.only_typed[claim.span] = OPEN if open else ESTIMATE
    else:
        checker.claim_terms.append((left, right, claim.span, claim.step))


def check_same_axes(
    checker: Inference, sign: str, sides: tuple[Term, Term], parts: tuple[Any, Any], span: tuple[int, int]
) -> None:
    """Raise an error if the two sides of a relation have different axes or sizes.

    A side without axes fits any other side.
    """
    left, right = sides
    broadcast(checker, (left.shape, right.shape), span, sign, parts)
    axes = [{axis for axis in side.shape if not is_index_axis(axis)} for side in sides]
    if axes[0] != axes[1] and all(axes):
        raise checker.error(
            307,
            f"the two sides of {sign} have different axes: {format_shape(left.shape)} and {format_shape(right.shape)}",
            span,
            notes=tuple(checker.describe_with_shape(part, side.shape) for part, side in zip(parts, sides)),
            reason=SIDES_DIFFER,
        )


def nearly(checker: Inference, node: nodes.Call, env: Environment) -> Term:
    """Check that both sides of a ≈ b have the same type, and return the term of the left side."""
    left = checker.infer(node.arguments[0], env)
    with only_typed(checker, True):
        right = checker.infer(node.arguments[1], env)
    check_same_axes(checker, node.operator, (left, right), node.arguments, node.span)  # type: ignore[arg-type]
    return left


@contextmanager
def only_typed(checker: Inference, open: bool) -> Generator[None]:
    """If `open` is true, allow limits inside the block. A limit has a type but cannot be evaluated."""
    before, checker.typing = checker.typing, checker.typing or open
    try:
        yield
    finally:
        checker.typing = before


def each_element(
    checker: Inference, items: Iterable[tuple[Any, ...]], shape: Mapping[str, Any], env: Environment
) -> Environment:
    """Return an environment in which each undefined index is the tensor 1, …, n along a separate axis."""
    inner = env.within()
    for axis, index in items:
        for real in env.resolve_axis(axis.name):
            if isinstance(index, Name) and real in shape and is_free(checker, index, env):
                inner.variables[Key(index.text)] = iota(checker, f"{real}@{index.text}", 1, shape[real], index)
    return inner


def is_index_axis(axis: str) -> bool:
    """Return whether an axis comes from an index, such as height@i for A_{height(i)}, rather than from lifting."""
    return "@" in axis and not axis.partition("@")[2].isdecimal()


def is_free(checker: Inference, index: Name, env: Environment) -> bool:
    """Return whether a name in an index has no value, so that it ranges over all positions."""
    return env.index(index.text) is None and not means_something(checker, index.text, env, index)


def check_statement(checker: Inference, definition: Definition, term: Term, env: Environment) -> None:
    for of in definition.statement.sets:
        check_member(checker, term, of, env, definition.body)
    declared, declaring = local_declaration(checker, definition.key, env)
    if declared is not None:
        check_member(checker, term, declared, declaring, definition.body)
    if not definition.claims:
        return
    if definition.elements:
        env = each_element(checker, definition.elements, term.shape, env)
    over = definition.range if not definition.is_family else None
    stated = [*equal_sides(definition.body, definition.claims, definition.statement.span, over)]
    checker.pending_claims += ((claim, env) for claim in reversed(stated))  # The last assertion is taken first.
