"""The table of rules: for each operator, how a term of it is written as an array expression; see `code`."""

from __future__ import annotations

from ..operators import REGISTRY
from . import code_elements as elements
from .code_contractions import along, contraction, extremum, of_matrix, reduction, solved
from .code_libraries import INFIX

RULES: dict[str, elements.Rule] = {
    **{record.name: elements.elementwise for record in REGISTRY.values() if record.kind == "elementwise"},
    **dict.fromkeys(INFIX, elements.infix), **dict.fromkeys(("identity", "I"), elements.size_rule("eye")),
    **dict.fromkeys(("variable", "spread"), elements.through), **dict.fromkeys(("where", "cases"), elements.cases),
    **dict.fromkeys(("⊕", "concat"), elements.joined), **dict.fromkeys(("⊙", "dot", "juxtaposed"), contraction),
    "number": elements.number, "iota": elements.iota, "ones": elements.size_rule("ones"), "constant": elements.constant,
    "negative": elements.negative, "¬": elements.negation, "indicator": elements.indicator, "rename": elements.renamed,
    "pick": elements.picked, "merge": elements.merged, "split": elements.split, "index": elements.indexed,
    "onehot": elements.onehot, "unroll": elements.windows, "pool": elements.blocks,
    **{name: reduction(plain) for name, plain in (
        ("∑", "sum"), ("∏", "prod"), ("mean", "mean"), ("var", "var"), ("std", "std"), ("norm", "norm"), ("logsumexp", "logsumexp"),
        ("any", "any"), ("all", "all"), ("quantile", "quantile"), ("median", "median"))},
    "max": extremum("max"), "min": extremum("min"),
    **dict.fromkeys(("softmax", "logsoftmax", "argmax", "argmin", "standardize", "cumsum", "cumprod", "sort"), along),
    **dict.fromkeys(("det", "inv", "trace", "logdet", "cholesky", "eigvalsh"), of_matrix), "solve": solved,
}  # fmt: skip
