"""Generation against `transformers`, against the same formulas without a memory, and against what it must do."""

import time
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from peers import drawn, loaded, named, numbers, torch, transformers, without_memory

import namedtensor as nt
from namedtensor.programs import call_cache
from namedtensor.programs.bound_call import BoundCall
from namedtensor.programs.entry_points import EntryPoints
from transformer import GPT2
from transformer.pretrained import generation
from transformer.pretrained.sampling import Sampling, make_sampler

VOCAB, PLACES = 23, 40
CONFIG = {"vocab_size": VOCAB, "n_embd": 12, "n_layer": 2, "n_head": 3, "n_positions": PLACES, "eos_token_id": None,
          "bos_token_id": None}  # fmt: skip
BATCH = "batch seq"


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A model in which what is likely changes from token to token."""
    theirs = drawn(transformers.GPT2LMHeadModel, transformers.GPT2Config(**CONFIG), seed=2)
    torch.nn.init.normal_(theirs.transformer.wte.weight)
    torch.nn.init.normal_(theirs.transformer.wpe.weight, std=2.0)
    for name, parameter in theirs.transformer.named_parameters():
        if name.endswith("bias") and ("ln_f" in name or "ln_" not in name):
            torch.nn.init.zeros_(parameter)
    torch.nn.init.ones_(theirs.transformer.ln_f.weight)
    return theirs, loaded(theirs, tmp_path_factory.mktemp("gpt2"))


@pytest.fixture
def ids():
    return numbers(np.random.default_rng(0), 3, 7, below=VOCAB)


def left():
    mask = torch.ones(3, 7, dtype=torch.int64)
    mask[0, :4] = 0
    mask[2, 0] = 0
    return mask


def by_transformers(model, ids, count, mask=None, **options):
    mask = torch.ones_like(ids) if mask is None else mask
    options = {"do_sample": False, "pad_token_id": 0, **options}
    return model.generate(ids, attention_mask=mask, max_new_tokens=count, **options)[:, ids.shape[1] :].tolist()


def ours(model, ids, count, mask=None, **options):
    result = model.generate(named(ids, BATCH), count, mask=None if mask is None else named(mask, BATCH), **options)
    return result.to_array(BATCH).tolist()


# ------------------------------------------------------------------------------------------------------ greedy
@pytest.mark.parametrize("count", [1, 2, 20])
@pytest.mark.parametrize("mask", [None, left()], ids=["no mask", "left padding"])
def test_the_likeliest_tokens_are_those_of_transformers(both, ids, mask, count):
    theirs, model = both
    result = ours(model, ids, count, mask)
    assert count < 20 or len(np.unique(result)) > 8
    assert result == by_transformers(theirs, ids, count, mask) == without_memory(model, ids, count, mask)


@pytest.mark.parametrize("room", [1, 3, 5])
def test_a_memory_that_grows_often(both, ids, room, monkeypatch):
    monkeypatch.setattr(generation, "MIN_CACHE_GROWTH", room)
    assert ours(both[1], ids, 20, left()) == without_memory(both[1], ids, 20, left())


def test_right_padding_goes_on_after_the_last_real_token(both, ids):
    _, model = both
    mask = left().flip(1)
    result = ours(model, ids, 9, mask)
    for row, tokens, keep in zip(result, ids, mask):
        assert [row] == ours(model, tokens[keep.bool()][None], 9)


def test_further_axes_and_none(both, ids):
    _, model = both
    expected = np.array(ours(model, ids, 6))
    one = model.generate(nt.tensor(ids[1].numpy(), "seq"), 6)
    assert one.axes == ("seq",) and one.to_array("seq").tolist() == expected[1].tolist()
    books = nt.tensor(np.stack([ids.numpy(), ids.numpy()[::-1]]), "book page seq")
    array = model.generate(books, 6).to_array("book page seq")
    assert (array[0] == expected).all() and (array[1] == expected[::-1]).all()


def test_the_first_of_equal_tokens_is_taken():
    sizes = {"L": 1, "chans": 4, "heads": 1, "key": 4, "val": 4, "hidden": 4, "vocab": 5, "place": 9}
    model = GPT2.init(0, sizes)
    rows = model.parameters["E"].array.copy()
    rows[:] = 0
    assert model.replace(E=nt.tensor(rows, "vocab chans")).generate(nt.tensor([1], "seq"), 3).array.tolist() == [
        0,
        0,
        0,
    ]


# ----------------------------------------------------------------------------------------------------- the end
def stops_of(model, ids):
    """A token that ends one sequence early, and not all of them."""
    rows = ours(model, ids, 12)
    return next(token for token in rows[0][1:] if sum(token in row for row in rows) < 3)


def test_a_sequence_ends_with_stop_and_goes_on_with_padding(both, ids):
    theirs, model = both
    stop = stops_of(model, ids)
    free = ours(model, ids, 12)
    expected = by_transformers(theirs, ids, 12, eos_token_id=stop, pad_token_id=stop)
    assert ours(model, ids, 12, stop=stop) == expected != free


def test_config_says_stop_and_padding(both, ids):
    theirs, model = both
    stop = stops_of(model, ids)
    config = {**model.config, "eos_token_id": [stop, VOCAB + 5], "pad_token_id": 3}
    gpt2 = GPT2(model.parameters, model.sizes, model.definitions, config)
    assert ours(gpt2, ids, 12) == by_transformers(theirs, ids, 12, eos_token_id=[stop, VOCAB + 5], pad_token_id=3)


def test_config_says_what_never_comes(both, ids):
    theirs, model = both
    words = [[token] for token in set(sum(ours(model, ids, 9), [])) if token % 2]
    config = {**model.config, "bad_words_ids": words}
    gpt2 = GPT2(model.parameters, model.sizes, model.definitions, config)
    assert words and ours(gpt2, ids, 9) == by_transformers(theirs, ids, 9, bad_words_ids=words)
    gpt2 = GPT2(model.parameters, model.sizes, model.definitions, {**config, "bad_words_ids": [[1, 2]]})
    with pytest.raises(
        nt.NotationError, match=r"excludes \[1, 2\] with bad_words_ids; only single tokens are supported"
    ):
        ours(gpt2, ids, 1)


def test_it_ends_where_every_sequence_has(both, ids):
    _, model = both
    result = ours(model, ids, 12)
    assert ours(model, ids, 12, stop=list(range(VOCAB))) == [row[:1] for row in result]
    one = ours(model, ids[:1], 12, stop=result[0][4])
    assert one[0] == result[0][: result[0].index(result[0][4]) + 1]


def test_progress_sees_each_token_as_it_comes(both, ids):
    seen = []
    result = both[1].generate(named(ids, BATCH), 5, progress=seen.append)
    assert (nt.stack(*seen, axis="seq") == result).array.all() and len(seen) == 5


# ---------------------------------------------------------------------------------------------------- sampling
def test_draws_repeat_by_seed(both, ids):
    _, model = both
    first = ours(model, ids, 12, temperature=1.0, seed=4)
    assert first == ours(model, ids, 12, temperature=1.0, seed=4) != ours(model, ids, 12, temperature=1.0, seed=5)


@pytest.mark.parametrize("temperature, top", [(1.0, None), (0.6, None), (2.5, 4), (1.0, 1), (1.0, 99)])
def test_draws_are_distributed_as_the_logits_say(both, temperature, top):
    _, model = both
    prompt, draws = np.array([3, 1, 4]), 4000
    logits = model(nt.tensor(prompt, "seq")).to_array("seq vocab")[-1].astype("float64")
    array = np.argsort(-logits)[:top]
    weights = np.zeros(VOCAB)
    weights[array] = np.exp((logits[array] - logits.max()) / temperature)
    expected = weights / weights.sum()
    many = nt.tensor(np.tile(prompt, (draws, 1)), BATCH)
    result = model.generate(many, 1, temperature=temperature, top_k=top, seed=1).to_array(BATCH)[:, 0]
    share = np.bincount(result, minlength=VOCAB) / draws
    assert (np.abs(share - expected) <= 5 * np.sqrt(expected * (1 - expected) / draws)).all()


def test_draws_are_made_with_more_digits_than_the_logits_have():
    """In half precision u rounds to 1 once in 2000 draws, which would make a hopeless token the likeliest."""
    now = nt.tensor(
        np.where(np.arange(4) == 1, 0, -25).astype("float16") + np.zeros((20000, 1), "float16"), "batch vocab"
    )
    taken = make_sampler(Sampling(1.0))(now)
    assert (taken.array == 1).all()


def test_a_draw_does_not_depend_on_the_order_in_which_axes_are_stored():
    now = nt.tensor(np.random.default_rng(0).normal(size=(40, 7)), "batch vocab")
    turned = nt.tensor(now.array.T.copy(), "vocab batch")
    drawn = [make_sampler(Sampling(1.0, seed=3))(scores).to_array("batch") for scores in (now, turned)]
    assert drawn[0].tolist() == drawn[1].tolist() and len({*drawn[0].tolist()}) > 3


# ------------------------------------------------------------------------------------------------- what it costs
def test_the_plan_of_a_step_is_reused(both, ids, monkeypatch):
    _, model = both
    result = []
    compiled = call_cache.compile_plan
    monkeypatch.setattr(call_cache, "compile_plan", lambda *given: result.append(1) or compiled(*given))
    few, more = (nt.tensor(np.tile(ids.numpy()[:, :1], (1, 2 * count)), "case seq") for count in (1, 2))
    counts = []
    for tensor, count in ((few, 4), (few, 30), (more, 30)):
        result.clear()
        model.generate(tensor, count)
        counts.append(len(result))
    assert counts[1] == 0 < counts[0] and 0 < counts[2] < 15


def test_a_step_writes_into_the_memory_that_it_is_given(both, ids, monkeypatch):
    """And into nothing else that it is given: neither a mask nor the parameters."""
    _, model = both
    written, called = [], BoundCall.__call__
    memory = {f"past^{{{l},{kind}}}" for l in (1, 2) for kind in "KV"}

    def watched(self, values):
        if "past^{1,K}" not in values:  # the prompt
            return called(self, values)
        tensors = {
            name: value.array for name, value in {**model.parameters, **values}.items() if hasattr(value, "array")
        }
        before = {name: array.copy() for name, array in tensors.items()}
        _, _, _, _, *result = element = called(self, values)
        written.append({name for name, array in tensors.items() if (array != before[name]).any()})
        assert all(np.shares_memory(item.array, tensors[name]) for name, item in zip(sorted(memory), result))
        return element

    monkeypatch.setattr(BoundCall, "__call__", watched)
    tensor, mask = named(ids, BATCH), named(left(), BATCH)
    model.generate(tensor, 5, mask=mask)
    assert written == [memory] * 4
    assert (mask.array == left().numpy()).all() and (tensor.array == ids.numpy()).all()


@pytest.mark.parametrize("batched", [True, False])
def test_all_steps_in_one_room_have_one_plan(both, ids, batched, monkeypatch):
    _, model = both
    looked_up, called = [], EntryPoints._slow_path

    def watched(self, arguments, values, *rest):
        looked_up.append("past" in values)
        return called(self, arguments, values, *rest)

    monkeypatch.setattr(EntryPoints, "_slow_path", watched)
    model.generate(named(ids, BATCH) if batched else named(ids, BATCH)[{"batch": 0}], 20)
    assert sum(looked_up) == 1


def test_generations_side_by_side_do_not_disturb_each_other(both, ids):
    _, model = both
    one, other, result = ours(model, ids, 6), ours(model, ids.flip(0, 1), 6), []
    between = lambda token: result.append(ours(model, ids.flip(0, 1), 6))
    again = model.generate(named(ids, BATCH), 6, progress=between)
    assert result == [other] * 6 and again.to_array(BATCH).tolist() == one != other


def test_models_of_one_program_generate_in_threads_of_their_own(monkeypatch):
    """Each runs the plan of its own sizes, though another was asked for between a step and the look at what it ran."""
    sizes = {"L": 1, "heads": 2, "key": 4, "val": 4, "hidden": 8, "vocab": 9, "place": 40}
    prompt, called = nt.tensor([1, 2, 3], "seq"), EntryPoints._slow_path
    models = [GPT2.init(seed, {**sizes, "chans": chans}) for seed, chans in enumerate((4, 12))]
    alone = [model.generate(prompt, 8).to_array("seq").tolist() for model in models]

    def slow(self, arguments, values, *rest):
        result = called(self, arguments, values, *rest)
        if "past" in values:
            time.sleep(0.05)
        return result

    monkeypatch.setattr(EntryPoints, "_slow_path", slow)
    with ThreadPoolExecutor(2) as threads:
        result = threads.map(lambda model: model.generate(prompt, 8).to_array("seq").tolist(), models)
    assert [*result] == alone


def test_a_prompt_has_the_logits_of_its_last_token_alone():
    sizes = {"L": 1, "chans": 8, "heads": 1, "key": 8, "val": 8, "hidden": 8, "vocab": 20000, "place": 200}
    model = GPT2.init(0, sizes, dtype="float32")
    prompt = nt.tensor(np.arange(150) % 7, "seq")
    model.generate(prompt, 1)
    tracemalloc.start()
    model.generate(prompt, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150 * 20000 * 4 / 3


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_torch_inside(both, ids, dtype):
    _, model = both
    moved = model.to("torch", dtype)
    result = moved.generate(nt.tensor(ids, BATCH), 6, mask=nt.tensor(left(), BATCH), stop=5)
    assert isinstance(result.array, torch.Tensor) and not result.array.dtype.is_floating_point
    if dtype.endswith(("32", "64")):
        assert result.to_array(BATCH).tolist() == ours(model, ids, 6, left(), stop=5)
    drawn = moved.generate(nt.tensor(ids, BATCH), 3, temperature=1.0, top_k=4, seed=2)
    assert drawn.sizes == {"batch": 3, "seq": 3}
    again = model.generate(named(ids, BATCH), 3, temperature=1.0, top_k=4, seed=2)
    assert dtype != "float64" or drawn.to_array(BATCH).tolist() == again.to_array(BATCH).tolist()


@pytest.mark.sampled(3)
def test_jax_inside():
    jnp = pytest.importorskip("jax.numpy")
    model = GPT2.init(3, {"L": 1, "chans": 4, "heads": 1, "key": 4, "val": 4, "hidden": 4, "vocab": 5, "place": 9})
    prompt = np.array([[1, 3, 2]])
    with warnings.catch_warnings():
        warnings.simplefilter("error", nt.NotationWarning)
        tensor = model.to("jax", "float32").generate(nt.tensor(jnp.asarray(prompt, dtype="int32"), BATCH), 2)
    assert type(tensor.array).__module__.startswith("jax")
    assert np.asarray(tensor.to_array(BATCH)).tolist() == ours(model, torch.from_numpy(prompt), 2)


# ------------------------------------------------------------------------------------------------- what is refused
def test_the_last_position_is_named(both, ids):
    _, model = both
    assert len(ours(model, ids, PLACES - 6)[0]) == PLACES - 6
    with pytest.raises(nt.NotationError) as caught:
        ours(model, ids, PLACES)
    assert str(caught.value) == (
        "value error 404: sequence too long: GPT2 has 40 positions, got 7 tokens plus 40 to generate\n"
        "  hint: generate at most 34: max_new_tokens=34"
    )
    with pytest.raises(nt.NotationError, match="pass fewer tokens"):
        ours(model, torch.ones(1, PLACES + 1, dtype=torch.int64), 1)


def test_padding_takes_no_position(both):
    _, model = both
    ids = torch.ones(1, PLACES + 5, dtype=torch.int64)
    mask = torch.ones_like(ids)
    mask[0, :30] = 0
    assert ours(model, ids, 9, mask) == ours(model, ids[:, 30:], 9)


def test_wrong_numbers_are_refused(both, ids):
    _, model = both
    with pytest.raises(nt.NotationError, match="max_new_tokens must be a number from 1, got 0"):
        ours(model, ids, 0)
    with pytest.raises(nt.NotationError, match="temperature must be a number from 0, got -1"):
        ours(model, ids, 1, temperature=-1)
    with pytest.raises(nt.NotationError, match="top_k must be a number from 1, got 0"):
        ours(model, ids, 1, temperature=1.0, top_k=0)
    with pytest.raises(nt.NotationError, match="401"):
        ours(model, ids + VOCAB, 1)
