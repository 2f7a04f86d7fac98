r"""The parser of both syntaxes, which uses Lark's LALR parser for `formula.lark`.

Other modules do not use Lark's trees, tokens or exceptions.

parse("A ⊙_{width} y")            a Program of one statement
parse(r"A \\ndot{\\width} y")       the same Program

Lark takes about a third of a second to build the parser. Loading the output of `Lark.save` takes a twentieth of that
time, so the package contains it as `formula.pickle`. Regenerate the file after a change to the grammar, to the import
path of the builder, or to the version of Lark:

    python -m grammar.parser

`Lark.load` unpickles a file, which can run code. This module loads only the file inside the package and trusts it as
much as the package's modules. The first line of the file contains Lark's version and a checksum of the grammar and
the remaining content. If the line does not match, or if the file is missing, the parser is built from the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from hashlib import sha256
from io import BytesIO
from pkgutil import get_data
from typing import Any, cast

from lark import Lark, UnexpectedToken, __version__
from lark.lexer import Lexer

from . import nodes
from .ambiguous_powers import brace_inverses, refuse_ambiguous_powers
from .bars import replace_bars
from .builder.literals import SOURCE
from .builder.statements import BUILDER
from .continued_lines import refuse_continued_lines
from .customary_forms import rewrite_customary_forms
from .draws import find_unnamed_expectation
from .errors import NotationError
from .function_names import refuse_function_arguments, statements, tell_functions
from .lengths import MAX_LITERAL_NUMBERS, MAX_TEXT_CHARS, check_lengths
from .partials import unwrap_derivatives
from .stray_characters import has_ampersand
from .symbols import ASCII_MACROS, GREEK_MACROS
from .text import tokenize as tokenize_text
from .tokens import SCRIPT_SIGNS, Token, match_brackets, name_signs
from .traversal import children, left_spine
from .where_parts import with_parts

MAX_NESTING = 200  # The maximum nesting depth of brackets.
MAX_OPERATIONS_PER_NESTING = 5  # Operations may nest this many times deeper than brackets.


def spelling_of(source: str) -> str:
    """Return "latex" if `source` contains LaTeX syntax, such as a macro, $ or &. Otherwise, return "text"."""
    return "latex" if _LATEX.search(source) or ("&" in source and has_ampersand(source)) else "text"


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
    """Parse a formula or program into a syntax tree.

    `syntax` is "text", "latex" or "auto". `shadowed` contains names of tensors, in the caller's spelling, and
    `functions` contains names of functions that are defined elsewhere. `nesting` limits nested brackets, `literal`
    limits the numbers in literals, and `text` limits the characters of the source. Raise NotationError if the source is
    malformed, or if it exceeds a limit.

    >>> parse("A + x").statements[0].body.operator
    '+'
    """
    check_source(source, syntax)
    if len(source) > text:  # Check the length before a search for LaTeX.
        check_lengths(source, "text", literal, text)
    spelling = spelling_of(source) if syntax == "auto" else syntax
    return _parse(source, spelling, frozenset(shadowed), nesting, functions, literal)


def check_source(source: Any, syntax: Any) -> None:
    """Raise NotationError if a formula is not a string or its syntax is unknown."""
    if not isinstance(source, str):
        raise NotationError(108, f"a formula must be a string, got {type(source).__name__}")
    if syntax not in ("auto", "text", "latex"):
        raise NotationError(108, f'syntax must be "text", "latex" or "auto", got {syntax!r}')


@lru_cache(maxsize=1024)
def _parse(
    source: str, syntax: str, shadowed: frozenset[str], nesting: int, functions: frozenset[str], literal: int
) -> nodes.Program:
    if len(source) > literal:  # A shorter source cannot exceed the limit.
        check_lengths(source, syntax, literal)
    tokens = tokens_of(source, syntax, shadowed, nesting, functions)
    tree = _program(tokens, source)
    if len(tokens) > MAX_OPERATIONS_PER_NESTING * nesting:
        check_depth(tree, source, MAX_OPERATIONS_PER_NESTING * nesting)
    if syntax == "text" and "\n" in source:
        refuse_continued_lines(tokens, source)
    return tree


def check_depth(tree: nodes.Program, source: str, limit: int) -> None:
    """Raise NotationError if operations, as in −−−…x, are nested too deeply for the later stages.

    A long sum a + b + c + … counts as one level, although its tree is deep on the left.
    """
    stack: list[tuple[Any, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > limit:
            raise NotationError(
                404, f"operations are nested more than {limit} deep", source, node.span,
                hint="define a part in a separate equation, or raise limits.max_nesting",
            )  # fmt: skip
        spine = left_spine(node)
        for call in spine:
            stack += [(child, depth + 1) for child in children(call) if child is not call.arguments[0]]
        below = children(node) if not spine else (spine[-1].arguments[0],)
        stack += [(child, depth + 1) for child in below]


def tokens_of(
    source: str,
    syntax: str,
    shadowed: frozenset[str] = frozenset(),
    nesting: int = MAX_NESTING,
    functions: frozenset[str] = frozenset(),
) -> list[Token]:
    """Return the tokens of a source, classified and rewritten for the parser."""
    if syntax == "latex":
        from .latex.lexer import tokenize

        tokens = tokenize(source)
    else:
        tokens = tokenize_text(source, nesting)
        tokens = with_parts(tokens) if "where" in source or "Where" in source else tokens
    match_brackets(tokens, source, nesting)
    rewrite_customary_forms(tokens, syntax != "latex")
    types = {token.type for token in tokens}
    if not types.isdisjoint(SCRIPT_SIGNS):
        name_signs(tokens)
    if not any(token.type != "SEPARATOR" for token in tokens):
        raise NotationError(108, "empty formula", source, (0, len(source)), hint="pass a formula, such as A + x")
    tokens = unwrap_derivatives(tokens) if "WITH" in types else tokens
    tokens = replace_bars(tokens, source) if "BAR" in types else tokens
    if "COLON" in types:
        refuse_function_arguments(tokens, source)
    tell_functions(tokens, shadowed, functions)
    if "SUP" in types or "**" in source:
        brace_inverses(tokens)
        refuse_ambiguous_powers(tokens, source)
    refuse_until(tokens, source)
    mean = find_unnamed_expectation(tokens) if any(token.place == "mean" for token in tokens) else None
    if mean is not None:
        raise NotationError(
            111 if source[mean.start] == "\\" else 114, "the expectation does not name its random variable", source, mean.span,
            hint="write 𝔼_{x ∼ N(0, 1)}[…], or x ∼ N(0, 1) on a separate line and 𝔼_x[…]",
        )  # fmt: skip
    return tokens


def refuse_until(tokens: list[Token], source: str) -> None:
    """Raise NotationError for a loop that runs until a condition holds, because the notation does not support it."""
    for before, token, after in zip(tokens, tokens[1:], tokens[2:]):
        beside = before.type != "SEPARATOR" and after.type in ("NAME", "BAR", "NUMBER", "FUNCTION", "LPAREN")
        if token.type == "NAME" and token.text == "until" and token.place != "axis" and beside:
            raise NotationError(
                114, "the number of steps must not depend on computed values", source, token.span,
                hint="write a maximum number of steps, x^t = … for t = 1, …, n, and keep values that have converged: "
                "x^t = { x^{t-1} if abs(x^{t-1} − x^{t-2}) < ε; … otherwise }",
            )  # fmt: skip


def imports_of(source: str) -> list[nodes.Imports]:
    """Return the import statements of a source, in order. The other statements need not be valid.

    Raise NotationError if an import statement is malformed.

    >>> [(statement.path, [name.text for name, _ in statement.names]) for statement in imports_of('from "a.nt" import f, g')]
    [('a.nt', ['f', 'g'])]
    """
    if "from" not in source:
        return []
    lines = (line for line in statements(tokenize_text(source)) if line[0].type == "FROM")
    return [cast(Any, _program(line, source).statements[0]) for line in lines]


def find_expected(source: str) -> set[str]:
    """Return the terminals that may follow `source`, for completion.

    >>> "NAME" in find_expected("A +")
    True
    """
    tokens = tokenize_text(source)
    rewrite_customary_forms(tokens, True)
    tell_functions(tokens, frozenset(), whole=False)
    recognition = recognizer().parse_interactive(cast(Any, tokens))
    try:
        recognition.exhaust_lexer()
    except UnexpectedToken:
        return set()
    return list_accepted_terminals(recognition)


def list_accepted_terminals(recognition: Any) -> set[str]:
    """Return the terminals that Lark's interactive parser accepts next.

    Lark's `accepts` is slow, because it feeds each choice to a copy of the parser. A shift is always accepted, so this
    function calls `accepts` only if another action is possible. An action is a shift if its target is a state number.
    """
    targets = {name: target for name, (_, target) in recognition.choices().items() if name.isupper()}
    return {*targets} if all(isinstance(target, int) for target in targets.values()) else recognition.accepts()


def _program(tokens: list[Token], source: str) -> nodes.Program:
    """Parse the tokens of a source into a program. Raise NotationError at the first invalid token."""
    before = SOURCE.set(source)
    try:
        return cast(Any, formula_parser().parse(cast(Any, tokens)))
    except UnexpectedToken as error:
        unexpected = error
    finally:
        SOURCE.reset(before)
    # Raise outside the handler, so that Lark's error is not shown as the cause.
    from .syntax_errors import syntax_error

    raise syntax_error(
        cast(Token, unexpected.token), tokens, list_accepted_terminals(unexpected.interactive_parser), source
    )


GRAMMAR = "formula.lark"
SAVED = "formula.pickle"


class TokenLexer(Lexer):
    """A lexer for Lark that yields the tokens of the modules `text` and `latex`."""

    def __init__(self, lexer_conf: Any):
        pass

    def lex(self, data: Iterable[Token]) -> Iterator[Token]:  # type: ignore[override]
        return iter(data)


@cache
def formula_parser() -> Lark:
    """Return the parser that converts tokens to a `nodes.Program`.

    Before it runs, set the variable `builder.literals.SOURCE` to the source.
    """
    saved = _load_saved()
    return build() if saved is None else Lark.load(BytesIO(saved))


@cache
def recognizer() -> Lark:
    """Return a parser that builds no tree, for finding the tokens that may follow a partial formula."""
    file = BytesIO()
    formula_parser().save(file, exclude_options={"transformer"})
    return Lark.load(BytesIO(file.getvalue()))


def build() -> Lark:
    """Build the parser from the grammar. Raise Lark's GrammarError if the grammar is ambiguous."""
    return Lark(_grammar(), start="program", parser="lalr", lexer=TokenLexer, transformer=BUILDER)


