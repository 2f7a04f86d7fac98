"""The command `translate`: translates matrices, indices, einsum or array code to a formula with named axes."""

from __future__ import annotations

from typing import Any

from ..files.text import parse_number
from .console import Console
from .inputs import split_pair
from .parsers import ANY, JSON, Argument, command

KINDS = ("matrices", "indices", "einsum", "einops", "numpy", "torch")
RECORDED = ("formula", "latex", "kind", "axes", "result", "reading", "checked")  # printed by --json


@command(
    Argument("text", "TEXT", "the source: matrices, indices, einsum, einops, NumPy or PyTorch"),
    Argument("shapes", "NAME=AXES", "axes of an input in order, W=out,chans; NAME= or NAME=2 for a number", ANY),
    Argument("--to", ("text", "ascii", "latex"), "the output format (default: text)", {"default": "text"}),
    Argument("--reading", "N", "the number of the reading, if the source is ambiguous", {"type": int}),
    Argument("--kind", KINDS, "the notation of the source (default: detect)", {"default": ""}),
    JSON,
)
def translate_command(options: Any, console: Console) -> None:
    r"""Translate matrices, indices, einsum or array code.

    namedtensor translate 'softmax(QK^T / √d_k) V' Q=query,key K=seq,key V=seq,val
    namedtensor translate '\frac1n \sum_{i=1}^n x_i x_i^\top' x=n,d --to latex
    namedtensor translate 'np.einsum("bqd,bkd->bqk", Q, K)' Q=batch,query,d K=batch,seq,d
    namedtensor translate 'X - X.mean(axis=0)' X=n,d --json
    namedtensor translate 'u v' u=n v=n --reading 2

    Array code is compared with its library on random arrays before its formula is printed. For other notation, only the
    types are checked. Assumptions are written to standard error.
    """
    from ..positional.refusals import AmbiguousError
    from ..positional.translation import translate

    shapes = dict(map(shape_of, options.shapes))
    try:
        translation = translate(options.text, shapes, kind=options.kind, reading=options.reading)
    except AmbiguousError as question:
        raise question.replace(hint="choose with --reading 1, --reading 2, …").alone() from None
    if console.machine:
        console.json({name: getattr(translation, name) for name in RECORDED})
        return
    if options.to == "latex":
        console.print(translation.latex)
    else:
        from ..programs.api import to_text

        console.print(to_text(translation.formula, ascii=options.to == "ascii"))
    for line in (*translation.reading, translation.checked):
        console.note(line)


def shape_of(word: str) -> tuple[str, Any]:
    """Return the name and the axes or number in NAME=AXES or NAME=2. Raise InputError if the name is missing."""
    name, text = split_pair(word, "an input; write NAME=axis,axis")
    number = parse_number(text)
    return name, number if number is not None else text
