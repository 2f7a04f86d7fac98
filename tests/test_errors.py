"""What a wrong formula gets, word for word: `golden_errors.txt` holds formulas, what they are given, and the message.

A case of that file is

    == its title
    with A, X = raw, sizes heads = 2, strict
    | the formula, a line each
    the message, as it is printed

The line `with` may be left out. After a change of wording, NAMEDTENSOR_GOLDEN=write writes the messages anew; read them.
"""

import os
import pickle
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import namedtensor as nt
from grammar.errors import CATALOGUE, KINDS, columns, printable
from namedtensor.core.settings import Limits

GOLDEN = Path(__file__).parent / "golden_errors.txt"

A = nt.tensor(np.array([[3.0, 1, 4], [1, 5, 9], [2, 6, 5]]), "height width")
GIVEN = {
    "A": A,
    "B": nt.tensor(np.array([[1.0, 2], [3, 4], [5, 6]]), "height depth"),
    "x": nt.tensor(np.array([2.0, 7, 1]), "height"),
    "y": nt.tensor(np.array([1.0, 4, 1]), "width"),
    "z": nt.tensor(np.array([1.0, 2]), "height"),
    "L": nt.tensor(np.arange(6.0), "layer"),
    "Q": nt.tensor(np.array([[1.0, 0.5], [0.0, 1.0]]), "seq key"),
    "K": nt.tensor(np.array([[1.0, 2.0], [0.0, 1.0], [2.0, 0.5]]), "seq key"),
    "V": nt.tensor(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), "seq val"),
    "I": nt.tensor(np.array([1, 4]), "seq"),
    "J": nt.tensor(np.array([1.0, 1.5]), "seq"),
    "seq": nt.tensor(np.array([1.0, 2.0]), "seq"),
    "square": nt.tensor(np.eye(3), "row column"),
    "zeros": nt.tensor(np.zeros((2, 2)), "row column"),
    "s": 2.0,
    "n": 3,
    "raw": np.zeros((2, 3)),
    "listed": [1, 2, 3],
    "word": "three",
}
LIMITS = {
    "nesting": Limits(max_nesting=5),
    "literal": Limits(max_literal_elements=3),
    "result": Limits(max_result_bytes=64),
    "steps": Limits(max_steps=4),
    "text": Limits(max_source_chars=5),
    "pieces": Limits(max_expanded_nodes=4),
}


class Case(NamedTuple):
    title: str
    options: str
    formula: str
    message: str

    @property
    def arguments(self):
        """What `nt.evaluate` is given: values and keywords."""
        values, keywords = {}, {}
        for part in filter(None, re.split(r",\s*", self.options)):
            word, _, rest = part.partition(" ")
            if word == "sizes":
                name, _, size = rest.partition(" = ")
                keywords.setdefault("sizes", {})[name] = float(size) if "." in size else int(size)
            elif word == "limit":
                keywords["limits"] = LIMITS[rest]
            elif word == "syntax":
                keywords["syntax"] = rest
            elif word == "strict":
                keywords["strict"] = True
            else:
                name, _, value = part.partition(" = ")
                values[name] = GIVEN[value or name]
        return values, keywords

    def raised(self) -> nt.NotationError:
        values, keywords = self.arguments
        with pytest.raises(nt.NotationError) as caught:
            nt.evaluate(self.formula, values, **keywords)
        return caught.value

    def written(self, message: str) -> str:
        lines = [f"== {self.title}"]
        lines += [f"with {self.options}"] if self.options else []
        lines += [f"| {line}".rstrip() for line in self.formula.split("\n")]
        return "\n".join([*lines, *message.split("\n")])


def read(text: str) -> tuple[str, list[Case]]:
    """The heading of a golden file, and its cases."""
    heading, *blocks = re.split(r"^== ", text, flags=re.MULTILINE)
    cases = []
    for block in blocks:
        title, *lines = block.rstrip("\n").split("\n")
        options = lines.pop(0).removeprefix("with ") if lines[0].startswith("with ") else ""
        formula = [line[2:] for line in lines if line[:2] in ("| ", "|")]
        message = [line for line in lines if line[:2] not in ("| ", "|")]
        cases.append(Case(title, options, "\n".join(formula), "\n".join(message)))
    return heading, cases


HEADING, CASES = read(GOLDEN.read_text(encoding="utf-8"))

