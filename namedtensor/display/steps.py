"""The steps of a formula for terminals and notebooks: the expression, type, value and definition of each step.

    EncoderBlock
      1. X : ℝ^{seq[2] × chans[3]}
      LayerNorm
        2. …

Each expression that the checker typed is a step. The steps are in the checker's order. Within a function, the extra
axes of its arguments have internal names (`seq@1`). A step shows their plain names, with a prime if the plain name is
already in use.
"""

from __future__ import annotations

import html
import os
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from grammar.cache import cached_property
from grammar.errors import NotationError
from grammar.nodes import Number
from grammar.plain_text import encodable
from grammar.printer.runs import axes_in

from ..core.axes import show
from ..core.kinds import require_path
from ..core.suggestions import Suggests, did_you_mean, near
from ..files.text import save
from ..scope.names import Key, component, key
from ..terms.environment import Environment, source_name
from ..terms.terms import Term, resolve_shape
from .colors import Tint, tints
from .derivations import Way, way_html, way_text
from .html import html_cell, html_piece, html_table, html_type
from .slides import slides

if TYPE_CHECKING:
    from ..checking.checker import Checker

Compute = Callable[[list[Term]], list[tuple[Any, tuple[str, ...], Any, Any]]]  # array, its axes, library, labels
LONGEST = 60  # the largest number of steps to show one by one; more steps get an overview


# -------------------------------------------------------------------------------------------------------- locations
class StepLocation(NamedTuple):
    """A definition in which a step appears: its name, such as FFN^2, and its name as written, such as FFN^l."""

    name: str
    written: str


def places(env: Environment) -> tuple[StepLocation, ...]:
    """Return the definitions that enclose an environment, outermost first."""
    locations: list[StepLocation] = []
    current: Environment | None = env
    while current is not None:
        function, definition = current.function, current.definition
        if definition is not None:
            locations.append(StepLocation(str(definition.name.key(current.index)), str(definition.key)))
        if function is not None:
            below = [text for of in function.subscript for text in write_component(of, current)]
            above = tuple(component(node, current.index) for node in function.head.superscript)
            locations.append(StepLocation(str(Key(function.operator, tuple(below), above)), function.title))
        current = current.caller if function is not None else current.parent
    return tuple(reversed(locations))


def write_component(part: tuple[str, str], env: Environment) -> tuple[str, ...]:
    """Return the axes or the number that a call passes for a subscript component, or else the component's text."""
    kind, text = part
    if kind == "axis":
        return tuple(map(source_name, env.axes.get(text, (text,))))
    return (str(env.index(text) or text),) if kind == "number" else (text,)


# ------------------------------------------------------------------------------------------------------ names of axes
class AxisNames:
    """Names for lifted axes, which are the same in all terms of a call.

    Primes distinguish axes that would have the same name in a term.
    """

    def __init__(self, trace: list[tuple[Any, Term, Environment]]):
        self.met: dict[int, dict[str, set[str]]] = {}
        for _, term, env in trace:
            axes = [axis for axis in term.shape if "@" in axis]
            for axis in axes:
                others = {other for other in term.shape if other != axis and source_name(other) == source_name(axis)}
                self.met.setdefault(id(call_of(env)), {}).setdefault(axis, set()).update(others)
        self.names = {call: distinct_names(met) for call, met in self.met.items()}

    def shape(self, term: Term, env: Environment) -> dict[str, Any]:
        """Return the shape of a term, in which lifted axes have their display names."""
        names = self.names.get(id(call_of(env)), {})
        return {names.get(axis, axis): size for axis, size in resolve_shape(term.shape).items()}


def call_of(env: Environment) -> Environment:
    """Return the environment of the call that contains an environment, or of the program if no call contains it."""
    while env.function is None and env.parent is not None:
        env = env.parent
    return env


def distinct_names(met: dict[str, set[str]]) -> dict[str, str]:
    """Return a name for each lifted axis that is different from the names of the other axes in the same terms."""
    result: dict[str, str] = {}
    for axis, others in met.items():
        taken = {result.get(other, other) for other in others}
        name = source_name(axis)
        while name in taken:
            name += "'"
        result[axis] = name
    return result


# ------------------------------------------------------------------------------------------------------------ steps
@dataclass(frozen=True)
class ExplainedStep(Suggests):
    """A step of an explanation: an expression in the formula, its type, the definitions around it, and its value."""

    text: str
    type: str
    inside: tuple[str, ...]
    node: Any
    place: tuple[StepLocation, ...]
    axes: dict[str, Any]
    term: Term
    values: StepValues

    @property
    def value(self) -> Any:
        """The value of the step. The values of all steps are computed together on first access."""
        return self.values[self]


