"""GPT-2 as formulas against the library `transformers`."""

import json

import numpy as np
import pytest
from peers import CLOSE, distance, drawn, loaded, named, numbers, torch, transformers

import namedtensor as nt
import transformer
from transformer import GPT2

SMALL = {"vocab_size": 23, "n_embd": 12, "n_layer": 2, "n_head": 3, "n_positions": 17, "eos_token_id": None,
         "bos_token_id": None}  # fmt: skip
CONFIGS = {
    "small": {},
    "one head": {"n_head": 1, "n_embd": 5},
    "heads of one": {"n_head": 6, "n_embd": 6, "n_inner": 31},
    "five layers": {"n_layer": 5},
    "another ε": {"layer_norm_epsilon": 0.3},
    "another activation": {"activation_function": "relu"},
}
LOGITS = "batch seq vocab"


def model(**changes):
    return drawn(transformers.GPT2LMHeadModel, transformers.GPT2Config(**{**SMALL, **changes}))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    theirs = model()
    return theirs, loaded(theirs, tmp_path_factory.mktemp("gpt2"))


@pytest.mark.parametrize("changes", CONFIGS.values(), ids=CONFIGS)
def test_the_logits_are_those_of_transformers(changes, tmp_path):
    theirs = model(**changes)
    ours = loaded(theirs, tmp_path)
    generator = np.random.default_rng(0)
    ids, positions = numbers(generator, 3, 7, below=23), numbers(generator, 3, 7, below=17)
    assert distance(ours(named(ids, "batch seq")), theirs(ids).logits, LOGITS) < CLOSE
    tensors = {"positions": named(positions, "batch seq")}
    assert (
        distance(ours(named(ids, "batch seq"), **tensors), theirs(ids, position_ids=positions).logits, LOGITS) < CLOSE
    )


@pytest.mark.parametrize("side", ["left", "right", "hole"])
def test_padding(small, side):
    theirs, ours = small
    ids = numbers(np.random.default_rng(1), 3, 6, below=23)
    mask = torch.ones(3, 6, dtype=torch.int64)
    mask[0, {"left": slice(0, 4), "right": slice(3, None), "hole": slice(2, 4)}[side]] = 0
    expected = theirs(ids, attention_mask=mask).logits
    array = ours(named(ids, "batch seq"), named(mask, "batch seq")).to_array(LOGITS)
    real = mask.bool().numpy()
    expected = expected.detach().numpy()[real]
    assert np.abs(array[real] - expected).max() / np.abs(expected).max() < CLOSE


def test_each_part_of_an_array_is_a_dense_parameter(small):
    _, ours = small
    for kind in "QKV":
        assert ours.parameters[f"W^{{2,{kind}}}"].array.flags.c_contiguous
        assert ours.parameters[f"b^{{1,{kind}}}"].array.flags.c_contiguous


def test_every_name_of_the_formulas_is_at_hand(small):
    theirs, ours = small
    ids = numbers(np.random.default_rng(2), 2, 5, below=23)
    expected = theirs(ids, output_hidden_states=True, output_attentions=True)
    for layer in (0, 1):
        result = ours.evaluate(f"X^{layer}", named(ids, "batch seq"))
        assert distance(result, expected.hidden_states[layer], "batch seq chans") < CLOSE
    assert (
        distance(ours.evaluate("states", named(ids, "batch seq")), expected.hidden_states[-1], "batch seq chans")
        < CLOSE
    )
    for layer in (1, 2):
        result = ours.evaluate(f"A^{layer}", named(ids, "batch seq"))
        assert distance(result, expected.attentions[layer - 1], "batch heads seq memory") < CLOSE


def test_first_values_are_the_published_ones():
    sizes = {"L": 8, "chans": 64, "heads": 4, "key": 16, "val": 16, "hidden": 256, "vocab": 300, "place": 50}
    parameters = GPT2.init(0, sizes).parameters
    assert parameters["W^{1,Q}"].array.std() == pytest.approx(0.02, rel=0.05)
    assert parameters["P"].array.std() == pytest.approx(0.01, rel=0.05)
    assert parameters["W^{8,O}"].array.std() == pytest.approx(0.02 / 4, rel=0.05)
    assert not parameters["b^{1,1}"].array.any() and (parameters["γ"].array == 1).all()


def test_gradients_are_those_of_transformers(small, tmp_path):
    theirs, _ = small
    theirs.save_pretrained(tmp_path)
    ours = transformer.load(tmp_path, backend="torch")
    ids = numbers(np.random.default_rng(3), 2, 5, below=23)
    theirs(ids).logits.logsumexp(-1).sum().backward()
    for name in ("E", "W^{1,Q}", "β^{2,1}"):
        ours.parameters[name].array.requires_grad_()
    nt.logsumexp(ours(nt.tensor(ids, "batch seq")), axis="vocab").array.sum().backward()
    expected = theirs.transformer.h[1].ln_1.bias.grad
    assert torch.allclose(ours.parameters["β^{2,1}"].array.grad, expected, rtol=1e-4, atol=1e-5)
    assert torch.allclose(ours.parameters["E"].array.grad, theirs.transformer.wte.weight.grad, rtol=1e-4, atol=1e-4)


REFUSED = [
    ({"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx = True"),
    ({"activation_function": "wild"}, "unsupported activation_function: 'wild'"),
    ({"layer_norm_epsilon": None}, "layer_norm_epsilon"),
    ({"n_embd": 15}, "is stored as"),
]


@pytest.mark.parametrize("changes, says", REFUSED)
def test_a_config_that_does_not_fit_is_refused(changes, says, small, tmp_path):
    small[0].save_pretrained(tmp_path)
    about = json.loads((tmp_path / "config.json").read_text()) | changes
    (tmp_path / "config.json").write_text(json.dumps(about))
    with pytest.raises(nt.NotationError) as caught:
        transformer.load(tmp_path)
    assert says in str(caught.value)
