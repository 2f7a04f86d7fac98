"""The page's function gives the values of all steps, for all sizes that a reader chooses."""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

import javascript
import numpy as np
import pytest

import namedtensor as nt
from namedtensor.webpage.answers import answer

Sizes = dict[str, int]


class Text(NamedTuple):
    """A text, the types of its inputs, and sizes in the order in which a reader chooses them."""

    text: str
    types: dict[str, Any]
    sizes: list[Sizes]


def lengths(*names: str) -> list[Sizes]:
    """Sizes of some axes: a few that differ, then one and equal ones, then the first again."""
    rows = ((3, 4, 5, 2), (4, 4, 5, 2), (7, 2, 3, 4), (1, 5, 6, 3), (6, 6, 6, 6), (3, 4, 5, 2))
    return [dict(zip(names, row)) for row in rows]


def of(axis: str, *sizes: int, **others: int) -> list[Sizes]:
    return [{axis: size, **others} for size in sizes]


QKV = {"Q": "ℝ^{seq' × key}", "K": "ℝ^{seq × key}", "V": "ℝ^{seq × val}"}
X = {"X": "ℝ^{a × b}"}
TEXTS = {
    "attention": Text("softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V", QKV, lengths("seq'", "seq", "key", "val")),
    "causal": Text(
        "S = Q ⊙_{key} K / √|key|\nM = { 0 if iota_{seq} ≤ iota_{seq'}; −∞ otherwise }\nsoftmax_{seq}(S + M) ⊙_{seq} V",
        QKV, lengths("seq'", "seq", "key", "val"),
    ),
    "functions": Text(
        "LN(X) = standardize_{b} X ⊙ γ + β\nAtt(X) = softmax_{a}(X_{a→c} ⊙_{b} X / √|b|) ⊙_{a} X\nY = X + Att(LN(X))_{c→a}\nY + LN(Y)",
        {**X, "γ": "ℝ^{b}", "β": "ℝ^{b}"}, lengths("a", "b"),
    ),
    "lifted": Text("f : ℝ^{a} → ℝ\nf(x) = ∑_{a} x^2\nf(X) + X", X, lengths("a", "b")),
    "labels": Text("W^Q, W^K ∈ ℝ^{a × key}\n(W^Q ⊙_{a} X) ⊙_{key} (W^K ⊙_{a} X_{b→c})", X, [{"a": 3, "b": 2, "key": 4}, {"a": 5, "b": 2, "key": 4}, {"a": 5, "b": 6, "key": 1}]),
    "axes merged": Text("X_{(a,b)→c} + 1", X, lengths("a", "b")),
    "an axis split by a number": Text("|b| = 2\n∑_{c} X_{a→(b,c)}", {"X": "ℝ^{a}"}, [{"a": 4}, {"a": 8}, {"a": 2}, {"a": 10}]),
    "an axis split by sizes": Text("X_{a→(b,c)}", {"X": "ℝ^{a}"}, [{"a": 6, "b": 2, "c": 3}, {"a": 8, "b": 2, "c": 4}]),
    "a slice": Text("X_{a(2:4)} − X_{a(1:3)}", X, of("a", 5, 4, 9, b=2)),
    "the last": Text("X_{a(|a|)} + X_{a(1)} − X_{a(|a| − 1)}", X, of("a", 5, 4, 2, b=3)),
    "windows": Text("W ⊙_{c} unroll_{a,c} X", {**X, "W": "ℝ^{c}"}, [{"a": 7, "b": 2, "c": 3}, {"a": 5, "b": 3, "c": 2}, {"a": 9, "b": 1, "c": 4}]),
    "pools": Text("|c| = 2\nmax_{c} pool_{a,c} X", X, of("a", 6, 4, 10, b=3)),
    "a family": Text(
        "h^0 = x\nh^t = tanh(W ⊙_{a} h^{t-1})_{a'→a} for t = 1, …, n\nh^n\nx ∈ ℝ^{a}\nW ∈ ℝ^{a × a'}", {"n": 3},
        [{"a": n, "a'": n} for n in (3, 5, 1)],
    ),
    "a family along an axis": Text(
        "h^0 = 0\nh^t = h^{t-1} / 2 + X_{a(t)} for t = 1, …, |a|\nh^{|a|}", X,
        [{"a": 3, "b": 2}, {"a": 3, "b": 4}, {"a": 5, "b": 4}, {"a": 5, "b": 2}, {"a": 3, "b": 1}],
    ),
    "a loop": Text("h^0 = x\nh^t = h^{t-1} / 2 + ∑_{b} iota_{b} / |h| for t = 1, …, 2500\n|b| = |h|\nh^{2500}", {"x": "ℝ^{h}"}, of("h", 3, 4, 1)),
    "cases on a size": Text("{ X if |a| > 4; 2 X otherwise } + |a|", X, of("a", 3, 4, 6, 5, b=2)),
    "two axes": Text("softmax_{a,b} X + max_{a,b} X", {"X": "ℝ^{a × b × c}"}, lengths("a", "b", "c")),
    "a number of a size": Text("n = |a| − 1\n∑_{a} X / n", X, of("a", 4, 7, 2, b=3)),
    "a sum up to a size": Text("∑_{i=1}^{|a|} X_{a(i)}^2 i", X, of("a", 4, 7, 1, b=2)),
    "words": Text("E_{vocab(I)}", {"E": "ℝ^{vocab × b}", "I": "ℝ^{seq}"}, lengths("seq", "vocab", "b")[:3]),
    "a gradient": Text("∂(∑_{a} (X ⊙_{b} w − y)^2 / 2)/∂w*", {**X, "w": "ℝ^{b}", "y": "ℝ^{a}"}, lengths("a", "b")),
    "a Jacobian": Text("∂(softmax_{a} x)/∂x*", {"x": "ℝ^{a}"}, lengths("a")),
    "a claim": Text("∑_{a} 2 X = 2 ∑_{a} X\n∑_{a} X^2", X, lengths("a", "b")),
    "a matrix": Text("det_{a,b} X + trace_{a,b} X", X, [{"a": n, "b": n} for n in (2, 3, 1)]),
    "a quantile": Text("quantile_{a}(X; 0.3)", X, [{"a": 3, "b": 2}, {"a": 3, "b": 4}, {"a": 5, "b": 4}]),
    "one size declared": Text("X ∈ ℝ^{a × b[3]}\n∑_{b} X", {}, of("a", 2, 3, 6)),
    "a size of no input": Text("iota_{a} + ∑_{b} x", {"x": "ℝ^{b}"}, [{"a": 2, "b": 3}, {"a": 2, "b": 5}, {"a": 4, "b": 5}, {"a": 4, "b": 3}]),
    "names of other things": Text("seq X + ∑_{if} X / |if| + nt", {"seq": "ℝ^{seq}", "X": "ℝ^{seq × if × nt}", "nt": "ℝ^{nt}"}, lengths("seq", "if", "nt")),
    "draws": Text("z ∼ N(0, 1)^{a}\nz X + 𝔼_{u ∼ N(0, 1)}[u^2 ∑_{a} X]", X, lengths("a", "b")[:3]),
    "an expectation": Text("𝔼_{i ∼ p}[x_{a(i)}^2]", {"x": "ℝ^{a}", "p": "ℝ^{a}"}, lengths("a")),
}  # fmt: skip


