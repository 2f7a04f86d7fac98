"""The steps of a formula: which, in which order, whose, of which type, with which value."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.display.steps import LONGEST

RANDOM = np.random.default_rng(0)


def normal(axes, *extent):
    return nt.tensor(RANDOM.normal(size=extent), axes)


def steps(explanation):
    return [(" > ".join(step.inside), step.text, step.type) for step in explanation]


BLOCK = nt.program(
    """
    Block : ℝ^{seq × chans} → ℝ^{seq × chans}
    Block(X) = T + FFN(T)
    T = X + Att(X, X)
    Att : ℝ^{chans} × ℝ^{seq × chans} → ℝ^{chans}
    Att(Q, K) = softmax_{seq}(Q ⊙_{chans} K) ⊙_{seq} K
    FFN(X) = relu(X ⊙_{chans} W) ⊙_{hidden} W
    W ∈ ℝ^{chans × hidden}
    """
)
X = normal("seq chans", 3, 2)
W = normal("chans hidden", 2, 4)


# ------------------------------------------------------------------------------------------------- which, and whose
def test_each_step_says_whose_definition_it_stands_in():
    explanation = BLOCK["Block"].explain(X, W=W)
    assert [(inside, text) for inside, text, _ in steps(explanation)] == [
        ("Block > T", "X"),
        ("Block > T > Att", "Q"),
        ("Block > T > Att", "K"),
        ("Block > T > Att", "Q ⊙_{chans} K"),
        ("Block > T > Att", "softmax_{seq}(Q ⊙_{chans} K)"),
        ("Block > T > Att", "softmax_{seq}(Q ⊙_{chans} K) ⊙_{seq} K"),
        ("Block > T", "Att(X, X)"),
        ("Block > T", "X + Att(X, X)"),
        ("Block", "T"),
        ("Block > FFN", "X"),
        ("Block > FFN", "W"),
        ("Block > FFN", "X ⊙_{chans} W"),
        ("Block > FFN", "relu(X ⊙_{chans} W)"),
        ("Block > FFN", "relu(X ⊙_{chans} W) ⊙_{hidden} W"),
        ("Block", "FFN(T)"),
        ("Block", "T + FFN(T)"),
    ]


def test_lifted_axes_have_plain_names_and_two_of_one_name_a_prime():
    """Q brings a seq of its own beside that of the keys: it is seq' in all of the body, and seq again outside."""
    types = {(inside, text): type for inside, text, type in steps(BLOCK["Block"].explain(X, W=W))}
    inside = "Block > T > Att"
    assert types[inside, "Q"] == "ℝ^{seq'[3] × chans[2]}"
    assert types[inside, "K"] == "ℝ^{seq[3] × chans[2]}"
    assert types[inside, "Q ⊙_{chans} K"] == "ℝ^{seq'[3] × seq[3]}"
    assert types["Block > T", "Att(X, X)"] == "ℝ^{seq[3] × chans[2]}"
    assert not any("@" in type for type in types.values())


def test_the_values_are_those_of_numpy():
    x, w = X.to_array("seq chans"), W.to_array("chans hidden")
    scores = x @ x.T
    weights = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    middle = x + weights @ x
    hidden = np.maximum(middle @ w, 0)
    want = {
        "Q ⊙_{chans} K": (scores, "seq' seq"),
        "softmax_{seq}(Q ⊙_{chans} K)": (weights, "seq' seq"),
        "Att(X, X)": (weights @ x, "seq chans"),
        "T": (middle, "seq chans"),
        "relu(X ⊙_{chans} W)": (hidden, "seq hidden"),
        "T + FFN(T)": (middle + hidden @ w.T, "seq chans"),
    }
    values = {step.text: step.value for step in BLOCK["Block"].explain(X, W=W)}
    for text, (array, axes) in want.items():
        np.testing.assert_allclose(values[text].to_array(axes), array, rtol=1e-12)


@pytest.mark.parametrize("extra", ["", "batch"])
def test_the_last_step_is_what_the_call_gives(extra):
    tensor = normal("batch seq chans", 2, 3, 2) if extra else X
    explanation = BLOCK["Block"].explain(tensor, W=W)
    assert nt.allclose(explanation.value, BLOCK["Block"](tensor, W=W), rtol=0, atol=0)
    assert nt.allclose(explanation[-1].value, explanation.value, rtol=1e-12)


