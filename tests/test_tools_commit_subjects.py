"""Test the form of commit subjects."""

import shutil
import subprocess

import commit_subjects
import pytest


@pytest.mark.parametrize(
    "subject",
    [
        "checking: share the axis list and the call lookup",
        "docs, README: bring the pages up to date",
        ".ci/run: process the pages in one stage",
        "planning: need no second pass",
        "web: embed the fonts",
        "tests: bypass the cache",
        "fixup! files: read each tensor through one handle",
        "tests/conftest.py: sample with a seed",
        "x: " + "a" * 69,
        "Merge branch 'prose'",
        'Revert "grammar: reject a second star"',
    ],
)
def test_imperative_subjects_pass(subject):
    assert not commit_subjects.find_faults(subject)


@pytest.mark.parametrize(
    ("subject", "fault"),
    [
        ("share the axis list", "area"),
        ("checking: shares the axis list", "imperative"),
        ("checking: shared the axis list", "imperative"),
        ("checking: sharing the axis list", "imperative"),
        ("checking: Share the axis list", "imperative"),
        ("checking: `share` the axis list", "imperative"),
        ("checking:share the axis list", "area"),
        ("checking: share the axis list; fix a typo", "semicolon"),
        ("x: " + "a" * 70, "73 characters"),
        ("", "area"),
    ],
)
def test_other_subjects_fail(subject, fault):
    (matches,) = commit_subjects.find_faults(subject)
    assert fault in matches


def make_repository(path, *subjects):
    """Create a repository with one empty commit for each subject, and return the hash of the first."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "core.hooksPath=/dev/null"]

    def git(*words):
        return subprocess.run(["git", *identity, *words], cwd=path, check=True, capture_output=True, text=True).stdout

    git("init", "--quiet")
    for subject in subjects:
        git("commit", "--quiet", "--allow-empty", "-m", subject)
    return git("rev-list", "--max-parents=0", "HEAD").strip()


def test_subjects_after_the_base_are_checked(tmp_path, capsys):
    base = make_repository(tmp_path, "everything; at once", "grammar: read stars", "grammar: reads stars")
    assert commit_subjects.main([], base, tmp_path) == 1
    assert capsys.readouterr().out.count("commit subject:") == 1
    assert commit_subjects.main([], "HEAD", tmp_path) == 0


def test_a_missing_base_is_tolerated(tmp_path, capsys):
    make_repository(tmp_path, "everything; at once")
    assert commit_subjects.main([], "0123456789" * 4, tmp_path) == 0
    assert commit_subjects.main([], "HEAD", tmp_path / "none") == 0
    assert capsys.readouterr().out.count("not checked") == 2


@pytest.mark.parametrize(
    ("message", "status"), [("grammar: read stars\n\nBody; text.\n", 0), ("# note\nReads stars\n", 1)]
)
def test_the_file_of_a_message_is_checked(tmp_path, message, status):
    path = tmp_path / "COMMIT_EDITMSG"
    path.write_text(message, "utf-8")
    assert commit_subjects.main([str(path)]) == status
