"""Parts of task heads, and the task heads of decoders, encoder-decoder models, audio models and image models.

The result of a head is called `logits`. A head for question answering has the results `start_logits` and `end_logits`.
"""

from __future__ import annotations

from importlib.resources import files
from string import Template

from ..pretrained.heads import TaskHead
from ..pretrained.weights import WeightEntry, linear, read_sections

HEADS = read_sections(files("transformer.models").joinpath("heads.templates").read_text("utf-8"))


def text(*heads: str, **names: str) -> str:
    """Return the definitions of these heads, from templates in which `names` are filled in."""
    return "\n".join(Template(HEADS[head]).substitute(names) for head in heads)


def with_hidden(head: TaskHead, layer: tuple[str, tuple[WeightEntry, ...]]) -> TaskHead:
    """Return a head with a hidden layer inserted before its classes."""
    return TaskHead(f"{head.definitions}\n{layer[0]}", head.rows + layer[1])


def classes(what: str, tensor: str = "classifier", axis: str = "chans") -> TaskHead:
    """Return the head that computes a logit for each class from the tensor or formula `what`."""
    return TaskHead(text("classes", what=what, axis=axis), linear("class", tensor, f"class {axis}"))


def spans(what: str = "states", axis: str = "chans", generates: bool = False) -> TaskHead:
    """Return the head that computes logits for the first and the last token of an answer in the text."""
    start, end = (
        linear(name, "qa_outputs", f"side[2] {axis}", side=side) for side, name in enumerate(("start", "end"))
    )
    return TaskHead(text("spans", what=what, axis=axis), start + end, removes=("logits",) if generates else ())


def scores(what: str = "states", axis: str = "chans") -> TaskHead:
    """Return the head that computes a logit for each class from the last token of a text, not counting padding."""
    rows = (WeightEntry("W^{class}", "score.weight", f"class {axis}"),)
    definitions = text("scores", what=write_element(what, "seq(last)"), axis=axis)
    return TaskHead(definitions, rows, tokens={"padding": ("pad_token_id", -1)})


def write_element(what: str, index: str) -> str:
    """Return the text for an element of `what`, which is a tensor name or a formula, at the given index."""
    return f"{what}_{{{index}}}" if what.isidentifier() else f"[{what}]_{{{index}}}"


def decoder_heads(tensor: str = "score", what: str = "states", axis: str = "chans") -> dict[str, TaskHead]:
    """Return the task heads of a decoder. `tensor` names the array that the head for token classes uses."""
    return {
        "ForSequenceClassification": scores(what, axis),
        "ForTokenClassification": classes(what, tensor, axis),
        "ForQuestionAnswering": spans(what, axis, generates=True),
    }


def sequence_heads(eos: int, start: int) -> dict[str, TaskHead]:
    """Return the task heads of an encoder-decoder model. Its decoder reads the source shifted by one token."""
    tokens = {"start": ("decoder_start_token_id", start)}
    tensor = "classification_head.{}"
    rows = (
        *linear("class", tensor.format("out_proj"), "class chans"),
        *linear("summary", tensor.format("dense"), "out chans"),
    )
    summary = text("classes", "summary", "shifted", what="summary", axis="chans")
    answer = spans(generates=True)
    return {
        "ForSequenceClassification": TaskHead(summary, rows, tokens={"eos": ("eos_token_id", eos), **tokens}),
        "ForQuestionAnswering": answer._replace(
            definitions="\n".join((answer.definitions, text("shifted"))), tokens=tokens
        ),
    }


# Definitions of the decoder, which are removed if a file contains only the encoder
DECODER = (
    "states", "N^l", "Q^l", "k^l", "v^l", "K^l", "V^l", "A^l", "R^l", "N^{cross,l}", "Q^{cross,l}", "K^{cross,l}",
    "V^{cross,l}", "A^{cross,l}", "T^l", "Y^l", "Y^0", "M", "seen", "mask",
)  # fmt: skip


def head_of_encoder(head: TaskHead, *removes: str) -> TaskHead:
    """Return a version of a head for files that contain only the encoder of an encoder-decoder model."""
    return head._replace(removes=("logits", *DECODER, *removes), lacks=("decoder.*",))


T5_HEADS = {
    **sequence_heads(eos=1, start=0),
    "ForTokenClassification": head_of_encoder(classes("H"), "scale", "F^l", "P^{dec}", "d"),
}
SOUND_ROWS = (*linear("proj", "projector", "proj chans"), *linear("class", "classifier", "class proj"))
WHISPER_HEADS = {
    "ForAudioClassification": head_of_encoder(
        TaskHead(text("sound") + "\nsound = H", SOUND_ROWS), "Z^{cross,l}", "M^{dec,l}", "positions"
    ),
    "ForAudioClassification with use_weighted_layer_sum": head_of_encoder(
        TaskHead(text("sound", "layers"), (*SOUND_ROWS, WeightEntry("η", "layer_weights", "layer"))),
        "Z^{cross,l}", "M^{dec,l}", "positions",
    ),
}  # fmt: skip
IMAGE = classes("[(∑_{patch} Y^N - Y^N_{patch(1)}) / (|patch| - 1)]", axis="chans'")  # without the class token
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
