"""JavaScript gives what NumPy gives: every operator, the tables of other tests, the layers of the source texts, drawn programs."""

from __future__ import annotations

import contextlib
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import javascript
import layer_cases
import numpy as np
import pytest
import test_backends_array_api as array_api
import test_calculus as calculus
import test_calculus_at_edges as edges
import test_checking_grids as grids
import test_checking_loops as loops
import test_planning as planning
from javascript import Case, case, compare, named_in, run

import namedtensor as nt
from namedtensor.backends import error_function
from namedtensor.backends import javascript as backend
from namedtensor.backends.javascript import LINES, pieces, runtime, runtime_for
from namedtensor.operators import REGISTRY

pytestmark = pytest.mark.skipif(javascript.NODE is None, reason=javascript.REASON)
RANDOM = np.random.default_rng(3)
SIZES = {"a": 2, "b": 3, "c": 4, "d": 3, "k": 2}


def drawn(axes: str) -> nt.NamedTensor:
    return nt.tensor(RANDOM.normal(size=[SIZES[axis] for axis in axes.split()]), axes)


# ---------------------------------------------------------------------------------------------------------- operators
GIVEN = {
    "X": drawn("a b c"), "Y": drawn("b c"), "Z": drawn("c d a"), "M": drawn("a b d"), "P": drawn("a b") > 0, "Q": drawn("b c") > 0,
    "N": nt.tensor(RANDOM.integers(-9, 9, (2, 3)), "a b"), "I": nt.tensor([3, 1, 3, 2], "n"), "J": nt.tensor([2.0, 1.0], "a"),
    "T": nt.tensor([[1.0, 2.0, 2.0, -1.0], [0.5, 0.5, 0.5, 0.5], [np.nan, 1.0, np.inf, 2.0]], "b c"),
    "F": nt.tensor([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0], "a"), "G": nt.tensor([np.inf, -np.inf, np.nan, 0.0], "b"),
}  # fmt: skip
# the uses of operators that are no function of one tensor, or of one along axes
USES = {
    "log": ["log(|X|)", "log X"], "sqrt": ["√|X|", "√X"], "max": ["max_{b} X", "max_{a,c} X", "max(X, Y)", "max(F, G)", "max(N, 2)"],
    "min": ["min_{b} X", "min(X, Y)", "min(F, G)"], "norm": ["norm_{b} X", "norm_{a,b}(X; 1)", "norm_{b}(X; ∞)", "norm_{c}(X; 3)"],
    "standardize": ["standardize_{a,c} X", "standardize_{b}(X; 0.1)"], "⊙": ["X ⊙ Y", "X ⊙_{b} Y", "X ⊙_{c} Z", "X ⊙_{a,c} Z", "Y ⊙_{b,c} Y", "X ⊙_{a,b,c} X", "N ⊙_{a} N"],
    "+": ["X + Y", "N + 2", "N + 𝕀[P]", "F + G", "X + 0.5"], "-": ["X − Y", "1 − N", "F − G"], "/": ["X / Y", "N / 2", "F / G", "1 / N"],
    "juxtaposed": ["2 X", "X Y"], "^": ["|X|^Y", "X^2", "X^{−1}", "N^3", "2^N", "F^0", "1^F", "(−1)^F", "F^G"], "=": ["N = 2", "𝕀[F = G]"],
    "≠": ["𝕀[N ≠ 2]", "𝕀[F ≠ G]"], "<": ["𝕀[X < Y]", "𝕀[F < G]"], "≤": ["𝕀[X ≤ Y]", "𝕀[F ≤ G]"], ">": ["𝕀[X > 0]"], "≥": ["𝕀[X ≥ Y]"],
    "∧": ["𝕀[P ∧ Q]"], "∨": ["𝕀[P ∨ Q]"], "¬": ["𝕀[¬P]"], "any": ["𝕀[any_{a} P]", "any_{a,b} P"], "all": ["𝕀[all_{b} P]"],
    "where": ["where(P, X, Y)", "where(X > 0, 1, 0)", "where(P, N, 1.5)"], "clip": ["clip(X, −0.5, Y)", "clip(N, 0, 3)"],
    "index": ["X_{b(I)}", "X_{b(2)}", "X_{a(1), c(3)}", "X_{b(I), a(J)}", "X_{b(2)} + ∑_i X_{b(i)}"],
    "maxk": ["maxk_{c,k} T", "maxk_{b,k} X"], "argmaxk": ["argmaxk_{c,k} T", "argmaxk_{b,k} X"], "onehot": ["onehot_{b} I", "onehot_{b} I ⊙_{b} Y"],
    "iota": ["iota_{b} + Y", "iota_{a} / |a| + X"], "I": ["I_{b,d} ⊙_{b} Y", "I_{b,d} + 0 M"], "logdet": ["logdet_{b,d} M"], "solve": ["solve_{b,d}(M, Y)"], "diag": ["diag_{a,s} X"], "ones": ["ones_{b} + Y", "ones_{a,b}"],
    "cholesky": ["cholesky_{b,d}(M ⊙_{d} M_{b→d, d→b} + I_{b,d})"], "eigvalsh": ["eigvalsh_{b,d} M"], "eigh": ["eigh_{b,d} M"],
    "expm": ["expm_{b,d} M", "expm_{b,d}(M, [M]_{a→s})", "expm_{b,d}(M, M, M_{b→d, d→b})"], "quantile": ["quantile_{b}(X; 0.3)"],
    "median": ["median_{b} X", "median_{c} X"], "cummax": ["cummax_{b} X"], "cummin": ["cummin_{c} T"], "argsort": ["argsort_{b} X"],
    "mod": ["mod(X, 0.3)", "mod(N, 3)"], "binom": ["binom(N, 2)", "binom(5, X^2)"], "det": ["det_{b,d} M", "det_{p,q} [1, 2; 2, 4]_{p,q}"],
    "inv": ["inv_{b,d} M"], "cofactors": ["cofactors_{b,d} M"], "trace": ["trace_{b,d} M", "trace_{b,d} I_{b,d}"],
    "⊕": ["X ⊕_{b} Y", "X ⊕_{a} X"], "stack": ["stack_{s}(X, Y)", "stack_{s}(1, N)", "[X, Y; Y, 1]_{s,t}"],
    "unroll": ["unroll_{c,k} X", "unroll_{b,k} X ⊙_{k} [1, −2]_{k}"], "pool": ["pool_{c,k} X", "max_{k} pool_{c,k} X"],
    "isnan": ["𝕀[isnan(log X)]"], "fillna": ["fillna(log X, Y)", "fillna(X, 0)"], **{
        name: [f"{name}_{{b}} log X", f"{name}_{{a,b}} X"] for name in ("nansum", "nanmean", "nanmin", "nanmax", "nanvar", "nanstd")
    }, "var": ["var_{b} X", "var_{b}(X; 1)"], "std": ["std_{a,b} X", "std_{b}(X; 1)"],
    "sort": ["sort_{c} T", "sort_{b} X"], "odd": ["𝕀[N odd]"], "even": ["𝕀[N even]"], "cumsum": ["cumsum_{b} X", "cumsum_{b} N"],
    "∑": ["∑_{b} X", "∑_{a,b,c} X", "∑_{a} N", "∑_{a} 𝕀[P]"], "∏": ["∏_{b} X", "∏_{a} N"],
}  # fmt: skip
OTHERS = {  # what is no operator
    "renaming": "X_{a→b', b→a}", "merging": "X_{(c,a)→m}", "splitting": "Y_{c→(u,v)}", "cases": "{ X if P; −1 if X < 0; Y otherwise }",
    "cases that cover": "{ X if X > 0; 2 if X ≤ 0 }", "a chain": "X ⊙_{c} Z ⊙_{d} M", "a number": "1/3", "whole": "2^{50} + N",
    "the place of the largest": "argmax_i T_{c(i)}", "the place of the least": "argmin_i X_{b(i)}", "past a double": "2^{60} + N", "a literal": "[1, 2.5, −3]_{b} + Y", "infinite": "∞ − F", "a definition by elements": "B_{a(i), b(j)} = N_{a(i), b(j)} + i − 2 j\nB",
}  # fmt: skip
WAYS_TO_SIZES = {"u": 2, "v": 2}


