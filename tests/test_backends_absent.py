"""Source text for PyTorch and JAX is written where they are not installed, and is the same as where they are."""

import subprocess
import sys

import numpy as np
import pytest
from test_planning import FORMULAS

import namedtensor as nt
from namedtensor.backends.absent import Absent, Tabled
from namedtensor.programs.named_plans import plan_of, target_for_text

X, W = "ℝ^{a[3] × b[2]}", "ℝ^{b[2] × c[4]}"
WHOLE = {dtype: nt.tensor(np.array([1, 2, 3]).astype(dtype), "a") for dtype in ("int8", "int64", "uint8")}
SHAPES = {
    "whole numbers of the formula": ("iota_{a} / 2 + X ⊙ iota_{b} + |a|", {"X": X}),
    "a layer": ("relu(X ⊙_{b} W) + √|c|", {"X": X, "W": W}),
    "reductions": ("mean_{a} X + var_{b} X_{a(1)} + max_{a} X", {"X": X}),
    "cases of whole numbers": ("{ 1 if X > 0; iota_{a} otherwise } + argmax_{b} X", {"X": X}),
    "one-hot": ("onehot_{v} I ⊙_{v} E", {"I": WHOLE["int64"], "E": "ℝ^{v[5] × d[2]}"}),
    "a derivative": ("∂(∑_{a,b} softmax_{b} X ⊙ X)/∂X*", {"X": X}),
    "two precisions": (
        "X + Y ⊙ 2",
        {"X": nt.tensor(np.ones(2, "float16"), "a"), "Y": nt.tensor(np.ones((2, 2)), "a b")},
    ),
    **{f"{dtype} and floats": ("∑_{a} (K ⊙ X) + exp(K) / 2 + ∑_{a} K", {"K": k, "X": X}) for dtype, k in WHOLE.items()},
    **FORMULAS,
}


@pytest.mark.parametrize("library", ["torch", "jax"])
@pytest.mark.parametrize("name", SHAPES)
def test_the_text_is_that_of_the_installed_library(name, library):
    pytest.importorskip(library)
    text, inputs = SHAPES[name]
    local, absent = (
        plan_of(nt.formula(text)._goal, target, inputs) for target in (target_for_text(library), Absent(library))
    )
    assert str(absent[0]) == str(local[0])
    whole = target_for_text(library).backend.whole
    assert whole(absent[0]) == whole(local[0])


@pytest.mark.parametrize("name", SHAPES)
def test_the_table_of_numpy_gives_its_text(name):
    text, inputs = SHAPES[name]
    local, tabled = (plan_of(nt.formula(text)._goal, target, inputs) for target in (target_for_text("numpy"), Tabled()))
    assert str(tabled[0]) == str(local[0])
    assert target_for_text("numpy").backend.whole(tabled[0]) == target_for_text("numpy").backend.whole(local[0])


WITHOUT = """
import sys
for name in ("torch", "jax", "jax.numpy"):
    sys.modules[name] = None
import namedtensor as nt
for library in ("torch", "jax"):
    print(nt.formula("softmax_{a} X ⊙_{a} iota_{a}").to_python(library, X="ℝ^{a[3] × b[2]}"))
    try:
        nt.formula("∑_{a} x").compile(library)
    except nt.NotationError as problem:
        print(problem)
"""


def test_text_is_written_without_an_import():
    code = """
import sys
import namedtensor as nt
for library in ("torch", "jax"):
    print(nt.to_python("softmax_{a} X", library, X="ℝ^{a[3]}"))
print({"torch", "jax"} & set(sys.modules))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8")
    assert run.stdout.endswith("set()\n") and "torch.softmax" in run.stdout, run.stderr


def test_text_is_written_where_neither_is_installed():
    run = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, encoding="utf-8")
    assert run.returncode == 0, run.stderr
    assert "torch.softmax" in run.stdout and "import jax" in run.stdout
    for library in ("torch", "jax"):
        assert f"value error 408: {library} is not installed\n  hint: pip install {library}" in run.stdout
