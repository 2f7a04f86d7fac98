"""What type checkers see: the stubs are what the records say, right code has no error, and each slip has one."""

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

RIGHT = """
import numpy as np

import namedtensor as nt

A = nt.tensor(np.ones((2, 3)), "height width")
one: nt.NamedTensor = nt.softmax(A, axis="height") + 2 * A.sum(axis=("height", "width")) - A.max(axis="width")
two: nt.NamedTensor = -(A > 0) * (1 - A) / A**2
three: nt.NamedTensor = nt.where(A > 0, A, 0) + nt.max(A, 2) + nt.dot(A, A, axis="height") + abs(A)
four: nt.NamedTensor = A.rename(height="rows").merge(all="rows width")[{"all": 0}]
five: nt.NamedTensor = nt.concat([A, A], axis="height") + nt.onehot(A, axis="vocab", size=9).standardize(axis="vocab", eps=1e-6)
size: int = A.sizes["height"] + A.shape["height"] + len(A.axes)
f = nt.formula("x + 1")
f(x=A)
f.check(x=A)
program = nt.program("g(x) = 2 x")
program["g"](A)
program.g(A)
nt.evaluate("x + 1", x=A)
tensors: dict[str, nt.NamedTensor] = {"A": A}
six: nt.NamedTensor = nt.evaluate("A + 1", **tensors)
seven: nt.NamedTensor = program(**tensors) + f(x=A) + program.g(A) + program["g"](values={"sizes": A}, sizes={"a": 3})
eight: nt.NamedTensor = nt.evaluate("sizes + strict", {"sizes": A, "strict": 2}, sizes={"a": 3}, strict=True)
"""
SLIPS = (
    "nt.sofmax(3)",
    'A.sum(axes="a")',
    'nt.softmax(A, axs="a")',
    "A.to_arry()",
    'A + "text"',
    "f.chekc()",
    'nt.evaluate("x", sizes="a")',
)
SLIPPED = 'import namedtensor as nt\n\nA = nt.tensor(1)\nf = nt.formula("x")\n'


@pytest.fixture(scope="module")
def findings(tmp_path_factory):
    """What pyright finds in right code and in slips: file -> the lines of its errors."""
    pyright = shutil.which(
        "pyright", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    )
    if pyright is None:
        pytest.skip("pyright is not installed")
    folder = tmp_path_factory.mktemp("typed")
    (folder / "right.py").write_text(RIGHT)
    (folder / "slips.py").write_text(SLIPPED + "\n".join(SLIPS) + "\n")
    (folder / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT)], "typeCheckingMode": "standard"}))
    run = subprocess.run(
        [pyright, "--outputjson", "--pythonpath", sys.executable, "-p", str(folder)],
        capture_output=True, text=True, cwd=folder, timeout=600,
    )  # fmt: skip
    try:
        generalDiagnostics = json.loads(run.stdout)["generalDiagnostics"]
    except ValueError:
        pytest.skip(f"pyright does not run here: {run.stderr[-200:]}")
    errors = [generaldiagnostic for generaldiagnostic in generalDiagnostics if generaldiagnostic["severity"] == "error"]
    return {
        name: [(error["range"]["start"]["line"], error["message"]) for error in errors if error["file"].endswith(name)]
        for name in ("right.py", "slips.py")
    }


@pytest.mark.slow
def test_right_code_has_no_error(findings):
    assert findings["right.py"] == []


@pytest.mark.slow
@pytest.mark.parametrize("slip", SLIPS)
def test_each_slip_is_an_error(findings, slip):
    line = SLIPPED.count("\n") + SLIPS.index(slip)
    assert [message for at, message in findings["slips.py"] if at == line]  # of overloads, one for each


def test_the_stubs_are_what_the_records_say():
    stubs = importlib.import_module("stubs")
    for path, write in stubs.STUBS.items():
        assert path.read_text(encoding="utf-8") == write(), (
            f"write {path.name} anew: python docs/_extensions/stubs.py --write"
        )
