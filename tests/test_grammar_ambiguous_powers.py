"""Powers that two readers take differently are refused with both readings, and never printed."""

import pytest

import namedtensor as nt
from grammar.errors import NotationError
from grammar.nodes import Call, Name, Number, Program, Subscript, Superscript, Value
from grammar.parser import parse
from grammar.printer import to_latex, to_text
from grammar.symbols import ELEMENTWISE, FUNCTIONS, INVERSES

X = nt.tensor([1.0, 2.0, 4.0], "n")
MEAN = "mean_{n} (…)^2 is ambiguous: it could mean (mean_{n}(…))^2 or mean_{n}((…)^2)"
SQUARED, OF_SQUARES = (7 / 3) ** 2, 7.0
# What people write and paste; each is the square of a mean, or the mean of squares.
SPELLINGS = [
    "mean_{n} (x)^2", "mean_{n}(x)^2", "mean_n (x)²", "mean_{n} [x]^2", "mean_{n}[ x ] ^ 2", "mean_{n} {x}^{2}", "meanₙ(x)²", "mean_{n} ( (x) )^2",
    "mean_{n}(x)**2", "y = mean_{n} (x)^2", "(mean_{n} (x)^2)",
    r"\nfun{\name{n}}{mean}(x)^2", r"\nfun{\name{n}}{mean} \left( x \right)^{2}", r"\nfun{\name{n}}{mean} {\left(x\right)}^{2}",
    r"\nfun{\name{n}}{mean} \left[x\right]^{2}", r"\nfun{\name{n}}{mean}\bigl(x\bigr) ^2", r"\underset{\name{n}}{\mathrm{mean}} (x)^2",
    r"\operatorname{mean}_{\name{n}} (x)^2", r"\mathop{\mathrm{mean}}\limits_{\name{n}} (x)^2", r"$\nfun{\name{n}}{mean} (x) {}^2$",
    r"\begin{align*} y &= \nfun{\name{n}}{mean} (x)^2 \end{align*}",
]  # fmt: skip


def repaired(problem):
    return [problem.source[:start] + text + problem.source[end:] for (start, end), text in problem.edits]


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_power_of_a_bracket_after_a_function_with_axes_is_refused_with_both_readings(text):
    with pytest.raises(NotationError) as caught:
        nt.evaluate(text, x=X)
    problem = caught.value
    assert (problem.code, problem.kind, problem.message) == (107, "syntax", MEAN)
    values = [float(nt.evaluate(item, x=X)) for item in repaired(problem)]
    assert values == pytest.approx([SQUARED, OF_SQUARES])
    assert all(text in problem.hint for _, text in problem.edits)


# Message and caret name the function, the axes and the power as they are written.
NAMED = {
    "std_{a, b} (X − 1)^{1/2}": ("std_{a, b} (…)^{1/2}", "std_{a, b} (X − 1)^{1/2}"),
    "1 + softmax_seq(X)³": ("softmax_{seq} (…)^3", "softmax_seq(X)³"),
    "mean_{a}(X)^{-1}": ("mean_{a} (…)^{-1}", "mean_{a}(X)^{-1}"),
    "mean_{a} (X − m)^k": ("mean_{a} (…)^k", "mean_{a} (X − m)^k"),
    "max_{i ∈ [3]} (X_{a(i)})^2": ("max_{i ∈ [3]} (…)^2", "max_{i ∈ [3]} (X_{a(i)})^2"),
    "det_{a,b}(X)^2": ("det_{a, b} (…)^2", "det_{a,b}(X)^2"),
    "var_{a} (X)_{b(1)}^2": ("var_{a} (…)^2", "var_{a} (X)_{b(1)}^2"),
    "g_{ax}(U) = U − mean_{ax} U\ng_{a} (X)^2": ("g_{a} (…)^2", "g_{a} (X)^2"),
    "g_{ax} : ℝ^{ax} → ℝ\ng_{a} (X)^2": ("g_{a} (…)^2", "g_{a} (X)^2"),
    "g_{ax}(U) = 2 U_{ax→b}\ng_{a} (X)^2": ("g_{a} (…)^2", "g_{a} (X)^2"),
    "𝔼_{z ∼ N(0, 1)} (z − 1)^2": ("𝔼_{z ∼ N(0, 1)} (…)^2", "𝔼_{z ∼ N(0, 1)} (z − 1)^2"),
    "mean_{b} mean_{a} (X)^2": ("mean_{a} (…)^2", "mean_{a} (X)^2"),
    "λ mean_{a} (X)^2 + 1": ("mean_{a} (…)^2", "mean_{a} (X)^2"),
}


