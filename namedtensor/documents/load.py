"""`nt.load_program`, which loads a program from a file or document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError

from ..core.kinds import require_path
from ..programs.program import Program
from .suffixes import DOCUMENTS, suffix_of

if TYPE_CHECKING:
    from ..programs.api import Folders, Operators

TENSORS_HINT = "read tensors with nt.load_tensors(path), a folder with a model's weights with transformer.load(path)"


def load_program(
    path: Any, syntax: str = "auto", section: str | None = None, *, operators: Operators = (), folders: Folders = ()
) -> Program:
    r"""Load a program from a file or document.

    Documents (`.tex` with sections or included files, `.md`, `.rst`, `.ipynb`, `.html`) are read as in `namedtensor
    check`, with their included files, macros and assumptions in comments. Sections inherit definitions, and a later
    definition takes precedence.

    Parameters
    ----------
    path : str or path
        The file: a program (`.nt`), a LaTeX formula (`.tex`) or a document.
    syntax : {"auto", "text", "latex"}
        The syntax of the file (default: "auto", by its extension and content).
    section : str, optional
        The title of a section. The program contains the definitions that apply at the end of that section (default: the
        end of the document).
    operators : iterable of operators
        Operators from `nt.operator` that the program may use (default: none).
    folders : str, path or iterable of paths
        Further folders that the program may import from (default: none).

    Returns
    -------
    Program

    Raises
    ------
    NotationError
        If the file cannot be read, does not contain the section, or has an import that is not found.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "notes.md")
    >>> _ = path.write_text(r"# Norms" "\n" r"$$ N = \sqrt{\nsum{\name{a}} X^2} $$")
    >>> load_program(path)
    N = √(∑_{a} X^2)
    """
    path = require_path(path)
    if section is not None or suffix_of(path) in DOCUMENTS:
        from .loaded import program_of

        definitions = program_of(str(path), section) if syntax in ("auto", "latex") else None
        if definitions is not None:
            return with_operators(definitions, "text", operators)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise NotationError(108, f"cannot read {path}: {problem}") from None
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise NotationError(108, f"{path} is not a text file in UTF-8", hint=TENSORS_HINT)
    if syntax == "auto" and (suffix := suffix_of(path)) in (".nt", ".tex"):
        syntax = "text" if suffix == ".nt" else "latex"
    if "from" in text:
        from ..programs.imports import with_imports

        text = with_imports(text, syntax, folders, path)
    return with_operators(text, syntax, operators)


def with_operators(text: str, syntax: str, operators: Operators) -> Program:
    """Return the program with this text. The program can use the functions in `operators` as operators."""
    if not operators:
        return Program(text, syntax)
    from ..programs.custom_operators import program_with

    return program_with(Program, text, syntax, False, operators)
