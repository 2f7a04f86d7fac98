"""Sizes, for the reference evaluator: |ax| is that of the tensors in sight, or the number that makes an equation true.

A call of a function sees the axes of its arguments, then the equations that belong to it, then what the program says.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from grammar import nodes
from grammar.cache import cached_property
from grammar.errors import SIZE_NEEDED, NotationError
from grammar.nodes import Call, Number, Size

from ..operators.definitions import power
from ..scope.names import Key, key, spelled, walk
from ..scope.symbols import Scope
from .definitions import Tensor, listed
from .environment import Environment, Fact, plain, set_axes, whole
from .inferred_sizes import inferred_sizes, sizes_before_windows


class Sizes:
    """The sizes of one program while it is evaluated."""

    scope: Scope
    sizes: Any
    top: Environment
    busy: set[Any]
    infers: bool = True  # from the values of equations too
    find: Callable[..., Tensor | None]

    def size(self, axis: str, env: Environment) -> int:
        """|axis|, where it has to be known."""
        found = self.known(("size", axis), env)
        if found is None:
            hint = f"pass it: sizes={{{axis!r}: 3}}"
            raise NotationError(
                309, f"the size of {axis} is not known", hint=hint, symbol=axis, axis=axis, reason=SIZE_NEEDED
            )
        return found

    def known(self, symbol: tuple[Any, ...], env: Environment) -> Any:
        """|ax| for ("size", "ax"), the number n for ("scalar", n), in sight of an environment; None where nothing says it."""
        mark = (symbol, id(env), self.infers)
        if mark in self.busy:
            return None
        self.busy.add(mark)
        try:
            return self.search(symbol, env)
        finally:
            self.busy.discard(mark)

    def search(self, symbol: tuple[Any, ...], env: Environment) -> Any:
        place: Environment | None = env
        while place is not None:
            found = self.seen(symbol, place)
            if found is None:
                found = self.solve(symbol, self.facts_at(place, symbol))
            if found is None and place.function is not None:
                found = self.inferred(symbol, place)
            if found is not None:
                return found
            place = self.next_for_sizes(symbol, place)
        found = self.solve(symbol, [*facts_in(self.scope.sizes, env), *self.top.facts])
        if found is None and in_head(env):  # the program's own names are not those of the head
            found = self.solve(symbol, facts_in(self.scope.sizes, self.top))
        rest = (
            lambda: self.in_brackets(symbol, env),
            lambda: self.inferred(symbol, self.top),
            lambda: self.only(symbol, self.unnamed),
            lambda: self.unmarked(symbol, env),
        )
        for source in rest:
            found = found if found is not None else source()
        return found

    def inferred(self, symbol: tuple[Any, ...], place: Environment) -> int | None:
        """The size of an axis by what the equations of a call, or of the program, make."""
        if symbol[0] == "scalar" or not self.infers:
            return None
        sizes = inferred_sizes(self, symbol[1], place)
        if len(sizes) > 1:
            raise NotationError(302, f"|{symbol[1]}| is asked for, and {symbol[1]} has several sizes: {sorted(sizes)}")
        return sizes.pop() if sizes else None

    def said(self, axis: str, env: Environment) -> int | None:
        """|axis| as tensors and facts have it, whatever the equations make."""
        before, self.infers = self.infers, False
        try:
            return self.known(("size", axis), env)
        finally:
            self.infers = before

    def unmarked(self, symbol: tuple[Any, ...], env: Environment) -> int | None:
        """a*, a† and a** are as large as a, where nothing says otherwise."""
        bare = symbol[1].rstrip("*†‡") if symbol[0] == "size" else None
        if bare is None or bare == symbol[1]:
            return None
        return self.known(("size", bare), env)

    def only(self, symbol: tuple[Any, ...], tensors) -> int | None:
        """The one size that an axis has in some tensors."""
        kind, name = symbol
        sizes = {X.shape[name] for X in tensors if name in X.shape} if kind == "size" else set()
        if len(sizes) > 1:
            raise NotationError(302, f"|{name}| is asked for, and {name} has several sizes here: {sorted(sizes)}")
        return sizes.pop() if sizes else None

    def check_given(self) -> None:
        """A size that is given is that of the inputs, and of what the program makes where no input has the axis."""
        for axis, wanted in self.sizes.items():
            sizes = {X.shape[axis] for X in self.named if axis in X.shape}
            if not sizes:
                sizes = sizes_before_windows(self, axis)
                sizes -= sizes if wanted in sizes else set()
            if sizes - {wanted}:
                raise NotationError(308, f"{axis} is {sorted(sizes)}, and sizes= says {wanted}")
            name = key_or_none(axis)
            own = plain(self.find(name, self.top)) if name in self.scope.definitions and name else None
            if own is not None and own != wanted:
                raise NotationError(308, f"{axis} is {own} by its equation, and sizes= says {wanted}")

    @property
    def named(self) -> list[Tensor]:
        """The inputs that stand in the program."""
        return [X for name, X in self.top.variables.items() if name.base in self.words]

    @property
    def unnamed(self) -> list[Tensor]:
        return [X for name, X in self.top.variables.items() if name.base not in self.words]

    @cached_property
    def words(self) -> set[str]:
        return {node.text for node in walk(self.scope.program) if isinstance(node, nodes.Name)}

    def next_for_sizes(self, symbol: tuple[Any, ...], place: Environment) -> Environment | None:
        """A function with a signature sees the caller's size of an axis that the use names, and no other."""
        if place.function is not None and place.function.signature is not None:
            named = symbol[0] == "size" and any(symbol[1] in axes for axes in place.axes.values())
            return place.sizes_from if named else place.parent
        return place.sizes_from or place.parent

    def seen(self, symbol: tuple[Any, ...], place: Environment) -> Any:
        """The size of an axis that the tensors of this environment have, or the number of that name."""
        kind, name = symbol
        if kind == "scalar":
            found = plain(place.variables.get(name))
            if found is None and name == Key(name.base):
                found = whole(place.indices.get(name.base))
            return found if found is not None or place is not self.top else self.given_size(name)
        found = self.only(symbol, self.named if place is self.top else place.variables.values())
        return self.sizes.get(name) if found is None and place is self.top else found

    def given_size(self, name: Key) -> int | None:
        return next((size for text, size in self.sizes.items() if key_or_none(text) == name), None)

    def facts_at(self, place: Environment, symbol: tuple[Any, ...]) -> list[Fact]:
        """Return the size equations of an environment: its own, and the program's about axes of its tensors."""
        if place is self.top:
            return []
        own = [*place.facts, *facts_in(place.function.sizes if place.function else (), place)]
        axes = {axis for X in place.variables.values() for axis in X.shape} - {symbol[1]}
        return own + [fact for fact in facts_in(self.scope.sizes, place) if axes & axes_measured(fact)]

    def in_brackets(self, symbol: tuple[Any, ...], env: Environment) -> Any:
        """The size that the declaration of a defined name says: D ∈ ℝ^{seq[5]}."""
        for _, _, sets, _ in self.scope.declarations:
            for axis, size in (pair for of in sets for pair in of.axes):
                if size is not None and symbol == ("size", axis.name):
                    found = self.size_value(size, env)
                    if found is not None:
                        return found
        return None

    def solve(self, symbol: tuple[Any, ...], facts: list[Fact]) -> Any:
        """The number that makes a fact true, the rest of it being known: the fact is linear in it, or in its inverse."""
        for fact in facts:
            if not any(self.mentions(side, symbol, fact.env) for side in (fact.left, fact.right)):
                continue
            for trial in (lambda t: t, lambda t: 1 / t):
                one, two, three = (self.difference(fact, (symbol, trial(Fraction(t)))) for t in (1, 2, 3))
                if one is None or two is None or three is None:
                    break
                if one != two and three - two == two - one:
                    root = 1 - one / (two - one)
                    return whole_size(trial(root) if root else root, symbol[1])
        return None

    def difference(self, fact: Fact, trial: tuple[Any, ...] | None = None) -> Fraction | None:
        found = [self.size_value(side, fact.env, trial) for side in (fact.left, fact.right)]
        return None if None in found else Fraction(found[0]) - Fraction(found[1])

    def mentions(self, node: Any, symbol: tuple[Any, ...], env: Environment) -> bool:
        return not isinstance(node, int) and any(symbol in self.symbols(part, env) for part in walk(node))

    def symbols(self, node: Any, env: Environment) -> list[tuple[Any, ...]]:
        """|ax| as ("size", "ax"), for each axis that ax stands for; the name n as ("scalar", n)."""
        if isinstance(node, Size):
            return [("size", axis) for axis in env.real(node.axis.name)]
        name = None if isinstance(node, nodes.Axis) else spelled(node)
        return [] if name is None else [("scalar", name.key(env.index))]

    def size_value(self, node: Any, env: Environment, trial: tuple[Any, ...] | None = None) -> Any:
        """The number that a size expression stands for, None where it is not known; `trial` supposes a symbol's value."""
        if isinstance(node, int):
            return node
        if isinstance(node, Number):
            return node.value
        symbols = self.symbols(node, env)
        if symbols and isinstance(node, nodes.Superscript) and self.known_number(symbols[0], env) is None:
            found = self.computed(node, env, trial)  # n^2 where n is a number
            if found is not None:
                return found
        if symbols:
            supposed = dict([trial] if trial else [])
            found = [supposed.get(each) or self.known_number(each, env) for each in symbols]
            return None if None in found else math.prod(found)
        return self.computed(node, env, trial)

    def computed(self, node: Any, env: Environment, trial: tuple[Any, ...] | None) -> Any:
        """What the arithmetic of a size expression comes to, None where a part of it is not known."""
        if isinstance(node, nodes.Superscript) and len(node.components) == 1:
            parts: tuple[Any, ...] = (node.base, node.components[0])
        elif isinstance(node, Call) and node.operator in ARITHMETIC:
            parts = node.arguments
        else:
            return None
        found = [self.size_value(part, env, trial) for part in parts]
        if None in found:
            return None
        return simple(ARITHMETIC[getattr(node, "operator", "^")](*found))

    def known_number(self, symbol: tuple[Any, ...], env: Environment) -> Any:
        """A size, or the number that a name stands for, or None."""
        found = self.known(symbol, env)
        if found is not None or symbol[0] == "size":
            return found
        try:
            return plain(self.find(symbol[1], env))
        except NotationError:
            return None

    def sizes_of(self, of: nodes.Set, X: Tensor, env: Environment) -> list[Fact]:
        """What n in seq[n] is, by a tensor of that set."""
        for axis, _ in set_axes(of, env):
            if axis not in X.shape:
                raise NotationError(317, f"the axis {axis} of a declaration is missing: here are {listed(X.shape)}")
        return [Fact(size, X.shape[axis], env) for axis, size in set_axes(of, env) if size is not None]

    def check_facts(self, facts: list[Fact]) -> None:
        for fact in facts:
            found = self.difference(fact)
            if found is not None and found != 0:
                error = 310 if found.denominator != 1 else 308
                raise NotationError(error, "a stated size is violated", self.scope.source, fact.left.span)


