"""Constructs that the package gets wrong, and why: the drawn programs keep off them. The table only shrinks."""

from __future__ import annotations

KNOWN: dict[str, str] = {
    "slices": "X_{seq(a:b)} is not read",
    # This one is meant so, and it is the evaluator here that does not know it.
    "sizes outside": "a definition outside of a function takes the sizes of the call that it is mentioned in",
}
