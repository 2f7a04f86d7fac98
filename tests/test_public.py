"""The public names: what users type stays."""

import pytest

import namedtensor as nt

NAMES = """tensor NamedTensor allclose from_xarray evaluate formula program load check explain derivative function picture
compile cost parameters init diagram to_text to_latex to_python same exercises load_tensors save_tensors set_digits
NotationError NotationWarning Limits Formula Program""".split()
FUNCTIONS = """exp log sqrt sin cos tan tanh sinh cosh abs sign floor ceil sigmoid relu ReLU gelu gelu_tanh silu softplus erf
max min pow clip where sum prod mean var std norm any all logsumexp softmax logsoftmax argmax argmin standardize cumsum
cumprod sort unroll pool index maxk argmaxk onehot concat stack iota det inv trace dot""".split()
METHODS = """to_array rename merge split exp softmax sum mean standardize sort norm index dot to_text to_xarray tolist to_numpy item""".split()
VERBS = "check evaluate explain derivative compile cost parameters init diagram to_text to_latex to_python".split()


@pytest.mark.parametrize("name", NAMES + FUNCTIONS)
def test_a_name_of_the_package(name):
    assert callable(getattr(nt, name))
    assert getattr(nt, name).__doc__
    assert name in dir(nt)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_of_tensors(name):
    assert callable(getattr(nt.NamedTensor, name))


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_of_formulas_programs_and_their_names(verb):
    program = nt.program("f(x) = 2 x")
    for of in (nt.formula("x + 1"), program, program["f"]):
        assert callable(getattr(of, verb)) and getattr(of, verb).__doc__


def test_what_is_exported_is_there():
    assert set(NAMES) == set(nt.__all__)


def test_an_unknown_name_is_no_attribute():
    with pytest.raises(AttributeError, match="has no attribute 'sofmax'; did you mean softmax"):
        nt.sofmax  # noqa: B018
