"""Strings that are almost formulas, and a process that evaluates them: what `test_fuzz.py` is made of.

A string is a formula that is mutated, two that are spliced, words of the notation in any order, or any characters. A
number names it: `string(number)` is the same each time, so that what fails can be tried again.

    python tests/fuzzing.py 4711        evaluates one string and says what came of it
"""

from __future__ import annotations

import random
import re
import resource
import signal
import sys
import time
import traceback
from typing import Any, NamedTuple

SECONDS = 5.0  # of the processor, for one string: what the language promises
MEMORY = 2**30  # bytes that a process may take while it works through its strings

FORMULAS = r"""
A + x
A ⊙ x
A ⊙_{width} y
A @_{height} x
Q ⊙_key K / √|key|
A ⊙_{height, width} A
softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V
softmax_{width} A
softmax_width A ⊙ x
∑_{width} A
∑_{height, width} A ⊙ A
sum_{width} A - mean_{width} A
∏_{height} x
var_{width} A + std_{height} A
norm_{width}(A; 2)
norm_{width}(A; p)
max_{width} A - min_{width} A
max(A, x)
argmax_{width} A
logsumexp_{width} A
logsoftmax_{height} A
cumsum_{width} A
cumprod_{width} A
sort_{width} A
standardize_{width} A
exp(−A²/2)
log(1 + exp A)
σ(A) + relu(A) + tanh A
gelu(A) + silu(x) + softplus y + erf(x)
sin^2 x + cos^2 x
clip(A, 0, 3)
where(A > 2, A, 0)
𝕀[A > 2 ∧ A < 5]
I[not (A = x) or A != 1]
{ 0 if A ≤ x; -∞ otherwise }
{ A if A >= 2; 2A if x odd; x even + 1 otherwise }
[3, 1, 4; 1, 5, 9]_{height, width}
[1, 2, 3]_height ⊙ A
[A + x]_{height→row}
A_{height→width, width→height}
A_{(height,width)→layer}
L_{layer→(heads,key)}
A^* + A_{height→height*}
A^†
A_{height(1), width(3)}
A_{height(n)}
[A + x]_{height(2)}
index_{height}(x, I)
x_{height(I)}
maxk_{layer,2} L
argmaxk_{layer,2} L
onehot_{vocab}(I)
unroll_{layer,kernel} L
pool_{layer,kernel} L
concat_{height}(x, x)
x ⊕_{height} A
stack_{k}(x, x + 1, 2x)
I_{height,height'} ⊙_{height} x
iota_{height} + x
det_{row,column} S + trace_{row,column} S
inv_{row,column} S
|height| + |width|
|n| + abs(A)
size(height) · 2
√A / √(A + 1)
A / (2 x) + (A / 2) x
2 A x + π e^2 - ε
x^2 + x² + x^{-1} + x^{n-1}
A^x^2
-x + −(−x)
a = 1
Y = A + 1
Y = A + 1 ∈ ℝ^{height × width}
Y = ∑_{width} A = A ⊙_{width} [1, 1, 1]_{width}
S = 2 = 1 + 1
f(X) = X + 1
f(t) = 2 t
g_{ax} X = X - max_{ax} X
f(t; w) = w t
P ∈ ℝ^{seq[4]}
P_{seq(i)} = i^2
Y ∈ ℝ^{seq[3] × chans[2]}
Y_{seq(i), chans(j)} = i + 10 j
p_{chans(2k+1)} = k for k = 0, …, 1
p_{chans(2k+2)} = −k for k = 0, …, 1
∑_i x_{height(i)}
∑_{i=1}^{n} i^2
∏_{i=1}^{4} (x + i)
X^l = X^{l-1} + 1 for l = 1, …, L
X^0 = x
∂(A^2)
d(A^2)/dA*
∂(softmax_{width} A)/∂A*
x − 0.1 ∂(∏_{height} x ⊙ x)/∂x
∂(cumsum_{width} A^3 ⊙_{width} y)/∂A*
∂(A_{height(2)} ⊕_{width} maxk_{width,2} y_{width→width})/∂y*
∂(∂(∑_{layer} L^3)/∂L*)/∂L†
∂L/∂x^1*
|key| = |layer|/|heads|
W ∈ ℝ^{width × out}
γ, β ∈ ℝ^{width}
I ∈ {0, 1}^{seq}
J ∈ [4]^{seq}
u ∈ [0, 1]
f : ℝ^{width} → ℝ
f(X) = ∑_{width} X
f(A)
Attention : ℝ^{key} × ℝ^{seq × key} × ℝ^{seq × val} → ℝ^{val}
Attention(Q, K, V) = softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V
Attention(Q, K, V)
standardize_{ax} : ℝ^{ax} → ℝ^{ax}
m_{ax}(X) = (X − mean_{ax} X) / √(var_{ax} X + ε)
m_{width}(A)
FFN^l(X) = relu(X + l) for l = 1, …, 2
X ★_{ax} Y = X + Y
x ★_{height} A
X_{seq→seq'} + 1
W^Q ⊙_{width} A
W^{1,Q} + b_1 + LN_W
# a comment
A \ndot{\width} y
\nfun{\width}{softmax} A
\frac{\partial (A \ndot{\width} \exp y)}{\partial y^*}
\nsum{\width} A
\nsum{\height \\ \width} A
Q \ndot{\key} K
\frac{A + 1}{\sqrt{2}}
\sqrt[3]{A}
\nfun{\seq}{softmax} \left( \frac{Q \ndot{\key} K}{\sqrt{|\key|}} \right) \ndot{\seq} V
A \odot x \cdot 2
x \ncat{\height} x
A_{\height\rightarrow\name{row}}
A_{(\height,\width)\rightarrow\layer}
A_{\height(1),\width(3)}
\nmatrix{\height}{\width}{3 & 1 & 4 \\ 1 & 5 & 9}
\nfun{\height}{norm_\mathit{p}} x
\begin{cases} 0 & x \leq 2 \\ 1 & \text{otherwise} \end{cases}
\begin{align*} B &= A + x \\ C &= \nsum{\width} B \end{align*}
\begin{aligned} Y &= \exp A & Z &= Y + 1 \end{aligned}
\mathbb{I}[A > 2 \land x \neq 1]
f \colon \reals^{\width} \rightarrow \reals
f(X) = \nsum{\width} X
W \in \mathbb{R}^{\height[3] \times \width}
\gamma, \beta \in \reals^{\width}
\sum_{i=1}^{n} i^2
\sum_i x_{\height(i)}
\newcommand{\twice}[1]{2 #1} \twice{A}
\ndef{\hgt}{height} \nsum{\hgt} A
X^{l} &= X^{l-1} + 1 & l &= 1, \ldots, 3
\frac{\partial A}{\partial x^*}
\nfun{\height,\name{h'}}{I} + 1
A^{-1} + \mathrm{relu}(A) + \operatorname{erf}(x)
\[ A + x \] where \( x \) is a vector
$A + \text{relu}(x)$
"""

