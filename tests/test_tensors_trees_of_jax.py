"""Named tensors as trees of JAX: `vmap` and `scan` take an axis away by name and give it back; paths have the names of
parameters.
"""

import subprocess
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import namedtensor as nt
from transformer import FFN

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax

SIZES = {"batch": 5, "seq": 3, "chans": 4, "rows": 5}


def tensor(axes: str = "batch seq chans", dtype: str = "float32", seed: int = 0) -> nt.NamedTensor:
    numbers = np.random.default_rng(seed).normal(size=[SIZES[axis] for axis in axes.split()])
    return nt.tensor(jnp.asarray(numbers, dtype), axes)


def centered(x: Any) -> Any:
    return nt.evaluate("X - ∑_{seq} X / |seq|", X=x)


def centered_array(x: Any) -> Any:
    return x - x.mean(1, keepdims=True)


def squares(x: Any) -> Any:
    return nt.evaluate("∑_{seq,chans} X^2", X=x)


def running(x: Any) -> Any:
    """The sums up to each position, and the last of them."""
    return lax.scan(lambda total, row: (total + row, total + row), 0 * x[{"seq": 0}], x)


class Case(NamedTuple):
    """A function of a named tensor, the axes of its result in storage order, and the same function of its array."""

    named: Callable[[Any], Any]
    axes: str
    plain: Callable[[Any], Any]


