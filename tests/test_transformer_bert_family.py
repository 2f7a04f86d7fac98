"""RoBERTa and DistilBERT, and the heads of BERT and of both, against the library `transformers`."""

import json

import numpy as np
import pytest
from peers import CLOSE, distance, drawn, loaded, named, numbers, torch, transformers

import namedtensor as nt
import transformer
from transformer import BERT, DistilBERT, RoBERTa

FAMILIES = {"Bert": BERT, "Roberta": RoBERTa, "DistilBert": DistilBERT}
SIZES = {"vocab_size": 23, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 7,
         "max_position_embeddings": 14}  # fmt: skip
DISTIL = {"hidden_size": "dim", "num_hidden_layers": "n_layers", "num_attention_heads": "n_heads",
          "intermediate_size": "hidden_dim", "hidden_act": "activation"}  # fmt: skip
CONFIGS = {
    "small": {},
    "one head, three layers": {"num_attention_heads": 1, "hidden_size": 5, "num_hidden_layers": 3},
    "another padding, another activation": {"pad_token_id": 4, "hidden_act": "relu", "intermediate_size": 31},
}
STATES = "batch seq chans"


def config(family, **changes):
    sizes = {**SIZES, **changes}
    if family == "DistilBert":
        sizes = {DISTIL.get(key, key): size for key, size in sizes.items()}
    return getattr(transformers, f"{family}Config")(**sizes)


def padded_ids(about, seed=0, batch=3, seq=7):
    """Ids with padding at the end of a sequence, and the mask of it."""
    ids = numbers(np.random.default_rng(seed), batch, seq, below=about.vocab_size)
    ids[ids == about.pad_token_id] = 9
    mask = torch.ones_like(ids)
    mask[0, 4:] = 0
    return ids.where(mask == 1, about.pad_token_id), mask


