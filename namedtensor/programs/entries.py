"""Entry points of a program: its value, one of its names, or several names. Each provides terms for given inputs.

WholeProgram(program)       the program's value, or the function that the program ends with
Entry(program, "FFN")       a function of arguments, or a tensor's value
Several(program, entries)   the values of several names
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Declaration, Equation, Name, Node, Signature

from ..checking.axis_sizes import unknown_size
from ..checking.checker import Checker
from ..checking.given_sizes import agree_with_given
from ..checking.lifting import Bindings, inline_call
from ..checking.matching import matching
from ..core.settings import recursion_headroom
from ..core.sizes import SizeVariable
from ..scope.names import Key, component_node, index_by_key, key, read_spelling
from ..scope.symbols import Definition, FunctionDefinition, Scope
from ..terms.inference import InputType
from ..terms.terms import Term
from .arguments import shape_of
from .parsed import ParsedProgram

Arguments = list[tuple[str, InputType]]  # of a function, in their order


class WholeProgram(NamedTuple):
    """A goal that represents the value of a program, or the function that the program ends with."""

    program: ParsedProgram

    def entry(self, scope: Scope | None = None) -> Entry | None:
        """Return the function that the program ends with, or None if the program ends with a value."""
        function = self.program.last_function(scope)
        return None if function is None else Entry(self.program, function.title)

    def last(self, scope: Scope) -> Entry | None:
        """Return the defined name that is the program's value, or the function that the program ends with.

        Return None if the program's value has no name or is a family.
        """
        last = scope.last
        if isinstance(last, Definition) and last.range is None:
            return Entry(self.program, str(last.key))
        return self.entry(scope)

    def entry_for(self, given: Mapping[str, Any]) -> Entry | None:
        """Return the function that the program ends with when called with these values.

        Return None if the program ends with a value.

        If the program redefines a built-in function, the values may turn this definition into an assertion.
        """
        entry = self.entry()
        if entry is None or not self.program.scope.replaced:
            return entry
        return self.entry(
            self.program.scope_given(index_by_key({name: InputType(axes_of(value)) for name, value in given.items()}))
        )

    def function(self, scope: Scope | None = None) -> FunctionDefinition | None:
        return self.program.last_function(scope)

    def functions(self) -> list[FunctionDefinition]:
        return list(self.program.scope.all_functions())

    def tree(self) -> nodes.Program:
        return self.program.tree

    def takes(self, named: Iterable[str]) -> bool:
        """Return whether the function that the program ends with has a parameter with one of these names."""
        function = self.function()
        return function is not None and bool({name.key() for name in function.parameters} & set(map(key, named)))

    def terms(self, checker: Checker, arguments: Arguments) -> tuple[Term, ...]:
        return (checker.whole(),)

    def infer_parameters(self, checker: Checker) -> None:
        """Type everything that the program defines, treating each declared name as an input."""
        scope = self.program.scope
        with recursion_headroom(scope.source):
            for group in list(scope.definitions):
                checker.find(group, checker.top, self.program.tree)
            for family in scope.families:
                checker.definition(family)
            if isinstance(scope.last, tuple(Checker.RULES)):
                checker.last_term(scope.last)
            for function in scope.all_functions():
                if all(kind == "label" for kind, _ in (*function.subscript, *function.superscript)):
                    infer_function(checker, function)
            checker.solver.settle()


class Entry:
    """A name of a program. Two entries are equal if both program and name are equal."""

    def __init__(self, program: ParsedProgram, name: str):
        self.program: ParsedProgram = program
        self.name: str = name
        self.key: Key = key(name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entry) and (self.program, self.name) == (other.program, other.name)

    def __hash__(self) -> int:
        return hash((self.program, self.name))

    def entry(self, scope: Scope | None = None) -> Entry:
        return self

    last = entry

    def entry_for(self, given: Mapping[str, Any]) -> Entry:
        return self

    def function(self, scope: Scope | None = None) -> FunctionDefinition | None:
        """Return the function with this name, or None if there is none.

        If several functions have this base name, prefer the one with the exact title, and otherwise the first.
        """
        group = (self.program.scope if scope is None else scope).functions.get(self.key.base, [])
        exact = (function for function in group if function.title == str(self.key))
        return next(exact, group[0] if group else None)

    def functions(self) -> list[FunctionDefinition]:
        function = self.function()
        return [] if function is None else [function]

    def tree(self) -> nodes.Program:
        """Return the statements that define or declare the name, or all statements if there are none."""
        tree, scope = self.program.tree, self.program.scope
        statements = tuple(statement for statement in tree.statements if says(statement, self.key, scope))
        return nodes.Program(statements or tree.statements, tree.span)

    def infer_parameters(self, checker: Checker) -> None:
        """Infer the type of this name alone. The declared names in its definition are inputs."""
        with recursion_headroom(self.program.source):
            called = self.called(checker)
            if called is None:
                self.term(checker, [])
            else:
                infer_function(checker, *called)
            checker.solver.settle()

    def terms(self, checker: Checker, arguments: Arguments) -> tuple[Term, ...]:
        return (self.term(checker, arguments),)

    def term(self, checker: Checker, arguments: Arguments) -> Term:
        """Return the term of the value for these arguments. Raise NotationError if they do not fit."""
        pair = self.found(checker, arguments)
        checker.check_stated(whole=False)
        return checker.drop_lifting(*pair)

    def found(self, checker: Checker, arguments: Arguments) -> tuple[Term, Node | nodes.Program]:
        """Return the term and the node of this name for these arguments, without checking the program's statements."""
        called = self.called(checker, len(arguments))
        if called is None:
            if arguments:
                raise checker.error(
                    304, f"{self.name} is not a function, got {len(arguments)} arguments", checker.scope.program
                )
            return checker.value(self.key), checker.scope.program
        function, bindings, numbers = called
        terms = tuple(argument(checker, name, type_) for name, type_ in arguments)
        if len(terms) < len(function.parameters):
            terms += list_named_arguments(checker, function, len(terms))
        expected = len(function.parameters)
        if len(terms) < expected or len(terms) > expected + len(function.options):
            raise checker.error(
                304,
                f"{self.name} expects {expected} argument{'s' * (expected != 1)}, got {len(terms)}",
                function.head,
                hint=f"it is defined as {checker.text(function.head)}",
            )
        for index, ((_, type_), parameter) in enumerate(zip(arguments, (*function.parameters, *function.options))):
            names = bound_axes(function, index, type_)
            agree_with_given(checker, str(parameter.key()), type_.shape, names)
            checker.sized |= set(names)
        head = function.head
        parts = (*head.arguments, *head.parameters)
        term = inline_call(
            checker, function, bindings, numbers, terms[:expected], terms[expected:], head, parts, checker.top, 0
        )
        return term, head

    def called(self, checker: Checker, count: int = 0) -> tuple[FunctionDefinition, Bindings, dict[str, Term]] | None:
        """Return the function of this name with `count` arguments, and the indices and numbers in its scripts.

        For example, FFN^2 has the number 2. Parameters passed by keyword are also arguments. Return None if no function
        fits.
        """
        if self.key.base not in checker.scope.functions:
            return None
        scripts = tuple(map(component_node, self.key.superscript)), tuple(map(component_node, self.key.subscript))
        named = {key(name) for name in checker.by_keyword or ()}
        further = [
            {name.key() for name in definition.parameters[count:]}
            for definition in checker.scope.functions[self.key.base]
        ]
        count += max(len(names) for names in (frozenset[Key](), *further) if names <= named)
        call = Call(self.key.base, *scripts, (Name(""),) * count)
        for function, bindings in matching(checker, call, checker.top):
            numbers = {name: checker.infer(part, checker.top) for name, part in bindings["numbers"].items()}
            return function, bindings, numbers
        return None