ARITHMETIC: dict[str, Callable[..., Any]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "⊙": lambda x, y: x * y,
    "juxtaposed": lambda x, y: x * y,
    "/": lambda x, y: Fraction(x) / Fraction(y) if y else None,
    "^": power,
    "negative": lambda x: -x,
}


def in_head(env: Environment | None) -> bool:
    """Whether the head of a function gives axes names of its own here."""
    while env is not None and not env.axes:
        env = env.parent
    return env is not None


def simple(value: Any) -> Any:
    """Return a fraction with denominator 1, or a root that is an integer up to rounding, as an integer."""
    if isinstance(value, float) and math.isfinite(value) and math.isclose(value, round(value), rel_tol=1e-12):
        return round(value)
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 else value


def whole_size(value: Any, name: Any) -> int:
    if value != int(value) or value < 0:
        message = f"{name} must be a non-negative integer, got {value}"
        raise NotationError(310, message, hint="choose sizes that divide", symbol=str(name))
    return int(value)


def facts_in(facts, env: Environment) -> list[Fact]:
    return [Fact(fact.left, fact.right, env) for fact in facts]


def axes_measured(fact: Fact) -> set[str]:
    """Return the axes whose sizes an equation mentions."""
    sides = [side for side in (fact.left, fact.right) if not isinstance(side, int)]
    return {node.axis.name for side in sides for node in walk(side) if isinstance(node, Size)}


def key_or_none(text: str) -> Key | None:
    try:
        return key(text)
    except NotationError:
        return None
