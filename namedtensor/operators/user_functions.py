"""Register Python functions with a signature. Formulas use them like built-in functions.

@nt.custom_function("gelu' : ℝ → ℝ")
def gelu_prime(x): ...
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, NamedTuple

from grammar.errors import NotationError
from grammar.nodes import Signature
from grammar.parser import parse

from ..core.axes import Order


class UserFunction:
    """A Python function that is registered as an operator, with its signature and the signature's text."""

    __slots__ = ("text", "signature", "function", "formals", "differentials")

    def __init__(self, text: str, signature: Signature, function: Callable[..., Any]):
        self.text, self.signature, self.function = text, signature, function
        self.formals: Order = ()  # axes that a use names in its subscript
        self.differentials: tuple[str, ...] = ()

    def call(self, orders: Any, order: Order, source: str, node: Any, target: Any) -> Callable[..., Any]:
        """Return a function that accepts arrays with these axis orders and calls the user's function for a library."""

        def python(*arrays: Any) -> Any:
            result = self.run(arrays, orders, order, source, node)
            return result if hasattr(result, "dtype") else target.xp.asarray(result)

        return python

    def run(self, arrays: Any, orders: Any, order: Order, source: str, node: Any) -> Any:
        """Convert arrays to named tensors, call the user's function, and return its result as an array in `order`."""
        from ..core.tensor import NamedTensor, tensor

        tensors = [
            tensor(array, tuple(axis.replace("@python", "*") for axis in axes)) if axes else array
            for array, axes in zip(arrays, orders)
        ]
        result = self.function(*tensors)
        expected = tuple(axis.replace("@python", "*") for axis in order)
        if not isinstance(result, NamedTensor):
            if expected:
                raise NotationError(
                    307,
                    f"the Python function of {self.text} must return a tensor, got {type(result).__name__}",
                    source,
                    node.span,
                )
            return result
        if set(result.axes) != set(expected):
            raise NotationError(
                307,
                f"the Python function of {self.text} returned the axes {', '.join(result.axes) or 'none'}",
                source,
                node.span,
                notes=(
                    f"expected from its signature and the extra axes of its arguments: {', '.join(expected) or 'none'}",
                ),
            )
        return result.to_array(expected) if expected else result.array


class _Functions(dict[str, UserFunction]):
    """The registered functions by name. Every change increases `version`, which invalidates earlier plans."""

    version = 0

    def __setitem__(self, name: str, value: UserFunction) -> None:
        super().__setitem__(name, value)
        self._count_change()

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._count_change()

    def _count_change(self) -> None:
        self.version += 1


USER_FUNCTIONS: _Functions = _Functions()


class ProgramOperators(NamedTuple):
    """The Python functions that a program uses as operators, by name, and the LaTeX macro of each name."""

    functions: Mapping[str, UserFunction] = MappingProxyType({})
    macros: Mapping[str, str] = MappingProxyType({})

    def __reduce__(self) -> Any:
        return program_operators, (dict(self.functions), dict(self.macros))


NO_OPERATORS = ProgramOperators()


def program_operators(functions: Mapping[str, UserFunction], macros: Mapping[str, str]) -> ProgramOperators:
    """Return the operators of a program. Programs without operators share one object."""
    return ProgramOperators(functions, macros) if functions or macros else NO_OPERATORS


IN_USE: ContextVar[ProgramOperators] = ContextVar("operators of the program at hand", default=NO_OPERATORS)


@contextmanager
def using(operators: ProgramOperators) -> Generator[None, None, None]:
    """Use the given operators for all programs that the block creates.

    For example, the program of a derivative uses the operators of the original program.
    """
    token = IN_USE.set(operators)
    try:
        yield
    finally:
        IN_USE.reset(token)


def get_functions(operators: ProgramOperators | None = None) -> Mapping[str, UserFunction]:
    """Return the Python functions that a program can call: its operators' functions and all registered functions."""
    functions = (IN_USE.get() if operators is None else operators).functions
    return ChainMap(dict(functions), USER_FUNCTIONS) if functions else USER_FUNCTIONS


def custom_function(signature: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a Python function for use in formulas, lifted by its signature.

    Parameters
    ----------
    signature : str
        Name and type, such as "f : ℝ^{a} × ℝ → ℝ^{a}".

    Returns
    -------
    callable
        A decorator. The decorated function receives named tensors. They may have extra axes, so it must refer to axes by name.

    Raises
    ------
    NotationError
        If the signature is not valid.

    Examples
    --------
    >>> import namedtensor as nt
    >>> @nt.custom_function("twice : ℝ → ℝ")
    ... def twice(x):
    ...     return 2 * x
    >>> float(nt.evaluate("twice(x) + 1", x=3.0))
    7.0
    """
    statements = parse(signature).statements
    if len(statements) != 1 or not isinstance(statements[0], Signature):
        raise NotationError(
            101, "invalid signature", signature, (0, len(signature)), hint="write it as f : ℝ^{a} × ℝ^{b} → ℝ"
        )
    statement = statements[0]

    def register(wrapped: Callable[..., Any]) -> Callable[..., Any]:
        USER_FUNCTIONS[statement.head.operator] = UserFunction(signature, statement, wrapped)
        return wrapped

    return register


def restore_program(kind: Callable[..., Any], text: str, syntax: str, strict: bool, operators: ProgramOperators) -> Any:
    """Return a program of the class `kind` with this source text and these operators."""
    if operators is NO_OPERATORS:
        return kind(text, syntax, strict)
    with using(operators):
        return kind(text, syntax, strict)
