"""Layers and models, written as formulas.

`paper`: the networks of *Named Tensor Notation*.
`lelarge`: *Transformers using Named Tensor Notation*.
`dataflowr`: dataflowr, Module 12.
`slides`: lecture slides on attention.
`learning_records`: *Learning records*.
`cheat_sheet`: *Self-attention cheat-sheet*.
`pretrained`: models from files, loaded and generating.
`models`: models that people use.

Contract: layers are only formulas, as their sources write them; no array library is imported here.
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
