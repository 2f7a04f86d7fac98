r"""Definitions that differ by one change from the usual definition of the function that they name.

LayerNorm(X; γ, β) = (X + mean_{d} X) / √(var_{d} X + ε) ⊙ γ + β        usually X - mean_{d} X

A definition that equals one of the usual ones, in other letters and with its terms in another order, is right; one that is
further from them is another function. Neither is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import permutations
from typing import Any, NamedTuple

from grammar import nodes
from grammar.parser import parse
from grammar.printer import to_text
from grammar.traversal import mapped

from ..scope.names import walk
from .lines import DocumentLines, Line, Suspicion
from .single_changes import SingleChange, single_changes
from .usual_forms import Form, UsualForms, without_names

CODE = 212
MAX_NAMES = 6  # free names of a definition that are tried in all orders
NORMS = r"""
f(X) = (X - mean_{a} X) / √(var_{a} X + ε) ⊙ γ + β
f(X) = (X - mean_{a} X) / √(var_{a} X + ε) ⊙ (1 + γ) + β
f(X) = (X - mean_{a} X) / √(var_{a} X + ε) ⊙ γ
f(X) = (X - mean_{a} X) / √(var_{a} X + ε) + β
f(X) = (X - mean_{a} X) / √(var_{a} X + ε)
f(X) = (X - mean_{a} X) / (std_{a} X + ε) ⊙ γ + β
f(X) = (X - mean_{a} X) / (std_{a} X + ε)
f(X) = (X - mean_{a} X) / std_{a} X ⊙ γ + β
f(X) = (X - mean_{a} X) / std_{a} X ⊙ γ
f(X) = (X - mean_{a} X) / std_{a} X
f(X) = (X - M) / √(V + ε) ⊙ γ + β
f(X) = (X - M) / √(V + ε) ⊙ γ
f(X) = (X - M) / √(V + ε)
f(X) = (X - M) / √V ⊙ γ + β
f(X) = (X - M) / √V
f(X) = (X - M) / V ⊙ γ + β
f(X) = (X - M) / V
f(X) = (X - M) / (V + ε) ⊙ γ + β
f(X) = (X - M) / (V + ε)
f(X) = X / √(mean_{a} (X^2) + ε) ⊙ γ + β
f(X) = X / √(mean_{a} (X^2) + ε) ⊙ γ
f(X) = X / √(mean_{a} (X^2) + ε) ⊙ (1 + γ)
f(X) = X / √(mean_{a} (X^2) + ε)
f(X) = X / √(mean_{a} (X^2)) ⊙ γ
f(X) = X / √(mean_{a} (X^2))
f(X) = X / √(∑_{a} (X^2) + ε) ⊙ γ
f(X) = X / √(∑_{a} (X^2) + ε)
f(X) = X / (norm_{a} X + ε)
f(X) = X / norm_{a} X
f(X) = X / norm_{a} X ⊙ γ
"""
ATTENTION = r"""
f(Q, K, V) = softmax_{s}(Q ⊙_{k} K / √|k|) ⊙_{s} V
f(Q, K, V) = softmax_{s}(Q ⊙_{k} K / √|k| + M) ⊙_{s} V
f(Q, K, V) = softmax_{s}(Q ⊙_{k} K) ⊙_{s} V
f(Q, K, V) = softmax_{s}(Q ⊙_{k} K + M) ⊙_{s} V
f(Q, K, V) = softmax_{s}(τ ⊙ (Q ⊙_{k} K)) ⊙_{s} V
f(Q, K, V) = softmax_{s}(Q ⊙_{k} K / τ) ⊙_{s} V
f(Q, K, V) = softmax_{s}(Q ⊙_{k} K / τ + M) ⊙_{s} V
f(Q, K, V) = softmax_{s}(Q ⊙_{k} K / |k| + M) ⊙_{s} V
f(Q, K, V) = softmax_{s}((Q ⊙_{k} K + M) / √|k|) ⊙_{s} V
f(Q, K) = softmax_{s}(Q ⊙_{k} K / √|k|)
f(Q, K) = softmax_{s}(Q ⊙_{k} K / √|k| + M)
"""
FEED_FORWARD = r"""
f(X) = relu(X ⊙_{a} W + b) ⊙_{h} U + c
f(X) = relu(X ⊙_{a} W) ⊙_{h} U
f(X) = relu(X ⊙_{a} W + b) ⊙_{h} U
f(X) = relu(X ⊙_{a} W) ⊙_{h} U + c
f(X) = relu(X ⊙_{a} W + b)
f(X) = relu(X ⊙_{a} W)
f(X) = (relu(X ⊙_{a} W) ⊙ (X ⊙_{a} T)) ⊙_{h} U
f(X) = (relu(X ⊙_{a} W + b) ⊙ (X ⊙_{a} T + d)) ⊙_{h} U + c
f(X) = relu(X ⊙_{a} W) ⊙ (X ⊙_{a} T)
f(X) = relu(X ⊙_{a} W + b) ⊙ (X ⊙_{a} T + d)
"""
GELU = r"""
f(x) = x / 2 ⊙ (1 + erf(x / √2))
f(x) = x Φ(x)
f(x) = 0.5 x (1 + tanh(√(2 / π) (x + 0.044715 x^3)))
f(x) = 0.5 x (1 + tanh(0.79788456 (x + 0.044715 x^3)))
f(x) = 0.5 x (1 + tanh(0.7978845608 (x + 0.044715 x^3)))
f(x) = 0.5 x (1 + tanh(0.7978845608028654 (x + 0.044715 x^3)))
f(x) = x σ(1.702 x)
"""
SWISH = r"""
f(x) = x σ(x)
f(x) = x σ(β x)
f(x) = x / (1 + exp(-β x))
"""
SIGMOID = r"""
f(x) = 1 / (1 + exp(-x))
f(x) = exp(x) / (1 + exp(x))
f(x) = (1 + tanh(x / 2)) / 2
"""
SOFTMAX = r"""
f(X) = exp X / ∑_{a} exp X
f(X) = exp(X / τ) / ∑_{a} exp(X / τ)
f(X) = exp(τ X) / ∑_{a} exp(τ X)
"""
CAP = r"""
f(x) = c tanh(x / c)
"""
CROSS_ENTROPY = r"""
f(p, y) = -∑_{a} (y ⊙ log p)
f(p, y) = -y ⊙_{a} log p
f(p, y) = -mean_{b} (y ⊙_{a} log p)
f(p, y) = -y ⊙ log p - (1 - y) ⊙ log(1 - p)
f(p, y) = -mean_{a} (y ⊙ log p + (1 - y) ⊙ log(1 - p))
f(p, y) = -∑_{a} (y ⊙ log p + (1 - y) ⊙ log(1 - p))
"""
DIVERGENCE = r"""
f(p, q) = ∑_{a} (p ⊙ log(p / q))
f(p, q) = ∑_{a} (p ⊙ (log p - log q))
f(p, q) = p ⊙_{a} log(p / q)
f(p, q) = -∑_{a} (p ⊙ log(q / p))
"""
SQUARED_ERROR = r"""
f(x, y) = mean_{a} ((x - y)^2)
f(x, y) = ∑_{a} ((x - y)^2)
f(x, y) = ∑_{a} ((x - y)^2) / 2
f(x, y) = norm_{a}(x - y)^2
"""
COSINE = r"""
f(x, y) = (x ⊙_{a} y) / (norm_{a} x norm_{a} y)
f(x, y) = (x ⊙_{a} y) / (norm_{a} x norm_{a} y + ε)
f(x, y) = 1 - (x ⊙_{a} y) / (norm_{a} x norm_{a} y)
"""
LINEAR = r"""
f(X) = X ⊙_{a} W + b
f(X) = X ⊙_{a} W
"""


class Usual(NamedTuple):
    """Functions of some names, and how they are usually defined; with any activation function, where that is not fixed."""

    names: str
    definitions: str
    any_activation: bool = False


USUAL = (
    Usual(r"\w*Norm(?:alization)?|LN|BN|RMS|normalize", NORMS),
    Usual(r"(?:\w*Attention|Att|Attn|SelfAtt\w*|MultiHead\w*|Head)", ATTENTION),
    Usual(r"FFN?|FeedForward|MLP|FF|Expert|\w*GLU", FEED_FORWARD, True),
    Usual(r"[Gg][Ee]LU|gelu", GELU),
    Usual(r"SiLU|silu|[Ss]wish", SWISH),
    Usual(r"[Ss]igmoid|[Ll]ogistic|σ", SIGMOID),
    Usual(r"[Ss]oft[Mm]ax", SOFTMAX),
    Usual(r"(?:soft_?)?[Cc]ap(?:ped)?|softcap\w*", CAP),
    Usual(r"CE|BCE|H|CrossEntropy|[Cc]rossentropy|NLL", CROSS_ENTROPY),
    Usual(r"KL|D|Divergence", DIVERGENCE),
    Usual(r"MSE|SE|SSE|SquaredError", SQUARED_ERROR),
    Usual(r"cos|[Cc]osine|[Ss]im(?:ilarity)?|CosineSimilarity", COSINE),
    Usual(r"[Ll]in(?:ear)?|Dense|Affine|[Pp]roj(?:ection)?", LINEAR),
)


class UsualDefinition(NamedTuple):
    """A usual definition, or one with a change: its head, and where it is changed."""

    head: nodes.Call
    body: Any
    change: SingleChange | None = None


@lru_cache(maxsize=len(USUAL))
def entries(usual: Usual) -> Mapping[Form, list[UsualDefinition]]:
    """The usual definitions of a function, and those with one change that equal none of them, by their forms without names."""
    definitions: tuple[Any, ...] = parse(usual.definitions, "text").statements
    result: dict[Form, list[UsualDefinition]] = {}
    for head, body in (definition.sides for definition in definitions):
        changes = (change for change in single_changes(body) if _is_of_arguments(change.tree, head))
        for entry in (UsualDefinition(head, body), *(UsualDefinition(head, change.tree, change) for change in changes)):
            result.setdefault(_shape(entry.body, usual), []).append(entry)
    return result


def _is_of_arguments(tree: Any, head: nodes.Call) -> bool:
    """Whether an expression has all arguments of a function, and is more than one operation."""
    below = list(walk(tree))
    return (
        all(argument in below for argument in head.arguments)
        and sum(isinstance(node, nodes.Call) for node in below) > 1
    )


def _no_label(text: str) -> bool:
    return False


def _shape(body: Any, usual: Usual, is_label: Callable[[str], bool] = _no_label) -> Form:
    """The form of a definition without the names and axes in it."""
    return without_names(UsualForms(str, usual.any_activation, is_label).of(body))


def _forms(names: Mapping[str, str], usual: Usual, is_label: Callable[[str], bool]) -> UsualForms:
    """The forms of expressions in other names."""
    return UsualForms(lambda text: names.get(text, text), usual.any_activation, is_label)


CONSTANTS = ("π", "e", "∞")
WITH_FORMS = (nodes.Call, nodes.Name, nodes.Superscript)


def unusual_definitions(lines: DocumentLines) -> Iterator[Suspicion]:
    """Yield a suspicion for each definition that is one change away from a usual one."""
    for line in lines.all:
        head = line.head
        if not isinstance(head, nodes.Call) or len(line.body) != 1 or head.subscript:
            continue
        usual = next((usual for usual in USUAL if re.fullmatch(usual.names, head.operator)), None)
        match = _match(lines, line, head, usual) if usual is not None else None
        if match is not None and match.entry.change is not None:
            yield _suspicion(line, head, match, match.entry.change)


class Match(NamedTuple):
    """An entry that a definition equals, what the entry calls the names of the definition, and its forms in these names."""

    entry: UsualDefinition
    names: Mapping[str, str]
    forms: UsualForms


def _match(lines: DocumentLines, line: Line, head: nodes.Call, usual: Usual) -> Match | None:
    """The entry that a definition equals, a right one if there is any."""
    body = line.body[0]
    firsts = {node.base for node in walk(body) if isinstance(node, nodes.Superscript) and node.components == (nodes.Number(1),)}  # fmt: skip

    def is_label(text: str) -> bool:
        """Whether W^1 is a name: it is declared, or would be a power of 1."""
        base = text.split("^")[0]
        return nodes.Name(base) in firsts or any(text == to_text(name) for _, name in lines.declared.get(base, ()))

    try:
        candidates = entries(usual).get(_shape(body, usual, is_label), [])
    except (ValueError, OverflowError, ZeroDivisionError):
        return None  # numbers beyond those of formulas
    matches = [
        Match(entry, names, _forms(names, usual, is_label))
        for entry in candidates
        if (names := _letters(entry, head, body, usual, is_label)) is not None
    ]
    return min(matches, key=lambda match: match.entry.change is not None, default=None)


def _letters(
    entry: UsualDefinition, head: nodes.Call, body: Any, usual: Usual, is_label: Callable[[str], bool]
) -> Mapping[str, str] | None:
    """What an entry calls the names of a definition that equals it, its arguments in their order, else None."""
    arguments = [to_text(argument) for argument in head.arguments]
    formals = [to_text(argument) for argument in entry.head.arguments]
    theirs, ours = _names(entry.body, _no_label), _names(body, is_label)
    free, axes = [name for name in ours.names if name not in arguments], ours.axes
    open_names = [name for name in theirs.names if name not in formals]
    if len(free) + len(formals) > MAX_NAMES + len(arguments) or len(free) > MAX_NAMES or len(axes) != len(theirs.axes):
        return None
    if len([name for name in ours.names if name in arguments]) + len(free) != len(theirs.names):
        return None
    expected = UsualForms(str, usual.any_activation).of(entry.body)
    for names in _renamings(arguments, free, axes, formals, open_names, theirs.axes):
        if _forms(names, usual, is_label).of(body) == expected:
            return names
    return None


def _renamings(arguments: list[str], free: list[str], axes: list[str], usual: list[str], open_names: list[str], their_axes: list[str]) -> Iterator[dict[str, str]]:  # fmt: skip
    """The ways to call the names of a definition as an entry does."""
    extra = arguments[len(usual) :]  # M of Attention(Q, K, V, M)
    names = [*free, *extra]
    bound = dict(zip(arguments, usual))
    if len(arguments) < len(usual):
        return
    for order in permutations(open_names, len(names)) if len(names) >= len(open_names) else ():
        for axis_order in permutations(their_axes):
            yield {**bound, **dict(zip(names, order)), **dict(zip(axes, axis_order))}


class Named(NamedTuple):
    """The names in an expression, and the axes as sizes: |key|."""

    names: list[str]
    axes: list[str]


def _names(body: Any, is_label: Callable[[str], bool]) -> Named:
    noted: dict[str, str] = {}
    UsualForms(lambda text: noted.setdefault(text, text), False, is_label).of(body)
    axes = [text for text in noted if text.startswith("|")]
    return Named([text for text in noted if text not in (*CONSTANTS, *axes)], axes)


def _suspicion(line: Line, head: nodes.Call, match: Match, change: SingleChange) -> Suspicion:
    usual = to_text(_renamed(change.at, {theirs: ours for ours, theirs in match.names.items()}))
    message = f"{head.operator} differs from its usual definition by {change.kind}: usually {usual}"
    part = _changed_part(line.body[0], match, change)
    return Suspicion(CODE, line, part, message, "correct it, or give the function another name")


def _changed_part(body: Any, match: Match, change: SingleChange) -> Any:
    """The part of a definition that differs from the usual one; all of it where no single part does."""
    theirs = {*match.names.values()}
    changed = UsualForms(
        lambda text: text if text in theirs else match.forms.renamed(text), match.forms.any_activation
    ).of(change.new)
    parts = [node for node in walk(body) if isinstance(node, WITH_FORMS) and match.forms.of(node) == changed]
    return parts[0] if len(parts) == 1 else body


def _renamed(node: Any, names: Mapping[str, str]) -> Any:
    """A part of an entry in the letters of a definition."""

    def renamed(below: Any) -> Any:
        if isinstance(below, nodes.Name):
            return nodes.Name(names.get(below.text, below.text))
        if isinstance(below, nodes.Size):
            return nodes.Size(nodes.Axis(names.get(f"|{below.axis.name}|", below.axis.name).strip("|")))
        if not isinstance(below, nodes.Call) or not below.subscript:
            return None
        axes = tuple(nodes.Name(names.get(f"|{to_text(axis)}|", to_text(axis)).strip("|")) for axis in below.subscript)
        return replace(
            below, subscript=axes, arguments=tuple(_renamed(argument, names) for argument in below.arguments)
        )

    return mapped(node, renamed)
