r"""Complete a partly typed formula: turn \odot into ⊙, finish names, and suggest operators.

The parser lists the terminals that may follow (`find_expected`), and the symbol table lists their text. Inside a
subscript or a shape, the suggestions include axes. The prompt displays the results of `complete`. This module does not
print anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from .errors import NotationError
from .parser import find_expected
from .symbols import FUNCTIONS, GREEK_MACROS, LATEX_GREEK, SYMBOLS


class Completion(NamedTuple):
    """A completion that replaces the last `length` characters with `text`. `meaning` is a short description."""

    text: str
    length: int
    meaning: str = ""


class Known(NamedTuple):
    """The tensors, functions and axes that a session has defined, for use in completions."""

    tensors: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    axes: tuple[str, ...] = ()


NOTHING = Known()
MACRO = re.compile(r"\\[A-Za-z]*$")
WORD = re.compile(r"[^\W\d_][^\W_]*['′]?$")
ASCII_SIGNS = {  # ASCII spellings that have a Unicode symbol.
    spelling: symbol.text.split()[0]
    for symbol in reversed(SYMBOLS)
    for spelling in symbol.ascii.split()
    if not spelling.isalnum() and spelling != ":=" and spelling[0] != "\\" and spelling not in symbol.text.split()
}
SIGN = re.compile(rf"(?:{'|'.join(map(re.escape, sorted(ASCII_SIGNS, key=len, reverse=True)))})\Z")
PAPER_MACROS = {"\\ndot": "⊙", "\\nsum": "∑", "\\nprod": "∏", "\\ncat": "⊕", "\\reals": "ℝ"}
WORDS = {"IF": "if", "OTHERWISE": "otherwise", "FOR": "for"}


def complete(before: str, known: Known = NOTHING) -> list[Completion]:
    r"""Return the possible completions of the text `before`, most likely first.

    >>> complete(r"A \odo")
    [Completion(text='⊙', length=4, meaning='\\odot')]
    >>> [each.text for each in complete("A ⊙_{he", Known(axes=("height", "width")))]
    ['height']
    """
    if macro := MACRO.search(before):
        return list(_macros(macro[0]))
    if sign := SIGN.search(before):
        return [Completion(ASCII_SIGNS[sign[0]], len(sign[0]), sign[0])]
    word = WORD.search(before)
    begun = word[0] if word else ""
    prefix = before[: len(before) - len(begun)]
    fromkeys = dict.fromkeys(_candidates(prefix, begun, known))
    return [Completion(text, len(begun), meaning) for text, meaning in fromkeys if text != begun]


# ---------------------------------------------------------------------------------------------------------------- macros
@lru_cache(maxsize=1)
def macros() -> dict[str, str]:
    """Return a map from each macro to its symbol, for the symbol table, the paper's macros and the Greek letters."""
    result = {}
    for symbol in SYMBOLS:
        sign = symbol.text.split()[0]
        for spelling in symbol.latex.split() + symbol.ascii.split():
            name = spelling.removeprefix("\\")
            if name.isalpha() and not sign.isascii():
                result[f"\\{name}"] = sign
    greek = {f"\\{name}": letter for name, letter in {**LATEX_GREEK, **GREEK_MACROS}.items()}
    return {**result, **PAPER_MACROS, "\\ell": "l", **greek}


def _macros(begun: str) -> Iterator[Completion]:
    for name, sign in sorted(macros().items(), key=lambda entry: (len(entry[0]), entry[0])):
        if name.startswith(begun):
            yield Completion(sign, len(begun), name)


# ------------------------------------------------------------------------------------------------------ names and signs
def _candidates(prefix: str, begun: str, known: Known) -> Iterator[tuple[str, str]]:
    if wants_axis(prefix):
        yield from _starting(begun, known.axes, "axis")
    try:
        expected = find_expected(prefix)
    except NotationError:
        return
    operand = bool(begun) or "PLUS" not in expected  # After an operand, suggest operators before operands.
    if "NAME" in expected and operand and not wants_axis(prefix):
        yield from _starting(begun, known.tensors, "tensor")
        yield from _starting(begun, known.functions, "function")
        yield from _starting(begun, sorted(FUNCTIONS), "built in")
    yield from _starting(begun, [word for terminal, word in WORDS.items() if terminal in expected], "")
    yield from _signs(begun, expected)


def _starting(begun: str, names: Iterable[str], meaning: str) -> Iterator[tuple[str, str]]:
    return ((name, meaning) for name in names if name.startswith(begun))


def _signs(begun: str, expected: set[str]) -> Iterator[tuple[str, str]]:
    """Yield each symbol that can come next, paired with its ASCII form.

    If a word has been started, yield only symbols whose ASCII forms begin with it.
    """
    for symbol in SYMBOLS:
        if symbol.terminal not in expected or symbol.terminal in ("NAME", "PARITY", *WORDS):
            continue
        sign, ascii = symbol.text.split()[0], symbol.ascii.split()[0]
        if not begun or (len(begun) > 1 and ascii.isalpha() and ascii.startswith(begun)):
            yield sign, ascii if ascii != sign else ""


def wants_axis(prefix: str) -> bool:
    """Return whether the next name after `prefix` would be an axis, as in a subscript, in a shape or between bars.

    >>> wants_axis("A ⊙_{"), wants_axis("X ∈ ℝ^{a × "), wants_axis("f(")
    (True, True, False)
    """
    opened: list[int] = []
    for index, character in enumerate(prefix):
        if character in "{([":
            opened.append(index)
        elif character in "})]" and opened:
            opened.pop()
    if not opened:
        return prefix.endswith("_") or prefix.count("|") % 2 == 1
    before, bracket = prefix[: opened[-1]].rstrip(), prefix[opened[-1]]
    if bracket == "{" and before.endswith("_"):
        return True
    return bracket == "{" and bool(re.search(r"[ℝR\]}]\s*\^$", before)) or prefix[opened[-1] :].count("|") % 2 == 1
