"""A Sphinx extension that typesets formulas in the browser with the copy of KaTeX in `_static/katex`, without Node or a network.

Axes have the classes of `namedtensor.display.colors`, so that a dark page shows them in their second form.
"""

from __future__ import annotations

import html
import re
from pathlib import Path


def bare(latex: str) -> str:
    r"""
    Return a formula without its delimiters.

    >>> bare(r"\[x + 1\]"), bare("$x$")
    ('x + 1', 'x')
    """
    text = latex.strip()
    for opening, closing in ((r"\[", r"\]"), ("$$", "$$"), ("$", "$")):
        if text.startswith(opening) and text.endswith(closing) and len(text) >= len(opening) + len(closing):
            text = text[len(opening) : len(text) - len(closing)]
            break
    return re.sub(r"^\\displaystyle\s*", "", text.strip())


def inline(self, node):
    from docutils import nodes

    self.body.append(f'<span class="latex">{html.escape(bare(node.astext()))}</span>')
    raise nodes.SkipNode


def block(self, node):
    from docutils import nodes

    self.body.append(f'<div class="formula latex">{html.escape(bare(node.astext()))}</div>')
    raise nodes.SkipNode


def write_colors(app):
    """Write the axis colors as a style sheet."""
    from namedtensor.display.colors import axis_rules

    if app.builder.format == "html":
        folder = Path(app.outdir) / "_static"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "axes.css").write_text(axis_rules(), encoding="utf-8")


def setup(app):
    app.add_html_math_renderer("katex", (inline, None), (block, None))
    for style in ("katex/katex.min.css", "axes.css"):
        app.add_css_file(style)
    for script in ("katex/katex.min.js", "katex/typeset.js"):
        app.add_js_file(script, loading_method="defer")
    app.connect("builder-inited", write_colors)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
