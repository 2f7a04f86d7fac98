"""`nt.follows`: an ordinary function of arrays, compared with a formula.

A call checks the sizes of its arguments and result by the names of the formula's axes. `verify` compares the function with the formula on
random shapes, and explains why they differ.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grammar.errors import NotationError
from grammar.locks import LOADING, all_or_none

from ..core.kinds import wrong
from ..core.tensor import tensor
from ..positional.pytest_plugin import DOCUMENT, Differs
from ..programs.evaluate import evaluate

LABELLED = re.compile(r"(?P<file>[^#\s]*\.(?:tex|md|markdown|html?|ipynb))?#(?P<label>\S+)")
SWITCH = "NAMEDTENSOR_CHECK"
TOLERANCES = {"float64": 1e-7, "float32": 1e-4}
SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11)


@dataclass(frozen=True)
class Contract:
    """A formula, the axes of each argument in the order of the function's parameters, and those of the result."""

    formula: str
    axes: Mapping[str, tuple[str, ...]]
    gives: tuple[str, ...]
    root: str = field(default_factory=os.getcwd)

    @functools.cached_property
    def text(self) -> str:
        """The formula; one that is named by a label is read from its document."""
        return resolved(self.formula, self.root)


def resolved(formula: str, root: str = "") -> str:
    """Return the formula, or the one with this label in a document: "paper.tex#eq:attention"."""
    match = LABELLED.fullmatch(formula.strip())
    if match is None:
        return formula
    file = match["file"] or (DOCUMENT[-1] if DOCUMENT else "")
    if not file:
        raise NotationError(
            108, f"no document is given for {formula}", hint="write paper.tex#label, or pytest --formulas paper.tex"
        )
    with LOADING, all_or_none():
        from ..documents.labels import labeled

    return labeled(file if os.path.isabs(file) else os.path.join(root, file), match["label"])


def follows(formula: str, /, *, gives: str, check: str = "shapes", **axes: str) -> Callable[[Any], Any]:
    """Compare a function of arrays with a formula.

    Each call unifies the sizes of the arguments with the names of axes, and raises `Differs` where they do not fit; with
    `NAMEDTENSOR_CHECK=0` in the environment where the function is defined, calls are left as they are.
    `function.verify()` compares values.

    Parameters
    ----------
    formula : str
        The formula, or that of a document by its label: `"paper.tex#eq:attention"`.
    gives : str
        The axes of the result, in the order of the array.
    check : {"shapes", "off"}
        What is checked at each call.
    **axes : str
        For each name of the formula its axes in the order of the array, in the order of the function's parameters.

    Returns
    -------
    callable
        A decorator for functions and methods of NumPy, PyTorch or JAX arrays, and for `torch.nn.Module` classes, whose
        `forward` it holds.

    Examples
    --------
    >>> import namedtensor as nt, numpy as np
    >>> @nt.follows("X ⊙_{in} W", X="batch in", W="in out", gives="batch out")
    ... def linear(x, w):
    ...     return x @ w
    >>> linear(np.ones((2, 3)), np.ones((3, 4))).shape
    (2, 4)
    >>> linear(np.ones((2, 3)), np.ones((2, 4)))
    Traceback (most recent call last):
        ...
    namedtensor.Differs: linear: in is 2 in w, and 3 in x
    >>> linear.verify()
    """
    if check not in ("shapes", "off"):
        raise NotationError(208, f'check= is "shapes" or "off", not {check!r}')
    options: dict[str, Any] = {**axes, "gives": gives}
    for name, text in options.items():
        if not isinstance(text, str):
            raise wrong(text, f"{name}=", "the axis names of an array", f'write {name}="seq chans"')
    contract = Contract(formula, {name: tuple(spelled.split()) for name, spelled in axes.items()}, tuple(gives.split()))
    off = check == "off" or os.environ.get(SWITCH) == "0"

    def decorate(function: Any) -> Any:
        if isinstance(function, type):
            function.forward = decorate(function.forward)  # type: ignore[attr-defined]
            return function
        parameters = list(inspect.signature(function).parameters.values())
        skipped = 1 if parameters and parameters[0].name == "self" else 0
        names = [parameter.name for parameter in parameters[skipped : skipped + len(contract.axes)]]
        if len(names) < len(contract.axes):
            raise NotationError(
                304, f"{function.__name__} takes {len(names)} arrays, and the formula has {', '.join(contract.axes)}"
            )
        checked = function if off else guarded(function, contract, names, skipped)
        checked.verify = functools.partial(verify, function, contract, names)
        checked.contract = contract
        return checked

    return decorate


