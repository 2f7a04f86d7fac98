"""Contracts that every module of the product keeps, read from its syntax tree: no private names of dependencies, no `ctypes`, no
garbage collector or allocator of the process, no decision by the text of an error.

What breaks one stands in a table here with its reason; an entry that is needed no longer fails, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = ("grammar", "namedtensor", "transformer")
PUBLIC = {  # as Python documents them: of a NamedTuple, of `os` and of `sys`
    "_replace", "_asdict", "_fields", "_make", "_field_defaults", "_exit", "_getframe",
}  # fmt: skip

TORCH = "namedtensor/backends/torch.py"
TRACE = "under jax.vmap and jax.lax.scan a tensor's names depend on the trace, which has no public name; the rest works without"
RECORDED = (
    "the operations that a module runs, with the names of their arguments: PyTorch documents this mode, not its module"
)
NESTED = "the tensors within the arguments and results of a module, which has no public name"
IMPORTS_IN_PROGRESS = "the imports of other threads, for which a fork waits"
PRIVATE_NAMES: dict[tuple[str, str], str] = {
    ("grammar/locks.py", "importlib._bootstrap"): IMPORTS_IN_PROGRESS,
    ("grammar/locks.py", "_imp"): IMPORTS_IN_PROGRESS,
    ("grammar/locks.py", "_module_locks"): IMPORTS_IN_PROGRESS,
    (TORCH, "torch._assert_async"): "an assertion on data under torch.compile, which has no public name",
    ("namedtensor/tensors/mapped_axes.py", "_trace"): TRACE,
    ("namedtensor/tensors/mapped_axes.py", "_trace_ref"): TRACE,
    ("namedtensor/positional/torch_trace.py", "torch.utils._python_dispatch.TorchDispatchMode"): RECORDED,
    ("namedtensor/positional/torch_trace.py", "_schema"): RECORDED,
    **dict.fromkeys([(f"namedtensor/positional/{name}.py", "torch.utils._pytree") for name in ("torch_trace", "torch_records", "torch_module")], NESTED),
}  # fmt: skip
PROCESS: dict[tuple[str, str], str] = {  # effects on the process, and why
    ("namedtensor/cli/servers.py", name): "the command owns its process, and evaluates nothing for others in it"
    for name in ("gc", "gc.freeze", "gc.set_threshold")
}
FAILED = "NumPy, PyTorch and JAX say only in a sentence which property of the matrix is missing"
ERROR_TEXTS: dict[tuple[str, str], str] = {
    ("namedtensor/planning/failures.py", "'positive' in text"): FAILED,
    ("namedtensor/planning/failures.py", "'definite' in text"): FAILED,
    ("namedtensor/planning/failures.py", "'ingular' in text"): FAILED,
    ("namedtensor/core/memory.py", "'out of memory' in text"): "JAX and CUDA say it only in the text of a RuntimeError",
    ("namedtensor/core/memory.py", "'allocate memory' in text"): "PyTorch says it only in the text of a RuntimeError",
    ("namedtensor/files/formats.py", "'pickle' in text.lower()"): "NumPy refuses objects in a file by a ValueError like any other",
    ("namedtensor/sharding/device_report.py", "NEEDED.search(str(problem))"): "XLA says only in a sentence how much memory a program needs",
}  # fmt: skip


@cache
def modules() -> dict[str, ast.Module]:
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for package in OURS
        for path in sorted((ROOT / package).rglob("*.py"))
    }


def is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


# ------------------------------------------------------------------------------------------------ private names of others
def defined_names(tree: ast.AST) -> Iterator[str]:
    """The names that a module gives to its functions, classes, variables and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr


def member_names(tree: ast.AST) -> Iterator[str]:
    """The names of the methods and attributes of a module's classes."""
    for owner in ast.walk(tree):
        if isinstance(owner, ast.ClassDef):
            yield from (node.name for node in owner.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
            for node in ast.walk(owner):
                if (
                    isinstance(node, ast.Attribute)
                    and isinstance(node.ctx, ast.Store)
                    and ast.unparse(node.value) == "self"
                ):
                    yield node.attr
                elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    yield node.target.id
                elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__slots__":
                    yield from (part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant))


