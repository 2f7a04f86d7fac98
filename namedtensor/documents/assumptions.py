"""Assumptions about undeclared names, without which an assertion would have no value.

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
from ..scope.uses import uses_of

Typed = Callable[[Program], tuple[Mapping[str, Mapping[str, Any]], Mapping[str, Any]]]


@dataclass
class DocumentAssumptions:
    """A program that ends with an assertion, and assumptions that give a meaning to each name in the program."""

    program: Program
    told: dict[str, str] = field(default_factory=dict)  # the meaning of each name
    widened: dict[str, tuple[str, ...]] = field(default_factory=dict)  # additional axes of undeclared names

    @property
    def claim(self) -> Equation:
        claim = self.program.statements[-1]
        assert isinstance(claim, Equation)
        return claim

    @property
    def before(self) -> tuple[Any, ...]:
        """The statements before the assertion."""
        return self.program.statements[:-1]

    def widen(self, name: Node, axes: Iterable[str]) -> None:
        """Add axes to a name that is not declared."""
        declared = (of for line in self.before if isinstance(line, nodes.Declaration) for of in line.names)
        if isinstance(name, Name) and name not in declared:
            self.widened[name.text] = (*self.widened.get(name.text, ()), *axes)

    def rewrite(self, change: Callable[[Any], Any]) -> None:
        """Replace the nodes of the assertion for which `change` returns another node."""
        self.program = Program((*self.before, map_nodes(self.claim, change)))

    def add(self, source: str) -> None:
        """Add statements in text syntax at the beginning."""
        self.program = Program((*parse(source, "text").statements, *self.program.statements))


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
    """Return the bodies of undefined functions that follow from equations between differentials.

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
    """Return the meaning of an undefined name that is one side of an equation, or None if neither side is undefined.

    For example, if D is undefined in ∂f(X)/∂X* = D, it means the other side.
    """
    for one, other in (claim.sides, claim.sides[::-1]) if len(claim.sides) == 2 and claim.range is None else ():
        if isinstance(one, Name) and one.text in unknown and one not in walk(other):
            return {one.text: other}
    return None


def _records(assumptions: DocumentAssumptions) -> None:
    """Read U_s and [∂U]_s, for an undefined s, as the elements of U and ∂U at a record s of indices along 𝒮."""
    known = {
        to_text(name)
        for statement in assumptions.before
        for name in (*getattr(statement, "names", ()), *getattr(statement, "sides", ())[:1])
    }
    marked = {axis.name for node in walk(assumptions.claim) if _is_bracket(node) for axis in node.axes}
    records = {name.rstrip(MARKS) for name in marked if _shape_of(name)} - known

    def item(name: str) -> tuple[Axis, Node]:
        plain = name.rstrip(MARKS)
        return Axis(_shape_of(plain) + name[len(plain) :]), Name(plain)

    def indexed(node: Any) -> Any:
        if _is_bracket(node):
            base, names = node.rows[0][0], [axis.name for axis in node.axes]
        elif isinstance(node, Subscript):
            base, names = node.base, [to_text(part) for part in node.components if isinstance(part, Name)]
            if not records.issuperset(names) or len(names) < len(node.components):
                return None
            assumptions.widen(base, map(_shape_of, names))
        else:
            return by_element(node) if isinstance(node, Derivative) else None
        is_read = all(name.rstrip(MARKS) in records for name in names)
        return Index(map_nodes(base, indexed), tuple(map(item, names)), node.span) if is_read else None

    def by_element(node: Derivative) -> Any:
        """Read ∂f(X)/∂X_s as the derivative of f(X + ε E) with respect to ε at 0, with E = 1 at s and 0 elsewhere."""
        variable = node.variable
        if not isinstance(variable, Subscript) or not isinstance(variable.base, Name) or len(variable.components) != 1:
            return None
        record = variable.components[0]
        if not isinstance(record, Name) or record.text not in records:
            return None
        step = Name("epsilonA")
        one = Call("onehot", (), (Name(_shape_of(record.text)),), (record,))
        moved = Call("+", (), (), (variable.base, Call("⊙", (), (), (step, one))))
        body = map_nodes(node.body, indexed)
        grown = map_nodes(body, lambda part: moved if part == variable.base else None)
        return AtPoint(Derivative(grown, step, ""), ((step, nodes.Number(0)),))

    if records:
        assumptions.rewrite(indexed)
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
    declarations = [line for line in assumptions.before if isinstance(line, nodes.Declaration)]
    spoken = {to_text(name) for line in declarations if line.span[0] < start for name in line.names}
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

    assumptions.rewrite(whole)
    statements = assumptions.program.statements
    left = (line for line in statements if gone.isdisjoint(map(to_text, getattr(line, "names", ()))))
    assumptions.program = Program(tuple(left))


