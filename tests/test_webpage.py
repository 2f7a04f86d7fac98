"""What the page asks of Python: an answer to everything, places that are right, types that are those of `check`."""

import json
import re

import pytest

import namedtensor as nt
from grammar.parser import parse
from namedtensor.webpage.answers import answer

ATTENTION = "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V"
TYPES = {"Q": "ℝ^{key}", "K": "ℝ^{seq × key}", "V": "ℝ^{seq × val}"}


def asked(ask, text, **fields):
    found = answer({"ask": ask, "text": text, **fields})
    assert json.loads(json.dumps(found)) == found
    return found


def test_parts_are_pieces_of_the_text_with_the_types_of_check():
    found = asked("check", ATTENTION, inputs=TYPES)
    assert found["ok"] and not found["errors"]
    assert [(each["name"], each["type"], each["from"]) for each in found["inputs"]] == [
        ("Q", "ℝ^{key[4]}", "given"),
        ("K", "ℝ^{seq[3] × key[4]}", "given"),
        ("V", "ℝ^{seq[3] × val[5]}", "given"),
    ]
    sizes = {each["name"]: each["size"] for each in found["axes"]}
    steps = dict(nt.check(ATTENTION, sizes=sizes, **{each["name"]: each["type"] for each in found["inputs"]}).steps)
    assert {each["text"]: each["type"] for each in found["parts"]} == steps
    for each in found["parts"]:
        assert ATTENTION[slice(*each["span"])] == each["text"]


def test_marks_in_latex_enclose_the_parts():
    found = asked("check", ATTENTION, inputs=TYPES)
    marked = {tuple(map(int, each)) for each in re.findall(r"\\htmlData\{at=(\d+)-(\d+)\}", found["latex"])}
    assert marked == {tuple(each["span"]) for each in found["parts"]}
    assert re.sub(r"\\html(?:Data|Class)\{[^{}]*\}", "", found["latex"]).replace("{", "").replace("}", "") == found[
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
    found = asked("check", text)
    bare = re.sub(r"\\html(?:Data|Class)\{[^{}]*\}", "", found["latex"])
    assert re.sub(r"[{}]", "", bare) == re.sub(r"[{}]", "", found["plain_latex"])


@pytest.mark.parametrize(
    ("text", "due"),
    [
        (ATTENTION, {"Q": ["key"], "K": ["key", "seq"], "V": ["seq"]}),
        ("A + B", {"A": [], "B": []}),
        ("Y = X ⊙_{a} W\nZ = Y + 1", {"X": ["a"], "W": ["a"]}),
        ("f(x, y) = x ⊙_{a} y", {"x": ["a"], "y": ["a"]}),
        ("f : ℝ^{a} → ℝ\nf(x) = ∑_{a} x^2", {"x": ["a"]}),
        ("X ∈ ℝ^{b × a}\n∑_{a} X", {"X": ["b", "a"]}),
    ],
)
def test_what_nobody_declared_gets_the_least_type_that_fits(text, due):
    found = asked("check", text)
    assert not found["errors"], found["errors"]
    assert {each["name"]: sorted(axis for axis, _ in each["axes"]) for each in found["inputs"]} == {
        name: sorted(axes) for name, axes in due.items()
    }
    assert all(size for each in found["inputs"] for _, size in each["axes"])


def test_an_error_has_its_place_and_its_repair():
    text = "Q ∈ ℝ^{key}\nK ∈ ℝ^{seq × key}\nsoftmax_{sek}(Q ⊙_{key} K / √|key|)"
    (error,) = asked("check", text)["errors"]
    assert (error["kind"], error["number"], error["line"], error["column"]) == ("shape", 301, 3, 10)
    assert text[slice(*error["span"])] == "sek"
    (repair,) = error["repairs"]
    start, end = repair["span"]
    assert not asked("check", text[:start] + repair["text"] + text[end:])["errors"]


def test_a_type_that_is_none_is_told_of_its_input():
    (error,) = asked("check", "A + B", inputs={"A": "ℝ^{"})["errors"]
    assert error["input"] == "A" and error["span"] is None


@pytest.mark.parametrize("request_", ["", "{", "[]", "null", "3", {}, {"ask": "nothing"}, {"ask": 3}, {"ask": "check"}, {"ask": "check", "text": None}, {"ask": "check", "text": "x", "inputs": [1]}, {"ask": "check", "text": "x", "sizes": {"a": -1}}, {"ask": "check", "text": "\ud800"}, "[" * 100000])  # fmt: skip
def test_whatever_is_asked_there_is_an_answer(request_):
    found = answer(request_)
    assert found["ok"] is False and found["error"]["message"]
    json.dumps(found)


def test_sizes_that_a_text_asks_for_are_found():
    found = asked("check", "|layer| = |h| |k|\nX ∈ ℝ^{layer}\nX_{layer→(h,k)}")
    sizes = {each["name"]: each["size"] for each in found["axes"]}
    assert not found["errors"] and sizes["layer"] == sizes["h"] * sizes["k"]


def test_completions_replace_what_is_begun():
    (first, *_) = answer({"ask": "complete", "before": r"A \odo"})["completions"]
    assert first == {"text": "⊙", "length": 4, "meaning": "\\odot"}
    assert parse("A ⊙ B")
