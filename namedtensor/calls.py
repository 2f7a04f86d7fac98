"""Calls: the user's functions, lifted by their signatures; the built-in ones; renames.

A function with a signature is lifted hygienically. The extra axes of each argument get names of their own (`seq@1`)
before the body is typed, so that no axis of the signature or of the body can meet them, and get their old names back
in the result. A definition without a signature is substitution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from grammar.nodes import Call, Name, Node, Number, Rename, Set, axis_of

from .advice import ELSEWHERE, did_you_mean, near
from .axes import AxisProblem
from .cases import unguarded
from .frames import Frame, fresh, plain
from .names import Key, component
from .operators import REGISTRY
from .scope import Claim, Function
from .sizes import agree, is_known, known
from .terms import Term

if TYPE_CHECKING:
    from .check import Checker


def call(checker: Checker, node: Call, frame: Frame) -> Term:
    """The term of an operator applied to its operands."""
    for function, bindings in matching(checker, node, frame):
        return call_defined(checker, function, bindings, node, frame)
    if node.operator in checker.python:
        return call_python(checker, node, frame)
    if node.operator == "size":
        return size_of(checker, node, frame)
    if node.operator in ("∑", "∏"):
        from . import sums

        summed = sums.implicit_sum(checker, node, frame)
        if summed is not None:
            return summed
    if node.operator not in REGISTRY:
        raise unknown_operator(checker, node, frame)
    return call_builtin(checker, node, frame)


def unknown_operator(checker: Checker, node: Call, frame: Frame):
    name = node.operator
    if not name[0].isalpha():
        return checker.error(
            201, f"the operator {name} is not defined", node.operator_span, hint=f"define it: X {name} Y = …"
        )
    defined = [function.title for function in checker.scope.functions.get(name, [])]
    signed = any(signature.head.operator == name for _, signature in checker.scope.signatures)
    define = f"define it by an equation: {name}(t) = …"
    notes = [f"{name} is defined as {', '.join(defined)}"] if defined else []
    return checker.error(
        201,
        f"no definition of {name} fits this use"
        if defined
        else f"{name} has a signature, and no definition"
        if signed
        else f"{name} is not known",
        node.operator_span,
        notes=notes,
        hint=None if defined else ELSEWHERE.get(name) or did_you_mean(near(name, checker.visible(frame))) or define,
    )


# ------------------------------------------------------------------------------------------------------- built-in
def call_builtin(checker: Checker, node: Call, frame: Frame) -> Term:
    record = REGISTRY[node.operator]
    axes = use_axes(checker, node, frame)
    arguments = checker.all_terms(node.arguments, frame)
    options = tuple(option(checker, part, frame) for part in node.parameters)
    if len(options) > len(record.options):
        wanted = ", ".join(name for name, _ in record.options) or "nothing"
        raise checker.error(
            304, f"{node.operator} takes {wanted} after the semicolon, and was given {len(options)} parameters", node,
            hint="leave the others out",
        )  # fmt: skip
    named = tuple((name, value) for (name, _), value in zip(record.options, options))
    if record.kind == "index" and len(axes) == 1 and len(arguments) == 2 and not named:
        return indexed_by(checker, node, axes[0], arguments, frame)
    term = checker.apply(node.operator, arguments, axes, node, frame, node.arguments, named)
    if node.superscript:
        return powered(checker, term, node, frame)
    return term


def indexed_by(checker: Checker, node: Call, axis: tuple[str, Node], arguments: tuple[Term, ...], frame: Frame) -> Term:
    """index_{ax}(X, I) is X_{ax(I)} (paper §3.7)."""
    from . import elements

    name, part = axis
    tensor, at = arguments
    if name not in tensor.shape:
        problem = AxisProblem("missing", name)
        raise checker.problem(problem, node.operator, (tensor,), node.arguments[:1], node, (axis,))
    apart = checker.renamed(tensor, {name: f"{name}@index"}, node)
    return elements.take(checker, apart, f"{name}@index", at, node.arguments[1], node)


def powered(checker: Checker, term: Term, node: Call, frame: Frame) -> Term:
    """sin^2 x: the square of the sine."""
    exponent = checker.term(node.superscript[0], frame)
    return checker.apply("^", (term, exponent), (), node, frame, (node, node.superscript[0]))


def option(checker: Checker, node: Node, frame: Frame) -> Any:
    value = checker.term(node, frame).number
    if value is None:
        raise checker.error(
            304, "a parameter after the semicolon is a plain number here, and no tensor", node, hint="write a number"
        )
    return value


def use_axes(checker: Checker, node: Call, frame: Frame) -> tuple[tuple[str, Node], ...]:
    """The axes that a use names, each with the node that names it."""
    found = []
    for part in node.subscript:
        axis = axis_of(part)
        if axis is None:
            raise checker.error(
                301,
                f"{node.operator} goes over axes, and {checker.text(part)} is none",
                part,
                hint=f"name an axis: {node.operator}_{{seq}}",
            )
        found += [(real, part) for real in frame.real_axes(axis.name)]
    return tuple(found)


def size_of(checker: Checker, node: Call, frame: Frame) -> Term:
    from grammar.nodes import Axis, Size

    axis = axis_of(node.arguments[0]) if len(node.arguments) == 1 else None
    if axis is None:
        raise checker.error(304, "size takes the name of one axis", node, hint="write size(seq) or |seq|")
    value = checker.solver.size(axis.name, frame, node)
    if value is None:
        return checker.term(Size(Axis(axis.name, axis.span), node.span), frame)
    return checker.scalar_term(value, f"|{axis.name}|", node)


def rename(checker: Checker, base: Term, node: Rename, frame: Frame) -> Term:
    """Renames, merges and splits of one subscript, all at once (paper §3.6)."""
    shape = base.shape
    old: set[str] = set()
    for before, _ in node.items:
        for axis in before:
            for real in frame.real_axes(axis.name):
                if real not in shape:
                    have = sorted(name for name in shape if "@" not in name)
                    raise checker.error(
                        301,
                        f"{checker.text(node.base)} has no axis {real} to rename",
                        axis,
                        notes=(checker.described(node.base, shape),),
                        hint=did_you_mean(near(real, have, 1)) or f"its axes are {', '.join(have) or 'none'}",
                    )
                if real in old:
                    raise checker.error(303, f"{real} is renamed twice", axis, hint="rename each axis once")
                old.add(real)
    kept = {axis for axis in shape if axis not in old}
    taken: dict[str, Any] = {}
    for _, after in node.items:
        for axis in after:
            for real in frame.real_axes(axis.name):
                if real in kept or real in taken:
                    why = "another axis has this name" if real in kept else "two axes would get this name"
                    raise checker.error(
                        312,
                        f"no axis can be renamed to {real}: {why}",
                        axis,
                        notes=(checker.described(node.base, shape),),
                        hint=f"choose another name, or rename the other {real} at the same time",
                    )
                taken[real] = axis
    simple: dict[str, str] = {}
    term = base
    for before, after in node.items:
        sources = [real for axis in before for real in frame.real_axes(axis.name)]
        targets = [real for axis in after for real in frame.real_axes(axis.name)]
        if len(sources) == len(targets):
            simple.update(zip(sources, targets))
    term = checker.renamed(term, {name: f"{new}@new" for name, new in simple.items()}, node)
    for before, after in node.items:
        sources = [real for axis in before for real in frame.real_axes(axis.name)]
        targets = [real for axis in after for real in frame.real_axes(axis.name)]
        if len(sources) != len(targets):
            make = merge if len(targets) == 1 else split
            term = make(checker, term, sources, targets, node, frame)
    back = {axis: axis.removesuffix("@new") for axis in term.shape if axis.endswith("@new")}
    return checker.renamed(term, back, node)


def merge(checker: Checker, term: Term, sources: list[str], targets: list[str], node: Rename, frame: Frame) -> Term:
    size: Any = 1
    for axis in sources:
        size = known(term.shape[axis]) if size == 1 else size * known(term.shape[axis])
    target = f"{targets[0]}@new"
    shape = {axis: extent for axis, extent in term.shape.items() if axis not in sources}
    shape[target] = size
    return checker.terms.make("merge", (term,), options=(tuple(sources), target), shape=shape, node=node)


def split(checker: Checker, term: Term, sources: list[str], targets: list[str], node: Rename, frame: Frame) -> Term:
    whole = known(term.shape[sources[0]])
    sizes: dict[str, Any] = {axis: checker.solver.size(axis, frame, node) for axis in targets}
    unknown = [axis for axis, size in sizes.items() if size is None or not is_known(size)]
    product = math.prod(known(size) for axis, size in sizes.items() if axis not in unknown)
    if len(unknown) > 1 or not is_known(whole):
        if not checker.demand:
            raise checker.error(
                309,
                f"the sizes of {' and '.join(unknown)} are not known, so {sources[0]} cannot be split",
                node,
                notes=(f"{sources[0]} is {whole}",),
                hint=f"give one of them by name: sizes={{{unknown[0]!r}: 2}}",
            )
        for axis in unknown:
            sizes[axis] = checker.unknown_size(axis)
    elif product == 0 or whole % product or (not unknown and product != whole):
        text = " × ".join(f"{axis}[{known(size)}]" for axis, size in sizes.items() if axis not in unknown)
        raise checker.error(
            313,
            f"{sources[0]} has the size {whole}, and cannot be split into {text}",
            node,
            notes=(checker.described(node.base, term.shape),),
            hint="give sizes whose product is that of the axis",
        )
    elif unknown:
        sizes[unknown[0]] = whole // product
    shape = {axis: extent for axis, extent in term.shape.items() if axis not in sources}
    shape |= {f"{axis}@new": known(size) for axis, size in sizes.items()}
    parts = tuple((f"{axis}@new", known(size)) for axis, size in sizes.items())
    return checker.terms.make("split", (term,), options=(sources[0], parts), shape=shape, node=node)


# --------------------------------------------------------------------------------------------------- the user's own
Bindings = dict[str, dict[str, Any]]


def matching(checker: Checker, node: Call, frame: Frame) -> Iterator[tuple[Function, Bindings]]:
    """The function definitions that a use can mean, the one spelled exactly so first."""
    group = checker.scope.functions.get(node.operator, [])
    found = []
    for function in group:
        bindings = match(checker, function, node, frame)
        if bindings is not None:
            exact = function.head.subscript == node.subscript and function.head.superscript == node.superscript
            found.append((not exact, function, bindings))
    for _, function, bindings in sorted(found, key=lambda entry: entry[0]):
        yield function, bindings


def match(checker: Checker, function: Function, node: Call, frame: Frame) -> Bindings | None:
    """What the head's axis parameters, numbers and indices are in this use; None where the head does not fit."""
    bindings: Bindings = {"axes": {}, "numbers": {}, "indices": {}}
    heads, uses = function.subscript, node.subscript
    if len(heads) == 1 and heads[0][0] == "axis" and uses:
        names = []
        for part in uses:
            axis = axis_of(part)
            if axis is None:
                return None
            names += frame.real_axes(axis.name)
        bindings["axes"][heads[0][1]] = tuple(names)
    elif len(heads) != len(uses):
        return None
    else:
        for (kind, text), part in zip(heads, uses):
            axis = axis_of(part)
            if kind == "axis":
                if axis is None:
                    return None
                bindings["axes"][text] = frame.real_axes(axis.name)
            elif kind == "number":
                bindings["numbers"][text] = part
            elif component(part, frame.index) != text and component(part) != text:
                return None
    if len(function.superscript) != len(node.superscript):
        return None
    for (kind, text), part in zip(function.superscript, node.superscript):
        use = component(part, frame.index)
        if kind == "index":
            if bindings["indices"].setdefault(text, use) != use:
                return None
        elif use != text:
            return None
    return bindings


