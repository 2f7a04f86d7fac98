"""Tree to formula: what each construct looks like in each spelling, and that it is read back as the same tree."""

import pytest
import strategies
from hypothesis import given, settings

from grammar import nodes
from grammar.nodes import Call, Name, Number, Program, Value
from grammar.parser import parse
from grammar.printer import to_latex, to_text
from grammar.symbols import GREEK_LETTERS, GREEK_VARIANTS, SYMBOLS, value

# Text, which is printed as it is used here; ASCII; LaTeX in the macros of the paper.
FORMULAS = [
    # sums, products, quotients
    ("A + x", "A + x", "A + x"),
    ("a - (b - c)", "a - (b - c)", "a - (b - c)"),
    ("X ⊙ Y ⊙ Z", "X * Y * Z", r"X \odot Y \odot Z"),
    ("X ⊙ (Y ⊙ Z)", "X * (Y * Z)", r"X \odot (Y \odot Z)"),
    ("2 · 3", "2 * 3", r"2 \cdot 3"),
    ("Q ⊙_{key} K", "Q @_{key} K", r"Q \ndot{\name{key}} K"),
    ("W ⊙_{heads, val} V", "W @_{heads, val} V", r"W \ndot{\name{heads}, \name{val}} V"),
    ("X ⊕_{chans} Y", "concat_{chans}(X, Y)", r"X \ncat{\name{chans}} Y"),
    ("X ★_{ax} (Y ⊗ Z)", r"X \star_{ax} (Y \otimes Z)", r"X \nbin{\name{ax}}{\star} (Y \otimes Z)"),
    ("a / b", "a / b", r"\frac{a}{b}"),
    ("(a / b) / c", "(a / b) / c", r"\frac{\frac{a}{b}}{c}"),
    ("(a / b) ⊙ c", "(a / b) * c", r"\frac{a}{b} \odot c"),
    ("a ⊙ b / c", "a * b / c", r"\frac{a \odot b}{c}"),
    ("a / (b c)", "a / (b c)", r"\frac{a}{b c}"),
    # signs, and one thing beside another
    ("-X ⊙ Y", "-X * Y", r"-X \odot Y"),
    ("a ⊙ (-b)", "a * (-b)", r"a \odot (-b)"),
    ("-(-a)", "-(-a)", "-(-a)"),
    ("-(a + b)", "-(a + b)", "-(a + b)"),
    ("2 X", "2 X", "2 X"),
    ("2 (10^3)", "2 (10^3)", "2 (10^3)"),
    ("α X + β (K ⊙ q)", "alpha X + beta (K * q)", r"\alpha X + \beta (K \odot q)"),
    ("(E ⊙_{vocab} I) √|layer|", "(E @_{vocab} I) sqrt(|layer|)", r"(E \ndot{\name{vocab}} I) \sqrt{|\name{layer}|}"),
    ("√(a + b)", "sqrt(a + b)", r"\sqrt{a + b}"),
    ("√(x^2)", "sqrt(x^2)", r"\sqrt{x^2}"),
    ("√b_1", "sqrt(b_1)", r"\sqrt{b_1}"),
    # big operators
    ("∑_{ax} X ⊙ Y", "sum_{ax} X * Y", r"\nsum{\name{ax}} X \odot Y"),
    ("∑_{a, b} X - Y", "sum_{a, b} X - Y", r"\nsum{\name{a}, \name{b}} X - Y"),
    ("Z ⊙ ∑_{b} X ⊙ Y", "Z * sum_{b} X * Y", r"Z \odot \nsum{\name{b}} X \odot Y"),
    ("(∑_{b} X) ⊙ Y", "(sum_{b} X) * Y", r"(\nsum{\name{b}} X) \odot Y"),
    ("a / (∑_{b} X ⊙ Y)", "a / (sum_{b} X * Y)", r"\frac{a}{\nsum{\name{b}} X \odot Y}"),
    ("exp(X) / ∑_{ax} exp(X)", "exp(X) / sum_{ax} exp(X)", r"\frac{\exp(X)}{\nsum{\name{ax}} \exp(X)}"),
    ("(1 / |ax|) ∑_{ax} X", "(1 / |ax|) sum_{ax} X", r"\frac{1}{|\name{ax}|} \nsum{\name{ax}} X"),
    ("∑_{ax} (-X)", "sum_{ax} (-X)", r"\nsum{\name{ax}} (-X)"),
    ("∑_{i} A_{height(i)}", "sum_{i} A_{height(i)}", r"\sum\limits_{i} A_{\name{height}(i)}"),
    ("∏_{i=1}^{n} i^2", "prod_{i=1}^{n} i^2", r"\prod\limits_{i=1}^{n} i^2"),
    ("∑_{i=(exp(γ))}^{n} i", "sum_{i=(exp(gamma))}^{n} i", r"\sum\limits_{i=(\exp(\gamma))}^{n} i"),
    # functions
    (
        "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V",
        "softmax_{seq}(Q @_{key} K / sqrt(|key|)) @_{seq} V",
        r"\nfun{\name{seq}}{softmax}\left(\frac{Q \ndot{\name{key}} K}{\sqrt{|\name{key}|}}\right) \ndot{\name{seq}} V",
    ),
    ("max(0, X)^2", "max(0, X)^2", r"\max(0, X)^2"),
    ("norm_{ax}(X; 2)", "norm_{ax}(X; 2)", r"\nfun{\name{ax}}{norm}(X; 2)"),
    ("σ(X)", "sigma(X)", r"\sigma(X)"),
    ("gelu_tanh(X)", "gelu_tanh(X)", r"\text{gelu\_tanh}(X)"),
    # scripts
    ("(x^2)^n", "(x^2)^n", "(x^2)^n"),
    ("(a + b)^{-1}", "(a + b)^{-1}", "(a + b)^{-1}"),
    ("W^{l,Q}", "W^{l,Q}", "W^{l,Q}"),
    ("h^{t-1}", "h^{t-1}", "h^{t-1}"),
    ("W^{max,in}", "W^{max,in}", r"W^{\mathrm{max},\mathrm{in}}"),
    ("γ^{1'}", "gamma^{1'}", r"\gamma^{1'}"),
    ("b_1 + n_{l-1}", "b_1 + n_{l-1}", "b_1 + n_{l-1}"),
    ("X_τ^2 + x^τ", r"X_{\tau}^2 + x^{tau}", r"X_{\tau}^2 + x^{\tau}"),
    ("X_1_2 + X_12", "X_1_2 + X_12", "{X_1}_2 + X_{12}"),
    ("(X + Y)^*", "(X + Y)^*", "(X + Y)^*"),
    ("X^†", r"X^\dagger", r"X^\dagger"),
    ("I_{ax, ax†}", r"I_{ax, ax\dagger}", r"I_{\name{ax}, \name{ax}^\dagger}"),
    # indices and renames
    ("A_{height(1), width(i+1)}", "A_{height(1), width(i+1)}", r"A_{\name{height}(1), \name{width}(i+1)}"),
    ("[X ⊙ Y]_{ax(2 i)}", "[X * Y]_{ax(2 i)}", r"[X \odot Y]_{\name{ax}(2 i)}"),
    ("[exp(X)]_{seq→seq'}", "[exp(X)]_{seq->seq'}", r"[\exp(X)]_{\name{seq}\rightarrow\name{seq}'}"),
    (
        "[X + Y]_{a→b, c→d}",
        "[X + Y]_{a->b, c->d}",
        r"[X + Y]_{\name{a}\rightarrow\name{b}, \name{c}\rightarrow\name{d}}",
    ),
    ("X_{(a,b)→c}", "X_{(a,b)->c}", r"X_{(\name{a},\name{b})\rightarrow\name{c}}"),
    ("X_{c→(a,b)}", "X_{c->(a,b)}", r"X_{\name{c}\rightarrow(\name{a},\name{b})}"),
    ("X_{hidden_1→hidden_1^*}", "X_{hidden_1->hidden_1^*}", r"X_{\name{hidden}_1\rightarrow\name{hidden}_1^*}"),
    # literals, cases, conditions
    (
        "[3, 1; 1, 5]_{height, width}",
        "[3, 1; 1, 5]_{height, width}",
        r"\nmatrix{\name{height}}{\name{width}}{3 & 1 \\ 1 & 5}",
    ),
    ("[0.25, -2]_{seq}", "[0.25, -2]_{seq}", r"\nmatrix{}{\name{seq}}{0.25 & -2}"),
    (
        "{ 0 if i ≤ j; -∞ otherwise }",
        "{ 0 if i <= j; -inf otherwise }",
        r"\begin{cases} 0 & \text{if } i \leq j \\ -\infty & \text{otherwise} \end{cases}",
    ),
    ("𝕀[1 ≤ i ≤ j ∧ ¬(i = 2)]", "I[1 <= i <= j and not (i = 2)]", r"\mathbb{I}[1 \leq i \leq j \land \lnot (i = 2)]"),
    ("(i odd ∨ i ≠ j)", "(i odd or i != j)", r"(i \text{ odd} \lor i \neq j)"),
    # differentials
    ("∂(X ⊙ Y)/∂X*", "d(X * Y)/dX*", r"\frac{\partial (X \odot Y)}{\partial X^*}"),
    ("∂f/∂γ* - Z", r"\partial f/\partial \gamma* - Z", r"\frac{\partial f}{\partial \gamma^*} - Z"),
    ("Z ⊙ (∂Y/∂W^Q)", r"Z * (\partial Y/\partial W^Q)", r"Z \odot \frac{\partial Y}{\partial W^Q}"),
    ("∂(a + b)", r"\partial(a + b)", r"\partial (a + b)"),
    # statements
    ("W ∈ ℝ^{a × b}", "W in R^{a, b}", r"W \in \reals^{\name{a} \times \name{b}}"),
    ("γ, β ∈ ℝ^{a[n-1]}", "gamma, beta in R^{a[n-1]}", r"\gamma, \beta \in \reals^{\name{a}[n-1]}"),
    ("I ∈ [n]^{seq}", "I in [n]^{seq}", r"I \in [n]^{\name{seq}}"),
    ("M ∈ {0,1}^{a × b}", "M in {0,1}^{a, b}", r"M \in \{0,1\}^{\name{a} \times \name{b}}"),
    ("f : ℝ^{a} × [0,1] → ℝ", "f : R^{a} x [0,1] -> R", r"f \colon \reals^{\name{a}} \times [0,1] \rightarrow \reals"),
    ("f(X; W, b) = W X + b", "f(X; W, b) = W X + b", "f(X; W, b) = W X + b"),
    ("LN_Q(X) = X = Y ∈ ℝ", "LN_Q(X) = X = Y in R", r"\text{LN}_Q(X) = X = Y \in \reals"),
    ("h^t = X for t = 1, …, n", "h^t = X for t = 1, ..., n", r"h^t = X \quad \text{for } t = 1, \ldots, n"),
]

