"""Reference answers of exercises, from the solution or, in a released file, from stored data.

A released exercise does not contain the reference solution. It stores rounded expected values for fixed random inputs,
and the values of expected mistakes with their feedback. It also stores descriptions of generated mistakes, each
encrypted with the values of the mistake. For types and signatures, it stores hashes of the correct answers instead. For
derivations, it also stores hashes of the first and last lines. All data together is obfuscated with the exercise's
name. This prevents accidental reading, but it is not secure.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from grammar import nodes
from grammar.cache import cached_property
from grammar.errors import NotationError
from grammar.parser import parse
from grammar.printer import to_text

from ..programs.boundaries import BOUNDARY
from ..programs.plain_values import PlainTensor
from ..programs.random_inputs import FURTHER_STYLES, STYLES
from .comparison import RandomTest, SampledInputs, find_matching, lay_out, matchings
from .exercise_files import ExerciseText
from .mutants import distinct_mutants
from .settings import Setting
from .spelling import bracket_sizes, call_last_function, expression

DIGITS, EXACT = 10, 17  # significant digits of the values, and of the inputs, that a released file keeps
MAX_KEPT_CHANGES = 40  # generated mistakes of a solution in a released file
CHANGE_DRAWS = 2  # tests whose values identify a generated mistake
LOCK = 12  # hexadecimal digits of the hash of these values
UNITS = 961_803.7  # rounding units per largest number; no fraction of small integers is halfway between two units
Fits = Callable[[tuple[str, ...]], bool]


class Reference:
    """The base class of reference answers. The method `mark` converts words, such as axes, for comparison."""

    def __init__(self, exercise: ExerciseText):
        self.exercise = exercise
        self.setting = Setting(exercise.given)

    def mark(self, words: tuple[str, ...]) -> Any:
        return words

    def boundary_tests(self, answer: str) -> list[RandomTest]:
        """Return tests at the boundaries of an answer's conditions, or an empty list if the solution is unavailable."""
        return []

    def fits(self, expected: Any) -> Fits:
        """Return a function that tests whether words in an answer, such as axes, are as expected."""
        return lambda words: self.mark(words) == expected


@lru_cache(maxsize=64)
def reference_of(exercise: ExerciseText, seed: int) -> Solution | Kept:
    """Return the reference answers of an exercise. They are cached, because each student's answer needs them."""
    return Kept(exercise) if exercise.expected is not None else Solution(exercise, seed)


def axes_of(given: nodes.Set) -> tuple[str, ...]:
    """Return the axes of a set, in alphabetical order."""
    return tuple(sorted(axis.name for axis, _ in given.axes))


def fill_hole(exercise: ExerciseText, piece: str) -> str:
    """Return the formula of a fill-in exercise in which an answer replaces the question mark."""
    return (exercise.hole or "?").replace("?", f"({expression(piece)})")


