"""Modules that are called several times: steps of a trace that are equal up to the tensors that they are called with."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .torch_records import refs_of
from .torch_repeats import Member, Repeat, Runs, Slots, calls_of, outside_of
from .torch_trace import Ref

LEAST = 3  # parameters of a module that is worth a function


def shared_modules(runs: Runs, output: Ref, used: Collection[int]) -> list[Repeat]:
    """The modules that are called several times, the outermost, where their steps are not used yet."""
    modules: list[Repeat] = []
    taken = {*used}
    for path, starts in calls_of(runs):
        ends = [*starts[1:], len(runs.needed)]
        blocks = [block_of(runs, path, start, end) for start, end in zip(starts, ends)]
        if len(set(map(len, blocks))) > 1 or taken & {number for block in blocks for number in block}:
            continue
        module = as_function(runs, blocks, output, ".".join(path))
        if module is not None:
            modules.append(module)
            taken.update(number for block in blocks for number in block)
    return modules


def block_of(runs: Runs, path: Sequence[str], start: int, end: int) -> tuple[int, ...]:
    """The steps of a call, from its first one, before the next call."""
    last = start
    while last < end and runs.step(runs.needed[last]).path.split(".")[: len(path)] == [*path]:
        last += 1
    return runs.needed[start:last]


class CallSlots(Slots):
    """What equal calls take: tensors from outside that are the same for all, and arguments."""

    def slot(self, several: tuple[Ref, ...]) -> Ref | None:
        first = several[0]
        positions = {inside.get(ref) for inside, ref in zip(self.positions, several)}
        if len(positions) == 1 and None not in positions:
            return first
        if positions != {None}:
            return None
        if len(set(several)) == 1 or self.equal_constants(several):
            if self.runs.first.origins.get(first, ("", ""))[0] == "parameter":
                self.shared[several] = Member(first, several)
            return first
        if not self.shaped_alike(several):
            return None
        return self.families.setdefault(several, Member(self.new(), several)).ref


def as_function(runs: Runs, blocks: Sequence[tuple[int, ...]], output: Ref, path: str) -> Repeat | None:
    """Equal calls as a function of what they are called with; None where they are not equal, or give several tensors."""
    slots = CallSlots(runs, [[ref for number in block for ref in runs.step(number).results] for block in blocks])
    if len({len(refs) for refs in slots.results}) > 1:
        return None
    steps = [slots.step(several) for several in zip(*blocks)]
    if None in steps or len(slots.shared) < LEAST or not slots.families:
        return None
    outside = outside_of(runs, {number for block in blocks for number in block}, output)
    outside |= {ref for block in blocks for ref in taken_from(runs, block, blocks)}
    leaving = [several for several in zip(*slots.results) if outside & set(several)]
    if len(leaving) != 1:
        return None
    rewritten = tuple(step for step in steps if step is not None)
    return Repeat(tuple(blocks), rewritten, (), tuple(slots.families.values()), tuple(leaving), path)


def taken_from(runs: Runs, block: tuple[int, ...], blocks: Sequence[tuple[int, ...]]) -> set[Ref]:
    """What a call takes of other calls."""
    taken = {ref for number in block for ref in refs_of(runs.step(number))}
    others = {ref for other in blocks if other != block for number in other for ref in runs.step(number).results}
    return taken & others
