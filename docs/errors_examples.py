"""One or more wrong formulas for each number of the catalogue: what `docs/errors.md` shows.

`python docs/_extensions/errors_page.py --write` runs them and writes the page; a test keeps the page true.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import namedtensor as nt


class Example(NamedTuple):
    formula: str
    inputs: dict[str, Any] = {}
    sizes: dict[str, Any] = {}
    options: dict[str, Any] = {}  # further arguments of nt.evaluate: syntax, strict, …
    mended: str = ""  # the formula put right; it must run with the same inputs and sizes
    note: str = ""


A = nt.tensor(np.array([[3.0, 1, 4], [1, 5, 9], [2, 6, 5]]), "height width")
x = nt.tensor(np.array([2.0, 7, 1]), "height")
y = nt.tensor(np.array([1.0, 4, 1]), "width")

EXAMPLES: dict[int, tuple[Example, ...]] = {
    101: (Example("A 3 + = x", {"A": A, "x": x}),),
    102: (Example("softmax_{width}(A", {"A": A}, mended="softmax_{width}(A)"),),
    103: (Example("A + x)", {"A": A, "x": x}, mended="A + x"),),
    104: (Example("exp(A]", {"A": A}, mended="exp(A)"),),
    105: (Example("A ⊙_{height}", {"A": A}),),
    106: (Example("A ? x", {"A": A, "x": x}),),
    107: (Example("A / 2 x", {"A": A, "x": x}, mended="A / (2 x)"),),
    108: (Example("", {}),),
    201: (Example("A + z", {"A": A}),),
    301: (Example("A ⊙_{widht} y", {"A": A, "y": y}, mended="A ⊙_{width} y"),),
    401: (Example("x_{height(0)}", {"x": x}, mended="x_{height(1)}"),),
}
