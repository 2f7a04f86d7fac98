"""What is given by its name and nothing uses is an error with the nearest names; a mapping may hold more."""

import pytest

import namedtensor as nt
import transformer
from namedtensor import cli, reference

X = nt.tensor([1.0, 2.0, 4.0], "a")
TEXT = "f(x) = scale x\nY = f(X) / |a|\nH = f(Y) W^{1,Q}"
GIVEN = {"X": X, "scale": 2, "W^{1,Q}": 3}

# each takes the inputs by keyword, sizes, and a mapping
WAYS = {
    "evaluate": lambda named, sizes, more: nt.evaluate(TEXT, more, sizes=sizes, **named),
    "explain": lambda named, sizes, more: nt.explain(TEXT, more, sizes=sizes, **named),
    "check": lambda named, sizes, more: nt.check(TEXT, more, sizes=sizes, **named).raise_first(),
    "a formula": lambda named, sizes, more: nt.formula(TEXT)(values=more, sizes=sizes, **named),
    "a program": lambda named, sizes, more: nt.program(TEXT)(values=more, sizes=sizes, **named),
    "an entry": lambda named, sizes, more: nt.program(TEXT)["Y"](values=more, sizes=sizes, **named),
    "a function": lambda named, sizes, more: nt.program(TEXT)["f"](X, values=more, sizes=sizes, **named),
    "entries": lambda named, sizes, more: nt.program(TEXT)["Y", "H"](values=more, sizes=sizes, **named),
    "explain an entry": lambda named, sizes, more: nt.program(TEXT)["Y"].explain(values=more, sizes=sizes, **named),
    "compiled": lambda named, sizes, more: nt.formula(TEXT).compile()(values=more, sizes=sizes, **named),
    "cost": lambda named, sizes, more: nt.formula(TEXT).cost(more, sizes=sizes, **named),
    "to_python": lambda named, sizes, more: nt.formula(TEXT).to_python("numpy", more, sizes=sizes, **named),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_a_program_uses_may_be_given_in_any_way(way):
    WAYS[way](GIVEN, None, {})
    WAYS[way]({}, None, GIVEN)
    WAYS[way](GIVEN, {"a": 3}, {})


@pytest.mark.sampled(3)
@pytest.mark.parametrize("way", WAYS)
def test_an_input_by_keyword_that_nothing_uses_is_an_error(way):
    for _ in range(2):  # what an earlier call planned does not hide it
        WAYS[way](GIVEN, None, {"B": X})
        with pytest.raises(nt.NotationError) as caught:
            WAYS[way]({**GIVEN, "B": X.rename(a="b")}, None, {})
        assert (caught.value.code, caught.value.kind) == (201, "name")
        assert "unexpected input B" in caught.value.message


def test_an_input_may_be_named_values():
    assert float(nt.evaluate("values + x", {"x": 1}, values=2)) == 3
    assert float(nt.evaluate(nt.formula("values + x"), x=1, values=2)) == 3


@pytest.mark.parametrize("way", WAYS)
def test_a_size_that_nothing_has_is_an_error(way):
    with pytest.raises(nt.NotationError) as caught:
        WAYS[way](GIVEN, {"foo": 3}, {})
    assert (caught.value.code, caught.value.kind) == (204, "name")
    assert "foo" in caught.value.message


@pytest.mark.parametrize("way", ["evaluate", "a formula", "an entry", "compiled"])
def test_a_mapping_that_was_planned_for_does_not_let_a_keyword_pass(way):
    call = {
        "evaluate": lambda **given: nt.evaluate(TEXT, **given),
        "a formula": nt.formula(TEXT),
        "an entry": nt.program(TEXT)["Y"],
        "compiled": nt.formula(TEXT).compile(),
    }[way]
    named = {**GIVEN, "B": X.rename(a="b")}
    for _ in range(3):
        if way == "evaluate":
            nt.evaluate(TEXT, named)
        else:
            call(values=named)
        with pytest.raises(nt.NotationError):
            call(**named)
        call(**GIVEN)


# what is given, and what was meant
SLIPS = {
    "∑_{batch_size} Xs": ({"batch_sise": 3, "Xs": 1}, None, "batch_size"),
    "∑_{a} weights": ({"weight": X}, None, "weights"),
    "X / |a|": ({"X": X, "size": 3}, None, "sizes"),
    "standardize_{a} X": ({"X": X, "eps": 1.0}, None, "ε"),
    "∑_{chans} iota_{chans}": ({}, {"chan": 3}, "chans"),
    "∑_{i=1}^{layers} i": ({}, {"layer": 3}, "layers"),
    "W^{1,Q} X": ({"X": X, "W^{1,K}": X}, None, "W^{1,Q}"),
}


@pytest.mark.parametrize("text", SLIPS)
def test_the_nearest_names_are_told(text):
    named, sizes, meant = SLIPS[text]
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, sizes=sizes, **named)
    assert caught.value.kind == "name" and meant in (caught.value.hint or "") + " ".join(caught.value.notes)


