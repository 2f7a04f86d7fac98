"""Named tensor notation, executable.

    import namedtensor as nt

    A = nt.tensor([[3, 1, 4], [1, 5, 9], [2, 6, 5]], "height width")
    nt.evaluate("softmax_{width} A ⊙_{width} A", A=A)

A formula is a string, in text or in the LaTeX of the paper *Named Tensor Notation* (Chiang, Rush, Barak). It is parsed
by `grammar`, checked and planned here, and run on arrays with named axes. What needs arrays is imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError

from .formula import Formula, Program, check, derivative, evaluate, explain, formula, load, program
from .limits import Limits
from .registered import function

if TYPE_CHECKING:
    from .tensors import NamedTensor, allclose, from_xarray, tensor

__version__ = "0.1.0"

FORMULAS = ("check", "derivative", "evaluate", "explain", "formula", "function", "load", "program")
TENSORS = ("NamedTensor", "allclose", "from_xarray", "tensor")


def _functions() -> dict[str, Any]:
    """The functions made of the operators' records; none while they are being made."""
    import importlib

    return getattr(importlib.import_module(".functions", __name__), "FUNCTIONS", {})


def __getattr__(name: str) -> Any:
    if name in TENSORS:
        import importlib

        module = importlib.import_module(".tensors", __name__)
        found = {each: getattr(module, each) for each in TENSORS}
        globals().update(found)
        return found[name]
    if not name.startswith("_") and name in (functions := _functions()):
        globals()[name] = functions[name]
        return functions[name]
    raise AttributeError(f"module 'namedtensor' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *TENSORS, *_functions()})


__all__ = ["Formula", "Limits", "NotationError", "Program", *FORMULAS, *TENSORS]
