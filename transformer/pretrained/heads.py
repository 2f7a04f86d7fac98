"""Task heads, which are the layers that a checkpoint such as BertForMaskedLM adds to a model for a task.

A head adds definitions to the formulas of a model, and parameters to the model's parameters. `load(folder, head=False)`
loads a model without its head. Otherwise, a checkpoint with an unknown head is rejected.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import namedtensor as nt
from grammar.errors import list_names

from .weights import WeightEntry, matching


class TaskHead(NamedTuple):
    """The layers that a checkpoint adds for a task: their definitions, and the weight entries of their parameters."""

    definitions: str
    rows: tuple[WeightEntry, ...]
    untied: tuple[WeightEntry, ...] = ()  # entries of U and its bias if config does not tie U to the embeddings E
    tokens: Mapping[str, tuple[str, int]] = MappingProxyType({})  # constants: their key in config, and a default value
    removes: tuple[str, ...] = ()  # definitions of the model that are not used with the head
    lacks: tuple[str, ...] = ()  # arrays of the model that a file with the head does not have
    spare: tuple[str, ...] = ()  # arrays of the model that the file contains but the head does not use


NO_HEAD = TaskHead("", ())


def parts_of(head: TaskHead, config: Mapping[str, Any], arrays: Collection[str]) -> tuple[str, tuple[WeightEntry, ...]]:
    """Return the definitions and weight entries of a head. config.json specifies whether the weights are tied."""
    stated = {name: config.get(key) for name, (key, _) in head.tokens.items()}
    constants = (
        f"{name} = {default if stated[name] is None else stated[name]}" for name, (_, default) in head.tokens.items()
    )
    definitions = "\n".join((head.definitions, *constants))
    if not head.untied or config.get("tie_word_embeddings", True):
        return definitions + ("\nU = E" if head.untied else ""), head.rows
    before = {row.name: row for row in head.rows}
    instead = {row.name: row for row in head.untied if row.name not in before or row.tensor in arrays}
    return definitions, tuple({**before, **instead}.values())


def drop_spare_rows(rows: Iterable[WeightEntry], head: TaskHead) -> list[WeightEntry]:
    """Return the weight entries of a model, without entries for arrays that the head's files lack or do not need."""
    rows = list(rows)
    spare = matching((*head.lacks, *head.spare), tensors(rows))
    return [row for row in rows if row.tensor not in spare]


def with_head(definitions: str, removed: Iterable[str], added: str, head: TaskHead) -> tuple[str, list[str]]:
    """Return a model's definitions followed by a head's definitions, and the names of definitions to remove."""
    head_names = nt.program(added).names
    removed = [name for name in dict.fromkeys((*removed, *head.removes)) if name not in head_names]
    if not definitions:
        return added, removed
    before = nt.program(definitions, syntax="text")
    return before.replace_definitions(added, [name for name in before.names if name in removed]).source, removed


def head_of(
    kind: Any, config: Mapping[str, Any], arrays: Mapping[str, Any], used: Collection[str], folder: Path
) -> TaskHead:
    """Return the head that uses the arrays that a checkpoint has in addition to the model's arrays.

    Return NO_HEAD if there are no such arrays.

    Raise NotationError (409) if the head is unknown.
    """
    ignored = {*used, *matching(kind.ignored_weights, arrays)}
    further = {name for name in matching(kind.ignored_heads, arrays) if name not in ignored}
    if not further:
        return NO_HEAD
    names: Any = config.get("architectures")
    architecture = "" if not names else str(names[0])
    heads = kind.task_heads(config)
    fitting = {name: head for name, head in heads.items() if further <= tensors((*head.rows, *head.untied))}
    for name, head in fitting.items():
        if architecture.endswith(name):
            return head
    if fitting:
        return next(iter(fitting.values()))
    supported = ", ".join(heads)
    raise nt.NotationError(
        409, f"{folder} has a head that the formulas of {kind.__name__} do not have: {list_names(sorted(further))}",
        notes=(f"supported heads: {supported}",) if supported else (),
        hint="load the model without its head: transformer.load(folder, head=False)",
    )  # fmt: skip


def tensors(rows: Iterable[WeightEntry]) -> set[str]:
    """Return the names of the arrays that these weight entries refer to."""
    return {row.tensor for row in rows}
