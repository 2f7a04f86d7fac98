"""References: what an answer is compared with, the reference solution or its data in a released file.

A released exercise has no reference solution. It stores, for fixed random inputs, the rounded expected values and those
of its common mistakes with their feedback, and the words of generated mistakes, each encrypted with the values that it makes; for
types and signatures it stores hashes of correct answers. Everything else is
obfuscated (not encrypted) with the name of the exercise, so that no one reads it by chance.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, Protocol

from grammar import nodes
from grammar.cache import cached_property
from grammar.errors import NotationError
from grammar.parser import parse
from grammar.printer import to_text

from .comparison import laid_out, largest, matchings
from .exercise_files import ExerciseText
from .mutants import distinct_mutants
from .random_numbers import STYLES
from .settings import SampledInputs, Setting
from .spelling import called, expression
from .values import GradedValue

DIGITS = 10  # of the values that a released file keeps
MAX_KEPT_CHANGES = 40  # generated mistakes of a solution in a released file
CHANGE_DRAWS = 2  # by the values on which they are known
LOCK = 12  # hexadecimal digits of the hash of such values
UNITS = 961_803.7  # per largest number; no fraction of small integers is a half of one
FITS = Callable[[tuple[str, ...]], bool]


class Reference(Protocol):
    """The reference of an exercise: its solution, or the digest of it."""

    setting: Setting

    def draws(self) -> Iterator[tuple[SampledInputs, GradedValue]]: ...
    def mistakes(self) -> Iterator[tuple[str, list[GradedValue]]]: ...
    def change_of(self, answer: list[GradedValue]) -> str | None: ...
    def types(self) -> Mapping[str, FITS]: ...
    def signature(self) -> tuple[list[FITS], FITS]: ...
    def ends(self) -> tuple[Callable[[str], bool], Callable[[str], bool]]: ...


@lru_cache(maxsize=64)
def reference_of(exercise: ExerciseText, seed: int) -> Reference:
    """The reference of an exercise, which the answers of a class share."""
    return Kept(exercise) if exercise.expected is not None else Solution(exercise, seed)


def axes_of(given: nodes.Set) -> tuple[str, ...]:
    """The axes of a set, in alphabetical order."""
    return tuple(sorted(axis.name for axis, _ in given.axes))


class Solution:
    """The solution itself."""

    def __init__(self, exercise: ExerciseText, seed: int = 0):
        if exercise.solution is None:
            raise NotationError(
                105, f"the exercise {exercise.name} has no solution", hint="grade with the file that has it"
            )
        self.exercise, self.seed = exercise, seed
        self.setting = Setting(exercise.given)
        self.solution = self._whole(exercise.solution)

    def _whole(self, formula: str) -> str:
        if self.exercise.hole is not None:
            return self.exercise.hole.replace("?", f"({expression(formula)})")
        return called(formula)

    def draws(self) -> Iterator[tuple[SampledInputs, GradedValue]]:
        return iter(self._drawn)

    @cached_property
    def _drawn(self) -> list[tuple[SampledInputs, GradedValue]]:
        return list(self._draws())

    def _draws(self) -> Iterator[tuple[SampledInputs, GradedValue]]:
        if self.exercise.kind == "derivation":
            yield from self.setting.draws(self.derivation()[0], self.seed)
        elif self.exercise.kind == "sizes":
            for offset in (0, 1, 3):
                drawn = self.setting.drawn(self.seed, "normal", self.setting.sizes(self.solution, offset))
                yield drawn, self.setting.value(self.solution, drawn)
        else:
            yield from self.setting.draws(self.solution, self.seed)
            for text in self.exercise.draws:
                drawn = self.setting.said(self.seed, text, self.setting.sizes(self.solution))
                yield drawn, self.setting.value(self.solution, drawn)

    def mistakes(self) -> Iterator[tuple[str, list[GradedValue]]]:
        return iter(self._mistakes)

    @cached_property
    def _mistakes(self) -> list[tuple[str, list[GradedValue]]]:
        return list(self._mistaken())

    def _mistaken(self) -> Iterator[tuple[str, list[GradedValue]]]:
        for mistake in self.exercise.mistakes:
            try:
                formula = self._whole(mistake.formula)
                yield mistake.sentence, [self.setting.value(formula, drawn) for drawn, _ in self.draws()]
            except NotationError:
                continue

    def change_of(self, answer: list[GradedValue]) -> str | None:
        """None: the solution itself is compared with."""
        return None

    def types(self) -> Mapping[str, FITS]:
        parts = self.exercise.parts or ("",)
        return {part: self._type(part or self.solution) for part in parts}

    def _type(self, formula: str) -> FITS:
        shape = self.setting.check(formula).shape
        expected = tuple(sorted(shape or ()))
        return lambda axes: axes == expected

    def signature(self) -> tuple[list[FITS], FITS]:
        statement = parse(self.solution, "text").statements[-1]
        if not isinstance(statement, nodes.Signature):
            raise NotationError(
                105, f"the solution of {self.exercise.name} is not a signature", hint="write f : ℝ^{a} → ℝ^{b}"
            )
        fits: list[FITS] = [_is(axes_of(set_)) for set_ in (*statement.domain, statement.codomain)]
        return fits[:-1], fits[-1]

    def derivation(self) -> list[str]:
        last = parse(self.solution, "text").statements[-1]
        sides = last.sides if isinstance(last, nodes.Equation) else (getattr(last, "body", None),)
        return [to_text(side) for side in sides if side is not None and to_text(side) != "answer"]

    def ends(self) -> tuple[Callable[[str], bool], Callable[[str], bool]]:
        """Whether a line is the first of the derivation, and whether one is the last."""
        lines = self.derivation()
        return (lambda line: line == lines[0]), (lambda line: line == lines[-1])


def _is(expected: tuple[str, ...]) -> FITS:
    return lambda axes: axes == expected


class Kept:
    """The part of a solution that a released file keeps."""

    def __init__(self, exercise: ExerciseText):
        self.exercise = exercise
        self.setting = Setting(exercise.given)
        self.kept = opened(exercise.expected or "", exercise.name)

    def draws(self) -> Iterator[tuple[SampledInputs, GradedValue]]:
        for draw in self.kept["draws"]:
            if draw["style"] in STYLES:
                drawn = self.setting.drawn(draw["seed"], draw["style"], draw["sizes"])
            else:
                drawn = self.setting.said(draw["seed"], draw["style"], draw["sizes"])
            yield drawn, _tensor(draw["expected"])

    def mistakes(self) -> Iterator[tuple[str, list[GradedValue]]]:
        for sentence, values in self.kept["mistakes"]:
            yield sentence, [_tensor(value) for value in values]

    def types(self) -> Mapping[str, FITS]:
        return {part: self._marked(type_) for part, type_ in self.kept["types"].items()}

    def _marked(self, expected: str) -> FITS:
        return lambda axes: seal(self.exercise.name, axes) == expected

    def signature(self) -> tuple[list[FITS], FITS]:
        checks = [self._marked(sealed) for sealed in self.kept["signature"]]
        return checks[:-1], checks[-1]

    def ends(self) -> tuple[Callable[[str], bool], Callable[[str], bool]]:
        first, last = self.kept["ends"]
        return (lambda line: seal(self.exercise.name, (line,)) == first), (
            lambda line: seal(self.exercise.name, (line,)) == last
        )

    def change_of(self, answer: list[GradedValue]) -> str | None:
        """The change to the solution that makes these values, in words that only these values open."""
        changes = dict(self.kept["changes"])
        drawn = [*islice(self.draws(), CHANGE_DRAWS)]
        for way in matchings(answer[0], drawn[0][1], self.setting.axes):
            graded = [laid_out(result, expected, way)[0] for result, (_, expected) in zip(answer, drawn)]
            key = fingerprint(graded, drawn)
            if (locked := changes.get(seal(self.exercise.name, (key,))[:LOCK])) is not None:
                return unlocked(locked, key)
        return None


# ------------------------------------------------------------------------------------------------------------- released
def seal(name: str, words: Iterable[str]) -> str:
    """Return a hash of some words, from which they cannot be recovered."""
    return hashlib.sha256("\0".join((name, *words)).encode()).hexdigest()[:24]


def kept_of(exercise: ExerciseText, seed: int = 0) -> str:
    """What a released file keeps of an exercise, unreadable."""
    solution = Solution(exercise, seed)
    sealed: dict[str, Any] = {"draws": [], "mistakes": []}
    if exercise.kind == "types":
        shapes: dict[str, Mapping[str, Any]] = {
            part: solution.setting.check(part or solution.solution).shape or {} for part in exercise.parts or ("",)
        }
        sealed["types"] = {part: seal(exercise.name, sorted(shape)) for part, shape in shapes.items()}
    elif exercise.kind == "signature":
        statement: Any = parse(solution.solution, "text").statements[-1]
        sealed["signature"] = [seal(exercise.name, axes_of(set_)) for set_ in (*statement.domain, statement.codomain)]
    else:
        sealed["draws"] = list(_kept_draws(solution))
        sealed["mistakes"] = [
            (sentence, [_record(value) for value in values]) for sentence, values in solution.mistakes()
        ]
        sealed["changes"] = list(_kept_changes(solution))
    if exercise.kind == "derivation":
        lines = solution.derivation()
        sealed["ends"] = [seal(exercise.name, (line,)) for line in (lines[0], lines[-1])]
    return closed(sealed, exercise.name)


def _kept_draws(solution: Solution) -> Iterator[dict[str, Any]]:
    for drawn, expected in solution.draws():
        yield {"seed": drawn.seed, "style": drawn.style, "sizes": dict(drawn.extent), "expected": _record(expected)}


def _kept_changes(solution: Solution) -> Iterator[tuple[str, str]]:
    """Generated mistakes: a hash of the values of each, and its words, which these values alone open."""
    setting, drawn = solution.setting, [*islice(solution.draws(), CHANGE_DRAWS)]
    if solution.exercise.kind == "sizes" or solution.exercise.kind == "derivation":
        return
    right = fingerprint([expected for _, expected in drawn], drawn)
    known = {right}
    for text, change in distinct_mutants(parse(solution.solution, "text"), setting.axes, True):
        try:
            values = [setting.value(text, sampled_inputs) for sampled_inputs, _ in drawn]
            ways = [next(matchings(value, expected, setting.axes)) for value, (_, expected) in zip(values, drawn)]
        except (NotationError, StopIteration):
            continue
        if any(
            value.sizes != {axis: expected.sizes[way.get(axis, axis)] for axis in value.axes}
            for value, (_, expected), way in zip(values, drawn, ways)
        ):
            continue
        key = fingerprint(
            [laid_out(value, expected, way)[0] for value, (_, expected), way in zip(values, drawn, ways)], drawn
        )
        if key not in known:
            known.add(key)
            yield seal(solution.exercise.name, (key,))[:LOCK], locked_by(change, key)
        if len(known) > MAX_KEPT_CHANGES:
            return


def fingerprint(values: list[GradedValue], drawn: Iterable[tuple[SampledInputs, GradedValue]]) -> str:
    """The values as text, to the digits that every evaluator agrees on."""
    numbers: list[str] = []
    for value, (sampled_inputs, expected) in zip(values, drawn):
        unit = largest((*sampled_inputs.values.values(), expected)) / UNITS
        numbers += [f"{round(float(x) / unit)}" if math.isfinite(x) else str(float(x)) for x in value.numbers]
    return " ".join(numbers)


def locked_by(words: str, key: str) -> str:
    data = words.encode()
    return base64.b64encode(bytes(a ^ b for a, b in zip(data, _stream(key, len(data))))).decode()


def unlocked(text: str, key: str) -> str:
    data = base64.b64decode(text)
    return bytes(a ^ b for a, b in zip(data, _stream(key, len(data)))).decode(errors="replace")


def _record(value: GradedValue) -> dict[str, Any]:
    numbers = [float(f"{float(number):.{DIGITS}g}") for number in value.numbers]
    return {"axes": list(value.axes), "shape": list(value.extent), "numbers": numbers}


def _tensor(record: Mapping[str, Any]) -> GradedValue:
    return GradedValue(tuple(record["axes"]), tuple(record["shape"]), tuple(record["numbers"]))


def _stream(name: str, length: int) -> bytes:
    blocks = (hashlib.sha256(f"{name}\0{at}".encode()).digest() for at in range(length // 32 + 1))
    return b"".join(blocks)[:length]


def closed(sealed: Mapping[str, Any], name: str) -> str:
    data = zlib.compress(json.dumps(sealed, ensure_ascii=False).encode(), 9)
    return base64.b64encode(bytes(a ^ b for a, b in zip(data, _stream(name, len(data))))).decode()


def opened(text: str, name: str) -> dict[str, Any]:
    """What was kept. Raises NotationError if the text was changed."""
    try:
        data = base64.b64decode(text, validate=True)
        return json.loads(zlib.decompress(bytes(a ^ b for a, b in zip(data, _stream(name, len(data))))))
    except (ValueError, zlib.error):
        raise NotationError(
            105, f"what the exercise {name} keeps cannot be read", hint="take the file as it was released"
        ) from None