# Joined to programs, so that statements meet statements.
LINES = [line for line in FORMULAS.splitlines() if line]

WORDS = (
    r"""
A x y Q K V L S n p I J s W X Y f g softmax sum mean max exp log index concat rename pool unroll onehot iota where norm if
otherwise for in and or not odd even inf d R height width seq key val layer heads ax l t i j 0 1 2 3 1.5 1e308 9999999999
+ - * / ^ _ = ≠ < ≤ > ≥ ∧ ∨ ¬ ⊙ ⊕ ★ · √ ∑ ∏ ∂ ∈ ℝ × → : ; , . … ... -> != <= >= ( ) [ ] { } | ' ″ ∗ † # @ & % $ " ` ~ ! ? \
_{width} _{height} _{key} ⊙_{width} ^{2} ^2 ² ₁ ₐₓ _{ _{} ^{ (1) [2] π e ε ∞ α β γ σ 𝕀[ |height| |x| f(X)=
\frac \sqrt \nsum \nfun \ndot \ncat \nbin \nmatrix \name \mathsf \height \width \seq \key \reals \mathbb{R} \in \colon \to
\rightarrow \begin{cases} \end{cases} \begin{align*} \end{align*} \left( \right) \\ \quad \text{where} \newcommand \ndef \def
\renewcommand \DeclareMathOperator \sum \prod \partial \leq \land \odot \cdot \times \otimes \mathcal \mathrm \prime \ast
\vdots \ldots \, \! \; \{ \} \[ \] \( \) \label{a} \notag \displaystyle \bigl \Bigr #1 #2
""".split()
    + ["\n", " ", "  ", "\t"]
)

