"""Compute derivatives (paper §5): convert the typed graph of f(X) to the typed graph of ∂f(X)/∂X*.

Each operator's record has a differential in the notation. For example, softmax has

    ∂(softmax_{ax} X) = softmax_{ax} X ⊙ (∂X − softmax_{ax} X ⊙_{ax} ∂X)

The chain rule computes the differential of a formula from the inside out (`Linearization`). The result is linear in ∂X.
The derivative is then computed in the mode with smaller intermediate tensors. In forward mode, ∂X becomes the identity
I_{ax,ax*}. In reverse mode (`transpose`), cotangents propagate back through the linear terms to ∂X. For a single
number, such as a loss, reverse mode is backpropagation.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import Any

from grammar import nodes
from grammar.nodes import Node
from grammar.printer import to_text
from grammar.traversal import children

from ..core.extents import typical
from ..core.sizes import is_ground, resolve
from ..scope.names import Key, read_spelling, walk
from ..terms.builder import TermBuilder
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.normalized_exponentials import with_softmax
from ..terms.structural import run_pass_checks
from ..terms.terms import Numbers, Term, made_since, topological
from .linearize import DIFFERENTIAL, Linearization
from .loops import has_loops
from .nested import DerivativeRecord, attach_record, held
from .stars import mark_of, marks
from .sweep import swept
from .transpose import pushforward, transpose


# ------------------------------------------------------------------------------------------------------- in a formula
def find_index_hint(checker: Inference, node: nodes.Derivative) -> str:
    """Return a hint for a derivative with respect to an expression that is not a name.

    For an element of a tensor, suggest the derivative with respect to the whole tensor, with an index on the result.
    For any other expression, suggest a name for it.
    """
    variable, mark = node.variable, node.mark
    if not isinstance(variable, nodes.Index):
        return "define a name for it, Y = …, and write ∂(…)/∂Y*"
    items = tuple((replace(axis, name=axis.name + mark), index) for axis, index in variable.items)
    whole = replace(variable, base=replace(node, variable=variable.base), items=items)
    return f"differentiate with respect to the whole tensor, then index: {to_text(whole)}"


def derivative(checker: Inference, node: nodes.Derivative, env: Environment) -> Term:
    """Return the term of ∂body/∂X*. It has the axes of the body and the starred axes of X."""
    checker.derived += 1
    if not is_name(checker, node.variable, env):
        raise checker.error(
            112, "a derivative is taken with respect to a name", node.variable, hint=find_index_hint(checker, node)
        )
    by = checker.infer(node.variable, env)
    body = checker.infer(node.body, env)
    for term, part in ((body, node.body), (by, node.variable)):
        if term.boolean:
            raise checker.error(315, "a condition has no derivative", part, hint="𝕀[…] turns a condition into 0 and 1")
    mark = mark_of(node)
    starred = {axis: axis + mark for axis in by.shape if "@" not in axis}
    twice = sorted(set(starred.values()) & body.shape.keys())
    if twice:
        taken = {*body.shape, *by.shape}
        free = next(mark for mark in marks() if taken.isdisjoint(axis + mark for axis in by.shape))
        raise checker.error(
            303, f"the derivative would have axis {twice[0]} twice: from the body and from {checker.text(node.variable)}",
            node,
            notes=(checker.describe_with_shape(node.body, body.shape), checker.describe_with_shape(node.variable, by.shape)),
            hint=f"write ∂(…)/∂{checker.text(node.variable)}{free}, so that its axes get a different star",
        )  # fmt: skip
    constant = tuple(parameter for parameter in parameters(checker, env) if parameter is not by)
    (body,) = with_softmax((body,), checker.graph, {id(leaf) for leaf in (by, *constant)})
    result = DerivativeBuilder(checker, node).of(DerivativeRecord(body, by, starred, constant))
    checker.axes_of_variables[id(result)] = by, starred, body
    run_pass_checks(result)
    return result


def parameters(checker: Inference, env: Environment) -> list[Term]:
    """Return the parameters of the enclosing functions, which a derivative inside them holds constant."""
    result: list[Term] = []
    current: Environment | None = env
    while current is not None:
        if current.function is not None:
            names = (*current.function.parameters, *current.function.options)
            terms = (checker.find(name.key(), current, None) for name in names)
            result += [term for term in terms if term is not None and term.operator == "variable"]
        current = current.parent
    return result


def is_name(checker: Inference, node: Node, env: Environment) -> bool:
    """Return whether the variable of a derivative is a name of the program. X^2 is a power unless X^2 is defined."""
    name = read_spelling(node)
    if name is None or not name.superscript:
        return name is not None
    return checker.find_spelled(name, env, node) is not None


def differential(checker: Inference, node: nodes.Differential, env: Environment) -> Term:
    """Return the value of ∂X, which exists only in operators' differentials and in equations between differentials."""
    checker.derived += 1
    name = read_spelling(node.body)
    variable = None if name is None else env.variables.get(Key(DIFFERENTIAL + name.base))
    if variable is not None:
        return variable
    if checker.perturbations is not None:
        return compute_tangent(checker, checker.infer(node.body, env), node)
    raise checker.error(
        405, "a differential by itself has no value", node,
        hint=f"write a derivative with respect to a name: {checker.text(node)}/∂X*; equations of differentials are checked alongside a value",
    )  # fmt: skip


