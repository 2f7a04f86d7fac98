r"""Insertion of included files into a document, in the order in which TeX reads them.

    paper.tex --\input, \include, \usepackage--> one text, a Whole  <--each position maps to a file and a line

A style file in the document's folder, such as `namedtensor.sty`, contributes only its definitions. Documents are
untrusted. Only regular text files are opened, and outside of the document's folder only TeX files (`.tex`, `.sty`, …).
The number and size of the files and the depth of inclusion are limited. Each file that is not read gets a note,
because it may contain formulas.
"""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

from grammar.cache import cached_property
from grammar.errors import NotationError, Span

from ..files.text import InputError, decode, reason
from .maths import DEFINING, OPAQUE, definition_end, group_end, opaque_end

DEPTH = 20  # files that include each other
FILES = 2000
CHARACTERS = 4_000_000  # of all files together: a book of mathematics has two million
NOTES = 1000  # of files that are not read
Read = Callable[[str], "str | None"]  # the text of a file by its path, or None if there is no such file


class FileLocation(NamedTuple):
    """A span in a file, with the file's name and text."""

    file: str
    text: str
    span: Span

    @property
    def line(self) -> int:
        """The line number, counted from 1, of the first line of the span."""
        return self.text.count("\n", 0, self.span[0]) + 1


class _Part(NamedTuple):
    """A part of a whole document: its start in the whole, and its original file and offset."""

    start: int
    file: str
    text: str
    offset: int


class Whole:
    """The text of a document with all included files, a map to these files, and notes on the skipped files.

    `besides` are the files that contribute only macros.
    """

    def __init__(self, file: str, source: str):
        self.file, self.source = file, source
        self.parts: list[_Part] = [_Part(0, file, source, 0)]
        self.texts: list[str] = []
        self.length = 0
        self.notes: list[tuple[FileLocation, str]] = []
        self.besides: frozenset[str] = frozenset()

    def copy(self, start: int, end: int, file: str | None = None, source: str | None = None) -> None:
        """Append a range of a file. If no file is given, the range is from the document."""
        whole = self.source if source is None else source
        self.write(whole[start:end], start, file, whole)

    def write(self, written: str, at: int, file: str | None = None, source: str | None = None) -> None:
        """Append generated text that maps to a position of a file."""
        if written:
            self.parts.append(_Part(self.length, file or self.file, self.source if source is None else source, at))
            self.texts.append(written)
            self.length += len(written)

    def add(self, other: Whole) -> None:
        """Append another document."""
        self.parts += [part._replace(start=part.start + self.length) for part in other.parts]
        self.texts.append(other.text)
        self.notes += other.notes
        self.length += other.length

    @cached_property
    def text(self) -> str:
        """Return the joined text. It is cached, so nothing may be added to the document afterwards."""
        return "".join(self.texts)

    @property
    def files(self) -> list[str]:
        """The document's own file and the files that it includes, except for files that contribute only macros."""
        return [file for file in dict.fromkeys(part.file for part in self.parts) if file not in self.besides]

    def place(self, span: Span) -> FileLocation:
        """Return the file location of a span. If the span continues in another part, cut it at the end of the part.

        >>> whole = Whole("one.tex", "xa")
        >>> whole.copy(1, 2)
        >>> whole.copy(0, 1, "two.tex", "b")
        >>> whole.text, whole.place((0, 2))
        ('ab', FileLocation(file='one.tex', text='xa', span=(1, 2)))
        """
        index = max(0, bisect_right(self.parts, span[0], key=lambda part: part.start) - 1)
        part = self.parts[index]
        stop = self.parts[index + 1].start if index + 1 < len(self.parts) else self.length
        shift = part.offset - part.start
        start = min(span[0] + shift, len(part.text))
        return FileLocation(part.file, part.text, (start, max(start, min(span[1], stop) + shift)))

    def error(self, error: NotationError) -> tuple[str, NotationError]:
        """Return the file in which an error occurs, and the error for this file. Labels in other files become notes."""
        if error.source != self.text or error.span is None:
            return self.file, error
        at = self.place(error.span)
        notes = list(error.notes)
        for span, text in error.labels:
            label = self.place(span)
            if label.file != at.file:
                notes.append(f"{text}: {label.file}:{label.line}")

        def locate(span: Span) -> Span | None:
            there = self.place(span)
            return there.span if there.file == at.file else None

        return at.file, error.moved(at.text, locate).replace(notes=notes)


