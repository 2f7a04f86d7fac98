"""Text generation with a language model, token by token, with a KV cache.

A step runs the model's formulas on one token, with those of STEP replacing the model's: its keys and values are written
to the cache. The cache has capacity for more tokens than it holds, so that its shape, and with it the plan of a step,
stays the same for many steps; `seen` marks the positions in use. From its first growth on, the loop owns the cache and
donates it to each step, which may write into it.
"""

# pyright: reportPrivateUsage=false
# of layers, their parameters as they keep them: families in one array as such
from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import namedtensor as nt
from grammar.locks import LOADING, all_or_none
from namedtensor.core.arrays import converted
from namedtensor.programs.call_cache import BoundCall
from namedtensor.programs.program import EntryPoints

from ..core.layer_calls import variant
from .model import Model

if TYPE_CHECKING:
    from ..core.torch_modules import LayerModule

MIN_CACHE_GROWTH = 32  # tokens; the cache grows by half of its capacity, and at least by these

STEP = """
    K^l = put(k^l_{seq(1)}, past^{l,K}) for l = 1, …, L
    V^l = put(v^l_{seq(1)}, past^{l,V}) for l = 1, …, L
    seen = put(1, past)
    put(x, X) = { x if iota_{memory} = place; X otherwise }
    M = { 0 if seen = 1; -∞ otherwise }
    before = |memory| - 1
    now = logits_{seq(1)}
    after = place + 1
    later = positions + 1
    past ∈ ℝ^{memory}
    place ∈ ℝ
"""
PLACES = nt.program("""
    positions = max(cumsum_{seq}(mask) - 1, 0)
    mask ∈ {0,1}^{seq}
""")
LAST = nt.program("""
    now = X_{seq(n)}
    n = max_{seq} { iota_{seq} if mask = 1; 0 otherwise }
    X ∈ ℝ^{seq}
    mask ∈ {0,1}^{seq}
""")
ENLARGED = nt.program("""
    Y = X ⊕_{memory} Z_{extra→memory}
    Z_{extra(i)} = 0 X_{memory(1)}
    X ∈ ℝ^{memory}
""")
CHOICE = nt.program("""
    best = argmax_{v} scores_{vocab(v)} - 1
    warmed = now / temperature + noise
    kept = { now if now ≥ min_{top}(maxk_{vocab,top}(now)); -∞ otherwise }
    allowed = { -∞ if min_{banned}(abs(iota_{vocab} - 1 - banned)) = 0; now otherwise }
    scores, noise, now ∈ ℝ^{vocab}
    banned ∈ ℝ^{banned}
""")
ENDS = nt.program("""
    token = { padding if ended = 1; next otherwise }
    over = max_{stops}({ 1 if ended = 1 ∨ next = stops; 0 otherwise })
    stops ∈ ℝ^{stops}
    next, ended ∈ ℝ
""")


