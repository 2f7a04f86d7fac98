"""The value of array code as its library computes it, found by walking the syntax tree of the source.

This module shares no code with the reader. It calls only functions and methods that `library_functions` permits, and it
never executes the source itself.
"""

from __future__ import annotations

import ast
import importlib
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from . import library_functions as listed
from .library_functions import HAS_VALUES, UnknownFunctionError, UnsupportedError, find_function, np, reach
from .operations import OPERATIONS

LIBRARIES = {"numpy": "NumPy", "torch": "PyTorch", "einops": "einops", "xarray": "xarray"}
ALIASES = {"np": "numpy", "jnp": "numpy", "nn.functional": "F", "torch.nn.functional": "F", "jax.numpy": "numpy"}
ROOTS = {*"np numpy jnp torch F nn math scipy jax tf einops sp special linalg lib functional".split()}
MODULES = {*"numpy torch F math scipy jax einops".split()}  # modules with functions that are rejected if unlisted
WORDS = re.compile(r"[^\W\d]\w.*\s|\s.*[^\W\d]\w")  # matches an einops pattern that has words, not letters
MAX_ELEMENTS, MAX_CONDITION, MAX_POWER = 2_000_000, 1e8, 100
OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Pow: operator.pow, ast.MatMult: operator.matmul, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert, ast.Gt: operator.gt, ast.Lt: operator.lt,
    ast.GtE: operator.ge, ast.LtE: operator.le, ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
IN_PLACE: dict[type, Callable[..., Any]] = {
    ast.Add: operator.iadd, ast.Sub: operator.isub, ast.Mult: operator.imul, ast.Div: operator.itruediv, ast.Pow: operator.ipow,
    ast.MatMult: operator.imatmul, ast.FloorDiv: operator.ifloordiv, ast.Mod: operator.imod,
}  # fmt: skip