# ------------------------------------------------------------------------------------------------------- families
FAMILY = nt.program(
    """
    X^l = f^l(X^{l-1}) for l = 1, …, L
    f^l(x) = W^l ⊙_{a} x_{a→a} + l
    W^l ∈ ℝ^{a × b}
    Y = X^L
    """.replace("_{a→a}", "")
    .replace("ℝ^{a × b}", "ℝ^{a}")
    .replace("⊙_{a}", "⊙")
)
VALUES = {"X^0": nt.tensor([1.0, 2.0], "a"), "W^1": nt.tensor([1.0, 1.0], "a"), "W^2": nt.tensor([2.0, 3.0], "a")}


def test_members_of_a_family_are_named_by_their_index():
    explanation = FAMILY["Y"].explain(values=VALUES, sizes={"L": 2})
    assert list(dict.fromkeys(step.inside for step in explanation)) == [
        ("X^1",),
        ("X^1", "f^1"),
        ("X^2",),
        ("X^2", "f^2"),
        ("Y",),
    ]
    last = explanation.inside("f^2")[-1]
    assert last.text == "W^l ⊙ x + l"
    assert last.value.to_array().tolist() == [6.0, 11.0]


@pytest.mark.parametrize(
    ("name", "inside"),
    [("f^2", {("X^2", "f^2")}), ("f^l", {("X^1", "f^1"), ("X^2", "f^2")}), ("f", {("X^1", "f^1"), ("X^2", "f^2")}),
     ("X^1", {("X^1",), ("X^1", "f^1")}), ("Y", {("Y",)})],
)  # fmt: skip
def test_inside_picks_the_steps_of_a_name(name, inside):
    explanation = FAMILY["Y"].explain(values=VALUES, sizes={"L": 2}).inside(name)
    assert {step.inside for step in explanation} == inside


def test_inside_an_unknown_name_says_which_was_meant():
    with pytest.raises(nt.NotationError) as caught:
        BLOCK["Block"].explain(X, W=W).inside("FNF")
    assert (caught.value.code, caught.value.hint) == (201, "did you mean FFN?")


# ---------------------------------------------------------------------------------------------------------- how it looks
def test_names_of_definitions_stand_above_their_steps():
    lines = str(FAMILY["Y"].explain(values=VALUES, sizes={"L": 2})).splitlines()
    heads = [line for line in lines if re.fullmatch(r" *\w+(\^\d)?", line) and not line.strip().isdigit()]
    assert heads == ["X^1", "  f^1", "X^2", "  f^2", "Y"]
    assert "    2. W^l : ℝ^{a[2]}" in lines


def test_many_steps_are_shown_as_an_overview():
    count = 30
    values = {"X^0": VALUES["X^0"], **{f"W^{l}": VALUES["W^1"] for l in range(1, count + 1)}}
    explanation = FAMILY["Y"].explain(values=values, sizes={"L": count})
    assert len(explanation) > LONGEST
    lines = str(explanation).splitlines()
    assert lines[0].startswith(f"{len(explanation)} steps")
    assert [re.split("  +", line.strip())[0] for line in lines[1:]] == [
        f"X^1, …, X^{count}", f"f^1, …, f^{count}", "Y",
    ]  # fmt: skip
    assert sum(int(re.split("  +", line.strip())[1]) for line in lines[1:]) == len(explanation)
    assert "<table" in explanation._repr_html_() and "NamedTensor(" not in explanation._repr_html_()


