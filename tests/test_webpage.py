"""What the page asks of Python: an answer to everything, places that are right, types that are those of `check`."""

import json
import math
import re
import subprocess
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from javascript import NODE
from timing import at_most

import namedtensor as nt
from grammar.errors import CATALOGUE
from grammar.parser import parse
from namedtensor.webpage.answers import answer

ROOT = Path(__file__).parent.parent
RUNTIME = Path(nt.__file__).parent / "backends" / "javascript_runtime.js"
ATTENTION = "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V"
TYPES = {"Q": "ℝ^{key}", "K": "ℝ^{seq × key}", "V": "ℝ^{seq × val}"}


def asked(ask, text, **fields):
    result = answer({"ask": ask, "text": text, **fields})
    assert json.loads(json.dumps(result)) == result
    return result


def test_parts_are_pieces_of_the_text_with_the_types_of_check():
    result = asked("check", ATTENTION, inputs=TYPES)
    assert result["ok"] and not result["errors"]
    assert [(input_["name"], input_["type"], input_["from"]) for input_ in result["inputs"]] == [
        ("Q", "ℝ^{key[4]}", "given"),
        ("K", "ℝ^{seq[3] × key[4]}", "given"),
        ("V", "ℝ^{seq[3] × val[5]}", "given"),
    ]
    sizes = {axis["name"]: axis["size"] for axis in result["axes"]}
    steps = dict(
        nt.check(ATTENTION, sizes=sizes, **{input_["name"]: input_["type"] for input_ in result["inputs"]}).steps
    )
    assert {part["text"]: part["type"] for part in result["parts"]} == steps
    for part in result["parts"]:
        assert ATTENTION[slice(*part["span"])] == part["text"]


def test_marks_in_latex_enclose_the_parts():
    result = asked("check", ATTENTION, inputs=TYPES)
    marked = {tuple(map(int, item)) for item in re.findall(r"\\htmlData\{at=(\d+)-(\d+)\}", result["latex"])}
    assert marked == {tuple(part["span"]) for part in result["parts"]}
    assert re.sub(r"\\html(?:Data|Class)\{[^{}]*\}", "", result["latex"]).replace("{", "").replace("}", "") == result[
        "plain_latex"
    ].replace("{", "").replace("}", "")


@pytest.mark.parametrize(
    "text",
    [
        "-x^2 + (−y)(x + 1)",
        "X_{layer→(h,k)}",
        "(A + B)^2",
        "∂(softmax_{ax} X)/∂X*",
        "a − (−b)",
        "[1, 2, 3]_{a} ⊙_{a} x",
        "𝕀[x > 0] x",
    ],
)
def test_marks_change_nothing_of_what_is_printed(text):
    result = asked("check", text)
    bare = re.sub(r"\\html(?:Data|Class)\{[^{}]*\}", "", result["latex"])
    assert re.sub(r"[{}]", "", bare) == re.sub(r"[{}]", "", result["plain_latex"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ATTENTION, {"Q": ["key"], "K": ["key", "seq"], "V": ["seq"]}),
        ("A + B", {"A": [], "B": []}),
        ("Y = X ⊙_{a} W\nZ = Y + 1", {"X": ["a"], "W": ["a"]}),
        ("f(x, y) = x ⊙_{a} y", {"x": ["a"], "y": ["a"]}),
        ("f : ℝ^{a} → ℝ\nf(x) = ∑_{a} x^2", {"x": ["a"]}),
        ("X ∈ ℝ^{b × a}\n∑_{a} X", {"X": ["b", "a"]}),
    ],
)
def test_what_nobody_declared_gets_the_least_type_that_fits(text, expected):
    result = asked("check", text)
    assert not result["errors"], result["errors"]
    assert {input_["name"]: sorted(axis for axis, _ in input_["axes"]) for input_ in result["inputs"]} == {
        name: sorted(axes) for name, axes in expected.items()
    }
    assert all(size for input_ in result["inputs"] for _, size in input_["axes"])


def test_an_error_has_its_place_and_its_repair():
    text = "Q ∈ ℝ^{key}\nK ∈ ℝ^{seq × key}\nsoftmax_{sek}(Q ⊙_{key} K / √|key|)"
    (error,) = asked("check", text)["errors"]
    assert (error["kind"], error["code"], error["line"], error["column"]) == ("shape", 301, 3, 10)
    assert text[slice(*error["span"])] == "sek"
    (repair,) = error["repairs"]
    start, end = repair["span"]
    assert not asked("check", text[:start] + repair["text"] + text[end:])["errors"]


def test_a_type_that_is_none_is_told_of_its_input():
    (error,) = asked("check", "A + B", inputs={"A": "ℝ^{"})["errors"]
    assert error["input"] == "A" and error["span"] is None


@pytest.mark.parametrize("request_", ["", "{", "[]", "null", "3", {}, {"ask": "nothing"}, {"ask": 3}, {"ask": "check"}, {"ask": "check", "text": None}, {"ask": "check", "text": "x", "inputs": [1]}, {"ask": "check", "text": "x", "sizes": {"a": -1}}, {"ask": "check", "text": "\ud800"}, "[" * 100000])  # fmt: skip
def test_whatever_is_asked_there_is_an_answer(request_):
    result = answer(request_)
    assert result["ok"] is False and result["error"]["message"]
    json.dumps(result)


