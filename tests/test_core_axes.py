"""Names of axes, as people write them."""

import pytest

import namedtensor as nt
from namedtensor.core.axes import check_axis, names_of

GOOD = [
    "seq",
    "seq'",
    "seq''",
    "hidden_1",
    "seq*",
    "seq†",
    "seq'*",
    "W2",
    "γ",
    "γ'",
    "ax_in",
    "x1'",
    "heads_1_2",
    "données",
]
BAD = ["", "1a", "a-b", "a b", "a.b", "_a", "a@", "'", "a__b", "a^2", None, 3, ("a",), b"a"]


@pytest.mark.parametrize("name", GOOD)
def test_a_name(name):
    assert check_axis(name) == name


@pytest.mark.parametrize("name", BAD)
def test_no_name(name):
    with pytest.raises(nt.NotationError) as caught:
        check_axis(name)
    assert caught.value.code == 208 and "invalid axis name" in str(caught.value)


FOLDED = {"seq’": "seq'", "seq′": "seq'", " seq ": "seq", "ϵ": "ε", "ﬁ": "fi", "ｓｅｑ": "seq"}


@pytest.mark.parametrize("written", FOLDED)
def test_names_are_folded_as_the_language_folds_them(written):
    assert check_axis(written) == FOLDED[written]


@pytest.mark.parametrize(
    "written",
    ["height width", "  height \n width ", ("height", "width"), ["height", "width"], iter(["height", "width"])],
)
def test_several_names(written):
    assert names_of(written) == ("height", "width")


def test_no_names_are_none():
    assert names_of("") == names_of(()) == ()


@pytest.mark.parametrize("written", ["height, width", "height,width", ("height,", "width")])
def test_a_comma_is_told_of(written):
    with pytest.raises(nt.NotationError, match="separated with spaces, not commas"):
        names_of(written)


@pytest.mark.parametrize("written", [3, None, 2.5])
def test_what_names_nothing(written):
    with pytest.raises(nt.NotationError, match=f"{written} does not name axes"):
        names_of(written)
