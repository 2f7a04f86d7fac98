"""Forward sensitivities of families: beside each member its derivative with respect to X, in the same steps.

    h^t = f(h^{t-1}, W) for t = 1, …, n;   L = ℓ(h^2, h^n)
    h'^t = ∂h^t/∂h^{t-1} ⊙ h'^{t-1} + ∂h^t/∂W for t = 1, …, n         h'^t is ∂h^t/∂W*
    D = ∂L/∂h^2 ⊙ h'^2 + ∂L/∂h^n ⊙ h'^n

Sums are taken term by term. This goes where no adjoint does: steps of two, several ranges, members by their numbers, and
derivatives of adjoints. A member appears in a formula as c + h' ⊙ X, whose derivative with respect to X is h'.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from grammar import nodes
from grammar.cache import cached_property
from grammar.nodes import Derivative, Equation, IndexSum, Name, Node, Number, Range
from grammar.printer import to_text
from grammar.traversal import mapped

from ..scope.binder import bind
from ..scope.names import Spelled, spelled, walk
from ..symbolic.naming import names_left, words_of
from ..symbolic.spelling import call, expression, length, rename, with_axes
from .assembly import Assembly, Bounds, axes_of
from .indices import UNIT, Linear, at, linear, number_of, plus, written
from .reading import base_of, needed, spoken_in, words_in
from .recurrences import Family, NotARecurrence, depending, family_of, is_dependent, name_node
from .steps import DerivationStep, DerivationSteps

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
        ranges = [over for family in self.scope.families for over in [family.range] if over is not None]
        sides = [(range_.low, range_.high) for range_ in ranges]
        sides += [(node.first, node.last) for node in walk(self.tree) if isinstance(node, IndexSum)]
        counting = self.counting.keys() | {range_.variable.text for range_ in ranges}
        bounds: list[Bounds] = []
        for low, high in sides:
            first, last = linear(low), linear(high)
            if first is None or last is None:
                raise NotARecurrence
            if not counting & {*first, *last}:
                bounds.append((first, last))
        return bounds

    def shape(self, node: Any, over: Range | None, later: int = 1) -> dict[str, Any]:
        """The shape of a formula at the second step of a range, when there are few."""
        checker, few = self.probe(self.bounds)
        if over is not None:
            first = linear(over.low) or {}
            node = at(node, over.variable.text, {UNIT: number_of(first, few) + later})
        return dict(checker.infer(node, checker.top).shape)

    def shape_of_member(self, family: Family) -> dict[str, Any]:
        """The shape of all members of a family. Raises NotARecurrence where they differ."""
        over = family.definition.range
        shapes = [self.shape(family.member(over.variable), over, later) for later in (0, 1)] if over is not None else []
        if not shapes or shapes[0].keys() != shapes[1].keys():
            raise NotARecurrence
        return shapes[0]

    def beside(self, shape: Mapping[str, Any], mark: str) -> dict[str, Any]:
        """The shape of the derivative with respect to X of a tensor of a shape."""
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
        """A part as one name, which stands for a constant plus its derivative with respect to X, times X."""
        if text not in self.stands:
            marked = {axis: axis + mark for axis in self.by}
            slope = self.constant(prime) if base_of(expression(prime)).text in self.primed else prime
            self.labels[text] = self.labels[f"{text} alone"] = shape
            self.labels[slope] = self.beside(shape, mark)
            moved = call("⊙", Name(slope), rename(self.variable, marked), axes=marked.values())
            self.stands[text] = Equation((Name(text), call("+", Name(f"{text} alone"), moved)))
        return Name(text)

    # ---------------------------------------------------------------------------------------------------------- bodies
    def derived(self, body: Node, over: Range | None, mark: str, name: str = "") -> Node | None:
        """The derivative of a formula by X, by those of members and sums; None where it is 0. Its `own` name is written for it."""
        if over is not None:
            self.labels[over.variable.text] = {}
        others = [statement for statement in self.others() if self.member_of(statement) is None]
        spoken = needed(tuple(others), spoken_in(body))
        whole = self.replaced(body, over)
        statements = [self.replaced(statement, over) for statement in spoken]
        words = words_of(whole).union(*map(words_of, statements))
        stands = [equation for text, equation in self.stands.items() if text in words and text != name]
        declared = needed(tuple(others), words_of(self.taken.variable)) if stands else ()
        statements = [*(statement for statement in declared if statement not in spoken), *statements, *stands]
        if name:
            statements.append(Equation((Name(name), whole)))
            whole = Name(name)
        reading = self.closed(statements, whole, self.variable, mark=mark)
        if reading is None:
            return None
        return self.simplified(self.restored(self.named(reading, over)), over)

    def replaced(self, node: Any, over: Range | None) -> Any:
        """Replace members, and sums that use them, by named parts."""
        if isinstance(node, Equation):
            return Equation((node.sides[0], *(self.replaced(part, over) for part in node.sides[1:])), range=node.range)

        def change(part: Any) -> Node | None:
            if isinstance(part, IndexSum):
                return self.sum(part, over) if is_dependent(part, self.reached, self.family) else None
            member = self.family(part)
            if member is None:
                return None
            if part == self.taken.variable:
                return self.variable
            family, index = member
            local = part if family is None else family.member(written(index))
            shape = self.shape(local, None) if family is None else self.shape_of_member(family)
            return self.part(to_text(local), to_text(self.prime(local)), shape, self.primed[base_of(local).text][1])

        node = mapped(node, change)
        if over is None:
            return node
        return self.labeled(node, over.variable.text, self.primed, lambda part, _: self.shape(part, over))

    @cached_property
    def reached(self) -> set[str]:
        return depending(self.scope, self.tree, words_of(self.taken.variable))

    def sum(self, node: IndexSum, over: Range | None) -> Name:
        """A sum as a part; its derivative with respect to X is the sum of those of its terms."""
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
        """A formula with the sums that appear in it as parts."""
        return mapped(node, lambda part: self.sums.get(part.text) if isinstance(part, Name) else None)

    def member_of(self, statement: Any) -> Node | None:
        """The member that an equation of its own defines."""
        head = statement.sides[0] if isinstance(statement, Equation) and statement.range is None else None
        name = spelled(head) if isinstance(head, (nodes.Superscript, nodes.Subscript)) else None
        return head if name is not None and name.base in self.primed else None

    # ----------------------------------------------------------------------------------------------------------- lines
    def sensitivity(self, node: Node, body: Node | None, over: Range | None = None) -> DerivationStep:
        """The line of the derivative of a member by X, and that as an equation; without a body it is given."""
        mark, variable = self.primed[base_of(node).text][1], self.taken.variable
        axes = None if body is None else self.derived(body, over, mark, to_text(node))
        if body is None and node == variable:
            reading = self.closed([], self.variable, self.variable, mark=mark)
            axes = None if reading is None else reading.node
        if axes is None:
            axes = with_axes(Number(0), self.beside(self.shape(node, over), mark))
        self.line(self.prime(node), axes, over)
        return DerivationStep(
            "sensitivity", replace(self.lines[-1], sides=(*self.lines[-1].sides, Derivative(node, variable, mark))), LAW
        )

    def outside(self) -> list[Node]:
        """Return the members that formulas use and no equation defines: the initial values."""
        result: dict[str, Node] = {}
        bodies: list[tuple[Node, Range | None]] = [(family.body, family.definition.range) for family in self.families]
        bodies += [
            (side, None)
            for statement in self.others()
            if isinstance(statement, Equation)
            for side in statement.sides[1:]
        ]
        for body, over in (*bodies, (self.taken.body, None)):
            for part in walk(body):
                family, index = self.family(part) or (None, {})
                for offset in () if family is None else self.beyond(family, index, over):
                    node = family.member(written(offset)) if family is not None else part
                    result[to_text(node)] = node
        names = ((node, spelled(node)) for node in result.values())
        return [node for node, name in names if name is not None and name.key() not in self.scope.definitions]

    @cached_property
    def counting(self) -> dict[str, list[tuple[Node, Node]]]:
        """The variables of sums, with their bounds."""
        counting: dict[str, list[tuple[Node, Node]]] = {}
        for node in walk(self.tree):
            if isinstance(node, IndexSum):
                counting.setdefault(node.variable.text, []).append((node.first, node.last))
        return counting

    def beyond(self, family: Family, index: Linear, over: Range | None) -> Iterable[Linear]:
        """The indices outside of a family's range that an index takes. Raises NotARecurrence where that is not known."""
        range_ = family.definition.range
        assert range_ is not None
        low, high = linear(range_.low) or {}, linear(range_.high) or {}
        for end in self.extremes(index, over):
            before, after = plus(end, low, -1), plus(end, high, -1)
            if set(before) <= {UNIT}:
                yield from (plus(low, {UNIT: -position}) for position in range(1, 1 - before.get(UNIT, 0)))
            elif set(after) <= {UNIT}:
                yield from (plus(high, {UNIT: position}) for position in range(1, 1 + after.get(UNIT, 0)))
            else:
                raise NotARecurrence

    def extremes(self, index: Linear, over: Range | None) -> list[Linear]:
        """The first and the last that an index is, within sums and the steps of a range."""
        bounds = dict(self.counting)
        if over is not None:
            bounds[over.variable.text] = [(over.low, over.high)]
        ends = [index]
        for _ in range(MAX_NESTED_SUMS):
            result = []
            for end in ends:
                variable = next((name for name in end if name in bounds), None)
                rest = {symbol: count for symbol, count in end.items() if symbol != variable}
                sides = [side for bound in bounds.get(variable or "", ()) for side in bound]
                result += [plus(rest, linear(side) or {}, end[variable or ""]) for side in sides] if variable else [end]
            ends = result
        return ends


