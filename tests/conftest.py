"""Hypothesis draws little while one works ("dev") and much in continuous integration ("ci").

Say which by HYPOTHESIS_PROFILE; where CI is set, "ci" is taken. A test that needs more examples multiplies
`settings().max_examples`, so that both profiles keep their proportion.
"""

import os
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from namedtensor.operators.user_functions import USER_FUNCTIONS

# What JAX compiles is kept while the tests run, for all their processes: many tests compile the same anew.
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    COMPILED = tempfile.TemporaryDirectory(prefix="jax")
    os.environ["JAX_COMPILATION_CACHE_DIR"] = COMPILED.name
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"

# What runs in processes of its own, where JAX has several devices.
collect_ignore = ["sharded_cases.py", "sharded_processes.py"]

COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}

settings.register_profile("dev", max_examples=50, **COMMON)
settings.register_profile("ci", max_examples=500, print_blob=True, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))


@pytest.fixture(autouse=True)
def registered_functions() -> Iterator[None]:
    """Functions that a test registers end with it, whichever test runs next in the same process."""
    before = dict(USER_FUNCTIONS)
    yield
    for name in [name for name in USER_FUNCTIONS if name not in before]:
        del USER_FUNCTIONS[name]
    for name, function in before.items():
        if USER_FUNCTIONS.get(name) is not function:
            USER_FUNCTIONS[name] = function
