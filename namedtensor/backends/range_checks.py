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
ARE_FAR_FROM_ZERO = '''
def are_far_from_zero(made, factors):
    """Return whether an underflow in products of the factors would be smaller than a rounding error.

    This is certain if the values `made` of them are far from zero, or if the product of the smallest nonzero elements
    of the factors is.
    """
    far, farther = (2.0**-64, 2.0**-100) if made[0].itemsize == 4 else (2.0**-512, 2.0**-960)
    if all(np.minimum.reduce(np.abs(x), None, initial=inf) > far for x in made):
        return True
    least = 1.0
    for x in factors:
        least *= float(np.abs(x[x != 0]).min(initial=1))
    return least > farther
'''
IS_IN_RANGE = '''
def is_in_range(found, made, factors):
    """Return whether `found` and the values `made` on the way to it are finite, and no underflow counts."""
    return (np.vdot(found, found) < inf or np.isfinite(found).all()) and are_far_from_zero(made, factors)
'''
KEEP_ARRAYS = '''
def keep_in_range(found, made, written, factors):
    """Return `found`, or `written` of the factors if `found` or a value made on the way to it may be out of range."""
    return found if is_in_range(found, made, factors) else written(*factors)
'''
IS_FINITE = '''
def is_finite(x):
    """Return whether all elements of x are finite, or None if PyTorch shows them only after a wait, or never.

    A finite sum shows that they are, in less time.
    """
    x = seen(x)
    if x is None or not x.is_cpu:
        return None
    x = x.detach()
    try:
        return abs(float(x.sum())) < inf or bool(x.isfinite().all())
    except RuntimeError:  # A fake tensor has no elements.
        return None
'''
ARE_TENSORS_FAR_FROM_ZERO = '''
def are_far_from_zero(made, factors):
    """Return whether an underflow in products of the factors would be smaller than a rounding error.

    This is certain if the values `made` of them are far from zero, or if the product of the smallest nonzero elements
    of the factors is.
    """
    limits, least = torch.finfo(made[0].dtype), 1.0
    if all(float(abs(seen(x).detach()).min()) > limits.tiny**0.5 for x in made if x.numel()):
        return True
    for x in factors:
        sizes = abs(seen(x).detach())
        least *= float(torch.where(sizes == 0, 1, sizes).clamp(max=1).min()) if x.numel() else 1.0
    return least > limits.tiny / limits.eps
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
KEEP_TENSORS = '''
def keep_in_range(found, made, written, factors):
    """Return `found`, or `written` of the factors if `found` or a value made on the way to it may be out of range.

    If the values are not available, return `found`.
    """
    finite = is_finite(found)
    return found if finite is None or finite and are_far_from_zero(made, factors) else written(*factors)
'''
IN_EVERY_BATCH = '''
@jax.custom_batching.custom_vmap
def holds_in_every_batch(flag):
    """Return a condition, or whether it holds in all batches, so that all batches are computed in the same order."""
    return flag


holds_in_every_batch.def_vmap(lambda size, batched, flag: (holds_in_every_batch(flag.all(0)), False))
'''
IS_TRACED_IN_RANGE = '''
def is_traced_in_range(found, made, factors):
    """Return the same as `is_in_range` for arrays that JAX may trace. It is one condition for all batches."""
    limits, values = jnp.finfo(found.dtype), (found, *made)
    far, farther = limits.smallest_normal**0.5, limits.smallest_normal / limits.eps
    is_far = jnp.stack([jnp.abs(x).min(initial=jnp.inf) > far for x in made]).all()
    sure = is_far & jnp.isfinite(jnp.stack([x.sum() for x in values])).all()

    def examine():
        finite = jnp.stack([jnp.isfinite(x).all() for x in values]).all()
        least = [jnp.where(x == 0, 1, jnp.abs(x)).min(initial=1) for x in factors]
        return finite & (is_far | (jnp.prod(jnp.stack(least)) > farther))

    return holds_in_every_batch(jax.lax.cond(holds_in_every_batch(sure), lambda: sure, examine))


is_traced_in_range = jax.jit(is_traced_in_range)
'''
KEEP_TRACED = '''
def keep_in_range(found, made, written, factors):
    """Return `found`, or `written` of the factors if `found` or a value made on the way to it may be out of range."""
    values = jax.lax.stop_gradient((found, made, factors))
    if all(map(is_concrete, jax.tree.leaves(values))):
        arrays = jax.tree.map(np.asarray, values)
        holds = all(np.isfinite(x).all() for x in arrays[1]) and is_in_range(*arrays)
    else:
        holds = is_traced_in_range(*values)
    if is_concrete(holds):
        return found if holds else written(*factors)
    return jax.lax.cond(holds, lambda: found, lambda: written(*factors))
'''
KEEP = '''
def keep_in_range(found, made, written, factors):
    """Return `found`, or `written` of the factors if `found` or a value made on the way to it may be out of range."""
    limits, least = xp.finfo(found.dtype), 1.0
    if not xp.all(xp.isfinite(found)):
        return written(*factors)
    if all(bool(xp.all(xp.abs(x) > limits.smallest_normal**0.5)) for x in made):
        return found
    for x in factors:
        sizes = xp.where(x == 0, xp.ones_like(x), xp.abs(x))
        least = least * (min(float(xp.min(sizes)), 1.0) if 0 not in x.shape else 1.0)
    return found if least > limits.smallest_normal / limits.eps else written(*factors)
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
NUMPY = {
    "multiply_transposed": MULTIPLY_ARRAYS,
    "are_far_from_zero": ARE_FAR_FROM_ZERO,
    "is_in_range": IS_IN_RANGE,
    "keep_in_range": KEEP_ARRAYS,
}
JAX = {"holds_in_every_batch": IN_EVERY_BATCH, "is_traced_in_range": IS_TRACED_IN_RANGE, "keep_in_range": KEEP_TRACED}
TORCH = {
    "is_finite": IS_FINITE,
    "multiply_transposed": MULTIPLY_TENSORS,
    "are_far_from_zero": ARE_TENSORS_FAR_FROM_ZERO,
    "keep_in_range": KEEP_TENSORS,
    "scaled_dot_product_attention": ATTENTION,
}
