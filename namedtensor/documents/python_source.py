"""Formulas in a Python file, that is, strings passed to functions of this package, with character positions.

    import namedtensor as nt
    nt.evaluate("softmax_{seq} X", X=X)       a formula whose inputs are all named
    block = nt.program('''Y = 2 X''')         a program whose inputs come later

The file is parsed but not run. An argument that is not a string constant, such as an f-string or a variable, is skipped
with a reason.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from grammar.errors import Span

from .formula_checks import NO_INPUTS, KnownInputs

PACKAGE = "namedtensor"
ONE, TWO = (0,), (0, 1)
VERBS = {  # the functions that accept formulas, with the positions of these arguments
    **dict.fromkeys(
        "evaluate explain check formula program Formula Program compile cost derivative diagram".split(), ONE
    ),
    **dict.fromkeys("init parameters prove gradient to_text to_latex to_python to_javascript to_einsum".split(), ONE),
    "equivalent": TWO,
}
COMPLETE = ("evaluate", "explain", "check")  # which are given all inputs by name
OPTIONS = frozenset("sizes syntax strict limits library dtype enable disable trials given seed wrt".split())
LINE_END = re.compile(r"\r\n?|\n")  # a line end as Python counts lines, so not a form feed
UNREADABLE = 4  # attempts to parse a file; each later attempt leaves out an invalid line


class FormulaString(NamedTuple):
    """A formula in a Python file: the function that it is passed to, its text, and its characters' positions."""

    verb: str
    text: str
    places: tuple[Span, ...]  # of each character in the file, and an empty one at the end
    inputs: KnownInputs = NO_INPUTS
    syntax: str = "auto"

    @property
    def span(self) -> Span:
        return self.places[0][0], self.places[-1][1]

    def place(self, span: Span) -> Span:
        """Return the file's span for a span of the formula."""
        start, end = (max(0, min(at, len(self.text))) for at in span)
        return self.places[start][0], self.places[end - 1][1] if end > start else self.places[start][0]

    def inside(self, offset: int) -> int | None:
        """Return the formula's offset for an offset in the file, or None if there is no such offset.

        The result is None between the literals of the formula, and within an escape sequence.
        """
        return next((at for at, (start, _) in enumerate(self.places) if start == offset), None)


class SkippedString(NamedTuple):
    """An argument that is skipped, since it cannot be read as a formula, and the reason."""

    verb: str
    span: Span
    reason: str


def formulas_in(source: str, lenient: bool = False) -> list[FormulaString | SkippedString]:
    """Return the formulas and skipped arguments that a Python file passes to the package's functions, in source order.

    Raise SyntaxError if the file is invalid. If `lenient`, ignore a few invalid lines, which occur while a user types.
    """
    tree = parse_python(source, UNREADABLE if lenient else 1)
    return [*PythonSource(source, tree).formulas()]


def parse_python(source: str, tries: int) -> ast.Module:
    """Parse a Python file, with up to `tries` attempts. After a failed attempt, `pass` replaces the invalid line.

    Raise SyntaxError if no attempt succeeds.
    """
    first: SyntaxError | None = None
    for _ in range(tries):
        try:
            return ast.parse(source)
        except SyntaxError as problem:
            first = first or problem
            lines = source.split("\n")
            at = (problem.lineno or 0) - 1
            if not 0 <= at < len(lines) or not lines[at].strip():
                break
            indent = len(lines[at]) - len(lines[at].lstrip())
            blank = lines[at][:indent] + "pass"
            lines[at] = blank[: len(lines[at])].ljust(len(lines[at]))
            source = "\n".join(lines)
        except (ValueError, RecursionError, MemoryError) as problem:  # a NUL, or nested too deep
            raise SyntaxError(str(problem)) from None
    raise first or SyntaxError("not Python")


