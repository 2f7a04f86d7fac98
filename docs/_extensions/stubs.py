"""Stubs for the names that are created at run time: `namedtensor/__init__.pyi` and `namedtensor/core/behavior.pyi`.

python docs/_extensions/stubs.py --write
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

import namedtensor as nt  # noqa: E402
from namedtensor.programs import api  # noqa: E402
from namedtensor.tensors import lazy, methods  # noqa: E402
from namedtensor.tensors.functions import FUNCTIONS, METHODS  # noqa: E402

LINE_LENGTH = 120  # of ruff in pyproject.toml
HEAD = '''\
"""{about}

Written by `python docs/_extensions/stubs.py --write` from the records of the operators; a test compares.
"""

'''
TYPES = {  # of parameters of functions that are created from records
    "X": "Operand",
    "Y": "Operand",
    "Z": "Operand",
    "tensors": "Operand | Iterable[Operand]",
    "axis": "Axes",
    "size": "SupportsIndex",
    "q": "float",
    "ddof": "float",
    "sizes": "Mapping[str, int]",
    "p": "float",
    "n": "float",
    "eps": "float",
}
BEHAVIOUR = """\
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, Self, SupportsIndex, TypeAlias

class HasShape(Protocol):
    \"\"\"An array of any library, or a tensor.\"\"\"

    @property
    def dtype(self) -> Any: ...
    @property
    def shape(self) -> Any: ...

Axes: TypeAlias = str | Iterable[str]
Operand: TypeAlias = float | HasShape

class Behavior:
    def __hash__(self) -> int: ...
"""
PUBLIC = """\
from collections.abc import Collection, Iterable, Mapping
from typing import Any, SupportsIndex

from grammar.errors import NotationError as NotationError
from grammar.errors import NotationWarning as NotationWarning

from . import initializers as initializers
from . import layers as layers
"""
TYPES_USED = {  # in signatures of functions that are created from methods or records
    ".checking.report": ("CheckResult",),
    ".core.behavior": ("Axes", "Operand"),
    ".display.diagram": ("Diagram",),
    ".planning.cost": ("Cost",),
    ".programs.arguments": ("Values",),
    ".programs.call_cache": ("FormulaLike",),
    ".programs.compiled": ("CompiledFormula",),
    ".programs.initializers": ("Initializers",),
    ".programs.program": ("EntryPoint",),
}


def behavior() -> str:
    """Return the stub of the methods that `tensors/methods.py` adds to NamedTensor."""
    text = HEAD.format(about="What NamedTensor is given by `tensors/methods.py`.") + BEHAVIOUR
    operators = dict.fromkeys(name for pair in methods.INFIX.values() for name in pair)
    for name in (*operators, *methods.COMPARISONS.values()):
        text += operator(name)
    lazily = {name: lazy.load(name) for name in lazy.MODULE}
    for name, function in {**methods.WRITTEN, **lazily, **METHODS}.items():
        text += method(name, function)
    return text.rstrip() + "\n"


def operator(name: str) -> str:
    if name in ("__eq__", "__ne__"):
        return f"    def {name}(self, other: object) -> Self: ...  # type: ignore[override]\n"
    return f"    def {name}(self, other: Operand) -> Self: ...\n"


def method(name: str, function: Callable[..., Any]) -> str:
    first, *rest = inspect.signature(function).parameters.values()
    local = function is FUNCTIONS.get(function.__name__)
    remaining = [first] if first.kind is first.VAR_POSITIONAL else []
    parameters = ["self", *(text.replace("NamedTensor", "Self") for text in listed([*remaining, *rest], local))]
    gives = "Self" if local else str(inspect.signature(function).return_annotation).replace("NamedTensor", "Self")
    return defined(name, parameters, gives, None if name.startswith("__") else function.__doc__, "    ")


def public() -> str:
    """Return the stub of the package."""
    text = HEAD.format(about=(nt.__doc__ or "").partition("\n")[0]) + PUBLIC
    for module in sorted({*nt.HOMES, *TYPES_USED}):
        if module in TYPES_USED:
            text += f"from {module} import {', '.join(TYPES_USED[module])}\n"
        exported = sorted({*nt.HOMES.get(module, ())} - {*api.FUNCTIONS}, key=sorting)
        text += "".join(f"from {module} import {name} as {name}\n" for name in exported)
    text += "\n__version__: str\n__all__ = [\n"
    text += "".join(f'    "{name}",\n' for name in nt.__all__) + "]\n\n"
    for name, function in api.FUNCTIONS.items():
        signature = inspect.signature(function)
        text += defined(
            name, listed(signature.parameters.values(), False), signature.return_annotation, function.__doc__, ""
        )
    for name, function in FUNCTIONS.items():
        if name in nt.HOME:
            continue
        parameters = listed(inspect.signature(function).parameters.values(), True)
        text += defined(name, parameters, "NamedTensor", function.__doc__, "")
    return text.rstrip() + "\n"


def sorting(name: str) -> tuple[bool, str]:
    return not name[0].isupper(), name


def listed(parameters: Any, of_record: bool) -> Iterator[str]:
    """Return parameters in the form of a stub."""
    parameters = list(parameters)
    for index, parameter in enumerate(parameters):
        before = parameters[index - 1] if index else None
        if parameter.kind is parameter.KEYWORD_ONLY and (
            before is None or before.kind not in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        ):
            yield "*"
        type_ = TYPES[parameter.name] if of_record else parameter.annotation
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        if parameter.default is parameter.empty:
            yield f"{stars}{parameter.name}: {type_}"
        else:
            optional = " | None" if parameter.default is None and "None" not in type_ else ""
            default = f'"{parameter.default}"' if isinstance(parameter.default, str) else repr(parameter.default)
            yield f"{parameter.name}: {type_}{optional} = {default}"
        if parameter.kind is parameter.POSITIONAL_ONLY and all(
            after.kind is not parameter.kind for after in parameters[index + 1 :]
        ):
            yield "/"


def defined(name: str, parameters: Any, gives: str, documentation: str | None, margin: str) -> str:
    parameters = list(parameters)
    line = f"{margin}def {name}({', '.join(parameters)}) -> {gives}:"
    if len(line) + (0 if documentation else 4) > LINE_LENGTH:
        one_line = f"{margin}    {', '.join(parameters)}"
        lines = (
            one_line
            if len(one_line) <= LINE_LENGTH
            else "\n".join(f"{margin}    {parameter}," for parameter in parameters)
        )
        line = f"{margin}def {name}(\n{lines}\n{margin}) -> {gives}:"
    if documentation is None:
        return f"{line} ...\n"
    lines = inspect.cleandoc(documentation).splitlines()
    inside = "".join(f"{margin}    {text}".rstrip() + "\n" for text in lines[1:])
    end = f"{margin}    " if lines[1:] else ""
    prefix = "r" if "\\" in documentation else ""
    return f'{line}\n{margin}    {prefix}"""{lines[0]}' + ("\n" if lines[1:] else "") + f'{inside}{end}"""\n\n'


STUBS = {
    ROOT / "namedtensor" / "__init__.pyi": public,
    ROOT / "namedtensor" / "core" / "behavior.pyi": behavior,
}

if __name__ == "__main__":
    for path, write in STUBS.items():
        if "--write" in sys.argv:
            path.write_text(write(), encoding="utf-8")
        elif path.read_text(encoding="utf-8") != write():
            sys.exit(f"{path} is not what the records say: write it anew with --write")
