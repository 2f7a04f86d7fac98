"""Families of parameters stored in one array each. For example, formulas declare W^{1,Q}, …, W^{96,Q} as W^{l,Q}."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..core.arrays import Layout
from ..core.families import ALONG, FamilyName
from ..core.tensor import wrap_array, wrap_layout
from ..scope.names import key


def stack_families(parameters: Mapping[str, Any], declared: Iterable[str], count: int) -> dict[str, Any]:
    """Return the parameters, stacking each family of at least `count` members with the same layout into one array."""
    apart = {name: value for name, value in parameters.items() if not isinstance(name, FamilyName)}
    families = {
        family_name.members[0]: family_name
        for family_name in alike_families(apart, declared)
        if len(family_name.members) >= count
    }
    inside = {name for family in families.values() for name in family.members}
    remaining: dict[str, Any] = {}
    for name, value in parameters.items():
        if name in families:
            remaining[families[name]] = together([parameters[text] for text in families[name].members])
        elif name not in inside:
            remaining[name] = value
    return remaining


def alike_families(parameters: Mapping[str, Any], declared: Iterable[str]) -> Iterator[FamilyName]:
    """Yield each family of at least two members that have the same layout and consecutive numbers."""
    written = {name: key(name) for name in dict.fromkeys(declared)}
    groups: dict[tuple[str, int, tuple[str, ...]], dict[int, str]] = {}
    for name in parameters:
        labels = labels_of(name)
        for declaration, pattern in written.items():
            index = index_in(labels, labels_of(declaration)) if key(name).base == pattern.base else None
            if index is not None and declaration not in parameters:
                rest = (*labels[:index], "", *labels[index + 1 :])
                groups.setdefault((declaration, index, rest), {})[int(labels[index])] = name
                break
    for numbers in groups.values():
        members = tuple(numbers[number] for number in sorted(numbers))
        layouts = {traits(parameters[text]) for text in members}
        gapless = max(numbers) - min(numbers) + 1 == len(members)
        if len(members) > 1 and gapless and len(layouts) == 1 and None not in layouts:
            yield FamilyName(members)


def traits(value: Any) -> tuple[Any, ...] | None:
    """Return the properties of a value that all members of its family must share, or None for a number."""
    layout = getattr(value, "layout", None)
    return None if layout is None else (layout.axes, layout.extent, layout.dtype, layout.xp)


def labels_of(name: str) -> tuple[str, ...]:
    """Return the labels in a name: first the subscripts, then the separator "|", then the superscripts."""
    _, below, above = key(name)
    return (*below, "|", *above)


def index_in(labels: Sequence[str], pattern: Sequence[str]) -> int | None:
    """Return the first position at which the labels have a number in place of a label in `pattern`.

    Return None if the lengths differ, if the labels equal the pattern, or if they differ in a label that is not a number.
    """
    if len(labels) != len(pattern):
        return None
    others = [index for index, pair in enumerate(zip(labels, pattern)) if pair[0] != pair[1]]
    return others[0] if others and all(labels[index].isdecimal() for index in others) else None


def together(tensors: Sequence[Any]) -> Any:
    """Stack tensors with the same layout along a new first axis. Stack JAX shapes without values to a JAX shape."""
    layout, arrays = tensors[0].layout, [tensor.array for tensor in tensors]
    axes, extent = (ALONG, *layout.axes), (len(tensors), *layout.extent)
    if layout.xp is None:
        return wrap_layout(type(arrays[0])(extent, layout.dtype), Layout(axes, extent, layout.dtype, None))
    return wrap_array(layout.xp.stack(arrays), axes)
