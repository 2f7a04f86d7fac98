"""Two files for language models: `docs/llms.txt`, a list of the pages, and `docs/llms-full.txt`, the language on one page.

The second is made of the rows of the reference and the cheat sheet, the operators' records and the examples of errors, all of
which the tests of the docs run, and of the examples in Python here, which `tests/test_docs_llms.py` runs.

python docs/_extensions/llms.py --write
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

DOCS = Path(__file__).parent.parent
ROOT = DOCS.parent
for folder in (ROOT, DOCS):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import errors_examples  # noqa: E402
import tables  # noqa: E402

from grammar.errors import CATALOGUE  # noqa: E402
from namedtensor.operators import REGISTRY  # noqa: E402
from namedtensor.operators.usage import format_usage, sets  # noqa: E402

INDEX, FULL = DOCS / "llms.txt", DOCS / "llms-full.txt"
MAX_TOKENS = 8000  # in the second file, counted by `tokens`
ASCII_CHARS_PER_TOKEN = 3.5
SUMMARY = """\
# namedtensor

> Named tensor notation (Chiang, Rush, Barak, TMLR 2023), executable in Python: every axis of a tensor has a name, and formulas, as
> text or as LaTeX, are typed, evaluated, derived and compiled to NumPy, PyTorch or JAX.
"""
INTRODUCTION = f"""{SUMMARY}
Install, in a checkout: `pip install .`. Import: `import namedtensor as nt`. Axes are aligned by name, never by position, and
their order does not matter. An operation broadcasts over the axes that only one operand has.

## Python

```python
>>> import namedtensor as nt
>>> A = nt.tensor([[3.0, 1.0, 4.0], [1.0, 5.0, 9.0]], "height width")  # data, then the names of its axes
>>> x = nt.tensor([2.0, 7.0], "height")
>>> nt.evaluate("A ⊙_{{height}} x", A=A, x=x).tolist()  # multiply, then sum over height
[13.0, 37.0, 71.0]
>>> nt.evaluate("A @_{{height}} x", A=A, x=x).axes  # ASCII; LaTeX works too
('width',)
>>> nt.check("softmax_{{seq}}(Q ⊙_{{key}} K / √|key|) ⊙_{{seq}} V", Q="ℝ^{{key}}", K="ℝ^{{seq × key}}", V="ℝ^{{seq × val}}").type
'ℝ^{{val}}'
>>> Attention = nt.formula('''Attention : ℝ^{{key}} × ℝ^{{seq × key}} × ℝ^{{seq × val}} → ℝ^{{val}}
... Attention(Q, K, V) = softmax_{{seq}}(Q ⊙_{{key}} K / √|key|) ⊙_{{seq}} V''')
>>> Q = K = nt.tensor([[1.0, 0.0], [0.0, 1.0]], "seq key")
>>> V = nt.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]], "seq val")
>>> Attention(Q, K, V).axes  # further axes of an argument, as seq of Q, are lifted over
('seq', 'val')
>>> program = nt.program('''Y = relu(X ⊙_{{chans}} W + b)
... W ∈ ℝ^{{chans × hidden}}
... b ∈ ℝ^{{hidden}}''')  # declared and not defined: parameters
>>> weights = program.init(seed=0, sizes={{"chans": 3, "hidden": 4}}, X="ℝ^{{chans}}")
>>> program(X=nt.tensor([1.0, 2.0, 3.0], "chans"), values=weights).sizes
{{'hidden': 4}}
>>> nt.derivative("x^3", "x").closed_form(x="ℝ")
D = 3 x^2
>>> float(nt.formula("L = ∑_{{a}} x^2").gradient("x")(x=nt.tensor([1.0, 2.0], "a"))["x"].sum("a"))
6.0
>>> print(nt.to_python("X ⊙_{{a}} W", style="readable", X="ℝ^{{n[4] × a[3]}}", W="ℝ^{{a[3] × b[2]}}").splitlines()[-1])
    return X @ W  # n × b
>>> nt.translate("X @ W + b", X="n d", W="d k", b="k").formula
'X ⊙_{{d}} W + b'
>>> bool(nt.equivalent("mean_{{n}} X", "∑_{{n}} X / |n|", X="ℝ^{{n}}"))
True
>>> center = nt.operator("center", "ax -> ax", definition="X − mean_{{ax}} X")  # an operator of your own
>>> nt.formula("center_{{a}} z", operators=[center])(z=nt.tensor([1.0, 3.0], "a")).tolist()
[-1.0, 1.0]
>>> nt.evaluate("A ⊙_{{widht}} x", A=A, x=x)
Traceback (most recent call last):
grammar.errors.NotationError: shape error 301: ⊙_{{widht}} needs axis widht, missing from A and x
  1 | A ⊙_{{widht}} x
    |      ^^^^^
  A : ℝ^{{height[2] × width[3]}}
  x : ℝ^{{height[2]}}
  hint: did you mean width?

```

