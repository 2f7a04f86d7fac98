"""Tests of assertions and derivations on random tensors of the documented shapes.

    Y = X ⊙_{chans} W = ∑_{chans} X ⊙ W      with random X and W: proved, holds on 8 random tests, or false

Each assertion is tested as a separate program that contains only the statements that it needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import cycle, islice
from random import Random
from typing import Any

from grammar.cache import cached_property
from grammar.errors import NO_VALUE, SIDES_DIFFER, SIZE_NEEDED, NotationError, Span
from grammar.nodes import Call, Declaration, Derivative, Equation, Fact, Index, Name, Number, Program, Set, Size, Value
from grammar.parser import parse
from grammar.printer import to_text

from ..core.extents import symbols_of
from ..core.sizes import resolve
from ..derivations.equal_forms import has_proof
from ..derivations.least_shapes import Shapes, find_input_shapes, find_least_shapes, infer_shapes, with_fitting_shapes
from ..operators.usage import tensors
from ..programs.arguments import shape_of
from ..programs.conditions import condition_for_all
from ..programs.plain_values import PlainTensor
from ..programs.program_names import read_bars
from ..programs.random_inputs import ORDINARY, find_stated_domains, styles
from ..programs.sampling import Sampler
from ..scope.binder import bind
from ..scope.distributions import depends_on_draws
from ..scope.heads import base_of
from ..scope.names import index_by_key, walk
from ..scope.symbols import FunctionDefinition
from ..scope.uses import is_open, uses_of
from .assumptions import DocumentAssumptions, read_assumptions, said_by_differentials, said_by_side
from .claims import ClaimAlone, claim_alone, claims_alone, drop_declarations, is_of_sizes, letters, unknown_names
from .random_values import FAR, SEEDS, draw_length, evaluate_test, farthest, sample_domain, with_sizes
from .verdicts import CONDITION, FALSE, HOLDS, PROVED, UNSPECIFIED, UNTRIED, Draws, Tried, doubt

MAX_ATTEMPTS = 5  # attempts for each random test that must have a value
RandomTest = Callable[[Mapping[str, PlainTensor], Mapping[str, int]], "Tried | None"]


def try_assertions(
    text: str,
    program: Program,
    shapes: Mapping[str, Any],
    sizes: Mapping[str, int] | None,
    draws: Draws,
    expected: Callable[[Span], bool] = lambda span: True,
    of_rows: Callable[[Span], Any] = lambda span: None,
) -> Iterator[Tried]:
    """Yield the results of testing the assertions of a program, in order.

    `expected` returns whether to test the assertion at a span. `of_rows` returns the signature that applies only to one
    assertion, or None if there is none.
    """
    try:
        shapes_by_key = index_by_key({name: frozenset(shape_of(shape, name)) for name, shape in shapes.items()})
        (program,) = read_bars([program], shapes)
        scope = bind(text, program, shapes_by_key, open=True)
    except NotationError:
        return
    claims = [*claims_alone(scope)]
    known = {*scope.functions, *(signature.head.operator for _, signature in scope.signatures)}
    meanings = said_by_differentials((claim for claim, _ in claims), known)
    conditioned = set[str]()  # the names in conditions: an assertion that mentions one of them may rely on a condition
    for claim, defines in claims:
        if not expected(claim.span):
            continue
        alone = claim_alone(scope, claim, defines, of_rows(claim.span))
        nodes = None if defines else said_by_side(claim, unknown_names(alone, shapes) - meanings.keys())
        if nodes is not None:
            meanings |= nodes
            yield Tried(claim.span, CONDITION, said=f"taken as what {next(iter(nodes))} is")
            continue
        tried = _try_assertion(alone, meanings, shapes, dict(sizes or {}), draws)
        names = set(map(base_of, uses_of(alone.program).names))
        if tried.status == CONDITION:
            conditioned |= names
        fails = tried.status == FALSE or tried.problem is not None
        yield Tried(claim.span, CONDITION) if fails and names & conditioned else tried


def claims_of(
    text: str, program: Program, shapes: Mapping[str, Any], sizes: Mapping[str, int] | None
) -> tuple[Tried, ...]:  # fmt: skip
    """Return the results of testing all assertions of a program."""
    return tuple(try_assertions(text, program, shapes, sizes, Draws()))


def _try_assertion(alone: ClaimAlone, meanings: Mapping[str, Any], shapes: Mapping[str, Any], sizes: dict[str, int], draws: Draws) -> Tried:  # fmt: skip
    """Return the result of testing an assertion.

    If its declarations do not fit, it is tested with the smallest shapes that fit.
    """
    for claim in filter(None, (alone, drop_declarations(alone))):
        try:
            return _Trial(claim, read_assumptions(claim.program, meanings, find_least_shapes), shapes, sizes).outcome(
                draws
            )
        except NotationError as error:
            problem = error
    span, unknown = alone.statement.span, sorted(unknown_names(alone, shapes))
    unmarked = any(isinstance(node, Derivative) and not node.mark for node in walk(alone.statement))
    if problem.code == 303 and unmarked:  # pyright: ignore[reportPossiblyUnboundVariable]
        return Tried(span, UNTRIED, said=problem.message, problem=problem)
    if problem.reason == SIDES_DIFFER and not has_constant_side(
        alone.statement
    ):  # ∑_{a} X = ∑_{b} X = 1 states that each side is 1
        smallest = f", for the smallest shapes of {', '.join(unknown)}" if unknown else ""
        problem = problem.replace(message=problem.message + smallest)
        return Tried(span, UNTRIED, said=_explain_unsaid(unknown) if unknown else problem.message, problem=problem)
    return Tried(span, UNTRIED, said=_explain_unsaid(unknown) if unknown else problem.message)


def has_constant_side(claim: Equation) -> bool:
    """Return whether a side of an assertion contains no name."""
    return any(not any(isinstance(node, Name) for node in walk(side)) for side in claim.sides)


def _explain_unsaid(names: Collection[str]) -> str:
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} not declared"


@dataclass
class _Trial:
    """The test of a single assertion, which has a separate program."""

    alone: ClaimAlone
    assumptions: DocumentAssumptions
    shapes: Mapping[str, Any]
    sizes: dict[str, int]
    given: dict[str, Any] = field(default_factory=dict)  # shapes of the arguments of `function`
    called: dict[str, str] = field(default_factory=dict)  # maps the names of the arguments to the function's parameters
    asked: set[str] = field(default_factory=set)  # missing sizes that an evaluation needs

    @property
    def program(self) -> Program:
        return self.assumptions.program

    @property
    def claim(self) -> Equation:
        return self.assumptions.claim

    @property
    def function(self) -> FunctionDefinition | None:
        return self.alone.function

    def outcome(self, draws: Draws) -> Tried:
        """Return the result of the test. Raise NotationError if the assertion has no type."""
        span = self.claim.span
        source, inputs, shapes = self.inputs()
        assumed = {**self.assumptions.told, **shapes}
        if (
            self.function is None
            and self.claim.range is None
            and not self.asked
            and has_proof(to_text(self.program), inputs)
        ):
            return Tried(span, PROVED, said=self.where_defined, supposed=assumed)
        if any(map(is_open, self.claim.sides)):
            return Tried(span, UNTRIED, said="a limit, or a minimum over all tensors, has a type and no value")
        tried = (self.estimate_verdict if self.is_estimate else self.drawn)(source, inputs, draws)
        if tried.status == FALSE and self.is_condition:
            return Tried(span, CONDITION)
        if tried.status == FALSE and assumed:
            undeclared = sorted(name for name, meaning in assumed.items() if meaning.startswith(("∈", "any ")))
            problem = None if self.asked or UNSPECIFIED in assumed else doubt(tried.said, assumed, undeclared)
            reason = _explain_unsaid(undeclared or assumed)
            return tried._replace(status=UNTRIED, said=reason, supposed=assumed, problem=problem)
        return tried._replace(supposed=assumed)

    @property
    def is_condition(self) -> bool:
        """True if the assertion could be a condition on inputs: one side is constant, and it uses no defined name."""
        heads = (head for head in self.left_sides if not isinstance(head, Call))
        has_names = any(isinstance(node, (Name, Size)) for node in walk(self.claim))
        return has_names and has_constant_side(self.claim) and uses_of(self.claim).words.isdisjoint(map(base_of, heads))

    @property
    def left_sides(self) -> list[Any]:
        """The left-hand sides of the equations that the assertion needs."""
        before = self.program.statements[:-1]
        return [statement.sides[0] for statement in before if isinstance(statement, Equation)]

    # ------------------------------------------------------------------------------------------------- random inputs
    def inputs(self) -> tuple[str, Shapes, dict[str, str]]:
        """Return the program to be evaluated, the shapes of its inputs, and the undeclared shapes as text."""
        shapes = {name: dict(shape_of(shape, name)) for name, shape in self.shapes.items()}
        source, result = self.first_that_is_right(shapes)
        messages = {*shapes, *self.sets, *self.given}
        return source, result, {name: f"∈ {tensors(shape)}" for name, shape in result.items() if name not in messages}

    def first_that_is_right(self, given: Shapes) -> tuple[str, Shapes]:
        """Return the program with the first ending that gives it a type, and the shapes of the program's inputs."""
        first: NotationError | None = None
        for ending in self.endings():
            source = to_text(Program((*self.program.statements, Value(ending, (0, 0)))))
            run = partial(infer_shapes, source, self.sizes)
            try:
                fitting_shapes = with_fitting_shapes(
                    {**given, **self.given}, run, self.program, self.assumptions.widened
                )
            except NotationError as problem:
                first = first or problem
                continue
            self.asked.update(fitting_shapes.ends)
            return source, fitting_shapes.taken
        assert first is not None
        raise first

    def endings(self) -> Iterator[Any]:
        """Yield expressions that could end the program, such as a side of the assertion.

        If a side such as ∂X has no value, the expression is a number.
        """
        if self.function is not None:
            yield self.call(self.function)
            return
        if self.claim.range is None and not self.is_of_elements:
            yield self.claim.sides[0] if self.alone.defines else self.claim.sides[-1]
        yield Number(0, (0, 0))

    @property
    def is_of_elements(self) -> bool:
        """True if the assertion is about all elements because it contains an undefined index.

        An example is A_{h(i), w(j)} = A_{h(j), w(i)}. A single side has no value, because i and j are undefined.
        """
        known = {*self.shapes, *self.sets, *map(base_of, self.left_sides)}
        indexed = (node for node in walk(self.claim) if isinstance(node, Index))
        return any(isinstance(at, Name) and at.text not in known for node in indexed for _, at in node.items)

    def call(self, function: FunctionDefinition) -> Call:
        """Return a call of the derivation's function. Its arguments are new names with the types in the signature."""
        if function.signature is None:
            raise NotationError(304, f"{function.operator} has no signature")
        arguments = []
        for at, argument in enumerate(function.signature.domain):
            name = f"argument{letters(at)}"
            self.given[name] = dict(shape_of(to_text(argument), name))
            self.called[name] = str(function.parameters[at].key()) if at < len(function.parameters) else name
            arguments.append(Name(name, (0, 0)))
        return replace(function.head, arguments=tuple(arguments), parameters=())

    # ---------------------------------------------------------------------------------------------------- the draws
    def drawn(self, source: str, inputs: Shapes, draws: Draws) -> Tried:
        """Test the assertion on random tensors and return the verdict."""

        def test(values: Mapping[str, PlainTensor], sizes: Mapping[str, int]) -> Tried | None:
            return self.failure(source, values, sizes)

        expected = draws.number if inputs else 1
        tried = self.run_tests(source, inputs, draws, styles(MAX_ATTEMPTS * expected), test)
        failure = self.failure_at_boundaries(source, inputs, draws.seed) if inputs and tried.status == HOLDS else None
        return failure or tried

    def run_tests(self, source: str, inputs: Shapes, draws: Draws, styles: Iterable[str], test: RandomTest) -> Tried:
        """Run a test on random tensors of several styles, until a test fails or enough tests have a value."""
        random, seen, last = Random(draws.seed), 0, "nothing fits its sizes"
        for attempt, style in enumerate(styles):
            try:
                sampler, sizes = self.sampler(source, inputs, random)
                failure = test(sampler.inputs(draws.seed + attempt, style), sizes)
            except NotationError as problem:
                if problem.reason == SIZE_NEEDED and problem.symbol is not None:
                    self.asked.add(problem.symbol)
                last = problem.message
                continue
            if failure is not None:
                return failure._replace(draws=seen)
            seen += 1
            if seen == draws.number or not inputs:
                break
        return (
            Tried(self.claim.span, HOLDS, seen if inputs else 0) if seen else Tried(self.claim.span, UNTRIED, said=last)
        )

    def failure(self, source: str, values: Mapping[str, PlainTensor], sizes: Mapping[str, int]) -> Tried | None:
        """Return the result "false" if the assertion fails for these inputs, or None.

        Raise NotationError if the assertion has no value.
        """
        given = {name: value.to_operand() for name, value in values.items()}
        facts, names = self.facts
        if facts:
            evaluate_test(facts, {name: value for name, value in given.items() if name in names}, {})
        try:
            evaluate_test(source, given, sizes)
        except NotationError as problem:
            if problem.code != 403 or problem.source != source or problem.reason == NO_VALUE:
                raise
            drawn = {self.called.get(name, name): value for name, value in given.items()}
            return Tried(self.claim.span, FALSE, 0, problem.message, drawn, step=self.step(problem))
        return None

    def failure_at_boundaries(self, source: str, inputs: Shapes, seed: int) -> Tried | None:
        """Return the result "false" if the assertion fails at a boundary of its program's conditions, or None."""
        try:
            sampler, sizes = self.sampler(source, inputs, Random(seed))
        except NotationError:
            return None
        for values in sampler.boundary_inputs(seed, self.program):
            try:
                failure = self.failure(source, values, sizes)
            except NotationError:
                continue
            if failure is not None:
                return failure
        return None

    def step(self, problem: NotationError) -> Span | None:
        """Return the span of the side of a derivation in which an error occurred, or None."""
        statement = parse(problem.source or "", "text").statements[len(self.program.statements) - 1]
        spans = [side.span for side in statement.sides] if isinstance(statement, Equation) else []
        return self.claim.sides[spans.index(problem.span)].span if problem.span in spans else None

    @property
    def is_estimate(self) -> bool:
        """True if a side depends on random samples, so the assertion can hold only approximately."""
        return depends_on_draws(bind("", self.program, {}, open=True), self.claim.sides)

    def estimate_verdict(self, source: str, inputs: Shapes, draws: Draws) -> Tried:
        """Test an assertion about estimates with several seeds.

        It is false if its sides differ by many standard errors.
        """
        span, first = self.claim.span, self.claim.sides[0]
        if self.function is not None or self.claim.range is not None or self.is_of_elements:
            return Tried(span, UNTRIED, said="it is about estimates, one for each of many")
        differences = [Call("-", (), (), (first, other), (), span, span) for other in self.claim.sides[1:]]

        def test(values: Mapping[str, PlainTensor], sizes: Mapping[str, int]) -> Tried | None:
            given = {name: value.to_operand() for name, value in values.items()}
            for difference in differences:
                text = to_text(Program((*self.program.statements[:-1], Value(difference, span))))
                if (far := farthest(text, given, sizes)) > FAR:
                    message = f"the sides differ by {far:.0f} times what their estimates, with {SEEDS} seeds, differ by"
                    return Tried(span, FALSE, 0, message, given)
            return None

        return self.run_tests(source, inputs, draws, islice(cycle(ORDINARY), draws.number), test)

    def sampler(self, source: str, inputs: Shapes, random: Random) -> tuple[Sampler, dict[str, int]]:
        """Return a sampler of the inputs of a program, and sizes that satisfy the program's size equations."""
        sizes = {**dict.fromkeys(sorted(self.asked), 0), **self.sizes}
        sizes = {name: size or random.randint(2, 3) for name, size in sizes.items()}
        whole = math.prod(sizes[name] for name in self.asked)
        symbols = {
            symbol.name for shape in inputs.values() for size in shape.values() for symbol in symbols_of(resolve(size))
        }
        sizes |= {name: random.randint(2, 3) for name in sorted(symbols - sizes.keys())}
        inputs = {name: with_sizes(shape, sizes) for name, shape in inputs.items()}
        stated = any(map(is_of_sizes, self.program.statements))
        while stated and (free := _free_axis(inputs)):
            sizes[free] = whole * random.randint(1, 3)
            inputs = find_input_shapes(source, sizes, inputs)
        extents: dict[str, int] = {}
        shapes = {
            name: {axis: draw_length(size, extents, random) for axis, size in shape.items()}
            for name, shape in inputs.items()
        }
        known = {**extents, **sizes}
        domains = {name: sample_domain(self.sets.get(name), known, random) for name in shapes}
        return Sampler(shapes, domains | find_stated_domains(self.program.statements), 3), sizes

    @property
    def where_defined(self) -> str:
        """The condition under which the assertion is proved, or "" if both sides are always defined."""
        before = self.program.statements[:-1]
        return condition_for_all([Program((*before, Value(side, (0, 0)))) for side in self.claim.sides])

    @cached_property
    def facts(self) -> tuple[str, frozenset[str]]:
        """Return the assumed conditions as a program, or "" if there are none, and the names in the conditions."""
        stated = tuple(statement for statement in self.program.statements if isinstance(statement, Fact))
        if not stated:
            return "", frozenset()
        program = Program((*stated, Value(Number(0, (0, 0)), (0, 0))))
        return to_text(program), frozenset(map(to_text, walk(program)))

    @cached_property
    def sets(self) -> dict[str, Set]:
        """Return the declared set of each declared name."""
        declared = (statement for statement in self.program.statements if isinstance(statement, Declaration))
        return {to_text(name): statement.sets[0] for statement in declared for name in statement.names}


def _free_axis(inputs: Shapes) -> str | None:
    """Return an axis of the inputs whose size is open, or None."""
    axes = (axis for shape in inputs.values() for axis, size in shape.items() if str(resolve(size)) == f"|{axis}|")
    return next(axes, None)
