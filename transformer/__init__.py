"""Layers and models, written as formulas."""

from .hugging_face import load
from .layer import Layer
from .models import BERT, GPT2, ViT
from .sentences import SentenceModel, minilm

__all__ = ["BERT", "GPT2", "Layer", "SentenceModel", "ViT", "load", "minilm"]
