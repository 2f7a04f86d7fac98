"""Sizes: what is given, made and stated must agree; what the equations of a scope make is known there; and in good time.

Wherever there is a value, the reference evaluator, which finds sizes by its own code, must have the same.
"""

import random

import pytest
from timing import at_most

import namedtensor as nt
from benchmarks.growth import calls_of
from namedtensor import reference

A, B = ([1.0, 2.0], "a"), ([1.0, 2.0, 3.0], "b")
LAYER = ([1.0, 2.0, 3.0, 4.0], "layer")

# a program, its inputs, and the value by the reader's pencil
KNOWN = {
    "a literal": ("Y = [3, 1]_{a}\nY / |a|", {}, [1.5, 0.5]),
    "a literal with its own size": ("[|c|, 2, 5]_{c}", {}, [3, 2, 5]),
    "a literal with its own size, in nested calls": ("f(t) = ∑_{c} [t / |c|, 1]_{c}\nf(f(6))", {}, 3),
    "a concatenation with its own size": ("Y = [4, 1]_{a} ⊕_{a} [|a|]_{a}\n∑_{a} Y", {}, 8),
    "nested calls that need a size": (
        "f(t) = g(t + Y) / 4\nY = ∑_{a} [g(2), 1]_{a} / |a|\ng(t) = h(t + Z) / 4\nZ = ∑_{a} [h(2), 1]_{a} / |a|\n"
        "h(t) = t\nf(3)", {}, 0.33984375,
    ),
    "a literal below": ("Z = Y |a|\nY = [3, 1]_{a}\nZ", {}, [6, 2]),
    "a rename": ("X_{b→a} / |a|", {"X": B}, [1 / 3, 2 / 3, 1]),
    "a renamed definition": ("Y = X_{b→a}\nY / |a|", {"X": B}, [1 / 3, 2 / 3, 1]),
    "a concatenation": ("Z = X_{b→a} ⊕_{a} Y_{c→a}\n(∑_{a} Z) / |a|", {"X": B, "Y": ([6.0], "c")}, 3),
    "a concatenation in one expression": ("(∑_{a} 1 ⊙ (X_{b→a} ⊕_{a} X_{b→a})) / |a|", {"X": B}, 2),
    "a split": ("|p| = 2\nA ∈ ℝ^{h}\nA_{h(i)} = i\n∑_{p} (X_{layer→(h,p)} ⊙ A)", {"X": LAYER}, [3, 14]),
    "a merge": ("Y = X_{(a,b)→c}\n(∑_{c} Y) / |c|", {"X": ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "a b")}, 3.5),
    "a window": ("|k| = 2\nY = unroll_{b,k} X\n∑_{b,k} Y / |k|", {"X": B}, 4),
    "the largest": ("|k| = 2\nY = maxk_{b,k} X\n(∑_{k} Y) / |k|", {"X": B}, 2.5),
    "a stack": ("Y = stack_{s}(X, X)\n(∑_{s} Y) / |s|", {"X": B}, [1, 2, 3]),
    "the result of a function": ("g(X) = X_{b→a}\nY = g(X)\nY / |a|", {"X": B}, [1 / 3, 2 / 3, 1]),
    "a call": ("g : ℝ^{b[n]} → ℝ^{a[n]}\ng(X) = X_{b→a}\ng(X) / |a|", {"X": B}, [1 / 3, 2 / 3, 1]),
    "one that waits for it": ("m = X / |a|\nY = m ⊙ [3, 1]_{a}\n∑_{b} Y", {"X": B}, [9, 3]),
    "the start of a family": ("X^0 = [4, 8]_{a}\nX^t = X^{t-1} / |a| for t = 1, …, 2\nX^2", {}, [1, 2]),
    "a family": ("H^t = t ⊙ [1, 2]_{a} for t = 1, …, 3\nH^3 / |a|", {}, [1.5, 3]),
    "in a function": ("f(X) = X_{b→a} / |a|\nf(X)", {"X": B}, [1 / 3, 2 / 3, 1]),
    "in a fact of a function": ("f(X) = Y / |a|\nY = X_{b→a}\nf(X)", {"X": B}, [1 / 3, 2 / 3, 1]),
    "of this call, not of an input": ("f : ℝ^{b} → ℝ\nf(X) = (∑_{a} X_{b→a}) / |a|\nf(X) Y", {"X": B, "Y": A}, [2, 4]),
    "of this call, not of another": (
        "f : ℝ^{b} → ℝ\nf(X) = (∑_{a} X_{b→a}) / |a|\nf(X) + f(Y_{layer→b})", {"X": B, "Y": LAYER}, 4.5,
    ),
    "of this call by what the program states": (
        "|layer| = 2 |c|\nf(X) = |c| ∑_{layer} X\nf(X) + f([1, 2]_{layer})", {"X": LAYER}, 23,
    ),
    "the input's before what is made": ("Y = X ⊕_{a} X\n(∑_{a} Y) / |a|", {"X": A}, 3),
    "not that of what is not named": ("Y = [3, 1]_{a}\nY / |a|", {"U": ([1.0, 2.0, 3.0], "a")}, [1.5, 0.5]),
    "iota": ("Y = [3, 1]_{a}\niota_{a} Y", {}, [3, 2]),
    "the size of a marked axis": ("|a*| X", {"X": A}, [2, 4]),
    "of many marks": ("|a**| X + |a†| X", {"X": A}, [4, 8]),
    "iota over a marked axis": ("∑_{a*} iota_{a*}", {"X": A}, 3),
    "an identity": ("∑_{a*} (I_{a,a*} ⊙ X_{a→a*})", {"X": A}, [1, 2]),
    "a mark in a function over axes": ("f_{ax}(X) = |ax*| X + 0 |ax|\nf_{b}(X)", {"X": B}, [3, 6, 9]),
    "a declaration of a defined name": ("Y = ∑_{b} D / |b|\nD = iota_{b}\nD ∈ ℝ^{b[3]}", {}, 2),
    "a declaration in a function": ("f(x) = ∑_{b} (x ⊙ Y)\nY ∈ ℝ^{b[3]}\nY_{b(i)} = x i\nf(2)", {}, 24),
    "a label of declared inputs": (
        "X^l ∈ ℝ^{a} for l = 1, …, 2\nX^{|a|} / |a|", {"X^1": A, "X^2": ([4.0, 6.0], "a")}, [2, 3],
    ),
    "a marked axis of its own": ("Y = X_{b→a*}\n|a*| W", {"X": B, "W": A}, [3, 6]),
}  # fmt: skip


