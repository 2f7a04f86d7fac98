"""Variants, which are programs with some definitions replaced or removed. Their source text stays readable.

act(x) = gelu(x)                  act(x) = relu(x)
mask_{seq(i)} = 1         →       mask ∈ {0,1}^{seq}
"""

from __future__ import annotations

from collections.abc import Iterable

from grammar.errors import NotationError
from grammar.nodes import Call, Declaration, Node, Program, Signature
from grammar.parser import parse
from grammar.printer import to_text

from ..core.suggestions import did_you_mean, near
from ..scope.binder import bind
from ..scope.names import key
from ..scope.symbols import Scope
from .parsed import ParsedProgram

Span = tuple[int, int]


def replace_definitions(program: ParsedProgram, text: str, remove: Iterable[str]) -> str:
    """Return the source text of the variant; see `Program.replace_definitions`."""
    known = frozenset((*program.scope.functions, *program.python))
    new = parse(text, program.syntax, functions=known) if text.strip() else None
    spans, replaced = spans_of(program.scope), spans_of(bind(text, new)) if new else {}
    gone = {str(key(name)) for name in remove}
    for name in gone:
        if name not in spans:
            raise NotationError(201, f"{name} is not defined here", hint=did_you_mean(near(name, spans)))
    cuts = {span: "" for name in gone for span in spans[name]}
    cuts |= {statement.span: "" for statement in program.tree.statements if is_signature(statement, gone)}
    added: list[str] = []
    for statement in new.statements if new else ():
        start, end = statement.span
        name = next((name for name, group in replaced.items() if statement.span in group), None)
        if name not in spans:
            added.append(text[start:end])
            continue
        first, *others = spans[name]
        cuts[first] = "\n".join([*filter(None, [cuts.get(first)]), text[start:end]])
        cuts |= dict.fromkeys(others, "")
    if new:
        cuts |= cut_declarations(program, {str(key(to_text(name))) for name in find_declared_names(new)})
    return "\n".join([replace_spans(program.source, cuts), *added])


def is_signature(statement: object, names: set[str]) -> bool:
    """Return whether a statement is the signature of one of these functions."""
    head = statement.head if isinstance(statement, Signature) else None
    return isinstance(head, Call) and not head.superscript and head.operator in names


def find_declared_names(tree: Program) -> list[Node]:
    return [name for statement in tree.statements if isinstance(statement, Declaration) for name in statement.names]


def cut_declarations(program: ParsedProgram, names: set[str]) -> dict[Span, str]:
    """Return, by span, each declaration that contains one of these names, with the names removed."""
    cuts: dict[Span, str] = {}
    for statement in program.tree.statements:
        if isinstance(statement, Declaration):
            remaining = [name for name in statement.names if str(key(to_text(name))) not in names]
            if len(remaining) < len(statement.names):
                sets = program.source[statement.names[-1].span[1] : statement.span[1]]
                listed = ", ".join(program.source[start:end] for start, end in (name.span for name in remaining))
                cuts[statement.span] = listed + sets if remaining else ""
    return cuts


def spans_of(scope: Scope) -> dict[str, list[Span]]:
    """Return, for each name, the spans of the equations that define it at the top level or locally in a function."""
    functions = list(scope.all_functions())
    result: dict[str, dict[Span, None]] = {}
    for definitions in (scope.definitions, *(function.facts for function in functions)):
        for spelling, group in definitions.items():
            result.setdefault(str(spelling), {}).update((definition.statement.span, None) for definition in group)
    for family in (*scope.families, *(family for function in functions for family in function.families)):
        result.setdefault(str(family.key), {})[family.statement.span] = None
    for function in functions:
        result.setdefault(function.title, {})[function.statement.span] = None
    return {name: list(spans) for name, spans in result.items()}


def replace_spans(source: str, cuts: dict[Span, str]) -> str:
    """Return the source with each span replaced by its text. If a statement ends a line, its comment is removed too."""
    for (start, end), text in sorted(cuts.items(), reverse=True):
        line_end = source.find("\n", end)
        line_end = len(source) if line_end < 0 else line_end
        if not source[end:line_end].strip() or source[end:line_end].lstrip().startswith("#"):
            end = line_end
        source = source[:start] + text + source[end:]
    return source.strip()
