"""Names of a program, called: a function's value for its arguments, a tensor's value, or several values together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError
from grammar.nodes import Call, Name, Number

from .calls import matching
from .check import Checker
from .checked import Input
from .compiled import (
    ARRAY,
    LAYOUT,
    Bundle,
    Compiled,
    Plans,
    Values,
    all_values,
    keep,
    planned,
    whole_sizes,
)
from .explain import Explanation, explained
from .lifting import enter
from .limits import DEFAULT, deep
from .names import key
from .registered import PYTHON
from .repeating import Repeating
from .scope import Function
from .terms import Term

if TYPE_CHECKING:
    from .display.diagrams import Diagram
    from .programs import Program


class Entry(Repeating):
    """A name of a program: called, a function's value for its arguments, or a tensor's value."""

    def __init__(self, program: Program, name: str):
        super().__init__()
        self.program = program
        self.name = name
        self.key = key(name)
        self._plans = Plans()
        self.known: dict[tuple, Compiled] = {}

    def __repr__(self) -> str:
        return f"{self.name} of a program of {len(self.program.tree.statements)} statements"

    def _called(self, arguments: tuple[Any, ...], values: Values | None, sizes: Any, named: dict[str, Any]):
        known = None
        if sizes is None:  # what is known needs no more than this
            try:
                given = named if values is None else {**values, **named} if named else values
                known = (PYTHON.version, *map(LAYOUT, arguments), *given, *map(LAYOUT, given.values()))
                found = self.known.get(known)
            except (AttributeError, TypeError):
                found = known = None
            if found is not None:
                if values is None:
                    self._repeat((*named,), found.repeated(arguments, named))
                return found.known(*map(ARRAY, given.values()), *map(ARRAY, arguments))
        try:
            given = Bundle(self.program.source, all_values(values, named) | by_position(arguments))
            bundle = given.with_numbers(self.program.source, self.program.scope_given)
            known = known if bundle is given else None  # a plan for this number serves no other
            extent = whole_sizes(sizes) if sizes else None
            mark = (len(arguments), bundle.mark, tuple(extent.items()) if extent else (), PYTHON.version)
            compiled = self._plans.fetch(mark)
            if compiled is None:
                compiled = self._plans.store(mark, self.compile(bundle, len(arguments), extent))
            result = compiled(*bundle.arrays.values())
        except NotationError as problem:
            raise problem.alone() from None
        keep(self.known, known, compiled)
        return result

    def compile(self, bundle: Bundle, count: int, sizes) -> Compiled:
        checker, typed = self.typing(bundle, count, sizes)
        with deep(self.program.source):
            return planned(checker, (typed(),), bundle, DEFAULT)

    def typing(self, bundle: Bundle, count: int, sizes) -> tuple[Checker, Callable[[], Term]]:
        """A checker for a call of `count` arguments, and what types the call with it."""
        spellings = [key(f"argument_{n}") for n in range(1, count + 1)]
        checker = checker_of(self.program, bundle, sizes, spellings)
        return checker, lambda: self.term(checker, [(str(s), bundle.inputs[s]) for s in spellings])

    def explain(self, *arguments: Any, values: Values | None = None, sizes=None, **named: Any) -> Explanation:
        """Every step to its value, in order: the sub-formula, its type, its value, and whose definition it stands in.

        Raises NotationError where a call would.

        >>> import namedtensor as nt
        >>> program = nt.program("f(x) = 2 x\\ng(x) = f(x) + 1")
        >>> for step in program["g"].explain(3):
        ...     print(" > ".join(step.inside), ":", step.text)
        g : x
        g > f : x
        g > f : 2 x
        g : f(x)
        g : f(x) + 1
        """
        given = all_values(values, named) | by_position(arguments)
        bundle = Bundle(self.program.source, given).with_numbers(self.program.source, self.program.scope_given)
        checker, typed = self.typing(bundle, len(arguments), whole_sizes(sizes))
        return explained(checker, typed, self.name, bundle)

    def diagram(
        self,
        *arguments: Any,
        sizes: Mapping[str, int] | None = None,
        expand: str | Collection[str] = (),
        values: Values | None = None,
        **shapes: Any,
    ) -> Diagram:
        """A drawing of where the values go on the way to this one, each with its type: nothing is computed.

        Arguments and inputs are given as types (or tensors), by position or by name; what is not given is a parameter,
        written where it is used. A family is drawn once, a function as one box: `expand` names functions to open, and
        families, or their index, to draw member by member. `values` are parameters, whose sizes it then tells.

        Raises NotationError where the types do not fit, or a name to open is not there.

        >>> import namedtensor as nt
        >>> block = nt.program("Block(X) = X + FFN(X)\\nFFN(X) = relu(X ⊙_{a} W)_{b→a}\\nW ∈ ℝ^{a × b}")
        >>> drawing = block["Block"].diagram(X="ℝ^{seq × a}", expand="FFN")
        >>> drawing.save("block.svg")  # doctest: +SKIP
        """
        from .diagrams import diagram

        return diagram(self.program, self, arguments, shapes, sizes, expand, values)

    def term(self, checker: Checker, arguments: list[tuple[str, Input]]) -> Term:
        function = self.function(checker)
        if function is None:
            if arguments:
                raise checker.error(
                    304, f"{self.name} is no function, and was given {len(arguments)} arguments", checker.scope.program
                )
            return checker.value(self.key)
        found, bindings, numbers = function
        terms = tuple(self.argument(checker, name, given) for name, given in arguments)
        if len(terms) < len(found.parameters):
            terms += self.by_name(checker, found, len(terms))
        wanted = len(found.parameters)
        if len(terms) < wanted or len(terms) > wanted + len(found.options):
            raise checker.error(
                304,
                f"{self.name} takes {wanted} argument{'s' * (wanted != 1)}, and was given {len(terms)}",
                found.head,
                hint=f"it is defined as {checker.text(found.head)}",
            )
        parts = (*found.head.arguments, *found.head.parameters)
        term = enter(
            checker, found, bindings, numbers, terms[:wanted], terms[wanted:], found.head, parts, checker.top, 0
        )
        checker.solver.check()
        checker.check_claims(whole=False)
        return checker.unlifted(term, found.head)

    def by_name(self, checker: Checker, function: Function, have: int) -> tuple[Term, ...]:
        found = []
        for name in function.parameters[have:]:
            term = checker.top.variables.get(name.key())
            if term is None:
                break
            found.append(term)
        return tuple(found)

    def argument(self, checker: Checker, name: str, given: Input) -> Term:
        if given.number is not None:
            return checker.terms.number(given.number)
        return checker.terms.make("input", options=(name,), shape=dict(given.shape), boolean=given.boolean)

    def function(self, checker: Checker):
        """The function that this name means, with what its indices and numbers are: FFN^2, MaxPool_3."""
        if self.key.base not in checker.scope.functions:
            return None
        call = Call(self.key.base, tuple(map(_part, self.key.superscript)), tuple(map(_part, self.key.subscript)), ())
        for function, bindings in matching(checker, call, checker.top):
            numbers = {name: checker.term(part, checker.top) for name, part in bindings["numbers"].items()}
            return function, bindings, numbers
        return None


def by_position(arguments: tuple[Any, ...]) -> dict[str, Any]:
    """Arguments under names that no program has."""
    return {f"argument_{number}": argument for number, argument in enumerate(arguments, 1)}


class Entries:
    """Several names of a program, computed together: what they share is computed once."""

    def __init__(self, program: Program, names: tuple[str, ...]):
        self.program, self.names = program, names
        self._entries = tuple(Entry(program, name) for name in names)
        self._plans = Plans()

    def __repr__(self) -> str:
        return f"{', '.join(self.names)} of a program of {len(self.program.tree.statements)} statements"

    def __call__(self, *, values: Values | None = None, sizes=None, **named: Any) -> tuple:
        """Their values, in the order of the names; parameters and inputs come by name."""
        try:
            bundle = Bundle(self.program.source, all_values(values, named))
            bundle = bundle.with_numbers(self.program.source, self.program.scope_given)
            extent = whole_sizes(sizes) if sizes else None
            mark = (bundle.mark, tuple(extent.items()) if extent else (), PYTHON.version)
            compiled = self._plans.fetch(mark)
            if compiled is None:
                compiled = self._plans.store(mark, self.compile(bundle, extent))
            return compiled.several(*bundle.arrays.values())
        except NotationError as problem:
            raise problem.alone() from None

    def compile(self, bundle: Bundle, sizes) -> Compiled:
        checker = checker_of(self.program, bundle, sizes)
        with deep(self.program.source):
            terms = tuple(entry.term(checker, []) for entry in self._entries)
            return planned(checker, terms, bundle, DEFAULT)


def checker_of(program: Program, bundle: Bundle, sizes, arguments=()) -> Checker:
    """A checker of the program for the values of a call; those of `arguments` are no names of the program."""
    inputs = {spelling: given for spelling, given in bundle.inputs.items() if spelling not in arguments}
    return Checker(program.scope_given(inputs), inputs, sizes, python=PYTHON)


def _part(text: str):
    return Number(int(text)) if text.isdecimal() else Name(text)
