"""NamedTensor: an array of any library, with names for its axes (paper §2).

The order in which the axes are stored means nothing: arithmetic broadcasts by name, `==` compares by name, and what
would need an order (`np.asarray` of a matrix) is refused and says what to write.
"""

from __future__ import annotations

import re
from typing import Any, Iterable, Mapping

from grammar.errors import NotationError
from grammar.text import fold

from . import eager
from .arrays import is_array, library, namespace
from .axes import show

AXIS = re.compile(r"[^\W\d_][^\W_]*(?:_[^\W_]+)*['*†‡]*")


class NamedShape(dict):
    """Axis name to size; prints as ℝ^{height[3] × width[3]}, compares without order."""

    def __repr__(self) -> str:
        return show(self)

    __str__ = __repr__


class NamedTensor:
    """A tensor with named axes.

    `axes` are the names in storage order, which means nothing; `array` is the array inside. Made by `tensor`.
    """

    __slots__ = ("array", "axes", "__weakref__")

    array: Any
    axes: tuple[str, ...]

    def __init__(self, array: Any, axes: str | Iterable[str] = ()):
        made = tensor(array, axes)
        self.array, self.axes = made.array, made.axes

    # what it is
    @property
    def sizes(self) -> dict[str, int]:
        """Axis name to size."""
        return dict(zip(self.axes, map(int, self.array.shape)))

    @property
    def shape(self) -> NamedShape:
        return NamedShape(zip(self.axes, map(int, self.array.shape)))

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    @property
    def ndim(self) -> int:
        return len(self.axes)

    def to_array(self, order: str | Iterable[str] | None = None) -> Any:
        """The positional array, its axes in an order that must be said where there are several.

        Raises NotationError where the order is not a permutation of the axes.
        """
        axes = self.axes if order is None and len(self.axes) < 2 else names_of(order if order is not None else ())
        if sorted(axes) != sorted(self.axes):
            said = f"to_array was asked for {', '.join(axes)}" if order is not None else "to_array was given no order"
            raise NotationError(
                318, f"{said}, and the axes are {', '.join(self.axes)}", hint=f'write to_array("{" ".join(self.axes)}")'
            )
        if axes == self.axes:
            return self.array
        return namespace(self.array).permute_dims(self.array, tuple(self.axes.index(axis) for axis in axes))

    def item(self) -> Any:
        """The number that a tensor without axes holds."""
        self._alone("item")
        return self.array.item()

    def _alone(self, what: str) -> None:
        if self.axes:
            raise NotationError(
                318, f"{what} needs a tensor without axes, and this one has {show(self.sizes)}", hint="index or reduce it first"
            )

    def __float__(self) -> float:
        self._alone("float")
        return float(self.array)

    def __int__(self) -> int:
        self._alone("int")
        return int(self.array)

    def __bool__(self) -> bool:
        self._alone("a truth value")
        return bool(self.array)

    def __len__(self) -> int:
        raise NotationError(318, "a named tensor has no length", hint="sizes gives the size of each axis")

    def __iter__(self):
        raise NotationError(
            318, "a named tensor has no first axis to go along", hint='index it by name: A[{"seq": 0}]'
        )

    # arithmetic
    def __add__(self, other):
        return eager.binary("+", self, other)

    def __radd__(self, other):
        return eager.binary("+", other, self)

    def __sub__(self, other):
        return eager.binary("-", self, other)

    def __rsub__(self, other):
        return eager.binary("-", other, self)

    def __mul__(self, other):
        return eager.binary("⊙", self, other)

    def __rmul__(self, other):
        return eager.binary("⊙", other, self)

    def __truediv__(self, other):
        return eager.binary("/", self, other)

    def __rtruediv__(self, other):
        return eager.binary("/", other, self)

    def __pow__(self, other):
        return eager.binary("^", self, other)

    def __rpow__(self, other):
        return eager.binary("^", other, self)

    def __eq__(self, other):  # type: ignore[override]
        return eager.binary("=", self, other)

    def __ne__(self, other):  # type: ignore[override]
        return eager.binary("≠", self, other)

    def __lt__(self, other):
        return eager.binary("<", self, other)

    def __le__(self, other):
        return eager.binary("≤", self, other)

    def __gt__(self, other):
        return eager.binary(">", self, other)

    def __ge__(self, other):
        return eager.binary("≥", self, other)

    def __and__(self, other):
        return eager.binary("∧", self, other)

    def __or__(self, other):
        return eager.binary("∨", self, other)

    def __neg__(self):
        return eager.unary("negative", self)

    def __pos__(self):
        return self

    def __abs__(self):
        return eager.unary("abs", self)

    def __invert__(self):
        return eager.unary("¬", self)

    def __matmul__(self, other):
        raise NotationError(
            316, "@ does not say which axis to contract", hint='write nt.dot(A, B, axis="key"), or a formula: A ⊙_{key} B'
        )

    __hash__ = object.__hash__

    # renaming and reshaping (paper §3.6)
    def rename(self, names: Mapping[str, str] | None = None, /, **named: str) -> NamedTensor:
        """The same tensor, axes under other names, all at once: A.rename(height="rows").

        Raises NotationError where an axis is missing, or two would get one name.
        """
        pairs = {**(names or {}), **named}
        eager.need_axes(self, pairs, "rename")
        axes = tuple(check_axis(pairs.get(axis, axis)) for axis in self.axes)
        for axis in axes:
            if axes.count(axis) > 1:
                raise NotationError(
                    312,
                    f"no axis can be renamed to {axis}: another axis would have this name",
                    notes=(f"the tensor has {show(self.sizes)}",),
                    hint=f"rename the other {axis} at the same time",
                )
        return eager.made(self.array, axes)

    def merge(self, groups: Mapping[str, Iterable[str]] | None = None, /, **named: Iterable[str]) -> NamedTensor:
        """Axes made one, row-major in the order written: A.merge(layer=("height", "width"))."""
        result = self
        for new, old in {**(groups or {}), **named}.items():
            result = eager.merged(result, names_of(old), check_axis(new))
        return result

    def split(
        self, axes: Mapping[str, Mapping[str, int | None]] | None = None, /, **named: Mapping[str, int | None]
    ) -> NamedTensor:
        """An axis made several: A.split(height={"outer": 3, "inner": 1}); one size may be None."""
        result = self
        for old, new in {**(axes or {}), **named}.items():
            result = eager.divided(result, old, {check_axis(axis): size for axis, size in new.items()})
        return result

    def __getitem__(self, index: Any) -> NamedTensor:
        """Elements by name, counted from 0 as Python does: A[{"height": 0}], A[{"seq": slice(0, 2)}]."""
        if not isinstance(index, Mapping):
            raise NotationError(
                318, "an index says which axis it is for", hint='write A[{"height": 0}], which counts from 0'
            )
        return eager.indexed(self, index)

    # other libraries
    def __array__(self, dtype: Any = None, copy: bool | None = None):
        import numpy as np

        if len(self.axes) > 1:
            raise NotationError(
                318,
                f"an array has an order of axes, and {show(self.sizes)} has none",
                hint=f'say it: A.to_array("{" ".join(self.axes)}")',
            )
        array = np.asarray(self.array, dtype=dtype)
        return array.copy() if copy else array

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any):
        return eager.ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any):
        name = function.__name__
        raise NotationError(
            318,
            f"np.{name} goes by the order of axes, and a named tensor has none",
            hint=f'use names: nt.{name}(A, axis="…"), if there is one, or A.to_array("{" ".join(self.axes)}")',
        )

    def to_xarray(self) -> Any:
        """An xarray DataArray with these axes as its dimensions. Raises NotationError where xarray is not installed."""
        return _xarray().DataArray(self.array, dims=self.axes)

    def __reduce__(self):
        return tensor, (self.array, self.axes)

    # how it looks
    def __repr__(self) -> str:
        from .display import one_line

        return one_line(self)

    def to_text(self) -> str:
        """A table for terminals, with the names of the axes."""
        from .display import text_table

        return text_table(self)

    def _repr_html_(self) -> str:
        from .display import html_table

        return html_table(self)


