"""Sizes that are found by typing a program aside, where what is typed holds derivatives."""

from __future__ import annotations

import pytest

import namedtensor as nt

V = nt.tensor([1.0, 2.0, 4.0], ("seq",))
SLOPES = [  # of what is an argument, by something else, and by itself
    "∂(X)/∂V* ⊙_{seq*} V_{seq→seq*}",
    "∂(X ⊙ V)/∂V* ⊙_{seq*} V_{seq→seq*}",
    "∂(∑_{seq} V^2 ⊙ X)/∂V",
    "∂(∑_{a,seq} X^3)/∂X",
]


@pytest.mark.parametrize("inner", ["f(X ⊙ [1, 2, 3]_{seq})", "f(R ⊙ [1, 2, 3]_{seq}) + R\nR = X"])
@pytest.mark.parametrize("slope", SLOPES)
def test_a_size_is_asked_for_beside_derivatives(slope, inner):
    """|k| is found by typing every part of g, of which one differentiates what another made."""
    text = f"""f(X) = ∑_{{seq}} {slope}
g : ℝ^{{a}} → ℝ
g(X) = ∑_{{a}} f(X ⊙ [−0.5, 3, −0.5]_{{seq}} + S) − SIZE ⊙ ∑_{{k}} [1, 2]_{{k}}
S = {inner}
out = g([3]_{{a}})"""
    assert nt.evaluate(text.replace("SIZE", "|k|"), {"V": V}) == nt.evaluate(text.replace("SIZE", "2"), {"V": V})
