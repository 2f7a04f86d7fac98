"""The heads of decoders, of encoders with a decoder, of Whisper and of CLIP, against the library `transformers`."""

import numpy as np
import pytest
from peers import CLOSE, changed_config, distance, drawn, loaded, named, numbers, torch, transformers

import namedtensor as nt
import transformer

DECODER = {"vocab_size": 23, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 7,
           "max_position_embeddings": 50, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}  # fmt: skip
GROUPS = {"num_key_value_heads": 1, "head_dim": 8}
TARGET = {"vocab_size": 23, "d_model": 12, "pad_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 4}
BART = {**TARGET, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 3, "decoder_attention_heads": 3,
        "encoder_ffn_dim": 7, "decoder_ffn_dim": 7, "max_position_embeddings": 50, "bos_token_id": 1}  # fmt: skip
T5 = {**TARGET, "num_layers": 2, "num_decoder_layers": 3, "num_heads": 3, "d_ff": 7, "d_kv": 5}
OPT = {**DECODER, "ffn_dim": 7, "word_embed_proj_dim": 24}
CONFIGS = {
    "GPT2": [{"vocab_size": 23, "n_embd": 24, "n_layer": 2, "n_head": 3, "n_positions": 50, "pad_token_id": 0}],
    "GPTNeoX": [DECODER],
    "OPT": [OPT, {**OPT, "word_embed_proj_dim": 5}, {**OPT, "word_embed_proj_dim": 5, "do_layer_norm_before": False}],
    "Phi": [DECODER],
    "Llama": [{**DECODER, **GROUPS}, {**DECODER, "tie_word_embeddings": True}],
    "Mistral": [{**DECODER, **GROUPS, "sliding_window": 3}],
    "Qwen2": [{**DECODER, **GROUPS}],
    "Qwen3": [{**DECODER, **GROUPS}],
    "Gemma2": [{**DECODER, **GROUPS}],
    "Mixtral": [{**DECODER, **GROUPS, "intermediate_size": 8, "num_local_experts": 3}],
    "Bart": [BART],
    "T5": [T5, {**T5, "tie_word_embeddings": False, "feed_forward_proj": "gated-gelu"}],
}
HEADS = {
    "ForSequenceClassification": {"logits": "batch class"},
    "ForTokenClassification": {"logits": "batch seq class"},
    "ForQuestionAnswering": {"start_logits": "batch seq", "end_logits": "batch seq"},
}
QUICK = ("Llama", "GPT2", "OPT")
CASES = [
    pytest.param(
        family,
        head,
        config,
        id=f"{family}{head}-{count}",
        marks=[pytest.mark.slow] if count or family not in QUICK else [],
    )
    for family, configs in CONFIGS.items()
    for head in HEADS
    for count, config in enumerate(configs)
    if hasattr(transformers, family + head)
]


def model(family, head, config):
    labels = {} if head == "ForQuestionAnswering" else {"num_labels": 5}
    return drawn(getattr(transformers, family + head), getattr(transformers, f"{family}Config")(**config, **labels))


def texts(batch=3, seq=7):
    """Ids of 3 and more, padded with 0 at either end, each with the token 2 once at the end."""
    ids = 3 + numbers(np.random.default_rng(1), batch, seq, below=20)
    ids[0, 5:], ids[1, :2] = 0, 0
    ids[[0, 1, 2], [4, 6, 6]] = 2
    return ids


@pytest.mark.sampled(9)
@pytest.mark.parametrize("family, head, config", CASES)
def test_a_head_has_the_numbers_of_transformers(family, head, config, tmp_path):
    theirs = model(family, head, config)
    ours = loaded(theirs, tmp_path)
    ids = texts()
    mask = (ids != 0).long()
    expected = theirs(ids, attention_mask=mask)
    translates = family in ("Bart", "T5")
    given = {"source": named(ids, "batch source"), "source_mask": named(mask, "batch source")} if translates else {
        "ids": named(ids, "batch seq"), "mask": named(mask, "batch seq")}  # fmt: skip
    for name, axes in HEADS[head].items():
        if (family, head) == ("T5", "ForTokenClassification"):
            axes = "batch source class"
        values = ours.evaluate(name, **given)
        if "seq" in axes and not translates:  # what padding sees differs, and means nothing
            values, expected[name] = (
                nt.evaluate("x ⊙ m", x=values, m=named(mask, "batch seq")),
                masked(expected[name], mask),
            )
        assert distance(values, expected[name], axes) < CLOSE
    parameters = sum(value.array.size for value in ours.parameters.values() if isinstance(value, nt.NamedTensor))
    assert parameters == sum(parameter.numel() for parameter in theirs.parameters())  # nothing in the file is dropped


def masked(array, mask):
    return array * (mask if array.dim() == 2 else mask[..., None])


def test_without_a_token_of_padding_the_last_token_counts(tmp_path):
    theirs = model("Llama", "ForSequenceClassification", {**DECODER, "pad_token_id": None})
    ours = loaded(theirs, tmp_path)
    ids = texts()[:1]
    assert distance(ours(named(ids, "batch seq")), theirs(ids).logits, "batch class") < CLOSE


def test_a_target_that_is_given_replaces_the_shifted_source(tmp_path):
    theirs = model("Bart", "ForSequenceClassification", BART)
    ours = loaded(theirs, tmp_path)
    ids, target = texts(), texts().flip(1)
    expected = theirs(ids, decoder_input_ids=target).logits
    assert distance(ours(named(ids, "batch source"), named(target, "batch seq")), expected, "batch class") < CLOSE


WHISPER = {"vocab_size": 23, "num_mel_bins": 5, "d_model": 12, "encoder_layers": 3, "decoder_layers": 2,
           "encoder_attention_heads": 3, "decoder_attention_heads": 3, "encoder_ffn_dim": 7, "decoder_ffn_dim": 7,
           "max_source_positions": 6, "max_target_positions": 9, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
           "decoder_start_token_id": 1, "classifier_proj_size": 4, "num_labels": 5}  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
def test_sounds_are_classified(weighted, tmp_path):
    config = transformers.WhisperConfig(**WHISPER, use_weighted_layer_sum=weighted)
    theirs = drawn(transformers.WhisperForAudioClassification, config)
    ours = loaded(theirs, tmp_path)
    features = torch.randn(3, 5, 12, generator=torch.Generator().manual_seed(0))
    assert distance(ours(named(features, "batch mel time")), theirs(features).logits, "batch class") < CLOSE
    assert not any("dec" in name or "cross" in name for name in (*ours.parameters, *ours.formula.names))


def test_images_are_classified(tmp_path):
    image = {"hidden_size": 10, "intermediate_size": 9, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 8,
             "patch_size": 4}  # fmt: skip
    config = transformers.CLIPConfig(vision_config=image, projection_dim=5, num_labels=4)
    theirs = drawn(transformers.CLIPForImageClassification, config)
    ours = loaded(theirs, tmp_path)
    pixels = torch.randn(3, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    logits = ours(pixels=named(pixels, "images color height width"))
    assert distance(logits, theirs(pixels).logits, "images class") < CLOSE


def test_a_model_with_a_head_does_not_generate(tmp_path):
    ids = nt.tensor([[3, 1, 4]], "batch seq")
    for head in ("ForSequenceClassification", "ForQuestionAnswering"):
        ours = loaded(model("GPT2", head, CONFIGS["GPT2"][0]), tmp_path / head)
        with pytest.raises(nt.NotationError, match="GPT2 has no logits of next tokens"):
            ours.generate(ids, 3)


@pytest.mark.parametrize("family", ["GPT2", "Llama"])
def test_a_model_without_its_head(family, tmp_path):
    theirs = model(family, "ForSequenceClassification", CONFIGS[family][0])
    theirs.save_pretrained(tmp_path)
    ours = transformer.load(tmp_path, head=False)
    ids = texts()
    states = ours.evaluate("states", named(ids, "batch seq"))
    assert distance(states, theirs.base_model(ids).last_hidden_state, "batch seq chans") < CLOSE
    assert "W^{class}" not in ours.parameters


def test_a_head_that_no_formula_has_is_refused(tmp_path):
    theirs = drawn(transformers.GPT2DoubleHeadsModel, transformers.GPT2Config(**CONFIGS["GPT2"][0]))
    theirs.save_pretrained(tmp_path)
    with pytest.raises(nt.NotationError) as caught:
        transformer.load(tmp_path)
    assert "has a head that the formulas of GPT2 do not have: multiple_choice_head.summary" in str(caught.value)
    assert "ForSequenceClassification, ForTokenClassification, ForQuestionAnswering" in str(caught.value)


REFUSED = [
    ("Llama", "ForTokenClassification", {"hidden_size": 12}, "is stored as"),
    ("Bart", "ForSequenceClassification", {"decoder_layers": 4}, "missing keys: decoder.layers.3"),
    ("T5", "ForTokenClassification", {"num_layers": 3}, "missing keys: encoder.block.2"),
]


@pytest.mark.parametrize("family, head, changes, says", REFUSED)
def test_a_config_that_does_not_fit_is_refused(family, head, changes, says, tmp_path):
    with pytest.raises(nt.NotationError) as caught:
        transformer.load(changed_config(model(family, head, CONFIGS[family][0]), tmp_path, **changes))
    assert says in str(caught.value)