def texts_of(name: str) -> list[str]:
    record = REGISTRY[name]
    if name in USES:
        return USES[name]
    if name == "negative":
        return ["−X", "−N", "−F"]
    if record.kind == "elementwise":
        return [f"{name}(X)", f"{name}(F)", f"{name}(N)"]
    return [
        f"{name}_{{{axes}}} {tensor}"
        for axes in ("b", "c", "a,b")
        for tensor in ("X", "T")
        if "a" not in axes or tensor == "X"
    ][: 4 if "…" not in record.signature else None]


def operators() -> Iterator[Case]:
    names = dict.fromkeys(record.name for record in REGISTRY.values())
    texts = [*((name, text) for name in names for text in texts_of(name)), *OTHERS.items()]
    for name, text in texts:
        sizes = {
            axis: size
            for axis, size in {**SIZES, **WAYS_TO_SIZES}.items()
            if re.search(rf"(?<!\w){axis}(?!\w)", text.replace("_", " "))
        }
        yield case(name, text, named_in(text, GIVEN), sizes)


# ------------------------------------------------------------------------------------------------- tables of other tests
def tables() -> Iterator[Case]:
    for name, text in array_api.FORMULAS.items():
        values = array_api.values_for(text, array_api.of_numpy)
        yield case(
            name,
            text,
            {key: value for key, value in values.items() if array_api.used(text, key)},
            array_api.SIZES.get(name),
        )
    for name, (text, values) in planning.FORMULAS.items():
        if name != "tiling":
            yield case(name, text, values)
    for texts, values in ((loops.ROLLED, loops.GIVEN), (grids.ROLLED, grids.GIVEN)):
        for text in texts:
            yield case("a loop", text, named_in(text, values))
    for text in calculus.TWO:
        values = {
            "X": calculus.drawn(calculus.MATRIX, 1, True),
            "Y": calculus.drawn("b[3]", 2, True),
            "Z": calculus.drawn(calculus.MATRIX, 3),
        }
        yield case("a derivative", f"∂({text})/∂X*", named_in(text, values))
    for text, values, *_ in edges.EDGES:
        yield case("a derivative at an edge", text, edges.tensors(values))
    for number, matrix in enumerate(edges.MATRICES):
        yield case(f"cofactors {number}", "∂(det_{r,s} M)/∂M*", {"M": nt.tensor(np.array(matrix, float), "r s")})


