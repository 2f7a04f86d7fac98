"""python -m benchmarks.plot [FILE]: the page docs/speed.md and its pictures, from a file of figures."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
FIGURES = ROOT / "benchmarks" / "figures.json"
PAGE = ROOT / "docs" / "speed.md"
PICTURES = ROOT / "docs" / "_static"
Report = dict[str, Any]

OPENING = """# Speed

![Time of formulas beside the same work by hand](_static/speed.svg)

A formula is compiled once per input signature to the calls of hand-written NumPy; after that, a call is one lookup and
those calls. For large arrays it is faster than hand-written code: intermediates that do not fit in the cache are
computed in blocks, on all cores, and needless arrays are not materialized. The first call of a new formula takes about
a millisecond, and `import namedtensor` a fraction of the time of `import numpy`.
"""
METHOD = """## How it is measured

`python -m benchmarks` runs all of this. Each library has a process of its own; they take turns, round by round, and a ratio
is the median of the rounds' ratios. In a turn one side calls again and again, after calls that are not counted, while the
others rest: all figures are of call after call, but for those that say otherwise. Of calls that take less than 0.3 s the
fastest of several chunks counts. Before any turn all answers of a work are compared. Of the work by hand, with one BLAS thread
or with all, the faster is what counts; *at best* is the ratio of the shortest times. *Processor* is what all cores together
worked for a call, *ms* what a clock on the wall says. Memory is what a call needs at most, over its inputs and its output.
"""
OVERVIEW = (  # the works of the chart that opens the page, as it calls them
    ("attention-4", "attention, 4 tokens"),
    ("attention-512", "attention, 512 tokens"),
    ("attention-2048", "attention, 4 × 2,048 tokens"),
    ("gelu", "GELU, 64 MB"),
    ("standardize", "standardize, 64 MB"),
    ("block", "block of a transformer"),
    ("chain-4-8", "product of four small tensors"),
    ("minilm", "MiniLM, 64 sentences"),
)
SHOWN = {
    "speed-attention": ("Attention", "attention-"),
    "speed-block": ("The pre-LN block and models", ("block", "minilm", "generation")),
    "speed-gradients": (
        "Gradients and a step of training",
        ("mlp-gradient", "rnn-gradient", "embedding-gradient", "training"),
    ),
    "speed-contractions": ("Products of several tensors", ("chain", "linear", "tucker")),
    "speed-elementwise": ("64 MB", ("gelu", "standardize")),
}
GROWTH = """## How it grows

Calls of Python functions from a text that was never seen to its first value, by the length of the text: no other work on
the machine changes them. The exponent is that of the last step of a curve; 1 is a line. Three layers that are alike, or more,
are gone through as one: 12 layers take few calls more than 3, and each further one a few for each of its tensors.
"""
MIXED = """## Among other work

After a product, OpenBLAS's threads stay awake for a tenth of a second and occupy their cores. Blocks that take about 2 ms or more
of one core run on threads of the package. Blocks with products do so only where `threadpoolctl` is installed: it limits the BLAS to
one thread while they run. While OpenBLAS's threads are awake (Linux tells by their clocks), blocks with products of less than 0.3 s
stay on the calling thread, since the two kinds of threads would share cores. `python -m benchmarks effects` measures this: a formula
and the same by hand take turns in one process, after 0.15 s of rest, right after a product of 1000³, and call after call. The limit
can be turned off with `NAMEDTENSOR_BLAS_LIMIT=0`. *Before* is the version that ran blocks on OpenBLAS's own threads through a private
symbol. Each figure is the median of three or five processes, which differ by up to 0.1 (the first of the last row: one process):

