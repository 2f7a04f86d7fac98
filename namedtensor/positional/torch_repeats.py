"""Repeated layers of a module, whose steps in a trace are equal except for their parameters, and repeated calls.

A layer begins at a numbered child of a module, such as a child of `ModuleList` or `Sequential`, or at a call of a
module that is called several times. One layer follows another if corresponding steps have the same operator and
corresponding arguments. Arguments correspond if they are equal numbers, the same tensor from outside, results of the
same step of each layer, parameters of each layer, or results of the previous layer.

Calls of one module become a function, and so does a long module that is called once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, takewhile
from operator import itemgetter
from typing import NamedTuple

import torch

from .torch_records import Runs, is_ref, is_statistics, leaves, refs_of, with_refs
from .torch_trace import Ref, TraceStep

PERIOD = 6  # children of a module that one layer may have


class Carried(NamedTuple):
    """A value that a layer receives from the previous layer.

    `ref` is its reference in a layer, `initial` is its value for the first layer, and `result` becomes the value for
    the next layer.
    """

    ref: Ref
    initial: Ref
    result: Ref


class RepeatMember(NamedTuple):
    """A parameter or buffer that each layer has separately: one common reference, and a reference for each layer."""

    ref: Ref
    members: tuple[Ref, ...]


@dataclass(frozen=True)
class Repeat:
    """Equal layers: the steps of each layer, and the first layer's steps with references common to all layers."""

    blocks: tuple[tuple[int, ...], ...]
    steps: tuple[TraceStep, ...]
    carried: tuple[Carried, ...]
    families: tuple[RepeatMember, ...]
    # each result that is used after the layers, with the results of all layers
    leaving: tuple[tuple[Ref, ...], ...] = ()
    function: str = ""  # the path of a module that is called several times: its steps are a function of `families`


class ModuleCalls(NamedTuple):
    """The positions of a module's steps in the list of required steps, with the positions at which its calls begin."""

    steps: list[int]
    starts: list[int]


def calls_of(runs: Runs) -> dict[tuple[str, ...], ModuleCalls]:
    """Return the calls of each module by its path, outer modules first.

    A new call begins wherever the first step of the first call is repeated.
    """
    calls: dict[tuple[str, ...], ModuleCalls] = {}
    for at, number in enumerate(runs.needed):
        step = runs.steps[number]
        path = tuple(filter(None, step.path.split(".")))
        for depth in range(1, len(path) + 1):
            of_module = calls.setdefault(path[:depth], ModuleCalls([], []))
            of_module.steps.append(at)
            first = runs.steps[runs.needed[of_module.steps[0]]]
            if (first.path, first.operator, first.source) == (step.path, step.operator, step.source):
                of_module.starts.append(at)
    return {path: calls[path] for path in sorted(calls, key=lambda path: (len(path), path))}


def starts_in(calls: Mapping[tuple[str, ...], ModuleCalls], parent: tuple[str, ...]) -> list[int]:
    """Return the positions, in the list of required steps, at which the children of a module begin."""
    steps = sorted((at, path) for path, of_child in calls.items() if path[:-1] == parent for at in of_child.steps)
    return [next(group)[0] for _, group in groupby(steps, key=itemgetter(1))]


def find_repeats(runs: Runs, output: Ref) -> list[Repeat]:
    """Return the outermost groups of equal layers, in the order of their first layers, and then the functions.

    A module that is called several times becomes a function, and so does an innermost long module that is called once.
    """
    repeats: list[Repeat] = []
    used: set[int] = set()
    calls = calls_of(runs)

    def keep(repeat: Repeat | None) -> None:
        numbers = {number for block in repeat.blocks for number in block} if repeat is not None else set[int]()
        if repeat is not None and not used & numbers:
            repeats.append(repeat)
            used.update(numbers)

    parents = dict.fromkeys(sorted((len(path), path[:-1]) for path in calls if path[-1].isdigit()))
    begun = [starts_in(calls, parent) for _, parent in parents]
    begun += [of_module.starts for of_module in calls.values() if len(of_module.starts) > 1]
    for starts in begun:
        while len(starts := [start for start in starts if runs.needed[start] not in used]) > 1:
            keep(find_longest(runs, starts, output))
            starts = starts[1:]
    repeats.sort(key=lambda repeat: repeat.blocks)
    for path, blocks in blocks_of_calls(runs, calls):
        if len(set(map(len, blocks))) == 1 and not used & {number for block in blocks for number in block}:
            keep(join_blocks(runs, blocks, output, ".".join(path)))
    return repeats