def layers() -> Iterator[Case]:
    for row in layer_cases.CASES:
        layer, inputs = row.layer(), row.inputs()
        result = {**layer.parameters, **dict(zip(layer._arguments(), inputs))}
        entry = layer._program({})[layer.output]
        with contextlib.suppress(
            nt.NotationError
        ):  # a layer called as a built-in function, which `compile` does not find
            yield case(row.title, entry, result, layer.sizes or None)


SETS = {
    "operators": operators,
    "tables": tables,
    "layers": layers,
    "drawn programs": lambda: javascript.drawn(range(60)),
}


@cache
def compared(name: str) -> javascript.Comparison:
    return compare(SETS[name]())


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_javascript_gives_what_numpy_gives(name):
    done = compared(name)
    assert not done.different, f"{len(done.different)} of {done.count} differ\n" + "\n".join(done.different)
    assert done.count >= {"operators": 200, "tables": 100, "layers": 20, "drawn programs": 50}[name]


def test_every_primitive_is_hit():
    assert set().union(*(compared(name).primitives for name in SETS)) == set(LINES)


@pytest.mark.slow
def test_a_module_that_stands_alone_gives_the_same():
    done = compare(operators(), standalone=True)
    assert not done.different, "\n".join(done.different)


# ------------------------------------------------------------------------------------------------------------- the text
ATTENTION = "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V"
SHAPES = {"Q": "ℝ^{query[3] × key[4]}", "K": "ℝ^{seq[5] × key[4]}", "V": "ℝ^{seq[5] × val[2]}"}
TEXT = """import * as nt from "./javascript_runtime.js";

export function formula(Q, K, V) {
  Q = nt.given(Q, "Q", [3, 4]);  // ℝ^{query[3] × key[4]}
  K = nt.given(K, "K", [5, 4]);  // ℝ^{seq[5] × key[4]}
  V = nt.given(V, "V", [5, 2]);  // ℝ^{seq[5] × val[2]}
  const t1 = nt.transpose(K, [1, 0]);  // ℝ^{key[4] × seq[5]}
  const t2 = nt.dot(Q, t1);  // ℝ^{query[3] × seq[5]}
  const t3 = nt.divide(t2, 2.0);  // ℝ^{query[3] × seq[5]}
  const t4 = nt.max(t3, [1], true);  // ℝ^{query[3] × seq[1]}
  const t5 = nt.subtract(t3, t4);  // ℝ^{query[3] × seq[5]}
  const t6 = nt.exp(t5);  // ℝ^{query[3] × seq[5]}
  const t7 = nt.sum(t6, [1], true);  // ℝ^{query[3] × seq[1]}
  const t8 = nt.divide(t6, t7);  // ℝ^{query[3] × seq[5]}
  const t9 = nt.dot(t8, V);  // ℝ^{query[3] × val[2]}
  return nt.array(t9);
}
"""


