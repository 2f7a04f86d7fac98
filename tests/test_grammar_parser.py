"""Text to tree: a table of cases for each construct, and the places of syntax errors."""

import pytest
from lark.parsers.lalr_interactive_parser import InteractiveParser

from grammar.errors import CATALOGUE, KINDS, NotationError
from grammar.function_names import tell_functions
from grammar.nodes import (
    Axis,
    Call,
    Cases,
    Declaration,
    Derivative,
    Ellipsis,
    Equation,
    Index,
    IndexSum,
    Indicator,
    Literal,
    Name,
    Number,
    Rename,
    Set,
    Signature,
    Size,
    Starred,
    Subscript,
    Superscript,
    Value,
    axis_of,
)  # fmt: skip
from grammar.parser import find_expected, list_accepted_terminals, parse, recognizer, spelling_of, tokens_of
from grammar.printer import to_latex, to_text
from grammar.text import tokenize

A, B, X, Y, Z, k = (Name(letter) for letter in "ABXYZk")
SEQ, KEY = Name("seq"), Name("key")


def op(operator, *arguments, axes=(), parameters=()):
    return Call(operator, (), tuple(axes), arguments, tuple(parameters))


def expression(text):
    statements = parse(text, "text").statements
    assert len(statements) == 1
    assert isinstance(statements[0], Value)
    return statements[0].body


