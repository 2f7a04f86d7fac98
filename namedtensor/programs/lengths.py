"""Size-generic executables: a call of a new length is served by the plans of others.

What is called with one size in one place or in several, seq of the tokens and seq of their mask, is planned in full at first.
Plans whose texts differ in numbers alone are of one manner; of three of a manner, where the numbers follow from the size
(`backends.resized`), comes what serves all sizes between. Only between: what a plan decides by comparing sizes was decided
alike at both ends. A larger size is planned at one beyond it, so that lengths that grow are planned ever more rarely.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from grammar.errors import NotationError

from ..backends.function import PlanFunction
from ..backends.kept_code import SplitText
from ..backends.resized import SAMPLES, Template, template, text_of
from ..core.layout import Layout
from ..operators.user_functions import USER_FUNCTIONS
from ..planning.plan import Value
from ..scope.symbols import Scope
from .arguments import Abstract, Arguments
from .executable import Executable
from .sizes_used import says_sizes

LIBRARIES = ("numpy", "torch")  # another compiles for each size anyway
STEPS = 32  # of a plan that is worth it
KINDS = 8  # of calls that are kept, with several fixed sizes each
MANNERS = 16  # in which plans of one kind are made, before no more is learned of them

Make = Callable[[Arguments], Executable]


class Lengths:
    """The sizes that one callable was called with, and the plans and templates for them."""

    def __init__(self) -> None:
        self.kinds: OrderedDict[Any, list[Family]] = OrderedDict()

    def executable(self, given: Arguments, extra: tuple, scope: Callable[[], Scope], make: Make) -> Executable:
        """The executable of a call: an instance of a template where its sizes lie between known ones, else compiled.
        `extra` is part of its key besides the types of its tensors.
        """
        kind, sizes = kind_of(given)
        mark = kind, extra, USER_FUNCTIONS.version
        families = self.kinds.setdefault(mark, [])
        try:
            self.kinds.move_to_end(mark)
            if len(self.kinds) > KINDS:
                self.kinds.popitem(last=False)
        except KeyError:  # another thread has just dropped it
            pass
        family = next((each for each in families if each.size_of(sizes) is not None), None)
        if family is None:
            found = make(given)
            if is_worth_it(found):
                families[:] = [*families[-3:], Family(sizes, found, axes_of(given))]
            return found
        return family.executable(given, sizes, scope, make)


class PlanTemplate:
    """Plans of several sizes whose texts differ in numbers alone, and the template for the sizes between them."""

    def __init__(self) -> None:
        self.texts: dict[int, SplitText] = {}
        self.template: Template | None = None
        self.low = self.high = 0
        self.is_lawful = True

    def serves(self, size: int) -> bool:
        return self.template is not None and self.low <= size <= self.high

    def note(self, size: int, function: PlanFunction, text: SplitText) -> None:
        """Learn of a size that was planned in this manner."""
        if not self.is_lawful:
            return
        if self.template is None:
            self.texts[size] = text
            if len(self.texts) < SAMPLES:
                return
            self.template = template(function, self.texts)
            self.low, self.high = min(self.texts), max(self.texts)
            self.is_lawful, self.texts = self.template is not None, {}
        elif self.template.gives(size, text):
            self.low, self.high = min(self.low, size), max(self.high, size)
        else:
            self.give_up()

    def contradict(self, size: int) -> None:
        """Drop the template: a size between was planned otherwise."""
        if self.serves(size):
            self.give_up()

    def give_up(self) -> None:
        self.is_lawful, self.template, self.texts = False, None, {}


class Family:
    """Calls that differ by one size, wherever that stands."""

    def __init__(self, sizes: tuple[int, ...], first: Executable, axes: tuple[str, ...]):
        self.sizes, self.first, self.axes = sizes, first, axes
        self.places: tuple[int, ...] = ()  # where the sizes differ
        self.manners: dict[tuple[str, ...], PlanTemplate] = {}
        self.is_open = True  # whether there is more to learn
        self.stretched = 0  # the largest size that another was planned beyond
        self.asked: tuple[Abstract, tuple[str, ...], Make] | None = None  # by which the plan of an instance is made

    def size_of(self, sizes: tuple[int, ...]) -> int | None:
        """The one size by which a call differs from the first; None where it differs otherwise."""
        places = differing(sizes, self.sizes)
        if not places or (self.places and places != self.places):
            return None
        found, before = {sizes[place] for place in places}, {self.sizes[place] for place in places}
        return found.pop() if len(found) == len(before) == 1 else None

    def executable(
        self, given: Arguments, sizes: tuple[int, ...], scope: Callable[[], Scope], make: Make
    ) -> Executable:
        size = self.size_of(sizes)
        assert size is not None
        found = self.resized(given, size, make)
        if found is None and self.is_open and self.stretch(given, size, make):
            found = self.resized(given, size, make)
        if found is None:
            found = make(given)
            if self.is_open and not self.places:
                self.begin(given, sizes, scope)
            self.note(size, found)
        return found

    def resized(self, given: Arguments, size: int, make: Make) -> Executable | None:
        """An executable for this size without a plan of its own."""
        manner = next((each for each in [*self.manners.values()] if each.serves(size)), None)
        if manner is None or manner.template is None:
            return None
        if self.asked is None:
            self.asked = given.abstract, given.positional, make
        (abstract, positional, plan), first, places = self.asked, self.first, self.places
        function = manner.template.at(
            size, lambda: plan(with_placeholders(abstract, positional, dict.fromkeys(places, size))).function
        )
        return None if function is None else Executable(function, first.names, first.unused, first.count, first.claims)

    def stretch(self, given: Arguments, size: int, make: Make) -> bool:
        """Plan one size beyond all known ones, so that the template reaches one that is little beyond; whether it does."""
        highest = max((each.high for each in [*self.manners.values()] if each.template is not None), default=0)
        if not highest or size <= max(highest, self.stretched) or size > further(highest):
            return False
        self.stretched = beyond = further(size)
        try:
            planned = make(with_placeholders(given.abstract, given.positional, dict.fromkeys(self.places, beyond)))
        except NotationError:  # so large a one is refused
            return False
        self.note(beyond, planned)
        return any(each.serves(size) for each in [*self.manners.values()])

    def begin(self, given: Arguments, sizes: tuple[int, ...], scope: Callable[[], Scope]) -> None:
        """Learn from the first call by which size they differ."""
        self.places = differing(sizes, self.sizes)
        numbers = [name for name, each in given.abstract.items() if not isinstance(each, Layout)]
        axes = {self.axes[place] for place in self.places}
        self.is_open = not says_sizes(scope(), axes, {*self.axes} - axes, numbers)
        self.note(self.sizes[self.places[0]], self.first)

    def note(self, size: int, made: Executable) -> None:
        """Learn of a size that was planned."""
        text = text_of(made.function) if self.is_open else None
        if text is None:
            return
        self.is_open = len(self.manners) < MANNERS
        if made.claims != self.first.claims or made.unused != self.first.unused:
            self.is_open, self.manners = False, {}
            return
        own = self.manners.setdefault(text.between, PlanTemplate())
        for each in [*self.manners.values()]:
            if each is not own:
                each.contradict(size)
        own.note(size, made.function, text)


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
    layouts = (getattr(value, "layout", None) for value in given.values.values())
    return tuple(axis for layout in layouts if isinstance(layout, Layout) for axis in layout.axes)


def is_worth_it(made: Executable) -> bool:
    """Whether a plan is long, and is all that its function does: no function of Python is called, nor one of another compiler."""
    function = made.function
    fixed = all(isinstance(each, Value) and not each.dynamic for each in function.like.results)
    return (
        type(function) is PlanFunction and fixed and not function.own and made.instead is None
        and function.target.name in LIBRARIES and len(function.like.steps) >= STEPS
    )  # fmt: skip


def with_placeholders(abstract: Abstract, positional: tuple[str, ...], sizes: Mapping[int, int]) -> Arguments:
    """Abstract arguments as arrays that hold one number, with other sizes at some places."""
    from ..core.tensor import made

    values, place = dict(abstract), 0
    for name, layout in abstract.items():
        if not isinstance(layout, Layout):
            continue
        shape = tuple([sizes.get(place + number, size) for number, size in enumerate(layout.extent)])
        place += len(shape)
        zero = layout.xp.zeros((), dtype=layout.dtype)
        values[name] = made(layout.xp.broadcast_to(zero, shape), layout.axes)
    return Arguments(values, positional)
