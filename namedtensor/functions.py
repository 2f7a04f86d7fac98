"""The Python functions and methods, made of the operators' records: nt.softmax(A, axis="seq"), A.softmax(axis="seq")."""

from __future__ import annotations

from typing import Any, Callable

from . import eager
from .operators import REGISTRY
from .operators.record import Operator

# Python names of what has no name that Python could spell.
SPELLED = {"σ": "sigmoid", "¬": "logical_not", "negative": "negative", "I": "identity", "^": "pow"}
WITHOUT_TENSOR = ("identity", "iota")
COUNTS_FROM_ZERO = ("index", "onehot")


def python_name(record: Operator) -> str:
    """The name of an operator's Python function."""
    return SPELLED.get(record.name) or record.python or record.name


def axes_of(axis: Any) -> tuple[str, ...]:
    if axis is None:
        return ()
    if isinstance(axis, str) and axis.isidentifier():
        return (axis,)
    from .tensors import names_of

    return names_of(axis)


def make_function(record: Operator) -> Callable[..., Any]:
    """The Python function of a record."""
    name = python_name(record)
    allowed = {option for option, _ in record.options}
    sized = record.kind in ("window", "creation") or "k" in record.lifted.formals

    def function(*tensors: Any, axis: Any = None, **options: Any) -> Any:
        axes = axes_of(axis)
        if sized:
            options = {**options, "sizes": _sizes(record, axes, options.pop("size", None), tensors)}
        if name in COUNTS_FROM_ZERO:
            options["base"] = 0
        unknown = set(options) - allowed - {"sizes", "base"}
        if unknown:
            raise TypeError(f"{name} has no parameter {unknown.pop()}")
        return eager.call(record, tensors, axes, options)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = documentation(record)
    function.__module__ = "namedtensor"
    return function


def _sizes(record: Operator, axes: tuple[str, ...], size: Any, tensors: tuple) -> dict[str, int]:
    """The size of each axis that the operator makes."""
    from grammar.errors import NotationError

    taken = {formal for group in record.lifted.inputs for formal in group}
    new = [axis for axis, formal in zip(axes, record.lifted.formals) if formal not in taken]
    if size is None or isinstance(size, bool) or not hasattr(size, "__index__"):
        raise NotationError(
            309, f"{python_name(record)} needs the size of the axis it makes", hint=f"write size=3 for {', '.join(new) or 'it'}"
        )
    return {axis: int(size) for axis in new}


def documentation(record: Operator) -> str:
    """A function's docstring, from its record."""
    name = python_name(record)
    spelled = " or ".join([record.name, *record.aliases])
    lines = [f"{record.meaning[0].upper()}{record.meaning[1:]}.", "", f"In formulas: {spelled}, of signature {record.signature}"]
    lines.append(f"(paper {record.section}). In NumPy: {record.numpy}.")
    if record.kind == "elementwise":
        lines.append("Broadcasts over the union of the axes.")
    else:
        lines.append("`axis` is a name or several; all other axes are mapped over.")
    if record.options:
        lines.append("Further: " + ", ".join(f"{option}={value}" for option, value in record.options) + ".")
    if name in COUNTS_FROM_ZERO:
        lines.append("Indices count from 0 here, and from 1 in formulas.")
    lines.append("Raises NotationError where an axis is missing, or has two sizes.")
    return "\n".join(lines)


def _all() -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for record in dict.fromkeys(REGISTRY.values()):
        if record.name == "juxtaposed":
            continue
        function = make_function(record)
        found[python_name(record)] = function
        for alias in record.aliases:
            if alias.isidentifier() and alias.isascii():
                found.setdefault(alias, function)
    found["multiply"] = found["dot"]
    return found


FUNCTIONS = _all()
NO_METHODS = {"identity", "iota", "stack", "add", "subtract", "divide", "multiply", "where", "equal", "not_equal", "less"}
NO_METHODS |= {"less_equal", "greater", "greater_equal", "logical_and", "logical_or"}
METHODS = {name: function for name, function in FUNCTIONS.items() if name not in NO_METHODS}
