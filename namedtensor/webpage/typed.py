"""Types for all inputs of a formula: given types, declared types, or the smallest types that fit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any

from grammar.cache import cached_property
from grammar.errors import NotationError
from grammar.printer.runs import axes_in

from ..core.sizes import SizeVariable, resolve
from ..programs.arguments import shape_of, spelling_of
from ..programs.checks import CheckedProgram, check_goal_types
from ..programs.entries import WholeProgram, argument_names
from ..programs.parsed import ParsedProgram
from ..scope.names import read_spelling, two_spellings, walk
from ..scope.numbers_given import numbers_in
from ..terms.environment import source_name
from .guesses import guess_shapes, names_by_span
from .replies import number_of
from .requests import Request
from .sizes import choices

Items = tuple[tuple[str, Any], ...]
TRIES = 45  # of sizes
OF_SIZES = (204, 302, 308, 309, 310, 313)  # errors that other sizes may fix
NUMBER = 3  # for a number that a formula needs and no one gave


@dataclass(frozen=True)
class TypedInput:
    """An input on the page, which has axes with sizes, or is a number."""

    name: str
    axes: Mapping[str, int | None]
    origin: str
    number: int | float | None = None


@dataclass(frozen=True)
class TypedText:
    """A formula, checked with a type for each of its inputs. Its errors are in `problems` and `checked`."""

    goal: WholeProgram
    inputs: tuple[TypedInput, ...]
    sizes: Mapping[str, int]
    checked: CheckedProgram
    problems: tuple[tuple[str, NotationError], ...] = ()  # of the types that were given, by name

    @property
    def program(self) -> ParsedProgram:
        return self.goal.program

    @property
    def errors(self) -> tuple[NotationError, ...]:
        return (*(problem for _, problem in self.problems), *self.checked.result.errors)

    @property
    def given(self) -> dict[str, Any]:
        """The shapes and numbers of the inputs, by name, as plans accept them."""
        return {input_.name: dict(input_.axes) if input_.number is None else input_.number for input_ in self.inputs}

    @cached_property
    def axes(self) -> Mapping[str, int | None]:
        """All axes with their sizes, in the order in which they get colors."""
        fromkeys: dict[str, int | None] = dict.fromkeys(axes_in(self.program.tree))
        trace = self.checked.checker.trace if self.checked.checker is not None else ()
        shapes = [input_.axes for input_ in self.inputs] + list(self.checked.result.shapes.values())
        shapes += [term.shape for _, term, _ in trace]
        for shape in shapes:
            for axis, size in shape.items():
                if "@" not in axis and fromkeys.get(axis) is None:
                    fromkeys[axis] = number_of(size)
        return {axis: self.sizes.get(axis) if size is None else size for axis, size in fromkeys.items()}

    def right(self) -> TypedText:
        """Return the formula if it has no errors. Otherwise, raise the first error."""
        if self.errors:
            raise self.errors[0]
        return self


def read_typed_text(request: Request) -> TypedText:
    """Return the formula of a request with types for its inputs. Raise NotationError if it cannot be parsed."""
    inputs, sizes = tuple(request.inputs().items()), tuple(request.sizes().items())
    return make_typed_text(request.word("text", None), request.word("syntax", "auto"), inputs, sizes)


@lru_cache(maxsize=32)  # The page sends several requests for one text and its edits.
def make_typed_text(text: str, syntax: str, inputs: Items, extent: Items) -> TypedText:
    """Return a formula with types for all inputs, given some types in `inputs` and some sizes in `extent`."""
    goal, sizes = WholeProgram(ParsedProgram(text, syntax)), dict(extent)
    types_, problems = types_given(goal, dict(inputs))
    arguments = arguments_of(goal)
    shapes = with_numbers(goal, {**arguments, **types_}, sizes)
    free: set[str] = arguments.keys() - types_.keys() if has_no_signature(goal) else set()
    shapes = guess_shapes(goal, shapes, free, sizes)
    checked = check_goal_types(goal, shapes, sizes, None)
    origins = {
        **dict.fromkeys(shapes, "guessed"),
        **dict.fromkeys(arguments, "argument"),
        **dict.fromkeys(types_, "given"),
    }
    expected = inputs_of(goal, checked, shapes, origins)
    return with_all_sizes(TypedText(goal, expected, sizes, checked, problems))


def types_given(
    goal: WholeProgram, inputs: Mapping[str, str | int | float]
) -> tuple[dict[str, Any], tuple[tuple[str, NotationError], ...]]:
    """Return the types and numbers of the inputs in a formula, by name, and an error for each invalid type."""
    result: dict[str, Any] = {}
    problems: list[tuple[str, NotationError]] = []
    arguments = set(argument_names(goal))
    for name, value in inputs.items():
        try:
            if goal.program.names.has(name) or name in arguments:
                if spelling_of(name) in result:
                    raise two_spellings(name, inputs, spelling_of)
                result[spelling_of(name)] = value if isinstance(value, (int, float)) else shape_of(value, name)
        except NotationError as problem:
            message = f"{name}: {problem.message}"
            problems.append((name, problem.replace(message=message, source=None, span=None, notes=(), labels=())))
    return result, tuple(problems)


def arguments_of(goal: WholeProgram) -> dict[str, Any]:
    """Return the shapes of the arguments of the function that a program ends with.

    The shapes come from the function's signature. Without a signature, the arguments are scalars.
    """
    function = goal.function()
    if function is None:
        return {}
    domain = function.signature.domain if function.signature is not None else ()
    sets = [{axis.name: SizeVariable(f"|{axis.name}|") for axis, _ in declared.axes} for declared in domain]
    names = [str(name.key()) for name in function.parameters]
    return {name: sets[index] if index < len(sets) else {} for index, name in enumerate(names)}


def has_no_signature(goal: WholeProgram) -> bool:
    function = goal.function()
    return function is not None and function.signature is None


def with_numbers(goal: WholeProgram, shapes: dict[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return the shapes, and a number for each name whose value must be a number, such as n in a range."""
    asked = [name for name in dict.fromkeys(numbers_in(goal.program.scope)) if name not in shapes]
    names = names_by_span(goal.program.tree) if asked else {}
    for _ in asked:
        errors = check_goal_types(goal, shapes, sizes, None).result.errors
        missing = next((names.get(error.span) for error in errors if error.code in (201, 206, 309)), None)
        if missing is None or missing not in asked or missing in shapes:
            break
        shapes = {**shapes, missing: NUMBER}
    return shapes


