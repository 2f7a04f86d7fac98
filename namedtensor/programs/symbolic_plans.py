"""Plans for changing sizes. A callable is planned with fixed sizes first, and then with symbols as sizes.

    first call of a signature     creates a plan for its sizes as numbers
    a call with other sizes       creates a plan in which the sizes that differ are symbols
    every later call              uses this plan if the sizes satisfy the plan's conditions

The *signature* of a call contains everything except sizes that a plan depends on. If the form of the program depends on
a size, such as the length of a family, that size is a number in every plan. If all sizes are numbers, each combination
of sizes has a separate plan.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any, Generic, NamedTuple, TypeVar

from grammar.cache import Cache
from grammar.errors import NotationError

from ..core.arrays import Layout, has_dimensions
from ..core.dimensions import Assumptions, Dimensions, with_assumptions
from ..core.extents import MAX_SIZE, Size, SizeSymbol, UndecidedSizeError, extent, value_at
from ..core.families import FamilyName
from ..core.monomials import UnfitSizeError
from ..core.size_conditions import SizeCondition, conditions
from ..planning.plan import PlanValue
from .arguments import Abstract, BoundArguments
from .executable import CompiledPlan
from .size_symbols import RESERVED, SizeSymbols, names_in

MAX_SIGNATURES = 32  # of one callable
MAX_PLANS = 24  # with symbols, of one signature
MAX_FAILURES = 4  # After so many failures, no further symbolic plans are tried for a signature.
Make = Callable[[BoundArguments], "CompiledPlan"]
Function = TypeVar("Function")  # the executable of a plan
Place = tuple[str, int]  # the position of a size: the name of a tensor, and the position of one of its axes


class PlanSignature(NamedTuple):
    """The key of a plan without the sizes, the sizes, and the position of each size: an input and one of its axes."""

    key: tuple[Any, ...]
    sizes: tuple[int, ...]
    places: tuple[Place, ...]


def signature_of(given: BoundArguments) -> PlanSignature:
    key: list[Any] = [given.positional]
    sizes: list[int] = []
    places: list[Place] = []
    for name, value in given.values.items():
        layout = getattr(value, "layout", None)
        if isinstance(layout, Layout):
            key.append((name, layout.axes, layout.dtype, layout.xp, layout.wide))
            sizes += layout.extent
            places += zip(repeat(name), range(len(layout.extent)))
        else:
            key.append((name, type(value), value))
    return PlanSignature(tuple(key), tuple(sizes), tuple(places))


class SymbolicPlan(NamedTuple, Generic[Function]):
    """A function for all sizes that satisfy its conditions. `symbols` maps a size's position to its symbol."""

    symbols: dict[int, SizeSymbol]
    fixed: tuple[int | None, ...]  # the sizes by position, or None for a size that is a symbol
    conditions: tuple[SizeCondition, ...]
    parts: dict[SizeSymbol, Size]  # symbols that stand for parts of others
    classes: dict[SizeSymbol, int] | None  # magnitude classes, if the speed of the plan depends on them
    executable: Function

    def fits(self, sizes: tuple[int, ...]) -> bool:
        """Return whether the plan is correct for these sizes and as fast as a plan made for them."""
        values: dict[SizeSymbol, int] = {}
        for number, (size, fixed) in enumerate(zip(sizes, self.fixed)):
            if fixed is None:
                if values.setdefault(self.symbols[number], size) != size or not 0 < size <= MAX_SIZE:
                    return False
            elif fixed != size:
                return False
        if self.classes is not None and any(magnitude(size) != self.classes[name] for name, size in values.items()):
            return False
        for symbol, size in self.parts.items():
            values[symbol] = value_at(size, values)
        return all(condition.holds(values) for condition in self.conditions)


