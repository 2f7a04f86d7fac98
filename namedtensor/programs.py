"""Programs and formulas as objects: callable, inspectable, printable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Declaration, Name, Number
from grammar.parser import parse

from .axes import show
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
    shadowed_by,
    whole_sizes,
)
from .lifting import Bindings, enter
from .limits import DEFAULT, deep
from .names import key, walk
from .operators import REGISTRY
from .registered import PYTHON
from .scope import Function, Scope, analyse
from .sizes import Unknown, known
from .terms import Term


class Program:
    """Many definitions in one scope; prints itself, compares by what it says, and pickles.

    `program["O"]` is a name of it, callable; `program.O` the same where the name is a Python identifier.
    """

    def __init__(self, source: str, syntax: str = "auto"):
        self.source = source
        self.syntax = syntax
        self.tree = parse(source, syntax, functions=frozenset(PYTHON))
        self.scope: Scope = analyse(source, self.tree)
        self._entries: dict[str, Entry] = {}
        self._known: dict[tuple, Any] = {}  # of the function that the program ends with

    # what it says
    def __eq__(self, other) -> bool:
        return isinstance(other, Program) and self.tree == other.tree

    def __hash__(self) -> int:
        return hash(self.tree)

    def __reduce__(self):
        return type(self), (self.source, self.syntax)

    def to_text(self, ascii: bool = False) -> str:
        """The program in text, or in ASCII."""
        from grammar.printer import to_text

        return to_text(self.tree, ascii=ascii)

    def to_latex(self, macros: bool = False) -> str:
        """The program in LaTeX; with `macros`, in the paper's own."""
        from grammar.printer import to_latex

        return to_latex(self.tree, macros=macros)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.to_latex()}$"

    # what is in it
    @property
    def names(self) -> list[str]:
        """The names that the program defines, functions among them, in the order of their definitions."""
        found = [(function.position, function.title) for function in self.scope.all_functions()]
        found += [(group[0].position, str(spelling)) for spelling, group in self.scope.definitions.items()]
        found += [(family.position, str(family.key)) for family in self.scope.families]
        return [name for _, name in sorted(found)]

    @property
    def declared(self) -> list[str]:
        """The names that are declared and never defined: the program's parameters, families as they are written."""
        defined = set(self.scope.definitions) | {family.key for family in self.scope.families}
        return [str(name.key()) for _, name, _, _ in self.scope.declarations if name.key() not in defined]

    @property
    def sizes(self) -> list[str]:
        """The axes whose sizes the program speaks of."""
        return sorted({node.axis.name for node in walk(self.tree) if isinstance(node, nodes.Size)})

    @property
    def builtins(self) -> list[str]:
        """The built-in functions and operators that it uses."""
        own = set(self.scope.functions)
        used = {node.operator for node in walk(self.tree) if isinstance(node, Call)} - own
        return sorted(name for name in used if name in REGISTRY)

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, name: str) -> Entry:
        found = self._entries.get(name)
        if found is None:
            found = self._entries[name] = Entry(self, name)
        return found

    def __getattr__(self, name: str) -> Entry:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    # what it gives
    def __call__(self, *arguments: Any, values: Values | None = None, sizes=None, **named: Any):
        """The program's value; or, where it ends with a function, that function of the arguments."""
        if values is None and sizes is None and not named:  # what is known needs no more than this
            try:
                run = self._known.get((PYTHON.version, *map(LAYOUT, arguments)))
                if run is not None:
                    return run(*map(ARRAY, arguments))
            except AttributeError:
                pass
        if self._last is not None:
            return self._last(*arguments, values=values, sizes=sizes, **named)
        if arguments:
            raise NotationError(
                304,
                f"this formula is no function, and was given {len(arguments)} arguments by position",
                hint="give its tensors by name: formula(X=X)",
            )
        from .formula import evaluate

        return evaluate(self.source, values, sizes=sizes, syntax=self.syntax, **named)

    @cached_property
    def _last(self) -> Entry | None:
        """The function that the program ends with, as it is called."""
        function = self.last_function()
        if function is None:
            return None
        entry = self[function.title]
        self._known = entry.known
        return entry

    def last_function(self) -> Function | None:
        functions = list(self.scope.all_functions())
        if not functions or self.scope.last is not None:
            return None
        return max(functions, key=lambda function: function.position)

    def parameters(self, sizes: Mapping[str, int] | None = None, **shapes: Any) -> dict[str, str]:
        """The shape of everything that is declared and not defined, by name.

        `sizes` gives hyper-parameters, keywords the shapes of inputs (as text, or as tensors).

        >>> import namedtensor as nt
        >>> nt.program("W ∈ ℝ^{a × b}\\nY = X ⊙_{a} W").parameters(sizes={"b": 2}, X="ℝ^{a[3]}")
        {'W': 'ℝ^{a[3] × b[2]}'}
        """
        found = self.parameter_shapes(sizes, **shapes)
        return {name: show(shape) for name, shape in found.items()}

    def parameter_shapes(self, sizes=None, **shapes: Any) -> dict[str, dict[str, Any]]:
        checker = self.demanding(sizes, shapes)
        given = {str(key(name)) for name in shapes}
        found: dict[str, dict[str, Any]] = {}
        for spelling, term in checker.demanded.items():
            if str(spelling) not in given:
                found[str(spelling)] = {
                    axis: None if isinstance(known(size), Unknown) else known(size) for axis, size in term.shape.items()
                }
        return found

    def demanding(self, sizes, shapes: Mapping[str, Any]) -> Checker:
        """A checker that has gone through everything the program defines, making inputs of what is declared."""
        inputs = {key(name): Input(shape_of(text, name)) for name, text in shapes.items()}
        checker = Checker(self.scope, inputs, whole_sizes(sizes), demand=True, python=PYTHON)
        with deep(self.source):
            for group in list(self.scope.definitions):
                checker.find(group, checker.top, self.tree)
            for family in self.scope.families:
                checker.definition(family, checker.top)
            if isinstance(self.scope.last, tuple(Checker.RULES)):
                checker.term(self.scope.last, checker.top)
            for function in self.scope.all_functions():
                self.demand_function(checker, function)
        return checker

    def demand_function(self, checker: Checker, function: Function) -> None:
        """Type a function for arguments of exactly its signature's shape, or of the shapes that were given."""
        if any(kind != "label" for kind, _ in (*function.subscript, *function.superscript)):
            return
        arguments = []
        for position, name in enumerate(function.parameters):
            given = checker.top.variables.get(name.key())
            if given is not None:
                arguments.append(given)
                continue
            if function.signature is None:
                return
            shape = {
                axis.name: checker.top.sizes.get(axis.name) or checker.unknown_size(axis.name)
                for axis, _ in function.signature.domain[position].axes
            }
            arguments.append(checker.terms.make("input", options=(f"{function.title} {name.key()}",), shape=shape))
        bindings: Bindings = {"axes": {}, "numbers": {}, "indices": {}}
        parts = function.head.arguments
        enter(checker, function, bindings, {}, tuple(arguments), (), function.head, parts, checker.top, 0)

    def compile(self, backend: str | None = None, without: tuple[str, ...] = ()):
        """A function for repeated calls, of named tensors: planned once for each kind of them.

        `backend` is "numpy", "torch" or "jax", or None for that of the tensors; `without` turns optimisations off by name.
        Raises NotationError where a backend is not installed.

        >>> import namedtensor as nt
        >>> f = nt.formula("∑_{a} X^2").compile()
        >>> float(f(X=nt.tensor([3.0, 4.0], "a")))
        25.0
        """
        from .compiling import Compiled as Repeated

        return Repeated(self, backend, without)

    def to_python(self, library: str = "numpy", values: Values | None = None, *, sizes=None, **named: Any) -> str:
        """The source text of a plain function for "numpy", "torch" or "jax", which runs without this project.

        Its parameters are what is given, in this order: tensors, or shapes such as "ℝ^{seq[3]}".

        >>> import namedtensor as nt
        >>> print(nt.formula("∑_{a} X").to_python("torch", X="ℝ^{a[3] × b[2]}"))
        import torch
        <BLANKLINE>
        <BLANKLINE>
        def function(X):
            t1 = X.sum(0)  # ℝ^{b[2]}
            return t1
        <BLANKLINE>
        """
        from .compiling import to_python

        return to_python(self, library, all_values(values, named), sizes)

    def init(self, seed: int = 0, sizes: Mapping[str, int] | None = None, dtype: str = "float64", **shapes: Any):
        """The parameters as tensors: a matrix normal with variance 1/(numbers that one output sums), γ one, others zero.

        Raises NotationError where a size stays unknown.
        """
        from .initial import initial

        return initial(self.parameter_shapes(sizes, **shapes), seed, dtype)


