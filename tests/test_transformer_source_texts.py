"""The layers of the source texts against computations by position, in NumPy, and in PyTorch where `torch.nn` has the layer."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from layer_cases import CASES, LENET, TRANSLATION

import namedtensor as nt
from transformer import cheat_sheet, dataflowr, learning_records, lelarge, paper, slides

BY_KIND = {case.kind: case for case in CASES}


def layer_of(kind, seed=0, further=None):
    """A layer of random parameters, with random inputs."""
    case = BY_KIND[kind]
    return case.layer(seed), case.inputs(seed, further)


def array(tensor, axes):
    return tensor.to_array(axes)


def parameters(layer, **axes):
    """Parameters as positional arrays, in the order of their names, each with its axes."""
    return [layer.parameters[name].to_array(order) for name, order in axes.items()]


def same(got, axes, want):
    np.testing.assert_allclose(got.to_array(axes), want, rtol=1e-10, atol=1e-12)


def softmax(x, axis=-1):
    raised = np.exp(x - x.max(axis, keepdims=True))
    return raised / raised.sum(axis, keepdims=True)


def standardized(x, axis, ε=1e-5):
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + ε)


def relu(x):
    return np.maximum(x, 0)


# ----------------------------------------------------------------------------------------------------------- Lelarge
def test_a_linear_layer():
    layer, (X,) = layer_of(lelarge.Linear, further={"seq": 4})
    W, b = parameters(layer, W="ax bx", b="bx")
    same(layer(X), "seq bx", array(X, "seq ax") @ W + b)


@pytest.mark.parametrize(
    ("kind", "first", "last"), [(lelarge.FeedForward, "ax", "bx"), (lelarge.FFN, "chans", "chans")]
)
def test_a_feedforward_network(kind, first, last):
    layer, (X,) = layer_of(kind, further={"seq": 4})
    W_1, b_1, W_2, b_2 = parameters(layer, W_1=f"{first} hidden", b_1="hidden", W_2=f"hidden {last}", b_2=last)
    same(layer(X), f"seq {last}", relu(array(X, f"seq {first}") @ W_1 + b_1) @ W_2 + b_2)


@pytest.mark.parametrize("kind", [lelarge.Attention, paper.Attention])
@pytest.mark.parametrize("query", ["key", "seq key", "seq' key", "heads seq key", "batch heads seq' key"])
def test_attention_maps_over_the_axes_of_its_queries(kind, query):
    """A query that brings seq has it mapped over: one output for each query, as a loop over the queries gives."""
    sizes = {"seq": 4, "seq'": 5, "key": 3, "val": 2, "heads": 2, "batch": 3}
    random = np.random.default_rng(0)
    shared = [axis for axis in query.split() if axis in ("heads", "batch")]

    def draw(axes):
        return nt.tensor(random.normal(size=[sizes[axis] for axis in axes]), axes)

    Q, K, V = draw(query.split()), draw([*shared, "seq", "key"]), draw([*shared, "seq", "val"])
    got = kind()(Q, K, V)
    further = query.split()[:-1]
    for record in itertools.product(*(range(sizes[axis]) for axis in further)):
        at = dict(zip(further, record))
        q = Q[at].to_array("key")
        k, v = ({axis: at[axis] for axis in shared},) * 2
        keys, values = K[k].to_array("seq key"), V[v].to_array("seq val")
        same(got[at], "val", softmax(keys @ q / math.sqrt(3)) @ values)


def attended(layer, X):
    W_Q, b_Q, W_K, b_K, W_V, b_V = parameters(
        layer, W_Q="chans key", b_Q="key", W_K="chans key", b_K="key", W_V="chans val", b_V="val"
    )
    Q, K, V = X @ W_Q + b_Q, X @ W_K + b_K, X @ W_V + b_V
    return softmax(Q @ K.T / math.sqrt(K.shape[-1])) @ V


def test_self_attention():
    layer, (X,) = layer_of(lelarge.SelfAttention)
    same(layer(X), "seq val", attended(layer, array(X, "seq chans")))


def test_mean_variance_and_standardize_over_any_axes():
    X = np.random.default_rng(0).normal(size=(3, 4, 5))
    tensor = nt.tensor(X, "batch seq chans")
    same(lelarge.Mean().evaluate("mean_{seq}", tensor), "batch chans", X.mean(1))
    same(lelarge.Variance().evaluate("var_{seq}", tensor), "batch chans", X.var(1))
    same(lelarge.Variance().evaluate("var_{seq,chans}", tensor), "batch", X.var((1, 2)))
    same(lelarge.Standardize().evaluate("standardize_{chans}", tensor), "batch seq chans", standardized(X, 2))
    same(
        lelarge.Standardize().evaluate("standardize_{batch,chans}", tensor), "batch seq chans", standardized(X, (0, 2))
    )
    same(nt.standardize(tensor, axis="chans"), "batch seq chans", standardized(X, 2))


@pytest.mark.parametrize("module", [lelarge, paper], ids=["lelarge", "paper"])
def test_batch_and_instance_norm_are_pytorchs(module):
    torch = pytest.importorskip("torch")
    for kind, other in ((module.BatchNorm, torch.nn.BatchNorm1d), (module.InstanceNorm, torch.nn.InstanceNorm1d)):
        layer, (X,) = layer_of(kind)
        options = {"affine": True, "dtype": torch.float64}
        want = other(3, **options)
        γ, β = parameters(layer, γ="chans", β="chans")
        want.load_state_dict({"weight": torch.tensor(γ), "bias": torch.tensor(β)}, strict=False)
        positional = want(torch.tensor(array(X, "batch chans layer"))).detach().numpy()
        same(layer(X), "batch chans layer", positional)


@pytest.mark.parametrize("kind", [lelarge.LayerNormOfLayer, paper.LayerNorm])
def test_layer_norm_over_layer_and_channels_is_pytorchs(kind):
    torch = pytest.importorskip("torch")
    layer, (X,) = layer_of(kind)
    want = torch.nn.LayerNorm((3, 5), dtype=torch.float64)
    γ, β = parameters(layer, γ="chans layer", β="chans layer")
    want.load_state_dict({"weight": torch.tensor(γ), "bias": torch.tensor(β)})
    same(layer(X), "batch chans layer", want(torch.tensor(array(X, "batch chans layer"))).detach().numpy())


def test_layer_norm_over_channels_is_pytorchs():
    torch = pytest.importorskip("torch")
    layer, (X,) = layer_of(lelarge.LayerNorm, further={"batch": 2, "seq": 5})
    want = torch.nn.LayerNorm(3, dtype=torch.float64)
    γ, β = parameters(layer, γ="chans", β="chans")
    want.load_state_dict({"weight": torch.tensor(γ), "bias": torch.tensor(β)})
    same(layer(X), "batch seq chans", want(torch.tensor(array(X, "batch seq chans"))).detach().numpy())


def test_the_block():
    layer, (tensor,) = layer_of(lelarge.EncoderBlock)
    γ, β, W_1, b_1, W_2, b_2 = parameters(
        layer, γ="chans", β="chans", W_1="chans hidden", b_1="hidden", W_2="hidden chans", b_2="chans"
    )
    X = array(tensor, "seq chans")
    X_1 = standardized(X, 1) * γ + β
    X_2 = X + attended(layer, X_1)
    Y = X_2 + relu((standardized(X_2, 1) * γ + β) @ W_1 + b_1) @ W_2 + b_2
    for name, want in {"X_1": X_1, "X_2": X_2, "Y": Y}.items():
        same(layer.evaluate(name, tensor), "seq chans", want)


# --------------------------------------------------------------------------------------------------------- dataflowr
def test_attention_to_a_database():
    """The text's own order: columns are inputs and samples."""
    layer, (inputs, samples) = layer_of(dataflowr.Attention)
    X, X_ = array(inputs, "chans seq"), array(samples, "chans' memory")
    W_Q, W_K, W_V = parameters(layer, W_Q="key chans", W_K="key chans'", W_V="out chans'")
    Q, K, V = W_Q @ X, W_K @ X_, W_V @ X_
    Y = np.stack([V @ softmax(K.T @ Q[:, s] / math.sqrt(2)) for s in range(2)], 1)
    same(layer(inputs, samples), "out seq", Y)


