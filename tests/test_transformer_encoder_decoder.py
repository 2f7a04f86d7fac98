"""The encoder-decoder Transformer against torch.nn, against Marian of `transformers`, and against plain loops."""

import inspect
import json
import math

import numpy as np
import pytest
from peers import CLOSE, distance, drawn, loaded, named, numbers, torch, transformers

import namedtensor as nt
import transformer
from namedtensor.initializers import Normal
from namedtensor.programs.entry_points import EntryPoints
from transformer import EncoderDecoder
from transformer.pretrained import generation

STATES, LOGITS = "batch seq chans", "batch seq vocab"


def relative(actual, expected):
    return float(np.abs(actual - expected).max() / np.abs(expected).max())


# ---------------------------------------------------------------------------------------------------- torch.nn
SHAPES = [(12, 3, 2, 3, 7), (6, 1, 1, 1, 3), (8, 8, 3, 1, 9)]  # chans, heads, blocks of encoder and decoder, hidden


def of_torch(chans, heads, encoders, decoders, hidden, **options):
    """A torch.nn.Transformer with every parameter drawn, and embeddings for it."""
    torch.manual_seed(0)
    model = torch.nn.Transformer(chans, heads, encoders, decoders, hidden, dropout=0.0, batch_first=True, **options)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, 0.1, 0.3)
    return model.eval(), torch.randn(17, chans)


def as_formulas(model, embedding, heads, **options):
    state = {name: array.numpy() for name, array in model.state_dict().items()}
    return EncoderDecoder.from_torch(state, embedding.numpy(), heads, **options)


def vectors(chans, seed=1):
    """A source and a target, and which of their places are real."""
    torch.manual_seed(seed)
    source_mask, mask = torch.ones(4, 6, dtype=torch.int64), torch.ones(4, 5, dtype=torch.int64)
    source_mask[1, 4:] = 0
    source_mask[2, :2] = 0
    mask[1, 3:] = 0
    return torch.randn(4, 6, chans), torch.randn(4, 5, chans), source_mask, mask


def states(ours, source, target, source_mask=None, mask=None):
    tensors = {"X^0": named(source, "batch source chans"), "Y^0": named(target, STATES)}
    tensors |= {"source_mask": named(source_mask, "batch source")} if source_mask is not None else {}
    tensors |= {"mask": named(mask, "batch seq")} if mask is not None else {}
    return ours.evaluate("states", **tensors)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_the_core_is_that_of_torch(shape, activation):
    theirs, embedding = of_torch(*shape, activation=activation)
    ours = as_formulas(theirs, embedding, shape[1], activation=activation)
    source, target, source_mask, mask = vectors(shape[0])
    causal = torch.nn.Transformer.generate_square_subsequent_mask(5)
    with torch.no_grad():
        plain = theirs(source, target, tgt_mask=causal)
        hidden = source_mask == 0
        padded = theirs(
            source, target, tgt_mask=causal, src_key_padding_mask=hidden, memory_key_padding_mask=hidden,
            tgt_key_padding_mask=torch.zeros(4, 5).masked_fill(mask == 0, -torch.inf),
        )  # fmt: skip
    assert distance(states(ours, source, target), plain, STATES) < CLOSE
    array, real = states(ours, source, target, source_mask, mask).to_array(STATES), mask.bool().numpy()
    assert relative(array[real], padded.numpy()[real]) < CLOSE


def test_the_stacks_are_those_of_torch_without_their_last_norms():
    theirs, embedding = of_torch(*SHAPES[0])
    theirs.encoder.norm = theirs.decoder.norm = None
    ours = as_formulas(theirs, embedding, 3)
    source, target, *_ = vectors(12)
    causal = torch.nn.Transformer.generate_square_subsequent_mask(5)
    expected = theirs.decoder(target, theirs.encoder(source), tgt_mask=causal)
    assert distance(states(ours, source, target), expected, STATES) < CLOSE
    assert "γ^{enc}" not in ours.parameters
    for block in (1, 2):  # each block alone
        result = ours.evaluate(f"X^{block}", **{"X^0": named(source, "batch source chans")})
        source_after = torch.nn.TransformerEncoder(theirs.encoder.layers[0], 1, enable_nested_tensor=False)
        source_after.layers = theirs.encoder.layers[:block]
        assert distance(result, source_after(source), "batch source chans") < CLOSE


