r"""Steps of a recurrence that lack what they update, where the others have it.

T^l = LayerNorm(H^l)              where others are LayerNorm(X^{l-1} + H^l)
T^l = A^l ⊙_{seq} V^l             where X^l = T^l + …, and other such steps are X^{l-1} + …
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grammar import nodes

from .lines import DocumentLines, Line, Suspicion, bare, is_call
from .notation import base_of

CODE = 213
MIN_LIKE = 2  # other steps that have what they update


def lost_residuals(lines: DocumentLines) -> Iterator[Suspicion]:
    """Yield a suspicion for the only step of a document that lacks what it updates."""
    yield from _of_functions(lines)
    yield from _of_steps(lines)


def _of_functions(lines: DocumentLines) -> Iterator[Suspicion]:
    """Functions with parameters, of which all but one are of a sum: LayerNorm(X + Z; γ, β)."""
    groups: dict[str, list[tuple[Line, nodes.Call]]] = {}
    for line in lines.all:
        for node in line.body_nodes:
            if (
                isinstance(node, nodes.Call)
                and node.operator[:1].isalpha()
                and node.parameters
                and len(node.arguments) == 1
            ):
                groups.setdefault(node.operator, []).append((line, node))
    for operator, calls in groups.items():
        sums = [call for _, call in calls if is_call(call.arguments[0], "+", "-")]
        alone = [(line, call) for line, call in calls if not is_call(call.arguments[0], "+", "-")]
        if len(alone) == 1 and len(sums) >= MIN_LIKE and alone[0][0].ranges:
            line, call = alone[0]
            message = f"{operator} is of {lines.text(line, call.arguments[0])} alone, and in {len(sums)} similar formulas of a sum"
            yield Suspicion(CODE, line, call, message, "add what this step updates")


def _of_steps(lines: DocumentLines) -> Iterator[Suspicion]:
    """Steps T^l that others add to, X^l = T^l + …, and that do not add to another."""
    steps = [
        line for line in lines.all if line.ranges and len(line.body) == 1 and isinstance(line.head, nodes.Superscript)
    ]
    sums = [line for line in steps if _updated(line) is not None]
    updated = {base_of(_updated(line)) for line in sums}
    alone = [line for line in steps if line not in sums and base_of(line.head) in updated]
    if len(alone) == 1 and len(sums) >= MIN_LIKE:
        line, example = alone[0], lines.text(sums[0], sums[0].body[0])
        message = f"{lines.text(line, line.head)} is not a sum, and {len(sums)} similar steps are: {example}"
        yield Suspicion(CODE, line, line.body[0], message, "add what this step updates")


def _updated(line: Line) -> Any:
    """The T^l of X^l = T^l + …."""
    node = line.body[0]
    while is_call(node, "+", "-") and len(node.arguments) == 2:
        node = node.arguments[0]
    name = bare(node) if node is not line.body[0] else None
    return name if isinstance(name, nodes.Superscript) else None
