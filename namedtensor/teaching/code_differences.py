"""Comparison of a formula with a program that was read from code, to find the code lines that differ.

Both are computed on the same random inputs, and the values of all their terms are compared. They differ at a term of
the code if the values of its operands occur in the formula, but its own value does not. This test is exact. Only the
description of the mistake is a guess.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from grammar import nodes
from grammar.errors import NotationError
from grammar.parser import parse
from grammar.printer import to_text
from grammar.printer.runs import axes_in

from ..operators import REGISTRY
from ..programs.plain_values import PlainTensor, value_of
from ..programs.term_values import TermValue, term_values
from ..scope.names import walk
from ..terms.terms import Term
from .comparison import SampledInputs
from .differences import Words
from .judgment import Equivalence, judge_values
from .mutants import changes, clip, places, short
from .settings import Setting, write_declarations
from .spelling import call_last_function, text_of

TRIED = 30  # the limit on mistakes that are tried to explain a difference
UNDEFINED_NAME = 201
ADDENDS = 5  # the most addends of a sum whose partial sums are compared
PLACES = 4  # the most differing terms of each side that are shown
CODE = Words("the code", "the value of the code", "the formula", "the formula", is_secret=False)
Fingerprint = tuple[float, ...]


class Parting(NamedTuple):
    """The terms at which code and formula first differ.

    For each of these terms, the other side has the values of all operands, but not the value of the term itself.

    `before` contains the last term of the code whose value is an operand of a term in `of_formula`, if there is such a
    term. `missing` contains the formula's values that the code does not compute. Single numbers are left out.
    """

    of_code: tuple[Term, ...]
    of_formula: tuple[Term, ...]
    before: tuple[Term, ...]
    missing: Fingerprints


def against_code(read: Any, formula: Any, given: str, seed: int) -> Equivalence:
    """Compare a module that `from_torch` read with a formula, and report the code lines that differ.

    The inputs have the types of the module. Constants of the code keep their values, unless the formula uses their
    names.
    """
    plain = Setting("\n".join(filter(str.strip, (write_declarations({**read.types, **read.unused}), given))))
    code, expected = read.formula, call_last_function(text_of(formula), tuple(plain.sets))
    spoken = set[str]().union(*(names_in(parse(text, "text")) for text in (given, expected) if text.strip()))
    constants = tuple((name, value_of(read.parameters[name])) for name in read.constants if name not in spoken)
    setting = replace(plain, constants=constants)
    try:
        setting.check(expected)
    except NotationError as problem:
        if problem.code != UNDEFINED_NAME:
            raise
        raise problem.replace(hint=names_apart(setting, read, expected)) from None
    state = setting.compared(code, setting.draws(expected, seed, code))
    equivalence = judge_values(setting, state, CODE)
    return equivalence or explain_difference(setting, read, expected, state[0].test.drawn, equivalence)


def names_apart(setting: Setting, read: Any, expected: str) -> str:
    """Return a sentence about names that occur only in the formula or only in the code."""
    tree = parse(expected, "text")
    defined = {to_text(line.sides[0]) for line in tree.statements if isinstance(line, nodes.Equation)}
    spoken = {name for name in names_in(tree) if name.split("_")[0] not in REGISTRY}
    sides = {
        "the formula": sorted(spoken - setting.names - defined - set(axes_in(tree))),
        "the code": sorted({*read.types} - spoken),
    }
    listed = [f"only {side} has {', '.join(names)}" for side, names in sides.items() if names]
    return f"{'; '.join(listed)}: use the code's names, or define the formula's with given="


def explain_difference(
    setting: Setting, read: Any, expected: str, drawn: SampledInputs, equivalence: Equivalence
) -> Equivalence:
    """Return a result that also states the code lines that differ.

    If changing a single term of the code makes it compute the formula's value, the result describes this change.
    """
    code = read.formula
    parting = find_parting(setting, code, expected, drawn)
    messages = [*itertools.islice(slips(setting, code, parting, drawn), 1)]
    lines = lines_of(read, code, parting._replace(before=()) if messages else parting, setting)
    shown = [f"the code has {text}" for text in texts(setting.with_formula(code), parting.of_code)]
    shown += [
        f"the formula has {text}, which no line of the code computes"
        for text in texts(setting.with_formula(expected), parting.of_formula)
    ]
    where = [f"{line.short}: {line.text}" for line in lines]
    remarks = [str(remark) for remark in read.remarks]
    remarks += [f"the code never uses {name}" for name in read.unused if name in names_in(parse(expected, "text"))]
    sentences = [*where, *(messages or shown), *remarks, equivalence.message]
    return replace(
        equivalence,
        message="\n".join(sentences),
        difference="mistake" if messages else equivalence.difference,
        lines=tuple(lines),
    )


# ----------------------------------------------------------------------------------------------------- the first difference
def find_parting(setting: Setting, code: str, expected: str, drawn: SampledInputs) -> Parting:
    tensors = {name: value.to_tensor() for name, value in drawn.values.items()}
    sides = [term_values(setting.with_formula(text), tensors) for text in (code, expected)]
    known = [Fingerprints([*side, *partial_sums(side)]) for side in sides]
    of_code, of_formula = frontier(sides[0], known[1]), frontier(sides[1], known[0])
    missing = Fingerprints(value for value in sides[1] if value.array not in known[0] and np.size(value.array) > 1)
    arrays = {id(value.term): value.array for value in sides[1]}
    operands = Fingerprints(
        TermValue(part, arrays[id(part)]) for term in of_formula for part in term.arguments if part.arguments
    )
    equal = [value.term for value in sides[0] if value.term.arguments and value.array in operands]
    return Parting(of_code, of_formula, tuple(equal[-1:] if of_formula else sides[0][-1].term.arguments[:0]), missing)


def partial_sums(side: Sequence[TermValue]) -> Iterator[TermValue]:
    """Yield the partial sums of all sums with at most `ADDENDS` addends.

    For example, the partial sum x + y of x + (y + z) is not a term of the formula.
    """
    values = {id(value.term): value for value in side}
    inner = {id(part) for value in side if value.term.operator == "+" for part in value.term.arguments}
    for value in side:
        if value.term.operator == "+" and id(value.term) not in inner:
            addends = addends_of(value.term, values)
            for count in range(2, len(addends)) if len(addends) <= ADDENDS else ():
                yield from (sum_of(value.term, several) for several in itertools.combinations(addends, count))


def addends_of(term: Term, values: Mapping[int, TermValue]) -> list[TermValue]:
    if term.operator != "+":
        return [values[id(term)]]
    return [addend for part in term.arguments for addend in addends_of(part, values)]


def sum_of(term: Term, addends: Sequence[TermValue]) -> TermValue:
    axes = tuple(dict.fromkeys(axis for addend in addends for axis in addend.axes))
    total: Any = 0
    for addend in addends:
        array = np.asarray(addend.array, dtype=float)
        order = [addend.axes.index(axis) for axis in axes if axis in addend.axes]
        shape = [array.shape[addend.axes.index(axis)] if axis in addend.axes else 1 for axis in axes]
        total = total + array.transpose(order).reshape(shape)
    return TermValue(term, total, axes)


class Fingerprints:
    """A set of fingerprints. A fingerprint identifies the value of a term, regardless of the order of its axes."""

    def __init__(self, values: Iterable[TermValue]):
        self.by_shape: dict[tuple[int, ...], list[Fingerprint]] = {}
        for value in values:
            self.add(value.array)

    def add(self, array: Any) -> None:
        key, fingerprint = fingerprint_of(array)
        self.by_shape.setdefault(key, []).append(fingerprint)

    def __contains__(self, array: Any) -> bool:
        key, fingerprint = fingerprint_of(array)
        return any(
            all(math.isclose(one, two, rel_tol=1e-7, abs_tol=1e-9) for one, two in zip(fingerprint, other))
            for other in self.by_shape.get(key, ())
        )


def fingerprint_of(array: Any) -> tuple[tuple[int, ...], Fingerprint]:
    """Return the sorted sizes of a tensor, except sizes of 1, and numbers that identify it regardless of axis order."""
    values = np.asarray(array, dtype=float)
    finite = values[np.isfinite(values)]
    key = tuple(sorted(size for size in values.shape if size != 1))
    if not finite.size:
        return key, (0.0, float(values.size))
    with np.errstate(over="ignore"):
        sums = [float(np.sum(other)) for other in (finite, finite**2, np.sin(finite))]
    return key, (*sums, float(finite.max()), float(finite.min()), float(values.size - finite.size))


def frontier(side: Sequence[TermValue], other: Fingerprints) -> tuple[Term, ...]:
    """Return the innermost terms whose values the other side lacks, although it has their operands' values."""
    arrays = {id(value.term): value.array for value in side}
    shared = {
        id(value.term): not value.term.arguments or value.array in other
        for value in side
        if not isinstance(value.array, tuple)
    }
    terms: list[Term] = []
    waiting, seen = [side[-1].term], set[int]()
    while waiting:
        term = waiting.pop()
        if id(term) in seen or shared.get(id(term), True):
            continue
        seen.add(id(term))
        inside = [
            argument for argument in term.arguments if not shared.get(id(argument), True) and id(argument) in arrays
        ]
        waiting += inside
        if not inside:
            terms.append(term)
    return tuple(sorted(terms, key=lambda term: term.serial))


