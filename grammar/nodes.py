"""The syntax tree, which represents the structure of a source before names are resolved.

Nodes are frozen and compare by structure. A comparison ignores the `span`, which is the start and end of the node in
the source. The package `namedtensor.scope` later decides whether `W^2` is a name or a power, and whether `a` in `f_{a}`
is an axis, a number or a label.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

Span = tuple[int, int]
REMOVED = {"FunctionSet": ", which was removed in 0.2; write an equation for each function argument"}


def _span():
    return field(default=(0, 0), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Number:
    """A number, such as 2 or 0.25."""

    value: int | float
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Name:
    """A name, such as Q, X', γ or ∞. In a script, the name may also be an axis, such as seq or seq*."""

    text: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis name, such as seq, seq' or hidden_1, in a position that accepts only axes."""

    name: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Superscript:
    """An expression with a superscript: a power, label or index, as in x^2, W^{l,Q} or h^{t-1}."""

    base: Node
    components: tuple[Node, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Subscript:
    """An expression, usually a name, with labels in a subscript, as in b_1, LN_W or n_{l-1}."""

    base: Node
    components: tuple[Node, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Index:
    """An indexed expression, such as A_{height(1), width(i+1)}."""

    base: Node
    items: tuple[tuple[Axis, Node], ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Rename:
    """A renaming of axes, as in X_{a→b, (c,d)→e, f→(g,h)}. All items (old axes, new axes) apply simultaneously."""

    base: Node
    items: tuple[tuple[tuple[Axis, ...], tuple[Axis, ...]], ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Starred:
    """An expression with stars or daggers on all of its axes, as in (expr)^* or X^†. `mark` is the star or dagger."""

    base: Node
    mark: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Size:
    """The size of an axis, such as |key|."""

    axis: Axis
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Call:
    """A use of an operator or a function, such as Q ⊙_{key} K, softmax_{seq} X, FFN^l(X; W, b), 2 X, −X or i ≤ j.

    `operator` is the name without scripts. It is "juxtaposed" for 2 X and "negative" for −X. In a signature, a Call
    without arguments is the declared function or operator.
    """

    operator: str
    superscript: tuple[Node, ...]
    subscript: tuple[Node, ...]
    arguments: tuple[Node, ...]
    parameters: tuple[Node, ...] = ()
    span: Span = _span()
    operator_span: Span = _span()


@dataclass(frozen=True, slots=True)
class IndexSum:
    """An operator over an index variable with bounds, as in ∑_{i=1}^{n} … or max_{i=1}^{n} …."""

    operator: str
    variable: Name
    first: Node
    last: Node
    body: Node
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Over:
    """An operator over a set, a condition or a limit, such as max_{i ∈ [n]} …, ∑_{j ≠ i} … or lim_{α→∞} ….

    `over` is a Set, a condition on the variable, or the variable's limit. A condition may bind additional variables, as
    in ∑_{1≤i<j≤n} …. A condition does not bind names that are already known.
    """

    operator: str
    variable: Name
    over: Set | Node
    body: Node
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Draw:
    """A random variable for each position along `axes`, as in x ∼ N(μ, σ^2)^{seq}, or a random index, as in i ∼ p.

    `family` is the name of the distribution, such as N. For i ∼ p it is empty, and p is the only argument. `labels` are
    the variable's labels, such as t in z^t ∼ N(0, 1). In an equation, a Draw is a right-hand side.
    """

    name: str
    family: str
    arguments: tuple[Node, ...]
    axes: tuple[tuple[Axis, Node | None], ...] = ()
    labels: tuple[Node, ...] = ()
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Expectation:
    """An expectation over random variables, such as 𝔼_{x ∼ N(0, 1), i ∼ p} ….

    A name in `draws` is a random variable with a distribution in another statement, such as x ∼ N(0, 1). If `draws` is
    empty, the expectation is over all random variables in the body.
    """

    draws: tuple[Draw | Name, ...]
    body: Node
    span: Span = _span()

    @property
    def drawn(self) -> tuple[Draw, ...]:
        """The random variables with distributions. Name resolution adds the distributions from other statements."""
        return tuple(draw for draw in self.draws if isinstance(draw, Draw))


@dataclass(frozen=True, slots=True)
class AtPoint:
    """An expression at given points, which replace some of its names, as in (∂Y/∂X*)|_{X = U} or f(t)|_{t = 0}."""

    body: Node
    points: tuple[tuple[Name, Node], ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice that includes both ends, such as 2:4 in X_{seq(2:4)}."""

    first: Node
    last: Node
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal, such as [3, 1, 4; 1, 5, 9]_{height, width}. A literal with one axis has one row."""

    rows: tuple[tuple[Node, ...], ...]
    axes: tuple[Axis, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Cases:
    """Cases such as { 0 if i ≤ j; -∞ otherwise }, as pairs (value, condition). The condition of `otherwise` is None."""

    branches: tuple[tuple[Node, Node | None], ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Indicator:
    """An indicator, such as 𝕀[i = j]."""

    condition: Node
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Differential:
    """A differential, ∂(expr)."""

    body: Node
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Derivative:
    """A derivative, such as ∂f(X)/∂X*."""

    body: Node
    variable: Node
    mark: str
    span: Span = _span()


Node = Union[
    Number, Name, Superscript, Subscript, Index, Rename, Starred, Size, Call, IndexSum, Over, Draw, Expectation, AtPoint, Slice, Literal, Cases, Indicator,
    Differential, Derivative,
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Set:
    """A set, such as ℝ^{seq × chans[3]}, {0,1}^{seq}, [0,1] or [n]^{seq}.

    `domain` is "reals", "integers" (ℤ), "naturals" (ℕ), "positive" (ℝ_{>0}), "nonnegative" (ℝ_{≥0}), "field" (F, any
    field), "elements" ({a, b}), "interval" ([a, b]) or "count" ([n]). `axes` are pairs of an axis and its size, which
    may be None.
    """

    domain: str
    elements: tuple[Node, ...]
    axes: tuple[tuple[Axis, Node | None], ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Range:
    """A range, such as for t = 1, …, n. If there are several ranges, `further` is the next range.

    `down` is true if a second number shows that the range counts down, as in t = n, n-1, …, m.
    """

    variable: Name
    first: Node
    last: Node
    span: Span = _span()
    further: Range | None = None
    down: bool = False

    @property
    def each(self) -> tuple[Range, ...]:
        return (self,) if self.further is None else (self, *self.further.each)

    @property
    def variables(self) -> frozenset[str]:
        return frozenset(range_.variable.text for range_ in self.each)

    @property
    def downward(self) -> bool:
        """Whether the range counts down, as in 3, …, 1 or n, n-1, …, m."""
        if self.down or not isinstance(self.last, Number):
            return self.down
        return self.last.value <= 1 if not isinstance(self.first, Number) else self.first.value > self.last.value

    @property
    def low(self) -> Node:
        return self.last if self.downward else self.first

    @property
    def high(self) -> Node:
        return self.first if self.downward else self.last


@dataclass(frozen=True, slots=True)
class Value:
    """A statement that consists of an expression."""

    body: Node
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Equation:
    """An equation, such as a = b = c ∈ S for t = 1, …, n.

    For a ≜ b, `defines` is true, and any other equation for a is an assertion. The equations a ≜ b and a = b compare
    equal.
    """

    sides: tuple[Node, ...]
    sets: tuple[Set, ...] = ()
    range: Range | None = None
    span: Span = _span()
    defines: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Update:
    """An update, such as C ← C + 1 or X_{seq(2)} ← 0. The name has the new value in later statements."""

    target: Node
    body: Node
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement that consists of a comparison, such as ε > 0 or Y ≈ X + 1."""

    condition: Node
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration of names, such as γ, β ∈ ℝ^{chans}."""

    names: tuple[Node, ...]
    sets: tuple[Set, ...]
    range: Range | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature, such as f : ℝ^{a} × ℝ → ℝ. `head` is a Call without arguments."""

    head: Call
    domain: tuple[Set, ...]
    codomain: Set
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Imports:
    """An import, such as from "attention.nt" import Attention, FFN as MLP. `names` contains pairs (original, local)."""

    path: str
    names: tuple[tuple[Name, Name], ...]
    span: Span = _span()
    path_span: Span = _span()


@dataclass(frozen=True, slots=True)
class Ellipsis:
    """The ellipsis ⋮ between statements."""

    span: Span = _span()


Statement = Union[Value, Equation, Fact, Update, Declaration, Signature, Imports, Ellipsis]


@dataclass(frozen=True, slots=True)
class Program:
    """A program: a sequence of statements in source order."""

    statements: tuple[Statement, ...]
    span: Span = _span()


def axis_of(node: Node) -> Axis | None:
    """Convert `node` to an axis name, such as seq, hidden_1 or seq*, or return None if it cannot name an axis."""
    if isinstance(node, Name):
        return Axis(node.text, node.span)
    if isinstance(node, Subscript) and len(node.components) == 1:
        base, label = axis_of(node.base), node.components[0]
        if base is not None and isinstance(label, (Name, Number)):
            return Axis(f"{base.name}_{label.text if isinstance(label, Name) else label.value}", node.span)
    if isinstance(node, Starred):
        base = axis_of(node.base)
        return base and Axis(base.name + node.mark, node.span)
    return None


def __getattr__(name: str) -> object:
    raise AttributeError(f"grammar.nodes has no {name}{REMOVED.get(name, '')}", name=name)