def call_defined(checker: Checker, function: Function, bindings: Bindings, node: Call, frame: Frame) -> Term:
    arguments = checker.all_terms((*node.arguments, *node.parameters), frame)
    plain_count, wanted = len(node.arguments), len(function.parameters)
    if plain_count > wanted and not node.parameters:  # f(X, W, b) for f(X; W, b)
        plain_count = wanted
    ordinary, options = arguments[:plain_count], arguments[plain_count:]
    if len(ordinary) != wanted or len(options) > len(function.options):
        takes = f"{wanted} argument{'s' * (wanted != 1)}"
        if function.options:
            takes += f" and {len(function.options)} after the semicolon"
        raise checker.error(
            304,
            f"{function.title} takes {takes}, and was given {len(node.arguments) + len(node.parameters)}",
            node,
            labels=((function.head.span, "defined here"),),
            hint=f"write it as {checker.text(function.head)}",
        )
    numbers = {}
    for name, part in bindings["numbers"].items():
        numbers[name] = checker.term(part, frame)
    parts = (*node.arguments, *node.parameters)
    return enter(checker, function, bindings, numbers, ordinary, options, node, parts, frame)


def enter(
    checker: Checker,
    function: Function,
    bindings: Bindings,
    numbers: dict[str, Term],
    arguments: tuple[Term, ...],
    options: tuple[Term, ...],
    node: Any,
    parts,
    caller: Frame,
    depth: int | None = None,
) -> Term:
    """Type a function's body for these arguments."""
    checker.calls += 1
    steps = getattr(checker.limits, "steps", 10**6)
    if checker.calls > steps:
        raise checker.error(
            404, f"this formula calls functions more than {steps} times", node, hint="raise limits.steps"
        )
    marker = (
        id(function),
        tuple(sorted(bindings["indices"].items())),
        tuple((name, id(term)) for name, term in sorted(numbers.items())),
    )
    if marker in caller.active:
        raise checker.error(
            203,
            f"{function.title} needs itself",
            node,
            notes=(f"its body is {checker.text(function.body)}",),
            hint="a recurrence needs an index that goes down: f^l in terms of f^{l-1}",
        )
    if len(caller.active) > getattr(checker.limits, "nesting", 200):
        raise checker.error(404, "calls nest too deep", node, hint="raise limits.nesting")
    signed = function.signature is not None
    inner = Frame(
        parent=checker.top,
        sizes_parent=None if signed else caller,
        caller=caller,
        function=function,
        depth=(caller.depth + 1 if signed else caller.depth) if depth is None else depth,
        axes=dict(bindings["axes"]),
        indices=dict(bindings["indices"]),
        active=caller.active | {marker},
    )
    for name, term in numbers.items():
        inner.variables[Key(name)] = term
    if signed:
        arguments = lift_arguments(checker, function, arguments, node, parts, inner)
    for name, term, part in zip(function.parameters, arguments, parts):
        bind_argument(checker, function, name.key(), term, part, inner)
    for position, name in enumerate(function.options):
        bind_option(checker, function, position, name.key(), options, parts, len(arguments), inner, caller)
    with unguarded(checker):
        body = checker.term(function.body, inner)
    result = finish(checker, function, body, node, inner) if signed else body
    for of in function.statement.sets:
        checker.check_member(result, of, inner, function.body)
    note_claims(checker, function, inner)
    return result


