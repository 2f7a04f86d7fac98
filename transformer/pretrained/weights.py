"""The table of the names that files use for the parameters of a model.

A Hugging Face file contains positional arrays. Each row of the table contains the name of a parameter in the formulas,
the name of its array, and the axes of the array in order. An axis such as (heads key) merges two axes. The last column
selects a part along an axis:

    W^{l,Q}  h.{l}.attn.c_attn.weight  chans (three[3] heads key)  three=0

In formulas, l counts from 1 to L, and in the file, l counts from 0. A second family uses n and N in
the same way. A longer name in braces, as in "experts.{expert}.w1.weight", is an axis with one array for each index.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import Any

import namedtensor as nt


class WeightEntry:
    """A row of the table: the name and the axes of the array that contains a parameter, and the part to use."""

    def __init__(self, name: str, tensor: str, axes: str, **part: int):
        self.name, self.tensor, self.part = name, tensor, part
        stacked = re.search(r"\{(\w\w+)\}", tensor)
        self.stacked = stacked[1] if stacked else ""  # the axis with one array of the file for each index
        plain = re.sub(r"\[\d+\]", "", axes)
        self.stated = {axis: int(size) for axis, size in re.findall(r"(\w+)\[(\d+)\]", axes)}
        self.groups = tuple(tuple(group.strip("()").split()) for group in re.findall(r"\([^()]*\)|\S+", plain))

    def counted(self, count: int) -> WeightEntry:
        """Return the weight entry for one layer of a family. Layers count from 1."""
        entry = copy(self)
        entry.name = re.sub(rf"\b{self.family}\b", str(count), self.name)
        entry.tensor = self.tensor.replace(f"{{{self.family}}}", str(count - 1))
        return entry

    def apart(self, count: int) -> list[WeightEntry]:
        """Return the weight entries for an axis whose elements are stored as separate arrays, one for each index."""
        rows: list[WeightEntry] = [copy(self) for _ in range(count)]
        for index, row in enumerate(rows):
            row.tensor = self.tensor.replace(f"{{{self.stacked}}}", str(index))
        return rows

    @property
    def family(self) -> str | None:
        """The letter that numbers the layers of a family, or None for a weight entry that is not part of a family."""
        letter = re.search(r"\{(\w)\}", self.tensor)
        return letter and letter[1]

    @property
    def axes(self) -> set[str]:
        """The names of the parameter's axes."""
        return {axis for group in self.groups for axis in group} - set(self.part) | ({self.stacked} - {""})

    def sizes(self, known: Mapping[str, int]) -> tuple[int | None, ...]:
        """Return the sizes that the array must have. A size that is not known is None."""
        totals: list[int | None] = []
        for group in self.groups:
            total: int | None = 1
            for axis in group:
                size = self.stated.get(axis, known.get(axis))
                total = None if size is None or total is None else total * size
            totals.append(total)
        return tuple(totals)

    def take(self, array: Any, known: Mapping[str, int]) -> nt.NamedTensor:
        """Return the parameter from the array that contains it. The parameter and the array share memory."""
        merged = ["_".join(group) for group in self.groups]
        tensor = nt.tensor(array, merged)
        for name, group in zip(merged, self.groups):
            if len(group) > 1:
                tensor = tensor.split({name: {axis: self.stated.get(axis, known.get(axis)) for axis in group}})
        return tensor[self.part] if self.part else tensor


def linear(label: str, tensor: str, axes: str, out: int = 0, **part: int) -> tuple[WeightEntry, WeightEntry]:
    """Return the weight entries of a linear map: one for its matrix and one for its bias.

    `out` is the index in `axes` of the entry that contains the axes of the bias.
    """
    bias = re.findall(r"\([^()]*\)|\S+", axes)[out]
    return (
        WeightEntry(f"W^{{{label}}}", f"{tensor}.weight", axes, **part),
        WeightEntry(f"b^{{{label}}}", f"{tensor}.bias", bias, **part),
    )


def norm(label: str, tensor: str, axis: str = "chans") -> tuple[WeightEntry, WeightEntry]:
    """Return the weight entries of a layer norm: one for its scale and one for its shift."""
    script = f"^{{{label}}}" if label else ""
    return WeightEntry(f"γ{script}", f"{tensor}.weight", axis), WeightEntry(f"β{script}", f"{tensor}.bias", axis)


def read_sections(text: str) -> dict[str, str]:
    """Return the lines of each section by its title in brackets. Lines before the first title have an empty title."""
    first, *parts = re.split(r"^\[(.+)\]\n", text, flags=re.MULTILINE)
    sections = {"": first, **dict(zip(parts[::2], parts[1::2]))}
    return {title: lines.strip() for title, lines in sections.items()}


def read_tables(text: str) -> dict[str, tuple[WeightEntry, ...]]:
    """Return the weight entries of each section in a table, by the title of the section."""
    return {title: tuple(map(read_row, lines.splitlines())) for title, lines in read_sections(text).items()}


def read_row(line: str) -> WeightEntry:
    """Return the weight entry in a line. Two spaces separate the columns, and a hyphen represents no axes."""
    name, tensor, axes, *parts = re.split(r"\s{2,}", line)
    part = {axis: int(index) for axis, _, index in (text.partition("=") for text in " ".join(parts).split())}
    return WeightEntry(name, tensor, axes.strip("-"), **part)


def expand_entries(rows: Iterable[WeightEntry], sizes: Mapping[str, int]) -> list[WeightEntry]:
    """Return one weight entry for each array. Families and axes of separate arrays are expanded."""
    counted: list[WeightEntry] = []
    for row in rows:
        last = sizes[row.family.upper()] if row.family else None
        counted += [row] if last is None else [row.counted(count) for count in range(1, last + 1)]
    return [part for row in counted for part in (row.apart(sizes[row.stacked]) if row.stacked else [row])]


def families(rows: Iterable[WeightEntry]) -> set[str]:
    """Return the names of the layer counts of the families in these weight entries, such as L."""
    return {row.family.upper() for row in rows if row.family}


def take_parameters(
    rows: Iterable[WeightEntry],
    arrays: Mapping[str, Any],
    sizes: Mapping[str, int],
    parts: Callable[[str, nt.NamedTensor], dict[str, nt.NamedTensor]] = lambda name, tensor: {name: tensor},
) -> dict[str, nt.NamedTensor]:
    """Return the parameters for these weight entries. Members that are separate arrays in a file are stacked.

    Convert each parameter with `parts` before reading the next parameter.
    """
    apart: dict[str, list[WeightEntry]] = {}
    for row in rows:
        apart.setdefault(row.name, []).append(row)
    result: dict[str, nt.NamedTensor] = {}
    for name, entries in apart.items():
        tensors = (entry.take(arrays[entry.tensor], sizes) for entry in entries)
        axis = entries[0].stacked
        result |= parts(name, nt.stack(*tensors, axis=axis) if axis else next(tensors))
    return result


def matching(patterns: Iterable[str], names: Iterable[str]) -> list[str]:
    """Return the names that match one or more of the patterns."""
    expressions = [re.compile(pattern(text)) for text in patterns]
    return [name for name in names if any(expression.fullmatch(name) for expression in expressions)]


def pattern(spare: str) -> str:
    """Return a regular expression for a pattern in which {l} matches a layer number, and * matches any text."""
    return re.escape(spare).replace(r"\{l\}", r"\d+").replace(r"\*", ".*")
