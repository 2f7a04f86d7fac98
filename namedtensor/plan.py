"""The typed tree to steps, and the steps to a value.

A plan is a sequence of steps; each runs one prepared function on positional arrays. Everything that can be known before
there is data is done while planning: axes become positions, constants become arrays, renames vanish. The plan prints
itself:

    t1 = ⊙_{key}(Q, K)      : seq'[3] × seq[4]
    t2 = /(t1, 2.0)         : seq'[3] × seq[4]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from grammar.errors import NotationError

from .arrays import at_once
from .axes import show
from .frames import plain
from .limits import DEFAULT, Limits
from .operators import REGISTRY
from .operators.record import IndexProblem
from .sizes import is_known, known
from .terms import Term, in_order, resolve

Order = tuple[str, ...]
AXES = 32  # arrays may have 64 axes, and an operation may double them
FAILURES = (ArithmeticError, ValueError, IndexError, MemoryError, RuntimeError)  # what libraries of arrays raise


def failure(problem: Exception, source: str, term: Term) -> NotationError:
    """What a library of arrays refuses to compute, as an error of the formula."""
    why = "there is too little memory" if isinstance(problem, MemoryError) else " ".join(str(problem).split())
    return NotationError(405, f"this cannot be computed: {why}", source, place(term, source))


def place(term: Term, source: str) -> tuple[int, int]:
    """Where a term stands in the formula."""
    return term.node.span if term.node is not None and hasattr(term.node, "span") else (0, len(source))


class Step(NamedTuple):
    """`slot` gets what `function` makes of the arrays in `arguments`; `lower` prepares it for dtypes that are known."""

    slot: int
    function: Callable[..., Any]
    arguments: tuple[int, ...]
    term: Term
    lower: Callable[[tuple[Any, ...]], Callable[..., Any]] | None = None


class Plan:
    """Steps from input arrays to the arrays of the results."""

    def __init__(self, source: str, xp: Any, inputs, constants, steps, results, orders):
        self.source = source
        self.xp = xp
        self.inputs: tuple[tuple[str, int], ...] = inputs  # name, slot
        self.constants: list[Any] = constants
        self.steps: tuple[Step, ...] = steps
        self.results: tuple[int, ...] = results
        self.orders: tuple[Order | None, ...] = orders
        self._calls = tuple((step.slot, step.function, step.arguments) for step in steps)
        self._runs = 0

    def run(self, arrays: Mapping[str, Any]) -> list[Any]:
        """The arrays of the results."""
        slots = list(self.constants)
        for name, slot in self.inputs:
            slots[slot] = arrays[name]
        position = 0
        try:
            for slot, function, arguments in self._calls:
                slots[slot] = function(*[slots[argument] for argument in arguments])
                position += 1
        except IndexProblem as problem:
            raise self.index_error(problem, self.steps[position].term) from None
        except NotationError as problem:
            raise problem.located(self.source, place(self.steps[position].term, self.source)) from None
        except FAILURES as problem:
            term = self.steps[position].term
            if term.operator == "python":
                raise
            raise failure(problem, self.source, term) from problem
        if self._runs < 2:
            self._runs += 1
            if self._runs == 2:
                self.settle(slots)
        return [slots[slot] for slot in self.results]

    def settle(self, slots: list[Any]) -> None:
        """Prepare each step for the dtypes that it met: a plan serves inputs of one kind, so they stay the same.

        This comes with the second run, for many formulas run only once.
        """
        calls = []
        for step in self.steps:
            function = step.function
            if step.lower is not None:
                function = step.lower(tuple(getattr(slots[argument], "dtype", None) for argument in step.arguments))
            calls.append((step.slot, function, step.arguments))
        self._calls = tuple(calls)

    def index_error(self, problem: IndexProblem, term: Term) -> NotationError:
        node = term.node
        span = node.span if node is not None else None
        if problem.size is None or (isinstance(problem.value, float) and problem.value != int(problem.value)):
            return NotationError(
                402,
                f"an index is a whole number, and this is {problem.value}",
                self.source,
                span,
                hint="give whole numbers",
            )
        axis = plain(term.axes[0]) if term.axes else "the axis"
        return NotationError(
            401,
            f"{axis} has no element {problem.value}: its indices go from 1 to {problem.size}",
            self.source,
            span,
            hint="indices count from 1, never from the end" if problem.value < 1 else None,
        )

    def __str__(self) -> str:
        names = {slot: name for name, slot in self.inputs}
        lines = []
        for number, step in enumerate(self.steps, 1):
            names[step.slot] = f"t{number}"
            scripts = "_{" + ", ".join(map(plain, step.term.axes)) + "}" if step.term.axes else ""
            given = ", ".join(self._shown(slot, names) for slot in step.arguments)
            shape = {plain(axis): size for axis, size in resolve(step.term.shape).items()}
            lines.append(f"t{number} = {step.term.operator}{scripts}({given}) : {show(shape)}")
        return "\n".join(lines)

    def _shown(self, slot: int, names: dict[int, str]) -> str:
        if slot in names:
            return names[slot]
        value = self.constants[slot]
        return f"{value:g}" if isinstance(value, (int, float)) else "constant"


def make_plan(
    source: str,
    roots: tuple[Term, ...],
    orders: Mapping[str, Order],
    xp: Any,
    real: Any = None,
    limits: Limits = DEFAULT,
) -> Plan:
    """Plan the computation of `roots` from inputs whose axes are stored in `orders`; `real` is the dtype of constants."""
    with at_once(xp):
        return _Planner(source, orders, xp, real, limits).plan(roots)


class _Planner:
    def __init__(self, source, orders, xp, real, limits):
        self.source, self.given, self.xp, self.limits = source, orders, xp, limits
        self.real = real if real is not None else xp.float64
        self.slots: dict[int, int] = {}
        self.orders: dict[int, Order | None] = {}
        self.fixed: dict[int, Any] = {}  # slot -> constant value
        self.count = 0
        self.steps: list[Step] = []
        self.inputs: list[tuple[str, int]] = []

    def plan(self, roots: tuple[Term, ...]) -> Plan:
        for term in in_order(*roots):
            self.check_memory(term)
            self.place(term)
        constants: list[Any] = [None] * self.count
        for slot, value in self.fixed.items():
            constants[slot] = value
        results = tuple(self.slots[id(root)] for root in roots)
        orders = tuple(self.orders[id(root)] for root in roots)
        needed = self.live(results)
        steps = tuple(step for step in self.steps if step.slot in needed)
        inputs = tuple((name, slot) for name, slot in self.inputs if slot in needed)
        return Plan(self.source, self.xp, inputs, constants, steps, results, orders)

    def live(self, results) -> set[int]:
        needed = set(results)
        for step in reversed(self.steps):
            if step.slot in needed:
                needed.update(step.arguments)
        return needed

    def check_memory(self, term: Term) -> None:
        sizes = [known(size) for size in term.shape.values()]
        if any(not isinstance(size, int) for size in sizes):
            return
        if len(sizes) > AXES:
            raise NotationError(
                404, f"this has {len(sizes)} axes, and at most {AXES} can be computed with", self.source,
                place(term, self.source),
                hint="merge some axes, or contract them earlier",
            )  # fmt: skip
        total = 8 * math.prod(sizes)
        if total > self.limits.result:
            shape = {plain(axis): size for axis, size in resolve(term.shape).items()}
            raise NotationError(
                404,
                f"this needs {_bytes(total)}, and the limit of one result is {_bytes(self.limits.result)}",
                self.source,
                place(term, self.source),
                notes=(f"its shape is {show(shape)}",),
                hint="contract an axis earlier, or raise limits.result",
            )

    # --------------------------------------------------------------------------------------------------- one term
    def place(self, term: Term) -> None:
        rule = self.RULES.get(term.operator)
        if rule is not None:
            rule(self, term)
        else:
            self.operator(term)

    def new_slot(self) -> int:
        self.count += 1
        return self.count - 1

    def constant(self, term: Term, value: Any, order: Order | None) -> None:
        slot = self.new_slot()
        self.fixed[slot] = value
        self.slots[id(term)] = slot
        self.orders[id(term)] = order

    def step(
        self, term: Term, function: Callable, arguments: tuple[Term, ...], order: Order, lower: Any = None
    ) -> None:
        """A step; where all it needs is constant, its value now."""
        places = tuple(self.slots[id(argument)] for argument in arguments)
        if all(place in self.fixed for place in places) and term.operator != "python":
            try:
                value = function(*(self.fixed[place] for place in places))
            except IndexProblem as problem:
                raise Plan(self.source, self.xp, (), [], (), (), ()).index_error(problem, term) from None
            except NotationError as problem:
                raise problem.located(self.source, place(term, self.source)) from None
            except FAILURES as problem:
                raise failure(problem, self.source, term) from problem
            self.constant(term, self.as_real(value), order)
            return
        slot = self.new_slot()
        self.slots[id(term)] = slot
        self.orders[id(term)] = order
        self.steps.append(Step(slot, function, places, term, lower))

    def as_real(self, value: Any) -> Any:
        if hasattr(value, "dtype") and value.dtype != self.real and self.is_floating(value.dtype):
            return self.cast(value, self.real)
        return value

    def is_floating(self, dtype: Any) -> bool:
        return self.xp.isdtype(dtype, "real floating")

    def cast(self, value: Any, dtype: Any) -> Any:
        return self.xp.astype(value, dtype)

    def alias(self, term: Term, order: Order | None) -> None:
        self.slots[id(term)] = self.slots[id(term.arguments[0])]
        self.orders[id(term)] = order

    def order_of(self, term: Term) -> Order:
        return self.orders[id(term)] or ()

    # -------------------------------------------------------------------------------------------------- structural
    def input_rule(self, term: Term) -> None:
        name = term.options[0]
        slot = self.new_slot()
        self.inputs.append((name, slot))
        lifted = {plain(axis): axis for axis in term.shape}
        self.slots[id(term)] = slot
        self.orders[id(term)] = tuple(lifted[axis] for axis in self.given[name])

    def number_rule(self, term: Term) -> None:
        self.constant(term, term.number, None)

    def constant_rule(self, term: Term) -> None:
        axes, extent, numbers = term.options
        whole = all(isinstance(number, int) for number in numbers)
        array = self.xp.asarray(list(numbers), dtype=self.xp.int64 if whole else self.real)
        self.constant(term, self.xp.reshape(array, extent), axes)

    def rename_rule(self, term: Term) -> None:
        names = dict(term.options)
        self.alias(term, tuple(names.get(axis, axis) for axis in self.order_of(term.arguments[0])))

    def merge_rule(self, term: Term) -> None:
        xp = self.xp
        (argument,) = term.arguments
        sources, target = term.options
        order = self.order_of(argument)
        rest = tuple(axis for axis in order if axis not in sources)
        moves = tuple(order.index(axis) for axis in (*rest, *sources))
        extent = tuple(known(term.shape[axis]) for axis in (*rest, target))
        self.step(
            term, lambda array: xp.reshape(xp.permute_dims(array, moves), extent), term.arguments, (*rest, target)
        )

    def split_rule(self, term: Term) -> None:
        xp = self.xp
        source, parts = term.options
        order = self.order_of(term.arguments[0])
        new: list[str] = []
        for axis in order:
            new += [name for name, _ in parts] if axis == source else [axis]
        extent = tuple(known(term.shape[axis]) for axis in new)
        self.step(term, lambda array: xp.reshape(array, extent), term.arguments, tuple(new))

    def spread_rule(self, term: Term) -> None:
        xp = self.xp
        (argument,) = term.arguments
        order = self.order_of(argument)
        added = tuple(axis for axis, _ in term.options)
        extent = tuple(known(term.shape[axis]) for axis in (*added, *order))
        self.step(term, lambda array: xp.broadcast_to(xp.asarray(array), extent), term.arguments, (*added, *order))

    def pick_rule(self, term: Term) -> None:
        axis, position = term.options
        order = self.order_of(term.arguments[0])
        at = (slice(None),) * order.index(axis) + (position,)
        rest = tuple(name for name in order if name != axis)
        self.step(term, lambda array: array[at + (...,)] if rest else array[at], term.arguments, rest)

    def fill_rule(self, term: Term) -> None:
        xp = self.xp
        axis, positions = term.options
        rest = tuple(name for name in term.shape if name != axis)
        order = (*rest, axis)
        inverse = xp.asarray(sorted(range(len(positions)), key=positions.__getitem__), dtype=xp.int64)
        align = [self.aligner(argument, order) for argument in term.arguments]
        extents = [
            tuple(known(term.shape[name]) for name in rest) + (known(argument.shape[axis]),)
            for argument in term.arguments
        ]

        def fill(*arrays):
            parts = [xp.broadcast_to(fit(array), extent) for fit, array, extent in zip(align, arrays, extents)]
            return xp.take(xp.concat(parts, axis=-1), inverse, axis=-1)

        self.step(term, fill, term.arguments, order)

    def literal_rule(self, term: Term) -> None:
        xp, real = self.xp, self.real
        axes, extent = term.options
        rest = tuple(axis for axis in term.shape if axis not in axes)
        inner = tuple(known(term.shape[axis]) for axis in rest)
        align = [self.aligner(argument, rest) for argument in term.arguments]

        def literal(*entries):
            cells = [xp.broadcast_to(fit(_array(xp, entry, real)), inner) for fit, entry in zip(align, entries)]
            common = xp.result_type(*cells) if len(cells) > 1 else cells[0].dtype
            return xp.reshape(xp.stack([xp.astype(cell, common) for cell in cells]), (*extent, *inner))

        self.step(term, literal, term.arguments, (*axes, *rest))

    def iota_rule(self, term: Term) -> None:
        first, size = term.options
        self.constant(term, self.xp.arange(first, first + known(size), dtype=self.xp.int64), term.axes)

    def identity_rule(self, term: Term) -> None:
        self.constant(term, self.xp.eye(known(term.options[0]), dtype=self.real), term.axes)

    def indicator_rule(self, term: Term) -> None:
        xp, real = self.xp, self.real
        (argument,) = term.arguments
        if argument.number is not None:
            self.constant(term, int(argument.number), None)
            return
        self.step(term, lambda array: xp.astype(array, real), term.arguments, self.order_of(argument))

    def cases_rule(self, term: Term) -> None:
        xp, real = self.xp, self.real
        order = tuple(term.shape)
        align = [self.aligner(argument, order) for argument in term.arguments]
        extent = tuple(known(size) for size in term.shape.values())
        source, node = self.source, term.node

        def cases(*entries):
            values = [fit(_array(xp, entry, real)) for fit, entry in zip(align, entries)]
            pairs = list(zip(values[0::2], values[1::2]))
            if len(values) % 2:
                result = values[-1]
            else:
                result = pairs[-1][0]
                covered = pairs[0][1]
                for _, condition in pairs[1:]:
                    covered = xp.logical_or(covered, condition)
                if not _all_true(xp, covered):
                    raise NotationError(
                        405, "no case holds for some elements", source, node.span, hint="end with: … otherwise"
                    )
            for value, condition in reversed(pairs):
                value, result = _one_type(xp, value, result)
                result = xp.where(condition, value, result)
            return xp.broadcast_to(result, extent)

        self.step(term, cases, term.arguments, order)

    def python_rule(self, term: Term) -> None:
        (registered,) = term.options
        orders = [self.order_of(argument) for argument in term.arguments]
        order = tuple(term.shape)
        source, node = self.source, term.node

        def python(*arrays):
            return registered.run(arrays, orders, order, source, node)

        self.step(term, python, term.arguments, order)

    def unknown_rule(self, term: Term) -> None:
        raise NotationError(309, f"{term.options[0]} is not known", self.source, term.node.span if term.node else None)

    def aligner(self, term: Term, order: Order) -> Callable[[Any], Any]:
        """A function that makes a term's array broadcast against the axes `order`."""
        xp, own = self.xp, self.order_of(term)
        present = tuple(axis for axis in order if axis in own)
        moves = tuple(own.index(axis) for axis in present)
        extent = tuple(known(term.shape[axis]) if axis in own else 1 for axis in order)
        if own == order:
            return lambda array: array
        if present == own:
            return lambda array: xp.reshape(array, extent)
        return lambda array: xp.reshape(xp.permute_dims(array, moves), extent)

    # ---------------------------------------------------------------------------------------------------- operators
    def operator(self, term: Term) -> None:
        record = REGISTRY[term.operator]
        sizes = {name[5:]: value for name, value in term.options if name.startswith("size ")}
        options = {name: value for name, value in term.options if not name.startswith("size ")}
        if sizes:
            options["sizes"] = sizes
        for argument in term.arguments:
            if any(not is_known(size) for size in argument.shape.values()):
                raise NotationError(309, "a size stays unknown", self.source, term.node.span)
        arguments = term.arguments
        orders = tuple(self.orders[id(argument)] for argument in arguments)
        if all(order is None for order in orders) and orders:
            function, order = record.lower(self.xp, ((),) * len(orders), term.axes, options)
            self.step(term, _on_numbers(self.xp, function, self.real), arguments, order)
            return
        function, order = record.lower(self.xp, orders, term.axes, options)

        def lower(dtypes: tuple[Any, ...]) -> Callable[..., Any]:
            return record.lower(self.xp, orders, term.axes, {**options, "dtypes": dtypes})[0]

        self.step(term, function, arguments, order, lower)

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
    }


