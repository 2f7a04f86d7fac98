"""Models that people use, each a page of formulas; and how the files of Hugging Face name their parameters."""

from .gpt2 import GPT2

__all__ = ["GPT2"]
