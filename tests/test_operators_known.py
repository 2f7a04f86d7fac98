"""What a record says is known of an operator's numbers without computing them, held against numbers that are computed."""

import itertools

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.operators import REGISTRY

NUMBERS = np.array([-40.0, -3.0, -1.5, -0.5, 0.0, 0.25, 1.0, 2.5, 7.0, 40.0])
RECORDS = sorted({record.name: record for record in REGISTRY.values()}.values(), key=lambda record: record.name)
PLAIN = [record for record in RECORDS if not record.boolean[0] and not record.chooses and record.arity[0] in (1, 2)]
USED = [record for record in PLAIN if record.kind in ("elementwise", "reduction", "axis_map", "contraction")]

DOMAINS = {  # which operands of a function of numbers a record's `finite` speaks of
    "of finite": lambda x, y: np.full(x.shape, True),
    "X of finite or −∞": lambda x, y: np.full(x.shape, True),
    "X ≥ 0": lambda x, y: x >= 0,
    "X > 0": lambda x, y: x > 0,
    "X ≤ 0": lambda x, y: x <= 0,
    "Y ≠ 0": lambda x, y: y != 0,
    "X > 0 ∨ Y ≥ 0": lambda x, y: (x > 0) | ((y >= 0) & (y % 1 == 0)),
}


def operands(record, numbers):
    """Every number for each operand; an operator with axes gets them along an axis."""
    count = 2 if record.arity[0] == 2 else 1
    pairs = np.array([*itertools.product(numbers, repeat=count)]).T
    return pairs if count == 2 else (pairs[0], pairs[0])


def used(record, x, y):
    """The numbers of a use of an operator."""
    tensors = [nt.tensor(item, "a") for item in (x, y)[: record.arity[0]]]
    axis = {} if record.kind in ("elementwise", "contraction") else {"axis": "a"}
    with np.errstate(all="ignore"):
        return np.asarray(getattr(nt, record.python_name)(*tensors, **axis).array)


def named(records):
    return {"argnames": "record", "argvalues": records, "ids": [record.name for record in records]}


@pytest.mark.parametrize(**named([record for record in USED if record.finite in DOMAINS]))
def test_what_is_said_to_be_finite_is(record):
    x, y = operands(record, NUMBERS)
    fits = DOMAINS[record.finite](x, y)
    assert fits.any() and np.isfinite(used(record, x[fits], y[fits])).all()


def test_softmax_of_what_is_masked_is_finite():
    """Of −∞ too, where something along the axis is not."""
    (record,) = (operator for operator in RECORDS if operator.finite == "X of finite or −∞")
    masked = np.where(NUMBERS < 0, -np.inf, NUMBERS)
    assert np.isfinite(used(record, masked, masked)).all()


@pytest.mark.parametrize(**named([record for record in USED if record.sign]))
def test_what_is_said_of_a_sign_holds(record):
    x, y = operands(record, NUMBERS)
    array = used(record, x, y)
    if record.sign.startswith("≥ 0") and "≥ 0 of ≥ 0" not in record.sign:
        assert not (array < 0).any()
    if record.sign == "of factors":
        assert (np.sign(array) == np.sign(x) * np.sign(y))[y != 0].all()
        return
    if record.sign == "of operands":
        assert set(array.tolist()) <= set(x.tolist())
        return
    x, y = operands(record, NUMBERS[NUMBERS >= 0])
    assert not (used(record, x, y) < 0).any()
    if record.sign.endswith("> 0 of > 0"):
        assert (used(record, x[x > 0], y[x > 0]) > 0).all()
    if record.sign.endswith("> 0 of one > 0") and record.kind == "elementwise":
        one = (x > 0) | (y > 0)
        assert (used(record, x[one], y[one]) > 0).all()


def test_the_larger_of_two_is_positive_where_one_is():
    assert REGISTRY["max"].sign.endswith("> 0 of one > 0") and REGISTRY["min"].sign == "≥ 0 of ≥ 0"
    assert np.asarray(nt.max(nt.tensor([0.0, 2.0], "a"), nt.tensor([1.0, 0.0], "a")).array).tolist() == [1, 2]


@pytest.mark.parametrize(**named([record for record in USED if record.parity]))
def test_the_parity_of_a_function_of_a_number_is_right(record):
    array = used(record, NUMBERS, NUMBERS)
    np.testing.assert_array_equal(used(record, -NUMBERS, NUMBERS), array if record.parity == "even" else -array)


@pytest.mark.parametrize(**named([record for record in USED if record.total is not None or record.picks]))
def test_numbers_have_the_total_that_is_said_along_the_axis(record):
    array = used(record, NUMBERS, NUMBERS)
    assert array.sum() == pytest.approx(record.total, abs=1e-12)
    assert not record.picks or ((array >= 0) & (array <= 1)).all()


def test_each_index_and_each_of_the_largest_picks_one():
    for name in ("onehot", "argmaxk"):
        assert REGISTRY[name].picks
    one = nt.onehot(nt.tensor([0, 2], "b"), axis="a", size=3)
    assert one.to_array("b a").tolist() == [[1, 0, 0], [0, 0, 1]] and REGISTRY["onehot"].total == 1
    tensor = nt.argmaxk(nt.tensor(NUMBERS, "a"), axis=("a", "k"), size=2)
    assert tensor.to_array("k a").sum(1).tolist() == [1, 1]


def test_a_choice_has_its_condition_first():
    assert [record.name for record in RECORDS if record.chooses] == ["where"]
    for wrong in ("where(X, 1, 0)", "where(1, X, X)"):
        with pytest.raises(nt.NotationError, match="condition"):
            nt.evaluate(wrong, X=nt.tensor(NUMBERS, "a"))
