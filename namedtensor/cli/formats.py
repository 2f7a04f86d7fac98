"""Findings for other programs: GitHub annotations, SARIF 2.1.0, and a baseline of known findings.

    {"version": 1, "findings": [{"file": "paper.tex", "code": 301, "formula": "\\[ … \\]", "count": 1}, …]}

A baseline identifies a finding by its file (relative to the baseline), its code and the text of its formula. Therefore,
the finding stays suppressed when its lines move, and it is reported again when its formula changes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from grammar.errors import CATALOGUE

from ..core.version import __version__
from ..documents.findings import ERROR, NOT_CHECKED, WARNING, Finding
from ..documents.markdown import CELL
from ..files.text import InputError, read_text, save_text

ANNOTATIONS = {ERROR: "error", WARNING: "warning", NOT_CHECKED: "notice"}
LEVELS = {ERROR: "error", WARNING: "warning", NOT_CHECKED: "note"}
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def message_of(finding: Finding) -> str:
    """Return a finding as text: its position if it is in a notebook, its message, its notes and its hint."""
    problem, cell = finding.problem, finding.file.partition(CELL)[2]
    lines = [f"cell {cell}, line {problem.position()[0]}: {problem.message}" if cell else problem.message]
    lines += problem.notes
    return "\n".join([*lines, f"hint: {problem.hint}"] if problem.hint else lines)


def region_of(finding: Finding) -> dict[str, int]:
    """Return the region of a finding for SARIF. Lines and columns, in characters, count from 1.

    The region is empty for a finding without a position. It is also empty in a notebook, whose cells have separate line
    numbers.
    """
    problem = finding.problem
    if not finding.file or CELL in finding.file or problem.source is None or problem.span is None:
        return {}
    line, column = problem.position()
    last = problem.replace(span=(problem.span[1], problem.span[1])).position()
    return {"startLine": line, "startColumn": column, "endLine": last[0], "endColumn": last[1]}


def file_of(finding: Finding) -> str:
    return finding.file.partition(CELL)[0].replace(os.sep, "/")


# -------------------------------------------------------------------------------------------------------------- GitHub
def github(finding: Finding) -> str:
    """Return a finding as a GitHub Actions workflow command, which GitHub displays at the finding's line."""
    region = region_of(finding)
    properties = {"file": file_of(finding)} if finding.file else {}
    properties |= {name: str(region[of]) for name, of in (("line", "startLine"), ("endLine", "endLine")) if region}
    if region and region["startLine"] == region["endLine"]:
        properties |= {"col": str(region["startColumn"]), "endColumn": str(region["endColumn"])}
    elif region:
        properties |= {"col": str(region["startColumn"])}
    properties["title"] = f"{finding.severity} {finding.problem.code}"
    return annotation(ANNOTATIONS[finding.severity], properties, message_of(finding))


def annotation(kind: str, properties: dict[str, str], message: str) -> str:
    """Return a GitHub Actions workflow command, given its kind, properties and message."""

    def escape(text: str) -> str:
        return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    words = [f"{name}={escape(text).replace(':', '%3A').replace(',', '%2C')}" for name, text in properties.items()]
    return f"::{kind}{' ' * bool(words)}{','.join(words)}::{escape(message)}"


# --------------------------------------------------------------------------------------------------------------- SARIF
def sarif(findings: Iterable[Finding]) -> dict[str, Any]:
    """Return findings as a SARIF 2.1.0 log, with a rule for each error code."""
    listed = list(findings)
    numbers = sorted({finding.problem.code for finding in listed})
    rules = [{"id": str(number), "shortDescription": {"text": CATALOGUE[number]}} for number in numbers]
    driver = {"name": "namedtensor", "version": __version__, "rules": rules}
    results = [_result(finding, numbers.index(finding.problem.code)) for finding in listed]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    text = f"not checked: {message_of(finding)}" if finding.severity == NOT_CHECKED else message_of(finding)
    result: dict[str, Any] = {"ruleId": str(finding.problem.code), "ruleIndex": rule, "level": LEVELS[finding.severity]}
    result["message"] = {"text": text}
    if finding.file:
        location: dict[str, Any] = {"artifactLocation": {"uri": quote(file_of(finding))}}
        region = region_of(finding)
        result["locations"] = [{"physicalLocation": {**location, "region": region} if region else location}]
        known = f"{finding.problem.code} {finding.formula}".encode()
        result["partialFingerprints"] = {"formula/v1": hashlib.sha256(known).hexdigest()}
    return result


# ------------------------------------------------------------------------------------------------------------ baseline
Known = Counter[tuple[str, int, str]]


def read_baseline(path: str) -> Known:
    """Return how often each finding occurs in a baseline file. Raise InputError if the file is invalid."""
    try:
        listed = json.loads(read_text(path))["findings"]
        return Counter(
            {(str(entry["file"]), int(entry["code"]), str(entry["formula"])): int(entry["count"]) for entry in listed}
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"{path} is not a baseline; create one with --write-baseline") from None


def write_baseline(path: str, findings: list[Finding]) -> None:
    """Write findings as a baseline file. Raise InputError if this fails."""
    counted = Counter(_key(finding, path) for finding in findings)
    listed = [
        {"file": file, "code": code, "formula": formula, "count": count}
        for (file, code, formula), count in sorted(counted.items())
    ]
    text = json.dumps({"version": 1, "findings": listed}, ensure_ascii=False, indent=1)
    save_text(path, text + "\n")


def new_findings(findings: list[Finding], known: Known, path: str) -> list[Finding]:
    """Return findings that are not in a baseline. Occurrences in excess of the number in the baseline are also new."""
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
