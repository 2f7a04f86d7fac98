"""Types without data: what each construct is, sizes solved, what belongs to what, every error, and warnings."""

import pickle
import re

import pytest

import namedtensor as nt
from namedtensor.core.sizes import SizeVariable, resolve, unify
from namedtensor.scope.names import Key, key

SHAPES = {"A": "ℝ^{height[3] × width[4]}", "x": "ℝ^{height[3]}", "y": "ℝ^{width[4]}", "s": "ℝ"}

TYPES = {
    "A": "ℝ^{height[3] × width[4]}",
    "A + x": "ℝ^{height[3] × width[4]}",
    "x ⊙ y": "ℝ^{height[3] × width[4]}",
    "A ⊙_{height} x": "ℝ^{width[4]}",
    "A ⊙_{height, width} A": "ℝ",
    "∑_{width} A": "ℝ^{height[3]}",
    "softmax_{width} A": "ℝ^{height[3] × width[4]}",
    "cumsum_{width} A": "ℝ^{height[3] × width[4]}",
    "A_{height→rows}": "ℝ^{rows[3] × width[4]}",
    "A_{height→width, width→height}": "ℝ^{width[3] × height[4]}",
    "A_{(height,width)→layer}": "ℝ^{layer[12]}",
    "A_{height(2)}": "ℝ^{width[4]}",
    "A_{height(1), width(2)}": "ℝ",
    "(A)^*": "ℝ^{height*[3] × width*[4]}",
    "[1, 2; 3, 4; 5, 6]_{a, b}": "ℝ^{a[3] × b[2]}",
    "{ 0 if x ≤ y; 1 otherwise }": "ℝ^{height[3] × width[4]}",
    "𝕀[A > x]": "ℝ^{height[3] × width[4]}",
    "∑_i A_{height(i)}": "ℝ^{width[4]}",
    "∑_{i=1}^{2} A_{height(i)}": "ℝ^{width[4]}",
    "x ⊕_{height} x": "ℝ^{height[6]}",
    "stack_{n}(x, x, x)": "ℝ^{height[3] × n[3]}",
    "I_{height,height'}": "ℝ^{height[3] × height'[3]}",
    "iota_{width}": "ℝ^{width[4]}",
    "index_{height}(A, 1)": "ℝ^{width[4]}",
    "unroll_{width,k} A": "ℝ^{height[3] × width[3] × k[2]}",
    "pool_{width,k} A": "ℝ^{height[3] × width[2] × k[2]}",
    "maxk_{width,k} A": "ℝ^{height[3] × k[2]}",
    "argmaxk_{width,k} A": "ℝ^{height[3] × width[4] × k[2]}",
    "A_{width→(m,k)}": "ℝ^{height[3] × m[2] × k[2]}",
    "where(A > 0, x, y)": "ℝ^{height[3] × width[4]}",
    "max(A, x)": "ℝ^{height[3] × width[4]}",
    "|height| + s": "ℝ",
}


def of(text):
    """A shape as a mapping, from its text."""
    return nt.formula_shape(text) if hasattr(nt, "formula_shape") else dict(nt.check("X", X=text).shape)


@pytest.mark.parametrize("text", TYPES, ids=str)
def test_type(text):
    report = nt.check(text, SHAPES, sizes={"k": 2} if "k" in re.findall(r"\w+", text) else None)
    assert report.errors == ()
    assert {axis: resolve(size) for axis, size in report.shape.items()} == of(TYPES[text])


def test_shapes_without_sizes():
    report = nt.check(
        "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V", Q="ℝ^{seq' × key}", K="ℝ^{seq × key}", V="ℝ^{seq × val}"
    )
    assert (report.ok, report.type) == (True, "ℝ^{seq' × val}")


def test_every_error_is_reported():
    report = nt.check("a = sofmax_{height}(A) + z\nb = A ⊙_{depth} x\nc = a + b + q", SHAPES)
    assert [(error.code, error.span_text) for error in report.errors] == [
        (201, "sofmax"), (201, "z"), (301, "depth"), (201, "q"),
    ]  # fmt: skip


