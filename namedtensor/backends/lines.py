"""Lines of source text that several libraries share."""

from __future__ import annotations

from typing import Any

INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**", "remainder": "%", "equal": "==",
    "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "logical_and": "&",
    "logical_or": "|",
}  # fmt: skip
INFIX_LINES = {name: f"{{0}} {symbol} {{1}}" for name, symbol in INFIX.items()}
PREFIX_LINES = {"negative": "-{0}", "logical_not": "~{0}"}
UNARY = "exp log log1p sqrt sin cos tan tanh sinh cosh abs sign floor ceil isfinite".split()
OF_NUMBERS = frozenset(name for name in INFIX if not name.startswith("logical"))


def functions(prefix: str, *names: str) -> dict[str, str]:
    """name -> a call of the function of this name."""
    return {name: f"{prefix}{name}({{0}})" for name in names}


def expand(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    return f"{names[0]}[{', '.join(':' if kept else 'None' for kept in options['kept'])}]"


def pick(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    places = list(options["places"])
    while places and places[-1] is None:
        places.pop()
    return f"{names[0]}[{', '.join(':' if place is None else str(place) for place in places)}]"


def python(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    return f"python_{options['number']}({', '.join(names)})"


def listed(names: tuple[str, ...]) -> str:
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def numbers(values: tuple[Any, ...]) -> str:
    return f"[{', '.join(map(repr, values))}]"


def laid(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    """Windows along an axis."""
    return f"windows({names[0]}, {options['at']}, {options['size']})"


def positions(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    """Indices as positions from 0, each found to lie in range."""
    return f"positions({names[0]}, {options['size']}, {options['base']})"


COMMON = {
    **INFIX_LINES, **PREFIX_LINES, "expand": expand, "pick": pick, "python": python, "head": "{0}[..., :{size}]", "part": "{0}[..., {start}:{stop}]",
    "unfold": laid, "positions": positions, "whole_positions": "whole_positions({0})", "covered": "covered({0})",
    "item": "{0}[{at}]",
    "moderate": "moderate({0}, {low!r}, {high!r})",
    "whole_power": "whole_power({0}, {1})", "pool": "{0}.reshape({sizes})",
}  # fmt: skip