def note_claims(checker: Checker, function: Function, inner: Frame) -> None:
    for other in function.claims:
        checker.pending_claims.append((Claim(function.body, other, function.statement.span), inner))
    for claim in function.local_claims:
        checker.pending_claims.append((claim, inner))


def bind_argument(checker: Checker, function: Function, key: Key, term: Term, part: Node, inner: Frame) -> None:
    declared = function.declarations.get(key)
    if declared is not None:
        term = check_declared(checker, key, declared, term, part, inner)
    inner.variables[key] = term
    inner.note_sizes(str(key), {axis: size for axis, size in term.shape.items() if "@" not in axis})


def bind_option(checker, function, position, key, options, parts, ordinary, inner, caller) -> None:
    """A parameter after the semicolon: by position, or the input or declared tensor of that name."""
    if position < len(options):
        bind_argument(checker, function, key, options[position], parts[ordinary + position], inner)
        return
    declared = function.declarations.get(key)
    place = function.head.parameters[position]
    found = checker.find(key, checker.top, place) if key in checker.top.variables or declared is None else None
    if found is None and declared is not None:
        if not checker.demand:
            raise checker.error(
                206,
                f"{key} is a parameter of {function.title}, and no value was given for it",
                place,
                hint=f"give it by position after the semicolon, or by name: values={{{str(key)!r}: …}}",
            )
        found = checker.demand_declared(key, declared, inner)
    if found is None:
        raise checker.unknown(key, place, caller)
    if declared is not None:  # an input of the program: its further axes are lifted with those of all inputs
        bound = {axis for axis, _, _ in checker.set_axes(declared, inner)}
        found = checker.renamed(found, {axis: fresh(axis, 0) for axis in found.shape if axis not in bound}, place)
    bind_argument(checker, function, key, found, place, inner)