def test_an_outer_product_is_warned_of_and_refused_when_strict():
    report = nt.check("x + y", SHAPES)
    assert report.ok
    assert [warning.message for warning in report.warnings] == [
        "+ broadcasts ℝ^{height[3]} against ℝ^{width[4]} (outer product)"
    ]
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate("x + y", x=nt.tensor([1, 2], "a"), y=nt.tensor([1, 2], "b"), strict=True)
    assert caught.value.code == 314


@pytest.mark.parametrize("text", ["A + x", "2 x", "x ⊙ A", "A ⊙_{height} x", "x / y"])
def test_no_warning_where_one_operand_has_all_axes(text):
    assert nt.check(text, SHAPES).warnings == ()


SIZES = [
    ("|b| = |a|/2\nD ∈ ℝ^{b}\nD_{b(i)} = i", {"a": 6}, {"b": 3}),
    ("|a| = |b| = 4\nD ∈ ℝ^{b}\nD_{b(i)} = i", {}, {"b": 4}),
    ("|a| = 2|b| + 1\nD ∈ ℝ^{b}\nD_{b(i)} = i", {"a": 7}, {"b": 3}),
    ("D ∈ ℝ^{b[5]}\nD_{b(i)} = i / |b|", {}, {"b": 5}),
    ("D ∈ ℝ^{b[n]}\n|a| = n\nD_{b(i)} = i", {"a": 2}, {"b": 2}),
    ("D ∈ ℝ^{b[n-1]}\nD_{b(i)} = i", {"n": 4}, {"b": 3}),
    ("|a| = |b|^2\nD ∈ ℝ^{a}\nD_{a(i)} = i", {"b": 3}, {"a": 9}),
]


@pytest.mark.parametrize("text, sizes, expected", SIZES, ids=[case[0] for case in SIZES])
def test_sizes_are_solved(text, sizes, expected):
    assert nt.evaluate(text, sizes=sizes).sizes == expected


SIZE_ERRORS = [
    ("|b| = |a|/2\nD ∈ ℝ^{b}\nD_{b(i)} = i", {"a": 5}, 310, "|b| = |a|/2"),
    ("D ∈ ℝ^{b}\nD_{b(i)} = i", {}, 309, "b"),
    ("|a| = 2\n|a| = 3\nD ∈ ℝ^{a}\nD_{a(i)} = i", {}, 308, "|a| = 3"),
    ("D = 1 / |q|", {}, 204, "q"),
]


@pytest.mark.parametrize("text, sizes, number, position", SIZE_ERRORS, ids=[case[0] for case in SIZE_ERRORS])
def test_size_errors(text, sizes, number, position):
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, sizes=sizes)
    assert (caught.value.code, caught.value.span_text) == (number, position)


# ------------------------------------------------------------------------------------------- what belongs to what
def value(text, name=None, **values):
    entry = nt.program(text)[name] if name else nt.program(text)
    result = entry(values=values)
    return float(result) if not result.axes else result.to_array().tolist()


def test_a_fact_that_mentions_a_parameter_belongs_to_its_function():
    text = "Y = 100\nf(x) = Y\nY = 2 x\nB = f(3) + Y"
    assert value(text) == 106


def test_a_fact_that_mentions_none_is_top_level():
    assert value("f(x) = c x\nc = 5\nB = f(2)") == 10


def test_facts_of_two_functions_may_share_a_name():
    assert value("f(x) = Y\nY = x + 1\ng(x) = Y\nY = x + 2\nB = f(10) + 100 g(10)") == 11 + 1200


def test_a_fact_belongs_through_another():
    assert value("f(x) = Z\nY = x + 1\nZ = 2 Y\nB = f(1)") == 4


def test_a_chain_defines_once_and_claims_the_rest():
    assert value("a = b = 3\nb = 3\na") == 3
    with pytest.raises(nt.NotationError) as caught:
        value("a = b = 3\nb = 4\na")
    assert caught.value.code == 403


def test_a_given_value_is_a_parameter():
    assert value("f(x; w) = w x\nB = f(2)", w=5) == 10
    assert value("f(x; w) = w x\nB = f(2; 7)", w=5) == 14


