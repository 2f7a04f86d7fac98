"""The transpose of indexing by a tensor: what each element counts is added where it came from, and no one-hot is made."""

import math
import zlib
from functools import cache

import javascript
import numpy as np
import pytest
from ways import WAYS, going

import namedtensor as nt
from namedtensor import reference


@pytest.fixture(params=WAYS)
def way(request):
    with going(request.param):
        yield


RANDOM = np.random.default_rng(5)
SIZES = {"vocab": 6, "chans": 3, "batch": 2, "seq": 4, "heads": 2}


def drawn(axes, random=RANDOM):
    return nt.tensor(random.normal(size=[SIZES[axis] for axis in axes.split()]), axes)


def places(axes, most=SIZES["vocab"], random=RANDOM):
    return nt.tensor(random.integers(1, most + 1, [SIZES[axis] for axis in axes.split()]), axes)


CASES = {
    "one axis of places": ("∂(∑_{seq,chans} (w ⊙ E_{vocab(I)}^2))/∂E*", ("vocab chans", "seq", "seq chans")),
    "two axes": ("∂(∑_{batch,seq,chans} (w ⊙ E_{vocab(I)}^2))/∂E*", ("vocab chans", "batch seq", "chans batch seq")),
    "the axis last": ("∂(∑_{seq,chans} (w ⊙ exp E_{vocab(I)}))/∂E*", ("chans vocab", "seq", "seq chans")),
    "an axis of both": ("∂(∑_{batch,seq,chans} (w ⊙ E_{vocab(I)}^3))/∂E*", ("batch vocab chans", "seq batch", "batch seq chans")),
    "two axes of both": ("∂(∑_{batch,heads,seq} (w ⊙ E_{vocab(I)}^3))/∂E*", ("heads batch vocab", "seq batch heads", "seq batch heads")),
    "nothing but the axis": ("∂(∑_{seq} (w ⊙ E_{vocab(I)}^3))/∂E*", ("vocab", "seq", "seq")),
    "one place": ("∂(∑_{chans} (w ⊙ E_{vocab(I)}^2))/∂E*", ("vocab chans", "", "chans")),
    "the function": ("∂(∑_{seq,chans} (w ⊙ index_{vocab}(E, I)^2))/∂E*", ("vocab chans", "seq", "seq chans")),
    "many results": ("∂(∑_{seq} (w ⊙ E_{vocab(I)}^2))/∂E*", ("vocab chans", "seq", "seq chans")),
    "the axis of the places": ("∂(∑_{vocab,chans} (w ⊙ E_{vocab(I)}^2))/∂E*", ("vocab chans", "vocab", "vocab chans")),
    "twice": ("∂(∂(∑_{seq,chans} (w ⊙ E_{vocab(I)}^3))/∂E*)/∂E†", ("vocab chans", "seq", "seq chans")),
    "by the other factor": ("∂(∑_{vocab*,chans*} (∂(∑_{seq,chans} (w ⊙ E_{vocab(I)}^2))/∂E*)^2)/∂w*", ("vocab chans", "seq", "seq chans")),
    "rows of rows": ("∂(∑_{seq,chans} (w ⊙ [E_{vocab(J)}]_{batch(I)}^2))/∂E*", ("vocab chans", "seq", "seq chans")),
}  # fmt: skip


@cache
def given_for(title):
    """The tensors that a case names, the same for each test of it."""
    text, (E, I, w) = CASES[title]
    random = np.random.default_rng(zlib.crc32(title.encode()))
    most = SIZES["batch"] if "batch(I)" in text else SIZES["vocab"]
    tensors = {
        "E": drawn(E, random),
        "I": places(I, most, random),
        "w": drawn(w, random),
        "J": places("batch", random=random),
    }
    return {name: tensor for name, tensor in tensors.items() if name in text}


@cache
def by_the_limit(title):
    tensors = given_for(title)
    plain = {
        name: reference.tensor(tensor.array.tolist(), tensor.axes) if tensor.axes else tensor.item()
        for name, tensor in tensors.items()
    }
    return reference.evaluate(CASES[title][0], plain)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("title", CASES)
def test_slopes_are_the_limits_that_define_them(title, way):
    expected, result = by_the_limit(title), nt.evaluate(CASES[title][0], given_for(title))
    order = tuple(expected.shape)
    assert result.sizes == expected.shape
    loose = title in ("twice", "by the other factor")  # differences of differences
    np.testing.assert_allclose(result.to_array(order), np.array(expected.to_list(order)), atol=1e-3 if loose else 1e-6)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("library", ["torch", "jax.numpy", "array_api_strict"])
