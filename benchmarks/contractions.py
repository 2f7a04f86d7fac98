"""Products of several tensors, where the order of the sums is what costs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import namedtensor as nt

from .attention import jitted
from .work import BY_HAND, OURS, Bar, Ready, Side, Work, both

DOT = "NumPy by hand, ndarray.dot"
Arrays = dict[str, np.ndarray]


def drawn(shapes: dict[str, tuple[int, ...]]) -> Arrays:
    """Arrays whose products neither grow nor vanish."""
    generator = np.random.default_rng(0)
    return {
        name: generator.standard_normal(shape, dtype=np.float32) / np.float32(max(shape) ** 0.5)
        for name, shape in shapes.items()
    }


def contraction(
    name: str, title: str, formula: str, axes: dict[str, str], out: str,
    shapes: Callable[..., dict[str, tuple[int, ...]]], sizes: dict[str, int], small: dict[str, int],
    by_hand: dict[str, Callable], most: float, threads: int | None = 1,
) -> Work:  # fmt: skip
    """A product of factors whose axes are given by names; the peers take the same as letters."""
    letters: dict[str, str] = {}
    for axis in " ".join(axes.values()).split():
        letters.setdefault(axis, "abcdefghijklmnop"[len(letters)])
    lettered = lambda text: "".join(letters[axis] for axis in text.split())
    equation = ",".join(map(lettered, axes.values())) + "->" + lettered(out)
    spaced = ", ".join(axes.values()) + " -> " + out
    summed = [axis for axis in letters if axis not in out.split()]

    def ours(**arrays) -> Ready:
        function = nt.formula(f"f({', '.join(axes)}) = {formula}")
        tensors = [nt.tensor(arrays[name], axes[name]) for name in axes]
        return Ready(lambda: function(*tensors), lambda result: result.to_array(out))

    def handed(function: Callable) -> Callable[..., Ready]:
        return lambda **arrays: Ready(lambda: function(**arrays))

    def optimize(**arrays) -> Ready:
        return Ready(lambda: np.einsum(equation, *arrays.values(), optimize=True))

    def opt_einsum(**arrays) -> Ready:
        import opt_einsum

        expression = opt_einsum.contract_expression(equation, *(array.shape for array in arrays.values()))
        return Ready(lambda: expression(*arrays.values()))

    def torch_einsum(**arrays) -> Ready:
        import torch

        tensors = [torch.from_numpy(array) for array in arrays.values()]
        return Ready(lambda: torch.einsum(equation, *tensors))

    def jax_einsum(**arrays) -> Ready:
        import jax.numpy as jnp

        return jitted(lambda *arrays: jnp.einsum(equation, *arrays), [jnp.asarray(array) for array in arrays.values()])

    def einx_dot(**arrays) -> Ready:
        import einx

        marked = ", ".join(
            " ".join(f"[{axis}]" if axis in summed else axis for axis in text.split()) for text in axes.values()
        )
        return Ready(lambda: einx.dot(f"{marked} -> {out}", *arrays.values()))

    def einops(**arrays) -> Ready:
        from einops import einsum

        return Ready(lambda: einsum(*arrays.values(), spaced))

    def xarray_dot(**arrays) -> Ready:
        import xarray

        values = [xarray.DataArray(arrays[name], dims=axes[name].split()) for name in axes]
        return Ready(lambda: xarray.dot(*values, dim=summed), lambda result: result.transpose(*out.split()).values)

    tiny = all(size <= 32 for size in sizes.values())
    slow = () if not tiny or len(axes) > 4 else (  # every index in one loop, or nearly
        Side("einops", einops, ("einops",)), Side("einx", einx_dot, ("einx",)),
        Side("xarray", xarray_dot, ("xarray",)),
    )  # fmt: skip
    numpy = (Side(OURS, ours), *(Side(name, handed(function)) for name, function in by_hand.items()))
    sides = (
        *(side for one in numpy for side in ((one,) if threads == 1 else both(one))),
        Side("np.einsum, optimize", optimize), Side("opt_einsum", opt_einsum, ("opt_einsum",)),
        Side("PyTorch, einsum", torch_einsum, ("torch",)), Side("jax.jit, einsum", jax_einsum, ("jax",)), *slow,
    )  # fmt: skip
    return Work(
        name, title, lambda **given: drawn(shapes(**given)), sides, sizes, small,
        bars=(Bar(OURS, most, BY_HAND),), threads=threads, close=1e-3,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ chains
WRITTEN = {
    4: (lambda A, B, C, v: A @ (B @ (C @ v)), lambda A, B, C, v: A.dot(B.dot(C.dot(v)))),
    5: (lambda A, B, C, D, v: A @ (B @ (C @ (D @ v))), lambda A, B, C, D, v: A.dot(B.dot(C.dot(D.dot(v))))),
    6: (
        lambda A, B, C, D, E, v: A @ (B @ (C @ (D @ (E @ v)))),
        lambda A, B, C, D, E, v: A.dot(B.dot(C.dot(D.dot(E.dot(v))))),
    ),
}


def chain(count: int, n: int, most: float) -> Work:
    """Matrices and then a vector: from the right, no product of two matrices is made."""
    names = "ABCDE"[: count - 1]
    axes = {name: f"{chr(97 + i)} {chr(98 + i)}" for i, name in enumerate(names)} | {"v": chr(97 + count - 1)}
    formula = names[0] + "".join(f" ⊙_{{{chr(97 + i)}}} {name}" for i, name in enumerate([*names, "v"]) if i)

    matmul, dot = WRITTEN[count]
    return contraction(
        f"chain-{count}-{n}", f"chain of {count} factors, n = {n}", formula, axes, "a",
        lambda n: dict.fromkeys(names, (n, n)) | {"v": (n,)}, {"n": n}, {"n": 3},
        {BY_HAND: matmul, DOT: dot}, most,
    )  # fmt: skip


def uneven(n: int) -> Work:
    """Five matrices of uneven sizes: the best order begins with the second."""
    sizes = dict(zip("abcdef", (n, n // 16, 4 * n, n // 8, 2 * n, n // 4)))
    return contraction(
        "chain-uneven", f"chain of 5 uneven matrices, n = {n}", "A ⊙_{b} B ⊙_{c} C ⊙_{d} D ⊙_{e} E",
        {"A": "a b", "B": "b c", "C": "c d", "D": "d e", "E": "e f"}, "a f",
        lambda **s: {"A": (s["a"], s["b"]), "B": (s["b"], s["c"]), "C": (s["c"], s["d"]), "D": (s["d"], s["e"]),
                     "E": (s["e"], s["f"])},
        sizes, dict(zip("abcdef", (4, 2, 5, 3, 6, 2))),
        {BY_HAND: lambda A, B, C, D, E: A @ (((B @ C) @ D) @ E)}, 1.05, None,
    )  # fmt: skip


# -------------------------------------------------------------------------------------------------- attention, Tucker
def linear_by_hand(Q, K, V):
    return Q @ (K.swapaxes(-1, -2) @ V)


LINEAR = contraction(
    "linear-attention", "linear attention, heads 8, key 64, seq 2048", "Q ⊙_{key} K ⊙_{seq} V",
    {"Q": "heads queries key", "K": "heads seq key", "V": "heads seq val"}, "heads queries val",
    lambda heads, seq, key: dict.fromkeys("QKV", (heads, seq, key)),
    {"heads": 8, "seq": 2048, "key": 64}, {"heads": 2, "seq": 5, "key": 3}, {BY_HAND: linear_by_hand}, 1.05, None,
)  # fmt: skip


def tucker_by_hand(G, A, B, C, D):
    """Each product takes the first axis away and puts its result last, so no copy is made."""
    for factor in (A, B, C, D):
        G = G.reshape(len(factor), -1).T.dot(factor)
    return G.reshape(*(factor.shape[1] for factor in (A, B, C, D)))


TUCKER = contraction(
    "tucker", "Tucker form, 5 factors, 8⁴ to 24⁴", "G ⊙_{p} A ⊙_{q} B ⊙_{r} C ⊙_{s} D",
    {"G": "p q r s", "A": "p i", "B": "q j", "C": "r k", "D": "s l"}, "i j k l",
    lambda rank, size: {"G": (rank,) * 4} | dict.fromkeys("ABCD", (rank, size)),
    {"rank": 8, "size": 24}, {"rank": 2, "size": 3}, {BY_HAND: tucker_by_hand}, 1.05,
)  # fmt: skip

WORKS = (
    *(chain(count, 8, 0.6) for count in (4, 5, 6)),
    *(chain(count, 512, 1.05) for count in (4, 6)),
    uneven(512), LINEAR, TUCKER,
)  # fmt: skip
