"""Models that people use, each a page of formulas; and how the files of Hugging Face name their parameters."""

from .attention_is_all_you_need import EncoderDecoder
from .bert import BERT
from .gpt2 import GPT2
from .llama import Llama
from .vit import ViT

__all__ = ["BERT", "EncoderDecoder", "GPT2", "Llama", "ViT"]
