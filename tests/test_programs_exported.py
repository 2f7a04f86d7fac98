"""Exported source and specialized functions: with other sizes, axes and dtypes the right value, or one sentence."""

from __future__ import annotations

import ast
import os
import random
import warnings
from collections import Counter
from typing import Any

import differential
import exported
import javascript
import numpy as np
import pytest
from drawn_programs import draw
from exported import export, in_library, other_calls, outcome, tensors

import namedtensor as nt
from namedtensor.backends.function import backend

PROGRAMS = 200
PROGRAMS_OF_JAX = (
    PROGRAMS if os.environ.get("NAMEDTENSOR_EXPORTED") == "all" else 60
)  # it compiles the constants of each
VALUES_OF_JAX = 10  # programs of which it computes values: it compiles each operation
LIBRARIES = ("numpy", "torch", "jax")


def draw_calls(library: str, count: int) -> Any:
    """Programs that can be computed, with their values."""
    seed = 0
    while count:
        program = draw(seed)
        values = differential.converted(differential.array_of(program), library, False)
        if library != "jax" or differential.fits_int32(program):
            try:
                nt.evaluate(program.text, differential.array_of(program))
            except nt.NotationError:
                pass
            else:
                count -= 1
                yield seed, program.text, values
        seed += 1


# --------------------------------------------------------------------------------------------------------------- drawn
@pytest.mark.sampled(6)
@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
def test_drawn_programs_give_the_right_value_or_a_sentence(library):
    pytest.importorskip(library)
    faults, outcomes = [], Counter()
    programs = PROGRAMS_OF_JAX if library == "jax" else PROGRAMS
    for number, (seed, text, values) in enumerate(draw_calls(library, programs)):
        function = export(text, library, values)
        same = {name: (np.asarray(tensor.array), tensor.axes) for name, tensor in tensors(values).items()}
        calls = [("as exported", same), *other_calls(values, random.Random(seed))]
        if library == "jax" and number >= VALUES_OF_JAX:
            calls = [(how, inputs) for how, inputs in calls if how.startswith("axis")]  # which are refused
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for how, inputs in calls:
                fault = outcome(function, inputs, outcomes)
                faults += [f"seed {seed}, {how}: {fault}\n{text}"] * (fault is not None)
    assert not faults, "\n\n".join(faults)
    values = VALUES_OF_JAX if library == "jax" else PROGRAMS
    assert outcomes["right"] >= values / 2 and outcomes["TypeError"] >= values / 5, outcomes
    assert outcomes["ValueError"] > programs, outcomes


@pytest.mark.sampled(6)
@pytest.mark.slow
@pytest.mark.skipif(javascript.NODE is None, reason=javascript.REASON)
def test_drawn_programs_in_javascript_give_the_right_value_or_a_sentence():
    calls = []
    for seed, text, values in draw_calls("numpy", PROGRAMS):
        values = javascript.in_doubles(values)
        module = nt.formula(text).to_javascript(values)
        for how, inputs in other_calls(values, random.Random(seed)):
            if all(array.dtype.kind != "c" for array, _ in inputs.values()):
                calls.append((seed, how, text, module, values, inputs))
    results = javascript.run((module, [array for array, _ in result.values()]) for *_, module, _, result in calls)
    faults = [
        f"seed {seed}, {how}: {fault}\n{text}"
        for (seed, how, text, _, values, element), result in zip(calls, results)
        if (fault := fault_in_javascript(text, values, element, result)) is not None
    ]
    assert not faults, "\n\n".join(faults)
    assert sum("data" in value for value in results) > 40 and sum("data" not in value for value in results) > PROGRAMS


