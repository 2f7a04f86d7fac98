"""Type calls of built-in functions, Python functions and functions of the program.

A function of the program takes precedence over a Python function with the same name. A Python function takes precedence
over a built-in function.
"""

from __future__ import annotations

from typing import Any

from grammar import nodes
from grammar.errors import SIZE_NEEDED, Hint, NotationError
from grammar.nodes import Call, Name, Node, axis_of
from grammar.traversal import walk

from ..core.axes import ShapeMismatchError
from ..core.sizes import SizeVariable, resolve
from ..core.suggestions import ELSEWHERE, did_you_mean, near
from ..operators import REGISTRY
from ..scope.names import Key
from ..scope.symbols import FunctionDefinition
from ..scope.updates import REPLACING
from ..scope.uses import NEARLY
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term
from .application import Axes, apply, option, scalar_term, takes_index
from .axis_sizes import axes_in_sight, axis_is_mentioned, unknown_axis_size, unknown_size
from .claims import nearly
from .declarations import set_axes
from .derived_functions import infixes, with_degrees_of_freedom
from .diagnostics import shape_error
from .element_updates import type_replacement
from .indexing import take
from .inferred_sizes import may_make
from .lifting import Bindings, inline_call
from .matching import matching
from .other_meanings import means_something
from .sums import implicit_sum, nest_call
from .unknown_names import explain_equation, visible


def call(checker: Inference, node: Call, env: Environment) -> Term:
    """Return the term of a call of an operator or function."""
    if node.operator in checker.scope.functions:
        for function, bindings in matching(checker, node, env):
            return call_defined(checker, function, bindings, node, env)
    if node.operator in checker.python:
        from .python_calls import call_python

        named = use_axes(checker, node, env) if checker.python[node.operator].formals else ()
        return call_python(checker, node, env, named)
    if node.operator == "size":
        return size_of(checker, node, env)
    if len(node.arguments) == 1 and node.subscript and not node.parameters and takes_index(node.operator):
        summed = implicit_sum(checker, node, env)
        if summed is not None:
            return summed
    if node.operator in NEARLY:
        return nearly(checker, node, env)
    if node.operator == REPLACING:
        return type_replacement(checker, node, env)
    if node.operator == "‖":
        return norm_of_all(checker, node, env)
    if node.operator not in REGISTRY:
        typed = type_by_signature(checker, node, env)
        if typed is not None:
            return typed
        raise unknown_operator(checker, node, env)
    if node.operator == "log" and [type(part) for part in node.subscript] == [nodes.Number]:
        return logarithm_to_base(checker, node, env)
    return call_builtin(checker, nest_call(node) if len(node.arguments) > 2 else node, env)


def norm_of_all(checker: Inference, node: Call, env: Environment) -> Term:
    """Return the term of ‖x‖ or ‖x‖_p, the norm over all axes of x that do not come from lifting."""
    (term,) = checker.infer_all(node.arguments, env)
    axes = tuple((axis, node) for axis in term.shape if "@" not in axis)
    for part in node.parameters:
        if isinstance(part, nodes.Name) and part.text in term.shape:
            raise checker.error(
                316, f"the subscript of ‖{checker.text(node.arguments[0])}‖ is p, but {part.text} is an axis", part,
                hint=f"for a norm over an axis write norm_{{{part.text}}} {checker.text(node.arguments[0])}",
            )  # fmt: skip
    if not axes:
        return apply(checker, "abs", (term,), (), node, env, node.arguments)
    options = tuple(("p", option(checker, part, env)) for part in node.parameters)
    return apply(checker, "norm", (term,), axes, node, env, node.arguments, options)


def logarithm_to_base(checker: Inference, node: Call, env: Environment) -> Term:
    """Return the term of a logarithm to a base, such as log_2 x."""
    base = checker.infer(node.subscript[0], env)
    (operand,) = checker.infer_all(node.arguments, env)
    both = [apply(checker, "log", (term,), (), node, env, node.arguments) for term in (operand, base)]
    term = apply(checker, "/", tuple(both), (), node, env, (node, node))
    return square_call(checker, term, node, env) if node.superscript else term


