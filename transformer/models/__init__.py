"""Models that people use, each one program; and the names of their weights in Hugging Face checkpoints.

`bert`: BERT.
`gpt2`: GPT-2.
`llama`: Llama.
`vit`: ViT.
`attention_is_all_you_need`: the encoder-decoder, as PyTorch and as Marian keep it.
`sentences`: sentences as vectors.

Contract: a model is its formulas and a table; what all share is in `pretrained`.
"""

from .attention_is_all_you_need import EncoderDecoder
from .bert import BERT
from .gpt2 import GPT2
from .llama import Llama
from .vit import ViT

__all__ = ["BERT", "EncoderDecoder", "GPT2", "Llama", "ViT"]
