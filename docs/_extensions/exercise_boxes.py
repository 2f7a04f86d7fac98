"""The exercises of the lessons: boxes on the site, questions in plain Markdown, and the teacher's page with answers.

<!-- site
```{exercise} column-sums       on the site: a box that grades answers in the browser
```
-->

<!-- markdown: exercise 1_axes column-sums -->    elsewhere: the question, with the ways to answer it
<!-- end -->

<!-- table: answers 1_axes -->                 of a teacher's page: answers, and mistakes with their feedback
<!-- end -->
"""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Iterator, Sequence

MAX_GRID_ELEMENTS = 80  # in a value that a box shows
KINDS = {  # the form of the answer, if it is not a formula
    "types": "Give the type, such as `ℝ^{a × b}`.",
    "signature": "Give a signature, such as `f : ℝ^{a} → ℝ`.",
    "sizes": "Give the number in terms of sizes, such as `|a| |b|`.",
    "einsum": "Give a formula, or a call of einsum.",
    "derivation": "Give one expression per line; each must equal the one above.",
}
SIGNS = [  # label, inserted text, characters after the caret, macro
    ("⊙", "⊙_{}", 1, "odot"), ("∑", "∑_{} ", 2, "sum"), ("√", "√", 0, "sqrt"), ("→", "→", 0, "to"), ("×", "×", 0, "times"),
    ("−∞", "−∞", 0, "infty"), ("≤", "≤", 0, "le"), ("𝕀", "𝕀[]", 1, "ind"), ("∂", "∂", 0, "partial"), ("ℝ", "ℝ^{}", 1, "reals"),
]  # fmt: skip


def sheet(stem: str):
    """Return the exercises of a lesson."""
    import namedtensor as nt
    from namedtensor.teaching.course import title_of

    return nt.exercises(title_of(stem))


def number_of(stem: str) -> str:
    """Return the name that `nt.exercises` accepts, such as `lesson 1` for `1_axes`."""
    return f"lesson {stem.partition('_')[0]}"


def needed(exercise) -> list[str]:
    """Return notes for the student as Markdown: the form of the answer, and the forbidden names."""
    if exercise.parts:
        parts = "\n".join(f"- `{part}`" for part in exercise.parts)
        return [f"Give the type of each of these, one per line:\n\n{parts}"]
    lines = [KINDS[exercise.kind]] if exercise.kind in KINDS else []
    if exercise.hole:
        lines.append(f"Give the expression at the question mark: `{exercise.hole}`")
    if exercise.forbidden:
        lines.append(f"Not allowed: {', '.join(f'`{word}`' for word in exercise.forbidden)}.")
    return lines


def stated(exercise) -> list[str]:
    """Return the task as Markdown: the question, the inputs, and the form of the answer."""
    from generated import fenced

    given = [fenced(exercise.given.strip())] if exercise.given.strip() else []
    return [exercise.prose, *given, *needed(exercise)]


def folded(summary: str, text: str) -> str:
    """Return a part of a page that opens on a click, as Markdown and HTML that code hosts render too."""
    return f"<details>\n<summary>{summary}</summary>\n\n{text}\n\n</details>"


# ------------------------------------------------------------------------------------------------------- plain Markdown
def question(name: str) -> str:
    """Return an exercise as Markdown; its name has the form `1_axes column-sums`."""
    from generated import fenced

    stem, _, key = name.partition(" ")
    grading = fenced(f'nt.exercises("{number_of(stem)}")["{key}"].grade("…")', "python")
    return f"{task(stem, key)}\n\n{grading}"


def task(stem: str, key: str) -> str:
    """Return the task with its name and folded hints."""
    exercise = sheet(stem)[key]
    prose, *rest = stated(exercise)
    hints = [folded("Hint", hint) for hint in exercise.hints]
    return "\n\n".join([f"**Exercise** `{key}`. {prose}", *rest, *hints])


# ---------------------------------------------------------------------------------------------------- a teacher's page
def answers(stem: str) -> str:
    """Return the exercises of a lesson with their answers, and each common mistake with its feedback."""
    from generated import fenced, table

    from namedtensor.teaching.sheet_files import reference_answer

    parts = []
    for exercise in sheet(stem).values():
        parts += [f"### {exercise.name}", *stated(exercise)]
        parts += ["Answer:", fenced((reference_answer(exercise) or "").removeprefix("answer = "))]
        if exercise.mistakes:
            rows = ((f"`{mistake.formula}`", mistake.sentence) for mistake in exercise.mistakes)
            parts += [table(("common mistake", "feedback"), rows)]
    return "\n\n".join(parts)


# ---------------------------------------------------------------------------------------------------------- on the site
def grids(exercise) -> str:
    """Return example inputs and the expected value as HTML, or an empty string if the exercise has no values."""
    from namedtensor.teaching.drawings import drawing

    seen = drawing(exercise)
    if seen is None:
        return ""
    values = {**seen.drawn.values, "expected value": seen.expected}
    if any(len(value.numbers) > MAX_GRID_ELEMENTS for value in values.values()):
        return ""
    return "".join(grid(name, value.axes, value.extent, value.numbers) for name, value in values.items())