STRANGE = [*"\x00\x01\x07\x1b\x7f\x85\xa0\xad", "\r", "\r\n", "\v", "\f"]
STRANGE += [
    chr(code) for code in (0x0301, 0x20D7, 0x200B, 0x200D, 0x200E, 0x200F, 0x202E, 0x2028, 0x2029, 0x2066, 0xFEFF)
]
STRANGE += [chr(code) for code in (0xD800, 0xDFFF, 0xFFFE, 0xFFFF, 0x10FFFF, 0x1F600, 0x1D53C, 0x1D4AE, 0x0661, 0x0967)]
STRANGE += list("高深ñﬁﬀΩΩKÅİıßẞªº⁰⁻⁺₊₋ₒ½Ⅷ①²³⁄∕−–—‐＋＝（［｛𝟙𝑥ϵϑϖℓℵ∅∀∃∇∫≈≡⊗∘⟨⟩⌊⌋ا‮שא")


def mutated(choose: random.Random, text: str) -> str:
    """`text` with a few characters or words deleted, inserted, swapped or repeated."""
    for _ in range(choose.choice((1, 1, 1, 2, 2, 3, 5))):
        position, other = sorted((choose.randint(0, len(text)), choose.randint(0, len(text))))
        short = min(other, position + choose.choice((1, 1, 2, 4)))
        kind = choose.randrange(8)
        if kind == 0:
            text = text[:position] + text[short:]
        elif kind == 1:
            text = text[:position] + choose.choice(WORDS) + text[position:]
        elif kind == 2:
            text = text[:position] + choose.choice(WORDS) + text[short:]
        elif kind == 3:
            text = text[:short] + text[position:]
        elif kind == 4 and other < len(text):
            text = (
                text[:position]
                + text[other]
                + text[position + 1 : other]
                + text[position : position + 1]
                + text[other + 1 :]
            )
        elif kind == 5:
            text = text[:position] + text[position:other] * choose.choice((0, 2, 3, 9)) + text[other:]
        elif kind == 6:
            text = text[:position] + choose.choice(STRANGE) + text[position:]
        else:
            words = text.split(" ")
            choose.shuffle(words)
            text = " ".join(words)
    return text[:4000]


def spliced(choose: random.Random) -> str:
    left, right = choose.choice(LINES), choose.choice(LINES)
    return left[: choose.randint(0, len(left))] + right[choose.randint(0, len(right)) :]


def program(choose: random.Random) -> str:
    return "\n".join(choose.choice(LINES) for _ in range(choose.choice((2, 2, 3, 4, 6))))


def words(choose: random.Random) -> str:
    return choose.choice(("", " ")).join(choose.choice(WORDS) for _ in range(choose.randint(1, 14)))


def characters(choose: random.Random) -> str:
    def character() -> str:
        ranges = ((0x20, 0x7E), (0x20, 0x7E), (0, 0x2FF), (0x370, 0x3FF), (0x2000, 0x2BFF), (0, 0xFFFF), (0, 0x10FFFF))
        return choose.choice(STRANGE) if choose.random() < 0.2 else chr(choose.randint(*choose.choice(ranges)))

    return "".join(character() for _ in range(choose.randint(0, 30)))


