"""Between named tensors and plans: what is given becomes arrays with axes, what comes out a named tensor."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple

from grammar.errors import NotationError


class Layout(NamedTuple):
    """A tensor taken apart; `mark` is equal for tensors that one plan serves."""

    array: Any
    axes: tuple[str, ...]
    extent: tuple[int, ...]
    boolean: bool
    mark: Any


def layout_of(value: Any, name: str) -> Layout | None:
    """How a given value is laid out; None for a plain Python number. Raises NotationError for what is no tensor."""
    from .tensors import NamedTensor

    if isinstance(value, NamedTensor):
        axes = value.axes
        array = value.array
        extent = tuple(array.shape)
        boolean = str(array.dtype).endswith("bool")
        return Layout(array, axes, extent, boolean, (axes, extent, array.dtype, type(array)))
    if isinstance(value, (bool, int, float)):
        return None
    if hasattr(value, "ndim") and hasattr(value, "dtype"):
        if value.ndim == 0:
            if not hasattr(value, "__array_namespace__") and not hasattr(value, "device"):
                import numpy as np

                value = np.asarray(value)
            return Layout(value, (), (), str(value.dtype).endswith("bool"), ((), value.dtype, type(value)))
        raise NotationError(
            317,
            f"{name} was given as an array of {value.ndim} axes without names",
            hint='name them: nt.tensor(array, "seq chans")',
        )
    if isinstance(value, (list, tuple)):
        raise NotationError(
            317, f"{name} was given as a {type(value).__name__}", hint='make it a tensor: nt.tensor(data, "seq chans")'
        )
    raise NotationError(
        317,
        f"{name} was given as {type(value).__name__}, which is no tensor",
        hint="give a named tensor or a number",
    )


def namespace_of(arrays: Mapping[str, Any]) -> tuple[Any, Any]:
    """The namespace of the arrays, and the dtype that constants take: the widest floating one of the inputs."""
    import numpy as np

    if all(isinstance(array, (np.ndarray, np.generic)) for array in arrays.values()):
        floating = [array.dtype for array in arrays.values() if array.dtype.kind == "f"]
        return np, np.result_type(*floating) if floating else np.dtype("float64")
    import array_api_compat

    kinds = {type(array).__module__.partition(".")[0]: name for name, array in arrays.items()}
    foreign = [array for array in arrays.values() if not isinstance(array, (np.ndarray, np.generic))]
    if len(kinds) > 1:
        text = ", ".join(f"{name} is of {kind}" for kind, name in sorted(kinds.items()))
        raise NotationError(
            317, f"the tensors come from several libraries: {text}", hint="convert them to one of the two"
        )
    xp = array_api_compat.array_namespace(*foreign)
    floating = [array.dtype for array in foreign if xp.isdtype(array.dtype, "real floating")]
    real = xp.result_type(*floating) if len(floating) > 1 else floating[0] if floating else _default(xp)
    return xp, real


def _default(xp: Any) -> Any:
    return xp.asarray(1.0).dtype


def wrap(array: Any, axes: tuple[str, ...], xp: Any):
    """An array with its axes as a named tensor."""
    from .tensors import eager

    if not hasattr(array, "dtype"):
        array = xp.asarray(array)
    return eager.made(array, axes)


def quiet():
    """No floating-point warnings: what a formula gives for log(-1) is nan, and that is its value."""
    import numpy as np

    return np.errstate(all="ignore")
