"""Closed forms are the same text in whatever order they are worked out, in any process."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from closed_forms_in_order import SHORT

from namedtensor.symbolic.forms import FormIndex, head, intern_heads, single

HERE = Path(__file__).parent
JOBS = ["block:β", "block:γ", "block:W^V", "attention:K", "attention:Q", *(f"row:{at}" for at in range(len(SHORT)))]


def worked_out(jobs: list[str], seed: int) -> dict[str, str]:
    """The closed forms from a new process whose sets of strings have this seed."""
    environment = os.environ | {"PYTHONHASHSEED": str(seed), "PYTHONPATH": f"{HERE.parent}{os.pathsep}{HERE}"}
    run = subprocess.run(
        [sys.executable, HERE / "closed_forms_in_order.py", *jobs],
        env=environment, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.sampled(3)
@pytest.mark.slow
def test_closed_forms_in_another_order_in_another_process_are_the_same():
    assert len(SHORT) >= 4
    shuffled = random.Random(7).sample(JOBS, len(JOBS))
    expected = worked_out(JOBS, 0)
    assert set(expected) == set(JOBS)
    for jobs, seed in ((JOBS[::-1], 1), (shuffled, 2), (JOBS[1:2], 3)):
        result = worked_out(jobs, seed)
        assert result == {job: expected[job] for job in result}


def test_heads_of_one_question_are_not_those_of_another():
    index = FormIndex("a", 3)

    def heads():
        with intern_heads():
            first = single(head("tensor", "X", ("a",)), index)[0].factors[0].head
            with intern_heads():  # a question within a question is a part of it
                again = head("tensor", "X", ("a",))
            return first, again

    first, again = heads()
    assert first is again
    assert heads()[0] is not first
