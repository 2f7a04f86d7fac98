"""Mistakes planted in documents, and the share of them that `check` reports.

    python tests/document_mistakes.py                 figures of all mistakes of each kind, and those that are missed
    python tests/document_mistakes.py 40 --seed 7     of forty of each kind

The documents are the layers and models of `transformer`, each formula a display of LaTeX, identities with named axes that
are true for tensors of any shape, and definitions of functions that are built in. A mistake changes one node of one formula.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from random import Random
from typing import Any, NamedTuple

import transformer
from grammar import nodes
from grammar.parser import parse
from grammar.printer import to_latex
from namedtensor.documents.document import Document
from namedtensor.documents.sections import check_document
from namedtensor.documents.verdicts import Draws
from namedtensor.scope.names import walk

IDENTITIES = r"""
∂(∑_{ax} X) = ∑_{ax} ∂X
X ⊙_{ax} Y = ∑_{ax} (X ⊙ Y)
(X ⊙_{ax} Y) ⊙_{key} Z = X ⊙_{ax} (Y ⊙_{key} Z)
∑_{ax} (X − Y) = ∑_{ax} X − ∑_{ax} Y
∂(∑_{ax} (X ⊙ Y)) = ∑_{ax} (Y ⊙ ∂X + X ⊙ ∂Y)
∂(∑_{ax} (X / Y)) = ∑_{ax} ((Y ⊙ ∂X − X ⊙ ∂Y) / Y^2)
∂(softmax_{ax} X) = softmax_{ax} X ⊙ (∂X − softmax_{ax} X ⊙_{ax} ∂X)
∂(norm_{ax} X) = (X ⊙_{ax} ∂X) / norm_{ax} X
"""
DEFINITIONS = r"""
norm_{ax} X = √(∑_{ax} (X ⊙ X))
mean_{ax} X = 1 / |ax| ∑_{ax} X
var_{ax} X = ∑_{ax} (X − mean_{ax} X)^2 / |ax|
std_{ax} X = √(∑_{ax} (X − mean_{ax} X)^2 / |ax|)
softmax_{ax} X = exp X / ∑_{ax} exp X
standardize_{ax} X = (X − mean_{ax} X) / √(var_{ax} X + ε)
logsumexp_{ax} X = log ∑_{ax} exp X
logsoftmax_{ax} X = X − log ∑_{ax} exp X
"""


class Mistake(NamedTuple):
    """A statement of a document with one node changed."""

    kind: str
    document: str
    number: int
    statement: nodes.Node


@dataclass(frozen=True)
class Original:
    """A document without mistakes: its statements, and what is reported of it."""

    name: str
    statements: tuple[Any, ...]
    reported: Counter[tuple[int, str]]


def source_of(statements: Sequence[Any]) -> str:
    """Return a LaTeX document with a display for each statement."""
    text = "\n".join(rf"\[ {to_latex(nodes.Program((statement,)))} \]" for statement in statements)
    return text.replace(r"\mathsf{", r"\name{")


def reported(report: Document) -> Counter[tuple[int, str]]:
    return Counter((problem.code, problem.message) for problem in (*report.errors, *report.warnings))


def originals(only: str = "") -> list[Original]:
    """Return the layers and models, each text once, identities and definitions; those whose name contains `only`."""
    texts: dict[str, str] = {}
    for name in transformer.__all__:
        if only not in name:
            continue
        notation = getattr(getattr(transformer, name), "notation", "")
        if isinstance(notation, str) and notation and notation not in texts.values():
            texts[name] = notation
    documents = {name: parse(text, "text").statements for name, text in texts.items()}
    documents["identities"] = parse(IDENTITIES, "text").statements
    documents["built-in functions"] = parse(DEFINITIONS, "text").statements
    return [
        Original(name, statements, reported(check_document(source_of(statements), draws=Draws(4))))
        for name, statements in documents.items()
        if only in name
    ]


def changed(node: Any, old: nodes.Node, new: nodes.Node) -> Any:
    """Return a tree with one node, by identity, replaced."""
    if node is old:
        return new
    if isinstance(node, tuple):
        return tuple(changed(part, old, new) for part in node)
    if is_dataclass(node) and not isinstance(node, type):
        return replace(
            node, **{field.name: changed(getattr(node, field.name), old, new) for field in fields(node) if field.init}
        )
    return node


def mistakes(original: Original) -> Iterator[Mistake]:
    """Yield the mistakes that can be planted in a document."""
    axes = sorted(
        {node.name for statement in original.statements for node in walk(statement) if isinstance(node, nodes.Axis)}
    )
    axes = axes if len(axes) > 1 else ["ax", "key", "val"]
    for number, statement in enumerate(original.statements):
        for side in getattr(statement, "sides", ())[1:]:
            for node in walk(side):
                if isinstance(node, nodes.Call):
                    for kind, old, new in wrong(node, axes):
                        yield Mistake(kind, original.name, number, changed(statement, old, new))


def wrong(call: nodes.Call, axes: list[str]) -> Iterator[tuple[str, nodes.Node, nodes.Node]]:
    """Yield the wrong forms of a call: another axis, an operand dropped, operands exchanged, another sign."""
    for axis in call.subscript:
        if isinstance(axis, nodes.Name) and axis.text in axes:
            yield from (("axis", axis, replace(axis, text=other)) for other in axes if other != axis.text)
    if len(call.arguments) != 2 or call.subscript:
        return
    if call.operator in ("+", "⊙"):
        kind = "term" if call.operator == "+" else "factor"
        yield from ((kind, call, operand) for operand in call.arguments)
    if call.operator in ("-", "/"):
        yield "operands", call, replace(call, arguments=call.arguments[::-1])
    if call.operator in ("+", "-"):
        yield "sign", call, replace(call, operator="-" if call.operator == "+" else "+")


def is_noticed(mistake: Mistake, original: Original) -> bool:
    """Return whether `check --random` reports of the document with the mistake what it does not report without."""
    statements = list(original.statements)
    statements[mistake.number] = mistake.statement
    report = check_document(source_of(statements), draws=Draws(4))
    return bool(reported(report) - original.reported)


def sample(count: int | None, seed: int, only: str = "") -> tuple[list[Mistake], dict[str, Original]]:
    """Return mistakes, of each kind at most `count`, in documents whose name contains `only`."""
    documents = {original.name: original for original in originals(only)}
    by_kind: dict[str, list[Mistake]] = {}
    for original in documents.values():
        for mistake in mistakes(original):
            by_kind.setdefault(mistake.kind, []).append(mistake)
    random = Random(seed)
    chosen = [
        mistake
        for group in by_kind.values()
        for mistake in (group if count is None else random.sample(group, min(count, len(group))))
    ]
    return chosen, documents


def run() -> None:
    parser = argparse.ArgumentParser(description="Plant mistakes in documents and count those that are reported.")
    parser.add_argument("count", type=int, nargs="?")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    chosen, documents = sample(options.count, options.seed, options.only)
    tried, noticed = Counter[str](), Counter[str]()
    for mistake in chosen:
        hit = is_noticed(mistake, documents[mistake.document])
        known = mistake.document in ("identities", "built-in functions")
        group = f"{mistake.kind} in {mistake.document if known else 'definitions'}"
        tried[group] += 1
        noticed[group] += hit
        if not hit:
            print(f"missed: {mistake.kind}: {mistake.document}: {to_latex(nodes.Program((mistake.statement,)))}")
    for group in sorted(tried):
        print(f"{group}: {noticed[group]} of {tried[group]}")


if __name__ == "__main__":
    run()
