"""The value of a program, in each way to ask for it: its last bare expression, or else the last unused definition."""

import re
import warnings
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import namedtensor as nt
from namedtensor import reference

X = np.array([[1.0, 2.0], [3.0, 6.0]])
GIVEN = {"X": nt.tensor(X, "seq chans"), "x": 2.0, "L": 2}
AXES = ("seq", "seq'", "chans", "k", "x*")
CENTRED = X - X.mean(1, keepdims=True)

# Each in one order of its statements; the value does not depend on the order where one statement is used by no other.
ONE_VALUE = {
    "Y = X - m\nm = mean_{chans} X": CENTRED,
    "m = mean_{chans} X\nX - m": CENTRED,
    "Y = m ⊙ s\nm = ∑_{chans} X\ns = ∑_{seq} m": X.sum(1) * X.sum(),
    "Y = x^n\nn = 3": 8.0,
    "Y = 𝔼_{b ∼ Bernoulli(q)}[x b]\nq = 1 / 4": 0.5,
    "Y = Z|_{t = x}\nZ = t^2\nt = 3": 4.0,
    "Y = standardize_{chans} X\nε = 0 x": CENTRED / X.std(1, keepdims=True),
    "Y = x + c\n|chans| = 2\nc = 3\nX ∈ ℝ^{seq × chans}": 5.0,
    "Y = f(x)\nf(t) = t + c\nc = 3": 5.0,
    "Y = ∑_{i=1}^{n} i\nn = 4": 10.0,
    "Y = X_{seq(k)}\nk = 2": X[1],
    "h^t = x h^{t-1} for t = 1, …, 3\nh^0 = 1": 8.0,
    "Y = h^3 + 1\nh^t = x h^{t-1} for t = 1, …, 3\nh^0 = 1": 9.0,
    "Y = h^L\nh^t = x h^{t-1} for t = 1, …, 3\nh^0 = 1": 4.0,
    "h^t = x h^{t-1} for t = 1, …, n\nh^0 = 1\nn = |seq|\nX ∈ ℝ^{seq × chans}": 4.0,
    "Y = f(x)\nf(b) = s^2\ns^0 = b\ns^t = s^{t-1} + 1 for t = 1, …, 2": 4.0,
    "Y = X - m\nm = mean_{chans} X\n∑_{chans} (X - m) = 0": CENTRED,
    "Y_{seq(i), chans(j)} = X_{seq(i), chans(j)} + c\nc = 1": X + 1,
    "Y = x + n\nn = |seq|\nX ∈ ℝ^{seq × chans}": 4.0,
    "Y = |m|\nm = -x": 2.0,
    "Y = { a if x > 1; b otherwise }\na = 5\nb = 6": 5.0,
    "Y = 𝕀[x > c]\nc = 1": 1.0,
    "Y = [a, 1]_{k}\na = 5": np.array([5.0, 1.0]),
    "Y = ∑_{t=1}^{2} w_t\nw_1 = 3\nw_2 = 4": 7.0,
    "Y = ∑_{t=1}^{2} w^{2 t}\nw^2 = 3\nw^4 = 4": 7.0,
    "Y^t = w_t + 1 for t = 1, …, 2\nw_1 = 3\nw_2 = 4": 5.0,
    "Y = f^2(x)\nf^l(b) = b w^l\nw^1 = 3\nw^2 = 4": 8.0,
    "Y = f(x)\nf(b) = ∑_{t=1}^{2} w_t\nw_1 = b\nw_2 = 2 b": 6.0,
    "Y = ∑_{t ∈ {1, 3}} w_t\nw_1 = 3\nw_3 = 4": 7.0,
    "Y = ∑_{t ∈ {0, -1}} w^t\nw^0 = 3\nw^{-1} = 4": 7.0,
    "Y = max_{t ∈ {1, 2}} w^{2 t}\nw^2 = 3\nw^4 = 4": 4.0,
    "Y = ∏_{t ∈ {Q, K}} w^t\nw^Q = 3\nw^K = 4": 12.0,
    "Y = ∑_{t ∈ {1, n}} t w_t\nn = 3\nw_1 = 3\nw_3 = 4": 15.0,
    "Y = ∑_{t ∈ {1, 3}} f_t(x)\nf_1(b) = b\nf_3(b) = 5 b": 12.0,
    "Y = f(x)\nf(b) = ∑_{t ∈ {1, 3}} w_t\nw_1 = b\nw_3 = 2 b": 6.0,
}
SEVERAL = {  # if nothing uses several statements, the last bare expression, or else the last definition
    "Y = X\nZ = x": 2.0,
    "Z = x\nY = X": X,
    "x + 1\nY = 5": 3.0,
    "x + 1\nY = 5\nx + 4": 6.0,
    "Y + x\nY = 5\nZ = 6": 7.0,
    "x + 1\nh^t = 2 h^{t-1} for t = 1, …, 2\nh^0 = x": 3.0,
    "x + 1\nY_{k(i)} = i for i = 1, …, 2": 3.0,
    "x + 1\nY = 5\nf(t) = 2 t": 3.0,
    "Y = 5\nx + 1": 3.0,
    "h^t = 2 h^{t-1} for t = 1, …, 2\nh^0 = x\nY = 5": 5.0,
    "Y = 5\nh^t = 2 h^{t-1} for t = 1, …, 2\nh^0 = x": 8.0,
    "Y = x + 1\nn = |seq|\nX ∈ ℝ^{seq × chans}": 3.0,
    "Y = a\na = x\nW^a = 7": 7.0,
    "Z = W^Q x\nW^Q = 3\nQ = 4": 4.0,  # Q is a label there
}
CLAIMS = {  # of claims alone, the left side of the first
    "X_{seq(1), chans(2)} = 2": 2.0,
    "X_{seq(1), chans(2)} = X_{chans(2), seq(1)} = 2": 2.0,
    "X_{seq(1)} = [1, 2]_{chans}\n2 x = 4": X[0],
    "2 x = 4\nX_{seq(1)} = [1, 2]_{chans}": 4.0,
    "mean_{chans} X = [1.5, 4.5]_{seq}": X.mean(1),
    "softmax_{chans} X = exp X / ∑_{chans} exp X": np.exp(X) / np.exp(X).sum(1, keepdims=True),
    "[X ⊙ X]_{seq(i)} = X_{seq(i)} ⊙ X_{seq(i)}": X**2,
    "X_{seq(i), chans(1)} X_{seq(j), chans(2)} = X_{seq(j), chans(2)} X_{seq(i), chans(1)}": np.outer(X[:, 0], X[:, 1]),
    "mean_{chans} X ⊙ X_{seq(i), chans(1)} = X_{seq(i), chans(1)} ⊙ mean_{chans} X": np.outer(X.mean(1), X[:, 0]),
}
ALL = ONE_VALUE | SEVERAL | CLAIMS
pytestmark = pytest.mark.filterwarnings("ignore:the value is")


