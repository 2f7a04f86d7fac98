"""Sums of index notation: every start, end and index against a loop over numbers that is written here."""

import math
from itertools import product

import numpy as np
import pytest

import namedtensor as nt

SIZE = 6
X = np.random.default_rng(5).uniform(0.5, 1.5, SIZE)
A = np.random.default_rng(6).normal(size=(SIZE, SIZE))
STARTS = {"1": lambda i: 1, "2": lambda i: 2, "i": lambda i: i, "i+1": lambda i: i + 1}
ENDS = {
    "n": lambda i: SIZE, "n-1": lambda i: SIZE - 1, "n/2": lambda i: SIZE // 2, "4": lambda i: 4,
    "i": lambda i: i, "i-1": lambda i: i - 1,
}  # fmt: skip
INDICES = {
    "j": lambda j: j, "j+1": lambda j: j + 1, "j-1": lambda j: j - 1, "n-j+1": lambda j: SIZE - j + 1,
    "n-j": lambda j: SIZE - j, "5-j": lambda j: 5 - j,
}  # fmt: skip
RANGES = {  # a sum with its range, and the numbers of the range
    r"\sum_{1 \le j \le n}": range(1, 7), r"\sum_{2 \le j \le n}": range(2, 7), r"\sum_{1 < j \le n}": range(2, 7),
    r"\sum_{1 \le j < n}": range(1, 6), r"\sum_{2 \le j \le 4}": range(2, 5), r"\sum_{2 \le j < 4}": range(2, 4),
    r"\sum_{j \le n}": range(1, 7), r"\sum_{j < n}": range(1, 6), r"\sum_{j > 2}": range(3, 7), r"\sum_{j \ge 2}^{5}": range(2, 6),
}  # fmt: skip


def summands(start, end, index, i):
    """Return the indices that a sum takes for one i, or None if one leaves the axis."""
    numbers = [INDICES[index](j) for j in range(STARTS[start](i), ENDS[end](i) + 1)]
    return numbers if all(1 <= number <= SIZE for number in numbers) else None


@pytest.mark.parametrize("index", INDICES)
def test_every_start_and_end_of_a_sum(index):
    compared = 0
    for (start, end), operator in product(product(STARTS, ENDS), ("sum", "prod")):
        per_index = "i" in start + end
        source = rf"{'y_i = ' if per_index else ''}\{operator}_{{j={start}}}^{{{end}}} x_{{{index}}}"
        lists = [summands(start, end, index, i) for i in range(1, SIZE + 1)]
        try:
            value = np.asarray(nt.translate(source, x="n")(X))
        except nt.NotationError as problem:
            assert problem.code == 115, source
            continue
        assert None not in lists, source
        expected = [getattr(np, operator)([X[number - 1] for number in numbers]) for numbers in lists]
        np.testing.assert_allclose(value, expected if per_index else expected[0], rtol=1e-9, err_msg=source)
        compared += 1
    assert compared >= {"j": 40, "j+1": 4, "j-1": 2, "n-j+1": 6, "n-j": 4, "5-j": 2}[index]


@pytest.mark.parametrize("source", RANGES)
def test_a_range_below_a_sum(source):
    for summand, value in (("x_j", lambda j: X[j - 1]), ("j x_j", lambda j: j * X[j - 1])):
        translation = nt.translate(f"{source} {summand}", x="n")
        assert np.isclose(translation(X), sum(value(j) for j in RANGES[source])), translation


