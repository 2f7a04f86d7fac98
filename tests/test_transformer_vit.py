"""ViT as formulas against the library `transformers`."""

import numpy as np
import pytest
from peers import CLOSE, distance, drawn, loaded, named, torch, transformers

import namedtensor as nt
import transformer
from transformer import ViT

SMALL = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 7, "image_size": 12,
         "patch_size": 4, "num_labels": 5}  # fmt: skip
CONFIGS = {
    "small": {},
    "wide image": {"image_size": (8, 15), "patch_size": (4, 3)},
    "one patch": {"image_size": 5, "patch_size": 5},
    "patches of one pixel": {"image_size": (3, 2), "patch_size": 1},
    "one color": {"num_channels": 1},
    "seven colors": {"num_channels": 7, "layer_norm_eps": 0.2},
    "no shifts": {"qkv_bias": False},
    "another activation": {"hidden_act": "gelu_new", "num_hidden_layers": 4},
    "pooled to fewer": {"pooler_output_size": 5},
}
PIXELS = "batch chans height width"


def config(**changes):
    return transformers.ViTConfig(**{**SMALL, **changes})


def image(about, batch=2):
    sides = about.image_size if isinstance(about.image_size, tuple | list) else (about.image_size,) * 2
    return torch.from_numpy(np.random.default_rng(0).normal(size=(batch, about.num_channels, *sides)).astype("f4"))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    theirs = drawn(transformers.ViTForImageClassification, config())
    return theirs, loaded(theirs, tmp_path_factory.mktemp("vit"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("changes", CONFIGS.values(), ids=CONFIGS)
def test_the_states_are_those_of_transformers(changes, tmp_path):
    theirs = drawn(transformers.ViTModel, config(**changes))
    ours = loaded(theirs, tmp_path)
    pixels = image(theirs.config)
    expected = theirs(pixels)
    assert distance(ours(named(pixels, PIXELS)), expected.last_hidden_state, "batch seq chans") < CLOSE
    assert distance(ours.evaluate("pooled", named(pixels, PIXELS)), expected.pooler_output, "batch chans") < CLOSE


@pytest.mark.sampled(3)
@pytest.mark.parametrize("changes", CONFIGS.values(), ids=CONFIGS)
def test_the_logits_are_those_of_transformers(changes, tmp_path):
    theirs = drawn(transformers.ViTForImageClassification, config(**changes))
    ours = loaded(theirs, tmp_path)
    pixels = image(theirs.config)
    assert distance(ours.evaluate("logits", named(pixels, PIXELS)), theirs(pixels).logits, "batch class") < CLOSE


def test_every_name_of_the_formulas_is_at_hand(small):
    theirs, ours = small
    pixels = image(theirs.config)
    expected = theirs(pixels, output_hidden_states=True, output_attentions=True)
    tensor = named(pixels, PIXELS)
    for layer in range(2):
        assert distance(ours.evaluate(f"X^{layer}", tensor), expected.hidden_states[layer], "batch seq chans") < CLOSE
        attention = ours.evaluate(f"A^{layer + 1}", tensor)
        assert distance(attention, expected.attentions[layer], "batch heads seq memory") < CLOSE


def test_a_patch_is_a_window_of_the_image(small):
    """Against loops over rows and columns."""
    _, ours = small
    pixels = image(small[0].config, batch=1)[0].numpy()
    kernel = ours.parameters["W"].to_array("color down across chans")
    result = ours.evaluate("patches", nt.tensor(pixels, "chans height width"))
    for row in range(3):
        for column in range(3):
            window = pixels[:, 4 * row : 4 * row + 4, 4 * column : 4 * column + 4]
            expected = (window[..., None] * kernel).sum((0, 1, 2)) + ours.parameters["b"].array
            np.testing.assert_allclose(
                result[{"row": row, "column": column}].to_array("chans"), expected, rtol=1e-4, atol=1e-5
            )


def test_the_order_of_the_axes_means_nothing(small):
    theirs, ours = small
    pixels = image(theirs.config)
    turned = named(pixels.permute(3, 1, 0, 2).contiguous(), "width chans batch height")
    assert distance(ours.evaluate("logits", turned), theirs(pixels).logits, "batch class") < CLOSE


def test_an_image_alone(small):
    theirs, ours = small
    pixels = image(theirs.config)
    result = ours(named(pixels[1], "chans height width"))
    assert distance(result, theirs.vit(pixels).last_hidden_state[1], "seq chans") < CLOSE


@pytest.mark.parametrize("changes", [{}, {"qkv_bias": False}], ids=["shifts", "no shifts"])
def test_the_names_that_the_library_has_in_memory(changes, tmp_path):
    from safetensors.torch import save_file

    theirs = drawn(transformers.ViTForImageClassification, config(**changes))
    theirs.save_pretrained(tmp_path)
    save_file(theirs.state_dict(), tmp_path / "model.safetensors")
    pixels = image(theirs.config)
    ours = transformer.load(tmp_path)
    assert distance(ours.evaluate("logits", named(pixels, PIXELS)), theirs(pixels).logits, "batch class") < CLOSE


@pytest.mark.parametrize(("kind", "lacks"), [("ViTModel", "logits"), ("ViTForImageClassification", "pooled")])
def test_what_the_file_has_no_parameters_of(kind, lacks, tmp_path):
    theirs = drawn(getattr(transformers, kind), config())
    ours = loaded(theirs, tmp_path)
    with pytest.raises(nt.NotationError) as caught:
        ours.evaluate(lacks, named(image(theirs.config), PIXELS))
    assert str(caught.value) == f"name error 201: this ViT has no {lacks}: its file holds no parameters of it"


def test_masked_images_share_the_encoder(tmp_path):
    theirs = drawn(transformers.ViTForMaskedImageModeling, config(encoder_stride=4))
    with pytest.raises(nt.NotationError, match="has a head that the formulas of ViT do not have"):
        loaded(theirs, tmp_path)
    ours = transformer.load(tmp_path, head=False)
    pixels = image(theirs.config)
    assert distance(ours(named(pixels, PIXELS)), theirs.vit(pixels).last_hidden_state, "batch seq chans") < CLOSE


def test_kept_and_read_again(small, tmp_path):
    _, ours = small
    ours.save(tmp_path / "vit.safetensors")
    again = ViT.load(tmp_path / "vit.safetensors")
    pixels = named(image(small[0].config), PIXELS)
    assert again._about == ours._about and nt.allclose(
        again.evaluate("logits", pixels), ours.evaluate("logits", pixels)
    )


def test_first_values():
    sizes = {"L": 1, "chans": 8, "heads": 2, "key": 4, "val": 4, "hidden": 5, "height": 6, "width": 8, "down": 3,
             "across": 2, "color": 3, "out": 8, "class": 4}  # fmt: skip
    model = ViT.init(sizes=sizes)
    assert model.parameters["P"].sizes == {"seq": 9, "chans": 8}
    pixels = nt.tensor(np.ones((3, 6, 8)), "chans height width")
    assert model.evaluate("logits", pixels).sizes == {"class": 4}


def test_the_file_is_a_page():
    assert len(ViT.notation.splitlines()) <= 60


WRONG = {
    "another height": ((2, 3, 8, 12), PIXELS, 308, "axis height has size 8 in pixels, but sizes= gives 12"),
    "another number of colors": (
        (2, 1, 12, 12), PIXELS, 302,
        "axis color has size 1 in pixels_{chans→color, height→(row, down), width→(column, across)} and size 3 in W"),
    "no colors": ((2, 12, 12), "batch height width", 317, "pixels is missing axis chans of its declaration"),
    "another name": ((2, 3, 12, 12), "batch colors height width", 317, "pixels is missing axis chans of its declaration"),
}  # fmt: skip


@pytest.mark.parametrize(("extent", "axes", "number", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_image_gets_the_error_of_the_language(small, extent, axes, number, message):
    with pytest.raises(nt.NotationError) as caught:
        small[1](nt.tensor(np.zeros(extent, "f4"), axes))
    assert (caught.value.code, caught.value.message) == (number, message)