@pytest.mark.parametrize("title", CASES)
def test_other_libraries_add_the_same(title, library):
    xp = pytest.importorskip(library, reason=f"{library} is not installed")
    text, tensors = CASES[title][0], given_for(title)
    expected = nt.evaluate(text, tensors)
    result = nt.evaluate(
        text, {name: nt.tensor(xp.asarray(tensor.array), tensor.axes) for name, tensor in tensors.items()}
    )
    np.testing.assert_allclose(np.asarray(result.to_array(expected.axes)), expected.array, rtol=1e-5, atol=1e-5)


@pytest.mark.skipif(javascript.NODE is None, reason=javascript.REASON)
def test_javascript_adds_the_same():
    cases = [javascript.case(title, text, given_for(title)) for title, (text, _) in CASES.items()]
    comparison = javascript.compare(cases)
    assert comparison.different == [] and comparison.count == len(CASES) and "scatter_add" in comparison.primitives


@pytest.mark.parametrize("columns", [1, 2, 40])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_rows_of_any_width_are_added(columns, dtype):
    """By sorting, or one by one where rows are narrow: the same as a loop over the words."""
    words = RANDOM.integers(1, 9, 50)
    tensor = nt.tensor(RANDOM.normal(size=(50, columns)).astype(dtype), "word c")
    E = nt.tensor(np.zeros((9, columns), dtype), "v c")
    result = nt.gradient("L = ∑_{word,c} (w ⊙ E_{v(i)})", "L", "E")(E=E, w=tensor, i=nt.tensor(words, "word"))["E"]
    expected = np.zeros((9, columns))
    for index, word in enumerate(words):
        expected[word - 1] += tensor.array[index]
    assert str(result.dtype) == dtype
    np.testing.assert_allclose(result.to_array("v c"), expected, atol=3e-2 if dtype == "float16" else 1e-5)


def test_what_no_index_picks_counts_for_nothing_even_beside_what_is_infinite():
    """log has no slope at 0, which stands where no index points."""
    slope = nt.evaluate(
        "∂(∑_{seq} [log T]_{v(i)})/∂T*", T=nt.tensor([0.0, 2.0, 4.0], "v"), i=nt.tensor([2, 3, 3], "seq")
    )
    assert slope.to_array("v*").tolist() == [0.0, 0.5, 0.5]
    infinite = nt.evaluate(
        "∂(∑_{seq} (w ⊙ T_{v(i)}))/∂T*", T=nt.tensor([1.0, 2.0], "v"), i=nt.tensor([2], "seq"), w=nt.tensor([math.inf], "seq")
    )  # fmt: skip
    assert infinite.to_array("v*").tolist() == [0.0, math.inf]


def test_an_index_out_of_range_is_told_where_it_stands():
    with pytest.raises(nt.NotationError, match="index 7 is out of range for axis vocab"):
        nt.gradient("L = ∑_{seq,chans} E_{vocab(I)}^2", "L", "E")(E=drawn("vocab chans"), I=nt.tensor([1, 7], "seq"))


def test_no_tensor_of_words_by_vocabulary_is_made():
    tensors = {"E": drawn("vocab chans"), "I": places("batch seq"), "w": drawn("batch seq chans")}
    compiled_formula = nt.formula(CASES["two axes"][0]).compile()
    compiled_formula(values=tensors)
    words = SIZES["batch"] * SIZES["seq"]
    assert "scatter_add" in str(compiled_formula.plan)
    assert all(step.value.count < words * SIZES["vocab"] for step in compiled_formula.plan.steps)


def test_it_goes_through_jit():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    text = CASES["two axes"][0]
    E, I, w = drawn("vocab chans"), places("batch seq"), drawn("batch seq chans")

    def slope(table):
        return nt.evaluate(text, E=nt.tensor(table, E.axes), I=nt.tensor(jax.numpy.asarray(I.array), I.axes),
                           w=nt.tensor(jax.numpy.asarray(w.array), w.axes)).to_array("vocab* chans*")  # fmt: skip

    expected = nt.evaluate(text, E=E, I=I, w=w).to_array("vocab* chans*")
    np.testing.assert_allclose(np.asarray(jax.jit(slope)(jax.numpy.asarray(E.array))), expected, rtol=1e-5, atol=1e-5)
