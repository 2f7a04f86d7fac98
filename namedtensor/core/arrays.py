"""Access array libraries, their dtypes and namespaces, and define layouts. Each library is imported on first use."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

from grammar.cache import Cache
from grammar.errors import NotationError
from grammar.plain_text import encodable

from .axes import show
from .hooks import seen

_NAMESPACES: Cache[type, Any] = Cache("namespaces of arrays", 256)


def namespace(array: object) -> Any:
    """Return the module with an array's functions: NumPy itself, or the Array API namespace of another library."""
    result = _NAMESPACES.get(type(array))
    return _NAMESPACES.get_or_build(type(array), lambda: _namespace(array)) if result is None else result


def _namespace(array: Any) -> Any:
    """Return the namespace for an array type that is not cached yet."""
    import numpy as np

    if isinstance(array, (np.ndarray, np.generic)):
        return np
    import array_api_compat

    array_namespace = array_api_compat.array_namespace(array)
    for part in array_namespace.__name__.split("."):  # For example, array_api_compat.torch or jax.numpy.
        seen(part)
    return array_namespace


def wide(xp: Any) -> bool | None:
    """Return the 64-bit setting of a library (`jax_enable_x64` in JAX), or None if it has no such setting."""
    if not xp.__name__.startswith("jax"):
        return None
    import jax

    return bool(getattr(jax.config, "jax_enable_x64"))  # noqa: B009


def evaluate_eagerly(xp: Any) -> Any:
    """Return a context manager for eager evaluation. Inside it, arrays have values even while JAX is tracing.

    A plan's precomputed values outlive the call that created the plan, so they must not be traced. For PyTorch,
    `backends/torch.py` computes them in another thread, where the modes of the caller's thread do not apply.
    """
    if "jax" not in xp.__name__.split("."):
        return nullcontext()
    import jax  # type: ignore[import-not-found]

    return jax.ensure_compile_time_eval()


def is_array(value: Any) -> bool:
    """Return whether a value is an array from any library, rather than a plain Python number."""
    return hasattr(value, "dtype") and hasattr(value, "shape")


def library_of_namespace(name: str) -> str:
    """Return the name of the library that contains a namespace, such as jax for jax.numpy."""
    return name.removeprefix("array_api_compat.").partition(".")[0]


def library(array: Any) -> str:
    """Return the name of an array's library."""
    return type(array).__module__.partition(".")[0]


def convert_array(array: Any, like: Any) -> Any:
    """Convert a NumPy array to the library and dtype of another array and, for PyTorch, to its device."""
    xp = namespace(like)
    return xp.asarray(array, dtype=like.dtype, **({"device": like.device} if library(like) == "torch" else {}))


def kind_of(dtype: str) -> str:
    """Return the kind of a dtype, given the dtype's name: b, i, u, f or c.

    >>> kind_of("bfloat16")
    'f'
    """
    for start, kind in (("bool", "b"), ("int", "i"), ("uint", "u"), ("complex", "c")):
        if dtype.startswith(start):
            return kind
    return "f"


@lru_cache(maxsize=256, typed=True)
def dtype_name(dtype: Any) -> str:
    """Return the name of a library's dtype.

    >>> import numpy as np
    >>> dtype_name(np.dtype("float32"))
    'float32'
    """
    return getattr(dtype, "name", None) or str(dtype).rpartition(".")[2]


def dtype_object(xp: Any, name: str) -> Any:
    """Return the dtype of a library with the given name.

    NumPy recognizes the dtypes of `ml_dtypes` only by name.

    >>> import numpy as np
    >>> dtype_object(np, "float32")
    <class 'numpy.float32'>
    """
    result = getattr(xp, name, None)
    if result is not None:
        return result
    import numpy as np

    return np.dtype(name)


