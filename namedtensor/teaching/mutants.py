"""Mutants, which are versions of the reference solution with one common mistake.

If an answer equals such a mutant in all random tests, the feedback describes the change: "your answer equals the
solution without / √|key|". This statement is true, whatever the author of the answer intended.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Name, Number, Rename, Superscript
from grammar.parser import parse
from grammar.printer import to_text
from grammar.traversal import children, map_nodes

from .comparison import ComparedValue, matchings
from .differences import Words
from .settings import Setting

MAX_TRIED_NODES = 16_000  # the limit on nodes of all mutants; a time limit would make explanations vary
MIN_TRIED_MUTANTS = 20  # the number of mutants that are tried even for a long solution
SHOWN = 60  # characters of an expression in a description
INSTEAD = {  # an operator -> operators that are mistaken for it
    "⊙": ("+", "/"), "juxtaposed": ("+", "/"), "+": ("⊙", "-"), "-": ("+",), "/": ("⊙",), "frac": ("⊙",), "max": ("min",),
    "min": ("max",), "sum": ("mean",), "∑": ("mean",), "mean": ("∑", "median", "max"), "var": ("std",), "std": ("var",),
    "argmax": ("argmin",), "argmin": ("argmax",), "<": ("≤", ">", "≥"), "≤": ("<", "≥", ">"), ">": ("≥", "<", "≤"), "≥": (">", "≤", "<"),
    "=": ("≠",), "≠": ("=",), "cumsum": ("cumprod",),
    "sin": ("cos",), "cos": ("sin",), "softmax": ("logsumexp", "max", "logsoftmax", "exp", "sigmoid"), "sqrt": ("exp",),
    "relu": ("sigmoid",), "sigmoid": ("tanh",), "tanh": ("sigmoid",),
}  # fmt: skip
OF_NUMBERS = ("exp", "sigmoid")  # these take no axis

CHANGED = (Call, Rename, Superscript, Number, nodes.IndexSum, nodes.Starred, nodes.Index, nodes.Size)


def distinct_mutants(whole: nodes.Program, axes: Sequence[str], is_secret: bool) -> Iterator[tuple[str, str]]:
    """Yield different mutants as text, each with a description of the change. Their number is limited."""
    left = max(MIN_TRIED_MUTANTS, MAX_TRIED_NODES // (1 + sum(1 for _ in places(whole))))
    seen = {whole}
    for tree, change in mutants(whole, axes, is_secret):
        if tree in seen:
            continue
        seen.add(tree)
        yield to_text(tree), change
        left -= 1
        if not left:
            return


def mistake(setting: Setting, solution: str, state: Sequence[ComparedValue], words: Words) -> str | None:
    """Return a description of a change that makes the solution equal the answer, or None if no such change is found."""
    for text, change in distinct_mutants(parse(solution, "text"), setting.axes, words.is_secret):
        if all(_makes(setting, text, compared) for compared in state):
            return change_sentence(change, words)
    return None


def change_sentence(change: str, words: Words) -> str:
    return f"{words.yours} equals {words.changed} {change}"


def _makes(setting: Setting, text: str, compared: ComparedValue) -> bool:
    """Return whether a mutant has the same value as the answer in a test."""
    graded = compared.graded
    try:
        value = setting.value(text, compared.test.drawn)
    except NotationError:
        return False
    for way in matchings(graded, value, setting.axes):
        ours = {axis: graded.sizes[axis] for axis in graded.axes if axis in value.axes}
        if ours != {axis: value.sizes[axis] for axis in value.axes if axis in graded.axes}:
            continue
        mutant = compared.compare_with(value)
        if not mutant.select_different(mutant.elements(way)):
            return True
    return False


def mutants(tree: nodes.Program, axes: Sequence[str], is_secret: bool = False) -> Iterator[tuple[nodes.Program, str]]:
    """Yield the programs that differ from a program by one change, each with a description of the change.

    Changes to outer expressions come first. Changes to all occurrences of a repeated expression follow.
    Replacements of one axis throughout come last. With `is_secret`, descriptions do not contain large parts of the
    program.
    """
    result = [*places(tree)]
    hidden = large_parts(tree) if is_secret else []
    for node in result:
        for other, words in changes(node, axes):
            yield put(tree, [node], other), discreet(words, hidden, node, other)
    for node in dict.fromkeys(result):
        equal = [other for other in result if other == node]
        if len(equal) > 1:
            for other, words in changes(node, axes):
                yield put(tree, equal, other), f"{discreet(words, hidden, node, other)} at each place"
    for axis, other in itertools.permutations(axes, 2):
        swapped = replace_axis(tree, axis, other)
        if swapped is not None:
            yield swapped, f"with {other} instead of {axis} throughout"


def large_parts(tree: nodes.Program) -> list[str]:
    """Return the text of each part that makes up more than half of the solution, since feedback must not reveal it."""
    body = nodes.Program(tree.statements[-1:])
    total = sum(1 for _ in places(body))
    return [short(node) for node in places(body) if 2 * sum(1 for _ in places(node)) > total]


def discreet(words: str, hidden: Sequence[str], node: Any, other: Any) -> str:
    """Return a description of a change that does not quote large parts of the solution."""
    if not any(part in words for part in hidden):
        return words
    if other in getattr(node, "arguments", ()):
        return "without an operation"
    if isinstance(other, Call) and len(other.arguments) == 1 and not isinstance(other.arguments[0], Superscript):
        return f"with {_head(other)} applied to too much"
    return "with an operation at another position"


def places(node: Any) -> Iterator[Any]:
    """Yield every expression of a tree that a mutant can change, outermost first."""
    if isinstance(node, CHANGED):
        yield node
    for part in (*node.arguments, *node.parameters) if isinstance(node, Call) else children(node):
        yield from places(part)


def replace_axis(tree: nodes.Program, axis: str, other: str) -> nodes.Program | None:
    """Return a program in which `other` replaces `axis` in each function over `axis`.

    Return None if there are fewer than two such functions.
    """
    result = [
        node.subscript[0]
        for node in places(tree)
        if isinstance(node, Call) and len(node.subscript) == 1 and _get_name(node.subscript[0]) == axis
    ]
    return put(tree, result, _axis(other)) if len(result) > 1 else None


def _get_name(part: Any) -> str | None:
    named = nodes.axis_of(part) if isinstance(part, (Name, nodes.Starred, nodes.Subscript)) else None
    return None if named is None else named.name


def put(tree: nodes.Program, old: Sequence[Any], new: Any) -> nodes.Program:
    """Return a tree in which each of the `old` nodes is replaced by `new`."""
    at = {id(node) for node in old}
    return map_nodes(tree, lambda node: new if id(node) in at else None)


Change = tuple[Any, str]  # a node that replaces another node, and its description


def changes(node: Any, axes: Sequence[str]) -> Iterator[Change]:
    """Yield expressions that a student could write by mistake instead of `node`, each with a description."""
    if isinstance(node, Call):
        yield from _mutate_call(node, axes)
    elif isinstance(node, Rename):
        yield node.base, f"without the renaming {short(node).removeprefix(short(node.base))}"
    elif isinstance(node, nodes.Starred):
        yield node.base, f"without {node.mark}"
    elif isinstance(node, Superscript):
        if isinstance(node.base, Call) and len(node.base.arguments) == 1:
            inside = replace(node, base=node.base.arguments[0])
            yield _exchange(node, replace(node.base, arguments=(inside,)))
        yield _exchange(node, node.base)
    elif isinstance(node, nodes.Size):
        for axis in axes:
            if axis != node.axis.name:
                yield _exchange(node, replace(node, axis=replace(node.axis, name=axis)))
    elif isinstance(node, Number) and isinstance(node.value, int):
        for value in (node.value + 1, node.value - 1):
            yield Number(value), f"with {value} instead of {node.value}"


def _exchange(node: Any, new: Any) -> Change:
    return new, f"with {short(new)} instead of {short(node)}"


def _exchange_head(node: Call, **fields: Any) -> Change:
    new = replace(node, **fields)
    return new, f"with {_head(new)} instead of {_head(node)}"


def _mutate_call(node: Call, axes: Sequence[str]) -> Iterator[Change]:
    head, parts = _head(node), node.subscript
    is_named = node.operator.isalpha() and node.operator not in ("juxtaposed", "frac")  # max(X, Y)
    if len(node.arguments) == 2 and is_named:
        yield from (_exchange(node, argument) for argument in node.arguments)
    elif len(node.arguments) == 2:
        yield from _mutate_infix(node, head)
    elif len(node.arguments) == 1:
        yield from _mutate_function(node, head)
    for other in INSTEAD.get(node.operator, ()):
        is_plain = len(node.arguments) == 2 or other in OF_NUMBERS
        yield _exchange_head(node, operator=other, subscript=() if is_plain else parts)
    for at, part in enumerate(parts):
        name = _get_name(part)
        for axis in axes if name is not None else ():
            if axis != name:
                yield _exchange_head(node, subscript=_replace_at(parts, at, _axis(axis)))
    if len(parts) == 1 and len(node.arguments) == 2:
        yield replace(node, subscript=()), f"with {node.operator} instead of {head}"


def _mutate_infix(node: Call, head: str) -> Iterator[Change]:
    left, right = node.arguments
    sign = "" if node.operator == "juxtaposed" else head
    yield left, " ".join(filter(None, ("without", sign, short(right))))
    yield right, " ".join(filter(None, ("without", short(left), sign)))
    if node.operator in ("-", "/", "frac"):
        yield replace(node, arguments=(right, left)), f"with the sides of {head} exchanged"
    for at, argument in enumerate(node.arguments):  # f(X ⊙ Y) for f(X) ⊙ Y
        if isinstance(argument, Call) and len(argument.arguments) == 1 and argument.operator != "negative":
            whole = replace(node, arguments=_replace_at(node.arguments, at, argument.arguments[0]))
            yield replace(argument, arguments=(whole,)), f"with {_head(argument)} of all of {short(node)}"


def _mutate_function(node: Call, head: str) -> Iterator[Change]:
    whole, is_negative = node.arguments[0], node.operator == "negative"
    if isinstance(whole, Call) and len(whole.arguments) == 2 and not is_negative:  # f(X) ⊙ Y for f(X ⊙ Y)
        for at, operand in enumerate(whole.arguments):
            inner = replace(node, arguments=(operand,))
            new = replace(whole, arguments=_replace_at(whole.arguments, at, inner))
            yield new, f"with {short(whole.arguments[1 - at])} outside {head}"
    if isinstance(whole, Superscript):  # ∑ x^2 and (∑ x)^2
        yield _exchange(node, replace(whole, base=replace(node, arguments=(whole.base,))))
    yield whole, f"without {'the minus' if is_negative else head}"


def _replace_at(arguments: tuple[Any, ...], at: int, new: Any) -> tuple[Any, ...]:
    return (*arguments[:at], new, *arguments[at + 1 :])


def _axis(name: str) -> Any:
    statement = parse(f"∑_{{{name}}} X", "text").statements[0]
    return statement.body.subscript[0]  # type: ignore[union-attr]


def _head(node: Call) -> str:
    """Return an operator with its scripts as text, such as softmax_{seq} or ⊙_{key}."""
    blank = Name("x")
    text = to_text(replace(node, arguments=(blank,) * len(node.arguments)))
    if node.operator == "juxtaposed":
        return "·"
    return re.sub(r"\(x(, x)*\)|^x|x$", "", text).strip()


def short(node: Any) -> str:
    return clip(to_text(node), SHOWN)


def clip(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 2]} …"
