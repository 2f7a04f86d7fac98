"""The Transformer of Attention Is All You Need, with the weights of PyTorch and of Marian."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import namedtensor as nt
from namedtensor.initializers import Constant, Normal, glorot_uniform

from ..pretrained.hugging_face import State, match
from ..pretrained.model import ACTIVATIONS
from ..pretrained.weights import WeightEntry, expanded, linear, norm
from .sequence_to_sequence import SequenceToSequence


def attention(name: str, index: str, prefix: str) -> tuple[WeightEntry, ...]:
    """Return the weight entries of an attention with four separate matrices."""
    maps = {"q": "(heads key) chans", "k": "(heads key) chans", "v": "(heads val) chans", "out": "chans (heads val)"}
    return tuple(
        row
        for theirs, axes in maps.items()
        for row in linear(f"{name},{index},{theirs[0].upper()}", f"{prefix}.{theirs}_proj", axes)
    )


def stacked(name: str, index: str, prefix: str) -> tuple[WeightEntry, ...]:
    """Return the weight entries of a torch.nn attention, which stacks the matrices of Q, K and V."""
    parts = [(x, axis, {"three": count}) for count, (x, axis) in enumerate((("Q", "key"), ("K", "key"), ("V", "val")))]
    weight, bias = f"{prefix}.in_proj_weight", f"{prefix}.in_proj_bias"
    return (
        *(
            WeightEntry(f"W^{{{name},{index},{x}}}", weight, f"(three[3] heads {axis}) chans", **p)
            for x, axis, p in parts
        ),
        *(WeightEntry(f"b^{{{name},{index},{x}}}", bias, f"(three[3] heads {axis})", **p) for x, axis, p in parts),
        *linear(f"{name},{index},O", f"{prefix}.out_proj", "chans (heads val)"),
    )


def others(
    name: str, index: str, prefix: str, norms: tuple[str, ...], maps: tuple[str, str]
) -> tuple[WeightEntry, ...]:
    """Return the weight entries of a block's layer norms, in order, and of its feedforward network."""
    first, second = maps
    return (
        *(
            row
            for count, theirs in enumerate(norms, 1)
            for row in norm(f"{name},{index},{count}", f"{prefix}.{theirs}")
        ),
        *linear(f"{name},{index},1", f"{prefix}.{first}", "hidden chans"),
        *linear(f"{name},{index},2", f"{prefix}.{second}", "chans hidden"),
    )


ENCODER, DECODER = "encoder.layers.{n}", "decoder.layers.{l}"
MARIAN_NORMS = ("self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm")
MARIAN = (
    WeightEntry("E", "shared.weight", "vocab chans"),
    WeightEntry("b^{out}", "final_logits_bias", "one[1] vocab", one=0),
    *attention("enc", "n", f"{ENCODER}.self_attn"),
    *others("enc", "n", ENCODER, MARIAN_NORMS[::2], ("fc1", "fc2")),
    *attention("dec", "l", f"{DECODER}.self_attn"),
    *attention("cross", "l", f"{DECODER}.encoder_attn"),
    *others("dec", "l", DECODER, MARIAN_NORMS, ("fc1", "fc2")),
)
TORCH = (
    *stacked("enc", "n", f"{ENCODER}.self_attn"),
    *others("enc", "n", ENCODER, ("norm1", "norm2"), ("linear1", "linear2")),
    *stacked("dec", "l", f"{DECODER}.self_attn"),
    *stacked("cross", "l", f"{DECODER}.multihead_attn"),
    *others("dec", "l", DECODER, ("norm1", "norm2", "norm3"), ("linear1", "linear2")),
)
TORCH_NORMS = (*norm("enc", "encoder.norm"), *norm("dec", "decoder.norm"))
NORMED = """
    H = LayerNorm(X^N; γ^{enc}, β^{enc})
    states = LayerNorm(Y^L; γ^{dec}, β^{dec})
    γ^{enc}, β^{enc}, γ^{dec}, β^{dec} ∈ ℝ^{chans}
"""
MARIAN_TEXT = """
    logits = states ⊙_{chans} E + b^{out}
    p_{chans(k)} = sin(t / 10000^{2(k-1)/|chans|}) for k = 1, …, |chans|/2
    p_{chans(k + |chans|/2)} = cos(t / 10000^{2(k-1)/|chans|}) for k = 1, …, |chans|/2
    b^{out} ∈ ℝ^{vocab}
"""


class EncoderDecoder(SequenceToSequence):
    """The Transformer: an encoder for a source sequence and a decoder for a target sequence.

    A call with `source` and the target's `ids`, on axes source and seq, is teacher forcing: the logits of each next token.
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
    weight_map = MARIAN

    @classmethod
    def config_definitions(cls, config: Mapping[str, Any]) -> str:
        """Return the definitions that the configuration selects."""
        scale = "" if config.get("scale_embedding") else "scale = 1"
        return "\n".join((super().config_definitions(config), inspect.cleandoc(MARIAN_TEXT), scale)).strip()

    @classmethod
    def from_torch(
        cls, state: Mapping[str, Any], embedding: Any, heads: int, activation: str = "relu", definitions: str = ""
    ) -> EncoderDecoder:
        """Load the weights of a `torch.nn.Transformer` with norm_first=False; `state` is its state_dict.

        Parameters
        ----------
        state : mapping of str to array
            The arrays of the state_dict, by name.
        embedding : array
            The token vectors, ℝ^{vocab × chans}, which PyTorch stores elsewhere.
        heads : int
            The number of heads.
        activation : str
            The activation of the feedforward networks (default: "relu").
        definitions : str
            Formulas that replace the formulas of the same name (default: none).

        Returns
        -------
        EncoderDecoder

        Raises
        ------
        NotationError
            409 if an array is missing or unexpected; 317 if an array has another shape.
        """
        normed = "encoder.norm.weight" in state
        vocab, chans = embedding.shape
        if chans % heads:
            raise nt.NotationError(409, f"chans ({chans}) is not divisible by heads ({heads})")
        if activation not in ACTIVATIONS:
            known = f"supported: {', '.join(ACTIVATIONS)}"
            raise nt.NotationError(409, f"unsupported activation {activation!r}", hint=known)
        sizes = {"N": layers(state, ENCODER), "L": layers(state, DECODER), "vocab": vocab, "chans": chans,
                 "heads": heads, "key": chans // heads, "val": chans // heads}  # fmt: skip
        texts = (f"act(x) = {ACTIVATIONS[activation]}", inspect.cleandoc(NORMED) if normed else "", definitions)
        rows = expanded((*TORCH, *(TORCH_NORMS if normed else ())), sizes)
        match(cls, rows, State(state), sizes, "the state_dict")
        tensors = {row.name: row.take(state[row.tensor], sizes) for row in rows}
        left = {name: sizes[name] for name in "NL"}
        return cls({"E": nt.tensor(embedding, "vocab chans"), **tensors}, left, "\n".join(texts).strip())


def layers(state: Mapping[str, Any], prefix: str) -> int:
    """Return the number of layers of a stack."""
    begin = prefix.partition("{")[0]
    return len({name.removeprefix(begin).partition(".")[0] for name in state if name.startswith(begin)})


def alike(config: Mapping[str, Any], one: str, other: str) -> int:
    """Return a value that must be the same for the encoder and the decoder."""
    if config[one] != config[other]:
        raise nt.NotationError(
            409, f"config.json has {one} = {config[one]} and {other} = {config[other]}, and the formulas of "
            "EncoderDecoder have one size for both",
        )  # fmt: skip
    return config[one]