# what is used, though the formula does not say it by that very name
USED = {
    "a member of a family": ("S = ∑_{l=1}^{2} W^l\nW^l ∈ ℝ for l = 1, …, 2\nS", {"W^1": 1, "W^2": 2}, None),
    "a name in another spelling": ("γ X", {"gamma": 2, "X": X}, None),
    "an input whose size is asked for": ("|a|", {"X": X}, None),
    "an input whose axis is filled": ("D_{a(i)} = i", {"X": X}, None),
    "ε of standardize": ("standardize_{a} X", {"X": X, "ε": 1.0}, None),
    "a parameter of a function": ("f(X; w) = X w\nf(X)", {"X": X, "w": 2}, None),
    "a number as a size": ("∑_{i=1}^{n} i", {}, {"n": 3}),
    "the size of an axis of an input": ("2 X", {"X": X}, {"a": 3}),
    "a size that an index is bounded by": ("X_{a(n)}", {"X": X}, {"n": 3}),
}


@pytest.mark.parametrize("case", USED)
def test_what_is_used_is_no_slip(case):
    text, named, sizes = USED[case]
    assert nt.evaluate(text, sizes=sizes, **named) is not None


@pytest.mark.parametrize("text, number", [("softmax(X)", 316), ("X ⊙_{b} X", 301), ("X + missing", 201)])
def test_a_formula_that_is_wrong_says_so_before_it_says_what_it_does_not_use(text, number):
    for way in (nt.evaluate, nt.explain, lambda text, **named: nt.check(text, **named).raise_first()):
        with pytest.raises(nt.NotationError) as caught:
            way(text, X=X, Kappa=X)
        assert caught.value.code == number and "Kappa" not in caught.value.message


def test_check_tells_both():
    assert [error.message[:9] for error in nt.check("softmax(X)", X=X, Kappa=X).errors] == ["softmax e", "unexpecte"]


def test_parameters_init_and_diagrams_refuse_them_too():
    program = nt.program("W ∈ ℝ^{chans × out}\nY = X ⊙_{chans} W")
    for call in (program.parameters, program.init):
        with pytest.raises(nt.NotationError) as caught:
            call(sizes={"chans": 4, "out": 2, "foo": 3}, X="ℝ^{chans}")
        assert caught.value.code == 204
        with pytest.raises(nt.NotationError) as caught:
            call(sizes={"chans": 4, "out": 2}, X="ℝ^{chans}", B="ℝ^{chans}")
        assert caught.value.code == 201
    with pytest.raises(nt.NotationError):
        program.diagram(B="ℝ^{chans}")


def test_a_layer_refuses_them():
    with pytest.raises(nt.NotationError) as caught:
        transformer.FFN.init(sizes={"chans": 4, "hidden": 8, "foo": 3})
    assert caught.value.code == 204
    layer = transformer.FFN.init(sizes={"chans": 4, "hidden": 8})
    X = nt.tensor([1.0, 2.0, 3.0, 4.0], "chans")
    layer(X)
    with pytest.raises(nt.NotationError) as caught:
        layer(X, mask=X)
    assert caught.value.code == 201


def test_the_command_line_refuses_them(capsys):
    assert cli.main(["eval", "∑_{a} X", "X=[1,2]:a"]) == 0
    for words in (["B=3"], ["--sizes", "foo=3"]):
        assert cli.main(["eval", "∑_{a} X", "X=[1,2]:a", *words]) == 1
        assert cli.main(["explain", "∑_{a} X", "X=[1,2]:a", *words]) == 1
    assert cli.main(["eval", "f(x) = 2 x", "p=[1,2]:a", "--call", "f", "p"]) == 0
    assert cli.main(["explain", "--cost", "∑_{a} X", "X=ℝ^{a[3]}", "B=ℝ^{a[3]}"]) == 1
    assert cli.main(["check", "∑_{a} X", "X=ℝ^{a[3]}", "B=ℝ^{a[3]}"]) == 1
    capsys.readouterr()


