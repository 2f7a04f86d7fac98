"""Formulas as code that a person reads: `to_python(style="readable")`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grammar.errors import NotationError

from ..core.settings import recursion_headroom
from ..display.code import named_terms, readable_code
from .arguments import by_spelling, layout_of, whole_sizes
from .compiled import with_declared
from .entries import Entry, WholeProgram
from .executable import Options
from .named_plans import LIBRARIES, checked_by_name


def to_readable(goal: WholeProgram | Entry, library: str, given: Mapping[str, Any], options: Options) -> str:
    """The source text of a function of arrays with the names and parts of the formula; its parameters are `given`, in their order."""
    if library not in LIBRARIES:
        raise NotationError(408, f"unknown backend {library!r}", hint=f"available: {', '.join(LIBRARIES)}")
    inputs, sizes = with_declared(goal, given, options.sizes), whole_sizes(options.sizes)
    abstract = by_spelling({name: layout_of(value, name, sizes) for name, value in inputs.items()})
    with recursion_headroom(goal.program.source):
        checker, (root, *_) = checked_by_name(goal, abstract, options._replace(sizes=sizes, unrolled=True))
        return readable_code(library, root, named_terms(checker), list(inputs))
