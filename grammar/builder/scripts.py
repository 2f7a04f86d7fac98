"""Build subscripts and superscripts: axes, labels, indices, renames and bound variables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .. import nodes
from ..nodes import Call, Name, Node
from ..symbols import SUPERSCRIPTS
from ..tokens import Token
from .literals import (
    Bound,
    Bracket,
    Indexed,
    Literals,
    Renamed,
    Script,
    VariableRange,
    end_of,
    find_outer_span,
    nodes_among,
    start_of,
)

KIND_NAMES = {
    Indexed: "an index",
    Renamed: "a rename",
    Node: "a label",
    Bound: "an equation",
    VariableRange: "a condition",
}


class ScriptBuilder(Literals):
    def superscript(self, children):
        if any(child.type == "STAR" for child in children if type(child) is Token):
            mark = next(child for child in children if type(child) is Token and child.type == "STAR")
            return Script("SUP", (mark,), find_outer_span(children))
        return Script("SUP", nodes_among(children), find_outer_span(children))

    def subscript(self, children):
        return Script("SUB", nodes_among(children), (children[0].start, max(children[0].end, end_of(children[-1]))))

    def with_(self, children):
        return Script("WITH", (children[2],), find_outer_span(children))

    def plain(self, script):
        """Return the items of an operator's script. Raise NotationError unless all are axes, numbers or labels."""
        for item in script.items:
            if type(item) in (Indexed, Renamed, Bound, VariableRange, Token):
                self.fail(
                    112, "an operator subscript takes axis names, not indices or renames", script.span,
                    hint="index or rename the operand: softmax_{seq}(X_{a→seq})",
                )  # fmt: skip
        return script.items

    def superscripted(self, children):
        base, script = children
        span = (start_of(base), script.span[1])
        if type(script.items[0]) is Token:
            return nodes.Starred(base, script.items[0].text, span)
        if type(base) is nodes.Superscript and not self.grouped(base, script):
            self.two_powers(base.base.span, (base.base.span[1], base.span[1]), script.span)
        return nodes.Superscript(base, script.items, span)

    def grouped(self, power, script):
        """Return whether a power is in brackets, as in (x^a)^b, or in LaTeX braces."""
        return power.span[0] < power.base.span[0] or "}" in self.source[power.span[1] : script.span[0]]

    def two_powers(self, base, first, second):
        """Raise NotationError for two powers in a row, as in x^a^b."""
        x = self.source[slice(*base)]
        a, b = (self.source[slice(*span)].strip().removeprefix("^").strip() for span in (first, second))
        a, b = (name[1:-1] if name[:1] + name[-1:] in ("{}", "()") else name for name in (a, b))
        a, b = ("".join(SUPERSCRIPTS.get(sign, sign) for sign in name) for name in (a, b))
        self.ambiguous((base[0], second[1]), f"({x}^{{{a}}})^{{{b}}}", f"{x}^{{{a}^{{{b}}}}}")

    def subscripted(self, children):
        base, script = children
        items = script.items
        span = (min(start_of(base), script.span[0]), script.span[1])
        if not items:
            self.fail(101, "empty subscript", script.span, hint="write an axis, an index or a label in it")
        kinds = {type(item) if type(item) in (Indexed, Renamed, Bound, VariableRange) else Node for item in items}
        if Bound in kinds and kinds <= {Bound}:
            self.fail(
                112, "an index is written in parentheses after its axis", script.span,
                hint="write X_{axis(1)}, where indices start at 1, or several as X_{a(1), b(2)}",
            )  # fmt: skip
        if VariableRange in kinds:
            self.fail(
                112, "a condition belongs to an indicator or an operator", script.span,
                hint="write an indicator as 𝕀[x > 1], also with 0 ≤ x ≤ 1 for x ∈ [0, 1], and a sum as ∑_{i ∈ [n]}",
            )  # fmt: skip
        if Bound in kinds or len(kinds) > 1:
            self.fail(
                112, f"this subscript mixes {' and '.join(name for kind, name in KIND_NAMES.items() if kind in kinds)}", script.span,
                hint="write each in its own brackets: [X_{a→b}]_{b(1)}",
            )  # fmt: skip
        kind = kinds.pop()
        if type(base) is Bracket and kind is Node:
            return self.filled(base, items, span)
        of: Any = base
        if type(base) is Bracket:
            of = replace(self.only_cell(base.rows, base.span), span=base.span)
        if kind is Node and type(base) is Call and base.operator == "‖" and not base.parameters and len(items) == 1:
            frobenius = type(items[0]) is nodes.Name and items[0].text == "F"
            return replace(base, parameters=() if frobenius else items, span=span)  # ‖x‖_1, ‖X‖_F
        if kind is Indexed:
            return nodes.Index(of, tuple((item.axis, item.index) for item in items), span)
        if kind is Renamed:
            return nodes.Rename(of, tuple((item.old, item.new) for item in items), span)
        return nodes.Subscript(of, items, span)

    def indexed(self, children):
        return Indexed(self.to_axis(children[0]), children[2], find_outer_span(children))

    def sliced(self, children):
        first, last = children[2], children[4]
        part = nodes.Slice(first, last, (first.span[0], last.span[1]))
        return Indexed(self.to_axis(children[0]), part, find_outer_span(children))

    def member_of(self, children):
        return VariableRange(self.to_axis(children[0]), children[2], find_outer_span(children))

    def approached(self, children):
        (variable,) = children[0].items if len(children[0].items) == 1 else (None,)
        if variable is None:
            self.fail(101, "a limit takes one variable", children[0].span)
        limit = self.name(children[-1:]) if children[-1].type == "NAME" else self.number(children[-1:])
        if len(children) > 3:
            sign = children[2]
            limit = Call("negative", (), (), (limit,), (), (sign.start, limit.span[1]), sign.span)
        return VariableRange(variable, limit, find_outer_span(children))

    def renamed(self, children):
        old, _, new = children
        if len(old.items) > 1 and len(new.items) > 1:
            self.fail(
                112, "several axes cannot be renamed to several at once", find_outer_span(children),
                hint="merge them into one axis first, then split that",
            )  # fmt: skip
        return Renamed(old.items, new.items, find_outer_span(children))

    def targets(self, children):
        return Script("SUB", tuple(self.to_axis(node) for node in nodes_among(children)), find_outer_span(children))

    def bound(self, children):
        return Bound(children[0], children[2], find_outer_span(children))

    def labeled(self, children):
        return nodes.Superscript(children[0], nodes_among(children[1:]), find_outer_span(children))

    def axis_label(self, children):
        return nodes.Subscript(children[0], nodes_among(children[1:]), find_outer_span(children))

    def starred(self, children):
        base, span = children[0], find_outer_span(children)
        mark = next(child.text for child in children if type(child) is Token and child.type == "STAR")
        return Name(base.text + mark, span) if type(base) is Name else nodes.Starred(base, mark, span)
