"""Either spelling to the syntax tree. Lark's trees, tokens and exceptions never leave this file.

parse("A ⊙_{width} y")            a Program of one statement
parse(r"A \\ndot{\\width} y")       the same
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

from lark import UnexpectedToken

from . import nodes
from .ambiguous_powers import brace_inverses, refuse_ambiguous_powers
from .bars import without_bars
from .builder.literals import SOURCE
from .continued_lines import continued_lines
from .draws import untold
from .errors import NotationError
from .function_names import tell_functions
from .lark_parser import formula_parser, recognizer
from .lengths import MAX_LITERAL_NUMBERS, MAX_TEXT_CHARS, check_lengths
from .locks import LOADING, all_or_none
from .partials import without_brackets
from .signed_scripts import name_signs
from .stray_characters import has_ampersand
from .symbols import ASCII_MACROS, GREEK_MACROS
from .syntax_errors import syntax_error
from .text import tokenize as tokenize_text
from .tokens import Token, match_brackets
from .traversal import children, left_spine
from .where_parts import with_parts

MAX_NESTING = 200  # brackets inside each other
MAX_OPERATIONS_PER_NESTING = 5  # operations may stand inside each other so many times deeper than brackets


def spelling_of(source: str) -> str:
    """ "latex" where `source` holds a LaTeX macro that text has not, an environment or $, else "text"."""
    return "latex" if _LATEX.search(source) or has_ampersand(source) else "text"


_IN_TEXT = "|".join([*GREEK_MACROS, *(macro[1:] for macro in ASCII_MACROS)])
_LATEX = re.compile(rf"\\(?!(?:{_IN_TEXT})(?![A-Za-z]))[A-Za-z({{\[\\,;:!>|%&_ ]|\$")


def parse(
    source: str,
    syntax: str = "auto",
    shadowed: frozenset[str] = frozenset(),
    nesting: int = MAX_NESTING,
    functions: frozenset[str] = frozenset(),
    literal: int = MAX_LITERAL_NUMBERS,
    text: int = MAX_TEXT_CHARS,
) -> nodes.Program:
    """The syntax tree of a formula or program.

    `syntax` is "text", "latex" or "auto"; `shadowed` are names that stand for tensors here, as they are given,
    `functions` names of functions that are defined elsewhere; brackets may nest `nesting` deep, a literal have `literal`
    numbers and the whole `text` characters. Raises NotationError of kind syntax, or of kind value where a limit is passed.

    >>> parse("A + x").statements[0].body.operator
    '+'
    """
    check_source(source, syntax)
    if len(source) > text:  # before anything looks for LaTeX in it
        check_lengths(source, "text", literal, text)
    spelling = spelling_of(source) if syntax == "auto" else syntax
    return _parse(source, spelling, frozenset(shadowed), nesting, functions, literal)


def check_source(source: Any, syntax: Any) -> None:
    """Raise where a formula is no string, or its spelling is none."""
    if not isinstance(source, str):
        raise NotationError(108, f"a formula must be a string, got {type(source).__name__}")
    if syntax not in ("auto", "text", "latex"):
        raise NotationError(108, f'syntax must be "text", "latex" or "auto", got {syntax!r}')


@lru_cache(maxsize=1024)
def _parse(
    source: str, syntax: str, shadowed: frozenset[str], nesting: int, functions: frozenset[str], literal: int
) -> nodes.Program:
    check_lengths(source, syntax, literal)
    tokens = tokens_of(source, syntax, shadowed, nesting, functions)
    tree = _program(tokens, source)
    if len(tokens) > MAX_OPERATIONS_PER_NESTING * nesting:
        check_depth(tree, source, MAX_OPERATIONS_PER_NESTING * nesting)
    continued = continued_lines(tokens, source) if syntax == "text" else ()
    return replace(tree, continued=continued) if continued else tree


def check_depth(tree: nodes.Program, source: str, limit: int) -> None:
    """Raise where operations stand inside each other deeper than what comes later can follow: −−−…x.

    In a + b + c + … the first operand of each sum is no deeper than the sum.
    """
    stack: list[tuple[Any, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > limit:
            raise NotationError(
                404, f"operations are nested more than {limit} deep", source, node.span,
                hint="define a part in an equation of its own, or raise limits.max_nesting",
            )  # fmt: skip
        spine = left_spine(node)
        for each in spine:
            stack += [(child, depth + 1) for child in children(each) if child is not each.arguments[0]]
        below = children(node) if not spine else (spine[-1].arguments[0],)
        stack += [(child, depth + 1) for child in below]


def tokens_of(
    source: str,
    syntax: str,
    shadowed: frozenset[str] = frozenset(),
    nesting: int = MAX_NESTING,
    functions: frozenset[str] = frozenset(),
) -> list[Token]:
    """The tokens that the parser reads."""
    if syntax == "latex":
        with LOADING, all_or_none():
            from .latex.lexer import tokenize

        tokens = tokenize(source)
    else:
        tokens = with_parts(tokenize_text(source, nesting))
    match_brackets(tokens, source, nesting)
    name_signs(tokens)
    if not any(token.type != "SEPARATOR" for token in tokens):
        raise NotationError(108, "empty formula", source, (0, len(source)), hint="pass a formula, such as A + x")
    tokens = without_bars(without_brackets(tokens), source)
    tell_functions(tokens, shadowed, functions)
    brace_inverses(tokens)
    refuse_until(tokens, source)
    refuse_ambiguous_powers(tokens, source)
    mean = untold(tokens)
    if mean is not None:
        raise NotationError(
            111 if source[mean.start] == "\\" else 114, "an expectation says what is drawn", source, mean.span,
            hint="write 𝔼_{x ∼ N(0, 1)}[…], or x ∼ N(0, 1) in a line of its own and 𝔼_x[…]",
        )  # fmt: skip
    return tokens


def refuse_until(tokens: list[Token], source: str) -> None:
    """Raise where an equation goes on until something holds."""
    for before, token, after in zip(tokens, tokens[1:], tokens[2:]):
        beside = before.type != "SEPARATOR" and after.type in ("NAME", "BAR", "NUMBER", "FUNCTION", "LPAREN")
        if token.type == "NAME" and token.text == "until" and token.place != "axis" and beside:
            raise NotationError(
                114, "the number of steps must not depend on computed values", source, token.span,
                hint="write a maximum number of steps, x^t = … for t = 1, …, n, and keep values that have converged: "
                "x^t = { x^{t-1} if abs(x^{t-1} − x^{t-2}) < ε; … otherwise }",
            )  # fmt: skip


def expected_after(source: str, syntax: str = "text") -> set[str]:
    """The terminals that may come next after `source`: what completion offers.

    >>> "NAME" in expected_after("A +")
    True
    """
    tokens = tokenize_text(source)
    tell_functions(tokens, frozenset(), whole=False)
    recognition = recognizer().parse_interactive(cast(Any, tokens))
    try:
        recognition.exhaust_lexer()
    except UnexpectedToken:
        return set()
    return recognition.accepts()


def _program(tokens: list[Token], source: str) -> nodes.Program:
    """The tree of the tokens of a source. Raises NotationError at the first that cannot stand where it stands."""
    before = SOURCE.set(source)
    try:
        return cast(Any, formula_parser().parse(cast(Any, tokens)))
    except UnexpectedToken as error:
        unexpected = error
    finally:
        SOURCE.reset(before)
    # Out here, so that Lark's error is not shown as the cause.
    raise syntax_error(cast(Token, unexpected.token), tokens, unexpected.accepts, source)