# What is spelled in another way, or with more brackets, than it is printed.
TIDIED = [
    ("softmax_seq X", "softmax_{seq}(X)"),
    ("exp exp (X)", "exp(exp(X))"),
    ("concat_a(X, Y)", "X ⊕_{a} Y"),
    ("((a) ⊙ (b)) + c", "a ⊙ b + c"),
    ("sqrt x", "√x"),
    ("Q @_{} K", "Q ⊙ K"),
    ("(1 ≤ i ∧ i ≤ j)", "(1 ≤ i ≤ j)"),
    ("X²ₐₓ", "X^2_{ax}"),
    ("X_{hidden_1*→seq‡}", "X_{hidden_1^*→seq†}"),
    ("d(exp(X))/dX*", "∂exp(X)/∂X*"),
    ("[X]_{a(1)}", "X_{a(1)}"),
]

# LaTeX for a page that knows no macros.
EXPANDED = [
    ("Q ⊙_{key} K", r"Q \mathbin{\mathop{\odot}\limits_{\mathsf{key}}} K"),
    ("softmax_{seq} X", r"\mathop{\mathrm{softmax}}\limits_{\mathsf{seq}}(X)"),
    ("∑_{seq} X", r"\sum\limits_{\mathsf{seq}} X"),
    ("W ∈ ℝ^{a}", r"W \in \mathbb{R}^{\mathsf{a}}"),
    ("FFN^l(X) = mask", r"\text{FFN}^l(X) = \mathrm{mask}"),
    ("[1, 2]_{a}", r"\mathinner{\overset{\mathsf{a}}{\begin{bmatrix} 1 & 2 \end{bmatrix}}}"),
    ("[1; 2]_{a, b}", r"\mathinner{\mathsf{a}\overset{\mathsf{b}}{\begin{bmatrix} 1 \\ 2 \end{bmatrix}}}"),
    (
        "f : ℝ → ℝ\n[X + Y]_{a(1)} = Z for i = 1, …, n\n⋮\n(-X)",
        "\\begin{aligned}\nf \\colon \\mathbb{R} &\\rightarrow \\mathbb{R} \\\\\n"
        "{}[X + Y]_{\\mathsf{a}(1)} &= Z \\quad \\text{for } i = 1, \\ldots, n \\\\\n&\\vdots \\\\\n&(-X)\n\\end{aligned}",
    ),
]

