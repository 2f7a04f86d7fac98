"""Calls of the functions that a program defines, for the reference evaluator.

A call of a function with a signature is the definition of lifting itself, [f(X, Y)]_s = f(X_s, Y_s): its body meets only
the axes of the signature.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Name, axis_of

from ..scope.mentions import OF_AXES
from ..scope.names import Key, component, walk
from ..scope.symbols import Claim, FunctionDefinition
from .claims import Claims
from .definitions import Tensor, lift, rename
from .environment import Environment, set_axes
from .names import CALLS
from .sizes import facts_in


class Calls(Claims):
    """The calls of one program's own functions."""

    calls: int
    values: Callable[..., list[Tensor]]

    def call_defined(self, function: FunctionDefinition, bound: dict[str, Any], node: Call, env: Environment) -> Tensor:
        arguments = self.values((*node.arguments, *node.parameters), env)
        count = len(function.parameters) if not node.parameters else len(node.arguments)
        numbers = {name: self.value(part, env) for name, part in bound["numbers"].items()}
        return self.apply_function(function, bound, numbers, arguments[:count], arguments[count:], env)

    def apply_function(
        self, function: FunctionDefinition, bound, numbers, arguments, options, caller: Environment
    ) -> Tensor:
        """f(X; W): where f has a signature, for every record of the extra axes, f of the parts of its arguments there."""
        if len(arguments) != len(function.parameters) or len(options) > len(function.options):
            given = f"{len(arguments)} arguments and {len(options)} options"
            raise NotationError(304, f"{function.title} was given {given}")
        options = [*options, *(self.option_named(function, name.key()) for name in function.options[len(options) :])]
        needed = needed_axes(function, bound["axes"], [*arguments, *options])
        met = self.meeting(function, bound["axes"], [*arguments, *options])
        if met is not None:
            return self.apply_with_renamed_axes(met, function, bound, numbers, arguments, options, caller)
        mark = (id(function), str(bound["indices"]), str(numbers))
        if mark in self.busy:
            raise NotationError(203, f"circular definition of {function.title}")

        def result(*parts: Tensor) -> Tensor:
            return self.body(function, bound, numbers, parts, caller)

        self.busy.add(mark)
        try:
            return lift(result, [*arguments, *options], needed)
        finally:
            self.busy.discard(mark)

    def meeting(
        self, function: FunctionDefinition, axes: dict[str, tuple[str, ...]], tensors: list[Tensor]
    ) -> str | None:
        """An axis of this use that is also one of the body's own, and that each argument over it has."""
        if function.signature is None:
            return None
        own = axes_of_body(function)
        for formal, real in ((formal, real) for formal, reals in axes.items() for real in reals if real in own):
            sets = [*function.signature.domain, *(function.declarations.get(name.key()) for name in function.options)]
            due = [of is None or formal in {axis.name for axis, _ in of.axes} for of in sets]
            if any(due) and all((real in X.shape) == wanted for X, wanted in zip(tensors, due)):
                return real
        return None

    def apply_with_renamed_axes(
        self, axis: str, function: FunctionDefinition, bound, numbers, arguments, options, caller: Environment
    ) -> Tensor:
        """g_{c}(V) as g_{c'}(V_{c→c'}), where the body has an axis c of its own."""
        named = {each.name for each in walk(self.scope.program) if isinstance(each, nodes.Axis)} | axes_of_body(
            function
        )
        named = named.union(*(X.shape for X in (*arguments, *options, *self.top.variables.values())))
        other = axis + "'"
        while other in named:
            other += "'"

        def turned(X: Tensor, old: str, new: str) -> Tensor:
            return rename(X, {each: new + each[len(old) :] for each in X.shape if each.rstrip("*†‡") == old})

        axes = {
            formal: tuple(other if real == axis else real for real in reals) for formal, reals in bound["axes"].items()
        }
        parts = [turned(X, axis, other) for X in (*arguments, *options)]
        count = len(arguments)
        value = self.apply_function(function, {**bound, "axes": axes}, numbers, parts[:count], parts[count:], caller)
        return turned(value, other, axis)

    def option_named(self, function: FunctionDefinition, name: Key) -> Tensor:
        """A parameter after the semicolon that the call leaves out: the input or tensor of that name."""
        found = self.find(name, self.top) if name in self.top.variables or name not in function.declarations else None
        if found is None:
            raise NotationError(206, f"{name} is a parameter of {function.title}, and no value was given for it")
        return found

    def body(self, function: FunctionDefinition, bound, numbers, parts, caller: Environment) -> Tensor:
        """The value of a function's body for arguments that have no extra axes."""
        self.calls += 1
        if self.calls > CALLS:
            raise NotationError(404, f"functions are called more than {CALLS} times here")
        names = [name.key() for name in (*function.parameters, *function.options)]
        signature = function.signature
        inner = Environment(
            parent=self.top, sizes_from=caller, function=function,
            variables={**dict(zip(names, parts)), **{Key(text): value for text, value in numbers.items()}},
            axes=bound["axes"], indices=bound["indices"],
        )  # fmt: skip
        for name, X in zip(names, parts):
            if name in function.declarations:
                inner.facts += self.sizes_of(function.declarations[name], X, inner)
        for of, X in zip(signature.domain if signature else (), parts):
            inner.facts += self.sizes_of(of, X, inner)
        value = self.value(function.body, inner)
        for of in (*((signature.codomain,) if signature else ()), *function.statement.sets):
            self.check_member(value, of, inner)
        self.check_facts([*facts_in(function.sizes, inner), *inner.facts])
        for claim in (*function.local_claims, *(Claim(function.body, other, (0, 0)) for other in function.claims)):
            self.check_claim(claim, inner)
        self.check_members(set(function.facts), function.families, inner)
        return value

    def matching(self, node: Call, env: Environment) -> tuple[FunctionDefinition | None, dict[str, Any]]:
        """The function that a use means, and what its head binds: f^1 before f^l, then the one spelled exactly so."""
        found = []
        for function in self.scope.functions.get(node.operator, []):
            bound = self.match(function, node, env)
            same = (function.head.subscript, function.head.superscript) == (node.subscript, node.superscript)
            if bound is not None:
                misfit = function.misfit(len(node.arguments), len(node.parameters))
                indices = len(bound["numbers"]) + len(bound["indices"])
                found.append((misfit, indices, not same, function.open, len(found), function, bound))
        if not found and node.operator in self.scope.functions:
            raise NotationError(201, f"no definition of {node.operator} fits this use")
        return min(found)[5:] if found else (None, {})

    def match(self, function: FunctionDefinition, node: Call, env: Environment) -> dict[str, Any] | None:
        """What each component of a head stands for in this use: an axis, a number, an index, or just its label."""
        heads = list(function.subscript)
        if len(heads) == 1 and heads[0][0] == "axis":
            heads *= max(1, len(node.subscript))  # one axis of a head stands for as many as the use names
        if (len(heads), len(function.superscript)) != (len(node.subscript), len(node.superscript)):
            return None
        bound: dict[str, Any] = {"axes": {}, "numbers": {}, "indices": {}}
        for (kind, text), part in zip((*heads, *function.superscript), (*node.subscript, *node.superscript)):
            use = component(part, env.index)
            if kind == "axis":
                axis = axis_of(part)
                if axis is None:
                    return None
                bound["axes"][text] = bound["axes"].get(text, ()) + env.real(axis.name)
            elif kind == "number":
                bound["numbers"][text] = part
            elif kind == "index":
                if bound["indices"].setdefault(text, use) != use:
                    return None
            elif text not in (use, component(part)):
                return None
        return bound


