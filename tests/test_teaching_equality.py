"""Equality at zeros, ties, constants of comparisons, tiny values and undefined values: one table, five consumers, both orders.

Each verdict was decided by hand: EQUAL everywhere, DIFFERENT, equal but for SPECIAL inputs at which only one side has a
value, or equal only where the NARROWER side has a value, which it lacks at ordinary inputs.
"""

import warnings

import numpy as np
import pytest

import namedtensor as nt
from grammar.parser import parse
from namedtensor.teaching.mutants import MIN_TRIED_MUTANTS, distinct_mutants
from namedtensor.teaching.sheet_files import release_sheet

EQUAL, DIFFERENT, SPECIAL, NARROWER = "equal", "different", "special", "narrower"
VECTOR, TWO = {"x": "ℝ^{n}"}, {"x": "ℝ^{n}", "y": "ℝ^{n}"}
STEPS = " + ".join(f"𝕀[x > {number}]" for number in range(10, 15)) + " + 𝕀[x {} 15]"  # more constants than random tests
ROWS = (  # two formulas, the types of their inputs, NumPy code of the second, the verdict
    ("where(x > 0, 1, 0)", "where(x ≥ 0, 1, 0)", VECTOR, lambda x: 1.0 * (x >= 0), DIFFERENT),
    ("where(x > 0.7, 1, 0)", "where(x ≥ 0.7, 1, 0)", VECTOR, lambda x: 1.0 * (x >= 0.7), DIFFERENT),
    ("where(x > y, 1, 0)", "where(x ≥ y, 1, 0)", TWO, lambda x, y: 1.0 * (x >= y), DIFFERENT),
    ("where(x > y + 1, 1, 0)", "where(x ≥ y + 1, 1, 0)", TWO, lambda x, y: 1.0 * (x >= y + 1), DIFFERENT),
    ("where(∑_{n} x > 3, 1, 0)", "where(∑_{n} x ≥ 3, 1, 0)", VECTOR, lambda x: 1.0 * (x.sum() >= 3), DIFFERENT),
    ("where(x^2 ≥ 4, 1, 0)", "where(x^2 > 4, 1, 0)", VECTOR, lambda x: 1.0 * (x**2 > 4), DIFFERENT),
    ("{ 1 if x > c; 0 otherwise }\nc = 0.25", "{ 1 if x ≥ c; 0 otherwise }\nc = 0.25", VECTOR, lambda x: 1.0 * (x >= 0.25), DIFFERENT),
    ("f(p) = { 1 if p > 0.3; 0 otherwise }\nf(x)", "{ 1 if x ≥ 0.3; 0 otherwise }", VECTOR, lambda x: 1.0 * (x >= 0.3), DIFFERENT),
    ("𝕀[softmax_{n} x > 0.5]", "𝕀[softmax_{n} x ≥ 0.5]", VECTOR, lambda x: 1.0 * (np.exp(x - x.max()) / np.exp(x - x.max()).sum() >= 0.5), DIFFERENT),
    ("∑_{n} 𝕀[x ≤ 0]", "∑_{n} 𝕀[x < 0]", VECTOR, lambda x: 1.0 * (x < 0).sum(), DIFFERENT),
    ("∂(∑_{n} relu x)/∂x", "𝕀[x ≥ 0]", VECTOR, lambda x: 1.0 * (x >= 0), DIFFERENT),
    ("{ x if x ≠ 0.25; 9 otherwise }", "x", VECTOR, lambda x: x, DIFFERENT),
    ("round x", "floor(x + 0.5)", VECTOR, lambda x: np.floor(x + 0.5), DIFFERENT),
    ("argmax_{n} x", "softmax_{n}(10^6 x)", VECTOR, lambda x: np.exp(1e6 * (x - x.max())) / np.exp(1e6 * (x - x.max())).sum(), DIFFERENT),
    ("exp(−41 − x^2)", "exp(−40 − x^2)", VECTOR, lambda x: np.exp(-40 - x**2), DIFFERENT),
    ("exp(−x^2)", "exp(−x^2) + 10^{−12}", VECTOR, lambda x: np.exp(-(x**2)) + 1e-12, DIFFERENT),
    ("x / √(var_{n} x + 1)", "x / √(var_{n} x + 1.00001)", VECTOR, lambda x: x / np.sqrt(x.var() + 1.00001), DIFFERENT),
    ("where(p > 0.5, 1, 0)", "where(p ≥ 0.5, 1, 0)", {"p": "[0, 1]^{n}"}, None, DIFFERENT),
    ("{ x if x > 1000000; 0 otherwise }", "0 x", VECTOR, lambda x: 0 * x, DIFFERENT),
    ("min(x, 10^9)", "x", VECTOR, lambda x: x, DIFFERENT),
    ("{ 0 if x < −10^7; x otherwise }", "x", VECTOR, lambda x: x, DIFFERENT),
    ("{ 1 if abs x < 10^{−30}; 0 otherwise }", "𝕀[x = 0]", VECTOR, lambda x: 1.0 * (x == 0), DIFFERENT),
    (STEPS.format(">"), STEPS.format("≥"), VECTOR, lambda x: sum(1.0 * (x > c) for c in range(10, 15)) + (x >= 15), DIFFERENT),
    ("where(|x| > 0.3, 1, 0)", "where(|x| ≥ 0.3, 1, 0)", VECTOR, lambda x: 1.0 * (abs(x) >= 0.3), DIFFERENT),
    ("where(x > |n| + 7, 1, 0)", "where(x ≥ |n| + 7, 1, 0)", VECTOR, lambda x: 1.0 * (x >= len(x) + 7), DIFFERENT),
    ("where(2 x > |n| + 7, 1, 0)", "where(2 x ≥ |n| + 7, 1, 0)", VECTOR, lambda x: 1.0 * (2 * x >= len(x) + 7), DIFFERENT),
    ("σ(−41 − x^2)", "σ(−40 − x^2)", VECTOR, lambda x: np.exp(-40 - x**2), DIFFERENT),
    ("softplus(−41 − x^2)", "softplus(−40 − x^2)", VECTOR, lambda x: np.exp(-40 - x**2), DIFFERENT),
    ("silu(−41 − x^2)", "silu(−40 − x^2)", VECTOR, lambda x: (-40 - x**2) * np.exp(-40 - x**2), DIFFERENT),
    ("inv_{r,c}(10^{20} A)", "1.1 inv_{r,c}(10^{20} A)", {"A": "ℝ^{r[2] × c[2]}"}, None, DIFFERENT),
    ("det_{r,c}(10^{-20} A)", "1.1 det_{r,c}(10^{-20} A)", {"A": "ℝ^{r[2] × c[2]}"}, None, DIFFERENT),
    ("silu x", "x / (1 + exp(−x))", VECTOR, lambda x: x / (1 + np.exp(-x)), EQUAL),  # values that leave the range on the way
    ("exp(x + y)", "exp(x) exp(y)", TWO, lambda x, y: np.exp(x) * np.exp(y), EQUAL),
    ("exp(x)^{0.01}", "exp(x / 100)", VECTOR, lambda x: np.exp(x / 100), EQUAL),
    ("x + log(1 + exp(y − x))", "log(exp(x) + exp(y))", TWO, lambda x, y: np.log(np.exp(x) + np.exp(y)), EQUAL),
    ("(x^{30})^{1/30}", "abs x", VECTOR, lambda x: abs(x), EQUAL),
    ("where(k > 2, 1, 0)", "where(k ≥ 3, 1, 0)", {"k": "ℤ^{n}"}, None, EQUAL),
    ("where(b > 0, 1, 0)", "where(b ≥ 0.5, 1, 0)", {"b": "{0, 1}^{n}"}, None, EQUAL),
    ("√p √p", "p", {"p": "ℝ_{>0}^{n}"}, None, EQUAL),
    ("p ⊙ p / p", "p", {"p": "ℝ_{>0}^{n}"}, None, EQUAL),
    ("x + y − y", "x", TWO, lambda x, y: x + y - y, EQUAL),
    ("∑_{n} (x + y)", "∑_{n} y + ∑_{n} x", TWO, lambda x, y: sum(y[::-1]) + sum(x[::-1]), EQUAL),
    ("var_{n} x", "mean_{n}(x^2) − (mean_{n} x)^2", VECTOR, lambda x: (x**2).mean() - x.mean() ** 2, EQUAL),
    ("softmax_{n} x", "softmax_{n}(x + 7)", VECTOR, lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum(), EQUAL),
    ("max(x, y)", "where(x > y, x, y)", TWO, lambda x, y: np.where(x > y, x, y), EQUAL),
    ("sort_{n}(2 x)", "2 sort_{n} x", VECTOR, lambda x: 2 * np.sort(x), EQUAL),
    ("b / b", "1", {"b": "{0, 2}"}, None, SPECIAL),
    ("k ⊙ k / k", "k", {"k": "ℤ^{n}"}, None, SPECIAL),
    ("√(q q)", "q", {"q": "[0, 1]^{n}"}, None, EQUAL),
    ("x ⊙ x / x", "x", VECTOR, lambda x: x, SPECIAL),
    ("x", "x ⊙ x / x", VECTOR, lambda x: x * x / x, SPECIAL),
    ("sort_{n}(x ⊙ x / x)", "sort_{n} x", VECTOR, np.sort, SPECIAL),
    ("where(x = 0, 0, x log abs(x))", "x log abs(x)", VECTOR, lambda x: x * np.log(abs(x)), SPECIAL),
    ("(x − 7) ⊙ x / (x − 7)", "x", VECTOR, lambda x: x, SPECIAL),
    ("(x^2 − y^2) / (x − y)", "x + y", TWO, lambda x, y: x + y, SPECIAL),
    ("∑_{n} log abs(x)", "∑_{n} log x", VECTOR, lambda x: np.log(x).sum(), NARROWER),
    ("√x √x", "x", VECTOR, lambda x: x, NARROWER),
    ("x", "exp(log x)", VECTOR, lambda x: np.exp(np.log(x)), NARROWER),
    ("log(x y)", "log x + log y", TWO, lambda x, y: np.log(x) + np.log(y), NARROWER),
)  # fmt: skip
BOTH = [
    row
    for first, second, types, _, verdict in ROWS
    for row in ((first, second, types, verdict), (second, first, types, verdict))
]
NAMES = [f"{first} | {second}".replace("\n", "; ") for first, second, *_ in BOTH]
EXPRESSIONS = [row for row in BOTH if "\n" not in row[0] + row[1]]  # an equation has no definitions within a side
SEEDS = range(21)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("first", "second", "types", "verdict"), BOTH, ids=NAMES)
def test_equivalent(first, second, types, verdict):
    for seed in SEEDS[::10]:
        result = nt.equivalent(first, second, seed=seed, **types)
        assert bool(result) == (verdict in (EQUAL, SPECIAL)), result
        assert ("wherever both are defined" in str(result)) == bool(result.remark) == (verdict == SPECIAL), result


