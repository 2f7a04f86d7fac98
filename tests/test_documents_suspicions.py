r"""Formulas that are well typed and probably not meant: each rule reports wrong ones, and is silent about right ones."""

import pytest
from document_mistakes import paper_documents, reported, source_of

from grammar.parser import parse
from namedtensor.documents.sections import check_document
from namedtensor.documents.suspicions import RULES

CODES = (210, 211, 212, 213, 310, 401, 410, 411)
LAYERS = """X^0 = E
N^l = norm_{d} X^{l-1} for l = 1, …, L
X^l = X^{l-1} + N^l ⊙_{d} W^l_{e→d} for l = 1, …, L
W^l ∈ ℝ^{d × e}
Y = X^L
E ∈ ℝ^{d}
"""
ATTENTION = """A = softmax_{t}(Q ⊙_{key} K / √|key| + M)
Q ∈ ℝ^{s × key}
K ∈ ℝ^{t × key}
M_{s(i), t(j)} = { 0 if j ≤ i; -∞ otherwise }
"""
BIASES = """Q = X ⊙_{d} W_Q + b_Q
K = X ⊙_{d} W_K + b_K
V = X ⊙_{d} W_V + b_V
W_Q, W_K, W_V ∈ ℝ^{d × k}
b_Q, b_K, b_V ∈ ℝ^{k}
X ∈ ℝ^{s × d}
"""
BLOCKS = """Norm(x; γ) = x ⊙ γ / norm_{d} x
T^l = Norm(X^{l-1} + A^l; γ^1) for l = 1, …, L
U^l = Norm(T^l + B^l; γ^2) for l = 1, …, L
X^l = Norm(U^l + C^l; γ^3) for l = 1, …, L
γ^1, γ^2, γ^3, X^0 ∈ ℝ^{d}
A^l, B^l, C^l ∈ ℝ^{d} for l = 1, …, L
"""
TABLE = """X = E_{vocab(ids + 1)} + P_{place(positions + 1)}
positions_{seq(i)} = i - 1
ids ∈ ℝ^{seq}
E ∈ ℝ^{vocab × d}
P ∈ ℝ^{place × d}
"""
MASK = "M_{s(i), t(j)} = { 0 if j ≤ i + before; -∞ otherwise }\nbefore = 0\n|t| = |s| + before\nA = softmax_{t} M\n"
ROTATED = "turned(X) = X ⊙ cos φ + quarter(X) ⊙ sin φ\nquarter(X) = -X_{pair(1)}\nφ ∈ ℝ^{seq}\nX ∈ ℝ^{seq × pair}\n"
MIXED = "Y = (1 - z) ⊙ h + z ⊙ n\nz, h, n ∈ ℝ^{d}\n"
FREQUENCIES = "ω_{pair(k)} = 1 / θ^{(k - 1) / |pair|}\nθ = 10000\n"
STEPS = """X^0 = E
A^l = softmax_{d} X^{l-1} for l = 1, …, L
H^l = A^l ⊙_{d} W^l for l = 1, …, L
X^l = X^{l-1} + F^l(H^l) for l = 1, …, L
F^l(Z) = Z ⊙ norm_{d} Z
W^l ∈ ℝ^{d} for l = 1, …, L
E ∈ ℝ^{d}
"""
SPREAD = "spread_{ax}(X) = ∑_{ax} (X - mean_{ax} X)^2 / |ax|"
WINDOW = """M_{s(i), t(j)} = { 0 if j = i + before; 0 if 0 ≤ i + before - j < window; -∞ otherwise }
window = 4
before = 0
|t| = |s| + before
A = softmax_{t} M
"""
EMBEDDED = """X = E_{vocab(ids + 1)} + P_{place(positions + 1)} + S_{kind(types + 1)}
ids, positions, types ∈ ℝ^{seq}
E ∈ ℝ^{vocab × d}
P ∈ ℝ^{place × d}
S ∈ ℝ^{kind × d}
"""
HALVES = """R_{d(1)} = X_{d(1)} ⊙ cos φ - X_{d(2)} ⊙ sin φ
R_{d(2)} = X_{d(2)} ⊙ cos φ + X_{d(1)} ⊙ sin φ
X ∈ ℝ^{seq × d[2]}
φ ∈ ℝ^{seq}
"""
TOWERS = """X^0 = E
T^l = X^{l-1} + norm_{d} X^{l-1} for l = 1, …, L
X^l = T^l + norm_{d} T^l ⊙ W^l for l = 1, …, L
Y^0 = X^L
U^n = Y^{n-1} + max_{d} Y^{n-1} for n = 1, …, N
Y^n = U^n + U^n ⊙ V^n for n = 1, …, N
E ∈ ℝ^{d}
W^l ∈ ℝ^{d} for l = 1, …, L
V^n ∈ ℝ^{d} for n = 1, …, N
"""
PIECES = "P_{s(i), d(j)} = { sin(i / (j - 1)) if j > 1; cos i otherwise }\nP ∈ ℝ^{s × d}\n"
CHANGES = [  # a right program, a mistake in it, the code of the warning, and a part of its message
    (LAYERS, "norm_{d} X^{l-1}", "norm_{d} X^{l+1}", 210, "X^{l+1} is not defined for all of its range"),
    (LAYERS, "= X^{l-1} +", "= X^{1-l} +", 210, "is not defined for all of its range"),
    (ATTENTION, "Q ⊙_{key} K / √|key|", "√|key| / (Q ⊙_{key} K)", 411, "is divided by scores"),
    (ATTENTION, "/ √|key| + M", "/ √|key| - M", 411, "is -∞ where it masks"),
    (ATTENTION, "/ √|key| + M", "/ √|key|", 211, "is defined and not used"),
    (BIASES, "W_K + b_K", "W_K - b_K", 213, "is subtracted, and 2 similar formulas have a sum"),
    (BLOCKS, "T^l + B^l", "T^l - B^l", 213, "is subtracted, and 2 similar formulas have a sum"),
    (TABLE, "ids + 1", "ids - 1", 411, "is not an index for the first"),
    (TABLE, "i - 1", "1 - i", 401, "is 1, 0, -1, …"),
    (TABLE, "positions + 1", "positions", 401, "is 0, 1, 2, …"),
    (MASK, "i + before", "before", 410, "never holds, where before = 0"),
    (MASK, "j ≤ i + before", "0 ≤ i + j", 410, "always holds"),
    (MASK, "i + before", "i", 213, "has i without before, and |t| = |s| + before"),
    (WINDOW, "|s| + before", "|s|", 213, "and its indices are compared with i + before"),
    (WINDOW, "|s| + before", "|s| - before", 213, "and its indices are compared with i + before"),
    (WINDOW, "0 ≤ i + before", "0 ≤ i", 213, "has i without before"),
    (EMBEDDED, "types + 1", "types", 213, "types} has no offset, and 2 similar terms have one"),
    (EMBEDDED, "types + 1", "1", 213, "index 1 has no offset"),
    (ROTATED, "+ quarter(X) ⊙ sin φ", "", 411, "has the cos of an angle, and no term with its sin"),
    (ROTATED, "X ⊙ cos φ + ", "", 411, "has the sin of an angle, and no term with its cos"),
    (HALVES, " + X_{d(1)} ⊙ sin φ", "", 411, "has the cos of an angle, and no term with its sin"),
    (BLOCKS, "T^l + B^l", "B^l", 213, "Norm is of B^l alone, and in 2 similar formulas of a sum"),
    (TOWERS, "X^{l-1} + norm_{d} X^{l-1}", "norm_{d} X^{l-1}", 213, "is not a sum, and 3 similar steps are"),
    (MASK, "|s| + before", "before", 310, "is 0, and a size is at least 1"),
    (ROTATED, "X ⊙ cos φ", "X", 411, "is not multiplied by the cos of the angle"),
    (ROTATED, "X ⊙ cos φ", "cos φ", 411, "lacks a factor"),
    (ROTATED, "⊙ sin φ", "", 411, "is not multiplied by the sin of the angle"),
    (MIXED, "1 - z", "1 + z", 411, "weights whose sum is not 1"),
    (MIXED, "1 - z", "z - 1", 411, "weights whose sum is not 1"),
    (FREQUENCIES, "1 / θ^{(k - 1) / |pair|}", "θ^{(k - 1) / |pair|} / 1", 411, "division by 1"),
    (FREQUENCIES, "(k - 1) / |pair|", "|pair| / (k - 1)", 411, "is 0 for k = 1"),
    (FREQUENCIES, "k - 1", "1 - k", 411, "is never positive"),
    (STEPS, "+ F^l(H^l)", "+ H^l", 211, "is defined and not used"),
    (STEPS, "F^l(H^l)", "F^l(X^{l-1})", 211, "H^l is defined and not used"),
    ("Y = X / norm_{d} X\nX ∈ ℝ^{d}", "X / norm_{d} X", "norm_{d} X / X", 411, "and divided by it"),
    ("Y = X / √(mean_{d} (X^2) + ε)\nX ∈ ℝ^{d}", "+ ε", "- ε", 411, "is subtracted under a root"),
    ("Y = (∑_{s} (W ⊙ X)) / ∑_{s} W\nX, W ∈ ℝ^{s × d}", "W ⊙ X", "W", 411, "is divided by itself"),
    (SPREAD, "mean_{ax}", "mean_{chans}", 213, "axis chans is in no other formula; ax is in 2 places"),
    (
        SPREAD.replace("ax", "in_1"),
        "mean_{in_1}",
        "mean_{in_2}",
        213,
        "axis in_2 is in no other formula; in_1 is in 2 places",
    ),
    (SPREAD, "∑_{ax}", "∑_{chans}", 213, "axis chans is in no other formula; ax is in 2 places"),
    ("Y = X / √(∑_{d} (X ⊙ X))\nX ∈ ℝ^{d}", "X / √(∑_{d} (X ⊙ X))", "√(∑_{d} (X ⊙ X)) / X", 411, "and divided by it"),
    (
        "Y = X / √(var_{d} X + 10^{-5})\nX ∈ ℝ^{d}",
        "X / √(var_{d} X + 10^{-5})",
        "√(var_{d} X + 10^{-5}) / X",
        411,
        "has an ε as",
    ),
    ("Y^t = X_{s(t)} for t = 1, …, |s|\nX ∈ ℝ^{s}", "s(t)", "s(1 - t)", 401, "is less than 1 for most of its values"),
    (PIECES, "{ sin(i / (j - 1)) if j > 1; cos i otherwise }", "sin(i / (j - 1))", 411, "is 0 for j = 1"),
    ("|a| = |b| - 1\nY = X_{a(1)}\nX ∈ ℝ^{a}", "|b| - 1", "1 - |b|", 310, "is never positive"),
]


