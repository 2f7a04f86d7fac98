"""Large products on PyTorch go by oneDNN: which do, what they give, their derivatives, and who else sees plain PyTorch."""

import numpy as np
import pytest

import namedtensor as nt

torch = pytest.importorskip("torch")
HAS = torch.backends.mkldnn.is_available() and torch.backends.cpu.get_cpu_capability().startswith("AVX")
pytestmark = pytest.mark.skipif(not HAS, reason="PyTorch has no oneDNN, or not for this processor")

AFFINE, PRODUCT = "X ⊙_{in} W + b", "X ⊙_{in} W"
AXES = {"X": "batch seq in", "W": "in out", "b": "out"}
SIZES = {"batch": 2, "seq": 64, "in": 128, "out": 128}
DERIVATIVES = ("X", "W", "b")


def arrays(**other):
    """Small whole numbers, so that every order of summing gives the same."""
    drawn, sizes = np.random.default_rng(0), SIZES | other
    return {
        name: torch.tensor(drawn.integers(-4, 5, [sizes[axis] for axis in axes.split()]), dtype=torch.float32)
        for name, axes in AXES.items()
    }


def by_formula(X, W, b, formula=AFFINE):
    tensors = {"X": X, "W": W} if formula == PRODUCT else {"X": X, "W": W, "b": b}
    tensors = {name: nt.tensor(tensor, AXES[name]) for name, tensor in tensors.items()}
    return nt.formula(formula)(values=tensors).to_array("batch seq out")


def by_hand(X, W, b):
    return X @ W + b


@pytest.fixture
def calls(monkeypatch):
    """How often oneDNN was called."""
    result, product = [], torch.ops.mkldnn._linear_pointwise

    def counted(*given):
        result.append(1)
        return product(*given)

    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", counted)
    return result


# What differs from a large product of single precision, the formula, and how often oneDNN is called.
USES = {
    "a linear map": (lambda a: a, AFFINE, 1),
    "a product": (lambda a: a, PRODUCT, 1),
    "few rows": (lambda a: a | {"X": a["X"][:1, :32]}, AFFINE, 0),
    "one row by a large matrix": (
        lambda a: {"X": a["X"][:1, :1].repeat(1, 1, 6), "W": a["W"].repeat(6, 6), "b": a["b"].repeat(6)},
        AFFINE,
        1,
    ),
    "no row by a large matrix": (
        lambda a: {"X": torch.ones(0, 3, 1024), "W": torch.ones(1024, 512), "b": torch.ones(512)},
        AFFINE,
        0,
    ),
    "double precision": (lambda a: {name: value.double() for name, value in a.items()}, AFFINE, 0),
    "two precisions": (lambda a: a | {"W": a["W"].double()}, AFFINE, 0),
    "the weights turned": (lambda a: a | {"W": a["W"].T.contiguous().T}, AFFINE, 1),
    "every other weight": (lambda a: a | {"W": a["W"].repeat_interleave(2, 1)[:, ::2]}, AFFINE, 0),
    "one weight for all": (lambda a: a | {"W": a["W"][:1, :1].expand(128, 128)}, AFFINE, 0),
    "one bias for all": (lambda a: a | {"b": a["b"][:1].expand(128)}, AFFINE, 1),
    "every other bias": (lambda a: a | {"b": a["b"].repeat_interleave(2)[::2]}, AFFINE, 1),
    "batch and seq turned": (lambda a: a | {"X": a["X"].transpose(0, 1).contiguous().transpose(0, 1)}, AFFINE, 1),
    "a module's parameters": (lambda a: a | {"W": torch.nn.Parameter(a["W"], requires_grad=False)}, AFFINE, 1),
}


@pytest.mark.parametrize("name", USES)
def test_a_large_product_is_one_of_onednn(name, calls):
    change, formula, many = USES[name]
    inputs = change(arrays())
    result = by_formula(**inputs, formula=formula)
    expected = inputs["X"].double() @ inputs["W"].double() + (inputs["b"].double() if formula == AFFINE else 0)
    assert result.dtype == (
        torch.float64 if torch.float64 in {input_.dtype for input_ in inputs.values()} else torch.float32
    )
    assert torch.equal(result.double(), expected)
    assert len(calls) == many


@pytest.mark.parametrize("number", [torch.nan, torch.inf])
def test_no_exceptional_number_is_lost(number):
    inputs = arrays()
    inputs["X"][1, 2, 3] = number
    assert torch.equal(by_formula(**inputs).nan_to_num(7, 8, 9), by_hand(**inputs).nan_to_num(7, 8, 9))


def test_the_text_runs_by_itself(tmp_path):
    inputs = arrays()
    text = nt.formula(AFFINE).to_python(
        "torch", {name: nt.tensor(input_, AXES[name]) for name, input_ in inputs.items()}
    )
    space = {}
    exec(text, space)
    assert "linear(X" in text and torch.equal(space["function"](*inputs.values()), by_hand(**inputs))


@pytest.mark.parametrize("name", ["linear", "followed_linear", "plain", "torch"])
def test_an_input_may_be_called_as_its_functions_are(name):
    inputs = arrays()
    formula = nt.formula(AFFINE.replace("X", name))
    values = {other: nt.tensor(input_, AXES[other]) for other, input_ in inputs.items()}
    values[name] = values.pop("X")
    assert torch.equal(formula(values=values).to_array("batch seq out"), by_hand(**inputs))


