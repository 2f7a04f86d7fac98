"""Text from a language model, token by token, with a memory of the keys and values of the tokens before.

The memory has room for more tokens than it holds, so that its shape, and with it the plan of a step, stays the same for
many steps; `seen` says which of its places hold a token. A step runs the model's own formulas, in which

    K^l = k^l_{seq→memory}      is      K^l = past^{l,K}_{past→memory} ⊕_{memory} k^l_{seq→memory}
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import namedtensor as nt

from .layer import variant

if TYPE_CHECKING:
    from .model import LanguageModel

ROOM = 64  # places by which the memory grows

LAST = nt.program("""
    now = logits_{seq(n)}
    n = max_{seq}(iota_{seq} ⊙ mask)
    logits ∈ ℝ^{seq × vocab}
    mask ∈ {0,1}^{seq}
""")
GREEDY = nt.program("""
    next = ∑_{vocab} { iota_{vocab} - 1 if [argmaxk_{vocab,k}(scores)]_{k(1)} = 1; 0 otherwise }
    scores ∈ ℝ^{vocab}
""")
WARMED = nt.program("""
    scores = now / temperature + noise
    noise ∈ ℝ^{vocab}
    now ∈ ℝ^{vocab}
""")
KEPT = nt.program("""
    kept = { now if now ≥ min_{top}(maxk_{vocab,top}(now)); -∞ otherwise }
    now ∈ ℝ^{vocab}
""")
PUT = nt.program("""
    Y_{past(i)} = { x if i = place; X_{past(i)} otherwise }
    x ∈ ℝ
    X ∈ ℝ^{past}
    place ∈ ℝ
""")
ROOMY = nt.program("""
    Y = X ⊕_{past} Z_{room→past}
    Z_{room(i)} = 0 X_{past(1)}
    X ∈ ℝ^{past}
""")
PLACES = nt.program("""
    positions = max(cumsum_{seq}(mask) - 1, 0)
    mask ∈ {0,1}^{seq}
""")


def generate(
    model: LanguageModel,
    ids: nt.NamedTensor,
    max_new_tokens: int = 20,
    mask: nt.NamedTensor | None = None,
    temperature: float = 0.0,
    top_k: int | None = None,
    seed: int = 0,
    stop: int | None = None,
) -> nt.NamedTensor:
    """The tokens that come next, with axis seq and those of `ids` besides.

    With `temperature` 0 the likeliest token is taken; else it is drawn, from the `top_k` likeliest where that is given.
    It ends after `max_new_tokens`, or where every sequence has come to the token `stop`, which is config's
    `eos_token_id` where it is not given; a sequence that ended goes on with `stop`.
    """
    stop = model.config.get("eos_token_id") if stop is None else stop
    mask = nt.evaluate("0 ids + 1", ids=ids) if mask is None else mask
    tokens: list[nt.NamedTensor] = []
    choose = chooser(temperature, top_k, seed)
    for logits in steps(model, ids, mask, tokens, max_new_tokens):
        following = choose(logits)
        if stop is not None and tokens:
            following = nt.evaluate(
                "{ stop if last = stop; next otherwise }", next=following, last=tokens[-1], stop=stop
            )
        tokens.append(following)
        if stop is not None and bool((following == stop).all()):
            break
    return nt.stack(*tokens, axis="seq")


def steps(model: LanguageModel, ids: Any, mask: Any, tokens: list[Any], most: int) -> Iterator[nt.NamedTensor]:
    """The logits of each next token; the one that was chosen is found at the end of `tokens`."""
    count = model.sizes["L"]
    kept = [(f"past^{{{l},{name}}}", f"{name.lower()}^{l}") for l in range(1, count + 1) for name in "KV"]
    names = ("logits", *(new for _, new in kept))
    positions = PLACES["positions"](mask=mask)
    logits, *new = model.at(names, ids=ids, mask=mask, positions=positions)
    yield LAST["now"](logits=logits, mask=mask)

    program = variant(model.notation, stepping(model), frozenset({"mask", "positions", "seen", "before"}))
    memory = {past: each.rename(seq="past") for (past, _), each in zip(kept, new)}
    seen = mask.rename(seq="past")
    used = room = ids.sizes["seq"]
    place = positions[{"seq": -1}]
    for _ in range(1, most):
        if used == room:
            room += ROOM
            memory = {name: ROOMY["Y"](X=each, sizes={"room": ROOM}) for name, each in memory.items()}
            seen = ROOMY["Y"](X=seen, sizes={"room": ROOM})
        place = place + 1
        given = {"ids": one(tokens[-1]), "positions": one(place), "seen": joined(seen), "before": room, **memory}
        logits, *new = program[names](values={**model.parameters, **given}, sizes=model.sizes)
        yield logits[{"seq": 0}]
        at = nt.tensor(used + 1)
        memory = {past: put(memory[past], each[{"seq": 0}], at) for (past, _), each in zip(kept, new)}
        seen = put(seen, nt.tensor(1), at)
        used += 1


def stepping(model: LanguageModel) -> str:
    """The definitions of a step: those of the model, and the ones that remember."""
    return "\n".join((model.definitions, inspect.cleandoc(model.cached)))


def put(memory: nt.NamedTensor, new: nt.NamedTensor, place: nt.NamedTensor) -> nt.NamedTensor:
    return PUT["Y"](X=memory, x=new, place=place)


def one(token: nt.NamedTensor) -> nt.NamedTensor:
    """A sequence of one token."""
    return nt.stack(token, axis="seq")


def joined(seen: nt.NamedTensor) -> nt.NamedTensor:
    """The places of the memory and the new token's."""
    return nt.evaluate("seen_{past→memory} ⊕_{memory} here", seen=seen, here=nt.tensor([1], "memory"))


def chooser(temperature: float, top_k: int | None, seed: int) -> Any:
    """What takes the next token from its logits. A draw is the likeliest after Gumbel noise was added."""
    if not temperature:
        return lambda now: GREEDY["next"](scores=now, sizes={"k": 1})
    draw = gumbel(seed)

    def choose(now: nt.NamedTensor) -> nt.NamedTensor:
        now = KEPT["kept"](now=now, sizes={"top": top_k}) if top_k else now
        return GREEDY["next"](
            scores=WARMED["scores"](now=now, noise=draw(now), temperature=temperature), sizes={"k": 1}
        )

    return choose


def gumbel(seed: int) -> Any:
    from namedtensor.initial import uniform

    drawn = uniform(seed)
    return lambda like: nt.evaluate("-log(-log u)", u=drawn(like))
