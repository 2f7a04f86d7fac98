"""ResNet against the library `transformers`."""

import numpy as np
import pytest
from peers import CLOSE, changed_config, distance, loaded, named, torch, transformers

import namedtensor as nt
import transformer
from transformer import ResNet

SMALL = {"num_channels": 3, "embedding_size": 6, "hidden_sizes": [8, 12, 20], "depths": [2, 1, 3], "layer_type": "bottleneck",
         "num_labels": 5}  # fmt: skip
CASES = {
    "bottlenecks": {},
    "bottlenecks that halve at once, in the first stage too": {
        "downsample_in_bottleneck": True, "downsample_in_first_stage": True, "hidden_sizes": [8, 8], "depths": [1, 2]},
    "basic blocks": {"layer_type": "basic", "hidden_sizes": [6, 5], "depths": [2, 2], "hidden_act": "gelu"},
    "basic blocks, one channel, halving in the first stage": {
        "layer_type": "basic", "num_channels": 1, "downsample_in_first_stage": True, "hidden_sizes": [6], "depths": [3]},
}  # fmt: skip
STATES = "batch chans height width"
IMAGES = "batch color height width"


def model(kind="ForImageClassification", **changes):
    """A model with all numbers drawn, also the means and variances of its norms."""
    torch.manual_seed(0)
    theirs = getattr(transformers, f"ResNet{kind}")(transformers.ResNetConfig(**{**SMALL, **changes})).eval()
    for name, tensor in (*theirs.named_parameters(), *theirs.named_buffers()):
        if name.endswith("running_var"):
            torch.nn.init.uniform_(tensor, 0.5, 2)
        elif tensor.is_floating_point():
            torch.nn.init.normal_(tensor, 0.1, 0.3)
    return theirs


def images(theirs, *size, batch=2):
    return torch.randn(batch, theirs.config.num_channels, *size, generator=torch.Generator().manual_seed(1))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(case, id=name, marks=[] if name == "basic blocks" else [pytest.mark.slow])
        for name, case in CASES.items()
    ],
)
def test_the_numbers_are_those_of_transformers(changes, tmp_path):
    theirs = model(**changes)
    ours = loaded(theirs, tmp_path)
    assert type(ours) is ResNet
    for size in ((31, 42), (33, 64)):
        pixels = images(theirs, *size)
        given, expected = named(pixels, IMAGES), theirs.resnet(pixels)
        assert distance(ours(given), expected.last_hidden_state, STATES) < CLOSE
        assert distance(ours.evaluate("pooled", given), expected.pooler_output.flatten(1), "batch chans") < CLOSE
        assert distance(ours.evaluate("logits", given), theirs(pixels).logits, "batch class") < CLOSE


@pytest.mark.sampled(6)
@pytest.mark.slow
@pytest.mark.parametrize("changes", CASES.values(), ids=CASES)
@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_other_libraries_and_dtypes(changes, backend, dtype, tmp_path):
    pytest.importorskip(backend)
    theirs = model(**changes)
    theirs.save_pretrained(tmp_path)
    ours = transformer.load(tmp_path, backend=backend, dtype=dtype)
    theirs, pixels = theirs.to(getattr(torch, dtype)), images(theirs, 29, 34)
    given = nt.tensor(pixels.numpy(), IMAGES).to(backend)
    logits = ours.evaluate("logits", given.astype(dtype))
    expected = theirs(pixels.to(getattr(torch, dtype))).logits
    close = CLOSE if dtype == "float32" or backend == "jax" else 1e-12  # JAX has 32 bits unless told otherwise
    assert distance(logits.to("numpy"), expected, "batch class") < close


@pytest.mark.slow
def test_one_image_and_a_base_model(tmp_path):
    theirs = model("Model")
    ours = loaded(theirs, tmp_path)
    pixels = images(theirs, 20, 20, batch=1)
    given = named(pixels[0], "color height width")
    assert distance(ours(given), theirs(pixels).last_hidden_state[0], "chans height width") < CLOSE
    with pytest.raises(nt.NotationError, match="this ResNet has no logits: its file holds no parameters of it"):
        ours.evaluate("logits", given)


@pytest.mark.slow
def test_convolutions_are_products(tmp_path):
    """No instruction is repeated for each element of a window: but for views, which compute nothing and follow the order of the
    axes, the number of steps is the same for images of any size."""
    ours = loaded(model(), tmp_path)
    plans: list[str] = []
    for size in (32, 64):
        compiled = ours.formula["states"].compile()
        pixels = nt.tensor(np.ones((3, size, size), "float32"), "color height width")
        compiled(values={**ours.parameters, "pixels": pixels}, sizes=ours.sizes)
        plans.append(str(compiled.plan))
    steps = [plan.count("\n") - plan.count(" = transpose(") - plan.count(" = expand(") for plan in plans]
    assert steps[0] == steps[1]
    assert all(plan.count(" = dot(") == len(list(rows)) for plan in plans for rows in [ours_convolutions(ours)])


def ours_convolutions(ours):
    return [name for name in ours.parameters if name.startswith("W") and "class" not in name]


def test_errors_name_what_an_image_lacks(tmp_path):
    ours = loaded(model(), tmp_path)
    with pytest.raises(nt.NotationError, match="color"):
        ours(nt.tensor(np.ones((4, 32, 32), "float32"), "color height width"))
    with pytest.raises(nt.NotationError, match="pixels is missing axis color"):
        ours(nt.tensor(np.ones((3, 32, 32), "float32"), "chans height width"))


REFUSED = [
    ({"layer_type": "dense"}, "config.json has layer_type = 'dense', which the formulas of ResNet do not support"),
    ({"layer_type": "basic"}, "the weights in"),
    ({"hidden_sizes": [8, 12]}, "expected a positive integer of each for every stage"),
    ({"hidden_sizes": [8, 12, 24]}, "is stored as out[6] × chans[12] × kh[1] × kw[1]"),
    ({"depths": [2, 1, 4]}, "missing keys: encoder.stages.2.layers.3.layer.0.convolution.weight"),
    ({"embedding_size": None}, "config.json has no embedding_size"),
    ({"num_channels": 4}, "W of ResNet is stored as out[6] × color[4] × rows[7] × columns[7]"),
    ({"hidden_act": "laplace"}, "unsupported hidden_act: 'laplace'"),
    ({"downsample_in_first_stage": True, "hidden_sizes": [6, 12, 20]}, "is stored as"),
]  # fmt: skip


@pytest.mark.parametrize("changes, says", REFUSED, ids=[says[:40] for _, says in REFUSED])
def test_a_config_that_does_not_fit_is_refused(changes, says, tmp_path):
    with pytest.raises(nt.NotationError) as caught:
        transformer.load(changed_config(model(), tmp_path, **changes))
    assert says in str(caught.value)