def grid(name: str, axes: Sequence[str], extent: Sequence[int], numbers: Sequence[float]) -> str:
    """Return a value as tables of its last two axes, as `docs/_static/exercises.js` draws it."""
    largest = max((abs(number) for number in numbers if math.isfinite(number)), default=0) or 1
    shape = [*extent[:-2], *([1] * (2 - len(extent))), *extent[-2:]]
    *outer, rows, columns = shape
    tables = []
    for panel, indices in enumerate(itertools.product(*map(range, outer))):
        part = numbers[panel * rows * columns : (panel + 1) * rows * columns]
        body = "".join(
            "<tr>" + "".join(drawn(number, largest) for number in part[row * columns : (row + 1) * columns]) + "</tr>"
            for row in range(rows)
        )
        where = ", ".join(f"{axis}({at + 1})" for axis, at in zip(axes, indices))
        tables.append(f"<table>{f'<caption>{html.escape(where)}</caption>' if where else ''}{body}</table>")
    kind = f"ℝ^{{{' × '.join(f'{axis}[{size}]' for axis, size in zip(axes, extent))}}}" if axes else "ℝ"
    return (
        f'<figure class="grid"><figcaption><b>{html.escape(name)}</b> ∈ {html.escape(kind)}</figcaption>'
        f"<div>{''.join(tables)}</div></figure>"
    )


def drawn(number: float, largest: float) -> str:
    strength = min(1.0, abs(number) / largest) if math.isfinite(number) else 0
    kind = "warm" if number >= 0 else "cold"
    return f'<td class="{kind}" style="--heat: {round(38 * strength)}%">{shown(number)}</td>'


def shown(number: float) -> str:
    if not math.isfinite(number):
        return "−∞" if number < 0 else "∞" if number > 0 else "NaN"
    return f"{number:.3g}".replace("-", "−")


def signs() -> str:
    buttons = (
        f'<button type="button" data-put="{put}" data-back="{back}" data-macro="{macro}" title="\\{macro} and a space">{sign}</button>'
        for sign, put, back, macro in SIGNS
    )
    return f'<div class="signs">{"".join(buttons)}</div>'


def form(stem: str, exercise) -> str:
    """Return the HTML of the answer field, which `docs/_static/exercises.js` shows and grades."""
    from namedtensor.teaching.course import title_of

    rows = 1 + exercise.kind.count("derivation") * 2 + max(0, len(exercise.parts) - 1)
    name = html.escape(exercise.name)
    keys = "Enter grades it, Shift+Enter starts a new line" if rows == 1 else "Ctrl+Enter grades it"
    return (
        f'<form hidden data-sheet="{html.escape(title_of(stem))}" data-exercise="{name}">'
        f'<label for="answer-{name}">your answer <span>({keys})</span></label>'
        f'<textarea id="answer-{name}" rows="{rows}" spellcheck="false" autocapitalize="off" autocomplete="off"></textarea>'
        f'<div class="row"><button type="submit" class="grade">grade</button>{signs()}</div>'
        '<div class="feedback" role="status"></div></form>'
    )


def parts_of(stem: str, name: str, root: str, has_playground: bool) -> Iterator[str]:
    """Return the parts of a box, alternately Markdown and HTML."""
    from blocks import packed

    from namedtensor.teaching.course import title_of

    exercise = sheet(stem)[name]
    points = f"{exercise.points:g} {'point' if exercise.points == 1 else 'points'}"
    yield f'<p class="exercise-title"><b>Exercise</b> <code>{html.escape(name)}</code> <span>{points}</span></p>'
    yield "\n\n".join(stated(exercise))
    if example := grids(exercise):
        yield f'<details><summary>An example</summary><div class="grids">{example}</div></details>'
    if has_playground:
        yield form(stem, exercise)
    for number, hint in enumerate(exercise.hints):
        summary = "A hint" if number == 0 else "Another hint"
        yield f"<details><summary>{summary}</summary><p>{html.escape(hint)}</p></details>"
    if has_playground:
        state = {"tab": "exercise", "sheet": title_of(stem), "exercise": name}
        link = f"{root}playground.html#{packed(state)}"
        yield f'<p class="opens"><a href="{link}" target="_blank">open in the playground</a></p>'


# --------------------------------------------------------------------------------------------------------------- Sphinx
def setup(app):
    from docutils import nodes
    from sphinx.util.docutils import SphinxDirective

    from namedtensor.teaching.course import course_file, title_of

    class Box(SphinxDirective):
        """The box of an exercise on its lesson's page."""

        required_arguments = 1

        def run(self):
            stem = self.env.docname.rpartition("/")[2]
            root = "../" * self.env.docname.count("/")
            name = self.arguments[0]
            self.env.note_dependency(str(course_file(title_of(stem))))
            box = nodes.container(classes=["exercise-box"], ids=[f"exercise-{name}"])
            for part in parts_of(stem, name, root, bool(self.config.playground)):
                if part.startswith("<"):
                    box += nodes.raw("", part, format="html")
                else:
                    self.state.nested_parse(part.split("\n"), self.content_offset, box)
            return [box]

    app.add_directive("exercise", Box)
    app.add_js_file("exercises.js", defer="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
