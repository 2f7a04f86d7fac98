"""Axes as variables: which are one, what they are called, and where a rename is written."""

import math
import random

import pytest

from grammar.nodes import Name
from grammar.printer import to_text
from namedtensor.positional.axes import Axes, AxisClashError, AxisKind, AxisVariable
from namedtensor.positional.checked import TrialSizes
from namedtensor.positional.naming import RepeatedAxisError, names_of
from namedtensor.positional.values import (
    AxisValue,
    DividedSizeError,
    Leaf,
    contract_values,
    elementwise,
    matmul,
    reduce_value,
    size,
    write_node,
)


class Source:
    """Tensors with given axes, and the text of a value of them."""

    def __init__(self, **shapes: str):
        self.axes = Axes()
        self.leaves = {name: self.leaf(name, text.split()) for name, text in shapes.items()}

    def leaf(self, name: str, words: list[str]) -> Leaf:
        axes: list[AxisVariable] = []
        for word in words:
            if word == "?":
                axes.append(self.axes.new())
                continue
            while any(axis.fixed == word for axis in axes):
                word += "'"
            axes.append(self.axes.named(word))
        return Leaf(Name(name), tuple((axis,) for axis in axes))

    def __getitem__(self, name: str) -> AxisValue:
        return self.leaves[name].use(self.axes)

    def text(self, value: AxisValue) -> str:
        return to_text(write_node(value.node, names_of(self.axes, set(self.leaves))))

    def result(self, value: AxisValue) -> tuple[str, ...]:
        names = names_of(self.axes, set(self.leaves))
        return tuple(name for axis in value.axes for name in names[axis.key])


def T(value: AxisValue) -> AxisValue:
    return value.moved(value.dims[::-1])


def product(source: Source, *values: AxisValue) -> AxisValue:
    result = values[0]
    for value in values[1:]:
        result = matmul(source.axes, result, value)
    return result


@pytest.mark.parametrize(
    ("shapes", "build", "text", "result"),
    [
        ({"X": "n d", "W": "d m"}, lambda s: product(s, s["X"], s["W"]), "X ⊙_{d} W", ("n", "m")),
        ({"X": "n d"}, lambda s: product(s, s["X"], T(s["X"])), "X ⊙_{d} X_{n→n'}", ("n", "n'")),
        ({"Z": "n d", "v": "d"}, lambda s: product(s, T(s["Z"]), s["Z"], s["v"]), "Z ⊙_{n} Z_{d→d'} ⊙_{d'} v_{d→d'}", ("d",)),
        ({"M": "n n"}, lambda s: product(s, s["M"], s["M"]), "M ⊙_{n'} M_{n→n', n'→n''}", ("n", "n''")),
        ({"M": "n n"}, lambda s: elementwise(s.axes, "+", s["M"], T(s["M"])), "M + M_{n→n', n'→n}", ("n", "n'")),
        ({"Q": "query key", "K": "? ?"}, lambda s: product(s, s["Q"], T(s["K"])), "Q ⊙_{key} K", ("query", "i")),
        ({"A": "? ?", "B": "? ?"}, lambda s: product(s, s["A"], s["B"]), "A ⊙_{j} B", ("i", "k")),
        ({"A": "? ?"}, lambda s: product(s, T(s["A"]), s["A"]), "A ⊙_{i} A_{j→j'}", ("j", "j'")),
        ({"x": "?", "A": "? ?"}, lambda s: product(s, s["x"], s["A"], s["x"]), "x ⊙_{i} A ⊙_{i'} x_{i→i'}", ()),
        ({"X": "n d", "b": "d"}, lambda s: elementwise(s.axes, "+", s["X"], s["b"]), "X + b", ("n", "d")),
    ],
)  # fmt: skip
def test_positional_product_gets_names_and_renames_at_leaves(shapes, build, text, result):
    source = Source(**shapes)
    value = build(source)
    assert (source.text(value), source.result(value)) == (text, result)


def test_positional_axis_summed_within_an_operand_needs_no_prime():
    source = Source(K="n m")
    K, other = source["K"], source["K"]
    total = reduce_value(source.axes, "∑", other, other.dims[1], (other.dims[0], ()))
    assert source.text(elementwise(source.axes, "/", K, total)) == "K / ∑_{m} K"


def test_positional_self_attention():
    source = Source(X="seq chans", A="chans key", B="chans key")
    q, k = product(source, source["X"], source["A"]), product(source, source["X"], source["B"])
    scores = product(source, q, T(k))
    assert source.text(scores) == "X ⊙_{chans} A ⊙_{key} (X_{seq→seq'} ⊙_{chans} B)"


def test_positional_sum_of_a_product_is_a_contraction():
    source = Source(A="i j", B="i j")
    value = elementwise(source.axes, "⊙", source["A"], source["B"])
    assert source.text(reduce_value(source.axes, "∑", value, value.axes, ())) == "A ⊙_{i, j} B"


