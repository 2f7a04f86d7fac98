r"""Definitions that nothing uses, though only a use gives them a purpose: a term may have been dropped from a formula.

M_{s(i), t(j)} = { 0 if i ≤ j; -∞ otherwise }        a mask that no softmax has
ω_{pair(k)} = θ^{-k}                                 a table of constants, beside many definitions that are used
H^l = A^l ⊙_{s} V^l, above X^l = X^{l-1} + …         a step of a recurrence that the next steps do without
FFN^l(X) = …                                         a function of each layer that no layer calls

What may be a result is not reported: a name without such a purpose, or the first of several steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grammar import nodes
from grammar.printer import to_text

from ..scope.names import Spelled, spelled, walk
from .lines import DocumentLines, Line, Suspicion, is_call
from .missing_members import recurrent
from .notation import base_of
from .signs import is_mask
from .unused import FIXED, occurs, unread_spans

CODE = 211
MIN_USED = 5  # other definitions of a section that are used
HINT = "use it, or remove it"


def unused_results(lines: DocumentLines) -> Iterator[Suspicion]:
    """Yield a suspicion for each definition that is not used and has no purpose of its own."""
    loops = recurrent(lines)
    tables = _tables(lines)
    masked = {other.section for other in lines.all for node in walk(other.statement) if is_call(node, "softmax")}
    for line in lines.all:
        base = base_of(line.head)
        if not base or not line.maths.display:
            continue
        is_step = _is_inner_step(lines, line, loops) or _is_function_of_a_step(line, loops)
        has_purpose = is_step or is_mask(line) and line.section in masked or line in tables
        if has_purpose and not _is_used(lines, line, base):  # This search reads the whole document.
            yield Suspicion(CODE, line, line.head, f"{lines.text(line, line.head)} is defined and not used", HINT)


def _is_used(lines: DocumentLines, line: Line, base: str) -> bool:
    """Whether a name occurs in another statement, or in a formula that is not read."""
    same = lines.definitions(line, base)
    statements = {id(other.statement) for other in same if _may_be(other.head, line.head)}
    counts = {_counts(other.head) for other in same}
    for statement, names in lines.used:
        if id(statement) not in statements and any(_is_of(name, line.head, base, counts) for name in names):
            return True
    unread = unread_spans(lines.document, {other.maths for other in lines.all})
    return occurs(lines.text(line, _plain(line.head)), lines.document, unread)


def _is_of(name: Spelled | str, head: Any, base: str, counts: set[tuple[int, int]]) -> bool:
    """Whether a name may be what a head defines; one with other scripts is, if no definition has these."""
    if isinstance(name, str):
        return name == base
    scripts = len(name.subscript), len(name.superscript)
    if name.base != base or isinstance(head, nodes.Call):
        return name.base == base
    return _may_be_one(name, head) if scripts == _counts(head) else scripts not in counts


def _may_be(one: Any, other: Any) -> bool:
    name = spelled(one.base if isinstance(one, nodes.Index) else one)
    return name is None or _counts(one) == _counts(other) and _may_be_one(name, other)


def _may_be_one(name: Spelled, head: Any) -> bool:
    """Whether scripts of a name may stand for those of a head: l - 1 for l, and not enc for cross."""
    defined = spelled(head.base if isinstance(head, nodes.Index) else head)
    if defined is None:
        return True
    pairs = zip((*name.subscript, *name.superscript), (*defined.subscript, *defined.superscript))
    return all(to_text(one) == to_text(other) or not (_is_label(one) and _is_label(other)) for one, other in pairs)


def _counts(head: Any) -> tuple[int, int]:
    name = spelled(head.base if isinstance(head, nodes.Index) else head)
    return (len(name.subscript), len(name.superscript)) if name is not None else (0, 0)


def _is_label(node: Any) -> bool:
    return FIXED.fullmatch(to_text(node)) is not None


def _plain(node: Any) -> Any:
    while isinstance(node, (nodes.Subscript, nodes.Superscript, nodes.Index, nodes.Rename)):
        node = node.base
    return nodes.Name(node.operator, node.operator_span) if isinstance(node, nodes.Call) else node


def _is_inner_step(lines: DocumentLines, line: Line, loops: set[tuple[int, str, str]]) -> bool:
    """Whether a line is a step of a recurrence, neither the first nor after the one that ends it."""
    loop = _loop_of(line)
    if loop is None or not isinstance(line.head, nodes.Superscript):
        return False
    steps = [other for other in lines.all if _loop_of(other) == loop and other.head is not None]
    states = [at for at, step in enumerate(steps) if base_of(step.head) in _carried(steps, loop[1])]
    at = next(at for at, step in enumerate(steps) if step is line)
    return loop in loops and at > 0 and bool(states) and at < max(states)


def _loop_of(line: Line) -> tuple[int, str, str] | None:
    if len(line.ranges) != 1:
        return None
    return line.section, line.ranges[0].variable.text, to_text(line.ranges[0].high)


def _carried(steps: list[Line], variable: str) -> set[str]:
    """The names of which a step uses the member before: X of X^{l-1}."""
    before = nodes.Call("-", (), (), (nodes.Name(variable), nodes.Number(1)))
    return {
        base_of(node)
        for step in steps
        for node in step.body_nodes
        if isinstance(node, nodes.Superscript) and before in node.components
    }


def _is_function_of_a_step(line: Line, loops: set[tuple[int, str, str]]) -> bool:
    """Whether a line defines FFN^l, where l is an index of layers."""
    variables = {variable for section, variable, _ in loops if section == line.section}
    head = line.head
    return isinstance(head, nodes.Call) and any(
        isinstance(label, nodes.Name) and label.text in variables for label in head.superscript
    )


def _tables(lines: DocumentLines) -> list[Line]:
    """Return unused lines that define a tensor by its indices, in sections that use most of their definitions."""
    result: list[Line] = []
    for number in range(len(lines.document.sections)):
        definitions = [line for line in lines.all if line.section == number and base_of(line.head)]
        if not any(map(_is_table, definitions)):
            continue
        unused = [line for line in definitions if not _is_used(lines, line, base_of(line.head))]
        if len(definitions) - len(unused) < max(MIN_USED, 3 * len(unused)):
            continue
        result += [line for line in unused if _is_table(line)]
    return result


def _is_table(line: Line) -> bool:
    """Whether a line gives T_{ax(i)} by i and by numbers alone."""
    if not isinstance(line.head, nodes.Index) or not isinstance(line.head.base, nodes.Name) or line.ranges:
        return False
    names = {node.text for node in line.body_nodes if isinstance(node, nodes.Name)}
    free = names - line.indices.keys()
    tensors = any(isinstance(node, nodes.Index) for node in line.body_nodes)
    return bool(names & line.indices.keys()) and not tensors and len(free) <= 1
