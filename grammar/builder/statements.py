"""Build statements and sets, and define the complete builder."""

from __future__ import annotations

from dataclasses import replace
from functools import partialmethod

from .. import nodes
from ..errors import NotationError
from ..nodes import Call, Name, Number
from ..symbols import DEFINING, FAMILIES, NUMBER_SETS
from ..tokens import Token
from .expressions import Expressions
from .literals import Head, Member, Renamed, Results, Script, end_of, find_outer_span, nodes_among, operator_of

MAX_LISTED_NUMBERS = 1000  # The maximum length of a range that lists its numbers.


class TreeBuilder(Expressions):
    """The Lark transformer, whose methods turn the children of each grammar rule into a node."""

    def __reduce__(self):
        """Pickle the builder by name, because a saved parser refers to this name."""
        return "BUILDER"

    # statements
    def program(self, children):
        result = several(self, nodes_among(children))
        once = [
            node for before, node in zip((None, *result), result) if not type(before) is type(node) is nodes.Ellipsis
        ]
        return nodes.Program(tuple(once), find_outer_span(children))

    def value(self, children):
        return nodes.Value(children[0], children[0].span)

    def equation(self, children):
        sign = next(child for child in children if type(child) is Token and child.type == "EQUALS")
        defines = self.source[slice(*sign.span)] in DEFINING
        return nodes.Equation(*self.stated(children), find_outer_span(children), defines)

    def declaration(self, children):
        return nodes.Declaration(*self.stated(children), find_outer_span(children))

    def stated(self, children):
        """Split a statement into three parts: its sides or declared names, its sets, and its range, if any."""
        sets = next((child.sets for child in children if type(child) is Member), ())
        over = next((child for child in children if type(child) is nodes.Range), None)
        return tuple(child for child in children if type(child) not in (Token, Member, nodes.Range)), sets, over

    def signature(self, children):
        head = children[0]
        sets = nodes_among(children[1:])
        name = operator_of(head.name, sets[:-1])
        call = Call(name, head.superscript, head.subscript, (), (), head.span, head.name_span)
        return nodes.Signature(call, sets[:-1], sets[-1], find_outer_span(children))

    def functions(self, children):
        raise NotationError(
            114, "a function cannot be an argument of a function", self.source, find_outer_span(children),
            hint="write an equation for each function: for newton(f, t) = t − f(t), newton_h(t) = t − h(t)",
        )  # fmt: skip

    def results(self, children):
        at = next(index for index, child in enumerate(children) if type(child) is Token and child.type == "EQUALS")
        return Results(nodes_among(children[:at]), nodes_among(children[at:]), find_outer_span(children))

    def update(self, children):
        target, _, body = children
        named = target.base if type(target) is nodes.Index else target
        if type(named) is not Name:
            self.fail(
                101,
                "an update needs a name, or elements of a name, on its left-hand side",
                target.span,
                hint="write C ← …",
            )
        return nodes.Update(target, body, find_outer_span(children))

    def sampled(self, children):
        variable, _, of, *over = children
        name, labels = variable, ()
        while type(name) in (nodes.Subscript, nodes.Superscript):
            name, labels = name.base, (*name.components, *labels)
        if type(name) is not Name:
            self.fail(
                114, "a random variable must be a plain name", variable.span,
                hint="give the draws a new axis, ε ∼ N(0, 1)^{time[10]}, or a label, z^t ∼ N(0, 1) for t = 1, …, n",
            )  # fmt: skip
        draw = replace(of, name=name.text, labels=labels, span=(variable.span[0], of.span[1]))
        return nodes.Equation((variable, draw), range=over[0] if over else None, span=find_outer_span(children))

    def drawn(self, children):
        return replace(children[2], name=children[0].text, span=find_outer_span(children))

    def distribution(self, children):
        first = children[0]
        if type(first) is not Token:
            return nodes.Draw("", "", (first,), span=first.span)
        axes = children[-1].items if type(children[-1]) is Script else ()
        family = FAMILIES.get(first.text, first.text)
        return nodes.Draw(
            "",
            family,
            nodes_among(child for child in children if type(child) is not Script),
            axes,
            span=find_outer_span(children),
        )

    def among(self, children):
        plain = (self.name(children[1:]),) if type(children[1]) is Token and children[1].type == "NAME" else ()
        return Script("SUB", plain or nodes_among(children[2:]), find_outer_span(children))

    def expectation(self, children):
        sign, *rest = children
        draws = next((child.items for child in children if type(child) is Script), ())
        body = next(iter(nodes_among(child for child in rest if type(child) is not Script)))
        return nodes.Expectation(draws, body, (sign.start, max(end_of(rest[-1]), body.span[1])))

    def fact(self, children):
        held = self.compared(children) if len(children) > 1 else children[0]
        return nodes.Fact(held, find_outer_span(children))

    def import_names(self, children):
        pairs = tuple(child for child in children if type(child) is tuple)
        path = children[1]
        return nodes.Imports(path.text, pairs, (children[0].start, pairs[-1][1].span[1]), path.span)

    def imported(self, children):
        name, *alias = (Name(child.text, child.span) for child in children if child.type == "NAME")
        return name, *(alias or (name,))

    def ellipsis(self, children):
        return nodes.Ellipsis(children[0].span)

    def head(self, children):
        return children[0] if type(children[0]) is Head else self.operator(children)

    def rename_head(self, children):
        items = children[2].items
        if len(items) != 1 or type(items[0]) is not Renamed:
            self.fail(101, "[…]_{a→b} renames exactly one axis", find_outer_span(children))
        (item,) = items
        pair = tuple(Name(axis.name, axis.span) for axis in (*item.old, *item.new))
        return Head("→", (), pair, (), find_outer_span(children), find_outer_span(children))

    def member(self, children):
        return Member(nodes_among(children), find_outer_span(children))

    def range(self, children):
        text = None
        for child in reversed(children):
            if text is not None and child.variable.text in text.variables:
                self.fail(
                    114,
                    f"two ranges use the variable {child.variable.text}",
                    text.span,
                    hint="use another variable in one of them",
                )
            span = child.span if text is None else (child.span[0], text.span[1])
            text = replace(child, span=span, further=text)
        return text

    def bounds(self, children):
        """Build a range, such as t = 1, …, n or t = n, n-1, …, m, or a list, such as t = 1, 2, 3."""
        token, listed = children[1], nodes_among(children[2:])
        dots = [index for index, child in enumerate(children) if type(child) is Token and child.type == "DOTS"]
        last_comma = max(
            index for index, child in enumerate(children) if type(child) is Token and child.type == "COMMA"
        )
        if len(dots) > 1 or (dots and dots[0] != last_comma - 1):
            self.fail(
                114,
                "the dots of a range come before its last number",
                children[dots[-1]].span,
                hint="write t = 1, …, n",
            )
        counted = listed[: len(listed) - 1] if dots else listed
        if len(counted) > MAX_LISTED_NUMBERS:
            self.fail(
                404,
                f"a list of {len(counted)} numbers is too long for a range",
                find_outer_span(children),
                hint="write t = 1, …, n",
            )
        if not dots:
            self.refuse_gaps(token.text, listed)
        downs = {self.steps_down(one, other) for one, other in zip(counted, counted[1:])}
        if len(downs) > 1:
            self.steps_by_one(counted[-1])
        name = Name(token.text, token.span)
        return nodes.Range(name, listed[0], listed[-1], find_outer_span(children), down=downs == {True} and bool(dots))

    def refuse_gaps(self, variable, listed):
        """Raise NotationError for a range with gaps, as in t = 1, 3, 5, or with names, as in t = Q, K."""
        values = [number.value for number in listed if type(number) is Number]
        if len(listed) > 1 and all(type(name) is Name for name in listed):
            hint = (
                f"write an equation for each name: {variable} = {listed[0].text}, then {variable} = {listed[1].text}, …"
            )
            self.fail(114, "a range counts by one, and its numbers cannot be names", listed[1].span, hint=hint)
        steps = {second - first for first, second in zip(values, values[1:])}
        if len(values) < len(listed) or steps in ({1}, {-1}) or 0 in steps:
            return
        hint = f"write an equation for each number: {variable} = {values[0]:g}, then {variable} = {values[1]:g}, …"
        if len(steps) == 1 and (step := steps.pop()) > 1:
            shift = values[0] - step
            index = f"{step:g}k" + (f"{'+' if shift > 0 else '-'}{abs(shift):g}" if shift else "")
            hint += f"; as the index of elements, {index} for k = 1, …, {len(values)}"
        self.fail(114, "a range must increase or decrease by one", listed[1].span, hint=hint)

    def between(self, children):
        first, sign, variable, other, last = children[1:]
        at = [part.text for part in (sign, other)]
        if type(variable) is not Name or not set(at) <= {"≤", "<"}:
            self.fail(
                114, "a range needs one variable between two numbers", find_outer_span(children), hint="write 1 ≤ t ≤ n"
            )
        one = Number(1, first.span)
        first = first if at[0] == "≤" else Call("+", (), (), (first, one), (), first.span, first.span)
        last = last if at[1] == "≤" else Call("-", (), (), (last, one), (), last.span, last.span)
        return nodes.Range(variable, first, last, find_outer_span(children))

    def counting(self, children):
        token = children[1]
        return nodes.Range(Name(token.text, token.span), Number(1, token.span), children[4], find_outer_span(children))

    def steps_down(self, first, second) -> bool:
        """Return whether a range that begins with two values counts down by one, as in 3, 2, … or n, n-1, ….

        Raise NotationError if it does not count up or down by one.
        """
        one, number = Number(1), type(first) is type(second) is Number
        if first == Call("+", (), (), (second, one)) or second == Call("-", (), (), (first, one)):
            return True
        if number and second.value == first.value - 1:
            return True
        if number and second.value == first.value + 1 or second == Call("+", (), (), (first, one)):
            return False
        self.steps_by_one(second)

    def steps_by_one(self, second):
        self.fail(
            114, "a range must increase or decrease by one", second.span,
            hint="write t = 1, 2, …, n or t = n, n-1, …, 1; for every second element use 2k as the index",
        )  # fmt: skip

    # sets
    def _set(self, domain, children):
        shapes = [child for child in children if type(child) is Script]
        elements = tuple(child for child in children if type(child) not in (Token, Script))
        return nodes.Set(domain, elements, shapes[0].items if shapes else (), find_outer_span(children))

    def reals(self, children):
        return self._set(NUMBER_SETS[children[0].text], children)

    def half(self, children):
        sign, number = children[3], children[4]
        domain = {(">", "0"): "positive", ("≥", "0"): "nonnegative"}.get((sign.text, number.text))
        if domain is None or children[0].text != "ℝ":
            self.fail(101, "unknown set", (children[0].start, children[5].end), hint="write ℝ_{>0} or ℝ_{≥0}")
        return replace(self._set(domain, children), elements=())

    def field(self, children):
        name, *shape = children
        if len(name.text) > 1 or not name.text.isupper():
            self.fail(
                101, f"{name.text} is not a set; expected ℝ^{{…}}, {{0, 1}}, [0, 1] or [n]", name.span,
                hint="write a field as a capital letter: F^{seq}",
            )  # fmt: skip
        return self._set("field", [Name(name.text, name.span), *shape])

    elements = partialmethod(_set, "elements")
    interval = partialmethod(_set, "interval")
    count = partialmethod(_set, "count")

    def shape(self, children):
        axes = tuple(child for child in children if type(child) is tuple)
        end = children[-1].end if type(children[-1]) is Token else max(node.span[1] for node in axes[-1] if node)
        return Script("shape", axes, (children[0].start, end))

    def sized(self, children):
        sizes = nodes_among(children[1:])
        return self.to_axis(children[0]), sizes[0] if sizes else None