# ------------------------------------------------------------------------------------------ equations of differentials
@contextmanager
def perturbing(checker: Inference, sides: Iterable[Any], env: Environment) -> Generator[None]:
    """Give each ∂X in an equation a value inside the block.

    The value is a random tangent of X. It is sampled once and determines the dependent tangents. An equation such as
    ∂(X ⊙ Y) = ∂X ⊙ Y + X ⊙ ∂Y is valid if it is true for every tangent. Names without a ∂ in the equation are constant.
    If the equation contains the ∂ of an expression, as in ∂α = α ⊙ (∂(Q ⊙ K) − …), this expression has an independent
    tangent.
    """
    parts = [node for side in sides if side is not None for node in walk(side) if isinstance(node, nodes.Differential)]
    if not parts or checker.perturbations is not None:
        yield
        return
    free = independent_terms(checker, [part.body for part in parts], env)
    checker.perturbations = {id(term): perturbation_of(checker, term) for term in free if not term.boolean}
    try:
        yield
    finally:
        checker.perturbations = None


def independent_terms(checker: Inference, bodies: list[Node], env: Environment) -> list[Term]:
    """Return the terms under ∂ in an equation that are perturbed independently. They determine the other terms.

    If an expression is not contained in another term but depends on the same inputs, perturb the inputs instead.
    """
    while True:
        terms = [checker.infer(body, env) for body in bodies]
        inside = {id(term): {id(inner): inner for inner in topological(term) if inner is not term} for term in terms}
        free = [term for term in terms if not any(id(other) in inside[id(term)] for other in terms)]
        inputs = {
            id(term): {key for key, inner in inside[id(term)].items() if inner.operator == "input"} for term in terms
        }
        opened = [
            body for body, term in zip(bodies, terms)
            if read_spelling(body) is None and term in free
            and any(other is not term and inputs[id(other)] & inputs[id(term)] for other in free)
        ]  # fmt: skip
        if not opened:
            return free
        names = [name for body in opened for name in tensors_in(checker, body, env)]
        bodies = [body for body in bodies if body not in opened] + names


def tensors_in(checker: Inference, body: Any, env: Environment) -> Iterator[Node]:
    """Yield the names of tensors in an expression. Numbers and conditions have no tangent."""
    if (name := read_spelling(body)) is not None:
        term = checker.find_spelled(name, env, body)
        if term is not None:
            if term.number is None and not term.boolean:
                yield body
            return
    for argument in (*body.arguments, *body.parameters) if isinstance(body, nodes.Call) else children(body):
        yield from tensors_in(checker, argument, env)