@pytest.mark.sampled(24)
@pytest.mark.slow
@pytest.mark.parametrize(("first", "second", "types", "verdict"), BOTH, ids=NAMES)
def test_no_verdict_depends_on_the_seed(first, second, types, verdict):
    exercise = sheet_of(second, types)
    for seed in SEEDS:
        assert bool(nt.equivalent(first, second, seed=seed, **types)) == (verdict in (EQUAL, SPECIAL)), seed
        assert exercise.grade(first, seed=seed).correct == (verdict in (EQUAL, SPECIAL)), seed


def sheet_of(solution, types):
    given = "\n".join(f"{name} ∈ {type_}" for name, type_ in types.items())
    *before, last = solution.split("\n")
    return nt.exercises("\n".join(["#: exercise one", given, *before, f"answer = {last}"]))["one"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("first", "second", "types", "verdict"), BOTH, ids=NAMES)
def test_exercises(first, second, types, verdict):
    grade = sheet_of(second, types).grade(first)
    assert grade.correct == (verdict in (EQUAL, SPECIAL)), grade
    assert verdict in (DIFFERENT, NARROWER) or ("undefined" in grade.feedback) == (verdict == SPECIAL), grade


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("first", "second", "types", "verdict"), EXPRESSIONS)
def test_prove(first, second, types, verdict):
    declared = "".join(f"{name} ∈ {type_}\n" for name, type_ in types.items())
    result = nt.prove(f"{declared}({first}) = {second}")
    assert (result.status == "disproved") == (verdict == DIFFERENT), result
    assert ("wherever both sides are defined" in str(result)) == (verdict in (SPECIAL, NARROWER)), result


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("first", "second", "types", "verdict"), EXPRESSIONS)
def test_check_random(first, second, types, verdict):
    declared = "".join(f"{name} ∈ {type_}\n" for name, type_ in types.items())
    (assertion,) = nt.check(f"{declared}0 + ({first}) = {second}").assertions
    assert (assertion.status == "disproved") == (verdict == DIFFERENT), assertion


