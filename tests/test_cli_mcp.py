"""The command mcp: its tools through a client session of the package mcp, and what they answer."""

import asyncio
import json
import sys

import pytest

pytest.importorskip("mcp")

from mcp import Client, StdioServerParameters

from namedtensor.cli import main
from namedtensor.cli.mcp_tools import TOOLS, BoundedTools, answer, server_of

CASES = [  # the tool, its arguments, and a part of the answer
    ("check", {"formula": "softmax_{a} X", "types": {"X": "ℝ^{a × b}"}}, {"ok": True, "type": "ℝ^{b × a}"}),
    ("check", {"formula": "softmax_{c} X", "types": {"X": "ℝ^{a}"}}, {"ok": False, "type": None}),
    ("check", {"formula": r"\softmax{x}", "syntax": "latex"}, {"ok": False}),
    ("evaluate", {"formula": "∑_{a} X", "inputs": {"X": {"data": [[1, 2], [3, 4]], "axes": "a b"}}}, {"axes": ["b"], "values": [4.0, 6.0]}),
    ("evaluate", {"formula": "1 / x + n", "inputs": {"x": 2, "n": 1}}, {"values": 1.5}),
    ("evaluate", {"formula": "1 / x", "inputs": {"x": 0}}, {"values": "Infinity"}),
    ("evaluate", {"formula": "iota_{a}", "sizes": {"a": 20000}}, {"sizes": {"a": 20000}, "values": None}),
    ("evaluate", {"formula": "X", "inputs": {"X": [1, 2]}}, {"ok": False}),
    ("evaluate", {"formula": "X +", "inputs": {"X": 1}}, {"ok": False}),
    ("equivalent", {"first": "mean_{n} X", "second": "∑_{n} X / |n|", "types": {"X": "ℝ^{n}"}}, {"equal": True, "proved": True}),
    ("equivalent", {"first": "mean_{n} X", "second": "∑_{n} X", "types": {"X": "ℝ^{n}"}}, {"equal": False}),
    ("derive", {"formula": "x^3", "wrt": "x", "types": {"x": "ℝ"}}, {"closed_form": "D = 3 x^2"}),
    ("derive", {"formula": "x^3", "wrt": "y", "types": {"x": "ℝ"}}, {"ok": False}),
    ("translate", {"source": "X @ W + b", "axes": {"X": "n d", "W": "d k", "b": "k"}}, {"formula": "X ⊙_{d} W + b", "kind": "numpy"}),
    ("translate", {"source": "import os", "axes": {}}, {"ok": False}),
    ("read", {"target": "model.py:f", "inputs": {"x": "a"}}, {"ok": False}),
]  # fmt: skip


@pytest.mark.parametrize("tool, arguments, part", CASES)
def test_answers_are_records(tool, arguments, part):
    record = answer(tool, arguments)
    assert {name: record[name] for name in part} == part
    json.dumps(record, allow_nan=False)
    if not record["ok"]:
        assert "error" in record["message"]


@pytest.mark.slow
def test_a_client_session_uses_every_tool():
    async def session():
        command = StdioServerParameters(command=sys.executable, args=["-m", "namedtensor", "mcp"])
        async with Client(command) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            results = [(await client.call_tool(tool, arguments), part) for tool, arguments, part in CASES]
            return tools, results

    tools, results = asyncio.run(session())
    assert tools.keys() == TOOLS.keys() and all(tool.description for tool in tools.values())
    for result, part in results:
        assert not result.is_error and {name: result.structured_content[name] for name in part} == part


def test_tools_and_their_arguments_are_those_of_the_answers():
    tools = BoundedTools(5, 0)

    async def listed():
        async with Client(server_of(tools)) as client:
            return (await client.list_tools()).tools

    for tool in asyncio.run(listed()):
        names = set(TOOLS[tool.name].__code__.co_varnames[: TOOLS[tool.name].__code__.co_argcount])
        assert set(tool.input_schema["properties"]) == names - {"code"}


@pytest.mark.parametrize("tool", ["check", "evaluate"])
def test_a_lone_surrogate_is_answered(tool):
    tools = BoundedTools(20.0, 0)
    try:
        record = tools.ask(tool, formula="x + \ud800")
        assert not record["ok"] and "error" in record["message"]
        json.dumps(record, ensure_ascii=False).encode()
        assert tools.ask("evaluate", formula="1 + 1")["values"] == 2
    finally:
        tools.close()


@pytest.mark.slow
def test_an_answer_that_takes_too_long_is_an_error_and_the_next_is_answered():
    tools = BoundedTools(1.0, 0)
    try:
        tools.ask("check", formula="1", types={}, sizes={}, syntax="auto")
        late = tools.ask(
            "evaluate",
            formula="|a| = 3000\nx^0 = iota_{a}\nx^t = sin(x^{t-1} + t) for t = 1, …, 900000\ny = ∑_{a} x^{900000}",
        )
        assert not late["ok"] and "takes more than 1 seconds" in late["message"]
        assert tools.ask("evaluate", formula="1 + 1")["values"] == 2
    finally:
        tools.close()


@pytest.mark.slow
def test_memory_is_limited():
    tools = BoundedTools(20.0, 2**30)
    try:
        question = {"inputs": {"n": 1}, "sizes": {"a": 20000, "b": 20000}}
        answer = tools.ask("evaluate", formula="∑_{a,b} (iota_{a} ⊙ iota_{b} + n)^{0.5}", **question)
        assert not answer["ok"] and "error" in answer["message"]
        assert tools.ask("evaluate", formula="1 + 1")["values"] == 2
    finally:
        tools.close()


MODEL = """
import torch

def mean(x):
    return x.sum(-1) / x.shape[-1]
"""


@pytest.mark.slow
def test_read_runs_files_of_the_allowed_folder_alone(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "model.py").write_text(MODEL)
    (tmp_path / "other.py").write_text(MODEL)
    code = str(tmp_path / "code")
    question = {"inputs": {"x": "batch,seq"}, "against": "mean_{seq} x"}
    record = answer("read", {"code": code, "target": "model.py:mean", **question})
    assert record["ok"] and record["against"]["equal"]
    for target in ("../other.py:mean", str(tmp_path / "other.py") + ":mean"):
        record = answer("read", {"code": code, "target": target, **question})
        assert not record["ok"] and "outside the folder" in record["message"]
    assert not answer("read", {"code": code, "target": "model.py", **question})["ok"]
    assert not answer("read", {"code": code, "target": "missing.py:f", **question})["ok"]


@pytest.mark.parametrize("words", [["--seconds", "0"], ["--memory", "-1"], ["--code", "no such folder"]])
def test_wrong_options(words, capsys):
    assert main(["mcp", *words]) == 2
    assert capsys.readouterr().err.startswith("namedtensor: ")


def test_without_the_package_a_sentence_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    assert main(["mcp"]) == 2
    assert "pip install '.[mcp]'" in capsys.readouterr().err
