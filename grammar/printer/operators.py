"""Nodes to text: brackets where the parse or a reader needs them.

Each part of a tree is printed to a `Piece`: its text, and the level on which it binds. Whoever takes a piece as an
operand says on which level it must bind at least; a looser one gets brackets. The levels are those of `formula.lark`.

    (a + b) ⊙ c         ⊙ asks for PRODUCT on its left, and a + b binds on SUM only

A method prints one kind of node. It is a generator: it yields each part that it needs printed, and is sent its piece,
so that a tree may be deeper than Python's stack.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any, NamedTuple, Union

from .. import nodes
from ..nodes import Call, Name, Number, Starred, Subscript, Superscript, axis_of
from ..symbols import BINDERS, SYMBOLS, UNDERSCORED, value

# From the loosest to the tightest. The grammar knows QUOTIENT as PRODUCT, but a reader doubts a / b ⊙ c.
OR, AND, NOT, RELATION, SUM, QUOTIENT, PRODUCT, UNARY, JUXTAPOSITION, ELEMENT, POSTFIXED, ATOM = range(12)


class Piece(NamedTuple):
    """A printed part. `reaches`: it ends in the operand of a ∑, which would take in a product that follows."""

    text: str
    level: int = ATOM
    reaches: bool = False


Printing = Union[Piece, Generator[Any, Any, Any]]  # what a method gives: a piece, or the way to one


def signs(column: str) -> dict[str, str]:
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


class Text:
    """The text spelling. ASCII and LaTeX replace what they spell in another way."""

    signs = signs("text")
    dot = "·"  # the product of two numbers
    times = " × "  # between the axes of a shape
    domains = {"reals": "ℝ", "integers": "ℤ", "naturals": "ℕ", "positive": "ℝ_{{>0}}", "nonnegative": "ℝ_{{≥0}}"}
    domains |= {"field": "{}", "elements": "{{{}}}", "interval": "[{}]", "count": "[{}]"}
    mark = ""  # before the relation of a statement: & in a table

    # -------------------------------------------------------------------------------------------------- the machine
    def text(self, node) -> str:
        return self.run(self.visit(node)).text

    def run(self, piece: Printing) -> Piece:
        waiting: list[Generator[Any, Any, Any]] = []
        while True:
            answer = piece if isinstance(piece, Piece) else None
            if not isinstance(piece, Piece):
                waiting.append(piece)
            elif not waiting:
                return piece
            try:
                piece = waiting[-1].send(answer)
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

    def bracketed(self, piece: Piece) -> Piece:
        return Piece(self.round(piece.text))

    def round(self, text: str) -> str:
        return f"({text})"

    def square(self, text: str) -> str:
        return f"[{text}]"

    # --------------------------------------------------------------------------------------------- names and numbers
    def number(self, node) -> Piece:
        text = self.digits(node.value).replace("inf", self.word("∞"))
        return Piece(text, UNARY if text.startswith("-") else ATOM)

    def digits(self, number: int | float) -> str:
        return repr(number)

    def name(self, node) -> Piece:
        return self.bracketed(Piece("in")) if node.text == "in" else Piece(self.word(node.text))

    def word(self, text: str) -> str:
        """A name where an operand stands."""
        return text

    def axis_word(self, text: str) -> str:
        """A name where only axes stand, or labels."""
        return text

    def label_word(self, text: str) -> str:
        """A name in a subscript that may be a label: W_{out}, LN_Q"""
        return self.axis_word(text)

    def axis(self, node) -> Piece:
        """seq, seq*, hidden_1; a mark after a label is raised."""
        return Piece(self.tinted(node.name, self.run(self.label(_axis_as_label(node.name), axes=True)).text))

    def tinted(self, axis: str, text: str) -> str:
        """The printed name of an axis, in its colour where the spelling has colours."""
        return text

    # ------------------------------------------------------------------------------------------------------- scripts
    def superscript(self, node):
        base = yield from self.raised(node.base)
        above = yield from self.above(node.components)
        return Piece(self.script(node.base, base.text, "^", above), POSTFIXED)

    def subscript(self, node):
        base = yield from self.part(node.base, POSTFIXED)
        below = yield from self.below(node.components, axes=False)
        return Piece(self.script(node.base, base.text, "_", below), POSTFIXED)

    def starred(self, node):
        base = yield from self.raised(node.base)
        return Piece(self.script(node.base, base.text, "^", self.sign(node.mark)), POSTFIXED)

    def raised(self, base):
        """The base of a superscript: (x^2)^n, since a reader doubts x^2^n."""
        return (yield from self.part(base, ATOM if type(base) in (Superscript, Starred) else POSTFIXED))

    def script(self, base, text: str, sign: str, content: str) -> str:
        """`text`, the printed `base`, with a sub- or superscript."""
        return f"{text}{sign}{self.braced(content)}"

    def braced(self, content: str) -> str:
        """Braces are left off around one letter, one whole number, or one mark."""
        return content if re.fullmatch(r"[^\W_]|\d+|[*†]|\\dagger", content) else f"{{{content}}}"

    def above(self, components):
        texts = []
        for component in components:
            texts.append((yield from self.tight(component, SUM)))
        return ",".join(texts)

    def below(self, components, axes: bool = True):
        """Labels or axes; `axes`: where they stand under an operator."""
        texts = []
        for component in components:
            piece = yield self.label(component, axes)
            axis = axis_of(component) if axes else None
            texts.append(self.tinted(axis.name, piece.text) if axis else piece.text)
        return ", ".join(texts)

    def sign(self, mark: str) -> str:
        return "".join(self.signs.get(each, each) for each in mark)

    def label(self, node, axes: bool) -> Printing:
        """A component of a subscript, where every word is a name."""
        if type(node) is Name:
            return Piece(self.axis_word(node.text) if axes else self.label_word(node.text))
        return self.visit(node) if type(node) is Number else self.longer_label(node, axes)

    def longer_label(self, node, axes: bool):
        if type(node) is Call:
            left = yield self.label(node.arguments[0], axes)
            right = yield self.label(node.arguments[1], axes)
            return Piece(f"{left.text}{node.operator}{right.text}")
        base = yield self.label(node.base, axes)
        if type(node) is Subscript:
            below = yield from self.below(node.components, axes=False)
            return Piece(self.script(node.base, base.text, "_", below))
        above = (yield from self.above(node.components)) if type(node) is Superscript else self.sign(node.mark)
        return Piece(self.script(node.base, base.text, "^", above))

    def index(self, node):
        items = []
        for axis, place in node.items:
            inner = yield from self.tight(place)
            items.append(self.axis(axis).text + self.round(inner))
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
        text = piece.text
        if piece.level < POSTFIXED or type(base) in (nodes.Literal, Call):
            text = self.square(text) if piece.level >= SUM else self.round(text)
        return Piece(self.script(base, text, "_", ", ".join(items)), POSTFIXED)

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
            return self.under(node.operator, (yield from self.below(node.subscript)))
        numbers = node.operator == "⊙" and all(type(operand) is Number for operand in node.arguments)
        return self.dot if numbers and node.arguments else self.signs[node.operator]

    def under(self, operator: str, axes: str) -> str:
        return f"{self.signs[operator]}_{{{axes}}}"

    def quotient(self, node):
        above = yield from self.part(node.arguments[0], PRODUCT)
        below = yield from self.right(node.arguments[1], ELEMENT)
        if type(node.arguments[1]) is nodes.Differential:
            above = self.bracketed(above)  # no derivative as its last factor
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
        below = yield from self.below(node.subscript, axes=not over_index(node))
        return (yield from self.over_body(self.big_sign(node.operator, below), node.arguments[0]))

    def big_sign(self, operator: str, below: str, above: str = "") -> str:
        return f"{self.signs[operator]}_{{{below}}}" + (f"^{{{above}}}" if above else "")

    def indexsum(self, node):
        first = yield from self.first(node.first)
        last = yield from self.tight(node.last, SUM)
        bounds = f"{self.label_word(node.variable.text)}={first}"
        return (yield from self.reaching(self.bound_sign(node.operator, bounds, last), node.body, node.operator))

    def over(self, node):
        """max_{i ∈ [n]} X"""
        variable = self.label_word(node.variable.text)
        if type(node.over) is nodes.Set:
            piece = yield self.visit(node.over)
            below = f"{variable} {self.signs['∈']} {piece.text}"
        elif node.operator in BINDERS:
            named = type(node.over) is Name
            goal = self.label_word(node.over.text) if named else (yield from self.tight(node.over, SUM))
            below = f"{variable}{self.signs['→']}{goal}"
        else:
            bound = yield from self.tight(node.over.arguments[1], SUM)
            below = f"{variable} {self.signs[node.over.operator]} {bound}"
        return (yield from self.reaching(self.bound_sign(node.operator, below), node.body, node.operator))

    def bound_sign(self, operator: str, below: str, above: str = "") -> str:
        """The sign of an operator with the variable that it binds."""
        if operator in self.signs:
            return self.big_sign(operator, below, above)
        return self.named_sign(operator, below, above)

    def named_sign(self, operator: str, below: str, above: str) -> str:
        return f"{self.word(operator)}_{{{below}}}" + (f"^{{{above}}}" if above else "")

    def reaching(self, sign: str, body, operator: str):
        """∑ reaches over products; max and its kin are functions of what is in brackets."""
        if operator in self.signs:
            return (yield from self.over_body(sign, body))
        (operand,) = yield from self.each((body,), OR)
        return Piece(sign + self.round(operand))

    def slice(self, node):
        first, last = yield from self.each((node.first, node.last), SUM)
        return Piece(f"{first}:{last}")

    def first(self, node):
        """The lower end of a sum. It stands in a subscript, where only brackets make room for more than names."""
        if _plain_sum(node):
            piece = yield self.label(node, axes=False)
            return piece.text
        piece = yield self.visit(node)
        return self.round(piece.text)

    def over_body(self, sign: str, body):
        """∑ with its operand; as an operand itself it is loose where a product stands in it."""
        operand = yield from self.right(body, QUOTIENT)
        level = ELEMENT if operand.level >= UNARY else UNARY
        return Piece(f"{sign} {operand.text}", level, True)

    def root(self, node):
        if node.superscript or node.subscript or node.parameters or len(node.arguments) != 1:
            return (yield from self.function(node))
        return (yield from self.radical(node.arguments[0]))

    def radical(self, node):
        return (yield from self.prefixed("√", node))

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
        below = yield from self.variable(node)
        return Piece(f"{above.text}/{self.before('∂', below)}", QUOTIENT)

    def variable(self, node):
        """X*, of ∂X*"""
        piece = yield from self.part(node.variable, POSTFIXED)
        if node.mark and self.takes_mark(node.variable):
            return self.axis_word(node.variable.text + node.mark)
        mark = self.sign(node.mark)
        return self.script(node.variable, piece.text, "^", mark) if mark else piece.text

    def takes_mark(self, variable) -> bool:
        """Whether X* may be written for X^*: after a word that is no keyword."""
        return type(variable) is Name and variable.text[0].isalpha() and variable.text != "in"

    # ------------------------------------------------------------------------------------------ functions and atoms
    def function(self, node):
        if node.operator == "‖":
            return (yield from self.norm(node))
        head = yield from self.head(node)
        arguments = yield from self.arguments(node)
        return Piece(head + self.round(arguments))

    def norm(self, node):
        """‖x‖, ‖x‖_1"""
        (operand,) = yield from self.each(node.arguments, SUM)
        below = yield from self.above(node.parameters)
        return Piece(self.bars(operand) + (f"_{self.braced(below)}" if below else ""), POSTFIXED)

    def bars(self, operand: str) -> str:
        return f"‖{operand}‖" if "‖" not in operand else f"‖({operand})‖"

    def head(self, node):
        """A function's name with its scripts. d( would begin a derivative."""
        below = yield from self.below(node.subscript)
        above = yield from self.above(node.superscript)
        scripts = (f"_{self.braced(below)}" if below else "") + (f"^{self.braced(above)}" if above else "")
        return "d " if node.operator == "d" and not scripts else self.word(node.operator) + scripts

    def arguments(self, node):
        ordinary = yield from self.listed(node.arguments, OR)
        parameters = yield from self.listed(node.parameters, OR)
        return ", ".join(ordinary) + ("; " + ", ".join(parameters) if parameters else "")

    def size(self, node) -> Piece:
        return Piece(f"|{self.axis(node.axis).text}|")

    def literal(self, node):
        rows = yield from self.rows(node)
        axes = ", ".join(self.axis(axis).text for axis in node.axes)
        return Piece(f"[{'; '.join(', '.join(row) for row in rows)}]_{{{axes}}}", POSTFIXED)

    def rows(self, node):
        rows = []
        for row in node.rows:
            rows.append((yield from self.listed(row, SUM)))
        return rows

    def cases(self, node):
        branches = []
        for body, condition in node.branches:
            branches.append((yield from self.branch(body, condition)))
        return Piece(f"{{ {'; '.join(branches)} }}")

    def branch(self, body, condition):
        piece = yield from self.part(body, SUM, last=True)
        if condition is None:
            return f"{piece.text} otherwise"
        test = yield self.visit(condition)
        return f"{piece.text} if {test.text}"

    def indicator(self, node):
        condition = yield self.visit(node.condition)
        return Piece(self.signs["𝕀"] + self.square(condition.text))

    # ---------------------------------------------------------------------------------------------------- conditions
    def relation(self, node):
        left, right = yield from self.each(node.arguments, SUM)
        return Piece(f"{left} {self.signs[node.operator]} {right}", RELATION)

    def parity(self, node):
        operand = yield from self.part(node.arguments[0], SUM, last=True)
        return Piece(f"{operand.text} {self.signs[node.operator]}", RELATION)

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
        texts, chained = [first.text], True
        for before, operand in zip(operands, operands[1:]):
            chained = chained and (yield from self.continues(before, operand))
            piece = yield from self.part(operand.arguments[1] if chained else operand, SUM if chained else NOT, chained)
            texts += [self.signs[operand.operator if chained else "∧"], piece.text]
        return Piece(" ".join(texts), RELATION if chained else AND)

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
        if node.domain == "field":
            domain = node.elements[0].text
        sized = []
        for axis, size in node.axes:
            sized.append((yield from self.sized(axis, size)))
        return Piece(self.space(domain, self.times.join(sized)) if sized else domain)

    def space(self, domain: str, axes: str) -> str:
        return f"{domain}^{{{axes}}}"

    def sized(self, axis, size):
        text = self.axis(axis).text
        return text if size is None else text + self.square((yield from self.tight(size, SUM)))

    def range(self, node):
        texts = []
        for over in node.each:
            first, last = yield from self.each((over.first, over.last), SUM)
            variable = self.word(over.variable.text)
            if over.down:
                second = nodes.Call("-", (), (), (over.first, Number(1)))
                if type(over.first) is Number:
                    second = Number(over.first.value - 1)
                following = yield from self.tight(second, SUM)
                first = f"{first}, {following}"
            texts.append(f" {self.signs['for']} {variable} = {first}, {self.signs['…']}, {last}")
        return Piece("".join(texts))

    def value(self, node):
        piece = yield from self.part(node.body, SUM, last=True)
        return Piece(self.mark + piece.text)

    def equation(self, node):
        first, *others = yield from self.sides(node.sides)
        return (yield from self.statement(f"{first} {self.mark}= {' = '.join(others)}", node))

    def update(self, node):
        target, body = yield from self.each((node.target, node.body), SUM)
        return Piece(f"{target} {self.mark}{self.signs['←']} {body}")

    def fact(self, node):
        """A sign at its beginning would join the line before."""
        piece = yield self.visit(node.condition)
        text = piece.text
        if text.startswith("-"):
            first = yield from self.part(_conjuncts(node.condition)[0].arguments[0], SUM, last=True)
            text = self.round(first.text) + text.removeprefix(first.text)
        return Piece(self.mark + text)

    def declaration(self, node):
        names = yield from self.sides(node.names)
        return (yield from self.statement(", ".join(names), node, self.mark))

    def sides(self, sides):
        """The sides of an equation; the first must neither join the line before nor look like another head."""
        texts = yield from self.each(sides, SUM)
        if texts[0].startswith("-") or _like_a_head(sides[0]):
            texts[0] = self.round(texts[0])
        return texts

    def statement(self, text: str, node, mark: str = ""):
        """What equations and declarations end in: ∈ ℝ^{a} for t = 1, …, n"""
        for position, member in enumerate(node.sets):
            piece = yield self.visit(member)
            text += f" = {piece.text}" if position else f" {mark}{self.signs['∈']} {piece.text}"
        if node.range is None:
            return Piece(text)
        piece = yield self.visit(node.range)
        return Piece(text + piece.text)

    def signature(self, node):
        head = yield from self.defined(node.head)
        sets = []
        for member in (*node.domain, node.codomain):
            piece = yield self.visit(member)
            sets.append(piece.text)
        domain = f" {self.signs['×']} ".join(sets[:-1])
        return Piece(f"{head} {self.signs[':']} {domain} {self.mark}{self.signs['→']} {sets[-1]}")

    def defined(self, node):
        """The function or operator that a signature speaks of."""
        if FORMS.get(node.operator) == "product":
            return (yield from self.infix(node))
        if FORMS.get(node.operator) == "big":
            return self.big_sign(node.operator, (yield from self.below(node.subscript)))
        if node.operator == "→":
            old, new = (self.axis_word(each.text) for each in node.subscript)
            return f"[]_{{{old}{self.signs['→']}{new}}}"
        return (yield from self.head(node)).strip()

    def ellipsis(self, node) -> Piece:
        return Piece(self.mark + self.signs["⋮"])

    def program(self, node):
        lines = []
        for statement in node.statements:
            piece = yield self.visit(statement)
            text = piece.text.removeprefix(self.mark)
            joins = lines and text.startswith("-")  # the line before
            lines.append(self.mark + self.round(text) if joins else piece.text)
        return Piece(self.joined(lines))

    def joined(self, lines: list[str]) -> str:
        return "\n".join(lines)


def _axis_as_label(name: str):
    """The name of an axis as the label that it is read from: hidden_1 has the label 1."""
    word, *labels = [name] if name in UNDERSCORED else name.split("_")
    node = Name(word)
    for label in labels:
        plain = label.rstrip("*†")
        node = Subscript(node, (Name(plain),))
        for mark in label[len(plain) :]:
            node = Starred(node, mark)
    return node


def names_in(node) -> set[str]:
    found, waiting = set(), [node]
    while waiting:
        node = waiting.pop()
        if type(node) is Name:
            found.add(node.text)
        waiting.extend(nodes.children(node))
    return found


def over_index(node) -> bool:
    """Whether a ∑ goes over an index, which its operand then mentions: ∑_i A_{height(i)}"""
    below = node.subscript[0] if len(node.subscript) == 1 else None
    return bool(node.arguments) and type(below) is Name and below.text in names_in(node.arguments[0])


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