@pytest.mark.parametrize("text", NAMED)
def test_the_message_names_what_is_written_and_every_repair_is_read(text):
    shown, span_text = NAMED[text]
    with pytest.raises(NotationError) as caught:
        parse(text)
    problem = caught.value
    called, power = shown.split(" (…)")
    assert problem.message == f"{shown} is ambiguous: it could mean ({called}(…)){power} or {called}((…){power})"
    assert problem.span_text == span_text
    first, second = map(parse, repaired(problem))
    assert first != second


UNAFFECTED = {  # what is read as it always was, and where that is a number, its value
    "(mean_{n}(x))^2": SQUARED, "(mean_{n} x)^2": SQUARED, "mean_{n} x^2": OF_SQUARES, "mean_{n}(x^2)": OF_SQUARES, "mean_{n}((x)^2)": OF_SQUARES,
    "mean_{n}[x^2]": OF_SQUARES, "∑_{n} (x)^2": 21, "sum_n (x)^2": 21, "∏_{n} (x)^2": 64, "norm_{n}(x)^2": 21, "norm_{n} (x)^2": 21, "norm_{n}(x; 1)^2": 49,
    "‖x‖^2": 21, "∑_{n} sin(x)^2": None, "∑_{n} log_2(x)^2": 5, "∑_{n} max(x, 2)^2": 24, "∑_{n} clip(x, 1, 2)^2": 9, "∑_{n} max(x, 0)^2": 21,
    "f(U) = 2 U\n∑_{n} f(x)^2": 84, "W_1(U) = 2 U\n∑_{n} W_1(x)^2": 84, "LN_Q(U) = 2 U\n∑_{n} LN_Q(x)^2": 84, "P_k(U) = k U\n∑_{n} P_2(x)^2": 84,
    "∑_{n*} softmax_{n}(x)^*": 1, "mean_{n} |x|^2": OF_SQUARES, "mean_{n} 2 (x)^2": 14, "mean_{n} [1, 2, 4]_{n}^2": 7,
    "𝔼_{z ∼ N(0, 1)}[z]^2": None, r"\nfun{\name{n}}{norm_2}(x)^2": 21, r"\left(\nfun{\name{n}}{mean}(x)\right)^2": SQUARED,
    r"\operatorname{mean}_{\name{n}} {x}^2": OF_SQUARES, r"\nsum{\name{n}} (x)^2": 21, r"\sum_{i=1}^{3} (x_{\name{n}(i)})^2": 21,
    r"\nsum{\name{n}} \max(x, 2)^2": 24,
}  # fmt: skip


@pytest.mark.parametrize("text", UNAFFECTED)
def test_what_everyone_reads_alike_is_read(text):
    value = nt.evaluate(text, {"x": X})
    expected = UNAFFECTED[text]
    assert expected is None or float(value) == pytest.approx(expected)


AXES_FUNCTIONS = sorted(FUNCTIONS - ELEMENTWISE - {"size", "concat", "stack", "index", "onehot"})


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [*AXES_FUNCTIONS, "norm", "sin", "f", "LN"])
@pytest.mark.parametrize("base", ["x", "∑", "nested"])
def test_the_printer_writes_no_such_text(name, base):
    operand = {
        "x": Name("x"),
        "∑": Call("∑", (), (Name("b"),), (Name("x"),)),
        "nested": Call("mean", (), (Name("b"),), (Name("x"),)),
    }[base]
    call = Call(name, (), (Name("a"),) if name not in ("sin", "f") else (), (operand,))
    power = Superscript(call, (Number(2),))
    for node in (
        power,
        Superscript(power, (Number(3),)),
        Call("mean", (), (Name("n"),), (power,)),
        Call("negative", (), (), (power,)),
        Superscript(Subscript(call, (Name("k"),)), (Number(2),)),
    ):
        tree = Program((Value(node),))
        head = "" if name in FUNCTIONS else f"{name}_{{a}} : ℝ^{{a}} → ℝ\n" if name == "LN" else f"{name} : ℝ → ℝ\n"
        for written in (to_text(tree), to_text(tree, ascii=True), to_latex(tree), to_latex(tree, macros=True)):
            latex = "\\" in written and "\\oplus" not in written
            signed = parse(head) if head else None
            after = "" if signed is None else r" \\ " + to_latex(signed, macros=True) if latex else "\n" + head
            source = written + after
            assert parse(source, "latex" if latex else "text").statements[0] == tree.statements[0], source


