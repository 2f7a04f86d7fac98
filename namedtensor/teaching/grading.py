"""Grading of an answer by its type and its value, with one sentence of feedback.

The feedback reports the first problem in this order: an error, other axes, other sizes, a common mistake, an element
that differs. An answer that does not parse or type-check gets its error as feedback, and it does not count as an
attempt. The grade includes the reference solution only if the file allows it. For any answer, grading never raises, and
its time is limited.
"""

from __future__ import annotations

import base64
import pickle
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from grammar import nodes
from grammar.errors import CATALOGUE, NotationError
from grammar.nodes import Equation
from grammar.parser import parse
from grammar.plain_text import encodable
from grammar.printer import to_text

from ..core.processes import AnsweringProcess, EndedError, LateError
from ..core.settings import raise_recursion_limit
from ..operators.user_functions import USER_FUNCTIONS
from ..programs.plain_values import PlainTensor
from ..scope.heads import heads
from .comparison import ComparedValue, has_value
from .differences import Words, names_of_new_axes
from .einsum import is_einsum, letters_clash, translate_answer
from .exercise_files import ExerciseText
from .forbidden import find_forbidden
from .judgment import Equivalence, judge_values
from .mutants import change_sentence
from .references import fill_hole, reference_of
from .settings import Setting
from .spelling import bracket_sizes, call_last_function, head_text, is_whole_formula, text_of
from .type_answers import find_stated_types, signature, types
from .verdicts import RefusedAnswerError, WrongAnswerError

SECONDS = 2.0
LATE = "could not be graded in {:.0f} seconds: make it smaller"  # the page has the same text
DIED = "could not be graded: the process that does died, perhaps for want of memory; make it smaller"
LONGEST = 20_000  # characters of an answer
WORDS = Words()
STEP_WORDS = Words("this line", "this line", "the one above")


@dataclass(frozen=True)
class Grade:
    """The grade of one answer.

    `correct` is true for a correct answer, which gets `points` out of `max_points`. `feedback` is a sentence or an
    error. `counts_as_attempt` is false if the answer was rejected without grading. `error` is the exception if the
    answer does not parse or type-check. `hints` are the hints of the exercise. `solution` is None unless the file shows
    it. `mistake` describes the mistake without details of this answer, so that equal mistakes can be counted.
    """

    exercise: str
    correct: bool
    feedback: str
    points: float = 0
    max_points: float = 1
    counts_as_attempt: bool = True
    hints: tuple[str, ...] = ()
    solution: str | None = None
    error: NotationError | None = None
    mistake: str | None = None

    def __bool__(self) -> bool:
        return self.correct

    @encodable
    def __str__(self) -> str:
        return self.feedback

    def json(self) -> dict[str, Any]:
        """Return the grade as a dictionary of plain values."""
        return {
            "exercise": self.exercise, "correct": self.correct, "points": self.points, "max_points": self.max_points,
            "feedback": self.feedback, "counts_as_attempt": self.counts_as_attempt,
        }  # fmt: skip


def grade(exercise: ExerciseText, answer: Any, seed: int = 0, seconds: float | None = None) -> Grade:
    """Return the grade of an answer, computed in a process with a time limit in seconds (default: `SECONDS`).

    The function never raises. If the process dies, another process grades the answer again. If processes cannot
    be started, or the user has registered functions, a thread of this process grades the answer.
    """
    limit = SECONDS if seconds is None else seconds
    source = answer if isinstance(answer, str) else getattr(answer, "source", None)
    if not isinstance(source, str):
        source = answer  # `grade_answer` rejects it
    elif not USER_FUNCTIONS:  # a separate process does not know them
        for is_last in (False, True):
            try:
                return _grade_in_process(exercise, source, seed, limit)
            except LateError:
                return _grade(exercise, False, LATE.format(limit))
            except EndedError:
                if is_last:
                    return _grade(exercise, False, DIED)
            except OSError:  # a web page cannot start processes
                break
    return _grade_in_thread(exercise, source, seed, limit)


PROCESS = AnsweringProcess(__name__)


def _grade_in_process(exercise: ExerciseText, answer: str, seed: int, seconds: float) -> Grade:
    """Return the grade of an answer, computed in the worker process, which is reused for further answers."""
    line = base64.b64encode(pickle.dumps((exercise, answer, seed)))
    return pickle.loads(base64.b64decode(PROCESS.ask(line, seconds)))


