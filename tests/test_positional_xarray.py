"""`xr.dot`, which aligns axes by their names, translated and compared with xarray itself."""

import numpy as np
import pytest

import namedtensor as nt

RANDOM = np.random.default_rng(7)
AXES = {"A": "x y z", "B": "x z", "C": "z w"}
SIZES = {"x": 2, "y": 3, "z": 4, "w": 5}
ARRAYS = {name: RANDOM.normal(size=[SIZES[axis] for axis in axes.split()]) for name, axes in AXES.items()}
CALLS = {
    "xr.dot(A, B, dim='z')": ("A ⊙_{z} B", "xyz,xz->xy"),
    "xarray.dot(A, B, dim=['x', 'z'])": ("A ⊙_{x, z} B", "xyz,xz->y"),
    "xr.dot(A, B)": ("A ⊙_{x, z} B", "xyz,xz->y"),
    "xr.dot(A, B, dim='y')": ("∑_{y} A ⊙ B", "xyz,xz->xz"),
    "xr.dot(A, B, dim=...)": ("∑_{y} A ⊙_{x, z} B", "xyz,xz->"),
    "xr.dot(A, dim='y')": ("∑_{y} A", "xyz->xz"),
    "xr.dot(B, C, A)": (None, "xz,zw,xyz->wy"),
}


@pytest.mark.parametrize("call", CALLS)
def test_dot_by_names(call):
    formula, letters = CALLS[call]
    names = letters.partition("->")[0].split(",")
    axes = {name: AXES[name] for name in AXES if AXES[name].replace(" ", "") in names}
    translation = nt.translate(call, axes)
    assert formula is None or str(translation) == formula
    expected = np.einsum(letters, *(ARRAYS[name] for name in sorted(axes, key=lambda name: call.index(name))))
    np.testing.assert_allclose(np.asarray(translation(**{name: ARRAYS[name] for name in axes})), expected)


def test_the_comparison_with_xarray_is_said():
    pytest.importorskip("xarray")
    translation = nt.translate("np.tanh(xr.dot(A, B, dim='z'))", A=AXES["A"], B=AXES["B"])
    assert translation.checked == "equal to the value of NumPy and xarray on 5 random inputs"
