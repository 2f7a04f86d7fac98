"""The syntax tree back to a formula: `parse(to_text(tree)) == tree`, and the same in ASCII and in LaTeX.

Each part of a tree is printed to a `Piece`: its text, and the level on which it binds. Whoever takes a piece as an
operand says on which level it must bind at least; a looser one gets brackets. The levels are those of `formula.lark`.

    (a + b) ⊙ c         ⊙ asks for PRODUCT on its left, and a + b binds on SUM only

A method prints one kind of node. It is a generator: it yields each part that it needs printed, and is sent its piece,
so that a tree may be deeper than Python's stack.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import replace
from typing import NamedTuple, Union

from . import nodes
from .nodes import Call, Name, Number, Subscript
from .symbols import GREEK_MACROS, SPELLED_GREEK, SYMBOLS, value

# From the loosest to the tightest. The grammar knows QUOTIENT as PRODUCT, but a reader doubts a / b ⊙ c.
OR, AND, NOT, RELATION, SUM, QUOTIENT, PRODUCT, UNARY, JUXTAPOSITION, ELEMENT, POSTFIXED, ATOM = range(12)


class Piece(NamedTuple):
    """A printed part. `reaches`: it ends in the operand of a ∑, which would take in a product that follows."""

    text: str
    level: int = ATOM
    reaches: bool = False


Printing = Union[Piece, Generator]  # what a method gives: a piece, or the way to one


def to_text(node, ascii: bool = False) -> str:
    """`node` (an expression, a statement, a set, a program) as text; `ascii`: in ASCII letters and signs alone.

    >>> from grammar.parser import parse
    >>> to_text(parse("softmax_seq (Q @_key K / sqrt(|key|)) @_seq V"))
    'softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V'
    >>> to_text(parse("X_{a→b} ⊕_{a} γ"), ascii=True)
    'concat_{a}(X_{a->b}, gamma)'
    """
    return (_Ascii(node) if ascii else _Text()).run(node).text


def _signs(column: str) -> dict[str, str]:
    """The preferred spelling of each symbol, by what the tree holds."""
    return {value(symbol, ""): getattr(symbol, column).split()[0] for symbol in SYMBOLS}


def _values(*terminals: str) -> list[str]:
    return [value(symbol, "") for symbol in SYMBOLS if symbol.terminal in terminals]


# Which method prints a Call, by its operator; any other is a function.
FORMS = {
    "+": "addition", "-": "addition", "/": "quotient", "juxtaposed": "juxtaposed", "negative": "negative",
    "∧": "conjunction", "∨": "disjunction", "¬": "negation", "sqrt": "root",
    **dict.fromkeys(_values("BIG"), "big"),
    **dict.fromkeys(_values("RELATION", "EQUALS"), "relation"),
    **dict.fromkeys(_values("PARITY"), "parity"),
    **dict.fromkeys(_values("DOT", "OPERATOR"), "product"),
}  # fmt: skip


class _Text:
    """The text spelling. ASCII and LaTeX replace what they spell in another way."""

    signs = _signs("text")
    times = " × "  # between the axes of a shape

    # -------------------------------------------------------------------------------------------------- the machine
    def run(self, node) -> Piece:
        waiting, piece = [], self.visit(node)
        while True:
            if not isinstance(piece, Piece):
                waiting.append(piece)
                piece = None
            elif not waiting:
                return piece
            try:
                piece = waiting[-1].send(piece)
            except StopIteration as finished:
                waiting.pop()
                piece = finished.value

    def visit(self, node) -> Printing:
        return getattr(self, type(node).__name__.lower())(node)

    def part(self, node, level: int, last: bool = False):
        """The piece of an operand, in brackets where it binds on a looser level than `level`.

        Only a `last` operand, which no product can follow, may end in a ∑.
        """
        piece = yield self.visit(node)
        return piece if piece.level >= level and (last or not piece.reaches) else self.bracketed(piece)

    def right(self, node, level: int):
        """A last operand: a sign at its beginning gets brackets."""
        piece = yield from self.part(node, level, last=True)
        return self.bracketed(piece) if piece.text.startswith("-") else piece

    def bracketed(self, piece: Piece) -> Piece:
        return Piece(f"({piece.text})")

    def each(self, parts, level: int):
        """The texts of parts with commas or relations between them."""
        texts = []
        for part in parts:
            piece = yield from self.part(part, level, last=True)
            texts.append(piece.text)
        return texts

    def listed(self, parts, level: int):
        """The same in brackets, where `in` is no ∈."""
        texts = yield from self.each(parts, level)
        return [self.word(part.text) if type(part) is Name else text for part, text in zip(parts, texts)]

    # --------------------------------------------------------------------------------------------- names and numbers
    def number(self, node) -> Piece:
        text = self.digits(node.value)
        return Piece(text, UNARY if text.startswith("-") else ATOM)

    def digits(self, number: int | float) -> str:
        return repr(number).replace("inf", "1e999")

    def name(self, node) -> Piece:
        return self.bracketed(Piece("in")) if node.text == "in" else Piece(self.word(node.text))

    def word(self, text: str) -> str:
        """A name where an operand stands."""
        return text

    def axis_word(self, text: str) -> str:
        """A name in a subscript or a shape."""
        return text

    def axis(self, node) -> Piece:
        """seq, seq*, hidden_1; a mark after a label, or a second one, is raised."""
        if re.fullmatch(r"[^_*†]+[*†]?", node.name):
            return Piece(self.axis_word(node.name))
        parts = re.split(r"([_*†])", node.name)
        return Piece("".join(self.raised(part) if part in "*†" else self.axis_word(part) for part in parts if part))

    def raised(self, mark: str) -> str:
        return f"^{self.signs.get(mark, mark)}"

    # ------------------------------------------------------------------------------------------------------- scripts
    def superscript(self, node):
        base = yield from self.part(node.base, POSTFIXED)
        above = yield from self.above(node.components)
        return Piece(base.text + above, POSTFIXED)

    def subscript(self, node):
        base = yield from self.part(node.base, POSTFIXED)
        below = yield from self.below(node.components)
        return Piece(base.text + _unbraced(below), POSTFIXED)

    def starred(self, node):
        base = yield from self.part(node.base, POSTFIXED)
        return Piece(base.text + self.raised(node.mark), POSTFIXED)

    def index(self, node):
        items = []
        for axis, place in node.items:
            inner = yield from self.tight(place)
            items.append(f"{self.axis(axis).text}({inner})")
        return (yield from self.selected(node.base, items))

    def rename(self, node):
        items = [f"{self.targets(old)}{self.signs['→']}{self.targets(new)}" for old, new in node.items]
        return (yield from self.selected(node.base, items))

    def targets(self, axes) -> str:
        names = ",".join(self.axis(axis).text for axis in axes)
        return names if len(axes) == 1 else f"({names})"

    def selected(self, base, items: list[str]):
        """A base with indices or renames; the paper's brackets around a longer base are square."""
        piece = yield self.visit(base)
        if piece.level < POSTFIXED or type(base) in (nodes.Literal, Call):
            piece = self.squared(piece) if piece.level >= SUM else self.bracketed(piece)
        return Piece(f"{piece.text}_{{{', '.join(items)}}}", POSTFIXED)

    def squared(self, piece: Piece) -> Piece:
        return Piece(f"[{piece.text}]")

    def above(self, components):
        """A superscript; braces are left off around one letter or whole number."""
        texts = []
        for component in components:
            texts.append((yield from self.tight(component, SUM)))
        return _unbraced(f"^{{{','.join(texts)}}}")

    def below(self, components):
        """A subscript of labels or axes."""
        texts = []
        for component in components:
            piece = yield self.label(component)
            texts.append(piece.text)
        return f"_{{{', '.join(texts)}}}"

    def label(self, node) -> Printing:
        """A component of a subscript, where every word is a name."""
        if type(node) is Name:
            return Piece(self.axis_word(node.text))
        return self.visit(node) if type(node) is Number else self.longer_label(node)

    def longer_label(self, node):
        if type(node) is Call:
            left = yield self.label(node.arguments[0])
            right = yield self.label(node.arguments[1])
            return Piece(f"{left.text}{node.operator}{right.text}")
        base = yield self.label(node.base)
        if type(node) is nodes.Starred:
            return Piece(base.text + self.raised(node.mark))
        script = yield from (self.below if type(node) is Subscript else self.above)(node.components)
        return Piece(base.text + _unbraced(script))

    def tight(self, node, level: int = OR):
        """The text of a part in a script: t-1 has no blanks there."""
        if type(node) is Name:
            return self.word(node.text)
        piece = yield from self.part(node, level, last=True)
        return re.sub(" ([+-]) ", r"\1", piece.text) if _plain_sum(node) else piece.text

    # --------------------------------------------------------------------------------------------- infix and prefix
    def call(self, node) -> Printing:
        return getattr(self, FORMS.get(node.operator, "function"))(node)

    def addition(self, node):
        left = yield from self.part(node.arguments[0], SUM, last=True)
        right = yield from self.right(node.arguments[1], QUOTIENT)
        return Piece(f"{left.text} {node.operator} {right.text}", SUM)

    def product(self, node):
        left = yield from self.part(node.arguments[0], PRODUCT)
        right = yield from self.right(node.arguments[1], UNARY)
        sign = yield from self.infix(node)
        return Piece(f"{left.text} {sign} {right.text}", PRODUCT, right.reaches)

    def infix(self, node):
        """The sign of a product with its axes: ⊙_{key}"""
        if node.subscript:
            below = yield from self.below(node.subscript)
            return self.signs[node.operator] + below
        plain = node.operator == "⊙" and all(type(operand) is Number for operand in node.arguments)
        return self.plain_dot if plain else self.signs[node.operator]

    plain_dot = "·"

    def quotient(self, node):
        above = yield from self.part(node.arguments[0], PRODUCT)
        below = yield from self.right(node.arguments[1], ELEMENT)
        return Piece(f"{above.text} / {below.text}", QUOTIENT, below.reaches)

    def juxtaposed(self, node):
        left = yield from self.part(node.arguments[0], JUXTAPOSITION)
        right = yield from self.right(node.arguments[1], ELEMENT)
        if right.text[0].isdigit():
            right = self.bracketed(right)
        return Piece(f"{left.text} {right.text}", JUXTAPOSITION, right.reaches)

    def negative(self, node):
        operand = yield from self.right(node.arguments[0], UNARY)
        return Piece(f"-{operand.text}", UNARY, operand.reaches)

    def big(self, node):
        below = yield from self.below(node.subscript)
        return (yield from self.over(node.operator, below, node.arguments[0]))

    def indexsum(self, node):
        first = yield from self.first(node.first)
        last = yield from self.tight(node.last, SUM)
        bounds = f"_{{{self.axis_word(node.variable.text)}={first}}}^{{{last}}}"
        return (yield from self.over(node.operator, bounds, node.body))

    def first(self, node):
        """The lower end of a sum. It stands in a subscript, where only brackets make room for more than names."""
        if _plain_sum(node):
            piece = yield self.label(node)
            return piece.text
        piece = yield self.visit(node)
        return self.bracketed(piece).text

    def over(self, operator: str, scripts: str, body):
        """∑ with its operand; as an operand itself it is loose where a product stands in it."""
        operand = yield from self.right(body, QUOTIENT)
        level = ELEMENT if operand.level >= UNARY else UNARY
        return Piece(f"{self.signs[operator]}{scripts} {operand.text}", level, True)

    def root(self, node):
        if node.superscript or node.subscript or node.parameters or len(node.arguments) != 1:
            return (yield from self.function(node))
        return (yield from self.prefixed("√", node.arguments[0]))

    def differential(self, node):
        return (yield from self.prefixed("∂", node.body))

    def prefixed(self, sign: str, node):
        """√ or ∂ before an atom, or before brackets."""
        operand = yield self.visit(node)
        bare = operand.level == ATOM or type(node) is Subscript
        return Piece(self.before(sign, (operand if bare else self.bracketed(operand)).text), ELEMENT)

    def before(self, sign: str, operand: str) -> str:
        return sign + operand

    def derivative(self, node):
        above = yield from self.prefixed("∂", node.body)
        variable = yield from self.variable(node)
        return Piece(f"{above.text}/{self.before('∂', variable)}", QUOTIENT)

    def variable(self, node):
        piece = yield from self.part(node.variable, POSTFIXED)
        if node.mark and type(node.variable) is Name and node.variable.text[0].isalpha() and piece.text[0] != "(":
            return self.axis_word(node.variable.text + node.mark)
        return piece.text + (self.raised(node.mark) if node.mark else "")

    # ------------------------------------------------------------------------------------------ functions and atoms
    def function(self, node):
        head = yield from self.head(node)
        arguments = yield from self.arguments(node)
        return Piece(f"{head}({arguments})")

    def head(self, node):
        """A function's name with its scripts. d( would begin a derivative."""
        below = (yield from self.below(node.subscript)) if node.subscript else ""
        above = (yield from self.above(node.superscript)) if node.superscript else ""
        head = self.word(node.operator) + below + above
        return "d " if head == "d" else head

    def arguments(self, node):
        ordinary = yield from self.listed(node.arguments, OR)
        parameters = yield from self.listed(node.parameters, OR)
        return ", ".join(ordinary) + ("; " + ", ".join(parameters) if parameters else "")

    def size(self, node) -> Piece:
        return Piece(f"|{self.axis(node.axis).text}|")

    def literal(self, node):
        rows = []
        for row in node.rows:
            cells = yield from self.listed(row, SUM)
            rows.append(", ".join(cells))
        axes = ", ".join(self.axis(axis).text for axis in node.axes)
        return Piece(f"[{'; '.join(rows)}]_{{{axes}}}", POSTFIXED)

    def cases(self, node):
        branches = []
        for body, condition in node.branches:
            branches.append(" if ".join((yield from self.branch(body, condition))))
        return Piece(f"{{ {'; '.join(branches)} }}")

    def branch(self, body, condition):
        piece = yield from self.part(body, SUM, last=True)
        if condition is None:
            return (f"{piece.text} otherwise",)
        test = yield self.visit(condition)
        return piece.text, test.text

    def indicator(self, node):
        condition = yield self.visit(node.condition)
        return Piece(f"{self.signs['𝕀']}[{condition.text}]")

    # ---------------------------------------------------------------------------------------------------- conditions
    def relation(self, node):
        left, right = yield from self.each(node.arguments, SUM)
        return Piece(f"{left} {self.signs[node.operator]} {right}", RELATION)

    def parity(self, node):
        operand = yield from self.part(node.arguments[0], SUM)
        return Piece(f"{operand.text} {node.operator}", RELATION)

    def negation(self, node):
        operand = yield from self.part(node.arguments[0], ELEMENT)
        return Piece(f"{self.signs['¬']}{operand.text}", NOT)

    def disjunction(self, node):
        left = yield from self.part(node.arguments[0], OR)
        right = yield from self.part(node.arguments[1], AND)
        return Piece(f"{left.text} {self.signs['∨']} {right.text}", OR)

    def conjunction(self, node):
        """a ∧ b; and 1 ≤ i ≤ j, which says 1 ≤ i ∧ i ≤ j."""
        operands = _conjuncts(node)
        first = yield from self.part(operands[0], NOT)
        text, chained = first.text, True
        for before, operand in zip(operands, operands[1:]):
            chained = chained and (yield from self.continues(before, operand))
            piece = yield from self.part(operand.arguments[1] if chained else operand, SUM if chained else NOT)
            sign = self.signs[operand.operator if chained else "∧"]
            text = f"{text} {sign} {piece.text}"
        return Piece(text, RELATION if chained else AND)

    def continues(self, before, operand):
        """Whether `operand` is a relation that begins with what the relation `before` ends in."""
        if not all(type(node) is Call and FORMS.get(node.operator) == "relation" for node in (before, operand)):
            return False
        end = yield self.visit(before.arguments[1])
        start = yield self.visit(operand.arguments[0])
        return end == start

    # ---------------------------------------------------------------------------------------------- sets, statements
    def set(self, node):
        elements = ",".join((yield from self.listed(node.elements, SUM)))
        domain = self.domains[node.domain].format(elements)
        sized = []
        for axis, size in node.axes:
            sized.append((yield from self.sized(axis, size)))
        return Piece(f"{domain}^{{{self.times.join(sized)}}}" if sized else domain)

    domains = {"reals": "ℝ", "elements": "{{{}}}", "interval": "[{}]", "count": "[{}]"}

    def sized(self, axis, size):
        if size is None:
            return self.axis(axis).text
        return f"{self.axis(axis).text}[{(yield from self.tight(size, SUM))}]"

    def range(self, node):
        first, last = yield from self.each((node.first, node.last), SUM)
        return Piece(f" for {self.word(node.variable.text)} = {first}, {self.signs['…']}, {last}")

    def value(self, node):
        return (yield from self.part(node.body, SUM, last=True))

    def equation(self, node):
        sides = yield from self.sides(node.sides)
        return (yield from self.statement(" = ".join(sides), node))

    def declaration(self, node):
        names = yield from self.sides(node.names)
        return (yield from self.statement(", ".join(names), node))

    def sides(self, sides):
        """The sides of an equation; the first must neither join the line before nor look like another head."""
        texts = yield from self.each(sides, SUM)
        if texts[0].startswith("-") or _like_a_head(sides[0]):
            texts[0] = f"({texts[0]})"
        return texts

    def statement(self, text: str, node):
        """The end that equations and declarations share: ∈ ℝ^{a} for t = 1, …, n"""
        for position, member in enumerate(node.sets):
            piece = yield self.visit(member)
            text += f" {self.signs['=' if position else '∈']} {piece.text}"
        if node.range is not None:
            piece = yield self.visit(node.range)
            text += piece.text
        return Piece(text)

    def signature(self, node):
        sets = []
        for member in (*node.domain, node.codomain):
            piece = yield self.visit(member)
            sets.append(piece.text)
        head = yield from self.defined(node)
        domain = f" {self.signs['×']} ".join(sets[:-1])
        return Piece(f"{head} {self.signs[':']} {domain} {self.signs['→']} {sets[-1]}")

    def defined(self, node):
        """The function or operator that a signature speaks of."""
        if FORMS.get(node.head.operator) == "product":
            return (yield from self.infix(node.head))
        return (yield from self.head(node.head)).strip()

    def ellipsis(self, node) -> Piece:
        return Piece(self.signs["⋮"])

    def program(self, node):
        lines = []
        for statement in node.statements:
            piece = yield self.visit(statement)
            signed = lines and piece.text.startswith("-")
            lines.append((self.bracketed(piece) if signed else piece).text)
        return Piece(self.joined(lines))

    def joined(self, lines: list[str]) -> str:
        return "\n".join(lines)


