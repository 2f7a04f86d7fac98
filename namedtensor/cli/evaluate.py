"""The command `eval`: the value of a formula, or of a name that a program defines."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from typing import Any

from ..files.formats import writable, write
from ..files.text import InputError, as_number
from ..programs.arguments import KeywordValues
from .arguments import FormulaSource, limits_of, sizes_of, source_of, values_of
from .console import Console
from .inputs import read_value
from .parsers import call_argument, digits_argument, formula_arguments


def eval_arguments(parser: argparse.ArgumentParser) -> None:
    formula_arguments(parser)
    call_argument(parser)
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="write the value to a file instead: .npy, .npz, .json, .csv, .parquet, .nc or .zarr",
    )
    parser.add_argument(
        "--strict", action="store_true", help="make outer broadcasts and redefined built-in names errors"
    )
    parser.add_argument(
        "--limit", metavar="NAME=N", action="append", default=[],
        help="raise a limit, such as max_steps; see nt.Limits",
    )  # fmt: skip
    digits_argument(parser)


def eval_command(options: Any, console: Console) -> None:
    if options.out:
        writable(options.out)
    source = source_of(options)
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

    name, arguments, values = _called(options, console)
    sizes = sizes_of(options.sizes)
    if name is not None:
        return program(source.text, source.syntax)[name](*arguments, values=values, sizes=sizes), None
    limits = limits_of(options.limit)
    value = evaluate(source.text, values, sizes=sizes, syntax=source.syntax, strict=options.strict, limits=limits)
    return value, remark_on(source.text, values, value.axes)


def _called(options: Any, console: Console) -> tuple[str | None, list[Any], KeywordValues]:
    """The function that --call names, its arguments, and the inputs by name."""
    name, words = (options.call[0], options.call[1:]) if options.call else (None, [])
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


EVAL_EXAMPLES = """
  namedtensor eval '1 + 1/2'
  namedtensor eval 'π / 3' --digits 12
  namedtensor eval 'A ⊙_{width} x' A='[[3,1,4],[1,5,9]]:height,width' x='[2,7,1]:width'
  namedtensor eval 'softmax_{seq}(Q @_{key} K / sqrt(|key|))' Q=q.npy:key K=k.npz[k]:seq,key
  namedtensor eval docs/examples/iris.nt X=docs/examples/iris.csv:flower,feature
  namedtensor eval layers.tex --call LayerNorm X X=x.json:seq,chans --sizes chans=512
  echo 'mean_{a} X' | namedtensor eval - X=x.csv:a,b --out mean.json
"""
