"""Explain unexpected tokens: list the tokens that could follow, and suggest a repair.

The parser supplies the terminals that could follow. The tables in this module list habits from Python, LaTeX and other
notations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from .errors import UNFINISHED, Hint, NotationError
from .import_lines import FORM
from .symbols import FUNCTIONS
from .tokens import Token, covering, group_end

OPERATORS = {"EQUALS", "APPROX", "PLUS", "MINUS", "SLASH", "DOT", "OPERATOR", "ROOT", "BIG", "IN", "ARROW", "RELATION", "FUNCTION",
             "TIMES", "COLON", "COMMA", "PARTIAL", "AND", "OR", "NOT", "IF"}  # fmt: skip
CLOSING = {"RPAREN": ")", "RBRACE": "}", "RBRACKET": "]"}
OPERAND = {"NUMBER", "NAME", "LPAREN"}
EXPECTED = {
    "NAME": "a name", "NUMBER": "a number", "LPAREN": "(", "RPAREN": ")", "RBRACE": "}", "RBRACKET": "]", "COMMA": "a comma",
    "EQUALS": "=", "IN": "∈", "ARROW": "→", "SUP": "^", "REALS": "ℝ", "DOTS": "…", "COLON": ":", "BAR": "|", "FOR": "for",
    "IF": "if", "OTHERWISE": "otherwise", "CALL": "(", "SUB": "a subscript", "LBRACE": "{", "LBRACKET": "[",
}  # fmt: skip

# Pairs of signs that form one sign in other notations.
SIGNS = {
    "==": Hint("write one =: it defines, asserts, and compares in a condition", "="),
    "**": Hint("a power is written x^2", "^"),
    "//": Hint("write a / b for a quotient, floor(a / b) for integer division", "/"),
    "=>": Hint("≥ is written >=, and → is written ->", "≥", "→"),
    "=<": Hint("≤ is written <=", "≤"),
    "<>": Hint("≠ is written !=", "≠"),
} | dict.fromkeys(("+=", "-=", "*=", "/="), "an equation is not an update: define a new name for the new value")

# Messages for a token that is not an operator, but follows a complete operand.
AFTER_OPERAND = {
    **dict.fromkeys(("IF", "OTHERWISE"), "cases are written { a if i ≤ j; b otherwise }"),
    "FOR": "a range follows an equation: X^t = X^{t-1} + 1 for t = 1, …, n",
    **dict.fromkeys(("AND", "NOT", "OR", "RELATION", "PARITY"), "write a condition in 𝕀[…], in where(…) or in cases"),
    "APPROX": "≈ cannot be tested; write abs(x − y) < 0.01",
    "TIMES": "a product is written A ⊙ B, a contraction A ⊙_{axis} B",
    "SEMICOLON": Hint("a new line begins a new statement", "\n"),
    "COLON": "a signature is written f : ℝ^{seq} → ℝ",
    "ARROW": "a rename is written X_{old→new}, a function f(x) = x^2",
    "IN": "a declaration is written X ∈ ℝ^{seq}",
}


def syntax_error(token: Token, tokens: list[Token], expected: set[str], source: str) -> NotationError:
    """Return the error for an unexpected `token`, given the terminals that are valid in its place."""
    position = len(tokens) if token.type == "$END" else tokens.index(token)
    before = tokens[position - 1] if position else None
    if any(earlier.type == "FROM" for earlier in statement_before(tokens, position)):
        return explain_malformed_import(
            token if token.type not in ("$END", "SEPARATOR") else before or token, expected, source
        )
    if before is not None and before.type == "BIG" and "SUB" in expected:
        sign = source[before.start : before.end]
        return NotationError(
            105,
            f"{sign} needs an axis",
            source,
            before.span,
            hint=f"write {sign}_{{axis}} before its operand",
        )
    if token.type in ("$END", "SEPARATOR"):
        return ends_early(before or token, tokens, position, expected, source)
    shown = source[token.start : token.end].strip() or token.text
    pair = source[before.start : token.end] if before is not None else ""
    if pair in SIGNS and before is not None:
        return NotationError(106, f"{pair} is not an operator", source, (before.start, token.end), hint=SIGNS[pair])
    if misses_operand(token, expected) and not (before is not None and before.type == "ARROW"):
        start = operator_before(tokens, position)
        if start is not None and tokens[start].type == "FUNCTION":
            name = tokens[start].text
            return NotationError(
                105, f"the function {name} is missing its operand", source, covering(tokens[start:position]),
                hint=f"write what it applies to: {name}(X)",
            )  # fmt: skip
        return NotationError(
            105,
            f"an operand is missing before {shown}",
            source,
            token.span,
            hint=repair(tokens, position, expected, source),
        )
    return NotationError(
        101,
        f"unexpected {shown}; {expectation(expected)}",
        source,
        token.span,
        hint=repair(tokens, position, expected, source),
    )


IMPORT_PARTS = {"PATH": "a file in double quotes", "IMPORT": "import", "NAME": "a name", "COMMA": "a comma"}


def explain_malformed_import(token: Token, expected: set[str], source: str) -> NotationError:
    """Return the error for an import line that is incomplete or in the wrong order."""
    parts = " or ".join(text for terminal, text in IMPORT_PARTS.items() if terminal in expected)
    return NotationError(101, f"malformed import: expected {parts}", source, token.span, hint=FORM)


def ends_early(last: Token, tokens: list[Token], position: int, expected: set[str], source: str) -> NotationError:
    start = operator_before(tokens, position)
    if start is not None and expected >= OPERAND - {"LPAREN"}:
        span = covering(tokens[start:position])
        shown = source[span[0] : span[1]]
        what = "a right side" if tokens[start].type == "EQUALS" else "an operand"
        text = "write the right side" if tokens[start].type == "EQUALS" else f"write what {shown} applies to"
        return NotationError(
            105, f"{shown} needs {what} after it", source, span, hint=Hint(f"{text}, or remove {shown}", ""),
            reason=UNFINISHED,
        )  # fmt: skip
    commas = [token for token in tokens[:position] if token.type == "COMMA"]
    if "COMMA" in expected and "$END" not in expected and any(token.type == "FOR" for token in tokens[:position]):
        return NotationError(
            101,
            "a range needs … before its end",
            source,
            last.span,
            hint="write for t = 1, …, n; or for t = n, n-1, …, 1",
        )
    if "IN" in expected and "$END" not in expected and commas:
        return NotationError(
            101, "names separated by a comma need ∈ after them", source, commas[-1].span,
            hint="write a declaration as A, B ∈ ℝ^{seq}, and decimal numbers with a point",
        )  # fmt: skip
    return NotationError(
        101,
        f"unexpected end of formula; {expectation(expected)}",
        source,
        last.span,
        hint=RANGE if has_reached_range(tokens[:position]) else "write the rest of the formula",
    )


def misses_operand(token: Token, expected: set[str]) -> bool:
    """Return whether an operand is missing before `token`, as before an operator or a closing bracket."""
    return (
        expected >= OPERAND
        and "PLUS" not in expected
        and (token.type in OPERATORS or token.type in CLOSING or token.type == "SEMICOLON")
    )


RANGE = "write a range as for t = 1, …, n, or for t ∈ [n]"
SECOND_RANGE = "each index has a for of its own: for i = 1, …, m for j = 1, …, n"


def repair(tokens: list[Token], position: int, expected: set[str], source: str) -> str | None:
    """Return a hint that suggests a repair of an unexpected token, or None if no repair is likely."""
    token = tokens[position]
    types = [earlier.type for earlier in tokens[max(0, position - 2) : position]]
    bracketed = unwrap_range(tokens, position, source)
    if bracketed is not None:
        return bracketed
    if types[-1:] == ["SUP"] and token.type == "MINUS":
        hint = "put a longer exponent in braces: x^{-1}"
        following = tokens[position + 1 : position + 2]
        return Hint(
            hint,
            *(f"{{-{piece.text}}}" for piece in following),
            at=(token.start, following[-1].end) if following else None,
        )
    if types[-1:] == ["SUP"] and token.type == "LPAREN":  # LaTeX raises only the opening parenthesis.
        inside = tokens[position + 1 : group_end(tokens, position) - 1]
        start, end = token.start, tokens[position + len(inside) + 1].end
        edits = [f"{{{source[token.end : inside[-1].end].strip()}}}"] if inside else []
        return Hint("put the exponent in braces: x^{1/2}", *edits, at=(start, end) if edits else None)
    subscript = explain_subscript(tokens, position)
    if subscript is not None:
        return subscript
    begins = token.type == "FOR" and (not types or types[-1] == "SEPARATOR")
    if begins or token.type == "COLON" and has_reached_range(tokens[:position]):
        return "write the range after its equation: h^t = h^{t-1} / 2 for t ∈ [3]"
    if token.type == "REALS" and has_reached_range(tokens[:position]):
        return "a definition holds for all arguments: leave out the range; the range of an index is for t ∈ [n]"
    if types[:1] == ["COMMA"] and "RPAREN" not in expected and not has_reached_range(tokens[:position]):
        rest = [later.type for later in tokens[position:]]
        if {"RELATION": rest.count("RELATION") == 2, "EQUALS": "DOTS" in rest, "IN": True}.get(token.type):
            hint = "write for before a range: x_t = 2 t for t = 1, …, n"
            return Hint(hint, " for", at=tokens[position - 2].span)
    if types[:1] == ["SUB"] and token.type == "COMMA":
        return _suggest_braces("put several axes in braces: _{{{}, …}}", tokens, position, ", ")
    if types[:1] == ["SUB"] and token.type == "ARROW":
        return _suggest_braces("put a rename in braces: _{{{}→…}}", tokens, position, "→")
    if token.type == "DOTS":
        return "replace the dots: a sum is ∑_{i=1}^{n} …, a range for t = 1, …, n"
    if under_root(tokens, position) is not None:
        return ROOT_OF_ONE
    if token.type == "BAR" and types[-1:] == ["BAR"]:
        return "a norm is written ‖x‖, or norm_{axis} x"
    if token.type == "NOT" or token.type == "IF" and not types:
        return AFTER_OPERAND[token.type]
    if token.type == "RELATION" and token.text == "<" and not types:
        return INNER_PRODUCT
    if "BAR" in expected and any(earlier.type == "BAR" for earlier in tokens[:position]):
        return "an absolute value has a bar on each side, |x − y|, or is written abs(x − y)"
    if token.type == "EQUALS" and has_reached_range(tokens[: position - 1]) and types[-2:] == ["COMMA", "NAME"]:
        return SECOND_RANGE
    if token.type == "EQUALS" and "RBRACKET" in expected:
        return "write an element as X_{axis(1)}; indices start at 1"
    if token.type == "COMMA" and expected & set(EXPECTED) == {"RPAREN"}:
        return "stack tensors of one shape: [x, y]_{axis}; to return several values, end with a definition for each"
    if token.type == "COLON" and ("RBRACKET" in expected or types[-1:] == ["LBRACKET"]):
        return "write a slice as X_{axis(2:4)}; indices start at 1, and both ends are included"
    if token.type in ("COMMA", "AND", "RELATION") and "RPAREN" not in expected and has_reached_range(tokens[:position]):
        return SECOND_RANGE
    if token.type == "SEMICOLON" and "$END" not in expected:
        return None
    if token.type in AFTER_OPERAND and ("PLUS" in expected or token.type in ("COLON", "TIMES")):
        return AFTER_OPERAND[token.type]
    return None


def explain_subscript(tokens: list[Token], position: int) -> Hint | None:
    """Return a hint for an invalid subscript of a name, such as x_{t 2} or x_{⌊t/2⌋}, or None for any other error."""
    opening = max((at for at, token in enumerate(tokens[:position]) if token.type == "SUB"), default=-1) + 1
    if opening < 2 or tokens[opening].type != "LBRACE" or group_end(tokens, opening) <= position:
        return None
    name, before, token = tokens[opening - 2], tokens[position - 1], tokens[position]
    if name.type != "NAME" or token.type not in ("SUP", "CALL", "NUMBER"):
        return None
    if token.type == "NUMBER" and before.type == "NAME" and before.text not in FUNCTIONS:
        product = f"{token.text} {before.text}"
        return Hint(f"write the number first: {product}", product, at=(before.start, token.end))
    return Hint(f"other indices need an axis: {name.text}_{{axis(2^t)}}, {name.text}_{{axis(floor(t/2))}}")


def unwrap_range(tokens: list[Token], position: int, source: str) -> Hint | None:
    """Return a hint for a range in parentheses after an equation, as in (t = 1, …, n).

    Return None if the parentheses do not contain a range.
    """
    openings = [
        at
        for at, token in enumerate(tokens[:position])
        if token.type in ("LPAREN", "CALL") and group_end(tokens, at) > position
    ]
    if not openings or not any(token.type == "EQUALS" for token in tokens[: openings[-1]]):
        return None
    opening, close = openings[-1], group_end(tokens, openings[-1]) - 1
    inside, before = tokens[opening + 1 : close], source[: tokens[opening].start]
    if not before[-1:].isspace() or (close + 1 < len(tokens) and tokens[close + 1].type not in ("$END", "SEPARATOR")):
        return None
    if [token.type for token in inside[:2]] not in (["NAME", "EQUALS"], ["NAME", "IN"]):
        return None
    if inside[1].type == "EQUALS" and not any(token.type == "DOTS" for token in inside):
        return None
    in_latex = "\\forall " if inside[1].type == "IN" else "" if re.search(r"(quad|,)\s*$", before) else "\\quad "
    word = in_latex if "\\" in source else "" if tokens[opening - 1].type == "FOR" else "for "
    range_ = word + source[inside[0].start : inside[-1].end]
    return Hint(f"write the range without parentheses: {range_}", range_, at=(tokens[opening].start, tokens[close].end))


ROOT_OF_ONE = "write the operand of a root in parentheses: √(var_{axis} X)"


def under_root(tokens: list[Token], position: int) -> int | None:
    """Return the index of a function or big operator that directly follows a root sign, as in √∑.

    `position` is the index of the big operator, or the end of the scripts of the function or operator. Return None if
    no root sign precedes it.
    """
    start = position if tokens[position].type == "BIG" else operator_before(tokens, position)
    rooted = start and tokens[start].type in ("FUNCTION", "BIG") and tokens[start - 1].type == "ROOT"
    return start if rooted else None


INNER_PRODUCT = "an inner product is a contraction: x ⊙_{axis} y"


def _suggest_braces(hint: str, tokens: list[Token], position: int, sign: str) -> Hint:
    """Return a hint to put braces around the axes of a subscript.

    `sign`, which is a comma or →, follows the first axis.
    """
    first, following = tokens[position - 1], tokens[position + 1 : position + 2]
    edits = [f"{{{first.text}{sign}{token.text}}}" for token in following if token.type == "NAME"]
    return Hint(hint.format(first.text), *edits, at=(first.start, following[0].end) if edits else None)


def statement_before(tokens: list[Token], position: int) -> Iterator[Token]:
    """Yield the tokens of the current statement before `position`, from last to first."""
    return takewhile(lambda token: token.type != "SEPARATOR", reversed(tokens[:position]))


def has_reached_range(before: list[Token]) -> bool:
    """Return whether the current statement contains `for`, which starts its range."""
    return any(token.type == "FOR" for token in statement_before(before, len(before)))


def expectation(expected: set[str]) -> str:
    """Describe the possible terminals in words, such as "expected an operator or )"."""
    if "PLUS" in expected:
        ends = [sign for terminal, sign in CLOSING.items() if terminal in expected]
        ends += [EXPECTED[word] for word in ("IF", "OTHERWISE") if word in expected]
        ends += ["the end of the statement"] if "$END" in expected else []
        return "expected " + " or ".join(["an operator", *ends])
    if "REALS" in expected:
        return "expected a set: ℝ^{…}, {0, 1}, [0, 1] or [n]"
    if expected >= OPERAND:
        return "expected an operand"
    words = sorted({EXPECTED[terminal] for terminal in expected if terminal in EXPECTED})
    if not words:
        return "expected an operator or the end of the statement"
    if len(words) > 4:
        words = [word for word in words if len(word) == 1] or words[:4]
    return "expected " + " or ".join(words[:4])


def operator_before(tokens: list[Token], position: int) -> int | None:
    """Return the index of the operator whose scripts end at `position`, or None if there is none."""
    index = position - 1
    if index < 0:
        return None
    if tokens[index].type in OPERATORS:
        return index
    depth = 0
    while index >= 0:
        kind = tokens[index].type
        if kind in CLOSING:
            depth += 1
        elif kind in ("LBRACE", "LPAREN", "LBRACKET", "CALL"):
            depth -= 1
        if depth == 0 and kind in ("SUB", "SUP") and index:
            if tokens[index - 1].type in OPERATORS:
                return index - 1
        elif depth == 0 and kind not in ("LBRACE", "NAME", "NUMBER", "FUNCTION", "RBRACE", "SUB", "SUP"):
            return None
        index -= 1
    return None
