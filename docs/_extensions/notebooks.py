"""The lessons as notebooks, made of their pages: blocks become cells, formulas the cell %%nt.

python docs/_extensions/notebooks.py --write
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from blocks import FENCE, OPTION, split
from generated import as_site

LESSONS = Path(__file__).parent.parent / "lessons"
SETUP = "%load_ext namedtensor\nimport numpy as np\n\nimport namedtensor as nt"


def notebook(page: str) -> dict[str, Any]:
    """A notebook of the text of a page."""
    cells = [code(SETUP)]
    end = 0
    for block in FENCE.finditer(page):
        cells += prose(page[end : block.start()])
        cells += cells_of(block["kind"], block["body"])
        end = block.end()
    cells += prose(page[end:])
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    numbered = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(cells)]
    return {"cells": numbered, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


def prose(text: str) -> list[dict[str, Any]]:
    return [{"cell_type": "markdown", "metadata": {}, "source": text.strip()}] if text.strip() else []


def code(text: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text}


def cells_of(kind: str, body: str) -> list[dict[str, Any]]:
    """The cell of a block; a formula is evaluated with what its page gives it."""
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
    if "error" in options:
        text = f"try:\n    {text.strip()}\nexcept nt.NotationError as problem:\n    print(problem)"
    return [code(text)]


def written(path: Path) -> str:
    """The text of the notebook of a page."""
    return json.dumps(notebook(as_site(path.read_text(encoding="utf-8"))), ensure_ascii=False, indent=1) + "\n"


def pages() -> list[Path]:
    return sorted(path for path in LESSONS.glob("*.md") if path.stem != "index")


if __name__ == "__main__":
    for page in pages():
        page.with_suffix(".ipynb").write_text(written(page), encoding="utf-8")