| × NumPy by hand: after a rest / right after a product / call after call | with the limit | without | before |
| --- | --- | --- | --- |
| pre-LN block | 0.87 / 1.01 / 0.85 | 0.97 / 1.04 / 1.01 | 0.90 / 0.89 / 0.86 |
| MiniLM | 0.59 / 0.70 / 0.59 | 0.81 / 0.75 / 0.75 | 0.63 / 0.61 / 0.60 |
| attention, 1 × 4 × 128 × 32 | 0.93 / 0.87 / 0.81 | 0.94 / 0.89 / 0.70 | 2.36 / 3.06 / 2.43 |
| attention, 1 × 8 × 256 × 64 | 1.04 / 1.01 / 0.89 | 0.99 / 1.00 / 0.91 | 0.90 / 0.87 / 0.80 |
| attention, 1 × 8 × 512 × 64 | 1.03 / 0.84 / 0.66 | 0.80 / 0.88 / 0.89 | 0.66 / 0.64 / 0.54 |
| attention, 1 × 8 × 1024 × 64 | 0.56 / 0.77 / 0.54 | 0.72 / 1.11 / 1.11 | 0.52 / 0.50 / 0.50 |
| attention, 4 × 8 × 2048 × 64 | 0.57 / 0.62 / 0.52 | 0.78 / 0.77 / 0.77 | 0.51 / 0.54 / 0.55 |

The table below has the version before the limit. *Processor* is what all cores together worked for a call.
"""
KERNELS = """## Which kernels products use

NumPy's OpenBLAS picks its kernels for the processor when it is loaded, unless `OPENBLAS_CORETYPE` in the environment says which;
`OPENBLAS_VERBOSE=2 python -c "import numpy"` prints them. The figures here are with what it picks by itself. Where the environment says
Haswell, as it may to give the same numbers on all machines, a processor with AVX-512 multiplies half as fast: on the machine that is
named below a product of 2048³ goes from 437 to 231 GFLOP/s. Nearly all of a pre-LN block is then products, which are alike on both sides:
in one process, after a rest, it takes 33 to 39 ms instead of 20 to 23, 0.87 to 0.91 of the time by hand. On PyTorch formulas multiply by
oneDNN, which looks at what the processor can do.
"""
LENGTHS = """## New lengths

