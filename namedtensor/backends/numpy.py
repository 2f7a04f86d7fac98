"""The NumPy backend, which calls functions directly and reuses dead arrays in place."""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any

from ..core.arrays import HALF, dtype_object
from ..planning.memory import MAX_DOT_BUFFER_NUMBERS, Workspace
from ..planning.plan import PlanValue
from .lines import COMMON, INFIX, OF_NUMBERS, UNARY, GeneratedSource, Written, numbers, write_scatter, write_tuple
from .numpy_kernels import KERNELS
from .source import Backend

IMPORTS = "import numpy as np"
MODULES = tuple("concurrent.futures contextlib contextvars functools itertools math os threading time".split())
CALLERS = {
    "one": "in_buffers",
    "several": "on_all_cores",
    "several, BLAS on one": "on_all_cores_beside_blas",
    "several for long, BLAS on one": "functools.partial(on_all_cores_beside_blas, is_long=True)",
}
MIN_KEPT_NUMBERS = 2**15  # the smallest array, in elements, that is kept: from 128 KiB on, each one receives new pages
MIN_KEPT_BYTES = 2**19  # the smallest arrays of one call, in total bytes, whose memory is worth keeping
MAX_KEPT_BYTES = 2**22  # the most bytes that `in_buffers` keeps
UFUNCS = {name: name for name in (*UNARY, *INFIX, "negative", "maximum", "minimum", "logaddexp")}
REDUCTIONS = {
    "sum": "add",
    "prod": "multiply",
    "max": "maximum",
    "min": "minimum",
    "any": "logical_or",
    "all": "logical_and",
}
WITH_OUT = (
    "put",
    "standardize",
    "normalize",
    "normalize_slices",
)  # kernels whose last parameter is the array to write to
WRITES = frozenset((*UFUNCS, "erf", *WITH_OUT)) - {"isfinite"}
ALIASES = {
    **{name: f"np.{name}" for name in UFUNCS.values()},
    **{f"{ufunc}_reduce": f"np.{ufunc}.reduce" for ufunc in REDUCTIONS.values()},
    **{
        name: f"np.{name}" for name in ("matmul", "vecdot", "where", "concatenate", "stack", "broadcast_to", "copysign")
    },
}


def is_large(value: PlanValue) -> bool:
    """Return whether an array is so large that it may receive new memory pages each time it is allocated."""
    return value.typical_count >= MIN_KEPT_NUMBERS


def bytes_of_buffers(buffers: Workspace) -> int:
    """Return the total bytes of a function's buffers."""
    import numpy as np

    return sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in buffers.made)


@lru_cache(maxsize=64)
def dtype_text(prefix: str, name: str) -> str:
    """Return the source text of a dtype. NumPy has no names for the dtypes of `ml_dtypes`.

    >>> dtype_text("np", "float16"), dtype_text("np", "bfloat16")
    ('np.float16', "np.dtype('bfloat16')")
    """
    import numpy as np

    return f"{prefix}.{name}" if prefix != "np" or hasattr(np, name) else f"np.dtype({name!r})"