# ---------------------------------------------------------------------------------------------------------------- calls
def guarded(function: Any, contract: Contract, names: Sequence[str], skipped: int) -> Any:
    """Wrap the function so that the sizes of each call are checked."""
    expected = tuple(zip(names, contract.axes.values()))
    gives = contract.gives
    count = len(expected) + skipped

    @functools.wraps(function)
    def checked(*arguments: Any, **named: Any) -> Any:
        sizes: dict[str, int] = {}
        position = skipped
        for name, axes in expected:
            array = arguments[position] if position < len(arguments) else named.get(name)
            position += 1
            if array is None:
                continue
            shape = array.shape
            if len(shape) != len(axes):
                raise Differs(wrong_rank(function, name, shape, axes))
            for axis, size in zip(axes, shape):
                if sizes.setdefault(axis, size) != size:
                    raise Differs(wrong_size(function, axis, name, size, expected, arguments[skipped:count], named))
        result = function(*arguments, **named)
        shape = getattr(result, "shape", None)
        if shape is not None:
            if len(shape) != len(gives):
                raise Differs(wrong_rank(function, "the result", shape, gives))
            for axis, size in zip(gives, shape):
                if sizes.get(axis, size) != size:
                    raise Differs(
                        f"{function.__name__}: {axis} is {size} in the result, and {sizes[axis]} in the arguments"
                    )
        return result

    return checked


def wrong_rank(function: Any, name: str, shape: Sequence[int], axes: Sequence[str]) -> str:
    """Return the message for an array with the wrong number of axes."""
    spelled = " ".join(axes) or "a number"
    return f"{function.__name__}: {name} has the shape {tuple(shape)}, and its axes are {spelled}"


def wrong_size(
    function: Any, axis: str, name: str, size: int, expected: Any, arguments: Any, named: Mapping[str, Any]
) -> str:
    """Return the message for an axis of the wrong size."""
    arrays = {**dict(zip((other for other, _ in expected), arguments)), **named}
    using = {other: axes for other, axes in expected if axis in axes and arrays.get(other) is not None}
    sizes = {other: arrays[other].shape[axes.index(axis)] for other, axes in using.items()}
    other, first = next(entry for entry in sizes.items() if entry[1] != size)
    return f"{function.__name__}: {axis} is {size} in {name}, and {first} in {other}"


# --------------------------------------------------------------------------------------------------------------- values
def verify(
    function: Any, contract: Contract, names: Sequence[str], owner: Any = None, /, *, draws: int = 5, seed: int = 0
) -> None:
    """Compare the function with its formula on random shapes.

    Parameters
    ----------
    owner : object, optional
        What a method is called on.
    draws : int, default 5
        How many times shapes and values are sampled.
    seed : int, default 0
        What they are drawn by.

    Raises
    ------
    Differs
        Where a value differs: the least shapes at which it does, and why.
    """
    call = function if owner is None else functools.partial(function, owner)
    library = library_of(call, contract, seed)
    tolerance = TOLERANCES["float64" if library == "numpy" else "float32"]
    for draw in range(draws):
        sizes = sizes_drawn(contract, seed + draw)
        problem = compared(call, contract, library, sizes, seed + draw, tolerance)
        if problem is not None:
            sizes, problem = least(call, contract, library, sizes, seed + draw, tolerance, problem)
            why = explained(call, contract, library, sizes, seed + draw)
            shown = ", ".join(f"{axis} = {size}" for axis, size in sizes.items())
            raise Differs(f"{function.__name__} is not {contract.formula}\n  with {shown}: {problem}{why}")


def sizes_drawn(contract: Contract, seed: int) -> dict[str, int]:
    """Choose a different size for each axis."""
    axes = list(dict.fromkeys(axis for names in contract.axes.values() for axis in names))
    chosen = np.random.default_rng(seed).permutation(range(2, 2 + max(len(axes), len(SIZES))))[: len(axes)]
    return {axis: int(size) for axis, size in zip(axes, chosen)}


def arrays_drawn(contract: Contract, sizes: Mapping[str, int], seed: int, library: str) -> list[Any]:
    """Generate random arrays for the arguments in the library of the function."""
    random = np.random.default_rng(seed)
    shapes = [[sizes[axis] for axis in axes] for axes in contract.axes.values()]
    return [TO[library](random.normal(size=shape)) for shape in shapes]


def to_torch(array: Any) -> Any:
    """Convert a NumPy array to PyTorch."""
    with LOADING, all_or_none():
        import torch

    return torch.as_tensor(array, dtype=torch.float32)


def to_jax(array: Any) -> Any:
    """Convert a NumPy array to JAX."""
    with LOADING, all_or_none():
        import jax.numpy as jnp

    return jnp.asarray(array, dtype="float32")  # type: ignore[reportUnknownMemberType]


