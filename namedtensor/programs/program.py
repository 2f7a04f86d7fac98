"""Programs and formulas as objects: callable, inspectable, printable."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Never, Self, overload

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call
from grammar.parser import parse

from ..checking.checker import Checker
from ..checking.lifting import Bindings, inline_call
from ..checking.report import CheckResult, InputType
from ..core.axes import show
from ..core.kinds import as_count, as_mapping, as_names, as_text, wrong
from ..core.limits import recursion_headroom
from ..core.sizes import SizeVariable, resolve
from ..core.suggestions import no_attribute
from ..display.steps import Explanation
from ..operators import REGISTRY
from ..operators.user_functions import USER_FUNCTIONS
from ..scope.binder import bind
from ..scope.names import Key, key, walk
from ..scope.symbols import Definition, FunctionDefinition, Scope
from ..terms.terms import Term
from .arguments import shape_of
from .call_cache import CachedCall
from .entries import EntryPoint, EntryPoints
from .executable import Values, all_values, axes_given, shadowed_by, whole_sizes
from .given_names import told_names
from .program_names import ProgramNames

if TYPE_CHECKING:
    from ..display.coloured import Coloured
    from ..display.colours import Tint
    from ..display.diagram_svg import Diagram
    from ..sharding.sharding import Rules, Sharded
    from .initialisation import Schemes


class Program(CachedCall):
    """Many definitions in one scope; prints itself, compares by what it says, and pickles.

    `program["O"]` is a name of it, callable; `program.O` the same where the name is a Python identifier.
    """

    def __init__(self, source: str, syntax: str = "auto"):
        super().__init__()
        self.source = source
        self.syntax = syntax
        try:
            self.tree = parse(source, syntax, functions=frozenset(USER_FUNCTIONS))
            self.scope: Scope = bind(source, self.tree, open=True)
        except NotationError as problem:
            raise problem.alone() from None
        self._entries: dict[Any, Any] = {}

    # what it says
    def __eq__(self, other) -> bool:
        return isinstance(other, Program) and self.tree == other.tree

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.tree)

    def __reduce__(self):
        return type(self), (self.source, self.syntax)

    def to_text(self, ascii: bool = False, colours: bool = False) -> str:
        """The program in text, or in ASCII; with `colours`, a terminal shows each axis in its own."""
        from grammar.printer import to_text

        escapes = {axis: tint.escape for axis, tint in self.tints.items()}
        return to_text(self.tree, ascii=ascii, colours=escapes if colours else None)

    def to_latex(self, macros: bool = False, colours: bool = False) -> str:
        """The program in LaTeX; with `macros`, in the paper's own; with `colours`, each axis in its own.

        >>> import namedtensor as nt
        >>> print(nt.formula("∑_{seq} x").to_latex(colours=True))
        \\sum\\limits_{\\textcolor{#0b80a6}{\\mathsf{seq}}} x
        """
        from grammar.printer import to_latex

        found = {axis: tint.colour.light for axis, tint in self.tints.items()}
        return to_latex(self.tree, macros=macros, colours=found if colours else None)

    def to_html(self, sizes: Mapping[str, Any] | None = None) -> str:
        """The program for a page, each axis in its colour throughout, with a legend that tells the `sizes` that are given."""
        from ..display.html import html_program

        return html_program(self.tree, self.tints, as_mapping(sizes, "sizes=", 'write sizes={"a": 3}'))

    def coloured(self, sizes: Mapping[str, Any] | None = None) -> Coloured:
        """The program with each axis in its colour, in a notebook as in a terminal."""
        from ..display.coloured import Coloured

        return Coloured(self, as_mapping(sizes, "sizes=", 'write sizes={"a": 3}'))

    @cached_property
    def tints(self) -> dict[str, Tint]:
        """The colour of each axis, in the order in which the program names them."""
        from grammar.printer.runs import axes_in

        from ..display.colours import tints

        return tints(axes_in(self.tree))

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

    @overload
    def __getitem__(self, name: str) -> EntryPoint: ...
    @overload
    def __getitem__(self, name: tuple[str, ...]) -> EntryPoints: ...

    def __getitem__(self, name: str | tuple[str, ...]) -> EntryPoint | EntryPoints:
        """A name of the program, or several: `program["K", "V"](…)` is a tuple of both, what they share computed once."""
        try:
            found = self._entries.get(name)
        except TypeError:  # it cannot be the name of anything
            found = None
        if found is None:
            if isinstance(name, str):
                found = self._entries[name] = EntryPoint(self, name)
            else:
                hint = 'write program["Y"], or program["K", "V"]'
                if not isinstance(name, tuple):
                    raise wrong(name, "what a program is asked for", "a name, or several", hint)
                names = as_names(name, "what a program is asked for", hint)
                found = self._entries[names] = EntryPoints(self, names)
        return found

    def __getattr__(self, name: str) -> EntryPoint:
        if name.startswith("_") or "tree" not in self.__dict__:  # as while one is copied
            raise AttributeError(name)
        if not self._names.has(name):
            raise no_attribute(f"this {type(self).__name__}", name, [each for each in dir(self) if each[:1] != "_"])
        found = self.__dict__[name] = self[name]
        return found

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self.names if name.isidentifier())]

    @cached_property
    def _names(self) -> ProgramNames:
        return ProgramNames(self.scope)

    def redefined(self, text: str = "", without: Iterable[str] = ()) -> Self:
        """A program in which the definitions of `text` replace those of the same names; `without` takes some out.

        What `text` says of other names is added. Raises NotationError where a name to take out is not defined.

        >>> import namedtensor as nt
        >>> nt.program("act(x) = gelu(x)\\nY = act(X)").redefined("act(x) = relu(x)")
        act(x) = relu(x)
        Y = act(X)
        """
        from .variants import redefined

        text = as_text(text, "the new definitions", 'write redefined("act(x) = relu(x)")')
        return redefined(self, text, as_names(without, "without=", 'write without=["act"]'))

    def shard(self, rules: Rules, mesh: Any) -> Sharded:
        """The program over the devices of a mesh of JAX: the rules say which axis goes over which axis of the mesh.

        Raises NotationError where JAX is not installed (408), or the mesh has no such axis (201).
        """
        from ..sharding.sharding import Sharding

        return Sharding(rules, mesh).sharded(self)

    # what it gives
    def evaluate(self, values: Values | None = None, /, *, sizes=None, **named: Any):
        """Its value: the program called, with everything by name; see `evaluate`."""
        return self(values=values, sizes=sizes, **named)

    def check(self, *, sizes: Mapping[str, int] | None = None, **shapes: Any) -> CheckResult:
        """Types without data, errors and warnings: see `check`.

        >>> import namedtensor as nt
        >>> nt.formula("∑_{width} A").check(A="ℝ^{height[3] × width[2]}").type
        'ℝ^{height[3]}'
        """
        from .api import check

        return check(self, sizes=sizes, **shapes)

    def derivative(self, wrt: str) -> Formula:
        """The derivative by a name, itself a formula: see `derivative`.

        >>> import namedtensor as nt
        >>> float(nt.formula("x^3").derivative("x")(x=2.0))
        12.0
        """
        from .api import derivative

        return derivative(self, wrt)

    def _called(self, arguments: tuple[Any, ...], values: Values | None, sizes: Any, named: dict[str, Any]):
        """The program's value; or, where it ends with a function, that function of the arguments."""
        last = self._last_given(all_values(values, named))
        if last is not None:
            result = last(*arguments, values=values, sizes=sizes, **named)
            self._again, self._named = last._again, last._named
            USER_FUNCTIONS.watched_by(self)
            return result
        if arguments:
            raise NotationError(
                304,
                f"this formula is no function, and was given {len(arguments)} arguments by position",
                hint="give its tensors by name: formula(X=X)",
            )
        from .api import evaluate

        return evaluate(self.source, values, sizes=sizes, syntax=self.syntax, **named)

    def explain(self, *arguments: Any, values: Values | None = None, sizes=None, **named: Any) -> Explanation:
        """Every step to the program's value, or to that of the function that it ends with; see `EntryPoint.explain`."""
        last = self._last_given(all_values(values, named))
        if last is not None:
            return last.explain(*arguments, values=values, sizes=sizes, **named)
        from .api import explain

        return explain(self.source, values, sizes=sizes, syntax=self.syntax, **named)

    def diagram(
        self,
        *arguments: Any,
        sizes: Mapping[str, int] | None = None,
        expand: str | Collection[str] = (),
        values: Values | None = None,
        **shapes: Any,
    ) -> Diagram:
        """A drawing of the way to the program's value, or to that of the function that it ends with; see `EntryPoint.diagram`."""
        from .diagrams import diagram

        given = all_values(values, shapes)
        scope = self.scope_given({key(name): InputType(shape_of(shape, name)) for name, shape in given.items()})
        last = scope.last
        entry = self[str(last.key)] if isinstance(last, Definition) and last.range is None else self.function_of(scope)
        return diagram(self, entry, arguments, shapes, sizes, expand, values)

    @cached_property
    def _last(self) -> EntryPoint | None:
        """The function that the program ends with, as it is called."""
        return self.function_of(self.scope)

    def _last_given(self, given: Mapping[str, Any]) -> EntryPoint | None:
        """The same where these values are given, of which an equation may be a claim."""
        if self._last is None or not self.scope.replaced:
            return self._last
        return self.function_of(self.scope_given({key(name): InputType(axes_of(each)) for name, each in given.items()}))

    def scope_given(self, inputs: Mapping[Key, InputType]) -> Scope:
        """What the program says, where these inputs are given."""
        shadowed = shadowed_by([*map(str, inputs)], self.scope.functions)
        tree = (
            parse(self.source, self.syntax, shadowed, functions=frozenset(USER_FUNCTIONS))
            if shadowed or USER_FUNCTIONS
            else self.tree
        )
        return bind(self.source, tree, axes_given(inputs))

    def function_of(self, scope: Scope) -> EntryPoint | None:
        """The function that the program ends with, by what it says."""
        function = self.last_function(scope)
        return None if function is None else self[function.title]

    def takes(self, named: Iterable[str]) -> bool:
        """Whether one of these is an argument of the function that the program ends with."""
        function = self.last_function()
        return function is not None and bool({name.key() for name in function.parameters} & set(map(key, named)))

    def last_function(self, scope: Scope | None = None) -> FunctionDefinition | None:
        """The function that the program ends with, by what it says of itself or where values are given."""
        return last_function(self.scope if scope is None else scope)

    def parameters(self, sizes: Mapping[str, int] | None = None, **shapes: Any) -> dict[str, str]:
        """The shape of everything that is declared and not defined, by name.

        `sizes` gives hyper-parameters, keywords the shapes of inputs (as text, or as tensors). Raises NotationError where a
        function has parameters, and nothing says what shape its arguments have.

        >>> import namedtensor as nt
        >>> nt.program("W ∈ ℝ^{a × b}\\nY = X ⊙_{a} W").parameters(sizes={"b": 2}, X="ℝ^{a[3]}")
        {'W': 'ℝ^{a[3] × b[2]}'}
        """
        found = self.shapes_of(self.demanding(sizes, shapes, tuple(shapes)), shapes)
        if not found:
            self._need_shapes(shapes)
        return {name: show(shape) for name, shape in found.items()}

    def parameter_shapes(self, sizes=None, **shapes: Any) -> dict[str, dict[str, Any]]:
        return self.shapes_of(self.demanding(sizes, shapes), shapes)

    def shapes_of(self, checker: Checker, shapes: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        given = {str(key(name)) for name in shapes}
        found: dict[str, dict[str, Any]] = {}
        for spelling, term in checker.parameters.items():
            if str(spelling) not in given:
                found[str(spelling)] = {
                    axis: None if isinstance(resolve(size), SizeVariable) else resolve(size)
                    for axis, size in term.shape.items()
                }
        return found

    def _need_shapes(self, shapes: Mapping[str, Any]) -> None:
        """Raise for a function that has parameters, and neither a signature nor shapes for its arguments."""
        given = {key(name) for name in shapes}
        for function in self._functions():
            missing = [str(name.key()) for name in function.parameters if name.key() not in given]
            asked = self._names.asked(function) if missing and function.signature is None else []
            if asked:
                undeclared = [str(name) for name in asked if name not in self._names.declared]
                say = f"declare {undeclared[0]} ∈ ℝ^{{…}}, and " if undeclared else ""
                raise NotationError(
                    206, f"{function.title} has no signature, and the type of its argument {missing[0]} was not given",
                    notes=(f"so the shape of {asked[0]} is not known",),
                    hint=f'{say}write {function.title} : ℝ^{{seq × chans}} → …, or give {missing[0]}="ℝ^{{seq × chans}}"',
                )  # fmt: skip

    def _functions(self) -> list[FunctionDefinition]:
        return list(self.scope.all_functions())

    def _demanding(self, sizes, shapes: Mapping[str, Any], told: Iterable[str] | None) -> Checker:
        """A checker that makes inputs of what is declared."""
        numbers = {name: value for name, value in shapes.items() if isinstance(value, int)}
        inputs = {key(name): InputType(shape_of(text, name), numbers.get(name)) for name, text in shapes.items()}
        return Checker(self.scope, inputs, whole_sizes(sizes), infer_parameters=True, python=USER_FUNCTIONS, told=told)

    def demanding(self, sizes, shapes: Mapping[str, Any], told: Iterable[str] | None = None) -> Checker:
        """A checker that has gone through everything the program defines, making inputs of what is declared."""
        checker = self._demanding(sizes, shapes, told)
        with recursion_headroom(self.source):
            for group in list(self.scope.definitions):
                checker.find(group, checker.top, self.tree)
            for family in self.scope.families:
                checker.definition(family, checker.top)
            if isinstance(self.scope.last, tuple(Checker.RULES)):
                checker.last_term(self.scope.last)
            for function in self.scope.all_functions():
                if all(kind == "label" for kind, _ in (*function.subscript, *function.superscript)):
                    self.demand_function(checker, function)
            checker.solver.settle()
        return checker

    def demand_function(
        self,
        checker: Checker,
        function: FunctionDefinition,
        bindings: Bindings | None = None,
        numbers: Mapping[str, Term] = {},
    ) -> None:
        """Type a function for arguments of exactly its signature's shape, or of the shapes that were given."""
        arguments = []
        for position, name in enumerate(function.parameters):
            given = checker.top.variables.get(name.key())
            if given is not None:
                arguments.append(given)
                continue
            if function.signature is None:
                return
            axes = function.signature.domain[position].axes
            shape = {axis.name: checker.unknown_size(axis.name) for axis, _ in axes}
            arguments.append(checker.graph.intern("input", options=(f"{function.title} {name.key()}",), shape=shape))
        bound: Bindings = {"axes": {}, "numbers": {}, "indices": {}} if bindings is None else bindings
        parts = function.head.arguments
        inline_call(checker, function, bound, dict(numbers), tuple(arguments), (), function.head, parts, checker.top, 0)

    def compile(self, backend: str | None = None, without: tuple[str, ...] = ()):
        """A function for repeated calls, of named tensors: planned once for each kind of them.

        `backend` is "numpy", "torch" or "jax", or None for that of the tensors; `without` turns optimisations off by name.
        Raises NotationError where a backend is not installed.

        >>> import namedtensor as nt
        >>> f = nt.formula("∑_{a} X^2").compile()
        >>> float(f(X=nt.tensor([3.0, 4.0], "a")))
        25.0
        """
        from .compiled import CompiledFormula as Repeated

        return Repeated(self, backend, as_names(without, "without=", 'write without=["blocks"]'))

    def cost(self, values: Values | None = None, *, sizes=None, without: tuple[str, ...] = (), **named: Any):
        """What it costs before it is run, for tensors or shapes: operations, bytes, the largest array, step by step.

        `sizes` gives sizes that the shapes leave out; what is declared, with sizes that follow, need not be given. Raises
        NotationError where the formula does not fit them, or a result passes the limit of memory.

        >>> import namedtensor as nt
        >>> nt.formula("X ⊙_{a} W").cost(X="ℝ^{seq[100] × a[8]}", W="ℝ^{a[8] × b[4]}").multiply_adds
        3200
        """
        from ..planning.cost import cost_of
        from .compiled import plan_of, target_named, with_declared

        given = with_declared(self, all_values(values, named), sizes)
        without = as_names(without, "without=", 'write without=["blocks"]')
        return cost_of(plan_of(self, target_named("numpy"), given, sizes, without, told_names(values, named))[0])

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
        from .compiled import to_python

        return to_python(self, library, all_values(values, named), sizes, told=told_names(values, named))

    def to_javascript(self, values: Values | None = None, *, sizes=None, standalone: bool = False, **named: Any) -> str:
        """The source text of a module of JavaScript, which exports the function `formula` of arrays.

        Its parameters are what is given, in this order: tensors, or shapes such as "ℝ^{seq[3]}". Each is called with nested
        lists, with numbers in a row such as a Float64Array, row-major, or with what another such function gave, which is
        {shape, data}. The text imports the file `javascript_runtime.js` of `namedtensor/backends`; a `standalone` one has
        the functions of it that it needs in front. It computes in doubles, and fails with the numbers and the messages of
        the errors of a formula. Raises NotationError for complex tensors, and where the formula calls a function of Python.

        >>> import namedtensor as nt
        >>> print(nt.formula("√(∑_{a} X)").to_javascript(X="ℝ^{a[3] × b[2]}"))
        import * as nt from "./javascript_runtime.js";
        <BLANKLINE>
        export function formula(X) {
          X = nt.given(X, "X", [3, 2]);  // ℝ^{a[3] × b[2]}
          const t1 = nt.sum(X, [0]);  // ℝ^{b[2]}
          const t2 = nt.sqrt(t1);  // ℝ^{b[2]}
          return nt.array(t2);
        }
        <BLANKLINE>
        """
        from .compiled import to_javascript

        return to_javascript(self, all_values(values, named), sizes, standalone, told_names(values, named))

    def init(
        self,
        seed: int = 0,
        sizes: Mapping[str, int] | None = None,
        dtype: str = "float64",
        schemes: Schemes | None = None,
        only: Collection[str] | None = None,
        **shapes: Any,
    ):
        """The parameters as tensors: γ one, what is contracted normal with variance 1/(numbers that one output sums),
        what is only added zero; `schemes` says otherwise by name (see `initial`), `only` which are wanted.

        Raises NotationError where a size stays unknown, or the shape of a function's arguments.
        """
        from .initialisation import fans, initial

        seed = as_count(seed, "the seed", "write seed=0")
        schemes = as_mapping(schemes, "schemes=", 'write schemes={"W": Normal("0.02")}')
        only = None if only is None else as_names(only, "only=", 'write only=["W"]')
        checker = self.demanding(sizes, shapes, tuple(shapes))
        summed = fans(checker.parameters, checker.graph.all())
        wanted = self.shapes_of(checker, shapes)
        if only is not None:
            wanted = {name: shape for name, shape in wanted.items() if name in only}
        elif not wanted:
            self._need_shapes(shapes)
        return initial(wanted, summed, seed, dtype, schemes, sizes)


class Formula(Program):
    """One formula or function: callable, inspectable."""

    if TYPE_CHECKING:

        def __getattr__(self, name: Never) -> Never: ...  # a formula's names are asked for as formula["f"]


def last_function(scope: Scope) -> FunctionDefinition | None:
    """The function that a program ends with, where it has no other value."""
    functions = list(scope.all_functions())
    if not functions or scope.last is not None:
        return None
    return max(functions, key=lambda function: function.position)


def axes_of(value: Any) -> dict[str, Any]:
    """The axes of a tensor that is given; a plain number has none."""
    return dict.fromkeys(getattr(value, "axes", ()))
