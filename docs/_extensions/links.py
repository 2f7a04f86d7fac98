"""Check of the links between pages and paragraphs. The build warns of each broken link.

Sphinx sees to the links that it makes; these are all, with those of HTML that our directives write.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

LINK = re.compile(r"""<(?:a|img|script|link)\b[^>]*?\b(?:href|src)="([^"]*)\"""")
ANCHOR = re.compile(r"""\b(?:id|name)="([^"]+)\"""")
LARGEST = 4_000_000  # bytes; a larger file is the playground, which interprets the fragment itself


def dangling(root: Path) -> Iterator[tuple[str, str]]:
    """Yield each broken link, with its page."""
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.html")) if is_page(path)}
    anchors = {path: set(map(html.unescape, ANCHOR.findall(text))) for path, text in pages.items()}
    for path, text in pages.items():
        for link in dict.fromkeys(map(html.unescape, LINK.findall(text))):
            if re.match(r"[a-z]+:", link):
                continue
            position, _, anchor = link.partition("#")
            target = (path.parent / unquote(position.partition("?")[0])).resolve() if position else path.resolve()
            if not target.exists() or (anchor and target in anchors and unquote(anchor) not in anchors[target]):
                yield str(path.relative_to(root)), link


def is_page(path: Path) -> bool:
    return "_static" not in path.parts and path.stat().st_size < LARGEST


def checked(app, problem):
    from sphinx.util import logging

    if problem is None and app.builder.name == "html":
        for page, link in dangling(Path(app.outdir).resolve()):
            logging.getLogger(__name__).warning("%s links to %s, which is not there", page, link[:100])


def setup(app):
    app.connect("build-finished", checked)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