def test_the_text_of_attention():
    assert nt.formula(ATTENTION).to_javascript(SHAPES) == TEXT
    assert nt.to_javascript(ATTENTION, SHAPES) == TEXT
    assert nt.to_javascript(nt.formula(ATTENTION), SHAPES) == TEXT


def test_a_name_of_a_program_and_sizes():
    program = nt.program("f(x) = x / |a|\nY = f(X)")
    assert program["f"].to_javascript(x="ℝ^{a}", sizes={"a": 4}).count("[4]") == 3
    assert "nt.divide(X, 4)" in program["Y"].to_javascript(X="ℝ^{a[4]}")


def test_what_stands_alone_has_the_functions_that_it_needs_and_no_other():
    text = nt.to_javascript("inv_{a,b} X", X="ℝ^{a[2] × b[2]}", standalone=True)
    assert "import" not in text and "const nt = { array, given, inv };" in text
    assert "function eliminate" in text and "Math.sin" not in text


NAMES = [
    "new",
    "var",
    "class",
    "this",
    "nt",
    "formula",
    "eval",
    "arguments",
    "NaN",
    "Math",
    "t1",
    "c1",
    "loop_1",
    "γ",
    "x'",
    "W^Q",
    "lambda",
    "array",
]


def test_names_of_javascript_are_no_names_of_inputs():
    """Whatever an input is called, the module can be read and gives the sum."""
    from namedtensor.planning.plan import safe

    tensors = {name: nt.tensor([1.0, 2.0], "a") for name in ("γ", "x'", "N", "t_1", "W^Q")}
    modules = [
        (nt.formula(f"2 {name}").to_javascript({name: tensor}), [tensor.array]) for name, tensor in tensors.items()
    ]
    modules += [
        (f"export function formula({safe(name)}) {{ return {{shape: [], data: [{safe(name)}.data[0]]}}; }}", [[2.0]])
        for name in NAMES
    ]
    assert [item.get("data", item) for item in run(modules)] == [[2, 4]] * len(tensors) + [[2]] * len(NAMES)


def test_the_error_function_has_the_coefficients_of_the_others():
    for name in ("NEAR", "ABOVE", "BELOW"):
        numbers = json.loads(re.search(r"\[.*\]", pieces()[name])[0])  # type: ignore[index]
        assert tuple(numbers) == getattr(error_function, name)


def test_the_runtime_has_no_function_that_nothing_calls():
    called = {*re.findall(r"nt\.(\w+)", inspect.getsource(backend)), *LINES} & {*pieces()}
    needed = runtime_for(" ".join(f"nt.{name}" for name in called))
    unneeded = {name for name in pieces() if not re.search(rf"^(function|const|class) {name}\b", needed, re.MULTILINE)}
    assert unneeded == set()
    assert len(runtime().splitlines()) < 580


@pytest.mark.slow
def test_attention_of_512_words_takes_less_than_300_milliseconds():
    """The best of some runs, in time of the processor, since other processes may be at work."""
    types = {"Q": "ℝ^{query[512] × key[64]}", "K": "ℝ^{seq[512] × key[64]}", "V": "ℝ^{seq[512] × val[64]}"}
    timed = (
        nt.to_javascript(ATTENTION, types, standalone=True).replace("export function formula", "function attention")
        + """
export function formula(Q, K, V) {
  const times = [];
  for (let run = 0; run < 6; run++) {
    const before = process.cpuUsage();
    attention(Q, K, V);
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1e6);
  }
  return { shape: [], data: [Math.min(...times)] };
}
"""
    )
    (result,) = run([(timed, [RANDOM.normal(size=(512, 64)) for _ in range(3)])])
    assert result["data"][0] < 0.3


