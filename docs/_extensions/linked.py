"""Text that is shown as it is written, its signs and the numbers of its errors linked to the paragraphs that explain them."""

from __future__ import annotations

import html
import re
from functools import cache
from urllib.parse import quote

from operators_page import records

CONSTRUCTS = {  # signs of the language that are no operators, and the row of the language's page that has them
    "→": "A_{height→rows}", "∂": "∂(exp x)/∂x*", "√": "√A", "𝕀": "𝕀[A > x ∧ A ≠ 9]",
}  # fmt: skip
WORD = re.compile(r"[^\W\d_]\w*|[^\w\s]")
SCRIPTS = re.compile(r"([_^]\{[^{}]*\}|\[[^\[\]]*\])")  # where words are axes, sizes, places
HEAD = re.compile(r"[^=:∈]*(?=[=:∈])")
ERROR = re.compile(r"(error (\d{3}))(?=:)")
OF_PROSE = {"=", "-", "−", "<", ">", "/", "^", "+"}  # signs that everyone knows


@cache
def paragraphs() -> dict[str, str]:
    """The anchor of each sign, and of each word of more than a letter that is an operator's name."""
    result = {sign: anchor(row) for sign, row in CONSTRUCTS.items()}
    for record in records():
        for name in (record.name, *record.aliases):
            if name not in OF_PROSE and (len(name) > 1 or not name.isascii()):
                result[name] = anchor(record.name)
    return result


def anchor(text: str) -> str:
    """The anchor of the row of a function or construct: `sign-softmax`, `sign-A-⊙_{height}-x`."""
    return "sign-" + text.replace(" ", "-")


def signs(text: str, root: str = "") -> str:
    """The HTML of a formula, from a page below the root of the site; what it defines itself is none of the language.

    >>> signs("exp x")
    '<a class="sign" href="reference.html#sign-exp">exp</a> x'
    """
    known = paragraphs()
    words = {word for line in text.splitlines() for word in re.findall(r"\w+", (HEAD.match(line) or [""])[0])}

    def link(match: re.Match[str], scripts: bool) -> str:
        word = match[0]
        if word not in known or word in words or (scripts and word[0].isalpha()):
            return html.escape(word, quote=False)
        return f'<a class="sign" href="{root}reference.html#{quote(known[word])}">{html.escape(word)}</a>'

    parts = SCRIPTS.split(text)
    return "".join(
        WORD.sub(lambda match, scripts=bool(number % 2): link(match, scripts), part)
        for number, part in enumerate(parts)
    )


def errors(text: str, root: str = "") -> str:
    """The HTML of what is printed: the number of each error leads to its section, from a page below the root of the site.

    >>> errors("shape error 301: <a>")
    'shape <a href="errors.html#error-301">error 301</a>: &lt;a&gt;'
    """
    return ERROR.sub(rf'<a href="{root}errors.html#error-\2">\1</a>', html.escape(text, quote=False))