STEP = "f(z; c) = {{1 if z {} c; 0 otherwise}}\nf(X; 0.3)"


def test_find_a_constant_behind_a_parameter():
    """The tests contain 0.3, an argument of a function whose parameter is compared."""
    assert not nt.equivalent(STEP.format(">"), STEP.format("≥"), X="ℝ^{n}")
    assert not nt.equivalent(STEP.format(">"), "{1 if X ≥ 0.3; 0 otherwise}", X="ℝ^{n}")
    assert nt.equivalent(STEP.format("≥"), "{1 if X ≥ 0.3; 0 otherwise}", X="ℝ^{n}")


@pytest.mark.parametrize("sides", [("X + 10^{-20}", "X"), ("X", "X + 10^{-20}")], ids=" = ".join)
def test_name_a_tiny_term_as_the_difference(sides):
    result = nt.equivalent(*sides, X="ℝ^{n}")
    assert result.difference == "mistake" and "without + 10^{-20}" in str(result)


def test_try_no_more_mutants_of_a_long_sum_than_of_a_short_one():
    program = parse(" + ".join(f"exp({factor} X)" for factor in range(1, 301)), "text")
    assert len(list(distinct_mutants(program, ["n"], False))) == MIN_TRIED_MUTANTS


@pytest.mark.parametrize("equation", ["x = x ⊕_{a} x", "x ⊕_{a} x ⊕_{a} x = x", "x ≤ x ⊕_{a} x"])
def test_sides_of_different_sizes_are_an_error(equation):
    with pytest.raises(nt.NotationError, match="axis a has size") as caught:
        nt.prove(equation, x="ℝ^{a}")
    assert caught.value.code == 302