def test_what_is_after_the_semicolon_may_be_passed_by_position():
    assert value("f(x; w) = w x\nB = f(2, 7)", w=5) == 14
    assert value("f(x, y; w, b) = w x y + b\nB = f(2, 3, 7, 1)") == 43
    assert value("f(x, y; w, b) = w x y + b\nB = f(2, 3, 7)", b=1) == 43


FAMILIES = [
    ("h^0 = 1\nh^t = 2 h^{t-1} for t = 1, …, n\nh^n", {"n": 5}, 32),
    ("h^0 = 1\nh^t = 2 h^{t-1} for t = 1, …, 3\nh^2", {}, 4),
    ("x^0 = 3\nT^1 = x^0 + 1\nx^1 = 2 T^1\n⋮\nT^L = x^{L-1} + 1\nx^L = 2 T^L\nx^L", {"L": 3}, 38),
    ("f^l(x) = w^l x\nB = f^1(2) + f^2(2)", {"w^1": 10, "w^2": 100}, 220),
    ("f^l(x) = w^l x\nB = f^{1'}(2)", {"w^{1'}": 7}, 14),
    ("a_0 = 1\nb = a_0 + 1", {}, 2),
    ("f_k(x) = k x\nB = f_3(2) + f_4(1)", {}, 10),
    ("x^2", {"x": 3}, 9),
    ("x^2", {"x": 3, "x^2": 100}, 100),
    ("x^p", {"x": 3, "p": 3}, 27),
    ("e^{0} + π − π", {}, 1),
    ("ε = 2\n3 ε", {}, 6),
]


@pytest.mark.parametrize("text, values, expected", FAMILIES, ids=[case[0] for case in FAMILIES])
def test_families_labels_and_powers(text, values, expected):
    assert float(nt.evaluate(text, values)) == pytest.approx(expected)


NAME_ERRORS = [
    ("B = 1\nB = 2", 202, "B"),
    ("f(x) = x\nf(y) = y", 202, "f(y)"),
    ("B = C\nC = B", 203, "C"),
    ("f(x) = f(x) + 1\nB = f(1)", 203, "f(x)"),
    ("h^t = h^t + 1 for t = 1, …, 3\nh^1", 203, None),
    ("W ∈ ℝ^{a}\nB = 2 W", 206, "W"),
    ("b_1 + 2", 201, "b_1"),
]


@pytest.mark.parametrize("text, number, position", NAME_ERRORS, ids=[case[0] for case in NAME_ERRORS])
def test_name_errors(text, number, position):
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text)
    assert caught.value.code == number
    if position is not None:
        assert caught.value.span_text == position


SQUARE, TWO = "f(t) = t^2\n", "f(t, u; w) = t u w\n"
OF_PRIME = "is a name of its own; a derivative is"
MISUSED = [  # the formula, the message and the hint
    ("where(x)", "where expects 3 arguments, got 1", "write where(condition, value, otherwise)"),
    ("clip(x)", "clip expects 3 arguments, got 1", "write clip(X, low, high)"),
    ("index_{a}(x)", "index_{a} expects 2 arguments, got 1", "write index_{axis}(X, I)"),
    ("pow(x)", "pow expects 2 arguments, got 1", "write pow(x, y), or x^y"),
    ("mod(x)", "mod expects 2 arguments, got 1", "write mod(X, Y)"),
    (
        "max_{a}(x; 3)",
        "max expects nothing after the semicolon, got 1 parameter",
        "remove the semicolon and everything after it",
    ),
    (f"{TWO}f(x)", "f expects 2 arguments and 1 after the semicolon, got 1", "call it as f(t, u; w)"),
    (f"{TWO}f(x; 3)", "f expects 2 arguments and 1 after the semicolon, got 2", "call it as f(t, u; w)"),
    (f"{TWO}f(x, 2, 3, 4)", "f expects 2 arguments and 1 after the semicolon, got 4", "call it as f(t, u; w)"),
    (f"{SQUARE}f(x, 2)", "f expects 1 argument, got 2", "call it as f(t)"),
    (f"{SQUARE}f'(x)", "undefined function f'", f"f' {OF_PRIME} ∂f(t)/∂t|_{{t = x}}"),
    (f"{SQUARE}f''(x)", "undefined function f''", f"f'' {OF_PRIME} ∂²f(t)/∂t²|_{{t = x}}"),
    (f"{SQUARE}f'''(x)", "undefined function f'''", f"f''' {OF_PRIME} ∂³f(t)/∂t³|_{{t = x}}"),
    (f"{SQUARE}f''''(x)", "undefined function f''''", f"f'''' {OF_PRIME} ∂^4f(t)/∂t^4|_{{t = x}}"),
]


