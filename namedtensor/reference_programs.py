"""What names and calls of a program mean, for the reference evaluator: the tree is walked, and each piece has a value.

A name is looked up where it stands: in the call of a function, then in the program. A call of a function with a
signature is the definition of lifting itself, [f(X, Y)]_s = f(X_s, Y_s): its body meets only the axes of the signature.
An equation for elements computes each element alone. The size of an axis is that of the tensors in sight, or the number
that makes a stated equation true.
"""

from __future__ import annotations

import math
import operator
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, Callable, Iterator, Mapping, NamedTuple

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Index, Name, Node, Number, Size, axis_of
from grammar.parser import parse
from grammar.symbols import FUNCTIONS

from .names import Key, Spelled, component, key, spelled, walk
from .reference import (
    Tensor, assemble, at, broadcast, index, lift, listed, merge, number, position, records, rename, split, unite,
)  # fmt: skip
from .reference_functions import apply, power
from .scope import Claim, Definition, Function, Scope, analyse

CONSTANTS = {"π": math.pi, "e": math.e, "ε": 1e-5, "∞": math.inf}
STEPS = 10**5
TOLERANCE = 1e-6


class Fact(NamedTuple):
    """left = right between sizes, where a frame says what its names are."""

    left: Node
    right: Node | int
    frame: Frame


@dataclass(eq=False)
class Frame:
    """Where names are looked up: one for the program, one for each call, one for each piece of an equation.

    `parent` is where a name is looked for next, `sizes_from` where a size is. `axes` says what the axes of a function
    over axes stand for, `indices` what l is in FFN^l, `elements` what i is in Y_{seq(i)}; `facts` are equations between
    sizes that hold here.
    """

    parent: Frame | None = None
    sizes_from: Frame | None = None
    function: Function | None = None
    variables: dict[Key, Tensor] = field(default_factory=dict)
    elements: dict[Key, Tensor] = field(default_factory=dict)
    axes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    indices: dict[str, Any] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)
    memo: dict[Any, Tensor] = field(default_factory=dict)

    def outwards(self) -> Iterator[Frame]:
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.parent

    def index(self, name: str) -> Any:
        """What an index such as l stands for, or None."""
        for frame in self.outwards():
            if name in frame.indices:
                return frame.indices[name]
            if Key(name) in frame.variables:
                return whole(plain(frame.variables[Key(name)]))
        return None

    def real(self, axis: str) -> tuple[str, ...]:
        """The axes that the name of an axis stands for."""
        return next((frame.axes[axis] for frame in self.outwards() if axis in frame.axes), (axis,))


def plain(X: Tensor | None) -> Any:
    """The number that a tensor without axes is, or None."""
    return X.entries[()] if X is not None and not X.shape else None


def whole(value: Any) -> int | None:
    """The whole number that a value or a label is, or None."""
    if isinstance(value, str):
        return int(value) if value.isdecimal() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def match_key(name: Spelled, wanted: Key, variables: set[str]) -> dict[str, Any] | None:
    """The indices with which a spelling is this key: W^{l,Q} is W^{1,Q} with l = 1; None where it is another name."""
    lengths = len(name.subscript), len(name.superscript)
    if name.base != wanted.base or lengths != (len(wanted.subscript), len(wanted.superscript)):
        return None
    found: dict[str, Any] = {}
    for node, text in zip((*name.subscript, *name.superscript), (*wanted.subscript, *wanted.superscript)):
        if isinstance(node, Name) and node.text in variables:
            if found.setdefault(node.text, text) != text:
                return None
        elif component(node) != text:
            return None
    return found