def string(number: int) -> str:
    """The string of this number."""
    choose = random.Random(number)
    kind = choose.random()
    if kind < 0.55:
        return mutated(choose, choose.choice(LINES))
    if kind < 0.70:
        return spliced(choose)
    if kind < 0.80:
        return mutated(choose, program(choose))
    if kind < 0.92:
        return words(choose)
    return characters(choose)


def extremes() -> dict[str, str]:
    """Strings that are too much of something."""
    digits = "9" * 10**5
    bomb = r"\newcommand{\a}{1+}"
    for before, name in zip("abcdefgh", "bcdefghi"):
        bomb += rf"\newcommand{{\{name}}}{{" + rf"\{before}" * 10 + "}"
    return {
        "100000 round brackets": "(" * 10**5 + "1" + ")" * 10**5,
        "100000 opening brackets": "[" * 10**5,
        "100000 closing brackets": "}" * 10**5,
        "150 round brackets": "(" * 150 + "A" + ")" * 150,
        "150 braces in exponents": "x" + "^{x" * 150 + "}" * 150,
        "100000 braces of LaTeX": r"\frac" * 10**5,
        "190 fractions": r"\frac{1}{" * 190 + "A" + "}" * 190,
        "190 roots": r"\sqrt{" * 190 + "A" + "}" * 190,
        "fractions without braces": r"\frac 1 " * 3000 + "2",
        "5000 environments": r"\begin{align}" * 5000,
        "150 environments": r"\begin{cases} 1 & " * 150 + "1 > 0" + r"\end{cases}" * 150,
        "a power of powers": "10^10^10",
        "a power of a power": "10^{10^{10}}",
        "powers to the right": "9" + "^{9" * 100 + "}" * 100,
        "a long number": digits,
        "a long fraction": "0." + digits,
        "a great exponent": "1e" + digits,
        "a small exponent": "1e-999999999",
        "a great index": f"x_{{height({digits})}}",
        "a great size": "Y ∈ ℝ^{seq[10^18]}\nY_{seq(i)} = i",
        "greater sizes": "Y ∈ ℝ^{a[10^18] × b[10^18] × c[10^18]}\nY_{a(i), b(j), c(k)} = i + j + k",
        "a great size of iota": "|a| = 10^18\niota_{a} + 1",
        "a great size of an identity": "|a| = 10^9\nI_{a,a'} + 1",
        "a great size of one-hot": "|a| = 10^12\nonehot_{a}(I)",
        "a great outer product": "∑_{a} 1 + A_{height→a} ⊙ A_{height→b} ⊙ A_{height→c} ⊙ A_{width→d}",
        "many axes": " ⊙ ".join(f"x_{{height→a{n}}}" for n in range(40)),
        "as many axes as sixty-five": " + ".join(f"(1 + [0]_{{a{n}}})" for n in range(65)),
        "a sum of many terms": "∑_{i=1}^{10^15} i",
        "a product of many terms": "∏_{i=1}^{10^5} 10^i",
        "a sum that ends before it begins": "∑_{i=10^9}^{-10^9} i",
        "a long recurrence": "X^0 = 1\nX^l = X^{l-1} + 1 for l = 1, …, 10^12",
        "a recurrence within the limit": "X^0 = 1\nX^l = X^{l-1} / 2 + x for l = 1, …, 300",
        "a recurrence that doubles": "X^0 = 1\nX^l = X^{l-1} + X^{l-1} for l = 1, …, 900",
        "a recurrence of two": "X^0 = 1\nX^1 = x\nX^l = X^{l-1} + X^{l-2} for l = 2, …, 300",
        "a recurrence that needs itself": "X^l = X^l + 1 for l = 1, …, 3",
        "a recurrence from afar": "X^0 = 1\nX^l = X^{l-1} for l = -10^9, …, 3",
        "a range over elements": "Y_{seq(k)} = k for k = 1, …, 10^9",
        "a program that needs itself": "\n".join(f"a{n} = a{(n + 1) % 500} + 1" for n in range(500)),
        "a chain of definitions": "\n".join(f"a_{n} = a_{n + 1} + 1" for n in range(1500)) + "\na_1500 = 1\na_0",
        "a chain of functions": "\n".join(f"f_{n}(t) = f_{n + 1}(t) + 1" for n in range(300))
        + "\nf_300(t) = t\nf_0(1)",
        "functions that double": "f_0(t) = t + t\n"
        + "\n".join(f"f_{n}(t) = f_{n - 1}(f_{n - 1}(t))" for n in range(1, 60))
        + "\nf_59(x)",
        "functions that branch": "f_0(t) = t\n"
        + "\n".join(f"f_{n}(t) = f_{n - 1}(t) + f_{n - 1}(t + 1)" for n in range(1, 60))
        + "\nf_59(x)",
        "tensors that double": "a_0 = x\n"
        + "\n".join(f"a_{n} = a_{n - 1} + a_{n - 1}" for n in range(1, 60))
        + "\na_59",
        "a function of itself": "f(t) = f(f(t))\nf(1)",
        "functions of each other": "f(t) = g(t)\ng(t) = f(t)\nf(1)",
        "3000 statements": "\n".join(f"a_{n} = {n}" for n in range(3000)),
        "3000 values": "\n".join("A + x" for n in range(3000)),
        "3000 functions": "\n".join(f"f_{n}(t) = t + c_{n}\nc_{n} = t" for n in range(1500)) + "\nf_3(1)",
        "10000 terms": "A" + " + x" * 10**4,
        "10000 factors": "A" + " ⊙ x" * 10**4,
        "10000 quotients": "A" + " / x" * 10**4,
        "10000 letters side by side": "x " * 10**4,
        "10000 minus signs": "-" * 10**4 + "x",
        "3000 minus signs of a number": "−" * 3000 + "1",
        "10000 roots": "√" * 10**4 + "x",
        "10000 powers": "x" + "^2" * 10**4,
        "10000 functions": "exp " * 10**4 + "x",
        "10000 sums": "∑_{height} " * 10**4 + "x",
        "10000 nots": "𝕀[" + "¬" * 10**4 + "(x > 1)]",
        "10000 comparisons": "𝕀[" + "x > " * 10**4 + "1]",
        "10000 ands": "𝕀[x > 1" + " ∧ x > 1" * 10**4 + "]",
        "10000 equal signs": "x = " * 10**4 + "x",
        "10000 renames": "x" + "_{height→a}_{a→height}" * 5000,
        "10000 stars": "x" + "^*" * 10**4,
        "10000 primes": "x" + "'" * 10**4,
        "10000 subscripts": "x" + "_1" * 10**4,
        "10000 arguments": "max(" + ", ".join("x" for _ in range(10**4)) + ")",
        "a stack of many": "stack_{k}(" + ", ".join("x" for _ in range(3000)) + ")",
        "10000 cases": "{ " + "; ".join("1 if x > 1" for _ in range(3000)) + "; 0 otherwise }",
        "a literal of many": "[" + ", ".join("1" for _ in range(30000)) + "]_{a}",
        "a literal of many parts": "[" + ", ".join("x" for _ in range(3000)) + "]_{a}",
        "a literal of many rows": "[" + ";".join("1" for _ in range(10000)) + "]_{a,b}",
        "a long name": "a" * 10**6,
        "a long axis": "softmax_{" + "a" * 10**6 + "} x",
        "a long line": "A + " + " " * 10**6 + "?",
        "a long comment": "A #" + "x" * 10**6,
        "many lines": "\n" * 10**6 + "?",
        "macros that grow": bomb + r"\i 1",
        "macros of each other": r"\newcommand{\a}{\b}\newcommand{\b}{\a} \a",
        "a macro of itself": r"\newcommand{\a}{\a\a} \a",
        "macros with arguments that grow": r"\newcommand{\a}[1]{#1+#1+#1+#1}" + r"\a{" * 60 + "1" + "}" * 60,
        "10000 macros": "".join(rf"\newcommand{{\m{'abcdefghij'[n % 10]}{'x' * (n // 10)}}}{{1}}" for n in range(2000))
        + r"\ma",
        "half a pair": "\ud800 + \udfff",
        "the null character": "A +\x00 x",
        "a terminal's bell and colors": "A \x1b[31m\x07 + x",
        "a right-to-left line": "‮A + ‏x‎ + ?",
        "combining characters": "x" + "\u0301" * 10**4,
        "every white space": "A\u2003+\u3000x\u2028+\u00a0y",
    }


