"""Convert the closed form of a derivative to a program in the notation.

    closed_form("∂(softmax_{a} x)/∂x*", x="ℝ^{a}")         z = softmax_a(x);  D = z ⊙ (I_{a,a*} − z^*)

The closed form replaces each derivative in the program's value. Names that the program defines are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from grammar import nodes
from grammar.cache import cached_property
from grammar.errors import NotationError
from grammar.nodes import Equation, IndexSum
from grammar.parser import parse
from grammar.plain_text import encodable
from grammar.printer import to_latex, to_text

from ..calculus.stars import with_distinct_marks
from ..core.settings import recursion_headroom
from ..core.sizes import SizeVariable
from ..core.warned import silent
from ..display.derivations import StepTable
from ..programs.arguments import shape_of
from ..programs.program import Formula, Program
from ..scope.binder import bind
from ..scope.names import key, walk
from ..symbolic.from_terms import NotReadableError
from ..symbolic.naming import words_of
from ..symbolic.spelling import UnwritableError
from ..symbolic.work import MAX_WORK_OPERATIONS, TooLongError, open_budget, working
from .identification import DerivativeProgram, list_facts_used, make_closed_program, sizes_said
from .least_shapes import find_derivative_variables, with_shapes
from .orders import way_to
from .reading import Shapes, equations_about_themselves, equations_of, needed
from .steps import DerivationStep, DerivationSteps

UNKNOWN_SIZES = (309, 304, 313)


@dataclass(frozen=True)
class ClosedForm:
    """The closed form of a derivative. `expression` is a program, and `rules` counts the uses of each rule.

    The first access to `expression` compares the closed form with the derivative at random points. It raises
    NotationError 405 if they differ.
    """

    _typed: DerivativeProgram
    _unchecked: Formula
    _valued: nodes.Program  # The closed form as a program with a value.
    rules: dict[str, int]
    length: int
    _find_steps: Callable[[], DerivationSteps]
    _cut_note: str = ""

    @cached_property
    def _comparison_note(self) -> str:
        """Compare the closed form with the derivative. Return "", or the reason for an incomplete comparison."""
        try:
            import numpy  # noqa: F401
        except ImportError:
            return "not compared with ∂, which needs NumPy"
        from .agreement import Comparison

        return Comparison(self._typed, self._valued)()

    @property
    def expression(self) -> Formula:
        """The closed form as a program.

        The first access raises NotationError if the closed form differs from the derivative at a random point.
        """
        _ = self._comparison_note
        return self._unchecked

    @cached_property
    def conditions(self) -> tuple[str, ...]:
        """Return the conditions under which the closed form is equal to the derivative.

        For example, they are ("x ≠ 0",) if the closed form divides by x.
        """
        from ..programs.conditions import Conditions

        with recursion_headroom(self._unchecked.source):
            *before, last = self._typed.tree.statements
            closed = self._unchecked.tree.statements
            conditions = Conditions((*self._typed.tree.statements, *closed), map(key, self._typed.shapes))
            for statement in (*needed(tuple(before), words_of(last)), last, *closed):
                if isinstance(statement, nodes.Value):
                    conditions.visit(statement.body, True)
                elif isinstance(statement, Equation) and statement.range is None:
                    conditions.visit(statement.sides[-1], statement not in closed)
        comparisons = (f"{to_text(operand)} {comparison}" for operand, comparison in conditions.compared.values())
        return (*comparisons, *conditions.further)

    @property
    def note(self) -> str:
        """The reasons why the closed form may be too long or was not compared with the derivative, or ""."""
        return "; ".join(filter(None, (self._cut_note, self._comparison_note)))

    @encodable
    def __str__(self) -> str:
        conditions = ", ".join(self.conditions)
        return f"{self.to_text()}  # if {conditions}" if conditions else self.to_text()

    __repr__ = __str__

    def to_text(self, ascii: bool = False) -> str:
        return self.expression.to_text(ascii=ascii)

    def to_latex(self, macros: bool = False, steps: bool = False) -> str:
        """Convert the closed form to LaTeX, with its derivation if `steps` is true.

        `macros` selects the paper's macros.
        """
        if not steps:
            return self.expression.to_latex(macros=macros)
        lines = [
            to_latex(nodes.Program((statement,)), macros=macros).replace(" = ", " &= ", 1)
            for statement in self.definitions
        ]
        lines += [step.to_latex(macros) for step in self.steps]
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    @cached_property
    def _way(self) -> DerivationSteps:
        _ = self.expression  # A formula that is wrong has no derivation.
        return self._find_steps()

    @property
    def steps(self) -> StepTable:
        """The derivation of the closed form.

        It contains one equation per subexpression of the derivative, with the rule that justifies it.
        """
        step_table = StepTable(self._way.steps)
        step_table.way = self
        return step_table

    @property
    def names(self) -> tuple[Equation, ...]:
        """The equations that name the subexpressions of the derivative, for use in the steps."""
        return self._way.names

    @cached_property
    def derivation(self) -> Formula:
        """Return the derivation as a program: the names of the subexpressions, their differentials, and the result."""
        if not self.steps:
            return self.expression
        equations: dict[Any, Equation] = {}
        for step in self.steps:  # An equation that holds by an assumption adds a side to its name's equation.
            head, *sides = step.node.sides
            before = equations.get(head) if step.since is not None else None
            equations[head] = step.node if before is None else replace(before, sides=(*before.sides, *sides))
        closed = self.expression.tree.statements[-1]
        last = () if closed.sides[0] in equations else (closed,)
        return Formula(to_text(nodes.Program((*self.definitions, *equations.values(), *last))))

    @property
    def program(self) -> Formula:
        """The closed form, with all definitions that it uses."""
        return self.expression

    @cached_property
    def named(self) -> Program:
        """Return the program that defines the names in the steps.

        To check a step, append its equation to this program.
        """
        return Program(to_text(nodes.Program(self.definitions)))

    @property
    def definitions(self) -> tuple[Any, ...]:
        """The statements that the steps need: the names of the subexpressions, and the program's other definitions."""
        restated = {(name.sides[0], name.range) for name in self.names}
        restated |= {(step.node.sides[0], step.node.range) for step in self.steps if len(step.node.sides) > 2}
        result: dict[str, Any] = {}
        for statement in (*self._way.kept, *self.expression.tree.statements[:-1]):
            if not (isinstance(statement, Equation) and (statement.sides[0], statement.range) in restated):
                result[to_text(statement)] = statement
        return (*result.values(), *self.names)

    def check(self, values: Mapping[str, Any] | None = None, /, *, sizes: Any = None, **named: Any) -> None:
        """Check the steps and the closed form for given tensors. Raise NotationError if an equation is false."""
        tree = self.derivation.tree
        texts = {str(name) for name in bind(self.derivation.source, tree).definitions}
        texts -= equations_about_themselves(tree)
        inputs = {name: value for name, value in (values or {}).items() if name not in texts}
        with silent():
            self.derivation.evaluate({**inputs, **named}, sizes=sizes)

    def explain(self, values: Mapping[str, Any] | None = None, /, *, sizes: Any = None, **named: Any) -> Any:
        """Explain the evaluation of the closed form, with the type and the value of each subexpression."""
        return self.expression.explain(values={**(values or {}), **named}, sizes=sizes)

    def _repr_latex_(self) -> str:
        conditions = ", ".join(to_latex(parse(condition, "text")) for condition in self.conditions)
        text = self.expression._repr_latex_()
        return f"{text} if ${conditions}$" if conditions else text

    def __call__(self, *arguments: Any, **values: Any) -> Any:
        with silent():
            return self.expression(*arguments, **values)


