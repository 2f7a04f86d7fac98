"""Mistral, Qwen2, Qwen3, Gemma 2 and Mixtral, which are Llama but for a few lines, against the library `transformers`."""

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
    torch,
    transformers,
)

import namedtensor as nt
import transformer
from transformer import Gemma2, Llama, Mistral, Mixtral, Qwen2, Qwen3

KINDS = {kind.__name__: kind for kind in (Mistral, Qwen2, Qwen3, Gemma2, Mixtral)}
SMALL = {"vocab_size": 23, "hidden_size": 12, "num_hidden_layers": 3, "num_attention_heads": 6, "intermediate_size": 7,
         "num_key_value_heads": 2, "head_dim": 4, "max_position_embeddings": 200, "eos_token_id": None,
         "bos_token_id": None, "pad_token_id": 0}  # fmt: skip
ONE_KEY = {"num_key_value_heads": 1, "num_attention_heads": 3, "num_hidden_layers": 2}
EXPERTS = {"num_local_experts": 5}
LINEAR = {"rope_type": "linear", "rope_theta": 700.0, "factor": 2.5}
LISTED = ["full_attention", "sliding_attention", "sliding_attention"]
CASES = {
    "Mistral: a window": ("Mistral", {"sliding_window": 3}),
    "Mistral: all before, tied": ("Mistral", {"sliding_window": None, "tie_word_embeddings": True}),
    "Mistral: one key, scaled positions": ("Mistral", {**ONE_KEY, "rope_parameters": LINEAR}),
    "Qwen2": ("Qwen2", {"hidden_act": "gelu"}),
    "Qwen2: one key, tied": ("Qwen2", {**ONE_KEY, "tie_word_embeddings": True}),
    "Qwen2: long keys": ("Qwen2", {"head_dim": 16, "rms_norm_eps": 0.2}),
    "Qwen3": ("Qwen3", {}),
    "Qwen3: one key, tied": ("Qwen3", {**ONE_KEY, "tie_word_embeddings": True}),
    "Qwen3: long keys": ("Qwen3", {"head_dim": 16, "rms_norm_eps": 0.2}),
    "Gemma 2: a window in every second layer": ("Gemma2", {"sliding_window": 3, "query_pre_attn_scalar": 7}),
    "Gemma 2: one key, no caps": (
        "Gemma2", {**ONE_KEY, "final_logit_softcapping": None, "attn_logit_softcapping": None}),
    "Gemma 2: layers as they are listed": (
        "Gemma2", {"sliding_window": 2, "layer_types": LISTED, "attn_logit_softcapping": 0.7,
                   "final_logit_softcapping": 20.0}),
    "Mixtral": ("Mixtral", EXPERTS),
    "Mixtral: one expert of three, a window": (
        "Mixtral", {"num_local_experts": 3, "num_experts_per_tok": 1, "sliding_window": 2}),
    "Mixtral: three experts, one key": ("Mixtral", {**EXPERTS, **ONE_KEY, "num_experts_per_tok": 3}),
}  # fmt: skip


def model(name, **changes):
    config = getattr(transformers, f"{name}Config")(**{**SMALL, **changes})
    config._experts_implementation = "eager"  # others need sizes that are multiples of four
    return drawn(getattr(transformers, f"{name}ForCausalLM"), config)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name, changes", CASES.values(), ids=CASES)
def test_the_logits_are_those_of_transformers(name, changes, tmp_path):
    theirs = model(name, **changes)
    ours = loaded(theirs, tmp_path)
    assert type(ours) is KINDS[name]
    check_logits(theirs, ours)


@pytest.mark.sampled(12)
@pytest.mark.slow
@pytest.mark.parametrize("name, changes", CASES.values(), ids=CASES)
@pytest.mark.parametrize("side", [None, "left"])
def test_generation_is_that_of_transformers(name, changes, side, tmp_path):
    theirs = model(name, **changes)
    even_out(theirs)
    torch.nn.init.normal_(theirs.model.norm.weight)
    check_generation(theirs, loaded(theirs, tmp_path), side)


