"""What is installed: the packages whole, importable from elsewhere, light, and in their order."""

import ast
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("grammar", "namedtensor", "transformer")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def python(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=environment.pop("cwd", ROOT),
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **environment},
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The names of the files in the wheel."""
    pytest.importorskip("hatchling")
    from hatchling.builders.wheel import WheelBuilder

    folder = tmp_path_factory.mktemp("wheel")
    path = next(WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"]))
    with zipfile.ZipFile(path) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_every_file_of_the_packages(wheel):
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert path.relative_to(ROOT).as_posix() in wheel


def test_the_wheel_holds_the_grammar_and_the_marks_of_types(wheel):
    assert {"grammar/formula.lark", *(f"{package}/py.typed" for package in PACKAGES)} <= wheel


def test_the_wheel_holds_nothing_else(wheel):
    assert {name.split("/")[0] for name in wheel} - {"named_tensor_notation-0.1.0.dist-info"} == set(PACKAGES)


SAFE_EXTRACTION = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # new in Python 3.11.4


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """The folder of the unpacked sdist."""
    pytest.importorskip("hatchling")
    from hatchling.builders.sdist import SdistBuilder

    folder = tmp_path_factory.mktemp("sdist")
    path = next(SdistBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"]))
    with tarfile.open(path) as archive:
        archive.extractall(folder, **SAFE_EXTRACTION)
    (unpacked,) = (other for other in folder.iterdir() if other.is_dir())
    return unpacked


@pytest.mark.slow
def test_the_sdist_holds_what_its_tests_import_and_read(sdist):
    """In the folder itself: an installed package must not stand in for what is missing."""
    for name in (*PACKAGES, "tests", "benchmarks", "docs", "web", ".ci/run", "action.yml", ".pre-commit-hooks.yaml"):
        assert (sdist / name).exists(), name
    for package in ("tests", "benchmarks", "docs"):
        for path in (ROOT / package).rglob("*.py"):
            assert "_build" in path.parts or (sdist / path.relative_to(ROOT)).exists(), path


def test_the_oldest_versions_are_the_bounds():
    run = python(str(ROOT / ".ci" / "oldest.py"), "test", "jax")
    pins = dict(pin.split("==") for pin in run.stdout.split())
    extras = PROJECT["project"]["optional-dependencies"]
    lines = [*PROJECT["project"]["dependencies"], *extras["test"], *extras["threads"]]
    names = {re.findall(r"[\w-]+", line)[0] for line in lines} - {"named-tensor-notation"}
    assert names | {"jax", "jaxlib"} == set(pins)
    assert all(f"{name}>={pin}" in (ROOT / "pyproject.toml").read_text(encoding="utf-8") for name, pin in pins.items())


def test_the_base_dependencies_are_three():
    names = {re.findall(r"[\w-]+", line)[0] for line in PROJECT["project"]["dependencies"]}
    assert names == {"numpy", "lark", "array-api-compat"}


def test_the_version_is_said_once():
    import namedtensor

    version = PROJECT["project"]["version"]
    assert getattr(namedtensor, "__version__", version) == version
    assert f'"{version}"' in (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------------------ layout of the archive
MAY_IMPORT = {
    "grammar": {"grammar", "lark"},
    "namedtensor": {"grammar", "namedtensor", "numpy", "array_api_compat", "torch", "jax", "xarray",
                    "IPython", "PIL", "mcp", "matplotlib", "flax", "threadpoolctl", "onnx_ir", "ml_dtypes", "pytest", "pygls", "lsprotocol", "pygments"},
    "transformer": {"grammar", "namedtensor", "transformer", "numpy", "tokenizers", "gguf"},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_imports_point_one_way(package):
    for path in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            for name in names:
                top = name.split(".")[0]
                assert top in MAY_IMPORT[package] or top in sys.stdlib_module_names, f"{path.name} imports {name}"


@pytest.mark.slow
def test_no_evaluation_of_text_as_python_but_what_is_made_of_a_plan():
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    of_plans = (
                        path.parent == ROOT / "namedtensor" / "backends"
                        and path.name in ("lines.py", "source.py")
                        and node.func.id
                        in (
                            "exec",
                            "compile",
                        )
                    )
                    assert of_plans or node.func.id not in ("eval", "exec", "compile"), f"{path.name}:{node.lineno}"


@pytest.mark.slow
def test_parsing_checking_and_the_reference_need_no_numpy():
    run = python(str(ROOT / "tests" / "without_numpy.py"), "--hide")
    assert run.returncode == 0, run.stderr


def test_heavy_packages_are_imported_only_when_asked_for():
    heavy = (
        "torch", "jax", "flax", "xarray", "pandas", "matplotlib", "IPython", "tokenizers", "onnx", "onnx_ir",
        "onnxruntime", "gguf",
    )  # fmt: skip
    run = python(
        "-c", f"import sys, namedtensor, transformer; print([name for name in {heavy} if name in sys.modules])"
    )
    assert run.stdout.strip() == "[]", run.stdout + run.stderr


# --------------------------------------------------------------------------------------------- what CONTRIBUTING says
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_files_that_contributing_speaks_of_are_there():
    for name in re.findall(r"`((?:namedtensor|grammar|docs|\.ci)/[\w./]*)`", CONTRIBUTING):
        assert (ROOT / name).exists(), name
    assert "SYMBOLS" in (ROOT / "grammar" / "symbols.py").read_text(encoding="utf-8")


NEW = """
import numpy as np
import grammar.function_names, grammar.symbols

