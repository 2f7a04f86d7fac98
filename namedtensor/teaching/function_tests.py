"""Tests for `nt.follows`: a formula with the axes of a function, and random or boundary arguments."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from grammar.errors import NotationError
from grammar.parser import parse

from ..positional.pytest_plugin import DOCUMENT
from ..programs.boundaries import BOUNDARY
from ..programs.plain_values import PlainTensor
from ..programs.random_inputs import styles
from ..programs.sampling import Sampler

LABELLED = re.compile(r"(?P<file>[^#\s]*\.(?:tex|md|markdown|html?|ipynb))?#(?P<label>\S+)")
SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11)


@dataclass(frozen=True)
class Contract:
    """The agreement of a function with a formula: the formula, and the axes of each argument and of the result."""

    formula: str
    axes: Mapping[str, tuple[str, ...]]
    gives: tuple[str, ...]
    root: str = field(default_factory=os.getcwd)

    @functools.cached_property
    def text(self) -> str:
        """The formula. If it is given by a label, it is the formula with this label in a document."""
        return resolve_formula(self.formula, self.root)

    def sampler(self, sizes: Mapping[str, int]) -> Sampler:
        """Return a sampler of arguments whose axes have these sizes."""
        return Sampler({name: {axis: sizes[axis] for axis in axes} for name, axes in self.axes.items()})


def resolve_formula(formula: str, root: str = "") -> str:
    """Return a formula, or the formula in a document that a label such as "paper.tex#eq:attention" denotes."""
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


class FunctionTest(NamedTuple):
    """A test of a function on random arguments, given by their style and seed, or on the given arguments."""

    style: str
    seed: int
    sizes: dict[str, int]
    values: Mapping[str, PlainTensor] | None = None

    def inputs(self, contract: Contract) -> dict[str, PlainTensor]:
        """Return the arguments by name, as they are called in the formula."""
        if self.values is not None:
            return dict(self.values)
        return contract.sampler(self.sizes).inputs(self.seed, self.style)

    def arrays(self, contract: Contract, library: str) -> list[Any]:
        """Return the arguments in order, as arrays of a library."""
        return [TO[library](np.reshape(value.numbers, value.extent)) for value in self.inputs(contract).values()]


def tests_of(contract: Contract, library: str, draws: int, seed: int) -> Iterator[FunctionTest]:
    """Yield random tests in several styles, and tests at the boundaries of the formula's conditions."""
    for draw, style in enumerate(styles(draws)):
        yield FunctionTest(style, seed + draw, sizes_drawn(contract, seed + draw))
    sizes = sizes_drawn(contract, seed)

    def is_exact(number: float) -> bool:
        return library == "numpy" or float(np.float32(number)) == number

    for values in contract.sampler(sizes).boundary_inputs(seed, parse(contract.text), is_exact=is_exact):
        yield FunctionTest(BOUNDARY, seed, sizes, values)


def sizes_drawn(contract: Contract, seed: int) -> dict[str, int]:
    """Return a random size for each axis. All sizes are different."""
    axes = list(dict.fromkeys(axis for names in contract.axes.values() for axis in names))
    chosen = np.random.default_rng(seed).permutation(range(2, 2 + max(len(axes), len(SIZES))))[: len(axes)]
    return {axis: int(size) for axis, size in zip(axes, chosen)}


def to_torch(array: Any) -> Any:
    """Convert a NumPy array to a PyTorch tensor."""
    import torch

    return torch.as_tensor(array, dtype=torch.float32)


def to_jax(array: Any) -> Any:
    """Convert a NumPy array to a JAX array."""
    import jax.numpy as jnp

    return jnp.asarray(array, dtype="float32")  # type: ignore[reportUnknownMemberType]


TO: dict[str, Callable[[Any], Any]] = {"numpy": np.asarray, "torch": to_torch, "jax": to_jax}
