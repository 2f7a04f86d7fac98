"""How the next token is chosen, against the logits warpers of `transformers`; streams; and stop strings."""

import itertools

import numpy as np
import pytest
from peers import torch, transformers

import namedtensor as nt
from transformer import GPT2, EncoderDecoder
from transformer.pretrained.sampling import Sampling, filter_logits

SIZES = {"L": 1, "chans": 6, "heads": 2, "key": 3, "val": 3, "hidden": 5, "vocab": 11, "place": 40}
IDS = nt.tensor([[1, 2, 3], [4, 5, 6]], "batch seq")
WARPERS = transformers.generation.logits_process


@pytest.fixture(scope="module")
def model():
    model = GPT2.init(3, SIZES)
    return model.replace(E=3 * model.parameters["E"] / model.parameters["E"].std(axis=("vocab", "chans")))


def warped(logits, temperature, top_k, top_p):
    """The logits as transformers filters them."""
    warpers = [WARPERS.TemperatureLogitsWarper(temperature)]
    warpers += [WARPERS.TopKLogitsWarper(top_k)] if top_k else []
    warpers += [WARPERS.TopPLogitsWarper(top_p)] if top_p else []
    scores = torch.from_numpy(logits)
    for warper in warpers:
        scores = warper(None, scores)
    return scores.numpy()


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize(
    "temperature, top_k, top_p", itertools.product([0.3, 1.0, 2.5], [None, 1, 4, 99], [None, 0.001, 0.5, 0.9, 1.0])
)
def test_the_filters_are_those_of_transformers(temperature, top_k, top_p, backend):
    logits = np.random.default_rng(0).normal(0, 2, (5, 17))
    now = nt.tensor(torch.from_numpy(logits) if backend == "torch" else logits, "batch vocab")
    scores = np.asarray(filter_logits(now, Sampling(temperature, top_k, top_p)).to_array("batch vocab"))
    expected = warped(logits, temperature, min(top_k, 17) if top_k else None, top_p)
    assert (np.isneginf(scores) == np.isneginf(expected)).all()
    finite = np.isfinite(expected)
    assert np.allclose(scores[finite], expected[finite], rtol=1e-12)


def test_tokens_of_a_nucleus_are_drawn_by_their_probabilities(model):
    logits = model(IDS[{"batch": 0}]).to_array("seq vocab")[-1]
    scores = warped(logits[None], 1.5, 6, 0.8)[0]
    shares = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    draws = 4000
    many = nt.tensor(np.tile([1, 2, 3], (draws, 1)), "batch seq")
    tokens = model.generate(many, 1, temperature=1.5, top_k=6, top_p=0.8, seed=2).to_array("batch seq")[:, 0]
    counts = np.bincount(tokens.astype(int), minlength=11) / draws
    assert (np.abs(counts - shares) <= 5 * np.sqrt(shares * (1 - shares) / draws)).all() and (shares > 0).sum() > 1


def test_a_nucleus_of_one_token_is_greedy(model):
    greedy = model.generate(IDS, 6).tolist("batch seq")
    assert model.generate(IDS, 6, temperature=1.0, top_p=1e-9).tolist("batch seq") == greedy


# ------------------------------------------------------------------------------------------------------- streams
def test_a_stream_gives_the_tokens_of_generate(model):
    options = {"temperature": 1.0, "top_p": 0.9, "seed": 4}
    tokens = list(model.stream(IDS, 5, **options))
    assert all(token.axes == ("batch",) for token in tokens)
    assert nt.stack(*tokens, axis="seq").tolist("seq batch") == model.generate(IDS, 5, **options).tolist("seq batch")


def test_a_stream_computes_no_more_than_is_asked_of_it(model, monkeypatch):
    from transformer.pretrained import generation

    computed = []
    steps = generation.steps
    monkeypatch.setattr(
        type(model), "next_logits", lambda *given: (computed.append(1) or logits for logits in steps(*given))
    )
    stream = model.stream(IDS, 20)
    assert not computed
    next(stream), next(stream)
    assert len(computed) == 2


