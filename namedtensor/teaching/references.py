"""References: what an answer is compared with, the reference solution or its data in a released file.

A released exercise has no reference solution. It stores, for fixed random inputs, the rounded expected values and those
of its common mistakes with their feedback; for types and signatures it stores hashes of correct answers. Everything is
obfuscated (not encrypted) with the name of the exercise, so that nobody reads it by chance.
"""

from __future__ import annotations

import base64
import hashlib
import json
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

from .exercise_files import ExerciseText
from .random_numbers import STYLES
from .settings import Drawn, Setting
from .spelling import called, expression
from .values import Value

DIGITS = 10  # of the values that a released file keeps
FITS = Callable[[tuple[str, ...]], bool]


class Reference(Protocol):
    """The reference of an exercise: its solution, or the digest of it."""

    setting: Setting

    def draws(self) -> Iterator[tuple[Drawn, Value]]: ...
    def mistakes(self) -> Iterator[tuple[str, list[Value]]]: ...
    def types(self) -> Mapping[str, FITS]: ...
    def signature(self) -> tuple[list[FITS], FITS]: ...
    def lines(self) -> tuple[Callable[[int, str], bool], int]: ...


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

    def draws(self) -> Iterator[tuple[Drawn, Value]]:
        return iter(self._drawn)

    @cached_property
    def _drawn(self) -> list[tuple[Drawn, Value]]:
        return list(self._draws())

    def _draws(self) -> Iterator[tuple[Drawn, Value]]:
        if self.exercise.kind == "ordering":
            yield from islice(self.setting.draws(self.derivation()[0], self.seed), 1)
        elif self.exercise.kind == "sizes":
            for offset in (0, 1, 3):
                drawn = self.setting.drawn(self.seed, "normal", self.setting.sizes(self.solution, offset))
                yield drawn, self.setting.value(self.solution, drawn)
        else:
            yield from self.setting.draws(self.solution, self.seed)
            for text in self.exercise.draws:
                drawn = self.setting.said(self.seed, text, self.setting.sizes(self.solution))
                yield drawn, self.setting.value(self.solution, drawn)

    def mistakes(self) -> Iterator[tuple[str, list[Value]]]:
        return iter(self._mistakes)

    @cached_property
    def _mistakes(self) -> list[tuple[str, list[Value]]]:
        return list(self._mistaken())

    def _mistaken(self) -> Iterator[tuple[str, list[Value]]]:
        for mistake in self.exercise.mistakes:
            try:
                formula = self._whole(mistake.formula)
                yield mistake.sentence, [self.setting.value(formula, drawn) for drawn, _ in self.draws()]
            except NotationError:
                continue

    def types(self) -> Mapping[str, FITS]:
        parts = self.exercise.parts or ("",)
        return {part: self._type(part or self.solution) for part in parts}

    def _type(self, formula: str) -> FITS:
        shape = self.setting.check(formula).shape
        due = tuple(sorted(shape or ()))
        return lambda axes: axes == due

    def signature(self) -> tuple[list[FITS], FITS]:
        found = parse(self.solution, "text").statements[-1]
        if not isinstance(found, nodes.Signature):
            raise NotationError(
                105, f"the solution of {self.exercise.name} is not a signature", hint="write f : ℝ^{a} → ℝ^{b}"
            )
        made: list[FITS] = [_is(axes_of(each)) for each in (*found.domain, found.codomain)]
        return made[:-1], made[-1]

    def derivation(self) -> list[str]:
        last = parse(self.solution, "text").statements[-1]
        sides = last.sides if isinstance(last, nodes.Equation) else (getattr(last, "body", None),)
        return [to_text(side) for side in sides if side is not None and to_text(side) != "answer"]

    def lines(self) -> tuple[Callable[[int, str], bool], int]:
        lines = self.derivation()
        return (lambda number, line: line == lines[number - 1]), len(lines)


def _is(due: tuple[str, ...]) -> FITS:
    return lambda axes: axes == due


