"""Llama as formulas against the library `transformers`."""

import json

import numpy as np
import pytest
from peers import CLOSE, distance, drawn, loaded, named, numbers, torch, transformers, without_memory

import namedtensor as nt
import transformer

SMALL = {"vocab_size": 23, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 6, "intermediate_size": 7,
         "num_key_value_heads": 2, "head_dim": 4, "max_position_embeddings": 200, "eos_token_id": None,
         "bos_token_id": None}  # fmt: skip
LLAMA3 = {"rope_type": "llama3", "rope_theta": 100.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64}  # fmt: skip
LINEAR = {"rope_type": "linear", "rope_theta": 700.0, "factor": 2.5}
CONFIGS = {
    "groups": {},
    "as many keys as queries": {"num_key_value_heads": 6},
    "one key for all queries": {"num_key_value_heads": 1, "hidden_size": 18, "head_dim": None, "num_attention_heads": 3,
                                "num_hidden_layers": 1},
    "tied": {"tie_word_embeddings": True},
    "keys longer than chans": {"head_dim": 16, "rms_norm_eps": 0.2},
    "another activation": {"hidden_act": "gelu", "num_hidden_layers": 3},
    "another base": {"rope_parameters": {"rope_type": "default", "rope_theta": 50.0}},
    "linear": {"rope_parameters": LINEAR},
    "llama3": {"rope_parameters": LLAMA3, "head_dim": 16},
}  # fmt: skip
LOGITS = "batch seq vocab"


def model(**changes):
    return drawn(transformers.LlamaForCausalLM, transformers.LlamaConfig(**{**SMALL, **changes}))


def saved_folder(theirs, folder, **changes):
    """The folder of a model, with some of its config.json changed, and what is None taken out."""
    theirs.save_pretrained(folder)
    about = json.loads((folder / "config.json").read_text()) | changes
    (folder / "config.json").write_text(json.dumps({key: value for key, value in about.items() if value is not None}))
    return folder


