"""Outer broadcasts: a warning where axes may be misspelt, an error where that is asked for, and no cost where there is none."""

import asyncio
import os
import pickle
import subprocess
import sys
import threading
import warnings
from contextvars import copy_context

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.core.settings import is_one_letter_apart, is_strict, misspelt
from namedtensor.layers.layer import Layer

X = nt.tensor(np.ones((2, 3)), "seq chans")
B = nt.tensor(np.ones(2), "chan")
K = nt.tensor(np.ones(2), "keys")


@pytest.fixture(autouse=True)
def session():
    yield
    nt.strict(False)


# ------------------------------------------------------------------------------------------------------------ misspelt
PAIRS = [
    (["chans"], ["chan"], True), (["chan"], ["chans"], True), (["height"], ["hieght"], True), (["width"], ["widht"], True), (["hidden"], ["hiden"], True),
    (["heads"], ["heals"], True), (["seq", "chans"], ["other", "chan"], True), (["kernel"], ["eknrel"], False), (["seq"], ["seqs"], False), (["key"], ["keys"], False),
    (["chans"], ["chans'"], False), (["layer1"], ["layer2"], False), (["hidden_1"], ["hidden_2"], False), (["chans"], ["chans*"], False), (["height"], ["width"], False),
    (["batch"], ["bat"], False), (["rows"], ["cols"], False), (["abcd"], ["badc"], False), (["abcd"], ["dcba"], False), (["rows"], ["rowss"], True), (["length"], ["lenght"], True),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right", "expected"), PAIRS)
def test_axes_one_letter_apart_are_misspelt(left, right, expected):
    assert (misspelt(left, right) is not None) == (misspelt(right, left) is not None) == expected


def damerau_levenshtein(one, other):
    """The distance by its definition, of adjacent exchanges."""
    rows = {(i, 0): i for i in range(len(one) + 1)} | {(0, j): j for j in range(len(other) + 1)}
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            same = one[i - 1] == other[j - 1]
            rows[i, j] = min(rows[i - 1, j] + 1, rows[i, j - 1] + 1, rows[i - 1, j - 1] + (not same))
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                rows[i, j] = min(rows[i, j], rows[i - 2, j - 2] + 1)
    return rows[len(one), len(other)]


def test_one_letter_apart_is_the_distance_of_damerau_and_levenshtein():
    words = [
        "".join(letters)
        for size in range(6)
        for letters in zip(*[np.random.default_rng(size + k).choice([*"abc"], 40) for k in range(size)])
    ]
    for one in words[::3]:
        for other in words:
            assert is_one_letter_apart(one, other) == (damerau_levenshtein(one, other) == 1), (one, other)


TAKERS = {
    "evaluate": lambda: nt.evaluate("x + b", x=X, b=B),
    "evaluate, LaTeX": lambda: nt.evaluate(r"x \odot b", x=X, b=B),
    "formula": lambda: nt.formula("x − b")(x=X, b=B),
    "entry": lambda: nt.program("y = x b")["y"](x=X, b=B),
    "entries": lambda: nt.program("y = x + b")["y", "y"](x=X, b=B),
    "compiled": lambda: nt.formula("x / b").compile()(x=X, b=B),
    "function": lambda: nt.program("f(x) = x + b")["f"](X, b=B),
    "explain": lambda: nt.explain("x + b + 1", x=X, b=B),
    "+": lambda: X + B,
    "−": lambda: X - B,
    "·": lambda: X * B,
    "/": lambda: X / B,
}  # fmt: skip


@pytest.mark.parametrize("taker", TAKERS)
def test_a_misspelt_axis_is_warned_of(taker):
    with pytest.warns(nt.NotationWarning, match="outer product.* did you mean (chans or chan|chan or chans)") as caught:
        TAKERS[taker]()
    assert len(caught) == 1 and caught[0].filename == __file__


def test_a_place_is_warned_of_once():
    formula = nt.formula("x + 2 b")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(4):
            formula(x=X, b=B)
            X + B
    assert len(caught) == 2, [str(warning_message.message) for warning_message in caught]


def test_other_outer_broadcasts_are_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nt.evaluate("x ⊙ k", x=X, k=K)
        nt.evaluate("x ⊙ y", x=X, y=nt.tensor(np.ones(2), "chans'"))
        nt.evaluate("x + y", x=X, y=nt.tensor(np.ones(3), "chans"))
        X + K


UNRELATED = {  # formula of A over i, j and B over j: the sum that evaluating warns about, if any
    "A ⊙_{j} B + B": "+ broadcasts ℝ^{i[2]} against ℝ^{j[3]}",
    "∑_{j} A − B": "− broadcasts ℝ^{i[2]} against ℝ^{j[3]}",
    "f(A) + 1\nf(X) = ∑_{j} X − B": "− broadcasts ℝ^{i[2]} against ℝ^{j[3]}",
    "A + B": "", "∑_{j} A ⊙ B": "", "∑_{j} A ⊙ B + 1": "", "B − B_{j→j'}": "", "A − [A + B]_{i→k}": "",
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), UNRELATED.items())
def test_a_sum_of_unrelated_axes_is_warned_of_once(text, message):
    formula = nt.formula(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            formula(values={"A": nt.tensor(np.ones((2, 3)), "i j"), "B": nt.tensor(np.ones(3), "j")})
    assert [message in str(warning.message) for warning in caught] == [True] * bool(message)
    checked = nt.check(text, A="ℝ^{i × j}", B="ℝ^{j}")
    assert not message or [warning.code for warning in checked.warnings] == [314]


def test_a_function_s_own_axes_are_none_of_the_callers():
    text = "f : ℝ^{chan} → ℝ^{chan}\nf(y) = y + b\nf(x)"
    x, b = nt.tensor(np.ones((3, 2)), "chans chan"), nt.tensor(np.ones(2), "chan")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nt.evaluate(text, x=x, b=b)


# -------------------------------------------------------------------------------------------------------------- strict
FORMULA, COMPILED, PROGRAM = nt.formula("x + k"), nt.formula("x + k").compile(), nt.program("y = x + k")
LONG = nt.formula(
    "y = x + k\n"
    + "\n".join(f"y_{n} = y + {n}" for n in range(30))
    + "\n∑_{seq} ("
    + " + ".join(f"y_{n}" for n in range(30))
    + ")"
)


class Shifted(Layer):
    notation = "f : ℝ^{chans} → ℝ^{chans × keys}\nf(X) = X + b\nb ∈ ℝ^{keys}"
    output = "f"


LAYER = Shifted({"b": K})
OUTER = {
    "evaluate": lambda: nt.evaluate("x + k", x=X, k=K),
    "evaluate, a mapping": lambda: nt.evaluate("x + k", {"x": X, "k": K}),
    "evaluate, LaTeX": lambda: nt.evaluate(r"x \odot k", {"x": X, "k": K}),
    "evaluate, sizes": lambda: nt.evaluate("x + iota_{keys}", {"x": X}, sizes={"keys": 2}),
    "formula": lambda: FORMULA(x=X, k=K),
    "compiled": lambda: COMPILED(x=X, k=K),
    "entry": lambda: PROGRAM["y"](x=X, k=K),
    "entries": lambda: PROGRAM["y", "y"](x=X, k=K),
    "explain": lambda: nt.explain("x + k", x=X, k=K),
    "a claim": lambda: nt.evaluate("y = 1 + x\nx + k = k + x\ny", x=X, k=K),
    "another length": lambda: FORMULA(x=nt.tensor(np.ones((4, 3)), "seq chans"), k=K),
    "many steps": lambda: LONG(x=X, k=K),
    "a layer": lambda: LAYER(X),
    "check": lambda: nt.check("x + k", x="ℝ^{a}", k="ℝ^{b}").raise_first(),
    "+": lambda: X + K,
    "−": lambda: K - X,
    "·": lambda: X * K,
    "/": lambda: X / K,
    "a function": lambda: nt.evaluate("f(a) = a / k\nf(x)", x=X, k=K),
}  # fmt: skip


def refused(call):
    with pytest.raises(nt.NotationError) as caught:
        call()
    assert caught.value.code == 314 and "outer product" in caught.value.message
    return caught.value


@pytest.mark.parametrize("taker", OUTER)
@pytest.mark.parametrize("before", [0, 1, 3])
def test_a_block_refuses_outer_broadcasts_and_only_they_are(taker, before):
    call = OUTER[taker]
    for _ in range(before):
        call()
    with nt.strict():
        for _ in range(3):
            refused(call)
        with nt.strict(False):
            call()
        refused(call)
    for _ in range(3):
        call()


@pytest.mark.parametrize("taker", OUTER)
def test_a_session_refuses_them(taker):
    call = OUTER[taker]
    call()
    nt.strict()
    refused(call)
    thread_errors = []
    thread = threading.Thread(target=lambda: thread_errors.append(refused(call)))
    thread.start()
    thread.join()
    assert thread_errors
    nt.strict(False)
    call()


SAME = {
    "a scalar": "x + 1", "a part of the axes": "x ⊙ y", "a contraction": "x ⊙_{chans} y", "a condition": "𝕀[iota_{seq} ≤ iota_{chans}] ⊙ x",
    "a marked axis in a derivative": "∂(∑_{chans} y^2)/∂y",
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_strictness_refuses_nothing_else(name):
    values = {"x": X, "y": nt.tensor(np.ones(3), "chans")}
    with nt.strict():
        nt.evaluate(SAME[name], values)


def test_formulas_that_are_strict():
    for strict in (
        nt.program("y = x + k", strict=True)["y"], nt.formula("x + k", strict=True), nt.formula("x + k", strict=True).compile(),
        pickle.loads(pickle.dumps(nt.formula("x + k", strict=True))), nt.formula("x + k + 1", strict=True).replace_definitions(),
    ):  # fmt: skip
        for _ in range(2):
            refused(lambda: strict(x=X, k=K))  # noqa: B023
    refused(lambda: nt.evaluate("x + k", {"x": X, "k": K}, strict=True))
    refused(lambda: nt.evaluate(nt.formula("x + k", strict=True), x=X, k=K, limits=nt.Limits(max_steps=1000)))
    assert nt.formula("x + k", strict=True).strict and not nt.formula("x + k").strict
    FORMULA(x=X, k=K)


class Added(Layer):
    notation = "f : ℝ^{chans} → ℝ^{chans}\nf(X) = X + b ⊙ c\nb ∈ ℝ^{chans}\nc ∈ ℝ^{chans}"
    output = "f"


def test_layers_that_are_strict():
    refused(lambda: Shifted({"b": K}, strict=True))
    refused(lambda: Shifted.init(sizes={"keys": 2, "chans": 3}, strict=True)(X))
    y = nt.tensor(np.ones(3), "chans")
    layer = Added({"b": y, "c": y}, strict=True)
    for item in (
        layer,
        layer.replace({"b": y}),
        pickle.loads(pickle.dumps(layer)),
        Added.init(sizes={"chans": 3}, strict=True),
    ):
        assert item.formula.strict and {*item(X).axes} == {"seq", "chans"}
    LAYER(X)


def test_a_block_is_of_one_thread_and_one_task():
    FORMULA(x=X, k=K)
    entered, done, failures = threading.Barrier(2), threading.Event(), []

    def strictly():
        with nt.strict():
            entered.wait()
            done.wait(10)
            refused(lambda: FORMULA(x=X, k=K))

    def guard(function):
        try:
            function()
        except BaseException as problem:
            failures.append(problem)

    thread = threading.Thread(target=guard, args=(strictly,))
    thread.start()
    entered.wait()
    for _ in range(50):
        FORMULA(x=X, k=K)
    done.set()
    thread.join()
    assert not failures

    async def task(strict):
        if not strict:
            for _ in range(5):
                FORMULA(x=X, k=K)
                await asyncio.sleep(0)
            return
        with nt.strict():
            for _ in range(5):
                refused(lambda: FORMULA(x=X, k=K))
                await asyncio.sleep(0)

    async def both():
        await asyncio.gather(task(True), task(False), task(True))

    asyncio.run(both())
    with nt.strict():
        assert copy_context().run(is_strict)
    assert not is_strict()


def test_blocks_nest_and_end_with_errors():
    block = nt.strict()
    with block:
        with block:
            assert is_strict()
        assert is_strict()
    assert not is_strict()
    with pytest.raises(ValueError), nt.strict():
        raise ValueError
    assert not is_strict()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("value", "strict"), [("1", True), ("true", True), ("0", False), ("", False), ("no", False)])
def test_the_environment_says_so(value, strict):
    code = "import namedtensor as nt, numpy as np\nx, y = nt.tensor(np.ones(2), 'a'), nt.tensor(np.ones(2), 'b')\n"
    code += "for f in (lambda: x + y, lambda: nt.evaluate('x y', x=x, y=y)):\n    try: f(); print('ok')\n    except nt.NotationError as e: print(e.code)"
    completed = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NAMEDTENSOR_STRICT": value},
        capture_output=True,
        text=True,
        check=True,
    )
    assert completed.stdout.split() == ["314" if strict else "ok"] * 2