# -------------------------------------------------------------------------------------------------------- derivatives
@pytest.mark.parametrize("sizes", [{}, {"in": 64, "out": 256}, {"in": 256, "out": 64}], ids=["equal", "wide", "narrow"])
@pytest.mark.parametrize("by", [DERIVATIVES, ("X",), ("W",), ("b",)], ids="".join)
def test_gradients_are_those_of_pytorch(by, sizes):
    inputs = arrays(**sizes)
    for name in by:
        inputs[name].requires_grad_()
    result, expected = by_formula(**inputs), by_hand(**inputs)
    weights = torch.arange(result.numel()).reshape(result.shape) % 5 - 2.0
    for one, other in zip(
        *(torch.autograd.grad(y, [inputs[name] for name in by], weights) for y in (result, expected))
    ):
        assert torch.equal(one, other)
    assert "followed_linear" in type(result.grad_fn).__name__


def test_backward_goes_by_onednn_too(calls):
    requires_grads = {name: array.requires_grad_() for name, array in arrays().items()}
    by_formula(**requires_grads).backward(torch.ones(2, 64, 128))
    assert len(calls) == 3 and all(
        requires_grads[name].grad.stride() == requires_grads[name].stride() for name in DERIVATIVES
    )


def test_derivatives_have_derivatives():
    requires_grads = {name: array.div(8).requires_grad_() for name, array in arrays().items()}

    def second(function):
        first = torch.autograd.grad(
            function(**requires_grads).square().sum(), [*requires_grads.values()], create_graph=True
        )
        return torch.autograd.grad(sum(item.square().sum() for item in first), [*requires_grads.values()])

    for one, other in zip(second(by_formula), second(by_hand)):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-3)


def test_gradients_of_several_results_are_taken_at_once():
    requires_grads = {name: array.requires_grad_() for name, array in arrays().items()}

    def rows(function):
        y = function(**requires_grads)
        many = torch.stack([torch.ones_like(y), torch.arange(128.0).expand_as(y)])
        return torch.autograd.grad(y, [*requires_grads.values()], many, is_grads_batched=True)

    for one, other in zip(rows(by_formula), rows(by_hand)):
        assert torch.equal(one, other)


def test_without_gradients_nothing_is_kept_for_them():
    requires_grads = {name: array.requires_grad_() for name, array in arrays().items()}
    with torch.no_grad():
        assert by_formula(**requires_grads).grad_fn is None
    with torch.inference_mode():
        assert torch.equal(by_formula(**arrays()), by_hand(**arrays()))


# ------------------------------------------------------------------------------------ what follows or transforms it
def vmapped(function, X, W, b):
    return torch.func.vmap(lambda w: function(X, w, b))(torch.stack([W, 2 * W]))


def differentiated(function, X, W, b):
    return torch.func.grad(lambda w: function(X, w, b).square().sum())(W)


def along(function, X, W, b):
    return torch.func.jvp(lambda w: function(X, w, b), (W,), (torch.ones_like(W),))[1]


def dual(function, X, W, b):
    with torch.autograd.forward_ad.dual_level():
        result = torch.autograd.forward_ad.make_dual(X, torch.ones_like(X))
        return torch.autograd.forward_ad.unpack_dual(function(result, W, b)).tangent


def cast(function, X, W, b):
    with torch.autocast("cpu", torch.bfloat16):
        return function(X, W, b).float()


def compiled(function, X, W, b):
    return torch.compile(function, backend="eager", fullgraph=True)(X, W, b)


def exported(function, X, W, b):
    class Module(torch.nn.Module):
        def forward(self, *given):
            return function(*given)

    program = torch.export.export(Module(), (X, W, b), strict=False)
    assert not any("mkldnn" in str(node.target) for node in program.graph.nodes)
    return program.module()(X, W, b)


def traced(function, X, W, b):
    result = torch.jit.trace(lambda *given: function(*given), (X, W, b), check_trace=False)
    assert "mkldnn" not in str(result.graph)
    return result(X, W, b)


def switched_off(function, X, W, b):
    with torch.backends.mkldnn.flags(enabled=False):
        return function(X, W, b)


def shapes_alone(function, X, W, b):
    return torch.zeros(function(*(item.to("meta") for item in (X, W, b))).shape)


def counted(function, X, W, b):
    flops = pytest.importorskip("torch.utils.flop_counter")
    with flops.FlopCounterMode(display=False) as counter:
        function(X, W, b)
    return torch.tensor(counter.get_total_flops())


WATCHED = (
    vmapped, differentiated, along, dual, cast, compiled, exported, traced, switched_off, shapes_alone, counted,
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*torch.jit.trace.*:DeprecationWarning", "ignore::torch.jit.TracerWarning")
@pytest.mark.parametrize("way", WATCHED, ids=lambda way: way.__name__)
def test_who_follows_a_product_sees_one_of_pytorch(way, calls):
    function = text_function()
    result = way(function, *arrays().values())
    assert torch.equal(result, way(lambda X, W, b: torch.nn.functional.linear(X, W.mT, b), *arrays().values()))
    assert not calls


def text_function():
    """The function of arrays that the text gives."""
    space = {}
    values = {name: nt.tensor(array, AXES[name]) for name, array in arrays().items()}
    exec(nt.formula(AFFINE).to_python("torch", values), space)
    return space["function"]
