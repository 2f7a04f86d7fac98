"""The known conditions under which operations have a value or a derivative, such as x ≠ 0 for 1 / x.

Divisions, roots, logarithms and matrix inverses need conditions, unless the operand's definition satisfies them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

from grammar import nodes
from grammar.nodes import Call, Name, Number, Superscript
from grammar.printer import to_text
from grammar.traversal import children, map_nodes

from ..operators import REGISTRY
from ..operators.record import NEVER_NEGATIVE
from ..scope.names import CONSTANTS, Key, read_spelling, walk
from ..scope.uses import OF_AXES
from .program_names import bound_by, find_used_names, read_bars

NONZERO, NONNEGATIVE, POSITIVE = "≠ 0", "≥ 0", "> 0"
PRODUCTS, QUOTIENTS = ("⊙", "juxtaposed"), ("/", "frac")
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
WHOLE_SETS = ("integers", "naturals", "count")
ROUNDS = ("floor", "ceil", "round", "sign")
KEEPS_WHOLE = ("+", "-", "negative", "abs", "max", "min", "relu", "mod", "∑", "∏", *PRODUCTS)
HALVES = {"positive": POSITIVE, "count": POSITIVE, "nonnegative": NONNEGATIVE, "naturals": NONNEGATIVE}
SIGNED = {">": POSITIVE, "≥": NONNEGATIVE}
MAX_NESTED_CALLS = 3  # the maximum depth of nested function bodies that are searched


def condition_for_all(trees: Sequence[nodes.Program], inputs: Iterable[str] = ()) -> str:
    """Return the conditions that some, but not all, of these programs need in order to have a value.

    >>> from grammar.parser import parse
    >>> condition_for_all([parse("√x / (y − 1)"), parse("√x + log(1 + exp x)")])
    'y − 1 ≠ 0'
    """
    needed = [set(conditions_of(tree)) for tree in read_bars(trees, inputs)]
    some = set.union(*needed) - set.intersection(*needed)
    factors = {condition: factors_of(condition[0]) for condition in some}
    independent = [
        (node, comparison)
        for node, comparison in some
        if (len(factors[node, comparison]) == 1 or not {(of, comparison) for of in factors[node, comparison]} <= some)
        and not (comparison == NONZERO and (node, POSITIVE) in some)
    ]
    return ", ".join(sorted(f"{to_text(node)} {comparison}".replace("-", "−") for node, comparison in independent))


def conditions_of(tree: nodes.Program) -> list[tuple[Any, str]]:
    """Return the conditions for a program to have a value. Each is a pair of an operand and its comparison with 0."""
    conditions = Conditions(tree.statements, of_roots=True)
    for statement in tree.statements:
        if head_of(statement) not in conditions.functions:
            conditions.visit(statement, False)
    return list(conditions.compared.values())


def head_of(statement: Any) -> str | None:
    """Return the name of the function that a statement defines, or None if it does not define a function."""
    head = statement.sides[0] if isinstance(statement, nodes.Equation) else None
    return head.operator if isinstance(head, Call) and _is_function(head) else None


def functions_called(statements: Iterable[Any]) -> dict[str, nodes.Equation]:
    """Return the definitions of the functions that a program both defines and calls, by name."""
    statements = tuple(statements)
    defined = {name: statement for statement in statements if (name := head_of(statement)) is not None}
    bodies = (statement.sides[1] if head_of(statement) in defined else statement for statement in statements)
    called = {node.operator for body in bodies for node in walk(body) if isinstance(node, Call)}
    return {name: statement for name, statement in defined.items() if name in called}


def inline(tree: Any, functions: Mapping[str, nodes.Equation], depth: int = 0) -> Iterator[Any]:
    """Yield all expressions in a tree and in the bodies of these functions for each call, up to a depth limit."""
    for node in walk(tree):
        yield node
        if isinstance(node, Call) and node.operator in functions and depth < MAX_NESTED_CALLS:
            yield from inline(substitute(functions[node.operator], node), functions, depth + 1)


def substitute(definition: nodes.Equation, call: Call) -> Any:
    """Return the body of a function with its parameters replaced by the arguments of a call."""
    head, body = cast(Call, definition.sides[0]), definition.sides[1]
    formals = (*head.subscript, *head.arguments, *head.parameters)
    pairs = zip(formals, (*call.subscript, *call.arguments, *call.parameters))
    values = {formal.text: actual for formal, actual in pairs if isinstance(formal, Name)}

    def change(node: Any) -> Any:
        if isinstance(node, nodes.Axis):
            return nodes.axis_of(values[node.name]) if node.name in values else None
        return values.get(node.text) if isinstance(node, Name) else None

    return map_nodes(body, change)


def factors_of(node: Any) -> list[Any]:
    """Return the factors of an elementwise product, or the expression itself if it is not a product."""
    if isinstance(node, Call) and node.operator in PRODUCTS and not node.subscript:
        return [factor for argument in node.arguments for factor in factors_of(argument)]
    return [node]


class Conditions:
    """A collector of the conditions that operations need, which infers the signs of expressions."""

    def __init__(self, statements: tuple[Any, ...], given: Iterable[Key] = (), of_roots: bool = False):
        self.of_roots = of_roots  # whether a root that is not differentiated gives a condition
        self.compared: dict[str, tuple[Any, str]] = {}  # operands and how they compare with 0, by their texts
        self.further: dict[str, None] = {}  # conditions that do not compare with 0
        self.defined: dict[Key, Any] = {}
        self.signs: dict[Key, str | None] = {}
        self.whole: set[Key] = set()  # names that are declared to be whole numbers
        self.labeled = {name.base for name in given if name.superscript}  # bases of names whose superscripts are labels
        self.bound = {name for statement in statements for node in walk(statement) for name in bound_by(node)}
        self.counts = {name for statement in statements for node in walk(statement) for name in counts_of(node)}
        self.functions = functions_called(statements)
        self.own = {
            head_of(statement) for statement in statements
        }  # functions, perhaps with a built-in function's name
        for statement in statements:
            self.note(statement)

    def note(self, statement: Any) -> None:
        """Record the definition, labels, integer sets and signs that a statement gives to names."""
        if isinstance(statement, nodes.Equation):
            name = read_spelling(statement.sides[0])
            self.labeled |= {name.base} if name is not None and name.superscript else set()
            if name is not None and statement.range is None:
                self.defined.setdefault(name.key(), statement.sides[1])
        elif isinstance(statement, nodes.Declaration):
            for name in filter(None, map(read_spelling, statement.names)):
                self.labeled |= {name.base} if name.superscript else set()
                self.whole |= {name.key()} if _is_whole_set(statement.sets[0]) else set()
                sign = _sign_of_set(statement.sets[0])
                if sign is not None:
                    self.signs[name.key()] = sign
        elif isinstance(statement, nodes.Fact) and isinstance(statement.condition, Call):
            left, right = statement.condition.arguments[:1], statement.condition.arguments[1:]
            name = read_spelling(left[0]) if left else None
            if name is not None and right == (Number(0),) and statement.condition.operator in SIGNED:
                self.signs[name.key()] = SIGNED[statement.condition.operator]

    # ------------------------------------------------------------------------------------- the conditions of operations
    def visit(self, node: Any, differentiated: bool) -> None:
        """Collect the conditions of an expression and, if `differentiated`, its derivative. Skip cases and `where`."""
        stack = [(node, 0)]
        while stack:
            current, depth = stack.pop()
            if isinstance(current, nodes.Cases) or isinstance(current, Call) and current.operator == "where":
                continue
            self.ask_of(current, differentiated)
            stack += ((child, depth) for child in reversed(children(current)))
            if isinstance(current, Call) and current.operator in self.functions and depth < MAX_NESTED_CALLS:
                stack.append((substitute(self.functions[current.operator], current), depth + 1))

    def ask_of(self, node: Any, differentiated: bool) -> None:
        """Collect the conditions for one operation to have a value and, if `differentiated`, a derivative."""
        if isinstance(node, Superscript) and self.is_power(node):
            self.ask_power(node, differentiated)
        if not isinstance(node, Call) or not node.arguments or node.operator in self.own:
            return
        operand = node.arguments[0]
        if node.operator in QUOTIENTS:
            self.ask_nonzero(node.arguments[1])
        elif node.operator == "sqrt":
            if differentiated or self.of_roots:
                self.ask(operand, POSITIVE if differentiated else NONNEGATIVE)
        elif node.operator in DOMAINS:
            self.ask(operand, DOMAINS[node.operator])
        elif node.operator == "log1p":
            self.ask(_sum(ONE, operand), POSITIVE)
        elif node.operator == "factorial":
            self.ask(_sum(operand, ONE), POSITIVE)
        elif node.operator in ("arcsin", "arccos"):
            self.ask(_sum(ONE, Superscript(operand, (Number(2),)), "-"), POSITIVE if differentiated else NONNEGATIVE)
        elif node.operator in OF_MATRICES and len(node.subscript) == 2:
            test = Call(OF_MATRICES[node.operator], (), node.subscript, (operand,))
            self.ask(test, NONZERO if test.operator == "det" else POSITIVE)
        elif node.operator in ("max", "min") and not node.subscript and len(node.arguments) == 2 and differentiated:
            if not all(map(self.is_fixed, node.arguments)):
                self.further[" ≠ ".join(to_text(_remove_stars(argument)) for argument in node.arguments)] = None

    def ask_power(self, node: Superscript, differentiated: bool) -> None:
        """Collect the conditions for a power to have a value and, if `differentiated`, a derivative."""
        above = node.components[0]
        exponent = read_fraction(above)
        if exponent is None and not self.is_whole(above):
            self.ask(node.base, POSITIVE)
        elif exponent is None:
            # Sizes and the indices of sums count from 1, and so no power of them is negative: x^{|a| − 1}.
            if self.sign(above) is None and not self.names_in(above) <= self.bound:
                self.ask_nonzero(node.base)
        elif exponent.denominator > 1 and not (self.of_roots and exponent.denominator % 2):
            self.ask(node.base, POSITIVE if exponent < differentiated else NONNEGATIVE)
        elif exponent < 0:
            self.ask_nonzero(node.base)

    def ask_nonzero(self, node: Any) -> None:
        """Collect the conditions for a divisor to be nonzero, separately for each factor."""
        node = _remove_stars(node)
        if len(factors_of(node)) > 1:
            for factor in factors_of(node):
                self.ask_nonzero(factor)
        elif isinstance(node, Call) and node.operator in ("negative", "abs", "sqrt", *QUOTIENTS):
            self.ask_nonzero(node.arguments[0])
        elif isinstance(node, Superscript) and self.is_power(node):
            self.ask_nonzero(node.base)
        else:
            self.ask(node, NONZERO)

    def ask(self, node: Any, comparison: str) -> None:
        """Add a condition unless it is known to hold or contains no tensors. Replace x ≥ 0 and x ≠ 0 with x > 0."""
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
        power = read_fraction(node.components[0]) if isinstance(node, Superscript) and self.is_power(node) else None
        if power and isinstance(node, Superscript) and power.numerator % 2:
            self.ask(node.base, comparison)
            return
        text = to_text(node)
        _, before = self.compared.get(text, (node, comparison))
        self.compared[text] = node, comparison if before == comparison else POSITIVE

    def is_fixed(self, node: Any) -> bool:
        """Return whether an expression contains no names except constants such as π, or satisfies `is_index`."""
        return self.names_in(node) <= CONSTANTS.keys() or self.is_index(node)

    def is_index(self, node: Any) -> bool:
        """Return whether an expression contains an index variable that is bound only in a part of the formula."""
        return not self.names_in(node).isdisjoint(self.bound)

    def names_in(self, node: Any) -> set[str]:
        """Return the bases of the names whose values an expression uses. Names that occur only in axes are excluded."""
        return {name.base for name in find_used_names(node, {*self.defined, *self.signs})} - OF_AXES

    # ---------------------------------------------------------------------------------------- the properties of expressions
    def is_power(self, node: Superscript) -> bool:
        """Return whether a superscript is a power rather than a label."""
        name = read_spelling(node)
        return len(node.components) == 1 and (name is None or name.base not in self.labeled)

    def is_whole(self, node: Any) -> bool:
        """Return whether an expression is known to have only integer values."""
        if isinstance(node, Number):
            return node.value % 1 == 0
        if isinstance(node, (nodes.Starred, nodes.Rename, nodes.Index)):
            return self.is_whole(node.base)
        if isinstance(node, (nodes.Size, nodes.Indicator)):
            return True
        name = read_spelling(node)
        if name is not None and (name.base in self.counts | OF_AXES or name.key() in self.whole):
            return True
        if name is not None and name.key() in self.defined:
            return self.is_whole(self.defined[name.key()])
        if isinstance(node, nodes.IndexSum):
            return self.is_whole(node.body)
        if not isinstance(node, Call) or node.operator in self.own:
            return False
        return node.operator in ROUNDS or node.operator in KEEPS_WHOLE and all(map(self.is_whole, node.arguments))

    def sign(self, node: Any) -> str | None:
        """Return the sign "> 0" or "≥ 0" of an expression wherever it is defined, or None if the sign is unknown."""
        if isinstance(node, Number):
            return POSITIVE if node.value > 0 else NONNEGATIVE if node.value == 0 else None
        if isinstance(node, nodes.Size):
            return POSITIVE
        if isinstance(node, (nodes.Starred, nodes.Rename, nodes.Index)):
            return self.sign(node.base)
        name = read_spelling(node)
        if name is not None and name.key() in self.signs:
            return self.signs[name.key()]
        if name is not None and name.key() in self.defined:
            self.signs[name.key()] = None  # ends the recursion if a family is defined by itself
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
        """Return the sign of the base. If it is unknown, return "≥ 0" for an even power or root, and None otherwise."""
        below = self.sign(node.base)
        exponent = read_fraction(node.components[0])
        if below is None and exponent is not None and (exponent.numerator % 2 == 0 or exponent.denominator % 2 == 0):
            return NONNEGATIVE
        return below

    def sign_of_call(self, node: Call) -> str | None:
        """Return the sign of an operator's value, or None if the signs of its operands do not determine it."""
        operands = [self.sign(argument) for argument in node.arguments]
        record = None if node.operator in self.own else REGISTRY.get(node.operator)
        if (
            record is not None
            and record.sign == "≥ 0"
            and record.analytic
            and record.name not in ("norm", "var", "std")
        ):
            return POSITIVE
        if record is not None and record.sign in NEVER_NEGATIVE and record.name != "sqrt":
            return NONNEGATIVE
        if node.operator in PRODUCTS and not node.subscript and node.arguments[0] == node.arguments[-1]:
            return operands[0] or NONNEGATIVE
        if (
            node.operator == "-"
            and operands[0] == POSITIVE
            and node.arguments[1] == ONE
            and self.is_whole(node.arguments[0])
        ):
            return NONNEGATIVE
        if None in operands or not operands:
            return None
        if node.operator == "+":
            return POSITIVE if POSITIVE in operands else NONNEGATIVE
        keeps = record is not None and "of" in record.sign or node.operator in (*PRODUCTS, *QUOTIENTS, "∑", "∏", "sqrt")
        if not keeps:
            return None
        return POSITIVE if set(operands) == {POSITIVE} else NONNEGATIVE


