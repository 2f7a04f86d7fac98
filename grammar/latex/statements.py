r"""Convert table cells to statements, because LaTeX lays out a program as a table.

A cell ends at `\\`, at every second `&` of tables such as align, at `\quad`, and at the end of its formula. Most cells
are one statement each. However, a cell that begins with an operator, or follows an operator, continues the previous
statement. A cell may contain two statements, as in `x = 1, y = 2`. A cell such as `t = 1, …, n` is the range of the
previous statement.
"""

from __future__ import annotations

import re

from ..text_tables import JOINS_AFTER, JOINS_BEFORE
from ..tokens import CLOSING, OPENING, Token, group_end, read_names

PUNCTUATION = {"COMMA", "PERIOD"}
DOTS = {"ELLIPSIS", "DOTS", "EQUALS"}
# The strengths of a SEPARATOR, from weak to strong: & or \quad, then \\, then the end of a formula. Its text is one of
# these.
CELL, ROW, FORMULA = "&", "\\\\", ""

# The patterns match a string with one letter per token: = or : or i (∈, ∼) for a relation, f for FOR, n for a name, or
# x.
LETTERS = {"EQUALS": "=", "COLON": ":", "IN": "i", "COMMA": ",", "DOTS": ".", "FOR": "f", "NAME": "n", "DRAWN": "i"}
RELATED = re.compile("[=:i]")
BEGINS_ANOTHER = re.compile(r"(?<!\.),(?=[^,=:if]*[=:i]|[^,=:if.]+(?:,[^,=:if.]+){0,50}i)")
HEAD = re.compile("x+:")  # ⊕_{ax} : …
COUNTED = re.compile(r"=x,x,\.,")
LISTED = re.compile("NAME EQUALS NUMBER( COMMA NUMBER)+")
RANGE = re.compile(r"n=[^,=:i]+(?:,[^,=:i.]+)?,\.,[^,=:i.]+")


def statements(tokens: list[Token]) -> list[Token]:
    """Return the tokens of all cells, with a SEPARATOR only between statements and a FOR before each range."""
    result: list[Token] = []
    kinds = {token.type for token in tokens}
    for line in _lines(tokens) if "SEPARATOR" in kinds else [tokens]:
        for statement in _split_statements(line) if "COMMA" in kinds else [line]:
            if result:
                if statement[0].type == result[-1].type == "ELLIPSIS":
                    continue
                is_group = statement[0].type == "LPAREN" and group_end(statement, 0) == len(statement) > 2
                if is_group and _between(result, statement[1:-1]).type == "FOR":
                    statement = statement[1:-1]
                result.append(_between(result, statement))
            result += statement
    _trim(result)
    return result


def _between(before: list[Token], statement: list[Token]) -> Token:
    last, start = before[-1], statement[0].start
    if last.type != "ELLIPSIS" and (
        RANGE.fullmatch(_letters(statement)) or _counts(before, statement) or _lists_numbers(before, statement)
    ):
        return Token("FOR", "for", start, start)
    return Token("SEPARATOR", "\n", start, start)


def _counts(before: list[Token], statement: list[Token]) -> bool:
    """Return whether a condition such as 1 ≤ i ≤ n or i ∈ {1, …, n} is the range of the previous statement.

    A set with dots is always a range. Two relations form a range if i occurs in a script of the previous statement.
    """
    kinds = [token.type for token in statement]
    if kinds[:3] == ["NAME", "IN", "LBRACE"]:
        return "DOTS" in kinds and "FOR" not in kinds
    places = [index for index, kind in enumerate(kinds) if kind == "RELATION"]
    if len(places) != 2 or places[1] != places[0] + 2 or kinds[places[0] + 1] != "NAME":
        return False
    depth = sum((kind in OPENING) - (kind in CLOSING) for kind in kinds[: places[0]])
    if depth or {"COMMA", "EQUALS"} & set(kinds):  # Z = (1 < i < n) is a definition.
        return False
    return _occurs_in_script(before, statement[places[0] + 1].text)


def _lists_numbers(before: list[Token], statement: list[Token]) -> bool:
    """Return whether a list such as t = 1, 2, 3 is the range of the previous statement.

    It is the range if the previous statement has t in a script or index.
    """
    kinds = " ".join(token.type for token in statement)
    return LISTED.fullmatch(kinds) is not None and _occurs_in_script(before, statement[0].text)


def _occurs_in_script(before: list[Token], variable: str) -> bool:
    """Return whether the variable occurs in a script or index of the previous statement."""
    for token, following in zip(reversed(before[:-1]), reversed(before)):
        if token.type == "SEPARATOR":
            return False
        if following.type == "NAME" and following.text == variable and token.type in ("SUB", "SUP", "LBRACE", "LPAREN"):
            return True
    return False


