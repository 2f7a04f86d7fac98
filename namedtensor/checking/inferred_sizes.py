"""Infer axis sizes from the types of expressions, such as literals, splits, concatenations and calls.

For example, in `Y = [3, 1]_{a}`, `Y / |a|`, the inputs lack the axis a, but |a| is 2. The size of an axis comes from
inputs, then from declarations and size equations. If it is still unknown, a separate checker types the scope's
equations to find their axes. Statements may be in any order, so an equation may need the size that is being inferred.
The separate checker types such an equation with a variable for the size, and the operands of the equation provide it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Axis, Call, Node, Size, axis_of
from grammar.traversal import children

from ..core.sizes import SizeVariable, is_ground, resolve, unify
from ..scope.names import walk
from ..scope.symbols import Definition
from ..terms.environment import Environment
from ..terms.inference import AlreadyReportedError, Inference
from ..terms.terms import Term, TermGraph

AxisSizes: TypeAlias = dict[Any, str]  # Maps each size of an axis to its source.


def infer_size(checker: Inference, axis: str, scope: Environment, env: Environment, node: Any) -> Any:
    """Infer the size of an axis from the expressions in a call or program. Return None if this is not possible.

    `env` is the environment of the expression that needs the size. Raise an error if the inferred sizes conflict.
    """
    if not may_make(checker, axis, scope):
        return None
    if checker.size_inference is None:
        checker.size_inference = SizeInference(checker)
    sizes = checker.size_inference.sizes(axis, scope, env)
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


class ScopeSizes(NamedTuple):
    """The sizes of the axes in one scope.

    `variables` contains a variable for each size that was requested, and `answers` contains the inferred sizes, with
    their sources. `terms` contains the terms of the typed expressions in the scope, by the node's id. `circular` contains
    the calls whose functions needed the size of an axis of this scope before it was known.
    """

    env: Environment
    variables: dict[str, SizeVariable]
    answers: dict[str, AxisSizes]
    terms: dict[int, tuple[Node, Term | None]]
    circular: set[tuple[str, int]]  # Axes, and the ids of calls.


class SizeInference:
    """An inference of sizes by a separate checker, which leaves the program's recorded types unchanged.

    An unknown size is a variable for the separate checker. An expression that needs its own size is therefore typed with
    a variable. Each expression of a scope is typed once.
    """

    def __init__(self, checker: Inference):
        self.checker = checker.fork()
        self.checker.size_inference = self
        self.checker.infer_parameters = True
        self.checker.graph = TermGraph(checker.graph.serials)  # Its environments contain terms of the program's graph.
        self.scopes: dict[Any, ScopeSizes] = {}

    def sizes(self, axis: str, environment: Environment, asking: Environment) -> AxisSizes:
        """Return the sizes that an axis has in an environment's equations, with each size's source.

        `asking` is the environment of the expression that needs the size.
        """
        key = cache_key(environment)
        scope = self.scopes.get(key)
        if scope is None:
            scope = self.scopes[key] = ScopeSizes(self.mirror_environment(environment, {}), {}, {}, {}, set())
        if axis in scope.answers:
            return scope.answers[axis]
        if axis in scope.variables:
            scope.circular.add((axis, id(find_call_within(scope.env, asking))))
            return {scope.variables[axis]: f"|{axis}|"}
        variable = scope.variables[axis] = SizeVariable(f"|{axis}|")
        answer = scope.answers[axis] = AxisSearch(self, axis, scope).search()
        size = next(iter(answer)) if answer else self.checker.solver.size_of(axis, scope.env)
        if len(answer) < 2 and size is not None:
            unify(variable, size)
        return answer

    def term_or_none(self, scope: ScopeSizes, infer: Callable[[], Term | None]) -> Term | None:
        """Return the term that a function infers, or None if it raises an error. Record the terms of its expressions."""
        start = len(self.checker.trace)
        try:
            return infer()
        except (NotationError, AlreadyReportedError):
            return None
        finally:
            for node, term, env in self.checker.trace[start:]:
                if env.nearest_call is scope.env:
                    scope.terms.setdefault(id(node), (node, term))
            if not start:  # No other search needs the trace, which counts toward the limit on nodes.
                self.checker.trace.clear()

    def term_of(self, scope: ScopeSizes, node: Node) -> Term | None:
        """Return the term of an expression in a scope, or None if it cannot be typed."""
        if id(node) not in scope.terms:
            env = Environment(parent=scope.env, sizes_parent=scope.env, depth=scope.env.depth, active=scope.env.active)
            scope.terms[id(node)] = node, self.term_or_none(scope, lambda: self.checker.infer(node, env))
        return scope.terms[id(node)][1]

    def first_member(self, family: Definition, env: Environment) -> Term | None:
        assert family.range is not None
        first: dict[str, Any] = {}
        for over in family.range.each:
            environment = Environment(parent=env, sizes_parent=env, indices=dict(first))
            first[over.variable.text] = self.checker.solver.value(over.first, environment)
        return self.checker.find(family.name.key(first.get), env, None)

    def mirror_environment(self, env: Environment | None, mirrors: dict[int, Environment]) -> Any:
        """Return a copy of an environment for the separate checker, without the terms of its definitions.

        `mirrors` contains the copies of enclosing environments, by serial number. Each of them is copied once, because a
        call may have the same environment as its parent and its caller.
        """
        if env is None or env.parent is None:
            return None if env is None else self.checker.top
        if env.serial not in mirrors:
            mirrors[env.serial] = Environment(
                parent=self.mirror_environment(env.parent, mirrors),
                sizes_parent=self.mirror_environment(env.sizes_parent, mirrors),
                caller=self.mirror_environment(env.caller, mirrors),
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
        return mirrors[env.serial]


class AxisSearch:
    """A search for the sizes of one axis in a scope.

    `found` contains the sizes found so far, and `rest` contains the expressions that lack the axis.
    """

    def __init__(self, inference: SizeInference, axis: str, scope: ScopeSizes):
        self.inference, self.axis, self.scope = inference, axis, scope
        self.names = find_axis_names(inference.checker, axis, scope.env)
        self.found: AxisSizes = {}
        self.rest: list[Node] = []

    def search(self) -> AxisSizes:
        """Return the sizes of the axis in definitions and bodies or, if none has the axis, in their operands."""
        checker, env = self.inference.checker, self.scope.env
        for key, group in checker.definitions_of(env).items():
            if any(self.may_have(definition.statement) for definition in group):
                term = self.inference.term_or_none(self.scope, lambda key=key: checker.find(key, env, None))
                self.look(term, [definition.body for definition in group], str(key))
        for family in checker.families_of(env):
            if family.range is not None and self.may_have(family.statement):
                term = self.inference.term_or_none(self.scope, lambda of=family: self.inference.first_member(of, env))
                self.look(term, [family.body], str(family.key))
        for body in bodies_of(checker, env):
            self.look_at(body)
        for body in self.rest if not self.found else ():
            self.look_below(body)
        return self.found

    def look(self, term: Term | None, bodies: list[Node], source: str) -> None:
        """Record the size of the axis in a term.

        If the term cannot be typed, or if it depends on the size, look at the operands of its expressions instead.
        """
        if term is None or any(map(self.is_circular, bodies)):
            for body in bodies:
                self.look_below(body)
        elif self.axis not in term.shape:
            self.rest += bodies
        elif is_ground(size := resolve(term.shape[self.axis])):
            self.found.setdefault(size, source)

    def look_at(self, node: Node) -> None:
        if self.may_have(node):
            self.look(self.inference.term_of(self.scope, node), [node], self.inference.checker.text(node))

    def look_below(self, node: Node) -> None:
        for child in children(node):
            if type(child) in self.inference.checker.RULES and not isinstance(child, Size):
                self.look_at(child)

    def is_circular(self, body: Node) -> bool:
        """Return whether a part of an expression needs the size that the search is for, in its type or in a call."""
        variable = resolve(self.scope.variables[self.axis])
        for node in walk(body):
            _, term = self.scope.terms.get(id(node), (node, None))
            size = None if term is None else resolve(term.shape.get(self.axis))
            if (self.axis, id(node)) in self.scope.circular or (size is variable and not is_ground(variable)):
                return True
        return False

    def may_have(self, node: Any) -> bool:
        """Return whether an expression may have the axis, because it names the axis or calls a function."""
        checker = self.inference.checker
        functions = {*checker.scope.functions, *checker.python}
        calls = any(isinstance(part, Call) and part.operator in functions for part in walk(node))
        return calls or not self.names.isdisjoint(axis.name for axis in axes_named(node))


def find_call_within(scope: Environment, env: Environment) -> Node | None:
    """Return the call in a scope that led to an environment, or None if the environment is in the scope itself."""
    node, call = None, env.nearest_call
    while call is not scope and call.caller is not None:
        node, call = call.call, call.caller.nearest_call
    return node


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