class Kept:
    """The part of a solution that a released file keeps."""

    def __init__(self, exercise: ExerciseText):
        self.exercise = exercise
        self.setting = Setting(exercise.given)
        self.kept = opened(exercise.expected or "", exercise.name)

    def draws(self) -> Iterator[tuple[Drawn, Value]]:
        for each in self.kept["draws"]:
            if each["style"] in STYLES:
                drawn = self.setting.drawn(each["seed"], each["style"], each["sizes"])
            else:
                drawn = self.setting.said(each["seed"], each["style"], each["sizes"])
            yield drawn, _tensor(each["expected"])

    def mistakes(self) -> Iterator[tuple[str, list[Value]]]:
        for sentence, values in self.kept["mistakes"]:
            yield sentence, [_tensor(each) for each in values]

    def types(self) -> Mapping[str, FITS]:
        return {part: self._marked(each) for part, each in self.kept["types"].items()}

    def _marked(self, due: str) -> FITS:
        return lambda axes: seal(self.exercise.name, axes) == due

    def signature(self) -> tuple[list[FITS], FITS]:
        made = [self._marked(each) for each in self.kept["signature"]]
        return made[:-1], made[-1]

    def lines(self) -> tuple[Callable[[int, str], bool], int]:
        due = self.kept["lines"]
        return (lambda number, line: seal(self.exercise.name, (str(number), line)) == due[number - 1]), len(due)


# ------------------------------------------------------------------------------------------------------------- released
def seal(name: str, words: Iterable[str]) -> str:
    """Return a hash of some words, from which they cannot be recovered."""
    return hashlib.sha256("\0".join((name, *words)).encode()).hexdigest()[:24]


def kept_of(exercise: ExerciseText, seed: int = 0) -> str:
    """What a released file keeps of an exercise, unreadable."""
    solution = Solution(exercise, seed)
    kept: dict[str, Any] = {"draws": [], "mistakes": []}
    if exercise.kind == "types":
        shapes: dict[str, Mapping[str, Any]] = {
            part: solution.setting.check(part or solution.solution).shape or {} for part in exercise.parts or ("",)
        }
        kept["types"] = {part: seal(exercise.name, sorted(shape)) for part, shape in shapes.items()}
    elif exercise.kind == "signature":
        found: Any = parse(solution.solution, "text").statements[-1]
        kept["signature"] = [seal(exercise.name, axes_of(each)) for each in (*found.domain, found.codomain)]
    else:
        kept["draws"] = list(_kept_draws(solution, seed))
        kept["mistakes"] = [
            (sentence, [_record(value) for value in values]) for sentence, values in solution.mistakes()
        ]
    if exercise.kind == "ordering":
        kept["lines"] = [seal(exercise.name, (str(at), line)) for at, line in enumerate(solution.derivation(), 1)]
    return closed(kept, exercise.name)


def _kept_draws(solution: Solution, seed: int) -> Iterator[dict[str, Any]]:
    for drawn, due in solution.draws():
        yield {"seed": drawn.seed, "style": drawn.style, "sizes": dict(drawn.extent), "expected": _record(due)}


def _record(value: Value) -> dict[str, Any]:
    numbers = [float(f"{float(each):.{DIGITS}g}") for each in value.numbers]
    return {"axes": list(value.axes), "shape": list(value.extent), "numbers": numbers}


def _tensor(record: Mapping[str, Any]) -> Value:
    return Value(tuple(record["axes"]), tuple(record["shape"]), tuple(record["numbers"]))


def _stream(name: str, length: int) -> bytes:
    blocks = (hashlib.sha256(f"{name}\0{at}".encode()).digest() for at in range(length // 32 + 1))
    return b"".join(blocks)[:length]


def closed(kept: Mapping[str, Any], name: str) -> str:
    data = zlib.compress(json.dumps(kept, ensure_ascii=False).encode(), 9)
    return base64.b64encode(bytes(a ^ b for a, b in zip(data, _stream(name, len(data))))).decode()


def opened(text: str, name: str) -> dict[str, Any]:
    """What was kept. Raises NotationError where the text was changed."""
    try:
        data = base64.b64decode(text, validate=True)
        return json.loads(zlib.decompress(bytes(a ^ b for a, b in zip(data, _stream(name, len(data))))))
    except (ValueError, zlib.error):
        raise NotationError(
            105, f"what the exercise {name} keeps cannot be read", hint="take the file as it was released"
        ) from None