EXPRESSIONS = {
    "2": Number(2),
    "0.25": Number(0.25),
    "1e-5": Number(1e-5),
    "X'": Name("X'"),
    "X′": Name("X'"),
    "γ": Name("γ"),
    "gamma": Name("γ"),
    "ϵ": Name("ε"),
    "inf": Name("∞"),
    "X + Y − Z": op("-", op("+", X, Y), Z),
    "X ⊙ Y": op("⊙", X, Y),
    "X · Y": op("⊙", X, Y),
    "X * Y": op("⊙", X, Y),
    "X ⊙_{key} Y": op("⊙", X, Y, axes=[KEY]),
    "X ⊙_key Y": op("⊙", X, Y, axes=[KEY]),
    "X @_{key, seq} Y": op("⊙", X, Y, axes=[KEY, SEQ]),
    "X ⊕_{seq} Y": op("⊕", X, Y, axes=[SEQ]),
    "X ★_{seq} Y": op("★", X, Y, axes=[SEQ]),
    "X / Y / Z": op("/", op("/", X, Y), Z),
    "−X^2": op("negative", Superscript(X, (Number(2),))),
    "2X": op("juxtaposed", Number(2), X),
    "αX": op("juxtaposed", Name("α"), X),
    "X (Y + Z)": op("juxtaposed", X, op("+", Y, Z)),
    "exp X + Y": op("+", op("exp", X), Y),
    "exp 2X": op("exp", op("juxtaposed", Number(2), X)),
    "softmax_{seq} X ⊙ Y": op("⊙", op("softmax", X, axes=[SEQ]), Y),
    "softmax_{seq} −X": op("softmax", op("negative", X), axes=[SEQ]),
    "(softmax_{seq}(X))^2": Superscript(op("softmax", X, axes=[SEQ]), (Number(2),)),
    "softmaxₛₑₚ X": op("softmax", X, axes=[Name("sep")]),
    "max_{seq} mean_{key} X": op("max", op("mean", X, axes=[KEY]), axes=[SEQ]),
    "∑_{seq} X ⊙ Y + Z": op("+", op("∑", op("⊙", X, Y), axes=[SEQ]), Z),
    "Z ⊙ ∑_{seq} X / Y": op("⊙", Z, op("∑", op("/", X, Y), axes=[SEQ])),
    "sum_{seq} (X − Y)^2": op("∑", Superscript(op("-", X, Y), (Number(2),)), axes=[SEQ]),
    "2 ∑_{seq} X": op("juxtaposed", Number(2), op("∑", X, axes=[SEQ])),
    "−∑_{seq} X": op("negative", op("∑", X, axes=[SEQ])),
    "∑_{i=1}^{3} X": IndexSum("∑", Name("i"), Number(1), Number(3), X),
    "√X Y": op("juxtaposed", op("sqrt", X), Y),
    "√|key|": op("sqrt", Size(Axis("key"))),
    "√x²": op("sqrt", Superscript(Name("x"), (Number(2),))),
    "sqrt(X + Y)": op("sqrt", op("+", X, Y)),
    "|seq'|": Size(Axis("seq'")),
    "W^{l,Q}": Superscript(Name("W"), (Name("l"), Name("Q"))),
    "h^{t-1}": Superscript(Name("h"), (op("-", Name("t"), Number(1)),)),
    "γ^{1'}": Superscript(Name("γ"), (Name("1'"),)),
    "A²": Superscript(A, (Number(2),)),
    "A^{-1}": Superscript(A, (op("negative", Number(1)),)),
    "b_1": Subscript(Name("b"), (Number(1),)),
    "A_{seq(1), key(i+1)}": Index(A, ((Axis("seq"), Number(1)), (Axis("key"), op("+", Name("i"), Number(1))))),
    "X_{hidden_1(2)}": Index(X, ((Axis("hidden_1"), Number(2)),)),
    "X_{seq*(1)}": Index(X, ((Axis("seq*"), Number(1)),)),
    "X_{a→b}": Rename(X, (((Axis("a"),), (Axis("b"),)),)),
    "X_{a->b, c->d}": Rename(X, (((Axis("a"),), (Axis("b"),)), ((Axis("c"),), (Axis("d"),)))),
    "X_{(a,b)→c}": Rename(X, (((Axis("a"), Axis("b")), (Axis("c"),)),)),
    "X_{c→(a,b)}": Rename(X, (((Axis("c"),), (Axis("a"), Axis("b"))),)),
    "[X + Y]_{seq(1)}": Index(op("+", X, Y), ((Axis("seq"), Number(1)),)),
    "(X)^*": Starred(X, "*"),
    "X^†": Starred(X, "†"),
    "[1, 2]_{seq}": Literal(((Number(1), Number(2)),), (Axis("seq"),)),
    "[1; 2]_{seq}": Literal(((Number(1), Number(2)),), (Axis("seq"),)),
    "[1, 2; 3, 4]_{seq, key}": Literal(((Number(1), Number(2)), (Number(3), Number(4))), (Axis("seq"), Axis("key"))),
    "norm_{seq}(X; 3)": op("norm", X, axes=[SEQ], parameters=[Number(3)]),
    "{ 0 if X ≤ Y; -∞ otherwise }": Cases(
        ((Number(0), op("≤", X, Y)), (op("negative", Name("∞")), None))
    ),
    "{ 1 if k odd; 2 if k even }": Cases(((Number(1), op("odd", k)), (Number(2), op("even", k)))),
    "𝕀[X > Y]": Indicator(op(">", X, Y)),
    "I[X >= Y and not X = Y]": Indicator(op("∧", op("≥", X, Y), op("¬", op("=", X, Y)))),
    "where(X < Y, X, Y)": op("where", op("<", X, Y), X, Y),
    "∂(X ⊙ X)/∂X*": Derivative(op("⊙", X, X), X, "*"),
}  # fmt: skip


@pytest.mark.parametrize("text", EXPRESSIONS, ids=str)
def test_expression(text):
    assert expression(text) == EXPRESSIONS[text]


