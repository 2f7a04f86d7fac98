"""In the body of g_{ax}, `ax` is the axis of the use wherever an axis can be named; and sizes that parts give are asked of none."""

from __future__ import annotations

import pytest

import namedtensor as nt
from grammar.errors import NotationError
from namedtensor import reference

V = nt.tensor([1.0, 2.0, 4.0], "c")
BODIES = [  # each speaks of ax in another way
    "X ⊙ [1, 2, 3]_{ax}", "[∑_{ax} X, 2, 3]_{ax} ⊙ X", "X ⊙ [1, 2, 3; 1, 2, 4]_{b,ax}", "∑_{ax} X ⊙ [1, 2, 3]_{ax}",
    "[3 X, X]_{b} ⊙ |ax|", "stack_{ax}(1, 2, 3) ⊙ X", "X ⊕_{ax} X", "X + onehot_{ax}(2)", "X_{ax(1)} + X", "index_{ax}(X, 2)",
    "X_{ax→b} ⊙ X", "X_{ax→(b, ax)}", "unroll_{ax,k} X", "maxk_{ax,k} X", "cumsum_{ax} X", "X ⊙_{ax} X", "∑_i X_{ax(i)} ⊙ i",
    "{ X if iota_{ax} = 2; |ax| otherwise }", "∂(∑_{ax} X^2 ⊙ [1, 2, 3]_{ax})/∂X", "[[1, 2]_{b}, 3, 4]_{ax}",
]  # fmt: skip


def sizes_in(body: str) -> dict[str, int]:
    """Those of the axes that a body makes, of which nothing else says the size."""
    return {axis: size for axis, size in (("b", 1), ("k", 2)) if f"({axis}," in body or f",{axis}" in body}


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("body", BODIES)
def test_a_function_over_an_axis_is_its_body_with_that_axis(body, signed):
    sizes = sizes_in(body)
    expected = nt.evaluate(
        body.replace("X", "V").replace("max", "MAX").replace("ax", "c").replace("MAX", "max"), {"V": V}, sizes=sizes
    )
    signature = f"g_{{ax}} : ℝ^{{ax}} → {codomain(expected)}\n" if signed else ""
    text = f"{signature}g_{{ax}}(X) = {body}\ng_{{c}}(V)"
    result = nt.evaluate(text, {"V": V}, sizes=sizes)
    assert sorted(result.axes) == sorted(expected.axes)
    assert nt.allclose(result, expected)
    of_reference = reference.evaluate(text, {"V": reference.tensor([1, 2, 4], "c")}, sizes=sizes)
    flat = [of_reference.to_list(expected.axes)] if expected.axes else [of_reference.entries[()]]
    assert nt.allclose(nt.tensor(flat[0], expected.axes), expected, rtol=1e-6)


def codomain(value: nt.NamedTensor) -> str:
    axes = ["ax" if axis == "c" else axis for axis in value.axes]
    return f"ℝ^{{{' × '.join(axes)}}}" if axes else "ℝ"


@pytest.mark.parametrize(
    "body, number", [("X ⊙ [1, 2, 3]_{ax}", 316), ("X ⊙ [1, 2; 3, 4]_{b,ax}", 316), ("[1, 2; 3, 4]_{c,ax} + X", 303)]
)
def test_a_literal_over_an_axis_that_is_not_one(body, number):
    axes, value = ("b,c", nt.tensor([[1.0, 2.0], [3.0, 4.0]], "b c")) if number == 316 else ("c", V)
    text = f"g_{{ax}}(X) = {body}\ng_{{{axes}}}(V)"
    for evaluate in (
        lambda: nt.evaluate(text, {"V": value}),
        lambda: reference.evaluate(text, {"V": of_reference(value)}),
    ):
        with pytest.raises(NotationError) as caught:
            evaluate()
        assert caught.value.code == number


def of_reference(value: nt.NamedTensor) -> reference.Tensor:
    return reference.tensor(value.array.tolist(), value.axes)


@pytest.mark.parametrize(
    "result", ["[3, 4]_{b}", "stack_{b}(3, 4)", "[3]_{b} ⊕_{b} [4]_{b}", "concat_{b}([3]_{b}, [4]_{b})"]
)
def test_what_parts_give_a_size_asks_for_none(result):
    """|b| has two values among the inputs, and neither is meant."""
    A, B = nt.tensor([1.0, 2.0], "b"), nt.tensor([1.0, 2.0, 3.0], "b")
    tensor = nt.evaluate(f"A ⊙ B_{{b(1)}} + {result}", A=A, B=B)
    assert tensor.to_array("b").tolist() == [4, 6]