def used(text):
    """What is given of it: no more than the program speaks of."""
    return {name: value for name, value in GIVEN.items() if re.search(rf"(?<![^\W_]){name}(?![^\W_])", text)}


def plain(value):
    axes = [axis for axis in AXES if axis in getattr(value, "axes", ())]
    return value.to_array(" ".join(axes)) if axes else float(value)


def ways(text):
    inputs = used(text)
    yield nt.evaluate(text, inputs)
    formula = nt.formula(text)
    yield formula(**inputs)
    yield formula(**inputs)  # what is kept of the first call
    yield nt.formula(formula.to_text())(**inputs)
    yield nt.formula(formula.to_latex(), syntax="latex")(**inputs)
    yield formula.explain(**inputs)[-1].value if inputs else nt.evaluate(text)
    if all(hasattr(value, "axes") for value in inputs.values()) and inputs:
        yield formula.compile()(**inputs)


@pytest.mark.parametrize("text", ALL)
def test_every_way_gives_the_value(text):
    for way in ways(text):
        np.testing.assert_allclose(plain(way), ALL[text])


@pytest.mark.parametrize("text", ALL)
def test_the_reference_gives_it(text):
    tensors = {
        name: reference.tensor(X.tolist(), "seq chans") if name == "X" else value for name, value in used(text).items()
    }
    result = reference.evaluate(text, tensors)
    axes = " ".join(axis for axis in AXES if axis in result.shape)
    np.testing.assert_allclose(result.to_list(axes), ALL[text])


@pytest.mark.parametrize("text", ALL)
def test_check_gives_its_type(text):
    shapes = {name: value if hasattr(value, "axes") else "ℝ" for name, value in used(text).items() if name != "L"}
    checked = nt.check(text, sizes={"L": 2} if "L" in text else None, **shapes)
    assert checked.ok and set(checked.shape) == set(getattr(nt.evaluate(text, used(text)), "axes", ()))


@pytest.mark.parametrize("text", ONE_VALUE)
def test_the_order_of_statements_means_nothing(text):
    for lines in permutations(text.split("\n")):
        np.testing.assert_allclose(plain(nt.evaluate("\n".join(lines), used(text))), ONE_VALUE[text])