class StepValues:
    """The values of all steps, computed together on first access.

    For each term, `compute` returns the array, its axes, its library and its labels.
    """

    def __init__(self, compute: Compute):
        self.compute = compute
        self.wanted: list[Term] = []

    def __getstate__(self) -> dict[str, Any]:  # values are keyed by term identity, so they are computed again
        return {"compute": self.compute, "wanted": self.wanted}

    def __getitem__(self, step: ExplainedStep) -> Any:
        from ..core.tensor import wrap

        array, order, xp, labels = self.computed[id(step.term)]
        names: dict[Any, Any] = dict(zip(step.term.shape, step.axes))
        value = wrap(array, tuple(names[axis] for axis in order), xp)
        return (
            value.with_labels({names.get(axis, axis): axis_labels for axis, axis_labels in labels.items()})
            if labels
            else value
        )

    @cached_property
    def computed(self) -> dict[int, tuple[Any, tuple[str, ...], Any, Any]]:
        terms = list({id(term): term for term in self.wanted}.values())
        return {id(term): result for term, result in zip(terms, self.compute(terms))}


def explanation(checker: Checker, root: Term, whole: Any, value: Any, compute: Compute) -> Explanation:
    """Return the explanation of a term that a checker has typed; `whole` is the whole formula or its name."""
    trace = [entry for entry in checker.trace[: checker.steps] if not isinstance(entry[0], Number)]
    names = AxisNames(trace)
    steps: list[ExplainedStep] = []
    seen: set[tuple[str, tuple[StepLocation, ...], int]] = set()
    values = StepValues(compute)
    for node, term, env in trace:
        text, locations = checker.text(node), places(env)
        if (text, locations, id(term)) not in seen:
            seen.add((text, locations, id(term)))
            steps.append(step(text, node, locations, names.shape(term, env), term, values))
    if not steps or (steps[-1].term is not root and steps[-1].term not in root.arguments):
        text = whole if isinstance(whole, str) else checker.text(whole)
        steps.append(step(text, whole, (), resolve_shape(root.shape), root, values))
    return Explanation(checker.scope.source, tuple(steps), value, axes_in(checker.scope.program))


def step(
    text: str, node: Any, locations: tuple[StepLocation, ...], axes: dict[str, Any], term: Term, values: StepValues
) -> ExplainedStep:
    values.wanted.append(term)
    return ExplainedStep(
        text, show(axes), tuple(location.name for location in locations), node, locations, axes, term, values
    )


def no_way() -> None:
    """Return None, because a value that is not a derivative has no derivation."""


