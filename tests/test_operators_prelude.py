"""The definitions of the prelude, against the operators that they define: types, values, differentials."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import namedtensor as nt
from grammar.parser import parse
from namedtensor import reference
from namedtensor.operators import REGISTRY, prelude
from namedtensor.operators.prelude import load_definitions

LINES = load_definitions()
OPTIONS = {"p": "3", "eps": "1e-5", "ddof": "1"}
NUMBERS = {
    "X": [[0.5, 1.25, -0.75], [2.0, -1.5, 0.25], [1.0, 3.0, 0.125]],
    "Y": [0.75, -0.5, 2.0],
    "Z": [1.5, 0.5, 2.5],
}


def with_axes(text: str) -> str:
    """The text for the axis a, or the axes a and b, and with numbers for the options."""
    text = re.sub(r"\b(ax|row)\b", "a", re.sub(r"\bcolumn\b", "b", text))
    for name, value in OPTIONS.items():
        text = re.sub(rf"(?<!\w){name}\b", value, text)
    return text


def inputs(name: str) -> dict[str, tuple[list, str]]:
    """An array and its axes for each operand; a condition is written X > 0."""
    head, body = LINES[name]
    axes = "a" if name == "diag" or "_{ax}" in head else "a b"
    used = [letter for letter in "XYZ" if re.search(rf"\b{letter}\b", head)]
    return {n: (NUMBERS[n] if n == "X" and axes == "a b" else NUMBERS[n][0] if n == "X" else NUMBERS[n], axes if n == "X" else "a")
            for n in used}  # fmt: skip


def texts(name: str) -> tuple[str, str]:
    head, body = (with_axes(text) for text in LINES[name])
    if name == "where":
        head, body = (re.sub(r"\bX\b", "X > 0", text) for text in (head, body))
    return head, body


@pytest.mark.parametrize("name", LINES)
def test_a_definition_has_the_type_and_the_value_of_its_operator(name):
    given = inputs(name)
    tensors = {letter: nt.tensor(np.array(numbers), axes) for letter, (numbers, axes) in given.items()}
    of_reference = {letter: reference.tensor(numbers, axes) for letter, (numbers, axes) in given.items()}
    operator, definition = texts(name)
    if name in ("log1p", "logdet"):
        tensors["X"], of_reference["X"] = abs(tensors["X"]), reference.broadcast(abs, of_reference["X"])
    values = [nt.evaluate(text, tensors) for text in (operator, definition)]
    assert {*values[0].axes} == {*values[1].axes}
    np.testing.assert_allclose(*(value.to_array(tuple(values[0].axes)) for value in values), rtol=1e-9, atol=1e-12)
    by_reference = reference.evaluate(operator, of_reference).to_list(tuple(values[0].axes))
    np.testing.assert_allclose(by_reference, values[0].to_array(tuple(values[0].axes)), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in LINES if REGISTRY[name].differentials])
def test_a_separate_differential_is_the_differential_of_the_definition(name):
    given = inputs(name)
    tensors = {
        letter: nt.tensor(np.array(numbers) + 1.0 * (name == "log1p"), axes)
        for letter, (numbers, axes) in given.items()
    }
    for by in "YZ" if name == "where" else tensors:
        values = [nt.evaluate(f"∂({text})/∂{by}*", tensors) for text in texts(name)]
        np.testing.assert_allclose(
            values[1].to_array(tuple(values[0].axes)), values[0].to_array(tuple(values[0].axes)), rtol=1e-8, atol=1e-10
        )


def test_a_line_for_each_operator_is_an_equation_of_the_notation():
    text = Path(prelude.__file__).with_name("prelude.nt").read_text("utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert [f"{head} = {body}" for head, body in LINES.values()] == lines
    assert all(name in REGISTRY and parse(line) for name, line in zip(LINES, lines))


# Where a definition overflows, cancels or has a tie, the operator has a separate differential.
AT_EDGES = [
    ("logsigmoid(X)", [-800.0, 0.0, 40.0, 800.0], [1.0, 0.5, 4.248354255291589e-18, 0.0]),
    ("σ(X)", [-800.0, 0.0, 800.0], [0.0, 0.25, 0.0]),
    ("relu(X)", [-1.0, 0.0, 2.0], [0.0, 0.0, 1.0]),
    ("leaky_relu(X)", [-1.0, 0.0, 2.0], [0.01, 0.01, 1.0]),
    ("softplus(X)", [-800.0, 0.0, 800.0], [0.0, 0.5, 1.0]),
    ("gelu_tanh(X)", [-1e200, 0.0, 1e200], [0.0, 0.5, 1.0]),
    ("fillna(X, 3)", [np.nan, 0.0, np.inf], [0.0, 1.0, 1.0]),
]


@pytest.mark.parametrize(("text", "numbers", "slopes"), AT_EDGES)
def test_slopes_at_edges(text, numbers, slopes):
    result = nt.evaluate(f"∂(∑_{{a}} {text})/∂X*", X=nt.tensor(np.array(numbers), "a"))
    np.testing.assert_allclose(result.array, slopes, rtol=1e-12)


def test_the_larger_of_two_plain_numbers_is_nan_beside_a_nan():
    for text in ("max(x, y)", "min(x, y)"):
        assert np.isnan(nt.evaluate(text, x=0.0, y=np.nan).item()) and np.isnan(
            nt.evaluate(text, x=np.nan, y=0.0).item()
        )


def test_missing_numbers_share_a_mean():
    X = nt.tensor(np.array([1.0, np.nan, 5.0, np.nan]), "a")
    assert nt.evaluate("∂(nanmean_{a} X)/∂X*", X=X).tolist() == [0.5, 0.0, 0.5, 0.0]
    assert nt.evaluate("∂(nansum_{a} X^2)/∂X*", X=X).tolist() == [2.0, 0.0, 10.0, 0.0]
