"""`nt.check_document`: checks the formulas of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError
from grammar.plain_text import encodable

from ..core.kinds import require_path, require_text, wrong
from ..core.settings import raise_recursion_limit
from ..core.suggestions import Suggests
from ..files.text import InputError
from .document import Document, MathSpan, Section, Skipped
from .findings import ERROR, NOT_CHECKED, WARNING, Finding, findings_of
from .formula_checks import CheckedFormula, KnownInputs, check_formula
from .included_files import Read, Whole, whole_of_one
from .python_source import FormulaString, SkippedString, formulas_in
from .suffixes import DOCUMENTS, PYTHON, suffix_of
from .verdicts import FALSE, Draws, Tried

if TYPE_CHECKING:
    from ..programs.parsed import ParsedProgram

KINDS = (".nt", *PYTHON, *DOCUMENTS)


@dataclass(frozen=True)
class DocumentCheck(Suggests):
    """The findings of a document check, printed like the output of `namedtensor check`.

    Attributes
    ----------
    findings : tuple of Finding
        Errors, warnings, and formulas that were not checked. Each finding has a `severity` ("error", "warning", "not
        checked"), the `file`, the `problem` (a `NotationError` with its position in that file) and the text of the
        `formula`.
    types : dict of str to dict of str to str
        The types of the names in each section, by section title.
    skipped : tuple of (int, str)
        The line of each skipped formula, and the reason for skipping it.
    formulas : int
        The number of checked formulas.
    """

    findings: tuple[Finding, ...]
    types: Mapping[str, Mapping[str, str]]
    skipped: tuple[tuple[int, str], ...]
    formulas: int

    @property
    def ok(self) -> bool:
        """True if there are no errors."""
        return not self.errors

    @property
    def errors(self) -> tuple[NotationError, ...]:
        """The errors, as a tuple."""
        return tuple(finding.problem for finding in self.findings if finding.severity == ERROR)

    @property
    def warnings(self) -> tuple[NotationError, ...]:
        """The warnings, as a tuple."""
        return tuple(finding.problem for finding in self.findings if finding.severity == WARNING)

    @encodable
    def __str__(self) -> str:
        counts = (_number(self.formulas, "formula"), _number(len(self.errors), "error"))
        return "\n".join([*map(_format_finding, self.findings), ", ".join(counts)])

    __repr__ = __str__


def _number(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def _format_finding(finding: Finding) -> str:
    problem = finding.problem
    line, column = problem.position()
    text = problem.to_text().partition(": ")[2]
    shown = text.partition("\n")[0] if finding.severity == NOT_CHECKED else f"{text}\n"
    return f"{finding.file}:{line}:{column}: {finding.severity} {problem.code}: {shown}"


@raise_recursion_limit
def check_document(
    text: str, path: str, *, read: Callable[[str], str | None] | None = None, everything: bool = False
) -> DocumentCheck:
    r"""Check the formulas of a document: LaTeX, Markdown, reStructuredText, a notebook, HTML, `.nt` or Python source.

    In Python source, the formulas are the string constants that are passed to functions of this package.

    Parameters
    ----------
    text : str
        The text of the document.
    path : str or path
        The path of the document. Its extension determines the file type; the file need not exist.
    read : callable, optional
        A function that maps the path of an included file to its text, or to None if there is no such file (default:
        read files from disk).
    everything : bool
        Whether to also check formulas that show no named axis (default: False).

    Returns
    -------
    DocumentCheck

    Raises
    ------
    NotationError
        If the extension is unknown, or the text does not match the file type, such as Python that does not parse (409).

    Examples
    --------
    >>> result = check_document(r"Let $X \in \reals^{\name{seq}}$. $$ Y = \nsum{\name{sek}} X $$", "notes.md")
    >>> [(error.code, error.position()) for error in result.errors]
    [(301, (1, 47))]
    >>> check_document("import namedtensor as nt\nnt.evaluate('∑_{a} x', x='ℝ^{b}')", "model.py").ok
    False
    """
    text = require_text(text, "the document", 'write check_document(text, "paper.tex")')
    path = str(require_path(path))
    if read is not None and not callable(read):
        raise wrong(read, "read=", "a function of a path", "write read=lambda path: texts.get(path)")
    if suffix_of(path) not in KINDS:
        raise NotationError(409, f"cannot tell what {path} is", hint=f"expected one of {', '.join(KINDS)}")
    try:
        whole, report = check_one_file(text, path, read, everything)
    except InputError as problem:
        raise NotationError(409, str(problem)) from None
    return DocumentCheck(
        tuple(findings_of(report, whole)),
        {left_out.title: dict(left_out.types) for left_out in report.scopes},
        tuple((whole.place(left_out.span).line, left_out.reason) for left_out in report.skipped),
        report.formulas,
    )


def check_one_file(
    text: str,
    path: str,
    read: Read | None = None,
    everything: bool = False,
    shapes: Mapping[str, Any] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> tuple[Whole, Document]:
    """Check a file and all files that it includes, and return the whole document with its report.

    Raise InputError if the file does not have the format of its extension.
    """
    kind = suffix_of(path)
    if kind in (".py", ".nt"):
        whole = whole_of_one(text, path)
        return whole, (check_python(text, path, shapes, sizes) if kind == ".py" else check_program(text, shapes, sizes))
    from .loaded import whole_of
    from .sections import check_document

    whole = whole_of(text, path, read)
    return whole, check_document(whole.text, everything, shapes, sizes)


def check_program(
    text: str, shapes: Mapping[str, Any] | None = None, sizes: Mapping[str, int] | None = None
) -> Document:
    """Check a program file (`.nt`), and return its report."""
    from ..programs.parsed import ParsedProgram

    program = ParsedProgram(text, "text")
    result = check_formula(program, KnownInputs(shapes or {}, sizes or {}))
    section = _section("", (0, len(text)), result, program)
    return Document(text, [section], [*result.errors], [*result.warnings])


def check_python(
    text: str,
    path: str,
    shapes: Mapping[str, Any] | None = None,
    sizes: Mapping[str, int] | None = None,
    draws: Draws | None = None,
) -> Document:
    """Check a Python file, and return its report.

    If `draws` is given, also test the assertions. Raise InputError if the file does not parse.
    """
    from ..programs.parsed import ParsedProgram

    document = Document(text, [])
    for formula in python_formulas(text, path):
        if isinstance(formula, SkippedString):
            document.skipped.append(Skipped(formula.span, f"{formula.verb}: {formula.reason}"))
            continue
        program = ParsedProgram(formula.text, formula.syntax)
        given = {**(shapes or {}), **formula.inputs.shapes}
        inputs = formula.inputs._replace(shapes=given, sizes={**(sizes or {}), **formula.inputs.sizes})
        result = check_formula(program, inputs)
        if draws is not None and not result.checked.result.errors:
            for tried in assertions_of(program, inputs, draws):
                if tried.status == FALSE:
                    document.errors.append(locate_in_file(tried.error(formula.text), formula, text))
                else:
                    document.tried.append(tried._replace(span=formula.place(tried.span)))
        line = text.count("\n", 0, formula.span[0]) + 1
        document.sections.append(_section(f"line {line}: {formula.verb}", formula.span, result, program))
        document.errors += (locate_in_file(error, formula, text) for error in result.errors)
        document.warnings += (warning._replace(span=formula.place(warning.span)) for warning in result.warnings)
    return document


def assertions_of(program: ParsedProgram, inputs: KnownInputs, draws: Draws) -> list[Tried]:
    """Test the assertions of a formula on random tensors and return the verdicts."""
    from .trial import try_assertions

    return list(try_assertions(program.source, program.tree, inputs.shapes, inputs.sizes, draws))


def python_formulas(text: str, path: str) -> Iterator[FormulaString | SkippedString]:
    """Yield the formulas of a Python file. Raise InputError if the file is not valid Python."""
    try:
        yield from formulas_in(text)
    except SyntaxError as problem:
        line = f", line {problem.lineno}" if problem.lineno else ""
        raise InputError(f"{path} is not Python that parses: {problem.msg}{line}") from None


def locate_in_file(error: NotationError, formula: FormulaString, text: str) -> NotationError:
    """Return an error of a formula with its spans converted to spans of the file.

    An error without a position in the formula, such as one in an input's shape, gets the span of the whole formula.
    """
    if error.source != formula.text or error.span is None:
        return error.replace(source=text, span=formula.span, labels=())
    return error.moved(text, formula.place)


def _section(title: str, span: tuple[int, int], result: CheckedFormula, program: Any) -> Section:
    maths = MathSpan(*span, True)
    section = Section(title, span[0], [maths], [maths], types=dict(result.checked.result.types))
    section.unknown = {error.span_text or "": span[0] for error in result.unknown}
    if result.checked.checker is not None:
        section.programs[maths] = program.tree
    return section