VMAPS = {
    "first axis": Case(jax.vmap(lambda x: nt.softmax(x, axis="seq")), "batch seq chans", lambda x: jax.nn.softmax(x, 1)),
    "by name": Case(jax.vmap(centered, in_axes="batch"), "batch seq chans", centered_array),
    "another name": Case(
        jax.vmap(centered, in_axes="chans"), "chans batch seq", lambda x: jnp.moveaxis(centered_array(x), 2, 0)
    ),
    "positions": Case(jax.vmap(centered, in_axes=2, out_axes=2), "batch seq chans", centered_array),
    "negative": Case(jax.vmap(centered, out_axes=-1), "seq chans batch", lambda x: jnp.moveaxis(centered_array(x), 0, 2)),
    "new name": Case(jax.vmap(centered, out_axes="rows"), "rows seq chans", centered_array),
    "not in the result": Case(
        jax.vmap(lambda x: nt.tensor(jnp.ones(3), "seq"), out_axes=None), "seq", lambda x: jnp.ones(3)
    ),
    "constant": Case(
        jax.vmap(lambda x: nt.tensor(np.float32([1, 2]), "a")), "batch a",
        lambda x: jnp.broadcast_to(jnp.array([1.0, 2.0]), (5, 2)),
    ),
    "with what is not mapped": Case(
        lambda x: jax.vmap(lambda x, y: x - y, in_axes=(0, None))(x, x[{"batch": 2}]), "batch seq chans",
        lambda x: x - x[2],
    ),
    "with what lacks the name": Case(
        lambda x: jax.vmap(lambda x, y: x - y, in_axes="batch")(x, x[{"batch": 2}]), "batch seq chans",
        lambda x: x - x[2],
    ),
    "with an array": Case(
        lambda x: jax.vmap(lambda given, y: given["x"] * nt.tensor(y), in_axes=({"x": 1}, 0))(
            {"x": x}, jnp.array([1.0, 2.0, 3.0])
        ),
        "seq batch chans", lambda x: jnp.moveaxis(x, 1, 0) * jnp.array([1.0, 2.0, 3.0])[:, None, None],
    ),
    "nested": Case(jax.vmap(jax.vmap(lambda x: 2 * x)), "batch seq chans", lambda x: 2 * x),
    "nested names": Case(
        jax.vmap(jax.vmap(lambda x: nt.cumsum(x, axis="seq"), in_axes="chans"), in_axes="batch"), "batch chans seq",
        lambda x: jnp.moveaxis(jnp.cumsum(x, 1), 2, 1),
    ),
    "of jit": Case(jax.vmap(jax.jit(centered)), "batch seq chans", centered_array),
    "in jit": Case(jax.jit(jax.vmap(centered)), "batch seq chans", centered_array),
    "of grad": Case(jax.vmap(jax.grad(lambda x: squares(x).array)), "batch seq chans", lambda x: 2 * x),
    "in grad": Case(jax.grad(lambda x: jax.vmap(squares)(x).array.sum()), "batch seq chans", lambda x: 2 * x),
    "of checkpoint": Case(jax.vmap(jax.checkpoint(centered)), "batch seq chans", centered_array),
    "of scan": Case(jax.vmap(lambda x: running(x)[1]), "batch seq chans", lambda x: jnp.cumsum(x, 1)),
    "in scan": Case(
        lambda x: lax.scan(lambda _, x: (None, jax.vmap(lambda x: 2 * x)(x)), None, x)[1], "batch seq chans",
        lambda x: 2 * x,
    ),
}  # fmt: skip
SCANS = {
    "stacked": Case(
        lambda x: lax.scan(lambda total, x: (total, centered(x)), 0.0, x)[1], "batch seq chans", centered_array
    ),
    "carried": Case(lambda x: running(x.rename(batch="seq", seq="batch"))[0], "batch chans", lambda x: x.sum(0)),
    "reverse": Case(
        lambda x: lax.scan(lambda total, x: (total + x, total), 0 * x[{"batch": 0}], x, reverse=True)[1],
        "batch seq chans", lambda x: jnp.flip(jnp.cumsum(jnp.flip(x, 0), 0), 0) - x,
    ),
    "constant": Case(
        lambda x: lax.scan(lambda _, x: (None, nt.tensor(jnp.ones(2), "a")), None, x)[1], "batch a",
        lambda x: jnp.ones((5, 2)),
    ),
    "map": Case(lambda x: lax.map(centered, x), "batch seq chans", centered_array),
    "map in batches": Case(lambda x: lax.map(centered, x, batch_size=2), "batch seq chans", centered_array),
    "in jit": Case(jax.jit(lambda x: lax.map(centered, x)), "batch seq chans", centered_array),
    "of jit": Case(lambda x: lax.map(jax.jit(centered), x), "batch seq chans", centered_array),
    "of checkpoint": Case(lambda x: lax.map(jax.checkpoint(centered), x), "batch seq chans", centered_array),
    "of grad": Case(lambda x: lax.map(jax.grad(lambda x: squares(x).array), x), "batch seq chans", lambda x: 2 * x),
    "in grad": Case(
        jax.grad(lambda x: (lax.scan(lambda total, x: (total + x, None), 0 * x[{"batch": 0}], x)[0].array ** 2).sum()),
        "batch seq chans", lambda x: jnp.broadcast_to(2 * x.sum(0), x.shape),
    ),
    "in scan": Case(lambda x: lax.map(lambda x: lax.map(lambda x: 2 * x, x), x), "batch seq chans", lambda x: 2 * x),
    "in vmap": Case(jax.vmap(lambda x: lax.map(lambda x: 2 * x, x)), "batch seq chans", lambda x: 2 * x),
}  # fmt: skip


@pytest.mark.sampled(8)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("case", [*VMAPS.values(), *SCANS.values()], ids=[*VMAPS, *(f"scan: {name}" for name in SCANS)])
def test_a_mapped_axis_is_taken_away_and_given_back_by_name(case: Case, dtype: str):
    tolerance = 3e-2 if dtype == "float16" else 1e-5
    for seed in (0, 1):  # the second time from caches
        x = tensor(dtype=dtype, seed=seed)
        y = case.named(x)
        assert y.axes == tuple(case.axes.split())
        np.testing.assert_allclose(y.array, case.plain(x.array), rtol=tolerance, atol=tolerance)


def test_the_function_sees_the_other_axes():
    seen: list[tuple[str, ...]] = []

    def look(x: Any) -> Any:
        seen.append(x.axes)
        return x

    x = tensor()
    jax.vmap(look, in_axes="seq")(x)
    lax.map(look, x)
    jax.vmap(jax.vmap(look, in_axes="seq"), in_axes="batch")(x)
    assert seen == [("batch", "chans"), ("seq", "chans"), ("chans",)]