class PythonSource:
    """A Python file: its tree, its names for this package, and the variables whose axes or text are known."""

    def __init__(self, source: str, tree: ast.Module):
        self.source, self.tree = source, tree
        self.starts = [0, *(ending.end() for ending in LINE_END.finditer(source))]
        self.packages: set[str] = set()  # nt of `import namedtensor as nt`
        self.functions: dict[str, str] = {}  # by their names in the file: program of `from namedtensor import program`
        self.tensors: dict[str, Any] = {}  # the shapes of variables that are assigned once
        self.constants: dict[str, ast.expr] = {}  # the strings of such variables
        self.nodes = [*ast.walk(tree)]
        self._imports()
        if self.packages or self.functions:
            self._record_assignment()

    def _imports(self) -> None:
        for node in self.nodes:
            if isinstance(node, ast.Import):
                self.packages |= {name.asname or name.name for name in node.names if name.name == PACKAGE}
            elif isinstance(node, ast.ImportFrom) and node.module == PACKAGE and not node.level:
                self.functions |= {name.asname or name.name: name.name for name in node.names}

    def called(self, node: ast.Call) -> str | None:
        """Return the name of the package's function that is called, or None if the call is of another function."""
        function = node.func
        if isinstance(function, ast.Name):
            return self.functions.get(function.id)
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            return function.attr if function.value.id in self.packages else None
        return None

    def _record_assignment(self) -> None:
        """Record each variable that is assigned once to a string, or to nt.tensor(…, axes) with known axes."""
        stored = Counter(node.arg for node in self.nodes if isinstance(node, ast.arg))
        stored.update(node.id for node in self.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        for node in self.nodes:
            if not isinstance(node, ast.Assign) or len(node.targets) > 1:
                continue
            target = node.targets[0]
            if isinstance(target, ast.Name) and stored[target.id] == 1:
                if (shape := self._shape(node.value)) is not None:
                    self.tensors[target.id] = shape
                elif isinstance(_constant(node.value), str):
                    self.constants[target.id] = node.value

    def _shape(self, value: ast.expr) -> dict[str, int | None] | None:
        """Return the shape of the tensor that nt.tensor(literal, axes) creates, or None for other expressions.

        Sizes that the literal does not state are None.
        """
        if not isinstance(value, ast.Call) or self.called(value) != "tensor" or len(value.args) < 2:
            return None
        axes = _constant(value.args[1])
        if not isinstance(axes, str):
            return None
        names = axes.replace(",", " ").split()
        sizes: list[int | None] = []
        inner: Any = value.args[0]
        for _ in names:
            rows = inner.elts if isinstance(inner, (ast.List, ast.Tuple)) and inner.elts else None
            sizes.append(None if rows is None else len(rows))
            inner = rows[0] if rows else None
        return dict(zip(names, sizes)) if names and len(set(names)) == len(names) else None

    # ------------------------------------------------------------------------------------------------------- formulas
    def formulas(self) -> Iterator[FormulaString | SkippedString]:
        """Yield the formulas and the skipped arguments in the order of the file."""
        seen: set[Span] = set()
        calls = [(node, verb) for node in self.nodes if isinstance(node, ast.Call) and (verb := self.called(node))]
        for node, verb in sorted(calls, key=lambda pair: (pair[0].lineno, pair[0].col_offset)):
            for position in VERBS.get(verb, ()):
                if position < len(node.args):
                    formula = self._formula(verb, node, node.args[position])
                    if formula is not None and formula.span not in seen:  # a constant may be used by several calls
                        seen.add(formula.span)
                        yield formula

    def _formula(self, verb: str, call: ast.Call, argument: ast.expr) -> FormulaString | SkippedString | None:
        constant = self.constants.get(argument.id) if isinstance(argument, ast.Name) else None
        argument = argument if constant is None else constant
        span = self.span(argument)
        if isinstance(argument, ast.JoinedStr):
            return SkippedString(verb, span, "an f-string, whose text is known only when it runs")
        text = _constant(argument)
        if not isinstance(text, str):
            is_value = isinstance(argument, ast.Constant)
            return None if is_value else SkippedString(verb, span, "not a string constant")
        places = places_of(self.source, span, text)
        if places is None:
            return SkippedString(verb, span, "a string whose characters cannot be located")
        formula = self._with_inputs(FormulaString(verb, text, places), call)
        return formula if constant is None else formula._replace(inputs=formula.inputs._replace(complete=False))

    def _with_inputs(self, formula: FormulaString, call: ast.Call) -> FormulaString:
        """Return a formula with the shapes of the inputs that its call passes."""
        given: dict[str, ast.expr] = {}
        complete = formula.verb in COMPLETE and not any(isinstance(argument, ast.Starred) for argument in call.args)
        values = call.args[1] if formula.verb in COMPLETE and len(call.args) > 1 else None
        options: dict[str, ast.expr] = {}
        for keyword in call.keywords:
            if keyword.arg is None or keyword.arg == "values" and formula.verb not in COMPLETE:
                complete = False
            elif keyword.arg in OPTIONS:
                options[keyword.arg] = keyword.value
            else:
                given[keyword.arg] = keyword.value
        if isinstance(values, ast.Dict) and all(
            isinstance(_constant(argument), str) for argument in values.keys if argument
        ):
            complete = complete and None not in values.keys
            given |= {_constant(key): argument for key, argument in zip(values.keys, values.values) if key is not None}
        elif values is not None:
            complete = False
        shapes = {name: shape for name, value in given.items() if (shape := self._given_shape(value)) is not None}
        syntax = _constant(options.get("syntax"))
        sizes = _sizes(options.get("sizes"))
        inputs = KnownInputs(shapes, sizes, frozenset(given.keys() - shapes.keys()), complete)
        return formula._replace(inputs=inputs, syntax=syntax if syntax in ("text", "latex") else "auto")

    def _given_shape(self, value: ast.expr) -> Any:
        """Return the shape of an input given as a type, number or variable with known axes, or None for others."""
        if isinstance(value, ast.Name):
            return self.tensors.get(value.id)
        constant = _constant(value)
        if isinstance(constant, str):
            return constant
        return {} if isinstance(constant, (int, float)) and not isinstance(constant, bool) else self._shape(value)

    def span(self, node: ast.expr) -> Span:
        """Return the span of an expression in characters, converted from Python's columns, which count bytes."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._find_offset(node.lineno, node.col_offset), self._find_offset(node.end_lineno, node.end_col_offset)

    def _find_offset(self, line: int, column: int) -> int:
        start = self.starts[line - 1]
        text = self.source[start : self.starts[line] if line < len(self.starts) else len(self.source)]
        return start + (column if text.isascii() else len(text.encode()[:column].decode(errors="ignore")))


def _constant(node: Any) -> Any:
    return node.value if isinstance(node, ast.Constant) else None


def _sizes(node: Any) -> dict[str, int]:
    if not isinstance(node, ast.Dict):
        return {}
    pairs = [(_constant(key), _constant(value)) for key, value in zip(node.keys, node.values)]
    return {key: value for key, value in pairs if isinstance(key, str) and type(value) is int and value >= 0}


# ----------------------------------------------------------------------------------------------- places in the literals
LITERAL = re.compile(
    r"""#[^\n]*|(?P<prefix>[rRuUbB]{0,2})(?P<quote>\"{3}|'{3}|"|')(?P<body>(?:\\.|.)*?)(?P=quote)""", re.DOTALL
)
ESCAPE = re.compile(
    r"\\(?:\r?\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|.)|\r\n?|.", re.DOTALL
)
CHARACTER = re.compile(r"\r\n?|.", re.DOTALL)  # of a raw string


def places_of(source: str, span: Span, text: str) -> tuple[Span, ...] | None:
    r"""Return the source span of each character of a string, and the end of the string, or None if these are unclear.

    The string can consist of several adjacent literals.

    >>> places_of(r'f("a\tb" "c")', (2, 12), "a\tbc")
    ((3, 4), (4, 6), (6, 7), (10, 11), (11, 11))
    """
    places: list[Span] = []
    characters: list[str] = []
    end = span[0]
    for literal in LITERAL.finditer(source, *span):
        if literal["quote"]:
            pieces = CHARACTER if "r" in literal["prefix"].lower() else ESCAPE
            for piece in pieces.finditer(source, *literal.span("body")):
                shown = _unescape(piece[0]) if pieces is ESCAPE else piece[0].replace("\r\n", "\n").replace("\r", "\n")
                places += [piece.span()] * len(shown)
                characters.append(shown)
            end = literal.end("body")
    return (*places, (end, end)) if "".join(characters) == text else None


def _unescape(piece: str) -> str:
    if piece[0] != "\\":
        return "\n" if piece[0] == "\r" else piece
    try:
        return ast.literal_eval(f'"{piece}"' if piece != '\\"' else "'\"'")
    except (SyntaxError, ValueError):
        return piece
