"""A text as nested loops, fused: what one computes for one element, and over what.

    Q ⊙_{key} K        for seq in 1 … 5:
                           total1 = 0
                           for key in 1 … 4:
                               total1 += Q[key] · K[seq, key]
                           value[seq] = total1

An intermediate tensor is never there: its element is computed where it is needed, in the outermost loop that knows all of its
indices, once. What a program names is there, and so is what has no element of its own, such as `sort`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..display.code import named_terms
from ..terms.environment import source_name
from ..terms.terms import Term, topological
from .elements import ELEMENTS, WrittenElement
from .replies import Reply
from .requests import Request
from .stages import stages_of, title
from .typed import typed

Place = Mapping[str, str]  # of each axis what is written for its index
MOST = 600  # lines
ACCUMULATORS = {
    "⊙": "product", "dot": "product", "softmax": "normalizer", "logsoftmax": "normalizer", "logsumexp": "normalizer",
    "max": "largest", "min": "smallest",
}  # fmt: skip
Line = tuple[str, Any]  # what is written, and the span of the formula that it is of


@dataclass
class LoopBlock:
    """The inside of a loop: its lines, the indices known there, and what was computed there already."""

    indices: tuple[str, ...] = ()
    lines: list[Line | NestedLoop] = field(default_factory=list["Line | NestedLoop"])
    known: dict[Any, WrittenElement] = field(default_factory=dict[Any, WrittenElement])


class NestedLoop(NamedTuple):
    head: str
    body: LoopBlock


class NoElement(Exception):
    """That a term has no element that a line could say."""


class LoopWriter:
    """`element` gives the code for one element of a term, and writes before it what has to be computed first."""

    def __init__(
        self, names: Mapping[int, str], text: Callable[[Any], str], whole: dict[int, str], out: list[Line | NestedLoop]
    ):
        self.names, self.text, self.whole, self.out = names, text, whole, out
        self.blocks = [LoopBlock()]
        self.scores: dict[int, str] = {}  # products that a softmax is taken of
        self.counts: dict[str, int] = {}  # names of numbers that loops make, with the last number after each

    # ------------------------------------------------------------------------------------------------------ one element
    def element(self, term: Term, at: Place) -> WrittenElement:
        """The code for an element of a term at these indices."""
        at = {axis: at[axis] for axis in term.shape}
        if id(term) in self.names and id(term) not in self.whole:
            self.compute(term, self.names[id(term)])
        if id(term) in self.whole:
            return taken(self.whole[id(term)], at.values())
        mark = (id(term), *sorted(at.items()))
        for block in self.blocks:
            if mark in block.known:
                return block.known[mark]
        try:
            rule = ELEMENTS.get(term.operator)
            if rule is None:
                raise NoElement
            return rule(self, term, at)
        except NoElement:
            return self.opaque(term, at)

    def opaque(self, term: Term, at: Place) -> WrittenElement:
        """Return an element of a term that is not expanded into loops."""
        node = term.node
        text = self.text(node) if node is not None else term.operator
        name = f"T{1 + sum(other.startswith('T') for other in self.whole.values())}"
        self.whole[id(term)] = name
        self.out.append((f"{name} = {text}", getattr(node, "span", None)))
        return taken(name, at.values())

    def remember(self, term: Term, at: Place, element: WrittenElement) -> WrittenElement:
        """The same for each later use in the block where it was computed."""
        self.blocks[self.depth(at)].known[(id(term), *sorted(at.items()))] = element
        return element

    def fresh_name(self, term: Term, start: str) -> str:
        """A name for a number that loops make: what the operator's value is called, with a number where it is taken."""
        name = base = self.scores.get(id(term)) or ACCUMULATORS.get(
            term.operator, "total" if start in ("0", "1") else "best"
        )
        taken = {*self.counts, *self.names.values(), *self.whole.values()}
        while name in taken:
            self.counts[base] = self.counts.get(base, 1) + 1
            name = f"{base}{self.counts[base]}"
        self.counts.setdefault(name, 1)
        return name

    # ------------------------------------------------------------------------------------------------------------ loops
    def total(
        self, term: Term, at: Place, axes: tuple[str, ...], sizes: Mapping[str, int], start: str, grow: str,
        body: Callable[[Place], WrittenElement],
    ) -> WrittenElement:  # fmt: skip
        """A number that loops over some axes make, in the outermost block where all its other indices are known."""
        depth = self.depth(at)
        inner, self.blocks = self.blocks[depth + 1 :], self.blocks[: depth + 1]
        name = self.fresh_name(term, start)
        span = getattr(term.node, "span", None)
        lines: list[Line | NestedLoop] = [(f"{name} = {start}", span)]
        with self.opened(axes, sizes, lines, inner) as indices:
            text = body({**at, **indices}).text
            self.blocks[-1].lines.append((grow.format(name, text), span))
        self.blocks[-1].lines += lines
        self.blocks += inner
        return WrittenElement(name)

    @contextmanager
    def opened(
        self, axes: tuple[str, ...], sizes: Mapping[str, int], lines: list[Line | NestedLoop], inside: list[LoopBlock]
    ) -> Generator[dict[str, str]]:
        """Loops over axes, one in another, written to `lines`; the indices that they give."""
        indices: dict[str, str] = {}
        loops: list[NestedLoop] = []
        for axis in axes:
            indices[axis] = self.fresh(axis, inside)
            loop = NestedLoop(
                f"for {indices[axis]} in 1 … {sizes[axis]}:", LoopBlock((*self.blocks[-1].indices, indices[axis]))
            )
            loops.append(loop)
            self.blocks.append(loop.body)
        yield indices
        for loop in reversed(loops):  # a loop comes after what was computed before it
            self.blocks.pop()
            (lines if loop is loops[0] else self.blocks[-1].lines).append(loop)
        if lines_of(self.out) + lines_of(self.blocks[0].lines) + lines_of(lines) > MOST:
            raise NotationError(404, f"written as loops, this has more than {MOST} lines", hint="select one equation")

    def fresh(self, axis: str, inside: list[LoopBlock]) -> str:
        """A name for an index that no loop around has."""
        taken = {index for block in (*self.blocks, *inside) for index in block.indices}
        index = source_name(axis)
        while index in taken:
            index += "'"
        return index

    def depth(self, at: Place) -> int:
        """The outermost block where these indices are known."""
        used = " ".join(at.values())
        needed = {index for block in self.blocks for index in block.indices if index in used.split()}
        needed |= {index for index in self.blocks[-1].indices if mentions(used, index)}
        return next(index for index, block in enumerate(self.blocks) if needed <= {*block.indices})

    # -------------------------------------------------------------------------------------------------- a whole tensor
    def compute(self, term: Term, name: str) -> None:
        """Write the loops that compute a tensor."""
        self.whole.pop(id(term), None)
        writer = LoopWriter(
            {index: named for index, named in self.names.items() if index != id(term)}, self.text, self.whole, self.out
        )
        writer.counts, writer.scores = self.counts, self.scores
        axes, sizes = tuple(term.shape), dict(term.shape)
        lines: list[Line | NestedLoop] = []
        with writer.opened(axes, sizes, lines, []) as at:
            text = writer.element(term, at).text
            if f"{taken(name, at.values()).text}" != text:
                writer.blocks[-1].lines.append(
                    (f"{taken(name, at.values()).text} = {text}", getattr(term.node, "span", None))
                )
        self.out += [*writer.blocks[0].lines, *(lines if axes else [])]
        self.whole[id(term)] = name


