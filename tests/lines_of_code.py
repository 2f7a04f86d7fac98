"""Lines of code of each package, beside its budget and the last release: `python tests/lines_of_code.py [--strict | --write]`.

A line counts where it holds code: comments, blank lines and docstrings do not. A package that outgrows its budget is
named, and with `--strict` the status is 1; `--write` sets the budgets anew, to be committed with the reason. The budgets
are in lines_of_code.json.
"""

import ast
import io
import json
import subprocess
import sys
import tarfile
import tokenize
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUDGETS = Path(__file__).with_suffix(".json")
PACKAGES = ("grammar", "namedtensor", "transformer")
ROUND_LINES = 50  # lines: budgets are multiples of it, so that a small change needs no new one
SILENT = frozenset({
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
})  # fmt: skip
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def docstring_lines(tree: ast.AST) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            lines.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return lines


def code_lines(text: str) -> int:
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstring_lines(ast.parse(text)))


def package_of(path: str) -> str:
    """`grammar`, or the package within: `namedtensor/planning`; modules beside packages are those of the folder."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "namedtensor" and len(parts) > 2 else parts[0]


def counted(files: Iterable[tuple[str, str]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for path, text in files:
        counts[package_of(path)] += code_lines(text)
    return counts


def of_the_tree() -> Counter[str]:
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return counted((path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in paths)


def of_the_last_release() -> tuple[str, Counter[str]] | None:
    """The last tag of the repository and its counts; None where there is none."""

    def git(*words: str) -> bytes:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True).stdout

    try:
        tag = git("describe", "--tags", "--abbrev=0").decode().strip()
        data = git("archive", tag, *PACKAGES)
    except (OSError, subprocess.CalledProcessError):
        return None
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        files = [(member.name, archive.extractfile(member)) for member in archive if member.name.endswith(".py")]
        return tag, counted((name, file.read().decode()) for name, file in files if file is not None)


def report(counts: Counter[str], budgets: dict[str, int], release: tuple[str, Counter[str]] | None) -> str:
    tag, before = release or ("no release", Counter())
    rows = [("package", "lines", "budget", tag)]
    for package in sorted({*counts, *budgets}):
        earlier = f"{counts[package] - before[package]:+}" if release else ""
        rows.append((package, str(counts[package]), str(budgets.get(package, 0)), earlier))
    total = f"{counts.total() - before.total():+}" if release else ""
    rows.append(("all", str(counts.total()), str(sum(budgets.values())), total))
    return "\n".join(f"{name:26} {lines:>7} {budget:>7} {change:>12}".rstrip() for name, lines, budget, change in rows)


def main(arguments: list[str]) -> int:
    counts = of_the_tree()
    if "--write" in arguments:
        budgets = {package: -(-lines // ROUND_LINES) * ROUND_LINES for package, lines in sorted(counts.items())}
        BUDGETS.write_text(json.dumps(budgets, indent=1) + "\n", encoding="utf-8")
    budgets = json.loads(BUDGETS.read_text(encoding="utf-8"))
    print(report(counts, budgets, of_the_last_release()))
    above = [package for package, lines in counts.items() if lines > budgets.get(package, 0)]
    for package in above:
        print(f"{package} has {counts[package]} lines of code, budget {budgets.get(package, 0)}: remove some, or raise "
              "the budget with --write and say why in the commit")  # fmt: skip
    return int("--strict" in arguments and bool(above))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
