"""EntryPoints: several names of a program, computed together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from grammar.plain_text import encodable

from ..core.suggestions import Suggests
from .arguments import Values, spelling_of
from .call_cache import CachedCall
from .entries import Entry, Several
from .executable import Options


class EntryPoints(Suggests, CachedCall):
    """Several names of a program, computed together: what they share is computed once.

    The caller gives the tensors called `donated` away: their arrays, which must be writable and share no memory with
    others, may hold the results after a call, and are not to be read again.
    """

    _goal: Several

    def __init__(self, program: Any, names: tuple[str, ...], donated: Iterable[str] = ()):
        whole = program._goal.program
        goal = Several(whole, tuple(Entry(whole, name) for name in names))
        super().__init__(goal, Options(donated=frozenset(map(spelling_of, donated))))
        self._program = program

    def __reduce__(self) -> Any:
        return EntryPoints, (self._program, self.names, self._options.donated)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order in which their values come."""
        return tuple(entry.name for entry in self._goal.entries)

    @encodable
    def __repr__(self) -> str:
        return f"{', '.join(self.names)} of a program of {len(self._program.tree.statements)} statements"

    def __call__(
        self, *, values: Values | None = None, sizes: Mapping[str, int] | None = None, **named: Any
    ) -> tuple[Any, ...]:
        """Their values, in the order of the names; parameters and inputs come by name."""
        return self._called((), values, sizes, named)
