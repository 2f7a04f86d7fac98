"""Heads: the layers for one task that a checkpoint holds on top of a model, such as those of BertForMaskedLM.

A head adds definitions to the formulas of its model, and its parameters to the model's. All of a checkpoint is loaded or
the checkpoint is rejected; `load(folder, head=False)` leaves a head out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import namedtensor as nt
from grammar.errors import listed

from .weights import WeightEntry, matching


class TaskHead(NamedTuple):
    """The layers of one task: their definitions, and the places of their parameters in a file."""

    definitions: str
    rows: tuple[WeightEntry, ...]
    untied: tuple[WeightEntry, ...] = ()  # the places of U and its bias where config does not tie U to the embeddings E


NO_HEAD = TaskHead("", ())


def parts_of(head: TaskHead, config: Mapping[str, Any], arrays: Collection[str]) -> tuple[str, tuple[WeightEntry, ...]]:
    """The definitions of a head and the places of its parameters, as a config ties them."""
    if not head.untied or config.get("tie_word_embeddings", True):
        return head.definitions + ("\nU = E" if head.untied else ""), head.rows
    before = {row.name: row for row in head.rows}
    instead = {row.name: row for row in head.untied if row.name not in before or row.tensor in arrays}
    return head.definitions, tuple({**before, **instead}.values())


def head_of(
    kind: Any, config: Mapping[str, Any], arrays: Mapping[str, Any], used: Collection[str], folder: Path
) -> TaskHead:
    """The head whose arrays a checkpoint holds in addition to those that the model uses. Raises NotationError 409 if unknown."""
    ignored = {*used, *matching(kind.ignored_weights, arrays)}
    further = {name for name in matching(kind.ignored_heads, arrays) if name not in ignored}
    if not further:
        return NO_HEAD
    names: Any = config.get("architectures")
    architecture = "" if not names else str(names[0])
    fitting = {name: head for name, head in kind.heads.items() if further <= tensors((*head.rows, *head.untied))}
    for name, head in fitting.items():
        if architecture.endswith(name):
            return head
    if fitting:
        return next(iter(fitting.values()))
    supported = ", ".join(kind.heads)
    raise nt.NotationError(
        409, f"{folder} has a head that the formulas of {kind.__name__} do not have: {listed(sorted(further))}",
        notes=(f"supported heads: {supported}",) if supported else (),
        hint="load the model without its head: transformer.load(folder, head=False)",
    )  # fmt: skip


def tensors(rows: Iterable[WeightEntry]) -> set[str]:
    """The names of the arrays of some rows."""
    return {row.tensor for row in rows}