def check_declared(checker: Checker, key: Key, declared: Set, term: Term, part: Node, inner: Frame) -> Term:
    """An argument that has a declaration of its own: it has the declared axes; any others are lifted."""
    axes = checker.set_axes(declared, inner)
    for axis, size, where in axes:
        if axis not in term.shape:
            raise checker.error(
                317,
                f"{key} lacks the axis {axis} of its declaration",
                part,
                notes=(checker.described(part, term.shape),),
                labels=((where.span, "declared here"),),
            )
        value = None if size is None else checker.solver.value(size, inner)
        if value is not None and not agree(value, term.shape[axis]):
            raise checker.error(
                308,
                f"{axis} of {key} is {known(term.shape[axis])}, and its declaration says {known(value)}",
                part,
                labels=((where.span, "declared here"),),
            )
        if size is not None and value is None:
            checker.learn(size, term.shape[axis], inner)
    if inner.function is None or inner.function.signature is None:
        return term
    return lift_parameter(checker, inner.function, term, {axis for axis, _, _ in axes}, part, inner)


def lift_parameter(checker: Checker, function: Function, term: Term, bound: set[str], part: Node, inner: Frame) -> Term:
    """A parameter after the semicolon with its extra axes renamed apart: it is an argument like the others."""
    signature = function.signature
    assert signature is not None
    given = {axis for axis, _, _ in checker.set_axes(signature.codomain, inner)}
    extras = inner.memo.setdefault("extras", {})
    names = {}
    for axis, size in term.shape.items():
        if axis in bound:
            continue
        if axis in given:
            raise lifting_clash(checker, function, axis, term, part, part)
        lifted = fresh(axis, inner.depth)
        if lifted in extras and not agree(extras[lifted][1], size):
            raise checker.error(
                302,
                f"the further axis {plain(axis)} is {known(extras[lifted][1])} in an argument and {known(size)} in "
                f"{checker.text(part)}",
                part,
                notes=(checker.described(part, term.shape),),
                hint="rename one of them",
            )
        extras[lifted] = (axis, size)
        names[axis] = lifted
    return checker.renamed(term, names, part)


