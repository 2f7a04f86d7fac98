"""Check that every example of the pages runs, and that generated pages agree with their tables."""

import base64
import json
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from blocks import Block, Page, blocks_of, packed, split

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))

import errors_page  # noqa: E402
import tables  # noqa: E402
from generated import LIBRARIES, as_site, as_stored, outputs, pages, with_outputs, with_tables  # noqa: E402
from linked import addresses, errors, signs  # noqa: E402
from links import dangling  # noqa: E402
from pages import command  # noqa: E402

from grammar.errors import CATALOGUE  # noqa: E402

PAGES = sorted(path for path in DOCS.rglob("*.md") if blocks_of(path.read_text(encoding="utf-8")))


PLATFORM = {"derivatives.md", "derivatives_of_layers.md", "matrix_cookbook.md"}  # equal closed forms may differ by run


NEEDED = {"data": ["xarray"], "working": ["torch"]}  # for outputs that are the same wherever these are installed


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_page_runs_and_stores_its_outputs(path):
    for library in (*LIBRARIES.get(path.stem, ()), *NEEDED.get(path.stem, ())):
        pytest.importorskip(library, reason=f"{path.name} shows {library}")
    text = path.read_text(encoding="utf-8")
    texts = outputs(text, path)
    assert texts
    if path.name not in PLATFORM and path.stem not in LIBRARIES:
        assert with_outputs(text, texts) == text, "run: python docs/_extensions/generated.py --write"


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_tables_and_files_of_a_page_are_current(path):
    text = path.read_text(encoding="utf-8")
    if "torch_program" in text:  # a class that is there with PyTorch alone
        pytest.importorskip("torch")
    assert with_tables(text) == text, "run: python docs/_extensions/generated.py --write"


def test_page_reads_without_a_build():
    page = "<!-- site\n```{run}\n:hidden:\n1\n```\n-->\n\n```{formula}\n:with: A\nA\n```\n"
    full = with_outputs(page, ["1", "[3, 1]"])
    assert "<!-- output -->\n```text\n[3, 1]\n```\n<!-- end -->" in full
    assert with_outputs(full, ["1", "[3, 1]"]) == full
    assert as_site(full).split() == "```{run} :hidden: 1 ``` ```{formula} :with: A A ```".split()
    assert as_stored(full).split() == "```text 1 ``` ```text A ``` ```text [3, 1] ```".split()


