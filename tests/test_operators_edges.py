"""Operators and methods at the edges of what they take: no elements, integers, labels of one operand."""

import importlib
import math
import sys

import numpy as np
import pytest

import namedtensor as nt
from namedtensor import reference
from namedtensor.core.hooks import ImportWatcher
from namedtensor.operators.record import REGISTRY, register


@pytest.mark.parametrize(
    ("action", "code", "message"),
    [
        (lambda: nt.tensor(np.zeros((2, 2)), "q a").var("q", ddof=2), 405, "the variance is undefined: 2 elements less 2"),
        (lambda: nt.tensor(np.zeros((0, 2)), "q a").median("q"), 405, "median is undefined: axis q has size 0"),
        (lambda: round(nt.tensor([1.5], "a"), 1.5), 310, "the number of decimal places must be an integer, got 1.5"),
        (
            lambda: nt.tensor([1, 2], "a").with_labels(a=np.ones((2, 2))),
            208, "labels must be one list, got 2 axes of them",
        ),
    ],
)  # fmt: skip
def test_what_a_method_does_not_take_is_an_error(action, code, message):
    with pytest.raises(nt.NotationError) as raised:
        action()
    assert (raised.value.code, raised.value.message) == (code, message)


def test_integers_are_never_missing():
    value = nt.tensor([[3, 1], [2, 5]], "a b")
    assert value.nanmin("a").tolist() == [2, 1] and value.nanmax("a").tolist() == [3, 5]
    assert value.nanmin("a").dtype == value.dtype


def test_joined_operands_have_labels_where_both_have():
    left, right = nt.tensor([1, 2], "a").with_labels(a=["p", "q"]), nt.tensor([3], "a")
    assert nt.evaluate("X ⊕_{a} Y", X=left, Y=right).labels == {}
    joined = nt.evaluate("X ⊕_{a} Y", X=left, Y=right.with_labels(a=["r"]))
    assert joined.labels == {"a": ["p", "q", "r"]} and joined.tolist() == [1, 2, 3]


@pytest.mark.parametrize(("n", "k"), [(5, 7), (5, -1), (5, 2), (-2, 3), (0, 0)])
def test_binomial_coefficients_by_their_product(n, k):
    expected = math.prod(range(n - k + 1, n + 1)) // math.factorial(k) if k >= 0 else 0  # n (n − 1) … (n − k + 1) / k!
    numbers = {"n": reference.number(n), "k": reference.number(k)}
    assert reference.evaluate("binom(n, k)", numbers)({}) == expected
    assert float(nt.evaluate("binom(n, k)", n=float(n), k=float(k))) == expected


def test_the_first_place_in_descending_order_is_that_of_the_largest_number():
    x = np.array([1.0, np.nan, 3.0, 3.0])
    assert int(nt.evaluate("(argsort_{a} (−X))_{a(1)}", X=nt.tensor(x, "a"))) == int(np.nanargmax(x)) + 1 == 3


@pytest.mark.parametrize("matrix", [[[3.0, 0.0], [0.0, 2.0]], [[2.0, 1.0], [1.0, 2.0]]])
def test_eigenvalues_by_the_definition_are_those_of_numpy(matrix):
    value = reference.evaluate("eigvalsh_{a,b} M", {"M": reference.tensor(matrix, "a b")})
    np.testing.assert_allclose([*value.entries.values()], np.linalg.eigvalsh(matrix))


def test_a_function_of_a_user_may_return_a_plain_number_where_no_axes_remain():
    @nt.custom_function("total : ℝ^{a} → ℝ")
    def total(x):
        return float(x.array.sum())

    @nt.custom_function("doubled : ℝ^{a} → ℝ^{a}")
    def doubled(x):
        return 2 * x.array

    x = nt.tensor([1.0, 2.0], "a")
    assert float(nt.evaluate("total(X)", X=x)) == 3
    with pytest.raises(nt.NotationError, match="the Python function of doubled.* must return a tensor, got ndarray"):
        nt.evaluate("doubled(X)", X=x)


def test_two_operators_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two operators are called softmax"):
        register(REGISTRY["softmax"])


def test_a_library_that_is_awaited_and_absent_is_not_found(monkeypatch):
    watcher = ImportWatcher()
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    watcher.watch("library_that_is_absent")
    assert sys.meta_path[0] is watcher
    with pytest.raises(ModuleNotFoundError, match="library_that_is_absent"):
        importlib.import_module("library_that_is_absent")
