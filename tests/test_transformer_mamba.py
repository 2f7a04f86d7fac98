"""Mamba against the library `transformers`."""

import math
import re

import numpy as np
import pytest
from peers import CLOSE, changed_config, distance, drawn, even_out, loaded, named, numbers, padded, torch, transformers

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


def without_state(ours, ids, count):
    """The likeliest tokens, each by a call on all before it."""
    tokens: list[int] = []
    for _ in range(count):
        logits = ours(nt.tensor([*ids, *tokens], "seq")).to_array("seq vocab")
        tokens.append(int(logits[-1].argmax()))
    return tokens


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize("side", [None, "left"])
@pytest.mark.parametrize("changes", CASES.values(), ids=CASES)
def test_generation_is_that_of_transformers(changes, side, tmp_path):
    theirs = model(**changes)
    even_out(theirs)
    ours = loaded(theirs, tmp_path)
    ids = numbers(np.random.default_rng(1), 3, 7, below=23)
    mask = torch.ones_like(ids) if side is None else padded(side)
    expected = theirs.generate(
        ids, attention_mask=mask, max_new_tokens=12, do_sample=False, eos_token_id=None, pad_token_id=0
    )
    given = None if side is None else named(mask, "batch seq")
    generated = ours.generate(named(ids, "batch seq"), 12, mask=given, stop=[]).to_array("batch seq")
    assert generated.tolist() == expected[:, 7:].tolist() and len(np.unique(generated)) > 1


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_padded_prompt_goes_on_as_without_padding(side, tmp_path):
    theirs = model()
    even_out(theirs)
    ours = loaded(theirs, tmp_path)
    ids, mask = numbers(np.random.default_rng(2), 3, 7, below=23), padded(side)
    generated = ours.generate(named(ids, "batch seq"), 6, mask=named(mask, "batch seq"), stop=[]).to_array("batch seq")
    for row, real, tokens in zip(ids.tolist(), mask.tolist(), generated.tolist()):
        assert tokens == without_state(ours, [token for token, seen in zip(row, real) if seen], 6)


@pytest.mark.sampled(8)
@pytest.mark.slow
@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_generation_with_other_libraries(backend, tmp_path):
    pytest.importorskip(backend)
    theirs = model()
    even_out(theirs)
    theirs.save_pretrained(tmp_path)
    ids = nt.tensor([[3, 1, 4], [1, 5, 9]], "batch seq")
    first, other = (transformer.load(tmp_path, backend=library) for library in ("numpy", backend))
    expected = first.generate(ids, 9, stop=[]).to_array("batch seq").tolist()
    assert other.generate(ids.to(backend), 9, stop=[]).tolist("batch seq") == expected


def test_tokens_are_sampled_and_streamed(tmp_path):
    ours = loaded(model(), tmp_path)
    ids = nt.tensor([[3, 1, 4], [1, 5, 9]], "batch seq")
    options = {"temperature": 0.9, "top_k": 9, "seed": 3, "stop": []}
    tokens = ours.generate(ids, 5, **options).tolist("seq batch")
    assert [token.tolist("batch") for token in ours.stream(ids, 5, **options)] == tokens
    stop = tokens[1]
    assert not set(stop) & set(tokens[0])
    ended = ours.generate(ids, 5, **{**options, "stop": stop})
    assert ended.tolist("seq batch") == tokens[: ended.sizes["seq"]] and ended.sizes["seq"] <= 2


def test_a_token_costs_the_same_at_any_length(tmp_path):
    """What a step is given and gives has the same sizes after a short and after a long prompt, and no axis of the prompt."""
    ours = loaded(model(), tmp_path)
    names = [f"{name}^{layer}" for name in ("rest", "last") for layer in (1, 2)]
    after = [ours.evaluate(tuple(names), nt.tensor([5] * length, "seq")) for length in (4, 400)]
    sizes = [[tensor.sizes for tensor in tensors] for tensors in after]
    assert sizes[0] == sizes[1] and "seq" not in {axis for size in sizes[0] for axis in size}
    compiled = ours._step()["now"].compile()
    before = {f"{name}^{layer}": after[1][position] for position, (name, layer) in enumerate(
        (name, layer) for name in ("edge", "start") for layer in (1, 2))}  # fmt: skip
    compiled(values={**ours.parameters, **before, "ids": nt.tensor([5], "seq")}, sizes=ours.sizes)
    assert max(largest_arrays(str(compiled.plan))) == 24 * 12  # the weights of a map


def largest_arrays(plan):
    """The numbers of elements of the results in a plan."""
    shapes = re.findall(r"ℝ\^\{(.*)\}$", plan, re.MULTILINE)
    return [math.prod(int(size) for size in re.findall(r"\[(\d+)\]", shape)) for shape in shapes]


def test_the_scan_is_linear_in_the_length(tmp_path):
    """Counted in the elements of all arrays of a plan: twice the tokens make twice as many, but for what is constant."""
    ours = loaded(model(), tmp_path)
    totals: list[int] = []
    for length in (100, 200, 400):
        compiled = ours.formula["logits"].compile()
        compiled(values={**ours.parameters, "ids": nt.tensor([5] * length, "seq")}, sizes=ours.sizes)
        plan = str(compiled.plan)
        assert "loop" in plan
        totals.append(sum(largest_arrays(plan)))
    assert 0 < totals[2] - totals[1] <= 2.01 * (totals[1] - totals[0])


def test_a_cache_of_keys_is_refused_in_a_sentence(tmp_path):
    ours = loaded(model(), tmp_path)
    with pytest.raises(nt.NotationError, match="Mamba has no keys and values to cache, but a state"):
        ours.module(cache=True)
    module = ours.module()
    ids = numbers(np.random.default_rng(3), 2, 9, below=23)
    assert distance(ours(named(ids, "batch seq")), module(ids), LOGITS) < CLOSE
