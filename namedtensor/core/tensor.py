"""NamedTensor: an array of any library, with names for its axes (paper §2): its data, how it is made and converted.

The order in which the axes are stored means nothing, and what would need one (`np.asarray` of a matrix) is refused and
says what to write. Operators, methods and looks are given to the class above, by `tensors/methods.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from grammar.errors import NotationError
from grammar.plain_text import encodable

from .arrays import is_array, library, namespace
from .axes import names_of, show
from .hooks import seen
from .kinds import as_number, wrong
from .layout import Layout, layout_of
from .seeds import is_key

if TYPE_CHECKING:
    from .behavior import Behavior  # the operators and methods that `tensors/methods.py` gives
else:
    Behavior = object


class PositionalError(NotationError, TypeError):
    """The error for Python's protocols that go by position: a TypeError, too, as those who use them expect."""


class NamedShape(dict[str, int]):
    """Axis name to size; prints as ℝ^{height[3] × width[3]}, compares without order."""

    def __missing__(self, axis: Any) -> int:
        if isinstance(axis, str):
            raise KeyError(axis)
        raise NotationError(
            318, f"{self} has no axis order, so it has no size {axis!r}", hint='name the axis: A.sizes["seq"]'
        )

    @encodable
    def __repr__(self) -> str:
        return show(self)

    __str__ = __repr__


