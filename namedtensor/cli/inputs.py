"""Tensors by the words of a command: NAME=VALUE, where VALUE is a number, a tensor written out, or a file.

    X=iris.csv:flower,feature      A=[[1,2],[3,4]]:height,width      W=model.npz[w1]:in,out      L=6      Y=-:a

`formats` reads the files; what is left to do here is to take the words apart and to give the axes their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..files.contents import Found, first_axis_alone, label_values
from ..files.formats import FORMATS, from_nested, read
from ..files.streams import is_stream, read_stream
from ..files.text import InputError, as_number, parse_json, reason

Headers = Mapping[str, "bool | None"]  # whether the table of a name has one; None: by the rules
NO_HEADERS: Headers = MappingProxyType({})


class NamedInput(NamedTuple):
    """One NAME=VALUE of a command: a number, or a tensor, which a table labels; and notes that go to standard error."""

    name: str
    value: Any
    notes: tuple[str, ...] = ()


# --------------------------------------------------------------------------------------------------- NAME=VALUE, parsed
LITERAL = re.compile(r"\s*(?P<data>\[.*\])\s*(?::(?P<axes>[^\[\]]*))?", re.DOTALL)
MEMBER = re.compile(r"(?P<file>.+)\[(?P<member>[^\[\]]+)\]")


def split_given(word: str) -> tuple[str, str]:
    """NAME and VALUE of NAME=VALUE. Raises InputError."""
    name, sign, value = word.partition("=")
    if not sign or not name.strip() or not value.strip():
        raise InputError(f"{word!r} is not an input; write NAME=FILE:axis,axis or NAME=2.5 or NAME='[1,2]:axis'")
    return name.strip(), value.strip()


def pair(word: str, what: str) -> tuple[str, str]:
    """NAME and AXES of NAME=AXES, which may be empty. Raises InputError."""
    name, sign, text = word.partition("=")
    if not sign or not name.strip():
        raise InputError(f"{word!r} is not {what}; write NAME=axis,axis")
    return name.strip(), text.strip()


def read_given(word: str, headers: Headers = NO_HEADERS) -> NamedInput:
    """The tensor or number that NAME=VALUE gives.

    Raises InputError if a file cannot be read, NotationError where its axes do not fit.

    >>> read_given("L=6")
    NamedInput(name='L', value=6, notes=())
    """
    name, text = split_given(word)
    value = read_value(text, name, headers.get(name))
    return value._replace(notes=tuple(f"{name}: {note}" for note in value.notes))


def read_value(text: str, name: str, header: bool | None = None) -> NamedInput:
    """A number, a literal or a file's tensor, with the notes of reading it; `header`: whether a table has one."""
    number = as_number(text)
    if number is not None:
        return NamedInput(name, number)
    contents, axes = read_literal(text, name) if LITERAL.fullmatch(text) else read_place(text, name, header)
    value = named(contents, axes, name)
    labels = label_values(contents, value.sizes)
    return NamedInput(name, value.with_labels(labels) if labels else value, contents.notes)


HEADERS = {"yes": True, "no": False, "auto": None}


def headers_of(words: Iterable[str]) -> dict[str, bool | None]:
    """What --header NAME=yes|no|auto says. Raises InputError."""
    headers: dict[str, bool | None] = {}
    for word in words:
        name, _, choice = word.partition("=")
        if not name.strip() or choice.strip() not in HEADERS:
            raise InputError(f"invalid --header {word!r}; write --header NAME=yes, NAME=no or NAME=auto")
        headers[name.strip()] = HEADERS[choice.strip()]
    return headers


def axes_of(text: str | None) -> tuple[str, ...] | None:
    """The names in axis,axis; None where there are none."""
    names = tuple(part.strip() for part in re.split("[,×]", text or ""))
    return None if names == ("",) else names


def read_literal(text: str, name: str) -> tuple[Found, tuple[str, ...] | None]:
    match = LITERAL.fullmatch(text)
    assert match is not None
    return from_nested(parse_json(match["data"], f"the value of {name}"), name), axes_of(match["axes"])


def read_place(text: str, name: str, header: bool | None = None) -> tuple[Found, tuple[str, ...] | None]:
    """FILE, FILE:axes, FILE[member]:axes"""
    if text.startswith("[") and not is_file(text.rpartition(":")[0]):
        raise InputError(f"the value of {name} is not a nested list; write {name}='[[1,2],[3,4]]:a,b'")
    path, sign, axes = text.rpartition(":")
    if not sign or is_file(text):
        path, axes = text, ""
    match = MEMBER.fullmatch(path)
    if match and not is_file(path):
        return read_file(match["file"], match["member"], name, header), axes_of(axes)
    return read_file(path, None, name, header), axes_of(axes)


def named(entry: Found, axes: tuple[str, ...] | None, name: str) -> Any:
    """The array with its axes named. Raises NotationError if it has another number of axes, or they have no names."""
    from ..core.tensor import tensor

    chosen = entry.axes if axes is None else axes
    array = first_axis_alone(entry, chosen)
    if chosen is None and array.ndim == 0:
        chosen = ()
    if chosen is None:
        raise NotationError(
            317, f"{name} has {counted(array.ndim)} without {'a name' if array.ndim == 1 else 'names'}",
            notes=(f"its sizes are {sizes_of(array)}",), hint=f"name {'it' if array.ndim == 1 else 'them in their order'}: {name}=…:{example(array.ndim)}",
        )  # fmt: skip
    if len(chosen) != array.ndim:
        raise NotationError(
            317, f"{name} has {counted(array.ndim)}, got {len(chosen)} name{'s' * (len(chosen) != 1)}",
            notes=(f"its sizes are {sizes_of(array)}", f"the names are {', '.join(chosen) or 'none'}"),
            hint=f"name each once: {name}=…:{example(array.ndim)}" if array.ndim else "remove the names",
        )  # fmt: skip
    return tensor(array, chosen)


def counted(axes: int) -> str:
    return f"{axes} {'axis' if axes == 1 else 'axes'}"


def sizes_of(array: Any) -> str:
    return " × ".join(map(str, array.shape)) or "none: it is one number"


def example(axes: int) -> str:
    return ",".join(("first", "second", "third", *(f"axis{n}" for n in range(4, axes + 1)))[:axes])


# ---------------------------------------------------------------------------------------------------------------- files
def is_file(text: str) -> bool:
    """Whether a word is the name of a file, or of a folder that is a tensor file; a long formula is not, and no error either."""
    try:
        path = Path(text)
        return path.is_file() or (path.suffix.lower() == ".zarr" and path.is_dir())
    except (OSError, ValueError):
        return False


def read_file(path: str, member: str | None, name: str, header: bool | None = None) -> Found:
    """Read a file by its suffix. Raises InputError."""
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