def test_every_page_is_in_a_table_of_contents():
    texts = {path: path.read_text(encoding="utf-8") for path in (DOCS / "index.md", DOCS / "lessons" / "index.md")}
    trees = [
        (path.parent, re.findall(r"^```\{toctree\}\n(.*?)^```$", text, re.M | re.S)) for path, text in texts.items()
    ]
    listed = {folder / f"{name}.md" for folder, result in trees for tree in result for name in tree.split()}
    apart = {DOCS / "index.md", DOCS / "lessons" / "answers.md"}  # the second is for teachers
    assert {path for path in pages() if path.parent.name != "examples"} - listed == apart


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_directives_that_carry_content_are_for_the_build_alone(path):
    text = re.sub(r"^<!-- site\n.*?^-->", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    assert set(re.findall(r"^```+\{(\w+)", text, re.M)) <= {"run", "formula"} and ":hidden:" not in text


@pytest.mark.parametrize("row", [row for rows in tables.CONSTRUCTS.values() for row in rows], ids=lambda row: row.text)
def test_a_construct_is_one_tree_in_three_spellings_and_has_numpys_value(row):
    tables.check_construct(row)


@pytest.mark.parametrize("row", [row for rows in tables.CHEATS.values() for row in rows], ids=lambda row: row.formula)
def test_a_row_of_the_cheat_sheet_gives_the_same_four_times(row):
    tables.check_same(row)


def test_a_block_reads_its_options():
    page = "text\n\n```{formula}\n:with: A, x=f(1, 2)\n:error:\nA + x\n```\n"
    assert blocks_of(page) == [Block("formula", {"with": "A, x=f(1, 2)", "error": ""}, "A + x", 3)]
    assert split("A, x=f(1, 2), W^{1,Q}=w") == ["A", "x=f(1, 2)", "W^{1,Q}=w"]


def test_a_formula_of_a_page_opens_in_the_playground():
    page = Page()
    page.run(Block("run", {}, "A = nt.tensor([[3, 1], [1, 5]], 'height width')\nx = nt.tensor([2, 7], 'height')"))
    state = page.run(Block("formula", {"with": "A, x, k=2"}, "k A ⊙_{height} x")).state
    assert state == {
        "text": "k A ⊙_{height} x",
        "inputs": {"A": "ℝ^{height[2] × width[2]}", "x": "ℝ^{height[2]}", "k": 2},
        "values": {"A": [[3, 1], [1, 5]], "x": [2, 7]},
    }
    back = zlib.decompress(base64.urlsafe_b64decode(packed(state) + "=="), -15)
    assert json.loads(back) == state
    called = page.run(Block("formula", {"call": "f(x)"}, "f(x) = 2 x")).state
    assert called == {"text": "f(x) = 2 x\nf(x)", "inputs": {"x": "ℝ^{height[2]}"}, "values": {"x": [2, 7]}}
    large = page.run(Block("formula", {"with": "A=nt.tensor(np.zeros(1000), 'a')"}, "∑_{a} A"))
    assert large.state is None


def test_signs_of_a_formula_and_numbers_of_errors_lead_to_their_paragraphs():
    linked = signs("softmax_{max, a→b} X ⊙_{a} √∂x", "../")
    assert re.findall(r'href="([^"]*)">([^<]*)<', linked) == [
        ("../reference_functions.html#sign-softmax", "softmax"),
        ("../reference_syntax.html#" + quote("sign-A_{height→rows}"), "→"),
        ("../reference_functions.html#" + quote("sign-⊙"), "⊙"),
        ("../reference_syntax.html#" + quote("sign-√A"), "√"),
        ("../reference_derivatives.html#" + quote("sign-∂(exp-x)/∂x*"), "∂"),
    ]
    assert re.sub(r"<[^>]*>", "", linked) == "softmax_{max, a→b} X ⊙_{a} √∂x"
    assert "<a" not in signs("gelu(x) = x\nall : ℝ → ℝ").replace(signs("→"), "") and "&lt;" in signs("a < b")
    assert errors("shape error 301: a < b", "../").startswith(
        'shape <a href="../errors.html#error-301">error 301</a>: a &lt;'
    )


def test_each_symbol_leads_to_a_row_of_the_reference():
    for address in addresses().values():
        page, _, fragment = address.partition(".html#")
        assert f'<a id="{unquote(fragment)}"></a>' in (DOCS / f"{page}.md").read_text(encoding="utf-8"), address


def test_each_page_of_the_reference_links_to_the_others():
    names = {path.name for path in DOCS.glob("reference_*.md")}
    for name in names:
        opening = (DOCS / name).read_text(encoding="utf-8").split("\n\n")[1]
        assert {*re.findall(r"\]\((.*?)\)", opening)} == names - {name}


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "one.html").write_text(
        '<p id="a&gt;b"><a href="deep/two.html#there">x</a><a href="#a%3Eb">y</a>', "utf-8"
    )
    (tmp_path / "deep" / "two.html").write_text(
        '<p id="there"><a href="two.html#gone">x</a><a class="q" href="one.html">y</a><a href="https://a.invalid/">z</a>',
        "utf-8",
    )
    assert list(dangling(tmp_path)) == [("deep/two.html", "two.html#gone"), ("deep/two.html", "one.html")]


