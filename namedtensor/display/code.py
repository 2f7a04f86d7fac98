"""A formula as code that a person reads: its own names and parts, one array expression a line.

    def function(Q, K, V):
        scores = K @ Q / np.sqrt(2)  # seq
        weights = softmax(scores, axis=0)  # seq
        return weights @ V  # val

What runs fast is `to_python`; this is what one writes by hand. A term gets a line of its own where an equation names it, where it
is used twice, or where an expression would be long.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError
from grammar.nodes import Number

from ..scope.names import key
from ..terms.environment import source_name
from ..terms.terms import Term, resolved_shape, topological
from .code_libraries import ATOM, HELPERS, LIBRARIES, CodeExpression, Library, helper, template
from .code_rules import RULES
from .steps import places

if TYPE_CHECKING:
    from ..checking.checker import Checker

MAX_OPERATIONS = 4  # of an expression in one line
MAX_TERMS = 400  # of a formula that is written so
NOUNS = {  # what the value of an operator is called where the formula does not name it
    "softmax": "weights", "∑": "total", "mean": "mean", "var": "variance", "std": "deviation", "norm": "length", "max": "largest",
    "min": "smallest", "standardize": "normalized", "relu": "hidden", "σ": "gate", "tanh": "hidden", "exp": "exponentials",
    "logsumexp": "normalizer", "⊙": "product", "-": "difference", "/": "ratio", "cumsum": "running", "argmax": "chosen",
    "argmin": "chosen", "unroll": "windows", "pool": "blocks", "index": "rows", "onehot": "one_hot", "iota": "positions",
}  # fmt: skip
PLAIN = ("input", "number", "rename", "variable", "spread", "iota", "constant", "identity", "I", "ones")  # no work


class UnreadableFormula(NotationError):
    """The error of a formula that has no readable code."""


class Writer:
    """Writes terms as lines of one library. `names` are those of equations, by the terms that they define."""

    def __init__(self, library: Library, root: Term, names: Mapping[int, str], inputs: Mapping[str, str]):
        self.library, self.root, self.names, self.inputs = library, root, names, inputs
        self.lines: list[tuple[str, tuple[str, ...]]] = []
        self.written: dict[int, CodeExpression] = {}
        self.helpers: dict[str, None] = {}
        self.suggested: dict[int, str] = {}  # names for terms, from what takes them
        order = topological(root)
        if len(order) > MAX_TERMS:
            raise UnreadableFormula(
                404, f"the formula has {len(order)} parts; readable code is written for up to {MAX_TERMS}"
            )
        self.uses = Counter(id(argument) for term in order for argument in term.arguments)
        modules = {line.split()[-1] for line in library.imports} | {"function", *HELPERS}
        self.taken = {*inputs.values(), *keyword.kwlist, *modules}

    # ------------------------------------------------------------------------------------------------------------ terms
    def code(self, term: Term, limit: int = MAX_OPERATIONS) -> CodeExpression:
        """The expression of a term; one of more operations than the limit is a variable of a line before."""
        known = self.written.get(id(term))
        if known is None:
            rule = RULES.get(term.operator)
            if rule is None:
                raise self.unreadable(term)
            known = rule(self, term)
            if term is not self.root and self.has_a_line(term, known):
                known = self.variable(known, self.name_of(term))
            self.written[id(term)] = known
        if known.operations > limit and term is not self.root:
            known = self.written[id(term)] = self.variable(known, self.name_of(term))
        return known

    def name_of(self, term: Term) -> str:
        return self.names.get(id(term)) or self.suggested.get(id(term)) or NOUNS.get(term.operator, "part")

    def has_a_line(self, term: Term, code: CodeExpression) -> bool:
        if id(term) in self.names:
            return code.level < ATOM or code.operations > 0
        return self.uses[id(term)] > 1 and term.operator not in PLAIN and code.operations > 0

    def has_a_name(self, term: Term) -> bool:
        return id(term) in self.names or self.uses[id(term)] > 1

    def variable(self, code: CodeExpression, name: str) -> CodeExpression:
        """A line that assigns an expression to a fresh name."""
        name = self.fresh(name)
        self.lines.append((f"{name} = {code.text}", code.axes))
        return CodeExpression(name, code.axes, integer=code.integer)

    def fresh(self, expected: str) -> str:
        name = base = identifier(expected)
        number = 2
        while name in self.taken:
            name, number = f"{base}{number}", number + 1
        self.taken.add(name)
        return name

    def unreadable(self, term: Term, why: str = "") -> UnreadableFormula:
        return UnreadableFormula(409, why or f"{term.operator} has no readable form in {self.library.prefix}")

    # ---------------------------------------------------------------------------------------------------------- helpers
    def call(self, term: Term, name: str, *operands: str, **words: Any) -> str:
        """The template of an operator, filled in."""
        text = template(self.library, name)
        if text is None:
            raise self.unreadable(term)
        for word in re.findall(r"\b(\w+)\(", text):
            if word in HELPERS and f".{word}(" not in text:
                self.helpers[word] = None
        return text.format(*operands, **words)

    def arranged(self, code: CodeExpression, order: Sequence[str], level: int = 0) -> str:
        """The text of an expression with its axes in an order, of which it may lack some: those have length 1."""
        mine = tuple(axis for axis in order if axis in code.axes)
        text, bound = code.text, code.level
        if mine != code.axes:
            positions = tuple(code.axes.index(axis) for axis in mine)
            swapped = len(mine) == 2
            text = f"{code.within(ATOM)}.T" if swapped else self.library_text("transpose", code.text, str(positions))
            bound = ATOM
        first = min((index for index, axis in enumerate(order) if axis in mine), default=len(order))
        if mine and any(axis not in mine for axis in order[first:]):
            inner = text if bound >= ATOM else f"({text})"
            text, bound = f"{inner}[{', '.join(':' if axis in mine else 'None' for axis in order[first:])}]", ATOM
        return text if bound >= level else f"({text})"

    def library_text(self, name: str, *operands: str, **words: Any) -> str:
        text = template(self.library, name)
        assert text is not None
        return text.format(*operands, **words)

    def function(self) -> str:
        """The whole: imports, helpers, and the function."""
        code = self.code(self.root)
        result = tuple(self.root.shape)
        if {*code.axes} != {*result}:
            text = self.broadcast(code, result)
        else:
            text = self.arranged(code, result)
        lines = [*self.lines, (f"return {text}", result)]
        width = max((len(line) for line, axes in lines if axes and len(line) < 60), default=0)
        body = [
            f"    {line.ljust(width)}  # {' × '.join(map(source_name, axes))}" if axes else f"    {line}"
            for line, axes in lines
        ]
        definitions = [helper(self.library, name) + "\n" for name in self.helpers]
        head = f"def function({', '.join(self.inputs.values())}):"
        return (
            "\n".join([*self.library.imports, "\n", *(f"{definition}\n" for definition in definitions), head, *body])
            + "\n"
        )

    def broadcast(self, code: CodeExpression, order: Sequence[str], shape: Mapping[str, Any] | None = None) -> str:
        """The text of an expression repeated along the axes that it lacks."""
        shape = resolved_shape(shape or self.root.shape)
        sizes = ", ".join(str(shape[axis]) for axis in order)
        text = self.arranged(code, order)
        if not code.axes and code.level == ATOM and re.fullmatch(r"[\d.]+", text):
            text = self.library_text("array", text)
        return f"{self.library.prefix}.broadcast_to({text}, ({sizes}{',' * (len(order) == 1)}))"


def identifier(text: str) -> str:
    """A name of the notation as one of Python: W^{l} as W_l, x' as x_, 𝐱 as x."""
    word = re.sub(r"\W+", "_", text.replace("'", "_prime")).strip("_")
    return word if word.isidentifier() and not keyword.iskeyword(word) else f"v_{word}".strip("_")


def named_terms(checker: Checker) -> dict[int, str]:
    """The tensors that equations of a program name, by their terms; those of functions are computed where they are used."""
    last = {places(env): term for node, term, env in checker.trace[: checker.steps] if not isinstance(node, Number)}
    functions = checker.scope.functions
    return {
        id(term): locations[-1].name
        for locations, term in last.items()
        if locations
        and term.operator not in ("input", "number")
        and not any(key(location.name).base in functions for location in locations)
    }


def readable_code(library: str, root: Term, names: Mapping[int, str], inputs: Sequence[str]) -> str:
    """The source text of a function of arrays, to be read: its parameters are the inputs that it uses, in their order.

    Raises Unreadable where an operator has no such form.
    """
    taken: dict[str, str] = {}
    used = {str(term.options[-1]) for term in topological(root) if term.operator == "input"}
    for name in filter(used.__contains__, inputs):
        word = base = identifier(name)
        number = 2
        while word in taken.values():
            word, number = f"{base}{number}", number + 1
        taken[name] = word
    return Writer(LIBRARIES[library], root, names, taken).function()