def slope_of(node: IndexSum, term: Node) -> Node:
    """The derivative of a sum, or of a product none of whose factors is 0, by those of its terms."""
    if node.operator == "∑":
        return IndexSum("∑", node.variable, node.first, node.last, term)
    inner = IndexSum("∑", node.variable, node.first, node.last, call("/", term, node.body))
    return call("⊙", node, inner)


def by_sensitivities(
    source: str, tree: nodes.Program, taken: Derivative, shapes: dict[str, dict[str, Any]], sizes: dict[str, int],
    known: Mapping[str, tuple[str, str]] | None = None,
) -> tuple[nodes.Program, int, DerivationSteps, dict[str, tuple[str, str]]] | None:  # fmt: skip
    """The program whose last line is the derivative that is the value of `tree`, its families kept, its length, steps, and primes.

    `known` are those that the program has already for the same X. None where there is no family, or one of another kind.
    """
    try:
        sensitivities = begun(source, tree, taken, shapes, sizes, dict(known or {}))
        return None if sensitivities is None else assembled(sensitivities, set(known or {}))
    except NotARecurrence:
        return None


def begun(
    source: str, tree: nodes.Program, taken: Derivative, shapes: dict[str, dict[str, Any]], sizes: dict[str, int],
    known: dict[str, tuple[str, str]],
) -> Sensitivities | None:  # fmt: skip
    """The families that depend on X, each with a name for its derivative with respect to X."""
    scope = bind(source, tree)
    reached = depending(scope, tree, words_of(taken.variable))
    families = [
        family_of(definition, definition.range.variable.text)
        for definition in scope.families
        if definition.name.base in reached and definition.range is not None
    ]
    words = words_in(tree) | axes_of(tree, shapes)
    words |= {member.definition.range.variable.text for member in families if member.definition.range is not None}
    primed, mark = {}, taken.mark or MARKS[0]
    for base in dict.fromkeys(member.base for member in families):
        primed[base] = known.get(base) or (unused(base, words), mark)
        words.add(primed[base][0])
    sensitivities = Sensitivities(source, tree, scope, taken, shapes, sizes, words, families, {}, primed)
    name = spelled(taken.variable)
    if name is None or not (families or any(isinstance(node, IndexSum) for node in walk(tree))):
        return None
    if (name.subscript or name.superscript) and sensitivities.family(taken.variable) is None:
        spoken = [spelled(node) for node in walk(tree) if isinstance(node, (nodes.Superscript, nodes.Subscript))]
        named = [definition.name for definition in scope.families] + [
            declared for _, declared, _, _ in scope.declarations
        ]
        others = [other for other in (*spoken, *named) if other is not None and other != name]
        if any(may_be(other, name, scope.indices) for other in others):
            raise NotARecurrence  # such as W^l, which may be this W^3
    family, index = sensitivities.family(taken.variable) or (None, {})
    if family is not None and not [*sensitivities.beyond(family, index, None)]:
        raise NotARecurrence  # a member computed apart in the middle restarts the steps
    sensitivities.by |= sensitivities.shape(taken.variable, None)
    return sensitivities