def closed_form(
    program: Any, shapes: Mapping[str, Any], sizes: Mapping[str, int] | None = None, limit: int = MAX_WORK_OPERATIONS
):
    """Return the closed form of the derivatives in a program's value. `shapes` has the form that `check` accepts.

    Raise NotationError if a derivative has no closed form, or if the work exceeds `limit`.
    """
    tree, given = with_distinct_marks(program.tree), strip_unknown_sizes(shapes)
    axes = axes_given(given)
    numbers = {name: size for name, size in (sizes or {}).items() if name not in axes}
    scope = bind(program.source, tree, open=True)
    tree, finish = make_value_program(scope, tree)
    typed = DerivativeProgram(program.source, tree, given, numbers, limit)
    with recursion_headroom(program.source), open_budget(limit):
        stepped = finish is None and (scope.families or any(isinstance(node, IndexSum) for node in walk(tree)))
        stepwise = derive_by_steps(typed) if stepped else None
        if stepwise is not None:
            return stepwise
        try:
            return with_shapes(given, lambda some: _derive_closed_form(replace(typed, shapes=some), finish), tree)
        except NotationError as problem:
            if problem.code not in UNKNOWN_SIZES:
                raise
            return _derive_closed_form(replace(typed, shapes=read_shapes(shapes), sizes=dict(sizes or {})), finish)