STATEMENTS = {
    "W ∈ ℝ^{a × b}": Declaration((Name("W"),), (Set("reals", (), ((Axis("a"), None), (Axis("b"), None))),)),
    "W in R^{a, b}": Declaration((Name("W"),), (Set("reals", (), ((Axis("a"), None), (Axis("b"), None))),)),
    "γ, β ∈ ℝ^{a[3]}": Declaration((Name("γ"), Name("β")), (Set("reals", (), ((Axis("a"), Number(3)),)),)),
    "x ∈ {0, 1}^{a}": Declaration((Name("x"),), (Set("elements", (Number(0), Number(1)), ((Axis("a"), None),)),)),
    "x ∈ [0, 1]": Declaration((Name("x"),), (Set("interval", (Number(0), Number(1)), ()),)),
    "i ∈ [n]^{a}": Declaration((Name("i"),), (Set("count", (Name("n"),), ((Axis("a"), None),)),)),
    "Y = X": Equation((Y, X)),
    "Y = X = Z ∈ ℝ": Equation((Y, X, Z), (Set("reals", (), ()),)),
    "⋮": Ellipsis(),
    "f : ℝ^{a} × ℝ → ℝ": Signature(Call("f", (), (), ()), (Set("reals", (), ((Axis("a"), None),)), Set("reals", (), ())), Set("reals", (), ())),
    "f : R^{a} x R -> R": Signature(Call("f", (), (), ()), (Set("reals", (), ((Axis("a"), None),)), Set("reals", (), ())), Set("reals", (), ())),
}  # fmt: skip


@pytest.mark.parametrize("text", STATEMENTS, ids=str)
def test_statement(text):
    assert parse(text, "text").statements == (STATEMENTS[text],)


def test_a_line_continues_after_and_before_an_operator_and_in_brackets():
    one = parse("Y = X + Z").statements
    for text in ("Y = X +\nZ", "Y = X\n  + Z", "Y\n= X + Z", "Y = (X\n) + Z  # the end\n\n"):
        assert parse(text, "text").statements == one


def test_a_range_belongs_to_its_statement():
    (statement,) = parse("h^t = 2 h^{t-1} for t = 1, …, n").statements
    assert (statement.range.variable, statement.range.first, statement.range.last) == (Name("t"), Number(1), Name("n"))


def test_a_function_is_told_from_a_product_by_its_definition():
    call = parse("f(x) = 2 x\nY = f(X)").statements[1].sides[1]
    product = parse("Y = f(X)").statements[0].sides[1]
    assert call == op("f", X)
    assert product == op("juxtaposed", Name("f"), X)


def test_a_declared_tensor_shadows_a_built_in_function():
    assert parse("σ ∈ ℝ\nY = σ (X)").statements[1].sides[1] == op("juxtaposed", Name("σ"), X)
    assert parse("Y = σ (X)", shadowed=frozenset({"σ"})).statements[0].sides[1] == op("juxtaposed", Name("σ"), X)


def test_names_of_functions_may_name_axes():
    assert expression("A_{max(1)}") == Index(A, ((Axis("max"), Number(1)),))
    assert parse("x ∈ ℝ^{pool × sort}").statements[0].sets[0].axes == ((Axis("pool"), None), (Axis("sort"), None))


SYNTAX_ERRORS = [
    ("softmax_{a} (A + x", 102, "("),
    ("A ⊙_{height x", 102, "{"),
    ("A + x)", 103, ")"),
    ("(A + x] ⊙ x", 104, "]"),
    ("A +", 105, "+"),
    ("A ⊙_{height}", 105, "⊙_{height}"),
    ("/ x", 105, "/"),
    ("A ⊙ / x", 105, "/"),
    ("softmax_{a}", 105, "softmax_{a}"),
    ("A_{height()}", 105, ")"),
    ("A_{height→}", 101, "}"),
    ("A ? x", 106, "?"),
    ("A.array", 106, "."),
    ("X / 2 Y", 107, "X / 2 Y"),
    ("X / |a| ∑_{a} X", 107, "X / |a| ∑_{a} X"),
    ("   ", 108, "   "),
    ("# nothing", 108, "# nothing"),
    ("[1 2]_{a}", 101, "1 2"),
    ("[1, 2; 3]_{a, b}", 311, "3"),
    ("[1, 2; 3, 4]_{a, a}", 303, "a"),
    ("[1, 2]", 113, "[1, 2]"),
    ("X_{a(1), b→c}", 112, "_{a(1), b→c}"),
    ("∑_{i=1} X", 101, "_{i=1}"),
    ("sum X", 105, "sum"),
    ("max_{i=1} x", 101, "max_{i=1}"),
    ("max_{i ∈ [3]}^{4} i", 101, "max_{i ∈ [3]}^{4}"),
    ("max_{i ∈ [3]}(i, 2)", 304, "max_{i ∈ [3]}(i, 2)"),
    ("max^2^3(x)", 107, "max^2^3"),
    ("lim_{a} x", 101, "lim"),
    ("lim_{(a,b) → 3} x", 101, "(a,b)"),
    ("[1, 2]_{a+1}", 101, "a+1"),
    ("x[1, 2]", 101, "[1, 2]"),
    ("x^t = 1 for 1 ≤ t > n", 114, "for 1 ≤ t > n"),
    ("x^t = 1 for t = 1, 3, …, n", 114, "3"),
    ("x ∈ ℝ_{>1}", 101, "ℝ_{>1}"),
    ("f(x)|_3", 101, "3"),
    ("p(B | A) ∈ ℝ\np(B | A", 102, "("),
    ("∂(x", 102, "("),
    ("x &foo; y", 106, "&foo;"),
    ("x &amp; y", 106, "&amp;"),
    ("‖x", 102, "‖"),
    ("x⌋", 103, "⌋"),
    ("x;;y", 101, ";"),
    ("√(x; 2)", 101, ";"),
]