def of_one_head(X, W_Q, W_K, W_V):
    """Y_s = ∑_t softmax_t(X_sᵀ W_Qᵀ W_K X_t / √k) W_V X_t, as the text writes it."""
    count, k = X.shape[1], len(W_Q)
    columns = []
    for s in range(count):
        weights = softmax(np.array([X[:, s] @ W_Q.T @ W_K @ X[:, t] / math.sqrt(k) for t in range(count)]))
        columns.append(sum(weights[t] * (W_V @ X[:, t]) for t in range(count)))
    return np.stack(columns, 1)


def test_self_attention_by_columns():
    layer, (tensor,) = layer_of(dataflowr.SelfAttention)
    W_Q, W_K, W_V = parameters(layer, W_Q="key chans", W_K="key chans", W_V="chans' chans")
    same(layer(tensor), "chans seq", of_one_head(array(tensor, "chans seq"), W_Q, W_K, W_V))


def of_heads(layer, X):
    W_Q, W_K, W_V, W_O = parameters(
        layer, W_Q="heads key chans", W_K="heads key chans", W_V="heads val chans", W_O="chans concat"
    )
    return W_O @ np.concatenate([of_one_head(X, *item) for item in zip(W_Q, W_K, W_V)])


def test_heads_are_concatenated_along_the_features():
    layer, (tensor,) = layer_of(dataflowr.MultiHeadAttention)
    same(layer(tensor), "chans seq", of_heads(layer, array(tensor, "chans seq")))