def prepare() -> None:
    """Load all modules that grading needs, so that loading does not count toward the time limit of an answer."""
    grade_answer(ExerciseText("total", given="X ∈ ℝ^{n × m}", solution="answer = ∑_{n} X"), "∑_{m} X", 0)


def answer_line(line: bytes) -> bytes:
    """Return the worker process's reply to a line, which contains an exercise, an answer and a seed."""
    return base64.b64encode(pickle.dumps(grade_answer(*pickle.loads(base64.b64decode(line)))))


def _grade_in_thread(exercise: ExerciseText, answer: Any, seed: int, seconds: float) -> Grade:
    """Return the grade of an answer, computed in a thread. The thread is abandoned if it takes too long."""
    grades: list[Grade] = []
    worker = threading.Thread(target=lambda: grades.append(grade_answer(exercise, answer, seed)), daemon=True)
    try:
        worker.start()
    except RuntimeError:  # a web page has one thread, and its caller ends it
        worker.run()
    else:
        worker.join(seconds)
    return grades[0] if grades else _grade(exercise, False, LATE.format(seconds))


def _grade(exercise: ExerciseText, correct: bool, feedback: str, counts_as_attempt: bool = True, **more: Any) -> Grade:
    points = exercise.points if correct else 0
    solution = exercise.solution if exercise.shows_solution else None
    return Grade(
        exercise.name, correct, feedback, points, exercise.points, counts_as_attempt, exercise.hints, solution, **more
    )


@raise_recursion_limit
def grade_answer(exercise: ExerciseText, answer: Any, seed: int) -> Grade:
    """Return the grade of an answer, computed without a time limit."""
    try:
        return _grade(exercise, True, KINDS[exercise.kind](exercise, _read(exercise, answer), seed))
    except NotationError as problem:
        kind = f"{problem.kind} error {problem.code}: {CATALOGUE[problem.code]}"
        return _grade(exercise, False, str(problem), False, error=problem, mistake=kind)
    except RefusedAnswerError as problem:
        return _grade(exercise, False, str(problem), False, mistake=str(problem))
    except WrongAnswerError as problem:
        return _grade(exercise, False, str(problem), mistake=problem.mistake)
    except Exception as problem:  # an answer must never end in a traceback
        return _grade(exercise, False, f"could not be graded: {problem or type(problem).__name__}", False)


def _read(exercise: ExerciseText, answer: Any) -> str:
    source = answer if isinstance(answer, str) else getattr(answer, "source", None)
    if not isinstance(source, str):
        raise RefusedAnswerError(
            f"an answer is a formula, written as text, and this is of the kind {type(answer).__name__}"
        )
    if not source.strip():
        raise RefusedAnswerError("no answer submitted")
    if len(source) > LONGEST:
        raise RefusedAnswerError(f"an answer has at most {LONGEST} characters")
    return source


# ---------------------------------------------------------------------------------------------------- formulas, by value
def formula(exercise: ExerciseText, answer: str, seed: int) -> str:
    """Return feedback on a formula, or raise WrongAnswerError if its values differ from the solution's values in a random test.

    New axes can have names that differ from the names in the solution.
    """
    return grade_by_value(exercise, text_of(answer), seed)


def grade_by_value(exercise: ExerciseText, answer: str, seed: int, whole: Callable[[str], str] = str) -> str:
    """Return feedback on an answer that is compared by value. Raise WrongAnswerError if the answer is wrong.

    `whole` inserts the answer, or the solution, into a larger formula.
    """
    reference = reference_of(exercise, seed)
    tree = parse(answer, "text")
    _check_allowed(exercise, reference.setting, tree)
    answer = call_last_function(whole(answer), tuple(reference.setting.sets))
    reference.setting.check(answer)
    state = reference.setting.compared(answer, reference.draws)
    if not any(has_value(compared.test.expected) for compared in state):
        raise RefusedAnswerError("the exercise has no value to compare with")
    equivalence = judge_values(reference.setting, state, WORDS)
    if equivalence:
        tests = reference.boundary_tests(answer)
        further = [*state, *reference.setting.compared(answer, tests)]
        equivalence = judge_values(reference.setting, further, WORDS) if tests else equivalence
        if equivalence:
            return _correct(equivalence)
        raise WrongAnswerError(equivalence.message, equivalence.relation or "another value")
    for sentence, values in reference.mistakes:
        if all(_is_value(reference.setting, compared, value) for compared, value in zip(state, values)):
            raise WrongAnswerError(sentence)
    equivalence = judge_values(reference.setting, state, WORDS, exercise.solution and whole(exercise.solution))
    change = (
        None
        if equivalence.difference in ("axes", "sizes", "exchanged")
        else reference.change_of([compared.graded for compared in state])
    )
    if change is not None:
        raise WrongAnswerError(f"{change_sentence(change, WORDS)}; {equivalence.place}", change_sentence(change, WORDS))
    raise WrongAnswerError(equivalence.message, equivalence.relation or "another value")


