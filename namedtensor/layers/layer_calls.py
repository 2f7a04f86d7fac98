"""The methods of layers that compute, explain and draw values."""

# pyright: reportPrivateUsage=false
# This module uses private members of layers to rebuild layers.
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from grammar.errors import NotationError

from ..core.kinds import require_names
from ..core.tensor import NamedTensor
from ..tensors import pytrees as jax_trees
from . import flax_nodes
from .about import LayerMetadata
from .families import Members
from .parameters import check_names, normalize_names, shapes

MAX_CALLS = 16  # bound calls that a layer keeps

if TYPE_CHECKING:
    from ..display.diagram import Diagram
    from ..display.highlighted import Highlighted
    from ..display.steps import Explanation
    from ..programs.bound_call import BoundCall
    from ..programs.program import Program
    from ..sharding.sharding import Sharding


@lru_cache(maxsize=256)
def variant(
    notation: str, definitions: str = "", removed: frozenset[str] = frozenset(), strict: bool = False
) -> Program:
    """Return the program of a source text with some definitions replaced and others removed."""
    from ..programs.api import program as program_of

    program = program_of(notation, syntax="text", strict=strict)
    return program.replace_definitions(definitions, removed) if definitions or removed else program


class _Formula:
    """The formulas of a layer, which are parsed on first access through the class or an instance."""

    def __get__(self, layer: LayerCalls | None, owner: type[LayerCalls]) -> Program:
        if not owner.notation:  # `help` reads this attribute from each base class
            raise AttributeError(f"{owner.__name__} has no formulas; a subclass defines them in `notation`")
        return variant(owner.notation) if layer is None else layer._program({})