def given() -> dict[str, Any]:
    """Small tensors and numbers for the names that the formulas use."""
    import numpy as np

    import namedtensor as nt

    draw = np.random.default_rng(0)

    def tensor(axes: str, *shape: int):
        return nt.tensor(draw.standard_normal(shape), axes)

    return {
        "A": tensor("height width", 3, 3),
        "x": tensor("height", 3),
        "y": tensor("width", 3),
        "Q": tensor("seq key", 2, 4),
        "K": tensor("seq key", 2, 4),
        "V": tensor("seq val", 2, 3),
        "L": tensor("layer", 8),
        "S": tensor("row column", 3, 3),
        "W^Q": tensor("width out", 3, 2),
        "b_1": tensor("out", 2),
        "I": nt.tensor(np.array([1, 2]), "seq"),
        "n": 3,
        "p": 2,
        "s": 0.5,
    }


SIZES = {"heads": 2, "kernel": 2, "vocab": 5, "chans": 4, "L": 3}


class Failure(NamedTuple):
    """A string that did not give a value or a NotationError in bounded time."""

    name: str
    text: str
    why: str


class Overtime(BaseException):
    """Raised by the alarm; no `except Exception` can hold it back."""


def _ring(number, frame):
    raise Overtime("".join(traceback.format_stack(frame)[-6:]))