def module_name(backend: object) -> str:
    """Return the name of the module that contains the functions of a backend: "numpy", "torch" or "jax".

    Raise NotationError if the backend is unknown.

    >>> module_name("jax")
    'jax.numpy'
    """
    if not isinstance(backend, str) or backend not in BACKENDS:
        raise NotationError(409, f"unknown backend {backend!r}", hint=f"available: {', '.join(BACKENDS)}")
    return BACKENDS[backend]


def library_named(backend: object) -> Any:
    """Import the module that contains the functions of a backend: "numpy", "torch" or "jax".

    Raise NotationError if the library is not installed.
    """
    from importlib import import_module

    name = module_name(backend)
    try:
        return import_module(name)
    except ImportError:
        raise NotationError(408, f"{backend} is not installed", hint=f"pip install '.[{backend}]'") from None


def place_array(array: Any, backend: object, dtype: str | None = None, device: Any = None) -> Any:
    """Convert a NumPy array to "numpy", "torch" or "jax". Raise NotationError if the conversion is not possible."""
    xp = library_named(backend)
    try:
        if backend == "numpy":
            return array if dtype is None else array.astype(dtype, copy=False)
        if backend == "torch":
            converted = xp.from_numpy(array if array.flags.writeable else array.copy())
            return converted.to(dtype=None if dtype is None else getattr(xp, dtype), device=device)
        converted = xp.asarray(array, dtype=dtype)
        return converted if device is None else converted.to_device(device)
    except (TypeError, ValueError, AttributeError) as problem:
        what = f"the dtype {dtype!r}" if device is None else f"the dtype {dtype!r} or the device {device!r}"
        raise NotationError(
            405, f"{backend} does not have {what}: {problem}", hint='write "float32" or "float64"'
        ) from None


BACKENDS = {"numpy": "numpy", "torch": "torch", "jax": "jax.numpy"}
HALF = frozenset(("float16", "bfloat16"))  # 16-bit dtypes.


def shape_error(array: Any) -> NotationError:
    return NotationError(
        317, f"cannot compute with a tensor of shape {tuple(array.shape)} that has no values",
        hint="pass it to jax.eval_shape, jax.export or jax.jit(…).lower",
    )  # fmt: skip


def is_shape(array: Any) -> bool:
    """Return whether a value is a JAX ShapeDtypeStruct, which represents an array during an export."""
    return type(array).__name__ == "ShapeDtypeStruct"


def namespace_of(arrays: Mapping[str, Any]) -> Any:
    """Return the common namespace of all arrays, or NumPy if there are no arrays.

    Raise NotationError if the arrays belong to different libraries, or if an array has no values.
    """
    import numpy as np

    kinds: dict[tuple[Any, Any], str] = {(type(array), array.dtype): name for name, array in arrays.items()}
    for name in kinds.values():
        if is_shape(arrays[name]):
            raise shape_error(arrays[name])
    spaces = {(xp := namespace(arrays[name])).__name__: (xp, name) for name in kinds.values()}
    if len(spaces) > 1:
        text = ", ".join(f"{name} is of {library_of_namespace(space)}" for space, (_, name) in sorted(spaces.items()))
        raise NotationError(
            317, f"the tensors come from different libraries: {text}", hint="convert them to one of the two"
        )
    return next(iter(spaces.values()))[0] if spaces else np


MOST = 4096  # The maximum number of cached layouts, and of cached calls of one operator.


class Layout:
    """The axes of an array in storage order, with their sizes and the array's dtype and namespace.

    For a library with a 64-bit setting, such as JAX, `wide` is this setting, because each setting needs a separate
    plan. For other libraries, `wide` is None.
    """

    __slots__ = ("axes", "extent", "dtype", "xp", "wide")
    labels: Any = ()  # The labels along its axes. Only a `LabeledLayout` has labels.

    def __init__(self, axes: tuple[str, ...], extent: tuple[int, ...], dtype: Any, xp: Any, wide: bool | None = None):
        self.axes: tuple[str, ...] = axes
        self.extent: tuple[int, ...] = extent
        self.dtype: Any = dtype
        self.xp: Any = xp
        self.wide: bool | None = wide

    @property
    def sizes(self) -> dict[str, int]:
        """A mapping from axis names to sizes, in storage order."""
        return dict(zip(self.axes, self.extent))

    @property
    def is_truth(self) -> bool:
        """Whether the dtype is Boolean."""
        return dtype_name(self.dtype) == "bool"

    @encodable
    def __repr__(self) -> str:
        return f"Layout({show(self.sizes)}, {self.dtype})"


