"""The page of a check: every formula, its types as titles, each finding under its formula, nothing from elsewhere."""

import re
from html.parser import HTMLParser

import pytest

from grammar.parser import parse
from grammar.printer.runs import to_runs
from namedtensor.cli.commands import main
from namedtensor.documents.page import write_typed_runs

PAPER = r"""
\section{One & <two>}
Let $X \in \mathbb{R}^{\name{seq} \times \name{chans}}$ and $W^1 \in \mathbb{R}^{\name{chans} \times \name{hidden}}$.
\[ Y = X \ndot{\name{chans}} W^1 \]
\[ Z = \nsum{\name{key}} Y \]
\[ V = \nsum{\name{seq}} \langle Y \rangle \]
% <script>alert(1)</script>
\section{Two}
\[ U = X + \nsum{\name{seq}} W^1 \text{"<b>} \]
"""
VOID = {"meta", "br"}


class Page(HTMLParser):
    """The elements of a page, which must be balanced: titles, texts of findings, marks."""

    def __init__(self, text):
        super().__init__()
        self.open, self.titles, self.marks, self.findings, self.links = [], [], [], [], []
        self.ids: set[str] = set()
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        inputs = dict(attrs)
        assert tag not in ("script", "link", "img", "iframe", "object") and not {"src", "style"} & inputs.keys()
        assert not any(name.startswith("on") for name in inputs)
        self.titles += [inputs["title"]] if "title" in inputs else []
        self.links += [inputs["href"]] if "href" in inputs else []
        self.ids |= {inputs["id"]} if "id" in inputs else set()
        if tag not in VOID:
            self.open.append((tag, inputs.get("class", "")))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open and self.open[-1][0] == "mark":
            self.marks.append(data)
        if self.open and self.open[-1][0] == "p" and self.open[-1][1] in ("error", "warning", "not"):
            self.findings.append(data)


@pytest.fixture
def page(tmp_path, capsys):
    paper = tmp_path / "paper.tex"
    paper.write_text(PAPER)
    assert main(["check", str(paper), "--format", "html", "--all"]) == 1
    return capsys.readouterr().out


def test_the_page_needs_nothing_from_elsewhere(page):
    assert not re.search(r"https?:|@import|url\(|<script", page)
    assert all(link.startswith("#") and link[1:] in Page(page).ids for link in Page(page).links)


def test_types_are_where_the_pointer_rests(page):
    titles = Page(page).titles
    assert "X : ℝ^{seq × chans}" in titles and "W^1 : ℝ^{chans × hidden}" in titles and "Y : ℝ^{seq × hidden}" in titles


def test_findings_are_marked_in_their_source(page):
    result = Page(page)
    assert r"\name{key}" in result.marks and any("error 301" in title for title in result.titles)
    assert any("paper.tex:5:" in text and "error 301" in text for text in result.findings)


def test_what_a_document_says_is_no_markup(page):
    assert "<b>" not in page.replace("&lt;b&gt;", "") and "One &amp; &lt;two&gt;" in page


# a formula, and the names in it that get a title
HOVERED = {
    "Y = X + W^1": ["Y", "X", "W^1"],
    "scores = softmax_{seq}(W^{l,Q} ⊙_{key} X_1)": ["scores", "W^{l,Q}", "X_1"],
    "f(X) = √X": ["X", "X"],
    "Y_{seq(i)} = X_{seq→key}": ["Y", "X"],
    "Y = (X - W^1)^2": ["Y", "X", "W^1"],
    "(∂Y)/(∂X†)": ["Y", "X"],
}
TYPES = {"Y", "X", "W^1", "scores", "W^{l,Q}", "X_1"}


@pytest.mark.parametrize("formula", HOVERED)
def test_each_name_with_a_type_has_it_as_its_title(formula):
    types = {name.translate(str.maketrans("", "", "{} ")): name for name in TYPES}
    shown = write_typed_runs(to_runs(parse(formula).statements[0]), types, {})
    assert re.findall(r'title="([^"]*)"', shown) == HOVERED[formula]


def test_the_page_is_written_beside_the_text(tmp_path, capsys):
    paper, page = tmp_path / "paper.tex", tmp_path / "out.html"
    paper.write_text(PAPER)
    assert main(["check", str(paper), "--page", str(page)]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("4 formulas in 1 section")
    assert Page(page.read_text("utf-8")).findings
    assert main(["check", str(paper), "--page", str(tmp_path / "no" / "out.html")]) == 2
    assert main(["check", "x + 1", "--format", "html"]) == 2


def test_each_rule_of_a_dark_page_finds_what_it_is_about(page):
    """A page is dark by what is said of its body: a rule about the body itself, or of which only the first selector has the
    condition, would leave light colors on a light page."""
    rules = re.findall(
        r"([^{}]+)\{[^{}]*\}",
        page[page.index("prefers-color-scheme:dark", page.rindex("<style>")) :].partition("</style>")[0],
    )
    selectors = [rule.strip() for rule in rules if "nt-report" in rule]
    assert len(selectors) > 4 and not [
        selector for selector in selectors if "," in selector or selector.count("body") != 1
    ]
    classes = set(re.findall(r'class="(nt-report)"', page))
    assert classes == {"nt-report"} and '<main class="nt-report">' in page


def test_findings_are_listed_in_the_order_of_the_document(page):
    listed = [
        tuple(map(int, result)) for result in re.findall(r'<li class="\w+"><a[^>]*>[^<]*?paper\.tex:(\d+):(\d+):', page)
    ]
    assert len(listed) > 2 and listed == sorted(listed)