def sizes_in(text: str) -> dict[str, int]:
    """The sizes of what a formula speaks of: others are refused before it is read any further."""
    words = set(re.findall(r"[^\W_]+", text))
    return {name: size for name, size in SIZES.items() if name in words}


def attempt(name: str, text: str, values: dict[str, Any]) -> Failure | None:
    """Evaluate one string; None where all is as it should be."""
    import namedtensor as nt
    from namedtensor.core.settings import Limits

    limits = Limits(max_result_bytes=2**24, max_steps=1000)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        try:
            nt.evaluate(text, values, sizes=sizes_in(text), limits=limits)
        except nt.NotationError as error:
            shown = str(error)
            shown.encode()
            if not all(line.isprintable() for line in shown.split("\n")):
                return Failure(name, text, f"its message holds what is not printable: {shown!r}")
    except Overtime as late:
        return Failure(name, text, f"it took more than {SECONDS} seconds, at\n{late}")
    except BaseException as problem:
        last = "".join(traceback.format_exception(problem, limit=-4))
        return Failure(name, text, last)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None


def confined() -> None:
    """Let this process take no more than MEMORY beyond what it has when all is loaded, and ring it when time is up."""
    given()
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    signal.signal(signal.SIGPROF, _ring)


def work(numbers: range) -> tuple[list[Failure], float]:
    """The failures among the strings of these numbers, and the seconds that it took."""
    start = time.perf_counter()
    values = given()
    attempts = (attempt(str(number), string(number), values) for number in numbers)
    return [failure for failure in attempts if failure is not None], time.perf_counter() - start


def work_extreme(name: str) -> Failure | None:
    return attempt(name, extremes()[name], given())


if __name__ == "__main__":
    confined()
    for number in sys.argv[1:]:
        text = extremes()[number] if number in extremes() else string(int(number))
        print(repr(text[:2000]))
        failure = attempt(number, text, given())
        print(failure.why if failure else "as it should be")