@pytest.mark.parametrize(("text", "message", "hint"), MISUSED, ids=[case[0] for case in MISUSED])
def test_a_wrong_call_is_answered_with_how_to_write_it(text, message, hint):
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, x=nt.tensor([1.0, 2.0], "a"))
    assert (caught.value.message, caught.value.hint) == (message, hint)


# ------------------------------------------------------------------------------------------------- objects
PROGRAM = (
    "W^{l,Q} ∈ ℝ^{layer × key}\n|key| = |layer|/2\nf^l(X) = W^{l,Q} ⊙_{layer} X\nY = softmax_{key}(f^1(X) + f^2(X))"
)


def test_a_program_lists_its_parameters_with_their_shapes():
    parameters = nt.program(PROGRAM).parameters(sizes={"layer": 4}, X="ℝ^{seq[5] × layer[4]}")
    assert parameters == {"W^{1,Q}": "ℝ^{layer[4] × key[2]}", "W^{2,Q}": "ℝ^{layer[4] × key[2]}"}


def test_init_gives_the_parameters_as_tensors():
    program = nt.program(PROGRAM)
    values = program.init(seed=1, sizes={"layer": 4}, X="ℝ^{layer[4]}")
    assert {name: tensor.sizes for name, tensor in values.items()} == {
        "W^{1,Q}": {"layer": 4, "key": 2}, "W^{2,Q}": {"layer": 4, "key": 2},
    }  # fmt: skip
    again = program.init(seed=1, sizes={"layer": 4}, X="ℝ^{layer[4]}")
    assert all(nt.allclose(values[name], again[name]) for name in values)
    result = program["Y"](values={**values, "X": nt.tensor([1.0, 2.0, 3.0, 4.0], "layer")})
    assert float(result.sum(axis="key")) == pytest.approx(1)


def test_init_says_which_size_is_missing():
    with pytest.raises(nt.NotationError) as caught:
        nt.program("W ∈ ℝ^{a × b}\nY = ∑_{a} W").init(sizes={"a": 2})
    assert (caught.value.code, "b" in caught.value.message) == (309, True)


def test_programs_list_names_sizes_and_built_ins():
    program = nt.program(PROGRAM)
    assert program.names == ["f^l", "Y"]
    assert program.declared == ["W^{l,Q}"]
    assert program.sizes == ["key", "layer"]
    assert program.builtins == ["+", "/", "softmax", "⊙"]
    assert "Y" in program
    assert list(program) == program.names


def test_programs_compare_and_pickle():
    program = nt.program(PROGRAM)
    assert program == nt.program(PROGRAM + "\n# the same")
    assert hash(program) == hash(nt.program(PROGRAM))
    assert program != nt.program("Y = 1")
    assert pickle.loads(pickle.dumps(program)) == program


def test_a_formula_is_callable():
    expression = nt.formula("2 x + 1")
    function = nt.formula("f(x, y; c) = c x + y")
    assert float(expression(x=3)) == 7
    assert float(function(3, 4, values={"c": 10})) == 34
    assert float(function(3, 4, 10)) == 34
    with pytest.raises(nt.NotationError) as caught:
        function(3)
    assert caught.value.code == 304


def test_attributes_are_names():
    program = nt.program("f(x) = 2 x\nY = f(4)")
    assert float(program.f(3)) == 6
    assert float(program.Y()) == 8


