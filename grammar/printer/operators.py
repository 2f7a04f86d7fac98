"""Lay out operators, functions and conditions in text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import nodes
from ..nodes import Call, Name, Number, Subscript
from ..symbols import BINDERS, SYMBOLS, value
from ..traversal import conjuncts, names_in
from .boxes import (
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
    Box,
    Part,
    separate,
    write,
)
from .forms import LATEX, TEXT
from .layout import FormulaLayout, is_plain_sum


def _values(*terminals: str) -> list[str]:
    return [value(symbol) for symbol in SYMBOLS if symbol.terminal in terminals]


CALLS = {  # Maps the operator of a Call to its method. All other operators are functions.
    "+": "addition", "-": "addition", "/": "quotient", "juxtaposed": "juxtaposition", "negative": "negative",
    "factorial": "factorial", "binom": "binomial", "∧": "conjunction", "∨": "disjunction", "¬": "negation", "sqrt": "root",
    **dict.fromkeys(_values("BIG"), "big"),
    **dict.fromkeys(_values("RELATION", "EQUALS"), "relation"),
    **dict.fromkeys(_values("APPROX"), "nearly"),
    **dict.fromkeys(_values("PARITY"), "parity"),
    **dict.fromkeys(_values("DOT", "OPERATOR"), "product"),
}  # fmt: skip
PLAIN = {"factorial": 1, "root": 1, "binomial": 2}  # These methods require this number of arguments, and no scripts.
LOOSE, SUMS, PRODUCTS = range(3)  # How loosely an operator binds, for line breaks.


class OperatorLayout(FormulaLayout):
    """The layout in text of calls and of operators that bind variables."""

    shape: Callable[..., Box]

    def operator(self, sign: Part, looseness: int) -> Box:
        return Box((" ", sign, " "), kind="operator", data=looseness)

    # ------------------------------------------------------------------------------------------------ infix and prefix
    def call(self, node) -> Box:
        method = CALLS.get(node.operator, "function") if node.arguments else "function"
        if method in PLAIN and (
            node.superscript or node.subscript or node.parameters or len(node.arguments) != PLAIN[method]
        ):
            method = "function"
        return getattr(self, method)(node)

    def signature_head(self, node) -> Box:
        """Return the box of the function or operator that a signature declares."""
        method = CALLS.get(node.operator)
        if method == "product":
            return Box((self.product_sign(node),))
        if method == "big":
            return self.big_sign(node.operator, self.below(node.subscript))
        if node.operator == "→":
            old, new = (self.spell_axis(axis.text) for axis in node.subscript)
            return Box((f"[]_{{{old}{self.signs['→']}{new}}}",))
        return Box(self.head(node)[:2])

    def addition(self, node) -> Box:
        left = self.part(node.arguments[0], SUM, last=True)
        right = self.right(node.arguments[1], QUOTIENT)
        return Box((left, self.operator(node.operator, SUMS), right), SUM)

    def product(self, node) -> Box:
        left, right = self.part(node.arguments[0], PRODUCT), self.right(node.arguments[1], UNARY)
        return Box((left, self.operator(self.product_sign(node), PRODUCTS), right), PRODUCT, right.reaches)

    def product_sign(self, node) -> Part:
        """Return the sign of a product with its axes, such as ⊙_{key}."""
        if node.subscript:
            form = f"under {node.operator}"
            return self.form(
                form if form in self.templates else "under", self.signs[node.operator], self.below(node.subscript)
            )
        is_of_numbers = node.operator == "⊙" and all(type(operand) is Number for operand in node.arguments)
        return self.signs["·" if is_of_numbers and node.arguments else node.operator]

    def quotient(self, node) -> Box:
        above, below = self.part(node.arguments[0], PRODUCT), self.right(node.arguments[1], ELEMENT)
        if type(node.arguments[1]) is nodes.Differential:
            above = self.round(above)  # Brackets prevent a derivative as the last factor.
        return self.form("quotient", above, below, level=QUOTIENT, reaches=below.reaches)

    def juxtaposition(self, node) -> Box:
        left, right = self.part(node.arguments[0], JUXTAPOSITION), self.right(node.arguments[1], ELEMENT)
        text = write(right)
        if text[0].isdigit():
            right = self.round(right)
        if "|" in text and "|" in write(left):  # In |a| n |b|, the bars could also be paired differently.
            left = self.round(left)
        return Box((left, " ", right), JUXTAPOSITION, right.reaches)

    def negative(self, node) -> Box:
        operand = self.right(node.arguments[0], UNARY)
        return Box(("-", operand), UNARY, operand.reaches)

    def factorial(self, node) -> Box:
        """Return the box of a factorial, such as n! or (x^2)!."""
        (operand,) = node.arguments
        box = self.part(operand, POSTFIXED)
        is_bare = type(operand) in (Name, Number, Subscript, nodes.Index) or write(box).endswith((")", "]"))
        return Box((box if is_bare and box.level >= POSTFIXED else self.round(box), "!"), POSTFIXED)

    def binomial(self, node) -> Box:
        return self.function(node)

    def root(self, node) -> Box:
        return self.prefix("√", node.arguments[0])

    def differential(self, node) -> Box:
        return self.prefix("∂", node.body)

    def prefix(self, sign: str, node: Any) -> Box:
        """Return √ or ∂ and its operand, in brackets unless the operand is an atom or has a subscript of labels."""
        operand = self.box_of(node)
        is_bare = operand.level == ATOM or type(node) is Subscript
        return Box((self.put_before(sign, operand if is_bare else self.round(operand))), ELEMENT)

    def put_before(self, sign: str, operand: Part) -> tuple[Part, ...]:
        return self.signs[sign], operand

    def derivative(self, node) -> Box:
        below = Box(self.put_before("∂", self.variable(node)))
        return self.form("derivative", self.prefix("∂", node.body), below, level=QUOTIENT)

    def variable(self, node) -> Part:
        """Return the variable of a derivative, such as X* in ∂X*."""
        if node.mark and self.takes_mark(node.variable):
            word = Box((self.spell_axis(node.variable.text),), kind="word", data=node.variable.text)
            return Box((word, self.sign(node.mark)))
        box, mark = self.part(node.variable, POSTFIXED), self.sign(node.mark)
        return self.attach(node.variable, box, "^", mark) if mark else box

    def takes_mark(self, variable: Any) -> bool:
        """Return whether X^* can be written as X*, which is possible for any word except `in`."""
        return type(variable) is Name and variable.text[0].isalpha() and variable.text != "in"

    # ------------------------------------------------------------------------------------- over axes, indices and sets
    def big(self, node) -> Box:
        below = self.below(node.subscript, axes=not sums_over_indices(node))
        return self.reach(self.big_sign(node.operator, below), node.arguments[0], node.operator)

    def big_sign(self, operator: str, below: Part, above: Part = "") -> Box:
        """Return the sign of an operator with its bound variable or its axes."""
        if operator in self.signs:
            return self.form("big", self.signs[operator], below, above)
        return self.form("named", self.word(operator), below, above)

    def reach(self, sign: Part, body: Any, operator: str) -> Box:
        """Return the box of a big operator with its operand, in brackets unless the operator is a sign such as ∑.

        As an operand, the result binds loosely if it contains a product.
        """
        if operator not in self.signs:
            return Box((sign, self.round(self.part(body, OR, last=True))))
        operand = self.right(body, QUOTIENT)
        return Box((sign, " ", operand), ELEMENT if operand.level >= UNARY else UNARY, True)

    def indexsum(self, node) -> Box:
        first = self.label(node.first, axes=False) if is_plain_sum(node.first) else self.round(self.box_of(node.first))
        below = Box((self.spell_label(node.variable.text), "=", first))
        return self.reach(self.big_sign(node.operator, below, self.tight(node.last, SUM)), node.body, node.operator)

    def over(self, node) -> Box:
        """Return the box of an operator over a set, such as max_{i ∈ [n]} X."""
        variable = self.spell_label(node.variable.text)
        if type(node.over) is nodes.Set:
            below = Box((variable, f" {self.signs['∈']} ", self.box_of(node.over)))
        elif node.operator in BINDERS:
            below = Box((variable, self.signs["→"], self.label_or_tight(node.over)))
        else:
            below = self.condition_below(node.over)
        return self.reach(self.big_sign(node.operator, below), node.body, node.operator)

    def condition_below(self, condition: Any) -> Box:
        """Return the box of a condition, such as i < j or 1 ≤ i < j ≤ n."""
        relations = conjuncts(condition)
        parts = [self.label_or_tight(relations[0].arguments[0])]
        for relation in relations:
            parts += [f" {self.signs[relation.operator]} ", self.label_or_tight(relation.arguments[1])]
        return Box(parts)

    def label_or_tight(self, node: Any) -> Part:
        return self.spell_label(node.text) if type(node) is Name else self.tight(node, SUM)

    def draw(self, node) -> Box:
        """Return the box of a random variable, such as x ∼ N(0, 1)."""
        return Box((self.word(node.name), self.operator(self.signs["∼"], LOOSE), self.distribution(node)), RELATION)

    def distribution(self, node) -> Box:
        if not node.family:
            return Box(self.each(node.arguments, ELEMENT))
        family = Box((self.family(node.family), self.round(Box(separate(self.each(node.arguments, SUM), ", ")))))
        return self.shape(family, node.axes)

    def family(self, name: str) -> Part:
        return self.word(name)

    def expectation(self, node) -> Box:
        """Return the box of an expectation, such as 𝔼_{x ∼ N(0, 1)}[x]."""
        draws = [
            self.spell_label(draw.text)
            if type(draw) is Name
            else Box((self.spell_label(draw.name), f" {self.signs['∼']} ", self.distribution(draw)))
            for draw in node.draws
        ]
        below = self.script("_", Box(separate(draws, ", ")), always=True) if draws else ""
        return Box((self.signs["𝔼"], below, self.square(self.part(node.body, SUM, last=True))), POSTFIXED)

    def atpoint(self, node) -> Box:
        """Return the box of a value at a point, such as f(t)|_{t = 0}."""
        points = [Box((self.word(name.text), " = ", self.part(other, SUM, last=True))) for name, other in node.points]
        is_latex = self.column >= LATEX
        body = self.part(node.body, SUM if is_latex else POSTFIXED, last=is_latex)
        return self.form("point", body, Box(separate(points, ", ")), level=POSTFIXED)

    def slice(self, node) -> Box:
        return Box(separate(self.each((node.first, node.last), SUM), ":"))

    # ------------------------------------------------------------------------------------------------------- functions
    def function(self, node) -> Box:
        if node.operator == "‖":
            return self.norm(node)
        return Box((*self.head(node), self.round(self.arguments(node))))

    def norm(self, node) -> Box:
        """Return the box of a norm, such as ‖x‖ or ‖x‖_1."""
        operand = self.part(node.arguments[0], SUM, last=True)
        if self.column == TEXT and "‖" in write(operand):
            operand = self.round(operand)
        return Box((self.form("norm", operand), self.script("_", self.above(node.parameters))), POSTFIXED)

    def head(self, node) -> tuple[Part, ...]:
        """Return a function's name and scripts. A space follows the name d, because d( would begin a derivative."""
        scripts = self.script("_", self.below(node.subscript)), self.script("^", self.above(node.superscript))
        gap = Box((" ",), kind="gap") if node.operator == "d" and scripts == ("", "") else ""
        return self.word(node.operator), Box(scripts), gap

    def arguments(self, node) -> Box:
        parts = separate(self.list_parts(node.arguments, OR), ", ")
        if node.parameters:
            parts += ["; ", *separate(self.list_parts(node.parameters, OR), ", ")]
        return Box(parts)

    # ---------------------------------------------------------------------------------------- literals and conditions
    def literal(self, node) -> Box:
        rows = [Box(separate(self.list_parts(row, SUM), ", ")) for row in node.rows]
        axes = Box(separate(map(self.box_of, node.axes), ", "))
        return Box((self.square(Box(separate(rows, "; "))), self.script("_", axes, always=True)), POSTFIXED)

    def cases(self, node) -> Box:
        return self.form("cases", Box(separate([self.branch(*branch) for branch in node.branches], "; ")))

    def branch(self, body: Any, condition: Any) -> Box:
        value = self.part(body, SUM, last=True)
        return Box((value, " otherwise") if condition is None else (value, " if ", self.box_of(condition)))

    def indicator(self, node) -> Box:
        return Box((self.signs["𝕀"], self.square(self.box_of(node.condition))))

    def relation(self, node, left: int = SUM) -> Box:
        """Return the box of a comparison.

        The `data` of the box is the last side, because a chain of comparisons may continue from it.
        """
        first, last = self.part(node.arguments[0], left, last=True), self.part(node.arguments[1], SUM, last=True)
        operator = self.operator(self.signs[node.operator], LOOSE)
        return Box((first, operator, last), RELATION, data=node.arguments[1])

    def nearly(self, node) -> Box:
        return self.relation(node, RELATION)

    def parity(self, node) -> Box:
        return Box((self.part(node.arguments[0], SUM, last=True), f" {self.signs[node.operator]}"), RELATION)

    def negation(self, node) -> Box:
        return Box((self.signs["¬"], self.part(node.arguments[0], ELEMENT)), NOT)

    def disjunction(self, node) -> Box:
        left, right = self.part(node.arguments[0], OR), self.part(node.arguments[1], AND)
        return Box((left, self.operator(self.signs["∨"], PRODUCTS), right), OR)

    def conjunction(self, node) -> Box:
        """Return the box of a conjunction a ∧ b. For example, 1 ≤ i ∧ i ≤ j becomes 1 ≤ i ≤ j."""
        first, second = node.arguments
        left = self.box_of(first) if is_call(first, "conjunction") else self.part(first, NOT)
        if self.continues(left, first, second):
            operator = self.operator(self.signs[second.operator], LOOSE)
            right = self.part(second.arguments[1], SUM, last=True)
            return Box((left, operator, right), RELATION, data=second.arguments[1])
        return Box((left, self.operator(self.signs["∧"], PRODUCTS), self.part(second, NOT)), AND)

    def continues(self, left: Box, first: Any, second: Any) -> bool:
        """Return whether two comparisons form a chain, because the second begins with the last side of the first."""
        is_chain = is_call(first, "relation") or (is_call(first, "conjunction") and left.data is not None)
        if not is_chain or not is_call(second, "relation"):
            return False
        return write(self.box_of(left.data)) == write(self.box_of(second.arguments[0]))


def is_call(node: Any, method: str) -> bool:
    return type(node) is Call and CALLS.get(node.operator) == method


def sums_over_indices(node: Call) -> bool:
    """Return whether a ∑ sums over indices that occur in its operand, as in ∑_i A_{height(i)}."""
    below = [part.text if type(part) is Name else "" for part in node.subscript]
    return bool(node.arguments) and bool(below) and names_in(node.arguments[0]).issuperset(below)