VALUES = [  # source, inputs, arrays, value
    (r"\sum_{j=1}^{i} x_j", {"x": "n"}, (X,), np.cumsum(X)),
    (r"\sum_{j=1}^{i-1} x_j", {"x": "n"}, (X,), np.cumsum(X) - X),
    (r"\prod_{j=1}^{i} x_j", {"x": "n"}, (X,), np.cumprod(X)),
    (r"\frac{1}{i} \sum_{j=1}^{i} x_j", {"x": "n"}, (X,), np.cumsum(X) / np.arange(1, 7)),
    (r"x_i \sum_{j=1}^{i} x_j", {"x": "n"}, (X,), X * np.cumsum(X)),
    (r"\sum_{k=1}^{i} A_{ik} B_{kj}", {"A": "n n", "B": "n n"}, (A, A), np.tril(A) @ A),
    (r"\sum_i \sum_{j=1}^{i} A_{ij}", {"A": "n n"}, (A,), np.tril(A).sum()),
    (r"\sum_{2 \le i < j \le n} x_i x_j", {"x": "n"}, (X,), np.triu(np.outer(X, X)[1:, 1:], 1).sum()),
    (r"\sum_{i=2}^{n} \sum_{j=2}^{i} x_i x_j", {"x": "n"}, (X,), np.tril(np.outer(X, X)[1:, 1:]).sum()),
    (r"\sum_{i=2}^{n} A_{ii}", {"A": "n n"}, (A,), np.trace(A[1:, 1:])),
    (r"\sum_{i=1}^{n-1} A_{i,i+1}", {"A": "n n"}, (A,), np.trace(A, 1)),
    (r"\sum_{i=1}^{n} A_{i,n-i+1}", {"A": "n n"}, (A,), np.trace(A[:, ::-1])),
    (r"\sum_{i=1}^{n} w_i x_{n-i+1}", {"w": "n", "x": "n"}, (X, X), X @ X[::-1]),
    (r"\sum_i w_i x_{n-i+1}", {"w": "n", "x": "n"}, (X, X), X @ X[::-1]),
    (r"\sum_{i=1}^{N} w_i x_{N+1-i}", {"w": "n", "x": "n"}, (X, X), X @ X[::-1]),
    (r"\sum_{t=1}^{T} \gamma^{T-t} x_t", {"x": "time", "γ": ""}, (X, 0.5), X @ 0.5 ** np.arange(5, -1, -1)),
    ("y_i = x_{n-i+1}", {"x": "n"}, (X,), X[::-1]),
    ("x_{10} - x_2", {"x": "n"}, (np.arange(12.0) ** 2,), 80),
    ("A_{12}", {"A": "n n"}, (A,), A[0, 1]),
    (r"y_i = \sum_{k=2}^{n} x_k x_{n-i+1}", {"x": "n"}, (X,), X[1:].sum() * X[::-1]),
    ("y_i = x_i + x_{n-i+1}", {"x": "n"}, (X,), X + X[::-1]),
    ("y_{ij} = A_{i,n-j+1}", {"A": "n n"}, (A,), A[:, ::-1]),
    ("y_{ij} = A_{j,n-i+1}", {"A": "n n"}, (A,), A[:, ::-1].T),
    ("y_i = A_{i,n-i+1}", {"A": "n n"}, (A,), np.diag(A[:, ::-1])),
    ("y_i = A_{n-i+1,i}", {"A": "n n"}, (A,), np.diag(A[::-1])),
    ("C_{ik} = A_{i,n-j+1} B_{jk}", {"A": "m n", "B": "n p"}, (A, A), A[:, ::-1] @ A),
]


@pytest.mark.parametrize(("source", "inputs", "arrays", "value"), VALUES, ids=[source for source, *_ in VALUES])
def test_sums_up_to_an_index_and_indices_that_count_backward(source, inputs, arrays, value):
    np.testing.assert_allclose(np.asarray(nt.translate(source, inputs)(*arrays)), value, rtol=1e-9)


def test_the_reading_names_the_index_of_a_sum_that_ends_at_it():
    assert nt.translate(r"\sum_{j=1}^{i} x_j", x="n").reading == ("the value has one element for each i",)
    assert math.isclose(nt.translate(r"y = \sum_{j=1}^{n} x_j", x="n")(X), X.sum())


REFUSED = [
    (r"y = \sum_{j=1}^{i} x_j", "the sum ends at i, which is no index here and no length"),
    (r"\sum_{j=1}^{i} \sum_{k=1}^{s} A_{jk}", "the sum ends at i, which is no index here and no length"),
    (r"\sum_{i=1}^{n} x_{n-i}", "the index n-i leaves its axis"),
    (r"\sum_{i=1}^{n} x_{n-i+2}", "the index n-i+2 leaves its axis"),
    (r"\sum_{i=1}^{3} x_{3-i}", "the index 3-i leaves its axis"),
    ("y_i = x_{n-i}", "the index n-i is not supported"),
    ("y_{ij} = B_{m-i+1,j}", "the index m-i+1 does not count from the length of n"),
    (r"\sum_{i=1}^{n} B_{i,i+1}", "the index i is both n and m"),
]


@pytest.mark.parametrize(("source", "message"), REFUSED)
def test_an_index_that_leaves_its_axis_is_refused(source, message):
    inputs = {"x": "n", "A": "n n", "B": "n m"}
    with pytest.raises(nt.NotationError) as caught:
        nt.translate(source, {name: axes for name, axes in inputs.items() if f"{name}_" in source})
    assert (caught.value.code, caught.value.message) == (115, message)
