"""The possible next words: names, axes, functions and symbols, in text and in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from grammar.completion import Known, complete
from grammar.errors import Span
from grammar.latex.tables import is_known
from grammar.printer.runs import axes_in
from grammar.symbols import FUNCTIONS, LATEX_GREEK, SYMBOLS

from ..documents.shown_axes import NUMBER_OF_ARGUMENTS
from ..operators import REGISTRY
from ..operators.usage import sentence
from ..scope.heads import function_head, head_names
from ..scope.names import MARKS
from ..scope.uses import uses_of
from .analysis import EditedDocument
from .occurrences import AXIS, FUNCTION, NAME
from .statements import StatementText
from .text_programs import TextProgram

SYMBOL = "symbol"
KINDS = {"axis": AXIS, "tensor": NAME, "function": FUNCTION, "built in": FUNCTION}
MAX_ITEMS = 300
TRIGGERS = ("\\", "{", "_", "@", ">", "=")
AXES = re.compile(r"(?:_|[ℝR]\^)\{([^{}]*)\}")
WORD = re.compile(r"[^\W\d_][^\W_]*['′]?")
MACRO = re.compile(r"\\[A-Za-z]*$")
IN_AXES = re.compile(r"(?:\\(?:ndot|nsum|nprod|ncat|nfun|nbin|nmatrix)\s*|[_^]\s*|\\name\s*)\{[^{}]*$|\|\\?[A-Za-z]*$")
OPENINGS = re.compile(
    r"\$|\\[(\[]|\\begin\{(?:align|equation|gather|multline|eqnarray|alignat|flalign|math|displaymath)\*?\}"
)


class CompletionItem(NamedTuple):
    """A completion: the text, and the span that it replaces. The editor lists its `label`, explained by `detail`."""

    text: str
    span: Span
    kind: str
    label: str
    detail: str = ""


def completions(document: EditedDocument, offset: int) -> list[CompletionItem]:
    """Return the completions at an offset of a document. There are none outside of formulas."""
    for edited in document.programs:
        program, span, formula = edited
        if span[0] <= offset <= span[1] and program.syntax == "text":
            inner = offset - span[0] if formula is None else formula.inside(offset)
            if inner is None:
                return []
            items = (item for item in complete_text(program, inner) if formula is None or item.text.isprintable())
            return [item._replace(span=edited.place(item.span)) for item in items]
        if span[0] <= offset <= span[1] and formula is not None:
            if program.whole is None:
                return []
            return list(complete_latex(document.text[span[0] : offset], offset, [program.whole.tree]))
    if document.report is not None and (start := math_start(document, offset)) is not None:
        return list(complete_latex(document.text[start:offset], offset, [region.tree for region in document.regions]))
    return []


def complete_text(program: TextProgram, offset: int) -> Iterator[CompletionItem]:
    """Yield the completions at an offset of a program in text syntax."""
    statement = next((name for name in reversed(program.statements) if name.start <= offset), StatementText(offset, ""))
    before = program.text[statement.start : offset]
    if "#" in before.rpartition("\n")[2]:
        return
    statements = program.whole.tree.statements if program.whole is not None else ()
    functions = {head.operator for head in map(function_head, statements) if head is not None}
    tensors = program.known.named.union(*(head_names(line) for line in statements if function_head(line) is None))
    mentioned = sorted(word for word in uses_of(*statements).words - functions - FUNCTIONS if word[0].isalpha())
    names = dict.fromkeys([*sorted(tensors), *mentioned])
    here = before[-1:] if WORD.search(before[-1:]) else ""
    known = Known(tuple(names), tuple(sorted(functions)), tuple(axes_of(program, offset if here else -1)))
    for completion in complete(before, known)[:MAX_ITEMS]:
        written = before[len(before) - completion.length :]
        kind = KINDS.get(completion.meaning, SYMBOL)
        label = f"{completion.text}  {completion.meaning}" if kind == SYMBOL and completion.meaning else completion.text
        yield CompletionItem(
            completion.text,
            (offset - completion.length, offset),
            kind,
            label,
            describe_function(completion.text) or completion.meaning or written,
        )


def axes_of(program: TextProgram, offset: int) -> list[str]:
    """Return the axes in a program and its invalid statements. Leave out a word that ends at `offset`."""
    axes = dict.fromkeys(axes_in(program.whole.tree)) if program.whole is not None else {}
    axes |= dict.fromkeys(axis for shape in program.known.shapes.values() if isinstance(shape, dict) for axis in shape)
    for inside in AXES.finditer(program.text):
        for word in WORD.finditer(program.text, *inside.span(1)):
            if word.end() != offset and word.start() > 0 and program.text[word.start() - 1] not in "(":
                axes.setdefault(word[0])
    return sorted(dict.fromkeys(axis.rstrip(MARKS) for axis in axes))


def describe_function(name: str) -> str:
    """Return a sentence that describes a built-in function or operator, or an empty string."""
    record = REGISTRY.get(name)
    return sentence(record) if record is not None else ""


# ---------------------------------------------------------------------------------------------------------------- LaTeX
def math_start(document: EditedDocument, offset: int) -> int | None:
    """Return the start of the formula at an offset, even if it is not closed yet, or None outside of formulas."""
    assert document.report is not None and document.whole is not None
    for section in document.report.sections:
        for maths in section.maths:
            at = document.whole.place(maths[:2])
            if at.file == document.path and at.span[0] < offset < at.span[1]:
                return at.span[0]
    text = document.text
    paragraph = max(text.rfind("\n\n", 0, offset), 0)
    dollars = text.count("$", paragraph, offset) - text.count("\\$", paragraph, offset)
    last = list(OPENINGS.finditer(text, paragraph, offset))
    if not last:
        return None
    opening = last[-1]
    if opening[0] == "$":
        return opening.start() if dollars % 2 else None
    closing = {r"\(": r"\)", r"\[": r"\]"}.get(opening[0], opening[0].replace("begin", "end"))
    return opening.start() if text.find(closing, opening.end(), offset) < 0 else None


def complete_latex(before: str, offset: int, trees: Sequence[Any]) -> Iterator[CompletionItem]:
    """Yield the macros, symbols and names that can complete a piece of LaTeX."""
    axes = dict.fromkeys(axis.rstrip(MARKS) for tree in trees for axis in axes_in(tree))
    begun = MACRO.search(before)
    if begun is not None:
        start = offset - len(begun[0])
        for name, kind, detail in _macros(axes, IN_AXES.search(before) is not None):
            if name.startswith(begun[0]) and name != begun[0]:
                yield CompletionItem(name, (start, offset), kind, name, detail)
        return
    word = re.search(r"[A-Za-z]*$", before)
    prefix = word[0] if word else ""
    span = offset - len(prefix), offset
    if IN_AXES.search(before):
        items = [
            (f"\\{axis}", f"\\{axis}", AXIS, "axis") for axis in axes if axis.isalpha() and axis.startswith(prefix)
        ]
    else:
        words = (word for tree in trees for word in sorted(uses_of(tree).words))
        names = dict.fromkeys(word for word in words if word[0].isalpha() and word not in FUNCTIONS)
        begun_names = [name for name in names if prefix and name.startswith(prefix) and name != prefix]
        items = [(name if len(name) == 1 else rf"\text{{{name}}}", name, NAME, "name") for name in begun_names]
    for text, label, kind, detail in items:
        yield CompletionItem(text, span, kind, label, detail)


def _macros(axes: Iterable[str], axes_first: bool) -> Iterator[tuple[str, str, str]]:
    """Yield macros with their kinds and descriptions: axes, macros of the notation, symbols, and Greek letters."""
    of_axes = [(f"\\{axis}", AXIS, "axis") for axis in axes if axis.isalpha() and not is_known(f"\\{axis}")]
    if axes_first:
        yield from of_axes
    for name, count in NUMBER_OF_ARGUMENTS.items():
        yield name + "{}" * count, SYMBOL, "named tensor notation"
    yield r"\name{}", SYMBOL, "an axis by its name"
    if not axes_first:
        yield from of_axes
    seen: set[str] = set()
    for symbol in SYMBOLS:
        for macro in symbol.latex.split():
            if macro[1:].isalpha() and macro[0] == "\\" and macro not in seen:
                seen.add(macro)
                yield macro, SYMBOL, symbol.text.split()[0]
    for name, letter in LATEX_GREEK.items():
        yield f"\\{name}", SYMBOL, letter