# Each tells one thing from another that looks like it.
READ_BACK = [
    "g(X) = X\nf(X) = (X < X < X)",  # no range of X
    "f(X) = X\nX ∈ {X} for t = X, …, X",
    "★_{ax} : ℝ → ℝ\n⊕_{l-1} : ℝ × ℝ → ℝ\nX ★_{ax} Y",
    "concat_{a} : ℝ × ℝ → ℝ\nconcat(X, Y, Z)",
    "sqrt ∈ ℝ\nconcat ∈ ℝ\n√sqrt + (concat ⊕ X)",
    "(f) X = 1\nY = f (X + 1)",
    "d(X) = X\nY = d(X) / (X ⊙ dX)",
    "W^{exp} (X + Y)",
    "W^max (X) + W_{max} (X)",
    "(in) + W^{in} = f((in))\nf(x) = x",
    "|sum†| + |hidden_1*| + |τ| + |if'|",
    "∂X* Y + ∂X * Y",
    "X = 1\n(-X)",
    "X\n[a, b]_{c}",
    "a (2) (3)",
    "(a < b) = (c < d)",
    "{ (a = b) if a; b otherwise }",
    "LN_d(X) = X\nLN_d(X) / dX",
]


def spellings(tree):
    yield to_text(tree), "text"
    yield to_text(tree, ascii=True), "text"
    yield to_latex(tree), "latex"
    yield to_latex(tree, macros=True), "latex"