@pytest.mark.parametrize(
    "solution, expected", [("log(X - X)", "-Infinity"), ("1 / (X - X)", "Infinity"), ("0 / (X - X)", "NaN")]
)
def test_numbers_that_json_lacks_are_strings(solution, expected):
    file = f"#: exercise one points 1\nX ∈ ℝ^{{n}}\nanswer = {solution}\n"
    reply = answer({"ask": "drawing", "file": file, "name": "one"})
    assert set(reply["expected"]["data"]) == {expected}
    reply = answer({"ask": "same", "first": solution, "second": "X", "inputs": {"X": "ℝ^{n}"}})
    assert reply["actual"] == expected
    assert json.loads(json.dumps(reply, allow_nan=False)) == reply


REFUSED = (
    ({"ask": "check", "text": "x", "inputs": {"x": True}}, 101, "x in inputs is to be a type or a number"),
    ({"ask": "check", "text": "x" * 300_000}, 404, "text has 300000 characters, and at most "),
    ({"ask": "code", "text": "x", "library": "perl"}, 408, "unknown library 'perl'"),
    ({"ask": "derive", "text": "x^2", "by": "y"}, 201, "cannot differentiate with respect to y: the formula uses x"),
    (
        {"ask": "grade", "file": "#: exercise a\nX ∈ ℝ^{n}\nX", "name": "b", "answer": "X"},
        201,
        "there is no exercise b",
    ),
)


@pytest.mark.parametrize(("fields", "number", "message"), REFUSED, ids=[item[2] for item in REFUSED])
def test_what_is_refused_has_its_number(fields, number, message):
    error = answer(fields)["error"]
    assert error["code"] == number and error["message"].startswith(message)


def test_a_check_brings_its_plan_where_that_is_asked():
    types = {"x": "ℝ^{a}"}
    with_plan = answer({"ask": "check", "text": "x + 1", "inputs": types, "plan": True})["plan"]
    assert with_plan == asked("plan", "x + 1", inputs=types)
    for wrong in ("x +", "x ⊙_{b} x", ""):
        assert answer({"ask": "check", "text": wrong, "inputs": types, "plan": True}).get("plan") is None


def test_the_bounds_of_a_set_are_told_where_they_are_numbers():
    messages = [asked("check", f"x ∈ [{bound}]^{{a}}\n∑_{{a}} x")["inputs"] for bound in ("5", "q")]
    assert all(message[0]["name"] == "x" for message in messages) and messages[0] != messages[1]


def test_javascript_is_that_of_the_program():
    result = asked("code", "2 x", inputs={"x": "ℝ"}, library="javascript")
    assert result["text"] == nt.to_javascript("2 x", x="ℝ")


def test_a_derivative_without_a_closed_form_says_why():
    result = asked("derive", "s / 0", inputs={"s": "ℝ"}, by="s")
    assert result["text"] is None and result["why"].startswith("no closed form is known for this")
    assert result["program"] == "∂(s / 0)/∂s*"


def test_sizes_that_a_text_asks_for_are_found():
    result = asked("check", "|layer| = |h| |k|\nX ∈ ℝ^{layer}\nX_{layer→(h,k)}")
    sizes = {axis["name"]: axis["size"] for axis in result["axes"]}
    assert not result["errors"] and sizes["layer"] == sizes["h"] * sizes["k"]


def test_completions_replace_what_is_begun():
    (first, *_) = answer({"ask": "complete", "before": r"A \odo"})["completions"]
    assert first == {"text": "⊙", "length": 4, "meaning": "\\odot"}
    assert parse("A ⊙ B")


# ------------------------------------------------------------------------------------------------- plans and their steps
PROGRAMS = {
    "attention": (ATTENTION, TYPES),
    "program": ("Y = X_{a→b} ⊙_{b} W\nZ = Y + 1", {"X": "ℝ^{a}"}),
    "sum": ("∑_{i=1}^{n} i^2", {}),
    "function": ("f(x) = ∑_{a} x\nf(X) + X", {"X": "ℝ^{a × b}"}),
    "of a function": ("f : ℝ^{a} → ℝ\nf(x) = ∑_{a} x^2", {"x": "ℝ^{a × b}"}),
    "recurrence": ("h^0 = x\nh^t = tanh(W ⊙_{a} h^{t-1})_{a'→a} for t = 1, …, n\nh^n\nx ∈ ℝ^{a}\nW ∈ ℝ^{a × a'}", {}),
    "derivative": ("∂(softmax_{ax} X)/∂X*", {"X": "ℝ^{ax}"}),
    "elements": ("X_{a(2)} + 𝕀[X > 0] mean_{a} X", {"X": "ℝ^{a}"}),
    "merged": ("X_{a→(b,c)}", {"X": "ℝ^{a}"}),
    "of two": ("max(X, Y) + max(X, 2) + ∑_{a} (2 X)", {"X": "ℝ^{a}", "Y": "ℝ^{a}"}),
}  # fmt: skip


def drawn_inputs(actual):
    """Random tensors for the inputs that a plan takes."""
    random = np.random.default_rng(5)
    expected = {input_["name"]: input_ for input_ in actual["inputs"] if input_["needed"] == "tensor"}
    return {
        name: nt.tensor(random.normal(size=[size for _, size in value["axes"]]), [axis for axis, _ in value["axes"]])
        for name, value in expected.items()
    } | {input_["name"]: input_["number"] for input_ in actual["inputs"] if input_["needed"] == "number"}


def sizes_of(checked):
    return {axis["name"]: axis["size"] for axis in checked["axes"] if not axis["name"].endswith("*")}