def whole_text(text: str, file: str) -> Whole:
    """Return the parts of a single file that TeX reads. Included files are not inserted."""
    whole = Whole(file, text)
    for stretch in stretches(text):
        whole.copy(*(stretch.span if isinstance(stretch, NamedFile) else stretch))
    return whole


def whole_of_one(text: str, file: str) -> Whole:
    """Return a whole document that consists of one unchanged file."""
    whole = Whole(file, text)
    whole.copy(0, len(text))
    return whole


def whole_document(text: str, file: str, read: Read | None = None) -> Whole:
    """Return a document with all files that it includes. Files are read by `read` or, if it is None, from disk."""
    reading = IncludedReading(file, text, read=read)
    reading.read(text, file, (os.path.realpath(file),))
    return reading.whole


# --------------------------------------------------------------------------------------------------------- reading a file
def document_text(file: str, limit: int = CHARACTERS) -> tuple[str, str | None]:
    """Return the text of a file, and a note if the file is not in UTF-8.

    Raise InputError if it is not a regular file, is not text, or is longer than `limit` bytes.
    """
    try:
        if not stat.S_ISREG(os.stat(file).st_mode):
            raise InputError(f"{file} is not a regular file")
        with open(file, "rb") as opened:
            data = opened.read(limit + 1)
    except (OSError, ValueError) as problem:
        raise InputError(f"{file} cannot be read: {reason(problem)}") from None
    if len(data) > limit:
        raise InputError(f"{file} is longer than the {limit} bytes that are read of a document with its files")
    return decode(data, file)


def text_of(file: str, read: Read | None, limit: int = CHARACTERS) -> tuple[str, str | None]:
    """Return the text of a file, from `read` or from disk, and a note or None. Raise InputError if there is no file."""
    if read is None:
        return document_text(file, limit)
    text = read(file)
    if text is None:
        raise InputError(f"there is no file {file}")
    if len(text) > limit:
        raise InputError(f"{file} is longer than the {limit} characters that are read of a document with its files")
    return text, None


# ------------------------------------------------------------------------------------------------------ following \input
class Inclusion(NamedTuple):
    """A macro that includes files.

    `endings` are the file endings to try. If `definitions` is true, only the definitions in the files are read. If
    `is_reported` is true, a note reports a missing file.
    """

    endings: tuple[str, ...]
    definitions: bool = False
    is_reported: bool = True