eager.NamedTensor = NamedTensor


def check_axis(name: Any) -> str:
    """A name of an axis as the language compares it. Raises NotationError where it is none."""
    if isinstance(name, str):
        folded = fold(name.strip())
        if AXIS.fullmatch(folded):
            return folded
    hint = "a name is made of letters and digits, with ', *, † or _label at its end"
    if isinstance(name, str) and "," in name:
        hint = f'axes are separated with spaces, not commas: "{" ".join(part.strip() for part in name.split(","))}"'
    raise NotationError(208, f"{name!r} is no name of an axis", hint=hint)


def names_of(axes: str | Iterable[str]) -> tuple[str, ...]:
    """Names from "height width" or from an iterable of names."""
    if isinstance(axes, str):
        if "," in axes:
            check_axis(axes)
        return tuple(check_axis(axis) for axis in axes.split())
    return tuple(check_axis(axis) for axis in axes)


def tensor(data: Any, axes: str | Iterable[str] = ()) -> NamedTensor:
    """A named tensor from an array of any library, nested lists, or a number; `axes` names its axes in their order.

    Raises NotationError where the names are not as many as the array's axes, or one occurs twice (paper §2.1).

    >>> A = tensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> A
    NamedTensor(height[2] × width[3], int64, 1…9)
    """
    if isinstance(data, NamedTensor):
        data = data.to_array(axes) if axes else data.array if not data.axes else data.to_array(data.axes)
        axes = axes or ()
    array = data if is_array(data) and hasattr(data, "ndim") else _array(data)
    names = names_of(axes)
    if len(names) != array.ndim:
        extent = " × ".join(map(str, array.shape)) or "none"
        said = "axis" if array.ndim == 1 else "axes"
        raise NotationError(
            316,
            f"the array has {array.ndim} {said} ({extent}), and {len(names)} {'name' if len(names) == 1 else 'names'} were given",
            notes=(f"the names are {', '.join(names)}",) if names else (),
            hint='name each axis, separated with spaces: nt.tensor(data, "height width")',
        )
    for name in names:
        if names.count(name) > 1:
            raise NotationError(303, f"the axis {name} occurs twice", hint="each axis needs its own name")
    return eager.made(array, names)