def values_in_node(plan, values):
    """What the function of a plan gives for some tensors: its results, flat."""
    arrays = [
        {"shape": list(values[name].array.shape), "data": values[name].array.ravel().tolist()}
        for name in plan["inputs"]
    ]
    script = (
        f"import * as nt from {json.dumps('file://' + str(RUNTIME))};\n{plan['source']}\n"
        f"const given = {json.dumps(arrays)}.map(({{shape, data}}) => ({{shape, data: Float64Array.from(data)}}));\n"
        "console.log(JSON.stringify(formula(...given).map(({shape, data}) => ({shape, data: [...data]}))));"
    )
    assert NODE is not None
    done = subprocess.run([NODE, "--input-type=module", "-"], input=script, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_plan_of_a_page_gives_the_value_of_every_step(name):
    text, types = PROGRAMS[name]
    checked = asked("check", text, inputs=types)
    values, sizes = drawn_inputs(checked), sizes_of(checked)
    plan = asked("plan", text, inputs=types)
    assert plan["ok"], plan["error"]["full"]
    results = values_in_node(plan, values)
    if "of a function" in name:
        expected = nt.formula(text).explain(**dict[str, Any](values))
    else:
        expected = nt.explain(text, values, sizes=sizes)
    assert [other["text"] for other in plan["steps"]] == [item.text for item in expected]
    for step, explained in zip(plan["steps"], expected):
        tensor = nt.tensor(
            np.reshape(results[step["result"]]["data"], results[step["result"]]["shape"]),
            [axis for axis, _ in step["axes"]],
        )
        assert tensor.sizes == explained.value.sizes and nt.allclose(tensor, explained.value, rtol=1e-9), step["text"]
    assert nt.allclose(expected.value, expected[plan["value"]].value)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_numbers_of_a_step_make_its_value(name):
    """Each template, filled in and computed as it stands there, is the value of the step at its record."""
    text, types = PROGRAMS[name]
    checked = asked("check", text, inputs=types)
    values, sizes = drawn_inputs(checked), sizes_of(checked)
    expected = (
        nt.formula(text).explain(**dict[str, Any](values))
        if "of a function" in name
        else nt.explain(text, values, sizes=sizes)
    )
    steps = asked("steps", text, inputs=types, record={"a": 2, "b": 3, "val": 2})["steps"]
    tried = 0
    for step in steps:
        if step["numbers"] is not None:
            line = "".join(
                number if isinstance(number, str) else f"({value_at(expected[number['step']], number['at'])!r})"
                for number in step["numbers"]
            )
            tried += 1
            assert abs(computed(line) - value_at(expected[step["step"]], step["record"])) < 1e-9, line
    assert tried or name in ("merged", "derivative")


def test_the_numbers_of_a_step_are_those_that_fit_a_line():
    """A call is written out as what its function computes, unless that is long; a number with the value of a folded one is a number."""
    nested = "f(X) = " + "exp(X + " * 60 + "X" + ")" * 60
    replies = {
        "short": asked("steps", "f(X) = ∑_{a} (X + 1)^2\nf(x)", inputs={"x": "ℝ^{a[2]}"}),
        "long": asked("steps", f"{nested}\nf(x)", inputs={"x": "ℝ^{a[2]}"}),
        "folded": asked("steps", "x / √|a| + 2", inputs={"x": "ℝ^{a[4]}"}),
    }
    last = {name: reply["steps"][-1]["numbers"] for name, reply in replies.items()}
    texts = {
        name: numbers and "".join(item if isinstance(item, str) else "x" for item in numbers)
        for name, numbers in last.items()
    }
    assert texts == {"short": "(x + 1)^2 + (x + 1)^2", "long": None, "folded": "x + 2"}


def test_the_last_number_of_a_long_sum_is_its_last_element():
    numbers = asked("steps", "∑_{a} X", inputs={"X": "ℝ^{a[20000]}"})["steps"][-1]["numbers"]
    assert [item["at"]["a"] for item in numbers if isinstance(item, dict)] == [1, 2, 3, 4, 20_000]


def value_at(step, at):
    return (
        float(step.value.to_array(tuple(at))[tuple(position - 1 for position in at.values())])
        if at
        else float(step.value.array)
    )


def computed(line):
    """A line of numbers as Python computes it."""
    for sign, python in (("·", "*"), ("^", "**"), ("−", "-"), ("√", "sqrt"), ("𝕀", "float")):
        line = line.replace(sign, python)
    line = re.sub(r"float\[(.*)\]", r"float(\1)", line)
    return eval(
        re.sub(r"exp (\([^()]*\))", r"exp\1", line),
        {"exp": math.exp, "sqrt": math.sqrt, "max": max, "tanh": math.tanh, "float": float},
    )


# ----------------------------------------------------------------------------------------------------------------- loops
LOOPS = {
    **{name: program for name, program in PROGRAMS.items() if name != "of a function"},
    "queries": (ATTENTION, {**TYPES, "Q": "ℝ^{seq' × key}"}),
    "merge": ("X_{(b,c)→a} + [1, 2, 3]_{d}", {"X": "ℝ^{b × c}"}),
    "indices": ("∑_i X_{a(i)} Y_{b(i)} + { 0 if x > 1; 2 otherwise }", {"X": "ℝ^{a[3]}", "Y": "ℝ^{b[3]}"}),
    "norms": ("standardize_{a} X ⊕_{a} logsoftmax_{a} X", {"X": "ℝ^{a × b}"}),
    "spread": ("std_{a} X + var_{b} X / logsumexp_{a} X − min_{a,b} X", {"X": "ℝ^{a × b}"}),
    "windows": ("∑_{k} (unroll_{a,k} X ⊙ w) + max_{p} pool_{c,p} Y", {"X": "ℝ^{a[5]}", "w": "ℝ^{k[2]}", "Y": "ℝ^{c[6]}", "p": 2}),
    "elements": ("Y_{a(i)} = X_{a(i)} i − 1 / (i + 1)", {"X": "ℝ^{a}"}),
    "several": ("Q = X ⊙_{c} U\nA = softmax_{s}(Q ⊙_{k} Q_{s→s'})\nA ⊙_{s} Q_{k→v}", {"X": "ℝ^{s × c}", "U": "ℝ^{c × k}"}),
    "identity": ("I_{a,b} ⊙_{b} X − onehot_{a} n + ∏_{b} X", {"X": "ℝ^{b[3]}", "n": "ℝ"}),
    "from zero": ("∑_{i=0}^{3} i x + ∑_{i=−2}^{1} x^2 i", {"x": "ℝ^{a}"}),
    "twice": ("exp(softmax_{a} x ⊙ softmax_{a} x) + ∑_{a} softmax_{a} x", {"x": "ℝ^{a}"}),
    "powers": ("((x − 1) − (y − 2)) / (x / y) − −x^2 + 2^{−x}", {}),
}  # fmt: skip


@pytest.mark.parametrize("library", ["loops", "numpy"])
@pytest.mark.parametrize("name", LOOPS)
def test_the_code_gives_the_value(name, library):
    text, types = LOOPS[name]
    checked = asked("check", text, inputs=types)
    assert not checked["errors"], checked["errors"][0]["full"]
    values = {**drawn_inputs(checked), **({"n": nt.tensor(2.0, ())} if name == "identity" else {})}
    result = asked("code", text, inputs=types, library=library)
    assert result["ok"], result["error"]["full"]
    space = {}
    exec(result["text"], space)
    tensors = [item for item in checked["inputs"] if item["needed"] == "tensor"]
    arrays = [values[item["name"]].to_array([axis for axis, _ in item["axes"]]) for item in tensors]
    value = space["function"](*(array if library == "numpy" else array.tolist() for array in arrays))
    expected = nt.evaluate(text, values, sizes=sizes_of(checked))
    order = [axis for axis, _ in checked["type"]["axes"]]
    np.testing.assert_allclose(value, expected.to_array(order) if order else float(expected), rtol=1e-9, atol=1e-12)


def test_each_line_of_code_has_the_part_that_it_stands_for():
    text = "A = softmax_{s}(q ⊙_{k} K)\nA ⊙_{s} V"
    types = {"q": "ℝ^{k[2]}", "K": "ℝ^{s[3] × k[2]}", "V": "ℝ^{s[3] × v[4]}"}
    for library in ("loops", "numpy", "torch", "jax"):
        result = asked("code", text, inputs=types, library=library)
        lines = result["text"].splitlines()
        assert len(lines) == len(result["spans"])
        parts = {text[slice(*span)] for line, span in zip(lines, result["spans"]) if span}
        assert {"q ⊙_{k} K", "softmax_{s}(q ⊙_{k} K)", "A ⊙_{s} V"} <= parts
        assert all(
            not span for line, span in zip(lines, result["spans"]) if line.startswith(("import", "def", "    for"))
        )


@pytest.mark.parametrize(("text", "message"), [
    ("polygamma(x; 2) + x", "polygamma has no readable form as loops"),
    ("eigvalsh_{a,b}(x_{a→b} x)", "eigvalsh has no readable form as loops"),
    ("norm_{a}(x; ∞)", "norm with p = inf has no readable form as loops"),
])  # fmt: skip
def test_what_cannot_be_loops_is_refused_in_a_sentence(text, message):
    reply = asked("code", text, inputs={"x": "ℝ^{a}"}, library="loops")
    assert not reply["ok"] and reply["error"]["message"] == message
    assert asked("code", text, inputs={"x": "ℝ^{a}"}, library="numpy")["ok"]


# --------------------------------------------------------------------------------------------------- code and derivatives
@pytest.mark.parametrize(
    ("text", "types", "expected"),
    [
        ("Q ⊙_{key} K", {"Q": "ℝ^{batch × query × key}", "K": "ℝ^{batch × seq × key}"}, 'einsum("bqk,bsk->bqs", Q, K)'),
        ("2 X_{b→c} ⊙_{a} X", {"X": "ℝ^{a × b}"}, '2 * einsum("ac,ab->cb", X, X)'),
        ("∑_{a,b} X Y", {"X": "ℝ^{a × b}", "Y": "ℝ^{b × c}"}, 'einsum("ab,bc->c", X, Y)'),
        ("∑_{a} X − X", {"X": "ℝ^{a × b}"}, None),
        ("softmax_{a} X ⊙_{a} X", {"X": "ℝ^{a × b}"}, None),
    ],
)
def test_a_sum_of_products_is_an_einsum_and_nothing_else_is(text, types, expected):
    result = asked("code", text, inputs=types, library="einsum")
    if expected is None:
        assert result["text"] is None and "not a sum of products" in result["why"]
        return
    checked = asked("check", text, inputs=types)
    values = drawn_inputs(checked)
    matched: Any = re.match(r"(?:(\d+) \* )?(.*)", result["text"])
    number, call = matched.groups()
    value = float(number or 1) * eval(
        call, {"einsum": np.einsum, **{name: entry.array for name, entry in values.items()}}
    )
    assert np.allclose(value, nt.evaluate(text, values).to_array([axis for axis, _ in checked["type"]["axes"]]))
    assert sorted(re.sub(r"\W|\d", "", result["text"])) == sorted(re.sub(r"\W|\d", "", expected))


@pytest.mark.parametrize("by", ["Q", "K", "V"])
def test_a_derivative_is_a_program_for_the_same_inputs(by):
    result = asked("derive", ATTENTION, inputs=TYPES, by=by)
    assert result["text"] and result["steps"] and result["why"] is None
    assert {"rule", "text", "latex", "identity", "latex_identity"} == set(result["steps"][0])
    checked = asked("check", ATTENTION, inputs=TYPES)
    values = drawn_inputs(checked)
    again = asked("check", result["program"], inputs=TYPES)
    assert not again["errors"]
    written = nt.derivative(ATTENTION, by)(values=values)
    assert nt.allclose(nt.evaluate(result["program"], values), written, rtol=1e-9)


# --------------------------------------------------------------------------------------------------- exercises and examples
EXERCISES = """#: exercise weights   points 2
# Each query asks the keys.
Q ∈ ℝ^{seq' × key}
K ∈ ℝ^{seq × key}
answer = softmax_{seq}(Q ⊙_{key} K / √|key|)
#: hint Which axis must sum to one?
#: mistake softmax_{seq'}(Q ⊙_{key} K / √|key|)   These sum to one over the queries.

#: exercise type   kind types
X ∈ ℝ^{n × m}
answer = ∑_{n} X
"""
ANSWERS = {
    "weights": [
        "softmax_{seq}(Q ⊙_{key} K / √|key|)", "softmax_{seq}(Q ⊙_{key} K)", "softmax_{seq'}(Q ⊙_{key} K / √|key|)",
        "softmax_{sek}(Q)", "Q ⊙_{key} K", "softmax_{seq}(Q ⊙_{key} K / |key|)", "∑_{seq'} Q", "", "(", "K = 1\nK",
        "2 softmax_{seq}(Q ⊙_{key} K / √|key|)",
    ],
    "type": ["ℝ^{m}", "ℝ^{n}", "ℝ"],
}  # fmt: skip


@pytest.mark.parametrize(("name", "given"), [(name, text) for name, answers in ANSWERS.items() for text in answers])
def test_an_answer_is_marked_in_the_same_words_with_numpy_and_without(name, given, monkeypatch):
    expected = nt.exercises(EXERCISES)[name].grade(given)
    monkeypatch.setattr("namedtensor.teaching.grading.SECONDS", 60)
    monkeypatch.setattr("namedtensor.teaching.values.has_numpy", lambda: False)
    result = answer({"ask": "grade", "file": EXERCISES, "name": name, "answer": given})
    assert result["ok"]
    messages = ("correct", "points", "max_points", "counts_as_attempt", "feedback")
    assert {message: result[message] for message in messages} == {
        message: getattr(expected, message) for message in messages
    }
    assert (result["error"] is not None) == (expected.error is not None)


def test_exercises_are_told_without_their_models():
    result = answer({"ask": "exercises", "file": EXERCISES})
    assert [exercise["name"] for exercise in result["exercises"]] == ["weights", "type"]
    assert [input_["name"] for input_ in result["exercises"][0]["inputs"]] == ["Q", "K"]
    assert "softmax" not in json.dumps(result, ensure_ascii=False)


def test_a_released_file_has_no_solution_and_grades_in_the_same_words():
    file = answer({"ask": "release", "file": EXERCISES, "name": "type"})["file"]
    assert "softmax" not in file and "answer" not in file and "Each query asks the keys." in file
    for name, answers in ANSWERS.items():
        for text in (answers[0], answers[2]):
            expected, local = (
                answer({"ask": "grade", "file": file, "name": name, "answer": text}) for file in (EXERCISES, file)
            )
            assert local["correct"] is expected["correct"] and local["feedback"] == expected["feedback"]
    assert answer({"ask": "release", "file": file, "name": "type"})["file"] == file
    assert "there is no exercise x" in answer({"ask": "release", "file": EXERCISES, "name": "x"})["error"]["message"]


@pytest.mark.parametrize("is_released", [False, True])
def test_an_exercise_is_seen_on_small_inputs_and_an_answer_beside_them(is_released):
    file = answer({"ask": "release", "file": EXERCISES, "name": "weights"})["file"] if is_released else EXERCISES
    result = answer({"ask": "drawing", "file": file, "name": "weights"})
    assert [input_["name"] for input_ in result["inputs"]] == ["Q", "K"]
    inputs = {
        input_["name"]: nt.tensor(
            np.reshape(input_["data"], [size for _, size in input_["axes"]]),
            " ".join(axis for axis, _ in input_["axes"]),
        )
        for input_ in result["inputs"]
    }
    expected = result["expected"]
    axes = [axis for axis, _ in expected["axes"]]
    for text, differs in (("softmax_{seq}(Q ⊙_{key} K / √|key|)", False), ("softmax_{seq}(Q ⊙_{key} K)", True)):
        local = answer({"ask": "grade", "file": file, "name": "weights", "answer": text})["own"]
        tensor = nt.evaluate(text, inputs)
        data = np.transpose(np.asarray(tensor.array), [tensor.axes.index(axis) for axis in axes]).ravel()
        assert np.allclose(local["data"], data, rtol=1e-9) and local["axes"] == expected["axes"]
        apart = [at for at, (a, b) in enumerate(zip(local["data"], expected["data"], strict=True)) if abs(a - b) > 1e-8]
        assert local["differs"] == apart and bool(apart) is differs
    assert answer({"ask": "grade", "file": file, "name": "weights", "answer": "Q"})["own"]["differs"] is None
    assert answer({"ask": "grade", "file": file, "name": "weights", "answer": "Q +"})["own"] is None
    assert answer({"ask": "drawing", "file": file, "name": "type"})["expected"] is None


@pytest.mark.parametrize(
    ("header", "given"),
    [
        ("#: exercise a kind einsum\nX ∈ ℝ^{n × m}\n∑_{n} X", 'einsum("ab->b", X)'),
        ("#: exercise a kind fill-in\n#: hole ∑_{n} ?\nX ∈ ℝ^{n × m}\nanswer = X", "X"),
        ("#: exercise a\nX ∈ ℝ^{n}\nY = X_{n→m}\nanswer = Y", "X_{n→k}"),
        ("#: exercise a\nX ∈ ℝ^{n}\ng(X) = X / 2", "g(Y) = Y / 2"),
    ],
)
def test_what_is_right_differs_nowhere_from_what_is_seen(header, given):
    result = answer({"ask": "grade", "file": header, "name": "a", "answer": given})
    assert result["correct"] and result["own"]["differs"] == []


def test_of_a_file_that_is_too_long_one_exercise_is_released(monkeypatch):
    monkeypatch.setattr("namedtensor.webpage.exercises.LONGEST", len(EXERCISES))
    file = answer({"ask": "release", "file": EXERCISES, "name": "weights"})["file"]
    assert list(nt.exercises(file)) == ["weights"]
    assert answer({"ask": "release", "file": EXERCISES, "name": "type"})["file"].count("#: exercise") == 1


MENDED = [  # a text that is wrong, and what the buttons make of it
    ("A ** 2", ["A ^ 2"]), ("Y == A + 1", ["Y = A + 1"]), ("A // 2", ["A / 2"]), ("A^-1", ["A^{-1}"]),
    ("∑_b,a A", ["∑_{b, a} A"]), ("A_a→c", ["A_{a→c}"]), ("exp(A", ["exp(A)"]), ("exp(A\nA + 1", ["exp(A\nA + 1)"]), ("A)", ["A"]),
    ("exp(A]", ["exp(A)"]), ("A +", ["A "]), ("A; A", ["A\n A"]), ("1e400 A", ["∞ A"]), ("mean A", ["mean_{a} A", "mean_{b} A"]),
    ("softmax_{c} A", ["softmax_{a} A", "softmax_{b} A"]), ("sofmax_{a} A", ["softmax_{a} A", "logsoftmax_{a} A"]),
    ("A ⊙_{c} A", ["A ⊙_{a} A", "A ⊙_{b} A"]), ("A + (A > 1)", ["A + 𝕀[(A > 1)]"]), ("A_{c→d}", ["A_{a→d}", "A_{b→d}"]),
    ("mean_{a} (A − 1)^2", ["(mean_{a} (A − 1))^2", "mean_{a}((A − 1)^2)"]), ("A⊙mean_a[A]²", ["A⊙(mean_a[A])²", "A⊙mean_a([A]²)"]),
    ("\\nfun{\\name{a}}{mean} \\left(A\\right)^2", ["(\\nfun{\\name{a}}{mean} \\left(A\\right))^2", "\\nfun{\\name{a}}{mean}(\\left(A\\right)^2)"]),
    ("sin^{-1} A", ["arcsin A", "1 / sin A"]), ("\\tan^{-1} A", ["\\arctan A", "1 / \\tan A"]), ("2^3^2 A", ["(2^{3})^{2} A", "2^{3^{2}} A"]),
    ("A \\ndot{\\name{keyy}} K", ["A \\ndot{\\key} K"]), ("A + ", ["A  "]), ("A B C +* D", []), ("q_{a} A (", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "fixed"), MENDED)
def test_a_repair_is_offered_only_where_it_mends(text, fixed):
    types = {"A": "ℝ^{a[2] × b[3]}"} if "K" not in text else {"A": "ℝ^{key}", "K": "ℝ^{key}"}
    errors = asked("check", text, inputs=types)["errors"]
    texts = [
        text[: repair["span"][0]] + repair["text"] + text[repair["span"][1] :]
        for error in errors
        for repair in error["repairs"]
    ]
    assert errors and texts == fixed
    for other in texts:
        assert all(error["kind"] != "syntax" for error in asked("check", other, inputs=types)["errors"])


def test_what_the_first_declares_the_second_need_not():
    types = {"Q": "ℝ^{key[4]}", "K": "ℝ^{seq[5] × key[4]}", "V": "ℝ^{seq[5] × val[3]}"}
    first = "".join(f"{name} ∈ {type_}\n" for name, type_ in types.items()) + ATTENTION
    result = answer({"ask": "same", "first": first, "second": ATTENTION, "inputs": types})
    assert result["same"] and result["proved"]
    result = answer({"ask": "same", "first": first, "second": ATTENTION.replace(" / √|key|", ""), "inputs": types})
    assert "the second equals the first without / √|key|" in result["message"]
    recurrence = "x^t = x^{t-1} + 1 for t = 1, …, n\nx^n"
    assert answer({"ask": "same", "first": recurrence, "second": "x^0 + n", "inputs": {"x^0": "ℝ^{a[3]}", "n": 3}})[
        "same"
    ]
    words = {"E": "ℝ^{vocab[5] × emb[3]}", "I": "ℝ^{seq[4]}"}
    first = "I ∈ [5]^{seq[4]}\nE_{vocab(I)}"
    assert answer({"ask": "same", "first": first, "second": "E_{vocab(I)}", "inputs": words})["same"]


def test_two_formulas_are_compared():
    result = answer({"ask": "same", "first": "∑_{n} X", "second": "mean_{n} X", "inputs": {"X": "ℝ^{n}"}})
    assert not result["same"] and result["difference"] == "mistake" and "mean_n" in result["message"]
    assert answer({"ask": "same", "first": "∑_{n} X", "second": "∑_{n} (X + 0)", "inputs": {"X": "ℝ^{n}"}})["same"]


@pytest.mark.parametrize(
    ("first", "second", "summary"),
    [
        ("X", "X^2 + 1", "the values differ"),
        ("X / √|n|", "X", "the first is 0.5774 = 1/√|n| times the second"),
        ("X ⊙ X", "X", "the first is the square of the second"),
    ],
)
def test_a_difference_has_a_summary_without_the_numbers_of_a_test(first, second, summary):
    result = answer({"ask": "same", "first": first, "second": second, "inputs": {"X": "ℝ^{n[3]}"}})
    assert result["summary"] == summary and ", the second is " in result["message"]


def test_a_step_of_numbers_alone_has_no_types():
    steps = answer({"ask": "steps", "text": "x^2 + √|a| y", "inputs": {"x": "ℝ", "y": "ℝ^{a[3]}"}})["steps"]
    types = {step["symbols"]: step["shapes"] for step in steps}
    assert types["x^2"] is None and types["√|a|"] is None
    assert types["√|a| y"] == "ℝ ℝ^{a[3]}" and types["x^2 + √|a| y"] == "ℝ + ℝ^{a[3]}"


@pytest.mark.parametrize(
    ("written", "type"),
    [
        ("ℝ^{a[3] x b[2]}", "ℝ^{a[3] × b[2]}"),
        ("R^{a x x[2] x x'}", "ℝ^{a[3] × x[2] × x'[4]}"),
        ("[5]^{a* x b}", "ℝ^{a*[3] × b[4]}"),
        ("ℝ^{x[7]}", "ℝ^{x[7]}"),
    ],
)
def test_x_between_axes_is_a_sign_and_elsewhere_a_name(written, type):
    result = answer({"ask": "check", "text": f"A ∈ {written}\nA"})
    assert not result["errors"] and result["type"]["text"] == type
    assert " x " not in result["text"]


GALLERY = answer({"ask": "examples"})["examples"]


@pytest.mark.parametrize("example", GALLERY, ids=[example["name"] for example in GALLERY])
def test_the_gallery_shows_what_it_says(example):
    inputs = {"text": example["text"], "inputs": example["inputs"]}
    checked = answer({"ask": "check", **inputs})
    assert not checked["errors"], checked["errors"][0]["full"]
    sizes, names = sizes_of(checked), {input_["name"]: input_ for input_ in checked["inputs"]}
    assert set(example["inputs"]) <= set(names)
    for name, value in example["values"].items():
        assert list(np.shape(value)) == [size for _, size in names[name]["axes"]]
    for axis, words in example["labels"].items():
        assert len(words) == sizes[axis]
    for ask in ("plan", "steps"):
        assert answer({"ask": ask, **inputs})["ok"]
    assert "def function(" in answer({"ask": "code", "library": "loops", **inputs})["text"]


def test_the_gallery_has_twenty_three():
    assert len(GALLERY) == 23 == len({example["name"] for example in GALLERY})


# ------------------------------------------------------------------------------------------------------------ hostile texts
@pytest.mark.parametrize("number", CATALOGUE)
def test_an_error_is_told_by_its_number_as_the_docs_have_it(number):
    result = answer({"ask": "error", "code": number})
    assert result["ok"] and result["title"] == CATALOGUE[number]
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    assert result["examples"] and all(
        example["text"] in page and example.get("fixed", "") in page for example in result["examples"]
    )


@pytest.mark.parametrize("number", [None, 0, 999, "301", 301.0, True, [301], {}])
def test_an_error_that_is_none_is_refused(number):
    result = answer({"ask": "error", "code": number})
    assert not result["ok"] and "there is no error" in result["error"]["message"]


HOSTILE = [
    "(" * 5000, "x" * 19_000, "−" * 3000 + "x", "h^t = h^{t-1} + 1 for t = 1, …, 1000000000\nh^0 = 0\nh^5", "x^t = x^{t+1} for t = 1, …, 9\nx^3",
    "f(x) = f(x)\nf(1)", "f(x) = f(x + 1) + f(x)\nf(1)", "∑_{i=1}^{1000000000} i", "∑_{i=1}^{9} ∑_{j=1}^{9} ∑_{k=1}^{9} ∑_{l=1}^{9} ∑_{m=1}^{9} ∑_{n=1}^{9} i",
    "iota_{a} ⊙ iota_{b} ⊙ iota_{c} ⊙ iota_{d}", "X_{a→(b,c,d,e,f,g,h)}", "</script><script>alert(1)</script>", "\\def\\x{\\x\\x}\\x", "\x00\x1b[31m",
    "∂" * 50 + "x", "∂(∂(∂(∂(x^9)/∂x)/∂x)/∂x)/∂x", "[" + "1," * 4000 + "1]_{a}", "a^" * 300 + "b", "|" * 999, "X_{" * 300, "{ 1 if " * 100,
    "A = A", "A = B\nB = A\nA", "X ∈ ℝ^{a[99999999999]}\n∑_{a} X", "softmax_{a}(" * 150 + "X" + ")" * 150, "\n".join(f"x_{n} = x_{n + 1} + x_{n + 1}" for n in range(60)) + "\nx_60 = 1\nx_0",
    "\n".join(f"X_{n} = X_{n + 1} ⊙ X_{n + 1}" for n in range(60)) + "\nX_60 ∈ ℝ^{a}\nX_0", "2^2^2^2^2^2^2^2", "9" * 5000, "1e999999", "\u202e\u200f𝕀[\U0001F600]",
]  # fmt: skip
ALL = [
    ("check", {}), ("plan", {}), ("steps", {}), ("derive", {"by": "x"}), *(("code", {"library": item}) for item in ("loops", "numpy", "einsum"))
]  # fmt: skip


def timed(ask, text, **fields):
    with at_most(5):
        result = answer({"ask": ask, "text": text, **fields})
    assert result["ok"] or result["error"]["message"]
    if not result["ok"]:
        assert "could not be answered" not in result["error"]["message"], (ask, text[:60], result["error"]["message"])
    json.dumps(result)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("ask", ALL, ids=str)
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:20]))
def test_hostile_texts_get_an_answer_in_time(text, ask):
    timed(ask[0], text, **ask[1])


