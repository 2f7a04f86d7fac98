"""What is no tensor, no size, no name and no limit: each public function says so in the words of the language."""

import inspect

import pytest

import namedtensor as nt
import transformer

WRONG = {"none": None, "number": 3, "float": 2.5, "truth": True, "text": "x", "empty list": [], "pairs": [("b", 2)],
         "object": object(), "mapping": {"a": "x"}, "set": {1}, "bytes": b"x"}  # fmt: skip

X = nt.tensor([[1.0, 2.0], [3.0, 4.0]], "a b")
PROGRAM = nt.program("f(x) = 2 x\nW ∈ ℝ^{a}\nY = f(X) + W")
FORMULA = nt.formula("∑_{a} X")
LAYER = transformer.FFN.init(sizes={"chans": 2, "hidden": 3})

# a callable, its arguments, and its parameters that are tried with what is wrong
CALLS = {
    "evaluate": (nt.evaluate, ("∑_{a} X",), {"X": X}, "0 1 sizes syntax limits X"),
    "check": (nt.check, ("∑_{a} X",), {"X": "ℝ^{a[3]}"}, "0 1 sizes syntax X"),
    "explain": (nt.explain, ("∑_{a} X",), {"X": X}, "0 1 sizes syntax X"),
    "program": (nt.program, ("Y = X",), {}, "0 1 syntax"),
    "formula": (nt.formula, ("X + 1",), {}, "0 1 syntax"),
    "derivative": (nt.derivative, ("X^2", "X"), {}, "0 1 syntax"),
    "load_program": (nt.load_program, ("nowhere.nt",), {}, "0 1"),
    "operator": (nt.operator, ("own", "->"), {"definition": "X^2"}, "0 1 definition functions differential latex meaning"),
    "custom_function": (nt.custom_function, ("g : ℝ^{a} → ℝ^{a}",), {}, "0"),
    "tensor": (nt.tensor, ([1.0, 2.0], "a"), {}, "0 1"),
    "NamedTensor": (nt.NamedTensor, ([1.0, 2.0], "a"), {}, "0 1"),
    "from_xarray": (nt.from_xarray, (X,), {}, "0"),
    "allclose": (nt.allclose, (X, X), {}, "0 1 rtol atol"),
    "from_pandas": (nt.from_pandas, (X,), {}, "0"),
    "from_polars": (nt.from_polars, (X,), {}, "0"),
    "load_tensor": (nt.load_tensor, ("nowhere.csv",), {}, "0"),
    "save_tensor": (nt.save_tensor, ("nowhere.xyz", X), {}, "0 1"),
    "zeros": (nt.zeros, ("a[2]",), {}, "0 1 library"),
    "ones": (nt.ones, ("a[2]",), {}, "1 library"),
    "full": (nt.full, ("a[2]", 1.5), {}, "0 1 2 library"),
    "arange": (nt.arange, ("a[2]",), {}, "0 library"),
    "eye": (nt.eye, ("a[2] b[2]",), {}, "0 1 library"),
    "random_normal": (nt.random_normal, ("a[2]",), {}, "0 1 library"),
    "random_uniform": (nt.random_uniform, ("a[2]",), {}, "0 1 library"),
    "full_like": (nt.full_like, (X, 1.5), {}, "0 1"),
    "zeros_like": (nt.zeros_like, (X,), {}, "0"),
    "ones_like": (nt.ones_like, (X,), {}, "0"),
    "from_dlpack": (nt.from_dlpack, (X,), {}, "0 1 library"),
    "vmap": (nt.vmap(lambda row: row, "a"), (X,), {}, "0"),
    "scan": (nt.scan, (lambda state, x: (state, x), 0.0, X, "a"), {}, "1 2 3"),
    "with_labels": (X.with_labels, ({},), {"a": None}, "0 a"),
    "sel": (X.sel, ({},), {}, "0"),
    "to of a tensor": (X.to, ("numpy",), {}, "0 dtype"),
    "astype": (X.astype, ("float32",), {}, "0"),
    "pad": (X.pad, ({},), {"a": (0, 0)}, "0 a"),
    "roll": (X.roll, ({},), {"a": 1}, "0 a"),
    "flip": (X.flip, ("a",), {}, "0"),
    "unstack": (X.unstack, ("a",), {}, "0"),
    "topk": (X.topk, (1, "a"), {}, "0 1"),
    "where of a tensor": (X.where, (X > 1,), {}, "0 1"),
    "load_tensors": (nt.load_tensors, ("nowhere.safetensors",), {}, "0"),
    "to_array": (X.to_array, ("a b",), {}, "0"),
    "rename": (X.rename, ({"a": "c"},), {}, "0 a"),
    "merge": (X.merge, ({"c": "a b"},), {}, "0 c"),
    "split": (X.split, ({"a": {"c": 2, "d": 1}},), {}, "0 a"),
    "an index": (X.__getitem__, ({"a": 0},), {}, "0"),
    "an index of an axis": (lambda at: X[{"a": at}], (0,), {}, "0"),
    "sizes of a split": (lambda size: X.split(a={"c": size, "d": 1}), (2,), {}, "0"),
    "sum": (nt.sum, (X,), {"axis": "a"}, "0 axis"),
    "quantize": (nt.quantize, (X, "a"), {}, "0 1"),
    "softmax": (X.softmax, (), {"axis": "a"}, "axis"),
    "dot": (nt.dot, (X, X), {"axis": "a"}, "0 1 axis"),
    "a name of a program": (PROGRAM.__getitem__, ("Y",), {}, "0"),
    "names of a program": (lambda name: PROGRAM["f", name], ("Y",), {}, "0"),
    "a program": (PROGRAM, (), {"X": X, "W": X, "values": None}, "X W values sizes"),
    "an entry": (PROGRAM["Y"], (), {"X": X, "W": X, "values": None}, "X W values sizes"),
    "entries": (PROGRAM["Y", "X"], (), {"X": X, "W": X, "values": None}, "X W values sizes"),
    "a function of a program": (PROGRAM["f"], (X,), {"values": None}, "0 values sizes"),
    "explain an entry": (PROGRAM["Y"].explain, (), {"X": X, "W": X, "values": None}, "X W values sizes"),
    "parameters": (PROGRAM.parameters, (), {"X": X}, "sizes X"),
    "replace_definitions": (PROGRAM.replace_definitions, ("Y = X",), {}, "0 remove"),
    "init": (PROGRAM.init, (), {"sizes": {"a": 2}, "X": X}, "seed sizes dtype initializers names X"),
    "cost": (FORMULA.cost, (), {"X": X}, "0 X sizes disable"),
    "to_python": (FORMULA.to_python, ("numpy",), {"X": X}, "0 1 X sizes"),
    "to_javascript": (FORMULA.to_javascript, (), {"X": X}, "0 X sizes"),
    "to_javascript of a text": (nt.to_javascript, ("∑_{a} X",), {"X": X}, "0 1 X sizes syntax"),
    "to_einsum": (FORMULA.to_einsum, (), {"X": X}, "0 X sizes"),
    "to_einsum of a text": (nt.to_einsum, ("∑_{a} X",), {"X": X}, "0 1 X sizes syntax"),
    "compile": (FORMULA.compile, ("numpy",), {}, "0 disable"),
    "a compiled formula": (FORMULA.compile(), (), {"X": X, "values": None}, "X values sizes"),
    "diagram": (FORMULA.diagram, (), {"X": X, "values": None}, "X expand values sizes"),
    "to_text": (nt.to_text, ("∑_{a} X",), {}, "0 1 syntax"),
    "to_latex": (nt.to_latex, ("∑_{a} X",), {}, "0 1 syntax width"),
    "to_latex of a tensor": (X.to_latex, (), {}, "digits"),
    "equivalent": (nt.equivalent, ("∑_{a} X", "X"), {"X": "ℝ^{a}"}, "0 1 X"),
    "translate": (nt.translate, ("A x",), {"A": "m n", "x": "n"}, "0 A"),
    "from_einsum": (nt.from_einsum, ("nd,kd->nk",), {}, "0"),
    "from_einops": (nt.from_einops, ("rearrange(x, 't c -> c t')",), {"x": "t c"}, "0 x"),
    "follows": (nt.follows, ("∑_{a} X",), {"X": "a", "gives": ""}, "0 X gives"),
    "from_torch": (nt.from_torch, (len,), {}, "0 1"),
    "gradient": (nt.gradient, ("L = ∑_{a} x^2", "L", "x"), {}, "0 1 2 syntax"),
    "prove": (nt.prove, ("X = X",), {"X": "ℝ^{a}"}, "0 X"),
    "exercises": (nt.exercises, ("#: exercise one\nX ∈ ℝ^{n}\nanswer = X",), {}, "0"),
    "to_html": (FORMULA.to_html, (), {}, "sizes"),
    "highlight": (FORMULA.highlight, (), {}, "sizes"),
    "a layer": (transformer.FFN, ({},), {}, "0 sizes definitions config remove"),
    "init of a layer": (
        transformer.FFN.init, (), {"sizes": {"chans": 2, "hidden": 3}}, "seed sizes dtype initializers constants",
    ),
    "a call of a layer": (LAYER, (nt.tensor([1.0, 2.0], "chans"),), {}, "0"),
    "evaluate of a layer": (LAYER.evaluate, ("FFN", nt.tensor([1.0, 2.0], "chans")), {}, "0 1"),
    "replace": (LAYER.replace, ({},), {}, "0"),
    "to": (LAYER.to, ("numpy",), {}, "0 1"),
    "load of a layer": (transformer.FFN.load, ("nowhere.safetensors",), {}, "0"),
    "limits": (lambda **given: nt.evaluate("1 + 1", limits=nt.Limits(**given)), (), {}, "max_nesting max_literal_elements max_result_bytes max_steps"),
}  # fmt: skip

