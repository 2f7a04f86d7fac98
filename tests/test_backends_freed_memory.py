"""What one call frees serves the next: no page of it is asked from the system again."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource
import numpy as np
import namedtensor as nt

def faults():
    counts = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        arrays = [np.ones(12_000) for _ in range(500)]  # 48 MB
        del arrays
        counts.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    return counts[-1]

first = faults()
nt.evaluate("X + 1", X=nt.tensor([1.0], "a"))
print(first, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library keeps what it keeps")
def test_pages_are_asked_for_once():
    found = subprocess.run([sys.executable, "-c", FAULTS], check=True, timeout=60, capture_output=True, text=True)
    before, after = map(int, found.stdout.split())
    assert before > 5000 and after < 500