def _is_value(setting: Setting, compared: ComparedValue, value: PlainTensor | None) -> bool:
    """Return whether the answer's value in a test equals the value that a mistake would have."""
    return value is not None and bool(
        judge_values(setting, [compared.compare_with(value, compared.test.magnitude)], WORDS)
    )


def _correct(equivalence: Equivalence) -> str:
    names = names_of_new_axes(equivalence.axes)
    remark = f"; {equivalence.remark}" if equivalence.remark else ""
    return f"correct on all {equivalence.trials} random tests" + (f" ({names})" if names else "") + remark


def _check_allowed(exercise: ExerciseText, setting: Setting, tree: nodes.Program) -> None:
    """Raise `RefusedAnswerError` if an answer redefines a given name or uses a forbidden operator."""
    solved = heads(parse(exercise.solution, "text").statements[-1]) if exercise.solution else ()
    allowed = set(map(head_text, solved))
    for head in (head_text(head) for statement in tree.statements for head in heads(statement)):
        if head in setting.names and head not in allowed:
            raise RefusedAnswerError(f"{head} is given; an answer must not redefine it")
    tensors = setting.names.union(head_text(head) for statement in tree.statements for head in heads(statement))
    if match := find_forbidden(tree, exercise.forbidden, tensors):
        raise RefusedAnswerError(f"this one is to be written without {match}")


def hole(exercise: ExerciseText, answer: str, seed: int) -> str:
    """Return feedback on a fill-in answer, or raise WrongAnswerError if the formula is wrong with the answer in place of `?`."""
    if not answer.strip().strip("?"):
        raise RefusedAnswerError("write only the part for the question mark")
    text = text_of(answer)
    if is_whole_formula(exercise.hole or "?", text):
        raise RefusedAnswerError("the answer is only the part for the question mark, not the whole formula")
    return grade_by_value(exercise, text, seed, lambda piece: fill_hole(exercise, piece))


def einsum(exercise: ExerciseText, answer: str, seed: int) -> str:
    """Return feedback on a formula, or on an einsum call translated to a formula. Raise WrongAnswerError if it is wrong."""
    sets = reference_of(exercise, seed).setting.sets
    if not is_einsum(answer):
        return formula(exercise, answer, seed)
    translated = translate_answer(answer, sets)
    try:
        return grade_by_value(exercise, translated, seed)
    except NotationError as problem:
        if problem.code == 302:  # in the translation, which the student did not write
            raise RefusedAnswerError(letters_clash(answer, sets)) from None
        raise


# -------------------------------------------------------------------------------------------------- sizes, derivations
def sizes(exercise: ExerciseText, answer: str, seed: int) -> str:
    """Return feedback on an expression of sizes, or raise WrongAnswerError if it is wrong for one of three choices of sizes."""
    reference = reference_of(exercise, seed)
    bare = re.sub(r"\|[^|]*\||_\{[^{}]*\}", " ", answer)
    for axis in reference.setting.axes:
        if re.search(rf"(?<!\w){re.escape(axis)}(?![\w'′])", bare):
            raise RefusedAnswerError(f"write the size of an axis between bars: |{axis}|")
    text = text_of(bracket_sizes(answer.replace("·", " ").replace("×", " ")))
    values = [reference.setting.value(text, test.drawn) for test in reference.draws]
    if any(value.axes for value in values):
        raise RefusedAnswerError("expected a number or an expression of sizes such as |seq|")
    pairs = zip(reference.draws, (value.number for value in values))
    wrong = next(((test, number) for test, number in pairs if not _is_number(number, test.expected.number)), None)
    if wrong is None:
        return "correct for three sets of sizes"
    for sentence, others in reference.mistakes:
        if all(other is not None and _is_number(value.number, other.number) for value, other in zip(values, others)):
            raise WrongAnswerError(sentence)
    test, number = wrong
    message = ", ".join(f"|{axis}| = {size}" for axis, size in test.drawn.extent.items())
    raise WrongAnswerError(
        f"with {message} got {number:g}, expected {test.expected.number:g}", "another number of sizes"
    )


