"""T5, BART and Whisper against the library `transformers`."""

import numpy as np
import pytest
from peers import CLOSE, changed_config, distance, drawn, loaded, named, numbers, torch, transformers

import namedtensor as nt
import transformer
from transformer import BART, T5, EncoderDecoder, Whisper

KINDS = {"T5": T5, "Bart": BART, "Whisper": Whisper}
STACKS = {"vocab_size": 23, "d_model": 12, "encoder_ffn_dim": 7, "decoder_ffn_dim": 7, "encoder_layers": 3,
          "decoder_layers": 2, "encoder_attention_heads": 3, "decoder_attention_heads": 3, "pad_token_id": 1,
          "decoder_start_token_id": 2, "eos_token_id": None, "bos_token_id": 0}  # fmt: skip
SIZES = {
    "T5": {"vocab_size": 23, "d_model": 12, "d_ff": 7, "d_kv": 5, "num_layers": 3, "num_decoder_layers": 2,
           "num_heads": 3, "decoder_start_token_id": 0, "eos_token_id": None, "pad_token_id": 0},
    "Bart": {**STACKS, "max_position_embeddings": 40, "forced_eos_token_id": None},
    "Whisper": {**STACKS, "max_source_positions": 9, "max_target_positions": 37, "num_mel_bins": 5,
                "begin_suppress_tokens": None},
}  # fmt: skip
ONE_HEAD = {"encoder_attention_heads": 1, "decoder_attention_heads": 1, "decoder_layers": 1}
CASES = {
    "T5": ("T5", {}),
    "T5: gated, untied": (
        "T5", {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False, "scale_decoder_outputs": False}),
    "T5: one head, few buckets": (
        "T5", {"num_heads": 1, "num_decoder_layers": 1, "relative_attention_num_buckets": 6,
               "relative_attention_max_distance": 9, "feed_forward_proj": "gated-silu"}),
    "BART": ("Bart", {}),
    "BART: scaled": ("Bart", {"scale_embedding": True, "activation_function": "relu"}),
    "BART: one head": ("Bart", ONE_HEAD),
    "Whisper": ("Whisper", {}),
    "Whisper: another activation": ("Whisper", {"activation_function": "relu", "num_mel_bins": 4}),
    "Whisper: one head": ("Whisper", {**ONE_HEAD, "encoder_layers": 1}),
}  # fmt: skip
LOGITS = "batch seq vocab"


def model(name, **changes):
    theirs = drawn(
        getattr(transformers, f"{name}ForConditionalGeneration"),
        getattr(transformers, f"{name}Config")(**{**SIZES[name], **changes}),
    )
    if name == "Bart":
        theirs.final_logits_bias.normal_()
    torch.nn.init.normal_(theirs.get_input_embeddings().weight, 0, 0.3 if name == "T5" else 1)
    return theirs


