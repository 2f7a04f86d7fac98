"""Task heads of BERT, RoBERTa and DistilBERT, such as the layers that BertForMaskedLM adds.

The result of a head is called `logits`. A head for question answering has the results `start_logits` and `end_logits`.
"""

from __future__ import annotations

from ..pretrained.heads import TaskHead
from ..pretrained.weights import WeightEntry, linear, norm
from .task_heads import classes, spans, text, with_hidden


def make_masked_head(act: str, dense: str, layer_norm: str, bias: str, decoder: str) -> TaskHead:
    """Return the head of a masked language model, which computes a logit for each vocabulary word at each position."""
    rows = (
        *linear("word", dense, "out chans"),
        *norm("word", layer_norm),
        WeightEntry("b^{vocab}", bias, "vocab"),
    )
    untied = WeightEntry("U", f"{decoder}.weight", "vocab chans"), WeightEntry("b^{vocab}", f"{decoder}.bias", "vocab")
    return TaskHead(text("masked", act=act), rows, untied)


def hidden(act: str, dense: str) -> tuple[str, tuple[WeightEntry, ...]]:
    """Return the definitions and the weight entries of a hidden layer that is inserted before the classes."""
    return text("hidden_classes", act=act), linear("summary", dense, "out chans")


def choice(what: str, tensor: str) -> TaskHead:
    """Return the head that computes one score for each text. The texts are the elements along a separate axis."""
    return TaskHead(text("choice", what=what), linear("choice", tensor, "one[1] chans", one=0))


BERT_WORDS = make_masked_head(
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
    "ForNextSentencePrediction": TaskHead(text("follows", name="logits"), BERT_NEXT),
    "ForPreTraining": TaskHead(
        text("masked", "follows", act="act", name="next_logits"), BERT_WORDS.rows + BERT_NEXT, BERT_WORDS.untied
    ),
}
ROBERTA_HEADS = {
    "ForMaskedLM": make_masked_head("gelu", "lm_head.dense", "lm_head.layer_norm", "lm_head.bias", "lm_head.decoder"),
    "ForSequenceClassification": with_hidden(classes("summary", "classifier.out_proj"), hidden("tanh", "classifier.dense")),
    "ForTokenClassification": classes("states"),
    "ForQuestionAnswering": spans(),
    "ForMultipleChoice": choice("pooled", "classifier"),
}  # fmt: skip
DISTILBERT_HEADS = {
    "ForMaskedLM": make_masked_head(
        "act", "vocab_transform", "vocab_layer_norm", "vocab_projector.bias", "vocab_projector"
    ),
    "ForSequenceClassification": with_hidden(classes("summary"), hidden("relu", "pre_classifier")),
    "ForTokenClassification": classes("states"),
    "ForQuestionAnswering": spans(),
    "ForMultipleChoice": with_hidden(choice("summary", "classifier"), hidden("relu", "pre_classifier")),
}
