"""The check of one formula in a file.

The inputs of the formula may be unknown until it is used.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..core.suggestions import Suggestion, did_you_mean, near
from ..programs.open_lengths import with_open_ends
from ..programs.parsed import ParsedProgram
from ..scope.names import plain_key
from ..terms.inference import CheckWarning

UNDEFINED = 201


class CheckedFormula(NamedTuple):
    """The result of checking one formula: its errors and warnings, and names that may be inputs."""

    checked: Any  # the CheckedProgram, with its checker
    errors: tuple[NotationError, ...]
    warnings: tuple[CheckWarning, ...]
    unknown: tuple[NotationError, ...] = ()  # of names that nothing here defines, the first use each


def check_formula(
    program: ParsedProgram,
    shapes: Mapping[str, Any] | None = None,
    sizes: Mapping[str, int] | None = None,
    named: Collection[str] = (),
    complete: bool = False,
) -> CheckedFormula:
    """Check a formula with the inputs whose shapes are known.

    The inputs in `named` may have any shape. If the inputs are not `complete`, an undefined name is treated as an
    input. It raises an error only if it resembles a defined name.
    """
    from ..programs.checks import check_program_types

    given = dict(shapes or {})
    by_keyword = tuple(given) if complete else None
    checked, _ = with_open_ends(
        lambda ends: check_program_types(program, given, sizes, by_keyword, ends), lambda result: result.result.errors
    )
    inputs = set(map(plain_key, named))
    errors: list[NotationError] = []
    unknown: dict[str, NotationError] = {}
    for error in checked.result.errors:
        name = error.span_text or ""
        if error.code != UNDEFINED or error.source != program.source:
            errors.append(error)
        elif plain_key(name) not in inputs:
            meant = did_you_mean(near(name, [*program.declared, *program.defined])) if len(name) > 2 else None
            if meant is not None:
                errors.append(error.replace(hint=meant))
            elif complete or isinstance(error.hint, Suggestion):
                errors.append(error)
            else:
                unknown.setdefault(name, error)
    return CheckedFormula(checked, tuple(errors), tuple(checked.result.warnings), tuple(unknown.values()))
