"""Inputs, sizes and limits of a command. NAME=VALUE accepts a number, a shape, a literal tensor or a file.

    X=iris.csv:flower,feature      A=[[1,2],[3,4]]:height,width      W=model.npz[w1]:in,out      L=6      Y=-:a

`files.formats` reads the files. This module parses the arguments and names the axes.
"""

from __future__ import annotations

import re
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..files.contents import Found, first_axis_alone, label_values
from ..files.formats import FORMATS, from_nested, read
from ..files.streams import is_stream, read_stream
from ..files.text import InputError, parse_json, parse_number, reason
from ..programs.arguments import KeywordValues
from ..scope.names import index_by_key, plain_key
from .console import Console


class Reading(NamedTuple):
    """A number or tensor from the command line, with notes on how its file was read."""

    value: Any
    notes: tuple[str, ...] = ()


# --------------------------------------------------------------------------------------------------- NAME=VALUE, parsed
LITERAL = re.compile(r"\s*(?P<data>\[.*\])\s*(?::(?P<axes>[^\[\]]*))?", re.DOTALL)
MEMBER = re.compile(r"(?P<file>.+)\[(?P<member>[^\[\]]+)\]")
SHAPE = re.compile(r"\s*(?:ℝ|R\b|\\mathbb|\\reals|\{|\[[^\]]*\]\s*(?:\^.*)?$)", re.DOTALL)
AXIS = r"[^\W\d]\w*'*(?:\[\w+\])?"
AXES = re.compile(rf"{AXIS}(?:(?:\s*[,×]\s*|\s+){AXIS})*")
RESERVED = ("sizes", "syntax")  # parameters of `nt.check` that are not shapes
HEADERS = {"yes": True, "no": False, "auto": None}


def split_pair(word: str, meaning: str, sign: str = "=") -> tuple[str, str]:
    """Return the name and the value in NAME=VALUE. Raise InputError if the name is missing."""
    name, separator, text = word.partition(sign)
    if not separator or not name.strip():
        raise InputError(f"{word!r} is not {meaning}")
    return name.strip(), text.strip()


def split_given(word: str) -> tuple[str, str]:
    """Return the name and the value of an input NAME=VALUE. Raise InputError if the name or value is missing."""
    meaning = "an input; write NAME=FILE:axis,axis or NAME=2.5 or NAME='[1,2]:axis'"
    name, text = split_pair(word, meaning)
    if not text:
        raise InputError(f"{word!r} is not {meaning}")
    return name, text


def values_of(words: list[str], header: list[str], console: Console, shapes: bool = False) -> KeywordValues:
    """Return the numbers and tensors that NAME=VALUE arguments specify, and print notes on the files that were read.

    If `shapes` is true, shapes are also allowed and returned as text. `header` contains the values of --header.
    Raise InputError if an argument is not an input or a name has two values.
    """
    values, headers = KeywordValues(), headers_of(header)
    for name, text in map(split_given, words):
        if name in values:
            raise InputError(f"{name} is given twice")
        is_shape = SHAPE.match(text) and not is_file(text)
        if is_shape and shapes:
            values[name] = text
            continue
        if is_shape and text[:1] in "ℝR\\" and "^" in text:
            example = f"{name}='[1, 2]:axis' or {name}=FILE:axis"
            raise InputError(f"{name} needs values, and {text} is a shape: write {example}")
        if shapes and AXES.fullmatch(text) and parse_number(text) is None and not is_file(text):
            raise no_shape(name, text)
        values[name], notes = read_value(text, name, headers.get(name))
        index_by_key(values, plain_key)
        for note in notes:
            console.note(f"{name}: {note}")
    unknown = next((name for name in headers if name not in values), None)
    if unknown is not None:
        raise InputError(f"--header {unknown}: no input {unknown} is given")
    return values


def no_shape(name: str, text: str) -> InputError:
    """Return the error for a shape without ℝ^{…}, such as query[2] key. Its message contains the correct shape."""
    shape = f"ℝ^{{{' × '.join(re.findall(AXIS, text))}}}"
    quote = '"' if "'" in shape else "'"
    return InputError(f"there is no file {text} for {name}; write a shape as {name}={quote}{shape}{quote}")


def shapes_of(words: list[str], header: list[str], console: Console) -> KeywordValues:
    """Return the shapes, tensors and numbers that NAME=VALUE arguments specify, by name.

    Raise InputError if an argument is invalid or its name is in `RESERVED`.
    """
    shapes = values_of(words, header, console, shapes=True)
    for name in RESERVED:
        if name in shapes:
            raise InputError(f"no tensor can be called {name} here")
    return shapes


def headers_of(words: list[str]) -> dict[str, bool | None]:
    """Return whether each table named in --header NAME=yes|no|auto has a header, or None for auto.

    Raise InputError if a word is invalid.
    """
    headers: dict[str, bool | None] = {}
    for word in words:
        name, _, choice = map(str.strip, word.partition("="))
        if not name or choice not in HEADERS:
            raise InputError(f"invalid --header {word!r}; write --header NAME=yes, NAME=no or NAME=auto")
        headers[name] = HEADERS[choice]
    return headers


