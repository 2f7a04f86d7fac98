"""The typed tree to a plan: one rule for each structural term, the operators' own `lower` for the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grammar.errors import NotationError

from ..core.arrays import dtype_name, kind_of
from ..core.axes import Order, show
from ..core.layout import Layout
from ..core.limits import DEFAULT, Limits
from ..core.sizes import is_ground, resolve
from ..operators import REGISTRY
from ..operators.record import IndexProblem
from ..terms.environment import source_name, told_apart
from ..terms.terms import Term, resolved_shape, topological, without_variables
from . import contraction_order as chains
from . import extremes, loop_steps
from . import fused_kernels as patterns
from . import merged_projections as projections
from . import online_softmax as slices
from . import regions as blocks
from .builder import PlanBuilder
from .plan import Argument, Plan, Value
from .target import Target

AXES = 32  # arrays may have 64 axes, and an operation may double them


def make_plan(
    source: str,
    roots: tuple[Term, ...],
    layouts: Mapping[str, Layout],
    target: Target,
    limits: Limits = DEFAULT,
    names: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
) -> tuple[Plan, list[Any]]:
    """The plan of `roots`, and the Python functions that it calls.

    Its inputs are those of `layouts`, in this order, called as `names` says or as they are.
    """
    planner = _Planner(source, target, limits, real_of(layouts, target), without)
    planner.take(layouts, names or {})
    results = [planner.writer.result(planner.value(term)) for term in planner.all(without_variables(roots))]
    return planner.writer.plan(source, results, short=0 if planner.blocks else extremes.SHORT), planner.python


def real_of(layouts: Mapping[str, Layout], target: Target) -> str:
    """The dtype of constants: the widest floating one of the inputs."""
    found = [target.canonical(dtype_name(each.dtype)) for each in layouts.values()]
    found = [name for name in found if kind_of(name) == "f"]
    return target.result_type(found) if found else target.default_float


def past_64_bits() -> NotationError:
    """What is found out where a sum of whole numbers is not one of 64 bits."""
    return NotationError(
        405, "this passes the whole numbers of 64 bits, which end at 9223372036854775807",
        hint="compute in floating numbers: write 1.0 · … around a tensor, or give it as one of float64",
    )  # fmt: skip


def failure(problem: Exception, source: str, term: Term) -> NotationError:
    """What a library of arrays refuses to compute, as an error of the formula."""
    why = "there is too little memory" if isinstance(problem, MemoryError) else " ".join(str(problem).split())
    return NotationError(405, f"this cannot be computed: {why}", source, place(term, source))


def place(term: Term | None, source: str) -> tuple[int, int]:
    """Where a term stands in the formula."""
    node = None if term is None else term.node
    return node.span if node is not None and hasattr(node, "span") else (0, len(source))


def index_error(problem: IndexError, source: str, term: Term) -> NotationError:
    value, size = problem.args
    span = term.node.span if term.node is not None else None
    if size is None or (isinstance(value, float) and value != int(value)):
        message = f"an index is a whole number, and this is {value}"
        return NotationError(402, message, source, span, hint="give whole numbers")
    axis = source_name(term.axes[0]) if term.axes else "the axis"
    return NotationError(
        401, f"{axis} has no element {value}: its indices go from 1 to {size}", source, span,
        hint="indices count from 1, never from the end" if value < 1 else None,
    )  # fmt: skip


RESULT: Any = object()  # who uses what is given back


class _Planner:
    def __init__(self, source: str, target: Target, limits: Limits, real: str, without: Sequence[str] = ()):
        self.source, self.target, self.limits, self.without = source, target, limits, tuple(without)
        self.writer = PlanBuilder(target, real, without)
        self.found: dict[int, Argument] = {}
        self.users: dict[int, list[Any]] = {}
        self.regions: dict[int, blocks.Region] = {}
        self.python: list[Any] = []
        self.whole: set[int] = set()  # what the library does as one
        self.projections: dict[int, list[tuple[Term, Term, Term]]] = {}
        self.blocks = self.slices = self.loops = 0
        self.prefix = ""  # of what the functions of its slices are called
        self.inputs: dict[str, Value] = {}
        self.loop_steps: dict[int, loop_steps.Looped] = {}

    def take(self, layouts: Mapping[str, Layout], names: Mapping[str, str]) -> None:
        """The inputs of the plan."""
        for name, layout in layouts.items():
            dtype = self.target.canonical(dtype_name(layout.dtype))
            self.inputs[name] = self.writer.input(names.get(name, name), layout.axes, layout.extent, dtype)

    @property
    def itemsize(self) -> int:
        """The bytes of one number."""
        return int("".join(filter(str.isdigit, self.writer.half or self.writer.real)) or 64) // 8

    # ------------------------------------------------------------------------------------------------------ in blocks
    def find_regions(self, terms: list[Term]) -> dict[int, blocks.Region]:
        found: dict[int, blocks.Region] = {}
        taken: set[int] = set()
        layers = "layers in blocks" in self.writer.optimised and blocks.are_layers(terms)
        for number in reversed(range(len(terms))):
            term = terms[number]
            if id(term) not in taken and not self.reordered(term):
                region = blocks.find_layers(terms, number, self.users, self.itemsize) if layers else None
                region = region or blocks.find(term, self.users, self.itemsize)
                if region is not None and not taken & set(region.inside):
                    found[id(term)] = region
                    taken |= set(region.inside)
        return found

    def reordered(self, term: Term) -> bool:
        """Whether a term is a chain of contractions, whose best order need not have the large array that blocks avoid."""
        return "contraction order" in self.writer.optimised and chains.chain_of(term, self.is_free) is not None

    def in_blocks(self, region: blocks.Region) -> Argument | None:
        """A region as one step, whose function is the plan of one block; None where there is nothing to cut."""
        values = [self.value(term) for term, _ in region.leaves]
        largest = max((each for each in values if isinstance(each, Value)), key=lambda each: each.count, default=None)
        if largest is None or any(isinstance(each, Value) and each.dynamic for each in values):
            return self.as_they_come(region)
        names = {name: axis for axis, name in region.leaves[values.index(largest)][1].items()}
        order = tuple(names.get(axis, axis) for axis in largest.order)
        how = blocks.cut(region, (*order, *region.root.shape), self.itemsize, slices.share(self, region.root))
        if how is None:
            return self.as_they_come(region)
        root, parts = blocks.tile(region, how)
        inner = self.inside()
        inner.prefix = f"block_{self.blocks + 1}_"
        given, cuts = [], []
        for number, (term, own) in enumerate(parts, 1):
            value = self.array(term)
            picked = {own[axis]: place for place, axis in enumerate(how.picked) if axis in own}
            rows = own.get(how.sliced)
            kept = tuple(axis for axis in value.order if axis not in picked)
            shape = tuple(
                how.rows if axis == rows else size for axis, size in zip(value.order, value.shape) if axis in kept
            )
            inner.inputs[f"part_{number}"] = inner.writer.input(f"x{number}", kept, shape, value.dtype, value)
            given.append(value)
            last = len(how.picked)
            cuts.append(tuple(picked.get(axis, last if axis == rows else None) for axis in value.order))
        result = inner.writer.array(inner.value(*inner.all((root,))))
        self.blocks += 1
        order = (*how.picked, *result.order)
        sizes = blocks.sizes_of(region.root) or {}
        shape = tuple(sizes[axis] for axis in order)
        return self.writer.step(
            "blocks", given, order, shape, result.dtype, plan=inner.writer.plan(self.source, (result,), f"b{self.blocks}_", extremes.SHORT),
            function=f"block_{self.blocks}",
            cuts=tuple(cuts), counts=(*[sizes[axis] for axis in how.picked], sizes[how.sliced]), rows=how.rows,
            at=order.index(how.sliced), sizes=shape,
        )  # fmt: skip

    def inside(self) -> _Planner:
        """A planner of what one thread computes of this, a block or a slice."""
        without = (*self.without, "blocks", "products by rows")
        inner = _Planner(self.source, self.target, self.limits, self.writer.half or self.writer.real, without)
        inner.writer.in_block = True
        return inner

    def as_they_come(self, region: blocks.Region) -> Argument:
        """The terms of a region one after the other, in whole."""
        self.regions.pop(id(region.root))
        for term in topological(region.root):
            if id(term) in region.inside and id(term) not in self.found:
                self.check_memory(term, _count(term))
                self.found[id(term)] = self.lowered(term)
        return self.found[id(region.root)]

    def all(self, roots: tuple[Term, ...]) -> tuple[Term, ...]:
        terms = topological(*roots)
        users = self.users
        for term in terms:
            users.setdefault(id(term), [])
        for term in terms:
            for argument in term.arguments:
                users[id(argument)].append(term)
        for root in roots:
            users[id(root)].append(RESULT)
        sizes = [_count(term) for term in terms]
        if "blocks" in self.writer.optimised and max(sizes, default=0) * self.itemsize >= blocks.SCORES:
            self.regions = self.find_regions(terms)
        if "one product" in self.writer.optimised:
            self.projections = projections.groups(terms, users)
        inside = {each for region in self.regions.values() for each in region.inside}
        for term, size in zip(terms, sizes):
            if id(term) in inside and id(term) not in self.regions:
                continue
            self.check_memory(term, size)
            self.writer.origin = term
            try:
                self.found[id(term)] = self.lowered(term)
            except NotationError as problem:
                raise problem.located(self.source, place(term, self.source)) from None
            except IndexProblem as problem:
                raise index_error(problem, self.source, term) from None
            except OverflowError as problem:
                raise failure(problem, self.source, term) from problem
        return roots

    def check_memory(self, term: Term, count: int) -> None:
        if count >= 0 and len(term.shape) > AXES:
            raise NotationError(
                404, f"this has {len(term.shape)} axes, and at most {AXES} can be computed with", self.source,
                place(term, self.source), hint="merge some axes, or contract them earlier",
            )  # fmt: skip
        total = 8 * count
        if total > self.limits.result:
            names = told_apart(term.shape)
            shape = {names[axis]: size for axis, size in resolved_shape(term.shape).items()}
            raise NotationError(
                404, f"this needs {_bytes(total)}, and the limit of one result is {_bytes(self.limits.result)}",
                self.source, place(term, self.source), notes=(f"its shape is {show(shape)}",),
                hint="contract an axis earlier, or raise limits.result",
            )  # fmt: skip

    # --------------------------------------------------------------------------------------------------- one term
    def value(self, term: Term) -> Argument:
        return self.found[id(term)]

    def array(self, term: Term) -> Value:
        return self.writer.array(self.value(term))

    def lowered(self, term: Term) -> Argument:
        if id(term) in self.regions:
            found = self.in_blocks(self.regions[id(term)])
            if found is not None:
                return found
        rule = self.RULES.get(term.operator)
        return self.operator(term) if rule is None else rule(self, term)

    def operator(self, term: Term) -> Argument:
        options = dict(term.options)
        sizes = {name[5:]: options.pop(name) for name in [*options] if name.startswith("size ")}
        if sizes:
            options["sizes"] = sizes
        for argument in term.arguments:
            for size in argument.shape.values():
                if not is_ground(size):
                    raise NotationError(309, "a size stays unknown", self.source, term.node.span)
        arguments = tuple([self.found[id(each)] for each in term.arguments])
        if arguments and not any(isinstance(each, Value) for each in arguments):
            arguments = tuple(map(self.writer.constant, arguments))
        rewritten = self.rewritten(term)
        if rewritten is not None:
            return rewritten
        return REGISTRY[term.operator].lower(self.writer, arguments, term.axes, options)

    # ---------------------------------------------------------------------------------------------------- rewrites
    def rewritten(self, term: Term) -> Argument | None:
        """The same by another way, which an optimisation finds to be shorter; steps that it leaves unused are dropped."""
        on = self.writer.optimised
        if not term.axes:
            if term.operator in ("+", "/") and "layer norm" in on:
                found = patterns.layer_norm(self, term)
                if found is not None:
                    return found
            if term.operator == "+" and "linear" in on:
                return patterns.linear(self, term)
            if term.operator in patterns.SCALES and "scale the smaller" in on:
                return self.scaled_smaller(term)
            return None
        contraction = REGISTRY[term.operator].kind == "contraction"
        members = self.projections.get(id(term))
        if members is not None and projections.project(self, members):
            return self.found[id(term)]
        if contraction and "attention" in on:
            found = patterns.attention(self, term)
            if found is not None:
                self.whole.add(id(term))
                return found
        if (contraction or term.operator == "∑") and "contraction order" in on:
            found = self.in_order(term)
            if found is not None:
                return found
        return self.normalised_late(term) if contraction and "normalise late" in on else None

    def in_order(self, term: Term) -> Argument | None:
        """A chain of contractions in its cheapest order."""
        w, chain = self.writer, chains.chain_of(term, self.is_free)
        if chain is None:
            return None
        values = [self.found.get(id(factor)) for factor in chain.factors]
        dtype = getattr(values[0], "dtype", "")
        if any(not isinstance(each, Value) or each.dtype != dtype or w.kind(each) != "f" for each in values):
            return None
        sizes = {axis: size for each in values for axis, size in zip(each.order, each.shape)}  # type: ignore[union-attr]
        _, tree = chains.best([frozenset(each.order) for each in values], chain.axes, sizes)  # type: ignore[union-attr]

        def members(tree: Any) -> set[int]:
            return {tree} if isinstance(tree, int) else members(tree[0]) | members(tree[1])

        def product(tree: Any) -> Any:
            if isinstance(tree, int):
                return values[tree]
            mine = members(tree)
            further = {axis for place, each in enumerate(values) if place not in mine for axis in each.order}  # type: ignore[union-attr]
            gone = chain.axes - further
            x, y = product(tree[0]), product(tree[1])
            x, y = (self.summed(each, gone - set(other.order)) for each, other in ((x, y), (y, x)))
            both = tuple(axis for axis in x.order if axis in gone and axis in y.order)
            return REGISTRY["⊙"].lower(w, (x, y), both, {})

        return product(tree)

    def summed(self, x: Value, axes: set[str] | frozenset[str]) -> Value:
        over = tuple(axis for axis in x.order if axis in axes)
        return self.writer.reduce("sum", x, over) if over else x

    def is_free(self, term: Term) -> bool:
        """Whether a product may be taken apart by the chain that it stands in."""
        return self.serves_alone(term) and id(term) not in self.whole

    def serves_alone(self, term: Term) -> bool:
        return len(self.users.get(id(term), ())) == 1

    def normalised_late(self, term: Term) -> Argument | None:
        w = self.writer
        for soft, other in (term.arguments, term.arguments[::-1]):
            if soft.operator != "softmax" or not self.serves_alone(soft) or set(soft.axes) != set(term.axes):
                continue  # over further axes the sums that are divided by would have to be summed too
            x, y = self.found.get(id(soft.arguments[0])), self.value(other)
            if not isinstance(x, Value) or not isinstance(y, Value) or w.kind(x) != "f" or y.dtype != x.dtype:
                continue
            if _count(term) >= _count(soft):
                continue
            if w.in_block and slices.share(self, term) < 1.0:
                return slices.softmax_by_slices(self, term, soft, other)
            powers, total = w.exponentials(x, soft.axes, False)
            product = REGISTRY["⊙"].lower(w, (powers, y) if soft is term.arguments[0] else (y, powers), term.axes, {})
            w.finite(product)
            return w.divide(product, total)
        return None

    def scaled_smaller(self, term: Term) -> Argument | None:
        w = self.writer
        product, factor = term.arguments
        if product.number is not None and term.operator != "/":
            product, factor = factor, product
        number = factor.number
        record = REGISTRY.get(product.operator)
        if number is None or isinstance(number, bool) or record is None or record.kind != "contraction":
            return None
        if not product.axes or not self.serves_alone(product) or number == 0 or id(product) in self.regions:
            return None
        x, y = (self.value(each) for each in product.arguments)
        if not isinstance(x, Value) or not isinstance(y, Value) or w.kind(x) != "f" or x.dtype != y.dtype:
            return None
        if 4 * min(x.count, y.count) > _count(product):  # a new array costs more than a pass over one in place
            return None
        scale = 1.0 / number if term.operator == "/" else float(number)
        x, y = (w.multiply(x, scale), y) if x.count <= y.count else (x, w.multiply(y, scale))
        return REGISTRY["⊙"].lower(w, (x, y), product.axes, {})

    def extents(self, term: Term, order: Order) -> tuple[int, ...]:
        return tuple([resolve(term.shape[axis]) for axis in order])

    # -------------------------------------------------------------------------------------------------- structural
    def input_rule(self, term: Term) -> Argument:
        value = self.inputs[term.options[0]]
        lifted = {source_name(axis): axis for axis in term.shape}
        return self.writer.renamed(value, tuple(axis if axis in term.shape else lifted[axis] for axis in value.order))

    def number_rule(self, term: Term) -> Argument:
        number = term.options[0]
        whole = isinstance(number, int) and self.writer.whole_dtype(number) == self.target.default_whole
        return number if whole else float(number)

    def constant_rule(self, term: Term) -> Argument:
        axes, extent, numbers = term.options
        whole = all(isinstance(number, int) for number in numbers)
        ends = (min(numbers), max(numbers)) if whole and numbers else ()
        dtype = self.writer.whole_dtype(*ends) if whole else self.writer.real
        return self.writer.numbers(numbers, axes, extent, dtype)

    def rename_rule(self, term: Term) -> Argument:
        names = dict(term.options)
        value = self.value(term.arguments[0])
        if not isinstance(value, Value):
            return value
        return self.writer.renamed(value, tuple(names.get(axis, axis) for axis in value.order))

    def merge_rule(self, term: Term) -> Argument:
        sources, target = term.options
        return self.writer.merge(self.array(term.arguments[0]), tuple(sources), target)

    def split_rule(self, term: Term) -> Argument:
        source, parts = term.options
        sizes = [(name, resolve(term.shape[name])) for name, _ in parts]
        return self.writer.split(self.array(term.arguments[0]), source, sizes)

    def spread_rule(self, term: Term) -> Argument:
        value = self.array(term.arguments[0])
        order = (*[axis for axis, _ in term.options], *value.order)
        return self.writer.broadcast(value, order, self.extents(term, order))

    def pick_rule(self, term: Term) -> Argument:
        axis, position = term.options
        return self.writer.pick(self.array(term.arguments[0]), {axis: position})

    def fill_rule(self, term: Term) -> Argument:
        """Parts joined along an axis, then put in order."""
        w = self.writer
        axis, positions = term.options
        rest = tuple(name for name in term.shape if name != axis)
        order, inner = (*rest, axis), self.extents(term, rest)
        parts = [
            w.broadcast(self.array(each), order, (*inner, *self.extents(each, (axis,)))) for each in term.arguments
        ]
        joined = w.concat(w.common(parts), axis) if len(parts) > 1 else parts[0]
        inverse = sorted(range(len(positions)), key=positions.__getitem__)
        if inverse == list(range(len(inverse))):
            return joined
        return w.take(joined, w.numbers(inverse, (axis,), (len(inverse),), "int64"), axis)

    def literal_rule(self, term: Term) -> Argument:
        """EntryPoints that are stacked along one new axis, which then becomes the axes of the literal."""
        w = self.writer
        axes, extent = term.options
        rest = tuple(axis for axis in term.shape if axis not in axes)
        inner = self.extents(term, rest)
        cells = [self.array(each) for each in term.arguments]
        dtype = w.common_dtype(cells)
        cells = [w.broadcast(w.cast(cell, dtype), rest, inner) for cell in cells]
        return w.reshape(w.stack(cells, "(entries)"), (*axes, *rest), (*extent, *inner))

    def iota_rule(self, term: Term) -> Argument:
        first, size = term.options
        return self.writer.arange(first, first + resolve(size), term.axes[0])

    def identity_rule(self, term: Term) -> Argument:
        return self.writer.identity(resolve(term.options[0]), term.axes)

    def indicator_rule(self, term: Term) -> Argument:
        (argument,) = term.arguments
        if argument.number is not None:
            return int(argument.number)
        return self.writer.cast(self.array(argument), self.writer.real)

    def cases_rule(self, term: Term) -> Argument:
        w = self.writer
        entries = [self.array(each) for each in term.arguments]
        pairs = list(zip(entries[0::2], entries[1::2]))
        if len(entries) % 2:
            result = entries[-1]
        else:
            result = pairs[-1][0]
            covered = pairs[0][1]
            for _, condition in pairs[1:]:
                covered = w.logical_or(covered, condition)
            if not (covered.fixed and all(term.number is True for term in term.arguments[1::2])):
                w.step("covered", (covered,), (), (), "bool")
        for value, condition in reversed(pairs):
            value, result = self.one_type(value, result)
            result = w.where(condition, value, result)
        order = tuple(term.shape)
        return w.broadcast(result, order, self.extents(term, order))

    def one_type(self, left: Value, right: Value) -> list[Argument]:
        return [left, right] if left.dtype == right.dtype else self.writer.common((left, right))

    def python_rule(self, term: Term) -> Argument:
        (registered,) = term.options
        arguments = [self.value(each) for each in term.arguments]
        orders = [each.order if isinstance(each, Value) else () for each in arguments]
        order = tuple(term.shape)
        source, node, xp = self.source, term.node, self.target.xp

        def python(*arrays: Any) -> Any:
            found = registered.run(arrays, orders, order, source, node)
            return found if hasattr(found, "dtype") else xp.asarray(found)

        self.python.append(python)
        shape = self.extents(term, order)
        return self.writer.step("python", arguments, order, shape, self.writer.real, number=len(self.python))

    def loop_rule(self, term: Term) -> Argument:
        return self.looped(term).step

    def looped(self, term: Term) -> loop_steps.Looped:
        """The step of a loop, made once."""
        if id(term) not in self.loop_steps:
            self.loop_steps[id(term)] = loop_steps.looped(self, term)
        return self.loop_steps[id(term)]

    def unknown_rule(self, term: Term) -> Argument:
        raise NotationError(309, f"{term.options[0]} is not known", self.source, term.node.span if term.node else None)

    RULES = {
        "input": input_rule,
        "number": number_rule,
        "constant": constant_rule,
        "rename": rename_rule,
        "merge": merge_rule,
        "split": split_rule,
        "spread": spread_rule,
        "pick": pick_rule,
        "fill": fill_rule,
        "literal": literal_rule,
        "iota": iota_rule,
        "identity": identity_rule,
        "indicator": indicator_rule,
        "cases": cases_rule,
        "python": python_rule,
        "unknown": unknown_rule,
        "loop": loop_rule,
        **loop_steps.RULES,
    }


def _count(term: Term) -> int:
    """How many numbers a term has; −1 where a size is not known."""
    total = 1
    for size in term.shape.values():
        size = resolve(size)
        if not isinstance(size, int):
            return -1
        total *= size
    return total


def _bytes(count: int) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024 or unit == "TiB":
            return f"{count:.0f} {unit}" if count == int(count) else f"{count:.1f} {unit}"
        count /= 1024  # type: ignore[assignment]
    return ""
