"""Derive a closed form in steps: each subexpression that depends on X gets a name, and a rule gives its differential.

    u = Q ⊙_{k} K;  v = u / √|k|        names; the program's definitions are rewritten in terms of these
    ∂v = ∂u / √|k|                      quotient

Each step is an assertion in the notation. Here, ∂u is a differential of u, and the equation is true for any ∂u. The
rules plus, odot, quotient, ndot, sum, indexing, renaming and elementwise are from the paper (§5.2). So is chain, the
rule for a function of the program. Every other operator has a separate rule. In the last step, *identification*, the
coefficient of ∂X* is the derivative.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from grammar import nodes
from grammar.nodes import Derivative, Differential, Equation, Node, Starred
from grammar.plain_text import encodable
from grammar.printer import to_latex, to_text

from ..calculus.record_formulas import expression
from ..operators import REGISTRY
from ..operators.prelude import equation_of
from ..symbolic.forms import indices_of
from ..symbolic.from_terms import Forms
from ..symbolic.linearizing import LinearReading, ReadingChecker, TakenElement, texts_read
from ..symbolic.naming import names_left
from ..symbolic.read_back import ReadBack
from ..symbolic.spelling import call, with_axes
from ..terms.builder import TermBuilder
from ..terms.environment import distinct_names, source_name
from ..terms.terms import Term, topological

RULES = {
    "+": "plus", "-": "plus", "negative": "plus", "⊙": "odot", "/": "quotient", "∑": "sum",
    "index": "indexing", "pick": "indexing", "rename": "renaming", "^": "power", "cases": "cases", "⊕": "joining",
    "stack": "joining", "merge": "reshaping", "split": "reshaping",
}  # fmt: skip
CHAIN = "∂f(U) = ∂f(U)/∂U* ⊙_{ax*} ∂U*"
THROUGH = ("variable", "spread", "rename")  # These terms have no separate step.


@dataclass(frozen=True)
class DerivationStep:
    """One equation of a derivation, with the name of its rule. `identity` is the rule in the notation.

    `since` is the assumption that justifies the step, or None.
    """

    rule: str
    node: Equation
    identity: str = ""
    since: Any = None

    @property
    def equation(self) -> str:
        return to_text(self.node)

    @encodable
    def __str__(self) -> str:
        return f"{self.equation}    ({self.rule})"

    __repr__ = __str__

    def to_latex(self, macros: bool = False) -> str:
        """Convert the equation to LaTeX, with the rule above the equals sign."""
        left, *others = (to_latex(side, macros=macros) for side in self.node.sides)
        whole = to_latex(nodes.Program((self.node,)), macros=macros)
        right = whole[len(left) :].lstrip().removeprefix("=").lstrip() if self.node.range else " = ".join(others)
        rule = f"\\text{{{self.rule}}}"
        if self.since is not None:
            rule = f"\\text{{since }}{to_latex(nodes.Program((self.since,)), macros=macros)}"
        return f"{left} &\\overset{{{rule}}}{{=}} {right}"


def rule_of(term: Term) -> str:
    """Return the name of the rule for the differential of a term, such as "odot" for the product rule."""
    if term.operator == "⊙" and term.axes:
        return "ndot"
    rule = RULES.get(term.operator)
    if rule is not None:
        return rule
    if term.operator == "python":
        return term.options[0].name
    record = REGISTRY.get(term.operator)
    if record is None:
        return term.operator
    return "elementwise" if record.kind == "elementwise" else record.name


def identity_of(term: Term) -> str:
    """Return the rule for a term's operator in the notation: its differential in the record, or its definition."""
    if term.operator == "python":
        return " + ".join(text for text in term.options[0].differentials if text != "0")
    record = REGISTRY.get(term.operator)
    if record is not None and not record.differentials:
        return equation_of(record.name)
    texts = texts_read(term.operator, dict(term.options) if record is not None and record.options else {})
    identity = " + ".join(text for text in texts[-len(term.arguments) :] if text != "0") if record is not None else ""
    return identity if term.axes else identity.replace("_{ax}", "")


@dataclass(frozen=True)
class DerivationSteps:
    """A derivation: the equations that name its subexpressions, its steps, and the definitions that both need."""

    names: tuple[Equation, ...] = ()
    steps: tuple[DerivationStep, ...] = ()
    kept: tuple[Any, ...] = ()


