"""Mistakes planted in documents are reported: the figures may only rise, and nothing is reported of right documents."""

import pytest
from document_mistakes import is_noticed, originals, sample

from namedtensor.documents.sections import check_document
from namedtensor.documents.verdicts import Draws

NOTICED = {"axis": 37, "factor": 24, "term": 20, "operands": 3}  # A changed sign mostly contradicts nothing.


@pytest.mark.sampled(8)
@pytest.mark.slow
@pytest.mark.parametrize("kind", NOTICED)
def test_mistakes_in_layers_that_contradict_their_document_are_reported(kind):
    mistakes, documents = sample(40, 0)
    of_kind = [mistake for mistake in mistakes if mistake.kind == kind]
    assert len(of_kind) == 40
    assert sum(is_noticed(mistake, documents[mistake.document]) for mistake in of_kind) >= NOTICED[kind]


@pytest.mark.sampled(4)
@pytest.mark.slow
def test_most_mistakes_in_identities_are_reported():
    mistakes, documents = sample(None, 0, "identities")
    noticed = [is_noticed(mistake, documents["identities"]) for mistake in mistakes]
    assert len(noticed) >= 45
    assert sum(noticed) >= 0.9 * len(noticed)


@pytest.mark.sampled(4)
@pytest.mark.slow
def test_most_mistakes_in_definitions_of_built_in_functions_are_reported():
    mistakes, documents = sample(None, 0, "built-in functions")
    noticed = [is_noticed(mistake, documents["built-in functions"]) for mistake in mistakes]
    assert len(noticed) >= 40
    assert sum(noticed) >= 37  # of the others, (m − X)² is (X − m)², and an ε may be 0


MEANT = {"ResNet": [207] * 5, "DistilBERT": [207] * 3}  # parameters of a norm in definitions that a configuration adds


@pytest.mark.sampled(4)
@pytest.mark.slow
def test_nothing_is_reported_of_what_is_right():
    result = {original.name: original.reported for original in originals() if original.reported}
    assert {name: [code for code, _ in problems.elements()] for name, problems in result.items()} == MEANT


ASSUMED = {  # an assertion with undeclared names: the warning that states the assumed types
    r"$X \ndot{\name{ax}} Y = \nsum{\name{ax}} (X \odot Y)$": None,
    r"$\nsum{\name{ax}} (X + Y) = \nsum{\name{ax}} X$": (403, "where X ∈ ℝ^{ax}, Y ∈ ℝ^{ax}"),
    r"$X \ndot{\name{ax}} Y = \nsum{\name{key}} (X \odot Y)$": (307, "for the smallest shapes of X, Y"),
    r"$\nsum{\name{ax}} X = \nsum{\name{key}} X = 1$": None,
    r"$\nsum{\name{ax}} X = \sum_{i=1}^n X_{\name{ax}(i)}$": None,  # n may be |ax|
    r"$\partial Y = A \ndot{\name{ax}} \partial X + \text{const}$": None,
    r"$\nsum{\name{ax}} T = 1$": None,  # a condition on T
}


@pytest.mark.parametrize("text", ASSUMED)
def test_an_assertion_that_fails_for_its_assumed_types_is_a_warning(text):
    report = check_document(text, draws=Draws(4))
    assert not report.errors
    result = [(warning.code, warning.message) for warning in report.warnings]
    expected = ASSUMED[text]
    assert len(result) == (expected is not None)
    assert expected is None or result[0][0] == expected[0] and expected[1] in result[0][1]


UNUSED = {
    r"\[ \text{Conv}(X; W, b) = W \ndot{\name{a}} X \]": ["parameter b is not used"],
    r"\begin{align} Y &= W \ndot{\name{a}} X & W &\in \reals^{\name{a}} & b &\in \reals \end{align}": [
        "b is declared and not used"
    ],
    r"\begin{align} f(X; b) &= W \ndot{\name{a}} X & b &\in \reals \end{align}": ["parameter b is not used"],
    r"\[ \text{Conv}(X; W, b) = W \ndot{\name{a}} X + b \]": [],
    r"\[ f(X, b) = W \ndot{\name{a}} U, \qquad U = X + b \]": [],  # used by a definition that it uses
    r"\begin{align} h^t &= W \ndot{\name{a}} h^{t-1} & h^0 &\in \reals^{\name{a}} \end{align}": [],  # a member of h^t
    r"\begin{align} Y &= W \ndot{\name{a}} X & b &\in \reals \end{align} and \[ Z = Y + b \]": [],
    r"\begin{align} Y &= W \ndot{\name{a}} X & b &\in \reals \end{align} and \[ p(b \mid \name{a}) \]": [],  # not read
    r"\[ \exp A = \nmatrix{\name{a}}{\name{b}}{1 & 2 \\ 3 & 4} \]": [],  # of a known tensor
    r"\[ \exp(e^c) = \nsum{\name{a}} c \]": [],  # e^c is a power
    r"\[ \text{Att}(Q, K) = QK^\top \] \[ Q \ndot{\name{a}} K \]": [],  # names side by side
    r"\[ W^{l,1}, W^{l,2} \in \reals^{\name{a}} \] \[ Y^l = W^{l,1} \ndot{\name{a}} X \]": [
        "W^{l,2} is declared and not used"
    ],
    r"\[ W^{l,1}, W^{l,2} \in \reals^{\name{a}} \] \[ Y^l = W^{l,i} \ndot{\name{a}} X \]": [],
    r"\[ W, U \in \reals^{\name{a}} \] \[ Y = W \ndot{\name{a}} X \]": [],  # which running text may use
}