A model is planned for its first length with numbers, for the second with symbols in their place, and that plan serves the
others ([Sizes and shapes](sizes.md)), one for each factor of 4 on NumPy. What follows is the time of the processor from a call with a length that was
never there to a function that is ready to run, its masks made, in a process that is given some thirty lengths from 1 to 1,000 in no order,
the median of three such processes; the run itself is left out, and so are Python's full garbage collections. What many lengths leave in memory is bounded.
"""
COLORS = {"namedtensor": "#c2410c", "NumPy": "#1f2937", "PyTorch": "#2563eb", "jax": "#059669"}


def groups(report: Report) -> Iterator[tuple[str, str, list[dict]]]:
    """Each picture's name, its title, and the rows of its works that compare with the work's base."""
    for name, (title, works) in SHOWN.items():
        rows = [row for row in report["rows"] if row.get("work", "").startswith(works) and row.get("least") is not None]
        yield name, title, [row for row in rows if row["unit"] == base_of(rows, row["work"])]


def base_of(rows: list[dict], work: str) -> str:
    return next(row["unit"] for row in rows if row["work"] == work)


# -------------------------------------------------------------------------------------------------------------- page
def page(report: Report) -> str:
    """The page as MyST."""
    parts = [OPENING]
    for name, title, rows in groups(report):
        if rows:
            parts += [f"## {title}\n", f"![{title}: time by library](_static/{name}.svg)\n", sides(rows)]
    if mixed(report):
        parts += [MIXED, mixed(report)]
    parts += ["## Small operations, first calls, imports\n", small(report)]
    if curves(report):
        parts += [
            GROWTH,
            "![calls of Python functions by the length of a text](_static/speed-growth.svg)\n",
            growing(report),
        ]
    if lengths(report):
        parts += [LENGTHS, lengths(report)]
    parts += [KERNELS, "## The bars\n", bars(report), METHOD, about(report)]
    if report["left_out"]:
        parts += ["## Left out\n", "\n".join(left_out(report)) + "\n"]
    return "\n".join(parts)


def about(report: Report) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    notes = "".join(f" {note}" for note in report.get("notes", ()))  # what a person wrote into the file
    load = "" if report["load"] is None else f", its load average {report['load']:g}"
    return f"Measured on {report['date']}, on a machine of this kind: {report['machine']}{load}. {versions}.{notes}\n"


def number(value: float | None) -> str:
    """Three digits or so: 0.0187, 2.58, 86, 1,127."""
    return "—" if value is None else f"{value:.3g}" if abs(value) < 10 else f"{value:,.0f}"


def cell(row: dict, key: str) -> str:
    return number(row.get(key))


def megabytes(row: dict) -> str:
    return "" if row.get("memory") is None else number(row["memory"] / 1e6)


def made(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def bars(report: Report) -> str:
    rows = (
        (row["figure"], f"{number(row['value'])} {row['unit']}", cell(row, "least") if row.get("least") else "",
         f"≤ {row['bar']:g}", row["verdict"])
        for row in report["rows"] if row["bar"] is not None
    )  # fmt: skip
    return made(("figure", "median", "at best", "bar", ""), rows)


def sides(rows: list[dict]) -> str:
    lines = (
        (row["figure"], f"{number(row['value'])} {row['unit']}", cell(row, "least"), megabytes(row),
         number(row["seconds"] * 1e3), milliseconds(row.get("processor")))
        for row in rows
    )  # fmt: skip
    return made(("work: side", "median", "at best", "memory, MB", "ms", "processor, ms"), lines)


def mixed(report: Report) -> str:
    """The table of a formula among other work; nothing where that was not measured."""
    found = [row for row in report["rows"] if "mixed" in row]
    rows = (
        (row["figure"], f"{number(row['value'])} {row['unit']}", *map(milliseconds, (row.get("seconds"), row.get("processor"))),
         *map(milliseconds, row.get("by_hand", (None, None))))
        for row in found
    )  # fmt: skip
    heads = ("work", "ratio", "ms", "processor, ms", "by hand, ms", "by hand, processor, ms")
    return made(heads, rows) if found else ""


def milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else number(seconds * 1e3)


def small(report: Report) -> str:
    rows = [
        row
        for row in report["rows"]
        if ("work" not in row or row["unit"] == "ms") and not {"points", "mixed", "of_lengths"} & row.keys()
    ]
    return made(("figure", "value"), ((row["figure"], f"{number(row['value'])} {row['unit']}") for row in rows))


def curves(report: Report) -> list[dict]:
    """The rows that have points: how calls grow with a text."""
    return [row for row in report["rows"] if "points" in row]


def growing(report: Report) -> str:
    rows = (
        (row["curve"], ", ".join(f"{size:,}" for size, _ in row["points"]),
         ", ".join(f"{calls:,}" for _, calls in row["points"]), number(row["value"]))
        for row in curves(report)
    )  # fmt: skip
    return made(("what grows", "how many", "calls", "exponent"), rows)


def lengths(report: Report) -> str:
    """The table of new lengths, a line a model; nothing where none were measured."""
    found: dict[str, dict[str, str]] = {}
    for row in report["rows"]:
        if "of_lengths" in row:
            title, what = row["of_lengths"]
            found.setdefault(title, {})[f"{what}, {row['unit']}"] = number(row["value"])
    heads = [*dict.fromkeys(head for cells in found.values() for head in cells)]
    rows = ((title, *(cells.get(head, "") for head in heads)) for title, cells in found.items())
    return made(("model", *heads), rows) if found else ""


def left_out(report: Report) -> list[str]:
    return [
        f"- {' / '.join(filter(None, (each['work'], each['side'])))}: {each['reason']}" for each in report["left_out"]
    ]


# ----------------------------------------------------------------------------------------------------------- pictures
def color(side: str) -> str:
    return next((color for start, color in COLORS.items() if side.startswith(start)), "#9ca3af")


def picture(title: str, rows: list[dict], place: Path) -> None:
    """The ratios of each work on a line of its own, on a logarithmic scale."""
    pyplot = drawing()
    from matplotlib import ticker

    works = list(dict.fromkeys(row["work"] for row in rows))
    figure, axes = pyplot.subplots(figsize=(8, 0.9 + 0.5 * len(works)))
    for row in rows:
        if row["value"]:
            ours = row["side"].startswith("namedtensor")
            axes.plot(row["value"], works.index(row["work"]), "D" if ours else "o", color=color(row["side"]),
                      alpha=0.8, markersize=8 if ours else 6)  # fmt: skip
    axes.axvline(1, color="#9ca3af", linewidth=1)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    axes.set_yticks(range(len(works)), works)
    axes.set_ylim(len(works) - 0.5, -0.5)
    axes.set_xlabel("time, as a ratio to the base of the work (less is faster)")
    axes.set_title(title)
    marks = [
        pyplot.Line2D([], [], color=shade, marker="D" if name == "namedtensor" else "o", linestyle="", label=name)
        for name, shade in (COLORS | {"others": "#9ca3af"}).items()
    ]
    axes.legend(handles=marks, fontsize="small", loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    figure.savefig(place, bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)


def picture_of_growth(rows: list[dict], place: Path) -> None:
    """The curves, on logarithmic scales, beside a line."""
    pyplot = drawing()
    figure, axes = pyplot.subplots(figsize=(8, 5))
    for row in rows:
        axes.plot(
            *zip(*row["points"]), marker="o", markersize=4, linewidth=1.5, label=f"{row['curve']} ({row['value']:.2f})"
        )
    axes.plot([10, 1000], [2e3, 2e5], color="#9ca3af", linewidth=1, linestyle="--", label="a line (1.00)")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("how many")
    axes.set_ylabel("calls of Python functions")
    axes.set_title("From a text to its first value (exponents in brackets)")
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    figure.savefig(place, bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)


def drawing() -> Any:
    """The library that draws, told to draw the same picture each time."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "namedtensor"
    from matplotlib import pyplot

    return pyplot


