"""A call of einsum as a formula: letters are the axes of what is declared, in the order of the declarations.

einsum("bqd,bkd->bqk", Q, K)   with Q ∈ ℝ^{batch × query × d}, K ∈ ℝ^{batch × key × d}   is   Q ⊙_{d} K
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from grammar import nodes
from grammar.errors import NotationError

CALL = re.compile(
    r"""^\s*(?:answer\s*=\s*)?(?:\w+\.)?einsum\(\s*(['"])(?P<spec>[^'"]*)\1\s*,(?P<operands>.*)\)\s*$""", re.DOTALL
)
SPEC_ALONE = re.compile(r"""\s*(['"]?)(?P<spec>[A-Za-z, ]*->[A-Za-z ]*)\1\s*""")
SPEC = re.compile(r"[A-Za-z]*(?:,[A-Za-z]*)*->[A-Za-z]*$")


def is_einsum(answer: str) -> bool:
    """Whether an answer is a call of einsum, or the letters of one."""
    return "einsum(" in answer.replace(" ", "") or SPEC_ALONE.fullmatch(answer) is not None


def as_formula(answer: str, sets: Mapping[str, nodes.Set]) -> str:
    """The formula that a call of einsum means. Raises NotationError where it is none, or the letters do not fit.

    >>> from grammar.parser import parse
    >>> sets = {s.names[0].text: s.sets[0] for s in parse("A ∈ ℝ^{i × j}\\nB ∈ ℝ^{k × l}").statements}
    >>> as_formula('einsum("ab,bc->ac", A, B)', sets)
    '∑_{j} (A_{i→i, j→j} ⊙ B_{k→j, l→l})'
    """
    spec, operands = parts_of(answer, sets)
    inputs, _, output = spec.partition("->")
    letters = inputs.split(",")
    if len(letters) != len(operands):
        raise _wrong(answer, f"the groups of letters are {len(letters)}, and the operands {len(operands)}")
    names: dict[str, str] = {}
    parts = [_operand(answer, operand, own, sets, names) for operand, own in zip(operands, letters)]
    if unknown := [each for each in output if each not in names]:
        raise _wrong(answer, f"{unknown[0]} is a letter of no operand")
    product = " ⊙ ".join(parts)
    summed = [names[each] for each in names if each not in output]
    return f"∑_{{{', '.join(summed)}}} ({product})" if summed else product


def parts_of(answer: str, sets: Mapping[str, nodes.Set]) -> tuple[str, list[str]]:
    """The letters of a call, -> among them, and its operands: all that is given where the letters stand alone."""
    alone = SPEC_ALONE.fullmatch(answer)
    call = alone or CALL.match(answer)
    if call is None:
        raise _wrong(answer, 'write einsum("ab,bc->ac", A, B)')
    spec = call["spec"].replace(" ", "")
    if "." in spec:
        raise _wrong(answer, "write a letter for every axis instead of ...")
    if "->" not in spec:  # those that stand once, by the alphabet
        letters = spec.replace(",", "")
        spec += "->" + "".join(sorted(each for each in set(letters) if letters.count(each) == 1))
    if not SPEC.match(spec):
        raise _wrong(answer, "letters of each operand, ->, letters of the result")
    listed = "" if alone else call["operands"].strip()
    if listed[:1] in ("[", "(") and listed[-1:] in ("]", ")"):
        listed = listed[1:-1]
    return spec, [*sets] if alone else [each.strip() for each in listed.split(",") if each.strip()]


def letters_clash(answer: str, sets: Mapping[str, nodes.Set]) -> str:
    """A letter that stands for axes of several names, in words."""
    spec, operands = parts_of(answer, sets)
    found: dict[str, list[tuple[str, str]]] = {}
    for operand, letters in zip(operands, spec.partition("->")[0].split(",")):
        for letter, (axis, _) in zip(letters, sets[operand].axes):
            found.setdefault(letter, []).append((axis.name, operand))
    letter, axes = next(each for each in found.items() if len({axis for axis, _ in each[1]}) > 1)
    said = " and for ".join(f"{axis} of {operand}" for axis, operand in axes)
    return f"the letter {letter} stands for {said}, which have different sizes"


def _operand(answer: str, operand: str, letters: str, sets: Mapping[str, nodes.Set], names: dict[str, str]) -> str:
    """An operand with its axes renamed to those that its letters stand for."""
    if operand not in sets:
        raise _wrong(answer, f"{operand} is not given; given are {', '.join(sets)}")
    axes = [axis.name for axis, _ in sets[operand].axes]
    if len(axes) != len(letters):
        raise _wrong(answer, f"{operand} has {len(axes)} axes, {', '.join(axes)}, and {len(letters)} letters")
    if len(set(letters)) < len(letters):
        raise _wrong(answer, f"a letter twice in {letters} takes a diagonal: write this one in the notation")
    for letter, axis in zip(letters, axes):
        if letter not in names:
            names[letter] = axis if axis not in names.values() else f"{axis}_{letter}"
    renamed = ", ".join(f"{axis}→{names[letter]}" for letter, axis in zip(letters, axes))
    return f"{operand}_{{{renamed}}}" if renamed else operand


def _wrong(answer: str, hint: str) -> NotationError:
    return NotationError(105, "cannot parse this einsum call", answer.strip(), (0, len(answer.strip())), hint=hint)