def suspicions(text):
    report = check_document(source_of(parse(text, "text").statements))
    return [(warning.code, warning.message) for warning in report.warnings if warning.code in CODES]


@pytest.mark.parametrize("text", sorted({right for right, *_ in CHANGES}))
def test_a_right_program_is_not_reported(text):
    assert not suspicions(text)


@pytest.mark.parametrize(("right", "old", "new", "code", "message"), CHANGES)
def test_a_mistake_is_reported(right, old, new, code, message):
    assert right.count(old) >= 1
    result = suspicions(right.replace(old, new, 1))
    assert [number for number, _ in result] == [code]
    assert message in result[0][1]


USUAL = {  # definitions, and by what they differ from the usual ones
    r"\text{LayerNorm}(x; g, b) = \frac{x - \nfun{\name{d}}{mean} x}{\sqrt{\nfun{\name{d}}{var} x + \epsilon}} \odot g + b": "",
    r"\text{LayerNorm}(x; g, b) = \frac{x + \nfun{\name{d}}{mean} x}{\sqrt{\nfun{\name{d}}{var} x + \epsilon}} \odot g + b": "a sign: usually x - mean_d(x)",
    r"\text{LN}(z) = b + g \odot \frac{\nfun{\name{c}}{mean} z - z}{\nfun{\name{c}}{std} z}": "the order of operands: usually z - mean_c(z)",
    r"\text{LN}(z) = b + g \odot \frac{z - \frac{1}{|\name{c}|} \nsum{\name{c}} z}{\nfun{\name{c}}{std} z}": "",
    r"\text{RMSNorm}(x) = \frac{g \odot x}{\sqrt{\frac{1}{|\name{d}|} \nsum{\name{d}} x^2 + \epsilon}}": "",
    r"\text{BatchNorm}(x; g, b, m, v) = \frac{m - x}{\sqrt{v + \epsilon}} \odot g + b \] \[ Y = \nsum{\name{d}} \text{BatchNorm}(X; g, b, m, v)": "the order of operands: usually x - m",
    r"\text{Attention}(A, B, C) = (\nfun{\name{s}}{softmax} \frac{A \ndot{\name{k}} B}{\sqrt{|\name{k}|}}) \ndot{\name{s}} C": "",
    r"\text{Attention}(A, B, C) = (\nfun{\name{s}}{softmax} A \ndot{\name{k}} B) \ndot{\name{s}} C": "",
    r"\text{Attention}(Q, K, V, B) = (\nfun{\name{s}}{softmax} (\frac{Q \ndot{\name{k}} K}{\sqrt{|\name{k}|}} - B)) \ndot{\name{s}} V": "a sign: usually Q ⊙_{k} K / √|k| + B",
    r"\text{FFN}(x) = \text{relu}(W^1 \ndot{\name{a}} x - b^1) \ndot{\name{h}} W^2 + b^2": "a sign: usually x ⊙_{a} W^1 + b^1",
    r"\text{FFN}(x) = W^2 \ndot{\name{h}} \sigma(W^1 \ndot{\name{a}} x + b^1) + b^2": "",
    r"\text{FFN}(x) = (\nfun{\name{h}}{softmax} \tanh(W \ndot{\name{a}} x) ) \ndot{\name{h}} U": "",  # another function
    r"\text{GELU}(x) = \frac{x}{2} (1 - \text{erf}(\frac{x}{\sqrt{2}})) \] \[ Y = \nsum{\name{a}} \text{GELU}(X)": "a sign: usually 1 + erf(x / √2)",
    r"\text{GELU}(u) = \frac{1 + \text{erf}(\frac{u}{\sqrt{2}})}{2} u \] \[ Y = \nsum{\name{a}} \text{GELU}(X)": "",
    r"\text{cosine}(u, v) = \frac{u \ndot{\name{a}} v}{\nfun{\name{a}}{norm} u \odot \nfun{\name{a}}{norm} v}": "",
    r"\text{MSE}(u, v) = \nfun{\name{a}}{mean} \left((u + v)^2\right)": "a sign: usually u - v",
    r"\text{KL}(p, q) = \nsum{\name{a}} (p \odot \log \frac{q}{p})": "the order of operands: usually p / q",
}


