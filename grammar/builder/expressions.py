"""Build nodes for operations, functions, cases and conditions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .. import nodes
from ..ambiguous_powers import inverse_or_reciprocal
from ..nodes import Call, Name, Number
from ..symbols import BIG, BINDERS, FUNCTIONS
from ..tokens import Token
from .indices import Indices
from .literals import (
    ArgumentList,
    Bound,
    Head,
    Renamed,
    VariableRange,
    covering,
    find_outer_span,
    nodes_among,
    operator_of,
    start_of,
)

MINUS_ONE = (Call("negative", (), (), (Number(1),)),)
FACTORS = ("juxtaposed", "⊙", "negative")


class Expressions(Indices):
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
                derivative = self.derivative(numerator.body, within.body, (numerator.span[0], within.body.span[1]))
                return replace(within, body=derivative, span=span)
            derivative = self.read_differential_quotient(numerator, denominator)
            if derivative is not None:
                return derivative
        return Call("/", (), (), (numerator, denominator), (), span, sign.span)

    def read_differential_quotient(self, numerator, denominator):
        """Return the node for a derivative such as ∂L/∂W, or None if the quotient contains no derivative.

        The differential ∂L may also be the last factor of the numerator or the operand of a function.
        """
        if type(numerator) is nodes.Differential:
            return self.derivative(numerator.body, denominator.body, (numerator.span[0], denominator.span[1]))
        if type(numerator) is not Call or not (numerator.operator in FACTORS or len(numerator.arguments) == 1):
            return None
        *before, last = numerator.arguments
        result = (
            self.read_differential_quotient(last, denominator) if last.span[1] == numerator.span[1] else None
        )  # The function has no brackets.
        if result is None:
            return None
        return replace(numerator, arguments=(*before, result), span=(numerator.span[0], denominator.span[1]))

    def derivative(self, body, variable, span):
        mark = ""
        while type(variable) is nodes.Starred:
            variable, mark = variable.base, variable.mark + mark
        return nodes.Derivative(body, variable, mark, span)

    def two_readings(self, children):
        numerator, sign, denominator = children
        factor, operand = denominator.arguments
        if is_big(operand) and is_plain_number(numerator) and is_plain_number(factor):  # 1/2 ∑_{i} a^2
            span = (numerator.span[0], operand.span[1])
            quotient = Call("/", (), (), (numerator, factor), (), (span[0], factor.span[1]), sign.span)
            return Call("juxtaposed", (), (), (quotient, operand), (), span, span)
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
        self.refuse_inverse(head, span)
        if binds(head.subscript):
            return self.over(head, head.superscript, operand, span)
        if head.name == "∂":  # only LaTeX: \frac{\partial}{\partial X^*} f(X)
            if type(operand) is nodes.AtPoint and self.source[operand.span[1] - 1] != ")":  # ∂/∂t f(t)|_{t=0}
                return replace(operand, body=self.derivative(operand.body, head.parameters[0], span), span=span)
            return self.derivative(operand, head.parameters[0], span)
        return Call(head.name, head.superscript, head.subscript, (operand,), head.parameters, span, head.name_span)

    def refuse_inverse(self, head, span):
        """Raise NotationError if a function has the power −1, as in sin^{-1} x.

        `span` ends at the end of the expression.
        """
        if head.superscript == MINUS_ONE and head.name in FUNCTIONS:
            raise inverse_or_reciprocal(head.name, head.span, span, self.source)

    def restricted(self, children):
        """Build the condition below an operator, such as i < j or 1 ≤ i < j ≤ n. A chain becomes a conjunction."""
        signs = [sign.text for sign in children[1::2]]
        if len(signs) > 1 and "≠" in signs:
            self.fail(
                107, f"{self.source[slice(*find_outer_span(children))]} does not order or separate all of its indices", find_outer_span(children),
                hint="write the range of the indices first, and then the condition: ∑_{i,j ∈ [n], i ≠ j}",
            )  # fmt: skip
        condition = self.compared(children)
        variable = next((child for child in children[::2] if type(child) is Name), None)
        if variable is None:
            self.fail(
                101,
                "a condition below an operator must be about an index",
                find_outer_span(children),
                hint="write i ≠ j",
            )
        return VariableRange(self.to_axis(variable), condition, find_outer_span(children))

    def juxtapose(self, children):
        left, right = children
        span = (left.span[0], right.span[1])
        if type(right) is Number and type(left) is Number:
            self.fail(
                101,
                "two numbers in a row",
                span,
                hint="separate entries with a comma, or multiply with ·",
            )
        if self.source[right.span[0]] == "[" and right.span[0] == left.span[1]:
            self.refuse_python_index(right.span)
        return Call("juxtaposed", (), (), (left, right), (), span, span)

    def big(self, children):
        sign, subscript, body = children[0], children[1], children[-1]
        span = (sign.start, body.span[1])
        upper = children[2].items if len(children) == 4 else ()
        if binds(subscript.items):
            head = Head(sign.text, (), subscript.items, (), (sign.start, subscript.span[1]), subscript.span)
            return self.over(head, upper, body, span)
        items = self.plain(subscript)
        if upper:
            self.fail(
                101, f"{sign.text} over an axis takes no upper limit", children[2].span,
                hint=f"write {sign.text}_{{i=1}}^{{n}} for a sum over numbers, or {sign.text}_{{axis}} for one over an axis",
            )  # fmt: skip
        operator_span = (sign.start, subscript.span[1])
        return Call(sign.text, (), items, (body,), (), span, operator_span)

    def root(self, children):
        sign, operand = children
        return Call("sqrt", (), (), (operand,), (), (sign.start, operand.span[1]), sign.span)

    def differential(self, children):
        sign, body = children
        if type(body) is nodes.AtPoint:  # The denominator of a derivative may be ∂X*|_{X=U}.
            return nodes.Differential(replace(body, body=self.unmarked(body.body)), (sign.start, body.span[1]))
        body = self.unmarked(body)
        span = (sign.start, body.span[1])
        within, by = split_at_partial(body)
        return nodes.Differential(body, span) if by is None else self.derivative(within, by.body, span)

    def unmarked(self, body):
        """Return the variable X* of a derivative as a Starred node.

        The lexer may have read the star as part of the name.
        """
        if type(body) is Name and body.text[-1] in "*†":
            word = body.text.rstrip("*†")
            body = nodes.Starred(
                Name(word, (body.span[0], body.span[0] + len(word))), body.text[len(word) :], body.span
            )
        return body

    def factorial(self, children):
        """Build n!. Raise NotationError for x^2! and n!!, whose operands are ambiguous."""
        operand, sign = children
        span = (start_of(operand), sign.end)
        bare = self.source[operand.span[1] - 1 : operand.span[1]] not in (")", "]")
        if bare and type(operand) is nodes.Superscript:
            base, power = (
                self.source[slice(*part)] for part in (operand.base.span, (operand.base.span[1], operand.span[1]))
            )
            power = power.strip().removeprefix("^").strip("{}")
            self.ambiguous(span, f"({base}^{{{power}}})!", f"{base}^{{{power}!}}")
        if (
            bare
            and type(operand) is Call
            and operand.operator == "factorial"
            and self.source[operand.span[1] - 1] == "!"
        ):
            inner = self.source[slice(*operand.span)]
            self.ambiguous(span, f"({inner})!, the factorial of a factorial", "the product of every second number")
        return Call("factorial", (), (), (operand,), (), span, sign.span)

    def at_points(self, children):
        return nodes.AtPoint(
            children[0], tuple(child for child in children if type(child) is tuple), find_outer_span(children)
        )

    def point(self, children):
        return self.name(children[:1]), children[2]

    def bracketed(self, children):
        return replace(children[1], span=find_outer_span(children))

    def call(self, children):
        head, _, arguments, end = children
        span = (head.span[0], end.end)
        self.refuse_inverse(head, span)
        if binds(head.subscript):
            if len(arguments.ordinary) != 1 or arguments.parameters:
                self.fail(304, f"{head.name} over a variable expects one operand", span)
            return self.over(head, head.superscript, arguments.ordinary[0], span)
        ordinary, parameters = arguments
        if not ordinary and not parameters:
            self.fail(
                105, f"{head.name}() expects an argument", (children[1].start, end.end), hint=f"write {head.name}(X)"
            )
        if head.name == "‖" and (len(ordinary) != 1 or parameters):
            self.fail(304, "a norm expects one operand", span, hint="write ‖x‖, or ‖x‖_p")
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
        return ArgumentList(tuple(ordinary), tuple(parameters))

    def size(self, children):
        return nodes.Size(self.to_axis(children[1]), find_outer_span(children))

    def indicator(self, children):
        return nodes.Indicator(children[2], find_outer_span(children))

    def cases(self, children):
        return nodes.Cases(tuple(child for child in children if type(child) is tuple), find_outer_span(children))

    def branch(self, children):
        result = nodes_among(children)
        return result[0], result[1] if len(result) > 1 else None

    def function(self, children):
        token = children[0]
        result: dict = {"SUP": (), "SUB": (), "WITH": ()}
        powers = [script for script in children[1:] if script.kind == "SUP"]
        if len(powers) > 1:
            self.two_powers((token.start, powers[0].span[0]), powers[0].span, powers[1].span)
        for script in children[1:]:
            only = script.items[0] if script.kind == "SUB" and len(script.items) == 1 else None
            if token.text in BINDERS and type(only) is Renamed and len(only.old) == len(only.new) == 1:
                only = VariableRange(only.old[0], Name(only.new[0].name, only.new[0].span), only.span)
            binding = (only,) if type(only) in (VariableRange, Bound) else script.items
            result[script.kind] += binding if script.kind == "SUB" and binds(binding) else self.plain(script)
        if token.text in BINDERS and not (len(result["SUB"]) == 1 and type(result["SUB"][0]) is VariableRange):
            self.fail(
                101,
                f"{token.text} needs a variable and the value that it approaches",
                token.span,
                hint=f"write {token.text}_{{α→∞}}",
            )
        return Head(token.text, result["SUP"], result["SUB"], result["WITH"], token.span, covering(children))

    # conditions
    def negated(self, children):
        sign, operand = children
        return Call("¬", (), (), (operand,), (), (sign.start, operand.span[1]), sign.span)

    def compared(self, children):
        result = []
        for left, sign, right in zip(children[::2], children[1::2], children[2::2]):
            result.append(Call(sign.text, (), (), (left, right), (), (left.span[0], right.span[1]), sign.span))
        whole = result[0]
        for part in result[1:]:
            whole = Call("∧", (), (), (whole, part), (), (whole.span[0], part.span[1]), part.operator_span)
        return whole

    def nearly(self, children):
        """Build a chain such as a ≈ b ≈ c, nested as (a ≈ b) ≈ c."""
        whole, *others = children
        for sign, right in zip(others[::2], others[1::2]):
            whole = Call(sign.text, (), (), (whole, right), (), (whole.span[0], right.span[1]), sign.span)
        return whole

    def relation(self, children):
        return children[0]

    def parity(self, children):
        operand, word = children
        return Call(word.text, (), (), (operand,), (), (operand.span[0], word.end), word.span)


def binds(items: tuple) -> bool:
    """Return whether a subscript binds variables, as in i=1, i ∈ [n] and i < j."""
    return any(type(item) in (VariableRange, Bound) for item in items)


def is_big(node: Any) -> bool:
    """Return whether a node is a ∑, a ∏ or an expectation."""
    return type(node) in (nodes.IndexSum, nodes.Over, nodes.Expectation, Call) and (
        type(node) is nodes.Expectation or node.operator in BIG
    )


def is_plain_number(node: Any) -> bool:
    """Return whether a node is a number or a size, possibly negative.

    Such a factor is unambiguous before a ∑.
    """
    if type(node) is Call and node.operator == "negative":
        (node,) = node.arguments
    return type(node) in (Number, nodes.Size)


def split_at_partial(node: Any) -> tuple[Any, Any]:
    """Split the operand of a ∂ into its numerator and denominator: ∑_{a} X / ∂X* into ∑_{a} X and ∂X*.

    If no denominator begins with ∂, return the operand and None.
    """
    if type(node) is nodes.IndexSum:
        body, by = split_at_partial(node.body)
        return replace(node, body=body, span=(node.span[0], body.span[1])), by
    if type(node) is Call and node.operator == "/" and type(node.arguments[1]) is nodes.Differential:
        return node.arguments[0], node.arguments[1]
    if type(node) is Call and len(node.arguments) == 1 and node.arguments[0].span[1] == node.span[1]:
        body, by = split_at_partial(node.arguments[0])
        return replace(node, arguments=(body,), span=(node.span[0], body.span[1])), by
    return node, None
