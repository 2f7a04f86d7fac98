"""The parser of `formula.lark`: an LALR parser of Lark, with the lexers of the two spellings and the builder's callbacks.

Lark takes a third of a second to build it, and a twentieth of that to load what `Lark.save` has written, so the package
holds `formula.pickle`. After a change of the grammar, of the builder's place or of Lark:

    python -m grammar.lark_parser

`Lark.load` unpickles, which can run code. Only this file of the package is ever loaded, never one in a folder that others
can write to; it is trusted as the modules beside it are. Its first line names Lark's version, with a checksum of the grammar
and of what follows. Where that differs, or the file is missing, the parser is built from the grammar.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from io import BytesIO
from pkgutil import get_data
from typing import Any

from lark import Lark, __version__
from lark.lexer import Lexer

from .builder.statements import BUILDER
from .locks import LOADING, all_or_none
from .tokens import Token

GRAMMAR = "formula.lark"
SAVED = "formula.pickle"


class TokenLexer(Lexer):
    """Lark's lexer where the input is a list of tokens; `text` and `latex` make them."""

    def __init__(self, lexer_conf: Any):
        pass

    def lex(self, data: Iterable[Token]) -> Iterator[Token]:  # type: ignore[override]
        return iter(data)


@cache
def formula_parser() -> Lark:
    """The parser whose `parse` takes tokens and gives a `nodes.Program`; its callbacks read `builder.literals.SOURCE`."""
    saved = _saved()
    return build() if saved is None else Lark.load(BytesIO(saved))


@cache
def recognizer() -> Lark:
    """The same parser without callbacks, for the beginnings of formulas: it says what may come next."""
    file = BytesIO()
    formula_parser().save(file, exclude_options={"transformer"})
    return Lark.load(BytesIO(file.getvalue()))


def build() -> Lark:
    """The parser from its grammar. Raises a GrammarError of Lark where the grammar is ambiguous."""
    return Lark(_grammar(), start="program", parser="lalr", lexer=TokenLexer, transformer=BUILDER)


def save() -> None:
    """Write the file that `formula_parser` loads: what `Lark.save` writes, with equal parts once."""
    with LOADING, all_or_none():
        import pickle
        from pathlib import Path

    file = BytesIO()
    build().save(file)
    saved = pickle.dumps(_shared(pickle.loads(file.getvalue()), {}), pickle.HIGHEST_PROTOCOL)
    (Path(__file__).parent / SAVED).write_bytes(_header(saved) + b"\n" + saved)


def _shared(value: Any, parts: dict[str, Any]) -> Any:
    """The same value, with equal parts of it as one object, which a pickle holds once."""
    if isinstance(value, dict):
        value = {_shared(key, parts): _shared(each, parts) for key, each in value.items()}
    elif isinstance(value, (list, tuple)):
        value = type(value)(_shared(each, parts) for each in value)
    return parts.setdefault(f"{type(value)} {value!r}", value)


def _saved() -> bytes | None:
    """What `Lark.save` wrote, where it was this version of Lark and this grammar."""
    header, _, saved = (_content(SAVED) or b"").partition(b"\n")
    return saved if header == _header(saved) else None


def _header(saved: bytes, version: str = __version__) -> bytes:
    return f"lark {version}, SHA-256 {sha256(_grammar().encode() + saved).hexdigest()}".encode()


def _grammar() -> str:
    content = _content(GRAMMAR)
    assert content is not None, f"{GRAMMAR} is a part of the package"
    return "\n".join(content.decode().splitlines())  # the ends of lines are as the system has them


def _content(name: str) -> bytes | None:
    """A file of the package, which may be in a zip."""
    try:
        return get_data(__package__ or "grammar", name)
    except OSError:
        return None


if __name__ == "__main__":
    from grammar import lark_parser

    lark_parser.save()  # and not `save`: the file names the lexer's class, which is `__main__.TokenLexer` here
