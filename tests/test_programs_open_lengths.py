"""What `check` says of ranges whose end only prose gives: the types that they have for each end."""

import pytest

import namedtensor as nt
from namedtensor.programs import open_lengths

STATES = "h^0 = 0\nh^t = h^{t-1} / 2 + x_{seq(t)} for t = 1, …, n\n"
CASES = {
    "x ∈ ℝ^{seq}\n" + STATES + "y = h^n": {"x": "ℝ^{seq}", "y": "ℝ"},
    "x ∈ ℝ^{seq[n]}\n" + STATES + "H_{time(t)} = h^t for t = 1, …, n": {"x": "ℝ^{seq[n]}", "H": "ℝ^{time[n]}"},
    "x ∈ ℝ^{seq × chans}\n" + STATES + "H_{time(t)} = h^t for t = 1, …, n": {"H": "ℝ^{chans × time[n]}"},
    "x ∈ ℝ^{seq}\nb^{n+1} = 0\nb^t = b^{t+1} + x_{seq(t)} for t = n, n-1, …, 1\nB_{back(t)} = b^t for t = 1, …, n": {
        "B": "ℝ^{back[n]}"
    },
    "x ∈ ℝ^{seq}\ny = ∑_{i=1}^{n} x_{seq(i)}\nz = max_{i ∈ [m]} x_{seq(i)}": {"y": "ℝ", "z": "ℝ"},
    "x ∈ ℝ^{seq}\ny = x_{seq(2:n)}": {"y": "ℝ^{seq[n-1]}"},
    "x ∈ ℝ^{seq}\nE^{i,0} = i for i = 0, …, m\nE^{0,j} = j for j = 1, …, n\n"
    "E^{i,j} = min(E^{i-1,j}, E^{i,j-1}) + x_{seq(j)} for i = 1, …, m for j = 1, …, n\ny = E^{m,n}": {"y": "ℝ"},
    "X ∈ ℝ^{seq × vocab}\n∑_{vocab} X_{seq(i)} = 1 for i = 1, …, |seq|": {"X": "ℝ^{seq × vocab}"},
    "x ∈ ℝ^{seq}\nY_{a(i)} = x_{seq(i)} for i = 1, …, |seq|": {"Y": "ℝ^{a}"},
    "H_{a(t)} = t for t = 1, …, n\nG_{b(t)} = 2 t for t = 1, …, m\nY = H ⊙ G": {"Y": "ℝ^{a[n] × b[m]}"},
    "x ∈ ℝ^{seq[4]}\ny = ∑_{i=1}^{n} x_{seq(i)}": {"y": "ℝ"},  # right for n up to 4
}


@pytest.mark.parametrize("text", CASES)
def test_any_end_has_these_types(text):
    report = nt.check(text)
    assert not report.errors
    assert {name: report.types[name] for name in CASES[text]} == CASES[text]


@pytest.mark.parametrize(
    ("text", "number", "place"),
    [
        ("x ∈ ℝ^{seq}\nh^0 = 0\nh^t = h^{t-1} + x_{time(t)} for t = 1, …, n", 301, "time"),
        ("h^t = h^{t-1} + 1 for t = 1, …, n", 201, "h^{t-1}"),
        ("x ∈ ℝ^{seq}\ny ∈ ℝ^{chans}\n∑_{vocab} x_{seq(i)} = 1 for i = 1, …, |seq|", 301, "vocab"),
        ("x ∈ ℝ^{seq[4]}\nh^0 = 0\nh^t = h^{t-1} + x_{seq(t+4)} for t = 1, …, n\nh^n", 401, "t+4"),
    ],
)
def test_what_is_wrong_for_every_end_is_an_error(text, number, place):
    errors = nt.check(text).errors
    assert [(each.code, text[slice(*(each.span or ()))]) for each in errors] == [(number, place)]


def test_an_end_that_several_lines_lack_is_tried_as_one_small_number(monkeypatch):
    """What is derived through the steps takes the longer the more there are."""
    tried, made = [], open_lengths.numbers

    def numbers(ends, first):
        tried.append(made(ends, first))
        return tried[-1]

    monkeypatch.setattr(open_lengths, "numbers", numbers)
    lines = "".join(f"{name}^0 = 0\n{name}^t = {name}^{{t-1}} + 1 for t = 1, …, n\n" for name in "abcd")
    assert not nt.check(lines + "e^0 = 0\ne^t = e^{t-1} + 1 for t = 1, …, m\ny = a^n + b^n + c^n + d^n + e^m").errors
    assert {tuple(sorted(each.items())) for each in tried} == {(("m", 7), ("n", 3)), (("m", 11), ("n", 5))}


def test_an_end_is_still_needed_for_a_value():
    with pytest.raises(nt.NotationError, match="n has no value, but the range"):
        nt.evaluate(STATES, x=nt.tensor([1.0, 2.0], "seq"))
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate("x = 3\nY_{a(i)} = i for i = 1, …, |seq|")
    assert "sizes={'seq': 3}" in str(caught.value)


def test_a_shape_without_a_size_goes_with_a_declaration_that_names_one():
    text = "x ∈ ℝ^{h[n]}\n∑_{i=1}^{n} x_{h(i)}"
    assert nt.check(text, x="ℝ^{h}").type == nt.check(text, x="ℝ^{h[4]}").type == "ℝ"


def test_an_entry_is_read_for_any_end_too():
    program = nt.program("x ∈ ℝ^{seq}\n" + STATES + "y = 2 h^n")
    assert nt.check(program["y"]).type == "ℝ"
