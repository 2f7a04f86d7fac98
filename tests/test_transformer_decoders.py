"""GPT-NeoX, OPT and Phi against the library `transformers`."""

import numpy as np
import pytest
from peers import (
    CLOSE,
    changed_config,
    check_generation,
    check_logits,
    distance,
    drawn,
    even_out,
    loaded,
    named,
    numbers,
    transformers,
)

import namedtensor as nt
import transformer
from transformer import GPT2, OPT, GPTNeoX, Phi

KINDS = {"GPTNeoX": GPTNeoX, "OPT": OPT, "Phi": Phi}
SMALL = {"vocab_size": 23, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": 7,
         "max_position_embeddings": 50, "eos_token_id": None, "bos_token_id": None, "pad_token_id": 0}  # fmt: skip
WHOLE = {"rope_parameters": {"rope_type": "default", "rope_theta": 30.0, "partial_rotary_factor": 1.0}}
CASES = {
    "GPT-NeoX": ("GPTNeoX", {}),
    "GPT-NeoX: one after the other, whole keys turned": ("GPTNeoX", {"use_parallel_residual": False, **WHOLE}),
    "GPT-NeoX: one head, two layers": ("GPTNeoX", {"num_attention_heads": 1, "num_hidden_layers": 2, "hidden_act": "relu"}),
    "Phi": ("Phi", {}),
    "Phi: one key, whole keys turned": ("Phi", {"num_key_value_heads": 1, **WHOLE}),
    "Phi: two keys, two layers": (
        "Phi", {"num_key_value_heads": 2, "num_attention_heads": 6, "num_hidden_layers": 2, "layer_norm_eps": 0.2}),
    "OPT": ("OPT", {}),
    "OPT: narrow words": ("OPT", {"word_embed_proj_dim": 5, "activation_function": "gelu"}),
    "OPT: norms after the sums, narrow words": ("OPT", {"word_embed_proj_dim": 5, "do_layer_norm_before": False}),
    "OPT: norms after the sums": ("OPT", {"do_layer_norm_before": False, "num_hidden_layers": 1}),
}  # fmt: skip


def model(name, **changes):
    sizes = {**SMALL, **changes}
    if name == "OPT":
        sizes = {"word_embed_proj_dim": sizes["hidden_size"], "ffn_dim": sizes.pop("intermediate_size"), **sizes}
    return drawn(getattr(transformers, f"{name}ForCausalLM"), getattr(transformers, f"{name}Config")(**sizes))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name, changes", CASES.values(), ids=CASES)
def test_the_logits_are_those_of_transformers(name, changes, tmp_path):
    theirs = model(name, **changes)
    ours = loaded(theirs, tmp_path)
    assert type(ours) is KINDS[name]
    check_logits(theirs, ours)
    ids, positions = (numbers(np.random.default_rng(seed), 3, 7, below=23) for seed in (2, 3))
    given = ours(named(ids, "batch seq"), positions=named(positions, "batch seq"))
    assert distance(given, theirs(ids, position_ids=positions).logits, "batch seq vocab") < CLOSE


@pytest.mark.sampled(9)
@pytest.mark.slow
@pytest.mark.parametrize("name, changes", CASES.values(), ids=CASES)
@pytest.mark.parametrize("side", [None, "left"])
def test_generation_is_that_of_transformers(name, changes, side, tmp_path):
    theirs = model(name, **changes)
    even_out(theirs)
    check_generation(theirs, loaded(theirs, tmp_path), side)


def test_opt_generates_up_to_its_last_position(tmp_path):
    ours = loaded(model("OPT", max_position_embeddings=9), tmp_path)
    ids = nt.tensor([[3, 1, 4, 1]], "batch seq")
    assert ours.generate(ids, 6).sizes["seq"] == 6
    with pytest.raises(nt.NotationError, match="sequence too long: OPT has 9 positions, got 4 tokens plus 7"):
        ours.generate(ids, 7)


@pytest.mark.parametrize("name", ["GPTNeoX", "Phi"])
def test_a_base_model_has_no_logits(name, tmp_path):
    theirs = model(name)
    theirs.base_model.save_pretrained(tmp_path)
    ours = transformer.load(tmp_path)
    ids = numbers(np.random.default_rng(2), 2, 5, below=23)
    states = ours.evaluate("states", named(ids, "batch seq"))
    assert distance(states, theirs.base_model(ids).last_hidden_state, "batch seq chans") < CLOSE
    with pytest.raises(nt.NotationError, match="has no logits: its file holds no parameters of it"):
        ours(named(ids, "batch seq"))


REFUSED = [
    ("GPTNeoX", {"attention_bias": False}, "config.json has attention_bias = False, but the formulas of GPTNeoX need True"),
    ("GPTNeoX", {"rope_parameters": {"rope_type": "linear", "factor": 2.0}}, "rope_type = 'linear', which the formulas of GPTNeoX do not support"),
    ("GPTNeoX", {"num_hidden_layers": 4}, "missing keys: layers.3.input_layernorm.weight"),
    ("Phi", {"qk_layernorm": True}, "config.json has qk_layernorm = True, but the formulas of Phi need False"),
    ("Phi", {"hidden_act": "laplace"}, "unsupported hidden_act: 'laplace'"),
    ("Phi", {"num_key_value_heads": 1}, "k_proj.weight has shape 24 × 24, but W^{1,K} of Phi is stored as groups·key[8] × chans[24]"),
    ("OPT", {"enable_bias": False}, "config.json has enable_bias = False, but the formulas of OPT need True"),
    ("OPT", {"word_embed_proj_dim": 5}, "missing keys: project_in.weight, project_out.weight"),
    ("OPT", {"do_layer_norm_before": False}, "unexpected keys: model.decoder.final_layer_norm.bias"),
    ("OPT", {"max_position_embeddings": 51}, "embed_positions.weight has shape 52 × 24, but P of OPT is stored as place[53]"),
]  # fmt: skip


@pytest.mark.parametrize("name, changes, says", REFUSED, ids=[f"{name}: {says[:40]}" for name, _, says in REFUSED])
def test_a_config_that_does_not_fit_is_refused(name, changes, says, tmp_path):
    with pytest.raises(nt.NotationError) as caught:
        transformer.load(changed_config(model(name), tmp_path, **changes))
    assert says in str(caught.value)


@pytest.mark.parametrize("name", ["GPTNeoX", "OPT"])
def test_the_formulas_are_those_of_gpt2_but_for_a_few_lines(name):
    lines = set(str(GPT2.formula).splitlines())
    new = [line for line in str(KINDS[name].formula).splitlines() if line not in lines]
    assert 0 < len(new) < 17 and all(line in str(nt.program(KINDS[name].notation)) for line in new)
