"""Named tensor notation, executable.

    import namedtensor as nt

    A = nt.tensor([[3, 1, 4], [1, 5, 9], [2, 6, 5]], "height width")
    nt.evaluate("softmax_{width} A ⊙_{width} A", A=A)

A formula is a string, in text or in the LaTeX of the paper *Named Tensor Notation* (Chiang, Rush, Barak). It is parsed
by `grammar`, checked and planned here, and run on arrays with named axes. What needs arrays is imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError, NotationWarning

from .formula import Formula, Program, check, derivative, evaluate, explain, formula, load, program
from .limits import Limits
from .registered import function

if TYPE_CHECKING:
    from .display.pictures import picture
    from .tensor_files import load_tensors, save_tensors
    from .tensors import NamedTensor, allclose, from_xarray, tensor

__version__ = "0.1.0"

FORMULAS = ("check", "derivative", "evaluate", "explain", "formula", "function", "load", "program")
TENSORS = ("NamedTensor", "allclose", "from_xarray", "tensor")
FILES = ("load_tensors", "save_tensors")
PICTURES = ("picture",)


def _function_names() -> set[str]:
    """The names of the functions that `functions` makes of the operators' records; the records need no arrays."""
    from .operators import REGISTRY

    names = {name for record in REGISTRY.values() for name in (record.python_name, *record.aliases)}
    return {name for name in names if name.isidentifier() and name.isascii()}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in FILES:
        globals()[name] = getattr(import_module(".tensor_files", __name__), name)
        return globals()[name]
    if name in PICTURES:
        globals()[name] = import_module(".display.pictures", __name__).picture
        return globals()[name]
    if name in TENSORS:
        module = import_module(".tensors", __name__)
        globals().update({each: getattr(module, each) for each in TENSORS})
        return globals()[name]
    if name in _function_names():
        globals()[name] = import_module(".functions", __name__).FUNCTIONS[name]
        return globals()[name]
    raise AttributeError(f"module 'namedtensor' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *TENSORS, *FILES, *PICTURES, *_function_names()})


__all__ = ["Formula", "Limits", "NotationError", "NotationWarning", "Program", *FORMULAS, *TENSORS, *FILES, *PICTURES]
