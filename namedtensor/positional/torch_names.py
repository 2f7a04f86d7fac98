"""The names of a module's tensors and axes in the notation, and the axes of declared tensors.

Parameters are named after their paths, and values are named after the variables of the source.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Node
from grammar.parser import parse
from grammar.printer import to_text
from grammar.symbols import FUNCTIONS

from .axes import Axes, AxisClashError, AxisVariable, Dim, axes_of
from .torch_trace import SourceLine, UnreadableModuleError

RESERVED = FUNCTIONS | {"iota", "ones", "I", "d", "if", "for", "otherwise", "and", "or", "in", "odd", "even", "e", "pi", "not", "sum", "prod", "to", "end"}  # fmt: skip
LETTERS = {"weight": "W", "bias": "b"}
ASSIGNED = re.compile(r"([A-Za-z_]\w*)\s*(?::[^=]+)?[-+*/@]?=(?!=)")


def camel(words: str) -> str:
    """Convert a dotted path such as layers.0.in_proj to layers0InProj."""
    first, *rest = [word for word in re.split(r"[\W_]+", words) if word] or ["h"]
    joined = first + "".join(word[:1].upper() + word[1:] for word in rest)
    return joined if joined[0].isalpha() and joined.isascii() else f"h{re.sub(r'[^A-Za-z0-9]', '', joined)}"


def write_parameter_name(path: str) -> Node:
    """Return a name for a parameter, given its path.

    For example, q.weight becomes W_q, norm1.bias becomes b_{norm1}, and weight_hh_l0 becomes W_{hhL0}.
    """
    *owner, last = path.split(".")
    for word, letter in LETTERS.items():
        if last == word or last.startswith(f"{word}_"):
            base, label = letter, ".".join([*owner, last.removeprefix(word).strip("_")]).strip(".")
            break
        if last.endswith(f"_{word}"):
            base, label = letter, ".".join([*owner, last.removesuffix(f"_{word}")])
            break
    else:
        base, label = camel(path if last.isdigit() else last), "" if last.isdigit() else ".".join(owner)
    if base in RESERVED:
        base, label = camel(path) + "Value", ""
    return nodes.Subscript(nodes.Name(base), (nodes.Name(camel(label)),)) if label else nodes.Name(base)


def write_input_name(name: str) -> Node:
    """Return a name for an argument, which is the argument's own name if the notation permits it."""
    try:
        (statement,) = parse(name, "text").statements
    except (NotationError, ValueError):
        return nodes.Name(camel(name))
    body = getattr(statement, "body", None)
    plain = isinstance(body, nodes.Name) or (isinstance(body, nodes.Subscript) and isinstance(body.base, nodes.Name))
    return body if body is not None and plain and name not in RESERVED else nodes.Name(camel(name) + "Value")


def hint_of(path: str) -> str:
    """Return a name for a new axis: the last word of the layer's path that is not a number.

    If the parameter does not belong to a layer, the name is derived from the parameter's name.
    """
    words = [word for word in path.split(".")[:-1] if not word.isdigit()]
    last = words[-1] if words else re.sub(r"_?(weight|bias)_?", "", path.split(".")[-1]) or path
    word = camel(last)
    return f"{word}Out" if word in LETTERS or word in RESERVED else word


@dataclass
class TensorNames:
    """The set of tensor names that are in use. It provides fresh names."""

    taken: set[str]
    indices: set[str] = field(default_factory=set)  # letters that number the members of families

    def fresh(self, node: Node) -> Node:
        """Return this name, with a number as a subscript if it is already in use, and mark the result as used."""
        base = to_text(node)
        if base not in self.taken and base not in RESERVED and base not in self.indices:
            self.taken.add(base)
            return node
        stem, components = (node.base, node.components) if isinstance(node, nodes.Subscript) else (node, ())
        numbered = (nodes.Subscript(stem, (*components, nodes.Number(number))) for number in count(2))
        result = next(candidate for candidate in numbered if to_text(candidate) not in self.taken)
        self.taken.add(to_text(result))
        return result

    def function(self, word: str) -> str:
        """Return a fresh name for a function."""
        name = camel(word if not word.isdigit() else f"layer{word}")
        while name in self.taken or name in RESERVED or name in self.indices:
            name += "F"
        self.taken.add(name)
        return name

    def of_value(self, source: SourceLine, path: str, operator: str) -> Node:
        """Return a name for a value.

        The name is the variable that the source line assigns. If there is none, the name comes from the module's path
        or from the operation.
        """
        match = ASSIGNED.match(source.text)
        if match:
            word = match[1]
        elif path:
            word = hint_of(f"{path}.value")
        else:
            word = operator
        word = camel(word)
        if word in RESERVED or not word:
            word = f"{word}Value"
        return self.fresh(nodes.Name(word))


