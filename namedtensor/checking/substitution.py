"""Type an evaluation at a point, f(t)|_{t = 0}, which replaces the values of some names with other tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grammar.errors import NotationError
from grammar.nodes import AtPoint, Name, Node
from grammar.printer import to_text

from ..core.suggestions import did_you_mean, near
from ..scope.names import Key, read_spelling, walk
from ..scope.resized_axes import is_used
from ..terms.environment import Environment
from ..terms.inference import Inference, format_shape
from ..terms.structural import is_joining
from ..terms.terms import Term, topological
from .application import broadcast

MAX_QUOTED_CHARS = 60  # The longest expression that a message quotes.


def type_at_point(checker: Inference, node: AtPoint, env: Environment) -> Term:
    """Return the term of a body with given values in place of names, even inside the definitions that the body uses."""
    others = checker.infer_all((value for _, value in node.points), env)
    inner = env.within()
    places: dict[int, Term] = {}
    unnamed: dict[int, Term] = {}  # Names with only a substituted value, so that steps have no value for them.
    for (name, value), other in zip(node.points, others):
        known = checker.find(Key(name.text), env, name)
        if known is None:
            option = f"{name.text} {len(checker.graph)}"
            known = checker.graph.intern("input", options=(option,), shape=dict(other.shape), node=name)
            inner.variables[Key(name.text)] = known
            unnamed[id(known)] = other
        elif other.number == 0 and known.shape:  # A zero without axes becomes a tensor of zeros.
            other = checker.spread(other, known.shape, value)
        elif known.shape.keys() != other.shape.keys():
            raise checker.error(
                307, f"{name.text} has the shape {format_shape(known.shape)}, and its replacement has {format_shape(other.shape)}", value,
                notes=(checker.describe_with_shape(value, other.shape),),
            )  # fmt: skip
        broadcast(checker, (known.shape, other.shape), node.span, "=", (name, value))
        places[id(known)] = other
    traced = len(checker.trace)
    body = checker.infer(node.body, inner)
    for name, value in node.points:
        if not is_used(checker.scope, node.body, name.text):
            raise nothing_to_substitute(checker, node, name, value, body)
    if unnamed:
        steps = checker.trace[traced:]
        terms = substitute_terms(checker, [term for _, term, _ in steps], unnamed)
        checker.trace[traced:] = [(part, term, where) for (part, _, where), term in zip(steps, terms)]
    return substitute_terms(checker, (body,), places)[0]


def nothing_to_substitute(checker: Inference, node: AtPoint, name: Name, value: Node, body: Term) -> NotationError:
    """Return the error for x|_{u = 1} if x does not depend on u, or if u is an axis."""
    written = to_text(node.body)
    text = written if len(written) <= MAX_QUOTED_CHARS else "this expression"
    if name.text in body.shape:
        base = text if read_spelling(node.body) is not None else f"[{written}]" if text == written else "X"
        hint = f"write {base}_{{{name.text}({to_text(value)})}} for an element along the axis {name.text}"
        return checker.error(
            201, f"{name.text} is an axis of {text}, not a tensor in it", name, hint=hint, axis=name.text
        )
    known = {part.text for part in walk(node.body) if isinstance(part, Name)}
    hint = did_you_mean(near(name.text, sorted(known)))
    return checker.error(201, f"{text} does not contain {name.text}", name, hint=hint, symbol=name.text)


def substitute_terms(checker: Inference, roots: Sequence[Term], places: Mapping[int, Term]) -> list[Term]:
    """Return the roots with some subterms replaced. `places` maps the id of a subterm to its replacement."""
    terms = dict(places)
    for term in topological(*roots) if places else ():
        if id(term) in terms:
            continue
        arguments = tuple(terms.get(id(argument), argument) for argument in term.arguments)
        if all(new is old for new, old in zip(arguments, term.arguments)):
            terms[id(term)] = term
            continue
        further = {
            axis: size
            for new, old in zip(arguments, term.arguments)
            for axis, size in new.shape.items()
            if axis not in old.shape
        }
        if further and term.operator == "loop":
            raise checker.error(
                114, "this recurrence depends on a random variable that is sampled outside of it", term.node,
                hint="make it a function of the random variable",
            )  # fmt: skip
        if further and is_joining(term.operator):
            arguments = tuple(
                checker.spread(new, {**old.shape, **further}) for new, old in zip(arguments, term.arguments)
            )
        shape = {**term.shape, **further}
        terms[id(term)] = checker.graph.intern(
            term.operator, arguments, term.axes, term.options, shape, term.boolean, term.node
        )
    return [terms.get(id(root), root) for root in roots]
