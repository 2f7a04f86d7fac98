"""Type built-in functions whose terms consist of other functions, such as var and std with a ddof."""

from __future__ import annotations

import math
from typing import Any

from grammar.nodes import Call

from ..core.sizes import SizeVariable, resolve
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term
from .application import Axes, apply, scalar_term


def with_degrees_of_freedom(
    checker: Inference, node: Call, arguments: tuple[Term, ...], axes: Axes, env: Environment, ddof: Any
) -> Term:
    """Return the term of var_{ax}(X; ddof) or std_{ax}(X; ddof).

    The sum of squares of n elements is divided by n − ddof.
    """
    plain = apply(checker, node.operator, arguments, axes, node, env, node.arguments)
    if not ddof:
        return plain
    sizes = [resolve(arguments[0].shape[axis]) for axis, _ in axes]
    if all(isinstance(size, int) for size in sizes) and math.prod(sizes) <= ddof:
        raise checker.error(
            405, f"{node.operator} is undefined: {math.prod(sizes)} elements less {ddof}", node,
            hint="give a smaller ddof, or reduce over more elements",
        )  # fmt: skip
    infix, number = infixes(checker, node, env), checker.graph.number
    count = number(1, node)
    for size, (axis, _) in zip(sizes, axes):
        name = size.text if isinstance(size, SizeVariable) else axis
        count = infix("⊙", count, scalar_term(checker, size, name, node))
    ratio = infix("/", count, infix("-", count, number(ddof, node)))
    return infix("⊙", plain, infix("sqrt", ratio) if node.operator == "std" else ratio)


def infixes(checker: Inference, node: Call, env: Environment) -> Any:
    """Return a function that applies an operator without axes to terms. All of its results refer to the given node."""

    def infix(sign: str, *terms: Term) -> Term:
        return apply(checker, sign, terms, (), node, env, node.arguments[:1] * len(terms))

    return infix
