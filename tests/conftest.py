"""Hypothesis draws little while one works ("dev") and much in continuous integration ("ci").

Say which by HYPOTHESIS_PROFILE; where CI is set, "ci" is taken. A test that needs more examples multiplies
`settings().max_examples`, so that both profiles keep their proportion.
"""

import os

from hypothesis import HealthCheck, settings

# What runs in processes of its own, where JAX has several devices.
collect_ignore = ["sharded_cases.py", "sharded_processes.py"]

COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}

settings.register_profile("dev", max_examples=50, **COMMON)
settings.register_profile("ci", max_examples=500, print_blob=True, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))


def pytest_configure():
    """Every plan that a test makes is verified, and so is what it writes in place."""
    from namedtensor.backends.libraries import backend
    from namedtensor.planning import memory, plan, primitives

    numpy = backend("numpy")

    def check(made):
        primitives.verify(made)
        over = memory.in_place(made, numpy.writes)
        primitives.verify_memory(made, over)
        for out in (True, False)[len(made.results) != 1 :]:
            primitives.verify_memory(made, over, numpy.rooms(made, out, fits=lambda value: True))

    plan.CHECKS.append(check)
