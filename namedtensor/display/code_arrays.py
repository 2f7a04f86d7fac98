"""Array code, that is, statements as expressions of whole arrays, one statement per line. See `code`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..terms.terms import Term, resolve_shape
from .code_libraries import ATOM, CodeExpression
from .code_statements import CodeStatement
from .code_writer import CodeLine, Writer, span_of


class ArrayWriter(Writer):
    """A writer of statements as expressions of whole arrays."""

    def code(self, term: Term) -> CodeExpression:
        """Return the expression of a term. If the term has its own line, the expression is just its name."""
        if id(term) not in self.written:
            self.written[id(term)] = self.rule(term)(self, term)
        return self.written[id(term)]

    def assign(self, statement: CodeStatement) -> None:
        term, name = statement
        code = self.code(term)
        self.lines.append(CodeLine(f"{name} = {code}", code.axes, span_of(term)))
        self.written[id(term)] = CodeExpression(name, code.axes, integer=code.integer)

    def give_back(self) -> None:
        code, result = self.code(self.root), tuple(self.root.shape)
        whole = {*code.axes} == {*result}
        text = self.arranged(code, result) if whole else self.broadcast(code, result)
        self.lines.append(CodeLine(f"return {text}", result, span_of(self.root)))

    def arranged(self, code: CodeExpression, order: Sequence[str]) -> CodeExpression:
        """Return an expression with its axes in a given order.

        Missing axes that come after an axis of the expression are added with length 1.
        """
        mine = tuple(axis for axis in order if axis in code.axes)
        if mine != code.axes:
            positions = tuple(code.axes.index(axis) for axis in mine)
            if len(mine) == 2:
                code = CodeExpression(f"{code:atom}.T", mine, integer=code.integer)
            else:
                code = self.call(self.root, "transpose", mine, code, f"{positions}", integer=code.integer)
        first = min((index for index, axis in enumerate(order) if axis in mine), default=len(order))
        if mine and any(axis not in mine for axis in order[first:]):
            places = ", ".join(":" if axis in mine else "None" for axis in order[first:])
            code = CodeExpression(f"{code:atom}[{places}]", mine, integer=code.integer)
        return code

    def broadcast(self, code: CodeExpression, order: Sequence[str], shape: Mapping[str, Any] | None = None) -> str:
        """Return the text of an expression that is repeated along the axes of `order` that it lacks."""
        shape = resolve_shape(shape or self.root.shape)
        sizes = ", ".join(str(shape[axis]) for axis in order)
        code = self.arranged(code, order)
        if not code.axes and code.level == ATOM and re.fullmatch(r"[\d.]+", code.text):
            code = self.call(self.root, "array", (), code)
        return f"{self.library.prefix}.broadcast_to({code}, ({sizes}{',' * (len(order) == 1)}))"