TABLE = [(call, where) for call, (*_, places) in CALLS.items() for where in places.split()]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize(("call", "where"), TABLE, ids=lambda item: str(item))
def test_only_an_error_of_the_language_comes_out(call, where, kind):
    function, arguments, named, _ = CALLS[call]
    arguments, named = list(arguments), dict(named)
    if where.isdecimal():
        arguments[int(where) :] = [WRONG[kind], *arguments[int(where) + 1 :]]
    else:
        named[where] = WRONG[kind]
    try:
        function(*arguments, **named)
    except nt.NotationError as problem:
        assert str(problem)


def test_the_table_has_every_public_function():
    tried = {call.split()[0] for call in CALLS} | set(CALLS)
    public = {name for name in nt.__all__ if inspect.isfunction(getattr(nt, name))}
    assert public - tried <= {
        "check_document",
        "save_tensors",
        "heatmap",
        "latex_preamble",
    }


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("where", ["path", "tensors"])
def test_no_file_is_written_of_what_is_none(where, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inputs = {"path": "x.safetensors", "tensors": {"W": X}, where: WRONG[kind]}
    try:
        nt.save_tensors(**inputs)
    except nt.NotationError as problem:
        assert str(problem)


@pytest.mark.parametrize("dtype", ["i4,f8", "U3", "S3", "O", [("a", "f8")]])
def test_a_tensor_holds_numbers_and_nothing_else(dtype):
    numpy = pytest.importorskip("numpy", reason="arrays of NumPy are tried")
    with pytest.raises(nt.NotationError) as caught:
        nt.tensor(numpy.zeros(2, dtype=dtype), "a")
    assert caught.value.code == 317 and caught.value.hint


@pytest.mark.parametrize("text", ["[1, 1e400]", "[[-1e999]]"])
def test_a_number_of_json_that_is_too_large_is_refused(text, tmp_path, capsys):
    from namedtensor import cli

    path = tmp_path / "x.json"
    path.write_text(text)
    assert cli.main(["eval", "X", f"X={path}:a{',b' if text[1] == '[' else ''}"]) == 2
    assert "too large" in capsys.readouterr().err


TEXTS = {
    "sizes of pairs": (lambda: nt.evaluate("X", X=X, sizes=[("b", 2)]),
                       "sizes= must be a mapping from names, got list", 'write sizes={"a": 3}'),
    "a number for limits": (lambda: nt.evaluate("X", X=X, limits=3),
                            "limits= must be an nt.Limits, got 3", "write limits=nt.Limits(max_steps=10**7)"),
    "a number for a name": (lambda: PROGRAM[3], "the key of a program must be a name, or several, got 3",
                            'write program["Y"], or program["K", "V"]'),
    "a text for a seed": (lambda: PROGRAM.init(seed="x"), "the seed must be a non-negative integer, got 'x'", "write seed=0"),
    "nothing for a file": (lambda: nt.load_program(None), "the path of a file must be a text or a path, got nothing",
                           'write "model.safetensors"'),
}  # fmt: skip


@pytest.mark.parametrize("case", TEXTS)
def test_the_error_says_what_is_due(case):
    call, message, hint = TEXTS[case]
    with pytest.raises(nt.NotationError) as caught:
        call()
    assert (caught.value.message, caught.value.hint) == (message, hint)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("X + Y", "pass inputs by name: formula(X=X, Y=Y)"),
        ("X ⊙_{a} I_{a,b}", "pass inputs by name: formula(X=X)"),
        ("W^Q ⊙_{a} X + ones_{b}", "pass inputs by name: formula(values={'W^Q': …, 'X': …})"),
    ],
)
def test_tensors_by_position_of_what_is_no_function(text, hint):
    with pytest.raises(nt.NotationError, match="this formula is not a function; got 1 argument by position") as caught:
        nt.program(text)(nt.tensor([1.0, 2.0], "a"))
    assert caught.value.hint == hint