@pytest.mark.parametrize("text", [text for text in ALL if used(text).keys() == {"X"}])
def test_what_is_compiled_exported_and_costed_is_the_value(text):
    source = nt.formula(text).to_python(X=GIVEN["X"])
    space = {}
    exec(source, space)
    array = np.asarray(space["function"](X))
    assert sorted(array.ravel()) == pytest.approx(sorted(np.ravel(ALL[text])))
    assert nt.formula(text).cost(X=GIVEN["X"]).bytes >= 0
    nt.formula(text).diagram(X=GIVEN["X"])


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.randoms())
def test_a_chain_of_definitions_in_any_order_has_the_value_of_its_end(steps, random):
    lines = [f"a_{n} = {'a_' + str(n - 1) if n else 'x'} + {step}" for n, step in enumerate(steps)]
    random.shuffle(lines)
    assert float(nt.evaluate("\n".join(lines), x=1.0)) == 1 + sum(steps)
    assert reference.evaluate("\n".join(lines), {"x": 1}).entries[()] == 1 + sum(steps)


PASSED_OVER = {
    "x + 1\nY = 5": ("x + 1", "Y"),
    "Y = 5\nx + 1\nZ = Y": ("x + 1", "Z"),
    "x + 1\nh^t = 2 h^{t-1} for t = 1, …, 2\nh^0 = x": ("x + 1", "h^2"),
    "x + 1\nY_{k(i)} = i for i = 1, …, 2": ("x + 1", "Y"),
}


@pytest.mark.parametrize("text", PASSED_OVER)
def test_a_warning_names_the_value_and_the_unused_definition_after_it(text):
    value, name = PASSED_OVER[text]
    with pytest.warns(UserWarning, match=re.escape(f"the value is {value}; {name} is defined after it and not used")):
        nt.formula(f"{text}\n# a new text, for each text warns once")(x=2.0)
    checked = nt.check(text, x="ℝ")
    assert [warning.code for warning in checked.warnings] == [211] and name in checked.warnings[0].hint
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, x=2.0, strict=True)
    assert caught.value.code == 211 and text[slice(*caught.value.span)].startswith(name[0])
    np.testing.assert_allclose(plain(nt.evaluate(f"{text}\n{name}", x=2.0)), plain(nt.program(text)[name](x=2.0)))


@pytest.mark.parametrize(
    "text", ["Y = 5\nx + 1", "x + n\nn = 3", "x + n\nn = |seq|\nX ∈ ℝ^{seq × chans}", "f(x)\nf(t) = t c\nc = 3"]
)
def test_no_warning_if_each_later_definition_is_used_or_a_size(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nt.evaluate(text, used(text))


def test_a_bare_expression_is_no_value_of_a_document(tmp_path):
    file = tmp_path / "notes.md"
    lines = (
        r"$$x \in \mathbb{R}^{\mathsf{a}}$$",
        "$$Y = x + 1$$",
        "as in",
        "$$x + Y$$",
        "and",
        "$$Z = 2 Y$$",
        "so that",
        "$$Z + 1$$",
    )
    file.write_text("# Notes\n" + "\n".join(lines))
    assert nt.load_program(file)(x=nt.tensor([2.0], "a")).to_array().tolist() == [6.0]
    assert not nt.check_document(file.read_text(), file.name).warnings


FUNCTIONS = {
    "f(t) = 2 t": 4.0,
    "f(t) = c t\nc = 3": 6.0,
    "c = 3\nf(t) = c t\ng(t) = f(t) + c": 9.0,
    "f(t) = n t\nn = |seq|\nX ∈ ℝ^{seq × chans}": 4.0,
    "f(t) = s^2\ns^0 = t\ns^k = s^{k-1} + d for k = 1, …, 2\nd = 1": 4.0,
}


@pytest.mark.parametrize("text", FUNCTIONS)
def test_functions_are_values_where_there_is_nothing_else(text):
    more = {"X": GIVEN["X"]} if "X" in text else {}
    assert float(nt.formula(text)(2.0, **more)) == FUNCTIONS[text]
    assert float(nt.formula(text).compile()(nt.tensor(2.0), **more)) == FUNCTIONS[text]
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, more)
    assert caught.value.code == 105


@pytest.mark.parametrize(
    "text", ["a = b\nb = a", "a = a + 1", "a = b\nb = c\nc = a", "h^t = g^t for t = 1, …, 2\ng^t = h^t for t = 1, …, 2"]
)
def test_what_needs_itself_has_no_value(text):
    for evaluate in (nt.evaluate, lambda text: reference.evaluate(text, {})):
        with pytest.raises(nt.NotationError) as caught:
            evaluate(text)
        assert caught.value.code == 203


