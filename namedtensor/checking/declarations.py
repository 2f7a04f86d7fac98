"""Validate inputs against their declarations. Declared axes are bound, and undeclared axes are lifted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from grammar import nodes
from grammar.errors import SIZE_NEEDED, NotationError
from grammar.nodes import Node

from ..core.extents import Extent, is_size
from ..core.sizes import SizeVariable, is_ground, resolve, unify
from ..scope.names import Key, arithmetic, component_names, match_key, plain_key, read_spelling, walk
from ..scope.shape_variables import SPELLINGS, stand_for
from ..scope.symbols import SizeEquation
from ..terms.environment import Conflict, Environment, make_lifted_name
from ..terms.inference import Inference, InputType, format_shape
from ..terms.terms import Term
from .axis_sizes import unknown_size
from .given_sizes import agree_with_given
from .open_labels import size_in_sight, size_of_label
from .other_meanings import is_defined
from .unused_inputs import MentionedNames

AXIS_IN_SIZE = re.compile(r"\|([^|·+/ -]+)\|")  # Matches sizes such as |a| and |b| in |a|·|b|.


def prepare_inputs(checker: Inference, mentioned: MentionedNames) -> None:
    """Define the inputs in the program's environment, and lift axes that their declarations lack."""
    sizes: Any = checker.given_sizes
    for name, size in sizes.items():
        if isinstance(name, str) and not isinstance(size, bool) and isinstance(size, (int, Extent, SizeVariable)):
            checker.top.scalars[plain_key(name)] = size
            continue
        raise NotationError(308, f"the size of {name} must be an integer, got {size!r}")
    if any(spelling in checker.scope.source for spelling in SPELLINGS):
        checker.top.axes.update(stand_for(checker.scope, {key: input_.shape for key, input_ in checker.inputs.items()}))
    declared, sets = checker.scope.find_declared_sets(checker.inputs), DeclaredSets(checker)
    top, intern, sized = checker.top, checker.graph.intern, bool(checker.given_sizes)
    noted: set[int] = set()  # Ids of shapes that agree with all sizes so far. The members of a family share one shape.
    for key, input_ in checker.inputs.items():
        if input_.number is not None:
            sets.lifted(key, input_, declared[key])
            top.variables[key] = checker.graph.number(input_.number)
            continue
        text, pair = str(key), declared[key]
        position = None if pair is None else id(pair[0]), id(input_.shape)
        shape = sets.shapes.get(position)
        if shape is None:
            shape = sets.lifted(key, input_, pair)
        shape_copy = (
            shape if isinstance(shape, dict) else dict(shape)
        )  # Terms do not change shapes, so the members of a family share one shape.
        top.variables[key] = intern("input", options=(text,), shape=shape_copy, boolean=input_.boolean)
        if id(shape) in noted and key in mentioned.named:
            continue
        shape_copy = {a: s for a, s in shape.items() if "@" not in a} if "@" in "".join(shape) else shape
        if key not in mentioned.named:
            checker.unnamed.note_sizes(text, shape_copy)
            continue
        top.note_sizes(text, shape_copy)
        checker.sized |= shape_copy.keys()
        if sized and not checker.given_sizes.keys().isdisjoint(shape_copy):
            agree_with_given(checker, text, shape, shape_copy)
        if any(isinstance(top.sizes[axis], Conflict) for axis in shape_copy):
            noted.clear()
        elif position in sets.shapes:
            noted.add(id(shape))
    for name, size in checker.given_sizes.items():
        pair = checker.top.sizes.get(name)
        if pair is None:
            checker.top.sizes[name] = size


class DeclaredSet(NamedTuple):
    """The axes of a declared set, with their sizes and their positions in the source.

    `names` contains the axis names, and `words` contains the names in the sizes. If `is_plain` is true, neither the
    declaration nor the given sizes determine the size of any axis.
    """

    axes: list[tuple[str, Node | None, Any]]
    names: frozenset[str]
    words: frozenset[str]
    is_plain: bool


Declaration = tuple[nodes.Set, Mapping[str, Any]]  # A set, and the values of the indices in its declaration.


