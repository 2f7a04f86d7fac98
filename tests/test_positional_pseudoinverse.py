"""The pseudoinverse, whose formula requires independent columns or independent rows."""

import numpy as np
import pytest

import namedtensor as nt

TALL = np.random.default_rng(8).normal(size=(5, 3))
INVERSE = np.linalg.pinv(TALL)


@pytest.mark.parametrize("source", [r"A^\dagger b", r"A^{\dagger} b", "A^+ b", "A^{+} b", "np.linalg.pinv(A) @ b"])
def test_a_pseudoinverse_is_asked_about_and_has_the_value_of_numpy(source):
    with pytest.raises(nt.NotationError) as caught:
        nt.translate(source, A="m n", b="m")
    assert caught.value.code == 116 and len(caught.value.readings) == 2
    for reading, (A, inverse) in enumerate(((TALL, INVERSE), (TALL.T, INVERSE.T)), 1):
        b = np.arange(1.0, len(A) + 1)
        value = nt.translate(source, A="m n", b="m", reading=reading)(A, b)
        np.testing.assert_allclose(np.asarray(value), inverse @ b, rtol=1e-9)


def test_a_pseudoinverse_of_pytorch_is_compared_with_its_value():
    pytest.importorskip("torch")
    translation = nt.translate("torch.linalg.pinv(A)", A="m n", reading=1)
    assert translation.checked == "equal to PyTorch's own value on 5 random inputs"
    np.testing.assert_allclose(np.asarray(translation(TALL)), INVERSE, rtol=1e-9)


@pytest.mark.parametrize(("source", "message"), [
    ("x^+", "^+ of something other than a matrix is not supported"),
    (r"x^\dagger", "^† of something other than a matrix is not supported"),
    ("A^*", "^* is not supported"),
    ("np.linalg.pinv(A, 0.1)", "pinv expects one matrix"),
    ("np.linalg.pinv(x)", "pinv of anything but one matrix is not supported"),
])  # fmt: skip
def test_other_raised_signs_are_refused(source, message):
    with pytest.raises(nt.NotationError) as caught:
        nt.translate(source, {"x": "n"} if "x" in source.replace(r"\x", "") else {"A": "m n"})
    assert (caught.value.code, caught.value.message) == (115, message)
