"""g_{ax} takes an axis wherever its body uses ax as one, however deep that stands."""

from __future__ import annotations

import pytest

import namedtensor as nt

PLACES = [
    "2^{∑_{ax} X}",
    "X^{∑_{ax} X}",
    "X^{|ax|}",
    "(X + 1)^{|ax|}",
    "(X + 1)^{2 ∑_{ax} X}",
    "2^{X_{ax(1)}}",
    "2^{X^{∑_{ax} X}}",
    "X / √(∑_{ax} X)",
    "𝕀[∑_{ax} X > 1]",
    "{ 1 if ∑_{ax} X > 2; 0 otherwise }",
    "[X + 1]_{ax(|ax|)}",
    "∑_i X_{ax(i)}",
    "−∑_{ax} X",
]


@pytest.mark.parametrize("body", PLACES)
def test_an_axis_of_the_head_is_read_anywhere_in_the_body(body):
    x = nt.tensor([1.0, 2.0], ("b",))
    result = nt.evaluate(f"g_{{ax}}(X) = {body}\nout = g_{{b}}(x)", x=x)
    expected = nt.evaluate(f"out = {body.replace('ax', 'b')}", X=x)
    assert result.axes == expected.axes and result.array == pytest.approx(expected.array)


def test_what_a_superscript_counts_by_is_no_axis():
    program = "h_k(x) = x^{k - 1} + k\nout = h_3(2)"
    assert nt.evaluate(program) == 7