def axis_words(spelling: str) -> list[list[tuple[str, int | None]]]:
    """Return the axes that a text gives each dimension.

    For "batch (heads[8] key) chans", they are [[batch], [heads of size 8, key], [chans]].
    """
    words = re.findall(r"\([^()]*\)|[^\s()]+", spelling)
    return [[_split_size(word) for word in re.split(r"[\s,]+", group.strip("() ")) if word] for group in words]


def _split_size(word: str) -> tuple[str, int | None]:
    match = re.fullmatch(r"(?P<name>[^\s\[\]]+?)(?:\[(?P<size>\d+)\])?", word)
    if match is None:
        raise NotationError(405, f"{word} is not an axis", hint="write chans, or chans[6] with its size")
    return match["name"], int(match["size"]) if match["size"] else None


EXAMPLES = ("chans", "seq", "height", "width", "depth", "group")


def suggest_names(spelled: str, count: int, dimensions: int) -> str:
    """Return a hint for a text with `count` axis names if the array has more or fewer dimensions."""
    if count > dimensions:
        return "parentheses split a dimension, as in (heads[8] key)" if dimensions else "write ''"
    more = [name for name in EXAMPLES if name not in spelled]
    return f"name each dimension, as in {' '.join([spelled, *more[: dimensions - count]]).strip()!r}"


class ModuleLeaves:
    """The assignment of axes to the dimensions of declared tensors."""

    def __init__(self, axes: Axes, given: Mapping[str, str]):
        self.axes, self.given = axes, given

    def dims_of(self, kind: str, path: str, shape: Sequence[int]) -> tuple[Dim, ...]:
        spelled = self.given.get(path)
        if spelled is None:
            hints = self.hints(kind, path, len(shape))
            return tuple(
                () if length == 1 else (self.axes.new(size=length, hint=hint),) for length, hint in zip(shape, hints)
            )
        words = axis_words(spelled)
        if len(words) != len(shape):
            sizes = " × ".join(map(str, shape))
            raise UnreadableModuleError(
                f"names[{path!r}] = {spelled!r} names {len(words)} {'axis' if len(words) == 1 else 'axes'}, but {path} has "
                f"{len(shape)} {'dimension' if len(shape) == 1 else 'dimensions'}{sizes and f' ({sizes})'}",
                hint=suggest_names(spelled, len(words), len(shape)),
                final=True,
            )
        dims: list[Dim] = []
        for word, length in zip(words, shape):
            dims.append(self.name_dimension(path, word, length, {axis.fixed for dim in dims for axis in dim}))
        self.axes.apart(axes_of(dims))
        return tuple(dims)

    def name_dimension(self, path: str, words: Sequence[tuple[str, int | None]], length: int, before: set[str]) -> Dim:
        known = {name: self.axes.given[name].kind.size for name, _ in words if name in self.axes.given}
        sizes = [position or known.get(name) for name, position in words]
        product = math.prod(size or 1 for size in sizes)
        if sizes.count(None) > 1 or length % product or (None not in sizes and product != length):
            listed = " ".join(name for name, _ in words)
            hint = "state sizes, as in (heads[8] key)"
            raise UnreadableModuleError(
                f"{path} has {length} along {listed}, whose sizes do not make that", hint=hint, final=True
            )
        dim: list[AxisVariable] = []
        for (name, _), size in zip(words, sizes):
            while name in before:
                name += "'"
            before.add(name)
            if (size or length // product) > 1:
                try:
                    dim.append(self.axes.named(name, size or length // product))
                except AxisClashError:
                    raise UnreadableModuleError(
                        f"{name} is {size or length // product} in {path}, and another size elsewhere", final=True
                    ) from None
        return tuple(dim)

    def hints(self, kind: str, path: str, rank: int) -> Sequence[str]:
        if kind in ("input", "mask"):
            known = {1: ["seq"], 2: ["batch", "chans"], 3: ["batch", "seq", "chans"]}
            return known.get(rank) or [
                "batch",
                "chans",
                "height",
                "width",
                "depth",
                *(f"dim{dim}" for dim in range(5, rank)),
            ]
        if kind == "constant":
            return [f"dim{dim}" if rank > 1 else "dim" for dim in range(1, rank + 1)]
        base = hint_of(path)
        if rank > 5:
            return [f"{base}{dim}" for dim in range(rank)]
        return [base, f"{base}In", "kheight", "kwidth", "kdepth"]
