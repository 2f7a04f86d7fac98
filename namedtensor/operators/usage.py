"""Describe operators as text: their usage, and their signatures in the paper's form."""

from __future__ import annotations

from collections.abc import Collection

from grammar.nodes import Call, Name
from grammar.printer import to_text

from .record import MANY, Operator

OPERANDS = ("X", "Y", "Z")


def format_usage(record: Operator, ascii: bool = False) -> str:
    """Format a call of an operator, with the axes of its signature.

    >>> from namedtensor.operators import REGISTRY
    >>> [format_usage(REGISTRY[name]) for name in ("softmax", "⊙", "norm", "where", "^", "I")]
    ['softmax_{ax} X', 'X ⊙_{ax} Y', 'norm_{ax}(X; p)', 'where(X, Y, Z)', 'pow(X, Y)', "I_{ax, ax'}"]
    """
    axes = tuple(Name(axis) for axis in record.lifted.formals)
    operands = tuple(Name(name) for name in OPERANDS[: min(len(record.lifted.inputs), record.arity[1])])
    options = tuple(Name(name) for name, _ in record.options)
    names = (record.name, *record.aliases)
    spellings = [(name, to_text(Call(name, (), axes, operands, options), ascii)) for name in names]
    text = next(
        text for name, text in spellings if not text.startswith(f"{name}(") or name.isidentifier()
    )  # The call is not ^(X, Y).
    for brackets, plain in (("(X)", " X"), ("()", "")):
        text = text.removesuffix(brackets) + plain if text.endswith(brackets) else text
    return text


def sets(record: Operator) -> str:
    """Format an operator's signature with sets of tensors, as in the paper.

    For an operator without operands, return only the set of the result.

    >>> from namedtensor.operators import REGISTRY
    >>> [sets(REGISTRY[name]) for name in ("softmax", "clip", "iota", "concat")]
    ['ℝ^{ax} → ℝ^{ax}', 'ℝ × ℝ × ℝ → ℝ', 'ℝ^{ax}', 'ℝ^{ax} × ℝ^{ax} × … → ℝ^{ax}']
    """
    signature = record.lifted
    more = ("…",) if record.arity[1] >= MANY else ()
    taken = " × ".join((*map(tensors, signature.inputs), *more))
    return f"{taken} → {tensors(signature.output)}" if taken else tensors(signature.output)


def tensors(axes: Collection[str]) -> str:
    """Return the notation for the set of tensors over the given axes, such as ℝ^{a × b}."""
    return f"ℝ^{{{' × '.join(axes)}}}" if axes else "ℝ"


def sentence(record: Operator) -> str:
    """Return a sentence that describes the operator.

    >>> from namedtensor.operators import REGISTRY
    >>> sentence(REGISTRY["relu"]), sentence(REGISTRY["index"])
    ('relu X is max(0, x).', 'index_{ax}(X, I) is the element of X at the index I.')
    """
    has_verb = record.meaning.startswith((f"{record.name}(", f"{record.name}_"))  # with other operand names
    return f"{record.meaning}." if has_verb else f"{format_usage(record)} is {record.meaning}."
