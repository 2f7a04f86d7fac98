"""Solve for sizes, such as |ax| and n in seq[n], from inputs, equations and inferred types.

Each environment contains the sizes of its arguments' axes. Other sizes follow from equations and from declarations of
inputs, such as `W ∈ ℝ^{layer[n_1]}`. To find an unknown, the solver chooses an equation that contains it once. It
computes the other side and inverts the arithmetic around the unknown.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import chain
from typing import Any, TypeAlias

from grammar import nodes
from grammar.nodes import Call, Node, Number, Size

from ..core.extents import Extent, UndecidedSizeError, is_size
from ..core.sizes import SizeVariable, is_ground, resolve, unify
from ..scope.names import MARKS, Key, read_spelling, walk
from ..scope.symbols import SizeEquation
from ..terms.environment import Conflict, Environment, source_name
from ..terms.inference import Inference, SizesInterface
from .given_sizes import check_given_sizes, check_stated_sizes
from .inferred_sizes import infer_size, several_sizes
from .size_facts import MAX_SIZE_NUMBER, FactIndex, Symbol, calculate, invert, parts, power, sides, solve_size, words_of

SearchKey: TypeAlias = tuple[Any, ...]  # a symbol, its environment, and whether types count
NodePath: TypeAlias = tuple[Any, ...]  # A node, and the path to its container.
MAX_SEARCHES_PER_PIECE = 4  # The maximum number of searches for sizes, per allowed node of the formula.


def anchor(env: Environment) -> Environment:
    """Return the nearest environment, starting with this one, with names or sizes that the parent lacks."""
    while env.parent is not None and (env.sizes_parent is None or env.sizes_parent is env.parent):
        if env.function or env.variables or env.axes or env.indices or env.sizes or env.scalars:
            break
        env = env.parent
    return env


class SizeSolver(SizesInterface):
    """The solver for the sizes of one program.

    Solutions are memoized. A failed search is repeated only after another search has found a new value.
    """

    def __init__(self, checker: Inference):
        self.checker = checker
        self.declared: list[tuple[SizeEquation, Environment]] = []
        self.busy: set[SearchKey] = set()
        self.failed: set[SearchKey] = set()  # The failed searches of this run since the last new value.
        self.valued: set[tuple[SearchKey, bool]] = set()  # The searches of this run with a value. True if it is known.
        self.found: dict[SearchKey, Any] = {}
        self.found_early: dict[SearchKey, Any] = {}  # The values of this run in environments that lack inputs.
        self.runs: int = 0
        self.searches: int = 0
        self.infers: bool = True  # Whether to infer sizes from the types of expressions.
        self.indices: dict[int, FactIndex] = {}

    # ------------------------------------------------------------------------------------------------------ symbols
    def size(self, axis: str, env: Environment, node: Any = None) -> Any:
        """Return |axis| in this environment, or None if it is unknown. Raise an error if the axis has two sizes."""
        total: Any = 1
        for name in env.resolve_axis(axis):
            size = self.size_of(name, env, node)
            if size is None:
                return None
            total = size if total == 1 else total * size
        return total

    def size_of(self, axis: str, env: Environment, node: Any = None) -> Any:
        """Return the size of a tensor's axis, even if a function's axis parameter has the same name."""
        return self.find(("size", axis), env, node)

    def size_said(self, axis: str, env: Environment, node: Any = None) -> Any:
        """Return |axis| from inputs and equations only, without inference from the types of expressions."""
        with self.inferring(False):
            return self.size_of(axis, env, node)

    @contextmanager
    def inferring(self, infers: bool) -> Generator[None]:
        """Inside the block, infer sizes from the types of expressions if and only if `infers` is true."""
        before, self.infers = self.infers, infers
        try:
            yield
        finally:
            self.infers = before

    def scalar(self, key: Key, env: Environment, node: Any = None) -> Any:
        return self.find(("scalar", key), env, node)

    def find(self, symbol: Symbol, env: Environment, node: Any) -> Any:
        env = anchor(env)
        find = self.direct(symbol, env, node)
        if find is not None:
            return find
        search_key = (symbol, env.serial, self.infers)
        cached = self.found.get(search_key, self.found_early.get(search_key))
        if cached is not None:
            return cached
        if search_key in self.busy or search_key in self.failed:
            return None
        with self.run():
            find, values = self.tried(symbol, env, node, search_key), 0
            while find is None and self.runs == 1 and len(self.valued) > values:
                values = len(self.valued)
                self.failed.clear()
                find = self.tried(symbol, env, node, search_key)
        return find

    @contextmanager
    def run(self) -> Generator[None]:
        """Run the solver inside the block. The end of the outermost run discards the failed searches."""
        self.runs += 1
        try:
            yield
        finally:
            self.runs -= 1
            if not self.runs:
                self.failed, self.valued, self.found_early = set(), set(), {}

    def tried(self, symbol: Symbol, env: Environment, node: Any, search_key: SearchKey) -> Any:
        self.busy.add(search_key)
        try:
            match = self.search(symbol, env, node)
        finally:
            self.busy.discard(search_key)
        if match is None:
            self.failed.add(search_key)
            return None
        if is_ground(match):
            (self.found if env.complete else self.found_early)[search_key] = match
        self.valued.add((search_key, is_ground(match)))
        return match

    def search(self, symbol: Symbol, env: Environment, node: Any) -> Any:
        """Search for the value of a symbol from the environment outward.

        The search considers sizes in scope, equations, declarations, inferred types, and unused inputs, in this order.
        In a call that lifts an axis named a*, the axis a* of the function itself has the size of the axis a.
        """
        self.spend(symbol, node)
        kind, name = symbol
        current: Environment | None = env
        while current is not None:
            search = self.direct(symbol, current, node)
            if search is None:
                search = self.solve_by_equations(symbol, self.facts_of_call(symbol, current))
            if search is None and current.function is not None and kind == "size":
                search = self.read_declared_size(name, current.function.sets, current)
                search = self.infer_from_equations(name, current, env, node) if search is None else search
                bare = name.rstrip(MARKS)
                if search is None and bare != name and name in map(source_name, current.extras):
                    search = self.direct(("size", bare), current, node)
            if search is not None:
                return search
            current = current.sizes_parent or self.find_caller_scope(symbol, current) or current.parent
        search = self.solve_by_equations(symbol, self.facts_of_program(symbol, env))
        if search is not None or kind != "size":
            return search
        search = self.read_declared_size(name, chain(*(sets for _, _, sets, _ in self.checker.scope.declarations)), env)
        if search is None:
            search = self.infer_from_equations(name, self.checker.top, env, node)
        if search is None:
            search = self.direct(symbol, self.checker.unnamed, node)
        bare = name.rstrip(MARKS)  # By default, a*, a† and a** have the size of a.
        return self.size_of(bare, env, node) if search is None and bare != name else search

    def spend(self, symbol: Symbol, node: Any) -> None:
        """Count one search. Raise NotationError (404) if the number of searches exceeds the limit."""
        self.searches += 1
        limit = MAX_SEARCHES_PER_PIECE * (self.checker.limits.max_expanded_nodes + len(self.checker.scope.source))
        if self.searches > limit:
            name = f"|{symbol[1]}|" if symbol[0] == "size" else str(symbol[1])
            raise self.checker.error(
                404, f"inferring {name} exceeds the limit of {limit} searches for sizes", node or self.checker.scope.program,
                hint="state the sizes of axes by equations or by sizes=, or raise limits.max_expanded_nodes",
            )  # fmt: skip

    def find_caller_scope(self, symbol: Symbol, env: Environment) -> Environment | None:
        """Return the caller's environment, which has the axis size, or None if the call does not pass the axis."""
        if symbol[0] == "size" and any(symbol[1] in axes for axes in env.axes.values()):
            return env.caller
        return None

    def read_declared_size(self, name: str, sets: Iterable[nodes.Set], env: Environment) -> Any:
        """Return the declared size of an axis, such as 5 for seq in D ∈ ℝ^{seq[5]}, or None if it has none."""
        for axis, size in (pair for set_ in sets for pair in set_.axes):
            if size is not None and env.resolve_axis(axis.name) == (name,):
                value = self.value(size, env)
                if value is not None:
                    return value
        return None

    def infer_from_equations(self, name: str, scope: Environment, env: Environment, node: Any) -> Any:
        """Return an axis size inferred from the expressions in a call or program, or None if it is unknown."""
        return infer_size(self.checker, name, scope, env, node) if self.infers else None

    def speaks_of(self, fact: SizeEquation, env: Environment, symbol: Symbol) -> bool:
        axes = {node.axis.name for side in sides(fact) for node in walk(side) if isinstance(node, Size)}
        return any(axis in env.sizes and ("size", axis) != symbol for axis in axes)

    def direct(self, symbol: Symbol, env: Environment, node: Any) -> Any:
        kind, name = symbol
        if kind == "scalar":
            scalar = env.scalars.get(name)
            if scalar is None and name in env.variables:
                scalar = env.variables[name].number
            if scalar is None and not name[1] + name[2]:
                scalar = env.indices.get(name.base)
            return scalar if not isinstance(scalar, str) else int(scalar) if scalar.isdecimal() else None
        scalar = env.sizes.get(name)
        if isinstance(scalar, Conflict):
            raise several_sizes(self.checker, name, scalar.sources, node)
        return resolve(scalar)

    # -------------------------------------------------------------------------------------------------------- facts
    def facts_of_call(self, symbol: Symbol, env: Environment) -> list[tuple[SizeEquation, Environment]]:
        """Return the size equations about a symbol in the called function or about its arguments' axes."""
        local = self.about(symbol, env, env.function.sizes) if env.function is not None else []
        if env.parent is not None and env.sizes:
            stated = self.about(symbol, env, self.checker.scope.sizes)
            local += [fact for fact in stated if self.speaks_of(fact, env, symbol)]
        return [(fact, env) for fact in local]

    def facts_of_program(self, symbol: Symbol, env: Environment) -> list[tuple[SizeEquation, Environment]]:
        stated = [(fact, env) for fact in self.about(symbol, env, self.checker.scope.sizes)]
        if any(outer.axes for outer in env.outward):  # The program's names differ from a function's parameters.
            stated += [
                (fact, self.checker.top) for fact in self.about(symbol, self.checker.top, self.checker.scope.sizes)
            ]
        return stated + self.about(symbol, self.checker.top, self.declared)

    def about(self, symbol: Symbol, env: Environment, facts: list[Any]) -> list[Any]:
        """Return the size equations that may mention a symbol, in source order."""
        if not facts:
            return []
        index = self.indices.get(id(facts))
        if index is None or index.facts is not facts or index.count != len(facts):
            index = self.indices[id(facts)] = FactIndex(facts)
        return index.about(words_of(symbol, env))

    def solve_by_equations(self, symbol: Symbol, facts: list[tuple[SizeEquation, Environment]]) -> Any:
        """Return the value of a symbol from the first equation that contains it once and can be solved, or None."""
        for fact, env in facts:
            for side, other in ((fact.left, fact.right), (fact.right, fact.left)):
                if is_size(side) or self.count(side, symbol, env) != 1:  # pyright: ignore
                    continue
                if not is_size(other) and self.count(other, symbol, env):  # pyright: ignore
                    continue
                value = other if is_size(other) else self.value(other, env)  # pyright: ignore
                if value is None:
                    continue
                solved = self.solve_for(side, symbol, value, env)  # pyright: ignore
                if solved is not None:
                    return solve_size(self.checker, solved, symbol, fact)
        return None

    def settle(self) -> None:
        """Replace each size variable of the program with the size that the equations determine."""
        top, scope = self.checker.top, self.checker.scope
        facts = [*scope.sizes, *(fact for function in scope.all_functions() for fact in function.sizes)]
        waiting = dict.fromkeys(axis for axis, size in top.sizes.items() if isinstance(resolve(size), SizeVariable))
        pending = list(waiting)
        while pending:
            axis = pending.pop()
            if axis not in waiting:
                continue
            about = [(fact, top) for fact in self.about(("size", axis), top, facts)]
            solved = (self.solve_by_equations(("size", axis), [pair]) for pair in about)
            result = next((size for size in solved if size is not None and is_ground(size)), None)
            if result is not None:
                unify(top.sizes[axis], resolve(result))
                del waiting[axis]
                pending += [name for fact, _ in about for side in sides(fact) for _, name in self.symbols(side, top)]

    def symbol_of(self, node: Node, env: Environment) -> Symbol | None:
        if isinstance(node, Size):
            real = env.resolve_axis(node.axis.name)
            return ("size", real[0]) if len(real) == 1 else None
        name = read_spelling(node)
        return None if name is None else ("scalar", name.key(env.index))

    def symbols(self, node: Node, env: Environment) -> list[Symbol]:
        """Return the symbols in a size expression, with repetitions."""
        return [symbol for symbol, _ in self.places(node, env)]

    def places(self, node: Node, env: Environment) -> Iterator[tuple[Symbol, NodePath]]:
        """Yield each symbol in a size expression, with the path from the symbol up to the whole expression."""
        stack: list[NodePath] = [(node, ())]
        while stack:
            way = stack.pop()
            current = way[0]
            symbol = self.symbol_of(current, env)
            if symbol is not None:
                yield symbol, way
            elif isinstance(current, Call):
                stack += [(argument, way) for argument in current.arguments]
            elif isinstance(current, nodes.Superscript):
                stack.append((current.base, way))

    def count(self, node: Node, symbol: Symbol, env: Environment) -> int:
        return sum(other == symbol for other in self.symbols(node, env))

    def number(self, node: Node, env: Environment) -> Any:
        """Return a size that affects a program's form, or None if it is unknown.

        Raise UndecidedSizeError if an evaluation needs the size but it is symbolic.
        """
        value = self.value(node, env)
        if type(value) is Extent and not self.checker.infer_parameters:
            raise UndecidedSizeError(value)
        return value

    def value(self, node: Node, env: Environment) -> Any:
        """Return the value of a size expression, or None if it contains an unknown symbol."""
        if isinstance(node, Number):
            return int(node.value) if isinstance(node.value, float) and node.value.is_integer() else node.value
        symbol = self.symbol_of(node, env)
        if isinstance(node, Size):
            return self.size(node.axis.name, env, node)
        if symbol is not None:
            if isinstance(node, nodes.Superscript):
                number = self.checker.number(symbol[1], env)
                number = self.power(node, env) if number is None else number
                if number is not None:
                    return number
            number = self.find(symbol, env, node)
            return self.checker.number(symbol[1], env) if number is None else number
        if isinstance(node, Call) and (operands := parts(node)):
            values = [self.value(part, env) for part in operands]  # A list needs few frames, since sizes nest deeply.
            if any(value is None for value in values):
                return None
            return self.bounded(calculate(node.operator, values), node)
        return self.power(node, env)

    def power(self, node: Node, env: Environment) -> Any:
        """Return the value of a power in a size expression, or None if it is unknown or if the node is not a power."""
        if not isinstance(node, nodes.Superscript) or len(node.components) != 1:
            return None
        return self.bounded(power(self.value(node.base, env), self.value(node.components[0], env)), node)

    def bounded(self, value: Any, node: Node) -> Any:
        """Return the value unchanged. Raise NotationError (404) if it is too large to be a size."""
        if isinstance(value, (int, Fraction)) and max(abs(value.numerator), value.denominator) > MAX_SIZE_NUMBER:
            raise self.checker.error(
                404,
                f"{self.checker.text(node)} exceeds the largest supported size, 2^1024",
                node,
                hint="use smaller sizes",
            )
        return value

    def solve_name(self, node: Node, value: Any, env: Environment) -> tuple[Key, Any] | None:
        symbols = [symbol for symbol in self.symbols(node, env) if self.find(symbol, env, node) is None]
        names = [name for kind, name in symbols if kind == "size" or self.checker.number(name, env) is None]
        if len(names) != 1 or not isinstance(names[0], Key):
            return None
        solved = (
            self.solve_for(node, ("scalar", names[0]), value, env) if is_ground(value) else SizeVariable(str(names[0]))
        )
        return None if solved is None else (names[0], solved)

    def solve_for(self, node: Node, symbol: Symbol, value: Any, env: Environment) -> Any:
        """Return the value of a symbol for which an expression has this value, or None if the solver cannot find it."""
        way = next(way for result, way in self.places(node, env) if result == symbol)
        above: list[Any] = []
        while way:
            above.append(way[0])
            way = way[1]
        for outer, inner in zip(above[:0:-1], above[-2::-1]):
            if not isinstance(outer, Call):
                return None
            if outer.operator == "negative":
                value = -value
                continue
            if len(outer.arguments) != 2:
                return None
            in_left = outer.arguments[0] is inner
            other = self.value(outer.arguments[1 if in_left else 0], env)
            if other is None:
                return None
            value = self.bounded(invert(outer.operator, value, other, in_left), outer)
            if value is None:
                return None
        return value

    # ----------------------------------------------------------------------------------------------------- checking
    def check(self) -> None:
        """Raise an error if a stated size differs from the size that the solver found."""
        if self.checker.scope.sizes or self.declared:
            with self.run():
                check_stated_sizes(self.checker)
        if self.checker.given_sizes:
            check_given_sizes(self.checker)
