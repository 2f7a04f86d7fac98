"""Layers and models, written as formulas.

`paper`: the networks in *Named Tensor Notation*.
`lelarge`: the networks in *Transformers using Named Tensor Notation*.
`dataflowr`: the networks in Module 12 of dataflowr.
`slides`: the networks in lecture slides on attention.
`learning_records`: the networks in *Learning records*.
`cheat_sheet`: the networks in *Self-attention cheat-sheet*.
`pretrained`: loading of models from files, and text generation.
`models`: widely used models.

Contract: layers contain only formulas, written as in their sources. This package does not import an array library.
"""

from namedtensor.layers import Layer, attention_maps

from .dataflowr import MultiHeadAttention
from .lelarge import FFN, Attention, EncoderBlock, LayerNorm, SelfAttention
from .models import (
    BART,
    BERT,
    CLIP,
    GPT2,
    OPT,
    T5,
    DistilBERT,
    EncoderDecoder,
    Gemma2,
    GPTNeoX,
    Llama,
    Mamba,
    Mistral,
    Mixtral,
    Phi,
    Qwen2,
    Qwen3,
    ResNet,
    RoBERTa,
    ViT,
    Whisper,
)
from .models.sentences import SentenceModel, minilm
from .paper import Transformer
from .pretrained.hugging_face import load
from .pretrained.tokens import tokenizer

__all__ = [
    "Attention",
    "BART",
    "BERT",
    "CLIP",
    "DistilBERT",
    "EncoderBlock",
    "EncoderDecoder",
    "FFN",
    "GPT2",
    "GPTNeoX",
    "Gemma2",
    "Layer",
    "LayerNorm",
    "Llama",
    "Mamba",
    "Mistral",
    "Mixtral",
    "MultiHeadAttention",
    "OPT",
    "Phi",
    "Qwen2",
    "Qwen3",
    "ResNet",
    "RoBERTa",
    "SelfAttention",
    "SentenceModel",
    "T5",
    "Transformer",
    "ViT",
    "Whisper",
    "attention_maps",
    "load",
    "minilm",
    "tokenizer",
]