# ---------------------------------------------------------------------------------------------------------------- ε
SMALL = {
    "a number that is given": ("standardize_{a} X", {"ε": 2.0}, 2.0),
    "a tensor that is given": ("standardize_{a} X", {"ε": nt.tensor(2.0)}, 2.0),
    "the program's": ("ε = 2\nstandardize_{a} X", {}, 2.0),
    "one that is computed": ("ε = ∑_{a} X / 7\nstandardize_{a} X", {}, 1.0),
    "that of a function's parameter": ("f(t, ε) = standardize_{a} t\nf(X, 3)", {}, 3.0),
    "in a function": ("f_{ax}(t) = standardize_{ax} t\nf_{a}(X)", {"ε": 2.0}, 2.0),
    "one after the semicolon goes before": ("standardize_{a}(X; 4)", {"ε": 2.0}, 4.0),
    "none": ("standardize_{a} X", {}, 1e-5),
}


@pytest.mark.parametrize("case", SMALL)
def test_a_given_small_number_reaches_standardize(case):
    text, named, small = SMALL[case]
    expected = nt.evaluate("(X - mean_{a} X) / √(var_{a} X + s)", X=X, s=small).array.tolist()
    assert nt.evaluate(text, X=X, **named).array.tolist() == pytest.approx(expected)
    theirs = {
        name: reference.tensor(value.item() if hasattr(value, "item") else value) for name, value in named.items()
    }
    result = reference.evaluate(text, {"X": reference.tensor([1.0, 2.0, 4.0], "a"), **theirs})
    assert result.to_list("a") == pytest.approx(expected)


def test_an_epsilon_with_axes_is_mapped_over():
    result = nt.evaluate("standardize_{a} X", X=X, ε=nt.tensor([1.0, 2.0], "s"))
    for index, small in enumerate((1.0, 2.0)):
        assert nt.allclose(result[{"s": index}], nt.evaluate("standardize_{a} X", X=X, ε=small))


def test_the_text_of_the_error_tells_what_there_is_and_what_was_meant():
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate("∑_{a} weights + Y", weight=X, Y=X)
    assert str(caught.value).split("\n") == [
        "name error 201: unexpected input weight: the formula does not use it",
        "  it uses weights, Y",
        "  hint: did you mean weights?",
    ]


@pytest.mark.parametrize("text", ["W^{1,Q} ⊙_{a} X", "W_Q ⊙_{a} X"])
def test_the_base_of_a_labeled_name_that_is_given_is_unused(text):
    with pytest.raises(nt.NotationError, match="unexpected input W: the formula does not use it"):
        nt.evaluate(text, {text.split(" ")[0]: X}, X=X, W=X)


@pytest.mark.parametrize(
    ("text", "expected"), [("|x|", [1.0, 2.0]), ("|x|^2", [1.0, 4.0]), (r"\left|x\right|", [1.0, 2.0])]
)
def test_a_name_that_stands_between_bars_alone_is_used(text, expected):
    x = nt.tensor([1.0, -2.0], "a")
    assert (
        nt.evaluate(text, x=x).to_array("a").tolist() == nt.evaluate(text, {"x": x}).to_array("a").tolist() == expected
    )
    assert float(nt.evaluate("|x|", x=-3)) == 3


def test_a_name_of_many_labels_is_a_name():
    """Each label of a name may stand for itself or for any number, and no list of all that these make is needed."""
    name = "x_{" + ",".join(f"a{n}" for n in range(60)) + "}"
    X, Y = nt.tensor([1.0, 2.0], "a"), nt.tensor([3.0, 4.0], "a")
    assert nt.evaluate(f"{name} + Y", {name: X, "Y": Y}).to_array("a").tolist() == [4.0, 6.0]
    with pytest.raises(nt.NotationError, match="name error 201"):
        nt.evaluate(f"{name} + Y", Y=Y)


@pytest.mark.parametrize("name", ["x̂", "ŷ", "x̄", "θ̂'", "β̂_1", "v⃗", "Ŵ^{x̂}"])
def test_a_name_with_an_accent_is_given_as_the_text_spells_it(name):
    assert float(nt.evaluate(f"{name} + 1", {name: 2})) == 3
    assert float(nt.evaluate(nt.to_latex(name), {name: 2})) == 2


def test_an_axis_with_an_accent_is_named_as_the_text_spells_it():
    assert float(nt.evaluate("∑_{x̂} X", X=nt.tensor([1.0, 2.0], "x̂"))) == 3


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("β1", "a Greek letter is a name by itself: write β_1"),
        ("xβ", "a Greek letter is a name by itself: write x_β"),
        ("logπ", "a Greek letter is a name by itself"),
        ("αβγ", "a Greek letter is a name by itself"),
        ("x y", "a space separates names: write x_y"),
        ("2x", "use the text syntax: W^Q, b_1, X', γ"),
    ],
)
def test_a_name_that_no_text_can_spell_is_refused(name, hint):
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate("x", {"x": 1, name: 2})
    assert (caught.value.code, caught.value.message, caught.value.hint) == (208, f"invalid name {name!r}", hint)
