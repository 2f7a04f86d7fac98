"""Lay out names, numbers and scripts in text, with brackets around operands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any

from .. import nodes
from ..nodes import Axis, Call, Name, Number, Starred, Subscript, Superscript, axis_of
from ..symbols import FUNCTIONS, UNDERSCORED, WITHOUT_AXES
from ..traversal import left_spine, walk
from .boxes import (
    ATOM,
    JUXTAPOSITION,
    OR,
    POSTFIXED,
    QUOTIENT,
    SUM,
    UNARY,
    Box,
    Part,
    begins,
    separate,
    write,
)
from .forms import SIGNS, SLOTS, TEMPLATES, TEXT

LEAVES = (Name, Number, Axis)
LABEL_LEVELS = {  # For each operation, its precedence in a label and the precedence of its last operand.
    **dict.fromkeys(("+", "-", "negative"), (SUM, QUOTIENT)), "⊙": (QUOTIENT, JUXTAPOSITION), "/": (QUOTIENT, ATOM),
    "juxtaposed": (JUXTAPOSITION, ATOM),
}  # fmt: skip
SINGLE = re.compile(r"[^\W_]|\d+|[*†]|\\dagger")  # Matches a script that needs no braces.


class FormulaLayout:
    """The layout in text, with one method per class of node. ASCII and LaTeX override the methods that differ."""

    column = TEXT

    def __init__(self, node: Any, words: Mapping[str, str] | None = None):
        self.words = words or {}  # Maps names to their spellings.
        self.signs, self.templates = SIGNS[self.column], TEMPLATES[self.column]
        self.boxes: dict[int, Box] = {}
        self.mark = ""  # The alignment mark before a relation, which is & in a table.
        self.tree = node

    def box(self) -> Box:
        """Return the box of the whole tree. To avoid deep recursion, build the innermost boxes first."""
        for node in reversed(list(walk(self.tree))):
            if type(node) not in LEAVES:
                self.box_of(node)
        return self.box_of(self.tree)

    def box_of(self, node: Any) -> Box:
        """Return the box of a node."""
        box = self.boxes.get(id(node))
        if box is None:
            box = self.boxes[id(node)] = getattr(self, type(node).__name__.lower())(node)
            box.node = node
        return box

    # ------------------------------------------------------------------------------------------- operands and brackets
    def part(self, node: Any, level: int, last: bool = False) -> Box:
        """Return the box of an operand, in brackets if the operand binds more loosely than `level`.

        An operand that ends in a ∑ also gets brackets, unless `last` is true, because no product can follow it then.
        """
        box = self.box_of(node)
        return box if box.level >= level and (last or not box.reaches) else self.round(box)

    def right(self, node: Any, level: int) -> Box:
        """Return the box of the last operand, in brackets if it begins with a minus sign."""
        box = self.part(node, level, last=True)
        return self.round(box) if begins(box, "-") else box

    def each(self, parts: Iterable[Any], level: int) -> list[Part]:
        """Return the boxes of operands that commas or relations separate."""
        return [self.part(part, level, last=True) for part in parts]

    def list_parts(self, parts: Iterable[Any], level: int) -> list[Part]:
        """Return the boxes of operands inside brackets. Inside brackets, the word `in` is a name."""
        return [self.word(part.text) if type(part) is Name else self.part(part, level, last=True) for part in parts]

    def bracket(self, opening: str, content: Part, closing: str) -> Box:
        return Box((opening, content, closing), kind="bracket")

    def round(self, content: Part) -> Box:
        return self.bracket("(", content, ")")

    def square(self, content: Part) -> Box:
        return self.bracket("[", content, "]")

    def form(self, form: str, *slots: Part, level: int = ATOM, reaches: bool = False) -> Box:
        """Return the box of a form with its slots filled."""
        parts: list[Part] = []
        for piece in self.templates[form]:
            slot = slots[int(piece.strip("_^{#}")) - 1] if SLOTS.fullmatch(piece) else piece
            parts.append(self.script(piece[0], slot, always=True) if slot and piece[0] in "_^" else slot)
        return Box(parts, level, reaches, form, slots)

    # --------------------------------------------------------------------------------------------- names and numbers
    def number(self, node) -> Box:
        text = self.digits(node.value)
        return Box((text.replace("inf", write(self.word("∞"))),), UNARY if text.startswith("-") else ATOM)

    def digits(self, number: int | float) -> str:
        return repr(number)

    def name(self, node) -> Box:
        return self.round("in") if node.text == "in" else self.word(node.text)

    def word(self, text: str) -> Box:
        """Return the box of a name as an operand."""
        return Box((self.words.get(text) or self.spell(text),), kind="word", data=text)

    def spell(self, text: str) -> str:
        """Return the spelling of a name as an operand."""
        return text

    def spell_axis(self, text: str) -> str:
        """Return the spelling of a name in a position that accepts only axes or labels."""
        return text

    def spell_label(self, text: str) -> str:
        """Return the spelling of a name in a subscript that may be a label, as in W_{out} or LN_Q."""
        return self.spell_axis(text)

    def axis(self, node) -> Box:
        """Return the box of an axis, such as seq, seq* or hidden_1. A star after a label becomes a superscript."""
        return Box((self.label(_axis_as_label(node.name), axes=True),), kind="axis", data=node.name)

    def size(self, node) -> Box:
        return Box(("|", self.box_of(node.axis), "|"))

    # -------------------------------------------------------------------------------------------------------- scripts
    def superscript(self, node) -> Box:
        """Return the box of a base with a superscript. A base that is a power gets brackets, as in (x^2)^n."""
        base = self.part(node.base, ATOM if type(node.base) in (Superscript, Starred) else POSTFIXED)
        above = self.sign(node.mark) if type(node) is Starred else self.above(node.components)
        return self.attach(node.base, self.round(base) if _is_ambiguous(node) else base, "^", above)

    starred = superscript

    def subscript(self, node) -> Box:
        base = self.part(node.base, POSTFIXED)
        return self.attach(node.base, base, "_", self.below(node.components, axes=False))

    def attach(self, base: Any, box: Part, sign: str, content: Part) -> Box:
        """Attach a subscript or superscript to `box`, the layout of `base`, and return the new box."""
        return Box((box, self.script(sign, content)), POSTFIXED)

    def script(self, sign: str, content: Part, always: bool = False) -> Part:
        """Return a subscript or superscript, in braces if it needs them.

        For empty content, return "" unless `always` is true.
        """
        text = "" if always else write(content)
        if not text and not always:
            return ""
        opening, closing = ("", "") if self.is_single(text) else ("{", "}")
        return Box((sign + opening, content, closing), kind="below" if sign == "_" else "above")

    def is_single(self, text: str) -> bool:
        """Return whether a script is a single letter, integer or star."""
        return SINGLE.fullmatch(text) is not None

    def above(self, components: Iterable[Any]) -> Part:
        return Box(separate([self.tight(component, SUM) for component in components], ","))

    def below(self, components: Iterable[Any], axes: bool = True) -> Box:
        """Return the box of a subscript's components, which are axes if `axes` is true, and labels otherwise."""
        parts: list[Part] = []
        for component in components:
            label = self.label(component, axes)
            axis = axis_of(component) if axes else None
            parts.append(Box((label,), kind="axis", data=axis.name) if axis else label)
        return Box(separate(parts, ", "))

    def sign(self, mark: str) -> str:
        return "".join(self.signs.get(name, name) for name in mark)

    def label(self, node: Any, axes: bool) -> Part:
        """Return the layout of one component of a subscript, in which every word is a name."""
        if type(node) is Name:
            return self.spell_axis(node.text) if axes else self.spell_label(node.text)
        if type(node) in (Number, nodes.Size):
            return self.box_of(node)
        if type(node) is not Call:
            base = self.label(node.base, axes)
            if type(node) is Subscript:
                return self.attach(node.base, base, "_", self.below(node.components, axes=False))
            above = self.above(node.components) if type(node) is Superscript else self.sign(node.mark)
            return self.attach(node.base, base, "^", above)
        level = LABEL_LEVELS[node.operator][0]
        if node.operator == "negative":  # s_{-1}
            return Box(("-", self.label_part(node.arguments[0], QUOTIENT, axes)), level)
        spine = list(takewhile(lambda call: LABEL_LEVELS[call.operator][0] == level, left_spine(node)))
        parts: list[Part] = [self.label_part(spine[-1].arguments[0], level, axes)]
        for call in reversed(spine):
            sign = {"juxtaposed": " ", "⊙": f" {self.signs['·']} "}.get(call.operator, call.operator)
            parts += [sign, self.label_part(call.arguments[1], LABEL_LEVELS[call.operator][1], axes)]
        return Box(parts, level)

    def label_part(self, node: Any, level: int, axes: bool) -> Part:
        """Return the layout of an operand in a label, in brackets if it binds more loosely than `level`."""
        part = self.label(node, axes)
        return self.round(part) if isinstance(part, Box) and part.level < level else part

    def index(self, node) -> Box:
        items = [Box((self.box_of(axis), self.round(self.tight(position)))) for axis, position in node.items]
        return self.select(node.base, items)

    def rename(self, node) -> Box:
        arrow = self.signs["→"]
        return self.select(node.base, [Box((self.targets(old), arrow, self.targets(new))) for old, new in node.items])

    def targets(self, axes: Sequence[Axis]) -> Box:
        names = Box(separate(map(self.box_of, axes), ","))
        return names if len(axes) == 1 else Box(("(", names, ")"))

    def select(self, base: Any, items: list[Box]) -> Box:
        """Return the box of a base with indices or renames. Square brackets surround a longer base, as in the paper."""
        box = self.box_of(base)
        if box.level < POSTFIXED or type(base) is nodes.Literal or (type(base) is Call and not _is_own(base)):
            box = self.square(box) if box.level >= SUM else self.round(box)
        return self.attach(base, box, "_", Box(separate(items, ", ")))

    def tight(self, node: Any, level: int = OR) -> Box:
        """Return the box of a sum or operand in a script, without spaces, as in t-1."""
        if type(node) is Name:
            return self.word(node.text)
        if not is_plain_sum(node):
            return self.part(node, level, last=True)
        spine = left_spine(node)
        parts: list[Part] = [self.box_of(spine[-1].arguments[0] if spine else node)]
        for call in reversed(spine):
            parts += [call.operator, self.right(call.arguments[1], QUOTIENT)]
        return Box(parts)


