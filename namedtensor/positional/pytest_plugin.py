"""A pytest plugin. `pytest model.py --formulas paper.tex` tests each function that `nt.follows` ties to a formula.

A label without a file, as in `nt.follows("#eq:attention", …)`, refers to a formula of that paper. Pytest loads the
plugin at startup, so this module does not import the package.
"""

from __future__ import annotations

import inspect
import os
from typing import Any

OPTION = "--formulas"
DOCUMENT: list[str] = []  # the document that contains the labels without a file


class DifferenceError(AssertionError):
    """Raised if the value or the axis sizes of a function differ from its formula."""

    __module__ = "namedtensor"


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("named tensor notation")
    group.addoption(
        OPTION,
        metavar="PAPER",
        default=None,
        help="test functions that nt.follows holds against formulas of this document",
    )


def pytest_configure(config: Any) -> None:
    document = config.getoption(OPTION)
    if document:
        DOCUMENT.append(os.path.abspath(document))


def pytest_unconfigure(config: Any) -> None:
    if config.getoption(OPTION):
        DOCUMENT.pop()


def pytest_pycollect_makeitem(collector: Any, name: str, obj: Any) -> Any:
    """Return a test for a function if `nt.follows` has attached a formula to the function.

    Return None for any other object, and without the option `--formulas`.
    """
    if (
        not collector.config.getoption(OPTION)
        or not hasattr(obj, "contract")
        or not callable(getattr(obj, "verify", None))
    ):
        return None
    return item_class().from_parent(collector, name=f"{name} follows", function=obj)


def item_class() -> Any:
    import pytest

    class Follows(pytest.Item):
        """A test of one function against its formula."""

        def __init__(self, *, function: Any, **named: Any):
            super().__init__(**named)
            self.function = function

        def runtest(self) -> None:
            self.function.verify()

        def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
            return (
                str(excinfo.value)
                if isinstance(excinfo.value, DifferenceError)
                else super().repr_failure(excinfo, style)
            )

        def reportinfo(self) -> tuple[Any, int, str]:
            return self.path, inspect.getsourcelines(inspect.unwrap(self.function))[1] - 1, self.name

    return Follows
