"""Parsed programs: the source text, its tree, its symbols, and its checker for given inputs.

If the text alone would treat the name of an input as a function, the program is parsed again. Examples are the names
`softmax`, and `W^Q` in a program with a function W. No other module in `programs` creates a checker.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from grammar import nodes
from grammar.cache import Cache, cached_property
from grammar.errors import NotationError
from grammar.nodes import Call
from grammar.parser import parse
from grammar.symbols import FUNCTIONS

from ..checking.checker import Checker
from ..core.settings import DEFAULT, Limits, is_strict
from ..operators import REGISTRY
from ..operators.user_functions import (
    IN_USE,
    NO_OPERATORS,
    USER_FUNCTIONS,
    ProgramOperators,
    UserFunction,
    get_functions,
    using,
)
from ..scope.binder import bind
from ..scope.names import Key, walk
from ..scope.numbers_given import convert_integers, possible_numbers
from ..scope.symbols import FunctionDefinition, Scope
from ..terms.inference import InputType
from .program_names import ProgramNames

NUMBERS = re.compile("int|float")  # dtypes of tensors that may be integers
MOST_READINGS = 64  # sets of input names for which a program keeps the names that it may need as numbers


class ParsedProgram:
    """A text in the notation that is parsed and bound on first use.

    Two parsed programs are equal if their trees, their signs ≜ and their user-defined operators are equal.
    """

    def __init__(self, source: str, syntax: str = "auto", limits: Limits = DEFAULT, strict: bool = False):
        self.source: str = source
        self.syntax: str = syntax
        self.limits: Limits = limits
        self.strict: bool = strict
        self.operators: ProgramOperators = IN_USE.get()  # the program's user-defined operators
        self.python: Mapping[str, UserFunction] = (  # all Python functions that the program may call
            USER_FUNCTIONS if self.operators is NO_OPERATORS else get_functions(self.operators)
        )
        self._possible: Cache[tuple[frozenset[str], int], frozenset[str]] = Cache(  # by the names that are given
            "numbers that a program may need", MOST_READINGS
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ParsedProgram)
            and self.tree == other.tree
            and self._defining == other._defining
            and self.operators == other.operators
        )

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.tree)

    @cached_property
    def _defining(self) -> list[bool]:
        """Return, for each statement, whether it is a definition with the sign ≜, as in a ≜ b.

        If there are two equations for one name, the equation without ≜ is an assertion.
        """
        return [isinstance(statement, nodes.Equation) and statement.defines for statement in self.tree.statements]

    def __reduce__(self) -> Any:
        return _restore_program, (self.source, self.syntax, self.limits, self.strict, self.operators)

    @cached_property
    def tree(self) -> nodes.Program:
        """Return the tree of the program, parsed without any inputs."""
        return self._parse(frozenset())

    @cached_property
    def scope(self) -> Scope:
        """Return the symbols of the program, bound without any inputs."""
        return bind(self.source, self.tree, open=True)

    @cached_property
    def names(self) -> ProgramNames:
        """Return the names that the program's text mentions."""
        return ProgramNames(self.scope)

    def _parse(self, shadowed: frozenset[str]) -> nodes.Program:
        limits, known = self.limits, frozenset(self.python)
        return parse(
            self.source,
            self.syntax,
            shadowed,
            limits.max_nesting,
            known,
            limits.max_literal_elements,
            limits.max_source_chars,
        )

    def scope_given(self, inputs: Mapping[Key, InputType]) -> Scope:
        """Return the symbols of the program, bound to these inputs."""
        bound = "scope" in self.__dict__  # If not, parse the text only once, with the names of the inputs.
        shadowed = find_shadowing_names(inputs, self.scope.functions if bound else None)
        tree = self.tree if bound and not (shadowed or USER_FUNCTIONS) else self._parse(shadowed)
        return bind(self.source, tree, axes_given(inputs))

    def convert_scalars(
        self, values: Mapping[str, Any], inputs: Callable[[], Mapping[Key, InputType]]
    ) -> Mapping[str, Any]:
        """Return the values, with each scalar tensor that is needed before planning replaced by a plain number."""
        single: list[str] = []
        for name, value in values.items():
            layout = getattr(value, "layout", None)
            if isinstance(value, float) or layout is not None and not layout.axes and NUMBERS.search(str(layout.dtype)):
                single.append(name)
        if not single:
            return values

        def possible(names: frozenset[str]) -> frozenset[str]:
            cache_key = names, USER_FUNCTIONS.version  # These determine how the text is parsed.
            return self._possible.get_or_build(cache_key, lambda: possible_numbers(self.scope_given(inputs()).program))

        return convert_integers(values, single, possible, lambda: self.scope_given(inputs()))

    def checker(
        self,
        inputs: Mapping[Key, InputType],
        sizes: Mapping[str, Any] | None = None,
        *,
        scope: Scope | None = None,
        arguments: Iterable[InputType] = (),
        by_keyword: Iterable[str] | None = None,
        infer_parameters: bool = False,
        recover: bool = False,
    ) -> Checker:
        """Return a checker of the program for these inputs. The `arguments` of a function have separate axes.

        `scope` contains the meanings of the program's names if they are already known. `Checker` describes the other
        options.
        """
        return Checker(
            self.scope_given(inputs) if scope is None else scope, inputs, sizes,
            infer_parameters=infer_parameters, recover=recover, strict=self.strict or is_strict(),
            python=self.python,
            limits=self.limits, by_keyword=by_keyword, extra_axes={axis for argument in arguments for axis in argument.shape},
        )  # fmt: skip

    def last_function(self, scope: Scope | None = None) -> FunctionDefinition | None:
        """Return the function that the program ends with, or None if the program ends with a value.

        `scope` contains the program's symbols, bound to inputs (default: no inputs).
        """
        scope = self.scope if scope is None else scope
        functions = list(scope.all_functions())
        if not functions or scope.last is not None:
            return None
        return max(functions, key=lambda function: function.position)

    @cached_property
    def defined(self) -> list[str]:
        """Return the names that the program defines, including functions, in the order of their definitions."""
        result = [(function.position, function.title) for function in self.scope.all_functions()]
        result += [(group[0].position, str(spelling)) for spelling, group in self.scope.definitions.items()]
        result += [(family.position, str(family.key)) for family in self.scope.families]
        return [name for _, name in sorted(result)]

    @property
    def declared(self) -> list[str]:
        """The names that are declared but never defined."""
        defined = set(self.scope.definitions) | {family.key for family in self.scope.families}
        return [str(name.key()) for _, name, _, _ in self.scope.declarations if name.key() not in defined]

    @property
    def sizes(self) -> list[str]:
        """The axes whose sizes the program's text mentions."""
        return sorted({node.axis.name for node in walk(self.tree) if isinstance(node, nodes.Size)})

    @property
    def builtins(self) -> list[str]:
        """The names of the built-in functions and operators that the program uses."""
        used = {node.operator for node in walk(self.tree) if isinstance(node, Call)} - set(self.scope.functions)
        return sorted(name for name in used if name in REGISTRY)


