"""Code of generated text: compiled once for all texts that differ in whole numbers alone.

A plan for another size gives a text that differs in sizes. It is compiled with a mark in the place of each whole number,
and where each mark is a constant of the code, as itself or negated, the code of any such text is that with its numbers:

    t1.reshape((31, 64))      a constant (31, 64)          (36, 64)
    x[-31:]                   a constant −31               −36
    31 * 64                   a constant 1984              compiled for each text: the marks are lost in it
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from types import CodeType
from typing import Any, NamedTuple

PIECES = re.compile(
    r"""(?P<word>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")|(?P<number>(?<![\w.])\d[\w.]*(?:(?<=[\d.]e)[+-]\d+)?)"""
)
SHORT = 2_000  # characters of a text whose numbers are not worth looking for
MARK = 10**15  # from here on numbers are marks; no array has such a size
BYTES = 16 * 2**20  # of the texts and the code that are kept
CODE = 3  # bytes of code for a character of its text, about
RECORD = 500  # bytes of an entry besides


class SplitText(NamedTuple):
    """A text split at its numbers, and the numbers."""

    between: tuple[str, ...]
    numbers: tuple[str, ...]


@lru_cache(maxsize=8)  # of a plan that is learned from and compiled
def split_at_numbers(text: str) -> SplitText:
    """A text cut at its numbers; those in strings stay."""
    between, numbers, end = [], [], 0
    for found in PIECES.finditer(text):
        if found["number"] is not None:
            between.append(text[end : found.start()])
            numbers.append(found["number"])
            end = found.end()
    return SplitText((*between, text[end:]), tuple(numbers))


def joined(between: Sequence[str], numbers: Sequence[str]) -> str:
    """The text of such pieces."""
    return "".join([each for pair in zip(between, (*numbers, "")) for each in pair])


def is_size(number: str) -> bool:
    """Whether a number in a text may be a size: not 0 and 1, which decide what a compiler makes of a text."""
    return number.isdecimal() and number not in ("0", "1")


class KeptCode:
    """A bounded cache of the code of texts, by what they are without their numbers."""

    def __init__(self, most: int = BYTES) -> None:
        self.most = most
        self.bytes = 0
        self._found: OrderedDict[Any, tuple[CodeType | None, int]] = OrderedDict()
        self._lock = Lock()

    def of(self, text: str, file: str) -> CodeType:
        """The code of a text."""
        if len(text) < SHORT:
            return self._kept((text, file), lambda: compile(text, file, "exec"), len(text)) or compile(
                text, file, "exec"
            )
        between, numbers = split_at_numbers(text)
        rest = tuple([None if is_size(each) else each for each in numbers])
        code = self._kept((between, rest, file), lambda: with_marks(between, numbers, file), len(text))
        if code is None:
            return compile(text, file, "exec")
        return with_numbers(code, [int(each) for each in numbers if is_size(each)])

    def _kept(self, key: Any, make: Any, length: int) -> CodeType | None:
        with self._lock:
            known = self._found.get(key)
            if known is not None:
                self._found.move_to_end(key)
                return known[0]
        code = make()
        weight = RECORD + length * (CODE + 2)  # a text that is not Latin has two bytes a character
        with self._lock:
            if key not in self._found:
                self._found[key] = code, weight
                self.bytes += weight
            while self.bytes > self.most and len(self._found) > 1:
                self.bytes -= self._found.popitem(last=False)[1][1]
        return code


def with_marks(between: Sequence[str], numbers: Sequence[str], file: str) -> CodeType | None:
    """The code of a text with marks for its sizes; None where one is no constant of it."""
    count, marked = 0, list(numbers)
    for place, each in enumerate(numbers):
        if is_size(each):
            marked[place] = str(MARK + count)
            count += 1
    code = compile(joined(between, marked), file, "exec")
    met = [*marks(code)]
    return code if sorted(met) == [*range(count)] else None


def marks(constant: Any) -> Any:
    """The marks in a constant, by their numbers, negated ones among them."""
    if isinstance(constant, CodeType):
        for each in constant.co_consts:
            yield from marks(each)
    elif isinstance(constant, tuple):
        for each in constant:
            yield from marks(each)
    elif isinstance(constant, slice):
        yield from marks((constant.start, constant.stop, constant.step))
    elif isinstance(constant, int) and abs(constant) >= MARK:
        yield abs(constant) - MARK


def with_numbers(constant: Any, numbers: Sequence[int]) -> Any:
    """A constant with numbers for its marks."""
    kind = type(constant)
    if kind is int:
        if -MARK < constant < MARK:
            return constant
        return numbers[constant - MARK] if constant > 0 else -numbers[-constant - MARK]
    if kind is tuple:
        return tuple([with_numbers(each, numbers) for each in constant])
    if kind is CodeType:
        own = tuple([with_numbers(each, numbers) for each in constant.co_consts])
        return constant.replace(co_consts=own)
    if kind is slice:
        return slice(*with_numbers((constant.start, constant.stop, constant.step), numbers))
    return constant


code_of = KeptCode().of
