"""What NamedTensor is given by `tensors/methods.py`.

Written by `python docs/_extensions/stubs.py --write` from the records of the operators; a test compares.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, Self, SupportsIndex, TypeAlias

class HasShape(Protocol):
    """An array of any library, or a tensor."""

    @property
    def dtype(self) -> Any: ...
    @property
    def shape(self) -> Any: ...

Axes: TypeAlias = str | Iterable[str]
Operand: TypeAlias = float | HasShape

class Behavior:
    def __hash__(self) -> int: ...
    def __add__(self, other: Operand) -> Self: ...
    def __radd__(self, other: Operand) -> Self: ...
    def __sub__(self, other: Operand) -> Self: ...
    def __rsub__(self, other: Operand) -> Self: ...
    def __mul__(self, other: Operand) -> Self: ...
    def __rmul__(self, other: Operand) -> Self: ...
    def __truediv__(self, other: Operand) -> Self: ...
    def __rtruediv__(self, other: Operand) -> Self: ...
    def __pow__(self, other: Operand) -> Self: ...
    def __rpow__(self, other: Operand) -> Self: ...
    def __and__(self, other: Operand) -> Self: ...
    def __rand__(self, other: Operand) -> Self: ...
    def __or__(self, other: Operand) -> Self: ...
    def __ror__(self, other: Operand) -> Self: ...
    def __eq__(self, other: object) -> Self: ...  # type: ignore[override]
    def __ne__(self, other: object) -> Self: ...  # type: ignore[override]
    def __lt__(self, other: Operand) -> Self: ...
    def __le__(self, other: Operand) -> Self: ...
    def __gt__(self, other: Operand) -> Self: ...
    def __ge__(self, other: Operand) -> Self: ...
    def __neg__(self) -> Self: ...
    def __abs__(self) -> Self: ...
    def __invert__(self) -> Self: ...
    def __pos__(self) -> Self: ...
    def __matmul__(self, other: Any) -> Self: ...
    def __rmatmul__(self, other: Any) -> Self: ...
    def rename(self, names: Mapping[str, str] | None = None, /, **named: str) -> Self:
        """Rename several axes at once, as X_{height→rows} does in a formula.

        Parameters
        ----------
        names : mapping of str to str, optional
            The new name per axis, for axis names that are not Python identifiers.
        **named : str
            The new name per axis.

        Returns
        -------
        NamedTensor
            A tensor with the same elements and the new axis names.

        Raises
        ------
        NotationError
            If an axis is missing (301), or two axes would have the same name (312; paper §3.6).

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.tensor([1, 2], "height").rename(height="rows")
        NamedTensor([1, 2], "rows")
        """

    def merge(self, groups: Mapping[str, str | Iterable[str]] | None = None, /, **named: str | Iterable[str]) -> Self:
        """Merge axes into one axis in row-major order, as X_{(height,width)→layer} does in a formula.

        Parameters
        ----------
        groups : mapping of str to (str or iterable of str), optional
            The axes to merge per new axis, for axis names that are not Python identifiers.
        **named : str or iterable of str
            The axes to merge per new axis.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301) or named twice (303), or another axis has the new name (313; paper §3.6).

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.tensor([[3, 1, 4], [1, 5, 9]], "height width").merge(layer="height width").array.tolist()
        [3, 1, 4, 1, 5, 9]
        """

    def split(
        self, axes: Mapping[str, Mapping[str, int | None]] | None = None, /, **named: Mapping[str, int | None]
    ) -> Self:
        """Split an axis into several axes, as X_{layer→(heads,key)} does in a formula.

        Parameters
        ----------
        axes : mapping of str to (mapping of str to int or None), optional
            The new axes with their sizes, per axis to split, for axis names that are not Python identifiers. One size may
            be None; the other sizes determine it.
        **named : mapping of str to int or None
            The new axes with their sizes, per axis to split.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), its size is not the product of the new sizes, or another axis has a new name
            (313; paper §3.6).

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.tensor([1, 2, 3, 4, 5, 6], "layer").split(layer={"heads": 2, "key": None}).shape
        ℝ^{heads[2] × key[3]}
        """

    def __getitem__(self, index: Mapping[str, Any]) -> Self: ...
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any: ...
    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any: ...
    def __reduce__(self) -> tuple[Callable[..., Self], tuple[Any, ...]]: ...
    def __dir__(self) -> list[str]: ...
    def to_pandas(self, order: str | Iterable[str] | None = None) -> Any:
        """Return a pandas Series for one axis, or a DataFrame for two axes. Labels become the index and the columns.

        Parameters
        ----------
        order : str or iterable of str, optional
            For two axes, the axis of the index and then the axis of the columns.

        Returns
        -------
        pandas.Series or pandas.DataFrame

        Raises
        ------
        NotationError
            If the tensor does not have one or two axes, the order of two axes is missing (318), or pandas is not installed
            (408).

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.tensor([[3, 1]], "day city").with_labels(city=["Oslo", "Rome"]).to_pandas("day city")  # doctest: +SKIP
        city  Oslo  Rome
        day
        0        3     1
        """

    def to_polars(self, order: str | Iterable[str] | None = None) -> Any:
        """Return a polars DataFrame. Row labels become its first column, and column labels become its column names.

        Parameters
        ----------
        order : str or iterable of str, optional
            For two axes, the axis of the rows and then the axis of the columns.

        Returns
        -------
        polars.DataFrame

        Raises
        ------
        NotationError
            If the tensor does not have one or two axes, the order of two axes is missing (318), or polars is not installed
            (408).

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.tensor([3, 1], "city").to_polars().columns  # doctest: +SKIP
        ['value']
        """

    def to_xarray(self) -> Any:
        """Return an xarray DataArray. The tensor's axes become dimensions, and its labels become coordinates.

        Returns
        -------
        xarray.DataArray

        Raises
        ------
        NotationError
            If xarray is not installed (408).

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.tensor([3, 1], "a").to_xarray().dims  # doctest: +SKIP
        ('a',)
        """

    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> Any: ...
    def astype(self, dtype: Any) -> Self:
        """Convert the elements to another dtype.

        Parameters
        ----------
        dtype : str or dtype
            The name of the dtype, such as "float32", or a dtype of the array's library.

        Returns
        -------
        NamedTensor
            A tensor with the same labels.

        Raises
        ------
        NotationError
            If the library has no such dtype (405).

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.tensor([1.5, 2.5], "a").astype("int64")
        NamedTensor([1, 2], "a")
        """

    def flip(self, axis: Any) -> Self:
        """Reverse the order of the elements along axes, together with their labels.

        Parameters
        ----------
        axis : str or iterable of str
            The axes to reverse.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301).

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.tensor([1, 2, 3], "seq").flip("seq")
        NamedTensor([3, 2, 1], "seq")
        """

    def pad(self, axes: Mapping[str, Any] | None = None, /, *, value: float = 0, **named: Any) -> Self:
        """Pad axes with elements before the first element and after the last element.

        Parameters
        ----------
        axes : mapping of str to (int, int), optional
            The number of new elements before and after, per axis, for axis names that are not Python identifiers.
        value : number
            The value of the new elements (default: 0).
        **named : (int, int)
            The number of new elements before and after, per axis.

        Returns
        -------
        NamedTensor
            A tensor without labels on the padded axes.

        Raises
        ------
        NotationError
            If an axis is missing (301), or a number is not a non-negative integer (208).

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.tensor([1, 2], "seq").pad(seq=(1, 2))
        NamedTensor([0, 1, 2, 0, 0], "seq")
        """

    def roll(self, shifts: Mapping[str, int] | None = None, /, **named: int) -> Self:
        """Shift the elements along axes. Elements that move past the end reenter at the start. Labels do not move.

        Parameters
        ----------
        shifts : mapping of str to int, optional
            The number of positions to shift by, per axis, for axis names that are not Python identifiers.
        **named : int
            The number of positions to shift by, per axis.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or a shift is not an integer (402).

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.tensor([1, 2, 3], "seq").roll(seq=1)
        NamedTensor([3, 1, 2], "seq")
        """

    def to(self, library: str | Self | None = None, device: Any | None = None, dtype: str | None = None) -> Self:
        """Convert the array to another library, device or dtype.

        Parameters
        ----------
        library : {"numpy", "torch", "jax"} or NamedTensor, optional
            The library (default: the tensor's library). If it is a tensor, use its library, device and dtype.
        device : optional
            The device, such as "cuda" (default: unchanged, or the default of a new library).
        dtype : str, optional
            The dtype of the elements, such as "float32" (default: unchanged).

        Returns
        -------
        NamedTensor
            A tensor with the same elements and labels.

        Raises
        ------
        NotationError
            If the library is unknown (409) or not installed (408), or does not have the dtype or the device (405).

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.tensor([1.5, 2.5], "a").to("torch").array  # doctest: +SKIP
        tensor([1.5000, 2.5000], dtype=torch.float64)
        """

    def unstack(self, axis: str) -> list[Self]:
        """Return the slices along an axis as a list, as in `for row in A.unstack("seq")`.

        Parameters
        ----------
        axis : str
            The axis to remove.

        Returns
        -------
        list of NamedTensor

        Raises
        ------
        NotationError
            If the axis is missing (301).

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.tensor([[1, 2], [3, 4]], "seq chans").unstack("seq")
        [NamedTensor([1, 2], "chans"), NamedTensor([3, 4], "chans")]
        """

    def where(self, condition: Any, otherwise: Any | None = None) -> Self:
        """Keep the elements that satisfy a condition, and replace the other elements.

        Parameters
        ----------
        condition : NamedTensor
            A tensor of booleans. It may have additional axes.
        otherwise : tensor or number, optional
            The replacement for the other elements (default: nan).

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If the condition does not consist of booleans (315), or the axes do not match (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([3, 1, 4], "a")
        >>> A.where(A > 2, 0)
        NamedTensor([3, 0, 4], "a")
        """

    def sel(self, index: Mapping[str, Any] | None = None, /, **named: Any) -> Self:
        """Select elements by label. As in xarray's `sel`, integers are labels, not positions.

        Parameters
        ----------
        index : mapping of str to label, list of labels or slice, optional
            The labels to select per axis, for axis names that are not Python identifiers.
        **named : label, list of labels or slice
            The labels to select per axis. A single label removes the axis. A slice includes both ends. If the labels are
            dates, a partial date such as "2024-03" selects its whole period, and a slice extends to the end of the period.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or does not have the label (401).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([3, 1, 4], "year").with_labels(year=[2019, 2020, 2021])
        >>> A.sel(year=2020)
        NamedTensor(1)
        >>> A.sel(year=slice(2020, None)).labels
        {'year': [2020, 2021]}
        """

    def with_labels(self, labels: Mapping[str, Any] | None = None, /, **named: Iterable[Any] | None) -> Self:
        """Label the elements along axes, for display and for indexing by label.

        Parameters
        ----------
        labels : mapping of str to (iterable or None), optional
            Labels per axis, for axis names that are not Python identifiers. Labels are strings, numbers or dates. None
            removes the labels of an axis.
        **named : iterable or None
            Labels per axis.

        Returns
        -------
        NamedTensor
            A tensor with the same elements. Other axes keep their labels.

        Raises
        ------
        NotationError
            If an axis is missing (301), or its size differs from the number of labels (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([3, 1], "city").with_labels(city=["Oslo", "Bergen"])
        >>> print(A)
        city │ Oslo  Bergen
        ─────┼─────────────
             │    3       1
        >>> A[{"city": "Bergen"}]
        NamedTensor(1)
        """

    def to_latex(self, macros: bool = False, digits: int | None = None) -> str:
        r"""Format a tensor with at most two axes as a LaTeX matrix.

        Parameters
        ----------
        macros : bool
            Whether to use the paper's macros (default: False).
        digits : int, optional
            The number of significant digits (default: the setting of `set_printoptions`).

        Returns
        -------
        str

        Raises
        ------
        NotationError
            If the tensor has more than two axes (316), too many elements (404), or no values (405).

        Examples
        --------
        >>> import namedtensor as nt
        >>> print(nt.tensor([[3, 1, 4], [1, 5, 9]], "height width").to_latex(macros=True))
        \nmatrix{\name{height}}{\name{width}}{3 & 1 & 4 \\ 1 & 5 & 9}
        """

    def take(self, indices: Any, axis: str) -> Self:
        """Return the elements at the given positions along an axis. Positions count from 0.

        Parameters
        ----------
        indices : int, sequence of int or NamedTensor
            The positions. A negative position raises an error. To count from the end, write `A[{"seq": -1}]`.
        axis : str
            The axis to select along.

        Returns
        -------
        NamedTensor
            The selected elements. For one position, the result does not have the axis. For a sequence, the result has the
            axis with the labels of the selected elements. For a tensor, the result has the tensor's axes instead. Axes that
            the tensor shares with `A` are aligned by name.

        Raises
        ------
        NotationError
            If the axis is missing (301), or a position is not an integer (402) or is out of range (401).

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.tensor([3, 1, 4], "seq").take([2, 0, 2], axis="seq")
        NamedTensor([4, 3, 4], "seq")
        """

    def topk(self, k: int, axis: str) -> tuple[Self, Self]:
        """Return the k largest elements along an axis in descending order, and their positions, which count from 0.

        Parameters
        ----------
        k : int
            The number of elements.
        axis : str
            The axis to search along. Its size in the results is k.

        Returns
        -------
        tuple of NamedTensor
            The elements and their positions.

        Raises
        ------
        NotationError
            If the axis is missing (301), or has fewer than k elements (308).

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.tensor([3, 1, 4], "seq").topk(2, "seq")
        (NamedTensor([4, 3], "seq"), NamedTensor([2, 0], "seq"))
        """

    def __format__(self, spec: str) -> str: ...
    def __repr__(self) -> str: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str:
        """Format the tensor as HTML tables with axis names. A tensor with more than two axes has several tables."""

    def to_text(self, digits: int | None = None) -> str:
        """Format the tensor as a table for terminals.

        Parameters
        ----------
        digits : int, optional
            The number of significant digits (default: the setting of `set_printoptions`).

        Returns
        -------
        str

        Raises
        ------
        NotationError
            If `digits` is not an integer from 1 to 17.

        Examples
        --------
        >>> import namedtensor as nt
        >>> print(nt.tensor([3, 1], "a").to_text())
        a │ 1  2
        ──┼─────
          │ 3  1
        """

    def sum(self, *, axis: Axes | None = None) -> Self:
        """∑_{ax} X is the sum.

        Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `X.sum(axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes to reduce over. For a single tensor, None means all axes.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.sum(A, axis="width").shape
        ℝ^{height[2]}
        """

    def prod(self, *, axis: Axes | None = None) -> Self:
        """∏_{ax} X is the product.

        Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `X.prod(axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes to reduce over. For a single tensor, None means all axes.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.prod(A, axis="width").shape
        ℝ^{height[2]}
        """

    def mean(self, *, axis: Axes | None = None) -> Self:
        """mean_{ax} X is the mean.

        Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `X.mean(axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes to reduce over. For a single tensor, None means all axes.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.mean(A, axis="width").shape
        ℝ^{height[2]}
        """

    def var(self, *, axis: Axes | None = None, ddof: float = 0) -> Self:
        """var_{ax}(X; ddof) is the variance, ∑ (x − mean)² / (n − ddof); ddof defaults to 0.

        Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `X.var(axis, ddof=ddof)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes to reduce over. For a single tensor, None means all axes.
        ddof : int (default: 0)

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.var(A, axis="width").shape
        ℝ^{height[2]}
        """

    def std(self, *, axis: Axes | None = None, ddof: float = 0) -> Self:
        """std_{ax}(X; ddof) is the standard deviation, the square root of var.

        Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `X.std(axis, ddof=ddof)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes to reduce over. For a single tensor, None means all axes.
        ddof : int (default: 0)

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.std(A, axis="width").shape
        ℝ^{height[2]}
        """

    def norm(self, *, axis: Axes | None = None, p: float = 2) -> Self:
        """norm_{ax}(X; p) is (∑ |x|^p)^{1/p}, the p-norm; p defaults to 2.

        Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.linalg.norm(X, p, axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes to reduce over. For a single tensor, None means all axes.
        p : int (default: 2)

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.norm(A, axis="width").shape
        ℝ^{height[2]}
        """

    def logsumexp(self, *, axis: Axes | None = None) -> Self:
        """logsumexp_{ax} X is log ∑ exp x.

        Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.log(np.exp(X).sum(axis))`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes to reduce over. For a single tensor, None means all axes.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.logsumexp(A, axis="width").shape
        ℝ^{height[2]}
        """

    def any(self, *, axis: Axes | None = None) -> Self:
        """any_{ax} X is whether any element is true.

        Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `X.any(axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes to reduce over. For a single tensor, None means all axes.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.any(A > 2, axis="width").shape
        ℝ^{height[2]}
        """

    def all(self, *, axis: Axes | None = None) -> Self:
        """all_{ax} X is whether all elements are true.

        Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `X.all(axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes to reduce over. For a single tensor, None means all axes.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.all(A > 2, axis="width").shape
        ℝ^{height[2]}
        """

    def max(self, Y: Operand | None = None, *, axis: Axes | None = None) -> Self:
        """max_{ax} X is the largest element, or the larger of two arguments.

        Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `X.max(axis), np.maximum(X, Y)`.

        Parameters
        ----------
        X : tensor or number
        Y : tensor or number, optional
        axis : str or iterable of str
            The axes to reduce over. For a single tensor, None means all axes.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.max(A, axis="width").shape
        ℝ^{height[2]}
        """

    def min(self, Y: Operand | None = None, *, axis: Axes | None = None) -> Self:
        """min_{ax} X is the smallest element, or the smaller of two arguments.

        Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `X.min(axis), np.minimum(X, Y)`.

        Parameters
        ----------
        X : tensor or number
        Y : tensor or number, optional
        axis : str or iterable of str
            The axes to reduce over. For a single tensor, None means all axes.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.min(A, axis="width").shape
        ℝ^{height[2]}
        """

    def quantile(self, *, axis: Axes | None = None, q: float = 0.5) -> Self:
        """quantile_{ax}(X; q) is the q-quantile, interpolated linearly between two elements; q defaults to 0.5.

        Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.quantile(X, q, axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes to reduce over. For a single tensor, None means all axes.
        q : float (default: 0.5)

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.quantile(A, axis="width").shape
        ℝ^{height[2]}
        """

    def median(self, *, axis: Axes | None = None) -> Self:
        """median_{ax} X is the middle element, or the mean of the middle two.

        Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.median(X, axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes to reduce over. For a single tensor, None means all axes.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.median(A, axis="width").shape
        ℝ^{height[2]}
        """

    def nansum(self, *, axis: Axes | None = None) -> Self:
        """nansum_{ax} X is the sum of the elements that are not NaN.

        Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.nansum(X, axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes to reduce over. For a single tensor, None means all axes.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.nansum(A, axis="width").shape
        ℝ^{height[2]}
        """

    def nanmean(self, *, axis: Axes | None = None) -> Self:
        """nanmean_{ax} X is the mean of the elements that are not NaN.

        Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.nanmean(X, axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes to reduce over. For a single tensor, None means all axes.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.nanmean(A, axis="width").shape
        ℝ^{height[2]}
        """

    def nanmax(self, *, axis: Axes | None = None) -> Self:
        """nanmax_{ax} X is the largest element that is not NaN.

        Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.nanmax(X, axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes to reduce over. For a single tensor, None means all axes.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.nanmax(A, axis="width").shape
        ℝ^{height[2]}
        """

    def nanmin(self, *, axis: Axes | None = None) -> Self:
        """nanmin_{ax} X is the smallest element that is not NaN.

        Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.nanmin(X, axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes to reduce over. For a single tensor, None means all axes.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.nanmin(A, axis="width").shape
        ℝ^{height[2]}
        """

    def nanvar(self, *, axis: Axes | None = None, ddof: float = 0) -> Self:
        """nanvar_{ax}(X; ddof) is the variance of the elements that are not NaN; ddof defaults to 0.

        Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.nanvar(X, axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes to reduce over. For a single tensor, None means all axes.
        ddof : int (default: 0)

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.nanvar(A, axis="width").shape
        ℝ^{height[2]}
        """

    def nanstd(self, *, axis: Axes | None = None, ddof: float = 0) -> Self:
        """nanstd_{ax}(X; ddof) is the square root of nanvar.

        Signature: ℝ^{ax} → ℝ (paper §3.3 Reductions). In NumPy: `np.nanstd(X, axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes to reduce over. For a single tensor, None means all axes.
        ddof : int (default: 0)

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.nanstd(A, axis="width").shape
        ℝ^{height[2]}
        """

    def isnan(self) -> Self:
        """isnan X is whether an element is NaN.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.isnan(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.isnan(A).shape
        ℝ^{height[2] × width[3]}
        """

    def fillna(self, Y: Operand) -> Self:
        """fillna(X, Y) is X, with Y in place of NaN.

        Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.where(np.isnan(X), Y, X)`.

        Parameters
        ----------
        X : tensor or number
        Y : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.fillna(A, 2).shape
        ℝ^{height[2] × width[3]}
        """

    def softmax(self, *, axis: Axes | None = None) -> Self:
        """softmax_{ax} X is exp x / ∑ exp x.

        Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `np.exp(X) / np.exp(X).sum(axis, keepdims=True)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.softmax(A, axis="width").shape
        ℝ^{height[2] × width[3]}
        """

    def logsoftmax(self, *, axis: Axes | None = None) -> Self:
        """logsoftmax_{ax} X is the logarithm of softmax.

        Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `X - np.log(np.exp(X).sum(axis, keepdims=True))`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.logsoftmax(A, axis="width").shape
        ℝ^{height[2] × width[3]}
        """

    def argmax(self, *, axis: Axes | None = None) -> Self:
        """argmax_{ax} X is 1 at the largest element, 0 elsewhere; ties share the 1.

        Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `M / M.sum(axis, keepdims=True) where M = X == X.max(axis, keepdims=True)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.argmax(A, axis="width").shape
        ℝ^{height[2] × width[3]}
        """

    def argmin(self, *, axis: Axes | None = None) -> Self:
        """argmin_{ax} X is 1 at the smallest element, 0 elsewhere; ties share the 1.

        Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `M / M.sum(axis, keepdims=True) where M = X == X.min(axis, keepdims=True)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.argmin(A, axis="width").shape
        ℝ^{height[2] × width[3]}
        """

    def standardize(self, *, axis: Axes | None = None, eps: float = 1e-05) -> Self:
        """standardize_{ax}(X; eps) is (x − mean) / √(var + eps); eps defaults to 1e-5.

        Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `(X - X.mean(axis, keepdims=True)) / np.sqrt(X.var(axis, keepdims=True) + eps)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.
        eps : float (default: 1e-05)

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.standardize(A, axis="width").shape
        ℝ^{height[2] × width[3]}
        """

    def cumsum(self, *, axis: Axes | None = None) -> Self:
        """cumsum_{ax} X is the cumulative sum.

        Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `X.cumsum(axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.cumsum(A, axis="width").shape
        ℝ^{height[2] × width[3]}
        """

    def cumprod(self, *, axis: Axes | None = None) -> Self:
        """cumprod_{ax} X is the cumulative product.

        Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `X.cumprod(axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.cumprod(A, axis="width").shape
        ℝ^{height[2] × width[3]}
        """

    def sort(self, *, axis: Axes | None = None) -> Self:
        """sort_{ax} X is the elements in ascending order.

        Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `np.sort(X, axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.sort(A, axis="width").shape
        ℝ^{height[2] × width[3]}
        """

    def cummax(self, *, axis: Axes | None = None) -> Self:
        """cummax_{ax} X is the cumulative maximum.

        Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `np.maximum.accumulate(X, axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.cummax(A, axis="width").shape
        ℝ^{height[2] × width[3]}
        """

    def cummin(self, *, axis: Axes | None = None) -> Self:
        """cummin_{ax} X is the cumulative minimum.

        Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `np.minimum.accumulate(X, axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.cummin(A, axis="width").shape
        ℝ^{height[2] × width[3]}
        """

    def argsort(self, *, axis: Axes | None = None) -> Self:
        """argsort_{ax} X is the indices, from 1, that sort the axis.

        Signature: ℝ^{ax} → ℝ^{ax} (paper §3.5 Vectors to vectors). In NumPy: `np.argsort(X, axis, kind='stable')`.

        Parameters
        ----------
        X : tensor or number
            Indices count from 0 here, and from 1 in formulas.
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.argsort(A, axis="width").shape
        ℝ^{height[2] × width[3]}
        """

    def dot(self, Y: Operand, *, axis: Axes | None = None) -> Self:
        """X ⊙_{ax} Y is the sum of products over the axes, or the elementwise product if there are no axes.

        Signature: ℝ^{ax} × ℝ^{ax} → ℝ (paper §3.4 Contraction). In NumPy: `(X * Y).sum(axis), X * Y`.

        Parameters
        ----------
        X : tensor or number
        Y : tensor or number
        axis : str or iterable of str
            The axes to contract; None for the elementwise product. Other shared axes are aligned.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.dot(A, A.rename(height="rows"), axis="width").shape
        ℝ^{height[2] × rows[2]}
        """

    def exp(self) -> Self:
        """exp X is the exponential.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.exp(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.exp(A).shape
        ℝ^{height[2] × width[3]}
        """

    def log(self) -> Self:
        """log X is the natural logarithm.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.log(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.log(A).shape
        ℝ^{height[2] × width[3]}
        """

    def ln(self) -> Self:
        """log X is the natural logarithm.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.log(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.log(A).shape
        ℝ^{height[2] × width[3]}
        """

    def sqrt(self) -> Self:
        """√X is the square root.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.sqrt(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.sqrt(A).shape
        ℝ^{height[2] × width[3]}
        """

    def sin(self) -> Self:
        """sin X is the sine.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.sin(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.sin(A).shape
        ℝ^{height[2] × width[3]}
        """

    def cos(self) -> Self:
        """cos X is the cosine.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.cos(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.cos(A).shape
        ℝ^{height[2] × width[3]}
        """

    def tan(self) -> Self:
        """tan X is the tangent.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.tan(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.tan(A).shape
        ℝ^{height[2] × width[3]}
        """

    def tanh(self) -> Self:
        """tanh X is the hyperbolic tangent.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.tanh(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.tanh(A).shape
        ℝ^{height[2] × width[3]}
        """

    def sinh(self) -> Self:
        """sinh X is the hyperbolic sine.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.sinh(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.sinh(A).shape
        ℝ^{height[2] × width[3]}
        """

    def cosh(self) -> Self:
        """cosh X is the hyperbolic cosine.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.cosh(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.cosh(A).shape
        ℝ^{height[2] × width[3]}
        """

    def arctan(self) -> Self:
        """arctan X is the inverse tangent.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.arctan(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.arctan(A).shape
        ℝ^{height[2] × width[3]}
        """

    def arcsin(self) -> Self:
        """arcsin X is the inverse sine.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.arcsin(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.arcsin(A).shape
        ℝ^{height[2] × width[3]}
        """

    def arccos(self) -> Self:
        """arccos X is the inverse cosine.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.arccos(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.arccos(A).shape
        ℝ^{height[2] × width[3]}
        """

    def log1p(self) -> Self:
        """log1p X is log(1 + x), accurate for small x.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.log1p(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.log1p(A).shape
        ℝ^{height[2] × width[3]}
        """

    def expm1(self) -> Self:
        """expm1 X is exp(x) − 1, accurate for small x.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.expm1(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.expm1(A).shape
        ℝ^{height[2] × width[3]}
        """

    def logsigmoid(self) -> Self:
        """logsigmoid X is log σ(x).

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `-np.logaddexp(0, -X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.logsigmoid(A).shape
        ℝ^{height[2] × width[3]}
        """

    def leaky_relu(self) -> Self:
        """leaky_relu X is x above zero, x / 100 below.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.where(X > 0, X, 0.01 * X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.leaky_relu(A).shape
        ℝ^{height[2] × width[3]}
        """

    def elu(self) -> Self:
        """elu X is x above zero, exp(x) − 1 below.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.where(X > 0, X, np.expm1(np.minimum(X, 0)))`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.elu(A).shape
        ℝ^{height[2] × width[3]}
        """

    def gelu(self) -> Self:
        """gelu X is x Φ(x), where Φ is the standard normal distribution function.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `0.5 * X * (1 + erf(X / np.sqrt(2)))`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.gelu(A).shape
        ℝ^{height[2] × width[3]}
        """

    def gelu_tanh(self) -> Self:
        """gelu_tanh X is the tanh approximation of gelu.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `0.5 * X * (1 + np.tanh(np.sqrt(2 / np.pi) * (X + 0.044715 * X**3)))`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.gelu_tanh(A).shape
        ℝ^{height[2] × width[3]}
        """

    def silu(self) -> Self:
        """silu X is x σ(x).

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X / (1 + np.exp(-X))`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.silu(A).shape
        ℝ^{height[2] × width[3]}
        """

    def softplus(self) -> Self:
        """softplus X is log(1 + exp x).

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.logaddexp(0, X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.softplus(A).shape
        ℝ^{height[2] × width[3]}
        """

    def erf(self) -> Self:
        """erf X is the error function.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `scipy.special.erf(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.erf(A).shape
        ℝ^{height[2] × width[3]}
        """

    def sigmoid(self) -> Self:
        """σ X is the logistic function 1/(1 + exp(−x)).

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `1 / (1 + np.exp(-X))`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.sigmoid(A).shape
        ℝ^{height[2] × width[3]}
        """

    def sign(self) -> Self:
        """sign X is −1, 0 or 1.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.sign(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.sign(A).shape
        ℝ^{height[2] × width[3]}
        """

    def floor(self) -> Self:
        """floor X is the largest integer that is not greater.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.floor(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.floor(A).shape
        ℝ^{height[2] × width[3]}
        """

    def ceil(self) -> Self:
        """ceil X is the smallest integer that is not less.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.ceil(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.ceil(A).shape
        ℝ^{height[2] × width[3]}
        """

    def abs(self) -> Self:
        """abs X is the absolute value.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.abs(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.abs(A).shape
        ℝ^{height[2] × width[3]}
        """

    def round(self) -> Self:
        """round X is the nearest integer; ties go to the even one.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.round(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.round(A).shape
        ℝ^{height[2] × width[3]}
        """

    def relu(self) -> Self:
        """relu X is max(0, x).

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.maximum(X, 0)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.relu(A).shape
        ℝ^{height[2] × width[3]}
        """

    def ReLU(self) -> Self:
        """relu X is max(0, x).

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.maximum(X, 0)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.relu(A).shape
        ℝ^{height[2] × width[3]}
        """

    def negative(self) -> Self:
        """-X is the negative.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `-X`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.negative(A).shape
        ℝ^{height[2] × width[3]}
        """

    def odd(self) -> Self:
        """X odd is whether a number is odd.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X % 2 == 1`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.odd(A).shape
        ℝ^{height[2] × width[3]}
        """

    def even(self) -> Self:
        """X even is whether a number is even.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X % 2 == 0`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.even(A).shape
        ℝ^{height[2] × width[3]}
        """

    def pow(self, Y: Operand) -> Self:
        """pow(X, Y) is the power.

        Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `X ** Y`.

        Parameters
        ----------
        X : tensor or number
        Y : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.pow(A, 2).shape
        ℝ^{height[2] × width[3]}
        """

    def mod(self, Y: Operand) -> Self:
        """mod(X, Y) is the remainder of X divided by Y: x − y ⌊x / y⌋.

        Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.mod(X, Y)`.

        Parameters
        ----------
        X : tensor or number
        Y : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.mod(A, 2).shape
        ℝ^{height[2] × width[3]}
        """

    def logical_not(self) -> Self:
        """¬X is logical negation.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `~X`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.logical_not(A > 2).shape
        ℝ^{height[2] × width[3]}
        """

    def clip(self, Y: Operand, Z: Operand) -> Self:
        """clip(X, low, high) is X, no less than low and no more than high.

        Signature: ℝ × ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `np.clip(X, low, high)`.

        Parameters
        ----------
        X : tensor or number
        Y : tensor or number
        Z : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.clip(A, 2, 4).shape
        ℝ^{height[2] × width[3]}
        """

    def lgamma(self) -> Self:
        """lgamma X is log |Γ(x)|, of factorials log (x − 1)!.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `scipy.special.gammaln(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.lgamma(A).shape
        ℝ^{height[2] × width[3]}
        """

    def digamma(self) -> Self:
        """digamma X is the derivative of lgamma.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `scipy.special.digamma(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.digamma(A).shape
        ℝ^{height[2] × width[3]}
        """

    def polygamma(self, *, n: float = 1) -> Self:
        """polygamma(X; n) is the n-th derivative of digamma; n defaults to 1.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `scipy.special.polygamma(n, X)`.

        Parameters
        ----------
        X : tensor or number
        n : int (default: 1)

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.polygamma(A).shape
        ℝ^{height[2] × width[3]}
        """

    def gamma(self) -> Self:
        """Γ X is the gamma function, (x − 1)! for integers.

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `scipy.special.gamma(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.gamma(A).shape
        ℝ^{height[2] × width[3]}
        """

    def factorial(self) -> Self:
        """X! is x!, which is Γ(x + 1).

        Signature: ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `scipy.special.factorial(X)`.

        Parameters
        ----------
        X : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.factorial(A).shape
        ℝ^{height[2] × width[3]}
        """

    def binom(self, Y: Operand) -> Self:
        """binom(X, Y) is the binomial coefficient, X over Y.

        Signature: ℝ × ℝ → ℝ (paper §3.2 Elementwise operations and broadcasting). In NumPy: `scipy.special.binom(X, Y)`.

        Parameters
        ----------
        X : tensor or number
        Y : tensor or number

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.binom(A, 2).shape
        ℝ^{height[2] × width[3]}
        """

    def index(self, Y: Operand, *, axis: Axes | None = None) -> Self:
        """index_{ax}(X, I) is the element of X at the index I.

        Signature: ℝ^{ax} × ℝ → ℝ (paper §3.7 Indexing). In NumPy: `np.take(X, I - 1, axis)`.

        Parameters
        ----------
        X : tensor or number
            Indices count from 0 here, and from 1 in formulas.
        Y : tensor or number
            Indices count from 0 here, and from 1 in formulas.
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.index(A, 0, axis="width").shape
        ℝ^{height[2]}
        """

    def maxk(
        self, *, axis: Axes | None = None, size: SupportsIndex | None = None, sizes: Mapping[str, int] | None = None
    ) -> Self:
        """maxk_{ax, k} X is the k largest elements, in descending order.

        Signature: ℝ^{ax} → ℝ^{k} (paper §3.7 Indexing). In NumPy: `np.sort(X, axis)[..., ::-1][..., :k]`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.
        size : int, optional
            Size of the new axis.
        sizes : mapping of str to int, optional
            Sizes of the new axes by name.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.maxk(A, axis=("width", "k"), size=2).shape
        ℝ^{height[2] × k[2]}
        """

    def argmaxk(
        self, *, axis: Axes | None = None, size: SupportsIndex | None = None, sizes: Mapping[str, int] | None = None
    ) -> Self:
        """argmaxk_{ax, k} X is for each of the k largest elements, 1 at its position and 0 elsewhere.

        Signature: ℝ^{ax} → ℝ^{ax × k} (paper §3.7 Indexing). In NumPy: `np.argsort(-X, axis, 'stable')[..., :k, None] == np.arange(n)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.
        size : int, optional
            Size of the new axis.
        sizes : mapping of str to int, optional
            Sizes of the new axes by name.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.argmaxk(A, axis=("width", "k"), size=2).shape
        ℝ^{height[2] × k[2] × width[3]}
        """

    def onehot(
        self, *, axis: Axes | None = None, size: SupportsIndex | None = None, sizes: Mapping[str, int] | None = None
    ) -> Self:
        """onehot_{ax} X is 1 at the index, 0 elsewhere.

        Signature: ℝ → ℝ^{ax} (paper §3.7 Indexing). In NumPy: `np.eye(n)[I - 1]`.

        Parameters
        ----------
        X : tensor or number
            Indices count from 0 here, and from 1 in formulas.
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.
        size : int, optional
            Size of the new axis.
        sizes : mapping of str to int, optional
            Sizes of the new axes by name.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.onehot(A, axis="vocab", size=10).shape
        ℝ^{height[2] × width[3] × vocab[10]}
        """

    def det(self, *, axis: Axes | None = None) -> Self:
        """det_{row, column} X is the determinant.

        Signature: ℝ^{row × column} → ℝ (paper §3.5 Vectors to vectors). In NumPy: `np.linalg.det(X)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
        >>> nt.det(S, axis=("row", "column")).shape
        ℝ
        """

    def cofactors(self, *, axis: Axes | None = None) -> Self:
        """cofactors_{row, column} X is the derivative of the determinant with respect to each element of the matrix.

        Signature: ℝ^{row × column} → ℝ^{row × column} (paper §3.5 Vectors to vectors). In NumPy: `np.linalg.det(X) * np.linalg.inv(X).T`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
        >>> nt.cofactors(S, axis=("row", "column")).shape
        ℝ^{row[2] × column[2]}
        """

    def inv(self, *, axis: Axes | None = None) -> Self:
        """inv_{row, column} X is the inverse matrix.

        Signature: ℝ^{row × column} → ℝ^{row × column} (paper §3.5 Vectors to vectors). In NumPy: `np.linalg.inv(X)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
        >>> nt.inv(S, axis=("row", "column")).shape
        ℝ^{row[2] × column[2]}
        """

    def trace(self, *, axis: Axes | None = None) -> Self:
        """trace_{row, column} X is the sum of the diagonal.

        Signature: ℝ^{row × column} → ℝ (paper §3.5 Vectors to vectors). In NumPy: `np.trace(X)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
        >>> nt.trace(S, axis=("row", "column")).shape
        ℝ
        """

    def solve(self, Y: Operand, *, axis: Axes | None = None) -> Self:
        """solve_{row, column}(X, Y) is the x over columns with A ⊙_{column} x = b, where b is over rows.

        Signature: ℝ^{row × column} × ℝ^{row} → ℝ^{column} (paper §3.5 Vectors to vectors). In NumPy: `np.linalg.solve(A, b)`.

        Parameters
        ----------
        X : tensor or number
        Y : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
        >>> nt.solve(S, nt.tensor([1.0, 2.0], "row"), axis=("row", "column")).shape
        ℝ^{column[2]}
        """

    def logdet(self, *, axis: Axes | None = None) -> Self:
        """logdet_{row, column} X is the logarithm of the absolute value of the determinant.

        Signature: ℝ^{row × column} → ℝ (paper §3.5 Vectors to vectors). In NumPy: `np.linalg.slogdet(X)[1]`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
        >>> nt.logdet(S, axis=("row", "column")).shape
        ℝ
        """

    def diag(self, *, axis: Axes | None = None) -> Self:
        """diag_{row, column} X is the matrix with these elements on its diagonal, and zeros elsewhere.

        Signature: ℝ^{row} → ℝ^{row × column} (paper §3.5 Vectors to vectors). In NumPy: `np.diag(x)`.

        Parameters
        ----------
        X : tensor or number
        axis : str
            The axis of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.diag(nt.tensor([3, 1], "row"), axis=("row", "column")).shape
        ℝ^{row[2] × column[2]}
        """

    def cholesky(self, *, axis: Axes | None = None) -> Self:
        """cholesky_{row, column} X is the lower triangular L with L ⊙_{column} L_{row→row'} = X, for a symmetric positive definite X.

        Signature: ℝ^{row × column} → ℝ^{row × column} (paper §3.5 Vectors to vectors). In NumPy: `np.linalg.cholesky(X)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
        >>> nt.cholesky(S, axis=("row", "column")).shape
        ℝ^{row[2] × column[2]}
        """

    def eigvalsh(self, *, axis: Axes | None = None) -> Self:
        """eigvalsh_{row, column} X is the eigenvalues of a symmetric matrix, in ascending order.

        Signature: ℝ^{row × column} → ℝ^{row} (paper §3.5 Vectors to vectors). In NumPy: `np.linalg.eigvalsh(X)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
        >>> nt.eigvalsh(S, axis=("row", "column")).shape
        ℝ^{row[2]}
        """

    def eigh(self, *, axis: Axes | None = None) -> Self:
        """eigh_{row, column} X is the eigenvectors of a symmetric matrix, one for each column, in the order of eigvalsh.

        Signature: ℝ^{row × column} → ℝ^{row × column} (paper §3.5 Vectors to vectors). In NumPy: `np.linalg.eigh(X)[1]`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
        >>> nt.eigh(S, axis=("row", "column")).shape
        ℝ^{row[2] × column[2]}
        """

    def expm(self, *tensors: Operand | Iterable[Operand], axis: Axes | None = None) -> Self:
        """expm_{row, column} X is the matrix exponential, ∑ Xⁿ/n!; expm(X, E) is its derivative at X in direction E.

        Signature: ℝ^{row × column} × … → ℝ^{row × column} (paper §3.5 Vectors to vectors). In NumPy: `scipy.linalg.expm(X)`.

        Parameters
        ----------
        *tensors : tensor or number
            The operands.
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> S = nt.tensor([[2.0, 1.0], [1.0, 3.0]], "row column")
        >>> nt.expm(S, axis=("row", "column")).shape
        ℝ^{row[2] × column[2]}
        """

    def concat(self, *tensors: Operand | Iterable[Operand], axis: Axes | None = None) -> Self:
        """X ⊕_{ax} Y is X and Y concatenated along an axis.

        Signature: ℝ^{ax} × ℝ^{ax} × … → ℝ^{ax} (paper §3.6 Renaming and reshaping). In NumPy: `np.concatenate([X, Y], axis)`.

        Parameters
        ----------
        *tensors : tensor or number
            The operands.
        axis : str
            The axis of the signature; the function is lifted over all others.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.concat(A, A, axis="width").shape
        ℝ^{height[2] × width[6]}
        """

    def unroll(
        self, *, axis: Axes | None = None, size: SupportsIndex | None = None, sizes: Mapping[str, int] | None = None
    ) -> Self:
        """unroll_{seq, kernel} X is sliding windows: at each position, the window that begins there.

        Signature: ℝ^{seq} → ℝ^{seq × kernel} (paper §3.5 Vectors to vectors). In NumPy: `np.lib.stride_tricks.sliding_window_view(X, k, axis)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.
        size : int, optional
            Size of the new axis.
        sizes : mapping of str to int, optional
            Sizes of the new axes by name.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.unroll(A, axis=("width", "kernel"), size=3).shape
        ℝ^{height[2] × width[1] × kernel[3]}
        """

    def pool(
        self, *, axis: Axes | None = None, size: SupportsIndex | None = None, sizes: Mapping[str, int] | None = None
    ) -> Self:
        """pool_{seq, kernel} X is consecutive windows without overlap.

        Signature: ℝ^{seq} → ℝ^{seq × kernel} (paper §3.5 Vectors to vectors). In NumPy: `X.reshape(n // k, k)`.

        Parameters
        ----------
        X : tensor or number
        axis : str or iterable of str
            The axes of the signature; the function is lifted over all others.
        size : int, optional
            Size of the new axis.
        sizes : mapping of str to int, optional
            Sizes of the new axes by name.

        Returns
        -------
        NamedTensor

        Raises
        ------
        NotationError
            If an axis is missing (301), or has two sizes (302).

        Examples
        --------
        >>> import namedtensor as nt
        >>> A = nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
        >>> nt.pool(A, axis=("width", "kernel"), size=3).shape
        ℝ^{height[2] × width[1] × kernel[3]}
        """