@pytest.mark.parametrize("text, number, position", SYNTAX_ERRORS, ids=[case[0] for case in SYNTAX_ERRORS])
def test_syntax_error(text, number, position):
    with pytest.raises(NotationError) as caught:
        parse(text, "text")
    assert (caught.value.code, caught.value.span_text) == (number, position)
    assert caught.value.kind == KINDS[number // 100]
    assert str(caught.value).startswith(f"{caught.value.kind} error {number}: ")


def test_both_readings_of_a_quotient_are_shown():
    with pytest.raises(NotationError, match=r"could mean \(X / 2\) Y\n  could mean X / \(2 Y\)"):
        parse("X / 2 Y")


def test_deep_brackets_are_a_limit_and_no_crash():
    with pytest.raises(NotationError) as caught:
        parse("(" * 100_000 + "A" + ")" * 100_000, "text")
    assert caught.value.code == 404
    assert parse("(" * 200 + "A" + ")" * 200).statements[0].body == A


def test_every_error_number_has_a_kind():
    assert all(number // 100 in KINDS for number in CATALOGUE)


def test_spelling_is_told_from_the_text():
    assert [spelling_of(text) for text in ("A + x", r"A \odot x", "$A$", r"\begin{align}")] == ["text"] + ["latex"] * 3


def test_tokens_and_what_may_come_next():
    assert [
        token.type for token in tokens_of("f(x) = 2x", "text")
    ] == "FUNCTION CALL NAME RPAREN EQUALS NUMBER NAME".split()
    assert "RPAREN" in find_expected("(A")
    assert "EQUALS" not in find_expected("A +")


def test_axis_names():
    assert [axis_of(expression(text)).name for text in ("seq", "hidden_1", "seq'")] == ["seq", "hidden_1", "seq'"]
    assert axis_of(Number(1)) is None


def test_spans_point_at_the_source():
    text = "A + softmax_{seq}(B)"
    node = expression(text)
    assert text[slice(*node.arguments[1].span)] == "softmax_{seq}(B)"
    assert text[slice(*node.arguments[1].operator_span)] == "softmax"


READINGS = (
    ("x &odot; y", "x ⊙ y"),
    ("x &nbsp; y", "x y"),
    ("x &lt; y", "x < y"),
    ("xₛᵢₙ", "x_{sin}"),
    ("⌊x⌋ + ‖y‖", "floor(x) + ‖y‖"),
    ("x^t = 1 for 1 < t < n", "x^t = 1 for t = 1 + 1, …, n - 1"),
    ("x^t = 1 for t = 1, 2, …, n", "x^t = 1 for t = 1, …, n"),
)


OF_DERIVATIVES = (
    ("det_{a,a*} ∂y/∂x*", "det_{a,a*}(∂y/∂x*)"),
    ("2 log ∂y/∂x*", "2 log(∂y/∂x*)"),
    ("√∂y/∂x", "√(∂y/∂x)"),
    ("∂∑_{a} x^2/∂x*", "∂(∑_{a} x^2)/∂x*"),
    ("∂∑_{a} ∑_{b} x ⊙ y/∂x*", "∂(∑_{a} ∑_{b} x ⊙ y)/∂x*"),
    ("∂∑_{i=1}^{3} x^i/∂x", "∂(∑_{i=1}^{3} x^i)/∂x"),
    ("∑_{a} ∂y/∂x*", "∑_{a} (∂y/∂x*)"),
    (r"\frac{\partial \nsum{a} x^2}{\partial x^*}", "∂(∑_{a} x^2)/∂x*"),
)


@pytest.mark.parametrize(("text", "meant"), OF_DERIVATIVES)
def test_a_derivative_is_read_as_a_whole(text, meant):
    """After a function, and of a big operator, where ∂y alone would have no value."""
    tree = parse(text)
    assert tree == parse(meant, "text")
    assert parse(to_text(tree)) == tree and parse(to_latex(tree)) == tree


@pytest.mark.parametrize(("text", "meant"), READINGS)
def test_other_spellings_of_the_same(text, meant):
    assert parse(text, "text") == parse(meant, "text")


def test_a_range_that_goes_down_is_printed_as_one():
    tree = parse("x^t = 1 for t = 3, 2, …, 1", "text")
    assert to_text(tree) == "x^t = 1 for t = 3, 2, …, 1" and parse(to_latex(tree)) == tree


def test_a_function_with_more_labels_than_are_tried_is_found_by_its_own():
    head = "f_{a,b,c,d,e,f,g,h,i}"
    tree = parse(f"{head}(x) = x\n{head}(y)", "text")
    assert isinstance(tree.statements[1].body, Call) and tree.statements[1].body.operator == "f"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("X_{a(1), b→c}", "this subscript mixes an index and a rename"),
        ("X_{a(1), k}", "this subscript mixes an index and a label"),
        ("X_{k, a→c}", "this subscript mixes a rename and a label"),
        ("X_{a(1), b→c, k}", "this subscript mixes an index and a rename and a label"),
        ("X_{a=1, b→c}", "this subscript mixes a rename and an equation"),
        ("X_{a < 3}", "a condition belongs to an indicator or an operator"),
    ],
)
def test_message_names_the_mixed_kinds(text, message):
    with pytest.raises(NotationError) as caught:
        parse(text)
    assert (caught.value.code, caught.value.message) == (112, message)


