"""Diagrams of a program, made in three stages: the types of its inputs, the flow of its values, and the drawing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from grammar.errors import NotationError
from grammar.nodes import Name
from grammar.printer.runs import axes_in

from ..checking.checker import Checker
from ..core.kinds import require_mapping, require_names
from ..core.settings import recursion_headroom
from ..core.sizes import is_ground, resolve
from ..core.suggestions import did_you_mean, near
from ..display.colors import tints
from ..display.diagram import Diagram
from ..display.flow import Flow
from ..display.flow_data import Asked
from ..display.flow_graph import FlowGraph
from ..scope.names import Key, index_by_key, key, walk
from ..scope.symbols import Scope
from ..terms.inference import InputType
from .arguments import shape_of, whole_sizes
from .entries import Arguments, Entry, WholeProgram, argument_types
from .open_lengths import ends_needed


def diagram(
    goal: WholeProgram | Entry,
    arguments: tuple[Any, ...],
    shapes: Mapping[str, Any],
    sizes: Mapping[str, int] | None,
    expand: str | Collection[str],
    values: Mapping[str, Any] | None,
) -> Diagram:
    """Return the diagram of a goal; see `Verbs.diagram`."""
    program = goal.program
    stated = whole_sizes(sizes)
    values = require_mapping(values, "values=", 'write values={"W": W}')
    expand = require_names(expand, "expand=", 'write expand="FFN"')
    opened = check_names(program.scope, shapes, expand)
    types = index_by_key({name: InputType(shape_of(shape, name)) for name, shape in {**values, **shapes}.items()})
    scope = program.scope_given(types)
    entry = goal.last(scope)
    called = entry.called(program.checker({}, scope=scope)) if entry is not None else None
    argument_inputs = (
        argument_types(entry, called[0], arguments, types) if entry is not None and called is not None else []
    )
    names = {name for name, _ in argument_inputs}
    inputs = {name: shape for name, shape in types.items() if name not in names}
    declared = () if shapes or called is not None else program.declared  # The declared names are the inputs.
    data = frozenset({key(name) for name in (*shapes, *declared)} - names)
    shown = [shape.shape for name, shape in (*types.items(), *argument_inputs) if name in data or name in names]
    asked = Asked(data, frozenset(opened), stated, tuple(sorted(shown, key=len, reverse=True)))
    terms = [(str(name), shape) for name, shape in argument_inputs]
    with recursion_headroom(scope.source):
        checker, ends = type_single_members(entry or goal, scope, inputs, stated, terms)
        flow = Flow(checker, asked)
        function = (
            flow.function(called[0]) if called is not None else flow.value(scope.last if entry is None else entry.key)
        )
    if function is None:
        raise NotationError(
            206, f"{'the formula' if entry is None else entry.name} uses none of the inputs",
            hint='pass the types of its inputs by name: X="ℝ^{seq × chans}"',
        )  # fmt: skip
    axes = [*axes_in(program.tree), *(axis for node in flow.root.everything() for axis in node.axes)]
    sizes = {axis: size for axis, size in sizes_in(flow.root).items() if axis not in ends}
    return Diagram(flow.root, tints(axes), sizes)


def check_names(scope: Scope, shapes: Mapping[str, Any], expand: Collection[str]) -> set[str]:
    """Return the normalized names of the calls to expand. Raise NotationError if the formulas do not contain a name."""
    words = {node.text for node in walk(scope.program) if isinstance(node, Name)} | set(scope.functions)
    opened = {str(key(name)) for name in expand}
    for name in (*shapes, *opened):
        if key(name).base not in words:
            raise NotationError(
                201, f"the formulas do not contain {name}", hint=did_you_mean(near(name, sorted(words)))
            )
    return opened


def type_single_members(
    goal: WholeProgram | Entry, scope: Scope, inputs: Mapping[Key, InputType], sizes: Mapping[str, int], arguments: Arguments,
) -> tuple[Checker, set[str]]:  # fmt: skip
    """Return a checker that has typed the goal, and the names of the range ends that no input determines.

    Each of these range ends has the value 1, because the diagram draws a family only once.
    """
    ends: set[str] = set()
    while True:
        checker = goal.program.checker(inputs, {**dict.fromkeys(ends, 1), **sizes}, scope=scope, infer_parameters=True)
        checker.shows_layers = True
        try:
            goal.terms(checker, arguments)
        except NotationError as problem:
            needed = ends_needed((problem,)).keys() - ends
            if not needed:
                raise
            ends |= needed
        else:
            return checker, ends


def sizes_in(graph: FlowGraph) -> dict[str, Any]:
    """Return the size of each axis whose size is known and the same in the whole diagram."""
    result: dict[str, set[Any]] = {}
    for node in graph.everything():
        for axis, size in node.axes.items():
            result.setdefault(axis, set()).add(resolve(size) if is_ground(size) else None)
    return {axis: size for axis, sizes in result.items() if len(sizes) == 1 and (size := next(iter(sizes))) is not None}
