"""The place of the largest and of the least: found in one pass, the first of equals, on every library."""

from __future__ import annotations

import math

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.core.arrays import place_array

ROWS = {
    "plain": [0.5, -1.0, 2.0, 1.0],
    "ties": [2.0, -3.0, 2.0, -3.0],
    "infinite": [-math.inf, math.inf, math.inf, -math.inf],
    "zeros": [0.0, -0.0, 0.0, -0.0],
    "whole": [3, -7, 3, -7],
    "one": [4.0],
}
TEXTS = {"argmax_i x_{a(i)}": max, "argmin_i x_{a(i)}": min}


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("text", TEXTS)
def test_the_first_of_the_best(text, row, library):
    pytest.importorskip(library)
    numbers = ROWS[row]
    result = nt.evaluate(text, x=nt.tensor(place_array(np.array(numbers), library), "a"))
    assert int(result) == numbers.index(TEXTS[text](numbers)) + 1


def test_nothing_is_sorted_for_it():
    text = nt.formula("argmax_i X_{a(i)}").to_python(X="ℝ^{a[5] × b[3]}")
    assert ".argmax(-1)" in text and "descending" not in text


def test_what_is_no_number_comes_first_as_among_the_largest():
    x = nt.tensor([1.0, math.nan, 3.0, math.nan], "a")
    assert int(nt.evaluate("argmax_i x_{a(i)}", x=x)) == 2
    assert nt.evaluate("argmaxk_{a,k} x", x=x, sizes={"k": 1}).to_array("k a").tolist() == [[0, 1, 0, 0]]
    assert nt.evaluate("argmaxk_{a,k} x", x=x, sizes={"k": 2}).to_array("k a")[0].tolist() == [0, 1, 0, 0]


def test_each_row_of_further_axes_has_its_own():
    X = np.random.default_rng(0).integers(0, 3, (4, 5, 6))
    result = nt.evaluate("argmin_i X_{b(i)}", X=nt.tensor(X, "a b c"))
    assert (result.to_array("a c") == X.argmin(1) + 1).all()
