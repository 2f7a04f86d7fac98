"""Derivatives (paper §5): ∂f(X)/∂X* of the typed tree, a typed tree again.

Each operator's record has its differential in the notation itself, for softmax

    ∂(softmax_{ax} X) = softmax_{ax} X ⊙ (∂X − softmax_{ax} X ⊙_{ax} ∂X)

so the differential of a formula is found from the inside out, by the chain rule (`Linearization`): it is linear in ∂X.
The derivative is read off in one of two ways, whichever has the smaller tensors between: ∂X becomes the identity
I_{ax,ax*} (forward), or what each result counts is carried back through the linear pieces to ∂X (reverse; `transposed`).
For one number, such as a loss, the second is what is called backpropagation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, Any

from grammar import nodes
from grammar.nodes import Node
from grammar.parser import parse

from ..core.sizes import is_ground, resolve
from ..operators import REGISTRY
from ..operators.record import Operator
from ..scope.binder import bind
from ..scope.names import Key, spelled, walk
from ..scope.symbols import Scope
from ..terms.builder import SimplifyingGraph, TermBuilder
from ..terms.environment import Environment
from ..terms.folding import Numbers
from ..terms.terms import Term, topological
from .transpose import carried_on, transpose

if TYPE_CHECKING:
    from ..checking.checker import Checker

DIFFERENTIAL = "∂"
LETTERS = ("X", "Y", "Z")  # what the arguments are called in a differential


# ------------------------------------------------------------------------------------------------------- in a formula
def derivative(checker: Checker, node: nodes.Derivative, env: Environment) -> Term:
    """The term of ∂body/∂X*: the axes of the body, and those of X with the mark."""
    if not is_name(checker, node.variable, env):
        raise checker.error(
            112, "a derivative is taken by a name", node.variable,
            hint="give it a name of its own: Y = …, and write ∂(…)/∂Y*",
        )  # fmt: skip
    by = checker.infer(node.variable, env)
    body = checker.infer(node.body, env)
    for term, part in ((body, node.body), (by, node.variable)):
        if term.boolean:
            raise checker.error(315, "a condition has no derivative", part, hint="𝕀[…] turns a condition into 0 and 1")
    starred = {axis: axis + node.mark for axis in by.shape if "@" not in axis}
    twice = sorted(set(starred.values()) & body.shape.keys())
    if twice:
        raise checker.error(
            303, f"the derivative would have the axis {twice[0]} twice: one of the body, one of {checker.text(node.variable)}",
            node,
            notes=(checker.described(node.body, body.shape), checker.described(node.variable, by.shape)),
            hint=f"write ∂(…)/∂{checker.text(node.variable)}{'†' if node.mark else '*'}, so that its axes get another mark",
        )  # fmt: skip
    found = Derivative(checker, node).of(body, by, starred, parameters(checker, env))
    order = [*body.shape, *starred.values()]
    found.shape = {axis: found.shape[axis] for axis in (*order, *found.shape) if axis in found.shape}
    return found


def parameters(checker: Checker, env: Environment) -> dict[int, None]:
    """The arguments of the function that a derivative stands in: they are what they are, whatever they were made of."""
    found: dict[int, None] = {}
    current: Environment | None = env
    while current is not None:
        if current.function is not None:
            names = (*current.function.parameters, *current.function.options)
            terms = (checker.find(name.key(), current, None) for name in names)
            found.update((id(term), None) for term in terms if term is not None and term.operator == "variable")
        current = current.parent
    return found


def is_name(checker: Checker, node: Node, env: Environment) -> bool:
    """Whether a variable is a name, or might be one that is not known; X^2 is a power unless it stands for something."""
    name = spelled(node)
    if name is None or not name.superscript:
        return name is not None
    return checker.find(name.key(env.index), env, node) is not None or checker.by_value(name, env, node) is not None


def differential(checker: Checker, node: nodes.Differential, env: Environment) -> Term:
    """∂X, which has a value where the differential of an operator is written, and in equations of differentials."""
    name = spelled(node.body)
    found = None if name is None else env.variables.get(Key(DIFFERENTIAL + name.base))
    if found is not None:
        return found
    if checker.perturbations is not None:
        return perturbed(checker, checker.infer(node.body, env), node)
    raise checker.error(
        405, "a differential alone has no value", node,
        hint=f"write the derivative by a name: {checker.text(node)}/∂X*; an equation of differentials is checked beside a value",
    )  # fmt: skip


# ------------------------------------------------------------------------------------------ equations of differentials
@contextmanager
def perturbing(checker: Checker, sides: Iterable[Any], env: Environment) -> Iterator[None]:
    """While this lasts ∂X is a change of X, drawn once and for all, and what depends on X changes with it.

    ∂(X ⊙ Y) = ∂X ⊙ Y + X ⊙ ∂Y holds if it does for any such change. What the equation has no ∂ of stays as it is.
    """
    found = [each for side in sides if side is not None for each in walk(side) if isinstance(each, nodes.Differential)]
    if not found or checker.perturbations is not None:
        yield
        return
    terms = [checker.infer(each.body, env) for each in found if spelled(each.body) is not None]
    inside = {id(term): {id(each) for each in topological(term)} - {id(term)} for term in terms}
    free = [term for term in terms if not any(id(other) in inside[id(term)] for other in terms)]
    checker.perturbations = {id(term): perturbation_of(checker, term) for term in free if not term.boolean}
    try:
        yield
    finally:
        checker.perturbations = None


def perturbation_of(checker: Checker, term: Term) -> Term:
    """A change of a term: numbers of its shape, always the same ones."""
    extent = tuple(resolve(size) for size in term.shape.values())
    name = f"∂{term.serial}"
    if not all(map(is_ground, extent)):
        return checker.graph.intern("input", options=(name,), shape=dict(term.shape))
    draw = Random(name)
    numbers = Numbers(draw.uniform(-1, 1) for _ in range(math.prod(extent)))
    return checker.graph.intern("constant", options=(tuple(term.shape), extent, numbers), shape=dict(term.shape))


def perturbed(checker: Checker, body: Term, node: Node) -> Term:
    """How a term changes with those that do."""
    assert checker.perturbations is not None
    derivation = Derivative(checker, node)
    found = Linearization(derivation, checker.perturbations).of(body)
    return derivation.making.spread(derivation.making.number(0.0), body.shape) if found is None else found


# -------------------------------------------------------------------------------------------------------- the two ways
class Derivative:
    """One derivative: its terms are made among the checker's, and stand for the node of the formula."""

    def __init__(self, checker: Checker, node: Node):
        self.checker, self.node = checker, node
        self.making = TermBuilder(checker.graph, node)

    def of(self, body: Term, by: Term, starred: dict[str, str], constant: Mapping[int, None]) -> Term:
        make = self.making
        inside = {id(term) for term in topological(body)}
        if id(by) not in inside:
            return self.nothing(body, by, starred)
        own = f"∂{body.serial}.{by.serial}"  # apart from those of a derivative inside the body
        kept = {axis: f"{axis}@{own}" for axis in body.shape if not ("@" in axis and axis in by.shape)}
        taken = {axis: f"{axis}@{own}" for axis in starred}
        unknown = make.leaf("differential", by.shape)
        whole = Linearization(self, {**constant, id(by): unknown}).of(body)
        if whole is None:
            return self.nothing(body, by, starred)
        if is_reverse(count(body, kept), count(by, taken)):
            found = transpose(make, whole, unknown, body.shape, kept)
            return make.rename(found, {**starred, **{new: old for old, new in kept.items()}})
        found = carried_on(make, whole, unknown, by.shape, taken)
        return make.rename(found, {new: starred[old] for old, new in taken.items()})

    def nothing(self, body: Term, by: Term, starred: dict[str, str]) -> Term:
        """The derivative of what does not depend on it."""
        shape = {**body.shape, **{starred.get(axis, axis): size for axis, size in by.shape.items()}}
        return self.making.spread(self.checker.graph.number(0.0, self.node), shape)


