"""Lines of array code, made from the signatures of NumPy, PyTorch and einops and from the forms of their documentation.

A line is kept if the library accepts it and returns numbers, so each line has a value to compare with.
"""

from __future__ import annotations

import functools
import itertools
import random
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

SIZES = {"b": 2, "n": 3, "m": 4, "d": 5, "k": 6, "t": 7, "r": 8}
SHAPES = {  # all sizes differ
    "x": "n", "y": "n", "u": "m", "X": "n m", "Y": "n m", "W": "m d", "V": "d m", "A": "n n", "T": "b n m", "S": "k d", "Q": "t d",
    "K": "k d", "H": "b k d", "E": "r d", "I": "t", "J": "n", "G": "n m", "P": "b d t", "R": "r k", "L": "b t d", "M": "k d k",
}  # fmt: skip
INDICES = {"I": 7, "J": 4, "G": 3}  # integers below these numbers
PER_ROW = 8
TORCH = r"\b(?:torch|F)\.|dim=|\.(?:detach|contiguous|clone|double|float|half|int|long|size|masked_fill|unfold|index_select|type|t)\("


@dataclass(frozen=True)
class CodeLine:
    """A source, and the library that gives its value: both if the source names neither."""

    source: str
    libraries: tuple[str, ...]

    @property
    def kind(self) -> str:
        """Return the notation of a line of operators alone, which is not detected as code."""
        return "numpy" if len(self.libraries) == 2 and not re.search(r"[.(\['@]", self.source) else ""

    @property
    def shapes(self) -> dict[str, str]:
        """Return the axes of each array that the source names."""
        code = re.sub(r"'[^']*'|\"[^\"]*\"", "", self.source)
        return {
            name: SHAPES[name] for name in dict.fromkeys(re.findall(r"(?<![\w.])[A-Za-z]\b", code)) if name in SHAPES
        }


def random_arrays(seed: int, positive: bool) -> dict[str, Any]:
    """Return an array for each name."""
    chance = np.random.default_rng(seed)
    arrays = {}
    for name, axes in SHAPES.items():
        shape = [SIZES[axis] for axis in axes.split()]
        if name in INDICES:
            arrays[name] = chance.integers(0, INDICES[name], shape)
        else:
            arrays[name] = chance.uniform(0.3, 1.7, shape) if positive else chance.normal(size=shape)
    arrays["A"] = arrays["A"] @ arrays["A"].T + np.eye(3)
    return arrays


def library_value(source: str, library: str, arrays: dict[str, Any]) -> Any:
    """Return the library's value of a line, or None if the library does not accept it or returns other things than numbers."""
    names: dict[str, Any] = {"np": np, "numpy": np}
    if library == "torch":
        import torch

        names = {"torch": torch, "F": torch.nn.functional, "nn": torch.nn, "np": np}
        arrays = {name: torch.from_numpy(array) for name, array in arrays.items()}
    if "jax." in source:
        import jax

        names["jax"] = jax
    if "rearrange" in source or "repeat(" in source or "reduce(" in source or "einops" in source:
        import einops

        names |= {"einops": einops, "rearrange": einops.rearrange, "reduce": einops.reduce, "repeat": einops.repeat}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value = eval(
                source,
                {
                    **names,
                    **{name: array.copy() if hasattr(array, "copy") else array for name, array in arrays.items()},
                },
            )
        except Exception:  # the library rejects the line, each function in its own way
            return None
    if (
        isinstance(value, (tuple, list, bool))
        or type(value).__module__.startswith("torch.return_types")
        or value is None
    ):
        return None
    array = np.asarray(value)
    return array.astype(float) if array.size and array.dtype.kind in "fiu" else None


class Variants(list[CodeLine]):
    """Calls of one function; a random part of them is enough."""


# ------------------------------------------------------------------------------------------------------------ variants
NUMPY_AXES = ("", ", 0", ", 1", ", -1", ", None", ", axis=0", ", axis=1", ", axis=-1", ", axis=None", ", axis=(0, 1)", ", (0, 1)")  # fmt: skip
TORCH_AXES = ("", ", 0", ", 1", ", -1", ", dim=0", ", dim=-1", ", dim=(0, 1)", ", (0, 1)", ", axis=1", ", dim=None")
NUMPY_KEEP = (", keepdims=True", ", axis=1, keepdims=True", ", 0, keepdims=True", ", axis=-1, keepdims=False", ", axis=(0, 1), keepdims=True")  # fmt: skip
TORCH_KEEP = (", 1, True", ", dim=1, keepdim=True", ", 0, keepdim=True", ", -1, False", ", dim=(0, 1), keepdim=True", ", dim=1, keepdims=True")  # fmt: skip
NUMPY_LONG = (", 0, None, None, True", ", 1, None, True", ", 1, None", ", 0, np.float64", ", axis=0, dtype=float", ", 0, None, None", ", axis=0, out=None")  # fmt: skip