def checked(text: Text, sizes: Sizes) -> dict[str, Any]:
    reply = answer({"ask": "check", "text": text.text, "inputs": text.types, "sizes": sizes, "plan": True})
    assert not reply["errors"], reply["errors"][0]["full"]
    assert reply["plan"]["ok"], reply["plan"]["error"]["full"]
    return reply


def inputs_of(reply: dict[str, Any]) -> dict[str, Any]:
    """Drawn values of all inputs; numbers as they are."""
    values: dict[str, Any] = {}
    for input_ in reply["inputs"]:
        name, shape = input_["name"], [size for _, size in input_["axes"]]
        random = np.random.default_rng([*shape, zlib.crc32(name.encode())])
        array = random.integers(1, 3, shape) * 1.0 if name == "I" else random.normal(size=shape)
        array = abs(array) / abs(array).sum() if name == "p" else array
        values[name] = (
            input_["number"] if input_["needed"] == "number" else nt.tensor(array, [axis for axis, _ in input_["axes"]])
        )
    return values


def differing(text: Text, sizes: Sizes, reply: dict[str, Any], given: dict[str, Any], results: Any) -> list[str]:
    """The steps whose value is another one than `nt.explain` and `nt.evaluate` have."""
    if isinstance(results, dict):
        return [f"{text.text} {sizes}: {results}"]
    explained, steps = nt.explain(text.text, given, sizes=sizes), reply["plan"]["steps"]
    wrong = [] if [step["text"] for step in steps] == [step.text for step in explained] else ["other steps"]
    for step, other in zip(steps, explained):
        if step["result"] is not None:
            value = tensor_of(results[step["result"]], step["axes"])
            if step["type"] != other.type or not nt.allclose(value, other.value, rtol=1e-9, atol=1e-9):
                wrong.append(f"{text.text} {sizes}: {step['text']} : {step['type']} is\n{value}, not\n{other.value}")
    value = steps[reply["plan"]["value"]]
    whole = nt.evaluate(text.text, given, sizes=sizes)
    if not nt.allclose(tensor_of(results[value["result"]], value["axes"]), whole, rtol=1e-9, atol=1e-9):
        wrong.append(f"{text.text} {sizes}: the value is not {whole}")
    return wrong