@dataclass(frozen=True)
class Explanation(Suggests):
    """The steps of a formula in order of evaluation. They print as text in terminals and as a table in notebooks.

    For a derivative, the steps to its closed form follow, each with its rule; `derivation` returns them. If there are
    many steps, the table is an overview. `inside("FFN^2")` returns the steps of one definition or family.
    """

    source: str
    stages: tuple[ExplainedStep, ...]
    value: Any
    axes: tuple[str, ...]  # the axes that the formulas name, in the order of their colors
    derived: Callable[[], Way | None] = no_way  # the derivation of a derivative

    def __iter__(self) -> Iterator[ExplainedStep]:
        return iter(self.stages)

    def __len__(self) -> int:
        return len(self.stages)

    def __getitem__(self, position: int) -> ExplainedStep:
        return self.stages[position]

    def inside(self, name: str) -> Explanation:
        """Return an explanation with only the steps in the definition of a name, such as FFN^2.

        For a family, such as FFN^l or FFN, include the steps of all members.

        Raise NotationError if there are no such steps.

        >>> import namedtensor as nt
        >>> steps = nt.program("f(x) = 2 x\\ng(x) = f(x) + 1")["g"].explain(3)
        >>> [step.text for step in steps.inside("f")]
        ['x', '2 x']
        """
        expected = str(key(name))
        steps = [stage for stage in self.stages if any(expected in spellings(location) for location in stage.place)]
        if not steps:
            known = dict.fromkeys(location.name for stage in self.stages for location in stage.place)
            raise NotationError(201, f"no step belongs to {name}", hint=did_you_mean(near(expected, list(known))))
        values = StepValues(steps[0].values.compute)
        stages = tuple(step(other.text, other.node, other.place, other.axes, other.term, values) for other in steps)
        return Explanation(self.source, stages, stages[-1].value, self.axes)

    def to_html(self) -> str:
        """Return a standalone page that shows one step at a time. Arrow keys, page keys and buttons change the step."""
        return slides(self, colors_of(self))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page of `to_html` to a file that needs neither a network connection nor other files.

        Raise NotationError if the file cannot be written.

        >>> import namedtensor as nt
        >>> nt.explain("∑_{a} X", X=nt.tensor([1, 2], "a")).save("steps.html")  # doctest: +SKIP
        """
        save(require_path(path), self.to_html())

    @cached_property
    def derivation(self) -> Way | None:
        """Return the closed form of a derivative with its derivation, or None if the value has no derivation."""
        return self.derived()

    @encodable
    def __str__(self) -> str:
        text = overview_text(self) if len(self) > LONGEST else steps_text(self)
        way = self.derivation
        return text if way is None else f"{text}\nclosed form\n{textwrap.indent(way_text(way), '  ')}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        text = html_overview(self) if len(self) > LONGEST else html_steps(self)
        way = self.derivation
        return text if way is None else text + way_html(way, colors_of(self))


def colors_of(explanation: Explanation) -> dict[str, Tint]:
    """Return the color of each axis, which is the same wherever the steps are shown."""
    return tints([*explanation.axes, *(axis for stage in explanation for axis in stage.axes)])


def spellings(location: StepLocation) -> tuple[str, str, str]:
    return location.name, location.written, key(location.name).base


class Overview(NamedTuple):
    """A summary of a definition or family: its title, its depth, its number of steps, and its last step."""

    title: str
    depth: int
    size: int
    last: ExplainedStep


def group_steps(explanation: Explanation) -> Iterator[tuple[tuple[StepLocation, ...], list[tuple[int, ExplainedStep]]]]:
    """Yield the steps in groups of consecutive steps that belong to the same definitions, with their numbers."""
    for locations, group in groupby(enumerate(explanation.stages, 1), lambda entry: entry[1].place):
        yield locations, list(group)


def overview(explanation: Explanation) -> Iterator[Overview]:
    """Yield a summary for each definition that has steps. All members of a family share one summary."""
    rows: dict[tuple[str, ...], list[ExplainedStep]] = {}
    for stage in explanation.stages:
        rows.setdefault(tuple(location.written for location in stage.place), []).append(stage)
    for path, stages in rows.items():
        names = list(dict.fromkeys(stage.inside[-1] for stage in stages if stage.inside))
        title = ", ".join(names) if len(names) < 4 else f"{names[0]}, …, {names[-1]}"
        yield Overview(title, len(path), len(stages), stages[-1])


# --------------------------------------------------------------------------------------------------------- terminals
def steps_text(explanation: Explanation) -> str:
    from ..tensors.tables import text_table

    lines: list[str] = []
    before: tuple[StepLocation, ...] = ()
    for locations, group in group_steps(explanation):
        lines += ["  " * depth + name for depth, name in headings(before, locations)]
        before = locations
        margin = "  " * len(locations)
        for number, step in group:
            lines.append(f"{margin}{number}. {step.text} : {step.type}")
            lines += [f"{margin}     {line}".rstrip() for line in text_table(step.value).splitlines()]
    return "\n".join(lines)


def headings(before: tuple[StepLocation, ...], locations: tuple[StepLocation, ...]) -> list[tuple[int, str]]:
    """Return the depth and name of each definition that encloses a step but not the previous step."""
    common = len(os.path.commonprefix([before, locations]))
    return [(depth, location.name) for depth, location in enumerate(locations) if depth >= common]


def overview_text(explanation: Explanation) -> str:
    rows = [
        ("  " * row.depth + (row.title or "the formula itself"), str(row.size), row.last.type)
        for row in overview(explanation)
    ]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [f"{len(explanation)} steps; explanation.inside(…) shows those of one name"]
    lines += [f"{name:<{widths[0]}}  {count:>{widths[1]}}  {type}" for name, count, type in rows]
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------------------- pages
def html_steps(explanation: Explanation) -> str:
    tints = colors_of(explanation)
    rows: list[str] = []
    before: tuple[StepLocation, ...] = ()
    for locations, group in group_steps(explanation):
        names = headings(before, locations)
        rows += (html_cell(html.escape(name), depth, 'th colspan="4"') for depth, name in names)
        before = locations
        for number, stage in group:
            piece = html_cell(html_piece(stage.node, stage.text, tints), len(locations))
            type = html_type(stage.axes, tints)
            rows.append(f"<td>{number}</td>{piece}<td>{type}</td><td>{stage.value._repr_html_()}</td>")
    return html_table(("", "sub-formula", "type", "value"), rows)


def html_overview(explanation: Explanation) -> str:
    tints = colors_of(explanation)
    rows = (
        f"{html_cell(html.escape(row.title), row.depth)}<td>{row.size}</td><td>{html_type(row.last.axes, tints)}</td>"
        for row in overview(explanation)
    )
    caption = f"<caption>{len(explanation)} steps; inside(…) shows those of one name</caption>"
    return html_table(("definition", "steps", "type"), rows, caption)