def calls(prefixes: str, names: str, operands: str, variants: tuple[str, ...] = ("",)) -> Iterator[list[CodeLine]]:
    """Yield, for each name, its calls as a function of each operand; the prefix `.` makes the calls of a method."""
    for prefix, name in itertools.product(prefixes.split(), names.split()):
        row = Variants()
        for operand, variant in itertools.product(operands.split("|"), variants):
            end = "]" if variant.endswith(("[0", "[1")) else "" if variant.endswith(".values") else ")"
            if prefix.startswith("."):
                call, library = f"{operand}.{name}({variant.removeprefix(', ')}{end}", prefix[1:].replace("np", "numpy")
                spelled = "axis=" in call or "keepdims=" in call  # as in NumPy's signatures
                row.append(CodeLine(call, (library,) if library else ("numpy",) if spelled else ("numpy", "torch")))
            else:
                row.append(
                    CodeLine(
                        f"{prefix}.{name}({operand}{variant}{end}", ("numpy" if prefix.startswith("n") else "torch",)
                    )
                )
        yield row


def rows() -> Iterator[list[CodeLine]]:
    """Yield the calls of each operation."""
    reduced = NUMPY_AXES + NUMPY_KEEP
    for name in "sum mean prod max min amax amin median".split():
        yield from calls("np numpy", name, "x|X|T", reduced + NUMPY_LONG)
    yield from calls(".", "sum mean prod max min", "X|T|X.T", reduced + NUMPY_LONG[:4])
    yield from calls("np", "std var", "x|X|T", (*reduced, *NUMPY_LONG, ", ddof=1", ", axis=0, ddof=1", ", 0, None, None, 1", ", 1, None, None, 0, True", ", axis=1, ddof=1, keepdims=True"))  # fmt: skip
    yield from calls(".", "std var", "X|T", (*reduced, ", axis=0, ddof=1"))
    for name in "sum mean prod amax amin max min logsumexp nansum".split():
        yield from calls("torch .torch", name, "x|X|T", TORCH_AXES + TORCH_KEEP)
    yield from calls("torch", "max min median sort", "X|T", (", 1)[0", ", dim=0)[0", ", -1).values", ", 1, True)[0", ", dim=1, keepdim=True).values"))  # fmt: skip
    yield from calls("torch .torch", "std var", "x|X|T", (*TORCH_AXES, *TORCH_KEEP, ", 0, True", ", 0, False", ", unbiased=False", ", dim=1, unbiased=False", ", dim=0, correction=0", ", False", ", 1, True, True", ", 1, correction=2"))  # fmt: skip
    yield from calls("np", "cumsum cumprod", "x|X|T", (*NUMPY_AXES[:8], ", 0, None"))
    yield from calls(
        "torch .torch", "cumsum cumprod log_softmax softmax", "X|T|x", (", 0", ", -1", ", dim=1", ", dim=0", ", 1")
    )
    yield from calls(
        "F torch.nn.functional", "softmax log_softmax softmin", "X|T", (", 0", ", -1", ", dim=1", ", dim=-1", ", 1")
    )
    yield from calls("np", "argmax argmin", "x|X", (*NUMPY_AXES[:8], ", axis=1, keepdims=True", ", 1, None"))
    yield from calls(
        "torch .torch", "argmax argmin", "x|X", (", 0", ", dim=1", ", -1", ", 1, True", ", dim=1, keepdim=True", "")
    )
    yield from calls("np .np", "sort argsort", "x|X|T", ("", ", 0", ", axis=0", ", axis=-1", ", 1", ", axis=None"))
    yield from calls("torch", "argsort", "X|T", ("", ", 0", ", dim=0", ", dim=-1", ", -1, True"))
    yield from calls("np np.linalg", "norm", "x|X|T", (*NUMPY_AXES[:10], ", 1", ", 2", ", np.inf", ", 1, 0", ", ord=1, axis=1", ", axis=1, keepdims=True", ", 'fro'", ", 2, -1, True", ", ord=2, axis=0"))  # fmt: skip
    yield from calls("torch torch.linalg", "norm", "x|X", ("", ", dim=1", ", 2, 1", ", 1, 0", ", 2, dim=-1", ", dim=0, keepdim=True", ", ord=1, dim=0", ", p=1, dim=0", ", 2, -1, True"))  # fmt: skip
    yield from calls(
        "torch.linalg", "vector_norm", "x|X", ("", ", 1", ", 2, 1", ", dim=0", ", 3, dim=-1, keepdim=True", ", ord=1")
    )
    yield from calls(
        ".torch",
        "norm",
        "x|X",
        ("", ", dim=1", ", 1, 0", ", 2, -1, True", ", p=2, dim=0", ", p=1, dim=1, keepdim=True"),
    )
    unary = (
        "exp log sin cos tan tanh sinh cosh sqrt abs sign floor ceil square log1p expm1 log2 log10 negative reciprocal"
    )
    yield from calls(
        "np numpy", f"{unary} absolute fabs arctan arcsin arccos positive exp2 cbrt deg2rad rint", "x|X|X - 0.5"
    )
    yield from calls(
        "torch .torch", f"{unary} neg sigmoid relu erf lgamma arctan atan asin acos rsqrt round trunc frac", "x|X|T"
    )
    yield from calls(
        "F",
        "relu gelu silu sigmoid tanh softplus elu leaky_relu logsigmoid mish relu6 selu hardtanh softsign",
        "X|X - 1|x",
    )
    yield from calls("F", "gelu leaky_relu elu softplus", "X - 1|x", (", approximate='tanh'", ", 0.2", ", negative_slope=0.01", ", 1.0", ", alpha=1.0", ", beta=2"))  # fmt: skip
    binary = "add subtract multiply divide true_divide power maximum minimum"
    pairs = ("x, y", "X, Y", "X, x[:, None]", "X, u", "x, 2", "2, X", "x[:, None], u", "T, X")
    for name in binary.split():
        yield [CodeLine(f"np.{name}({pair})", ("numpy",)) for pair in pairs]
        yield [CodeLine(f"torch.{name}({pair})", ("torch",)) for pair in pairs]
    for name in "fmod mod remainder floor_divide arctan2 hypot fmax fmin copysign logaddexp heaviside".split():
        yield [CodeLine(f"{prefix}.{name}({pair})", (library,)) for prefix, library in (("np", "numpy"), ("torch", "torch")) for pair in pairs[:3]]  # fmt: skip
    for name in "add sub mul div pow maximum minimum mm matmul dot subtract multiply divide true_divide".split():
        yield [CodeLine(f"X.{name}({other})", ("torch",)) for other in ("Y", "2", "u", "x[:, None]", "W", "Y, alpha=2")]
    yield [CodeLine(f"torch.{name}(X, Y, alpha=2)", ("torch",)) for name in ("add", "sub", "subtract")]
    signs = ("+", "-", "*", "/", "**", "@", "%", "//")
    yield from ([CodeLine(f"{left} {sign} {right}", ("numpy", "torch")) for left, right in (("X", "Y"), ("X", "u"), ("X", "W"), ("x", "X"), ("T", "W"), ("X", "2"), ("2", "X"), ("X", "x[:, None]"))] for sign in signs)  # fmt: skip
    for name in "add subtract multiply divide power maximum minimum logaddexp".split():
        yield [CodeLine(f"np.{name}.{rest}", ("numpy",)) for rest in ("outer(x, u)", "outer(X, u)", "reduce(X)", "reduce(X, 1)", "reduce(X, axis=1)", "reduce(x)", "reduce(X, axis=None)", "reduce(X, axis=1, keepdims=True)", "accumulate(X)", "accumulate(X, 1)", "accumulate(x)", "reduceat(x, [0, 2])", "reduce(X, axis=(0, 1))")]  # fmt: skip
    clips = (", 0.5, 1", ", 0.5, None", ", None, 1", ", 0, u", ", x[:, None], 1", ", -1, 1")
    yield from calls("np", "clip", "x|X", (*clips, ", a_min=0.5, a_max=1", ", min=0.5, max=1", ", 0.5"))
    yield from calls("torch .torch", "clamp clip", "x|X", (*clips, ", min=0.5", ", max=1", ", min=0.5, max=1", ", 0.5"))
    yield from calls(".np", "clip", "x|X", (*clips, ", 0.5", ", max=1", ", min=0.5"))
    yield from shapes_rows()
    yield from condition_rows()
    yield from others_rows()