@pytest.mark.parametrize("text", UNUSED)
def test_a_name_that_is_declared_and_not_used_is_a_warning(text):
    assert [warning.message for warning in check_document(text).warnings if warning.code == 207] == UNUSED[text]


FAMILIES = {
    "hid": [],
    "other": ["⊙_{other} needs axis other, missing from W^{\\text{h}} and h^{t-1}"],
}


@pytest.mark.parametrize("axis", FAMILIES)
def test_families_of_open_length_are_typed(axis):
    text = r"""\begin{align*} W^{\text{h}} &\in \reals^{\name{hid} \times \name{hid'}} & h^{0} &\in \reals^{\name{hid}} \\
h^{t} &= \sigma(W^{\text{h}} \ndot{\name{AXIS}} h^{t-1})_{\name{hid'}\rightarrow\name{hid}} & t &= 1, \ldots, n
\end{align*}""".replace("AXIS", axis)
    errors = [error.message.split(";")[0] for error in check_document(text).errors]
    assert errors == FAMILIES[axis]


def test_a_declaration_of_a_name_comes_before_that_of_its_family():
    text = r"""\begin{align*} F^l(x) &= (W^l \ndot{\name{layer}} x)_{\name{layer'} \rightarrow \name{layer}}\\
W^l &\in \reals^{\name{layer'} \times \name{layer}} \end{align*}
\begin{align*} W^{\text{h}} &\in \reals^{\name{hid} \times \name{hid'}} & z &\in \reals^{\name{hid}} \\
y &= W^{\text{h}} \ndot{\name{hid}} z \end{align*}"""
    assert not check_document(text).errors


def test_a_constraint_on_an_argument_is_not_about_a_tensor_of_that_name():
    text = r"""\begin{align*} \text{CBOW}(X; E) &= \nsum{\name{seq}} (E \ndot{\name{vocab}} X) \\
\nsum{\name{vocab}} X_{\name{seq}(i)} &= 1 & i &= 1, \ldots, n \\ E &\in \reals^{\name{vocab} \times \name{emb}} \end{align*}
Points: \begin{align*} X &\in \reals^{\name{batch} \times \name{d}} & Y &= \nsum{\name{d}} X \end{align*}"""
    assert not check_document(text).errors


def test_sizes_that_are_symbols_of_the_document_are_sampled():
    text = r"""\[ |\name{seq}| = m \qquad |\name{d}| = |\name{e}| \]
\[ \nsum{\name{vocab}} X_{\name{seq}(i)} = 1 \qquad i = 1, \ldots, |\name{seq}| \]"""
    report = check_document(text, draws=Draws(4))
    assert [attempt.status for attempt in report.tried] == ["condition"]


BUILT_IN = {  # definitions of built-in functions, and whether they are others
    r"\nfun{\name{ax}}{norm} X = \sqrt{\nsum{\name{ax}} X^2}": False,
    r"\nfun{\name{ax}}{norm} X = \nsum{\name{ax}} X^2": True,
    r"\nfun{\name{ax}}{var} X = \frac{1}{|\name{ax}|} \nsum{\name{ax}} (X - \nfun{\name{ax}}{mean} X)^2": False,
    r"\nfun{\name{ax}}{var} X = \frac{1}{|\name{ax}|} \nsum{\name{ax}} (X + \nfun{\name{ax}}{mean} X)^2": True,
    r"\nfun{\name{ax}}{softmax} X = \frac{\exp X}{\nsum{\name{ax}} \exp X}": False,
    r"\nfun{\name{ax}}{softmax} X = \frac{\nsum{\name{ax}} \exp X}{\exp X}": True,
    r"\nfun{\name{ax}}{standardize} X = \frac{X - \nfun{\name{ax}}{mean} X}{\sqrt{\nfun{\name{ax}}{var} X + \epsilon}}": False,
    r"\nfun{\name{ax}}{standardize} X = \frac{X - \nfun{\name{ax}}{mean} X}{\nfun{\name{ax}}{var} X + \epsilon}": True,
    r"\nfun{\name{ax}}{index}(X, i) = X_{\name{ax}(i)}": False,
    r"\nfun{\name{ax}}{logsumexp} X = \log \nsum{\name{ax}} \exp X": False,
    r"\nfun{\name{ax}}{logsumexp} X = \nsum{\name{ax}} \log \exp X": True,
}


@pytest.mark.parametrize("text", BUILT_IN)
def test_a_definition_that_equals_the_built_in_function_raises_no_warning(text):
    report = check_document(rf"\[ {text} \] and \[ Y = \nsum{{\name{{ax}}}} Y \]")
    assert [warning.code for warning in report.warnings] == [209] * BUILT_IN[text]