INPUT = Inclusion((".tex", ""))
PACKAGE = Inclusion((".sty",), definitions=True, is_reported=False)
CLASS = Inclusion((".cls",), definitions=True, is_reported=False)
INCLUSIONS = {
    "input": INPUT,
    "include": INPUT,
    "subfile": INPUT,
    "subfileinclude": INPUT,
    "import": INPUT,
    "subimport": INPUT,
    "InputIfFileExists": Inclusion((".tex", ""), is_reported=False),
    "usepackage": PACKAGE,
    "RequirePackage": PACKAGE,
    "documentclass": CLASS,
    "LoadClass": CLASS,
}
LISTED = (PACKAGE, CLASS)  # several names, with commas between them
FROM_A_FOLDER = ("import", "subimport")  # \import{folder/}{file}
READ_BY_TEX = (".tex", ".sty", ".cls", ".def", ".ltx")
PICTURES = (".pgf", ".tikz", ".pdf_tex", ".eps_tex", ".pstex_t", ".bbl", ".aux", ".toc")
SCANNED = re.compile(
    rf"""(?P<comment>%[^\n]*)
    |(?P<opaque>\\begin\{{(?P<kind>(?:{"|".join(OPAQUE)})\*?)\}})
    |(?P<verb>\\(?:verb|lstinline)\*?(?P<mark>[^A-Za-z\s*{{])[^\n]*?(?P=mark))
    |(?P<define>{DEFINING})
    |(?P<never>\\iffalse(?![A-Za-z]))
    |(?P<over>\\endinput(?![A-Za-z])|\\end\{{document\}})
    |\\(?P<include>{"|".join(INCLUSIONS)})(?![A-Za-z])
    |\\.""",
    re.VERBOSE | re.DOTALL,
)
OPTIONS = re.compile(r"\*?\s{0,200}(?:\[[^\]]{0,2000}\]\s{0,200})?")
BARE = re.compile(r"[^\s{}\\%$&#~\[\]]{1,300}")
CONDITION = re.compile(
    r"\\newif\s*\\[A-Za-z@]+|\\(?:(?P<opens>if(?!f(?![A-Za-z]))(?!thenelse)[A-Za-z@]*)|(?P<fi>fi)|(?P<other>else))(?![A-Za-z@])|\\.|%[^\n]*",
    re.DOTALL,
)


class NamedFile(NamedTuple):
    """A span that includes files, with the included file names as written."""

    span: Span
    inclusion: Inclusion
    names: list[str]


def stretches(text: str, definitions: bool = False) -> Iterator[Span | NamedFile]:
    r"""Yield the spans of a file that TeX reads, and the files that it includes.

    If `definitions` is true, yield only the spans of definitions, and the files.

    >>> list(stretches(r"a \iffalse b \fi c \input{d} e \endinput f"))[:2]
    [(0, 2), (16, 19)]
    """
    copied = position = 0
    closes = True  # whether another \iffalse may have an end; false after a search that did not find one
    while token := SCANNED.search(text, position):
        position = token.end()
        if token["opaque"]:
            position = opaque_end(text, token)
        elif token["define"]:
            position = definition_end(text, token) or position
            if definitions:
                yield token.start(), position
        elif token["over"]:
            break
        elif token["never"] or token["include"]:
            named = find_named_files(text, token) if token["include"] else None
            end = named.span[1] if named else find_skip_end(text, position) if token["never"] and closes else None
            if end is None:
                closes = closes and not token["never"]
                continue
            if not definitions:
                yield copied, token.start()
            if named:
                yield named
            copied = position = end
    if not definitions:
        yield copied, token.start() if token else len(text)


def find_skip_end(text: str, position: int) -> int | None:
    r"""Return the end of the text that an \iffalse skips, or None if no \fi or \else ends it."""
    depth = 0
    for token in CONDITION.finditer(text, position):
        if depth == 0 and (token["fi"] or token["other"]):
            return token.end()
        depth += bool(token["opens"]) - bool(token["fi"])
    return None


def find_named_files(text: str, token: re.Match) -> NamedFile | None:
    r"""Return the files that an inclusion such as \input{…} or \import{…}{…} names, or None if it names no file."""
    inclusion, options = INCLUSIONS[token["include"]], OPTIONS.match(text, token.end())
    start = options.end() if options else token.end()
    end = group_end(text, start) if text.startswith("{", start) else None
    if end is None:
        bare = BARE.match(text, start)
        if token["include"] != "input" or not bare or start == token.end():
            return None
        return NamedFile((token.start(), bare.end()), inclusion, [bare[0]])
    inside = re.sub(r"%[^\n]*\n?", "", text[start + 1 : end - 1])
    if token["include"] in FROM_A_FOLDER:
        second = group_end(text, end) if text.startswith("{", end) else None
        if second is None:
            return None
        inside, end = os.path.join(inside.strip(), text[end + 1 : second - 1].strip()), second
    names = inside.split(",") if inclusion in LISTED else [inside]
    return NamedFile((token.start(), end), inclusion, [name.strip().strip('"') for name in names])


