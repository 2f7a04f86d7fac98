"""Random variables whose distributions are stated separately, such as x ∼ N(0, 1) for 𝔼_x[x^2].

The expectation 𝔼_x[x^2] becomes 𝔼_{x ∼ N(0, 1)}[x^2]. A definition that the body uses, such as m = x^2 in 𝔼_x[m],
becomes a function of the random variables:

    x ∼ N(0, 1)                x ∼ N(0, 1)
    m = x^2                    m⟨x⟩(x) = x^2
    𝔼_x[m]                     𝔼_{x ∼ N(0, 1)}[m⟨x⟩(x)]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Draw, Equation, Expectation, Name, Node
from grammar.traversal import children, names_in, rebuilt

from .names import component_names, read_spelling, walk

INDEXED = (nodes.Range, nodes.IndexSum, nodes.Over)


def replace_stated_draws(source: str, program: nodes.Program) -> nodes.Program:
    """Return the program with the random variables and distributions of each expectation written out.

    Raise NotationError if a random variable has an index, but its statement has no range for this index.
    """
    counted = {node.variable.text for node in walk(program) if isinstance(node, INDEXED)}
    for node in walk(program):
        if isinstance(node, nodes.Index):
            counted = counted.union(*(names_in(position) for _, position in node.items))
    for statement in program.statements:
        draw = statement.sides[-1] if isinstance(statement, Equation) and statement.range is None else None
        labels = draw.labels if isinstance(draw, Draw) else ()
        variables = {name for part in labels for name in component_names(part)} & counted
        if isinstance(draw, Draw) and variables:
            raise NotationError(
                114, f"the range of {min(variables)} in {draw.name} is missing", source, statement.span,
                hint=f"write {source[slice(*statement.span)]} for {min(variables)} = 1, …, n",
            )  # fmt: skip
    return Stated(source, program).written_out()


class Stated:
    """The random variables of a program, and the names whose definitions depend on them."""

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
        self.needs = find_reached(direct, self.drawn.keys() | self.parameters)
        self.functions: dict[str, Equation] = {}

    def written_out(self) -> nodes.Program:
        statements = [self.turned(statement) for statement in self.program.statements]
        return replace(self.program, statements=(*statements, *self.functions.values()))

    def variables(self, names: Iterable[str]) -> set[str]:
        """Return the random variables among some names, and the random variables on which these names depend."""
        texts = set(names)
        for name in [*texts]:
            texts |= self.needs.get(name, set())
        return texts & self.drawn.keys()

    # ------------------------------------------------------------------------------------------------------ expectations
    def turned(self, node: Any) -> Any:
        """Return a tree in which each expectation states its random variables and their distributions."""
        return rebuilt(self.expectation(node) if isinstance(node, Expectation) else node, self.turned)

    def expectation(self, node: Expectation) -> Expectation:
        """Return an expectation with its distributions.

        They are added to 𝔼_x[…], and to 𝔼[…] if its body depends on random variables.
        """
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
            draws.append(self.lift_over_draws(replace(self.drawn[text], span=draw.span), before))
        stated = (names | named.keys()) & self.drawn.keys()
        return replace(node, draws=tuple(draws), body=self.lift_over_draws(node.body, stated))

    def made_of(self, text: str) -> set[str]:
        """Return the other random variables on which a random variable's distribution depends."""
        return self.variables(words(self.drawn[text])) - {text}

    def check_given(self, text: str, over: set[str], name: Name) -> None:
        """Raise NotationError if the distribution of `text` depends on a random variable that is not among `over`."""
        missing = sorted(self.made_of(text) - over)
        if missing:
            raise NotationError(
                114, f"the distribution of {text} depends on {', '.join(missing)}, which is random too", self.source, name.span,
                labels=((self.drawn[text].span, "declared here"),),
                hint=f"take the expectation over both: 𝔼_{{{', '.join([*missing, text])}}}[…]; use another name for a fixed {missing[0]}",
            )  # fmt: skip

    # ------------------------------------------------------------------------------------- definitions between as functions
    def lift_over_draws(self, node: Any, over: set[str], bound: frozenset[str] = frozenset()) -> Any:
        """Return a body in which each definition that depends on random variables is called as a function of them."""
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
        return rebuilt(node, lambda part: self.lift_over_draws(part, over, bound), apart=("variable",))

    def function_of(self, base: str, node: Node, over: list[str]) -> Call:
        """Return the call m⟨x⟩(x), which replaces a name m, and add a function m⟨x⟩ with the definition of m."""
        name = f"{base}⟨{', '.join(over)}⟩"
        arguments = tuple(Name(text, node.span) for text in over)
        call = Call(name, (), (), arguments, (), node.span, node.span)
        if name not in self.functions:
            equation = self.plain[base]
            self.functions[name] = equation  # under construction, to detect circular definitions
            body = self.lift_over_draws(equation.sides[1], {*over})
            self.functions[name] = Equation((call, self.turned(body)), span=equation.span)
        return call


def base_of(node: Any) -> str:
    """Return the name in an expression such as X_{h(i)} or X^l without scripts, or an empty string."""
    name = read_spelling(node.base if isinstance(node, nodes.Index) else node)
    return "" if name is None else name.base


def words(root: Any) -> set[str]:
    """Return the names and functions in a tree, except for the random variables of expectations within it."""
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
    """Return the names that are local to an equation, such as parameters, indices and range variables."""
    head = equation.sides[0]
    bound = set[str]() if equation.range is None else {*equation.range.variables}
    if isinstance(head, Call):
        bound |= {base_of(argument) for argument in (*head.arguments, *head.parameters)}
    if isinstance(head, nodes.Index):
        bound = bound.union(*(names_in(index) for _, index in head.items))
    return bound


def find_reached(direct: Mapping[str, set[str]], targets: Iterable[str]) -> dict[str, set[str]]:
    """Return, for each name, the targets on which it depends, directly or indirectly."""
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