# ------------------------------------------------------------------------------------------------- what may come next
BEGINNINGS = [
    "A +", "A", "softmax_{a", "softmax_{a}", "(A + B", "X_{a(1", "f(x) =", "f : ℝ^{a}", "[x, y", "{ x if y", "{ x if y;", "∑_{i=1}^{n} x",
    "A ⊙_{b}", "𝔼_{x ∼ N(0, 1)}[x", "h^t = h^{t-1} for t = 1,", "A ∈", "A^{2}", "x, y =",
]  # fmt: skip


@pytest.mark.parametrize("text", BEGINNINGS)
def test_what_is_accepted_next_is_what_lark_accepts(text):
    tokens = tokenize(text)
    tell_functions(tokens, frozenset(), whole=False)
    recognition = recognizer().parse_interactive(tokens)
    for token in tokens:
        assert list_accepted_terminals(recognition) == recognition.accepts()
        recognition.feed_token(token)
    assert list_accepted_terminals(recognition) == recognition.accepts() != set()


def test_an_operand_that_is_missing_is_reported_without_a_copy_of_the_parser(monkeypatch):
    def copy(*_, **__):
        raise AssertionError("the parser was copied")

    monkeypatch.setattr(InteractiveParser, "copy", copy)
    for text in ("A +", "A + * B", "Y = "):
        with pytest.raises(NotationError):
            parse(text)