def assert_read_back(tree):
    for source, syntax in spellings(tree):
        assert parse(source, syntax) == tree, source


@pytest.mark.parametrize("text, ascii, latex", FORMULAS)
def test_spellings(text, ascii, latex):
    tree = parse(text, "text")
    assert to_text(tree, ascii=True) == ascii
    assert to_latex(tree, macros=True) == latex
    assert to_text(tree) == text
    assert_read_back(tree)


@pytest.mark.parametrize("written, printed", TIDIED)
def test_tidied(written, printed):
    assert to_text(parse(written, "text")) == printed


@pytest.mark.parametrize("text, latex", EXPANDED)
def test_expanded_latex(text, latex):
    tree = parse(text, "text")
    assert to_latex(tree) == latex
    assert_read_back(tree)


@pytest.mark.parametrize("text", READ_BACK)
def test_read_back(text):
    assert_read_back(parse(text, "text"))


# ---------------------------------------------------------------------------------------------------------------- laws
often = settings(max_examples=2 * settings().max_examples)


@pytest.mark.slow
@often
@given(strategies.expressions())
def test_every_expression_is_read_back(expression):
    assert_read_back(Program((Value(expression),)))


@pytest.mark.sampled(3)
@pytest.mark.slow
@often
@given(strategies.programs())
def test_every_program_is_read_back(program):
    """From each spelling, with the syntax named and by its looks; printed again it is the same, and ASCII is ASCII."""
    for source, syntax in spellings(program):
        tree = parse(source, syntax)
        assert tree == program, source
        assert source in [again for again, _ in spellings(tree)]
    for source in (to_text(program), to_text(program, ascii=True)):
        assert parse(source) == program, source
    assert to_text(program, ascii=True).isascii()