@pytest.mark.parametrize("text", USUAL)
def test_a_definition_is_compared_with_the_usual_ones(text):
    messages = [warning.message for warning in check_document(rf"\[ {text} \]").warnings if warning.code == 212]
    assert [message.split(" by ")[-1] for message in messages] == [USUAL[text]] * bool(USUAL[text])


UNDER = [  # the carets of definitions that differ by one part
    (r"\text{LN}(x) = \frac{x + \nfun{\name{d}}{mean} x}{\nfun{\name{d}}{std} x}", r"{x + \nfun{\name{d}}{mean} x}"),
    (
        r"\text{LN}(x) = b + g \odot \frac{\nfun{\name{d}}{mean} x - x}{\nfun{\name{d}}{std} x}",
        r"{\nfun{\name{d}}{mean} x - x}",
    ),
    (
        r"\text{RMSNorm}(x) = x / \sqrt{\nfun{\name{d}}{mean} (x^2) - \epsilon}",
        r"{\nfun{\name{d}}{mean} (x^2) - \epsilon}",
    ),
    (
        r"\text{FFN}(x) = \text{relu}(x \ndot{\name{a}} W) \ndot{\name{h}} U - c",
        r"\text{relu}(x \ndot{\name{a}} W) \ndot{\name{h}} U - c",
    ),
    (r"\text{KL}(p, q) = \nsum{\name{a}} (p \odot \log \frac{q}{p})", r"\frac{q}{p}"),
]


