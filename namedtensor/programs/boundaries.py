"""Inputs at the boundaries of a formula, such as x = 0.5 for p > 0.5 and x = y for x > y.

A boundary is a pair of expressions: the sides of a comparison, the arguments of a maximum, a denominator and 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Name, Number, Size
from grammar.printer import to_text
from grammar.traversal import mapped

from ..scope.names import walk
from .plain_values import PlainTensor, records
from .random_inputs import find_stated_domains

Inputs = Mapping[str, PlainTensor]
COMPARISONS = ("<", "≤", ">", "≥", "=", "≠")
QUOTIENTS = ("/", "frac")
AT_ZERO = {
    "log": ">",
    "ln": ">",
    "sqrt": "≥",
    "abs": "",
    "relu": "",
    "sign": "",
}  # functions that change at 0, or end there
JUMPS = {"round": (0.5, 1.5), "floor": (1,), "ceil": (1,)}
INVERTING = ("inv", "solve", "logdet")
KEEPING_SIGN = ("∑", "sum", "mean", "⊙", "juxtaposed", "/", "frac", "sqrt", "∏", "prod", "max", "min")
ZERO = Number(0)
FILLS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0)
BOUNDARY = "boundary"  # the style of tests at boundaries
MAX_BOUNDARIES = 6  # of a formula, each searched by a few evaluations
MAX_CONSTANTS = 4
MAX_NESTED_CALLS = 3  # calls of functions whose bodies are searched
MAX_FILLED = 2  # inputs that are tried in turn
BISECTIONS = 60
NAMED = (Name, nodes.Subscript, nodes.Superscript)


class Boundary(NamedTuple):
    """Two expressions, the statements that they may use, and their required relation, as "≠" for a denominator and 0."""

    left: Any
    right: Any
    before: tuple[Any, ...]
    required: str = ""

    @property
    def sides(self) -> tuple[Any, Any]:
        return self.left, self.right

    @property
    def text(self) -> tuple[str, str]:
        return to_text(self.left), to_text(self.right)


def boundaries(tree: nodes.Program) -> list[Boundary]:
    """Return the boundaries of a program, each once."""
    matches: dict[tuple[str, str, str], Boundary] = {}
    signs = Signs(tree)
    functions = _functions(tree)
    for at, statement in enumerate(tree.statements):
        if _head(statement) in functions:
            continue
        later = tuple(other for other in tree.statements[at + 1 :] if not isinstance(other, nodes.Value))
        for node in _inline(statement, functions):
            for left, right, required in _pairs(node, signs):
                boundary = Boundary(left, right, (*tree.statements[:at], *later), required)
                matches.setdefault((*boundary.text, required), boundary)
    return [*matches.values()]


def _head(statement: Any) -> Any:
    """Return the name of the function that a statement defines, or None."""
    head = statement.sides[0] if isinstance(statement, nodes.Equation) else None
    is_function = isinstance(head, Call) and head.operator.isidentifier() and len(statement.sides) == 2
    return head.operator if is_function else None


def _functions(tree: nodes.Program) -> dict[str, nodes.Equation]:
    """Return the definitions of the functions that a program both defines and calls."""
    defined = {name: statement for statement in tree.statements if (name := _head(statement)) is not None}
    bodies = (statement.sides[1] if _head(statement) in defined else statement for statement in tree.statements)
    called = {node.operator for body in bodies for node in walk(body) if isinstance(node, Call)}
    return {name: statement for name, statement in defined.items() if name in called}


def _inline(tree: Any, functions: Mapping[str, nodes.Equation], depth: int = 0) -> Iterator[Any]:
    """Yield the expressions of a tree, and of the bodies of the functions that it calls."""
    for node in walk(tree):
        yield node
        if isinstance(node, Call) and node.operator in functions and depth < MAX_NESTED_CALLS:
            yield from _inline(_substitute(functions[node.operator], node), functions, depth + 1)


def _substitute(definition: nodes.Equation, call: Call) -> Any:
    """Return the body of a function at the arguments of a call."""
    head, body = definition.sides
    pairs = zip(
        (*head.subscript, *head.arguments, *head.parameters), (*call.subscript, *call.arguments, *call.parameters)
    )
    values = {formal.text: actual for formal, actual in pairs if isinstance(formal, Name)}

    def change(node: Any) -> Any:
        if isinstance(node, nodes.Axis):
            return nodes.axis_of(values[node.name]) if node.name in values else None
        return values.get(node.text) if isinstance(node, Name) else None

    return mapped(body, change)


def condition_for_all(trees: Sequence[nodes.Program]) -> str:
    """Return the conditions that only some programs need to have a value, as far as their operators show them.

    >>> from grammar.parser import parse
    >>> condition_for_all([parse("√x / (y − 1)"), parse("√x + log(1 + exp x)")])
    'y − 1 ≠ 0'
    """
    needed = [set(_conditions(tree)) for tree in trees]
    some = set.union(*needed) - set.intersection(*needed)
    factors = {condition: _factors(condition[0]) for condition in some}
    independent = [
        (node, required)
        for node, required in some
        if (len(factors[node, required]) == 1 or not {(of, required) for of in factors[node, required]} <= some)
        and not (required == "≠" and (node, ">") in some)
    ]
    return ", ".join(sorted(f"{to_text(node)} {required} 0".replace("-", "−") for node, required in independent))


def _conditions(tree: nodes.Program) -> Iterator[tuple[Any, str]]:
    """Yield what must be above 0, at least 0 or other than 0."""
    for boundary in boundaries(tree):
        if boundary.required and names_in(boundary.left):
            yield from _simplify(boundary.left, boundary.required)


def _simplify(node: Any, required: str) -> Iterator[tuple[Any, str]]:
    """Yield simpler conditions: x ≠ 0 for x^2 > 0."""
    exponents = [_number(part) for part in node.components] if isinstance(node, nodes.Superscript) else []
    if exponents and exponents[0] and exponents[0] > 0 and (exponents[0] % 2 == 0 or required == "≠"):
        yield from _simplify(node.base, "≠") if required != "≥" else ()
    elif isinstance(node, Call) and node.operator == "abs":
        yield from _simplify(node.arguments[0], "≠") if required != "≥" else ()
    elif isinstance(node, Call) and node.operator == "sqrt" and required != "≥":
        yield from _simplify(node.arguments[0], ">")
    elif required == "≠" and len(_factors(node)) > 1:
        for factor in _factors(node):
            if names_in(factor):
                yield from _simplify(factor, "≠")
    else:
        yield node, required


def _factors(node: Any) -> list[Any]:
    if isinstance(node, Call) and node.operator in ("⊙", "juxtaposed") and not node.subscript:
        return [factor for argument in node.arguments for factor in _factors(argument)]
    return [node]


def _pairs(node: Any, signs: Signs) -> Iterator[tuple[Any, Any, str]]:
    if isinstance(node, nodes.Superscript) and not signs.is_positive(node.base):
        exponents = [number for part in node.components if (number := _number(part)) is not None]
        if any(number < 0 for number in exponents):
            yield node.base, ZERO, "≠"
        if any(map(_is_even_root, node.components)) and not signs.is_nonnegative(node.base):
            yield node.base, ZERO, "≥"
    if not isinstance(node, Call) or not node.arguments:
        return
    first, *others = node.arguments
    if node.operator in (*COMPARISONS, "max", "min") and len(others) == 1:
        yield first, others[0], ""
    elif node.operator == "clip":
        yield from ((first, bound, "") for bound in (*others, *node.parameters))
    elif node.operator in JUMPS:
        yield from ((first, Number(number), "") for number in JUMPS[node.operator])
    elif node.operator in INVERTING:
        yield replace(node, operator="det", arguments=(first,)), ZERO, "≠"
    elif node.operator in QUOTIENTS and len(others) == 1 and not signs.is_positive(others[0]):
        yield others[0], ZERO, "≠"
    elif node.operator in AT_ZERO and not signs.is_positive(first):
        required = AT_ZERO[node.operator]
        yield first, ZERO, "" if required == "≥" and signs.is_nonnegative(first) else required


def _is_even_root(exponent: Any) -> bool:
    """Return whether an exponent is 1/2, 3/4 or 0.5."""
    if isinstance(exponent, Call) and exponent.operator in QUOTIENTS:
        top, bottom = map(_number, exponent.arguments)
        return top is not None and bottom is not None and top % 2 == 1 and bottom % 2 == 0
    return isinstance(exponent, Number) and exponent.value % 1 == 0.5


class Signs:
    """The signs of expressions, as far as their operators and the declared sets show them."""

    def __init__(self, tree: nodes.Program):
        declared = [statement for statement in tree.statements if isinstance(statement, nodes.Declaration)]
        domains = [(to_text(name), of.sets[0]) for of in declared for name in of.names]
        kinds = {name: getattr(of, "domain", "") for name, of in domains}
        kinds |= {name: domain.kind for name, domain in find_stated_domains(tree.statements).items()}
        self.positive = {name for name, kind in kinds.items() if kind in ("positive", "count")}
        self.nonnegative = {name for name, kind in kinds.items() if kind in ("nonnegative", "naturals")}
        for name, of in domains:
            numbers = [_number(element) for element in getattr(of, "elements", ())]
            if kinds[name] in ("interval", "elements") and all(number is not None for number in numbers):
                least = min((number for number in numbers if number is not None), default=-1)
                self.positive |= {name} if least > 0 else set[str]()
                self.nonnegative |= {name} if least >= 0 else set[str]()

    def is_positive(self, node: Any) -> bool:
        if isinstance(node, (Number, Size)):
            return isinstance(node, Size) or node.value > 0
        if isinstance(node, nodes.Superscript):
            return self.is_positive(node.base) or to_text(node) in self.positive
        if not isinstance(node, Call) or not node.arguments:
            return isinstance(node, Name) and (node.text == "e" or node.text in self.positive)
        if node.operator in ("exp", "softmax", "sigmoid", "σ", "softplus", "cosh"):
            return True
        if node.operator == "+":
            return any(map(self.is_positive, node.arguments)) and all(map(self.is_nonnegative, node.arguments))
        return node.operator in KEEPING_SIGN and all(map(self.is_positive, node.arguments))

    def is_nonnegative(self, node: Any) -> bool:
        if isinstance(node, nodes.Superscript):
            exponents = [number for part in node.components if (number := _number(part)) is not None]
            if any(number % 2 == 0 for number in exponents):
                return True
        if isinstance(node, Name) and node.text in self.nonnegative:
            return True
        if isinstance(node, Call) and node.arguments:
            if node.operator in ("abs", "norm", "relu", "var", "std", "sqrt"):
                return True
            if node.operator in ("⊙", "juxtaposed") and node.arguments[0] == node.arguments[1]:
                return True
            if node.operator in (*KEEPING_SIGN, "+") and all(map(self.is_nonnegative, node.arguments)):
                return True
        return self.is_positive(node)


def constants(tree: nodes.Program) -> list[float]:
    """Return the numbers other than 0 that boundaries of a program have as a side."""
    sides = (side for boundary in boundaries(tree) for side in boundary.sides)
    return [*dict.fromkeys(number for side in sides if (number := _number(side)))]


def _number(node: Any) -> float | None:
    if isinstance(node, Call) and node.operator == "negative":
        inner = _number(node.arguments[0])
        return None if inner is None else -inner
    return float(node.value) if isinstance(node, Number) else None


class BoundarySearch(NamedTuple):
    """A search for inputs at the boundaries of formulas.

    `inputs` are the inputs of an ordinary test, and `whole` small integers. `value` evaluates a program on inputs, and
    `allows` returns whether a number lies in the set of an input.
    """

    inputs: Inputs
    whole: Inputs
    value: Callable[[nodes.Program, Inputs], PlainTensor]
    allows: Callable[[str, float], bool]

    def found(self, tree: nodes.Program, known: nodes.Program | None = None) -> Iterator[dict[str, PlainTensor]]:
        """Yield inputs at each boundary of a program that another, known one lacks."""
        before = () if known is None else constants(known)
        for number in [one for one in constants(tree) if one not in before][:MAX_CONSTANTS]:
            yield {name: self._partly(name, [number] * len(tensor.numbers)) for name, tensor in self.inputs.items()}
        texts = set() if known is None else {boundary.text for boundary in boundaries(known)}
        searched = (one for one in boundaries(tree) if one.text not in texts and not self._has_number_and_input(one))
        for boundary in itertools.islice(searched, MAX_BOUNDARIES):
            values = self._assign(boundary) or self._fill(boundary)
            if values is not None:
                yield values

    def _has_number_and_input(self, boundary: Boundary) -> bool:
        """Return whether tests of constants, or of zeros, include the boundary."""
        return any(
            _number(one) is not None and to_text(other) in self.inputs
            for one, other in (boundary.sides, boundary.sides[::-1])
        )

    def _partly(self, name: str, numbers: Sequence[float]) -> PlainTensor:
        """Return an input with every other element replaced, as far as its set allows."""
        tensor = self.inputs[name]
        pairs = zip(records(tensor.extent), tensor.numbers, numbers)
        taken = (new if sum(record) % 2 == 0 and self.allows(name, new) else old for record, old, new in pairs)
        return replace(tensor, numbers=tuple(taken))

    def _assign(self, boundary: Boundary) -> dict[str, PlainTensor] | None:
        """Return inputs with one side, which is an input, equal to the other side."""
        for side, other in (boundary.sides, boundary.sides[::-1]):
            name = to_text(side)
            if name not in self.inputs or name in names_in(other):
                continue
            if (value := self._evaluate(boundary, other, self.inputs)) is None:
                return None
            sizes = self.inputs[name].sizes
            numbers = value.first_along(sizes).broadcast_to(sizes).numbers
            return {**self.inputs, name: self._partly(name, numbers)}
        return None

    def _fill(self, boundary: Boundary) -> dict[str, PlainTensor] | None:
        """Return inputs with one input constant, if an element of both sides is then equal."""
        gap = Call("-", (), (), boundary.sides)
        names = [name for name in self.inputs if name in names_in(nodes.Program((*boundary.before, nodes.Value(gap))))]
        numbers = [number for node in walk(gap) if (number := _number(node))]
        for name in sorted(names, key=lambda name: name not in names_in(gap))[:MAX_FILLED]:
            tries = [number for number in dict.fromkeys((*FILLS, *numbers)) if self.allows(name, number)]
            seen: list[tuple[float, float]] = []
            for number in tries:
                values = self._with_fill(name, number)
                gaps = self._evaluate(boundary, gap, values)
                if gaps is None:
                    return None
                if 0 in gaps.numbers:
                    return values
                seen.append((number, float(gaps.numbers[0]) if gaps.numbers else math.nan))
            if (number := self._bisect(boundary, gap, name, sorted(seen))) is not None:
                return self._with_fill(name, number)
        return None

    def _bisect(self, boundary: Boundary, gap: Any, name: str, seen: list[tuple[float, float]]) -> float | None:
        """Return a number that makes the first element of a gap 0, between two numbers with unlike signs."""
        ends = next(((a, b) for a, b in itertools.pairwise(seen) if a[1] * b[1] < 0), None)
        if ends is None:
            return None
        (low, sign), (high, _) = ends
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            gaps = self._evaluate(boundary, gap, self._with_fill(name, middle))
            if gaps is None:
                return None
            if 0 in gaps.numbers:
                return middle
            low, high = (middle, high) if float(gaps.numbers[0]) * sign > 0 else (low, middle)
        return None

    def _with_fill(self, name: str, number: float) -> dict[str, PlainTensor]:
        tensor = self.whole[name]
        return {**self.whole, name: replace(tensor, numbers=(number,) * len(tensor.numbers))}

    def _evaluate(self, boundary: Boundary, expression: Any, values: Inputs) -> PlainTensor | None:
        """Return the value of an expression; None if it has none by itself, as of a function's parameter."""
        if not names_in(expression):
            return None
        try:
            return self.value(nodes.Program((*boundary.before, nodes.Value(expression))), values)
        except NotationError:
            return None


def names_in(node: Any) -> set[str]:
    """Return the texts of the names in a tree."""
    return {to_text(part) for part in walk(node) if isinstance(part, NAMED)}
