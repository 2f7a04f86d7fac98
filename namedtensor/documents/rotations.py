r"""Rotations that lack a factor: X ⊙ \cos φ + quarter(X) ⊙ \sin φ has both a cosine and a sine of one angle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grammar import nodes

from ..scope.names import walk
from .lines import DocumentLines, Line, Suspicion, factors_of, is_call
from .notation import base_of

CODE = 411
OTHER = {"cos": "sin", "sin": "cos"}


def broken_rotations(lines: DocumentLines) -> Iterator[Suspicion]:
    """Yield a suspicion for each sum of which one term has the cosine or the sine of an angle, and the other lacks its own."""
    for line in lines.all:
        for node in line.body_nodes:
            if is_call(node, "+", "-") and len(node.arguments) == 2:
                suspicion = _of_sum(lines, line, node)
                if suspicion is not None:
                    yield suspicion
        yield from _half(lines, line)


def _half(lines: DocumentLines, line: Line) -> Iterator[Suspicion]:
    """A definition X ⊙ cos φ in a document without sin φ, or beside one of the same name that has both."""
    factors = factors_of(line.body[0]) if len(line.body) == 1 else []
    waves = [factor for factor in factors if is_call(factor, *OTHER)]
    rest = [factor for factor in factors if factor not in waves]
    if (
        len(waves) != 1
        or not rest
        or not all(isinstance(part, (nodes.Name, nodes.Index)) for part in waves[0].arguments)
    ):
        return
    if not (_is_part(rest) or _is_argument(line, rest)):
        return
    other = nodes.Call(OTHER[waves[0].operator], (), (), waves[0].arguments)
    having = [
        at for at in lines.all if any(is_call(node, other.operator) and node == other for node in walk(at.statement))
    ]
    if isinstance(line.head, nodes.Call) and not having or _is_beside(line, having):
        text = f"{lines.text(line, line.body[0])} has the {waves[0].operator} of an angle, and no term with its {other.operator}"
        yield Suspicion(CODE, line, line.body[0], text, f"add the term with the {other.operator}")


def _is_beside(line: Line, others: list[Line]) -> bool:
    """Whether other elements of the same tensor are defined by one of these lines."""
    return any(isinstance(line.head, nodes.Index) and isinstance(at.head, nodes.Index) and at.head.base == line.head.base for at in others)  # fmt: skip


def _of_sum(lines: DocumentLines, line: Line, node: Any) -> Suspicion | None:
    terms = [factors_of(term) for term in node.arguments]
    waves = [[factor for factor in factors if is_call(factor, *OTHER)] for factors in terms]
    rest = [[factor for factor in factors if not is_call(factor, *OTHER)] for factors in terms]
    for one, other in ((0, 1), (1, 0)):
        if len(waves[one]) != 1 or not rest[one] and not (waves[other] and rest[other]):
            continue
        wave = waves[one][0]
        expected = nodes.Call(OTHER[wave.operator], (), (), wave.arguments)
        rotated, angle = _names(rest[one]) - line.indices.keys(), _names([wave]) - line.indices.keys()
        if expected in waves[other]:
            if not rest[other] and (_is_part(rest[one]) or _is_argument(line, rest[one])) and not rotated & angle:
                text = lines.text(line, node.arguments[other])
                return Suspicion(CODE, line, node.arguments[other], f"{text} lacks a factor, and {lines.text(line, wave)} has one", "multiply it by what is rotated")  # fmt: skip
            continue
        if waves[other] or not rotated & _names(rest[other]) or rotated & angle:
            continue
        if _is_part(rest[one]) or _is_part(rest[other]):
            text = lines.text(line, node.arguments[other])
            written = lines.text(line, wave)
            return Suspicion(CODE, line, node.arguments[other], f"{text} is not multiplied by the {OTHER[wave.operator]} of the angle in {written}", f"multiply it by that {OTHER[wave.operator]}")  # fmt: skip
    return None


def _is_part(factors: list[Any]) -> bool:
    """Whether a coefficient is a function of a tensor, or some of its elements: what is exchanged in a rotation."""
    return any(isinstance(factor, nodes.Index) or isinstance(factor, nodes.Call) and factor.operator[:1].isalpha() and factor.operator != "juxtaposed" for factor in factors)  # fmt: skip


def _is_argument(line: Line, factors: list[Any]) -> bool:
    """Whether a coefficient is the argument of the function that a line defines."""
    return isinstance(line.head, nodes.Call) and len(factors) == 1 and factors[0] in line.head.arguments


def _names(parts: list[Any]) -> set[str]:
    return {base_of(node) for part in parts for node in walk(part) if isinstance(node, nodes.Name)} - {""}
