"""An index of names by their scripts, so that one is found without going through all of its base.

W_1, …, W_1000      1,000 declarations of one base: that of W_7 is found by its script
W^{l,Q}             l is open: this is found for W^{1,Q} and W^{2,Q}
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import product
from operator import itemgetter
from typing import Any, Generic, TypeVar

from grammar.nodes import Name

from .names import Key, Spelled, component

Thing = TypeVar("Thing")
NUMBER, THING = itemgetter(0), itemgetter(1)
NOWHERE: Collection[int] = frozenset()
Components = Sequence["str | None"]  # the texts of a script, None where a component is open


class ByScripts(Generic[Thing]):
    """Values indexed by a base and the texts of its scripts, of which some may be patterns."""

    def __init__(self) -> None:
        self._count = 0
        self._tables: dict[
            tuple[str, int, int], dict[tuple[int, ...], dict[tuple[Any, ...], list[tuple[int, Thing]]]]
        ] = {}
        self._fixed: dict[tuple[str, int, int], set[int]] = {}  # the places of the components that some name fixes

    def add(self, base: str, subscript: Components, superscript: Components, thing: Thing) -> None:
        """Put a thing under a name."""
        texts = (*subscript, *superscript)
        fixed = tuple(place for place, text in enumerate(texts) if text is not None)
        tables = self._tables.setdefault((base, len(subscript), len(superscript)), {})
        table = tables.setdefault(fixed, {})
        table.setdefault(tuple(texts[place] for place in fixed), []).append((self._count, thing))
        self._count += 1
        self._fixed.setdefault((base, len(subscript), len(superscript)), set()).update(fixed)

    def find(
        self, base: str, subscript: Sequence[Collection[str]], superscript: Sequence[Collection[str]]
    ) -> list[Thing]:
        """The things under names whose fixed components are each among these texts, in the order in which they were put;
        `[*zip(texts)]` are those that each can only be themselves."""
        texts = (*subscript, *superscript)
        found: list[tuple[int, Thing]] = []
        for fixed, table in self._tables.get((base, len(subscript), len(superscript)), {}).items():
            for wanted in product(*map(texts.__getitem__, fixed)):
                found += table.get(wanted, ())
        if len(found) > 1:
            found.sort(key=NUMBER)
        return list(map(THING, found))

    def alike(self, names: Iterable[Key]) -> Iterator[tuple[int, list[Key]]]:
        """Names in groups for which the same is found, as W^{1,Q} and W^{2,Q} where l is open in W^{l,Q}; the names of one
        that has several differ in the component at this place alone, which is a number."""
        groups: dict[Any, tuple[int, list[Key]]] = {}
        for name in names:
            base, subscript, superscript = name
            texts, numbers, at = (*subscript, *superscript), 0, 0
            family: Any = texts
            fixed = self._fixed.get((base, len(subscript), len(superscript)), NOWHERE)
            for place, text in enumerate(texts):
                if text.isdecimal() and place not in fixed:
                    numbers, at, family = numbers + 1, place, (*texts[:place], None, *texts[place + 1 :])
            found = groups.setdefault((base, len(subscript), family if numbers == 1 else texts), (at, []))
            found[1].append(name)
        yield from groups.values()


def by_spelling(named: Iterable[tuple[Spelled, Thing]], indices: Collection[str]) -> ByScripts[Thing]:
    """The same for names with open indices: what `match_key` would match is among what is found."""
    found: ByScripts[Thing] = ByScripts()
    for name, thing in named:
        subscript, superscript = (
            [None if isinstance(node, Name) and node.text in indices else component(node) for node in script]
            for script in (name.subscript, name.superscript)
        )
        found.add(name.base, subscript, superscript, thing)
    return found