Tensors have every function below as `nt.NAME(X, axis="a")` and, of one operand, `X.NAME(axis="a")`; `A.array`, `A.to_array("width height")`,
`A.rename(height="rows")`, `A[{{"height": 0}}]`. Indices count from 1 in formulas, and from 0 in Python.

## Rules

- A line is a statement. Definitions may be in any order; the value is the last bare expression, or else the last unused definition.
- A run of letters is one name: separate factors by a space or ⊙. `W^Q` and `b_1` are names; `X^2` is a power.
- Precedence, low to high: `+ −`; ∑; `⊙ · /`; prefix functions and unary −; juxtaposition; `^ _` and calls. `softmax_{{a}} X ⊙ Y` is
  `(softmax_{{a}} X) ⊙ Y`. `A / 2 B` is ambiguous, and an error: write `A / (2 B)`.
- `f : ℝ^{{a}} → ℝ` states which axes a function needs; it is lifted over all others. In `f(X; W)`, W is a parameter.
- `|a|` is the size of an axis. Sizes follow from inputs and declarations; pass others as `sizes={{"a": 3}}`.
- `X^t = f(X^{{t-1}}) for t = 1, …, n` is a recurrence; `{{ x if x > 0; 0 otherwise }}` are cases; ∂Y/∂X* is a derivative.
- A line `from "attention.nt" import Attention` imports a definition; `nt.load_program("model.nt")` and `nt.program(text, folders=".")` read it.
- To rename an axis write `X_{{a→b}}`. Self-attention renames: `softmax_{{seq'}}(X ⊙_{{key}} X_{{seq→seq'}})`.
"""


def full() -> str:
    """Return the text of the second file."""
    return "\n".join([INTRODUCTION, *constructs(), *functions(), *cheats(), *errors()]) + "\n"


def constructs() -> list[str]:
    lines = ["## Syntax: text, ASCII and LaTeX where they differ, meaning", ""]
    for rows in tables.CONSTRUCTS.values():
        for row in rows:
            forms = dict.fromkeys((row.text, row.ascii, row.latex))
            lines.append(f"- {' '.join(f'`{form}`' for form in forms)} {row.meaning}")
    return [*lines, ""]


def functions() -> list[str]:
    lines = ["## Built-in functions: use, signature, meaning", ""]
    for record in dict.fromkeys(REGISTRY.values()):
        if record.name[0].isalpha():
            lines.append(f"- `{format_usage(record)}` {sets(record)}: {record.meaning}".replace(" : ", ": "))
    return [*lines, ""]


def cheats() -> list[str]:
    lines = ["## From NumPy (arrays have the axes of the formula's tensors in order)", ""]
    lines += [
        f"- `{row.formula}`: `{row.numpy}`" for rows in tables.CHEATS.values() for row in rows if len(row.numpy) < 60
    ]
    return [*lines, ""]


def errors() -> list[str]:
    lines = ["## Errors: code, meaning, wrong → fixed", ""]
    for code, title in CATALOGUE.items():
        example = next((other for other in errors_examples.EXAMPLES.get(code, ()) if is_short(other)), None)
        change = f": `{example.formula}` → `{example.fixed}`" if example is not None else ""
        lines.append(f"- {code} {title}{change}")
    return lines


def is_short(example: errors_examples.Example) -> bool:
    return (
        bool(example.fixed and example.formula)
        and "\n" not in example.formula + example.fixed
        and len(example.formula) < 50
    )


def tokens(text: str) -> int:
    """Return an upper bound for the number of tokens: one for 3.5 ASCII characters, and one for each other character."""
    other = sum(not character.isascii() for character in text)
    return round((len(text) - other) / ASCII_CHARS_PER_TOKEN + other)


def index() -> str:
    """Return the text of the first file, which lists each page with its first sentence."""
    lines = [
        SUMMARY,
        "## The language on one page",
        "",
        f"- [{FULL.name}]({FULL.name}): syntax, functions, errors and examples",
        "",
    ]
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    for section in page.split("\n### ")[1:]:
        title, _, body = section.partition("\n")
        links = re.findall(r"^- \[(.+)\]\((.+)\)$", body, re.MULTILINE)
        if links:
            lines += [f"## {title}", ""]
            lines += [f"- [{text}]({address.removesuffix('.md')}.html)" for text, address in links] + [""]
    return "\n".join(lines)


FILES = {INDEX: index, FULL: full}

if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        for path, make in FILES.items():
            path.write_text(make(), encoding="utf-8")
    print(f"{tokens(full())} of {MAX_TOKENS} tokens")
