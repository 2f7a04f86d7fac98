"""Widely used models, each written as one program, with the names of their weights in Hugging Face checkpoints.

`bert`: BERT.
`task_heads`: heads for tasks, and their parts.
`bert_heads`: the heads of BERT models.
`bert_variants`: RoBERTa and DistilBERT.
`gpt2`: GPT-2.
`gpt2_variants`: GPT-NeoX and OPT.
`llama`: Llama.
`llama_variants`: Mistral, Qwen2, Qwen3, Gemma 2 and Mixtral.
`phi`: Phi.
`rotary`: the rotation of queries and keys that a configuration specifies.
`t5`: T5.
`vit`: ViT.
`sequence_to_sequence`: the shared parts of encoder-decoder models.
`attention_is_all_you_need`: the original encoder-decoder, with the weight names of PyTorch and Marian.
`sentences`: sentence embedding models.
`bart`: BART.
`whisper`: Whisper.
`clip`: CLIP.
`mamba`: Mamba.
`resnet`: ResNet.

Contract: a model consists of formulas and a table of weight names. The code that all models share is in `pretrained`.
"""

from .attention_is_all_you_need import EncoderDecoder
from .bart import BART
from .bert import BERT
from .bert_variants import DistilBERT, RoBERTa
from .clip import CLIP
from .gpt2 import GPT2
from .gpt2_variants import OPT, GPTNeoX
from .llama import Llama
from .llama_variants import Gemma2, Mistral, Mixtral, Qwen2, Qwen3
from .mamba import Mamba
from .phi import Phi
from .resnet import ResNet
from .t5 import T5
from .vit import ViT
from .whisper import Whisper

__all__ = [
    "BART",
    "BERT",
    "CLIP",
    "DistilBERT",
    "EncoderDecoder",
    "GPT2",
    "GPTNeoX",
    "Gemma2",
    "Llama",
    "Mamba",
    "Mistral",
    "Mixtral",
    "OPT",
    "Phi",
    "Qwen2",
    "Qwen3",
    "ResNet",
    "RoBERTa",
    "T5",
    "ViT",
    "Whisper",
]
