"""Check the subjects of commits: `python tools/commit_subjects.py [MESSAGE_FILE]`.

A subject is `area: imperative`, has at most 72 characters and no semicolon. Without a file, check the commits since
`SINCE`. With a commit message's file, which Git passes to the hook, check its first line.
"""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
SINCE = "b267af2c7059af0a253100217b801fd72888340e"  # subjects are checked from the next commit on
LENGTH = 72
MADE_BY_GIT = ("Merge ", 'Revert "')
AREA = re.compile(r"(?:fixup! |squash! )?[\w.][\w ,/*.-]*: (?P<verb>\S+)(?: |$)")
VERB = re.compile(
    r"[a-z][a-z-]*(?<!s)(?<!ed)(?<!ing)|[a-z-]*(?:ss|eed)|embed|shed|bring|focus|alias|canvas|string|ping"
)


def find_faults(subject: str) -> list[str]:
    """Return the faults of a subject, each with its repair."""
    if subject.startswith(MADE_BY_GIT):
        return []
    faults = []
    if len(subject) > LENGTH:
        faults.append(f"it has {len(subject)} characters; shorten it to {LENGTH}")
    if ";" in subject:
        faults.append("it has a semicolon; make one commit for each change")
    match = AREA.match(subject)
    if match is None:
        faults.append("it names no area; write `area: imperative`, for example `checking: share the axis list`")
    elif not VERB.fullmatch(match["verb"]):
        faults.append(f"{match['verb']!r} is not an imperative; write `fix` or `add`, not `fixes`, `added` or `adding`")
    return faults


def read_subjects(since: str, root: Path) -> list[str] | None:
    """Return the subjects after a revision, or None if the repository lacks it, for example in a shallow clone."""
    command = ["git", "-C", str(root), "log", "--no-merges", "--format=%s", f"{since}..HEAD"]
    try:
        return subprocess.run(command, capture_output=True, check=True, encoding="utf-8").stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        return None


def read_message(path: Path) -> str:
    """Return the first line of a commit message."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((line for line in lines if line.strip() and not line.startswith("#")), "")


def main(arguments: Sequence[str], since: str = SINCE, root: Path = ROOT) -> int:
    """Print the faults of each subject, and return the exit status."""
    subjects = [read_message(Path(arguments[0]))] if arguments else read_subjects(since, root)
    if subjects is None:
        print(f"commit subjects: the history has no {since[:8]}, so they are not checked")
        return 0
    faults = [(subject, fault) for subject in subjects for fault in find_faults(subject)]
    for subject, fault in faults:
        print(f"commit subject: {subject}\n  {fault}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
