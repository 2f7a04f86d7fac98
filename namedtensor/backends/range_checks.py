"""Kernels that check whether their result is in range and, if not, compute the formula as written."""

from __future__ import annotations

MULTIPLY_ARRAYS = '''
def multiply_in_pieces(x, matrix, scale):
    """Return x times the transpose of an integer matrix, converting as many rows at a time as the cache holds."""
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


def multiply_transposed(x, matrix, scale):
    """Return x times the transpose of an integer matrix with a scale for each row.

    Scale the products or, if a product overflows, the integers.
    """
    found = multiply_in_pieces(x, matrix, None)
    found *= scale
    return found if guard(found, -inf, inf) else multiply_in_pieces(x, matrix, scale)
'''
TO_NUMPY = '''
def to_numpy(x):
    """Return x as a NumPy array, or None if PyTorch compiles, exports or traces, or if x is on another device."""
    x = seen(x)
    if x is None or not x.is_cpu:
        return None
    x = x.detach()
    try:
        return (x.float() if x.dtype is torch.bfloat16 else x).numpy()
    except (RuntimeError, TypeError):  # A fake tensor has no elements.
        return None
'''
IS_FINITE = '''
def is_finite(x):
    """Return whether all elements of x are finite, or None if x has no NumPy array.

    A finite sum of squares shows that they are, in half the time.
    """
    x = to_numpy(x)
    return None if x is None else bool(numpy.vdot(x, x) < numpy.inf or numpy.isfinite(x).all())
'''
MULTIPLY_TENSORS = '''
def multiply_transposed(x, matrix, scale):
    """Return x times the transpose of an integer matrix with a scale for each row.

    Convert as many rows at a time as the cache holds. Scale the products or, if a product may overflow, the integers.
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
    """Return attention by PyTorch, whose sums may overflow because it divides last. If they do, compute it as written."""
    found = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask, scale=scale)
    if is_finite(found) is not False or not all(map(is_finite, (q, k, v))):
        return found
    scores = q @ k.mT * scale
    return torch.softmax(scores if mask is None else scores + mask, -1) @ v
'''
NUMPY = {"multiply_transposed": MULTIPLY_ARRAYS}
TORCH = {
    "to_numpy": TO_NUMPY,
    "is_finite": IS_FINITE,
    "multiply_transposed": MULTIPLY_TENSORS,
    "scaled_dot_product_attention": ATTENTION,
}
