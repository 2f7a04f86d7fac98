"""Size-generic executables: a call of a new length is served by the plans of others.

What is called with one size in one place or in several, seq of the tokens and seq of their mask, is planned in full at first.
Plans whose texts differ in numbers alone are of one manner; of three of a manner, where the numbers follow from the size
(`backends.resized`), comes what serves all sizes between. Only between: what a plan decides by comparing sizes was decided
alike at both ends. Where lengths grow, one beyond the next is planned in its place, so that they are planned ever more rarely.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple
from weakref import ref

from grammar.errors import NotationError

from ..backends.function import PlanFunction, length
from ..backends.kept_code import SplitText
from ..backends.resized import SAMPLES, Pattern, Template, template, text_of
from ..core.layout import Layout
from ..operators.user_functions import USER_FUNCTIONS
from ..planning.plan import Value
from ..scope.symbols import Scope
from .arguments import Abstract, Arguments
from .executable import Executable, Typed
from .generic_types import KnownTypes
from .sizes_used import says_sizes

LIBRARIES = ("numpy", "torch")  # another compiles for each size anyway
STEPS = 32  # of a plan that is worth it
KINDS = 8  # of calls that are kept, with several fixed sizes each
BYTES = 32 * 2**20  # of the templates of a callable, about
MANNERS = 16  # in which plans of one kind are made, before no more is learned of them
WAITING = 12  # plans of one manner that are kept for a template
RANGES = 32  # templates of one manner
GROWING = 3  # times that a call was a little longer than the one before, until one beyond the next is planned for it


class Making(NamedTuple):
    """How what is given gets its types, and an executable; `given.typed` has its types where they are known."""

    typed: Callable[[Arguments], Typed]
    executable: Callable[[Arguments], Executable]


class Lengths:
    """The sizes that one callable was called with, and the plans and templates for them."""

    def __init__(self) -> None:
        self.kinds: OrderedDict[Any, list[Family]] = OrderedDict()

    def executable(self, given: Arguments, extra: tuple, scope: Callable[[], Scope], make: Making) -> Executable:
        """The executable of a call: an instance of a template where its sizes lie between known ones, else compiled.
        `extra` is part of its key besides the types of its tensors.
        """
        kind, sizes = kind_of(given)
        mark = kind, extra, USER_FUNCTIONS.version
        families = self.kinds.setdefault(mark, [])
        try:
            self.kinds.move_to_end(mark)
            while len(self.kinds) > KINDS or (len(self.kinds) > 1 and self.nbytes > BYTES):
                self.kinds.popitem(last=False)
        except KeyError:  # another thread has just dropped it
            pass
        family = next((each for each in families if each.size_of(sizes) is not None), None)
        if family is None:
            found = make.executable(given)
            if is_worth_it(found):
                families[:] = [*families[-3:], Family(sizes, found, axes_of(given), given.typed)]
            return found
        return family.executable(given, sizes, scope, make)

    @property
    def nbytes(self) -> int:
        """The memory of the templates, about."""
        families = [family for each in [*self.kinds.values()] for family in each]
        manners = [manner for family in families for manner in [*family.manners.values()]]
        return sum(each.nbytes for each in (*manners, *(family.types for family in families)))


class Served:
    """A template, and the sizes between which it holds."""

    __slots__ = ("high", "low", "template")

    def __init__(self, found: Template, sizes: Iterable[int]):
        self.template, self.low, self.high = found, min(sizes := [*sizes]), max(sizes)

    def has(self, size: int) -> bool:
        return self.low <= size <= self.high


class Manner:
    """Plans of several sizes whose texts differ in numbers alone, and the templates for sizes between them.

    Where a number is the same for some sizes and another for others, such as that of rows in a tile, each has a template.
    `known` are the sizes that were planned in any manner, with what serves them.
    """

    def __init__(self, like: Pattern, known: dict[int, Served | None]) -> None:
        self.like, self.known = like, known
        self.texts: dict[int, SplitText] = {}  # of sizes that no template gives
        self.ranges: list[Served] = []
        self.is_lawful = True

    @property
    def nbytes(self) -> int:
        return self.like.nbytes + sum(each.template.nbytes for each in [*self.ranges])

    def note(self, size: int, text: SplitText) -> None:
        """Learn of a size that was planned in this manner."""
        if not self.is_lawful:
            return
        for each in self.ranges:
            if each.template.gives(size, text) and self.is_whole(each, min(each.low, size), max(each.high, size)):
                each.low, each.high, self.known[size] = min(each.low, size), max(each.high, size), each
                return
        self.texts[size] = text
        nearest = sorted(self.texts, key=lambda other: abs(other - size))
        found, low, high = None, min(nearest[:SAMPLES]), max(nearest[:SAMPLES])
        if len(nearest) >= SAMPLES and all(low >= each.high or high <= each.low for each in self.ranges):
            found = template(self.like, {other: self.texts[other] for other in nearest[:SAMPLES]})
        if found is not None:
            served = Served(found, nearest[:SAMPLES])
            if self.is_whole(None, low, high):
                self.known |= dict.fromkeys(nearest[:SAMPLES], served)
                self.texts = {other: self.texts[other] for other in nearest[SAMPLES:]}
                self.ranges = [*self.ranges[1 - RANGES :], served]
        for other in nearest[WAITING:]:
            self.texts.pop(other, None)

    def is_whole(self, served: Served | None, low: int, high: int) -> bool:
        """Whether no size between was planned in another way."""
        return all(each is served or other in self.texts for other, each in [*self.known.items()] if low < other < high)

    def contradict(self, size: int) -> None:
        """Drop the templates where a size between was planned otherwise."""
        if any(each.has(size) for each in self.ranges):
            self.is_lawful, self.ranges, self.texts = False, [], {}


class Family:
    """Calls that differ by one size, wherever that stands."""

    def __init__(self, sizes: tuple[int, ...], first: Executable, axes: tuple[str, ...], typed: Typed):
        self.sizes, self.axes, self.typed = sizes, axes, typed._replace(checker=None)
        self.types = KnownTypes()
        self.first = ref(first)
        self.like = first.names, first.unused, first.count, first.claims
        self.places: tuple[int, ...] = ()  # where the sizes differ
        self.manners: dict[tuple[str, ...], Manner] = {}
        self.known: dict[int, Served | None] = {}  # the sizes that were planned, and the template that gives the same
        self.is_open = True  # whether there is more to learn
        self.waiting: tuple[int, Any] | None = None  # the last size that was planned, to be learned of
        self.last: int | None = None  # the size of the last call that came here
        self.grown = 0  # how many calls have been a little longer than the one before, one after another
        self.asked: tuple[Abstract, tuple[str, ...], Making] | None = None  # by which the plan of an instance is made

    def size_of(self, sizes: tuple[int, ...]) -> int | None:
        """The one size by which a call differs from the first; None where it differs otherwise."""
        places = differing(sizes, self.sizes)
        if not places or (self.places and places != self.places):
            return None
        found, before = {sizes[place] for place in places}, {self.sizes[place] for place in places}
        return found.pop() if len(found) == len(before) == 1 else None

    @property
    def ranges(self) -> list[Served]:
        return [each for manner in [*self.manners.values()] for each in manner.ranges]

    def executable(
        self, given: Arguments, sizes: tuple[int, ...], scope: Callable[[], Scope], make: Making
    ) -> Executable:
        size = self.size_of(sizes)
        assert size is not None
        last, self.last = self.last, size
        self.grown = self.grown + 1 if last is not None and last < size <= further(last) else 0
        found = self.resized(given, size, make)
        if found is None and self.learn():
            found = self.resized(given, size, make)
        if found is None and self.grown >= GROWING and self.is_open and self.stretch(given, size, make):
            found = self.resized(given, size, make)
        if found is None:
            if self.is_open and not self.places:
                self.begin(given, sizes, scope)
            found = self.planned(given, size, make)
            self.waiting = (size, ref(found)) if self.is_open else None
        return found

    def learn(self) -> bool:
        """Learn of the last size that was planned, which waits until it helps another; whether it did."""
        waiting, self.waiting = self.waiting, None
        made = None if waiting is None else waiting[1]()
        if waiting is not None and made is not None:
            self.note(waiting[0], made)
        return made is not None

    def planned(self, given: Arguments, size: int, make: Making) -> Executable:
        """An executable with a plan of its own, whose types are checked where they are not known by others'."""
        given.typed = self.types_of(given, size, make) if self.is_open else None
        return make.executable(given)

    def types_of(self, given: Arguments, size: int, make: Making) -> Typed:
        """The types for a size: by those of others where it lies between, else checked; of one far beyond, if that helps."""
        known, far = self.types.at(size), self.types.beyond(size)
        if known is None and far is not None:
            try:
                self.types.note(far, make.typed(self.alike(given, far)))
            except NotationError:  # so large a one is refused
                pass
            known = self.types.at(size)
            self.types.looks_further = known is not None
        if known is None:
            known = make.typed(given)
            self.types.note(size, known)
        return known

    def alike(self, given: Arguments, size: int) -> Arguments:
        """Arguments of another size."""
        return with_placeholders(given.values, given.positional, dict.fromkeys(self.places, size))

    def resized(self, given: Arguments, size: int, make: Making) -> Executable | None:
        """An executable for this size without a plan of its own."""
        served = next((each for each in self.ranges if each.has(size)), None)
        if served is None:
            return None
        if self.asked is None:
            self.asked = given.abstract, given.positional, make
        (abstract, positional, plan), places = self.asked, self.places
        function = served.template.at(
            size, lambda: plan.executable(with_placeholders(abstract, positional, dict.fromkeys(places, size))).function
        )
        return None if function is None else Executable(function, *self.like)

    def stretch(self, given: Arguments, size: int, make: Making) -> bool:
        """Plan one size beyond, where this one is little beyond what a template serves; whether it now serves this one."""
        highest = max((each.high for each in self.ranges if each.high < size), default=0)
        if not highest or size > further(highest) or size in self.known:
            return False
        beyond = further(size)
        if any(size < each <= beyond for each in [*self.known]):  # which is planned in another manner
            return False
        try:
            self.note(beyond, self.planned(self.alike(given, beyond), beyond, make))
        except NotationError:  # so large a one is refused
            self.known[beyond] = None
            return False
        return any(each.has(size) for each in self.ranges)

    def begin(self, given: Arguments, sizes: tuple[int, ...], scope: Callable[[], Scope]) -> None:
        """Learn from the first call by which size they differ."""
        self.places = differing(sizes, self.sizes)
        numbers = [name for name, each in given.abstract.items() if not isinstance(each, Layout)]
        axes = {self.axes[place] for place in self.places}
        self.is_open, first = not says_sizes(scope(), axes, {*self.axes} - axes, numbers), self.first()
        size = self.sizes[self.places[0]]
        if self.is_open:
            self.types.note(size, self.typed)
        del self.typed
        if first is not None:
            self.note(size, first)

    def note(self, size: int, made: Executable) -> None:
        """Learn of a size that was planned."""
        text = text_of(made.function) if self.is_open else None
        if text is None:
            return
        self.is_open = len(self.manners) < MANNERS
        _, unused, _, claims = self.like
        if made.claims != claims or made.unused != unused:
            self.is_open, self.manners = False, {}
            return
        self.known.setdefault(size, None)
        own = self.manners.get(text.between)
        if own is None:
            own = self.manners[text.between] = Manner(Pattern.of(made.function), self.known)
        for each in [*self.manners.values()]:
            if each is not own:
                each.contradict(size)
        own.note(size, text)


