"""The axes of declared tensors: named axes, and free axes with a suggested name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .axes import Axes, AxisClashError, AxisVariable, Dim, axes_of
from .torch_names import axis_words, hint_of
from .torch_trace import UnreadableModuleError

EXAMPLES = ("chans", "seq", "height", "width", "depth", "group")


def suggest_names(spelled: str, count: int, dimensions: int) -> str:
    """Return the hint for a text that names `count` axes of an array with another number of dimensions."""
    if count > dimensions:
        return "parentheses split a dimension, as in (heads[8] key)" if dimensions else "write ''"
    more = [name for name in EXAMPLES if name not in spelled]
    return f"name each dimension, as in {' '.join([spelled, *more[: dimensions - count]]).strip()!r}"


class ModuleLeaves:
    """The assignment of axes to the dimensions of declared tensors."""

    def __init__(self, axes: Axes, given: Mapping[str, str]):
        self.axes, self.given = axes, given

    def dims_of(self, kind: str, path: str, shape: Sequence[int]) -> tuple[Dim, ...]:
        spelled = self.given.get(path)
        if spelled is None:
            hints = self.hints(kind, path, len(shape))
            return tuple(
                () if length == 1 else (self.axes.new(size=length, hint=hint),) for length, hint in zip(shape, hints)
            )
        words = axis_words(spelled)
        if len(words) != len(shape):
            sizes = " × ".join(map(str, shape))
            raise UnreadableModuleError(
                f"names[{path!r}] = {spelled!r} names {len(words)} {'axis' if len(words) == 1 else 'axes'}, but {path} has "
                f"{len(shape)} {'dimension' if len(shape) == 1 else 'dimensions'}{sizes and f' ({sizes})'}",
                hint=suggest_names(spelled, len(words), len(shape)),
                final=True,
            )
        dims: list[Dim] = []
        for word, length in zip(words, shape):
            dims.append(self.name_dimension(path, word, length, {axis.fixed for dim in dims for axis in dim}))
        self.axes.apart(axes_of(dims))
        return tuple(dims)

    def name_dimension(self, path: str, words: Sequence[tuple[str, int | None]], length: int, before: set[str]) -> Dim:
        known = {name: self.axes.given[name].kind.size for name, _ in words if name in self.axes.given}
        sizes = [position or known.get(name) for name, position in words]
        product = math.prod(size or 1 for size in sizes)
        if sizes.count(None) > 1 or length % product or (None not in sizes and product != length):
            listed = " ".join(name for name, _ in words)
            hint = "state sizes, as in (heads[8] key)"
            raise UnreadableModuleError(
                f"{path} has {length} along {listed}, whose sizes do not make that", hint=hint, final=True
            )
        dim: list[AxisVariable] = []
        for (name, _), size in zip(words, sizes):
            while name in before:
                name += "'"
            before.add(name)
            if (size or length // product) > 1:
                try:
                    dim.append(self.axes.named(name, size or length // product))
                except AxisClashError:
                    raise UnreadableModuleError(
                        f"{name} is {size or length // product} in {path}, and another size elsewhere", final=True
                    ) from None
        return tuple(dim)

    def hints(self, kind: str, path: str, rank: int) -> Sequence[str]:
        if kind in ("input", "mask"):
            known = {1: ["seq"], 2: ["batch", "chans"], 3: ["batch", "seq", "chans"]}
            return known.get(rank) or [
                "batch",
                "chans",
                "height",
                "width",
                "depth",
                *(f"dim{dim}" for dim in range(5, rank)),
            ]
        if kind == "constant":
            return [f"dim{dim}" if rank > 1 else "dim" for dim in range(1, rank + 1)]
        base = hint_of(path)
        if rank > 5:
            return [f"{base}{dim}" for dim in range(rank)]
        return [base, f"{base}In", "kheight", "kwidth", "kdepth"]
