"""Right models of transformers, with random weights: read without a remark, with their values at other sizes."""

import numpy as np
import pytest

import namedtensor as nt

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
TEXT = {**SIZES, "vocab_size": 30, "pad_token_id": None}
PLACES = {**TEXT, "pad_token_id": 1, "max_position_embeddings": 40}
GROUPED = {**TEXT, "num_attention_heads": 4, "num_key_value_heads": 2}
GPT = {
    "n_layer": 2,
    "n_embd": 16,
    "n_head": 2,
    "vocab_size": 30,
    "n_positions": 40,
    "bos_token_id": 0,
    "eos_token_id": 1,
}
IMAGE = {**SIZES, "image_size": 8, "patch_size": 4}
QUICK = {
    "Bert": PLACES, "GPT2": GPT, "Llama": GROUPED, "ViT": IMAGE, "Roberta": PLACES, "GPTJ": {**GPT, "rotary_dim": 4},
    "Albert": {**PLACES, "embedding_size": 8}, "ResNet": {"embedding_size": 8, "hidden_sizes": [8, 8], "depths": [2, 3], "layer_type": "basic"},
}  # fmt: skip
SLOW = {
    "DistilBert": {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24, "vocab_size": 30, "max_position_embeddings": 40},
    "Electra": {**PLACES, "embedding_size": 8}, "XLMRoberta": PLACES, "MobileBert": {**PLACES, "embedding_size": 16, "intra_bottleneck_size": 8},
    "ModernBert": {**TEXT, "attn_implementation": "eager"}, "RoFormer": {**PLACES, "embedding_size": 16, "pad_token_id": None},
    "Mistral": GROUPED, "Qwen2": GROUPED, "Qwen3": {**GROUPED, "head_dim": 4}, "Gemma": {**GROUPED, "head_dim": 4},
    "Gemma2": {**GROUPED, "head_dim": 4}, "Phi": TEXT, "Phi3": TEXT, "StableLm": {**TEXT, "num_key_value_heads": 2}, "Cohere": GROUPED, "Olmo": GROUPED, "Olmo2": GROUPED,
    "Granite": GROUPED, "Starcoder2": GROUPED, "GPTNeoX": TEXT, "Falcon": {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "vocab_size": 30},
    "GPTNeo": {"num_layers": 2, "hidden_size": 16, "num_heads": 2, "attention_types": [[["global"], 2]], "vocab_size": 30, "max_position_embeddings": 40},
    "OPT": {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "ffn_dim": 24, "word_embed_proj_dim": 16, "vocab_size": 30, "max_position_embeddings": 40},
    "CTRL": {"n_embd": 16, "dff": 24, "n_layer": 2, "n_head": 2, "vocab_size": 30, "n_positions": 40}, "OpenAIGPT": GPT,
    "CLIPText": {**PLACES, "projection_dim": 8, "eos_token_id": 29}, "CLIPVision": {**IMAGE, "projection_dim": 8}, "SiglipVision": IMAGE,
    "DeiT": IMAGE, "Beit": IMAGE, "ConvNext": {"num_stages": 2, "hidden_sizes": [8, 8], "depths": [2, 2]},
}  # fmt: skip
OF_IMAGES = {"ViT", "DeiT", "Beit", "CLIPVision", "SiglipVision", "ResNet", "ConvNext"}
WITHOUT_REPEATS = {"ModernBert"}  # whose first layer differs
CASES = [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", CASES)
def test_a_model_is_read_without_a_remark(name):
    torch.manual_seed(0)
    configuration = getattr(transformers, f"{name}Config")(**{**QUICK, **SLOW}[name])
    model = getattr(transformers, f"{name}Model")(configuration).eval()
    if name in OF_IMAGES:
        size = getattr(configuration, "image_size", 32) if name not in ("ResNet", "ConvNext") else 32
        example, other, names = torch.randn(2, 3, size, size), torch.randn(3, 3, size, size), {}
    else:
        example, other = torch.randint(2, 29, (2, 6)), torch.randint(2, 29, (3, 9))
        names = {"input_ids": "batch seq"}
    read = nt.from_torch(model, example, names=names)
    with torch.no_grad():
        expected = model(other).last_hidden_state
    np.testing.assert_allclose(read(other), expected, rtol=1e-4, atol=1e-5)
    assert not read.remarks
    assert (" for l = 1, …, 2" in read.text) == (name not in WITHOUT_REPEATS)