def axes_of_body(function: FunctionDefinition) -> set[str]:
    """The axes that the body of a function, and what belongs to it, name, and neither its head nor its signature."""
    pieces = [function.body, *(each.statement for group in function.facts.values() for each in group)]
    pieces += [each.statement for each in function.families]
    found: set[str] = set()
    for node in (inner for piece in pieces for inner in walk(piece)):
        found |= {node.name.rstrip("*†‡")} if isinstance(node, nodes.Axis) else set()
        named = node.subscript if isinstance(node, Call) else ()
        if isinstance(node, nodes.Subscript) and isinstance(node.base, Name) and node.base.text in OF_AXES:
            named = node.components
        found |= {axis.name.rstrip("*†‡") for axis in map(axis_of, named) if axis is not None}
    assert function.signature is not None
    stated = {axis.name for of in (*function.signature.domain, function.signature.codomain) for axis, _ in of.axes}
    return found - stated - {text for kind, text in function.subscript if kind == "axis"}


def needed_axes(
    function: FunctionDefinition, axes: dict[str, tuple[str, ...]], tensors: list[Tensor]
) -> list[tuple[str, ...]]:
    """The axes that a function needs of each argument and parameter: those of its signature and of its declarations."""
    if function.signature is None:
        return [tuple(X.shape) for X in tensors]
    domain = list(function.signature.domain)
    if len(domain) != len(function.parameters):
        raise NotationError(304, f"the signature of {function.title} has another number of arguments than its head")
    sets = domain + [function.declarations.get(name.key()) for name in function.options]
    place = Environment(axes=axes)
    return [tuple(X.shape if of is None else (a for a, _ in set_axes(of, place))) for X, of in zip(tensors, sets)]
