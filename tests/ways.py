"""Both ways to a derivative, whatever the sizes are; plans that are known went one of them, and are forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from namedtensor.calculus import derivative as calculus
from namedtensor.programs import evaluate

WAYS = ("reverse", "forward", "as it chooses")


@contextmanager
def going(way: str) -> Iterator[None]:
    """While this lasts derivatives are found that way."""
    with pytest.MonkeyPatch.context() as patch:
        if way != "as it chooses":
            patch.setattr(calculus, "is_reverse", lambda *_: way == "reverse")
        forget()
        yield
    forget()


def forget() -> None:
    for known in (evaluate.EXECUTABLES, evaluate.EVALUATORS):
        known.clear()