def test_a_trace_does_not_pass_its_name_on_to_another():
    """One function, whose trace is in JAX's caches, scans over axes of two names."""
    double = lambda total, x: (total, 2 * x)
    for axes in ("batch seq", "rows chans", "batch seq"):
        x = tensor(axes)
        assert lax.scan(double, 0.0, x)[1].axes == tuple(axes.split())
        assert jax.vmap(lambda x: 2 * x)(x).axes == tuple(axes.split())


X = tensor()
ROWS = X.rename(batch="rows")
NO_NAMES = {
    "vmap of arrays": (
        lambda: jax.vmap(lambda x: nt.tensor(x, "seq chans"))(X.array),
        "error 316: vmap adds an axis to a tensor with the axes seq, chans, which has no name in its arguments", "out_axes",
    ),
    "vmap of two names": (
        lambda: jax.vmap(lambda x, y: x + y)(X, ROWS), "which is batch and rows in its arguments", "out_axes"
    ),
    "vmap over a name that the result has": (
        lambda: jax.vmap(lambda x: x.rename(seq="batch"))(X), "its result has the axis batch already", "rename"
    ),
    "scan over two names": (
        lambda: lax.map(lambda pair: pair[0] + pair[1], (X, ROWS)), "which is batch and rows in its arguments", "rename"
    ),
    "scan over arrays": (
        lambda: lax.map(lambda x: nt.tensor(x, "seq chans"), X.array), "3 axes (5 × 3 × 4) instead of", "nt.tensor"
    ),
    "a stack": (lambda: jax.tree.map(lambda *item: jnp.stack(item), X, X), "4 axes (2 × 5 × 3 × 4)", "nt.tensor"),
    "a sum": (lambda: jax.tree.map(lambda item: item.sum(1), X), "2 axes (5 × 4) instead of", "nt.tensor"),
    "a sum in jit": (lambda: jax.jit(lambda: jax.tree.map(lambda item: item.sum(1), X))(), "2 axes (5 × 4)", "nt.tensor"),
    "a Jacobian": (lambda: jax.jacrev(lambda x: 2 * x)(tensor("seq")), "a named tensor instead of", "nt.derivative"),
    "a Jacobian in vmap": (lambda: jax.vmap(jax.jacfwd(lambda x: 2 * x))(tensor("batch seq")), "instead of", "nt."),
}  # fmt: skip


@pytest.mark.parametrize("make, message, hint", NO_NAMES.values(), ids=NO_NAMES)
def test_an_axis_without_a_name_is_an_error_for_whoever_uses_the_tensor(make: Any, message: str, hint: str):
    x = make()
    assert "UnnamedAxes" in repr(x)
    for use in (lambda: x.axes, lambda: x.shape, lambda: x + 1, lambda: nt.evaluate("2 x", x=x), lambda: nt.exp(x)):
        with pytest.raises(nt.NotationError) as raised:
            use()
        assert message in str(raised.value) and hint in str(raised.value.hint)
    assert jax.tree.structure(jax.tree.map(lambda leaf: leaf, x)) == jax.tree.structure(x)


def test_arrays_that_were_stacked_can_be_named_or_mapped_over():
    stacked = jax.tree.map(lambda *arrays: jnp.stack(arrays), X, 2 * X)
    assert nt.tensor(stacked.array, "copy batch seq chans").sizes["copy"] == 2
    np.testing.assert_allclose(jax.vmap(squares, out_axes="copy")(stacked).array, jax.vmap(lambda x: (x**2).sum((1, 2)))(stacked.array), rtol=1e-5)  # fmt: skip
    with pytest.raises(nt.NotationError, match="instead of"):
        jax.vmap(squares, in_axes=1)(stacked)