def steps_of(
    checker: ReadingChecker, taken: TakenElement, names: Mapping[int, str], words: set[str]
) -> DerivationSteps:
    """Return the derivation of the differential of a derivative's body, with one step per subexpression."""
    body, by, node = taken
    inside = depending(body, by)
    letters, labels = names_left(words), axis_labels(inside)
    result: dict[int, str] = {**names, id(by): to_text(node.variable)}
    defined, steps = [], []
    for term in [*inside]:
        if term.operator in THROUGH and term is not body:
            continue
        name = names.get(id(term)) or next(letters)
        definition = _definition(term, result, labels)
        defined.append(Equation((expression(name), definition)))
        result[id(term)] = name
        change = _differential(checker, term, inside, by, result, node, labels)
        # The differential of sign(x) is 0, so terms that use it treat it as a constant.
        if change is None and term is not body:
            inside.remove(term)
            continue
        equation = Equation((Differential(expression(name)), change or nodes.Number(0)))
        steps.append(DerivationStep(rule_of(term), equation, identity_of(term)))
        steps += apply_chain_rule(checker, term, name, by, result)
    return DerivationSteps(tuple(defined), tuple(steps))


def apply_chain_rule(
    checker: ReadingChecker, term: Term, name: str, by: Term, names: Mapping[int, str]
) -> list[DerivationStep]:
    """Return the chain rule as a list with one step if a term is a call of a program's function with a named argument.

    Return [] for any other term.
    """
    for value, arguments in checker.called:
        argument = beneath(arguments[0])
        inner = names.get(id(argument))
        if beneath(value) is not term or len(arguments) > 1 or argument is by or inner is None or inner == name:
            continue
        marked = [axis + "*" for axis in map(source_name, argument.shape)]
        change: Node = Differential(expression(inner))
        slope = Derivative(expression(name), expression(inner), "*")
        whole = call("⊙", slope, Starred(change, "*") if marked else change, axes=marked)
        return [DerivationStep("chain", Equation((Differential(expression(name)), whole)), CHAIN)]
    return []


def beneath(term: Term) -> Term:
    """Return a term without the variables, broadcasts and renames around it."""
    while term.operator in THROUGH:
        term = term.arguments[0]
    return term


def depending(body: Term, by: Term) -> list[Term]:
    """Return the terms in a formula that depend on the term `by`, in order of evaluation, without `by` itself."""
    reached, result = {id(by)}, []
    for term in topological(body):
        if term is not by and any(id(argument) in reached for argument in term.arguments):
            reached.add(id(term))
            result.append(term)
    return result


def axis_labels(terms: Iterable[Term]) -> dict[str, str]:
    """Return new names for lifted axes that have the same name as other axes of a term."""
    labels: dict[str, str] = {}
    for term in terms:
        labels |= {axis: name for axis, name in distinct_names(term.shape).items() if name != source_name(axis)}
    return labels


def _write_term(forms: Forms, term: Term, along: Iterable[str] = ()) -> Node:
    form = forms.of(term)
    names = {index: forms.labels.get(axis) or source_name(axis) for (axis, _), index in forms.free.items()}
    standing = {names[index] for index in indices_of(form)}
    along = (forms.labels.get(axis) or source_name(axis) for axis in along)
    return with_axes(ReadBack().form(form, names), [axis for axis in along if axis not in standing])


def _definition(term: Term, names: Mapping[int, str], labels: Mapping[str, str]) -> Node:
    forms = Forms({index: name for index, name in names.items() if index != id(term)})
    forms.labels = labels
    return _write_term(forms, term, term.shape)


def _differential(
    checker: ReadingChecker, term: Term, inside: Iterable[Term], by: Term, names: Mapping[int, str], node: Node,
    labels: Mapping[str, str],
) -> Node | None:  # fmt: skip
    """Return the differential of a term in terms of its arguments' differentials, or None if it is zero."""
    make = TermBuilder(checker.graph, node)
    seen: dict[int, Any] = {}
    leaves: dict[str, str] = {}
    for part in [by, *inside]:
        name = names.get(id(part))
        if part is term or name is None:
            continue
        leaf = make.leaf("differential", part.shape)
        seen[id(part)] = leaf
        leaves[leaf.options[0]] = f"∂{name}"
    whole = LinearReading(checker, make, seen).of(term)
    if whole is None:
        return None
    forms = Forms(names)
    forms.leaves, forms.labels = leaves, labels
    return _write_term(forms, whole, term.shape)
