"""Convert seeds of random numbers, which are integers or `jax.random` keys. JAX may trace the keys.

For an integer, NumPy generates the random numbers. For a key, `jax.random` generates them, even inside `jax.jit` and
`jax.vmap`.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

from grammar.errors import NotationError

from .kinds import to_count

HINT = "write seed=0"
SEED_BITS = 24  # The number of bits in a key's integer. Single precision represents such an integer exactly.


def is_key(value: Any) -> bool:
    """Return whether a value is an array of JAX keys, such as the result of `jax.random.key`."""
    return type(getattr(value, "dtype", None)).__name__ == "KeyTy"


def to_seed(value: Any) -> Any:
    """Return a seed: a non-negative integer or a single key. Raise NotationError for anything else."""
    if not is_key(value):
        return to_count(value, "the seed", HINT)
    if value.shape:
        raise NotationError(
            208, f"expected one key as the seed, got {' × '.join(map(str, value.shape))} keys",
            hint="map over them: jax.vmap(lambda key: …)(keys)",
        )  # fmt: skip
    return value


def number_of_key(key: Any) -> Any:
    """Return the number that represents a JAX key as a seed in formulas. The number is a JAX array."""
    from jax import random  # type: ignore[import-not-found]

    return (random.bits(to_seed(key), (), "uint32") >> (32 - SEED_BITS)).astype("float32")


def generator_of(seed: Any) -> Any:
    """Create the random generator for a seed, or for a seed followed by integers, such as (0, 3)."""
    import numpy as np

    parts: list[Any] = [*seed] if isinstance(seed, (tuple, list)) and seed else [seed]
    first, *numbers = to_seed(parts[0]), *(to_count(part, "a number of the seed", HINT) for part in parts[1:])
    if not is_key(first):
        return np.random.default_rng(np.random.SeedSequence(first, spawn_key=tuple(numbers)))
    from jax import random  # type: ignore[import-not-found]

    for number in numbers:
        first = random.fold_in(first, number)
    return KeyGenerator(first, "")


class KeyGenerator:
    """Random numbers from `jax.random` for a key and a name, with the interface of a NumPy generator.

    Unlike in NumPy, each method call starts from the same key, so equal calls return equal numbers.
    """

    def __init__(self, key: Any, name: str):
        from jax import random  # type: ignore[import-not-found]

        self.random: Any = random
        self.key: Any = random.fold_in(key, crc32(name.encode()))

    def standard_normal(self, shape: tuple[int, ...]) -> Any:
        return self.random.normal(self.key, shape)

    def normal(self, mean: float, std: float, shape: tuple[int, ...]) -> Any:
        return mean + std * self.standard_normal(shape)

    def uniform(self, low: float, high: float, shape: tuple[int, ...]) -> Any:
        return self.random.uniform(self.key, shape, minval=low, maxval=high)
