"""Any string gives a value or a NotationError, within two seconds and a gigabyte: never another exception.

NAMEDTENSOR_FUZZ is the number of strings; `python tests/fuzzing.py 4711` tries one again.
"""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor

import pytest
from fuzzing import LINES, attempt, confined, extremes, given, sizes_in, string, work, work_extreme

COUNT = int(os.environ.get("NAMEDTENSOR_FUZZ", "5000"))
CHUNK = 500


@pytest.fixture(scope="module")
def pool():
    """A process for each core, each with its own bounds of time and memory."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=fresh, initializer=confined) as process_pool_executor:
        yield process_pool_executor


def test_a_string_has_a_number():
    assert string(4711) == string(4711)
    assert len({string(number) for number in range(200)}) > 150


@pytest.mark.slow
def test_random_strings_give_a_value_or_a_notation_error(pool):
    chunks = [range(start, min(start + CHUNK, COUNT)) for start in range(0, COUNT, CHUNK)]
    failures, seconds = [], 0.0
    for result, took in pool.map(work, chunks):
        failures += result
        seconds += took
    print(f"{COUNT} strings, {COUNT / seconds:.0f} a second in each process")
    assert not failures, "\n\n".join(f"string {f.name}: {f.text!r}\n{f.why}" for f in failures[:10])


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", extremes())
def test_too_much_of_something_gives_a_value_or_a_notation_error(pool, name):
    failure = pool.submit(work_extreme, name).result()
    assert failure is None, failure.why


@pytest.mark.slow
def test_most_of_the_formulas_have_values():
    """Mutations of what fails anyway would find little."""
    import namedtensor as nt

    good = 0
    for line in LINES:
        try:
            nt.evaluate(line, given(), sizes=sizes_in(line))
            good += 1
        except nt.NotationError:
            pass
    assert good > 0.6 * len(LINES)
    assert attempt("one", "1 + 1", {}) is None