def test_explain_goes_in_order_of_evaluation():
    steps = nt.explain("softmax_{a}(x + 1) ⊙_{a} x", x=nt.tensor([0.0, 0.0], "a"))
    assert [step.text for step in steps] == ["x", "x + 1", "softmax_{a}(x + 1)", "softmax_{a}(x + 1) ⊙_{a} x"]
    assert [step.type for step in steps] == ["ℝ^{a[2]}"] * 3 + ["ℝ"]
    assert float(steps.value) == 0
    assert "softmax_{a}(x + 1) : ℝ^{a[2]}" in str(steps)
    assert steps._repr_html_().count("<tr>") >= 5


def test_python_functions_are_lifted_by_their_signature():
    @nt.custom_function("total : ℝ^{a} → ℝ")
    def total(x):
        return x.sum(axis="a")

    X = nt.tensor([[1, 2], [3, 4]], "a b")
    assert nt.evaluate("total(X)", X=X).to_array().tolist() == [4, 6]
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate("total(X)", X=nt.tensor([1, 2], "c"))
    assert caught.value.code == 305


@pytest.mark.parametrize(
    ("X", "Y", "number", "message"),
    [
        ("ℝ^{a[2] × b[3]}", "ℝ^{a[2] × b[4]}", 302, "axis b has size 3 in X and size 4 in Y"),
        ("ℝ^{a[2] × c[3]}", "ℝ^{a[2]}", 306, "both returns axis c, but its operand already has an axis c"),
        ("ℝ^{a[2]}", "ℝ^{a[2] × c[2]}", 306, "both returns axis c, but its operand already has an axis c"),
    ],
)
def test_python_functions_are_not_lifted_over_axes_that_do_not_fit(X, Y, number, message):
    @nt.custom_function("both : ℝ^{a} × ℝ^{a} → ℝ^{c[2]}")
    def both(x, y):
        raise AssertionError("shapes are checked before")

    (error,) = nt.check("both(X, Y)", X=X, Y=Y).errors
    assert (error.code, error.message, error.span_text) == (number, message, "both(X, Y)")


def test_python_functions_give_axes_of_the_sizes_that_they_say():
    @nt.custom_function("counts : ℝ^{a[n]} → ℝ^{c[2] × d[n + 1]}")
    def counts(x):
        return nt.tensor([0.0, 1.0], "c") + nt.tensor([0.0, 1.0, 2.0, 3.0][: x.sizes["a"] + 1], "d")

    @nt.custom_function("open : ℝ^{a} → ℝ^{c}")
    def open_axis(x):
        return nt.tensor([1.0, 2.0], "c")

    X = nt.tensor([1.0, 2.0, 3.0], "a")
    result = nt.evaluate("∑_{d} counts(X)", X=X)
    assert result.to_array("c").tolist() == [6.0, 10.0]
    assert str(nt.check("counts(X)", X="ℝ^{a[3]}").type) == "ℝ^{c[2] × d[4]}"
    assert nt.evaluate("|c| = 2\nopen(X)", X=X).to_array("c").tolist() == [1.0, 2.0]
    with pytest.raises(nt.NotationError, match="cannot infer the size of axis c"):
        nt.evaluate("open(X)", X=X)


@pytest.mark.parametrize(
    ("formula", "number", "message"),
    [
        ("pair(X)", 304, "pair expects 2 arguments, got 1"),
        ("bare(X)", 307, "must return a tensor, got float"),
        ("renamed(X)", 307, "returned the axes b"),
        ("sized(X)", 308, "axis a of X has size 3"),
    ],
)
def test_python_functions_that_do_not_do_what_they_say(formula, number, message):
    nt.custom_function("pair : ℝ^{a} × ℝ^{a} → ℝ")(lambda x, y: 1.0)
    nt.custom_function("bare : ℝ^{a} → ℝ^{a}")(lambda x: 3.0)
    nt.custom_function("renamed : ℝ^{a} → ℝ^{a}")(lambda x: x.rename(a="b"))
    nt.custom_function("sized : ℝ^{a[2]} → ℝ")(lambda x: 1.0)
    with pytest.raises(nt.NotationError, match=message) as caught:
        nt.evaluate(formula, X=nt.tensor([1.0, 2.0, 3.0], "a"))
    assert caught.value.code == number