def fault_in_javascript(text: str, values: Any, given: Any, result: dict[str, Any]) -> str | None:
    if "data" not in result:
        return None if result["name"] == "NotationError" else f"{result['name']}: {result['message']}"
    kinds = {"i": "int64", "u": "int64", "b": "bool", "f": "float64"}  # numbers are doubles there
    whole = {
        name: nt.tensor(array.astype(kinds[values[name].dtype.kind]), axes) for name, (array, axes) in given.items()
    }
    array = np.array([float(datum) for datum in result["data"]]).reshape(result["shape"])
    expected = nt.evaluate(text, {**values, **whole})
    astype = np.asarray(expected.array).astype("float64")
    if array.shape != astype.shape:
        return f"the shape {array.shape}, expected {astype.shape}"
    scale = max(1.0, np.abs(astype[np.isfinite(astype)]).max(initial=0.0))
    same = np.allclose(array, astype, rtol=1e-9, atol=1e-9 * scale, equal_nan=True)
    return None if same else f"{array.tolist()}, expected {astype.tolist()}"


# --------------------------------------------------------------------------------------------------------------- by case
X3 = "ℝ^{a[3]}"
CALLS: dict[str, tuple[str, dict[str, Any], list[Any], str]] = {
    "a longer axis": ("mean_{a} x", {"x": X3}, [np.ones(6)], "axis a of x must have size 3, got 6"),
    "a shorter axis": ("mean_{a} x", {"x": X3}, [np.ones(2)], "axis a of x must have size 3, got 2"),
    "an axis of size 1, which would broadcast": (
        "x + y", {"x": X3, "y": X3}, [np.ones(3), np.ones(1)], "axis a of y must have size 3, got 1",
    ),
    "one more axis": (
        "mean_{a} x", {"x": "ℝ^{b[2] × a[3]}"}, [np.ones((4, 2, 3))],
        "x must have axes [b, a], got shape (4, 2, 3)",
    ),
    "no axes": ("2 x", {"x": X3}, [np.float64(1)], "x must have axes [a], got shape ()"),
    "integers": ("mean_{a} x", {"x": X3}, [np.arange(3)], "x must have dtype float32 or float64, got int64"),
    "half precision": (
        "mean_{a} x", {"x": X3}, [np.ones(3, "float16")], "x must have dtype float32 or float64, got float16",
    ),
    "two floating dtypes": (
        "x + y", {"x": X3, "y": X3}, [np.ones(3), np.ones(3, "float32")], "y must have dtype float64, got float32",
    ),
    "bytes": (
        "100 i + i", {"i": nt.tensor([1, 2], "a")}, [np.array([200, 3], "uint8")], "i must have dtype int64, got uint8",
    ),
    "an index out of range": (
        "x_{a(i)}", {"x": X3, "i": nt.tensor([1], "n")}, [np.ones(3), np.array([0])],
        "an index must be from 1 to 3, got 0",
    ),
    "an index that is no integer": (
        "x_{a(i)}", {"x": X3, "i": "ℝ^{n[1]}"}, [np.ones(3, "float32"), np.array([1.5], "float32")],
        "an index must be an integer, got 1.5",
    ),
}  # fmt: skip


NARROW = {"float64": "float32", "int64": "int32"}  # JAX where 64 bits are not asked for


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_refused_in_a_sentence(name, library):
    pytest.importorskip(library)
    text, inputs, arrays, message = CALLS[name]
    if library == "jax":
        arrays = [array.astype(NARROW.get(array.dtype.name, array.dtype)) for array in arrays]
        inputs = {name: convert_to_int32(input_) for name, input_ in inputs.items()}
        message = message.replace("int64", "int32")
    if library == "torch":
        message = message.replace("float", "torch.float").replace("int64", "torch.int64")
        message = message.replace("uint8", "torch.uint8")
    function = export(text, library, inputs).function
    if name == "two floating dtypes" and library == "jax":
        pytest.skip("JAX has no doubles where they are not asked for")
    with pytest.raises((ValueError, TypeError, IndexError)) as raised:
        function(*[in_library(library, np.asarray(array)) for array in arrays])
    assert str(raised.value) == message
    assert exported.unclear(raised.value) is None


