"""Documents that are almost right, and a process that checks them: what `test_fuzz_documents.py` is made of.

A document is a text of the repository, or a piece of one, that is mutated: lines, tokens and braces deleted, repeated or
swapped; two texts spliced; macros defined and used at random; cut off; with bytes and characters that belong nowhere. A
number names it: `document(number)` is the same each time, so that what fails can be tried again.

    python tests/fuzzing_documents.py 4711                          checks one document and says what came of it
    python tests/fuzzing_documents.py --texts FOLDER --count 50000  mutates the texts of a folder, and those of here too
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from fuzzing import FORMULAS, STRANGE, WORDS, Failure, Overtime, _ring

ROOT = Path(__file__).parent.parent
SECONDS = 5.0  # of the processor, for one document
MEMORY = 2**30
LONGEST = 6000  # characters of a text that is mutated

GENERATED = r"""
\documentclass{article}
\usepackage{namedtensor}
\input{chapter} \include{chapter} \subfile{chapter} \import{./}{chapter} \usepackage{local}
\ndef{\ax}{ax} \ndef{\seq}{seq} \ndef{\key}{key} \ndef{\val}{val}
\newcommand{\att}[1]{\nfun{\seq}{softmax} #1} \def\two#1#2{#1 \ndot{\key} #2} \let\other\att
\begin{document}
\section{One} Let $Q \in \reals^{\key}$ and $K \in \reals^{\seq \times \key}$, $V \in \reals^{\seq\times\val}$.
\begin{align*}
  \text{Attention} &\colon \reals^{\key} \times \reals^{\seq\times\key} \times \reals^{\seq\times\val} \rightarrow \reals^{\val} \\
  \text{Attention}(Q, K, V) &= \att{\frac{\two{Q}{K}}{\sqrt{|\key|}}} \ndot{\seq} V && \text{as ever}
\end{align*}
\iffalse \[ Y = \nsum{\ax} \] \fi % a comment with $ and {
\begin{verbatim} $ { \section{no} \end{verbatim} \verb|$|
\section{Two $x$} \[ A = \nmatrix{\ax}{\seq}{1 & 2 \\ 3 & 4} \] and $$ A_{\ax(1), \seq(2)} = 2 $$ then \( A + \nsum{\ax} A \)
\[ Y = \text{Attention}(Q, K, V) \quad \text{where} \quad Q = 1 \] \[ Y = 2 \] $\text{inv}$
\end{document}
"""
MARKDOWN = r"""
# One
It costs $5, or $X \in \reals^{\name{seq}}$ and `$code$`.
```math
Y = \nsum{\name{seq}} X
```
## Two
$$ \newcommand{\seq}{\name{seq}} Z = \nfun{\seq}{softmax} Y $$ and \\(W = Z\\), $`W + 1`$ <!-- $ -->
~~~python
"$x$"
~~~
"""
MACROS = r"""
\input{chapter} \input{fuzzed} \include{../fuzzed} \input{/dev/null} \usepackage{local} \input \endinput \end{document}
\iffalse \fi \else \begin{verbatim} \end{verbatim} \verb| \newcommand{\a}{\a} \a \def\b#1{#1#1} \b \let\a\b \ndef{\ax}{ax} \ax
\newcommand{\x}[1]{\x{#1}} \x \DeclareMathOperator{\op}{op} \op \begin{align} \end{align} \begin{equation*} \section{ \chapter{A}
\text{ \mbox{ \intertext{ \left( \right. \[ \] \( \) $$ $ \\ \\[1ex] & % \nmatrix{ \nfun{\ax} \ndot{} \nbin \reals^{ \colon \in
``` ```math ~~~ <!-- --> # ## \\( \\) \\[ \\] $` `$
""".split()


def own_texts() -> list[tuple[str, str]]:
    """The texts of the repository: names and contents of its documents, pages, and of those that tests generate."""
    places = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "examples").glob("*.*")]
    texts = [
        (position.name, position.read_text(encoding="utf-8"))
        for position in sorted(places)
        if position.suffix in (".tex", ".md", ".nt")
    ]
    formulas = "\n\n".join(rf"\[ {line} \]" for line in FORMULAS.strip().splitlines() if "\\" in line)
    pages = "\n".join(re.findall(r"^(?:.*\\n(?:dot|fun|sum|matrix).*)$", (ROOT / "tests" / "test_grammar_latex.py").read_text("utf-8"), re.MULTILINE))  # fmt: skip
    return [
        *texts,
        ("generated.tex", GENERATED),
        ("generated.md", MARKDOWN),
        ("formulas.tex", formulas),
        ("latex.tex", pages),
    ]


@lru_cache(maxsize=1)
def texts() -> tuple[tuple[str, str], ...]:
    """The texts that are mutated: those of the repository, and of NAMEDTENSOR_TEXTS, a folder."""
    result = own_texts()
    folder = os.environ.get("NAMEDTENSOR_TEXTS")
    for path in sorted(Path(folder).rglob("*.*")) if folder else ():
        if path.suffix in (".tex", ".md", ".nt", ".html") and path.is_file():
            result.append((path.name, path.read_text(encoding="utf-8", errors="replace")))
    return tuple(result)


class Fuzzed(NamedTuple):
    """A document, the ending of its name, and a chapter and a style file beside it."""

    data: bytes
    ending: str
    chapter: str


# ------------------------------------------------------------------------------------------------------------- mutations
def piece(choose: random.Random) -> tuple[str, str]:
    """A text, or of a long one as much as can be mutated often."""
    name, text = choose.choice(texts())
    if len(text) > LONGEST:
        start = choose.randrange(len(text) - LONGEST // 2)
        text = text[start : start + choose.choice((LONGEST // 4, LONGEST // 2, LONGEST))]
    return Path(name).suffix, text


def lines(choose: random.Random, text: str) -> str:
    rows = text.split("\n")
    first, second = choose.randrange(len(rows)), choose.randrange(len(rows))
    kind = choose.randrange(3)
    if kind == 0:
        del rows[first : first + choose.choice((1, 1, 3))]
    elif kind == 1:
        rows[second:second] = rows[first : first + choose.choice((1, 2, 5))]
    else:
        rows[first], rows[second] = rows[second], rows[first]
    return "\n".join(rows)


TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\w+|\s+|.", re.DOTALL)


def tokens(choose: random.Random, text: str) -> str:
    parts = TOKEN.findall(text) or [""]
    first, second = choose.randrange(len(parts)), choose.randrange(len(parts))
    kind = choose.randrange(4)
    if kind == 0:
        del parts[first]
    elif kind == 1:
        parts.insert(first, parts[second])
    elif kind == 2:
        parts[first], parts[second] = parts[second], parts[first]
    else:
        parts[first] = choose.choice(WORDS)
    return "".join(parts)


def braces(choose: random.Random, text: str) -> str:
    places = [match.start() for match in re.finditer(r"[{}$\[\]()&%`]|\\\\", text)] or [0]
    at = choose.choice(places)
    added = choose.choice(("", "", "{", "}", "$", "$$", "[", "]", "\\\\", "%", "&", "`", "```\n"))
    return text[:at] + added + text[at + choose.choice((0, 1)) :]


def spliced(choose: random.Random, text: str) -> str:
    _, other = piece(choose)
    return text[: choose.randint(0, len(text))] + other[choose.randint(0, len(other)) :]


def macros(choose: random.Random, text: str) -> str:
    at = choose.randint(0, len(text))
    return (
        text[:at]
        + choose.choice((" ", "\n", "")).join(choose.choice(MACROS) for _ in range(choose.randint(1, 4)))
        + text[at:]
    )


def cut(choose: random.Random, text: str) -> str:
    return text[: choose.randint(0, len(text))] if choose.random() < 0.7 else text[choose.randint(0, len(text)) :]


def strange(choose: random.Random, text: str) -> str:
    for _ in range(choose.choice((1, 3, 10))):
        at = choose.randint(0, len(text))
        text = text[:at] + choose.choice(STRANGE) + text[at:]
    return text


def repeated(choose: random.Random, text: str) -> str:
    start, end = sorted((choose.randint(0, len(text)), choose.randint(0, len(text))))
    end = min(end, start + 400)
    return text[:start] + text[start:end] * choose.choice((2, 3, 20)) + text[end:]


MUTATIONS = (lines, lines, tokens, tokens, tokens, braces, braces, spliced, macros, macros, cut, strange, repeated)


def noise(choose: random.Random, data: bytes) -> bytes:
    for _ in range(choose.choice((1, 5, 50))):
        at = choose.randint(0, len(data))
        data = data[:at] + bytes([choose.randrange(256)]) + data[at + choose.choice((0, 1)) :]
    return data


def document(number: int) -> Fuzzed:
    """The document of this number."""
    choose = random.Random(number)
    ending, text = piece(choose)
    for _ in range(choose.choice((1, 1, 2, 3, 5, 8))):
        text = choose.choice(MUTATIONS)(choose, text)
    data = text[: 3 * LONGEST].encode("utf-8", "surrogatepass")
    if choose.random() < 0.05:
        data = text.encode("utf-16", "surrogatepass")
    if choose.random() < 0.1:
        data = noise(choose, data)
    chapter = (
        tokens(choose, GENERATED) if choose.random() < 0.2 else r"\newcommand{\chap}{\name{chap}} $X = \nsum{\chap} Y$"
    )
    return Fuzzed(data, ".tex" if ending == ".html" or choose.random() < 0.1 else ending, chapter)


# --------------------------------------------------------------------------------------------------------------- checking
def attempt(name: str, fuzzed: Fuzzed, folder: Path) -> Failure | None:
    """Check one document with the command; None where all is as it should be."""
    from namedtensor.cli.commands import main

    path = folder / f"fuzzed{fuzzed.ending}"
    path.write_bytes(fuzzed.data)
    for other in ("chapter.tex", "local.sty"):
        (folder / other).write_text(fuzzed.chapter, encoding="utf-8", errors="surrogatepass")
    stream, complained = io.StringIO(), io.StringIO()
    options = ([], ["--all"], ["--json"], ["--types", "--ascii"])[len(fuzzed.data) % 4]
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(complained):
            status = main(["check", str(path), *options])
    except Overtime as late:
        return Failure(name, repr(fuzzed), f"it took more than {SECONDS} seconds, at\n{late}")
    except BaseException as problem:
        return Failure(name, repr(fuzzed), "".join(traceback.format_exception(problem, limit=-6)))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if status not in (0, 1, 2) or not (stream.getvalue() + complained.getvalue()).strip():
        return Failure(name, repr(fuzzed), f"it ended with {status} and said nothing")
    return None


def confined() -> None:
    """Let this process take no more than MEMORY beyond what it has when all is loaded, and ring it when time is up."""
    import namedtensor.cli.commands
    import namedtensor.documents.markdown
    import namedtensor.documents.sections
    import namedtensor.programs.api  # noqa: F401

    texts()
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    signal.signal(signal.SIGPROF, _ring)


def work(numbers: Sequence[int]) -> tuple[list[Failure], float, float]:
    """The failures among the documents of these numbers, the seconds in all, and those of the slowest."""
    start, slowest, failures = time.perf_counter(), 0.0, []
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            before = time.perf_counter()
            failure = attempt(str(number), document(number), Path(folder))
            slowest = max(slowest, time.perf_counter() - before)
            failures += [failure] if failure else []
    return failures, time.perf_counter() - start, slowest


def run() -> int:
    parser = argparse.ArgumentParser(description="Check mutated documents.")
    parser.add_argument("numbers", nargs="*", type=int)
    parser.add_argument("--texts", default=os.environ.get("NAMEDTENSOR_TEXTS", ""))
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    os.environ["NAMEDTENSOR_TEXTS"] = options.texts
    confined()
    numbers = options.numbers or range(options.first, options.first + options.count)
    failures, seconds, slowest = work(numbers)
    for failure in failures:
        print(failure.name, failure.text if options.numbers else "", failure.why, sep="\n")
    print(f"{len(numbers)} documents in {seconds:.0f} s, the slowest {slowest:.2f} s: {len(failures)} failures")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(run())