def given(inputs, make):
    return {name: make(*value) for name, value in inputs.items()}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", KNOWN)
def test_the_sizes_of_what_a_scope_makes(case):
    text, inputs, expected = KNOWN[case]
    result = nt.evaluate(text, given(inputs, nt.tensor))
    assert result.array.tolist() == pytest.approx(expected)
    theirs = reference.evaluate(text, given(inputs, reference.tensor))
    assert theirs.to_list(tuple(theirs.shape)) == pytest.approx(expected)


@pytest.mark.parametrize("case", KNOWN)
def test_they_are_known_without_data_too(case):
    text, inputs, _ = KNOWN[case]
    checked = nt.check(text, given(inputs, nt.tensor))
    assert checked.ok, checked.errors
    assert checked.shape == nt.evaluate(text, given(inputs, nt.tensor)).sizes


def test_the_order_of_statements_means_nothing():
    lines = ["Y = X_{b→a} / |a|", "Z = Y ⊙ [1, 2]_{c} / |c|", "m = ∑_{c} Z"]
    values = set()
    for _ in range(6):
        random.Random(len(values)).shuffle(lines)
        values.add(str(nt.program("\n".join(lines))["m"](X=nt.tensor(*B)).array.tolist()))
    assert values == {"[0.5, 1.0, 1.5]"}


