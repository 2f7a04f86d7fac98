"""Convert pieces to tokens, and expand each macro on a stack of unread parts.

LaTeX and text order some parts differently. For example, LaTeX writes a numerator before the division, and a macro's
axes before the operator. Each macro expands to a list of parts in text order. A part is a token or a range of unread
pieces. The text lexer determines the meaning of names and brackets. The stack of unread parts avoids deep recursion for
deeply nested formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Union

from ..errors import NotationError
from ..symbols import FRACTIONS, UNDERSCORED
from ..text import Lexer
from ..text_tables import OF_AXES
from ..tokens import Token, numeral
from .macros import NAMED, WITH_ARGUMENTS, Piece, is_number, is_word, lacks_argument, read_plain_name
from .statements import CELL, FORMULA, ROW
from .tables import ARITY, LOOKS, REFUSED, check_defined, name_of

Stretch = tuple[int, int]  # A range of unread pieces, as start and end indices.
# A part is a token, a stretch of pieces, the kind of a frame to enter, or None to leave a frame. A frame is a bracket
# that a macro opens. The text lexer decides its meaning.
Part = Union[Token, Stretch, str, None]
Argument = tuple[Union[Token, Stretch], int]  # An argument of a macro, and the position after it.
# A handler receives the reader, the macro's index and the end of the stretch. It returns the next index.
Action = Callable[["Reader", int, int], int]

AXES = ("sub", "shape")
FRAMES = (*AXES, "sup", "group", "matrix", "cases", "text", "math")
CELLS = {"eqnarray": 0, "multline": 0, "IEEEeqnarray": 1}  # The number of & per cell, for tables unlike align.
# These tokens are dropped at the end of a frame, because they separate nothing there.
ENDS = {"matrix": ("SEMICOLON",), "cases": ("SEMICOLON", "COMMA", "PERIOD")}
NEXT_ROW = "\\\\"  # The text of a comma between two rows of axes.


class Reader(Lexer):
    def __init__(self, source: str, pieces: list[Piece], partner: dict[int, int], actions: dict):
        super().__init__(source)
        self.pieces, self.partner, self.actions = pieces, partner, actions
        # The last \text{…} that fills a cell. It is a comment unless the source has no other content.
        self.words_alone: list[Token] = []
        self.work: list[Part] = []
        self.frames: list[str] = []  # The kinds of the open frames, which `brackets` also contains.
        self.closing_at: set[int] = set()  # The positions of \right in \left. … \right|_{X=U}.
        self.ampersands = 0
        self.cells = 2  # The number of & per cell, or 0 if & separates nothing.
        self.overs = [index for index, piece in enumerate(pieces) if piece[0] == "\\over"]

    def formula(self, start: int, end: int, opening: str) -> None:
        """Read one formula, or a table of several formulas."""
        if self.tokens:
            self.separate(FORMULA, *self.pieces[start - 1][1:])
        self.brackets = []
        self.ampersands = 0
        environment = opening.removeprefix("\\begin{").rstrip("*}")
        self.cells = CELLS.get(environment, 2)
        if environment in WITH_ARGUMENTS:  # \begin{IEEEeqnarray}[…]{rCl}
            start = self.option(start - 1, start, end)[1]
            start = self.partner[start] + 1 if self.piece(start) == "{" else start
        work = self.work = [(start, end)]
        while work:
            part = work.pop()
            if isinstance(part, tuple):
                self.read(*part)
            elif isinstance(part, Token):
                self.tokens.append(part)
            elif part is None:
                self.trim()
                self.leave()
            else:
                self.brackets.append(part)
                self.frames.append(part)

    def read(self, position: int, end: int) -> None:
        """Read a range of pieces.

        If other parts must be read first, a handler pushes the rest of the range onto the stack and returns `end`.
        """
        pieces, tokens, actions = self.pieces, self.tokens, self.actions
        in_text = self.in_text
        while position < end:
            text, start, stop = pieces[position]
            action = actions.get(text)
            if action is None:
                name = None if in_text else name_of(text)
                if (
                    name is None or text[-1] == "}" and self.previous() in ("", "SEPARATOR")
                ):  # \text{…} may be a comment.
                    position = self.read_unlisted(position, end)
                    continue
                if text[0] == "\\" and position + 1 < end and pieces[position + 1][0] == "{":
                    check_defined(self.source, pieces, position, self.partner)
                tokens.append(Token("NAME", name, start, stop, self.place))
            elif isinstance(action, tuple):
                self.add(action[0], action[1], start, stop)
            else:
                position = action(self, position, end)
                continue
            position += 1

    def put(self, parts: list[Part], rest: int, end: int) -> int:
        """Add the parts to the tokens and return `rest` if all parts are tokens.

        Otherwise, push the parts onto the stack, above the rest of the range, and return `end`.
        """
        tokens = [part for part in parts if isinstance(part, Token)]
        if len(tokens) == len(parts):
            self.tokens.extend(tokens)
            return rest
        self.work.append((rest, end))
        self.work.extend(reversed(parts))
        return end

    def piece(self, position: int) -> str:
        """Return the text of the piece at `position`, or an empty string after the last piece."""
        return self.pieces[position][0] if position < len(self.pieces) else ""

    # -------------------------------------------------------------------------------------------------------- frames
    @property
    def in_axes(self) -> bool:
        r"""Whether words at the current position are axis names, even inside \text."""
        brackets = self.brackets
        if brackets and brackets[-1] == "text":
            return len(brackets) > 1 and brackets[-2] in OF_AXES
        return bool(brackets) and brackets[-1] in OF_AXES

    @property
    def place(self) -> str:
        return "axis" if self.in_axes else ""

    @property
    def kind(self) -> str:
        """The kind of the innermost frame, or "top" outside all frames."""
        return self.frames[-1] if self.frames else "top"

    @property
    def in_text(self) -> bool:
        return self.kind == "text"

    def leave(self) -> None:
        """Close the innermost frame and all brackets that are still open inside it."""
        self.frames.pop()
        while self.brackets.pop() not in FRAMES:
            pass

    def trim(self) -> None:
        ends = ENDS.get(self.kind, ())
        while self.tokens and (self.tokens[-1].type in ends or self.tokens[-1].text == NEXT_ROW):
            self.tokens.pop()

    def is_at_statement_level(self) -> bool:
        return not self.brackets or self.brackets == ["text"]

    def separate(self, strength: str, start: int, stop: int) -> None:
        """Add a separator that ends a cell, a row or a formula, depending on its `strength`."""
        if self.previous() == "SEPARATOR":
            last = self.tokens[-1]
            last.text = min(last.text, strength, key=(FORMULA, ROW, CELL).index)
        else:
            self.tokens.append(Token("SEPARATOR", strength, start, stop))
        self.in_set = False

    # ----------------------------------------------------------------------------------------------------- arguments
    def skip_looks(self, position: int, end: int) -> int:
        while position < end and self.pieces[position][0] in LOOKS:
            position += 1
        return position

    def argument(self, macro: int, position: int, end: int, letters: bool = False) -> Argument:
        """Return the argument that begins at `position`, and the position after it.

        An argument without braces is one digit, one name, or one macro with its arguments. If `letters` is true, it is
        one letter instead of one name. `macro` is the index of the macro, for errors.
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

    def arguments(self, macro: int, position: int, end: int, number: int, letters: bool = False) -> list[Argument]:
        """Return the next `number` arguments of a macro. The first argument begins at `position`."""
        arguments = []
        for _ in range(number):
            arguments.append(self.argument(macro, position, end, letters))
            position = arguments[-1][1]
        return arguments

    def option(self, macro: int, position: int, end: int) -> tuple[Stretch | None, int]:
        r"""Return the span of an optional argument, such as [3] in \sqrt[3]{x}, and the position after it.

        If there is no optional argument, the span is None.
        """
        if position >= end or self.pieces[position][0] != "[":
            return None, position
        close = position + 1
        while close < end and self.pieces[close][0] != "]":
            close = self.partner.get(close, close) + 1
        if close >= end:
            raise lacks_argument(self.source, self.pieces[macro])
        return (position + 1, close), close + 1

    def is_operand(self, text: str) -> bool:
        """Return whether a piece can be an argument without braces."""
        if text in self.actions:
            return text in ARITY
        return bool(text) and (name_of(text) is not None or is_number(text) or NAMED.fullmatch(text) is not None)

    def first_character(self, position: int) -> Token:
        """Remove the first digit or letter from a piece, and return it as a token."""
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
        """Return the end of an unbraced operand that begins at `position`, including the arguments of its macro."""
        after = position + 1
        for _ in range(ARITY.get(self.pieces[position][0], 0)):
            after = self.skip_looks(after, end)
            if after >= end:
                raise lacks_argument(self.source, self.pieces[position])
            after = self.partner[after] + 1 if self.pieces[after][0] == "{" else after + 1
        return after

    def inside(self, kind: str, group: Token | Stretch) -> list[Part]:
        """Return the parts of an argument, read in a new frame of the given kind."""
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
        """Return the braces around an argument that ends before `after`.

        If there are no braces, return empty pieces at both ends of the argument.
        """
        if isinstance(group, Token):
            return ("", group.start, group.start), ("", group.end, group.end)
        if group[1] < after and self.pieces[group[1]][0] == "}":
            return self.pieces[group[0] - 1], self.pieces[group[1]]
        start, stop = self.pieces[group[0]][1], self.pieces[after - 1][2]
        return ("", start, start), ("", stop, stop)

    def braced(self, kind: str, group: Token | Stretch, after: int) -> list[Part]:
        """Return the parts of an argument in a frame of the given kind, with braces around them."""
        opening, closing = self.edges(group, after)
        if isinstance(group, tuple) and not opening[0]:
            group = (group[0], after)
        return [Token("LBRACE", "{", *opening[1:]), *self.inside(kind, group), Token("RBRACE", "}", *closing[1:])]

    def macro_name(self, position: int) -> str:
        r"""Return the name that a macro denotes, such as σ for \sigma or norm for \text{norm}.

        Return "" if the macro denotes no name.
        """
        text = self.pieces[position][0]
        if text[0] != "\\" or text in self.actions:
            return ""
        name = read_plain_name(text) or name_of(text) or ""
        return "" if "_" in name and name not in UNDERSCORED else name

    # ------------------------------------------------------------------------------------------------- not a name
    def read_unlisted(self, position: int, end: int) -> int:
        """Read a piece that has no handler: a number, a word of upright text, or an unknown piece."""
        text, start, stop = self.pieces[position]
        if is_number(text):
            if self.kind in ("text", *AXES) and text.isdecimal() and self.follows_name(start):
                self.extend(text, stop)  # Conv1d, seq2
            else:
                self.add("NUMBER", text, start, stop)
            return position + 1
        if text in FRACTIONS:
            self.tokens += numeral(text, self.tokens[-1] if self.tokens else None, self.source, start, stop)
            return position + 1
        if is_word(text) or NAMED.fullmatch(text):
            return self.actions["a word" if is_word(text) else "a name in a font"](self, position, end)
        if text[0] == "\\" and text[1:].isspace():
            return position + 1
        for macro in ("\\\\", "\\mathbb", "\\mathds"):  # \\[1ex], \mathbb R
            if text.startswith(macro):
                return self.actions[macro](self, position, end)
        name = name_of(text)
        if name is None:
            raise self.unknown(position)
        self.add("NAME", name, start, stop)
        return position + 1

    def unknown(self, position: int) -> NotationError:
        text, start, stop = self.pieces[position]
        if text in REFUSED or text[0] == "\\" and text[1:2].isalpha():
            message = f"unsupported macro {text}"
            hint = REFUSED.get(text) or f"write a letter or a name, or define it: \\newcommand{{{text}}}{{…}}"
            return NotationError(111, message, self.source, (start, stop), hint=hint)
        shown = text if text.isprintable() else f"the character U+{ord(text[0]):04X}"
        return NotationError(106, f"unsupported character {shown}", self.source, (start, stop))

    def follows_name(self, start: int) -> bool:
        r"""Return whether a piece continues the name directly before it, as 1d does in \text{Conv1d}."""
        return self.previous() == "NAME" and self.tokens[-1].end == start

    def extend(self, text: str, stop: int) -> None:
        last = self.tokens[-1]
        last.text += text
        last.end = max(stop, last.end)
