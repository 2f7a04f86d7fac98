"""Program, Formula and EntryPoint: user-facing objects that can be called, inspected and printed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Never, Self, TypeVar, overload

from grammar.cache import Cache, cached_property
from grammar.errors import NotationError
from grammar.parser import parse
from grammar.plain_text import encodable
from grammar.printer import to_text

from ..calculus.formula import differentiate_program, parse_name
from ..core.kinds import require_names, require_text, wrong
from ..core.suggestions import no_attribute
from ..operators.user_functions import NO_OPERATORS, restore_program, using
from ..scope.symbols import Definition
from ..scope.value_of_program import last_member, restore_written
from .entries import Entry, Goal, WholeProgram
from .evaluate import EXECUTABLES
from .executable import PLAIN
from .exported import OnDevices
from .injected import closed_form
from .parsed import ParsedProgram, parse_program
from .verbs import Verbs, no_function

if TYPE_CHECKING:
    from .entry_points import EntryPoints


AnyProgram = TypeVar("AnyProgram", bound="Program")
MAX_ENTRIES = 1024  # the limit on cached entry points, for names and for groups of names


class Program(OnDevices, Verbs):
    r"""Several definitions in one scope, created by `nt.program`.

    Both `program["O"]` and `program.O` return a callable entry point for the name O. Two programs are equal if their
    sources parse to equal trees.

    Parameters
    ----------
    source : str
        The definitions, one per line.
    syntax : {"auto", "text", "latex"}
        The syntax of the source (default: "auto", which detects it).
    strict : bool
        Whether an outer broadcast raises an error (default: False).

    Raises
    ------
    NotationError
        If the source is not valid notation, or defines a name twice.

    Examples
    --------
    >>> program = Program("f(x) = 2 x\ng(x) = f(x) + 1")
    >>> float(program.g(3))
    7.0
    """

    _goal: WholeProgram

    def __init__(self, source: str, syntax: str = "auto", strict: bool = False):
        program = parse_program(source, syntax, strict)
        if program.operators is NO_OPERATORS:  # Programs with the same text share their plans.
            super().__init__(WholeProgram(program), PLAIN, EXECUTABLES, f"{syntax} {program.strict} {source}")
        else:
            super().__init__(WholeProgram(program))
        self._entries: Cache[Any, Any] = Cache("names of a program", MAX_ENTRIES)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and self._goal == other._goal

    def __hash__(self) -> int:
        return self._goal.program._hash

    def __reduce__(self) -> Any:
        return restore_program, (type(self), self.source, self.syntax, self.strict, self._goal.program.operators)

    @property
    def source(self) -> str:
        """The source text, as written."""
        return self._goal.program.source

    @property
    def syntax(self) -> str:
        """The syntax of the source: "text", "latex" or "auto"."""
        return self._goal.program.syntax

    @property
    def strict(self) -> bool:
        """Whether every use of the program rejects outer broadcasts."""
        return self._goal.program.strict

    @property
    def tree(self) -> Any:
        """The syntax tree, with nodes from `grammar.nodes`."""
        return self._goal.program.tree

    @property
    def names(self) -> list[str]:
        """The defined names, including functions, in the order of their definitions."""
        return list(self._goal.program.defined)

    @property
    def declared(self) -> list[str]:
        """The parameters, which are names that are declared but not defined."""
        return self._goal.program.declared

    @property
    def sizes(self) -> list[str]:
        """The axes whose sizes the program mentions."""
        return self._goal.program.sizes

    @property
    def builtins(self) -> list[str]:
        """The names of the built-in functions and operators that the program uses."""
        return self._goal.program.builtins

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    @overload
    def __getitem__(self, name: str) -> EntryPoint: ...
    @overload
    def __getitem__(self, name: tuple[str, ...]) -> EntryPoints: ...

    def __getitem__(self, name: str | tuple[str, ...]) -> EntryPoint | EntryPoints:
        """Return an entry point for one or several names: `program["K", "V"](…)` computes shared steps once."""
        try:
            entry = self._entries.get(name)
        except TypeError:  # An unhashable value cannot be a name.
            entry = None
        if entry is None:
            if isinstance(name, str):
                return self._entries.get_or_build(name, lambda: EntryPoint(self, name))
            hint = 'write program["Y"], or program["K", "V"]'
            if not isinstance(name, tuple):
                raise wrong(name, "the key of a program", "a name, or several", hint)
            names = require_names(name, "the key of a program", hint)
            from .entry_points import EntryPoints

            return self._entries.get_or_build(names, lambda: EntryPoints(self, names))
        return entry

    def __getattr__(self, name: str) -> EntryPoint:
        if name.startswith("_") or "_goal" not in self.__dict__:  # A program that is being copied has no goal yet.
            raise AttributeError(name)
        if not self._goal.program.names.has(name):
            raise no_attribute(f"this {type(self).__name__}", name, [text for text in dir(self) if text[:1] != "_"])
        entry = self.__dict__[name] = self[name]
        return entry

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self.names if name.isidentifier())]

    def replace_definitions(self, text: str = "", remove: Iterable[str] = ()) -> Self:
        r"""Return a program in which the definitions of some names are replaced.

        Parameters
        ----------
        text : str
            Definitions and declarations, which replace existing definitions and declarations of the same names. Other
            definitions are added (default: none).
        remove : iterable of str
            Names whose definitions are removed (default: none).

        Raises
        ------
        NotationError
            If a name to remove is not defined (201).

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.program("act(x) = gelu(x)\nY = act(X)").replace_definitions("act(x) = relu(x)")
        act(x) = relu(x)
        Y = act(X)
        """
        from .variants import replace_definitions

        text = require_text(text, "the new definitions", 'write replace_definitions("act(x) = relu(x)")')
        remove = require_names(remove, "remove=", 'write remove=["act"]')
        changed, operators = replace_definitions(self._goal.program, text, remove), self._goal.program.operators
        if operators is NO_OPERATORS:
            return type(self)(changed, self.syntax, self.strict)
        return restore_program(type(self), changed, self.syntax, self.strict, operators)

    def derivative(self, wrt: str) -> Formula:
        """Return the derivative with respect to a name, as a formula.

        Parameters
        ----------
        wrt : str
            The name of an input, a parameter or a definition.

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.program("Y = X ⊙_{a} X").derivative("X")(X=nt.tensor([1.0, 2.0], "a")).to_array().tolist()
        [2.0, 4.0]
        """
        return derive_program(self._goal.program, wrt)

    def _differentiated(self) -> tuple[Program, str]:
        function = self._goal.function()
        if function is not None:
            return self, function.title
        valued = self._goal.program.scope.valued
        return self, to_text(
            last_member(valued) if isinstance(valued, Definition) else restore_written(self.tree, valued)
        )

    def closed_form(self, *, sizes: Mapping[str, int] | None = None, **shapes: Any) -> Any:
        """Return the program's value in closed form, with all derivatives written out (paper §5).

        Parameters
        ----------
        sizes : mapping of str to int, optional
            Sizes of axes that the types do not determine.
        **shapes : str, tensor or sequence of str
            The type of each input, as for `check` (default: as declared, or the smallest consistent type).

        Returns
        -------
        ClosedForm
            A printable program, with its `.expression` and the `.rules` that were applied. The first use compares the
            expression with the derivative at random points and raises NotationError (405) if they differ.

        Raises
        ------
        NotationError
            If a part has no closed form (405), or the rewrite limit is exceeded (404).

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.formula("x ⊙_{a} x").derivative("x").closed_form(x="ℝ^{a}")
        D = 2 x^*
        """
        operators = self._goal.program.operators
        if operators is NO_OPERATORS:
            return closed_form(self, shapes, sizes)
        with using(operators):
            closed = closed_form(self, shapes, sizes)
            _ = closed.derivation, closed.named  # Compute both now, while the program's operators are registered.
            return closed

    def _goal_of(self, arguments: tuple[Any, ...], given: Mapping[str, Any]) -> Goal:
        """Return the goal of a call: the function that the program ends with, or the program's value.

        Raises NotationError if there are positional arguments but no function.
        """
        entry = self._goal.entry_for(given)
        if entry is None and arguments:
            raise no_function(arguments, self._goal.program.names.free)
        return self._goal if entry is None else entry


class Formula(Program):
    """One formula or function, created by `nt.formula`, with the methods of `Program`.

    Examples
    --------
    >>> square = Formula("x^2")
    >>> float(square(x=3.0))
    9.0
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: Never) -> Never: ...  # Write formula["f"] to access a name.


