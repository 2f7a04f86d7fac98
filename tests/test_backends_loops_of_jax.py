"""Layers under JAX: a scan that looks large tensors up in their step, and a derivative that does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.core.families import ALONG, FamilyName
from namedtensor.core.tensor import wrap_array

jax = pytest.importorskip("jax")
jnp = jax.numpy

TEXT = """
X^0 = X
X^l = X^{{l-1}} + tanh(X^{{l-1}} ⊙_{{chans}} W^l)_{{chans'→chans}} + b^l for l = 1, …, {steps}
W^l ∈ ℝ^{{chans × chans'}}
b^l ∈ ℝ^{{chans}}
Y = X^{{{steps}}}
"""
STEPS = [(8, 128), (24, 4)]  # matrices of 128 × 128 are large; fewer steps than 24 are written out in a derivative


def drawn(steps: int, chans: int) -> tuple[dict[str, Any], Any]:
    draw = np.random.default_rng(steps * chans)
    weights = {f"W^{k}": draw.normal(size=(chans, chans)) / chans for k in range(1, steps + 1)}
    weights |= {f"b^{k}": draw.normal(size=chans) / 9 for k in range(1, steps + 1)}
    return {name: weight.astype("float32") for name, weight in weights.items()}, draw.normal(size=(3, chans)).astype(
        "float32"
    )


def by_formula(steps: int):
    entry = nt.program(TEXT.format(steps=steps))["Y"]

    def run(weights: dict[str, Any], x: Any) -> Any:
        tensors: dict[str, Any] = {
            name: nt.tensor(weight, "chans chans'"[: 12 if weight.ndim == 2 else 5]) for name, weight in weights.items()
        }
        return entry(X=nt.tensor(x, "seq chans"), **tensors).array

    return run


def by_hand(steps: int):
    def run(weights: dict[str, Any], x: Any) -> Any:
        for k in range(1, steps + 1):
            x = x + jnp.tanh(x @ weights[f"W^{k}"]) + weights[f"b^{k}"]
        return x

    return run


def near(actual: Any, expected: Any) -> None:
    for one, other in zip(jax.tree.leaves(actual), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=2e-5 * float(jnp.abs(other).max()))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("steps", "chans"), STEPS)
def test_values_and_derivatives_are_those_by_hand(steps, chans):
    weights, x = jax.tree.map(jnp.asarray, drawn(steps, chans))
    formula, hand = by_formula(steps), by_hand(steps)
    near(jax.jit(formula)(weights, x), hand(weights, x))

    def derivatives(run):
        def loss(weights, x):
            return (run(weights, x) ** 2).sum()

        def along(x):
            return jax.jvp(lambda x: run(weights, x), (x,), (x,))[1]

        return jax.grad(loss, (0, 1))(weights, x), along(x), jax.grad(lambda x: along(x).sum())(x)

    near(derivatives(formula), derivatives(hand))
    near(
        jax.vmap(lambda x: formula(weights, x))(jnp.stack([x, 2 * x])),
        jnp.stack([hand(weights, x), hand(weights, 2 * x)]),
    )


@pytest.mark.parametrize("steps", [8, 24])
def test_a_call_copies_no_weights(steps):
    weights, x = jax.tree.map(jnp.asarray, drawn(steps, 128))
    lowered = jax.jit(by_formula(steps)).lower(weights, x)
    needed = lowered.compile().memory_analysis().temp_size_in_bytes
    assert needed < 3 * weights["W^1"].nbytes
    assert lowered.as_text().count("stablehlo.tanh") == 1


def test_vast_weights_outside_of_jit_are_used_where_they_lie(monkeypatch):
    """A scan would copy the weights of each step."""
    weights, x = jax.tree.map(jnp.asarray, drawn(8, 384))
    monkeypatch.setattr(jax.lax, "scan", None)
    near(by_formula(8)(weights, x), by_hand(8)(weights, x))


def test_a_large_matrix_is_not_transposed_outside_of_jit():
    draw = np.random.default_rng(0)
    W = nt.tensor(jnp.asarray(draw.normal(size=(2048, 600)), "float32"), "out in")
    for rows in (1, 3):
        X = nt.tensor(jnp.asarray(draw.normal(size=(rows, 600)), "float32"), "seq in")
        compiled = nt.formula("X ⊙_{in} W").compile("jax")
        near(compiled(X=X, W=W).to_array("seq out"), X.array @ W.array.T)
        assert "transpose" not in {step.primitive for step in compiled.plan.steps}


def test_a_derivative_keeps_no_other_form_of_weights_in_one_array():
    """The body of the loop has them as matrices, heads and key in one."""
    formula = nt.program("""
        X^0 = X
        X^l = X^{l-1} + tanh(X^{l-1} ⊙_{chans} W^l) ⊙_{heads, key} V^l for l = 1, …, 6
        W^l, V^l ∈ ℝ^{chans × heads × key}
        Y = X^6
    """)["Y"]
    random, names = np.random.default_rng(0), [FamilyName(tuple(f"{w}^{l}" for l in range(1, 7))) for w in "WV"]
    arrays = [jnp.asarray(random.normal(size=(6, 64, 8, 8)) / 64, "float32") for _ in names]
    x = jnp.asarray(random.normal(size=(3, 64)), "float32")

    def loss(arrays):
        tensors = {name: wrap_array(array, (ALONG, "chans", "heads", "key")) for name, array in zip(names, arrays)}
        return (formula(values={"X": nt.tensor(x, "seq chans"), **tensors}).array ** 2).sum()

    def by_hand(arrays):
        def step(x, local):
            return x + jnp.einsum("shk,chk->sc", jnp.tanh(jnp.einsum("sc,chk->shk", x, local[0])), local[1]), None

        return (jax.lax.scan(step, x, tuple(arrays))[0] ** 2).sum()

    compiled = jax.jit(jax.grad(loss)).lower(arrays).compile()
    near(compiled(arrays), jax.grad(by_hand)(arrays))
    assert compiled.memory_analysis().temp_size_in_bytes < arrays[0].nbytes
