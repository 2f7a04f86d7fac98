"""BERT as formulas against the library `transformers`."""

import json

import numpy as np
import pytest
from peers import CLOSE, distance, drawn, loaded, named, numbers, torch, transformers

import namedtensor as nt
import transformer
from transformer import BERT
from transformer.pretrained.model import ACTIVATIONS

SMALL = {"vocab_size": 23, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 7,
         "max_position_embeddings": 11}  # fmt: skip
CONFIGS = {
    "small": {},
    "one head": {"num_attention_heads": 1, "hidden_size": 5},
    "heads of one": {"num_attention_heads": 6, "hidden_size": 6, "intermediate_size": 31},
    "five layers": {"num_hidden_layers": 5},
    "one type": {"type_vocab_size": 1},
    "three types": {"type_vocab_size": 3, "layer_norm_eps": 0.3},
    "another activation": {"hidden_act": "relu"},
}
STATES = "batch seq chans"


def config(**changes):
    return transformers.BertConfig(**{**SMALL, **changes})


def inputs(about, seed=0, batch=3, seq=7):
    """Ids, a mask with padding at the end and one hole, types and positions."""
    generator = np.random.default_rng(seed)
    mask = torch.ones(batch, seq, dtype=torch.int64)
    mask[0, seq // 2 :] = 0
    mask[-1, 1] = 0
    return (
        numbers(generator, batch, seq, below=about.vocab_size), mask,
        numbers(generator, batch, seq, below=about.type_vocab_size),
        numbers(generator, batch, seq, below=about.max_position_embeddings),
    )  # fmt: skip


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    theirs = drawn(transformers.BertModel, config())
    return theirs, loaded(theirs, tmp_path_factory.mktemp("bert"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("changes", CONFIGS.values(), ids=CONFIGS)
def test_the_states_are_those_of_transformers(changes, tmp_path):
    theirs = drawn(transformers.BertModel, config(**changes))
    ours = loaded(theirs, tmp_path)
    ids, mask, types, positions = inputs(theirs.config)
    plain = theirs(ids)
    assert distance(ours(named(ids, "batch seq")), plain.last_hidden_state, STATES) < CLOSE
    assert distance(ours.evaluate("pooled", named(ids, "batch seq")), plain.pooler_output, "batch chans") < CLOSE
    full = theirs(ids, attention_mask=mask, token_type_ids=types, position_ids=positions)
    tensors = [named(item, "batch seq") for item in (ids, mask, types, positions)]
    assert distance(ours(*tensors), full.last_hidden_state, STATES) < CLOSE
    assert distance(ours.evaluate("pooled", *tensors), full.pooler_output, "batch chans") < CLOSE


@pytest.mark.parametrize("name", ["mask", "types", "positions"])
def test_each_optional_input_alone(small, name):
    theirs, ours = small
    ids, *rest = inputs(theirs.config, seed=1)
    value = dict(zip(("mask", "types", "positions"), rest))[name]
    key = {"mask": "attention_mask", "types": "token_type_ids", "positions": "position_ids"}[name]
    expected = theirs(ids, **{key: value}).last_hidden_state
    assert distance(ours(named(ids, "batch seq"), **{name: named(value, "batch seq")}), expected, STATES) < CLOSE


@pytest.mark.parametrize("seq", [1, 2, 11])
def test_a_sequence_of_any_length(small, seq):
    theirs, ours = small
    ids = numbers(np.random.default_rng(seq), 2, seq, below=23)
    assert distance(ours(named(ids, "batch seq")), theirs(ids).last_hidden_state, STATES) < CLOSE


def test_every_name_of_the_formulas_is_at_hand(small):
    theirs, ours = small
    ids, mask, *_ = inputs(theirs.config)
    expected = theirs(ids, attention_mask=mask, output_hidden_states=True, output_attentions=True)
    result = named(ids, "batch seq"), named(mask, "batch seq")
    for layer in range(3):
        assert distance(ours.evaluate(f"X^{layer}", *result), expected.hidden_states[layer], STATES) < CLOSE
    for layer in (1, 2):
        attention = ours.evaluate(f"A^{layer}", *result)
        assert distance(attention, expected.attentions[layer - 1], "batch heads seq memory") < CLOSE


def test_padding_changes_nothing(small):
    _, ours = small
    ids = nt.tensor([[3, 5, 8], [2, 2, 9]], "batch seq")
    padded = nt.tensor([[3, 5, 8, 0, 0], [2, 2, 9, 4, 1]], "batch seq")
    mask = nt.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 0, 0]], "batch seq")
    assert nt.allclose(ours(padded, mask)[{"seq": slice(0, 3)}], ours(ids), rtol=1e-5, atol=1e-6)