def overview(report: Report) -> list[tuple[str, float]]:
    """Each work of the opening chart with the ratio of formulas to the same by hand."""
    rows = [row for row in report["rows"] if row.get("value") and row.get("side", "").startswith("namedtensor")]
    found = []
    for work, title in OVERVIEW:
        ours = next((row for row in rows if row["work"] == work and row["unit"].startswith("×")), None)
        if ours is not None:
            found.append((f"{title}\n{ours['unit'].removeprefix('× ')} = 1", ours["value"]))
    return found


def opening(bars: list[tuple[str, float]], place: Path) -> None:
    """The chart that opens the page: a bar a work, as long as its ratio."""
    pyplot = drawing()
    figure, axes = pyplot.subplots(figsize=(8, 0.8 + 0.45 * len(bars)))
    places = range(len(bars))
    axes.barh(places, [value for _, value in bars], color=COLORS["namedtensor"], height=0.55)
    for place_, (_, value) in zip(places, bars):
        axes.text(value + 0.01, place_, number(value), va="center", fontsize="small", color="#6b7280")
    axes.axvline(1, color="#6b7280", linewidth=1)
    axes.set_yticks(places, [title for title, _ in bars], fontsize="small", color="#6b7280")
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.set_xlim(0, max(1.15, *(value * 1.1 for _, value in bars)))
    axes.set_xlabel("time of the formula, by hand = 1 (less is faster)", color="#6b7280")
    axes.tick_params(colors="#6b7280")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    figure.savefig(place, bbox_inches="tight", transparent=True, metadata={"Date": None})
    pyplot.close(figure)


def main() -> None:
    report = json.loads(Path(sys.argv[1] if len(sys.argv) > 1 else FIGURES).read_text("utf-8"))
    PAGE.write_text(page(report), "utf-8")
    opening(overview(report), PICTURES / "speed.svg")
    for name, title, rows in groups(report):
        if rows:
            picture(title, rows, PICTURES / f"{name}.svg")
    if curves(report):
        picture_of_growth(curves(report), PICTURES / "speed-growth.svg")


if __name__ == "__main__":
    main()