# -------------------------------------------------------------------------------------------------------------- symbols
@pytest.mark.parametrize("sign", [value(symbol) for symbol in SYMBOLS if symbol.terminal == "OPERATOR"])
def test_every_operator(sign):
    assert_read_back(parse(f"X {sign} Y {sign}_{{a, b}} Z", "text"))


@pytest.mark.parametrize("letter", sorted(GREEK_LETTERS - set(GREEK_VARIANTS) - {"σ"}))
def test_every_greek_letter(letter):
    tree = parse(f"{letter}' + X_{{{letter}}} + |{letter}*|", "text")
    assert to_text(tree, ascii=True).isascii()
    assert_read_back(tree)


@pytest.mark.parametrize(
    "number", [0, 7, 10**399, 0.0, 0.5, 1e-05, 1e16, 1e22, 0.1 + 0.2, 5e-324, 1.7976931348623157e308]
)
def test_numbers(number):
    for source, syntax in spellings(Number(number)):
        (statement,) = parse(source, syntax).statements
        assert isinstance(statement, Value) and isinstance(statement.body, Number)
        result = statement.body.value
        assert (result, type(result)) == (number, type(number))


# -------------------------------------------------------------------------------------------------------- long and deep
@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize("sign", [" + ", " - ", " ⊙ ", " ", " ★_{a} "])
def test_long_chains(sign):
    text = sign.join(["X"] * 5000)
    tree = parse(text, "text", nesting=2000)
    assert to_text(tree) == text
    for source, syntax in spellings(tree):
        assert to_text(parse(source, syntax, nesting=2000)) == text


def test_long_conditions_and_scripts():
    for text in ("(" + " ≤ ".join(["i"] * 3000) + ")", "(" + " ∧ ".join(["i"] * 3000) + ")", "X" + "_1" * 3000):
        assert to_text(parse(text, "text", nesting=2000)) == text


def test_deep_trees():
    tree = Name("X")
    for _ in range(5000):
        tree = Call("negative", (), (), (tree,))
    assert to_text(tree) == "-(" * 4999 + "-X" + ")" * 4999


def test_numbers_that_only_derived_trees_hold():
    assert to_text(Call("⊙", (), (), (Name("x"), Number(-2)))) == "x ⊙ (-2)"
    assert to_latex(Call("+", (), (), (Name("x"), Number(float("inf"))))) == r"x + \infty"


@pytest.mark.parametrize("name", ["seq_12*†_12*†", "seq*_12*_12*†", "index_12*†_in*†", "seq_12*†_12*†_3*"])
@pytest.mark.parametrize(("print_it", "syntax"), [(to_text, "text"), (to_latex, "latex")])
def test_the_size_of_an_axis_with_many_labels_and_marks_is_read_back(name, print_it, syntax):
    program = nodes.Program((nodes.Value(nodes.Size(nodes.Axis(name))),))
    assert parse(print_it(program), syntax) == program


def test_a_label_e_before_a_subscript_with_an_expectation_is_no_expectation():
    assert to_text(parse("f(X) = X^E_{seq(𝔼_{x ∼ N(0, 1)}[x])}")) == "f(X) = X^E_{seq(𝔼_{x ∼ N(0, 1)}[x])}"