def test_closed_forms_are_printed_with_brackets():
    closed = str(nt.formula("(softmax_{a} x)^3").derivative("x").closed_form())
    assert "(softmax_a(x))^" in closed
    parse(closed)


# ------------------------------------------------------------------------------------------- the inverse of a function
INVERSE = {  # with its repairs
    "sin^{-1} x": ["arcsin x", "1 / sin x"],
    "sin^-1(x)": ["arcsin(x)", "1 / sin(x)"],
    "sin⁻¹ x": ["arcsin x", "1 / sin x"],
    r"\sin^{-1} x": [r"\arcsin x", r"1 / \sin x"],
    r"\tan^{-1}(x)": [r"\arctan(x)", r"1 / \tan(x)"],
    r"\sin^-1 x": [r"\arcsin x", r"1 / \sin x"],
    r"\operatorname{cos}^{-1} x": [r"\operatorname{arccos} x", r"1 / \operatorname{cos} x"],
    "exp^{-1} x": ["log x", "1 / exp x"],
    "log^{-1} x": ["exp x", "1 / log x"],
    "ln^{-1} x": ["exp x", "1 / ln x"],
    "σ^{-1}(x)": ["1 / σ(x)"],
    "erf^{-1} x": ["1 / erf x"],
    r"\sigma^{-1}(x)": [r"1 / \sigma(x)"],
    "sinh^{-1} x": ["1 / sinh x"],
    "mean_{n}^{-1} x": ["1 / mean_{n} x"],
    "2 sin^{-1} x + 1": ["2 arcsin x + 1", "2 (1 / sin x) + 1"],
    "x / sin^{-1} x": ["x / arcsin x", "x / (1 / sin x)"],
    "x − cos⁻¹(x) ⊙ x": ["x − arccos(x) ⊙ x", "x − (1 / cos(x)) ⊙ x"],
    r"\frac{\tan^{-1} x}{2}": [r"\frac{\arctan x}{2}", r"\frac{1 / \tan x}{2}"],
}


@pytest.mark.parametrize("text", INVERSE)
def test_a_power_minus_one_of_a_function_is_refused_with_what_it_may_mean(text):
    with pytest.raises(NotationError) as caught:
        parse(text)
    problem = caught.value
    assert problem.code == 107 and "is ambiguous: it could mean" in problem.message
    assert repaired(problem) == INVERSE[text]
    for item in repaired(problem):
        parse(item)


@pytest.mark.parametrize(
    "text", ["sin(x)^{-1}", "sin^2 x", "sin^{-2} x", "x σ^{-1}", "σ ∈ ℝ\nx + σ^{-1} (x)", "1 / sin x"]
)
def test_other_powers_of_functions_and_of_tensors_called_like_one_are_read(text):
    parse(text)


def test_the_inverses_are_operators():
    assert INVERSES.keys() | INVERSES.values() <= ELEMENTWISE
    assert {name: INVERSES[inverse] for name, inverse in INVERSES.items() if name != "ln"} == {
        name: name for name in INVERSES if name != "ln"
    }


@pytest.mark.parametrize("text", ["2^3^2", "a/2 b", "1/n ∑_{seq} x", "x²^3"])
def test_the_readings_of_what_is_ambiguous_are_edits(text):
    with pytest.raises(NotationError) as caught:
        parse(text)
    first, second = map(parse, repaired(caught.value))
    assert first != second
