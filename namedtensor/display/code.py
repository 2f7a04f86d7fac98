"""A formula as code that a person reads: its own names and parts, in NumPy, PyTorch, JAX, or as loops of plain Python.

    def function(Q, K, V):
        scores = K @ Q / np.sqrt(2)  # seq
        weights = softmax(scores, axis=0)  # seq
        return weights @ V  # val

What runs fast is `to_python`; this is what one writes by hand. All of these targets have the same statements.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError
from grammar.nodes import Number

from ..scope.names import key
from ..terms.terms import Term, resolved_shape
from .code_libraries import ATOM, LIBRARIES, CodeExpression
from .code_loops import LoopWriter
from .code_rules import RULES
from .code_statements import Statement
from .code_writer import CodeLine, ReadableCode, Writer, span_of
from .steps import places

if TYPE_CHECKING:
    from ..checking.checker import Checker


class ArrayWriter(Writer):
    """Writes a statement as an expression of whole arrays."""

    def code(self, term: Term) -> CodeExpression:
        """The expression of a term, or the name of its statement."""
        if id(term) not in self.written:
            rule = RULES.get(term.operator)
            if rule is None:
                raise self.unreadable(term)
            self.written[id(term)] = rule(self, term)
        return self.written[id(term)]

    def assign(self, statement: Statement) -> None:
        term, name = statement
        code = self.code(term)
        self.lines.append(CodeLine(f"{name} = {code.text}", code.axes, span_of(term)))
        self.written[id(term)] = CodeExpression(name, code.axes, integer=code.integer)

    def give_back(self) -> None:
        code, result = self.code(self.root), tuple(self.root.shape)
        whole = {*code.axes} == {*result}
        text = self.arranged(code, result) if whole else self.broadcast(code, result)
        self.lines.append(CodeLine(f"return {text}", result, span_of(self.root)))

    def arranged(self, code: CodeExpression, order: Sequence[str], level: int = 0) -> str:
        """The text of an expression with its axes in an order, of which it may lack some: those have length 1."""
        mine = tuple(axis for axis in order if axis in code.axes)
        text, bound = code.text, code.level
        if mine != code.axes:
            positions = tuple(code.axes.index(axis) for axis in mine)
            swapped = len(mine) == 2
            text = f"{code.within(ATOM)}.T" if swapped else self.call(self.root, "transpose", code.text, str(positions))
            bound = ATOM
        first = min((index for index, axis in enumerate(order) if axis in mine), default=len(order))
        if mine and any(axis not in mine for axis in order[first:]):
            inner = text if bound >= ATOM else f"({text})"
            text, bound = f"{inner}[{', '.join(':' if axis in mine else 'None' for axis in order[first:])}]", ATOM
        return text if bound >= level else f"({text})"

    def broadcast(self, code: CodeExpression, order: Sequence[str], shape: Mapping[str, Any] | None = None) -> str:
        """The text of an expression repeated along the axes that it lacks."""
        shape = resolved_shape(shape or self.root.shape)
        sizes = ", ".join(str(shape[axis]) for axis in order)
        text = self.arranged(code, order)
        if not code.axes and code.level == ATOM and re.fullmatch(r"[\d.]+", text):
            text = self.call(self.root, "array", text)
        return f"{self.library.prefix}.broadcast_to({text}, ({sizes}{',' * (len(order) == 1)}))"


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


def readable_code(library: str, root: Term, names: Mapping[int, str], inputs: Sequence[str]) -> ReadableCode:
    """The source text of a function of arrays, to be read: its parameters are the inputs that it uses, in their order.

    Raises NotationError where there is no such library, and UnreadableFormula where an operator has no such form.
    """
    if library not in LIBRARIES:
        raise NotationError(408, f"unknown backend {library!r}", hint=f"available: {', '.join(LIBRARIES)}")
    writer = LoopWriter if library == "loops" else ArrayWriter
    return writer(LIBRARIES[library], root, names, inputs).function()