class Formula(Program):
    """One formula or function: callable, inspectable."""


class Entry:
    """A name of a program: called, a function's value for its arguments, or a tensor's value."""

    def __init__(self, program: Program, name: str):
        self.program = program
        self.name = name
        self.key = key(name)
        self._plans = Plans()
        self.known: dict[tuple, Any] = {}

    def __repr__(self) -> str:
        return f"{self.name} of a program of {len(self.program.tree.statements)} statements"

    def __call__(self, *arguments: Any, values: Values | None = None, sizes=None, **named: Any):
        """Its value. A function takes its arguments by position; parameters and inputs come by name."""
        known = None
        if sizes is None:  # what is known needs no more than this
            try:
                given = named if values is None else {**values, **named} if named else values
                known = (PYTHON.version, *map(LAYOUT, arguments), *given, *map(LAYOUT, given.values()))
                run = self.known.get(known)
                if run is not None:
                    return run(*map(ARRAY, given.values()), *map(ARRAY, arguments))
            except (AttributeError, TypeError):
                known = None
        given = all_values(values, named)
        given.update(zip(map("argument_{}".format, range(1, len(arguments) + 1)), arguments))
        bundle = Bundle(self.program.source, given)
        extent = whole_sizes(sizes) if sizes else None
        mark = (len(arguments), bundle.mark, tuple(extent.items()) if extent else (), PYTHON.version)
        compiled = self._plans.fetch(mark)
        if compiled is None:
            compiled = self._plans.store(mark, self.compile(bundle, len(arguments), extent))
        result = compiled(*bundle.arrays.values())
        keep(self.known, known, compiled)
        return result

    def compile(self, bundle: Bundle, count: int, sizes) -> Compiled:
        scope = self.program.scope
        shadowed = shadowed_by(map(str, bundle.inputs))
        if shadowed or PYTHON:
            scope = analyse(
                self.program.source,
                parse(self.program.source, self.program.syntax, shadowed, functions=frozenset(PYTHON)),
            )
        spellings = [key(f"argument_{n}") for n in range(1, count + 1)]
        inputs = {spelling: given for spelling, given in bundle.inputs.items() if spelling not in spellings}
        checker = Checker(scope, inputs, sizes, python=PYTHON)
        with deep(self.program.source):
            term = self.term(checker, [(str(s), bundle.inputs[s]) for s in spellings])
            return planned(checker, term, bundle, DEFAULT)

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
        checker.check_claims()
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


