"""Every NumPy, einops and PyTorch cell of the reference and the cheat sheet, translated and compared with the formula of its row."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import namedtensor as nt

sys.path.insert(0, str(Path(__file__).parent.parent / "docs"))
from tables import AXES, CHEATS, CONSTRUCTS, SIZES

VALUES_ONLY = {  # cells that are translated, but hold the value of their row for its example only
    "np.array([1.0, 720.0, 1.0])": "the values of Γ at the elements of x",
    "np.array([2.0, 5040.0, 1.0])": "the factorials of the elements of x",
    "np.array(10)": "the binomial coefficient of 5 and p",
}
NUMBERS = {"i": "[2]", "p": "{3}", "I": "[5]^{seq}"}  # what these are in the formula of a row


class Cell(NamedTuple):
    formula: str
    source: str
    kind: str
    axes: str
    sizes: tuple[tuple[str, int], ...]


def cells() -> Iterator[Cell]:
    for rows in CONSTRUCTS.values():
        yield from (Cell(row.text, row.numpy, "numpy", row.axes, row.sizes) for row in rows if row.numpy)
    for same in CHEATS.values():
        for row in same:
            for kind in ("numpy", "einops", "torch"):
                if source := getattr(row, kind):
                    yield Cell(row.formula, source, kind, row.axes, row.sizes)


CELLS = list(cells())


def used(text: str) -> list[str]:
    """Return the inputs of a formula or of code, patterns and the parameters of a lambda left out."""
    text = re.sub(r"'[^']*'", "", text)
    parameters = re.findall(r"lambda (\w+):", text)
    text = re.sub(rf"\b(?:{'|'.join(parameters)})\b", "", text) if parameters else text
    return [name for name in AXES if re.search(rf"(?<![\w.]){name}(?![\w(=])", text)]


def shape(name: str) -> str:
    return " ".join(f"{axis}[{SIZES[axis]}]" for axis in AXES[name])


def type_of(name: str) -> str:
    return NUMBERS.get(name) or ("ℝ^{" + " × ".join(AXES[name]) + "}" if AXES[name] else "ℝ")


def renamed(formula: str, old: tuple[str, ...], new: list[str]) -> str:
    """A formula with the axes of its value called as the table calls them."""
    *before, last = formula.splitlines()
    pairs = ", ".join(f"{one}→{two}" for one, two in zip(old, new, strict=True) if one != two)
    return "\n".join([*before, f"[{last}]_{{{pairs}}}" if pairs else last])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.source)
def test_positional_cell_is_translated_to_the_formula_of_its_row(cell):
    translation = nt.translate(
        cell.source, {name: shape(name) for name in used(cell.source)}, kind="" if cell.kind == "einops" else cell.kind
    )
    assert translation.checked.startswith(("equal to", "not compared: PyTorch is not", "not compared: einops is not"))
    if cell.source in VALUES_ONLY:
        return
    names = {*used(cell.formula), *translation.axes}
    sizes = {**SIZES, **dict(cell.sizes)}
    axes = {axis for name in names for axis in AXES[name]} | {*dict(cell.sizes)}
    text = "\n".join(f"|{axis}| = {sizes[axis]}" for axis in sorted(axes))
    same = nt.equivalent(
        renamed(translation.formula, translation.result, cell.axes.split()),
        cell.formula,
        given=text,
        **{name: type_of(name) for name in names},
    )
    assert same, f"{translation.formula}: {same}"


def test_positional_cells_are_those_of_the_tables():
    assert len(CELLS) >= 120
    assert {*VALUES_ONLY} <= {cell.source for cell in CELLS}
