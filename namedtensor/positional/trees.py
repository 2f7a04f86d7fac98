"""A recursive-descent parser that converts matrix and index notation to a tree.

A later stage decides the meaning of a product, when its operands are known.

sum       terms joined by + or −: a + b − c
term      products joined by ∘ ⊙ ⊗ · × * @ or /: A B ∘ C
product   adjacent factors, which bind more tightly than the signs of a term: A B
factor    an atom with scripts and primes: A^⊤, x_i, ‖x‖_2^2
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from grammar.errors import NotationError, Span

from .indices import extend_end, spell
from .refusals import make_refusal
from .source_tree import OPEN, IndexBinder, Tree, binder, end_of, is_function
from .tokens import END, FUNCTION, FUNCTIONS, NAME, NUMBER, SIGN, SourceToken, is_derivative, is_operator_word

MAX_NESTING = 80
JOINING = {"∘": "∘", "⊙": "∘", "⊗": "⊗", "·": "·", "×": "×", "*": "*", "/": "/", "@": "@"}
BIG = ("∑", "∏")


class SourceParser:
    def __init__(self, source: str, tokens: list[SourceToken], names: Collection[str] = ()):
        self.source, self.tokens, self.names, self.at = source, tokens, names, 0
        self.depth, self.bars = 0, [""]
        self.in_derivative = False

    # ------------------------------------------------------------------------------------------------------- tokens
    @property
    def token(self) -> SourceToken:
        return self.tokens[self.at]

    def sees(self, *signs: str) -> bool:
        return self.token.kind == SIGN and self.token.text in signs

    def take(self) -> SourceToken:
        token = self.token
        self.at += token.kind != END
        return token

    def expect(self, sign: str) -> SourceToken:
        if not self.sees(sign):
            raise self.make_unexpected_error(f", expected {sign}")
        return self.take()

    def make_unexpected_error(self, expected: str = "") -> NotationError:
        start, end = self.token.span
        piece = self.source[start:end] or "end of the formula"
        return self.refuse((start, max(end, start + 1)), f"unexpected {piece}{expected}")

    def refuse(self, span: Span, message: str, hint: str | None = None) -> NotationError:
        return make_refusal(self.source, span, message, hint)

    def span(self, start: int) -> Span:
        return start, max(self.tokens[self.at - 1].end, start)

    # ------------------------------------------------------------------------------------------------------- levels
    def sum(self) -> Tree:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self.refuse(self.token.span, f"brackets are nested more than {MAX_NESTING} deep")
        start = self.token.start
        negative = self.sees("-", "+") and self.take().text == "-"
        left = self.term()
        if negative:
            left = Tree("negative", self.span(start), (left,))
        while self.sees("+", "-"):
            op = self.take().text
            right = self.term()
            whole = extend_end(left, op, right)
            left = Tree(op, self.span(start), (left, right))
            if whole is not None:
                left = Tree("either", self.span(start), (left, whole))
        self.depth -= 1
        return left

    def term(self) -> Tree:
        start, left = self.token.start, self.product()
        while self.token.kind == SIGN and self.token.text in JOINING:
            op = JOINING[self.take().text]
            if op == "/":
                below = self.factor()
                left = Tree("/", self.span(start), (left, below))
                if self.begins():
                    right = self.product()
                    left = Tree("after /", self.span(start), (left, right))
                continue
            right = self.product()
            left = Tree(op, self.span(start), (left, right))
        return left

    def product(self) -> Tree:
        start, left = self.token.start, self.factor()
        while self.begins():
            right = self.factor()
            left = Tree("product", self.span(start), (left, right))
        return left

    def begins(self) -> bool:
        """Return whether the current token can begin another factor of a product. A minus sign cannot."""
        if self.token.kind in (NAME, NUMBER, FUNCTION):
            return True
        if self.sees("|", "‖"):
            return self.bars[-1] != self.token.text
        return self.sees("(", "[", "{", "∑", "∏", "√", "⟨", "∇", "∂", "frac", "∞")

    def factor(self) -> Tree:
        start = self.token.start
        if self.sees("-"):
            self.take()
            return Tree("negative", (start, self.token.end), (self.factor(),))
        if self.token.kind == SIGN and self.token.text in BIG:
            return self.big(self.take().text, start)
        if self.sees("∇"):
            return self.gradient()
        if self.token.kind == FUNCTION:
            return self.function()
        return self.scripts(self.atom(), start)

    def function(self) -> Tree:
        token = self.take()
        word, start = FUNCTIONS[token.text.lower()], token.start
        if word in ("max", "min", "mean", "expectation") and self.sees("_"):
            return self.big("mean" if word == "expectation" else word, start)
        below = ""
        power: Tree | None = None
        while self.sees("_", "^"):
            if self.take().text == "_":
                below = self.raw()
            else:
                power = self.group()
        if self.sees("("):
            arguments = self.arguments("(", ")")
        elif word == "expectation" and self.sees("["):
            arguments = self.arguments("[", "]")
        elif self.begins() and not self.sees("∑", "∏"):
            arguments = [self.factor()]
            if self.begins():
                message = f"{token.text} has no brackets around its argument"
                raise self.refuse((start, self.token.end), message, f"write {token.text}(…)")
        else:
            raise self.make_unexpected_error(f", expected the argument of {token.text}")
        tree = Tree("call", self.span(start), tuple(arguments), word, upper=below)
        if power is not None:
            tree = Tree("^", self.span(start), (tree, power))
        return self.scripts(tree, start)

    def function_by_letter(self, token: SourceToken) -> Tree:
        """Parse σ(x) as the sigmoid function. Raise NotationError for another function name, such as f in f(x)."""
        if token.text != "σ":
            hint = f"give the shape of {token.text} if it is a factor"
            raise self.refuse(token.span, f"unknown function {token.text}", hint)
        return Tree("call", (token.start, self.token.end), tuple(self.arguments("(", ")")), "σ")

    def arguments(self, opening: str, closing: str) -> list[Tree]:
        return [piece for row in self.rows(opening, closing) for piece in row]

    def rows(self, opening: str, closing: str) -> list[tuple[Tree, ...]]:
        """Parse a bracket such as [A, B; C, D], and return its rows. Semicolons end rows, and commas end entries."""
        self.expect(opening)
        self.bars.append("")
        rows = [[self.sum()]]
        while self.sees(",", ";"):
            if self.take().text == ",":
                rows[-1].append(self.sum())
            elif not self.sees(closing):
                rows.append([self.sum()])
        self.bars.pop()
        self.expect(closing)
        return [tuple(row) for row in rows]

    def big(self, op: str, start: int) -> Tree:
        r"""Parse an operator with an index and an operand: \sum_{i=1}^{n} and a term, or max_i and a factor."""
        below = IndexBinder(())
        upper = ""
        while self.sees("_", "^"):
            sign = self.take().text
            begin = self.token.start
            raw = self.raw()
            if sign == "^":
                upper = raw
                continue
            read = binder(raw)
            if read is None:
                where = begin, self.tokens[self.at - 1].end
                hint = "sum over an axis, ∑_i or ∑_{i=1}^n, or under a condition, ∑_{j≠i}"
                raise self.refuse(where, f"the sum over {raw} is not supported", hint)
            below = read
        end = end_of(upper)
        if below.lower == "0" and (op not in BIG or end is None or end.shift != -1 or not end.name):
            hint = "count from 1, or from 0 to n-1"
            raise self.refuse(self.span(start), f"the sum from {below.letters[0]}=0 is not supported", hint)
        body = self.term() if op in BIG else self.factor()
        return Tree(
            "big", self.span(start), (body,), op, below.letters, upper or below.upper, below.lower, below.conditions
        )

    def atom(self) -> Tree:
        token = self.take()
        start = token.start
        if token.kind == NUMBER:
            return Tree("number", (start, token.end), text=token.text)
        if token.kind == NAME and self.sees("(") and token.text not in self.names and is_function(token.text):
            return self.function_by_letter(token)
        if token.kind == NAME:
            if self.is_operator(token):
                hint = "translate knows softmax, log, tr, det, diag and the functions of the reference"
                raise self.refuse(token.span, f"unknown operator {token.text}", hint)
            derivative = self.derivative(start) if token.text == "d" and "d" not in self.names else None
            return derivative or Tree("name", (start, token.end), text=token.text)
        if token.text in ("(", "[", "{"):
            self.at -= 1
            rows = self.rows(token.text, {"(": ")", "[": "]", "{": "}"}[token.text])
            if [len(row) for row in rows] == [1]:
                return rows[0][0] if token.text == "{" else Tree("group", self.span(start), rows[0])
            if token.text != "[":
                raise self.refuse(self.span(start), "a list in round brackets is not supported", "write [x; y]")
            return Tree("block", self.span(start), tuple(Tree("row", self.span(start), row) for row in rows))
        if token.text in ("‖", "|"):
            return self.parse_bars(token)
        if token.text == "⟨":
            self.at -= 1
            both = self.arguments("⟨", "⟩")
            if len(both) != 2:
                raise self.refuse(self.span(start), "⟨ ⟩ expects two arguments")
            return Tree("inner", self.span(start), tuple(both))
        if token.text == "frac":
            return self.fraction(start)
        if token.text == "√":
            index = self.rows("[", "]")[0][0] if self.sees("[") and self.source.startswith("\\sqrt", start) else None
            inner = self.group() if self.sees("{") else self.scripts(self.atom(), self.token.start, powers=False)
            if index is None:
                return Tree("sqrt", self.span(start), (inner,))
            span = self.span(start)
            return Tree("^", span, (inner, Tree("/", span, (Tree("number", span, text="1"), index))))
        if token.text == "∂":
            above = self.factor()
            if not (self.sees("/") and self.tokens[self.at + 1].text == "∂"):
                return Tree("differential", self.span(start), (above,))
            self.at += 2
            return Tree("gradient", self.span(start), (above, self.factor()))
        if token.text == "∞":
            return Tree("number", (start, token.end), text="inf")
        self.at -= token.kind != END
        raise self.make_unexpected_error()

    def parse_bars(self, token: SourceToken) -> Tree:
        self.bars.append(token.text)
        inner = self.sum()
        self.bars.pop()
        self.expect(token.text)
        if token.text == "|":
            return Tree("bars", self.span(token.start), (inner,))
        below = self.raw() if self.sees("_") and self.take() else ""
        return Tree("norm", self.span(token.start), (inner,), below)

    def is_operator(self, token: SourceToken) -> bool:
        r"""Return whether a name is an unknown operator, as in \operatorname{prox} or \mathrm{conv} S."""
        written = is_operator_word(self.source, token, self.begins() and not self.sees("("))
        return written and token.text not in self.names and len(self.tokens) > 2

    def derivative(self, start: int) -> Tree | None:
        """Parse the rest of a derivative such as dL/dx after its first d. Return None if no derivative follows."""
        if self.in_derivative or not self.begins():
            return None
        at, self.in_derivative = self.at, True
        above = self.factor()
        self.in_derivative = False
        slash, sign, by = (*self.tokens[self.at : self.at + 3], *[self.tokens[-1]] * 3)[:3]
        if (slash.text, sign.text) != ("/", "d") or by.kind != NAME or by.start != sign.end:
            self.at = at
            return None
        self.at += 2
        return Tree("gradient", self.span(start), (above, self.scripts(self.atom(), by.start)))

    def fraction(self, start: int) -> Tree:
        if is_derivative(self.tokens, self.at, self.names):
            return self.partial(start)
        above, below = self.group(), self.group()
        return Tree("/", self.span(start), (above, below), "frac")

    def gradient(self) -> Tree:
        """Parse a gradient ∇_x and the adjacent factors after it."""
        start = self.take().start
        self.expect("_")
        by = self.group()
        body = self.differentiated()
        return Tree("gradient", self.span(start), (body, by), OPEN)

    def differentiated(self) -> Tree:
        """Parse the operand of ∇_x or ∂/∂x: the adjacent factors. Raise NotationError if a sign such as · follows."""
        start, body = self.token.start, self.product()
        if self.token.kind == SIGN and self.token.text in JOINING and self.token.text != "/":
            hint = "write it in brackets: (∇_x f) · v"
            raise self.refuse((start, self.token.end), "cannot tell which expression is differentiated", hint)
        return body

    def partial(self, start: int) -> Tree:
        r"""Parse a partial derivative, such as \frac{\partial f}{\partial x} or \frac{\partial}{\partial x} f."""
        self.expect("{")
        sign = self.take().text
        body = None if self.sees("}") else self.sum()
        self.expect("}")
        self.expect("{")
        if self.take().text != sign:
            self.at -= 1
            raise self.make_unexpected_error(f", expected {sign}")
        by = self.sum()
        self.expect("}")
        text = "" if body else OPEN
        body = body or self.differentiated()
        return Tree("gradient", self.span(start), (body, by), text)

    # ------------------------------------------------------------------------------------------------------ scripts
    def group(self) -> Tree:
        """Parse a group in braces, or a single atom if there is no brace."""
        if self.sees("{"):
            self.take()
            self.bars.append("")
            inner = self.sum()
            self.bars.pop()
            self.expect("}")
            return inner
        return self.atom()

    def raw(self) -> str:
        """Return the text of a script, without spaces."""
        if not self.sees("{"):
            return self.take().text
        self.take()
        depth, pieces = 1, list[str]()
        while depth:
            token = self.take()
            if token.kind == END:
                raise self.make_unexpected_error(", expected }")
            depth += (token.text == "{") - (token.text == "}") if token.kind == SIGN else 0
            if depth:
                pieces.append(token.text)
        return "".join(pieces)

    def scripts(self, tree: Tree, start: int, powers: bool = True) -> Tree:
        while self.sees("_", "^", "'") and (powers or self.sees("_")):
            if self.sees("'"):
                self.take()
                tree = Tree("T", self.span(start), (tree,), "'")
            elif self.take().text == "_":
                text = self.raw()
                raised = tree.op == "^" and tree.parts[1].op == "number" and spell(tree) not in self.names
                base = tree.parts[0] if raised else tree
                below = Tree("sub", self.span(start), (base,), text)  # x^2_1 is the square of x_1
                tree = replace(tree, span=self.span(start), parts=(below, tree.parts[1])) if raised else below
            else:
                tree = self.superscript(tree, start)
        return tree

    def superscript(self, tree: Tree, start: int) -> Tree:
        braces = self.sees("{")
        first, second, third = (*self.tokens[self.at + braces : self.at + braces + 3], *[self.tokens[-1]] * 3)[:3]
        if first.text == "'" or (first.text == "H" and first.kind == NAME and f"{spell(tree)}^H" not in self.names):
            if not braces or second.text == "}":
                self.at += 1 + 2 * braces
                return Tree("T", self.span(start), (tree,), first.text)
        if first.text == "⊤" or (first.text == "T" and (not braces or second.text == "}")):
            self.at += 1 + 2 * braces
            return Tree("T", self.span(start), (tree,), "⊤")
        if braces and (first.text, second.text, third.text) in (("-", "1", "}"), ("-", "⊤", "}"), ("-", "T", "}")):
            self.at += 4
            inverse = Tree("inverse", self.span(start), (tree,))
            return inverse if second.text == "1" else Tree("T", self.span(start), (inverse,), "⊤")
        if not braces and first.text == "-" and second.kind == NUMBER and "\\" not in self.source:  # x^-1
            self.at += 2
            span, power = self.span(start), Tree("number", second.span, text=second.text)
            if second.text == "1":
                return Tree("inverse", span, (tree,))
            return Tree("^", span, (tree, Tree("negative", (first.start, second.end), (power,))))
        if first.text in ("†", "+") and (not braces or second.text == "}"):
            self.at += 1 + 2 * braces
            return Tree("pseudoinverse", self.span(start), (tree,), first.text)
        if first.text in ("*", "†", "+"):
            hint = "write the transpose ^⊤, or the pseudoinverse (A^⊤ A)^{-1} A^⊤ if the columns of A are independent"
            raise self.refuse((start, first.end), f"^{first.text} is not supported", hint)
        begin = self.at
        try:
            power = self.group()
        except NotationError:
            self.at = begin
            if "\\" in self.source[first.start : first.end] or not (braces or first.text.isalnum()):
                raise
            power = Tree("label", self.span(start), text=self.raw())
        return Tree(
            "^", self.span(start), (tree, power), self.source[self.tokens[begin].start : self.tokens[self.at - 1].end]
        )
