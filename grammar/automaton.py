"""The LALR automaton of `formula.lark`: Lark makes it, `formula.json` keeps it.

Making it takes Lark a quarter of a second, reading it a few milliseconds. The file names the grammar that it was made
from; where that has changed, or the file is missing, the automaton is made anew. After a change of the grammar:

    python -m grammar.automaton
"""

from __future__ import annotations

import json
import zlib
from functools import lru_cache
from os import path
from typing import Any, NamedTuple

FOLDER = path.dirname(__file__)
GRAMMAR = path.join(FOLDER, "formula.lark")
KEPT = path.join(FOLDER, "formula.json")


class Rule(NamedTuple):
    """A rule as the parser needs it: `action` is the builder's method, None where the one child is the value."""

    origin: str
    size: int
    action: str | None
    helper: bool  # a repetition that Lark made of ( … )*


class Automaton(NamedTuple):
    """`states[state][terminal]` is (None, next state) to shift, or (rule, None) to reduce; rules' names lead on too.

    `passed` keeps where a run of rules that only pass their child on has led: (state below, state, terminal) -> state.
    """

    start: int
    end: int
    states: tuple[dict[str, tuple[Rule | None, Any]], ...]
    passed: dict[tuple[int, int, str], int]


@lru_cache(maxsize=1)
def automaton() -> Automaton:
    """The automaton of the grammar."""
    digest = _digest(_read(GRAMMAR))
    try:
        kept = json.loads(_read(KEPT))
    except (OSError, ValueError):
        kept = {}
    return unpack(kept if kept.get("grammar") == digest else make())


def _read(place: str) -> str:
    """A file beside this one, which may be in a zip."""
    return __loader__.get_data(place).decode("utf-8")  # type: ignore[name-defined]


def _digest(text: str) -> str:
    lines = "\n".join(text.splitlines()).encode()
    return f"{len(lines)} bytes, CRC {zlib.crc32(lines):08x}"


def unpack(kept: dict[str, Any]) -> Automaton:
    """The automaton from what a file holds: in each state, a terminal leads to a state, or to rule −n−1."""
    rules = [Rule(*fields) for fields in kept["rules"]]
    steps: dict[int, tuple[Rule | None, Any]] = {-n - 1: (rule, None) for n, rule in enumerate(rules)}
    for state in range(len(kept["states"])):
        steps[state] = (None, state)
    states = tuple({symbol: steps[target] for symbol, target in state.items()} for state in kept["states"])
    return Automaton(kept["start"], kept["end"], states, {})


def make() -> dict[str, Any]:
    """The automaton by Lark, as a file holds it. Raises an error of Lark's where the grammar is ambiguous."""
    from lark import Lark
    from lark.lexer import Lexer

    class NoLexer(Lexer):
        """Lark runs no lexer here: the tokens are made before."""

        def __init__(self, configuration):
            pass

        def lex(self, lexer_state, parser_state):
            return iter(())

    text = _read(GRAMMAR)
    lark = Lark(text, start="program", parser="lalr", lexer=NoLexer)
    table: Any = lark.parser.parser._parse_table  # type: ignore[attr-defined]
    numbers = {rule: n for n, rule in enumerate(lark.rules)}
    states = [
        {
            str(symbol): argument if kind.name == "Shift" else -numbers[argument] - 1
            for symbol, (kind, argument) in sorted(table.states[state].items(), key=lambda entry: str(entry[0]))
        }
        for state in range(len(table.states))
    ]
    return {
        "grammar": _digest(text),
        "start": table.start_states["program"],
        "end": table.end_states["program"],
        "rules": [_fields(rule) for rule in lark.rules],
        "states": states,
    }


def _fields(rule: Any) -> list[Any]:
    origin = str(rule.origin.name)
    helper = origin.startswith("__")
    passes = len(rule.expansion) == 1 and rule.alias is None and rule.options.expand1
    return [origin, len(rule.expansion), None if helper or passes else rule.alias or origin, helper]


def keep() -> None:
    """Write the automaton's file."""
    with open(KEPT, "w", encoding="utf-8") as file:
        json.dump(make(), file, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    keep()