def test_positional_axes_of_two_names_clash_and_nothing_changes():
    source = Source(A="m n", B="p q")
    a, b = source["A"], source["B"]
    with pytest.raises(AxisClashError):
        source.axes.unify_dims(a.dims[0], b.dims[0])
    assert a.dims[0][0].kind is not b.dims[0][0].kind


def test_positional_sizes_refute_and_never_unite():
    axes = Axes()
    first, second, third = axes.new(size=3), axes.new(size=4), axes.new(size=3)
    with pytest.raises(AxisClashError):
        axes.unify(first, second)
    assert first.kind is not third.kind
    axes.unify(first, third)
    assert first.root is third.root


def test_positional_given_axis_that_meets_a_new_one_keeps_its_name():
    axes = Axes()
    new, given = axes.new(), axes.named("n")
    axes.unify(new, given)
    assert new.root is given and names_of(axes)[new.key] == ("n",)


def test_positional_axes_in_parts_are_one_where_their_parts_are():
    axes = Axes()
    first, second, third = axes.new(), axes.new(), axes.new()
    for axis, last in ((first, "key"), (second, "key"), (third, "val")):
        axes.split(axis, (AxisKind("heads"), AxisKind(last)))
    with pytest.raises(AxisClashError):
        axes.unify(first, third)
    before = axes.parts(first), axes.parts(second)
    axes.unify(first, second)
    assert [part.root for part in before[0]] == [part.root for part in before[1]]
    assert first.kind.parts[1].root is second.kind.parts[1].root is not third.kind.parts[1].root
    sizes = TrialSizes(axes.facts)
    assert sizes.of(first) == math.prod(map(sizes.of, before[0])) > 1


def test_positional_name_of_an_axis_in_parts_is_not_one_name():
    names = {"⟨0⟩": ("heads", "key"), "⟨1⟩": ("seq",)}
    assert write_node(Name("⟨1⟩"), names) == Name("seq")
    with pytest.raises(DividedSizeError):
        write_node(Name("⟨0⟩"), names)


def test_positional_twins_of_three_sizes_are_three_kinds():
    axes = Axes()
    first, second, third = axes.named("n", 3), axes.named("n'", 4), axes.named("n''", 5)
    assert [axis.kind.size for axis in (first, second, third)] == [3, 4, 5]
    assert len({first.kind, second.kind, third.kind}) == 3


def test_positional_diagonal_has_no_name():
    axes = Axes()
    a, b = axes.new(), axes.new()
    axes.apart([a, b])
    axes.unify(a, b)
    with pytest.raises(RepeatedAxisError):
        names_of(axes)


def test_positional_axis_falls_into_parts_in_every_use():
    source = Source(X="seq chans", W="chans ?")
    leaf = source.leaves["W"]
    value = product(source, source["X"], source["W"])
    source.axes.split(value.dims[1][0], (AxisKind(hint="heads"), AxisKind(hint="key")))
    heads, key = source.axes.parts(value.dims[1][0])
    total = reduce_value(source.axes, "∑", value, [key], ())
    assert source.text(total) == "∑_{key} X ⊙_{chans} W"
    names = names_of(source.axes)
    assert [names[part.key] for part in source.axes.parts(leaf.dims[1][0])] == [("heads",), ("key",)]
    assert names[value.dims[1][0].key] == ("heads", "key")
    assert to_text(write_node(size(value.dims[1][0]), names)) == "|heads| ⊙ |key|"
    with pytest.raises(AxisClashError):
        source.axes.split(value.dims[0][0], (AxisKind(), AxisKind()))  # a given axis


def test_positional_unification_is_associative():
    chance = random.Random(0)
    for _ in range(100):
        pairs = [(chance.randrange(12), chance.randrange(12)) for _ in range(8)]
        partitions = []
        for order in (pairs, pairs[::-1], chance.sample(pairs, len(pairs))):
            axes = Axes()
            every = [axes.new() for _ in range(12)]
            for first, second in order:
                axes.unify(every[first], every[second])
            partitions.append({frozenset(n for n in range(12) if every[n].root is axis.root) for axis in every})
        assert partitions[0] == partitions[1] == partitions[2]


def test_positional_names_of_axes_in_one_operation_differ():
    chance = random.Random(1)
    for _ in range(200):
        source = Source(**{name: " ".join(chance.choices(["n", "d", "?"], k=2)) for name in "ABC"})
        values = [source[chance.choice("ABC")] for _ in range(4)]
        values = [T(value) if chance.random() < 0.5 else value for value in values]
        total = values[0]
        for value in values[1:]:
            try:
                total = matmul(source.axes, total, value)
            except AxisClashError:
                break
        names = names_of(source.axes)
        for group in source.axes.together:
            roots = {axis.root for axes in group for axis in axes}
            assert len({names[axis.key] for axis in roots}) == len(roots)


def test_positional_outer_product_has_no_summed_axes():
    source = Source(a="i", b="j")
    assert source.text(contract_values(source.axes, source["a"], source["b"], [], source["a"].dims)) == "a ⊙ b"