def unknown_operator(checker: Inference, node: Call, env: Environment) -> NotationError:
    name = node.operator
    if not name[0].isalpha():
        return checker.error(
            201, f"undefined operator {name}", node.operator_span,
            hint=ELSEWHERE.get(name) or f"define it: X {name} Y = …",
        )  # fmt: skip
    defined = [function.title for function in checker.scope.functions.get(name, [])]
    signed = any(signature.head.operator == name for _, signature in checker.scope.signatures)
    define = f"define it by an equation: {name}(t) = …"
    notes = [f"{name} is defined as {', '.join(defined)}"] if defined else []
    if not defined and not signed and means_something(checker, name, env):
        return checker.error(
            201, f"{name} is a tensor, not a function", node.operator_span,
            hint=f"for an index write {name}_{{ax(1)}}, for a product {name} ⊙ (…)",
        )  # fmt: skip
    return checker.error(
        201,
        f"no definition of {name} matches this use"
        if defined
        else f"{name} has a signature but no definition"
        if signed
        else f"undefined function {name}",
        node.operator_span,
        notes=notes,
        hint=explain_label(checker, node)
        if defined
        else explain_prime(checker, name)
        or explain_equation(checker, name)
        or ELSEWHERE.get(name)
        or did_you_mean(near(name, visible(checker, env)))
        or define,
    )


def explain_prime(checker: Inference, name: str) -> str | None:
    """Return a hint about derivatives for f'(x) if f is a function, or None otherwise."""
    plain, order = name.partition("'")[0], name.count("'")
    if not order or not (plain in checker.scope.functions or plain in REGISTRY):
        return None
    sign = {2: "²", 3: "³"}.get(order, "" if order == 1 else f"^{order}")
    return f"{name} is a name of its own; a derivative is ∂{sign}{plain}(t)/∂t{sign}|_{{t = x}}"


def type_by_signature(checker: Inference, node: Call, env: Environment) -> Term | None:
    """Type a call of a function that has a signature but no definition: return a tensor with the signature's axes.

    Return None if there is no such signature, or if the program must be evaluated.
    """
    if not checker.infer_parameters:
        return None
    heads = [signature for _, signature in checker.scope.signatures if signature.head.operator == node.operator]
    fits = [head for head in heads if len(head.domain) == len(node.arguments)]
    if not fits:
        return None
    terms = checker.infer_all(node.arguments, env)
    extras: dict[str, Any] = {}
    sizes: dict[str, Any] = {}
    for of, term, part in zip(fits[0].domain, terms, node.arguments):
        needed = {axis for axis, _, _ in set_axes(checker, of, env)}
        missing = sorted(needed - set(term.shape))
        if missing:
            raise checker.error(
                305, f"{node.operator}: argument {checker.text(part)} is missing axis {missing[0]}", part,
                notes=(checker.describe_with_shape(part, term.shape), f"its signature is {checker.text(fits[0])}"),
                symbol=node.operator, axis=missing[0],
            )  # fmt: skip
        extras |= {axis: size for axis, size in term.shape.items() if axis not in needed}
        sizes |= {axis: size for axis, size in term.shape.items() if axis in needed}
    known = {axis: sizes.get(axis) for axis, _, _ in set_axes(checker, fits[0].codomain, env)}
    shape = extras | {axis: unknown_size(checker, axis) if size is None else size for axis, size in known.items()}
    return checker.graph.intern("input", options=(f"{node.operator} {len(checker.graph)}",), shape=shape, node=node)


# ------------------------------------------------------------------------------------------------------- built-in
def call_builtin(checker: Inference, node: Call, env: Environment) -> Term:
    """Return the term of a built-in operator or function."""
    record = REGISTRY[node.operator]
    axes = use_axes(checker, node, env)
    arguments = checker.infer_all(node.arguments, env)
    options = tuple([option(checker, part, env) for part in node.parameters])
    if len(options) > len(record.options):
        expected = ", ".join(name for name, _ in record.options) or "nothing"
        if record.new_formals and len(axes) == 1:
            named = ", ".join((axes[0][0], *record.new_formals))
            size = f"|{record.new_formals[0]}| = {checker.text(node.parameters[0])}"
            hint = f"a number of elements is the size of an axis: {node.operator}_{{{named}}}, with {size}"
        else:
            hint = "remove the others" if record.options else "remove the semicolon and everything after it"
        raise checker.error(
            304, f"{node.operator} expects {expected} after the semicolon, got {len(options)} parameter{'s' * (len(options) > 1)}",
            node, hint=hint,
        )  # fmt: skip
    named = tuple([(name, value) for (name, _), value in zip(record.options, options)])
    if not named and node.operator == "standardize":
        return type_standardize(checker, node, arguments, axes, env)
    if named and node.operator in ("var", "std"):
        return with_degrees_of_freedom(checker, node, arguments, axes, env, named[0][1])
    if record.kind == "index" and len(axes) == 1 and len(arguments) == 2 and not named:
        return type_index_call(checker, node, axes[0], arguments, env)
    term = apply(checker, node.operator, arguments, axes, node, env, node.arguments, named)
    if node.superscript:
        return square_call(checker, term, node, env)
    return term


