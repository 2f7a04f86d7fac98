"""Warnings of lines that begin with a sign at the left margin and continue the equation above them."""

from __future__ import annotations

from grammar.errors import Hint

from ..terms.inference import CheckWarning, Inference


def warn_of_continued(checker: Inference) -> None:
    """Warn of each such line, with a repair for each thing that it may mean; raise in a strict check."""
    source = checker.scope.source
    for start, end in checker.scope.program.continued:
        sign, rest = source[start : start + 1], source[start + 1 : end].lstrip()
        message = f"this line begins with {sign} and continues the equation above it"
        apart = rest if sign == "+" else f"({source[start:end]})"
        first = source.rfind("\n", 0, start) + 1
        margin = source[first:start]
        hint = Hint(
            f"indent the line to continue the equation, or write {apart} for a statement of its own",
            f"{margin}  {source[start:end]}", margin + apart, at=(first, end),
        )  # fmt: skip
        if checker.strict:
            raise checker.error(107, message, (start, end), hint=hint)
        checker.warnings.append(CheckWarning(107, message, (start, end), hint))
