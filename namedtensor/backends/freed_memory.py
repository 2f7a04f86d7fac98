"""The allocator's settings: memory that one call has freed serves the next."""

from __future__ import annotations

from functools import cache

MOST = 2**25 - 2**16  # bytes, less than what the C library always gives back


@cache
def keep() -> None:
    """Have the C library keep what is freed, up to 64 MB.

    The one of Linux gives all but 128 kB back to the system at the end of a call, which then gives it page by page to the next:
    up to half of the time of a gradient. It stops doing so for what is no larger than an array that was freed before, so
    an array is freed here, to which nothing was written.
    """
    import numpy as np

    np.empty(MOST, np.uint8)