@pytest.mark.parametrize(("text", "part"), UNDER)
def test_the_part_that_differs_from_the_usual_definition_is_under_the_caret(text, part):
    source = rf"\[ {text} \]"
    for warning in check_document(source).warnings:
        if warning.code == 212:
            assert warning.span is not None and source[slice(*warning.span)] == part
            return
    pytest.fail("no warning")


RIGHT = (  # what resembles a mistake
    r"\[ h^t = \sigma(W \ndot{\name{a}} h^{t+1}) \quad t = 1, \ldots, n \]",  # running text may say what h^{n+1} is
    r"\[ M_{\name{s}(i), \name{t}(j)} = \begin{cases} 0 & i \le j \\ -\infty & \text{otherwise} \end{cases} \]",
    r"\[ y^t = \nfun{\name{a}}{softmax} h^t \quad t = 1, \ldots, n \] \[ h^t = h^{t-1} + \nsum{\name{b}} X \quad t = 1, \ldots, n \] \[ h^0 = 0 \]",
    r"\[ L = \log \frac{\nsum{\name{a}} \exp X}{\exp X} \]",
    r"\[ Z = X - \nfun{\name{a}}{mean} X \]",
    r"\[ W_{\name{a}(k)} = \theta^{(1 - k)/|\name{a}|} \]",
    r"\[ M_{\name{s}(i), \name{t}(j)} = \begin{cases} 0 & j - w \le i \le j + w \\ -\infty & \text{otherwise} \end{cases} \] \[ A = \nfun{\name{t}}{softmax} M \]",
    r"\[ Y = \nsum{\name{a}} (X_{\name{a}(i)} - X_{\name{a}(i-1)}) \]",
    r"\[ f(x) = w \ndot{\name{d}} x - b \] \[ w, x \in \reals^{\name{d}} \quad b \in \reals \]",  # as for support vectors
    r"\[ Y = \sin(\omega t) \odot X + X \] \[ X \in \reals^{\name{d}} \]",
    r"\[ \nfun{\name{a}}{f}(X) = \sum_i X_{\name{a}(i)} + |\name{a}| \]",
    r"\[ \nfun{\name{a}}{f}(X) = X_{\name{a}\rightarrow\name{b}} + 0 |\name{a}| \]",
    r"\[ \nfun{\name{s}}{Att}(Q, K, V) = \nfun{\name{s}}{softmax}(Q \ndot{\name{k}} K) \ndot{\name{s}} V \]",
    r"\[ \text{LN}_A(X) = X - A + A \odot A \] \[ \text{LN}_B(X) = \nsum{\name{c}} X \]",
    r"\[ \text{f}_{2}(X) = \nsum{\name{a}} X \]",
    r"\[ R = \cos \theta + U \odot \sin \theta \] \[ U \in \reals^{\name{d}} \]",  # of quaternions
    r"\[ G = p \odot B - (1 - p) \odot C \] \[ p, B, C \in \reals^{\name{d}} \]",  # what is won and lost
)


