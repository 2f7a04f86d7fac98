"""Targets for libraries that are not installed. Source code for them can be generated but not run.

PyTorch and JAX promote dtypes by kind before width. The result dtype of a primitive is NumPy's dtype, but a primitive
that converts integers to floats returns the library's float dtype. If NumPy is not installed, as in the playground, a
table contains NumPy's promotion rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.arrays import kind_of
from ..planning.plan import PlanValue
from ..planning.target import Target
from .function import backend, target_of
from .lines import FLOATING, INDICES, SUMMED

NARROW = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}  # JAX without x64


BITS = {
    "bool": 8,
    **{f"{kind}{bits}": bits for kind in ("int", "uint", "float", "complex") for bits in (8, 16, 32, 64, 128)},
}


class Tabled(Target):
    """A NumPy target for systems without NumPy. A table contains the promotion rules."""

    def __init__(self) -> None:
        super().__init__(backend("numpy"), None)

    @property
    def default_float(self) -> str:
        return "float64"

    def canonical(self, dtype: str) -> str:
        return dtype

    def result_type(self, dtypes: Sequence[str]) -> str:
        """Return the common dtype: the widest dtype of the strongest kind.

        A float dtype that is combined with integers is at least twice as wide as them, up to 64 bits. Signed and
        unsigned integers combine to a signed dtype that contains both, or to float64 if there is none.
        """
        kinds = {
            kind_of(dtype): max(BITS[name] for name in dtypes if kind_of(name) == kind_of(dtype)) for dtype in dtypes
        }
        whole = {kind: bits for kind, bits in kinds.items() if kind in "iu"}
        if "c" in kinds or "f" in kinds:
            double = min(64, 2 * max(whole.values())) if whole else 0
            wide = max(kinds.get("f", 0), kinds.get("c", 0) // 2, double)
            return f"complex{2 * wide}" if "c" in kinds else f"float{wide}"
        if len(whole) == 2:
            return f"int{max(whole['i'], 2 * whole['u'])}" if whole["u"] < 64 else "float64"
        return next((f"{'int' if kind == 'i' else 'uint'}{bits}" for kind, bits in whole.items()), "bool")

    def ask(self, primitive: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> str:
        if primitive in INDICES or primitive == "arange":
            return "int64"
        arrays = [
            argument
            for argument in (arguments[1:] if primitive == "where" else arguments)
            if isinstance(argument, PlanValue)
        ]
        met = self.result_type([array.dtype for array in arrays]) if arrays else "int64"
        plain = {
            getattr(argument, "kind", type(argument)) for argument in arguments if not isinstance(argument, PlanValue)
        }
        if float in plain and kind_of(met) not in "fc":
            met = "float64"
        if primitive in ("divide", "mean") and kind_of(met) not in "fc":
            return "float64"
        if primitive in FLOATING and kind_of(met) not in "fc":
            return {8: "float16", 16: "float32"}.get(BITS[met], "float64")
        if kind_of(met) in "biu" and primitive in SUMMED:
            return "uint64" if kind_of(met) == "u" else "int64"
        return "int64" if met == "bool" and int in plain else met


class Absent(Target):
    """A target for PyTorch or JAX if the library is not installed. The default float dtype has 32 bits."""

    def __init__(self, name: str):
        super().__init__(backend(name), None)
        try:
            import numpy
        except ImportError:
            self.numpy: Target = Tabled()
        else:
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
        ask = self.numpy.ask(primitive, arguments, options)
        whole = not any(kind_of(argument.dtype) in "fc" for argument in arguments if isinstance(argument, PlanValue))
        return self.default_float if whole and kind_of(ask) == "f" else self.canonical(ask)
