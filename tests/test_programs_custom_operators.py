"""Operators of one's own: values, lifting, derivatives, closed forms, source text, spellings, and what a wrong one gets."""

import functools
import pickle
from importlib.util import find_spec

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.operators.user_functions import USER_FUNCTIONS

RANDOM = np.random.default_rng(3)
Z = nt.tensor(RANDOM.normal(size=(4, 3)), "seq a")
W = nt.tensor(RANDOM.normal(size=3), "a")


def numpy_softmax(x):
    exponentials = np.exp(x - x.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def torch_softmax(x):
    import torch

    return torch.softmax(x, -1)


def jax_softmax(x):
    import jax

    return jax.nn.softmax(x, -1)


def numpy_square(x):
    return x * x


def numpy_outer_sum(x, y):
    return (x * y).sum(-1)


def matrix_vector(a, x):
    return (a * x[..., None, :]).sum(-1)


SOFT = nt.operator(
    "soft", "ax -> ax",
    functions={"numpy": numpy_softmax, "torch": torch_softmax, "jax": jax_softmax},
    differential="soft_{ax} X ⊙ (∂X − soft_{ax} X ⊙_{ax} ∂X)", latex=r"\soft",
)  # fmt: skip
SQUARE = nt.operator("squared", "->", functions=numpy_square, differential="2 X ⊙ ∂X")
INNER = nt.operator("inner", "ax, ax ->", functions=numpy_outer_sum, differential=("∂X ⊙_{ax} Y", "X ⊙_{ax} ∂Y"))
APPLY = nt.operator(
    "mv", "row column, column -> row", functions=matrix_vector,
    differential=("∂X ⊙_{column} Y", "X ⊙_{column} ∂Y"),
)  # fmt: skip
SWISH = nt.operator("swish", "->", definition="X σ(X)", latex=r"\swish")
CENTER = nt.operator("center", "ax -> ax", definition="X − mean_{ax} X")
OPERATORS = [SOFT, SQUARE, INNER, APPLY, SWISH, CENTER]
M = nt.tensor(RANDOM.normal(size=(2, 3)), "r a")
B = nt.tensor(RANDOM.normal(size=(5, 3, 4)), "b a seq")

SAME = [  # a formula with operators of one's own, one with built-in operators, and the inputs
    ("soft_{a} Z", "softmax_{a} Z", {"Z": Z}),
    ("soft_{seq} Z", "softmax_{seq} Z", {"Z": Z}),
    ("soft_{a} Z ⊙_{a} W", "softmax_{a} Z ⊙_{a} W", {"Z": Z, "W": W}),
    ("soft_{a} soft_{seq} Z", "softmax_{a} softmax_{seq} Z", {"Z": Z}),
    ("soft_{a} B", "softmax_{a} B", {"B": B}),
    ("squared(Z) + 1", "Z^2 + 1", {"Z": Z}),
    ("squared(x)", "x^2", {"x": 3.0}),
    ("inner_{a}(Z, W)", "Z ⊙_{a} W", {"Z": Z, "W": W}),
    ("inner_{a}(W, B)", "W ⊙_{a} B", {"W": W, "B": B}),
    ("inner_{a}(Z, B)", "Z ⊙_{a} B", {"Z": Z, "B": B}),
    ("inner_{seq}(B, Z)", "B ⊙_{seq} Z", {"Z": Z, "B": B}),
    ("mv_{r, a}(M, W)", "M ⊙_{a} W", {"M": M, "W": W}),
    ("mv_{r, a}(M, B)", "M ⊙_{a} B", {"M": M, "B": B}),
    ("swish(Z)", "Z ⊙ σ(Z)", {"Z": Z}),
    ("swish Z + 1", "Z ⊙ σ(Z) + 1", {"Z": Z}),
    ("center_{a} Z", "Z − mean_{a} Z", {"Z": Z}),
    ("center_{a, seq} Z", "Z − mean_{a, seq} Z", {"Z": Z}),
    ("f : ℝ^{a} → ℝ^{a}\nf(x) = soft_{a} x ⊙ x\nY = f(Z)", "softmax_{a} Z ⊙ Z", {"Z": Z}),
]
names = [row[0] for row in SAME]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text, plain, inputs", SAME, ids=names)
def test_values_and_lifting_are_those_of_built_in_operators(text, plain, inputs):
    formula = nt.formula(text, operators=OPERATORS)
    for _ in range(2):  # the first call, and a repeated one
        assert nt.allclose(formula(**inputs), nt.evaluate(plain, inputs))
    if "\n" not in text:
        assert formula.check(**inputs).shape == nt.check(plain, inputs).shape


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text, plain, inputs", SAME, ids=names)
def test_derivatives_and_gradients(text, plain, inputs):
    formula, builtin = nt.formula(text, operators=OPERATORS), nt.formula(plain)
    for name in inputs:
        assert nt.allclose(formula.derivative(name)(**inputs), builtin.derivative(name)(**inputs))
        axes = ", ".join(builtin(**inputs).axes)
        if axes and "\n" not in text:
            of_total = nt.formula(f"L = ∑_{{{axes}}} ({text})^2", operators=OPERATORS).gradient(name)(**inputs)
            assert nt.allclose(
                of_total[name], nt.formula(f"L = ∑_{{{axes}}} ({plain})^2").gradient(name)(**inputs)[name]
            )


CLOSED = [
    ("soft_{a} Z", "Z", {"Z": "ℝ^{seq × a}"}),
    ("soft_{a} Z ⊙_{a} W", "Z", {"Z": "ℝ^{seq × a}", "W": "ℝ^{a}"}),
    ("∑_{seq} squared(Z)", "Z", {"Z": "ℝ^{seq × a}"}),
    ("inner_{a}(Z, W)", "W", {"Z": "ℝ^{seq × a}", "W": "ℝ^{a}"}),
    ("swish(Z)", "Z", {"Z": "ℝ^{seq × a}"}),
    ("center_{a} Z", "Z", {"Z": "ℝ^{seq × a}"}),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text, by, shapes", CLOSED, ids=[row[0] for row in CLOSED])
def test_closed_forms(text, by, shapes):
    derivative = nt.formula(text, operators=OPERATORS).derivative(by)
    closed = derivative.closed_form(**shapes)
    inputs = {name: {"Z": Z, "W": W}[name] for name in shapes}
    assert nt.allclose(closed(values=inputs), derivative(**inputs))
    assert "∂" not in str(closed).splitlines()[-1]


def test_second_derivatives():
    second = nt.formula("squared(squared(x))", operators=OPERATORS).derivative("x").derivative("x")
    assert float(second(x=1.5)) == pytest.approx(12 * 1.5**2)


def test_an_array_that_a_function_takes_is_not_overwritten_afterwards():
    """Not the result, which may be its second argument, nor what it stores."""
    stored = []
    second = nt.operator("second", "ax, ax -> ax", functions=lambda x, y: stored.append(y) or y)
    result = nt.formula("second_{a}(Z, exp Z) + √(exp Z)", operators=[second])(Z=Z)
    power = np.exp(Z.to_array("seq a"))
    assert np.allclose(result.to_array("seq a"), power + np.sqrt(power)) and np.allclose(stored[0], power)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text, plain, inputs", SAME, ids=names)
def test_source_text_runs_by_itself(text, plain, inputs):
    shapes = {name: str(getattr(value, "shape", "ℝ")) for name, value in inputs.items()}
    source = nt.formula(text, operators=OPERATORS).to_python("numpy", shapes)
    space = {}
    exec(source, space)
    arrays = [value.array if hasattr(value, "array") else np.asarray(value) for value in inputs.values()]
    expected = nt.evaluate(plain, inputs)
    order = nt.formula(text, operators=OPERATORS)(**inputs).axes
    assert np.allclose(space["function"](*arrays), expected.to_array(order) if order else expected.array)


def test_source_text_holds_a_function_defined_where_nothing_can_import_it():
    def doubled(x):
        return np.add(x, x)

    formula = nt.formula("doubled(Z)", operators=[nt.operator("doubled", "->", functions=doubled)])
    source = formula.to_python(Z="ℝ^{seq × a}")
    assert "def doubled(x):" in source and source.count("import numpy as np") == 1
    space = {}
    exec(source, space)
    assert np.allclose(space["function"](Z.array), 2 * Z.array)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_other_libraries(library):
    module = pytest.importorskip(library)
    make = {"torch": lambda x: module.tensor(x), "jax": lambda x: module.numpy.asarray(x)}[library]
    formula = nt.formula("soft_{a} Z ⊙_{a} W", operators=[SOFT])
    inputs = {
        "Z": nt.tensor(make(Z.array.astype("float32")), "seq a"),
        "W": nt.tensor(make(W.array.astype("float32")), "a"),
    }
    expected = nt.evaluate("softmax_{a} Z ⊙_{a} W", Z=Z, W=W)
    assert np.allclose(np.asarray(formula(**inputs).array), expected.array, atol=1e-5)
    derivative = nt.evaluate("∂(softmax_{a} Z ⊙_{a} W)/∂W*", Z=Z, W=W)
    assert np.allclose(
        np.asarray(formula.derivative("W")(**inputs).to_array("seq a*")), derivative.to_array("seq a*"), atol=1e-5
    )
    space = {}
    exec(formula.to_python(library, Z="ℝ^{seq × a}", W="ℝ^{a}"), space)
    assert np.allclose(np.asarray(space["function"](inputs["Z"].array, inputs["W"].array)), expected.array, atol=1e-5)


def test_an_operator_acts_on_its_programs_alone():
    other = nt.operator("soft", "ax -> ax", definition="0 X")
    text = "soft_{a} Z"
    first, second = nt.formula(text, operators=[SOFT]), nt.formula(text, operators=[other])
    assert not np.allclose(first(Z=Z).array, 0) and np.allclose(second(Z=Z).array, 0)
    assert nt.allclose(first(Z=Z), nt.evaluate("softmax_{a} Z", Z=Z))
    assert "soft" not in USER_FUNCTIONS and first != second
    with pytest.raises(nt.NotationError):
        nt.evaluate(text, Z=Z)


def test_two_python_operators_of_one_name_do_not_mix():
    triple = nt.operator("times", "->", functions=lambda x: 3 * x)
    double = nt.operator("times", "->", functions=lambda x: 2 * x)
    programs = [nt.formula("times(Z)", operators=[operator]) for operator in (triple, double)]
    values = [program(Z=nt.tensor([1.0], "a")).tolist() for program in programs * 2]
    assert values == [[3.0], [2.0], [3.0], [2.0]] and programs[0] != programs[1]


def test_latex_macro_is_read_and_written():
    formula = nt.formula(r"Y = \swish(Z) + \soft_{\mathsf{a}} Z", operators=[SWISH, SOFT])
    assert nt.allclose(formula(Z=Z), nt.evaluate("Z ⊙ σ(Z) + softmax_{a} Z", Z=Z))
    latex = formula.to_latex()
    assert r"\swish" in latex and r"\soft" in latex and "operatorname{swish}" not in latex
    assert r"\soft" in nt.formula("soft_{a} Z", operators=[SOFT]).to_latex()


def test_a_macro_of_other_letters():
    operator = nt.operator("swish", "->", definition="X σ(X)", latex=r"\sw")
    formula = nt.formula(r"Y = \sw(Z)", operators=operator)
    assert nt.allclose(formula(Z=Z), nt.evaluate("Z ⊙ σ(Z)", Z=Z)) and r"\sw(" in formula.to_latex()


def test_programs_with_operators_are_pickled_and_changed():
    program = nt.program("f(x) = soft_{a} x\nY = f(Z) + center_{a} Z", operators=[SOFT, CENTER])
    again = pickle.loads(pickle.dumps(program))
    assert again == program and nt.allclose(again(Z=Z), program(Z=Z))
    assert nt.allclose(pickle.loads(pickle.dumps(program["f"]))(Z), program["f"](Z))
    changed = program.replace_definitions("f(x) = 2 soft_{a} x")
    assert nt.allclose(changed["f"](Z), nt.evaluate("2 softmax_{a} Z", Z=Z))


def test_explain_and_check_know_operators():
    formula = nt.formula("soft_{a} Z ⊙_{a} W", operators=[SOFT])
    assert [step.text for step in formula.explain(Z=Z, W=W)] == ["Z", "soft_{a} Z", "W", "soft_{a} Z ⊙_{a} W"]
    assert formula.check(Z="ℝ^{seq × a}", W="ℝ^{a}").type == "ℝ^{seq}"


def test_a_program_with_imports_and_operators(tmp_path):
    (tmp_path / "layer.nt").write_text("layer(x) = center_{a} x\n", encoding="utf-8")
    text = 'from "layer.nt" import layer\nY = layer(Z)'
    assert nt.allclose(nt.program(text, operators=[CENTER], folders=tmp_path)(Z=Z), nt.evaluate("Z − mean_{a} Z", Z=Z))
    (tmp_path / "main.nt").write_text(text, encoding="utf-8")
    assert nt.allclose(
        nt.load_program(tmp_path / "main.nt", operators=[CENTER])(Z=Z), nt.evaluate("Z − mean_{a} Z", Z=Z)
    )


def identity(x):
    return x


WRONG = [  # the arguments, the code, and what the message has
    (("bad", "ax -> ax"), {"definition": "∑_{ax} X"}, 307, "operator bad:"),
    (("bad", "ax -> ax"), {"definition": "X + W"}, 201, "W"),
    (("bad", "->"), {"definition": "(X"}, 102, "( is not closed"),
    (("bad", "ax -> ax"), {"functions": identity, "differential": "∑_{ax} ∂X"}, 307, "has no axes, expected ax"),
    (("bad", "ax ->"), {"functions": identity, "differential": "X ⊙ ∂X"}, 307, "has ax, expected no axes"),
    (("bad", "ax -> ax"), {"functions": identity, "differential": "[∂X]_{ax→b}"}, 307, "has b, expected ax"),
    (("bad", "->"), {"functions": identity, "differential": "2 X"}, 114, "does not contain ∂X alone"),
    (("bad", "->"), {"functions": identity, "differential": "∂Y"}, 114, "does not contain ∂X alone"),
    (("bad", "->"), {"functions": identity, "differential": "bad(∂X)"}, 405, "applied to ∂X in its own differential"),
    (("bad", "->"), {"functions": identity, "differential": "∂X + 1"}, 114, "is not linear in ∂X"),
    (("bad", "->"), {"functions": identity, "differential": "exp(∂X)"}, 114, "is not linear in ∂X"),
    (("bad", "->"), {"functions": identity, "differential": "max(∂X, 0)"}, 114, "is not linear in ∂X"),
    (("bad", "->"), {"functions": identity, "differential": "X ⊙ ∂X ⊙ ∂X"}, 114, "is not linear in ∂X"),
    (("bad", "->"), {"functions": identity, "differential": "bad(X) ⊙ ∂X + 1"}, 114, "is not linear in ∂X"),
    (("bad", "->"), {"functions": identity, "differential": "W ∂X"}, 201, "undefined name W"),
    (("bad", ", ->"), {"functions": identity, "differential": "∂X"}, 304, "2 operands, got 1 differential"),
    (("softmax", "ax -> ax"), {"functions": identity}, 202, "softmax is a built-in name"),
    (("sum", "ax ->"), {"functions": identity}, 202, "built-in"),
    (("π", "->"), {"functions": identity}, 202, "π is a built-in name"),
    (("a b", "->"), {"functions": identity}, 208, "invalid operator name"),
    (("bad", "->"), {"functions": identity, "latex": r"\alpha"}, 202, r"\alpha has a meaning"),
    (("bad", "->"), {"functions": identity, "latex": r"\frac"}, 202, r"\frac has a meaning"),
    (("bad", "->"), {"functions": identity, "latex": "bad"}, 208, "invalid LaTeX macro"),
    (("bad", "ax -> bx"), {"functions": identity}, 309, "axis bx cannot be inferred"),
    (("bad", "ax ax -> ax"), {"functions": identity}, 303, "ax ax has one axis twice"),
    (("bad", "ax"), {"functions": identity}, 101, "invalid signature 'ax'"),
    (("bad", ", , , ->"), {"functions": identity}, 304, "at most 3 operands"),
    (("bad", "->"), {}, 304, "got neither"),
    (("bad", "->"), {"functions": identity, "definition": "X"}, 304, "got both"),
    (("bad", "->"), {"definition": "X", "differential": "∂X"}, 304, "follows from its definition"),
    (("bad", "->"), {"functions": {"nump": identity}}, 408, "did you mean numpy?"),
    (("bad", "->"), {"functions": 3}, None, "functions="),
    ((3, "->"), {"functions": identity}, None, "name"),
    (("bad", 3), {"functions": identity}, None, "signature"),
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("arguments, options, code, message", WRONG)
def test_a_wrong_operator_is_one_sentence(arguments, options, code, message):
    with pytest.raises(nt.NotationError) as caught:
        nt.operator(*arguments, **options)
    assert message in str(caught.value) and code in (None, caught.value.code)
    assert caught.value.hint or caught.value.notes


USES = [
    ("soft_{a, seq} Z", 316, "expects 1 axis, got 2"),
    ("soft Z", 316, "expects 1 axis, got 0"),
    ("soft_{b} Z", 305, "missing axis b"),
    ("inner_{a}(Z)", 304, "expects 2 arguments"),
    ("mv_{a, a}(Z, Z)", 316, "different axes"),
]


@pytest.mark.parametrize("text, code, message", USES)
def test_a_wrong_use(text, code, message):
    with pytest.raises(nt.NotationError) as caught:
        nt.formula(text, operators=OPERATORS)(Z=Z)
    assert caught.value.code == code and message in caught.value.message


def test_a_function_without_differential_or_library_or_shape():
    plain = nt.operator("plain", "->", functions={"torch": identity})
    with pytest.raises(nt.NotationError, match="no function for numpy arrays"):
        nt.formula("plain(Z)", operators=plain)(Z=Z)
    opaque = nt.operator("opaque", "->", functions=identity)
    with pytest.raises(nt.NotationError, match="differential="):
        nt.formula("opaque(Z)", operators=opaque).derivative("Z")(Z=Z)
    short = nt.operator("short", "ax -> ax", functions=lambda x: x.sum(-1))
    with pytest.raises(nt.NotationError, match=r"shape \(4,\), expected \(4, 3\)"):
        nt.formula("short_{a} Z", operators=short)(Z=Z)
    nameless = nt.operator("nameless", "->", functions=lambda x: x)
    with pytest.raises(nt.NotationError, match="it is a lambda"):
        nt.formula("nameless(Z)", operators=nameless).to_python(Z="ℝ^{a}")


def test_a_function_that_uses_names_defined_outside_it_has_no_source_text():
    factor = 3

    def scaled(x):
        return factor * x

    operator = nt.operator("scaled", "->", functions=scaled)
    with pytest.raises(nt.NotationError) as raised:
        nt.formula("scaled(Z)", operators=operator).to_python(Z="ℝ^{a}")
    assert raised.value.code == 408
    assert raised.value.message == "scaled has no source text: its function uses factor, defined outside it"
    assert raised.value.hint == "put the function in a module of its own, which the text then imports"


def test_a_callable_without_a_name_has_no_source_text():
    operator = nt.operator("halved", "->", functions=functools.partial(np.multiply, 0.5))
    assert nt.formula("halved(Z)", operators=operator)(Z=nt.tensor([4.0], "a")).tolist() == [2.0]
    with pytest.raises(nt.NotationError, match="halved has no source text: it has no name") as raised:
        nt.formula("halved(Z)", operators=operator).to_python(Z="ℝ^{a}")
    assert raised.value.hint == "write it as a function, def f(x): …"


def test_two_functions_of_one_name_have_no_source_text():
    def doubling():
        def scaled(x):
            return 2 * x

        return scaled

    def halving():
        def scaled(x):
            return x / 2

        return scaled

    both = [nt.operator("double", "->", functions=doubling()), nt.operator("half", "->", functions=halving())]
    formula = nt.formula("double(Z) + half(Z)", operators=both)
    assert formula(Z=nt.tensor([4.0], "a")).tolist() == [10.0]
    with pytest.raises(nt.NotationError, match="half has no source text: another function is called scaled") as raised:
        formula.to_python(Z="ℝ^{a}")
    assert raised.value.hint == "rename it"


def test_an_operand_whose_differential_is_0_contributes_nothing():
    rounded = nt.operator("rounded", "->", functions={"numpy": np.round}, differential="0")
    x = nt.tensor([1.0, 2.5], "a")
    derivative = nt.formula("∑_{a} (rounded(x) + x^2)", operators=rounded).derivative("x")
    assert derivative(x=x).to_array("a*").tolist() == [2, 5]


def test_an_operator_without_a_macro_is_written_by_its_name_in_latex():
    half = nt.operator("half", "->", functions={"numpy": lambda x: x / 2})
    assert nt.formula(r"\text{half}(x) + 1", syntax="latex", operators=half)(x=3.0) == 2.5


@pytest.mark.parametrize("operators", [3, ["swish"], [SWISH, nt.operator("swish", "->", definition="X")]])
def test_wrong_operators(operators):
    with pytest.raises(nt.NotationError):
        nt.formula("swish(Z)", operators=operators)


def test_the_derivation_of_a_closed_form_names_the_operator_and_its_differential():
    derivative = nt.formula("soft_{a} Z ⊙_{a} W", operators=[SOFT]).derivative("Z")
    closed = derivative.closed_form(Z="ℝ^{seq × a}", W="ℝ^{a}")
    assert [step.rule for step in closed.steps][0] == "soft" and closed.steps[0].identity == SOFT.differential[0]
    closed.check(Z=Z, W=W)
    explanation = derivative.explain(Z=Z, W=W)
    assert explanation.derivation is not None and "closed form" in str(explanation)


@pytest.mark.parametrize(
    "verb, message",
    [
        (lambda f: f.to_javascript(Z="ℝ^{a}"), "no source text"),
        pytest.param(
            lambda f: f.to_python("torch", style="module", Z="ℝ^{a}"),
            'to_python("torch")',
            marks=pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed"),
        ),
        (lambda f: f.to_python(style="readable", Z="ℝ^{a[3]}"), "no readable form"),
        (lambda f: f.to_einsum(Z="ℝ^{a}"), "not a sum of products"),
    ],
)
def test_what_functions_of_arrays_cannot_become(verb, message):
    with pytest.raises(nt.NotationError) as caught:
        verb(nt.formula("soft_{a} Z", operators=[SOFT]))
    assert message in str(caught.value)


def test_a_definition_in_the_notation_becomes_all_that_a_formula_does():
    formula = nt.formula("swish(Z)", operators=[SWISH])
    assert "return Z * sigmoid(Z)" in formula.to_python(style="readable", Z="ℝ^{a[3]}")
    assert "export function" in formula.to_javascript(Z="ℝ^{a}")