class DeclaredSets:
    """The declared sets of inputs, with the shapes of the inputs in each set."""

    def __init__(self, checker: Inference):
        self.checker: Inference = checker
        self.known: dict[int, DeclaredSet] = {}
        self.shapes: dict[tuple[int | None, int], Mapping[str, Any]] = {}  # By set and shape.

    def set(self, declared: nodes.Set) -> DeclaredSet:
        """Return the axes of a declared set. They are computed once, because all members of a family share a set."""
        declared_set = self.known.get(id(declared))
        if declared_set is None:
            axes, known = set_axes(self.checker, declared, self.checker.top), self.checker.given_sizes.keys()
            names, sizes = frozenset(axis for axis, _, _ in axes), [size for _, size, _ in axes if size is not None]
            words = frozenset(set[str]().union(*map(component_names, sizes)))
            declared_set = DeclaredSet(axes, names, words, not sizes and known.isdisjoint(names))
            self.known[id(declared)] = declared_set
        return declared_set

    def lifted(self, key: Key, given: InputType, declared: Declaration | None) -> Mapping[str, Any]:
        """Return an input's shape with its undeclared axes lifted, and record the sizes in its declaration."""
        if declared is None:
            shape, varies = given.shape, False
        else:
            result = self.set(declared[0])
            shape, varies = self.bound(key, given, result, declared[1]), not result.words.isdisjoint(declared[1])
        if not varies:
            self.shapes[None if declared is None else id(declared[0]), id(given.shape)] = shape
        return shape

    def bound(self, key: Key, given: InputType, declared: DeclaredSet, indices: Mapping[str, Any]) -> Mapping[str, Any]:
        checker, shape, names = self.checker, given.shape, declared.names
        if declared.is_plain and names == frozenset(shape):
            return shape
        env = Environment(parent=checker.top, indices=dict(indices))
        for axis, size, node in declared.axes:
            if axis not in shape:
                note = f"{key} : {format_shape(shape)}"
                raise axis_lacking(checker, key, axis, [name for name, _, _ in declared.axes], node, note)
            if size is not None and not is_ground(shape[axis]):
                bind_size(size, shape[axis], env)
            elif size is not None:
                where = f"{key} : {format_shape(shape)}"
                checker.solver.declared.append((SizeEquation(size, shape[axis], node.span, where), env))
            agree_with_given(checker, str(key), shape, [axis], node)
        return {axis if axis in names else make_lifted_name(axis, 0): size for axis, size in shape.items()}


def axis_lacking(
    checker: Inference, key: Key, axis: str, declared: list[str], node: Node, note: str,
    labels: Sequence[tuple[tuple[int, int], str]] = (),
) -> NotationError:  # fmt: skip
    """Return the error for an input that lacks a declared axis. `declared` lists all declared axes."""
    hint = f"give {key} with the axes {', '.join(declared)}"
    return checker.error(
        317, f"{key} is missing axis {axis} of its declaration", node, notes=(note,), hint=hint, labels=labels,
        symbol=str(key), axis=axis,
    )  # fmt: skip


def declaration(checker: Inference, key: Key) -> tuple[nodes.Set | None, Environment]:
    """Return the declared set of a top-level name and an environment with its indices. The set may be None."""
    declared = checker.scope.declaration(key)
    if declared is None and checker.infer_parameters and (key.superscript or key.subscript):
        declared = open_declaration(checker, key)
    if declared is None:
        return None, checker.top
    return declared[0], Environment(parent=checker.top, indices=dict(declared[1]))


def open_declaration(checker: Inference, key: Key) -> Declaration | None:
    """Return the declaration of a name with an open label, or None if there is none. For W^{n}, look up W^{1}."""
    sizes = {text: size_of_label(checker, text) for text in (*key.superscript, *key.subscript)}
    labels = {text: size for text, size in sizes.items() if type(size) is Extent}
    subscript, superscript = (tuple("1" if text in labels else text for text in script) for script in key[1:])
    pair = checker.scope.declaration(Key(key.base, subscript, superscript)) if labels else None
    for _, name, sets, _ in checker.scope.declarations:
        indices = match_key(name, key, checker.scope.indices)
        if pair is not None and indices is not None and sets[0] is pair[0]:
            return pair[0], {variable: labels.get(text, text) for variable, text in indices.items()}
    return None


def set_axes(checker: Inference, of: nodes.Set, env: Environment) -> list[tuple[str, Node | None, Any]]:
    result: list[tuple[str, Node | None, Any]] = []
    seen: set[str] = set()
    for axis, size in of.axes:
        for real in env.resolve_axis(axis.name):
            if real in seen:
                raise checker.error(
                    303, f"duplicate axis {real} in one shape", axis, hint="give each axis its own name"
                )
            seen.add(real)
            number = None if size is None else arithmetic(size, lambda name: None)
            if number is not None and number < 0:
                raise checker.error(
                    310, f"the size of {real} cannot be {number}", size, hint="a size must be a non-negative integer"
                )
            result.append((real, size, axis))
    return result