PRE_NORM = inspect.cleandoc("""
    n^{enc,n} = LayerNorm(X^{n-1}; γ^{enc,n,1}, β^{enc,n,1}) for n = 1, …, N
    Q^{enc,n} = n^{enc,n} ⊙_{chans} W^{enc,n,Q} + b^{enc,n,Q} for n = 1, …, N
    K^{enc,n} = [n^{enc,n} ⊙_{chans} W^{enc,n,K} + b^{enc,n,K}]_{source→source'} for n = 1, …, N
    V^{enc,n} = [n^{enc,n} ⊙_{chans} W^{enc,n,V} + b^{enc,n,V}]_{source→source'} for n = 1, …, N
    T^{enc,n} = X^{n-1} + Z^{enc,n} for n = 1, …, N
    m^{enc,n} = LayerNorm(T^{enc,n}; γ^{enc,n,2}, β^{enc,n,2}) for n = 1, …, N
    F^{enc,n} = FFN(m^{enc,n}; W^{enc,n,1}, b^{enc,n,1}, W^{enc,n,2}, b^{enc,n,2}) for n = 1, …, N
    X^n = T^{enc,n} + F^{enc,n} for n = 1, …, N
""")


def test_norms_before_what_they_norm_by_other_definitions():
    theirs, embedding = of_torch(*SHAPES[0], norm_first=True)
    ours = as_formulas(theirs, embedding, 3, definitions=PRE_NORM)
    source, _, source_mask, _ = vectors(12)
    tensors = {"X^0": named(source, "batch source chans"), "source_mask": named(source_mask, "batch source")}
    expected = theirs.encoder(source, src_key_padding_mask=source_mask == 0).detach().numpy()
    real = source_mask.bool().numpy()
    assert relative(ours.evaluate("H", **tensors).to_array("batch source chans")[real], expected[real]) < CLOSE


def test_a_state_dict_that_does_not_fit_is_refused():
    theirs, embedding = of_torch(*SHAPES[0])
    state, embedding = {name: array.numpy() for name, array in theirs.state_dict().items()}, embedding.numpy()
    lacking = {name: array for name, array in state.items() if name != "decoder.layers.2.multihead_attn.in_proj_bias"}
    with pytest.raises(nt.NotationError) as caught:
        EncoderDecoder.from_torch({**lacking, "further": embedding}, embedding, 3)
    assert "missing keys: decoder.layers.2.multihead_attn.in_proj_bias" in str(caught.value)
    assert "unexpected keys: further" in str(caught.value)
    with pytest.raises(nt.NotationError, match="W.*is stored as three·heads·key"):
        EncoderDecoder.from_torch({**state, "encoder.layers.0.self_attn.in_proj_weight": embedding}, embedding, 3)
    with pytest.raises(nt.NotationError, match=r"chans \(12\) is not divisible by heads \(5\)"):
        EncoderDecoder.from_torch(state, embedding, 5)
    with pytest.raises(nt.NotationError, match="unsupported activation 'wild'"):
        EncoderDecoder.from_torch(state, embedding, 3, activation="wild")


# ------------------------------------------------------------------------------------------------- what the paper says
def test_places_are_those_of_the_paper():
    """PE(pos, 2i) = sin(pos / 10000^(2i/d)) and PE(pos, 2i+1) = cos(pos / 10000^(2i/d)), all counted from 0."""
    ours = small_paper()
    array = ours.formula["Position"](nt.tensor([0.0, 1.0, 7.0, 300.0], "seq"), sizes={"chans": 6}).to_array("seq chans")
    for row, position in zip(array, (0, 1, 7, 300)):
        for i in range(3):
            angle = position / 10000 ** (2 * i / 6)
            assert (row[2 * i], row[2 * i + 1]) == pytest.approx((math.sin(angle), math.cos(angle)), abs=1e-12)


def small_paper(seed=0):
    sizes = {"N": 2, "L": 2, "chans": 6, "heads": 2, "key": 3, "val": 4, "hidden": 7, "vocab": 11}
    return EncoderDecoder.init(seed, sizes, initializers={"β": Normal("0.3")})


