"""Define user-defined operators on arrays, with one function per library, optional differentials, and source text.

A function receives arrays as NumPy's generalized universal functions do. The extra axes come first and are aligned. The
axes of the signature come last, in the order of the signature. The function does not need axis names, so `to_python`
can use its source text unchanged.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from grammar.errors import NotationError
from grammar.nodes import Signature as SignatureNode

from ..core.axes import AxisSignature, Order
from .user_functions import UserFunction

ANY_LIBRARY = ""  # The key of a function that accepts arrays of every library.


class ArrayFunction(UserFunction):
    """A user-defined operator: a name, a signature, functions of arrays, and differentials in the notation.

    `axes` contains the actual axes in a call, in the order of the signature's formal axes.
    """

    __slots__ = ("name", "lifted", "functions", "axes")
    options = ()  # It has no parameters after the semicolon.

    def __init__(
        self, name: str, text: str, node: SignatureNode, lifted: AxisSignature, functions: Mapping[str, Callable[..., Any]],
        differentials: tuple[str, ...] = (), axes: Order = (),
    ):  # fmt: skip
        super().__init__(text, node, next(iter(functions.values())))
        self.name, self.lifted, self.functions, self.differentials = name, lifted, functions, differentials
        self.axes = axes
        self.formals = lifted.formals

    def _identity(self) -> Any:
        functions = tuple((library, id(function)) for library, function in self.functions.items())
        return self.name, self.text, functions, self.differentials, self.axes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArrayFunction) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __reduce__(self) -> Any:
        parts = self.name, self.text, self.signature, self.lifted, dict(self.functions), self.differentials, self.axes
        return ArrayFunction, parts

    def lifted_over(self, arguments: int) -> AxisSignature:
        """Return the signature, which does not depend on the number of arguments."""
        return self.lifted

    def over(self, axes: Order) -> ArrayFunction:
        """Return a copy of the operator with the axes of one call."""
        return ArrayFunction(
            self.name, self.text, self.signature, self.lifted, self.functions, self.differentials, axes
        )

    def call(self, orders: Sequence[Order], order: Order, source: str, node: Any, target: Any) -> ArrayCall:
        return ArrayCall(self, orders, order, source, node, target)

    def function_for(self, library: str, source: str | None = None, span: Any = None) -> Callable[..., Any]:
        """Return the function for one library. Raise NotationError if the user has not provided one."""
        function = self.functions.get(library) or self.functions.get(ANY_LIBRARY)
        if function is None:
            known = ", ".join(self.functions)
            raise NotationError(
                408, f"{self.name} has no function for {library} arrays, only for {known}", source, span,
                hint=f'add one: functions={{…, "{library}": …}}, or pass arrays of {known}',
            )  # fmt: skip
        return function


class ArrayCall:
    """A call of an operator on arrays with known axis orders, as a function of arrays and as source text."""

    __slots__ = ("registered", "orders", "order", "source", "node", "target", "core", "loop")

    def __init__(
        self, registered: ArrayFunction, orders: Sequence[Order], order: Order, source: str, node: Any, target: Any
    ):
        self.registered, self.orders, self.order = registered, tuple(orders), order
        self.source, self.node, self.target = source, node, target
        axis_of = dict(zip(registered.formals, registered.axes))
        self.core = [tuple(axis_of[formal] for formal in formals) for formals in registered.lifted.inputs]
        given = [axis_of[formal] for formal in registered.lifted.output]
        self.loop = tuple(axis for axis in order if axis not in given)

    def __call__(self, *arrays: Any) -> Any:
        xp = self.target.xp
        function = self.registered.function_for(self.target.name, self.source, self.node.span)
        dtype = next((array.dtype for array in arrays if hasattr(array, "dtype")), None)
        aligned: list[Any] = []
        for array, order, core in zip(arrays, self.orders, self.core):
            array = array if hasattr(array, "dtype") else xp.asarray(float(array), dtype=dtype)
            places, index = self.alignment(order, core)
            array = array if places == tuple(range(len(places))) else xp.permute_dims(array, places)
            aligned.append(array if index is None else array[index])
        result = function(*aligned)
        result = result if hasattr(result, "dtype") else xp.asarray(result)
        sizes = {
            axis: size
            for array, order in zip(arrays, self.orders)
            for axis, size in zip(order, getattr(array, "shape", ()))
        }
        self.check(tuple(result.shape), tuple(sizes[axis] for axis in self.order))
        return result

    def check(self, shape: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
        """Raise an error if a function has returned an array of the wrong shape. Symbolic sizes match any size."""
        differ = any(
            isinstance(size, int) and isinstance(other, int) and size != other for size, other in zip(shape, expected)
        )
        if len(shape) == len(expected) and not differ:
            return
        axes = ", ".join(("…", *self.registered.lifted.inputs[0]))
        raise NotationError(
            307, f"the function of {self.registered.name} returned an array of shape {shape}, expected {expected}",
            self.source, self.node.span, notes=(f"its signature is {self.registered.text}",),
            hint=f"extra axes come first, and the result keeps them: its first argument has the axes ({axes})",
        )  # fmt: skip

    def alignment(self, order: Order, core: Order) -> tuple[tuple[int, ...], tuple[Any, ...] | None]:
        """Return a permutation that moves the operator's axes last, and an index that inserts missing axes.

        The index is None if no axes are missing.
        """
        mine = [axis for axis in self.loop if axis in order]
        places = tuple(order.index(axis) for axis in (*mine, *core))
        first = self.loop.index(mine[0]) if mine else len(self.loop)
        index = tuple(slice(None) if axis in mine else None for axis in self.loop[first:])
        return places, index + (Ellipsis,) if None in index else None

    def text(self, number: int) -> str:
        """Return the source text of the function `python_<number>`, which accepts and returns arrays of the plan."""
        names = [f"x{position}" for position in range(1, len(self.orders) + 1)]
        method = "permute" if self.target.name == "torch" else "transpose"
        parts: list[str] = []
        for name, order, core in zip(names, self.orders, self.core):
            places, index = self.alignment(order, core)
            if places != tuple(range(len(places))):
                name += f".{method}({', '.join(map(str, places))})"
            if index is not None:
                name += (
                    f"[{', '.join('None' if part is None else '...' if part is Ellipsis else ':' for part in index)}]"
                )
            parts.append(name)
        function = self.registered.function_for(self.target.name)
        return f"def python_{number}({', '.join(names)}):\n    return {name_in_text(function)}({', '.join(parts)})\n"

    def definition(self) -> tuple[str, tuple[str, ...]]:
        """Return the source text that defines the user's function, and its imports.

        For an imported function, the text is empty.
        """
        return source_of(self.registered.name, self.registered.function_for(self.target.name))


def is_importable(function: Callable[..., Any]) -> bool:
    """Return whether a function can be imported by name from its module."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    return module not in (None, "__main__", "builtins") and name.isidentifier()


