"""Mamba against the library `transformers`."""

import numpy as np
import pytest
from peers import CLOSE, changed_config, distance, drawn, loaded, named, numbers, padded, transformers

import namedtensor as nt
import transformer
from transformer import Mamba

SMALL = {"vocab_size": 23, "hidden_size": 12, "state_size": 3, "num_hidden_layers": 2, "conv_kernel": 4}
CASES = {
    "small": {},
    "untied, three layers, a longer step": {
        "tie_word_embeddings": False, "num_hidden_layers": 3, "expand": 3, "conv_kernel": 3, "time_step_rank": 5},
    "one number of state, another activation": {"state_size": 1, "hidden_act": "gelu", "num_hidden_layers": 1},
}  # fmt: skip
LOGITS = "batch seq vocab"


def model(**changes):
    return drawn(transformers.MambaForCausalLM, transformers.MambaConfig(**{**SMALL, **changes}))


@pytest.mark.parametrize("changes", CASES.values(), ids=CASES)
def test_the_logits_are_those_of_transformers(changes, tmp_path):
    theirs = model(**changes)
    ours = loaded(theirs, tmp_path)
    assert type(ours) is Mamba
    ids = numbers(np.random.default_rng(0), 3, 7, below=23)
    given = named(ids, "batch seq")
    assert distance(ours(given), theirs(ids).logits, LOGITS) < CLOSE
    mask = padded("left")
    expected = theirs(ids, attention_mask=mask).logits.detach().numpy()[mask.bool()]
    logits = ours(given, named(mask, "batch seq")).to_array(LOGITS)[mask.bool()]
    assert np.abs(logits - expected).max() / np.abs(expected).max() < CLOSE


def test_the_scan_is_the_recurrence(tmp_path):
    """Step by step in plain NumPy, over so many steps that what is far decays to nothing."""
    ours = loaded(model(), tmp_path)
    ids = nt.tensor(np.random.default_rng(1).integers(0, 23, 200), "seq")
    names = ("Δ^1", "A^1", "Z^1", "B^1", "C^1", "Y^1")
    step, rate, read, enter, seen, result = (ours.evaluate(name, ids) for name in names)
    step, read, result = (tensor.to_array("seq inner").astype(float) for tensor in (step, read, result))
    enter, seen = (tensor.to_array("seq state").astype(float) for tensor in (enter, seen))
    rate, direct = rate.to_array("inner state").astype(float), ours.parameters["D^1"].to_array("inner")
    state, expected = np.zeros_like(rate), []
    for t in range(200):
        state = np.exp(step[t][:, None] * rate) * state + (step[t] * read[t])[:, None] * enter[t]
        expected.append(state @ seen[t] + direct * read[t])
    assert np.abs(result - expected).max() / np.abs(expected).max() < CLOSE


REFUSED = [
    ({"use_bias": True}, "config.json has use_bias = True, but the formulas of Mamba need False"),
    ({"state_size": 4}, "W^{1,select} of Mamba is stored as select[9] × inner[24]"),
    ({"conv_kernel": 3}, "W^{1,conv} of Mamba is stored as inner[24] × one[1] × kernel[3]"),
    ({"hidden_act": "laplace"}, "unsupported hidden_act: 'laplace'"),
    ({"num_hidden_layers": 1}, "unexpected keys: backbone.layers.1"),
]


@pytest.mark.parametrize("changes, says", REFUSED, ids=[says[:40] for _, says in REFUSED])
def test_a_config_that_does_not_fit_is_refused(changes, says, tmp_path):
    with pytest.raises(nt.NotationError) as caught:
        transformer.load(changed_config(model(), tmp_path, **changes))
    assert says in str(caught.value)