class NamedTensor(Behavior):
    """Store an array with named axes; `tensor` creates one.

    The storage order of the axes has no meaning: operations align axes by name. Arrays may come from NumPy, PyTorch, JAX or any
    other library of the Python Array API standard.

    Parameters
    ----------
    array : array, nested lists or number
        The elements.
    axes : str or iterable of str
        Axis names, in the order of the array's dimensions.

    Raises
    ------
    NotationError
        If the number of names differs from the number of dimensions (316), or a name occurs twice (303).

    Examples
    --------
    >>> A = NamedTensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> A.sizes
    {'height': 2, 'width': 3}
    """

    __slots__ = {"_array": None, "layout": "All but the numbers, interned.", "__weakref__": None}

    _array: Any
    layout: Layout

    def __init_subclass__(cls, **options: Any) -> None:
        raise TypeError(
            f"{cls.__name__} cannot subclass NamedTensor: results of operations are plain NamedTensors; "
            "write a function, or a class that holds one"
        )

    def __init__(self, array: Any, axes: str | Iterable[str] = ()):
        made = tensor(array, axes)
        self._array, self.layout = made._array, made.layout

    # --------------------------------------------------------------------------------------------------- what it is
    @property
    def array(self) -> Any:
        """The array inside: of NumPy, PyTorch, JAX or any other library of the Python Array API standard."""
        array = self._array  # what NumPy reduces to a number is no array of its own accord
        return np.asarray(array) if _is_numpys(array) else array

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the axes, in storage order, which means nothing."""
        return self.layout.axes

    @property
    def sizes(self) -> dict[str, int]:
        """Axis name to size."""
        return self.layout.sizes

    @property
    def shape(self) -> NamedShape:
        """The sizes, which print as ℝ^{height[3] × width[3]}."""
        return NamedShape(self.layout.sizes)

    @property
    def dtype(self) -> Any:
        """The type of the numbers, as the array's library has it."""
        return self.layout.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.layout.axes)

    def to_array(self, order: str | Iterable[str] | None = None) -> Any:
        """Return the positional array, in the given axis order.

        Parameters
        ----------
        order : str or iterable of str, optional
            Axis names in the order of the result. Required if there are two or more axes.

        Returns
        -------
        array
            An array of the same library.

        Raises
        ------
        NotationError
            If the order is not exactly the axes (318).

        Examples
        --------
        >>> tensor([[3, 1, 4], [1, 5, 9]], "height width").to_array("width height").tolist()
        [[3, 1], [1, 5], [4, 9]]
        """
        own = self.layout.axes
        axes = own if order is None and len(own) < 2 else names_of(() if order is None else order)
        if axes == own:
            return self.array
        moves = _moves(own, axes)
        if moves is None:
            problem = "needs an axis order" if order is None else f"got {', '.join(axes) or 'no axes'}"
            hint = f'write to_array("{" ".join(own)}")' if own else "write to_array()"
            raise NotationError(318, f"to_array {problem}; the axes are {', '.join(own) or 'none'}", hint=hint)
        return self.layout.xp.permute_dims(self._array, moves)

    def to_numpy(self, order: str | Iterable[str] | None = None) -> Any:
        """Return the elements as a NumPy array, copied from any device.

        Parameters
        ----------
        order : str or iterable of str, optional
            Axis names in the order of the result. Required if there are two or more axes.

        Returns
        -------
        numpy.ndarray

        Raises
        ------
        NotationError
            If the order is not exactly the axes (318).

        Examples
        --------
        >>> tensor([3, 1], "a").to_numpy()
        array([3, 1])
        """
        return concrete(self.to_array(self._order("to_numpy", order)))

    def tolist(self, order: str | Iterable[str] | None = None) -> Any:
        """Return the elements as nested lists; without axes, the number.

        Parameters
        ----------
        order : str or iterable of str, optional
            Axis names in the order of the result. Required if there are two or more axes.

        Returns
        -------
        list or number

        Raises
        ------
        NotationError
            If the order is not exactly the axes (318).

        Examples
        --------
        >>> tensor([[3, 1, 4], [1, 5, 9]], "height width").tolist("width height")
        [[3, 1], [1, 5], [4, 9]]
        """
        return concrete(self.to_array(self._order("tolist", order))).tolist()

    def _order(self, method: str, order: Any) -> Any:
        if order is not None or len(self.layout.axes) < 2:
            return order
        raise NotationError(
            318, f"{method} needs an axis order; the axes are {', '.join(self.layout.axes)}",
            hint=f'write {method}("{" ".join(self.layout.axes)}")',
        )  # fmt: skip

    def item(self) -> Any:
        """Return the element of a tensor without axes, as a Python number.

        Returns
        -------
        int, float, complex or bool

        Raises
        ------
        NotationError
            If the tensor has axes (318).

        Examples
        --------
        >>> tensor(2.5).item()
        2.5
        """
        array = self._alone("item")
        return array.item() if hasattr(array, "item") else concrete(array).item()

    def backward(self, *arguments: Any, **named: Any) -> None:
        """Add the derivative of this number to each `.grad`, as PyTorch does.

        Parameters
        ----------
        *arguments, **named
            Passed on to `torch.Tensor.backward`.

        Raises
        ------
        NotationError
            If the tensor has axes (318), or is not one of PyTorch (317).

        Examples
        --------
        >>> import torch, namedtensor as nt  # doctest: +SKIP
        >>> w = torch.ones(2, requires_grad=True)  # doctest: +SKIP
        >>> nt.tensor(w, "a").sum(axis="a").backward()  # doctest: +SKIP
        >>> w.grad  # doctest: +SKIP
        tensor([1., 1.])
        """
        array = self._alone("backward")
        if not hasattr(array, "backward"):
            raise NotationError(
                317, f"backward needs a PyTorch tensor, got {type(array).__name__}",
                hint="differentiate a formula: nt.gradient, or jax.grad",
            )  # fmt: skip
        array.backward(*arguments, **named)

    def _alone(self, what: str) -> Any:
        if self.layout.axes:
            raise PositionalError(
                318,
                f"{what} needs a tensor without axes, got {self.shape}",
                hint="index or reduce it first",
            )
        return self._array

    def __float__(self) -> float:
        self._alone("float")
        return float(self.item())

    def __int__(self) -> int:
        self._alone("int")
        return int(self.item())

    def __bool__(self) -> bool:
        self._alone("a boolean")
        return bool(self.item())

    def __complex__(self) -> complex:
        self._alone("complex")
        return complex(self.item())

    def __index__(self) -> int:
        self._alone("an integer")
        value = self.item()
        if isinstance(value, bool) or not (isinstance(value, int) or (isinstance(value, float) and value.is_integer())):
            raise PositionalError(402, f"expected an integer, got {value}", hint="round it first: int(n)")
        return int(value)

    def __round__(self, digits: int | None = None) -> NamedTensor:
        """Round the elements to this many decimals; halves round to even."""
        if digits is not None and not hasattr(digits, "__index__"):
            raise NotationError(
                310, f"the number of decimal places must be an integer, got {digits!r}", hint="write round(A, 2)"
            )
        return made(rounded(self.array, int(digits or 0)), self.layout.axes)

    def __len__(self) -> int:
        return self._along("length", 'sizes gives the size of each axis: A.sizes["{0}"]')[0]

    def __iter__(self) -> Iterator[NamedTensor]:
        """The elements along the one axis, each a tensor without axes. Raises NotationError where there are several."""
        hint = 'go along one by name: for i in range(A.sizes["{0}"]): A[{{"{0}": i}}]'
        (size,), array = self._along("first axis to go along", hint), self.array
        return (made(array[place], ()) for place in range(size))

    def _along(self, what: str, hint: str) -> tuple[int, ...]:
        """The size of the only axis: positions need no name where there is one."""
        if len(self.layout.axes) != 1:
            first = self.layout.axes[0] if self.layout.axes else None
            raise PositionalError(
                318, f"a tensor of {self.shape} has no {what}", hint=hint.format(first) if first else None
            )
        return self.layout.extent

    def __contains__(self, value: Any) -> bool:
        raise NotationError(318, "`in` is not supported for named tensors", hint="write (A == value).any(axis=…)")

    # ------------------------------------------------------------------------------------------------ other libraries
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if len(self.layout.axes) > 1:
            raise NotationError(
                318, f"converting {self.shape} to an array needs an axis order",
                hint=f'pass it: A.to_array("{" ".join(self.layout.axes)}")',
            )  # fmt: skip
        array = np.asarray(self._array, dtype=dtype)
        return array.copy() if copy else array

    def to_xarray(self) -> Any:
        """Return an xarray DataArray with these axes as its dimensions.

        Returns
        -------
        xarray.DataArray

        Raises
        ------
        NotationError
            If xarray is not installed (408).

        Examples
        --------
        >>> tensor([3, 1], "a").to_xarray().dims  # doctest: +SKIP
        ('a',)
        """
        try:
            import xarray  # type: ignore[import-not-found]
        except ImportError:
            raise NotationError(408, "xarray is not installed", hint="pip install '.[xarray]'") from None
        return xarray.DataArray(self.array, dims=self.layout.axes)


