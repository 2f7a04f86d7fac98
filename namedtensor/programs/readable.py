"""Readable code for formulas: `to_python(style="readable")` and `to_python("loops")`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError

from ..core.arrays import Layout, dtype_name, kind_of
from ..core.settings import recursion_headroom
from ..display.code import find_named_terms, readable_code
from ..display.code_writer import ReadableCode
from .arguments import layout_of, normalize_names, whole_sizes
from .compiled import with_declared
from .entries import Entry, WholeProgram
from .executable import Options
from .named_plans import check_by_name

if TYPE_CHECKING:
    from ..checking.checker import Checker
    from ..terms.terms import Term


def to_readable(goal: WholeProgram | Entry, library: str, given: Mapping[str, Any], options: Options) -> str:
    """Return the source of a readable function of arrays, which uses the formula's names.

    Its parameters are the names in `given` and, if the formula cannot be typed without them, other declared names.
    """
    return readable(goal, library, given, options).text


def readable(goal: WholeProgram | Entry, library: str, given: Mapping[str, Any], options: Options) -> ReadableCode:
    """Return the code of a readable function of arrays, and the part of the formula that each line computes."""
    with recursion_headroom(goal.program.source):
        try:
            checker, root = type_goal(goal, given, options)
        except NotationError:
            declared = with_declared(goal, given, options.sizes)
            if len(declared) == len(given):
                raise
            given = declared
            checker, root = type_goal(goal, given, options)
        narrow = [name for name, value in given.items() if is_narrow(value)]
        floating = sorted(
            (name for name in given if float_bits(given[name])), key=lambda name: -float_bits(given[name])
        )
        return readable_code(library, root, find_named_terms(checker), list(given), narrow, floating)


def float_bits(value: Any) -> int:
    """Return the number of bits per float of an input. Return 0 if it has no floats, and 1 if it is a real shape."""
    layout = getattr(value, "layout", None)
    if isinstance(layout, Layout):
        name = dtype_name(layout.dtype)
        return int("".join(filter(str.isdigit, name)) or 128) if kind_of(name) == "f" else 0
    is_number = isinstance(value, (bool, int, float, complex))
    return 0 if is_number or str(value).lstrip().startswith(("[", "{0")) else 1


def is_narrow(value: Any) -> bool:
    """Return whether a value is a tensor of integers narrower than 64 bits."""
    layout = getattr(value, "layout", None)
    name = dtype_name(layout.dtype) if isinstance(layout, Layout) else ""
    return "int" in name and not name.endswith("64")


def type_goal(goal: WholeProgram | Entry, given: Mapping[str, Any], options: Options) -> tuple[Checker, Term]:
    sizes = whole_sizes(options.sizes)
    layouts = normalize_names({name: layout_of(value, name, sizes) for name, value in given.items()})
    checker, (root, *_) = check_by_name(goal, layouts, options._replace(sizes=sizes, unrolled=True))
    return checker, root
