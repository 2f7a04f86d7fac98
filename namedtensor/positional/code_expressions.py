"""Expressions of array code, each translated to a value with axes."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from grammar.errors import AXES_NEEDED, NotationError

from .axes import AxisClashError
from .code_values import CodeValues, attribute_of
from .matrix_leaves import Choose
from .operations import (
    DTYPES,
    OPERATIONS,
    PEERS,
    REFUSED,
    Listed,
    MisuseError,
    Operation,
    Pair,
    PartArgument,
    SizeArgument,
    find_operation,
)
from .product_operations import array
from .refusals import make_refusal
from .values import AxisValue

SUBMODULES = {*"""np numpy jnp torch F nn math scipy jax einops sp functional linalg special lib jax.numpy jax.nn jax.scipy.special
    jax.nn.functional scipy.special scipy.linalg sp.special sp.linalg nn.functional torch.nn torch.nn.functional torch.linalg torch.special
    np.linalg numpy.linalg jnp.linalg jax.numpy.linalg np.lib.stride_tricks numpy.lib.stride_tricks""".split()}  # fmt: skip
MODULES = set("np numpy jnp torch F nn math scipy jax einops sp functional linalg special lib".split())
MODULE_VALUES: dict[str, Any] = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None}
DIVISORS = ("NumPy, divided by n", "PyTorch, divided by n − 1")  # the libraries' divisors in std and var
OPERATORS: dict[type, str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.MatMult: "matmul", ast.Pow: "power",
    ast.Mod: "remainder", ast.FloorDiv: "floor_divide", ast.BitAnd: "logical_and", ast.BitOr: "logical_or",
    ast.USub: "negative", ast.Invert: "logical_not", ast.Gt: "greater", ast.Lt: "less", ast.GtE: "greater_equal",
    ast.LtE: "less_equal", ast.Eq: "equal", ast.NotEq: "not_equal",
}  # fmt: skip
LENGTH_NAMES = re.compile(r"d|d_\w+|dk|head_dim|dim|n_embd")
PATTERNS = {"reduce", "repeat"}  # functions of einops if an argument is a string
UFUNCS = {*"""add subtract multiply divide true_divide power maximum minimum fmax fmin logaddexp greater less greater_equal less_equal
    equal not_equal logical_and logical_or remainder mod fmod floor_divide hypot copysign heaviside""".split()}  # fmt: skip
ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}  # fmt: skip


class CodeExpressions(CodeValues):
    """The reader of Python expressions in array code, which translates each expression to a value with axes."""

    source: str
    torch: bool
    known_library: bool
    choose: Choose

    def refuse(self, node: ast.AST, message: str, hint: str | None = None) -> NotationError:
        return make_refusal(self.source, self.span(node), message, hint)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the positions in the source at which a node starts and ends."""
        stripped = self.source.strip()
        segment = ast.get_source_segment(stripped, node)
        if segment is None:
            return 0, len(self.source)
        where: Any = node
        lines = stripped.splitlines(keepends=True)
        start = len(self.source) - len(self.source.lstrip()) + sum(map(len, lines[: where.lineno - 1]))
        start += len(lines[where.lineno - 1].encode()[: where.col_offset].decode(errors="ignore"))
        return start, start + len(segment)

    def text(self, node: ast.AST) -> str:
        return " ".join(self.source[slice(*self.span(node))].split())

    def ev(self, node: ast.expr) -> Any:
        """Return the value of an expression. Raise NotationError at the expression's position if it has no value."""
        try:
            rule = EXPRESSIONS.get(type(node))
            if rule is None:
                raise self.refuse(node, f"{self.text(node)} is not supported")
            return rule(self, node)
        except MisuseError as problem:
            raise self.refuse(node, str(problem)) from None
        except AxisClashError as clash:
            raise self.refuse(node, self.misfit(node, clash), self.suggest_transpose(node)) from None

    def suggest_transpose(self, node: ast.AST) -> str | None:
        """Return a hint to transpose an operand of a product, if this makes the product valid, or else None."""
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)):
            return None
        if not (isinstance(node.left, ast.Name) and isinstance(node.right, ast.Name)):
            return None
        left, right = node.left.id, node.right.id
        products = [f"{left}.T @ {right}", f"{left} @ {right}.T"]
        fitting = [text for text in products if self.has_value(ast.parse(text, mode="eval").body)]
        return f"write {' or '.join(fitting)}" if fitting else None

    def has_value(self, node: ast.expr) -> bool:
        try:
            self.ev(node)
        except NotationError:
            return False
        return True

    def misfit(self, node: ast.AST, clash: AxisClashError) -> str:
        first, second = (axis.key for axis in (clash.first, clash.second))
        if not isinstance(node, ast.BinOp):
            return f"cannot align {first} with {second} in {self.text(node)}"
        left, right = self.text(node.left), self.text(node.right)
        if isinstance(node.op, ast.MatMult) and first != second:
            return f"cannot multiply {left} by {right}: the columns of {left} are {first}, the rows of {right} are {second}"
        return f"cannot align {first} of {left} with {second} of {right}"

    def name(self, node: ast.Name) -> Any:
        if self.has(node.id):
            return self.look(node.id)
        if node.id in DTYPES:
            return DTYPES[node.id]
        if node.id in self.axes.given:
            return self.length(node.id, self.axes.given[node.id], "")
        if LENGTH_NAMES.fullmatch(node.id) and self.summed is not None:
            return self.length(node.id, self.summed, ", the axis summed before")
        problem = self.refuse(node, f"the shape of {node.id} is not known", f'give its axes: {node.id}="…"')
        raise problem.replace(symbol=node.id, reason=AXES_NEEDED)

    def listed(self, node: ast.Tuple | ast.List) -> Any:
        listed = Listed(self.ev(element) for element in node.elts)
        listed.convert = partial(array, self.axes)
        return listed

    def mapping(self, node: ast.Dict) -> Any:
        return {self.ev(key): self.ev(value) for key, value in zip(node.keys, node.values) if key is not None}

    def unary(self, node: ast.UnaryOp) -> Any:
        value = self.ev(node.operand)
        if isinstance(node.op, ast.UAdd):
            return value
        if isinstance(node.op, ast.USub) and isinstance(value, (int, float)):
            return -value
        return self.operate(node, node.op, value)

    def operate(self, node: ast.expr, sign: ast.AST, *operands: Any) -> Any:
        """Translate a Python operator by applying the corresponding operation of the table, such as add for +."""
        if type(sign) not in OPERATORS:
            raise self.refuse(node, "this operator is not supported")
        return self.apply(OPERATIONS[OPERATORS[type(sign)]][0], [*operands])

    def binop(self, node: ast.BinOp) -> Any:
        left, right = self.ev(node.left), self.ev(node.right)
        if isinstance(left, (int, float)) and isinstance(right, (int, float)) and not isinstance(node.op, ast.MatMult):
            return self.arithmetic(node, left, right)
        if isinstance(left, Listed) and not isinstance(right, AxisValue) or isinstance(right, Listed) and not isinstance(left, AxisValue):  # fmt: skip
            raise self.refuse(node, "an operator of lists is not supported", "write np.array of the list")
        if isinstance(left, SizeArgument) and isinstance(right, SizeArgument) and isinstance(node.op, ast.Mult):
            return SizeArgument((*left.dim, *right.dim))
        if isinstance(left, SizeArgument) and isinstance(right, int) and isinstance(node.op, ast.FloorDiv):
            return PartArgument(left, right)
        return self.operate(node, node.op, left, right)

    def arithmetic(self, node: ast.BinOp, left: float, right: float) -> float:
        try:
            if isinstance(node.op, ast.Pow):
                result = float(left) ** right if abs(right) < 100 and abs(left) < 1e6 else None
            else:
                result = ARITHMETIC[type(node.op)](left, right)
        except (ZeroDivisionError, OverflowError, KeyError):
            result = None
        if result is None or isinstance(result, complex):
            raise self.refuse(node, "this number cannot be computed")
        whole = isinstance(left, int) and isinstance(right, int) and not isinstance(node.op, ast.Div)
        return int(result) if whole and float(result).is_integer() else result

    def compare(self, node: ast.Compare) -> Any:
        if len(node.ops) != 1:
            raise self.refuse(node, "this comparison is not supported")
        return self.operate(node, node.ops[0], self.ev(node.left), self.ev(node.comparators[0]))

    def attribute(self, node: ast.Attribute) -> Any:
        if self.is_module(node.value):
            if node.attr in DTYPES:
                return DTYPES[node.attr]
            if node.attr not in MODULE_VALUES:
                raise self.refuse(node, f"{self.text(node)} is not supported")
            return MODULE_VALUES[node.attr]
        value = self.ev(node.value)
        if isinstance(value, Pair) and node.attr == "values":
            return value.values
        return attribute_of(value, node.attr)

    def root(self, node: ast.expr) -> str:
        while isinstance(node, ast.Attribute):
            node = node.value
        return node.id if isinstance(node, ast.Name) else ""

    def is_module(self, node: ast.expr) -> bool:
        name = self.root(node)
        return name in MODULES and not self.has(name)

    def subscript(self, node: ast.Subscript) -> Any:
        if isinstance(node.value, ast.Call) and get_called_name(node.value) in ("max", "min") and node.value.args:
            self.library_chosen(node, ("NumPy, an element of the result", "PyTorch, a pair of values and indices"))
        value = self.ev(node.value)
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        indices = [self.index(item) for item in items]
        if isinstance(value, Pair) and indices == [0]:
            return value.values
        if isinstance(value, tuple):
            if len(indices) == 1 and isinstance(indices[0], (int, slice)):
                try:
                    return value[indices[0]]
                except IndexError:
                    raise self.refuse(node, "the index is out of range") from None
            raise self.refuse(node, "this index is not supported")
        return self.element(value, indices)

    def index(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Slice):
            return slice(*(None if bound is None else self.ev(bound) for bound in (node.lower, node.upper, node.step)))
        return self.ev(node)

    def call(self, node: ast.Call) -> Any:
        function = node.func
        if isinstance(function, ast.Lambda):
            return self.inline(node, function)
        name = get_called_name(node)
        if ast.unparse(function) in ("xr.dot", "xarray.dot") and not self.has(self.root(function)):
            return SPECIAL["xarray"](self, node, False)
        if (library := self.root(function)) in PEERS and library != name and not self.has(library):
            raise self.refuse(node, f"{library} is not supported", "write it with NumPy, PyTorch or einops")
        if any(keyword.arg is None for keyword in node.keywords) or any(
            isinstance(argument, ast.Starred) for argument in node.args
        ):
            raise self.refuse(node, "starred arguments are not supported")
        if isinstance(function, ast.Name) and self.has(name) and name not in OPERATIONS:
            raise self.refuse(node, f"{name} is a tensor, not a function")
        method = isinstance(function, ast.Attribute) and not self.is_module(function.value)
        if not name:
            self.ev(function)
            raise self.refuse(node, f"{self.text(function)} is not a function that is known")
        if name in REFUSED or ".fft." in ast.unparse(function):
            raise self.refuse(node, f"{name} is not supported: {REFUSED.get(name, REFUSED['fft'])}")
        if isinstance(function, ast.Attribute) and not method:
            if get_operand_call(function.value) in UFUNCS:
                return SPECIAL["ufunc"](self, node, get_operand_call(function.value))
            if (module := ast.unparse(function.value)) not in SUBMODULES:
                raise self.refuse(node, f"{module}.{name} is not supported")
            longer = f"{module.rpartition('.')[2]}.{name}"  # linalg.trace has other axes than trace
            name = longer if longer in OPERATIONS else name
        if name in SPECIAL and (name not in PATTERNS or (not method and any(map(is_text, node.args)))):
            return SPECIAL[name](self, node, method)
        arguments = [self.ev(argument) for argument in node.args]
        keywords = {keyword.arg or "": self.ev(keyword.value) for keyword in node.keywords}
        if method:
            assert isinstance(function, ast.Attribute)
            arguments = [self.ev(function.value), *arguments]
            if name == "repeat":
                self.library_chosen(node, ("NumPy, which repeats elements", "PyTorch, which repeats the tensor"))
        return self.applied(node, name, arguments, keywords)

    def inline(self, node: ast.Call, function: ast.Lambda) -> Any:
        """Translate a call of a lambda, (lambda s: …)(x), by inserting its argument into its body."""
        names = [parameter.arg for parameter in function.args.args]
        if node.keywords or len(names) != len(node.args) or len(ast.unparse(function.args).split(",")) != len(names):
            raise self.refuse(node, "only plain arguments of a lambda are supported")
        for name, argument in zip(names, node.args):
            self.define(name, self.ev(argument), lambda argument=argument: self.ev(argument))
        return self.ev(function.body)

    def applied(self, node: ast.Call, name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        library = "torch" if self.torch else "numpy"
        if name in ("std", "var"):
            library = self.library_chosen(node, DIVISORS)
        if name == "transpose" and not self.known_library:
            library = self.transposing(node, arguments)
        record = find_operation(name, library)
        if record is None:
            other = "write it in operations that are known, or give its formula"
            raise self.refuse(node, f"unknown function {name}", other)
        if (
            arguments
            and all(isinstance(argument, (int, float)) for argument in arguments)
            and not keywords
            and len(record.parameters) == len(arguments) == 1
            and hasattr(math, name)
        ):
            return self.evaluate_number_call(record, name, arguments[0])
        return self.apply(record, record.bound(arguments, keywords))

    def library_chosen(self, node: ast.expr, options: tuple[str, str]) -> str:
        """Return "numpy" or "torch" for an expression whose meaning differs between the libraries.

        If the library is unknown, ask for it. The answer applies to the rest of the code.
        """
        if not self.known_library:
            self.torch, self.known_library = self.choose(self.span(node), self.text(node), options) == 1, True
        return "torch" if self.torch else "numpy"

    def evaluate_number_call(self, record: Operation, name: str, x: float) -> Any:
        """Return the value of a function at a number, or the formula of the call if the value is not finite."""
        try:
            result = float(getattr(math, name)(x)) if abs(x) < 1e100 else math.nan
        except (ValueError, TypeError, ArithmeticError):
            result = math.nan
        if not math.isfinite(result):
            return self.apply(record, [x])
        return result

    def transposing(self, node: ast.Call, arguments: list[Any]) -> str:
        """Return the library, "numpy" or "torch", whose transpose a call such as x.transpose(0, 1) uses.

        NumPy's transpose accepts all dimensions, and PyTorch's exchanges two dimensions. Ask if both are possible and
        differ.
        """
        x, *order = arguments
        rank = len(x.dims) if isinstance(x, AxisValue) else getattr(x, "ndim", 0)
        if len(order) != 2 or not all(isinstance(position, int) for position in order):
            return "numpy"
        if rank != 2:
            self.torch = self.known_library = True
            return "torch"
        if [position % 2 for position in order] == [0, 1]:
            return self.library_chosen(node, ("NumPy, which leaves the order", "PyTorch, which exchanges the two"))
        return "numpy"


def get_called_name(node: ast.Call) -> str:
    """Return the name of the called function, such as sum for np.sum(x) and x.sum()."""
    return get_operand_call(node.func)


def get_operand_call(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


EXPRESSIONS: dict[type, Any] = {
    ast.Constant: lambda _, node: node.value, ast.Name: CodeExpressions.name, ast.Tuple: CodeExpressions.listed, ast.List: CodeExpressions.listed,
    ast.Dict: CodeExpressions.mapping, ast.UnaryOp: CodeExpressions.unary, ast.BinOp: CodeExpressions.binop, ast.Compare: CodeExpressions.compare,
    ast.Attribute: CodeExpressions.attribute, ast.Subscript: CodeExpressions.subscript, ast.Call: CodeExpressions.call,
}  # fmt: skip


SPECIAL: dict[str, Any] = {}  # calls that are not in the table of operations
