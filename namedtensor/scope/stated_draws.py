"""Random variables whose distributions statements say: x ∼ N(0, 1), and 𝔼_x[x^2] anywhere, as 𝔼_{x ∼ N(0, 1)}[x^2].

A definition that the body uses, such as m = x^2 in 𝔼_x[m], becomes a function of the random variables there:

    x ∼ N(0, 1)                x ∼ N(0, 1)
    m = x^2                    m⟨x⟩(x) = x^2
    𝔼_x[m]                     𝔼_{x ∼ N(0, 1)}[m⟨x⟩(x)]

If x^t = x^{t-1} + z^t for t = 1, …, n, then z^t ∼ N(0, 1) without a range has the same range.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Draw, Equation, Expectation, Name, Node, Range
from grammar.traversal import children, names_in, rebuilt

from .names import component_names, spelled, walk
from .shifted_heads import ahead_of, stepped


def without_stated_draws(source: str, program: nodes.Program) -> nodes.Program:
    """Return the program in which each expectation names its random variables, and each family of draws has a range."""
    if any(says_draw(statement) and statement.sides[-1].labels for statement in program.statements):  # type: ignore[union-attr]
        spoken = [(statement, words(statement)) for statement in program.statements]
        program = replace(
            program, statements=tuple(ranged(source, statement, spoken) for statement in program.statements)
        )
    return Stated(source, program).written_out()


def says_draw(statement: Any) -> bool:
    """Return whether a statement specifies the distribution of a name."""
    return isinstance(statement, Equation) and isinstance(statement.sides[-1], Draw)


class Stated:
    """The random variables of one program, and the names that they define."""

    def __init__(self, source: str, program: nodes.Program):
        self.source, self.program = source, program
        self.drawn: dict[str, Draw] = {}
        self.plain: dict[str, Equation] = {}  # the names that have one equation, and no scripts
        self.labeled: set[str] = set()  # the names that have equations with scripts
        self.parameters: set[str] = set()  # of functions
        direct: dict[str, set[str]] = {}  # the names that each name depends on
        for statement in program.statements:
            if not isinstance(statement, Equation):
                continue
            head, body = statement.sides[0], statement.sides[-1]
            if isinstance(body, Draw) and not body.labels:
                self.drawn.setdefault(body.name, body)
                continue
            base = head.operator if isinstance(head, Call) else base_of(head)
            if base in direct:
                self.plain.pop(base, None)
            elif isinstance(head, Name) and statement.range is None:
                self.plain[base] = statement
            if base and isinstance(head, (nodes.Superscript, nodes.Subscript, nodes.Index)):
                self.labeled.add(base)
            bound = bound_by(statement)
            self.parameters |= bound if isinstance(head, Call) else set()
            direct.setdefault(base, set()).update(words(statement.sides[1]) - bound)
        direct |= {name: words(of) for name, of in self.drawn.items()}
        self.needs = reached(direct, self.drawn.keys() | self.parameters)
        self.functions: dict[str, Equation] = {}

    def written_out(self) -> nodes.Program:
        statements = [self.turned(statement) for statement in self.program.statements]
        return replace(self.program, statements=(*statements, *self.functions.values()))

    def variables(self, names: Iterable[str]) -> set[str]:
        """Return the random variables that some names depend on, including these names."""
        texts = set(names)
        for name in [*texts]:
            texts |= self.needs.get(name, set())
        return texts & self.drawn.keys()

    # ------------------------------------------------------------------------------------------------------ expectations
    def turned(self, node: Any) -> Any:
        """Return a tree in which expectations name their random variables."""
        return rebuilt(self.expectation(node) if isinstance(node, Expectation) else node, self.turned)

    def expectation(self, node: Expectation) -> Expectation:
        """Return 𝔼_{x ∼ N(0, 1)}[…] for 𝔼_x[…], and for 𝔼[…] if the body depends on x."""
        named = {variable.text: variable for variable in node.draws if isinstance(variable, Name)}
        if not node.draws:
            over = self.variables(words(node.body))
            named = {text: Name(text, node.span) for text in sorted(over.union(*map(self.made_of, over)))}
        if not named.keys() <= self.drawn.keys() or not (named or node.draws):
            return node  # The type checker reports it.
        draws: list[Draw | Name] = [variable for variable in node.draws if isinstance(variable, Draw)]
        names = {variable.name for variable in draws if isinstance(variable, Draw)}
        waiting = dict(named)
        while waiting:
            text = next(
                (text for text in waiting if not self.made_of(text) & waiting.keys() - {text}), next(iter(waiting))
            )
            draw = waiting.pop(text)
            self.check_given(text, names | named.keys(), draw)
            before = {variable.name for variable in draws if isinstance(variable, Draw)} & self.drawn.keys()
            draws.append(self.of_drawn(replace(self.drawn[text], span=draw.span), before))
        stated = (names | named.keys()) & self.drawn.keys()
        return replace(node, draws=tuple(draws), body=self.of_drawn(node.body, stated))

    def made_of(self, text: str) -> set[str]:
        """Return the random variables that another one's distribution names."""
        return self.variables(words(self.drawn[text])) - {text}

    def check_given(self, text: str, over: set[str], name: Name) -> None:
        """Raise if a distribution depends on another random variable that the expectation does not average over."""
        missing = sorted(self.made_of(text) - over)
        if missing:
            raise NotationError(
                114, f"the distribution of {text} depends on {', '.join(missing)}, which is random too", self.source, name.span,
                labels=((self.drawn[text].span, "declared here"),),
                hint=f"take the expectation over both: 𝔼_{{{', '.join([*missing, text])}}}[…]; use another name for a fixed {missing[0]}",
            )  # fmt: skip

    # ------------------------------------------------------------------------------------- definitions between as functions
    def of_drawn(self, node: Any, over: set[str], bound: frozenset[str] = frozenset()) -> Any:
        """Return a body in which definitions that depend on random variables become functions of these variables."""
        if isinstance(node, nodes.Axis):
            return node
        if isinstance(node, (nodes.IndexSum, nodes.Over)):
            bound = bound | {node.variable.text}
        if isinstance(node, Expectation):
            bound = bound | {draw.name if isinstance(draw, Draw) else draw.text for draw in node.draws}
        base = node.operator if isinstance(node, Call) else base_of(node)
        if base not in self.labeled and isinstance(node, (nodes.Superscript, nodes.Subscript, nodes.Index)):
            base = ""  # a power, or elements, of a name that appears in it
        within = sorted(self.variables([base]) & over) if base not in (*self.drawn, *bound) else []
        alone = isinstance(node, Name) and base in self.plain and not self.needs[base] & self.parameters
        if within and alone:
            return self.function_of(base, node, within)
        if within:
            raise NotationError(
                114, f"{base} depends on {', '.join(within)}, which is drawn here", self.source, node.span,
                hint=f"make {base} a function of {within[0]}",
            )  # fmt: skip
        return rebuilt(node, lambda part: self.of_drawn(part, over, bound), apart=("variable",))

    def function_of(self, base: str, node: Node, over: list[str]) -> Call:
        """Return m⟨x⟩(x) for m, and the equation m⟨x⟩(x) = x^2."""
        name = f"{base}⟨{', '.join(over)}⟩"
        arguments = tuple(Name(text, node.span) for text in over)
        call = Call(name, (), (), arguments, (), node.span, node.span)
        if name not in self.functions:
            equation = self.plain[base]
            self.functions[name] = equation  # under construction, to detect circular definitions
            body = self.of_drawn(equation.sides[1], {*over})
            self.functions[name] = Equation((call, self.turned(body)), span=equation.span)
        return call


