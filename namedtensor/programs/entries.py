"""Names of a program, called: a function's value for its arguments, a tensor's value, or several values together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError
from grammar.nodes import Call, Name, Number

from ..checking.calls import matching
from ..checking.checker import Checker
from ..checking.given_sizes import agree_with_given
from ..checking.lifting import inline_call
from ..checking.report import InputType
from ..core.limits import DEFAULT, recursion_headroom
from ..display.steps import Explanation, explained
from ..operators.user_functions import USER_FUNCTIONS
from ..scope.names import key
from ..scope.symbols import FunctionDefinition
from ..terms.terms import Term
from .call_cache import CachedCall
from .executable import (
    ARRAY,
    LAYOUT,
    Arguments,
    Executable,
    LruCache,
    Values,
    all_values,
    planned,
    serving,
    store,
    whole_sizes,
)
from .given_names import told_names

if TYPE_CHECKING:
    from ..checking.report import CheckResult
    from ..display.diagram_svg import Diagram
    from ..planning.cost import Cost
    from .compiled import CompiledFormula as Repeated
    from .focused import Focused
    from .initialisation import Schemes
    from .program import Formula, Program


class EntryPoint(CachedCall):
    """A name of a program: called, a function's value for its arguments, or a tensor's value."""

    def __init__(self, program: Program, name: str):
        super().__init__()
        self.program = program
        self.name = name
        self.key = key(name)
        self._plans = LruCache()
        self.known: dict[tuple, Executable] = {}

    def __repr__(self) -> str:
        return self.to_text()

    def __reduce__(self) -> Any:
        return EntryPoint, (self.program, self.name)

    @cached_property
    def _focused(self) -> Focused:
        from .focused import Focused

        return Focused(self)

    def _called(self, arguments: tuple[Any, ...], values: Values | None, sizes: Any, named: dict[str, Any]):
        known = None
        if sizes is None:  # what is known needs no more than this
            try:
                if values is None:
                    given = named
                    known = (USER_FUNCTIONS.version, *map(LAYOUT, arguments), *given, *map(LAYOUT, given.values()))
                else:  # which may hold more than the program uses
                    given = {**values, **named} if named else values
                    layouts = (*map(LAYOUT, arguments), *given, *map(LAYOUT, given.values()))
                    known = (USER_FUNCTIONS.version, *layouts, (type(values), *named))
                found = self.known.get(known)
            except (AttributeError, TypeError):
                found = known = None
            if found is not None:
                if values is None:
                    self._repeat((*named,), found.repeated(arguments, named))
                return found.known(*map(ARRAY, given.values()), *map(ARRAY, arguments))
        try:
            given = Arguments(self.program.source, all_values(values, named) | self._by_position(arguments))
            bundle = given.with_numbers(self.program.source, self.program.scope_given)
            known = known if bundle is given else None  # a plan for this number serves no other
            extent = None if sizes is None else whole_sizes(sizes)
            mark = (len(arguments), bundle.mark, tuple(extent.items()) if extent else (), USER_FUNCTIONS.version)
            names = told_names(values, named)
            compiled = serving(self._plans.fetch(mark), names)
            if compiled is None:
                compiled = self._plans.store(mark, self._planned(bundle, len(arguments), extent, names))
            result = compiled(*bundle.arrays.values())
        except NotationError as problem:
            raise problem.alone() from None
        store(self.known, known, compiled)
        return result

    def _by_position(self, arguments: tuple[Any, ...]) -> dict[str, Any]:
        """Arguments under names that no program has; what is no tensor is told by the function's name for it."""
        from ..tensors.values import NamedTensor, as_value

        return {
            f"argument_{number}": given if type(given) is NamedTensor else as_value(given, self._parameter(number))
            for number, given in enumerate(arguments, 1)
        }

    def _parameter(self, number: int) -> str:
        function = self._focused.last_function()
        names = [] if function is None else [*function.parameters, *function.options]
        return str(names[number - 1].key()) if number <= len(names) else f"argument {number}"

    def _planned(self, bundle: Arguments, count: int, sizes, told: tuple[str, ...]) -> Executable:
        checker, typed = self.typing(bundle, count, sizes, told)
        with recursion_headroom(self.program.source):
            return planned(checker, (typed(),), bundle, DEFAULT)

    def typing(self, bundle: Arguments, count: int, sizes, told: tuple[str, ...]) -> tuple[Checker, Callable[[], Term]]:
        """A checker for a call of `count` arguments, and what types the call with it."""
        spellings = [key(f"argument_{n}") for n in range(1, count + 1)]
        checker = checker_of(self.program, bundle, sizes, spellings, told)
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
        given = all_values(values, named) | self._by_position(arguments)
        bundle = Arguments(self.program.source, given).with_numbers(self.program.source, self.program.scope_given)
        checker, typed = self.typing(bundle, len(arguments), whole_sizes(sizes), told_names(values, named))
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

    # the other verbs of formulas, said of this name alone
    def evaluate(self, values: Values | None = None, /, *, sizes=None, **named: Any):
        """Its value, with everything by name; see `evaluate`."""
        return self(values=values, sizes=sizes, **named)

    def check(self, *, sizes: Mapping[str, int] | None = None, **shapes: Any) -> CheckResult:
        """The types of the program; `type` is that of this name, for the shapes that are given. See `check`."""
        from .api import check_entry

        return check_entry(self, sizes, shapes, tuple(shapes))

    def derivative(self, wrt: str) -> Formula | EntryPoint:
        """The derivative of this value, a formula; of this function f, the function f'. See `derivative`.

        >>> import namedtensor as nt
        >>> program = nt.program("f(x) = x^3\\nY = f(x) + 1")
        >>> float(program["f"].derivative("x")(2.0)), float(program["Y"].derivative("x")(x=2.0))
        (12.0, 12.0)
        """
        from .api import derivative_of_entry

        return derivative_of_entry(self, wrt)

    def cost(self, values: Values | None = None, *, sizes=None, without: tuple[str, ...] = (), **named: Any) -> Cost:
        """What this name costs before it is run; see `Program.cost`."""
        return self._focused.cost(values, sizes=sizes, without=without, **named)

    def parameters(self, sizes: Mapping[str, int] | None = None, **shapes: Any) -> dict[str, str]:
        """The shapes of the parameters that this name needs; see `Program.parameters`.

        >>> import namedtensor as nt
        >>> program = nt.program("f : ℝ^{a} → ℝ\\nf(x) = x ⊙_{a} w\\nw ∈ ℝ^{a}\\nY = V\\nV ∈ ℝ^{b}")
        >>> program["f"].parameters(sizes={"a": 3}), program["Y"].parameters(sizes={"b": 2})
        ({'w': 'ℝ^{a[3]}'}, {'V': 'ℝ^{b[2]}'})
        """
        return self._focused.parameters(sizes, **shapes)

    def init(
        self, seed: int = 0, sizes: Mapping[str, int] | None = None, dtype: str = "float64",
        schemes: Schemes | None = None, **shapes: Any,
    ) -> dict[str, Any]:  # fmt: skip
        """The parameters that this name needs, as tensors; see `Program.init`."""
        return self._focused.init(seed, sizes, dtype, schemes, **shapes)

    def compile(self, backend: str | None = None, without: tuple[str, ...] = ()) -> Repeated:
        """A function for repeated calls of this name; see `Program.compile`."""
        return self._focused.compile(backend, without)

    def to_python(self, library: str = "numpy", values: Values | None = None, *, sizes=None, **named: Any) -> str:
        """The source text of a plain function that computes this name; see `Program.to_python`."""
        return self._focused.to_python(library, values, sizes=sizes, **named)

    def to_javascript(self, values: Values | None = None, *, sizes=None, standalone: bool = False, **named: Any) -> str:
        """The source text of a module of JavaScript that computes this name; see `Program.to_javascript`."""
        return self._focused.to_javascript(values, sizes=sizes, standalone=standalone, **named)

    def to_text(self, ascii: bool = False, colours: bool = False) -> str:
        """What the program says of this name, in text; see `Program.to_text`.

        >>> import namedtensor as nt
        >>> print(nt.program("f(x) = 2 x\\nY = f(X)")["f"].to_text())
        f(x) = 2 x
        """
        return self._focused.to_text(ascii, colours)

    def to_latex(self, macros: bool = False, colours: bool = False) -> str:
        """What the program says of this name, in LaTeX; see `Program.to_latex`."""
        return self._focused.to_latex(macros, colours)

    def _repr_latex_(self) -> str:
        return self._focused._repr_latex_()

    def term(self, checker: Checker, arguments: list[tuple[str, InputType]]) -> Term:
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
        for place, ((_, given), parameter) in enumerate(zip(arguments, (*found.parameters, *found.options))):
            own = bound_axes(found, place, given)
            agree_with_given(checker, str(parameter.key()), given.shape, own)
            checker.sized |= set(own)
        parts = (*found.head.arguments, *found.head.parameters)
        term = inline_call(
            checker, found, bindings, numbers, terms[:wanted], terms[wanted:], found.head, parts, checker.top, 0
        )
        checker.solver.check()
        checker.check_claims(whole=False)
        return checker.drop_lifting(term, found.head)

    def by_name(self, checker: Checker, function: FunctionDefinition, have: int) -> tuple[Term, ...]:
        found = []
        for name in function.parameters[have:]:
            term = checker.top.variables.get(name.key())
            if term is None:
                break
            found.append(term)
        return tuple(found)

    def argument(self, checker: Checker, name: str, given: InputType) -> Term:
        if given.number is not None:
            return checker.graph.number(given.number)
        return checker.graph.intern("input", options=(name,), shape=dict(given.shape), boolean=given.boolean)

    def function(self, checker: Checker):
        """The function that this name means, with what its indices and numbers are: FFN^2, MaxPool_3."""
        if self.key.base not in checker.scope.functions:
            return None
        call = Call(self.key.base, tuple(map(_part, self.key.superscript)), tuple(map(_part, self.key.subscript)), ())
        for function, bindings in matching(checker, call, checker.top):
            numbers = {name: checker.infer(part, checker.top) for name, part in bindings["numbers"].items()}
            return function, bindings, numbers
        return None


