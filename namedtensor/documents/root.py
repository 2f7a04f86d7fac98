r"""The root of a chapter, that is, the document that includes the chapter and defines its macros.

The line `% !TEX root = paper.tex` names the root. Otherwise, the root is a file with `\documentclass` that includes the
chapter, directly or through other files. This file is in the folder of the chapter or in the parent folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ..files.text import InputError
from .included_files import FileLocation, IncludedReading, Read, Whole, text_of, whole_document

NAMED = re.compile(r"^%+\s*!\s*TEX\s+root\s*=\s*(\S[^\n]*)", re.MULTILINE | re.IGNORECASE)
CLASS = re.compile(r"^[^%\n]*\\documentclass", re.MULTILINE)
FILES = 60  # the limit on files of a folder that are searched


def whole_chapter(text: str, file: str, read: Read | None = None) -> Whole:
    """Return a document with all files that it includes. If it is a chapter, the macros of its root precede it."""
    whole = whole_document(text, file, read)
    if CLASS.search(text):
        return whole
    for root in roots(text, file):
        macros = macros_of(root, file, read)
        if macros is not None:
            chapter = Whole(file, text)
            chapter.besides = frozenset(macros.files)
            chapter.notes.append(
                (FileLocation(file, text, (0, 0)), f"read with the macros of {root}, which includes it")
            )
            macros.notes.clear()
            chapter.add(macros)
            chapter.add(whole)
            return chapter
    return whole


def roots(text: str, file: str) -> Iterator[str]:
    """Yield the files that could be the root of a chapter."""
    folder = os.path.dirname(file)
    if named := NAMED.search(text[:5000]):
        yield os.path.normpath(os.path.join(folder, named[1].strip()))
    for path in (folder, os.path.normpath(os.path.join(folder, os.pardir))):
        try:
            names = sorted(os.listdir(path or "."))
        except OSError:
            continue
        for name in [other for other in names if other.endswith(".tex")][:FILES]:
            candidate = os.path.join(path, name)
            if os.path.realpath(candidate) != os.path.realpath(file):
                yield candidate


def macros_of(root: str, file: str, read: Read | None = None) -> Whole | None:
    """Return the definitions in a root and in the files that it includes, or None if it does not include `file`.

    Also return None if the root cannot be read or does not contain `\\documentclass`.
    """
    try:
        text, _ = text_of(root, read)
    except InputError:
        return None
    if not CLASS.search(text):
        return None
    reading = IncludedReading(root, text, chapter=os.path.realpath(file), read=read)
    reading.read(text, root, (os.path.realpath(root),), definitions=True)
    return reading.whole if reading.chapter_found else None
