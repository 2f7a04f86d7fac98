"""Infer the types of a program for given inputs.

The checker converts the tree to a graph of terms, or raises an error with a hint.

    Checker(scope, inputs, sizes).value(Key("O"))     the Term of a name
    Checker(scope, inputs, sizes).whole()             the Term of the program's value

Each node type has one rule, in a separate module. The checker implements the interface `Inference`, which rules use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from grammar import nodes
from grammar.nodes import Node
from grammar.printer import to_text

from ..core.settings import DEFAULT, Limits
from ..scope.names import Key, Spelled
from ..scope.symbols import Definition, Scope
from ..scope.value_of_program import last_member
from ..terms.environment import Environment, distinct_names, source_name
from ..terms.inference import CheckWarning, Inference, InputType, SizesInterface, format_shape
from ..terms.structural import after_pass, run_pass_checks
from ..terms.terms import Term
from . import calls, cases, draws, families, indexing, literals, lookup, over_sets, renames, substitution, sums
from .claims import check_claims, is_index_axis, warn_of_replaced, with_elements
from .counting import members_defined
from .declarations import prepare_inputs
from .size_solver import SizeSolver
from .unknown_names import unknown_name
from .unused_inputs import GivenNames, refuse_unused


def derivative(checker: Inference, node: nodes.Derivative, env: Environment) -> Term:
    from ..calculus.derivative import derivative  # Load the package calculus only if the program contains a derivative.

    return derivative(checker, node, env)


def differential(checker: Inference, node: nodes.Differential, env: Environment) -> Term:
    from ..calculus.derivative import differential

    return differential(checker, node, env)


class Checker(Inference):
    """The type inference for one program and given inputs. See `Inference` for its modes.

    `by_keyword` contains the names of the inputs that were passed by keyword. If it is given, the program must mention
    each of these names. Each given size must then belong to a name or an axis in the program, to an axis of an input,
    or to `extra_axes`.
    """

    RULES: ClassVar[Mapping[type, Callable[[Any, Any, Environment], Term]]] = {
        nodes.Number: literals.number,
        nodes.Name: lookup.resolve_name,
        nodes.Subscript: lookup.subscript,
        nodes.Superscript: lookup.superscript,
        nodes.Index: indexing.index,
        nodes.Rename: renames.rename,
        nodes.Starred: renames.type_starred,
        nodes.Size: calls.size_rule,
        nodes.Call: calls.call,
        nodes.IndexSum: sums.index_sum,
        nodes.Over: over_sets.type_over_variable,
        nodes.AtPoint: substitution.type_at_point,
        nodes.Draw: draws.draw,
        nodes.Expectation: draws.expectation,
        nodes.Literal: literals.literal,
        nodes.Cases: cases.cases,
        nodes.Indicator: cases.indicator,
        nodes.Differential: differential,
        nodes.Derivative: derivative,
    }

    def __init__(
        self,
        scope: Scope,
        inputs: Mapping[Key, InputType] | None = None,
        sizes: Mapping[str, Any] | None = None,
        infer_parameters: bool = False,
        recover: bool = False,
        strict: bool = False,
        python: Mapping[str, Any] | None = None,
        limits: Limits | None = None,
        by_keyword: Iterable[str] | None = None,
        extra_axes: Iterable[str] = (),
    ):
        super().__init__(
            scope, inputs or {}, sizes or {}, infer_parameters, recover, strict, python or {}, limits or DEFAULT
        )
        self.solver: SizesInterface = SizeSolver(self)
        self.given_names: GivenNames = GivenNames(scope, self.inputs)
        self.steps: int = 0  # The number of trace entries before the assertions.
        self.by_keyword: tuple[str, ...] | None = None if by_keyword is None else tuple(by_keyword)
        self.extra_axes: frozenset[str] = frozenset(extra_axes)
        self.check_unused(misspelt=True)
        prepare_inputs(self, self.given_names.mentioned)
        if scope.replaced:
            warn_of_replaced(self)
        if scope.unused is not None:
            warn_of_unused(self, scope.unused)
        self.top.complete = True

    # --------------------------------------------------------------------------------------------------- entry points
    def whole(self) -> Term:
        """Return the term of the program's value or, without a value, the term of the first assertion's left side.

        Raise NotationError if the program has neither a value nor an assertion.
        """
        last = self.scope.valued
        if last is None:
            functions = ", ".join(function.title for function in self.scope.all_functions())
            raise self.error(
                105,
                "there is no value to compute" + (f", only functions: {functions}" if functions else ""),
                self.scope.program,
                hint="end with an expression to compute, or call a function of the program from Python",
            )
        term = self.last_term(last)
        self.check_stated()
        return self.drop_lifting(term, last.statement.sides[0] if isinstance(last, Definition) else last)

    def last_term(self, last: Any) -> Term:
        """Return the term of the program's value, given its definition or expression."""
        if isinstance(last, Definition):
            return self.definition(last)
        with members_defined(self, last):
            if last is not self.scope.claimed:
                return self.infer(last, self.top)
            term = self.infer(last, with_elements(self, (last,), self.top))
        names = distinct_names(term.shape)
        return self.renamed(term, {axis: names[axis] for axis in term.shape if is_index_axis(axis)}, last)

    def definition(self, definition: Definition) -> Term:
        """Return the term of a definition in the program. For a family, return the term of its last member."""
        with members_defined(self, definition.statement):
            return families.infer_definition(self, definition, self.top)

    def value(self, key: Key) -> Term:
        """Return the term of a name that is defined in the program or is an input."""
        with members_defined(self, self.scope.program):
            term = self.find(key, self.top, None)
        if term is None:
            raise unknown_name(self, key, None, self.top)  # The name does not occur in the formula.
        return term

    def check_stated(self, whole: bool = True) -> None:
        """Check the sizes and assertions of the program, then check that all inputs are used.

        Inputs are checked last, so that errors in the formula take precedence. If `whole` is false, skip assertions
        about names without values.
        """
        self.solver.check()
        self.check_claims(whole)
        self.check_unused()

    def check_unused(self, misspelt: bool = False) -> None:
        """Raise an error if an input that was passed by keyword, or a given size, does not occur in the program.

        If `misspelt` is true, check only inputs that resemble a name in the program.
        """
        if self.by_keyword is not None:
            refuse_unused(
                self.given_names, self.by_keyword, set(self.given_sizes).difference(self.extra_axes), misspelt
            )

    def check_claims(self, whole: bool = True) -> None:
        """Check the shapes of assertions, and record both sides for a later comparison of values."""
        self.steps = len(self.trace)
        if self.scope.claims or self.pending_claims or self.scope.bases_of_families or self.scope.bounded:
            check_claims(self, whole)

    def drop_lifting(self, term: Term, node: Any) -> Term:
        """Return the term with the original name of each axis that lifting has renamed."""
        if after_pass:
            run_pass_checks(term)
        lifted = [axis for axis in term.shape if "@" in axis]
        if not lifted:
            return term
        for axis in lifted:
            if source_name(axis) in term.shape:
                raise self.error(
                    306,
                    f"axis {source_name(axis)} of an input collides with another axis {source_name(axis)} of the result",
                    node,
                    notes=(f"the result has {format_shape({source_name(a): s for a, s in term.shape.items()})}",),
                    hint=f"rename the extra axis {source_name(axis)} of the input",
                )
        return self.renamed(term, {axis: source_name(axis) for axis in lifted}, node)

    # ---------------------------------------------------------------------------------------------- what rules ask
    def find(self, key: Key, env: Environment, node: Any) -> Term | None:
        return lookup.find_term(self, key, env, node)

    def find_spelled(self, name: Spelled, env: Environment, node: Node) -> Term | None:
        return lookup.find_spelled(self, name, env, node)

    def infer_member(self, family: Definition, env: Environment) -> Term:
        return families.infer_member(self, family, env)

    def fork(self, scope: Scope | None = None) -> Checker:
        if scope is not None:
            return Checker(scope, python=self.python)
        return Checker(
            self.scope, self.inputs, self.given_sizes, self.infer_parameters, python=self.python, limits=self.limits
        )


def warn_of_unused(checker: Inference, unused: Definition) -> None:
    """Warn about an unused definition after the program's value. In a strict check, raise an error instead."""
    name, span = to_text(last_member(unused)), unused.statement.span
    message = f"the value is {checker.text(checker.scope.last)}; {name} is defined after it and not used"
    hint = f"write {name} on the last line to compute it, or remove its definition"
    if checker.strict:
        raise checker.error(211, message, span, hint=hint)
    checker.warnings.append(CheckWarning(211, message, span, hint))
