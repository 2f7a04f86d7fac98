"""Type sums and products over an index, such as ∑_i A_{height(i)}, ∑_{i=1}^{n} … and ∏_i …

The index becomes a tensor along a separate axis, and the sum reduces this axis. If the bounds depend on the element, a
mask removes the summands outside them. If the index is a label, as in ∑_{i=1}^{2} W^i, the sum is expanded into its
summands.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import reduce
from typing import Any

from grammar.nodes import Axis, Call, Index, IndexSum, Name, Node, Over
from grammar.traversal import children

from ..core.extents import (
    Extent,
    Size,
    SizeSymbol,
    UndecidedSizeError,
    extent,
    is_size,
    proves_at_most,
    symbols_of,
    typical,
)
from ..core.size_conditions import counting, is_assuming
from ..core.sizes import is_ground, resolve, unify
from ..operators.along_axes import NAN_FIRST
from ..scope.names import Key, read_spelling, walk
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term
from .application import apply, takes_index
from .cases import depends_on_elements, make_case_term, open_guards
from .counting import find_labeled_names
from .declarations import end_needed, unknown_in
from .diagnostics import no_such_axis
from .indexing import find_indexed_axis, iota, take
from .stacked_families import StackedIndex, lift_term

NEUTRAL = {"∑": 0, "∏": 1, "max": -math.inf, "min": math.inf, "argmax": -math.inf, "argmin": math.inf}
BEST = ("argmax", "argmin")  # Their value is the variable's value.
NESTING = ("∑", "∏", "max", "min", "mean", "any", "all", "logsumexp")  # Reductions over several indices nest.
JOINED = {"∑": "+", "∏": "⊙", "max": "max", "min": "min"}


def index_sum(checker: Inference, node: IndexSum, env: Environment) -> Term:
    """Return the term of a reduction over an index, such as ∑_{i=1}^{n} body."""
    if node.operator not in NEUTRAL:
        raise checker.error(
            301, f"{node.operator} needs an axis, or an index of its operand: {node.operator}_i X_{{ax(i)}}", node,
            hint="only ∑, ∏, max, min, argmax and argmin can range from a number to a number",
        )  # fmt: skip
    first, last = (checker.solver.value(part, env) for part in (node.first, node.last))
    open_ends = [end for end in (first, last) if type(end) is Extent] if is_size(first) and is_size(last) else []
    if open_ends and node.operator in JOINED and is_label(checker, node.variable.text, node.body, env):
        if not (checker.infer_parameters and is_assuming()):
            raise UndecidedSizeError(open_ends[0])
        return any_term(checker, node, (first, last), env)
    if not isinstance(first, int) or not isinstance(last, int):
        return type_bounded_sum(checker, node, env)
    check_length(checker, node, last - first + 1)
    if last < first:
        return type_empty_sum(checker, node)
    if node.operator not in BEST and is_label(checker, node.variable.text, node.body, env):
        return members_summed(checker, node, first, last, env) or write_out_sum(
            checker, node, range(first, last + 1), env
        )
    return type_sum(checker, node.operator, node.variable, first, last - first + 1, node.body, node, env)


def type_empty_sum(checker: Inference, node: IndexSum) -> Term:
    if node.operator in BEST:
        raise checker.error(
            405, f"{node.operator} over an empty range is undefined", node, hint="make the range non-empty"
        )
    return checker.graph.number(NEUTRAL[node.operator], node)


def check_length(checker: Inference, node: Node, count: int) -> None:
    if typical(count) > checker.limits.max_steps:
        raise checker.error(
            404, f"the sum has {count} terms, which exceeds the limit", node, hint="raise limits.max_steps"
        )


def type_sum(
    checker: Inference, operator: str, variable: Name, first: int, size: Any, body: Node, node: Any, env: Environment
) -> Term:
    """Return the term of a reduction over an index with `size` values, starting from `first`."""
    axis, inner = make_index_environment(checker, variable, first, size, env)
    members = inner.variables[Key(variable.text)]
    return apply_over_index(
        checker, operator, axis, size, checker.infer(body, inner), variable, body, node, env, members
    )


def make_index_environment(
    checker: Inference, variable: Name, first: int, size: Any, env: Environment
) -> tuple[str, Environment]:

    depth = env.depth + 1
    axis = f"{variable.text}@{depth}"
    inner = env.within(depth=depth)
    inner.variables[Key(variable.text)] = iota(checker, axis, first, size, variable)
    inner.members[variable.text] = StackedIndex(axis, first, size)
    return axis, inner


def apply_over_index(
    checker: Inference, operator: str, axis: str, size: Any, term: Term, variable: Name, body: Node, node: Any,
    env: Environment,    members: Term | None = None,
) -> Term:  # fmt: skip
    """Apply an operator along the axis of an index. For argmax and argmin, return the best of the `members`."""
    term = checker.spread(term, {axis: size}, node)
    if operator in BEST and members is not None:
        return best(checker, operator, axis, term, members, variable, body, node, env)
    return apply(checker, operator, (term,), ((axis, variable),), node, env, (body,))


def best(
    checker: Inference,
    operator: str,
    axis: str,
    term: Term,
    members: Term,
    variable: Name,
    body: Node,
    node: Any,
    env: Environment,
) -> Term:
    """Return the first member with the largest or smallest value. As in max and min, nan is the best value."""
    if operator == "argmax":
        term = apply(checker, "negative", (term,), (), node, env, (body,))
    order = apply(checker, "argsort", (term,), ((axis, variable),), node, env, (body,), NAN_FIRST)
    shape = {name: extent for name, extent in order.shape.items() if name != axis}
    pick = checker.graph.intern("pick", (order,), options=(axis, 0), shape=shape, node=node)
    return take(checker, members, axis, pick, node, node)


# ------------------------------------------------------------------------------------- bounds that differ by element
def type_bounded_sum(checker: Inference, node: IndexSum, env: Environment) -> Term:
    """Return the term of a sum whose bounds depend on an element's index i, such as ∑_{j=1}^{i}.

    The sum is over the largest range. A mask removes summands outside an element's bounds.
    """
    for part in (node.first, node.last):
        if unknown_in(checker, part, env) is not None:
            raise end_needed(checker, part, "the sum", env)
    first, last = checker.infer_all((node.first, node.last), env)
    low, high = whole_range(checker, first, node.first, env)[0], whole_range(checker, last, node.last, env)[1]
    check_length(checker, node, high - low + 1)
    if proves_at_most(high + 1, low):
        return type_empty_sum(checker, node)
    axis, inner = make_index_environment(checker, node.variable, low, high - low + 1, env)
    index = inner.variables[Key(node.variable.text)]
    conditions = tuple(
        apply(checker, sign, (index, bound), (), node, env, (node.variable, node))
        for sign, bound in (("≥", first), ("≤", last))
    )
    within = apply(checker, "∧", conditions, (), node, env, (node, node))
    with open_guards(checker, [*checker.guards, *filter(depends_on_elements, [within])]):
        term = checker.infer(node.body, inner)
    neutral = checker.graph.number(NEUTRAL[node.operator])
    part = make_case_term(checker, [term, within, neutral], [node.body, node, node], [], node.body)
    return apply_over_index(
        checker, node.operator, axis, high - low + 1, part, node.variable, node.body, node, env, index
    )


def whole_range(checker: Inference, term: Term, part: Node, env: Environment) -> tuple[int, int]:
    bounds = bounds_of(term)
    if bounds is None:
        raise end_needed(checker, part, "the sum", env)
    return bounds


def bounds_of(term: Term) -> tuple[int, int] | None:
    """Return the smallest and largest value of a term that contains only indices and integers, or None otherwise."""
    if term.number is not None:
        value = term.number
        return (value, value) if isinstance(value, (int, Extent)) and not isinstance(value, bool) else None  # pyright: ignore
    if term.operator == "iota":
        first, size = term.options[0], resolve(term.shape[term.axes[0]])
        return (first, first + size - 1) if is_ground(size) else None
    match term.operator, [bounds_of(argument) for argument in term.arguments]:
        case "rename", [inner]:
            return inner
        case "negative", [(low, high)]:
            return -high, -low
        case "+", [(low, high), (other_low, other_high)]:
            return low + other_low, high + other_high
        case "-", [(low, high), (other_low, other_high)]:
            return low - other_high, high - other_low
        case "⊙", [(low, high), (other_low, other_high)]:
            corners = [low * other_low, low * other_high, high * other_low, high * other_high]
            return min(corners), max(corners)
        case _:
            return None


# ------------------------------------------------------------------------------------------------- an index as a label
def is_label(checker: Inference, variable: str, body: Node, env: Environment) -> bool:
    """Return whether the index is a label of a name, such as i in W^i if W^1 and W^2 are inputs."""
    names, families = find_labeled_names(checker, env)
    labeled = names | families
    labeled |= {f.operator for f in checker.scope.all_functions() if f.superscript or f.subscript}
    for node in walk(body):
        if isinstance(node, Call):
            labels = (*node.superscript, *node.subscript)
            base: str | None = node.operator
        else:
            name = read_spelling(node) if not isinstance(node, Axis) else None
            labels = () if name is None else (*name.superscript, *name.subscript)
            base = None if name is None else name.base
        if base in labeled and any(variable == word for label in labels for word in _words(label)):
            return True
    return False


def _words(label: Node) -> Iterator[str]:
    return (node.text for node in walk(label) if isinstance(node, Name))


def members_summed(checker: Inference, node: IndexSum, first: int, last: int, env: Environment) -> Term | None:
    """Return the term of a sum such as ∑_{t=1}^{n}, with the members stacked along an axis.

    Return None if the sum is short, or if the index is also a label.
    """
    size, variable = last - first + 1, node.variable

    def typed() -> Term:
        return type_sum(checker, node.operator, variable, first, size, node.body, node, env)

    return lift_term(checker, variable.text, size, node.body, env, typed)


def any_term(checker: Inference, node: IndexSum, ends: tuple[Size, Size], env: Environment) -> Term:
    """Return a term with the type of each summand. A sum with an unknown number of summands has the same type."""
    counter = SizeSymbol(node.variable.text, "")
    environment = env.within(indices={counter.name: extent(counter)})
    with counting({counter: ends}):
        term = checker.infer(node.body, environment)
    sizes = [resolve(size) for size in term.shape.values()]
    if counter in symbols_of(sizes):
        raise end_needed(checker, node.last, "the sum", env)
    return term


def write_out_sum(checker: Inference, node: IndexSum | Over, labels: Iterable[int | str], env: Environment) -> Term:
    """Return the term of a reduction as a sequence of operations, with one operand per value of the index."""
    terms: list[Term] = []
    for label in labels:
        checker.spend(node)
        terms.append(checker.infer(node.body, env.within(indices={node.variable.text: label})))

    def join(total: Term, term: Term) -> Term:
        return apply(checker, JOINED[node.operator], (total, term), (), node, env, (node.body, node.body))

    return reduce(join, terms)


# ---------------------------------------------------------------------------------------------------- ∑_i without bounds
def implicit_sum(checker: Inference, node: Call, env: Environment) -> Term | None:
    """Return the term of a sum over an index without bounds, such as ∑_i A_{height(i)}.

    Return None if the body has no index with this name.
    """
    if len(node.subscript) > 1:
        return several_sums(checker, node, env)
    variable = node.subscript[0] if node.subscript else None
    if not isinstance(variable, Name) or not can_be_index(variable, env):
        return None
    result: list[tuple[Any, Index, Axis]] = []
    for use in uses(variable.text, node.arguments[0]):
        for axis, part in use.items:
            if isinstance(part, Name) and part.text == variable.text:
                result.append((find_indexed_size(checker, use, axis, env), use, axis))
    if not result:
        return None
    size, first, axis = result[0]
    for other, use, second in result[1:]:
        if not unify(size, other):
            raise checker.error(
                302,
                f"{variable.text} would range over axis {axis.name} of size {resolve(size)} and axis {second.name} "
                f"of size {resolve(other)}",
                node,
                notes=(checker.text(first), checker.text(use)),
                hint=f"write its range: {node.operator}_{{{variable.text}=1}}^{{{resolve(size)}}}",
            )
    return type_sum(checker, node.operator, variable, 1, size, node.arguments[0], node, env)


def can_be_index(variable: Name, env: Environment) -> bool:
    bound = env.variables.get(Key(variable.text))
    return (bound is None or bound.operator == "iota") and variable.text not in env.axes


def several_sums(checker: Inference, node: Call, env: Environment) -> Term | None:
    """Return the term of a sum over several indices, such as ∑_{i,j}, as nested sums.

    Return None if no name is an index. If one of the names is an axis, sum over the axis first.
    """
    (body,) = node.arguments
    indices = [part for part in node.subscript if isinstance(part, Name) and can_be_index(part, env)]
    indices = [part for part in indices if any(has_index(use, part) for use in uses(part.text, body))]
    if not indices:
        return None
    if node.operator not in NESTING:
        raise checker.error(
            301, f"{node.operator} takes one index at a time", node,
            hint=f"name the axes instead: {node.operator}_{{ax, bx}} X; ∑, ∏, max, min and mean take several indices",
        )  # fmt: skip
    axes = tuple(part for part in node.subscript if part not in indices)
    whole = replace(node, subscript=axes) if axes else body
    for variable in reversed(indices):
        whole = replace(node, subscript=(variable,), arguments=(whole,))
    return checker.infer(whole, env)


def has_index(index: Index, variable: Name) -> bool:
    return any(isinstance(part, Name) and part.text == variable.text for _, part in index.items)


def uses(variable: str, body: Node) -> Iterator[Index]:
    """Yield the indexed tensors in a body, except inside inner sums over the same variable."""
    stack: list[Any] = [body]
    while stack:
        node = stack.pop()
        if isinstance(node, IndexSum) and node.variable.text == variable:
            stack += [node.first, node.last]
            continue
        if isinstance(node, Call) and node.subscript == (Name(variable),) and takes_index(node.operator):
            continue
        if isinstance(node, Index):
            yield node
        stack += reversed(children(node))


def nest_call(node: Call) -> Call:
    """Rewrite max(x, y, z) as max(max(x, y), z). Return any other call unchanged."""
    if JOINED.get(node.operator) != node.operator or node.subscript:
        return node
    text = replace(node, superscript=(), arguments=node.arguments[:2])
    for argument in node.arguments[2:]:
        text = replace(text, arguments=(text, argument))
    return replace(text, superscript=node.superscript)


def find_indexed_size(checker: Inference, node: Index, axis: Axis, env: Environment) -> Any:
    real = find_indexed_axis(checker, axis, env)
    base = checker.infer(node.base, env)
    if real not in base.shape:
        raise no_such_axis(checker, node.base, base.shape, axis, real, "index")
    return base.shape[real]