def type_standardize(checker: Inference, node: Call, arguments: tuple[Term, ...], axes: Axes, env: Environment) -> Term:
    """Return the term of standardize_{ax} X.

    If the program defines ε or receives it as an input, the operator uses this value.
    """
    small = checker.find(Key("ε"), env, node)
    options = (("eps", small.number),) if small is not None and small.number is not None else ()
    if small is None or options:
        return apply(checker, "standardize", arguments, axes, node, env, node.arguments, options)
    (x,) = arguments
    mean, var = (apply(checker, name, (x,), axes, node, env, node.arguments) for name in ("mean", "var"))
    infix = infixes(checker, node, env)
    return infix("/", infix("-", x, mean), infix("sqrt", infix("+", var, small)))


def type_index_call(
    checker: Inference, node: Call, axis: tuple[str, Node], arguments: tuple[Term, ...], env: Environment
) -> Term:
    """Return the term of index_{ax}(X, I), which is equal to X_{ax(I)} (paper §3.7)."""
    name, _ = axis
    tensor, at = arguments
    if name not in tensor.shape:
        problem = ShapeMismatchError("missing", name)
        raise shape_error(checker, problem, node.operator, (tensor.shape,), node.arguments[:1], node, (axis,))
    apart = checker.renamed(tensor, {name: f"{name}@index"}, node)
    return take(checker, apart, f"{name}@index", at, node.arguments[1], node)


def square_call(checker: Inference, term: Term, node: Call, env: Environment) -> Term:
    """Return the term of a call with a power on the function's name, such as (sin x)^2 for sin^2 x."""
    exponent = checker.infer(node.superscript[0], env)
    return apply(checker, "^", (term, exponent), (), node, env, (node, node.superscript[0]))


def use_axes(checker: Inference, node: Call, env: Environment) -> tuple[tuple[str, Node], ...]:
    """Return the axes in an operator's subscript, each with the node that names it."""
    result: list[tuple[str, Node]] = []
    for part in node.subscript:
        axis = axis_of(part)
        if axis is None:
            raise checker.error(
                301,
                f"{node.operator} needs axes, and {checker.text(part)} is not an axis",
                part,
                hint=list_axes(node.operator, part) or f"name an axis: {node.operator}_{{seq}}",
            )
        result += [(real, part) for real in env.resolve_axis(axis.name)]
    return tuple(result)


def explain_label(checker: Inference, node: Call) -> str | None:
    """Return a hint for a call F_{k}(x) if ax is a label in the definition F_{ax}(a) = …, or None for other calls.

    The name ax is a label if the body of the definition does not use ax as an axis.
    """
    for function in checker.scope.functions[node.operator]:
        labels = [text for kind, text in function.subscript if kind == "label"]
        if (
            len(labels) == len(function.subscript) == len(node.subscript) == 1
            and axis_of(node.subscript[0]) is not None
        ):
            title = f"{function.operator}_{{{labels[0]}}}"
            return f"{labels[0]} is a label of {function.operator}: call {title}(…)"
    return None


def list_axes(operator: str, label: Node) -> Hint | None:
    """Return a hint to separate axes by commas, as for softmax_{height width}, or None for any other label."""
    words = [node for node in walk(label) if not isinstance(node, Call) or node.operator != "juxtaposed"]
    names = [word.text for word in words if isinstance(word, Name)]
    if len(names) < 2 or len(set(names)) < len(words):
        return None
    axes = ", ".join(names)
    return Hint(f"separate axes by commas: {operator}_{{{axes}}}", axes)