class Evaluation:
    """The value of each piece of one program, for given values and sizes."""

    def __init__(self, scope: Scope, values: Mapping[Key, Tensor], sizes: Mapping[str, int]):
        self.scope = scope
        self.sizes = sizes
        self.top = Frame(variables=dict(values))
        self.busy: set = set()
        self.used: set[Key] = set()
        for name, X in values.items():
            self.top.facts += declared_sizes(scope, name, X, self)

    # ---------------------------------------------------------------------------------------------------- the whole
    def whole(self) -> Tensor:
        last = self.scope.last
        if last is None:
            raise NotationError(105, "there is no value here, only functions")
        return self.checked(self.last(last) if isinstance(last, Definition) else self.value(last, self.top))

    def last(self, definition: Definition) -> Tensor:
        if definition.range is None or definition.elements:
            return self.find_known(definition.key, self.top)
        end = self.bound(definition.range.last, self.top)
        return self.find_known(definition.name.key({definition.range.variable.text: end}.get), self.top)

    def find_known(self, name: Key, frame: Frame) -> Tensor:
        found = self.find(name, frame)
        if found is None:
            raise NotationError(201, f"{name} is not known")
        return found

    def checked(self, value: Tensor) -> Tensor:
        """The value, once everything that the program says of sizes and values is found to hold."""
        self.check_facts([*stated(self.scope.sizes, self.top), *self.top.facts])
        for claim in self.scope.claims:
            try:
                self.check_claim(claim, self.top)
            except NotationError as problem:
                if problem.number not in (201, 204, 206, 309):  # it speaks of what is not given
                    raise
        for name in self.used:
            declared = declaration(self.scope, name)
            if declared is not None:
                self.check_domain(self.top.variables[name], declared[0], self.top)
        return value

    # -------------------------------------------------------------------------------------------------------- names
    def find(self, name: Key, frame: Frame) -> Tensor | None:
        """What a name stands for: an argument, a fact of the function, an index, a size; then the same further out."""
        for place in frame.outwards():
            if name in place.elements:
                return place.elements[name]
            if name in place.variables:
                self.used |= {name} if place is self.top else set()
                return place.variables[name]
            found = self.fact(name, place, frame)
            if found is not None:
                return found
            solved = self.solve(("scalar", name), place.facts) if place.function is not None else None
            if solved is not None:
                return number(solved)
            if name == Key(name.base) and whole(place.indices.get(name.base)) is not None:
                return number(whole(place.indices[name.base]))
        return None

    def fact(self, name: Key, holder: Frame, frame: Frame) -> Tensor | None:
        """The value of an equation that belongs to the function called, or to the program."""
        owner: Any = holder.function or (self.scope if holder is self.top else None)
        if owner is None:
            return None
        definitions = owner.facts if holder.function else owner.definitions
        if name in definitions:
            return self.define(name, definitions[name], holder, frame)
        for family in owner.families:
            indices = match_key(family.name, name, self.scope.indices)
            member = None if indices is None else self.family(family, indices, holder, frame)
            if member is not None:
                return member
        return None

    def define(self, name: Key, group: list[Definition], holder: Frame, frame: Frame) -> Tensor:
        """The value of an equation. What the program says of sizes is about the call that asks."""
        asking = nearest_call(frame) if holder is self.top else holder
        place = Frame(parent=holder, sizes_from=asking)

        def compute() -> Tensor:
            value = self.by_elements(group, place) if group[0].elements else self.value(group[0].body, place)
            return self.check_definition(group, value, place)

        return self.once(name, asking, compute)

    def once(self, name: Key, holder: Frame, compute: Callable[[], Tensor]) -> Tensor:
        """The value of a name in a frame, computed once; it cannot need itself."""
        if name not in holder.memo:
            mark = (id(holder), name)
            if mark in self.busy:
                raise NotationError(203, f"{name} needs itself")
            self.busy.add(mark)
            try:
                holder.memo[name] = compute()
            finally:
                self.busy.discard(mark)
        return holder.memo[name]

    def family(self, family: Definition, indices: dict, holder: Frame, frame: Frame) -> Tensor | None:
        """X^l of X^l = … for l = 1, …, n; those before it come first."""
        assert family.range is not None
        variable = family.range.variable.text
        wanted = whole(indices[variable]) if variable in indices else None
        first, last = self.bound(family.range.first, holder), self.bound(family.range.last, holder)
        if wanted is None or not first <= wanted <= last:
            return None
        if wanted - first >= STEPS:
            raise NotationError(404, f"a recurrence of {wanted - first + 1} steps is too long here")
        value = None
        for step in range(first, wanted + 1):
            place = Frame(parent=holder, sizes_from=holder, indices={**indices, variable: step})
            name = family.name.key(place.indices.get)
            if step == wanted or (name not in holder.variables and (id(holder), name) not in self.busy):
                value = self.once(name, holder, partial(self.member, family, place))
        return value

    def member(self, family: Definition, place: Frame) -> Tensor:
        return self.check_definition([family], self.value(family.body, place), place)

    def bound(self, node: Node, frame: Frame) -> int:
        """Where a range or a sum begins or ends."""
        found = whole(self.size_value(node, frame))
        if found is None:
            raise NotationError(309, "this end of a range has no value", hint="give it by name in sizes")
        return found

    def name(self, node: Node, frame: Frame) -> Tensor:
        """A name, with or without labels; or a power of one."""
        name = spelled(node)
        assert name is not None
        wanted = name.key(frame.index)
        found = self.find(wanted, frame)
        if found is None and (name.subscript or name.superscript):
            found = self.find_by_value(name, frame)
        if found is None and isinstance(node, nodes.Subscript):
            found = self.made_of_axes(name, frame)
        if found is not None:
            return found
        size = self.known(("scalar", wanted), frame)
        if size is not None:
            return number(size)
        if declaration(self.scope, wanted) is not None:
            raise NotationError(206, f"{wanted} is declared, but no value was given for it")
        if isinstance(node, nodes.Superscript):
            return self.power(node, frame)
        if wanted == Key(name.base) and name.base in CONSTANTS:
            return number(CONSTANTS[name.base])
        raise NotationError(201, f"{wanted} is not known")

    def find_by_value(self, name: Spelled, frame: Frame) -> Tensor | None:
        """X^L as X^2, where L is 2 and X a family."""
        families = [family.name.base for family in self.scope.families]
        families += [each.base for _, each, _, over in self.scope.declarations if over is not None]
        for place in frame.outwards():
            families += [family.name.base for family in place.function.families] if place.function else []
        if name.base not in families:
            return None
        return self.find(name.key(lambda word: frame.index(word) or whole(self.known_number(("scalar", Key(word)), frame))), frame)

    def made_of_axes(self, name: Spelled, frame: Frame) -> Tensor | None:
        """iota_{ax} and I_{ax,ax'}."""
        axes = [axis_of(part) for part in name.subscript]
        if name.superscript or name.base not in ("iota", "ι", "I") or None in axes:
            return None
        real = [each for axis in axes for each in frame.real(axis.name)]  # type: ignore[union-attr]
        if name.base != "I" and len(real) == 1:
            return Tensor({real[0]: self.size(real[0], frame)}, lambda s: s[real[0]])
        if name.base != "I" or len(real) != 2:
            return None
        if real[0] == real[1]:
            raise NotationError(303, f"{real[0]} occurs twice")
        sizes = [self.known(("size", axis), frame) for axis in real]
        shape = dict(zip(real, sizes if None not in sizes else [max(filter(None, sizes), default=None)] * 2))
        if None in shape.values():
            raise NotationError(309, f"the size of {real[0]} is not known")
        if len(set(shape.values())) != 1:
            raise NotationError(302, f"an identity is square: {real[0]} and {real[1]} differ in size")
        return Tensor(shape, lambda s: int(s[real[0]] == s[real[1]]))

    # -------------------------------------------------------------------------------------------------- expressions
    def value(self, node: Node, frame: Frame) -> Tensor:
        """The value of an expression."""
        try:
            return self.RULES[type(node)](self, node, frame)
        except NotationError as problem:
            raise problem.located(self.scope.source, node.span) from None

    def values(self, parts, frame: Frame) -> list[Tensor]:
        return [self.value(part, frame) for part in parts]

    def power(self, node: nodes.Superscript, frame: Frame) -> Tensor:
        if spelled(node) is not None and len(node.components) != 1:
            raise NotationError(201, f"{spelled(node).key()} is not known")  # type: ignore[union-attr]
        return broadcast(power, *self.values((node.base, node.components[0]), frame))

    def superscript(self, node: nodes.Superscript, frame: Frame) -> Tensor:
        return self.power(node, frame) if spelled(node) is None else self.name(node, frame)

    def subscript(self, node: nodes.Subscript, frame: Frame) -> Tensor:
        if spelled(node) is None:
            raise NotationError(112, "this subscript says neither an index nor a rename")
        return self.name(node, frame)

    def index(self, node: Index, frame: Frame) -> Tensor:
        base = self.value(node.base, frame)
        indices: dict[str, Tensor] = {}
        for axis, part in node.items:
            for real in frame.real(axis.name):
                need(base, real)
                if real in indices:
                    raise NotationError(303, f"{real} is indexed twice")
                indices[real] = self.value(part, frame)
        return index(base, indices)

    def rename(self, node: nodes.Rename, frame: Frame) -> Tensor:
        """Renames, merges and splits of one subscript: all old axes are taken before any new one is made."""
        base = self.value(node.base, frame)
        pairs = [[tuple(r for axis in side for r in frame.real(axis.name)) for side in item] for item in node.items]
        old = [axis for before, _ in pairs for axis in before]
        for axis in old:
            need(base, axis)
        if len(set(old)) != len(old):
            raise NotationError(303, "an axis is renamed twice")
        apart = {axis: f"old {axis}" for axis in old}
        result = rename(base, apart)
        for before, after in pairs:
            sources = tuple(apart[axis] for axis in before)
            if len(sources) == len(after):
                result = rename(result, dict(zip(sources, after)))
            elif len(after) == 1:
                result = merge(result, sources, after[0])
            else:
                result = split(result, sources[0], self.split_sizes(result.shape[sources[0]], after, frame))
        return result

    def split_sizes(self, size: int, into: tuple[str, ...], frame: Frame) -> dict[str, int]:
        """The sizes of the axes that one of this size becomes; one of them may follow from the others."""
        sizes = {axis: self.known(("size", axis), frame) for axis in into}
        unknown = [axis for axis in into if sizes[axis] is None]
        product = math.prod(found for found in sizes.values() if found is not None)
        if len(unknown) > 1:
            raise NotationError(309, f"the sizes of {' and '.join(unknown)} are not known")
        if unknown and (product == 0 or size % product):
            raise NotationError(313, f"{size} cannot be split by {product}")
        return sizes | {axis: size // product for axis in unknown}

    def starred(self, node: nodes.Starred, frame: Frame) -> Tensor:
        base = self.value(node.base, frame)
        return rename(base, {axis: axis + node.mark for axis in base.shape})

    def literal(self, node: nodes.Literal, frame: Frame) -> Tensor:
        axes = [axis.name for axis in node.axes]
        places = {
            (row, column)[2 - len(axes) :]: self.value(cell, frame)
            for row, cells in enumerate(node.rows, 1)
            for column, cell in enumerate(cells, 1)
        }
        return assemble(dict(zip(axes, (len(node.rows), len(node.rows[0]))[2 - len(axes) :])), places)

    def cases(self, node: nodes.Cases, frame: Frame) -> Tensor:
        """The value of the first case whose condition holds; a case that never holds needs no value."""
        conditions = [number(True) if test is None else self.condition(test, frame) for _, test in node.branches]
        first = broadcast(lambda *holds: holds.index(True) if True in holds else None, *conditions)
        taken = set(first.entries.values())
        if None in taken:
            raise NotationError(405, "no case holds for some elements")
        options = [self.option(part, frame, place in taken) for place, (part, _) in enumerate(node.branches)]
        return broadcast(lambda place, *found: found[place], first, *options)

    def option(self, node: Node, frame: Frame, taken: bool) -> Tensor:
        try:
            return self.value(node, frame)
        except NotationError as problem:
            if taken or problem.kind != "value":
                raise
            return number(math.nan)

    def condition(self, node: Node, frame: Frame) -> Tensor:
        found = self.value(node, frame)
        if not all(isinstance(entry, bool) for entry in found.entries.values()):
            raise NotationError(315, "a condition is due here, and this is a number")
        return found

    def indicator(self, node: nodes.Indicator, frame: Frame) -> Tensor:
        return broadcast(int, self.condition(node.condition, frame))

    def axis_size(self, node: Size, frame: Frame) -> Tensor:
        """|a|: the size of an axis, or the absolute value of a tensor."""
        axis = node.axis.name
        size = self.size_value(node, frame)
        base, _, label = axis.partition("_")
        found = self.find(Key(base, (label,) if label else ()), frame)
        if size is not None and found is not None and found.shape:
            raise NotationError(205, f"{axis} is both an axis and a tensor")
        if size is not None:
            return number(size)
        if found is not None:
            return broadcast(abs, found)
        mentioned = {axis.name for axis in walk(self.scope.program) if isinstance(axis, nodes.Axis) and axis is not node.axis}
        raise NotationError(309 if axis in mentioned else 204, f"the size of {axis} is not known")

    def derivative(self, node: Node, frame: Frame) -> Tensor:
        raise NotationError(408, "derivatives parse, but do not run yet")

    # ------------------------------------------------------------------------------------------------- sums by index
    def index_sum(self, node: nodes.IndexSum, frame: Frame) -> Tensor:
        first, last = self.bound(node.first, frame), self.bound(node.last, frame)
        return self.sum_over(node.operator, node.variable, range(first, last + 1), node.body, frame)

    def sum_over(self, sign: str, variable: Name, values: range, body: Node, frame: Frame) -> Tensor:
        """∑_i …, each term computed alone."""
        if len(values) > STEPS:
            raise NotationError(404, f"a sum of {len(values)} terms is too long here")
        result = number(0 if sign == "∑" else 1)
        for value in values:
            term = self.value(body, Frame(parent=frame, sizes_from=frame, elements={Key(variable.text): number(value)}))
            result = apply("+" if sign == "∑" else "⊙", [result, term], (), (), len)
        return result

    def summed_index(self, node: Call, frame: Frame) -> range | None:
        """The values of i in ∑_i A_{height(i)}; None where i is an axis."""
        variable = node.subscript[0] if len(node.subscript) == 1 else None
        if not isinstance(variable, Name) or variable.text in frame.axes:
            return None
        sizes = set()
        for base_node, axis in indexed_by(variable, node.arguments[0]):
            base = self.value(base_node, frame)
            need(base, *frame.real(axis.name))
            sizes |= {base.shape[real] for real in frame.real(axis.name)}
        if len(sizes) > 1:
            raise NotationError(302, f"{variable.text} indexes axes of several sizes: {sorted(sizes)}")
        return range(1, sizes.pop() + 1) if sizes else None

    # ------------------------------------------------------------------------------------------------------- calls
    def call(self, node: Call, frame: Frame) -> Tensor:
        function, bound = self.matching(node, frame)
        if function is not None:
            return self.call_defined(function, bound, node, frame)
        if node.operator == "size":
            return self.size_of(node, frame)
        if node.operator in ("∑", "∏"):
            over = self.summed_index(node, frame)
            if over is not None:
                return self.sum_over(node.operator, node.subscript[0], over, node.arguments[0], frame)  # type: ignore[arg-type]
        axes = tuple(real for part in node.subscript for real in frame.real(axis_named(part)))
        options = tuple(plain(option) for option in self.values(node.parameters, frame))
        if None in options or len(options) > (node.operator in ("norm", "standardize")):
            raise NotationError(304, f"{node.operator} was given what it does not take after the semicolon")
        result = apply(node.operator, self.values(node.arguments, frame), axes, options, lambda axis: self.size(axis, frame))
        return broadcast(power, result, self.value(node.superscript[0], frame)) if node.superscript else result

    def size_of(self, node: Call, frame: Frame) -> Tensor:
        if len(node.arguments) != 1:
            raise NotationError(304, "size takes the name of one axis")
        return number(math.prod(self.size(axis, frame) for axis in frame.real(axis_named(node.arguments[0]))))

    def matching(self, node: Call, frame: Frame) -> tuple[Function | None, dict[str, Any]]:
        """The function that a use means, the one spelled exactly so before others, and what its head binds."""
        found = []
        for function in self.scope.functions.get(node.operator, []):
            bound = self.match(function, node, frame)
            same = (function.head.subscript, function.head.superscript) == (node.subscript, node.superscript)
            if bound is not None:
                found.append((not same, len(found), function, bound))
        if not found and node.operator in self.scope.functions:
            raise NotationError(201, f"no definition of {node.operator} fits this use")
        return min(found)[2:] if found else (None, {})

    def match(self, function: Function, node: Call, frame: Frame) -> dict[str, Any] | None:
        """What each component of a head stands for in this use: an axis, a number, an index, or just its label."""
        heads = list(function.subscript)
        if len(heads) == 1 and heads[0][0] == "axis":
            heads *= max(1, len(node.subscript))  # one axis of a head stands for as many as the use names
        if (len(heads), len(function.superscript)) != (len(node.subscript), len(node.superscript)):
            return None
        bound: dict[str, Any] = {"axes": {}, "numbers": {}, "indices": {}}
        for (kind, text), part in zip((*heads, *function.superscript), (*node.subscript, *node.superscript)):
            use = component(part, frame.index)
            if kind == "axis":
                axis = axis_of(part)
                if axis is None:
                    return None
                bound["axes"][text] = bound["axes"].get(text, ()) + frame.real(axis.name)
            elif kind == "number":
                bound["numbers"][text] = part
            elif kind == "index":
                if bound["indices"].setdefault(text, use) != use:
                    return None
            elif text not in (use, component(part)):
                return None
        return bound

    def call_defined(self, function: Function, bound: dict[str, Any], node: Call, frame: Frame) -> Tensor:
        arguments = self.values((*node.arguments, *node.parameters), frame)
        count = len(function.parameters) if not node.parameters else len(node.arguments)
        numbers = {name: self.value(part, frame) for name, part in bound["numbers"].items()}
        return self.enter(function, bound, numbers, arguments[:count], arguments[count:], frame)

    def enter(self, function: Function, bound, numbers, arguments, options, caller: Frame) -> Tensor:
        """f(X; W): where f has a signature, for every record of the extra axes, f of the parts of its arguments there."""
        if len(arguments) != len(function.parameters) or len(options) > len(function.options):
            raise NotationError(304, f"{function.title} was given {len(arguments)} arguments and {len(options)} options")
        options = [*options, *(self.option_named(function, name.key()) for name in function.options[len(options) :])]
        needed = needed_axes(function, bound["axes"], [*arguments, *options])
        mark = (id(function), str(bound["indices"]), str(numbers))
        if mark in self.busy:
            raise NotationError(203, f"{function.title} needs itself")

        def result(*parts: Tensor) -> Tensor:
            return self.body(function, bound, numbers, parts, caller)

        self.busy.add(mark)
        try:
            return lift(result, [*arguments, *options], needed)
        finally:
            self.busy.discard(mark)

    def option_named(self, function: Function, name: Key) -> Tensor:
        """A parameter after the semicolon that the call leaves out: the input or tensor of that name."""
        found = self.find(name, self.top) if name in self.top.variables or name not in function.declarations else None
        if found is None:
            raise NotationError(206, f"{name} is a parameter of {function.title}, and no value was given for it")
        return found

    def body(self, function: Function, bound, numbers, parts, caller: Frame) -> Tensor:
        """The value of a function's body for arguments that have no extra axes."""
        names = [name.key() for name in (*function.parameters, *function.options)]
        signature = function.signature
        inner = Frame(
            parent=self.top, sizes_from=caller, function=function,
            variables={**dict(zip(names, parts)), **{Key(text): value for text, value in numbers.items()}},
            axes=bound["axes"], indices=bound["indices"],
        )  # fmt: skip
        for name, X in zip(names, parts):
            if name in function.declarations:
                inner.facts += self.sizes_of(function.declarations[name], X, inner)
        for of, X in zip(signature.domain if signature else (), parts):
            inner.facts += self.sizes_of(of, X, inner)
        value = self.value(function.body, inner)
        for of in (*((signature.codomain,) if signature else ()), *function.statement.sets):
            self.check_member(value, of, inner)
        self.check_facts([*stated(function.sizes, inner), *inner.facts])
        for claim in (*function.local_claims, *(Claim(function.body, other, (0, 0)) for other in function.claims)):
            self.check_claim(claim, inner)
        return value

    # ------------------------------------------------------------------------------------------ equations for elements
    def by_elements(self, group: list[Definition], frame: Frame) -> Tensor:
        """Y_{seq(i), kernel(j)} = …: each element computed alone, its indices plain numbers (§2.3)."""
        sizes = self.element_sizes(group, frame)
        elements: dict[tuple, Tensor] = {}
        for definition in group:
            for place in self.places(definition, sizes, frame):
                record = {}
                for axis, part in definition.elements:
                    (real,) = frame.real(axis.name)
                    record[real] = position(plain(self.value(part, place)), sizes[real], real)
                where = tuple(record[axis] for axis in sizes)
                if where in elements:
                    raise NotationError(406, f"{definition.key} has several values at {record}")
                elements[where] = self.value(definition.body, place)
        missing = next((record for record in records(sizes) if tuple(record.values()) not in elements), None)
        if missing is not None:
            raise NotationError(406, f"{group[0].key} has no value at {missing}")
        return assemble(sizes, elements)

    def places(self, definition: Definition, sizes: Mapping[str, int], frame: Frame) -> Iterator[Frame]:
        """A frame for each element that an equation gives: i, j from 1 to the size, the variable of a range over it."""
        over, ranges = definition.range, {}
        for axis, part in definition.elements:
            if isinstance(part, Name) and not (over is not None and part.text == over.variable.text):
                ranges[part.text] = sizes[frame.real(axis.name)[0]]
        steps = range(1) if over is None else range(self.bound(over.first, frame), self.bound(over.last, frame) + 1)
        if len(steps) > STEPS:
            raise NotationError(404, "this range is too long")
        for step in steps:
            for record in records(ranges):
                indices = record if over is None else {**record, over.variable.text: step}
                elements = {Key(name): number(value) for name, value in indices.items()}
                yield Frame(parent=frame, sizes_from=frame, elements=elements)

    def element_sizes(self, group: list[Definition], frame: Frame) -> dict[str, int]:
        """The size of each axis on the left: as declared, as the function's result says, or as it is in this call."""
        stated = {}
        for of, place in self.sets_of(group[0].key, frame):
            for axis, size in set_axes(of, place):
                found = None if size is None else self.size_value(size, place)
                if found is not None:
                    stated[axis] = whole_size(found, axis)
        found = {}
        for definition in group:
            for axis, _ in definition.elements:
                if len(frame.real(axis.name)) != 1:
                    raise NotationError(316, "an index takes one axis")
                (real,) = frame.real(axis.name)
                found[real] = stated[real] if real in stated else self.size(real, frame)
        return found

    def sets_of(self, name: Key, frame: Frame) -> Iterator[tuple[nodes.Set, Frame]]:
        """The sets that a defined name is said to be in."""
        for place in frame.outwards():
            function = place.function
            if function is not None and name in function.declarations:
                yield function.declarations[name], frame
            if function is not None and function.signature is not None:
                result = spelled(function.body)
                if result is not None and result.key() == name:
                    yield function.signature.codomain, place
        declared = declaration(self.scope, name)
        if declared is not None:
            yield declared[0], Frame(parent=frame, sizes_from=frame, indices=declared[1])

    # -------------------------------------------------------------------------------------------------------- sizes
    def size(self, axis: str, frame: Frame) -> int:
        """|axis|, where it has to be known."""
        found = self.known(("size", axis), frame)
        if found is None:
            raise NotationError(309, f"the size of {axis} is not known", hint=f"give it by name: sizes={{{axis!r}: 3}}")
        return found

    def known(self, symbol: tuple, frame: Frame) -> Any:
        """|ax| for ("size", "ax"), the number n for ("scalar", n), in sight of a frame; None where nothing says it."""
        mark = (symbol, id(frame))
        if mark in self.busy:
            return None
        self.busy.add(mark)
        try:
            return self.search(symbol, frame)
        finally:
            self.busy.discard(mark)

    def search(self, symbol: tuple, frame: Frame) -> Any:
        place: Frame | None = frame
        while place is not None:
            found = self.seen(symbol, place)
            if found is None:
                found = self.solve(symbol, self.facts_at(place, symbol))
            if found is not None:
                return found
            place = self.next_for_sizes(symbol, place)
        found = self.solve(symbol, [*stated(self.scope.sizes, frame), *self.top.facts])
        return found if found is not None else self.in_brackets(symbol, frame)

    def next_for_sizes(self, symbol: tuple, place: Frame) -> Frame | None:
        """A function with a signature sees the caller's size of an axis that the use names, and no other."""
        if place.function is not None and place.function.signature is not None:
            named = symbol[0] == "size" and any(symbol[1] in axes for axes in place.axes.values())
            return place.sizes_from if named else place.parent
        return place.sizes_from or place.parent

    def seen(self, symbol: tuple, place: Frame) -> Any:
        """The size of an axis that the tensors of this frame have, or the number of that name."""
        kind, name = symbol
        if kind == "scalar":
            found = plain(place.variables.get(name))
            if found is None and name == Key(name.base):
                found = whole(place.indices.get(name.base))
            return found if found is not None or place is not self.top else self.given_size(name)
        sizes = {X.shape[name] for X in place.variables.values() if name in X.shape}
        if len(sizes) > 1:
            raise NotationError(302, f"|{name}| is asked for, and {name} has several sizes here: {sorted(sizes)}")
        if not sizes and place is self.top:
            return self.sizes.get(name)
        return sizes.pop() if sizes else None

    def given_size(self, name: Key) -> int | None:
        return next((size for text, size in self.sizes.items() if key_or_none(text) == name), None)

    def facts_at(self, place: Frame, symbol: tuple) -> list[Fact]:
        """Equations between sizes that are about this frame: its own, and the program's that speak of its tensors."""
        if place is self.top:
            return []
        own = [*place.facts, *stated(place.function.sizes if place.function else (), place)]
        axes = {axis for X in place.variables.values() for axis in X.shape} - {symbol[1]}
        return own + [fact for fact in stated(self.scope.sizes, place) if axes & axes_measured(fact)]

    def in_brackets(self, symbol: tuple, frame: Frame) -> Any:
        """The size that the declaration of a defined name says: D ∈ ℝ^{seq[5]}."""
        for _, _, sets, _ in self.scope.declarations:
            for axis, size in (pair for of in sets for pair in of.axes):
                if size is not None and symbol == ("size", axis.name):
                    found = self.size_value(size, frame)
                    if found is not None:
                        return found
        return None

    def solve(self, symbol: tuple, facts: list[Fact]) -> Any:
        """The number that makes a fact true, the rest of it being known: the fact is linear in it, or in its inverse."""
        for fact in facts:
            if not any(self.mentions(side, symbol, fact.frame) for side in (fact.left, fact.right)):
                continue
            for trial in (lambda t: t, lambda t: 1 / t):
                one, two, three = (self.difference(fact, (symbol, trial(Fraction(t)))) for t in (1, 2, 3))
                if one is None or two is None or three is None:
                    break
                if one != two and three - two == two - one:
                    root = 1 - one / (two - one)
                    return whole_size(trial(root) if root else root, symbol[1])
        return None

    def difference(self, fact: Fact, trial: tuple | None = None) -> Fraction | None:
        found = [self.size_value(side, fact.frame, trial) for side in (fact.left, fact.right)]
        return None if None in found else Fraction(found[0]) - Fraction(found[1])

    def mentions(self, node: Any, symbol: tuple, frame: Frame) -> bool:
        return not isinstance(node, int) and any(symbol in self.symbols(part, frame) for part in walk(node))

    def symbols(self, node: Any, frame: Frame) -> list[tuple]:
        """|ax| as ("size", "ax"), for each axis that ax stands for; the name n as ("scalar", n)."""
        if isinstance(node, Size):
            return [("size", axis) for axis in frame.real(node.axis.name)]
        name = None if isinstance(node, nodes.Axis) else spelled(node)
        return [] if name is None else [("scalar", name.key(frame.index))]

    def size_value(self, node: Any, frame: Frame, trial: tuple | None = None) -> Any:
        """The number that a size expression stands for, None where it is not known; `trial` supposes a symbol's value."""
        if isinstance(node, int):
            return node
        if isinstance(node, Number):
            return node.value
        symbols = self.symbols(node, frame)
        if symbols:
            supposed = dict([trial] if trial else [])
            found = [supposed.get(each) or self.known_number(each, frame) for each in symbols]
            return None if None in found else math.prod(found)
        if isinstance(node, nodes.Superscript) and len(node.components) == 1:
            parts: tuple = (node.base, node.components[0])
        elif isinstance(node, Call) and node.operator in ARITHMETIC:
            parts = node.arguments
        else:
            return None
        found = [self.size_value(part, frame, trial) for part in parts]
        if None in found:
            return None
        return simple(ARITHMETIC[getattr(node, "operator", "^")](*found))

    def known_number(self, symbol: tuple, frame: Frame) -> Any:
        """A size, or the number that a name stands for, or None."""
        found = self.known(symbol, frame)
        if found is not None or symbol[0] == "size":
            return found
        try:
            return plain(self.find(symbol[1], frame))
        except NotationError:
            return None

    def sizes_of(self, of: nodes.Set, X: Tensor, frame: Frame) -> list[Fact]:
        """What n in seq[n] is, by a tensor of that set."""
        for axis, _ in set_axes(of, frame):
            if axis not in X.shape:
                raise NotationError(317, f"the axis {axis} of a declaration is missing: here are {listed(X.shape)}")
        return [Fact(size, X.shape[axis], frame) for axis, size in set_axes(of, frame) if size is not None]

    # --------------------------------------------------------------------------------------------- what is claimed
    def check_facts(self, facts: list[Fact]) -> None:
        for fact in facts:
            found = self.difference(fact)
            if found is not None and found != 0:
                error = 310 if found.denominator != 1 else 308
                raise NotationError(error, "a stated size does not hold", self.scope.source, fact.left.span)

    def check_definition(self, group: list[Definition], value: Tensor, frame: Frame) -> Tensor:
        for definition in group:
            for of in definition.statement.sets:
                self.check_member(value, of, frame)
            for other in definition.claims:
                self.check_claim(Claim(definition.body, other, (0, 0)), frame)
        for of, place in self.sets_of(group[0].key, frame):
            self.check_member(value, of, place)
        return value

    def check_member(self, value: Tensor, of: nodes.Set, frame: Frame) -> None:
        axes = set_axes(of, frame)
        if {axis for axis, _ in axes} != set(value.shape):
            have, stated = ", ".join(value.shape), ", ".join(axis for axis, _ in axes)
            raise NotationError(307, f"a value with the axes {have or 'none'} cannot be in a set with {stated or 'none'}")
        self.check_facts([Fact(size, value.shape[axis], frame) for axis, size in axes if size is not None])
        self.check_domain(value, of, frame)

    def check_domain(self, value: Tensor, of: nodes.Set, frame: Frame) -> None:
        """{0, 1}, [0, 1] and [n] hold the numbers that they say."""
        ends = [self.size_value(node, frame) for node in of.elements]
        if None in ends or of.domain == "reals":
            return
        holds = {
            "elements": lambda x: x in ends,
            "interval": lambda x: ends[0] <= x <= ends[1],
            "count": lambda x: x == int(x) and 1 <= x <= ends[0],
        }[of.domain]
        for entry in value.entries.values():
            if not holds(entry):
                raise NotationError(407, f"{entry} does not lie in the declared set")

    def check_claim(self, claim: Claim, frame: Frame) -> None:
        left = self.value(claim.left, frame)
        if isinstance(claim.right, nodes.Set):
            return self.check_member(left, claim.right, frame)
        right = self.value(claim.right, frame)
        if left.shape and right.shape and set(left.shape) != set(right.shape):
            raise NotationError(307, "the two sides of = have different axes")
        pairs = [(left(record), right(record)) for record in records(unite(left.shape, right.shape))]
        scale = max((abs(x) for pair in pairs for x in pair if abs(x) < math.inf), default=0)
        for x, y in pairs:
            if not (x == y or abs(x - y) <= TOLERANCE * scale or (x != x and y != y)):
                raise NotationError(403, f"this does not hold: {x} on the left, {y} on the right", self.scope.source, claim.span)

    RULES: dict[type, Callable[..., Tensor]] = {
        Number: lambda self, node, frame: number(node.value),
        Name: name,
        nodes.Subscript: subscript,
        nodes.Superscript: superscript,
        Index: index,
        nodes.Rename: rename,
        nodes.Starred: starred,
        Size: axis_size,
        Call: call,
        nodes.IndexSum: index_sum,
        nodes.Literal: literal,
        nodes.Cases: cases,
        nodes.Indicator: indicator,
        nodes.Differential: derivative,
        nodes.Derivative: derivative,
    }


ARITHMETIC: dict[str, Callable[..., Any]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "⊙": lambda x, y: x * y,
    "juxtaposed": lambda x, y: x * y,
    "/": lambda x, y: Fraction(x) / Fraction(y) if y else None,
    "^": power,
    "negative": lambda x: -x,
}


def simple(value: Any) -> Any:
    """A whole number where a fraction is one."""
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 else value


def whole_size(value: Any, name: Any) -> int:
    if value != int(value) or value < 0:
        raise NotationError(310, f"{name} would be {value}, and a size is a whole number", hint="give sizes that divide")
    return int(value)


def indexed_by(variable: Name, node: Any) -> Iterator[tuple[Node, nodes.Axis]]:
    """What a variable indexes below a node, and along which axis; a sum inside that binds it anew is passed over."""
    for inner in nodes.children(node) if not isinstance(node, Index) else (node.base, *(part for _, part in node.items)):
        if not (isinstance(inner, Call) and inner.operator in ("∑", "∏") and inner.subscript == (variable,)):
            yield from indexed_by(variable, inner)
    if isinstance(node, Index):
        yield from ((node.base, axis) for axis, part in node.items if part == variable)


def need(X: Tensor, *axes: str) -> None:
    for axis in axes:
        if axis not in X.shape:
            raise NotationError(301, f"there is no axis {axis}; the axes are {listed(X.shape)}")


def axis_named(node: Node) -> str:
    axis = axis_of(node)
    if axis is None:
        raise NotationError(301, "here the name of an axis is due")
    return axis.name


def stated(facts, frame: Frame) -> list[Fact]:
    return [Fact(fact.left, fact.right, frame) for fact in facts]


def axes_measured(fact: Fact) -> set[str]:
    """The axes whose sizes an equation speaks of."""
    sides = [side for side in (fact.left, fact.right) if not isinstance(side, int)]
    return {node.axis.name for side in sides for node in walk(side) if isinstance(node, Size)}


def key_or_none(text: str) -> Key | None:
    try:
        return key(text)
    except NotationError:
        return None


def nearest_call(frame: Frame) -> Frame:
    """The frame of the call that is being computed, or of the program."""
    while frame.function is None and frame.parent is not None:
        frame = frame.sizes_from or frame.parent
    return frame


def set_axes(of: nodes.Set, frame: Frame) -> list[tuple[str, Node | None]]:
    """The axes of a set, each with what the set says of its size."""
    axes = [(real, size) for axis, size in of.axes for real in frame.real(axis.name)]
    if len({axis for axis, _ in axes}) != len(axes):
        raise NotationError(303, "an axis occurs twice in one shape")
    return axes


# ------------------------------------------------------------------------------------------------- what is declared
def declaration(scope: Scope, name: Key) -> tuple[nodes.Set, dict[str, Any]] | None:
    """The set that a name of the program is declared to be in, and the indices of the declaration."""
    for _, declared, sets, _ in scope.declarations:
        indices = match_key(declared, name, scope.indices)
        if indices is not None:
            return sets[0], indices
    return None


def declared_sizes(scope: Scope, name: Key, X: Tensor, evaluation: Evaluation) -> list[Fact]:
    declared = declaration(scope, name)
    if declared is None:
        return []
    frame = Frame(parent=evaluation.top, indices=declared[1])
    for axis, _ in set_axes(declared[0], frame):
        if axis in evaluation.sizes and evaluation.sizes[axis] != X.shape.get(axis):
            raise NotationError(308, f"{axis} is {X.shape.get(axis)} in {name}, and sizes= says {evaluation.sizes[axis]}")
    return evaluation.sizes_of(declared[0], X, frame)


def input_axes(scope: Scope, name: Key, X: Tensor) -> tuple[str, ...]:
    """The axes that the program itself gives an input; all others are extra."""
    declared = declaration(scope, name)
    of = declared[0] if declared is not None else None
    for function in scope.all_functions():
        if of is None and function.signature is not None and name in (option.key() for option in function.options):
            of = function.declarations.get(name)
    return tuple(X.shape) if of is None else tuple(axis for axis, _ in set_axes(of, Frame()))


def needed_axes(function: Function, axes: dict[str, tuple[str, ...]], tensors: list[Tensor]) -> list[tuple[str, ...]]:
    """The axes that a function needs of each argument and parameter: those of its signature and of its declarations."""
    if function.signature is None:
        return [tuple(X.shape) for X in tensors]
    domain = list(function.signature.domain)
    if len(domain) != len(function.parameters):
        raise NotationError(304, f"the signature of {function.title} has another number of arguments than its head")
    sets = domain + [function.declarations.get(name.key()) for name in function.options]
    place = Frame(axes=axes)
    return [tuple(X.shape if of is None else (a for a, _ in set_axes(of, place))) for X, of in zip(tensors, sets)]


# ---------------------------------------------------------------------------------------------------- the public way
def as_tensor(value: Any, name: str) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (bool, int, float)):
        return number(value)
    raise NotationError(317, f"{name} was given as {type(value).__name__}, which is neither a Tensor nor a number")


