"""Rules of the grammar to nodes: one method for each rule, its children to what it stands for."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

from .. import nodes
from ..errors import NotationError
from ..nodes import Axis, Call, Name, Node, Number, axis_of
from ..symbols import BINDERS, NUMBER_SETS, SUPERSCRIPTS
from ..tokens import Token

FACTORS = ("juxtaposed", "⊙", "negative")


class _Head(NamedTuple):
    """An operator or function with its scripts, before its operands are known."""

    name: str
    superscript: tuple
    subscript: tuple
    parameters: tuple
    name_span: tuple[int, int]
    span: tuple[int, int]


class _Script(NamedTuple):
    kind: str  # SUB, SUP, or shape
    items: tuple
    span: tuple[int, int]


class _Row(NamedTuple):
    cells: tuple
    span: tuple[int, int]


class _Bracket(NamedTuple):
    """[…] that a subscript follows: a literal, or an expression to index or rename."""

    rows: tuple
    span: tuple[int, int]


class _Indexed(NamedTuple):
    axis: Axis
    index: Node
    span: tuple[int, int]


class _Renamed(NamedTuple):
    old: tuple
    new: tuple
    span: tuple[int, int]


class _Arguments(NamedTuple):
    ordinary: tuple
    parameters: tuple


class _Bound(NamedTuple):
    variable: Node
    first: Node
    span: tuple[int, int]


class _Over(NamedTuple):
    """i ∈ [n], j ≠ i, α → 0: a variable, and where it goes."""

    variable: Axis
    over: Any
    span: tuple[int, int]


class _Results(NamedTuple):
    """A, B = X, Y; f(x) = X, Y; A, B = f(x)"""

    heads: tuple
    bodies: tuple
    span: tuple[int, int]


class _Member(NamedTuple):
    sets: tuple
    span: tuple[int, int]


def _around(children) -> tuple[int, int]:
    return _start(children[0]), _end(children[-1])


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


def _covering(children) -> tuple[int, int]:
    """The same where LaTeX wrote them in another order: \\nfun{\\seq}{softmax}, the axes before the name."""
    return min(map(_start, children)), max(map(_end, children))


def _start(value) -> int:
    return value.start if type(value) is Token else value.span[0]


def _end(value) -> int:
    return value.end if type(value) is Token else value.span[1]


def _nodes(children) -> tuple:
    return tuple(child for child in children if type(child) is not Token)


def _operator_of(name: str, operands: tuple) -> str:
    """concat_{ax}(X, Y) is the ASCII spelling of X ⊕_{ax} Y."""
    return "⊕" if name == "concat" and len(operands) == 2 else name


class Builder:
    """One method for each rule of the grammar: its children to a node."""

    def __init__(self, source: str):
        self.source = source

    def fail(self, number, message, span, **more):
        raise NotationError(number, message, self.source, span, **more)

    # statements
    def program(self, children):
        found = several(self, _nodes(children))
        once = [node for before, node in zip((None, *found), found) if not type(before) is type(node) is nodes.Ellipsis]
        return nodes.Program(tuple(once), _around(children))

    def value(self, children):
        return nodes.Value(children[0], children[0].span)

    def equation(self, children):
        sets = next((child.sets for child in children if type(child) is _Member), ())
        over = next((child for child in children if type(child) is nodes.Range), None)
        sides = tuple(child for child in children if type(child) not in (Token, _Member, nodes.Range))
        return nodes.Equation(sides, sets, over, _around(children))

    def declaration(self, children):
        sets = next(child.sets for child in children if type(child) is _Member)
        over = next((child for child in children if type(child) is nodes.Range), None)
        names = tuple(child for child in children if type(child) not in (Token, _Member, nodes.Range))
        return nodes.Declaration(names, sets, over, _around(children))

    def signature(self, children):
        head = children[0]
        sets = _nodes(children[1:])
        name = _operator_of(head.name, sets[:-1])
        call = Call(name, head.superscript, head.subscript, (), (), head.span, head.name_span)
        return nodes.Signature(call, sets[:-1], sets[-1], _around(children))

    def results(self, children):
        at = next(place for place, child in enumerate(children) if type(child) is Token and child.type == "EQUALS")
        return _Results(_nodes(children[:at]), _nodes(children[at:]), _around(children))

    def update(self, children):
        target, _, body = children
        named = target.base if type(target) is nodes.Index else target
        if type(named) is not Name:
            self.fail(101, "an update is of a name, or of elements of one", target.span, hint="write C ← …")
        return nodes.Update(target, body, _around(children))

    def fact(self, children):
        return nodes.Fact(self.compared(children), _around(children))

    def ellipsis(self, children):
        return nodes.Ellipsis(children[0].span)

    def head(self, children):
        return children[0] if type(children[0]) is _Head else self.operator(children)

    def rename_head(self, children):
        items = children[2].items
        if len(items) != 1 or type(items[0]) is not _Renamed:
            self.fail(101, "[…]_{a→b} renames one axis", _around(children))
        (item,) = items
        pair = tuple(Name(axis.name, axis.span) for axis in (*item.old, *item.new))
        return _Head("→", (), pair, (), _around(children), _around(children))

    def member(self, children):
        return _Member(_nodes(children), _around(children))

    def range(self, children):
        found = None
        for each in reversed(children):
            if found is not None and each.variable.text in found.variables:
                self.fail(114, f"two ranges count {each.variable.text}", found.span, hint="give one another variable")
            span = each.span if found is None else (each.span[0], found.span[1])
            found = replace(each, span=span, further=found)
        return found

    def bounds(self, children):
        first, *second, last = (child for child in _nodes(children[2:]))
        token = children[1]
        down = bool(second) and self.steps_down(first, second[0])
        return nodes.Range(Name(token.text, token.span), first, last, _around(children), down=down)

    def between(self, children):
        first, sign, variable, other, last = children[1:]
        at = [each.text for each in (sign, other)]
        if type(variable) is not Name or not set(at) <= {"≤", "<"}:
            self.fail(114, "a range is one variable between two numbers", _around(children), hint="write 1 ≤ t ≤ n")
        one = Number(1, first.span)
        first = first if at[0] == "≤" else Call("+", (), (), (first, one), (), first.span, first.span)
        last = last if at[1] == "≤" else Call("-", (), (), (last, one), (), last.span, last.span)
        return nodes.Range(variable, first, last, _around(children))

    def counting(self, children):
        token = children[1]
        return nodes.Range(Name(token.text, token.span), Number(1, token.span), children[4], _around(children))

    def steps_down(self, first, second) -> bool:
        """Whether a range whose first two numbers are these counts down, by one."""
        one, number = Number(1), type(first) is type(second) is Number
        if first == Call("+", (), (), (second, one)) or second == Call("-", (), (), (first, one)):
            return True
        if number and second.value == first.value - 1:
            return True
        if number and second.value == first.value + 1 or second == Call("+", (), (), (first, one)):
            return False
        self.fail(
            114, "a range goes on by one, up or down", second.span,
            hint="write t = 1, 2, …, n or t = n, n-1, …, 1; for every second one use 2k as the index",
        )  # fmt: skip

    # sets
    def _set(self, domain, children):
        shapes = [child for child in children if type(child) is _Script]
        elements = tuple(child for child in children if type(child) not in (Token, _Script))
        return nodes.Set(domain, elements, shapes[0].items if shapes else (), _around(children))

    def reals(self, children):
        return self._set(NUMBER_SETS[children[0].text], children)

    def half(self, children):
        sign, number = children[3], children[4]
        domain = {(">", "0"): "positive", ("≥", "0"): "nonnegative"}.get((sign.text, number.text))
        if domain is None or children[0].text != "ℝ":
            self.fail(101, "this set has no name", (children[0].start, children[5].end), hint="write ℝ_{>0} or ℝ_{≥0}")
        return replace(self._set(domain, children), elements=())

    def field(self, children):
        name, *shape = children
        if len(name.text) > 1 or not name.text.isupper():
            self.fail(
                101, f"{name.text} is no set; a set is due: ℝ^{{…}}, {{0, 1}}, [0, 1] or [n]", name.span,
                hint="a field, which is any set of numbers, has a capital letter: F^{seq}",
            )  # fmt: skip
        return self._set("field", [Name(name.text, name.span), *shape])

    def elements(self, children):
        return self._set("elements", children)

    def interval(self, children):
        return self._set("interval", children)

    def count(self, children):
        return self._set("count", children)

    def shape(self, children):
        axes = tuple(child for child in children if type(child) is tuple)
        end = children[-1].end if type(children[-1]) is Token else max(node.span[1] for node in axes[-1] if node)
        return _Script("shape", axes, (children[0].start, end))

    def sized(self, children):
        sizes = _nodes(children[1:])
        return self.as_axis(children[0]), sizes[0] if sizes else None

    # expressions
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

    def ambiguous(self, span, first, second):
        self.fail(
            107, f"{self.source[slice(*span)]} reads two ways", span, notes=(f"either {first}", f"or {second}"),
            hint="say which with brackets",
        )  # fmt: skip

    def operator(self, children):
        token = children[0]
        subscript = self.plain(children[1]) if len(children) > 1 else ()
        return _Head(token.text, (), subscript, (), token.span, _covering(children))

    def negative(self, children):
        sign, operand = children
        return Call("negative", (), (), (operand,), (), (sign.start, operand.span[1]), sign.span)

    def prefix(self, children):
        head, operand = children
        span = (head.span[0], operand.span[1])
        if head.subscript and type(head.subscript[0]) in (_Over, _Bound):
            return self.over(head, operand, span)
        if head.name == "∂":  # only LaTeX: \frac{\partial}{\partial X^*} f(X)
            return self.derivative(operand, head.parameters[0], span)
        return Call(head.name, head.superscript, head.subscript, (operand,), head.parameters, span, head.name_span)

    def over(self, head, body, span):
        """max_{i ∈ [n]} X, max_{i=1}^{n} X, lim_{α→∞} X"""
        item = head.subscript[0]
        if type(item) is _Bound:
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

    def indexed_by_number(self, span):
        """A[0]: what Python would take for an index."""
        self.fail(
            101, "an index names its axis, and stands in a subscript", span,
            hint="write X_{axis(1)}, which counts from 1; a product is X ⊙ […]",
        )  # fmt: skip

    def big(self, children):
        sign, subscript, body = children[0], children[1], children[-1]
        span = (sign.start, body.span[1])
        items = subscript.items
        if len(items) == 1 and type(items[0]) is _Over and len(children) == 3:
            head = _Head(sign.text, (), items, (), (sign.start, sign.end), (sign.start, subscript.span[1]))
            return self.over(head, body, span)
        if len(items) != 1 or type(items[0]) is not _Bound:
            items = self.plain(subscript)
        upper = children[2].items if len(children) == 4 else ()
        if len(items) == 1 and type(items[0]) is _Bound:
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
        if type(body) is Name and body.text[-1] in "*†":  # ∂X*
            word = body.text.rstrip("*†")
            body = nodes.Starred(
                Name(word, (body.span[0], body.span[0] + len(word))), body.text[len(word) :], body.span
            )
        span = (sign.start, body.span[1])
        within, by = divided(body)
        return nodes.Differential(body, span) if by is None else self.derivative(within, by.body, span)

    def number(self, children):
        token = children[0]
        text = token.text
        if len(text) > 400:
            self.fail(404, f"a number of {len(text)} digits is too long", token.span, hint="write it as a power")
        value = int(text) if text.isdecimal() else float(text)
        if value == math.inf:
            self.fail(404, "this number is larger than any that can be computed with", token.span, hint="infinity is ∞")
        return Number(value, token.span)

    def name(self, children):
        token = children[0]
        return Name(token.text, token.span)

    def bracketed(self, children):
        return replace(children[1], span=_around(children))

    def call(self, children):
        head, _, arguments, end = children
        span = (head.span[0], end.end)
        if head.subscript and type(head.subscript[0]) in (_Over, _Bound):
            if len(arguments.ordinary) != 1 or arguments.parameters:
                self.fail(304, f"{head.name} over a variable takes one operand", span)
            return self.over(head, arguments.ordinary[0], span)
        ordinary, parameters = arguments
        if not ordinary and not parameters:
            self.fail(105, f"{head.name}() has no argument", (children[1].start, end.end), hint=f"write {head.name}(X)")
        parameters += head.parameters
        name = head.name if head.superscript or parameters else _operator_of(head.name, ordinary)
        return Call(name, head.superscript, head.subscript, ordinary, parameters, span, head.name_span)

    def arguments(self, children):
        ordinary, parameters, current = [], [], 0
        for child in children:
            if type(child) is Token:
                current += child.type == "SEMICOLON"
            else:
                (parameters if current else ordinary).append(child)
        return _Arguments(tuple(ordinary), tuple(parameters))

    def size(self, children):
        return nodes.Size(self.as_axis(children[1]), _around(children))

    def literal(self, children):
        rows = tuple(child for child in children if type(child) is _Row)
        span = _around(children)
        if children[-1].text == "]_":
            return _Bracket(rows, span)
        return replace(self.only_cell(rows, span), span=span)

    def only_cell(self, rows, span):
        if len(rows) == 1 and len(rows[0].cells) == 1:
            return rows[0].cells[0]
        before, after = self.source[span[0] - 1 : span[0]], self.source[span[1] : span[1] + 1]
        if before.isalnum() or before in ("'", "}"):
            self.indexed_by_number(span)
        if before == "[" or (before == "," and after == "]"):
            self.fail(
                113, "a literal holds no literals: its rows end with ;", span, hint="write [1, 2; 3, 4]_{rows, columns}"
            )
        axes = "{axis}" if len(rows) == 1 else "{rows, columns}"
        self.fail(113, "a literal needs the names of its axes", span, hint=f"write them as its subscript: […]_{axes}")

    def indicator(self, children):
        return nodes.Indicator(children[2], _around(children))

    def cases(self, children):
        return nodes.Cases(tuple(child for child in children if type(child) is tuple), _around(children))

    def row(self, children):
        return _Row(_nodes(children), _around(children))

    def branch(self, children):
        found = _nodes(children)
        return found[0], found[1] if len(found) > 1 else None

    def function(self, children):
        token = children[0]
        found: dict = {"SUP": (), "SUB": (), "WITH": ()}
        powers = [script for script in children[1:] if script.kind == "SUP"]
        if len(powers) > 1:
            self.two_powers((token.start, powers[0].span[0]), powers[0].span, powers[1].span)
        for script in children[1:]:
            only = script.items[0] if script.kind == "SUB" and len(script.items) == 1 else None
            if token.text in BINDERS and type(only) is _Renamed and len(only.old) == len(only.new) == 1:
                only = _Over(only.old[0], Name(only.new[0].name, only.new[0].span), only.span)
            found[script.kind] += (only,) if type(only) in (_Over, _Bound) else self.plain(script)
        if token.text in BINDERS and not (found["SUB"] and type(found["SUB"][0]) is _Over):
            self.fail(101, f"{token.text} says what goes where", token.span, hint=f"write {token.text}_{{α→∞}}")
        return _Head(token.text, found["SUP"], found["SUB"], found["WITH"], token.span, _covering(children))

    def plain(self, script):
        """The scripts of an operator or function: names of axes, numbers and labels."""
        for item in script.items:
            if type(item) in (_Indexed, _Renamed, _Bound, _Over, Token):
                self.fail(
                    112, "an operator's subscript names axes: it holds no index and no rename", script.span,
                    hint="index or rename the operand: softmax_{seq}(X_{a→seq})",
                )  # fmt: skip
        return script.items

    def with_(self, children):
        return _Script("WITH", (children[2],), _around(children))

    # scripts
    def superscript(self, children):
        if any(child.type == "STAR" for child in children if type(child) is Token):
            mark = next(child for child in children if type(child) is Token and child.type == "STAR")
            return _Script("SUP", (mark,), _around(children))
        return _Script("SUP", _nodes(children), _around(children))

    def subscript(self, children):
        return _Script("SUB", _nodes(children), (children[0].start, max(children[0].end, _end(children[-1]))))

    def simple(self, children):
        token = children[0]
        return self.number(children) if token.type == "NUMBER" else Name(token.text, token.span)

    def superscripted(self, children):
        base, script = children
        span = (_start(base), script.span[1])
        if type(script.items[0]) is Token:
            return nodes.Starred(base, script.items[0].text, span)
        if type(base) is nodes.Superscript and not self.grouped(base, script):
            self.two_powers(base.base.span, (base.base.span[1], base.span[1]), script.span)
        return nodes.Superscript(base, script.items, span)

    def grouped(self, power, script):
        """Whether a power has brackets, or the braces of LaTeX, around it: (x^a)^b."""
        return power.span[0] < power.base.span[0] or "}" in self.source[power.span[1] : script.span[0]]

    def two_powers(self, base, first, second):
        """Raise for x^a^b."""
        x = self.source[slice(*base)]
        a, b = (self.source[slice(*span)].strip().removeprefix("^").strip() for span in (first, second))
        a, b = (each[1:-1] if each[:1] + each[-1:] == "{}" else each for each in (a, b))
        a, b = ("".join(SUPERSCRIPTS.get(sign, sign) for sign in each) for each in (a, b))
        self.ambiguous((base[0], second[1]), f"({x}^{{{a}}})^{{{b}}}", f"{x}^{{{a}^{{{b}}}}}")

    def subscripted(self, children):
        base, script = children
        items = script.items
        span = (min(_start(base), script.span[0]), script.span[1])
        if not items:
            self.fail(101, "the subscript is empty", script.span, hint="name an axis, an index or a label in it")
        kinds = {type(item) if type(item) in (_Indexed, _Renamed, _Bound, _Over) else Node for item in items}
        if _Bound in kinds or _Over in kinds or len(kinds) > 1:
            self.fail(
                112, "this subscript mixes indices, renames and labels", script.span,
                hint="give each its own brackets: [X_{a→b}]_{b(1)}",
            )  # fmt: skip
        kind = kinds.pop()
        if type(base) is _Bracket and kind is Node:
            return self.filled(base, items, span)
        of: Any = base
        if type(base) is _Bracket:
            of = replace(self.only_cell(base.rows, base.span), span=base.span)
        if kind is Node and type(base) is Call and base.operator == "‖" and not base.parameters and len(items) == 1:
            return replace(base, parameters=items, span=span)  # ‖x‖_1
        if kind is _Indexed:
            return nodes.Index(of, tuple((item.axis, item.index) for item in items), span)
        if kind is _Renamed:
            return nodes.Rename(of, tuple((item.old, item.new) for item in items), span)
        return nodes.Subscript(of, items, span)

    def filled(self, bracket, items, span):
        """A literal with its axes."""
        axes = tuple(self.as_axis(item) for item in items)
        rows = bracket.rows
        for row in rows:
            if len(row.cells) != len(rows[0].cells):
                self.fail(
                    311, "the rows of this literal differ in length", row.span,
                    notes=(f"the first row has {_entries(rows[0])}, this one {len(row.cells)}",),
                    hint="give every row as many entries",
                )  # fmt: skip
        seen = set()
        for axis in axes:
            if axis.name in seen:
                self.fail(303, f"the axis {axis.name} occurs twice", axis.span, hint="each axis needs its own name")
            seen.add(axis.name)
        if len(axes) > 2:
            self.fail(113, f"a literal has one axis or two, not {len(axes)}", span)
        if len(axes) == 1 and len(rows) > 1:
            if len(rows[0].cells) > 1:
                self.fail(
                    113, f"{len(rows)} rows need two axes, and there is one", span,
                    hint=f"name the axis of the rows and that of the columns: _{{rows, {axes[0].name}}}",
                )  # fmt: skip
            rows = (_Row(tuple(row.cells[0] for row in rows), bracket.span),)
        return nodes.Literal(tuple(row.cells for row in rows), axes, span)

    def indexed(self, children):
        return _Indexed(self.as_axis(children[0]), children[2], _around(children))

    def sliced(self, children):
        first, last = children[2], children[4]
        part = nodes.Slice(first, last, (first.span[0], last.span[1]))
        return _Indexed(self.as_axis(children[0]), part, _around(children))

    def member_of(self, children):
        return _Over(self.as_axis(children[0]), children[2], _around(children))

    def restricted(self, children):
        axis = self.as_axis(children[0])
        sign, bound = children[1], children[2]
        condition = Call(sign.text, (), (), (Name(axis.name, axis.span), bound), (), _around(children), sign.span)
        return _Over(axis, condition, _around(children))

    def approached(self, children):
        (variable,) = children[0].items if len(children[0].items) == 1 else (None,)
        if variable is None:
            self.fail(101, "one variable goes to a limit", children[0].span)
        return _Over(variable, self.number(children[2:]), _around(children))

    def renamed(self, children):
        old, _, new = children
        if len(old.items) > 1 and len(new.items) > 1:
            self.fail(
                112, "several axes cannot become several at once", _around(children),
                hint="merge them into one axis first, then split that",
            )  # fmt: skip
        return _Renamed(old.items, new.items, _around(children))

    def targets(self, children):
        return _Script("SUB", tuple(self.as_axis(node) for node in _nodes(children)), _around(children))

    def bound(self, children):
        return _Bound(children[0], children[2], _around(children))

    def labelled(self, children):
        return nodes.Superscript(children[0], _nodes(children[1:]), _around(children))

    def axis_label(self, children):
        return nodes.Subscript(children[0], _nodes(children[1:]), _around(children))

    def starred(self, children):
        base, span = children[0], _around(children)
        mark = next(child.text for child in children if type(child) is Token and child.type == "STAR")
        return Name(base.text + mark, span) if type(base) is Name else nodes.Starred(base, mark, span)

    def as_axis(self, node) -> Axis:
        axis = axis_of(node)
        if axis is None:
            self.fail(101, "here the name of an axis is due", node.span)
        return axis

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

    def relation(self, children):
        return children[0]

    def parity(self, children):
        operand, word = children
        return Call(word.text, (), (), (operand,), (), (operand.span[0], word.end), word.span)


def several(builder: Builder, found: tuple) -> tuple:
    """The statements, with those of several results as one equation for each: the k-th result of f is f_k."""
    if not any(type(each) is _Results for each in found):
        return found
    counts = {
        each.heads[0].operator: len(each.bodies)
        for each in found
        if type(each) is _Results and len(each.heads) == 1 and type(each.heads[0]) is Call
    }
    statements: list = []
    for each in found:
        if type(each) is not _Results:
            statements.append(each)
            continue
        heads, bodies = each.heads, each.bodies
        if len(heads) == 1 and type(heads[0]) is Call:
            heads = tuple(_part(heads[0], number) for number in range(1, len(bodies) + 1))
        elif len(bodies) == 1 and type(bodies[0]) is Call and counts.get(bodies[0].operator) == len(heads):
            bodies = tuple(_part(bodies[0], number) for number in range(1, len(heads) + 1))
        if len(heads) != len(bodies):
            builder.fail(
                114, f"{len(heads)} name{'s' * (len(heads) != 1)}, and {len(bodies)} value{'s' * (len(bodies) != 1)}", each.span,
                hint="write A, B = X, Y; a function with two results is f(x) = X, Y, and its second one f_2(x)",
            )  # fmt: skip
        statements += [nodes.Equation((head, body), span=each.span) for head, body in zip(heads, bodies)]
    return tuple(statements)


def _part(call: Call, number: int) -> Call:
    return replace(call, subscript=(*call.subscript, Number(number, call.operator_span)))


def _entries(row: _Row) -> str:
    return f"{len(row.cells)} entr{'y' if len(row.cells) == 1 else 'ies'}"
