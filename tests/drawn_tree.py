"""The syntax tree of drawn programs, which is none of the package's, and how it is written as text.

A term says its form, its parts and its shape; `own_evaluator.py` says what each form means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

Shape = dict[str, int]


# ---------------------------------------------------------------------------------------------------------- the tree
@dataclass(frozen=True)
class Term:
    """A piece of a formula: `data` is what is no term, such as axes and names."""

    form: str
    parts: tuple[Term, ...] = ()
    data: tuple = ()
    shape: tuple[tuple[str, int], ...] = ()

    @property
    def sizes(self) -> Shape:
        return dict(self.shape)

    def walk(self) -> Iterator[Term]:
        yield self
        for part in self.parts:
            yield from part.walk()


@dataclass(frozen=True)
class Input:
    """A tensor that is given: its entries in the order of its axes, the last fastest. `declared` has the axes said of it."""

    name: str
    shape: tuple[tuple[str, int], ...]
    dtype: str
    entries: tuple
    declared: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Definition:
    """name = term = claim"""

    name: str
    term: Term
    claim: Term | None = None


@dataclass(frozen=True)
class Elements:
    """name_{axis(i), …} = term, each variable going over its axis."""

    name: str
    over: tuple[tuple[str, str], ...]
    term: Term


@dataclass(frozen=True)
class Family:
    """name^start = …, name^index = rule for index = low, …, high; down where high is less."""

    name: str
    index: str
    starts: tuple[tuple[int, Term], ...]
    rule: Term
    low: int
    high: int
    bound: str | None = None  # the input that says how far

    def span(self) -> range:
        return range(self.low, self.high + 1)


@dataclass(frozen=True)
class Function:
    """name_{over}(parameters; options) = body, and the definitions that belong to it. Without `gives` it has no signature."""

    name: str
    over: tuple[str, ...]
    parameters: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    body: Term
    gives: tuple[tuple[str, int], ...] | None
    options: tuple[str, ...] = ()
    facts: tuple[Any, ...] = ()
    of_one_axis: bool = False


@dataclass(frozen=True)
class Program:
    inputs: tuple[Input, ...]
    sizes: tuple[tuple[str, int], ...]  # stated: |a| = 3
    statements: tuple[Any, ...]
    out: Term
    families: tuple[tuple[str, tuple[str, ...], int], ...] = ()  # of parameters: W^l ∈ ℝ^{…} for l = 1, …, n
    made: tuple[tuple[str, int], ...] = ()  # sizes that are not stated, and are those of what the program makes

    @property
    def text(self) -> str:
        return "\n".join([*self.lines(), f"out = {written(self.out)}"])

    def lines(self) -> list[str]:
        lines = [f"|{axis}| = {size}" for axis, size in self.sizes]
        members = {f"{name}^{{{n}}}" for name, _, most in self.families for n in range(1, most + 1)}
        lines += [
            f"{input_.name} ∈ {field_of(input_.declared)}"
            for input_ in self.inputs
            if input_.declared is not None and input_.name not in members
        ]
        lines += [f"{name}^l ∈ {field_of(axes)} for l = 1, …, {most}" for name, axes, most in self.families]
        for statement in self.statements:
            lines += statement_lines(statement)
        return lines


def terms_of(thing: Any) -> Iterator[Term]:
    """Every term in a program or statement, with its parts."""
    if isinstance(thing, Term):
        yield from thing.walk()
    elif is_dataclass(thing):
        for field in fields(thing):
            yield from terms_of(getattr(thing, field.name))
    elif isinstance(thing, tuple):
        for field in thing:
            yield from terms_of(field)


# ------------------------------------------------------------------------------------------------------- how it is written
SUM, BIG, PRODUCT, PREFIX, BESIDE, CALLED, POSTFIX, ATOM = range(8)  # from the loosest to the tightest
INFIX = {"+": SUM, "−": SUM, "⊙": PRODUCT, "·": PRODUCT, "/": PRODUCT}
RELATIONS = ("=", "≠", "<", "≤", ">", "≥")


def field_of(axes: Any) -> str:
    return f"ℝ^{{{' × '.join(axes)}}}" if (axes := tuple(axes)) else "ℝ"


def listed(axes: Any) -> str:
    return ", ".join(axes)


def written(term: Term, least: int = SUM) -> str:
    """The term as text, in brackets where it binds looser than `least`."""
    text, level = WRITTEN[term.form](term)
    return text if level >= least else f"({text})"


def _number(term: Term) -> tuple[str, int]:
    value = term.data[0]
    if isinstance(value, str):
        return value, ATOM
    return (f"−{-value}", PREFIX) if value < 0 else (f"{value}", ATOM)


def _member(term: Term) -> tuple[str, int]:
    name, index, shift = term.data
    if index is None:
        return f"{name}^{{{shift}}}", POSTFIX
    return f"{name}^{{{index}{'+' if shift > 0 else '-'}{abs(shift)}}}" if shift else f"{name}^{{{index}}}", POSTFIX


def _infix(term: Term) -> tuple[str, int]:
    sign, (left, right) = term.data[0], term.parts
    level = INFIX[sign]
    after = written(right, level + 1)
    if sign == "/" and right.form in ("juxtaposed", "infix", "contract"):
        after = written(right, CALLED)
    if left.form == "sum over":
        return f"{written(left, PRODUCT)} {sign} {after}", level
    return f"{written(left, level)} {sign} {after}", level


def _power(term: Term) -> tuple[str, int]:
    base, exponent = term.parts
    return f"{written(base, ATOM)}^{{{written(exponent)}}}", POSTFIX


def _cases(term: Term) -> tuple[str, int]:
    *pairs, otherwise = term.parts
    rows = [f"{written(value)} if {written(test)}" for value, test in zip(pairs[::2], pairs[1::2])]
    return f"{{ {'; '.join([*rows, f'{written(otherwise)} otherwise'])} }}", ATOM


def _over(term: Term) -> tuple[str, int]:
    """A reduction or a function along axes."""
    name, axes, option = term.data
    (part,) = term.parts
    if name in ("∑", "∏"):
        return f"{name}_{{{listed(axes)}}} {written(part, PRODUCT)}", BIG
    more = "" if option is None else f"; {option}"
    return f"{name}_{{{listed(axes)}}}({written(part)}{more})", CALLED


def _contract(term: Term) -> tuple[str, int]:
    left, right = term.parts
    return f"{written(left, PRODUCT)} ⊙_{{{listed(term.data[0])}}} {written(right, PREFIX)}", PRODUCT


def _subscripted(inside: Callable[[Term], str]) -> Callable[[Term], tuple[str, int]]:
    def write(term: Term) -> tuple[str, int]:
        first = term.parts[0]
        text = first.data[0] if first.form == "name" else f"[{written(first)}]"
        return f"{text}_{{{inside(term)}}}", POSTFIX

    return write


def _index(term: Term) -> tuple[str, int]:
    axes, spelling = term.data
    first, *indices = term.parts
    if spelling == "index":
        return f"index_{{{axes[0]}}}({written(first)}, {written(indices[0])})", CALLED
    return _subscripted(lambda _: listed(f"{axis}({written(at)})" for axis, at in zip(axes, indices)))(term)


def _literal(term: Term) -> tuple[str, int]:
    axes, columns = term.data
    cells = [written(part) for part in term.parts]
    rows = [listed(cells[start : start + columns]) for start in range(0, len(cells), columns)]
    return f"[{'; '.join(rows)}]_{{{listed(axes)}}}", ATOM


def _sum_over(term: Term) -> tuple[str, int]:
    sign, variable, low, high = term.data
    bounds = variable if low is None else f"{variable}={low}"
    above = "" if low is None else f"^{{{high}}}"
    return f"{sign}_{{{bounds}}}{above} {written(term.parts[0], PRODUCT)}", BIG


def _derivative(term: Term) -> tuple[str, int]:
    name, mark = term.data
    return f"∂({written(term.parts[0])})/∂{name}{mark}", PRODUCT


def _call(term: Term) -> tuple[str, int]:
    name, axes, options = term.data
    most = len(term.parts) - options
    texts = [written(part) for part in term.parts]
    more = f"; {listed(texts[most:])}" if options else ""
    over = f"_{{{listed(axes)}}}" if axes else ""
    return f"{name}{over}({listed(texts[:most])}{more})", CALLED


def _applied(term: Term) -> tuple[str, int]:
    """exp(x), unroll_{a,k}(x), max(x, y): a name, its axes, its operands."""
    name, *axes = term.data
    over = f"_{{{listed(axes)}}}" if axes else ""
    return f"{name}{over}({listed(map(written, term.parts))})", CALLED


def _logic(term: Term) -> tuple[str, int]:
    sign = term.data[0]
    if sign == "¬":
        return f"¬({written(term.parts[0])})", PREFIX
    return f" {sign} ".join(f"({written(part)})" for part in term.parts), SUM


WRITTEN: dict[str, Callable[[Term], tuple[str, int]]] = {
    "number": _number,
    "name": lambda term: (term.data[0], ATOM if term.data[0].isalpha() else POSTFIX),
    "member": _member,
    "size": lambda term: (f"|{term.data[0]}|", ATOM),
    "made": lambda term: (f"{term.data[0]}_{{{listed(term.data[1])}}}", POSTFIX),
    "negative": lambda term: (f"−{written(term.parts[0], BESIDE)}", PREFIX),
    "prefixed": lambda term: (f"{term.data[0]} {written(term.parts[0], POSTFIX)}", PREFIX),
    "root": lambda term: (f"√({written(term.parts[0])})", CALLED),
    "applied": _applied,
    "infix": _infix,
    "juxtaposed": lambda term: (" ".join(written(part, POSTFIX) for part in term.parts), BESIDE),
    "power": _power,
    "cases": _cases,
    "indicator": lambda term: (f"𝕀[{written(term.parts[0])}]", ATOM),
    "relation": lambda term: (f" {term.data[0]} ".join(written(part, SUM) for part in term.parts), SUM),
    "property": lambda term: (f"{written(term.parts[0], ATOM)} {term.data[0]}", SUM),
    "logic": _logic,
    "over": _over,
    "contract": _contract,
    "rename": _subscripted(lambda term: listed(f"{old}→{new}" for old, new in term.data)),
    "star": lambda term: (f"({written(term.parts[0])})^{term.data[0]}", POSTFIX),
    "merge": _subscripted(lambda term: f"({listed(term.data[0])})→{term.data[1]}"),
    "split": _subscripted(lambda term: f"{term.data[0]}→({listed(term.data[1])})"),
    "slice": _subscripted(lambda term: f"{term.data[0]}({term.data[1]}:{term.data[2]})"),
    "index": _index,
    "concat": lambda term: (
        f"{written(term.parts[0], PRODUCT)} ⊕_{{{term.data[0]}}} {written(term.parts[1], PREFIX)}",
        PRODUCT,
    ),
    "literal": _literal,
    "sum over": _sum_over,
    "derivative": _derivative,
    "call": _call,
}


def statement_lines(statement: Any) -> list[str]:
    if isinstance(statement, Definition):
        claim = "" if statement.claim is None else f" = {written(statement.claim)}"
        return [f"{statement.name} = {written(statement.term)}{claim}"]
    if isinstance(statement, Elements):
        places = listed(f"{axis}({variable})" for axis, variable in statement.over)
        return [f"{statement.name}_{{{places}}} = {written(statement.term)}"]
    if isinstance(statement, Family):
        starts = [f"{statement.name}^{{{at}}} = {written(term)}" for at, term in statement.starts]
        index, last = statement.index, statement.bound or statement.high
        rule = f"{statement.name}^{index} = {written(statement.rule)} for {index} = {statement.low}, …, {last}"
        return [*starts, rule]
    lines = []
    over = f"_{{{listed(statement.over)}}}" if statement.over else ""
    if statement.gives is not None:
        domain = " × ".join(field_of(axis for axis, _ in shape) for _, shape in statement.parameters)
        gives = field_of(axis for axis, _ in statement.gives)
        lines.append(f"{statement.name}{over} : {domain} → {gives}")
    names = listed(name for name, _ in statement.parameters)
    more = f"; {listed(statement.options)}" if statement.options else ""
    lines.append(f"{statement.name}{over}({names}{more}) = {written(statement.body)}")
    for fact in statement.facts:
        lines += statement_lines(fact)
    return lines


def names_in(thing: Any) -> set[str]:
    data = {term.data[0] for term in terms_of(thing) if term.form in ("name", "member", "call", "derivative")}
    return data | {
        item.bound
        for item in (thing if isinstance(thing, (list, tuple)) else (thing,))
        if isinstance(item, Family) and item.bound
    }
