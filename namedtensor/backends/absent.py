"""A library that is not installed, as plans see it: text is written for it, and nothing is run.

Its dtypes meet as PyTorch's and JAX's do, by kind before width. What a primitive gives is asked of NumPy; only where
that makes floating numbers of whole ones are they those of the library.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.arrays import kind_of
from ..planning.plan import Value
from ..planning.target import Target
from .libraries import backend, target_of

NARROW = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}  # JAX without x64


class Absent(Target):
    """PyTorch or JAX where it is not installed, as it is when it is new: floats of single precision."""

    def __init__(self, name: str):
        import numpy

        super().__init__(backend(name), None)
        namespace: Any = numpy
        self.numpy = target_of(namespace)

    @property
    def default_float(self) -> str:
        return "float32"

    def canonical(self, dtype: str) -> str:
        return NARROW.get(dtype, dtype) if self.name == "jax" else dtype

    def result_type(self, dtypes: Sequence[str]) -> str:
        kinds = [kind_of(dtype) for dtype in dtypes]
        meet = [dtype for dtype, kind in zip(dtypes, kinds) if kind in "fc"] if {*kinds} & {*"fc"} else dtypes
        return self.canonical(self.numpy.result_type(tuple(map(self.canonical, meet))))

    def ask(self, primitive: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> str:
        found = self.numpy.ask(primitive, arguments, options)
        whole = not any(kind_of(each.dtype) in "fc" for each in arguments if isinstance(each, Value))
        return self.default_float if whole and kind_of(found) == "f" else self.canonical(found)
