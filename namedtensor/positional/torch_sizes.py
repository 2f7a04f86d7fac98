"""The input sizes that a module leaves free. They are found by running the module, and set to distinct primes.

If two sizes were equal, unrelated axes could be unified by accident, and a view that splits an axis could be missed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch

from .torch_names import axis_words
from .torch_trace import Subject, value_of

PRIMES = tuple(number for number in range(5, 132) if all(number % factor for factor in range(2, 12) if factor < number))
ATTEMPTS = 8  # primes that are tried for one size

JOINT = 4  # groups that are tried together

Place = tuple[str, int]  # an input and one of its dimensions


@dataclass(frozen=True)
class Group:
    """A group of input dimensions that always have the same size."""

    places: tuple[Place, ...]
    size: int


def groups_of(inputs: Mapping[str, torch.Tensor], names: Mapping[str, str]) -> list[Group]:
    """Return groups of input dimensions that have equal names. A dimension without a name forms its own group.

    Dimensions of size 1 and dimensions with stated sizes are left out.
    """
    groups: dict[object, list[Place]] = {}
    for name, tensor in inputs.items():
        words = axis_words(names[name]) if name in names else []
        words = words if len(words) == tensor.ndim else [[]] * tensor.ndim
        for dim, (length, axes) in enumerate(zip(tensor.shape, words)):
            if length != 1 and not any(size for _, size in axes):
                key = ("axis", axes[0][0].rstrip("'")) if len(axes) == 1 else (name, dim)
                groups.setdefault(key, []).append((name, dim))
    return [Group(tuple(places), inputs[places[0][0]].shape[places[0][1]]) for places in groups.values()]


def resize_inputs(inputs: Mapping[str, torch.Tensor], sizes: Mapping[Group, int], seed: int) -> dict[str, torch.Tensor]:
    """Return random inputs that resemble the given inputs. `sizes` contains the new sizes of dimension groups."""
    generator = torch.Generator().manual_seed(seed)
    lengths = {dimension: size for group, size in sizes.items() for dimension in group.places}
    result = {}
    for name, tensor in inputs.items():
        shape = [lengths.get((name, dim), length) for dim, length in enumerate(tensor.shape)]
        result[name] = draw_like(tensor, shape, generator)
    return result


def draw_like(example: torch.Tensor, shape: Sequence[int], generator: torch.Generator) -> torch.Tensor:
    """Return a random tensor of this shape, with values like the example's values."""
    if not example.numel():
        return example.new_zeros(tuple(shape))
    values = torch.unique(example)
    if example.dtype.is_floating_point and len(values) > 2 and values[0] >= 0 and values[-1] <= 1:
        return torch.rand(tuple(shape), generator=generator, dtype=example.dtype)
    if example.dtype.is_floating_point and torch.isfinite(values).all() and (len(values) > 2 or example.numel() < 3):
        normal = torch.randn(tuple(shape), generator=generator, dtype=example.dtype)
        return normal.abs() if values[0] >= 0 and len(values) > 4 else normal
    if example.dtype.is_floating_point or example.dtype == torch.bool:
        return values[torch.randint(len(values), tuple(shape), generator=generator)]
    low, high = int(values[0]), int(values[-1])
    return torch.randint(low, high + 1, tuple(shape), generator=generator).to(example.dtype)


def runs(subject: Subject, inputs: Mapping[str, torch.Tensor]) -> bool:
    try:
        value_of(subject, inputs)
    except Exception:  # a module may raise any error for sizes that do not fit
        return False
    return True


def find_fixed_sizes(subject: Subject) -> set[int]:
    return {
        length
        for tensor in (*subject.parameters.values(), *subject.buffers.values())
        for length in tensor.shape
        if length > 1
    }


def free_groups(
    subject: Subject, inputs: Mapping[str, torch.Tensor], names: Mapping[str, str]
) -> list[tuple[Group, list[int]]]:
    """Return the groups of dimensions whose size can change, each with three possible sizes.

    Some groups can change only together with groups of equal size.
    """
    fixed = find_fixed_sizes(subject)
    free: list[tuple[Group, list[int]]] = []
    alone = list(groups_of(inputs, names))
    for count in range(1, JOINT + 1):
        for several in [*itertools.combinations(alone, count)]:
            if len({group.size for group in several}) > 1 or not set(several) <= set(alone):
                continue
            joint = Group(tuple(dimension for group in several for dimension in group.places), several[0].size)
            sizes = sizes_for(subject, inputs, joint, fixed, [chosen for _, chosen in free])
            if sizes:
                free.append((joint, sizes))
                alone = [group for group in alone if group not in several]
    return free


def sizes_for(
    subject: Subject, inputs: Mapping[str, torch.Tensor], group: Group, fixed: set[int], others: Sequence[list[int]]
) -> list[int]:
    """Return three sizes of a group at which the module runs, or an empty list if fewer than three are found.

    If the module has a maximum size, no size exceeds it.
    """
    sizes: list[int] = []
    limit = math.inf
    for prime in candidates(group.size, fixed, {size for chosen in others for size in chosen}):
        if prime >= limit or are_related([*sizes, prime], others):
            continue
        if runs(subject, resize_inputs(inputs, {group: prime}, 1)):
            sizes.append(prime)
            if len(sizes) == 3:
                return sizes
        elif not sizes and prime > group.size:
            limit = prime
        elif not sizes and limit < math.inf:
            return []
    return []


def are_related(sizes: Sequence[int], others: Sequence[Sequence[int]]) -> bool:
    """Return whether a size could be mistaken for a linear function of another size, such as the size plus 2."""
    if len(sizes) == 2:
        return any(sizes[1] - sizes[0] == other[1] - other[0] for other in others)
    return len(sizes) == 3 and any(
        (sizes[1] - sizes[0]) * (other[2] - other[0]) == (sizes[2] - sizes[0]) * (other[1] - other[0])
        for other in others
    )


def candidates(size: int, fixed: set[int], taken: set[int]) -> Iterator[int]:
    """Yield primes, both small ones and ones above the size in the example, that do not divide any fixed size."""
    usable = [prime for prime in PRIMES if prime not in taken and not any(length % prime == 0 for length in fixed)]
    small = [prime for prime in usable if prime <= max(size, 13)][:ATTEMPTS]
    large = [prime for prime in usable if prime > max(size, 13)][:ATTEMPTS]
    yield from (
        [*small[:1], *large[:2], *small[1:], *large[2:]] if size <= 13 else [*large[:3], *reversed(small), *large[3:]]
    )