def local_declaration(checker: Inference, key: Key, env: Environment) -> tuple[nodes.Set | None, Environment]:
    for function in (outer.function for outer in env.outward):
        if function is not None and key in function.declarations:
            return function.declarations[key], env
    declared, declaring = declaration(checker, key)
    if declared is None:
        return None, env
    return declared, Environment(parent=env, sizes_parent=env, indices=declaring.indices)


def unknown_bound(checker: Inference, over: nodes.Range, env: Environment) -> NotationError:
    end = over.first if type(checker.solver.number(over.last, env)) is int else over.last
    return end_needed(checker, end, f"the range {checker.text(over)}", env)


def end_needed(checker: Inference, end: Node, what: str, env: Environment) -> NotationError:
    """Return the error for a range whose end is not a known integer. The error names the unknown symbol, such as n."""
    unknown, text = unknown_in(checker, end, env), checker.text(end)
    written = unknown.axis.name if isinstance(unknown, nodes.Size) else None
    axis = None if written is None else size_axis(written, env)
    name = text if unknown is None else axis or checker.text(unknown)
    is_number = isinstance(end, nodes.Number)
    if name == "∞":
        return checker.error(309, f"{what} needs a finite end", end, hint="write a number, such as 100")
    if isinstance(end, nodes.Index):
        return checker.error(
            309, f"{text} differs between positions, but {what} needs one number", end,
            hint=f"write the bound as a condition: ∑_{{j ≤ {text}}} …", symbol=name,
        )  # fmt: skip
    return checker.error(
        309, f"{text} is not an integer, but {what} needs one" if is_number else f"{text} has no value, but {what} needs one", end,
        hint="write an integer" if is_number else f"pass it: sizes={{{name!r}: 3}}", symbol=name, axis=axis,
        reason=None if unknown is None else SIZE_NEEDED,
        notes=() if axis == written else (f"{written} is {axis} in this call",),
    )  # fmt: skip


def size_axis(written: str, env: Environment) -> str:
    """Return the axis that an unknown size |ax| refers to. In a called function, it is the axis of the argument."""
    variable = size_in_sight(written, env)
    axes = AXIS_IN_SIZE.findall(str(variable)) if isinstance(variable, SizeVariable) else ()
    return axes[0] if axes else env.resolve_axis(written)[0]


def unknown_in(checker: Inference, end: Node, env: Environment) -> Node | None:
    """Return the first name or size without a known value in an expression, or None if all values are known.

    The search includes the definitions that the expression uses.
    """
    for part in walk(end):
        if isinstance(part, nodes.Size) or (isinstance(part, nodes.Name) and not is_tensor(checker, part, env)):
            if not is_size(checker.solver.value(part, env)):
                return part
        elif isinstance(part, nodes.Name) and checker.infer_parameters:
            for definition in checker.scope.definitions.get(Key(part.text), ()):
                unknown = None if definition.elements else unknown_in(checker, definition.body, env)
                if unknown is not None:
                    return unknown
    return None


def is_tensor(checker: Inference, name: nodes.Name, env: Environment) -> bool:
    """Return whether a name is defined or is an input, so that it may be a tensor rather than a size."""
    key = Key(name.text)
    return is_defined(checker, key, env) or any(key in outer.variables for outer in env.outward)


def make_parameter(checker: Inference, key: Key, declared: nodes.Set, env: Environment) -> Term:
    if key not in checker.parameters:
        shape = checker.declared_shapes.get(id(declared)) or make_shape(checker, declared, env)
        checker.parameters[key] = checker.graph.intern("input", options=(str(key),), shape=shape)
    return checker.parameters[key]


def make_members(checker: Inference, members: Sequence[Key]) -> dict[Key, Term]:
    """Create parameters for the members of a family, and return them by name.

    Return an empty dictionary unless all members are declared in one set with one shape. Also return an empty
    dictionary if the program defines a member, receives it as an input, or contains a derivative with respect to it.
    """
    scope, top, base = checker.scope, checker.top, members[0].base
    declared = scope.find_declared_sets(members)
    first = declared[members[0]]
    otherwise = {
        *scope.bases_of_families,
        *scope.varied,
        *scope.apart,
        *[definition.base for definition in scope.definitions],
    }
    if first is None or base in otherwise or not checker.infer_parameters:
        return {}
    for pair in map(declared.get, members):
        if pair is None or pair[0] is not first[0]:
            return {}
    if not (top.variables.keys().isdisjoint(members) and top.scalars.keys().isdisjoint(members)):
        return {}
    make_parameter(checker, members[0], first[0], Environment(parent=top, indices=first[1]))
    shape, parameters = checker.declared_shapes.get(id(first[0])), checker.parameters
    if shape is None:
        return {}
    for member in members:
        if member not in parameters:
            parameters[member] = checker.graph.intern("input", options=(str(member),), shape=shape)
    return {member: parameters[member] for member in members}


