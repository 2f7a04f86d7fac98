"""standardize of numbers whose squares overflow: as that of the same numbers in another unit, in every way to compute it."""

import warnings

import numpy as np
import pytest

import namedtensor as nt

SHAPES = {"short": (3,), "rows": (4, 7), "in blocks": (3000, 400)}
FACTORS = {"float64": (1e200, 1e300, 1e-200, 1.0), "float32": (1e25, 1e35, 1e-30, 1.0)}
CASES = [(dtype, factor) for dtype, factors in FACTORS.items() for factor in factors]


def drawn(shape, dtype, factor):
    return (np.random.default_rng(5).normal(size=shape) * factor).astype(dtype)


def by_hand(x, eps):
    """In long double, which has room for the squares."""
    wide = x.astype(np.longdouble)
    away = wide - wide.mean(-1, keepdims=True)
    return (away / np.sqrt((away**2).mean(-1, keepdims=True) + eps)).astype(x.dtype)


def ways(array, axes):
    x = nt.tensor(array, axes)
    text = "standardize_{a} X"
    yield nt.evaluate(text, X=x)
    yield nt.formula(text)(X=x)
    yield nt.formula(text).compile()(X=x)
    yield nt.formula(text).compile(disable=("unshifted-softmax",))(X=x)
    yield nt.standardize(x, axis="a")


