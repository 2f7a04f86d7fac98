"""Statements as nested loops over nested lists in plain Python.

    def function(Q, K):
        scores = [0.0] * 5  # seq
        for seq in range(5):
            total = 0
            for key in range(4):
                total += Q[key] * K[seq][key]
            scores[seq] = total / math.sqrt(4)
        …

Within a statement, no array is created. Each element is computed at its use. A value that several elements share is
computed once, in the outermost loop that defines all of its indices.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..terms.environment import source_name
from ..terms.terms import Term, resolve_shape
from .code_libraries import RELATION, CodeExpression
from .code_statements import CodeStatement, Names, find_unused_name
from .code_writer import CodeLine, Writer, span_of

Indices: TypeAlias = Mapping[str, CodeExpression]  # the index of the current element along each axis


@dataclass
class Block:
    """The body of a loop: its lines, the indices defined in it, and the results that its lines compute."""

    indices: frozenset[str] = frozenset()
    lines: list[CodeLine] = field(default_factory=list[CodeLine])
    numbers: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])


class LoopWriter(Writer):
    """A writer of statements as nested loops over their axes; `at` contains the indices of the current element."""

    at: Indices

    # ------------------------------------------------------------------------------------------------------ one element
    def code(self, term: Term) -> CodeExpression:
        """Return the expression for the current element of a term."""
        if id(term) in self.written:
            return self.element(self.written[id(term)].text, term.shape)
        return self.rule(term)(self, term)

    def code_at(self, term: Term, at: Indices) -> CodeExpression:
        return self.read(at, lambda: self.code(term))

    def read(self, at: Indices, compute: Callable[[], Any]) -> Any:
        """Call `compute` with `at` as the current indices, and return its result."""
        before, self.at = self.at, at
        result = compute()
        self.at = before
        return result

    def element(self, name: str, axes: Iterable[str]) -> CodeExpression:
        """Return the current element of a named list with these axes."""
        at = [self.at[axis] for axis in axes]
        indices = dict.fromkeys(index for code in at for index in code.axes)
        return CodeExpression(name + "".join(f"[{code.text}]" for code in at), (*indices,))

    def arranged(self, code: CodeExpression, order: Iterable[str]) -> CodeExpression:
        return code

    def list_of(self, term: Term, numbers: Any) -> CodeExpression:
        """Write a list of plain numbers before all loops, and return the current element of the list."""
        name = self.local.fresh("numbers")
        self.lines.append(CodeLine(f"{name} = {numbers!r}", tuple(term.shape), span_of(term)))
        self.written[id(term)] = CodeExpression(name)
        return self.code(term)

    # ------------------------------------------------------------------------------------ values that elements share
    def shared(self, term: Term, name: str, compute: Callable[[], Any]) -> Any:
        """Return the result of `compute`, which all elements along the axes of a term share.

        The result is computed in the outermost block that defines the term's other indices.
        """
        others = {axis: self.at[axis] for axis in term.shape if axis not in term.axes}
        mark = (id(term), name, *(code.text for code in others.values()))
        for block in self.blocks:
            if mark in block.numbers:
                return block.numbers[mark]
        needed = {index for code in others.values() for index in code.axes}
        depth = next(depth for depth, block in enumerate(self.blocks) if needed <= block.indices)
        inner, self.blocks = self.blocks[depth + 1 :], self.blocks[: depth + 1]
        result = self.blocks[-1].numbers[mark] = self.read(others, compute)
        self.blocks = [*self.blocks, *inner]
        return result

    def line(self, term: Term, name: str, text: str) -> CodeExpression:
        """Write a line that assigns an expression to a new name, and return this name."""
        name = self.numbers.fresh(name)
        self.blocks[-1].lines.append(CodeLine(f"{name} = {text}", (), span_of(term)))
        return CodeExpression(name, (*self.blocks[-1].indices,))

    def total(
        self, term: Term, name: str, start: str, step: str, element: Callable[[], CodeExpression], ends: Mapping[str, str] | None = None,
    ) -> CodeExpression:  # fmt: skip
        """Write loops over the axes of a term that accumulate a number, and return the number's name.

        In `step`, {0} is the name of the number, and {1} is an element.
        """
        ends = ends or {axis: str(size) for axis, size in extents(term).items() if axis in term.axes}
        lines: list[CodeLine] = []
        with self.loops(ends, lines) as indices:
            text = self.read({**self.at, **indices}, element).within(RELATION)
            name = self.numbers.fresh(name)
            self.blocks[-1].lines.append(CodeLine(step.format(name, text), (), span_of(term)))
        self.blocks[-1].lines += [CodeLine(f"{name} = {start}", (), span_of(term)), *lines]
        return CodeExpression(name, (*self.blocks[-1].indices,))

    @contextmanager
    def loops(self, ends: Mapping[str, str], lines: list[CodeLine]) -> Generator[dict[str, CodeExpression]]:
        """Open a context that provides the indices of nested loops, and write these loops to `lines` at its end."""
        outer, indices = len(self.blocks), dict[str, CodeExpression]()
        for axis in ends:
            index = self.index(axis)
            indices[axis] = CodeExpression(index, (index,), integer=True)
            self.blocks.append(Block(self.blocks[-1].indices | {index}))
        yield indices
        for axis, end in [*ends.items()][::-1]:
            inside = self.blocks.pop().lines
            target = lines if len(self.blocks) == outer else self.blocks[-1].lines
            target.append(CodeLine(f"for {indices[axis].text} in range({end}):"))
            target += [line._replace(text=f"    {line.text}") for line in inside]

    def index(self, axis: str) -> str:
        """Return an index name for an axis that no enclosing loop uses."""
        taken = {*self.inputs.values()}.union(*(block.indices for block in self.blocks))
        return find_unused_name(source_name(axis), taken)

    # -------------------------------------------------------------------------------------------------------- statements
    def assign(self, statement: CodeStatement) -> None:
        (term, name), before = statement, len(self.lines)
        text = self.computed(term, name)
        if text in self.numbers.taken - self.local.taken:  # The number that the loops computed gets this name.
            new = [line._replace(text=re.sub(rf"\b{text}\b", name, line.text)) for line in self.lines[before:]]
            self.lines[before:] = new
        elif text != name:
            self.lines.append(CodeLine(f"{name} = {text}", (), span_of(term)))
        self.written[id(term)] = CodeExpression(name)

    def give_back(self) -> None:
        term = self.root
        while term.operator == "rename" and is_in_order(term):
            (term,) = term.arguments
        name = self.written[id(term)].text if id(term) in self.written else None
        text = name or self.computed(
            self.root, self.local.fresh(self.names.get(id(self.root), "result")) if self.root.shape else ""
        )
        self.lines.append(CodeLine(f"return {text}", (), span_of(self.root)))

    def computed(self, term: Term, name: str) -> str:
        """Write the lines that compute a term, and return the text of its value.

        The text is `name` if the value has axes.
        """
        self.blocks, self.numbers = [Block()], Names(self.local.taken)
        sizes = resolve_shape(term.shape)
        lines: list[CodeLine] = []
        if sizes:
            lines.append(CodeLine(f"{name} = {zeros(*sizes.values())}", tuple(sizes), span_of(term)))
        with self.loops({axis: str(size) for axis, size in sizes.items()}, lines) as self.at:
            text = self.code(term).text
            if sizes:
                self.blocks[-1].lines.append(CodeLine(f"{self.element(name, sizes).text} = {text}", (), span_of(term)))
        self.lines += [*self.blocks[0].lines, *lines]
        return name if sizes else text


def extents(term: Term) -> dict[str, int]:
    """Return the sizes of all axes that the arguments of a term have."""
    return {axis: size for argument in term.arguments for axis, size in resolve_shape(argument.shape).items()}


def is_in_order(term: Term) -> bool:
    """Return whether a rename leaves the axes in the same order."""
    names = dict(term.options)
    return [names.get(axis, axis) for axis in term.arguments[0].shape] == [*term.shape]


def zeros(size: int, *others: int) -> str:
    """Return code for nested lists of zeros with the given lengths."""
    return f"[{zeros(*others)} for _ in range({size})]" if others else f"[0.0] * {size}"
