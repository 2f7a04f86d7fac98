"""The steps of an explanation as slides: one page that needs nothing else, a step at a time, by keys or buttons.

Where scripts do not run, and on paper, all steps stand one below the other.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Mapping
from typing import Any

from grammar.errors import printable

from .colors import Tint
from .html import html_piece, html_type, style

LOOK = """
:root{color-scheme:light dark}
html{font-size:clamp(16px,.55rem + .75vw,30px)}
body{font:1.15rem/1.5 system-ui,sans-serif;margin:0 auto;max-width:62rem;padding:1.5rem}
pre{font:1rem/1.6 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere;background:#8882;border-radius:.4rem;padding:.8rem 1rem;margin:0 0 1rem}
mark{background:#fd08;color:inherit;border-radius:.2rem;outline:.15rem solid #fd08}
section{border-top:.1rem solid #8884;padding:1rem 0;overflow-x:auto}
section h2{font-size:1rem;font-weight:400;margin:0 0 .6rem}
section .said{font-size:1.5rem;margin:0 0 .8rem}
nav{display:none;gap:.6rem;align-items:center;margin:0 0 1rem}
nav button{font:inherit;padding:.35rem .9rem}
.stepping nav{display:flex}
.stepping section{display:none}
.stepping section.shown{display:block}
@media print{.stepping section{display:block!important;break-inside:avoid}.stepping nav{display:none}}
"""
SCRIPT = """
const slides = [...document.querySelectorAll("section")];
const [back, next] = document.querySelectorAll("nav button");
const place = document.querySelector("nav output");
const wanted = () => Math.min(Math.max(Number.parseInt(location.hash.slice(1), 10) || 1, 1), slides.length);
function show() {
  const at = wanted();
  slides.forEach((slide, number) => slide.classList.toggle("shown", number + 1 === at));
  place.textContent = `${at} of ${slides.length}`;
  back.disabled = at === 1;
  next.disabled = at === slides.length;
}
const go = (to) => { location.replace(`#${Math.min(Math.max(to, 1), slides.length)}`); show(); };
const KEYS = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, n: 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1, p: -1 };
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || (event.key === " " && event.target.tagName === "BUTTON")) return;
  const to = event.key === "Home" ? 1 : event.key === "End" ? slides.length : KEYS[event.key] ? wanted() + KEYS[event.key] : 0;
  if (to) { event.preventDefault(); go(to); }
});
back.addEventListener("click", () => go(wanted() - 1));
next.addEventListener("click", () => go(wanted() + 1));
addEventListener("hashchange", show);
document.body.classList.add("stepping");
show();
"""


def slides(explanation: Any, tints: Mapping[str, Tint]) -> str:
    """The whole page."""
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    steps = "\n".join(slide(number, step, explanation, tints) for number, step in enumerate(explanation, 1))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{len(explanation)} steps</title>
<style>{LOOK}</style>{style()}
</head>
<body>
<nav aria-label="steps"><button type="button">← back</button><button type="button">next →</button><output></output></nav>
{steps}
<script>{SCRIPT}</script>
</body>
</html>
"""


def slide(number: int, step: Any, explanation: Any, tints: Mapping[str, Tint]) -> str:
    """One step: where it stands in the formula, what it says, its type and its value."""
    where = " › ".join(map(html.escape, step.inside))
    heading = f"step {number} of {len(explanation)}" + (f", in {where}" if where else "")
    return (
        f"<section><h2>{heading}</h2><pre>{marked(explanation.source, step.node)}</pre>"
        f'<p class="said">{html_piece(step.node, step.text, tints)} : {html_type(step.axes, tints)}</p>{step.value._repr_html_()}</section>'
    )


def marked(source: str, node: Any) -> str:
    """The formula with one piece of it marked."""
    start, end = getattr(node, "span", (0, 0))
    before, piece, after = (plain(part) for part in (source[:start], source[start:end], source[end:]))
    return f"{before}<mark>{piece}</mark>{after}" if piece else before + after


def plain(text: str) -> str:
    return html.escape("\n".join(map(printable, text.split("\n"))))
