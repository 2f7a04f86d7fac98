"""Folders of Hugging Face: what is read, and what is refused before anything is made."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from peers import drawn, torch, transformers

import namedtensor as nt
import transformer

CONFIG = {"vocab_size": 23, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 7,
          "max_position_embeddings": 11}  # fmt: skip
IDS = nt.tensor([[0, 5, 2], [4, 1, 22]], "batch seq")
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"


@pytest.fixture(scope="module")
def model():
    return drawn(transformers.BertModel, transformers.BertConfig(**CONFIG))


@pytest.fixture
def folder(model, tmp_path):
    model.save_pretrained(tmp_path)
    return tmp_path


@pytest.fixture
def parts(model, tmp_path):
    model.save_pretrained(tmp_path, max_shard_size="4KB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) >= 2 and not (tmp_path / WEIGHTS).exists()
    return tmp_path


def refused(folder):
    """What loading says, the folder's own path left out."""
    with pytest.raises(nt.NotationError) as caught:
        transformer.load(folder)
    return str(caught.value).replace(f"{folder}/", "")


def changed(folder, *without, **changes):
    path = folder / "config.json"
    config = {name: value for name, value in json.loads(path.read_text()).items() if name not in without}
    path.write_text(json.dumps({**config, **changes}))


def rewritten(folder, change):
    from safetensors.torch import load_file, save_file

    arrays = load_file(folder / WEIGHTS)
    change(arrays)
    save_file(arrays, folder / WEIGHTS)


# ---------------------------------------------------------------------------------------------------- what is read
def test_a_file_in_parts_is_the_file_whole(folder, tmp_path_factory, model):
    apart = tmp_path_factory.mktemp("parts")
    model.save_pretrained(apart, max_shard_size="4KB")
    one, several = transformer.load(folder), transformer.load(apart)
    assert list(one.parameters) == list(several.parameters)
    assert nt.allclose(one(IDS), several(IDS), rtol=0, atol=0)


def test_the_path_may_be_a_text_or_a_path(folder):
    assert transformer.load(str(folder))._about == transformer.load(Path(folder))._about


def test_the_config_is_what_the_file_says(folder):
    assert transformer.load(folder).config == json.loads((folder / "config.json").read_text())


def test_the_parameters_are_what_the_file_holds(folder, model):
    loaded = transformer.load(folder)
    total = sum(parameter.numel() for parameter in model.parameters())
    tensors = [value for value in loaded.parameters.values() if isinstance(value, nt.NamedTensor)]
    assert sum(value.array.size for value in tensors) == total
    query = loaded.parameters["W^{2,Q}"].merge(out=("heads", "key")).to_array("out chans")
    assert (query == model.encoder.layer[1].attention.self.query.weight.detach().numpy()).all()
    assert {str(value.array.dtype) for value in tensors} == {"float32"}


def test_the_parameters_lie_in_one_piece_of_memory(folder):
    parameters = transformer.load(folder).parameters.values()
    arrays = [value.array for value in parameters if isinstance(value, nt.NamedTensor)]
    whole = arrays[0]
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    assert type(whole) is np.ndarray and all(np.may_share_memory(array, whole) for array in arrays)
    assert not any(np.shares_memory(*pair) for pair in combinations(arrays, 2))
    assert all(array.strides[-1] == array.itemsize for array in arrays)
    assert whole.nbytes < sum(array.nbytes for array in arrays) + 64 * (len(arrays) + 2)


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_for_other_libraries_each_parameter_is_dense(folder, backend):
    pytest.importorskip(backend)
    parameters = transformer.load(folder).pack(backend).parameters.values()
    for array in (value.array for value in parameters if isinstance(value, nt.NamedTensor)):
        assert array.flags.c_contiguous and array.__array_interface__["data"][0] % 64 == 0


LAST = {  # the axes that lie last: for NumPy those of the longer side of a matrix, for the others those that are summed over
    "numpy": {"E": "chans", "W^{2,Q}": "heads key", "W^{2,V}": "heads val", "W^{2,O}": "chans", "W^{1,1}": "hidden", "W^{1,2}": "hidden"},
    "torch": {"E": "chans", "W^{2,Q}": "chans", "W^{2,V}": "chans", "W^{2,O}": "heads val", "W^{1,1}": "chans", "W^{1,2}": "hidden"},
}  # fmt: skip


@pytest.mark.parametrize("backend", LAST)
def test_the_axes_that_lie_last_in_memory(tmp_path, backend):
    """GPT-2's file has those first that a product sums over."""
    transformers = pytest.importorskip("transformers")
    sizes = {"n_layer": 2, "n_embd": 6, "n_head": 2, "vocab_size": 11, "n_positions": 5}
    transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes)).save_pretrained(tmp_path)
    model = transformer.load(tmp_path, backend)
    parameters = model.to("numpy").parameters
    for name, axes in LAST[backend].items():
        local = parameters[name].axes
        order = [local[item] for item in np.argsort(parameters[name].array.strides)[::-1]]
        assert order[-len(axes.split()) :] == axes.split(), name


