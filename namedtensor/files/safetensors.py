"""Files of several named tensors in the safetensors format, with the axis names in the metadata.

The format starts with a JSON header that contains the dtype, the sizes and the location of each tensor. The elements
follow the header. The format does not contain code, so reading a file does not execute code. Files from other programs
do not store axis names, so their contents are plain arrays.
"""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..core.kinds import require_mapping, require_path, wrong
from .text import InputError, is_names, parse_json, reason, to_object_or_none, whole_file
from .versions import OpenedVersion

AXES_AT_MOST = 64  # the limit of NumPy's arrays
AXES = "axes"  # the key of the metadata under which the names of the axes appear
KINDS = {"float64": "F64", "float32": "F32", "float16": "F16", "bool": "BOOL", "int64": "I64", "int32": "I32",
         "int16": "I16", "int8": "I8", "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64"}  # fmt: skip
STORED = {kind: dtype for dtype, kind in KINDS.items()} | {"BF16": "uint16"}


class HeaderEntry(NamedTuple):
    """The header entry of a tensor: its dtype, its shape, and the range of its bytes after the header."""

    kind: str
    shape: tuple[int, ...]
    first: int
    last: int


class TensorFile(Mapping[str, Any]):
    """The arrays of a safetensors file by name. An array is read each time that it is accessed.

    Use this class for files that do not store axis names, such as checkpoints. For files with axis names, use
    `load_tensors`.

    Parameters
    ----------
    path : str or path
        The file. The attribute `metadata` contains the file's metadata.

    Raises
    ------
    NotationError
        If the file is not a safetensors file, is truncated, or contains unsupported data (409).

    Examples
    --------
    >>> import namedtensor as nt, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "weights.safetensors"
    >>> nt.save_tensors(path, {"b": nt.tensor([1.0, 2.0], "out")})
    >>> file = nt.TensorFile(path)
    >>> list(file), file.shape("b"), nt.tensor(file["b"], "out").sizes
    (['b'], (2,), {'out': 2})
    """

    path: Path
    entries: dict[str, Any]
    metadata: dict[str, str]
    start: int

    def __init__(self, path: str | os.PathLike[str]):
        import numpy as np

        self.path = require_path(path)
        try:
            with self.path.open("rb") as file:
                self._opened = OpenedVersion(self.path, file)
                is_empty = os.fstat(file.fileno()).st_size == 0
                self._bytes = np.zeros(0, np.uint8) if is_empty else np.memmap(file, mode="r", dtype=np.uint8)
            self.entries, self.metadata, self.start = _head(self.path, self._bytes)
        except (OSError, ValueError, InputError) as problem:
            raise unreadable(self.path, problem) from None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path,)

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the sizes of a tensor without reading its elements."""
        return self.entries[name].shape

    def __getitem__(self, name: str) -> Any:
        import numpy as np

        kind, shape, first, last = self.entries[name]
        dtype = np.dtype(STORED[kind])
        if last == first:
            return np.zeros(shape, dtype="f4" if kind == "BF16" else dtype)
        self._opened.check()
        numbers = self._bytes[self.start + first : self.start + last]
        array = np.asarray(numbers).view(dtype) if (self.start + first) % dtype.itemsize == 0 else None
        array = np.frombuffer(numbers.tobytes(), dtype=dtype) if array is None else array
        if kind == "BF16":  # the upper half of a float32
            array = (array.astype("<u4") << 16).view("<f4")
        return array.reshape(shape)


def _head(path: Path, data: Any) -> tuple[dict[str, Any], dict[str, str], int]:
    """Return the header entries of the tensors, the metadata, and the position of the first byte after the header."""
    length = struct.unpack("<Q", data[:8].tobytes())[0] if len(data) >= 8 else 0
    if not 2 <= length <= 10**8:
        raise InputError("it is not a safetensors file")
    if len(data) < 8 + length:
        raise InputError("it is cut short in its head")
    head = to_object_or_none(parse_json(_decode(data[8 : 8 + length].tobytes()), f"the head of {path}", unique=True))
    if head is None:
        raise InputError("it is not a safetensors file")
    metadata = head.pop("__metadata__", None)
    if not _is_metadata(metadata):
        raise InputError("its __metadata__ must map strings to strings")
    entries = {name: _entry(name, entry) for name, entry in head.items()}
    for name, entry in entries.items():
        _complete(name, entry, len(data) - 8 - length)
    _contiguous(entries, len(data) - 8 - length)
    return entries, metadata or {}, 8 + length


def _decode(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("its head is not UTF-8") from None


def _is_metadata(value: Any) -> bool:
    """Return whether a value is null or an object whose values are all strings."""
    result = to_object_or_none(value)
    return value is None or (result is not None and all(isinstance(item, str) for item in result.values()))


def _contiguous(entries: Mapping[str, HeaderEntry], length: int) -> None:
    """Raise InputError if tensors overlap or if bytes belong to no tensor, because such bytes can hide code."""
    end = 0
    for name, entry in sorted(entries.items(), key=lambda pair: pair[1][2:]):
        if entry.first < end:
            raise InputError(f"{name} overlaps another tensor by {end - entry.first} bytes")
        if entry.first > end:
            raise InputError(f"{entry.first - end} bytes before {name} belong to no tensor")
        end = entry.last
    if end < length:
        raise InputError(f"{length - end} bytes at its end belong to no tensor")


def _entry(name: str, entry: Any) -> HeaderEntry:
    try:
        kind, shape, (first, last) = entry["dtype"], entry["shape"], entry["data_offsets"]
        if not (isinstance(kind, str) and all(map(is_count, (*shape, first, last))) and last >= first):
            raise ValueError(kind)
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{name} has no proper entry in its head") from None
    if kind not in STORED:
        raise InputError(f"{name} holds values of type {kind}, which cannot be read")
    if len(shape) > AXES_AT_MOST:
        raise InputError(f"{name} has {len(shape)} axes, and at most {AXES_AT_MOST} can be read")
    if math.prod(max(size, 1) for size in shape) >= 2**60:  # even without numbers, the size must fit NumPy's counter
        raise InputError(f"{name} has sizes too large to be read: {' × '.join(map(str, shape))}")
    return HeaderEntry(kind, tuple(shape), first, last)


def is_count(number: Any) -> bool:
    """Return whether a value is an integer from 0 to the maximum file size. Booleans do not count as integers."""
    return type(number) is int and 0 <= number < 2**63


def _complete(name: str, entry: HeaderEntry, length: int) -> None:
    import numpy as np

    if entry.last > length:
        raise InputError(f"it is cut short: {name} ends {entry.last - length} bytes after the end of the file")
    if entry.last - entry.first != math.prod(entry.shape) * np.dtype(STORED[entry.kind]).itemsize:
        sizes = " × ".join(map(str, entry.shape)) or "those of one number"
        raise InputError(f"its head gives {name} {entry.last - entry.first} bytes, and its sizes are {sizes}")


def unreadable(path: Any, problem: Exception) -> NotationError:
    """Return the error for a file that cannot be read."""
    return NotationError(409, f"cannot read {path}: {reason(problem) or problem}")


# ---------------------------------------------------------------------------------------------------- named tensors
def load_tensors(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Load the named tensors of a file written by `save_tensors`.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    dict of str to NamedTensor

    Raises
    ------
    NotationError
        If the file cannot be read, or does not store axis names (409).

    Examples
    --------
    >>> import namedtensor as nt, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "weights.safetensors"
    >>> nt.save_tensors(path, {"W": nt.tensor([[1.0, 2.0]], "in out")})
    >>> nt.load_tensors(path)
    {'W': NamedTensor([[1.0, 2.0]], "in out")}
    """
    return read_named_tensors(TensorFile(path))


