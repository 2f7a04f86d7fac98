"""Collect the names in expressions and statements in a single walk.

    ∑_{i=1}^n W^{l,Q}_i ⊙_{seq} f(X) / √|seq|

This expression uses the names n, W^{l,Q}_i and X, calls f, names the axis seq and its size, and has the indices i, l
and Q.
"""

# pyright: reportUnknownVariableType=false
# of the empty sets of new records
from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from grammar import nodes
from grammar.nodes import Axis, Call, Index, Name, Node, Number, Size, axis_of
from grammar.traversal import children

from .names import MARKS, Spelled, component_names, read_spelling, walk

OF_AXES = frozenset({"iota", "ι", "I", "ones"})  # The axes of these tensors determine their values.
ARITHMETIC = {"+", "-", "⊙", "/", "^", "juxtaposed", "negative", "∑", "∏", "=", "≠", "<", "≤", ">", "≥", "∧", "∨", "¬"}
NOTHING: frozenset[str] = frozenset()


class NameUse(NamedTuple):
    """A name, or a call with scripts, in an expression. `bound` contains the names that are bound at its position."""

    node: Node
    bound: frozenset[str]


class Uses(NamedTuple):
    """The names in some expressions, grouped by role, such as variables, indices and axes."""

    references: tuple[NameUse, ...]  # In source order.
    variables: frozenset[str]  # Operands and indices without labels, including bound names.
    indices: frozenset[str]  # Names in scripts, without primes.
    named_axes: frozenset[str]  # Axes without stars.
    made: frozenset[tuple[str, str]]  # Names in OF_AXES, each with one of its axes.
    sizes: frozenset[str]  # The axis a of each size |a|.
    calls: frozenset[str]  # Functions and operators.

    @property
    def words(self) -> frozenset[str]:
        """The names of tensors and functions in the expressions, without scripts."""
        return self.variables | self.indices | self.calls

    @property
    def names(self) -> list[Node]:
        """The free names among the operands of the expressions, with their scripts."""
        return [node for node, _ in self.references if not isinstance(node, Call)]

    def axes(self, makers: frozenset[str] = OF_AXES) -> frozenset[str]:
        """Return the axes in subscripts and sizes, without stars.

        The result includes the axes in the scripts of the names in `makers`.
        """
        of_makers = (axis for base, axis in self.made if base in makers)
        return self.named_axes.union(of_makers, (size.rstrip(MARKS) for size in self.sizes))


def uses_of(*roots: Any) -> Uses:
    """Return the names in some trees, grouped by role."""
    collector = Collector()
    stack: list[tuple[Any, frozenset[str]]] = [(root, NOTHING) for root in reversed(roots)]
    while stack:  # A long sum is deeper than Python's recursion limit.
        node, bound = stack.pop()
        kind: Any = type(node)
        if kind is Axis:
            collector.axes.add(node.name.rstrip(MARKS))
        elif kind is Size:
            collector.sizes.add(node.axis.name)
        elif kind is Call:
            stack += [(part, bound) for part in reversed(collector.read_call(node, bound))]
        elif kind in BINDERS:
            stack += reversed(collector.read_binder(node, bound))
        elif (name := read_spelling(node)) is not None:
            stack += [(part, bound) for part in reversed(collector.read_name(node, name, bound))]
        else:
            stack += [(part, bound) for part in reversed(children(node))]
    sets = (collector.variables, collector.indices, collector.axes, collector.made, collector.sizes, collector.calls)
    return Uses(tuple(collector.references), *map(frozenset, sets))  # type: ignore[arg-type]