# what is stated of |a|, where |b| = 3, and |a|
STATED = {
    "|a| = |b|": 3, "|a| = |b| + 2": 5, "|b| = |a| + 2": 1, "2 + |a| = |b|": 1, "|a| = 7 - |b|": 4, "7 - |a| = |b|": 4,
    "|a| - 1 = |b|": 4, "|a| = 2 |b|": 6, "|b| = 2 |a| - 5": 4, "|b| = |a| ⊙ 3": 1, "|a| ⊙ 3 = |b|": 1, "|a| = 12 / |b|": 4,
    "|a| / 2 = |b|": 6, "12 / |a| = |b|": 4, "|a| = |b|^2": 9, "|a| = 2^{|b|}": 8, "|b| = 9 - 3 |a|": 2, "|a| = -(1 - |b|)": 2,
    "|b| = -(2 - |a|)": 5, "|a| = 1000 |b|": 3000, "|b| = -(-|a|)": 3, "|a| = -(-|b|)": 3, "(|a| + 1) / 2 = |b|": 5, "|b| = 3 (|a| - 1)": 2,
    "10 - (|a| + 1) = |b|": 6, "n = |b| + 1\n|a| = 2 n": 8, "|c| = |b| + 1\n|a| = |c| |b|": 12, "|a| = |c| |b|\n|b| + 1 = |c|": 12,
    "|a| = |c| + |d|\n|c| = |d| + 1\n|c| = |b|": 5,  # |d| is asked for once more when |c| is known
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("stated", STATED)
def test_what_is_stated_of_a_size_gives_it(stated):
    text = f"|b| = 3\n{stated}\n|a|"
    assert float(nt.evaluate(text)) == STATED[stated] == float(reference.evaluate(text).to_list(()))


def test_what_is_looked_at_for_a_size_is_no_step():
    steps = nt.explain("Y = [3, 1]_{a}\nW = [1, 2]_{a} ⊙ 3\nY / |a|")
    assert [step.text for step in steps] == ["[3, 1]_{a}", "Y", "|a|", "Y / |a|"]


# ------------------------------------------------------------------------------------------- what does not agree: errors
SEVERAL = {
    "two literals": ("Y = [1, 2]_{a}\nZ = [1, 2, 3]_{a}\n|a|", {}, "axis a has size 2 in Y, 3 in Z"),
    "a part and a name": ("Y = X_{b→a} / |a|\nZ = [1, 2]_{a}\nY", {"X": B}, "2 in Z"),
    "two inputs": ("(X ⊕_{a} Y) / |a|", {"X": A, "Y": ([1.0], "a")}, "axis a has size 2 in X, 1 in Y"),
}


@pytest.mark.parametrize("case", SEVERAL)
def test_an_axis_of_several_sizes_is_an_error_that_names_them(case):
    text, inputs, note = SEVERAL[case]
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, given(inputs, nt.tensor))
    assert caught.value.code == 302 and any(note in name for name in caught.value.notes)
    with pytest.raises(nt.NotationError) as theirs:
        reference.evaluate(text, given(inputs, reference.tensor))
    assert theirs.value.code == 302