# Step 1: the records, beside those of their kinds.
from namedtensor.operators import elementwise, reductions
from namedtensor.operators.record import REGISTRY, Operator, register

def rms(b, arguments, axes, options):
    (x,) = arguments
    return b.sqrt(reductions.mean(b, b.multiply(x, x), axes))

like = REGISTRY["mean"]
register(Operator(name="rms", kind=like.kind, signature=like.signature, lower=rms, section=like.section,
                  meaning="the root of the mean of squares", numpy="np.sqrt((X ** 2).mean(i))",
                  differentials=("mean_{ax}(X ⊙ ∂X) / rms_{ax} X",),
                  definition=lambda x: (sum(entry * entry for entry in x) / len(x)) ** 0.5))

# of a number
register(Operator(name="softsign", kind="elementwise", signature="->", section=elementwise.SECTION,
                  lower=elementwise.elementwise(lambda b, x: b.divide(x, b.add(b.abs(x), 1.0)), "floats"),
                  meaning="x / (1 + |x|)", numpy="X / (1 + np.abs(X))", differentials=("∂X / (1 + abs(X))^2",),
                  definition=lambda x: x / (1 + abs(x)), finite="of finite"))

# along an axis, and linear, so that cotangents go back through it
def turned(b, arguments, axes, options):
    (x,), (axis,) = b.coerced(arguments, "numbers"), axes
    size = x.size(axis)
    return b.take(x, b.subtract(size - 1, b.arange(0, size, axis)), axis)

register(Operator(name="turned", kind="axis_map", signature="ax -> ax", lower=turned, section="§3.5 Vectors to vectors",
                  meaning="the elements from the last to the first", numpy="np.flip(X, axis)",
                  differentials=("turned_{ax} ∂X",), definition=lambda x: x[::-1], sign="of operands", finite="of finite",
                  transpose=lambda make, term, cotangent, place: make.term(
                      term.operator, (cotangent,), term.axes, (), dict(cotangent.shape))))

# Step 2: their names, where both spellings find them.
grammar.symbols.FUNCTIONS |= {"rms", "softsign", "turned"}
grammar.function_names.FUNCTIONS |= {"rms", "softsign", "turned"}

