"""Import statements: what they bring in, where they may read, and what a wrong one gets."""

import pickle

import numpy as np
import pytest

import namedtensor as nt
from grammar import nodes
from grammar.parser import imports_of, parse
from grammar.printer import to_latex, to_text
from namedtensor.scope.binder import bind
from namedtensor.scope.needed_lines import needed_lines

SCORES = """\
unused ∈ ℝ^{z}
scores : ℝ^{key} × ℝ^{seq × key} → ℝ^{seq}
scores(Q, K) = Q ⊙_{key} K / √|key|
"""
ATTENTION = """\
# attention
from "lib/scores.nt" import scores

Attention : ℝ^{key} × ℝ^{seq × key} × ℝ^{seq × val} → ℝ^{val}
Attention(Q, K, V) = α ⊙_{seq} V
α = softmax_{seq} scores(Q, K)
Other(X) = β + 1
β = X^2
|z| = 3
Attention(0, 0, 1) = 7
"""
USE = 'from "attention.nt" import Attention\nY = Attention(Q, K, V)'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "scores.nt").write_text(SCORES, encoding="utf-8")
    (tmp_path / "attention.nt").write_text(ATTENTION, encoding="utf-8")
    return tmp_path


def inputs(seq=4, key=3, val=2, dtype="float64"):
    random = np.random.default_rng(seq)
    shapes = {"Q": {"seq": seq, "key": key}, "K": {"seq": seq, "key": key}, "V": {"seq": seq, "val": val}}
    return {name: nt.tensor(random.normal(size=(*s.values(),)).astype(dtype), (*s,)) for name, s in shapes.items()}


def reference(Q, K, V):
    scores = Q.to_array("seq key") @ K.to_array("seq key").T / np.sqrt(len(K.to_array("key seq")))
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ V.to_array("seq val")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("seq", [1, 4, 7])
def test_an_imported_function_computes_its_definition(folder, seq, dtype):
    tensors = inputs(seq, dtype=dtype)
    value = nt.program(USE, folders=folder)(**tensors)
    assert np.allclose(value.to_array("seq val"), reference(**tensors), atol=1e-5)


def test_an_import_brings_what_is_needed_and_no_more(folder):
    program = nt.program(USE, folders=[folder])
    assert program.names == ["scores", "Attention", "Y"]
    assert program.declared == [] and program.source.count("Attention(0") == 0


def test_derivatives_and_source_text_are_those_of_the_definitions_written_out(folder):
    imported = nt.program(USE, folders=folder)
    written = nt.program(SCORES.split("\n", 1)[1] + "\n".join(ATTENTION.splitlines()[3:6]) + "\nY = Attention(Q, K, V)")
    tensors = inputs()
    assert nt.allclose(imported["Y"].derivative("V")(**tensors), written["Y"].derivative("V")(**tensors))
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    assert imported["Y"].to_python(**{n: str(s) for n, s in shapes.items()}) == written["Y"].to_python(
        **{n: str(s) for n, s in shapes.items()}
    )
    assert imported == written and str(imported) == str(written)


def test_a_loaded_file_imports_from_its_own_folder(folder, monkeypatch, tmp_path_factory):
    (folder / "main.nt").write_text(USE, encoding="utf-8")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    tensors = inputs()
    assert np.allclose(nt.load_program(folder / "main.nt")(**tensors).to_array("seq val"), reference(**tensors))


def test_as_renames_inside_and_outside(folder):
    program = nt.program('from "attention.nt" import Attention as Att\nY = Att(Q, K, V)', folders=folder)
    assert "Att" in program.names and "Attention" not in program.names
    tensors = inputs()
    assert np.allclose(program(**tensors).to_array("seq val"), reference(**tensors))


def test_one_definition_that_two_files_need_comes_once(folder):
    (folder / "b.nt").write_text('from "lib/scores.nt" import scores\nB(Q, K) = scores(Q, K) + 1\n', encoding="utf-8")
    program = nt.program('from "b.nt" import B\nfrom "attention.nt" import Attention\nY = B(Q, K)', folders=folder)
    assert program.names.count("scores") == 1


def test_a_package_ships_formulas():
    program = nt.formula('from "transformer:paper_transformer.nt" import Attention\nY = Attention(Q, K, V, M)')
    tensors = inputs()
    assert np.allclose(program(**tensors, M=nt.tensor(np.zeros(4), "seq")).to_array("seq val"), reference(**tensors))


def test_a_program_with_imports_is_pickled_whole(folder):
    program = pickle.loads(pickle.dumps(nt.program(USE, folders=folder)))
    (folder / "attention.nt").unlink()
    tensors = inputs()
    assert np.allclose(program(**tensors).to_array("seq val"), reference(**tensors))


