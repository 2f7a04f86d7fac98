"""From a string to a value: the whole way in one place.

    str -> nodes -> scope -> typed tree -> plan -> NamedTensor

Parsing is cached by text, planning by the types of what is given; a repeated call looks up and runs.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from grammar.errors import NotationError, NotationWarning
from grammar.nodes import Number
from grammar.parser import parse

from .check import Checker
from .checked import Checked, Input, Poisoned
from .compiled import (
    AGAIN,
    ARRAY,
    KNOWN,
    LAYOUT,
    PLANS,
    Bundle,
    Values,
    all_values,
    compile_formula,
    keep,
    scope_of,
    whole_sizes,
)
from .explain import explained
from .given_shapes import shape_of
from .lifting import Bindings, enter
from .limits import DEFAULT, Limits, deep
from .misfits import shown
from .names import Key, key
from .programs import Formula, Program
from .registered import PYTHON
from .scope import Definition, Function
from .sizes import Unknown
from .terms import resolve


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
    """The value of a formula; of several statements that of the one that no other uses, the last of such.

    `values` and keywords give tensors and numbers by the names that the formula uses; `sizes` the sizes of axes that
    nothing else fixes; `syntax` is "text", "latex" or "auto". With `strict`, an outer product that may be unintended is
    an error, and so is a definition that replaces a built-in function, of which else a NotationWarning tells. Raises
    NotationError for anything that is wrong with the formula or with what it is given.

    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> nt.evaluate("∑_{width} A", A=A).to_array().tolist()
    [8, 15]
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
            given = named if values is None else {**values, **named} if named else values
            known = (formula, PYTHON.version, *given, *map(LAYOUT, given.values()))
            found = KNOWN.get(known)
        except (AttributeError, TypeError):
            found = known = None
        if found is not None:
            if values is None:
                AGAIN.repeat(formula, (*named,), found.repeated((), named))
            return found.known(*map(ARRAY, given.values()))  # type: ignore[misc]
    try:
        given = Bundle(formula, all_values(values, named))
        bundle = given.with_numbers(formula, lambda inputs: scope_of(formula, syntax, inputs, limits.nesting))
        known = known if bundle is given else None  # a plan for this number serves no other
        extent = whole_sizes(sizes) if sizes else None
        mark = (formula, syntax, bundle.mark, tuple(extent.items()) if extent else (), strict, limits, PYTHON.version)
        compiled = PLANS.fetch(mark)
        if compiled is None:
            compiled = PLANS.store(mark, compile_formula(formula, syntax, bundle, extent, strict, limits))
            tell_replaced(compiled.checker)
        result = compiled(*bundle.arrays.values())
    except NotationError as problem:
        raise problem.alone() from None
    keep(KNOWN, known, compiled)
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
        scope = scope_of(formula, syntax, inputs)
        checker = Checker(scope, inputs, whole_sizes(sizes), demand=True, collect=True, python=PYTHON)
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
                term = checker.last_term(what)
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
    bindings: Bindings = {"axes": axes, "numbers": {}, "indices": indices}
    try:
        enter(
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
    bundle = Bundle(formula, all_values(values, named))
    bundle = bundle.with_numbers(formula, lambda inputs: scope_of(formula, syntax, inputs))
    scope = scope_of(formula, syntax, bundle.inputs)
    checker = Checker(scope, bundle.inputs, whole_sizes(sizes), python=PYTHON)
    tell_replaced(checker)
    last = checker.scope.last
    return explained(checker, checker.whole, last.statement if isinstance(last, Definition) else last, bundle)


def derivative(text: str, wrt: str, syntax: str = "auto") -> Formula:
    """The derivative of a formula by a name, itself a formula (paper §5): of a value ∂value/∂X*, of a function f(X) the
    function f'(X) = ∂f(X)/∂X*.

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

    from .derived import derived

    return Formula(to_text(derived(text, wrt, parse(text, syntax, functions=frozenset(PYTHON)))))
