"""Evaluation at a point, f(t)|_{t = 0}: other tensors substituted for what some names stand for."""

from __future__ import annotations

from grammar.nodes import AtPoint

from ..scope.names import Key
from ..terms.environment import Environment
from ..terms.inference import Inference, shown
from ..terms.terms import Term, topological
from .diagnostics import broadcast


def at_point(checker: Inference, node: AtPoint, env: Environment) -> Term:
    """The term of the body, the points substituted for their names; in definitions that it uses, too."""
    others = checker.infer_all((value for _, value in node.points), env)
    inner = Environment(parent=env, sizes_parent=env, depth=env.depth, active=env.active)
    places: dict[int, Term] = {}
    for (name, value), other in zip(node.points, others):
        known = checker.find(Key(name.text), env, name)
        if known is None:
            option = f"{name.text} {len(checker.graph)}"
            known = checker.graph.intern("input", options=(option,), shape=dict(other.shape), node=name)
            inner.variables[Key(name.text)] = known
        elif known.shape.keys() != other.shape.keys():
            raise checker.error(
                307, f"{name.text} has {shown(known.shape)}, and would have {shown(other.shape)}", value,
                notes=(checker.described(value, other.shape),),
            )  # fmt: skip
        broadcast(checker, (known, other), node, node.span, "=", (name, value))
        places[id(known)] = other
    return substituted(checker, checker.infer(node.body, inner), places)


def substituted(checker: Inference, root: Term, places: dict[int, Term]) -> Term:
    """Substitute terms, by the identity of those that they replace."""
    found = dict(places)
    for term in topological(root):
        if id(term) not in found:
            arguments = tuple(found.get(id(each), each) for each in term.arguments)
            same = all(new is old for new, old in zip(arguments, term.arguments))
            found[id(term)] = (
                term
                if same
                else checker.graph.intern(
                    term.operator, arguments, term.axes, term.options, term.shape, term.boolean, term.node
                )
            )
    return found[id(root)]
