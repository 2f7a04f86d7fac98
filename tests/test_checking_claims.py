"""What a program claims is checked, whatever kind of claim it is and wherever it stands: none is skipped, none defines."""

import re
import warnings

import numpy as np
import pytest

import namedtensor as nt
from namedtensor import reference

A = nt.tensor(np.array([[3.0, 1, 4], [1, 5, 9]]), "height width")
GIVEN = {"A": A, "x": nt.tensor(np.array([1.0, 2]), "ax"), "Z": 1.0, "k": 2}

# A kind of claim: the program, with ? where what is true stands, what makes it true and what makes it false.
KINDS = {
    "an equation between expressions": ("∑_{width} A + Z = ?", "[9, 16]_{height}", "[9, 15]_{height}"),
    "a chain": ("Y = 2 Z = ?", "Z + 1", "Z + 2"),
    "a chain of claims": ("2 Z = 1 + Z = ?", "2", "3"),
    "a chain by elements": ("Y_{ax(i)} = 2 x_{ax(i)} = ?", "x_{ax(i)} + i", "x_{ax(i)} + 2 i"),
    "a chain by parts": ("y_{ax(2j-1)} = Z = ? for j = 1, …, 1\ny_{ax(2j)} = j for j = 1, …, 1\n|ax| = 2", "j", "2 j"),
    "a set": ("∑_{width} A / 16 ∈ ?", "[0, 1]^{height}", "[1, 2]^{height}"),
    "a set of numbers": ("x ∈ ?\nY = Z", "[2]^{ax}", "[1]^{ax}"),
    "a set after an equation": ("Y = x ∈ ?", "{1, 2}^{ax}", "{0, 1}^{ax}"),
    "an element": ("A_{height(1), width(3)} = ?", "4", "5"),
    "a row": ("A_{height(1)} = ?", "[3, 1, 4]_{width}", "[3, 1, 5]_{width}"),
    "all elements": ("x_{ax(i)} = ?", "i", "2 i"),
    "all elements of two axes": ("A_{height(i), width(j)} ⊙ 0 + i - j = ?", "i - j", "j - i"),
    "elements of an expression": ("[x ⊙ x]_{ax(i)} = ?", "x_{ax(i)}^2", "x_{ax(i)}"),
    "an element of what is defined": ("B = [1, 2]_{b}\nB_{b(2)} = ?", "2", "3"),
    "an element of what is defined by elements": ("B ∈ ℝ^{ax[2]}\nB_{ax(i)} = 2 i\nB_{ax(2)} = ?", "4", "5"),
    "an element of what is declared": ("B ∈ ℝ^{b[2]}\nB = [1, 2]_{b}\nB_{b(2)} = ?", "2", "3"),
    "a built-in function of what is given": ("max_{height} A = ?", "[3, 5, 9]_{width}", "[9, 9, 9]_{width}"),
    "a function of all of it": ("exp(Z) = ?", "e", "3"),
    "a function of what is defined": ("B = [1, 2]_{b}\nmean_{b} B = ?", "1.5", "0"),
    "a function in its own terms": ("softmax_{ax} x = ?", "exp x / ∑_{ax} exp x", "exp x / 2"),
    "a call of a defined function": ("σ(t) = 2 t\nσ(x) = ?\nY = x", "[2, 4]_{ax}", "[2, 5]_{ax}"),
    "a call over an axis": ("g_{a}(t) = ∑_{a} t^2\ng_{ax}(x) = ?\nY = x", "5", "6"),
    "what is given": ("x = ?", "[1, 2]_{ax}", "[1, 3]_{ax}"),
    "what is given, by elements": ("x_{ax(i)} = ?\nY = 2 x", "i", "i + 1"),
    "a size": ("|ax| = ?\nY = x", "2", "3"),
    "a size in a chain": ("|width| = |height| + 1 = ?\nY = A", "3", "4"),
    "of a function's parameter": ("f(t) = 2 t\n∑_{ax} t = ?\nf(x)", "3", "4"),
    "of a function's parameter, by elements": ("f(t) = 2 t\nt_{ax(i)} + 0 = ?\nf(x)", "i", "2 i"),
    "of a function's parameter, by a range": ("f(t) = 2 t\nt_{ax(i)} + 0 = ? for i = 1, …, |ax|\nf(x)", "i", "2 i"),
    "of a function's value": ("f(t) = 2 t = ?\nf(x)", "t + t", "t + 1"),
    "of a function's value in a set": ("f(t) = t / 2 ∈ ?\nf(x)", "[0, 1]^{ax}", "[0, 0.5]^{ax}"),
    "of a function's fact": ("f(t) = 2 s\ns = t + 1 = ?\nf(x)", "1 + t", "t"),
    "over a range": ("x_{ax(i)} + 0 = ? for i = 1, …, 2\nY = x", "i", "2 i"),
    "of a family": ("h^t = h^{t-1} + Z = ? for t = 1, …, 3\nh^0 = 0", "t", "2 t"),
    "of a member of a family": ("h^t = h^{t-1} + Z for t = 1, …, 3\nh^0 = 0\nh^2 = ?", "2", "3"),
    "of an expression of a member": ("h^t = h^{t-1} + Z for t = 1, …, 3\nh^0 = 0\nh^2 + 0 = ?", "2", "3"),
    "of the members of a function's family": (
        "f(u) = h^2\nh^0 = u\nh^t = 2 h^{t-1} = ? for t = 1, …, 2\nf(Z)",
        "2^t u",
        "u",
    ),
    "of a condition": ("𝕀[x > 1] = ?", "[0, 1]_{ax}", "[1, 1]_{ax}"),
    "of cases": ("{ Z if x > 1; 0 otherwise } = ?", "[0, 1]_{ax}", "[0, 2]_{ax}"),
    "beside a value": ("A_{height(1), width(1)} = ?\nY = 2 x", "3", "0"),
    "an absolute value": ("|x| = ?\nY = 2 x", "x", "-x"),
    "an absolute value of what is defined": ("B = -x\n? = |B|", "x", "2 x"),
    "a norm": ("‖x‖ = ?\nY = 2 x", "√5", "5"),
    "a root of a power": ("√(x^2) = ?\nY = 2 x", "x", "2 x"),
    "a function of a power": ("exp(x^2) = ?\nY = 2 x", "exp(x ⊙ x)", "exp x"),
    "a power": ("x^2 = ?\nY = 2 x", "[1, 4]_{ax}", "[1, 8]_{ax}"),
    "a power of what is declared": ("B ∈ ℝ^{ax}\nB = 2 x\nB^3 = ?", "8 x^3", "x^3"),
    "a call with a power": ("f(t) = 2 t\nf(x^2) = ?\nY = x", "[2, 8]_{ax}", "x"),
    "elements rearranged": (
        "M ∈ ℝ^{a × b}\nM_{a(i), b(j)} = M_{a(j), b(i)}\nM = ?",
        "[1, 2; 2, 3]_{a, b}",
        "[1, 2; 0, 3]_{a, b}",
    ),
    "before a definition of what it uses": ("c + Z = ?\nc = 2", "3", "4"),
}


