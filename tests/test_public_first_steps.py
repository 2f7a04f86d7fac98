"""What is met first: numbers as Python has them, verbs of formulas, attributes, and errors that show the caller's line."""

from __future__ import annotations

import copy
import operator
import pickle
import traceback

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.cli.commands import main
from transformer import FFN, Attention

A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
x = nt.tensor([1.25, -2.5, 10.0], "seq")


# ------------------------------------------------------------------------------------------------- as Python has numbers
def in_library(library: str, data):
    if library == "numpy":
        return np.asarray(data)
    module = pytest.importorskip(library, reason=f"arrays of {library}")
    if library == "jax":
        return module.numpy.asarray(data)
    tensor = module.tensor(data)
    return tensor.requires_grad_() if tensor.is_floating_point() else tensor


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
@pytest.mark.filterwarnings("error")
def test_a_tensor_without_axes_is_a_number_wherever_python_asks_for_one(library):
    loss, count = nt.tensor(in_library(library, 2.375)), nt.tensor(in_library(library, 3))
    assert f"{loss:.2f}" == f"{2.375:.2f}" and f"{loss:>9.1e}" == f"{2.375:>9.1e}" and f"{loss}" == "2.375"
    assert float(loss) == 2.375 and int(loss) == 2 and bool(loss) and complex(loss) == 2.375 and loss.item() == 2.375
    assert [*range(count)] == [0, 1, 2] and "abc"[: operator.index(count)] == "abc" and "a" * int(count) == "aaa"
    assert loss.tolist() == 2.375 and count.tolist() == 3
    assert float(round(loss, 1)) == pytest.approx(2.4) and float(round(loss)) == 2.0 and round(loss).axes == ()


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_a_tensor_of_one_axis_is_gone_along_and_has_lists(library):
    tensor = nt.tensor(in_library(library, [1.25, -2.5, 10.0]), "seq")
    assert [float(value) for value in tensor] == [1.25, -2.5, 10.0] == tensor.tolist() and len(tensor) == 3
    assert all(isinstance(value, nt.NamedTensor) and value.axes == () for value in tensor)
    assert round(tensor, 1).tolist() == pytest.approx([1.2, -2.5, 10.0]) and round(tensor, -1).tolist() == [0, 0, 10]
    assert float(sum(tensor)) == 8.75 and float(max(tensor)) == 10 and tensor.to_numpy().tolist() == tensor.tolist()
    assert f"{tensor:.1f}".split() == f"{nt.tensor([1.25, -2.5, 10.0], 'seq'):.1f}".split()


@pytest.mark.parametrize(
    "values", [[25, 35, -15, 1234567], [2.5, 3.5, -0.125, 29.5, 1234.5678], [*range(-400, 400, 7)]]
)
@pytest.mark.parametrize("places", [None, -2, -1, 0, 1, 2])
def test_rounding_is_numpys(values, places):
    tensor = round(nt.tensor(values, "a"), places)
    np.testing.assert_allclose(tensor.array, np.round(np.asarray(values), places or 0))
    assert tensor.dtype == np.asarray(values).dtype


POSITIONS = {  # what asks for an order of axes, or for no axis
    "a length": lambda: len(A), "a loop": lambda: list(A), "lists": lambda: A.tolist(), "an array": lambda: A.to_numpy(),
    "unpacking": lambda: operator.methodcaller("__iter__")(A), "the first size": lambda: A.shape[0],
    "a loop of a number": lambda: list(nt.tensor(1)), "a length of a number": lambda: len(nt.tensor(1)),
    "an index of several": lambda: [1, 2][A], "an index of one axis": lambda: range(nt.tensor([2], "a")),
    "a float": lambda: float(x), "a truth value": lambda: bool(x), "numpy": lambda: np.asarray(A),
}  # fmt: skip


@pytest.mark.parametrize("run", POSITIONS.values(), ids=POSITIONS)
def test_no_order_of_axes_is_made_up(run):
    with pytest.raises(nt.NotationError) as raised:
        run()
    assert raised.value.code == 318


def test_an_order_that_is_said_is_taken():
    assert A.tolist("width height") == A.array.T.tolist() == A.to_numpy(("width", "height")).tolist()
    with pytest.raises(nt.NotationError, match='write tolist\\("height width"\\)'):
        A.tolist()
    assert not np.iterable(nt.tensor(1)) and not np.iterable(A) and np.iterable(x)
    with pytest.raises(KeyError):
        A.shape["widht"]