def is_reverse(results: float, operands: float) -> bool:
    """Which way has the smaller tensors between."""
    return results <= operands


def count(term: Term, axes: Any) -> float:
    """How many numbers a term has along some of its axes; one that is not known counts as many."""
    total = 1.0
    for axis in axes:
        size = resolve(term.shape[axis])
        total *= size if is_ground(size) else 1e9
    return total


# ------------------------------------------------------------------------------------------------------ differentials
class Linearization:
    """The differentials of terms, where those of some are given."""

    def __init__(self, derivation: Derivative, given: Mapping[int, Term | None]):
        self.derivation, self.checker, self.make = derivation, derivation.checker, derivation.making
        self.found: dict[int, Term | None] = dict(given)

    def of(self, body: Term) -> Term | None:
        """Its differential; None where it is zero."""
        for term in topological(body):
            if id(term) not in self.found:
                self.found[id(term)] = self.next(term)
        return self.found[id(body)]

    def next(self, term: Term) -> Term | None:
        self.checker.spend(self.derivation.node)
        parts = [self.found[id(each)] for each in term.arguments]
        if all(part is None for part in parts):
            return None
        if term.operator == "^" and term.arguments[1].number == 0:
            return None
        if term.operator == "∏" and len(term.axes) > 1:
            return self.of(self.one_by_one(term))
        rule = STRUCTURAL.get(term.operator)
        if rule is not None:
            return rule(self, term, parts)
        record = REGISTRY.get(term.operator)
        texts = record.differentials if record is not None else ()
        if record is None or not texts:
            raise self.checker.error(
                405, f"the differential of {term.operator if record else self.checker.text(term.node)} is not known",
                self.derivation.node,
                labels=((term.node.span, "it stands here"),) if term.node is not None else (),
                hint="write it in other terms, whose differentials are known",
            )  # fmt: skip
        texts = texts[-len(parts) :] if len(parts) > 1 else texts[:1]
        total: Term | None = None
        for place, part in enumerate(parts):
            if part is None or texts[place] == ZERO:
                continue
            found = self.by_rule(record, texts[place], term, place, part)
            total = found if total is None else self.make.add(total, found)
        return None if total is None else self.whole(term, total)

    def one_by_one(self, term: Term) -> Term:
        """The same, over one axis after the other."""
        found = term.arguments[0]
        for axis in term.axes:
            shape = {name: size for name, size in found.shape.items() if name != axis}
            found = self.make.term(term.operator, (found,), (axis,), (), shape)
        return found

    def whole(self, term: Term, found: Term) -> Term:
        """With every axis of the term."""
        return self.make.spread(found, term.shape)

    def by_rule(self, record: Operator, text: str, term: Term, place: int, part: Term) -> Term:
        """What one argument's differential counts, as the operator's record says it in the notation."""
        rules = rules_of(self.checker)
        tree, before = expression(text), len(rules.graph)
        env = Environment(variables={Key(DIFFERENTIAL + LETTERS[place]): part})
        for letter, argument in zip(LETTERS, term.arguments):
            env.variables[Key(letter)] = argument
            env.sizes.update(argument.shape)
        given = dict(term.options)
        for name, value in record.options:
            env.variables[Key(name)] = rules.graph.number(given.get(name, value))
        env.sizes.update({name[5:]: size for name, size in given.items() if str(name).startswith("size ")})
        env.axes.update(formal_axes(record, term))
        if term.axes:
            size = term.arguments[0].shape.get(term.axes[0])
            env.sizes.update({axis: size for name in AUXILIARY for axis in env.axes[name]})
        found = rules.infer(tree, env)
        for made in rules.graph.all(before):
            made.node = self.derivation.node
        return found