def base_of(node: Any) -> str:
    """Yield X for X_{h(i)} and X^l; nothing for other expressions."""
    name = spelled(node.base if isinstance(node, nodes.Index) else node)
    return "" if name is None else name.base


def words(root: Any) -> set[str]:
    """Return the names and the functions below a node, except the random variables of expectations there."""
    names: set[str] = set()
    stack: list[tuple[Any, frozenset[str]]] = [(root, frozenset())]
    while stack:
        node, bound = stack.pop()
        if isinstance(node, Name):
            names |= {node.text} - bound
        elif isinstance(node, Call):
            names.add(node.operator)
        if isinstance(node, Expectation):
            for draw in node.draws:
                stack += [(draw, bound)] if isinstance(draw, Draw) else []
                bound = bound | {draw.name if isinstance(draw, Draw) else draw.text}
            stack.append((node.body, bound))
        else:
            stack += [(below, bound) for below in children(node)]
    return names


def bound_by(equation: Equation) -> set[str]:
    """Return the names that an equation binds itself: its head's parameters, its indices and its range's variables."""
    head = equation.sides[0]
    bound = set[str]() if equation.range is None else {*equation.range.variables}
    if isinstance(head, Call):
        bound |= {base_of(argument) for argument in (*head.arguments, *head.parameters)}
    if isinstance(head, nodes.Index):
        bound = bound.union(*(names_in(index) for _, index in head.items))
    return bound