GREEK_LABELS = {letter: "\\" + name for name, letter in GREEK_MACROS.items()}
GREEK_WORDS = GREEK_LABELS | {letter: name for name, letter in SPELLED_GREEK.items()}


class _Ascii(_Text):
    """The text spelling in ASCII."""

    signs = {**_signs("ascii"), "¬": "not ", "⊕": r"\oplus", "√": r"\surd", "∂": r"\partial"}
    times = ", "
    plain_dot = "*"
    domains = {**_Text.domains, "reals": "R"}

    def __init__(self, node):
        self.taken = _operand_names(node)

    def word(self, text: str) -> str:
        if text == "∞":
            return self.signs["∞"]
        letter = text.rstrip("'")
        return GREEK_WORDS.get(letter, letter) + text[len(letter) :]

    def axis_word(self, text: str) -> str:
        letter = text.rstrip("'*†")
        return GREEK_LABELS.get(letter, letter) + text[len(letter) :].replace("†", self.signs["†"])

    def infix(self, node):
        sign = yield from super().infix(node)
        return "@" + sign[1:] if sign.startswith("*_") else sign

    def product(self, node):
        if node.operator != "⊕" or "concat" in self.taken:
            return (yield from super().product(node))
        return (yield from self.function(replace(node, operator="concat")))

    def root(self, node):
        return (yield from super().root(node) if "sqrt" in self.taken else self.function(node))

    def before(self, sign: str, operand: str) -> str:
        return self.signs[sign] + ("" if operand.startswith("(") else " ") + operand

    def derivative(self, node):
        """d(f(X))/dX*, where the variable is a plain name and all its axes are starred."""
        plain = type(node.variable) is Name and re.fullmatch("[A-Za-z][A-Za-z0-9]*'*", node.variable.text)
        if node.mark != "*" or not plain:
            return (yield from super().derivative(node))
        body = yield self.visit(node.body)
        return Piece(f"d({body.text})/d{node.variable.text}*", QUOTIENT)


