"""Hypothesis draws few examples while one works ("dev") and more if CI is set ("ci").

HYPOTHESIS_PROFILE names another profile, as most stages of `.ci/run` do. A test that needs more examples multiplies
`settings().max_examples`, so that all profiles keep their proportion. What these two draw depends on the test alone, so
that a test that passed passes again; "anew" draws other examples each time, and what it finds becomes a case of its test.
"""

import gc
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator

# A thread for each process of the tests: more wait for each other longer than they work, where cores are shared.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from namedtensor.backends.function import backend
from namedtensor.operators.user_functions import USER_FUNCTIONS
from namedtensor.planning import memory, plan, primitives, regions
from namedtensor.terms import structural

from .rotation import rotation_seed

structural.after_pass.append(structural.verify)  # each graph of terms that a pass makes is checked

# What JAX compiles is kept while the tests run, for all their processes: many tests compile the same anew.
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    COMPILED = tempfile.TemporaryDirectory(prefix="jax")
    os.environ["JAX_COMPILATION_CACHE_DIR"] = COMPILED.name
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"

# The compiler of PyTorch would start a process for each core, each of which imports PyTorch, for the little that it compiles.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

# What runs in processes of its own, where JAX has several devices.
collect_ignore = [
    "sharded_cases.py",
    "sharded_by_hand.py",
    "sharded_torch.py",
    "sharded_training.py",
    "sharded_processes.py",
]

COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}

settings.register_profile("dev", max_examples=50, derandomize=True, **COMMON)
settings.register_profile("ci", max_examples=200, derandomize=True, **COMMON)
settings.register_profile("anew", max_examples=1000, print_blob=True, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the slow tests too, as continuous integration does")
    parser.addoption(
        "--whole", action="store_true", help="run every case of the tests that are sampled, and the slow tests"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the documents of others if no folder has them, slow tests, and part of the cases of sampled tests.

    `--slow`, `-m` or the name of a test (`pytest tests/test_fuzz.py::test_…`) runs slow tests, and `--whole` or a name every
    case. Files with slow tests come first, so that no process is left with one alone when the others have ended.
    """
    whole = config.getoption("whole") or any("::" in argument for argument in config.args)
    left_out = set[str]() if os.environ.get("NAMEDTENSOR_DOCUMENTS") else {"texts"}
    if not (whole or config.getoption("slow") or config.getoption("markexpr")):
        left_out.add("slow")
    deselected = [item for item in items if any(map(item.get_closest_marker, left_out))]
    if not whole:
        deselected += not_sampled(items)
    config.hook.pytest_deselected(items=deselected)
    indices = {*map(id, items)} - {*map(id, deselected)}
    items[:] = [item for item in items if id(item) in indices]
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def not_sampled(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return all but one in n of the cases that a file marks `sampled(n)`.

    The cases that remain rotate (`rotation_seed`). A file's cases are counted together, so that one in n of its tests remains
    even if each has one case.
    """
    start = rotation_seed()
    cases: dict[tuple[str, int], list[pytest.Item]] = {}
    for item in items:
        if marker := item.get_closest_marker("sampled"):
            cases.setdefault((item.path.name, marker.args[0]), []).append(item)
    return [
        item
        for (name, n), listed in cases.items()
        for number, item in enumerate(listed, start + zlib.crc32(name.encode()))
        if number % n
    ]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Leave garbage until all tests are collected: modules and tests stay, and collections of garbage take a sixth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Twenty thousand tests and the libraries live as long as their process, and a collection of garbage that looks at all
    of them again and again takes a fifth of its time: they are left out, and the rest is looked through less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(5000, 10, 30)


class ProcessState:
    """A plugin, so that its fixture is used by the examples of docstrings too."""

    @pytest.fixture(autouse=True)
    def state(self) -> Iterator[None]:
        """What a test changes for its whole process ends with it, whichever test runs next: registered functions, JAX's x64."""
        functions, wide = dict(USER_FUNCTIONS), jax_x64()
        yield
        for name in [name for name in USER_FUNCTIONS if name not in functions]:
            del USER_FUNCTIONS[name]
        for name, function in functions.items():
            if USER_FUNCTIONS.get(name) is not function:
                USER_FUNCTIONS[name] = function
        if jax_x64() != wide:
            sys.modules["jax"].config.update("jax_enable_x64", wide)


def pytest_configure(config: pytest.Config):
    """Every plan that a test makes is one for two cores, is verified, and so is what it writes in place."""
    numpy = backend("numpy")
    regions.cores = lambda: 2

    def check(result):
        primitives.verify(result)
        over = memory.find_reused_arrays(result, numpy.writes)
        primitives.verify_memory(result, over)
        for out in (True, False)[len(result.results) != 1 :]:
            primitives.verify_memory(result, over, numpy.buffers(result, out, fits=lambda value: True))

    plan.CHECKS.append(check)
    config.pluginmanager.register(ProcessState())


@pytest.fixture
def freeze_objects() -> None:
    """Leave earlier objects out of the collections of a test, which take seconds where thousands of tests ran before."""
    gc.freeze()


@pytest.fixture(autouse=True)
def seeded(request: pytest.FixtureRequest) -> None:
    """What a file's own generators draw for a test depends on the test alone, not on what ran before it in its process."""
    for value in vars(getattr(request.node, "module", None) or object).values():
        if isinstance(value, np.random.Generator):
            seed = zlib.crc32(request.node.name.encode())
            value.bit_generator.state = np.random.default_rng(seed).bit_generator.state


def jax_x64() -> bool:
    return "jax" in sys.modules and sys.modules["jax"].config.jax_enable_x64
