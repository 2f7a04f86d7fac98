"""Derivatives where something beside is infinite, or has no slope: that of a case is that of the case taken.

The answers are those of dual numbers in plain Python, which look at no other case, or worked out by hand.
"""

from __future__ import annotations

import math

import dual_numbers as dn
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ways import WAYS, going

import namedtensor as nt

inf = math.inf


@pytest.fixture(params=WAYS[:2])
def way(request):
    with going(request.param):
        yield


def of(numbers, axes="a"):
    return nt.tensor(np.array(numbers, float), axes)


def computed(text: str, given: dict, arrays=np.asarray) -> np.ndarray:
    there = {name: nt.tensor(arrays(entry.array), entry.axes) for name, entry in given.items()}
    value = nt.evaluate(text, there)
    return np.asarray(value.to_array(sorted(value.axes)))


# ------------------------------------------------------------------------------------------------------------- a table
DEFINED = "f : ℝ → ℝ\nf(t) = { 1/t if t ≠ 0; 0 otherwise }\ng(t) = { √t if t > 0; 0 otherwise }\n"
LIFTED = "h : ℝ^{a} → ℝ\nh(t) = { norm_{a} √t if max_{a} t > 0; 0 otherwise }\n"
EDGES = [
    # what the other case would give is ∞ or no number
    ("∂(∑_{a} { √x if x > 0; 0 otherwise })/∂x*", {"x": [0, 1, -4]}, [0, 0.5, 0]),
    ("∂({ √x if x > 0; 0 otherwise })/∂x*", {"x": [0, 1]}, [[0, 0], [0, 0.5]]),
    ("∂(∑_{a} where(x > 0, √x, 0))/∂x*", {"x": [0, 1, -4]}, [0, 0.5, 0]),
    ("∂(∑_{a} where(x ≤ 0, 0, log x))/∂x*", {"x": [0, 2, -4]}, [0, 0.5, 0]),
    ("∂(∑_{a} { 1/x if x ≠ 0; 0 otherwise })/∂x*", {"x": [0, 2]}, [0, -0.25]),
    ("∂(∑_{a} { x^{−1.5} if x > 0; x otherwise })/∂x*", {"x": [0, 1, -1]}, [1, -1.5, 1]),
    ("∂(∑_{a} { x^p if x > 0; 0 otherwise })/∂p", {"x": [0, 1, math.e], "p": 2.0}, math.e**2),
    ("∂(∑_{a} where(x = 0, 1, sin(x)/x))/∂x*", {"x": [0, math.pi]}, [0, -1 / math.pi]),
    ("∂(∑_{a} { exp(1/x) if x > 0; 0 otherwise })/∂x*", {"x": [0, 1, 1e-30]}, [0, -math.e, -inf]),
    # nested, further ones, functions
    ("∂(∑_{a} { { log x if x > 1; √x otherwise } if x > 0; 0 otherwise })/∂x*", {"x": [0, 0.25, 2]}, [0, 1, 0.5]),
    ("∂(∑_{a} { 1/x if x > 0; 1/(1 + x) if x > −1; x otherwise })/∂x*", {"x": [0, -1, 2]}, [-1, 1, -0.25]),
    (DEFINED + "∂(∑_{a} exp f(x))/∂x*", {"x": [0, 1]}, [0, -math.e]),
    (DEFINED + "∂(∑_{a} exp(g(x) + f(x)))/∂x*", {"x": [0, 1]}, [0, -0.5 * math.e**2]),
    (LIFTED + "∂h(x)/∂x*", {"x": ([[0, 0], [1, 3]], "b a")}, [[[0, 0], [0, 0.25]]] * 2),
    # long chains inside of a case, and records that only some of the cases take
    ("∂({ √(∑_{a} √x) if ∑_{a} x > 0; 0 otherwise })/∂x*", {"x": [0, 0]}, [0, 0]),
    ("∂(∑_{b} { Y √c if Y > 0; 0 otherwise })/∂c*", {"c": [0, 1], "Y": ([-1, -2], "b")}, [[0, 0], [0, 0]]),
    ("∂(∑_{b} { Y √c if Y > 0; 0 otherwise })/∂Y*", {"c": [4, 1], "Y": ([-1, 2], "b")}, [[0, 2], [0, 1]]),
    ("∂(∑_{b} where(V > 0, tanh(A ⊙_{a} x), 0))/∂x*",
     {"x": [0, 0], "A": ([[1, 2], [math.nan, 4]], "b a"), "V": ([1, -1], "b")}, [1, 2]),
    ("∂(∑_{b} where(V > 0, A ⊙_{a} exp(k x), 0))/∂x*",
     {"x": [0, 9], "A": ([[1, 1], [2, 2]], "b a"), "V": ([1, -1], "b"), "k": 100.0}, [100, inf]),
    ("∂(∑_{b,c} where(V > 0, A ⊙_{a} (1/x), 0))/∂A*",
     {"x": ([[0, 1], [2, 4]], "c a"), "A": ([[1, 1], [1, 1]], "b a"), "V": ([[1, -1], [-1, 1]], "b c")},
     [[inf, 0.5], [1, 0.25]]),
    ("Y_{b(i)} = { √(x_{a(i)}) if x_{a(i)} > 0; 0 otherwise }\nY ∈ ℝ^{b[2]}\n∂Y/∂x*", {"x": [0, 1]}, [[0, 0], [0, 0.5]]),
    ("∂(∑_i { √(x_{a(i)}) if x_{a(i)} > 0; 0 otherwise })/∂x*", {"x": [0, 1]}, [0, 0.5]),
    ("s^t = { 1/s^{t-1} if s^{t-1} ≠ 0; 0 otherwise } for t = 1, …, 3\ns^0 = x\n∂(∑_{a} s^3)/∂x*", {"x": [0, 2]}, [0, -0.25]),
    # what is not picked, or not there
    ("∂(√x)/∂x*", {"x": [0, 1]}, [[inf, 0], [0, 0.5]]),
    ("∂(w ⊙_{a} √x)/∂x*", {"x": [0, 1], "w": ([[1, 2], [3, 4]], "b a")}, [[inf, inf], [1, 2]]),
    ("∂(max_{a} √x)/∂x*", {"x": [0, 4]}, [0, 0.25]),
    ("∂(√(max_{a} x))/∂x*", {"x": [0, -4]}, [inf, 0]),
    ("∂(∑_{a} √(sort_{a} x))/∂x*", {"x": [4, 0]}, [0.25, inf]),
    ("∂(∑_{a} √(cumsum_{a} x))/∂x*", {"x": [0, 4]}, [inf, 0.25]),
    ("∂([√x]_{a(2)})/∂x*", {"x": [0, 4]}, [0, 0.25]),
    ("∂(∑_{c} √(x_{a(I)}))/∂x*", {"x": [0, 4, 1], "I": ([1, 2, 2], "c")}, [inf, 0.5, 0]),
    ("∂(∑_{c} [√x]_{a(I)})/∂x*", {"x": [4, 1, 0], "I": ([1, 2, 2], "c")}, [0.25, 1, 0]),
    ("∂(√(x ⊕_{a} y))/∂x*", {"x": [1], "y": [0]}, [[0.5], [0]]),
    ("∂(√[x_{a(1)}, x_{a(2)}]_{b})/∂x*", {"x": [0, 1]}, [[inf, 0], [0, 0.5]]),
    ("∂(√(trace_{a,b} x))/∂x*", {"x": ([[0, 1], [1, 0]], "a b")}, [[inf, 0], [0, inf]]),
    ("∂(trace_{a,b} √x)/∂x*", {"x": ([[1, 0], [0, 4]], "a b")}, [[0.5, 0], [0, 0.25]]),
    ("∂(∑_{a} relu(√x − 1))/∂x*", {"x": [0, 4]}, [0, 0.25]),
    ("∂(∑_{a} max(√x, 1))/∂x*", {"x": [0, 4]}, [0, 0.25]),
    ("∂(∑_{a} clip(1/x, −2, 2))/∂x*", {"x": [0, 1]}, [0, -1]),
    ("∂(∑_{a} 𝕀[x > 0] ⊙ √x)/∂x*", {"x": [0, 4]}, [0, 0.25]),
    # an exponent of 0, for which the power is 1 everywhere, and a square that overflows
    ("∂(∑_{a} x^p)/∂x*", {"x": [0, 0, 0, 2], "p": [0, 1, 2, 0]}, [0, 1, 0, 0]),
    ("∂(∑_{a} ∑_{i=0}^{2} x^i)/∂x*", {"x": [0, 1]}, [1, 3]),
    ("Φ_{b(i)} = x^{i-1}\n|b| = 3\n∂Φ/∂x", {"x": 0}, [0, 1, 0]),
    ("∂(∂(∑_{a} x^p)/∂x*)/∂x†", {"x": [0, 3], "p": [1, 1]}, [[0, 0], [0, 0]]),
    ("∂(∑_{a} gelu_tanh x)/∂x*", {"x": [-1e30, 0, 1e30]}, [0, 0.5, 1]),
    # twice
    ("∂(∂(∑_{a} { √x if x > 0; 0 otherwise })/∂x*)/∂x†", {"x": [0, 1]}, [[0, 0], [0, -0.25]]),
    ("∂(∂(∑_{a} where(x = 0, 1, sin(x)/x))/∂x*)/∂x†", {"x": [0, math.pi]}, [[0, 0], [0, 2 / math.pi**2]]),
    ("∂(∂({ log(∑_{a} x) if ∑_{a} x > 0; 0 otherwise })/∂x*)/∂x†", {"x": [0, 0]}, [[0, 0], [0, 0]]),
]  # fmt: skip


