"""Build operators over index variables.

One subscript may bind several variables: ∑_{i,j=1}^{n}, ∑_{i ∈ [n], j ≠ i}, max_{1≤i<j≤n}.

Each part of a subscript becomes one of several nested operators. The first part becomes the outermost operator:

    ∑_{i,j=1}^{n} X                 ∑_{i=1}^{n} ∑_{j=1}^{n} X
    ∑_{i ∈ [n], j ∈ [m], i ≠ j} X   ∑_{i ∈ [n]} ∑_{j ∈ [m]} { X if i ≠ j; 0 otherwise }
"""

from __future__ import annotations

from dataclasses import replace

from .. import nodes
from ..nodes import Call, Name, Node, Number
from .literals import Bound, Head, VariableRange
from .scripts import ScriptBuilder

# Maps each operator to its value over no elements, which also replaces elements that a condition excludes.
INFINITY = Name("∞")
NEUTRAL: dict[str, Node] = {
    "∑": Number(0), "∏": Number(1), "min": INFINITY, "max": Call("negative", (), (), (INFINITY,)),
}  # fmt: skip
PAIRS = ("argmax", "argmin")  # Over several variables, the value of these operators would be several numbers.


def ends_with(item, side: int) -> bool:
    """Return whether a subscript item is a < or ≤ comparison with a name on its left (`side` 0) or right (`side` 1)."""
    if type(item) is not VariableRange or type(item.over) is not Call or item.over.operator not in ("<", "≤"):
        return False
    return type(item.over.arguments[side]) is Name


class Indices(ScriptBuilder):
    def over(self, head: Head, upper: tuple, body, span):
        """Build an operator over index variables.

        Examples are max_{i ∈ [n]} X, max_{i=1}^{n} X, ∑_{1≤i<j≤n} X and lim_{α→∞} X.
        """
        binders, conditions = self.binders(head, upper)
        if len(binders) > 1 and head.name in PAIRS:
            self.fail(
                101, f"{head.name} over several variables would give several numbers", head.span,
                hint=f"take {head.name} over one variable at a time, of the max or min over the others",
            )  # fmt: skip
        for condition in reversed(conditions):
            if head.name not in NEUTRAL:
                self.fail(101, f"{head.name} is undefined for elements that a condition excludes", condition.span)
            body = nodes.Cases(((body, condition), (NEUTRAL[head.name], None)), body.span)
        for binder in reversed(binders):
            body = self.bound_by(head, binder, body, span)
        return body

    def binders(self, head: Head, upper: tuple):
        """Return the variables that a subscript binds and the conditions on them.

        Examples of variables are i=1 up to n, j ∈ [m], k and i<j.
        """
        binders: list = []
        conditions: list[Node] = []
        bound: set[str] = set()
        waiting: list[Name] = []  # Variables without a set yet, such as i in i, j ∈ [n].
        uppers = list(upper)
        ends = sum(type(item) is Bound for item in head.subscript)
        if not ends and uppers:
            self.fail(101, f"{head.name} over a set takes no upper limit", head.span)
        if ends and (len(uppers) not in (1, ends) or not all(isinstance(other, Node) for other in uppers)):
            self.needs_end(head)
        for item in self.separate_bounds(head.subscript):
            if type(item) is Bound:
                last = uppers[0] if len(uppers) == 1 else uppers.pop(0)
                for variable in (*waiting, item.variable):
                    if type(variable) is not Name:
                        self.needs_end(head)
                    binders.append((variable, item.first, last))
                waiting = []
            elif type(item) is VariableRange and type(item.over) is nodes.Set:
                variables = (*waiting, Name(item.variable.name, item.variable.span))
                binders += [(variable, item.over, None) for variable in variables]
                waiting = []
            elif type(item) is VariableRange:
                binders += [(variable, None, None) for variable in waiting]
                bound |= {variable.text for variable in waiting}
                waiting = []
                if item.variable.name in bound:
                    conditions.append(item.over)
                else:
                    binders.append((Name(item.variable.name, item.variable.span), item.over, None))
            elif type(item) is Name:
                waiting.append(item)
            else:
                self.fail(101, "expected an index, or a condition on an index", item.span)
            bound |= {binder[0].text for binder in binders}
        return [*binders, *((variable, None, None) for variable in waiting)], conditions

    def separate_bounds(self, items: tuple) -> list:
        """Return the items of a subscript, with 1 ≤ i, j ≤ n split into 1 ≤ i ≤ n and 1 ≤ j ≤ n."""
        result: list = []
        begun: list = []  # The start 1 ≤ i of a bound, and the items that continue it.
        for item in items:
            if begun and ends_with(item, 0):
                lower, upper = begun[0].over, item.over
                for name in (lower.arguments[1], *begun[1:], upper.arguments[0]):
                    low = replace(lower, arguments=(lower.arguments[0], name))
                    high = replace(upper, arguments=(name, upper.arguments[1]))
                    condition = Call("∧", (), (), (low, high), (), item.span, item.span)
                    result.append(VariableRange(self.to_axis(name), condition, item.span))
                begun = []
            elif begun and type(item) is Name:
                begun.append(item)
            else:
                result += begun
                begun = [item] if ends_with(item, 1) and type(item.over.arguments[0]) is Number else []
                result += [] if begun else [item]
        return [*result, *begun]

    def needs_end(self, head: Head):
        self.fail(
            101, f"{head.name} from a number needs a plain variable and an upper limit", head.span,
            hint=f"write {head.name}_{{i=1}}^{{n}}",
        )  # fmt: skip

    def bound_by(self, head: Head, binder: tuple, body, span):
        """Return the node for an operator that binds one variable, or all variables in one condition."""
        variable, over, last = binder
        if last is not None:
            return nodes.IndexSum(head.name, variable, over, last, body, span)
        if over is None:
            return Call(head.name, (), (variable,), (body,), (), span, head.name_span)
        return nodes.Over(head.name, variable, over, body, span)
