"""The reader's measure: no trip through the packages goes through more files, functions or calls than `reader_measure.json` keeps.

Lower the figures by `python tests/reader_measure.py --write` after a simplification; raise them with a reason in the commit.
"""

import json
import sys

import pytest
from reader_measure import LIMITS, TRIPS, measured

from grammar.parser import _load_saved

KEPT = json.loads(LIMITS.read_text(encoding="utf-8"))
ON_3_11 = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="what counts as a call depends on the version of Python"
)

WITH_SAVED_PARSER = pytest.mark.skipif(
    _load_saved() is None, reason="another version of Lark builds the parser, in more calls"
)


@ON_3_11
@WITH_SAVED_PARSER
@pytest.mark.parametrize("trip", TRIPS)
def test_trip_stays_within_its_figures(trip):
    files, functions, calls = measured(trip)
    most_files, most_functions, most_calls = KEPT[trip]
    assert files <= most_files and functions <= most_functions
    assert calls <= 1.02 * most_calls  # the order of sets varies from process to process


def test_every_trip_has_figures():
    assert KEPT.keys() == TRIPS.keys()