def both(*sources: str) -> list[CodeLine]:
    """Return lines that name no library."""
    return [CodeLine(source, ("numpy", "torch")) for source in sources]


def write_lines(*sources: str) -> list[CodeLine]:
    """Return lines whose library is in their text."""
    return [CodeLine(source, ("torch",) if re.search(TORCH, source) else ("numpy",)) for source in sources]


def shapes_rows() -> Iterator[list[CodeLine]]:
    """Yield the calls that order, cut, join and repeat dimensions."""
    yield from calls(
        "np", "transpose", "X|T", ("", ", (1, 0)", ", (2, 0, 1)", ", axes=(0, 2, 1)", ", None", ", [1, 0]")
    )
    yield from calls(".np", "transpose", "X|T", ("", ", 1, 0", ", (2, 0, 1)", ", 2, 1, 0"))
    yield from calls(
        "torch .torch",
        "transpose swapaxes swapdims",
        "X|T",
        (", 0, 1", ", -1, -2", ", 1, 0", ", dim0=0, dim1=1", ", 0, 2"),
    )
    yield from calls(
        "torch .torch", "permute", "X|T", (", (1, 0)", ", 1, 0", ", (2, 0, 1)", ", 2, 0, 1", ", dims=(0, 2, 1)")
    )
    yield from calls("np .np", "swapaxes", "X|T", (", 0, 1", ", -1, -2", ", axis1=0, axis2=1", ", 0, 2"))
    yield from calls("np", "moveaxis rollaxis", "X|T", (", 0, -1", ", -1, 0", ", [0, 1], [1, 2]", ", 0, 1", ", 2", ", source=0, destination=-1", ", 2, 1"))  # fmt: skip
    yield from calls(
        "torch .torch",
        "movedim moveaxis",
        "X|T",
        (", 0, -1", ", -1, 0", ", (0, 1), (1, 2)", ", source=0, destination=-1"),
    )
    yield from calls("np", "expand_dims", "x|X", (", 0", ", 1", ", -1", ", axis=0", ", (0, 1)"))
    yield from calls("torch .torch", "unsqueeze", "x|X", (", 0", ", 1", ", -1", ", dim=0"))
    yield from calls("np .", "squeeze", "x[:, None]|X[None]|T", ("", ", 1", ", 0", ", axis=0", ", -1"))
    yield from calls(
        "np",
        "reshape",
        "X|T",
        (", -1", ", (12,)", ", (3, 2, 2)", ", (4, 3)", ", (-1, 4)", ", (6, 4)", ", X.shape", ", (2, -1)"),
    )
    yield from calls(
        ".", "reshape", "X|T", (", -1", ", 12", ", 3, 2, 2", ", (3, 2, 2)", ", -1, 4", ", 6, 4", ", X.shape", ", 2, -1")
    )
    yield from calls(
        "torch",
        "reshape flatten",
        "X|T",
        (", (-1,)", ", (3, 2, 2)", ", (-1, 4)", "", ", 1", ", 0, 1", ", start_dim=1", ", -2, -1"),
    )
    yield from calls(".torch", "view flatten unflatten", "X|T", (", -1", ", 3, 2, 2", ", -1, 4", "", ", 1", ", 0, 1", ", 1, (2, 2)", ", start_dim=1", ", dim=-1, sizes=(2, 2)"))  # fmt: skip
    yield from calls(".np np", "ravel flatten", "X|T|X.T", ("", ", 'C'", ", order='C'", ", order='F'"))
    yield from calls("np", "flip roll flipud fliplr rot90", "x|X", ("", ", 0", ", axis=0", ", 1", ", axis=-1", ", 2", ", 1, axis=0", ", -1, 1", ", (0, 1)"))  # fmt: skip
    yield from calls(
        "torch .torch", "flip roll", "x|X", (", (0,)", ", dims=(0,)", ", [0, 1]", ", 1, 0", ", 2, dims=1", ", 0", ", 1")
    )
    yield from calls("np", "concatenate stack vstack hstack dstack column_stack", "[X, Y]|(X, Y)|[x, y]", ("", ", 0", ", axis=1", ", axis=-1", ", 1"))  # fmt: skip
    yield from calls("torch", "cat concat concatenate stack vstack hstack", "[X, Y]|(X, Y)|[x, y]", ("", ", 0", ", dim=1", ", dim=-1", ", 1", ", axis=0"))  # fmt: skip
    yield from calls("np .np", "repeat", "x|X", (", 2", ", 2, axis=0", ", 2, 1", ", 3, axis=-1", ", repeats=2, axis=1"))
    yield from calls("np torch", "tile", "x|X", (", 2", ", (2, 1)", ", (1, 2)", ", (2,)"))
    yield from calls(".torch", "repeat expand repeat_interleave tile", "x|X", (", 2", ", 2, 1", ", 2, 3, 4", ", 2, 0", ", 2, dim=1", ", (2, 1)", ", 2, -1, -1"))  # fmt: skip
    yield from calls("np torch", "broadcast_to", "x|u|X", (", (3, 4)", ", (2, 3, 4)", ", (5, 3)", ", shape=(3, 4)"))
    yield from calls(
        "np",
        "pad",
        "x|X",
        (", 1", ", (1, 2)", ", ((1, 0), (0, 2))", ", 1, mode='edge'", ", 1, 'constant'", ", 1, constant_values=2"),
    )
    yield from calls(
        "F", "pad", "x|X", (", (1, 2)", ", (0, 1, 2, 0)", ", (1, 1), value=2.0", ", (1, 1), 'constant', 0")
    )
    yield both(*(f"{name}[{index}]" for name, index in itertools.product("XT", ("0", "-1", ":, 0", "..., 0", "None", ":, None", "..., None", "1:", ":-1", ":, 1:3", "0, 1", ":, ::2", "[0, 2]", ":, -1", "..., None, :", ":2, 1:"))))  # fmt: skip
    yield both("E[I]", "E[I, :]", "E[I].sum(0)", "E[I - 1 + 1]", "X[:, J]", "A[J]", "x[::-1]", "X[::-1]", "X[[0, 2]]", "E[I][:, 0]", "E[I] @ W.T", "x[:, None] * u", "x[None, :] + x[:, None]", "X[:, :, None] * W", "X[..., :2]", "X[:2] + X[1:]")  # fmt: skip
    yield both("X.T", "T.mT", "X.T @ X", "X.T.sum(0)", "X.shape[0] * X", "len(x) * x", "X.ndim * X", "x.sum() / len(x)", "X.size * X", "X.mean(0) / X.shape[1]", "T.T", "X / X.shape[-1] ** 0.5")  # fmt: skip
    yield from calls(
        "np",
        "split array_split hsplit vsplit",
        "X|T",
        (", 2, 1)[0", ", 2, axis=1)[1", ", [1, 3], 1)[1", ", 2, -1)[0", ", 2, axis=-1)[1"),
    )
    yield from calls("torch .torch", "chunk split tensor_split unbind", "X|T", (", 2, 1)[0", ", 2, dim=-1)[1", ", 2, -1)[0", ", [1, 3], 1)[1", ", 0)[1", ", dim=1)[0"))  # fmt: skip