def optional(name: str) -> Any:
    """Import and return a library such as PyTorch. Raise UnsupportedError if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise UnsupportedError(f"{LIBRARIES[name]} is not installed") from None


class LibraryWalk:
    """One evaluation of a source on arrays, in NumPy or PyTorch; `used` names the libraries that were called.

    `dims` maps the name of each array to the names of its dimensions, which xarray needs.
    """

    def __init__(self, arrays: Mapping[str, Any], library: str, dims: Mapping[str, list[str]] = {}):
        if not HAS_VALUES:
            raise UnsupportedError("NumPy is not installed")
        self.library, self.used, self.dims = library, {library}, dims
        self.own: set[str] = set()
        self.integral = False
        self.torch = optional("torch") if library == "torch" else None
        self.names = {name: self.own_copy(array) for name, array in arrays.items()}

    def own_copy(self, array: Any) -> Any:
        if not isinstance(array, np.ndarray):
            return array
        return self.torch.from_numpy(array.copy()) if self.torch else array.copy()

    def run(self, body: list[ast.stmt]) -> Any:
        """Evaluate the statements, and return the value of the last one, or of the first `return`, as an array.

        If there is exactly one function definition, evaluate the statements in its body instead.
        """
        functions = [node for node in body if isinstance(node, ast.FunctionDef)]
        result: Any = None
        for node in functions[0].body if len(functions) == 1 else body:
            result = self.statement(node, result)
            if isinstance(node, ast.Return):
                break
        self.integral = np.asarray(result).dtype.kind in "iu"
        return np.asarray(result, dtype=float)

    # ------------------------------------------------------------------------------------------------- statements
    def statement(self, node: ast.stmt, before: Any) -> Any:
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant(value=str())):
                return before
            case ast.Expr(value=value) | ast.Return(value=ast.expr() as value):
                return self.value(value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.Assign(targets=[target], value=value):
                return self.assign(target, self.value(value))
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value) if type(op) in IN_PLACE:
                return self.assign(node.target, IN_PLACE[type(op)](self.names[name], self.value(value)))
        raise UnsupportedError("a statement")

    def assign(self, target: ast.expr, value: Any) -> Any:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, ast.Tuple):
            for element, part in zip(target.elts, value, strict=True):
                self.assign(element, part)
        else:
            raise UnsupportedError("an assignment")
        return value

    # ------------------------------------------------------------------------------------------------ expressions
    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression. Raise UnsupportedError if the walk does not support it."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.names[name] if name in self.names else self.dtype(name)
            case ast.Tuple(elts=elements):
                return tuple(map(self.value, elements))
            case ast.List(elts=elements):
                return [*map(self.value, elements)]
            case ast.Dict(keys=keys, values=values) if None not in keys:
                return {self.value(key): self.value(value) for key, value in zip(keys, values) if key is not None}
            case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
                return OPERATORS[type(op)](self.value(operand))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return self.operate(op, self.value(left), self.value(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPERATORS:
                return self.operate(op, self.value(left), self.value(right))
            case ast.Subscript(value=base, slice=index):
                return self.value(base)[self.index(index)]
            case ast.Attribute():
                return self.attribute(node)
            case ast.Call():
                return self.call(node)
        raise UnsupportedError(ast.unparse(node))

    def operate(self, sign: ast.AST, left: Any, right: Any) -> Any:
        plain = [side for side in (left, right) if not isinstance(side, (list, tuple))]
        if any(isinstance(side, str) for side in plain) or (len(plain) < 2 and not any(hasattr(side, "shape") for side in plain)):  # fmt: skip
            raise UnsupportedError("an operator of anything but numbers and arrays")
        if isinstance(sign, ast.Pow) and isinstance(left, int) and isinstance(right, int) and abs(right) > MAX_POWER:
            raise UnsupportedError("a large power")
        guard_size((left, right))
        return OPERATORS[type(sign)](left, right)

    def index(self, node: ast.expr) -> Any:
        match node:
            case ast.Slice(lower=lower, upper=upper, step=step):
                return slice(*(None if bound is None else self.value(bound) for bound in (lower, upper, step)))
            case ast.Tuple(elts=elements):
                return tuple(map(self.index, elements))
        return self.value(node)

    def attribute(self, node: ast.Attribute) -> Any:
        if self.path(node.value):
            return listed.CONSTANTS[node.attr] if node.attr in listed.CONSTANTS else self.dtype(node.attr)
        if node.attr not in listed.ATTRIBUTES:
            raise UnsupportedError(f".{node.attr}")
        return getattr(self.value(node.value), node.attr)

    def dtype(self, name: str) -> Any:
        """Return the library's dtype for a name. Float and int dtypes have 64 bits, since formulas use real numbers."""
        kind = next((kind for kind in ("float", "int", "bool") if name.startswith(kind)), {"double": "float", "half": "float", "bfloat16": "float", "long": "int", "uint8": "int"}.get(name))  # fmt: skip
        if kind is None:
            raise UnsupportedError(name)
        wide = {"float": "float64", "int": "int64", "bool": "bool"}[kind]
        return getattr(self.torch or np, wide)

    # ------------------------------------------------------------------------------------------------------ calls
    def path(self, node: ast.expr) -> str:
        """Return the dotted name that an expression denotes, such as numpy.exp.

        For an attribute of a value, return an empty string.
        """
        if isinstance(node, ast.Attribute):
            base = self.path(node.value)
            whole = f"{base}.{node.attr}" if base else ""
            return ALIASES.get(whole, whole)
        if isinstance(node, ast.Name) and node.id in ROOTS and node.id not in self.names:
            return ALIASES.get(node.id, node.id)
        return ""

    def call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Lambda):
            return self.inline(node, node.func)
        if ast.unparse(node.func) in ("xr.dot", "xarray.dot"):
            return self.dot_of_xarray(node)
        arguments = [self.value(argument) for argument in node.args]
        keywords = {str(keyword.arg): self.value(keyword.value) for keyword in node.keywords}
        if isinstance(keywords.get("dtype"), str) or keywords.get("out") is not None:
            raise UnsupportedError("a type in quotes, or an output")
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if isinstance(node.func, ast.Attribute) and not (path := self.path(node.func)):
            function = self.method(self.value(node.func.value), name)
            guard_size((self.value(node.func.value), *arguments), name, keywords)
        else:
            function = self.function(path if isinstance(node.func, ast.Attribute) else name, arguments, keywords)
            guard_size(arguments, name, keywords)
        guard_condition(name, arguments)
        return function(*arguments, **keywords)

    def dot_of_xarray(self, node: ast.Call) -> Any:
        """Return the value of xarray.dot for arrays with named dimensions."""
        xarray = optional("xarray")
        names = [argument.id for argument in node.args if isinstance(argument, ast.Name)]
        if len(names) < len(node.args) or not {*names} <= {*self.dims}:
            raise UnsupportedError("xarray.dot of an array without names")
        keywords = {str(keyword.arg): self.value(keyword.value) for keyword in node.keywords}
        self.used = self.used - {self.library} | {"xarray"}
        arrays = [xarray.DataArray(np.asarray(self.names[name]), dims=self.dims[name]) for name in names]
        return xarray.dot(*arrays, **keywords).values

    def inline(self, node: ast.Call, function: ast.Lambda) -> Any:
        before = dict(self.names)
        self.names |= {
            parameter.arg: self.value(argument)
            for parameter, argument in zip(function.args.args, node.args, strict=True)
        }
        try:
            return self.value(function.body)
        finally:
            self.names = before

    def method(self, x: Any, name: str) -> Callable[..., Any]:
        """Return a method of an array. Raise UnsupportedError if calling the method is not allowed."""
        of_torch = self.torch is not None and isinstance(x, self.torch.Tensor)
        if of_torch and listed.is_listed(name) and hasattr(x, name):
            return getattr(x, "double" if name in ("float", "half") else name)
        if name not in listed.NUMPY_METHODS or not isinstance(x, np.ndarray | np.generic):
            raise UnsupportedError(f".{name}()")
        return getattr(x, name)

    def function(self, path: str, arguments: list[Any], keywords: dict[str, Any]) -> Callable[..., Any]:
        """Return the function with a name such as numpy.linalg.norm or exp.

        Raise UnsupportedError if calling the function is not allowed.
        """
        library, _, name = path.partition(".")
        last = path.rpartition(".")[2]
        if path in ("len", "float"):
            return {"len": len, "float": float}[path]
        if not name:
            return self.bare(path, arguments, keywords)
        function = None
        if library == "numpy":
            self.used.add("numpy")
            of_ufunc = last in ("outer", "reduce", "accumulate") and isinstance(
                reach(np, name.rpartition(".")[0]), np.ufunc
            )
            function = reach(np, name) if of_ufunc else find_function(np, name)
        elif library in ("F", "torch") and self.torch:
            if library == "torch" and (
                last in ("ones", "zeros", "eye") or (last in ("full", "tensor", "arange") and holds_float(arguments))
            ):
                keywords.setdefault("dtype", self.torch.float64)
            function = find_function(self.torch if library == "torch" else self.torch.nn.functional, name)
        elif library == "einops" and name in ("rearrange", "reduce", "repeat", "einsum"):
            function = self.einops_function(name)
        elif library == "math" and name in listed.MATH:
            function = getattr(math, name)
        elif library in ("scipy", "special", "sp", "jax") and not self.torch:
            function = listed.OF_JAX.get(last) if path.startswith("jax.nn") else None
            function = self.own_function(last, function)
        if function is not None:
            return function
        if library in MODULES:
            raise UnknownFunctionError(path)
        raise UnsupportedError(f"{path} is not a function that is called")

    def einops_function(self, name: str) -> Callable[..., Any]:
        try:
            function = getattr(optional("einops"), name)
        except UnsupportedError:
            if name == "einsum" or self.torch:
                raise
            return self.own_function(name)
        self.used.add("einops")
        return function

    def bare(self, name: str, arguments: list[Any], keywords: dict[str, Any]) -> Callable[..., Any]:
        """Return the function for a name without a library prefix, such as exp or rearrange.

        Raise UnsupportedError if calling a function with this name is not allowed.
        """
        words = [argument for argument in arguments if isinstance(argument, str)]
        if name in ("rearrange", "reduce", "repeat") and words:
            return self.einops_function(name)
        if name == "einsum" and words and (arguments[0] is not words[0] or WORDS.search(words[0])):
            arguments[:] = [argument for argument in arguments if argument is not words[0]] + words[:1]
            return self.einops_function(name)
        modules = {"F": self.torch.nn.functional, "torch": self.torch} if self.torch else {"numpy": np}
        library = next((library for library, module in modules.items() if find_function(module, name)), None)
        if library is not None:
            return self.function(f"{library}.{name}", arguments, keywords)
        function = None if self.torch else self.own_function(name)
        if function is None:
            raise UnsupportedError(f"{name} is not a function that is called")
        return function

    def own_function(self, name: str, function: Any = None) -> Any:
        """Return the function that implements a name without a library, or None if calling it is not allowed.

        The function is either NumPy's or one that this package implements.
        """
        if name in listed.OF_NUMPY:
            return find_function(np, name) or find_function(np, f"linalg.{name}")
        if name not in listed.OWN:
            return None
        self.own.add(name)
        return function or listed.OWN[name]

    @property
    def words(self) -> str:
        """A description of the value, which names the libraries that computed it, such as "NumPy's own value"."""
        libraries = [LIBRARIES[name] for name in LIBRARIES if name in self.used]
        mine = f" (with our own {' and '.join(sorted(self.own))})" if self.own else ""
        return (
            f"the value of {' and '.join(libraries)}{mine}"
            if len(libraries) > 1
            else f"{libraries[0]}'s own value{mine}"
        )


