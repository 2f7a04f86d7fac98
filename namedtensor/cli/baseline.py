"""A baseline: the findings of a document when it was first checked, so that only new ones are reported.

    {"version": 1, "findings": [{"file": "paper.tex", "code": 301, "formula": "\\[ … \\]", "count": 1}, …]}

A finding is identified by its file (relative to the baseline), its code and the text of its formula: it stays
suppressed when lines move, and is reported again when its formula changes.
"""

from __future__ import annotations

import json
import os
from collections import Counter

from ..documents.findings import Finding
from ..files.text import InputError, read_text, save_text

Known = Counter[tuple[str, int, str]]


def read_baseline(path: str) -> Known:
    """The findings of a baseline file. Raises InputError."""
    try:
        listed = json.loads(read_text(path))["findings"]
        return Counter(
            {(str(entry["file"]), int(entry["code"]), str(entry["formula"])): int(entry["count"]) for entry in listed}
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"{path} is not a baseline; create one with --write-baseline") from None


def write_baseline(path: str, findings: list[Finding]) -> None:
    """Write a baseline of findings. Raises InputError."""
    counted = Counter(_key(finding, path) for finding in findings)
    listed = [
        {"file": file, "code": code, "formula": formula, "count": count}
        for (file, code, formula), count in sorted(counted.items())
    ]
    text = json.dumps({"version": 1, "findings": listed}, ensure_ascii=False, indent=1)
    save_text(path, text + "\n")


def new_findings(findings: list[Finding], known: Known, path: str) -> list[Finding]:
    """The findings that a baseline does not have; of equal ones, those beyond its count."""
    left = Counter(known)
    new: list[Finding] = []
    for finding in findings:
        key = _key(finding, path)
        left[key] -= 1
        if left[key] < 0:
            new.append(finding)
    return new


def _key(finding: Finding, path: str) -> tuple[str, int, str]:
    file = os.path.relpath(os.path.abspath(finding.file), os.path.dirname(os.path.abspath(path)))
    return file.replace(os.sep, "/"), finding.problem.code, finding.formula
