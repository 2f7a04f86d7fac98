"""Type random variables, such as x ∼ N(0, 1), and expectations, such as 𝔼_{x ∼ N(0, 1)} ….

An expectation is a mean over random samples, or over all outcomes if the distribution is finite. The function `uniform`
computes each sample from the seed, the variable's name and labels, the sample number, and the position along the
sample's axes. Samples are therefore available on every backend, and they have derivatives with respect to the
distribution's parameters. All positions along lifted axes share one sample, and so do all calls of one function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Draw, Expectation, Name

from ..core.sizes import resolve
from ..core.suggestions import did_you_mean, near
from ..scope.distributions import DEFAULT_DRAWS, DISTRIBUTIONS, is_categorical, is_finite, number_of
from ..scope.names import Key, walk
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term, topological
from .application import apply
from .axis_sizes import size_left_open
from .declarations import set_axes
from .indexing import iota
from .substitution import substitute_terms
from .sums import apply_over_index


def draw(checker: Inference, node: Draw, env: Environment) -> Term:
    """Return the term for sample 0 of a random variable, such as x ∼ N(0, 1). Expectations use samples 1, 2, …."""
    check_known(checker, node)
    terms = checker.infer_all(node.arguments, env)
    return draw_numbers(checker, node, terms, (checker.graph.number(0, node),), env)


class RandomVariable(NamedTuple):
    """A random variable of an expectation.

    If a separate statement declares its distribution, `term` is the sample that its name denotes, and `holder` is the
    environment of the statement. Otherwise, both are None.
    """

    draw: Draw
    term: Term | None = None
    holder: Environment | None = None


def expectation(checker: Inference, node: Expectation, env: Environment) -> Term:
    """Return the term of an expectation such as 𝔼_{x ∼ N(0, 1), i ∼ p} body.

    The outcomes of finite variables are enumerated, and the other variables are sampled jointly. In 𝔼_x body, a
    separate statement declares x. The body is typed for the sample that x denotes. Other samples then replace this
    sample.
    """
    body = checker.infer(node.body, env) if not node.draws else None
    variables = [RandomVariable(draw) for draw in node.drawn]
    variables += find_declared_variables(checker, node, body, env)
    for variable in variables:
        check_known(checker, variable.draw)
    if all(is_finite(variable.draw) for variable in variables):
        return average_outcomes(checker, node, variables, (), env, {}, body)
    count = number_of_draws(checker, env)
    depth = env.depth + 1
    axis = make_draw_axis("draws", depth, variables)
    numbers = iota(checker, axis, 1, count, node)
    term = average_outcomes(checker, node, variables, (numbers,), env.within(depth=depth), {}, body)
    return apply_over_index(checker, "mean", axis, count, term, Name("draws", node.span), node.body, node, env)


def make_draw_axis(name: str, depth: int, variables: Sequence[RandomVariable]) -> str:
    """Return an axis for outcomes. Its name differs from the axes in the definitions of the variables."""
    serials = [variable.term.serial for variable in variables if variable.term is not None]
    return ".".join(map(str, (f"{name}@{depth}", *serials)))


def find_declared_variables(
    checker: Inference, node: Expectation, body: Term | None, env: Environment
) -> list[RandomVariable]:
    """Return the declared variables of an expectation, each after the variables on which it depends.

    For 𝔼[…], they are all variables on which the body depends. Raise NotationError if a variable is not declared, or
    depends on a variable that the expectation leaves out.
    """
    named = {name.text: name for name in node.draws if isinstance(name, Name)}
    for name in named.values():
        checker.find(Key(name.text), env, name)
    declared = {
        draw.name: RandomVariable(draw, checker.find(key, env, node), holder)
        for holder in reversed([*env.outward])
        if holder.function is not None or holder is checker.top
        for key, (definition, *_) in checker.definitions_of(holder).items()
        if isinstance(draw := definition.body, Draw) and not draw.labels and isinstance(holder.memo.get(key), Term)
    }
    for name in named.values():
        if name.text not in declared:
            raise make_unstated_error(checker, name)
    roots = [body, *(declared[name].term for name in named)]
    order = [id(term) for term in topological(*(root for root in roots if root is not None))]
    reached = [variable for variable in declared.values() if id(variable.term) in {*order}]
    reached.sort(key=lambda variable: order.index(id(variable.term)))
    if not (reached or node.draws):
        raise make_unstated_error(checker, node)
    missing = sorted({variable.draw.name for variable in reached} - named.keys()) if named else []
    for name in named.values() if missing else ():
        dependent = declared[name.text]
        inside = {id(term) for term in topological(dependent.term)}  # type: ignore[arg-type]
        missing_here = [text for text in missing if id(declared[text].term) in inside]
        if missing_here:
            raise checker.error(
                114, f"the distribution of {name.text} depends on {', '.join(missing_here)}, which is random too", name,
                labels=((dependent.draw.span, "declared here"),),
                hint=f"take the expectation over both: 𝔼_{{{', '.join([*missing_here, name.text])}}}[…]; use another name for a fixed {missing_here[0]}",
            )  # fmt: skip
    return reached


def make_unstated_error(checker: Inference, of: Expectation | Name) -> NotationError:
    """Return the error for 𝔼_x[…] if x has no known distribution, or for 𝔼[…] if its body is not random."""
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


Samples = Mapping[int, Term]  # the terms that replace declared samples, by the identity of these samples


def bind_outcome(
    variable: RandomVariable, outcome: Term, env: Environment, samples: Samples
) -> tuple[Environment, Samples]:
    """Bind a random variable to an outcome. Return the environment and the samples with which the body is typed."""
    if variable.term is not None:
        return env, {**samples, id(variable.term): outcome}
    inner = env.within()
    inner.variables[Key(variable.draw.name)] = outcome
    return inner, samples


def average_outcomes(
    checker: Inference, node: Expectation, variables: Sequence[RandomVariable], numbers: tuple[Term, ...],
    env: Environment, samples: Samples, body: Term | None,
) -> Term:  # fmt: skip
    """Return the mean of the body over all outcomes of the finite random variables.

    Other random variables have one sample per number in `numbers`. If the body is already typed, `body` is its term.
    """
    if not variables:
        body = checker.infer(node.body, env) if body is None else body
        return substitute_terms(checker, (body,), samples)[0]
    first, *rest = variables
    draw, holder = first.draw, first.holder or env
    terms = substitute_terms(checker, checker.infer_all(draw.arguments, holder), samples)

    def average(outcome: Term, env: Environment = env) -> Term:
        return average_outcomes(checker, node, rest, numbers, *bind_outcome(first, outcome, env, samples), body)

    if not is_finite(draw):
        return average(draw_numbers(checker, draw, terms, numbers, holder))
    (p,) = terms
    if not is_categorical(draw):
        return average_two_outcomes(checker, node, draw, p, average, env)
    variable, depth = Name(draw.name, draw.span), env.depth + 1
    axis = its_axis(checker, draw, p)
    index = make_draw_axis(draw.name, depth, (first,))
    size = resolve(p.shape[axis])
    term = average(iota(checker, index, 1, size, variable), env.within(depth=depth))
    weights = checker.renamed(p, {axis: index}, draw)
    product = apply(checker, "⊙", (weights, term), (), node, env, (node, node))
    return apply_over_index(checker, "∑", index, size, product, variable, node.body, node, env)


def average_two_outcomes(
    checker: Inference, node: Expectation, draw: Draw, p: Term, average: Callable[[Term], Term], env: Environment
) -> Term:
    """Return the mean of the body over the outcomes 0 and 1, where 1 has probability p."""
    if own_axes(p):
        raise checker.error(
            405, f"the expectation enumerates 0 and 1, but {checker.text(draw.arguments[0])} has axes", draw.arguments[0],
            notes=(checker.describe_with_shape(draw.arguments[0], p.shape),),
            hint=f"to draw each element independently, write {draw.family}(…)^{{{', '.join(own_axes(p))}}}",
        )  # fmt: skip
    graph, parts = checker.graph, list[Term]()
    less = apply(checker, "-", (graph.number(1), p), (), node, env, (node, draw.arguments[0]))
    for value, weight in ((0, less), (1, p)):
        checker.spend(node)
        term = average(graph.number(value, node))
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
    """Return the axes of the terms with their sizes. Axes that come from lifting are left out."""
    return {axis: term.shape[axis] for term in terms for axis in sorted(term.shape) if "@" not in axis}


def its_axis(checker: Inference, node: Draw, p: Term) -> str:
    """Return the single axis along which a random index has its probabilities.

    Raise an error if there are several axes, or none.
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
    """Return the value of a numeric label, such as t in z^t, or None for a label such as Q."""
    if isinstance(part, nodes.Number) or any(
        isinstance(inner, Name) and env.index(inner.text) is not None for inner in walk(part)
    ):
        return checker.infer(part, env)
    return None


def draw_numbers(
    checker: Inference, node: Draw, terms: Sequence[Term], numbers: tuple[Term, ...], env: Environment
) -> Term:
    """Return one sample per number in `numbers`. A sample has the axes of the parameters and of the stated set."""
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
