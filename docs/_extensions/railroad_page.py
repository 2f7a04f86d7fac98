"""Railroad diagrams of `grammar/formula.lark`, generated from the file.

The part of Lark's notation that the file uses: rules, alternatives, groups, `*`, `+`, `?`, aliases, comments.
"""

from __future__ import annotations

import io
import re
from importlib import resources

import railroad

from grammar.symbols import SYMBOLS

TOKEN = re.compile(r"\s+|//[^\n]*|->\s*\w+|[A-Za-z_][A-Za-z_0-9]*|[()|*+?]")
HEADING = re.compile(r"//\s*-{10,}\s*(.*?)\s*-*\s*$")

SHOWN = {symbol.terminal: symbol.text for symbol in reversed(SYMBOLS)} | {
    "SEPARATOR": "new line",
    "NAME": "name",
    "PATH": '"file.nt"',
    "NUMBER": "number",
    "FUNCTION": "name of a function",
    "CALL": "(",
    "STAR": "* †",
    "OPERATOR": "⊕ ★ ⊗ …",
    "RELATION": "≠ ≤ ≥ < >",
    "BIG": "∑ ∏",
    "PARITY": "odd even",
    "WITH": "\\mathit",
    "AND": "∧",
    "OR": "∨",
    "NOT": "¬",
}


def sections() -> dict[str, list[tuple[str, str]]]:
    """Return the rules under each heading of the file, each as a name and a body."""
    result: dict[str, list[tuple[str, str]]] = {"programs": []}
    current, name, body = "programs", "", []

    def close():
        if name:
            result[current].append((name, "\n".join(body)))

    text = (resources.files("grammar") / "formula.lark").read_text(encoding="utf-8")
    for line in text.splitlines():
        heading = HEADING.match(line)
        code = line.partition("//")[0]
        if heading:
            close()
            name, current = "", heading[1]
            result[current] = []
        elif line.startswith("%"):
            close()
            name = ""
        elif rule := re.match(r"[?!]?(\w+):(.*)", code):
            close()
            name, body = rule[1], [line.partition(":")[2]]
        elif code.strip() and name:
            body.append(line)
    close()
    return result


def diagrams(heading: str) -> list[tuple[str, str]]:
    """Return each rule under a heading as a name and an SVG. The comment on an alternative follows it."""
    drawn = []
    for name, body in sections()[heading]:
        tokens = [token for token in TOKEN.findall(body) if not token.isspace() and not token.startswith("->")]
        item, rest = alternatives(tokens)
        assert not rest, (name, rest)
        out = io.StringIO()
        railroad.Diagram(item, css="").writeSvg(out.write)
        drawn.append((name, out.getvalue()))
    return drawn


def alternatives(tokens):
    choices = []
    while True:
        items, tokens = sequence(tokens)
        choices.append(items)
        if not tokens or tokens[0] != "|":
            break
        tokens = tokens[1:]
    return (choices[0] if len(choices) == 1 else railroad.Choice(0, *choices)), tokens


def sequence(tokens):
    items = []
    while tokens and tokens[0] not in ")|":
        token, tokens = tokens[0], tokens[1:]
        if token.startswith("//"):
            items.append(railroad.Comment(token[2:].strip()))
            continue
        if token == "(":
            item, tokens = alternatives(tokens)
            assert tokens[0] == ")"
            tokens = tokens[1:]
        elif token.isupper():
            item = railroad.Terminal(SHOWN.get(token, token.lower()))
        else:
            item = railroad.NonTerminal(token, href=f"#rule-{token}")
        if tokens and tokens[0] in "*+?":
            sign, tokens = tokens[0], tokens[1:]
            item = {"*": railroad.ZeroOrMore, "+": railroad.OneOrMore, "?": railroad.Optional}[sign](item)
        items.append(item)
    return (items[0] if len(items) == 1 else railroad.Sequence(*items)), tokens