def reached(direct: Mapping[str, set[str]], targets: Iterable[str]) -> dict[str, set[str]]:
    """Return the targets that each name depends on, directly or through others."""
    users: dict[str, list[str]] = {}
    for name, names in direct.items():
        for text in names:
            users.setdefault(text, []).append(name)
    result: dict[str, set[str]] = {name: set() for name in direct}
    for target in targets:
        waiting = [*users.get(target, ())]
        while waiting:
            name = waiting.pop()
            if target not in result[name]:
                result[name].add(target)
                waiting += users.get(name, ())
    return result


# --------------------------------------------------------------------------------------------------- families of draws
def ranged(source: str, statement: Any, spoken: Iterable[tuple[Any, set[str]]]) -> Any:
    """Return z^t ∼ N(0, 1) for t = 1, …, n, if it lacks the range and a statement that uses z^t has one."""
    draw = statement.sides[-1] if isinstance(statement, Equation) else None
    if not isinstance(draw, Draw) or not draw.labels or statement.range is not None:
        return statement
    users = [user for user, names in spoken if user is not statement and draw.name in names]
    over: Range | None = None
    for variable in sorted({name for part in draw.labels for name in component_names(part)}):
        ranges = {(range_.first, range_.last): range_ for user in users for range_ in counting(user, variable)}
        if len(ranges) > 1 or (not ranges and any(binds(user, variable) for user in users)):
            raise NotationError(
                114, f"the range of {variable} in {draw.name} is missing", source, statement.span,
                hint=f"write {source[slice(*statement.span)]} for {variable} = 1, …, n",
            )  # fmt: skip
        for range_ in ranges.values():
            least, most = offsets(draw.name, variable, users)
            first, last = (range_.last, range_.first) if range_.downward else (range_.first, range_.last)
            over = replace(range_, first=stepped(first, least), last=stepped(last, most), further=over, down=False)
    return replace(statement, range=over)


def counting(user: Any, variable: str) -> Iterator[Range]:
    """Return the ranges of a variable in a statement: its own, and the ranges of sums."""
    over = getattr(user, "range", None)
    yield from (range_ for range_ in (over.each if over is not None else ()) if range_.variable.text == variable)
    for node in walk(user):
        if isinstance(node, nodes.IndexSum) and node.variable.text == variable:
            yield Range(node.variable, node.first, node.last, node.span)


def binds(user: Any, variable: str) -> bool:
    """Return whether a variable is an index in a statement: of elements, of ∑_{t ∈ S}, or of a function's name."""
    head = user.sides[0] if isinstance(user, Equation) else None
    parts: list[Node] = [*head.superscript, *head.subscript] if isinstance(head, Call) else []
    for node in walk(user):
        parts += [index for _, index in node.items] if isinstance(node, nodes.Index) else []
        parts += [node.variable] if isinstance(node, nodes.Over) else []
    return any(variable in component_names(part) for part in parts)


def offsets(base: str, variable: str, users: Iterable[Any]) -> tuple[int, int]:
    """Return the offsets from t of the first and last members that equations use: −1 and 0 of z^{t-1} and z^t."""
    indices = {0}
    for node in (inner for user in users for inner in walk(user)):
        name = spelled(node) if isinstance(node, (nodes.Superscript, nodes.Subscript)) else None
        if name is not None and name.base == base:
            indices |= {
                by for part in (*name.superscript, *name.subscript) for of, by in [ahead_of(part)] if of == variable
            }
    return min(indices), max(indices)
