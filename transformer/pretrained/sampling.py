"""The choice of the next token: the most likely token, or a sample from the tokens that `top_k` and `top_p` keep."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

import namedtensor as nt

from .arrays import tensor_like

CHOICE = nt.program("""
    best = argmax_{v} scores_{vocab(v)} - 1
    sampled = now + noise
    cooled = now / temperature
    top = { now if now ≥ min_{top}(maxk_{vocab,top}(now)); -∞ otherwise }
    nucleus = { now if P ≥ least; -∞ otherwise }
    least = min_{vocab} { S if cumsum_{vocab}(S) > 1 - mass; ∞ otherwise }
    S = sort_{vocab}(P)
    P = softmax_{vocab}(now)
    allowed = { -∞ if min_{banned}(abs(iota_{vocab} - 1 - banned)) = 0; now otherwise }
    scores, noise, now ∈ ℝ^{vocab}
    banned ∈ ℝ^{banned}
""")

NOISE = nt.formula("-log(-log u)")  # of the Gumbel distribution, for u between 0 and 1
SMALLEST = 2.0**-126  # the smallest normal number of single precision, so that no logarithm is infinite


class Sampling(NamedTuple):
    """The parameters for choosing the next token: the most likely token if `temperature` is 0, or else a sample."""

    temperature: float = 0.0
    top_k: int | None = None
    top_p: float | None = None
    seed: Any = 0


def check_sampling(sampling: Sampling) -> None:
    """Raise NotationError (405) if a parameter for sampling is out of range or has no effect."""
    for name, value, least in (("temperature", sampling.temperature, 0), ("top_k", sampling.top_k, 1)):
        if value is not None and value < least:
            raise nt.NotationError(405, f"{name} must be a number from {least}, got {value}")
    if sampling.top_p is not None and not 0 < sampling.top_p <= 1:
        raise nt.NotationError(405, f"top_p must be a number above 0 and at most 1, got {sampling.top_p}")
    given = [f"{name}=" for name in ("top_k", "top_p") if getattr(sampling, name) is not None]
    if given and not sampling.temperature:
        raise nt.NotationError(
            405, f"{' and '.join(given)} without a temperature, which is 0: the most likely token is chosen",
            hint="pass temperature=1.0 to sample, or leave the other out",
        )  # fmt: skip


def make_sampler(
    sampling: Sampling, banned: nt.NamedTensor | None = None
) -> Callable[[nt.NamedTensor], nt.NamedTensor]:
    """Return a function that chooses the next token from its logits.

    It returns the best token if the temperature is 0. Otherwise, it samples a token by the Gumbel-max trick.
    """
    if banned is not None:
        among = make_sampler(sampling)
        return lambda now: among(CHOICE["allowed"](now=now, banned=banned))
    if not sampling.temperature:
        return lambda now: CHOICE["best"](scores=now)
    steps = count()

    def choose(now: nt.NamedTensor) -> nt.NamedTensor:
        axes = sorted(now.axes, key=lambda axis: (axis == "vocab", axis))  # in whatever order they are stored
        u = nt.random_uniform({axis: now.sizes[axis] for axis in axes}, (sampling.seed, next(steps)), low=SMALLEST)
        noise = NOISE(u=u).to(now)  # from u before it is rounded to half precision, in which it can become 1
        return CHOICE["best"](scores=CHOICE["sampled"](now=filter_logits(now, sampling), noise=noise))

    return choose


def filter_logits(now: nt.NamedTensor, sampling: Sampling) -> nt.NamedTensor:
    """Return the logits divided by the temperature. Tokens that `top_k` and then `top_p` exclude have −∞."""
    if sampling.top_k:
        now = CHOICE["top"](now=now, sizes={"top": min(sampling.top_k, now.sizes["vocab"])})
    now = CHOICE["cooled"](now=now, temperature=sampling.temperature)
    return now if sampling.top_p in (None, 1) else CHOICE["nucleus"](now=now, mass=sampling.top_p)


def find_banned_tokens(config: dict[str, Any], ids: nt.NamedTensor) -> nt.NamedTensor | None:
    """Return the tokens that `bad_words_ids` bans, or None if it bans no tokens.

    Raise NotationError (408) if a word consists of several tokens.
    """
    words = config.get("bad_words_ids")
    if not words:
        return None
    for word in words:
        if len(word) != 1:
            raise nt.NotationError(
                408, f"config.json excludes {word} with bad_words_ids; only single tokens are supported"
            )
    return tensor_like(ids, [word[0] for word in words], "banned")
