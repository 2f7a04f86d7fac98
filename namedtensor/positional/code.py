"""Array code, translated from Python's `ast` to a formula by the table of operations. The code is never run.

`library_values` computes the value of the source separately, without sharing code with this reader.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from . import (  # noqa: F401 — these register their operations
    composite_operations,
    layer_operations,
    selection_operations,
    view_operations,
)
from .code_expressions import MODULES, SPECIAL, CodeExpressions, get_called_name
from .formula_writing import FormulaLine, TranslatedProgram
from .library_values import LibraryWalk, library_of
from .matrix_functions import INDEPENDENT
from .matrix_leaves import Choose
from .operations import OPERATIONS, MisuseError, Pair, bound_to, is_condition, to_value, truth
from .refusals import make_refusal
from .values import Leaf

REDUCED_BY = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any", "logaddexp": "logsumexp"}  # fmt: skip
ACCUMULATED_BY = {"add": "cumsum", "multiply": "cumprod"}


def ufunc_method(code: CodeReader, node: ast.Call, ufunc: str) -> Any:
    """Translate a ufunc method such as np.add.outer(x, y), np.add.reduce(x) or np.add.accumulate(x)."""
    name = get_called_name(node)
    arguments = [code.ev(argument) for argument in node.args]
    keywords = {str(keyword.arg): code.ev(keyword.value) for keyword in node.keywords}
    if name == "outer":
        x, y = map(to_value, bound_to("outer", "x, y", arguments, keywords))
        return code.applied(node, ufunc, [x.moved((*x.dims, *[()] * len(y.dims))), y], {})
    known = {"reduce": REDUCED_BY, "accumulate": ACCUMULATED_BY}.get(name, {})
    if ufunc not in known:
        raise code.refuse(node, f"{ufunc}.{name} is not supported")
    parameters = "x, axis=0, -dtype=None, -out=None" + (", keepdims=False" if name == "reduce" else "")
    x, *rest = bound_to(f"{ufunc}.{name}", parameters, arguments, keywords)
    return code.applied(node, known[ufunc], [x], dict(zip(("axis", "keepdims"), rest)))


def embedded(code: CodeReader, node: ast.Call, method: bool) -> Any:
    """Translate an embedding lookup, either F.embedding(I, E) or torch.embedding(E, I)."""
    if len(node.args) != 2 or node.keywords:
        raise code.refuse(node, "embedding expects a table and indices")
    table_first = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "torch"
    table, index = map(code.ev, node.args if table_first else reversed(node.args))
    return code.apply(OPERATIONS["take"][0], [table, index, 0])


def read_conversion(code: CodeReader, node: ast.Call, method: bool) -> Any:
    """Translate a conversion such as x.float() or float("-inf")."""
    if method:
        return code.applied(node, "float", [code.ev(node.func.value)], {})  # type: ignore[attr-defined]
    if len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and node.args[0].value in ("inf", "-inf", "nan"):
        return float(str(node.args[0].value))
    raise code.refuse(node, "float of this is not supported")


def pseudoinverse(code: CodeReader, node: ast.Call, method: bool) -> Any:
    """Translate np.linalg.pinv(A) for a matrix of full rank. Ask whether its columns or its rows are independent.

    The general formula would need singular values.
    """
    if method or len(node.args) != 1 or node.keywords:
        raise code.refuse(node, "pinv expects one matrix", "leave the tolerance out")
    x = to_value(code.ev(node.args[0]))
    if len(x.dims) != 2 or not all(len(dim) == 1 for dim in x.dims):
        raise code.refuse(node, "pinv of anything but one matrix is not supported", "write it for one matrix")
    (rows,), (columns,) = x.dims
    by_columns = code.choose(code.span(node), code.text(node), INDEPENDENT) == 0
    code.axes.facts.longer.append((rows, columns) if by_columns else (columns, rows))

    def transpose() -> Any:  # Each use has separate axes.
        return code.apply(OPERATIONS["swapaxes"][0], [code.ev(node.args[0]), 0, 1])

    product = code.applied(node, "matmul", [transpose(), x] if by_columns else [x, transpose()], {})
    inverted = code.applied(node, "inv", [product], {})
    return code.applied(node, "matmul", [inverted, transpose()] if by_columns else [transpose(), inverted], {})


def gelu(code: CodeReader, node: ast.Call, method: bool) -> Any:
    """Translate gelu. Only JAX uses the approximation by a hyperbolic tangent as its default."""
    arguments = [code.ev(argument) for argument in ([node.func.value] if method else []) + node.args]  # type: ignore[attr-defined]
    keywords = {str(keyword.arg): code.ev(keyword.value) for keyword in node.keywords}
    if code.root(node.func) == "jax" and not method:
        x, approximate = bound_to("gelu", "x, approximate=True", arguments, keywords)
        arguments, keywords = [x], {"approximate": "tanh" if truth(approximate) else "none"}
    return code.applied(node, "gelu", arguments, keywords)


SPECIAL.update(gelu=gelu, pinv=pseudoinverse, ufunc=ufunc_method, embedding=embedded, float=read_conversion)


TORCH = re.compile(
    r"(?<![\w.])(?:torch|F|nn)\.|\b(?:dim|dims|dim0|keepdim|start_dim|end_dim)=|\.(?:view|permute|unsqueeze|masked_fill|mT)\b|\.flatten\(-?\d"
)
NUMPY = re.compile(r"\b(?:np|numpy|jnp)\.|\b(?:axis|keepdims)=")
MAX_NODES = 5_000


class FullNames(ast.NodeTransformer):
    """A transformer that replaces each imported name by its full name.

    For example, after `from numpy import linalg as LA`, it replaces LA by numpy.linalg.
    """

    def __init__(self, tree: ast.Module):
        self.tree, self.bound = tree, dict[str, str]()
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
                names = {alias.asname or alias.name: module + alias.name for alias in node.names}
                self.bound |= {name: full for name, full in names.items() if full.partition(".")[0] in MODULES}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.bound or not isinstance(node.ctx, ast.Load):
            return node
        named = ast.parse(self.bound[node.id], mode="eval").body
        for part in ast.walk(named):
            ast.copy_location(part, node)
        return named


class CodeReader(CodeExpressions):
    """The reader of array code, which translates it to a program."""

    compared_with = "the library's own value"
    integral = False

    def __init__(self, source: str, shapes: Mapping[str, Any], choose: Choose, kind: str = "numpy"):
        super().__init__(shapes)
        self.source, self.choose, self.kind = source, choose, kind
        names = FullNames(self.parsed(source))
        self.tree = names.visit(names.tree)
        modules = " ".join((source, *(f"{full}." for full in names.bound.values())))
        self.torch = library_of(self.tree, bool(TORCH.search(modules)) or kind == "torch") == "torch"
        self.known_library = self.torch or NUMPY.search(modules) is not None

    def parsed(self, source: str) -> ast.Module:
        try:
            tree = ast.parse(source.strip())
        except SyntaxError as problem:
            minimum = min(len(source), problem.offset or 0)
            raise make_refusal(source, (max(minimum - 1, 0), minimum), f"invalid Python: {problem.msg}") from None
        except (ValueError, RecursionError, MemoryError):
            raise make_refusal(source, (0, 1), "this is not Python") from None
        if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
            raise make_refusal(source, (0, 1), f"the code has more than {MAX_NODES} parts")
        return tree

    # ------------------------------------------------------------------------------------------------------ statements
    def read(self) -> TranslatedProgram:
        value = self.run()
        try:
            value = to_value(value)
        except MisuseError as problem:
            hint = "take its .values" if isinstance(value, Pair) else None
            raise self.refuse(self.tree, f"the value is not a tensor: {problem}", hint) from None
        if is_condition(value):
            raise self.refuse(self.tree, "the value is a condition, not a tensor", "write np.where(condition, 1, 0)")
        if unused := [name for name in self.inputs if name not in self.used]:
            message = f"the code does not use {', '.join(unused)}"
            raise make_refusal(self.source, (0, len(self.source)), message, f"leave out {unused[0]}=…")
        used = {name: input_.leaf for name, input_ in self.inputs.items() if input_.literal is None}
        lines = (*self.lines, FormulaLine(None, value.node, value.dims))
        if self.lines and self.ends_in_definition():
            lines = tuple(self.lines)
        kind = self.kind if self.kind in ("einsum", "einops") else "torch" if self.torch else "numpy"
        remarks = tuple(dict.fromkeys((*self.remarks, *self.axes.facts.assumed)))
        return TranslatedProgram(kind, self.axes, lines, used, remarks, self)

    def ends_in_definition(self) -> bool:
        """Return whether the last statement of the code defines or returns the value of the formula's last line."""
        last = self.tree.body[-1]
        last = last.body[-1] if isinstance(last, ast.FunctionDef) else last
        named = last.value if isinstance(last, (ast.Expr, ast.Return)) else None
        target = last.targets[0] if isinstance(last, ast.Assign) else None
        name = target if isinstance(target, ast.Name) else named
        leaf = self.names.get(name.id) if isinstance(name, ast.Name) else None
        line = self.lines[-1]
        return isinstance(leaf, Leaf) and leaf.node == line.head and len(line.dims) == len(leaf.dims)

    def value(self, arrays: Mapping[str, Any], size_of: Any) -> Any:
        """Return the value that the library computes for the code."""
        literals = {name: source.literal for name, source in self.inputs.items() if source.literal is not None}
        lengths = {name: int(size_of(axis)) for name, axis in self.lengths.items()}
        dims = {
            name: [axis.kind.root.name for dim in source.leaf.dims for axis in dim]
            for name, source in self.inputs.items()
        }
        walk = LibraryWalk({**lengths, **literals, **arrays}, library_of(self.tree, self.torch), dims)
        value = walk.run(self.tree.body)
        self.compared_with, self.integral = walk.words, walk.integral
        return value

    def run(self) -> Any:
        body = self.tree.body
        functions = [node for node in body if isinstance(node, ast.FunctionDef)]
        if len(functions) == 1:
            body = functions[0].body
        result: Any = None
        for statement in body:
            result = self.statement(statement, result)
        if result is None:
            raise self.refuse(self.tree, "the code has no value")
        return result

    def statement(self, node: ast.stmt, before: Any) -> Any:
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant(value=str())):
                return before
            case ast.Expr(value=value) | ast.Return(value=ast.expr() as value):
                return self.ev(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                return self.assign(name, value)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                whole = ast.BinOp(ast.copy_location(ast.Name(name), node), op, value)
                return self.assign(name, ast.copy_location(whole, node))
            case ast.Assign(targets=[target]):
                return self.assigned(target, node)
            case ast.For() | ast.While() | ast.If() | ast.With() | ast.Try():
                raise self.refuse(node, "control flow has no formula")
            case _:
                raise self.refuse(node, "this statement is not supported")

    def assigned(self, target: ast.expr, node: ast.Assign) -> Any:
        if isinstance(target, ast.Name):
            return self.assign(target.id, node.value)
        if isinstance(target, ast.Tuple) and all(isinstance(element, ast.Name) for element in target.elts):
            values = self.ev(node.value)
            if isinstance(values, Pair):  # The indices, which come second, have no formula.
                values = (values.values, Pair(None))
            if isinstance(values, tuple) and len(values) == len(target.elts):
                for element, value in zip(target.elts, values):
                    assert isinstance(element, ast.Name)
                    self.define(element.id, value, lambda value=value: value)
                return values
        raise self.refuse(node, "only names are assigned")

    def assign(self, name: str, node: ast.expr) -> Any:
        value = self.ev(node)
        if isinstance(value, Pair):
            raise self.refuse(node, "this is a pair of values and indices", "take its .values")
        self.define(name, value, lambda: self.ev(node))
        return self.look(name)
