"""Exercise files, which contain text in comments, inputs, a solution as the last statement, and options after `#:`.

    #: exercise attention-scale   points 2   kind formula
    # Each query compares itself with the keys. Scale the scores by the root of the number of features.
    Q ∈ ℝ^{seq' × key}
    K ∈ ℝ^{seq × key}
    answer = softmax_{seq}(Q ⊙_{key} K / √|key|)
    #: hint Which axis must sum to one?
    #: mistake softmax_{seq'}(Q ⊙_{key} K / √|key|)   These sum to one over the queries.
    #: forbid softmax

A file may contain several exercises. A line `#: counts best` before the first exercise is the default for all
exercises. All commands can read the statements of such a file. A released file has lines `#: expected` instead of
solutions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Equation, Value
from grammar.parser import parse
from grammar.plain_text import encodable

from ..core.suggestions import did_you_mean, near

KINDS = ("formula", "fix", "gradient", "types", "signature", "sizes", "einsum", "derivation", "fill-in")
BY_VALUE = ("formula", "fix", "gradient", "einsum", "fill-in")  # kinds that ask for a formula
COUNTS = ("last", "best", "first")  # the answer that determines the grade; the first entry is the default
LONGEST_HINT = 200
DIRECTIVE = re.compile(r"#:\s*(\S+)\s*(.*)")
MAX_POINTS = 10_000  # of one exercise
MIN_LINES = 2  # of a derivation, if the exercise does not state `#: lines`
HEADER = re.compile(r"(\S+)((?:\s+(?:points|kind)\s+\S+)*)\s*$")


class ExerciseError(NotationError):
    """An error in an exercise file, with its line and a suggested repair."""

    def __init__(self, message: str, *rest: Any):
        super().__init__(105, message, *rest)

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Mistake:
    """A common mistake that the author of an exercise expects, and the feedback for it."""

    formula: str
    sentence: str


@dataclass(frozen=True, repr=False)
class ExerciseText:
    """An exercise, with its task, its inputs, and its solution if the file contains it."""

    name: str
    kind: str = "formula"
    points: float = 1
    prose: str = ""
    given: str = ""
    solution: str | None = None
    hints: tuple[str, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    forbidden: tuple[str, ...] = ()
    draws: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    hole: str | None = None
    lines: int = MIN_LINES
    shows_solution: bool = False
    counts: str = COUNTS[0]
    expected: str | None = None
    line: int = 1

    @encodable
    def __repr__(self) -> str:
        """Return the name, kind and points, without the solution."""
        return f"<exercise {self.name}: {self.kind}, {self.points:g} {'point' if self.points == 1 else 'points'}>"


def read(text: str, name: str = "") -> list[ExerciseText]:
    """Return the exercises in the text of a file.

    Raise ExerciseError if a line is invalid, if two exercises have the same name, or if there is no exercise.
    """
    exercises: list[ExerciseText] = []
    preface, *rest = blocks(text)
    counts = _preface(preface, name)
    for block in rest:
        exercise = _exercise(block, name, counts)
        if any(other.name == exercise.name for other in exercises):
            raise _fail_at(name, exercise.line)(f"a second exercise {exercise.name}; names are to differ")
        exercises.append(exercise)
    if not exercises:
        raise ExerciseError(f"{name or 'the text'}: no exercise; one begins with the line #: exercise NAME")
    return exercises


Line = tuple[int, str]


def blocks(text: str) -> list[list[Line]]:
    """Return groups of lines: the lines before the first exercise, then the lines of each exercise with its header."""
    result: list[list[Line]] = [[]]
    for number, line in enumerate(text.splitlines(), 1):
        directive = DIRECTIVE.match(line.strip())
        if directive and directive[1] == "exercise":
            result.append([])
        result[-1].append((number, line))
    return result


Fail = Callable[[str], ExerciseError]  # returns an error at one line of a file


def _fail_at(file: str, line: int) -> Fail:
    """Return a function that creates an error at a line of a file, given a message."""
    return lambda message: ExerciseError(f"{file}:{line}: {message}" if file else f"line {line}: {message}")


def _suggest(word: str, known: Sequence[str], plural: str) -> str:
    return did_you_mean(near(word, known)) or f"{plural} are {', '.join(known)}"


def _preface(lines: list[Line], file: str) -> str:
    """Return the setting `counts` from the lines before the first exercise, or its default."""
    counts = COUNTS[0]
    for number, line in lines:
        directive = DIRECTIVE.match(line.strip())
        if directive and directive[1] == "counts":
            counts = _counts(directive[2].strip(), _fail_at(file, number))
    return counts


def _counts(word: str, fail: Fail) -> str:
    if word not in COUNTS:
        raise fail(f"expected #: counts {', '.join(COUNTS[:-1])} or {COUNTS[-1]}, got {word or 'nothing'}")
    return word


def _exercise(block: list[Line], file: str, counts: str) -> ExerciseText:
    fields: dict[str, Any] = {**_header(*block[0], file), "counts": counts}
    statements: list[Line] = []
    prose: list[str] = []
    for number, line in block[1:]:
        stripped = line.strip()
        if directive := DIRECTIVE.match(stripped):
            _read_directive(directive[1], directive[2].strip(), fields, _fail_at(file, number))
        elif stripped.startswith("#"):
            prose.append(stripped.removeprefix("#").strip())
        elif stripped:
            statements.append((number, line))
    fields["expected"] = "".join(fields.get("expected", ())) or None
    text, solution = _solution(statements, fields, file)
    return ExerciseText(**fields, prose="\n".join(prose).strip(), given=text, solution=solution)


def _header(number: int, line: str, file: str) -> dict[str, Any]:
    directive, fail = DIRECTIVE.match(line.strip()), _fail_at(file, number)
    header = HEADER.match(directive[2].strip()) if directive else None
    if header is None:
        raise fail("an exercise begins with: #: exercise NAME points 2 kind formula")
    fields = dict(zip(header[2].split()[::2], header[2].split()[1::2]))
    kind = fields.get("kind", "formula")
    if kind not in KINDS:
        raise fail(f"no kind {kind}; {_suggest(kind, KINDS, 'kinds')}")
    return {"name": header[1], "kind": kind, "points": _points(fields.get("points", "1"), fail), "line": number}


def _points(text: str, fail: Fail) -> float:
    """Parse a number of points. Raise ExerciseError if the text is not a number from 0 to `MAX_POINTS`."""
    try:
        points = float(text)
    except ValueError:
        points = math.nan
    if not 0 <= points <= MAX_POINTS:
        raise fail(f"points must be a number from 0 to {MAX_POINTS}, got {text}")
    return int(points) if points == int(points) else points


def _lines(text: str, fail: Fail) -> int:
    """Parse the minimum number of lines in a derivation. Raise ExerciseError if it is not an integer of at least 2."""
    if not text.isdecimal() or int(text) < MIN_LINES:
        raise fail(f"expected #: lines N with N of at least {MIN_LINES}, got {text or 'nothing'}")
    return int(text)


def _mistake(text: str, fail: Fail) -> tuple[Mistake]:
    formula, _, sentence = re.sub(r"\s{2,}", "  ", text).partition("  ")
    if not sentence:
        raise fail("expected #: mistake ANSWER, two or more spaces, and the feedback")
    return (Mistake(formula.strip(), sentence.strip()),)


def _entry(text: str, fail: Fail) -> tuple[str]:
    return (text,)


FIELDS: Mapping[str, tuple[str, Callable[[str, Fail], Any]]] = {  # word: the field, and the parser of the text
    "hint": ("hints", _entry),
    "mistake": ("mistakes", _mistake),
    "forbid": ("forbidden", lambda text, fail: tuple(text.split())),
    "draw": ("draws", _entry),
    "part": ("parts", _entry),
    "hole": ("hole", lambda text, fail: text),
    "lines": ("lines", _lines),
    "show": ("shows_solution", lambda text, fail: True),
    "counts": ("counts", _counts),
    "expected": ("expected", _entry),
}
WORDS = ("exercise", *FIELDS)


def _read_directive(word: str, text: str, fields: dict[str, Any], fail: Fail) -> None:
    """Set the field that a directive specifies. If the field is a list, append to it."""
    if word not in FIELDS:
        raise fail(f"no word {word}; {_suggest(word, WORDS, 'words')}")
    field, parse_text = FIELDS[word]
    value = parse_text(text, fail)
    fields[field] = (*fields.get(field, ()), *value) if isinstance(value, tuple) else value


def _solution(statements: list[Line], fields: Mapping[str, Any], file: str) -> tuple[str, str | None]:
    """Return the given statements and the solution, which is the last statement.

    In a released file, all statements are given, and the solution is None. Raise ExerciseError if the statements do not
    parse or the last one cannot be a solution.
    """
    text = "\n".join(line for _, line in statements)
    if fields["expected"] is not None:
        return text, None
    try:
        tree = parse(text, "text")
    except NotationError as problem:
        line = statements[problem.position()[0] - 1][0] if statements else fields["line"]
        raise _fail_at(file, line)(f"exercise {fields['name']}: {problem.message}") from None
    last = tree.statements[-1]
    if not isinstance(last, (Equation, Value, nodes.Signature)):
        fail = _fail_at(file, fields["line"])
        raise fail(f"exercise {fields['name']} has no solution after what is given: answer = …")
    return text[: last.span[0]].rstrip(), text[last.span[0] : last.span[1]]
