"""The syntax tree: the source's structure, before any name has a meaning.

Nodes are frozen and compare by structure; a node's `span` (start and end in the source) is not compared. Whether `W^2`
is a name or a power, whether `f_{a}` carries an axis, a number or a label, is decided later, in `namedtensor.scope`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

Span = tuple[int, int]


def _span():
    return field(default=(0, 0), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Number:
    """2, 0.25"""

    value: int | float
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Name:
    """A name such as Q, X', γ or ∞. In a script it may also be an axis: seq, seq*."""

    text: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Axis:
    """The name of an axis in a position that only allows axes: seq, seq', hidden_1, seq*"""

    name: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Superscript:
    """x^2, W^{l,Q}, h^{t-1}: a label, an index, or a power"""

    base: Node
    components: tuple[Node, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Subscript:
    """b_1, LN_W, n_{l-1}: a label"""

    base: Node
    components: tuple[Node, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Index:
    """A_{height(1), width(i+1)}"""

    base: Node
    items: tuple[tuple[Axis, Node], ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Rename:
    """X_{a→b, (c,d)→e, f→(g,h)}: each item is (old axes, new axes), all at once"""

    base: Node
    items: tuple[tuple[tuple[Axis, ...], tuple[Axis, ...]], ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Starred:
    """(expr)^*, X^†: marks all axes; `mark` is a string of stars and daggers"""

    base: Node
    mark: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Size:
    """|key|"""

    axis: Axis
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Call:
    """A use of an operator or a function: Q ⊙_{key} K, softmax_{seq} X, FFN^l(X; W, b), 2 X, −X, i ≤ j

    `operator` is its name without scripts; "juxtaposed" for 2 X and "negative" for −X. A number of arguments of 0 is a
    bare head, in a signature.
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
    """∑_{i=1}^{n} …, ∏_i …: a sum or product over an index variable with its bounds"""

    operator: str
    variable: Name
    first: Node
    last: Node
    body: Node
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Over:
    """max_{i ∈ [n]} …, ∑_{j ≠ i} …, argmin_{x ∈ ℝ^{n}} …, lim_{α→∞} …: over a set, a condition or a limit.

    `over` is a Set, a condition on the variable, or its limit. A condition may bind further variables, as
    ∑_{1≤i<j≤n} … does: the known names at its position determine which ones.
    """

    operator: str
    variable: Name
    over: Set | Node
    body: Node
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Draw:
    """x ∼ N(μ, σ^2)^{seq}, a random variable for each record of `axes`; i ∼ p, an index with the probabilities p

    `family` is as written, and empty for p, which is then the one argument; `labels` are t of z^t ∼ N(0, 1). In an
    equation, a right side.
    """

    name: str
    family: str
    arguments: tuple[Node, ...]
    axes: tuple[tuple[Axis, Node | None], ...] = ()
    labels: tuple[Node, ...] = ()
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Expectation:
    """𝔼_{x ∼ N(0, 1), i ∼ p} …: the mean over all its random variables

    A name means the distribution that a statement gives it, x of x ∼ N(0, 1); without a name, all that the body uses.
    """

    draws: tuple[Draw | Name, ...]
    body: Node
    span: Span = _span()

    @property
    def drawn(self) -> tuple[Draw, ...]:
        """The statements of its distribution: all, where scopes are known."""
        return tuple(draw for draw in self.draws if isinstance(draw, Draw))


@dataclass(frozen=True, slots=True)
class AtPoint:
    """(∂Y/∂X*)|_{X = U}, f(t)|_{t = 0}: the value for other tensors of these names"""

    body: Node
    points: tuple[tuple[Name, Node], ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Slice:
    """2:4, of X_{seq(2:4)}: includes both ends"""

    first: Node
    last: Node
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Literal:
    """[3, 1, 4; 1, 5, 9]_{height, width}; one axis makes one row"""

    rows: tuple[tuple[Node, ...], ...]
    axes: tuple[Axis, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Cases:
    """{ 0 if i ≤ j; -∞ otherwise }: (value, condition), the condition of `otherwise` None"""

    branches: tuple[tuple[Node, Node | None], ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Indicator:
    """𝕀[i = j]"""

    condition: Node
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Differential:
    """∂(expr)"""

    body: Node
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Derivative:
    """∂f(X)/∂X*"""

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
    """ℝ^{seq × chans[3]}, {0,1}^{seq}, [0,1], [n]^{seq}

    `domain` is "reals", "integers" (ℤ), "naturals" (ℕ), "positive" (ℝ_{>0}), "nonnegative" (ℝ_{≥0}), "field" (F, which is
    any), "elements" ({a, b}), "interval" ([a, b]) or "count" ([n]); `axes` pairs an axis with its size or None.
    """

    domain: str
    elements: tuple[Node, ...]
    axes: tuple[tuple[Axis, Node | None], ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Range:
    """for t = 1, …, n; if there are several, `further` is the next and `each` has all: for i = 1, …, m for j = 1, …, n

    `down` if a second number shows that it counts down: for t = n, n-1, …, m.
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
        """Whether it counts down, as 3, …, 1 and n, …, 1 and n, n-1, …, m do; 1, …, n and i+1, …, 5 count up."""
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
    """An expression as a statement"""

    body: Node
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Equation:
    """a = b = c ∈ S for t = 1, …, n

    a ≜ b `defines`, so that another equation for a is an assertion. It is otherwise the same equation, and compares
    equal.
    """

    sides: tuple[Node, ...]
    sets: tuple[Set, ...] = ()
    range: Range | None = None
    span: Span = _span()
    defines: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Update:
    """C ← C + 1, X_{seq(2)} ← 0: from here on, the name has the new value"""

    target: Node
    body: Node
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Fact:
    """ε > 0: a comparison that is asserted"""

    condition: Node
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Declaration:
    """γ, β ∈ ℝ^{chans}"""

    names: tuple[Node, ...]
    sets: tuple[Set, ...]
    range: Range | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Signature:
    """f : ℝ^{a} × ℝ → ℝ; the head is a Call without arguments"""

    head: Call
    domain: tuple[Set, ...]
    codomain: Set
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Imports:
    """from "attention.nt" import Attention, FFN as MLP: pairs of the name in the file and the local name"""

    path: str
    names: tuple[tuple[Name, Name], ...]
    span: Span = _span()
    path_span: Span = _span()


@dataclass(frozen=True, slots=True)
class Ellipsis:
    """⋮"""

    span: Span = _span()


Statement = Union[Value, Equation, Fact, Update, Declaration, Signature, Imports, Ellipsis]


@dataclass(frozen=True, slots=True)
class Program:
    """Statements, in the order written"""

    statements: tuple[Statement, ...]
    span: Span = _span()


def axis_of(node: Node) -> Axis | None:
    """Return `node` as the name of an axis (seq, hidden_1, seq*), or None if it cannot be one."""
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