def test_one_embedding_serves_source_target_and_logits():
    ours, tokens = small_paper(), nt.tensor([4, 2], "source")
    rows = ours.parameters["E"].to_array("vocab chans")
    assert np.allclose(ours.evaluate("X^0", tokens, nt.tensor([1], "seq")).to_array("source chans")[0],
                       math.sqrt(6) * rows[4] + [0, 1, 0, 1, 0, 1])  # fmt: skip
    assert np.allclose(ours.evaluate("Y^0", tokens, nt.tensor([3], "seq")).to_array("seq chans")[0],
                       math.sqrt(6) * rows[3] + [0, 1, 0, 1, 0, 1])  # fmt: skip
    inputs = tokens, nt.tensor([3, 1], "seq")
    expected = ours.evaluate("states", *inputs).to_array("seq chans") @ rows.T
    assert np.allclose(ours(*inputs).to_array("seq vocab"), expected)


def test_a_target_sees_no_later_token_and_a_source_no_padding():
    ours = small_paper()
    source, mask = nt.tensor([4, 2, 9, 9], "source"), nt.tensor([1, 1, 0, 0], "source")
    whole = ours(source, nt.tensor([3, 1, 7, 5], "seq"), mask)
    part = ours(source[{"source": slice(0, 2)}], nt.tensor([3, 1], "seq"))
    assert nt.allclose(whole[{"seq": slice(0, 2)}], part)
    assert not nt.allclose(ours(source, nt.tensor([3, 1], "seq")), part)


# ------------------------------------------------------------------------------------------------------- translation
def without_memory(model, source, start, count, source_mask=None):
    """Each token by a call on all before it."""
    ids = np.full((len(source), 1), start)
    for _ in range(count):
        logits = model(named(source, "batch source"), nt.tensor(ids, "batch seq"), source_mask=source_mask)
        ids = np.concatenate([ids, logits.to_array(LOGITS)[:, -1:].argmax(-1)], 1)
    return ids[:, 1:].tolist()


def restless(seed=1):
    """A model that likes the tokens that it has not just seen, so that it does not stay with one."""
    model = small_paper(seed)
    return EncoderDecoder(model.parameters, model.sizes, "logits = -states ⊙_{chans} E")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("padded", [False, True])
def test_a_target_by_memory_is_that_without(padded):
    model = restless()
    source = numbers(np.random.default_rng(0), 4, 5, below=11)
    mask = nt.tensor(np.tril(np.ones((4, 5), dtype=int), 1), "batch source") if padded else None
    tensor = model.generate(named(source, "batch source"), 15, mask, start=1)
    expected = without_memory(model, source, 1, 15, mask)
    assert tensor.to_array("batch seq").tolist() == expected and len(np.unique(expected)) > 2
    one = model.generate(named(source[2], "source"), 15, None if mask is None else mask[{"batch": 2}], start=1)
    assert one.to_array("seq").tolist() == expected[2]


def test_each_step_gives_the_logits_of_a_whole_call():
    """Whatever tokens are chosen, those unlikely too."""
    model, generator = small_paper(), np.random.default_rng(4)
    source, chosen = nt.tensor([[4, 2, 9], [1, 1, 5]], "batch source"), generator.integers(0, 11, (2, 8))
    whole = model(source, nt.tensor(chosen, "batch seq"))
    tokens = []
    begin, seen = nt.tensor(chosen[:, :1], "batch seq"), nt.tensor(np.ones((2, 1), dtype=int), "batch seq")
    inputs = begin, seen, seen - 1, tokens, 8, {"source": source}
    for index, logits in enumerate(generation.steps(model, *inputs)):
        assert nt.allclose(logits, whole[{"seq": index}])
        if index < 7:
            tokens.append(nt.tensor(chosen[:, index + 1], "batch"))
    assert index == 7


def test_teacher_forcing_gives_the_tokens_of_generation():
    model, source = restless(), nt.tensor([[4, 2, 9], [1, 1, 5]], "batch source")
    array = model.generate(source, 8, start=1).to_array("batch seq")
    target = np.concatenate([np.full((2, 1), 1), array[:, :-1]], 1)
    assert (model(source, nt.tensor(target, "batch seq")).to_array(LOGITS).argmax(-1) == array).all()


def test_the_encoder_runs_once(monkeypatch):
    model, source = small_paper(), nt.tensor([4, 2, 9], "source")
    inputs = []
    called = EntryPoints._slow_path

    def watched(self, arguments, values, *rest):
        inputs.append(set(values))
        return called(self, arguments, values, *rest)

    monkeypatch.setattr(EntryPoints, "_slow_path", watched)
    model.generate(source, 4, start=1)
    first, *steps = inputs
    assert "source" in first and len(steps) == 1  # whose plan later steps repeat
    assert all("source" not in step and "K^{cross,1}" in step for step in steps)