def perturbation_of(checker: Inference, term: Term) -> Term:
    """Return a tangent for a term: pseudorandom numbers of the term's shape, which are the same in every call."""
    extent = tuple(resolve(size) for size in term.shape.values())
    name = f"∂{term.serial}"
    if not all(map(is_ground, extent)):
        return checker.graph.intern("input", options=(name,), shape=dict(term.shape))
    draw = Random(name)
    numbers = Numbers(draw.uniform(-1, 1) for _ in range(math.prod(extent)))
    return checker.graph.intern("constant", options=(tuple(term.shape), extent, numbers), shape=dict(term.shape))


def compute_tangent(checker: Inference, body: Term, node: Node) -> Term:
    """Return the tangent of a term, given the tangents of the independent terms."""
    assert checker.perturbations is not None
    make = TermBuilder(checker.graph, node)
    term = Linearization(checker, make, checker.perturbations).of(body)
    return make.spread(make.number(0.0), body.shape) if term is None else term


# -------------------------------------------------------------------------------------------------------- the two ways
class DerivativeBuilder:
    """A builder for the derivative of one formula.

    Its terms belong to the checker's graph and to the formula's node.
    """

    def __init__(self, checker: Inference, node: Node):
        self.checker: Inference = checker
        self.node: Node = node
        self.make: TermBuilder = TermBuilder(checker.graph, node)

    def of(self, taken: DerivativeRecord) -> Term:
        """Return the term of the derivative, with its axes in source order."""
        graph = self.checker.graph
        ordered_axes = swept(self.checker, self.make, taken)
        if ordered_axes is not None:
            return self.with_ordered_axes(ordered_axes, taken)
        ordered_axes = self.with_ordered_axes(self.whole(held(graph, taken.body, taken.by, self.of), taken), taken)
        return attach_record(graph, ordered_axes, taken)

    def with_ordered_axes(self, term: Term, taken: DerivativeRecord) -> Term:
        """Put the axes of a term in source order: the axes of the body, then the new axes."""
        order = [*taken.body.shape, *taken.starred.values()]
        term.shape = {axis: term.shape[axis] for axis in (*order, *term.shape) if axis in term.shape}
        return term

    def whole(self, body: Term, taken: DerivativeRecord) -> Term:
        """Linearize the body and return its derivative.

        The mode depends on the sizes of the intermediate tensors: either the linear terms are transposed, or identities
        are pushed forward through them.
        """
        make, by, starred = self.make, taken.by, taken.starred
        if by not in made_since(by, body):
            return self.nothing(body, by, starred)
        text = f"∂{body.serial}.{by.serial}"  # Different from the name of any derivative inside the body.
        texts = {axis: f"{axis}@{text}" for axis in body.shape if not ("@" in axis and axis in by.shape)}
        moving = {axis: f"{axis}@{text}" for axis in starred}
        unknown = make.leaf("differential", by.shape)
        constant: dict[int, Term | None] = {id(term): None for term in taken.constant}
        change = Linearization(self.checker, make, {**constant, id(by): unknown}).of(body)
        if change is None:
            return self.nothing(body, by, starred)
        if is_reverse(count(body, texts), count(by, moving)) or has_loops(change):
            term = transpose(make, change, unknown, body.shape, texts)
            return make.rename(term, {**starred, **{new: old for old, new in texts.items()}})
        term = pushforward(make, change, unknown, by.shape, moving)
        return make.rename(term, {new: starred[old] for old, new in moving.items()})

    def nothing(self, body: Term, by: Term, starred: dict[str, str]) -> Term:
        """Return zeros with the shape of the derivative, for a body that does not depend on the variable."""
        shape = {**body.shape, **{starred.get(axis, axis): size for axis, size in by.shape.items()}}
        return self.make.spread(self.checker.graph.number(0.0, self.node), shape)


def is_reverse(results: float, operands: float) -> bool:
    """Return whether reverse mode has smaller intermediate tensors than forward mode."""
    return results <= operands


def count(term: Term, axes: Any) -> float:
    """Return the number of elements of a term along some axes. An unknown size counts as large."""
    total = 1.0
    for axis in axes:
        size = resolve(term.shape[axis])
        total *= typical(size) if is_ground(size) else 1e9
    return total
