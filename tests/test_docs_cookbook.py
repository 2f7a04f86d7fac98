"""The claims of the page on the Matrix Cookbook: each holds, most are proved, and none with its right side changed."""

import sys
from pathlib import Path

import pytest

import namedtensor as nt

sys.path.insert(0, str(Path(__file__).parent.parent / "docs"))

from cookbook import SECTIONS, WITH_FACTS, shapes_of

CLAIMS = [claim for rows in SECTIONS.values() for claim in rows]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.number)
def test_a_claim_of_the_cookbook_holds(claim):
    assert nt.prove(claim.text, **shapes_of(claim.shapes)).status in ("proved", "not disproved")
    *before, last = claim.text.split("\n")
    left, right = last.split(" = ")
    wrong = "\n".join([*before, f"{left} = 3 ({right})"])
    assert nt.prove(wrong, **shapes_of(claim.shapes)).status == "disproved"


def test_most_of_them_are_proved():
    verdicts = [nt.prove(claim.text, **shapes_of(claim.shapes)).status for claim in CLAIMS]
    assert len(CLAIMS) >= 40 and verdicts.count("proved") >= 35


@pytest.mark.parametrize("row", WITH_FACTS, ids=lambda row: f"{row.number} {row.by}")
def test_a_fact_makes_a_derivative_shorter(row):
    closed = nt.derivative(row.text, row.by).closed_form(**shapes_of(row.shapes))
    without = nt.derivative(row.formula, row.by).closed_form(**shapes_of(row.shapes))
    assert closed.length < without.length
    assert [step.since for step in closed.steps].count(None) < len(closed.steps)
