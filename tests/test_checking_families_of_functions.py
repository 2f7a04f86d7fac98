"""Families that belong to functions: whole, with all their starts, and lifted as the functions are.

The value is that of the loop that the equations say, and [f(X)]_s = f(X_s) for every record s of the extra axes.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import namedtensor as nt
from namedtensor import reference

U = np.array([1.0, -2.0])
H = "h^0 = u\nh^t = h^{t-1}/2 + u for t = 1, …, 3\n"
LOOP = [U, 1.5 * U, 1.75 * U, 1.875 * U]

PROGRAMS = {  # each defines f
    "a start that mentions the parameter": ("h^0 = u\nh^t = h^{t-1}/2 for t = 1, …, 2\nf(u) = h^2", U / 4),
    "a start that mentions nothing": ("h^0 = 1\nh^t = u h^{t-1} for t = 1, …, 2\nf(u) = h^2", U**2),
    "a step that mentions nothing": ("h^0 = u\nh^t = 2 h^{t-1} for t = 1, …, 2\nf(u) = h^2", 4 * U),
    "several members": (H + "f(u) = h^2 + h^3", LOOP[2] + LOOP[3]),
    "a start and a member": (H + "f(u) = h^0 + h^1", LOOP[0] + LOOP[1]),
    "a member by a size": (H + "f(u) = h^{|a|}", LOOP[2]),
    "a member by an expression of a size": (H + "f(u) = h^{|a| + 1}", LOOP[3]),
    "a member by a number of the program": (H + "f(u) = h^L\nL = 3", LOOP[3]),
    "a member by a number that follows": (H + "f(u) = h^{2 k - 1}\nk = 2", LOOP[3]),
    "the end by a size": ("f(u) = h^n\nn = |a|\nh^0 = u\nh^t = h^{t-1}/2 + u for t = 1, …, n", LOOP[2]),
    "the end by the function's index": (
        H.replace("3", "l") + "g^l(u) = h^l\nf(v) = g^3(v) + g^1(v)",
        LOOP[3] + LOOP[1],
    ),
    "several starts": ("h^1 = u\nh^2 = 3 u\nh^t = h^{t-1} + h^{t-2} for t = 3, …, 5\nf(u) = h^5", 11 * U),
    "starts on both sides": ("h^1 = u\nf(u) = h^4\nh^t = h^{t-1} + h^{t-2} for t = 2, …, 4\nh^0 = 1", 3 * U + 2),
    "parts of one family": (
        "h^0 = u\nh^t = 2 h^{t-1} for t = 1, …, 2\nh^t = h^{t-1} + 1 for t = 3, …, 4\nf(u) = h^4",
        4 * U + 2,
    ),
    "families that need each other": (
        "c^0 = u\nh^0 = 1\nc^t = c^{t-1} + h^{t-1} for t = 1, …, 2\nh^t = c^t / 2 for t = 1, …, 2\nf(u) = h^2",
        (U + 1 + (U + 1) / 2) / 2,
    ),
    "through another fact": ("s = 2 u\nh^0 = s\nh^t = h^{t-1} + 1 for t = 1, …, 2\nf(u) = r\nr = h^2", 2 * U + 2),
    "by elements": ("h^0_{a(i)} = u_{a(i)}\nh^t_{a(i)} = h^{t-1}_{a(i)} + i t for t = 1, …, 2\nf(u) = h^2", U + [3, 6]),
    "by elements of other elements": (
        "h^0 = u\nh^t_{a(i)} = { 0 if i = 1; h^{t-1}_{a(i-1)} otherwise } for t = 1, …, 1\nf(u) = h^1",
        np.array([0, 1.0]),
    ),
    "with a label": (
        "h_1^0 = u\nh_1^t = 2 h_1^{t-1} for t = 1, …, 2\nh_2^t = 5 for t = 0, …, 2\nf(u) = h_1^2 + h_2^2",
        4 * U + 5,
    ),
    "beside a function of that name": (
        "h_1(x) = 3 x\nh_2^0 = u\nh_2^t = h_1(h_2^{t-1}) for t = 1, …, 2\nf(u) = h_2^2",
        9 * U,
    ),
    "inside a function inside a function": (
        "h^0 = u\nh^t = h^{t-1} + u for t = 1, …, 2\ng(u) = h^2\nk^0 = v\nk^t = g(k^{t-1}) for t = 1, …, 2\nf(v) = k^2",
        9 * U,
    ),
    "a family that two functions share": (
        "h^t = 2 h^{t-1} for t = 1, …, 2\ng(w) = h^2\nh^0 = w\nf(u) = h^1 + g(10 u)\nh^0 = u",
        2 * U + 40 * U,
    ),
    "a family of each of two functions": (
        "h^0 = w\nh^t = 2 h^{t-1} for t = 1, …, 2\ng(w) = h^2\nh^0 = u\nh^t = 3 h^{t-1} for t = 1, …, 2\nf(u) = h^2 + g(u)",
        13 * U,
    ),
    "above the heads of both": (
        "h^0 = w\nh^t = 2 h^{t-1} for t = 1, …, 2\nh^0 = u\nh^t = 3 h^{t-1} for t = 1, …, 2\ng(w) = h^2\nf(u) = h^2 + g(u)",
        13 * U,
    ),
    "a family of functions": (
        "g^l(u) = s^2\ns^0 = u\ns^k = s^{k-1} + l for k = 1, …, 2\nx^0 = v\nx^l = g^l(x^{l-1}) for l = 1, …, 2\nf(v) = x^2",
        U + 6,
    ),
    "a parameter after the semicolon": (
        "h^0 = b\nh^t = u h^{t-1} for t = 1, …, 2\ng(u; b) = h^2\nf(u) = g(u; 3)",
        3 * U**2,
    ),
    "a member with an equation of its own is no start": (
        "X^l = 2 X^{l-1} for l = 1, …, 2\nX^0 = v\nF(X) = X^2\nX^2 = X + 1\nf(v) = X^2 + F(v)",
        4 * U + U + 1,
    ),
}
STEPS = ["h^{t-1} + u", "2 h^{t-1}", "u - h^{t-1}", "h^{t-1} ⊙ u / 2", "max(h^{t-1}, u) + t", "h^{t-1} + h^{t-2}"]


def of(program, X):
    """f of an array along a, and of one with the extra axis b."""
    axes = "a" if X.ndim == 1 else "b a"
    result = nt.program(program)["f"](nt.tensor(X, axes))
    return result.to_array(axes if set(result.axes) == set(axes.split()) else " ".join(result.axes))


def signed(program):
    return "f : ℝ^{a} → ℝ^{a}\n" + program


@pytest.mark.parametrize("case", PROGRAMS)
def test_it_is_the_loop_of_its_equations(case):
    program, expected = PROGRAMS[case]
    np.testing.assert_allclose(of(program, U), expected)
    np.testing.assert_allclose(nt.evaluate(program + "\nf(x)", x=nt.tensor(U, "a")).to_array("a"), expected)
    slow = reference.call(program, "f", reference.tensor(U.tolist(), "a"))
    np.testing.assert_allclose(slow.to_list("a"), expected)
    latex = nt.program(program).to_latex()
    np.testing.assert_allclose(nt.program(latex, "latex")["f"](nt.tensor(U, "a")).to_array("a"), expected)


@pytest.mark.parametrize("case", PROGRAMS)
def test_it_is_lifted_as_its_function_is(case):
    program = signed(PROGRAMS[case][0])
    batch = np.stack([U, 3 * U, U + 1])
    rows = np.stack([of(program, row) for row in batch])
    np.testing.assert_allclose(of(program, batch), rows)
    slow = reference.call(program, "f", reference.tensor(batch.tolist(), "b a"))
    np.testing.assert_allclose(slow.to_list("b a"), rows)


@pytest.mark.parametrize("case", PROGRAMS)
def test_what_is_of_the_function_is_not_seen_elsewhere(case):
    program = nt.program(PROGRAMS[case][0])
    (f,) = [function for function in program._goal.program.scope.all_functions() if function.operator == "f"]
    assert program._goal.function() is not None or program._goal.program.scope.last is not None
    for family in f.families:
        assert family not in program._goal.program.scope.families


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(STEPS), st.integers(1, 4), st.sampled_from(["u", "2 u", "1", "0 · u", "s"]), st.randoms(),
    st.lists(st.integers(0, 4), min_size=1, max_size=3), st.booleans(),
)  # fmt: skip
def test_families_drawn_against_their_loop(step, last, start, random, expected, with_signature):
    expected = [min(index, last) for index in expected]
    two = "t-2" in step
    lines = [
        f"h^0 = {start}",
        f"h^t = {step} for t = {2 if two else 1}, …, {last + two}",
        f"f(u) = {' + '.join(f'h^{index}' for index in expected)} + 0 u",
        "s = u + 1",
        *(["h^1 = 3 u"] if two else []),
        *(["f : ℝ^{a} → ℝ^{a}"] if with_signature else []),
    ]
    random.shuffle(lines)
    X = np.array([[1.0, -2.0], [0.5, 3.0]])
    array = nt.program("\n".join(lines))["f"](nt.tensor(X, "b a")).to_array("b a")
    starts = {"u": X, "2 u": 2 * X, "1": 1 + 0 * X, "0 · u": 0 * X, "s": X + 1}
    h = [starts[start]] + ([3 * X] if two else [])
    rules = {
        "h^{t-1} + u": lambda t: h[t - 1] + X, "2 h^{t-1}": lambda t: 2 * h[t - 1], "u - h^{t-1}": lambda t: X - h[t - 1],
        "h^{t-1} ⊙ u / 2": lambda t: h[t - 1] * X / 2, "max(h^{t-1}, u) + t": lambda t: np.maximum(h[t - 1], X) + t,
        "h^{t-1} + h^{t-2}": lambda t: h[t - 1] + h[t - 2],
    }  # fmt: skip
    for t in range(len(h), last + 2):
        h.append(rules[step](t))
    np.testing.assert_allclose(array, sum(h[index] for index in expected))


LABELS = {  # a name that is a function under one label and a tensor under another
    "f_1(x) = 2 x\nf_2 = 3\nf_1(f_2)": 6,
    "f_1(x) = 2 x\nf_2^0 = 3\nf_2^t = f_2^{t-1} + 1 for t = 1, …, 3\nf_1(f_2^3)": 12,
    "W_1(x) = 2 x\nW_1(W_2) + W_2": 15,
    "W_1(x) = 2 x\nY = W_2 + W_1(W_2) / W_2": 7,
    "h_1(x) = 2 x\nh_3^t = { 1 if t = 1; h_3^{t-1} otherwise } + 0 for t = 1, …, 2\nh_3^0 = 1\nh_1(h_3^2)": 2,
    "W_Q(x) = 2 x\nW_K = 4\nW_Q(W_K) W_K": 32,
    "σ_1 = 2\nσ(0) σ_1": 1,
    "max_1 = 2\nmax(3, 4) + max_1": 6,
}


@pytest.mark.parametrize("text", LABELS)
def test_one_name_is_a_function_under_one_label_and_a_tensor_under_another(text):
    more = {"W_2": 5.0} if "W_2" in text else {}
    assert float(nt.evaluate(text, more)) == LABELS[text]
    assert float(nt.formula(text)(**more)) == LABELS[text]
    assert float(nt.formula(nt.formula(text).to_latex(), syntax="latex")(**more)) == LABELS[text]
    assert reference.evaluate(text, more).entries[()] == LABELS[text]
    assert nt.check(text, **dict.fromkeys(more, "ℝ")).ok


TENSORS = ["(x - μ)^2 / σ^2", "x / σ", "σ", "2 σ", "max + min", "x / (std + 1)", "mean^2", "exp", "{ σ if x > 1; x otherwise }",
           "[σ, x]_{a}", "f(σ)\nf(t) = 2 t", "Y = σ\nσ ⊙ det", "x - index / trace", "σ_1 + σ_2^2", "e + I", "f(σ) = x / σ + 1"]  # fmt: skip


@pytest.mark.parametrize("text", TENSORS)
def test_a_built_in_without_an_operand_is_a_tensor_yet_to_be_given(text):
    formula = nt.formula(text)
    for again in (nt.formula(formula.to_text()), nt.formula(formula.to_latex(), syntax="latex")):
        assert again == formula
    names = ["x", "μ", "σ", "max", "min", "std", "mean", "exp", "det", "index", "trace", "σ_1", "σ_2", "I"]
    values = {name: 2.0 + index for index, name in enumerate(names)}
    if "f(σ) =" in text:
        assert float(formula(4.0, x=2.0)) == 1.5
        return
    result = formula(values=values)
    assert np.array_equal(np.asarray(result.array), np.asarray(nt.evaluate(text, values).array))
    if not text.startswith(("e", "f")):
        with pytest.raises(nt.NotationError) as caught:
            formula(values={"x": 1.0, "μ": 0.0})
        assert "is not defined as a tensor" in str(caught.value) and "is missing its operand" in str(caught.value)


@pytest.mark.parametrize(
    "text", ["softmax_{seq}", "softmax_{seq} / A", "max_{a} + 1", "f(t) = 2 t\nf + 1", "A ⊙ mean_{b}"]
)
def test_a_missing_operand_is_still_told(text):
    with pytest.raises(nt.NotationError) as caught:
        nt.formula(text)
    assert caught.value.code == 105


POWERS = {"2^3^2": ("(2^{3})^{2}", "2^{3^{2}}"), "x^{a}^b": ("(x^{a})^{b}", "x^{a^{b}}"), "x²^3": ("(x^{2})^{3}", "x^{2^{3}}"),
          "(x+1)^2^3": ("((x+1)^{2})^{3}", "(x+1)^{2^{3}}"), r"\frac{1}{2}^2^3": None, "W_1^2^3": ("(W_1^{2})^{3}", "W_1^{2^{3}}"),
          r"\alpha^2^3 \cdot x": (r"(\alpha^{2})^{3}", r"\alpha^{2^{3}}")}  # fmt: skip


@pytest.mark.parametrize("text", POWERS)
def test_a_power_of_a_power_says_both_readings(text):
    with pytest.raises(nt.NotationError) as caught:
        nt.formula(text)
    assert caught.value.code == 107
    if POWERS[text] is not None:
        assert caught.value.notes == (f"could mean {POWERS[text][0]}", f"could mean {POWERS[text][1]}")
        first, second = (nt.formula(note.split(" ", 1)[1]) for note in caught.value.notes)
        assert first != second


@pytest.mark.parametrize(
    "text, value",
    [("2^{3^2}", 512), ("(2^3)^2", 64), (r"{2^3}^2 \cdot 1", 64), (r"\left(2^3\right)^2", 64), ("{2^3}^2", 64)],
)
def test_brackets_say_which_power_is_meant(text, value):
    assert float(nt.evaluate(text)) == value


A = np.array([1.0, 2.0])
INDEXED = {  # an equation whose name has the index of a function's head is one for each such function
    "f^l(X) = h^l X\nh^l = |c|\n|c| = 3\nout = f^2([1, 2]_{a})": 3 * A,
    "f^l(X) = h^l X\nh^l = 3\nout = f^2([1, 2]_{a})": 3 * A,
    "f^l(X) = h^l X\nh^l = 3 l\nout = f^2([1, 2]_{a}) + f^1([1, 2]_{a})": 9 * A,
    "f^l(X) = h^l X\nh^l = 3 l X\nout = f^2([1, 2]_{a})": 6 * A**2,
    "f^l(X) = h^l X + h^{l}\nh^l = l + |a| + X\nout = f^2([1, 2]_{a})": (4 + A) * A + 4 + A,
    "f^l(X) = g^l(X) + H^l\nH^l = 2 X\ng^l(X) = H^l X\nH^l = X - l\nout = f^2([1, 2]_{a})": (A - 2) * A + 2 * A,
}


@pytest.mark.parametrize("text", INDEXED)
def test_equations_with_the_index_of_a_head(text):
    np.testing.assert_allclose(nt.evaluate(text).tolist(), INDEXED[text])
    np.testing.assert_allclose(reference.evaluate(text).to_list(("a",)), INDEXED[text])


def test_another_index_is_another_name():
    with pytest.raises(nt.NotationError, match="201"):
        nt.evaluate("f^l(X) = h^{l-1} X\nh^l = 3\nf^2([1, 2]_{a})")