class DerivativeFormula(Formula):
    """The derivative of a formula.

    A derivative prints as its closed form, if there is one. `to_text()` returns the derivative with ∂, in
    the paper's notation.
    """

    @encodable
    def __str__(self) -> str:
        return self._printed

    __repr__ = __str__

    @cached_property
    def _printed(self) -> str:
        try:
            return str(closed_form(self, {}, None))
        except NotationError:  # a shape is missing, or there is no closed form
            return self.to_text()


class EntryPoint(Verbs):
    """A callable name of a program: a function, called with its arguments, or a tensor.

    It has the methods of programs, which apply to this name only.
    """

    _goal: Entry

    def __init__(self, program: Program, name: str):
        super().__init__(Entry(program._goal.program, name))
        self._program = program

    def __reduce__(self) -> Any:
        return EntryPoint, (self._program, self.name)

    @property
    def name(self) -> str:
        """The name that this entry point stands for."""
        return self._goal.name

    @property
    def program(self) -> Program:
        """The program that defines the name."""
        return self._program

    def derivative(self, wrt: str) -> Formula | EntryPoint:
        """Return the derivative with respect to a name: an entry point if `self` is a function, or else a formula.

        Parameters
        ----------
        wrt : str
            A name that `self` uses.

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.program("f(x) = x^3")["f"].derivative("x")(2.0).item()
        12.0
        """
        function, name = self._goal.function(), self._goal.key
        if function is None:
            return derive_program(self._goal.program, wrt, parse_name(self.name))
        return derive_program(self._goal.program, wrt, function)[str(name._replace(base=f"{name.base}'"))]

    def _differentiated(self) -> tuple[Program, str]:
        return self._program, self.name


def derive_program(program: ParsedProgram, wrt: str, of: Any = None) -> DerivativeFormula:
    """Return a program for the derivative of a program, or of a name in it, with respect to a given name."""
    tree = program.tree
    if of is None:
        tree = parse(program.source, program.syntax, functions=frozenset(program.python))
    text = to_text(differentiate_program(program.source, wrt, tree, of))
    return restore_program(DerivativeFormula, text, "auto", False, program.operators)
