"""A program that is checked while it is edited: changed statements at once, and the rest when there is time.

`update` checks the changed statements with the definitions that they depend on. The errors of other statements stay,
and their positions are updated. `settle` checks the whole program. A statement that does not parse does not affect the
checks of other statements.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from grammar import nodes
from grammar.errors import NotationError, Span
from grammar.parser import parse

from ..documents.formula_checks import UNDEFINED, CheckedFormula, check_formula
from ..programs.parsed import ParsedProgram
from ..scope.heads import base_of, function_head, head_names
from ..scope.names import plain_key
from ..terms.inference import format_shape
from .contexts import Contexts
from .parts import TypedPart, find_typed_parts
from .statements import HEAD, StatementText, blank_spans, split, statement_at

MAX_BROKEN = 12  # statements of a program that are left out since they are wrong
MAX_CHANGED = 8  # statements that are checked alone; with more changes, the whole program is checked
SHORT = 12  # statements of a program that is always checked as a whole


class ProgramInputs(NamedTuple):
    """The types of inputs that are known from outside the program."""

    shapes: tuple[tuple[str, Any], ...] = ()
    named: frozenset[str] = frozenset()
    complete: bool = False
    sizes: tuple[tuple[str, int], ...] = ()

    @property
    def given(self) -> dict[str, Any]:
        """The shapes of the inputs, by name."""
        return {name: dict(shape) if isinstance(shape, tuple) else shape for name, shape in self.shapes}


class Problem(NamedTuple):
    """A finding: an error, and its severity, which is "error", "warning" or "information"."""

    severity: str
    error: NotationError


class TypeHint(NamedTuple):
    """The type of a statement, to be shown at an offset after the statement."""

    offset: int
    text: str


class Diagnostics(NamedTuple):
    """The findings in a statement or a program: problems, typed pieces and type hints. Spans refer to its text."""

    problems: tuple[Problem, ...] = ()
    parts: tuple[TypedPart, ...] = ()
    hints: tuple[TypeHint, ...] = ()


class CheckedText(NamedTuple):
    """The result of checking a program as a whole."""

    text: str
    statements: list[StatementText]
    findings: list[Diagnostics]  # of each statement
    broken: frozenset[int]  # the statements that are left out
    tree: nodes.Program
    checked: CheckedFormula | None
    contexts: Contexts


class TextProgram:
    """A program whose text is edited and checked."""

    def __init__(self, known: ProgramInputs | None = None, syntax: str = "text"):
        self.known, self.syntax = known or ProgramInputs(), syntax
        self.whole: CheckedText | None = None
        self.text = ""
        self.statements: list[StatementText] = []
        self.places: dict[int, int] = {}  # of the statements of `whole` that are still there: their number now
        self.changed: dict[int, Diagnostics] = {}  # of the others, by their number now

    @property
    def settled(self) -> bool:
        """Whether the whole program has been checked with its current text."""
        return self.whole is not None and self.whole.text == self.text

    def update(self, text: str) -> None:
        """Replace the text of the program, and check the statements that changed."""
        before = dict(
            zip((statement.text for statement in self.statements), map(self.changed.get, range(len(self.statements))))
        )
        self.text = text
        self.statements = split(text) if self.syntax == "text" else [StatementText(0, text)]
        whole = self.whole
        if whole is None or len(self.statements) <= SHORT:
            self.settle()
            return
        self.places = match_statements(
            [statement.text for statement in whole.statements], [statement.text for statement in self.statements]
        )
        new = [at for at in range(len(self.statements)) if at not in self.places.values()]
        if len(new) > MAX_CHANGED:
            self.settle()
            return
        self.changed = {}
        for at in new:
            known = before.get(self.statements[at].text)
            self.changed[at] = known if known is not None else self._check_alone(whole, self.statements[at])

    def settle(self) -> None:
        """Check the whole program, unless its current text has been checked already."""
        if not self.settled:
            self.whole = check_whole_text(self.text, self.statements, self.known, self.syntax)
        self.places = {at: at for at in range(len(self.statements))}
        self.changed = {}

    def _check_alone(self, whole: CheckedText, statement: StatementText) -> Diagnostics:
        """Check a single statement in the context of the whole program. Positions in the result begin at its start."""
        text = statement.text
        contexts = whole.contexts
        try:
            tree = parse(text, "text", contexts.tensors - contexts.functions, functions=contexts.functions)
        except NotationError as problem:
            return Diagnostics((Problem("error", problem),))
        context = contexts.of(tree, self.places.keys())
        start = len(context) + 1 if context else 0
        program = ParsedProgram(f"{context}\n{text}" if context else text, "text")
        result = check_formula(program, self.known.given, dict(self.known.sizes), self.known.named)
        names = {name for item in tree.statements for name in head_names(item)}
        defined = {*contexts.defining, *names, *find_defined_names(self.statements)}
        problems = [item for item in problems_of(result) if is_about(item, start, defined)]
        parts = [item for item in find_typed_parts(result.checked.checker) if item.span[0] >= start]
        names = Diagnostics(tuple(problems), tuple(parts))
        return move_findings(names, text, -start)._replace(hints=tuple(type_hints(tree, parts, start)))

    # ------------------------------------------------------------------------------------------------ what is known now
    def findings(self) -> Diagnostics:
        """Return all findings for the current text."""
        if self.whole is None:
            return Diagnostics()
        if self.settled:
            groups = self.whole.findings
        else:
            groups = []
            for at, now in self.places.items():
                before, after = self.whole.statements[at].start, self.statements[now].start
                groups.append(move_findings(self.whole.findings[at], self.text, after - before))
            groups += [
                move_findings(findings, self.text, self.statements[at].start) for at, findings in self.changed.items()
            ]
        problems = sorted(
            (problem for group in groups for problem in group.problems),
            key=lambda problem: problem.error.span or (0, 0),
        )
        hints = tuple(hint for group in groups for hint in group.hints)
        return Diagnostics(tuple(problems), tuple(part for group in groups for part in group.parts), hints)


def match_statements(old: list[str], new: list[str]) -> dict[int, int]:
    """Return the new index of each unchanged statement by its old index.

    >>> match_statements(["a", "b", "c", "d"], ["a", "x", "c", "d"])
    {0: 0, 2: 2, 3: 3}
    """
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    pairs = {at: at for at in range(first)}
    left: dict[str, list[int]] = {}
    for at in range(first, len(new) - last):
        left.setdefault(new[at], []).append(at)
    for at in range(first, len(old) - last):
        if left.get(old[at]):
            pairs[at] = left[old[at]].pop(0)
    return pairs | {len(old) - 1 - at: len(new) - 1 - at for at in reversed(range(last))}


def move_findings(findings: Diagnostics, text: str, by: int) -> Diagnostics:
    """Return findings with their positions moved by an offset, so that they refer to another text."""

    def shifted(span: Span) -> Span:
        return max(0, span[0] + by), max(0, span[1] + by)

    problems = tuple(
        problem._replace(error=problem.error.moved(text, shifted)) if problem.error.source is not None else problem
        for problem in findings.problems
    )
    parts = tuple(part._replace(span=shifted(part.span)) for part in findings.parts)
    return Diagnostics(problems, parts, tuple(hint._replace(offset=hint.offset + by) for hint in findings.hints))


def is_about(problem: Problem, start: int, defined: Collection[str]) -> bool:
    """Return whether a problem begins at or after `start`.

    Undefined names that the whole program defines do not count.
    """
    error = problem.error
    if error.span is None or error.span[0] < start:
        return False
    return error.code != UNDEFINED or plain_key(error.span_text or "").base not in defined


def problems_of(result: CheckedFormula) -> list[Problem]:
    """Return the errors and warnings of a formula, and information about undefined names, as problems."""
    source = result.checked.result.source
    problems = [Problem("error", error) for error in result.errors]
    problems += (Problem("warning", warning.make_strict_error(source)) for warning in result.warnings)
    problems += (Problem("information", make_undeclared_error(error)) for error in result.unknown)
    return problems


def make_undeclared_error(error: NotationError) -> NotationError:
    """Return the error for an undefined name, reworded as information about an input of unknown type."""
    name = error.span_text
    return error.replace(
        message=f"{name} is an input: nothing here defines or declares it, so its type is unknown",
        hint=f"declare it: {name} ∈ ℝ^{{…}}",
        notes=(),
    )


def find_defined_names(statements: list[StatementText]) -> set[str]:
    """Return the names that statements may define, judging only by how each statement begins."""
    heads = (HEAD.match(statement.text) for statement in statements)
    return {plain_key(head[0].split("=")[0].split("∈")[0].split("(")[0].rstrip(" :≜≔")).base for head in heads if head}


def check_whole_text(text: str, statements: list[StatementText], known: ProgramInputs, syntax: str) -> CheckedText:
    """Check a program without those statements that cannot be parsed or that contradict others."""
    broken: dict[int, Diagnostics] = {}
    result: CheckedFormula | None = None
    tree = nodes.Program(())
    while len(broken) < len(statements):
        left = blank_spans(text, [(statements[at].start, statements[at].end) for at in broken])
        program = ParsedProgram(left, syntax)
        try:
            tree = program.tree
            _ = program.scope
            result = check_formula(program, known.given, dict(known.sizes), known.named, known.complete)
            break
        except NotationError as error:
            problem, tree = error, nodes.Program(())
        at = statement_at(statements, problem.span)
        if at is None or at in broken or len(broken) >= MAX_BROKEN:
            broken.setdefault(at or 0, Diagnostics())
            broken[at or 0] = Diagnostics((*broken[at or 0].problems, Problem("error", problem.located(text, (0, 0)))))
            break
        broken[at] = Diagnostics((Problem("error", problem.moved(text, lambda span: span)),))
    findings = [broken.get(at, Diagnostics()) for at in range(len(statements))]
    if result is not None:
        lost = find_defined_names([statements[at] for at in broken])
        problems = [
            problem._replace(error=locate_in_text(problem.error, text))
            for problem in problems_of(result)
            if not broken or is_about(problem, -1, lost) or problem.error.span is None
        ]
        parts = find_typed_parts(result.checked.checker)
        findings = distribute_findings(statements, findings, problems, parts, list(type_hints(tree, parts)))
    types = result.checked.result.types if result is not None else {}
    return CheckedText(text, statements, findings, frozenset(broken), tree, result, Contexts(statements, tree, types))


def locate_in_text(error: NotationError, text: str) -> NotationError:
    """Return an error with its source replaced by the text, in which nothing is blanked.

    An error about an input is moved to the beginning.
    """
    if error.span is None or error.source is None or len(error.source) != len(text):
        return error.replace(source=text, span=(0, 0), labels=())
    return error if error.source == text else error.replace(source=text)


def type_hints(tree: nodes.Program, parts: list[TypedPart], start: int = 0) -> Iterator[TypeHint]:
    """Yield the types of statements for display. Statements that declare types are left out.

    `start` is the offset of the tree in the text of the parts.
    """
    shapes = {part.span: part.shape for part in parts}
    declarations = [declaration for declaration in tree.statements if isinstance(declaration, nodes.Declaration)]
    declared = {name for declaration in declarations for name in head_names(declaration)}
    for statement in tree.statements:
        if isinstance(statement, nodes.Value):
            body = statement.body
        elif isinstance(statement, nodes.Equation) and not statement.sets and function_head(statement) is None:
            body = statement.sides[-1]
            if base_of(statement.sides[0]) in declared:
                continue
        else:
            continue
        shape = shapes.get((body.span[0] + start, body.span[1] + start))
        if shape is not None:
            yield TypeHint(body.span[1], format_shape(shape))


def distribute_findings(
    statements: list[StatementText], findings: list[Diagnostics], problems: list[Problem], parts: list[TypedPart],
    hints: list[TypeHint],
) -> list[Diagnostics]:  # fmt: skip
    """Return the findings of each statement, with the problems, typed pieces and hints that lie in it added."""
    groups: list[tuple[list[Any], ...]] = [tuple(map(list, group)) for group in findings]
    items: list[list[tuple[Any, Span | None]]] = [
        [(problem, problem.error.span) for problem in problems],
        [(part, part.span) for part in sorted(parts, key=lambda part: part.span[0])],
        [(hint, (hint.offset - 1, hint.offset)) for hint in hints],
    ]
    for kind, group in enumerate(items):
        for item, span in group:
            at = statement_at(statements, span)
            if at is not None:
                groups[at][kind].append(item)
    return [Diagnostics(*map(tuple, group)) for group in groups]
