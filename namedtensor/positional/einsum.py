"""Einsum strings, within code or alone, and the einops patterns of rearrange, reduce and repeat.

Each letter of an einsum string is an axis, and letters absent from the result are summed:

    einsum("bqd,bkd->bqk", Q, K)

Each word of a pattern is an axis, and parentheses combine several axes in one dimension:

    rearrange(x, "t (k c) -> k t c", k=3)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import values
from .axes import Axes, AxisVariable, Dim, axes_of
from .code import CodeReader
from .code_expressions import SPECIAL, get_called_name
from .creation_operations import new_axis
from .detection import LETTERS
from .inputs import SourceInput
from .matrix_leaves import Choose, node_of
from .operations import MisuseError, to_value
from .refusals import make_refusal
from .values import AxisValue, Leaf, call


class EinsumLetters(CodeReader):
    """The reader of einsum strings and einops patterns.

    An einsum string without code applies to all inputs in their given order.
    """

    def __init__(self, source: str, shapes: Mapping[str, Any], choose: Choose, kind: str = "einsum"):
        self.alone = LETTERS.fullmatch(source)
        super().__init__("0" if self.alone else source, shapes, choose, kind)
        if self.alone:
            self.source = source
            groups = self.alone[1].partition("->")[0].split(",")
            operands = [*shapes] or [chr(ord("A") + number) for number in range(len(groups))]
            if len(operands) != len(groups):
                message = f"there are {len(groups)} groups of letters, and {len(operands)} inputs"
                raise make_refusal(source, (0, len(source)), message)
            self.tree = ast.parse(f"einsum({self.alone[1]!r}, {', '.join(operands)})")

    def span(self, node: ast.AST) -> tuple[int, int]:
        return (0, len(self.source)) if self.alone else super().span(node)


def einsum(code: CodeReader, node: ast.Call, method: bool) -> Any:
    texts = texts_of(node)
    if not texts and len(node.args) > 1 and not method:
        return read_listed_einsum(code, node)
    if len(texts) != 1 or method:
        raise code.refuse(node, "einsum expects its letters as a string", 'write einsum("ab,bc->ac", A, B)')
    if unknown := [keyword.arg for keyword in node.keywords if keyword.arg != "optimize"]:
        raise code.refuse(node, f"the keyword {unknown[0]} of einsum is not supported")
    spec = str(texts[0].value)
    groups, output = letters_of(code, texts[0], spec)
    operands = [argument for argument in node.args if argument is not texts[0]]
    if len(operands) == 1 and isinstance(operands[0], (ast.Tuple, ast.List)):
        operands = list(operands[0].elts)
    if len(operands) != len(groups):
        raise code.refuse(node, f"there are {len(groups)} groups of letters, and {len(operands)} operands")
    for operand, group in zip(operands, groups):
        declare(code, operand, group)
    return read_named_einsum(code, groups, output, [code.ev(operand) for operand in operands])


LETTERS_OF_AXES = {str(axis): chr(ord("a") + axis) for axis in range(26)} | dict.fromkeys(("...", "Ellipsis"), "...")


def read_listed_einsum(code: CodeReader, node: ast.Call) -> Any:
    """Translate a call with axis numbers, such as np.einsum(A, [0, 1], B, [1, 2], [0, 2]), like a call with letters."""
    count, odd = divmod(len(node.args), 2)
    lists = [re.findall(r"[^\s,()\[\]]+", ast.unparse(axes)) for axes in (*node.args[1::2], *node.args[2 * count :])]
    words = ["".join(LETTERS_OF_AXES.get(axis, "?") for axis in axes) for axes in lists]
    if any("?" in word for word in words):
        raise code.refuse(node, "einsum expects its letters as a string", 'write einsum("ab,bc->ac", A, B)')
    spec = ",".join(words[:count]) + f"->{words[-1]}" * odd
    spelled = ast.Call(node.func, [ast.Constant(spec), *node.args[: 2 * count : 2]], node.keywords)
    return einsum(code, ast.copy_location(spelled, node), False)


def texts_of(node: ast.Call) -> list[ast.Constant]:
    """Return the string literals among the positional arguments of a call."""
    return [
        argument for argument in node.args if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]


def letters_of(code: CodeReader, node: ast.AST, spec: str) -> tuple[list[list[str]], list[str]]:
    left, arrow, right = spec.partition("->")
    if not re.fullmatch(r"[A-Za-z_0-9., ]*", left + right):
        raise code.refuse(node, "einsum expects letters, commas and ->")
    words = any(len(word) > 1 for word in re.findall(r"[A-Za-z_0-9]+", spec)) and " " in spec.replace(
        ", ", ","
    ).strip().replace(" ->", "->").replace("-> ", "->")
    split = str.split if words else re.compile(r"\.\.\.|[A-Za-z]").findall
    groups = [split(group) for group in left.split(",")]
    flat = [letter for group in groups for letter in group]
    output = (
        split(right) if arrow else sorted({letter for letter in flat if flat.count(letter) == 1 and letter != "..."})
    )
    if not arrow and "..." in flat:
        output = ["...", *output]
    for letter in output:
        if letter not in flat:
            raise code.refuse(node, f"{letter} is a letter of no operand")
    if len({*output}) < len(output):
        raise code.refuse(node, "a letter is twice in the result")
    return groups, output


def declare(code: CodeReader, operand: ast.expr, words: Sequence[str]) -> None:
    """Declare an operand that was not given, with one axis for each word of its pattern."""
    if not isinstance(operand, ast.Name) or code.has(operand.id) or "..." in words:
        return
    dims = tuple((code.axes.new(hint=word),) for word in words)
    code.inputs[operand.id] = SourceInput(operand.id, Leaf(node_of(operand.id), dims), guessed=True)


# ------------------------------------------------------------------------------------------------------------ einsum
def read_named_einsum(code: CodeReader, groups: list[list[str]], output: list[str], operands: list[Any]) -> AxisValue:
    axes = code.axes
    parts = [to_value(operand) for operand in operands]
    groups, output = replace_dots(groups, output, [len(part.dims) for part in parts])
    places: dict[str, Dim] = {}
    total: AxisValue | None = None
    held: list[str] = []
    for position, (part, group) in enumerate(zip(parts, groups)):
        if len(group) != len(part.dims):
            raise MisuseError(f"{len(group)} letters for {len(part.dims)} axes")
        others = {letter for other in groups[:position] + groups[position + 1 :] for letter in other}
        part, group = diagonal(code, part, group, others | {*output})
        for letter, dim in zip(group, part.dims):
            if letter in places and places[letter] and dim:
                axes.unify_dims(places[letter], dim)
            places[letter] = places.get(letter) or dim
        later = {letter for other in groups[position + 1 :] for letter in other} | {*output}
        total, held = multiply_part(axes, total, held, part, group, later, places)
    assert total is not None
    rest = [letter for letter in held if letter not in output]
    over = [axis for letter in rest for axis in places[letter]]
    total = values.reduce_value(axes, "∑", total, over, ())
    return total.moved(places[letter] for letter in output)


def multiply_part(
    axes: Any,
    total: AxisValue | None,
    held: list[str],
    part: AxisValue,
    group: list[str],
    later: set[str],
    places: Mapping[str, Dim],
) -> tuple[AxisValue, list[str]]:
    """Multiply the previous product by one more operand, and sum over the shared letters that no later operand needs.

    Return the new product and the letters of its dimensions.
    """
    if total is None:
        return part, list(group)
    had = {axis.root for axis in total.axes} & {axis.root for axis in part.axes}  # Dimensions of size 1 have no axes.
    both = [
        letter
        for letter in held
        if letter in group and letter not in later and all(axis.root in had for axis in places[letter])
    ]
    over = [axis for letter in both for axis in places[letter]]
    left = [letter for letter in dict.fromkeys((*held, *group)) if letter not in both]
    return values.contract_values(axes, total, part, over, tuple(places[letter] for letter in left)), left


def diagonal(code: CodeReader, part: AxisValue, group: list[str], others: set[str]) -> tuple[AxisValue, list[str]]:
    """Translate a letter that occurs twice in one operand, and return the resulting value and its letters.

    The result is the trace along both axes if neither another operand nor the output has the letter, or else the
    diagonal.
    """
    twice = next((letter for letter in group if group.count(letter) > 1), None)
    if twice is None:
        return part, group
    if group.count(twice) > 2 or len({*group}) < len(group) - 1:
        raise MisuseError(f"the letter {twice} more than twice in one operand")
    first, second = (position for position, letter in enumerate(group) if letter == twice)
    (one,), (two,) = part.dims[first], part.dims[second]
    if not one.kind.unify(two.kind):
        raise MisuseError(f"the letter {twice} is two different axes")
    rest = [position for position in range(len(group)) if position not in (first, second)]
    dims, letters = [part.dims[position] for position in rest], [group[position] for position in rest]
    code.axes.apart(part.axes)
    if twice not in others:
        return AxisValue(call("trace", (part.node,), (one, two)), tuple(dims)), letters
    return AxisValue(values.diagonal(part.node, one, two), (*dims, (one,))), [*letters, twice]


def replace_dots(groups: list[list[str]], output: list[str], ranks: list[int]) -> tuple[list[list[str]], list[str]]:
    """Return the letters of operands and output, with ... replaced by a name for each dimension that it covers.

    The names count from the last covered dimension, so that equal names are aligned as in broadcasting.
    """
    covered = [rank - len(group) + 1 if "..." in group else 0 for group, rank in zip(groups, ranks)]

    def spelled(group: list[str], count: int) -> list[str]:
        dots = [f".{number}" for number in reversed(range(count))]
        return [name for letter in group for name in (dots if letter == "..." else [letter])]

    return [spelled(group, count) for group, count in zip(groups, covered)], spelled(output, max(covered))


def dot_by_names(code: CodeReader, node: ast.Call, method: bool) -> AxisValue:
    """Translate xr.dot(A, B, dim="z"), which aligns the axes of its inputs by name."""
    parts = [to_value(code.ev(argument)) for argument in node.args]
    keywords = {keyword.arg: code.ev(keyword.value) for keyword in node.keywords}
    over = keywords.pop("dim", None)
    if keywords:
        raise code.refuse(node, f"the keyword {next(iter(keywords))} of xr.dot is not supported")
    groups: list[list[str]] = []
    for argument, part in zip(node.args, parts):
        groups.append([dim[0].kind.root.name if len(dim) == 1 else "" for dim in part.dims])
        if not isinstance(argument, ast.Name) or not all(groups[-1]):
            raise code.refuse(argument, "xr.dot expects inputs with named axes", 'give their axes: A="x y z"')
    flat = [name for group in groups for name in group]
    if over is None:
        over = [name for name in flat if flat.count(name) > 1]
    summed = [over] if isinstance(over, str) else flat if over is Ellipsis else [*over]
    if unknown := [name for name in summed if name not in flat]:
        raise code.refuse(node, f"no input has the axis {unknown[0]}")
    return read_named_einsum(code, groups, [name for name in dict.fromkeys(flat) if name not in summed], parts)


SPECIAL.update(einsum=einsum, xarray=dot_by_names)


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
    """Return a word as the pattern spells it. For example, 2.0 is spelled 2, and .0 is spelled as three dots."""
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
