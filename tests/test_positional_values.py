"""Matrix and index notation translated, beside the value of a second evaluator that shares no code with the reader."""

import re

import numpy as np
import positional_pairs
import pytest
import test_positional_cookbook
import test_positional_notation
import test_positional_pairs
import test_positional_translate
from notation_parts import Unread
from notation_values import value_of
from rotation import rotation_seed

import namedtensor as nt

SIZES = (6, 5, 4, 3, 7, 8, 9)
LEAST = {
    "notation": 0.65,
    "translate": 0.7,
    "pairs": 0.65,
    "cookbook": 0.5,
}  # the share of sources that the evaluator reads


def sources_of(table: str):
    """Yield the sources of a test table, with the shapes of their inputs."""
    if table == "notation":
        yield from ((row[0], test_positional_notation.inputs_of(row[1])) for row in test_positional_notation.VALUES)
    elif table == "translate":
        rows = (*test_positional_translate.WORKED, *test_positional_translate.PAIRS)
        yield from ((row[0], test_positional_translate.shapes_of(row[1])) for row in rows)
    elif table == "pairs":
        pairs = [pair for pair in positional_pairs.PAIRS if pair.reading is None]
        yield from ((pair.source, test_positional_pairs.shapes(pair.shapes)) for pair in pairs)
    else:
        for text, left, right, _ in test_positional_cookbook.LINES.values():
            shapes = test_positional_cookbook.shapes(text)
            for side in filter(None, (left, right)):
                letters = re.sub(r"\\[A-Za-z]+", "", side)
                yield side, {name: shape for name, shape in shapes.items() if name in letters}


def random_arrays(axes, shapes):
    """Return an array for each input whose axes have different sizes, and the sizes."""
    sizes: dict[str, int] = {}
    for shape in shapes.values():
        for name, size in re.findall(r"(\w+)'*(?:\[(\d+)\])?", shape):
            sizes.setdefault(name, int(size or SIZES[len(sizes)]))
    chance = np.random.default_rng(1)
    arrays = {
        name: chance.uniform(0.3, 1.7, [sizes[axis.rstrip("'")] for axis in listed]) for name, listed in axes.items()
    }
    for name, array in arrays.items():
        if array.ndim == 2 and len(array) == array.shape[1]:
            arrays[name] = array + 3 * np.eye(len(array))  # so that it has an inverse
    return arrays, sizes


@pytest.mark.parametrize("table", LEAST)
def test_notation_has_the_value_of_a_second_evaluator(table):
    read, unread, different = [], [], []
    for source, shapes in [*sources_of(table)][rotation_seed() % 3 :: 3]:
        try:
            translation = nt.translate(source, shapes, check=False)
        except nt.NotationError as problem:
            assert problem.code == 116
            continue
        if translation.kind not in ("matrices", "indices") or not {*translation.axes} <= {*shapes}:
            continue
        arrays, sizes = random_arrays(translation.axes, shapes)
        try:
            expected = value_of(source, arrays, sizes).squeeze()
        except Unread:
            unread.append(source)
            continue
        read.append(source)
        actual = np.asarray(translation(*arrays.values())).squeeze()
        if actual.shape != expected.shape or not np.allclose(actual, expected, rtol=1e-5, atol=1e-6):
            different.append((source, translation.formula))
    assert different == []
    assert len(read) >= LEAST[table] * (len(read) + len(unread)), unread
