"""Calls of array code that are not in the table of operations: views, lengths, types of numbers, dropout."""

from __future__ import annotations

import ast
from typing import Any

from .code import CodeReader
from .code_expressions import SPECIAL, called
from .operations import DTYPES, OPERATIONS, Dtype, as_value, bound_to


# --------------------------------------------------------------------------------------- calls that are not in the table
def operands(code: CodeReader, node: ast.Call, method: bool, keywords: bool = False) -> list[Any]:
    """The arguments by position, the object of a method first."""
    if node.keywords and not keywords:
        raise code.refuse(node, f"the keyword {node.keywords[0].arg} is not supported")
    listed = [node.func.value, *node.args] if method and isinstance(node.func, ast.Attribute) else node.args
    return [*map(code.ev, listed)]


def reshaped(code: CodeReader, node: ast.Call, method: bool) -> Any:
    x, *shape = operands(code, node, method)
    return code.domain.reshape(x, [*shape[0]] if len(shape) == 1 and isinstance(shape[0], tuple) else shape)


def flattened(code: CodeReader, node: ast.Call, method: bool) -> Any:
    """Read ravel(), flatten(), and PyTorch's flatten from one axis to another."""
    x, *ends = operands(code, node, method, True)
    settings = {str(keyword.arg): code.ev(keyword.value) for keyword in node.keywords}
    if "C" in ends or settings.get("order") == "C":
        ends, settings = [], {}
    elif {*settings} <= {"start_dim", "end_dim"}:
        ends = [
            settings.get("start_dim", ends[0] if ends else 0),
            settings.get("end_dim", ends[1] if len(ends) > 1 else -1),
        ]
    else:
        raise code.refuse(node, f"the keyword {[*settings][0]} is not supported")
    shape = code.domain.attribute(x, "shape")
    if len(ends) > 2 or not all(isinstance(end, int) and -len(shape) <= end < len(shape) for end in ends):
        raise code.refuse(node, "these arguments of flatten are not supported")
    first, last = (*(end % len(shape) for end in ends), *(0, len(shape) - 1)[len(ends) :])
    return code.domain.reshape(x, [*shape[:first], -1, *shape[last + 1 :]])


def unflattened(code: CodeReader, node: ast.Call, method: bool) -> Any:
    """Read x.unflatten(2, (2, 3))."""
    arguments = operands(code, node, method, True)
    settings = {str(keyword.arg): code.ev(keyword.value) for keyword in node.keywords}
    arguments += [settings.pop(name) for name in ("dim", "sizes") if name in settings]
    if settings or len(arguments) != 3 or not isinstance(arguments[1], int) or not isinstance(arguments[2], tuple):
        raise code.refuse(node, "unflatten expects an axis and the lengths of its parts")
    x, axis, lengths = arguments
    shape = code.domain.attribute(x, "shape")
    if not -len(shape) <= axis < len(shape):
        raise code.refuse(node, f"axis {axis} is out of range for {len(shape)} axes")
    axis %= len(shape)
    return code.domain.reshape(x, [*shape[:axis], *lengths, *shape[axis + 1 :]])


def length(code: CodeReader, node: ast.Call, method: bool) -> Any:
    x, *axis = operands(code, node, method)
    shape = code.domain.attribute(x, "shape")
    return shape[axis[0]] if axis else shape if method else shape[0]


REDUCED_BY = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any", "logaddexp": "logsumexp"}  # fmt: skip
ACCUMULATED_BY = {"add": "cumsum", "multiply": "cumprod"}


def ufunc_method(code: CodeReader, node: ast.Call, ufunc: str) -> Any:
    """Read np.add.outer(x, y), np.add.reduce(x) or np.add.accumulate(x)."""
    name = called(node)
    arguments = [code.ev(argument) for argument in node.args]
    keywords = {str(keyword.arg): code.ev(keyword.value) for keyword in node.keywords}
    if name == "outer":
        x, y = map(as_value, bound_to("outer", "x, y", arguments, keywords))
        return code.applied(node, ufunc, [x.moved((*x.dims, *[()] * len(y.dims))), y], {})
    known = {"reduce": REDUCED_BY, "accumulate": ACCUMULATED_BY}.get(name, {})
    if ufunc not in known:
        raise code.refuse(node, f"{ufunc}.{name} is not supported")
    parameters = "x, axis=0, -dtype=None, -out=None" + (", keepdims=False" if name == "reduce" else "")
    x, *rest = bound_to(f"{ufunc}.{name}", parameters, arguments, keywords)
    return code.applied(node, known[ufunc], [x], dict(zip(("axis", "keepdims"), rest)))


def embedded(code: CodeReader, node: ast.Call, method: bool) -> Any:
    """F.embedding(I, E), and torch.embedding(E, I)"""
    arguments = operands(code, node, False)
    if len(arguments) != 2:
        raise code.refuse(node, "embedding expects a table and indices")
    table_first = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "torch"
    table, index = arguments if table_first else arguments[::-1]
    return code.domain.apply(OPERATIONS["take"][0], [table, index, 0])


def sized(code: CodeReader, node: ast.Call, method: bool) -> Any:
    """np.ones((n, m)), torch.ones(n, m)"""
    name = called(node)
    shape = operands(code, node, False, True)
    dtype = [keyword.value for keyword in node.keywords if keyword.arg == "dtype"]
    if method or not shape or len(dtype) < len(node.keywords):
        raise code.refuse(node, f"{name} expects a shape, and dtype= at most")
    whole = shape[0] if isinstance(shape[0], tuple) else tuple(shape)
    if isinstance(shape[0], tuple) and len(shape) > 1:
        raise code.refuse(node, f"{name} expects one shape")
    return code.domain.apply(OPERATIONS[name][0], [whole, code.ev(dtype[0]) if dtype else None])


def dropout(code: CodeReader, node: ast.Call, method: bool) -> Any:
    code.domain.remark("dropout is left out")
    return code.ev(node.args[0])


def converted(code: CodeReader, node: ast.Call, method: bool) -> Any:
    """x.astype(float), x.float(), float("-inf"): a condition counts 1 where it holds."""
    if not method:
        if len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and node.args[0].value in ("inf", "-inf"):
            return float(str(node.args[0].value))
        raise code.refuse(node, "float of this is not supported")
    x, *types = operands(code, node, method)
    (dtype,) = types or [DTYPES.get(called(node))]
    if not isinstance(dtype, Dtype):
        raise code.refuse(node, "only a type of numbers is supported here")
    return code.domain.converted(x, dtype)


SPECIAL.update({
    "ufunc": ufunc_method,
    "reshape": reshaped, "view": reshaped, "flatten": flattened, "ravel": flattened, "unflatten": unflattened,
    **dict.fromkeys(("size", "len"), length), "embedding": embedded, "ones": sized, "zeros": sized, "dropout": dropout,
    **dict.fromkeys(("float", "double", "half", "astype", "to", "type", "int", "long", "bool"), converted),
})  # fmt: skip
