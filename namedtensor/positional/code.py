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
    repetition_operations,
    selection_operations,
    view_operations,
    window_operations,
)
from .code_expressions import CodeExpressions
from .library_values import LibraryWalk, library_of
from .matrix_leaves import Choose
from .operations import MisuseError, Pair, Truth, to_value
from .program import FormulaLine, TranslatedProgram
from .refusals import make_refusal
from .values import Leaf

TORCH = re.compile(
    r"(?<![\w.])(?:torch|F|nn)\.|\b(?:dim|dims|dim0|keepdim|start_dim|end_dim)=|\.(?:view|permute|unsqueeze|masked_fill|mT)\b|\.flatten\(-?\d"
)
NUMPY = re.compile(r"\b(?:np|numpy|jnp)\.|\b(?:axis|keepdims)=")
MAX_NODES = 5_000


class CodeReader(CodeExpressions):
    """The reader of array code, which translates it to a program."""

    compared_with = "the library's own value"

    def __init__(self, source: str, shapes: Mapping[str, Any], choose: Choose, kind: str = "numpy"):
        super().__init__(shapes)
        self.source, self.choose, self.kind = source, choose, kind
        self.torch = bool(TORCH.search(source)) or kind == "torch"
        self.tree = self.parsed(source)
        self.torch = library_of(self.tree, self.torch) == "torch"
        self.known_library = self.torch or NUMPY.search(source) is not None

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
        if isinstance(value, Truth):
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
        """Return whether the last statement defines or returns the value of the formula's last line."""
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
        self.compared_with = walk.words
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