def test_a_model_for_numpy_is_dense_on_another_library(folder):
    torch = pytest.importorskip("torch")
    model = transformer.load(folder)
    for value in model.to("torch").parameters.values():
        if isinstance(value, nt.NamedTensor):
            assert torch.empty_like(value.array).stride() == value.array.stride()  # which is dense


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
def test_the_parameters_are_of_the_backend_and_dtype_asked_for(folder, backend, dtype):
    if backend == "jax":
        pytest.importorskip("jax")
        dtype = "float16"  # 64 bits are off there unless they are asked for
    array = transformer.load(folder, backend=backend, dtype=dtype).parameters["E"].array
    assert type(array).__module__.startswith(backend) and str(array.dtype).endswith(dtype)


def test_an_unknown_backend_is_refused(folder):
    with pytest.raises(nt.NotationError) as caught:
        transformer.load(folder, backend="tensorflow")
    assert caught.value.message == "unknown backend 'tensorflow'"


# -------------------------------------------------------------------------------------------------- what is refused
def test_an_array_is_missing(folder):
    rewritten(folder, lambda arrays: arrays.pop("encoder.layer.1.output.dense.bias"))
    assert refused(folder).splitlines()[1:] == ["  missing keys: encoder.layer.1.output.dense.bias"]


def test_an_array_is_left_over(folder):
    rewritten(folder, lambda arrays: arrays.update({"encoder.layer.1.adapter.weight": torch.zeros(2)}))
    assert refused(folder).splitlines()[1:] == ["  unexpected keys: encoder.layer.1.adapter.weight"]


def test_a_name_stands_there_twice(folder):
    rewritten(folder, lambda arrays: arrays.update({"bert.pooler.dense.bias": torch.zeros(12)}))
    assert refused(folder).splitlines()[1:] == ["  unexpected keys: pooler.dense.bias"]


def test_half_of_a_part_is_no_part(folder):
    rewritten(folder, lambda arrays: arrays.pop("pooler.dense.bias"))
    assert refused(folder).splitlines()[1:] == ["  missing keys: pooler.dense.bias"]


def test_the_config_says_more_layers_than_there_are(folder):
    changed(folder, num_hidden_layers=3)
    lines = refused(folder).splitlines()
    assert lines[0].endswith("do not match BERT") and "encoder.layer.2.attention.self.query.weight" in lines[1]


def test_the_config_says_fewer_layers_than_there_are(folder):
    changed(folder, num_hidden_layers=1)
    assert "unexpected keys: encoder.layer.1.attention" in refused(folder)


def test_an_array_has_other_sizes(folder):
    rewritten(folder, lambda arrays: arrays.update({"encoder.layer.1.output.dense.weight": torch.zeros(7, 12)}))
    assert refused(folder) == (
        "shape error 317: encoder.layer.1.output.dense.weight has shape 7 × 12, "
        "but W^{2,2} of BERT is stored as chans[12] × hidden[7]\n"
        "  the expected sizes come from config.json"
    )


def test_an_array_has_other_axes(folder):
    rewritten(folder, lambda arrays: arrays.update({"pooler.dense.bias": torch.zeros(12, 1)}))
    assert "pooler.dense.bias has shape 12 × 1, but b^{pool} of BERT is stored as out[12]" in refused(folder)


CONFIGS = {
    "a vocabulary of another size": (
        {"vocab_size": 24}, "embeddings.word_embeddings.weight has shape 23 × 12, but E of BERT is stored as vocab[24] × chans[12]"),
    "heads that do not divide the features": (
        {"num_attention_heads": 5}, "W^{1,Q} of BERT is stored as heads·key[10] × chans[12]"),
    "no heads": ({"num_attention_heads": 0}, "config.json has sizes that are not positive integers"),
    "a size that is a text": ({"hidden_size": "12"}, "config.json has hidden_size = '12', but a number is expected"),
    "a size that is half": ({"hidden_size": 12.5}, "config.json has hidden_size = 12.5, but a number is expected"),
    "a size below 0": ({"vocab_size": -1}, "config.json has vocab_size = -1, but a number is expected"),
    "no constant": ({"layer_norm_eps": None}, "config.json has layer_norm_eps = None, but a number is expected"),
    "another model": (
        {"model_type": "bartender"}, "unsupported model_type 'bartender'"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), CONFIGS.values(), ids=CONFIGS)
def test_a_config_that_does_not_fit(folder, changes, message):
    changed(folder, **changes)
    assert message in refused(folder)


@pytest.mark.parametrize("key", ["hidden_size", "num_hidden_layers", "layer_norm_eps"])
def test_a_config_that_lacks_a_key(folder, key):
    changed(folder, key)
    assert refused(folder) == f"value error 409: config.json has no {key}"


