"""JAX takes one plan for every size: under `jax.jit` the planner is called twice, and `jax.export` serves all lengths."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.programs import executable
from transformer import EncoderBlock, lelarge

jax = pytest.importorskip("jax")
pytest.importorskip("flatbuffers", reason="jax.export serializes with it")
jnp, export = jax.numpy, jax.export

SIZES = {"chans": 4, "hidden": 8, "key": 3, "val": 4}
LENGTHS = ((1, 1), (2, 5), (3, 1), (1, 8), (4, 9))


def tensor(axes: str, sizes: tuple[int, ...], dtype: str = "float32") -> nt.NamedTensor:
    return nt.tensor(jnp.asarray(np.random.default_rng(sum(sizes)).normal(size=sizes), dtype), axes)


def specification(axes: str, dimensions: tuple[Any, ...], dtype: str = "float32") -> Any:
    """The named tensor of a shape without numbers, for which a function is exported."""
    return nt.tensor(jax.ShapeDtypeStruct(dimensions, dtype), axes)


def exported(function: Callable[..., Any], *specifications: Any) -> Any:
    """What is read back from the bytes of an exported function."""
    return export.deserialize(export.export(jax.jit(function))(*specifications).serialize())


# ---------------------------------------------------------------------------------------------------------------- jit
def attend(x: np.ndarray) -> np.ndarray:
    scores = np.exp(np.einsum("bsc,bqc->bqs", x, x))
    return np.einsum("bqs,bsc->bqc", scores / scores.sum(-1, keepdims=True), x)


ATTEND = "softmax_{seq}(X ⊙_{chans} X_{seq→query}) ⊙_{seq} X"
BLOCK = EncoderBlock.init(0, SIZES, "float32")


def calls() -> dict[str, tuple[Callable[[Any], Any], str, Callable[[np.ndarray], Any]]]:
    """What is traced, which nothing has planned before; the axes of its result, and the same by NumPy."""
    formula, compiled, block = nt.formula(ATTEND), nt.formula(ATTEND).compile("jax"), BLOCK.to("jax")
    return {
        "formula": (lambda X: formula(X=X), "batch query chans", attend),
        "compiled": (lambda X: compiled(X=X), "batch query chans", attend),
        "layer": (block, "batch seq chans", lambda x: BLOCK(nt.tensor(x, "batch seq chans")).array),
    }


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", calls())
def test_from_the_third_shape_on_the_planner_is_not_called(monkeypatch: pytest.MonkeyPatch, name: str):
    plans: list[str] = []
    make_plan = executable.make_plan

    def counted(source: str, *arguments: Any, **named: Any) -> Any:
        plans.append(source)
        return make_plan(source, *arguments, **named)

    call, axes, by_numpy = calls()[name]
    traced, counts, values = jax.jit(call), [], []
    with monkeypatch.context() as patched:
        patched.setattr(executable, "make_plan", counted)
        for sizes in ((2, 5), (3, 7), (2, 6), (9, 1), (1, 30), (2, 5), (4, 17)):
            X = tensor("batch seq chans", (*sizes, 4))
            values.append((traced(X), X))
            counts.append(len(plans))
    assert counts[0] <= 1 and counts[1:] == [counts[1]] * 6 and counts[1] <= counts[0] + 1
    for Y, X in values:
        np.testing.assert_allclose(Y.to_array(axes), by_numpy(np.asarray(X.array)), rtol=1e-4, atol=1e-5)


# ------------------------------------------------------------------------------------------------------------- export
class Case(NamedTuple):
    """A function of X ∈ ℝ^{batch × seq × chans[4]}, the axes of its result, and the same function of the array."""

    named: Callable[[Any], Any]
    axes: str
    plain: Callable[[Any], Any]


def formula(text: str) -> Callable[[Any], Any]:
    return lambda X: nt.evaluate(text, X=X)


def centered(x: Any) -> Any:
    return x - x.mean(1, keepdims=True)


CASES = {
    "sum": Case(formula("∑_{seq} X / |seq|"), "batch chans", lambda x: x.mean(1)),
    "softmax": Case(formula("softmax_{seq} X"), "batch seq chans", lambda x: jax.nn.softmax(x, 1)),
    "merge": Case(formula("X_{(seq,chans)→flat}"), "batch flat", lambda x: x.reshape(x.shape[0], -1)),
    "pairs": Case(formula("X ⊙_{chans} X_{seq→q}"), "batch seq q", lambda x: jnp.einsum("bsc,bqc->bsq", x, x)),
    "size as a number": Case(formula("√|seq| X + 2^{|seq|}"), "batch seq chans", lambda x: x.shape[1] ** 0.5 * x + 2.0 ** x.shape[1]),
    "positions": Case(formula("X ⊙ iota_{seq}"), "batch seq chans", lambda x: x * jnp.arange(1, x.shape[1] + 1)[:, None]),
    "mask": Case(
        formula("∑_{q} X_{seq→q} 𝕀[iota_{q} ≤ iota_{seq}]"), "seq batch chans", lambda x: jnp.cumsum(x, 1).transpose(1, 0, 2)
    ),
    "sum of terms": Case(formula("∑_{i=1}^{|seq|} i X_{seq(i)}"), "batch chans",
                         lambda x: jnp.einsum("bsc,s->bc", x, jnp.arange(1.0, x.shape[1] + 1))),
    "last": Case(formula("X_{seq(|seq|)}"), "batch chans", lambda x: x[:, -1]),
    "case": Case(
        formula("{ X if |seq| > 4 ; 2 X otherwise }"), "batch seq chans", lambda x: x if x.shape[1] > 4 else 2 * x
    ),
    "identity": Case(formula("X ⊙_{seq} I_{seq,q}"), "batch chans q", lambda x: x.transpose(0, 2, 1)),
    "derivative": Case(formula("∂(∑_{batch,seq,chans} X^3)/∂X"), "batch seq chans", lambda x: 3 * x**2),
    "operators": Case(lambda X: X - 2 * nt.mean(X, axis="seq"), "batch seq chans", lambda x: x - 2 * x.mean(1, keepdims=True)),
    "methods": Case(lambda X: X.merge(flat="seq chans").rename(batch="b"), "b flat", lambda x: x.reshape(x.shape[0], -1)),
    "split": Case(lambda X: X.split(chans={"a": 2, "b": 2}), "batch seq a b", lambda x: x.reshape(*x.shape[:2], 2, 2)),
    "index": Case(lambda X: X[{"seq": 0}], "batch chans", lambda x: x[:, 0]),
    "compiled": Case(nt.formula("X - ∑_{seq} X / |seq|").compile("jax"), "batch seq chans", centered),
    "grad": Case(jax.grad(lambda X: nt.evaluate("∑_{batch,seq,chans} X^2", X=X).array), "batch seq chans", lambda x: 2 * x),
    "vmap": Case(jax.vmap(formula("X - ∑_{seq} X / |seq|")), "batch seq chans", centered),
}  # fmt: skip
CASES["compiled"] = CASES["compiled"]._replace(named=lambda X: COMPILED(X=X))
COMPILED = nt.formula("X - ∑_{seq} X / |seq|").compile("jax")


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", CASES)
def test_an_exported_function_serves_every_length(name: str):
    case = CASES[name]
    function = exported(case.named, specification("batch seq chans", (*export.symbolic_shape("batch, seq"), 4)))
    for sizes in LENGTHS:
        X = tensor("batch seq chans", (*sizes, 4))
        Y = function.call(X)
        assert set(Y.axes) == set(case.axes.split())
        np.testing.assert_allclose(Y.to_array(case.axes), case.plain(X.array), rtol=1e-4, atol=1e-4)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_layer_is_exported_with_its_parameters_or_takes_them(dtype: str):
    block = EncoderBlock.init(0, SIZES, dtype).to("jax")
    X = specification("batch seq chans", (*export.symbolic_shape("batch, seq"), 4), dtype)
    with_parameters, of_parameters = exported(block, X), exported(lambda layer, X: layer(X), block, X)
    other = EncoderBlock.init(1, SIZES, dtype).to("jax")
    for sizes in LENGTHS:
        X = tensor("batch seq chans", (*sizes, 4), dtype)
        tolerance = 3e-2 if dtype == "float16" else 1e-5
        for result, expected in (
            (with_parameters.call(X), block(X)), (of_parameters.call(block, X), block(X)), (of_parameters.call(other, X), other(X)),
        ):  # fmt: skip
            assert result.axes == expected.axes and result.dtype == dtype
            np.testing.assert_allclose(result.array, expected.array, rtol=tolerance, atol=tolerance)


@pytest.mark.sampled(3)
def test_sizes_of_several_tensors_and_several_exports_are_told_apart():
    attention = lelarge.Attention()
    for text, axes in (
        ("query, seq, 3, val", "query key"),
        ("n, n, 3, 2*n", "query key"),
        ("2, seq, 3, 5", "query key"),
    ):
        query, seq, key, val = export.symbolic_shape(text)
        function = exported(
            attention,
            specification(axes, (query, key)),
            specification("seq key", (seq, key)),
            specification("seq val", (seq, val)),
        )
        for n in (2, 5):
            values = (
                {"query": n, "seq": n, "val": 2 * n} if text.startswith("n") else {"query": 2, "seq": 3 * n, "val": 5}
            )
            tensors = [
                tensor(names, tuple({**values, "key": 3}[axis] for axis in names.split()))
                for names in (axes, "seq key", "seq val")
            ]
            np.testing.assert_allclose(function.call(*tensors).array, attention(*tensors).array, rtol=1e-4, atol=1e-5)


def sizes_of(text: str, *constraints: str) -> tuple[Any, ...]:
    return export.symbolic_shape(text, scope=export.SymbolicScope(constraints))


HALVES = "|seq| = 2 |half|\nX_{seq→(pair,half)}"
CONDITIONS = {
    "least size": ("X_{seq(3)}", "seq", (), "309: the formula needs 3 ≤ |seq|", 'constraints=["3 <= seq"]'),
    "least size, given": ("X_{seq(3)}", "seq", ("seq >= 3",), "", ""),
    "multiple": (HALVES, "seq", (), "309: |seq| must be a multiple of 2", 'constraints=["mod(seq, 2) == 0"]'),
    "multiple, given": (HALVES, "seq", ("mod(seq, 2) == 0",), "", ""),
    "multiple, as written": (HALVES, "2*n", (), "", ""),
    "not known to be positive": ("2 X", "n - 1", (), "309: the formula needs |seq| ≥ 1", "n - 1 >= 1"),
    "positive, given": ("2 X", "n - 1", ("n >= 2",), "", ""),
    "number of steps": (
        "h^0 = 0\nh^t = tanh(h^{t-1} + X_{seq(t)}) for t = 1, …, |seq|\nh^{|seq|}", "seq", (),
        "309: the formula needs the size of seq as a number, and it is the dimension seq", "a number in place of seq",
    ),
    "an error of the formula": ("X + Z", "seq", (), "201", ""),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CONDITIONS)
def test_what_jax_does_not_know_of_a_dimension_is_refused_with_the_constraint(name: str):
    text, dimension, constraints, message, hint = CONDITIONS[name]
    (size,) = sizes_of(dimension, *constraints)
    for _ in range(2):  # the second time from a cache
        if not message:
            function = exported(formula(text), specification("seq chans", (size, 4)))
            X = tensor("seq chans", (6, 4))
            np.testing.assert_allclose(function.call(X).array, nt.evaluate(text, X=X).array)
            continue
        with pytest.raises(nt.NotationError) as raised:
            exported(formula(text), specification("seq chans", (size, 4)))
        assert message in str(raised.value) and hint in str(raised.value.hint)


@pytest.mark.parametrize("add", [lambda X, Y: X + Y, lambda X, Y: nt.evaluate("X + Y", X=X, Y=Y)], ids=["+", "formula"])
def test_dimensions_of_one_axis_have_to_be_one(add: Any):
    n, m = sizes_of("n, m")
    with pytest.raises(nt.NotationError, match="302.*seq.* n .* m"):
        exported(add, specification("seq chans", (n, 4)), specification("seq", (m,)))
    n, m = sizes_of("n, m", "n == m")
    function = exported(add, specification("seq chans", (n, 4)), specification("seq", (m,)))
    X, Y = tensor("seq chans", (5, 4)), tensor("seq", (5,))
    np.testing.assert_allclose(function.call(X, Y).array, X.array + Y.array[:, None], rtol=1e-6)


def test_a_dimension_prints_and_leaves_nothing_behind():
    """A plain call after an export has plans of its own, and tensors of dimensions can be looked at."""
    texts: list[str] = []

    def look(X: Any) -> Any:
        texts.append(f"{X.shape} {X!r}")
        return nt.evaluate("2 X", X=X)

    for name in ("seq", "n"):
        exported(look, specification("seq chans", (*sizes_of(name), 4)))
        assert look(tensor("seq chans", (3, 4))).sizes == {"seq": 3, "chans": 4}
    assert "seq[n]" in texts[2] and "seq[3]" in texts[3]


READ = """
import sys, jax, numpy as np, namedtensor as nt
function = jax.export.deserialize(bytearray(open(sys.argv[1], "rb").read()))
Y = function.call(nt.tensor(jax.numpy.ones((2, 3)), "batch seq"))
print(Y.shape, Y.array.sum())
"""


def test_a_shape_with_names_has_no_numbers():
    shape = nt.tensor(jax.ShapeDtypeStruct((2, 3), "float32"), "a b")
    assert shape.sizes == {"a": 2, "b": 3} and "a[2] × b[3], float32" in repr(shape) and "a[2] × b[3]" in str(shape)
    assert jax.eval_shape(formula("∑_{a} X"), shape).sizes == {"b": 3}
    for use in (lambda: shape + 1, lambda: nt.evaluate("2 X", X=shape), lambda: shape.to_numpy("a b")):
        with pytest.raises(nt.NotationError, match="317"):
            use()
    with pytest.raises(nt.NotationError, match="316"):
        nt.tensor(jax.ShapeDtypeStruct((2, 3), "float32"), "a")


def test_another_process_reads_the_file(tmp_path: Any):
    path = tmp_path / "function.bin"
    spec = specification("batch seq", sizes_of("batch, seq"))
    path.write_bytes(export.export(jax.jit(formula("2 X")))(spec).serialize())
    run = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, timeout=120)
    assert run.stdout.split() == ["ℝ^{batch[2]", "×", "seq[3]}", "12.0"], run.stderr
