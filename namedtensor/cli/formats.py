"""Findings as other programs read them: annotations of GitHub, and SARIF 2.1.0."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from grammar.errors import CATALOGUE

from ..core.version import __version__
from ..documents.findings import ERROR, NOT_CHECKED, WARNING, Finding
from ..documents.markdown import CELL

ANNOTATIONS = {ERROR: "error", WARNING: "warning", NOT_CHECKED: "notice"}
LEVELS = {ERROR: "error", WARNING: "warning", NOT_CHECKED: "note"}
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def message_of(finding: Finding) -> str:
    """The text of a finding: where in a notebook, the message, what each operand has, a hint."""
    problem, cell = finding.problem, finding.file.partition(CELL)[2]
    lines = [f"cell {cell}, line {problem.position()[0]}: {problem.message}" if cell else problem.message]
    lines += problem.notes
    return "\n".join([*lines, f"hint: {problem.hint}"] if problem.hint else lines)


def region_of(finding: Finding) -> dict[str, int]:
    """Return the region of a finding: lines, and columns in characters, from 1. It is empty for a finding without a
    position or in a notebook, where line numbers of a cell are not those of the file."""
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
    """A finding as a command to the log of a GitHub action, which shows it at its line."""
    region = region_of(finding)
    properties = {"file": file_of(finding)} if finding.file else {}
    properties |= {name: str(region[of]) for name, of in (("line", "startLine"), ("endLine", "endLine")) if region}
    if region and region["startLine"] == region["endLine"]:
        properties |= {"col": str(region["startColumn"]), "endColumn": str(region["endColumn"])}
    elif region:
        properties |= {"col": str(region["startColumn"])}
    properties["title"] = f"{finding.severity} {finding.problem.code}"
    text = ",".join(f"{name}={_property(text)}" for name, text in properties.items())
    return f"::{ANNOTATIONS[finding.severity]} {text}::{_data(message_of(finding))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# --------------------------------------------------------------------------------------------------------------- SARIF
def sarif(findings: Iterable[Finding]) -> dict[str, Any]:
    """Findings as a log of SARIF 2.1.0: a rule for each error code."""
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
