"""Represent names as keys, and read their spellings in source text, such as W^Q, b_1, h^{t-1}, γ^{1'} or LN_W.

A key consists of a base and the texts of the subscript and superscript components. `str` converts it to text syntax. A
name in the syntax tree and the same name as a string in `values` have equal keys.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

from grammar.errors import NotationError
from grammar.folding import fold
from grammar.nodes import Call, Name, Node, Number, Size, Starred, Subscript, Superscript
from grammar.symbols import GREEK_LETTERS, GREEK_VARIANTS, SPELLED_GREEK, SUBSCRIPTS, SUPERSCRIPTS
from grammar.text_tables import ACCENT
from grammar.traversal import walk

from ..core.extents import is_size

# The values of these names, unless an equation defines them.
CONSTANTS = {"π": math.pi, "e": math.e, "ε": 1e-5, "∞": math.inf}
Value = TypeVar("Value")
Spelling = TypeVar("Spelling")
MARKS = "*†‡"  # These characters may follow an axis name: seq*, seq†, seq**.


class Key(NamedTuple):
    """A name. `W_Q^{l,1}` is Key("W", ("Q",), ("l", "1"))."""

    base: str
    subscript: tuple[str, ...] = ()
    superscript: tuple[str, ...] = ()

    @lru_cache(maxsize=16_384)
    def __str__(self) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not self.subscript and not self.superscript:
            return self.base
        return self.base + _script("_", self.subscript) + _script("^", self.superscript)


@lru_cache(maxsize=16_384)
def _script(sign: str, components: tuple[str, ...]) -> str:
    if not components:
        return ""
    text = ",".join(components)
    return sign + (text if re.fullmatch(r"[^\W_]|\d+|[^\W\d_]+", text) else f"{{{text}}}")


_KEY = re.compile(r"(?P<base>[^\s_^{}()\[\],;:|+\-*/=]+)(?P<scripts>(?:[_^](?:\{[^{}]*\}|[^\s_^{}]+)|\^\([^{}()]*\))*)")
_CONDITIONAL = re.compile(r"[^\W\d_]\w*\(\s*\w+'*(?:\s*,\s*\w+'*)*(?:\s*\|\s*\w+'*(?:\s*,\s*\w+'*)*)?\s*\)")  # p(B | A)
_WORD = re.compile(rf"(?:[^\W\d_]|∞)(?:[^\W_]|[{ACCENT}])*['′’*∗†‡]*|\d+['′’]+")
_GREEK = "".join({*GREEK_LETTERS, *GREEK_VARIANTS})
_BESIDE_GREEK = re.compile(rf"[{_GREEK}][{ACCENT}]*['′’*∗†‡]*|[^{_GREEK}]+")  # Matches β and 1 in β1.
_PIECE = re.compile(r"([_^])(?:\{([^{}]*)\}|(\([^{}()]*\)|[^\s_^{}]+))")
_PARENTHESES = re.compile(r"\s*\(([^()]*)\)\s*")  # Matches parentheses around a whole superscript.
_SIGN = re.compile(r"\s*([-+/|])\s*")
_DOT = re.compile(r"\s*·\s*|\s+\*\s*(?=[\w(])|\*(?=[^\W_])")  # Both 2 · t and 2*t become 2 t.
TIGHTNESS = {  # For each operation in a script, its precedence and the precedence of its last operand.
    "+": (0, 1), "-": (0, 1), "negative": (0, 1), "/": (1, 3), "⊙": (1, 2), "juxtaposed": (2, 3)
}  # fmt: skip
_COEFFICIENT = re.compile(r"(\b\d+)(?=[^\W\d_]|\()")  # 2t becomes 2 t.
_SMALL = {
    **{small: ("_", plain) for small, plain in SUBSCRIPTS.items()},
    **{small: ("^", plain) for small, plain in SUPERSCRIPTS.items()},
}


def _unfold_small(text: str) -> str:
    """Return a text with Unicode scripts in ASCII form, such as x_{1}^{2} for x₁²."""
    pieces: list[tuple[str, str]] = []
    for character in text:
        sign, plain = _SMALL.get(character, ("", character))
        if pieces and pieces[-1][0] == sign:
            pieces[-1] = (sign, pieces[-1][1] + plain)
        else:
            pieces.append((sign, plain))
    return "".join(f"{sign}{{{plain}}}" if sign else plain for sign, plain in pieces)


def key(text: str) -> Key:
    """Parse a name in text syntax. Greek letters may be spelled out.

    >>> key("W^{1,Q}")
    Key(base='W', subscript=(), superscript=('1', 'Q'))
    >>> str(key("gamma_1"))
    'γ_1'
    """
    is_text = isinstance(text, str)  # pyright: ignore[reportUnnecessaryIsInstance]
    return key_of(text) if is_text else key_of.__wrapped__(text)


MAX_CACHED_NAMES = 2**16  # Enough for 4,000 layers with 16 parameters each.


@lru_cache(maxsize=MAX_CACHED_NAMES)
def key_of(text: str) -> Key:
    """Return the key of a single name. Results are cached."""
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise NotationError(208, f"the name of a value must be a string, got {type(text).__name__}")
    spelled = _unfold_small(text.strip()) if not text.isascii() else text.strip()
    if _CONDITIONAL.fullmatch(spelled):
        return Key(re.sub(r"\s*([|,])\s*", lambda sign: " | " if sign[1] == "|" else ", ", spelled))
    match = _KEY.fullmatch(spelled)
    letters = [] if match is None else _BESIDE_GREEK.findall(match["base"])
    if match is None or len(letters) > 1 or not _WORD.fullmatch(match["base"]):
        raise NotationError(208, f"invalid name {text!r}", hint=explain_invalid_name(spelled, letters))
    scripts: dict[str, tuple[str, ...]] = {"_": (), "^": ()}
    for sign, braced, bare in _PIECE.findall(match["scripts"]):
        parts = [part.strip() for part in _script_text(sign, braced, bare).split(",")]
        scripts[sign] += tuple(parts if spelled.isascii() else map(fold, parts))
    return Key(greek(fold(match["base"])), scripts["_"], scripts["^"])


def explain_invalid_name(text: str, letters: list[str]) -> str:
    """Return the hint for an invalid name. If it mixes Greek and other letters, `letters` contains its parts, such as β and 1."""
    words = text.split()
    if len(words) > 1 and all(word.isidentifier() for word in words):
        return f"a space separates names: write {'_'.join(words)}"
    if len(letters) > 1:
        is_simple = len(letters) == 2 and len(letters[0]) == 1 and text == "".join(letters)
        return "a Greek letter is a name by itself" + (f": write {letters[0]}_{text[1:]}" if is_simple else "")
    return "use the text syntax: W^Q, b_1, X', γ"


def _script_text(sign: str, braced: str, bare: str) -> str:
    """Return the content of a script as keys spell it, such as 1 for x^{(1)} and 2 t-1 for x_{2t - 1}."""
    text = braced or bare
    while sign == "^" and (inside := _PARENTHESES.fullmatch(text)):
        text = inside[1]
    return _COEFFICIENT.sub(r"\1 ", _DOT.sub(" ", _SIGN.sub(r"\1", text))) if braced else text


def greek(word: str) -> str:
    """Convert a spelled-out Greek letter to the letter, such as gamma' to γ'. Return any other word unchanged."""
    plain = word.rstrip("'")
    return SPELLED_GREEK.get(plain, plain) + word[len(plain) :] if word.isascii() else word


def component(node: Node, value: Callable[[str], Any] = lambda name: None) -> str:
    """Return the text of one component of a script.

    `value` returns the value of an index variable, or None if it is unknown.
    """
    if isinstance(node, Number):
        return str(node.value)
    if isinstance(node, Name):
        plain = node.text.rstrip("'")
        result = value(plain)
        return node.text if result is None else f"{compact(result)}{node.text[len(plain) :]}"
    number = arithmetic(node, value)
    if number is not None:
        return compact(number)
    if isinstance(node, (Subscript, Superscript)):
        sign = "_" if isinstance(node, Subscript) else "^"
        return component(node.base, value) + _script(sign, tuple(component(part, value) for part in node.components))
    if isinstance(node, Starred):
        return component(node.base, value) + node.mark
    if isinstance(node, Call) and len(node.arguments) == 2:
        left, right = node.arguments
        first, last = TIGHTNESS.get(node.operator, (0, 0))
        sign = " " if node.operator in ("⊙", "juxtaposed") else node.operator
        return _operand(left, first, value) + sign + _operand(right, last, value)
    if isinstance(node, Call) and node.operator == "negative":
        return "-" + _operand(node.arguments[0], 1, value)
    return f"|{node.axis.name}|" if isinstance(node, Size) else "?"


def _operand(node: Node, tightness: int, value: Callable[[str], Any]) -> str:
    """Return the text of an operand in a script component, in parentheses if the operand binds more loosely."""
    text = component(node, value)
    operator = node.operator if isinstance(node, Call) and not text.isdecimal() else ""
    return f"({text})" if operator in TIGHTNESS and TIGHTNESS[operator][0] < tightness else text


def compact(value: Any) -> str:
    """Return a number or size in the spelling of keys, without spaces, such as n-1."""
    return str(value).replace(" ", "")


def component_node(text: str) -> Number | Name:
    """Return the node for the text of a script component, which is a number or a name."""
    return Number(int(text)) if text.isdecimal() else Name(text)


def arithmetic(node: Node, value: Callable[[str], Any]) -> Any:
    """Return the value of an expression such as `l - 1` or `2k + 1` as an integer or size, or None if it is unknown.

    `value` returns the value of a name.
    """
    if isinstance(node, Number):
        return node.value if isinstance(node.value, int) else None
    if isinstance(node, Name):
        result = value(node.text)
        return int(result) if isinstance(result, str) and result.isdecimal() else result if is_size(result) else None
    if isinstance(node, Call) and node.operator in ("+", "-", "⊙", "juxtaposed", "/") and len(node.arguments) == 2:
        left, right = (arithmetic(argument, value) for argument in node.arguments)
        if left is None or right is None:
            return None
        if node.operator == "/":
            is_whole = isinstance(left, int) and isinstance(right, int) and right and left % right == 0
            return left // right if is_whole else None
        return left + right if node.operator == "+" else left - right if node.operator == "-" else left * right
    if isinstance(node, Call) and node.operator == "negative":
        inner = arithmetic(node.arguments[0], value)
        return None if inner is None else -inner
    return None


class Spelled(NamedTuple):
    """A name with scripts, whose components are nodes."""

    base: str
    subscript: tuple[Node, ...] = ()
    superscript: tuple[Node, ...] = ()

    def key(self, value: Callable[[str], Any] = lambda name: None) -> Key:
        if not self.subscript and not self.superscript:
            return Key(self.base)
        return Key(
            self.base,
            tuple(component(node, value) for node in self.subscript),
            tuple(component(node, value) for node in self.superscript),
        )


def read_spelling(node: Node) -> Spelled | None:
    """Return `node` as a name with scripts, such as X or W_1^{l,Q}.

    Return None for any other node, such as (X + Y)^2.
    """
    if isinstance(node, Name):
        return Spelled(node.text)
    if isinstance(node, Subscript):
        inner = read_spelling(node.base)
        if inner is not None and not inner.subscript:
            return inner._replace(subscript=node.components)
    if isinstance(node, Superscript):
        inner = read_spelling(node.base)
        if inner is not None and not inner.superscript:
            return inner._replace(superscript=node.components)
    return None


def component_names(node: Node) -> set[str]:
    """Return the names in one component of a script, without primes."""
    if isinstance(node, Name):
        return {node.text.rstrip("'")}
    if isinstance(node, Number):
        return set()
    return {inner.text.rstrip("'") for inner in walk(node) if isinstance(inner, Name)}


def plain_key(text: str) -> Key:
    """Return the key of a name in source text. For an invalid name, return a key that matches no other name."""
    try:
        return key(text)
    except NotationError:
        return Key(text)


def index_by_key(given: Mapping[str, Value], read: Callable[[str], Spelling] = key) -> dict[Spelling, Value]:
    """Return a dict from the key of each given name to its value. `read` computes the key.

    Raise NotationError if two of the names have the same key.

    >>> index_by_key({"gamma": 1, "W_1": 2})
    {Key(base='γ', subscript=(), superscript=()): 1, Key(base='W', subscript=('1',), superscript=()): 2}
    """
    values: dict[Spelling, Value] = {}
    for name, value in given.items():
        spelling = read(name)
        if spelling in values:
            raise two_spellings(name, given, read)
        values[spelling] = value
    return values


def two_spellings(name: str, names: Iterable[str], read: Callable[[str], Any] = key) -> NotationError:
    """Return the error for a name that is given twice in different spellings. `name` is the second spelling."""
    first = next(other for other in names if read(other) == read(name))
    return NotationError(202, f"{first} and {name} are the same name", hint="pass one of them", symbol=str(read(name)))


def match_key(name: Spelled, expected: Key, indices: set[str]) -> dict[str, Any] | None:
    """Match a name in a program against a key. Return the values of the index variables, or None for a mismatch.

    For example, W^{l,Q} matches W^{1,Q} with l = 1.
    """
    lengths = len(name.subscript), len(name.superscript)
    if name.base != expected.base or lengths != (len(expected.subscript), len(expected.superscript)):
        return None
    result: dict[str, Any] = {}
    for node, text in zip((*name.subscript, *name.superscript), (*expected.subscript, *expected.superscript)):
        if isinstance(node, Name) and node.text in indices:
            if result.setdefault(node.text, text) != text:
                return None
        elif component(node) != text:
            return None
    return result


Thing = TypeVar("Thing")
NUMBER, THING = itemgetter(0), itemgetter(1)
NOWHERE: Collection[int] = frozenset()
Components = Sequence["str | None"]  # The texts of a script's components. An open component is None.


class ByScripts(Generic[Thing]):
    """A table that maps names with scripts to values. A script component may be open, so that it matches any text."""

    def __init__(self) -> None:
        self._count = 0
        self._tables: dict[
            tuple[str, int, int], dict[tuple[int, ...], dict[tuple[Any, ...], list[tuple[int, Thing]]]]
        ] = {}
        self._fixed: dict[tuple[str, int, int], set[int]] = {}  # The positions of the components that some name fixes.

    def add(self, base: str, subscript: Components, superscript: Components, thing: Thing) -> None:
        """Store a value under a name. The component None is open and matches any text."""
        texts = (*subscript, *superscript)
        fixed = tuple(index for index, text in enumerate(texts) if text is not None)
        tables = self._tables.setdefault((base, len(subscript), len(superscript)), {})
        table = tables.setdefault(fixed, {})
        table.setdefault(tuple(texts[position] for position in fixed), []).append((self._count, thing))
        self._count += 1
        self._fixed.setdefault((base, len(subscript), len(superscript)), set()).update(fixed)

    def find(
        self, base: str, subscript: Sequence[Collection[str]], superscript: Sequence[Collection[str]]
    ) -> list[Thing]:
        """Return the values of all names whose fixed components match the given texts, in insertion order.

        A script is given as one collection per component, which contains the texts that the component may match. If
        each component may match only one text, pass `[*zip(texts)]`.
        """
        texts = (*subscript, *superscript)
        result: list[tuple[int, Thing]] = []
        for fixed, table in self._tables.get((base, len(subscript), len(superscript)), {}).items():
            for expected in product(*map(texts.__getitem__, fixed)):
                result += table.get(expected, ())
        if len(result) > 1:
            result.sort(key=NUMBER)
        return list(map(THING, result))

    def alike(self, names: Iterable[Key]) -> Iterator[tuple[int, list[Key]]]:
        """Yield the given names in groups, such that all names in a group match the same stored names.

        For example, W^{1,Q} and W^{2,Q} match the same names if l is open in W^{l,Q}. The names of a group differ only
        in the component at the yielded position, which is a number.
        """
        groups: dict[Any, tuple[int, list[Key]]] = {}
        for name in names:
            base, subscript, superscript = name
            texts, numbers, at = (*subscript, *superscript), 0, 0
            family: Any = texts
            fixed = self._fixed.get((base, len(subscript), len(superscript)), NOWHERE)
            for index, text in enumerate(texts):
                if text.isdecimal() and index not in fixed:
                    numbers, at, family = numbers + 1, index, (*texts[:index], None, *texts[index + 1 :])
            pair = groups.setdefault((base, len(subscript), family if numbers == 1 else texts), (at, []))
            pair[1].append(name)
        yield from groups.values()


def index_by_spelling(named: Iterable[tuple[Spelled, Thing]], indices: Collection[str]) -> ByScripts[Thing]:
    """Return a table of values by name, in which the given indices are open components.

    A search in the table finds the same names as `match_key`.
    """
    by_scripts: ByScripts[Thing] = ByScripts()
    for name, thing in named:
        subscript, superscript = (
            [None if isinstance(node, Name) and node.text in indices else component(node) for node in script]
            for script in (name.subscript, name.superscript)
        )
        by_scripts.add(name.base, subscript, superscript, thing)
    return by_scripts
