"""Small functions that NumPy's generated source calls, exactly as they are printed."""

from __future__ import annotations

from . import error_function as table
from . import lines
from .lines import INDEX_ERROR, exact
from .numpy_threads import BESIDE_BLAS, BUFFERS, CORES, LIMIT, ON_ALL_CORES, POOL, THREAD_CLOCKS, USER
from .range_checks import NUMPY

RUN_IN_BLOCKS = '''
def run_in_blocks(caller, run, arrays, cuts, counts, rows, axis, shape, dtype, buffers):
    """Apply `run` to each block of the arrays and assemble the result; `caller` runs the workers.

    `cuts` contains, for each axis of each array, the index of the count that splits the axis, or None. The last count
    splits into slices of `rows`, and the other counts split into single elements. `run` receives the part of the result
    to write to, and `buffers`, which are local to a thread. The last slice overlaps the previous slice, so that all
    slices have the same size, but only its new rows are written.
    """
    out = np.empty(shape, dtype)
    picked = len(counts) - 1
    starts = [*range(0, counts[-1], rows)]
    places = itertools.product(*(range(count) for count in counts[:-1]), starts)
    before = (slice(None),) * (axis - picked)
    lock = threading.Lock()

    def work(memory):
        own = memory(buffers)
        while True:
            with lock:
                place = next(places, None)
            if place is None:
                return
            again = max(0, place[-1] + rows - counts[-1])
            at = (*place[:-1], slice(place[-1] - again, place[-1] + rows - again), slice(None))
            parts = [array[tuple(at[-1 if cut is None else cut] for cut in each)] for array, each in zip(arrays, cuts)]
            into = out[(*place[:-1], *before, slice(place[-1], place[-1] + rows))]
            if again:
                whole = np.empty((*into.shape[: len(before)], rows, *into.shape[len(before) + 1 :]), dtype)
                run(*parts, whole, *own)
                into[...] = whole[(*before, slice(again, None))]
            else:
                run(*parts, into, *own)

    caller(work)
    return out
'''
LOOP = lines.LOOP.replace("stacked", "np.stack")
SUM_SLICES = '''
def sum_slices(run, arrays, cuts, start, stop, rows, buffers):
    """Add the results of `run` for all slices of the arrays. `cuts` has the sliced axis of each array, or None."""
    cuts = [None if cut is None else (slice(None),) * cut for cut in cuts]

    def work(memory):
        own, found = memory(buffers), ()
        for place in range(start, stop, rows):
            at = slice(place, place + rows)
            parts = [array if cut is None else array[(*cut, at)] for array, cut in zip(arrays, cuts)]
            more = run(*parts, *own)
            found = [np.add(*pair, out=pair[0]) for pair in zip(found, more)] if found else more
        return found

    return in_buffers(work)
'''
GUARD = '''
def guard(x, low, high):
    """Return whether all elements of x are between two bounds."""
    if x.size < 64:
        found = x.ravel().tolist() or [1.0]
        least, most = min(found), max(found)
    else:
        least, most = np.minimum.reduce(x, None), np.maximum.reduce(x, None)
    return low < least <= most < high
'''
SHIFTED = '''
def shifted(sums, powers, x, axes):
    """Return the sums of powers = eˣ. Subtract the largest element in rows whose sum is below 1 or very large."""
    far = 2.0 ** (64 if x.itemsize == 4 else 512)
    if sums.size < 64:
        found = sums.ravel().tolist() or [1.0]
        least, most = min(found), max(found)
    else:
        least, most = np.minimum.reduce(sums, None), np.maximum.reduce(sums, None)
    if 1 <= least <= most < far:
        return sums
    if axes != (x.ndim - 1,):
        last = tuple(range(-len(axes), 0))
        x, powers = np.moveaxis(x, axes, last), np.moveaxis(powers, axes, last)
    outer, inner = x.shape[: -len(axes)], tuple(range(1, len(axes) + 1))
    sums = np.array(sums, order="C")
    totals = sums.reshape(outer)
    again = ~((totals >= 1) & (totals < far))
    again = np.nonzero(again) if outer else again
    rows = x[again]
    rows = np.exp(rows - np.maximum.reduce(rows, inner, None, None, True))
    powers[again], totals[again] = rows, np.add.reduce(rows, inner)
    return sums
'''
STANDARDIZE = '''
def standardize(x, n, eps, axes, out=None):
    """Return x / √(∑ x² / n + eps). If a square overflows, first scale x by its largest element."""
    squares = sum_of_squares(x, axes)
    squares = np.divide(squares, n, squares)
    if guard(squares, -1, inf):
        squares = np.add(squares, eps, squares)
        return np.divide(x, np.sqrt(squares, squares), out)
    scale = np.maximum.reduce(np.abs(x), axes, None, None, True)
    scale = np.where(np.isfinite(scale) & (scale > 1), scale, x.dtype.type(1))
    x = x / scale
    return np.divide(x, np.sqrt(sum_of_squares(x, axes) / n + eps / scale / scale), out)


def sum_of_squares(x, axes):
    if axes == (x.ndim - 1,):
        return np.vecdot(x, x)[..., None]
    return np.add.reduce(x * x, axes, None, None, True)
'''
DIVIDE_FIRST = '''
def divide_first(powers, y, axes, subscripts, out=None):
    """Return (powers / ∑ powers) ⊙ y."""
    weights = powers / np.add.reduce(powers, axes, None, None, True)
    result = np.einsum(subscripts, weights, y, optimize=True)
    if out is None:
        return result
    out[...] = result
    return out
'''
NORMALIZE = '''
def normalize(product, sums, powers, y, axes, subscripts, out=None):
    """Return product / sums for product = powers ⊙ y. If an element is infinite, use the quotients of the powers."""
    if guard(product, -inf, inf):
        return np.divide(product, sums, out)
    return divide_first(powers, y, axes, subscripts, out)
'''
NORMALIZE_SLICES = '''
def normalize_slices(product, sums, y, scores, arrays, axis, subscripts, out=None):
    """Return product / sums. If a sum is small or an element is very large, use the quotients of the powers."""
    if guard(sums, 0.5, 2.0 ** (64 if product.itemsize == 4 else 512)) and guard(product, -inf, inf):
        return np.divide(product, sums, out)
    x = scores(*arrays)
    powers = np.exp(x - np.maximum.reduce(x, axis, None, None, True))
    return divide_first(powers, y, axis, subscripts, out)
'''
ERF = '''
def erf(x, out=None):
    """Return erf x: near zero x + x P(x²), farther out 1 − e^(−x²) R(x), with P and R fitted to fifty digits."""
    size = np.minimum(np.abs(x), 6.0)
    square = size * size
    outside = horner(ABOVE, size)
    outside /= horner(BELOW, size)
    outside *= np.exp(-square)
    inside = horner(NEAR, np.minimum(square, 0.75))
    inside *= size
    inside += size
    return np.copysign(np.where(size < 0.8660254037844386, inside, 1.0 - outside), x, out)
'''
ERF_SINGLE = '''
def erf_single(x, out=None):
    """Return the error function of 32-bit floats by a hyperbolic tangent, in pieces that fit the cache."""
    whole = np.empty(x.shape, x.dtype) if out is None or not out.flags.c_contiguous else out
    given, found, size = np.ravel(x), whole.reshape(-1), 2**15
    squares, totals = np.empty((2, min(size, given.size)), x.dtype)
    with np.errstate(over="ignore"):
        for start in range(0, given.size, size):
            part = given[start : start + size]
            square = np.multiply(part, part, squares[: part.size])
            total = np.multiply(square, SINGLE[0], totals[: part.size])
            total += SINGLE[1]
            for coefficient in SINGLE[2:]:
                total *= square
                total += coefficient
            total *= part
            np.tanh(total, found[start : start + size])
    if out is None or whole is out:
        return whole
    out[...] = whole
    return out
'''
HORNER = '''
def horner(coefficients, x):
    """Evaluate a polynomial by Horner's rule."""
    total = coefficients[0] * x + coefficients[1]
    for coefficient in coefficients[2:]:
        total *= x
        total += coefficient
    return total
'''
POSITIONS = '''
def positions(indices, size, base):
    """Convert indices that start at `base` to positions from 0. Raise IndexError if one is out of range."""
    if not guard(indices, base - 1, base + size):
        wrong = (indices < base) | (indices >= base + size)
        if wrong.any():
            raise index_error(int(np.extract(wrong, indices)[0]), size, base)
    return indices.astype(np.int64) - base if base else indices
'''
PUT = '''
def put(x, part, place, axis, first, out=None):
    """Return x with `part` in place of the slice at index `place` along an axis. Ignore an index that is out of range."""
    if out is None:
        out = x.copy("K")
    elif out is not x:
        out[...] = x
    at = np.asarray(place).item() - first
    if 0 <= at < x.shape[axis] and at == int(at):
        out[(slice(None),) * axis + (int(at),)] = part
    return out
'''
SCATTER_ADD = '''
def scatter_add(x, places, axis, size):
    """Return an array of zeros with the elements of x added at the given indices along an axis."""
    rows = x if axis == 0 else x.swapaxes(0, axis)
    out = np.zeros((size, *rows.shape[1:]), x.dtype)
    if out.size < 16 * size or not len(places):
        np.add.at(out, places, rows)
        return out if axis == 0 else out.swapaxes(0, axis)
    out[places] = rows
    alike = np.flatnonzero((np.bincount(places, minlength=size) > 1)[places])
    if len(alike):
        alike = alike[places[alike].argsort(kind="stable")]
        there = places[alike]
        first = np.flatnonzero(np.concatenate(([True], there[1:] != there[:-1])))
        out[there[first]] = np.add.reduceat(rows[alike], first, 0)
    return out if axis == 0 else out.swapaxes(0, axis)
'''
WHOLE_POSITIONS = '''
def whole_positions(indices):
    """Convert float indices to integers. Raise IndexError if one is not a 64-bit integer."""
    wrong = (indices != np.floor(indices)) | ~(np.abs(indices) < 2.0**63)
    if wrong.any():
        raise index_error(float(np.extract(wrong, indices)[0]))
    return indices.astype(np.int64)
'''
COVERED = '''
def covered(condition):
    """Raise ValueError if no case applies to some element."""
    if not condition.all():
        raise ValueError("no case applies to some elements")
'''
EXACT_CAST = '''
def exact_cast(x):
    """Convert unsigned integers to 64-bit signed integers. Raise OverflowError if one is out of range."""
    return of_64_bits(x.astype(np.int64))
'''
WINDOWS = '''
def windows(x, axis, size):
    """Return a view of the windows of `size` elements along an axis."""
    count = x.shape[axis] - size + 1
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :], size)
    return np.lib.stride_tricks.as_strided(x, shape, (*x.strides, x.strides[axis]), writeable=False)
'''
COFACTORS = '''
def cofactors(x):
    """Return det(x) times the transposed inverse, computed by SVD if x is singular or nearly singular."""
    try:
        inverse = np.linalg.inv(x)
        scale = np.abs(x).max((-2, -1), initial=0) * np.abs(inverse).max((-2, -1), initial=0)
        found = np.linalg.det(x)[..., None, None] * inverse.swapaxes(-2, -1)
        if (scale < np.finfo(x.dtype).eps ** -0.5).all() and np.isfinite(found).all():
            return found
    except np.linalg.LinAlgError:
        pass
    finite = np.isfinite(x).all((-2, -1), keepdims=True)
    u, s, v = np.linalg.svd(np.where(finite, x, 0))
    others = np.where(np.eye(s.shape[-1], dtype=bool), 1, s[..., None, :]).prod(-1)
    sign = (np.linalg.det(u) * np.linalg.det(v))[..., None, None]
    found = sign * (u.conj() * others[..., None, :]) @ v.conj()
    return np.where(finite, found, np.nan).astype(x.dtype)
'''
EIGENVECTORS = '''
def eigenvectors(x):
    """Return the eigenvectors of symmetric matrices as columns, each with its first largest component positive."""
    found = np.linalg.eigh(x)[1]
    sizes = np.abs(found)
    near = sizes >= sizes.max(-2, keepdims=True, initial=0) * (1 - 1e-5)
    first = near & (near.cumsum(-2) == 1)
    return found * np.sign((found * first).sum(-2, keepdims=True))
'''
EXPONENTIAL = '''
def exponential(x):
    """Return the matrix exponential, computed by the Taylor series of X / 2ˢ, which is then squared s times."""
    if not x.size or not np.isfinite(x).all():
        return x + np.nan
    size = float(np.abs(x).sum(-1).max())
    halvings = max(0, math.ceil(math.log2(size or 1)) + 2)
    small = x / 2.0**halvings
    found = term = np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape)
    for n in range(1, 15):
        term = np.matmul(term, small) / n
        found = found + term
    for _ in range(halvings):
        found = np.matmul(found, found)
    return found.astype(x.dtype)
'''
DESCENDING = '''
def descending(x):
    """Return the indices that sort the last axis in descending order. Equal elements keep their order."""
    return x.shape[-1] - 1 - x[..., ::-1].argsort(-1, "stable")[..., ::-1]
'''


