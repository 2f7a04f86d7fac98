"""`docs/errors.md`, made from `docs/errors_examples.py`: a section for each code, with what is really printed.

The sections are in `namedtensor/webpage/errors.json` too, for the page of the playground, which reads nothing from elsewhere.

python docs/_extensions/errors_page.py --write
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

DOCS = Path(__file__).parent.parent
PAGE = DOCS / "errors.md"
OF_THE_PAGE = DOCS.parent / "namedtensor" / "webpage" / "errors.json"
for folder in (DOCS.parent, DOCS):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

HEAD = """\
# Errors

This page explains each error with an example and a fix. An invalid formula, or an input that does not match it, raises
`NotationError`. The first digit of its code gives the kind: 1 syntax, 2 name, 3 shape, 4 value. The caret marks the smallest part
that must change. Every message below is the actual output of its example.

To handle an error in code, test its fields, not its message, which may change:

| field | content |
| --- | --- |
| `code`, `kind` | 301, `"shape"` |
| `message`, `notes`, `hint` | the parts of the text |
| `source`, `span`, `span_text` | the formula, and the part that the caret marks |
| `edits` | the fixes that the hint suggests, as pairs (span, new text) |
| `symbol`, `axis` | the name and the axis concerned, if any |
| `reason` | distinguishes errors that share a code |
"""
KINDS = {
    1: "Syntax errors (1xx)",
    2: "Name errors (2xx)",
    3: "Shape errors (3xx)",
    4: "Value errors (4xx)",
}


def message(example) -> str:
    """Return the message of the example, which must raise a NotationError."""
    return str(raised(example))


def raised(example):
    import errors_examples

    import namedtensor as nt

    if example.document:
        return warning(example.document)
    try:
        if example.python:
            value = eval(example.python, vars(errors_examples))
        else:
            value = nt.evaluate(example.formula, dict(example.inputs), sizes=dict(example.sizes), **example.options)
    except nt.NotationError as error:
        return error
    raise AssertionError(f"{example.python or example.formula!r} was to fail and gave {value!r}")


def warning(document: str):
    """Return the first warning of a document, as an error on its line."""
    import namedtensor as nt

    first = warnings_of(document)[0]
    return nt.NotationError(first.code, first.message, document, first.span, hint=first.hint)


def warnings_of(document: str):
    from namedtensor.documents.sections import check_document

    return check_document(document).warnings


def page() -> str:
    from errors_examples import EXAMPLES

    from grammar.errors import CATALOGUE, REMOVED_CODES

    parts = [HEAD]
    kind = 0
    for number, title in CATALOGUE.items():
        if number // 100 != kind:
            kind = number // 100
            parts.append(f"## {KINDS[kind]}\n")
        parts.append(f"(error-{number})=\n### {number}: {title}\n")
        for example in EXAMPLES.get(number, ()):
            parts.append(section(example))
    parts.append(
        "## Removed codes\n\nNo other error reuses them.\n\n| code | meaning | removed in |\n| --- | --- | --- |"
    )
    parts += (f"| {number} | {title} | 0.2 |" for number, title in REMOVED_CODES.items())
    return "\n".join(parts)


def sections() -> dict[str, list[dict[str, str]]]:
    """Return the examples of each code as data, each with its nonempty fields among note, given, text and fixed."""
    from errors_examples import EXAMPLES

    from grammar.errors import CATALOGUE

    def data(example) -> dict[str, str]:
        text = f">>> {example.python}\n{message(example)}" if example.python else message(example)
        result = {"note": example.note, "given": inputs(example), "text": text, "fixed": example.fixed}
        return {name: element for name, element in result.items() if element}

    return {str(number): [data(example) for example in EXAMPLES.get(number, ())] for number in CATALOGUE}


def written() -> str:
    """Return the text of `errors.json`."""
    return json.dumps(sections(), ensure_ascii=False, indent=0) + "\n"


def section(example) -> str:
    lines = []
    if example.note:
        lines += [example.note, ""]
    if text := inputs(example):
        lines += [f"With {text}:", ""]
    if example.python:
        lines += fence(f">>> {example.python}\n{message(example)}")
    else:
        lines += fence(message(example))
    if example.fixed:
        lines += ["Fixed:", "", *fence(example.fixed)]
    return "\n".join(lines)


def inputs(example) -> str:
    parts = []
    for name, value in example.inputs.items():
        shape = getattr(value, "shape", None)
        parts.append(f"`{name} ∈ {shape}`" if shape is not None else f"`{name} = {value!r}`")
    parts += [f"`|{axis}| = {size}`" for axis, size in example.sizes.items()]
    return ", ".join(parts)


def fence(text: str) -> list[str]:
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return [f"{ticks}text", text, ticks, ""]


if __name__ == "__main__":
    text = page()
    if "--write" in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
        OF_THE_PAGE.write_text(written(), encoding="utf-8")
    else:
        sys.stdout.write(text)