def tensor_of(result: dict[str, Any], axes: list[list[Any]]) -> Any:
    assert result["shape"] == [size for _, size in axes]
    return nt.tensor(
        np.reshape([float(number) for number in result["data"]], result["shape"]), [axis for axis, _ in axes]
    )


def compared(texts: dict[str, Text]) -> list[str]:
    """All differences of some texts."""
    replies = [(text, sizes, checked(text, sizes)) for text in texts.values() for sizes in text.sizes]
    inputs = [inputs_of(reply) for _, _, reply in replies]
    head = 'import * as nt from "./javascript_runtime.js";'
    modules = [
        (
            f"{head}\n{reply['plan']['source']}\nexport {{ formula }};",
            [values[name].array for name in reply["plan"]["inputs"]],
        )
        for (_, _, reply), values in zip(replies, inputs)
    ]
    results = javascript.run(modules)
    return [
        line for reply, values, result in zip(replies, inputs, results) for line in differing(*reply, values, result)
    ]


@pytest.mark.slow
@pytest.mark.skipif(javascript.NODE is None, reason=javascript.REASON)
def test_the_function_gives_the_values_of_all_sizes():
    assert compared(TEXTS) == []


def test_sizes_that_the_text_declares_are_sizes_too():
    text = "Q ∈ ℝ^{key[4]}\nK ∈ ℝ^{seq[5] × key[4]}\nsoftmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} K"
    for key, seq in ((4, 5), (7, 5), (1, 9)):
        declared = text.replace("key[4]", f"key[{key}]").replace("seq[5]", f"seq[{seq}]")
        assert checked(Text(declared, {}, []), {})["plan"]["steps"][-1]["axes"] == [["key", key]]


def test_many_numbers_leave_out_the_values_of_steps():
    text, types = "mean_{b} (x ⊙ y + 1)", {"x": "ℝ^{a}", "y": "ℝ^{b}"}
    replies = [checked(Text(text, types, []), {"a": size, "b": size}) for size in (4, 2000, 6)]
    results = [sum(step["result"] is not None for step in reply["plan"]["steps"]) for reply in replies]
    assert results == [5, 1, 5]
