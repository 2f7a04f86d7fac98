"""Inline function calls. The body is typed for the arguments, and the signature lifts their extra axes.

If the function has no signature, its body is substituted for the call.

Before the body is typed, the extra axes of each argument are renamed (`seq@1`), so that they cannot match an axis in
the signature or the body. In the result, the axes have their original names again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, NamedTuple

from grammar.errors import NotationError
from grammar.nodes import Name, Node, Set

from ..core.sizes import SizeVariable, resolve, unify
from ..core.suggestions import near
from ..scope.names import Key, read_spelling
from ..scope.symbols import Claim, FunctionDefinition, equal_sides
from ..terms.environment import Environment, make_lifted_name, source_name
from ..terms.inference import Inference
from ..terms.terms import Term
from . import hygiene
from .cases import isolate
from .declarations import axes_differ, axis_lacking, bind_size, check_member, make_parameter, set_axes
from .size_facts import to_size
from .unknown_names import unknown_name

Bindings = dict[str, dict[str, Any]]


def inline_call(
    checker: Inference,
    function: FunctionDefinition,
    bindings: Bindings,
    numbers: dict[str, Term],
    arguments: tuple[Term, ...],
    options: tuple[Term, ...],
    node: Any,
    parts: Sequence[Any],
    caller: Environment,
    depth: int | None = None,
) -> Term:
    """Return the term of a call by typing the function's body for these arguments."""
    apart = hygiene.put_apart(checker, function, bindings["axes"], (*arguments, *options), len(options))
    if apart:
        bindings = {**bindings, "axes": hygiene.bound_to(bindings["axes"], apart)}
        terms = [
            checker.renamed(term, hygiene.renaming(term.shape, apart), part)
            for term, part in zip((*arguments, *options), parts)
        ]
        ordinary, extra = tuple(terms[: len(arguments)]), tuple(terms[len(arguments) :])
        term = inline_call(checker, function, bindings, numbers, ordinary, extra, node, parts, caller, depth)
        back = {new: old for old, new in apart.items()}
        return checker.renamed(term, hygiene.renaming(term.shape, back), node)
    checker.spend(node)
    inner = call_environment(checker, function, bindings, numbers, node, caller, depth)
    signed = function.signature is not None
    sizes: list[StatedSize] = []
    if signed:
        arguments, sizes = lift_arguments(checker, function, arguments, node, parts, inner)
    for name, term, part in zip(function.parameters, arguments, parts):
        bind_argument(checker, function, name.key(), term, part, inner)
    while sizes and len(left := [size for size in sizes if not solve_size(checker, size, inner)]) < len(sizes):
        sizes = left
    for position, name in enumerate(function.options):
        bind_option(checker, function, position, name.key(), options, parts, len(arguments), inner, caller)
    inner.complete = True
    with isolate(checker):
        body = checker.infer(function.body, inner)
    result = close_call(checker, function, body, node, inner) if signed else body
    for of in function.statement.sets:
        check_member(checker, result, of, inner, function.body)
    if function.claims:
        stated = [*equal_sides(function.body, function.claims, function.statement.span)]
        checker.pending_claims += ((claim, inner) for claim in reversed(stated))
    checker.pending_claims += assertions_of_call(function, inner, caller)
    return result


def assertions_of_call(
    function: FunctionDefinition, inner: Environment, caller: Environment
) -> Iterator[tuple[Claim, Environment]]:
    """Yield a function's assertions about its parameters, each with its environment.

    A call of the function in an assertion, as in `∂f(X) = 2 X ⊙_{a} ∂X`, does not check the assertions again.
    """
    (call,) = inner.active - caller.active
    asserting = ("assertion", call)
    if asserting not in caller.active:
        stating = inner.within(active=caller.active | {asserting})
        yield from ((claim, stating) for claim in function.local_claims)