REPORTS = (
    # a program, shapes, the lines of what check says: with types, errors and warnings, and without
    ("f(t) = t", {}, ""),
    ("x + y", {"x": "ℝ^{a}", "y": "ℝ^{b}"}, "x : ℝ^{a}|y : ℝ^{b}|value : ℝ^{a × b}||warning 314: + broadcasts ℝ^{a} against ℝ^{b} (outer product)"),
    ("A = x\nA ⊙_{c} y", {"x": "ℝ^{a}", "y": "ℝ^{b}"}, "x : ℝ^{a}|y : ℝ^{b}|A : ℝ^{a}||shape error 301: ⊙_{c} needs axis c, missing from A and y"),
    ("f : ℝ^{a} → ℝ\nf(t) = ∑_{b} t", {}, "shape error 301: ∑_{b} needs axis b, missing from t"),
    ("f : ℝ^{a} → ℝ\nf(t) = ∑_{i=1}^{n} i + ∑_{a} t", {}, ""),
    ("g : ℝ^{a} → ℝ^{b}\ng(x)", {"x": "ℝ^{c}"}, "x : ℝ^{c}||shape error 305: g: argument x is missing axis a"),
    ("H ∈ ℝ^{seq[n]}\nH_{seq(t)} = h^t\nh^0 = x\nh^t = h^{t-1}/2 for t = 1, …, n\nH", {"x": "ℝ"}, "x   : ℝ|h^0 : ℝ|h^t : ℝ|H   : ℝ^{seq[n]}|value : ℝ^{seq[n]}"),
    ("max_{i ∈ [k]} x_{a(i)}", {"x": "ℝ^{a}"}, "x : ℝ^{a}|value : ℝ"),
    ("∑_{i ∈ [3]^{b}} i", {}, "value error 405: a counting variable is one number, but this set has axes"),
    ("𝔼_{z ∼ N(0, 1)^{q}}[z]", {}, "ℝ^{q}"),
    ("D ∈ ℝ^{p[k/2]}\nD_{p(i)} = i\nD", {}, "D : ℝ^{p}|value : ℝ^{p}"),
)  # fmt: skip


@pytest.mark.parametrize(("program", "shapes", "message"), REPORTS)
def test_a_report_reads_so(program, shapes, message):
    text = str(nt.check(program, **shapes))
    assert text.startswith(message.replace("|", "\n")) and bool(text) == bool(message)


def test_python_functions_of_what_is_written_are_called_each_time():
    """They may count, or draw: what they give is no constant of the plan."""
    calls = []

    @nt.custom_function("counted : ℝ^{a} → ℝ^{a}")
    def counted(x):
        calls.append(x.sizes)
        return x * len(calls)

    compiled = nt.formula("counted([1, 2]_{a}) + X").compile()
    X = nt.tensor([0.0, 0.0], "a")
    compiled(X=X)
    before = len(calls)
    assert [compiled(X=X).array.tolist() for _ in range(2)] == [[n, 2 * n] for n in (before + 1, before + 2)]


def test_extra_axes_make_no_outer_product_of_what_a_function_adds():
    shapes = {"x": "ℝ^{n[3]}", "b": "ℝ^{c[2]}"}
    report = nt.check("f : ℝ → ℝ^{c}\nf(t) = t + b\nf(x)", shapes)
    assert (str(report.type), report.warnings) == ("ℝ^{n[3] × c[2]}", ())
    assert [warning.code for warning in nt.check("x + b", shapes).warnings] == [314]


def test_axes_that_a_function_is_lifted_over_are_not_offered():
    (error,) = nt.check("f : ℝ^{b} → ℝ^{a}\nf(X) = X_{z→a}\nf(Y)", Y="ℝ^{b[2] × c[3]}").errors[:1]
    assert (error.code, error.hint) == (301, "its axes are b")


