"""What an equation defines is told by its left side: a name, a call with plain parameters, elements, a member; all else claims."""

import re
import warnings

import numpy as np
import pytest

import namedtensor as nt
from grammar.errors import NotationError
from grammar.parser import parse
from namedtensor import reference
from namedtensor.scope.binder import bind
from namedtensor.scope.names import Key

X = [1.0, 2.0, 4.0]
GIVEN = {"X": nt.tensor(X, "ax")}
Q = {Key("Q"): frozenset({"ax"})}

CLAIMS = """
∂(softmax_{ax} Z)/∂Z* ¦ ∂(exp Z)/∂Z ¦ ∂Z/∂Y ¦ ∂f(Z)/∂Z ¦ ∂Z ¦ ∂(exp Z) ¦ ∂(∂(exp Z)/∂Z)/∂Z ¦ ∂³(exp Z)/∂Z³ ¦ ∂softmax_{ax} Z ¦ d(exp Z)/dZ
∑_{ax} Z ¦ ∏_{ax} Z ¦ max_i Z_{ax(i)} ¦ ∑_{i=1}^{3} Z_{ax(i)} ¦ ∑_{i ∈ [3]} i ¦ 𝔼_{z ∼ N(0, 1)}[z] ¦ lim_{a→∞} a Z ¦ argmin_{v ∈ ℝ^{ax}} ∑_{ax} v
norm_{ax}(Z; 1) ¦ ‖Z‖ ¦ ‖Z‖_1 ¦ ‖Z‖^2 ¦ √Z ¦ √(Z) ¦ sqrt(Z) ¦ abs Z ¦ abs(Z) ¦ ⌊Z⌋ ¦ ⌈Z⌉ ¦ floor(Z) ¦ ceil Z
2^Z ¦ exp(Z)^2 ¦ σ(Z + 1) ¦ exp(2 Z) ¦ log(sin Z) ¦ max(Z, 0) ¦ clip(Z, 0, 1) ¦ where(Z, 0, 1) ¦ concat_{ax}(Z, Y)
f(Z + 1) ¦ f(2) ¦ f(g(Z)) ¦ f(Z; 2) ¦ f(Z)^2 ¦ 2 f(Z) ¦ f(Z) + 1 ¦ f(Z) - g(Z) ¦ -f(Z) ¦ (f(Z)) ¦ f(Z)|_{Z=1}
-Z ¦ Z + Y ¦ Z - Y ¦ Z ⊙ Y ¦ Z ⊙_{ax} Y ¦ Z / Y ¦ 1 / Z ¦ Z ⊕_{ax} Y ¦ gelu Z + Y ¦ -exp Y
[Z + Y]_{ax(1)} ¦ exp(Z)_{ax(i)} ¦ [exp Z]_{ax(i)} ¦ (softmax_{ax} Z)_{ax(i)} ¦ Z_{ax→b} ¦ [Z]_{ax→b} ¦ (Z)^* ¦ Z^* ¦ (Z + Y)^†
mean_{ax} Z ¦ max_{ax}(Z) ¦ log Z ¦ relu(Z) ¦ \\nfun{\\name{ax}}{softmax} Z ¦ [1, 2]_{ax} ¦ 3 ¦ { Z if Z > 0; 0 otherwise } ¦ 𝕀[Z > 0]
\\frac{\\partial}{\\partial Z}(\\nfun{\\name{ax}}{softmax} Z) ¦ \\frac{\\partial \\exp Z}{\\partial Z^*} ¦ \\frac{\\partial^2}{\\partial Z^2} \\exp Z
\\nsum{\\name{ax}} Z ¦ \\lVert Z \\rVert ¦ \\sqrt{Z} ¦ \\lfloor Z \\rfloor ¦ \\frac{1}{Z} ¦ \\left[Z + Y\\right]_{\\name{ax}(1)} ¦ \\mathbb{E}_{z \\sim N(0, 1)}[z]
"""
DEFINITIONS = """
Z ¦ Z_1 ¦ Z^{l,Q} ¦ Z' ¦ Z_{ax(i)} ¦ Z_{ax(1)} ¦ [Z]_{ax(1)} ¦ Z_{ax(2i)} ¦ (Z) ¦ f(Z) ¦ f(Z; w) ¦ f_{ax} Z ¦ f_{ax}(Z; p) ¦ f^l(Z) ¦ Z ★ Y ¦ g_1(Z, Y)
π ¦ \\nfun{\\name{ax}}{g} Z ¦ \\mathcal{L} ¦ \\hat{Z}
"""


