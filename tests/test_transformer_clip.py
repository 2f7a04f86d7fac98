"""CLIP against the library `transformers`."""

import json

import numpy as np
import pytest
from peers import CLOSE, distance, drawn, loaded, named, numbers, torch, transformers

import namedtensor as nt
import transformer
from transformer import CLIP

TEXT = {"vocab_size": 23, "hidden_size": 12, "intermediate_size": 7, "num_hidden_layers": 3, "num_attention_heads": 3,
        "max_position_embeddings": 11, "eos_token_id": 22, "bos_token_id": 0, "pad_token_id": 1}  # fmt: skip
IMAGE = {"hidden_size": 10, "intermediate_size": 9, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 8,
         "patch_size": 4}  # fmt: skip
CASES = {
    "small": ({}, {}),
    "the largest token ends, another activation": (
        {"eos_token_id": 2, "hidden_act": "gelu"}, {"num_attention_heads": 1, "patch_size": 2, "num_channels": 2}),
    "one head, norms of their own": (
        {"num_attention_heads": 1, "layer_norm_eps": 0.3, "num_hidden_layers": 1},
        {"num_hidden_layers": 3, "layer_norm_eps": 0.1, "hidden_act": "relu"}),
}  # fmt: skip


def model(text=None, image=None):
    text, image = {**TEXT, **(text or {})}, {**IMAGE, **(image or {})}
    return drawn(
        transformers.CLIPModel,
        transformers.CLIPConfig(text_config=text, vision_config=image, projection_dim=5),
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "text, image",
    [pytest.param(*case, id=name, marks=[pytest.mark.slow] if name != "small" else []) for name, case in CASES.items()],
)
def test_the_vectors_and_logits_are_those_of_transformers(text, image, tmp_path):
    theirs = model(text, image)
    ours = loaded(theirs, tmp_path)
    assert type(ours) is CLIP
    ids = numbers(np.random.default_rng(1), 3, 7, below=22)
    ids[0, 4:], ids[1, 6], ids[2, 6] = 22, 22, 22
    mask = torch.ones_like(ids)
    mask[0, 5:] = 0
    pixels = torch.randn(2, image.get("num_channels", 3), 8, 8, generator=torch.Generator().manual_seed(0))
    expected = theirs(input_ids=ids, attention_mask=mask, pixel_values=pixels)
    texts, given_mask = named(ids, "texts seq"), named(mask, "texts seq")
    images = named(pixels, "images color height width")
    assert distance(ours.evaluate("text", texts, mask=given_mask), expected.text_embeds, "texts joint") < CLOSE
    assert distance(ours.evaluate("image", pixels=images), expected.image_embeds, "images joint") < CLOSE
    assert distance(ours(texts, images, mask=given_mask), expected.logits_per_text, "texts images") < CLOSE


REFUSED = [
    ("text_config", {"hidden_act": "laplace"}, "config.json has an unsupported hidden_act: 'laplace'"),
    ("text_config", {"hidden_size": 13}, "text_projection.weight has shape 5 × 12, but W^{text} of CLIP is stored as joint[5] × chans[13]"),
    ("vision_config", {"image_size": 12}, "P^{image} of CLIP is stored as patch[10] × chans'[10]"),
    ("vision_config", {"num_hidden_layers": 3}, "missing keys: vision_model.encoder.layers.2"),
    ("vision_config", {"num_hidden_layers": None}, "but a number is expected"),
]  # fmt: skip


@pytest.mark.parametrize("part, changes, says", REFUSED, ids=[says[:40] for _, _, says in REFUSED])
def test_a_config_that_does_not_fit_is_refused(part, changes, says, tmp_path):
    model().save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config[part] |= changes
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(nt.NotationError) as caught:
        transformer.load(tmp_path)
    assert says in str(caught.value)
