"""Matrix products for PyTorch, computed by its bundled oneDNN library if that is faster.

PyTorch passes products in single precision to the BLAS library that it was built with. On processors that Intel did not
make, MKL uses vectors of half the width that the processor supports, whereas oneDNN selects kernels for the actual
processor. In measurements, oneDNN was 2.2 times as fast with AVX-512, and 1.1 times as fast with AVX2. Products in
compiled code are left to `torch.compile`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..core.extents import typical

LEAST = 2**21  # multiply-adds that are worth the 10 µs that a call of oneDNN costs
# the smallest matrix, in elements, that is large for any number of rows: for one row, PyTorch reads it with one core
MATRIX = 2**19

LINEAR = '''
def linear(x, weight, bias=None):
    """Return X Wᵀ + b, computed by oneDNN if all tensors are plain, and differentiable."""
    dense = weight.is_contiguous() or weight.mT.is_contiguous()  # With other strides, oneDNN is a thousand times slower.
    if not dense or not plain(x, weight, x if bias is None else bias):
        return torch.nn.functional.linear(x, weight, bias)
    if any(each is not None and each.requires_grad for each in (x, weight, bias)) and torch.is_grad_enabled():
        return followed_linear.apply(x, weight, bias)
    bias = None if bias is None else bias.contiguous()
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
'''
DERIVATIVE = '''
class followed_linear(torch.autograd.Function):
    """The function X Wᵀ + b, computed by oneDNN, and its derivative."""

    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return linear(x, weight, bias)

    @staticmethod
    def backward(ctx, out):
        x, weight = ctx.saved_tensors
        to_x, to_weight, to_bias = ctx.needs_input_grad
        rows, outs = x.reshape(-1, x.shape[-1]), out.reshape(-1, out.shape[-1])
        narrow = rows.shape[-1] < outs.shape[-1]  # the first factor is copied
        return (
            linear(out, weight.mT) if to_x else None,
            None if not to_weight else linear(rows.mT, outs.mT).mT if narrow else linear(outs.mT, rows.mT),
            outs.sum(0) if to_bias else None,
        )
'''
PLAIN = '''
def plain(*tensors):
    """Return whether these are plain CPU tensors, whose operations nothing records, transforms or casts."""
    if torch.compiler.is_compiling() or torch.jit.is_tracing() or torch.is_autocast_enabled("cpu"):
        return False
    onednn = torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled
    if not onednn or not torch.backends.cpu.get_cpu_capability().startswith("AVX"):
        return False
    try:  # Another version of PyTorch may lack these names.
        modes, forward = torch._C._len_torch_dispatch_stack(), torch.autograd.forward_ad._current_level >= 0
        transformed = torch._C._functorch.peek_interpreter_stack() is not None
        if modes or forward or transformed or not torch.ops.mkldnn._linear_pointwise:
            return False
    except AttributeError:
        return False
    kinds = (torch.Tensor, torch.nn.Parameter)
    return all(
        type(each) in kinds and each.is_cpu and each.layout is torch.strided and each.dtype is not torch.float64
        for each in tensors
    )
'''
KERNELS = {"linear": LINEAR, "followed_linear": DERIVATIVE, "plain": PLAIN}


def is_large_for_one_row(x: Any, matrix: Any) -> bool:
    """Return whether a product in single precision of the rows of x and a matrix is large even if x has one row."""
    return (
        len(x.shape) > 1
        and len(matrix.shape) == 2
        and x.dtype == matrix.dtype == "float32"
        and matrix.typical_count >= MATRIX
    )


def is_large(x: Any, matrix: Any) -> bool:
    """Return whether a product in single precision of the rows of x and a matrix is large."""
    if len(x.shape) < 2 or len(matrix.shape) != 2 or not x.dtype == matrix.dtype == "float32":
        return False
    rows, count = typical(math.prod(x.shape[:-1])), matrix.typical_count
    return rows * count >= LEAST or rows > 0 and count >= MATRIX


def products(is_by_onednn: Callable[[Any, Any], bool]) -> dict[str, Any]:
    """Return the lines for X Wᵀ + b and X W, which use oneDNN if `is_by_onednn` is true for X and W."""

    def linear(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
        return f"{'' if is_by_onednn(*step.arguments[:2]) else 'torch.nn.functional.'}linear({', '.join(names)})"

    def matmul(names: tuple[str, ...], options: dict[str, Any], step: Any) -> str:
        return ("linear({}, {}.mT)" if is_by_onednn(*step.arguments) else "torch.matmul({}, {})").format(*names)

    return {"addmm": linear, "dot": matmul, "matmul": matmul}