CODE = [row for row in ROWS if row[3] is not None]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("first", "second", "types", "code", "verdict"), CODE)
def test_follows(first, second, types, code, verdict):
    axes = dict.fromkeys(types, "n")
    gives = " ".join(nt.check(first, **types).shape)
    if "\n" in first:
        pytest.skip("the formula of a function is one expression")
    parameters = ", ".join(types)
    function = eval(f"lambda {parameters}: code({parameters})", {"code": code})  # the names of the arguments are read
    verified = nt.follows(first, gives=gives, **axes)(function)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", nt.NotationWarning)
        if verdict in (DIFFERENT, NARROWER):
            with pytest.raises(nt.DifferenceError):
                verified.verify()
        else:
            verified.verify()
    remarks = [str(warning.message) for warning in caught if "wherever both are defined" in str(warning.message)]
    assert bool(remarks) == (verdict == SPECIAL)


def test_a_function_of_narrow_numbers_may_underflow():
    """In float32, e^{-41-x²} is 0 where float64 has about 10^{-236}."""
    torch = pytest.importorskip("torch")
    for seed in SEEDS[:3]:
        nt.follows("exp(−41 − x^2)", gives="n", x="n")(lambda x: torch.exp(-41 - x * x)).verify(seed=seed)
        with pytest.raises(nt.DifferenceError):
            nt.follows("exp(−41 − x^2)", gives="n", x="n")(lambda x: torch.exp(-40 - x * x)).verify(seed=seed)


# --------------------------------------------------------------------------------------------------- what verdicts say
PROVED = (
    ("x / x = 1", "proved wherever both sides are defined: x ≠ 0"),
    ("log(x^2) = 2 log x", "proved wherever both sides are defined: x > 0"),
    ("√x √x = x", "proved wherever both sides are defined: x ≥ 0"),
    ("log(x y) = log x + log y", "proved wherever both sides are defined: x > 0, y > 0"),
    ("(x^2 − 2) / (x^2 − 2) = 1", "proved wherever both sides are defined: x^2 − 2 ≠ 0"),
    ("(x^{1/2})^2 = x", "proved wherever both sides are defined: x ≥ 0"),
    ("sign x = x / |x|", "proved wherever both sides are defined: x ≠ 0"),
    ("|x| / |x| = 1", "proved wherever both sides are defined: x ≠ 0"),
    ("1 / (x y) = 1 / x / y", "proved"),
    ("log(x^2) = 2 log(abs x)", "proved"),
    ("x / (1 + x^2) = x / (x^2 + 1)", "proved"),
)