def claim(kind, holds):
    text, right, wrong = KINDS[kind]
    return text.replace("?", right if holds else wrong)


def given(text):
    """The values of the names that stand in a text."""
    return {name: value for name, value in GIVEN.items() if re.search(rf"(?<![^\W_]){name}(?![^\W_])", text)}


def for_reference(text):
    return {
        name: reference.tensor(value.array.tolist(), " ".join(value.axes)) if hasattr(value, "axes") else value
        for name, value in given(text).items()
    }


def evaluations(text):
    """The program evaluated, in each way that compares values."""
    values = given(text)
    yield lambda: nt.evaluate(text, values)
    yield lambda: nt.formula(text)(**values)
    yield lambda: nt.formula(nt.formula(text).to_latex(), syntax="latex")(**values)
    yield lambda: reference.evaluate(text, for_reference(text))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_true_holds(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for evaluate in evaluations(claim(kind, True)):
            evaluate()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_false_is_refused(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for evaluate in evaluations(claim(kind, False)):
            with pytest.raises(nt.NotationError) as caught:
                evaluate()
            assert caught.value.code in (403, 407, 308, 310), caught.value


@pytest.mark.parametrize("kind", KINDS)
def test_check_reads_it(kind):
    text = claim(kind, True)
    sizes = {name: 2 for name in ("k",) if name in given(text)}
    shapes = {name: value for name, value in given(text).items() if name != "k"} | {"Z": "ℝ"}
    checked = nt.check(text, shapes, sizes=sizes)
    assert checked.ok, checked


SHAPES = {
    "an equation": "∑_{width} A = [1, 2, 3]_{width}",
    "sizes": "∑_{width} A = [1, 2, 3]_{height}",
    "a row": "A_{height(1)} = [1, 2]_{width}",
    "an element": "A_{height(1), width(1)} = [1, 2]_{b}\n2 A",
    "all elements": "A_{height(i)} = [1, 2]_{b}",
    "a call": "max_{height} A = [1, 2]_{height}",
    "a chain": "Y = 2 A = ∑_{width} A",
    "a set": "2 A ∈ ℝ^{height}",
    "over a range": "A_{height(i)} + 0 = [1, 2]_{b} for i = 1, …, 2\nY = A",
    "of a function": "f(t) = 2 t\n∑_{width} t = [1, 2]_{b}\nf(A)",
}


@pytest.mark.parametrize("case", [case for case in SHAPES if case != "an element"])
def test_shapes_that_differ_are_refused_before_there_are_values(case):
    text = SHAPES[case]
    checked = nt.check(text, A=A)
    assert {problem.kind for problem in checked.errors} == {"shape"} or case == "of a function"
    for evaluate in (lambda: nt.evaluate(text, A=A), lambda: nt.formula(text).compile()(A=A)):
        with pytest.raises(nt.NotationError) as caught:
            evaluate()
        assert caught.value.kind == "shape"


def test_what_is_compiled_compares_no_values():
    result = nt.formula("A_{height(1), width(1)} = 7\nY = 2 A").compile()(A=A)
    assert np.array_equal(result.to_array("height width"), 2 * A.array)


UNKNOWN = {
    "an equation": ("Q + A = 3", "Q"),
    "a row": ("A_{height(1)} = 2 Q", "Q"),
    "a call": ("max_{height} A = 2 Q", "Q"),
    "a chain": ("Y = A = Q", "Q"),
    "beside a value": ("Y = 2 A\nQ + 1 = 2", "Q"),
    "declared": ("Q ∈ ℝ\nY = 2 A\nQ + 1 = 2", "Q"),
    "of a function": ("f(t) = 2 t\nt + Q = 3\nf(A)", "Q"),
    "a size": ("Y = 2 A\n1 + n = 3", "n"),
    "its range": ("Y = 2 A\nA_{height(i)} + 0 = 3 for i = 1, …, n", "n"),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_a_claim_with_an_unknown_name_is_an_error(case):
    text, path = UNKNOWN[case]
    slow = reference.tensor(A.array.tolist(), "height width")
    for evaluate in (lambda: nt.evaluate(text, A=A), lambda: reference.evaluate(text, {"A": slow})):
        with pytest.raises(nt.NotationError) as caught:
            evaluate()
        assert caught.value.code in (201, 206, 309)
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, A=A)
    assert text[slice(*(caught.value.span or ()))] == path
    if case not in ("declared", "its range"):  # which may be given still
        assert path in {text[slice(*(problem.span or ()))] for problem in nt.check(text, A=A).errors}


def test_the_errors_of_all_claims_are_listed():
    report = nt.check("2 x = x + [1, 2]_{b}\n3 x = [1, 2]_{c}\nx", x="ℝ^{a[2]}")
    assert [(error.code, error.span_text) for error in report.errors] == [
        (307, "2 x = x + [1, 2]_{b}"),
        (307, "3 x = [1, 2]_{c}"),
    ]


@pytest.mark.parametrize(
    ("ends", "name"), [("1, …, n", "n"), ("n, …, 3", "n"), ("1, …, |b|", "b"), ("n, n-1, …, 1", "n")]
)
def test_a_given_member_is_not_compared_where_an_end_of_the_range_is_not_known(ends, name):
    text, given = f"h^t = 2 x for t = {ends}\nx", {"x": GIVEN["x"], "h^2": GIVEN["x"]}
    assert nt.evaluate(text, given).to_array("ax").tolist() == [1, 2]
    with pytest.raises(nt.NotationError, match="assertion failed"):
        nt.evaluate(text, given, sizes={name: 2})


@pytest.mark.parametrize(
    ("ends", "under", "what"),
    [
        ("m, …, 3", "m", "m has no value"),
        ("1, …, m", "m", "m has no value"),
        ("m, …, 1", "m", "m has no value"),
        ("1.5, …, 3", "1.5", "1.5 is not an integer"),
        ("1, …, 2.5", "2.5", "2.5 is not an integer"),
    ],
)
def test_it_says_which_end_of_a_range_is_not_known(ends, under, what):
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(f"h^t = 2 x for t = {ends}\nh^2", x=GIVEN["x"])
    error, hint = caught.value, "pass it: sizes={'m': 3}" if under == "m" else "write an integer"
    message = f"{what}, but the range for t = {ends} needs one"
    assert (error.code, error.span_text, error.message, error.hint) == (309, under, message, hint)


def test_it_says_where_and_how_the_sides_differ():
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate("A_{height(i), width(j)} = 3 i", A=A)
    assert "height(1), width(2)" in str(caught.value) and "left-hand side 1, right-hand side 3" in str(caught.value)


# ----------------------------------------------------------------------------------- no built-in is replaced unseen
NOT_REPLACED = {  # with what is asked after the claim
    "max_{height} A = [3, 5, 9]_{width}\nmax_{height} (2 A)": [6, 10, 18],
    "mean_{width} A = [8, 15]_{height} / 3\nmean_{height} A": [2, 3, 6.5],
    "abs(Z) = 1\nabs(-3)": 3,
    "A ∈ ℝ^{height × width}\nmax_{height} A = [3, 5, 9]_{width}\nmax_{width} A": [4, 9],
    "B = 2 A\nmax_{height} B = [6, 10, 18]_{width}\nmax_{width} A": [4, 9],
    "max(Z, Z) = 1\nmax(2, 3)": 3,
    "h^t = h^{t-1} + A for t = 1, …, 2\nh^0 = 0\nmax_{height} h^2 = 2 max_{height} A\nmax_{width} A": [4, 9],
}


@pytest.mark.parametrize("text", NOT_REPLACED)
def test_a_claim_about_a_built_in_leaves_it_as_it_is(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nt.evaluate(text, given(text)).array.tolist() == NOT_REPLACED[text]
    assert not nt.check(text, **given(text)).warnings
    result = reference.evaluate(text, for_reference(text))
    assert result.to_list(" ".join(result.shape)) == NOT_REPLACED[text]


REPLACED = {
    "mean_{ax}(X) = ∑_{ax} X\nmean_{width} A": ("mean", [8, 15]),
    "mean_{ax} X = ∑_{ax} X\nY = mean_{width} X\nX = A": ("mean", [8, 15]),
    "max_{a}(t) = min_{a} t\nmax_{width} A": ("max", [1, 1]),
    "σ(t) = 2 t\nσ(3)": ("σ", 6),
    "e = 3\n2 e": ("e", 6),
    "I_{p,q} = [0, 1; 1, 0]_{p, q}\n∑_{p} (I_{p,q} ⊙ [1, 2]_{p})": ("I", [2, 1]),
    "σ = 3\nσ (2)": ("σ", 6),
    "mean = 2\nmean A_{height(1)}": ("mean", [6, 2, 8]),
}


@pytest.mark.parametrize("text", REPLACED)
def test_a_definition_of_a_built_in_replaces_it_with_a_warning(text):
    name, expected = REPLACED[text]
    with pytest.warns(nt.NotationWarning, match=f"{name} shadows the built-in"):
        assert nt.evaluate(text, given(text)).array.tolist() == expected
    (warned,) = nt.check(text, **given(text)).warnings
    assert warned.code == 209 and warned.message.startswith(f"{name} shadows the built-in")
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, given(text), strict=True)
    assert caught.value.code == 209


@pytest.mark.parametrize("text", ["σ = std_{width} A\nA / σ", "ε = 0.1\nstandardize_{width} A"])
def test_a_tensor_that_hides_no_use_of_a_built_in_gets_no_warning(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nt.evaluate(text, A=A)


def test_a_function_of_a_program_is_called_though_other_claims_lack_their_values():
    program = nt.program("f(t) = 2 t\n∑_{b} B = 3\nB ∈ ℝ^{b}")
    assert float(program["f"](2.0)) == 4
    with pytest.raises(nt.NotationError):
        program["f"](2.0, B=nt.tensor([1.0, 1.0], "b"))


def test_an_index_whose_definition_is_wrong_is_not_every_index():
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate("i = X + [1, 2, 3]_{a}\n2 X_{a(i)} = X_{a(i)}\nX", X=nt.tensor([1.0, 2.0], "a"))
    assert caught.value.code == 302


STEPS = [  # derivations, of which the side in angle brackets is the first that differs from those before it
    "2 x = x + x = ⟨3 x⟩ = 2 x\nx",
    "2 x = ⟨3 x⟩ = 3 x\nx",
    "Y = x + x = 2 x = ⟨x⟩ = 3 x",
    "f(t) = t + t = 2 t = ⟨t^2⟩\nf(x) + f(2 x)",
    "f(t) = 2 s where s = t + 0 = 1 t = ⟨t + 1⟩\nf(x)",
    "Y_{ax(i)} = i = x_{ax(i)} = ⟨i + 1⟩",
    "Y^t = t = t + 0 = ⟨2⟩ for t = 1, …, 2\nY^1 + Y^2",
]


@pytest.mark.parametrize("text", STEPS)
def test_the_first_step_that_does_not_hold_is_named(text):
    before, _, rest = text.partition("⟨")
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(before + rest.replace("⟩", ""), {"x": GIVEN["x"]})
    assert caught.value.code == 403 and caught.value.span_text == rest.partition("⟩")[0]
    assert caught.value.span[0] == len(before) and "the first side" in caught.value.message


def test_a_false_claim_about_many_steps_has_both_sides():
    steps = "H^0 = x\nH^t = 1.5 H^{t-1} for t = 1, …, 300\n∑_{t=1}^{300} H^t = "
    message = "assertion failed: left-hand side 2.01604e+53, right-hand side 6.72013e+52"  # 3 (1.5^300 − 1), 1.5^300
    with pytest.raises(nt.NotationError, match=re.escape(message)):
        nt.evaluate(steps + "H^300", x=1.0)
    assert float(nt.evaluate(steps + "3 (H^300 - 1)", x=1.0)) == pytest.approx(1.5**300)  # of H, which is defined last


SUMS = "S_0 = 0\nS_n = S_{n-1} + n for n = 1, …, 5\n"
REPEATED = [  # families with members that are defined before, and whether they hold
    (SUMS + "S_n = n (n + 1)/2 for n = 1, …, 5\nS_5", True),
    (SUMS + "S_n = n (n + 2)/2 for n = 1, …, 5\nS_5", False),
    (SUMS + "S_m = 3 m - 3 for m = 2, …, 3\nS_5", True),
    (SUMS + "S_m = 3 m - 3 for m = 2, …, 4\nS_5", False),
    (SUMS + "S_n = 15 for n = 5, …, 7\nS_7", True),
    (SUMS + "S_n = 16 for n = 5, …, 7\nS_7", False),
    (SUMS + "S_n = 7 for n = 6, …, 7\nS_7", True),
    ("h_n = 5 for n = 2, …, 2\nh_n = n for n = 1, …, 3\nh_2", False),
    (
        "F^0 = 0\nF^1 = 1\nF^n = F^{n-1} + F^{n-2} for n = 2, …, 9\nF^{2 n} = F^n (2 F^{n+1} - F^n) for n = 1, …, 4\nF^9",
        True,
    ),
    (
        "F^0 = 0\nF^1 = 1\nF^n = F^{n-1} + F^{n-2} for n = 2, …, 9\nF^{2 n} = F^n (2 F^{n+1} + F^n) for n = 1, …, 4\nF^9",
        False,
    ),
]


@pytest.mark.parametrize("text, is_true", REPEATED)
def test_a_family_asserts_what_is_defined_before_it(text, is_true):
    if is_true:
        assert nt.evaluate(text).shape == {}
        return
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text)
    assert caught.value.code == 403 and caught.value.span_text == text.splitlines()[-2]


def test_a_family_over_an_axis_asserts_what_is_defined_before_it():
    x = nt.tensor([1.0, 2.0, 4.0], "seq")
    steps = "S^0 = 0\nS^t = S^{t-1} + x_{seq(t)} for t = 1, …, |seq|\nS^t = ∑_{i=1}^{t} x_{seq(i)} "
    assert float(nt.evaluate(steps + "for t = 1, …, |seq|\nS^3", x=x)) == 7
    assert nt.check(steps + "for t = 1, …, |seq|\nS^3", x="ℝ^{seq}").errors == ()
    with pytest.raises(nt.NotationError):
        nt.evaluate(steps + "+ 1 for t = 2, …, |seq|\nS^3", x=x)


def test_an_equation_for_members_that_its_index_only_leads_to_defines_nothing():
    with pytest.raises(nt.NotationError, match="undefined name h") as caught:
        nt.evaluate("h^1 = 1\nh^{2 t} = 2 h^t for t = 1, …, 2\nh^4")
    assert "an equation for h^{2 t} defines no members: write the index t alone" in str(caught.value)


CALLS_ITSELF = {  # assertion about f(X) = X ⊙_{a} X: whether it holds
    "1 + f(X) = 1 + ∑_{a} X^2": True,
    "f(X) + f(2 X) = 5 ∑_{a} X^2": True,
    "∂f(X) = 2 X ⊙_{a} ∂X": True,
    "1 + f(X) = 2 + ∑_{a} X^2": False,
    "f(2 X) + 0 = 2 f(X)": False,
    "∂f(X) = 3 X ⊙_{a} ∂X": False,
}


@pytest.mark.parametrize(("text", "is_true"), CALLS_ITSELF.items())
@pytest.mark.parametrize("declaration", ["", "X ∈ ℝ^{a}\n"])
def test_an_assertion_about_a_function_may_call_the_function(text, is_true, declaration):
    program = f"f(X) = X ⊙_{{a}} X\n{declaration}{text}\nf(z)"
    z = nt.tensor([1.0, 2.0, 3.0], "a")
    if is_true:
        assert float(nt.evaluate(program, z=z)) == 14
    else:
        with pytest.raises(nt.NotationError) as raised:
            nt.evaluate(program, z=z)
        assert raised.value.code == 403 and raised.value.span_text == text