def tensors(given: dict) -> dict:
    """Lists lie along a, or along the axes that stand beside them; numbers have none."""
    pairs = {
        name: value if isinstance(value, tuple) else (value, "a" if isinstance(value, list) else "")
        for name, value in given.items()
    }
    return {name: of(*pair) for name, pair in pairs.items()}


AT_EDGES = pytest.mark.parametrize("text, given, right", EDGES, ids=[text.split("\n")[-1] for text, _, _ in EDGES])


@pytest.mark.sampled(3)
@AT_EDGES
def test_at_edges(text, given, right, way):
    np.testing.assert_allclose(computed(text, tensors(given)), right, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
@AT_EDGES
def test_at_edges_in_other_libraries(text, given, right, library):
    xp = pytest.importorskip(library, reason="its arrays are tested where it is installed")
    value = computed(text, tensors(given), lambda array: xp.asarray(array.astype("float32")))
    np.testing.assert_allclose(value, right, rtol=1e-5, atol=1e-5)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
@AT_EDGES
def test_at_edges_in_source_text(text, given, right, library):
    xp = pytest.importorskip(library, reason="the text calls it")
    given, space = tensors(given), {}
    exec(nt.formula(text).to_python(library.partition(".")[0], given), space)
    with np.errstate(all="ignore"):
        value = space["function"](*(xp.asarray(item.array) for item in given.values()))
    axes = nt.evaluate(text, given).axes
    value = nt.tensor(np.asarray(value), axes).to_array(sorted(axes))
    np.testing.assert_allclose(value, right, rtol=1e-5, atol=1e-5)


# -------------------------------------------------------------------------------------------------- against dual numbers
W = [[1, 0, 2], [-1, 1, 0], [0, 3, 1]]
ONE_BY_ONE = {
    "{ √# if # > 0; # otherwise }": lambda t: dn.sqrt(t) if dn.above(t, 0) else t,
    "where(# = 0, 1, sin(#) / #)": lambda t: dn.sin(t) / t if dn.above(t, 0) or dn.above(0, t) else dn.dual(1.0),
    "{ 1/# if # ≠ 0; 0 otherwise }": lambda t: 1 / t if dn.above(t, 0) or dn.above(0, t) else dn.dual(0.0),
    "{ log # if # > 1; 0 if # > 0; #^2 otherwise }": lambda t: (
        dn.log(t) if dn.above(t, 1) else dn.dual(0.0) if dn.above(t, 0) else t * t
    ),
    "{ { log # if # > 1; √# otherwise } if # > 0; 0 otherwise }": lambda t: (
        (dn.log(t) if dn.above(t, 1) else dn.sqrt(t)) if dn.above(t, 0) else dn.dual(0.0)
    ),
    "{ #^{−1.5} if # > 0; 2 # otherwise }": lambda t: 1 / (t * dn.sqrt(t)) if dn.above(t, 0) else 2 * t,
    "{ exp(−1/#) if # > 0; 0 otherwise }": lambda t: dn.exp(-1 / t) if dn.above(t, 0) else dn.dual(0.0),
    "f(#)": lambda t: dn.sqrt(t + 1) if dn.above(t, -1) else dn.dual(0.0),
    "relu #": lambda t: t if dn.above(t, 0) else dn.dual(0.0),
    "# ⊙ #": lambda t: t * t,
}
ALL_AT_ONCE = {
    "[W ⊙_{a} #]_{b→a}": lambda t: [sum((w * x for w, x in zip(row, t)), dn.dual(0.0)) for row in W],
    "cumsum_{a} #": lambda t: [sum(t[: i + 1], dn.dual(0.0)) for i in range(len(t))],
    "#_{a(J)}": lambda t: [t[1], t[1], t[0]],
    "# − #_{a(3)}": lambda t: [x - t[2] for x in t],
    "[#_{a(1)}, #_{a(3)}, 0]_{a}": lambda t: [t[0], t[2], dn.dual(0.0)],
    "{ log(∑_{a} #) if ∑_{a} # > 0; 0 otherwise } + #": lambda t: [
        x + (dn.log(sum(t[1:], t[0])) if dn.above(sum(t[1:], t[0]), 0) else 0.0) for x in t
    ],
    "sort_{a} #": lambda t: sort(t),
    "# + max_{a} #": lambda t: [x + sort(t)[-1] for x in t],
}


def sort(t: list) -> list:
    """In order, where there are no ties."""
    order = sorted(t, key=dn.plain)
    for one, other in zip(order, order[1:]):
        if not dn.above(other, one):
            raise dn.Unclear
    return order


PIECES = [*ONE_BY_ONE, *ALL_AT_ONCE]
NUMBERS = st.sampled_from([-4.0, -1.0, 0.0, 0.0, 0.25, 1.0, 4.0])


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=4), st.tuples(NUMBERS, NUMBERS, NUMBERS), st.booleans())
@settings(deadline=None)
def test_what_is_taken_alone_counts(pieces, numbers, reverse):
    text, rules = "x", []
    for piece in pieces:
        text = f"({piece.replace('#', text)})"
        rules.append(ALL_AT_ONCE.get(piece) or (lambda t, one=ONE_BY_ONE[piece]: [one(x) for x in t]))
    assume(len(text) < 2000)

    def program(t: list) -> list:
        for rule in rules:
            t = rule(t)
        return t

    try:
        right = np.array(dn.gradient(program, list(numbers)))
    except (dn.Unclear, OverflowError, ZeroDivisionError):
        assume(False)
    assume(np.abs(right).max() < 1e6)
    names = {"x": of(numbers), "W": of(W, "b a"), "J": nt.tensor([2, 2, 1], "a")}
    names = {name: tensor for name, tensor in names.items() if name in text}
    head = "f : ℝ → ℝ\nf(t) = { √(1 + t) if t > −1; 0 otherwise }\n"
    with going("reverse" if reverse else "forward"):
        value = nt.evaluate(f"{head}∂({text})/∂x*", names)
    np.testing.assert_allclose(value.to_array("a a*"), right, rtol=1e-6, atol=1e-6)