TO: dict[str, Callable[[Any], Any]] = {"numpy": np.asarray, "torch": to_torch, "jax": to_jax}
WORDS = {"torch": {"torch"}, "jax": {"jax", "jnp"}, "numpy": {"np", "numpy"}}  # what modules call each library


def library_of(call: Any, contract: Contract, seed: int) -> str:
    """Return the first library with whose arrays the function runs."""
    problems: dict[str, Exception] = {}
    for library in libraries(call):
        try:
            call(*arrays_drawn(contract, sizes_drawn(contract, seed), seed, library))
        except ImportError:
            continue
        except Differs:
            raise
        except Exception as problem:  # whatever a function raises for arrays of another library
            problems[library] = problem
            continue
        return library
    library, problem = next(iter(problems.items()))
    raise Differs(
        f"{getattr(call, '__name__', 'the function')} does not run on random arrays of {library}: {type(problem).__name__}: {problem}"
    )


def libraries(call: Any) -> Iterator[str]:
    """NumPy, PyTorch, JAX; first the one that the function uses."""
    function = getattr(call, "func", call)
    names = getattr(function, "__globals__", {})
    code = getattr(function, "__code__", None)
    known = {name for name in code.co_names if name in names} if code is not None else set[str]()
    spoken = [library for library, words in WORDS.items() if known & words]
    yield from dict.fromkeys([*spoken, *TO])


def compared(
    call: Any, contract: Contract, library: str, sizes: Mapping[str, int], seed: int, tolerance: float
) -> str | None:
    """Where the value differs from the formula's, or None."""
    arrays = arrays_drawn(contract, sizes, seed, library)
    array = call(*arrays)
    plain = [np.asarray(values, dtype=float) for values in arrays]
    named = {name: tensor(array, list(axes)) for (name, axes), array in zip(contract.axes.items(), plain)}
    value = evaluate(contract.text, named)
    if set(value.axes) != set(contract.gives):
        raise NotationError(
            318,
            f"the formula gives {' '.join(value.axes)}, and the function {' '.join(contract.gives)}",
        )
    expected = np.asarray(value.to_array(list(contract.gives)), dtype=float)
    array = np.asarray(array.detach() if hasattr(array, "detach") else array, dtype=float)
    if array.shape != expected.shape:
        return f"its shape is {array.shape}, and that of the formula {expected.shape}"
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=1.0)
    wrong = ~np.isclose(array, expected, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
    if not wrong.any():
        return None
    apart = np.where(wrong, np.nan_to_num(np.abs(array - expected), nan=np.inf), -1)
    index = np.unravel_index(int(np.argmax(apart)), expected.shape)
    at = ", ".join(f"{axis}({index + 1})" for axis, index in zip(contract.gives, index))
    return (
        f"at {{{at}}} it is {array[index]:.4g}, and the formula {expected[index]:.4g}"
        if at
        else f"it is {float(array):.4g}, and the formula {float(expected):.4g}"
    )


def least(
    call: Any, contract: Contract, library: str, sizes: dict[str, int], seed: int, tolerance: float, problem: str
) -> tuple[dict[str, int], str]:
    """Reduce the difference to the smallest sizes that show it, one axis at a time."""
    for axis in sizes:
        for size in range(1, min(3, sizes[axis])):
            smaller = {**sizes, axis: size}
            try:
                text = compared(call, contract, library, smaller, seed, tolerance)
            except Exception:  # sizes that the function does not take
                continue
            if text is not None:
                sizes, problem = smaller, text
                break
    return sizes, problem


def explained(call: Any, contract: Contract, library: str, sizes: Mapping[str, int], seed: int) -> str:
    """Where a function of PyTorch parts from the formula, by reading it."""
    if library != "torch":
        return ""
    with LOADING, all_or_none():
        from ..positional.torch_reading import from_torch
        from .equivalence import equivalent

    arrays = arrays_drawn(contract, sizes_drawn(contract, seed), seed, library)
    function = getattr(call, "func", call)
    parameters = list(inspect.signature(function).parameters)[1 if function is not call else 0 :]
    axes = dict(zip(parameters, (" ".join(axis) for axis in contract.axes.values())))
    try:
        read = from_torch(call, *arrays, names=axes)
        formula = contract.text
        text = "\n".join(f"{name} = {axis}" for name, axis in zip(contract.axes, axes) if name != axis)
        comparison = equivalent(read, formula, given=text)
    except NotationError:
        return ""
    return "" if comparison else "\n  " + str(comparison).replace("\n", "\n  ")