def sizes_of(words: list[str], example: str = "--sizes heads=8,seq=3") -> dict[str, int]:
    """Parse axis sizes from command-line arguments such as heads=8,seq=3. Raise InputError if one is invalid."""
    sizes: dict[str, int] = {}
    for word in ",".join(words).split(",") if words else ():
        name, _, text = map(str.strip, word.partition("="))
        number = parse_number(text)
        if not name or not isinstance(number, int):
            raise InputError(f"{word!r} is not a size; write {example}")
        if name in sizes:
            raise InputError(f"the size of {name} is given twice")
        sizes[name] = number
    return sizes


def limits_of(words: list[str]) -> Any:
    """Parse limits from command-line arguments such as --limit NAME=N. Raise InputError if one is invalid."""
    from ..core.settings import Limits

    known = [field.name for field in fields(Limits)]
    chosen = {}
    for word in words:
        name, _, text = word.partition("=")
        number = parse_number(text)
        if name not in known or number is None or not number >= 1:
            raise InputError(f"{word!r} is not a limit; write --limit NAME=NUMBER, where NAME is {', '.join(known)}")
        chosen[name] = int(min(number, sys.maxsize))
    return Limits(**chosen)


# ---------------------------------------------------------------------------------------------------------- one value
def read_value(text: str, name: str, header: bool | None = None) -> Reading:
    """Return the value of an argument: a number, literal tensor or file. `header` states whether a table has a header.

    Raise InputError if a file cannot be read. Raise NotationError if the axes do not fit.

    >>> read_value("6", "L")
    Reading(value=6, notes=())
    """
    number = parse_number(text)
    if number is not None:
        return Reading(number)
    literal = LITERAL.fullmatch(text)
    if literal is not None:
        contents = from_nested(parse_json(literal["data"], f"the value of {name}"), name)
        value = name_axes(contents, axes_of(literal["axes"]), name)
    else:
        contents, axes = read_place(text, name, header)
        value = name_axes(contents, axes, name)
    labels = label_values(contents, value.sizes)
    return Reading(value.with_labels(labels) if labels else value, contents.notes)


def axes_of(text: str | None) -> tuple[str, ...] | None:
    """Return the axis names in a list separated by commas or ×, or None if the list is empty."""
    names = tuple(part.strip() for part in re.split("[,×]", text or ""))
    return None if names == ("",) else names


def read_place(text: str, name: str, header: bool | None = None) -> tuple[Found, tuple[str, ...] | None]:
    """Return the content of a file and its axes, given FILE, FILE:axes or FILE[member]:axes. Omitted axes are None."""
    if text.startswith("[") and not is_file(text.rpartition(":")[0]):
        raise InputError(f"the value of {name} is not a nested list; write {name}='[[1,2],[3,4]]:a,b'")
    path, sign, axes = text.rpartition(":")
    if not sign or is_file(text):
        path, axes = text, ""
    match = MEMBER.fullmatch(path)
    if match and not is_file(path):
        return read_file(match["file"], match["member"], name, header), axes_of(axes)
    return read_file(path, None, name, header), axes_of(axes)


def name_axes(entry: Found, axes: tuple[str, ...] | None, name: str) -> Any:
    """Return the content of a file as a tensor.

    Raise NotationError if the number of axes is wrong, or if the axes have no names.
    """
    from ..core.tensor import tensor

    chosen = entry.axes if axes is None else axes
    array = first_axis_alone(entry, chosen)
    if chosen is None and array.ndim == 0:
        chosen = ()
    if chosen is not None and len(chosen) == array.ndim:
        return tensor(array, chosen)
    count = f"{name} has {array.ndim} {'axis' if array.ndim == 1 else 'axes'}"
    example = ",".join(("first", "second", "third", *(f"axis{n}" for n in range(4, array.ndim + 1)))[: array.ndim])
    notes = [f"its sizes are {' × '.join(map(str, array.shape)) or 'none: it is one number'}"]
    if chosen is None:
        names, these = ("a name", "it") if array.ndim == 1 else ("names", "them in their order")
        raise NotationError(317, f"{count} without {names}", notes=notes, hint=f"name {these}: {name}=…:{example}")
    notes.append(f"the names are {', '.join(chosen) or 'none'}")
    hint = f"name each once: {name}=…:{example}" if array.ndim else "remove the names"
    raise NotationError(317, f"{count}, got {len(chosen)} name{'s' * (len(chosen) != 1)}", notes=notes, hint=hint)


# ---------------------------------------------------------------------------------------------------------------- files
def is_file(text: str) -> bool:
    """Return whether an argument is the path of a file or of a tensor folder."""
    try:
        path = Path(text)
        return path.is_file() or (path.suffix.lower() == ".zarr" and path.is_dir())
    except (OSError, ValueError):
        return False


def read_file(path: str, member: str | None, name: str, header: bool | None = None) -> Found:
    """Return the content of a file, read according to its suffix. Raise InputError if the file cannot be read."""
    if is_stream(path):
        return read_stream(path, member, name, header)
    suffix = Path(path).suffix.lower()
    if not is_file(path):
        raise InputError(f"there is no file {path} for {name}")
    if suffix not in FORMATS:
        known = ", ".join(FORMATS)
        raise InputError(f"{path} ends in no suffix of a tensor file; those are {known}")
    if member is not None and not FORMATS[suffix].members:
        raise InputError(f"{path} holds one tensor; leave [{member}] out")
    try:
        return read(suffix, Path(path), member, name, header)
    except (OSError, MemoryError) as problem:
        raise InputError(f"{path} cannot be read: {reason(problem) or 'it does not fit in memory'}") from None