class Solution(Reference):
    """Reference answers that are computed from the solution."""

    def __init__(self, exercise: ExerciseText, seed: int = 0):
        super().__init__(exercise)
        if exercise.solution is None:
            raise NotationError(
                105, f"the exercise {exercise.name} has no solution", hint="grade with the file that has it"
            )
        self.seed = seed
        self.solution = self._whole(exercise.solution)

    def _whole(self, formula: str) -> str:
        return call_last_function(formula) if self.exercise.hole is None else fill_hole(self.exercise, formula)

    @cached_property
    def draws(self) -> list[RandomTest]:
        """Return the random tests, each with its inputs and the expected value."""
        setting, formula = self.setting, self.formula_to_compare
        if self.exercise.kind == "sizes":
            sizes = (setting.sizes(formula, offset) for offset in (0, 1, 3))
            return [setting.test(formula, setting.drawn(self.seed, "normal", chosen)) for chosen in sizes]
        stated = (setting.said(self.seed, text, setting.sizes(formula)) for text in self.exercise.draws)
        return [*setting.draws(formula, self.seed), *(setting.test(formula, drawn) for drawn in stated)]

    @cached_property
    def formula_to_compare(self) -> str:
        """Return the formula that gives the expected values: the solution, or the first line of a derivation."""
        return self.derivation()[0] if self.exercise.kind == "derivation" else self.solution

    def boundary_tests(self, answer: str) -> list[RandomTest]:
        return [*self.setting.boundary_draws(answer, self.formula_to_compare, self.seed)]

    @property
    def mistakes(self) -> Iterator[tuple[str, Iterator[PlainTensor | None]]]:
        """Yield the feedback for each expected mistake, with the values that the mistake would give in the tests."""
        for mistake in self.exercise.mistakes:
            yield mistake.sentence, (self._value_of_mistake(mistake.formula, at) for at in range(len(self.draws)))

    @lru_cache(maxsize=256)
    def _value_of_mistake(self, formula: str, test: int) -> PlainTensor | None:
        """Return the value that a mistake would give in a test, or None if the mistake cannot be evaluated."""
        formula = self._whole(bracket_sizes(formula) if self.exercise.kind == "sizes" else formula)
        try:
            return self.setting.value(formula, self.draws[test].drawn)
        except NotationError:
            return None

    def change_of(self, answer: list[PlainTensor]) -> str | None:
        """Return None, because `judge_values` has already compared the answer with mutants of the solution."""
        return None

    def shapes(self) -> dict[str, tuple[str, ...]]:
        """Return the axes of each part whose type is requested, or of the whole solution if no part is requested."""
        parts = self.exercise.parts or ("",)
        return {part: tuple(self.setting.check(part or self.solution).shape or ()) for part in parts}

    def types(self) -> Mapping[str, Any]:
        return {part: tuple(sorted(axes)) for part, axes in self.shapes().items()}

    def signature(self) -> Sequence[Any]:
        """Return the axes of each argument and of the result, as in the solution's signature."""
        statement = parse(self.solution, "text").statements[-1]
        if not isinstance(statement, nodes.Signature):
            raise NotationError(
                105, f"the solution of {self.exercise.name} is not a signature", hint="write f : ℝ^{a} → ℝ^{b}"
            )
        return [axes_of(set_) for set_ in (*statement.domain, statement.codomain)]

    def derivation(self) -> list[str]:
        last = parse(self.solution, "text").statements[-1]
        sides = last.sides if isinstance(last, nodes.Equation) else (getattr(last, "body", None),)
        return [to_text(side) for side in sides if side is not None and to_text(side) != "answer"]

    def ends(self) -> Sequence[Any]:
        """Return the first and last lines of the derivation."""
        lines = self.derivation()
        return [(line,) for line in (lines[0], lines[-1])]


class Kept(Reference):
    """Reference answers that are stored in a released file."""

    def __init__(self, exercise: ExerciseText):
        super().__init__(exercise)
        self.kept = opened(exercise.expected or "", exercise.name)

    def mark(self, words: tuple[str, ...]) -> str:
        return seal(self.exercise.name, words)

    @cached_property
    def draws(self) -> list[RandomTest]:
        return [
            RandomTest(self._inputs(draw), _tensor(draw["expected"]), _magnitude(draw)) for draw in self.kept["draws"]
        ]

    def _inputs(self, draw: Mapping[str, Any]) -> SampledInputs:
        if "inputs" in draw:
            values = {name: _tensor(record) for name, record in draw["inputs"].items()}
            return SampledInputs(values, draw["seed"], draw["style"])
        sampled = self.setting.drawn if draw["style"] in (*STYLES, *FURTHER_STYLES) else self.setting.said
        return sampled(draw["seed"], draw["style"], draw["sizes"])

    @cached_property
    def mistakes(self) -> list[tuple[str, list[PlainTensor]]]:
        return [(sentence, [*map(_tensor, values)]) for sentence, values in self.kept["mistakes"]]

    def types(self) -> Mapping[str, Any]:
        return self.kept["types"]

    def signature(self) -> Sequence[Any]:
        return self.kept["signature"]

    def ends(self) -> Sequence[Any]:
        return self.kept["ends"]

    def change_of(self, answer: list[PlainTensor]) -> str | None:
        """Return the description of a stored mistake that has the answer's values, or None if no mistake has them.

        The description is decrypted with these values.
        """
        changes = dict(self.kept["changes"])
        tests = self.draws[:CHANGE_DRAWS]
        for way in matchings(answer[0], tests[0].expected, self.setting.axes):
            key = fingerprint([lay_out(value, test.expected, way) for value, test in zip(answer, tests)], tests)
            if (locked := changes.get(seal(self.exercise.name, (key,))[:LOCK])) is not None:
                return unlock_text(locked, key)
        return None


# ------------------------------------------------------------------------------------------------------------- released
def seal(name: str, words: Iterable[str]) -> str:
    """Return a hash of a name and words. The words can be checked against the hash, but not recovered from it."""
    return hashlib.sha256("\0".join((name, *words)).encode()).hexdigest()[:24]


