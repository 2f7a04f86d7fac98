"""The Transformer of *Attention Is All You Need*, with weights in the format of PyTorch or Marian."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import namedtensor as nt
from namedtensor.initializers import Constant, Normal, glorot_uniform

from ..pretrained.hugging_face import State, match
from ..pretrained.model import ACTIVATIONS
from ..pretrained.weights import expand_entries, read_tables
from .sequence_to_sequence import SequenceToSequence


class EncoderDecoder(SequenceToSequence):
    """The Transformer, with an encoder for a source sequence and a decoder for a target sequence.

    A call with `source` and the target's `ids`, which have the axes source and seq, returns the logits of each next
    token (teacher forcing).
    """

    citation = "Vaswani, Shazeer, Parmar, Uszkoreit, Jones, Gomez, Kaiser, Polosukhin, Attention Is All You Need, 2017"
    file = "attention_is_all_you_need.nt"
    optional_inputs = ("source_mask", "mask", "positions", "places", "X^0", "Y^0")
    default_sizes = {"chans": 2}
    model_types = ("marian",)
    initializers = {"E": Normal("√(1 / chans)"), "W": glorot_uniform, "b": Constant(0.0)}
    config_sizes = {
        "N": "encoder_layers", "L": "decoder_layers", "chans": "d_model", "vocab": "vocab_size",
        "heads": lambda config: alike(config, "encoder_attention_heads", "decoder_attention_heads"),
        "hidden": lambda config: alike(config, "encoder_ffn_dim", "decoder_ffn_dim"),
        "key": lambda config: config["d_model"] // config["decoder_attention_heads"],
        "val": lambda config: config["d_model"] // config["decoder_attention_heads"],
    }  # fmt: skip
    activation = "activation_function"
    required_config = {"share_encoder_decoder_embeddings": True, "tie_word_embeddings": True}
    base_model_prefix = "model."
    ignored_weights = ("lm_head.weight", "encoder.embed_*", "decoder.embed_*")
    weights = "marian.weights"

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        """Return the definitions for this configuration, which replace definitions in the formulas."""
        scale = "" if config.get("scale_embedding") else "scale = 1"
        return "\n".join((super().config_definitions(config), cls.file_text("marian.nt"), scale)).strip()

    @classmethod
    def from_torch(
        cls, state: Mapping[str, Any], embedding: Any, heads: int, activation: str = "relu", definitions: str = ""
    ) -> EncoderDecoder:
        """Load the weights of a `torch.nn.Transformer` with norm_first=False. `state` is the transformer's state_dict.

        Parameters
        ----------
        state : mapping of str to array
            The arrays in the state_dict, by name.
        embedding : array
            The token vectors, ℝ^{vocab × chans}, which the state_dict does not contain.
        heads : int
            The number of heads.
        activation : str
            The activation of the feedforward networks (default: "relu").
        definitions : str
            Definitions that replace definitions with the same names (default: none).

        Returns
        -------
        EncoderDecoder

        Raises
        ------
        NotationError
            If an array is missing or unexpected (409), or has the wrong shape (317).
        """
        normed = "encoder.norm.weight" in state
        vocab, chans = embedding.shape
        if chans % heads:
            raise nt.NotationError(409, f"chans ({chans}) is not divisible by heads ({heads})")
        if activation not in ACTIVATIONS:
            known = f"supported: {', '.join(ACTIVATIONS)}"
            raise nt.NotationError(409, f"unsupported activation {activation!r}", hint=known)
        sizes = {"N": layers(state, "encoder.layers."), "L": layers(state, "decoder.layers."), "vocab": vocab, "chans": chans,
                 "heads": heads, "key": chans // heads, "val": chans // heads}  # fmt: skip
        texts = (
            f"act(x) = {ACTIVATIONS[activation]}",
            cls.file_text("torch_transformer.nt") if normed else "",
            definitions,
        )
        tables = read_tables(cls.file_text("torch_transformer.weights"))
        rows = expand_entries((*tables[""], *(tables["normed"] if normed else ())), sizes)
        match(cls, rows, State(state), sizes, "the state_dict")
        tensors = {row.name: row.take(state[row.tensor], sizes) for row in rows}
        left = {name: sizes[name] for name in "NL"}
        return cls({"E": nt.tensor(embedding, "vocab chans"), **tensors}, left, "\n".join(texts).strip())


def layers(state: Mapping[str, Any], prefix: str) -> int:
    """Return the number of layers in a stack. The names of their arrays start with `prefix`."""
    return len({name.removeprefix(prefix).partition(".")[0] for name in state if name.startswith(prefix)})


def alike(config: Mapping[str, Any], one: str, other: str) -> int:
    """Return a size that the configuration states twice. Raise NotationError if the two entries differ."""
    if config[one] != config[other]:
        raise nt.NotationError(
            409, f"config.json has {one} = {config[one]} and {other} = {config[other]}, and the formulas of "
            "EncoderDecoder have one size for both",
        )  # fmt: skip
    return config[one]
