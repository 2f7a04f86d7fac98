r"""Runs `namedtensor check` on the documents of `public_documents.tsv`, and says of each what came of it.

    git clone --bare https://github.com/OWNER/NAME FOLDER/OWNER+NAME      for each repository of the list
    python tests/check_public_documents.py FOLDER                         a line a document, and the sums
    python tests/check_public_documents.py FOLDER --jobs 4 --only paper   some at a time, of those whose path has a word

A repository is FOLDER/OWNER+NAME, bare or with a work tree, or has `repo` below. The texts of a commit are unpacked to a
temporary folder, so that files that a document includes stand beside it. The list names texts of others: it holds none.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import signal
import subprocess
import tarfile
import tempfile
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

LIST = Path(__file__).with_name("public_documents.tsv")
ENDINGS = (".tex", ".sty", ".cls", ".md", ".nt", ".html")
SLOW = 5.0  # seconds for one document


class Document(NamedTuple):
    """A document of a public repository at a commit; an `ordinary` one has no named axes, and nothing is to be found in it."""

    repository: str
    path: str
    commit: str
    ordinary: str = ""


class Outcome(NamedTuple):
    """What `check` made of a document; `crash` is the traceback, or nothing."""

    document: Document
    seconds: float
    formulas: int = 0
    errors: int = 0
    warnings: int = 0
    unread: int = 0
    crash: str = ""


def documents() -> list[Document]:
    """The documents of the list."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return [Document(*line.split("\t")) for line in lines if line and not line.startswith("#")]


def git_folder(folder: Path, repository: str) -> Path | None:
    """The git directory of a repository below the folder."""
    path = folder / repository.replace("/", "+")
    paths = (other for other in (path / "repo", path / ".git", path) if (other / "objects").is_dir())
    return next(paths, None)


def unpack(folder: Path, repository: str, commit: str, to: Path) -> bool:
    """The texts of a commit, in a folder of their own; whether it is there."""
    path = git_folder(folder, repository)
    if path is None:
        return False
    git = ["git", f"--git-dir={path}"]
    listed = subprocess.run([*git, "ls-tree", "-r", "-z", "--name-only", commit], capture_output=True, check=False)
    texts = [name for name in listed.stdout.decode().split("\0") if name.endswith(ENDINGS)]
    archived = subprocess.run([*git, "archive", "--format=tar", commit, "--", *texts], capture_output=True, check=False)
    if not texts or archived.returncode:
        return False
    with tarfile.open(fileobj=io.BytesIO(archived.stdout)) as archive:
        archive.extractall(to, filter="data")
    return True


def checked(document: Document, path: Path) -> Outcome:
    """Run the command on a document."""
    from namedtensor.cli.commands import main

    printed, start = io.StringIO(), time.perf_counter()
    signal.alarm(120)
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
            main(["check", str(path)])
            seconds = time.perf_counter() - start
            printed.seek(0)
            printed.truncate()
            main(["check", str(path), "--json"])
    except BaseException:
        return Outcome(document, time.perf_counter() - start, crash=traceback.format_exc(limit=-6))
    finally:
        signal.alarm(0)
    record = json.loads(printed.getvalue())
    counts = {name: len(record.get(name, ())) for name in ("errors", "warnings")}
    unread = sum(left.get("named", False) for left in record.get("left_out", ()))
    return Outcome(document, seconds, record.get("formulas", 0), **counts, unread=unread)


def work(group: tuple[Path, list[Document]]) -> list[Outcome]:
    """The outcomes of documents of one commit."""
    folder, expected = group
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError("more than two minutes")))
    with tempfile.TemporaryDirectory() as temporary:
        there = unpack(folder, expected[0].repository, expected[0].commit, Path(temporary))
        places = [(document, Path(temporary) / document.path) for document in expected]
        return [checked(document, path) for document, path in places if there and path.is_file()]


def is_false_alarm(outcome: Outcome) -> bool:
    """Whether something was found in a document that has none of it."""
    return bool(outcome.document.ordinary) and bool(outcome.errors + outcome.warnings + outcome.unread)


def report_line(outcome: Outcome) -> str:
    document = outcome.document
    text = f"{outcome.formulas:5} formulas {outcome.errors:4} errors {outcome.warnings:3} warnings {outcome.unread:4} unread"
    text += f" {outcome.seconds:6.2f} s  {document.repository} {document.path} {document.commit[:7]}"
    text += "  FALSE ALARM" if is_false_alarm(outcome) else ""
    return text + ("  SLOW" if outcome.seconds > SLOW else "") + (f"\n{outcome.crash}" if outcome.crash else "")


def run() -> int:
    parser = argparse.ArgumentParser(description="Check the documents of public_documents.tsv.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    groups: dict[tuple[str, str], list[Document]] = {}
    for document in documents():
        if options.only in f"{document.repository} {document.path}":
            groups.setdefault((document.repository, document.commit), []).append(document)
    outcomes: list[Outcome] = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for result in pool.map(work, [(options.folder, expected) for expected in groups.values()]):
            outcomes += result
            for outcome in result:
                print(report_line(outcome), flush=True)
    crashes = sum(bool(outcome.crash) for outcome in outcomes)
    slow = sum(outcome.seconds > SLOW for outcome in outcomes)
    missing = sum(map(len, groups.values())) - len(outcomes)
    sums = [
        sum(getattr(outcome, name) for outcome in outcomes) for name in ("formulas", "errors", "warnings", "unread")
    ]
    print(
        f"{len(outcomes)} documents, {missing} not here: {sums[0]} formulas, {sums[1]} errors, {sums[2]} warnings, ",
        end="",
    )
    print(f"{sums[3]} formulas with named axes unread, {crashes} crashes, {slow} slower than {SLOW:g} s")
    alarms = sum(map(is_false_alarm, outcomes))
    ordinary = sum(bool(outcome.document.ordinary) for outcome in outcomes)
    print(f"{ordinary} of them ordinary, with {alarms} false alarms")
    return int(bool(crashes or slow or alarms))


if __name__ == "__main__":
    raise SystemExit(run())
