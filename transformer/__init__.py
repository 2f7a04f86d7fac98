"""Layers and models, written as formulas.

`core`: what a layer is.
`paper`: the networks of *Named Tensor Notation*.
`lelarge`: *Transformers using Named Tensor Notation*.
`dataflowr`: dataflowr, Module 12.
`slides`: lecture slides on attention.
`learning_records`: *Learning records*.
`cheat_sheet`: *Self-attention cheat-sheet*.
`pretrained`: what a model of a file is, loaded and generating.
`models`: models that people use.

Contract: layers are only formulas, as their sources write them; no array library is imported here.
"""

from .core.attention_maps import attention_maps
from .core.layer import Layer
from .dataflowr import MultiHeadAttention
from .lelarge import FFN, Attention, EncoderBlock, LayerNorm, SelfAttention
from .models import BERT, GPT2, EncoderDecoder, Llama, ViT
from .models.sentences import SentenceModel, minilm
from .paper import Transformer
from .pretrained.hugging_face import load

__all__ = [
    "Attention",
    "BERT",
    "EncoderBlock",
    "EncoderDecoder",
    "FFN",
    "GPT2",
    "Layer",
    "LayerNorm",
    "Llama",
    "MultiHeadAttention",
    "SelfAttention",
    "SentenceModel",
    "Transformer",
    "ViT",
    "attention_maps",
    "load",
    "minilm",
]
