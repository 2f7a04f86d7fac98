"""From a string to a value: the only file that knows the whole way.

    str -> nodes -> scope -> typed tree -> plan -> NamedTensor

Parsing is cached by text, planning by the types of what is given; a repeated call looks up and runs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Declaration, Name, Number
from grammar.parser import parse
from grammar.symbols import FUNCTIONS

from . import calls
from .axes import show
from .check import Checker
from .checked import Checked, Input, Poisoned, Warned
from .explain import Explanation, Stage
from .frames import plain
from .limits import DEFAULT, Limits, deep
from .misfits import shown
from .names import Key, key, spelled, walk
from .operators import REGISTRY
from .plan import Plan, make_plan
from .registered import PYTHON
from .scope import Definition, Function, Scope, analyse
from .sizes import Unknown, known
from .terms import Term, resolve

Values = Mapping[str, Any]


class Bundle:
    """The values of one call by their names: the arrays of the tensors, and what makes one plan serve two calls.

    This runs at each call, and so does no more than look up; what a plan is made of is derived when there is none yet.
    """

    __slots__ = ("arrays", "mark", "values")

    def __init__(self, source: str, values: Mapping[str, Any]):
        from .values import NamedTensor, as_value

        self.arrays: dict[str, Any] = {}
        self.values: dict[str, Any] = {}
        mark: list[Any] = []
        for name, value in values.items():
            text = spelling_of(name)
            if type(value) is not NamedTensor:
                value = as_value(value, text)
            self.values[text] = value
            if type(value) is NamedTensor:
                self.arrays[text] = value._array
                mark += (text, value.layout)
            else:
                mark += (text, type(value), value)
        self.mark = tuple(mark)

    @property
    def inputs(self) -> dict[Key, Input]:
        """What the checker is to know of each value."""
        found = {}
        for text, value in self.values.items():
            layout = getattr(value, "layout", None)
            found[key(text)] = Input({}, value) if layout is None else Input(layout.sizes, None, layout.is_truth)
        return found

    @property
    def orders(self) -> dict[str, tuple[str, ...]]:
        """The axes of each tensor in storage order."""
        return {text: self.values[text].axes for text in self.arrays}


@lru_cache(maxsize=4096)
def spelling_of(name: str) -> str:
    """The one spelling of a name, whichever way it was written: gamma is γ."""
    return str(key(name))


class Compiled:
    """A plan with the names of its inputs and the axes of its result."""

    __slots__ = ("plan", "axes", "claims", "term", "checker")

    def __init__(self, plan: Plan, term: Term, checker: Checker):
        self.plan, self.term, self.checker = plan, term, checker
        order = plan.orders[0]
        self.axes = () if order is None else tuple(map(plain, order))
        self.claims = tuple(checker.claim_terms)

    def __call__(self, arrays: Mapping[str, Any]):
        from .values import quiet, wrap

        with quiet():
            found = self.plan.run(arrays)
        if self.claims:
            from .claims import judge

            judge(self, found[1:])
        return wrap(found[0], self.axes, self.plan.xp)


class _Cache(OrderedDict):
    """The last plans that were used."""

    def fetch(self, mark):
        found = self.get(mark)
        if found is not None:
            self.move_to_end(mark)
        return found

    def store(self, mark, value):
        self[mark] = value
        if len(self) > 1024:
            self.popitem(last=False)
        return value


_PLANS = _Cache()


def _shadowed(names) -> frozenset[str]:
    """Names of built-in functions that stand for tensors here, because a value was given for them."""
    return frozenset(name for name in names if name in FUNCTIONS)


def _all_values(values: Any, named: Mapping[str, Any]) -> dict[str, Any]:
    if values is None:
        return dict(named)
    if not isinstance(values, Mapping):
        raise NotationError(
            208,
            f"values are a mapping from names to tensors, not {type(values).__name__}",
            hint='write {"X": X} or X=X',
        )
    return {**values, **named}


def _sizes(sizes: Mapping[str, int] | None) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, size in (sizes or {}).items():
        if isinstance(size, bool) or not hasattr(size, "__index__"):
            raise NotationError(
                310, f"the size of {name} is a whole number, not {size!r}", hint=f"write sizes={{{name!r}: 2}}"
            )
        if size < 0:
            raise NotationError(310, f"the size of {name} cannot be {size}")
        found[str(name)] = int(size)
    return found


# --------------------------------------------------------------------------------------------------------- evaluate
def evaluate(
    formula: str,
    values: Values | None = None,
    /,
    *,
    sizes: Mapping[str, int] | None = None,
    syntax: str = "auto",
    strict: bool = False,
    limits: Limits = DEFAULT,
    **named: Any,
):
    """The value of a formula, or of the last statement of a program.

    `values` and keywords give tensors and numbers by the names that the formula uses; `sizes` the sizes of axes that
    nothing else fixes; `syntax` is "text", "latex" or "auto". With `strict`, an outer product that may be unintended is
    an error. Raises NotationError for anything that is wrong with the formula or with what it is given.

    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.evaluate("∑_{width} A", A=A).to_array().tolist()
    [8, 15]
    """
    given = _all_values(values, named)
    bundle = Bundle(formula, given)
    extent = _sizes(sizes) if sizes else None
    mark = (formula, syntax, bundle.mark, tuple(extent.items()) if extent else (), strict, limits, PYTHON.version)
    compiled = _PLANS.fetch(mark)
    if compiled is None:
        compiled = _PLANS.store(mark, _compile(formula, syntax, bundle, extent, strict, limits))
    return compiled(bundle.arrays)


def _compile(formula, syntax, bundle: Bundle, sizes, strict: bool, limits: Limits) -> Compiled:
    program = parse(formula, syntax, _shadowed(map(str, bundle.inputs)), limits.nesting, frozenset(PYTHON))
    scope = analyse(formula, program)
    checker = Checker(scope, bundle.inputs, sizes, strict=strict, python=PYTHON, limits=limits)
    with deep(formula):
        term = checker.whole()
        return _planned(checker, term, bundle, limits)


def _planned(checker: Checker, term: Term, bundle: Bundle, limits: Limits) -> Compiled:
    from .values import namespace_of, quiet

    xp, real = namespace_of(bundle.arrays)
    roots = [term]
    for left, right, _ in checker.claim_terms:
        roots += [left] + ([right] if isinstance(right, Term) else [])
    with quiet():
        plan = make_plan(checker.scope.source, tuple(roots), bundle.orders, xp, real, limits)
    return Compiled(plan, term, checker)


# --------------------------------------------------------------------------------------------------------- programs
class Program:
    """Many definitions in one scope; prints itself, compares by what it says, and pickles.

    `program["O"]` is a name of it, callable; `program.O` the same where the name is a Python identifier.
    """

    def __init__(self, source: str, syntax: str = "auto"):
        self.source = source
        self.syntax = syntax
        self.tree = parse(source, syntax, functions=frozenset(PYTHON))
        self.scope: Scope = analyse(source, self.tree)

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
        return Entry(self, name)

    def __getattr__(self, name: str) -> Entry:
        if name.startswith("_"):
            raise AttributeError(name)
        return Entry(self, name)

    # what it gives
    def __call__(self, *arguments: Any, values: Values | None = None, sizes=None, **named: Any):
        """The program's value; or, where it ends with a function, that function of the arguments."""
        last = self.last_function()
        if last is not None:
            return self[last.title](*arguments, values=values, sizes=sizes, **named)
        if arguments:
            raise NotationError(
                304,
                f"this formula is no function, and was given {len(arguments)} arguments by position",
                hint="give its tensors by name: formula(X=X)",
            )
        return evaluate(self.source, values, sizes=sizes, syntax=self.syntax, **named)

    def last_function(self) -> Function | None:
        functions = list(self.scope.all_functions())
        if not functions or self.scope.last is not None:
            return None
        return max(functions, key=lambda function: function.position)

    def parameters(self, sizes: Mapping[str, int] | None = None, **shapes: Any) -> dict[str, str]:
        """The shape of everything that is declared and not defined, by name.

        `sizes` gives hyper-parameters, keywords the shapes of inputs (as text, or as tensors).

        >>> program("W ∈ ℝ^{a × b}\\nY = X ⊙_{a} W").parameters(sizes={"b": 2}, X="ℝ^{a[3]}")
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
        checker = Checker(self.scope, inputs, _sizes(sizes), demand=True, python=PYTHON)
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
        bindings: calls.Bindings = {"axes": {}, "numbers": {}, "indices": {}}
        parts = function.head.arguments
        calls.enter(checker, function, bindings, {}, tuple(arguments), (), function.head, parts, checker.top, 0)

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
        self._plans = _Cache()

    def __repr__(self) -> str:
        return f"{self.name} of a program of {len(self.program.tree.statements)} statements"

    def __call__(self, *arguments: Any, values: Values | None = None, sizes=None, **named: Any):
        """Its value. A function takes its arguments by position; parameters and inputs come by name."""
        given = _all_values(values, named)
        bundle = Bundle(self.program.source, {**given, **{f"argument_{n}": a for n, a in enumerate(arguments, 1)}})
        extent = _sizes(sizes) if sizes else None
        mark = (len(arguments), bundle.mark, tuple(extent.items()) if extent else (), PYTHON.version)
        plans = _ENTRY_PLANS.setdefault((self.program.source, self.program.syntax, self.name), _Cache())
        compiled = plans.fetch(mark)
        if compiled is None:
            compiled = plans.store(mark, self.compile(bundle, len(arguments), extent))
        return compiled(bundle.arrays)

    def compile(self, bundle: Bundle, count: int, sizes) -> Compiled:
        scope = self.program.scope
        shadowed = _shadowed(map(str, bundle.inputs))
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
            return _planned(checker, term, bundle, DEFAULT)

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
        term = calls.enter(
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
        for function, bindings in calls.matching(checker, call, checker.top):
            numbers = {name: checker.term(part, checker.top) for name, part in bindings["numbers"].items()}
            return function, bindings, numbers
        return None


_ENTRY_PLANS: dict[tuple, _Cache] = {}


def _part(text: str):
    return Number(int(text)) if text.isdecimal() else Name(text)


def program(text: str, syntax: str = "auto") -> Program:
    """Many definitions in one scope.

    Raises NotationError where the text is not in the notation, or defines a name twice.

    >>> block = program("f(x) = 2 x\\ng(x) = f(x) + 1")
    >>> float(block["g"](3))
    7.0
    """
    return Program(text, syntax)


def formula(text: str, syntax: str = "auto") -> Formula:
    """A formula or a function as an object: callable, inspectable.

    >>> f = formula("f(x, y) = x^2 + y")
    >>> float(f(3, 1))
    10.0
    """
    return Formula(text, syntax)


def load(path: Any, syntax: str = "auto") -> Program:
    """A program from a file: `.nt` is text, `.tex` LaTeX."""
    from pathlib import Path

    place = Path(path)
    try:
        text = place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise NotationError(108, f"{place} cannot be read: {problem}") from None
    if syntax == "auto" and place.suffix in (".nt", ".tex"):
        syntax = "text" if place.suffix == ".nt" else "latex"
    return Program(text, syntax)


# ------------------------------------------------------------------------------------------------------------ check
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


def check(
    formula: str,
    /,
    *,
    sizes: Mapping[str, int] | None = None,
    syntax: str = "auto",
    **shapes: Any,
) -> Checked:
    """Types without data: the type of every name and sub-expression, every error, and warnings.

    Keywords give shapes by name: A="ℝ^{height[3] × width[3]}"; sizes may be left out.

    >>> check("∑_{width} A", A="ℝ^{height[3] × width[2]}").type
    'ℝ^{height[3]}'
    """
    try:
        inputs = {key(name): Input(shape_of(text, name)) for name, text in shapes.items()}
        tree = parse(formula, syntax, _shadowed(shapes), functions=frozenset(PYTHON))
        scope = analyse(formula, tree)
        checker = Checker(scope, inputs, _sizes(sizes), demand=True, collect=True, python=PYTHON)
    except NotationError as problem:
        return Checked(formula, None, {}, (), (problem,), ())
    with deep(formula):
        return _check_all(formula, checker)


def _check_all(source: str, checker: Checker) -> Checked:
    last: Any = None
    scope = checker.scope
    pending: list[tuple[int, Any]] = [(group[0].position, spelling) for spelling, group in scope.definitions.items()]
    pending += [(family.position, family) for family in scope.families]
    pending += list(scope.values)
    for _, what in sorted(pending, key=lambda entry: entry[0]):
        try:
            if isinstance(what, Key):
                term = checker.find(what, checker.top, scope.program)
            elif isinstance(what, Definition):
                term = checker.definition(what, checker.top)
            else:
                term = checker.term(what, checker.top)
        except NotationError as problem:
            checker.note(problem)
            continue
        except Poisoned:
            continue
        if what is scope.last or (isinstance(scope.last, Definition) and what == scope.last.key) or what is scope.last:
            last = term
    for function in scope.all_functions():
        _check_function(checker, function)
    for finish in (checker.solver.check, checker.check_claims):
        try:
            finish()
        except NotationError as problem:
            checker.note(problem)
        except Poisoned:
            pass
    types = {str(k): resolve(t.shape) for k, t in {**checker.top.variables, **checker.demanded}.items()}
    types |= checker.types
    steps = _steps(checker)
    return Checked(
        source,
        None if last is None else resolve(last.shape),
        types,
        steps,
        tuple(sorted(checker.errors, key=lambda e: e.span or (0, 0))),
        tuple(checker.warnings),
    )


def _check_function(checker: Checker, function: Function) -> None:
    """Check the body of a function that has a signature, for arguments of exactly its shape."""
    if function.signature is None or any(kind == "number" for kind, _ in function.subscript):
        return
    axes = {text: (text,) for kind, text in function.subscript if kind == "axis"}
    indices = {text: text for kind, text in function.superscript if kind == "index"}
    arguments = []
    for name, of in zip(function.parameters, function.signature.domain):
        shape = {axis.name: Unknown(f"|{axis.name}|") for axis, _ in of.axes}
        arguments.append(checker.terms.make("input", options=(f"{function.title} {name.key()}",), shape=shape))
    bindings: calls.Bindings = {"axes": axes, "numbers": {}, "indices": indices}
    try:
        calls.enter(
            checker, function, bindings, {}, tuple(arguments), (), function.head, function.head.arguments, checker.top
        )
    except NotationError as problem:
        if problem.number not in (206, 309):
            checker.note(problem)
    except Poisoned:
        pass


def _steps(checker: Checker) -> tuple[tuple[str, str], ...]:
    found: dict[tuple[int, int], tuple[str, str]] = {}
    for node, term, _ in checker.trace:
        if node.span not in found and not isinstance(node, Number):
            found[node.span] = (checker.text(node), shown(term.shape))
    return tuple(found.values())


# ---------------------------------------------------------------------------------------------------------- explain
def explain(
    formula: str,
    values: Values | None = None,
    /,
    *,
    sizes: Mapping[str, int] | None = None,
    syntax: str = "auto",
    **named: Any,
):
    """Every step of a formula, in order: sub-formula, its type, its value.

    >>> import namedtensor as nt
    >>> [step.text for step in nt.explain("2 x + 1", x=nt.tensor([1, 2], "a"))]
    ['x', '2 x', '2 x + 1']
    """
    bundle = Bundle(formula, _all_values(values, named))
    tree = parse(formula, syntax, _shadowed(map(str, bundle.inputs)), functions=frozenset(PYTHON))
    checker = Checker(analyse(formula, tree), bundle.inputs, _sizes(sizes), python=PYTHON)
    with deep(formula):
        whole = checker.whole()
        found: list[tuple[str, Term]] = []
        seen: set[tuple] = set()
        for node, term, _ in checker.trace:
            mark = (checker.text(node), id(term))
            if isinstance(node, Number) or mark in seen or any("@" in axis for axis in term.shape):
                continue
            seen.add(mark)
            found.append((checker.text(node), term))
        if not found or found[-1][1] is not whole:
            found.append((checker.text(_last_node(checker.scope)), whole))
        stages = _evaluate_stages(checker, found, bundle)
    return Explanation(formula, tuple(Stage(text, value) for text, value in stages))


def _last_node(scope: Scope):
    return scope.last.statement if isinstance(scope.last, Definition) else scope.last


def _evaluate_stages(checker: Checker, found, bundle: Bundle):
    from .values import namespace_of, quiet, wrap

    xp, real = namespace_of(bundle.arrays)
    with quiet():
        plan = make_plan(checker.scope.source, tuple(term for _, term in found), bundle.orders, xp, real)
        arrays = plan.run(bundle.arrays)
    return [
        (text, wrap(array, () if order is None else tuple(map(plain, order)), xp))
        for (text, _), array, order in zip(found, arrays, plan.orders)
    ]


def derivative(text: str, wrt: str, syntax: str = "auto"):
    """The derivative of a formula: derivatives parse, and do not run yet. Raises NotationError 408."""
    raise NotationError(408, "derivatives parse, but do not run yet", text, (0, len(text)))


__all__ = [
    "Checked", "Entry", "Formula", "Program", "Warned", "check", "derivative", "evaluate", "explain", "formula", "load",
    "program", "spelled",
]  # fmt: skip