def read_named_tensors(file: TensorFile) -> dict[str, Any]:
    """Return the tensors of a file by name, with their axes. Raise NotationError if axis names are missing."""
    from ..core.tensor import tensor

    names = axes_in(file)
    for name in file:
        if len(names.get(name, ())) != len(file.shape(name)):
            raise NotationError(
                409,
                f"{file.path} does not contain axis names for {name}",
                hint=f"pass them: nt.tensor(nt.TensorFile(path)[{name!r}], …)",
            )
    return {name: tensor(file[name], tuple(names[name])) for name in file}


def axes_in(file: TensorFile) -> dict[str, list[str]]:
    """Return the axis names of each tensor, read from the metadata. Invalid entries are left out."""
    try:
        data = json.loads(file.metadata.get(AXES, "{}"))
    except (ValueError, TypeError, RecursionError):
        data = {}
    return {name: axes for name, axes in (to_object_or_none(data) or {}).items() if is_names(axes)}


def all_tensors(tensors: Any) -> dict[str, Any]:
    """Check that the argument maps names to tensors, and return it. Raise NotationError if it does not."""
    hint = 'write save_tensors("weights.safetensors", {"W": W})'
    result = require_mapping(tensors, "the argument of save_tensors", hint)
    for name, value in result.items():
        if not hasattr(value, "axes"):
            raise wrong(value, f"the value saved as {name}", "a named tensor", hint)
    return result


def save_tensors(
    path: str | os.PathLike[str], tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None
) -> None:
    """Save named tensors to a safetensors file, with their axis names as metadata.

    The file is written completely or not at all.

    Parameters
    ----------
    path : str or path
        The file.
    tensors : mapping of str to tensor
        The tensors by name.
    metadata : mapping of str to str, optional
        Additional entries of the file's metadata.

    Raises
    ------
    NotationError
        If a value is not a named tensor (208), or the file cannot be written or cannot store a dtype (409).

    Examples
    --------
    >>> import namedtensor as nt, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "weights.safetensors"
    >>> nt.save_tensors(path, {"b": nt.tensor([1.0], "out")}, metadata={"step": "100"})
    >>> list(nt.load_tensors(path))
    ['b']
    """
    import numpy as np

    from ..core.array_data import concrete

    path, tensors = require_path(path), all_tensors(tensors)
    arrays = {name: np.asarray(concrete(tensor.array), order="C") for name, tensor in tensors.items()}
    head: dict[str, Any] = {
        "__metadata__": {**(metadata or {}), AXES: json.dumps({name: list(t.axes) for name, t in tensors.items()})}
    }
    end = 0
    for name, array in arrays.items():
        if str(array.dtype) not in KINDS:
            raise NotationError(409, f"{name} has dtype {array.dtype}, which the safetensors format does not support")
        begin, end = end, end + array.nbytes
        head[name] = {"dtype": KINDS[str(array.dtype)], "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(head, ensure_ascii=False).encode("utf-8")
    text += b" " * (-len(text) % 8)
    try:
        with whole_file(path) as file:
            file.writelines((struct.pack("<Q", len(text)), text, *(array.tobytes() for array in arrays.values())))
    except OSError as problem:
        raise NotationError(409, f"cannot write {path}: {reason(problem)}") from None