class LayerCalls:
    """The methods of `Layer` that evaluate, explain and draw its formulas."""

    notation: ClassVar[str]
    formula = _Formula()
    output: ClassVar[str]
    inputs: ClassVar[tuple[str, ...]]
    optional_inputs: ClassVar[tuple[str, ...]]
    default_sizes: ClassVar[Mapping[str, int]]
    parameters: Mapping[str, Any]
    _kept: Mapping[str, Any]  # the parameters as stored: a stacked family is one array under the name of the family
    _about: LayerMetadata
    _calls: dict[Any, BoundCall]  # calls with bound parameters, by the requested names and the names of the inputs

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes that are not axis sizes of parameters, such as the number of layers."""
        return dict(self._about.sizes)

    @property
    def definitions(self) -> str:
        """Definitions and declarations that replace statements with the same names in the formulas, or are added."""
        return self._about.definitions

    @property
    def removed(self) -> frozenset[str]:
        """The definitions that are removed from the formulas."""
        return self._about.removed

    @property
    def sharding(self) -> Sharding | None:
        """The rules and devices from `shard`, or None if the layer is not sharded. Its method `place` places inputs."""
        return self._about.sharding

    def _set(self, parameters: Mapping[str, Any], about: LayerMetadata) -> None:
        jax_trees.where_imported()
        object.__setattr__(self, "_about", about)
        self._read_from(
            parameters if isinstance(parameters, flax_nodes.Variables) else MappingProxyType(dict(parameters))
        )

    def _read_from(self, parameters: Mapping[str, Any]) -> None:
        """Make the layer read its parameters from this mapping, whose values Flax may change later."""
        stacked = self._about.stacked
        object.__setattr__(self, "parameters", Members(parameters, stacked) if stacked else parameters)
        object.__setattr__(self, "_kept", parameters)
        object.__setattr__(self, "_calls", {})

    @classmethod
    def _build_from_parts(cls, parameters: Mapping[str, Any], about: LayerMetadata) -> Self:
        """Build a layer of this class from parameters and metadata, without checks."""
        layer = object.__new__(cls)
        layer._set(parameters, about)
        return layer

    def _with(self, parameters: Mapping[str, Any], sharding: Sharding | None = None) -> Self:
        """Build the same layer with other parameters, without checks, placed on devices if a sharding is given."""
        placed = parameters if sharding is None else sharding.place(parameters)
        return self._build_from_parts(placed, self._about._replace(sharding=sharding))

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Return the layer's value for these arguments, lifted over any extra axes of the arguments."""
        return self.evaluate(self.output, *arguments, **named)

    def evaluate(self, name: str | tuple[str, ...], *arguments: Any, **named: Any) -> Any:
        """Compute the value of any name in the formulas, such as the attention weights.

        Parameters
        ----------
        name : str or tuple of str
            The name, or several names.
        *arguments : tensor or number
            The inputs by position.
        **named : tensor or number
            The inputs by name.

        Returns
        -------
        NamedTensor or tuple of NamedTensor

        Raises
        ------
        NotationError
            If a name is unknown or was removed (201), or an input does not match.

        Examples
        --------
        >>> import namedtensor as nt
        >>> from transformer import FFN
        >>> layer = FFN.init(sizes={"chans": 2, "hidden": 3})
        >>> layer.evaluate("FFN", nt.tensor([1.0, 2.0], "chans")).shape
        ℝ^{chans[2]}
        """
        one = isinstance(name, str)
        names = (name,) if one else tuple(require_names(name, "the name", 'write layer.evaluate("FFN", X)'))
        for as_name in names:
            if as_name in self.removed:
                raise NotationError(
                    201, f"this {type(self).__name__} has no {as_name}: its file holds no parameters of it"
                )
        arguments, named = self._named(arguments, named)
        key = one, names, *named
        call = self._calls.get(key)
        if call is not None:
            return call(named, *arguments)
        program, sharding = self._program(named), self.sharding
        parameters = self._kept if named.keys().isdisjoint(self._about.stacked) else self.parameters
        if sharding is not None:  # The rules for computation can differ from the rules for stored parameters.
            from ..sharding.sharded import shard_program

            entry = shard_program(program, sharding)[name]
            return entry(*arguments, values=parameters, sizes=self.sizes or None, **named)
        from ..programs.bound_call import BoundCall

        call = BoundCall(program[name], parameters, self.sizes or None)
        if isinstance(self._kept, MappingProxyType):  # The parameters are not Flax variables, so they do not change.
            object.__setattr__(self, "_calls", dict([*self._calls.items(), (key, call)][-MAX_CALLS:]))
        return call(named, *arguments)

    def explain(self, *arguments: Any, **named: Any) -> Explanation:
        """Return every step of the computation of the layer's value, with the definition that contains the step.

        Parameters
        ----------
        *arguments : tensor or number
            The inputs by position.
        **named : tensor or number
            The inputs by name.

        Returns
        -------
        Explanation
            The steps. For example, `.inside("FFN")` selects the steps of the function FFN.

        Raises
        ------
        NotationError
            If an input does not match.

        Examples
        --------
        >>> import namedtensor as nt
        >>> from transformer import FFN
        >>> layer = FFN.init(sizes={"chans": 2, "hidden": 3})
        >>> layer.explain(nt.tensor([1.0, 2.0], "chans")).value.shape
        ℝ^{chans[2]}
        """
        arguments, named = self._named(arguments, named)
        program = self._program(named)
        return program[self.output].explain(*arguments, values={**self.parameters, **named}, sizes=self.sizes)

    def diagram(self, *arguments: Any, expand: str | Collection[str] = (), **named: Any) -> Diagram:
        """Draw the data flow with the type of each value.

        Parameters
        ----------
        *arguments : type or tensor
            The inputs by position. A type such as "ℝ^{seq}" is sufficient.
        expand : str or collection of str
            The functions whose bodies are drawn (default: none).
        **named : type or tensor
            The inputs by name.

        Returns
        -------
        Diagram

        Raises
        ------
        NotationError
            If an input does not match.

        Examples
        --------
        >>> from transformer import FFN
        >>> layer = FFN.init(sizes={"chans": 2, "hidden": 3})
        >>> layer.diagram("ℝ^{chans}").save("ffn.svg")  # doctest: +SKIP
        """
        arguments, named = self._named(arguments, named)
        entry = self._program(named)[self.output]
        return entry.diagram(*arguments, sizes=self.sizes, expand=expand, values=self.parameters, **named)

    def highlight(self) -> Highlighted:
        """Return the layer's formulas with one color per axis, and with the sizes of the parameters.

        Returns
        -------
        Highlighted

        Examples
        --------
        >>> from transformer import FFN
        >>> layer = FFN.init(sizes={"chans": 2, "hidden": 3})
        >>> layer.highlight()  # doctest: +SKIP
        """
        tensors = [value for value in self.parameters.values() if isinstance(value, NamedTensor)]
        return self.formula.highlight({axis: size for tensor in tensors for axis, size in tensor.sizes.items()})

    @property
    def stored(self) -> Mapping[str, Any]:
        """The parameters as they are stored. A family that `stack_layers` stacked is a single entry."""
        return self._kept

    @property
    def input_shapes(self) -> dict[str, dict[str, int | None]]:
        """The axes and sizes of each declared input. A size is None if no parameter, size or default size fixes it."""
        tensors = {name: value for name, value in self.parameters.items() if isinstance(value, NamedTensor)}
        declared = shapes(self, **tensors)
        return {name: declared[name] for name in self.inputs if name in declared}

    def _program(self, named: Mapping[str, Any]) -> Program:
        """Return the program for a call, without the definitions of optional inputs that the call passes."""
        optional_inputs = frozenset(name for name in self.optional_inputs if name in named)
        return variant(self.notation, self.definitions, optional_inputs | self.removed, self._about.strict)

    def _named(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the positional and named arguments of a call. If the layer declares inputs, name all arguments."""
        named = normalize_names({name: value for name, value in named.items() if value is not None})
        if not self.inputs:
            self._check_names(named, ())
            return arguments, named
        names = (*self.inputs, *self.optional_inputs)
        if len(arguments) > len(names):
            kind, takes = type(self).__name__, ", ".join(names)
            raise NotationError(304, f"{kind} expects {takes}, got {len(arguments)} arguments")
        self._check_names(named, names)
        return (), {**{name: value for name, value in zip(names, arguments) if value is not None}, **named}

    def _check_names(self, named: Iterable[str], inputs: tuple[str, ...]) -> None:
        """Raise NotationError if a call passes a name that is not an input, not a parameter and not in the formulas."""
        other = [name for name in named if name not in inputs and name not in self.parameters]
        if other:
            check_names(self, other, inputs)

    @classmethod
    def _arguments(cls) -> tuple[str, ...]:
        """Return the names of the positional arguments of a call."""
        return cls.inputs + cls.optional_inputs if cls.inputs else tuple(cls.formula[cls.output].arguments)
