"""Generated text as functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

FILE = "<formula>"
MAX_KEPT_SIZES = 4  # tuples of sizes, for each of which a function keeps what it makes of them alone
MAX_COMPILED_TEXTS = 512


@lru_cache(maxsize=MAX_COMPILED_TEXTS)
def code_of(text: str, file: str) -> CodeType:
    """The compiled code of a text."""
    return compile(text, file, "exec")


def function_in(space: dict[str, Any]) -> Callable[..., Any]:
    """The function among the names that a text defines, with those of them alone that it uses.

    It and the functions that it calls then stand in no circle, so that its arrays are freed as soon as it is; and what was
    made on the way to them is freed at once.
    """
    made: dict[str, Any] = {}
    for name, each in space.items():
        if type(each) is FunctionType and each.__globals__ is space:
            used = names_in(each.__code__)
            if any(other not in made and getattr(space.get(other), "__globals__", None) is space for other in used):
                return space["function"]  # one that calls itself, or a later one
            known = {other: made[other] if other in made else space[other] for other in used if other in space}
            known["__builtins__"] = space["__builtins__"]
            made[name] = FunctionType(each.__code__, known, name, each.__defaults__)
            if name == "of_sizes":
                made[name] = lru_cache(MAX_KEPT_SIZES)(made[name])
    space.clear()  # where each was in a circle
    return made["function"]


def names_in(code: CodeType) -> set[str]:
    """The global names of code, with those of the functions in it."""
    found = set(code.co_names)
    for each in code.co_consts:
        if isinstance(each, CodeType):
            found |= names_in(each)
    return found


def repeated_call(
    order: tuple[int, ...], inputs: tuple[str, ...], body: tuple[str, ...] | None, space: dict[str, Any]
) -> Callable[..., Any]:
    """Generate the function of a repeated call: a tuple of tensors of known layouts in, a named tensor out; `space` has
    what it needs.
    """
    names = [f"x__{place}" for place in order]
    fits = [f"{name}.layout is __layout_{number}" for number, name in enumerate(names)]
    *before, last = body or (f"    return __run({', '.join(inputs)})",)
    text = [
        "def again(tensors__):",
        f"    [{', '.join(f'x__{place}' for place in range(len(order)))}] = tensors__",
        f"    if not ({' and '.join(fits) or 'True'}):",
        "        return None",
        *(f"    {inside} = {name}._array" for inside, name in zip(inputs, names)),
        *before,
        "    __result = __new(__NamedTensor)",
        f"    __result._array = {last.removeprefix('    return ')}",
        "    __result.layout = __layout",
        "    return __result",
    ]
    exec(code_of("\n".join(text) + "\n", "<repeated>"), space)
    return space["again"]
