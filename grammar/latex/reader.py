"""Pieces to tokens: the stack of what is still to be read, and what every macro asks of it.

LaTeX writes in another order than the grammar reads: axes before their operator, a numerator before its /. So a macro
does not make tokens but a list of parts, in the order of the grammar: tokens, and stretches of pieces still to be read.
The remaining work is on a stack of such parts; nothing here is as deep as the formula is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Union

from ..errors import NotationError
from ..symbols import FRACTIONS, UNDERSCORED
from ..text import fold
from ..tokens import Token, numeral
from .macros import AXIS_FONTS, NAMED, TEXTS, WITH_ARGUMENTS, Piece, is_number, is_word, lacks_argument, unfonted
from .statements import CELL, FORMULA, ROW
from .tables import ARITY, BETWEEN, BIG_WORDS, LOOKS, REFUSED, SIGNS, WORD_VALUES, WORDS, check_defined, name_of

Stretch = tuple[int, int]  # pieces still to be read, from the first index up to the second
# A frame is what a group means for the things in it. A part is a token; a stretch; the kind of a frame, which it enters;
# or None, which leaves it.
Part = Union[Token, Stretch, str, None]
# What reads a macro: given the reader, the macro's index and the end of the stretch, it returns where to go on.
Action = Callable[["Reader", int, int], int]

SENTENCES = tuple(f"\\{name}" for name in TEXTS)
AXES = ("sub", "shape")
CELLS = {"eqnarray": 0, "multline": 0, "IEEEeqnarray": 1}  # of tables that are not as align is
# What ends the last row or cell of a frame and joins nothing.
ENDS = {"sub": ("ROW",), "shape": ("ROW",), "matrix": ("SEMICOLON",), "cases": ("SEMICOLON", "COMMA", "PERIOD")}


class Reader:
    def __init__(self, source: str, pieces: list[Piece], partner: dict[int, int], actions: dict):
        self.source, self.pieces, self.partner, self.actions = source, pieces, partner, actions
        self.tokens: list[Token] = []
        self.words_alone: list[Token] = []  # the last \text{…} to fill a cell: a comment, unless there is nothing else
        self.work: list[Part] = []
        self.frames: list[tuple] = []
        self.kind = "top"
        self.base = self.place = ""  # "axis" where words name axes, in this frame and inside its open brackets
        self.brackets: list[tuple[str, int]] = []  # those open in this frame: the terminal, and the index of its token
        self.in_set = False  # right of ∈, : or →, where \} and ] may end a set
        self.closing_at: set[int] = set()  # the \\right of each \\left. … \\right|_{X=U}
        self.ampersands = 0
        self.cells = 2  # how many & there are to a cell; 0 where they say nothing
        self.overs = [index for index, piece in enumerate(pieces) if piece[0] == "\\over"]

    def formula(self, start: int, end: int, opening: str) -> None:
        """Read one formula, or one table of formulas."""
        if self.tokens:
            self.separate(FORMULA, *self.pieces[start - 1][1:])
        self.kind, self.base, self.place, self.brackets = "top", "", "", []
        self.ampersands = 0
        environment = opening.removeprefix("\\begin{").rstrip("*}")
        self.cells = CELLS.get(environment, 2)
        if environment in WITH_ARGUMENTS:
            start = self.after_arguments(start, end)
        work = self.work = [(start, end)]
        while work:
            part = work.pop()
            if isinstance(part, tuple):
                self.read(*part)
            elif isinstance(part, Token):
                self.tokens.append(part)
            elif part is None:
                self.leave()
            else:
                self.enter(part)

    def after_arguments(self, start: int, end: int) -> int:
        r"""Return the start of the formula after \begin{IEEEeqnarray}[…]{rCl}."""
        if self.piece(start) == "[":
            while start < end and self.pieces[start][0] != "]":
                start = self.partner.get(start, start) + 1
            start += 1
        return self.partner[start] + 1 if self.piece(start) == "{" else start

    def read(self, position: int, end: int) -> None:
        """Read a stretch of pieces. An action that leaves parts to be read first puts off the rest, and returns `end`."""
        pieces, tokens, actions = self.pieces, self.tokens, self.actions
        in_text = self.kind == "text"
        while position < end:
            text, start, stop = pieces[position]
            action = actions.get(text)
            if action is None:
                name = None if in_text else name_of(text)
                if name is None or text[-1] == "}" and self.last() in ("", "SEPARATOR"):  # \text{…} may be a comment
                    position = self.other(position, end)
                    continue
                if text[0] == "\\" and position + 1 < end and pieces[position + 1][0] == "{":
                    check_defined(self.source, pieces, position, self.partner)
                tokens.append(Token("NAME", name, start, stop, self.place))
            elif isinstance(action, tuple):
                tokens.append(Token(action[0], action[1], start, stop))
            else:
                position = action(self, position, end)
                continue
            position += 1

    def put(self, parts: list[Part], rest: int, end: int) -> int:
        """Add the parts: now, if all are tokens, and else as work to be done before the rest."""
        tokens = [part for part in parts if isinstance(part, Token)]
        if len(tokens) == len(parts):
            self.tokens.extend(tokens)
            return rest
        self.work.append((rest, end))
        self.work.extend(reversed(parts))
        return end

    def add(self, sign: tuple[str, str], start: int, stop: int) -> None:
        self.tokens.append(Token(sign[0], sign[1], start, stop))

    def piece(self, position: int) -> str:
        """The piece there, or nothing after the last."""
        return self.pieces[position][0] if position < len(self.pieces) else ""

    def last(self) -> str:
        """The terminal of the last token."""
        return self.tokens[-1].type if self.tokens else ""

    # -------------------------------------------------------------------------------------------------------- frames
    def enter(self, kind: str) -> None:
        self.frames.append((self.kind, self.base, self.place, self.brackets))
        self.kind = kind
        if kind != "text":
            self.base = self.place = "axis" if kind in AXES else ""
        self.brackets = []

    def leave(self) -> None:
        self.trim()
        self.kind, self.base, self.place, self.brackets = self.frames.pop()

    def trim(self) -> None:
        ends = ENDS.get(self.kind, ())
        while self.last() in ends or self.last() == "COMMA" and "ROW" in ends and self.tokens[-1].text != ",":
            self.tokens.pop()

    def settle(self) -> None:
        """After a bracket: whether words name axes."""
        self.place = self.base if not self.brackets or self.brackets[-1][0] == "item" else ""

    def at_statement_level(self) -> bool:
        kind, brackets = self.kind, self.brackets
        if kind == "text":
            kind, _, _, brackets = self.frames[-1]
        return kind == "top" and not brackets

    def among_sets(self) -> bool:
        """Return whether a set may occur here, also in the brackets of a set of functions: (ℝ → ℝ)."""
        kind, brackets = self.kind, self.brackets
        if kind == "text":
            kind, _, _, brackets = self.frames[-1]
        return self.in_set and kind == "top" and all(opened == "LPAREN" for opened, _ in brackets)

    def separate(self, strength: str, start: int, stop: int) -> None:
        """End a cell, a row, or a formula."""
        if self.last() == "SEPARATOR":
            last = self.tokens[-1]
            last.text = min(last.text, strength, key=(FORMULA, ROW, CELL).index)
        else:
            self.add(("SEPARATOR", strength), start, stop)
        self.in_set = False

    # ----------------------------------------------------------------------------------------------------- arguments
    def skip_looks(self, position: int, end: int) -> int:
        while position < end and self.pieces[position][0] in LOOKS:
            position += 1
        return position

    def argument(self, macro: int, position: int, end: int, letters: bool = False) -> tuple[Token | Stretch, int]:
        """The argument of the macro at index `macro` that begins at `position`, and where it ends.

        Without braces that is one digit; one name, or with `letters` one letter; or one macro with its arguments.
        """
        position = self.skip_looks(position, end)
        if position >= end:
            raise lacks_argument(self.source, self.pieces[macro])
        text = self.pieces[position][0]
        if text == "{":
            close = self.partner[position]
            return (position + 1, close), close + 1
        if len(text) > 1 and (is_number(text) or letters and is_word(text)):
            return self.first_character(position), position
        if not self.is_operand(text):
            raise lacks_argument(self.source, self.pieces[macro])
        return (position, position + 1), self.extent(position, end)

    def is_operand(self, text: str) -> bool:
        """Whether a piece can be an argument without braces."""
        if text in self.actions:
            return text in ARITY
        return bool(text) and (name_of(text) is not None or is_number(text) or NAMED.fullmatch(text) is not None)

    def first_character(self, position: int) -> Token:
        """The first digit or letter of a piece, which keeps the rest."""
        text, start, stop = self.pieces[position]
        if not (is_word(text) or text.isdecimal()):
            raise NotationError(
                101, f"expected one digit, got {text}", self.source, (start, stop), hint=f"write {{{text}}}"
            )
        in_source = stop - start == len(text)
        self.pieces[position] = (text[1:], start + in_source, stop)
        middle = start + 1 if in_source else stop
        return Token("NUMBER" if is_number(text) else "NAME", text[0], start, middle, self.place)

    def extent(self, position: int, end: int) -> int:
        """The end of the operand that begins at `position` without braces."""
        after = position + 1
        for _ in range(ARITY.get(self.pieces[position][0], 0)):
            after = self.skip_looks(after, end)
            if after >= end:
                raise lacks_argument(self.source, self.pieces[position])
            after = self.partner[after] + 1 if self.pieces[after][0] == "{" else after + 1
        return after

    def inside(self, kind: str, group: Token | Stretch) -> list[Part]:
        """The parts of an argument, read in a frame of that kind."""
        if isinstance(group, Token):
            return [group]
        if group[1] - group[0] == 1:
            text, start, stop = self.pieces[group[0]]
            if is_number(text):
                return [Token("NUMBER", text, start, stop)]
            name = None if text in self.actions else name_of(text)
            if name is not None:
                return [Token("NAME", name, start, stop, "axis" if kind in AXES else "")]
        return [kind, group, None]

    def edges(self, group: Token | Stretch, after: int) -> tuple[Piece, Piece]:
        """The braces around an argument that ends before `after`, or the places where they could appear."""
        if isinstance(group, Token):
            return ("", group.start, group.start), ("", group.end, group.end)
        if group[1] < after and self.pieces[group[1]][0] == "}":
            return self.pieces[group[0] - 1], self.pieces[group[1]]
        start, stop = self.pieces[group[0]][1], self.pieces[after - 1][2]
        return ("", start, start), ("", stop, stop)

    def braced(self, kind: str, group: Token | Stretch, after: int) -> list[Part]:
        """The parts of an argument between { and }."""
        opening, closing = self.edges(group, after)
        if isinstance(group, tuple) and not opening[0]:
            group = (group[0], after)
        return [Token("LBRACE", "{", *opening[1:]), *self.inside(kind, group), Token("RBRACE", "}", *closing[1:])]

    def subscript(self, group: Token | Stretch, after: int, span: tuple[int, int] | None = None) -> list[Part]:
        """The parts of a subscript of axes; none where it is empty. `span` is all that its operator takes in."""
        if isinstance(group, tuple) and group[0] == group[1]:
            return []
        start = self.edges(group, after)[0][1]
        return [Token("SUB", "_", *(span or (start, start))), *self.braced("sub", group, after)]

    def macro_name(self, position: int) -> str:
        """The name that the macro there is, or nothing: σ for \\sigma, norm for \\text{norm}."""
        text = self.pieces[position][0]
        if text[0] != "\\" or text in self.actions:
            return ""
        name = unfonted(text) or name_of(text) or ""
        return "" if "_" in name and name not in UNDERSCORED else name

    # ------------------------------------------------------------------------------------------------- not a name
    def other(self, position: int, end: int) -> int:
        """A number; a word of upright text; or what the notation does not know."""
        text, start, stop = self.pieces[position]
        if is_number(text):
            return self.number(position)
        if text in FRACTIONS:
            self.tokens += numeral(text, self.tokens[-1] if self.tokens else None, self.source, start, stop)
            return position + 1
        if is_word(text):
            return self.word_in_text(position)
        if NAMED.fullmatch(text):
            return self.upright(position, end)
        if text[0] == "\\" and text[1:].isspace():
            return position + 1
        for macro in ("\\\\", "\\mathbb", "\\mathds"):  # \\[1ex], \mathbb R
            if text.startswith(macro):
                return self.actions[macro](self, position, end)
        name = name_of(text)
        if name is None:
            raise self.unknown(position)
        self.tokens.append(Token("NAME", name, start, stop, self.place))
        return position + 1

    def unknown(self, position: int) -> NotationError:
        text, start, stop = self.pieces[position]
        if text in REFUSED or text[0] == "\\" and text[1:2].isalpha():
            message = f"unsupported macro {text}"
            return NotationError(111, message, self.source, (start, stop), hint=REFUSED.get(text))
        shown = text if text.isprintable() else f"the character U+{ord(text[0]):04X}"
        return NotationError(106, f"unsupported character {shown}", self.source, (start, stop))

    def number(self, position: int) -> int:
        text, start, stop = self.pieces[position]
        if (self.kind == "text" or self.place == "axis") and text.isdecimal() and self.glued(start):
            self.extend(text, stop)  # Conv1d, seq2
        else:
            self.add(("NUMBER", text), start, stop)
        return position + 1

    # --------------------------------------------------------------------------------------------------- upright text
    def glued(self, start: int) -> bool:
        """Whether a piece of \\text{Conv1d} follows the name before it directly."""
        return self.last() == "NAME" and self.tokens[-1].end == start

    def extend(self, text: str, stop: int) -> None:
        last = self.tokens[-1]
        last.text += text
        last.end = max(stop, last.end)

    def word_in_text(self, position: int) -> int:
        text, start, stop = self.pieces[position]
        if self.glued(start):
            self.extend(fold(text), stop)
        else:
            self.word(fold(text), start, stop)
        return position + 1

    def upright(self, position: int, end: int) -> int:
        """\\text{…} that holds one word, or a name with a label."""
        text, start, stop = self.pieces[position]
        name, in_text = unfonted(text) or "", text.startswith(SENTENCES)
        if in_text and self.is_comment(position + 1, end) and not self.heads_a_row(position + 1, end):
            self.words_alone = [Token("NAME", name, start, stop)]
        elif in_text and (after := self.after_aside(position + 1, end)):
            return self.put([(self.skip_looks(position + 1, end) + 1, after - 1)], after, end)
        elif name in BIG_WORDS and self.piece(position + 1) == "_" and self.place != "axis":
            self.add(("BIG", BIG_WORDS[name]), start, stop)
        elif "_" in name and name not in UNDERSCORED:
            self.labeled(name, start, stop)
        elif text.startswith(AXIS_FONTS) or WORDS.get(name) == "" and not (in_text and self.is_apart(position)):
            self.tokens.append(Token("NAME", name, start, stop, self.place))
        else:
            self.word(name, start, stop)
        return position + 1

    def is_apart(self, position: int) -> bool:
        """Whether \\text{where} is a word by itself, and not the function in \\text{where}(c, X, Y)."""
        text, _, stop = self.pieces[position]
        following = self.pieces[position + 1] if position + 1 < len(self.pieces) else ("", 0, 0)
        return text[-2] in " ,." or following[0] not in ("(", "\\left", "_", "^") or following[1] != stop

    def word(self, name: str, start: int, stop: int) -> None:
        terminal = "NAME" if self.place == "axis" else WORDS.get(name, "NAME")
        if self.last() == "IF" and terminal in ("IF", "FOR", "OTHERWISE"):
            self.tokens.pop()
            terminal = "OTHERWISE" if terminal == "OTHERWISE" else "IF"
        if name in BETWEEN and terminal != "NAME" and self.at_statement_level():
            self.separate(CELL if name == "and" else ROW, start, stop)
        elif terminal:
            shown = name if terminal == "NAME" else WORD_VALUES.get(name, name)
            self.tokens.append(Token(terminal, shown, start, stop, self.place))

    def labeled(self, name: str, start: int, stop: int) -> None:
        """hidden_1 in one \\name{…}"""
        for index, part in enumerate(name.split("_")):
            if index:
                self.add(("SUB", "_"), start, start)
            self.tokens.append(Token("NUMBER" if part.isdecimal() else "NAME", part, start, stop, self.place))

    def is_comment(self, after: int, end: int) -> bool:
        """Whether the \\text{…} before `after` fills a cell."""
        if not self.at_statement_level() or self.last() not in ("", "SEPARATOR"):
            return False
        after = self.skip_looks(after, end)
        while after < end and self.pieces[after][0] in (",", "."):
            after += 1
        following = self.pieces[after][0] if after < end else "\\\\"
        return following in ("&", "\\quad", "\\qquad") or following.startswith(("\\\\", "\\end"))

    def after_aside(self, after: int, end: int) -> int:
        """The end of a comment with a declaration, \\text{twice}~(X \\in \\reals^{\\seq}), that fills a cell; 0 where none does."""
        if not self.at_statement_level() or self.last() != "SEPARATOR":
            return 0
        opening = position = self.skip_looks(after, end)
        depth, declares = 0, False
        while position < end and self.pieces[position][0] not in ("&", "\\\\"):
            text = self.pieces[position][0]
            depth += (text == "(") - (text == ")")
            declares = declares or SIGNS.get(text, ("",))[0] == "IN"
            position += 1
            if not depth:
                break
        closes = self.skip_looks(position, end)
        ends = closes >= end or self.pieces[closes][0].startswith(("&", "\\\\", "\\end", "\\quad"))
        return position if declares and not depth and ends and self.piece(opening) == "(" else 0

    def heads_a_row(self, after: int, end: int) -> bool:
        """Whether the cell after the \\text{…} that ends there goes on with a relation: \\text{total} &\\colon …"""
        after = self.skip_looks(after, end)
        if after >= end or self.pieces[after][0] != "&":
            return False
        after = self.skip_looks(after + 1, end)
        while after < end and self.pieces[after][0] in ("{", "}"):  # {}=, as amsmath has it, or {=}
            after = self.skip_looks(after + 1, end)
        return after < end and SIGNS.get(self.pieces[after][0], ("", ""))[0] in ("COLON", "EQUALS", "IN")