# ------------------------------------------------------------------------------------ norms, deviations, determinants
NORMS = {
    "1": lambda x: np.sign(x), "2": lambda x: x / np.linalg.norm(x), "∞": lambda x: np.sign(x) * (abs(x) == abs(x).max()) / np.sum(abs(x) == abs(x).max()),
    **{text: lambda x, p=float(text): np.sign(x) * abs(x) ** (p - 1) / np.sum(abs(x) ** p) ** (1 - 1 / p) for text in ("3", "4", "2.5")},
    "0.5": lambda x: np.where(x == 0, 0, np.sign(x) * np.maximum(abs(x), 1e-9) ** -0.5 * np.sum(abs(x) ** 0.5)),
}  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("x", [[-3, 2, 1], [-3, 3, 0], [0, 0, -2], [0, 0, 0]])
@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
def test_slopes_of_norms(p, x, library, way):
    """Ties share; where all is zero the slope is zero."""
    xp = pytest.importorskip(library, reason="its arrays are tested where it is installed")
    right = NORMS[p](np.array(x, float)) if any(x) else [0, 0, 0]
    value = computed(f"∂(norm_{{a}}(x; {p}))/∂x*", {"x": of(x)}, lambda array: xp.asarray(array.astype("float32")))
    np.testing.assert_allclose(value, right, rtol=1e-5, atol=1e-5)