def test_multi_head_attention_is_pytorchs():
    torch = pytest.importorskip("torch")
    case = BY_KIND[dataflowr.MultiHeadAttention]._replace(sizes={"chans": 6, "heads": 2, "key": 3, "val": 3})
    layer = case.layer()
    X = nt.tensor(np.random.default_rng(0).normal(size=(2, 5, 6)), "batch seq chans")
    W_Q, W_K, W_V = parameters(layer, W_Q="heads key chans", W_K="heads key chans", W_V="heads val chans")
    (W_O,) = parameters(layer, W_O="chans concat")
    theirs = torch.nn.MultiheadAttention(6, 2, bias=False, batch_first=True, dtype=torch.float64)
    stacked = np.concatenate([item.reshape(6, 6) for item in (W_Q, W_K, W_V)])
    theirs.load_state_dict({"in_proj_weight": torch.tensor(stacked), "out_proj.weight": torch.tensor(W_O)})
    x = torch.tensor(X.array)
    same(layer(X), "batch seq chans", theirs(x, x, x)[0].detach().numpy())


def normed(x, γ, β, axis):
    shape = [-1 if index == axis else 1 for index in range(x.ndim)]
    centered = x - x.mean(axis, keepdims=True)
    return γ.reshape(shape) * centered / x.std(axis, keepdims=True) + β.reshape(shape)


@pytest.mark.parametrize("kind", [dataflowr.LayerNorm, cheat_sheet.LayerNorm])
def test_layer_norm_without_ε(kind):
    layer, (x,) = layer_of(kind, further={"seq": 5})
    γ, β = parameters(layer, γ="chans", β="chans")
    same(layer(x), "seq chans", normed(array(x, "seq chans"), γ, β, 1))


def fed(layer, x):
    W_1, b_1, W_2, b_2 = parameters(layer, W_1="chans hidden", b_1="hidden", W_2="hidden chans", b_2="chans")
    return relu(x @ W_1 + b_1) @ W_2 + b_2


def test_the_feed_forward_network_of_dataflowr():
    layer, (x,) = layer_of(dataflowr.FFN, further={"seq": 5})
    same(layer(x), "seq chans", fed(layer, array(x, "seq chans")))


def test_the_block_of_dataflowr():
    layer, (tensor,) = layer_of(dataflowr.Block)
    γ_1, β_1, γ_2, β_2 = parameters(layer, **dict.fromkeys(("γ_1", "β_1", "γ_2", "β_2"), "chans"))
    X = array(tensor, "chans seq")
    T = normed(X + of_heads(layer, X), γ_1, β_1, 0)
    same(layer(tensor), "chans seq", normed(T + fed(layer, T.T).T, γ_2, β_2, 0))


@pytest.mark.parametrize(
    "kind",
    [dataflowr.SelfAttention, dataflowr.MultiHeadAttention, dataflowr.Block, cheat_sheet.Block, lelarge.EncoderBlock],
)
@given(order=st.permutations(range(5)), seed=st.integers(0, 3))
def test_inputs_in_another_order_give_outputs_in_that_order(kind, order, seed):
    layer, X, out = in_order(kind, seed)
    permuted = nt.index(X, nt.tensor(order, "seq"), axis="seq")
    same(layer(permuted), "seq chans", out[list(order)])


@cache
def in_order(kind, seed):
    layer, (X,) = layer_of(kind, seed)
    return layer, X, layer(X).to_array("seq chans")


def test_places_take_the_order_into_account():
    layer = BY_KIND[learning_records.Embedding].layer()
    first, other = (layer(nt.tensor(words, "seq")).to_array("seq chans") for words in ([1, 2, 3], [3, 2, 1]))
    assert not np.allclose(first, other[::-1])


