"""An example of each Python function: what is written, and what is shown; each is run as a doctest."""

from __future__ import annotations

TENSOR = 'namedtensor.tensor([3.0, 1.0, 4.0], "seq")'
MATRIX = 'namedtensor.tensor([[1.0, 2.0], [3.0, 4.0]], "row column")'


def _of_numbers(name: str, numbers: str, shown: str) -> tuple[str, tuple[str, str]]:
    return name, (f'{name}(tensor({numbers}, "seq")).array.tolist()', shown)


EXAMPLES: dict[str, tuple[str, str]] = {}