def test_an_unknown_model_names_those_that_are_known_and_the_way_to_read_others(folder):
    changed(folder, model_type="bartender")
    _, supported, hint = refused(folder).splitlines()
    assert supported.startswith("  supported: ") and all(kind in supported for kind in ("bert", "gpt2", "vit"))
    assert hint.startswith("  hint: read the formulas of any other model from its code: nt.from_torch(")


def test_a_config_without_a_model_type(folder):
    changed(folder, "model_type")
    assert refused(folder).startswith("value error 409: config.json has no model_type\n")


TEXTS = {
    "no JSON": ("{", "cannot read config.json: it is not valid JSON"),
    "a list": ("[1]", "cannot read config.json: expected an object"),
    "no text": (b"\xff\xfe\x00", "cannot read config.json: it is not valid JSON"),
}


@pytest.mark.parametrize(("text", "message"), TEXTS.values(), ids=TEXTS)
def test_a_config_that_cannot_be_read(folder, text, message):
    (folder / "config.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert refused(folder).startswith(f"value error 409: {message}")


@pytest.mark.parametrize("name", ["config.json", WEIGHTS])
def test_a_file_is_missing(folder, name):
    (folder / name).unlink()
    assert refused(folder) == f"value error 409: cannot read {name}: no such file or directory"


CUTS = {
    0: "it is not a safetensors file",
    7: "it is not a safetensors file",
    200: "it is cut short in its head",
    -5: "it is cut short: pooler.dense.weight ends 5 bytes after the end of the file",
}


@pytest.mark.parametrize(("length", "message"), CUTS.items())
def test_a_file_cut_short(folder, length, message):
    whole = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(whole[:length])
    assert refused(folder) == f"value error 409: cannot read {WEIGHTS}: {message}"


def test_no_length_of_a_file_but_its_own_is_read(folder):
    whole = (folder / WEIGHTS).read_bytes()
    generator = np.random.default_rng(0)
    for length in generator.integers(0, len(whole), 40):
        (folder / WEIGHTS).write_bytes(whole[:length])
        assert f"cannot read {WEIGHTS}" in refused(folder)


def test_nothing_is_read_before_all_is_compared(folder, monkeypatch):
    """The last array is wrong; no number of the first is read."""
    rewritten(folder, lambda arrays: arrays.update({"pooler.dense.weight": torch.zeros(3, 12)}))

    def read(*_):
        raise AssertionError("an array was read")

    monkeypatch.setattr(nt.TensorFile, "__getitem__", read)
    assert "W^{pool} of BERT is stored as out[12] × chans[12]" in refused(folder)


# ---------------------------------------------------------------------------------------------------- files in parts
def one_part(folder):
    return sorted(folder.glob("model-*.safetensors"))[1]


def index_of(folder):
    return json.loads((folder / INDEX).read_text())["weight_map"]


def test_a_part_is_missing(parts):
    name = one_part(parts).name
    (parts / name).unlink()
    assert refused(parts) == f"value error 409: cannot read {name}: no such file or directory"


def test_a_part_is_cut_short(parts):
    part = one_part(parts)
    part.write_bytes(part.read_bytes()[:-3])
    assert refused(parts).startswith(f"value error 409: cannot read {part.name}: it is cut short")


def test_the_index_is_wrong(parts):
    places = index_of(parts)
    name = next(name for name, position in places.items() if position != one_part(parts).name)
    (parts / INDEX).write_text(json.dumps({"weight_map": {**places, name: one_part(parts).name}}))
    assert refused(parts) == f"value error 409: {one_part(parts).name} is missing {name}, listed in {INDEX}"


def test_the_index_lacks_an_array(parts):
    places = index_of(parts)
    places.pop("pooler.dense.bias")
    (parts / INDEX).write_text(json.dumps({"weight_map": places}))
    assert refused(parts).splitlines()[1:] == ["  missing keys: pooler.dense.bias"]


@pytest.mark.parametrize("index", [{}, {"weight_map": []}, {"weight_map": {"E": 3}}, {"weight_map": {"E": "../other"}}])
def test_an_index_that_says_no_files(parts, index):
    (parts / INDEX).write_text(json.dumps(index))
    assert refused(parts) == (
        f"value error 409: cannot read {INDEX}: its weight_map must name a file of the folder for each array"
    )


def test_parts_that_are_replaced_while_they_are_opened(parts, monkeypatch):
    open_file = nt.TensorFile
    last = sorted(parts.glob("model-*.safetensors"))[-1]

    def open_and_replace(path):
        file = open_file(path)
        copy = last.with_name("copy")
        copy.write_bytes(last.read_bytes())
        copy.replace(last)
        return file

    monkeypatch.setattr(nt, "TensorFile", open_and_replace)
    assert "was changed while it was opened" in refused(parts)
