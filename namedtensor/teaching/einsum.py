"""Translation of einsum calls to formulas with the axes of the declared inputs.

einsum("bqd,bkd->bqk", Q, K)   with Q ∈ ℝ^{batch × query × d}, K ∈ ℝ^{batch × key × d}   is   Q ⊙_{d} K
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.parser import parse
from grammar.printer import to_text
from grammar.traversal import rebuilt

from ..positional.detection import LETTERS

ANSWER = re.compile(r"^\s*answer\s*=\s*")
AXES = ("subscript", "superscript", "components")  # fields of a node that hold names of axes


def is_einsum(answer: str) -> bool:
    """Return whether an answer is an einsum call or only its subscripts."""
    return "einsum(" in answer.replace(" ", "") or LETTERS.fullmatch(answer) is not None


def translate_answer(answer: str, sets: Mapping[str, nodes.Set]) -> str:
    """Return the formula that an einsum answer denotes. Raise NotationError if it is invalid or does not fit the axes.

    >>> from grammar.parser import parse
    >>> sets = {s.names[0].text: s.sets[0] for s in parse("A ∈ ℝ^{i × j}\\nB ∈ ℝ^{k × l}").statements}
    >>> translate_answer('einsum("ab,bc->ac", A, B)', sets)
    'A ⊙_{j} B_{k→j}'
    """
    names: dict[str, str] = {}
    shapes: dict[str, str] = {}
    renamed: dict[str, nodes.Node] = {}
    for operand, letters in letters_of(answer, sets).items():
        axes = [axis.name for axis, _ in sets[operand].axes]
        for letter, axis in zip(letters, axes):
            if letter not in names:
                names[letter] = axis if axis not in names.values() else f"{axis}_{len(names)}"
        shapes[operand] = " ".join(names[letter] for letter in letters)
        pairs = [(axis, names[letter]) for letter, axis in zip(letters, axes) if axis != names[letter]]
        if pairs:
            items = tuple(((nodes.Axis(old),), (nodes.Axis(new),)) for old, new in pairs)
            renamed[operand] = nodes.Rename(nodes.Name(operand), items)
    formula = translate_call(call_of(answer, sets), shapes).formula
    return to_text(with_operands(parse(formula, "text"), renamed))


def translate_call(call: str, shapes: Mapping[str, str]) -> Any:
    """Return the translation of an einsum call for inputs of these shapes. Raise NotationError if it is invalid."""
    from ..positional.translation import translate

    return translate(call, shapes, kind="einsum", check=False)


def call_of(answer: str, sets: Mapping[str, nodes.Set]) -> str:
    """Return the einsum call in an answer.

    If the answer is only subscripts, the call has all inputs as operands, in order.
    """
    bare = ANSWER.sub("", answer).strip()
    return f'einsum("{bare.strip(chr(39) + chr(34))}", {", ".join(sets)})' if LETTERS.fullmatch(bare) else bare


def letters_of(answer: str, sets: Mapping[str, nodes.Set]) -> dict[str, tuple[str, ...]]:
    """Return the subscript letters that an einsum answer gives to the axes of each operand.

    Raise NotationError if the operands or the letters do not fit the given inputs.
    """
    call = call_of(answer, sets)
    if "..." in call:
        raise unread(call, "write a letter for every axis instead of ...")
    letters = dict(translate_call(call, {}).axes)
    for operand, axes in letters.items():
        if operand not in sets:
            raise unread(call, f"{operand} is not given; given are {', '.join(sets)}")
        declared = [axis.name for axis, _ in sets[operand].axes]
        if len(declared) != len(axes):
            raise unread(call, f"{operand} has {len(declared)} axes, {', '.join(declared)}, and {len(axes)} letters")
    return letters


def unread(call: str, hint: str) -> NotationError:
    """Return the error for an einsum call that cannot be read with the given inputs."""
    return NotationError(105, "cannot parse this einsum call", call, (0, len(call)), hint=hint)


def letters_clash(answer: str, sets: Mapping[str, nodes.Set]) -> str:
    """Return a message about a letter that stands for several axes of different sizes."""
    axes_of: dict[str, list[tuple[str, str]]] = {}
    for operand, letters in letters_of(answer, sets).items():
        for letter, (axis, _) in zip(letters, sets[operand].axes):
            axes_of.setdefault(letter, []).append((axis.name, operand))
    letter, axes = next(pair for pair in axes_of.items() if len({axis for axis, _ in pair[1]}) > 1)
    listed = " and for ".join(f"{axis} of {operand}" for axis, operand in axes)
    return f"the letter {letter} stands for {listed}, which have different sizes"


def with_operands(node: Any, operands: Mapping[str, nodes.Node]) -> Any:
    """Return a tree in which the names of operands are replaced by the given nodes."""
    if isinstance(node, nodes.Name):
        return operands.get(node.text, node)
    return rebuilt(node, partial(with_operands, operands=operands), apart=AXES)