def inputs_of(
    goal: WholeProgram,
    checked: CheckedProgram,
    shapes: Mapping[str, Mapping[str, Any] | int | float],
    origins: Mapping[str, str],
) -> tuple[TypedInput, ...]:
    """Return the inputs of a formula in the order of their first mention."""
    typed_inputs = {
        name: TypedInput(name, list_known_sizes(value), origins[name])
        if isinstance(value, Mapping)
        else TypedInput(name, {}, origins[name], value)
        for name, value in shapes.items()
    }
    for name, term in (checked.checker.parameters if checked.checker else {}).items():
        typed_inputs.setdefault(str(name), TypedInput(str(name), list_known_sizes(term.shape), "declared"))
    places = first_mentions(goal)
    return tuple(
        sorted(typed_inputs.values(), key=lambda typed_input: places.get(typed_input.name, (math.inf, math.inf)))
    )


def first_mentions(goal: WholeProgram) -> dict[str, tuple[float, float]]:
    """Return the span of the first mention of each name."""
    places = sorted(
        (node.span, str(name.key())) for node in walk(goal.program.tree) if (name := read_spelling(node)) is not None
    )
    return {name: span for span, name in reversed(places)}


def list_known_sizes(shape: Mapping[str, Any]) -> dict[str, int | None]:
    return {source_name(axis): number_of(size) for axis, size in shape.items()}


def with_all_sizes(typed: TypedText) -> TypedText:
    """Return the formula with sizes for all axes. Unknown sizes are chosen so that the formula is valid.

    If none of the tried sizes makes it valid, return the result with the fewest errors.
    """
    stated = {axis for given in typed.inputs for axis, size in given.axes.items() if size is not None} | {*typed.sizes}
    free = list(dict.fromkeys(axis for given in typed.inputs for axis in given.axes if axis not in stated))
    others = [axis for axis in typed.axes if axis not in {*free, *stated}]  # axes that the text introduces
    hopeless = any(error.code not in OF_SIZES for error in typed.checked.result.errors)
    marks, tries = meeting(typed), 1 if hopeless else TRIES
    first: TypedText | None = None
    for axes in (free, [*free, *others]):
        for chosen in islice(choices(sorted(axes, key=[*typed.axes].index), marks), tries):
            tried = fill_sizes(typed, chosen, {axis: size for axis, size in chosen.items() if axis not in free})
            if not tried.checked.result.errors and is_known(tried):
                return tried
            first = min(first or tried, tried, key=lambda one: len(one.checked.result.errors))
    assert first is not None
    return first


def is_known(typed: TypedText) -> bool:
    """Return whether all sizes of all computed values are known."""
    checker = typed.checked.checker
    shapes = [typed.checked.result.shape or {}, *(term.shape for _, term, _ in (checker.trace if checker else ()))]
    return all(number_of(size) is not None for shape in shapes for size in shape.values())


def fill_sizes(typed: TypedText, chosen: Mapping[str, int], further: Mapping[str, int]) -> TypedText:
    """Return the formula with sizes for the axes of its inputs. `further` contains sizes for its other axes."""
    sizes = {**typed.sizes, **further}
    known = {**typed.sizes, **chosen}
    inputs = tuple(
        replace(input_, axes={axis: known.get(axis) if size is None else size for axis, size in input_.axes.items()})
        for input_ in typed.inputs
    )
    text = replace(typed, inputs=inputs, sizes=sizes)
    return replace(text, checked=check_goal_types(typed.goal, text.given, sizes, None))


def meeting(typed: TypedText) -> dict[str, Any]:
    """Return a mark for each axis, keyed by name. Axes whose sizes must be equal have the same mark."""
    marks: dict[str, Any] = {}
    for shape in typed.checked.result.shapes.values():
        for axis, size in shape.items():
            marks.setdefault(source_name(axis), id(resolve(size)))
    return marks