# -------------------------------------------------------------------------------------------------- learning records
def places(count, D):
    """p by its index convention: p_{i,2k+1} and p_{i,2k+2}, all from 1."""
    p = np.full((count + 1, D + 1), np.nan)
    for i in range(1, count + 1):
        for k in range(D // 2):
            p[i, 2 * k + 1] = math.sin(i / 10000 ** (2 * k / D))
            p[i, 2 * k + 2] = math.cos(i / 10000 ** (2 * k / D))
    return p[1:, 1:]


@pytest.mark.parametrize(("count", "D"), [(5, 6), (1, 2), (40, 16)])
def test_the_encoding_of_places(count, D):
    layer = learning_records.PositionalEncoding(sizes={"seq": count, "chans": D})
    same(layer(), "seq chans", places(count, D))


def test_embeddings_with_their_places():
    layer, (w,) = layer_of(learning_records.Embedding)
    (e,) = parameters(layer, e="vocab chans")
    same(layer(w), "seq chans", math.sqrt(6) * e[array(w, "seq") - 1] + places(5, 6))


def test_keys_queries_and_values_by_loops():
    layer, (tensor,) = layer_of(learning_records.KeyQueryValueAttention)
    h = array(tensor, "seq chans")
    W_q, W_k, W_v = parameters(layer, W_q="key chans", W_k="key chans", W_v="val chans")
    N, D = h.shape
    q, k, v = ([W @ h_i for h_i in h] for W in (W_q, W_k, W_v))
    s = np.array([[q[i] @ k[j] / math.sqrt(D) for j in range(N)] for i in range(N)])
    α = np.array([[math.exp(s[i, j]) / sum(math.exp(s[i, m]) for m in range(N)) for j in range(N)] for i in range(N)])
    o = np.array([sum(α[i, j] * v[j] for j in range(N)) for i in range(N)])
    for name, axes, want in (("q", "seq key", q), ("k", "seq key", k), ("v", "seq val", v), ("s", "seq seq'", s),
                             ("α", "seq seq'", α), ("o", "seq val", o)):  # fmt: skip
        same(layer.evaluate(name, tensor), axes, want)


# ------------------------------------------------------------------------------------------------------- cheat-sheet
def test_keys_and_queries_of_different_inputs():
    layer, (asking, asked) = layer_of(cheat_sheet.Attention)
    X, X_ = array(asking, "seq chans"), array(asked, "seq' chans")
    W_v, W_q, W_k = parameters(layer, W_v="chans val", W_q="chans key", W_k="chans key")
    want = [softmax(np.array([(W_q.T @ x) @ (W_k.T @ other) for other in X_]) / math.sqrt(3)) @ (X_ @ W_v) for x in X]
    same(layer(asking, asked), "seq val", np.array(want))


def test_the_post_ln_block():
    layer, (tensor,) = layer_of(cheat_sheet.Block)
    x = array(tensor, "seq chans")
    W_v, W_q, W_k, W_1, W_2 = parameters(
        layer, W_v="chans val", W_q="chans key", W_k="chans key", W_1="chans hidden", W_2="hidden chans"
    )
    γ_1, β_1, γ_2, β_2 = parameters(layer, **dict.fromkeys(("γ_1", "β_1", "γ_2", "β_2"), "chans"))
    α = softmax((x @ W_q) @ (x @ W_k).T / math.sqrt(4))
    u = α @ (x @ W_v)
    u_ = normed(x + u, γ_1, β_1, 1)
    z = relu(u_ @ W_1) @ W_2
    z_ = normed(u_ + z, γ_2, β_2, 1)
    for name, axes, want in (("α", "seq seq'", α), ("u", "seq val", u), ("u'", "seq chans", u_), ("z", "seq chans", z),
                             ("z'", "seq chans", z_)):  # fmt: skip
        same(layer.evaluate(name, tensor), axes, want)


def test_the_post_ln_block_is_pytorchs_and_the_slide_without_the_prime_is_not():
    torch = pytest.importorskip("torch")
    layer, (X,) = layer_of(cheat_sheet.Block)
    theirs = torch.nn.TransformerEncoderLayer(4, 1, 6, dropout=0.0, layer_norm_eps=0.0, dtype=torch.float64)
    inputs = {
        "self_attn.in_proj_weight": np.concatenate([layer.parameters[f"W_{letter}"].to_array(f"{axis} chans")
                                                    for letter, axis in (("q", "key"), ("k", "key"), ("v", "val"))]),
        "self_attn.in_proj_bias": np.zeros(12), "self_attn.out_proj.weight": np.eye(4), "self_attn.out_proj.bias": np.zeros(4),
        "linear1.weight": layer.parameters["W_1"].to_array("hidden chans"), "linear1.bias": np.zeros(6),
        "linear2.weight": layer.parameters["W_2"].to_array("chans hidden"), "linear2.bias": np.zeros(4),
        **{f"norm{n}.{kind}": layer.parameters[f"{letter}_{n}"].array for n in (1, 2) for kind, letter in (("weight", "γ"), ("bias", "β"))},
    }  # fmt: skip
    theirs.load_state_dict({name: torch.tensor(value) for name, value in inputs.items()})
    want = theirs(torch.tensor(array(X, "seq chans"))[:, None]).detach().numpy()[:, 0]
    same(layer(X), "seq chans", want)
    slide = cheat_sheet.Block(layer.parameters, definitions="z' = LayerNorm(u_{val→chans} + z; γ_2, β_2)")
    assert slide(X).sizes == layer(X).sizes and not np.allclose(slide(X).to_array("seq chans"), want, atol=0.1)


def test_the_post_ln_block_with_heads():
    layer, (tensor,) = layer_of(cheat_sheet.MultiHeadBlock)
    x = array(tensor, "seq chans")
    heads = parameters(
        layer, W_v="heads chans val", W_q="heads chans key", W_k="heads chans key", W_c="heads val chans"
    )
    W_1, W_2 = parameters(layer, W_1="chans hidden", W_2="hidden chans")
    γ_1, β_1, γ_2, β_2 = parameters(layer, **dict.fromkeys(("γ_1", "β_1", "γ_2", "β_2"), "chans"))
    u = sum(softmax((x @ W_q) @ (x @ W_k).T / math.sqrt(3)) @ (x @ W_v) @ W_c for W_v, W_q, W_k, W_c in zip(*heads))
    u_ = normed(x + u, γ_1, β_1, 1)
    z_ = normed(u_ + relu(u_ @ W_1) @ W_2, γ_2, β_2, 1)
    same(layer.evaluate("u", tensor), "seq chans", u)
    same(layer(tensor), "seq chans", z_)


# ------------------------------------------------------------------------------------------------------------ slides
def test_one_query_to_a_set():
    layer, (one, many) = layer_of(slides.Attention)
    x, ξ = array(one, "chans"), array(many, "chans memory")
    W_q, W_k, W_v = parameters(layer, W_q="key chans", W_k="key chans", W_v="val chans")
    K, V = W_k @ ξ, W_v @ ξ
    a = softmax(K.T @ (W_q @ x) / math.sqrt(3))
    same(layer.evaluate("a", one, many), "memory", a)
    same(layer(one, many), "val", V @ a)


def test_cross_attention_is_h_equal_v_a():
    layer, (several, many) = layer_of(slides.CrossAttention)
    x, ξ = array(several, "chans seq"), array(many, "chans memory")
    W_q, W_k, W_v = parameters(layer, W_q="key chans", W_k="key chans", W_v="val chans")
    A = softmax((W_k @ ξ).T @ (W_q @ x) / math.sqrt(3), axis=0)
    same(layer.evaluate("A", several, many), "memory seq", A)
    same(layer(several, many), "val seq", W_v @ ξ @ A)


def test_self_attention_is_cross_attention_to_itself():
    layer, (x,) = layer_of(slides.SelfAttention)
    cross = slides.CrossAttention(dict(layer.parameters))
    same(layer(x), "val seq", cross(x, x.rename(seq="memory")).to_array("val seq"))


def test_several_heads_are_pytorchs():
    torch = pytest.importorskip("torch")
    layer, (x,) = layer_of(slides.MultiHeadAttention)
    d, h = 4, 2
    W_q, W_k, W_v = parameters(layer, W_q="heads key chans", W_k="heads key chans", W_v="heads val chans")
    (W_h,) = parameters(layer, W_h="chans stack")
    positional = torch.nn.functional.multi_head_attention_forward
    columns = torch.tensor(array(x, "seq chans"))[:, None]
    # PyTorch splits d into heads, and the slides give every head d: so it is asked on hd numbers, x beside zeros.
    wide = torch.cat([columns, torch.zeros(5, 1, d * h - d, dtype=torch.float64)], -1)
    stacked = [torch.tensor(np.pad(W.reshape(h * d, d), ((0, 0), (0, d * h - d)))) for W in (W_q, W_k, W_v)]
    out = torch.tensor(np.pad(W_h, ((0, d * h - d), (0, 0))))
    got, _ = positional(
        wide, wide, wide, d * h, h, None, None, None, None, False, 0.0, out, None,
        use_separate_proj_weight=True, q_proj_weight=stacked[0], k_proj_weight=stacked[1], v_proj_weight=stacked[2],
    )  # fmt: skip
    same(layer(x), "seq chans", got[:, 0, :d].numpy())


def test_the_recurrent_network_is_pytorchs():
    torch = pytest.importorskip("torch")
    layer, (x,) = layer_of(slides.RNN)
    W_hx, W_hh, b_h = parameters(layer, W_hx="hidden chans", W_hh="hidden hidden'", b_h="hidden")
    want = torch.nn.RNN(3, 4, dtype=torch.float64)
    state = {"weight_ih_l0": W_hx, "weight_hh_l0": W_hh, "bias_ih_l0": b_h, "bias_hh_l0": 0 * b_h}
    want.load_state_dict({name: torch.tensor(value) for name, value in state.items()})
    states = want(torch.tensor(array(x, "seq chans")))[0].detach().numpy()
    same(layer(x), "hidden", states[-1])
    for t in range(5):
        same(layer.evaluate(f"h^{t + 1}", x), "hidden", states[t])


def translator():
    """The encoder–predictor–decoder in PyTorch's own modules, with our parameters."""
    torch = pytest.importorskip("torch")
    from translator import Translator

    layer = BY_KIND[slides.EncoderPredictorDecoder].layer()
    return torch, layer, Translator(layer, TRANSLATION)


def test_translation_is_pytorchs():
    torch, layer, want = translator()
    x, y = (
        nt.tensor(words, f"batch {axis}")
        for words, axis in (([[1, 2, 3, 8], [4, 0, 2, 2]], "memory"), ([[0, 1, 5], [0, 4, 3]], "seq"))
    )
    same(layer.evaluate("h^{Enc}", x, y), "batch memory chans", want.states(array(x, "batch memory")).numpy())
    scores = want.scores(array(x, "batch memory"), array(y, "batch seq"))
    same(layer(x, y), "batch seq target", scores.numpy())
    cross_entropy = torch.nn.functional.cross_entropy(
        scores[:, :-1].transpose(1, 2), torch.tensor(array(y, "batch seq"))[:, 1:], reduction="none"
    )
    same(layer.evaluate("loss", x, y), "batch", cross_entropy.mean(1).numpy())


def test_teacher_forcing_gives_at_each_place_what_the_words_before_it_give():
    _, layer, _ = translator()
    x, y = nt.tensor([1, 2, 3], "memory"), nt.tensor([0, 4, 2, 5, 1], "seq")
    whole = layer(x, y).to_array("seq target")
    for length in range(1, 6):
        same(layer(x, y[{"seq": slice(0, length)}]), "seq target", whole[:length])


def test_greedy_decoding_is_a_loop_over_pytorchs_scores():
    _, layer, want = translator()
    random = np.random.default_rng(3)
    for stop in range(6):
        words = random.integers(0, 9, (3, 4))
        got = array(layer.translate(nt.tensor(words, "batch memory"), start=0, stop=stop, most=6), "batch seq")
        expected = np.zeros((3, 1), dtype=int)
        for _ in range(6):
            scores = want.scores(words, expected)[:, -1]
            following = np.where(expected[:, -1] == stop, stop, scores.argmax(-1).numpy())
            expected = np.concatenate([expected, following[:, None]], 1)
            if (following == stop).all():
                break
        np.testing.assert_array_equal(got, expected)


@pytest.mark.slow
def test_a_translator_learns_by_teacher_forcing_what_greedy_decoding_then_says():
    """The target language says the words of a sentence from the last to the first, between 8 and 9."""
    torch = pytest.importorskip("torch")
    sizes = {"L": 1, "chans": 16, "heads": 2, "key": 8, "val": 8, "hidden": 32, "source": 6, "target": 10}
    model = slides.EncoderPredictorDecoder.init(seed=0, sizes=sizes, dtype="float32").to("torch")
    random = np.random.default_rng(0)

    def sentences(count):
        x = random.integers(0, 6, (count, 3))
        y = np.concatenate([np.full((count, 1), 8), x[:, ::-1], np.full((count, 1), 9)], 1)
        return nt.tensor(torch.tensor(x), "batch memory"), nt.tensor(torch.tensor(y), "batch seq")

    def understood():
        x, y = sentences(100)
        with torch.no_grad():
            message = model.translate(x, start=8, stop=9, most=4).to_array("batch seq")
        return float((message == y.array).all(1).to(torch.float64).mean()) if message.shape == y.array.shape else 0.0

    assert understood() < 0.1
    optimizer = torch.optim.Adam([value.array.requires_grad_() for value in model.parameters.values()], lr=5e-3)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    for _ in range(250):
        optimizer.zero_grad()
        model.evaluate("loss", *sentences(32)).mean(axis="batch").array.backward()
        optimizer.step()
    torch.set_num_threads(threads)
    assert understood() > 0.9


@pytest.mark.parametrize("ids", [[0, 9], [-1, 2]], ids=str)
def test_a_word_out_of_range_is_refused(ids):
    layer = BY_KIND[slides.EncoderPredictorDecoder].layer()
    with pytest.raises(nt.NotationError) as caught:
        layer(nt.tensor(ids, "memory"), nt.tensor([0, 1], "seq"))
    wrong = 10 if 9 in ids else 0
    assert str(caught.value).startswith(f"value error 401: index {wrong} is out of range for axis source (1 to 9)")


# --------------------------------------------------------------------------------------------------------- the paper
def test_a_fully_connected_layer():
    layer, (x,) = layer_of(paper.FullConn, further={"batch": 2})
    W, b = parameters(layer, W="layer' layer", b="layer'")
    same(layer(x), "batch layer", 1 / (1 + np.exp(-(array(x, "batch layer") @ W.T + b))))


def test_a_network_of_layers_of_several_sizes():
    layer, (x,) = layer_of(paper.FeedForward)
    want = array(x, "layer")
    for l in range(1, 4):
        W, b = parameters(layer, **{f"W^{l}": "layer' layer", f"b^{l}": "layer'"})
        want = 1 / (1 + np.exp(-(W @ want + b)))
        same(layer.evaluate(f"X^{l}", x), "layer", want)
    same(layer(x), "layer", want)


def test_the_recurrent_network_of_the_paper():
    layer, (X, first) = layer_of(paper.RNN)
    W_h, W_i, b = parameters(layer, **{"W^h": "hidden hidden'", "W^i": "input hidden'", "b": "hidden'"})
    h = array(first, "hidden")
    for t, x in enumerate(array(X, "seq input"), 1):
        h = 1 / (1 + np.exp(-(h @ W_h + x @ W_i + b)))
        same(layer.evaluate(f"h^{t}", X, first), "hidden", h)
    same(layer(X, first), "hidden", h)


def test_masked_attention_is_pytorchs():
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(0)
    Q, K, V = (random.normal(size=(2, 4, size)) for size in (3, 3, 5))
    M = np.where(np.tri(4, dtype=bool), 0, -np.inf)
    want = torch.nn.functional.scaled_dot_product_attention(*map(torch.tensor, (Q, K, V)), attn_mask=torch.tensor(M))
    named = [nt.tensor(values, f"heads {axes}") for values, axes in ((Q, "seq' key"), (K, "seq key"), (V, "seq val"))]
    same(paper.MaskedAttention()(*named, nt.tensor(M, "seq' seq")), "heads seq' val", want.numpy())


@pytest.mark.parametrize("further", [{}, {"batch": 3}, {"kernel": 3}, {"batch": 2, "kh": 2, "kw": 2}], ids=str)
def test_convolutions_are_pytorchs(further):
    torch = pytest.importorskip("torch")
    for kind, text, window, function in (
        (paper.Conv1d, "seq", "kernel", torch.nn.functional.conv1d),
        (paper.Conv2d, "height width", "kh kw", torch.nn.functional.conv2d),
    ):
        layer, (X,) = layer_of(kind, further=further)
        W, b = parameters(layer, W=f"chans' chans {window}", b="chans'")
        X_ = array(X, f"{' '.join(further)} chans {text}")
        flat = torch.tensor(X_.reshape(-1, *X_.shape[len(further) :]))
        want = function(flat, torch.tensor(W), torch.tensor(b)).numpy()
        same(layer(X), f"{' '.join(further)} chans' {text}", want.reshape(*X_.shape[: len(further)], *want.shape[1:]))


def test_pooling_is_pytorchs():
    torch = pytest.importorskip("torch")
    layer, (X,) = layer_of(paper.MaxPool1d, further={"batch": 2})
    same(layer(X), "batch seq", torch.nn.functional.max_pool1d(torch.tensor(array(X, "batch seq")), 2).numpy())
    layer, (X,) = layer_of(paper.MaxPool2d, further={"batch": 2})
    want = torch.nn.functional.max_pool2d(torch.tensor(array(X, "batch height width")), (2, 3))
    same(layer(X), "batch height width", want.numpy())


def test_a_bag_of_words():
    layer, (X,) = layer_of(paper.CBOW)
    E, W = parameters(layer, E="vocab emb", W="classes emb")
    words = array(X, "seq vocab").argmax(1)
    same(layer(X), "classes", softmax(W @ E[words].sum(0)))


def autoregressive(layer, words, heads):
    """The transformer of the appendix by position: one sentence, loops over heads and layers."""
    (E,) = parameters(layer, E="vocab layer")
    n, d = len(words), E.shape[1]
    P = np.array([[math.sin(p / 10000 ** (i / d)) if i % 2 == 0 else math.cos(p / 10000 ** ((i - 1) / d)) for i in range(d)]
                  for p in range(n)])  # fmt: skip
    X = E[words] * math.sqrt(d) + P
    for l in range(1, layer.sizes["L"] + 1):
        names = {f"W^{{{l},{part}}}": axes for part, axes in
                 (("Q", "heads layer key"), ("K", "heads layer key"), ("V", "heads layer val"), ("O", "heads val layer"))}  # fmt: skip
        mixed = 0
        for W_Q, W_K, W_V, W_O in zip(*parameters(layer, **names)):
            scores = (X @ W_Q) @ (X @ W_K).T / math.sqrt(d // heads)
            mixed = mixed + softmax(np.where(np.tri(n, dtype=bool), scores, -np.inf)) @ (X @ W_V) @ W_O
        γ, β, γ_, β_ = parameters(layer, **dict.fromkeys((f"γ^{l}", f"β^{l}", f"γ^{{{l}'}}", f"β^{{{l}'}}"), "layer"))
        T = standardized(mixed + X, 1) * γ + β
        W_1, b_1, W_2, b_2 = parameters(layer, **{f"W^{{{l},1}}": "layer hidden", f"b^{{{l},1}}": "hidden",
                                                 f"W^{{{l},2}}": "hidden layer", f"b^{{{l},2}}": "layer"})  # fmt: skip
        X = standardized(relu(T @ W_1 + b_1) @ W_2 + b_2 + T, 1) * γ_ + β_
    return softmax(X @ E.T)


@pytest.mark.parametrize("layers", [1, 2, 5])
def test_the_transformer_of_the_appendix(layers):
    sizes = {**BY_KIND[paper.Transformer].sizes, "L": layers}
    case = BY_KIND[paper.Transformer]._replace(sizes=sizes)
    layer, (I,) = case.layer(), case.inputs(further={"batch": 2})
    want = [autoregressive(layer, words, 2) for words in array(I, "batch seq vocab").argmax(-1)]
    same(layer(I), "batch seq vocab", np.array(want))


def test_the_transformer_refuses_what_is_no_word():
    layer, (I,) = layer_of(paper.Transformer)
    with pytest.raises(nt.NotationError) as raised:
        layer(nt.tensor(0 * array(I, "seq vocab"), "seq vocab"))
    assert raised.value.kind == "value"


def test_lenet_is_pytorchs():
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    layer, (X,) = layer_of(paper.LeNet)
    x = torch.tensor(array(X, "batch chans height width"))
    for l in (1, 2):
        W, b = parameters(layer, **{f"W^{l}": "chans' chans kh kw", f"b^{l}": "chans'"})
        x = functional.max_pool2d(
            functional.relu(functional.conv2d(x, torch.tensor(W), torch.tensor(b))), LENET[f"ph^{l}"]
        )
    W_3, b_3, W_4, b_4 = (
        torch.tensor(parameter)
        for parameter in parameters(
            layer, **{"W^3": "hidden layer", "b^3": "hidden", "W^4": "classes hidden", "b^4": "classes"}
        )
    )
    flat = x.permute(0, 2, 3, 1).flatten(1)  # the text merges (height, width, chans)
    want = functional.softmax(functional.relu(flat @ W_3.T + b_3) @ W_4.T + b_4, -1)
    same(layer(X), "batch classes", want.numpy())


# ------------------------------------------------------------------------------------------------------- all of them
def test_every_layer_of_the_texts_has_a_case():
    import inspect

    from namedtensor.layers.layer import Layer

    for module in (lelarge, dataflowr, learning_records, cheat_sheet, slides, paper):
        for kind in vars(module).values():
            if inspect.isclass(kind) and issubclass(kind, Layer) and kind.__module__ == module.__name__:
                assert kind in BY_KIND, kind
