"""Check that each input or size passed by keyword occurs in the program.

    evaluate("∑_{a} X", X=X, B=3)                   the formula has no B
    evaluate("∑_{a} X", X=X, sizes={"foo": 3})      the formula has no axis foo

A mapping of values, such as a checkpoint, may contain more values than a formula needs. Keyword arguments, by contrast,
are meant for this formula.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, product
from typing import Any

from grammar import nodes
from grammar.cache import cached_property
from grammar.errors import NotationError
from grammar.nodes import Axis, Call, Index, Name, Node, axis_of
from grammar.traversal import children

from ..core.suggestions import ELSEWHERE, did_you_mean, near
from ..operators import REGISTRY
from ..scope.names import ByScripts, Key, Spelled, component, key, plain_key, read_spelling, walk
from ..scope.symbols import Scope
from ..scope.uses import OF_AXES
from ..terms.environment import source_name
from ..terms.inference import InputType
from .inferred_sizes import axes_named

NUMBER = "(a number)"  # Represents any number in a script.
MAX_AMBIGUOUS_LABELS = 8  # A name with more labels matches any labels.
OPTIONS = ("sizes", "syntax", "strict", "limits", "values")  # Keyword parameters that are not tensors.


def refuse_unused(names: GivenNames, named: Iterable[str], sizes: Iterable[str], misspelt: bool = False) -> None:
    """Raise an error if the program does not use an input or a size that was passed by keyword.

    If `misspelt` is true, raise the error only if the program has a similar name.
    """
    unused = names.unused
    for name in named:
        if str(key(name)) in unused:
            needs = [str(other_key) for other_key in names.mentioned.free]
            meant = near(name, [*needs, *OPTIONS, *sorted(names.mentioned.axes)])
            if meant or not misspelt:
                raise make_unused_input_error(name, needs, meant)
    for name in sizes:
        if not (name in names.mentioned.axes or names.of(plain_key(name)) or name in names.given):
            axes = sorted(names.mentioned.axes)
            meant = near(name, [*axes, *map(str, names.mentioned.free)])
            if meant or not misspelt:
                raise make_unused_size_error(name, axes, meant)


def make_unused_input_error(name: str, needs: list[str], meant: list[str]) -> NotationError:
    return NotationError(
        201,
        f"unexpected input {name}: the formula does not use it",
        notes=(f"it uses {join_names(needs)}",) if needs else (),
        hint=did_you_mean(meant)
        or ELSEWHERE.get(name)
        or "remove it, or pass the inputs in a mapping, which may have more entries",
    )


def make_unused_size_error(name: str, axes: list[str], meant: list[str]) -> NotationError:
    return NotationError(
        204,
        f"unexpected size {name}: the formula has no axis or number of this name",
        notes=(f"its axes are {join_names(axes)}",) if axes else (),
        hint=did_you_mean(meant) or "remove it",
    )


def join_names(names: list[str]) -> str:
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")


@lru_cache(maxsize=512)
def find_mentioned_names(scope: Scope, given: frozenset[Key]) -> MentionedNames:
    """Return the names that a program mentions, given its inputs' names. Results are cached."""
    return MentionedNames(scope, given)


