"""Calls of array code that are not in the table of operations: views, lengths, dropout."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from .code import SPECIAL, Code


# --------------------------------------------------------------------------------------- calls that are not in the table
def reshaped(code: Code, node: ast.Call, method: bool) -> Any:
    if node.keywords:
        raise code.refuse(node, f"the keyword {node.keywords[0].arg} is not supported")
    arguments = [code.ev(each) for each in node.args]
    if method:
        assert isinstance(node.func, ast.Attribute)
        arguments = [code.ev(node.func.value), *arguments]
    shape: Sequence[Any] = arguments[1:]
    if len(shape) == 1 and isinstance(shape[0], tuple):
        shape = shape[0]
    return code.domain.reshape(arguments[0], list(shape))


def flattened(code: Code, node: ast.Call, method: bool) -> Any:
    arguments = [code.ev(each) for each in node.args]
    if method:
        assert isinstance(node.func, ast.Attribute)
        arguments = [code.ev(node.func.value), *arguments]
    if node.keywords or len(arguments) > 2 or (len(arguments) > 1 and not isinstance(arguments[1], int)):
        raise code.refuse(node, "these arguments of flatten are not supported")
    start = arguments[1] if len(arguments) > 1 else 0
    return code.domain.reshape(arguments[0], [*code.domain.attribute(arguments[0], "shape")[:start], -1])


def length(code: Code, node: ast.Call, method: bool) -> Any:
    arguments = [code.ev(each) for each in node.args]
    if method:
        assert isinstance(node.func, ast.Attribute)
        shape = code.domain.attribute(code.ev(node.func.value), "shape")
        return shape[arguments[0]] if arguments else shape
    return code.domain.attribute(arguments[0], "shape")[0]


def dropout(code: Code, node: ast.Call, method: bool) -> Any:
    code.domain.remark("dropout is left out")
    return code.ev(node.args[0])


def as_float(code: Code, node: ast.Call, method: bool) -> Any:
    if method:
        assert isinstance(node.func, ast.Attribute)
        return code.ev(node.func.value)
    if len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and node.args[0].value in ("inf", "-inf"):
        return float(str(node.args[0].value))
    raise code.refuse(node, "float of this is not supported")


SPECIAL.update({
    "reshape": reshaped, "view": reshaped, "flatten": flattened, "ravel": flattened, "size": length, "len": length, "dropout": dropout,
    "float": as_float,
})  # fmt: skip