def _unbraced(script: str) -> str:
    """A script without its braces, where they hold one letter or one whole number."""
    return re.sub(r"^([_^])\{([^\W_]|\d+)\}$", r"\1\2", script)


def _plain_sum(node) -> bool:
    """Whether `node` is a name, a number, or a sum of such: t-1"""
    while type(node) is Call and node.operator in ("+", "-"):
        if type(node.arguments[1]) not in (Name, Number):
            return False
        node = node.arguments[0]
    return type(node) in (Name, Number)


def _conjuncts(node) -> list:
    """The operands of a ∧ b ∧ …, read from left to right."""
    found = []
    while type(node) is Call and node.operator == "∧":
        found.append(node.arguments[1])
        node = node.arguments[0]
    return [node, *reversed(found)]


def _like_a_head(node) -> bool:
    """Whether `node` is the product of two names, which left of = would define a function: f X = …"""
    return type(node) is Call and node.operator == "juxtaposed" and all(map(_is_name, node.arguments))


def _is_name(node) -> bool:
    while hasattr(node, "base"):
        node = node.base
    return type(node) is Name


def _operand_names(node) -> frozenset[str]:
    """All names in the tree."""
    found, waiting = [], [node]
    while waiting:
        node = waiting.pop()
        if type(node) is Name:
            found.append(node.text)
        waiting.extend(nodes.children(node))
    return frozenset(found)