def test_a_section_of_a_docstring_is_a_list_of_definitions():
    pytest.importorskip("sphinx")
    from executed import to_rst

    lines = ("Sum `x`.", "", "Parameters", "----------", "x, y : tensor", "    The x_{a}.", "axis : str, optional", "    The axis",
             "    of x (default: none).", "", "Returns", "-------", "NamedTensor", "", "Examples", "--------", ">>> f(x_{a})", "  1 | a", "")  # fmt: skip
    assert to_rst("\n".join(lines)).splitlines() == [
        "Sum ``x``.", "", ".. rubric:: Parameters", "", "``x, y`` : tensor", "    The x\\_{a}.", "", "``axis`` : str, optional", "    The axis",
        "    of x (default: none).", "", ".. rubric:: Returns", "", "NamedTensor", "", ".. rubric:: Examples", "",
        ".. code-block:: pycon", "", "    >>> f(x_{a})", "      1 | a",
    ]  # fmt: skip


def test_no_page_has_the_name_of_the_playground():
    """The file lies at the root of the site, where a page of that name would take its place."""
    assert not (DOCS / "playground.md").exists()


def test_a_block_that_fails_fails_its_page():
    with pytest.raises(ZeroDivisionError):
        Page().run(Block("run", {}, "1 / 0"))
    with pytest.raises(AssertionError, match="should raise"):
        Page().run(Block("run", {"error": ""}, "1"))


# ------------------------------------------------------------------------------------------------------- the errors
def examples():
    from errors_examples import EXAMPLES

    return [(number, example) for number, several in EXAMPLES.items() for example in several]


@pytest.mark.parametrize(
    ("number", "example"), examples(), ids=lambda value: str(getattr(value, "formula", value))[:40]
)
def test_an_example_of_an_error_raises_its_number(number, example):
    import namedtensor as nt

    assert errors_page.raised(example).code == number
    if example.document:
        assert errors_page.warnings_of(example.document) and not errors_page.warnings_of(example.fixed)
    elif example.fixed:
        nt.evaluate(example.fixed, dict(example.inputs), sizes=dict(example.sizes), **example.options)


def test_the_page_of_errors_is_what_the_examples_print():
    """In a process of its own: functions that other tests registered would be named in the hints."""
    code = "import errors_page; print(errors_page.page() + errors_page.written(), end='')"
    completed = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1", "PYTHONPATH": str(Path(errors_page.__file__).parent)},
    )
    assert completed.returncode == 0, completed.stderr
    texts = [path.read_text(encoding="utf-8") for path in (errors_page.PAGE, errors_page.OF_THE_PAGE)]
    assert "".join(texts) == completed.stdout, "run: python docs/_extensions/errors_page.py --write"


def test_every_error_has_a_section():
    text = errors_page.PAGE.read_text(encoding="utf-8")
    assert all(f"### {number}: {title}" in text for number, title in CATALOGUE.items())


# ---------------------------------------------------------------------------------------------------- the data sets
def rows(name):
    lines = (DOCS / "examples" / name).read_text(encoding="utf-8").splitlines()
    return [[float(cell) for cell in line.split(",")] for line in lines[1:]]


def test_the_iris_are_fishers():
    iris = rows("iris.csv")
    assert len(iris) == 150
    assert [round(sum(column) / 150, 3) for column in zip(*iris)] == [5.843, 3.057, 3.758, 1.199]
    assert [row[0] for row in rows("iris_species.csv")] == [1] * 50 + [2] * 50 + [3] * 50


def test_the_karate_club_is_zacharys():
    pairs = rows("karate.csv")
    assert len(pairs) == len({tuple(pair) for pair in pairs}) == 78
    assert {member for pair in pairs for member in pair} == set(range(1, 35))


IRIS = "X=docs/examples/iris.csv"


@pytest.mark.parametrize("line", [
    f"namedtensor eval docs/examples/iris.nt {IRIS}:flower,feature",
    f"namedtensor eval docs/examples/learning.nt {IRIS}:flower,feature species=docs/examples/iris_species.csv:flower --sizes n=3",
    "namedtensor eval docs/examples/pagerank.nt E=docs/examples/karate.csv:edge,end",
    f"namedtensor eval docs/examples/attention.tex {IRIS}:flower,feature",
    f"namedtensor eval docs/examples/norms.tex {IRIS}:batch,feature",
])  # fmt: skip
def test_the_example_files_run_from_the_command_line(line):
    assert command(line).count("\n") >= 3