@pytest.mark.parametrize("name", ["Mistral", "Gemma2"])
def test_a_module_with_a_cache_sees_no_more_than_the_window(name, tmp_path):
    theirs = model(name, sliding_window=3)
    module = loaded(theirs, tmp_path).module(cache=True)
    ids = numbers(np.random.default_rng(2), 1, 9, below=23)
    _, *cache = module(ids[:, :6], *module.empty_cache())
    logits, *cache = module(ids[:, 6:8], *cache)
    last, *cache = module(ids[:, 8:], *cache)
    expected = theirs(ids).logits[:, 6:]
    assert torch.allclose(torch.cat([logits, last], 1), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.sampled(3)
@pytest.mark.slow
def test_one_expert_of_one_is_the_feedforward_network_of_llama(tmp_path):
    ours = loaded(model("Mixtral", **EXPERTS), tmp_path)
    one = {"num_local_experts": 1, "num_experts_per_tok": 1}
    (tmp_path / "one").mkdir()
    dense = loaded(model("Mixtral", **one), tmp_path / "one")
    assert ours.parameters["W^{2,3}"].sizes == {"expert": 5, "hidden": 7, "chans": 12}
    ids = nt.tensor([3, 1, 4], "seq")
    llama = {
        name: value[{"expert": 0}] if name in {f"W^{{{l},{i}}}" for l in (1, 2, 3) for i in (1, 2, 3)} else value
        for name, value in dense.parameters.items() if ",R}" not in name
    }  # fmt: skip
    plain = Llama(llama, {"L": 3, "part": 2}, "θ = 1000000")
    assert nt.allclose(dense(ids), plain(ids), rtol=1e-5, atol=1e-6)  # one expert of one is the feedforward of Llama


def test_a_file_without_the_map_to_logits(tmp_path):
    theirs = drawn(transformers.MistralModel, transformers.MistralConfig(**SMALL))
    ours = loaded(theirs, tmp_path)
    ids = numbers(np.random.default_rng(2), 2, 5, below=23)
    states = ours.evaluate("states", named(ids, "batch seq"))
    assert distance(states, theirs(ids).last_hidden_state, "batch seq chans") < CLOSE
    with pytest.raises(nt.NotationError, match="this Mistral has no logits: its file holds no parameters of it"):
        ours(named(ids, "batch seq"))


REFUSED = [
    ("Qwen2", {"use_sliding_window": True}, "config.json has use_sliding_window = True, but the formulas of Qwen2 need False"),
    ("Qwen3", {"attention_bias": True}, "config.json has attention_bias = True, but the formulas of Qwen3 need False"),
    ("Mistral", {"rope_parameters": {"rope_type": "yarn", "factor": 2.0}}, "rope_type = 'yarn', which the formulas of Mistral do not support"),
    ("Mistral", {"hidden_act": "laplace"}, "unsupported hidden_act: 'laplace'"),
    ("Gemma2", {"tie_word_embeddings": False}, "config.json has tie_word_embeddings = False"),
    ("Gemma2", {"layer_types": ["full_attention"] * 2}, "config.json has layer_types = ['full_attention', 'full_attention']; expected"),
    ("Mixtral", {"num_local_experts": 6}, "missing keys: layers.0.block_sparse_moe.experts.5.w1.weight"),
    ("Mixtral", {"num_local_experts": 4}, "unexpected keys: model.layers.0.block_sparse_moe.experts.4.w1.weight"),
    ("Qwen2", {"num_hidden_layers": 2}, "unexpected keys: model.layers.2."),
    ("Qwen2", {"num_key_value_heads": 3}, "model.layers.0.self_attn.k_proj.weight has shape 8 × 12, but W^{1,K} of Qwen2"),
]  # fmt: skip


@pytest.mark.parametrize("name, changes, says", REFUSED, ids=[f"{name}: {says[:40]}" for name, _, says in REFUSED])
def test_a_config_that_does_not_fit_is_refused(name, changes, says, tmp_path):
    theirs = model(name, **(EXPERTS if name == "Mixtral" else {}))
    with pytest.raises(nt.NotationError) as caught:
        transformer.load(changed_config(theirs, tmp_path, **changes))
    assert says in str(caught.value)


def test_a_model_without_its_head_of_classes_has_no_logits(tmp_path):
    theirs = drawn(transformers.MistralForSequenceClassification, transformers.MistralConfig(**SMALL))
    theirs.save_pretrained(tmp_path)
    assert "logits" not in transformer.load(tmp_path, head=False).formula


@pytest.mark.parametrize("name", KINDS)
def test_the_formulas_are_those_of_llama_but_for_a_few_lines(name):
    kind = KINDS[name]
    declared = str(kind.formula).splitlines()
    lines = set(str(Llama.formula).splitlines())
    new = [line for line in declared if line not in lines]
    assert 0 < len(new) < 16 and len(declared) >= len(lines)
    assert all(line in str(nt.program(kind.notation)).splitlines() for line in new)
    assert len(declared) == len(set(declared))
