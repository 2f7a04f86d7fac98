"""Tensors alone: constructors by shape, conversions, methods along axes, vmap and scan; NumPy, PyTorch and JAX as the answer."""

import importlib.util
import sys

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.tensors.lazy import FOREIGN_NAMES

LIBRARIES = ["numpy", "torch", "jax"]
DATA = np.array([[3.0, 1.0, 4.0, 1.0], [5.0, 9.0, 2.0, 6.0]], "float32")
A = nt.tensor(DATA, "a b", labels={"b": list("wxyz")})

CREATED = [
    (lambda **more: nt.zeros("a[2] b[3]", **more), np.zeros((2, 3))),
    (lambda **more: nt.zeros({"a": 2}, "int32", **more), np.zeros(2, "int32")),
    (lambda **more: nt.ones("ℝ^{a[2] × b[3]}", **more), np.ones((2, 3))),
    (lambda **more: nt.ones(axis="a b", sizes={"a": 2, "b": 3}, **more), np.ones((2, 3))),
    (lambda **more: nt.ones(axis="a", size=2, dtype="float32", **more), np.ones(2, "float32")),
    (lambda **more: nt.full("a[2], b[1]", 7, **more), np.full((2, 1), 7)),
    (lambda **more: nt.arange("a[4]", 1, 0.5, **more), np.arange(4) * 0.5 + 1),
    (lambda **more: nt.eye("a[2] a'[3]", **more), np.eye(2, 3)),
    (lambda **more: nt.random_normal("a[3] b[2]", 5, mean=1, **more), np.random.default_rng(5).normal(1, 1, (3, 2))),
    (lambda **more: nt.random_uniform("a[3]", seed=5, high=2, **more), np.random.default_rng(5).uniform(0, 2, 3)),
    (lambda **more: nt.full("", 2.5, **more), np.array(2.5)),
]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("create, expected", CREATED)
def test_a_tensor_of_a_shape(create, expected, library):
    pytest.importorskip(library)
    result = create(library=library)
    assert type(result.array).__module__.partition(".")[0] in (library, "jaxlib")
    np.testing.assert_allclose(result.to_numpy(result.axes), expected, rtol=1e-6)
    if library == "numpy":
        assert result.dtype == expected.dtype


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_tensor_like_another(library):
    pytest.importorskip(library)
    like = A.to(library)
    for result, number in ((nt.zeros_like(like), 0), (nt.ones_like(like), 1), (nt.full_like(like, 7), 7)):
        assert result.dtype == like.dtype and result.labels == A.labels and type(result.array) is type(like.array)
        np.testing.assert_array_equal(result.to_numpy("a b"), np.full((2, 4), number))


A_NUMBER = nt.zeros("")
TOO_LARGE = [
    (lambda n, **more: nt.zeros({"a": n}, **more), "a[{}]", 8),
    (lambda n, **more: nt.ones({"a": n, "b": 2}, **more), "a[{}] × b[2]", 16),
    (lambda n, **more: nt.ones(axis="a", size=n, **more), "a[{}]", 8),
    (lambda n, **more: nt.arange({"a": n}, **more), "a[{}]", 8),
    (lambda n, **more: nt.eye({"a": n, "b": 2}, **more), "a[{}] × b[2]", 16),
    (lambda n, **more: nt.random_normal({"a": n}, **more), "a[{}]", 8),
    (lambda n, **more: nt.onehot(A_NUMBER.to(**more), axis="a", size=n), "a[{}]", 8),
]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("create, shape, itemsize", TOO_LARGE)
@pytest.mark.parametrize("size", [10**30, 2**61, 2**57])
def test_a_tensor_that_does_not_fit(create, shape, itemsize, size, library):
    pytest.importorskip(library)
    if size == 2**57 and library == "jax" and create is TOO_LARGE[-1][0]:
        pytest.skip("JAX aborts the process if a compiled function does not fit")
    with pytest.raises(nt.NotationError) as error:
        create(size, library=library)
    assert error.value.code == 404 and error.value.hint
    itemsize = 4 if library == "jax" and create is TOO_LARGE[-1][0] else itemsize
    needed = f"{size * itemsize / 2**40:.0f} TiB"
    assert f"ℝ^{{{shape.format(size)}}} needs {needed}" in error.value.message