def lifting_clash(checker: Checker, function: Function, axis: str, argument: Term, part: Node, node: Any):
    return checker.error(
        306,
        f"{function.title} gives the axis {axis}, which its argument {checker.text(part)} has besides",
        node,
        notes=(checker.described(part, argument.shape), f"signature: {checker.text(function.signature)}"),
        hint=f"rename the further axis of {checker.text(part)}: X_{{{axis}→{axis}'}}",
    )


# ---------------------------------------------------------------------------------------------------------- lifting
def lift_arguments(checker: Checker, function: Function, arguments, node, parts, inner: Frame) -> tuple[Term, ...]:
    """The arguments with their extra axes renamed apart; raises where an argument lacks an axis, or lifting clashes."""
    signature = function.signature
    assert signature is not None
    if len(signature.domain) != len(arguments):
        raise checker.error(
            304,
            f"the signature of {function.title} has {len(signature.domain)} arguments, and its head {len(arguments)}",
            signature,
            labels=((function.head.span, "the head"),),
        )
    given = {axis for axis, _, _ in checker.set_axes(signature.codomain, inner)}
    extras: dict[str, tuple[Any, Node]] = {}
    lifted = []
    for argument, part, of in zip(arguments, parts, signature.domain):
        axes = checker.set_axes(of, inner)
        needed = {axis for axis, _, _ in axes}
        for axis, size, where in axes:
            if axis not in argument.shape:
                raise checker.error(
                    305,
                    f"{function.title} needs the axis {axis} of its argument {checker.text(part)}",
                    part,
                    notes=(checker.described(part, argument.shape),),
                    labels=((where.span, "the signature asks for it here"),),
                    hint=_nearest_axis(axis, argument.shape),
                )
            if size is not None:
                solve_size(checker, size, argument.shape[axis], axis, part, inner)
        names = {}
        for axis, size in argument.shape.items():
            if axis in needed:
                continue
            if axis in given:
                raise lifting_clash(checker, function, axis, argument, part, node)
            other = extras.get(axis)
            if other is not None and not agree(other[0], size):
                raise checker.error(
                    302,
                    f"the further axis {plain(axis)} is {known(other[0])} in {checker.text(other[1])} and "
                    f"{known(size)} in {checker.text(part)}",
                    node,
                    notes=(
                        checker.described(part, argument.shape),
                        "extra axes of one name are mapped over together, so they are one axis",
                    ),
                    hint="rename one of them",
                )
            extras[axis] = (size, part)
            names[axis] = fresh(axis, inner.depth)
        lifted.append(checker.renamed(argument, names, part))
    inner.memo["extras"] = {fresh(axis, inner.depth): (axis, size) for axis, (size, _) in extras.items()}
    return tuple(lifted)


