"""From a string to a value: the whole way in one place.

    str -> nodes -> scope -> typed tree -> plan -> NamedTensor

Parsing is cached by text, planning by the types of what is given; a repeated call looks up and runs.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from grammar.errors import NotationError, NotationWarning
from grammar.nodes import Number
from grammar.parser import check_source, parse

from ..checking.checker import Checker
from ..checking.diagnostics import shown
from ..checking.lifting import Bindings, inline_call
from ..checking.report import AlreadyReported, CheckResult, InputType
from ..core.kinds import as_path, wrong
from ..core.limits import DEFAULT, Limits, recursion_headroom
from ..core.sizes import SizeVariable
from ..display.steps import explained
from ..operators.user_functions import USER_FUNCTIONS
from ..scope.names import Key, key
from ..scope.symbols import Definition, FunctionDefinition
from ..terms.terms import resolved_shape
from .arguments import shape_of
from .entries import EntryPoint
from .executable import (
    AGAIN,
    ARRAY,
    KNOWN,
    LAYOUT,
    PLANS,
    Arguments,
    Values,
    all_values,
    compile_formula,
    scope_of,
    serving,
    store,
    whole_sizes,
)
from .given_names import told_names
from .program import Formula, Program


def written(formula: str | Program, syntax: str) -> tuple[str, str]:
    """The text of a formula, or of its object, and the spelling."""
    return (formula.source, formula.syntax) if isinstance(formula, Program) else (formula, syntax)


# --------------------------------------------------------------------------------------------------------- evaluate
def evaluate(
    formula: str | Program,
    values: Values | None = None,
    /,
    *,
    sizes: Mapping[str, int] | None = None,
    syntax: str = "auto",
    strict: bool = False,
    limits: Limits = DEFAULT,
    **named: Any,
):
    """The value of a formula; of several statements that of the one that no other uses, the last of such.

    `values` and keywords give tensors and numbers by the names that the formula uses; `sizes` the sizes of axes that
    nothing else fixes; `syntax` is "text", "latex" or "auto". With `strict`, an outer product that may be unintended is
    an error, and so is a definition that replaces a built-in function, of which else a NotationWarning tells. Raises
    NotationError for anything that is wrong with the formula or with what it is given.

    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.evaluate("∑_{width} A", A=A).to_array().tolist()
    [8.0, 15.0]
    """
    known = None
    if sizes is None and syntax == "auto" and not strict and limits is DEFAULT:  # what is known needs no more than this
        try:
            if values is None:
                names, again = AGAIN[formula]
                if (*named,) == names:
                    result = again((*named.values(),))
                    if result is not None:
                        return result
        except Exception:  # whatever it is, the long way tells it well
            pass
        try:
            if values is None:
                given = named
                known = (formula, USER_FUNCTIONS.version, *given, *map(LAYOUT, given.values()))
            else:  # which may hold more than the formula uses
                given = {**values, **named} if named else values
                known = (formula, USER_FUNCTIONS.version, *given, *map(LAYOUT, given.values()), (type(values), *named))
            found = KNOWN.get(known)
        except (AttributeError, TypeError):
            found = known = None
        if found is not None:
            if values is None:
                AGAIN.repeat(formula, (*named,), found.repeated((), named))
            return found.known(*map(ARRAY, given.values()))  # type: ignore[misc]
    try:
        if not isinstance(limits, Limits):
            raise wrong(limits, "limits=", "of the kind Limits", "write limits=nt.Limits(steps=10**7)")
        if isinstance(formula, Program) and formula._last is not None:
            return _called(formula, values, sizes, strict or limits is not DEFAULT, named)
        source, syntax = written(formula, syntax)
        check_source(source, syntax)
        given = Arguments(source, all_values(values, named))
        bundle = given.with_numbers(source, lambda inputs: scope_of(source, syntax, inputs, limits))
        known = known if bundle is given else None  # a plan for this number serves no other
        extent = None if sizes is None else whole_sizes(sizes)
        mark = (
            source,
            syntax,
            bundle.mark,
            tuple(extent.items()) if extent else (),
            strict,
            limits,
            USER_FUNCTIONS.version,
        )
        names = told_names(values, named)
        compiled = serving(PLANS.fetch(mark), names)
        if compiled is None:
            compiled = PLANS.store(mark, compile_formula(source, syntax, bundle, extent, strict, limits, (), names))
            tell_replaced(compiled.checker)
        result = compiled(*bundle.arrays.values())
    except NotationError as problem:
        raise problem.alone() from None
    store(KNOWN, known, compiled)
    return result


def _called(function: Program, values: Values | None, sizes: Any, limited: bool, named: dict[str, Any]):
    """The value of a function whose arguments come by name; what the next such call runs is kept as for a text."""
    if limited:
        raise NotationError(
            304, "strict and limits are for a formula that has a value, and this one ends with a function",
            hint="end it with a call of the function",
        )  # fmt: skip
    result = function(values=values, sizes=sizes, **named)
    names, again = function._named
    if values is None and sizes is None and names == (*named,):
        AGAIN.repeat(function, names, again)
    return result


def tell_replaced(checker: Checker) -> None:
    """Give a Python warning of each built-in that a formula replaces, where the formula is first evaluated."""
    for each in checker.scope.replaced:
        message = next(warned.message for warned in checker.warnings if warned.span == each.span)
        warnings.warn(f"{message}: {checker.text(each.span)}", NotationWarning, stacklevel=3)


# --------------------------------------------------------------------------------------------------------- programs


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
    place = as_path(path)
    try:
        text = place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise NotationError(108, f"{place} cannot be read: {problem}") from None
    if syntax == "auto" and place.suffix in (".nt", ".tex"):
        syntax = "text" if place.suffix == ".nt" else "latex"
    return Program(text, syntax)


# ------------------------------------------------------------------------------------------------------------ check


def check(
    formula: str | Program,
    shapes: Values | None = None,
    /,
    *,
    sizes: Mapping[str, int] | None = None,
    syntax: str = "auto",
    **named: Any,
) -> CheckResult:
    """Types without data: the type of every name and sub-expression, every error, and warnings.

    The formula is a text, or what `formula` and `program` give; of a function of such, the type is that of its value for
    arguments of the shapes that are given. Keywords give shapes by name: A="ℝ^{height[3] × width[3]}"; sizes may be left out.
    A mapping of `shapes` may hold more than the formula uses.

    >>> check("∑_{width} A", A="ℝ^{height[3] × width[2]}").type
    'ℝ^{height[3]}'
    """
    return check_given(formula, all_values(shapes, named), sizes, syntax, told_names(shapes, named))


def check_given(
    formula: str | Program, shapes: Mapping[str, Any], sizes: Mapping[str, int] | None, syntax: str,
    told: Iterable[str] | None,
) -> CheckResult:  # fmt: skip
    """What `check` gives; shapes that are not `told` of this formula may be of names that it has not."""
    source, syntax = written(formula, syntax)
    try:
        if isinstance(formula, Program) and formula._last is not None and formula.takes(shapes):
            return check_entry(formula._last, sizes, shapes, told)
        inputs = {key(name): InputType(shape_of(text, name)) for name, text in shapes.items()}
        scope = scope_of(source, syntax, inputs)
        checker = Checker(
            scope, inputs, whole_sizes(sizes), infer_parameters=True, recover=True, python=USER_FUNCTIONS, told=told
        )
    except NotationError as problem:
        return CheckResult(source, None, {}, (), (problem,), ())
    with recursion_headroom(source):
        return _check_all(source, checker)


def check_entry(
    entry: EntryPoint, sizes: Mapping[str, int] | None, shapes: Mapping[str, Any], told: Iterable[str] | None
) -> CheckResult:
    """The same for one name of a program, and what it needs; a function of arguments as its signature has them."""
    from .diagrams import arguments_of

    program = entry.program
    try:
        given = {key(name): InputType(shape_of(text, name)) for name, text in shapes.items()}
        scope = program.scope_given(given)
        called = entry.function(Checker(scope))
        own = [] if called is None else arguments_of(entry, called[0], (), given)
        names = {name for name, _ in own}
        inputs = {name: shape for name, shape in given.items() if name not in names}
        named = None if told is None else [name for name in told if key(name) not in names]
        checker = Checker(
            scope, inputs, whole_sizes(sizes), infer_parameters=True, recover=True, python=USER_FUNCTIONS, told=named,
            besides={axis for _, each in own for axis in each.shape},
        )  # fmt: skip
    except NotationError as problem:
        return CheckResult(program.source, None, {}, (), (problem,), ())
    term = None
    with recursion_headroom(program.source):
        try:
            term = entry.term(checker, [(str(name), shape) for name, shape in own])
        except NotationError as problem:
            checker.note(problem)
        except AlreadyReported:
            pass
        return _report(program.source, checker, term)


def _check_all(source: str, checker: Checker) -> CheckResult:
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
                term = checker.last_term(what)
        except NotationError as problem:
            checker.note(problem)
            continue
        except AlreadyReported:
            continue
        if what is scope.last or (isinstance(scope.last, Definition) and what == scope.last.key) or what is scope.last:
            last = term
    for function in scope.all_functions():
        _check_function(checker, function)
    return _report(source, checker, last)


def _report(source: str, checker: Checker, last: Any) -> CheckResult:
    """What a checker has found, where `last` is the value of the whole."""
    for finish in (checker.solver.check, checker.check_claims):
        try:
            finish()
        except NotationError as problem:
            checker.note(problem)
        except AlreadyReported:
            pass
    types = {str(k): resolved_shape(t.shape) for k, t in {**checker.top.variables, **checker.parameters}.items()}
    types |= checker.types
    steps = _steps(checker)
    return CheckResult(
        source,
        None if last is None else resolved_shape(last.shape),
        types,
        steps,
        tuple(sorted(checker.errors, key=lambda e: e.span or (0, 0))),
        tuple(checker.warnings),
    )


def _check_function(checker: Checker, function: FunctionDefinition) -> None:
    """Check the body of a function that has a signature, for arguments of exactly its shape."""
    if function.signature is None or any(kind == "number" for kind, _ in function.subscript):
        return
    axes = {text: (text,) for kind, text in function.subscript if kind == "axis"}
    indices = {text: text for kind, text in function.superscript if kind == "index"}
    arguments = []
    for name, of in zip(function.parameters, function.signature.domain):
        shape = {axis.name: SizeVariable(f"|{axis.name}|") for axis, _ in of.axes}
        arguments.append(checker.graph.intern("input", options=(f"{function.title} {name.key()}",), shape=shape))
    bindings: Bindings = {"axes": axes, "numbers": {}, "indices": indices}
    try:
        inline_call(
            checker, function, bindings, {}, tuple(arguments), (), function.head, function.head.arguments, checker.top
        )
    except NotationError as problem:
        if problem.number not in (206, 309):
            checker.note(problem)
    except AlreadyReported:
        pass


def _steps(checker: Checker) -> tuple[tuple[str, str], ...]:
    found: dict[tuple[int, int], tuple[str, str]] = {}
    for node, term, _ in checker.trace:
        if node.span not in found and not isinstance(node, Number):
            found[node.span] = (checker.text(node), shown(term.shape))
    return tuple(found.values())


# ---------------------------------------------------------------------------------------------------------- explain
def explain(
    formula: str | Program,
    values: Values | None = None,
    /,
    *,
    sizes: Mapping[str, int] | None = None,
    syntax: str = "auto",
    **named: Any,
):
    """Every step of a formula, in order: sub-formula, its type, its value. It is a text, or what `formula` gives.

    Raises NotationError where `evaluate` would.

    >>> import namedtensor as nt
    >>> [step.text for step in nt.explain("2 x + 1", x=nt.tensor([1, 2], "a"))]
    ['x', '2 x', '2 x + 1']
    """
    if isinstance(formula, Program) and formula._last is not None:
        return formula._last.explain(values=values, sizes=sizes, **named)
    source, syntax = written(formula, syntax)
    bundle = Arguments(source, all_values(values, named))
    bundle = bundle.with_numbers(source, lambda inputs: scope_of(source, syntax, inputs))
    scope, names = scope_of(source, syntax, bundle.inputs), told_names(values, named)
    checker = Checker(scope, bundle.inputs, whole_sizes(sizes), python=USER_FUNCTIONS, told=names)
    tell_replaced(checker)
    last = checker.scope.last
    return explained(checker, checker.whole, last.statement if isinstance(last, Definition) else last, bundle)


def to_javascript(
    formula: str | Program,
    values: Values | None = None,
    /,
    *,
    sizes: Mapping[str, int] | None = None,
    standalone: bool = False,
    syntax: str = "auto",
    **named: Any,
) -> str:
    """The source text of a module of JavaScript, which exports the function `formula`; see `Program.to_javascript`.

    The formula is a text, or what `formula` gives; its parameters are what is given, in this order. Raises NotationError
    where the formula does not fit them, or cannot be said in JavaScript.

    >>> print(to_javascript("2 x", x="ℝ^{a[3]}").splitlines()[4])
      const t1 = nt.multiply(2, x);  // ℝ^{a[3]}
    """
    whole = formula if isinstance(formula, Program) else Formula(formula, syntax)
    return whole.to_javascript(values, sizes=sizes, standalone=standalone, **named)


def derivative(text: str | Program, wrt: str, syntax: str = "auto") -> Formula:
    """The derivative of a formula by a name, itself a formula (paper §5): of a value ∂value/∂X*, of a function f(X) the
    function f'(X) = ∂f(X)/∂X*. The formula is a text, or what `formula` and `derivative` give.

    f : ℝ^{a} → ℝ^{b} gives f' : ℝ^{a} → ℝ^{b × a*}: the axes of what it is taken by are starred, or have the next mark
    (†, **) where a star is taken. Raises NotationError where `wrt` is no name, or stands nowhere in the formula.

    >>> import namedtensor as nt
    >>> derivative("softmax_{ax} X", "X")
    ∂softmax_{ax}(X)/∂X*
    >>> slope = derivative("f(x) = x^3", "x")
    >>> slope, float(slope(2.0))
    (f(x) = x^3
    f'(x) = ∂f(x)/∂x*, 12.0)
    """
    from grammar.printer import to_text

    from ..calculus.formula import differentiate_program

    source, syntax = written(text, syntax)
    return Formula(
        to_text(differentiate_program(source, wrt, parse(source, syntax, functions=frozenset(USER_FUNCTIONS))))
    )


def derivative_of_entry(entry: EntryPoint, wrt: str) -> Formula | EntryPoint:
    """The derivative of a name of a program, in that program: a formula, or the function f' of it."""
    from grammar.printer import to_text

    from ..calculus.formula import differentiate_program, named

    program, function = entry.program, entry._focused.last_function()
    of = named(entry.name) if function is None else function
    found = Formula(to_text(differentiate_program(program.source, wrt, program.tree, of)))
    return found if function is None else found[str(entry.key._replace(base=f"{entry.key.base}'"))]
