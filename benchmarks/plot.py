"""python -m benchmarks.plot [FILE]: the page docs/speed.md and its picture, from a file of figures."""

from __future__ import annotations

import json
import re
import statistics
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
FIGURES = ROOT / "benchmarks" / "figures.json"
PAGE = ROOT / "docs" / "speed.md"
PICTURE = ROOT / "docs" / "_static" / "speed.svg"
Report = dict[str, Any]


class Shown(NamedTuple):
    """A row of the page: a side of a work, and how the page calls the two."""

    work: str
    side: str
    title: str
    bar: bool = True  # whether the picture has it


SHOWN = (
    Shown("attention-4", "namedtensor, formula", "attention, 4 tokens"),
    Shown("attention-512", "namedtensor, formula", "attention, 512 tokens"),
    Shown("attention-2048", "namedtensor, formula", "attention, 4 × 2,048 tokens"),
    Shown("gelu", "namedtensor", "GELU, 64 MB"),
    Shown("standardize", "namedtensor", "standardize, 64 MB"),
    Shown("block", "namedtensor", "transformer block"),
    Shown("block-gradient", "namedtensor, ∂ in the formula", "gradient of the block"),
    Shown("training", "namedtensor, ∂ in the formula", "training step, small transformer"),
    Shown("chain-4-8", "namedtensor", "product of four small matrices"),
    Shown("minilm-one", "namedtensor", "MiniLM, one sentence"),
    Shown("minilm", "namedtensor", "MiniLM, 64 sentences"),
    Shown("generation", "namedtensor", "GPT-2 small, 32 new tokens"),
    Shown("generation-128", "namedtensor", "GPT-2 small, 128 + 16 tokens"),
    Shown("attention-32", "NumPy by hand, one BLAS thread", "control: NumPy by hand against itself", False),
)
OPENING = """# Speed

![Time of formulas as a ratio to hand-written code](_static/speed.svg)

This page compares the speed of formulas with hand-written code. A formula is compiled once per input signature to
the calls that hand-written NumPy would contain; after that, a call is one lookup and those calls. For large arrays, it is
faster: intermediates that do not fit in the CPU cache are computed in blocks, on all cores, and unneeded arrays are not
materialized.

A ratio is the time of the formula divided by the time of the other code, so less than 1 means that the formula is faster.
The last row compares hand-written NumPy with itself: its distance from 1 shows the measurement error.
"""
METHOD = """A new formula takes {first} ms from its text to its first value. `import namedtensor` takes {imported} ms; NumPy is imported at the
first use of a tensor.

## Threads and kernels

Blocks of work that take one core 2 ms or more run on threads of this package. Blocks with products do so only if `threadpoolctl` is
installed (`pip install '.[threads]'`): it limits the BLAS to one thread while they run. Set `NAMEDTENSOR_BLAS_LIMIT=0` to turn the
limit off. OpenBLAS chooses its kernels when NumPy loads it; `OPENBLAS_VERBOSE=2 python -c "import numpy"` prints them. If the environment
sets `OPENBLAS_CORETYPE=Haswell`, products take up to twice as long on a processor with AVX-512.

## Method

`python -m benchmarks` measures these rows and about two hundred other figures, including comparisons with einops, einx, xarray,
haliax, penzai and JAX. `benchmarks/figures.json` has all of them, with the limit that each must meet. Each library runs in its own process. The
processes take turns, and a ratio is the median over the rounds. Results are checked for equality before they are timed. If the
hand-written code is faster with one BLAS thread, that time counts. Memory is the peak during a call, without inputs and output.

The ratios depend on the machine. Where products of matrices are slow beside other operations, they are most of the time of both
sides, and the ratios of transformers come close to 1. Where new memory is slow, as in many virtual machines, so are large results:
each 4 KiB of them is a page fault. On Linux, a process keeps freed memory if `MALLOC_MMAP_THRESHOLD_` and `MALLOC_TRIM_THRESHOLD_` are
set to `1073741824` before it starts.
"""
ORDERS = """## Orders and controls

Exchanging the two sides of each product, `W ⊙ X` for `X ⊙ W`, changes the time of {count} layers of the package `transformer` by a
factor of {least} to {most} (median {median}; the limit is {bar}).

Chains of two cheap operations on 10⁵ to 10⁷ numbers take {chains_least} to {chains_most} times as long as NumPy (median
{chains_median}). NumPy against itself: {control_least} to {control_most}.
"""
MISSED = """## Limits

Of {count} figures with a limit, {met} met it in this run. The others:

| figure | value | limit |
| --- | --- | --- |
{missed}
"""
ACCENT, MUTED = "#c2410c", "#6b7280"


