"""The heads of BERT, of RoBERTa and of DistilBERT: what BertForMaskedLM and similar classes have on top of a model.

The result of a head is called `logits`; that of question answering is `start_logits` and `end_logits`.
"""

from __future__ import annotations

import inspect

from ..pretrained.heads import TaskHead
from ..pretrained.weights import WeightEntry

MASKED = """
    logits = words ⊙_{{chans}} U + b^{{vocab}}
    words = LayerNorm({act}([states ⊙_{{chans}} W^{{word}} + b^{{word}}]_{{out→chans}}); γ^{{word}}, β^{{word}})
    W^{{word}} ∈ ℝ^{{chans × out}}
    b^{{word}} ∈ ℝ^{{out}}
    γ^{{word}}, β^{{word}} ∈ ℝ^{{chans}}
    U ∈ ℝ^{{vocab × chans}}
    b^{{vocab}} ∈ ℝ^{{vocab}}
"""
FOLLOWS = """
    {name} = pooled ⊙_{{chans}} W^{{next}} + b^{{next}}
    W^{{next}} ∈ ℝ^{{chans × follows}}
    b^{{next}} ∈ ℝ^{{follows}}
"""
CLASSES = """
    logits = {what} ⊙_{{chans}} W^{{class}} + b^{{class}}
    W^{{class}} ∈ ℝ^{{chans × class}}
    b^{{class}} ∈ ℝ^{{class}}
"""
HIDDEN_CLASSES = """
    summary = {act}([states_{{seq(1)}} ⊙_{{chans}} W^{{summary}} + b^{{summary}}]_{{out→chans}})
    W^{{summary}} ∈ ℝ^{{chans × out}}
    b^{{summary}} ∈ ℝ^{{out}}
"""
CHOICE = """
    logits = {what} ⊙_{{chans}} W^{{choice}} + b^{{choice}}
    W^{{choice}} ∈ ℝ^{{chans}}
    b^{{choice}} ∈ ℝ
"""
SPANS = """
    start_logits = states ⊙_{chans} W^{start} + b^{start}
    end_logits = states ⊙_{chans} W^{end} + b^{end}
    W^{start}, W^{end} ∈ ℝ^{chans}
    b^{start}, b^{end} ∈ ℝ
"""


def text(*parts: str, **names: str) -> str:
    """The definitions of a head, one after another."""
    return "\n".join(inspect.cleandoc(part.format(**names) if names else part) for part in parts)


def linear(name: str, tensor: str, axes: str) -> tuple[WeightEntry, WeightEntry]:
    """The rows of a linear map and its bias, whose axes are those of the map's result."""
    result = axes.split()[0]
    return WeightEntry(f"W^{{{name}}}", f"{tensor}.weight", axes), WeightEntry(
        f"b^{{{name}}}", f"{tensor}.bias", result
    )


def masked(act: str, dense: str, norm: str, bias: str, decoder: str) -> TaskHead:
    """The logits of each token."""
    rows = (
        *linear("word", dense, "out chans"),
        WeightEntry("γ^{word}", f"{norm}.weight", "chans"),
        WeightEntry("β^{word}", f"{norm}.bias", "chans"),
        WeightEntry("b^{vocab}", bias, "vocab"),
    )
    untied = WeightEntry("U", f"{decoder}.weight", "vocab chans"), WeightEntry("b^{vocab}", f"{decoder}.bias", "vocab")
    return TaskHead(text(MASKED, act=act), rows, untied)


def hidden(act: str, dense: str) -> tuple[str, tuple[WeightEntry, ...]]:
    """A hidden layer between the first token and the classes."""
    return text(HIDDEN_CLASSES, act=act), linear("summary", dense, "out chans")


def choice(what: str, tensor: str) -> TaskHead:
    """One number for each of several texts, which have an axis of their own."""
    rows = (
        WeightEntry("W^{choice}", f"{tensor}.weight", "one[1] chans", one=0),
        WeightEntry("b^{choice}", f"{tensor}.bias", "one[1]", one=0),
    )
    return TaskHead(text(CHOICE, what=what), rows)


def spans() -> TaskHead:
    """The first and the last token of an answer."""
    rows = tuple(
        row
        for side, name in enumerate(("start", "end"))
        for row in (
            WeightEntry(f"W^{{{name}}}", "qa_outputs.weight", "side[2] chans", side=side),
            WeightEntry(f"b^{{{name}}}", "qa_outputs.bias", "side[2]", side=side),
        )
    )
    return TaskHead(text(SPANS), rows)


def with_hidden(head: TaskHead, layer: tuple[str, tuple[WeightEntry, ...]]) -> TaskHead:
    """A head behind a hidden layer."""
    return TaskHead(f"{head.definitions}\n{layer[0]}", head.rows + layer[1])


def classes(what: str, tensor: str = "classifier") -> TaskHead:
    """The logits of each class."""
    return TaskHead(text(CLASSES, what=what), linear("class", tensor, "class chans"))


BERT_WORDS = masked(
    "act", "cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias",
    "cls.predictions.decoder",
)  # fmt: skip
BERT_NEXT = linear("next", "cls.seq_relationship", "follows chans")
BERT_HEADS = {
    "ForMaskedLM": BERT_WORDS,
    "ForSequenceClassification": classes("pooled"),
    "ForTokenClassification": classes("states"),
    "ForQuestionAnswering": spans(),
    "ForMultipleChoice": choice("pooled", "classifier"),
    "ForNextSentencePrediction": TaskHead(text(FOLLOWS, name="logits"), BERT_NEXT),
    "ForPreTraining": TaskHead(
        f"{BERT_WORDS.definitions}\n{text(FOLLOWS, name='next_logits')}", BERT_WORDS.rows + BERT_NEXT, BERT_WORDS.untied
    ),
}
ROBERTA_HEADS = {
    "ForMaskedLM": masked("gelu", "lm_head.dense", "lm_head.layer_norm", "lm_head.bias", "lm_head.decoder"),
    "ForSequenceClassification": with_hidden(classes("summary", "classifier.out_proj"), hidden("tanh", "classifier.dense")),
    "ForTokenClassification": classes("states"),
    "ForQuestionAnswering": spans(),
    "ForMultipleChoice": choice("pooled", "classifier"),
}  # fmt: skip
DISTILBERT_HEADS = {
    "ForMaskedLM": masked("act", "vocab_transform", "vocab_layer_norm", "vocab_projector.bias", "vocab_projector"),
    "ForSequenceClassification": with_hidden(classes("summary"), hidden("relu", "pre_classifier")),
    "ForTokenClassification": classes("states"),
    "ForQuestionAnswering": spans(),
    "ForMultipleChoice": with_hidden(choice("summary", "classifier"), hidden("relu", "pre_classifier")),
}