def test_slopes_of_large_norms():
    for p, right in (("2", [0.6, -0.8]), ("∞", [0, -1]), ("1", [1, -1])):
        np.testing.assert_allclose(computed(f"∂(norm_{{a}}(x; {p}))/∂x*", {"x": of([3e200, -4e200])}), right)


@pytest.mark.parametrize("x", [[1, 1, 1], [0.1, 0.1, 0.1], [0, 0, 0], [7]])
def test_a_deviation_of_nothing_grows_in_no_direction(x, way):
    assert not computed("∂(std_{a} x)/∂x*", {"x": of(x)}).any()
    assert not computed("∂(∂(std_{a} x)/∂x*)/∂x†", {"x": of(x)}).any()
    assert np.isfinite(computed("∂(standardize_{a} x)/∂x*", {"x": of(x)})).all()


def cofactors(matrix: np.ndarray) -> np.ndarray:
    """By the determinants of what is left without a row and a column."""
    count = range(len(matrix))
    left = [[np.delete(np.delete(matrix, row, 0), column, 1) for column in count] for row in count]
    return np.array([[(-1) ** (i + j) * np.linalg.det(left[i][j]) for j in count] for i in count])


MATRICES = [
    [[0, 0], [0, 2]], [[0, 0], [0, 0]], [[1, 2], [3, 4]], [[5]], [[0]], [[0.1, 0.2], [0.3, 0.6]], [[1, 2, 3], [2, 4, 6], [1, 1, 1]],
    [[1, 2, 3], [2, 4, 6], [3, 6, 9]], np.zeros((3, 3)), np.diag([0, 1, 2, 3.0, 4]), np.arange(100.0).reshape(10, 10) ** 0.5,
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("matrix", MATRICES, ids=str)
@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy", "array_api_strict"])
def test_a_determinant_grows_by_its_cofactors(matrix, library, way):
    xp = pytest.importorskip(library, reason="its arrays are tested where it is installed")
    matrix = np.array(matrix, "float32" if library == "jax.numpy" else float)
    right = cofactors(matrix)
    value = computed("∂(det_{r,s} M)/∂M*", {"M": nt.tensor(matrix, "r s")}, xp.asarray)
    np.testing.assert_allclose(value, right, rtol=1e-4, atol=1e-4 if library == "jax.numpy" else 1e-9)
    several = nt.tensor(xp.asarray(np.stack([matrix, matrix + np.eye(len(matrix), dtype=matrix.dtype)])), "b r s")
    value = np.asarray(nt.evaluate("∂(∑_{b} det_{r,s} M)/∂M*", M=several).to_array("b* r* s*"))
    np.testing.assert_allclose(value[0], right, rtol=1e-4, atol=1e-3 if library == "jax.numpy" else 1e-9)


@pytest.mark.parametrize("matrix", [matrix for matrix in MATRICES if len(matrix) < 5], ids=str)
def test_a_determinant_twice(matrix, way):
    matrix, step = np.array(matrix, float), 1e-4
    right = np.zeros(matrix.shape * 2)
    for index in np.ndindex(matrix.shape):
        away = np.zeros(matrix.shape)
        away[index] = step
        right[(..., *index)] = (cofactors(matrix + away) - cofactors(matrix - away)) / (2 * step)
    value = nt.evaluate("∂(∂(det_{r,s} M)/∂M*)/∂M†", M=nt.tensor(matrix, "r s")).to_array("r* s* r† s†")
    np.testing.assert_allclose(value, right, atol=1e-7)


def test_a_matrix_with_nan_spoils_no_other():
    M = of([[[math.nan, 1], [1, 2]], [[0, 0], [0, 2]]], "b r s")
    value = nt.evaluate("∂(∑_{b} det_{r,s} M)/∂M*", M=M).to_array("b* r* s*")
    assert np.isnan(value[0]).any() and value[1].tolist() == [[2, 0], [0, 0]]


@pytest.mark.parametrize("text", ["∂(exp x)/∂x*", "∂(∂(∑_{a} exp x)/∂x*)/∂x†", "∂(x ⊙_{a} softmax_{a} x ⊙ x)/∂x*"])
def test_what_is_too_large_is_shown_with_all_its_axes(text):
    with pytest.raises(nt.NotationError, match="its shape is") as refused:
        nt.evaluate(text, x=nt.tensor(np.ones(10**5), "a"))
    shape = str(refused.value).partition("its shape is ")[2].partition("\n")[0]
    assert shape.count("[100000]") == 2 and len(set(shape[3:-1].split(" × "))) == 2