def test_with_what_a_target_begins_must_be_known():
    with pytest.raises(nt.NotationError, match=r"the start token of the target is missing(.|\n)*start=…"):
        small_paper().generate(nt.tensor([4], "source"), 2)


def test_kept_and_read_again(tmp_path):
    model = small_paper()
    model.save(tmp_path / "kept.safetensors")
    again = EncoderDecoder.load(tmp_path / "kept.safetensors")
    inputs = nt.tensor([4, 2], "source"), nt.tensor([1, 3], "seq")
    assert nt.allclose(again(*inputs), model(*inputs))


# ------------------------------------------------------------------------------------------------------------- Marian
MARIAN = {"vocab_size": 23, "d_model": 12, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 3,
          "decoder_attention_heads": 3, "encoder_ffn_dim": 7, "decoder_ffn_dim": 7, "max_position_embeddings": 60,
          "pad_token_id": 22, "decoder_start_token_id": 22, "eos_token_id": 0, "forced_eos_token_id": None}  # fmt: skip
CONFIGS = {
    "small": {},
    "scaled": {"scale_embedding": True, "activation_function": "swish", "d_model": 16, "encoder_attention_heads": 2,
               "decoder_attention_heads": 2},
    "heads of two": {"encoder_attention_heads": 6, "decoder_attention_heads": 6, "decoder_layers": 1},
}  # fmt: skip


def marian(**changes):
    model = drawn(transformers.MarianMTModel, transformers.MarianConfig(**{**MARIAN, **changes}))
    torch.nn.init.normal_(model.model.shared.weight)
    torch.nn.init.normal_(model.final_logits_bias, std=0.3)
    return model


def masks():
    right = torch.ones(3, 6, dtype=torch.int64)
    right[1, 4:] = 0
    right[2, 1:] = 0
    return {"no mask": None, "right padding": right, "left padding": right.flip(1)}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("changes", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("mask", masks().values(), ids=masks())
def test_marian_is_that_of_transformers(changes, mask, tmp_path):
    theirs = marian(**changes)
    ours = loaded(theirs, tmp_path)
    generator = np.random.default_rng(0)
    source, target = numbers(generator, 3, 6, below=22), numbers(generator, 3, 5, below=22)
    inputs = named(source, "batch source"), None if mask is None else named(mask, "batch source")
    expected = theirs(input_ids=source, attention_mask=mask, decoder_input_ids=target, output_attentions=True)
    assert distance(ours(inputs[0], named(target, "batch seq"), inputs[1]), expected.logits, LOGITS) < CLOSE
    looked = ours.evaluate("A^{cross,1}", inputs[0], named(target, "batch seq"), source_mask=inputs[1])
    assert distance(looked, expected.cross_attentions[0], "batch heads seq source") < CLOSE
    out = theirs.generate(source, attention_mask=mask, max_new_tokens=20, do_sample=False, num_beams=1)[:, 1:]
    result = ours.generate(inputs[0], 20, inputs[1])
    assert result.to_array("batch seq").tolist() == out.tolist()


REFUSED = [
    ({"share_encoder_decoder_embeddings": False}, "share_encoder_decoder_embeddings = False"),
    ({"encoder_attention_heads": 6}, "encoder_attention_heads = 6 and decoder_attention_heads = 3"),
    ({"decoder_ffn_dim": 9}, "encoder_ffn_dim = 7 and decoder_ffn_dim = 9"),
    ({"decoder_layers": 4}, "missing keys: decoder.layers.3."),
    ({"d_model": 15}, "is stored as"),
    ({"encoder_ffn_dim": None}, "has no encoder_ffn_dim"),
]


@pytest.mark.parametrize("changes, says", REFUSED, ids=[says[:30] for _, says in REFUSED])
def test_a_config_that_does_not_fit_is_refused(changes, says, tmp_path):
    marian().save_pretrained(tmp_path)
    about = json.loads((tmp_path / "config.json").read_text()) | changes
    (tmp_path / "config.json").write_text(json.dumps({key: value for key, value in about.items() if value is not None}))
    with pytest.raises(nt.NotationError) as caught:
        transformer.load(tmp_path)
    assert says in str(caught.value)
