"""Printing of operators: infix, prefix and large operators, and relations in conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import nodes
from ..nodes import Call, Name, Number, Subscript
from ..symbols import BINDERS, SYMBOLS, value
from ..traversal import conjuncts, names_in
from .pieces import (
    AND,
    ATOM,
    ELEMENT,
    JUXTAPOSITION,
    NOT,
    OR,
    POSTFIXED,
    PRODUCT,
    QUOTIENT,
    RELATION,
    SUM,
    UNARY,
    Piece,
    Printing,
)
from .scripts import Functions, is_plain_sum


def _values(*terminals: str) -> list[str]:
    return [value(symbol) for symbol in SYMBOLS if symbol.terminal in terminals]


# Which method prints a Call, by its operator; any other is a function.
FORMS = {
    "+": "addition", "-": "addition", "/": "quotient", "juxtaposed": "juxtaposed", "negative": "negative",
    "factorial": "factorial", "binom": "binomial", "∧": "conjunction", "∨": "disjunction", "¬": "negation", "sqrt": "root",
    **dict.fromkeys(_values("BIG"), "big"),
    **dict.fromkeys(_values("RELATION", "EQUALS"), "relation"),
    **dict.fromkeys(_values("APPROX"), "nearly"),
    **dict.fromkeys(_values("PARITY"), "parity"),
    **dict.fromkeys(_values("DOT", "OPERATOR"), "product"),
}  # fmt: skip
PLAIN = {"factorial": 1, "root": 1, "binomial": 2}  # forms of calls with this many arguments and nothing else


class Operators(Functions):
    dot = "·"  # the product of two numbers
    mean = "𝔼"
    shaped: Callable[..., Any]

    # ----------------------------------------------------------------------------------------------- infix and prefix
    def call(self, node) -> Printing:
        form = FORMS.get(node.operator, "function")
        if form in PLAIN and (
            node.superscript or node.subscript or node.parameters or len(node.arguments) != PLAIN[form]
        ):
            form = "function"
        return getattr(self, form)(node)

    def addition(self, node):
        left = yield from self.part(node.arguments[0], SUM, last=True)
        right = yield from self.right(node.arguments[1], QUOTIENT)
        return Piece(f"{left.text} {node.operator} {right.text}", SUM)

    def product(self, node):
        left = yield from self.part(node.arguments[0], PRODUCT)
        right = yield from self.right(node.arguments[1], UNARY)
        sign = yield from self.infix(node)
        return Piece(f"{left.text} {sign} {right.text}", PRODUCT, right.reaches)

    def infix(self, node):
        """Return the sign of a product with its axes: ⊙_{key}."""
        if node.subscript:
            return self.under(node.operator, (yield from self.below(node.subscript)))
        numbers = node.operator == "⊙" and all(type(operand) is Number for operand in node.arguments)
        return self.dot if numbers and node.arguments else self.signs[node.operator]

    def under(self, operator: str, axes: str) -> str:
        return self.signs[operator] + self.scripted("_", axes, always=True)

    def quotient(self, node):
        above = yield from self.part(node.arguments[0], PRODUCT)
        below = yield from self.right(node.arguments[1], ELEMENT)
        if type(node.arguments[1]) is nodes.Differential:
            above = self.bracketed(above)  # no derivative as its last factor
        return Piece(f"{above.text} / {below.text}", QUOTIENT, below.reaches)

    def juxtaposed(self, node):
        left = yield from self.part(node.arguments[0], JUXTAPOSITION)
        right = yield from self.right(node.arguments[1], ELEMENT)
        if right.text[0].isdigit():
            right = self.bracketed(right)
        if "|" in left.text and "|" in right.text:  # |a| n |b|, whose bars could be paired in another way
            left = self.bracketed(left)
        return Piece(f"{left.text} {right.text}", JUXTAPOSITION, right.reaches)

    def negative(self, node):
        operand = yield from self.right(node.arguments[0], UNARY)
        return Piece(f"-{operand.text}", UNARY, operand.reaches)

    def factorial(self, node):
        """Print n!, (x^2)!."""
        operand = yield from self.part(node.arguments[0], POSTFIXED)
        bare = type(node.arguments[0]) in (Name, Number, Subscript, nodes.Index) or operand.text.endswith((")", "]"))
        text = operand.text if bare and operand.level >= POSTFIXED else self.round(operand.text)
        return Piece(f"{text}!", POSTFIXED)

    def binomial(self, node):
        return (yield from self.function(node))

    # ------------------------------------------------------------------------------------ over axes, indices and sets
    def big(self, node):
        below = yield from self.below(node.subscript, axes=not sums_over_indices(node))
        return (yield from self.print_over_body(self.big_sign(node.operator, below), node.arguments[0]))

    def big_sign(self, operator: str, below: str, above: str = "") -> str:
        return self.signs[operator] + self.bounds(below, above)

    def bounds(self, below: str, above: str) -> str:
        return self.scripted("_", below, always=True) + (self.scripted("^", above, always=True) if above else "")

    def indexsum(self, node):
        first = yield from self.first(node.first)
        last = yield from self.tight(node.last, SUM)
        bounds = f"{self.label_word(node.variable.text)}={first}"
        return (yield from self.reaching(self.bound_sign(node.operator, bounds, last), node.body, node.operator))

    def over(self, node):
        """Print max_{i ∈ [n]} X."""
        variable = self.label_word(node.variable.text)
        if type(node.over) is nodes.Set:
            piece = yield self.visit(node.over)
            below = f"{variable} {self.signs['∈']} {piece.text}"
        elif node.operator in BINDERS:
            named = type(node.over) is Name
            goal = self.label_word(node.over.text) if named else (yield from self.tight(node.over, SUM))
            below = f"{variable}{self.signs['→']}{goal}"
        else:
            below = yield from self.condition_below(node.over)
        return (yield from self.reaching(self.bound_sign(node.operator, below), node.body, node.operator))

    def condition_below(self, condition):
        """Print i < j, 1 ≤ i < j ≤ n."""
        relations = conjuncts(condition)
        text = yield from self.print_comparison_below(relations[0].arguments[0])
        for relation in relations:
            text += f" {self.signs[relation.operator]} " + (
                yield from self.print_comparison_below(relation.arguments[1])
            )
        return text

    def print_comparison_below(self, node):
        return self.label_word(node.text) if type(node) is Name else (yield from self.tight(node, SUM))

    def draw(self, node):
        """Print x ∼ N(0, 1)."""
        result = yield from self.distribution(node)
        return Piece(f"{self.word(node.name)} {self.signs['∼']} {result}", RELATION)

    def distribution(self, node):
        if not node.family:
            (text,) = yield from self.each(node.arguments, ELEMENT)
            return text
        texts = yield from self.each(node.arguments, SUM)
        named = f"{self.family(node.family)}({', '.join(texts)})"
        return (yield from self.shaped(named, node.axes))

    def atpoint(self, node):
        """Print f(t)|_{t = 0}."""
        body = yield from self.at_body(node.body)
        points = []
        for name, other in node.points:
            (text,) = yield from self.each((other,), SUM)
            points.append(f"{self.word(name.text)} = {text}")
        return Piece(f"{body}|" + self.scripted("_", ", ".join(points), always=True), POSTFIXED)

    def at_body(self, node):
        piece = yield from self.part(node, POSTFIXED)
        return piece.text

    def family(self, name: str) -> str:
        return self.word(name)

    def expectation(self, node):
        """Print 𝔼_{x ∼ N(0, 1)}[x]."""
        draws = []
        for draw in node.draws:
            if type(draw) is Name:
                draws.append(self.label_word(draw.text))
                continue
            result = yield from self.distribution(draw)
            draws.append(f"{self.label_word(draw.name)} {self.signs['∼']} {result}")
        (body,) = yield from self.each((node.body,), SUM)
        below = self.scripted("_", ", ".join(draws), always=True) if draws else ""
        return Piece(f"{self.mean}{below}{self.square(body)}", POSTFIXED)

    def bound_sign(self, operator: str, below: str, above: str = "") -> str:
        """Return the sign of an operator with its bound variable."""
        if operator in self.signs:
            return self.big_sign(operator, below, above)
        return self.named_sign(operator, below, above)

    def named_sign(self, operator: str, below: str, above: str) -> str:
        return self.word(operator) + self.bounds(below, above)

    def reaching(self, sign: str, body, operator: str):
        """Print a big operator. A ∑ extends over products, but max and similar operators bracket their operand."""
        if operator in self.signs:
            return (yield from self.print_over_body(sign, body))
        (operand,) = yield from self.each((body,), OR)
        return Piece(sign + self.round(operand))

    def slice(self, node):
        first, last = yield from self.each((node.first, node.last), SUM)
        return Piece(f"{first}:{last}")

    def first(self, node):
        """Print the lower bound of a sum. It is in a subscript, where anything more than a name needs brackets."""
        if is_plain_sum(node):
            piece = yield self.label(node, axes=False)
            return piece.text
        piece = yield self.visit(node)
        return self.round(piece.text)

    def print_over_body(self, sign: str, body):
        """Print ∑ with its operand. As an operand itself, the sum binds loosely if it contains a product."""
        operand = yield from self.right(body, QUOTIENT)
        level = ELEMENT if operand.level >= UNARY else UNARY
        return Piece(f"{sign} {operand.text}", level, True)

    # ------------------------------------------------------------------------------------------ roots and derivatives
    def root(self, node):
        return (yield from self.prefixed("√", node.arguments[0]))

    def differential(self, node):
        return (yield from self.prefixed("∂", node.body))

    def prefixed(self, sign: str, node):
        """Print √ or ∂ before an atom, or before an expression in brackets."""
        operand = yield self.visit(node)
        bare = operand.level == ATOM or type(node) is Subscript
        return Piece(self.before(sign, (operand if bare else self.bracketed(operand)).text), ELEMENT)

    def before(self, sign: str, operand: str) -> str:
        return sign + operand

    def derivative(self, node):
        above = yield from self.prefixed("∂", node.body)
        below = yield from self.variable(node)
        return Piece(f"{above.text}/{self.before('∂', below)}", QUOTIENT)

    def variable(self, node):
        """Print X*, the variable of ∂X*."""
        piece = yield from self.part(node.variable, POSTFIXED)
        if node.mark and self.takes_mark(node.variable):
            return self.axis_word(node.variable.text + node.mark)
        mark = self.sign(node.mark)
        return self.script(node.variable, piece.text, "^", mark) if mark else piece.text

    def takes_mark(self, variable) -> bool:
        """Return whether X^* may be written X*, which is possible after a word that is not a keyword."""
        return type(variable) is Name and variable.text[0].isalpha() and variable.text != "in"

    # ----------------------------------------------------------------------------------------------------- conditions
    def nearly(self, node):
        (left,) = yield from self.each(node.arguments[:1], RELATION)
        (right,) = yield from self.each(node.arguments[1:], SUM)
        return Piece(f"{left} {self.signs[node.operator]} {right}", RELATION)

    def relation(self, node):
        left, right = yield from self.each(node.arguments, SUM)
        return Piece(f"{left} {self.signs[node.operator]} {right}", RELATION)

    def parity(self, node):
        operand = yield from self.part(node.arguments[0], SUM, last=True)
        return Piece(f"{operand.text} {self.signs[node.operator]}", RELATION)

    def negation(self, node):
        operand = yield from self.part(node.arguments[0], ELEMENT)
        return Piece(f"{self.signs['¬']}{operand.text}", NOT)

    def disjunction(self, node):
        left = yield from self.part(node.arguments[0], OR)
        right = yield from self.part(node.arguments[1], AND)
        return Piece(f"{left.text} {self.signs['∨']} {right.text}", OR)

    def conjunction(self, node):
        """Print a ∧ b. The conjunction 1 ≤ i ∧ i ≤ j is printed as 1 ≤ i ≤ j."""
        operands = conjuncts(node)
        first = yield from self.part(operands[0], NOT)
        texts, chained = [first.text], True
        for before, operand in zip(operands, operands[1:]):
            chained = chained and (yield from self.continues(before, operand))
            piece = yield from self.part(operand.arguments[1] if chained else operand, SUM if chained else NOT, chained)
            texts += [self.signs[operand.operator if chained else "∧"], piece.text]
        return Piece(" ".join(texts), RELATION if chained else AND)

    def continues(self, before, operand):
        """Return whether `operand` is a relation that begins with the last side of the relation `before`."""
        if not all(type(node) is Call and FORMS.get(node.operator) == "relation" for node in (before, operand)):
            return False
        end = yield self.visit(before.arguments[1])
        start = yield self.visit(operand.arguments[0])
        return end == start


def sums_over_indices(node) -> bool:
    """Return whether a ∑ sums over indices that appear in its operand, as in ∑_i A_{height(i)}."""
    below = [part.text if type(part) is Name else "" for part in node.subscript]
    return bool(node.arguments) and bool(below) and names_in(node.arguments[0]).issuperset(below)