def convert_to_int32(value: Any) -> Any:
    return nt.tensor(value.array.astype("int32"), value.axes) if isinstance(value, nt.NamedTensor) else value


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_is_no_array_is_refused(library):
    pytest.importorskip(library)
    kind = {"numpy": "NumPy array", "torch": "PyTorch tensor", "jax": "JAX array"}[library]
    function = export("∑_{a} x", library, {"x": X3}).function
    for other, name in (([1.0, 2.0, 3.0], "list"), (2.0, "float"), (None, "NoneType")):
        with pytest.raises(TypeError, match=f"x must be a {kind}, got {name}"):
            function(other)


@pytest.mark.parametrize(
    "formula", ["mean_{a} x", "x + 1", "0.1 x", "softmax_{a} x", "max(x, 0.3)", "√(∑_{a} x^2) + 1/3"]
)
def test_constants_take_the_dtype_of_the_data(formula):
    """A constant in single precision on data in double precision makes digits wrong, and one of another dtype widens."""
    source = nt.to_python(formula, x=X3)
    assert "dtype=" not in source.partition("def function(")[2], source
    function = export(formula, "numpy", {"x": X3}).function
    for dtype, close in (("float32", 1e-6), ("float64", 1e-14)):
        x = np.array([0.1, 0.7, -0.3], dtype)
        result = function(x)
        assert result.dtype == dtype
        np.testing.assert_allclose(result, nt.evaluate(formula, x=nt.tensor(x, "a")).array, rtol=close, atol=close)


def test_a_text_that_names_a_dtype_is_for_that_of_the_library_where_none_was_said():
    """For NumPy doubles; what is exported for tensors is for their dtype."""
    text = "𝕀[x > 0] ⊙ x"
    for inputs, dtype in ((X3, "float64"), (nt.tensor(np.ones(3, "float32"), "a"), "float32")):
        function = export(text, "numpy", {"x": inputs}).function
        assert function(np.array([1.0, -1.0, 2.0], dtype)).tolist() == [1.0, 0.0, 2.0]
        other = {"float32": "float64", "float64": "float32"}[dtype]
        with pytest.raises(TypeError, match=f"x must have dtype {dtype}, got {other}"):
            function(np.ones(3, other))


def test_softmax_of_doubles_serves_single_precision():
    function = export("softmax_{a} x", "numpy", {"x": nt.tensor(np.zeros(3), "a")}).function
    weights = np.exp([0.0, -1.0, -2.0])
    matches = function(np.array([-100.0, -101.0, -102.0], "float32"))
    np.testing.assert_allclose(matches, weights / weights.sum(), rtol=1e-5)


def test_a_name_of_an_axis_is_a_literal():
    source = nt.to_python("∑_{a'} x", x="ℝ^{a'[2] × b_1[3]}")
    assert """check("x", x, {"a'": 2, "b_1": 3}, np.float32, np.float64)""" in source


# ----------------------------------------------------------------------------------------------------------- specialized
def test_a_specialized_function_stays_as_it_is():
    """It does not depend on what the compiled formula was called with before, or after."""
    compiled = nt.formula("mean_{a} x").compile("numpy")
    short = compiled.specialize(x=X3)
    compiled(x=nt.tensor(np.ones(7), "a"))
    other = compiled.specialize(x="ℝ^{a[7]}")
    assert float(short.function(np.array([1.0, 2.0, 6.0]))) == 3.0 and "/ 3" in short.source
    assert float(other.function(np.arange(7.0))) == 3.0 and short.names == ("x",)
    assert short.plan.inputs[0].shape == (3,)  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(ValueError, match="axis a of x must have size 3, got 7"):
        short.function(np.ones(7))
    assert not hasattr(compiled, "function")


def test_a_specialized_function_calls_functions_of_python():
    @nt.custom_function("triple_in_python : ℝ → ℝ")
    def triple_in_python(x):
        return 3 * x

    specialization = nt.formula("f(x) = triple_in_python(x) + 1").compile().specialize(nt.tensor([1.0, 2.0], "a"))
    np.testing.assert_allclose(specialization.function(np.array([1.0, 2.0])), [4.0, 7.0])
    with pytest.raises(nt.NotationError, match="has no source text"):
        _ = specialization.source


