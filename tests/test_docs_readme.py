"""Check the README, and the statements that the pages repeat: commands to install, extras, the year of the paper."""

import doctest
import re
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from generated import pages
from pages import command

from namedtensor import cli
from namedtensor.cli.commands import BUILT_IN

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
TEXTS = [
    *pages(),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CITATION.cff", "editors/vscode/README.md")),
]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
FOR_CONTRIBUTORS = {
    "dev",
    "lint",
    "benchmarks",
    "peers",
    "playground",
}  # the playground's page describes the last


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_pages_install_from_a_checkout_with_extras_that_exist(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"pip install ['\"]?named-tensor-notation", text)
    extras = re.findall(r"pip install (?:-e )?'\.\[([\w,]+)\]'", text)
    assert {name for names in extras for name in names.split(",")} <= EXTRAS.keys()


def test_the_install_page_lists_all_extras():
    text = (DOCS / "install.md").read_text(encoding="utf-8")
    assert {*re.findall(r"^\| `(\w+)` \|", text, re.M)} == EXTRAS.keys() - FOR_CONTRIBUTORS


def test_the_paper_has_one_year():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    years = {
        match[1]
        for path in TEXTS
        for match in re.finditer(
            r"(?:TMLR|Machine Learning Research\*?),? (?:vol\S+ )?(\d{4})",
            " ".join(path.read_text(encoding="utf-8").split()),
        )
    }
    assert years == {*re.findall(r"^  year: (\d+)$", citation, re.M)}


# ------------------------------------------------------------------------------------------------------- the README
def test_the_readme_fits_three_screens():
    assert len(README.splitlines()) <= 120


def test_links_of_the_readme_have_targets():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("http") or (ROOT / target).exists(), target


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_python_of_the_readme_prints_its_outputs(library):
    """Run the blocks as one doctest, without the PyTorch blocks if PyTorch is missing."""
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    blocks = [block for block in BLOCKS if library == "torch" or "torch" not in block]
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "README.md", "README.md", 0)
    assert len(test.examples) > (10 if library == "torch" else 6)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.DocTestRunner(optionflags=flags).run(test).failed == 0


def test_the_readme_runs_the_iris_file():
    (line,) = re.findall(r"^pip install \. && (namedtensor eval .*)$", README, re.MULTILINE)
    assert "sepal length" in command(line)


def test_check_reports_the_error_of_the_readme_without_data(capsys):
    (formula,) = re.findall(r'nt\.evaluate\("(softmax_\{key\}.*?)"', README)
    shapes = ["Q=ℝ^{query[5] × key[8]}", "K=ℝ^{seq[6] × key[8]}", "V=ℝ^{seq[6] × val[4]}"]
    assert cli.main(["check", formula, *shapes]) == 1
    (message,) = re.findall(r"NotationError: (.*?)```", README, re.DOTALL)
    assert message.strip() in "".join(capsys.readouterr())


def test_commands_in_the_text_of_the_readme_exist(capsys):
    lines = re.findall(r"`namedtensor ([^`]+)`", README)
    assert {line.split()[0] for line in lines} <= set(BUILT_IN)
    (derivative,) = [line for line in lines if line.startswith("derive")]
    assert cli.main(["derive", "softmax_{a} x", "--wrt", "x"]) == 0
    assert derivative == "derive 'softmax_{a} x' --wrt x" and "I_{a, a*}" in capsys.readouterr().out
