"""Raise an error for each ambiguous power and show both meanings.

mean_{n} (y − p)^2      the square of a mean, or the mean of squares
sin^{-1} x              arcsin x, or 1 / sin x
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .errors import Hint, NotationError, Span
from .function_names import statements
from .symbols import ELEMENTWISE, FAMILIES, FUNCTIONS, INVERSES, WITHOUT_AXES
from .tokens import Token, covering, group_end, has_several_parts, scripts_end

BRACKETS = ("CALL", "LPAREN", "LBRACKET", "LBRACE")
TRANSPOSES = ("T", "top")  # These superscripts are transposes, not powers.
ENDS_SET = ("REALS", "RBRACE", "RBRACKET", "NAME")  # the types that may precede the shape of a set
OVER_AXES = ("FUNCTION", "DOT", "BIG", "OPERATOR")  # tokens whose subscript names axes
SPACED = {"COMMA": ", ", "DRAWN": " ∼ ", "IN": " ∈ "}  # the text of these tokens in a message
MAX_SCRIPT_CHARS = 30  # The maximum length of a script in a message.
MAX_READING_CHARS = 80  # The maximum length of a repair in a hint.


def refuse_ambiguous_powers(tokens: Sequence[Token], source: str) -> None:
    """Raise NotationError at the first ambiguous power, as in mean_{n} (x − 1)^2 or sin^{(2)}(x)."""
    local: _Own | None = None
    for start, token in enumerate(tokens):
        if token.type == "FUNCTION" and (end := scripts_end(tokens, start + 1)) > start + 3:
            refuse_order(tokens, start, end, source)
        opening = _argument(tokens, start) if token.type in ("FUNCTION", "EXPECTED") else None
        power = None if opening is None else _power_after(tokens, opening)
        if opening is None or power is None:
            continue
        if token.type == "FUNCTION" and token.text not in FUNCTIONS:
            local = local or _Own(tokens)
            if not local.takes_axes(tokens[start:opening]):
                continue
        raise _ambiguous(tokens, start, opening, power, source)


def _argument(tokens: Sequence[Token], start: int) -> int | None:
    """Return the index of the opening bracket after a function with axes or after an expectation.

    Return None if no bracket follows, or if a power after the bracket has only one conventional meaning.
    """
    end = scripts_end(tokens, start + 1)
    if end >= len(tokens) or tokens[end].type not in BRACKETS:
        return None
    if tokens[start].type == "EXPECTED":  # the square of 𝔼[x] squares the whole expectation, by convention
        return None if tokens[end].type == "LBRACKET" else end
    scripted = any(token.type == "SUB" for token in tokens[start + 1 : end])
    return end if scripted and tokens[start].text not in WITHOUT_AXES else None


def _power_after(tokens: Sequence[Token], opening: int) -> Span | None:
    """Return the token range of the power after a bracketed argument.

    `opening` is the index of the opening bracket. Return None if no power follows, or if the brackets contain several
    arguments.
    """
    if has_several_parts(tokens, opening):
        return None
    end = group_end(tokens, opening)
    while end < len(tokens) and tokens[end].type == "SUB":  # mean_{n} (x)_{a(1)}^2
        after = scripts_end(tokens, end, ("SUB",))
        chosen = any(token.type in ("ARROW", "LPAREN") for token in tokens[end:after])
        if tokens[opening].type == "LBRACKET" and not chosen:  # A literal follows.
            return None
        end = after
    if [token.type for token in tokens[end : end + 3]] == ["DOT", "DOT", "NUMBER"] and _is_stars(
        *tokens[end : end + 2]
    ):
        return end, end + 3  # **2
    if end + 1 >= len(tokens) or tokens[end].type != "SUP":
        return None
    after = scripts_end(tokens, end, ("SUP",), most=1)
    inside = [token for token in tokens[end + 1 : after] if token.type not in ("LBRACE", "RBRACE")]
    marked = any(token.type in ("STAR", "COMMA") for token in inside)
    transposed = len(inside) == 1 and inside[0].text in TRANSPOSES
    braced = not inside or inside[0].type != "MINUS" or tokens[end + 1].type == "LBRACE"  # ^-1 raises another error
    return (end, after) if inside and braced and not (marked or transposed) else None


def _is_stars(first: Token, second: Token) -> bool:
    return first.end == second.start and first.end - first.start == second.end - second.start == 1


def refuse_order(tokens: Sequence[Token], start: int, end: int, source: str) -> None:
    """Raise NotationError for sin^{(2)}(x), which may be a power or a derivative, unless the source defines sin."""
    name, (sign, opening, number, _) = tokens[start], tokens[end - 4 : end]
    raised = (sign.type, opening.type) == ("SUP", "LBRACE") and re.search("[(⁽]", source[sign.end : number.end])
    if not raised or number.type not in ("NUMBER", "NAME") or name.text not in FUNCTIONS:
        return
    if any(line[0].text == name.text and any(token.type == "EQUALS" for token in line) for line in statements(tokens)):
        return
    called = _format_tokens(tokens[start : end - 4])
    shown = f"{called}^{{({number.text})}}"
    raise NotationError(
        107, f"{shown} is ambiguous: it could mean a power or a derivative of {called}", source, covering(tokens[start:end]),
        hint=f"write ({called}(x))^{number.text}, or the derivative as ∂^{number.text} {called}(x)/∂x^{number.text}",
    )  # fmt: skip


class _Own:
    """The functions that a source itself defines with axes in their subscripts.

    A definition of LN_Q does not count, because the subscript Q is a label.
    """

    def __init__(self, tokens: Sequence[Token]):
        self.axes = _axes(tokens)
        self.functions: set[str] = set()
        for line in statements(tokens):
            end = scripts_end(line, 1)
            if end > 1 and _names(line[:end]) & _axes(line[end:]):
                self.functions.add(line[0].text)

    def takes_axes(self, use: Sequence[Token]) -> bool:
        names = _names(use)
        return bool(names) and (use[0].text in self.functions or bool(names & self.axes))


def _names(head: Sequence[Token]) -> set[str]:
    return {token.text for token in head[1:] if token.type == "NAME"}


def _axes(tokens: Sequence[Token]) -> set[str]:
    """Return the names that a source uses as axes.

    A name is an axis in subscripts of built-ins, shapes, sizes, indices and renames.
    """
    names: set[str] = set()
    types = ["", "", *(token.type for token in tokens), ""]
    for start, token in enumerate(tokens):
        if token.type in OVER_AXES and (token.type != "FUNCTION" or token.text in FUNCTIONS - ELEMENTWISE):
            end = scripts_end(tokens, start + 1, ("SUB",))
            named = [inner.text for inner in tokens[start + 1 : end] if inner.type == "NAME"]
            names |= set(named[:1] if token.text in ("maxk", "argmaxk") else named)  # k is a number, not an axis.
        elif token.type == "LBRACE" and types[start + 1] == "SUP" and types[start] in ENDS_SET:
            names |= {inner.text for inner in tokens[start : group_end(tokens, start)] if inner.place == "axis"}
        elif token.type == "NAME":
            before, after = types[start + 1], types[start + 3]
            chosen = token.place == "axis" and ("ARROW" in (before, after) or after in ("LPAREN", "LBRACKET"))
            if chosen or before == after == "BAR":
                names.add(token.text)
    return names


def _ambiguous(tokens: Sequence[Token], start: int, opening: int, power: Span, source: str) -> NotationError:
    head, raised = tokens[start:opening], tokens[power[0] : power[1]]
    called, exponent = _format_tokens(head), _format_tokens(raised).replace("⊙⊙", "^")
    span = covering(tokens[start : power[1]])
    first, second = f"({called}(…)){exponent}", f"{called}((…){exponent})"
    readings = list(_readings(tokens, start, opening, power, source))
    shown = readings if len(readings) == 2 and max(map(len, readings)) <= MAX_READING_CHARS else [first, second]
    return NotationError(
        107, f"{called} (…){exponent} is ambiguous: it could mean {first} or {second}", source, span,
        hint=Hint(f"write {shown[0]} or {shown[1]}", *readings, at=_whole(span, source)),
    )  # fmt: skip


def _format_tokens(tokens: Sequence[Token]) -> str:
    """Format tokens for a message, such as mean_{n} for a function with scripts, or ^2 for a power."""
    text = ""
    position = 0
    while position < len(tokens):
        token = tokens[position]
        end = scripts_end(tokens, position, most=1)
        if end == position:
            text += "𝔼" if token.type == "EXPECTED" else token.text
            position += 1
            continue
        inside = "".join(
            SPACED.get(inner.type) or FAMILIES.get(inner.text, inner.text) for inner in tokens[position + 1 : end]
        )
        bare = token.type == "SUP" and end == position + 2
        inside = inside if bare else inside.removeprefix("{").removesuffix("}")
        shown = inside if len(inside) <= MAX_SCRIPT_CHARS else "…"
        number = token.type == "SUP" and re.fullmatch(r"\w|\d+", shown)
        text += ("^" if token.type == "SUP" else "_") + (shown if number else f"{{{shown}}}")
        position = end
    return text


def _whole(span: Span, source: str) -> Span:
    r"""Extend a span to the left until each closing brace in the span has its opening brace.

    Also include a macro directly before the brace, as in \mathop{\mathrm{mean}}.
    """
    start, end = span
    while source.count("}", start, end) > source.count("{", start, end):
        opened = re.compile(r"(?:\\[A-Za-z]+\s*)?\{[^{}]*$").search(source, 0, start)
        if opened is None:
            break
        start = opened.start()
    return start, end


def _readings(tokens: Sequence[Token], start: int, opening: int, power: Span, source: str) -> Iterator[str]:
    """Yield the source text of each interpretation of a power.

    Yield nothing if the function, its argument and the power are not in this order in the source, as in some LaTeX.
    """
    head = covering(tokens[start:opening])
    raised = covering(tokens[power[0] : power[1]])
    first, last = _whole((head[0], raised[1]), source)
    if not head[1] <= tokens[opening].start < raised[0]:
        return
    power_text = source[raised[0] : last].replace("**", "^")
    squared = f"({source[first : raised[0]].rstrip()}){power_text}"
    if start and tokens[start - 1].type in ("FUNCTION", "RBRACE", "NAME", "NUMBER"):
        squared = f"({squared})"
    inner = f"{source[first : head[1]]}({source[head[1] : raised[0]].strip()}{power_text})"
    for reading in (squared, inner):
        if has_balanced_brackets(reading):
            yield reading


def has_balanced_brackets(text: str) -> bool:
    depth = 0
    for character in text:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    return depth == 0


# ------------------------------------------------------------------------------------------- the inverse of a function
RAISED = re.compile(r"\^[\s{(]*[-−–]\s*1\s*\)*\s*\}?|⁻¹")
BEFORE_SUM = re.compile(r"(?:^|[=(\[{,;+\n]|[^\d)\]}]\s*[-−–])\s*\Z")
AFTER_SUM = re.compile(r"\s*(?:\Z|[)\]},;+\n−–-])")


def brace_inverses(tokens: list[Token]) -> None:
    """Insert braces around the power in sin^-1 so that later code handles it like sin^{-1}.

    The function modifies `tokens`.
    """
    for position in range(len(tokens) - 3, 0, -1):
        name, sign, minus, one = tokens[position - 1 : position + 3]
        if sign.type == "SUP" and minus.type == "MINUS" and one.text == "1" and name.type == "FUNCTION":
            tokens.insert(position + 1, Token("LBRACE", "{", minus.start, minus.start))
            tokens.insert(position + 4, Token("RBRACE", "}", one.end, one.end))


def inverse_or_reciprocal(name: str, head: Span, span: Span, source: str) -> NotationError:
    """Return the error for a function with the power −1, such as sin^{-1} x, with both possible meanings."""
    raised, operand = source[slice(*head)], source[head[1] : span[1]]
    called = RAISED.sub("", raised).strip()
    inverse = INVERSES.get(name)
    reciprocal = f"1 / {called}{operand}"
    if not (BEFORE_SUM.search(source[: span[0]]) and AFTER_SUM.match(source, span[1])):
        reciprocal = f"({reciprocal})"
    edits = [reciprocal]
    if inverse is not None and name in called:
        edits.insert(0, called.replace(name, inverse) + operand)
    shown = operand if len(operand) <= MAX_SCRIPT_CHARS and "\\" not in operand else " (…)"
    meant = f"{inverse}{shown}" if inverse else f"the inverse of {name}, which is not built in,"
    return NotationError(
        107, f"{name}^{{-1}}{shown} is ambiguous: it could mean {meant} or 1 / {name}{shown}", source, span,
        hint=Hint("write " + " or ".join(edits), *edits),
    )  # fmt: skip
