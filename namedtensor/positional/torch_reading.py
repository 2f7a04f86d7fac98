"""`nt.from_torch`, which imports PyTorch only when it is called."""

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

    The module runs in evaluation mode on tensors like the example inputs, and a rule translates each ATen operation.
    Axes get their names from `names` and from the axes that they are aligned with. Views and permutations do not appear
    in the program. On other inputs, and on other sizes if the module accepts them, the program's values agree with the
    module's values to 1e-5.

    Parameters
    ----------
    module : torch.nn.Module or callable
        The module or function to convert.
    *inputs, **named
        Example inputs, which are tensors or trees of tensors. Other values are passed to the module unchanged.
    names : mapping from str to str, optional
        The axes of inputs and parameters, such as `{"x": "batch seq chans", "q.weight": "(heads[8] key) chans"}`.
    output : int or str, default 0
        The number or the name of the result to convert if the module returns several results.
    training : bool, default False
        Whether the module is converted in training mode. Batch norm then uses the statistics of the batch, and dropout
        uses a mask of zeros and ones that is an input of the program. Other random layers are rejected.

    Returns
    -------
    ReadModule
        The program, which can be called on arrays. It records the source line of each node.

    Raises
    ------
    NotationError
        If an operator cannot be expressed in the notation, with its file and line, or if the values would differ.

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