# a program, what is given, the given sizes, and the text under the caret
AGAINST = {
    "an input": ("X / |a|", {"X": A}, {"a": 5}, "|a|"),
    "an input whose size nobody asks for": ("∑_{a} X", {"X": A}, {"a": 5}, "a"),
    "a declared input": ("X ∈ ℝ^{a}\n∑_{a} X", {"X": A}, {"a": 5}, "a"),
    "one of two inputs": ("∑_{a} X + ∑_{a} Y", {"X": A, "Y": ([1.0], "a")}, {"a": 2}, "a"),
    "an input in a function": ("f(X) = X / |a|\nf(X)", {"X": A}, {"a": 5}, "|a|"),
    "a literal": ("[3, 1]_{a} / |a|", {}, {"a": 5}, "[3, 1]_{a} / |a|"),
    "a definition": ("Y = [3, 1]_{a}\n∑_{a} Y", {}, {"a": 5}, "[3, 1]_{a}"),
    "a rename": ("X_{b→a} / |a|", {"X": B}, {"a": 5}, "X_{b→a} / |a|"),
    "a concatenation": ("(X_{b→a} ⊕_{a} X_{b→a}) / |a|", {"X": B}, {"a": 3}, "(X_{b→a} ⊕_{a} X_{b→a}) / |a|"),
    "an argument": ("f(X) = ∑_{a} X / |a|\nf(Y_{b→a})", {"Y": B}, {"a": 5}, "Y_{b→a}"),
    "a literal, where a function has another": (
        "Y = ∑_{a} [1, 2, 3, 4, 5]_{a}\nf(x) = ∑_{a} (x ⊙ [1, 2, 3]_{a})\nY + f(X)",
        {"X": B},
        {"a": 3},
        "[1, 2, 3, 4, 5]_{a}",
    ),
    "a statement": ("|a| = 3\nX / |a|", {"X": B}, {"a": 5}, "|a| = 3"),
    "a number of the program": ("n = 3\n∑_{i=1}^{n} i", {}, {"n": 5}, "n"),
    "a declaration of a defined name": ("D ∈ ℝ^{d[3]}\nD_{d(i)} = i", {}, {"d": 4}, "d"),
}


@pytest.mark.parametrize("case", AGAINST)
def test_a_size_that_is_given_against_the_rest_is_an_error(case):
    text, inputs, sizes, under = AGAINST[case]
    values = given(inputs, nt.tensor)
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, values, sizes=sizes)
    assert (caught.value.code, caught.value.span_text) == (308, under)
    assert "sizes= gives" in str(caught.value)
    with pytest.raises(nt.NotationError) as theirs:
        reference.evaluate(text, given(inputs, reference.tensor), sizes=sizes)
    assert theirs.value.code == 308

    for way in (nt.explain, lambda *given, **more: nt.check(*given, **more).raise_first()):
        with pytest.raises(nt.NotationError) as caught:
            way(text, values, sizes=sizes)
        assert caught.value.code == 308


PROGRAM = "f : ℝ^{a} → ℝ^{a}\nf(X) = X / |a|\nW ∈ ℝ^{a[3]}\nY = f(X) + W"
WAYS = {
    "an entry": lambda program, sizes, **x: program["Y"](**x, sizes=sizes),
    "a function": lambda program, sizes, X, W: program["f"](X, sizes=sizes),
    "entries": lambda program, sizes, **x: program["Y", "W"](**x, sizes=sizes),
    "the program": lambda program, sizes, **x: program(**x, sizes=sizes),
    "compiled": lambda program, sizes, **x: program.compile()(**x, sizes=sizes),
    "cost": lambda program, sizes, **x: program.cost(**x, sizes=sizes),
    "to_python": lambda program, sizes, **x: program.to_python(**x, sizes=sizes),
    "explain": lambda program, sizes, **x: program["Y"].explain(**x, sizes=sizes),
    "parameters": lambda program, sizes, X, W: program.parameters(sizes, X=X),
    "init": lambda program, sizes, X, W: program.init(0, sizes, X=X),
}


@pytest.mark.parametrize("way", WAYS)
def test_it_is_so_whichever_way_a_program_is_used(way):
    program, X = nt.program(PROGRAM), nt.tensor([1.0, 2.0, 3.0], "a")
    WAYS[way](program, {"a": 3}, X=X, W=X)
    with pytest.raises(nt.NotationError) as caught:
        WAYS[way](program, {"a": 5}, X=X, W=X)
    assert caught.value.code == 308


AGREEING = {
    "an input": ("X / |a|", {"X": A}, {"a": 2}),
    "windows of another size": ("Y = unroll_{b,k} X\n∑_{k} Y", {"X": B}, {"b": 3, "k": 2}),
    "one that makes another": ("H_{a(i)} = i\nY = unroll_{a,k} H\n∑_{k} Y", {}, {"a": 5, "k": 2}),
    "one in a function": ("f : ℝ^{c} → ℝ\nf(X) = ∑_{h,k} X_{c→(h,k)}\nf(X_{layer→c})", {"X": LAYER}, {"h": 2}),
    "an extra axis of an input": ("X ∈ ℝ^{b}\n∑_{b} X", {"X": ([[1.0], [2.0]], "b a")}, {"a": 1}),
}