def generate(
    model: LanguageModel,
    ids: nt.NamedTensor,
    max_new_tokens: int = 20,
    mask: nt.NamedTensor | None = None,
    temperature: float = 0.0,
    top_k: int | None = None,
    seed: Any = 0,
    stop: int | Sequence[int] | None = None,
    progress: Callable[[nt.NamedTensor], Any] | None = None,
    **given: Any,
) -> nt.NamedTensor:
    """Generate tokens.

    Generation stops when every sequence has ended. Tokens of `bad_words_ids` of the config are never generated.

    Parameters
    ----------
    model : LanguageModel
        The model; `model.generate(ids)` is the same.
    ids : NamedTensor
        The prompts, with axis seq.
    max_new_tokens : int
        The maximum number of tokens to generate (default: 20).
    mask : NamedTensor, optional
        0 at padding positions of the prompts (default: no padding).
    temperature : float
        0 selects the most likely token (greedy decoding); otherwise tokens are sampled (default: 0).
    top_k : int, optional
        Sample from this many most likely tokens (default: all).
    seed : int or key of jax.random
        Seed of the sampling (default: 0).
    stop : int or sequence of int, optional
        Tokens that end a sequence (default: `eos_token_id` of the config).
    progress : callable, optional
        Called with each token.
    **given : tensor or number
        Further inputs of the model.

    Returns
    -------
    NamedTensor
        The new tokens, with axis seq and the other axes of `ids`. Finished sequences are padded.

    Raises
    ------
    NotationError
        If a number is too small (405), or the tokens exceed the model's positions (404).

    Examples
    --------
    >>> import namedtensor as nt
    >>> from transformer import GPT2
    >>> sizes = {"L": 1, "chans": 4, "heads": 2, "key": 2, "val": 2, "hidden": 8, "vocab": 9, "place": 20}
    >>> GPT2.init(0, sizes).generate(nt.tensor([[1, 2, 3], [4, 5, 6]], "batch seq"), max_new_tokens=5).sizes
    {'seq': 5, 'batch': 2}
    """
    for name, value, least in (
        ("max_new_tokens", max_new_tokens, 1),
        ("temperature", temperature, 0),
        ("top_k", top_k, 1),
    ):
        if value is not None and value < least:
            raise nt.NotationError(405, f"{name} must be a number from {least}, got {value}")
    given = {name: value for name, value in given.items() if value is not None}
    mask = nt.evaluate("0 ids + 1", ids=ids) if mask is None else mask
    if model.sharding is not None:
        ids, mask = model.sharding.place({"ids": ids, "mask": mask}).values()
    positions = PLACES["positions"](mask=mask)
    in_place(model, positions, max_new_tokens)
    choose = chooser(temperature, top_k, seed, excluded(model, ids))
    ending = Ending(model, stop, ids)
    tokens: list[nt.NamedTensor] = []
    for logits in steps(model, ids, mask, positions, tokens, max_new_tokens, given):
        tokens.append(ending(choose(logits)))
        if progress is not None:
            progress(tokens[-1])
        if ending.all:
            break
    return nt.stack(*tokens, axis="seq")


