"""What `check` says of ranges whose end only prose gives: the types that they have for each end."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import namedtensor as nt

STATES = "h^0 = 0\nh^t = h^{t-1} / 2 + x_{seq(t)} for t = 1, …, n\n"
CASES = {
    "x ∈ ℝ^{seq}\n" + STATES + "y = h^n": {"x": "ℝ^{seq}", "y": "ℝ"},
    "x ∈ ℝ^{seq[n]}\n" + STATES + "H_{time(t)} = h^t for t = 1, …, n": {"x": "ℝ^{seq[n]}", "H": "ℝ^{time[n]}"},
    "x ∈ ℝ^{seq × chans}\n" + STATES + "H_{time(t)} = h^t for t = 1, …, n": {"H": "ℝ^{chans × time[n]}"},
    "x ∈ ℝ^{seq}\nb^{n+1} = 0\nb^t = b^{t+1} + x_{seq(t)} for t = n, n-1, …, 1\nB_{back(t)} = b^t for t = 1, …, n": {
        "B": "ℝ^{back[n]}"
    },
    "x ∈ ℝ^{seq}\ny = ∑_{i=1}^{n} x_{seq(i)}\nz = max_{i ∈ [m]} x_{seq(i)}": {"y": "ℝ", "z": "ℝ"},
    "x ∈ ℝ^{seq}\ny = x_{seq(2:n)}": {"y": "ℝ^{seq[n - 1]}"},
    "x ∈ ℝ^{seq}\nE^{i,0} = i for i = 0, …, m\nE^{0,j} = j for j = 1, …, n\n"
    "E^{i,j} = min(E^{i-1,j}, E^{i,j-1}) + x_{seq(j)} for i = 1, …, m for j = 1, …, n\ny = E^{m,n}": {"y": "ℝ"},
    "X ∈ ℝ^{seq × vocab}\n∑_{vocab} X_{seq(i)} = 1 for i = 1, …, |seq|": {"X": "ℝ^{seq × vocab}"},
    "x ∈ ℝ^{seq}\nY_{a(i)} = x_{seq(i)} for i = 1, …, |seq|": {"Y": "ℝ^{a[|seq|]}"},
    "H_{a(t)} = t for t = 1, …, n\nG_{b(t)} = 2 t for t = 1, …, m\nY = H ⊙ G": {"Y": "ℝ^{a[n] × b[m]}"},
    "x ∈ ℝ^{seq[4]}\ny = ∑_{i=1}^{n} x_{seq(i)}": {"y": "ℝ"},  # right for n up to 4
    "A ∈ ℝ^{a}\nn = |a|\ng^i(x) = x + i\ny = ∑_{i=1}^{n} g^i(∑_{a} A)": {"n": "ℝ", "y": "ℝ"},
    "A ∈ ℝ^{a}\nm = n - 1\nn = |a|\ng^i(x) = i x\ny = ∏_{i=1}^{m} g^i(A)": {"y": "ℝ^{a}"},
}


@pytest.mark.parametrize("text", CASES)
def test_any_end_has_these_types(text):
    report = nt.check(text)
    assert not report.errors
    assert {name: report.types[name] for name in CASES[text]} == CASES[text]


@pytest.mark.parametrize(
    ("text", "number", "position"),
    [
        ("x ∈ ℝ^{seq}\nh^0 = 0\nh^t = h^{t-1} + x_{time(t)} for t = 1, …, n", 301, "time"),
        ("h^t = h^{t-1} + 1 for t = 1, …, n", 201, "h^{t-1}"),
        ("x ∈ ℝ^{seq}\ny ∈ ℝ^{chans}\n∑_{vocab} x_{seq(i)} = 1 for i = 1, …, |seq|", 301, "vocab"),
        ("x ∈ ℝ^{seq[4]}\nh^0 = 0\nh^t = h^{t-1} + x_{seq(t+4)} for t = 1, …, n\nh^n", 401, "t+4"),
    ],
)
def test_what_is_wrong_for_every_end_is_an_error(text, number, position):
    errors = nt.check(text).errors
    assert [(error.code, text[slice(*(error.span or ()))]) for error in errors] == [(number, position)]


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("x ∈ ℝ^{seq[4]}\nh^0 = 0\nh^t = h^{t-1} + x_{seq(t)} for t = 1, …, n\nh^n", ("n ≤ 4",)),
        ("x ∈ ℝ^{seq[9]}\nh^0 = 0\nh^t = h^{t-1} + x_{seq(2t-1)} for t = 1, …, n\nh^n", ("2 n ≤ 10",)),
        ("x ∈ ℝ^{seq}\ny = x_{seq(2:n)}", ("2 ≤ n",)),
        ("h^0 = 1\nh^1 = 1\nh^t = h^{t-1} + h^{t-2} for t = 2, …, n\nh^n", ("2 ≤ n",)),
        ("h^0 = 1\nh^t = h^{t-1} / 2 for t = 1, …, n\nY_{a(t)} = t for t = 1, …, m\nh^m", ("m ≤ n",)),
        ("x ∈ ℝ^{b[n]}\nz ∈ ℝ^{b[3]}\ny = x + z\nw = ∑_{i=1}^{n} x_{b(i)}", ("n = 3",)),
        ("h^0 = 1\nh^t = h^{t-1} / 2 for t = 1, …, n\nh^n", ()),
        ("b^{n+1} = 1\nb^{n+2} = 1\nb^t = b^{t+1} + b^{t+2} for t = n, n-1, …, 1\nb^1", ()),
        (
            "E^{0,j,k} = 0 for j = 0, …, n for k = 0, …, p\nE^{1,j,k} = 0 for j = 0, …, n for k = 0, …, p\n"
            "E^{i,0,k} = 0 for i = 2, …, m for k = 0, …, p\nE^{i,j,0} = 0 for i = 2, …, m for j = 1, …, n\n"
            "E^{i,j,k} = E^{i-2,j,k} + E^{i,j-1,k} + E^{i,j,k-1} for i = 2, …, m for j = 1, …, n for k = 1, …, p\nE^{m,n,p}",
            ("2 ≤ m",),
        ),
    ],
)
def test_what_has_to_hold_of_an_end_is_reported(text, conditions):
    report = nt.check(text)
    assert (report.errors, report.conditions) == ((), conditions)
    assert [line for line in str(report).splitlines() if line.startswith("where")] == [
        f"where {condition}" for condition in conditions
    ]


FAMILIES = {  # texts whose types follow for every number of members, and the type of the last line
    "W^l ∈ ℝ^{in × out} for l = 1, …, n\nx ∈ ℝ^{in}\nh^0 = x\nh^l = [relu(W^l ⊙_{in} h^{l-1})]_{out→in} for l = 1, …, n\nh^n": "ℝ^{in}",
    "FFN^l(x) = [W^l ⊙_{in} x]_{out→in} for l = 1, …, n\nW^l ∈ ℝ^{in × out}\nX^0 = x\nX^l = FFN^l(X^{l-1}) for l = 1, …, n\nx ∈ ℝ^{in}\nX^n": "ℝ^{in}",
    "x ∈ ℝ^{seq}\nW^i ∈ ℝ^{seq × out} for i = 1, …, n\n∑_{i=1}^{n} W^i ⊙_{seq} x": "ℝ^{out}",
    "h^0 = 0\nc^0 = 0\nc^t = h^{t-1} + c^{t-1} for t = 1, …, n\nh^t = tanh(c^t) for t = 1, …, n\nh^n": "ℝ",
    "d^0 = 0\nd^t = d^{t-1} + h^n for t = 1, …, m\nh^0 = x\nh^t = h^{t-1}/2 for t = 1, …, n\nx ∈ ℝ^{a}\nd^m": "ℝ^{a}",
    "x ∈ ℝ^{seq}\nb^{n+1} = 0\nb^t = b^{t+1} + x_{seq(t)} for t = 1, …, n\nb^1": "ℝ",
    "x ∈ ℝ^{seq}\ns^t = x_{seq(1:t)} for t = 1, …, n\ns^n": "ℝ^{seq[n]}",
    "M^{i,i} = 0 for i = 1, …, n\nM^{i,j} = min_{k=i}^{j-1} (M^{i,k} + M^{k+1,j}) for i = 1, …, n for j = i+1, …, n\nM^{1,n}": "ℝ",
    "x ∈ ℝ^{seq}\nh^t = { 0 if t = 1; h^{t-1} + x_{seq(t)} otherwise } for t = 1, …, n\n∑_{t=1}^{n} h^t": "ℝ",
    "x ∈ ℝ^{seq}\nH_{seq(t)} = h^t\nh^0 = 0\nh^t = h^{t-1}/2 + x_{seq(t)} for t = 1, …, |seq|\nH + h^{|seq|}": "ℝ^{seq}",
    "x ∈ ℝ^{seq}\nY_{a(1)} = 0\nY_{a(i+1)} = x_{seq(i)} for i = 1, …, n\nY": "ℝ^{a[n + 1]}",
    "x ∈ ℝ^{seq}\nY_{a(2i-1)} = 0 for i = 1, …, n\nY_{a(2i)} = x_{seq(i)} for i = 1, …, n\nY": "ℝ^{a[2 n]}",
    "A ∈ ℝ^{r × c}\nB_{r(i), c(j)} = A_{r(i), c(j)} + i for i = 1, …, n for j = 1, …, m\nB": "ℝ^{r[n] × c[m]}",
    "α^t_{a(i)} = i for t = 1, …, n for i = 1, …, m\nα^n": "ℝ^{a[m]}",
}  # fmt: skip


@pytest.mark.parametrize("text", FAMILIES)
def test_a_family_of_any_number_of_members_has_one_type(text):
    report = nt.check(text)
    assert (report.errors, report.type) == ((), FAMILIES[text])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", [2, 5])
@pytest.mark.parametrize("text", FAMILIES)
def test_a_number_for_an_end_gives_the_type_with_that_number(text, number):
    sizes = {name: number for name in ("n", "m") if f"…, {name}" in text or f"^{{{name}}}" in text}
    expected = FAMILIES[text]
    for end, size in {"n + 1": number + 1, "2 n": 2 * number, "n": number, "m": number}.items():
        expected = expected.replace(f"[{end}]", f"[{size}]")
    report = nt.check(text, sizes=sizes)
    assert ([error for error in report.errors if sizes], report.type if sizes else expected) == ([], expected)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 12), st.integers(1, 3), st.integers(-3, 3), st.integers(1, 2), st.integers(0, 2))
def test_the_conditions_say_for_which_numbers_a_text_is_right(size, step, offset, first, back):
    """x_{seq(2t-1)} of h^t, whose first members are given."""
    name = "".join(f"h^{number} = 0\n" for number in range(max(0, first - back), first))
    read = f"h^{{t-{back}}} + " if back else ""
    text = f"x ∈ ℝ^{{seq[{size}]}}\n{name}h^t = {read}x_{{seq({step}t{offset:+})}} for t = {first}, …, n\nh^n"
    report = nt.check(text)
    for number in range(first, 9):
        fits = not nt.check(text, sizes={"n": number}).errors
        relations = [
            re.sub(r"(\d) n", r"\1 * n", condition).replace("≤", "<=").replace(" = ", " == ")
            for condition in report.conditions
        ]
        assert fits == (not report.errors and all(eval(relation, {"n": number}) for relation in relations))


def test_members_that_are_given_by_label_bound_the_end():
    text = "h^0 = x\nh^l = [relu(W^l ⊙_{in} h^{l-1})]_{out→in} for l = 1, …, n\nh^n"
    shapes = {"x": "ℝ^{in}", **{f"W^{number}": "ℝ^{in × out}" for number in (1, 2, 3)}}
    report = nt.check(text, **shapes)
    assert (report.errors, report.type, report.conditions) == ((), "ℝ^{in}", ("n ≤ 3",))
    report = nt.check("W^1 = 2\nW^2 = 3\n∑_{i=1}^{n} W^i")
    assert (report.errors, report.type, report.conditions) == ((), "ℝ", ("n ≤ 2",))
    assert nt.check(text, **{**shapes, "W^2": "ℝ^{in}"}).errors


def test_a_step_that_changes_the_type_is_an_error():
    (problem,) = nt.check("x ∈ ℝ^{a}\nh^0 = x\nh^t = [h^{t-1}]_{a→a'} for t = 1, …, n\nh^n").errors
    assert (problem.code, problem.span_text) == (301, "a")


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
