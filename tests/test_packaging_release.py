"""Check the files of a release and of continuous integration on a forge: they parse, and `.ci/run` has their steps."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CI = runpy.run_path(str(ROOT / ".ci" / "stages.py"))
README_COMMANDS = set(re.findall(r"^pip install.*", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE))


def steps_of(workflow: Path):
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


def stages_named_in(command: str) -> list[str]:
    return [name for words in command.split()[1:] for name in words.split("+")]


@pytest.mark.parametrize("path", [
    *WORKFLOWS, *(ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"), ROOT / ".github" / "dependabot.yml",
    ROOT / ".pre-commit-config.yaml", ROOT / ".pre-commit-hooks.yaml", ROOT / "CITATION.cff", ROOT / "action.yml",
    ROOT / ".ci" / "conda" / "recipe.yaml",
], ids=lambda path: path.name)  # fmt: skip
def test_a_file_parses(path):
    assert isinstance(yaml.safe_load(path.read_text(encoding="utf-8")), dict | list)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_each_step_of_a_workflow_is_one_of_continuous_integration(path):
    commands = [step["run"] for step in steps_of(path) if "run" in step]
    for command in commands:
        if command == ".ci/run ${{ matrix.stage }}":
            continue
        assert command in README_COMMANDS or command.startswith(".ci/run"), command
        for stage in stages_named_in(command) if command.startswith(".ci/run") else ():
            assert stage in CI["STAGES"] | CI["SLOW"], stage


def test_the_stages_of_the_scheduled_run_exist():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))["jobs"]
    stages = jobs["slow"]["strategy"]["matrix"]["stage"]
    assert {*stages, "oldest", "pythons"} == {*CI["SLOW"], *CI["MEASURES"]}  # these two have jobs of their own


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_each_action_has_a_version(path):
    assert all("@" in step["uses"] for step in steps_of(path) if "uses" in step)


def test_workflows_test_the_versions_of_python_that_are_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {word.rpartition(" ")[2] for word in project["classifiers"] if re.search(r":: 3\.\d+$", word)}
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))["jobs"]
    assert {*jobs["readme"]["strategy"]["matrix"]["python"]} >= declared


def test_a_release_keeps_no_token():
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "secrets." not in text
    publish = yaml.safe_load(text)["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"} and publish["needs"] == "build"


def test_all_files_say_one_version():
    disagreements = runpy.run_path(str(ROOT / ".ci" / "version.py"))["disagreements"]
    assert disagreements() == []
    assert any("the tag is v0.0.9" in line for line in disagreements("v0.0.9"))


def test_an_address_is_set_in_one_file_and_is_that_of_a_page():
    with_address = runpy.run_path(str(ROOT / ".ci" / "address.py"))["with_address"]
    before = (ROOT / "namedtensor" / "webpage" / "site.py").read_text(encoding="utf-8")
    namespace = {}
    exec(with_address(before, "https://example.org/docs/playground.html"), namespace)
    assert namespace["SITE"] == "https://example.org/docs/playground.html"
    again = with_address(with_address(before, "https://example.org/a"), "https://example.org/b")
    assert again == with_address(before, "https://example.org/b")
    for wrong in ("", "/playground.html", "example.org", 'https://e.org/"', "https://e.org/#a", "ftp://e.org/a"):
        with pytest.raises(ValueError, match="is not the address of a page"):
            with_address(before, wrong)


def test_the_package_of_the_page_says_the_version_and_license_of_the_package():
    other = tomllib.loads((ROOT / "web" / "distribution" / "pyproject.toml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["optional-dependencies"]["playground"] == [f"{other['project']['name']}=={project['version']}"]
    assert (ROOT / "LICENSE").read_bytes() == (ROOT / "web" / "distribution" / "LICENSE").read_bytes()
    assert all(other["project"][field] == project[field] for field in ("license", "requires-python", "authors"))


def test_the_recipe_asks_for_what_the_package_asks_for():
    recipe = (ROOT / ".ci" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    recipe = yaml.safe_load(recipe.replace("${{", "").replace("}}", ""))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {line.replace(" ", "") for line in recipe["requirements"]["run"] if not line.startswith("python")}
    assert needed == {line.replace(" ", "") for line in project["dependencies"]}
