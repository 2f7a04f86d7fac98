"""Lowering: the terms of a graph become values of a plan, in topological order.

`Lowering` is the state that every rule and rewrite uses. It contains the value and the users of each term, and the
builder of the plan. The planner passes the tables of rules and rewrites, so this module does not import the planner.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from grammar.cache import cached_property
from grammar.errors import NotationError

from ..core.arrays import Layout, dtype_name
from ..core.axes import Order, show
from ..core.extents import Extent, proves_at_most, typical
from ..core.families import FamilyName
from ..core.memory import bytes_in_words
from ..core.settings import Limits
from ..core.size_conditions import is_by_example, limit_size
from ..core.sizes import is_ground, resolve
from ..operators import REGISTRY
from ..operators.record import InvalidIndexError
from ..terms.environment import distinct_names, source_name
from ..terms.structural import after_pass, run_pass_checks
from ..terms.terms import Term, elements_of_each, resolve_shape, topological
from .builder import PlanBuilder
from .failures import index_error_at, make_rejection_error, span_of
from .plan import Argument, PlanValue
from .regions import Region
from .target import Target

Rule = Callable[["Lowering", Term], Argument]
Attempt = Callable[["Lowering", Term], "Argument | None"]
MAX_AXES = 32  # arrays may have 64 axes, and an operation may double them
GIVEN = ("input", "rename")  # terms that need no new array
STORED = ("int8", "uint8")  # dtypes of integers that may have a scale
SCALED = {"scaled-integers", "scaled-elements"}  # the optimizations for integers with a scale
RESULT: Any = object()  # marks a root: used by the caller


class Rewrite(NamedTuple):
    """A row of the table of rewrites: the name in `optimizations`, the kinds of terms, and the function.

    `function` returns None if the pattern does not match. Unused steps that it creates are removed from the plan.
    """

    name: str
    kinds: tuple[str, ...]
    function: Attempt


class Analysis(NamedTuple):
    """A function that runs on all terms before any of them is lowered.

    It runs if the optimization `name` is enabled and the largest array of the plan has at least `min_bytes` bytes.
    """

    name: str
    min_bytes: int
    function: Callable[[Lowering, Sequence[Term], Sequence[int]], None]


class Tables(NamedTuple):
    """The tables that control lowering: rewrites, rules and analyses.

    They consist of a rule for each structural term, the rewrites in order, the rule for tiled regions, the analyses,
    and the function that normalizes roots before they are lowered.
    """

    structural: Mapping[str, Rule]
    rewrites: Sequence[Rewrite]
    tiled: Rule
    analyses: Sequence[Analysis]
    normalize: Callable[[tuple[Term, ...], bool], tuple[Term, ...]]


class LoopStep(NamedTuple):
    """A lowered loop: its value, prototypes of its states, and the indices of states stored as arrays and as lists."""

    step: PlanValue
    states: tuple[PlanValue, ...]
    kept: tuple[int, ...]
    listed: tuple[int, ...]


class Lowering:
    """The state of lowering: the value and uses of each term, and the builder of the plan. See the module docstring."""

    def __init__(self, source: str, target: Target, limits: Limits, real: str, disable: Sequence[str], tables: Tables):
        self.source, self.target, self.limits, self.disable, self.tables = (
            source,
            target,
            limits,
            tuple(disable),
            tables,
        )
        self.builder = PlanBuilder(target, real, disable)
        self.values: dict[int, Argument] = {}
        self.uses: dict[int, list[Any]] = {}
        self.inputs: dict[str, PlanValue] = {}
        self.members: dict[str, tuple[PlanValue, int]] = {}  # for members stored in one array: the array and the index
        self.user_functions: list[Any] = []
        self.regions: dict[int, Region] = {}  # by the identity of their roots
        self.chains: dict[int, tuple[list[Term], list[str]]] = {}  # factors and summed axes of terms, for chains
        self.reordered: set[int] = set()  # products within reordered chains, which are not computed
        self.loop_steps: dict[int, LoopStep] = {}
        self.late: set[int] = set()  # products that are normalized late
        self.stored: dict[int, PlanValue] = {}  # inputs before they are placed for computation
        self.fused: set[int] = set()  # terms that the library computes in one operation
        self.wakes_blas = False  # whether a product outside of the regions is large enough to wake BLAS threads
        self.blocks = self.slices = self.loops = self.chains_as_written = 0
        self.prefix = ""  # of the names of inner functions

    def inner(self) -> Lowering:
        """Return a new lowering for the function of a tile or a slice, which runs on one thread without tiling."""
        lowering = self.lower_body("tiling")
        lowering.builder.in_block = True
        return lowering

    def lower_body(self, *disable: str) -> Lowering:
        """Return a new lowering for an inner function, such as a loop's body, that disables the given optimizations."""
        real = self.builder.half or self.builder.real
        return Lowering(self.source, self.target, self.limits, real, (*self.disable, *disable), self.tables)

    def add_inputs(
        self, layouts: Mapping[str, Layout], names: Mapping[str, str], donated: Collection[str] = ()
    ) -> None:
        """Create the plan's inputs with these names and layouts. The plan may overwrite the `donated` inputs."""
        dtypes: dict[Any, str] = {}
        for name, layout in layouts.items():
            dtype = dtypes.get(layout.dtype)
            if dtype is None:
                dtype = dtypes[layout.dtype] = self.target.canonical(dtype_name(layout.dtype))
            value = self.inputs[name] = self.builder.input(
                names.get(name, name),
                layout.axes,
                tuple(map(resolve, layout.extent)) if Extent in set(map(type, layout.extent)) else layout.extent,
                dtype,
            )
            if isinstance(name, FamilyName):
                self.members |= {member: (value, index) for index, member in enumerate(name.members)}
        if not any(value.dtype in STORED for value in self.inputs.values()):
            self.builder.optimized -= SCALED
        self.builder.donated = frozenset(self.inputs[name] for name in layouts if name in donated)

    # ------------------------------------------------------------------------------------------ properties of terms
    def value(self, term: Term) -> Argument:
        """Return the value of a term that must already be lowered."""
        return self.values[id(term)]

    def values_of(self, term: Term) -> list[Argument]:
        """Return the values of a term's arguments, which must already be lowered."""
        values = self.values
        return [values[id(argument)] for argument in term.arguments]

    def known(self, term: Term) -> Argument | None:
        """Return the value of a term, or None if it has not been lowered yet."""
        return self.values.get(id(term))

    def array(self, term: Term) -> PlanValue:
        """Return the value of a term as an array. A plain number is converted to an array without axes."""
        return self.builder.array(self.value(term))

    def extents(self, term: Term, order: Order) -> tuple[int, ...]:
        """Return the sizes of the given axes of a term."""
        return tuple([resolve(term.shape[axis]) for axis in order])

    def has_one_use(self, term: Term) -> bool:
        """Return whether a term has only one use. If so, a rewrite of this use may take the term apart."""
        return len(self.uses.get(id(term), ())) == 1

    def is_donated(self, term: Term) -> bool:
        """Return whether the only user of a term may overwrite the memory of the term's value."""
        return self.has_one_use(term) and self.builder.unnamed(self.known(term)) in self.builder.donated

    def is_separable(self, term: Term) -> bool:
        """Return whether a product that is a factor in a chain of contractions may be replaced by its own factors."""
        return self.has_one_use(term) and id(term) not in self.fused

    def may_be_reordered(self, term: Term) -> bool:
        """Return whether a product may be part of a reordered chain, so that the product itself is not computed."""
        if term.operator not in CHAINED or len(term.shape) > MAX_AXES or not self.is_separable(term):
            return False
        (user,) = self.uses[id(term)]
        return user is not RESULT and user.operator in CHAINED

    def is_on(self, name: str) -> bool:
        """Return whether an optimization is enabled."""
        return name in self.builder.optimized

    @cached_property
    def itemsize(self) -> int:
        """Return the number of bytes per element of the formula's float dtype."""
        return int("".join(filter(str.isdigit, self.builder.half or self.builder.real)) or 64) // 8

    # ------------------------------------------------------------------------------------------------- all the terms
    def lower_all(self, roots: tuple[Term, ...]) -> list[Argument]:
        """Lower the roots in topological order and return their values."""
        if after_pass:
            run_pass_checks(*roots)
        terms = topological(*roots)
        self._note_uses(terms, roots)
        counts = elements_of_each(terms)
        largest_bytes = max(map(typical, {*counts}), default=0) * self.itemsize
        for name, min_bytes, analysis in self.tables.analyses:
            if largest_bytes >= min_bytes and self.is_on(name):
                analysis(self, terms, counts)
        most = self.limits.max_result_bytes // self.itemsize
        inside = {index for region in self.regions.values() for index in region.inside}
        inputs, values, is_placed = self.inputs, self.values, self.target.placement is not None
        postponed: list[tuple[Term, int]] = []
        for term, size in zip(terms, counts):
            value = inputs.get(term.options[0]) if term.operator == "input" else None
            if value is not None and value.order == (*term.shape,) and len(term.shape) <= MAX_AXES:
                values[id(term)] = self.place_input(term, value) if is_placed else value
                continue
            if id(term) in inside and id(term) not in self.regions:
                continue
            if (size if type(size) is int else typical(size)) > most or len(term.shape) > MAX_AXES:
                if self.may_be_reordered(term):
                    postponed.append((term, size))
                else:
                    self.check_memory(term, size)
            self.builder.origin = term
            try:
                values[id(term)] = self.lower(term)
                if is_placed:
                    values[id(term)] = self.place_value(term, values[id(term)])
            except NotationError as problem:
                raise problem.located(self.source, span_of(term, self.source)) from None
            except InvalidIndexError as problem:
                raise index_error_at(problem, self.source, term) from None
            except OverflowError as problem:
                raise make_rejection_error(problem, self.source, term) from problem
        for term, size in postponed:
            if id(term) not in self.reordered:
                self.check_memory(term, size)
        self._limit_sizes(terms, counts)
        return [self.value(root) for root in roots]

    def _limit_sizes(self, terms: Sequence[Term], counts: Sequence[int]) -> None:
        """Add conditions to a plan with symbols. The plan then rejects sizes for which a result exceeds the limit."""
        largest: list[Any] = []
        computed = (pair for pair in zip(terms, counts) if id(pair[0]) not in self.reordered)
        for size in {size for term, size in computed if type(size) is Extent and term.operator not in GIVEN}:
            if not any(proves_at_most(size, other) for other in largest):
                largest = [other for other in largest if not proves_at_most(other, size)] + [size]
        for size in largest:
            limit_size(size, self.limits.max_result_bytes // self.itemsize)

    def _note_uses(self, terms: Sequence[Term], roots: Sequence[Term]) -> None:
        uses = self.uses
        for term in terms:
            uses.setdefault(id(term), [])
        for term in terms:
            for argument in term.arguments:
                uses[id(argument)].append(term)
        for root in roots:
            uses[id(root)].append(RESULT)

    def limit_result(self, term: Term, size: Any) -> None:
        """Raise NotationError if an array that a chain needs is too large. With symbols, also add a condition."""
        most = self.limits.max_result_bytes // self.itemsize
        if type(size) is Extent:
            limit_size(size, most)
        if typical(size) > most:
            self.check_memory(term, size)

    def check_memory(self, term: Term, size: Any) -> None:
        """Raise NotationError if a term has too many axes, or if its array certainly needs too many bytes."""
        if len(term.shape) > MAX_AXES and size >= 0:
            raise NotationError(
                404, f"the result has {len(term.shape)} axes; the limit is {MAX_AXES}", self.source,
                span_of(term, self.source), hint="merge some axes, or contract them earlier",
            )  # fmt: skip
        total = size * self.itemsize // self.target.share(map(source_name, term.shape))
        if type(total) is Extent and not is_by_example():  # the sizes are unknown
            return
        total = typical(total)
        if total > self.limits.max_result_bytes and term.operator not in GIVEN:
            names = distinct_names(term.shape)
            shape = {names[axis]: size for axis, size in resolve_shape(term.shape).items()}
            limit = bytes_in_words(self.limits.max_result_bytes)
            raise NotationError(
                404, f"the result needs {bytes_in_words(total)}; the limit is {limit}", self.source,
                span_of(term, self.source), notes=(f"its shape is {show(shape)}",),
                hint="contract an axis earlier, or raise limits.max_result_bytes",
            )  # fmt: skip

    # ------------------------------------------------------------------------------------------------- several devices
    def place_input(self, term: Term, value: PlanValue) -> PlanValue:
        """Return an input, moved to the devices that compute with it if the target has a placement."""
        if self.target.placement is None:
            return value
        self.stored[id(term)] = value
        return self.placed_as(value, self.target.placement.of_input(term.options[0], sizes_of(value)))

    def place_value(self, term: Term, value: Argument) -> Argument:
        """Return the value of a term, placed on devices if the target's placement has a rule for this term."""
        if self.target.placement is None or not isinstance(value, PlanValue) or value.fixed or term.node is None:
            return value
        return self.placed_as(value, self.target.placement.of_value(term, sizes_of(value)))

    def placed_as(self, value: PlanValue, function: Callable[[Any], Any] | None) -> PlanValue:
        """Return the value of a step that calls `function` to place a value. If `function` is None, add no step."""
        if function is None:
            return value
        self.user_functions.append(function)
        number = len(self.user_functions)
        return self.builder.step("placed", (value,), value.order, value.shape, value.dtype, number=number)

    # ------------------------------------------------------------------------------------------------------ one term
    def lower(self, term: Term) -> Argument:
        """Lower a term whose arguments are already lowered, by region, rule, rewrite or its operator's record."""
        if id(term) in self.regions:
            return self.tables.tiled(self, term)
        rule = self.tables.structural.get(term.operator)
        return self._lower_operator(term) if rule is None else rule(self, term)

    def number(self, term: Term) -> Argument:
        """Return the plain number that a term contains. A symbolic size becomes a constant of the plan."""
        number = term.options[0]
        return self.builder.constant(number) if type(number) is Extent else number

    def _lower_operator(self, term: Term) -> Argument:
        options = dict(term.options)
        sizes = {name[5:]: options.pop(name) for name in [*options] if name.startswith("size ")}
        if sizes:
            options["sizes"] = sizes
        for argument in term.arguments:
            for size in argument.shape.values():
                if not is_ground(size):
                    raise NotationError(309, "a size cannot be inferred", self.source, term.node.span)
        arguments = tuple(self.values_of(term))
        if arguments and not any(isinstance(operand, PlanValue) for operand in arguments):
            arguments = tuple(map(self.builder.constant, arguments))
        rewritten = self._rewrite(term)
        if rewritten is not None:
            return rewritten
        return REGISTRY[term.operator].lower(self.builder, arguments, term.axes, options)

    def _rewrite(self, term: Term) -> Argument | None:
        """Return the value of a term by the first enabled rewrite that matches, or None if no rewrite matches."""
        kinds = self.kinds_of(term)
        if kinds:
            for name, expected, function in self.tables.rewrites:
                if not kinds.isdisjoint(expected) and self.is_on(name):
                    rewrite = function(self, term)
                    if rewrite is not None:
                        return rewrite
        return None

    def kinds_of(self, term: Term) -> set[str]:
        """Return the kinds of a term, which determine the rewrites that may match the term.

        The kinds are "sum", "quotient" and "product" (without named axes), "contraction", "chain" (of contractions),
        and "index".
        """
        if not term.axes:
            return {KINDS[term.operator]} if term.operator in KINDS else set()
        if term.operator == "index":
            return {"index"}
        if term.operator not in CHAINED:
            return set()
        kinds = {"contraction"} if term.operator != "∑" else set[str]()
        if any(argument.operator in CHAINED for argument in term.arguments):
            kinds.add("chain")
        return kinds


KINDS = {"+": "sum", "/": "quotient", "⊙": "product"}  # without named axes
CHAINED = ("⊙", "∑")


def multiple(term: Term) -> tuple[Term, float] | None:
    """Return the scaled term and the scale if a product or quotient scales by a known number; otherwise return None."""
    left, right = term.arguments
    if right.number is None and term.operator != "/":
        left, right = right, left
    number = right.number
    if number is None or type(number) is Extent or isinstance(number, bool) or number == 0:
        return None
    return left, 1.0 / number if term.operator == "/" else float(number)


def sizes_of(value: PlanValue) -> dict[str, Any]:
    """Return the sizes of a value by the source names of its axes."""
    return dict(zip(map(source_name, value.order), value.shape))