def _restore_program(
    source: str, syntax: str, limits: Limits, strict: bool, operators: ProgramOperators
) -> ParsedProgram:
    with using(operators):
        return ParsedProgram(source, syntax, limits, strict)


def parse_program(source: str, syntax: str, strict: bool = False) -> ParsedProgram:
    """Return the parsed program of a source text. Raise NotationError immediately if the text is invalid."""
    parsed_program = ParsedProgram(source, syntax, strict=bool(strict))
    try:
        parsed_program.scope  # noqa: B018
    except NotationError as problem:
        raise problem.alone() from None
    return parsed_program


def find_shadowing_names(names: Collection[Key], functions: Collection[str] | None = None) -> frozenset[str]:
    """Return the names of inputs that would be parsed as functions: built-in functions and labeled names.

    If `functions` is given, include a labeled name only if its base is the name of one of these functions.
    """
    plain = [name.base for name in names if not (name.subscript or name.superscript)]
    labeled = [name for name in names if name.subscript or name.superscript]
    of_functions = [str(name) for name in labeled if functions is None or name.base in functions]
    return frozenset([*of_functions, *FUNCTIONS.intersection(plain)])


def axes_given(inputs: Mapping[Key, InputType]) -> dict[Key, frozenset[str]]:
    return {name: frozenset(input_.shape) for name, input_ in inputs.items()}
