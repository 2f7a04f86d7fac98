"""The reader of matrix and index notation, which translates each line to a value with named axes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from grammar.errors import NotationError
from grammar.latex.macros import DEFINES, OUTER, expand, scan

from . import matrix_calls  # noqa: F401 — it registers the rules of trees
from .axes import Axes, AxisVariable
from .backward_indices import with_lengths
from .formula_writing import FormulaLine, TranslatedProgram
from .indices import (
    IndexLetters,
    canonical,
    ends_at_letters,
    entries_in,
    find_letters_below,
    from_ends,
    head_letters,
    is_letter,
    letters_of,
    spell,
    split_indices,
    with_axes,
    with_ends,
    with_numbers,
)
from .inputs import SourceInput, inputs_of
from .matrices import Walk
from .matrix_leaves import Choose, Matrix, node_of
from .refusals import make_refusal
from .source_tree import COUNTING, Statement, Tree, end_of
from .tokens import END, NAME, SIGN, SourceToken, tokens_of
from .trees import SourceParser
from .values import Leaf

LINES = re.compile(r"\n|\\\\(?:\[-?[\d.]+\w+\])?|;")
DISPLAYS = re.compile(
    rf"(?<!\\)\\(?:[\[\]()]|(?:begin|end)\{{(?:{'|'.join(OUTER)})\*?\}}|(?:label|tag)\{{[^{{}}]*\}})"
)  # macros around formulas
EXPRESSIONS = {"product", "after /", "·", "∘", "*", "⊙", "⊗", "×", "@", "+", "-", "/", "negative", "big", "inverse"}
DECLARED = re.compile(
    r"(?:\b(?:where|with|for|and)\b|,)?\s*(?P<name>\\?[^\W\d_]\w*(?:_\{?\w+\}?)?)\s*(?:∈|\\in\b)\s*(?:ℝ|\\mathbb\s*\{?R\}?|\\R\b)"
    r"(?:\s*\^\s*(?:\{(?P<braced>[^{}]*)\}|(?P<bare>\w)))?\s*,?"
)


def split_declarations(source: str) -> tuple[str, dict[str, str]]:
    """Return the source with blanks in place of declarations such as A ∈ ℝ^{m×n}, and the declared axes by name."""
    shapes: dict[str, str] = {}
    if "∈" not in source and "\\in" not in source:
        return source, shapes

    def take(match: re.Match[str]) -> str:
        axes = match["braced"] or match["bare"] or ""
        shapes[canonical(match["name"])] = " ".join(re.split(r"\s*(?:×|\\times|,)\s*|\s+", axes.strip()))
        return " " * len(match[0])

    return DECLARED.sub(take, source), shapes


def read_key(key: str) -> str:
    r"""Return a given name, which may be LaTeX such as \beta, in the spelling that the source's syntax trees use."""
    if "\\" not in key:
        return canonical(key)
    try:
        return canonical(spell(parse_tokens(key, tokens_of(key)))) or canonical(key)
    except NotationError:
        return canonical(key)


def is_inside_matrix(before: str) -> bool:
    """Return whether the text `before` ends inside a matrix, so that the next separator belongs to the matrix."""
    opened = len(re.findall(r"\[|\\begin\b", before)) - len(re.findall(r"\]|\\end\b", before))
    return opened > 0


def parse_tokens(source: str, tokens: list[SourceToken], names: Collection[str] = ()) -> Tree:
    """Return the syntax tree of a line, given its tokens. Raise NotationError if they cannot be parsed."""
    parser = SourceParser(source, tokens, names)
    tree = parser.sum()
    if parser.token.kind != END:
        raise parser.make_unexpected_error()
    return tree


def parse_statement(source: str, names: Collection[str] = ()) -> Statement:
    """Parse a line, and return its statement: a value and, if the line contains `=`, the defined name."""
    tokens = tokens_of(source, names)
    depth = 0
    for position, token in enumerate(tokens):
        depth += (token.text in "([{") - (token.text in ")]}") if token.kind == SIGN else 0
        if token.kind == SIGN and token.text == "=" and depth == 0:
            before, after = tokens[:position], tokens[position + 1 :]
            if before and before[-1].text == ":":
                before = before[:-1]
            end = SourceToken(END, "", token.start, token.start)
            if len(before) > 2 and before[0].kind == NAME and (before[1].text, before[-1].text) == ("(", ")"):
                before = before[:1]  # f(x) = …
            return Statement(parse_tokens(source, [*before, end], names), parse_tokens(source, after, names))
    return Statement(None, parse_tokens(source, tokens, names))