@pytest.mark.parametrize("size", [10**30, 2**57])
def test_numbers_that_do_not_fit(size):
    with pytest.raises(nt.NotationError, match=f"a.{size}.* needs") as error:
        nt.tensor(range(size), "a")
    assert error.value.code == 404


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_a_result_that_does_not_fit(library):
    pytest.importorskip(library)
    x, y = nt.zeros("a[10000000]", "float32", library=library), nt.zeros("b[10000000]", "float32", library=library)
    with pytest.raises(nt.NotationError, match=r"a\[10000000\] × b\[10000000\].* needs 363.8 TiB"):
        x * y


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("library", LIBRARIES)
def test_an_index_beyond_every_integer(library):
    pytest.importorskip(library)
    index = nt.full("i[1]", 1e30, library=library)
    for select in (lambda: nt.onehot(index, axis="a", size=4), lambda: nt.onehot(10**30, axis="a", size=4)):
        with pytest.raises(nt.NotationError, match="index 1.*e.30 is out of range for axis a") as error:
            select()
        assert error.value.code == 401


@pytest.mark.parametrize("draw", [nt.random_normal, nt.random_uniform])
def test_seeds_with_numbers_are_apart(draw):
    drawn = {tuple(draw("a[3]", seed).tolist()) for seed in (7, (7, 0), (7, 1), (7, 0, 1), [8, 0])}
    assert len(drawn) == 5 and draw("a[3]", (7, 1)).tolist() == draw("a[3]", [7, 1]).tolist()
    for seed in ((), (7, -1), "7", (7, "1"), 1.5):
        with pytest.raises(nt.NotationError, match="non-negative integer"):
            draw("a[3]", seed)


@pytest.mark.sampled(3)
def test_a_key_of_jax_as_seed():
    jax = pytest.importorskip("jax")
    key = jax.random.key(3)
    whole = nt.random_uniform("a[2000] b[2]", key, low=2, high=4)
    assert isinstance(whole.array, jax.Array) and whole.axes == ("a", "b")
    assert 2 <= whole.min().item() and whole.max().item() <= 4 and abs(whole.mean().item() - 3) < 0.05
    normal = nt.random_normal("a[2000]", (key, 5), mean=1, std=3, dtype="float16")
    assert str(normal.dtype) == "float16" and abs(normal.mean().item() - 1) < 0.4 and abs(normal.std().item() - 3) < 0.4
    assert nt.random_normal("a[2]", (key, 5)).tolist() != nt.random_normal("a[2]", (key, 6)).tolist()
    both = jax.jit(jax.vmap(lambda key: nt.random_normal("a[2]", (key, 1)).array))(jax.random.split(key, 2))
    assert both.shape == (2, 2) and (both[0] != both[1]).all()


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", ["float16", "int32"])
def test_a_tensor_is_made_like_another(library, dtype):
    pytest.importorskip(library)
    like = nt.zeros("c[1]", dtype, library=library)
    others = [A.to(name) for name in LIBRARIES if importlib.util.find_spec(name)]
    for tensor in (*others, like):
        result = tensor.to(like)
        assert type(result.array) is type(like.array) and result.dtype == like.dtype
        assert result.axes == tensor.axes and result.labels == tensor.labels
        assert result.tolist(result.axes) == tensor.tolist(tensor.axes)
    assert "float32" in str(A.to(like, dtype="float32").dtype)


