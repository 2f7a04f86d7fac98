"""The steps of an explanation as slides: one page that needs nothing else, a step at a time beside the list of all, by
keys or buttons, or played.

Where scripts do not run, and on paper, all steps are listed one below the other.
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
:root{color-scheme:light dark;--brand:light-dark(#0b6f92,#75d4fd);--on-brand:light-dark(#fff,#10222b);--panel:light-dark(#f5f7fa,#1c1e21);--line:light-dark(#dfe3e8,#33373c);--soft:light-dark(#59626c,#a5adb5)}
html{font-size:clamp(16px,.55rem + .75vw,30px)}
body{font:1.1rem/1.5 system-ui,sans-serif;margin:0 auto;max-width:76rem;padding:1.2rem 1.5rem;background:light-dark(#fff,#131416);color:light-dark(#1b1f23,#e8eaed)}
pre{font:1rem/1.6 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere;background:var(--panel);border:.06rem solid var(--line);border-radius:.5rem;padding:.8rem 1rem;margin:0 0 1rem}
mark{background:#fd08;color:inherit;border-radius:.2rem;outline:.15rem solid #fd08}
section{border-top:.1rem solid var(--line);padding:1rem 0;overflow-x:auto;min-width:0}
section h2{font-size:1rem;font-weight:400;color:var(--soft);margin:0 0 .6rem}
section .said{font-size:1.5rem;margin:0 0 .8rem}
nav,ol{display:none}
nav{gap:.5rem;align-items:center;margin:0 0 1rem;grid-column:1/-1}
nav output{color:var(--soft)}
nav button{font:inherit;padding:.3rem .9rem;border-radius:.5rem;border:.06rem solid var(--line);background:none;color:inherit}
nav button:disabled{opacity:.4}
nav .main{background:var(--brand);border-color:var(--brand);color:var(--on-brand);min-width:5rem}
ol{margin:0;padding:0;list-style:none;overflow-y:auto;max-height:calc(100vh - 6rem);font-size:.92rem}
ol a{display:flex;gap:.7rem;padding:.4rem .6rem;border-radius:.4rem;text-decoration:none;color:inherit}
ol a:hover{background:var(--panel)}
ol a[aria-current]{background:var(--panel);outline:.12rem solid var(--brand);outline-offset:-.12rem}
ol a>span:first-child{color:var(--soft);min-width:1.6em;text-align:right}
ol a>span:last-child{margin-left:auto;white-space:nowrap}
.stepping nav{display:flex}
.stepping section{display:none;border:0;padding:0}
.stepping section.shown{display:block}
@media screen and (min-width:60rem){.stepping{display:grid;grid-template-columns:minmax(0,2fr) minmax(0,3fr);gap:0 2rem;align-content:start}.stepping ol{display:block}}
@media print{.stepping section{display:block!important;break-inside:avoid;border-top:.1rem solid var(--line);padding:1rem 0}.stepping nav{display:none}}
"""
SCRIPT = """
const slides = [...document.querySelectorAll("section")];
const [back, play, next] = document.querySelectorAll("nav button");
const links = [...document.querySelectorAll("ol a")];
const PAUSE = 1800; // milliseconds that a step is shown while it plays
let timer = null;
const place = document.querySelector("nav output");
const wanted = () => Math.min(Math.max(Number.parseInt(location.hash.slice(1), 10) || 1, 1), slides.length);
function show() {
  const at = wanted();
  slides.forEach((slide, number) => slide.classList.toggle("shown", number + 1 === at));
  links.forEach((link, number) => (number + 1 === at ? link.setAttribute("aria-current", "step") : link.removeAttribute("aria-current")));
  links[at - 1]?.scrollIntoView({ block: "nearest" });
  place.textContent = `${at} of ${slides.length}`;
  back.disabled = at === 1;
  next.disabled = at === slides.length;
}
const go = (to) => { location.replace(`#${Math.min(Math.max(to, 1), slides.length)}`); show(); };
function stop() {
  clearInterval(timer);
  timer = null;
  play.textContent = "play";
}
function tick() {
  if (wanted() < slides.length) go(wanted() + 1);
  if (wanted() === slides.length) stop();
}
play.addEventListener("click", () => {
  if (timer) return stop();
  if (wanted() === slides.length) go(1);
  timer = setInterval(tick, PAUSE);
  play.textContent = "pause";
});
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
    contents = "".join(entry(number, step, tints) for number, step in enumerate(explanation, 1))
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
<nav aria-label="steps"><button type="button">← back</button><button type="button" class="main">play</button><button type="button">next →</button><output></output></nav>
<ol aria-label="all steps">{contents}</ol>
{steps}
<script>{SCRIPT}</script>
</body>
</html>
"""


def entry(number: int, step: Any, tints: Mapping[str, Tint]) -> str:
    """A step in the list of all steps."""
    piece, type = html_piece(step.node, step.text, tints), html_type(step.axes, tints)
    return f'<li><a href="#{number}"><span>{number}</span><span>{piece}</span><span>{type}</span></a></li>'


def slide(number: int, step: Any, explanation: Any, tints: Mapping[str, Tint]) -> str:
    """One step: where it appears in the formula, what it says, its type and its value."""
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