def texts(source: str, terms: Sequence[Term]) -> list[str]:
    spans = [term.node.span for term in terms if term.node is not None]
    return list(dict.fromkeys(clip(" ".join(source[start:end].split()), 120) for start, end in spans))[:PLACES]


# ----------------------------------------------------------------------------------------------------- lines of the code
def lines_of(read: Any, code: str, parting: Parting, setting: Setting) -> list[Any]:
    """Return the code lines of the terms that differ, and the line after which the code lacks a value.

    If the terms are in several lines, the innermost line that calls all of them comes first.
    """
    stacks, before = (stacks_of(read, code, terms, setting) for terms in (parting.of_code, parting.before))
    innermost = [stack[0] for stack in stacks]
    common = [line for line in stacks[0] if all(line in stack for stack in stacks)] if len({*innermost}) > 1 else []
    branch = [branching(stack, stacks[0] if stacks else ()) for stack in before]
    return list(dict.fromkeys([*common[:1], *innermost, *branch]))


def branching(stack: Sequence[Any], other: Sequence[Any]) -> Any:
    """Return the outermost line of `stack` that is not in `other`, or the innermost line if all are in `other`."""
    outer = [line for line in stack if line not in other]
    return outer[-1] if outer else stack[0]


def stacks_of(read: Any, code: str, terms: Sequence[Term], setting: Setting) -> list[tuple[Any, ...]]:
    """Return the call stack of each term: its code line and the lines that called this line, innermost first."""
    offset = len(setting.with_formula(code)) - len(code)
    by_span = spans_of(read, code)
    spans = [term.node.span for term in terms if getattr(term.node, "span", None)]
    stacks = [by_span.get((start - offset, end - offset)) for start, end in spans]
    return [stack for stack in stacks if stack]


