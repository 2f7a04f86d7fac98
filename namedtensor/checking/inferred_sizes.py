"""Infer axis sizes from the types of expressions, such as literals, splits, concatenations and calls.

For example, in `Y = [3, 1]_{a}`, `Y / |a|`, the inputs lack the axis a, but |a| is 2. The size of an axis comes from
inputs, then from declarations and size equations. If it is still unknown, a separate checker types the scope's
equations to find their axes. Statements may be in any order, so an equation may need the size that is being inferred.
Such an equation fails only in the separate checker, which then types the operands of the equation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Axis, Call, Node, Size, axis_of
from grammar.traversal import children

from ..core.sizes import is_ground, resolve
from ..scope.names import walk
from ..scope.symbols import Definition
from ..terms.environment import Environment
from ..terms.inference import AlreadyReportedError, Inference
from ..terms.terms import Term, TermGraph

MAX_PIECES = 20_000  # The maximum number of expressions that are typed to infer sizes.
PIECES_OF_A_REPEAT = 20  # The estimated cost of repeating a question without an answer.
MAX_ROUNDS = 8  # The maximum number of rounds for questions that depend on each other.
Question: TypeAlias = tuple[str, Any]  # An axis, and the cache key of an environment.
AxisSizes: TypeAlias = dict[int, str]  # Maps each size of an axis to its source.


def infer_size(checker: Inference, axis: str, environment: Environment, node: Any) -> int | None:
    """Infer the size of an axis from the expressions in a call or program. Return None if this is not possible.

    Raise an error if the inferred sizes conflict.
    """
    if not may_make(checker, axis, environment):
        return None
    if checker.size_inference is None:
        checker.size_inference = SizeInference(checker)
    sizes = checker.size_inference.sizes(axis, environment)
    if len(sizes) > 1:
        raise several_sizes(checker, axis, [(source, size) for size, source in sizes.items()], node)
    return next(iter(sizes), None)


def several_sizes(checker: Inference, axis: str, sources: list[tuple[str, Any]], node: Any) -> NotationError:
    return checker.error(
        302,
        f"|{axis}| is ambiguous: axis {axis} has several sizes here",
        node,
        notes=(f"axis {axis} has size " + ", ".join(f"{resolve(size)} in {source}" for source, size in sources[:3]),),
        hint="rename one of the axes, so that each has one size",
    )


def find_axis_names(checker: Inference, axis: str, environment: Environment) -> set[str]:
    """Return all names of an axis in an environment, including the axis parameters of enclosing calls."""
    return {axis, *(formal for env in environment.outward for formal, real in env.axes.items() if axis in real)}


def may_make(checker: Inference, axis: str, environment: Environment) -> bool:
    """Return whether an expression may create an axis, because it names the axis or calls a Python function."""
    if checker.axes_named is None:
        checker.axes_named = frozenset(axis.name for axis in axes_named(checker.scope.program))
    return bool(checker.axes_named & find_axis_names(checker, axis, environment) or checker.python)


def axes_named(root: Any) -> Iterator[Axis]:
    """Yield the axes that an expression names outside sizes, in source order."""
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Size):
            continue
        if isinstance(node, Axis):
            yield node
        elif isinstance(node, (Call, nodes.Subscript)):
            parts = node.subscript if isinstance(node, Call) else node.components
            yield from filter(None, map(axis_of, parts))
        stack.extend(reversed(children(node)))


class CircularSizeError(NotationError):
    """Raised if the inference of a size requires the size itself."""


class Round:
    """One round of answers to questions that may depend on each other. Each question is evaluated once.

    If a question depends on itself, it uses the answer of the previous round. The first round has no previous answers.
    A round is final if it confirms all previous answers that it used.
    """

    def __init__(self, known: dict[Question, AxisSizes]):
        self.known = known  # The answers of the previous round.
        self.answers: dict[Question, AxisSizes] = {}
        self.open: set[Question] = set()  # The questions that are being answered.
        self.circular: set[Question] = set()  # The questions that depend on themselves.

    def is_final(self) -> bool:
        return all(self.answers.get(question, {}) == self.known.get(question, {}) for question in self.circular)


class SizeInference:
    """An inference of sizes by a separate checker, which leaves the program's recorded types unchanged."""

    def __init__(self, checker: Inference):
        self.checker = checker.fork()
        self.checker.size_inference = self
        self.checker.graph = TermGraph(checker.graph.serials)  # Its environments contain terms of the program's graph.
        self.answers: dict[Question, AxisSizes] = {}
        self.round: Round | None = None  # The current round, or None between questions.
        self.work = 0

    def sizes(self, axis: str, environment: Environment) -> AxisSizes:
        """Return the sizes that an axis has in an environment's equations, with each size's source."""
        question = (axis, cache_key(environment))
        if question in self.answers:
            return self.answers[question]
        if self.round is not None:
            return self.answer_once(question, environment, self.round)
        latest = Round({})
        try:
            for _ in range(MAX_ROUNDS):
                self.round = latest
                if self.answer_once(question, environment, latest) or latest.is_final():
                    break
                latest = Round(latest.answers)
        finally:
            self.round = None
        answer = latest.answers.get(question, {})
        self.answers |= latest.answers if latest.is_final() else {question: answer}
        return answer

    def answer_once(self, question: Question, environment: Environment, current: Round) -> AxisSizes:
        """Return the sizes of an axis in an environment. Compute them at most once per round.

        A failed question is not retried in the same round.
        """
        if question in current.answers:
            self.work += 0 if current.answers[question] else PIECES_OF_A_REPEAT
            return current.answers[question]
        if question in current.open:
            self.work += PIECES_OF_A_REPEAT
            current.circular.add(question)
            if not current.known.get(question):
                raise CircularSizeError(309, f"inferring the size of axis {question[0]} requires that size itself")
            return current.known[question]
        if self.work > MAX_PIECES:
            return {}
        current.open.add(question)
        try:
            answer = self.answer(question[0], self.mirror_environment(environment))
        finally:
            current.open.discard(question)
        current.answers[question] = answer
        return answer

    def answer(self, axis: str, env: Environment) -> AxisSizes:
        self.work += 1
        names = find_axis_names(self.checker, axis, env)
        search = AxisSearch(self, axis, names, env)
        try:
            for key, group in self.checker.definitions_of(env).items():
                if any(search.may_have(definition.statement) for definition in group):
                    bodies = [definition.body for definition in group]
                    search.look(lambda key=key: self.checker.find(key, env, None), bodies, str(key))
            for family in self.checker.families_of(env):
                if family.range is not None and search.may_have(family.statement):
                    search.look(lambda family=family: self.first_member(family, env), [family.body], str(family.key))
            for body in bodies_of(self.checker, env):
                search.part(body)
            for body in search.rest if not search.found else ():
                search.below(body)
        finally:
            self.tidy(env)
        return search.found

    def first_member(self, family: Definition, env: Environment) -> Term | None:
        assert family.range is not None
        first: dict[str, Any] = {}
        for over in family.range.each:
            environment = Environment(parent=env, sizes_parent=env, indices=dict(first))
            first[over.variable.text] = self.checker.solver.value(over.first, environment)
        return self.checker.find(family.name.key(first.get), env, None)

    def tidy(self, env: Environment) -> None:
        """Forget failed evaluations, which may have failed only because the requested size was unknown."""
        for holder in filter(None, (env, env.sizes_parent, self.checker.top)):
            for key in [key for key, result in holder.memo.items() if isinstance(result, NotationError)]:
                del holder.memo[key]
        self.work += len(self.checker.trace)
        self.checker.trace.clear()

    def mirror_environment(self, env: Environment | None) -> Any:
        """Return a copy of an environment for the separate checker, without the terms of its definitions."""
        if env is None or env.parent is None:
            return None if env is None else self.checker.top
        return Environment(
            parent=self.mirror_environment(env.parent),
            sizes_parent=self.mirror_environment(env.sizes_parent),
            caller=self.mirror_environment(env.caller),
            function=env.function,
            call=env.call,
            depth=env.depth,
            variables=dict(env.variables),
            axes=env.axes,
            indices=env.indices,
            sizes=dict(env.sizes),
            scalars=dict(env.scalars),
            extras=env.extras,
            active=env.active,
        )


