"""Whatever the text, an answer or a refusal in good time: what is made is counted, and the count does not grow with the text."""

import re
from dataclasses import fields
from importlib import import_module

import numpy as np
import pytest
from timing import at_most

import namedtensor as nt
from benchmarks.growth import calls_of
from grammar.lengths import cells
from grammar.parser import parse
from namedtensor import reference
from namedtensor.cli.commands import main
from namedtensor.core.settings import Limits

X = nt.tensor([1.0, 2.0], "a")
SOON = 30  # seconds of the processor: many times what is needed


def refused(call, number=404):
    with at_most(SOON):
        with pytest.raises(nt.NotationError) as caught:
            call()
    assert caught.value.code == number
    return caught.value


def towers(body, height=40):
    """Functions each of which calls the one before as a body says."""
    lines = [f"f_{{{i}}}(t) = {body.replace('#', f'f_{{{i - 1}}}')}" for i in range(1, height + 1)]
    return "\n".join(["f_{0}(t) = t + 1", *lines, f"f_{{{height}}}(x)"])


# ------------------------------------------------------------------------------------------------------ calls that double
DOUBLING = {
    "a call of a call": towers("#(#(t))"),
    "two calls": towers("#(t) + #(2 t)"),
    "in cases": towers("{ #(t) if t > 1; #(2 t) otherwise }"),
    "in a literal": towers("∑_{b} [#(t), #(2 t)]_{b}"),
    "in a sum": towers("∑_{i=1}^{2} #(i t) + #(t)"),
    "with signatures": "g : ℝ^{a} → ℝ^{a}\n" + towers("#(#(t))"),
    "members": "h^0 = x\nh^k = h^{k-1} + 1 for k = 1, …, 50\n"
    "∑_{i=1}^{50} ∑_{j=1}^{50} ∑_{l=1}^{50} ∑_{m=1}^{50} h^i ⊙ h^j ⊙ h^l ⊙ h^m",
    "derivatives of derivatives": "y_{0} = sin(x ⊙ exp(x)) / (1 + x^2)\n"
    + "\n".join(f"y_{{{i}}} = ∂(∑_{{a}} y_{{{i - 1}}})/∂x" for i in range(1, 41)),
}
FEW = Limits(max_expanded_nodes=5000)
WAYS = {
    "evaluate": lambda text: nt.evaluate(text, x=X),
    "check": lambda text: nt.check(text, x="ℝ^{a[2]}").raise_first(),
    "explain": lambda text: nt.explain(text, x=X),
    "program": lambda text: nt.program(text)(x=X),
    "cost": lambda text: nt.formula(text).cost(x="ℝ^{a[2]}"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", DOUBLING)
def test_what_doubles_is_refused(name):
    error = refused(lambda: nt.evaluate(DOUBLING[name], x=X, limits=FEW))
    assert "nodes" in error.message and "limits.max_expanded_nodes" in error.hint
    assert error.span_text and len(error.span_text) < 120


@pytest.mark.parametrize(
    "last, expected", [("h^{90000}", lambda h: h[-1]), ("∑_{k=1}^{90000} h^k", lambda h: sum(h[1:]))]
)
def test_a_long_recurrence_is_a_loop_of_few_pieces(last, expected):
    steps = [np.array([1.0, 2.0])]
    for k in range(1, 90001):
        steps.append(np.sin(steps[-1]) + k / 90000)
    result = nt.evaluate(
        f"g^k(t) = sin(t) + k / 90000\nh^0 = x\nh^k = g^k(h^{{k-1}}) for k = 1, …, 90000\n{last}",
        x=nt.tensor(steps[0], "a"), limits=FEW,
    )  # fmt: skip
    np.testing.assert_allclose(result.array, expected(steps))


@pytest.mark.sampled(6)
@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_a_formula_refuses_it(way, monkeypatch):
    monkeypatch.setattr(import_module("namedtensor.checking.checker"), "DEFAULT", FEW)
    if way == "evaluate":
        monkeypatch.undo()  # as it is, at least once
    assert "f_" in refused(lambda: WAYS[way](DOUBLING["two calls"])).span_text


@pytest.mark.slow
def test_parameters_of_what_doubles_are_not_looked_for_without_end(monkeypatch):
    monkeypatch.setattr(import_module("namedtensor.checking.checker"), "DEFAULT", FEW)
    text = "x ∈ ℝ^{a[2]}\n" + DOUBLING["two calls"]
    refused(lambda: nt.program(text).init())


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["a call of a call", "two calls"])
def test_the_reference_evaluator_refuses_it(name):
    refused(lambda: reference.evaluate(DOUBLING[name], {"x": reference.tensor([1.0, 2.0], "a")}))


@pytest.mark.parametrize("height", [3, 5])
def test_an_option_raises_the_limit(height):
    text = towers("#(#(t))", height)
    refused(lambda: nt.evaluate(towers("#(#(t))", 9), x=X, limits=Limits(max_expanded_nodes=10)))
    assert nt.allclose(nt.evaluate(text, x=X, limits=Limits(max_expanded_nodes=10**4)), X + 2.0**height)


def test_what_grows_with_the_text_is_no_repetition():
    """The limit is beyond what is written: a long program passes the least of limits."""
    lines = "\n".join(f"y_{{{i}}} = x + {i}" for i in range(1000))
    assert nt.allclose(nt.evaluate(lines, x=X, limits=Limits(max_expanded_nodes=1)), X + 999.0)


def test_recurrences_downward_take_time_as_they_are_long():
    text = "h^{400} = x\nh^t = h^{t+1}/2 for t = 1, …, 399\nh^1"
    assert nt.allclose(nt.evaluate(text, x=X), X / 2.0**399)
    refused(lambda: nt.evaluate(text.replace("400", "100000").replace("399", "99999"), x=X))


def test_long_recurrences_have_no_depth_for_the_definitions():
    result = reference.evaluate("h^0 = 1\nh^t = h^{t-1}/2 + t for t = 1, …, 3000\nh^{3000}", {})
    assert result.to_list(()) == pytest.approx(5998)


RANGES = {  # with what is said of one step too many
    "a claim": ("X + n = X + n for n = 1, …, #\nX", "the range is too long"),
    "elements": ("|a| = #\nY_{a(i)} = i for i = 1, …, #\n∑_{a} Y ⊙ X", "the range is too long"),
    "a sum": ("∑_{n=1}^{#} n X", "the sum has 6 terms, which exceeds the limit"),
    "a recurrence": ("h^0 = X\nh^t = 2 h^{t-1} for t = 1, …, #\nh^{#}", "the recurrence has 6 steps; the limit is 5"),
}


@pytest.mark.parametrize("name", RANGES)
def test_a_range_is_as_long_as_the_limit_and_no_longer(name):
    text, message = RANGES[name]

    def ask(steps):
        return nt.evaluate(text.replace("#", str(steps)), X=nt.tensor([1.0, 2.0], "c"), limits=Limits(max_steps=5))

    assert ask(5).axes == ("c",)
    error = refused(lambda: ask(6))
    assert (error.message, error.hint) == (message, "raise limits.max_steps")


# ------------------------------------------------------------------------------------------------------- long literals
LITERALS = {
    "a row": "[" + "1, " * 10**5 + "1]_{a}",
    "rows": "[" + "1, 2; " * 10**5 + "1, 2]_{a, b}",
    "no numbers": "[" + "x, " * 10**5 + "x]_{a}",
    "brackets": "[" + "(1), " * 10**5 + "1]_{a}",
    "in a call": "softmax_{a}(x + [" + "1, " * 10**5 + "1]_{a})",
    "never closed": "[" + "1, " * 10**5,
    "a second line": "y = 3\n[" + "1,\n" * 10**5 + "1]_{a}",
    "LaTeX": r"\left[" + "1, " * 10**5 + r"1\right]_{\a}",
    "a matrix": r"\nmatrix{\a}{\b}{" + r"1 & 2 \\ " * 10**5 + "1 & 2}",
    "a matrix with a comment": r"\nmatrix{\a}{\b}{" + "% {\n" + r"1&\frac12\\" * 8 * 10**4 + "1 & 2}",
}


@pytest.mark.parametrize("name", LITERALS)
def test_a_long_literal_is_refused_before_it_is_read(name, monkeypatch):
    monkeypatch.setattr("grammar.parser.tokens_of", lambda *_: pytest.fail("the text was read"))
    error = refused(lambda: nt.evaluate(LITERALS[name], x=X))
    assert re.search(r"the tensor literal has [123]\d{5} elements; the limit is 100000", error.message)
    assert error.source[error.span[0]] in "[{"


@pytest.mark.parametrize(
    ("text", "syntax", "counts"),
    [
        ("[1, 2, 3]_{a} + [1]_{a}", "text", [3, 1]),
        ("[1, 2; 3, 4]_{a, b}", "text", [4]),
        ("[f(1, 2), g(3, 4)]_{a}", "text", [2]),
        ("[1, # one, two, [three\n 2]_{a}", "text", [2]),
        ("[X + Y]_{a→b, c→d}", "text", [1]),
        ("f(1, 2, 3) ) ] [1", "text", [1]),
        (r"\nmatrix{\a}{\b}{1 & 2 \\ 3 & 4}", "latex", [1, 1, 4]),
        (r"\nmatrix{\a}{}{1 & \frac{1}{2} & 3} % [1, 2", "latex", [1, 1, 1, 1, 3]),
        (r"\{ 1 \& 2 \} [1, 2]_{\a}", "latex", [2, 1]),
    ],
)
def test_cells_are_counted_between_their_own_brackets(text, syntax, counts):
    assert [count for count, _ in cells(text, syntax)] == counts


@pytest.mark.parametrize(
    "text", ["[1, 2, 3, 4]_{a}", r"\nmatrix{\a}{}{1 & 2 & 3 & 4}", r"\newcommand{\x}{1, 2} [\x, \x]_{\a}"]
)
def test_the_limit_of_literals_is_an_option(text):
    assert (
        "the tensor literal has 4 elements"
        in refused(lambda: nt.evaluate(text, limits=Limits(max_literal_elements=3))).message
    )
    assert nt.evaluate(text, limits=Limits(max_literal_elements=4)).sizes == {"a": 4}


def test_the_limit_of_literals_counts_no_other_commas():
    limits = Limits(max_literal_elements=2)
    x = nt.tensor([[3.0]], "a b")
    assert nt.evaluate("∑_{a, b} x + ∑_{a, b} x + ∑_{a, b} x", x=x, limits=limits) == 9
    result = nt.evaluate("[1, 2]_{a} + max(1, 2, 3)", limits=limits)
    assert result.to_array("a").tolist() == [4, 5]
    with pytest.raises(nt.NotationError, match="syntax error 102"):
        nt.evaluate("max(1, 2, 3, 4", limits=limits)
    assert refused(lambda: nt.evaluate("[1, 2, 3", limits=limits)).code == 404


def test_many_literals_are_refused_at_once_where_together_they_pass_the_limit():
    row = "[" + ", ".join(["1.5"] * 30_000) + "]_{a}"
    text = "\n".join(f"X_{i} = {row}" for i in range(10)) + "\n" + " + ".join(f"X_{i}" for i in range(10))
    with at_most(1):
        assert "the tensor literals have more than 100000 elements" in refused(lambda: nt.evaluate(text)).message


@pytest.mark.slow
def test_a_literal_at_the_limit_is_read_soon_and_one_beyond_is_refused_at_once():
    numbers = ("1.5, " * Limits().max_literal_elements).rstrip(", ")
    with at_most(20):  # about 3 s where nothing else runs
        assert nt.evaluate(f"∑_{{a}} [{numbers}]_{{a}}").item() == 150_000
    with at_most(1):
        assert "the tensor literal has 100001 elements" in refused(lambda: nt.evaluate(f"[{numbers}, 1]_{{a}}")).message


# ---------------------------------------------------------------------------------------------------------- long texts
def test_a_long_text_is_refused():
    text = "x + " * 3 * 10**6 + "x"
    assert refused(lambda: nt.evaluate(text, x=X)).message.endswith("the limit is 10000000")
    refused(lambda: nt.check(text, x="ℝ^{a[2]}").raise_first())
    refused(lambda: nt.program(text))
    refused(lambda: nt.evaluate("x + x", x=X, limits=Limits(max_source_chars=4)))
    assert nt.allclose(nt.evaluate("x + x", x=X, limits=Limits(max_source_chars=5)), X + X)


LONG = {
    "lines": lambda n: "\n".join(f"y_{{{i}}} = x + {i}" for i in range(n)),
    "functions": lambda n: "\n".join(f"f_{{{i}}}(t) = t + {i}" for i in range(n)) + "\nf_{0}(x)",
    "signatures": lambda n: "\n".join(f"f_{{{i}}} : ℝ → ℝ\nf_{{{i}}}(t) = t + {i}" for i in range(n)) + "\nf_{0}(x)",
    "declarations": lambda n: "\n".join(f"f_{{{i}}}(t) = t\nW_{{{i}}} ∈ ℝ" for i in range(n)) + "\nf_{0}(x)",
    "claims": lambda n: "\n".join(f"f_{{{i}}}(t) = t\nx + {i} = x + {i}" for i in range(n)) + "\nf_{0}(x)",
    "elements": lambda n: f"|b| = {n}\n" + "\n".join(f"Y_{{b({i})}} = {i}" for i in range(1, n + 1)) + "\nY",
}  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_statements_take_calls_as_they_are_many(name):
    """Four times as many: some four times as many calls, where asking each of all would be sixteen times."""

    def calls(count):
        text = LONG[name](count)
        return calls_of(lambda: nt.check(text, {"x": "ℝ^{a[2]}"}).raise_first())

    calls(50)  # what is made once
    assert calls(800) < 5 * calls(200)


@pytest.mark.sampled(6)
@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["a" * 10**5 + " + 1", "(" * 10**5, "x" + "'" * 10**5, "x" + ")" * 10**5, "(x)" * 10**4, "|x|" * 10**4, "\n" * 10**5,
     "# c\n" * 10**5, "1" * 10**5, r"\frac{" * 10**4, r"\left(" * 10**4, r"\begin{align}" * 10**4, "$x$ and " * 10**4,
     "".join(rf"\newcommand{{\a{'b' * i}}}{{\a{'b' * (i - 1)} + \a{'b' * (i - 1)}}}" for i in range(1, 60)) + r"\a" + "b" * 59],
    ids=lambda text: text[:8].strip() or "blank",
)  # fmt: skip
def test_long_and_deep_texts_get_an_answer(text):
    with at_most(SOON):
        try:
            parse(text)
        except nt.NotationError as problem:
            assert str(problem)


def test_the_command_raises_each_limit(capsys):
    for limit in [field.name for field in fields(Limits)]:
        assert main(["eval", "2 + 3", "--limit", f"{limit}=1000"]) == 0
    assert main(["eval", "2 + 3", "--limit", "max_source_chars=3"]) == 1
    assert "--limit max_source_chars=N" in capsys.readouterr().err
