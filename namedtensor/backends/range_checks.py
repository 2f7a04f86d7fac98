"""Kernels that check whether their result is in range and, if not, compute the formula as written."""

from __future__ import annotations

IS_FINITE = '''
def is_finite(x):
    """Whether all elements of x are finite numbers; a sum of squares shows it at once, unless it overflows."""
    return bool(np.vdot(x, x) < np.inf or np.isfinite(x).all())
'''
WIDENED = '''
def in_pieces(x, matrix, scale):
    """x times the transpose of a matrix of integers, of which as many rows as the cache holds are converted at a time."""
    count, size = matrix.shape
    rows = x.reshape(-1, size)
    out = np.empty((len(rows), count), x.dtype)
    floats = np.empty((min(count, max(1, 2**17 // max(size, 1))), size), x.dtype)
    for start in range(0, count, max(len(floats), 1)):
        part = matrix[start : start + len(floats)]
        piece = floats[: len(part)]
        piece[...] = part
        if scale is not None:
            piece *= scale[start : start + len(part), None]
        if len(rows) == 1:
            piece.dot(rows[0], out[0, start : start + len(part)])
        else:
            np.matmul(rows, piece.T, out[:, start : start + len(part)])
    return out.reshape(*x.shape[:-1], count)


def widened(x, matrix, scale):
    """x times the transpose of a matrix of integers with a scale for each row; a sum that overflows is scaled first."""
    found = in_pieces(x, matrix, None)
    found *= scale
    return found if is_finite(found) else in_pieces(x, matrix, scale)
'''
IN_MEMORY = '''
def in_memory(x):
    """x as an array of NumPy; None if only a wait would show its elements: compiled, recorded, or on another device."""
    if torch.compiler.is_compiling() or torch.jit.is_tracing():
        return None
    try:
        return x.numpy()
    except (RuntimeError, TypeError):  # followed by autograd, of many batches, of bfloat16, or not in memory
        pass
    try:
        x = torch.func.debug_unwrap(x).detach()
        return (x.float() if x.dtype is torch.bfloat16 else x).numpy() if x.is_cpu else None
    except (RuntimeError, TypeError):  # there are no numbers to look at
        return None
'''
IS_FINITE_TENSOR = '''
def is_finite(x):
    """Whether all elements of x are finite numbers; None if only a wait would tell."""
    x = in_memory(x)
    return None if x is None else bool(numpy.vdot(x, x) < numpy.inf or numpy.isfinite(x).all())
'''
WIDENED_TENSOR = '''
def widened(x, matrix, scale):
    """x times the transpose of a matrix of integers with a scale for each row; a sum that may overflow is scaled first.

    As many rows as the cache holds are converted at a time.
    """
    count, size = matrix.shape
    rows = max(1, 2**17 // max(size, 1))
    parts = matrix.split(rows)
    if seen(x) is not None and x.is_cpu:
        found = torch.cat([torch.nn.functional.linear(x, part.to(x.dtype)) for part in parts], -1) * scale
        if is_finite(found):
            return found
    scaled = [part * each for part, each in zip(parts, scale[:, None].split(rows))]
    return torch.cat([torch.nn.functional.linear(x, part) for part in scaled], -1)
'''
ATTENTION = '''
def scaled_dot_product_attention(q, k, v, mask=None, *, scale):
    """PyTorch's own, whose sums may overflow because it divides last; if an element is not finite, the same as written."""
    found = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask, scale=scale)
    if is_finite(found) is not False or not all(map(is_finite, (q, k, v))):
        return found
    scores = q @ k.mT * scale
    return torch.softmax(scores if mask is None else scores + mask, -1) @ v
'''
NUMPY = {"is_finite": IS_FINITE, "widened": WIDENED}
TORCH = {
    "in_memory": IN_MEMORY,
    "is_finite": IS_FINITE_TENSOR,
    "widened": WIDENED_TENSOR,
    "scaled_dot_product_attention": ATTENTION,
}