WRONG = [  # the text, the code, and what the message has
    ('from "attention.nt" import Atention', 201, "attention.nt does not define Atention", "did you mean Attention?"),
    ('from "atention.nt" import Attention', 409, "there is no file atention.nt", "did you mean attention.nt"),
    ('from "../other.nt" import f', 409, "outside the folders", "folders="),
    ('from "/etc/other.nt" import f', 409, "outside the folders", "folders="),
    ('from "attention.py" import f', 409, "end in .nt", ""),
    ('from "attention.nt" import *', 101, "lists its names", ""),
    ('from "attention.nt" import', 101, "malformed import", "write from"),
    ("from attention import Attention\nY = 1", 101, "malformed import: expected a file in double quotes", "     ^^^^^^^^^"),
    ("from 'attention.nt' import Attention", 101, "a file is written in double quotes", "write from"),
    ('from "attention.nt" import Attention Other', 101, "expected a comma", "write from"),
    ('from "attention.nt" import Attention as', 101, "expected a name", "write from"),
    ('from "attention.nt" Attention', 101, "expected import", "write from"),
    ('from "attention.nt" import Attention, 3', 101, "unexpected 3", "write from"),
    ('from "attention.nt" import W_1', 101, "W_1 is not a name to import", "write W"),
    ('from "attention.nt" import W^Q', 101, "W^Q is not a name to import", "write W"),
    ('from "attention.nt" import Attention as α', 202, "α is a name of that file, too", "after as"),
    ('from "transformer:gpt2.nt" import f', 409, "has no file gpt2.nt", "transformer:models/gpt2.nt"),
    ('from "no_such_package_x:a.nt" import f', 409, "no installed package", "pip install"),
    ('from "syntax.nt" import f', 102, "( is not closed", "syntax.nt:\n  2 |"),
    ('from "circle.nt" import g', 203, "circle.nt → circle2.nt → circle.nt", "circle2.nt:"),
    ('from "binary.nt" import g', 409, "not a text file", ""),
    ('from "attention.nt" import Attention\nscores(Q, K) = Q\nY = Attention(Q, K, V)', 202, "scores is defined twice", "lib/scores.nt:\n  3 |"),
]  # fmt: skip


