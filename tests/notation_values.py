"""The value of matrix and index notation by its definition, on small arrays; nothing here is shared with the package.

An expression is a function of the numbers of its index letters, so a sum is a loop. A value is a number or a matrix, and a
vector is a matrix with one column.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from notation_parts import (
    BINARY,
    FUNCTIONS,
    GREEK,
    SIGNS,
    WORDS,
    Array,
    Special,
    Unread,
    add,
    divide,
    invert,
    lie,
    matrix,
    multiply,
    number,
    plain,
    power,
    times,
    transpose,
    unread,
)  # fmt: skip


class Value(NamedTuple):
    """A function of the letters' numbers, how often each letter occurs, and the size of each letter's axis."""

    compute: Callable[[dict[str, int]], Array]
    counts: Counter[str] = Counter()
    sizes: Mapping[str, int] = {}
    lies: bool = False  # it is a vector that may be a row or a column


RELATIONS = {"≠": "__ne__", "<": "__lt__", "≤": "__le__", ">": "__gt__", "≥": "__ge__"}
JOINS = ("·", "∘", "⊗", "×", "/")


class Reader:
    """A descent over the tokens of one line; `free` are the letters of its left-hand side."""

    def __init__(self, source: str, arrays: dict[str, Array], sizes: dict[str, int], free: str | None):
        names = [name for name in arrays if len(name) > 1 and "_" not in name]
        words = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        pattern = (words and words + "|") + WORDS + r"\\[A-Za-z]+|\\\||\d+(?:\.\d+)?|\S"
        self.tokens = [SIGNS.get(token, GREEK.get(token, token)) for token in re.findall(pattern, source)] + [""]
        self.at, self.arrays, self.sizes, self.free = 0, arrays, sizes, free
        self.bound, self.zero, self.bars = list[str](), set[str](), list[str]()

    def sees(self, *tokens: str) -> bool:
        return self.tokens[self.at] in tokens

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def expect(self, token: str) -> None:
        if self.take() != token:
            raise Unread(token)

    def script(self) -> str:
        """Return the text of a script."""
        if not self.sees("{"):
            token = self.take()
            if token.isdigit() and len(token) > 1:
                raise Unread(token)
            return token
        start, depth = self.at + 1, 0
        while True:
            depth += {"{": 1, "}": -1}.get(self.take(), 0)
            if not depth:
                return "".join(self.tokens[start : self.at - 1])

    def argument(self) -> Value:
        """Read a group, or one digit, letter or macro like TeX."""
        if self.sees("{"):
            return self.inside("{", "}")
        token = self.tokens[self.at]
        if token.isdigit() and len(token) > 1:
            self.tokens[self.at : self.at + 1] = [token[0], token[1:]]
        return self.atom()

    def inside(self, opening: str, closing: str) -> Value:
        self.expect(opening)
        self.bars.append("")
        value = self.sum()
        self.bars.pop()
        self.expect(closing)
        return value

    def sum(self) -> Value:
        negative = self.sees("-") and bool(self.take())
        value = self.term()
        value = self.apply(lambda x: times(-1.0, x), value) if negative else value
        while self.sees("+", "-"):
            sign = 1.0 if self.take() == "+" else -1.0
            value = self.both(lambda x, y, sign=sign: add(x, times(sign, y)), value, self.term(), value.lies)
        return value

    def term(self) -> Value:
        """Read factors side by side, which bind more tightly than other signs, and sum the letters that occur twice."""
        first = self.factor()
        several = self.begins()
        factors = [self.side_by_side(first)]
        signs = list[str]()
        while self.sees(*JOINS):
            signs.append(self.take())
            start = self.at
            factors.append(self.side_by_side() if signs[-1] != "/" else self.factor())
            if signs[-1] == "/" and self.begins():
                raise Unread("".join(self.tokens[start : self.at + 1]))
        value = factors[0]
        for sign, factor in zip(signs, factors[1:]):
            value = self.both(BINARY[sign], value, factor)
        if not several and not signs:
            return value._replace(counts=Counter([*value.counts]))
        free = {*(self.free or ""), *self.bound}
        letters = [letter for letter, count in value.counts.items() if count > 1 and letter not in free]
        return self.total(value, letters) if letters else value

    def side_by_side(self, first: Value | None = None) -> Value:
        value = first or self.factor()
        while self.begins():
            value = self.both(multiply, value, self.factor(), value.lies)
        return value

    def begins(self) -> bool:
        token = self.tokens[self.at]
        if token in ("|", "‖"):
            return self.bars[-1:] != [token]
        return token[:1].isalnum() or token in ("(", "{", "∑", "∏", "√", "⟨", "∇", "𝟏") or token[:1] == "\\"

    def factor(self) -> Value:
        if self.sees("∑", "∏"):
            return self.big(self.take())
        if self.sees("∇"):
            self.take()
            self.expect("_")
            name = self.script()
            return self.gradient(self.side_by_side(), name)
        return self.scripts(self.atom())

    def apply(self, function: Callable[[Array], Array], value: Value) -> Value:
        return value._replace(compute=lambda env: function(value.compute(env)))

    def both(self, function: Callable[[Array, Array], Array], x: Value, y: Value, lies: bool = False) -> Value:
        def compute(env: dict[str, int]) -> Array:
            return function(lie(x.compute(env), x.lies), lie(y.compute(env), y.lies))

        counts = x.counts | y.counts if function not in BINARY.values() else x.counts + y.counts
        return Value(compute, counts, {**x.sizes, **y.sizes})

    def total(
        self, value: Value, letters: list[str], keep: Any = lambda env: True, sign: str = "∑", ends: Any = None
    ) -> Value:
        def compute(env: dict[str, int]) -> Array:
            ranges = [ends(env) if ends else range(1, value.sizes[letter] + 1) for letter in letters]
            positions = [env | dict(zip(letters, numbers)) for numbers in product(*ranges)]
            terms = [value.compute(position) for position in positions if keep(position)]
            result: Array = 0.0 if sign == "∑" else 1.0
            for term in terms:
                result = add(result, term) if sign == "∑" else result * term
            return result

        counts = Counter({letter: 1 for letter in value.counts if letter not in letters})
        return Value(compute, counts, value.sizes)

    def atom(self) -> Value:
        token = self.take()
        if token[:1] and token[0] in "0123456789":
            return Value(lambda env: float(token))
        if token in ("(", "{"):
            self.at -= 1
            return self.inside(token, {"(": ")", "{": "}"}[token])
        if token in ("|", "‖"):
            return self.read_bars(token)
        if token == "⟨":
            x = self.sum()
            self.expect(",")
            y = self.sum()
            self.expect("⟩")
            return self.both(lambda a, b: float(np.sum(a * b)), x, y)
        if token == "√":
            return self.apply(np.sqrt, self.argument())
        if token.endswith("frac"):
            return self.fraction()
        if token == "e" and "e" not in self.arrays and self.sees("^"):
            self.take()
            return self.apply(np.exp, self.argument())
        word = token.lstrip("\\").lower()
        if (
            (token[0] == "\\" or word == token and len(token) > 1)
            and word in FUNCTIONS
            or token == "σ"
            and self.sees("(")
        ):
            return self.call(word)
        return self.name(token)

    def call(self, word: str) -> Value:
        letter = self.script() if self.sees("_") and self.take() else ""
        argument = self.inside("(", ")") if self.sees("(") else self.factor()
        if letter:
            raise Unread(word)
        return self.apply(FUNCTIONS[word], argument)

    def read_bars(self, bar: str) -> Value:
        self.bars.append(bar)
        value = self.sum()
        self.bars.pop()
        self.expect(bar)
        if bar == "|":
            return self.apply(lambda x: abs(x) if np.ndim(x) == 0 else unread(x), value)
        order = self.script() if self.sees("_") and self.take() else "2"
        if order in ("1", "∞"):
            return self.apply(lambda x: float(np.sum(np.abs(x)) if order == "1" else np.max(np.abs(x))), value)
        return self.apply(lambda x: float(np.sqrt(np.sum(np.square(x)))), value)

    def fraction(self) -> Value:
        if self.tokens[self.at : self.at + 2] == ["{", "∂"]:
            self.at += 2
            body = self.sum() if not self.sees("}") else None
            self.expect("}")
            name = self.script()
            if name[:1] != "∂":
                raise Unread(name)
            return self.gradient(body or self.side_by_side(), name[1:])
        above = self.argument()
        return self.both(divide, above, self.argument())

    def name(self, token: str) -> Value:
        if token in ("I", "𝟏") and token not in self.arrays:
            return Value(lambda env: Special(token))
        if not token.isalnum():
            raise Unread(token)
        name = token
        if self.sees("_"):
            self.take()
            script = self.script()
            if (
                full := next((one for one in self.arrays if re.sub(r"[{}]", "", one) == f"{token}_{script}"), None)
            ) is not None:
                name = full
            elif token in self.arrays:
                return self.entry(token, script)
            else:
                return self.size(f"{token}_{script}", script)
        if name not in self.arrays:
            return self.size(token, token)
        return self.whole(name)

    def whole(self, name: str) -> Value:
        vector = np.ndim(self.arrays[name]) == 1
        return Value(lambda env: matrix(self.arrays[name]), lies=vector)

    def size(self, name: str, axis: str) -> Value:
        """Read the length of an axis, or a letter as a number."""

        def compute(env: dict[str, int]) -> float:
            if axis in env:
                return float(env[axis])
            if name in self.sizes or axis in self.sizes:
                return float(self.sizes[name if name in self.sizes else axis])
            raise Unread(name)

        return Value(compute)

    def entry(self, name: str, script: str) -> Value:
        array = self.arrays[name]
        items = script.split(",") if "," in script else [*script] if script.isalnum() else [script]
        if len(items) > np.ndim(array):
            raise Unread(script)
        letters = [re.findall("[a-zα-ω]", item) for item in items]
        if any(len(used) > 1 for used in letters):
            raise Unread(script)
        sizes = {used[0]: array.shape[number] for number, used in enumerate(letters) if used}

        def compute(env: dict[str, int]) -> Array:
            positions = [number(item, env) for item in items]
            first = [not used or used[0] not in self.zero for used in letters]
            return matrix(self.arrays[name][tuple(position - one for position, one in zip(positions, first))])

        return Value(compute, Counter(used[0] for used in letters if used), sizes, np.ndim(array) - len(items) == 1)

    def big(self, sign: str) -> Value:
        below, upper = "", ""
        while self.sees("_", "^"):
            if self.take() == "_":
                below = self.script()
            else:
                upper = self.script()
        sides = re.split("([≠<≤>≥=])", below.removeprefix("1≤").removesuffix("≤n") if below.count("≤") > 1 else below)
        letters = [*sides[0].replace(",", "")]
        start = sides[2] if sides[1:2] == ["="] else "1"
        if not letters or not all(map(str.isalpha, letters)) or upper and not re.fullmatch(r"\w(?:[-/]\d)?|\d+", upper):
            raise Unread(below)
        tests = [] if "=" in sides else list(zip(sides[0::2], sides[1::2], sides[2::2]))
        more = [side for test in tests for side in (test[0], test[2]) if side.isalpha()]
        letters += [
            letter for letter in dict.fromkeys(more) if letter not in {*letters, *self.bound, *(self.free or "")}
        ]
        before = len(self.bound)
        self.bound += letters
        self.zero |= {*letters} if start == "0" else set()
        body = self.term() if sign in "∑∏" else self.factor()
        del self.bound[before:]
        known = {size for letter, size in body.sizes.items() if letter in {*letters, *more}}
        sizes = {letter: body.sizes.get(letter, next(iter(known), 0)) for letter in letters}
        if not all(sizes.values()):
            raise Unread(below)
        whole = sizes[letters[0]]
        if upper[:1].isalpha() and upper[0] not in (self.free or "") and upper[0] not in self.bound:
            self.sizes.setdefault(upper[0], whole)

        def ends(env: dict[str, int]) -> range:
            last = number(upper or "n", {"n": whole, upper[:1]: whole, **env}) if upper else whole
            return range(number(start, env), last + 1)

        def keep(env: dict[str, int]) -> bool:
            return all(getattr(number(a, env), RELATIONS[relation])(number(b, env)) for a, relation, b in tests)

        outer = {side: whole for side in more if side not in letters}
        body = body._replace(counts=body.counts | Counter([*outer]), sizes={**outer, **body.sizes, **sizes})
        return self.total(body, letters, keep, sign, ends if upper or start != "1" else None)

    def scripts(self, value: Value) -> Value:
        while self.sees("^", "'", "_"):
            if self.take() != "^":
                raise Unread("script")
            at, text = self.at, self.script()
            if text in ("⊤", "T"):
                value = self.apply(transpose, value)._replace(lies=False)
            elif text in ("-1", "-⊤", "-T"):
                value = self.apply(lambda x, turn=text != "-1": invert(x.T if turn else x), value)
            else:
                self.at = at
                value = self.both(power, value, self.argument())._replace(counts=value.counts, lies=value.lies)
        return value

    def gradient(self, body: Value, name: str) -> Value:
        if name not in self.arrays or body.counts:
            raise Unread(name)

        def compute(env: dict[str, int]) -> Array:
            whole = self.arrays[name]
            result = np.zeros(np.shape(whole))
            for index in np.ndindex(result.shape):
                moved = []
                for step in (1e-4, -1e-4):
                    self.arrays[name] = np.array(whole)
                    self.arrays[name][index] += step
                    moved.append(body.compute(env))
                if np.ndim(moved[0]):
                    raise Unread("a derivative of a matrix")
                result[index] = (moved[0] - moved[1]) / 2e-4
            self.arrays[name] = whole
            return matrix(result)

        return Value(compute, Counter(), body.sizes)


def value_of(source: str, arrays: Mapping[str, Array], sizes: Mapping[str, int]) -> Array:
    """Return the value of the last line of a source. Raises Unread."""
    known, lengths = dict(arrays), dict(sizes)
    if "\n" in source.strip() and re.search("∇|∂|nabla|partial", source):
        raise Unread("a derivative of a definition")
    result: Array = None
    for line in plain(source).split("\n"):
        match = re.match(r"\s*\\?([^\W_]+[\u0300-\u036f]?)(?:_([a-z])|_\{([a-z]+)\})?\s*:?=", line)
        free, body = (match[2] or match[3] or "", line[match.end() :]) if match else (None, line)
        reader = Reader(body, known, lengths, free)
        value = reader.sum()
        if not reader.sees(""):
            raise Unread(reader.tokens[reader.at])
        letters = list(free) if free is not None else [*value.counts]
        if {*value.counts} != {*letters} or free is None and max(value.counts.values(), default=1) > 1:
            raise Unread("letters")
        ranges = [range(1, value.sizes[letter] + 1) for letter in letters]
        grid = [value.compute(dict(zip(letters, numbers))) for numbers in product(*ranges)]
        if any(isinstance(one, Special) for one in grid):
            raise Unread("I")
        result = np.array(grid).reshape(*map(len, ranges), *np.shape(grid[0])) if letters else grid[0]
        if match:
            known[match[1]] = np.squeeze(result)
    return np.asarray(result)
