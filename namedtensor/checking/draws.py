"""Random variables, such as x ∼ N(0, 1), and expectations, such as 𝔼_{x ∼ N(0, 1)} ….

An expectation is a mean over random samples, or over all outcomes if the distribution is finite. The function
`uniform` computes each sample from the seed, the variable's name and labels, the sample number, and the position along
the sample's axes. Samples are therefore differentiable with respect to the distribution's parameters and
available on every backend. All positions along lifted axes share one sample, and so do all calls of one function.
"""

from __future__ import annotations

from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Draw, Expectation, Name

from ..core.sizes import resolve
from ..core.suggestions import did_you_mean, near
from ..scope.distributions import DEFAULT_DRAWS, DISTRIBUTIONS, is_categorical, is_finite, number_of
from ..scope.names import Key, walk
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term
from .application import apply
from .axis_sizes import size_left_open
from .declarations import set_axes
from .indexing import iota
from .sums import apply_over_index, make_index_environment


def draw(checker: Inference, node: Draw, env: Environment) -> Term:
    """Return sample number 0 of a random variable, such as x ∼ N(0, 1). Expectations use the numbers from 1 on."""
    return draw_numbers(checker, node, (checker.graph.number(0, node),), env)


def expectation(checker: Inference, node: Expectation, env: Environment) -> Term:
    """Return the term of an expectation such as 𝔼_{x ∼ N(0, 1), i ∼ p} body.

    The outcomes of finite variables are enumerated, and the other variables are sampled jointly.
    """
    for variable in node.draws or (node,):
        if not isinstance(variable, Draw):
            raise make_unstated_error(checker, variable)
        check_known(checker, variable)
    if all(map(is_finite, node.drawn)):
        return average_outcomes(checker, node, node.drawn, (), env)
    count = number_of_draws(checker, env)
    depth = env.depth + 1
    axis = f"draws@{depth}"
    numbers = iota(checker, axis, 1, count, node)
    inner = env.within(depth=depth)
    term = average_outcomes(checker, node, node.drawn, (numbers,), inner)
    return apply_over_index(checker, "mean", axis, count, term, Name("draws", node.span), node.body, node, env)


def make_unstated_error(checker: Inference, of: Expectation | Name) -> NotationError:
    """Return the error for 𝔼_x[…] if the distribution of x is unknown, or for 𝔼[…] if the value is not random."""
    random = [statement.sides[0].text for statement in checker.scope.program.statements if isinstance(statement, nodes.Equation) and isinstance(statement.sides[-1], Draw) and isinstance(statement.sides[0], Name)]  # fmt: skip
    text = (
        f"the distribution of {of.text} is not specified"
        if isinstance(of, Name)
        else "nothing here depends on a random variable"
    )
    name = of.text if isinstance(of, Name) else "x"
    return checker.error(
        201, text, of, notes=(f"random variables here: {', '.join(random)}",) if random else (),
        hint=f"write 𝔼_{{{name} ∼ N(0, 1)}}[…], or {name} ∼ N(0, 1) in a separate line; an average over an axis is mean_{{axis}} X",
    )  # fmt: skip


def average_outcomes(
    checker: Inference, node: Expectation, draws: tuple[Draw, ...], numbers: tuple[Term, ...], env: Environment
) -> Term:
    """Return the mean of the body over all outcomes of the finite random variables.

    Other random variables are sampled once for each of the `numbers`.
    """
    if not draws:
        return checker.infer(node.body, env)
    first, rest = draws[0], draws[1:]
    if not is_finite(first):
        inner = env.within()
        inner.variables[Key(first.name)] = draw_numbers(checker, first, numbers, env)
        return average_outcomes(checker, node, rest, numbers, inner)
    (p,) = checker.infer_all(first.arguments, env)
    if not is_categorical(first):
        return average_two_outcomes(checker, node, draws, p, numbers, env)
    variable = Name(first.name, first.span)
    axis = its_axis(checker, first, p)
    size = resolve(p.shape[axis])
    index, inner = make_index_environment(checker, variable, 1, size, env)
    weights = checker.renamed(p, {axis: index}, first)
    term = average_outcomes(checker, node, rest, numbers, inner)
    product = apply(checker, "⊙", (weights, term), (), node, env, (node, node))
    return apply_over_index(checker, "∑", index, size, product, variable, node.body, node, env)