class Algebra:
    """The reader of matrix and index notation."""

    def __init__(self, source: str, shapes: Mapping[str, Any], choose: Choose):
        self.source, self.choose, self.axes = source, choose, Axes()
        text, declarations = split_declarations(DISPLAYS.sub(lambda match: " " * len(match[0]), source))
        whole = {**declarations, **{read_key(name): shape for name, shape in shapes.items()}}
        self.names = inputs_of(self.axes, whole, node_of)
        self.given = dict(whole)
        self.pieces = self.lines(text)
        self.statements: list[tuple[Statement, IndexLetters]] = []
        self.sizes: dict[str, AxisVariable] = {}
        self.remarks: list[str] = []

    def lines(self, text: str) -> list[str]:
        """Return the lines of a source, padded at the front so that their positions match positions in the source.

        The padding contains earlier macro definitions. Raise NotationError if there is no formula.
        """
        result, start, before = [], 0, ""
        ends = [match.span() for match in LINES.finditer(text) if not is_inside_matrix(text[: match.start()])]
        for end, after in [*ends, (len(text), len(text))]:
            piece = text[start:end]
            defines = DEFINES.search(piece) is not None
            if piece.strip(" \t\\,.$&;") and not (defines and not expand(piece, scan(piece))):
                bare = re.sub(r"[,.]\s*$", lambda m: " " * len(m[0]), piece)
                result.append(before + bare)
            before += (piece if defines else re.sub(r"[^\n]", " ", piece)) + re.sub(r"[^\n]", " ", text[end:after])
            start = after
        if not result:
            raise NotationError(108, "no formula to translate")
        return result

    def read(self) -> TranslatedProgram:
        """Read all lines, and return the translated program.

        Raise NotationError if a line cannot be translated, or QuestionError if it is ambiguous.
        """
        lines: list[FormulaLine] = []
        for number, piece in enumerate(self.pieces):
            statement = parse_statement(piece, [*self.names])
            lines.append(self.line(statement, number == len(self.pieces) - 1))
        kind = "indices" if any(letters.active for _, letters in self.statements) else "matrices"
        used = self.collect_used_names()
        self.check_used(used)
        inputs = {
            name: source.leaf
            for name, source in self.names.items()
            if name in used and not source.defined and source.literal is None
        }
        return TranslatedProgram(kind, self.axes, tuple(lines), inputs, tuple(self.remarks), None)

    def collect_used_names(self) -> set[str]:
        names: set[str] = set()
        for statement, letters in self.statements:
            labeled = set[int]()  # trees such as the X in X_1, if X_1 is a name by itself
            for tree in statement.body.all():
                name = canonical(spell(tree))
                if tree.op in ("sub", "^") and (name in self.names or id(tree) in labeled):
                    labeled.add(id(tree.parts[0]))
                names |= {name} if id(tree) not in labeled else set()
                names |= {tree.upper, *(side for left, _, right in tree.conditions for side in (left, right))}
                if pair := letters.index_of(tree, self.given):
                    names.add(pair[0])
        return names

    def check_used(self, used: set[str]) -> None:
        """Raise NotationError if an input that was given does not occur in the source."""

        def is_used(name: str) -> bool:
            axes = {axis.kind.root.name for dim in self.names[name].leaf.dims for axis in dim} - {"", None}
            return name in used or bool(axes & used)  # The n in a sum to n is the length of an axis.

        unused = next((name for name in self.given if not is_used(name)), None)
        if unused is not None:
            invented = [name for name, source in self.names.items() if source.guessed and name.startswith(unused[0])]
            hint = f"give the shape of {invented[0]}" if invented else f"leave {unused} out"
            raise make_refusal(self.source, (0, len(self.source)), f"the source does not use the input {unused}", hint)

    def line(self, statement: Statement, last: bool) -> FormulaLine:
        counts = {name: len(source.leaf.dims) for name, source in self.names.items()}
        free = head_letters(statement.head) if statement.head is not None else ()
        statement = self.mark_lengths(statement, free)
        alone = {item for tree in statement.body.all() for item in (split_indices(tree) or ("", ()))[1]}
        lengths = {*self.axes.given} - {*self.names, *free, *COUNTING} - alone
        body = from_ends(with_axes(with_numbers(statement.body, counts), self.axes.given), lengths)
        outer = frozenset[str]() if statement.head else ends_at_letters(body, {*self.names, *self.axes.given})
        outer = outer if len(outer) == 1 else frozenset()  # Several axes would have no order.
        statement = replace(statement, body=with_ends(body, {letter for letter in free if is_letter(letter)} | outer))
        letters = letters_of(statement, counts, self.source, outer)
        self.check_head(statement, letters)
        self.ask_binders(statement, letters)
        walk = Walk(self.source, self.axes, self.names, letters, self.choose)
        walk.sizes, walk.statement = self.sizes, statement.body
        walk.transposed_names = frozenset(
            canonical(spell(tree.parts[0])) for tree in statement.body.all() if tree.op == "T"
        )
        value = walk.read(statement.body)
        lines = (*walk.remarks, *(f"the value has one element for each {letter}" for letter in sorted(outer)))
        self.remarks += [line for line in lines if line not in self.remarks]
        self.statements.append((statement, letters))
        order = self.order(statement, letters, value)
        if value.identity or value.ones:
            raise walk.refuse(statement.body, "nothing specifies how large this is", "add or multiply it with a tensor")
        name = self.head_name(statement)
        dims = (*((axis,) for axis in order), *(dim for dim in value.dims if dim))
        if not last:
            if not name:
                hint = "write name = … for each line but the last"
                raise walk.refuse(statement.body, "this line has no name, and a line follows", hint)
            row = bool(value.dims[1]) and not value.dims[0]
            self.names[name] = SourceInput(name, Leaf(node_of(name), dims), defined=True, row=row)
        plain = (
            name
            if name and statement.head is not None and not (letters.active and split_indices(statement.head))
            else ""
        )
        head = plain if last else name
        return FormulaLine(node_of(head) if head else None, value.node, dims)

    def mark_lengths(self, statement: Statement, free: Collection[str]) -> Statement:
        """Return the statement with x_n marked as the last element of x if n is the length of an axis.

        The upper end n of a sum is a length. If x also has an index that is a number, as in x_1, ask whether n is a
        length or an index.
        """
        trees = [*statement.body.all()]
        ends = {end.name for tree in trees if tree.op == "big" and (end := end_of(tree.upper))}
        bound = {letter for tree in trees for letter in find_letters_below(tree)}
        known = {*self.axes.given} - {*self.names, *free, *bound, *COUNTING}
        indexed = [(tree, pair) for tree in trees if (pair := split_indices(tree)) and pair[0] in self.names]
        numbered = {name for _, (name, items) in indexed if any(map(str.isdigit, items))}
        lengths = known & ends
        unclear = {item: tree for tree, (name, items) in indexed for item in items if name in numbered}
        for letter in sorted(unclear.keys() & known - lengths):
            piece = self.source[slice(*unclear[letter].span)].strip()
            options = (f"the element at the length |{letter}|", f"the elements for each {letter}")
            if self.choose(unclear[letter].span, piece, options, "length") == 0:
                lengths |= {letter}
        return replace(statement, body=with_lengths(statement.body, lengths, self.names)) if lengths else statement

    def ask_binders(self, statement: Statement, letters: IndexLetters) -> None:
        """Decide whether a sum under a condition such as j ≠ i, in a line without a left-hand side, also binds i.

        Either the sum runs over both i and j, or it runs over j and leaves i free. Raise QuestionError if neither is
        chosen yet.
        """
        for tree in statement.body.all():
            further = [
                letter for letter in letters.binds.get((tree.span, tree.letters), ()) if letter not in tree.letters
            ]
            if tree.op != "big" or letters.free is not None or not further:
                continue
            if all(relation in "<≤" for _, relation, _ in tree.conditions) and {*further} <= entries_in(tree.parts[0]):
                continue
            listed, both = ", ".join(tree.letters), ", ".join((*tree.letters, *further))
            piece = " ".join(self.source[slice(*tree.span)].split())
            options = (f"over {both}", f"over {listed} for each {', '.join(further)}")
            if self.choose(tree.span, piece, options, "binds") == 1:
                letters.binds[tree.span, tree.letters] = tree.letters

    def check_head(self, statement: Statement, letters: IndexLetters) -> None:
        head = statement.head
        if head is None:
            return
        pair = split_indices(head)
        name = canonical(spell(head))
        if head.op in EXPRESSIONS:
            message = "the left side of = is an expression, and only names are defined"
            raise make_refusal(self.source, head.span, message, "translate each side by itself")
        uses = {canonical(spell(tree)) for tree in statement.body.all()}
        heads = {p[0] for tree in statement.body.all() if (p := letters.index_of(tree, self.given))}
        if (
            (pair and pair[0] in uses | heads)
            or (name and name in uses)
            or (pair and any(not item.isalpha() for item in pair[1]) and letters.active)
        ):
            message = f"{self.source[slice(*head.span)].strip()} is defined by itself"
            hint = "a recurrence needs its start and its range: x^0 = …, x^t = … for t = 1, …, n"
            raise make_refusal(self.source, head.span, message, hint)
        free = letters.free or ()
        twice = next((letter for letter in free if free.count(letter) > 1), None)
        if twice is not None:
            raise make_refusal(self.source, head.span, f"the left side has the index {twice} more than once")

    def head_name(self, statement: Statement) -> str:
        head = statement.head
        if head is None:
            return ""
        letters = self.statements[-1][1]
        pair = split_indices(head)
        if pair and letters.active and letters.free:
            return pair[0]
        return canonical(spell(head))

    def order(self, statement: Statement, letters: IndexLetters, value: Matrix) -> list[AxisVariable]:
        """Return the axes of the free letters, in the order of the left-hand side or, if there is none, of the source.

        Raise NotationError if a letter occurs only on one side.
        """
        indices = dict(value.indices)
        free = letters.free
        if free is not None and letters.active:
            lost = [letter for letter in indices if letter not in free]
            if lost:
                hint = "sum over it, or write it on the left"
                raise make_refusal(self.source, statement.body.span, f"index {lost[0]} is on the right only", hint)
            alone = [letter for letter in free if letter not in indices]
            if alone:
                assert statement.head is not None
                raise make_refusal(self.source, statement.head.span, f"index {alone[0]} is on the left only")
            return [indices[letter] for letter in free]
        return [*indices.values()]
