"""Sphinx: formulas typeset while the pages are built, by KaTeX under node, so that a page needs neither a script nor a network.

KaTeX is found in `node_modules` of a folder in NODE_PATH, or in `web/node_modules` (`npm install --prefix web katex`). Axes have the
classes of `namedtensor.display.colors`, so that a dark page shows them in their second form.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from sphinx.errors import ExtensionError

ROOT = Path(__file__).parents[2]
PROGRAM = """
const katex = require("katex");
const allowed = ({command}) => command === "\\\\htmlClass";
require("readline").createInterface({input: process.stdin}).on("line", line => {
  const {latex, display} = JSON.parse(line);
  let html = null, error = null;
  try { html = katex.renderToString(latex, {displayMode: display, trust: allowed, strict: false, output: "htmlAndMathml"}); }
  catch (problem) { error = String(problem.message); }
  process.stdout.write(JSON.stringify({html, error}) + "\\n");
});
"""
MISSING = "the pages typeset their formulas by KaTeX under node: install node, then `npm install --prefix web katex`"


def module_folders() -> Iterator[Path]:
    for folder in os.environ.get("NODE_PATH", "").split(os.pathsep):
        if folder:
            yield Path(folder)
    yield ROOT / "web" / "node_modules"


def katex_folder() -> Path:
    for folder in module_folders():
        if (folder / "katex" / "dist").is_dir():
            return folder / "katex"
    raise ExtensionError(MISSING)


class Typesetter:
    """One process of node that typesets a formula a line; it starts with the first."""

    def __init__(self):
        self.process: subprocess.Popen | None = None
        self.known: dict[tuple[str, bool], str] = {}

    def __call__(self, latex: str, display: bool) -> str:
        key = latex, display
        if key not in self.known:
            self.known[key] = self._asked(latex, display)
        return self.known[key]

    def _asked(self, latex: str, display: bool) -> str:
        if self.process is None:
            if shutil.which("node") is None:
                raise ExtensionError(MISSING)
            self.process = subprocess.Popen(
                ["node", "-e", PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env=os.environ | {"NODE_PATH": str(katex_folder().parent)},
            )
        self.process.stdin.write(json.dumps({"latex": latex, "display": display}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if answer["error"]:
            raise ExtensionError(f"KaTeX cannot typeset {latex!r}: {answer['error']}")
        return answer["html"]

    def stop(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process = None


typeset = Typesetter()


def bare(latex: str) -> str:
    """What stands between the dollars or brackets of a formula.

    >>> bare(r"\\[x + 1\\]"), bare("$x$")
    ('x + 1', 'x')
    """
    found = latex.strip()
    for opening, closing in ((r"\[", r"\]"), ("$$", "$$"), ("$", "$")):
        if found.startswith(opening) and found.endswith(closing) and len(found) >= len(opening) + len(closing):
            found = found[len(opening) : len(found) - len(closing)]
            break
    return re.sub(r"^\\displaystyle\s*", "", found.strip())


def inline(self, node):
    from docutils import nodes

    self.body.append(typeset(bare(node.astext()), False))
    raise nodes.SkipNode


def block(self, node):
    from docutils import nodes

    self.body.append(f'<div class="formula">{typeset(bare(node.astext()), True)}</div>')
    raise nodes.SkipNode


def write_style(app):
    """The style of formulas, with KaTeX's fonts in the one format that every browser reads, and the colors of axes."""
    from namedtensor.display.colors import axis_rules

    if app.builder.format != "html":
        return
    source, target = katex_folder() / "dist", Path(app.outdir) / "_static" / "formulas"
    (target / "fonts").mkdir(parents=True, exist_ok=True)
    style = (source / "katex.min.css").read_text(encoding="utf-8")
    style = re.sub(r',url\(fonts/[^)]*\.(?:woff|ttf)\) format\("(?:woff|truetype)"\)', "", style)
    (target / "formulas.css").write_text(style + axis_rules(), encoding="utf-8")
    for font in (source / "fonts").glob("*.woff2"):
        shutil.copy(font, target / "fonts" / font.name)


def stop(app, error):
    typeset.stop()


def setup(app):
    app.add_html_math_renderer("katex", (inline, None), (block, None))
    app.add_css_file("formulas/formulas.css")
    app.connect("builder-inited", write_style)
    app.connect("build-finished", stop)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": False}