def find_longest(runs: Runs, starts: Sequence[int], output: Ref) -> Repeat | None:
    """Return the equal layers that begin at the first child and cover the most steps, or None if there are none."""
    periods = range(1, min(PERIOD, len(starts) // 2 + 1) + 1)
    repeats = [repeat for period in periods if (repeat := find_layers(runs, starts[::period], output)) is not None]
    return max(repeats, key=lambda repeat: len(repeat.blocks) * len(repeat.blocks[0]), default=None)


def find_layers(runs: Runs, starts: Sequence[int], output: Ref) -> Repeat | None:
    """Return the longest run of equal layers that begins at the first position, or None if no run begins there."""
    length = starts[1] - starts[0] if len(starts) > 1 else 0
    equal = takewhile(lambda pair: pair[1] - pair[0] == length, pairwise(starts))
    blocks = [runs.needed[start : start + length] for start in (starts[0], *(after for _, after in equal))]
    best: Repeat | None = None
    for count in range(2, len(blocks) + 1):
        repeat = join_blocks(runs, blocks[:count], output) if len(blocks[count - 1]) == length else None
        if repeat is None:
            break
        best = repeat
    return best


MIN_PARAMETERS = 3  # of a module that is worth a function
MIN_STEPS = 8  # PyTorch steps of a module that is worth a function if it is called once


def join_blocks(runs: Runs, blocks: Sequence[tuple[int, ...]], output: Ref, function: str = "") -> Repeat | None:
    """Merge blocks of steps into one group of equal layers or, given the path of a module, into a function.

    The result is None if the blocks differ. It is also None for layers that do not pass a tensor to the next layer or
    have no parameters, and for functions that have few parameters, no argument, or several results.
    """
    slots = (CallSlots if function else Slots)(runs, blocks)
    steps = slots.steps()
    leaving = find_leaving_results(runs, blocks, output)
    if function:
        is_useful = slots.families and len(slots.shared) >= MIN_PARAMETERS and len(leaving) == 1
    else:
        is_useful = slots.carried and (slots.families or slots.shared)
    if steps is None or not is_useful:
        return None
    carried, families = tuple(slots.carried.values()), tuple(slots.families.values())
    return Repeat(tuple(blocks), steps, carried, families, leaving, function)


class Slots:
    """The common references for corresponding tensors of equal layers."""

    def __init__(self, runs: Runs, blocks: Sequence[tuple[int, ...]]):
        self.runs, self.blocks = runs, blocks
        self.results = results_of(runs, blocks)
        self.positions = [{ref: position for position, ref in enumerate(refs)} for refs in self.results]
        self.carried: dict[tuple[Ref, ...], Carried] = {}
        self.families: dict[tuple[Ref, ...], RepeatMember] = {}
        self.shared: set[tuple[Ref, ...]] = set()  # parameters that all layers share

    def steps(self) -> tuple[TraceStep, ...] | None:
        """Return the first layer's steps with common references, or None if the steps differ between layers."""
        if len(set(map(len, self.results))) > 1:
            return None
        steps: list[TraceStep] = []
        for several in zip(*self.blocks):
            step = self.step(several)
            if step is None:
                return None
            steps.append(step)
        return tuple(steps)

    def step(self, numbers: Sequence[int]) -> TraceStep | None:
        """Return the first of corresponding steps with common references, or None if the steps are not equal."""
        steps = [self.runs.steps[number] for number in numbers]
        first, *others = [signature_of(self.runs, step) for step in steps]
        if any(other != first for other in others):
            return None
        refs: list[Ref] = []
        for several in zip(*map(refs_of, steps)):
            ref = self.slot(several)
            if ref is None:
                return None
            refs.append(ref)
        return replace(steps[0], arguments=with_refs(steps[0].arguments, refs))

    def slot(self, several: tuple[Ref, ...]) -> Ref | None:
        """Return the common reference for corresponding tensors of the layers, or None if they do not correspond."""
        first = several[0]
        positions = {inside.get(ref) for inside, ref in zip(self.positions, several)}
        outside = positions == {None}
        if len(positions) == 1 and not outside:
            return first
        if outside and self.is_one(several):
            if self.kind(first) == "parameter":
                self.shared.add(several)
            return first
        if self.is_argument(several, outside) and self.have_equal_shapes(several):
            return self.families.setdefault(several, RepeatMember(self.new(), several)).ref
        return self.from_before(several)

    def kind(self, ref: Ref) -> str:
        """Return the origin of a tensor, such as "input" or "parameter", or "" if a step computes the tensor."""
        return self.runs.origins.get(ref, ("", ""))[0]

    def is_one(self, several: tuple[Ref, ...]) -> bool:
        """Return whether all layers use the same tensor, or equal constants, from outside the layers."""
        return len(set(several)) == 1 or (self.equal_constants(several) and not self.statistics(several))

    def is_argument(self, several: tuple[Ref, ...], outside: bool) -> bool:
        """Return whether all corresponding tensors are parameters, or all are buffers."""
        return {self.kind(ref) for ref in several} in ({"parameter"}, {"buffer"})

    def statistics(self, several: Sequence[Ref]) -> bool:
        """Return whether all tensors are float vectors that no step computes, such as running statistics."""
        pairs = [self.runs.tensors[ref.index] for ref in several]
        return all(ref in self.runs.origins for ref in several) and all(is_statistics(pair.first) for pair in pairs)

    def from_before(self, several: tuple[Ref, ...]) -> Ref | None:
        """Return one reference that represents the tensor that each layer receives from the previous layer.

        Return None if the layers do not receive these tensors from each other.
        """
        position = self.positions[0].get(several[1])
        if position is None or several[0] in self.positions[0]:
            return None
        if any(
            ref != results[position] for ref, results in zip(several[1:], self.results)
        ) or not self.have_equal_shapes(several):
            return None
        return self.carried.setdefault(several, Carried(self.new(), several[0], several[1])).ref

    def new(self) -> Ref:
        """Return a reference that is not yet in use."""
        return Ref(next(self.runs.unused))

    def equal_constants(self, several: Iterable[Ref]) -> bool:
        """Return whether tensors are constants that have equal values in each run."""
        refs = list(several)
        if any(ref in self.runs.depends for ref in refs):
            return False
        first, *others = [self.runs.tensors[ref.index] for ref in refs]
        return all(all(map(torch.equal, first, other)) for other in others)

    def have_equal_shapes(self, several: Sequence[Ref]) -> bool:
        pairs = [self.runs.tensors[ref.index] for ref in several]
        return len({(pair.shape, pair.first.dtype) for pair in pairs}) == 1


def results_of(runs: Runs, blocks: Sequence[Sequence[int]]) -> list[list[Ref]]:
    """Return, for each block, the references of the results of its steps."""
    return [[ref for number in block for ref in runs.steps[number].results] for block in blocks]


def signature_of(runs: Runs, step: TraceStep) -> tuple[object, ...]:
    """Return the parts of a step that are equal in equal layers: all but the tensors that it uses."""
    numbers = [(type(leaf), None if is_ref(leaf) else leaf) for leaf in leaves(step.arguments)]
    shapes = [runs.tensors[ref.index].shape for ref in step.results]
    return step.operator, [*step.arguments], numbers, shapes


def find_leaving_results(runs: Runs, blocks: Sequence[tuple[int, ...]], output: Ref) -> tuple[tuple[Ref, ...], ...]:
    """Return the results that are used outside of their block, with corresponding results in one tuple."""
    results = results_of(runs, blocks)
    makers = {ref: block for block, refs in zip(blocks, results) for ref in refs}
    users = {number: block for block in blocks for number in block}
    leaving = {output}
    for number in runs.needed:
        leaving.update(ref for ref in refs_of(runs.steps[number]) if makers.get(ref) != users.get(number))
    return tuple(several for several in zip(*results) if leaving & set(several))


def with_repeats(runs: Runs, repeats: Sequence[Repeat]) -> Runs:
    """Return the runs, with the first layers' steps replaced by steps that use common references."""
    steps, tensors, depends = [*runs.steps], {**runs.tensors}, set(runs.depends)
    for repeat in repeats:
        pairs = [(carried.ref, carried.initial) for carried in repeat.carried]
        pairs += [(family.ref, family.members[0]) for family in repeat.families]
        tensors |= {ref.index: tensors[like.index] for ref, like in pairs}
        depends.update(ref for ref, _ in pairs)
        for number, step in zip(repeat.blocks[0], repeat.steps):
            steps[number] = step
    return replace(runs, steps=steps, tensors=tensors, depends=frozenset(depends))


def blocks_of_calls(
    runs: Runs, calls: Mapping[tuple[str, ...], ModuleCalls]
) -> Iterator[tuple[tuple[str, ...], list[tuple[int, ...]]]]:
    """Yield the paths of the modules that can become functions, with the steps of each of their calls."""
    for path, of_module in calls.items():
        if len(of_module.starts) > 1:
            yield path, blocks_of(runs, of_module)
    for path, of_module in sorted(calls.items(), key=lambda item: -len(item[0])):
        first, last = of_module.steps[0], of_module.steps[-1]
        if MIN_STEPS <= len(of_module.steps) == last - first + 1 < len(runs.needed):
            yield path, [tuple(runs.needed[first : last + 1])]


def blocks_of(runs: Runs, of_module: ModuleCalls) -> list[tuple[int, ...]]:
    """Return the steps of each call of a module.

    They are the consecutive steps of the module from the start of the call.
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
