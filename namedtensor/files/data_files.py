"""Labeled files in the formats of other libraries: Parquet by pandas, NetCDF and Zarr by xarray.

Each format needs another package. If the package is missing, the error message names it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from grammar.errors import NotationError

from ..core.labels import dropping_notes
from .contents import Found, choose
from .text import InputError

NETCDF_3, HDF = b"CDF", b"\x89HDF"  # the beginnings of NetCDF files
PARQUET = b"PAR1"
MAX_LISTED = 8  # variables of a file that a message lists
PACKAGES = {  # for each format: required packages, and alternatives that each suffice
    "Parquet": (("pandas",), ("pyarrow", "fastparquet")),
    "NetCDF": (("xarray",), ("h5netcdf", "netCDF4", "scipy")),
    "NetCDF-4": (("xarray",), ("h5netcdf", "netCDF4")),
    "Zarr": (("xarray", "zarr"), ()),
}
REQUIRES = {"h5netcdf": ("h5py",)}  # requirements that a package no longer installs itself


def need_packages(format: str, what: str) -> None:
    """Raise InputError with an installation command if packages that a format needs are missing."""
    needed, one_of = PACKAGES[format]
    missing = [name for name in needed if find_spec(name) is None]
    if one_of and not any(map(is_usable, one_of)):
        missing += [name for name in (one_of[0], *REQUIRES.get(one_of[0], ())) if find_spec(name) is None]
    if missing:
        raise InputError(f"{what} needs {' and '.join(missing)}; write pip install {' '.join(missing)}")


def is_usable(name: str) -> bool:
    """Return whether a package and all its requirements are installed."""
    return all(find_spec(part) is not None for part in (name, *REQUIRES.get(name, ())))


def beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(4)


def first_line(problem: Exception) -> str:
    lines = str(problem).splitlines() or [type(problem).__name__]
    return lines[0][:1].lower() + lines[0][1:120]


def to_found(tensor: Any, dropped: tuple[str, ...] = (), table: bool = False) -> Found:
    """Convert a tensor that was read from a file to `Found`, with the tensor's array, axes and labels."""
    labels = dict(tensor.layout.labels)
    of_axes = tuple(labels.get(axis, ()) for axis in tensor.axes)
    axes = None if table else tensor.axes
    return Found(tensor.array, axes, dropping_notes(dropped), table, of_axes, dropped)


# ---------------------------------------------------------------------------------------------------------------- Parquet
def read_parquet(path: Path, member: str | None) -> Found:
    """Read a table of numbers.

    The first column of words labels the rows. Other columns of words are omitted, and a note lists them.
    """
    need_packages("Parquet", f"reading {path}")
    if beginning(path) != PARQUET:
        raise InputError(f"{path} is not a Parquet file, although it is named .parquet")
    pandas: Any = import_module("pandas")

    from ..core.data_frames import from_pandas, label_rows

    try:
        with path.open("rb") as file:  # Given a path, pandas opens the file again for the names of the columns.
            frame = pandas.read_parquet(file)
    except Exception as problem:  # each engine has its own
        raise InputError(f"{path} cannot be read: {first_line(problem)}") from None
    frame, dropped = label_rows(frame)
    if member is not None:
        if member not in frame.columns:
            known = ", ".join(map(str, frame.columns[:MAX_LISTED]))
            raise InputError(f"{path} has no column {member}; it has {known or 'none'}")
        frame = frame[[member]]
    axes = [frame.index.name, frame.columns.name]
    try:
        tensor = from_pandas(frame, [axis if isinstance(axis, str) else other for axis, other in zip(axes, "rc")])
    except NotationError as problem:
        raise InputError(f"{path}: {problem.message}") from None
    return to_found(tensor, dropped, table=None in axes)


def write_parquet(value: Any, file: Any, path: str) -> None:
    need_packages("Parquet", f"writing {path}")
    if not 1 <= value.ndim <= 2:
        raise InputError(f"{path}: a table has one axis or two, and the result has {', '.join(value.axes) or 'none'}")
    frame = value.to_pandas(value.axes)
    frame = frame.to_frame(frame.name or "value") if value.ndim == 1 else frame.rename(columns=str)
    frame.to_parquet(file)


# ---------------------------------------------------------------------------------------------------------- NetCDF, Zarr
def read_netcdf(path: Path, member: str | None) -> Found:
    """Read a variable of a NetCDF file, with its dimensions and coordinates."""
    start = beginning(path)
    if not start.startswith((NETCDF_3, HDF)):
        raise InputError(f"{path} is not a NetCDF file, although it is named .nc")
    need_packages("NetCDF" if start.startswith(NETCDF_3) else "NetCDF-4", f"reading {path}")
    return variable_of(path, member, "open_dataset")


def read_zarr(path: Path, member: str | None) -> Found:
    """Read a variable of a Zarr store, with its dimensions and coordinates."""
    need_packages("Zarr", f"reading {path}")
    return variable_of(path, member, "open_zarr")


def variable_of(path: Path, member: str | None, opener: str) -> Found:
    """Return the requested variable of an xarray data set, or its only variable if none is requested."""
    xarray: Any = import_module("xarray")

    from ..core.interchange import from_xarray

    try:
        options = {} if opener == "open_dataset" else {"chunks": None, "consolidated": False}
        dataset = getattr(xarray, opener)(path, **options)
    except Exception as problem:  # each engine has its own
        raise InputError(f"{path} cannot be read: {first_line(problem)}") from None
    try:
        chosen = choose([str(key) for key in dataset.data_vars], member, path, "variable")
        return to_found(from_xarray(dataset[chosen].load()))
    except InputError:
        raise
    except NotationError as problem:
        raise InputError(f"{path}: {problem.message}") from None
    except Exception as problem:  # each engine has its own, for data that it cannot decompress
        raise InputError(f"{path} cannot be read: {first_line(problem)}") from None
    finally:
        dataset.close()


def to_dataset(value: Any) -> Any:
    array = value.to_xarray()
    return array.to_dataset(name=array.name or "value")


def write_netcdf(value: Any, file: Any, path: str) -> None:
    need_packages("NetCDF", f"writing {path}")
    engine = None if is_usable("netCDF4") or is_usable("h5netcdf") else "scipy"  # xarray may choose what is not usable
    file.write(bytes(to_dataset(value).to_netcdf(engine=engine)))


def write_zarr(value: Any, file: Any, path: str) -> None:
    """Write a store to a temporary folder next to the target, and then rename it, so that the write is atomic."""
    need_packages("Zarr", f"writing {path}")
    target = Path(path)
    if target.exists():
        raise InputError(f"there is {path} already; remove it first, or write another folder")
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name[:50]}.", dir=target.parent))
    try:
        to_dataset(value).to_zarr(temporary / "store", mode="w", consolidated=False)
        os.replace(temporary / "store", target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