DERIVATIVES = {
    "Y = u^2 + m\nu = 3 x\nm = x": 37.0,
    "h^t = x h^{t-1} for t = 1, …, 3\nh^0 = 1": 12.0,
    "h^0 = 1\nh^t = x h^{t-1} for t = 1, …, n\nn = 2": 4.0,
    "f(x) = c x^2\nc = 5": 20.0,
}


@pytest.mark.parametrize("text", DERIVATIVES)
def test_a_derivative_is_of_the_value(text):
    slope = nt.derivative(text, "x")
    assert float(slope(2.0) if text.startswith("f") else slope(x=2.0)) == DERIVATIVES[text]


def test_the_prompt_answers_what_was_asked():
    from namedtensor.cli.console import Console
    from namedtensor.cli.repl import Prompt

    session = Prompt(Console(), {})
    session.enter("h^t = h^{t-1} + a for t = 1, …, 2")
    session.enter("h^0 = 1")
    assert session.enter("a = 3").strip() == "3"
    assert session.enter("h^2").strip() == "7"
    session.enter("A = [1, 2]_{k}")
    assert session.enter("A_{k(2)} = 2") == "this holds"
    with pytest.raises(nt.NotationError, match="assertion failed"):
        session.enter("A_{k(2)} = 3")
    with pytest.raises(nt.NotationError, match="assertion failed"):
        session.enter("max_{k} A = 3")
    assert session.enter("max_{k} A").strip() == "2"


# --------------------------------------------------------------------------------------------------- whole numbers
POWER = "h^t = x h^{t-1} for t = 1, …, n\nh^0 = 1"
NUMBERS = {
    "the end of a range": (POWER, "n", lambda n: 2.0**n),
    "a member": ("Y = h^n\nh^t = x h^{t-1} for t = 1, …, 9\nh^0 = 1", "n", lambda n: 2.0**n),
    "a function's index": (
        "Y = f^n(x)\nf^l(t) = s^l\ns^0 = 0\ns^k = s^{k-1} + t for k = 1, …, l",
        "n",
        lambda n: 2.0 * n,
    ),
    "the end of a sum": ("∑_{i=1}^{n} (i + x)", "n", lambda n: n * (n + 1) / 2 + 2 * n),
    "a size": ("x ⊙ ∑_{k} iota_{k}\n|k| = n", "n", lambda n: n * (n + 1.0)),
}


def kinds():
    yield from (int, np.int64, np.int8, np.uint8, np.array, nt.tensor)
    for name, make in (("torch", "tensor"), ("jax.numpy", "asarray")):
        try:
            yield getattr(__import__(name, fromlist=[make]), make)
        except ImportError:
            pass


@pytest.mark.parametrize("case", NUMBERS)
@pytest.mark.parametrize("make", kinds())
def test_a_whole_number_is_one_however_it_comes(case, make):
    text, name, expected = NUMBERS[case]
    formula, compiled = nt.formula(text), nt.formula(text).compile()
    for n in (3, 2, 2, 2, 4):  # what is kept of one number serves no other
        inputs = {"x": 2.0, name: make(n)}
        for result in (nt.evaluate(text, inputs), nt.evaluate(text, **inputs), formula(**inputs), compiled(**inputs)):
            assert float(result) == expected(n)


CLAIMS_OF_FUNCTIONS = [
    ("f(X) = 2 X\nf(3) = 6", 6),
    ("f(3) = 6\nf(X) = 2 X", 6),
    ("f(X) = 2 X\ng(X) = X + X\nf(4) = g(4)\nf(1) = 2", 8),
    ("f(X) = 2 X\n3 = 3", 3),
    ("f(X) = 2 X\nf(3) = 7", None),
    ("f(X) = 2 X\nf(3) = 6\nf(1) = 1", None),
]


@pytest.mark.parametrize("text, expected", CLAIMS_OF_FUNCTIONS)
def test_functions_and_claims_check_the_claims(text, expected):
    for evaluate in (nt.evaluate, reference.evaluate):
        if expected is None:
            with pytest.raises(nt.NotationError, match="403"):
                evaluate(text)
        else:
            result = evaluate(text)
            assert float(result.item() if evaluate is nt.evaluate else result.to_list(())) == expected


def test_functions_and_claims_are_called_as_functions():
    assert nt.formula("f(X) = 2 X\nf(3) = 6")(5.0).item() == 10
