"""An entry point for several names of a program, which are computed together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from grammar.errors import NotationError
from grammar.nodes import Name
from grammar.plain_text import encodable

from ..core.kinds import require_mapping, require_names
from ..core.suggestions import Suggests, did_you_mean, near
from ..scope.names import key_of, walk
from .arguments import Values, spelling_of
from .bound_call import BoundCall
from .call_cache import CachedCall
from .entries import Entry, Several
from .executable import Options


class EntryPoints(Suggests, CachedCall):
    """Several names of a program whose values are computed together. Shared steps are computed once.

    A call may write its results into the arrays of the `donated` tensors, so the caller must not read these arrays
    again. They must be writable and must not share memory with other arrays.
    """

    _goal: Several

    def __init__(self, program: Any, names: tuple[str, ...], donated: Iterable[str] = ()):
        whole = program._goal.program
        goal = Several(whole, tuple(Entry(whole, name) for name in names))
        super().__init__(goal, Options(donated=frozenset(map(spelling_of, donated))))
        self._program = program

    def bind(
        self, values: Values, sizes: Mapping[str, int] | None = None, donate: Iterable[str] = ()
    ) -> Callable[[Values], tuple[Any, ...]]:
        """Fix some inputs and return a function of the remaining inputs, for use in a loop.

        Parameters
        ----------
        values : mapping of str to tensor or number
            The values that stay the same, such as the parameters of a model.
        sizes : mapping of str to int, optional
            The sizes of axes that no tensor has.
        donate : iterable of str
            Inputs whose arrays a call may overwrite with its results (default: none). The caller must not read these
            arrays again. They must be writable and must not share memory with other arrays.

        Returns
        -------
        callable
            A function that accepts a mapping of the other inputs by name. It returns the values in the order of the
            names.

        Raises
        ------
        NotationError
            If `donate` has a name that is not in the program (201). The function raises it if an input does not match.

        Examples
        --------
        >>> import namedtensor as nt
        >>> program = nt.program("state = tanh(x + W ⊙_{a} before_{b→a})\\nW ∈ ℝ^{a × b}\\nx, before ∈ ℝ^{b}")
        >>> step = program["state",].bind({"W": nt.eye("a[2] b[2]")}, donate=["before"])
        >>> (state,) = step({"x": nt.ones("b[2]"), "before": nt.zeros("b[2]")})
        >>> (state,) = step({"x": nt.ones("b[2]"), "before": state})
        >>> state.axes
        ('b',)
        """
        names = require_names(donate, "donate=", 'write donate=["h"]')
        self._check_donated(names)
        donated = frozenset(map(spelling_of, names))
        values = require_mapping(values, "the argument of bind", 'write bind({"W": W})')
        entry = self
        if donated:
            key = self.names, donated  # The program caches all of its entry points.
            entry = self._program._entries.get_or_build(key, lambda: EntryPoints(self._program, self.names, donated))
        return BoundCall(entry, dict(values), sizes)

    def _check_donated(self, names: Iterable[str]) -> None:
        known = {node.text for node in walk(self._program.tree) if isinstance(node, Name)}
        for name in names:
            if key_of(name).base not in {key_of(text).base for text in known}:
                message = f"donate= names {name}, which the program does not have"
                raise NotationError(201, message, hint=did_you_mean(near(name, known)))

    def __reduce__(self) -> Any:
        return EntryPoints, (self._program, self.names, self._options.donated)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the same order as the values."""
        return tuple(entry.name for entry in self._goal.entries)

    @encodable
    def __repr__(self) -> str:
        return f"{', '.join(self.names)} of a program of {len(self._program.tree.statements)} statements"

    def __call__(
        self, /, *, values: Values | None = None, sizes: Mapping[str, int] | None = None, **named: Any
    ) -> tuple[Any, ...]:
        """Return the values as a tuple, in the order of the names. Parameters and inputs are passed by name."""
        return super().__call__(values=values, sizes=sizes, **named)
