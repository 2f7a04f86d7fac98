"""Named tensor notation, executable.

    import namedtensor as nt

    A = nt.tensor([[3, 1, 4], [1, 5, 9], [2, 6, 5]], "height width")
    nt.evaluate("softmax_{width} A ⊙_{width} A", A=A)

A formula is a string, in text or in the LaTeX of the paper *Named Tensor Notation* (Chiang, Rush, Barak). It is parsed
by `grammar`, checked and planned here, and run on arrays with named axes. What needs arrays is imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .core.shadowed import sentence, warn_if_hidden

try:
    from grammar.errors import NotationError, NotationWarning
except ImportError as problem:  # a grammar.py of one's own stands in the way
    raise ImportError(sentence("grammar") or str(problem)) from None

from .core.limits import Limits
from .operators.user_functions import function
from .programs.api import (
    check,
    compile,
    cost,
    derivative,
    diagram,
    formula,
    init,
    load,
    parameters,
    program,
    to_latex,
    to_python,
    to_text,
)
from .programs.evaluate import evaluate, explain
from .programs.program import Formula, Program

if TYPE_CHECKING:
    from .core.tensor import NamedTensor, allclose, from_xarray, tensor
    from .display.pictures import picture
    from .files.safetensors import load_tensors, save_tensors
    from .tensors.digits import set_digits

__version__ = "0.1.0"
warn_if_hidden("transformer")

FORMULAS = (
    *("formula", "function", "load", "program"),
    *("check", "compile", "cost", "derivative", "diagram", "evaluate", "explain", "init", "parameters"),
    *("to_latex", "to_python", "to_text"),
)
LATER = {  # names that need arrays, or are seldom used -> the module that has them
    **dict.fromkeys(("NamedTensor", "allclose", "from_xarray", "tensor"), ".core.tensor"),
    **dict.fromkeys(("load_tensors", "save_tensors"), ".files.safetensors"),
    "picture": ".display.pictures",
    "set_digits": ".tensors.digits",
}


def _function_names() -> set[str]:
    """The names of the functions that `functions` makes of the operators' records; the records need no arrays."""
    from .operators import REGISTRY

    names = {name for record in REGISTRY.values() for name in (record.python_name, *record.aliases)}
    return {name for name in names if name.isidentifier() and name.isascii()}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in LATER:
        globals()[name] = getattr(import_module(LATER[name], __name__), name)
        return globals()[name]
    if name in _function_names():
        globals()[name] = import_module(".tensors.functions", __name__).FUNCTIONS[name]
        return globals()[name]
    from .core.suggestions import no_attribute

    raise no_attribute("module 'namedtensor'", name, [*__all__, *sorted(_function_names())])


def __dir__() -> list[str]:
    return sorted({*globals(), *LATER, *_function_names()})


__all__ = ["Formula", "Limits", "NotationError", "NotationWarning", "Program", *FORMULAS, *LATER]
