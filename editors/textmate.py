"""The grammar of `.nt` files for editors, made from the notation's own: `formula.lark` and `symbols.py`.

python editors/textmate.py --write

Visual Studio Code, Sublime Text, and whatever else reads TextMate grammars highlight with it. A test compares the file.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from namedtensor.display import token_classes as classes  # noqa: E402

FILE = ROOT / "editors" / "vscode" / "syntaxes" / "namedtensor.tmLanguage.json"
SUFFIX = "namedtensor"
SCOPES = {
    classes.KEYWORD: "keyword.control",
    classes.OPERATOR: "keyword.operator",
    classes.TYPE: "support.type",
    classes.FUNCTION: "support.function",
}
LETTER, WORD = r"\p{L}", r"\p{L}[\p{L}\p{N}]*['′’]*"
AXIS = "entity.name.type.axis"


def declared_terminals() -> set[str]:
    """Return the terminals that the grammar declares."""
    text = (ROOT / "grammar" / "formula.lark").read_text(encoding="utf-8")
    return {name for line in re.findall(r"^%declare (.+)$", text, re.MULTILINE) for name in line.split()}


def scope(name: str) -> str:
    return f"{name}.{SUFFIX}"


def oniguruma(pattern: str) -> str:
    """Return a pattern of Python's module `re` in the syntax of editors."""
    return pattern.replace(r"[^\W\d_]", LETTER).replace(r"[^\W_]", r"[\p{L}\p{N}]")


def of_class(kind: str) -> dict[str, Any]:
    return {"name": scope(SCOPES[kind]), "match": oniguruma(classes.pattern(kind))}


def group(begin: str, end: str, name: str, inside: list[dict[str, Any]]) -> dict[str, Any]:
    captures = {"0": {"name": scope("punctuation.section")}}
    return {
        "name": scope(name),
        "begin": begin,
        "end": end,
        "beginCaptures": captures,
        "endCaptures": captures,
        "patterns": inside,
    }


def textmate() -> dict[str, Any]:
    """Return the grammar."""
    terminals = declared_terminals()
    missing = terminals - classes.CLASSES.keys()
    if missing:
        raise SystemExit(f"no class in namedtensor/display/token_classes.py for {', '.join(sorted(missing))}")
    here = {"include": "$self"}
    size = {
        "match": rf"(\|)({WORD})(\|)",
        "captures": {
            "1": {"name": scope("punctuation.section")},
            "2": {"name": scope(AXIS)},
            "3": {"name": scope("punctuation.section")},
        },
    }
    number = {"name": scope("constant.numeric"), "match": classes.NUMERAL}
    axes = [
        group(r"\(", r"\)", "meta.index", [here]),
        group(r"\[", r"\]", "meta.size", [here]),
        group(r"\{", r"\}", "meta.group", [{"include": "#axes"}]),
        size,
        number,
        {"name": scope(AXIS), "match": WORD},
        {"name": scope("keyword.operator"), "match": r"[→×,*†‡]|->"},
    ]
    head = {
        "match": rf"^\s*({WORD})(?=(?:[_^](?:\{{[^}}]*\}}|[\p{{L}}\p{{N}}]+))*\s*(?:\([^()]*\)\s*(?:=|≜|≔)|:(?!=)))",
        "captures": {"1": {"name": scope("entity.name.function")}},
    }
    defined = {
        "match": rf"^\s*({WORD})(?=(?:[_^](?:\{{[^}}]*\}}|[\p{{L}}\p{{N}}]+))*\s*(?:=|≜|≔|:=|∈|in\b))",
        "captures": {"1": {"name": scope("variable.other.definition")}},
    }
    keyword, path = {"name": scope("keyword.control.import")}, {"name": scope("string.quoted.double")}
    imports = {
        "begin": oniguruma(classes.IMPORT),
        "end": "$",
        "beginCaptures": {"2": keyword, "4": path, "6": keyword},
        "patterns": [
            {"name": scope("comment.line.number-sign"), "match": "#.*$"},
            {**keyword, "match": oniguruma(classes.RENAMED)},
            {"name": scope("variable.other"), "match": WORD},
        ],
    }
    return {
        "name": "Named Tensor Notation",
        "scopeName": f"source.{SUFFIX}",
        "fileTypes": ["nt"],
        "patterns": [
            {"name": scope("comment.line.directive"), "match": "#:.*$"},
            {"name": scope("comment.line.number-sign"), "match": "#.*$"},
            imports,
            head,
            defined,
            group(r"_\{", r"\}", "meta.axes", [{"include": "#axes"}]),
            group(r"(?<=[ℝℤℕRF\]}])\^\{", r"\}", "meta.shape", [{"include": "#axes"}]),
            size,
            *map(of_class, (classes.FUNCTION, classes.KEYWORD, classes.TYPE)),
            number,
            {"name": scope("variable.other"), "match": classes.LABEL},
            of_class(classes.OPERATOR),
            {"name": scope("entity.name.function.call"), "match": rf"{WORD}(?=\()"},
            {"name": scope("variable.other"), "match": rf"{WORD}|\\[A-Za-z]+"},
        ],
        "repository": {"axes": {"patterns": axes}},
    }


def written() -> str:
    """Return the expected content of the file."""
    return json.dumps(textmate(), ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    if "--write" not in sys.argv[1:]:
        raise SystemExit("python editors/textmate.py --write")
    FILE.write_text(written(), encoding="utf-8")
