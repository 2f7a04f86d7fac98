"""Sharding by names: the same values as on one device, the collectives of sharding by hand, and errors of the language.

JAX takes the number of its devices once, when it starts, so the cases run in processes of their own.
"""

import json
import os
import re
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.sharding import checkpoints
from namedtensor.sharding.collectives import Collective, collectives_of

HERE = Path(__file__).parent
CASES = re.findall(r"^def (case_\w+)", (HERE / "sharded_cases.py").read_text(encoding="utf-8"), re.MULTILINE)
FLAGS = (
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"  # compile faster; collectives stay
)
needs_jax = pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed")


def started(script, *arguments, devices):
    environment = {
        **os.environ,
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices} {FLAGS}",
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE)]),
        "PYTHONUTF8": "1",
    }
    return subprocess.Popen(
        [sys.executable, str(HERE / script), *map(str, arguments)],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip


def answer(process, timeout=240):
    """The last line that a process prints, which is JSON."""
    try:
        out, errors = process.communicate(timeout=timeout)
    finally:
        process.kill()
    assert process.returncode == 0, errors[-4000:]
    return json.loads(out.splitlines()[-1])


# ------------------------------------------------------------------------------------------------------ eight devices
@pytest.fixture(scope="module")
def results(request):
    """Return the result of each case that this run selects, from one process."""
    cases = sorted({item.callspec.params["case"] for item in request.session.items if is_case(item)})
    return answer(started("sharded_cases.py", *cases, devices=8), 560)["cases"]


def is_case(item):
    return getattr(item, "originalname", "") == "test_on_eight_devices"


@pytest.fixture(scope="module")
def errors():
    return answer(started("sharded_cases.py", "errors", devices=8))["errors"]


@pytest.mark.sampled(6)
@pytest.mark.slow
@needs_jax
@pytest.mark.parametrize("case", CASES)
def test_on_eight_devices(results, case):
    assert results[case] == "passed", results[case]


@pytest.mark.sampled(6)
@pytest.mark.slow
@needs_jax
@pytest.mark.parametrize("devices", [8, 64, 512])
def test_rules_for_parameters_and_values_need_no_more_than_by_hand(devices):
    prefixes = ["case_fully", "case_tensor", "case_sequence", *(["case_of_eight"] if devices == 8 else [])]
    cases = answer(started("sharded_by_hand.py", *prefixes, devices=devices))["cases"]
    assert len(cases) == (8 if devices == 8 else 4) and set(cases.values()) == {"passed"}, cases


@pytest.mark.sampled(6)
@needs_jax
@pytest.mark.parametrize("devices", [64, 512])
def test_on_many_devices_the_collectives_are_those_by_hand(devices):
    cases = answer(started("sharded_cases.py", "case_of_many_rows", devices=devices))["cases"]
    assert len(cases) == 3 and set(cases.values()) == {"passed"}, cases


MESH = "  the mesh is data[2] × model[4]"
LEAVE = "  hint: shard one of them over another mesh axis, or remove it from the rules"
ERRORS = {
    "no such axis of the mesh": f"""\
name error 201: the mesh has no axis modle, required by the rule of axis heads
{MESH}
  hint: did you mean model?""",
    "no such axis": """\
name error 201: sharding rule for unknown axis haeds: not in the formulas or the tensors
  they have batch, chans, heads, hidden
  hint: did you mean heads?""",
    "no axis that is near": """\
name error 201: sharding rule for unknown axis time: not in the formulas or the tensors
  they have batch, chans, heads, hidden
  hint: remove time from the rules""",
    "two axes over one": f"""\
shape error 303: the rules shard both axes heads and hidden of W over model
  W : ℝ^{{chans[6] × heads[4] × hidden[8]}}
{MESH}
{LEAVE}""",
    "sizes that do not divide": f"""\
shape error 310: axis batch of X has size 5, not divisible by mesh axis data (2)
  X : ℝ^{{batch[5] × chans[6]}}
{MESH}
  hint: make the size a multiple of 2, such as 4 or 6, or remove batch from the rules""",
    "over both": f"""\
shape error 310: axis chans of X has size 6, not divisible by mesh axis data × model (8)
  X : ℝ^{{batch[5] × chans[6]}}
{MESH}
  hint: make the size a multiple of 8, such as 8, or remove chans from the rules""",
    "a result": f"""\
shape error 310: axis b of Y has size 6, not divisible by mesh axis model (4)
  Y : ℝ^{{b[6]}}
{MESH}
  hint: make the size a multiple of 4, such as 4 or 8, or remove b from the rules""",
    "twice in a rule": "shape error 303: the rule of axis heads names model twice\n  hint: name each axis once",
    "no rule": """\
name error 208: the rule of axis heads must name a mesh axis, got 1
  hint: write {"heads": "data"}""",
    "no rules": """\
name error 208: rules must be a mapping from axes to mesh axes, got list
  hint: write {"batch": "data", "heads": "model"}""",
    "no mesh": """\
name error 208: expected a JAX mesh, got tuple
  hint: write jax.make_mesh((2, 4), ("data", "model")), or {"data": 2, "model": 4}""",
    "a mesh too small": """\
shape error 310: a mesh of data[64] × model[8] needs 512 devices, got 8
  hint: make it smaller, or emulate the devices on one CPU: XLA_FLAGS=--xla_force_host_platform_device_count=512""",
    "a mesh of no sizes": """\
shape error 310: the size of data must be a positive integer, got 2.5
  hint: write {"data": 2}""",
    "computed by no axis": f"""\
name error 201: the mesh has no axis modle, required by the rule of axis heads
{MESH}
  hint: did you mean model?""",
    "no name of an axis": """\
name error 208: invalid axis name 'heads, hidden'
  hint: axes are separated with spaces, not commas: "heads hidden\"""",
    "no tensor": """\
shape error 317: X must be a named tensor, got an array of 2 axes without names
  hint: pass them: nt.tensor(array, "seq chans")""",
    "no tensor by position": """\
shape error 317: argument 1 must be a named tensor, got a list
  hint: convert it: nt.tensor(data, "seq chans")""",
    "the formula's own": """\
shape error 317: X is missing axis chans of its declaration
  2 | X ∈ ℝ^{chans}
    |        ^^^^^
  X : ℝ^{cans[6]}
  hint: give X with the axes chans""",
    "no such name": """\
name error 201: undefined name Z
  defined names: W, X, Y
  hint: define Z with an equation, or pass a value for it""",
    "no such value": """\
name error 201: sharding rule for unknown value Z: the formulas do not define it
  hint: remove Z from the rules""",
    "no rules of a value": """\
name error 208: value_rules must be a mapping from names to rules, got {'Y': 'model'}
  hint: write {"X^l": {"seq": "model"}}""",
    "no value to save": """\
name error 201: sharding rule for unknown value V: the formulas do not define it
  hint: remove V from the rules""",
    "too few devices emulated": """\
shape error 310: cpu:512 needs 512 CPU devices, got 8
  hint: set XLA_FLAGS=--xla_force_host_platform_device_count=512 before Python starts, or use the command namedtensor devices""",
    "a report of sizes that do not divide": """\
shape error 310: axis heads of W has size 12, not divisible by mesh axis model (8)
  W : ℝ^{chans[6] × heads[12] × hidden[4]}
  the mesh is model[8]
  hint: make the size a multiple of 8, such as 8 or 16, or remove heads from the rules""",
    "a report without a size": """\
shape error 309: the size of axis hidden in W is missing
  hint: pass it: sizes={'hidden': 3}""",
    "a report with a rule too many": """\
name error 201: sharding rule for unknown axis haeds: not in the formulas or the tensors
  they have chans, heads, hidden
  hint: did you mean heads?""",
    "an update without a next value": """\
name error 201: the update does not define W, the next value of a parameter θ
  hint: write W = θ − α g""",
    "nothing to accumulate over": """\
name error 201: gradients are accumulated over micro, but no input has this axis
  they have batch, chans
  hint: give an input the axis micro""",
    "no such parameter": f"""\
shape error 303: the rules shard both axes heads and key of W_Q over model
  W_Q : ℝ^{{chans[16] × heads[4] × key[8]}}
{MESH}
{LEAVE}""",
}


@needs_jax
@pytest.mark.parametrize("name", ERRORS)
def test_the_text_of_an_error(errors, name):
    assert errors[name] == ERRORS[name]


@needs_jax
def test_every_error_has_its_text(errors):
    assert set(errors) == set(ERRORS)


def test_without_jax(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(nt.NotationError) as caught:
        nt.program("Y = 2 X\nX ∈ ℝ^{batch}").shard({"batch": "data"}, None)
    assert str(caught.value) == "value error 408: jax is not installed\n  hint: pip install '.[jax]'"


# --------------------------------------------------------------------------------------------------------- the command
def devices(*words):
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONUTF8": "1", "PYTHONPATH": str(HERE.parent)}
    return subprocess.run(
        [sys.executable, "-m", "namedtensor", "devices", *words],
        env=environment, capture_output=True, encoding="utf-8", timeout=240,
    )  # fmt: skip


NETWORK = "Y = relu(X ⊙_{a} W) ⊙_{b} V\nX ∈ ℝ^{a}\nW ∈ ℝ^{a × b}\nV ∈ ℝ^{b × a}"
WORDS = ("--mesh", "data=4,model=4", "--sizes", "b=64", "X=ℝ^{batch[8] × a[16]}")


@pytest.mark.slow
@needs_jax
def test_the_command_reports_devices_that_are_not_there():
    result = devices(
        NETWORK,
        "--store",
        "b=model,a=data",
        "--compute",
        "b=model,batch=data",
        "--loss",
        "mean_{a}(Y^2)",
        *WORDS,
        "--json",
    )
    report = json.loads(result.stdout)
    assert report["device_count"] == 16 and report["forward"]["parameters"] == 4 * 2 * 16 * 64 // 16
    assert report["step"]["states"] == 2 * report["step"]["parameters"]
    assert report["forward"]["flops"] == 2 * 2 * 8 * 16 * 64 // 16
    assert report["forward"]["collectives"]["all-gather over data"] == {"count": 2, "bytes": 2 * 4 * 16 * 64 // 4}
    assert report["forward"]["collectives"]["all-reduce over model"]["count"] == 1


@pytest.mark.sampled(6)
@pytest.mark.slow
@needs_jax
@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("--store", "c=model"), 1, "sharding rule for unknown axis c: not in the formulas or the tensors"),
        (("--store", "b=modle"), 1, "the mesh has no axis modle, required by the rule of axis b"),
        (("--store", "b"), 2, "'b' is not a rule; write hidden=model,batch=data"),
        (("--topology", "cpu:8"), 1, "a mesh of data[4] × model[4] needs 16 devices, got 8"),
        (("--topology", "v0q:1x1"), 1, "unknown topology 'v0q:1x1'"),
        (("--dtype", "float31"), 1, "invalid dtype 'float31'"),
        (("--value", "Z:b=model"), 1, "sharding rule for unknown value Z: the formulas do not define it"),
    ],
)
def test_the_command_rejects_what_does_not_fit_in_one_sentence(words, status, message):
    result = devices(NETWORK, *words, *WORDS)
    assert result.returncode == status and message in result.stderr and "Traceback" not in result.stderr, result.stderr


