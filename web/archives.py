"""Compiled modules for the whole file; it runs in the Python that the file will hold.

Of the project goes in what the packages of START can import, anywhere in a file; of the standard library what that
imports with what this can import, and of the rest what stands at the top of a file or is of the same package.
"""

import ast
import builtins
import dataclasses
import io
import marshal
import sys
import types
import zipfile
from contextlib import suppress
from importlib import import_module
from importlib._bootstrap_external import _code_to_timestamp_pyc
from pathlib import Path

START = ("namedtensor.webpage", "namedtensor.backends")  # all files of these packages, which are found by name
LEFT_OUT = {"bdb", "cmd", "doctest", "pdb", "pydoc", "unittest"}  # what others import to be tested or looked into
ALWAYS = ("encodings.ascii", "encodings.latin_1", "encodings.utf_8", "encodings.idna", "encodings.cp437")
LOADED = tuple(name for name in sys.modules if name != "__main__")


def module_of(path):
    parts = path.removesuffix(".py").split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(name, path, code, everywhere):
    """The modules that a file names in its imports: at the top, and inside functions those of its package, or all."""
    package = name.split(".") if path.endswith("__init__.py") else name.split(".")[:-1]
    waiting = [(node, True) for node in ast.parse(code).body]
    while waiting:
        node, top = waiting.pop()
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            names = [source, *(f"{source}.{alias.name}" for alias in node.names)]
        inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        waiting += [(child_node, top and not inside) for child_node in ast.iter_child_nodes(node)]
        word = name.split(".")[0] + "."
        yield from (text for text in names if top or everywhere or text.startswith(word))


def reached(files, starts, everywhere):
    """The paths of the modules that are reached from some, and the names that are no module of these files.

    `everywhere(name)` says of which modules the imports inside functions count too.
    """
    paths = {module_of(path): path for path in files if path.endswith(".py")}
    seen, others, waiting = set(), set(), list(starts)
    while waiting:
        name = waiting.pop()
        if name.split(".")[0] in LEFT_OUT:
            continue
        if name in paths and name not in seen:
            seen.add(name)
            waiting += imported(name, paths[name], files[paths[name]], everywhere(name))
        elif name not in paths:
            others.add(name)
        if "." in name:
            waiting.append(name.rpartition(".")[0])
    return {paths[name] for name in seen}, others


def bare(code):
    """Without the table of lines, which nobody reads in a page and which packs badly; docstrings go by `optimize=2`."""
    constants = tuple(
        bare(co_const) if isinstance(co_const, types.CodeType) else co_const for co_const in code.co_consts
    )
    return code.replace(co_consts=constants, co_linetable=b"")


def archive(files):
    """Stored, and not packed: what is outside packs all of it at once."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as zip_file:
        for name, data in sorted(files.items()):
            if name.endswith(".py"):
                code = compile(data, name, "exec", dont_inherit=True, optimize=2)
                name, data = name + "c", bytes(_code_to_timestamp_pyc(bare(code), 0, 0))
            zip_file.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


def methods_of_dataclasses(files):
    """The code of all methods that `dataclasses` writes while these files are imported, by their text."""
    codes = {}

    def execute(text, scope, names):
        codes[text] = marshal.dumps(bare(compile(text, "<string>", "exec")))
        builtins.exec(text, scope, names)

    for path, data in files.items():
        target = Path("/project", path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    sys.path.insert(0, "/project")
    dataclasses.exec = execute
    for path in files:
        if path.endswith(".py"):
            with suppress(ImportError):  # of what needs NumPy
                import_module(module_of(path))
    del dataclasses.exec
    return codes


def carried(files):
    """Code by the names of modules, the files that are none, and code of methods, as `carried.py` reads them."""
    modules, others = {}, {}
    for path, data in sorted(files.items()):
        if path.endswith(".py"):
            code = compile(data, path, "exec", dont_inherit=True, optimize=2)
            modules[module_of(path)] = (path.endswith("__init__.py"), marshal.dumps(bare(code)))
        else:
            others[path] = data
    return marshal.dumps((modules, others, methods_of_dataclasses(files)))


def archives(sources):
    """The standard library as an archive, and the project."""
    project = {path: bytes(data) for path, data in sources.items()}
    with zipfile.ZipFile("/library.zip") as held:
        library = {path: held.read(path) for path in held.namelist() if not path.endswith("/")}
    starts = [module_of(path) for path in project if path.endswith(".py") and module_of(path).startswith(START)]
    ours, others = reached(project, starts, everywhere=lambda name: True)
    folders = {path.rpartition("/")[0] for path in ours}
    data = {path for path in project if not path.endswith(".py") and path.rpartition("/")[0] in folders}
    theirs, _ = reached(library, [*others, *LOADED, *ALWAYS], everywhere=others.__contains__)
    return [archive({path: library[path] for path in theirs}), carried({path: project[path] for path in ours | data})]