def _array(xp: Any, value: Any, real: Any) -> Any:
    """A plain number as an array of no axes: whole where it is whole, else of the formula's own dtype."""
    if hasattr(value, "dtype"):
        return value
    return xp.asarray(value, dtype=xp.bool if isinstance(value, bool) else xp.int64 if isinstance(value, int) else real)


def _one_type(xp: Any, left: Any, right: Any) -> tuple[Any, Any]:
    if left.dtype == right.dtype:
        return left, right
    if xp.isdtype(left.dtype, "real floating") and not xp.isdtype(right.dtype, "real floating"):
        return left, xp.astype(right, left.dtype)
    if xp.isdtype(right.dtype, "real floating") and not xp.isdtype(left.dtype, "real floating"):
        return xp.astype(left, right.dtype), right
    return left, right


def _all_true(xp: Any, array: Any) -> bool:
    try:
        return bool(xp.all(array))
    except Exception:  # an array without values, while a backend traces
        return True


def _on_numbers(xp: Any, function: Callable, real: Any) -> Callable:
    """A function of arrays, applied to plain numbers."""

    def apply(*numbers):
        return function(
            *(_array(xp, float(number) if not isinstance(number, bool) else number, real) for number in numbers)
        )

    return apply


def _bytes(count: int) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024 or unit == "TiB":
            return f"{count:.0f} {unit}" if count == int(count) else f"{count:.1f} {unit}"
        count /= 1024  # type: ignore[assignment]
    return ""