def library_of(tree: ast.AST, torch: bool) -> str:
    """Return "torch" if the source is known to be PyTorch or calls a method that only PyTorch has, or else "numpy"."""
    methods = {node.func.attr for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and root(node.func) not in ROOTS}  # fmt: skip
    return "torch" if torch or methods & OPERATIONS.keys() - listed.NUMPY_METHODS else "numpy"


def root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return getattr(node, "id", "")


def numbers_in(value: Any) -> Iterator[float]:
    """Yield the numbers in an argument, including numbers inside tuples and lists."""
    if isinstance(value, (tuple, list)):
        for part in value:
            yield from numbers_in(part)
    elif isinstance(value, (int, float)):
        yield value


def holds_float(arguments: list[Any]) -> bool:
    return any(isinstance(value, float) for value in numbers_in(arguments))


def guard_size(arguments: Any, name: str = "", keywords: Mapping[str, Any] | None = None) -> None:
    """Raise UnsupportedError if a result would be too large to compute."""
    shapes = [tuple(value.shape) for value in arguments if isinstance(getattr(value, "shape", None), tuple)]
    sizes = [math.prod(shape) for shape in shapes]
    total = math.prod(sizes) if name in ("outer", "kron", "ger") else 0
    if len(shapes) > 1:
        try:
            total = max(total, math.prod(np.broadcast_shapes(*shapes)))
        except ValueError:
            total = max(total, 0)
    if name in listed.OF_SIZES:
        numbers = [abs(value) for value in numbers_in([*arguments, *(keywords or {}).values()]) if value]
        large = math.prod(value for value in numbers if value >= 1) / min(1, *numbers, 1)
        total = max(total, large * max(sizes, default=1))
    if not total <= MAX_ELEMENTS:
        raise UnsupportedError("its value is too large")


def guard_condition(name: str, arguments: list[Any]) -> None:
    """Raise LinAlgError if a function would invert a nearly singular matrix, whose inverse would be meaningless."""
    if (
        name in ("inv", "inverse", "solve")
        and arguments
        and np.max(np.linalg.cond(np.asarray(arguments[0]))) > MAX_CONDITION
    ):
        raise np.linalg.LinAlgError
