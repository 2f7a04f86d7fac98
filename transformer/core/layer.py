"""Layers: formulas as text, and a tensor for each parameter that they declare.

A layer is written by its notation alone. Its names, its shapes and its errors come from there:

    class Linear(Layer):
        \"""A linear map and a shift.\"""

        citation = "…"
        notation = \"""
            Linear : ℝ^{chans} → ℝ^{out}
            Linear(X) = X ⊙_{chans} W + b
            W ∈ ℝ^{chans × out}
            b ∈ ℝ^{out}
        \"""
"""

# pyright: reportPrivateUsage=false
# of layers, by what makes them again
from __future__ import annotations

import inspect
import json
import os
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import namedtensor as nt
from grammar.locks import LOADING, all_or_none
from grammar.plain_text import encodable
from namedtensor.core.families import FamilyName
from namedtensor.core.kinds import as_mapping, as_names, as_text
from namedtensor.core.layout import UnnamedAxes
from namedtensor.core.seeds import as_seed
from namedtensor.core.suggestions import Suggests
from namedtensor.programs.arguments import whole_sizes
from namedtensor.programs.initialization import drawn
from namedtensor.programs.initializers import Initializers
from namedtensor.tensors import pytrees as jax_trees

from . import flax_nodes, layer_trees
from .about import LayerMetadata, read, write
from .families import MANY, Members, least, member_shape, moved, stacked
from .module_methods import ModuleMethods
from .parameters import Declared, check_names, checked, not_by_keyword, spelled
from .texts import own_text

if TYPE_CHECKING:
    from namedtensor.display.diagram import Diagram
    from namedtensor.display.highlighted import Highlighted
    from namedtensor.display.steps import Explanation
    from namedtensor.sharding.sharding import Rules, Sharding


@lru_cache(maxsize=256)
def variant(
    notation: str, definitions: str = "", removed: frozenset[str] = frozenset(), strict: bool = False
) -> nt.Program:
    """The program of a text, some of its definitions replaced and some taken out."""
    program = nt.program(notation, syntax="text", strict=strict)
    return program.replace_definitions(definitions, removed) if definitions or removed else program


class _Formula:
    """The formulas of a layer, parsed when they are first asked for; of its class as of its instances."""

    def __get__(self, layer: Layer | None, owner: type[Layer]) -> nt.Program:
        return variant(owner.notation) if layer is None else layer._program({})


def kind(layer: type[Layer]) -> str:
    """How a file names its layer: several texts have a LayerNorm."""
    return f"{layer.__module__}.{layer.__qualname__}"