def run(scope: Scope, inputs: Mapping[Key, Tensor], sizes, arguments, needed, compute) -> Tensor:
    """A program is a function of its arguments and of the declared inputs that it uses: it is lifted by that type."""
    used: set[Key] = set()

    def result(*parts: Tensor) -> Tensor:
        evaluation = Evaluation(scope, dict(zip(inputs, parts)), sizes)
        value = compute(evaluation, parts[len(inputs) :])
        used.update(evaluation.used)
        return value

    tensors = [*inputs.values(), *arguments]
    axes = [*(input_axes(scope, name, X) for name, X in inputs.items()), *needed]
    with deep_recursion():
        anywhere = [first(X, own) for X, own in zip(tensors, axes)]
        value = result(*anywhere)  # tells which inputs are used
        lifted = [*(name in used for name in inputs), *(True for _ in arguments)]
        tensors = [X if chosen else part for X, part, chosen in zip(tensors, anywhere, lifted)]
        return value if all(map(operator.is_, tensors, anywhere)) else lift(result, tensors, axes)


def first(X: Tensor, axes: tuple[str, ...]) -> Tensor:
    """The part of a tensor at the first record of its extra axes; itself where it has none."""
    extra = {axis: 1 for axis in X.shape if axis not in axes}
    return at(X, extra) if extra else X