# ------------------------------------------------------------------------------------------------------- making them
_new = object.__new__


def made(array: Any, axes: tuple[str, ...]) -> NamedTensor:
    """A tensor of these parts; nothing is checked."""
    return made_as(array, layout_of(array, axes))


def made_as(array: Any, layout: Layout) -> NamedTensor:
    """A tensor of an array and its layout; nothing is checked."""
    result = _new(NamedTensor)
    result._array = array  # pyright: ignore[reportPrivateUsage]
    result.layout = layout
    return result


def tensor(data: Any, axes: str | Iterable[str] = ()) -> NamedTensor:
    """Create a named tensor.

    Parameters
    ----------
    data : array, nested lists, number or NamedTensor
        The elements. An array of any library is not copied. A `jax.ShapeDtypeStruct` gives a shape without elements.
    axes : str or iterable of str
        Axis names, in the order of the dimensions (default: none, for a number).

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If the number of names differs from the number of dimensions (316), a name occurs twice (303; paper §2.3), or the rows
        of nested lists differ in length (311).

    Examples
    --------
    >>> tensor([[3, 1, 4], [1, 5, 9]], "height width")
    NamedTensor([[3, 1, 4], [1, 5, 9]], "height width")
    """
    names = names_of(axes)
    if isinstance(data, NamedTensor):
        return data if not names else _reordered(data, names)
    array = _checked(data) if is_array(data) else _from_lists(data)
    if len(names) != len(array.shape):
        raise _wrong_number(array, names)
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise NotationError(303, f"duplicate axis {twice}", hint="give each axis its own name")
    try:
        return made(array, names)
    except TypeError:
        if not is_shape(array):
            raise
        return made_as(array, Layout(names, tuple(array.shape), array.dtype, None))


