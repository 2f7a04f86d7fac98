"""Long chains and lists are read in steps that grow with their length, counted in lines that run: no times."""

import sys

import pytest

from grammar.errors import NotationError
from grammar.parser import tokens_of

SHAPES = {
    "powers": lambda n: "^".join(["X"] * n) + "^2",
    "braced powers": lambda n: "X" + "^{a}" * n,
    "labels": lambda n: "x" + "_1" * n,
    "draws": lambda n: "~" * n,
    "names drawn": lambda n: "x ~ " * n + "p",
    "arguments": lambda n: "f(" + ", ".join(["x"] * n) + ")",
    "components": lambda n: "x^{" + ",".join(["max"] * n) + "}",
    "literals": lambda n: " + ".join(["[1, 2, 3]_{a}"] * n),
    "cells": lambda n: "[" + ", ".join(["max"] * n) + "]_{a}",
    "conditionals": lambda n: "p(a|b) " * n,
    "continued lines": lambda n: "y = x\n" + "  - x\n" * n,
    "inverses": lambda n: "sin^-1 x + " * n + "1",
    "own functions": lambda n: "LN_Q(x)^2 + " * n + "1\nLN_Q(x) = x W_Q",
}


def lines_run(text):
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        tokens_of(text, "text")
    except NotationError:
        pass
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("name", SHAPES)
def test_twice_the_length_is_twice_the_work(name):
    once, twice = lines_run(SHAPES[name](150)), lines_run(SHAPES[name](300))
    assert twice < 2.4 * once, (once, twice)
