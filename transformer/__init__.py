"""Layers and models, written as formulas."""

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
