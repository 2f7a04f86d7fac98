"""The base of all writers of readable code: the lines of a function, its names, and operator templates."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from grammar.errors import Span

from ..terms.environment import source_name
from ..terms.terms import Term, topological
from .code_libraries import ATOM, HELPERS, LOOPS, PRODUCT, CodeExpression, Library, helper, repeats, template
from .code_statements import CodeStatement, Names, UnreadableFormulaError, identifier, statements

RESERVED = ("abs", "float", "int", "max", "min", "range", "round", "sorted")  # functions of Python that loops call
MAX_CHARS_BEFORE_COMMENT = 60


class CodeLine(NamedTuple):
    """A line of a function: its text, the axes of its result, and the span of the formula that it computes."""

    text: str
    axes: tuple[str, ...] = ()
    span: Span | None = None


class ReadableCode(NamedTuple):
    """The source text of a function, and for each line the span of the formula that it computes, if any."""

    text: str
    spans: tuple[Span | None, ...]


class Writer(ABC):
    """The base class of the writers. Each writer is for one library, and has one rule for each operator.

    `names` maps the ids of terms to the names that equations define.
    """

    def __init__(
        self, library: Library, rules: Mapping[str, Any], root: Term, names: Mapping[int, str], inputs: Sequence[str]
    ):
        self.library, self.rules, self.root = library, rules, root
        terms = topological(root)
        self.local = Names({line.split()[-1] for line in library.imports} | {*RESERVED})
        used = {str(term.options[-1]) for term in terms if term.operator == "input"}
        self.inputs = {name: self.local.fresh(name) for name in inputs if name in used}
        if library is LOOPS:
            self.local.taken |= {identifier(source_name(axis)) for term in terms for axis in term.shape}
        self.statements = statements(root, names, library, self.local)
        self.names = names
        self.lines: list[CodeLine] = []
        self.written = {
            id(term): CodeExpression(self.inputs[term.options[-1]], tuple(term.shape))
            for term in terms
            if term.operator == "input" and term.options[-1] in self.inputs
        }
        self.helpers: dict[str, None] = {}
        self.dtype = ""  # of the floats among the inputs, as an expression

    def has_a_line(self, term: Term) -> bool:
        return any(term is statement.term for statement in self.statements)

    @abstractmethod
    def code(self, term: Term) -> CodeExpression:
        """Return the expression of a term."""

    @abstractmethod
    def arranged(self, code: CodeExpression, order: Sequence[str]) -> CodeExpression:
        """Return an operand with its axes in a given order, even if it lacks some of these axes."""

    @abstractmethod
    def assign(self, statement: CodeStatement) -> None:
        """Write the lines that compute a statement, and record its name in `written` for use in other lines."""

    @abstractmethod
    def give_back(self) -> None:
        """Write the last lines of the function, which return its result."""

    def rule(self, term: Term) -> Any:
        """Return the rule for a term's operator.

        A rule is a function that returns code, given this writer and a term.
        """
        if term.operator not in self.rules:
            raise self.unreadable(term)
        return self.rules[term.operator]

    def unreadable(self, term: Term, why: str = "") -> UnreadableFormulaError:
        hint = 'choose "numpy"' if self.library is LOOPS else 'choose style="function"'
        return UnreadableFormulaError(
            405, why or f"{term.operator} has no readable form {self.library.title}", hint=hint
        )

    def call(
        self, term: Term, name: str, axes: Sequence[str], *operands: CodeExpression | str, integer: bool = False,
        **words: Any,
    ) -> CodeExpression:  # fmt: skip
        """Return a call of an operator, which is the library's template filled in with the operands."""
        text = template(self.library, name)
        if text is None:
            raise self.unreadable(term)
        for word in re.findall(r"\b(\w+)\(", text):
            if word in HELPERS and f".{word}(" not in text:
                self.helpers[word] = None
        words["dtype"] = self.dtype or self.library.default_dtype
        words["typed"] = f", dtype={self.dtype}" if self.dtype else ""
        level = PRODUCT if repeats(self.library, name) or text.startswith("-") else ATOM
        codes = (CodeExpression(operand) if isinstance(operand, str) else operand for operand in operands)
        return CodeExpression(text.format(*codes, **words), tuple(axes), level, integer)

    def real(self, code: CodeExpression) -> CodeExpression:
        """Return an expression for use with floats. An array of integers is converted to the dtype of floats."""
        if not code.integer or not code.axes or self.library is LOOPS:
            return code
        return self.call(self.root, "float", code.axes, code)

    def function(self, narrow: Sequence[str] = (), floating: Sequence[str] = ()) -> ReadableCode:
        """Return the whole function, with its imports and helpers. It begins with conversions of narrow integers.

        The dtype of constants is the dtype of the first input in `floating` that the formula does not use as an index.
        """
        indices = {str(term.arguments[at].options[-1]) for term in topological(self.root)
                   for at in ([1] if term.operator == "index" else [0] if term.operator == "onehot" else [])
                   if term.arguments[at].operator == "input"}  # fmt: skip
        used = (self.inputs[name] for name in floating if name in self.inputs and name not in indices)
        self.dtype = next((f"{name}.dtype" for name in used), "")
        if self.library is not LOOPS:  # integers of Python have as many bits as they need
            for name in (self.inputs[name] for name in narrow if name in self.inputs):
                self.lines.append(CodeLine(f"{name} = {self.call(self.root, 'integer', (), name)}"))
        for statement in self.statements:
            self.assign(statement)
        self.give_back()
        lengths = [len(line.text) for line in self.lines if line.axes and len(line.text) < MAX_CHARS_BEFORE_COMMENT]
        width = max(lengths, default=0)
        comments = [f"  # {' × '.join(map(source_name, line.axes))}" if line.axes else "" for line in self.lines]
        body = [f"    {line.text.ljust(width)}{text}".rstrip() for line, text in zip(self.lines, comments)]
        head = [line for name in self.helpers for line in (*helper(self.library, name).splitlines(), "", "")]
        if self.library is not LOOPS or any("math." in line for line in (*head, *body)):
            head = [*self.library.imports, "", "", *head]
        head.append(f"def function({', '.join(self.inputs.values())}):")
        return ReadableCode(
            "\n".join([*head, *body]) + "\n", (*[None] * len(head), *(line.span for line in self.lines))
        )


def span_of(term: Term) -> Span | None:
    span = getattr(term.node, "span", None)
    return None if span == (0, 0) else span
