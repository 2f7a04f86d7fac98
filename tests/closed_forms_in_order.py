"""Prints the closed forms of some formulas, worked out in the order of the arguments: each a name and a variable."""

import json
import sys

from derivatives_of_the_literature import LIST
from test_derivations import ATTENTION, BLOCK, OF_BLOCK, SHAPES

import namedtensor as nt

SHAPES_OF_BLOCK = {name: f"ℝ^{{{' × '.join(axes.split())}}}" for name, axes in OF_BLOCK.items()}
SHORT = [row for row in LIST if row[2] and " ‖ " not in row[1] and "[" not in row[3]][::40]


def shapes_of(text: str) -> dict[str, str]:
    """The shapes of a row: each input with its axes, without what is known of its values."""
    parts = [part.split() for part in text.split(";") if part.strip()]
    axes = {name: [axis for axis in rest if axis not in ("+", "small")] for name, *rest in parts}
    return {name: f"ℝ^{{{' × '.join(named)}}}" if named else "ℝ" for name, named in axes.items()}


def closed_form(job: str) -> str:
    name, by = job.split(":")
    if name == "row":
        _, formula, variable, shapes, _ = SHORT[int(by)]
        return str(nt.derivative(formula, variable).closed_form(**shapes_of(shapes)))
    text, shapes = (BLOCK, SHAPES_OF_BLOCK) if name == "block" else (ATTENTION, SHAPES)
    return str(nt.derivative(text, by).closed_form(**shapes))


if __name__ == "__main__":
    results = [(job, closed_form(job)) for job in sys.argv[1:]]
    print(json.dumps(dict(results)))