@pytest.mark.parametrize("value", [2.5, True, np.nan, np.inf, 2j])
def test_an_index_is_whole(value):
    with pytest.raises(nt.NotationError, match="402"):
        range(nt.tensor(value))
    assert [*range(nt.tensor(2.0))] == [0, 1]


def test_a_format_that_numbers_have_not_is_told():
    with pytest.raises(nt.NotationError, match="cannot format 3 as 'q'"):
        f"{A:q}"
    assert f"{A:03d}".count("00") == 6


def test_matplotlib_draws_one_axis():
    figure = pytest.importorskip("matplotlib.figure", reason="draws with matplotlib")
    axes = figure.Figure().subplots()
    assert axes.plot(x)[0].get_ydata().tolist() == x.tolist()
    assert axes.plot(x, x * 2)[0].get_ydata().tolist() == (x * 2).tolist()
    with pytest.raises(nt.NotationError, match="318"):
        axes.plot(A)


# ------------------------------------------------------------------------------------------------ verbs and their objects
TEXT = "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V"
LATEX = r"\left( \nfun{\seq}{softmax} \frac{Q \ndot{\key} K}{\sqrt{|\key|}} \right) \ndot{\seq} V"
FUNCTION = f"Att : ℝ^{{key}} × ℝ^{{seq × key}} × ℝ^{{seq × val}} → ℝ^{{val}}\nAtt(Q, K, V) = {TEXT}"
TYPES = {"Q": "ℝ^{key[2]}", "K": "ℝ^{seq[3] × key[2]}", "V": "ℝ^{seq[3] × val[4]}"}
random = np.random.default_rng(0)
GIVEN = {
    name: nt.tensor(random.normal(size=shape), axes)
    for name, axes, shape in (("Q", "key", 2), ("K", "seq key", (3, 2)), ("V", "seq val", (3, 4)))
}
OBJECTS = {
    "a formula": nt.formula(TEXT), "of LaTeX": nt.formula(LATEX, syntax="latex"), "a program": nt.program(f"Y = {TEXT}"),
    "a function": nt.formula(FUNCTION), "a name": nt.program(f"Y = {TEXT}\nZ = 2 Y")["Y"],
    "a function of a program": nt.program(f"{FUNCTION}\nZ = Att(Q, K, V) + 1")["Att"],
}  # fmt: skip


@pytest.fixture(params=["alone", "beside a Python function"])
def beside(request):
    """Programs are read anew where there are Python functions for formulas."""
    if request.param != "alone":
        nt.custom_function("twice' : ℝ → ℝ")(lambda x: 2 * x)


@pytest.mark.parametrize("name", OBJECTS)
def test_every_verb_is_a_method_and_means_what_the_function_says_of_the_text(name, beside):
    asked = OBJECTS[name]
    want = nt.evaluate(TEXT, GIVEN)
    assert nt.allclose(asked.evaluate(GIVEN), want) and nt.allclose(asked.evaluate(**GIVEN), want)
    assert nt.allclose(asked.compile()(**GIVEN), want)
    assert nt.allclose(asked.explain(**GIVEN).value, want)
    checked = asked.check(**TYPES)
    assert checked.ok
    assert checked.type == "ℝ^{val[4]}"
    assert asked.cost(**TYPES).multiply_adds == nt.formula(TEXT).cost(**TYPES).multiply_adds
    assert "def function(Q, K, V)" in asked.to_python(**TYPES)
    slope = asked.derivative("V")
    assert nt.allclose(slope(values=GIVEN), nt.derivative(TEXT, "V")(values=GIVEN))
    assert "softmax" in asked.to_text() and "softmax" in asked.to_latex() and asked.diagram(**TYPES).to_svg()
    assert asked.parameters(**TYPES) == {} == asked.init(**TYPES)


@pytest.mark.parametrize("name", [name for name in OBJECTS if "name" not in name and "of a" not in name])
def test_the_functions_take_formulas_and_programs(name):
    asked = OBJECTS[name]
    for _ in range(3):  # the second call and the third are repeated ones
        assert nt.allclose(nt.evaluate(asked, **GIVEN), nt.evaluate(TEXT, **GIVEN))
        assert nt.allclose(nt.evaluate(asked, GIVEN), nt.evaluate(TEXT, GIVEN))
    assert nt.allclose(nt.explain(asked, GIVEN).value, nt.explain(asked, **GIVEN)[-1].value)
    assert nt.check(asked, **TYPES).ok and not nt.check(asked, **{**TYPES, "V": "ℝ^{val}"}).ok
    assert nt.allclose(nt.derivative(asked, "Q")(values=GIVEN), nt.derivative(TEXT, "Q")(values=GIVEN))


