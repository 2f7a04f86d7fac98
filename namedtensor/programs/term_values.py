"""The values of all terms of a program at once, used to compare two programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..core.settings import recursion_headroom
from ..core.tensor import NamedTensor, tensor
from ..terms.environment import source_name
from ..terms.terms import Term, substitute_variables, topological
from .arguments import BoundArguments
from .entries import WholeProgram
from .executable import Options, type_goal
from .explained import TermValues
from .magnitudes import magnitudes_of
from .parsed import parse_program


class TermValue(NamedTuple):
    """A term of a program, and its value as an array with its axes in array order."""

    term: Term
    array: Any
    axes: tuple[str, ...] = ()


def term_values(text: str, given: Mapping[str, Any]) -> list[TermValue]:
    """Return all terms that the value of a program depends on, with their values. Each term follows its arguments.

    Parameters
    ----------
    text : str
        The program.
    given : mapping
        The program's inputs as named tensors.

    Returns
    -------
    list of TermValue
        The terms with their values. The last term is the program's value. Each step of a recurrence has separate terms.

    Examples
    --------
    >>> import namedtensor as nt
    >>> [each.term.operator for each in term_values("2 x + 1", {"x": nt.tensor([1.0], "a")})]
    ['input', 'number', '⊙', 'number', '+']
    """
    goal, arguments = WholeProgram(parse_program(text, "text", False)), BoundArguments(dict(given))
    program = type_goal(
        goal, arguments, Options(unrolled=True)
    )  # the terms of a loop's body have no values by themselves
    roots = substitute_variables(program.terms)
    terms = topological(*roots)
    with recursion_headroom(text):
        values = TermValues(text, arguments)(terms)
    return [
        TermValue(term, array, tuple(map(source_name, order or ()))) for term, (array, order, *_) in zip(terms, values)
    ]


def magnitude_of(text: str, given: Mapping[str, Any], sizes: Mapping[str, int] | None = None) -> NamedTensor:
    """Return the magnitude of each element of a program's value, as defined in `magnitudes`.

    Examples
    --------
    >>> import namedtensor as nt
    >>> float(magnitude_of("x + 5 − 5", {"x": nt.tensor(1.0)}))
    11.0
    """
    goal, arguments = WholeProgram(parse_program(text, "text", False)), BoundArguments(dict(given))
    program = type_goal(goal, arguments, Options(sizes, unrolled=True))
    terms = magnitudes_of(substitute_variables(program.terms))
    with recursion_headroom(text):
        ((array, order, *_),) = TermValues(text, arguments)(terms)
    return tensor(array, tuple(map(source_name, order or ())))
