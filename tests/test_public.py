"""The public names: what users type stays."""

import inspect
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import namedtensor as nt
import transformer
from grammar import nodes
from namedtensor.tensors.lazy import FOREIGN_NAMES

ROOT = Path(__file__).parent.parent

# The surface: every public name, no more and no fewer.
NAMES = """tensor NamedTensor allclose from_xarray from_pandas from_polars evaluate formula program load_program check explain derivative custom_function CustomOperator operator heatmap
compile cost parameters init diagram to_text to_latex latex_preamble to_python to_javascript to_einsum quantize load_tensors save_tensors TensorFile load_tensor save_tensor arange eye full full_like ones ones_like random_normal random_uniform zeros zeros_like from_dlpack scan vmap set_printoptions equivalent exercises prove gradient strict from_torch follows DifferenceError
check_document NotationError NotationWarning Limits Formula Program translate from_einops from_einsum""".split()
FUNCTIONS = """exp log uniform sqrt sin cos tan tanh sinh cosh abs sign floor ceil sigmoid relu ReLU gelu gelu_tanh silu softplus erf
max min pow clip where sum prod mean var std norm any all logsumexp softmax logsoftmax argmax argmin standardize cumsum
cumprod sort unroll pool index maxk argmaxk onehot concat stack iota identity det inv trace cofactors dot odd even negative
ln log1p expm1 arctan arcsin arccos round mod logsigmoid leaky_relu elu cummax cummin argsort median quantile logdet solve diag lgamma digamma polygamma gamma factorial binom cholesky eigvalsh eigh expm ones isnan fillna nansum nanmean nanmin nanmax nanvar nanstd
add subtract multiply divide equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not""".split()
NO_METHODS = """uniform stack iota identity ones add subtract multiply divide equal not_equal less less_equal greater greater_equal
logical_and logical_or""".split()
METHODS = """array axes sizes shape dtype ndim layout labels to_array to_numpy tolist item to_xarray to_pandas to_polars to_text to_latex
rename merge split backward with_labels sel astype flip pad roll to take topk unstack where""".split()
METHODS += [name for name in FUNCTIONS if name not in NO_METHODS]
LAYERS = """Attention BART BERT CLIP DistilBERT EncoderBlock EncoderDecoder FFN GPT2 GPTNeoX Gemma2 Layer LayerNorm Llama Mamba Mistral
Mixtral MultiHeadAttention OPT Phi Qwen2 Qwen3 ResNet RoBERTa SelfAttention SentenceModel T5 Transformer ViT Whisper attention_maps load
minilm tokenizer""".split()
VERBS = "check evaluate explain derivative compile cost parameters init diagram to_text to_latex to_python to_javascript to_einsum".split()


@pytest.mark.parametrize("name", NAMES + FUNCTIONS)
def test_a_name_of_the_package(name):
    assert callable(getattr(nt, name))
    assert getattr(nt, name).__doc__
    assert name in dir(nt)


@pytest.mark.parametrize("name", [*nodes.REMOVED, "Tensor"])
def test_a_removed_node_tells_its_replacement(name):
    instead = nodes.REMOVED.get(name, "")
    with pytest.raises(AttributeError, match=f"^{re.escape(f'grammar.nodes has no {name}{instead}')}$"):
        getattr(nodes, name)


@pytest.mark.parametrize("name", nt.REMOVED)
def test_a_removed_name_tells_its_replacement(name):
    assert not hasattr(nt, name)
    with pytest.raises(AttributeError, match=re.escape(nt.REMOVED[name])):
        getattr(nt, name)


@pytest.mark.parametrize("name", METHODS)
def test_a_name_of_tensors(name):
    assert inspect.getdoc(getattr(nt.NamedTensor, name))


def test_the_surface_is_the_table():
    assert set(dir(nt)) == {*NAMES, *FUNCTIONS, *nt.MODULES, "__version__"}
    assert {name for name in dir(nt.tensor(1)) if not name.startswith("_")} == set(METHODS)
    assert {name for name in dir(nt.NamedTensor) if not name.startswith("_")} == {*METHODS, *FOREIGN_NAMES}
    assert set(transformer.__all__) == set(LAYERS)


@pytest.mark.parametrize(
    "module", ["core.tensor", "tensors.eager", "tensors.digits", "files.safetensors", "core.arrays"]
)
def test_tensors_have_their_methods_whatever_is_imported_first(module):
    code = f"import namedtensor.{module}; from namedtensor.core.tensor import tensor; print((1 + tensor([1, 2], 'a')).tolist())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.stdout == "[2, 3]\n", run.stderr


def test_a_pickled_tensor_has_its_methods():
    code = f"import pickle; print((1 + pickle.loads({pickle.dumps(nt.tensor([1, 2], 'a'))!r})).tolist())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.stdout == "[2, 3]\n", run.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_of_formulas_programs_and_their_names(verb):
    program = nt.program("f(x) = 2 x")
    for of in (nt.formula("x + 1"), program, program["f"]):
        assert callable(getattr(of, verb)) and inspect.getdoc(getattr(of, verb))


def test_what_is_exported_is_there():
    assert {*NAMES, *nt.MODULES} == set(nt.__all__)


def test_an_unknown_name_is_no_attribute():
    with pytest.raises(AttributeError, match="has no attribute 'sofmax'; did you mean softmax"):
        nt.sofmax  # type: ignore # noqa: B018


def test_an_unknown_name_of_a_tensor_is_no_attribute():
    code = "import namedtensor as nt; nt.tensor(1).sofmax"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert "AttributeError: 'NamedTensor' object has no attribute 'sofmax'. Did you mean: 'softmax'?" in run.stderr
    with pytest.raises(AttributeError) as raised:
        nt.tensor(1).zork  # type: ignore # noqa: B018
    assert raised.value.name == "zork"
