"""The examples that train by formulas alone: the model and Adam beside the same written by hand in PyTorch, and in NumPy."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest

import namedtensor as nt

sys.path.insert(0, str(Path(__file__).parent.parent / "docs" / "examples"))

import characters

SMALL = {"L": 2, "chans": 16, "heads": 2, "key": 8, "val": 8, "hidden": 32, "vocab": len(characters.LETTERS), "batch": 4, "seq": 12}  # fmt: skip


def arrays(tensors):
    return {name: tensor.to_array(tensor.axes) for name, tensor in tensors.items()}


def by_hand(torch, parameters):
    """The same model as tensors of PyTorch and its own functions, with what it learns."""
    F = torch.nn.functional
    axes = {
        "E": "vocab chans", "U": "vocab chans", "P": "seq chans", "γ": "chans", "β": "chans", "Q": "chans heads key",
        "K": "chans heads key", "V": "chans heads val", "O": "heads val chans", "1": "chans hidden", "2": "hidden chans",
    }  # fmt: skip
    local = {}
    for name, parameter in parameters.items():
        base, _, label = name.strip("}").partition("^{")
        order = {"W": axes.get(label[-1:], ""), "b": "hidden" if label[-1:] == "1" else "chans"}.get(
            base, axes.get(base, "chans")
        )
        local[name] = torch.tensor(np.array(parameter.to_array(order)), requires_grad=True)

    def norm(x, *labels):
        name = f"^{{{','.join(labels)}}}" if labels else ""
        return F.layer_norm(x, x.shape[-1:], local[f"γ{name}"], local[f"β{name}"])

    def loss(ids, following):
        x = local["E"][ids] + local["P"]
        for layer in map(str, range(1, SMALL["L"] + 1)):
            n = norm(x, layer, "1")
            q, k, v = (torch.einsum("bsc,chk->bhsk", n, local[f"W^{{{layer},{which}}}"]) for which in "QKV")
            attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + torch.einsum("bhsv,hvc->bsc", attended, local[f"W^{{{layer},O}}"])
            h = F.relu(norm(x, layer, "2") @ local[f"W^{{{layer},1}}"] + local[f"b^{{{layer},1}}"])
            x = x + h @ local[f"W^{{{layer},2}}"] + local[f"b^{{{layer},2}}"]
        return F.cross_entropy((norm(x) @ local["U"].T).flatten(0, 1), following.flatten())

    return local, loss


@pytest.mark.sampled(3)
@pytest.mark.slow
def test_a_hundred_steps_are_those_of_pytorch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: nothing to compare with")
    torch.set_num_threads(1)  # more wait for each other longer than they work
    state = characters.start(SMALL)
    local, loss = by_hand(torch, state.parameters)
    optimizer = torch.optim.Adam(local.values(), lr=characters.RATES["α"])
    expected = []
    for step in range(100):
        data = characters.batch(step, SMALL)
        result = loss(*(torch.tensor(data[name].array - 1) for name in ("ids", "next")))
        optimizer.zero_grad()
        result.backward()
        optimizer.step()
        expected.append(result.item())
    _, losses = characters.train(state, 100, SMALL)
    assert losses == pytest.approx(expected, abs=1e-3)
    assert losses[-1] < losses[0] - 0.5


def test_no_slope_is_chosen_between_cases(monkeypatch):
    """Of a causal mask something is always left, and what is picked is summed: no tensor as large as a layer is masked."""
    plans = []
    monkeypatch.setattr("namedtensor.planning.plan.CHECKS", [plans.append])
    sizes = SMALL | {"seq": 11}  # which no other test has planned
    characters.train(characters.start(sizes), 1, sizes)
    plan = max(plans, key=lambda other: len(other.steps))
    rows = sizes["batch"] * sizes["seq"]
    assert [
        step for step in plan.steps if step.primitive == "where" and step.value.count > rows and not step.value.fixed
    ] == []
    assert not any(step.primitive == "negative" and step.value.count > rows for step in plan.steps)
    assert any(step.primitive == "scatter_add" for step in plan.steps)


def test_adam_is_kingmas_and_bas():
    """For tensors of any axes, in one call; against their algorithm in NumPy."""
    draw = np.random.default_rng(0)
    θ = {"W": draw.normal(size=(2, 3)), "b": draw.normal(size=3)}
    m, s, axes = (
        ({name: np.zeros_like(array) for name, array in θ.items()} for _ in range(2)).__iter__(),
        None,
        {"W": "a b", "b": "b"},
    )
    m, s = m
    trainer = characters.Trainer.__new__(characters.Trainer)
    named = {name: nt.tensor(array, axes[name]) for name, array in θ.items()}
    zero = {name: 0 * tensor for name, tensor in named.items()}
    state = characters.State(named, zero, zero)
    slopes = [{name: draw.normal(size=array.shape) for name, array in θ.items()} for _ in range(5)]
    trainer.names, trainer.layers = ("W", "b"), 0
    trainer.update = characters.ADAM["W^1", "W^2", "M^1", "M^2", "S^1", "S^2"]
    for t, g in enumerate(slopes, 1):
        trainer.gradient = lambda values, sizes, g=g: (
            0.0,
            {name: nt.tensor(value, axes[name]) for name, value in g.items()},
        )
        _, state = trainer(state, {})
        for name in θ:
            m[name] = 0.9 * m[name] + 0.1 * g[name]
            s[name] = 0.999 * s[name] + 0.001 * g[name] ** 2
            θ[name] = θ[name] - 1e-3 * (m[name] / (1 - 0.9**t)) / (np.sqrt(s[name] / (1 - 0.999**t)) + 1e-8)
    for name in θ:
        np.testing.assert_allclose(state.parameters[name].to_array(axes[name]), θ[name], rtol=1e-12)
    assert state.step == 5


@pytest.mark.slow
def test_it_is_resumed_to_the_last_bit(tmp_path):
    whole, losses = characters.train(characters.start(SMALL), 30, SMALL)
    half, first = characters.train(characters.start(SMALL), 13, SMALL)
    characters.save(tmp_path / "half.safetensors", half)
    result = characters.resume(tmp_path / "half.safetensors")
    assert result.step == 13 and [*result.parameters] == [*half.parameters]
    rest, second = characters.train(result, 30, SMALL)
    assert first + second == losses
    for expected, item in zip(whole[:3], rest[:3]):
        for name, tensor in expected.items():
            assert set(item[name].axes) == set(tensor.axes)
            assert item[name].to_array(tensor.axes).tobytes() == np.ascontiguousarray(tensor.array).tobytes()


def test_a_terminal_is_told_of_loss_and_rate_and_nothing_else_is(monkeypatch, capsys):
    characters.train(characters.start(SMALL), 3, SMALL)
    assert capsys.readouterr() == ("", "")
    shown = io.StringIO()
    shown.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stderr", shown)
    _, losses = characters.train(characters.start(SMALL), 3, SMALL)
    *_, last = shown.getvalue().split("\r")
    assert shown.getvalue().count("\r") == 3 and last.startswith(f"step 3 of 3: loss {losses[-1]:.3f}, ")
    assert last.endswith(" characters a second \n")


def test_the_curve_goes_through_every_loss():
    svg = characters.Curve([4.0, 3.0, 2.0, 2.5]).svg
    points = [tuple(map(float, point.split(","))) for point in svg.partition('points="')[2].partition('"')[0].split()]
    assert len(points) == 4 and [x for x, _ in points] == sorted(x for x, _ in points)
    heights = [y for _, y in points]
    assert heights[0] == min(heights) and heights[2] == max(heights)  # downward, as SVG counts
    assert heights[3] - heights[2] == pytest.approx((heights[0] - heights[2]) / 4)


def test_the_command_trains_saves_resumes_and_writes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(characters, "SIZES", SMALL)
    for name in ("start", "train", "written", "batch"):
        function = getattr(characters, name)
        defaults = tuple(
            SMALL if default is not None and isinstance(default, dict) else default for default in function.__defaults__
        )
        monkeypatch.setattr(function, "__defaults__", defaults)
    path, curve = tmp_path / "state.safetensors", tmp_path / "loss.svg"
    characters.main(["--steps", "2", "--save", str(path), "--curve", str(curve)])
    first = capsys.readouterr().out
    assert first.startswith("step 2: loss ") and len(first.partition("\n")[2]) == 201
    assert curve.read_text(encoding="utf-8").startswith("<svg")
    characters.main(["--steps", "4", "--resume", str(path)])
    assert capsys.readouterr().out.startswith("step 4: loss ")


def test_the_play_is_ascii_and_small():
    text = (Path(characters.HERE) / "as_you_like_it.txt").read_bytes()
    assert len(text) < 200_000 and text.decode("ascii").splitlines()[0].strip() == "AS YOU LIKE IT"