@pytest.mark.parametrize("case", AGREEING)
def test_a_size_that_is_given_and_agrees_is_none(case):
    text, inputs, sizes = AGREEING[case]
    result = nt.evaluate(text, given(inputs, nt.tensor), sizes=sizes)
    theirs = reference.evaluate(text, given(inputs, reference.tensor), sizes=sizes)
    assert result.to_array(tuple(theirs.shape)).tolist() == pytest.approx(theirs.to_list(tuple(theirs.shape)))


@pytest.mark.parametrize("text", ["ℝ^{a[-1]}", "ℝ^{a[1-3]}", "[2]^{a[-1]}"])
def test_no_size_is_negative(text):
    for checked in (nt.check("X", X=text), nt.check(f"X ∈ {text}\n∑_{{a}} X")):
        assert [error.code for error in checked.errors] == [310]


POWERS = {
    "2^{10}": 1024, "2^{-1} ⊙ 6": 3, "(1/2)^2 ⊙ 8": 2, "4^{1/2}": 2, "27^{2/3}": 9, "9^{0.5}": 3, "5^0": 1, "0^3": 0, "1^{99999}": 1,
    "(1 - 2)^{98765} + 3": 2, "2^n": 32, "n^2": 25, "8^{1/3} + 3^{|b|}": 83,
}  # fmt: skip


@pytest.mark.parametrize(("text", "size"), POWERS.items())
def test_a_size_may_be_a_power(text, size):
    inputs = {name: value for name, value in {"b": 4}.items() if name in text}
    n = "n = 5\n" if "n" in text else ""
    formula = f"{n}|a| = {text}\niota_{{a}}"
    assert nt.evaluate(formula, sizes=inputs).array.tolist() == [*range(1, size + 1)]
    assert reference.evaluate(formula, sizes=inputs).shape == {"a": size}


HALVES = """
    Y = Half(Half(X))
    Half(x) = y_{half→height}
    y_{half(i)} = x_{height(2 i - 1)} for i = 1, …, ceil(|height| / 2)
    X ∈ ℝ^{chans × height}
"""


def test_a_range_may_end_at_a_rounded_quotient():
    """At every length, in one program: its plans take sizes as they come."""
    half = nt.program(HALVES)
    for size in (1, 2, 3, 4, 5, 6, 7, 9, 64, 65, 66, 67, 1):
        X = nt.tensor([range(size), range(9, 9 + size)], "chans height")
        assert half["Y"](X=X).tolist("chans height") == [row[::4] for row in X.tolist("chans height")]


ROUNDED = {
    "floor(|a| / 2)": 3,
    "ceil(|a| / 2)": 4,
    "ceil(|a| / 3) + 1": 4,
    "floor(|a| / 2 + 1 / 2)": 4,
    "ceil(|a| / 7)": 1,
    "floor(|a|)": 7,
    "2 ceil((|a| - 3 + 1) / 2)": 6,
    "9 - ceil(|a| / 2)": 5,
    "floor(-|a| / 2) + 9": 5,
}


@pytest.mark.parametrize(("text", "size"), ROUNDED.items())
def test_a_size_may_be_rounded(text, size):
    formula = f"|b| = {text}\niota_{{b}}"
    assert nt.evaluate(formula, sizes={"a": 7}).sizes == {"b": size}
    assert reference.evaluate(formula, sizes={"a": 7}).shape == {"b": size}
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(formula, sizes={"a": 7, "b": size + 1})
    assert caught.value.code == 308


@pytest.mark.parametrize("text", ["floor(|a| / 0)", "ceil(|a| / (1 - 2))"])
def test_a_quotient_that_is_rounded_has_a_positive_divisor(text):
    with pytest.raises(nt.NotationError, match="cannot infer the size of axis b"):
        nt.evaluate(f"|b| = {text}\niota_{{b}}", sizes={"a": 7})


