"""The encoder BERT and the names of its weights in checkpoints."""

from __future__ import annotations

from namedtensor.initializers import Constant, Normal

from ..pretrained.model import Model
from .bert_heads import BERT_HEADS


class BERT(Model):
    """BERT, an encoder whose layer norms follow the residual sums.

    `pooled` is available if the checkpoint contains the weights of its layer. `logits` is the result of the
    checkpoint's head. A head for question answering has the results `start_logits` and `end_logits`.
    """

    citation = "Devlin, Chang, Lee, Toutanova, BERT: Pre-training of Deep Bidirectional Transformers, 2019"
    file = "bert.nt"
    output = "states"
    inputs = ("ids",)
    optional_inputs = ("mask", "types", "positions")
    model_types = ("bert",)
    initializers = {
        "E": Normal("0.02"), "P": Normal("0.02"), "S": Normal("0.02"), "W": Normal("0.02"), "b": Constant(0.0),
    }  # fmt: skip
    config_sizes = {
        "L": "num_hidden_layers", "chans": "hidden_size", "heads": "num_attention_heads",
        "hidden": "intermediate_size", "vocab": "vocab_size", "place": "max_position_embeddings",
        "type": "type_vocab_size", "out": "hidden_size",
        "key": lambda config: config["hidden_size"] // config["num_attention_heads"],
        "val": lambda config: config["hidden_size"] // config["num_attention_heads"],
    }  # fmt: skip
    config_constants = {"ε": "layer_norm_eps"}
    activation = "hidden_act"
    required_config = {"is_decoder": False, "add_cross_attention": False, "position_embedding_type": "absolute"}
    base_model_prefix = "bert."
    weight_renames = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
    ignored_weights = ("embeddings.position_ids", "cls.predictions.decoder.*", "cls.predictions.bias")
    ignored_heads = ("cls.*", "classifier.*", "qa_outputs.*")
    heads = BERT_HEADS
    weights = "bert.weights"