@lru_cache(maxsize=4096)
def _moves(own: tuple[str, ...], axes: tuple[str, ...]) -> tuple[int, ...] | None:
    """The permutation that brings a tensor's axes into this order; None where they are other axes."""
    return tuple([own.index(axis) for axis in axes]) if sorted(axes) == sorted(own) else None


def _reordered(given: NamedTensor, names: tuple[str, ...]) -> NamedTensor:
    if sorted(names) != sorted(given.axes):
        raise NotationError(
            316, f"the tensor already has axes {', '.join(given.axes) or 'none'}, not {', '.join(names)}",
            hint="use rename to change axis names",
        )  # fmt: skip
    return made(given.to_array(names), names)


def shape_error(array: Any) -> NotationError:
    return NotationError(
        317, f"cannot compute with a tensor of shape {tuple(array.shape)} that has no values",
        hint="pass it to jax.eval_shape, jax.export or jax.jit(…).lower",
    )  # fmt: skip


def is_shape(array: Any) -> bool:
    """Whether this is a shape and a dtype of JAX, for which functions are exported and lowered."""
    return type(array).__name__ == "ShapeDtypeStruct"


def _wrong_number(array: Any, names: tuple[str, ...]) -> NotationError:
    rank = len(array.shape)
    sizes = f" ({' × '.join(map(str, array.shape))})" if rank else ""
    has = f"{rank or 'no'} {'axis' if rank == 1 else 'axes'}{sizes}"
    given = f"{len(names) or 'no'} {'name was' if len(names) == 1 else 'names were'} given"
    return NotationError(
        316, f"the array has {has}, but {given}", notes=(f"the names are {', '.join(names)}",) if names else (),
        hint='name each axis, separated with spaces: nt.tensor(data, "height width")',
    )  # fmt: skip


def _from_lists(data: Any) -> Any:
    if _has_tensors(data):
        raise NotationError(
            317,
            "a list of named tensors is not an array",
            hint='stack them along a new axis: nt.stack(A, B, axis="new")',
        )
    try:
        array = np.asarray(data)
    except (ValueError, TypeError, OverflowError):
        array = None
    if array is None or (array.dtype == object and _is_ragged(_rows(data) or ())):
        raise NotationError(311, "the nested lists differ in length", hint="give every row the same number of entries")
    return _checked(array)


def _rows(data: Any) -> Sequence[Any] | None:
    """The entries of a list or a tuple; None for what is neither."""
    return cast("Sequence[Any]", data) if isinstance(data, (list, tuple)) else None


def _has_tensors(data: Any) -> bool:
    return any(isinstance(each, NamedTensor) or _has_tensors(each) for each in (_rows(data) or ())[:1])


def _is_ragged(rows: Sequence[Any]) -> bool:
    parts = [_rows(each) for each in rows]
    lengths = {None if part is None else len(part) for part in parts}
    return len(lengths) > 1 or any(part is not None and _is_ragged(part) for part in parts)


def _is_numpys(array: Any) -> bool:
    return isinstance(array, (np.ndarray, np.generic))


