"""The Python functions and methods, made of the operators' records: nt.softmax(A, axis="seq"), A.softmax(axis="seq").

A record says how many tensors a function takes; for one and for two there is a short way to a call that was prepared.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from grammar.errors import NotationError

from ..core.arrays import is_array
from ..core.axes import ShapeMismatch
from ..operators import REGISTRY
from ..operators.record import MANY, Operator
from . import eager
from .diagnostics import shape_error
from .eager import _new
from .examples import EXAMPLES

COUNTS_FROM_ZERO = ("index", "onehot")
OPERANDS = ("X", "Y", "Z")


def axes_of(axis: Any) -> tuple[str, ...]:
    """The axes that a caller names: one name, several, or None."""
    if axis is None:
        return ()
    from ..core.names_of_axes import names_of

    return names_of(axis)


def make_function(record: Operator) -> Callable[..., Any]:
    """The Python function of a record."""
    if record.arity == (1, 1) and record.kind == "elementwise":
        function = _of_a_number(record)
    elif record.arity == (1, 1) and not sized(record):
        function = _of_one(record)
    elif record.arity == (1, 2):
        function = _of_one_or_two(record)
    elif record.arity == (2, 2) and record.name not in COUNTS_FROM_ZERO:
        function = _of_two(record)
    else:
        function = _of_several(record)
    function.__name__ = function.__qualname__ = record.python_name
    function.__module__ = "namedtensor"
    function.__doc__ = documentation(record)
    function.__signature__ = signature(record)  # type: ignore[attr-defined]
    return function


def _of_a_number(record: Operator) -> Callable[..., Any]:
    prepared: dict[Any, Any] = {}

    def function(X, axis=None):
        try:
            run, layout = prepared[X.layout]
        except (KeyError, AttributeError, TypeError):
            run = None
        if run is None or axis is not None:
            try:
                return _and_keep(prepared, record, X, axis)
            except NotationError as problem:
                raise problem.alone() from None
        result = _new(type(X))
        result._array = run(X._array)
        result.layout = layout
        return result

    return function


def _and_keep(prepared: dict, record: Operator, X: Any, axis: Any) -> Any:
    """Run a function of a number, and keep what was prepared under the layout alone."""
    result = general(record, (X,), axis, {})
    layout = getattr(X, "layout", None)
    found = eager.PREPARED[record.name].get((layout,))
    if layout is not None and found is not None:
        eager.remember(prepared, layout, found)
    return result


def _of_one(record: Operator) -> Callable[..., Any]:
    prepared: dict[Any, Any] = {}

    def function(X, axis=None, **options):
        try:
            run, layout = prepared[X.layout, axis]
        except (KeyError, AttributeError, TypeError):
            run = None
        if run is None or options:
            try:
                return _and_prepare(prepared, record, (X,), axis, options)
            except NotationError as problem:
                raise problem.alone() from None
        result = _new(type(X))
        result._array = run(X._array)
        result.layout = layout
        return result

    return function


def _of_two(record: Operator) -> Callable[..., Any]:
    prepared: dict[Any, Any] = {}

    def function(X, Y, axis=None, **options):
        try:
            run, layout = prepared[X.layout, Y.layout, axis]
        except (KeyError, AttributeError, TypeError):
            run = None
        if run is None or options:
            try:
                return _and_prepare(prepared, record, (X, Y), axis, options)
            except NotationError as problem:
                raise problem.alone() from None
        result = _new(type(X))
        result._array = run(X._array, Y._array)
        result.layout = layout
        return result

    return function


def _of_one_or_two(record: Operator) -> Callable[..., Any]:
    of_one, of_two = _of_one(record), _of_two(record)

    def function(X, Y=None, axis=None, **options):
        return of_one(X, axis, **options) if Y is None else of_two(X, Y, axis, **options)

    return function


def _and_prepare(prepared: dict, record: Operator, tensors: tuple, axis: Any, options: dict[str, Any]) -> Any:
    """Run a call, and keep what was prepared under what the caller wrote, where that is the axis alone."""
    result = general(record, tensors, axis, options)
    if options:
        return result
    layouts = tuple(getattr(each, "layout", None) for each in tensors)
    axes = axes_of(axis)
    found = eager.PREPARED[record.name].get(layouts if not axes else (axes, (), layouts))
    if found is not None and None not in layouts and isinstance(axis, (str, tuple, type(None))):
        eager.remember(prepared, (*layouts, axis), found)
    return result


def _of_several(record: Operator) -> Callable[..., Any]:
    def function(*tensors, axis=None, **options):
        if record.arity[1] == MANY and len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
            tensors = tuple(tensors[0])
        try:
            return general(record, tensors, axis, options)
        except NotationError as problem:
            raise problem.alone() from None

    return function


def general(record: Operator, tensors: tuple, axis: Any, options: dict[str, Any]) -> Any:
    """A call with whatever the caller gave. Raises NotationError where it does not fit."""
    if is_array(axis):
        raise shape_error(ShapeMismatch("arity", detail=(str(record.arity[1]), len(tensors) + 1)), record, (), ())
    axes = axes_of(axis)
    if sized(record):
        options["sizes"] = new_sizes(record, axes, options.pop("size", None), options.pop("sizes", {}))
    if record.name in COUNTS_FROM_ZERO:
        options["base"] = 0
    unknown = set(options) - {name for name, _ in record.options} - {"sizes", "base"}
    if unknown:
        raise TypeError(f"{record.python_name} has no parameter {sorted(unknown)[0]!r}")
    return eager.call(record, tensors, axes, options)


# ------------------------------------------------------------------------------------------- sizes of axes that are new
def new_formals(record: Operator) -> list[str]:
    """The axes of a signature that no argument brings: the caller says their size."""
    if record.kind == "structure":
        return []
    taken = {formal for group in record.lifted.inputs for formal in group}
    return [formal for formal in record.lifted.formals if formal not in taken]


def sized(record: Operator) -> bool:
    return bool(new_formals(record))


def new_sizes(record: Operator, axes: tuple[str, ...], size: Any, sizes: Mapping[str, Any]) -> dict[str, int]:
    """The size of each new axis, from `size` or `sizes`."""
    formals = record.lifted.formals
    new = [axis for axis, formal in zip(axes, formals) if formal in new_formals(record)]
    found: dict[str, Any] = {axis: sizes.get(axis, size) for axis in new}
    for axis, value in found.items():
        if value is None and record.kind == "creation":
            value = found[axis] = next((each for each in found.values() if each is not None), False)
        if not is_size(value):
            raise NotationError(
                309, f"{record.python_name} needs the size of the axis that it makes, {axis}",
                hint=f'write size=3, or sizes={{"{axis}": 3}}',
            )  # fmt: skip
    return {axis: int(value) for axis, value in found.items()}


def is_size(value: Any) -> bool:
    return not isinstance(value, bool) and hasattr(value, "__index__") and int(value) >= 0


# ------------------------------------------------------------------------------------------------- what people read
def signature(record: Operator) -> inspect.Signature:
    kind = inspect.Parameter
    if record.arity[1] == MANY:
        found = [kind("tensors", kind.VAR_POSITIONAL)]
    else:
        found = [kind(name, kind.POSITIONAL_OR_KEYWORD) for name in OPERANDS[: record.arity[0]]]
        found += [
            kind(name, kind.POSITIONAL_OR_KEYWORD, default=None) for name in OPERANDS[record.arity[0] : record.arity[1]]
        ]
    if record.kind != "elementwise":
        found.append(kind("axis", kind.KEYWORD_ONLY, default=None))
    if sized(record):
        found.append(kind("size", kind.KEYWORD_ONLY, default=None))
    found += [kind(name, kind.KEYWORD_ONLY, default=value) for name, value in record.options]
    return inspect.Signature(found)


def documentation(record: Operator) -> str:
    """A function's docstring, from its record."""
    lines = [f"{record.meaning[0].upper()}{record.meaning[1:]}.", ""]
    lines += [f"In formulas: {' or '.join((record.name, *record.aliases))}, of signature `{record.signature}`"]
    lines += [f"(paper {record.section}). In NumPy: `{record.numpy}`."]
    lines += [HOW.get(record.kind, "`axis` is a name or several; all other axes are mapped over.")]
    if sized(record):
        lines += ["`size` is that of the new axis; `sizes` gives it by name."]
    if record.options:
        lines += ["Further: " + ", ".join(f"{name}={value}" for name, value in record.options) + "."]
    if record.name in COUNTS_FROM_ZERO:
        lines += ["Indices count from 0 here, and from 1 in formulas."]
    lines += ["Raises NotationError where an axis is missing or has two sizes."]
    if record.python_name in EXAMPLES:
        example, shown = EXAMPLES[record.python_name]
        lines += ["", ">>> import namedtensor as nt", f">>> {example}", shown]
    return "\n".join(lines)


HOW = {
    "elementwise": "Broadcasts over the union of the axes.",
    "contraction": "`axis` is a name or several, or None for the elementwise product; axes that both operands keep are aligned.",
    "structure": "`axis` is a name; all other axes are mapped over.",
}


def _all() -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for record in dict.fromkeys(REGISTRY.values()):
        function = make_function(record)
        for name in (record.python_name, *record.aliases):
            if name.isidentifier() and name.isascii():
                found.setdefault(name, function)
    return found


FUNCTIONS = _all()
NO_METHODS = set(
    "I identity iota stack where add subtract divide multiply equal not_equal less less_equal greater".split()
)
NO_METHODS |= {"greater_equal", "logical_and", "logical_or"}
METHODS = {name: function for name, function in FUNCTIONS.items() if name not in NO_METHODS}
__test__ = FUNCTIONS  # whose examples are run
