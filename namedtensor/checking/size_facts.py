"""Index size equations by their symbols, evaluate their arithmetic, and invert it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from math import isfinite, nan
from typing import Any, TypeAlias

from grammar.errors import NotationError
from grammar.nodes import Call, Node, Number, Size
from grammar.traversal import children

from ..core.extents import Extent, UndecidedSizeError, is_size, typical
from ..core.kinds import to_integer
from ..core.monomials import UnfitSizeError
from ..core.size_conditions import assume_at_most, assume_divides, to_comparison
from ..core.sizes import SizeVariable, resolve
from ..scope.names import MARKS, read_spelling
from ..scope.symbols import SizeEquation
from ..terms.environment import Environment
from ..terms.inference import Inference

ARITHMETIC = ("+", "-", "⊙", "juxtaposed", "/", "negative", "floor", "ceil")  # The operations in size expressions.
Symbol: TypeAlias = tuple[Any, ...]  # ("size", axis) or ("scalar", Key).
MAX_SIZE_NUMBER = 2**1024  # The largest number in a size expression.
MAX_ROOT = 64  # The highest degree of a root in a size expression.
NO_SIZE = {  # The problem with a number as a size, and the repair, by whether the number is an integer.
    True: ("negative", "choose sizes for which it is at least 0"),
    False: ("not an integer", "choose sizes for which it is an integer"),
}


class FactIndex:
    """An index that finds the size equations that may mention a symbol."""

    def __init__(self, facts: list[Any]):
        self.facts, self.count = facts, len(facts)
        self.by_word: dict[tuple[str, str], list[int]] = defaultdict(list)
        for index, entry in enumerate(facts):
            fact = entry if isinstance(entry, SizeEquation) else entry[0]
            for word in {word for side in sides(fact) for word in words_in(side)}:
                self.by_word[word].append(index)

    def about(self, words: set[tuple[str, str]]) -> list[SizeEquation]:
        places = {position for word in words for position in self.by_word.get(word, ())}
        return [self.facts[position] for position in sorted(places)]


def sides(fact: SizeEquation) -> list[Node]:
    """Return the sides of a size equation that are expressions, rather than known sizes."""
    return [side for side in (fact.left, fact.right) if not isinstance(side, (int, Extent, SizeVariable))]


def words_in(side: Node) -> Iterator[tuple[str, str]]:
    """Yield each name and axis in a size expression, with its kind.

    For d_{l}, yield d and l separately, because l may be an index.
    """
    stack: list[Any] = [side]
    while stack:
        node = stack.pop()
        if isinstance(node, Size):
            yield "size", node.axis.name
            continue
        name = read_spelling(node)
        if name is None:
            stack += children(node)
        elif all(isinstance(part, Number) for part in (*name.subscript, *name.superscript)):
            yield "scalar", str(name.key())
        else:
            yield "scalar", name.base
            stack += (*name.subscript, *name.superscript)


def words_of(symbol: Symbol, env: Environment) -> set[tuple[str, str]]:
    """Return the words that can denote a symbol in equations.

    For an axis, they include the axis parameters that represent it.
    """
    kind, name = symbol
    if kind == "scalar":
        return {(kind, name.base), (kind, str(name))}
    bare = name.rstrip(MARKS)
    marks = name[len(bare) :]
    words = {(kind, name)}
    for outer in env.outward:
        words |= {(kind, formal) for formal, real in outer.axes.items() if real == (name,)}
        words |= {(kind, formal + marks) for formal, real in outer.axes.items() if marks and real == (bare,)}
    return words


def parts(node: Call) -> tuple[Node, ...]:
    """Return the operands of an arithmetic operation in a size, such as a and b for ⌈a / b⌉.

    Return () for an unsupported operation.
    """
    if node.operator not in ARITHMETIC:
        return ()
    first = node.arguments[0]
    if node.operator in ("floor", "ceil") and isinstance(first, Call) and first.operator == "/":
        return first.arguments
    return node.arguments


def calculate(operator: str, values: list[Any]) -> Any:
    if operator == "negative":
        return -values[0]
    if operator in ("floor", "ceil"):
        left, right = values if len(values) == 2 else (*values, 1)
        if isinstance(right, (int, float, Fraction)) and right <= 0:
            return None
        if operator == "floor":
            return left // right
        return -(-left // right) if isinstance(left, Fraction) else (left + right - 1) // right
    left, right = values
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "/":
        if isinstance(left, SizeVariable) or isinstance(right, SizeVariable):
            return left / right
        if isinstance(left, Extent) or isinstance(right, Extent):
            if not is_size(left) or not is_size(right) or right == 0:
                return None
            if not assume_divides(right, left):
                raise UnfitSizeError(left if isinstance(left, Extent) else right)
            return resolve(left) // resolve(right)
        if right == 0:
            return None
        if not is_finite(left) or not is_finite(right):
            return nan
        quotient = Fraction(left) / Fraction(right)
        return int(quotient) if quotient.denominator == 1 else quotient
    return left * right


def is_finite(number: Any) -> bool:
    """Return whether a number is finite. The number may be an integer beyond the range of floats."""
    return not isinstance(number, float) or isfinite(number)


def power(base: Any, exponent: Any) -> Any:
    """Return base^exponent, or None if the result is not real, an operand is unknown, or the root's degree is too high.

    The result is exact if the result or the exponent is an integer. Raise UndecidedSizeError if an operand is symbolic,
    unless it is the base and the exponent is a non-negative integer.
    """
    if isinstance(base, Extent) and isinstance(exponent, int) and exponent >= 0:
        return base**exponent
    if isinstance(base, Extent) or isinstance(exponent, Extent):
        raise UndecidedSizeError(base if isinstance(base, Extent) else exponent)  # pyright: ignore
    if not all(isinstance(number, (int, float, Fraction)) and is_finite(number) for number in (base, exponent)):
        return None
    base, exponent = Fraction(base), Fraction(exponent)
    if (base == 0 and exponent < 0) or (base < 0 and exponent.denominator > 1) or exponent.denominator > MAX_ROOT:
        return None
    times = exponent.numerator
    if base not in (-1, 0, 1):  # A larger exponent exceeds the limit too.
        times = max(-MAX_SIZE_NUMBER.bit_length(), min(times, MAX_SIZE_NUMBER.bit_length()))
    result = base**times
    if exponent.denominator > 1:
        return root(result, exponent.denominator)
    return int(result) if result.denominator == 1 else result


def root(number: Fraction, degree: int) -> int | float | None:
    """Return a root of a non-negative number, or None if it exceeds the range of floats. An integer root is exact."""
    try:
        result = float(number) ** (1 / degree)
    except OverflowError:
        return None
    return round(result) if round(result) ** degree == number else result


def invert(operator: str, value: Any, other: Any, in_left: bool) -> Any:
    """Return the unknown operand of an operation, given the result and the other operand.

    Return None if the operand is undetermined.
    """
    if operator == "+":
        return value - other
    if operator == "-":
        return value + other if in_left else other - value
    if operator in ("⊙", "juxtaposed"):
        return None if other == 0 else calculate("/", [value, other])
    if operator == "/":
        if in_left:
            return value * other
        return None if value == 0 else calculate("/", [other, value])
    return None


def to_size(value: Any) -> Any:
    """Return a solution as a size, or None if it is not a non-negative integer.

    If the answer depends on unknown symbols, add a condition to the plan.
    """
    if isinstance(value, SizeVariable):
        return value
    if not isinstance(value, Extent):
        value = to_integer(value)
        if value is None:
            return None
    return value if assume_at_most(*to_comparison(value)) else None


def solve_size(checker: Inference, value: Any, symbol: Symbol, fact: SizeEquation) -> Any:
    """Convert a symbol's solution to a size. Raise NotationError (310) if it is not a non-negative integer."""
    size = to_size(value)
    if size is None:
        raise make_stated_size_error(checker, f"|{symbol[1]}|" if symbol[0] == "size" else str(symbol[1]), value, fact)
    return size


def no_size(checker: Inference, subject: str, value: Any, where: Node | tuple[int, int], *notes: str) -> NotationError:
    """Return the error for a size that is not a non-negative integer."""
    value = typical(value)
    number = f"{value:.6g}" if isinstance(value, float) else value
    why, hint = NO_SIZE[to_integer(value) is not None]
    if not is_finite(value):
        hint = "choose finite sizes"
    return checker.error(310, f"{subject} {number}, which is {why}", where, notes=notes, hint=hint)


def make_stated_size_error(checker: Inference, name: str, value: Any, fact: SizeEquation) -> NotationError:
    """Return the error for an equation that states a size other than a non-negative integer."""
    note = f"the formula states {source_text(checker, fact)}"
    return no_size(checker, f"{name} would be", value, fact.span, note)


def source_text(checker: Inference, fact: SizeEquation) -> str:
    """Return the source text of a size equation."""
    return checker.scope.source[fact.span[0] : fact.span[1]]