def size_of(checker: Inference, node: Call, env: Environment) -> Term:
    """Return the term of size(ax), which is equal to |ax|."""
    axis = axis_of(node.arguments[0]) if len(node.arguments) == 1 else None
    if axis is None:
        raise checker.error(304, "size expects the name of one axis", node, hint="write size(seq) or |seq|")
    value = checker.solver.size(axis.name, env, node)
    if value is None:
        size = nodes.Size(axis, node.span)
        if not axis_is_mentioned(checker, axis.name) and find_quietly(checker, size, env) is not None:
            raise checker.error(
                204, f"size({axis.name}) is undefined: {axis.name} is a tensor, not an axis", node.arguments[0],
                hint=f"write the name of an axis, or abs({axis.name}) for the absolute value",
            )  # fmt: skip
        return open_size(checker, size, env)
    return scalar_term(checker, value, f"|{axis.name}|", node)


# --------------------------------------------------------------------------------------------------- the user's own


def call_defined(
    checker: Inference, function: FunctionDefinition, bindings: Bindings, node: Call, env: Environment
) -> Term:
    """Return the term of a call of a function that the program defines."""
    arguments = checker.infer_all((*node.arguments, *node.parameters), env)
    plain_count, expected = len(node.arguments), len(function.parameters)
    if plain_count > expected and not node.parameters:  # The call f(X, W, b) is valid for f(X; W, b).
        plain_count = expected
    ordinary, options = arguments[:plain_count], arguments[plain_count:]
    if len(ordinary) != expected or len(options) > len(function.options):
        takes = f"{expected} argument{'s' * (expected != 1)}"
        if function.options:
            takes += f" and {len(function.options)} after the semicolon"
        raise checker.error(
            304,
            f"{function.title} expects {takes}, got {len(node.arguments) + len(node.parameters)}",
            node,
            labels=((function.head.span, "defined here"),),
            hint=f"call it as {checker.text(function.head)}",
        )
    numbers: dict[str, Term] = {}
    for name, part in bindings["numbers"].items():
        numbers[name] = checker.infer(part, env)
    parts = (*node.arguments, *node.parameters)
    return inline_call(checker, function, bindings, numbers, ordinary, options, node, parts, env)


def size_rule(checker: Inference, node: nodes.Size, env: Environment) -> Term:
    """Return the term of |x|: the size of an axis x, or the absolute value of a tensor x."""
    name = node.axis.name
    value = checker.solver.size(name, env, node)
    tensor = find_quietly(checker, node, env)
    if value is not None and tensor is not None and tensor.operator != "number":
        raise checker.error(
            205,
            f"{name} is both an axis and a tensor",
            node,
            hint=f"write size({name}) for the size, or abs({name}) for the absolute value",
        )
    if value is not None:
        solved = resolve(value)
        return scalar_term(checker, solved, solved.text if isinstance(solved, SizeVariable) else name, node)
    if tensor is not None:
        return apply(checker, "abs", (tensor,), (), node, env, (node,))
    return open_size(checker, node, env)


def open_size(checker: Inference, node: nodes.Size, env: Environment) -> Term:
    """Return the term of an unknown size |ax| in a check without values.

    Raise an error if a value is needed, or if ax is not an axis.
    """
    name = node.axis.name
    axes = sorted(axes_in_sight(env))
    known = name in axes or axis_is_mentioned(checker, name)
    if checker.infer_parameters and (known or may_make(checker, name, env)):
        return scalar_term(checker, unknown_size(checker, name), f"|{name}|", node)
    if known:
        raise unknown_axis_size(checker, name, node)
    meant = near(name, axes)
    raise checker.error(
        204,
        f"|{name}| is undefined: no axis or tensor is called {name}",
        node.axis,
        notes=(f"axes here: {', '.join(axes)}",) if axes else (),
        hint=f"did you mean |{meant[0]}|?" if meant else f"pass the size: sizes={{{name!r}: 3}}",
        symbol=name, axis=name, reason=None if meant else SIZE_NEEDED,
    )  # fmt: skip


def find_quietly(checker: Inference, node: nodes.Size, env: Environment) -> Term | None:
    name = node.axis.name
    base, _, label = name.partition("_")
    try:
        return checker.find(Key(base, (label,) if label else ()), env, node)
    except NotationError:
        return None
