"""The mutants of a file: each changes one operator, constant or branch of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Mutant:
    """A change of one piece of a file: which, from which byte to which, and what stands there then."""

    path: str
    line: int
    start: int
    end: int
    before: str
    after: str
    text: str  # of its first line, by which it is known where lines are added or taken out above it

    @property
    def package(self) -> str:
        return self.path.split("/")[1]

    @property
    def module(self) -> str:
        return self.path.rpartition("/")[2].removesuffix(".py")

    def source(self) -> bytes:
        """The file with the change in it."""
        source = (ROOT / self.path).read_bytes()
        return source[: self.start] + self.after.encode() + source[self.end :]

    @property
    def key(self) -> str:
        return f"{self.path}: `{self.text}`: {flat(self.before)} → {flat(self.after)}"

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {flat(self.before)} → {flat(self.after)}"


def flat(text: str) -> str:
    return " ".join(text.split())


# ------------------------------------------------------------------------------------------------------- what is changed
COMPARED = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Add,
    ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip


def changed(node: ast.AST) -> ast.AST | None:
    """The node with its operator, its constant or its branch changed; None where there is nothing of these."""
    match node:
        case ast.Compare(left, [op, *ops], comparators):
            return ast.Compare(left, [COMPARED[type(op)](), *ops], comparators)
        case ast.BoolOp(op, values):
            return ast.BoolOp(ast.And() if isinstance(op, ast.Or) else ast.Or(), values)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            return operand
        case ast.BinOp(left, op, right) if type(op) in COMPUTED:
            return ast.BinOp(left, COMPUTED[type(op)](), right)
        case ast.Constant(bool(value)):
            return ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            return ast.Constant(value + 1)
        case ast.Constant(str(value)):
            return ast.Constant(value + "!")
        case ast.Break():
            return ast.Continue()
        case ast.Continue():
            return ast.Break()
    return None


def branches(node: ast.AST) -> Iterator[ast.expr]:
    """The conditions on which a branch hangs, each of which is turned round."""
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield node.test
    elif isinstance(node, ast.comprehension):
        yield from node.ifs


def idle(node: ast.AST) -> Iterator[ast.AST]:
    """Pieces of a node that are never run, or that change no answer: docstrings, types, imports for types."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node
    if isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation is not None:
        yield node.annotation
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns is not None:
        yield node.returns
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        yield node
    if isinstance(node, (ast.JoinedStr, ast.Assert)):  # pieces of a JoinedStr have no places of their own
        yield node
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and isinstance(node.targets[0], ast.Name):
        if node.targets[0].id[0].isupper() and isinstance(node.value.op, ast.BitOr):  # Operand = Term | int
            yield node


def mutants_of(path: Path) -> list[Mutant]:
    """All single changes of a file, in the order of the text."""
    source = path.read_bytes()
    starts = [0]
    lines = source.splitlines(keepends=True)
    for line in lines:
        starts.append(starts[-1] + len(line))
    mutants: dict[tuple[int, int, str], Mutant] = {}

    def note(node: Any, new: ast.AST) -> None:
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        text = ast.unparse(ast.fix_missing_locations(new))
        after = f"({text})" if isinstance(new, ast.expr) and not isinstance(new, ast.Constant) else text
        name, line = path.relative_to(ROOT).as_posix(), lines[node.lineno - 1].decode().strip()
        mutants[start, end, after] = Mutant(name, node.lineno, start, end, source[start:end].decode(), after, line)

    def visit(node: ast.AST) -> None:
        left_out = {id(part) for part in idle(node)}
        if id(node) in left_out:
            return
        if (new := changed(node)) is not None:
            note(node, new)
        for test in branches(node):
            if not isinstance(test, (ast.Compare, ast.UnaryOp)):  # these are turned round by themselves
                note(test, ast.UnaryOp(ast.Not(), test))
        for child in ast.iter_child_nodes(node):
            if id(child) not in left_out:
                visit(child)

    visit(ast.parse(source))
    return [mutants[position] for position in sorted(mutants)]


def drawn(count: int, seed: int, packages: list[str]) -> list[Mutant]:
    """`count` mutants of these packages, each equally likely; those of unchanged lines stay the same when others change."""
    files = [path for package in packages for path in sorted((ROOT / "namedtensor" / package).rglob("*.py"))]
    every = [mutant for path in files for mutant in mutants_of(path)]
    return sorted(every, key=lambda mutant: sha256(f"{seed} {mutant.key}".encode()).digest())[:count]