def spans_of(read: Any, code: str) -> dict[tuple[int, int], Any]:
    """Return a map from spans in the text of a program to the code lines that they were read from."""
    statements = tuple(line for line in read.tree.statements if not isinstance(line, nodes.Declaration))
    parsed = parse(code, "text").statements
    spans: dict[tuple[int, int], Any] = {}
    for piece, statement in zip(chain(*map(walk, parsed)), chain(*map(walk, statements))):
        lines = read.lines_of(statement)
        if lines[0].file:
            spans.setdefault(piece.span, lines)
    return spans


# --------------------------------------------------------------------------------------------------------- descriptions of mistakes
def slips(setting: Setting, code: str, parting: Parting, drawn: SampledInputs) -> Iterator[str]:
    """Yield sentences about changes to code terms that differ. Each change gives a term a value from the formula."""
    tree = parse(code, "text")
    offset = len(setting.with_formula(code)) - len(code)
    nodes_of_terms = [term.node for term in parting.of_code if getattr(term.node, "span", None)]
    spans = {(node.span[0] - offset, node.span[1] - offset) for node in nodes_of_terms}
    axes = axes_in(tree) or setting.axes
    at = [node for node in places(tree) if node.span in spans]
    candidates = ((node, other, words) for node in at for other, words in changes(node, axes))
    before = tuple(statement for statement in tree.statements if isinstance(statement, nodes.Equation))
    for node, other, words in itertools.islice(candidates, TRIED):
        text = to_text(nodes.Program((*before, nodes.Value(other))))
        try:
            value = setting.value(text, drawn)
        except NotationError:
            continue
        if array_of(value) in parting.missing:
            yield f"the code has {short(node)}; {words} it is what the formula has"


def array_of(value: PlainTensor) -> Any:
    return np.asarray(value.numbers, dtype=float).reshape(value.extent)


def names_in(tree: Any) -> set[str]:
    """Return the names of tensors in a tree, such as q_1. A power is not a name."""
    return {to_text(node) for node in walk(tree) if isinstance(node, (nodes.Name, nodes.Subscript))}