@pytest.mark.parametrize(("equation", "report"), PROVED)
def test_a_proof_states_where_it_holds(equation, report):
    types = {name: "ℝ" for name in "xy" if name in equation}
    assert str(nt.prove(equation, **types)) == report
    left, right = equation.split(" = ")
    assert str(nt.prove(f"{right} = {left}", **types)) == report


def test_a_mutant_that_equals_the_solution_is_no_diagnosis():
    exercise = sheet_of("relu x", VECTOR)
    grade = exercise.grade("x ⊙ 𝕀[x > 0.5]")
    assert not grade and "equals the solution" not in grade.feedback
    for seed in SEEDS[::5]:
        assert "relu" not in nt.equivalent("max(x, 0.1)", "max(x, 0)", seed=seed, **VECTOR).message


def test_a_one_hot_tensor_compared_with_an_index_is_a_warning():
    (warning,) = nt.check("𝕀[argmax_{a} L = y]", L="ℝ^{a}", y="ℝ").warnings
    assert warning.message == "argmax_{a} L is one-hot along a, and y is not"
    for text in ("𝕀[argmax_{a} L = onehot_{a} y]", "L ⊙ 𝕀[argmax_{a} L = 1]", "𝕀[argmax_{a} L = argmax_{a} (2 L)]"):
        assert not nt.check(text, L="ℝ^{a[3]}", **({"y": "[3]"} if "y" in text else {})).warnings


def test_a_released_file_grades_at_boundaries_too():
    for solution, right, wrong in (
        ("{ 1 if X > 0.3; 0 otherwise }", "{ 1 if 0.3 < X; 0 otherwise }", "{ 1 if X ≥ 0.3; 0 otherwise }"),
        ("exp(−40 − X^2)", "exp(−X^2 − 40)", "exp(−X^2 − 41)"),
    ):
        text = f"#: exercise one\nX ∈ ℝ^{{n}}\nanswer = {solution}\n"
        exercise = nt.exercises(release_sheet(text, nt.exercises(text)))["one"]
        assert exercise.grade(right).correct and not exercise.grade(wrong).correct


def test_constants_of_a_module_have_their_values():
    torch = pytest.importorskip("torch")

    class Slopes(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("slopes", torch.tensor([0.5, 0.25, 0.1]))

        def forward(self, x):
            return torch.softmax(x - self.slopes[:, None] * torch.arange(x.shape[-1]), -1)

    read = nt.from_torch(Slopes(), torch.randn(3, 5), names={"x": "heads seq"})
    (name,) = read.constants
    assert nt.equivalent(read, "softmax_{seq}(x − [0.5, 0.25, 0.1]_{heads} ⊙ iota_{seq})")
    assert not nt.equivalent(read, "softmax_{seq}(x − [0.5, 0.25, 0.2]_{heads} ⊙ iota_{seq})")
    assert nt.equivalent(read, f"softmax_{{seq}}(x − {name} ⊙ iota_{{seq}})")
    with pytest.raises(nt.NotationError) as problem:
        nt.equivalent(read, "softmax_{seq}(x − slopes ⊙ iota_{seq})")
    assert f"only the formula has slopes; only the code has {name}" in problem.value.hint


def test_a_hint_lists_names_without_powers_and_a_formula_may_begin_with_a_sign():
    torch = pytest.importorskip("torch")

    class Scale(torch.nn.Module):
        def forward(self, x, w):
            return -x * w

    code = nt.from_torch(Scale(), torch.randn(2), torch.randn(2))
    with pytest.raises(nt.NotationError) as problem:
        nt.equivalent(code, "x^2 V")
    assert "only the formula has V;" in problem.value.hint
    w = next(name for name in code.types if name != "x")
    assert nt.equivalent(code, "-x V", given=f"V = {w}")
