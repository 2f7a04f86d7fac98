"""Type indices that are labels, such as X_{day(Mon)} if the input X has labels on day and Mon is undefined.

A defined name or an input takes precedence over a label. A number is always a position.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.errors import Hint, NotationError
from grammar.nodes import Node
from grammar.printer import to_text

from ..core.labels import Labels
from ..core.suggestions import did_you_mean, near
from ..scope.names import Key, walk
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.labels import labels_to_index
from ..terms.terms import Term

MAX_SHOWN = 5  # The maximum number of labels in a hint.
UNDEFINED = 201


def with_positions(checker: Inference, axis: str, part: Node, base: Term, env: Environment) -> Node:
    """Replace each label in an index or slice with its position. Raise an error if an undefined name is not a label."""
    if isinstance(part, nodes.Slice):
        first, last = (with_positions(checker, axis, end, base, env) for end in (part.first, part.last))
        return replace(part, first=first, last=last)
    if not is_unknown(checker, part, env):
        return part
    if axis not in base.shape:  # The missing axis raises an error later, whatever the index is.
        return nodes.Number(1, part.span)
    labels = labels_to_index(base, axis, checker.labels, checker.error)
    if labels is None:
        return part
    text = checker.text(part)
    if text not in labels.texts:  # LaTeX may spell the label differently.
        text = to_text(part)
    places = labels.texts.get(text, [])
    if len(places) == 1:
        return nodes.Number(places[0] + 1, part.span)
    if places:
        raise checker.error(
            401, f"the label {text} occurs {len(places)} times on axis {axis}", part,
            hint=Hint(f"write its position: {' or '.join(str(at + 1) for at in places[:MAX_SHOWN])}"),
        )  # fmt: skip
    try:
        checker.infer(part, env)
    except NotationError as problem:
        if problem.code == UNDEFINED:
            raise no_label(checker, text, axis, labels, part) from None
        raise
    return part


def is_unknown(checker: Inference, part: Node, env: Environment) -> bool:
    """Return whether an index contains only undefined names, which may be labels."""
    names = [Key(node.text) for node in walk(part) if isinstance(node, nodes.Name)]
    return bool(names) and all(checker.find(name, env, part) is None for name in names)


def no_label(checker: Inference, text: str, axis: str, labels: Labels, part: Node) -> Any:
    texts = [*labels.texts]
    first = ", ".join(texts[:MAX_SHOWN]) + ", …" * (len(texts) > MAX_SHOWN)
    return checker.error(
        401, f"axis {axis} has no label {text}, and nothing defines it", part,
        hint=did_you_mean(near(text, texts)) or f"its labels are {first}",
    )  # fmt: skip