def save() -> None:
    """Write the file that `formula_parser` loads: the output of `Lark.save`, with equal parts stored once."""
    import pickle
    from pathlib import Path

    file = BytesIO()
    build().save(file)
    saved = pickle.dumps(_share_parts(pickle.loads(file.getvalue()), {}), pickle.HIGHEST_PROTOCOL)
    (Path(__file__).parent / SAVED).write_bytes(_header(saved) + b"\n" + saved)


def _share_parts(value: Any, parts: dict[str, Any]) -> Any:
    """Return the value with one shared object for all equal parts, so that a pickle stores each part once."""
    if isinstance(value, dict):
        value = {_share_parts(key, parts): _share_parts(value_, parts) for key, value_ in value.items()}
    elif isinstance(value, (list, tuple)):
        value = type(value)(_share_parts(item, parts) for item in value)
    return parts.setdefault(f"{type(value)} {value!r}", value)


def _load_saved() -> bytes | None:
    """Return the saved output of `Lark.save`, or None if it belongs to another version of Lark or of the grammar."""
    header, _, saved = (_content(SAVED) or b"").partition(b"\n")
    return saved if header == _header(saved) else None


def _header(saved: bytes, version: str = __version__) -> bytes:
    return f"lark {version}, SHA-256 {sha256(_grammar().encode() + saved).hexdigest()}".encode()


def _grammar() -> str:
    content = _content(GRAMMAR)
    assert content is not None, f"{GRAMMAR} is a part of the package"
    return "\n".join(content.decode().splitlines())  # Line endings depend on the system.


def _content(name: str) -> bytes | None:
    """Return the content of a file in the package, even inside a zip archive, or None if it is unreadable."""
    try:
        return get_data(__package__ or "grammar", name)
    except OSError:
        return None


if __name__ == "__main__":
    from grammar import parser

    parser.save()  # The file names the lexer's class. `save` would write `__main__.TokenLexer`.
