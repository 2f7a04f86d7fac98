"""The steps of an explanation as a page by itself."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

import namedtensor as nt

X = nt.tensor([[1.0, 2.0], [3.0, 4.0]], "a b")


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.attributes, self.open = [], [], []

    def handle_starttag(self, tag, attributes):
        self.found.append(tag)
        self.attributes += [(name, value or "") for name, value in attributes]


@pytest.mark.parametrize(
    ("text", "steps"),
    [("∑_{a} X", 2), ("f(x) = 2 x\nf(X) + 1", 5), ("𝕀[X < 2] X", 4)],
)
def test_there_is_a_slide_for_each_step_with_its_piece_marked(text, steps, tmp_path):
    explained = nt.explain(text, X=X)
    explained.save(tmp_path / "steps.html")
    page = (tmp_path / "steps.html").read_text(encoding="utf-8")
    sections = re.findall(r"<section>.*?</section>", page, re.DOTALL)
    assert len(sections) == len(explained) >= steps - 1
    for section, step in zip(sections, explained):
        marked = re.search(r"<mark>(.*?)</mark>", section, re.DOTALL)[1]
        assert marked.replace("&lt;", "<").replace("&amp;", "&") == text[slice(*step.node.span)]
        assert step.value._repr_html_() in section


def test_the_page_needs_nothing_and_runs_its_own_script_alone():
    page = nt.explain("∑_{a} X", X=X).to_html()
    tags = Tags()
    tags.feed(page)
    assert tags.found.count("script") == 1 and not {"link", "img", "iframe"} & set(tags.found)
    assert not [name for name, _ in tags.attributes if name == "src" or name.startswith("on")]
    assert [value for name, value in tags.attributes if name == "href"] == ["#1", "#2"]  # the list of all steps
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page and "default-src 'none'" in page


def test_a_hostile_name_is_text():
    page = nt.explain("∑_{a} X  # <script>alert(1)</script>", X=X).to_html()
    assert "<script>alert" not in page and "&lt;script&gt;" in page


def test_a_place_that_cannot_be_written_is_told(tmp_path):
    with pytest.raises(nt.NotationError, match="cannot write"):
        nt.explain("∑_{a} X", X=X).save(tmp_path / "no" / "steps.html")
