"""Tests for `nt.follows`: a formula with the axes of a function, and random or boundary arguments."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grammar.errors import NotationError
from grammar.parser import parse

from ..positional.pytest_plugin import DOCUMENT
from ..programs.boundaries import BOUNDARY
from ..programs.random_inputs import styles
from ..programs.sampling import Sampler
from .comparison import SampledInputs
from .spelling import text_of

LABELLED = re.compile(r"(?P<file>[^#\s]*\.(?:tex|md|markdown|html?|ipynb))?#(?P<label>\S+)")
SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11)


@dataclass(frozen=True)
class Contract:
    """The requirements for a function that implements a formula: the formula, and the axes of arguments and result."""

    formula: str
    axes: Mapping[str, tuple[str, ...]]
    gives: tuple[str, ...]
    root: str = field(default_factory=os.getcwd)

    @functools.cached_property
    def text(self) -> str:
        """The formula as text; a label is resolved to the formula in its document."""
        return text_of(resolve_formula(self.formula, self.root))

    def sampler(self, sizes: Mapping[str, int]) -> Sampler:
        """Return a sampler of arguments whose axes have these sizes."""
        return Sampler({name: {axis: sizes[axis] for axis in axes} for name, axes in self.axes.items()})

    def sizes(self, seed: int) -> dict[str, int]:
        """Return a random size for each axis. All sizes are different."""
        axes = list(dict.fromkeys(axis for names in self.axes.values() for axis in names))
        chosen = np.random.default_rng(seed).permutation(range(2, 2 + max(len(axes), len(SIZES))))[: len(axes)]
        return {axis: int(size) for axis, size in zip(axes, chosen)}

    def sample(self, seed: int, style: str = "normal", sizes: Mapping[str, int] | None = None) -> SampledInputs:
        """Return random arguments, keyed by their names in the formula."""
        return SampledInputs(self.sampler(sizes or self.sizes(seed)).inputs(seed, style), seed, style)

    def tests(self, library: str, draws: int, seed: int) -> Iterator[SampledInputs]:
        """Yield random arguments in each style, and arguments at the boundaries of the formula's conditions."""
        for draw, style in enumerate(styles(draws)):
            yield self.sample(seed + draw, style)

        def is_exact(number: float) -> bool:
            return library == "numpy" or float(np.float32(number)) == number

        sampler = self.sampler(self.sizes(seed))
        for values in sampler.boundary_inputs(seed, parse(self.text, "text"), is_exact=is_exact):
            yield SampledInputs(values, seed, BOUNDARY)


def resolve_formula(formula: str, root: str = "") -> str:
    """Return a formula. A label such as "paper.tex#eq:attention" is replaced by the formula in the document.

    Raise NotationError if the label has no file and pytest names no document.
    """
    match = LABELLED.fullmatch(formula.strip())
    if match is None:
        return formula
    file = match["file"] or (DOCUMENT[-1] if DOCUMENT else "")
    if not file:
        raise NotationError(
            108, f"no document is given for {formula}", hint="write paper.tex#label, or pytest --formulas paper.tex"
        )
    from ..documents.loaded import find_labeled

    return find_labeled(file if os.path.isabs(file) else os.path.join(root, file), match["label"])


def to_torch(array: Any) -> Any:
    """Convert a NumPy array to a PyTorch tensor of dtype float32."""
    import torch

    return torch.as_tensor(array, dtype=torch.float32)


def to_jax(array: Any) -> Any:
    """Convert a NumPy array to a JAX array of dtype float32."""
    import jax.numpy as jnp

    return jnp.asarray(array, dtype="float32")  # type: ignore[reportUnknownMemberType]


TO: dict[str, Callable[[Any], Any]] = {"numpy": np.asarray, "torch": to_torch, "jax": to_jax}


def arrays_of(drawn: SampledInputs, library: str) -> list[Any]:
    """Return random arguments as arrays of a library: "numpy", "torch" or "jax"."""
    return [TO[library](np.reshape(value.numbers, value.extent)) for value in drawn.values.values()]
