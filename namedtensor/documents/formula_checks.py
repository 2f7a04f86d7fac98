"""The check of one formula in a file, whose inputs may be known only at its use."""

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
    """The check of a formula: the findings, and the names whose values come from elsewhere."""

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

    Inputs that are only `named` may have any shape.

    Unless these are all its inputs (`complete`), an undefined name is also an input, and raises no error unless it
    resembles a defined name.
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