BUILDER = TreeBuilder()


def several(builder: TreeBuilder, nodes_: tuple) -> tuple:
    """Split each equation with several results into one equation per result, and return the statements.

    The k-th result of a function f is called f_k.
    """
    if not any(type(node) is Results for node in nodes_):
        return nodes_
    counts = {
        node.heads[0].operator: len(node.bodies)
        for node in nodes_
        if type(node) is Results and len(node.heads) == 1 and type(node.heads[0]) is Call
    }
    statements: list = []
    for node in nodes_:
        if type(node) is not Results:
            statements.append(node)
            continue
        heads, bodies = node.heads, node.bodies
        if len(heads) == 1 and type(heads[0]) is Call:
            heads = tuple(_part(heads[0], number) for number in range(1, len(bodies) + 1))
        elif len(bodies) == 1 and type(bodies[0]) is Call and counts.get(bodies[0].operator) == len(heads):
            bodies = tuple(_part(bodies[0], number) for number in range(1, len(heads) + 1))
        if len(heads) != len(bodies):
            builder.fail(
                114, f"{len(heads)} name{'s' * (len(heads) != 1)}, and {len(bodies)} value{'s' * (len(bodies) != 1)}", node.span,
                hint="write A, B = X, Y; a function with two results is f(x) = X, Y, and its second one f_2(x)",
            )  # fmt: skip
        statements += [nodes.Equation((head, body), span=node.span) for head, body in zip(heads, bodies)]
    return tuple(statements)


def _part(call: Call, number: int) -> Call:
    return replace(call, subscript=(*call.subscript, Number(number, call.operator_span)))