@contextmanager
def deep_recursion():
    """Formulas nest deeper than Python's own limit on calls."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 20_000))
    try:
        yield
    except RecursionError:
        raise NotationError(404, "this formula nests too deep") from None
    finally:
        sys.setrecursionlimit(before)


def read(source: str, syntax: str, values: Mapping[str, Any]) -> tuple[Scope, dict[Key, Tensor]]:
    inputs = {key(name): as_tensor(value, name) for name, value in values.items()}
    shadowed = frozenset(str(name) for name in inputs if str(name) in FUNCTIONS)
    return analyse(source, parse(source, syntax, shadowed)), inputs


def evaluate(source: str, values: Mapping[str, Any], sizes: Mapping[str, int], syntax: str) -> Tensor:
    scope, inputs = read(source, syntax, values)
    return run(scope, inputs, sizes, [], [], lambda evaluation, _: evaluation.whole())


def call(source: str, name: str, arguments, values: Mapping[str, Any], sizes: Mapping[str, int], syntax: str) -> Tensor:
    scope, inputs = read(source, syntax, values)
    wanted = key(name)
    if wanted.base not in scope.functions:
        if arguments:
            raise NotationError(304, f"{name} is no function, and was given {len(arguments)} arguments")
        return run(scope, inputs, sizes, [], [], lambda evaluation, _: evaluation.checked(evaluation.find_known(wanted, evaluation.top)))
    use = Call(wanted.base, tuple(map(part_of_name, wanted.superscript)), tuple(map(part_of_name, wanted.subscript)), ())
    function, bound = Evaluation(scope, {}, sizes).matching(use, Frame())
    assert function is not None
    tensors = [as_tensor(argument, f"argument {place}") for place, argument in enumerate(arguments, 1)]
    tensors += [inputs[name.key()] for name in function.parameters[len(tensors) :] if name.key() in inputs]
    count = len(function.parameters)

    def compute(evaluation: Evaluation, parts) -> Tensor:
        numbers = {text: evaluation.value(part, evaluation.top) for text, part in bound["numbers"].items()}
        return evaluation.checked(evaluation.enter(function, bound, numbers, parts[:count], parts[count:], evaluation.top))

    return run(scope, inputs, sizes, tensors, needed_axes(function, bound["axes"], tensors), compute)


def part_of_name(text: str) -> Node:
    return Number(int(text)) if text.isdecimal() else Name(text)