def _lifts(assumptions: DocumentAssumptions, typed: Typed) -> None:
    """Rewrite f^{𝒮'}(X), the lift of f to the axes 𝒮', as a call of f on a tensor X that has additional axes."""
    lifted: set[str] = set()

    def plain(node: Any) -> Any:
        scripts = [to_text(script) for script in node.superscript] if isinstance(node, Call) else []
        if len(scripts) != 1 or not isinstance(node.superscript[0], Name) or not is_shape(scripts[0]):
            return None
        for argument in node.arguments:
            assumptions.widen(argument, scripts)
        assumptions.told[f"{node.operator}^{{{scripts[0]}}}"] = f"the lift of {node.operator}"
        lifted.add(node.operator)
        return replace(node, superscript=())

    assumptions.rewrite(plain)
    before = assumptions.before
    lifted -= {statement.head.operator for statement in before if isinstance(statement, Signature)}
    for head, body in _find_functions(before):
        if head.operator in lifted:
            shapes, result = typed(Program((*before, nodes.Value(body, (0, 0)))))
            domain = " × ".join(tensors(shapes.get(to_text(of), {})) for of in head.arguments)
            assumptions.add(f"{head.operator} : {domain} → {tensors(result)}")


def _find_functions(statements: Iterable[Any]) -> list[tuple[Call, Node]]:
    """Return the functions that statements define for any arguments, each with its body."""
    pairs = (statement.sides[:2] for statement in statements if isinstance(statement, Equation))
    return [
        (head, body)
        for head, body in pairs
        if isinstance(head, Call) and all(isinstance(argument, Name) for argument in head.arguments)
    ]


def _increments(assumptions: DocumentAssumptions) -> None:
    """Read ∂f(X; H), the differential of f at X with increment H, as ∂f(X), and replace H with ∂X."""
    increments: dict[Node, Node] = {}
    heads = (statement.sides[0] for statement in assumptions.before if isinstance(statement, Equation))
    takes = {head.operator for head in heads if isinstance(head, Call) and head.parameters}

    def without(node: Any) -> Any:
        call = node.body if isinstance(node, Differential) else None
        if not isinstance(call, Call) or not call.parameters or call.operator in takes:
            return None
        parts = (*call.arguments, *call.parameters)
        if not all(isinstance(part, Name) for part in parts) or len(call.arguments) != len(call.parameters):
            return None
        increments.update((step, Differential(of)) for of, step in zip(call.arguments, call.parameters))
        return Differential(replace(call, parameters=()), node.span)

    assumptions.rewrite(without)
    if increments:
        assumptions.rewrite(lambda node: increments.get(node) if isinstance(node, Name) else None)
        assumptions.told.update({to_text(name): to_text(step) for name, step in increments.items()})


def _meanings(assumptions: DocumentAssumptions, meanings: Mapping[str, Node]) -> None:
    """Replace undefined names and calls of undefined functions by expressions that other assertions state."""

    def meant(node: Any) -> Any:
        if isinstance(node, (Call, Name)) and (text := to_text(node)) in meanings:
            assumptions.told[text] = to_text(meanings[text])
            return meanings[text]
        return None

    if meanings:
        assumptions.rewrite(meant)


def _any_functions(assumptions: DocumentAssumptions) -> None:
    """Define each function that has only a signature as a smooth function with random weights."""
    statements = assumptions.program.statements
    undefined = uses_of(*statements).calls - {head.operator for head, _ in _find_functions(statements)}
    for at, statement in enumerate([line for line in statements if isinstance(line, Signature)]):
        head, sets = statement.head, (*statement.domain, statement.codomain)
        plain = not head.subscript and not head.superscript and head.operator[:1].isalpha()
        if plain and head.operator in undefined and all(map(_is_of_numbers, sets)):
            assumptions.add(_some_function(statement, at))
            assumptions.told[head.operator] = "any smooth function"


def _is_of_numbers(of: Any) -> bool:
    return isinstance(of, nodes.Set) and (of.domain == "reals" or of.domain == "field" and len(of.elements) == 1)


def _some_function(signature: Signature, number: int) -> str:
    """Return the source of f(x, y) = tanh u + u²/4 with u linear in x and y. This f is smooth and has no symmetry."""
    letter = "ABCDEFGH"[number % 8]
    out = [axis.name for axis, _ in signature.codomain.axes]
    names, lines, terms = [], [f"bias{letter} ∈ {tensors(out)}"], [f"bias{letter}"]
    for at, of in enumerate(signature.domain):
        name = f"given{letter}{'XYZUVW'[at % 6]}"
        moved = {axis.name: f"{axis.name}†" for axis, _ in of.axes if axis.name in out}
        axes = [moved.get(axis.name, axis.name) for axis, _ in of.axes]
        renamed = f"{name}_{{{', '.join(f'{old}→{new}' for old, new in moved.items())}}}" if moved else name
        names.append(name)
        lines.append(f"weight{name} ∈ {tensors((*axes, *out))}")
        product = f"⊙_{{{', '.join(axes)}}}" if axes else "⊙"
        terms.append(f"weight{name} {product} {renamed}")
    total = " + ".join(terms)
    return "\n".join([*lines, f"{signature.head.operator}({', '.join(names)}) = tanh({total}) + ({total})^2 / 4"])
