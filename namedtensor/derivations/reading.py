"""Check programs whose derivatives are to be identified, and slice programs.

Only this module creates these checkers. A slice contains the statements that a formula needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from grammar import nodes

from ..operators import REGISTRY
from ..operators.user_functions import IN_USE, NO_OPERATORS, USER_FUNCTIONS, get_functions
from ..scope.binder import bind
from ..scope.names import Key, index_by_key, read_spelling, walk
from ..scope.uses import reach
from ..symbolic.linearizing import ReadingChecker, change_of
from ..symbolic.naming import words_of
from ..terms.inference import InputType
from ..terms.terms import Term, topological

Shapes = Mapping[str, Mapping[str, Any]]


def reading_checker(
    source: str, program: nodes.Program, shapes: Shapes, sizes: Mapping[str, int] | None, labels: Shapes | None = None
) -> ReadingChecker:
    """Return a checker for a program with inputs of these shapes.

    `labels` contains additional inputs, such as x^t. Each is a single name.
    """
    inputs = index_by_key({name: InputType(dict(shape)) for name, shape in shapes.items()})
    inputs |= {Key(name): InputType(dict(shape)) for name, shape in (labels or {}).items()}
    about = equations_about_themselves(program)
    given = {name: frozenset(of.shape) for name, of in inputs.items() if name.base in about}
    if about:
        given |= {name: axes for name, axes in find_declared_axes(program) if name.base in about}
    return ReadingChecker(
        bind(source, program, given),
        inputs,
        dict(sizes or {}),
        infer_parameters=True,
        python=USER_FUNCTIONS if IN_USE.get() is NO_OPERATORS else get_functions(),
    )


def equations_about_themselves(program: nodes.Program) -> set[str]:
    """Return the names that occur on both sides of an equation, such as S in S = S_{a→b, b→a}.

    If such a name is given, its equation does not define it.
    """
    return {
        word
        for equation in equations_of(program)
        if equation.range is None
        for word in words_of(equation.sides[0])
        if any(word in words_of(side) for side in equation.sides[1:])
    }


def equations_of(program: nodes.Program) -> list[nodes.Equation]:
    """Return the equations among the statements of a program."""
    return [statement for statement in program.statements if isinstance(statement, nodes.Equation)]


def find_declared_axes(program: nodes.Program) -> Iterator[tuple[Key, frozenset[str]]]:
    """Yield each declared tensor with its axes."""
    for statement in program.statements:
        if isinstance(statement, nodes.Declaration) and statement.range is None:
            axes = frozenset(axis.name for axis, _ in statement.sets[0].axes)
            names = (read_spelling(name) for name in statement.names)
            yield from ((name.key(), axes) for name in names if name is not None)


def needed(statements: tuple[Any, ...], words: set[str]) -> tuple[Any, ...]:
    """Return the statements that define or declare the given names, and all statements that they depend on."""
    defined = [find_defined_names(statement) for statement in statements]

    def about(names: set[str]) -> list[int]:
        return [at for at, heads in enumerate(defined) if heads & names]

    chosen = reach(about(words), lambda at: about(find_names(statements[at])))
    return tuple(line for at, line in enumerate(statements) if at in chosen)


def find_names(node: Any) -> set[str]:
    """Return the names and operators in an expression or a statement."""
    return words_of(node) | {part.operator for part in walk(node) if isinstance(part, nodes.Call)}


def words_in(program: nodes.Program) -> set[str]:
    """Return the names that are not available for new names, because the program or a closed form uses them."""
    return words_of(program) | {"D", "I", "e"}


def base_of(node: Any) -> Any:
    """Return the name in an expression without its scripts and indices."""
    while hasattr(node, "base"):
        node = node.base
    return node


def find_defined_names(statement: Any) -> set[str]:
    """Return the names or functions that a statement defines or declares."""
    if isinstance(statement, nodes.Equation):
        heads: tuple[Any, ...] = statement.sides[:1]
    elif isinstance(statement, nodes.Declaration):
        heads = statement.names
    elif isinstance(statement, nodes.Signature):
        return {statement.head.operator}
    else:
        return set()
    defined: set[str] = set()
    for head in map(base_of, heads):
        if not isinstance(head, nodes.Call):
            defined |= words_of(head)
        elif head.operator not in REGISTRY or head.operator.isidentifier():  # W ⊙_{b} V = I_{a,c} does not define ⊙.
            defined.add(head.operator)
    return defined


def definitions(checker: ReadingChecker, names: Mapping[int, str]) -> list[tuple[str, Term]]:
    """Return the defined names and their terms. Each name comes after the names on which it depends."""
    terms: dict[str, Term] = {}
    for name in checker.scope.definitions:
        term = find_named_term(checker, name)
        if term is not None and id(term) in names:
            terms[names[id(term)]] = term
    return sorted(terms.items(), key=lambda pair: sum(1 for _ in topological(pair[1])))


def find_named_term(checker: ReadingChecker, name: Key) -> Term | None:
    """Return the term of a name in the program, or None if the name is undefined."""
    term = checker.find(name, checker.top, None)
    while term is not None and term.operator == "variable" and change_of(term) is None:
        term = term.arguments[0]
    return term