class UnnamedAxes(Layout):
    """The layout of a JAX array with unknown axes, because the array has replaced an array of a different rank.

    `names` contains the axis names of the replaced array, which the pytree still stores.
    """

    __slots__ = ("array_shape", "names", "problem")

    def __init__(self, names: tuple[str, ...], array_shape: tuple[Any, ...], dtype: Any, problem: NotationError):
        self.names: tuple[str, ...] = names
        self.array_shape: tuple[Any, ...] = array_shape
        self.dtype = dtype
        self.problem: NotationError = problem

    def _fail(self) -> Any:
        raise self.problem.replace()

    axes = extent = xp = wide = property(_fail)  # type: ignore[assignment]

    @encodable
    def __repr__(self) -> str:
        return f"UnnamedAxes({' × '.join(map(str, self.array_shape))} for {', '.join(self.names) or 'no axes'})"


def is_dimension(size: Any) -> bool:
    """Return whether a size is a symbolic JAX dimension, which an array has while `jax.export` is tracing."""
    is_symbolic = getattr(
        sys.modules.get("jax.export"), "is_symbolic_dim", None
    )  # If jax.export is not imported, no size is symbolic.
    return is_symbolic is not None and is_symbolic(size)


def has_dimensions(layouts: Iterable[Any]) -> bool:
    """Return whether any size in the layouts is a symbolic dimension."""
    if "jax" not in sys.modules:
        return False
    for layout in layouts:
        if isinstance(layout, Layout):
            for size in layout.extent:
                if type(size) is not int and is_dimension(size):
                    return True
    return False


_INTERNED: Cache[tuple[tuple[str, ...], tuple[int, ...], Any, Any, bool | None], Layout] = Cache("layouts", MOST)


def layout_of(array: Any, axes: tuple[str, ...]) -> Layout:
    """Return the shared layout of an array with the given axes.

    >>> import numpy as np
    >>> layout_of(np.zeros(3), ("seq",)) is layout_of(np.ones(3), ("seq",))
    True
    """
    xp = namespace(array)
    key = (axes, tuple(array.shape), array.dtype, xp, wide(xp))
    try:
        layout = _INTERNED.get(key)
    except TypeError:  # PyTorch's symbolic sizes are not hashable. The plan uses their numbers.
        return _new(axes, tuple(map(int, array.shape)), *key[2:])
    return _new(*key) if layout is None else layout


def _new(axes: tuple[str, ...], extent: tuple[Any, ...], dtype: Any, xp: Any, wide: bool | None) -> Layout:
    """Return the shared layout with these properties.

    A layout with a symbolic JAX dimension is not shared, because such dimensions cannot be compared across scopes.
    """
    if any(type(size) is not int and is_dimension(size) for size in extent):
        return Layout(axes, extent, dtype, xp, wide)
    key = (axes, extent, dtype, xp, wide)
    return _INTERNED.get_or_build(key, lambda: Layout(*key))


def resize_layout(layout: Layout, axes: tuple[str, ...], extent: tuple[Any, ...]) -> Layout:
    """Return a copy of a layout with the given axes and sizes."""
    key = (axes, extent, layout.dtype, layout.xp, layout.wide)
    result = _INTERNED.get(key)
    return _new(*key) if result is None else result


def rename_layout(layout: Layout, axes: tuple[str, ...]) -> Layout:
    """Return a copy of a layout with the given axis names."""
    return resize_layout(layout, axes, layout.extent)