class Several(NamedTuple):
    """Several names of a program that are computed together."""

    program: ParsedProgram
    entries: tuple[Entry, ...]

    def entry(self, scope: Scope | None = None) -> None:
        """Return None, because several names are not a function."""

    def terms(self, checker: Checker, arguments: Arguments) -> tuple[Term, ...]:
        result = [entry.found(checker, arguments) for entry in self.entries]
        checker.check_stated(whole=False)
        return tuple(checker.drop_lifting(*pair) for pair in result)


Goal = WholeProgram | Entry | Several


def argument_names(goal: WholeProgram | Entry, scope: Scope | None = None) -> list[str]:
    """Return the names of a function's arguments, or an empty list if the goal is not a function."""
    function = goal.function(scope)
    return [] if function is None else [str(name.key()) for name in function.parameters]


def name_argument(entry: Entry, position: int) -> str:
    """Return the name of a function's argument at a position, counted from 0, or a phrase such as "argument 1"."""
    function = entry.function()
    names = [] if function is None else [*function.parameters, *function.options]
    return str(names[position].key()) if position < len(names) else f"argument {position + 1}"


def axes_of(value: Any) -> dict[str, Any]:
    """Return the axes of an input as a mapping with None for each size. A plain number has no axes."""
    return dict.fromkeys(getattr(value, "axes", ()))