def _sign_of_set(of: Any) -> str | None:
    """Return "> 0" or "≥ 0" if all elements of a set have this sign, or None if their sign is unknown."""
    if of.domain not in ("interval", "elements"):
        return HALVES.get(of.domain)
    numbers = [read_fraction(element) for element in of.elements]
    least = min((number for number in numbers if number is not None), default=-1) if None not in numbers else -1
    return POSITIVE if least > 0 else NONNEGATIVE if least == 0 else None


def counts_of(node: Any) -> set[str]:
    """Return the names that a node requires to be integers: i and n in ∑_{i=1}^{n}, or n in |a| = n."""
    if isinstance(node, (nodes.IndexSum, nodes.Range)):
        return {part.text for part in (node.variable, node.first, node.last) if isinstance(part, Name)}
    if isinstance(node, nodes.Over):
        is_set = isinstance(node.over, nodes.Set)
        return {node.variable.text} if (_is_whole_set(node.over) if is_set else node.operator != "lim") else set()
    if isinstance(node, nodes.Equation) and any(isinstance(side, nodes.Size) for side in node.sides):
        return {side.text for side in node.sides if isinstance(side, Name)}
    return set()


def _is_whole_set(of: Any) -> bool:
    """Return whether a set contains only integers."""
    numbers = [read_fraction(element) for element in of.elements]
    listed = of.domain == "elements" and all(number is not None and number.denominator == 1 for number in numbers)
    return listed or of.domain in WHOLE_SETS


def read_fraction(node: Any) -> Fraction | None:
    """Return the rational number that an expression stands for, or None if it is not a rational number."""
    if isinstance(node, Number):
        return Fraction(str(node.value)) if math.isfinite(node.value) else None
    if isinstance(node, Call) and node.operator == "negative":
        number = read_fraction(node.arguments[0])
        return None if number is None else -number
    if isinstance(node, Call) and node.operator in QUOTIENTS:
        above, below = map(read_fraction, node.arguments)
        return None if above is None or not below else above / below
    return None


def _remove_stars(node: Any) -> Any:
    """Return an expression without outer stars and renamings: x for x^* and x_{a→b}, which have the elements of x."""
    while isinstance(node, (nodes.Starred, nodes.Rename)):
        node = node.base
    return node


def _sum(left: Any, right: Any, sign: str = "+") -> Call:
    return Call(sign, (), (), (left, right))


def _is_function(head: Call) -> bool:
    """Return whether a side of an equation is the left-hand side of a function definition, such as f(x)."""
    return head.operator.isidentifier() and bool(head.arguments) and all(map(read_spelling, head.arguments))
