"""Plans for changing sizes. A callable is planned with fixed sizes first, and then with symbols as sizes.

    first call of a signature     creates a plan for its sizes as numbers
    a call with other sizes       creates a plan in which the sizes that differ are symbols
    every later call              uses this plan if the sizes satisfy the plan's conditions

The *signature* of a call contains everything that a plan depends on, except sizes. If the form of the program depends
on a size, such as the length of a family, that size is a number in every plan. If all sizes are numbers, each
combination of sizes has a separate plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any

from grammar.cache import Cache
from grammar.errors import NotationError

from ..core.arrays import Layout
from ..core.dimensions import Assumptions, Dimensions, with_assumptions
from ..core.extents import SizeSymbol, UndecidedSizeError, extent
from ..core.families import FamilyName
from ..core.monomials import UnfitSizeError
from ..core.size_conditions import conditions
from ..core.warned import silent
from ..planning.plan import PlanValue
from .arguments import Abstract, BoundArguments, key_of_number
from .executable import CompiledPlan
from .size_symbols import RESERVED, SizeSymbols, names_in

MAX_PLANS = 24  # with symbols, of one signature
MAX_EXACT_PLANS = 4  # of a plan with symbols, for sizes at which it fails
MAX_FAILURES = 4  # After so many failures, no further symbolic plans are tried for a signature.
Make = Callable[[BoundArguments], CompiledPlan]
Place = tuple[str, int]  # the position of a size: the name of a tensor, and the position of one of its axes


def signature_of(given: BoundArguments) -> tuple[tuple[Any, ...], tuple[int, ...], tuple[Place, ...]]:
    """Return the key of a call without its sizes, the sizes, and the tensor and axis position of each size."""
    key: list[Any] = [*given.labeled.items()]
    sizes: list[int] = []
    places: list[Place] = []
    for name, value in given.values.items():
        layout = getattr(value, "layout", None)
        if isinstance(layout, Layout):
            key.append((name, layout.axes, layout.dtype, layout.xp, layout.wide))
            sizes += layout.extent
            places += zip(repeat(name), range(len(layout.extent)))
        else:
            key.append((name, layout or key_of_number(value)))
    return tuple(key), tuple(sizes), tuple(places)


@dataclass
class SignaturePlans:
    """The plans of one signature: the sizes of its first call, and the plans in which some sizes are symbols.

    If there is no first call, all sizes are symbols from the start.
    """

    first: tuple[int, ...] | None
    results: tuple[Any, ...]  # the types of the first call's results
    plans: tuple[CompiledPlan, ...] = ()
    failures: int = 0
    numbers: set[str] = field(default_factory=set)  # axes whose sizes the form of the program depends on

    @property
    def is_full(self) -> bool:
        """Whether there are too many plans or failures to plan further sizes as symbols."""
        return len(self.plans) >= MAX_PLANS or self.failures >= MAX_FAILURES


def find_plan(plans: Cache[Any, Any], given: BoundArguments, extra: tuple[Any, ...], make: Make) -> CompiledPlan:
    """Return the compiled plan of a call. `extra` is the part of its signature that is not in `given`."""
    key, sizes, places = signature_of(given)
    compiled = plans.get((key, extra, sizes))
    if compiled is not None:
        return compiled
    known: SignaturePlans | None = plans.get((key, extra))
    if known is None:
        compiled = make(given)
        if not given.labeled:
            plans.store((key, extra), SignaturePlans(sizes, result_types(compiled)))
    else:
        fitting = next((plan for plan in known.plans if plan.fits(sizes)), None)
        if fitting is not None:
            return fitting
        compiled = None if known.is_full else plan_symbolically(known, given, sizes, places, make)
        if compiled is not None:
            known.plans = (compiled, *known.plans)
        else:
            if not known.is_full and symbols_of_call(known, given.abstract, sizes, places):
                known.failures += 1
            with silent():
                compiled = make(given)
    return plans.store((key, extra, sizes), compiled)


def find_plan_of_dimensions(
    plans: Cache[Any, Any], given: BoundArguments, extra: tuple[Any, ...], make: Make
) -> CompiledPlan:
    """Return the compiled plan of a call whose sizes are JAX dimensions. There is one symbol for each dimension.

    Raises NotationError (309) if the plan makes an assumption about the dimensions that JAX cannot confirm.
    """
    key, sizes, _ = signature_of(given)
    dimensions = Dimensions({*names_in(given.values), *RESERVED})
    layouts = {name: dimensions.layout(layout) for name, layout in given.abstract.items() if isinstance(layout, Layout)}
    numbers = {size: number for number, size in enumerate(dimensions.symbols)}
    pattern = tuple(("dimension", numbers[size]) if size in numbers else size for size in sizes)

    def plan() -> tuple[CompiledPlan, Assumptions]:
        return with_assumptions(lambda: make(given.with_layouts(layouts)), dimensions)

    compiled, assumptions = plans.get_or_build((key, extra, pattern), plan)
    assumptions.check({symbol: size for size, symbol in dimensions.symbols.items()})
    return replace(compiled)  # Dimensions of other scopes cannot be compared, so the layouts of results are not shared.


def plan_symbolically(
    known: SignaturePlans, given: BoundArguments, sizes: tuple[int, ...], places: Sequence[Place], make: Make
) -> CompiledPlan | None:
    """Return a plan with symbols for the sizes that differ from the first call, or None if there is no such plan."""
    while True:
        symbols = symbols_of_call(known, given.abstract, sizes, places)
        if not symbols:
            return None
        try:
            with conditions(by_example=True) as collected, silent():
                compiled = make(given.with_layouts(layouts_with(given.abstract, places, symbols)))
        except (UnfitSizeError, NotationError):  # The check with numbers specifies the error.
            return None
        except UndecidedSizeError as problem:  # The form of the program depends on the size.
            axes = {symbol.axis for symbol in problem.size.symbols}
            if axes <= known.numbers:
                return None
            known.numbers |= axes
            continue
        if result_types(compiled) != known.results:
            return None
        compiled.plan.conditions = tuple(collected.found)
        compiled.parts, compiled.exact = collected.parts, plan_for_arrays(given, make)
        compiled.sizes = tuple(symbols.get(number, size) for number, size in enumerate(sizes))
        return compiled


def plan_for_arrays(given: BoundArguments, make: Make) -> Callable[[Sequence[Any]], CompiledPlan]:
    """Return a function that compiles a plan for the sizes of other arrays. The arrays in `given` are not kept.

    An assertion that fails at symbolic sizes needs such a plan in every call, so the latest plans are kept.
    """
    plans: Cache[Any, CompiledPlan] = Cache("plans for failing calls", MAX_EXACT_PLANS)
    positional = given.positional
    axes = {name: value.axes if name in given.arrays else value for name, value in given.values.items()}
    names = tuple(given.arrays)

    def plan(arrays: Sequence[Any]) -> CompiledPlan:
        from ..core.tensor import wrap_array

        tensors = {name: wrap_array(array, axes[name]) for name, array in zip(names, arrays)}
        sizes = tuple(tensor.layout.extent for tensor in tensors.values())
        with silent():  # The first call of the signature has warned.
            return plans.get_or_build(sizes, lambda: make(BoundArguments({**axes, **tensors}, positional)))

    return plan


def symbols_of_call(
    known: SignaturePlans, abstract: Abstract, sizes: tuple[int, ...], places: Sequence[Place]
) -> dict[int, SizeSymbol]:
    """Return a symbol for each size that has changed since the first call or is a symbol in a known plan.

    The result maps the position of a size to its symbol. Equal sizes of equal axes share a symbol. Sizes below 1,
    numbers of family members, and sizes that the plan needs as numbers have no symbol.
    """
    names = SizeSymbols(names_in(abstract))
    result: dict[tuple[str, int], SizeSymbol] = {}
    symbols: dict[int, SizeSymbol] = {}
    varying = {
        number
        for number, size in enumerate(sizes)
        if known.first is None
        or size != known.first[number]
        or any(isinstance(plan.sizes[number], SizeSymbol) for plan in known.plans)
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
    """Return the layouts of the tensors that have symbols as sizes, with the symbols in place of the numbers."""
    extents: dict[str, list[Any]] = {}
    for number, symbol in symbols.items():
        name, position = places[number]
        extents.setdefault(name, [*abstract[name].extent])[position] = extent(symbol)
    layouts: dict[str, Layout] = {}
    for name, sizes in extents.items():
        layout = abstract[name]
        layouts[name] = Layout(layout.axes, tuple(sizes), layout.dtype, layout.xp, layout.wide)
    return layouts


def result_types(executable: CompiledPlan) -> tuple[Any, ...]:
    """Return the dtype, and the axes in array order, of each requested value. Values for assertions are excluded."""
    results = executable.function.plan.results[: executable.count]
    return tuple((value.dtype, value.order) if isinstance(value, PlanValue) else type(value) for value in results)
