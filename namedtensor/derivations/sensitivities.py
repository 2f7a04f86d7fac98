"""Forward sensitivities of families: beside each member its derivative by X, in the same steps.

    h^t = f(h^{t-1}, W) for t = 1, …, n;   L = ℓ(h^2, h^n)
    h'^t = ∂h^t/∂h^{t-1} ⊙ h'^{t-1} + ∂h^t/∂W for t = 1, …, n         h'^t is ∂h^t/∂W*
    D = ∂L/∂h^2 ⊙ h'^2 + ∂L/∂h^n ⊙ h'^n

Sums are taken term by term. This goes where no adjoint does: steps of two, several ranges, members by their numbers, and
derivatives of adjoints. A member stands in a formula as c + h' ⊙ X, whose derivative by X is h'.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from grammar import nodes
from grammar.cache import cached_property
from grammar.nodes import Derivative, Equation, IndexSum, Name, Node, Number, Range, Value
from grammar.printer import to_text

from ..scope.binder import bind
from ..scope.names import spelled, walk
from ..symbolic.naming import names_left, words_of
from ..symbolic.spelling import call, expression, length, rename, with_axes
from .assembly import Assembly, Bounds, axes_of
from .indices import UNIT, Linear, at, linear, mapped, plus, written
from .reading import needed
from .recurrences import Family, NotARecurrence, base_of, depending, family_of, name_node, operators_of
from .steps import Step, Steps

MARKS = ("*", "†", "**", "††")
MAX_NESTED_SUMS = 4  # sums within sums
LAW = "∂h^t/∂W = ∂h^t/∂h^{t-1} ⊙ ∂h^{t-1}/∂W + what the step has of W itself"


@dataclass
class Sensitivities(Assembly):
    """One derivative, assembled of those of each member by X; `primed` has the base of that, and its mark, for each base."""

    families: list[Family]
    by: dict[str, Any]  # the shape of X
    primed: dict[str, tuple[str, str]]
    stands: dict[str, Equation] = field(
        default_factory=dict[str, Equation], kw_only=True
    )  # for each part, what it stands for
    sums: dict[str, Node] = field(default_factory=dict[str, Node], kw_only=True)

    # ---------------------------------------------------------------------------------------------------------- shapes
    @cached_property
    def bounds(self) -> list[Bounds]:
        """The first and last of each range and of each sum."""
        ranges = [over for each in self.scope.families for over in [each.range] if over is not None]
        sides = [(each.low, each.high) for each in ranges]
        sides += [(each.first, each.last) for each in walk(self.tree) if isinstance(each, IndexSum)]
        counting = self.counting.keys() | {each.variable.text for each in ranges}
        found: list[Bounds] = []
        for low, high in sides:
            first, last = linear(low), linear(high)
            if first is None or last is None:
                raise NotARecurrence
            if not counting & {*first, *last}:
                found.append((first, last))
        return found

    def shape(self, node: Any, over: Range | None, later: int = 1) -> dict[str, Any]:
        """The shape of a formula at the second step of a range, when there are few."""
        checker, few = self.probe(self.bounds)
        if over is not None:
            first = linear(over.low) or {}
            number = sum(count * (1 if symbol == UNIT else few[symbol.strip("|")]) for symbol, count in first.items())
            node = at(node, over.variable.text, {UNIT: number + later})
        return dict(checker.infer(node, checker.top).shape)

    def shape_of_member(self, family: Family) -> dict[str, Any]:
        """The shape of all members of a family. Raises NotARecurrence where they differ."""
        over = family.definition.range
        found = [self.shape(family.member(over.variable), over, later) for later in (0, 1)] if over is not None else []
        if not found or found[0].keys() != found[1].keys():
            raise NotARecurrence
        return found[0]

    def beside(self, shape: Mapping[str, Any], mark: str) -> dict[str, Any]:
        """The shape of the derivative by X of a tensor of a shape."""
        marked = {axis + mark: extent for axis, extent in self.by.items()}
        if marked.keys() & shape.keys():
            raise NotARecurrence
        return {**shape, **marked}

    # --------------------------------------------------------------------------------------------------------- members
    @cached_property
    def variable(self) -> Node:
        """X, by one name where it is a member."""
        if self.family(self.taken.variable) is None:
            return self.taken.variable
        self.labels[to_text(self.taken.variable)] = self.by
        return Name(to_text(self.taken.variable))

    def family(self, node: Any) -> tuple[Family | None, Linear] | None:
        """The family and index of a member, or no family of one that has an equation of its own; None of what is none."""
        name = spelled(node) if isinstance(node, (nodes.Superscript, nodes.Subscript)) else None
        if name is None or name.base not in self.primed:
            return None
        for family in self.families:
            index = family.index(name)
            if index is not None:
                return family, index
        if name.key() not in self.scope.definitions:
            raise NotARecurrence
        return None, {}

    def prime(self, node: Node) -> Node:
        """The name of the derivative of a member by X."""
        name = spelled(node)
        assert name is not None
        return name_node(name._replace(base=self.primed[name.base][0]))

    def part(self, text: str, prime: str, shape: dict[str, Any], mark: str) -> Name:
        """A part as one name, which stands for a constant plus its derivative by X, times X."""
        if text not in self.stands:
            marked = {axis: axis + mark for axis in self.by}
            slope = self.constant(prime) if base_of(expression(prime)).text in self.primed else prime
            self.labels[text] = self.labels[f"{text} alone"] = shape
            self.labels[slope] = self.beside(shape, mark)
            moved = call("⊙", Name(slope), rename(self.variable, marked), axes=marked.values())
            self.stands[text] = Equation((Name(text), call("+", Name(f"{text} alone"), moved)))
        return Name(text)

    # ---------------------------------------------------------------------------------------------------------- bodies
    def derived(self, body: Node, over: Range | None, mark: str, own: str = "") -> Node | None:
        """The derivative of a formula by X, by those of members and sums; None where it is 0. Its `own` name is written for it."""
        if over is not None:
            self.labels[over.variable.text] = {}
        others = [each for each in self.others() if self.member_of(each) is None]
        spoken = needed(tuple(others), words_of(body) | operators_of(body))
        whole = self.replaced(body, over)
        statements = [self.replaced(each, over) for each in spoken]
        words = words_of(whole).union(*map(words_of, statements))
        statements += [equation for text, equation in self.stands.items() if text in words and text != own]
        if own:
            statements.append(Equation((Name(own), whole)))
            whole = Name(own)
        reading = self.closed(statements, whole, self.variable, mark=mark)
        if reading is None:
            return None
        return self.simplified(self.restored(self.named(reading, over)), over)

    def replaced(self, node: Any, over: Range | None) -> Any:
        """Replace members, and sums that use them, by named parts."""
        if isinstance(node, Equation):
            return Equation((node.sides[0], *(self.replaced(each, over) for each in node.sides[1:])), range=node.range)

        def change(each: Any) -> Node | None:
            if isinstance(each, IndexSum):
                return self.sum(each, over) if self.dependent(each) else None
            member = self.family(each)
            if member is None:
                return None
            if each == self.taken.variable:
                return self.variable
            family, index = member
            own = each if family is None else family.member(written(index))
            shape = self.shape(own, None) if family is None else self.shape_of_member(family)
            return self.part(to_text(own), to_text(self.prime(own)), shape, self.primed[base_of(own).text][1])

        node = mapped(node, change)
        if over is None:
            return node
        return self.labeled(node, over.variable.text, self.primed, lambda each, _: self.shape(each, over))

    def dependent(self, node: IndexSum) -> bool:
        symbolic = not (isinstance(node.first, Number) and isinstance(node.last, Number))
        words = words_of(node.body) | operators_of(node.body)
        return bool(words & self.reached) and (symbolic or any(self.family(each) for each in walk(node.body)))

    @cached_property
    def reached(self) -> set[str]:
        return depending(self.scope, self.tree, words_of(self.taken.variable))

    def sum(self, node: IndexSum, over: Range | None) -> Name:
        """A sum as a part; its derivative by X is the sum of those of its terms."""
        text, mark = to_text(node), self.taken.mark or MARKS[0]
        if text not in self.stands:
            shape = self.shape(node, over)
            term = self.derived(node.body, Range(node.variable, node.first, node.last), mark)
            term = with_axes(Number(0), self.beside(shape, mark)) if term is None else term
            prime = next(names_left(self.words))
            self.words.add(prime)
            self.sums[prime] = slope_of(node, term)
            self.part(text, prime, shape, mark)
        return Name(text)

    def restored(self, node: Node) -> Node:
        """A formula with the sums that stand in it as parts."""
        return mapped(node, lambda each: self.sums.get(each.text) if isinstance(each, Name) else None)

    def member_of(self, statement: Any) -> Node | None:
        """The member that an equation of its own defines."""
        head = statement.sides[0] if isinstance(statement, Equation) and statement.range is None else None
        name = spelled(head) if isinstance(head, (nodes.Superscript, nodes.Subscript)) else None
        return head if name is not None and name.base in self.primed else None

    # ----------------------------------------------------------------------------------------------------------- lines
    def sensitivity(self, node: Node, body: Node | None, over: Range | None = None) -> Step:
        """The line of the derivative of a member by X, and that as an equation; without a body it is given."""
        mark, variable = self.primed[base_of(node).text][1], self.taken.variable
        found = None if body is None else self.derived(body, over, mark, to_text(node))
        if body is None and node == variable:
            reading = self.closed([], self.variable, self.variable, mark=mark)
            found = None if reading is None else reading.node
        if found is None:
            found = with_axes(Number(0), self.beside(self.shape(node, over), mark))
        self.line(self.prime(node), found, over)
        return Step(
            "sensitivity", replace(self.lines[-1], sides=(*self.lines[-1].sides, Derivative(node, variable, mark))), LAW
        )

    def outside(self) -> list[Node]:
        """Return the members that formulas use and no equation defines: the initial values."""
        found: dict[str, Node] = {}
        bodies: list[tuple[Node, Range | None]] = [(family.body, family.definition.range) for family in self.families]
        bodies += [(side, None) for each in self.others() if isinstance(each, Equation) for side in each.sides[1:]]
        for body, over in (*bodies, (self.taken.body, None)):
            for each in walk(body):
                family, index = self.family(each) or (None, {})
                for place in () if family is None else self.beyond(family, index, over):
                    node = family.member(written(place)) if family is not None else each
                    found[to_text(node)] = node
        names = ((node, spelled(node)) for node in found.values())
        return [node for node, name in names if name is not None and name.key() not in self.scope.definitions]

    @cached_property
    def counting(self) -> dict[str, list[tuple[Node, Node]]]:
        """The variables of sums, with their bounds."""
        found: dict[str, list[tuple[Node, Node]]] = {}
        for each in walk(self.tree):
            if isinstance(each, IndexSum):
                found.setdefault(each.variable.text, []).append((each.first, each.last))
        return found

    def beyond(self, family: Family, index: Linear, over: Range | None) -> Iterable[Linear]:
        """The indices outside of a family's range that an index takes. Raises NotARecurrence where that is not known."""
        own = family.definition.range
        assert own is not None
        low, high = linear(own.low) or {}, linear(own.high) or {}
        for end in self.extremes(index, over):
            before, after = plus(end, low, -1), plus(end, high, -1)
            if set(before) <= {UNIT}:
                yield from (plus(low, {UNIT: -each}) for each in range(1, 1 - before.get(UNIT, 0)))
            elif set(after) <= {UNIT}:
                yield from (plus(high, {UNIT: each}) for each in range(1, 1 + after.get(UNIT, 0)))
            else:
                raise NotARecurrence

    def extremes(self, index: Linear, over: Range | None) -> list[Linear]:
        """The first and the last that an index is, within sums and the steps of a range."""
        bounds = dict(self.counting)
        if over is not None:
            bounds[over.variable.text] = [(over.low, over.high)]
        ends = [index]
        for _ in range(MAX_NESTED_SUMS):
            found = []
            for end in ends:
                variable = next((each for each in end if each in bounds), None)
                rest = {symbol: count for symbol, count in end.items() if symbol != variable}
                sides = [side for bound in bounds.get(variable or "", ()) for side in bound]
                found += [plus(rest, linear(side) or {}, end[variable or ""]) for side in sides] if variable else [end]
            ends = found
        return ends