def bound_axes(function: FunctionDefinition, place: int, given: InputType) -> list[str]:
    """The axes of an argument that are the function's own, and not mapped over."""
    if function.signature is None or place >= len(function.signature.domain):
        return list(given.shape)
    own = {axis.name for axis, _ in function.signature.domain[place].axes}
    return [axis for axis in given.shape if axis in own]


class EntryPoints:
    """Several names of a program, computed together: what they share is computed once."""

    def __init__(self, program: Program, names: tuple[str, ...]):
        self.program, self.names = program, names
        self._entries = tuple(EntryPoint(program, name) for name in names)
        self._plans = LruCache()

    def __repr__(self) -> str:
        return f"{', '.join(self.names)} of a program of {len(self.program.tree.statements)} statements"

    def __call__(self, *, values: Values | None = None, sizes=None, **named: Any) -> tuple:
        """Their values, in the order of the names; parameters and inputs come by name."""
        try:
            bundle = Arguments(self.program.source, all_values(values, named))
            bundle = bundle.with_numbers(self.program.source, self.program.scope_given)
            extent = None if sizes is None else whole_sizes(sizes)
            mark = (bundle.mark, tuple(extent.items()) if extent else (), USER_FUNCTIONS.version)
            names = told_names(values, named)
            compiled = serving(self._plans.fetch(mark), names)
            if compiled is None:
                compiled = self._plans.store(mark, self._planned(bundle, extent, names))
            return compiled.several(*bundle.arrays.values())
        except NotationError as problem:
            raise problem.alone() from None

    def _planned(self, bundle: Arguments, sizes, told: tuple[str, ...]) -> Executable:
        checker = checker_of(self.program, bundle, sizes, (), told)
        with recursion_headroom(self.program.source):
            terms = tuple(entry.term(checker, []) for entry in self._entries)
            return planned(checker, terms, bundle, DEFAULT)


def checker_of(program: Program, bundle: Arguments, sizes, arguments, told: tuple[str, ...]) -> Checker:
    """A checker of the program for the values of a call; those of `arguments` are no names of the program."""
    inputs = {spelling: given for spelling, given in bundle.inputs.items() if spelling not in arguments}
    shapes = {axis for name in arguments for axis in bundle.inputs[name].shape}
    scope = program.scope_given(inputs)
    return Checker(scope, inputs, sizes, python=USER_FUNCTIONS, told=told, besides=shapes)


def _part(text: str):
    return Number(int(text)) if text.isdecimal() else Name(text)
