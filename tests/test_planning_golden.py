"""Plans, word for word: `golden_plans.txt` holds formulas, the types of what they are given, and the functions made of them.

A case of that file is

    == its title
    with X = ℝ^{a[2]}, Y = ℝ^{b}, sizes b = 3
    | the formula, a line each
    -- numpy
    the functions that run for that library, without its helpers

A library may be left out. After a change of plans, NAMEDTENSOR_GOLDEN=write writes them anew; read them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest

import namedtensor as nt
from namedtensor.programs.executable import Options
from namedtensor.programs.named_plans import plan_of, text_target

GOLDEN = Path(__file__).parent / "golden_plans.txt"


class Case(NamedTuple):
    title: str
    given: str
    formula: str
    wanted: dict[str, str]  # library -> functions

    def found(self, library: str) -> str:
        inputs = dict(word.split(" = ", 1) for word in re.split(r", (?=(?:sizes )?[^\s,]+ = )", self.given) if word)
        types = {name: text for name, text in inputs.items() if not name.startswith("sizes ")}
        sizes = {name.removeprefix("sizes "): int(text) for name, text in inputs.items() if name not in types}
        target = text_target(library)
        plan, _ = plan_of(nt.formula(self.formula)._goal, target, types, Options(sizes or None))
        return functions(target.backend.whole(plan))

    def written(self) -> str:
        lines = [f"== {self.title}", f"with {self.given}", *(f"| {line}" for line in self.formula.split("\n"))]
        return "\n".join([*lines, *(f"-- {library}\n{self.found(library)}" for library in self.wanted)])


def functions(source: str) -> str:
    """The constants and functions of a plan; imports and the helpers of a library are left out."""
    pieces = re.split(r"\n(?=\S)", source.strip())
    pattern = re.compile(r"(\w+_)?c\d+ = |def (function|block)\w*\(")
    return "\n".join(re.sub(r"\n\s*\n", "\n", piece).rstrip() for piece in pieces if pattern.match(piece))


def read(text: str) -> list[Case]:
    cases = []
    for part in re.split(r"^== ", text, flags=re.MULTILINE)[1:]:
        head, *plans = re.split(r"^-- (\w+)\n", part, flags=re.MULTILINE)
        title, inputs, *formula = head.strip().split("\n")
        expected = {library: plan.strip("\n") for library, plan in zip(plans[::2], plans[1::2])}
        formula = "\n".join(line.removeprefix("| ") for line in formula)
        cases.append(Case(title, inputs.removeprefix("with "), formula, expected))
    return cases


CASES = read(GOLDEN.read_text(encoding="utf-8"))

if os.environ.get("NAMEDTENSOR_GOLDEN") == "write":
    GOLDEN.write_text("\n\n".join(case.written() for case in CASES) + "\n", encoding="utf-8")
    CASES = read(GOLDEN.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("case", "library"),
    [pytest.param(case, library, id=f"{case.title}-{library}") for case in CASES for library in case.wanted],
)
def test_a_formula_has_this_plan(case, library):
    assert case.found(library) == case.wanted[library]


def test_the_titles_are_distinct():
    assert len({case.title for case in CASES}) == len(CASES) >= 50