class MentionedNames:
    """The names and axes that a program mentions, given the names of its inputs."""

    def __init__(self, scope: Scope, given: frozenset[Key]):
        self.scope: Scope = scope
        declared = {name.key() for _, name, _, _ in scope.declarations}
        self.labeled: set[Key] = {*given, *declared, *scope.definitions}
        self.names: list[Spelled] = list(self.spellings())
        families = self.patterns.alike(given) if given else ()
        self.named: frozenset[Key] = frozenset(
            chain.from_iterable(group for _, group in families if self.names_it(group[0]))
        )  # those given that appear in the program

    @cached_property
    def axes(self) -> set[str]:
        """Return the axes that the program names, including the axes whose sizes it uses."""
        return {axis.name for axis in axes_named(self.scope.program)} | {*find_requested_axes(self.scope.program)}

    @cached_property
    def measured(self) -> set[str]:
        """Return the axes whose sizes the program uses, and the axes that it creates with unknown sizes."""
        return {*find_requested_axes(self.scope.program), *find_created_axes(self.scope)}

    def spellings(self) -> Iterator[Spelled]:
        """Yield each name that occurs in the program or that one of its operators reads, such as `seed`.

        Labels of known names are left out.
        """
        stack: list[Any] = [self.scope.program]
        while stack:
            node = stack.pop()
            if isinstance(node, Axis):
                continue
            name = read_spelling(node)
            if name is not None:
                yield name
                if name.key() in self.labeled or len(name.superscript) > 1:
                    continue  # For W^{1,Q}, whose scripts are labels, W is not yielded.
            stack += reversed(self.inside(node))
            if isinstance(node, Call) and node.operator == "standardize" and node.operator not in self.scope.functions:
                yield Spelled("ε", (), ())
            elif isinstance(node, (nodes.Draw, nodes.Expectation)):
                yield Spelled("seed", (), ())
                yield Spelled("draws", (), ())

    def inside(self, node: Any) -> tuple[Any, ...]:
        """Return the children of a node that may contain names. Axes of built-in functions are left out."""
        if isinstance(node, Call) and node.operator not in self.scope.functions:
            return (*node.superscript, *node.arguments, *node.parameters)
        if isinstance(node, nodes.Subscript) and isinstance(node.base, Name) and node.base.text in OF_AXES:
            return ()
        return children(node)

    def names_it(self, name: Key) -> bool:
        """Return whether a name occurs in the program.

        For example, W^{1,Q} occurs as W^{l,Q}, because l may be any number.
        """
        return bool(self.patterns.find(name.base, texts_of(name.subscript), texts_of(name.superscript)))

    @cached_property
    def patterns(self) -> ByScripts[None]:
        """Return an index of the names in the program. Open components match any text."""
        by_scripts: ByScripts[None] = ByScripts()
        seen: set[tuple[Any, ...]] = set()
        for spelling in self.names:
            texts = [*map(self.texts, (*spelling.subscript, *spelling.superscript))]
            if len(texts) > MAX_AMBIGUOUS_LABELS:
                texts = [(None,)] * len(texts)
            for pattern in product(*texts):
                names = spelling.base, pattern[: len(spelling.subscript)], pattern[len(spelling.subscript) :]
                if names not in seen:
                    seen.add(names)
                    by_scripts.add(*names, None)
        return by_scripts

    def texts(self, part: Node) -> tuple[str | None, ...]:
        """Return the texts that a script component can match, or (None,) if it matches any text."""
        if isinstance(part, nodes.Number):
            return (component(part),)
        is_label = isinstance(part, Name) and part.text.rstrip("'") not in self.scope.indices
        return (part.text, NUMBER) if is_label else (None,)  # type: ignore[union-attr]

    @property
    def free(self) -> list[Key]:
        """The names that the program uses but does not define, in source order."""
        heads = {
            name.key() for function in self.scope.all_functions() for name in (*function.parameters, *function.options)
        }
        defined = {family.key.base for family in self.scope.families} | {
            definition.base for definition in self.scope.definitions
        }
        defined |= {fact.base for function in self.scope.all_functions() for fact in function.facts}
        fromkeys = dict.fromkeys(spelling.key() for spelling in self.names)
        powers = {name for name in fromkeys if name.superscript and Key(name.base) in fromkeys}
        known = {*defined, *self.scope.indices, *REGISTRY}
        return [name for name in fromkeys if name in heads or not (name in powers or name.base in known)]


class GivenNames:
    """The inputs of a program, with the names and axes that the program mentions."""

    def __init__(self, scope: Scope, inputs: Mapping[Key, InputType]):
        self.inputs: Mapping[Key, InputType] = inputs
        self.mentioned: MentionedNames = find_mentioned_names(scope, frozenset(inputs))

    @cached_property
    def unused(self) -> frozenset[str]:
        """Return the names of the inputs that the program does not use."""
        return frozenset(str(name) for name in self.inputs.keys() - self.mentioned.named if not self.of(name))

    @property
    def given(self) -> set[str]:
        """The axes of all inputs."""
        axes: set[str] = set()
        return {*map(source_name, axes.union(*[input_.shape for input_ in self.inputs.values()]))}

    def of(self, name: Key) -> bool:
        """Return whether the program uses an input, an axis size of this input, or an axis size with this name."""
        return self.mentioned.names_it(name) or str(name) in self.mentioned.measured or self.is_measured(name)

    def is_measured(self, name: Key) -> bool:
        """Return whether the program uses the size of an axis of an input."""
        return name in self.inputs and not self.mentioned.measured.isdisjoint(map(source_name, self.inputs[name].shape))


@lru_cache(maxsize=4096)
def texts_of(script: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the texts that match each component of an input name's script."""
    return tuple([(text, NUMBER) if text.isdecimal() else (text,) for text in script]) if script else ()


def find_requested_axes(root: Any) -> Iterator[str]:
    """Yield the axes whose sizes a program uses, as in |a| or size(a)."""
    for node in walk(root):
        if isinstance(node, nodes.Size):
            yield node.axis.name
        elif isinstance(node, Call) and node.operator == "size":
            yield from (axis.name for axis in map(axis_of, node.arguments) if axis is not None)


def find_created_axes(scope: Scope) -> Iterator[str]:
    """Yield the axes that a program creates with unknown sizes."""
    for node in walk(scope.program):
        if isinstance(node, nodes.Equation):
            yield from (axis.name for side in node.sides if isinstance(side, Index) for axis, _ in side.items)
        elif isinstance(node, nodes.Rename):
            yield from (axis.name for _, after in node.items if len(after) > 1 for axis in after)
        elif isinstance(node, nodes.Subscript) and isinstance(node.base, Name) and node.base.text in OF_AXES:
            yield from (axis.name for axis in map(axis_of, node.components) if axis is not None)
        elif isinstance(node, Call) and node.operator in REGISTRY and REGISTRY[node.operator].new_sizes is not None:
            yield from (axis.name for axis in map(axis_of, node.subscript) if axis is not None)
