"""The selection and naming of the formula parts that get a separate line in readable code.

A term gets a line if an equation names it, if it is used twice, or if its expression would be long. The limits for long
expressions depend on the library.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

from grammar.errors import NotationError

from ..terms.terms import Term, topological
from .code_libraries import HELPERS, Library, repeats

MAX_TERMS = 400  # the largest formula that is written as readable code
MAX_OPERATIONS = 4  # operations in an operand on the same line as its operator; `LIMITS` has lower limits
LIMITS = {
    **dict.fromkeys(("softmax", "standardize"), 0),
    **dict.fromkeys(("⊙", "dot", "juxtaposed", "logsoftmax", "argmax", "argmin", "cumsum", "cumprod", "sort"), 2),
}
PASSING = ("rename", "variable", "spread")  # terms whose values are the values of their operands
PLAIN = ("input", "number", "iota", "identity", "I", "ones", *PASSING)  # terms that need no computation
NOUNS = {  # names for the values of operators that the formula does not name
    "softmax": "weights", "∑": "total", "mean": "mean", "var": "variance", "std": "deviation", "norm": "length", "max": "largest",
    "min": "smallest", "standardize": "normalized", "relu": "hidden", "σ": "gate", "tanh": "hidden", "exp": "exponentials",
    "logsumexp": "normalizer", "⊙": "product", "-": "difference", "/": "ratio", "cumsum": "running", "argmax": "chosen",
    "argmin": "chosen", "unroll": "windows", "pool": "blocks", "index": "rows", "onehot": "one_hot", "iota": "positions",
    "constant": "numbers",
}  # fmt: skip


class UnreadableFormulaError(NotationError):
    """The error for a formula that cannot be written as readable code."""


class CodeStatement(NamedTuple):
    """A line to be written: a term, and the name that its value is assigned to."""

    term: Term
    name: str


class Names:
    """The names that are in use in one function. New names are made distinct from these."""

    def __init__(self, taken: Iterable[str]):
        self.taken = {*taken, *keyword.kwlist, *HELPERS, "function"}

    def fresh(self, name: str) -> str:
        """Convert a name to an identifier that is not in use, and mark the identifier as used."""
        result = find_unused_name(name, self.taken)
        self.taken.add(result)
        return result


def find_unused_name(name: str, taken: Container[str]) -> str:
    """Convert a name to an identifier and return it, with a number appended if it is in use."""
    result = base = identifier(name)
    number = 2
    while result in taken:
        result, number = f"{base}{number}", number + 1
    return result


def identifier(text: str) -> str:
    """Convert a name to a Python identifier, such as W^{l} to W_l and x' to x_prime."""
    word = re.sub(r"\W+", "_", text.replace("'", "_prime")).strip("_")
    return word if word.isidentifier() and not keyword.iskeyword(word) else f"v_{word}".strip("_")


def statements(root: Term, names: Mapping[int, str], library: Library, local: Names) -> list[CodeStatement]:
    """Return the terms that get separate lines, in order; `names` maps the terms' ids to names from equations.

    Raise UnreadableFormulaError if the formula is too large.
    """
    order, limits = topological(root), {**LIMITS, **library.limits}
    if len(order) > MAX_TERMS:
        raise UnreadableFormulaError(
            404, f"the formula has {len(order)} parts, more than the {MAX_TERMS} of readable code"
        )
    uses: Counter[int] = Counter()
    for term in reversed(order):
        for argument in term.arguments:
            uses[id(argument)] += uses[id(term)] if term.operator in PASSING and id(term) not in names else 1
    operations: dict[int, int] = {}  # in the expression of each term
    suggested: dict[int, str] = {}  # names for terms, from the operators that take them
    lines: set[int] = set()
    for term in order:
        if term.operator in ("softmax", "logsoftmax"):
            suggested.setdefault(id(term.arguments[0]), "scores")
        limit = 0 if repeats(library, term.operator) else limits.get(term.operator, MAX_OPERATIONS)
        for argument in term.arguments:
            weights = argument.operator == "softmax" and term.operator in ("⊙", "dot") and bool(term.axes)
            if operations[id(argument)] > (0 if weights else limit):
                lines.add(id(argument))
                operations[id(argument)] = 0
        count = sum(operations[id(argument)] for argument in term.arguments) + (term.operator not in PLAIN)
        if term is not root and count and (id(term) in names or uses[id(term)] > 1):
            lines.add(id(term))
            count = 0
        operations[id(term)] = count
    return [
        CodeStatement(
            term, local.fresh(names.get(id(term)) or suggested.get(id(term)) or NOUNS.get(term.operator, "part"))
        )
        for term in order
        if id(term) in lines
    ]