def listed(text: str) -> list[str]:
    return [word.strip() for word in re.split(r"¦|\n", text) if word.strip()]


def bound(text: str):
    return bind(text, parse(text), Q)


@pytest.mark.parametrize("right", ["Q", "exp Y", "W", "g(Y)", "e", "Q_{ax(i)}"])
def test_an_expression_on_the_left_defines_nothing(right):
    for left in listed(CLAIMS):
        text = f"{left} = {right}"
        scope = bound(text)
        assert not scope.definitions and not scope.functions and not scope.families and scope.claims, text


@pytest.mark.parametrize("right", ["Q", "exp Q", "2"])
def test_heads_define(right):
    for left in listed(DEFINITIONS):
        text = f"{left} = {right}"
        scope = bound(text)
        assert (scope.definitions or scope.functions) and not scope.claims, text


OWN = ["mean_{ax} Z = ∑_{ax} Z", "max_{ax}(Z) = Z_{ax(1)}", "exp(Z) = 2^Z", "log Z = Y\nY = 2 Z", "relu(Z; c) = Z + c"]


@pytest.mark.parametrize("text", OWN)
def test_a_built_in_is_replaced_where_the_body_speaks_of_what_it_takes(text):
    assert [item.name for item in bound(text).replaced] == [re.split(r"\W|_", text)[0]]


BUILT_IN = [
    "∂(softmax_{ax} Z)/∂Z* = softmax_{ax} Z",
    "2 exp(X) - exp(X) = exp(X)",
    "∑_{ax} Z = max_{ax} Z",
    "exp(1) = e",
]


