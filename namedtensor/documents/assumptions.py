"""Assumptions about undeclared names that an assertion needs in order to have a value.

∂f(U) = (d f(x) / d x)|_{x=U} ⊙ ∂U     f : ℝ → ℝ          f is any smooth function; tests use one with random weights
∂U_s = [∂U]_s                                              s is a record of indices, one along each axis of 𝒮
∑_{ax} X = ∑_{i ∈ I} X_{ax(i)}                             I is the set of all indices of ax
∂f^{𝒮'}(X) = …                                             f is lifted: X has the extra axes 𝒮'
∂Att(Q, K, V) = ∂(α ⊙_{seq} V)                             Att(Q, K, V) equals α ⊙_{seq} V up to a constant
∂f(X; H) = 2 X ⊙_{ax} H                                    H is ∂X

The verdict of an assertion lists its assumptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from grammar import nodes
from grammar.nodes import (
    AtPoint,
    Axis,
    Call,
    Derivative,
    Differential,
    Equation,
    Index,
    Literal,
    Name,
    Node,
    Over,
    Program,
    Signature,
    Subscript,
)
from grammar.parser import parse
from grammar.printer import to_text
from grammar.symbols import CALLIGRAPHIC
from grammar.traversal import map_nodes

from ..operators.usage import tensors
from ..scope.names import MARKS, walk
from ..scope.shape_variables import is_shape

Typed = Callable[[Program], tuple[Mapping[str, Mapping[str, Any]], Mapping[str, Any]]]


@dataclass
class DocumentAssumptions:
    """A program that ends with an assertion, in which every name has a meaning, and the assumptions that this needs."""

    program: Program
    told: dict[str, str] = field(default_factory=dict)  # the meaning of each name
    widened: dict[str, tuple[str, ...]] = field(default_factory=dict)  # the axes that names have in any case

    @property
    def claim(self) -> Equation:
        claim = self.program.statements[-1]
        assert isinstance(claim, Equation)
        return claim

    def widen(self, name: str, axes: Iterable[str]) -> None:
        if not any(
            isinstance(statement, nodes.Declaration) and name in map(to_text, statement.names)
            for statement in self.program.statements
        ):
            self.widened[name] = (*self.widened.get(name, ()), *axes)

    def change(self, claim: Equation) -> None:
        self.program = Program((*self.program.statements[:-1], claim))

    def before(self, statements: Iterable[Any]) -> None:
        self.program = Program((*statements, *self.program.statements))


def read_assumptions(program: Program, meanings: Mapping[str, Node], typed: Typed) -> DocumentAssumptions:
    """Return the assumptions of an assertion, which is the last statement of a program.

    `meanings` maps calls of undefined functions and undefined names to the expressions that replace them. `typed` is a
    function that returns the input shapes of a program and the shape of its value.
    """
    document_assumptions = DocumentAssumptions(program)
    for suppose in (_records, _index_sets, _increments):
        suppose(document_assumptions)
    _meanings(document_assumptions, meanings)
    _any_functions(document_assumptions)
    _lifts(document_assumptions, typed)
    return document_assumptions


def said_by_differentials(claims: Iterable[Equation], known: set[str]) -> dict[str, Node]:
    """Return, for undefined functions, the bodies that equations of differentials imply.

    For example, ∂Att(Q, K, V) = ∂(α ⊙_{seq} V) implies that Att(Q, K, V) is α ⊙_{seq} V.
    """
    result: dict[str, Node] = {}
    for claim in claims:
        first, second = (node.body if isinstance(node, Differential) else None for node in claim.sides[:2])
        if isinstance(first, Call) and first.operator[:1].isalpha() and second is not None:
            plain = not first.subscript and all(isinstance(argument, Name) for argument in first.arguments)
            if plain and first.operator not in known:
                result.setdefault(to_text(first), second)
    return result


def said_by_side(claim: Equation, unknown: set[str]) -> dict[str, Node] | None:
    """Return the value of an undefined name that is a side of an equation, or None.

    For example, D is undefined in ∂f(X)/∂X* = D, so that its value is the other side.
    """
    for one, other in (claim.sides, claim.sides[::-1]) if len(claim.sides) == 2 and claim.range is None else ():
        if isinstance(one, Name) and one.text in unknown and one not in walk(other):
            return {one.text: other}
    return None


def _records(assumptions: DocumentAssumptions) -> None:
    """Rewrite U_s and [∂U]_s, for an undefined s, as elements of U and ∂U.

    Here, s is a record, that is, an index for each axis in 𝒮.
    """
    statements = assumptions.program.statements[:-1]
    known = {
        to_text(name)
        for statement in statements
        for name in (*getattr(statement, "names", ()), *getattr(statement, "sides", ())[:1])
    }
    marked = {axis.name for node in walk(assumptions.claim) if _is_bracket(node) for axis in node.axes}
    records = {name.rstrip(MARKS) for name in marked if _shape_of(name)} - known

    def item(name: str) -> tuple[Axis, Node]:
        plain = name.rstrip(MARKS)
        return Axis(_shape_of(plain) + name[len(plain) :]), Name(plain)

    def indexed(node: Any) -> Any:
        if _is_bracket(node) and all(axis.name.rstrip(MARKS) in records for axis in node.axes):
            items = tuple(item(axis.name) for axis in node.axes)
            return Index(map_nodes(node.rows[0][0], indexed), items, node.span)
        if isinstance(node, Subscript) and all(
            isinstance(component, Name) and component.text in records for component in node.components
        ):
            if isinstance(node.base, Name):
                assumptions.widen(node.base.text, (_shape_of(to_text(component)) for component in node.components))
            return Index(
                map_nodes(node.base, indexed),
                tuple(item(to_text(component)) for component in node.components),
                node.span,
            )
        if (
            isinstance(node, Derivative)
            and isinstance(node.variable, Subscript)
            and isinstance(node.variable.base, Name)
        ):
            return by_element(node.body, node.variable.base, node.variable.components)
        return None

    def by_element(body: Node, variable: Name, components: tuple[Node, ...]) -> Any:
        """Rewrite ∂f(X)/∂X_s as the derivative of f(X + ε E) by ε at 0, where E is 1 at s and 0 elsewhere."""
        if len(components) != 1 or not isinstance(components[0], Name) or components[0].text not in records:
            return None
        step, record = Name("epsilonA"), components[0]
        call = Call("onehot", (), (Name(_shape_of(record.text)),), (record,))
        moved = Call("+", (), (), (variable, Call("⊙", (), (), (step, call))))
        grown = map_nodes(map_nodes(body, indexed), lambda node: moved if node == variable else None)
        return AtPoint(Derivative(grown, step, ""), ((step, nodes.Number(0)),))

    if records:
        assumptions.change(map_nodes(assumptions.claim, indexed))
        assumptions.told.update({name: f"any record of {_shape_of(name)}" for name in sorted(records)})


def _is_bracket(node: Any) -> bool:
    """Return whether a node is a bracket such as [X]_s, which is parsed as a literal with one element."""
    return isinstance(node, Literal) and len(node.rows) == 1 == len(node.rows[0]) and bool(node.axes)


def _shape_of(record: str) -> str:
    """Return the shape variable of a record, such as 𝒮 for s and 𝒮' for s', or an empty string."""
    plain = record.rstrip(MARKS)
    letter = plain.rstrip("'")
    if not (letter.islower() and letter.isascii() and len(letter) == 1):
        return ""
    return CALLIGRAPHIC[letter.upper()] + plain[1:]


def _index_sets(assumptions: DocumentAssumptions) -> None:
    """Rewrite ∑_{i ∈ I} X_{ax(i)}, for an undefined I, as the sum over all indices of ax."""
    start = assumptions.claim.span[0]
    spoken = {
        to_text(name)
        for statement in assumptions.program.statements[:-1]
        if isinstance(statement, nodes.Declaration) and statement.span[0] < start
        for name in statement.names
    }
    gone: set[str] = set()

    def whole(node: Any) -> Any:
        if not isinstance(node, Over) or not isinstance(node.over, nodes.Set) or node.over.domain != "field":
            return None
        name, body = to_text(node.over.elements[0]), map_nodes(node.body, whole)
        places = [
            axis for part in walk(body) if isinstance(part, Index) for axis, at in part.items if at == node.variable
        ]
        if name in spoken or not places:
            return None
        gone.add(name)
        assumptions.told[name] = f"all indices of {places[0].name}"
        return Call(node.operator, (), (node.variable,), (body,), (), node.span, node.span)

    assumptions.change(map_nodes(assumptions.claim, whole))
    if gone:
        statements = (
            statement
            for statement in assumptions.program.statements
            if not {to_text(name) for name in getattr(statement, "names", ())} & gone
        )
        assumptions.program = Program(tuple(statements))


def _lifts(assumptions: DocumentAssumptions, typed: Typed) -> None:
    """Rewrite f^{𝒮'}(X), the lift of f to the axes 𝒮', as a call of f on a tensor X that has additional axes."""
    lifted: set[str] = set()

    def plain(node: Any) -> Any:
        if (
            isinstance(node, Call)
            and len(node.superscript) == 1
            and isinstance(node.superscript[0], Name)
            and is_shape(node.superscript[0].text)
        ):
            for argument in node.arguments:
                if isinstance(argument, Name):
                    assumptions.widen(argument.text, [to_text(node.superscript[0])])
            assumptions.told[f"{node.operator}^{{{to_text(node.superscript[0])}}}"] = f"the lift of {node.operator}"
            lifted.add(node.operator)
            return replace(node, superscript=())
        return None

    assumptions.change(map_nodes(assumptions.claim, plain))
    *before, claim = assumptions.program.statements
    stated = {statement.head.operator for statement in before if isinstance(statement, Signature)}
    for statement in before if lifted else ():
        head, body = statement.sides[:2] if isinstance(statement, Equation) else (None, nodes.Number(0))
        if (
            isinstance(head, Call)
            and head.operator in lifted - stated
            and all(isinstance(of, Name) for of in head.arguments)
        ):
            shapes, result = typed(Program((*before, nodes.Value(body, (0, 0)))))
            domain = " × ".join(tensors(shapes.get(to_text(of), {})) for of in head.arguments)
            assumptions.before(parse(f"{head.operator} : {domain} → {tensors(result)}", "text").statements)
    assert claim is assumptions.claim


def _increments(assumptions: DocumentAssumptions) -> None:
    """Rewrite ∂f(X; H), the differential of f at X with increment H, as ∂f(X), and H as ∂X."""
    increments: dict[str, Node] = {}
    heads = (statement.sides[0] for statement in assumptions.program.statements[:-1] if isinstance(statement, Equation))
    takes = {head.operator for head in heads if isinstance(head, Call) and head.parameters}

    def without(node: Any) -> Any:
        call = node.body if isinstance(node, Differential) else None
        if not isinstance(call, Call) or not call.parameters or call.operator in takes:
            return None
        pairs = [*zip(call.arguments, call.parameters)]
        plain = all(isinstance(part, Name) for pair in pairs for part in pair)
        if not plain or len(call.arguments) != len(call.parameters):
            return None
        increments.update({to_text(step): Differential(of) for of, step in pairs})
        return Differential(replace(call, parameters=()), node.span)

    claim = map_nodes(assumptions.claim, without)
    if increments:
        assumptions.change(map_nodes(claim, lambda node: increments.get(node.text) if isinstance(node, Name) else None))
        assumptions.told.update({name: to_text(step) for name, step in increments.items()})


def _meanings(assumptions: DocumentAssumptions, meanings: Mapping[str, Node]) -> None:
    """Replace undefined names and calls of undefined functions by expressions that other assertions state."""

    def meant(node: Any) -> Any:
        if isinstance(node, (Call, Name)) and (text := to_text(node)) in meanings:
            assumptions.told[text] = to_text(meanings[text])
            return meanings[text]
        return None

    if meanings:
        assumptions.change(map_nodes(assumptions.claim, meant))


def _any_functions(assumptions: DocumentAssumptions) -> None:
    """Define each function that has only a signature as a smooth function with random weights."""
    statements = assumptions.program.statements
    heads = (statement.sides[0] for statement in statements if isinstance(statement, Equation))
    defined = {
        head.operator
        for head in heads
        if isinstance(head, Call) and all(isinstance(argument, Name) for argument in head.arguments)
    }
    called = {node.operator for node in walk(assumptions.program) if isinstance(node, Call)}
    for at, statement in enumerate([line for line in statements if isinstance(line, Signature)]):
        plain = (
            not statement.head.subscript and not statement.head.superscript and statement.head.operator[:1].isalpha()
        )
        sets = (*statement.domain, statement.codomain)
        if plain and statement.head.operator in called - defined and all(_is_of_numbers(of) for of in sets):
            assumptions.before(_some_function(statement, at))
            assumptions.told[statement.head.operator] = "any smooth function"


def _is_of_numbers(of: Any) -> bool:
    return isinstance(of, nodes.Set) and (of.domain == "reals" or of.domain == "field" and len(of.elements) == 1)


def _some_function(signature: Signature, number: int) -> tuple[Any, ...]:
    """Return the statements that define f(x, y) as tanh u + u²/4, where u is linear in x and y.

    Such a function is smooth and has no symmetry.
    """
    letter = "ABCDEFGH"[number % 8]
    out = [axis.name for axis, _ in signature.codomain.axes]
    lines, terms = [], [f"bias{letter}"]
    lines.append(f"bias{letter} ∈ {tensors(out)}")
    names = [f"given{letter}{'XYZUVW'[at % 6]}" for at in range(len(signature.domain))]
    for name, of in zip(names, signature.domain):
        local = [axis.name for axis, _ in of.axes]
        apart = {axis: f"{axis}†" for axis in local if axis in out}
        axes = [apart[axis] if axis in apart else axis for axis in local]
        moved = f"{name}_{{{', '.join(f'{a}→{b}' for a, b in apart.items())}}}" if apart else name
        weight = f"weight{name}"
        lines.append(f"{weight} ∈ {tensors((*axes, *out))}")
        terms.append(f"{weight} ⊙_{{{', '.join(axes)}}} {moved}" if axes else f"{weight} ⊙ {moved}")
    sum_ = " + ".join(terms)
    lines.append(f"{signature.head.operator}({', '.join(names)}) = tanh({sum_}) + ({sum_})^2 / 4")
    return parse("\n".join(lines), "text").statements
