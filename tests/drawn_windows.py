"""Sizes given beside windows: programs whose axis d has the size that `sizes=`, an input or an argument says, and another after a
window, a pool or a slice along it. What is expected is computed here, in plain Python.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import namedtensor as nt
from namedtensor import reference


class Windowed(NamedTuple):
    """A program, its input x on the axis d or None, the sizes that are given, and the elements by (window, kernel)."""

    text: str
    x: list[float] | None
    sizes: dict[str, int]
    axes: tuple[str, ...]
    expected: list[Any]


def draw_windowed(seed: Any) -> Windowed:
    d = random.Random(f"windows {seed}")
    kind = d.choice(["unroll", "pool", "slice"])
    k = d.randint(1, 3)
    n = k * d.randint(1, 3) if kind == "pool" else k + d.randint(0, 4)
    holder = d.choice(["program", "function", "two functions", "over axes", "argument"])
    size = n  # of d where the window is made
    x = [d.randint(-8, 8) / 4 for _ in range(n)] if holder == "argument" or d.random() < 0.3 else None
    if holder == "argument" and kind != "pool" and n > k and d.random() < 0.5:
        size = n - 1
    scale = d.choice([1, 2, 3])
    base, value = d.choice(
        [("U iota_{D}", "times"), ("(U + iota_{D})", "plus"), ("(U / iota_{D})", "over"), ("|D| U iota_{D}", "sized")]
    )
    operand = [float(number) for number in x[:size]] if holder == "argument" and x else [float(scale)] * size
    rows = {
        "times": lambda u, i: u * i, "plus": lambda u, i: u + i, "over": lambda u, i: u / i, "sized": lambda u, i: size * u * i,
    }[value]  # fmt: skip
    result = [rows(u, i) for i, u in enumerate(operand, 1)]
    first = d.randint(1, size)
    last = d.randint(first, size)
    body = {
        "unroll": f"unroll_{{D,k}}({base})",
        "pool": f"pool_{{D,k}}({base})",
        "slice": f"({base})_{{D({first}:{last})}}",
    }[kind]
    expected: list[Any]
    if kind == "slice":
        expected = result[first - 1 : last]
    else:
        starts = range(size - k + 1) if kind == "unroll" else range(0, size, k)
        expected = [result[start : start + k] for start in starts]
    axes: tuple[str, ...] = ("d",) if kind == "slice" else ("d", "k")
    if kind != "slice" and d.random() < 0.5:
        body, axes, expected = f"∑_{{k}} {body}", ("d",), [sum(row) for row in expected]
    renamed = d.random() < 0.5
    lines, out = _held(holder, body, scale, size if x else n, len(x or ()))
    if renamed:
        out, axes = f"[{out}]_{{d→q}}", ("q", *axes[1:])
    if x is not None and holder != "argument":
        out = f"{out} + 0 ∑_{{d}} x"
    sizes = {} if kind == "slice" else {"k": k}
    if x is None or d.random() < 0.5:
        sizes["d"] = n
    if renamed and d.random() < 0.3:
        sizes["q"] = len(expected)
    return Windowed("\n".join([*lines, f"out = {out}"]), x, sizes, axes, expected)


def _held(holder: str, body: str, scale: int, size: int, length: int) -> tuple[list[str], str]:
    """The statements that hold a window, and the expression that is its value."""
    at_d = body.replace("D", "d")
    if holder == "program":
        return [], at_d.replace("U", f"{scale}")
    if holder == "two functions":
        return [f"f(U) = {at_d}", "g(V) = f(V)"], f"g({scale})"
    if holder == "over axes":
        return [f"f_{{ax}}(U) = {body.replace('D', 'ax')}"], f"f_{{d}}({scale})"
    if holder == "argument":
        return [f"f(U) = {at_d}"], f"f(x_{{d(1:{size})}})" if size < length else "f(x)"
    return [f"f(U) = {at_d}"], f"f({scale})"


def _by_evaluate(w: Windowed) -> Any:
    return nt.evaluate(w.text, {} if w.x is None else {"x": nt.tensor(w.x, "d")}, sizes=w.sizes)


def _by_compiled(w: Windowed) -> Any:
    function = nt.formula(w.text).compile()
    tensors = {} if w.x is None else {"x": nt.tensor(w.x, "d")}
    return [function(**tensors, sizes=w.sizes) for _ in range(2)][-1]


def _by_latex(w: Windowed) -> Any:
    text = nt.program(w.text).to_latex()
    return nt.evaluate(text, {} if w.x is None else {"x": nt.tensor(w.x, "d")}, sizes=w.sizes)


def _by_reference(w: Windowed) -> Any:
    return reference.evaluate(w.text, {} if w.x is None else {"x": reference.tensor(w.x, "d")}, sizes=w.sizes)


WAYS: dict[str, Callable[[Windowed], Any]] = {
    "evaluate": _by_evaluate, "compiled": _by_compiled, "printed in LaTeX": _by_latex, "reference": _by_reference,
}  # fmt: skip


def difference_beside_windows(seed: Any) -> str | None:
    """What some way gives that it should not, as it can be typed; None where all agree."""
    w = draw_windowed(seed)
    expected = nt.tensor(w.expected, w.axes)
    for name, way in WAYS.items():
        try:
            tensor = way(w)
            if isinstance(tensor, reference.Tensor):
                tensor = nt.tensor(tensor.to_list(tuple(tensor.shape)), tuple(tensor.shape))
            got = (
                ""
                if tensor.sizes == expected.sizes and nt.allclose(tensor, expected)
                else f"{tensor.sizes} {tensor.to_array(tensor.axes).tolist()}"
            )
        except Exception as problem:
            got = str(problem)
        if got:
            return f"seed {seed} ({name}, sizes={w.sizes}, x={w.x})\n{w.text}\n  got {got}\n  expected {expected.sizes} {w.expected}"
    return None
