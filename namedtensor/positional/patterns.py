"""Patterns of einops: rearrange and reduce.

rearrange(x, "t (k c) -> k t c", k=3)    a word is an axis, brackets are several in one dimension
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import values
from .axes import Axes, AxisVariable
from .code import CodeReader
from .code_expressions import SPECIAL, called
from .einsum import declare, texts_of
from .operations import Misuse, as_value
from .values import AxisValue, call

REDUCTIONS = {"sum": "∑", "mean": "mean", "max": "max", "min": "min", "prod": "∏"}
GROUP = re.compile(r"\([^()]*\)|[^\s()]+")
Groups = list[list[str]]


@dataclass(frozen=True)
class AxisPattern:
    """The words of each dimension before and after, the lengths that are given, and the reduction of words that are gone."""

    before: Groups
    after: Groups
    lengths: Mapping[str, Any]
    reduction: str

    @property
    def gone(self) -> list[str]:
        remaining = words_of(self.after)
        return [word for word in words_of(self.before) if word not in remaining]


def words_of(groups: Groups) -> list[str]:
    return [word for group in groups for word in group]


def rearranged(code: CodeReader, node: ast.Call, method: bool) -> Any:
    """rearrange(x, "b (h d) -> b h d", h=8), reduce(x, "b c -> b", "mean"), repeat"""
    name = called(node)
    texts = texts_of(node)
    operand = node.args[0] if node.args else node
    if not texts or "->" not in str(texts[0].value) or len(node.args) != 1 + len(texts) or operand in texts:
        raise code.refuse(node, f"{name} expects a tensor and a pattern")
    pattern = pattern_of(code, node, name, texts)
    declare(code, node.args[0], ["".join(group) or "one" for group in pattern.before])
    return named_rearrange(code.axes, code.ev(node.args[0]), pattern)


def pattern_of(code: CodeReader, node: ast.Call, name: str, texts: list[ast.Constant]) -> AxisPattern:
    """The pattern of a call. Raises NotationError if it is invalid, or is not one of named notation."""
    left, _, right = str(texts[0].value).partition("->")
    lengths = {keyword.arg or "": code.ev(keyword.value) for keyword in node.keywords}
    reduction = str(texts[1].value) if len(texts) > 1 else ""
    pattern = AxisPattern(groups_of(code, texts[0], left), groups_of(code, texts[0], right), lengths, reduction)
    before, after = words_of(pattern.before), words_of(pattern.after)
    if name == "reduce" and reduction not in REDUCTIONS:
        raise code.refuse(node, f"the reduction {reduction or 'of this kind'} is not supported")
    if len({*before}) < len(before) or len({*after}) < len(after):
        raise code.refuse(texts[0], "an axis is twice on one side of the pattern")
    for word in after:
        if word not in before:
            raise code.refuse(
                texts[0],
                f"{word} is on the right only: a new axis needs no repeat in named notation",
                "leave it out; it is broadcast over that axis",
            )
    if pattern.gone and name != "reduce":
        raise code.refuse(
            texts[0], f"{pattern.gone[0]} is on the left only", 'write reduce(x, …, "sum") to sum over it'
        )
    for word in lengths:
        if word not in before:
            raise code.refuse(node, f"{word} is not in the pattern")
    return pattern


def groups_of(code: CodeReader, node: ast.AST, text: str) -> Groups:
    groups = [
        match.strip("()").split() if match.startswith("(") else [] if match == "1" else [match]
        for match in GROUP.findall(text)
    ]
    for word in words_of(groups):
        if not word.isidentifier():
            raise code.refuse(node, f"{word} is not supported in a pattern")
    return groups


def named_rearrange(axes: Axes, x: Any, pattern: AxisPattern) -> AxisValue:
    value = as_value(x)
    if len(pattern.before) != len(value.dims):
        raise Misuse(f"the pattern has {len(pattern.before)} dimensions, and the tensor {len(value.dims)}")
    node = value.node
    parts: dict[str, AxisVariable] = {}
    for group, dim in zip(pattern.before, value.dims):
        if len(group) == len(dim) == 1:
            parts[group[0]] = dim[0]
        elif len(group) > 1 and len(dim) == 1:
            split = split_axes(axes, dim[0], group, pattern.lengths)
            node = values.merged(node, dim, split)
            parts |= dict(zip(group, split))
        elif group or dim:
            raise Misuse("the pattern does not fit the tensor")
    axes.apart(parts.values())
    axes.apart(value.axes)
    if pattern.gone:
        node = call(REDUCTIONS[pattern.reduction], (node,), [parts[word] for word in pattern.gone])
    return AxisValue(node, tuple(tuple(parts[word] for word in group) for group in pattern.after))


def split_axes(axes: Axes, whole: AxisVariable, group: list[str], lengths: Mapping[str, Any]) -> list[AxisVariable]:
    """The parts of an axis in brackets, of which one may have no length."""
    split = [axes.new(hint=word) for word in group]
    opened = [word for word in group if word not in lengths]
    if len(opened) > 1:
        raise Misuse(f"the lengths of {', '.join(opened)} are not known: give {opened[0]}=…")
    for word, axis in zip(group, split):
        if isinstance(lengths.get(word), int):
            axes.facts.stated.append((axis, lengths[word]))
        elif word in lengths:
            raise Misuse(f"the length {word} is not a number")
    axes.facts.products.append((whole, tuple(split)))
    return split


SPECIAL.update(rearrange=rearranged, reduce=rearranged, repeat=rearranged)
