"""Bound arguments of a call: tensors, numbers and shapes by name, with their types, layouts and cache key."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from keyword import iskeyword
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError
from grammar.nodes import Declaration
from grammar.parser import parse

from ..core.arrays import MOST, Layout
from ..core.axes import check_axis
from ..core.families import FamilyName
from ..core.kinds import require_mapping, to_integer
from ..core.sizes import SizeVariable, is_ground, resolve
from ..scope.names import MAX_CACHED_NAMES, Key, arithmetic, index_by_key, key, key_of, plain_key, two_spellings
from ..terms.inference import InputType

if TYPE_CHECKING:
    from .parsed import ParsedProgram

Values = Mapping[str, Any]
Abstract = Mapping[str, Any]  # by name: the Layout of a tensor, or a number
DTYPE = "float32"  # the dtype of inputs for which only a shape is given
LAYOUT, ARRAY = attrgetter("layout"), attrgetter("_array")
NUMBERS = frozenset((bool, int, float))


# --------------------------------------------------------------------------------------------------------- the values
class BoundArguments:
    """The bound arguments of one call, and the arrays of its tensors.

    The input types for the checker are computed on first use. The names in `positional` are arguments of a function, not
    names of the program.
    """

    __slots__ = ("_layouts", "_types", "arrays", "labeled", "positional", "tables", "values")

    def __init__(self, values: Mapping[str, Any], positional: tuple[str, ...] = ()):
        from ..core.tensor import NamedTensor, wrap_layout
        from ..tensors.values import convert_value

        self.positional: tuple[str, ...] = positional
        self._types: dict[Key, InputType] | None = None
        self._layouts: Mapping[str, Layout] = {}  # with symbols for some sizes
        self.arrays: dict[str, Any] = {}
        self.values: dict[str, Any] = {}
        self.tables: set[str] = set()  # names of inputs given as tables of other libraries
        self.labeled: dict[str, Any] = {}  # the labeled layouts; `values` has their plain tensors
        for name, value in values.items():
            text = spelling_of(name)
            if text in self.values:
                raise two_spellings(name, values, spelling_of)
            if type(value) is not NamedTensor:
                value = convert_value(table := value, text)
                if type(value) is NamedTensor and value.layout.labels and not hasattr(table, "layout"):
                    self.tables.add(text)
            if type(value) is NamedTensor:
                if value.layout.labels:
                    self.labeled[text] = value.layout
                    value = wrap_layout(value._array, value.layout.plain)  # type: ignore[attr-defined]
                self.arrays[text] = value._array
            self.values[text] = value

    def __reduce__(self) -> Any:  # layouts hold modules, which cannot be pickled
        return BoundArguments, (self.values, self.positional)

    def with_numbers(self, program: ParsedProgram) -> BoundArguments:
        """Return the arguments with a plain number in place of each scalar whose value is needed before planning."""
        values = program.convert_scalars(self.values, lambda: self.inputs)
        if values is self.values:
            return self
        numbers = BoundArguments(values, self.positional)
        numbers.labeled, numbers.tables = self.labeled, self.tables
        return numbers.with_labels() if self.labeled else numbers

    @property
    def abstract(self) -> Abstract:
        """The abstract arguments of a plan: the layout of each tensor and each plain number."""
        return {text: getattr(value, "layout", value) for text, value in self.values.items()} | dict(self._layouts)

    def with_layouts(self, layouts: Mapping[str, Layout]) -> BoundArguments:
        """Return the arguments with other layouts for some tensors, such as layouts with symbols for sizes."""
        arguments = BoundArguments(self.values, self.positional)
        arguments._layouts, arguments.labeled, arguments.tables = layouts, self.labeled, self.tables
        return arguments

    def with_labels(self) -> BoundArguments:
        """Return the arguments with the tensors' labels included in the types."""
        return self.with_layouts(self.labeled)

    @property
    def inputs(self) -> dict[Key, InputType]:
        """The input types of the arguments that provide values for names of the program."""
        arguments = frozenset(map(key, self.positional))
        return {name: type_ for name, type_ in self.types.items() if name not in arguments}

    @property
    def arguments(self) -> list[tuple[str, InputType]]:
        """The name and the input type of each positional argument of a function."""
        return [(text, self.types[key(text)]) for text in self.positional]

    @property
    def types(self) -> dict[Key, InputType]:
        """The types of all inputs, for the checker."""
        if self._types is None:
            self._types = types_of(self.abstract)
        return self._types