def steps(
    model: LanguageModel, ids: Any, mask: Any, positions: Any, tokens: list[Any], most: int, given: dict[str, Any]
) -> Iterator[nt.NamedTensor]:
    """Yield the logits of each next token; the chosen token is appended to `tokens`."""
    tokens_name = model.inputs[-1]
    texts, past = families(model, ("K^l", "V^l")), families(model, ("past^{l,K}", "past^{l,V}"))
    fixed = families(model, model.fixed)
    first = {tokens_name: ids, "mask": mask, "positions": positions, **given}
    states, *result = model.evaluate(("states", *texts, *fixed), **first)
    yield after_last(model)["logits"](
        values={**model._kept, "states": LAST["now"](X=states, mask=mask)}, sizes=model.sizes
    )

    optional = {name: value for name, value in given.items() if name in model.optional_inputs}
    tensors = {name: value for name, value in model._kept.items() if isinstance(value, nt.NamedTensor)}
    constant = {**tensors, **optional, **dict(zip(fixed, result[len(texts) :]))}
    names = ("now", "after", "later", "seen", *texts)
    step = BoundCall(remembering(stepping(model, optional), names, ("past", *past)), constant, model.sizes)
    memory: list[Any] = [mask.rename(seq="memory"), *result[: len(texts)]]
    used = capacity = ids.sizes["seq"]
    position, at = like(ids, used + 1), one(positions[{"seq": -1}] + 1)
    for _ in range(1, most):
        if used == capacity:
            more = max(MIN_CACHE_GROWTH, capacity // 2)
            seen, *memory = (ENLARGED["Y"](X=tensor, sizes={"extra": more}) for tensor in memory)
            memory = [memory_at(0, seen), *(memory_at(-1, tensor) for tensor in memory)]
            capacity += more
        used += 1
        token = {tokens_name: one(tokens[-1]), "positions": at, "place": position}
        now, position, at, *memory = step({**token, **dict(zip(("past", *past), memory))})
        yield now


def families(model: LanguageModel, names: Iterable[str]) -> list[str]:
    """Return the names of each layer."""
    names = tuple(names)
    return [re.sub(r"\bl\b", str(l), name) for l in range(1, model.sizes["L"] + 1) for name in names]


def after_last(model: LanguageModel) -> nt.Program:
    """Return the model's formulas for given states."""
    return variant(model.notation, model.definitions, model.removed | {"states"})


def stepping(model: LanguageModel, cached: Iterable[str]) -> nt.Program:
    """Return the model's formulas for one token and a cache, with constants inlined: a step takes tensors only."""
    numbers = (f"{name} = {value!r}" for name, value in model._kept.items() if not isinstance(value, nt.NamedTensor))
    texts = (model.definitions, inspect.cleandoc(STEP), inspect.cleandoc(model.cached), *numbers)
    return variant(model.notation, "\n".join(texts), model.removed | {"positions", "before", *model.fixed, *cached})


@lru_cache(maxsize=64)
def remembering(program: nt.Program, names: tuple[str, ...], memory: tuple[str, ...]) -> EntryPoints:
    """Return the compiled entry points of these names, which overwrite the cache."""
    return EntryPoints(program, names, donated=memory)


def one(token: nt.NamedTensor) -> nt.NamedTensor:
    """Expand a token to a sequence of one token."""
    return nt.stack(token, axis="seq")


def memory_at(end: int, tensor: nt.NamedTensor) -> nt.NamedTensor:
    """Move the cache axis to the front or the back, so that all steps share one plan."""
    rest = tuple(axis for axis in tensor.axes if axis != "memory")
    axes = ("memory", *rest) if end == 0 else (*rest, "memory")
    return nt.tensor(tensor.to_array(axes), axes)


def in_place(model: LanguageModel, positions: nt.NamedTensor, most: int) -> None:
    """Raise where the tokens go on after the last position that the model has learned."""
    sizes = [tensor.sizes["place"] for tensor in model._kept.values()
             if isinstance(tensor, nt.NamedTensor) and "place" in tensor.sizes]  # fmt: skip
    longest = largest(positions) + 1
    if sizes and longest + most - 1 > min(sizes):
        raise nt.NotationError(
            404, f"sequence too long: {type(model).__name__} has {min(sizes)} positions, got {longest} tokens plus "
            f"{most} to generate",
            hint=f"generate at most {min(sizes) - longest + 1}: max_new_tokens={min(sizes) - longest + 1}"
            if longest <= min(sizes) else "pass fewer tokens",
        )  # fmt: skip


def like(tensor: nt.NamedTensor, numbers: Any, *axes: str) -> nt.NamedTensor:
    """Numbers as a tensor of the library, dtype and device of another."""
    return nt.tensor(converted(numbers, tensor.array), axes)


def largest(tensor: nt.NamedTensor) -> int:
    """Return the index of the largest logit."""
    return int(nt.max(tensor, axis=tensor.axes) if tensor.axes else tensor)


class Ending:
    """The end of generation: which sequences have come to it, and what they are padded with."""

    def __init__(self, model: LanguageModel, stop: int | Sequence[int] | None, ids: nt.NamedTensor):
        stop = model.config.get("eos_token_id") if stop is None else stop
        stops = [stop] if isinstance(stop, int) else list(stop or ())
        padding = model.config.get("pad_token_id")
        self.stops = like(ids, stops, "stops") if stops else None
        self.padding = padding if padding is not None or not stops else stops[0]
        self.ended: Any = like(ids, 0)
        self.all = False

    def __call__(self, token: nt.NamedTensor) -> nt.NamedTensor:
        """Choose the next token from its logits."""
        if self.stops is None:
            return token
        inputs: dict[str, Any] = {"next": token, "ended": self.ended, "stops": self.stops, "padding": self.padding}
        token, self.ended = ENDS["token", "over"](**inputs)
        self.all = largest(0 - self.ended) == -1
        return token


def excluded(model: LanguageModel, ids: nt.NamedTensor) -> nt.NamedTensor | None:
    """Return the tokens excluded by `bad_words_ids`. Raises NotationError 408 for a word of several tokens."""
    words = model.config.get("bad_words_ids")
    if not words:
        return None
    for word in words:
        if len(word) != 1:
            raise nt.NotationError(
                408, f"config.json excludes {word} with bad_words_ids; only single tokens are supported"
            )
    return like(ids, [word[0] for word in words], "banned")


def chooser(
    temperature: float, top_k: int | None, seed: Any, banned: nt.NamedTensor | None = None
) -> Callable[[nt.NamedTensor], nt.NamedTensor]:
    """Return the sampler of the next token from its logits, by the Gumbel-max trick."""
    if banned is not None:
        among = chooser(temperature, top_k, seed)
        return lambda now: among(CHOICE["allowed"](now=now, banned=banned))
    if not temperature:
        return lambda now: CHOICE["best"](scores=now)
    with LOADING, all_or_none():
        from namedtensor.programs.initialization import uniform

    draw = uniform(seed, "-log(-log u)")

    def choose(now: nt.NamedTensor) -> nt.NamedTensor:
        if top_k:
            now = CHOICE["kept"](now=now, sizes={"top": min(top_k, now.sizes["vocab"])})
        return CHOICE["best"](scores=CHOICE["warmed"](now=now, noise=draw(now), temperature=temperature))

    return choose


class LanguageModel(Model):
    """A model that gives logits for the next token, and generates.

    The formulas of a cache declare these names: `states`, from which the logits are made, k^l and v^l of
    the tokens, K^l and V^l of the memory, `seen` and M. The shapes of what is remembered are `cached`.
    """

    output = "logits"
    inputs = ("ids",)
    optional_inputs = ("mask", "positions")
    cached: ClassVar[str] = """
        past^{l,K} ∈ ℝ^{memory × heads × key}
        past^{l,V} ∈ ℝ^{memory × heads × val}
    """
    fixed: ClassVar[tuple[str, ...]] = ()  # families that are the same at every step

    generate = generate

    def module(  # pyright: ignore[reportIncompatibleMethodOverride]  # no input is called `cache`
        self,
        name: str | tuple[str, ...] = "",
        /,
        *,
        dtype: str | None = None,
        cache: bool = False,
        **inputs: str | Iterable[str],
    ) -> LayerModule:
        """Return the model as a `torch.nn.Module`, as `Layer.module` does.

        With `cache`, `forward` also takes the keys and values of earlier tokens, past^{l,K} and past^{l,V} of each layer,
        and returns the logits and all keys and values: `logits, *cache = module(ids, *cache)`. The first call takes
        `module.empty_cache(batch)`. Further inputs with a cache are `positions` and, over the axis memory, `seen`, which
        is 0 for padding.

        >>> import torch
        >>> from transformer import GPT2
        >>> sizes = {"L": 1, "chans": 4, "heads": 2, "key": 2, "val": 2, "hidden": 8, "vocab": 9, "place": 20}
        >>> module = GPT2.init(sizes=sizes).module(cache=True)
        >>> logits, *cache = module(torch.tensor([[1, 2, 3]]), *module.empty_cache())
        >>> logits, *cache = module(torch.tensor([[4]]), *cache)
        >>> logits.shape, cache[0].shape
        (torch.Size([1, 1, 9]), torch.Size([1, 2, 4, 2]))
        """
        if not cache:
            return super().module(name, dtype=dtype, **inputs)
        with LOADING, all_or_none():
            from namedtensor.programs.named_plans import target_named

        target_named("torch")
        with LOADING, all_or_none():
            from .cached import CachedModule

        token = self.inputs[-1]
        self._check_names(inputs, (token, "positions", "seen"))
        axes = {token: self._batched_inputs()[token], **inputs}
        return CachedModule(type(self), self._for_torch(dtype), axes)