def test_a_size_may_be_a_power_of_one_that_a_tensor_says():
    V, W = nt.tensor([1.0, 2.0], "b"), nt.tensor([1.0] * 4, "a")
    assert nt.evaluate("V ∈ ℝ^{b[n]}\nW ∈ ℝ^{a[n^2]}\nW + 0 V", V=V, W=W).sizes == {"a": 4, "b": 2}
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate("V ∈ ℝ^{b[n]}\nW ∈ ℝ^{a[n^2]}\nW", V=V, W=nt.tensor([1.0] * 3, "a"))
    assert caught.value.code == 308
    assert nt.evaluate("V ∈ ℝ^{b[n]}\n|c| = n^3\niota_{c} + 0 V", V=V).sizes == {"c": 8, "b": 2}


NO_SIZE = {
    "2^{-1}": (310, "|a| would be 1/2, which is not an integer"),
    "5^{1/2}": (310, "|a| would be 2.23607, which is not an integer"),
    "2^{1025}": (404, "2^{1025} exceeds the largest supported size, 2^1024"),
    "(2/3)^{-9999999}": (404, "(2/3)^{-9999999} exceeds the largest supported size, 2^1024"),
    "2^{|b|}": (309, "cannot infer the size of axis a"),
    "|b|^2": (309, "cannot infer the size of axis a"),
    "0^{-1}": (309, "cannot infer the size of axis a"),
    "(3 - 11)^{1/3}": (309, "cannot infer the size of axis a"),
    "2^{3/128}": (309, "cannot infer the size of axis a"),
    "(2^{1024})^{1/2}": (309, "cannot infer the size of axis a"),
}


@pytest.mark.parametrize(("text", "words"), NO_SIZE.items())
def test_what_a_power_leaves_open_is_no_size(text, words):
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(f"|a| = {text}\niota_{{a}}")
    assert (caught.value.code, caught.value.message) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("|a| = |b|^{1/2}", (308, "size constraint |a| = |b|^{1/2} is violated")),
        ("|a| = |b|^{-1}", (310, "|b|^{-1} would be 1/4, which is not an integer")),
        ("|b|/3 = |a|", (310, "|b|/3 would be 4/3, which is not an integer")),
    ],
)
def test_a_stated_power_has_to_be_the_size_that_is_given(text, words):
    X = nt.tensor([1.0, 2.0, 3.0], "a")
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(f"X ∈ ℝ^{{a}}\n{text}\nX", X=X, sizes={"b": 4})
    assert (caught.value.code, caught.value.message) == words
    assert nt.evaluate("X ∈ ℝ^{a}\n|a| = |b|^{1/2}\nX", X=X, sizes={"b": 9}).array.tolist() == [1, 2, 3]


@pytest.mark.parametrize(("text", "under"), [("iota_{b}", (6, 7)), ("∑_{c} I_{b,c}", (9, 10)), ("I_{b,b'}", (3, 4))])
def test_an_axis_whose_size_nothing_gives_is_named_where_it_stands(text, under):
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text)
    problem = caught.value
    assert (problem.code, problem.message, problem.span) == (309, "cannot infer the size of axis b", under)


