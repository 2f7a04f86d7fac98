"""The packages work from a zip, which has no folder to read files from."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("grammar", "namedtensor", "transformer")
USES = {
    "a formula": """
import grammar, namedtensor as nt
assert float(nt.evaluate("∑_{a} x^2", x=nt.tensor([3.0, 4.0], "a"))) == 25
assert nt.program(r"\\nfun{\\name{a}}{softmax} X", syntax="latex").to_text() == "softmax_a(X)"
""",
    "a layer": """
import namedtensor as nt, transformer, numpy as np
layer = transformer.LayerNorm.init(seed=0, sizes={"chans": 4})
assert layer(nt.tensor(np.ones((2, 4)), "seq chans")).sizes == {"seq": 2, "chans": 4}
""",
    "a model's page": """
import transformer
from transformer.paper import LeNet
assert "γ" in transformer.GPT2.notation and "LeNet" in LeNet.notation
assert "softmax" in transformer.Llama.formula.to_text()
""",
    "the playground's page and JavaScript": """
import namedtensor as nt
from namedtensor.webpage.server import page
from namedtensor.webpage.paragraphs import sections
assert page() and sections()
assert "function given" in nt.to_javascript("2 x", x="ℝ^{a[3]}", standalone=True)
""",
    "the command line": """
from namedtensor.cli import main
assert main(["render", "A @_{k} B", "--to", "latex"]) == 0
""",
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("zip") / "packages.zip"
    with zipfile.ZipFile(path, "w") as file:
        for package in PACKAGES:
            for other in (ROOT / package).rglob("*"):
                if other.is_file() and "__pycache__" not in other.parts:
                    file.write(other, other.relative_to(ROOT).as_posix())
    return path


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize("use", USES)
def test_the_packages_work_from_a_zip(archive, use, tmp_path):
    code = (
        "import sys\n"
        f"sys.path = [{str(archive)!r}, *(each for each in sys.path if each not in ('', {str(ROOT)!r}))]\n"
        "sys.meta_path = [each for each in sys.meta_path if 'editable' not in str(each)]\n"
        f"{USES[use]}\nimport namedtensor\nassert {str(archive)!r} in namedtensor.__file__"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-W", "error::UserWarning", "-c", code],
        capture_output=True, text=True, encoding="utf-8", cwd=tmp_path, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
