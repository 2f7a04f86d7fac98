"""Calls of array code that the table of operations does not cover, since their translation depends on their syntax."""

from __future__ import annotations

import ast
from typing import Any

from .code import CodeReader
from .code_expressions import SPECIAL, get_called_name
from .matrix_functions import INDEPENDENT
from .operations import OPERATIONS, bound_to, to_value, truth

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
    if len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and node.args[0].value in ("inf", "-inf"):
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