def _is_number(value: float, expected: float) -> bool:
    return abs(value - expected) <= 1e-9 * max(1.0, abs(expected))  # false for NaN


def derivation(exercise: ExerciseText, answer: str, seed: int) -> str:
    """Return feedback on a derivation. Raise WrongAnswerError if it is wrong.

    Its first and last lines must be the solution's, no line may repeat an earlier line, and each line must have the
    value of the line above it.
    """
    reference = reference_of(exercise, seed)
    first, last = reference.ends()
    lines = [to_text(parse(line, "auto")) for line in lines_of(answer)]
    if len(lines) < exercise.lines:
        raise RefusedAnswerError(
            f"expected at least {exercise.lines} lines of a derivation, one below the other; got {len(lines)}"
        )
    if reference.mark((lines[0],)) != first:
        raise WrongAnswerError(
            f"line 1, {lines[0]}, is not what the derivation begins with", "it begins with another line"
        )
    values = [reference.setting.compared(line, reference.draws) for line in lines]
    for number in range(1, len(lines)):
        where = f"{_right_lines(number)}line {number + 1}, {lines[number]},"
        if lines[number] in lines[:number]:
            raise WrongAnswerError(
                f"{where} is line {lines.index(lines[number]) + 1} once more: each line takes one step", "a line twice"
            )
        state = [
            compared.compare_with(above.graded, above.magnitude)
            for compared, above in zip(values[number], values[number - 1])
        ]
        equivalence = judge_values(reference.setting, state, STEP_WORDS)
        if not equivalence:
            raise WrongAnswerError(
                f"{where} does not follow from the one above: {equivalence.message}",
                f"a line that does not follow: {lines[number]}",
            )
    if reference.mark((lines[-1],)) != last:
        raise WrongAnswerError(
            f"{_right_lines(len(lines))}the derivation is not complete: its last line has another form",
            "it stops early",
        )
    return f"correct: each of the {len(lines)} lines follows from the one above"


def _right_lines(count: int) -> str:
    return "line 1 is correct; " if count == 1 else f"lines 1 to {count} are correct; "


def lines_of(answer: str) -> list[str]:
    """Return the lines of a derivation, which can also be written as one chain of equations."""
    lines = [line.strip().removeprefix("=").strip() for line in answer.splitlines() if line.strip()]
    if len(lines) == 1:
        statements = parse(lines[0], "auto").statements
        if len(statements) == 1 and isinstance(statements[0], Equation):
            return [to_text(side) for side in statements[0].sides]
    return lines


Grader = Callable[[ExerciseText, str, int], str]


def anticipating(grader: Grader, matches: Callable[[ExerciseText, str, str, int], bool]) -> Grader:
    """Return a grader that gives the author's feedback if an answer is one of the mistakes that the author expects."""

    def graded(exercise: ExerciseText, answer: str, seed: int) -> str:
        try:
            return grader(exercise, answer, seed)
        except WrongAnswerError:
            for mistake in exercise.mistakes:
                if matches(exercise, mistake.formula, answer, seed):
                    raise WrongAnswerError(mistake.sentence) from None
            raise

    return graded


def _solves(grader: Grader) -> Callable[[ExerciseText, str, str, int], bool]:
    """Return a function that tests whether an answer would be correct if an expected mistake were the solution."""

    def matches(exercise: ExerciseText, mistake: str, answer: str, seed: int) -> bool:
        try:
            return bool(grader(replace(exercise, solution=mistake, mistakes=()), answer, seed))
        except (WrongAnswerError, RefusedAnswerError, NotationError):
            return False

    return matches


def _same_types(exercise: ExerciseText, mistake: str, answer: str, seed: int) -> bool:
    return find_stated_types(mistake) == find_stated_types(answer)


KINDS: Mapping[str, Grader] = {
    "formula": formula, "fix": formula, "gradient": formula, "types": anticipating(types, _same_types),
    "signature": anticipating(signature, _solves(signature)), "sizes": sizes,
    "einsum": einsum, "derivation": derivation, "fill-in": hole,
}  # fmt: skip