def average_two_outcomes(
    checker: Inference, node: Expectation, draws: tuple[Draw, ...], p: Term, numbers: tuple[Term, ...], env: Environment
) -> Term:
    """Return the mean of the body over the outcomes 0 and 1, where 1 has probability p."""
    first, rest = draws[0], draws[1:]
    if own_axes(p):
        raise checker.error(
            405, f"the expectation enumerates 0 and 1, but {checker.text(first.arguments[0])} has axes", first.arguments[0],
            notes=(checker.describe_with_shape(first.arguments[0], p.shape),),
            hint=f"to draw each element independently, write {first.family}(…)^{{{', '.join(own_axes(p))}}}",
        )  # fmt: skip
    graph, parts = checker.graph, list[Term]()
    less = apply(checker, "-", (graph.number(1), p), (), node, env, (node, first.arguments[0]))
    for value, weight in ((0, less), (1, p)):
        checker.spend(node)
        inner = env.within()
        inner.variables[Key(first.name)] = graph.number(value, node)
        term = average_outcomes(checker, node, rest, numbers, inner)
        parts.append(apply(checker, "⊙", (weight, term), (), node, env, (node, node)))
    return apply(checker, "+", tuple(parts), (), node, env, (node, node))


def check_known(checker: Inference, node: Draw) -> None:
    known = DISTRIBUTIONS.get(node.family)
    if known is None:
        names = [name for name in DISTRIBUTIONS if name]
        raise checker.error(
            201, f"unknown distribution {node.family}", node, notes=(f"available: {', '.join(names)}",),
            hint=did_you_mean(near(node.family, names, 1)) or "for probabilities p along an axis write i ∼ p",
        )  # fmt: skip
    if len(node.arguments) != known.parameters:
        raise checker.error(
            304, f"{node.family} expects {known.parameters} parameter{'s' * (known.parameters > 1)}, got {len(node.arguments)}",
            node, hint="N(μ, σ^2), U(low, high), Exponential(rate), Gumbel(μ, β), Bernoulli(p), i ∼ p",
        )  # fmt: skip


def number_of_draws(checker: Inference, env: Environment) -> int:
    number = checker.solver.number(Name("draws"), env)
    if number is None:
        return DEFAULT_DRAWS
    if not isinstance(number, int) or number < 1:
        raise checker.error(405, f"draws is {number}, but an expectation needs at least one", checker.scope.program)
    if number > checker.limits.max_steps:
        raise checker.error(404, f"{number} draws are too many", checker.scope.program, hint="raise limits.max_steps")
    return number


def own_axes(*terms: Term) -> dict[str, Any]:
    """Return the axes of these terms with their sizes, except for axes that come from lifting."""
    return {axis: term.shape[axis] for term in terms for axis in sorted(term.shape) if "@" not in axis}


def its_axis(checker: Inference, node: Draw, p: Term) -> str:
    """Return the one axis along which the probabilities of a random index lie.

    Raise an error if there is not exactly one axis.
    """
    names = [*own_axes(p)]
    if len(names) != 1:
        hint = "of one probability write Bernoulli(p)" if not names else "index the others: i ∼ p_{a(1)}"
        raise checker.error(
            405, "an index must be drawn from probabilities along one axis", node.arguments[0],
            notes=(checker.describe_with_shape(node.arguments[0], p.shape),), hint=hint,
        )  # fmt: skip
    return names[0]


def label_number(checker: Inference, part: nodes.Node, env: Environment) -> Term | None:
    """Return the value of a label that is a number or has an index, such as t in z^t, or None for a label such as Q."""
    if isinstance(part, nodes.Number) or any(
        isinstance(inner, Name) and env.index(inner.text) is not None for inner in walk(part)
    ):
        return checker.infer(part, env)
    return None


def draw_numbers(checker: Inference, node: Draw, numbers: tuple[Term, ...], env: Environment) -> Term:
    """Return one sample for each of the `numbers`. A sample has the axes of the parameters and of the stated set."""
    check_known(checker, node)
    terms = checker.infer_all(node.arguments, env)
    over = its_axis(checker, node, terms[0]) if is_categorical(node) else None
    shape = {axis: size for axis, size in own_axes(*terms).items() if axis != over}
    for axis, size, position in set_axes(checker, nodes.Set("reals", (), node.axes, node.span), env):
        known = checker.solver.size_of(axis, env, position) if size is None else checker.solver.number(size, env)
        if known is None and axis not in shape:
            known = size_left_open(checker, axis, position)
        shape.setdefault(axis, known)
    number = checker.graph.number
    seed = checker.find(Key("seed"), env, node) or number(checker.solver.number(Name("seed"), env) or 0)
    labels = [label_number(checker, part, env) for part in node.labels]
    which = number_of(node, [label is not None for label in labels])
    counts = [seed, number(which), *(label for label in labels if label is not None), *numbers]
    counts += [iota(checker, axis, 1, shape[axis], node) for axis in sorted(shape)]

    def op(name: str, *operands: Any, along: bool = False) -> Term:
        terms = tuple(operand if isinstance(operand, Term) else number(operand, node) for operand in operands)
        axes = ((over, node),) if along else ()
        return apply(checker, name, terms, axes, node, env, (node,) * len(terms))  # type: ignore[arg-type]

    u, w = (op("uniform", number(stream), *counts) for stream in (1, 2))
    return DISTRIBUTIONS[node.family].of(op, terms, u, w)
