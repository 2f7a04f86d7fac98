"""Higher-order functions, specialised: twice(g, x) becomes a call of a twice that has g for its f.

f : ℝ → ℝ
twice(f, x) = f(f(x))        twice⟨g⟩(x) = f⟨g⟩(f⟨g⟩(x))
g(t) = t^2                   f⟨g⟩ : ℝ → ℝ
twice(g, 3)                  f⟨g⟩(t) = g(t)

So f is lifted as its signature specifies, whatever the signature of the passed function g specifies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Equation, FunctionSet, Name, Set, Signature, Subscript, Superscript
from grammar.traversal import rebuilt

from .names import walk

MADE = "⟨"  # in the names of functions that were made, and in no other
MAX_SPECIALIZATIONS = 500  # functions that are made for arguments


@dataclass(frozen=True)
class FunctionParameter:
    """A functional parameter: its name, and its type."""

    name: str
    type: Signature


@dataclass(frozen=True)
class HigherOrder:
    """A function with functional parameters, by their positions."""

    equation: Equation
    head: Call
    taken: Mapping[int, FunctionParameter]
    signature: Signature | None


@dataclass(frozen=True)
class Function:
    """A function as an argument: its name, with the scripts that it has there."""

    operator: str
    subscript: tuple[Any, ...]
    superscript: tuple[Any, ...]
    text: str
    span: tuple[int, int]


def without_function_arguments(source: str, program: nodes.Program) -> nodes.Program:
    """Specialize higher-order functions: return the program with a separate function for each function argument."""
    signatures = [statement for statement in program.statements if isinstance(statement, Signature)]
    functions = higher_order(program, signatures) if signatures else {}
    if not functions:
        return program
    return Specialised(source, program, functions).program()


def higher_order(program: nodes.Program, signatures: list[Signature]) -> dict[str, list[HigherOrder]]:
    equations = [statement for statement in program.statements if isinstance(statement, Equation)]
    heads = [(statement, statement.sides[0]) for statement in equations if isinstance(statement.sides[0], Call)]
    defined = {head.operator for _, head in heads}
    functions: dict[str, list[HigherOrder]] = {}
    for equation, head in heads:
        names = [argument.text if isinstance(argument, Name) else "" for argument in head.arguments]
        matching = [
            signature
            for signature in signatures
            if signature.head.operator == head.operator and len(signature.domain) == len(names)
        ]
        applied = {node.operator for node in walk(equation) if isinstance(node, Call)}
        taken: dict[int, FunctionParameter] = {}
        for index, name in enumerate(names):
            of = matching[-1].domain[index] if matching else None
            declared = [
                signature
                for signature in signatures
                if signature.head.operator == name and not signature.head.superscript
            ]
            if isinstance(of, FunctionSet):
                taken[index] = FunctionParameter(
                    name, Signature(called(name, of.span), of.domain, of.codomain, of.span)
                )
            elif declared and (name not in defined or name in applied):
                taken[index] = FunctionParameter(name, declared[-1])
        if taken:
            functions.setdefault(head.operator, []).append(
                HigherOrder(equation, head, taken, matching[-1] if matching else None)
            )
    return functions


def called(name: str, span: tuple[int, int]) -> Call:
    return Call(name, (), (), (), (), span, span)


def applied(call: Call) -> Call | Name:
    """Return a call of a function with its arguments, or its name if it took functions only."""
    return call if call.arguments or call.parameters or call.subscript else Name(call.operator, call.span)


def axes_over(one: HigherOrder, taken: FunctionParameter) -> tuple[Any, ...]:
    """Return the axes of the left-hand side g_{ax}(f, X) that the type of f mentions, if f has no separate axes."""
    spoken = {axis.name for of in (*taken.type.domain, taken.type.codomain) for axis, _ in of.axes}
    named = {axis.name for axis in map(nodes.axis_of, one.head.subscript) if axis is not None}
    return one.head.subscript if spoken & named and not taken.type.head.subscript else ()


class Specialised:
    """The specialisation of one program; `made` are the specialised functions, by their names."""

    def __init__(self, source: str, program: nodes.Program, functions: dict[str, list[HigherOrder]]):
        self.source, self.whole, self.found = source, program, functions
        self.names = {used.name for group in functions.values() for one in group for used in one.taken.values()}
        self.made: dict[str, tuple[Any, ...]] = {}
        self.wrapped: dict[str, Signature] = {}
        self.written: set[str] = set()
        self.waiting: list[Any] = []
        equations = [statement for statement in program.statements if isinstance(statement, Equation)]
        self.heads = {id(one.equation) for group in functions.values() for one in group}
        self.facts = [equation for equation in equations if id(equation) not in self.heads and self.applies(equation)]

    def applies(self, equation: Equation) -> bool:
        """Return whether an equation uses a function argument, and so belongs to the function that takes it."""
        head = equation.sides[0]
        if isinstance(head, Call) and head.operator in self.names:
            return False
        return any(isinstance(node, Call) and node.operator in self.names for node in walk(equation))

    def program(self) -> nodes.Program:
        remaining: list[Any] = []
        for statement in self.whole.statements:
            if isinstance(statement, Signature) and any(isinstance(of, FunctionSet) for of in statement.domain):
                continue
            inside = id(statement) in self.heads or any(statement is fact for fact in self.facts)
            remaining.append(statement if inside else self.turned(statement, {}))
        while self.waiting:
            one, arguments, name = self.waiting.pop(0)
            self.made[name] = tuple(self.specialised(one, arguments, name))
            if len(self.made) > MAX_SPECIALIZATIONS:
                raise self.error(
                    404, "passing functions to functions does not terminate", one.head,
                    hint="do not call a function again with more arguments from a function passed to it",
                )  # fmt: skip
        further = tuple(statement for group in self.made.values() for statement in group)
        return replace(self.whole, statements=(*remaining, *further))

    def error(self, number: int, message: str, node: Any, hint: str | None = None) -> NotationError:
        return NotationError(number, message, self.source, node.span, hint=hint)

    # --------------------------------------------------------------------------------------------- one for its functions
    def specialised(self, one: HigherOrder, given: Mapping[str, Function], name: str) -> Iterator[Any]:
        """Yield the statements of a function with its functional parameters replaced."""
        current: dict[str, Function] = {}
        for taken in one.taken.values():
            function, over = given[taken.name], axes_over(one, taken)
            wrapped = f"{taken.name}⟨{function.text}⟩"
            while self.wrapped.setdefault(wrapped, taken.type) != taken.type:
                wrapped += "'"
            current[taken.name] = Function(wrapped, over, (), wrapped, function.span)
            if wrapped not in self.written:
                self.written.add(wrapped)
                yield from self.wrapper(taken, function, wrapped, over)
        for fact in self.facts:  # a function that applies f is one for each f
            left = fact.sides[0]
            if isinstance(left, Call):
                text = f"{left.operator}{name.removeprefix(one.head.operator)}"
                current[left.operator] = Function(text, (), (), text, left.span)
        arguments = tuple(argument for index, argument in enumerate(one.head.arguments) if index not in one.taken)
        head = applied(replace(one.head, operator=name, arguments=arguments))
        if one.signature is not None and isinstance(head, Call):
            domain = tuple(set_ for index, set_ in enumerate(one.signature.domain) if index not in one.taken)
            left = replace(one.signature.head, operator=name)
            yield replace(one.signature, head=left, domain=domain)
        sides = (head, *(self.turned(node, current) for node in one.equation.sides[1:]))
        yield replace(one.equation, sides=sides)
        for fact in self.facts:
            yield self.turned(fact, current)

    def wrapper(self, taken: FunctionParameter, function: Function, name: str, over: tuple[Any, ...]) -> Iterator[Any]:
        """Yield f⟨g⟩(t) = g(t), with the signature of f, over the axes of the higher-order function."""
        axes = taken.type.head.subscript or over
        span = function.span
        arguments = tuple(Name(f"argument⟨{index}⟩", span) for index in range(len(taken.type.domain)))
        subscript = taken.type.head.subscript
        body = Call(
            function.operator, function.superscript, (*function.subscript, *subscript), arguments, (), span, span
        )
        head = Call(name, (), axes, arguments, (), span, span)
        yield replace(taken.type, head=replace(taken.type.head, operator=name, subscript=axes))
        yield Equation((head, body), span=span)

    # ------------------------------------------------------------------------------------------------------- expressions
    def turned(self, node: Any, current: Mapping[str, Function]) -> Any:
        """Return a tree that calls specialised functions instead of higher-order functions.

        `current` are the parameters known here.
        """
        if isinstance(node, Set):
            return node
        node = rebuilt(node, lambda part: self.turned(part, current))
        if not isinstance(node, Call):
            return node
        if node.operator in current:
            known = current[node.operator]
            return replace(node, operator=known.operator, subscript=node.subscript or known.subscript)
        return self.call(node, current) if node.operator in self.found else node

    def call(self, node: Call, current: Mapping[str, Function]) -> Call | Name:
        """Return twice⟨g⟩(x) for twice(g, x)."""
        fits = [other for other in self.found[node.operator] if len(other.head.arguments) == len(node.arguments)]
        if not fits:
            return node
        one, functions = fits[0], dict[str, Function]()
        for position, taken in one.taken.items():
            functions[taken.name] = self.function(node.arguments[position], current, node, taken)
        name = f"{node.operator}⟨{', '.join(functions[taken.name].text for taken in one.taken.values())}⟩"
        if name not in self.made:
            self.made[name] = ()
            self.waiting.append((one, functions, name))
        arguments = tuple(argument for index, argument in enumerate(node.arguments) if index not in one.taken)
        return applied(replace(node, operator=name, arguments=arguments))

    def function(self, node: Any, current: Mapping[str, Function], call: Call, taken: FunctionParameter) -> Function:
        """Return the function that an argument names. The argument must be a function."""
        base, below, above = node, (), ()
        while isinstance(base, (Subscript, Superscript)):
            below, above = (base.components, above) if isinstance(base, Subscript) else (below, base.components)
            base = base.base
        if not isinstance(base, Name):
            raise self.error(
                304, f"{call.operator} expects a function for {taken.name}, got an expression", node,
                hint=f"define a function, h(x) = …, and write {call.operator}(h, …)",
            )  # fmt: skip
        if base.text in current:
            known = current[base.text]
            return Function(known.operator, below or known.subscript, above, known.text, node.span)
        text = self.source[slice(*node.span)] if node is not base else base.text
        return Function(base.text, below, above, "".join(text.split()), node.span)