class SignaturePlans(Generic[Function]):
    """The plans of one signature: the sizes of its first call, and the plans in which some sizes are symbols.

    If there is no first call, all sizes are symbols from the start.
    """

    def __init__(self, first: tuple[int, ...] | None = None, results: tuple[Any, ...] = ()):
        self.first = first
        self.results = results
        self.plans: tuple[SymbolicPlan[Function], ...] = ()
        self.failures = 0
        self.numbers: frozenset[str] = frozenset()  # axes whose sizes the form of the program depends on

    @property
    def is_full(self) -> bool:
        """Whether calls with other sizes are planned with fixed sizes, because there are too many plans or failures."""
        return len(self.plans) >= MAX_PLANS or self.failures >= MAX_FAILURES


class SymbolicPlans:
    """The plans of one callable whose sizes change."""

    def __init__(self) -> None:
        self._signatures: Cache[Any, SignaturePlans[CompiledPlan]] = Cache("signatures of a callable", MAX_SIGNATURES)
        self._of_dimensions: Cache[Any, tuple[CompiledPlan, Assumptions]] = Cache("plans of dimensions", MAX_SIGNATURES)

    def find_plan(self, given: BoundArguments, extra: tuple[Any, ...], make: Make) -> CompiledPlan:
        """Return the compiled plan of a call. `extra` is the part of its signature that is not in `given`."""
        key, sizes, places = signature_of(given)
        if has_dimensions(given.abstract.values()):
            return self._for_dimensions(given, (key, extra), sizes, make)
        known = self._signatures.get((key, extra))
        if known is None:
            executable = make(given)
            self._signatures.store((key, extra), SignaturePlans(sizes, result_types(executable)))
            return executable
        for plan in known.plans:
            if plan.fits(sizes):
                return plan.executable.for_other_sizes(lambda: make(given))
        if known.is_full:
            return make(given)
        result = plan_symbolically(known, given, sizes, places, make)
        if result is not None:
            known.plans = (result, *known.plans)
            return result.executable.for_other_sizes(lambda: make(given))
        executable = make(given)
        if symbols_of_call(known, given.abstract, sizes, places):
            known.failures += 1
        return executable

    def _for_dimensions(self, given: BoundArguments, key: Any, sizes: tuple[Any, ...], make: Make) -> CompiledPlan:
        """Return the compiled plan of a call whose sizes are JAX dimensions. There is one symbol for each dimension.

        Raises NotationError (309) if the plan makes an assumption about the dimensions that JAX cannot confirm.
        """
        dimensions = Dimensions({*names_in(given.values), *RESERVED})
        layouts = {
            name: dimensions.layout(layout) for name, layout in given.abstract.items() if isinstance(layout, Layout)
        }
        numbers = {size: number for number, size in enumerate(dimensions.symbols)}
        pattern = tuple(("dimension", numbers[size]) if size in numbers else size for size in sizes)

        def plan() -> tuple[CompiledPlan, Assumptions]:
            return with_assumptions(lambda: compile_for_layouts(make, given, layouts), dimensions)

        executable, assumptions = self._of_dimensions.get_or_build((key, pattern), plan)
        assumptions.check({symbol: size for size, symbol in dimensions.symbols.items()})
        return executable.for_other_sizes(None)


def compile_for_layouts(make: Make, given: BoundArguments, layouts: Mapping[str, Layout]) -> CompiledPlan:
    """Compile the plan for these layouts immediately, so that its assumptions about sizes are known, and return it."""
    executable = make(given.with_layouts(layouts))
    executable.function.compile()
    return executable


def plan_symbolically(
    known: SignaturePlans[CompiledPlan],
    given: BoundArguments,
    sizes: tuple[int, ...],
    places: Sequence[Place],
    make: Make,
) -> SymbolicPlan[CompiledPlan] | None:
    """Return a plan with symbols for the sizes that differ from the first call, or None if there is no such plan."""
    plan = with_symbols(known, given.abstract, sizes, places, partial(compile_for_layouts, make, given))
    if plan is None or result_types(plan.executable) != known.results:
        return None
    plan.executable.plan.conditions = plan.conditions
    if plan.executable.function.target.name != "numpy":
        return plan
    return plan._replace(classes={symbol: magnitude(symbol.example) for symbol in plan.symbols.values()})


