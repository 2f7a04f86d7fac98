"""To xarray and back: dimensions are axes."""

import numpy as np
import pytest

import namedtensor as nt

xarray = pytest.importorskip("xarray")
DATA = [[3.0, 1.0, 4.0], [1.0, 5.0, 9.0]]


def test_dimensions_become_axes():
    tensor = nt.from_xarray(xarray.DataArray(DATA, dims=("height", "width"), coords={"height": ["a", "b"]}))
    assert tensor.sizes == {"height": 2, "width": 3} and tensor.array.tolist() == DATA
    assert isinstance(tensor.array, np.ndarray)


def test_axes_become_dimensions():
    array = nt.tensor(DATA, "height width").to_xarray()
    assert array.dims == ("height", "width") and array.values.tolist() == DATA
    assert nt.tensor(2.5).to_xarray().dims == ()


@pytest.mark.parametrize("axes", ["height width", "width height"])
def test_there_and_back(axes):
    tensor = nt.tensor(nt.tensor(DATA, "height width"), axes)
    assert nt.allclose(nt.from_xarray(tensor.to_xarray()), tensor)


def test_both_broadcast_alike():
    left, right = nt.tensor(DATA, "height width"), nt.tensor([1.0, 2.0, 3.0], "width")
    assert nt.allclose(nt.from_xarray(left.to_xarray() * right.to_xarray()), left * right)


@pytest.mark.parametrize("name", ["3d", "a b", "", None])
def test_a_dimension_whose_name_is_none_of_the_notation_is_refused(name):
    array = xarray.DataArray([1.0], dims=(name,) if name is not None else ("dim 0",))
    with pytest.raises(nt.NotationError, match="error 208"):
        nt.from_xarray(array)


def test_an_array_of_xarray_is_not_taken_for_one_without_names():
    with pytest.raises(nt.NotationError, match="already has axes a, not b"):
        nt.tensor(xarray.DataArray([1.0], dims=("a",)), "b")
    assert nt.tensor(xarray.DataArray([1.0], dims=("a",))).axes == ("a",)


def test_where_xarray_is_missing_it_is_said(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(nt.NotationError, match="xarray is not installed"):
        nt.tensor(DATA, "a b").to_xarray()


def test_what_is_no_array_of_xarray_has_its_error():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(nt.NotationError, match="a DataArray of xarray, got Dataset") as raised:
        nt.from_xarray(xarray.Dataset({"low": ("x", [1, 2])}))
    assert raised.value.code == 208 and raised.value.hint == 'choose a variable: nt.from_xarray(dataset["name"])'
    index = pandas.MultiIndex.from_tuples([(1, 2), (3, 4)], names=["p", "q"])
    coords = xarray.Coordinates.from_pandas_multiindex(index, "x")
    with pytest.raises(nt.NotationError, match="dimension x has a MultiIndex") as raised:
        nt.from_xarray(xarray.DataArray([1, 2], dims="x", coords=coords))
    assert raised.value.code == 317 and raised.value.hint == 'write nt.from_xarray(array.unstack("x"))'