def make_shape(checker: Inference, declared: nodes.Set, env: Environment) -> dict[str, Any]:
    """Return the shape of a parameter from its declared set.

    If the set states no size for an axis, all members of a family share one size for this axis.
    """
    shape: dict[str, Any] = {}
    axes = set_axes(checker, declared, env)
    for axis, size, _ in axes:
        value = checker.solver.value(size, env) if size is not None else checker.solver.size_said(axis, env)
        if size is None and not is_ground(value):
            checker.top.sizes.setdefault(axis, value)
        shape[axis] = value if value is not None else unknown_size(checker, axis)
    words = set[str]().union(*[component_names(size) for _, size, _ in axes if size is not None])
    if words.isdisjoint(env.indices) and all(map(is_ground, shape.values())):
        checker.declared_shapes[id(declared)] = shape
    return shape


def check_member(checker: Inference, term: Term, of: nodes.Set, env: Environment, node: Node) -> None:
    axes = set_axes(checker, of, env)
    names = {axis for axis, _, _ in axes}
    have = {axis for axis in term.shape if "@" not in axis}
    if names != have:
        raise axes_differ(checker, term, node, names, of, f"{checker.text(node)} ∈ {checker.text(of)}")
    for axis, size, where in axes:
        value = None if size is None else checker.solver.value(size, env)
        if value is not None and not unify(value, term.shape[axis]):
            raise checker.error(
                308,
                f"axis {axis} has size {resolve(term.shape[axis])} here, but {checker.text(of)} declares {resolve(value)}",
                where,
                notes=(checker.describe_with_shape(node, term.shape),),
            )
        if size is not None and value is None:
            bind_size(size, term.shape[axis], env)
    values = domain_values(checker, of, env)
    if values is not None:
        checker.claim_terms.append((term, (of.domain, values), of.span, None))


def domain_values(checker: Inference, of: nodes.Set, env: Environment) -> tuple[Any, ...] | None:
    """Return the values that describe a restricted domain: 0 and 1 for {0, 1}, and n for [n].

    Return None if the domain is not restricted, or if a value is unknown.
    """
    values = [checker.solver.value(node, env) for node in of.elements]
    if of.domain in ("reals", "field") or not all(isinstance(value, (int, float)) for value in values):
        return None
    return tuple(values)


def bind_size(size: Node, actual: Any, env: Environment) -> None:
    """Bind a size name, such as n in seq[n], to the actual size of the axis."""
    name = read_spelling(size)
    if name is not None:
        env.scalars.setdefault(name.key(env.index), actual)


def axes_differ(checker: Inference, term: Term, node: Node, names: set[str], of: nodes.Set, text: str) -> NotationError:
    have = {axis for axis in term.shape if "@" not in axis}
    missing, extra = names - have, have - names
    parts: list[str] = []
    if extra:
        parts.append(f"has extra {_axes(extra)}")
    if missing:
        parts.append(f"is missing {_axes(missing)}")
    return checker.error(
        307,
        f"{checker.text(node)} {' and '.join(parts)}; expected {checker.text(of)}",
        node,
        notes=(checker.describe_with_shape(node, {a: s for a, s in term.shape.items() if "@" not in a}),),
        labels=((of.span, "declared here"),),
        hint=_repair(missing, extra),
    )


def _axes(names: set[str]) -> str:
    return ("axis " if len(names) == 1 else "axes ") + ", ".join(sorted(names))


def _repair(missing: set[str], extra: set[str]) -> str:
    """Return a suggestion for an expression that lacks declared axes or has undeclared axes."""
    if len(missing) == 1 and len(extra) == 1:
        return f"rename it: [ … ]_{{{next(iter(extra))}→{next(iter(missing))}}}"
    if not missing:
        return (
            f"add {', '.join(sorted(extra))} to the declared set, or reduce over {'it' if len(extra) == 1 else 'them'}"
        )
    if not extra:
        return f"remove {', '.join(sorted(missing))} from the declared set, or add a term that has {_axes(missing)}"
    return "make the expression and its declared set have the same axes"