@pytest.mark.parametrize("changes", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("family", ["Roberta", "DistilBert"])
def test_the_states_are_those_of_transformers(family, changes, tmp_path):
    theirs = drawn(getattr(transformers, f"{family}Model"), config(family, **changes))
    ours = loaded(theirs, tmp_path)
    assert type(ours) is FAMILIES[family]
    ids, mask = padded_ids(theirs.config)
    states = ours(named(ids, "batch seq"), named(mask, "batch seq"))
    assert distance(states, theirs(ids, attention_mask=mask).last_hidden_state, STATES) < CLOSE
    if family == "Roberta":
        pooled = theirs(ids).pooler_output
        assert distance(ours.evaluate("pooled", named(ids, "batch seq")), pooled, "batch chans") < CLOSE
        positions = numbers(np.random.default_rng(2), 3, 7, below=14)
        given = ours(named(ids, "batch seq"), positions=named(positions, "batch seq"))
        assert distance(given, theirs(ids, position_ids=positions).last_hidden_state, STATES) < CLOSE
    else:
        assert "pooled" not in ours.formula and "types" not in ours.formula


def test_the_positions_of_roberta_skip_padding(tmp_path):
    theirs = drawn(transformers.RobertaModel, config("Roberta", pad_token_id=4))
    ours = loaded(theirs, tmp_path)
    positions = ours.evaluate("positions", nt.tensor([4, 7, 4, 9, 8], "seq"))
    assert positions.tolist() == [4, 5, 4, 6, 7]


HEADS = {
    "ForMaskedLM": {"logits": "batch seq vocab"},
    "ForSequenceClassification": {"logits": "batch class"},
    "ForTokenClassification": {"logits": "batch seq class"},
    "ForQuestionAnswering": {"start_logits": "batch seq", "end_logits": "batch seq"},
    "ForMultipleChoice": {"logits": "batch choice"},
    "ForNextSentencePrediction": {"logits": "batch follows"},
    "ForPreTraining": {"logits": "batch seq vocab", "next_logits": "batch follows"},
}
THEIRS = {"ForPreTraining": {"logits": "prediction_logits", "next_logits": "seq_relationship_logits"}}
CASES = [
    (family, head, tied)
    for family in FAMILIES
    for head in HEADS
    for tied in (True, False)
    if hasattr(transformers, family + head) and (tied or head in ("ForMaskedLM", "ForPreTraining"))
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("family, head, tied", CASES)
def test_a_head_is_loaded(family, head, tied, tmp_path):
    labels = {} if head in ("ForQuestionAnswering", "ForMultipleChoice") else {"num_labels": 5}
    if head == "ForNextSentencePrediction":
        labels = {}
    theirs = drawn(getattr(transformers, family + head), config(family, tie_word_embeddings=tied, **labels))
    ours = loaded(theirs, tmp_path)
    shape, axes = ((2, 3, 5), "batch choice seq") if head == "ForMultipleChoice" else ((2, 5), "batch seq")
    ids = numbers(np.random.default_rng(1), *shape, below=23)
    result = theirs(ids)
    for name, order in HEADS[head].items():
        logits = getattr(result, THEIRS.get(head, {}).get(name, name))
        assert distance(ours.evaluate(name, named(ids, axes)), logits, order) < CLOSE
    parameters = sum(value.array.size for value in ours.parameters.values() if isinstance(value, nt.NamedTensor))
    unread = {"cls.predictions.bias", "lm_head.bias"} if not tied else set()
    stored = {name: parameter.numel() for name, parameter in theirs.named_parameters() if name not in unread}
    assert parameters == sum(stored.values())  # of nothing in the file is there less in the model


@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_without_its_head(family, tmp_path):
    theirs = drawn(getattr(transformers, f"{family}ForTokenClassification"), config(family))
    theirs.save_pretrained(tmp_path)
    ours = transformer.load(tmp_path, head=False)
    ids = numbers(np.random.default_rng(2), 2, 5, below=23)
    assert distance(ours(named(ids, "batch seq")), theirs.base_model(ids).last_hidden_state, STATES) < CLOSE
    assert "logits" not in ours.formula and "W^{class}" not in ours.parameters


def test_a_model_with_a_head_is_saved_whole(tmp_path):
    ours = loaded(drawn(transformers.RobertaForSequenceClassification, config("Roberta")), tmp_path)
    ours.save(tmp_path / "model.nt.safetensors")
    again = RoBERTa.load(tmp_path / "model.nt.safetensors")
    ids = nt.tensor([[3, 5], [2, 1]], "batch seq")
    assert nt.allclose(again.evaluate("logits", ids), ours.evaluate("logits", ids))


def changed(folder, arrays=None, **changes):
    from safetensors.torch import load_file, save_file

    about = json.loads((folder / "config.json").read_text()) | changes
    (folder / "config.json").write_text(json.dumps(about))
    stored = load_file(folder / "model.safetensors")
    if arrays:
        arrays(stored)
    save_file(stored, folder / "model.safetensors")
    return folder


REFUSED = {
    "half a head": (
        "Bert", "ForMaskedLM", lambda arrays: arrays.pop("cls.predictions.transform.dense.bias"), {},
        "missing keys: cls.predictions.transform.dense.bias"),
    "an unknown head": (
        "Bert", "Model", lambda arrays: arrays.update({"cls.stars.weight": torch.zeros(2)}), {},
        "has a head that the formulas of BERT do not have: cls.stars.weight\n"
        "  supported heads: ForMaskedLM, ForSequenceClassification, ForTokenClassification, ForQuestionAnswering, "
        "ForMultipleChoice, ForNextSentencePrediction, ForPreTraining\n"
        "  hint: load the model without its head: transformer.load(folder, head=False)"),
    "a head of other sizes": (
        "Roberta", "ForMaskedLM", lambda arrays: arrays.update({"lm_head.bias": torch.zeros(24)}), {},
        "lm_head.bias has shape 24, but b^{vocab} of RoBERTa is stored as vocab[23]"),
    "an activation": (
        "DistilBert", "Model", None, {"activation": "laplace"}, "config.json has an unsupported activation: 'laplace'"),
    "a decoder": (
        "Roberta", "Model", None, {"is_decoder": True},
        "config.json has is_decoder = True, but the formulas of RoBERTa need False"),
    "other layers": ("DistilBert", "Model", None, {"n_layers": 1}, "unexpected keys: transformer.layer.1.attention"),
}  # fmt: skip


@pytest.mark.parametrize("family, head, arrays, changes, says", REFUSED.values(), ids=REFUSED)
def test_a_file_that_does_not_fit_is_refused(family, head, arrays, changes, says, tmp_path):
    drawn(getattr(transformers, family + head), config(family)).save_pretrained(tmp_path)
    with pytest.raises(nt.NotationError) as caught:
        transformer.load(changed(tmp_path, arrays, **changes))
    assert says in str(caught.value)


def test_the_formulas_are_those_of_bert_but_for_a_few_lines():
    lines = set(str(BERT.formula).splitlines())
    assert [line for line in str(RoBERTa.formula).splitlines() if line not in lines] == [
        "positions = padding + cumsum_{seq}(real) ⊙ real",
        "real = { 0 if ids = padding; 1 otherwise }",
        "padding = 1",
    ]
    assert [line for line in str(DistilBERT.formula).splitlines() if line not in lines] == [
        "X^0 = LayerNorm(E_{vocab(ids+1)} + P_{place(positions+1)}; γ, β)"
    ]
    assert "real = { 0 if ids = padding; 1 otherwise }" in RoBERTa.__doc__