def name_in_text(function: Callable[..., Any]) -> str:
    """Return the name of a user's function in generated source. An imported function's name has a prefix."""
    plain = inspect.isfunction(function) and not is_importable(function)
    return function.__name__ if plain else f"imported_{function.__name__}"


def source_of(operator: str, function: Callable[..., Any]) -> tuple[str, tuple[str, ...]]:
    """Return the source text of a function, and imports for the modules that it uses.

    For an importable function, the text is empty, and the only import is the function itself. Raise NotationError if
    the text cannot run on its own.
    """
    name = getattr(function, "__name__", "")
    if inspect.isbuiltin(function) or not inspect.isfunction(function):
        module = getattr(function, "__module__", None) or ""
        if name.isidentifier() and module:
            return "", (f"from {module} import {name} as {name_in_text(function)}",)
    if not name.isidentifier():
        raise no_text(
            operator,
            "it is a lambda" if name == "<lambda>" else "it has no name",
            "write it as a function, def f(x): …",
        )
    if is_importable(function):
        return "", (f"from {function.__module__} import {name} as {name_in_text(function)}",)
    variables = inspect.getclosurevars(function)
    modules = {word: value for word, value in variables.globals.items() if isinstance(value, ModuleType)}
    unknown = sorted({*variables.globals, *variables.nonlocals} - set(modules) - {name})
    if unknown:
        hint = "put the function in a module of its own, which the text then imports"
        raise no_text(operator, f"its function uses {', '.join(unknown)}, defined outside it", hint)
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise no_text(operator, "the source of its function is not known", "define the function in a file") from None
    imports = tuple(
        f"import {module.__name__}" if word == module.__name__ else f"import {module.__name__} as {word}"
        for word, module in sorted(modules.items())
    )
    return text, imports


def no_text(operator: str, reason: str, hint: str) -> NotationError:
    return NotationError(408, f"{operator} has no source text: {reason}", hint=hint)


def definitions_text(calls: Sequence[Any], taken: str) -> tuple[str, tuple[str, ...]]:
    """Return the source text of the functions that a plan calls, and the imports that the text `taken` lacks.

    Raise NotationError if a function has no source text, if two functions have the same name, or if the name occurs in
    `taken`, the text generated so far.
    """
    defined: dict[str, tuple[Callable[..., Any], str]] = {}
    texts, imports = list[str](), dict[str, None]()
    for number, call in enumerate(calls, 1):
        if not isinstance(call, ArrayCall):
            hint = "give it with nt.operator, whose functions are of plain arrays"
            raise NotationError(408, "a function of nt.custom_function has no source text", hint=hint)
        function = call.registered.function_for(call.target.name)
        text, modules = call.definition()
        known, _ = defined.setdefault(name_in_text(function), (function, text))
        if known is not function or re.search(rf"\b{name_in_text(function)}\b", taken):
            raise no_text(call.registered.name, f"another function is called {function.__name__}", "rename it")
        imports.update(dict.fromkeys(line for line in modules if line not in taken.splitlines()))
        texts.append(call.text(number))
    return "\n\n".join([*filter(None, (text for _, text in defined.values())), *texts]), tuple(imports)
