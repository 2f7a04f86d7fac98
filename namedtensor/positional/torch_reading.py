"""`nt.from_torch`, which needs PyTorch: it is imported when it is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError

if TYPE_CHECKING:
    from .torch_module import ReadModule


def from_torch(
    module: Any,
    /,
    *inputs: Any,
    names: Mapping[str, str] | None = None,
    output: int | str = 0,
    training: bool = False,
    **named: Any,
) -> ReadModule:
    """Convert a PyTorch module or function to a program.

    It is run on tensors like the example inputs, in evaluation mode, and each ATen operation is read by a rule. Axes
    get their names from `names` and from the axes they are aligned with; views and permutations leave nothing. The
    result has the values of the module to 1e-5 on other inputs and, if the module accepts them, other sizes.

    Parameters
    ----------
    module : torch.nn.Module or callable
        What is read.
    *inputs, **named
        Example inputs: tensors, or trees of tensors; other values are passed as they are.
    names : mapping from str to str, optional
        Axes in order, by input or parameter: `{"x": "batch seq chans", "q.weight": "(heads[8] key) chans"}`.
    output : int or str, default 0
        Which of several results is read, by number or by name.
    training : bool, default False
        Whether the module is read as it acts in training: batch norm by the statistics of the batch, dropout by a mask of 0 and 1
        that is an input of the program. Other random layers are rejected.

    Returns
    -------
    ReadModule
        The program, callable on arrays, with the line of the source for each of its parts.

    Raises
    ------
    NotationError
        Where something has no form in the notation: the operator, the file and the line; and where the values would differ.

    Examples
    --------
    >>> import pytest, namedtensor as nt
    >>> torch = pytest.importorskip("torch")
    >>> read = nt.from_torch(lambda x, y: torch.softmax(x @ y.T, -1), torch.randn(2, 3), torch.randn(4, 3), names={"x": "query key", "y": "seq key"})
    >>> print(read.formula)
    softmax_{seq}(x ⊙_{key} y)
    """
    try:
        from .torch_module import read
    except ImportError:
        raise NotationError(408, "from_torch needs PyTorch", hint="pip install '.[torch]'") from None
    return read(module, inputs, named, names or {}, output, training)
