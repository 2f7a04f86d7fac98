"""Module calls that become functions: equal calls that are repeated, and long modules that are called once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import takewhile

from .torch_records import Runs, refs_of
from .torch_repeats import ModuleCalls, Repeat, Slots, calls_of, outside_of, results_of
from .torch_trace import Ref

MIN_PARAMETERS = 3  # of a module that is worth a function
MIN_STEPS = 8  # PyTorch steps of a module that is worth a function if it is called once


def modules_as_functions(runs: Runs, output: Ref, used: Collection[int]) -> list[Repeat]:
    """Return the modules that become functions, leaving out modules whose steps are already in use.

    These are the outermost modules that are called several times, and the innermost long modules that are called once.
    """
    modules: list[Repeat] = []
    taken = {*used}
    calls = calls_of(runs)
    called = [(path, blocks_of(runs, of_module)) for path, of_module in calls.items() if len(of_module.starts) > 1]
    called += [
        (path, [tuple(runs.needed[of_module.steps[0] : of_module.steps[-1] + 1])])
        for path, of_module in sorted(calls.items(), key=lambda item: -len(item[0]))
        if MIN_STEPS <= len(of_module.steps) == of_module.steps[-1] - of_module.steps[0] + 1 < len(runs.needed)
    ]
    for path, blocks in called:
        if len(set(map(len, blocks))) > 1 or taken & {number for block in blocks for number in block}:
            continue
        module = make_shared_function(runs, blocks, output, ".".join(path))
        if module is not None:
            modules.append(module)
            taken.update(number for block in blocks for number in block)
    return modules


def blocks_of(runs: Runs, of_module: ModuleCalls) -> list[tuple[int, ...]]:
    """Return the steps of each call of a module.

    A call contains consecutive steps of the module from its first step.
    """
    inside, blocks = {*of_module.steps}, []
    for start, end in zip(of_module.starts, [*of_module.starts[1:], len(runs.needed)]):
        steps = takewhile(inside.__contains__, range(start, end))
        blocks.append(tuple(runs.needed[at] for at in steps))
    return blocks


class CallSlots(Slots):
    """The common references for equal calls. Tensors from outside are shared by all calls or become arguments."""

    def is_one(self, several: tuple[Ref, ...]) -> bool:
        first, *others = several
        same = self.is_own(first) if not others else {*others} == {first}
        return same or self.equal_constants(several)

    def is_argument(self, several: tuple[Ref, ...], outside: bool) -> bool:
        return outside

    def from_before(self, several: tuple[Ref, ...]) -> Ref | None:
        """Return None, since calls of a function do not receive values from each other."""
        return None

    def is_own(self, ref: Ref) -> bool:
        """Return whether a tensor does not depend on inputs, that is, it is a parameter, a buffer or a constant."""
        return ref not in self.runs.depends or self.kind(ref) in ("parameter", "buffer")


def make_shared_function(runs: Runs, blocks: Sequence[tuple[int, ...]], output: Ref, path: str) -> Repeat | None:
    """Return equal calls, or one call, as a function of their arguments, or None if this is not possible or useful."""
    slots = CallSlots(runs, blocks)
    steps = slots.steps()
    if steps is None or len(slots.shared) < MIN_PARAMETERS or not slots.families:
        return None
    outside = outside_of(runs, {number for block in blocks for number in block}, output)
    outside |= {ref for block in blocks for ref in find_taken_tensors(runs, block, blocks)}
    leaving = [several for several in zip(*slots.results) if outside & set(several)]
    if len(leaving) != 1:
        return None
    return Repeat(tuple(blocks), steps, (), tuple(slots.families.values()), tuple(leaving), path)


def find_taken_tensors(runs: Runs, block: tuple[int, ...], blocks: Sequence[tuple[int, ...]]) -> set[Ref]:
    """Return the references of the tensors that a call receives from other calls of its module."""
    taken = {ref for number in block for ref in refs_of(runs.steps[number])}
    others = results_of(runs, [other for other in blocks if other != block])
    return taken.intersection(ref for refs in others for ref in refs)