def with_symbols(
    known: SignaturePlans[Function], abstract: Abstract, sizes: tuple[int, ...], places: Sequence[Place],
    make: Callable[[Mapping[str, Layout]], Function], reserved: Collection[str] = (),
) -> SymbolicPlan[Function] | None:  # fmt: skip
    """Return a plan made by `make`, with symbols for changed sizes, or None if the plan needs numbers as sizes.

    Names of symbols differ from the `reserved` names.
    """
    while True:
        symbols = symbols_of_call(known, abstract, sizes, places, reserved)
        if not symbols:
            return None
        try:
            with conditions(by_example=True) as collected:
                function = make(layouts_with(abstract, places, symbols))
        except (UnfitSizeError, NotationError):  # the check with numbers specifies what is wrong
            return None
        except UndecidedSizeError as problem:  # the form of the program depends on it
            axes = {symbol.axis for symbol in problem.size.symbols}
            if not axes or axes <= known.numbers:
                return None
            known.numbers |= axes
            continue
        fixed = tuple(None if number in symbols else size for number, size in enumerate(sizes))
        return SymbolicPlan(symbols, fixed, tuple(collected.found), collected.parts, None, function)


def symbols_of_call(
    known: SignaturePlans[Any], abstract: Abstract, sizes: tuple[int, ...], places: Sequence[Place],
    reserved: Collection[str] = (),
) -> dict[int, SizeSymbol]:  # fmt: skip
    """Return a symbol for each size that has changed since the first call or is a symbol in a known plan.

    The symbols are by the position of the size. Equal sizes of equal axes share a symbol. Sizes below 1, numbers of
    family members, and sizes that the plan needs as numbers have no symbol.
    """
    names = SizeSymbols({*names_in(abstract), *reserved})
    result: dict[tuple[str, int], SizeSymbol] = {}
    symbols: dict[int, SizeSymbol] = {}
    varying = {
        number
        for number, size in enumerate(sizes)
        if known.first is None or size != known.first[number] or any(number in plan.symbols for plan in known.plans)
    }
    for number in sorted(varying):
        (name, position), size = places[number], sizes[number]
        axis = abstract[name].axes[position]
        if axis in known.numbers or size < 1 or (isinstance(name, FamilyName) and position == 0):
            continue
        if (axis, size) not in result:
            several = any(other == axis for other, _ in result)
            result[axis, size] = SizeSymbol(names.name(f"{axis}_2" if several else axis), axis, size)
        symbols[number] = result[axis, size]
    return symbols


def layouts_with(abstract: Abstract, places: Sequence[Place], symbols: dict[int, SizeSymbol]) -> dict[str, Layout]:
    """Return the layouts of those tensors that have symbols as sizes, with these symbols."""
    extents: dict[str, list[Any]] = {}
    for number, symbol in symbols.items():
        name, position = places[number]
        extents.setdefault(name, [*abstract[name].extent])[position] = extent(symbol)
    layouts: dict[str, Layout] = {}
    for name, sizes in extents.items():
        layout = abstract[name]
        layouts[name] = Layout(layout.axes, tuple(sizes), layout.dtype, layout.xp, layout.wide)
    return layouts


def magnitude(size: int) -> int:
    """Return the magnitude class of a size. Two sizes in the same class differ by a factor of less than 4."""
    return (size.bit_length() + 1) // 2


def result_types(executable: CompiledPlan) -> tuple[Any, ...]:
    """Return the dtype, and the axes in array order, of each requested value. Values for assertions are excluded."""
    results = executable.function.plan.results[: executable.count]
    return tuple((value.dtype, value.order) if isinstance(value, PlanValue) else type(value) for value in results)