def test_any_further_axes(small):
    _, ours = small
    ids = np.random.default_rng(0).integers(0, 23, (2, 3, 4))
    whole = ours(nt.tensor(ids, "book page seq"))
    assert set(whole.axes) == {"book", "page", "seq", "chans"}
    one = ours(nt.tensor(ids[1, 2], "seq"))
    assert nt.allclose(whole[{"book": 1, "page": 2}], one, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_every_activation_is_that_of_transformers(name):
    x = torch.linspace(-12, 12, 97)
    expected = transformers.activations.ACT2FN[name](x)
    assert distance(nt.evaluate(ACTIVATIONS[name], x=named(x, "seq")), expected, "seq") < CLOSE


def test_a_file_without_a_pooler(tmp_path):
    torch.manual_seed(0)
    ours = loaded(transformers.BertModel(config(), add_pooling_layer=False), tmp_path)
    ids = nt.tensor([1, 2], "seq")
    assert "pooled" not in ours.formula and not [name for name in ours.parameters if "pool" in name]
    with pytest.raises(nt.NotationError) as caught:
        ours.evaluate("pooled", ids)
    assert str(caught.value) == "name error 201: this BERT has no pooled: its file holds no parameters of it"
    ours.save(tmp_path / "kept.safetensors")
    again = BERT.load(tmp_path / "kept.safetensors")
    assert again._about == ours._about and nt.allclose(again(ids), ours(ids))


def test_the_names_of_older_files(small, tmp_path):
    from safetensors.torch import load_file, save_file

    theirs, _ = small
    theirs.save_pretrained(tmp_path)
    old = {
        "bert." + name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
        for name, value in load_file(tmp_path / "model.safetensors").items()
    }
    save_file({**old, "bert.embeddings.position_ids": torch.arange(11)[None]}, tmp_path / "model.safetensors")
    ids = numbers(np.random.default_rng(3), 2, 5, below=23)
    ours = transformer.load(tmp_path)
    assert distance(ours(named(ids, "batch seq")), theirs(ids).last_hidden_state, STATES) < CLOSE


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_the_arrays_of_other_libraries(small, backend, tmp_path):
    pytest.importorskip(backend)
    theirs, ours = small
    ids, mask, *_ = inputs(theirs.config)
    theirs.save_pretrained(tmp_path)
    moved = transformer.load(tmp_path, backend=backend)
    if backend == "torch":
        tensors = nt.tensor(ids, "batch seq"), nt.tensor(mask, "batch seq")
    else:
        import jax.numpy as jnp

        tensors = tuple(nt.tensor(jnp.asarray(item.numpy()), "batch seq") for item in (ids, mask))
    result = moved(*tensors)
    assert type(result.array).__module__.startswith(backend)
    expected = theirs(ids, attention_mask=mask).last_hidden_state
    assert distance(result, expected, STATES) < CLOSE


def test_the_gradient_is_that_of_transformers(small, tmp_path):
    theirs, _ = small
    ids, mask, *_ = inputs(theirs.config)
    theirs.save_pretrained(tmp_path)
    ours = transformer.load(tmp_path, backend="torch")
    weight = ours.parameters["W^{1,Q}"].array.requires_grad_()
    ours(nt.tensor(ids, "batch seq"), nt.tensor(mask, "batch seq")).array.pow(3).sum().backward()
    theirs.zero_grad()
    theirs(ids, attention_mask=mask).last_hidden_state.pow(3).sum().backward()
    layer = theirs.encoder.layer[0].attention.self.query
    tensor = nt.tensor(weight.grad.numpy(), ours.parameters["W^{1,Q}"].axes).merge(out=("heads", "key"))
    assert distance(tensor, layer.weight.grad, "out chans") < 1e-4


def test_in_double_precision(small, tmp_path):
    theirs, _ = small
    theirs.save_pretrained(tmp_path)
    ids = numbers(np.random.default_rng(4), 2, 5, below=23)
    ours = transformer.load(tmp_path, dtype="float64")
    expected = transformers.BertModel.from_pretrained(tmp_path, dtype=torch.float64)(ids).last_hidden_state
    assert distance(ours(named(ids, "batch seq")), expected, STATES) < 1e-13


def test_half_precision_is_read(tmp_path):
    theirs = drawn(transformers.BertModel, config()).to(torch.bfloat16)
    ours = loaded(theirs, tmp_path)
    ids = numbers(np.random.default_rng(5), 2, 5, below=23)
    expected = theirs.to(torch.float32)(ids).last_hidden_state
    assert distance(ours(named(ids, "batch seq")), expected, STATES) < CLOSE


def test_first_values_are_the_published():
    sizes = {"L": 2, "chans": 16, "heads": 4, "key": 4, "val": 4, "hidden": 64, "vocab": 100, "place": 9, "type": 2,
             "out": 16}  # fmt: skip
    model = BERT.init(seed=1, sizes=sizes)
    assert abs(model.parameters["E"].array.std() - 0.02) < 0.001
    assert not model.parameters["b^{2,1}"].array.any() and (model.parameters["γ^{2,1}"].array == 1).all()
    states = model(nt.tensor([[1, 2, 99]], "batch seq"))
    assert states.sizes == {"batch": 1, "seq": 3, "chans": 16}
    assert model.evaluate("pooled", nt.tensor([1, 2], "seq")).sizes == {"chans": 16}


def test_the_file_is_a_page():
    assert len(BERT.notation.splitlines()) <= 60
    assert BERT.notation in (BERT.__doc__ or "").replace("\n    ", "\n")


# ------------------------------------------------------------------------------------------------------- wrong inputs
IDS = nt.tensor([[0, 5, 2], [4, 1, 22]], "batch seq")
WRONG = {
    "an id too large": (lambda bert: bert(IDS + 1), 401, "index 24 is out of range for axis vocab (1 to 23)", "ids + 1"),
    "an id below 0": (lambda bert: bert(IDS - 1), 401, "index 0 is out of range for axis vocab (1 to 23)", "ids + 1"),
    "an id that is no whole number": (
        lambda bert: bert(IDS + 0.5), 402, "index must be an integer, got 1.5", "ids + 1"),
    "a sequence too long": (
        lambda bert: bert(nt.tensor([1] * 12, "seq")), 401, "index 12 is out of range for axis place (1 to 11)",
        "positions + 1"),
    "a type too large": (
        lambda bert: bert(IDS, types=0 * IDS + 2), 401, "index 3 is out of range for axis type (1 to 2)", "types + 1"),
    "a mask of other numbers": (lambda bert: bert(IDS, 2 + 0 * IDS), 407, "value 2 is not in {0, 1}", "{0,1}^{seq}"),
    "another axis": (
        lambda bert: bert(nt.tensor([1, 2], "sec")), 317, "ids is missing axis seq of its declaration", "seq"),
    "no ids": (lambda bert: bert(), 206, "no value for declared name ids", "ids"),
    "an input too many": (
        lambda bert: bert(IDS, IDS, IDS, IDS, IDS), 304, "BERT expects ids, mask, types, positions, got 5 arguments",
        None),
    "an input misspelt": (
        lambda bert: bert(IDS, maks=IDS), 201, "BERT takes ids, mask, types, positions, and no maks", None),
    "no such name": (lambda bert: bert.evaluate("A^3", IDS), 201, "undefined name A^3: A is defined for l = 1, …, L", None),
}  # fmt: skip


@pytest.mark.parametrize(("call", "number", "message", "under"), WRONG.values(), ids=WRONG)
def test_a_wrong_input_gets_the_error_of_the_language(small, call, number, message, under):
    with pytest.raises(nt.NotationError) as caught:
        call(small[1])
    assert (caught.value.code, caught.value.message) == (number, message)
    assert under is None or caught.value.span_text == under


CHANGED = {
    "activation": ({"hidden_act": "laplace"}, "config.json has an unsupported hidden_act: 'laplace'"),
    "decoder": ({"is_decoder": True}, "config.json has is_decoder = True, but the formulas of BERT need False"),
    "positions": (
        {"position_embedding_type": "relative_key"},
        "config.json has position_embedding_type = 'relative_key', but the formulas of BERT need 'absolute'",
    ),
}


@pytest.mark.parametrize(("changes", "message"), CHANGED.values(), ids=CHANGED)
def test_a_config_that_the_formulas_are_not_for(small, changes, message, tmp_path):
    small[0].save_pretrained(tmp_path)
    about = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**about, **changes}))
    with pytest.raises(nt.NotationError) as caught:
        transformer.load(tmp_path)
    assert (caught.value.code, caught.value.message) == (409, message)