def _cells(tokens: list[Token]):
    """Yield each nonempty cell, with the strength of the SEPARATOR before it."""
    cell: list[Token] = []
    before = FORMULA
    for token in tokens:
        if token.type != "SEPARATOR":
            cell.append(token)
            continue
        if cell:
            yield before, cell
            cell, before = [], token.text
        else:
            before = min(before, token.text, key=(FORMULA, ROW, CELL).index)
    if cell:
        yield before, cell


def _lines(tokens: list[Token]):
    """Return the statements of a table. A statement consists of one or more cells."""
    lines: list[list[Token]] = []
    related = False
    comma: Token | None = None
    for before, cell in _cells(tokens):
        last = lines[-1] if lines else []
        comma_here = _trim(cell)
        if not cell:
            continue
        if all(token.type in DOTS for token in cell) and any(token.type != "EQUALS" for token in cell):
            cell = [Token("ELLIPSIS", "⋮", cell[0].start, cell[-1].end)]
        if last and before != FORMULA and _continues(last, cell, related):
            last += cell
            related = related or bool(RELATED.search(_letters(cell)))
        elif last and before == CELL and comma and not related and last[-1].type != "ELLIPSIS" and _lists(last, cell):
            last += [comma, *cell]  # W, \quad b \in S
            related = bool(RELATED.search(_letters(cell)))
        else:
            lines.append(cell)
            related = bool(RELATED.search(_letters(cell)))
        comma = comma_here
    return lines


def _lists(last: list[Token], cell: list[Token]) -> bool:
    r"""Return whether a cell continues the list of names in the previous cell, as in W, \quad b \in S.

    In 2 n, \quad n = 3, by contrast, the cells are an expression and a separate equation.
    """
    related = RELATED.search(_letters(cell))
    return related is None or related[0] != "=" or read_names(last)[1] == len(last)


def _trim(cell: list[Token]) -> Token | None:
    """Remove commas and periods from the end of a cell. Return a removed comma, or None if there is none."""
    comma = None
    while cell and cell[-1].type in PUNCTUATION:
        last = cell.pop()
        comma = last if last.type == "COMMA" else comma
    return comma


def _continues(last: list[Token], cell: list[Token], related: bool) -> bool:
    first = cell[0].type
    if "ELLIPSIS" in (first, last[-1].type):
        return False
    if first in ("OPERATOR", "DOT") and HEAD.match(_letters(cell)):
        return False
    if first == "MINUS" and last[-1].type not in JOINS_AFTER:
        return related
    return first in JOINS_BEFORE or last[-1].type in JOINS_AFTER


def _letters(line: list[Token]) -> str:
    """Return a string with one letter per token, which encodes the token's type. Tokens inside brackets become x."""
    letters, depth = [], 0
    for token in line:
        kind = token.type
        if kind in CLOSING:
            depth -= 1
        letters.append("x" if depth else LETTERS.get(kind, "x"))
        if kind in OPENING:
            depth += 1
    return "".join(letters)


def _split_statements(line: list[Token]):
    """Yield the statements of a line such as x = 1, y = 2, which commas separate.

    A list of names before ∈ or a range stays whole.
    """
    letters = _letters(line)
    if ",." in letters:
        line, letters = _drop_second_number(line, letters)
    start, relation = 0, RELATED.search(letters)
    for comma in BEGINS_ANOTHER.finditer(letters):
        if relation and relation.start() < comma.start() > start:
            yield line[start : comma.start()]
            start = comma.end()
            relation = RELATED.search(letters, start)
    last = line[start:]
    if ",f" in letters:  # X = Y, for t = 1, …, n
        last = [
            token for token, pair in zip(last, zip(letters[start:], letters[start + 1 :] + " ")) if pair != (",", "f")
        ]
    if last:
        yield last


def _drop_second_number(line: list[Token], letters: str) -> tuple[list[Token], str]:
    """Drop the second number of a range, so that k = 0, 1, …, n becomes k = 0, …, n.

    Return the remaining tokens and their letters.
    """
    dropped = set()
    for match in COUNTED.finditer(letters):
        first, second = line[match.start() + 1].text, line[match.start() + 3].text
        if len(second) < 10 and first.isdecimal() and second.isdecimal() and int(second) == int(first) + 1:
            dropped |= {match.start() + 2, match.start() + 3}
    indices = [index for index in range(len(line)) if index not in dropped]
    return [line[index] for index in indices], "".join(letters[index] for index in indices)