@pytest.mark.parametrize("text, code, message, shown", WRONG)
def test_a_wrong_import_is_one_sentence_with_the_file_and_the_repair(folder, text, code, message, shown):
    (folder / "syntax.nt").write_text("# a\nf(x) = (x\n", encoding="utf-8")
    (folder / "circle.nt").write_text('from "circle2.nt" import f\ng(x) = f(x)\n', encoding="utf-8")
    (folder / "circle2.nt").write_text('from "circle.nt" import g\nf(x) = g(x)\n', encoding="utf-8")
    (folder / "binary.nt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(nt.NotationError) as caught:
        nt.program(text, folders=folder)
    assert caught.value.code == code and message in str(caught.value) and shown in str(caught.value)


def test_an_error_inside_an_imported_definition_names_its_file_and_line(folder):
    (folder / "wrong.nt").write_text("# first\nf(x) = ∑_{b} x\n", encoding="utf-8")
    program = nt.program('a = 1\nfrom "wrong.nt" import f\nY = f(x)', folders=folder)
    with pytest.raises(nt.NotationError) as caught:
        program(x=nt.tensor([1.0], "a"))
    assert caught.value.position() == (2, 11) and caught.value.file == "wrong.nt"
    assert "wrong.nt:\n  2 | f(x) = ∑_{b} x" in str(caught.value)
    with pytest.raises(nt.NotationError) as caught:
        nt.program('a = 1\nfrom "lib/scores.nt" import scores\nY = missing(1, 2)', folders=folder)()
    assert caught.value.position()[0] == 3 and caught.value.file == ""


def test_a_link_out_of_the_folder_is_not_followed(folder, tmp_path_factory):
    secret = tmp_path_factory.mktemp("secret") / "secret.nt"
    secret.write_text("f(x) = x\n", encoding="utf-8")
    (folder / "link.nt").symlink_to(secret)
    with pytest.raises(nt.NotationError, match="outside the folders"):
        nt.program('from "link.nt" import f', folders=folder)


@pytest.mark.parametrize(
    "read",
    [nt.evaluate, nt.check, nt.Program, nt.Formula, nt.to_text, nt.compile, nt.explain, nt.program, nt.formula],
)
def test_a_text_alone_reads_no_file(read, folder, monkeypatch):
    monkeypatch.chdir(folder)
    try:
        result = read(USE)
    except nt.NotationError as problem:
        errors = [problem]
    else:
        errors = result.errors
    assert errors[0].code == 409 and "may not read files" in errors[0].message


def test_folders_are_checked():
    for folders in ("no such folder", 3, [None]):
        with pytest.raises(nt.NotationError):
            nt.program(USE, folders=folders)


@pytest.mark.parametrize(
    "text, names",
    [
        ('from "a.nt" import f', [("a.nt", "f", "f")]),
        ('x = 1\n  from "a.nt" import f, g as h  # why', [("a.nt", "f", "f"), ("a.nt", "g", "h")]),
        ('from "p:a.nt" import LayerNorm\nfrom "b.nt" import γ', [("p:a.nt", "LayerNorm", "LayerNorm"), ("b.nt", "γ", "γ")]),
        ("from = 1", []),
        ('# from "a.nt" import f', []),
    ],
)  # fmt: skip
def test_statements_are_lines_of_their_own(text, names):
    parts = [
        (statement.path, item.text, alias.text) for statement in imports_of(text) for item, alias in statement.names
    ]
    assert parts == names
    for statement in imports_of(text):
        assert text[slice(*statement.path_span)] == statement.path
        for name in (name for pair in statement.names for name in pair):
            assert text[slice(*name.span)] == name.text


@pytest.mark.parametrize(
    "text, printed",
    [
        ('from   "a.nt" import f,g  as h # why', 'from "a.nt" import f, g as h'),
        ('x = 1\nfrom "p:a/b.nt" import gamma as f\'\nY = f\'(x, 2)', 'x = 1\nfrom "p:a/b.nt" import γ as f\'\nY = f\'(x, 2)'),
        ("from = 1\nY = from + import as", "from = 1\nY = from + import as"),
        ('from "a.nt" import softmax\nsoftmax_{a} X', 'from "a.nt" import softmax\nsoftmax_a(X)'),
    ],
)  # fmt: skip
def test_an_import_is_a_statement_of_the_grammar(text, printed):
    tree = parse(text)
    assert to_text(tree) == printed and parse(printed) == tree
    assert parse(to_text(tree, ascii=True)) == tree
    imported = [statement for statement in tree.statements if isinstance(statement, nodes.Imports)]
    assert [text[slice(*statement.path_span)] for statement in imported] == [statement.path for statement in imported]
    for statement in imported:
        assert text[slice(*statement.span)].startswith("from ")
        with pytest.raises(nt.NotationError, match="LaTeX has no imports"):
            to_latex(tree)


NEEDED = """\
f(x) = α x
α = x + c
g(x) = α x
α' = 3
c = 2
W^Q ∈ ℝ^{a}
W^K ∈ ℝ^{a}
h : ℝ^{a} → ℝ
h(x) = x ⊙_{a} W^Q
|a| = 2 |b|
|a| = 3
X^0 = 1
X^t = X^{t-1} + c for t = 1, …, n
n = 4
"""


@pytest.mark.parametrize(
    "names, lines",
    [
        (["f"], [1, 2, 5]),
        (["g"], [2, 3, 5]),
        (["c"], [5]),
        (["h"], [6, 7, 8, 9, 11]),
        (["X"], [5, 12, 13, 14]),
        (["c", "n"], [5, 14]),
    ],
)
def test_needed_lines(names, lines):
    text = NEEDED if "g" in names or "h" in names else NEEDED.replace("g(x) = α x\n", "\n")
    scope = bind(text, parse(text), open=True)
    counts = [
        text.count("\n", 0, start) + 1 + n
        for start, end in needed_lines(scope, names)
        for n in range(text.count("\n", start, end))
    ]
    assert counts == lines


def test_the_command_line_imports_and_places_errors(folder, capsys, monkeypatch):
    from namedtensor.cli import main

    (folder / "main.nt").write_text('from "attention.nt" import Attention\nY = Attention(Q, K, V)\n', encoding="utf-8")
    (folder / "wrong.nt").write_text("# first\nf(x) = ∑_{b} x\n", encoding="utf-8")
    (folder / "bad.nt").write_text('from "wrong.nt" import f\nY = f(x)\n', encoding="utf-8")
    monkeypatch.chdir(folder)
    assert main(["check", "main.nt", "Q=ℝ^{key}", "K=ℝ^{seq × key}", "V=ℝ^{seq × val}"]) == 0
    capsys.readouterr()
    assert main(["check", "bad.nt", "x=ℝ^{a}"]) == 1
    output = capsys.readouterr()
    assert "wrong.nt:2:11" in output.out + output.err


@pytest.mark.parametrize(
    "local, clashes", [("γ ∈ ℝ^{hidden}", True), ("γ ∈ ℝ^{chans}", False), ("γ_1 ∈ ℝ^{hidden}", False)]
)
def test_a_parameter_that_two_files_declare_differently_is_an_error(tmp_path, local, clashes):
    (tmp_path / "norm.nt").write_text("Norm(X) = X ⊙ γ\nγ ∈ ℝ^{chans}\n", encoding="utf-8")
    text = f'from "norm.nt" import Norm\n{local}\nY = Norm(X)'
    if not clashes:
        assert "γ" in nt.program(text, folders=tmp_path).declared
        return
    with pytest.raises(nt.NotationError) as caught:
        nt.program(text, folders=tmp_path)
    assert caught.value.code == 202 and "norm.nt:\n  2 |" in str(caught.value)
    renamed = text.replace("import Norm", "import Norm, γ as γ'")
    assert nt.program(renamed, folders=tmp_path).declared == ["γ'", "γ"]