def test_a_formula_that_is_evaluated_again_is_looked_up_as_its_text_is():
    from namedtensor.programs.evaluate import EVALUATORS, EXECUTABLES

    text = "∑_{seq} x + 0.123"
    nt.evaluate(text, x=x)
    before = len(EXECUTABLES)
    asked = nt.formula(text)
    for _ in range(2):
        assert nt.evaluate(asked, x=x) == nt.evaluate(text, x=x)
    assert len(EXECUTABLES) == before and text in EVALUATORS


def test_what_a_name_needs_is_all_that_its_verbs_ask_for():
    program = nt.program("f : ℝ^{a} → ℝ^{b}\nf(X) = X ⊙_{a} W\nW ∈ ℝ^{a × b}\nY = q V + prose\nV ∈ ℝ^{c}\nZ = 2 V")
    with pytest.raises(nt.NotationError, match="undefined name q"):
        program.parameters(sizes={"a": 2, "b": 3, "c": 4})
    assert program["f"].parameters(sizes={"a": 2, "b": 3}) == {"W": "ℝ^{a[2] × b[3]}"}
    assert program["Z"].parameters(sizes={"c": 4}) == {"V": "ℝ^{c[4]}"}
    assert {name: value.shape for name, value in program["f"].init(sizes={"a": 2, "b": 3}).items()} == {
        "W": {"a": 2, "b": 3}
    }
    assert program["f"].check().ok and not program["Y"].check().ok
    assert str(program["f"]) == "f : ℝ^{a} → ℝ^{b}\nf(X) = X ⊙_{a} W" and repr(program["Z"]) == "Z = 2 V"


# ---------------------------------------------------------------------------------------------------------- attributes
PROGRAM = nt.program(
    "γ, W_1 ∈ ℝ^{a}\nf(X) = γ X W_1\nh^0 = q\nh^t = h^{t-1} / 2 for t = 1, …, 3\nY = f(X) + ∑_i x_{a(i)}"
)


@pytest.mark.parametrize("name", ["γ", "gamma", "W_1", "f", "h_0", "Y", "q", "X"])
def test_a_name_that_the_program_speaks_of_is_an_attribute(name):
    assert hasattr(PROGRAM, name) and getattr(PROGRAM, name) is PROGRAM[name]


@pytest.mark.parametrize(
    "name", ["foo", "f2", "W_2", "W", "y", "i", "t", "softmax", "_x", "__wrapped__", "a b", "to_txt"]
)
def test_no_other_name_is_one(name):
    assert not hasattr(PROGRAM, name)
    with pytest.raises(AttributeError):
        getattr(PROGRAM, name)


NEAR = [
    (PROGRAM, "chekc", "this Program has no attribute 'chekc'; did you mean check"),
    (nt.formula("x"), "to_txt", "this Formula has no attribute 'to_txt'; did you mean to_text"),
    (nt.program("SelfAtt(X) = X"), "SelfAt", "did you mean SelfAtt"),
    (nt, "sofmax", "module 'namedtensor' has no attribute 'sofmax'; did you mean softmax"),
    (nt, "evalute", "did you mean evaluate"),
]


@pytest.mark.parametrize(("of", "name", "text"), NEAR, ids=lambda item: item if isinstance(item, str) else "")
def test_an_unknown_attribute_has_the_nearest_names(of, name, text):
    with pytest.raises(AttributeError) as raised:
        getattr(of, name)
    assert text in str(raised.value)


@pytest.mark.parametrize(
    "asked",
    [PROGRAM, nt.formula("x + 1"), PROGRAM["f"], nt.formula("x").compile()],
    ids=["program", "formula", "a name of it", "compiled"],
)
def test_programs_and_their_names_are_copied_and_pickled(asked):
    for other in (copy.copy(asked), copy.deepcopy(asked), pickle.loads(pickle.dumps(asked))):
        assert type(other) is type(asked)
        if isinstance(asked, nt.Program):
            assert other == asked and hash(other) == hash(asked) and other.names == asked.names
    assert "f" in dir(PROGRAM) and "check" in dir(PROGRAM)