@pytest.mark.slow
def test_a_thousand_spoilt_texts_get_an_answer_each():
    random = Random(7)
    pool = [example["text"] for example in GALLERY]
    signs = "()[]{}_^⊙+−/√∑∂*|=,;→𝕀\\&$\n'\"#<>∈ℝ 12ax"
    for _ in range(1000):
        text = list(random.choice(pool))
        for _ in range(random.randint(1, 6)):
            position = random.randrange(len(text) + 1)
            change = random.random()
            if change < 0.4:
                text.insert(position, random.choice(signs))
            elif change < 0.8:
                del text[position : position + random.randint(1, 5)]
            else:
                other = random.choice(pool)
                text[position:position] = other[random.randrange(len(other)) :][:20]
        ask, fields = random.choice(ALL) if random.random() < 0.1 else ALL[0]
        timed(ask, "".join(text), **fields)


# ------------------------------------------------------------------------------------------------------- translations
@pytest.mark.parametrize(
    ("text", "shapes", "inputs", "formulas"),
    [
        ("A B", {}, {"A": "i j", "B": "j k"}, ["A ⊙_{j} B"]),
        ("A x", {"A": "out chans", "x": "chans"}, {"A": "out chans", "x": "chans"}, ["A ⊙_{chans} x"]),
        ("A ∈ ℝ^{m × n}\nA x", {}, {"A": "m n", "x": "n"}, ["A ⊙_{n} x"]),
        ("tr(A)", {}, {"A": "i i'"}, ["trace_{i, i'}(A)"]),
        ("a b", {}, {"a": "i", "b": "i"}, ["a ⊙_{i} b", "a ⊙ b"]),
        ("A + B.T", {}, {"A": None, "B": None}, []),
        ("A @ B", {"A": "m k"}, {"B": None}, []),
        ("A @ B", {"A": "m k", "B": "k n"}, {"A": "m k", "B": "k n"}, ["A ⊙_{k} B"]),
        ("∑_{i} W_{ij} x_i", {}, {"W": "i j", "x": "i"}, ["W ⊙_{i} x"]),
    ],
)
def test_matrices_indices_and_code_are_translated_with_the_axes_that_are_known(text, shapes, inputs, formulas):
    result = asked("translate", text, shapes=shapes)
    assert result["ok"] and result["error"] is None
    assert {input_["name"]: input_["axes"] for input_ in result["inputs"]} == inputs
    assert [reading["formula"] for reading in result["readings"]] == formulas
    for reading in result["readings"]:  # with its declarations it has a type and a value
        checked = asked("check", reading["text"])
        assert not checked["errors"] and {known["from"] for known in checked["inputs"]} == {"declared"}


@pytest.mark.parametrize("text", ["∑_{seq} X", "A ⊙_{j} B", "X"])
def test_a_text_that_is_in_the_notation_has_no_translation(text):
    assert not asked("translate", text).get("readings")


def test_check_says_which_texts_may_be_translated():
    texts = {"A B": True, "QK^⊤": True, "A @ B": True, "W_{ij} x_j": True, ATTENTION: False, "2 x + 1": False}
    assert {text: asked("check", text)["positional"] for text in texts} == texts


def test_a_translation_that_cannot_be_says_why():
    result = asked("translate", "A B", shapes={"A": "m n", "B": "p q"})
    assert result["ok"] and not result["readings"] and "n" in result["error"]["message"]


def test_a_plan_lists_the_assertions_of_its_text():
    text = "∑_{a} 2 X = 2 ∑_{a} X\n∑_{a} X"
    reply = answer({"ask": "plan", "text": text, "inputs": {"X": "ℝ^{a}"}, "sizes": {"a": 2}})
    (assertion,) = reply["assertions"]
    assert assertion["span"] == [0, text.index("\n")] and assertion["left"]["axes"] == []