def slope_of(node: IndexSum, term: Node) -> Node:
    """The derivative of a sum, or of a product none of whose factors is 0, by those of its terms."""
    if node.operator == "∑":
        return IndexSum("∑", node.variable, node.first, node.last, term)
    inner = IndexSum("∑", node.variable, node.first, node.last, call("/", term, node.body))
    return call("⊙", node, inner)


def by_sensitivities(
    source: str, tree: nodes.Program, shapes: dict[str, dict[str, Any]], sizes: dict[str, int],
    known: Mapping[str, tuple[str, str]] | None = None,
) -> tuple[nodes.Program, int, Steps, dict[str, tuple[str, str]]] | None:  # fmt: skip
    """The program whose last line is the derivative that is the value of `tree`, its families kept, its length, steps, and primes.

    `known` are those that the program has already for the same X. None where there is no family, or one of another kind.
    """
    last = tree.statements[-1] if tree.statements else None
    if not isinstance(last, Value) or not isinstance(last.body, Derivative):
        return None
    try:
        found = begun(source, tree, last.body, shapes, sizes, dict(known or {}))
        return None if found is None else assembled(found, set(known or {}))
    except NotARecurrence:
        return None


def begun(
    source: str, tree: nodes.Program, taken: Derivative, shapes: dict[str, dict[str, Any]], sizes: dict[str, int],
    known: dict[str, tuple[str, str]],
) -> Sensitivities | None:  # fmt: skip
    """The families that depend on X, each with a name for its derivative by X."""
    scope = bind(source, tree)
    inner = (node for each in (*tree.statements[:-1], taken.body) for node in walk(each))
    if any(isinstance(node, (Derivative, nodes.Differential)) for node in inner):
        raise NotARecurrence
    reached = depending(scope, tree, words_of(taken.variable))
    families = [
        family_of(each, each.range.variable.text)
        for each in scope.families
        if each.name.base in reached and each.range is not None
    ]
    words = {word for each in tree.statements for word in words_of(each)} | axes_of(tree, shapes) | {"D", "I", "e"}
    words |= {each.definition.range.variable.text for each in families if each.definition.range is not None}
    primed, mark = {}, taken.mark or MARKS[0]
    for base in dict.fromkeys(each.base for each in families):
        primed[base] = known.get(base) or (unused(base, words), mark)
        words.add(primed[base][0])
    found = Sensitivities(source, tree, scope, taken, shapes, sizes, words, families, {}, primed)
    name = spelled(taken.variable)
    if name is None or not (families or any(isinstance(each, IndexSum) for each in walk(tree))):
        return None
    if (name.subscript or name.superscript) and found.family(taken.variable) is None:
        labels = {each.name.base for each in scope.families} | {name.base for _, name, _, _ in scope.declarations}
        spoken = [spelled(each) for each in walk(tree) if isinstance(each, (nodes.Superscript, nodes.Subscript))]
        if name.base in labels or any(each != name and each.base == name.base for each in spoken if each is not None):
            raise NotARecurrence
    family, index = found.family(taken.variable) or (None, {})
    if family is not None and not [*found.beyond(family, index, None)]:
        raise NotARecurrence  # what a member in the midst of the steps is by itself begins anew
    found.by |= found.shape(taken.variable, None)
    return found


