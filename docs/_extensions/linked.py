"""Links from symbols and error codes in literal text to the paragraphs that explain them."""

from __future__ import annotations

import html
import re
from functools import cache
from urllib.parse import quote

from operators_page import records

CONSTRUCTS = {  # symbols that are not operators, and the page and the row that explain each
    "→": ("reference_syntax", "A_{height→rows}"),
    "√": ("reference_syntax", "√A"),
    "𝕀": ("reference_syntax", "𝕀[A > x ∧ A ≠ 9]"),
    "∂": ("reference_derivatives", "∂(exp x)/∂x*"),
}
OPERATORS = "reference_functions"  # the page with one row per operator
WORD = re.compile(r"[^\W\d_]\w*|[^\w\s]")
SCRIPTS = re.compile(r"([_^]\{[^{}]*\}|\[[^\[\]]*\])")  # where words are axes, sizes or positions
HEAD = re.compile(r"[^=:∈]*(?=[=:∈])")
ERROR = re.compile(r"(error (\d{3}))(?=:)")
OF_PROSE = {"=", "-", "−", "<", ">", "/", "^", "+"}  # symbols that need no explanation


@cache
def addresses() -> dict[str, str]:
    """Return the address of each symbol and of each operator name that is longer than a letter."""
    result = {sign: address(page, row) for sign, (page, row) in CONSTRUCTS.items()}
    for record in records():
        for name in (record.name, *record.aliases):
            if name not in OF_PROSE and (len(name) > 1 or not name.isascii()):
                result[name] = address(OPERATORS, record.name)
    return result


def address(page: str, row: str) -> str:
    """Return the address of a row, such as `reference_functions.html#sign-softmax`."""
    return f"{page}.html#{quote(anchor(row))}"


def anchor(text: str) -> str:
    """Return the anchor of a row in the reference, such as `sign-softmax` or `sign-A-⊙_{height}-x`."""
    return "sign-" + text.replace(" ", "-")


def signs(text: str, root: str = "") -> str:
    """Return a formula as HTML for a page below the site's root, without links for the names that it defines.

    >>> signs("exp x")
    '<a class="sign" href="reference_functions.html#sign-exp">exp</a> x'
    """
    known = addresses()
    words = {word for line in text.splitlines() for word in re.findall(r"\w+", (HEAD.match(line) or [""])[0])}

    def link(match: re.Match[str], scripts: bool) -> str:
        word = match[0]
        if word not in known or word in words or (scripts and word[0].isalpha()):
            return html.escape(word, quote=False)
        return f'<a class="sign" href="{root}{known[word]}">{html.escape(word)}</a>'

    parts = SCRIPTS.split(text)
    return "".join(
        WORD.sub(lambda match, scripts=bool(number % 2): link(match, scripts), part)
        for number, part in enumerate(parts)
    )


def errors(text: str, root: str = "") -> str:
    """Return printed text as HTML for a page below the site's root, with a link from each error code to its section.

    >>> errors("shape error 301: <a>")
    'shape <a href="errors.html#error-301">error 301</a>: &lt;a&gt;'
    """
    return ERROR.sub(rf'<a href="{root}errors.html#error-\2">\1</a>', html.escape(text, quote=False))