def formal_axes(record: Operator, term: Term) -> dict[str, tuple[str, ...]]:
    """What the axes in a record's differential stand for in one use."""
    formals = record.lifted.formals
    found = (
        {"ax": term.axes} if record.lifted.variadic else {formal: (axis,) for formal, axis in zip(formals, term.axes)}
    )
    return {**found, **{name: (f"{name}@∂{term.serial}",) for name in AUXILIARY}}


AUXILIARY = ("rank", "i", "j")  # axes that a differential has inside, apart from those of another
ZERO = "0"


@lru_cache(maxsize=256)
def expression(text: str) -> Node:
    """The tree of a differential."""
    (statement,) = parse(text, "text").statements
    assert isinstance(statement, nodes.Value)
    return statement.body


@lru_cache(maxsize=1)
def no_program() -> Scope:
    return bind("0", parse("0", "text"))


def rules_of(checker: Checker) -> Checker:
    """A checker of differentials, for which names mean what the notation means by them; its terms are the checker's."""
    found = checker.rules
    if found is None:
        found = checker.rules = type(checker)(no_program())
        found.graph = SimplifyingGraph(checker.graph)  # type: ignore[assignment]
    return found


# --------------------------------------------------------------------------------------- terms that are no operators
def _linear(self: Linearization, term: Term, parts: list[Any]) -> Term | None:
    """What moves numbers moves their differentials in the same way."""
    if parts[0] is None:
        return None
    return self.make.term(term.operator, (parts[0], *term.arguments[1:]), term.axes, term.options, term.shape)


def _rename(self: Linearization, term: Term, parts: list[Any]) -> Term:
    return self.make.rename(parts[0], dict(term.options))


def _of_parts(self: Linearization, term: Term, parts: list[Any]) -> Term:
    """Pieces put together: each needs a differential, of its own axes."""
    pieces = tuple(
        self.make.spread(self.make.number(0.0) if part is None else part, argument.shape)
        for part, argument in zip(parts, term.arguments)
    )
    return self.make.term(term.operator, pieces, term.axes, term.options, term.shape)


def _cases(self: Linearization, term: Term, parts: list[Any]) -> Term | None:
    """The conditions stay; the values give way to their differentials."""
    values = range(0, len(parts), 2)
    if all(parts[place] is None for place in values):
        return None
    pieces = list(term.arguments)
    for place in values:
        pieces[place] = self.make.number(0.0) if parts[place] is None else parts[place]
    return self.make.term("cases", tuple(pieces), (), (), term.shape)


def _same(self: Linearization, term: Term, parts: list[Any]) -> Term:
    return parts[0]


def _none(self: Linearization, term: Term, parts: list[Any]) -> None:
    return None


STRUCTURAL = {
    "rename": _rename,
    **dict.fromkeys(("merge", "split", "spread", "pick", "index"), _linear),
    **dict.fromkeys(("fill", "literal", "⊕", "stack"), _of_parts),
    "cases": _cases,
    "variable": _same,
    **dict.fromkeys(("indicator", "onehot"), _none),
}