def _array(data: Any) -> Any:
    import numpy as np

    try:
        array = np.asarray(data)
    except ValueError:
        array = None
    if array is None or array.dtype == object:
        raise NotationError(311, "the nested lists differ in length", hint="every row needs as many entries")
    if array.dtype.kind not in "biufc":
        raise NotationError(317, f"a tensor holds numbers, and this holds {array.dtype}", hint="convert it to numbers first")
    return array


def allclose(left: Any, right: Any, rtol: float = 1e-6, atol: float = 1e-9) -> bool:
    """Whether two tensors have the same axes and, to a tolerance, the same elements; the order of axes means nothing.

    >>> A = tensor([[1, 2], [3, 4]], "a b")
    >>> allclose(A, tensor([[1, 3], [2, 4]], "b a"))
    True
    """
    import numpy as np

    left, right = (each if isinstance(each, NamedTensor) else tensor(each) for each in (left, right))
    if left.sizes != right.sizes:
        return False
    first, second = (_concrete(each.to_array(left.axes)) for each in (left, right))
    return bool(np.allclose(first, second, rtol=rtol, atol=atol, equal_nan=True))


def _concrete(array: Any) -> Any:
    import numpy as np

    if library(array) == "torch":
        array = array.detach().cpu()
    return np.asarray(array)


def from_xarray(array: Any) -> NamedTensor:
    """A named tensor from an xarray DataArray: its dimensions become axes. Raises NotationError where a name is none."""
    return tensor(array.values, tuple(str(name) for name in array.dims))


def _xarray() -> Any:
    try:
        import xarray
    except ImportError:
        raise NotationError(
            408, "xarray is not installed", hint="pip install 'namedtensor[xarray]'"
        ) from None
    return xarray


from .functions import METHODS  # noqa: E402

for _name, _function in METHODS.items():
    setattr(NamedTensor, _name, _function)
