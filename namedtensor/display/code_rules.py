"""The table of rules: for each operator, how a term of it is written as an array expression; see `code`."""

from __future__ import annotations

from ..operators import REGISTRY
from .code_contractions import along, contraction, extremum, of_matrix, reduction, solved
from .code_elements import (
    Rule,
    blocks,
    cases,
    constant,
    elementwise,
    identity,
    indexed,
    indicator,
    infix,
    input_code,
    iota,
    joined,
    merged,
    negation,
    negative,
    number,
    onehot,
    ones,
    picked,
    renamed,
    split,
    through,
    where,
    windows,
)
from .code_libraries import INFIX

RULES: dict[str, Rule] = {
    **{record.name: elementwise for record in REGISTRY.values() if record.kind == "elementwise"},
    **dict.fromkeys(INFIX, infix),
    "input": input_code, "number": number, "iota": iota, "identity": identity, "I": identity, "ones": ones, "constant": constant,
    "negative": negative, "¬": negation, "indicator": indicator, "where": where, "cases": cases, "variable": through, "spread": through,
    "rename": renamed, "pick": picked, "merge": merged, "split": split, "index": indexed, "onehot": onehot, "⊕": joined,
    "concat": joined, "unroll": windows, "pool": blocks, "⊙": contraction, "dot": contraction, "juxtaposed": contraction,
    **{name: reduction(plain) for name, plain in (
        ("∑", "sum"), ("∏", "prod"), ("mean", "mean"), ("var", "var"), ("std", "std"), ("norm", "norm"), ("logsumexp", "logsumexp"),
        ("any", "any"), ("all", "all"), ("quantile", "quantile"), ("median", "median"))},
    "max": extremum("max"), "min": extremum("min"),
    **dict.fromkeys(("softmax", "logsoftmax", "argmax", "argmin", "standardize", "cumsum", "cumprod", "sort"), along),
    **dict.fromkeys(("det", "inv", "trace", "logdet", "cholesky", "eigvalsh"), of_matrix), "solve": solved,
}  # fmt: skip