def argument_types(
    entry: Entry, function: FunctionDefinition, arguments: tuple[Any, ...], given: Mapping[Key, InputType]
) -> list[tuple[Key, InputType]]:
    """Return the name and type of each argument of a function.

    The type is given by position or by the name of the parameter, or follows from the signature. Raises NotationError
    if a type is missing, or if there are more arguments than parameters.
    """
    result: list[tuple[Key, InputType]] = []
    for index, name in enumerate(function.parameters):
        of = function.signature.domain[index] if function.signature is not None else None
        if index < len(arguments):
            shape = InputType(shape_of(arguments[index], str(name.key())))
        elif name.key() in given:
            shape = given[name.key()]
        elif of is not None:
            shape = InputType({axis.name: SizeVariable(f"|{axis.name}|") for axis, _ in of.axes})
        else:
            raise NotationError(
                206, f"{entry.name} has no signature, and the type of its argument {name.key()} is missing",
                hint=f'pass it by name: {name.key()}="ℝ^{{seq × chans}}"',
            )  # fmt: skip
        result.append((name.key(), shape))
    if len(arguments) > len(result):
        raise NotationError(304, f"{entry.name} expects {len(result)} arguments, got {len(arguments)}")
    return result


def list_named_arguments(checker: Checker, function: FunctionDefinition, have: int) -> tuple[Term, ...]:
    """Return the arguments from position `have` on, up to the first parameter that was not passed by keyword."""
    terms: list[Term] = []
    for name in function.parameters[have:]:
        term = checker.top.variables.get(name.key())
        if term is None:
            break
        terms.append(term)
    return tuple(terms)


def argument(checker: Checker, name: str, given: InputType) -> Term:
    if given.number is not None:
        return checker.graph.number(given.number)
    return checker.graph.intern("input", options=(name,), shape=dict(given.shape), boolean=given.boolean)


def bound_axes(function: FunctionDefinition, position: int, given: InputType) -> list[str]:
    """Return the axes of an argument that are in the function's signature, or all axes if there is no signature."""
    if function.signature is None or position >= len(function.signature.domain):
        return list(given.shape)
    names = {axis.name for axis, _ in function.signature.domain[position].axes}
    return [axis for axis in given.shape if axis in names]


def infer_function(
    checker: Checker,
    function: FunctionDefinition,
    bindings: Bindings | None = None,
    numbers: Mapping[str, Term] = {},
) -> None:
    """Type a function. Arguments that were not passed by name have the shapes in the function's signature.

    If such an argument exists and the function has no signature, do nothing.
    """
    arguments: list[Term] = []
    for position, name in enumerate(function.parameters):
        variable = checker.top.variables.get(name.key())
        if variable is not None:
            arguments.append(variable)
            continue
        if function.signature is None:
            return
        axes = function.signature.domain[position].axes
        shape = {axis.name: unknown_size(checker, axis.name) for axis, _ in axes}
        arguments.append(checker.graph.intern("input", options=(f"{function.title} {name.key()}",), shape=shape))
    bound: Bindings = {"axes": {}, "numbers": {}, "indices": {}} if bindings is None else bindings
    head = function.head
    inline_call(checker, function, bound, dict(numbers), tuple(arguments), (), head, head.arguments, checker.top, 0)


# ------------------------------------------------------------------------------------------------- statements of a name
def says(statement: Any, name: Key, scope: Scope) -> bool:
    """Return whether a statement defines or declares the name."""
    if name.base in scope.functions:
        heads = statement.sides[:1] if isinstance(statement, Equation) else ()
        heads = (statement.head,) if isinstance(statement, Signature) else heads
        return any(isinstance(head, nodes.Call) and head.operator == name.base for head in heads)
    if isinstance(statement, Equation):
        heads = tuple(head.base if isinstance(head, nodes.Index) else head for head in statement.sides[:1])
    else:
        heads = statement.names if isinstance(statement, Declaration) else ()
    names = [spelling for head in heads if (spelling := read_spelling(head)) is not None]
    exact = any(spelling.key() == name for spelling in names)
    return exact or any(spelling.base == name.base and is_member(name, scope) for spelling in names)


def is_member(name: Key, scope: Scope) -> bool:
    """Return whether a name is a family member, and is therefore defined by the equations of the family."""
    return name not in scope.definitions and any(family.key.base == name.base for family in scope.families)
