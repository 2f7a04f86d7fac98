"""Two thousand lines of array code, each read and compared with the value of its library on random arrays."""

import collections
import inspect
import itertools
import random
import re

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.positional.operations import OPERATIONS, find_operation

torch = pytest.importorskip("torch")
pytest.importorskip("einops")

from array_code_lines import CodeLine, array_code_lines, library_value, random_arrays  # noqa: E402

SAMPLE = 250  # lines of an ordinary run
VALUES, READ = 0.85, 0.85  # the least shares with a value, and with a value or a question


def values_differ(translation, line: CodeLine, every_library: bool) -> bool:
    """Return whether a translation differs from its library, or from both of a line that names neither."""
    for seed, positive in ((1, True), (2, False)):
        arrays = random_arrays(seed, positive)
        actual = np.asarray(translation(**{name: arrays[name] for name in translation.axes}))
        same = []
        for library in line.libraries:
            expected = library_value(line.source, library, arrays)
            if expected is None:
                continue
            shapes = actual.shape == expected.shape
            same.append(shapes and np.allclose(actual, expected, rtol=1e-5, atol=1e-6, equal_nan=True))
        if same and not (all(same) if every_library else any(same)):
            return True
    return False


def outcome(line: CodeLine) -> str:
    """Return `value`, `question`, `rejection`, or `wrong` for a line; a size that `reading` excludes is a rejection."""
    try:
        translation = nt.translate(line.source, line.shapes, kind=line.kind)
        return "wrong" if values_differ(translation, line, not translation.reading) else "value"
    except nt.NotationError as problem:
        if problem.code != 116:
            return "rejection"
        readings = problem.readings
        return "question" if any(not values_differ(reading, line, False) for reading in readings) else "wrong"


def share_of_outcomes(lines) -> collections.Counter[str]:
    """Return the number of lines of each outcome, and fail for a wrong value."""
    outcomes = {line.source: outcome(line) for line in lines}
    assert [source for source, result in outcomes.items() if result == "wrong"] == []
    return collections.Counter(outcomes.values())


def test_positional_sampled_lines_have_the_value_of_their_library():
    counts = share_of_outcomes(random.Random(1).sample(array_code_lines(), SAMPLE))
    assert counts["value"] + counts["question"] >= (READ - 0.07) * SAMPLE


def test_positional_lines_call_every_operation():
    text = "\n".join(line.source for line in array_code_lines())
    names = {name for records in OPERATIONS.values() for record in records for name in record.names}
    assert [name for name in sorted(names) if not re.search(rf"\b{name}\(", text)] == []


def test_positional_parameters_are_in_the_order_of_the_library():
    modules = {"numpy": (np, np.linalg), "torch": (torch.nn.functional,)}
    tensors = {"x2", "b", "_stacklevel"}  # the second tensor, and a setting of PyTorch's own
    different = []
    for name, (library, places) in itertools.product(OPERATIONS, modules.items()):
        record = find_operation(name, library)
        for function in [getattr(slot, name) for slot in places if hasattr(slot, name) and name != "unfold"]:
            try:
                signature = inspect.signature(function).parameters.values()
            except ValueError:  # a function without a signature
                continue
            real = [one.name for one in signature if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)][1:]
            ours = [] if record is None or record.variadic is not None else record.parameters[1 : record.positional]
            different += [
                (library, name, theirs) for one, theirs in zip(ours, real) if theirs not in tensors.union(one.names)
            ]
    assert different == []


@pytest.mark.sampled(8)
@pytest.mark.slow
def test_positional_lines_have_the_value_of_their_library():
    lines = array_code_lines()
    counts = share_of_outcomes(lines)
    assert counts["value"] >= VALUES * len(lines)
    assert counts["value"] + counts["question"] >= READ * len(lines)
