"""Check assertions about tensors of bfloat16, which NumPy does not have."""

import pytest

import namedtensor as nt

VALUES = [0.3, 0.7, 1.1, 2.3, 5.9]


@pytest.fixture(params=["torch", "jax.numpy"])
def tensor(request):
    library = pytest.importorskip(request.param)
    data = library.asarray(VALUES, dtype=library.bfloat16)
    return nt.tensor(data, "a")


@pytest.mark.parametrize("equation", ["A = 2 A", "∑_{a} A = 20", "A + 3 = A"])
def test_a_wrong_equation_fails(tensor, equation):
    with pytest.raises(nt.NotationError, match="assertion failed"):
        nt.evaluate(f"{equation}\nA", A=tensor)


@pytest.mark.parametrize("equation", ["A = 2 A / 2", "∑_{a} A = (∑_{a} 3 A) / 3", "∑_{a} softmax_{a} A = 1"])
def test_an_equation_holds_up_to_the_rounding_of_bfloat16(tensor, equation):
    assert nt.evaluate(f"{equation}\nA", A=tensor).axes == ("a",)


def test_an_element_outside_of_its_set_is_an_error(tensor):
    with pytest.raises(nt.NotationError, match=r"is not in \{0, 2\}"):
        nt.evaluate("A ∈ {0, 2}\nA", A=tensor)
