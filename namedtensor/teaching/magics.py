"""Notebook magics `%%nt` and `%%exercise`, for cells that contain a formula or an answer.

%load_ext namedtensor

%%nt Y                      evaluates the formula on the notebook's tensors and stores the value as Y
softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V

%%exercise week3.nt attention-scale     grades the answer in the cell; later cells may omit the file
%%exercise lesson 1 column-sums         grades an answer to an exercise of a lesson
"""

from __future__ import annotations

import html
from numbers import Number
from typing import Any

from grammar.errors import NotationError

from ..core.arrays import is_array
from ..core.tensor import NamedTensor
from ..programs.api import program
from ..scope.names import walk
from .exercise_files import ExerciseError
from .grading import Grade
from .sheets import Sheet, exercises


class Said:
    """The output of a notebook cell, which is a grade or an error."""

    def __init__(self, text: str, correct: bool | None = None, grade: Grade | None = None):
        self.text, self.correct, self.grade = text, correct, grade

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        color = {True: "#1a7f37", False: "#b42318", None: "inherit"}[self.correct]
        word = {True: "correct", False: "contains an error", None: ""}[self.correct]
        head = f"<strong style='color:{color}'>{word}</strong> " if word else ""
        return f"<div>{head}<pre style='display:inline;white-space:pre-wrap'>{html.escape(self.text)}</pre></div>"


def load(shell: Any) -> None:
    """Register the cell magics %%nt and %%exercise in a notebook."""
    sheets: list[Sheet] = []

    def nt_cell(line: str, cell: str) -> Any:
        try:
            value = _value(cell, shell.user_ns)
        except NotationError as problem:
            return Said(str(problem), False)
        if line.strip():
            shell.user_ns[line.strip()] = value
        return value

    def exercise_cell(line: str, cell: str) -> Any:
        *file, name = line.split() or [""]
        try:
            if file:
                sheets[:] = [exercises(" ".join(file))]
            if not sheets:
                return Said("name the file once: %%exercise week3.nt attention-scale", False)
            if not name:
                return Said(f"name the exercise: %%exercise {next(iter(sheets[0]))}", False)
            grade = sheets[0][name].grade(cell)
        except ExerciseError as problem:
            return Said(str(problem), False)
        except KeyError as problem:  # its text is quoted
            return Said(problem.args[0], False)
        return Said(grade.feedback, grade.correct, grade)

    shell.register_magic_function(nt_cell, "cell", "nt")
    shell.register_magic_function(exercise_cell, "cell", "exercise")


def _value(cell: str, names: dict[str, Any]) -> Any:
    """Return the value of a formula. Each input is the notebook variable with the same name."""
    result = program(cell.strip())
    return result(**{name: names[name] for name in _names_in(result) if _usable(names.get(name))})


def _names_in(program: Any) -> list[str]:
    return sorted({node.text for node in walk(program.tree) if hasattr(node, "text")})


def _usable(value: Any) -> bool:
    return isinstance(value, (NamedTensor, Number)) or is_array(value)