def further(size: int) -> int:
    """A size beyond another, so that lengths that grow one by one are planned ever more rarely."""
    return size + size // 8 + 1


def differing(sizes: tuple[int, ...], others: tuple[int, ...]) -> tuple[int, ...]:
    """The places at which sizes differ."""
    return tuple(place for place, pair in enumerate(zip(sizes, others)) if pair[0] != pair[1])


# ----------------------------------------------------------------------------------------------------- what is alike
def kind_of(given: Arguments) -> tuple[tuple, tuple[int, ...]]:
    """The key of a plan without its sizes, and the sizes."""
    kind: list[Any] = [given.positional]
    sizes: list[int] = []
    for name, value in given.values.items():
        layout = getattr(value, "layout", None)
        if isinstance(layout, Layout):
            kind.append((name, layout.axes, layout.dtype, layout.xp, layout.wide))
            sizes += layout.extent
        else:
            kind.append((name, type(value), value))
    return tuple(kind), tuple(sizes)


def axes_of(given: Arguments) -> tuple[str, ...]:
    """The axes whose sizes these are."""
    layouts = [getattr(value, "layout", None) for value in given.values.values()]
    return tuple([axis for layout in layouts if isinstance(layout, Layout) for axis in layout.axes])


def is_worth_it(made: Executable) -> bool:
    """Whether a plan is long, and is all that its function does: no function of Python is called, nor one of another compiler."""
    function = made.function
    fixed = all(isinstance(each, Value) and not each.dynamic for each in function.like.results)
    return (
        type(function) is PlanFunction and fixed and not function.own and made.instead is None
        and function.target.name in LIBRARIES and length(function.like) >= STEPS
    )  # fmt: skip


def with_placeholders(given: Abstract, positional: tuple[str, ...], sizes: Mapping[int, int]) -> Arguments:
    """Arguments with other sizes at some places: those, and all of which the layout alone is given, as arrays that hold one
    number."""
    from ..core.tensor import made

    values, place, sized = dict(given), 0, sorted(sizes)
    for name, value in given.items():
        layout = getattr(value, "layout", value)
        if not isinstance(layout, Layout):
            continue
        begin, place = place, place + len(layout.extent)
        if value is not layout and not any(begin <= each < place for each in sized):
            continue
        shape = tuple([sizes.get(begin + number, size) for number, size in enumerate(layout.extent)])
        zero = layout.xp.zeros((), dtype=layout.dtype)
        values[name] = made(layout.xp.broadcast_to(zero, shape), layout.axes)
    return Arguments(values, positional)