def test_what_has_no_outer_broadcast_runs_as_before():
    """Nothing is put around the function of a repeated call, or of an operator, whose axes are nested."""
    y = nt.tensor(np.ones(3), "chans")
    formula = nt.formula("x + y")
    for _ in range(3):
        formula(x=X, y=y)
    assert formula._last_used is None or formula._last_used.outer is None
    entry = nt.program("y_1 = x + y")["y_1"]
    for _ in range(3):
        entry(x=X, y=y)
    assert entry._last_used.outer is None


def test_a_formula_that_is_evaluated_strictly_or_within_other_limits():
    x = nt.tensor([1.0, 2.0], "a")
    limits = nt.Limits(max_steps=10)
    for formula in (nt.formula("∑_{a} x"), nt.program("Y = ∑_{a} x")):
        assert nt.evaluate(formula, x=x, strict=True) == nt.evaluate(formula, x=x, limits=limits) == 3
    refused(lambda: nt.evaluate(nt.formula("x + k"), x=X, k=K, strict=True))
    squared = nt.operator("squared", "->", functions=lambda x: x**2)
    result = nt.evaluate(nt.formula("squared(x)", operators=squared), x=x, strict=True)
    assert result.to_array("a").tolist() == [1, 4]
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(nt.formula("f : ℝ^{a} → ℝ\nf(x) = ∑_{a} x"), x=x, strict=True)
    assert caught.value.message == "strict and limits need a formula with a value, but this one ends with a function"
    assert caught.value.hint == "end it with a call of the function"