COEFFICIENTS = {name: f"{name} = {getattr(table, name)}" for name in ("NEAR", "ABOVE", "BELOW", "SINGLE")}
HORNER_WITH_COEFFICIENTS = "\n".join([*map(COEFFICIENTS.get, ("NEAR", "ABOVE", "BELOW")), "\n", HORNER.strip()])  # type: ignore[list-item]


KERNELS = {
    "guard": GUARD,
    "shifted": SHIFTED,
    "standardize": STANDARDIZE,
    "divide_first": DIVIDE_FIRST,
    "normalize": NORMALIZE,
    "normalize_slices": NORMALIZE_SLICES,
    "horner": HORNER_WITH_COEFFICIENTS,
    "erf": ERF,
    "erf_single": f"{COEFFICIENTS['SINGLE']}\n\n\n{ERF_SINGLE.strip()}",
    **NUMPY,
    "index_error": INDEX_ERROR,
    "positions": POSITIONS,
    "put": PUT,
    "scatter_add": SCATTER_ADD,
    "whole_positions": WHOLE_POSITIONS,
    "covered": COVERED,
    "loop": LOOP,
    "run_in_blocks": RUN_IN_BLOCKS,
    "sum_slices": SUM_SLICES,
    "in_buffers": BUFFERS,
    "cores": CORES,
    "pool": POOL,
    "on_all_cores": ON_ALL_CORES,
    "thread_clocks": THREAD_CLOCKS,
    "blas_limit": LIMIT,
    "blas_user": USER,
    "on_all_cores_beside_blas": BESIDE_BLAS,
    **exact("{0}.any()"),
    "exact_cast": EXACT_CAST,
    "windows": WINDOWS,
    "descending": DESCENDING,
    "cofactors": COFACTORS,
    "eigenvectors": EIGENVECTORS,
    "exponential": EXPONENTIAL,
}
