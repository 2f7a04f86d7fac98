"""Identify the closed form of a derivative: simplify it, factor it, and express it in defined names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Equation, Node

from ..calculus.record_formulas import AUXILIARY, expression
from ..core.sizes import resolve
from ..scope.names import Key, walk
from ..symbolic import algebra
from ..symbolic.factoring import clear_fractions, factor_form, multiply_out
from ..symbolic.facts import KnownFact
from ..symbolic.forms import Form, NamedValue, indices_of
from ..symbolic.from_terms import Forms, NotReadableError
from ..symbolic.known import fold_named_parts, recognize_functions, recognize_solve, simplify_update
from ..symbolic.linearizing import ReadingChecker, change_of
from ..symbolic.naming import NameReading, Where, names_left, read, words_of
from ..symbolic.spelling import MARKS, UnwritableError, size_node, with_axes
from ..symbolic.work import TooLongError, Work, current, tensor, working
from ..terms.environment import source_name
from ..terms.terms import Term, topological
from .program_facts import facts_of
from .reading import Shapes, definitions, find_named_term, needed, reading_checker

MAX_MEMBERS = 64  # The names of a family are searched up to this index.


def reading_of(
    checker: ReadingChecker, term: Term, tree: nodes.Program, taken: set[str] | None = None,
    called: Callable[[str], str] = str, without: Collection[str] | None = None,
) -> NameReading:  # fmt: skip
    """Return the closed form of a term.

    `called` maps its axes to names, and `taken` contains names that are already in use.

    The closed form may use the program's assumptions, except the assumptions named in `without`. If `without` is None,
    it ignores declared assumptions.
    """
    names = names_of(checker, term)
    if names or checker.scope.claims or checker.scope.declarations:
        current().facts = facts_of(checker, names, without)
    forms = Forms(names)
    words = words_of(tree)
    forms.cut_name = "G" if "G" not in words else next(names_left(words))
    form = forms.of(term)
    values = values_named(checker, names, forms) if names else []
    form = recognize_functions(fold_named_parts(form, values))
    outside = {index: called(axis) for index, axis in forms.outside().items()}
    form = algebra.add(form)
    standing = {outside[index] for index in indices_of(form) if index in outside}
    missing = [name for name in map(called, map(source_name, term.shape)) if name not in standing]
    for axis in term.shape if missing else ():
        known = sizes_of(checker, source_name(axis))
        if called(source_name(axis)) in missing and known and str(resolve(term.shape[axis])) not in known:
            raise UnwritableError(f"it is 1 along {source_name(axis)}, whose size no tensor has")
    taken = {"D", "I", "e"} | (taken or set()) | words_of(tree)

    def write(writer: Any, form: Form) -> Node:
        return with_axes(writer.form(form, outside), missing)

    if forms.cut:
        return read_parts(
            forms, lambda some: recognize_functions(fold_named_parts(some, values)), form, write, outside, taken
        )
    ways = dict.fromkeys(forms_of_one_value(form))
    return min((read(write, way, taken) for way in ways), key=lambda reading: reading.length)


def forms_of_one_value(form: Form) -> list[Form]:
    """Return equivalent forms of one value. The list ends early if the budget is used up."""
    budget = current().budget
    ways: list[Form] = []
    with budget.part():
        ways.append(factor_form(form))
    with budget.part():
        for shorter in (recognize_solve(form), simplify_update(form), clear_fractions(form)):
            ways.append(factor_form(shorter))
        ways.append(factor_form(clear_fractions(factor_form(form))))
        if any(factor.head.kind == "bracket" for product in form for factor in product.factors):
            ways.append(factor_form(multiply_out(form)))
    return ways or [form]


def sizes_of(checker: ReadingChecker, axis: str) -> set[str]:
    """Return the sizes of an axis in the inputs. For a starred axis, include the sizes of the axis without stars."""
    terms = (*checker.top.variables.values(), *checker.parameters.values())
    return {
        str(resolve(term.shape[name])) for term in terms for name in (axis, axis.rstrip(MARKS)) if name in term.shape
    }


def read_parts(forms: Forms, simplified: Any, form: Form, write: Any, outside: Any, taken: set[str]) -> NameReading:
    """Return a closed form in terms of named derivatives, with the closed forms of these derivatives."""
    names: list[Where] = []
    taken = taken | {cut.factor.head.label for cut in forms.cut}
    inside = {index: source_name(axis) for index, axis in outside.items()}  # The same names as in `name_derivative`.
    for cut in forms.cut:
        text = read(lambda writer, products: writer.form(products, inside), factor_form(simplified(cut.value)), taken)
        taken = taken | {name.name for name in text.names}
        names += [*text.names, Where(cut.factor.head.label, text.node)]
    whole = read(write, factor_form(form), taken)
    return NameReading(whole.node, (*names, *whole.names))


def names_of(checker: ReadingChecker, whole: Term) -> dict[int, str]:
    """Return a map from the id of each defined term to its name in the program.

    The term `whole`, inputs, numbers and terms with derivatives are left out.
    """
    names: dict[int, str] = {}
    for name in (*checker.scope.definitions, *members(checker)):
        term = find_named_term(checker, name)
        if term is None or term is whole or term.operator in ("input", "number", "unknown"):
            continue
        if not any(change_of(part) is not None for part in topological(term)):
            names[id(term)] = str(name)
    return names


def members(checker: ReadingChecker) -> Iterator[Key]:
    """Yield the names of family members, such as h^1, h^2, …. Skip families with scripts other than one index."""
    for family in checker.scope.families:
        base = family.key._replace(superscript=())
        if len(family.key.superscript) != 1 or family.key.subscript:
            continue
        for number in range(1, MAX_MEMBERS):
            name = base._replace(superscript=(str(number),))
            try:
                if checker.find(name, checker.top, None) is None:
                    break
            except NotationError:
                break
            yield name


def values_named(checker: ReadingChecker, names: Mapping[int, str], forms: Forms) -> list[NamedValue]:
    """Return each name whose value is a product of several factors, with this product."""
    parts: list[NamedValue] = []
    for name, term in definitions(checker, names):
        without = Forms({index: text for index, text in names.items() if index != id(term)})
        without.free = forms.free
        try:
            (product,) = without.of(term)
        except (NotReadableError, ValueError, ArithmeticError):
            continue
        of = forms.indices(term)
        if len(product.factors) > 1 and set(of) == product.indices():
            (factor,) = tensor(name, tuple(map(source_name, term.shape)), of)[0].factors
            parts.append(NamedValue(factor, (product,)))
    return parts


def list_facts_used(work: Work) -> list[KnownFact]:
    """Return the assumptions that the derivation of a form used."""
    return [fact for fact in work.facts.all if fact.name in work.rules]


@dataclass(frozen=True)
class DerivativeProgram:
    """A program whose value is a derivative in need of a closed form, with the shapes and sizes of its inputs."""

    source: str
    tree: nodes.Program
    shapes: Mapping[str, Mapping[str, Any]]
    sizes: Mapping[str, int]
    limit: int

    def of(self, tree: nodes.Program) -> DerivativeProgram:
        """Return a copy of the program with another syntax tree."""
        return replace(self, tree=tree)

    def checker(self, labels: Shapes | None = None) -> ReadingChecker:
        return reading_checker(self.source, self.tree, self.shapes, self.sizes, labels)

    def read(self, taken: set[str] | None = None, without: Collection[str] | None = ()) -> tuple[NameReading, Work]:
        """Return the closed form of the program's value, and the work of deriving it.

        The work counts the rules that were applied and contains the new axes.

        Raise NotationError if no closed form is known, or if the work exceeds the limit.
        """
        checker = self.checker()
        term = checker.whole()
        with working(limit=self.limit) as work:
            try:
                return reading_of(checker, term, self.tree, taken, without=without), work
            except TooLongError as problem:
                hint = "give parts names of their own, or a higher limit"
                raise checker.error(404, str(problem), self.tree, hint=hint) from None
            except (NotReadableError, UnwritableError, ArithmeticError) as problem:
                node = problem.term.node if isinstance(problem, NotReadableError) else None
                raise checker.error(
                    405, f"no closed form is known for this{f': {problem}' if str(problem) else ''}", node or self.tree,
                    hint="evaluate the derivative itself, which has a value",
                ) from None  # fmt: skip

    def with_needed_facts(self) -> tuple[NameReading, Work, list[KnownFact]]:
        """Return the closed form under as few declared assumptions as possible, the work, and these assumptions.

        The work counts the applications of each rule.
        """
        reading, work = self.read()
        if not work.facts.all:
            return reading, work, []
        without: set[str] = set()
        for fact in filter(attrgetter("declared"), list_facts_used(work)):
            try:
                other, work_without = self.read(without=without | {fact.name})
            except NotationError:
                continue
            if other == reading:
                work, without = work_without, without | {fact.name}
        return reading, work, list(filter(attrgetter("declared"), list_facts_used(work)))


def make_closed_program(
    tree: nodes.Program, reading: NameReading, title: str | Node = "D", before: tuple[Any, ...] = (),
    members: Mapping[str, Any] = MappingProxyType({}), given: Container[str] = (), facts: Iterable[KnownFact] = (),
) -> nodes.Program:  # fmt: skip
    """Return a program whose value is a closed form, with the definitions that it needs and its names.

    The program includes the declared assumptions that the form uses, so that an evaluation checks them. It also states
    the size of an axis that an operator creates, such as the ranks of a sort, if no tensor has this axis. If the
    program already uses the name `title`, choose another name.
    """
    lines = [Equation((expression(name.name), name.node)) for name in reading.names]
    if isinstance(title, str):
        taken = words_of(tree)
        letters = names_left(taken | {name.name for name in reading.names})
        title = expression(title if title not in taken else next(letters))
    expected = set(words_of(reading.node)).union(*(words_of(name.node) for name in reading.names))
    stated = [fact.node for fact in facts]
    chosen = needed(tree.statements[:-1], expected.union(*map(words_of, stated)))
    definitions = tuple(line for line in tree.statements[:-1] if line in chosen or line in stated)
    sizes = sizes_said((*(line.sides[1] for line in lines), reading.node), members, given)
    return nodes.Program((*sizes, *definitions, *lines, *before, Equation((title, reading.node))))


def sizes_said(formulas: tuple[Node, ...], members: Mapping[str, Any], given: Container[str] = ()) -> list[Equation]:
    """Return equations for the sizes of axes that only differentials create, such as |rank| = |a|.

    `given` contains the axes of inputs. These axes and their starred axes need no equations, because the inputs
    determine their sizes.
    """
    inside = [node for formula in formulas for node in walk(formula)]
    moved = {axis.name for node in inside if isinstance(node, nodes.Rename) for _, new in node.items for axis in new}
    names = {
        node.text if isinstance(node, nodes.Name) else node.name
        for node in inside
        if isinstance(node, (nodes.Name, nodes.Axis))
    }
    expected = [
        axis
        for axis in members
        if axis in names - moved
        and axis.rstrip(MARKS) not in given
        and (axis.rstrip("'") in AUXILIARY or str(members[axis]).isdigit())
    ]
    return [Equation((nodes.Size(nodes.Axis(axis)), size_node(str(members[axis])))) for axis in expected]
