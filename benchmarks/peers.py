"""The other libraries: which are installed, and in what version."""

from __future__ import annotations

import platform
from importlib import metadata, util
from pathlib import Path

PEERS = ("torch", "jax", "haliax", "penzai", "einx", "xarray", "einops", "opt_einsum", "scipy", "transformers")


def missing(names: tuple[str, ...]) -> str:
    """Which of these packages are not installed, as a reason; empty where all are."""
    absent = [name for name in names if util.find_spec(name) is None]
    return f"{', '.join(absent)} not installed" if absent else ""


def versions() -> dict[str, str]:
    """Of Python and of each library that is installed."""
    result = {"python": platform.python_version()}
    for name in ("numpy", "lark", *PEERS):
        try:
            result[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return result


def load() -> float | None:
    """How many processes wanted to run, on average over the last 15 minutes: what else the machine does."""
    import os

    return round(os.getloadavg()[2], 1) if hasattr(os, "getloadavg") else None


PRODUCT = """
import time
import numpy as np
x = np.ones((1024, 1024), np.float32)
def seconds():
    start = time.perf_counter()
    x @ x
    return time.perf_counter() - start
print(2 * 1024**3 / 1e9 / min(seconds() for _ in range(20)))
"""


def machine() -> str:
    """The kind of machine: its processor's family, cores and memory."""
    import os

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    try:
        memory = f", {round(os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30)} GiB of memory"
    except (AttributeError, ValueError, OSError):
        memory = ""
    messages = ", which OPENBLAS_CORETYPE asks for" if "OPENBLAS_CORETYPE" in os.environ else ""
    kernels = f", OpenBLAS with its kernels for {core}{messages}" if (core := kernels_of_openblas()) else ""
    products = f"products of float32 at {product_speed():.0f} GFLOP/s on one core"
    return f"{platform.machine()}{processor()}, {cores} cores{memory}, {platform.system()}{kernels}, {products}"


def processor() -> str:
    """The name of the processor, where Linux says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return ""
    return next((f" ({line.partition(':')[2].strip()})" for line in lines if line.startswith("model name")), "")


def product_speed() -> float:
    """How many 10⁹ operations of float32 NumPy does in a second on one core, in a product of two matrices of 1,024 × 1,024."""
    import os
    import subprocess
    import sys

    command = [sys.executable, "-c", PRODUCT]
    completed = subprocess.run(
        command, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}, capture_output=True, text=True, check=True
    )
    return float(completed.stdout)


def kernels_of_openblas() -> str:
    """The processor whose kernels NumPy's OpenBLAS has picked, as it says when it is loaded; empty for another BLAS."""
    import os
    import subprocess
    import sys

    command, environ = [sys.executable, "-c", "import numpy"], os.environ | {"OPENBLAS_VERBOSE": "2"}
    completed = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    return next(
        (line.removeprefix("Core: ") for line in completed.stderr.splitlines() if line.startswith("Core: ")), ""
    )