@pytest.mark.parametrize("text", RIGHT)
def test_what_resembles_a_mistake_is_not_reported(text):
    assert not [warning for warning in check_document(text).warnings if warning.code in CODES]


@pytest.mark.parametrize("text", [
    "f(X) = X ⊙ cos φ + X ⊙ X\nX ∈ ℝ^{seq}\nφ ∈ ℝ^{seq}\n",
    "f(X) = W ⊙ cos φ + W ⊙ X\nX, W ∈ ℝ^{seq}\nφ ∈ ℝ^{seq}\n",
    "f(X) = X ⊙ cos X + X ⊙ X\nX ∈ ℝ^{seq}\n",
    "f(X) = X ⊙ cos φ + X ⊙ sin φ\nX ∈ ℝ^{seq}\nφ ∈ ℝ^{seq}\n",
    "Y^t = X_{s(t - |s|)} for t = 1, …, 2 |s|\nX ∈ ℝ^{s}\n",
])  # fmt: skip
def test_a_program_that_resembles_a_mistake_is_not_reported(text):
    assert not suspicions(text)


@pytest.mark.slow
def test_nothing_is_suspected_in_formulas_of_papers():
    documents = paper_documents()
    assert len(documents) >= 60
    result = {name: [code for code in map(first, reported(check_document(text)).elements()) if code in CODES] for name, text in documents.items()}  # fmt: skip
    assert not {name: codes for name, codes in result.items() if codes}


def first(pair):
    return pair[0]


def test_each_rule_reports_something():
    expected = {"missing_members", "unused_results", "wrong_indices", "inverted_quotients", "wrong_signs", "broken_rotations", "lone_axes", "lost_offsets", "lost_residuals", "unusual_definitions"}  # fmt: skip
    assert {rule.__name__ for rule in RULES} == expected