def call_environment(
    checker: Inference,
    function: FunctionDefinition,
    bindings: Bindings,
    numbers: dict[str, Term],
    node: Any,
    caller: Environment,
    depth: int | None,
) -> Environment:
    """Return the environment of a call, which binds its axes and indices.

    Raise an error if the function calls itself.
    """
    marker = (
        id(function),
        tuple(sorted(bindings["indices"].items())),
        tuple((name, id(term)) for name, term in sorted(numbers.items())),
    )
    if marker in caller.active:
        raise checker.error(
            203,
            f"circular definition of {function.title}",
            node,
            notes=(f"its body is {checker.text(function.body)}",),
            hint="a recurrence needs an index that decreases: f^l in terms of f^{l-1}",
        )
    if len(caller.active) > checker.limits.max_nesting:
        raise checker.error(404, "calls are nested too deep", node, hint="raise limits.max_nesting")
    signed = function.signature is not None
    inner = Environment(
        parent=checker.top,
        sizes_parent=None if signed else caller,
        caller=caller,
        function=function,
        call=node,
        depth=(caller.depth + 1 if signed else caller.depth) if depth is None else depth,
        axes=dict(bindings["axes"]),
        indices=dict(bindings["indices"]),
        active=caller.active | {marker},
    )
    for name, term in numbers.items():
        inner.variables[Key(name)] = term
    return inner


def bind_argument(
    checker: Inference, function: FunctionDefinition, key: Key, term: Term, part: Node, inner: Environment
) -> None:
    """Check an argument against the declaration of a parameter, and bind the parameter to it."""
    declared = function.declarations.get(key)
    if declared is not None:
        term = check_declared(checker, key, declared, term, part, inner)
    inner.variables[key] = term
    inner.note_sizes(str(key), {axis: size for axis, size in term.shape.items() if "@" not in axis})


def bind_option(
    checker: Inference, function: FunctionDefinition, position: int, key: Key, options: Sequence[Term], parts: Sequence[Any],
    ordinary: int, inner: Environment, caller: Environment,
) -> None:  # fmt: skip
    """Bind a parameter after the semicolon to its argument, or else to the program's value of this name."""
    if position < len(options):
        bind_argument(checker, function, key, options[position], parts[ordinary + position], inner)
        return
    declared = function.declarations.get(key)
    parameter = function.head.parameters[position]
    index = checker.find(key, checker.top, parameter) if key in checker.top.variables or declared is None else None
    if index is None and declared is not None:
        if not checker.infer_parameters:
            raise checker.error(
                206,
                f"no value for {key}, a parameter of {function.title}",
                parameter,
                hint=f"pass it by position after the semicolon, or by name: values={{{str(key)!r}: …}}",
            )
        index = make_parameter(checker, key, declared, inner)
    if index is None:
        raise unknown_name(checker, key, parameter, caller)
    if declared is not None:  # A program input lifts its extra axes together with the extra axes of all inputs.
        bound = {axis for axis, _, _ in set_axes(checker, declared, inner)}
        index = checker.renamed(
            index, {axis: make_lifted_name(axis, 0) for axis in index.shape if axis not in bound}, parameter
        )
    bind_argument(checker, function, key, index, parameter, inner)


def check_declared(checker: Inference, key: Key, declared: Set, term: Term, part: Node, inner: Environment) -> Term:
    """Check an argument against its declaration and return it.

    If the function has a signature, lift undeclared axes.
    """
    axes = set_axes(checker, declared, inner)
    for axis, size, where in axes:
        if axis not in term.shape:
            names, here = [name for name, _, _ in axes], ((where.span, "declared here"),)
            raise axis_lacking(checker, key, axis, names, part, checker.describe_with_shape(part, term.shape), here)
        value = None if size is None else checker.solver.value(size, inner)
        if value is not None and not unify(value, term.shape[axis]):
            raise checker.error(
                308,
                f"axis {axis} of {key} has size {resolve(term.shape[axis])}, but its declaration says {resolve(value)}",
                part,
                labels=((where.span, "declared here"),),
            )
        if size is not None and value is None:
            solve_name(checker, StatedSize(size, term.shape[axis], axis, part), inner)
    if inner.function is None or inner.function.signature is None:
        return term
    return rename_extra_axes(checker, inner.function, term, {axis for axis, _, _ in axes}, part, part, inner)