def derive_by_steps(typed: DerivativeProgram) -> ClosedForm | None:
    """Return the derivative of a recurrence as a recurrence, or None if this is not possible."""
    from .adjoints import recurrent

    def derive(shapes: Shapes) -> tuple[DerivativeProgram, Any]:
        some = replace(typed, shapes=read_shapes(shapes))
        return some, recurrent(some)

    tree, variables = typed.tree, find_derivative_variables(typed.tree)  # With respect to r, r^k is a power.
    with working(limit=typed.limit) as work:
        try:
            typed, result = with_shapes({**dict.fromkeys(variables, {}), **typed.shapes}, derive, tree)
        except (NotReadableError, UnwritableError, TooLongError, ArithmeticError, NotationError):
            return None
    if result is None:
        return None
    program, length, way = result
    formulas = tuple(equation.sides[1] for equation in equations_of(program))
    facts = [fact for fact in tree.statements if to_text(number_single_step(fact)) in work.rules]
    sizes = sizes_said(formulas, work.made, axes_given(typed.shapes))
    program = nodes.Program((*sizes, *with_facts(facts, tree, program.statements)))
    given = (DerivationStep("given", fact) for fact in facts if isinstance(fact, Equation))
    statements = tuple(with_facts(facts, tree, way.kept)) if facts else way.kept
    way = replace(way, steps=(*given, *way.steps), kept=statements)
    return ClosedForm(typed, Formula(to_text(program)), program, dict(work.rules), length, lambda: way)


def number_single_step(fact: Any) -> Any:
    return replace(fact, range=None) if isinstance(fact, Equation) else fact


def with_facts(facts: Sequence[Any], tree: nodes.Program, statements: Sequence[Any]) -> list[Any]:
    """Return the assumptions, the definitions that they need, and the statements, without duplicates."""
    declared = needed(tree.statements, set().union(*map(words_of, facts)))
    return [*(statement for statement in (*declared, *facts) if statement not in statements), *statements]


def axes_given(shapes: Mapping[str, Mapping[str, Any]]) -> set[str]:
    return {axis for shape in shapes.values() for axis in shape}


def read_shapes(shapes: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: shape_of(text, name) for name, text in shapes.items()}


def strip_unknown_sizes(shapes: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Replace each size in the shapes with an unknown size, so that |ax| stays symbolic."""
    return {name: {axis: SizeVariable(f"|{axis}|") for axis in shape} for name, shape in read_shapes(shapes).items()}


def make_value_program(scope: Any, tree: nodes.Program):
    """Return a program with the derivative as its value, and the statements to restore, or None if nothing has changed.

    If the program ends with f'(X) = ∂f(X)/∂X*, the value is the right-hand side. The signatures of f' and the left-hand
    side are to be restored.
    """
    last = tree.statements[-1] if tree.statements else None
    if isinstance(last, Equation) and len(last.sides) == 2 and isinstance(last.sides[1], nodes.Derivative):
        head = last.sides[0]
        if isinstance(head, nodes.Call) and scope.last is None:
            statements = tuple(
                statement for statement in tree.statements[:-1]
                if not (isinstance(statement, nodes.Signature) and statement.head.operator == head.operator)
            )  # fmt: skip
            local = tuple(statement for statement in tree.statements[:-1] if statement not in statements)
            return replace(tree, statements=(*statements, nodes.Value(last.sides[1]))), (local, head)
    return tree, None


def _derive_closed_form(typed: DerivativeProgram, finish: tuple[tuple[Any, ...], nodes.Call] | None) -> ClosedForm:
    local, title = ((), "D") if finish is None else finish
    if finish is not None:
        typed = replace(typed, shapes={**parameter_shapes(bind(typed.source, typed.tree), finish[1]), **typed.shapes})
    reading, work, facts = typed.with_needed_facts()
    make = partial(make_closed_program, typed.tree, reading, members=work.made, given=axes_given(typed.shapes))
    closed = make(title, local, facts=facts)
    facts += [fact for fact in list_facts_used(work) if fact not in facts] if work.facts.all else []
    valued = closed if finish is None else make(facts=facts)
    way = partial(way_to, typed, closed, finish is None, facts)
    note = f"it may be longer than need be: its simplification ended at {typed.limit:,} operations"
    note = note if work.budget.cut else ""
    return ClosedForm(typed, Formula(to_text(closed)), valued, dict(work.rules), reading.length, way, note)


def parameter_shapes(scope: Any, head: nodes.Call) -> dict[str, dict[str, Any]]:
    """Return the shapes of a function's parameters according to its signature."""
    name = head.operator.rstrip("'")
    result: dict[str, dict[str, Any]] = {}
    for function in scope.all_functions():
        if function.operator == name and function.signature is not None:
            for parameter, of in zip(function.parameters, function.signature.domain):
                result[str(parameter.key())] = {axis.name: SizeVariable(f"|{axis.name}|") for axis, _ in of.axes}
    return result
