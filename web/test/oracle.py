"""What NumPy says of a formula, for the tests of the page: a question on the standard input, the reply on the output."""

import json
import re
import sys

import numpy as np

import namedtensor as nt
from namedtensor.teaching.course import course
from namedtensor.teaching.sheet_files import reference_answer


def tensor(given):
    """Of its type, ℝ^{a[2] × b[3]}, and its numbers in that order."""
    axes = re.findall(r"([^\s{×\[]+)\[(\d+)\]", given["type"])
    return nt.tensor(np.reshape(given["data"], [int(size) for _, size in axes]), " ".join(axis for axis, _ in axes))


def numbers(value, order):
    if not isinstance(value, nt.NamedTensor):
        return [float(value)]
    places = [value.axes.index(axis) for axis in order] if order else range(len(value.axes))
    return np.transpose(np.asarray(value.array, float), list(places)).ravel().tolist()


question = json.load(sys.stdin)
inputs = {name: tensor(value) for name, value in question.get("inputs", {}).items()}
if question["ask"] == "value":
    print(json.dumps(numbers(nt.evaluate(question["text"], inputs), question.get("order"))))
elif question["ask"] == "steps":
    steps = nt.explain(question["text"], inputs)
    print(json.dumps([{"text": step.text, "numbers": sorted(numbers(step.value, None))} for step in steps]))
elif question["ask"] == "code":
    space = {}
    exec(question["code"], space)
    formula = space["function"]
    arrays = [np.reshape(array["data"], array["shape"]) for array in question["arrays"]]
    print(json.dumps(np.asarray(formula(*arrays), float).ravel().tolist()))
elif question["ask"] == "course":  # of each file that the page offers: exercises, answers and feedback
    graded = []
    for path in course().values():
        for index, exercise in enumerate(nt.exercises(path).values()):
            answers = [reference_answer(exercise), *(mistake.formula for mistake in exercise.mistakes)]
            grades = [(answer, exercise.grade(answer)) for answer in answers]
            graded.append(
                {
                    "file": path.stem,
                    "place": index,
                    "name": exercise.name,
                    "answers": [(answer, grade.correct, grade.feedback) for answer, grade in grades],
                }
            )
    print(json.dumps(graded))
elif question["ask"] == "grades":
    sheet = nt.exercises(question["file"])
    grades = [sheet[name].grade(answer) for name, answer in question["answers"]]
    print(json.dumps([{"correct": grade.correct, "feedback": grade.feedback} for grade in grades]))