def test_tracing_keeps_the_checks():
    jax = pytest.importorskip("jax")
    function = export("softmax_{a}(x) ⊙ y + 1", "jax", {"x": X3, "y": X3}).function
    x, y = jax.numpy.arange(3.0), jax.numpy.ones(3)
    np.testing.assert_allclose(jax.jit(function)(x, y), function(x, y), rtol=1e-6)
    np.testing.assert_allclose(jax.jit(function)(np.arange(3, dtype="float32"), y), function(x, y), rtol=1e-6)
    assert jax.vmap(function, (0, None))(jax.numpy.ones((5, 3)), y).shape == (5, 3)
    assert jax.grad(lambda x: function(x, y).sum())(x).shape == (3,)
    with pytest.raises(ValueError, match="axis a of x must have size 3, got 4"):
        jax.jit(function)(jax.numpy.ones(4), y)


def test_torch_compile_and_vmap_keep_the_checks():
    torch = pytest.importorskip("torch")
    function = export("softmax_{a}(x) ⊙ y + 1", "torch", {"x": X3, "y": X3}).function
    x, y = torch.arange(3.0), torch.ones(3)
    torch._dynamo.reset()
    traced = torch.compile(function, backend="eager", fullgraph=True)
    torch.testing.assert_close(traced(x, y), function(x, y))
    torch.testing.assert_close(traced(x.double(), y.double()), function(x.double(), y.double()))
    assert torch.vmap(function, (0, None))(torch.ones(5, 3), y).shape == (5, 3)
    with pytest.raises(ValueError, match="axis a of x must have size 3, got 4"):
        torch.compile(function, backend="eager")(torch.ones(4), y)


# ------------------------------------------------------------------------------------------------------------- JavaScript
REFUSED_IN_JAVASCRIPT = {
    "another size": ("2 x", {"x": X3}, "[1, 2]", "x must have shape [3], got [2]"),
    "a list in a list": ("2 x", {"x": X3}, "[1, [2], 3]", "an array must hold numbers, got a list"),
    "null": ("2 x", {"x": X3}, "[1, null, 3]", "an array must hold numbers, got null"),
    "nothing": ("2 x", {"x": X3}, "undefined", "an array must hold numbers, got undefined"),
    "text": ("2 x", {"x": X3}, '["1", "2", "3"]', "an array must hold numbers, got 1"),
    "too few numbers": (
        "2 x", {"x": X3}, "{ shape: [3], data: new Float64Array(2) }", "x must hold 3 numbers, got 2",
    ),
    "fractions": ("2 i", {"i": nt.tensor([1, 2], "a")}, "[1, 1.5]", "i must hold integers, got 1.5"),
    "truth": ("where(c, 1, 2)", {"c": nt.tensor([True], "a")}, "[2]", "c must hold booleans, got 2"),
}  # fmt: skip


@pytest.mark.skipif(javascript.NODE is None, reason=javascript.REASON)
def test_javascript_refuses_what_does_not_fit():
    modules = []
    for text, inputs, argument, _ in REFUSED_IN_JAVASCRIPT.values():
        module = nt.to_javascript(text, inputs).replace("export function formula", "function inner")
        modules.append((f"{module}\nexport const formula = () => inner({argument});\n", []))
    for (name, (*_, message)), result in zip(REFUSED_IN_JAVASCRIPT.items(), javascript.run(modules)):
        assert (result.get("name"), result.get("message")) == ("NotationError", message), name


def remove_docstrings(text: str) -> str:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    return ast.unparse(tree)


@pytest.mark.parametrize("library", [*LIBRARIES, "standard"])
def test_no_word_in_a_docstring_of_a_kernel_adds_an_import_or_a_kernel(library):
    table = backend(library)
    for name, text in {**table.fixed.kernels, **table.kernels}.items():
        (kernels, aliases), code = table.used(text), remove_docstrings(text)
        assert (len(kernels), aliases) == (len(table.used(code)[0]), table.used(code)[1]), name
        assert table.heads(text, ()) == table.heads(code, ()), name