class IncludedReading:
    """A reader that inserts the files that a document includes."""

    def __init__(self, file: str, text: str, chapter: str | None = None, read: Read | None = None):
        """Prepare to read a file, from `read` or from disk. If `chapter` is included, only record this."""
        self.chapter, self.chapter_found, self.given = chapter, False, read
        self.whole = Whole(file, text)
        self.folder = os.path.dirname(file)
        self.tree = os.path.realpath(self.folder or ".")
        self.packages: set[str] = set()
        self.files = 0
        self.left = CHARACTERS  # characters that may still be read
        self.places: dict[tuple[str, Inclusion, str], str | None] = {}  # the results of earlier searches

    def read(self, text: str, file: str, within: tuple[str, ...], definitions: bool = False) -> None:
        """Add a file, and insert the files that it includes. `within` lists the including files, to detect cycles."""
        self.left -= len(text)
        for stretch in stretches(text, definitions):
            if isinstance(stretch, NamedFile):
                for name in filter(None, stretch.names):
                    self.include(name, stretch.inclusion, FileLocation(file, text, stretch.span), within, definitions)
            else:
                self.whole.copy(*stretch, file, text)
                if definitions:
                    self.whole.write("\n", stretch[1], file, text)

    def include(
        self, name: str, inclusion: Inclusion, at: FileLocation, within: tuple[str, ...], definitions: bool = False
    ) -> None:
        asked = name, inclusion, os.path.dirname(at.file)
        if asked not in self.places:
            self.places[asked] = self.find(*asked)
        position = self.places[asked]
        if position is None or position.endswith(PICTURES):
            if inclusion.is_reported and not name.endswith(PICTURES):
                self.note(at, f"{name} is not here, so its formulas and macros are not read")
            return
        real = os.path.realpath(position)
        if real == self.chapter:
            self.chapter_found = True
            return
        if inclusion in LISTED and real in self.packages:
            return
        self.packages |= {real} if inclusion in LISTED else set()
        try:
            self.refuse(position, real, within)
            text, remark = text_of(position, self.given, self.left)
        except InputError as problem:
            self.note(at, f"not read: {problem}")
            return
        self.files += 1
        if remark:
            self.note(FileLocation(position, text, (0, 0)), remark)
        self.read(text, position, (*within, real), definitions or inclusion.definitions)
        self.whole.write("\n", len(text), position, text)

    def note(self, at: FileLocation, text: str) -> None:
        if len(self.whole.notes) < NOTES:
            self.whole.notes.append((at, text))

    def find(self, name: str, inclusion: Inclusion, beside: str) -> str | None:
        """Return the path of a file next to the document or to the file that includes it, or None if it is missing."""
        for folder in dict.fromkeys((self.folder, beside)):
            for ending in inclusion.endings:
                path = os.path.join(folder, name if name.endswith(ending) else name + ending)
                try:
                    if self.given is not None:
                        if self.given(path) is not None:
                            return path
                    elif os.path.exists(path) and not os.path.isdir(path):
                        return path
                except (OSError, ValueError):
                    return None
        return None

    def refuse(self, path: str, real: str, within: tuple[str, ...]) -> None:
        """Raise InputError if an existing file must not be read."""
        if real in within:
            raise InputError(f"{path} includes itself")
        if len(within) > DEPTH:
            raise InputError(f"files include each other more than {DEPTH} deep")
        if self.files >= FILES:
            raise InputError(f"the document has more than {FILES} files")
        if os.path.commonpath([self.tree, real]) != self.tree and not real.endswith(READ_BY_TEX):
            raise InputError(f"{path} is outside the document's folder and is not named like a TeX file")