def rename_extra_axes(
    checker: Inference, function: FunctionDefinition, term: Term, bound: set[str], part: Node, node: Any,
    inner: Environment,
) -> Term:  # fmt: skip
    """Rename each axis of an argument that is not in `bound`, to avoid capture. Raise an error if names clash."""
    if term.shape.keys() <= bound:
        return term
    assert function.signature is not None
    texts = {axis for axis, _, _ in set_axes(checker, function.signature.codomain, inner)}
    names: dict[str, str] = {}
    for axis, size in term.shape.items():
        if axis in bound:
            continue
        if axis in texts:
            raise lifting_clash(checker, function, axis, term, part, node)
        names[axis] = make_lifted_name(axis, inner.depth)
        before = inner.extras.get(names[axis])
        if before is not None and not unify(before[1], size):
            raise checker.error(
                302,
                f"extra axis {source_name(axis)} has size {resolve(before[1])} in {checker.text(before[2])} and "
                f"size {resolve(size)} in {checker.text(part)}",
                node,
                notes=(
                    checker.describe_with_shape(part, term.shape),
                    "extra axes with the same name are lifted over together, so their sizes must match",
                ),
                hint="rename one of them",
            )
        inner.extras[names[axis]] = (axis, size, part)
    return checker.renamed(term, names, part)


def lifting_clash(
    checker: Inference, function: FunctionDefinition, axis: str, argument: Term, part: Node, node: Any
) -> NotationError:
    return checker.error(
        306,
        f"{function.title} returns axis {axis}, but its argument {checker.text(part)} already has an extra axis {axis}",
        node,
        notes=(checker.describe_with_shape(part, argument.shape), f"signature: {checker.text(function.signature)}"),
        hint=f"rename the extra axis of {checker.text(part)}: X_{{{axis}→{axis}'}}",
    )


def lift_arguments(
    checker: Inference,
    function: FunctionDefinition,
    arguments: Sequence[Term],
    node: Any,
    parts: Sequence[Any],
    inner: Environment,
) -> tuple[tuple[Term, ...], list[StatedSize]]:
    """Rename the extra axes of a call's arguments. Also return the sizes that the signature states.

    Raise an error if an argument lacks an axis or if the renamed axes clash.
    """
    signature = function.signature
    assert signature is not None
    if len(signature.domain) != len(arguments):
        raise checker.error(
            304,
            f"the signature of {function.title} has {len(signature.domain)} arguments, but its definition has {len(arguments)}",
            signature,
            labels=((function.head.span, "the definition"),),
        )
    lifted: list[Term] = []
    stated: list[StatedSize] = []
    for argument, part, of in zip(arguments, parts, signature.domain):
        axes = set_axes(checker, of, inner)
        for axis, size, where in axes:
            if axis not in argument.shape:
                raise checker.error(
                    305,
                    f"{function.title}: argument {checker.text(part)} is missing axis {axis}",
                    part,
                    notes=(checker.describe_with_shape(part, argument.shape),),
                    labels=((where.span, "required by the signature here"),),
                    hint=_nearest_axis(axis, argument.shape, {name for name, _, _ in axes}, checker.text(part)),
                    symbol=function.operator,
                    axis=axis,
                )
            if size is not None:
                stated.append(StatedSize(size, argument.shape[axis], axis, part))
        needed = {axis for axis, _, _ in axes}
        lifted.append(rename_extra_axes(checker, function, argument, needed, part, node, inner))
    return tuple(lifted), stated


