"""Define NamedTensor, an array from any library with named axes (paper §2), and its conversions.

The storage order of the axes has no meaning. An operation that needs an order, such as `np.asarray` of a matrix, raises
an error that suggests a repair. The module `tensors/methods.py` adds operators, methods and printed forms to the class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from grammar.errors import NotationError

from .array_data import concrete, is_numpys, permutation, reorder_array, require_array, round_array, wrong_number
from .arrays import Layout, is_shape, layout_of
from .axes import NamedShape, PositionalError, names_of
from .hooks import from_table, seen

if TYPE_CHECKING:
    from .behavior import Behavior  # Declares the operators and methods that `tensors/methods.py` adds.
else:
    Behavior = object


class NamedTensor(Behavior):
    """An array with named axes. Call `tensor` to create one.

    The storage order of the axes has no meaning, because operations align axes by name. The array may be from NumPy,
    PyTorch, JAX, or any other library that supports the Python Array API standard.

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

    __slots__ = {"_array": None, "layout": "All but the numbers, interned.", "_origin": None, "__weakref__": None}

    _array: Any
    layout: Layout
    _origin: Any  # Other properties of the table that was converted to this tensor.

    def __init_subclass__(cls, **options: Any) -> None:
        raise TypeError(
            f"{cls.__name__} cannot subclass NamedTensor: results of operations are plain NamedTensors; "
            "write a function, or a class that holds one"
        )

    def __init__(self, array: Any, axes: str | Iterable[str] = ()):
        tensor_ = tensor(array, axes)
        self._array, self.layout = tensor_._array, tensor_.layout

    # --------------------------------------------------------------------------------------------------- what it is
    @property
    def array(self) -> Any:
        """The underlying array, from NumPy, PyTorch, JAX or another library that supports the Array API standard."""
        array = self._array  # NumPy's reductions return a number, which is not converted automatically.
        return np.asarray(array) if is_numpys(array) else array

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the axes in storage order, which has no meaning."""
        return self.layout.axes

    @property
    def sizes(self) -> dict[str, int]:
        """A mapping from axis names to sizes, in storage order."""
        return self.layout.sizes

    @property
    def shape(self) -> NamedShape:
        """The shape, which prints as ℝ^{height[3] × width[3]}."""
        return NamedShape(self.layout.sizes)

    @property
    def labels(self) -> dict[str, list[Any]]:
        """A mapping from each labeled axis to the labels of its elements; see `with_labels`."""
        return {axis: labels.listed for axis, labels in self.layout.labels}

    @property
    def dtype(self) -> Any:
        """The dtype of the elements, as an object of the array's library."""
        return self.layout.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.layout.axes)

    def to_array(self, order: str | Iterable[str] | None = None) -> Any:
        """Return the underlying array with its axes in the given order.

        Parameters
        ----------
        order : str or iterable of str, optional
            Axis names in the order of the result. Required if there are two or more axes.

        Returns
        -------
        array
            An array from the same library.

        Raises
        ------
        NotationError
            If `order` does not list each axis exactly once (318).

        Examples
        --------
        >>> tensor([[3, 1, 4], [1, 5, 9]], "height width").to_array("width height").tolist()
        [[3, 1], [1, 5], [4, 9]]
        """
        names = self.layout.axes
        axes = names if order is None and len(names) < 2 else names_of(() if order is None else order)
        if axes == names:
            return self.array
        moves = permutation(names, axes)
        if moves is None:
            problem = "needs an axis order" if order is None else f"got {', '.join(axes) or 'no axes'}"
            hint = f'write to_array("{" ".join(names)}")' if names else "write to_array()"
            raise NotationError(318, f"to_array {problem}; the axes are {', '.join(names) or 'none'}", hint=hint)
        return self.layout.xp.permute_dims(self._array, moves)

    def to_numpy(self, order: str | Iterable[str] | None = None) -> Any:
        """Return the elements as a NumPy array, copied from the device if needed.

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
            If `order` does not list each axis exactly once (318).

        Examples
        --------
        >>> tensor([3, 1], "a").to_numpy()
        array([3, 1])
        """
        return concrete(self.to_array(self._order("to_numpy", order)))

    def tolist(self, order: str | Iterable[str] | None = None) -> Any:
        """Return the elements as nested lists, or as a number if there are no axes.

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
            If `order` does not list each axis exactly once (318).

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
        """Return the only element of a tensor without axes, as a Python number.

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
        """Compute the derivative of this scalar and add it to the `.grad` of each tensor, as in PyTorch.

        Parameters
        ----------
        *arguments, **named
            Arguments for `torch.Tensor.backward`.

        Raises
        ------
        NotationError
            If the tensor has axes (318), or is not a PyTorch tensor (317).

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
        """Round the elements to a number of decimals. Halves are rounded to even."""
        if digits is not None and not hasattr(digits, "__index__"):
            raise NotationError(
                310, f"the number of decimal places must be an integer, got {digits!r}", hint="write round(A, 2)"
            )
        return wrap_array(round_array(self.array, int(digits or 0)), self.layout.axes)

    def __len__(self) -> int:
        return self._require_one_axis("length", 'sizes gives the size of each axis: A.sizes["{0}"]')[0]

    def __iter__(self) -> Iterator[NamedTensor]:
        """Yield the elements along the only axis. Raise NotationError if the tensor does not have exactly one axis."""
        hint = 'go along one by name: for i in range(A.sizes["{0}"]): A[{{"{0}": i}}]'
        (size,), array = self._require_one_axis("first axis to go along", hint), self.array
        return (wrap_array(array[index], ()) for index in range(size))

    def _require_one_axis(self, what: str, hint: str) -> tuple[int, ...]:
        """Return the shape of a tensor with one axis. Raise PositionalError for any other tensor.

        With one axis, a position needs no axis name.
        """
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


# ------------------------------------------------------------------------------------------------------- making them
_new = object.__new__


def wrap_array(array: Any, axes: tuple[str, ...]) -> NamedTensor:
    """Create a tensor from an array and its axes, without checks."""
    return wrap_layout(array, layout_of(array, axes))


def wrap_layout(array: Any, layout: Layout) -> NamedTensor:
    """Create a tensor from an array and its layout, without checks."""
    result = _new(NamedTensor)
    result._array = array  # pyright: ignore[reportPrivateUsage]
    result.layout = layout
    return result


def wrap(array: Any, axes: tuple[str, ...], xp: Any) -> NamedTensor:
    """Create a tensor from an array, or from a plain number that a library returned instead of an array."""
    return wrap_array(array if hasattr(array, "dtype") else xp.asarray(array), axes)


def tensor(data: Any, axes: str | Iterable[str] = (), labels: Any = None) -> NamedTensor:
    """Create a named tensor.

    Parameters
    ----------
    data : array, nested lists, number, table or NamedTensor
        The elements. Arrays are not copied. A `jax.ShapeDtypeStruct` specifies a shape without elements. A DataArray, a DataFrame or a Series also provides labels.
    axes : str or iterable of str
        The axis names, in the order of the dimensions. A number does not need names, and a table may contain them.
    labels : mapping of str to iterable, optional
        The labels of the elements along each axis, which are strings, numbers or dates.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If the number of names differs from the number of dimensions (316), a name occurs twice (303; paper §2.3), the
        rows of nested lists differ in length (311), or the numbers do not fit in memory (404).

    Examples
    --------
    >>> tensor([[3, 1, 4], [1, 5, 9]], "height width")
    NamedTensor([[3, 1, 4], [1, 5, 9]], "height width")
    """
    names = names_of(axes)
    if labels is not None:
        return tensor(data, axes).with_labels(labels)
    if hasattr(data, "to_numpy") and not isinstance(data, NamedTensor):
        result = from_table(data, names or None)
        if result is not None:
            return result
    if isinstance(data, NamedTensor):
        result = wrap_array(reorder_array(data, names), names) if names else data
        return result.with_labels(dict(data.layout.labels)) if names and data.layout.labels else result
    array = require_array(data, names)
    if len(names) != len(array.shape):
        raise wrong_number(array, names)
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise NotationError(303, f"duplicate axis {twice}", hint="give each axis its own name")
    try:
        return wrap_array(array, names)
    except TypeError:
        if not is_shape(array):
            raise
        return wrap_layout(array, Layout(names, tuple(array.shape), array.dtype, None))


seen("NamedTensor")  # Run the callbacks that add methods to the class.
