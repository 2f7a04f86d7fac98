"""Models that people use, each a page of formulas; and how the files of Hugging Face name their parameters."""

from .bert import BERT
from .gpt2 import GPT2
from .vit import ViT

__all__ = ["BERT", "GPT2", "ViT"]