def test_a_sum_over_two_subscripts_is_one_over_axes():
    """What indexes is an index, and the others are axes."""
    X = "ℝ^{a[2] × b[3]}"
    assert str(nt.check("∑_{i} X_{a(i)}", X=X).type) == "ℝ^{b[3]}"
    assert str(nt.check("∑_{i,b} X_{a(i)}", X=X).type) == "ℝ"
    (error,) = nt.check("∑_{2} X_{a(2)}", X=X).errors
    assert (error.code, error.span_text) == (301, "2")


# ------------------------------------------------------------------------------------------------- names and sizes
NAMES = {
    "W^Q": Key("W", (), ("Q",)),
    "W^{1,Q}": Key("W", (), ("1", "Q")),
    "b_1": Key("b", ("1",)),
    "b₁": Key("b", ("1",)),
    "X²": Key("X", (), ("2",)),
    "gamma": Key("γ"),
    "gamma_1": Key("γ", ("1",)),
    "X'": Key("X'"),
    "γ^{1'}": Key("γ", (), ("1'",)),
}


@pytest.mark.parametrize("text", NAMES, ids=str)
def test_names_are_read(text):
    assert key(text) == NAMES[text]
    assert key(str(NAMES[text])) == NAMES[text]


@pytest.mark.parametrize("text", ["", "a b", "x+1", "W^", "{x}", "1 2"])
def test_what_is_no_name_is_refused(text):
    with pytest.raises(nt.NotationError) as caught:
        key(text)
    assert caught.value.code == 208


def test_unknown_sizes_become_one():
    a, b = SizeVariable("a"), SizeVariable("b")
    assert unify(a, b)
    assert unify(b, 3)
    assert (resolve(a), str(a), unify(a, 4)) == (3, "3", False)
    assert str(SizeVariable("n") - 1) == "n-1"


# ------------------------------------------------------------------------------------------------ element by element
VECTOR = nt.tensor([1.0, 2.0, 3.0], "height")
MATRIX = nt.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]], "height width")
ELEMENTS = [
    ("Y ∈ ℝ^{height}\nY_{height(i)} = { 0 if i = 1; x_{height(i-1)} otherwise }", [0, 1, 2]),
    ("Y ∈ ℝ^{height}\nY_{height(i)} = { x_{height(i+1)} if i < |height|; -1 otherwise }", [2, 3, -1]),
    ("Y ∈ ℝ^{height}\nY_{height(i)} = ∑_{j=1}^{i} x_{height(j)}", [1, 3, 6]),
    ("Y ∈ ℝ^{height}\nY_{height(i)} = ∑_{j=i}^{3} x_{height(j)}", [6, 5, 3]),
    ("Y ∈ ℝ^{height}\nY_{height(i)} = ∏_{j=1}^{i-1} x_{height(j)}", [1, 1, 2]),
    ("W^i ∈ ℝ for i = 1, …, 2\n∑_{i=1}^{2} W^i", 30),
    ("∑_m (∑_m A_{height(m)})_{width(m)}", 36),
    ("{ x if 1 = 2; A otherwise }", [[0, 1, 2], [3, 4, 5], [6, 7, 8]]),
]


@pytest.mark.parametrize("text, expected", ELEMENTS, ids=[case[0] for case in ELEMENTS])
def test_elements(text, expected):
    result = nt.evaluate(text, {"x": VECTOR, "A": MATRIX, "W^1": 10, "W^2": 20})
    assert (result.to_array("height width") if len(result.axes) == 2 else result.array).tolist() == expected


def test_a_case_that_is_taken_still_needs_its_element():
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate("Y ∈ ℝ^{height}\nY_{height(i)} = { 0 if i = 2; x_{height(i-1)} otherwise }", x=VECTOR)
    assert (caught.value.code, caught.value.span_text) == (401, "i-1")


def test_an_index_of_two_sizes_is_refused():
    y = nt.tensor([1, 2, 3, 4], "width")
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate("∑_i x_{height(i)} ⊙ y_{width(i)}", x=VECTOR, y=y)
    assert caught.value.code == 302