def _nearest_axis(axis: str, shape: Iterable[str], needed: AbstractSet[str], text: str) -> str:
    """Return a hint for an argument that lacks an axis. It names a similar axis if there is one."""
    have = sorted(source_name(name) for name in shape)
    others = [name for name in have if name not in needed]
    meant = near(axis, have, 1, 0.4) or (others if len(others) == 1 else [])
    if meant:
        operand = text if text.isidentifier() else f"[{text}]"
        return f"if {meant[0]} is meant, rename it: {operand}_{{{meant[0]}→{axis}}}"
    return f"add that axis: its axes are {', '.join(have)}" if have else "give a tensor that has it"


class StatedSize(NamedTuple):
    """A size in a signature or declaration, and the actual size of the axis in an argument."""

    expression: Node
    actual: Any
    axis: str
    part: Node


def solve_size(checker: Inference, stated: StatedSize, inner: Environment) -> bool:
    """Check a stated size against the actual size, or solve it for its only unknown name.

    Return False if it cannot be solved. Raise an error if the sizes differ.
    """
    size = stated.expression
    value = checker.solver.value(size, drop_caller(inner)) if not _is_free(size, inner) else None
    if value is None:
        return solve_name(checker, stated, inner)
    if not unify(value, stated.actual):
        raise size_differs(checker, stated, resolve(value))
    return True


def solve_name(checker: Inference, stated: StatedSize, inner: Environment) -> bool:
    """Solve a stated size, such as 2 n in seq[2 n], for its only unknown name. Return whether this is possible."""
    size = stated.expression
    if read_spelling(size) is not None:
        bind_size(size, stated.actual, inner)
        return True
    solved = checker.solver.solve_name(size, resolve(stated.actual), drop_caller(inner))
    if solved is None:
        return False
    name, value = solved
    number = value if isinstance(value, SizeVariable) else to_size(value)
    if number is None:
        raise size_differs(checker, stated, f"{name} would be {value}")
    inner.scalars[name] = number
    return True


def drop_caller(call: Environment) -> Environment:
    """Return the environment for names in a function's signature, in which the caller's names are hidden."""
    alone = replace(call, caller=None)
    return Environment(parent=alone, sizes_parent=alone)


def size_differs(checker: Inference, stated: StatedSize, value: Any) -> NotationError:
    """Return the error for an argument whose size differs from the stated size."""
    text, part = checker.text(stated.expression), checker.text(stated.part)
    says = f"{text}, and {value}" if isinstance(value, str) else f"{text} = {value}" if text else value
    return checker.error(
        308,
        f"axis {stated.axis} of {part} has size {resolve(stated.actual)}, but the signature says {says}",
        stated.part,
        labels=((stated.expression.span, "declared here"),),  # pyright: ignore[reportAttributeAccessIssue]
    )


def _is_free(size: Node, inner: Environment) -> bool:
    """Return whether a stated size is a single name that has no value in this call, so that the call can bind it."""
    return (
        isinstance(size, Name)
        and Key(size.text) not in inner.scalars
        and Key(size.text) not in inner.variables
        and size.text not in inner.indices
    )


def close_call(checker: Inference, function: FunctionDefinition, body: Term, node: Any, inner: Environment) -> Term:
    """Check the result of a call against the signature, add all extra axes, and restore the original axis names."""
    signature = function.signature
    assert signature is not None
    of = signature.codomain
    axes = set_axes(checker, of, inner)
    names = {axis for axis, _, _ in axes}
    have = {axis for axis in body.shape if "@" not in axis}
    if names != have:
        raise axes_differ(checker, body, function.body, names, of, "")
    for axis, size, where in axes:
        value = None if size is None else checker.solver.value(size, inner)
        if value is not None and not unify(value, body.shape[axis]):
            raise checker.error(
                308,
                f"axis {axis} of the result has size {resolve(body.shape[axis])}, but the signature of {function.title} says "
                f"{checker.text(where)} = {resolve(value)}",
                function.body,
                labels=((of.span, "declared here"),),
            )
    extras = inner.extras
    body = checker.spread(body, {axis: size for axis, (_, size, _) in extras.items()}, node)
    return checker.renamed(body, {axis: outside for axis, (outside, _, _) in extras.items()}, node)