def _nearest_axis(axis: str, shape) -> str | None:
    have = sorted(plain(name) for name in shape)
    meant = near(axis, have, 1, 0.4)
    if meant:
        return f"if {meant[0]} is meant, rename it: X_{{{meant[0]}→{axis}}}"
    return f"give it that axis: its axes are {', '.join(have)}" if have else "give a tensor that has it"


def solve_size(checker: Checker, size: Node, actual: Any, axis: str, part: Node, inner: Frame) -> None:
    """n of `seq[n]` becomes the size of this call's seq; a size that is known already must be the same."""
    value = checker.solver.value(size, Frame(parent=inner, sizes_parent=inner)) if not _is_free(size, inner) else None
    if value is None:
        checker.learn(size, actual, inner)
    elif not agree(value, actual):
        raise checker.error(
            308,
            f"{axis} of {checker.text(part)} is {known(actual)}, and the signature says {checker.text(size)} = {known(value)}",
            part,
            labels=((size.span, "stated here"),),
        )


def _is_free(size: Node, inner: Frame) -> bool:
    """A bare name that this call has not met yet: it is bound here, whatever it means outside."""
    return (
        isinstance(size, Name)
        and Key(size.text) not in inner.scalars
        and Key(size.text) not in inner.variables
        and size.text not in inner.indices
    )


def finish(checker: Checker, function: Function, body: Term, node: Any, inner: Frame) -> Term:
    """Check the body against the signature's result, give it every extra axis, and name those as outside."""
    signature = function.signature
    assert signature is not None
    of = signature.codomain
    axes = checker.set_axes(of, inner)
    names = {axis for axis, _, _ in axes}
    have = {axis for axis in body.shape if "@" not in axis}
    if names != have:
        raise checker.axes_differ(body, function.body, names, of, "")
    for axis, size, where in axes:
        value = None if size is None else checker.solver.value(size, inner)
        if value is not None and not agree(value, body.shape[axis]):
            raise checker.error(
                308,
                f"{axis} of the result is {known(body.shape[axis])}, and the signature of {function.title} says "
                f"{checker.text(where)} = {known(value)}",
                function.body,
                labels=((of.span, "stated here"),),
            )
    extras = inner.memo.get("extras", {})
    missing = tuple((axis, size) for axis, (_, size) in extras.items() if axis not in body.shape)
    if missing:
        shape = {**body.shape, **dict(missing)}
        body = checker.terms.make("spread", (body,), options=missing, shape=shape, boolean=body.boolean, node=node)
    return checker.renamed(body, {axis: outside for axis, (outside, _) in extras.items()}, node)


