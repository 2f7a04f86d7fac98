"""A derivative worked out: its closed form as a program of the notation.

    worked_out("∂(softmax_{a} x)/∂x*", x="ℝ^{a}")         z = softmax_a(x);  D = z ⊙ (I_{a,a*} − z^*)

Every derivative that stands in the value of a program is worked out; the program's own names stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Equation, Node
from grammar.printer import to_text

from ..core.limits import recursion_headroom
from ..core.sizes import SizeVariable
from ..operators.user_functions import USER_FUNCTIONS
from ..programs.arguments import shape_of
from ..programs.program import Formula, Program
from ..scope.binder import bind
from ..scope.names import Key, key
from ..symbolic import algebra
from ..symbolic.factoring import factored
from ..symbolic.folding import Named, folded
from ..symbolic.forms import Form, Index, head
from ..symbolic.from_terms import Forms, NotReadable
from ..symbolic.known import recognized
from ..symbolic.linearizing import ReadingChecker, change_of
from ..symbolic.naming import Reading, Where, names_left, read, words_of
from ..symbolic.read_back import Unwritable
from ..symbolic.spelling import named, with_axes
from ..symbolic.work import LIMIT, TooLong, Work, working
from ..terms.environment import source_name
from ..terms.inference import InputType
from ..terms.terms import Term, topological
from .least_shapes import with_shapes
from .needed import needed
from .steps import Step, Steps, steps_of

UNKNOWN_SIZES = (309, 304, 313)
MEMBERS = 64  # of a family that are looked at


@dataclass(frozen=True)
class WorkedOut:
    """The closed form of a derivative: `closed` is a program of the notation, `laws` says which were used how often."""

    closed: Formula
    laws: dict[str, int]
    length: int
    names: tuple[Equation, ...] = ()
    steps: tuple[Step, ...] = ()

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def to_text(self, ascii: bool = False) -> str:
        return self.closed.to_text(ascii=ascii)

    def to_latex(self, macros: bool = False, steps: bool = False) -> str:
        """The closed form in LaTeX, or in the paper's macros; with `steps`, the way there, each = with its rule over it."""
        from grammar.printer import to_latex

        if not steps:
            return self.closed.to_latex(macros=macros)
        *before, last = self.derivation.tree.statements
        equations = [step.node for step in self.steps]
        named = [each for each in before if each not in equations]
        assert isinstance(last, Equation)
        lines = [to_latex(nodes.Program((each,)), macros=macros).replace(" = ", " &= ", 1) for each in named]
        lines += [step.to_latex(macros) for step in self.steps]
        lines.append(Step("identification", last).to_latex(macros))
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    @cached_property
    def derivation(self) -> Formula:
        """The program of all steps: names of the parts, the equations of their differentials, the closed form."""
        last = self.closed.tree.statements[-1]
        return Formula(to_text(nodes.Program((*self._definitions, *(step.node for step in self.steps), last))))

    @property
    def program(self) -> Formula:
        """The closed form with all that it speaks of."""
        return self.closed

    @cached_property
    def named(self) -> Program:
        """The program of the names that the equations of the steps speak of; after it each of them is a claim."""
        return Program(to_text(nodes.Program(self._definitions)))

    @property
    def _definitions(self) -> tuple[Any, ...]:
        """The names of the parts, and the definitions of the closed form that these do not restate."""
        restated = {to_text(each.sides[0]) for each in self.names}
        before = self.closed.tree.statements[:-1]
        kept = [each for each in before if not (isinstance(each, Equation) and to_text(each.sides[0]) in restated)]
        return (*self.names, *kept)

    def check(self, values: Mapping[str, Any] | None = None, /, *, sizes: Any = None, **named: Any) -> None:
        """Check every step and the closed form on tensors. Raises NotationError where an equation does not hold."""
        self.derivation.evaluate({**(values or {}), **named}, sizes=sizes)

    def _repr_latex_(self) -> str:
        return self.closed._repr_latex_()

    def __call__(self, *arguments: Any, **values: Any) -> Any:
        return self.closed(*arguments, **values)