class Balanced(HTMLParser):
    """Raises where tags do not close in order."""

    def __init__(self):
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in ("br", "img", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_html():
    for explanation in (
        BLOCK["Block"].explain(X, W=W),
        nt.explain("2 x", x=X),
        FAMILY["Y"].explain(values=VALUES, sizes={"L": 2}),
    ):
        page = Balanced()
        page.feed(explanation._repr_html_())
        assert page.open == []


def test_an_axis_has_the_color_that_it_has_in_the_formulas():
    explanation = BLOCK["Block"].explain(X, W=W)
    pages = [BLOCK.to_html(), explanation._repr_html_(), explanation.inside("FFN")._repr_html_()]
    for axis in ("seq", "chans", "hidden"):
        colors = [set(re.findall(rf'class="nt-axis (nt-\d)">{axis}<', page)) for page in pages]
        assert colors[0] and all(color <= colors[0] for color in colors) and len(colors[0]) == 1


# ----------------------------------------------------------------------------------------------------------- its bounds
def test_claims_are_no_steps():
    explanation = nt.explain("Y = 2 x = x + x", x=X)
    assert [step.text for step in explanation] == ["x", "2 x"]


def test_a_false_claim_is_an_error_here_too():
    with pytest.raises(nt.NotationError) as caught:
        nt.explain("Y = 2 x = 3 x", x=X)
    assert caught.value.code == 403


def test_errors_are_those_of_the_call():
    for call in (BLOCK["Block"], BLOCK["Block"].explain):
        with pytest.raises(nt.NotationError) as caught:
            call(X)
        assert caught.value.code == 206


def test_elements_and_sums_show_their_indices():
    explanation = nt.explain("Y ∈ ℝ^{seq}\nY_{seq(i)} = ∑_{j=1}^{i} x_{seq(j)}", x=nt.tensor([1.0, 2.0, 3.0], "seq"))
    assert {step.text for step in explanation} >= {"i", "x", "x_{seq(j)}", "∑_{j=1}^{i} x_{seq(j)}"}
    assert explanation.value.to_array().tolist() == [1, 3, 6]
    assert not any("@" in step.type for step in explanation)


def test_a_program_explains_its_value_and_its_last_function():
    assert [step.text for step in nt.formula("2 x + 1").explain(x=X)] == ["x", "2 x", "2 x + 1"]
    assert nt.formula("f(x) = 2 x").explain(X)[-1].inside == ("f",)
    assert [step.text for step in nt.program("Y = 2 x").explain(x=X)] == ["x", "2 x"]


def test_a_shadowed_function_is_a_tensor():
    assert nt.explain("2 max", max=X)[0].text == "max"


# ------------------------------------------------------------------------------------------------------------- layers
def test_a_layer_is_walked_step_by_step():
    from transformer import FFN

    layer = FFN.init(sizes={"chans": 2, "hidden": 3})
    explanation = layer.explain(X)
    assert {step.inside for step in explanation} == {("FFN",)}
    assert nt.allclose(explanation.value, layer(X))
    assert [step.text for step in explanation][:2] == ["X", "W_1"]


def test_a_model_is_walked_definition_by_definition():
    from transformer import GPT2

    sizes = {"L": 3, "chans": 4, "heads": 2, "key": 2, "val": 2, "hidden": 8, "vocab": 10, "place": 6}
    model, ids = GPT2.init(sizes=sizes), nt.tensor([[3, 1, 4]], "batch seq")
    explanation = model.explain(ids)
    assert nt.allclose(explanation.value, model(ids))
    assert len(explanation) > LONGEST and "FFN^1, FFN^2, FFN^3" in str(explanation)
    for name in ("A^2", "T^3"):
        assert nt.allclose(explanation.inside(name)[-1].value, model.evaluate(name, ids))
    assert all("FFN^2" in step.inside for step in explanation.inside("FFN^2"))
    masked = model.explain(ids, mask=nt.tensor([[1, 1, 0]], "batch seq"))
    assert nt.allclose(masked.value, model(ids, mask=nt.tensor([[1, 1, 0]], "batch seq")))


def test_a_layer_shows_its_sizes_in_the_legend():
    from transformer import FFN

    page = FFN.init(sizes={"chans": 2, "hidden": 3}).highlight()._repr_html_()
    assert ">chans</span> = 2<" in page and ">hidden</span> = 3<" in page


def test_the_command_explains_a_call_and_the_steps_of_a_name(capsys):
    from namedtensor.cli.commands import main

    words = ["explain", "f(x) = 2 x\ng(x) = f(x) + 1", "--call", "g", "3"]
    assert main(words) == 0
    assert "  f\n    2. x : ℝ" in capsys.readouterr().out
    assert main([*words, "--inside", "f", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["steps"]
    assert [(step["text"], step["inside"], step["value"]["data"]) for step in result] == [
        ("x", ["g", "f"], 3), ("2 x", ["g", "f"], 6),
    ]  # fmt: skip


def test_steps_without_a_tensor_are_numbers():
    assert [step.value.to_array().tolist() for step in nt.explain("1 + 1/2")] == [0.5, 1.5]
