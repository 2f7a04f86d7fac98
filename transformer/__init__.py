"""Layers and models, written as formulas."""

from .attention_maps import attention_maps
from .dataflowr import MultiHeadAttention
from .hugging_face import load
from .layer import Layer
from .lelarge import FFN, Attention, EncoderBlock, LayerNorm, SelfAttention
from .models import BERT, GPT2, EncoderDecoder, Llama, ViT
from .paper import Transformer
from .sentences import SentenceModel, minilm

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
