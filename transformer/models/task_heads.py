"""Parts of heads, and the heads of decoders, of encoders with a decoder, of sounds and of images.

The result of a head is called `logits`. A head for question answering has `start_logits` and `end_logits`.
"""

from __future__ import annotations

import inspect

from ..pretrained.heads import TaskHead
from ..pretrained.weights import WeightEntry, linear

CLASSES = """
    logits = {what} ⊙_{{{axis}}} W^{{class}} + b^{{class}}
    W^{{class}} ∈ ℝ^{{{axis} × class}}
    b^{{class}} ∈ ℝ^{{class}}
"""
SCORES = """
    logits = {what} ⊙_{{{axis}}} W^{{class}}
    last = max_{{seq}} {{ iota_{{seq}} if ids ≠ padding; 1 otherwise }}
    W^{{class}} ∈ ℝ^{{{axis} × class}}
"""
SPANS = """
    start_logits = {what} ⊙_{{{axis}}} W^{{start}} + b^{{start}}
    end_logits = {what} ⊙_{{{axis}}} W^{{end}} + b^{{end}}
    W^{{start}}, W^{{end}} ∈ ℝ^{{{axis}}}
    b^{{start}}, b^{{end}} ∈ ℝ
"""
SUMMARY = """
    summary = tanh([states_{seq(end)} ⊙_{chans} W^{summary} + b^{summary}]_{out→chans})
    end = max_{source} { iota_{source} if source = eos; 0 otherwise }
    W^{summary} ∈ ℝ^{chans × out}
    b^{summary} ∈ ℝ^{out}
"""
SHIFTED = """
    ids_{seq(i)} = { start if i = 1; source_{source(max(i - 1, 1))} otherwise }
    |seq| = |source|
"""
SOUND = """
    logits = summary ⊙_{proj} W^{class} + b^{class}
    summary = mean_{source}(sound ⊙_{chans} W^{proj} + b^{proj})
    W^{proj} ∈ ℝ^{chans × proj}
    b^{proj} ∈ ℝ^{proj}
    W^{class} ∈ ℝ^{proj × class}
    b^{class} ∈ ℝ^{class}
"""
LAYERS = """
    sound = ∑_{n=0}^{N-1} share_{layer(n + 1)} X^n + share_{layer(N + 1)} H
    share = softmax_{layer}(η)
    η ∈ ℝ^{layer}
"""


def text(*parts: str, **names: str) -> str:
    """Return the definitions of a head, one after another."""
    return "\n".join(inspect.cleandoc(part.format(**names) if names else part) for part in parts)


def with_hidden(head: TaskHead, layer: tuple[str, tuple[WeightEntry, ...]]) -> TaskHead:
    """Return a head behind a hidden layer."""
    return TaskHead(f"{head.definitions}\n{layer[0]}", head.rows + layer[1])


def classes(what: str, tensor: str = "classifier", axis: str = "chans") -> TaskHead:
    """Return the head for the logits of each class."""
    return TaskHead(text(CLASSES, what=what, axis=axis), linear("class", tensor, f"class {axis}"))


def spans(what: str = "states", axis: str = "chans", generates: bool = False) -> TaskHead:
    """Return the head for the first and the last token of an answer."""
    start, end = (
        linear(name, "qa_outputs", f"side[2] {axis}", side=side) for side, name in enumerate(("start", "end"))
    )
    return TaskHead(text(SPANS, what=what, axis=axis), start + end, removes=("logits",) if generates else ())


def scores(what: str = "states", axis: str = "chans") -> TaskHead:
    """Return the head for the logits of each class, by the last token that is not padding."""
    rows = (WeightEntry("W^{class}", "score.weight", f"class {axis}"),)
    definitions = text(SCORES, what=at(what, "seq(last)"), axis=axis)
    return TaskHead(definitions, rows, tokens={"padding": ("pad_token_id", -1)})


def at(what: str, index: str) -> str:
    """Format an element of a tensor that has a name, or of a formula."""
    return f"{what}_{{{index}}}" if what.isidentifier() else f"[{what}]_{{{index}}}"


def decoder_heads(tensor: str = "score", what: str = "states", axis: str = "chans") -> dict[str, TaskHead]:
    """Return the heads of a decoder. An array of its token classes may have this name."""
    return {
        "ForSequenceClassification": scores(what, axis),
        "ForTokenClassification": classes(what, tensor, axis),
        "ForQuestionAnswering": spans(what, axis, generates=True),
    }


def sequence_heads(eos: int, start: int) -> dict[str, TaskHead]:
    """Return the heads of an encoder with a decoder, which reads the source one token later."""
    tokens = {"start": ("decoder_start_token_id", start)}
    tensor = "classification_head.{}"
    rows = (
        *linear("class", tensor.format("out_proj"), "class chans"),
        *linear("summary", tensor.format("dense"), "out chans"),
    )
    summary = "\n".join((text(CLASSES, what="summary", axis="chans"), text(SUMMARY), text(SHIFTED)))
    answer = spans(generates=True)
    return {
        "ForSequenceClassification": TaskHead(summary, rows, tokens={"eos": ("eos_token_id", eos), **tokens}),
        "ForQuestionAnswering": answer._replace(definitions=f"{answer.definitions}\n{text(SHIFTED)}", tokens=tokens),
    }


# Definitions of decoders alone, beside an encoder of the source
DECODER = (
    "states", "N^l", "Q^l", "k^l", "v^l", "K^l", "V^l", "A^l", "R^l", "N^{cross,l}", "Q^{cross,l}", "K^{cross,l}",
    "V^{cross,l}", "A^{cross,l}", "T^l", "Y^l", "Y^0", "M", "seen", "mask",
)  # fmt: skip


def head_of_encoder(head: TaskHead, *removes: str) -> TaskHead:
    """Return a head of an encoder, whose file has no decoder."""
    return head._replace(removes=("logits", *DECODER, *removes), lacks=("decoder.*",))


T5_HEADS = {
    **sequence_heads(eos=1, start=0),
    "ForTokenClassification": head_of_encoder(classes("H"), "scale", "F^l", "P^{dec}", "d"),
}
SOUND_ROWS = (*linear("proj", "projector", "proj chans"), *linear("class", "classifier", "class proj"))
WHISPER_HEADS = {
    "ForAudioClassification": head_of_encoder(
        TaskHead(f"{text(SOUND)}\nsound = H", SOUND_ROWS), "Z^{cross,l}", "M^{dec,l}", "positions"
    ),
    "ForAudioClassification with use_weighted_layer_sum": head_of_encoder(
        TaskHead(text(SOUND, LAYERS), (*SOUND_ROWS, WeightEntry("η", "layer_weights", "layer"))),
        "Z^{cross,l}", "M^{dec,l}", "positions",
    ),
}  # fmt: skip
IMAGE = classes("[(∑_{patch} Y^N - Y^N_{patch(1)}) / (|patch| - 1)]", axis="chans'")  # the mean of all but the first
CLIP_HEADS = {
    "ForImageClassification": IMAGE._replace(
        removes=(
            "text", "image", "u", "v", "positions", "X^0", "X^l", "end", "ends", "last", "N^l", "Q^l", "K^l", "V^l", "A^l",
            "T^l", "M", "seen", "mask",
        ),
        lacks=("text_*", "logit_scale", "visual_projection.*"),
        spare=("vision_model.post_layernorm.*",),
    )
}  # fmt: skip