import namedtensor as nt
from namedtensor import reference
numbers = [[3.0, 4.0], [6.0, -8.0]]
X, R = nt.tensor(np.array(numbers), "seq chans"), reference.tensor(numbers, "seq chans")
CASES = {
    "rms_{chans} X": (r"\\nfun{\\chans}{rms} X", [12.5 ** 0.5, 50 ** 0.5], "rms(X, axis='chans')", "X.rms('chans')"),
    "softsign X": (r"\\text{softsign} X", [[3 / 4, 4 / 5], [6 / 7, -8 / 9]], "softsign(X)", "X.softsign()"),
    "turned_{seq} X": (r"\\nfun{\\seq}{turned} X", numbers[::-1], "turned(X, axis='seq')", "X.turned('seq')"),
}
for text, (latex, expected, function, method) in CASES.items():
    found = nt.evaluate(text, X=X)
    for other in (found, nt.evaluate(latex, X=X), nt.evaluate(nt.formula(text).to_latex(macros=True), X=X)):
        np.testing.assert_allclose(other.to_array(found.axes), expected)
    # The Python function and the method are made of the record, and the reference evaluator has its definition.
    for other in (eval("nt." + function), eval(method)):
        np.testing.assert_allclose(other.to_array(found.axes), expected)
    np.testing.assert_allclose(reference.evaluate(text, {"X": R}).to_list(found.axes), expected)
    # So is the derivative, of numbers and closed, against quotients of differences.
    total = "∑_{seq} ∑_{chans} (" + text + ") ⊙ X" if "rms" not in text else "∑_{seq} " + text
    slope = nt.evaluate("∂(" + total + ")/∂X", X=X)
    for place in np.ndindex(2, 2):
        step = np.zeros((2, 2)); step[place] = 1e-6
        up, down = (float(nt.evaluate(total, X=X + nt.tensor(each, "seq chans"))) for each in (step, -step))
        assert abs((up - down) / 2e-6 - slope.to_array("seq chans")[place]) < 1e-5, text
    closed = nt.formula(total).derivative("X").closed_form(X="ℝ^{seq × chans}").program
    np.testing.assert_allclose(closed.evaluate(X=X).to_array("seq* chans*"), slope.to_array("seq chans"), atol=1e-9)
for name, example in (("rms", '(A, axis="width")'), ("softsign", "(A)"), ("turned", '(A, axis="width")')):
    assert "nt." + name + example + ".shape" in getattr(nt, name).__doc__
"""


def test_the_steps_for_a_new_operator_are_enough(tmp_path):
    run = python("-c", NEW)
    assert run.returncode == 0, run.stderr


def test_every_function_that_the_grammar_knows_has_a_record_and_back():
    import namedtensor  # noqa: F401
    from grammar.symbols import FUNCTIONS
    from namedtensor.operators.record import REGISTRY

    structural = {"size"}  # |ax| by another name: not an operator on tensors
    words = {name for name in REGISTRY if name.isidentifier()}
    assert FUNCTIONS - structural <= set(REGISTRY)
    assert words - FUNCTIONS <= {"sum", "prod", "negative", "juxtaposed", "rename", "merge", "split", "identity", "I", "dot",
                                 "odd", "even", "iota", "ones"}  # fmt: skip


# ------------------------------------------------------------------------------------------------- the command line
def test_the_command_runs_as_a_module_from_another_folder(tmp_path):
    (tmp_path / "A.json").write_text("[[3, 1, 4], [1, 5, 9], [2, 6, 5]]")
    run = python("-m", "namedtensor", "eval", "sum_{height} A", "A=A.json:height,width", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert {"6", "12", "18"} <= set(re.findall(r"\d+", run.stdout))


# ------------------------------------------------------------------------------------------ files that hide a package
def test_a_grammar_of_ones_own_is_told_by_its_file(tmp_path):
    (tmp_path / "grammar.py").write_text("rules = 3\n")
    run = python("-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import namedtensor")
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1] == (
        f"ImportError: {tmp_path / 'grammar.py'} hides the package grammar that comes with namedtensor: "
        "give that file another name"
    )


def test_a_transformer_of_ones_own_is_told_by_its_file(tmp_path):
    (tmp_path / "transformer.py").write_text("layers = 3\n")
    run = python("-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import namedtensor")
    assert run.returncode == 0
    assert f"{tmp_path / 'transformer.py'} hides the package transformer that comes with namedtensor" in run.stderr


def test_nothing_is_told_where_nothing_hides():
    run = python("-W", "error", "-c", "import namedtensor, transformer")
    assert run.returncode == 0, run.stderr


@pytest.mark.sampled(3)
@pytest.mark.slow
def test_the_packages_can_be_imported_from_a_zip_where_numpy_is_absent(tmp_path):
    """As a page has them."""
    packed = tmp_path / "packages.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in ("grammar", "namedtensor"):
            for path in (ROOT / package).rglob("*"):
                if path.is_file() and "__pycache__" not in path.parts:
                    archive.write(path, path.relative_to(ROOT).as_posix())
    script = (ROOT / "tests" / "without_numpy.py").read_text(encoding="utf-8")
    script += "\nimport grammar, namedtensor\nassert '.zip' in grammar.__file__ and '.zip' in namedtensor.__file__\n"
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    done = python(str(tmp_path / "script.py"), "--hide", cwd=tmp_path, PYTHONPATH=str(packed))
    assert done.returncode == 0, done.stderr
