"""The einops patterns of rearrange, reduce and repeat.

Each word is an axis, and parentheses combine several axes in one dimension:

    rearrange(x, "t (k c) -> k t c", k=3)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import values
from .axes import Axes, AxisVariable, Dim, axes_of
from .code import CodeReader
from .code_expressions import SPECIAL, get_called_name
from .creation_operations import new_axis
from .einsum import declare, texts_of
from .operations import MisuseError, to_value
from .values import AxisValue, call

REDUCTIONS = {"sum": "∑", "mean": "mean", "max": "max", "min": "min", "prod": "∏"}
GROUP = re.compile(r"\([^()]*\)|[^\s()]+")
DOTS, MERGED_DOTS = "...", "(...)"  # dimensions that stay separate, and dimensions in one group
Groups = list[list[str]]


@dataclass(frozen=True)
class AxisPattern:
    """An einops pattern: the words of each dimension on both sides, the given lengths, and the reduction's name."""

    before: Groups
    after: Groups
    lengths: Mapping[str, Any]
    reduction: str

    @property
    def gone(self) -> list[str]:
        remaining = words_of(self.after)
        return [word for word in words_of(self.before) if word not in remaining]

    @property
    def new(self) -> list[str]:
        known = words_of(self.before)
        return [word for word in words_of(self.after) if word not in known]


def words_of(groups: Groups) -> list[str]:
    return [word for group in groups for word in group]


def read_einops(code: CodeReader, node: ast.Call, method: bool) -> Any:
    """Translate an einops call such as rearrange(x, "b (h d) -> b h d", h=8) or reduce(x, "b c -> b", "mean")."""
    name = get_called_name(node)
    texts = texts_of(node)
    operand = node.args[0] if node.args else node
    if not texts or "->" not in str(texts[0].value) or len(node.args) != 1 + len(texts) or operand in texts:
        raise code.refuse(node, f"{name} expects a tensor and a pattern")
    left, _, right = str(texts[0].value).partition("->")
    lengths: dict[str, Any] = {}
    before, after = (groups_of(code, texts[0], side, lengths) for side in (left, right))
    if MERGED_DOTS in words_of(before):
        raise code.refuse(
            texts[0], "the dimensions of ... cannot be split", "write ... without parentheses on the left"
        )
    declare(code, node.args[0], ["".join(group) or "one" for group in before])
    x = to_value(code.ev(node.args[0]))
    before, after = expand_dots(before, after, len(x.dims))
    return apply_pattern(code.axes, x, pattern_of(code, node, name, texts, before, after, lengths))


def expand_dots(before: Groups, after: Groups, rank: int) -> tuple[Groups, Groups]:
    """Return both sides of the pattern, with ... replaced by a word for each dimension that it covers."""
    words = [f".{number}" for number in range(rank - len(before) + 1)]
    left, right = (
        [group for one in side for group in ([[word] for word in words] if one == [DOTS] else [one])]
        for side in (before, after)
    )
    return left, [[word for one in group for word in (words if one == MERGED_DOTS else [one])] for group in right]


def pattern_of(
    code: CodeReader,
    node: ast.Call,
    name: str,
    texts: list[ast.Constant],
    before: Groups,
    after: Groups,
    numbers: Mapping[str, Any],
) -> AxisPattern:
    """Return the parsed pattern of a call. Raise NotationError if the pattern is invalid or cannot be translated."""
    lengths = {keyword.arg or "": code.ev(keyword.value) for keyword in node.keywords} | {**numbers}
    reduction = str(texts[1].value) if len(texts) > 1 else ""
    pattern = AxisPattern(before, after, lengths, reduction)
    left, right = words_of(before), words_of(after)
    if name == "reduce" and reduction not in REDUCTIONS:
        raise code.refuse(node, f"the reduction {reduction or 'of this kind'} is not supported")
    if len({*left}) < len(left) or len({*right}) < len(right):
        raise code.refuse(texts[0], "an axis is twice on one side of the pattern")
    for word in pattern.new:
        if name != "repeat":
            named = spell_word(word)
            raise code.refuse(texts[0], f"{named} is on the right only", "write repeat(x, …) to add an axis")
        if word not in lengths:
            raise code.refuse(texts[0], f"the length of {word} is not known", f"give {word}=…")
    if pattern.gone and name != "reduce":
        raise code.refuse(
            texts[0], f"{spell_word(pattern.gone[0])} is on the left only", 'write reduce(x, …, "sum") to sum over it'
        )
    for word in lengths:
        if word not in left + right:
            raise code.refuse(node, f"{word} is not in the pattern")
    return pattern