@dataclass
class Collector:
    """The names found so far in a walk over a tree."""

    references: list[NameUse] = field(default_factory=list)
    variables: set[str] = field(default_factory=set)
    indices: set[str] = field(default_factory=set)
    axes: set[str] = field(default_factory=set)
    made: set[tuple[str, str]] = field(default_factory=set)
    sizes: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)

    def read_call(self, node: Call, bound: frozenset[str]) -> list[Any]:
        """Record the function and scripts of a call, and return its remaining children."""
        self.calls.add(node.operator)
        if node.operator == "standardize":
            self.references.append(NameUse(Name("ε"), NOTHING))
        parts: list[Any] = []
        if node.superscript or node.subscript:
            self.references.append(NameUse(node, bound))
            axes = [(part, axis_of(part)) for part in node.subscript]
            parts = [part for part, axis in axes if axis is None]
            self.axes |= {axis.name.rstrip(MARKS) for _, axis in axes if axis is not None}
            self.variables.update(*map(component_names, node.superscript))
            self.indices.update(*map(component_names, (*node.subscript, *node.superscript)))
        return [*parts, *node.arguments, *node.parameters]

    def read_name(self, node: Node, name: Spelled, bound: frozenset[str]) -> Sequence[Node]:
        """Record a name and its scripts, and return the components that can only be exponents."""
        self.variables.add(name.base)
        if name.base not in bound:
            self.references.append(NameUse(node, bound))
        if not name.subscript and not name.superscript:
            return []
        if name.base in OF_AXES:
            self.made |= {(name.base, axis.name) for axis in map(axis_of, name.subscript) if axis is not None}
        parts = (*name.subscript, *name.superscript)
        terms = [part for part in parts if not isinstance(part, (Name, Number)) and any(map(is_term, walk(part)))]
        labels = [part for part in name.subscript if isinstance(part, Name)]
        for inner in (inner for part in parts if part not in terms for inner in walk(part)):
            if isinstance(inner, Call):
                self.calls.add(inner.operator)
            elif isinstance(inner, Name) and inner not in labels:
                self.variables |= {inner.text, inner.text.rstrip("'")}  # γ^{l'} may be the γ' of layer l.
        self.indices.update(*map(component_names, parts))
        return terms

    def read_binder(self, node: Any, bound: frozenset[str]) -> list[tuple[Any, frozenset[str]]]:
        """Return pairs of a child and the names bound in it, for an operator that binds names or random variables."""
        if isinstance(node, nodes.Expectation):
            self.references += (NameUse(Name(text), NOTHING) for text in ("draws", "seed"))
            parts: list[tuple[Any, frozenset[str]]] = []
            for draw in node.draws:
                if isinstance(draw, Name):  # A separate statement declares the random variable.
                    parts.append((draw, bound))
                    continue
                parts += [(part, bound) for part in children(draw)]
                bound = bound | {draw.name}
            return [*parts, (node.body, bound)]
        if isinstance(node, nodes.Draw):
            self.references.append(NameUse(Name("seed"), NOTHING))
            return [(part, bound) for part in children(node)]
        self.variables.add(node.variable.text)
        inner = bound | {node.variable.text}
        if isinstance(node, nodes.IndexSum):
            return [(node.first, bound), (node.last, bound), (node.body, inner)]
        return [(node.over, bound if isinstance(node.over, nodes.Set) else inner), (node.body, inner)]


BINDERS = (nodes.IndexSum, nodes.Over, nodes.Expectation, nodes.Draw)


def is_term(node: Any) -> bool:
    """Return whether a component of a superscript must be an exponent, rather than an index or a label."""
    return isinstance(node, (Index, Size)) or (isinstance(node, Call) and bool(node.subscript))


def is_open(node: Any) -> bool:
    """Return whether a side of an assertion has a type but no computable value.

    Examples are limits and minima over all tensors.
    """
    return any(
        isinstance(part, nodes.Over)
        and (part.operator == "lim" or isinstance(part.over, nodes.Set) and part.over.domain not in COUNTED)
        for part in walk(node)
    )


def find_indices(root: Any) -> set[str]:
    """Return the indices that ranges and sums bind, such as l in `for l = 1, …, L` and i in ∑_i X_{ax(i)}."""
    names: set[str] = set()
    for node in walk(root):
        if isinstance(node, nodes.Range):
            names |= node.variables
        elif isinstance(node, (nodes.IndexSum, nodes.Over)):
            names.add(node.variable.text)
        elif isinstance(node, Call) and node.operator in OVER_INDICES and len(node.subscript) == 1:
            index = node.subscript[0]
            parts = (part for argument in node.arguments for part in walk(argument) if isinstance(part, Index))
            if isinstance(index, Name) and any(index in walk(at) for part in parts for _, at in part.items):
                names.add(index.text)
    return names


NEARLY = frozenset({"≈", "∝"})  # Relations that are not checked by values.
COUNTED = ("elements", "count", "field")  # Finite sets of numbers.
OVER_INDICES = frozenset({"∑", "∏", "max", "min", "argmax", "argmin", "mean", "any", "all", "logsumexp"})


# ------------------------------------------------------------------------------------------ what needs what
Thing = TypeVar("Thing", bound=Hashable)


def reach(starts: Iterable[Thing], following: Callable[[Thing], Iterable[Thing]]) -> dict[Thing, None]:
    """Return the starting values and all values reachable from them, without repetition, in order of discovery.

    >>> [*reach([12], lambda number: [number // 2, number // 3] if number > 1 else [])]
    [12, 6, 4, 2, 1, 0, 3]
    """
    reached = dict.fromkeys(starts)
    waiting = [*reached]
    while waiting:
        new = [thing for thing in following(waiting.pop()) if thing not in reached]
        reached.update(dict.fromkeys(new))
        waiting += new
    return reached


def number_components(needs: Mapping[Thing, Iterable[Thing]]) -> dict[Thing, int]:
    """Return, for each key, the number of its strongly connected component in the graph `needs`."""
    order: dict[Thing, None] = {}
    for root in needs:
        stack = [] if root in order else [root]
        opened: dict[Thing, None] = {}
        while stack:
            thing = stack[-1]
            further = [] if thing in opened else [other for other in needs[thing] if other not in order]
            opened[thing] = None
            stack += [other for other in further if other not in opened]
            if stack[-1] is thing:
                order.setdefault(stack.pop())
    users: dict[Thing, list[Thing]] = {}
    for thing, needed in needs.items():
        for other in needed:
            users.setdefault(other, []).append(thing)
    numbers: dict[Thing, int] = {}
    for number, root in enumerate(reversed(order)):
        waiting = [root]
        while waiting:
            thing = waiting.pop()
            if thing not in numbers:
                numbers[thing] = number
                waiting += users.get(thing, ())
    return numbers
