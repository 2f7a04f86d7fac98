"""A name spelled as the index of a family: inside the family's equation the index hides it."""

import pytest

import namedtensor as nt
from namedtensor import reference

X = [1.0, 2.0]
MEMBERS = {"W^1": 2.0, "W^2": 3.0, "W^3": 1.0}
GRID = "c^{i,j} = c^{i-1,j} + c^{i,j-1} + i j for i = 1, …, 2 for j = 1, …, 2\nc^{0,j} = x for j = 1, …, 2\nc^{i,0} = x for i = 1, …, 2"
PROGRAMS = {  # NAME is one of its indices, or another name; the value is the same
    "NAME = ∑_{d} h^3\nh^l = h^{l-1} W^l for l = 1, …, 3\nh^0 = x": "l",
    "h^l = h^{l-1} l for l = 1, …, 3\nh^0 = x\nNAME = ∑_{d} h^3": "l",
    "NAME = ∑_{d} h^1\nh^l = l W^l h^{l+1} for l = 3, …, 1\nh^4 = x": "l",
    "NAME = ∑_{d} h^2\nh^l = g^l for l = 1, …, 3\ng^l = l x for l = 1, …, 3": "l",
    "NAME = ∑_{d} h^{80}\nh^l = h^{l-1} + 1 for l = 1, …, 80\nh^0 = x": "l",
    "NAME = |d|\nh^l = h^{l-1} / 2 + ∑_{j=1}^{l} j for l = 1, …, 80\nh^0 = ∑_{d} x\nh^{80} + NAME": "l",
    "f(u) = NAME\nNAME = ∑_{d} h^3\nh^l = h^{l-1} W^l for l = 1, …, 3\nh^0 = u\nf(x)": "l",
    "NAME = ∑_{d} H_{t(3)}\nH_{t(l)} = h^l for l = 1, …, 3\nh^l = h^{l-1} W^l for l = 1, …, 3\nh^0 = x": "l",
    f"NAME = ∑_{{d}} c^{{2,2}}\n{GRID}\nNAME": "i",
    f"NAME = ∑_{{d}} c^{{2,2}}\n{GRID}\n NAME": "j",
    "h^t = t h^{t-1} for t = 1, …, 3\nh^0 = x\nNAME = 7 x\n∑_{d} (h^3 + NAME)": "t",
}


@pytest.mark.parametrize("text", PROGRAMS)
def test_the_index_hides_the_name(text):
    alike, apart = text.replace("NAME", PROGRAMS[text]), text.replace("NAME", "q")
    inputs = {"x": nt.tensor(X, "d"), **MEMBERS}
    value = float(nt.evaluate(alike, inputs))
    assert value == float(nt.evaluate(apart, inputs))
    assert value == reference.evaluate(alike, {"x": reference.tensor(X, "d"), **MEMBERS})({})
    types = {"x": "ℝ^{d[2]}"} | dict.fromkeys(MEMBERS, "ℝ")
    assert not nt.check(alike, types).errors if "W" in text else not nt.check(alike, x="ℝ^{d[2]}").errors


def test_a_name_that_needs_itself_is_still_told():
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate("l = ∑_{d} h^3\nh^k = h^{k-1} l for k = 1, …, 3\nh^0 = x", x=nt.tensor(X, "d"))
    assert caught.value.code == 203