def condition_rows() -> Iterator[list[CodeLine]]:
    """Yield comparisons by name, and the conditions of several elements."""
    names = "greater greater_equal less less_equal equal not_equal".split()
    yield write_lines(*(f"{prefix}.where({prefix}.{name.replace('equal', 'eq') if prefix == 'torch' and name == 'equal' else name}(X, Y), X, 0.5)" for prefix in ("np", "torch") for name in names))  # fmt: skip
    yield write_lines(
        *(
            f"torch.{name}(X, 0.5).float().sum(0) + torch.mean(X.{name}(Y).double(), 0)"
            for name in "gt ge lt le eq ne".split()
        )
    )
    yield write_lines("np.where(np.equal(X, Y), X, 1.0)", "np.where(np.logical_and(X > 1, Y > 1), X, Y)", "np.where(np.logical_or(X > 1, Y > 1), X, Y)", "np.where(np.logical_not(X > 1), X, Y)", "torch.where(torch.logical_or(X > 1, Y > 1), X, Y)", "np.where(np.all(X > 0.5, axis=1), x, 0.0)", "np.where(np.any(X > 1.5, axis=0), u, 0.0)", "torch.any(X > 1, 1).float()", "torch.all(X > 0.4, dim=0, keepdim=True).double()", "np.all(X > 0.5, 1) * 1.0", "(X > 1).any(axis=1) * x")  # fmt: skip
    yield write_lines("np.where(np.isnan(X), 0.0, X)", "np.nanmax(X, 0)", "np.nanmin(X, axis=1)", "torch.dist(X, Y)", "np.linalg.trace(A)", "np.linalg.diagonal(A, offset=1)", "jax.nn.softmax(X)", "jax.nn.log_softmax(X, 0)")  # fmt: skip
    yield write_lines("np.rad2deg(x)", "np.degrees(x)", "np.radians(X)", "np.fix(X)", "torch.diag_embed(x)", "torch.t(X)", "X.t() @ X", "torch.special.expit(X)", "torch.rad2deg(X)", "F.conv2d(T[:, None], M[:, None, :2, :2])", "F.conv2d(T[:, None], M[:, None, :2, :2], M[:, 0, 0])")  # fmt: skip


