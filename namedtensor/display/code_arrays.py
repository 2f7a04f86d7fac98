"""Statements as expressions of whole arrays, one a line; see `code`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..terms.terms import Term, resolved_shape
from .code_libraries import ATOM, CodeExpression
from .code_statements import CodeStatement
from .code_writer import CodeLine, Writer, span_of


class ArrayWriter(Writer):
    """Writes a statement as an expression of whole arrays."""

    def code(self, term: Term) -> CodeExpression:
        """The expression of a term, or the name of its statement."""
        if id(term) not in self.written:
            self.written[id(term)] = self.rule(term)(self, term)
        return self.written[id(term)]

    def assign(self, statement: CodeStatement) -> None:
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