def test_a_parameter_of_an_inner_call_is_lifted_with_the_inputs():
    program = nt.program("g : ℝ^{a} → ℝ^{a}\ng(X; W) = X ⊙ W\nW ∈ ℝ^{a}\nf : ℝ^{a} → ℝ^{a}\nf(X) = g(X)")
    both = nt.tensor([[1, 2], [3, 4]], "batch a")
    assert program["f"](both, W=both).to_array("batch a").tolist() == [[1, 4], [9, 16]]


def test_a_plan_that_has_settled_gives_the_same():
    """From the second run on, a plan's steps are prepared for the dtypes that they met."""
    tensors = {"x": nt.tensor([1, 2, 3], "a"), "y": nt.tensor([0.5, 1.5], "b")}
    formula = nt.formula("softmax_{a}(x / 2 + y) ⊙_{b} y + ∑_{a} x^2 − |a|")
    first, *others = (formula(**tensors) for _ in range(4))
    assert all(nt.allclose(first, other, rtol=0, atol=0) and first.dtype == other.dtype for other in others)


@pytest.mark.parametrize(
    ("general", "exact", "use", "factor"),
    [
        ("f^n(t) = n t", "f^1(t) = 100 t", "f^1(x)", 100),
        ("f^n(t) = n t", "f^1(t) = 100 t", "f^2(x)", 2),
        ("f_{n}(t) = n t", "f_{1}(t) = 100 t", "f_{1}(x)", 100),
        ("f_{ax}(t) = ∑_{ax} t", "f_{a}(t) = 5 t", "f_{a}(x)", 5),
        ("f_{ax}(t) = 2 sort_{ax} t", "f_{a}(t) = 5 sort_{a} t", "f_{a}(x)", 5),
        ("f^{j}(t) = 2 j t", "f^{i}(t) = 3 i t", "∑_{i=1}^{1} f^{i}(x)", 3),
    ],
)
def test_the_function_whose_head_is_written_so_goes_before_a_general_one(general, exact, use, factor):
    x = nt.tensor([1.0, 2.0], "a")
    for first, second in ((general, exact), (exact, general)):
        assert nt.allclose(nt.evaluate(f"{first}\n{second}\n{use}", x=x), factor * x)


@pytest.mark.parametrize("first", ["|b| ≥ 0", "|b| < 0", "1 = 1", "u > 0"])
def test_cases_have_the_axes_of_every_case_and_condition(first):
    """Whichever of them a size decides: a type does not hang on how large an axis is."""
    text = f"{{ v if {first}; 2 if u > 1; 3 otherwise }}"
    u, v = [1.0, 2.0], [3.0, 4.0, 5.0]
    result = nt.evaluate(text, u=nt.tensor(u, "b"), v=nt.tensor(v, "c"))
    assert set(result.axes) == {"b", "c"}
    expected = [[(3 if x <= 1 else 2) if "<" in first else y for y in v] for x in u]
    assert result.to_array("b c").tolist() == expected


NUMBERED = r"""f_{k}: ℝ^{seq[n]} → ℝ^{seq[n/k]}
f_{k}(X) = max_{window} pool_{seq,window} X
|window| = k"""
OF_TWO = r"""f_{kh,kw}: ℝ^{height[h] × width[w]} → ℝ^{height[h/kh] × width[w/kw]}
f_{kh,kw}(X) = max_{down,across} pool_{height,down} pool_{width,across} X
|down| = kh
|across| = kw"""


@pytest.mark.parametrize(
    ("text", "old", "new", "code"),
    [
        (NUMBERED, "max_{window}", "max_{window,window}", 303),
        (NUMBERED, "max_{window}", "max_{seq}", 307),
        (NUMBERED, "max_{window}", "max_{other}", 301),
        (OF_TWO, "max_{down,across}", "max_{down}", 307),
        (OF_TWO, "pool_{width,across}", "pool_{across,width}", 301),
    ],
)
def test_a_function_of_numbers_is_checked_though_it_is_not_called(text, old, new, code):
    assert not nt.check(text).errors
    assert [error.code for error in nt.check(text.replace(old, new)).errors] == [code]
