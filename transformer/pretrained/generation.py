"""Text generation with a language model, one token at a time, with a KV cache.

Each step runs the model's formulas on one token. The formulas of STEP replace some of them, so that the step writes its
keys and values to the cache. The cache has capacity for more tokens than it contains. Its shape, and therefore the plan
of a step, stays the same for many steps. The tensor `seen` is 1 at the positions in use. After the cache has grown
once, the loop donates the cache to each step, which may write into the arrays.
"""

# pyright: reportPrivateUsage=false
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import namedtensor as nt

from .arrays import largest, tensor_like
from .model import Model, families
from .sampling import Sampling, check_sampling, find_banned_tokens, make_sampler
from .stopping import Stopping
from .stopping import stop_strings as listed_strings

if TYPE_CHECKING:
    from namedtensor.layers import LayerModule

OTHER_HEADS = (
    "W^class",
    "W^start",
    "W^{class,int8}",
    "W^{start,int8}",
)  # parameters of heads for tasks other than predicting the next token
MIN_CACHE_GROWTH = 32  # tokens; the cache grows by half of its capacity, and by at least this many

STEP = """
    K^l = put(k^l_{seq(1)}, past^{l,K}) for l = 1, …, L
    V^l = put(v^l_{seq(1)}, past^{l,V}) for l = 1, …, L
    seen = put(1, past)
    put(x, X) = { x if iota_{memory} = place; X otherwise }
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


def generate(
    model: LanguageModel,
    ids: nt.NamedTensor,
    max_new_tokens: int = 20,
    mask: nt.NamedTensor | None = None,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: Any = 0,
    stop: int | Sequence[int] | None = None,
    stop_strings: str | Sequence[str] | None = None,
    decode: Callable[[list[int]], str] | None = None,
    progress: Callable[[nt.NamedTensor], Any] | None = None,
    **given: Any,
) -> nt.NamedTensor:
    """Generate tokens with a language model.

    Generation stops when every sequence has ended. Tokens in the configuration's `bad_words_ids` are never generated.

    Parameters
    ----------
    model : LanguageModel
        The model. The call `model.generate(ids)` is equivalent.
    ids : NamedTensor
        The prompts, with axis seq.
    max_new_tokens : int
        The maximum number of tokens to generate (default: 20).
    mask : NamedTensor, optional
        A tensor that is 0 at padding positions of the prompts and 1 elsewhere (default: no padding).
    temperature : float
        The sampling temperature. 0 selects the most likely token (greedy decoding) (default: 0).
    top_k : int, optional
        The number of most likely tokens to sample from (default: all tokens).
    top_p : float, optional
        Sample from the smallest set of most likely tokens whose probabilities sum to at least this number (default: all
        tokens). With `top_k`, the probabilities are relative to the tokens that `top_k` keeps.
    seed : int or key of jax.random
        The seed of the sampling (default: 0).
    stop : int or sequence of int, optional
        The tokens that end a sequence (default: the configuration's `eos_token_id`).
    stop_strings : str or sequence of str, optional
        The strings that end a sequence if its new tokens contain one of them (default: none).
    decode : callable, optional
        A function that converts a list of tokens to a string, such as `tokenizer.decode`. Required with `stop_strings`.
    progress : callable, optional
        A function that is called with each token.
    **given : tensor or number
        Other inputs of the model.

    Returns
    -------
    NamedTensor
        The new tokens, with axis seq and the other axes of `ids`. Finished sequences are padded.

    Raises
    ------
    NotationError
        If a number is out of range (405), or the tokens exceed the model's positions (404).

    Examples
    --------
    >>> import namedtensor as nt
    >>> from transformer import GPT2
    >>> sizes = {"L": 1, "chans": 4, "heads": 2, "key": 2, "val": 2, "hidden": 8, "vocab": 9, "place": 20}
    >>> GPT2.init(0, sizes).generate(nt.tensor([[1, 2, 3], [4, 5, 6]], "batch seq"), max_new_tokens=5).sizes
    {'seq': 5, 'batch': 2}
    """
    options: dict[str, Any] = {
        "temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed, "stop": stop,
        "stop_strings": stop_strings, "decode": decode,
    }  # fmt: skip
    tokens: list[nt.NamedTensor] = []
    for token in stream(model, ids, max_new_tokens, mask, **options, **given):
        tokens.append(token)
        if progress is not None:
            progress(token)
    return nt.stack(*tokens, axis="seq")


def stream(
    model: LanguageModel,
    ids: nt.NamedTensor,
    max_new_tokens: int = 20,
    mask: nt.NamedTensor | None = None,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: Any = 0,
    stop: int | Sequence[int] | None = None,
    stop_strings: str | Sequence[str] | None = None,
    decode: Callable[[list[int]], str] | None = None,
    **given: Any,
) -> Iterator[nt.NamedTensor]:
    """Generate tokens one at a time.

    Parameters
    ----------
    model, ids, max_new_tokens, mask, temperature, top_k, top_p, seed, stop, stop_strings, decode, **given
        As for `generate`.

    Returns
    -------
    iterator of NamedTensor
        The tokens of all sequences, one position at a time, with the axes of `ids` except seq.

    Raises
    ------
    NotationError
        Before the first token, if a number is out of range (405), or the tokens exceed the model's positions (404).

    Examples
    --------
    >>> import namedtensor as nt
    >>> from transformer import GPT2
    >>> sizes = {"L": 1, "chans": 4, "heads": 2, "key": 2, "val": 2, "hidden": 8, "vocab": 9, "place": 20}
    >>> model = GPT2.init(0, sizes)
    >>> [token.axes for token in model.stream(nt.tensor([1, 2, 3], "seq"), max_new_tokens=2)]
    [(), ()]
    """
    if max_new_tokens < 1:
        raise nt.NotationError(405, f"max_new_tokens must be a number from 1, got {max_new_tokens}")
    sampling = Sampling(temperature, top_k, top_p, seed)
    check_sampling(sampling)
    strings = listed_strings(stop_strings, decode)
    check_generates(model)
    given = {name: value for name, value in given.items() if value is not None}
    mask = nt.evaluate("0 ids + 1", ids=ids) if mask is None else mask
    if model.sharding is not None:
        ids, mask = model.sharding.place({"ids": ids, "mask": mask}).values()
    positions = PLACES["positions"](mask=mask).to(ids)  # integers, which leave the dtype of the parameters as it is
    check_positions(model, positions, max_new_tokens)
    choose = make_sampler(sampling, find_banned_tokens(model.config, ids))
    return chosen_tokens(
        model, (ids, mask, positions), max_new_tokens, choose, Stopping(model.config, stop, ids, strings, decode), given
    )


def chosen_tokens(
    model: LanguageModel,
    prompt: tuple[Any, Any, Any],
    most: int,
    choose: Callable[[nt.NamedTensor], nt.NamedTensor],
    stopping: Stopping,
    given: dict[str, Any],
) -> Iterator[nt.NamedTensor]:
    """Yield the chosen tokens, one for each sequence, step by step until all sequences have ended.

    At most `most` tokens are chosen for each sequence.
    """
    tokens: list[nt.NamedTensor] = []
    for logits in model.next_logits(*prompt, tokens, most, given):
        tokens.append(stopping(choose(logits)))
        yield tokens[-1]
        if stopping.all:
            return


def steps(
    model: LanguageModel, ids: Any, mask: Any, positions: Any, tokens: list[Any], most: int, given: dict[str, Any]
) -> Iterator[nt.NamedTensor]:
    """Yield the logits of the next token at each step. The caller then appends its chosen token to `tokens`."""
    tokens_name = model.inputs[-1]
    texts, past = families(model, ("K^l", "V^l")), families(model, ("past^{l,K}", "past^{l,V}"))
    fixed = families(model, model.fixed)
    first = {tokens_name: ids, "mask": mask, **given}
    if "positions" in model.optional_inputs:
        first["positions"] = positions
    states, *result = model.evaluate(("states", *texts, *fixed), **first)
    yield last_logits(model, states, mask)

    optional = {name: value for name, value in given.items() if name in model.optional_inputs}
    tensors = {name: value for name, value in model.stored.items() if isinstance(value, nt.NamedTensor)}
    constant = {**tensors, **optional, **dict(zip(fixed, result[len(texts) :]))}
    names = ("now", "after", "later", "seen", *texts)
    step = stepping(model, optional)[names].bind(constant, model.sizes, donate=("past", *past))
    memory: list[Any] = [mask.rename(seq="memory"), *result[: len(texts)]]
    used = capacity = ids.sizes["seq"]
    position, at = tensor_like(ids, used + 1), one(positions[{"seq": -1}] + 1)
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


def check_generates(model: LanguageModel) -> None:
    """Raise NotationError if the logits of a model are for a task other than text generation."""
    heads = [name for name in OTHER_HEADS if name in model.parameters]
    if heads:
        raise nt.NotationError(
            405, f"this {type(model).__name__} has no logits of next tokens: its file has a head for another task, with "
            f"{heads[0]}",
            hint="load it without its head: transformer.load(folder, head=False)",
        )  # fmt: skip


def last_logits(model: LanguageModel, states: nt.NamedTensor, mask: nt.NamedTensor) -> nt.NamedTensor:
    """Return the logits after the last token of each sequence, not counting padding."""
    formulas = variant(model.formula, "", frozenset({"states"}))
    last = LAST["now"](X=states, mask=mask)
    return formulas["logits"](values={**model.stored, "states": last}, sizes=model.sizes)


def stepping(model: LanguageModel, cached: Iterable[str]) -> nt.Program:
    """Return the formulas that compute the logits for one new token from a cache.

    Plain numbers are inlined, so that a step needs only tensors.
    """
    positioned = "positions" in model.optional_inputs
    texts = (
        inspect.cleandoc(STEP), model.step_mask, inspect.cleandoc(model.cached), *numbers(model),
        *(() if positioned else ("positions ∈ ℝ^{seq}",)),
    )  # fmt: skip
    replaced = {"positions", "before"} if positioned else {"before"}
    return variant(model.formula, "\n".join(texts), frozenset({*replaced, *model.fixed, *cached}))


def numbers(model: LanguageModel) -> list[str]:
    """Return definitions for those parameters of a model that are plain numbers."""
    return [f"{name} = {value!r}" for name, value in model.stored.items() if not isinstance(value, nt.NamedTensor)]


@lru_cache(maxsize=256)
def variant(formula: nt.Program, definitions: str, removed: frozenset[str]) -> nt.Program:
    """Return a program with some definitions replaced or removed. Equal calls return the same program and share plans."""
    return formula.replace_definitions(definitions, removed)


def one(token: nt.NamedTensor) -> nt.NamedTensor:
    """Return the tokens, one for each text, as sequences of length 1."""
    return nt.stack(token, axis="seq")


def memory_at(end: int, tensor: nt.NamedTensor) -> nt.NamedTensor:
    """Return a tensor with its cache axis first or last, so that all steps share one plan."""
    rest = tuple(axis for axis in tensor.axes if axis != "memory")
    axes = ("memory", *rest) if end == 0 else (*rest, "memory")
    return nt.tensor(tensor.to_array(axes), axes)


def check_positions(model: LanguageModel, positions: nt.NamedTensor, most: int) -> None:
    """Raise NotationError if a prompt and `most` new tokens have more positions than the model has learned."""
    sizes = [tensor.sizes["place"] - model.position_offset for tensor in model.stored.values()
             if isinstance(tensor, nt.NamedTensor) and "place" in tensor.sizes]  # fmt: skip
    longest = largest(positions) + 1
    if sizes and longest + most - 1 > min(sizes):
        raise nt.NotationError(
            404, f"sequence too long: {type(model).__name__} has {min(sizes)} positions, got {longest} tokens plus "
            f"{most} to generate",
            hint=f"generate at most {min(sizes) - longest + 1}: max_new_tokens={min(sizes) - longest + 1}"
            if longest <= min(sizes) else "pass fewer tokens",
        )  # fmt: skip


class LanguageModel(Model):
    """A model that computes logits for the next token and can generate tokens.

    To support a cache, the formulas of a model must define or declare these names: `states`, the input of the logits;
    k^l and v^l, the keys and values of the tokens; K^l and V^l, the keys and values of the memory; `seen`; and M. The
    attribute `cached` declares the shapes of the cached values.
    """

    output = "logits"
    inputs = ("ids",)
    optional_inputs = ("mask", "positions")
    cached: ClassVar[str] = """
        past^{l,K} ∈ ℝ^{memory × heads × key}
        past^{l,V} ∈ ℝ^{memory × heads × val}
    """
    step_mask: ClassVar[str] = "M = { 0 if seen = 1; -∞ otherwise }"  # M of one token, whose position is `place`
    ignored_heads = ("score.*", "classifier.*", "qa_outputs.*", "multiple_choice_head.*")
    position_offset: ClassVar[int] = 0  # the index of the first position in the table of learned positions
    fixed: ClassVar[tuple[str, ...]] = ()  # families that are the same at every step
    memory: ClassVar[Mapping[str, str]] = {}  # the parts of a recurrent state, each with the name of its next value

    generate = generate
    stream = stream
    next_logits = steps

    def module(  # pyright: ignore[reportIncompatibleMethodOverride]  # no input is called `cache`
        self,
        name: str | tuple[str, ...] = "",
        /,
        *,
        dtype: str | None = None,
        cache: bool = False,
        **inputs: str | Iterable[str],
    ) -> LayerModule:
        """Return the model as a `torch.nn.Module`, like `Layer.module`.

        With `cache`, `forward` also accepts the keys and values of earlier tokens, past^{l,K} and past^{l,V} of each
        layer. It returns the logits and all keys and values, as in `logits, *cache = module(ids, *cache)`. Pass
        `module.empty_cache(batch)` to the first call. With a cache, further inputs are `positions`
        and `seen`, which has the axis memory and is 0 for padding. Raise NotationError (304) if the model is recurrent.

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
        if self.memory:
            kind = type(self).__name__
            raise nt.NotationError(
                304, f"{kind} has no keys and values to cache, but a state",
                hint=f"write {kind}.generate(ids), which keeps it, or module() without a cache",
            )  # fmt: skip
        from .cached import CachedModule

        token = self.inputs[-1]
        self._check_names(inputs, (token, "positions", "seen"))
        axes = {token: self._find_batched_inputs()[token], **inputs}
        return CachedModule(self if dtype is None else self.to("torch", dtype), axes)