def _part(text: str):
    return Number(int(text)) if text.isdecimal() else Name(text)


def shape_of(text: Any, name: str) -> dict[str, Any]:
    """A shape from its text (ℝ^{a[3] × b}), a mapping of sizes, or a tensor; an axis without a size has an unknown one."""
    if hasattr(text, "sizes") and hasattr(text, "axes"):
        return dict(text.sizes)
    if isinstance(text, (int, float)):
        return {}
    if isinstance(text, Mapping):
        return dict(text)
    if not isinstance(text, str):
        raise NotationError(317, f"the shape of {name} is a text such as ℝ^{{seq[3]}}, not {type(text).__name__}")
    tree = parse(f"x ∈ {text}")
    declaration = tree.statements[0]
    if len(tree.statements) != 1 or not isinstance(declaration, Declaration):
        raise NotationError(317, f"{text!r} is no shape", hint="write ℝ^{seq[3] × chans[2]}, or R^{seq[3], chans[2]}")
    shape: dict[str, Any] = {}
    for axis, size in declaration.sets[0].axes:
        if isinstance(size, Number):
            shape[axis.name] = size.value
        else:
            shape[axis.name] = Unknown(f"|{axis.name}|" if size is None else _source_of(size))
    return shape


def _source_of(node) -> str:
    from grammar.printer import to_text

    return to_text(node)