# --------------------------------------------------------------------------------------------------------------- errors
FAILING = {
    "past the end": ("E_{v(I)}", {"E": nt.tensor([1.0, 2.0, 3.0], "v"), "I": nt.tensor([1, 4], "n")}),
    "below the first": ("E_{v(I)} + 1", {"E": nt.tensor([1.0, 2.0, 3.0], "v"), "I": nt.tensor([0, 1], "n")}),
    "not whole": ("1 + E_{v(I)}", {"E": nt.tensor([1.0, 2.0, 3.0], "v"), "I": nt.tensor([1.5, 1.0], "n")}),
    "no word": ("onehot_{v} I ⊙_{v} E", {"E": nt.tensor([1.0, 2.0, 3.0], "v"), "I": nt.tensor([7, 1], "n")}),
    "no case": ("{ 1 if X > 0; 2 if X < 0 }", {"X": nt.tensor([1.0, 0.0], "a")}),
    "no inverse": ("2 inv_{a,b} M", {"M": nt.tensor([[1.0, 2.0], [2.0, 4.0]], "a b")}),
}


@pytest.mark.parametrize("name", FAILING)
def test_an_error_is_that_of_numpy(name):
    text, tensors = FAILING[name]
    with pytest.raises(nt.NotationError) as raised:
        nt.evaluate(text, tensors)
    (result,) = run([(nt.formula(text).to_javascript(tensors), javascript.arrays(tensors))])
    problem: Any = raised.value
    assert (result["name"], result["code"]) == ("NotationError", problem.code)
    assert result["message"] == problem.message
    assert result.get("hint") == problem.hint and tuple(result["span"]) == problem.span


def test_whole_numbers_that_a_double_has_not_are_found_out():
    text, tensors = "N + N", {"N": nt.tensor([2**52], "a")}
    fits, passes = run([(nt.formula(text).to_javascript(tensors), [[number]]) for number in (2**52 - 1, 2**52)])
    assert fits["data"] == [2**53 - 2]
    assert passes["message"] == "integer overflow: exceeds int53 (maximum 9007199254740991)"


def test_arrays_that_are_not_what_is_due_are_refused():
    module = nt.to_javascript("2 X", X="ℝ^{a[2] × b[3]}")
    (result,) = run([(module, [np.ones((3, 2))])])
    assert result["message"] == "X must have shape [2,3], got [3,2]"


REFUSED = {
    "complex numbers": ("2 X", {"X": nt.tensor(np.array([1j]), "a")}, "JavaScript has no complex numbers, got complex128"),
    "a size that decides the form": (
        "h^0 = 0\nh^t = tanh(h^{t−1} + X_{seq(t)}) for t = 1, …, |seq|\nh^{|seq|}", {"X": "ℝ^{seq}"},
        "the formula needs the size of seq as a number",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_said_is_refused(name):
    text, inputs, message = REFUSED[name]
    with pytest.raises(nt.NotationError, match=re.escape(message)):
        nt.formula(text).to_javascript(inputs)


def test_a_function_of_python_is_refused():
    @nt.custom_function("twice_in_python : ℝ^{a} → ℝ^{a}")
    def twice_in_python(x):
        return 2 * x

    with pytest.raises(nt.NotationError, match="has no source text"):
        nt.formula("twice_in_python(X)").to_javascript(X="ℝ^{a[2]}")


def test_numpy_is_not_asked():
    code = (
        "import sys\nfor name in ('numpy', 'array_api_compat', 'torch', 'jax'): sys.modules[name] = None\n"
        "import namedtensor as nt\n"
        f"print(nt.formula({ATTENTION!r}).to_javascript({SHAPES!r}), end='')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8")
    assert done.stdout == TEXT, done.stderr


def test_large_products_are_near_those_of_numpy():
    sizes = {"query": 130, "seq": 261, "key": 67, "val": 5}
    tensors = {
        name: nt.tensor(RANDOM.normal(size=[sizes[axis] for axis in axes.split()]), axes)
        for name, axes in {"Q": "query key", "K": "seq key", "V": "seq val"}.items()
    }
    done = compare([case("attention", ATTENTION, tensors)])
    assert not done.different