if os.environ.get("NAMEDTENSOR_GOLDEN") == "write":
    written = [case.written(str(case.raised())) for case in CASES]
    GOLDEN.write_text(HEADING + "\n\n".join(written) + "\n", encoding="utf-8")
    HEADING, CASES = read(GOLDEN.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_a_wrong_formula_gets_this_message(case):
    assert str(case.raised()) == case.message


def test_the_titles_are_distinct():
    assert (
        len({case.title for case in CASES}) == len({case.formula + case.options for case in CASES}) == len(CASES) >= 150
    )


def test_every_number_of_the_catalogue_has_a_case():
    """But for those that no formula raises.

    A formula is in one notation (115, 116), may be suspected in documents alone (207, 210 to 213, 410, 411), has no order of axes (318), needs no library (408), reads no file (409) and has no labels (412).
    """
    assert set(CATALOGUE) - {115, 116, 207, 210, 211, 212, 213, 318, 408, 409, 410, 411, 412} == {
        int(re.match(r"\w+ error (\d+)", case.message)[1]) for case in CASES
    }
    library = lambda: nt.formula("x").compile("tensorflow")
    labeled = lambda letters: nt.tensor([1.0, 2.0], "a", labels={"a": [*letters]})
    unreadable, ambiguous = lambda: nt.translate("u × v"), lambda: nt.translate("u v")
    for number, raising in (
        (115, unreadable),
        (116, ambiguous),
        (318, A.to_array),
        (408, library),
        (409, lambda: nt.load_tensors("none.safetensors")),
        (412, lambda: nt.evaluate("A + B", A=labeled("xy"), B=labeled("xz"))),
    ):
        with pytest.raises(nt.NotationError) as caught:
            raising()
        assert caught.value.code == number


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_an_error_points_into_its_formula(case):
    error = case.raised()
    assert error.kind == KINDS[error.code // 100]
    if error.source is not None:
        assert error.source == case.formula and 0 <= error.span[0] <= error.span[1] <= len(case.formula)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)


PYTHON_WORDS = re.compile(
    r"\b(TypeError|ValueError|None|NoneType|dict|tuple|ndarray|traceback|shape mismatch|dtype|int|str)\b"
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_a_message_speaks_the_language_of_the_notation(case):
    error = case.raised()
    assert not PYTHON_WORDS.search(error.message + (error.hint or ""))
    assert len(error.message) < 160 and not error.message.endswith(".")


# ------------------------------------------------------------------------------------------------------- the terminal
@pytest.mark.parametrize(
    "sign", ["\x00", "\x07", "\x1b[31m", "\r", "\x85", "\u202e", "\u2066", "\ud800", "\udfff", "\ufeff"]
)
def test_a_message_is_printable(sign):
    for formula in (f"A + {sign} B", f"softmax_{{{sign}}} A", f"A + [1{sign}", f"{sign}\nA + B", f"|A{sign}| + \u20d7"):
        with pytest.raises(nt.NotationError) as caught:
            nt.evaluate(formula, A=A)
        lines = str(caught.value).split("\n")
        assert all(line.isprintable() for line in lines)
        str(caught.value).encode()


@pytest.mark.parametrize(
    ("before", "wide"),
    [
        ("高 + ", 5),
        ("é + ", 4),
        ("e\u0301 + ", 4),
        ("😀 + ", 5),
        ("ﬁ + ", 4),
        ("\t\t+ ", 4),
        ("\u200b + ", 4),
        ("𝟙 + ", 4),
    ],
)
def test_the_caret_stands_under_its_piece(before, wide):
    error = nt.NotationError(201, "?", before + "nope + 1", (len(before), len(before) + 4))
    _, line, caret = str(error).split("\n")
    assert columns(before) == wide
    assert caret.index("^") - len("    | ") == columns(line) - len("  1 | ") - columns("nope + 1") == wide
    assert caret.count("^") == 4


def test_a_caret_under_a_sign_that_combines_stands_under_its_base():
    error = nt.NotationError(106, "?", "x\u20d7 + A", (1, 2))
    assert str(error).split("\n")[2] == "    | ^"


def test_a_long_line_is_cut_around_the_caret():
    source = "A + " * 300 + "nope" + " + A" * 300
    _, line, caret = str(nt.NotationError(201, "?", source, (1200, 1204))).split("\n")
    assert len(line) < 180 and line[caret.index("^") :].startswith("nope")
    assert line.startswith("  1 | … ") and line.endswith(" …")


def test_a_long_name_does_not_flood_the_terminal():
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate("A + " + "b" * 10**5, A=A)
    assert len(str(caught.value)) < 2000


def test_signs_that_act_on_a_terminal_are_replaced():
    assert printable("a\x1bb\tc\nd\u202ee") == "a\ufffdb c d\ufffde"


@pytest.mark.parametrize("call", [
    lambda: nt.evaluate("A +", A=1.0),
    lambda: nt.evaluate("A ⊙_{x} B", A=nt.tensor([1.0], "a"), B=2.0),
    lambda: nt.program("A = ("),
    lambda: nt.program("f(x) = ∑_{a} x")["f"](1.0),
    lambda: nt.program("f = ∑_{a} x\ng = 2")["f", "g"](x=1.0),
])  # fmt: skip
def test_a_traceback_ends_where_the_package_was_called(call, monkeypatch):
    def frames():
        with pytest.raises(nt.NotationError) as caught:
            call()
        return len(caught.traceback)

    monkeypatch.delenv("NAMEDTENSOR_TRACEBACK", raising=False)
    assert frames() <= 4
    monkeypatch.setenv("NAMEDTENSOR_TRACEBACK", "1")
    assert frames() > 4
