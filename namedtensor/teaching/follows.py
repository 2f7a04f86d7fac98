"""`nt.follows`: checks a function of arrays against a formula.

Each call checks the sizes of the arguments and the result, using the formula's axis names. `verify` compares the
function with the formula on random inputs, and explains differences.
"""

from __future__ import annotations

import functools
import inspect
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grammar.errors import NotationError, NotationWarning

from ..core.kinds import wrong
from ..core.settings import raise_recursion_limit
from ..positional.pytest_plugin import DifferenceError
from ..programs.boundaries import BOUNDARY
from ..programs.plain_values import PlainTensor
from ..programs.random_inputs import EXTREME, STYLES
from .comparison import ComparedValue, SampledInputs
from .differences import format_number
from .function_tests import TO, Contract, arrays_of
from .settings import Setting

SWITCH = "NAMEDTENSOR_CHECK"
RELATIVE_OF_CODE, RELATIVE_OF_NARROW_CODE = 1e-7, 1e-4  # in float64, and in float32


def follows(formula: str, /, *, gives: str, check: str = "shapes", **axes: str) -> Callable[[Any], Any]:
    """Return a decorator that checks a function of arrays against a formula.

    Each call matches the sizes of the arguments with axis names, and raises `DifferenceError` if they do not fit. To disable
    the checks, set `NAMEDTENSOR_CHECK=0` in the environment before the function is defined. `function.verify()`
    compares values.

    Parameters
    ----------
    formula : str
        The formula, or the label of a formula in a document, such as `"paper.tex#eq:attention"`.
    gives : str
        The axes of the result, in array order.
    check : {"shapes", "off"}
        Whether each call checks the shapes.
    **axes : str
        The axes of each input of the formula, in array order. The inputs are in the order of the function's parameters.

    Returns
    -------
    callable
        A decorator for functions and methods of NumPy, PyTorch or JAX arrays, and for `torch.nn.Module` classes. For a
        class, it checks the method `forward`.

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
    namedtensor.DifferenceError: linear: in is 2 in w, and 3 in x
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
        checked = function if off else guard_sizes(function, contract, names, skipped)
        checked.verify = functools.partial(verify, function, contract, names)
        checked.contract = contract
        return checked

    return decorate


# ---------------------------------------------------------------------------------------------------------------- calls
def guard_sizes(function: Any, contract: Contract, names: Sequence[str], skipped: int) -> Any:
    """Return a version of a function that also checks the sizes of the arguments and of the result in each call.

    Each call raises DifferenceError if the sizes do not fit.
    """
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
                raise DifferenceError(wrong_rank(function, name, shape, axes))
            for axis, size in zip(axes, shape):
                if sizes.setdefault(axis, size) != size:
                    raise DifferenceError(
                        wrong_size(function, axis, name, size, expected, arguments[skipped:count], named)
                    )
        result = function(*arguments, **named)
        shape = getattr(result, "shape", None)
        if shape is not None:
            if len(shape) != len(gives):
                raise DifferenceError(wrong_rank(function, "the result", shape, gives))
            for axis, size in zip(gives, shape):
                if sizes.get(axis, size) != size:
                    raise DifferenceError(
                        f"{function.__name__}: {axis} is {size} in the result, and {sizes[axis]} in the arguments"
                    )
        return result

    return checked


def wrong_rank(function: Any, name: str, shape: Sequence[int], axes: Sequence[str]) -> str:
    """Return the error message for an array with the wrong number of axes."""
    spelled = " ".join(axes) or "a number"
    return f"{function.__name__}: {name} has the shape {tuple(shape)}, and its axes are {spelled}"


def wrong_size(
    function: Any, axis: str, name: str, size: int, expected: Any, arguments: Any, named: Mapping[str, Any]
) -> str:
    """Return the error message for an axis that has different sizes in two arguments."""
    arrays = {**dict(zip((other for other, _ in expected), arguments)), **named}
    using = {other: axes for other, axes in expected if axis in axes and arrays.get(other) is not None}
    sizes = {other: arrays[other].shape[axes.index(axis)] for other, axes in using.items()}
    other, first = next(entry for entry in sizes.items() if entry[1] != size)
    return f"{function.__name__}: {axis} is {size} in {name}, and {first} in {other}"


# --------------------------------------------------------------------------------------------------------------- values
@raise_recursion_limit
def verify(
    function: Any,
    contract: Contract,
    names: Sequence[str],
    owner: Any = None,
    /,
    *,
    draws: int = len(STYLES),
    seed: int = 0,
) -> None:
    """Compare the function with its formula on random inputs, including zeros, ties and the constants of comparisons.

    Parameters
    ----------
    owner : object, optional
        The object whose method is called.
    draws : int, default 8
        The number of random tests. Tests at the constants of comparisons are added to them.
    seed : int, default 0
        The seed of the random tests.

    Raises
    ------
    DifferenceError
        If a value differs. The message contains the smallest shapes that show the difference, and its cause.
    """
    call = function if owner is None else functools.partial(function, owner)
    library = library_of(call, contract, seed)
    undefined: list[str] = []
    for drawn in contract.tests(library, draws, seed):
        problem = compare_values(call, contract, library, drawn, undefined)
        if problem is not None:
            drawn, problem = least(call, contract, library, drawn, problem)
            why = explain_difference(call, contract, library, seed)
            shown = ", ".join(f"{axis} = {size}" for axis, size in drawn.extent.items())
            raise DifferenceError(f"{function.__name__} is not {contract.formula}\n  with {shown}: {problem}{why}")
    for side in dict.fromkeys(undefined):
        warnings.warn(
            f"{function.__name__} equals {contract.formula} wherever both are defined: {side} is undefined at special inputs, "
            "such as zeros or ties",
            NotationWarning,
            stacklevel=2,
        )


WORDS = {"torch": {"torch"}, "jax": {"jax", "jnp"}, "numpy": {"np", "numpy"}}  # names of each library in code


def library_of(call: Any, contract: Contract, seed: int) -> str:
    """Return the first library, such as "numpy", whose arrays the function accepts.

    Raise DifferenceError if it accepts the arrays of no library.
    """
    problems: dict[str, Exception] = {}
    for library in libraries(call):
        try:
            call(*arrays_of(contract.sample(seed), library))
        except ImportError:
            continue
        except DifferenceError:
            raise
        except Exception as problem:  # a function may raise any exception for arrays of another library
            problems[library] = problem
            continue
        return library
    library, problem = next(iter(problems.items()))
    raise DifferenceError(
        f"{getattr(call, '__name__', 'the function')} does not run on random arrays of {library}: {type(problem).__name__}: {problem}"
    )


def libraries(call: Any) -> Iterator[str]:
    """Yield the names of NumPy, PyTorch and JAX. Libraries that the function uses come first."""
    function = getattr(call, "func", call)
    names = getattr(function, "__globals__", {})
    code = getattr(function, "__code__", None)
    known = {name for name in code.co_names if name in names} if code is not None else set[str]()
    spoken = [library for library, words in WORDS.items() if known & words]
    yield from dict.fromkeys([*spoken, *TO])


def compare_values(
    call: Any, contract: Contract, library: str, drawn: SampledInputs, undefined: list[str]
) -> str | None:
    """Return a description of how the function's value differs from the formula's value, or None if they are equal.

    If an element is undefined on only one side, and this does not count as a difference, append the name of this side
    to `undefined`. Tests with extreme numbers append nothing.
    """
    arrays = arrays_of(drawn, library)
    array = call(*arrays)
    rounded = {
        name: plain_tensor(axes, np.asarray(values)) for (name, axes), values in zip(contract.axes.items(), arrays)
    }
    test = Setting("").test(contract.text, replace(drawn, values=rounded))
    if set(test.expected.axes) != set(contract.gives):
        raise NotationError(
            318, f"the formula gives {' '.join(test.expected.axes)}, and the function {' '.join(contract.gives)}"
        )
    expected = test.expected.laid_out(contract.gives)
    array = np.asarray(array.detach() if hasattr(array, "detach") else array)
    if array.shape != expected.extent:
        return f"its shape is {array.shape}, and that of the formula {expected.extent}"
    is_narrow = library != "numpy" or str(array.dtype) in ("float32", "float16")
    limits = np.finfo("float32" if is_narrow else "float64")
    precision = RELATIVE_OF_NARROW_CODE if is_narrow else RELATIVE_OF_CODE, float(limits.eps)
    actual = plain_tensor(contract.gives, ignore_underflow(array, expected, float(limits.smallest_normal)))
    values = ComparedValue(test._replace(expected=expected), actual, precision=precision)
    elements = values.elements({})
    difference = values.difference({}, elements)
    if difference is None:
        if drawn.style not in EXTREME:
            undefined += [call_name(call)] * bool(elements.first_undefined)
            undefined += ["the formula"] * bool(elements.second_undefined)
        return None
    at = ", ".join(f"{axis}({index})" for axis, index in difference.record.items())
    number, due = (
        f"{element:.4g}" if np.isfinite(element) else format_number(element)
        for element in (difference.found, difference.due)
    )
    return f"{f'at {{{at}}} ' if at else ''}it is {number}, and the formula {due}"


def ignore_underflow(array: Any, expected: PlainTensor, least: float) -> Any:
    """Return the array, with each element replaced by the expected number if they differ by at most `least`.

    `least` is the smallest normal number.
    """
    numbers = np.reshape(np.asarray(expected.numbers, float), expected.extent)
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(array - numbers) <= least, numbers, array)


def plain_tensor(axes: Sequence[str], array: Any) -> PlainTensor:
    """Return a NumPy array as plain numbers."""
    return PlainTensor(tuple(axes), array.shape, tuple(array.astype(float).ravel().tolist()))


def call_name(call: Any) -> str:
    """Return the name of a function or of a bound method."""
    return getattr(getattr(call, "func", call), "__name__", "the function")


def least(call: Any, contract: Contract, library: str, drawn: SampledInputs, problem: str) -> tuple[SampledInputs, str]:
    """Reduce the sizes of a test to 1 or 2, one axis at a time, as long as the difference remains.

    Return the reduced test and the description of its difference. Tests at boundaries are not reduced.
    """
    for axis in drawn.extent if drawn.style != BOUNDARY else ():
        for size in range(1, min(3, drawn.extent[axis])):
            smaller = contract.sample(drawn.seed, drawn.style, {**drawn.extent, axis: size})
            try:
                text = compare_values(call, contract, library, smaller, [])
            except Exception:  # sizes that the function does not take
                continue
            if text is not None:
                drawn, problem = smaller, text
                break
    return drawn, problem


def explain_difference(call: Any, contract: Contract, library: str, seed: int) -> str:
    """Return a sentence about how a PyTorch function's code differs from the formula, or "" if this is unknown."""
    if library != "torch":
        return ""
    from ..positional.torch_reading import from_torch
    from .equivalence import equivalent

    arrays = arrays_of(contract.sample(seed), library)
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
