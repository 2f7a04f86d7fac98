"""What tests of models share: models of the library `transformers` with drawn weights, kept as folders and loaded."""

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
