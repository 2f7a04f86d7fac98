r"""Signs that contradict what a document says elsewhere of the same term.

softmax(Q ⊙_{key} K - M)      where M is 0 or -∞, so that the difference is 0 or ∞
W ⊙_{in} X - b                where other formulas add such a b
\sqrt{mean X^2 - ε}           an ε that does not keep a root from 0
E_{vocab(ids - 1)}            where ids are indices, the first of which is 0 or 1
LayerNorm(X - Z)              where other formulas have LayerNorm(X + Z)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grammar import nodes

from ..scope.names import walk
from .inverted import is_small
from .lines import DocumentLines, Line, Suspicion, bare, factors_of, is_call
from .notation import base_of

UNLIKE, OPERANDS = 213, 411
MIN_LIKE = 2  # other formulas that have the sum of which one has the difference


def wrong_signs(lines: DocumentLines) -> Iterator[Suspicion]:
    """Yield a suspicion for each sign that seems to be wrong."""
    yield from _unlike(lines, [*_offsets(lines), *_updates(lines)])
    yield from _combinations(lines)
    for line in lines.all:
        for node, above in line.with_ancestors:
            suspicion = _of_difference(lines, line, node, above) or _of_index(lines, line, node)
            if suspicion is not None:
                yield suspicion


def _of_difference(lines: DocumentLines, line: Line, node: Any, above: tuple[Any, ...]) -> Suspicion | None:
    """What is wrong with a difference by itself: -∞ or ε is subtracted."""
    if not is_call(node, "-") or len(node.arguments) != 2:
        return None
    left, right = node.arguments
    text = lines.text(line, right)
    if _is_mask(lines, line, right):
        return Suspicion(OPERANDS, line, node, f"{text} is -∞ where it masks, and is subtracted", f"add it: + {text}")
    is_rooted = bool(above) and is_call(above[-1], "sqrt", "log")
    if is_small(right) and is_rooted and not isinstance(left, (nodes.Number, nodes.Name)):
        return Suspicion(OPERANDS, line, node, f"{text} is subtracted under a root", f"add it: + {text}")
    return None


def _is_mask(lines: DocumentLines, line: Line, node: Any) -> bool:
    """Whether a node is a name that is defined by cases, one of them -∞ and none ∞."""
    name = bare(node)
    definitions = lines.definitions(line, base_of(name)) if name is not None else []
    heads = map(base_of, (*getattr(line.head, "arguments", ()), *getattr(line.head, "parameters", ())))
    return bool(definitions) and base_of(name) not in heads and all(map(is_mask, definitions))


def is_mask(line: Line) -> bool:
    """Whether an equation defines a tensor by cases of which one is -∞ and another 0."""
    if len(line.body) != 1 or not isinstance(line.body[0], nodes.Cases):
        return False
    values = [value for value, _ in line.body[0].branches]
    infinite = nodes.Call("negative", (), (), (nodes.Name("∞"),))
    return infinite in values and nodes.Number(0) in values


def _of_index(lines: DocumentLines, line: Line, node: Any) -> Suspicion | None:
    """What is wrong with an index: T_{ax(ids - 1)} of ids that are indices themselves."""
    for axis, at in node.items if isinstance(node, nodes.Index) else ():
        if not is_call(at, "-") or not isinstance(at.arguments[1], nodes.Number):
            continue
        name = at.arguments[0]
        if isinstance(name, nodes.Name) and name.text not in line.indices and _is_tensor_of_indices(lines, name.text):
            text = lines.text(line, at)
            return Suspicion(OPERANDS, line, at, f"{text} is not an index for the first {lines.text(line, name)}, since those of {axis.name} begin with 1", "add the number, or leave it out")  # fmt: skip
    return None


def _is_tensor_of_indices(lines: DocumentLines, name: str) -> bool:
    """Whether a name is declared to be a tensor with axes."""
    declarations = [line.statement for line, _ in lines.declared.get(name, ())]
    return bool(declarations) and all(any(of.axes for of in declaration.sets) for declaration in declarations)


# ------------------------------------------------------------------------------------- sums of which one is a difference
Signed = tuple[Line, Any, Any]  # a line, its sum or difference, and the term that is added or subtracted


def _unlike(lines: DocumentLines, groups: list[list[Signed]]) -> Iterator[Suspicion]:
    """Yield a suspicion for a difference that is the only one among sums of its group."""
    for group in groups:
        differences = [signed for signed in group if signed[1].operator == "-"]
        others = [signed[0] for signed in group if signed[1].operator == "+"]
        if len(differences) == 1 and len(others) >= MIN_LIKE:
            line, node, term = differences[0]
            text = lines.text(line, term)
            like = min(others, key=lambda other: abs(other.maths.start - line.maths.start))
            example = " ".join(lines.text(like, like.statement).replace("&", "").split())
            message = f"{text} is subtracted, and {len(others)} similar formulas have a sum: {example}"
            yield Suspicion(UNLIKE, line, node, message, f"add it: + {text}")


def _offsets(lines: DocumentLines) -> list[list[Signed]]:
    """The sums of a product with a parameter and a parameter, or another such product: W ⊙_{in} X + b."""
    result: dict[int, list[Signed]] = {}
    for line in lines.all:
        for node in line.body_nodes:
            if not is_call(node, "+", "-") or len(node.arguments) != 2:
                continue
            left, right = node.arguments
            factor = left.arguments[1] if is_call(left, "+", "-") and len(left.arguments) == 2 else left
            is_added = lines.is_parameter(line, right) or is_call(right, "⊙") and bool(right.subscript) and _is_product(lines, line, right)  # fmt: skip
            if is_added and _is_product(lines, line, factor):
                result.setdefault(line.section, []).append((line, node, right))
    return list(result.values())


def _is_product(lines: DocumentLines, line: Line, node: Any) -> bool:
    """Whether a node is a product with a parameter."""
    while isinstance(node, nodes.Rename):
        node = node.base
    return is_call(node, "⊙", "juxtaposed") and any(lines.is_parameter(line, part) for part in walk(node))


def _updates(lines: DocumentLines) -> list[list[Signed]]:
    """The sums of two terms in one role: the argument of one function, or the whole of a definition of a family."""
    result: dict[Any, list[Signed]] = {}
    for line in lines.all:
        for side in line.body:
            if line.ranges and is_call(side, "+", "-") and isinstance(bare(side.arguments[0]), nodes.Superscript):
                result.setdefault((line.section, ""), []).append((line, side, side.arguments[1]))
            for node in walk(side):
                is_function = isinstance(node, nodes.Call) and node.operator[:1].isalpha() and bool(node.parameters)
                summed = node.arguments[0] if is_function and len(node.arguments) == 1 else None
                if is_call(summed, "+", "-") and len(summed.arguments) == 2:
                    result.setdefault((line.section, node.operator), []).append((line, summed, summed.arguments[1]))
    return list(result.values())


# --------------------------------------------------------------------------------------------------- convex combinations
def _combinations(lines: DocumentLines) -> Iterator[Suspicion]:
    """Yield a suspicion for each z ⊙ A + (1 + z) ⊙ B: weights of z and 1 - z have the sum 1."""
    for line in lines.all:
        for node in line.body_nodes:
            if is_call(node, "+") and len(node.arguments) == 2:
                left, right = map(factors_of, node.arguments)
                for weights, others in ((left, right), (right, left)):
                    yield from _unbalanced(lines, line, node, weights, others)


def _unbalanced(
    lines: DocumentLines, line: Line, node: Any, weights: list[Any], others: list[Any]
) -> Iterator[Suspicion]:
    if min(len(weights), len(others)) < 2:
        return
    for weight in weights:
        name = _of_weight(weight)
        if name is not None and name in others and base_of(name) not in ("", *line.indices):
            text, written = lines.text(line, weight), lines.text(line, name)
            yield Suspicion(OPERANDS, line, node, f"{text} and {written} are weights whose sum is not 1", f"write 1 - {written}")  # fmt: skip


def _of_weight(node: Any) -> Any:
    """The z of 1 + z and z - 1."""
    if not is_call(node, "+", "-") or len(node.arguments) != 2:
        return None
    left, right = node.arguments
    if node.operator == "+":
        return right if left == nodes.Number(1) else left if right == nodes.Number(1) else None
    return left if right == nodes.Number(1) else None
