"""Functions that map over a named axis: `nt.vmap(f, axis="batch")` and `nt.scan(f, start, X, axis="seq")`.

Operators and formulas are lifted over additional axes automatically. The functions in this module are for other code,
such as a Python function that must process one element at a time. With PyTorch, `nt.vmap` calls `torch.vmap`. With JAX,
`nt.vmap` and `nt.scan` call `jax.vmap` and `jax.lax.scan`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grammar.errors import NotationError

from ..core.arrays import library_of_namespace
from ..core.tensor import NamedTensor, tensor, wrap_array
from .eager import labeled
from .functions import FUNCTIONS
from .pytrees import jax_module


def vmap(function: Callable[..., Any], axis: str) -> Callable[..., Any]:
    """Map a function over an axis of its arguments.

    Parameters
    ----------
    function : callable
        A function of named tensors without the axis. It returns a tensor or a tuple of tensors.
    axis : str
        The axis to map over. Arguments without this axis are passed unchanged.

    Returns
    -------
    callable
        A function of tensors with the axis. Its results also have the axis.

    Raises
    ------
    NotationError
        If the returned function is called without an argument that has the axis (301).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[3, 1], [4, 5]], "batch seq")
    >>> nt.vmap(lambda row: row / row.sum(axis="seq"), axis="batch")(A).sum(axis="seq")
    NamedTensor([1.0, 1.0], "batch")
    """

    def mapped(*arguments: Any) -> Any:
        places = [at for at, value in enumerate(arguments) if type(value) is NamedTensor and axis in value.axes]
        if not places:
            raise NotationError(301, f"no argument has the axis {axis}", hint="name an axis that one of them has")
        arguments = align(arguments, axis)
        library = library_of_namespace(arguments[places[0]].layout.xp.__name__)
        if library not in ("torch", "jax"):
            count = arguments[places[0]].sizes[axis]
            rows = [function(*[_row(value, axis, at) for value in arguments]) for at in range(count)]
            return _stack_rows(rows, axis)
        positions = [arguments[at].axes.index(axis) for at in places]
        rest = [tuple(name for name in arguments[at].axes if name != axis) for at in places]
        several: list[Any] = []

        def plain(*arrays: Any) -> Any:
            inner = [*arguments]
            for at, names, array in zip(places, rest, arrays):
                inner[at] = wrap_array(array, names)
            results = function(*inner)
            tensors = tuple(map(tensor, results)) if isinstance(results, tuple) else (tensor(results),)
            several[:] = [isinstance(results, tuple), [result.axes for result in tensors]]
            return tuple(result.array for result in tensors)

        arrays = [arguments[at].array for at in places]
        if library == "jax":
            outputs = jax_module().vmap(plain, tuple(positions))(*arrays)
        else:
            import torch  # type: ignore[import-not-found]

            outputs = torch.vmap(plain, tuple(positions))(*arrays)
        results = tuple(wrap_array(array, (axis, *names)) for array, names in zip(outputs, several[1]))
        return results if several[0] else results[0]

    return mapped


def align(arguments: tuple[Any, ...], axis: str) -> tuple[Any, ...]:
    """Return the arguments with their elements aligned by label, because functions are mapped by position."""
    tensors = [value for value in arguments if type(value) is NamedTensor]
    if not any(tensor.layout.labels for tensor in tensors):
        return arguments
    others = {name for tensor in tensors for name in tensor.axes if name != axis}
    return labeled().align(arguments, [axis], others)


def _row(value: Any, axis: str, at: int) -> Any:
    return value[{axis: at}] if type(value) is NamedTensor and axis in value.axes else value


def _stack_rows(rows: list[Any], axis: str) -> Any:
    if rows and isinstance(rows[0], tuple):
        return tuple(_stack_rows([row[at] for row in rows], axis) for at in range(len(rows[0])))
    return FUNCTIONS["stack"](*map(tensor, rows), axis=axis)


def scan(function: Callable[[Any, Any], tuple[Any, Any]], start: Any, X: NamedTensor, axis: str) -> tuple[Any, Any]:
    """Call a function on the elements along an axis, one after another, passing a state from each call to the next.

    Parameters
    ----------
    function : callable
        A function of the state and the next element of `X`, without the axis. It returns two tensors: the new state and
        an output.
    start : tensor or number
        The initial state.
    X : NamedTensor
        The tensor to scan.
    axis : str
        The axis to scan along.

    Returns
    -------
    tuple of NamedTensor
        The last state, and the outputs stacked along the axis.

    Raises
    ------
    NotationError
        If `X` lacks the axis (301), or the axis has size 0 (405).

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.scan(lambda state, x: (state + x, 2 * state), 0.0, nt.tensor([3.0, 1.0, 4.0], "seq"), axis="seq")
    (NamedTensor(8.0), NamedTensor([0.0, 6.0, 8.0], "seq"))
    """
    if type(X) is not NamedTensor or axis not in X.axes:
        raise NotationError(
            301, f"the input of nt.scan has no axis {axis}", hint='write nt.scan(f, start, X, axis="seq")'
        )
    if not X.sizes[axis]:
        raise NotationError(405, f"scan is undefined: axis {axis} has size 0")
    state, X = align((tensor(start), X), axis)
    if library_of_namespace(X.layout.xp.__name__) == "jax":
        return _scan_of_jax(function, state, X, axis)
    outputs: list[Any] = []
    for at in range(X.sizes[axis]):
        state, output = function(state, X[{axis: at}])
        outputs.append(output)
    return tensor(state), _stack_rows(outputs, axis)


def _scan_of_jax(function: Any, state: NamedTensor, X: NamedTensor, axis: str) -> tuple[Any, Any]:
    jax, rest = jax_module(), tuple(name for name in X.axes if name != axis)
    axes: list[tuple[str, ...]] = []
    numpy = jax.numpy

    def plain(carry: Any, element: Any) -> Any:
        new, output = map(tensor, function(wrap_array(carry, state.axes), wrap_array(element, rest)))
        if sorted(new.axes) != sorted(state.axes):
            raise NotationError(
                307,
                f"the state of scan has {new.shape}, and began with {state.shape}",
                hint="keep the axes of the state",
            )
        axes[:] = [output.axes]
        return numpy.asarray(new.to_array(state.axes), dtype=carry.dtype), output.array

    first = numpy.asarray(state.array, dtype=numpy.result_type(state.array, X.array))
    last, outputs = jax.lax.scan(plain, first, numpy.moveaxis(X.array, X.axes.index(axis), 0))
    return wrap_array(last, state.axes), wrap_array(outputs, (axis, *axes[0]))