# -------------------------------------------------------------------------------------------------------- two processes
def free_port():
    with socket.socket() as free:
        free.bind(("localhost", 0))
        return free.getsockname()[1]


@pytest.mark.sampled(6)
@pytest.mark.slow
@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_two_processes_of_torch_have_what_the_rules_say():
    port = free_port()
    first, second = map(answer, [started("sharded_torch.py", index, 2, port, devices=1) for index in range(2)])
    assert first == second and all(first["are"])
    assert first["shapes"] == first["gradients"] == {"W_1": [8, 8], "W_2": [8, 8], "b_2": [8]}
    assert first["errors"] == [
        "name error 201: sharding rule for unknown axis hiden: not in the tensors\n  they have chans, hidden\n"
        "  hint: did you mean hidden?",
        "name error 201: the mesh has no axis modle, required by the rule of axis hidden\n  hint: did you mean model?",
        "shape error 303: the rules shard both axes hidden and chans over model\n"
        "  hint: shard one of them over another mesh axis, or remove it from the rules",
        "shape error 310: axis hidden has size 5, not divisible by mesh axis model (2)\n  ℝ^{hidden[5]}\n"
        "  hint: make the size a multiple of 2",
    ]


@pytest.mark.sampled(6)
@pytest.mark.slow
@needs_jax
def test_two_processes_train_as_one_does():
    port = free_port()
    two = [started("sharded_processes.py", index, 2, port, devices=2) for index in range(2)]
    first, second = map(answer, two)
    alone = answer(started("sharded_processes.py", 0, 1, 0, devices=4))
    assert first["devices"] == second["devices"] == alone["devices"] == 4
    assert alone["kinds"] == first["kinds"] == second["kinds"] and len(alone["kinds"]) == 5
    for item in (first, second):
        np.testing.assert_allclose(item["losses"], alone["losses"], rtol=1e-5)
        np.testing.assert_allclose(item["total"], alone["total"], rtol=1e-5)
    whole = {tuple(start): numbers for start, numbers in alone["parts"]}
    parts = [part for result in (first, second) for part in result["parts"]]
    assert {tuple(start) for start, _ in parts} == set(whole) and len(whole) == 2
    for start, numbers in parts:
        np.testing.assert_allclose(numbers, whole[tuple(start)], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("keep", [0, -1, 1.5, None])
def test_a_folder_keeps_at_least_one_step(keep, tmp_path):
    with pytest.raises(nt.NotationError, match="error 208: keep must be an integer from 1, got"):
        checkpoints.save_step(tmp_path / "steps", 1, {}, keep=keep)
    assert not (tmp_path / "steps").exists()


def printed(process):
    """The records that a process prints, one a line, until it ends or is killed."""
    try:
        out, errors = process.communicate(timeout=240)
    finally:
        process.kill()
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")], errors


@pytest.mark.sampled(6)
@pytest.mark.slow
@needs_jax
def test_a_run_of_two_processes_goes_on_after_one_is_killed(tmp_path):
    """Its losses are those of one process that was never stopped, whose mesh is another."""
    whole, errors = printed(started("sharded_training.py", 0, 1, 0, tmp_path / "whole", 0, devices=4))
    assert [record.get("step") for record in whole] == [1, 2, 3, 4, 5, 6, None], errors[-2000:]
    losses = [record["loss"] for record in whole[:-1]]
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.9 * losses[0]

    port, folder = free_port(), tmp_path / "two"
    first, second = (started("sharded_training.py", index, 2, port, folder, 3, devices=2) for index in range(2))
    killed, _ = printed(second)
    assert second.returncode != 0
    first.kill()  # which waits for the other
    before, _ = printed(first)
    assert [record["step"] for record in killed] == [1, 2, 3] and before == killed
    assert checkpoints.steps_in(folder) == [1, 2]  # of step 3 the other process wrote its part

    port = free_port()
    two = [started("sharded_training.py", index, 2, port, folder, 0, devices=2) for index in range(2)]
    results = [printed(process) for process in two]
    for after, errors in results:
        assert [record.get("step") for record in after] == [3, 4, 5, 6, None], errors[-2000:]
        np.testing.assert_allclose([r["loss"] for r in killed[:2] + after[:-1]], losses, rtol=1e-5)
        assert after[-1]["steps"] == [5, 6]

    again, errors = printed(started("sharded_training.py", 0, 1, 0, folder, 0, devices=4))  # by another mesh
    assert again == [{"steps": [5, 6]}], errors[-2000:]


# --------------------------------------------------------------------------------------------- the text of the compiler
EIGHT = SimpleNamespace(devices=np.arange(8).reshape(2, 4), axis_names=("data", "model"))
LINES = {
    "%r = f32[2,8]{1,0} all-reduce(%x), replica_groups={{0,1,2,3},{4,5,6,7}}, to_apply=%add": Collective(
        "all-reduce", ("f32[2,8]",), ("model",)
    ),
    "ROOT %r = bf16[8]{0} all-gather(%x), replica_groups=[4,2]<=[2,4]T(1,0), dimensions={0}": Collective(
        "all-gather", ("bf16[8]",), ("data",)
    ),
    "%r = (f32[2]{0}, f32[]) all-reduce(%x, %y), replica_groups=[2,4]<=[8], to_apply=%add": Collective(
        "all-reduce", ("f32[2]", "f32[]"), ("model",)
    ),
    "%r = f32[4]{0:T(256)} reduce-scatter(%x), replica_groups={}, dimensions={0}": Collective(
        "reduce-scatter", ("f32[4]",), ("data", "model")
    ),
    "%r = f32[4]{0} all-to-all(%x), replica_groups=mesh['axis_0'=2,'axis_1'=4] {'axis_1'}, dimensions={0}": Collective(
        "all-to-all", ("f32[4]",), ("model",)
    ),
    "%r = f32[4]{0} all-reduce(%x), replica_groups=mesh['axis_0'=1,'axis_1'=4,'axis_2'=2], device_ids=([2,4]T(1,0)) "
    "{'axis_1'}, to_apply=%add": Collective("all-reduce", ("f32[4]",), ("model",)),
    "%r = f32[4]{0} all-reduce(%x), replica_groups=mesh['a'=2,'b'=4], device_ids=(0,2,4,6,1,3,5,7) {'a'}": Collective(
        "all-reduce", ("f32[4]",), ()
    ),
    "%r = f32[4]{0} all-reduce(%x), replica_groups={{0,1},{2,3},{4,5},{6,7}}": Collective("all-reduce", ("f32[4]",)),
    "%r = s32[2,2]{1,0} collective-permute(%x), source_target_pairs={{0,4},{4,0}}": Collective(
        "collective-permute", ("s32[2,2]",), ("data",)
    ),
    "%s = (f32[2,8]{1,0}, f32[8,8]{1,0}) all-gather-start(%x), replica_groups=[2,4]<=[8], dimensions={0}": Collective(
        "all-gather", ("f32[8,8]",), ("model",)
    ),
    "%s = ((f32[2], f32[3]), (f32[8], f32[12])) all-gather-start(%x, %y), replica_groups=[2,4]<=[8]": Collective(
        "all-gather", ("f32[8]", "f32[12]"), ("model",)
    ),
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_the_compiler_is_read(line):
    assert collectives_of(line, EIGHT) == (LINES[line],)


@pytest.mark.parametrize(
    "line",
    [
        "%d = f32[8,8]{1,0} all-gather-done(%s)",
        "%f = f32[8]{0} fusion(%x), calls=%all-reduce-like, metadata={op_name=\"all-reduce(\"}",
        "%p = f32[8]{0} add(%all-reduce, %all-gather.1)",
    ],
)  # fmt: skip
def test_other_lines_are_none(line):
    assert collectives_of(line, EIGHT) == ()
