r"""A formula of a document by its label: paper.tex#eq:attention is the display with \label{eq:attention}."""

from __future__ import annotations

import re
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.printer import to_text

from ..files.text import InputError
from .included_files import document_text
from .loaded import whole_of
from .overridden import defined_by, needed_by
from .sections import check_document

LEFT_OUT = (nodes.Value, nodes.Declaration, nodes.Fact)  # values of others, types that the code has
PLAIN = (nodes.Name, nodes.Subscript, nodes.Superscript)
LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")


def labeled(file: str, label: str) -> str:
    """The program whose value is the labeled formula, with the definitions that it needs.

    Raises NotationError if the file cannot be read, or has no formula with that label.
    """
    try:
        text, _ = document_text(file)
        whole = whole_of(text, file).text
        sections = check_document(whole).sections
    except InputError as problem:
        raise NotationError(108, str(problem)) from None
    known: list[str] = []
    for section in sections:
        for maths, program in section.programs.items():
            labels = LABEL.findall(whole[maths.start : maths.end])
            known += labels
            if label in labels and program.statements:
                return to_text(nodes.Program(tuple(with_value(section.holds, chosen(program, labels.index(label))))))
    listed = ", ".join(dict.fromkeys(known)) or "none with a formula"
    raise NotationError(108, f"{file} has no formula with the label {label}", notes=(f"its labels are {listed}",))


def chosen(program: nodes.Program, position: int) -> Any:
    """The statement with a label: that at its place among those that define."""
    defining = [statement for statement in program.statements if isinstance(statement, (nodes.Equation, nodes.Value))]
    return defining[min(position, len(defining) - 1)] if defining else program.statements[-1]


def with_value(holds: list[Any], statement: Any) -> list[Any]:
    """The definitions that a statement needs, and last the statement whose value is asked for."""
    others = [fromkey for fromkey in dict.fromkeys(holds) if fromkey != statement and not isinstance(fromkey, LEFT_OUT)]
    needed: list[Any] = [statement]
    for line in needed:
        names = needed_by(line)
        needed += [one for one in others if one not in needed and (not defined_by(one) or defined_by(one) & names)]
    result = [earlier for earlier in others if earlier in needed]
    if isinstance(statement, nodes.Equation) and isinstance(statement.sides[0], PLAIN):
        return [*result, statement, nodes.Value(statement.sides[0])]
    return [*result, statement]
