"""Layers and models, written as formulas."""

from .hugging_face import load
from .layer import Layer
from .models import GPT2

__all__ = ["GPT2", "Layer", "load"]
