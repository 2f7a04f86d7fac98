"""The conditions under which a closed form is the derivative, as far as its operations show: x ≠ 0 for (∏_{n} x) / x^*.

A closed form divides, takes roots and logarithms, and inverts matrices, at points where the derivative may still have a
value. Each such operation gives a condition, unless its operand is positive by its definition or declaration.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from grammar import nodes
from grammar.nodes import Call, Name, Number, Superscript
from grammar.printer import to_text
from grammar.traversal import children

from ..operators import REGISTRY
from ..operators.record import NEVER_NEGATIVE
from ..programs.program_names import bound_by, used
from ..scope.mentions import OF_AXES
from ..scope.names import CONSTANTS, Key, key, spelled, walk
from ..symbolic.naming import words_of
from .reading import needed

NONZERO, NONNEGATIVE, POSITIVE = "≠ 0", "≥ 0", "> 0"
PRODUCTS = ("⊙", "juxtaposed")
OF_MATRICES = {"inv": "det", "solve": "det", "logdet": "det", "cholesky": "eigvalsh"}
DOMAINS = {
    "log": POSITIVE,
    "ln": POSITIVE,
    "sqrt": NONNEGATIVE,
    "Γ": POSITIVE,
    "lgamma": POSITIVE,
    "digamma": POSITIVE,
    "polygamma": POSITIVE,
}
ONE = Number(1)
HALVES = {"positive": POSITIVE, "nonnegative": NONNEGATIVE}
SIGNED = {">": POSITIVE, "≥": NONNEGATIVE}


def conditions_of(closed: nodes.Program, tree: nodes.Program, given: Iterable[str]) -> tuple[str, ...]:
    """Return the conditions of a closed form and of the function that was differentiated, as texts: x > 0, det_{a,b}(X) ≠ 0."""
    last = tree.statements[-1]
    lines = needed(tree.statements[:-1], words_of(last))
    matches = Domains((*tree.statements, *closed.statements), map(key, given))
    for statement in (*lines, last, *closed.statements):
        if isinstance(statement, nodes.Value):
            matches.visit(statement.body, True)
        elif isinstance(statement, nodes.Equation) and statement.range is None:
            matches.visit(statement.sides[-1], statement not in closed.statements)
    return (*(f"{operand} {comparison}" for operand, comparison in matches.conditions.items()), *matches.further)


class Domains:
    """The conditions of the operations in expressions."""

    def __init__(self, statements: tuple[Any, ...], given: Iterable[Key]):
        self.conditions: dict[str, str] = {}  # how an operand compares with 0, by its text
        self.further: dict[str, None] = {}  # conditions that do not compare with 0
        self.defined: dict[Key, Any] = {}
        self.signs: dict[Key, str | None] = {}
        self.labeled = {name.base for name in given if name.superscript}  # bases of names whose superscripts are labels
        self.bound = {name for statement in statements for node in walk(statement) for name in bound_by(node)}
        self.functions: set[str] = set()  # that the program defines, perhaps with the name of a built-in function
        for statement in statements:
            self.note(statement)

    def note(self, statement: Any) -> None:
        """Take in a definition, a declaration or a stated sign."""
        if isinstance(statement, nodes.Equation):
            head = statement.sides[0]
            self.functions |= {head.operator} if isinstance(head, Call) and _is_function(head) else set()
            name = spelled(statement.sides[0])
            self.labeled |= {name.base} if name is not None and name.superscript else set()
            if name is not None and statement.range is None:
                self.defined.setdefault(name.key(), statement.sides[1])
        elif isinstance(statement, nodes.Declaration):
            for name in map(spelled, statement.names):
                self.labeled |= {name.base} if name is not None and name.superscript else set()
                if name is not None and statement.sets[0].domain in HALVES:
                    self.signs[name.key()] = HALVES[statement.sets[0].domain]
        elif isinstance(statement, nodes.Fact) and isinstance(statement.condition, Call):
            left, right = statement.condition.arguments[:1], statement.condition.arguments[1:]
            name = spelled(left[0]) if left else None
            if name is not None and right == (Number(0),) and statement.condition.operator in SIGNED:
                self.signs[name.key()] = SIGNED[statement.condition.operator]

    # --------------------------------------------------------------------------------------------------- what is asked
    def visit(self, node: Any, differentiated: bool) -> None:
        """Collect the conditions of an expression, and of its differential if it is differentiated; a case guards its own."""
        stack = [node]
        while stack:
            current = stack.pop()
            if isinstance(current, nodes.Cases):
                continue
            self.ask_of(current, differentiated)
            stack += reversed(children(current))

    def ask_of(self, node: Any, differentiated: bool) -> None:
        """Collect the conditions of one operation."""
        if isinstance(node, Superscript) and self.is_power(node):
            self.ask_power(node, differentiated)
        if not isinstance(node, Call) or not node.arguments or node.operator in self.functions:
            return
        operand = node.arguments[0]
        if node.operator == "/":
            self.ask_nonzero(node.arguments[1])
        elif node.operator == "sqrt" and differentiated:
            self.ask(operand, POSITIVE)
        elif node.operator in DOMAINS:
            self.ask(operand, DOMAINS[node.operator])
        elif node.operator == "log1p":
            self.ask(_sum(ONE, operand), POSITIVE)
        elif node.operator == "factorial":
            self.ask(_sum(operand, ONE), POSITIVE)
        elif node.operator in ("arcsin", "arccos"):
            self.ask(_sum(ONE, Superscript(operand, (Number(2),)), "-"), POSITIVE)
        elif node.operator in OF_MATRICES and len(node.subscript) == 2:
            test = Call(OF_MATRICES[node.operator], (), node.subscript, (operand,))
            self.ask(test, NONZERO if test.operator == "det" else POSITIVE)
        elif node.operator in ("max", "min") and not node.subscript and len(node.arguments) == 2 and differentiated:
            if not all(map(self.is_fixed, node.arguments)):
                self.further[" ≠ ".join(to_text(_remove_stars(argument)) for argument in node.arguments)] = None

    def ask_power(self, node: Superscript, differentiated: bool) -> None:
        """Collect the conditions of a power."""
        exponent = _number(node.components[0])
        if exponent is None:
            is_quotient = any(isinstance(part, Call) and part.operator == "/" for part in walk(node.components[0]))
            if is_quotient or not self.names_in(node.components[0]) <= self.bound:  # else a whole number: |a| − 1
                self.ask(node.base, POSITIVE)
        elif exponent.denominator > 1:
            self.ask(node.base, POSITIVE if exponent < differentiated else NONNEGATIVE)
        elif exponent < 0:
            self.ask_nonzero(node.base)

    def ask_nonzero(self, node: Any) -> None:
        """Collect the conditions for a divisor, factor by factor."""
        node = _remove_stars(node)
        if isinstance(node, Call) and node.operator in PRODUCTS and not node.subscript:
            for factor in node.arguments:
                self.ask_nonzero(factor)
        elif isinstance(node, Call) and node.operator in ("negative", "abs", "sqrt", "/"):
            self.ask_nonzero(node.arguments[0])
        elif isinstance(node, Superscript) and self.is_power(node) and _number(node.components[0]) is not None:
            self.ask_nonzero(node.base)
        else:
            self.ask(node, NONZERO)

    def ask(self, node: Any, comparison: str) -> None:
        """Add a condition, unless it always holds; x ≥ 0 and x ≠ 0 are x > 0 together."""
        node = _remove_stars(node)
        sign = self.sign(node)
        if isinstance(node, Number) or sign in (POSITIVE, comparison) or self.is_fixed(node):
            return
        if sign == NONNEGATIVE and comparison == POSITIVE:
            self.ask_nonzero(node)
            return
        if isinstance(node, Call) and node.operator == "sqrt":
            self.ask(node.arguments[0], comparison)
            return
        power = _number(node.components[0]) if isinstance(node, Superscript) and self.is_power(node) else None
        if power and isinstance(node, Superscript) and power.numerator % 2:
            self.ask(node.base, comparison)
            return
        text = to_text(node)
        before = self.conditions.get(text, comparison)
        self.conditions[text] = comparison if before == comparison else POSITIVE

    def is_fixed(self, node: Any) -> bool:
        """Return whether an expression has no tensors, or an index that only part of the formula binds."""
        return self.names_in(node) <= CONSTANTS.keys() or self.is_index(node)

    def is_index(self, node: Any) -> bool:
        """Return whether an expression has an index that only part of the formula binds."""
        return not self.names_in(node).isdisjoint(self.bound)

    def names_in(self, node: Any) -> set[str]:
        """Return the bases of the names whose values an expression has, without those that only axes make."""
        return {name.base for name in used(node, {*self.defined, *self.signs})} - OF_AXES

    # ------------------------------------------------------------------------------------------------------ what is known
    def is_power(self, node: Superscript) -> bool:
        """Return whether a superscript is a power, and no label."""
        name = spelled(node)
        return len(node.components) == 1 and (name is None or name.base not in self.labeled)

    def sign(self, node: Any) -> str | None:
        """Return "> 0" or "≥ 0" for an expression that is so wherever it has a value."""
        if isinstance(node, Number):
            return POSITIVE if node.value > 0 else NONNEGATIVE if node.value == 0 else None
        if isinstance(node, nodes.Size):
            return POSITIVE
        if isinstance(node, (nodes.Starred, nodes.Rename, nodes.Index)):
            return self.sign(node.base)
        name = spelled(node)
        if name is not None and name.key() in self.signs:
            return self.signs[name.key()]
        if name is not None and name.key() in self.defined:
            self.signs[name.key()] = None  # while it is looked for: a family may be defined by itself
            self.signs[name.key()] = self.sign(self.defined[name.key()])
            return self.signs[name.key()]
        if isinstance(node, Name):
            return POSITIVE if node.text in CONSTANTS else None
        if isinstance(node, Superscript):
            return self.sign_of_power(node)
        if isinstance(node, nodes.IndexSum):
            return self.sign(node.body)
        return self.sign_of_call(node) if isinstance(node, Call) else None

    def sign_of_power(self, node: Superscript) -> str | None:
        """Return the sign of a power: the sign of its base, and never negative for an even exponent."""
        below = self.sign(node.base)
        exponent = _number(node.components[0])
        if below is None and exponent is not None and (exponent.numerator % 2 == 0 or exponent.denominator % 2 == 0):
            return NONNEGATIVE
        return below

    def sign_of_call(self, node: Call) -> str | None:
        """Return the sign of a value of an operator, by the signs of its operands."""
        operands = [self.sign(argument) for argument in node.arguments]
        record = None if node.operator in self.functions else REGISTRY.get(node.operator)
        if (
            record is not None
            and record.sign == "≥ 0"
            and record.analytic
            and record.name not in ("norm", "var", "std")
        ):
            return POSITIVE
        if record is not None and record.sign in NEVER_NEGATIVE and record.name != "sqrt":
            return NONNEGATIVE
        if None in operands or not operands:
            return None
        if node.operator == "+":
            return POSITIVE if POSITIVE in operands else NONNEGATIVE
        keeps = record is not None and "of" in record.sign or node.operator in (*PRODUCTS, "/", "∑", "∏", "sqrt")
        if not keeps:
            return None
        return POSITIVE if set(operands) == {POSITIVE} else NONNEGATIVE


def _number(node: Any) -> Fraction | None:
    """Return the rational number that an expression is, or None."""
    if isinstance(node, Number):
        return Fraction(node.value) if node.value == int(node.value) else Fraction(str(node.value))
    if isinstance(node, Call) and node.operator == "negative":
        number = _number(node.arguments[0])
        return None if number is None else -number
    if isinstance(node, Call) and node.operator == "/":
        above, below = map(_number, node.arguments)
        return None if above is None or not below else above / below
    return None


def _remove_stars(node: Any) -> Any:
    """Return x for x^* and x_{a→b}: elements that are the same."""
    while isinstance(node, (nodes.Starred, nodes.Rename)):
        node = node.base
    return node


def _sum(left: Any, right: Any, sign: str = "+") -> Call:
    return Call(sign, (), (), (left, right))


def _is_function(head: Call) -> bool:
    """Return whether the side of an equation is the head of a function: f(x), and not x + 1."""
    return head.operator.isidentifier() and bool(head.arguments) and all(map(spelled, head.arguments))
