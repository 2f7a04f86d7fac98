"""Operations, functions, cases and conditions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .. import nodes
from ..nodes import Call, Name, Number
from ..symbols import BINDERS
from ..tokens import Token
from .scripts import Scripts
from .values import Arguments, Bound, Head, Over, Renamed, around, covering, nodes_among, operator_of

FACTORS = ("juxtaposed", "⊙", "negative")


class Expressions(Scripts):
    def infix(self, children):
        left, operator, right = children
        if type(operator) is Token:
            span = operator.span
            return Call(operator.text, (), (), (left, right), (), (left.span[0], right.span[1]), span)
        name, _, subscript, _, _, span = operator
        return Call(name, (), subscript, (left, right), (), (left.span[0], right.span[1]), span)

    def quotient(self, children):
        numerator, sign, denominator = children
        span = (numerator.span[0], denominator.span[1])
        if type(denominator) is nodes.Differential:
            within = denominator.body
            if type(within) is nodes.AtPoint and type(numerator) is nodes.Differential:  # ∂Y/∂X*|_{X=U}
                found = self.derivative(numerator.body, within.body, (numerator.span[0], within.body.span[1]))
                return replace(within, body=found, span=span)
            found = self.of_differentials(numerator, denominator)
            if found is not None:
                return found
        return Call("/", (), (), (numerator, denominator), (), span, sign.span)

    def of_differentials(self, numerator, denominator):
        """∂L/∂W, also as the last factor of a product, or after a function, for ∂L alone has no value; None where it is neither."""
        if type(numerator) is nodes.Differential:
            return self.derivative(numerator.body, denominator.body, (numerator.span[0], denominator.span[1]))
        if type(numerator) is not Call or not (numerator.operator in FACTORS or len(numerator.arguments) == 1):
            return None
        *before, last = numerator.arguments
        found = self.of_differentials(last, denominator) if last.span[1] == numerator.span[1] else None  # no brackets
        if found is None:
            return None
        return replace(numerator, arguments=(*before, found), span=(numerator.span[0], denominator.span[1]))

    def derivative(self, body, variable, span):
        mark = ""
        while type(variable) is nodes.Starred:
            variable, mark = variable.base, variable.mark + mark
        return nodes.Derivative(body, variable, mark, span)

    def two_readings(self, children):
        numerator, _, denominator = children
        a, b = (self.source[slice(*node.span)] for node in (numerator, denominator.arguments[0]))
        c = self.source[slice(*denominator.arguments[1].span)]
        self.ambiguous((numerator.span[0], denominator.span[1]), f"({a} / {b}) {c}", f"{a} / ({b} {c})")

    def operator(self, children):
        token = children[0]
        subscript = self.plain(children[1]) if len(children) > 1 else ()
        return Head(token.text, (), subscript, (), token.span, covering(children))

    def negative(self, children):
        sign, operand = children
        return Call("negative", (), (), (operand,), (), (sign.start, operand.span[1]), sign.span)

    def prefix(self, children):
        head, operand = children
        span = (head.span[0], operand.span[1])
        if head.subscript and type(head.subscript[0]) in (Over, Bound):
            return self.over(head, operand, span)
        if head.name == "∂":  # only LaTeX: \frac{\partial}{\partial X^*} f(X)
            if type(operand) is nodes.AtPoint and self.source[operand.span[1] - 1] != ")":  # ∂/∂t f(t)|_{t=0}
                return replace(operand, body=self.derivative(operand.body, head.parameters[0], span), span=span)
            return self.derivative(operand, head.parameters[0], span)
        return Call(head.name, head.superscript, head.subscript, (operand,), head.parameters, span, head.name_span)

    def over(self, head, body, span):
        """max_{i ∈ [n]} X, max_{i=1}^{n} X, lim_{α→∞} X"""
        item = head.subscript[0]
        if type(item) is Bound:
            if len(head.superscript) != 1 or type(item.variable) is not Name:
                self.fail(
                    101, f"{head.name} from a number needs a plain variable, and where it ends", head.span,
                    hint=f"write {head.name}_{{i=1}}^{{n}}",
                )  # fmt: skip
            return nodes.IndexSum(head.name, item.variable, item.first, head.superscript[0], body, span)
        if head.superscript:
            self.fail(101, f"{head.name} over a set has no upper end", head.span)
        variable = Name(item.variable.name, item.variable.span)
        return nodes.Over(head.name, variable, item.over, body, span)

    def juxtapose(self, children):
        left, right = children
        span = (left.span[0], right.span[1])
        if type(right) is Number and type(left) is Number:
            self.fail(
                101,
                "two numbers stand side by side",
                span,
                hint="put a comma between them in a literal, or · for their product",
            )
        if self.source[right.span[0]] == "[" and right.span[0] == left.span[1]:
            self.indexed_by_number(right.span)
        return Call("juxtaposed", (), (), (left, right), (), span, span)

    def big(self, children):
        sign, subscript, body = children[0], children[1], children[-1]
        span = (sign.start, body.span[1])
        items = subscript.items
        if len(items) == 1 and type(items[0]) is Over and len(children) == 3:
            head = Head(sign.text, (), items, (), (sign.start, sign.end), (sign.start, subscript.span[1]))
            return self.over(head, body, span)
        if len(items) != 1 or type(items[0]) is not Bound:
            items = self.plain(subscript)
        upper = children[2].items if len(children) == 4 else ()
        if len(items) == 1 and type(items[0]) is Bound:
            bound = items[0]
            if len(upper) != 1 or type(upper[0]) is Token or type(bound.variable) is not Name:
                self.fail(
                    101, f"{sign.text} from a number needs a plain variable, and where it ends", subscript.span,
                    hint=f"write {sign.text}_{{i=1}}^{{n}}",
                )  # fmt: skip
            return nodes.IndexSum(sign.text, bound.variable, bound.first, upper[0], body, span)
        if upper:
            self.fail(
                101, f"{sign.text} over an axis has no upper end", children[2].span,
                hint=f"write {sign.text}_{{i=1}}^{{n}} for a sum over numbers, or {sign.text}_{{axis}} for one over an axis",
            )  # fmt: skip
        operator_span = (sign.start, subscript.span[1])
        return Call(sign.text, (), items, (body,), (), span, operator_span)

    def root(self, children):
        sign, operand = children
        return Call("sqrt", (), (), (operand,), (), (sign.start, operand.span[1]), sign.span)

    def differential(self, children):
        sign, body = children
        if type(body) is nodes.AtPoint:  # ∂X*|_{X=U}, the denominator of a derivative
            return nodes.Differential(replace(body, body=self.unmarked(body.body)), (sign.start, body.span[1]))
        body = self.unmarked(body)
        span = (sign.start, body.span[1])
        within, by = divided(body)
        return nodes.Differential(body, span) if by is None else self.derivative(within, by.body, span)

    def unmarked(self, body):
        """X* of ∂X*"""
        if type(body) is Name and body.text[-1] in "*†":
            word = body.text.rstrip("*†")
            body = nodes.Starred(
                Name(word, (body.span[0], body.span[0] + len(word))), body.text[len(word) :], body.span
            )
        return body

    def at_points(self, children):
        return nodes.AtPoint(children[0], tuple(child for child in children if type(child) is tuple), around(children))

    def point(self, children):
        return self.name(children[:1]), children[2]

    def bracketed(self, children):
        return replace(children[1], span=around(children))

    def call(self, children):
        head, _, arguments, end = children
        span = (head.span[0], end.end)
        if head.subscript and type(head.subscript[0]) in (Over, Bound):
            if len(arguments.ordinary) != 1 or arguments.parameters:
                self.fail(304, f"{head.name} over a variable takes one operand", span)
            return self.over(head, arguments.ordinary[0], span)
        ordinary, parameters = arguments
        if not ordinary and not parameters:
            self.fail(105, f"{head.name}() has no argument", (children[1].start, end.end), hint=f"write {head.name}(X)")
        parameters += head.parameters
        name = head.name if head.superscript or parameters else operator_of(head.name, ordinary)
        return Call(name, head.superscript, head.subscript, ordinary, parameters, span, head.name_span)

    def arguments(self, children):
        ordinary, parameters, current = [], [], 0
        for child in children:
            if type(child) is Token:
                current += child.type == "SEMICOLON"
            else:
                (parameters if current else ordinary).append(child)
        return Arguments(tuple(ordinary), tuple(parameters))

    def size(self, children):
        return nodes.Size(self.as_axis(children[1]), around(children))

    def indicator(self, children):
        return nodes.Indicator(children[2], around(children))

    def cases(self, children):
        return nodes.Cases(tuple(child for child in children if type(child) is tuple), around(children))

    def branch(self, children):
        found = nodes_among(children)
        return found[0], found[1] if len(found) > 1 else None

    def function(self, children):
        token = children[0]
        found: dict = {"SUP": (), "SUB": (), "WITH": ()}
        powers = [script for script in children[1:] if script.kind == "SUP"]
        if len(powers) > 1:
            self.two_powers((token.start, powers[0].span[0]), powers[0].span, powers[1].span)
        for script in children[1:]:
            only = script.items[0] if script.kind == "SUB" and len(script.items) == 1 else None
            if token.text in BINDERS and type(only) is Renamed and len(only.old) == len(only.new) == 1:
                only = Over(only.old[0], Name(only.new[0].name, only.new[0].span), only.span)
            found[script.kind] += (only,) if type(only) in (Over, Bound) else self.plain(script)
        if token.text in BINDERS and not (found["SUB"] and type(found["SUB"][0]) is Over):
            self.fail(101, f"{token.text} says what goes where", token.span, hint=f"write {token.text}_{{α→∞}}")
        return Head(token.text, found["SUP"], found["SUB"], found["WITH"], token.span, covering(children))

    # conditions
    def negated(self, children):
        sign, operand = children
        return Call("¬", (), (), (operand,), (), (sign.start, operand.span[1]), sign.span)

    def compared(self, children):
        found = []
        for left, sign, right in zip(children[::2], children[1::2], children[2::2]):
            found.append(Call(sign.text, (), (), (left, right), (), (left.span[0], right.span[1]), sign.span))
        whole = found[0]
        for part in found[1:]:
            whole = Call("∧", (), (), (whole, part), (), (whole.span[0], part.span[1]), part.operator_span)
        return whole

    def nearly(self, children):
        """a ≈ b ≈ c as (a ≈ b) ≈ c."""
        whole, *others = children
        for sign, right in zip(others[::2], others[1::2]):
            whole = Call(sign.text, (), (), (whole, right), (), (whole.span[0], right.span[1]), sign.span)
        return whole

    def relation(self, children):
        return children[0]

    def parity(self, children):
        operand, word = children
        return Call(word.text, (), (), (operand,), (), (operand.span[0], word.end), word.span)


def divided(node: Any) -> tuple[Any, Any]:
    """∑_{a} X / ∂X* after a ∂ as what that is of, and ∂X*, which is None elsewhere: the sum reaches right over products."""
    if type(node) is nodes.IndexSum:
        body, by = divided(node.body)
        return replace(node, body=body, span=(node.span[0], body.span[1])), by
    if type(node) is Call and node.operator == "/" and type(node.arguments[1]) is nodes.Differential:
        return node.arguments[0], node.arguments[1]
    if type(node) is Call and len(node.arguments) == 1 and node.arguments[0].span[1] == node.span[1]:
        body, by = divided(node.arguments[0])
        return replace(node, arguments=(body,), span=(node.span[0], body.span[1])), by
    return node, None
