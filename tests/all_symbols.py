"""A pytest plugin that plans every call with symbols for all of its sizes: `pytest -p all_symbols tests/…`.

What a plan of numbers gives, a plan with symbols has to give. The end of the run says how many calls had one, and why the
others had none; a failure that a plan of numbers does not have fails the test.
"""

from __future__ import annotations

import sys
import traceback
from collections import Counter

import pytest

from namedtensor.core.extents import UndecidedSizeError
from namedtensor.programs import call_cache, symbolic_plans
from namedtensor.programs.executable import CompiledPlan

REASONS: Counter[str] = Counter()
OF_NUMBERS = {  # tests of something else than values and errors, and what
    "test_no_tensor_of_words_by_vocabulary_is_made": "sizes in a plan, which are numbers",
    "test_each_pass_is_verified": "how many plans are made",
    "test_a_formula_is_told_of": "the line that a warning points at",
    "test_a_model_of_many_layers_costs_little_more_than_one_of_few": "how many calls a plan takes",
}


class OnlyWithSymbols(AssertionError):
    """A plan with symbols failed where one of numbers does not."""


def executable(plans, given, extra, make):
    key, sizes, places = symbolic_plans.signature_of(given)
    result = make(given)
    if given.labeled or not any(sizes):
        return result
    known, why = symbolic_plans.SignaturePlans(None, symbolic_plans.result_types(result)), []

    def noted(arguments):
        try:
            element = make(arguments)
            why.append(f"dtypes {symbolic_plans.result_types(element)} for {known.results}")
            return element
        except Exception as problem:
            frames = traceback.extract_tb(problem.__traceback__)
            frame_summary = next(
                frame for frame in reversed(frames) if not frame.filename.endswith(("extents.py", "size_conditions.py"))
            )
            why.append(
                f"{type(problem).__name__} {problem}".splitlines()[0]
                + f" {frame_summary.filename[-40:]}:{frame_summary.lineno}"
            )
            raise

    plan = symbolic_plans.plan_symbolically(known, given, sizes, places, noted)
    if plan is None or not plan.fits(sizes):
        REASONS[f"no plan with symbols: {why[-1] if why else 'no axes'}"] += 1
        return result
    REASONS["a plan with symbols"] += 1

    plan.exact = lambda arrays: Strict(result)  # type: ignore[assignment]
    return plan


class Strict:
    """An executable of numbers that has to fail as one with symbols did."""

    def __init__(self, actual: CompiledPlan):
        self.found = actual

    def __call__(self, *arrays):
        value = self.found(*arrays)
        if isinstance(sys.exc_info()[1], UndecidedSizeError):  # An assertion is compared with numbers as sizes.
            return value
        raise OnlyWithSymbols("the plan with symbols failed, and that of numbers does not")


def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if getattr(item, "originalname", item.name) not in OF_NUMBERS]


def pytest_configure(config):
    call_cache.find_plan = executable


def pytest_sessionfinish(session):
    """A process of several gives its counts to the one that reports."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["all_symbols"] = dict(REASONS)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    REASONS.update(getattr(node, "workeroutput", {}).get("all_symbols", {}))


def pytest_terminal_summary(terminalreporter):
    for reason, count in REASONS.most_common(30):
        terminalreporter.write_line(f"{count:6d}  {reason}")
