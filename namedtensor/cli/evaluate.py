"""The value of a formula, or of a name that a program defines, as a table, JSON or a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..files.formats import write
from ..files.text import InputError, as_number
from ..programs.arguments import KeywordValues
from .arguments import FormulaSource, limits_of, sizes_of, values_of
from .console import Console
from .inputs import read_value


def print_value(options: Any, source: FormulaSource, console: Console) -> None:
    """Print the value of a formula, or write it to the file of --out."""
    value, remark = _value(options, source, console)
    if options.out:
        console.note(written(value, options.out))
    if options.json:
        console.json({"value": value_record(value)})
    elif not options.out:
        console.print(table(value, options.digits))
    if remark:
        console.note(f"if this is matrix notation: {remark}")


def written(value: Any, file: str) -> str:
    """Write a tensor to a file; return a line that describes it."""
    write(value, file)
    return f"{file}: {value.shape}, axes in the order {', '.join(value.axes) or 'of none'}"


def _value(options: Any, source: FormulaSource, console: Console) -> tuple[Any, str | None]:
    """The value, and what the text is in another notation, where that differs."""
    from ..positional.offers import remark_on
    from ..programs.api import program
    from ..programs.evaluate import evaluate

    name, arguments, values = read_call(options, console)
    sizes = sizes_of(options.sizes)
    if name is not None:
        return program(source.text, source.syntax)[name](*arguments, values=values, sizes=sizes), None
    limits = limits_of(options.limit)
    value = evaluate(source.text, values, sizes=sizes, syntax=source.syntax, strict=options.strict, limits=limits)
    return value, remark_on(source.text, values, value.axes)


def read_call(options: Any, console: Console) -> tuple[str | None, list[Any], KeywordValues]:
    """Return the function that --call names, or the name of --of; its arguments; and the inputs by name."""
    if options.call and options.of:
        raise InputError("--of and --call both name a part of the program; leave one out")
    name, words = (options.call[0], options.call[1:]) if options.call else (options.of, [])
    inputs = options.inputs + [word for word in words if GIVEN.match(word)]
    values = values_of(inputs, options.header, console)
    words = [word for word in words if not GIVEN.match(word)]
    values.used = frozenset(words)
    return name, [_argument(word, values) for word in words], values


GIVEN = re.compile(r"[^=:\[\]/\\]+=")


def _argument(word: str, values: dict[str, Any]) -> Any:
    """An argument of --call: the name of an input, a number, a tensor."""
    if word in values:
        return values[word]
    if as_number(word) is None and not re.search(r"[:.\[]", word):
        known = f"; the inputs are {', '.join(values)}" if values else ""
        raise InputError(f"{word} is not an input, number or tensor file{known}")
    return read_value(word, word).value


def table(value: Any, digits: int | None = None) -> str:
    from ..tensors.tables import text_table

    return text_table(value, digits)


def labeled_by(values: Mapping[str, Any], value: Any) -> Any:
    """Return a derivative with the labels that the inputs give its axes by name, if it has none there."""
    from ..core.labels import agreed, labels_of

    labels = agreed([labels_of(getattr(given, "layout", None)) for given in values.values()])
    free = {axis: size for axis, size in value.sizes.items() if axis not in value.labels}
    fits = {axis: axis_labels for axis, axis_labels in labels.items() if free.get(axis) == len(axis_labels)}
    return value.with_labels(fits) if fits else value


def value_record(value: Any) -> dict[str, Any]:
    """A tensor for machines."""
    array = value.to_array(value.axes)
    record = {"axes": list(value.axes), "sizes": dict(value.sizes), "type": str(value.shape)}
    return {**record, "dtype": str(array.dtype), "data": array.tolist()}