def may_be(other: Spelled, name: Spelled, indices: set[str]) -> bool:
    """Whether a name with indices, W^l or W^{l-1}, is another for some value of these: W^3."""
    scripts = [(*of.subscript, *of.superscript) for of in (other, name)]
    if (other.base, len(other.subscript), len(scripts[0])) != (name.base, len(name.subscript), len(scripts[1])):
        return False
    return all(left == right or indices & (words_of(left) | words_of(right)) for left, right in zip(*scripts))


def unused(base: str, words: set[str]) -> str:
    while base in words:
        base += "'"
    return base


def assembled(
    sensitivities: Sensitivities, known: set[str]
) -> tuple[nodes.Program, int, DerivationSteps, dict[str, tuple[str, str]]]:
    """The line of every member, the derivative of the value by these, and the way."""
    taken, steps = sensitivities.taken, []
    members: list[tuple[Node, Node | None]] = [
        (head, statement.sides[1])
        for statement in sensitivities.others()
        if (head := sensitivities.member_of(statement)) is not None
    ]
    members += [(node, None) for node in sensitivities.outside()]
    for node, body in members:
        if base_of(node).text not in known:
            steps.append(sensitivities.sensitivity(node, None if node == taken.variable else body))
    for family in sensitivities.families:
        if family.base not in known and family.definition.range is not None:
            over = family.definition.range
            steps.append(sensitivities.sensitivity(family.member(over.variable), family.body, over))
    result = sensitivities.derived(taken.body, None, taken.mark)
    if result is None:
        raise NotARecurrence
    definitions = sensitivities.tree.statements[:-1]
    expected = set(words_of(result))
    statements = needed((*definitions, *sensitivities.lines), expected)
    spoken = expected.union(*map(words_of, statements))
    title = Name(
        "D" if "D" not in spoken | words_of(sensitivities.tree) else next(names_left(sensitivities.words | spoken))
    )
    lines = [line for line in sensitivities.lines if line in statements]
    steps = [step for step in steps if any(step.node.sides[0] == line.sides[0] for line in lines)]
    steps.append(
        DerivationStep("identification", Equation((title, result, taken)), "the factor of ∂X* is the derivative")
    )
    total = length(result) + sum(2 + length(line.sides[1]) for line in lines)
    program = nodes.Program(
        (*(statement for statement in statements if statement not in lines), *lines, Equation((title, result)))
    )
    return program, total, DerivationSteps((), tuple(steps), tuple(definitions)), sensitivities.primed