def _checked(array: Any) -> Any:
    """Return a plain array of numbers; reject or strip other features of NumPy arrays, such as masks."""
    if not _is_numpys(array):
        if hasattr(array, "dims"):
            raise NotationError(
                317, f"{type(array).__name__} already has axis names", hint="write nt.from_xarray(array)"
            )
        try:
            namespace(array)
        except TypeError:  # a column of a table, say
            if is_shape(array):
                return array
            return _checked(np.asarray(array))
        if is_key(array):
            raise NotationError(
                317, "expected numbers, got keys of jax.random",
                hint="pass a key as a seed, or map over keys: jax.vmap(lambda key: …)(keys)",
            )  # fmt: skip
        return array
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", ())  # NumPy imports it for whoever asks for it
    if isinstance(array, masked):
        raise NotationError(
            317, "a masked array would lose its mask", hint="fill it first, or pass the mask as a tensor"
        )
    if array.dtype.kind not in "biufcV" or array.dtype.type is np.void:
        what = "text" if array.dtype.kind in "US" else f"objects of Python ({array.dtype})"
        if array.dtype.kind == "V":
            what = f"records ({array.dtype})"
        raise NotationError(317, f"expected numbers, got {what}", hint="convert it to numbers first")
    return np.asarray(array)


def from_xarray(array: Any) -> NamedTensor:
    """Convert an xarray DataArray; its dimensions become axes.

    Parameters
    ----------
    array : xarray.DataArray
        The array. Its coordinates are not kept.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If the argument is not a DataArray, or a dimension is not a valid axis name (208).

    Examples
    --------
    >>> import xarray  # doctest: +SKIP
    >>> from_xarray(xarray.DataArray([3, 1], dims="a"))  # doctest: +SKIP
    NamedTensor([3, 1], "a")
    """
    if not hasattr(array, "dims") or not hasattr(array, "values"):
        raise wrong(
            array, "what from_xarray is given", "a DataArray of xarray", 'write nt.tensor(data, "height width")'
        )
    return tensor(array.values, tuple(str(name) for name in array.dims))


# --------------------------------------------------------------------------------------------------------- comparing
def allclose(left: Any, right: Any, rtol: float = 1e-6, atol: float = 1e-9) -> bool:
    """Test whether two tensors have the same axes and, within a tolerance, the same elements.

    Parameters
    ----------
    left, right : tensor or number
        The operands; the order of their axes has no meaning.
    rtol, atol : float
        Relative and absolute tolerance, as in `numpy.allclose` (default: 1e-6 and 1e-9). NaN equals NaN.

    Returns
    -------
    bool

    Raises
    ------
    NotationError
        If a tolerance is not a non-negative number.

    Examples
    --------
    >>> A = tensor([[1, 2], [3, 4]], "a b")
    >>> allclose(A, tensor([[1, 3], [2, 4]], "b a"))
    True
    """
    left, right = tensor(left), tensor(right)
    rtol = as_number(rtol, "rtol=", 0, "write rtol=1e-6")
    atol = as_number(atol, "atol=", 0, "write atol=1e-9")
    if left.sizes != right.sizes:
        return False
    first, second = (concrete(each.to_array(left.axes)) for each in (left, right))
    return bool(np.allclose(first, second, rtol=rtol, atol=atol, equal_nan=True))


def rounded(array: Any, digits: int) -> Any:
    """An array rounded to a number of places behind the point, by its own library."""
    xp = namespace(array)
    if not xp.isdtype(array.dtype, ("real floating", "complex floating")):
        return array if digits >= 0 else xp.astype(rounded(xp.astype(array, xp.float64), digits), array.dtype)
    scale = 10.0 ** abs(digits)
    return xp.round(array * scale) / scale if digits > 0 else xp.round(array / scale) * scale


def concrete(array: Any) -> Any:
    """The numbers as an array of NumPy, also while a library traces."""
    if is_shape(array):
        raise shape_error(array)
    if library(array) == "torch":
        array = array.detach().cpu()
        array = array.float() if str(array.dtype) == "torch.bfloat16" else array
    return np.asarray(array)


seen("NamedTensor")  # whoever gives the class its methods does so now