@pytest.mark.parametrize("claim", BUILT_IN)
def test_a_claim_leaves_what_is_built_in_as_it_is(claim):
    text = f"{claim}\ny = softmax_{{ax}} X + exp(X) + max_{{ax}} X + e"
    program = nt.program(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = program["y"](X=GIVEN["X"])
    x = np.array(X)
    np.testing.assert_allclose(result.to_array("ax"), np.exp(x) / np.exp(x).sum() + np.exp(x) + 4 + np.e)
    assert not bound(text).replaced


POWERS = {  # an equation for a power or for a name with a label, and whether it is an assertion
    "c, d ∈ ℝ\ne^{c+d} = c": True,
    "c ∈ ℝ^{a}\ne^{∑_{a} c} = 1": True,
    "b, c ∈ ℝ\nb^{c/2} = 1\nb^{2 c} = 1": True,
    "c ∈ ℝ\ne^{t+c} = c": False,  # t is unknown
    "c ∈ ℝ\ne^{c} = c": False,
    "c ∈ ℝ\nV^{c+1} = c": False,
    "c ∈ ℝ\ne^Q = 1\ne^{c+1} = c": False,
    "e^{t+1} = e^t for t = 0, …, 2\ne^0 = 1": False,
}


@pytest.mark.parametrize("text", POWERS)
def test_a_computed_exponent_of_known_names_is_no_label(text):
    scope = bound(text)
    assert not (scope.definitions or scope.families) if POWERS[text] else not scope.claims


WRONG = {  # a claim, the place of its error, and what its hint says
    "∑_{ax} X = W": ("W", "W = ∑_{ax} X"),
    "2 X = f(X)": ("f", "f(X) = 2 X"),
    "2 X = f(Z)": ("f", "f(Z) = 2 X"),
    "X = Y_{ax(i)}": ("Y", "Y_{ax(i)} = X"),
    "X = Y": ("Y", "Y = X"),
    "sqrt(t) = t^2": ("t", ", a built-in sign"),
    r"\sqrt{t} = t^2": ("t", ", a built-in sign"),
    "∂(softmax_{ax} Z)/∂Z* = softmax_{ax} Z": ("Z", ""),
}


@pytest.mark.parametrize("text", WRONG)
def test_what_a_claim_does_not_define_is_not_known(text):
    path, hint = WRONG[text]
    with pytest.raises(NotationError) as caught:
        nt.evaluate(text, GIVEN)
    assert caught.value.code == 201 and text[slice(*(caught.value.span or (0, 0)))].strip("{}") == path
    assert hint in (caught.value.hint or "")
    with pytest.raises(NotationError):
        reference.evaluate(text, {"X": reference.tensor(X, "ax")})
    with pytest.raises(NotationError):
        nt.compile(text)(GIVEN)


@pytest.mark.parametrize("head", ["f(Z, Z)", "f(Z; Z)", "f_{ax}(Z, Y; Z)"])
def test_a_parameter_twice_is_refused(head):
    with pytest.raises(NotationError, match="f has two parameters named Z"):
        nt.evaluate(f"{head} = Z\n3")


def test_a_function_as_an_argument_is_refused_with_its_replacement():
    text = "f : ℝ → ℝ\ntwice(f, t) = f(f(t))\nh(t) = t^2 + 1\ntwice(h, 3)"
    with pytest.raises(NotationError, match="twice cannot take the function f") as caught:
        nt.evaluate(text)
    assert caught.value.code == 114 and text[slice(*(caught.value.span or (0, 0)))] == "f"
    equation = (caught.value.hint or "").partition(": ")[2]
    assert nt.evaluate(f"{equation}\nh(t) = t^2 + 1\ntwice_h(3)").item() == 101
    most = "f : ℝ → ℝ\nmost(f) = max_{i ∈ [4]} f(i)\nh(t) = t^2\nmost(h)"
    with pytest.raises(NotationError, match=r"most_h = max_\{i ∈ \[4\]\} h\(i\)"):
        nt.evaluate(most)


# ------------------------------------------------------------------------------------- functions by number of arguments
OVERLOADED = {  # with the value for X
    "f_{ax}(V) = ∑_{ax} V\nf_{ax}(V; p) = p ∑_{ax} V\nf_{ax}(X) + 10 f_{ax}(X; 3) + f_{ax} X": 7 + 210 + 7,
    "f(V) = V\nf(V; p) = p V\nf(V; p, q) = p q V\nf(2) + f(2; 3) + f(2; 3, 4) + f(2, 3)": 2 + 6 + 24 + 6,
    "f(V; p) = p V\nf(V) = 2 V\np = 7\nf(1)": 2,
    "f(V; p) = p V\np = 7\nf(1)": 7,
    "f(V, p) = p V\nf(V; q) = q V + 1\nf(2, 3) + f(2; 3)": 6 + 7,
    "f : ℝ^{ax} → ℝ\nf(V; w) = w ∑_{ax} V\nf(V) = max_{ax} V\nf(X; 2) + f(X)": 14 + 4,
    "f^l(u) = f^{l-1}(u) + l\nf^0(u) = u\nf^3(5)": 11,
    "f(u, l) = u + l\nf(u) = u\nf(u) = u\n": None,
}


@pytest.mark.parametrize("text", OVERLOADED)
def test_functions_are_told_apart_by_how_much_they_take(text):
    expected = OVERLOADED[text]
    if expected is None:
        with pytest.raises(NotationError, match="defined twice"):
            nt.evaluate(text, GIVEN)
        return
    assert float(nt.evaluate(text, GIVEN)) == expected
    assert reference.evaluate(text, {"X": reference.tensor(X, "ax")}).entries[()] == expected


def test_a_program_has_functions_of_one_name():
    program = nt.program("f(X) = X\nf(X, M) = X + M\nf(X; M, N) = X + M + N")
    assert float(program["f"](1.0)) == 1 and float(program["f"](1.0, 5.0)) == 6 and float(program["f"](1.0, M=5.0)) == 6
    assert float(program["f"](1.0, 5.0, 7.0)) == 13
    text = "f(X) = X\nf(X, M) = X + M"
    assert (
        float(reference.call(text, "f", 1, 5).entries[()]) == 6 and float(reference.call(text, "f", 1).entries[()]) == 1
    )


# ------------------------------------------------------------------------------------------- heads that are a step ahead
AHEAD = {  # with the value
    "x^0 = 1\nx^{t+1} = 2 x^t for t = 0, …, 4\nx^5": 32,
    "x_0 = 1\nx_{t+1} = 2 x_t + t for t = 0, …, 4": 58,
    "x^3 = 1\nx^{t-1} = 2 x^t + t for t = 3, …, 1\nx^0": 25,
    "x^0 = 1\nx^1 = 1\nx^{t+2} = x^{t+1} + x^t for t = 0, …, 7\nx^9": 55,
    "x^0 = 1\nx^1 = 1\nx^{t+2} = x^{t+1} + x^t for t = 0, …, 97\nx^99 / 2^60": 354224848179261915075 / 2**60,
    "x^0 = 1\nx^{1+t} = 2 x^t for t = 0, …, n-1\nn = 4\nx^n": 16,
    "x^0 = 1\nx^{t+1} = x^t + ∑_{t=1}^{2} t for t = 0, …, 2\nx^3": 10,
    "f(u) = x^3\nx^0 = u\nx^{t+1} = 2 x^t + t for t = 0, …, 2\nf(2)": 20,
    "E^{i,0} = 1 for i = 0, …, 3\nE^{0,j} = 1 for j = 1, …, 3\nE^{i+1,j+1} = E^{i,j} + E^{i+1,j} + E^{i,j+1} for i = 0, …, 2 for j = 0, …, 2\nE^{3,3}": 63,
    "f^{l+1}(u) = f^l(u) + l for l = 0, …, 3\nf^0(u) = u\nf^2(5)": 6,
    "x_0 = 3\nx_{t+1} = x_t - 0.1 ∂L(x_t)/∂x_t for t = 0, …, 9\nL(u) = u^2": 3 * 0.8**10,
    r"\begin{align} x_0 &= 1 \\ x_{t+1} &= 2 x_t & t &= 0, \ldots, 4 \end{align}": 32,
    "h^1 = 1\nh^{t+1} = h^t + 1 = t + 1 for t = 1, …, 5\nh^6": 6,
}


@pytest.mark.parametrize("text", AHEAD)
def test_a_head_may_be_ahead_of_its_range(text):
    assert float(nt.evaluate(text)) == pytest.approx(AHEAD[text])
    assert float(reference.evaluate(text).entries[()]) == pytest.approx(AHEAD[text])


def test_what_goes_on_until_something_holds_is_refused_with_its_repair():
    for text in ("h^t = cos h^{t-1} until abs(h^t − h^{t-1}) < ε", r"h^t = \cos h^{t-1} \text{ until } h^t = h^{t-1}"):
        with pytest.raises(NotationError) as caught:
            nt.evaluate(text)
        assert caught.value.code == 114 and "for t = 1, …, n" in (caught.value.hint or "")
    repaired = "x^t = { x^{t-1} if abs(x^{t-1} − x^{t-2}) < ε; cos x^{t-1} otherwise } for t = 2, …, 90\nx^0 = 1\nx^1 = cos x^0"
    assert float(nt.evaluate(repaired)) == pytest.approx(0.739085, abs=1e-5)
    for text, member, first in (("x_t = x_{t-1} + 1", "x_t", "x_0"), ("x_t^a = x_{t-1}^a + 1", "x_t^a", "x_0^a")):
        with pytest.raises(NotationError) as caught:
            nt.evaluate(text)
        assert caught.value.hint == f"specify where t begins and ends: {member} = … for t = 1, …, n, with {first} = …"
    assert float(nt.evaluate("until = 2\nuntil + 1")) == 3