def call_python(checker: Checker, node: Call, frame: Frame) -> Term:
    """A Python function that was registered with its signature."""
    registered = checker.python[node.operator]
    arguments = checker.all_terms(node.arguments, frame)
    signature = registered.signature
    if len(arguments) != len(signature.domain):
        raise checker.error(
            304, f"{node.operator} takes {len(signature.domain)} arguments, and was given {len(arguments)}", node,
            notes=(f"its signature is {registered.text}",),
        )  # fmt: skip
    needed = [{axis.name for axis, _ in of.axes} for of in signature.domain]
    given = {axis.name: size for axis, size in signature.codomain.axes}
    extras: dict[str, Any] = {}
    sizes: dict[str, Any] = {}
    renamed = []
    for argument, names, part in zip(arguments, needed, node.arguments):
        for axis in names:
            if axis not in argument.shape:
                raise checker.error(
                    305, f"{node.operator} needs the axis {axis} of its argument {checker.text(part)}", part,
                    notes=(checker.described(part, argument.shape), f"its signature is {registered.text}"),
                )  # fmt: skip
            sizes[axis] = argument.shape[axis]
        apart = {}
        for axis, size in argument.shape.items():
            if axis in names:
                continue
            if axis in given or (axis in extras and not agree(extras[axis], size)):
                raise checker.problem(
                    AxisProblem("clash" if axis in given else "sizes", axis, 0, (extras.get(axis), size)),
                    node.operator, arguments, node.arguments, node, (),
                )  # fmt: skip
            extras[axis] = size
            apart[axis] = f"{plain(axis)}@python"
        renamed.append(checker.renamed(argument, apart, part))
    shape = {f"{plain(axis)}@python": size for axis, size in extras.items()}
    for axis in given:
        size = sizes.get(axis)
        shape[axis] = size if size is not None else checker.solver.size(axis, frame, node) or checker.unknown_size(axis)
    term = checker.terms.make("python", tuple(renamed), options=(registered,), shape=shape, node=node)
    return checker.renamed(term, {f"{plain(axis)}@python": axis for axis in extras}, node)


# -------------------------------------------------------------------------------------------------- plain numbers
def _quotient(left, right):
    if isinstance(left, int) and isinstance(right, int) and left % right == 0:
        return left // right
    return left / right


def _power(base, exponent):
    if isinstance(base, int) and isinstance(exponent, int):
        if exponent >= 0 and abs(base) > 1 and exponent * max(1, abs(base).bit_length()) > 1024:
            return float(base) ** exponent
        return base**exponent if exponent >= 0 else float(base) ** exponent
    return float(base) ** exponent


FOLDED: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "⊙": lambda a, b: a * b,
    "juxtaposed": lambda a, b: a * b,
    "/": _quotient,
    "^": _power,
    "negative": lambda a: -a,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "sin": math.sin,
    "cos": math.cos,
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "max": max,
    "min": min,
    "=": lambda a, b: a == b,
    "≠": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "≤": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    "≥": lambda a, b: a >= b,
    "∧": lambda a, b: a and b,
    "∨": lambda a, b: a or b,
    "¬": lambda a: not a,
    "odd": lambda a: a % 2 == 1,
    "even": lambda a: a % 2 == 0,
}


def fold(name: str, numbers: list, options) -> Any:
    """The value of an operator on plain numbers, or None where that is left to the arrays."""
    if name not in FOLDED or options or any(number is None for number in numbers):
        return None
    try:
        value = FOLDED[name](*numbers)
    except (ArithmeticError, ValueError):
        return None
    if isinstance(value, complex):
        return None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
        value = float(value) if abs(value) < 10**308 else math.copysign(math.inf, value)
    return value


__all__ = ["call", "call_defined", "enter", "fold", "matching", "rename", "Number"]