def others_rows() -> Iterator[list[CodeLine]]:
    """Yield products, creation, selection, linear algebra, losses, layers, einsum and einops."""
    products = ("X, W", "x, y", "T, W", "X, u", "x, X", "X, V.T", "H, M", "H, S.T", "2, X")
    for name in "matmul dot inner outer vdot kron".split():
        yield [CodeLine(f"np.{name}({pair})", ("numpy",)) for pair in (*products, "x, u")]
        yield [CodeLine(f"torch.{name}({pair})", ("torch",)) for pair in (*products, "x, u")]
    yield write_lines(*(f"torch.{name}({pair})" for name in ("mm", "mv", "bmm") for pair in products), "torch.baddbmm(P @ L, P, L)", "torch.bmm(P, L)", "torch.bmm(L, P)", "torch.addmm(X @ W, X, W)", "torch.addmv(x, X, u)", "torch.chain_matmul(X, W, V)", "np.linalg.multi_dot([X, W, V])", "torch.linalg.multi_dot([X, W, V])", "torch.outer(x, u)", "torch.ger(x, u)", "torch.cross(x, y, dim=0)", "np.cross(x, y)", "torch.cdist(Q, K)", "torch.linalg.vecdot(X, Y)", "np.vecdot(X, Y)")  # fmt: skip
    yield [CodeLine(f"{left}.{name}({right})", ("numpy",)) for name in ("dot",) for left, right in (("X", "W"), ("x", "y"), ("X", "u"), ("T", "W"))]  # fmt: skip
    yield write_lines(*(f"np.tensordot({rest})" for rest in ("X, W, 1", "X, W, axes=1", "X, Y, axes=2", "X, Y", "X, W, axes=([1], [0])", "X, W, ([1], [0])", "T, X, axes=([1, 2], [0, 1])", "X, Y, axes=(0, 0)", "x, u, 0")))  # fmt: skip
    yield write_lines(*(f"torch.tensordot({rest})" for rest in ("X, W, 1", "X, W, dims=1", "X, Y, dims=2", "X, Y", "X, W, dims=([1], [0])", "T, X, ([1, 2], [0, 1])")))  # fmt: skip
    yield from calls("np torch", "trace diag diagonal tril triu", "A|X|x|T", ("", ", 0", ", 1", ", -1", ", k=1", ", offset=1", ", diagonal=-1", ", 0, 1, 2"))  # fmt: skip
    yield from calls(
        "np.linalg torch.linalg",
        "inv det cholesky eigvalsh slogdet matrix_power pinv matrix_rank cond",
        "A|A + A.T",
        ("", ", 2", ")[1"),
    )
    yield write_lines("np.linalg.solve(A, x)", "np.linalg.solve(A, X)", "torch.linalg.solve(A, X)", "torch.linalg.solve(A, x)", "torch.logdet(A)", "torch.det(A)", "torch.inverse(A)", "np.linalg.inv(A) @ x", "np.linalg.lstsq(X, x)[0]", "torch.trace(A)", "A.trace()", "np.linalg.matrix_norm(X)", "torch.matrix_power(A, 2)", "torch.matrix_exp(A)", "torch.linalg.matrix_norm(X)")  # fmt: skip
    ranges = ("5", "1, 6", "0, 3", "1, 7, 2", "0, 10, 3", "5, 0, -1", "start=1, stop=5", "1, 2, 0.25", "3.0", "len(x)", "X.shape[1]", "0, X.shape[1]", "1, stop=4", "2, 8, step=3", "10, 0, -3")  # fmt: skip
    yield write_lines(*(f"np.arange({rest})" for rest in ranges), *(f"torch.arange({rest})" for rest in ranges), *(f"torch.arange({rest}, dtype=torch.float64)" for rest in ranges[:4]), "x - np.arange(1, 4)", "x * np.arange(len(x))", "np.linspace(0, 1, 5)", "np.linspace(1, 3, num=4)", "torch.linspace(0, 1, 5)", "np.logspace(0, 1, 3)", "np.arange(3)[:, None] * x")  # fmt: skip
    yield write_lines(*(f"{prefix}.{name.format(prefix)}" for prefix, name in itertools.product(("np", "torch"), ("ones((3, 4))", "zeros((3, 4)) + X", "ones(3)", "full((3, 4), 2.0)", "full(3, 7)", "eye(3)", "eye(3, 4)", "eye(3) @ X", "ones_like(X)", "zeros_like(X) + X", "full_like(X, 2.0)", "ones(X.shape)", "zeros(len(x)) + x", "ones(3, dtype={0}.float64)", "ones(shape=(3, 4))", "full((3,), fill_value=2.0)", "tri(3)", "identity(3)", "ones(3, 4)", "zeros(3, 4)", "ones(size=(3, 4))", "eye(3, k=1)", "eye(3, m=4)", "eye(3, M=4)", "full_like(X, fill_value=3)", "meshgrid(x, u)[0]"))))  # fmt: skip
    yield write_lines(*(f"{prefix}.where({rest})" for prefix in ("np", "torch") for rest in ("X > 1, X, 0.0", "X > Y, X, Y", "x > 1, x, -x", "X < u, X, u", "X > 0, 1.0, 0.0", "(X > 0.5) & (X < 1), X, 0.0", "~(X > 1), X, 1.0", "X == 0, 1.0, X")), "X.masked_fill(X > 1, 0.0)", "torch.masked_fill(X, X > 1, -1.0)", "np.select([X > 1, X > 0.5], [X, Y], 0.0)", "np.where(X > 1)[0]", "np.heaviside(X, 0.5)", "np.nan_to_num(X)", "np.piecewise(x, [x > 1], [2.0])")  # fmt: skip
    yield both("(X > 1).sum()", "(X > 1).sum(0)", "(X > 0) * X", "X * (X > 1)", "(X > 1) + (Y > 1)", "(X >= Y) * 1.0", "X[X > 1].sum()", "X[X > 1].mean()", "-(X > 1) * 1.0", "1.0 * (X != Y)", "(x > 0.5) @ x", "((X > 0) & (Y > 0)).sum(1)", "(X > 1) * (Y > 1) * 2.0")  # fmt: skip
    yield write_lines("np.take(E, I, axis=0)", "np.take(E, I, 0)", "E.take(I, axis=0)", "np.take_along_axis(X, J[:, None], axis=1)", "np.take_along_axis(X, J[:, None], 1)", "torch.gather(X, 1, J.unsqueeze(1))", "torch.gather(X, dim=1, index=J[:, None])", "torch.index_select(E, 0, I)", "E.index_select(0, I)", "torch.take_along_dim(X, J[:, None], dim=1)", "F.embedding(I, E)", "F.one_hot(J, 4)", "F.one_hot(J, num_classes=4)", "np.eye(4)[J]", "X[np.arange(3), J]", "X[torch.arange(3), J]", "np.choose(J, X.T)", "torch.take(x, J - J)", "np.take(x, [0, 2])", "np.compress([True, False, True], x)")  # fmt: skip
    yield from calls(
        "np torch", "diff", "x|X|T", ("", ", 1", ", 2", ", axis=0", ", n=1, axis=0", ", dim=0", ", n=2", ", 1, 0")
    )
    yield write_lines("np.average(X)", "np.average(X, 0)", "np.average(X, axis=1)", "np.average(X, axis=1, weights=u)", "np.average(X, weights=Y)", "np.average(X, 0, Y)", "np.ptp(X)", "np.ptp(X, axis=0)", "np.quantile(X, 0.5)", "np.percentile(x, 50)", "np.cov(X)", "np.corrcoef(X)", "np.count_nonzero(X > 1)", "np.convolve(x, y)", "np.convolve(u, x, 'valid')", "np.convolve(u, x, mode='same')", "np.correlate(u, x)", "np.correlate(u, x, 'valid')", "np.correlate(u, x, mode='full')", "np.interp(x, y, y)", "np.gradient(x)", "np.trapezoid(x)", "np.histogram(x)[0]", "np.searchsorted(x, 0.5)", "np.bincount(J)", "np.vander(x)", "np.outer(X, u)", "np.einsum('ij->', X)", "np.nansum(X, 0)", "np.nanmean(X)", "np.round(X, 2)", "np.real(X)", "np.unwrap(x)", "np.dot(x, y) ** 2", "np.ediff1d(x)", "np.fft.fft(x).real", "np.allclose(X, Y) * x")  # fmt: skip
    for loss in "mse_loss l1_loss binary_cross_entropy binary_cross_entropy_with_logits smooth_l1_loss huber_loss kl_div".split():
        first = "torch.sigmoid(X)" if loss == "binary_cross_entropy" else "X"
        yield write_lines(*(f"F.{loss}({first}, torch.sigmoid(Y){rest})" for rest in ("", ", reduction='sum'", ", reduction='none'", ", reduction='mean'", ", None, None, 'sum'")))  # fmt: skip
    for loss in ("cross_entropy", "nll_loss"):
        yield write_lines(*(f"F.{loss}(X, J{rest})" for rest in ("", ", reduction='sum'", ", reduction='none'", ", None", ", label_smoothing=0.1", ", weight=u", ", ignore_index=0")), f"F.{loss}(X, F.softmax(Y, 1))")  # fmt: skip
    yield write_lines(*(f"F.layer_norm(X, (4,){rest})" for rest in ("", ", u", ", u, u", ", weight=u, bias=u", ", eps=1e-3", ", None, None, 1e-3")), "F.layer_norm(T, (3, 4))", "F.layer_norm(X, [4])", "F.layer_norm(X, normalized_shape=(4,))", "F.layer_norm(X, X.shape[1:])", "F.rms_norm(X, (4,))", "F.batch_norm(X, u, u * u)", "F.group_norm(H, 2)", "F.instance_norm(T)")  # fmt: skip
    yield write_lines("F.linear(X, V)", "F.linear(X, W.T, bias=W[0])", "F.linear(H, S)", "F.linear(H, S, S[:, 0])", "F.bilinear(X, X, H[:, :4, :4])", "F.normalize(X)", "F.normalize(X, dim=0)", "F.normalize(X, p=2, dim=-1)", "F.normalize(X, 2, 1)", "F.normalize(X, p=1, dim=1)", "F.normalize(X, 2, 0, 1e-3)", "F.cosine_similarity(X, Y)", "F.cosine_similarity(X, Y, dim=0)", "F.cosine_similarity(X, Y, dim=-1)", "F.cosine_similarity(X, Y, 1, 1e-6)", "F.pairwise_distance(X, Y)", "F.scaled_dot_product_attention(Q, K, S)", "F.scaled_dot_product_attention(L, H, H)", "F.scaled_dot_product_attention(Q, K, S, scale=0.5)", "F.scaled_dot_product_attention(Q, K, S, is_causal=True)", "F.glu(X)", "F.glu(X, dim=-1)", "F.threshold(X, 0.5, 0.0)", "F.pixel_shuffle(T[:, :, :, None], 1)")  # fmt: skip
    yield write_lines("F.conv1d(P, M[:, :, :3])", "F.conv1d(P, weight=M[:, :, :3])", "F.conv1d(P, M[:, :, :3], M[:, 0, 0])", "F.conv1d(P, M[:, :, :3], bias=M[:, 0, 0])", "F.conv1d(P, M[:, :, :3], padding=1)", "F.conv1d(P, M[:, :, :3], stride=2)", "F.conv1d(P, M[:, :, :3], None, 1, 0)", "F.max_pool1d(H, 5)", "F.max_pool1d(T, 2)", "F.max_pool1d(T, kernel_size=2)", "F.max_pool1d(T, 2, 2)", "F.max_pool1d(T, 2, stride=1)", "F.avg_pool1d(T, 2)", "F.avg_pool1d(T, kernel_size=2, stride=2)", "F.max_pool2d(T, (3, 2))", "F.avg_pool2d(T, (3, 2))", "F.adaptive_avg_pool1d(T, 1)", "T.unfold(2, 2, 2)", "T.unfold(2, 2, 1)", "T.unfold(dimension=2, size=2, step=2)", "np.lib.stride_tricks.sliding_window_view(x, 2)", "np.lib.stride_tricks.sliding_window_view(X, 2, axis=1)", "np.lib.stride_tricks.sliding_window_view(X, 2, 1)", "F.interpolate(T, scale_factor=2)", "F.interpolate(H[:, None], scale_factor=3)", "F.conv2d(T[:, None], M[:, None, :2, :2], stride=2, padding=(1, 0))", "F.conv3d(H[None, None], M[:, None, None, :2, :3])", "F.max_pool2d(T, 3, 2, padding=1)", "F.max_pool3d(T[None], 2, 1)", "F.avg_pool3d(T[None], (1, 3, 2))", "F.avg_pool2d(T, 2, 2, padding=1)", "F.batch_norm(P, V.mean(1), V.var(1), V.sum(1), bias=V.mean(1))", "F.unfold(T[:, None], 2)")  # fmt: skip
    yield write_lines("F.dropout(X, training=False)", "(X > 1).half()", "X * (X > 1).long()", "X * (X > 1).int()", "torch.where((X > 1).bool(), X, 0.0)", "X.size(0) * X", "X / X.size(-1) ** 0.5", "X.float().double()", "(X > 1).astype(float)", "(X > 1).astype(np.float64).sum(0)", "torch.tensor([1.0, 2.0, 3.0]) * x", "np.array([1, 2, 3]) * x", "np.array([[1, 2], [3, 4]])", "np.asarray(X)", "X.copy()", "torch.clone(X)", "X.clone()", "X.detach()", "X.contiguous()", "np.array(X)", "torch.asarray(X)", "np.asarray([1.0, 2.0])", "np.array([0.5, 1, 2]).sum() * x", "X.to(torch.float64)", "X.type(torch.float64)", "torch.Tensor.sum(X)", "np.ascontiguousarray(X)", "X.double()", "X.astype(np.float64)", "X.numpy()", "np.copy(X)", "np.float64(2) * X", "X.item()")  # fmt: skip
    specs = ("'ij,jk->ik', X, W", "'ij->ji', X", "'ij->', X", "'ij->i', X", "'ij,ij->', X, Y", "'i,j->ij', x, u", "'ii->', A", "'ii->i', A", "'bij,jk->bik', T, W", "'ij,j', X, u", "'ij,jk', X, W", "'...j,jk->...k', T, W", "'...ij->...ji', T", "'i,i', x, y", "'ij,kj->ik', Q, K", "'ij,ij->ij', X, Y", "'b i j -> b j', T", "'ij', X", "'ba', X", "'ij,jk,kl->il', X, W, V", "'i...->...', T", "'ij,j->i', X, u, optimize=True", "'iij->j', A[:, :, None]", "' ij , jk -> ik ', X, W", "'I j,j->I', X, u")  # fmt: skip
    for prefix in ("np", "torch"):
        yield write_lines(*(f"{prefix}.einsum({spec})" for spec in specs))
    patterns = ("'i j -> j i'", "'i j -> (i j)'", "'i j -> i j 1'", "'i j -> (j i)'", "'i (a b) -> a i b', a=2", "'i (a b) -> i a b', b=2", "'i (a b) -> (i a) b', a=2", "'i ... -> ... i'", "'... j -> j ...'", "'i j -> 1 i j'", "'i (a b) -> i (b a)', a=2", "'i j -> i () j'", "'... -> (...)'", "'(i q) j -> i q j', i=3", "'i j -> i (j 1)'")  # fmt: skip
    yield [CodeLine(f"rearrange(X, {pattern})", ("numpy", "torch")) for pattern in patterns]
    yield [CodeLine(f"einops.rearrange(T, {pattern})", ("numpy", "torch")) for pattern in ("'b i j -> b (i j)'", "'b ... -> ... b'", "'b i j -> j i b'", "'b i (p q) -> b p i q', p=2", "'b i j -> (b i) j'", "'b ... j -> b j ...'", "'b i j -> b i j'", "'... i j -> ... j i'")]  # fmt: skip
    yield [CodeLine(f"reduce(X, {pattern}, '{how}')", ("numpy", "torch")) for how in ("sum", "mean", "max", "min", "prod") for pattern in ("'i j -> i'", "'i j -> 1 j'", "'i j -> '", "'i (a b) -> i a', a=2", "'... j -> ...'")]  # fmt: skip
    yield [CodeLine(f"repeat(X, {pattern})", ("numpy", "torch")) for pattern in ("'i j -> i j r', r=2", "'i j -> r i j', r=2", "'i j -> i (j r)', r=2", "'i j -> i (r j)', r=3", "'i j -> (i r) j', r=2", "'i j -> j i'", "'i j -> i 1 j'", "'... -> ... r', r=2", "'i j -> i j 3'")]  # fmt: skip
    yield write_lines("np.exp(x) / np.exp(x).sum()", "np.exp(X) / np.sum(np.exp(X), axis=1, keepdims=True)", "X - X.mean(axis=0)", "(X - np.mean(X, 0)) / np.std(X, 0)", "X / np.linalg.norm(X, axis=1, keepdims=True)", "torch.softmax(Q @ K.T / K.shape[-1] ** 0.5, dim=-1) @ S", "F.softmax(Q @ K.transpose(-2, -1), dim=-1) @ S", "np.log(np.sum(np.exp(X), axis=1))", "X @ W + W.sum(0)", "np.sum((X[:, None, :] - X[None, :, :]) ** 2, axis=-1)", "np.sqrt(((x - y) ** 2).mean())", "1 / (1 + np.exp(-X))", "np.maximum(0, X @ W)", "torch.relu(X @ W) @ V", "np.dot(X, u) + x", "(X * u).sum(-1)", "np.mean((X @ u - x) ** 2)", "torch.mean((X @ u - x) ** 2)", "X.T @ (X @ u - x) / len(x)", "np.cumsum(x)[-1]", "np.outer(x, x) / np.dot(x, x)", "np.trace(A @ A.T)", "np.linalg.solve(X.T @ X + np.eye(4), X.T @ x)", "torch.logsumexp(X, dim=1)", "torch.einsum('bij,bkj->bik', T, T)", "X - torch.logsumexp(X, dim=-1, keepdim=True)", "(X - X.min()) / (X.max() - X.min())", "np.square(X).sum(axis=1)[:, None] + np.square(X).sum(axis=1) - 2 * X @ X.T")  # fmt: skip


@functools.cache
def array_code_lines() -> tuple[CodeLine, ...]:
    """Return the lines that their library accepts, at most `PER_ROW` random ones of a row of calls."""
    chance = random.Random(0)
    lines: dict[str, CodeLine] = {}
    arrays = random_arrays(0, True)
    for row in rows():
        accepted = []
        for line in chance.sample(row, len(row)):
            libraries = tuple(
                library for library in line.libraries if library_value(line.source, library, arrays) is not None
            )
            if libraries and line.source not in lines:
                accepted.append(CodeLine(line.source, libraries))
            if isinstance(row, Variants) and len(accepted) == max(PER_ROW, len(row) // 8):
                break
        lines |= {line.source: line for line in accepted}
    return tuple(lines.values())
