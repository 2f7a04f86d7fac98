"""Pages in HTML: the headings and the maths that a browser sets, at their places in the file."""

import re

import pytest

from namedtensor.cli.commands import main
from namedtensor.documents.hypertext import whole_hypertext
from namedtensor.documents.maths import find


def formulas_of(page):
    document = find(whole_hypertext(page, "a.html").text)
    return [document.source[slice(*formula[:2])] for section in document.sections for formula in section.maths]


@pytest.mark.parametrize(("page", "maths"), [
    (r"<p>Let \(a &lt; b\) and \[c &amp;= d &#62; &#x3c;\].</p>", [r"\(a < b\)", r"\[c &= d > <\]"]),
    ("$$a$$ costs $5, not $6", ["$$a$$"]), (r"\begin{align} a &amp;= b \\ c \end{align}", [r"\begin{align} a &= b \\ c \end{align}"]),
    (r"\(a <b>\text{x}</b><br/> + 1\)", [r"\(a \text{x} + 1\)"]), (r"\(a < b, b > c\)", [r"\(a < b, b > c\)"]),
    (r"<script>\(a\)</script><STYLE>\(b\)</STYLE><pre>\(c\)</pre><code class='x'>\(d\)</code>\(e\)", [r"\(e\)"]),
    (r"<!-- \(a\) --> \\(b\\) \(c\)", [r"\(c\)"]), (r"<script> never closed \(a\)", [r"\(a\)"]), (r"\(a <p> never closed", []),
    (r"\(\newcommand{\x}{y}\) \newcommand{\z}{1} \(\z\)", [r"\(\newcommand{\x}{y}\)", r"\(\z\)"]), ("", []), ("&lt;", []),
])  # fmt: skip
def test_maths_is_what_a_browser_sets(page, maths):
    assert formulas_of(page) == maths


def test_headings_are_sections_and_deeper_ones_are_not():
    page = "<h1 id='a'><span>1</span> One</h1>\n<h3>Deeper</h3><H2>Two &\n lines</H2>"
    assert [section.title for section in find(whole_hypertext(page, "a.html").text).sections] == [
        "",
        "1 One",
        "Two & lines",
    ]


PAGE = r"""<!DOCTYPE html><html><head><title>\(a\)</title></head><body>
<h1>Attention &amp; more</h1>
<!-- namedtensor: Q ∈ ℝ^{key}; K ∈ ℝ^{seq × key} -->
<p>A sum: \[\begin{aligned} S &amp;= Q \ndot{\name{key}} K \\ T &amp;= \nsum{\name{val}} S \end{aligned}\]</p>
<p>\(\nsum{\name{seq}} S = \langle 0 &gt; 1 \rangle\)</p>
</body></html>
"""


def test_findings_have_their_place(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.html").write_text(PAGE, encoding="utf-8")
    assert main(["check", "a.html"]) == 1
    printed = capsys.readouterr().out
    line, column = next(
        (at, row.index(r"\name{val}") + 1) for at, row in enumerate(PAGE.splitlines(), 1) if "val" in row
    )
    assert f"a.html:{line}:{column}: error 301: ∑_{{val}} needs axis val, missing from S" in printed
    assert re.search(rf"a\.html:{line + 1}:\d+: not checked 111", printed)
    assert printed.endswith("1 formula in 1 section: 1 error, 0 warnings\n")


def test_an_axis_that_running_text_speaks_of_is_not_blamed(tmp_path, capsys):
    (tmp_path / "a.html").write_text(
        r"\[Y = \nsum{\mathsf{ax}} X\] where \(\ensuremath{\mathsf{\vphantom{fg}ax}}[I] \in \mathcal{S}\)",
        encoding="utf-8",
    )
    assert main(["check", str(tmp_path / "a.html")]) == 0 and "0 errors" in capsys.readouterr().out
