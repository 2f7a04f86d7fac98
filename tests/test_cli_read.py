"""The command `read`: a module of PyTorch as a program, its remarks, and where it differs from a formula."""

import json

import pytest

from namedtensor.cli import main

torch = pytest.importorskip("torch")
MODEL = """
import torch
from torch import nn


class MLP(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.up, self.down = nn.Linear(d, 24, bias=False), nn.Linear(24, d, bias=False)

    def forward(self, x):
        h = torch.tanh(self.up(x))
        return x + self.down(h)


def scrambled(x):
    y = x.transpose(0, 1)
    return y.reshape(x.shape)


def one_hot_loss(p, ids):
    return torch.nn.functional.nll_loss(p, ids)
"""
PAPER = r"""\documentclass{article}\begin{document}
\begin{equation} \label{eq:mlp}
Y = x + \text{relu}(x \ndot{\name{chans}} W_{up}) \ndot{\name{hidden}} W_{down}
\end{equation}
\begin{equation} \label{eq:tanh}
Z = x + \text{tanh}(x \ndot{\name{chans}} W_{up}) \ndot{\name{hidden}} W_{down}
\end{equation}
\end{document}
"""


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "paper.tex").write_text(PAPER, encoding="utf-8")


MODULE = ["read", "model.py:MLP", "x=batch,seq,chans", "--name", "up.weight=hidden chans"]


def test_a_module_is_printed_as_a_program(capsys):
    assert main(MODULE) == 0
    assert "x + tanh(x ⊙_{chans} W_{up}) ⊙_{hidden} W_{down}" in capsys.readouterr().out
    assert main(["read", "model.py:MLP(8)", "x=batch,seq,chans[8]"]) == 0
    assert "chans[8]" in capsys.readouterr().out


def test_it_is_compared_with_a_formula_of_a_paper(capsys):
    assert main([*MODULE, "--against", "paper.tex#eq:tanh"]) == 0
    assert main([*MODULE, "--against", "paper.tex#eq:mlp"]) == 1
    out = capsys.readouterr().out
    assert "model.py:12: h = torch.tanh(self.up(x))" in out and "relu(x ⊙_{chans} W_{up})" in out


def test_findings_for_machines(capsys):
    assert main([*MODULE, "--against", "paper.tex#eq:mlp", "--format", "github"]) == 1
    assert capsys.readouterr().out.startswith("::error file=model.py,line=12::model.py:12: ")
    assert main([*MODULE, "--against", "paper.tex#eq:mlp", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["axes"] == ["batch", "seq", "chans"] and not data["against"]["same"]
    assert [line["line"] for line in data["against"]["lines"]] == [12]


def test_a_remark_gives_the_status_1(capsys):
    assert main(["read", "model.py:scrambled", "x=seq,chans", "--format", "github"]) == 1
    assert capsys.readouterr().out.startswith("::warning file=model.py,line=18::")


def test_a_module_as_it_acts_in_training(tmp_path, capsys):
    (tmp_path / "dropped.py").write_text(
        "import torch\n\n\nclass Dropped(torch.nn.Sequential):\n    def __init__(self):\n"
        "        super().__init__(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5))\n"
    )
    words = ["read", "dropped.py:Dropped", "input=batch,chans[4]"]
    assert main(words) == 0 and "mask_1" not in capsys.readouterr().out
    assert main([*words, "--training"]) == 0 and "mask_1" in capsys.readouterr().out


def test_indices_are_inputs(capsys):
    assert main(["read", "model.py:one_hot_loss", "p=batch,class", "ids=batch:int"]) == 0
    assert "p_{class(ids + 1)}" in capsys.readouterr().out.replace("ids+1", "ids + 1")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["model.py"], "'model.py' is not a module; write model.py:Attention"),
        (["none.py"], "there is no file none.py"),
        (["model.py:MLP", "x=batch,chans", "--name", "x=a b c"], "as in (heads[8] key)"),
        (["model.py:Other"], "model.py has no Other"),
        (["none.py:MLP"], "there is no file none.py"),
        (["model.py:MLP(d)"], "(d) are not literal arguments"),
        (["model.py:MLP", "x"], "'x' is not an input"),
        (["model.py:MLP", "x=a b"], "'x=a b' is not an input"),
        (["model.py:MLP", "x=batch,chans[5]"], "the module does not run on these inputs"),
    ],
)
def test_a_wrong_use_is_told_in_a_sentence(words, sentence, capsys):
    assert main(["read", *words]) in (1, 2)
    assert sentence in capsys.readouterr().err