# --------------------------------------------------------------------------------------------------- what init asks for
@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("f(x) = x ⊙_{a} W", "W"), ("f(x) = x ⊙_{a} W\nW ∈ ℝ^{a × b}", "W"), ("f(x) = g(x)\ng(y) = y w\nw ∈ ℝ^{a}", "w"),
        ("f(x) = k + x\nk = x b\nb ∈ ℝ^{a}", "b"),
    ],
)  # fmt: skip
def test_init_says_what_it_cannot_know(text, asked):
    for run in (nt.formula(text).init, nt.formula(text).parameters):
        with pytest.raises(nt.NotationError, match=f"so the shape of {asked} is unknown") as raised:
            run()
        assert raised.value.code == 206 and "has no signature" in raised.value.message and "ℝ^{" in raised.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "f(x) = x^2", "f(x) = ∑_i x_{a(i)} √π e^ε", "f(x; w) = x w", "f(x) = 2 g(x)\ng(y) = y + |a| - ∞",
        "f_{ax}(x) = x - mean_{ax} x", "f^l(x) = l x", "f(x) = k x\nk = 3", "h^t(x) = t x\nf(x) = h^2(x)",
    ],
)  # fmt: skip
def test_init_of_what_has_no_parameters_is_empty(text):
    assert nt.formula(text).init() == {} == nt.formula(text).parameters()


def test_init_with_the_shapes_is_as_before():
    result = nt.formula("f(x) = x ⊙_{a} W\nW ∈ ℝ^{a × b}").init(x="ℝ^{a[3]}", sizes={"b": 2})
    assert result["W"].sizes == {"a": 3, "b": 2}
    assert Attention.init().parameters == {}


# ----------------------------------------------------------------------------------------------------------- small things
def test_lists_are_joined_as_arguments_are():
    y = nt.tensor([0.5, 1.5, 2.5], "seq")
    for several in ([x, y], (x, y)):
        assert nt.allclose(nt.stack(several, axis="new"), nt.stack(x, y, axis="new"))
        assert nt.allclose(nt.concat(several, axis="seq"), nt.concat(x, y, axis="seq"))


def test_an_argument_is_told_by_its_name():
    layer = FFN.init(sizes={"chans": 3, "hidden": 2})
    for run in (lambda: layer(np.ones((2, 3))), lambda: layer.explain(np.ones((2, 3)))):
        with pytest.raises(nt.NotationError, match="X must be a named tensor, got an array of 2 axes without names"):
            run()
    with pytest.raises(nt.NotationError, match=r'FFN.init has no chans\n.*sizes=\{"chans": 4, "hidden": 2\}'):
        FFN.init(chans=4, hidden=2)


SLIPS = {
    "a softmax of no axis": lambda: A.softmax(), "an axis misspelt": lambda: A.mean(axis="heigth"),
    "sizes that differ": lambda: A + nt.tensor([1, 2], "width"), "from the left": lambda: [1] + A,
    "two tensors": lambda: nt.dot(A, x, axis="width"), "several": lambda: nt.stack([A, x], axis="width"),
    "a function of numbers": lambda: nt.exp("a"), "renamed": lambda: A.rename(x="y"), "merged": lambda: A.merge(z="x y"),
    "split": lambda: A.split(x={"a": 1}), "indexed": lambda: A[{"x": 0}], "options": lambda: A.norm(axis="x", p=1),
    "evaluated": lambda: nt.evaluate("A ⊙_{widht} A", A=A),
}  # fmt: skip


@pytest.mark.parametrize("run", SLIPS.values(), ids=SLIPS)
def test_an_error_shows_the_callers_line_and_one_of_ours(run, monkeypatch):
    monkeypatch.delenv("NAMEDTENSOR_TRACEBACK", raising=False)
    with pytest.raises(nt.NotationError) as raised:
        run()
    assert len(traceback.extract_tb(raised.value.__traceback__)) == 3  # this test, the slip, and the function


def test_the_command_line_has_digits_and_nearest_commands(capsys):
    assert main(["eval", "1/3", "--digits", "9"]) == 0 and capsys.readouterr().out == "0.333333333\n"
    assert main(["explain", "x / 3", "x=[1]:a", "--digits", "2"]) == 0 and " 0.33\n" in capsys.readouterr().out
    assert main(["eval", "1/3"]) == 0 and capsys.readouterr().out == "0.333333\n"
    assert main(["eval", "1/3", "--digits", "0"]) == 2 and "from 1 to 17" in capsys.readouterr().err
    assert main(["evl", "1"]) == 2 and "there is no command evl; did you mean eval?" in capsys.readouterr().err
