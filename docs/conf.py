"""The Sphinx configuration. The build runs the pages' code with this checkout."""

import sys
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_extensions"), str(HERE)]

project = "namedtensor"
author = "the namedtensor authors"
copyright = "the namedtensor authors"
version = release = "0.1.0"

extensions = ["myst_parser", "sphinx.ext.autodoc", "generated", "executed", "exercise_boxes", "mathematics", "links"]
html_math_renderer = "katex"
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_static"]
html_theme = "furo"
html_title = "namedtensor"
html_static_path = ["_static"]
html_css_files = ["docs.css"]
html_show_sphinx = False
html_copy_source = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_mock_imports = [name for name in ("torch",) if find_spec(name) is None]
nitpicky = False

# If `node web/build.mjs --whole` has built the playground, each formula has a link that opens it there.
playground = str(HERE.parent / "playground.html") if (HERE.parent / "playground.html").exists() else ""
html_extra_path = ["llms.txt", "llms-full.txt", *([playground] if playground else [])]


def setup(app):
    """Highlight `namedtensor` blocks with this checkout's lexer, installed or not."""
    from namedtensor.display.pygments_lexer import NamedTensorLexer

    app.add_lexer("namedtensor", NamedTensorLexer)
