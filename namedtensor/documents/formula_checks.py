"""Check one formula in a file.

The formula's inputs can be unknown until other code uses the formula.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..core.suggestions import Suggestion, did_you_mean, near
from ..programs.open_lengths import with_open_ends
from ..programs.parsed import ParsedProgram
from ..scope.names import plain_key
from ..terms.inference import CheckWarning

UNDEFINED = 201


class CheckedFormula(NamedTuple):
    """The result of checking one formula: its errors, its warnings, and the names that could be inputs."""

    checked: Any  # the CheckedProgram, with its checker
    errors: tuple[NotationError, ...]
    warnings: tuple[CheckWarning, ...]
    unknown: tuple[NotationError, ...] = ()  # an error at the first use of each undefined name


class KnownInputs(NamedTuple):
    """The inputs of a formula and their shapes and sizes, as far as the file contains this information."""

    shapes: Mapping[str, Any] = {}
    sizes: Mapping[str, int] = {}
    named: frozenset[str] = frozenset()  # further inputs, which may have any shape
    complete: bool = False  # whether these are all inputs


NO_INPUTS = KnownInputs()


def check_formula(program: ParsedProgram, inputs: KnownInputs = NO_INPUTS) -> CheckedFormula:
    """Check a formula, given the known inputs.

    If the inputs are not `complete`, an undefined name is treated as an input. Report an error for such a name
    only if it resembles a defined name or if there is a suggestion for it.
    """
    from ..programs.checks import check_program_types

    shapes, sizes, names, complete = inputs
    by_keyword = tuple(shapes) if complete else None
    checked, _ = with_open_ends(
        lambda ends: check_program_types(program, shapes, sizes, by_keyword, ends), lambda result: result.result.errors
    )
    named = set(map(plain_key, names))
    errors: list[NotationError] = []
    unknown: dict[str, NotationError] = {}
    for error in checked.result.errors:
        name = error.span_text or ""
        if error.code != UNDEFINED or error.source != program.source:
            errors.append(error)
        elif plain_key(name) not in named:
            meant = did_you_mean(near(name, [*program.declared, *program.defined])) if len(name) > 2 else None
            if meant is not None:
                errors.append(error.replace(hint=meant))
            elif complete or isinstance(error.hint, Suggestion):
                errors.append(error)
            else:
                unknown.setdefault(name, error)
    return CheckedFormula(checked, tuple(errors), tuple(checked.result.warnings), tuple(unknown.values()))
