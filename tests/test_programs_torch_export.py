"""Modules have one plain `forward` for all sizes: PyTorch compiles, exports, records and maps it, and ONNX runs it."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings
from importlib.util import find_spec

import pytest

torch = pytest.importorskip("torch", reason="modules are PyTorch's")

from torch._dynamo import reset  # noqa: E402
from torch._dynamo.utils import counters  # noqa: E402

import namedtensor as nt  # noqa: E402
from transformer import BERT, FFN, GPT2, EncoderBlock, LayerNorm, MultiHeadAttention  # noqa: E402

SIZES = {"L": 2, "vocab": 9, "place": 40, "chans": 4, "heads": 2, "key": 2, "val": 2, "hidden": 5}
LAYERS = {
    "FFN": (FFN, {"chans": 4, "hidden": 8}), "LayerNorm": (LayerNorm, {"chans": 4}),
    "MultiHeadAttention": (MultiHeadAttention, {"chans": 4, "heads": 2, "key": 3, "val": 3}),
    "EncoderBlock": (EncoderBlock, {"chans": 4, "hidden": 8, "key": 3, "val": 4}), "GPT2": (GPT2, SIZES),
}  # fmt: skip
PAIRS = [(1, 1), (1, 7), (5, 1), (2, 3), (3, 3), (6, 17)]  # of batch and seq
ONNX = pytest.mark.skipif(
    not all(map(find_spec, ("onnx", "onnxscript", "onnxruntime"))), reason="onnx, onnxscript and onnxruntime are needed"
)


def layer_of(name: str):
    kind, sizes = LAYERS[name]
    return kind.init(seed=3, sizes=sizes, dtype="float32")


def axes_of(name: str) -> dict[str, str]:
    return {"ids": "batch seq"} if name == "GPT2" else {"X": "batch seq chans"}


def module_of(name: str):
    return layer_of(name).module(**axes_of(name))


def given(name: str, batch: int, seq: int):
    random = torch.Generator().manual_seed(batch * 100 + seq)
    if name == "GPT2":
        return torch.randint(0, 9, (batch, seq), generator=random)
    return torch.randn(batch, seq, 4, generator=random)


def close(actual, expected):
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)


@pytest.fixture(autouse=True)
def fresh():
    reset()
    yield
    reset()


# ------------------------------------------------------------------------------------------------------------- forward
@pytest.mark.parametrize("name", LAYERS)
def test_one_forward_serves_every_size(name):
    module = module_of(name)
    (parameter,) = inspect.signature(module.forward).parameters
    assert parameter in axes_of(name)
    assert module.axes == ("batch", "seq", "vocab" if name == "GPT2" else "chans")  # before a call
    text = module._planned.text
    for word in ("NamedTensor", "**", "_plan"):
        assert word not in text
    for batch, seq in PAIRS:
        x = given(name, batch, seq)
        close(module.forward(x), module.named(x))


def test_what_forward_is_not_made_for_is_computed_all_the_same():
    module = module_of("FFN")
    x = given("FFN", 2, 3)
    expected = module(x)
    close(module(nt.tensor(x, "batch seq chans")).array, expected)
    close(module(nt.tensor(x.permute(2, 0, 1), "chans batch seq")).to_array("batch seq chans"), expected)
    assert module(x.double()).dtype == torch.float64
    assert module(X=x).shape == expected.shape
    with pytest.raises(nt.NotationError, match="with axes batch, seq, chans"):
        module(x[0])
    with pytest.raises(nt.NotationError) as raised:
        module(x[..., :3])
    assert "chans" in str(raised.value)


@pytest.mark.parametrize("inputs", [{"X": "batch seq chans"}, {}], ids=["planned", "not planned"])
def test_hooks_of_a_module_run(inputs):
    module, calls = layer_of("FFN").module(**inputs), []
    module.register_forward_hook(lambda *_: calls.append(1))
    x = given("FFN", 2, 3)
    module(x if inputs else nt.tensor(x, "batch seq chans"))
    assert calls == [1]


def test_inputs_that_may_be_given_are_parameters_of_forward():
    sizes = {
        "L": 2,
        "vocab": 9,
        "chans": 4,
        "heads": 2,
        "key": 2,
        "val": 2,
        "hidden": 5,
        "place": 40,
        "type": 2,
        "out": 3,
    }
    module = BERT.init(sizes=sizes, dtype="float32").module(mask="batch seq", ids="batch seq")
    assert list(inspect.signature(module.forward).parameters) == ["ids", "mask"]
    run = module.export().module()
    for batch, seq in PAIRS:
        ids, mask = given("GPT2", batch, seq), (torch.arange(seq) < 3).float().expand(batch, seq)
        expected = module.named(ids=ids, mask=mask)
        for result in (module(ids, mask), module(mask=mask, ids=ids), run(ids, mask)):
            close(result, expected)
    with pytest.raises(nt.NotationError):
        module(ids, mask[:, :-1])


TWO_INPUTS = "f : ℝ^{a} × ℝ^{a} → ℝ^{a}\nf(X, Y) = X + W ⊙ Y\nW ∈ ℝ"
PAIRS_OF_ROWS = "f : ℝ^{a} → ℝ^{b}\nf(X) = X_{a→(b,c)} ⊙_{c} W\nW ∈ ℝ^{c}"
WRONG_SIZES = {  # of Y beside an X of 3 × 4
    "an axis of size 1": ((3, 1), "axis a of Y must have size 4, got 1"),
    "a batch of size 1": ((1, 4), "axis n of Y must have size 3, got 1"),
    "another size": ((3, 5), "axis a of Y must have size 4, got 5"),
    "an axis too few": ((4,), r"Y must have axes [n, a], got shape (4,)"),
    "an axis too many": ((1, 3, 4), r"Y must have axes [n, a], got shape (1, 3, 4)"),
}


def module_of_two_inputs():
    compiled = nt.formula(TWO_INPUTS).compile("torch")
    return compiled.module({"W": nt.tensor(torch.tensor(2.0))}, X="n a", Y="n a")


def class_of_two_inputs():
    text = nt.formula(TWO_INPUTS).to_python("torch", style="module", X="ℝ^{n × a}", Y="ℝ^{n × a}")
    module = class_in(text, "F")()
    module.load_state_dict({"W": torch.tensor(2.0)})
    return module


@pytest.mark.parametrize("make", [module_of_two_inputs, class_of_two_inputs], ids=["module", "text"])
def test_forward_refuses_sizes_that_disagree(make):
    module = make()
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    compiled = torch.compile(module, fullgraph=True, dynamic=True, backend="eager")
    for run in (module.forward, compiled):
        close(run(x, y), x + 2 * y)
        close(run(y[:2, :2], x[:2, :2]), y[:2, :2] + 2 * x[:2, :2])
    for shape, message in WRONG_SIZES.values():  # two of which PyTorch alone would broadcast
        with pytest.raises(ValueError) as raised:
            module.forward(x, torch.randn(shape))
        assert str(raised.value) == message
        with pytest.raises(Exception, match="Observed exception") as refused:
            compiled(x, torch.randn(shape))
        assert message.partition(", got")[0] in str(refused.value)
    mapped = torch.func.vmap(module.forward, in_dims=(None, 0))
    close(mapped(x, torch.stack([y, y])), torch.stack([x + 2 * y] * 2))
    with pytest.raises(ValueError, match="axis a of Y must have size 4, got 1"):
        mapped(x, torch.randn(2, 3, 1))


def test_sizes_that_have_to_agree_are_compared():
    module = module_of_two_inputs()
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    close(module(x, y), x + 2 * y)
    close(module(y[:2, :1], x[:2, :1]), y[:2, :1] + 2 * x[:2, :1])
    for wrong in (y[:, :1], y[:1]):
        with pytest.raises((RuntimeError, AssertionError)):
            module.export().module()(x, wrong)
        with pytest.raises(nt.NotationError):
            module(x, wrong)


def test_a_condition_of_the_plan_is_checked():
    module = nt.formula(PAIRS_OF_ROWS).compile("torch").module({"W": nt.tensor(torch.ones(2), "c")}, X="a")
    close(module(torch.arange(6.0)), torch.tensor([1.0, 5.0, 9.0]))
    close(module.export().module()(torch.arange(8.0)), torch.tensor([1.0, 5.0, 9.0, 13.0]))
    with pytest.raises(nt.NotationError):
        module(torch.arange(5.0))
    text = nt.formula(PAIRS_OF_ROWS).to_python("torch", style="module", X="ℝ^{a}", sizes={"c": 2})
    for forward in (module.forward, class_in(text, "F")()):
        with pytest.raises(ValueError) as raised:
            forward(torch.arange(5.0))
        assert str(raised.value) == "axis a of X must have a size that is a multiple of 2"


def test_a_lower_bound_of_a_size_is_checked():
    module = nt.formula("f : ℝ^{a} → ℝ\nf(X) = X_{a(3)} W\nW ∈ ℝ").compile("torch")
    module = module.module({"W": nt.tensor(torch.tensor(2.0))}, X="a")
    close(module.forward(torch.arange(5.0)), torch.tensor(4.0))
    with pytest.raises(ValueError, match=r"sizes must satisfy"):
        module.forward(torch.arange(2.0))


def test_a_module_converted_has_a_forward_of_its_new_dtype():
    module = module_of("EncoderBlock").to(torch.bfloat16)
    x = given("EncoderBlock", 2, 5).bfloat16()
    result = module(x)
    assert result.dtype == torch.bfloat16 and module._planned is not None
    torch.testing.assert_close(result, module.named(x), rtol=0.1, atol=0.1)


def test_names_of_any_kind_are_attributes():
    text = "f : ℝ^{a} → ℝ^{a}\nf(X) = X ⊙ half ⊙ W^{1,Q} + b' + ϵ\nhalf, W^{1,Q}, b' ∈ ℝ^{a}\nϵ ∈ ℝ^{a}"
    drawn = nt.program(text).init(seed=1, sizes={"a": 3}, dtype="float32")
    module = nt.formula(text).compile("torch").module(drawn, X="n a")
    x = torch.randn(2, 3)
    close(module.forward(x), module.named(x))


# ------------------------------------------------------------------------------------------------- what PyTorch makes of it
@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", LAYERS)
def test_compiled_it_is_one_graph_for_twenty_lengths(name):
    module = module_of(name)
    compiled = torch.compile(module, fullgraph=True, dynamic=True, backend="aot_eager")
    counters.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seq in range(2, 22):
            x = given(name, 5 + seq % 3, seq)
            close(compiled(x), module(x))
    assert counters["stats"]["unique_graphs"] == 1


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", LAYERS)
def test_exported_every_open_axis_is_dynamic(name):
    module = module_of(name)
    program = module.export()
    assert len(program.range_constraints) == 2
    run = program.module()
    for batch, seq in PAIRS:
        x = given(name, batch, seq)
        close(run(x), module(x))


@pytest.mark.parametrize("name", LAYERS)
def test_it_is_mapped_and_recorded(name):
    module, x = module_of(name), given(name, 2, 5)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="There is a performance drop|`torch.jit.trace")
        close(torch.func.vmap(module)(torch.stack([x, x])), torch.stack([module(x)] * 2))
        recorded = torch.jit.trace(module, (x,))
    for batch, seq in PAIRS:
        other = given(name, batch, seq)
        close(recorded(other), module(other))


def test_what_is_wrong_with_an_export_is_one_sentence():
    with pytest.raises(nt.NotationError, match=r"axes of its inputs are missing") as raised:
        layer_of("FFN").module().export()
    assert '.module(X="batch seq chans")' in raised.value.hint
    text = "h^0 = w\nh^t = h^{t-1}/2 + X for t = 1, …, 5\nf(X) = h^{|a|}"
    compiled = nt.formula(text).compile("torch")
    parameters = {"w": nt.tensor(torch.tensor(0.5))}
    module = compiled.module(parameters, X="a")
    with pytest.raises(nt.NotationError) as raised:
        module.export()
    assert "\n" not in raised.value.message and "size of a as a number" in raised.value.message
    assert raised.value.hint == 'write .module(X="a[3]")' and "size of a as a number" in repr(module)
    x = torch.tensor([0.1, 0.2, 0.3])
    fixed = compiled.module(parameters, X="a[3]")
    close(fixed.export().module()(x), module(X=x))


# ---------------------------------------------------------------------------------------------------------------- ONNX
@pytest.mark.sampled(6)
@ONNX
@pytest.mark.parametrize("name", LAYERS)
def test_onnx_runs_it_under_our_names(name, tmp_path):
    import onnx
    import onnxruntime

    layer, path = layer_of(name), tmp_path / "layer.onnx"
    layer.to_onnx(path, **axes_of(name))
    graph = onnx.load(path).graph
    shapes = {
        value_info_proto.name: [
            axis.dim_param or axis.dim_value for axis in value_info_proto.type.tensor_type.shape.dim
        ]
        for value_info_proto in (*graph.input, *graph.output)
    }
    (items,) = axes_of(name).items()
    width = 9 if name == "GPT2" else 4
    assert shapes == {
        items[0]: ["batch", "seq", *([] if name == "GPT2" else [4])], layer.output: ["batch", "seq", width],
    }  # fmt: skip
    session, module = onnxruntime.InferenceSession(path), module_of(name)
    for batch, seq in PAIRS:
        x = given(name, batch, seq)
        close(torch.tensor(session.run(None, {items[0]: x.numpy()})[0]), module(x).detach())


ATTENTION = "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V"
ATTENTION_INPUTS = {"Q": "batch query key[4]", "K": "batch seq key[4]", "V": "batch seq val"}
ATTENTION_SIZES = [(1, 1, 1, 1), (2, 1, 5, 3), (1, 6, 1, 2), (3, 4, 4, 4), (2, 9, 17, 1)]  # batch query seq val


def attention_inputs(batch: int, query: int, seq: int, val: int):
    shapes = ((batch, query, 4), (batch, seq, 4), (batch, seq, val))
    return tuple(torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))) for shape in shapes)


def test_attention_of_three_inputs_is_one_graph_for_twenty_lengths():
    module = nt.formula(ATTENTION).compile("torch").module({}, **ATTENTION_INPUTS)
    compiled = torch.compile(module, fullgraph=True, dynamic=True, backend="aot_eager")
    counters.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seq in range(6, 26):
            x = attention_inputs(11, 3 + seq % 5 * 2, seq, 8 + seq % 2)
            expected = torch.nn.functional.scaled_dot_product_attention(*x)
            close(compiled(*x), expected)
            close(module(*x), expected)
    assert counters["stats"]["unique_graphs"] == 1


@pytest.mark.sampled(6)
@ONNX
def test_onnx_runtime_runs_attention_of_three_inputs(tmp_path):
    import onnxruntime

    module, path = nt.formula(ATTENTION).compile("torch").module({}, **ATTENTION_INPUTS), tmp_path / "attention.onnx"
    module.to_onnx(path)
    session = onnxruntime.InferenceSession(path)
    shapes = [["batch", "query", 4], ["batch", "seq", 4], ["batch", "seq", "val"]]
    assert [input_.shape for input_ in session.get_inputs()] == shapes
    assert [output.shape for output in session.get_outputs()] == [["batch", "query", "val"]]
    for sizes in ATTENTION_SIZES:
        q, k, v = attention_inputs(*sizes)
        (result,) = session.run(None, {"Q": q.numpy(), "K": k.numpy(), "V": v.numpy()})
        close(torch.tensor(result), torch.nn.functional.scaled_dot_product_attention(q, k, v))
    for wrong in (v[:1], v[:, :1]):
        with pytest.raises(Exception, match=r"V must have sizes \[batch, seq, val\]"):
            session.run(None, {"Q": q.numpy(), "K": k.numpy(), "V": wrong.numpy()})


@pytest.mark.sampled(6)
@ONNX
def test_pytorchs_own_exporter_takes_the_names_of_a_module(tmp_path):
    import onnxruntime

    module, path = module_of("EncoderBlock"), tmp_path / "block.onnx"
    torch.onnx.export(
        module, module.example_inputs(), path, dynamo=True, verbose=False, input_names=module.input_names,
        output_names=module.output_names, dynamic_shapes=module.dynamic_shapes,
    )  # fmt: skip
    session = onnxruntime.InferenceSession(path)
    assert [(input_.name, input_.shape) for input_ in session.get_inputs()] == [("X", ["batch", "seq", 4])]
    assert [output.name for output in session.get_outputs()] == ["Y"]
    for batch, seq in PAIRS:
        x = given("EncoderBlock", batch, seq)
        close(torch.tensor(session.run(None, {"X": x.numpy()})[0]), module(x).detach())


@ONNX
def test_onnx_runtime_refuses_sizes_that_the_parameters_fix(tmp_path):
    import onnxruntime

    layer_of("FFN").to_onnx(tmp_path / "layer.onnx", X="batch seq chans")
    session = onnxruntime.InferenceSession(tmp_path / "layer.onnx")
    for shape in ((2, 3, 1), (2, 3, 5), (3, 4)):
        with pytest.raises(Exception, match="(?i)invalid (rank|dimensions) for input"):
            session.run(None, {"X": torch.randn(shape).numpy()})


@ONNX
def test_onnx_runtime_refuses_sizes_that_disagree(tmp_path):
    import onnxruntime

    module, path = module_of_two_inputs(), tmp_path / "two.onnx"
    module.to_onnx(path)
    session = onnxruntime.InferenceSession(path)
    assert [input_.shape for input_ in session.get_inputs()] == [["n", "a"]] * 2
    for rows in (1, 3):
        x, y = torch.randn(rows, 4), torch.randn(rows, 4)
        close(torch.tensor(session.run(None, {"X": x.numpy(), "Y": y.numpy()})[0]), module(x, y).detach())
    for shape in ((1, 4), (3, 1), (6, 4), (3,)):  # two of which ONNX Runtime alone would broadcast
        with pytest.raises(Exception, match=r"Y must have sizes \[n, a\]|(?i:invalid rank)"):
            session.run(None, {"X": torch.randn(3, 4).numpy(), "Y": torch.randn(shape).numpy()})


def test_without_its_packages_onnx_says_what_to_install(tmp_path, monkeypatch):
    from namedtensor.programs import torch_export

    monkeypatch.setattr(torch_export, "find_spec", lambda name: None)
    with pytest.raises(nt.NotationError, match="onnx is not installed") as raised:
        module_of("FFN").to_onnx(tmp_path / "layer.onnx")
    assert raised.value.code == 408 and "pip install" in raised.value.hint


# ------------------------------------------------------------------------------------------------------------- as text
def class_in(text: str, name: str):
    space: dict = {}
    exec(text, space)
    return space[name]


def test_a_module_as_text_is_a_class_that_runs_by_itself():
    layer = layer_of("EncoderBlock")
    text = layer.formula["Y"].to_python(
        "torch", style="module", X="ℝ^{batch × seq × chans[4]}", sizes={"hidden": 8, "key": 3}
    )
    assert "import namedtensor" not in text and "check(" not in text and "getattr" not in text
    assert "self.W_1 = torch.nn.Parameter(torch.randn(4, 8) / 4**0.5)" in text and "def forward(self, X):" in text
    assert "self.b_1 = torch.nn.Parameter(torch.zeros(8))" in text
    module, ours = class_in(text, "Y")(), layer.module(X="batch seq chans")
    module.load_state_dict(ours.state_dict())
    for batch, seq in PAIRS:
        x = given("EncoderBlock", batch, seq)
        close(module(x), ours(x))


def test_a_class_gives_the_axes_in_the_order_of_a_module():
    text, inputs = "X_{a→c} ⊙ W", {"X": "n a", "W": "b"}
    module = nt.formula(text).compile("torch").module({}, **inputs)
    shapes = {name: f"ℝ^{{{' × '.join(axes.split())}}}" for name, axes in inputs.items()}
    result = class_in(nt.formula(text).to_python("torch", style="module", **shapes), "Formula")()
    x, w = torch.randn(4, 3), torch.randn(2)
    assert module.axes == ("n", "b", "c")
    close(result(x, w), module(x, w))


def test_a_class_has_parameters_of_any_name():
    text = "f : ℝ^{a} → ℝ^{b}\nf(X) = X ⊙_{a} W^{1,Q} + half ⊙ ∑_{i=1}^{|n|} i\nW^{1,Q} ∈ ℝ^{a × b}\nhalf ∈ ℝ^{b}"
    name = nt.formula(text.replace("|n|", "3")).to_python(
        "torch", style="module", X="ℝ^{n × a[2048]}", sizes={"b": 1024}
    )
    assert "class F(torch.nn.Module)" in name
    module = class_in(name, "F")()
    assert list(module.state_dict()) == ["W^{1,Q}", "half"] and module.half().training


CONSTANTS = "f : ℝ^{a} → ℝ^{a}\nf(X) = X ⊙ W + [1, 3, 7]_{a} + { 1 if X > 2; 0 otherwise }\nW ∈ ℝ^{a}"


def test_constants_are_buffers_that_no_checkpoint_has():
    module = nt.formula(CONSTANTS).compile("torch").module({"W": nt.tensor(torch.ones(3), "a")}, X="n a")
    result = class_in(nt.formula(CONSTANTS).to_python("torch", style="module", X="ℝ^{n × a[3]}"), "F")()
    result.load_state_dict(module.state_dict())
    x = torch.tensor([[1.0, 2.0, 3.0]])
    for item in (module, result, pickle.loads(pickle.dumps(module)), copy.deepcopy(module)):
        close(item(x), torch.tensor([[2.0, 5.0, 11.0]]))
        assert list(item.state_dict()) == ["W"] and len(list(item.buffers())) > 0
        assert all(buffer.is_meta for buffer in item.to("meta").buffers())


WRONG_STYLES = {
    "another library": (
        lambda f: f.to_python("numpy", style="module", X="ℝ^{n × a[2]}"),
        "modules are supported for torch only",
    ),
    "no such style": (lambda f: f.to_python("torch", style="class", X="ℝ^{n × a[2]}"), "unknown style 'class'"),
}


@pytest.mark.parametrize(("run", "message"), WRONG_STYLES.values(), ids=WRONG_STYLES)
def test_a_style_that_cannot_be_is_told(run, message):
    with pytest.raises(nt.NotationError, match=message) as raised:
        run(nt.formula("f : ℝ^{a} → ℝ^{a}\nf(X) = X ⊙ w\nw ∈ ℝ^{a}"))
    assert raised.value.code == 408


# ---------------------------------------------------------------------------------------------------------- derivatives
def test_a_number_goes_backward():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    loss = nt.evaluate("∑_{a} x^2", x=nt.tensor(x, "a"))
    assert loss.backward() is None
    close(x.grad, torch.tensor([2.0, 4.0]))
    with pytest.raises(nt.NotationError, match="backward needs a tensor without axes"):
        nt.tensor(x, "a").backward()
    with pytest.raises(nt.NotationError, match="backward needs a PyTorch tensor"):
        nt.tensor(1.0).backward()