METHODS = [  # on tensors, on NumPy's array, the labels of b
    (lambda X: X.pad(a=(1, 0), b=(0, 2), value=7), lambda x: np.pad(x, ((1, 0), (0, 2)), constant_values=7), None),
    (lambda X: X.roll(b=1), lambda x: np.roll(x, 1, 1), list("wxyz")),
    (lambda X: X.roll({"b": -2, "a": 3}), lambda x: np.roll(np.roll(x, -2, 1), 3, 0), list("wxyz")),
    (lambda X: X.flip("b"), lambda x: np.flip(x, 1), list("zyxw")),
    (lambda X: X.flip(("a", "b")), np.flip, list("zyxw")),
    (lambda X: X.where(X > 2, 0), lambda x: np.where(x > 2, x, 0), list("wxyz")),
    (lambda X: X.take([2, 0, 2], axis="b"), lambda x: np.take(x, [2, 0, 2], 1), list("ywy")),
    (lambda X: X.take(1, "a"), lambda x: x[1], list("wxyz")),
    (lambda X: X.take(np.int32(3), "b"), lambda x: x[:, 3], None),
    (lambda X: X.take(np.array([1]), ["b"]), lambda x: x[:, [1]], ["x"]),
    (lambda X: X.take([], "b"), lambda x: x[:, :0], []),
    (lambda X: X.topk(2, "b")[0], lambda x: -np.sort(-x, 1)[:, :2], None),
    (lambda X: X.topk(2, "b")[1], lambda x: np.argsort(x, 1, kind="stable")[:, ::-1][:, :2], None),
    (lambda X: nt.stack(*X.unstack("b"), axis="b"), lambda x: x, None),
    (lambda X: X.astype("int32"), lambda x: x.astype("int32"), list("wxyz")),
    (lambda X: X[{"b": [3, 0]}], lambda x: x[:, [3, 0]], list("zw")),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("run, expected, labels", METHODS)
def test_a_method_along_axes(run, expected, labels, library):
    pytest.importorskip(library)
    result = run(A.to(library))
    order = "a b" if result.ndim == 2 else result.axes
    np.testing.assert_array_equal(result.to_numpy(order), expected(DATA))
    assert result.labels.get("b") == labels


@pytest.mark.parametrize("name", "sum mean max min prod std var norm logsumexp nansum any".split())
def test_a_reduction_over_all_axes(name):
    tensor = A > 2 if name == "any" else A
    expected = getattr(nt, name)(tensor, axis=("a", "b"))
    for _ in range(3):
        assert getattr(tensor, name)().item() == getattr(nt, name)(tensor).item() == expected.item()
    with pytest.raises(nt.NotationError):
        A.median()  # of one axis


def test_conversions_keep_labels_and_numbers():
    torch = pytest.importorskip("torch")
    there = A.to("torch", dtype="float64")
    assert there.array.dtype == torch.float64 and there.labels == A.labels and nt.allclose(there.to("numpy"), A)
    assert A.to("torch", device="cpu").to(device="cpu").array.device.type == "cpu"
    requires = nt.tensor(torch.ones(2, requires_grad=True), "a")
    assert requires.to("numpy").tolist() == [1, 1] and requires.astype("float64").array.requires_grad


@pytest.mark.parametrize("library", LIBRARIES)
def test_vmap_by_axis(library):
    pytest.importorskip(library)
    X, w = A.to(library), nt.arange("b[4]", dtype="float32", library=library)
    normed = nt.vmap(lambda row, w: (row * w).sum(axis="b"), axis="a")(X, w)
    assert normed.axes == ("a",)
    np.testing.assert_allclose(normed.to_numpy(), DATA @ np.arange(4))
    pair = nt.vmap(lambda row: (row.max(axis="a"), row + 1), axis="b")(X)
    assert pair[0].axes == ("b",) and set(pair[1].axes) == {"a", "b"}
    np.testing.assert_array_equal(pair[1].to_numpy("a b"), DATA + 1)


@pytest.mark.parametrize("library", LIBRARIES)
def test_scan_by_axis(library):
    pytest.importorskip(library)
    last, all_states = nt.scan(
        lambda state, x: (0.5 * state + x,) * 2, nt.zeros("a[2]", "float32", library=library), A.to(library), axis="b"
    )
    state, expected = np.zeros(2, "float32"), []
    for column in DATA.T:
        state = 0.5 * state + column
        expected.append(state)
    np.testing.assert_allclose(last.to_numpy(), state, rtol=1e-6)
    np.testing.assert_allclose(all_states.to_numpy("b a"), expected, rtol=1e-6)


def test_vmap_and_scan_under_jax():
    jax = pytest.importorskip("jax")
    X = A.to("jax")
    total = lambda X: nt.scan(lambda s, x: (s + x * x, s), nt.zeros("a[2]", library="jax"), X, axis="b")[0].sum().array
    np.testing.assert_allclose(jax.grad(total)(X).array, 2 * DATA, rtol=1e-6)
    assert jax.jit(lambda X: nt.vmap(lambda row: row.sum(axis="b"), axis="a")(X))(X).axes == ("a",)


def test_dlpack():
    row = A[{"a": 0}]
    np.testing.assert_array_equal(np.from_dlpack(row), DATA[0])
    assert nt.from_dlpack(DATA, "a b").axes == ("a", "b")
    torch = pytest.importorskip("torch")
    assert torch.from_dlpack(row).tolist() == DATA[0].tolist()
    assert nt.from_dlpack(torch.ones(2), "a", library="numpy").tolist() == [1, 1]
    assert isinstance(nt.from_dlpack(DATA, "a b", library="torch").array, torch.Tensor)


def test_other_libraries_take_what_has_one_order(tmp_path):
    row, number = A[{"a": 0}], nt.tensor(2.5)
    np.testing.assert_array_equal(np.asarray(row), DATA[0])
    pandas = pytest.importorskip("pandas")
    assert pandas.Series(row).tolist() == pandas.DataFrame({"v": row})["v"].tolist() == DATA[0].tolist()
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    plot = Figure().subplots()
    assert plot.plot(row)[0].get_ydata().tolist() == DATA[0].tolist()
    plot.plot(row, row), plot.bar(list("wxyz"), row), plot.hist(row), plot.axhline(number)
    for run in (lambda: np.asarray(A), lambda: pandas.DataFrame(A), lambda: plot.imshow(A), lambda: np.from_dlpack(A)):
        with pytest.raises(nt.NotationError, match="to_array"):
            run()


WRONG = [
    (lambda: nt.zeros("a b[3]"), "axis a of the shape has no size\n  hint: write a[4]"),
    (lambda: nt.zeros("a[x]"), "axis a of the shape has the size x"),
    (lambda: nt.zeros("a[2] a[3]"), "axis a occurs twice"),
    (lambda: nt.zeros(3), "a shape must be a text such as seq[3] chans[4], got 3"),
    (lambda: nt.zeros({"a": -1}), "the size of a must be a non-negative integer"),
    (lambda: nt.zeros("a[2]", "float33"), "float33"),
    (lambda: nt.zeros("a[2]", library="tensorflow"), "unknown backend 'tensorflow'"),
    (lambda: nt.arange("a[2] b[3]"), "arange expects one axis, got 2"),
    (lambda: nt.eye("a[2]"), "eye expects two axes, got 1"),
    (lambda: nt.full("a[2]", "x"), "the value of full must be a number"),
    (lambda: nt.random_normal("a[2]", seed=-1), "the seed must be a non-negative integer"),
    (lambda: nt.zeros_like([1]), "the tensor of full_like must be a named tensor"),
    (lambda: A.to("tensorflow"), "unknown backend"),
    (lambda: A.astype("float33"), "numpy has no dtype 'float33'"),
    (lambda: A.pad(c=(1, 1)), "pad needs axis c"),
    (lambda: A.pad(a=1), "pad expects two numbers for axis a, got 1"),
    (lambda: A.roll(a=1.5), "axis a is shifted by 1.5, which is not an integer"),
    (lambda: A.flip("c"), "flip needs axis c"),
    (lambda: A.unstack("c"), "unstack needs axis c"),
    (lambda: A.topk(5, "b"), "axis b has 4 elements, fewer than 5"),
    (lambda: A.where(A), "where expects conditions"),
    (lambda: nt.vmap(lambda row: row, axis="c")(A), "no argument has the axis c"),
    (lambda: nt.scan(lambda s, x: (s, x), 0, A, axis="c"), "the input of nt.scan has no axis c"),
    (lambda: nt.from_dlpack([1], "a"), "the argument of from_dlpack must be an array with __dlpack__"),
]


@pytest.mark.parametrize("run, message", WRONG)
def test_wrong_input_is_said_in_a_sentence(run, message):
    with pytest.raises(nt.NotationError) as raised:
        run()
    assert message in str(raised.value)


@pytest.mark.parametrize("name", FOREIGN_NAMES)
def test_a_name_of_another_library_says_what_to_write(name):
    assert not hasattr(A, name) and name not in dir(A)
    with pytest.raises(AttributeError) as raised:
        getattr(A, name)
    message = str(raised.value)
    assert message.startswith(f"named tensors have no {name}: ") and raised.value.name == name
    for call in [part.split("(")[0] for part in message.split("A.")[1:] if part.split("(")[0].isidentifier()]:
        assert hasattr(A, call), f"{call} is no method"


def test_methods_are_loaded_when_they_are_used():
    import subprocess

    code = (
        "import sys, namedtensor as nt; A = nt.tensor([1, 2], 'a'); A + A; A.sum(axis='a'); str(A)\n"
        "rare = ['creation', 'elements', 'mapping', 'labeled']\n"
        "print([name for name in rare if f'namedtensor.tensors.{name}' in sys.modules])\n"
        "A.flip('a'); print('namedtensor.tensors.elements' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "[]\nTrue\n", run.stderr


@pytest.mark.parametrize("library", LIBRARIES)
def test_take_at_a_tensor_of_positions(library):
    pytest.importorskip(library)
    X, rows = A.to(library), np.array([[3, 0, 1], [2, 2, 0]])
    new = X.take(nt.tensor(rows, "a i").to(library), axis="b")  # of each row others
    np.testing.assert_array_equal(new.to_numpy("a i"), np.take_along_axis(DATA, rows, 1))
    outer = X.take(nt.tensor(rows, "j i").to(library), axis="b")
    np.testing.assert_array_equal(outer.to_numpy("a j i"), DATA[:, rows])
    assert outer.labels == {} and X.take(nt.tensor([1, 0], "i").to(library), "a").labels == {"b": list("wxyz")}


TAKEN_WRONG = [  # the positions, the axis, the code, and what the message has
    (4, "b", 401, "position 4 is out of range for axis b (0 to 3)"),
    (-1, "b", 401, 'to count from the end, write A[{"b": -1}]'),
    ([0, -5], "b", 401, "position -5 is out of range"),
    (nt.tensor([0, -1], "i"), "b", 401, "index -1 is out of range for axis b"),
    (nt.tensor([0, 4], "i"), "b", 401, "index 4 is out of range for axis b"),
    (1.0, "b", 402, "integers, got 1.0"),
    ("w", "b", 402, "integers, got 'w'"),
    ([True, False], "b", 402, 'to keep elements by a condition, write A[{"b": keep}]'),
    ([[0, 1]], "b", 402, "pass a named tensor of positions"),
    (0, "c", 301, "take needs axis c"),
    (0, "a b", 316, "take expects 1 axis, got 2"),
]


@pytest.mark.parametrize("indices, axis, code, message", TAKEN_WRONG)
def test_take_at_wrong_positions(indices, axis, code, message):
    with pytest.raises(nt.NotationError) as caught:
        A.take(indices, axis)
    assert caught.value.code == code and message in str(caught.value) and caught.value.hint