def unused(base: str, words: set[str]) -> str:
    while base in words:
        base += "'"
    return base


def assembled(found: Sensitivities, known: set[str]) -> tuple[nodes.Program, int, Steps, dict[str, tuple[str, str]]]:
    """The line of every member, the derivative of the value by these, and the way."""
    taken, steps = found.taken, []
    members: list[tuple[Node, Node | None]] = [
        (head, each.sides[1]) for each in found.others() if (head := found.member_of(each)) is not None
    ]
    members += [(node, None) for node in found.outside()]
    for node, body in members:
        if base_of(node).text not in known:
            steps.append(found.sensitivity(node, None if node == taken.variable else body))
    for family in found.families:
        if family.base not in known and family.definition.range is not None:
            over = family.definition.range
            steps.append(found.sensitivity(family.member(over.variable), family.body, over))
    result = found.derived(taken.body, None, taken.mark)
    if result is None:
        raise NotARecurrence
    kept = found.tree.statements[:-1]
    wanted = set(words_of(result))
    statements = needed((*kept, *found.lines), wanted)
    spoken = wanted.union(*map(words_of, statements))
    title = Name("D" if "D" not in spoken | words_of(found.tree) else next(names_left(found.words | spoken)))
    lines = [each for each in found.lines if each in statements]
    steps = [each for each in steps if any(each.node.sides[0] == line.sides[0] for line in lines)]
    steps.append(Step("identification", Equation((title, result, taken)), "the factor of ∂X* is the derivative"))
    total = length(result) + sum(2 + length(each.sides[1]) for each in lines)
    program = nodes.Program((*(each for each in statements if each not in lines), *lines, Equation((title, result))))
    return program, total, Steps((), tuple(steps), tuple(kept)), found.primed
