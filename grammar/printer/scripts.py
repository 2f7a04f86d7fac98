"""Printing of names, numbers, scripts, calls, literals and cases."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .. import nodes
from ..nodes import Call, Name, Number, Size, Starred, Subscript, Superscript, axis_of
from ..symbols import FUNCTIONS, UNDERSCORED, WITHOUT_AXES
from .pieces import ATOM, OR, POSTFIXED, SUM, UNARY, Piece, Printer, Printing


class ScriptPrinter(Printer):
    colors: Mapping[str, str] = {}  # the codes before the names of axes
    after = ""  # and the code after them

    # ---------------------------------------------------------------------------------------------- names and numbers
    def number(self, node) -> Piece:
        text = self.digits(node.value).replace("inf", self.word("∞"))
        return Piece(text, UNARY if text.startswith("-") else ATOM)

    def digits(self, number: int | float) -> str:
        return repr(number)

    def name(self, node) -> Piece:
        return self.bracketed(Piece("in")) if node.text == "in" else Piece(self.word(node.text))

    def word(self, text: str) -> str:
        """Return a name as it is written as an operand."""
        return text

    def axis_word(self, text: str) -> str:
        """Return the spelling of a name in positions that only allow axes or labels."""
        return text

    def label_word(self, text: str) -> str:
        """Return a name as it is written in a subscript that may be a label, as in W_{out} or LN_Q."""
        return self.axis_word(text)

    def axis(self, node) -> Piece:
        """Print an axis, such as seq, seq* or hidden_1. A star after a label is raised."""
        return Piece(self.tinted(node.name, self.run(self.label(_axis_as_label(node.name), axes=True)).text))

    def tinted(self, axis: str, text: str) -> str:
        """Print the name of an axis, in the color of the axis if the output is colored."""
        return f"{self.colors[axis]}{text}{self.after}" if axis in self.colors else text

    # -------------------------------------------------------------------------------------------------------- scripts
    def superscript(self, node):
        base = yield from self.raised(node.base)
        base = self.bracketed(base) if _is_ambiguous(node.base) else base
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
        """Print the base of a superscript, as in (x^2)^n, since x^2^n would be ambiguous."""
        return (yield from self.part(base, ATOM if type(base) in (Superscript, Starred) else POSTFIXED))

    def script(self, base, text: str, sign: str, content: str) -> str:
        """Return `text`, the printed form of `base`, with `content` as a sub- or superscript."""
        return text + self.scripted(sign, content)

    def scripted(self, sign: str, content: str, always: bool = False) -> str:
        """Return a sub- or superscript, in braces if needed or `always`. Empty content produces an empty string."""
        if always:
            return f"{sign}{{{content}}}"
        return sign + self.braced(content) if content else ""

    def braced(self, content: str) -> str:
        """Wrap a string in braces unless it is a single letter, integer or star, whatever its color."""
        bare = content
        for color in (*self.colors.values(), self.after):
            bare = bare.replace(color, "")
        return content if re.fullmatch(r"[^\W_]|\d+|[*†]|\\dagger", bare) else f"{{{content}}}"

    def above(self, components):
        texts = yield from self.gathered(self.tight(component, SUM) for component in components)
        return ",".join(texts)

    def below(self, components, axes: bool = True):
        """Print labels, or axes if `axes` is true, below an operator."""
        texts = []
        for component in components:
            piece = yield self.label(component, axes)
            axis = axis_of(component) if axes else None
            texts.append(self.tinted(axis.name, piece.text) if axis else piece.text)
        return ", ".join(texts)

    def sign(self, mark: str) -> str:
        return "".join(self.signs.get(name, name) for name in mark)

    def label(self, node, axes: bool) -> Printing:
        """Print a component of a subscript in which every word is a name."""
        if type(node) is Name:
            return Piece(self.axis_word(node.text) if axes else self.label_word(node.text))
        return self.visit(node) if type(node) in (Number, Size) else self.longer_label(node, axes)

    def longer_label(self, node, axes: bool):
        if type(node) is Call:
            left = yield self.label(node.arguments[0], axes)
            if node.operator == "negative":  # s_{-1}
                return Piece(f"-{left.text}")
            right = yield self.label(node.arguments[1], axes)
            sign = " " if node.operator == "juxtaposed" else node.operator
            return Piece(f"{left.text}{sign}{right.text}")
        base = yield self.label(node.base, axes)
        if type(node) is Subscript:
            below = yield from self.below(node.components, axes=False)
            return Piece(self.script(node.base, base.text, "_", below))
        above = (yield from self.above(node.components)) if type(node) is Superscript else self.sign(node.mark)
        return Piece(self.script(node.base, base.text, "^", above))

    # -------------------------------------------------------------------------------------------- indices and renames
    def index(self, node):
        items = []
        for axis, position in node.items:
            inner = yield from self.tight(position)
            items.append(self.axis(axis).text + self.round(inner))
        return (yield from self.selected(node.base, items))

    def rename(self, node):
        items = [f"{self.targets(old)}{self.signs['→']}{self.targets(new)}" for old, new in node.items]
        return (yield from self.selected(node.base, items))

    def targets(self, axes) -> str:
        names = ",".join(self.axis(axis).text for axis in axes)
        return names if len(axes) == 1 else f"({names})"

    def selected(self, base, items: list[str]):
        """Print a base with indices or renames. A longer base has square brackets around it, as in the paper."""
        piece = yield self.visit(base)
        text = piece.text
        if piece.level < POSTFIXED or type(base) is nodes.Literal or (type(base) is Call and not _is_own(base)):
            text = self.square(text) if piece.level >= SUM else self.round(text)
        return Piece(self.script(base, text, "_", ", ".join(items)), POSTFIXED)

    def tight(self, node, level: int = OR):
        """Print a part of a script without spaces, as in t-1."""
        if type(node) is Name:
            return self.word(node.text)
        piece = yield from self.part(node, level, last=True)
        return re.sub(" ([+-]) ", r"\1", piece.text) if is_plain_sum(node) else piece.text


def _is_own(call: Call) -> bool:
    """Return whether the program may define a function, so that f(x)_{h(i)} could be its definition."""
    return (
        call.operator.isidentifier()
        and call.operator != "juxtaposed"
        and call.operator not in FUNCTIONS
        and not call.subscript
    )


def _is_ambiguous(base) -> bool:
    """Return whether a power of `base` is ambiguous without brackets. mean_{n}(x)^2 could be the mean of squares."""
    while type(base) is Subscript:  # mean_{n}(x)_k^2
        base = base.base
    if isinstance(base, (nodes.Over, nodes.IndexSum)):
        return base.operator.isidentifier()  # max_{i ∈ [n]}; ∑ has its brackets
    if (
        type(base) is not Call
        or not base.operator.isidentifier()
        or base.operator in WITHOUT_AXES
        or len(base.arguments) != 1
        or base.parameters
    ):
        return False
    return any(type(component) is not Number for component in base.subscript) or (
        base.operator in FUNCTIONS and bool(base.subscript)
    )


def _axis_as_label(name: str):
    """Return an axis as the name with a label that it was parsed from, so that hidden_1 has the label 1."""
    word, *labels = [name] if name in UNDERSCORED else name.split("_")
    node = Name(word)
    for label in labels:
        plain = label.rstrip("*†")
        node = Subscript(node, (Name(plain),))
        for mark in label[len(plain) :]:
            node = Starred(node, mark)
    return node


def is_plain_sum(node) -> bool:
    """Return whether `node` is a name, a number, or a sum of names and numbers, such as t-1."""
    while type(node) is Call and node.operator in ("+", "-"):
        if type(node.arguments[1]) not in (Name, Number):
            return False
        node = node.arguments[0]
    return type(node) in (Name, Number)


class Functions(ScriptPrinter):
    def function(self, node):
        if node.operator == "‖":
            return (yield from self.norm(node))
        head = yield from self.head(node)
        arguments = yield from self.arguments(node)
        return Piece(head + self.round(arguments))

    def norm(self, node):
        """Print ‖x‖, ‖x‖_1."""
        (operand,) = yield from self.each(node.arguments, SUM)
        below = yield from self.above(node.parameters)
        return Piece(self.bars(operand) + self.scripted("_", below), POSTFIXED)

    def bars(self, operand: str) -> str:
        return f"‖{operand}‖" if "‖" not in operand else f"‖({operand})‖"

    def head(self, node):
        """Print a function's name with its scripts, avoiding d(, which would begin a derivative."""
        below = yield from self.below(node.subscript)
        above = yield from self.above(node.superscript)
        scripts = self.scripted("_", below) + self.scripted("^", above)
        return "d " if node.operator == "d" and not scripts else self.word(node.operator) + scripts

    def arguments(self, node):
        ordinary = yield from self.listed(node.arguments, OR)
        parameters = yield from self.listed(node.parameters, OR)
        return ", ".join(ordinary) + ("; " + ", ".join(parameters) if parameters else "")

    def listed(self, parts, level: int):
        """Print parts in brackets, where `in` is not used for ∈."""
        texts = yield from self.each(parts, level)
        return [self.word(part.text) if type(part) is Name else text for part, text in zip(parts, texts)]

    def size(self, node) -> Piece:
        return Piece(f"|{self.axis(node.axis).text}|")

    def literal(self, node):
        rows = yield from self.rows(node)
        axes = ", ".join(self.axis(axis).text for axis in node.axes)
        numbers = self.square("; ".join(", ".join(row) for row in rows))
        return Piece(numbers + self.scripted("_", axes, always=True), POSTFIXED)

    def rows(self, node):
        return (yield from self.gathered(self.listed(row, SUM) for row in node.rows))

    def cases(self, node):
        branches = yield from self.gathered(self.branch(*branch) for branch in node.branches)
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
