"""Translation of calls made from signatures, and of the examples in the documentation of NumPy, JAX and PyTorch."""

import collections
import functools

import pytest

pytest.importorskip("torch")
pytest.importorskip("jax")

from documentation_lines import all_functions, documentation_lines, outcome

PARTS = 40
READ = 0.85  # the least share of lines with a value or a question
READ_OF_PART = 0.6  # the same of a part, in which one function has many examples


@functools.cache
def outcomes_of(kind: str, part: int) -> dict:
    lines = documentation_lines(kind, all_functions()[part::PARTS])
    return {(line.library, line.source): outcome(line)[0] for line in lines}


def share_of(outcomes: dict) -> float:
    counts = collections.Counter(outcomes.values())
    return (counts["equal"] + counts["question"]) / len(outcomes)


@pytest.mark.sampled(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", ["calls", "examples"])
def test_positional_documentation_has_the_value_of_its_library(kind, part):
    outcomes = outcomes_of(kind, part)
    assert [line for line, result in outcomes.items() if result in ("wrong", "crash")] == []
    assert share_of(outcomes) >= READ_OF_PART


@pytest.mark.sampled(PARTS)
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["calls", "examples"])
def test_positional_documentation_is_read(kind):
    outcomes = {line: result for part in range(PARTS) for line, result in outcomes_of(kind, part).items()}
    assert share_of(outcomes) >= READ