def spell_word(word: str) -> str:
    """Return the spelling of a word in the pattern, which is 2 for the word 2.0 and ... for the word .0."""
    return DOTS if word.startswith(".") else word.partition(".")[0]


def groups_of(code: CodeReader, node: ast.AST, text: str, lengths: dict[str, Any]) -> Groups:
    """Return the words of each dimension. Each number becomes a new word, whose length is added to `lengths`."""

    def read_word(word: str, dots: str) -> str:
        if word.isdigit():
            lengths[f"{word}.{len(lengths)}"] = int(word)
            return [*lengths][-1]
        if not word.isidentifier() and word != DOTS:
            raise code.refuse(node, f"{word} is not supported in a pattern")
        return dots if word == DOTS else word

    return [
        [read_word(word, MERGED_DOTS if match[0] == "(" else DOTS) for word in match.strip("()").split() if word != "1"]
        for match in GROUP.findall(text)
    ]


def apply_pattern(axes: Axes, value: AxisValue, pattern: AxisPattern) -> AxisValue:
    """Split, reduce, repeat, reorder and merge the dimensions of a value, as a pattern states."""
    if len(pattern.before) != len(value.dims):
        raise MisuseError(f"the pattern has {len(pattern.before)} dimensions, and the tensor {len(value.dims)}")
    node = value.node
    parts: dict[str, Dim] = {}
    for group, dim in zip(pattern.before, value.dims):
        if len(group) == 1:
            parts[group[0]] = dim
            if len(dim) == 1 and isinstance(length := pattern.lengths.get(group[0]), int):
                axes.facts.stated.append((dim[0], length))
        elif len(group) > 1 and len(dim) == 1:
            split = split_axes(axes, dim[0], group, pattern.lengths)
            node = values.merge_axes(node, dim, split)
            parts |= {word: (axis,) for word, axis in zip(group, split)}
        elif group or dim:
            raise MisuseError("the pattern does not fit the tensor")
    axes.apart(axes_of(parts.values()))
    axes.apart(value.axes)
    if over := axes_of(parts[word] for word in pattern.gone):
        node = call(REDUCTIONS[pattern.reduction], (node,), over)
    for word in pattern.new:
        new = new_axis(axes, pattern.lengths[word])
        parts[word], node = (new,), call("⊙", (node, values.ones(new)))
    axes.apart(axes_of(parts[word] for word in words_of(pattern.after)))
    return AxisValue(node, tuple(axes_of(parts[word] for word in group) for group in pattern.after))


def split_axes(axes: Axes, whole: AxisVariable, group: list[str], lengths: Mapping[str, Any]) -> list[AxisVariable]:
    """Split an axis into the parts that the pattern lists in parentheses. The length of one part can be omitted."""
    split = [axes.new(hint=word if word.isidentifier() else "") for word in group]
    opened = [word for word in group if word not in lengths]
    if len(opened) > 1:
        raise MisuseError(f"the lengths of {', '.join(opened)} are not known: give {opened[0]}=…")
    for word, axis in zip(group, split):
        if isinstance(lengths.get(word), int):
            axes.facts.stated.append((axis, lengths[word]))
        elif word in lengths:
            raise MisuseError(f"the length {word} is not a number")
    axes.facts.products.append((whole, tuple(split)))
    return split


SPECIAL.update(rearrange=read_einops, reduce=read_einops, repeat=read_einops)