# -------------------------------------------------------------------------------------------------------------- page
def page(report: Report) -> str:
    """Return the page as Markdown."""
    figures = {row["figure"]: row["value"] for row in report["rows"]}
    first = number(figures.get("text to first value of a new attention formula: namedtensor"))
    imported = number(figures.get("import namedtensor (processor)"))
    method = METHOD.format(first=first, imported=imported)
    return "\n".join([OPENING, table(report), method, *orders(report), *limits(report), about(report)])


def spread(rows: list[dict], prefix: str = "") -> dict[str, str]:
    """Return the least, the median and the largest of the values of some rows."""
    values = [row["value"] for row in rows]
    named = {"least": min(values), "median": statistics.median(values), "most": max(values)}
    return {prefix + name: f"{value:.2f}" for name, value in named.items()}


def orders(report: Report) -> list[str]:
    """Return the section on both orders of products and on chains, if they were measured."""
    exchanged = [row for row in report["rows"] if row["figure"].startswith("order: ")]
    chains = [row for row in report["rows"] if re.match(r"chain .* numbers, float", row["figure"])]
    controls = [row for row in report["rows"] if row["figure"].startswith("chains, ")]
    if not (exchanged and chains and controls):
        return []
    named = spread(exchanged) | spread(chains, "chains_") | spread(controls, "control_")
    return [ORDERS.format(count=len(exchanged), bar=exchanged[0]["bar"], **named)]


def limits(report: Report) -> list[str]:
    """Return the section on the limits that were missed."""
    limited = [row for row in report["rows"] if row["bar"] is not None]
    missed = [row for row in limited if row["value"] > row["bar"]]
    lines = [f"| {row['figure']} | {number(row['value'])} {row['unit']} | {number(row['bar'])} |" for row in missed]
    if not lines:
        return []
    return [MISSED.format(count=len(limited), met=len(limited) - len(missed), missed="\n".join(lines))]


def rows_shown(report: Report) -> list[tuple[Shown, dict]]:
    """Return the rows of the page that were measured, in its order."""
    rows = {(row.get("work"), row.get("side")): row for row in reversed(report["rows"]) if "×" in row["unit"]}
    return [(shown, rows[key]) for shown in SHOWN if (key := (shown.work, shown.side)) in rows]


def table(report: Report) -> str:
    cells = [
        (shown.title, number(row["value"]), compared(row), number(row["seconds"] * 1e3), megabytes(row))
        for shown, row in rows_shown(report)
    ]
    lines = [("work", "ratio", "compared with", "ms", "memory, MB"), ("---",) * 5, *cells]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def compared(row: dict) -> str:
    """Return what a row is compared with."""
    return re.sub(r"(\w+) by hand", r"hand-written \1", row["unit"].removeprefix("× ")).replace(
        "as written", "expression"
    )


def about(report: Report) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    notes = "".join(f" {note}" for note in report.get("notes", ()))  # what a person wrote into the file
    load = "" if report["load"] is None else f", load average {report['load']:g}"
    return f"Measured on {report['date']}: {report['machine']}{load}. {versions}.{notes}\n"


def number(value: float | None) -> str:
    """Return about three digits: 0.0187, 2.58, 86, 1,127."""
    return "—" if value is None else f"{value:.3g}" if abs(value) < 10 else f"{value:,.0f}"


def megabytes(row: dict) -> str:
    return "" if row.get("memory") is None else number(row["memory"] / 1e6)


# ----------------------------------------------------------------------------------------------------------- picture
def picture(report: Report, path: Path) -> None:
    """Draw a bar for each work, as long as its ratio."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "namedtensor"  # the same picture each time
    from matplotlib import pyplot

    bars = [(f"{shown.title}\n{compared(row)} = 1", row["value"]) for shown, row in rows_shown(report) if shown.bar]
    figure, axes = pyplot.subplots(figsize=(8, 0.8 + 0.45 * len(bars)))
    lines = range(len(bars))
    axes.barh(lines, [value for _, value in bars], color=ACCENT, height=0.55)
    for line, (_, value) in zip(lines, bars):
        axes.text(value + 0.01, line, number(value), va="center", fontsize="small", color=MUTED)
    axes.axvline(1, color=MUTED, linewidth=1)
    axes.set_yticks(lines, [title for title, _ in bars], fontsize="small", color=MUTED)
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.set_xlim(0, max(1.15, *(value * 1.1 for _, value in bars)))
    axes.set_xlabel("time of the formula, hand-written code = 1 (less is faster)", color=MUTED)
    axes.tick_params(colors=MUTED)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    figure.savefig(path, bbox_inches="tight", transparent=True, metadata={"Date": None})
    pyplot.close(figure)


def main() -> None:
    report = json.loads(Path(sys.argv[1] if len(sys.argv) > 1 else FIGURES).read_text("utf-8"))
    PAGE.write_text(page(report), "utf-8")
    picture(report, PICTURE)


if __name__ == "__main__":
    main()