def kept_of(exercise: ExerciseText, seed: int = 0) -> str:
    """Return the reference data of an exercise in obfuscated form, for a released file."""
    solution = Solution(exercise, seed)
    sealed: dict[str, Any] = {"draws": [], "mistakes": []}
    if exercise.kind == "types":
        sealed["types"] = {part: seal(exercise.name, axes) for part, axes in solution.types().items()}
    elif exercise.kind == "signature":
        sealed["signature"] = [seal(exercise.name, axes) for axes in solution.signature()]
    else:
        sealed["draws"] = list(_kept_draws(solution))
        for sentence, values in solution.mistakes:
            records = [None if value is None else _record(value) for value in values]
            if None not in records:
                sealed["mistakes"].append((sentence, records))
        sealed["changes"] = list(_kept_changes(solution))
    if exercise.kind == "derivation":
        sealed["ends"] = [seal(exercise.name, line) for line in solution.ends()]
    return seal_reference(sealed, exercise.name)


def _kept_draws(solution: Solution) -> Iterator[dict[str, Any]]:
    for drawn, expected, compute_magnitude in solution.draws:
        record = {"seed": drawn.seed, "style": drawn.style, "sizes": dict(drawn.extent), "expected": _record(expected)}
        if drawn.style == BOUNDARY:
            record["inputs"] = {name: _record(value, EXACT) for name, value in drawn.values.items()}
        if (magnitude := compute_magnitude()) is not None:
            record["magnitude"] = _record(magnitude, 3)
        yield record


def _kept_changes(solution: Solution) -> Iterator[tuple[str, str]]:
    """Yield the possible mistakes, each as a hash of its values and a description encrypted with these values."""
    setting, tests = solution.setting, solution.draws[:CHANGE_DRAWS]
    if solution.exercise.kind in ("sizes", "derivation"):
        return
    known = {fingerprint([test.expected for test in tests], tests)}
    for text, change in distinct_mutants(parse(solution.solution, "text"), setting.axes, True):
        placed: list[PlainTensor] = []
        for test in tests:
            try:
                value = setting.value(text, test.drawn)
            except NotationError:
                break
            if (way := find_matching(value, test.expected, setting.axes)) is None:
                break
            placed.append(lay_out(value, test.expected, way))
        else:
            key = fingerprint(placed, tests)
            if key not in known:
                known.add(key)
                yield seal(solution.exercise.name, (key,))[:LOCK], lock_text(change, key)
        if len(known) > MAX_KEPT_CHANGES:
            return


def fingerprint(values: list[PlainTensor], tests: Iterable[RandomTest]) -> str:
    """Return values as text. They are rounded so that all evaluators give the same text."""
    numbers: list[str] = []
    for value, test in zip(values, tests):
        unit = test.scale / UNITS
        numbers += [f"{round(float(x) / unit)}" if math.isfinite(x) else str(float(x)) for x in value.numbers]
    return " ".join(numbers)


def lock_text(words: str, key: str) -> str:
    return base64.b64encode(_mix_with_key(words.encode(), key)).decode()


def unlock_text(text: str, key: str) -> str:
    return _mix_with_key(base64.b64decode(text), key).decode(errors="replace")


def _record(value: PlainTensor, digits: int = DIGITS) -> dict[str, Any]:
    numbers = [float(f"{float(number):.{digits}g}") for number in value.numbers]
    return {"axes": list(value.axes), "shape": list(value.extent), "numbers": numbers}


def _magnitude(draw: Mapping[str, Any]) -> Callable[[], PlainTensor | None]:
    """Return a function that returns the magnitudes of an expected value, or None if an older file lacks them."""
    record = draw.get("magnitude")
    return lambda: None if record is None else _tensor(record)


def _tensor(record: Mapping[str, Any]) -> PlainTensor:
    return PlainTensor(tuple(record["axes"]), tuple(record["shape"]), tuple(record["numbers"]))


def _mix_with_key(data: bytes, key: str) -> bytes:
    """Return data encrypted with a key, or encrypted data decrypted with the same key."""
    blocks = (hashlib.sha256(f"{key}\0{at}".encode()).digest() for at in range(len(data) // 32 + 1))
    return bytes(a ^ b for a, b in zip(data, b"".join(blocks)))


def seal_reference(sealed: Mapping[str, Any], name: str) -> str:
    data = zlib.compress(json.dumps(sealed, ensure_ascii=False).encode(), 9)
    return base64.b64encode(_mix_with_key(data, name)).decode()


def opened(text: str, name: str) -> dict[str, Any]:
    """Return the stored reference data of an exercise. Raise NotationError if the text is invalid."""
    try:
        data = base64.b64decode(text, validate=True)
        return json.loads(zlib.decompress(_mix_with_key(data, name)))
    except (ValueError, zlib.error):
        raise NotationError(
            105, f"what the exercise {name} keeps cannot be read", hint="take the file as it was released"
        ) from None