def _is_own(call: Call) -> bool:
    """Return whether the program may define the called function.

    For such a function, f(x)_{h(i)} could be a left-hand side.
    """
    is_built_in = call.operator == "juxtaposed" or call.operator in FUNCTIONS
    return call.operator.isidentifier() and not is_built_in and not call.subscript


def _is_ambiguous(node: Any) -> bool:
    """Return whether a power needs brackets to be unambiguous.

    For example, mean_{n}(x)^2 could be the mean of squares.
    """
    if type(node) is Starred:
        return False
    base = node.base
    while type(base) is Subscript:  # mean_{n}(x)_k^2
        base = base.base
    if isinstance(base, (nodes.Over, nodes.IndexSum)):
        return base.operator.isidentifier()  # The ∑ has its own brackets.
    if type(base) is not Call or not base.operator.isidentifier() or base.operator in WITHOUT_AXES:
        return False
    if len(base.arguments) != 1 or base.parameters:
        return False
    has_axes = any(type(component) is not Number for component in base.subscript)
    return has_axes or (base.operator in FUNCTIONS and bool(base.subscript))


def _axis_as_label(name: str) -> Any:
    """Return the labeled name that was parsed as this axis.

    For example, hidden_1 becomes hidden with the label 1.
    """
    word, *labels = [name] if name in UNDERSCORED else name.split("_")
    node: Any = Name(word)
    for label in labels:
        plain = label.rstrip("*†")
        node = Subscript(node, (Name(plain),))
        for mark in label[len(plain) :]:
            node = Starred(node, mark)
    return node


def is_plain_sum(node: Any) -> bool:
    """Return whether `node` is a name, a number, or a sum or difference of these, such as t-1."""
    while type(node) is Call and node.operator in ("+", "-"):
        if type(node.arguments[1]) not in (Name, Number):
            return False
        node = node.arguments[0]
    return type(node) in (Name, Number)