def worked_out(program: Any, shapes: Mapping[str, Any], sizes: Mapping[str, int] | None = None, limit: int = LIMIT):
    """The closed form of the derivatives in a program's value; shapes are given as `check` takes them.

    Raises NotationError where a part has no closed form, or the work passes the limit.
    """
    source, tree = program.source, program.tree
    axes = {axis for shape in read_shapes(shapes).values() for axis in shape}
    numbers = {name: size for name, size in (sizes or {}).items() if name not in axes}
    tree, finish = as_value(bind(source, tree, open=True), tree)
    with recursion_headroom(source):
        try:
            return with_shapes(
                stripped(shapes), lambda some: _worked_out(source, tree, finish, some, numbers, limit), tree
            )
        except NotationError as problem:
            if problem.number not in UNKNOWN_SIZES:
                raise
            return _worked_out(source, tree, finish, read_shapes(shapes), dict(sizes or {}), limit)


def read_shapes(shapes: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: shape_of(text, name) for name, text in shapes.items()}


def stripped(shapes: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Shapes whose sizes are not known: |ax| is to stay as it is written."""
    return {name: {axis: SizeVariable(f"|{axis}|") for axis in shape} for name, shape in read_shapes(shapes).items()}


def as_value(scope: Any, tree: nodes.Program):
    """The program whose value is the derivative; of f'(X) = ∂f(X)/∂X* the right side, and the head to be put back."""
    last = tree.statements[-1] if tree.statements else None
    if isinstance(last, Equation) and len(last.sides) == 2 and isinstance(last.sides[1], nodes.Derivative):
        head = last.sides[0]
        if isinstance(head, nodes.Call) and scope.last is None:
            kept = tuple(
                each for each in tree.statements[:-1]
                if not (isinstance(each, nodes.Signature) and each.head.operator == head.operator)
            )  # fmt: skip
            own = tuple(each for each in tree.statements[:-1] if each not in kept)
            return replace(tree, statements=(*kept, nodes.Value(last.sides[1]))), (own, head)
    return tree, None


def _worked_out(source, tree, finish, shapes, sizes, limit) -> WorkedOut:
    scope = bind(source, tree)
    if finish is not None:
        shapes = {**parameter_shapes(scope, finish[1]), **shapes}
    inputs = {key(name): InputType(shape) for name, shape in shapes.items()}
    checker = ReadingChecker(scope, inputs, sizes, infer_parameters=True, python=USER_FUNCTIONS)
    term = checker.whole()
    with working(limit=limit) as work:
        try:
            reading = closed_form(checker, term, tree)
            parts = steps_to(checker, tree, term, reading)
        except TooLong as problem:
            raise checker.error(
                308, str(problem), tree, hint="give parts names of their own, or a higher limit"
            ) from None
        except (NotReadable, Unwritable, ArithmeticError) as problem:
            node = problem.term.node if isinstance(problem, NotReadable) else None
            raise checker.error(
                405, f"there is no closed form of this{f': {problem}' if str(problem) else ''}", node or tree,
                hint="the derivative itself has a value: evaluate it",
            ) from None  # fmt: skip
    return finished(tree, finish, reading, work, parts)


def steps_to(checker: ReadingChecker, tree: nodes.Program, term: Term, reading: Reading) -> Steps:
    """The steps of the first derivative that was taken; none where a part of it cannot be written."""
    if not checker.taken:
        return Steps((), ())
    words = {word for statement in tree.statements for word in words_of(statement)} | {"D", "I", "e"}
    words |= {each.name for each in reading.names}
    try:
        return steps_of(checker, checker.taken[0], names_of(checker, term), words)
    except (NotReadable, Unwritable, ArithmeticError, NotationError):
        return Steps((), ())


def parameter_shapes(scope: Any, head: nodes.Call) -> dict[str, dict[str, Any]]:
    """The shapes of a function's parameters, as its signature has them."""
    name = head.operator.rstrip("'")
    found = {}
    for function in scope.all_functions():
        if function.operator == name and function.signature is not None:
            for parameter, of in zip(function.parameters, function.signature.domain):
                found[str(parameter.key())] = {axis.name: SizeVariable(f"|{axis.name}|") for axis, _ in of.axes}
    return found


def closed_form(checker: ReadingChecker, term: Term, tree: nodes.Program) -> Reading:
    names = names_of(checker, term)
    forms = Forms(names)
    form = forms.of(term)
    values = values_named(checker, names, forms)
    form = recognized(folded(form, values))
    outside = {index: axis for (axis, _), index in forms.free.items()}
    form = algebra.add(form)
    standing = {outside[index] for index in seen(form) if index in outside}
    missing = [source_name(axis) for axis in term.shape if axis not in standing]
    taken = {word for statement in tree.statements for word in words_of(statement)} | {"D", "I", "e"}

    def write(writer: Any, form: Form) -> Node:
        return with_axes(writer.form(form, outside), missing)

    if forms.cut:
        return of_parts(forms, lambda some: recognized(folded(some, values)), form, write, outside, taken)
    ways = {factored(form): None}
    if any(factor.head.kind == "bracket" for product in form for factor in product.factors):
        ways[factored(algebra.multiplied_out(form))] = None
    return min((read(write, each, taken) for each in ways), key=lambda reading: reading.length)


def of_parts(forms: Forms, simplified: Any, form: Form, write: Any, outside: Any, taken: set[str]) -> Reading:
    """The derivatives of parts that are names, one after the other, and the whole by these."""
    names: list[Where] = []
    taken = taken | {"G"}
    for cut in (*forms.cut, None):
        if cut is None:
            found = read(write, factored(form), taken)
        else:
            found = read(lambda writer, each: writer.form(each, outside), factored(simplified(cut.form)), taken)
        taken = taken | {each.name for each in found.names}
        names += found.names
        if cut is None:
            return Reading(found.node, tuple(names))
        names.append(Where(cut.name, found.node))
    raise AssertionError


def seen(form: Form) -> set[Index]:
    return {index for product in form for index in product.indices()}


def names_of(checker: ReadingChecker, whole: Term) -> dict[int, str]:
    """The terms that the program's definitions name, but those that a derivative is in."""
    found: dict[int, str] = {}
    for name in (*checker.scope.definitions, *members(checker)):
        term = checker.find(name, checker.top, None)
        while term is not None and term.operator == "variable" and change_of(term) is None:
            term = term.arguments[0]
        if term is None or term is whole or term.operator in ("input", "number", "unknown"):
            continue
        if not any(change_of(each) is not None for each in topological(term)):
            found[id(term)] = str(name)
    return found


def members(checker: ReadingChecker) -> Iterator[Key]:
    """The members of the families that count one by one: h^1, h^2, …"""
    for family in checker.scope.families:
        base = family.key._replace(superscript=())
        if len(family.key.superscript) != 1 or family.key.subscript:
            continue
        for number in range(1, MEMBERS):
            name = base._replace(superscript=(str(number),))
            try:
                if checker.find(name, checker.top, None) is None:
                    break
            except NotationError:
                break
            yield name


def values_named(checker: ReadingChecker, names: Mapping[int, str], forms: Forms) -> list[Named]:
    """What the names stand for, where that is a product of several factors."""
    found = []
    for name in checker.scope.definitions:
        term = checker.find(name, checker.top, None)
        while term is not None and term.operator == "variable" and change_of(term) is None:
            term = term.arguments[0]
        if term is None or id(term) not in names:
            continue
        without = Forms({each: text for each, text in names.items() if each != id(term)})
        without.free = forms.free
        try:
            (product,) = without.of(term)
        except (NotReadable, ValueError, ArithmeticError):
            continue
        of = forms.indices(term)
        if len(product.factors) > 1 and set(of) == product.indices():
            found.append(Named(head("tensor", names[id(term)], tuple(map(source_name, term.shape))), of, product))
    return found


def finished(tree: nodes.Program, finish: Any, reading: Reading, work: Work, parts: Steps) -> WorkedOut:
    """The program that has the closed form as its value."""
    from grammar.printer import to_text

    lines = [Equation((named(each.name), each.node)) for each in reading.names]
    if finish is None:
        taken = {word for statement in tree.statements for word in words_of(statement)}
        title: Node = named("D" if "D" not in taken else next(names_left(taken)))
        before: tuple[Any, ...] = ()
    else:
        before, title = finish
    equations = (*parts.names, *(step.node for step in parts.steps))
    wanted = set(words_of(reading.node)).union(*(words_of(each.node) for each in reading.names))
    for equation in equations:
        wanted |= words_of(equation)
    kept = needed(tree.statements[:-1], wanted)
    statements = (*kept, *lines, *before, Equation((title, reading.node)))
    closed = Formula(to_text(nodes.Program(statements)))
    return WorkedOut(closed, dict(work.laws), reading.length, parts.names, parts.steps)
