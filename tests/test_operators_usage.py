"""How operators are written, and what help says of them: each use can be read, and help knows every name."""

import json

import pytest

from grammar.parser import parse
from grammar.printer import to_text
from namedtensor import cli
from namedtensor.operators import REGISTRY
from namedtensor.operators.usage import format_usage, sentence, sets

RECORDS = list(dict.fromkeys(REGISTRY.values()))


def in_place(record, use):
    """A condition where one may stand."""
    takes, gives = record.boolean
    if takes and gives:
        use = use.replace("X", "X > 0").replace("Y", "Y > 0")
    return f"where({use}, 1, 0)" if gives and record.kind == "elementwise" else use


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_the_use_of_an_operator_can_be_read(record):
    text, plain = (to_text(parse(in_place(record, format_usage(record, ascii)))) for ascii in (False, True))
    assert text == plain and format_usage(record, ascii=True).isascii()
    if record.lifted.formals:
        assert f"{{{', '.join(record.lifted.formals)}}}" in text


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_help_knows_every_name_of_an_operator(record, capsys):
    for name in (record.name, *record.aliases, *filter(None, (record.ascii, record.latex, record.python))):
        assert cli.main(["help", name, "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        if name in (record.name, *record.aliases):
            assert data["meaning"] == sentence(record) and data["signature"] == sets(record)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("softmax",), 0, "softmax_{ax} X is exp x / ∑ exp x.\n"),
        (("@",), 0, "  signature     ℝ^{ax} × ℝ^{ax} → ℝ\n"),
        (("301",), 0, "shape error 301: missing axis\n"),
        (("eval",), 0, "usage: namedtensor eval"),
        ((), 0, "§3.3 Reductions\n  ∑_{ax} X is the sum.\n"),
        (("sofmax",), 2, "there is no function or symbol sofmax; did you mean softmax or logsoftmax?\n"),
        (("999",), 2, "there is no error code 999; codes are between 101 and 412\n"),
    ],
)
def test_help_says(words, status, message, capsys):
    assert cli.main(["help", *words]) == status
    assert message in "".join(capsys.readouterr())
