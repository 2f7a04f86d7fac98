"""What tests of models share: models of the library `transformers` with drawn weights, kept as folders and loaded."""

import json
import os

import numpy as np
import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()

import namedtensor as nt  # noqa: E402
from transformer import load  # noqa: E402

CLOSE = 1e-5  # relative to the largest number, in float32


def drawn(kind, config, seed=0):
    """A model with every parameter drawn, so that none is idle: biases that are not 0, scales that are not 1."""
    torch.manual_seed(seed)
    config._attn_implementation = "eager"
    model = kind(config).eval()
    for parameter in model.parameters():
        if parameter.requires_grad:
            torch.nn.init.normal_(parameter, 0.1, 0.3)
    return model


def loaded(model, folder, **options):
    """The same model as formulas, by way of its folder."""
    model.save_pretrained(folder, **options)
    return load(folder)


def numbers(generator, *shape, below):
    return torch.from_numpy(generator.integers(0, below, shape))


def named(array, axes):
    return nt.tensor(array.detach().numpy(), axes)


def distance(array, expected, axes):
    """The largest difference, relative to the largest number."""
    array, expected = array.to_array(axes), expected.detach().numpy()
    array = np.asarray(array.detach() if isinstance(array, torch.Tensor) else array)
    assert array.shape == expected.shape
    return float(np.abs(array - expected).max() / np.abs(expected).max())


def without_memory(model, ids, count, mask=None):
    """The likeliest tokens, each by a call on all before it."""
    ids = ids.numpy()
    mask = np.ones_like(ids) if mask is None else mask.numpy()
    result = []
    for _ in range(count):
        positions = np.maximum(np.cumsum(mask, 1) - 1, 0)
        tensors = [nt.tensor(item, "batch seq") for item in (ids, mask, positions)]
        result.append(model(*tensors).to_array("batch seq vocab")[:, -1].argmax(-1))
        ids = np.concatenate([ids, result[-1][:, None]], 1)
        mask = np.concatenate([mask, np.ones((len(mask), 1), dtype=mask.dtype)], 1)
    return np.stack(result, 1).tolist()


def changed_config(model, folder, **changes):
    """The folder of a model, with some of its config.json changed, and what is None taken out."""
    model.save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text()) | changes
    (folder / "config.json").write_text(json.dumps({key: value for key, value in config.items() if value is not None}))
    return folder


def padded(side, batch=3, seq=7):
    """A mask that is 0 at one end of the first and of the last sequence."""
    mask = torch.ones(batch, seq, dtype=torch.int64)
    mask[0, :4] = 0
    mask[-1, :1] = 0
    return mask if side == "left" else mask.flip(1)


def check_logits(theirs, ours, vocab=23):
    """A language model gives the logits of transformers, with and without padding."""
    ids = numbers(np.random.default_rng(0), 3, 7, below=vocab)
    given = named(ids, "batch seq")
    assert distance(ours(given), theirs(ids).logits, "batch seq vocab") < CLOSE
    for mask in (padded("left"), padded("right")):
        real = mask.bool().numpy()
        expected = theirs(ids, attention_mask=mask).logits.detach().numpy()[real]
        logits = ours(given, named(mask, "batch seq")).to_array("batch seq vocab")[real]
        assert np.abs(logits - expected).max() / np.abs(expected).max() < CLOSE


def even_out(theirs):
    """Draw the embeddings of a language model so that no token is likelier than others whatever was before."""
    torch.nn.init.normal_(theirs.get_output_embeddings().weight)
    for name, parameter in theirs.named_parameters():
        if name.endswith("bias"):
            parameter.data *= 0.1
    embeddings = theirs.get_input_embeddings().weight
    embeddings.data = 4 * torch.nn.functional.normalize(torch.randn_like(embeddings))


def check_generation(theirs, ours, side, vocab=23):
    """A language model goes on with the tokens of transformers, with padding at one side or without."""
    ids = numbers(np.random.default_rng(1), 3, 7, below=vocab)
    mask = None if side is None else padded(side)
    expected = theirs.generate(
        ids, attention_mask=torch.ones_like(ids) if mask is None else mask, max_new_tokens=12, do_sample=False,
        pad_token_id=0,
    )[:, 7:]  # fmt: skip
    generated = ours.generate(named(ids, "batch seq"), 12, mask=None if mask is None else named(mask, "batch seq"))
    generated = generated.to_array("batch seq").tolist()
    assert generated == expected.tolist() and len(expected.unique()) > 1
    assert generated == without_memory(ours, ids, 12, mask)