def source_of(theirs):
    """A source as both take it: the arguments of theirs, and the tensors of ours by name."""
    config = theirs.config
    if config.model_type == "whisper":
        features = torch.randn(
            3, config.num_mel_bins, 2 * config.max_source_positions, generator=torch.Generator().manual_seed(0)
        )
        return {"input_features": features}, {"features": named(features, "batch mel time")}
    source = numbers(np.random.default_rng(0), 3, 20, below=23)
    mask = torch.ones_like(source)
    mask[0, 14:] = 0
    return (
        {"input_ids": source, "attention_mask": mask},
        {"source": named(source, "batch source"), "source_mask": named(mask, "batch source")},
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name, changes", CASES.values(), ids=CASES)
def test_the_logits_are_those_of_transformers(name, changes, tmp_path):
    theirs = model(name, **changes)
    ours = loaded(theirs, tmp_path)
    assert type(ours) is KINDS[name]
    their_source, our_source = source_of(theirs)
    ids = numbers(np.random.default_rng(1), 3, 35, below=23)
    expected = theirs(**their_source, decoder_input_ids=ids).logits
    assert distance(ours(ids=named(ids, "batch seq"), **our_source), expected, LOGITS) < CLOSE


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize("name, changes", CASES.values(), ids=CASES)
def test_generation_is_that_of_transformers(name, changes, tmp_path):
    theirs = model(name, **changes)
    ours = loaded(theirs, tmp_path)
    their_source, our_source = source_of(theirs)
    expected = torch.full((3, 1), theirs.config.decoder_start_token_id)
    for _ in range(25):  # past the first growth of the cache
        logits = theirs(**their_source, decoder_input_ids=expected).logits
        expected = torch.cat([expected, logits[:, -1:].argmax(-1)], 1)
    first, *mask = our_source.values()
    generated = ours.generate(first, 25, *mask)
    assert generated.to_array("batch seq").tolist() == expected[:, 1:].tolist() and len(expected.unique()) > 1


def test_the_distances_of_t5_fall_into_its_buckets(tmp_path):
    """Far past the largest distance, before and after."""
    theirs = model("T5")
    ours = loaded(theirs, tmp_path)
    source = nt.tensor(np.zeros(300, dtype="int64"), "source")
    attention = theirs.encoder.block[0].layer[0].SelfAttention
    expected = attention.compute_bias(300, 300)[0]
    assert (
        distance(ours.evaluate("P^{enc}", source=source, ids=nt.tensor([0], "seq")), expected, "heads source source'")
        < 1e-7
    )


def test_an_input_of_another_length_is_refused(tmp_path):
    ours = loaded(model("Whisper"), tmp_path)
    with pytest.raises(nt.NotationError, match="size constraint .time. = 2 .source. is violated"):
        ours(nt.tensor(np.ones((5, 16)), "mel time"), nt.tensor([2], "seq"))


REFUSED = [
    ("T5", {"feed_forward_proj": "gated-laplace"}, "config.json has an unsupported feed_forward_proj: 'gated-laplace'"),
    ("T5", {"feed_forward_proj": "gated-relu"}, "missing keys: encoder.block.0.layer.1.DenseReluDense.wi_0.weight"),
    ("T5", {"relative_attention_num_buckets": 16}, "relative_attention_bias.weight has shape 32 × 3, but B^{enc} of T5 is stored as bucket[16]"),
    ("T5", {"num_decoder_layers": 1}, "unexpected keys: decoder.block.1"),
    ("Bart", {"encoder_attention_heads": 4}, "config.json has encoder_attention_heads = 4 and decoder_attention_heads = 3"),
    ("Bart", {"max_position_embeddings": 41}, "P^{enc} of BART is stored as place[43] × chans[12]"),
    ("Bart", {"activation_function": "laplace"}, "unsupported activation_function: 'laplace'"),
    ("Whisper", {"num_mel_bins": 6}, "W^{conv,1} of Whisper is stored as chans[12] × mel[6] × kernel[?]"),
    ("Whisper", {"scale_embedding": True}, "config.json has scale_embedding = True, but the formulas of Whisper need False"),
]  # fmt: skip


@pytest.mark.parametrize("name, changes, says", REFUSED, ids=[f"{name}: {says[:40]}" for name, _, says in REFUSED])
def test_a_config_that_does_not_fit_is_refused(name, changes, says, tmp_path):
    with pytest.raises(nt.NotationError) as caught:
        transformer.load(changed_config(model(name), tmp_path, **changes))
    assert says in str(caught.value)


def test_a_model_without_its_head_of_classes_has_no_logits(tmp_path):
    config = transformers.BartConfig(**{**SIZES["Bart"], "eos_token_id": 2})
    drawn(transformers.BartForSequenceClassification, config).save_pretrained(tmp_path)
    assert "logits" not in transformer.load(tmp_path, head=False).formula


def test_the_formulas_of_bart_are_those_of_the_transformer_but_for_a_few_lines():
    lines = set(str(EncoderDecoder.formula).splitlines())
    assert len([line for line in str(BART.formula).splitlines() if line not in lines]) == 8
    assert "Position" not in str(BART.formula)
