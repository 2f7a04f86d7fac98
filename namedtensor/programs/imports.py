"""Programs that import definitions with statements such as `from "attention.nt" import Attention`.

The imported definitions replace the statement, as if the program's author had written them there. The rest of the
package therefore does not distinguish imported definitions from other definitions. Errors name the file and the line.

The module searches for a file next to the importing file, and then in the folders that the caller passes. A path such
as `"package:file.nt"` refers to a file in an installed package. The module reads only `.nt` files inside these folders.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from grammar import nodes
from grammar.composed import ComposedText, SourcePart
from grammar.errors import NotationError, Span
from grammar.nodes import Imports, Name
from grammar.parser import imports_of, parse, spelling_of, tokens_of

from ..core.kinds import wrong
from ..core.suggestions import did_you_mean, near
from ..scope.binder import bind
from ..scope.names import Key
from ..scope.needed_lines import names_in, needed_lines
from ..scope.symbols import Scope

MAX_FILES = 200  # that one program imports
MAX_FILE_BYTES = 4_000_000
SUFFIX = ".nt"
FOLDERS_HINT = 'write folders="formulas", or folders=["formulas", "library"]'


class SourceFile(NamedTuple):
    """An imported file: its path, its name in error messages, and the folders that it can import from."""

    path: Path
    name: str
    roots: tuple[Path, ...]


def check_folders(folders: Any) -> tuple[Path, ...]:
    """Return the folders passed as `folders=`. Raise NotationError if an element is not a folder."""
    given = (folders,) if isinstance(folders, (str, Path)) else folders
    try:
        paths = tuple(Path(folder) for folder in given)
    except TypeError:
        raise wrong(folders, "folders=", "a folder, or several", FOLDERS_HINT) from None
    for path in paths:
        if not path.is_dir():
            raise NotationError(409, f"{path} is not a folder", hint="pass the folder that holds the .nt files")
    return tuple(path.resolve() for path in paths)


def with_imports(text: str, syntax: str = "auto", folders: Any = (), file: Path | None = None) -> str:
    """Replace the import statements of a source text with the definitions that they import.

    `file` is the path of the source text. Imported files are searched next to it.

    Raises NotationError if a file cannot be read, does not define an imported name, or imports itself.
    """
    if not isinstance(text, str) or not _may_import(text, syntax):
        return text
    statements = imports_of(text)
    if not statements:
        return text
    local = () if file is None else (file.resolve().parent,)
    return _Importer(check_folders(folders)).compose_text(
        text, statements, local, "", () if file is None else (file.resolve(),)
    )


def _may_import(text: str, syntax: str) -> bool:
    return "from" in text and (syntax == "text" or (syntax == "auto" and spelling_of(text) == "text"))


def line_of(text: str, span: Span) -> Span:
    """Return the span of the whole line that contains a statement, including any comment."""
    end = text.find("\n", span[1])
    return text.rfind("\n", 0, span[0]) + 1, len(text) if end < 0 else end


class _Importer:
    """The reader of the files that a program imports. It reads each file once."""

    def __init__(self, folders: tuple[Path, ...]):
        self.folders = folders
        self.read: dict[Path, str] = {}  # files, with their own imports replaced
        self.included: set[SourcePart] = set()  # lines already in the program

    def compose_text(
        self,
        text: str,
        statements: Sequence[Imports],
        roots: tuple[Path, ...],
        name: str,
        above: tuple[Path, ...],
    ) -> ComposedText:
        """Return the text of one file, or of the program itself, with its imports replaced."""
        parts: list[SourcePart] = []
        position, line = 0, 1
        for statement in statements:
            start, end = line_of(text, statement.span)
            before = text[position:start]
            parts.append(SourcePart(before, name, line))
            line += before.count("\n")
            parts += self.imported(text, statement, roots, name, above)
            position = end
        parts.append(SourcePart(text[position:], name, line))
        whole = ComposedText(_terminate_lines(parts))
        if statements:
            _check_declarations(whole)
        return whole

    def imported(
        self, text: str, statement: Imports, roots: tuple[Path, ...], name: str, above: tuple[Path, ...]
    ) -> list[SourcePart]:
        """Return the lines that an import statement adds to the text, except for lines that are already imported."""

        def error(code: int, message: str, span: Span, **more: Any) -> NotationError:
            source = ComposedText((SourcePart(text, name),)) if name else text
            return NotationError(code, message, source, span, **more)

        def unread(message: str, **more: Any) -> NotationError:
            return error(409, message, statement.path_span, **more)

        file = self.located(statement.path, roots, unread)
        if file.path in above:
            chain = " → ".join([*(path.name for path in above[above.index(file.path) :]), file.path.name])
            hint = "move what both need to a file of its own, and import that"
            raise error(203, f"circular import: {chain}", statement.path_span, hint=hint)
        content = self.content(file, above, unread)
        scope = _scope_of(content)
        known = names_in(scope)
        for item, _ in statement.names:
            if item.text not in known:
                raise error(
                    201, f"{file.name} does not define {item.text}", item.span,
                    hint=did_you_mean(near(item.text, known)) or f"it defines {', '.join(known[:12]) or 'nothing'}",
                )  # fmt: skip
        renamed = {item.text: alias for item, alias in statement.names if alias != item}
        if renamed:
            content = _rename_names(content, renamed, error)
            scope = _scope_of(content)
        lines = needed_lines(scope, [alias.text for _, alias in statement.names])
        rows = [row for span in lines for row in _rows(content, span, file.name)]
        new = [row for row in rows if row not in self.included]
        self.included.update(new)
        return new

    def content(self, file: SourceFile, above: tuple[Path, ...], error: Any) -> str:
        """Return the text of a file, with its own imports replaced."""
        if file.path in self.read:
            return self.read[file.path]
        if len(self.read) >= MAX_FILES:
            raise error(f"this program imports more than {MAX_FILES} files")
        try:
            if file.path.stat().st_size > MAX_FILE_BYTES:
                raise error(f"{file.name} has more than {MAX_FILE_BYTES // 10**6} MB; an import reads formulas")
            text = file.path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise error(f"{file.name} is not a text file in UTF-8") from None
        except OSError as problem:
            raise error(f"cannot read {file.name}: {problem.strerror}") from None
        whole = ComposedText((SourcePart(text if text.endswith("\n") else f"{text}\n", file.name),))
        try:
            statements = imports_of(whole)
        except NotationError as problem:
            raise problem.replace(source=whole) from None
        included, self.included = self.included, set()  # The text of a file contains all lines that it imports.
        try:
            self.read[file.path] = self.compose_text(whole, statements, file.roots, file.name, (*above, file.path))
        finally:
            self.included = included
        return self.read[file.path]

    def located(self, path: str, roots: tuple[Path, ...], error: Any) -> SourceFile:
        """Return the file that an import statement names. Raise NotationError if it is missing or not allowed."""
        if not path.endswith(SUFFIX):
            raise error(
                f"an import reads files that end in {SUFFIX}, got {path!r}", hint='write from "attention.nt" import …'
            )
        package, colon, inside = path.partition(":")
        if colon and package.replace(".", "_").isidentifier():
            return _find_in_package(package, inside, path, error)
        folders = tuple(dict.fromkeys((*roots, *self.folders)))
        if not folders:
            hint = (
                'pass the folder of the file: nt.program(text, folders="."), or load the program with nt.load_program'
            )
            raise error("this text may not read files", hint=hint)
        candidates = [(folder / path).resolve() for folder in folders]
        allowed = [candidate for candidate in candidates if any(candidate.is_relative_to(folder) for folder in folders)]
        if not allowed:
            raise error(
                f"{path} is outside the folders that this program may read", hint="pass its folder with folders="
            )
        for candidate in allowed:
            if candidate.is_file():
                return SourceFile(candidate, path, tuple(dict.fromkeys((candidate.parent, *folders))))
        there = sorted({file.name for folder in folders for file in folder.glob(f"*{SUFFIX}")})
        raise error(f"there is no file {path}", hint=did_you_mean(near(path, there)) or "pass its folder with folders=")


def _find_in_package(package: str, inside: str, path: str, error: Any) -> SourceFile:
    """Return a file that an installed package contains, without importing the package."""
    from importlib.util import find_spec

    top, *further = package.split(".")
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        spec = None
    locations = [] if spec is None else list(spec.submodule_search_locations or ())
    if not locations:
        raise error(f"there is no installed package {top}", hint=f"pip install the package that ships {inside}")
    for location in locations:
        root = Path(location).resolve()
        candidate = root.joinpath(*further, inside).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return SourceFile(candidate, path, (candidate.parent, root))
    shipped = [
        f"{top}:{file.relative_to(location).as_posix()}"
        for location in locations
        for file in sorted(Path(location).rglob(f"*{SUFFIX}"))
    ]
    hint = did_you_mean(near(path, shipped)) or (
        f"it ships {', '.join(shipped[:8])}" if shipped else "it ships no .nt files"
    )
    raise error(f"the package {top} has no file {inside}", hint=hint)


def _check_declarations(text: ComposedText) -> None:
    """Raise NotationError if two files declare a name in different sets, which would make the parameter ambiguous."""
    try:
        scope = _scope_of(text)
    except NotationError:  # Parsing the program raises this error later.
        return
    declared: dict[Key, nodes.Set] = {}
    for _, name, sets, _ in scope.declarations:
        first = declared.setdefault(name.key(), sets[0])
        if first != sets[0] and text.locate(first.span[0])[0] != text.locate(sets[0].span[0])[0]:
            raise NotationError(
                202, f"{name.key()} is declared in two files, in different sets", text, sets[0].span,
                labels=((first.span, "first here"),),
                hint=f'import it by another name: from "…" import {name.base} as …, or rename it here',
            )  # fmt: skip


def _scope_of(text: str) -> Scope:
    """Return the symbols of an imported file. An empty file has no symbols."""
    tree = parse(text, "text")
    return bind(text, tree, open=True)


def _rows(content: str, span: Span, name: str) -> list[SourcePart]:
    """Return the lines of a span, each with the name of its file and its line number."""
    rows: list[SourcePart] = []
    position = span[0]
    for text in content[slice(*span)].splitlines(keepends=True):
        file, line = content.locate(position) if isinstance(content, ComposedText) else (name, 1)
        rows.append(SourcePart(text, file, line))
        position += len(text)
    return rows


def _rename_names(content: str, renamed: dict[str, Name], error: Any) -> str:
    """Return the text of a file with these names replaced by new names."""
    words = [
        token for token in tokens_of(content, "text") if token.type in ("NAME", "FUNCTION") and token.place != "axis"
    ]
    taken = {token.text for token in words}
    for item in renamed.values():
        if item.text in taken:
            raise error(202, f"{item.text} is a name of that file, too", item.span, hint="choose another name after as")
    tokens = [token for token in words if token.text in renamed]
    rows: list[SourcePart] = []
    position = 0
    for row in _rows(content, (0, len(content)), ""):
        end, text, done = position + len(row.text), "", position
        for token in tokens:
            if position <= token.start < end:
                text += content[done : token.start] + renamed[token.text].text
                done = token.start + len(token.text)
        rows.append(row._replace(text=text + content[done:end]))
        position = end
    return ComposedText(rows)


def _terminate_lines(parts: Iterable[SourcePart]) -> list[SourcePart]:
    """Return the parts of a text, with a line end added to each part that lacks one, except for the last part."""
    remaining = [part for part in parts if part.text]
    return [
        part if part.text.endswith("\n") or number == len(remaining) - 1 else part._replace(text=f"{part.text}\n")
        for number, part in enumerate(remaining)
    ]