def taken(name: str, indices: Any) -> WrittenElement:
    """An element of a tensor that is there."""
    text = ", ".join(indices)
    return WrittenElement(f"{name}[{text}]" if text else name)


def mentions(text: str, index: str) -> bool:
    """Whether an index appears in a text as a word."""
    return index in text.replace("(", " ").replace(")", " ").replace(",", " ").split()


def lines_of(lines: list[Line | NestedLoop]) -> int:
    return sum(1 + lines_of(line.body.lines) if isinstance(line, NestedLoop) else 1 for line in lines)


# --------------------------------------------------------------------------------------------------------------- a text
def loops(request: Request) -> Reply:
    """The answer to `loops`."""
    stages = stages_of(typed(request))
    out: list[Line | NestedLoop] = []
    names = named_terms(stages.checker)
    name = names.get(id(stages.root)) or title(stages.typed)
    writer = LoopWriter(names, stages.checker.text, {}, out)
    writer.scores = dict.fromkeys(products_of_softmax(stages.root), "score")
    writer.compute(stages.root, name)
    lines = list(laid_out(out, 0))
    return {"text": "\n".join("    " * line["indent"] + line["text"] for line in lines), "lines": lines}


def products_of_softmax(root: Term) -> Iterator[int]:
    """The products that are scaled or shifted at most before a softmax is taken of them."""
    for term in topological(root):
        below = term.arguments[0] if term.operator in ("softmax", "logsoftmax") else None
        while below is not None and below.operator in ("/", "+", "-", "rename", "where", "cases"):
            below = below.arguments[0]
        if below is not None and below.operator in ("⊙", "dot"):
            yield id(below)


def laid_out(lines: list[Line | NestedLoop], indent: int) -> Iterator[Reply]:
    for line in lines:
        if isinstance(line, NestedLoop):
            yield {"indent": indent, "text": line.head, "span": None}
            yield from laid_out(line.body.lines, indent + 1)
        else:
            span = line[1]
            yield {"indent": indent, "text": line[0], "span": list(span) if span and span != (0, 0) else None}
