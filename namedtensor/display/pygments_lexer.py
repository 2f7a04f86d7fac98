"""Pygments lexer with the names `namedtensor` and `nt`, for files with the extension `.nt`."""

from __future__ import annotations

from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups  # pyright: ignore[reportUnknownVariableType]
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

from .token_classes import (
    COMMENT,
    DIRECTIVE,
    FUNCTION,
    IMPORT,
    KEYWORD,
    LABEL,
    NAME,
    NUMERAL,
    OPERATOR,
    RENAMED,
    TYPE,
    WORD,
    pattern,
)

AXES: Any = (r"([_])(\{)", bygroups(Operator, Punctuation), "axes")
SHAPE: Any = (r"(?<=[ℝℤℕRF\]}])(\^)(\{)", bygroups(Operator, Punctuation), "axes")
SIZE: Any = (rf"(\|)({WORD})(\|)", bygroups(Punctuation, Name.Attribute, Punctuation))


class NamedTensorLexer(RegexLexer):
    """Pygments lexer for named tensor notation: axes, functions, operators, sets, numbers and comments.

    Examples
    --------
    >>> [text for kind, text in NamedTensorLexer().get_tokens("∑_{seq} X") if kind is Name.Attribute]
    ['seq']
    """

    name = "Named tensor notation"
    aliases: ClassVar = ["namedtensor", "nt"]
    filenames: ClassVar = ["*.nt"]
    mimetypes: ClassVar = ["text/x-namedtensor"]
    tokens: ClassVar = {
        "root": [
            (DIRECTIVE, Comment.Special),
            (COMMENT, Comment.Single),
            (r"\s+", Whitespace),
            (IMPORT, bygroups(Whitespace, Keyword, Whitespace, String, Whitespace, Keyword), "imports"),
            AXES,
            SHAPE,
            SIZE,
            (pattern(KEYWORD), Keyword),
            (pattern(FUNCTION), Name.Builtin),
            (rf"({WORD})(?=\()", Name.Function),
            (pattern(TYPE), Keyword.Type),
            (NUMERAL, Number),
            (LABEL, Name),
            (pattern(OPERATOR), Operator),
            (pattern(NAME), Name),
            (WORD, Name),
            (r"[^\w\s]|_", Punctuation),
            (r"\w", Name),
        ],
        "imports": [
            (r"\n", Whitespace, "#pop"),
            (COMMENT, Comment.Single),
            (r"[^\S\n]+", Whitespace),
            (RENAMED, Keyword),
            (WORD, Name),
            (r"[^\s]", Punctuation),
        ],
        "axes": [
            (r"\s+", Whitespace),
            (r"\{", Punctuation, "#push"),
            (r"\}", Punctuation, "#pop"),
            (r"\(", Punctuation, "index"),
            (r"\[", Punctuation, "size"),
            SIZE,
            (NUMERAL, Number),
            (WORD, Name.Attribute),
            (r"[^\w\s]|_", Operator),
            (r"\w", Name),
        ],
        "index": [(r"\)", Punctuation, "#pop"), (r"\(", Punctuation, "#push"), (r"\n", Whitespace, "#pop:2")],
        "size": [(r"\]", Punctuation, "#pop"), (r"\n", Whitespace, "#pop:2")],
    }
    tokens["index"] += tokens["root"]
    tokens["size"] += tokens["root"]
