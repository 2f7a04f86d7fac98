"""Small, distinct sizes for axes without a size, so that sizes do not coincide by chance."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

FIRST, MOST = 3, 8
TRIES = 40


def choices(axes: Iterable[str], meeting: Mapping[str, Any] = {}) -> Iterator[dict[str, int]]:
    """Yield mappings from axes to sizes, the best first. Axes with equal values in `meeting` get equal sizes.

    >>> next(choices(["seq", "key", "a", "a'"], {"a": 1, "a'": 1}))
    {'seq': 3, 'key': 4, 'a': 5, "a'": 5}
    """
    marks = {axis: meeting.get(axis, axis) for axis in axes}
    kinds = list(dict.fromkeys(marks.values()))

    def as_sizes(numbers: Iterable[int]) -> dict[str, int]:
        sizes = dict(zip(kinds, numbers))
        return {axis: sizes[mark] for axis, mark in marks.items()}

    yield as_sizes(range(FIRST, FIRST + len(kinds)))
    if kinds:
        for pair in itertools.combinations(range(len(kinds)), 2):
            yield as_sizes(FIRST + (pair[0] if at == pair[1] else at) for at in range(len(kinds)))
        numbers = itertools.islice(itertools.product(range(2, MOST + 1), repeat=len(kinds)), 50_000)
        ordered = sorted(numbers, key=lambda number: (-len(set(number)), sum(number)))
        yield from map(as_sizes, ordered[:TRIES])
