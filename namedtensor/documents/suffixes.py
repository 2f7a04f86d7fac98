"""The file suffixes of each type of document."""

from __future__ import annotations

import os

TEX = (".tex",)
MARKDOWN = (".md", ".markdown", ".qmd", ".rmd", ".mdx")
RESTRUCTURED_TEXT = (".rst",)
NOTEBOOK = (".ipynb",)
HTML = (".html", ".htm")
PYTHON = (".py",)
DOCUMENTS = (*TEX, *MARKDOWN, *RESTRUCTURED_TEXT, *NOTEBOOK, *HTML)
EXPECTED = ".tex, .md, .rst, .ipynb, .html or .py"  # as messages list them


def suffix_of(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a path in lowercase, such as `.md` for README.MD."""
    return os.path.splitext(path)[1].lower()