class AxisSearch:
    """A search for the sizes of one axis.

    `found` contains the sizes found so far, and `rest` contains the remaining expressions.
    """

    def __init__(self, inference: SizeInference, axis: str, names: set[str], env: Environment):
        self.inference, self.axis, self.names, self.env = inference, axis, names, env
        self.found: AxisSizes = {}
        self.rest: list[Node] = []

    def look(self, typed: Callable[[], Term | None], bodies: Iterable[Node], source: str) -> None:
        """Record the size of the axis in a term.

        If the term cannot be typed, search the operands of its expressions. If it lacks the axis, add the expressions
        to `rest`.
        """
        self.inference.work += 1
        term = term_or_none(typed)
        if term is None:
            for body in bodies:
                self.below(body)
            return
        size = resolve(term.shape.get(self.axis))
        if size is None:
            self.rest += bodies
        elif is_ground(size):
            self.found.setdefault(size, source)

    def part(self, node: Node) -> None:
        if self.may_have(node):
            checker = self.inference.checker
            environment = Environment(
                parent=self.env, sizes_parent=self.env, depth=self.env.depth, active=self.env.active
            )
            self.look(lambda: checker.infer(node, environment), [node], checker.text(node))

    def below(self, node: Node) -> None:
        for child in children(node):
            if type(child) in self.inference.checker.RULES and not isinstance(child, Size):
                self.part(child)

    def may_have(self, node: Any) -> bool:
        """Return whether an expression may have the axis because it names the axis or calls a function.

        Return False if the search has reached its limit.
        """
        if self.inference.work + len(self.inference.checker.trace) > MAX_PIECES:
            return False
        scope = self.inference.checker.scope
        names = {*scope.functions, *self.inference.checker.python}
        calls = any(isinstance(part, Call) and part.operator in names for part in walk(node))
        return calls or not self.names.isdisjoint(axis.name for axis in axes_named(node))


def term_or_none(typed: Callable[[], Term | None]) -> Term | None:
    """Return the term that a function computes, or None if it raises an error."""
    try:
        return typed()
    except (NotationError, AlreadyReportedError):
        return None


def cache_key(env: Environment) -> Any:
    """Return a key for an environment.

    Two keys are equal if the functions, axes, indices and argument shapes are equal.
    """
    if env.parent is None:
        return None
    shapes = tuple(
        (key, tuple((axis, resolve(size)) for axis, size in term.shape.items()), term.number)
        for key, term in env.variables.items()
    )
    return id(env.function), tuple(env.axes.items()), tuple(env.indices.items()), shapes


def bodies_of(checker: Inference, env: Environment) -> list[Node]:
    """Return the expressions in a program or function that are outside its definitions."""
    if env.function is not None:
        return [env.function.body]
    claims = [side for claim in checker.scope.claims for side in (claim.left, claim.right)]
    return [body for _, body in checker.scope.values] + [side for side in claims if not isinstance(side, nodes.Set)]
