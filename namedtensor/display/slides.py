"""Slides of the steps of an explanation, as one standalone page.

The page shows one step at a time, beside a list of all steps. Keys, buttons or a timer change the step. Without
scripts, and in print, the page lists all steps.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from grammar.errors import printable

from .colors import Tint
from .html import html_piece, html_type, style


def text_of(name: str) -> str:
    """Return the content of a file beside this module, preceded by a line break."""
    return "\n" + (files(__name__.rpartition(".")[0]) / name).read_text(encoding="utf-8")


def slides(explanation: Any, tints: Mapping[str, Tint]) -> str:
    """Return the HTML page of an explanation, which includes `slides.css` and `slides.js`."""
    script = text_of("slides.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    steps = "\n".join(slide(number, step, explanation, tints) for number, step in enumerate(explanation, 1))
    contents = "".join(entry(number, step, tints) for number, step in enumerate(explanation, 1))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{len(explanation)} steps</title>
<style>{text_of("slides.css")}</style>{style()}
</head>
<body>
<nav aria-label="steps"><button type="button">← back</button><button type="button" class="main">play</button><button type="button">next →</button><output></output></nav>
<ol aria-label="all steps">{contents}</ol>
{steps}
<script>{script}</script>
</body>
</html>
"""


def entry(number: int, step: Any, tints: Mapping[str, Tint]) -> str:
    """Return the entry for a step in the list of all steps."""
    piece, type = html_piece(step.node, step.text, tints), html_type(step.axes, tints)
    return f'<li><a href="#{number}"><span>{number}</span><span>{piece}</span><span>{type}</span></a></li>'


def slide(number: int, step: Any, explanation: Any, tints: Mapping[str, Tint]) -> str:
    """Return the slide of one step, with its place in the formula, its text, its type and its value."""
    where = " › ".join(map(html.escape, step.inside))
    heading = f"step {number} of {len(explanation)}" + (f", in {where}" if where else "")
    return (
        f"<section><h2>{heading}</h2><pre>{mark_piece(explanation.source, step.node)}</pre>"
        f'<p class="said">{html_piece(step.node, step.text, tints)} : {html_type(step.axes, tints)}</p>{step.value._repr_html_()}</section>'
    )


def mark_piece(source: str, node: Any) -> str:
    """Return the source of a formula as HTML, with the piece of a node highlighted."""
    start, end = getattr(node, "span", (0, 0))
    before, piece, after = (plain(part) for part in (source[:start], source[start:end], source[end:]))
    return f"{before}<mark>{piece}</mark>{after}" if piece else before + after


def plain(text: str) -> str:
    return html.escape("\n".join(map(printable, text.split("\n"))))