class Layer(ModuleMethods, Suggests):
    """Formulas, and a tensor for each parameter that they declare; immutable.

    `parameters` are the tensors by name; `sizes` the numbers that no parameter shows, such as how many layers there are.
    Numbers among the parameters are constants of the formulas, such as ε. Raises NotationError where a parameter is
    missing, is not in the formulas, or has another shape than they declare.

    `definitions` replace those of the same names in the formulas: another activation, say. `remove` names definitions
    that are taken out, and with them the parameters that nothing else needs. With `strict`, an outer broadcast is an error.
    """

    notation: ClassVar[str] = ""
    includes: ClassVar[tuple[type[Layer], ...]] = ()  # layers whose formulas follow these
    sources: ClassVar[tuple[str, ...]] = ()  # its own formulas, and those of these layers
    citation: ClassVar[str] = ""
    output: ClassVar[str] = ""  # the name that a call computes; else the one that the class has
    inputs: ClassVar[tuple[str, ...]] = ()  # declared names that a call gives by position, where `output` is a tensor
    optional_inputs: ClassVar[tuple[str, ...]] = ()  # defined names that a call may give instead
    default_sizes: ClassVar[Mapping[str, int]] = {}  # sizes to find the parameters with, where nothing fixes them
    initializers: ClassVar[Initializers] = {}
    formula = _Formula()

    def __init_subclass__(cls) -> None:
        if own := own_text(cls):
            cls.sources = tuple(dict.fromkeys([own, *(text for layer in cls.includes for text in layer.sources)]))
            cls.notation = "\n\n".join(cls.sources)
            cls.initializers = {
                name: each for layer in (*cls.includes, cls) for name, each in layer.initializers.items()
            }
        cls.inputs, cls.optional_inputs = (
            tuple(spelled(dict.fromkeys(names))) for names in (cls.inputs, cls.optional_inputs)
        )
        if cls.notation and not cls.output:
            cls.output = cls.__name__
        shown = "\n".join("    " + line for line in cls.notation.splitlines())
        cls.__doc__ = f"{inspect.cleandoc(cls.__doc__ or '')}\n\n{shown}\n\nSource: {cls.citation}."
        flax_nodes.also(cls)
        jax_trees.also(layer_trees.tree_class(cls))

    parameters: Mapping[str, Any]
    _kept: Mapping[str, Any]  # the same as they are kept: families in one array under a name of their own
    _about: LayerMetadata

    def __init__(
        self,
        parameters: Mapping[str, Any] = MappingProxyType({}),
        sizes: Mapping[str, int] | None = None,
        definitions: str = "",
        config: Mapping[str, Any] | None = None,
        remove: Iterable[str] = (),
        strict: bool = False,
    ):
        sizes = whole_sizes(sizes)
        config = as_mapping(config, "config=", "give what the file of the model said")
        definitions = as_text(definitions, "definitions=", 'write definitions="act(x) = relu(x)"')
        remove = as_names(remove, "remove=", 'write remove=["act"]')
        self._set({}, LayerMetadata.of(sizes, definitions, config, remove)._replace(strict=bool(strict)))
        self._set(checked(self._declared(), self.sizes, spelled(parameters)), self._about)

    def _set(self, parameters: Mapping[str, Any], about: LayerMetadata) -> None:
        jax_trees.where_imported()
        object.__setattr__(self, "_about", about)
        self._read_from(
            parameters if isinstance(parameters, flax_nodes.Variables) else MappingProxyType(dict(parameters))
        )

    def _read_from(self, kept: Mapping[str, Any]) -> None:
        """Have the layer read its parameters from a mapping, which changes where Flax holds them."""
        stacked = self._about.stacked
        object.__setattr__(self, "parameters", Members(kept, stacked) if stacked else kept)
        object.__setattr__(self, "_kept", kept)

    @classmethod
    def _of_parts(cls, parameters: Mapping[str, Any], about: LayerMetadata) -> Self:
        """A layer of what was a layer before; nothing is checked."""
        layer = object.__new__(cls)
        layer._set(parameters, about)
        return layer

    def _with(self, parameters: Mapping[str, Any], sharding: Sharding | None = None) -> Self:
        """The same layer with other values, as it keeps them, which are not checked; placed where a sharding is given."""
        placed = parameters if sharding is None else sharding.place(parameters)
        return self._of_parts(placed, self._about._replace(sharding=sharding))

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes that no parameter shows, such as the number of layers."""
        return dict(self._about.sizes)

    @property
    def definitions(self) -> str:
        """Definitions that replace those of the same names in the formulas."""
        return self._about.definitions

    @property
    def removed(self) -> frozenset[str]:
        """Definitions of the formulas that this layer lacks."""
        return self._about.removed

    @property
    def config(self) -> dict[str, Any]:
        """The configuration of the checkpoint from which the layer was loaded."""
        return json.loads(self._about.config)

    @property
    def sharding(self) -> Sharding | None:
        """The devices on which `shard` placed the parameters; its `place` places inputs."""
        return self._about.sharding

    def __reduce__(self) -> Any:
        return type(self)._of_parts, (dict(self._kept), self._about)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a layer does not change; write layer.replace({name}=…) for a new one")

    # ---------------------------------------------------------------------------------------------------- making one
    @classmethod
    def init(
        cls,
        seed: Any = 0,
        sizes: Mapping[str, int] | None = None,
        dtype: str = "float64",
        initializers: Initializers | None = None,
        constants: Mapping[str, float] | None = None,
        strict: bool = False,
        **other: Any,
    ) -> Self:
        """Initialize a layer as published.

        Parameters
        ----------
        seed : int or key of jax.random
            With a key, the arrays are JAX's, also under tracing (default: 0).
        sizes : mapping of str to int, optional
            The sizes of the axes, and the number of layers.
        dtype : str
            The dtype of the parameters (default: "float64").
        initializers : mapping of str to initializer, optional
            Initializers by name, from `namedtensor.initializers` (default: those of the source).
        constants : mapping of str to float, optional
            Constants such as ε.
        strict : bool
            Whether an outer broadcast is an error (default: False).

        Returns
        -------
        Layer

        Raises
        ------
        NotationError
            If a size that a parameter needs is missing, or is passed as a keyword of its own.

        Examples
        --------
        >>> from transformer import FFN
        >>> layer = FFN.init(sizes={"chans": 2, "hidden": 3})
        >>> layer.parameters["W_1"].shape
        ℝ^{chans[2] × hidden[3]}
        """
        if other:
            raise not_by_keyword(cls.__name__, other)
        sizes = whole_sizes(sizes)
        initializers = spelled(as_mapping(initializers, "initializers=", 'write initializers={"W": Normal("0.02")}'))
        constants = as_mapping(constants, "constants=", 'write constants={"ε": 1e-6}')
        seed, default_sizes = as_seed(seed), {**cls.default_sizes, **sizes}
        initializers = {**cls.initializers, **initializers}
        found = drawn(cls.formula._goal, seed, default_sizes, dtype, initializers, cls.inputs)
        axes = {axis for tensor in found.values() for axis in tensor.layout.axes}
        left = {name: size for name, size in sizes.items() if name not in axes}
        if constants:
            return cls({**found, **constants}, left, strict=strict)
        return cls._of_parts(found, LayerMetadata.of(left, "", {}, ())._replace(strict=bool(strict)))

    def replace(self, parameters: Mapping[str, Any] | None = None, /, **named: Any) -> Self:
        """Return a layer with other values of some parameters.

        Parameters
        ----------
        parameters : mapping of str to tensor or number, optional
            New values, if a name is not a Python identifier.
        **named : tensor or number
            New values by name.

        Returns
        -------
        Layer

        Raises
        ------
        NotationError
            If a value does not match its declaration (317).

        Examples
        --------
        >>> from transformer import FFN
        >>> layer = FFN.init(sizes={"chans": 2, "hidden": 3})
        >>> layer.replace({"b_2": nt.tensor([1.0, 2.0], "chans")}).parameters["b_2"].tolist()
        [1.0, 2.0]
        """
        given = spelled({**as_mapping(parameters, "what replace is given", 'write replace({"W": W})'), **named})
        found = checked(self._declared(), self.sizes, {**self.parameters, **given})
        replaced = self._of_parts(found, self._about._replace(stacked=()))._with(found, self.sharding)
        return replaced._stacked(least(self._kept)) if self._about.stacked else replaced

    def to(self, backend: str, dtype: str | None = None, device: Any = None) -> Self:
        """Return the layer with its parameters as arrays of another library.

        Parameters
        ----------
        backend : {"numpy", "torch", "jax"}
            The library. On JAX, large families are stacked (see `stack_layers`).
        dtype : str, optional
            The dtype of the parameters, such as "float32" (default: as stored).
        device : optional
            The device, as the library names it.

        Returns
        -------
        Layer

        Raises
        ------
        NotationError
            If the library is not installed (408).

        Examples
        --------
        >>> from transformer import FFN
        >>> layer = FFN.init(sizes={"chans": 2, "hidden": 3})
        >>> layer.to("numpy", "float32").parameters["W_1"].dtype
        dtype('float32')
        """
        layer = self._stacked(MANY) if backend == "jax" else self
        return layer._with(moved(layer._kept, backend, dtype, device))

    def stack_layers(self) -> Self:
        """Return the layer with each family of parameters, such as W^{l,Q}, in one array.

        The members are along the first axis. Values and `parameters` stay the same. JAX gets one leaf per family, so a model of 96
        layers is traced and compiled like one of 3. Families whose members differ in shape or dtype are not stacked.

        Returns
        -------
        Layer

        Examples
        --------
        >>> from transformer import GPT2
        >>> sizes = {"L": 96, "chans": 4, "heads": 2, "key": 2, "val": 2, "hidden": 8, "vocab": 7, "place": 5}
        >>> GPT2.init(sizes=sizes).stack_layers().parameters["W^{96,Q}"].shape
        ℝ^{chans[4] × heads[2] × key[2]}
        """
        return self._stacked(2)

    def _stacked(self, count: int) -> Self:
        """Stack families of at least `count` members."""
        kept = stacked(self._kept, self.formula.declared, count)
        if len(kept) == len(self._kept):
            return self
        return self._of_parts(kept, self._about._replace(stacked=tuple(self.parameters)))._with(kept, self.sharding)

    def unstack_layers(self) -> Self:
        """Return the layer with each parameter in an array of its own, as layers are by default.

        Returns
        -------
        Layer

        Examples
        --------
        >>> from transformer import FFN
        >>> layer = FFN.init(sizes={"chans": 2, "hidden": 3})
        >>> layer.stack_layers().unstack_layers().parameters.keys() == layer.parameters.keys()
        True
        """
        return self._of_parts(self.parameters, self._about._replace(stacked=()))

    def shard(self, rules: Rules, mesh: Any, compute_rules: Rules | None = None) -> Self:
        """Place the parameters on the devices of a JAX mesh, by axis name.

        Parameters
        ----------
        rules : mapping of str to (str or tuple of str)
            The mesh axis, or axes, over which each axis is sharded.
        mesh : jax.sharding.Mesh
            The mesh.
        compute_rules : mapping, optional
            The rules for computation, if they differ from those for storage.

        Returns
        -------
        Layer
            A call also places its inputs; its values are the same.

        Raises
        ------
        NotationError
            If JAX is not installed (408), the mesh has no such axis (201), two axes of a parameter are sharded over one mesh axis (303), or a
            size is not divisible (310).

        Examples
        --------
        >>> import jax  # doctest: +SKIP
        >>> mesh = jax.make_mesh((2,), ("data",))  # doctest: +SKIP
        >>> layer.shard({"hidden": "data"}, mesh)  # doctest: +SKIP
        """
        with LOADING, all_or_none():
            from namedtensor.sharding.sharding import Sharding

        return self._with(self._kept, Sharding(rules, mesh, compute_rules))

    @classmethod
    def from_module(cls, module: Any) -> Self:
        """Return the layer of a module created by `module()`, with its trained parameters.

        Parameters
        ----------
        module : torch.nn.Module
            The module.

        Returns
        -------
        Layer
            Its parameters are PyTorch arrays.

        Raises
        ------
        NotationError
            If the module is of another layer, or of none (317).

        Examples
        --------
        >>> FFN.from_module(layer.module())  # doctest: +SKIP
        """
        layer = getattr(module, "layer", None)
        if not isinstance(layer, cls):
            found = f"one of {type(layer).__name__}" if isinstance(layer, Layer) else f"a {type(module).__name__}"
            raise nt.NotationError(
                317, f"{cls.__name__}.from_module expects a module of {cls.__name__}, got {found}",
                hint="create such a module with layer.module()",
            )  # fmt: skip
        return layer

    @classmethod
    def _arguments(cls) -> tuple[str, ...]:
        """The names of what a call takes by position."""
        return cls.inputs + cls.optional_inputs if cls.inputs else tuple(cls.formula[cls.output].arguments)

    # ------------------------------------------------------------------------------------------------------ using it
    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The layer's value. Arguments may carry any extra axes; the layer is mapped over those."""
        return self.evaluate(self.output, *arguments, **named)

    def evaluate(self, name: str | tuple[str, ...], *arguments: Any, **named: Any) -> Any:
        """Compute the value of any name of the formulas, such as the weights of attention.

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
        >>> from transformer import FFN
        >>> layer = FFN.init(sizes={"chans": 2, "hidden": 3})
        >>> layer.evaluate("FFN", nt.tensor([1.0, 2.0], "chans")).shape
        ℝ^{chans[2]}
        """
        for each in (name,) if isinstance(name, str) else as_names(name, "the name", 'write layer.evaluate("FFN", X)'):
            if each in self.removed:
                raise nt.NotationError(
                    201, f"this {type(self).__name__} has no {each}: its file holds no parameters of it"
                )
        arguments, named = self._named(arguments, named)
        program, sharding = self._program(named), self.sharding
        if sharding is None:
            entry = program[name]
        else:
            with LOADING, all_or_none():
                from namedtensor.sharding.sharded import sharded_by

            entry = sharded_by(program, sharding)[name]
        kept = self._kept if named.keys().isdisjoint(self._about.stacked) else self.parameters
        return entry(*arguments, values={**kept, **named}, sizes=self.sizes or None)

    def explain(self, *arguments: Any, **named: Any) -> Explanation:
        """Return every step to the layer's value, with the definition it is in.

        Parameters
        ----------
        *arguments : tensor or number
            The inputs by position.
        **named : tensor or number
            The inputs by name.

        Returns
        -------
        Explanation
            `.inside("FFN")` selects the steps of a function.

        Raises
        ------
        NotationError
            If an input does not match.

        Examples
        --------
        >>> from transformer import FFN
        >>> layer = FFN.init(sizes={"chans": 2, "hidden": 3})
        >>> layer.explain(nt.tensor([1.0, 2.0], "chans")).value.shape
        ℝ^{chans[2]}
        """
        arguments, named = self._named(arguments, named)
        program = self._program(named)
        return program[self.output].explain(*arguments, values={**self.parameters, **named}, sizes=self.sizes)

    def diagram(self, *arguments: Any, expand: str | Collection[str] = (), **named: Any) -> Diagram:
        """Draw the data flow, with the type of each value.

        Parameters
        ----------
        *arguments : type or tensor
            The inputs by position; a type such as "ℝ^{seq}" suffices.
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
        """Return the layer's formulas with each axis in its color, and the sizes of its parameters.

        Returns
        -------
        Highlighted

        Examples
        --------
        >>> from transformer import FFN
        >>> layer = FFN.init(sizes={"chans": 2, "hidden": 3})
        >>> layer.highlight()  # doctest: +SKIP
        """
        tensors = [value for value in self.parameters.values() if isinstance(value, nt.NamedTensor)]
        return self.formula.highlight({axis: size for tensor in tensors for axis, size in tensor.sizes.items()})

    def _program(self, named: Mapping[str, Any]) -> nt.Program:
        """The formulas without the definitions of what the call gives."""
        given = frozenset(name for name in self.optional_inputs if name in named)
        return variant(self.notation, self.definitions, given | self.removed, self._about.strict)

    def _named(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call, by name where the formulas have names for them."""
        named = spelled({name: value for name, value in named.items() if value is not None})
        if not self.inputs:
            self._check_names(named, ())
            return arguments, named
        names = (*self.inputs, *self.optional_inputs)
        if len(arguments) > len(names):
            kind, takes = type(self).__name__, ", ".join(names)
            raise nt.NotationError(304, f"{kind} expects {takes}, got {len(arguments)} arguments")
        self._check_names(named, names)
        return (), {**{name: value for name, value in zip(names, arguments) if value is not None}, **named}

    def _check_names(self, named: Iterable[str], inputs: tuple[str, ...]) -> None:
        """Raise if a call passes a name that is not an input and does not occur in the formulas."""
        other = [name for name in named if name not in inputs and name not in self.parameters]
        if other:
            check_names(self._declared(), self.parameters, other, inputs)

    def _declared(self) -> Declared:
        return Declared(type(self).__name__, self.formula, self.inputs, self.default_sizes)

    # ---------------------------------------------------------------------------------------------------- keeping it
    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the parameters to a safetensors file, with their axis names.

        Parameters
        ----------
        path : str or path
            The file.

        Raises
        ------
        NotationError
            If the file cannot be written (409).

        Examples
        --------
        >>> from transformer import FFN
        >>> layer = FFN.init(sizes={"chans": 2, "hidden": 3})
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "ffn.safetensors"
        >>> layer.save(path)
        >>> FFN.load(path).parameters.keys() == layer.parameters.keys()
        True
        """
        write(path, kind(type(self)), self.parameters, self._about)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a layer from a file written by `save`.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        Layer

        Raises
        ------
        NotationError
            If the file cannot be read, or holds another layer (409).

        Examples
        --------
        >>> FFN.load("ffn.safetensors")  # doctest: +SKIP
        """
        return cls(*read(path, kind(cls)))

    # ------------------------------------------------------------------------------------------------- how it looks
    @encodable
    def __repr__(self) -> str:
        lines = [f"{type(self).__name__}:"] + ["    " + line for line in str(self.formula).splitlines()]
        for name, value in self._kept.items():
            layout = getattr(value, "layout", None)
            shape = layout if isinstance(layout, UnnamedAxes) else getattr(value, "shape", value)
            if isinstance(name, FamilyName) and shape is not layout:
                shape = member_shape(value)
            lines.append(f"    {name} = {shape}")
        return "\n".join(lines + [f"    {name} = {size}" for name, size in self.sizes.items()])

    def _repr_latex_(self) -> str:
        return self.formula._repr_latex_()
