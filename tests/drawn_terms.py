"""Every form of a term and how it is drawn: a function of the drawing, the shape that is wanted, the depth and what is in sight."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from drawn_sight import AXES, GENERIC, Drawing, Leaf, Sight, form, is_generic, number
from drawn_tree import RELATIONS, Function, Shape, Term, terms_of

# ------------------------------------------------------------------------------------------------------------- the forms
ONE_NUMBER = ("exp", "sin", "cos", "tanh", "sinh", "cosh", "abs", "sign", "floor", "ceil", "σ", "relu", "gelu", "gelu_tanh",
              "silu", "softplus", "erf", "tan", "ReLU", "sigmoid", "arctan", "expm1", "logsigmoid", "elu", "leaky_relu")  # fmt: skip
GUARDED = ("log", "sqrt")
OF_GAMMA = ("lgamma", "digamma", "polygamma", "Γ", "factorial")


@form(5)
def infix(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    left, right = d.halves(shape)
    sign = d.one(["+", "+", "−", "⊙", "⊙", "·", "/"])
    first, second = d.term(left, depth, sight), d.term(right, depth, sight)
    return d.make("infix", shape, (first, d.not_less_than_nought(second) if sign == "/" else second), sign)


@form(1)
def divided(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    below = number(d.one([2, 4, 3, 0.5]))
    if sight.sized and d.chance(0.5) and d.speak_of(axis := d.one(sight.sized)):
        below = Term("size", (), (axis,))
    return d.make("infix", shape, (d.term(shape, depth, sight), below), "/")


@form(1)
def juxtaposed(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    names = [
        leaf.term
        for leaf in sight.leaves
        if leaf.kind != "truth" and leaf.term.sizes == shape and leaf.term.form == "name"
    ]
    return d.make("juxtaposed", shape, (number(d.one([2, 3, 0.5])), d.one(names))) if names else None


@form(3)
def of_one_number(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    part = d.term(shape, depth, sight)
    if d.chance(0.15):
        return d.make("negative", shape, (part,))
    if d.chance(0.15):
        return d.make("root", shape, (d.not_less_than_nought(part),))
    if d.chance(0.15):
        return d.make("applied", shape, (d.not_less_than_nought(part),), d.one(GUARDED))
    if d.chance(0.05):
        return d.make("applied", shape, (d.shift(d.not_less_than_nought(part), 0.5),), d.one(OF_GAMMA))
    name = d.one(ONE_NUMBER)
    if part.form == "name" and d.chance(0.3):
        return d.make("prefixed", shape, (part,), name)
    return d.make("applied", shape, (part,), name)


@form(2)
def power(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    kind = d.random.random()
    if kind < 0.5:
        return d.make("power", shape, (d.term(shape, depth, sight), number(d.one([2, 2, 3, 1, 0]))))
    if kind < 0.65:
        exponent: Any = number(d.one([-1, 0.5, 1.5, -2]))
        return d.make("power", shape, (d.not_less_than_nought(d.term(shape, depth, sight)), exponent))
    if kind < 0.75 and not any(map(is_generic, shape.values())):
        left, right = d.halves(shape)
        return d.make(
            "power", shape, (d.term(left, depth, sight), d.make("applied", right, (d.whole(right, sight),), "abs"))
        )
    left, right = d.halves(shape)
    if kind < 0.85:
        parts = (d.not_less_than_nought(d.term(left, depth, sight)), d.term(right, depth, sight))
        return d.make("applied", shape, parts, "pow")
    if kind < 0.9:
        above, below = (d.not_less_than_nought(d.term(part, depth, sight)) for part in (left, right))
        return d.make("applied", shape, (d.make("infix", shape, (above, below), "+"), below), "binom")
    return d.make("power", shape, (number(d.one([2, 3, 0.5])), d.term(shape, depth, sight)))


@form(2)
def of_several_numbers(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    left, right = d.halves(shape)
    first, second = d.term(left, depth, sight), d.term(right, depth, sight)
    kind = d.random.random()
    if kind < 0.5:
        return d.make("applied", shape, (first, second), d.one(["max", "min"]))
    if kind < 0.75:
        low = d.one([-2, -1, 0, 0.5])
        return d.make(
            "applied", shape, (d.term(shape, depth, sight), number(low), number(low + d.one([0.5, 1, 2]))), "clip"
        )
    test = d.condition(d.subset(shape, 0.5), depth, sight)
    return d.make("applied", shape, (test, first, second), "where")


@form(2)
def cases(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    first, second = d.halves(shape)
    parts = [d.term(first, depth, sight), d.condition(d.subset(shape), depth, sight)]
    if d.chance(0.25):
        parts += [d.term(d.subset(shape), 0, sight), d.condition(d.subset(shape), 0, sight)]
    return d.make("cases", shape, (*parts, d.term(second, depth, sight)))


@form(1)
def indicator(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    return d.make("indicator", shape, (d.condition(shape, depth, sight),))


REDUCTIONS = ("∑", "∑", "∑", "∏", "mean", "var", "std", "norm", "min", "max", "logsumexp")


@form(4)
def reduced(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    wider = d.extended(shape)
    if wider is None:
        return None
    name = d.one(REDUCTIONS)
    option = d.one([None, 1, 2, 3, "∞"]) if name == "norm" else None
    if name == "∏" and len(wider[1]) > 1 and sight.marks and d.chance(0.5):
        return None
    return d.make("over", shape, (d.term(wider[0], depth, sight),), name, tuple(wider[1]), option)


@form(3)
def along(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    if not shape:
        return None
    name = d.one(["softmax", "softmax", "logsoftmax", "argmax", "argmin", "standardize", "cumsum", "cumprod", "sort"])
    axes = d.random.sample(
        sorted(shape), 1 if name in ("cumsum", "cumprod", "sort") or d.chance(0.7) else min(2, len(shape))
    )
    option = 0.5 if name == "standardize" and d.chance(0.7) else None
    return d.make("over", shape, (d.term(shape, depth, sight),), name, tuple(axes), option)


@form(4)
def contracted(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    wider = d.extended({}, 2)
    if wider is None or set(wider[0]) & set(shape):
        return None
    left, right = d.halves(shape)
    left, right = left | wider[0], right | wider[0]
    if not d.fits(left) or not d.fits(right) or not d.fits(shape | wider[0]):
        return None
    return d.make("contract", shape, (d.term(left, depth, sight), d.term(right, depth, sight)), tuple(wider[1]))


@form(2)
def renamed(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    if not shape:
        return None
    if len(shape) > 1 and d.chance(0.3):
        one, two = d.random.sample(sorted(shape), 2)
        if "ax" in (one, two):  # ax has one size
            return None
        inner = {{one: two, two: one}.get(axis, axis): size for axis, size in shape.items()}
        return d.make("rename", shape, (d.term(inner, depth, sight),), (one, two), (two, one))
    old = d.one(sorted(shape))
    names = d.new_axis(shape, size=shape[old])
    if names is None:
        return None
    inner = {names[0] if axis == old else axis: size for axis, size in shape.items()}
    return d.make("rename", shape, (d.term(inner, depth, sight),), (names[0], old))


@form(1)
def starred(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    """(X)^*, and its axes named back."""
    if not shape or any(axis[-1] in "*†" for axis in shape) or any(map(is_generic, shape.values())):
        return None
    mark = d.one("*†")
    marked = {f"{axis}{mark}": size for axis, size in shape.items()}
    inner = d.make("star", marked, (d.term(shape, depth, sight),), mark)
    return d.make("rename", shape, (inner,), *((f"{axis}{mark}", axis) for axis in sorted(shape)))


@form(2)
def merged(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    able = [axis for axis, size in shape.items() if not is_generic(size)]
    if not able:
        return None
    new = d.one(sorted(able))
    size = shape[new]
    first = d.one([n for n in range(1, size + 1) if size % n == 0])
    rest = {axis: n for axis, n in shape.items() if axis != new}
    free = [axis for axis in AXES if axis not in rest]
    if len(free) < 2:
        return None
    one, two = d.random.sample(free, 2)
    inner = {**rest, one: first, two: size // first}
    return d.make("merge", shape, (d.term(inner, depth, sight),), (one, two), new) if d.fits(inner) else None


@form(2)
def split(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    if len(shape) < 2:
        return None
    one, two = d.random.sample(sorted(shape), 2)
    if is_generic(shape[one]) or is_generic(shape[two]) or not d.state(one, shape[one]) or not d.state(two, shape[two]):
        return None
    rest = {axis: n for axis, n in shape.items() if axis not in (one, two)}
    axis = d.new_axis(shape, size=shape[one] * shape[two])
    if axis is None:
        return None
    return d.make("split", shape, (d.term({**rest, axis[0]: axis[1]}, depth, sight),), axis[0], (one, two))


@form(2)
def indexed(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    wider = d.extended(shape, 2)
    if wider is None or any(is_generic(wider[0][axis]) for axis in wider[1]):
        return None
    indices = tuple(d.position({}, wider[0][axis], sight) for axis in wider[1])
    return d.make("index", shape, (d.term(wider[0], depth, sight), *indices), tuple(wider[1]), "subscript")


@form(2)
def picked(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    """Indexed by a tensor, whose axes the operand may have besides."""
    at = {axis: size for axis, size in d.subset(shape, 0.5).items() if not is_generic(size)}
    rest = {axis: size for axis, size in shape.items() if axis not in at}
    rest |= d.subset(at, 0.4)
    names = d.new_axis(rest)
    if names is None or not at or is_generic(names[1]) or not d.fits({**shape, **dict([names])}):
        return None
    axis, size = names
    inner = d.term({**rest, axis: size}, depth, sight)
    return d.make("index", shape, (inner, d.position(at, size, sight)), (axis,), d.one(["index", "subscript"]))


@form(2)
def sliced(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    able = [axis for axis, size in shape.items() if not is_generic(size) and size < 5]
    if not able or "slices" in d.known:
        return None
    axis = d.one(sorted(able))
    before, after = d.random.randint(0, 2), d.random.randint(0, 2)
    inner = {**shape, axis: before + shape[axis] + after}
    return d.make("slice", shape, (d.term(inner, depth, sight),), axis, before + 1, before + shape[axis])


@form(2)
def concatenated(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    able = [axis for axis, size in shape.items() if 2 <= size < GENERIC]
    if not able:
        return None
    axis = d.one(sorted(able))
    first = d.random.randint(1, shape[axis] - 1)
    rest = {name: size for name, size in shape.items() if name != axis}
    left, right = d.halves(rest, 0.8)
    parts = (d.term({**left, axis: first}, depth, sight), d.term({**right, axis: shape[axis] - first}, depth, sight))
    return d.make("concat", shape, parts, axis) if d.chance(0.6) else d.make("applied", shape, parts, "concat", axis)


@form(2)
def laid(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    """A literal of terms, or a stack."""
    able = [axis for axis, size in shape.items() if not is_generic(size)]
    if not able:
        return None
    axes = d.random.sample(sorted(able), 2 if len(able) > 1 and d.chance(0.3) else 1)
    rest = {name: size for name, size in shape.items() if name not in axes}
    many = math.prod(shape[axis] for axis in axes)
    parts = [d.term(rest if n == 0 else d.subset(rest), depth if n == 0 else 0, sight) for n in range(many)]
    d.random.shuffle(parts)
    if len(axes) == 1 and d.chance(0.4):
        return d.make("applied", shape, tuple(parts), "stack", axes[0])
    return d.make("literal", shape, tuple(parts), tuple(axes), shape[axes[-1]])


@form(2)
def windows(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    able = [axis for axis, size in shape.items() if not is_generic(size)]
    if len(able) < 2:
        return None
    seq, kernel = d.random.sample(sorted(able), 2)
    name = d.one(["unroll", "pool"])
    whole = shape[seq] + shape[kernel] - 1 if name == "unroll" else shape[seq] * shape[kernel]
    inner = {axis: size for axis, size in shape.items() if axis != kernel} | {seq: whole}
    if not d.fits(inner) or not d.state(kernel, shape[kernel]):
        return None
    return d.make("applied", shape, (d.term(inner, depth, sight),), name, seq, kernel)


@form(1)
def largest(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    able = [axis for axis, size in shape.items() if not is_generic(size)]
    if not able:
        return None
    rank = d.one(sorted(able))
    rest = {axis: size for axis, size in shape.items() if axis != rank}
    if rest and d.chance(0.4):
        axis = d.one(sorted(rest))
        if rest[axis] < shape[rank] or is_generic(rest[axis]) or not d.state(rank, shape[rank]):
            return None
        return d.make("applied", shape, (d.term(rest, depth, sight),), "argmaxk", axis, rank)
    names = d.new_axis(shape, size=shape[rank] + d.random.randint(0, 2))
    inner = {**rest, **dict([names])} if names else {}
    if not names or not d.fits(inner) or not d.state(rank, shape[rank]):
        return None
    return d.make("applied", shape, (d.term(inner, depth, sight),), "maxk", names[0], rank)


@form(2)
def of_large_whole_numbers(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    """Whole numbers that 32 or 64 bits do not hold, and something of them that floats do."""
    if any(map(is_generic, shape.values())):
        return None
    first, second = d.halves(shape)
    big = large_whole(d, first, sight)
    kind = d.random.random()
    if kind < 0.3:  # of the same size about
        other = d.make("infix", second, (d.make("applied", second, (d.whole(second, sight),), "abs"), number(1)), "+")
        below = number(d.one([2**31, 2**40 + 1, 3**50]))
        below = below if other.shape else d.make("infix", {}, (other, below), "⊙")
        return d.make("infix", shape, (d.make("infix", first, (big, below), "/"), other), "⊙")
    if kind < 0.5:
        size = d.make("applied", shape, (d.make("infix", shape, (big, d.whole(second, sight)), "+"),), "abs")
        return d.make("applied", shape, (d.shift(size, 1),), "log")
    if kind < 0.7:
        return d.make(
            "indicator", shape, (d.make("relation", shape, (big, large_whole(d, second, sight)), d.one(RELATIONS)),)
        )
    if kind < 0.9:
        return d.make("applied", shape, (d.make("infix", shape, (big, d.whole(second, sight)), d.one("+−⊙")),), "sign")
    return d.make("infix", shape, (big, d.whole(second, sight)), d.one("+−⊙"))


def large_whole(d: Drawing, shape: Shape, sight: Sight) -> Term:
    """Whole numbers beyond 2^31 mostly."""
    base = d.whole(shape, sight)
    kind = d.random.random()
    if kind < 0.25:
        return d.make("power", shape, (base, number(d.random.randint(12, 30))))
    if kind < 0.4:
        return d.make("infix", shape, (base, number(d.one([2**31, 3_000_000_000, 2**33]))), d.one("⊙+"))
    if kind < 0.55:
        big = number(d.one([2**31, 4_000_000_000]))
        return d.make(
            "infix", shape, (d.make("infix", shape, (base, big), "+"), d.make("infix", shape, (base, big), "−")), "⊙"
        )
    if kind < 0.7:
        exponent = d.make("infix", shape, (d.make("applied", shape, (base,), "abs"), number(d.one([20, 30, 40]))), "+")
        return d.make("power", shape, (number(d.one([2, 3])), exponent))
    if kind < 0.85:
        wider = d.extended(shape)
        if wider is not None:
            power = d.make("power", wider[0], (d.whole(wider[0], sight), number(d.random.randint(8, 20))))
            return d.make("over", shape, (power,), d.one("∑∏"), tuple(wider[1]), None)
    variable = next((name for name in "ijm" if name not in sight.variables), None)
    if variable is None:
        return d.make("power", shape, (base, number(25)))
    index = Term("name", (), (variable,))
    high = d.random.randint(12, 40)
    if d.chance(0.5):
        part = d.make("infix", shape, (base, index), "+")
        return d.make("sum over", shape, (part,), "∏", variable, 1, high)
    part = d.make("infix", shape, (d.make("power", {}, (number(2), index)), base), "⊙")
    return d.make("sum over", shape, (part,), "∑", variable, 1, high)


@form(1)
def made_of_indices(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    """onehot, or an identity."""
    able = [axis for axis, size in shape.items() if not is_generic(size)]
    pairs = [(one, two) for one in able for two in able if one != two and shape[one] == shape[two]]
    if pairs and len(shape) == 2 and d.chance(0.7):
        axes = d.one(sorted(pairs))
        return d.make("made", shape, (), "I", axes) if all(d.state(axis, shape[axis]) for axis in axes) else None
    if not able:
        return None
    axis = d.one(sorted(able))
    rest = {name: size for name, size in shape.items() if name != axis}
    if any(map(is_generic, rest.values())) or not d.state(axis, shape[axis]):
        return None
    return d.make("applied", shape, (d.position(rest, shape[axis], sight),), "onehot", axis)


@form(2)
def summed_over_an_index(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    variable = next((name for name in "ijm" if name not in sight.variables), None)
    if variable is None:
        return None
    sight = replace(sight, variables=(*sight.variables, variable))
    names = d.new_axis(shape)
    if names is not None and d.chance(0.5) and d.fits({**shape, **dict([names])}):
        axis, size = names
        whole = d.term({**shape, axis: size}, depth - 1, sight)
        index = Term("name", (), (variable,))
        part = d.make("index", shape, (whole, index), (axis,), "subscript")
        if d.chance(0.4):
            part = d.make("infix", shape, (part, index), "⊙")
        return d.make("sum over", shape, (part,), "∑", variable, None, None)
    low = d.random.randint(0, 2)
    high = low + d.random.randint(0, 2)
    sight = sight.plus(Leaf(Term("name", (), (variable,)), "whole", low, high))
    part = d.term(shape, depth, sight)
    if d.chance(0.5):
        part = d.make("infix", shape, (part, Term("name", (), (variable,))), d.one("+⊙"))
    return d.make("sum over", shape, (part,), d.one("∑∑∏"), variable, low, high)


@form(4)
def differentiated(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    """A derivative, its starred axes summed, or named as what is wanted."""
    able = [
        leaf
        for leaf in sight.leaves
        if leaf.by is not None and count_of(leaf.term.sizes) <= 6 and marks_of(sight, leaf.by) < 2
    ]
    if not able or sight.depth_of_derivatives > 1:
        return None
    leaf = d.one(able)
    mark = ("*", "†")[marks_of(sight, leaf.by)]
    marked = {f"{axis}{mark}": size for axis, size in leaf.term.sizes.items()}
    inner = replace(sight, marks=(*sight.marks, (leaf.by, 1)), depth_of_derivatives=sight.depth_of_derivatives + 1)
    if set(marked) & set(shape) or not d.fits({**shape, **marked}):
        return None
    if leaf.term.shape and leaf.term.sizes.items() <= shape.items() and d.chance(0.6):  # named back
        rest = {axis: size for axis, size in shape.items() if axis not in leaf.term.sizes}
        slope = d.make("derivative", {**rest, **marked}, (mentioning(d, rest, depth, inner, leaf),), leaf.by, mark)
        return d.make("rename", shape, (slope,), *((f"{axis}{mark}", axis) for axis in sorted(leaf.term.sizes)))
    whole = {**shape, **marked}
    slope = d.make("derivative", whole, (mentioning(d, shape, depth, inner, leaf),), leaf.by, mark)
    if not marked:
        return slope
    if d.chance(0.5):
        return d.make("over", shape, (slope,), d.one(["∑", "max", "mean"]), tuple(sorted(marked)), None)
    weights = d.leaf(leaf.term.sizes, sight)
    weights = d.make("rename", marked, (weights,), *((axis, f"{axis}{mark}") for axis in sorted(leaf.term.sizes)))
    return d.make("contract", shape, (slope, weights), tuple(sorted(marked)))


def marks_of(sight: Sight, name: str | None) -> int:
    return sum(1 for text, _ in sight.marks if text == name)


def count_of(shape: Shape) -> int:
    return math.prod(2 if is_generic(size) else size for size in shape.values())


def mentions(term: Term, leaves: Any) -> bool:
    return any(leaf.term == node for node in term.walk() for leaf in leaves)


def mentioning(d: Drawing, shape: Shape, depth: int, sight: Sight, leaf: Leaf) -> Term:
    """A term of this shape that names what a derivative is taken by."""
    result = d.term(shape, depth, sight)
    if any(leaf.term == node for node in result.walk()) and d.chance(0.8):
        return result
    have = {axis: size for axis, size in leaf.term.sizes.items() if axis in shape and shape[axis] == size}
    extra = [axis for axis in leaf.term.sizes if axis not in have]
    term = d.term(leaf.term.sizes, depth, sight)
    if not mentions(term, [leaf]):
        power = d.make("power", leaf.term.sizes, (leaf.term, number(d.one([2, 3]))))
        term = power if d.chance(0.5) else d.make("infix", leaf.term.sizes, (term, power), d.one("+⊙"))
    if extra:
        clash = [axis for axis in extra if axis in shape]
        if clash:
            term = d.make("over", {}, (term,), "∑", tuple(leaf.term.sizes), None)
            have = {}
        else:
            term = d.make("over", have, (term,), "∑", tuple(extra), None)
    return d.make("infix", {**shape, **have}, (result, term), d.one("+⊙"))


@form(5)
def called(d: Drawing, shape: Shape, depth: int, sight: Sight) -> Term | None:
    """A call, whose arguments have axes besides those of the signature: also such as others of it bind."""
    able = [other for other in sight.functions if fitting(other, shape)]
    if not able:
        return None
    function = d.one(able)
    if function.over:
        return called_over_axes(d, function, shape, depth, sight)
    gives = dict(function.gives if function.gives is not None else function.body.shape)
    sizes = {axis: shape[axis] for axis in gives}  # what this call makes of sizes that the function leaves open
    extra = {axis: size for axis, size in shape.items() if axis not in gives}
    if extra and function.gives is None:
        return None
    arguments = []
    needed = [call_shape(d, local, sizes) for _, local in function.parameters]
    d.called_with |= set(sizes.items())
    where = {axis: [n for n, local in enumerate(needed) if axis not in local] for axis in extra}
    if not all(where.values()):
        return None
    must = {axis: d.one(places) for axis, places in where.items()}
    for index, local in enumerate(needed):
        more = {axis: extra[axis] for axis in extra if index in where[axis] and (must[axis] == index or d.chance(0.4))}
        if not d.fits({**local, **more}):
            return None
        arguments.append(d.term({**local, **more}, depth - (index > 0), sight))
    arguments += [d.term({}, 0, sight) for _ in function.options]
    return d.make("call", shape, tuple(arguments), function.name, (), len(function.options))


def fitting(function: Function, shape: Shape) -> bool:
    gives = dict(function.gives if function.gives is not None else function.body.shape)
    if function.over:
        return bool(shape) or not gives
    return all(axis in shape and (is_generic(size) or shape[axis] == size) for axis, size in gives.items())


def call_shape(d: Drawing, local: tuple, sizes: Shape) -> Shape:
    """The shape of an argument, sizes that the function leaves open being chosen once a call."""
    return {axis: sizes.setdefault(axis, d.sizes.get(axis, 2) if is_generic(size) else size) for axis, size in local}


def axes_within(function: Function) -> set[str]:
    """The axes that a function speaks of."""
    return {axis for term in terms_of((function.body, function.facts)) for axis, _ in term.shape}


def called_over_axes(d: Drawing, function: Function, shape: Shape, depth: int, sight: Sight) -> Term | None:
    keeps = bool(dict(function.gives if function.gives is not None else function.body.shape))
    names = axes_within(function)
    several = 1 if function.of_one_axis or d.chance(0.7) else 2
    if keeps:
        axes = d.random.sample(sorted(shape), min(several, len(shape)))
        inner = shape
    else:
        wider = d.extended(shape, several)
        if wider is None:
            return None
        inner, axes = wider
    if function.gives is None and set(inner) & names:
        return None
    parts = [d.term(inner, depth, sight)]
    parts += [d.term({axis: inner[axis] for axis in axes}, 0, sight) for _ in function.parameters[1:]]
    return d.make("call", shape, tuple(parts), function.name, tuple(axes), 0)