def private_names(tree: ast.AST, texts: set[str]) -> Iterator[str]:
    """The private names of others that a module imports or reads, also in the code that it generates."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if any(map(is_private, alias.name.split("."))))
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] not in OURS:
            paths = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (path for path in paths if any(map(is_private, path.split("."))))
        elif isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in texts:
            yield node.attr
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr", "setattr", "attrgetter"):
            names = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
            yield from (name for name in names if is_private(name) and name not in texts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"\b(?:torch|jax|numpy|np|xp|lark)(?:\.\w+)*\._[A-Za-z]\w*", node.value)


# ----------------------------------------------------------------------------------------------------------- the process
COLLECTOR = {"disable", "enable", "set_threshold", "freeze", "unfreeze", "collect", "set_debug", "callbacks"}
ALLOCATOR = re.compile(r"\bmallopt\b|\bmalloc_trim\b|\bmallinfo\b|MALLOC_\w+_|\bM_(MMAP|TRIM)_THRESHOLD\b")


def process_effects(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("__import__", "import_module"):
            names = [arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant)]
        elif isinstance(node, ast.Attribute):
            names = [f"gc.{node.attr}"] if ast.unparse(node.value) == "gc" and node.attr in COLLECTOR else []
            names += [node.attr] if ALLOCATOR.search(node.attr) else []
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [match[0] for match in ALLOCATOR.finditer(node.value)]
        else:
            continue
        for name in names:
            if name.split(".")[0] in ("ctypes", "gc", "cffi", "_ctypes") or ALLOCATOR.search(name):
                yield name


# ------------------------------------------------------------------------------------------------------- texts of errors
LOOKING = {
    "startswith",
    "endswith",
    "find",
    "rfind",
    "index",
    "rindex",
    "count",
    "search",
    "match",
    "fullmatch",
    "findall",
    "finditer",
}


def error_texts_read(tree: ast.AST) -> Iterator[str]:
    """Where the text of an error is compared or searched; to show a part of it is none of that."""
    scopes = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for scope in [tree, *scopes]:
        yield from _texts_read_in(scope)


def _texts_read_in(scope: ast.AST) -> Iterator[str]:
    nodes = [*_own_nodes(scope)]
    errors, texts = {*_error_names(scope, nodes)}, set()
    for node in nodes:
        if isinstance(node, ast.Assign) and _holds_text(node.value, errors, texts):
            texts |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.NamedExpr) and _holds_text(node.value, errors, texts):
            texts.add(node.target.id)
    for node in nodes:
        if isinstance(node, ast.Compare) and not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOOKING:
            parts = [node.func.value, *node.args]
        else:
            continue
        if any(_holds_text(part, errors, texts) for part in parts):
            yield ast.unparse(node)


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope in the order of the text, without those of the functions in it."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield child
            yield from _own_nodes(child)


def _error_names(scope: ast.AST, nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name
    if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        for posonlyarg in [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]:
            if posonlyarg.annotation is not None and re.search(
                r"Error\b|Exception\b", ast.unparse(posonlyarg.annotation)
            ):
                yield posonlyarg.arg


def _holds_text(node: ast.AST, errors: set[str], texts: set[str]) -> bool:
    """Whether an expression is made of the text of an error."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id in texts:
            return True
        if isinstance(part, ast.Call) and ast.unparse(part.func) in ("str", "repr", "format"):
            inner = part.args
        elif (
            isinstance(part, ast.FormattedValue)
            or isinstance(part, ast.Attribute)
            and part.attr in ("args", "message", "msg", "reason_text", "full")
        ):
            inner = [part.value]
        else:
            continue
        if any(isinstance(part, ast.Name) and part.id in errors for part in inner):
            return True
    return False


# --------------------------------------------------------------------------------------------------------------- the tests
def breaches(read, *arguments) -> set[tuple[str, str]]:
    return {(name, what) for name, tree in modules().items() for what in read(tree, *arguments)}


@pytest.mark.slow
def test_no_module_reads_private_names_of_others():
    members = {name for tree in modules().values() for name in member_names(tree)} | PUBLIC
    local: dict[str, set[str]] = {}
    for name, tree in modules().items():
        local.setdefault(name.rpartition("/")[0], set()).update(defined_names(tree))
    result = {
        (name, what)
        for name, tree in modules().items()
        for what in private_names(tree, members | local[name.rpartition("/")[0]])
    }
    assert result == PRIVATE_NAMES.keys()


@pytest.mark.slow
def test_no_module_changes_the_collector_or_the_allocator_or_calls_foreign_code():
    assert breaches(process_effects) == PROCESS.keys()


@pytest.mark.slow
def test_no_module_compares_or_searches_the_text_of_an_error():
    assert breaches(error_texts_read) == ERROR_TEXTS.keys()


BREAKS = {
    private_names: (
        "from lark.parsers._table import T", "import numpy._core", "import lark\nlark.x._table", "getattr(x, '_src')",
        "text = 'torch._C._x(y)'", "x.y._parse_table.states",
    ),
    process_effects: (
        "import ctypes", "from gc import disable", "import gc\ngc.freeze()", "__import__('ctypes')", "libc.mallopt(1, 2)",
        "environ = {'MALLOC_ARENA_': 1}", "import_module('gc')",
    ),
    error_texts_read: (
        "try: pass\nexcept E as error:\n    if 'a' in str(error): pass",
        "try: pass\nexcept E as error:\n    if error.args[0] == 'a': pass",
        "def f(error: ValueError):\n    return str(error).startswith('a')",
        "def f(problem: NotationError | None):\n    text = f'{problem}'\n    return re.search('a', text)",
        "def f(problem: Exception):\n    return problem.message.endswith('a')",
    ),
}  # fmt: skip
KEEPS = {
    private_names: ("self._own", "x.__name__", "'a._b'", "x._replace(a=1)", "from ._own import name"),
    process_effects: ("x.collect()", "import graphlib", "a.disable()"),
    error_texts_read: (
        "try: pass\nexcept E as error:\n    if error.code == 301: print(str(error))",
        "def f(error: ValueError):\n    why = None\n    why = str(error)\n    return why is None",
        "def f(error: ValueError):\n    raise E(str(error).splitlines()[0])",
    ),
}


@pytest.mark.parametrize(
    "read, text, breaks",
    [(read, text, table is BREAKS) for table in (BREAKS, KEEPS) for read, texts in table.items() for text in texts],
)
def test_the_contracts_see_what_they_forbid(read, text, breaks):
    arguments = ({"_own"} | PUBLIC,) if read is private_names else ()
    assert bool([*read(ast.parse(text), *arguments)]) == breaks