def test_a_stream_of_a_decoder_goes_on_with_its_source():
    sizes = {"N": 1, "L": 1, "chans": 4, "heads": 2, "key": 2, "val": 2, "hidden": 8, "vocab": 9}
    translator = EncoderDecoder.init(0, sizes)
    source = nt.tensor([[1, 2, 3], [4, 5, 6]], "batch source")
    tokens = list(translator.stream(source, 4, start=0))
    assert nt.stack(*tokens, axis="seq").tolist("batch seq") == translator.generate(source, 4, start=0).tolist(
        "batch seq"
    )


# --------------------------------------------------------------------------------------------------- stop strings
def letters(tokens):
    return "".join("abcdefghijk"[token] for token in tokens)


def stopped(row, strings):
    """A sequence up to the token that completes a stop string, and padding."""
    for end in range(1, len(row) + 1):
        if any(string in letters(row[:end]) for string in strings):
            return row[:end] + [0] * (len(row) - end)
    return row


@pytest.mark.parametrize("ids, axes", [(IDS, "batch seq"), (IDS[{"batch": 0}], "seq")])
def test_a_sequence_ends_where_its_text_holds_a_stop_string(model, ids, axes):
    free = model.generate(ids, 12, temperature=40.0, seed=5).tolist(axes)
    rows = free if axes == "batch seq" else [free]
    strings = [letters(rows[0][3:5]), letters(rows[-1][6:7])]
    tokens = model.generate(ids, 12, temperature=40.0, seed=5, stop_strings=strings, decode=letters).tolist(axes)
    expected = [stopped(row, strings) for row in rows]
    length = max(
        len(row) - [*reversed(row)].index(next((token for token in reversed(row) if token), 0)) for row in expected
    )
    assert [row[:length] for row in (tokens if axes == "batch seq" else [tokens])] == [row[:length] for row in expected]
    assert expected != rows


def test_a_stop_string_and_a_stop_token(model):
    free = model.generate(IDS, 12, temperature=40.0, seed=5).tolist("batch seq")
    stop = next(token for token in free[1] if token not in free[0][:3])
    string, last = letters(free[0][:2]), free[1].index(stop)
    tokens = model.generate(
        IDS, 12, temperature=40.0, seed=5, stop=stop, stop_strings=string, decode=letters
    ).tolist("batch seq")  # fmt: skip
    length = max(2, last + 1)
    assert tokens[0] == (free[0][:2] + [stop] * 12)[:length]
    assert tokens[1] == (free[1][: last + 1] + [stop] * 12)[:length] and len(set(free[1])) > 3


WRONG = {
    "a nucleus of none": ({"temperature": 1.0, "top_p": 0.0}, "top_p must be a number above 0 and at most 1, got 0.0"),
    "a nucleus of more than all": ({"temperature": 1.0, "top_p": 1.5}, "top_p must be a number above 0 and at most 1"),
    "a nucleus without a temperature": ({"top_p": 0.5}, "top_p= without a temperature, which is 0"),
    "the largest without a temperature": ({"top_k": 5}, "top_k= without a temperature, which is 0"),
    "no text of tokens": ({"stop_strings": "x"}, "stop_strings need decode=, which makes a text of tokens"),
    "an empty string": ({"stop_strings": [""], "decode": letters}, "stop_strings must be texts of at least one character"),
    "no text": ({"stop_strings": [3], "decode": letters}, "stop_strings must be texts"),
    "no tokens": ({"max_new_tokens": 0}, "max_new_tokens must be a number from 1, got 0"),
}  # fmt: skip


@pytest.mark.parametrize("options, says", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("method", ["generate", "stream"])
def test_a_wrong_option_is_refused_before_the_first_token(model, method, options, says):
    with pytest.raises(nt.NotationError) as caught:
        getattr(model, method)(IDS, **options)
    assert says in str(caught.value)
