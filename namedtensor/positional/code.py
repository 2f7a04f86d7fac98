"""Array code: Python's `ast` walked by the table of operations. Nothing of it is run.

The walk is written once and done twice: over values with axes, which gives the formula, and over NumPy's arrays, which
gives the source's own value (`Named` and `Plain`).
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from typing import Any

from grammar.errors import NotationError

from . import product_operations  # noqa: F401 — registers its operations
from .axes import Axes, Axis, Clash
from .code_domains import Named, Plain
from .inputs import inputs_of
from .matrix_leaves import Choose, node_of
from .operations import OPERATIONS, REFUSED, Misuse, Operation, Pair, Truth, found
from .program import Line, Program
from .refusals import refused
from .values import Leaf, Value

MODULES = set("np numpy jnp torch F nn math scipy jax tf einops sp functional linalg special".split())
TORCH = re.compile(r"\b(?:torch|F|nn)\.|\b(?:dim|keepdim)=|\.(?:view|permute|unsqueeze|masked_fill|mT)\b")
NUMPY = re.compile(r"\b(?:np|numpy|jnp)\.|\b(?:axis|keepdims)=")
MAX_NODES = 5_000
LIBRARY_DEPENDENT = {
    "std": ("NumPy, divided by n", "PyTorch, divided by n − 1"),
    "var": ("NumPy, divided by n", "PyTorch, divided by n − 1"),
}
OPERATORS = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.MatMult: "matmul",
    ast.Pow: "power",
}
RELATIONS = {ast.Gt: ">", ast.Lt: "<", ast.GtE: "≥", ast.LtE: "≤", ast.Eq: "=", ast.NotEq: "≠"}


class Code:
    """The reader of array code."""

    def __init__(self, source: str, shapes: Mapping[str, Any], choose: Choose, kind: str = "numpy"):
        self.source, self.choose, self.axes, self.kind = source, choose, Axes(), kind
        self.torch = bool(TORCH.search(source)) or kind == "torch"
        self.known_library = self.torch or NUMPY.search(source) is not None
        self.shapes = shapes
        self.inputs = inputs_of(self.axes, shapes, node_of)
        self.tree = self.parsed(source)
        self.domain: Any = None
        self.lengths: dict[str, Axis] = {}  # names that are read as the length of an axis

    def parsed(self, source: str) -> ast.Module:
        try:
            tree = ast.parse(source.strip())
        except SyntaxError as problem:
            place = min(len(source), problem.offset or 0)
            raise refused(source, (max(place - 1, 0), place), f"invalid Python: {problem.msg}") from None
        except (ValueError, RecursionError, MemoryError):
            raise refused(source, (0, 1), "this is not Python") from None
        if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
            raise refused(source, (0, 1), f"the code has more than {MAX_NODES} parts")
        return tree

    # ------------------------------------------------------------------------------------------------------ both walks
    def read(self) -> Program:
        domain = Named(self)
        value = self.run(domain)
        try:
            value = domain.tensor(value)
        except Misuse as problem:
            hint = "take its .values" if isinstance(value, Pair) else None
            raise refused(self.source, (0, len(self.source)), f"the value is not a tensor: {problem}", hint) from None
        if isinstance(value, Truth):
            raise refused(
                self.source,
                (0, len(self.source)),
                "the value is a condition, not a tensor",
                "write np.where(condition, 1, 0)",
            )
        used = {
            name: given.leaf for name, given in self.inputs.items() if given.literal is None and name in domain.used
        }
        lines = (*domain.lines, Line(None, value.node, value.dims))
        if domain.lines and self.ends_in_definition(domain, value):
            lines = tuple(domain.lines)
        kind = "torch" if self.torch else "numpy"
        kind = self.kind if self.kind in ("einsum", "einops") else kind
        return Program(
            kind,
            self.axes,
            lines,
            used,
            tuple(domain.remarks),
            self,
            tuple(domain.views.stated),
            tuple(domain.views.products),
        )

    def ends_in_definition(self, domain: Any, value: Value) -> bool:
        """Whether the last statement is that of the last line."""
        last = (
            self.tree.body[-1] if not isinstance(self.tree.body[-1], ast.FunctionDef) else self.tree.body[-1].body[-1]
        )
        named = last.value if isinstance(last, (ast.Expr, ast.Return)) else None
        target = last.targets[0] if isinstance(last, ast.Assign) else None
        name = target if isinstance(target, ast.Name) else named
        leaf = domain.names.get(name.id) if isinstance(name, ast.Name) else None
        line = domain.lines[-1]
        return isinstance(leaf, Leaf) and leaf.node == line.head and len(line.dims) == len(leaf.dims)

    def value(self, arrays: Mapping[str, Any], size_of: Any, decisions: Mapping[Any, int]) -> Any:
        """The value of the code, by NumPy."""
        import numpy as np

        return np.asarray(self.run(Plain(self, arrays, size_of)), dtype=float)

    def run(self, domain: Any) -> Any:
        self.domain = domain
        body = self.tree.body
        functions = [node for node in body if isinstance(node, ast.FunctionDef)]
        if len(functions) == 1:
            body = functions[0].body
        result: Any = None
        for statement in body:
            result = self.statement(statement, result)
        if result is None:
            raise refused(self.source, (0, len(self.source)), "the code has no value")
        return result

    def statement(self, node: ast.stmt, before: Any) -> Any:
        if isinstance(node, (ast.Import, ast.ImportFrom)) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        ):
            return before
        if isinstance(node, (ast.Expr, ast.Return)) and node.value is not None:
            return self.ev(node.value)
        if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
            return self.assign(node.target.id, node.value)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            whole = ast.copy_location(
                ast.BinOp(ast.copy_location(ast.Name(node.target.id), node), node.op, node.value), node
            )
            return self.assign(node.target.id, whole)
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            return self.assigned(node.targets[0], node)
        what = (
            "control flow has no formula"
            if isinstance(node, (ast.For, ast.While, ast.If, ast.With, ast.Try))
            else "this statement is not supported"
        )
        raise self.refuse(node, what)

    def assigned(self, target: ast.expr, node: ast.Assign) -> Any:
        if isinstance(target, ast.Name):
            return self.assign(target.id, node.value)
        if isinstance(target, ast.Tuple) and all(isinstance(each, ast.Name) for each in target.elts):
            values = self.ev(node.value)
            if isinstance(values, tuple) and len(values) == len(target.elts):
                for each, value in zip(target.elts, values):
                    assert isinstance(each, ast.Name)
                    self.domain.bind(each.id, value)
                return values
        raise self.refuse(node, "only names are assigned")

    def assign(self, name: str, node: ast.expr) -> Any:
        value = self.ev(node)
        if isinstance(value, Pair):
            raise self.refuse(node, "this is a pair of values and indices", "take its .values")
        self.domain.define(name, value, lambda: self.ev(node))
        return self.domain.look(name)

    def refuse(self, node: ast.AST, message: str, hint: str | None = None) -> NotationError:
        return refused(self.source, self.span(node), message, hint)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node is in the source."""
        lead = len(self.source) - len(self.source.lstrip())
        lines = self.source.strip().splitlines(keepends=True)
        if not hasattr(node, "lineno"):
            return 0, len(self.source)

        def offset(line: int, column: int) -> int:
            before = sum(map(len, lines[: line - 1]))
            return lead + before + len(lines[line - 1].encode()[:column].decode(errors="ignore"))

        where: Any = node
        return offset(where.lineno, where.col_offset), offset(where.end_lineno, where.end_col_offset)

    def text(self, node: ast.AST) -> str:
        return " ".join(self.source[slice(*self.span(node))].split())

    # ----------------------------------------------------------------------------------------------------- expressions
    def ev(self, node: ast.expr) -> Any:
        """The value of an expression. Raises NotationError with its place where it has none."""
        try:
            rule = EXPRESSIONS.get(type(node))
            if rule is None:
                raise self.refuse(node, f"{self.text(node)} is not supported")
            return rule(self, node)
        except Misuse as problem:
            raise self.refuse(node, str(problem)) from None
        except Clash as clash:
            raise self.refuse(node, self.misfit(node, clash)) from None

    def misfit(self, node: ast.AST, clash: Clash) -> str:
        first, second = (axis.key for axis in (clash.first, clash.second))
        if isinstance(node, ast.BinOp):
            return f"axes differ: {first} of {self.text(node.left)} meets {second} of {self.text(node.right)}"
        return f"axes differ in {self.text(node)}: {first} meets {second}"

    def constant(self, node: ast.Constant) -> Any:
        return node.value

    def name(self, node: ast.Name) -> Any:
        return self.domain.name(node)

    def listed(self, node: ast.Tuple | ast.List) -> Any:
        return tuple(self.ev(each) for each in node.elts)

    def unary(self, node: ast.UnaryOp) -> Any:
        value = self.ev(node.operand)
        if isinstance(node.op, ast.USub):
            return -value if isinstance(value, (int, float)) else self.domain.apply(OPERATIONS["negative"][0], [value])
        if isinstance(node.op, ast.UAdd):
            return value
        raise self.refuse(node, "this sign is not supported")

    def binop(self, node: ast.BinOp) -> Any:
        left, right = self.ev(node.left), self.ev(node.right)
        if isinstance(left, (int, float)) and isinstance(right, (int, float)) and not isinstance(node.op, ast.MatMult):
            return self.arithmetic(node, left, right)
        if isinstance(node.op, ast.FloorDiv):
            return self.domain.quotient(left, right)
        if type(node.op) not in OPERATORS:
            raise self.refuse(node, "this operator is not supported")
        return self.domain.apply(OPERATIONS[OPERATORS[type(node.op)]][0], [left, right])

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
        return (
            int(result)
            if isinstance(left, int)
            and isinstance(right, int)
            and float(result).is_integer()
            and not isinstance(node.op, ast.Div)
            else result
        )

    def compare(self, node: ast.Compare) -> Any:
        if len(node.ops) != 1 or type(node.ops[0]) not in RELATIONS:
            raise self.refuse(node, "this comparison is not supported")
        return self.domain.compare(RELATIONS[type(node.ops[0])], self.ev(node.left), self.ev(node.comparators[0]))

    def attribute(self, node: ast.Attribute) -> Any:
        if self.is_module(node.value):
            value = {"pi": 3.141592653589793, "e": 2.718281828459045, "inf": float("inf"), "newaxis": None}.get(
                node.attr, Missing
            )
            if value is Missing:
                raise self.refuse(node, f"{self.text(node)} is not supported")
            return value
        value = self.ev(node.value)
        if isinstance(value, Pair) and node.attr == "values":
            return value.values
        return self.domain.attribute(value, node.attr)

    def is_module(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in MODULES and not self.domain.has(node.id)

    def subscript(self, node: ast.Subscript) -> Any:
        value = self.ev(node.value)
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        indices = [self.index(each) for each in items]
        if isinstance(value, Pair) and indices == [0]:
            return value.values
        if isinstance(value, tuple):
            if len(indices) == 1 and isinstance(indices[0], (int, slice)):
                try:
                    return value[indices[0]]
                except IndexError:
                    raise self.refuse(node, "the index is out of range") from None
            raise self.refuse(node, "this index is not supported")
        return self.domain.index(value, indices)

    def index(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Slice):
            return slice(*(None if each is None else self.ev(each) for each in (node.lower, node.upper, node.step)))
        return self.ev(node)

    def call(self, node: ast.Call) -> Any:
        function = node.func
        name = (
            function.attr
            if isinstance(function, ast.Attribute)
            else function.id
            if isinstance(function, ast.Name)
            else ""
        )
        if any(keyword.arg is None for keyword in node.keywords) or any(
            isinstance(each, ast.Starred) for each in node.args
        ):
            return self.starred(node, name)
        if isinstance(function, ast.Name) and self.domain.has(name) and name not in OPERATIONS:
            raise self.refuse(node, f"{name} is a tensor, not a function")
        method = isinstance(function, ast.Attribute) and not self.is_module(function.value)
        if not name:
            self.ev(function)
            raise self.refuse(node, f"{self.text(function)} is not a function that is known")
        if name in REFUSED or ".fft." in ast.unparse(function):
            raise self.refuse(node, f"{name} is not supported: {REFUSED.get(name, REFUSED['fft'])}")
        if name in SPECIAL and not (name == "repeat" and method):
            return SPECIAL[name](self, node, method)
        arguments = [self.ev(each) for each in node.args]
        keywords = {keyword.arg or "": self.ev(keyword.value) for keyword in node.keywords}
        if method:
            assert isinstance(function, ast.Attribute)
            arguments = [self.ev(function.value), *arguments]
        return self.applied(node, name, arguments, keywords)

    def starred(self, node: ast.Call, name: str) -> Any:
        raise self.refuse(node, "starred arguments are not supported")

    def applied(self, node: ast.Call, name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        library = "torch" if self.torch else "numpy"
        if name in LIBRARY_DEPENDENT and not self.known_library:
            library = ("numpy", "torch")[self.choose(self.span(node), self.text(node), LIBRARY_DEPENDENT[name])]
        if name == "transpose" and not self.known_library:
            library = self.transposing(node, arguments)
        record = found(name, library)
        if record is None:
            raise self.refuse(
                node, f"unknown function {name}", "write it in operations that are known, or give its formula"
            )
        if (
            arguments
            and all(isinstance(each, (int, float)) for each in arguments)
            and not keywords
            and len(record.parameters) == len(arguments) == 1
        ):
            return self.of_number(node, record, arguments[0])
        return self.domain.apply(record, record.bound(arguments, keywords, library))

    def of_number(self, node: ast.Call, record: Operation, x: float) -> float:
        """A function of a number, as a number."""
        try:
            result = float(record.array(float(x))) if abs(x) < 1e100 else math.nan
        except (ValueError, TypeError, ArithmeticError):
            result = math.nan
        if not math.isfinite(result):
            raise self.refuse(node, "this number cannot be computed")
        return result

    def transposing(self, node: ast.Call, arguments: list[Any]) -> str:
        """The library of x.transpose(0, 1): NumPy's takes all dimensions in order, PyTorch's exchanges two."""
        x, *order = arguments
        rank = len(x.dims) if isinstance(x, Value) else getattr(x, "ndim", 0)
        if len(order) != 2 or not all(isinstance(position, int) for position in order):
            return "numpy"
        if rank != 2:
            return "torch"
        if [position % 2 for position in order] == [0, 1]:
            options = ("NumPy, which leaves the order", "PyTorch, which exchanges the two")
            return ("numpy", "torch")[self.choose(self.span(node), self.text(node), options)]
        return "numpy"


class Missing:
    """No value."""


ARITHMETIC: dict[type, Any] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b, ast.Div: lambda a, b: a / b, ast.FloorDiv: lambda a, b: a // b,
}  # fmt: skip
EXPRESSIONS: dict[type, Any] = {
    ast.Constant: Code.constant, ast.Name: Code.name, ast.Tuple: Code.listed, ast.List: Code.listed, ast.UnaryOp: Code.unary, ast.BinOp: Code.binop,
    ast.Compare: Code.compare, ast.Attribute: Code.attribute, ast.Subscript: Code.subscript, ast.Call: Code.call,
}  # fmt: skip


SPECIAL: dict[str, Any] = {}  # calls that are not in the table of operations