def values_of(formula, name, key, axes):
    import numpy as np

    import namedtensor as nt

    data = nt.tensor(np.array(rows(name)), axes)
    return nt.evaluate((DOCS / "examples" / formula).read_text(encoding="utf-8"), {key: data})


def test_a_step_of_k_means_is_numpys():
    import numpy as np

    iris = np.array(rows("iris.csv"))
    near = np.linalg.norm(iris[:, None] - iris[[0, 50, 100]], axis=2).argmin(1)
    want = np.stack([iris[near == cluster].mean(0) for cluster in range(3)])
    got = values_of("iris.nt", "iris.csv", "X", "flower feature")
    np.testing.assert_allclose(got.to_array("cluster feature"), want)


@pytest.mark.sampled(6)
@pytest.mark.slow
def test_what_is_learned_is_what_descent_by_hand_learns():
    import numpy as np

    import namedtensor as nt

    X, species = np.array(rows("iris.csv")), np.array(rows("iris_species.csv"), dtype=int)[:, 0]
    Z, T = (X - X.mean(0)) / np.sqrt(X.var(0) + 1e-5), np.eye(3)[species - 1]
    W, b = np.zeros((3, 4)), np.zeros(3)
    for _ in range(100):
        scores = np.exp(Z @ W.T + b)
        error = (scores / scores.sum(1, keepdims=True) - T) / 150
        W, b = W - 2 * error.T @ Z, b - 2 * error.sum(0)
    array = T.T @ np.eye(3)[(Z @ W.T + b).argmax(1)]
    tensors = {"X": nt.tensor(X, "flower feature"), "species": nt.tensor(species, "flower")}
    program = nt.load_program(DOCS / "examples" / "learning.nt")
    got = program["W^100"](values=tensors, sizes={"n": 100})
    np.testing.assert_allclose(got.to_array("kind feature"), W, rtol=1e-9)
    result = nt.evaluate(program.source, tensors, sizes={"n": 100})
    assert result.to_array("species kind").tolist() == array.tolist() and np.trace(array) == 146


def test_the_ranks_are_those_of_power_iteration():
    import numpy as np

    matrix = np.zeros((34, 34))
    for first, second in np.array(rows("karate.csv"), dtype=int) - 1:
        matrix[first, second] = matrix[second, first] = 1
    ranks = np.full(34, 1 / 34)
    for _ in range(1000):
        ranks = 0.15 / 34 + 0.85 * (matrix / matrix.sum(0)) @ ranks
    got = values_of("pagerank.nt", "karate.csv", "E", "edge end").to_array("member")
    np.testing.assert_allclose(got, ranks, rtol=1e-5)
    # As the networkx library has it, to four places: members 34 and 1 lead.
    assert [round(float(got[member - 1]), 4) for member in (34, 1, 33)] == [0.1009, 0.0970, 0.0717]


def test_petals_are_asked_of_sepals():
    import numpy as np

    iris = np.array(rows("iris.csv"))
    keys = (iris[:, :2] - iris[:, :2].mean(0)) / np.sqrt(iris[:, :2].var(0) + 1e-5)
    scores = np.exp(np.array([[-1, 1], [0, -1], [1, 0]]) @ keys.T / 2**0.5)
    want = (scores / scores.sum(1, keepdims=True)) @ iris[:, 2:]
    got = values_of("attention.tex", "iris.csv", "X", "flower feature")
    np.testing.assert_allclose(got.to_array("query val"), want)


def test_the_norms_are_numpys():
    import numpy as np

    iris = np.array(rows("iris.csv")).reshape(150, 2, 2)
    centered = iris - iris.mean((0, 2), keepdims=True)
    want = (centered / np.sqrt(iris.var((0, 2), keepdims=True) + 1e-5))[[0, 50, 100]]
    got = values_of("norms.tex", "iris.csv", "X", "batch feature")
    np.testing.assert_allclose(got.to_array("species chans layer"), want)