@pytest.mark.sampled(3)
@pytest.mark.skipif(np.finfo(np.longdouble).maxexp < 5000, reason="long double is no wider than double here")
@pytest.mark.parametrize("dtype, factor", CASES)
@pytest.mark.parametrize("name", SHAPES)
def test_on_numpy(name, dtype, factor):
    array = drawn(SHAPES[name], dtype, factor)
    axes = "a" if array.ndim == 1 else "n a"
    want = by_hand(array, 1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for way in ways(array, axes):
            close = 2e-6 if dtype == "float32" else 1e-11
            np.testing.assert_allclose(way.to_array(axes), want, rtol=close, atol=close * np.abs(want).max())


@pytest.mark.parametrize("library", ["jax.numpy", "array_api_strict"])
def test_in_other_libraries(library):
    xp = pytest.importorskip(library)
    array = drawn((4, 7), "float32", 1e30)
    result = nt.evaluate("standardize_{a} X", X=nt.tensor(xp.asarray(array), "n a")).array
    np.testing.assert_allclose(np.asarray(result), by_hand(array, 1e-5), rtol=1e-4)


@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
@pytest.mark.parametrize("size", [6e-8, 2e-7, 1e-6, 1.4e-5, 1e-4, 1.0, 3e4])
def test_the_norm_of_numbers_near_the_ends_of_float16(library, size):
    xp = pytest.importorskip(library)
    array = np.float16([3, 0, -4, 0]) * np.float16(size / 4)
    value = nt.evaluate("norm_{a} X", X=nt.tensor(xp.asarray(array), "a"))
    np.testing.assert_allclose(float(value), np.linalg.norm(array.astype(float)), rtol=2e-3, atol=6e-8)


LIBRARIES = ["numpy", "torch", "jax.numpy"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("factor", [1e-35, 1.0, 1e38, 2.0**127])
@pytest.mark.parametrize("text", ["norm_{a} X", "std_{a} X", "standardize_{a} X"])
def test_of_numbers_near_the_ends_of_single_precision(text, factor, library):
    """One over the largest is no normal number from 2¹²⁶ on."""
    xp = pytest.importorskip(library)
    array = (np.array([[1.0, 0.5, -0.25], [0.1, -1.0, 0.75]]) * factor).astype("float32")
    wide = array.astype("float64")
    away = wide - wide.mean(-1, keepdims=True)
    spread = np.sqrt((away**2).mean(-1))
    expected = {
        "norm": np.sqrt((wide**2).sum(-1)),
        "std": spread,
        "standardize": away / np.sqrt(spread**2 + 1e-5)[:, None],
    }
    result = np.asarray(nt.evaluate(text, X=nt.tensor(xp.asarray(array), "n a")).array)
    np.testing.assert_allclose(result, expected[text.split("_")[0]], rtol=1e-5)


def array_of(library, array):
    module = pytest.importorskip(library)
    return module.tensor(array) if library == "torch" else module.asarray(array)


def as_numpy(tensor, axes):
    return np.asarray(tensor.to_array(axes))


HALVES = [("float16", 1e4), ("float16", 1.0)]
WRITTEN = (
    "(X − mean_{a} X) / √(var_{a} X + 0.00001)"  # its squares are those of the text, but where PyTorch has one function
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "library", "dtype", "factor"),
    [("standardize_{a} X", library, *case) for library in LIBRARIES for case in (*CASES, *HALVES)]
    + [(WRITTEN, "torch", *case) for case in CASES],
)
def test_in_every_library_in_every_way(text, library, dtype, factor):
    if library == "jax.numpy" and dtype == "float64":
        pytest.importorskip("jax").config.update("jax_enable_x64", True)
    array = drawn((4, 7), dtype, factor)
    x, want = nt.tensor(array_of(library, array), "n a"), by_hand(array, 1e-5)
    close = {"float16": 5e-3, "float32": 2e-6, "float64": 1e-11}[dtype]
    for result in (nt.evaluate(text, X=x), nt.formula(text)(X=x), nt.formula(text).compile()(X=x)):
        np.testing.assert_allclose(as_numpy(result, "n a"), want, rtol=close, atol=close * np.abs(want).max())


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("factor", [1e25, 1.0, 1e-30])
def test_squares_that_vanish_where_there_is_no_ε(library, factor):
    array = drawn((4, 7), "float32", factor)
    result = nt.evaluate("standardize_{a}(X; 0)", X=nt.tensor(array_of(library, array), "n a"))
    np.testing.assert_allclose(as_numpy(result, "n a"), by_hand(array, 0), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_mean_of_half_precision_whose_sum_overflows(library):
    x = nt.tensor(array_of(library, np.full(8, 3e4, "float16")), "a")
    assert float(as_numpy(nt.evaluate("mean_{a} X", X=x), "")) == np.float16(3e4)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("factor", [1e25, 1e30, 1e10, 1.0, 1e-30])
@pytest.mark.parametrize("eps", [1e-5, 0.0])
@pytest.mark.parametrize("text", ["standardize_{a}(X; %r)", "g ⊙ standardize_{a}(X; %r) + h"])
def test_gradients_of_pytorch(text, eps, factor, dtype):
    """Against those in the unit of the numbers, where no square is extreme."""
    torch = pytest.importorskip("torch")
    x = torch.tensor(drawn((4, 7), "float64", factor)).to(getattr(torch, dtype)).requires_grad_()
    weight, shift = (torch.linspace(start, 2, 7).to(x.dtype) for start in (0.5, -1))
    tensors = {"g": nt.tensor(weight, "a"), "h": nt.tensor(shift, "a")} if "g" in text else {}
    array = nt.formula(text % eps).compile()(values={"X": nt.tensor(x, "n a"), **tensors}).to_array("n a")
    pull = torch.linspace(-1, 2, 28).reshape(4, 7)
    (array.double() * pull).sum().backward()
    unit = (x.detach().double() / factor).requires_grad_()
    away = unit - unit.mean(-1, keepdim=True)
    want = away / (away.square().mean(-1, keepdim=True) + eps / factor / factor).sqrt()
    want = want * weight.double() + shift.double() if tensors else want
    (want * pull).sum().backward()
    close = {"float32": 1e-5, "float64": 1e-12, "bfloat16": 3e-2}[dtype]
    for one, other in ((array.detach(), want.detach()), (x.grad.double() * factor, unit.grad)):
        np.testing.assert_allclose(one.double(), other, rtol=close, atol=close * float(other.abs().max()))


def test_pytorchs_own_kernel_is_called_and_maps_over_batches():
    torch = pytest.importorskip("torch")
    compiled = nt.formula("standardize_{a} X").compile()
    x = torch.tensor(drawn((4, 7), "float32", 1.0))
    with torch.profiler.profile() as profile:
        array = compiled(X=nt.tensor(x, "n a")).to_array("n a")
    assert not {"aten::amax", "aten::where"} & {event.name for event in profile.events()}
    torch.testing.assert_close(array, torch.nn.functional.layer_norm(x, (7,)), rtol=0, atol=0)
    mapped = torch.vmap(lambda row: compiled(X=nt.tensor(row, "a")).to_array("a"))(x)
    torch.testing.assert_close(mapped, array)


def test_what_pytorch_compiles():
    torch = pytest.importorskip("torch")
    compiled = nt.formula("standardize_{a} X").compile().specialize(X=nt.tensor(torch.zeros(4, 7), "n a"))
    function = torch.compile(compiled.function, backend="aot_eager", fullgraph=True)
    for factor in (1e25, 1.0):
        array = drawn((4, 7), "float32", factor)
        np.testing.assert_allclose(function(torch.tensor(array)), by_hand(array, 1e-5), rtol=1e-5, atol=1e-6)


def test_what_is_infinite_stays_nan():
    array = np.array([1.0, np.inf, 2.0])
    with np.errstate(invalid="ignore"):
        assert np.isnan(nt.evaluate("standardize_{a} X", X=nt.tensor(array, "a")).array).any()


@pytest.mark.parametrize("rows", [4, 600, 3000, 30_000])
@pytest.mark.parametrize("function", [nt.softmax, nt.standardize])
def test_functions_of_tensors_of_all_sizes_have_their_fallback(function, rows):
    """Whole and in blocks."""
    x = np.random.default_rng(1).normal(size=(rows, 400)).astype("float32") * np.float32(1e25)
    expected = function(nt.tensor(x[:3], "n a"), axis="a").to_array("n a")
    for _ in range(2):
        value = function(nt.tensor(x, "n a"), axis="a").to_array("n a")
        np.testing.assert_allclose(value[:3], expected, rtol=1e-5, atol=1e-6)
