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
