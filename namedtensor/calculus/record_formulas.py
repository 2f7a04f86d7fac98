"""Type the formulas in operators' records, which are differentials and definitions, for one call of an operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import count

from grammar import nodes
from grammar.nodes import Node
from grammar.parser import parse

from ..operators import REGISTRY
from ..operators.prelude import OperatorDefinition, load_definitions
from ..operators.record import Operator
from ..scope.binder import bind
from ..scope.names import Key
from ..scope.symbols import Scope
from ..terms.builder import SimplifyingGraph
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term, TermGraph, topological

LETTERS = ("X", "Y", "Z")  # The names of the arguments in a formula.
AUXILIARY = ("rank", "i", "j")  # Inner axes of a formula, which are renamed in each call.
ZERO = "0"
LAST = 2**40  # The serial number of the first expanded term, beyond all terms of a program.


@lru_cache(maxsize=4096)
def expression(text: str, functions: frozenset[str] = frozenset()) -> Node:
    """Parse a formula that may call the given functions."""
    (statement,) = parse(text, "text", functions=functions).statements
    assert isinstance(statement, nodes.Value)
    return statement.body


@lru_cache(maxsize=1)
def no_program() -> Scope:
    return bind(ZERO, parse(ZERO, "text"))


def rules_of(checker: Inference) -> Inference:
    """Return a checker for the formulas of records, in which all names are built in.

    Its terms belong to the graph of `checker`.
    """
    if checker.rules is None:
        checker.rules = checker.fork(no_program())
        checker.rules.graph = SimplifyingGraph(checker.graph)
    return checker.rules


def make_checker(kind: Callable[[Scope], Inference]) -> Inference:
    """Create a checker for the formulas of records. Its terms come after the terms of any program."""
    checker = kind(no_program())
    checker.graph = TermGraph(count(LAST))
    return checker


def infer_formula(
    checker: Inference,
    record: Operator,
    text: str,
    term: Term,
    node: Node | None,
    more: Mapping[Key, Term] | None = None,
) -> Term:
    """Return the term of a record's formula for the operands, options and axes of a call. `more` defines more names."""
    rules = rules_of(checker)
    tree, before = expression(text, frozenset(rules.python)), len(rules.graph)
    env = Environment(variables={**(more or {})})
    for letter, argument in zip(LETTERS, term.arguments):
        env.variables[Key(letter)] = argument
        env.sizes.update(argument.shape)
    options = {} if term.operator == "python" else dict(term.options)
    for name, value in record.options:
        env.variables[Key(name)] = rules.graph.number(options.get(name, value))
    env.sizes.update({name[5:]: size for name, size in options.items() if str(name).startswith("size ")})
    env.axes.update(formal_axes(record, term))
    if term.axes:
        size = term.arguments[0].shape.get(term.axes[0])
        env.sizes.update({axis: size for name in AUXILIARY for axis in env.axes[name]})
    infer = rules.infer(tree, env)
    for rebuilt in rules.graph.all(before):
        rebuilt.node = node
    return infer


def formal_axes(record: Operator, term: Term) -> dict[str, tuple[str, ...]]:
    """Return a map from each axis in a record's formula to the actual axes in a call."""
    formals = record.lifted.formals
    if term.operator == "python":
        return {formal: (axis,) for formal, axis in zip(formals, term.options[0].axes)}
    result = (
        {"ax": term.axes} if record.lifted.variadic else {formal: (axis,) for formal, axis in zip(formals, term.axes)}
    )
    return {**result, **{name: (f"{name}@∂{term.serial}",) for name in AUXILIARY}}


# --------------------------------------------------------------------------------------------------------- definitions
def expand_definition(
    checker: Inference, term: Term, definitions: Mapping[str, OperatorDefinition] | None = None
) -> Term | None:
    """Expand a term by the definition of its operator. Return None if the operator has no definition.

    By default, definitions come from the prelude.
    """
    definition = (definitions or load_definitions()).get(term.operator)
    if definition is None or definition.has_axes != bool(term.axes):
        return None
    expanded = infer_formula(checker, REGISTRY[term.operator], definition.body, term, term.node)
    return rules_of(checker).spread(expanded, term.shape)


def expand_terms(checker: Inference, roots: Sequence[Term], is_expanded: Callable[[Term], bool]) -> tuple[Term, ...]:
    """Replace the selected terms in the roots with the definitions of their operators."""
    copies: dict[int, Term] = {}

    def expand(root: Term) -> Term:
        for term in topological(root):
            if id(term) not in copies:
                arguments = tuple([copies[id(argument)] for argument in term.arguments])
                same = all(new is old for new, old in zip(arguments, term.arguments))
                copy = term if same else checker.graph.like(term, arguments)
                expanded = expand_definition(checker, copy) if is_expanded(copy) else None
                copies[id(term)] = copy if expanded is None else expand(expanded)
        return copies[id(root)]

    return tuple(map(expand, roots))