POSITIONS = {
    "too large": (
        lambda: jax.vmap(squares, in_axes=3)(X),
        nt.NotationError,
        "in_axes=3 is given for a tensor with the axes",
    ),
    "no axes": (lambda: jax.vmap(squares)(nt.tensor(jnp.ones(()))), nt.NotationError, "a tensor with no axes"),
    "a name that is nowhere": (
        lambda: jax.vmap(squares, in_axes="bacth")(X),
        ValueError,
        "at least one non-None value",
    ),
    "sizes that differ": (lambda: jax.vmap(lambda x, y: x, in_axes=(0, 1))(X, X), ValueError, "inconsistent sizes"),
    "mapped and not in the result": (lambda: jax.vmap(squares, out_axes=None)(X), ValueError, "out_axes"),
}


@pytest.mark.parametrize("call, kind, message", POSITIONS.values(), ids=POSITIONS)
def test_what_cannot_be_mapped_is_said(call: Any, kind: type[Exception], message: str):
    with pytest.raises(kind, match=message):
        call()


def test_the_shape_of_a_named_tensor_is_for_jax_alone():
    with pytest.raises(nt.NotationError, match="318"):
        np.shape(X)


# -------------------------------------------------------------------------------------------------------------- paths
def layer(seed: int = 0) -> FFN:
    return FFN.init(seed=seed, sizes={"chans": 4, "hidden": 8}, dtype="float32").to("jax")


def test_paths_have_the_names_of_parameters():
    def paths(tree: Any) -> list[str]:
        return [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_flatten_with_path(tree)[0]]

    assert paths(layer()) == ["['W_1']", "['b_1']", "['W_2']", "['b_2']"]
    assert paths({"layers": [layer(), layer()]})[3:5] == ["['layers'][0]['b_2']", "['layers'][1]['W_1']"]
    assert paths(X) == [""] and paths([X]) == ["[0]"]
    assert paths((layer(), {"x": X}))[-1] == "[1]['x']"


def test_weights_are_selected_by_their_names():
    decayed = jax.tree_util.tree_map_with_path(
        lambda path, leaf: 0.5 * leaf if "W" in jax.tree_util.keystr(path) else leaf, layer()
    )
    for name, value in layer().parameters.items():
        expected = 0.5 * value.array if name.startswith("W") else value.array
        np.testing.assert_array_equal(decayed.parameters[name].array, expected)


def test_parameters_are_placed_by_their_names():
    mesh = jax.make_mesh((1,), ("model",))
    of_weights, of_others = (jax.sharding.NamedSharding(mesh, jax.P(*parts)) for parts in (("model",), ()))
    shardings = jax.tree_util.tree_map_with_path(
        lambda path, _: of_weights if "W" in jax.tree_util.keystr(path) else of_others, layer()
    )
    placed = jax.device_put(layer(), shardings)
    assert {name: value.array.sharding.spec for name, value in placed.parameters.items()} == {
        name: (of_weights if name.startswith("W") else of_others).spec for name in placed.parameters
    }
    doubled = jax.jit(lambda layer: jax.tree.map(lambda leaf: 2 * leaf, layer), in_shardings=(shardings,))(layer())
    np.testing.assert_array_equal(doubled.parameters["b_1"].array, 2 * layer().parameters["b_1"].array)


def test_the_names_of_axes_are_part_of_the_tree():
    structure = jax.tree.structure
    assert structure(X) == structure(2 * X) != structure(ROWS)
    assert hash(structure(X)) == hash(structure(jax.vmap(centered)(X)))


ORDERS = {
    "JAX first": "import jax, namedtensor as nt",
    "JAX last": "import namedtensor as nt; import jax",
    "JAX after a tensor": "import namedtensor as nt; nt.tensor([1.0]  , 'a'); import jax",
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("imports", ORDERS.values(), ids=ORDERS)
def test_jax_takes_named_tensors_in_whatever_order_the_two_are_imported(imports: str):
    """Before there is any of its arrays: names of axes, tensors of NumPy."""
    text = f"{imports}\nf = jax.vmap(lambda x: 2 * x, in_axes='a')\nprint(jax.jit(f)(nt.tensor([1.0, 2.0], 'a')).shape)"
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    assert run.stdout.strip() == "ℝ^{a[2]}", run.stderr