def key_of_number(value: Any) -> tuple[Any, ...]:
    """Return the part of a cache key for a number. It distinguishes 0.0 from −0.0, because 1/x differs for them."""
    return type(value), value if type(value) is int else repr(value)


def arrays_and_keys(given: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the arrays of the tensors among the values, and a key for each value.

    The key of a tensor is its layout. The key of a number contains its type and digits.

    Raises AttributeError if a value is neither a tensor nor a number.
    """
    keys = [key_of_number(value) if type(value) in NUMBERS else value.layout for value in given]
    return [value._array for value in given if type(value) not in NUMBERS], keys


def types_of(abstract: Abstract) -> dict[Key, InputType]:
    """Return the types of inputs for the checker. If an array stores a family, each member has a type."""
    types: dict[Key, InputType] = {}
    for name, value in abstract.items():
        if isinstance(name, FamilyName):
            types |= dict.fromkeys(map(key_of, name.members), type_of_member(value))
        else:
            of_layout = make_labeled_type if getattr(value, "labels", ()) else type_of
            types[key_of(name)] = of_layout(value) if isinstance(value, Layout) else InputType({}, value)
    return types


@lru_cache(maxsize=MOST)
def type_of(layout: Layout) -> InputType:
    """Return the input type, without labels, of a tensor with this layout."""
    return InputType(layout.sizes, None, layout.is_truth)


def make_labeled_type(layout: Layout) -> InputType:
    """Return the input type, including labels, of a tensor with this layout. The result is not cached."""
    return InputType(layout.sizes, None, layout.is_truth, layout.labels)


@lru_cache(maxsize=MOST)
def type_of_member(layout: Layout) -> InputType:
    """Return the input type of one member of a family that is stored in one array with this layout."""
    return InputType(dict(zip(layout.axes[1:], layout.extent[1:])), None, layout.is_truth)


@lru_cache(maxsize=MAX_CACHED_NAMES)
def spelling_of(name: str) -> str:
    """Return the normalized form of a name, such as γ for gamma."""
    return name if isinstance(name, FamilyName) else str(key_of(name))


def normalize_names(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping with its keys normalized. Raise NotationError if two keys have the same normalized name."""
    return index_by_key(given, spelling_of)


def all_values(values: Any, named: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the values in a mapping with keyword values. Raise NotationError if `values` is not a mapping."""
    if values is None:
        return dict(named)
    if not isinstance(values, Mapping):
        raise NotationError(
            208,
            f"values must be a mapping from names to tensors, got {type(values).__name__}",
            hint='write {"X": X} or X=X',
        )
    return {**values, **named}


def whole_sizes(sizes: Mapping[str, int] | None) -> dict[str, int]:
    """Return the given axis sizes by name. Raise NotationError if a size is not a non-negative integer."""
    result: dict[str, int] = {}
    for name, size in require_mapping(sizes, "sizes=", 'write sizes={"a": 3}').items():
        integer = to_integer(size)
        if integer is None:
            raise NotationError(
                310, f"the size of {name} must be an integer, got {size!r}", hint=f"write sizes={{{name!r}: 2}}"
            )
        if integer < 0:
            raise NotationError(310, f"the size of {name} cannot be {size}")
        result[str(name)] = integer
    if len(result) > 1:
        index_by_key(result, plain_key)
    return result


class KeywordValues(dict[str, Any]):
    """A mapping whose values are treated as keyword arguments.

    Each value must be used by the formula, unless its name is in `used`.
    """

    used: frozenset[str] = frozenset()


def keyword_names(values: Mapping[str, Any] | None, named: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the values that the call passes by keyword rather than in a mapping."""
    return (*(values.keys() - values.used), *named) if isinstance(values, KeywordValues) else (*named,)


# --------------------------------------------------------------------------------------------------------- the shapes
def layout_of(value: Any, name: str, sizes: Mapping[str, int]) -> Any:
    """Return the layout of a tensor, or of a shape whose missing sizes are in `sizes`. Return a number unchanged.

    Raises NotationError if a size is unknown.
    """
    layout = getattr(value, "layout", None)
    if isinstance(layout, Layout):
        return layout
    if isinstance(value, (int, float)):
        return value
    shape = fill_shape(value, name, sizes)
    unknown = next((axis for axis, size in shape.items() if not is_ground(resolve(size))), None)
    if unknown is not None:
        raise NotationError(309, f"the size of axis {unknown} in {name} is missing", hint=f"write ℝ^{{{unknown}[3]}}")
    return Layout(tuple(shape), tuple(resolve(size) for size in shape.values()), DTYPE, None)


def fill_shape(value: Any, name: str, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return the shape of an input, with its missing sizes filled in from `sizes`."""
    return {
        axis: size if is_ground(resolve(size)) else sizes.get(axis, size)
        for axis, size in shape_of(value, name).items()
    }


AXES_ALONE = re.compile(r"\s*[a-z]\w*'*(?:\[\d+\])?(?:[\s,]+[a-z]\w*'*(?:\[\d+\])?)*\s*")


def shape_of(text: Any, name: str) -> dict[str, Any]:
    """Return a shape from its source text (ℝ^{a[3] × b}), a mapping of sizes, or a tensor.

    If the source text or mapping does not specify the size of an axis, the size is a new size variable. A number has no
    axes.
    """
    if hasattr(text, "sizes") and hasattr(text, "axes"):
        return dict(text.sizes)
    if isinstance(text, (int, float)):
        return {}
    if isinstance(text, Mapping):
        return {check_axis(axis): size_of(size, axis) for axis, size in text.items()}
    if not isinstance(text, str):
        raise NotationError(
            317, f"the shape of {name} must be a string such as ℝ^{{seq[3]}}, got {type(text).__name__}"
        )
    if AXES_ALONE.fullmatch(text):
        axes = " × ".join(text.replace(",", " ").split())
        raise NotationError(317, f"invalid shape {text!r} of {name}", hint=f"write ℝ^{{{axes}}}")
    tree = parse(f"x ∈ {text}")
    declaration = tree.statements[0]
    if len(tree.statements) != 1 or not isinstance(declaration, Declaration):
        raise NotationError(317, f"invalid shape {text!r}", hint="write ℝ^{seq[3] × chans[2]}, or R^{seq[3], chans[2]}")
    shape: dict[str, Any] = {}
    for axis, size in declaration.sets[0].axes:
        number = None if size is None else arithmetic(size, lambda name: None)
        if number is not None:
            shape[axis.name] = size_of(number, axis.name)
        else:
            shape[axis.name] = SizeVariable(f"|{axis.name}|" if size is None else _source_of(size))
    return shape


def size_of(size: Any, axis: str) -> Any:
    """Return a given size as an integer, or a new size variable if it is None. Return a size variable unchanged.

    Raises NotationError for any other value.
    """
    if size is None:
        return SizeVariable(f"|{axis}|")
    if isinstance(size, SizeVariable):
        return size
    integer = to_integer(size)
    if integer is None or integer < 0:
        raise NotationError(
            310, f"the size of axis {axis} must be a non-negative integer, got {size!r}", hint=f"write {axis}[3]"
        )
    return integer


def _source_of(node: Any) -> str:
    from grammar.printer import to_text

    return to_text(node)


def suggest_call(function: str, free: Sequence[str], positional: Sequence[str] = ()) -> str:
    """Return a hint to pass the inputs in `free` by name, such as formula(x=x)."""
    if not free:
        return f"call {function}({', '.join(positional)})"
    if all(name.isidentifier() and not iskeyword(name) for name in free):
        named = [f"{name}={name}" for name in free]
    else:
        named = [f"values={{{', '.join(f'{name!r}: …' for name in free)}}}"]
    return f"pass inputs by name: {function}({', '.join([*positional, *named])})"