# --------------------------------------------------------------------------------------------------------- in good time
N = 2000
CHAIN = [f"|b_{i}| = |b_{i - 1}| + 1" for i in range(1, N)]
MIXED = random.Random(0).sample(CHAIN, len(CHAIN))
SIDE = int(N**0.5)
LONG = {
    "a chain": ("\n".join(CHAIN) + f"\n|b_{N - 1}|", {"b_0": 1}, N),
    "a chain backwards": ("\n".join(CHAIN[::-1]) + f"\n|b_{N - 1}|", {"b_0": 1}, N),
    "a chain in any order": ("\n".join(MIXED) + f"\n|b_{N - 1}|", {"b_0": 1}, N),
    "a chain from its end": ("\n".join(CHAIN) + "\n|b_0|", {f"b_{N - 1}": N}, 1),
    "a chain of which nothing is known": ("\n".join(CHAIN) + f"\n|b_{N - 1}|", {}, 204),
    "one that is not asked for": ("\n".join(CHAIN) + "\n7", {}, 7),
    "a cycle": ("\n".join(CHAIN) + f"\n|b_0| = |b_{N - 1}|\n|b_1|", {}, 204),
    "a contradiction": ("\n".join(CHAIN) + f"\n|b_0| = |b_{N - 1}|\n|b_1|", {"b_0": 1}, 308),
    "squares": ("\n".join(f"|b_{i}| = |b_{i - 1}| · |b_{i - 1}|" for i in range(1, N)) + "\n|b_9|", {"b_0": 2}, 404),
    "squares up to the limit": (
        "\n".join(f"|b_{i}| = |b_{i - 1}| · |b_{i - 1}|" for i in range(1, 11)) + "\n|c| = |b_10| / |b_9|\n|c| / |b_9|",
        {"b_0": 2}, 1,
    ),
    "squares beyond the limit": (
        "\n".join(f"|b_{i}| = |b_{i - 1}| · |b_{i - 1}|" for i in range(1, 12)) + "\n|c| = |b_11| / |b_10|\n|c| / |b_10|",
        {"b_0": 2}, 404,
    ),
    "quotients": ("\n".join(f"|b_{i}| = |b_{i - 1}| / |c|" for i in range(1, N)) + f"\n|b_{N - 1}|",
                  {"b_0": 7, "c": 1}, 7),
    "a fraction": ("\n".join(f"|b_{i}| = |b_{i - 1}| / 2" for i in range(1, N)) + f"\n|b_{N - 1}|", {"b_0": 8}, 310),
    "rungs": ("\n".join(f"|b_{i}| = |b_{i - 1}| + |c_{i}|\n|c_{i}| = |b_{i}| - |b_{i - 1}|" for i in range(1, N // 2))
              + "\n|b_9|", {}, 204),
    "all with all": ("\n".join(f"|b_{i}| = |b_{j}|" for i in range(SIDE) for j in range(i)) + "\n|b_1|", {}, 204),
    "all with all, one known": ("\n".join(f"|b_{i}| = |b_{j}|" for i in range(SIDE) for j in range(i)) + "\n|b_1|",
                                {f"b_{SIDE - 1}": 3}, 3),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.slow
@pytest.mark.parametrize("case", LONG)
def test_many_statements_of_sizes_are_answered_or_refused_in_time(case):
    text, sizes, expected = LONG[case]
    with at_most(5):
        try:
            number = int(nt.evaluate(text, sizes=sizes))
        except nt.NotationError as problem:
            number = problem.code
        assert number == expected


@pytest.mark.parametrize("asks", ["X + m_{1}", "f(X)\nf(X) = X + m_{1}"], ids=["in the program", "in a function"])
def test_definitions_that_ask_for_sizes_are_typed_once(asks):
    """Each is used by two others: typed anew at each use, they would be typed as often as there are ways to them."""

    def ways(n):
        texts = [f"m_{{{i}}} = m_{{{i + 1}}} / |a| + m_{{{i + 2}}}" for i in range(1, n)]
        text = "\n".join([*texts, f"m_{{{n}}} = 1 / |a|", f"m_{{{n + 1}}} = |a|", asks])
        first, second = 1 / 2, 2.0
        for _ in range(1, n):
            first, second = first / 2 + second, first
        result = []
        calls = calls_of(lambda: result.append(nt.evaluate(text, X=nt.tensor(*A))))
        assert result[0].array.tolist() == pytest.approx([1 + first, 2 + first])
        return calls

    ways(3)
    assert ways(18) < 3 * ways(9)


def test_searches_in_nested_functions_are_not_repeated():
    """A search copies each environment around a call once, although it is both the caller's and the parent's."""

    def count_calls(n):
        terms = [f"f_{i}(t) = f_{i - 1}(t) + ∑_{{a_{i}}} iota_{{a_{i}}}" for i in range(2, n + 1)]
        text = "\n".join(["f_1(t) = t + ∑_{a_1} iota_{a_1}", *terms, f"f_{n}(x)"])
        result = []
        calls = calls_of(lambda: result.append(nt.check(text, x="ℝ")))
        assert result[0].type == "ℝ"
        return calls

    count_calls(3)
    assert count_calls(16) < 6 * count_calls(8)


@pytest.mark.slow
def test_literals_that_ask_for_their_own_size_are_answered_in_time():
    with at_most(5):
        result = nt.evaluate("\n".join(f"Y_{i} = [3, 1]_{{a}} / |a|" for i in range(500)) + "\nY_1 + Y_499")
        assert result.array.tolist() == [3, 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("|b| = |a| / 2\niota_{b} + X", "ℝ^{b[|a|/2] × a}"),
        ("|a| = 2 |b|\niota_{b} + X", "ℝ^{b[|a|/2] × a}"),
        ("|a| = 6 / |b|\niota_{b} ⊙ X", "ℝ^{b[6/|a|] × a}"),
        ("|a| = 2 ⊙ |b|\niota_{b} + X", "ℝ^{b[|a|/2] × a}"),
        ("|b| ⋅ 3 = |a|\niota_{b} + X", "ℝ^{b[|a|/3] × a}"),
    ],
)
def test_quotients_of_sizes_that_are_not_known_are_written(text, expected):
    assert str(nt.check(text, X="ℝ^{a}").type) == expected


SETTLED = {
    "a multiple": ("X ∈ ℝ^{a × b}\n|b| = 2 |a|\nX ⊙_{a} [1, 2, 3]_{a}", "ℝ^{a[3] × b[6]}"),
    "a part": ("X ∈ ℝ^{a × b}\n|a| = 2 |b|\nX ⊙_{a} [1, 2, 3, 4]_{a}", "ℝ^{a[4] × b[2]}"),
    "two, one after another": (
        "|c| = 2 |b|\n|b| = 2 |a|\nX ∈ ℝ^{a × b × c}\nX ⊙_{a} [1, 2, 3]_{a}", "ℝ^{a[3] × b[6] × c[12]}",
    ),
    "of two known ones": (
        "X ∈ ℝ^{a × b × c}\n|a| = |b| + |c|\nX ⊙_{a} [1, 2, 3, 4, 5]_{a} ⊙_{b} [1, 2]_{b}", "ℝ^{a[5] × b[2] × c[3]}",
    ),
    "nothing known": ("X ∈ ℝ^{a × b}\n|b| = 2 |a|\n∑_{a} X", "ℝ^{a × b}"),
}  # fmt: skip


@pytest.mark.parametrize("case", SETTLED)
def test_a_size_that_another_says_is_known_once_that_one_is(case):
    """Where the declaration is read before what fixes the other size."""
    text, expected = SETTLED[case]
    assert nt.program(text).parameters() == {"X": expected}


def test_what_is_given_and_split_has_not_the_size_of_what_is_made_elsewhere():
    X = nt.tensor([0, 1, 2, 3], "a")
    result = nt.evaluate("Y = [1, 2, 3]_{b}\nX_{a→(b,c)}", X=X, sizes={"c": 2})
    assert result.to_array("b c").tolist() == [[0, 1], [2, 3]]
    assert nt.program("Y = [1, 2, 3]_{b}\nX ∈ ℝ^{b × c}\nX").parameters() == {"X": "ℝ^{b × c}"}


@pytest.mark.parametrize(
    ("text", "repair"), [("seq", "ℝ^{seq}"), ("seq, key", "ℝ^{seq × key}"), ("seq[3] key'", "ℝ^{seq[3] × key'}")]
)
def test_a_shape_that_is_only_names_has_its_repair(text, repair):
    with pytest.raises(nt.NotationError) as caught:
        nt.to_python("∑_{seq} X", X=text)
    assert caught.value.message == f"invalid shape {text!r} of X" and caught.value.hint == f"write {repair}"