def _write_reduction(ufunc: str):
    def line(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
        arguments = f"{names[0]}, {options['at']}"
        if (
            ufunc in ("add", "multiply") and step.value.dtype in HALF
        ):  # Other libraries also accumulate half precision in single precision.
            keep = ", None, True" if options["keep"] else ""
            return f"{ufunc}_reduce({arguments}, np.float32{keep}).astype({names[0]}.dtype)"
        keep = ", None, None, True" if options["keep"] else ""
        return f"{ufunc}_reduce({arguments}{keep})"

    return line


def _write_blocks(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    text = f"{write_tuple(names)}, {options['cuts']}, {options['counts']}, {options['rows']}, {options['at']}"
    caller, dtype = CALLERS[options["cores"]], dtype_text("np", step.value.dtype)
    return (
        f"run_in_blocks({caller}, {options['function']}, {text}, {options['sizes']}, {dtype}, {_write_buffers(step)})"
    )


def _write_buffers(step: Any) -> str:
    """Return the shapes and dtypes of the buffers for the inner function of a step, as source text."""
    return write_tuple(
        tuple(f"({shape}, {dtype_text('np', dtype)})" for shape, dtype in BACKEND.buffers_of_step(step).made)
    )


def _compute_over_slices(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    places = f"{options['start']}, {options['stop']}, {options['rows']}"
    return (
        f"sum_slices({options['function']}, {write_tuple(names)}, {options['cuts']}, {places}, {_write_buffers(step)})"
    )


def _normalize_slices(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
    product, sums, y, *arrays = names
    given = f"{options['function']}, {write_tuple(tuple(arrays))}, {options['at']}, {options['subscripts']!r}"
    return f"normalize_slices({product}, {sums}, {y}, {given})"


def _constant(step: Any, xp: Any) -> Any:
    import numpy as np

    return np.asarray(step.options["number"], dtype=dtype_object(xp, step.value.dtype))


def _ones(step: Any, xp: Any) -> Any:
    import numpy as np

    return np.ones(step.options["size"], dtype=dtype_object(xp, step.value.dtype))


def _erf(step: Any) -> str:
    return "erf_single" if step.value.dtype == "float32" else "erf"


class NumPy(Backend):
    """The NumPy backend. `prefix` is the namespace in which the source looks up dtypes."""

    def __init__(self, prefix: str = "np"):
        dtype = partial(dtype_text, prefix)

        lines: dict[str, Any] = {
            **COMMON,
            **{name: f"{alias}({{0}})" for name, alias in UFUNCS.items() if name in UNARY},
            **{name: f"{name}({{0}}, {{1}})" for name in ("maximum", "minimum", "logaddexp", "matmul", "vecdot")},
            **{name: _write_reduction(ufunc) for name, ufunc in REDUCTIONS.items()},
            "where": "where({0}, {1}, {2})",
            "erf": lambda names, options, step: f"{_erf(step)}({names[0]})",
            "cast": lambda names, options, step: f"{names[0]}.astype({dtype(options['to'])})",
            "mean": lambda names, options, step: f"{names[0]}.mean({options['at']}, keepdims={options['keep']})",
            "cumsum": "{0}.cumsum({at})",
            "cumprod": "{0}.cumprod({at})",
            "sort": "np.sort({0}, {at})",
            "dot": "{0}.dot({1})",
            "multiply_transposed": "multiply_transposed({0}, {1}, {2})",
            "reshape": "{0}.reshape({sizes})",
            "contiguous": "np.ascontiguousarray({0})",
            "broadcast": "broadcast_to({0}, {sizes})",
            "concat": lambda names, options, step: f"concatenate({write_tuple(names)}, {options['at']})",
            "stack": lambda names, options, step: f"stack({write_tuple(names)})",
            "take": "{0}.take({1}, {at})",
            "scatter_add": write_scatter,
            "shifted": "shifted({0}, {1}, {2}, {along})",
            "standardize": "standardize({0}, {1}, {2}, {along})",
            "normalize": "normalize({0}, {1}, {2}, {3}, {along}, {subscripts!r})",
            "put": "put({0}, {1}, {2}, {at}, {first})",
            "take_along": "np.take_along_axis({0}, {1}, axis=-1)",
            "ascending": 'np.argsort({0}, -1, "stable")',
            "descending": "descending({0})",
            "argmax": "{0}.argmax(-1)",
            "arange": lambda names, options, step: f"np.arange({options['start']}, {options['stop']}, dtype={dtype(step.value.dtype)})",
            "ones": lambda names, options, step: f"np.ones({options['size']}, dtype={dtype(step.value.dtype)})",
            "tiling": _write_blocks,
            "slices": _compute_over_slices,
            "normalize_slices": _normalize_slices,
            "eye": lambda names, options, step: f"np.eye({options['size']}, dtype={dtype(step.value.dtype)})",
            "constant": lambda names, options, step: f"np.asarray({options['number']!r}, dtype={dtype(step.value.dtype)})",
            "numbers": lambda names, options, step: f"np.array({numbers(options['numbers'])}, dtype={dtype(step.value.dtype)}).reshape({options['sizes']})",
            "as_array": lambda names, options, step: f"np.asarray({names[0]}, dtype={dtype(step.value.dtype)})",
            "det": "np.linalg.det({0})",
            "logdet": "np.linalg.slogdet({0})[1]",
            "inv": "np.linalg.inv({0})",
            "cofactors": "cofactors({0})",
            "trace": "np.linalg.trace({0})",
            "cholesky": "np.linalg.cholesky({0})",
            "eigvalsh": "np.linalg.eigvalsh({0})",
            "eigh": "eigenvectors({0})",
            "expm": "exponential({0})",
        }  # fmt: skip
        super().__init__(
            "numpy", IMPORTS, lines, ALIASES, KERNELS,
            numbers=OF_NUMBERS | {"maximum", "minimum", "where"}, prefix=prefix,
            writes=WRITES, products=frozenset(("matmul", "dot")),
        )  # fmt: skip

        self.keeps_sized = True
        self.modules, self.known = MODULES, {"constant": _constant, "ones": _ones}

    def dtype(self, name: str) -> str:
        return dtype_text(self.prefix, name)

    def writing(self, step: Any, names: tuple[str, ...], out: str) -> str:
        into_room = (
            out.startswith("buffer_") and step.value.typical_count <= MAX_DOT_BUFFER_NUMBERS
        )  # A buffer is dense and has the dtype of the result, as `dot` requires.
        if step.primitive == "dot" and into_room:
            return f"{names[0]}.dot({names[1]}, {out})"
        if step.primitive in self.products:
            return f"matmul({', '.join(names)}, {out})"
        if step.primitive in WITH_OUT:
            return f"{self.expression(step, names)[:-1]}, {out})"
        keyword = "out=" if step.primitive in ("maximum", "minimum") else ""
        function = _erf(step) if step.primitive == "erf" else UFUNCS[step.primitive]
        return f"{function}({', '.join(names)}, {keyword}{out})"

    def result(self, plan: Any, result: Any) -> str:
        text = super().result(plan, result)
        return f"{text}.copy()" if getattr(result, "fixed", False) else text

    def kept_buffers(self, plan: Any) -> Workspace | None:
        """Return the large intermediate arrays whose memory is kept for the next call, or None if no memory is kept.

        No memory is kept if it would be too little or too much, if sizes are symbolic, or if the plan calls a Python
        function, which might keep its arguments.
        """
        if not any(is_large(step.value) for step in plan.steps) or not plan.in_place or plan.is_open:
            return None
        if any(step.primitive == "python" for step in plan.steps):
            return None
        buffers = self.buffers(plan, out=False, fits=is_large)
        return buffers if MIN_KEPT_BYTES <= bytes_of_buffers(buffers) <= MAX_KEPT_BYTES else None

    def source_to_run(self, plan: Any) -> GeneratedSource:
        """Return the source of the function to run.

        If `kept_buffers` returns arrays, they use memory that is kept for the next call. New memory costs a page fault
        for each 4 KiB, which can take longer than the computation.
        """
        buffers = self.kept_buffers(plan)
        if buffers is None:
            return self.source(plan)
        text, given = Written(), ", ".join(plan.names[value] for value in plan.inputs)
        text.include(self.source(plan, "inside", given=buffers))
        shapes = write_tuple(tuple(f"({shape}, {dtype_text('np', dtype)})" for shape, dtype in buffers.made))
        text.add(f"def function({given}):")
        text.add(f"    return in_buffers(lambda memory: inside({given and given + ', '}*memory({shapes})))")
        return text.source()


BACKEND = NumPy()