def padded(side):
    mask = torch.ones(3, 7, dtype=torch.int64)
    mask[0, :4] = 0
    mask[2, :1] = 0
    return mask if side == "left" else mask.flip(1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("changes", CONFIGS.values(), ids=CONFIGS)
def test_the_logits_are_those_of_transformers(changes, tmp_path):
    theirs = model(**changes)
    ours = loaded(theirs, tmp_path)
    generator = np.random.default_rng(0)
    ids, positions = numbers(generator, 3, 7, below=23), numbers(generator, 3, 7, below=150)
    tensor = named(ids, "batch seq")
    assert distance(ours(tensor), theirs(ids).logits, LOGITS) < CLOSE
    expected = theirs(ids, position_ids=positions).logits
    assert distance(ours(tensor, positions=named(positions, "batch seq")), expected, LOGITS) < CLOSE
    for mask in (padded("left"), padded("right")):
        real = mask.bool().numpy()
        expected = theirs(ids, attention_mask=mask).logits.detach().numpy()[real]
        result = ours(tensor, named(mask, "batch seq")).to_array(LOGITS)[real]
        assert np.abs(result - expected).max() / np.abs(expected).max() < CLOSE


@pytest.mark.sampled(3)
@pytest.mark.parametrize("changes", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("side", [None, "left"])
def test_generation_is_that_of_transformers(changes, side, tmp_path):
    theirs = model(**changes)
    torch.nn.init.normal_(theirs.get_input_embeddings().weight)  # so that what is likely changes from token to token
    torch.nn.init.normal_(theirs.lm_head.weight)
    torch.nn.init.normal_(theirs.model.norm.weight)
    ours = loaded(theirs, tmp_path)
    ids = numbers(np.random.default_rng(1), 3, 7, below=23)
    mask = None if side is None else padded(side)
    expected = theirs.generate(
        ids, attention_mask=torch.ones_like(ids) if mask is None else mask, max_new_tokens=12, do_sample=False,
        pad_token_id=0,
    )  # fmt: skip
    result = ours.generate(named(ids, "batch seq"), 12, mask=None if mask is None else named(mask, "batch seq"))
    result = result.to_array("batch seq").tolist()
    assert result == expected[:, 7:].tolist() and len(expected[:, 7:].unique()) > 2
    assert result == without_memory(ours, ids, 12, mask)


def test_the_frequencies_of_llama3_lie_in_all_three_bands(tmp_path):
    theirs = model(rope_parameters=LLAMA3, head_dim=16)
    ours = loaded(theirs, tmp_path)
    array = ours.evaluate("ω", nt.tensor([1, 2], "seq")).array
    expected = theirs.model.rotary_emb.inv_freq.numpy()
    assert np.allclose(array, expected, rtol=1e-6)
    ratio = array * 100.0 ** (np.arange(8) / 8)
    assert ratio[0] == pytest.approx(1) and ratio[-1] == pytest.approx(1 / 8) and any((ratio > 0.13) & (ratio < 0.99))


@pytest.mark.parametrize("scaling", [None, {"type": "linear", "factor": 2.5}, {**LLAMA3, "rope_theta": None}])
def test_the_config_of_earlier_versions(scaling, tmp_path):
    now = {"rope_type": (scaling or {}).get("type", "default"), **(scaling or {}), "rope_theta": 300.0}
    theirs = model(rope_parameters=now)
    scaling = scaling and {key: value for key, value in scaling.items() if value is not None}
    saved_folder(theirs, tmp_path, rope_parameters=None, rope_theta=300.0, rope_scaling=scaling, num_key_value_heads=2)
    ids = numbers(np.random.default_rng(2), 2, 5, below=23)
    assert distance(transformer.load(tmp_path)(named(ids, "batch seq")), theirs(ids).logits, LOGITS) < CLOSE


def test_the_formulas_say_the_scaling_and_the_tie(tmp_path):
    ours = loaded(model(rope_parameters=LINEAR, tie_word_embeddings=True), tmp_path)
    lines = str(ours.formula).splitlines()
    assert {"U = E", "θ = 700.0", "ω_{pair(k)} = 1 / (2.5 ⊙ θ^{(k - 1) / |pair|})"} <= set(lines)
    assert "U" not in ours.parameters


REFUSED = [
    ({"attention_bias": True}, "config.json has attention_bias = True, but the formulas of Llama need False"),
    ({"mlp_bias": True}, "config.json has mlp_bias = True"),
    ({"rope_parameters": {"rope_type": "yarn", "factor": 2.0}}, "rope_type = 'yarn', which the formulas of Llama do not support"),
    ({"rope_parameters": {"rope_type": "linear"}}, "does not set factor, which rope_type = 'linear' needs"),
    ({"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}}, "partial_rotary_factor"),
    ({"rms_norm_eps": None}, "has no rms_norm_eps"),
    ({"num_key_value_heads": 3}, "model.layers.0.self_attn.k_proj.weight has shape 8 × 12, but W^{1,K} of Llama is stored as groups·part·pair[12] × chans[12]"),
    ({"tie_word_embeddings": None, "model_type": "mystery"}, "unsupported model_type 'mystery'"),
]  # fmt: skip


@pytest.mark.parametrize("changes, says", REFUSED, ids=[says[:40] for _, says in REFUSED])
def test_a_config_that_does_not_fit_is_refused(changes, says, tmp_path):
    with pytest.raises(nt.NotationError) as caught:
        transformer.load(saved_folder(model(), tmp_path, **changes))
    assert says in str(caught.value)


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_positions_stay_exact_in_half_precision(precision, tmp_path):
    """As far from single precision as transformers is, far into a text too, where halves have no such positions."""
    theirs = model(max_position_embeddings=2000, head_dim=16)
    ids = numbers(np.random.default_rng(0), 1, 700, below=23)
    theirs.save_pretrained(tmp_path)
    exact = theirs(ids).logits.detach().numpy()[0]
    half = transformers.LlamaForCausalLM.from_pretrained(tmp_path, dtype=getattr(torch, precision)).eval()
    ours = transformer.load(tmp_path, backend="torch", dtype=precision)
    array = ours(nt.tensor(ids, "batch seq")).to_array(LOGITS)
    assert array.dtype == getattr(torch, precision)
    far = slice(500, 700)
    apart = [np.linalg.norm(item.detach().float().numpy()[0, far] - exact[far]) for item in (array, half(ids).logits)]
    assert apart[0] < 2.5 * apart[1]
