"""The lessons as notebooks. Blocks become cells; an exercise becomes a question and a `%%exercise` cell.

python docs/_extensions/notebooks.py --write
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from blocks import OPTION, split
from exercise_boxes import number_of, task
from generated import as_site

LESSONS = Path(__file__).parent.parent / "lessons"
SETUP = "%load_ext namedtensor\nimport numpy as np\n\nimport namedtensor as nt"
CELL = re.compile(r"^```+\{(?P<kind>run|formula|exercise)\}(?P<name>[^\n]*)\n(?P<body>.*?)^```+[ ]*$", re.M | re.S)
FOLDED = re.compile(r"^<details>\n(?P<summary><summary>.*?</summary>)\n(?P<body>.*?)^</details>$", re.M | re.S)


def notebook(page: str, stem: str) -> dict[str, Any]:
    """Return the notebook of a page."""
    cells = [code(SETUP)]
    end = 0
    for part in FOLDED.finditer(page):
        cells += cells_of_text(page[end : part.start()], stem)
        cells += folded_cells(part["summary"], part["body"], stem)
        end = part.end()
    cells += cells_of_text(page[end:], stem)
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    numbered = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(cells)]
    return {"cells": numbered, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


def folded_cells(summary: str, body: str, stem: str) -> list[dict[str, Any]]:
    """Return the cells of a folded part. The prose stays folded, and code has no output until it runs."""
    cells = cells_of_text(body, stem)
    for cell in cells:
        if cell["cell_type"] == "markdown":
            cell["source"] = f"<details>\n{summary}\n\n{cell['source']}\n\n</details>"
    return cells


def cells_of_text(text: str, stem: str) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = []
    end = 0
    for block in CELL.finditer(text):
        cells += prose(text[end : block.start()])
        if block["kind"] == "exercise":
            cells += exercise_cells(stem, block["name"].strip())
        else:
            cells += cells_of(block["kind"], block["body"])
        end = block.end()
    return cells + prose(text[end:])


def prose(text: str) -> list[dict[str, Any]]:
    return [{"cell_type": "markdown", "metadata": {}, "source": text.strip()}] if text.strip() else []


def code(text: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text}


def exercise_cells(stem: str, name: str) -> list[dict[str, Any]]:
    """Return the question and the cell that grades the answer below its first line."""
    return [*prose(task(stem, name)), code(f"%%exercise {number_of(stem)} {name}\n")]


def cells_of(kind: str, body: str) -> list[dict[str, Any]]:
    """Return the cell of a block. A formula is evaluated with the block's inputs."""
    lines = body.rstrip("\n").split("\n")
    options: dict[str, str] = {}
    while lines and (option := OPTION.fullmatch(lines[0])):
        options[option[1]] = option[2]
        lines.pop(0)
    text = "\n".join(lines).strip("\n")
    if kind == "formula":
        texts = [item if "=" in item else f"{item}={item}" for item in split(options.get("with", ""))]
        sizes = [f"sizes=dict({options['sizes']})"] if options.get("sizes") else []
        text = f'nt.evaluate(r"""{text}""", {", ".join([*texts, *sizes])})'.replace(", )", ")")
        if "as" in options:
            text = f"{options['as']} = {text}" + ("" if "quiet" in options else f"\n{options['as']}")
    if "error" in options:
        indented = "\n".join(f"    {line}" for line in text.strip().split("\n"))
        text = f"try:\n{indented}\nexcept nt.NotationError as problem:\n    print(problem)"
    return [code(text)]


def written(path: Path) -> str:
    """Return the JSON text of a page's notebook."""
    cells = notebook(as_site(path.read_text(encoding="utf-8")), path.stem)
    return json.dumps(cells, ensure_ascii=False, indent=1) + "\n"


def pages() -> list[Path]:
    return sorted(path for path in LESSONS.glob("*.md") if path.stem[0].isdigit())


if __name__ == "__main__":
    for page in pages():
        page.with_suffix(".ipynb").write_text(written(page), encoding="utf-8")
