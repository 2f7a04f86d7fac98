"""Layers: formulas in text notation with a tensor for each parameter that the formulas declare.

A layer class consists of its notation, which determines the names, the shapes and the errors:

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
# This module uses private members of layers to rebuild layers.
from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterable, Mapping
from textwrap import indent
from types import MappingProxyType
from typing import Any, ClassVar, Self

from grammar.errors import NotationError
from grammar.plain_text import encodable

from ..core.arrays import UnnamedAxes
from ..core.families import FamilyName
from ..core.kinds import require_mapping, require_names, require_text
from ..core.seeds import to_seed
from ..core.suggestions import Suggests
from ..programs.arguments import whole_sizes
from ..programs.initialization import draw_parameters
from ..programs.initializers import Initializers
from ..tensors import pytrees as jax_trees
from . import flax_nodes, layer_trees
from .about import LayerMetadata, read, write
from .families import least, member_shape
from .module_methods import ModuleMethods
from .parameters import check_parameters, normalize_names, not_by_keyword
from .texts import apply_changes, own_text, text_beside


def kind(layer: type[Layer]) -> str:
    """Return the qualified name of a layer class, which distinguishes classes with the same name in files."""
    return f"{layer.__module__}.{layer.__qualname__}"


class Layer(ModuleMethods, Suggests):
    """An immutable layer: formulas, and a tensor for each parameter that they declare.

    `parameters` contains the tensors by name, and numbers for constants of the formulas, such as ε. `sizes` contains
    sizes that are not axis sizes of a parameter, such as the number of layers.

    `definitions` replaces definitions with the same names in the formulas, such as the activation. `remove` lists
    definitions to remove, together with the parameters that only they use. If `strict` is true, an outer broadcast
    raises an error.

    Raises NotationError if a parameter is missing, is not in the formulas, or does not have the declared shape.
    """

    notation: ClassVar[str] = ""
    includes: ClassVar[tuple[type[Layer], ...]] = ()  # layers whose formulas follow these
    changes: ClassVar[str] = ""  # a file of definitions that replace the base class's definitions
    removes: ClassVar[tuple[str, ...]] = ()  # definitions of the base class that a class with `changes` lacks
    sources: ClassVar[tuple[str, ...]] = ()  # the texts of this class's formulas and of the `includes`
    citation: ClassVar[str] = ""
    output: ClassVar[str] = ""  # the name that a call computes (default: the name of the class)
    inputs: ClassVar[tuple[str, ...]] = ()  # declared names that a call passes by position if `output` is a tensor
    optional_inputs: ClassVar[tuple[str, ...]] = ()  # defined names whose values a call may pass instead
    default_sizes: ClassVar[Mapping[str, int]] = {}  # sizes for finding the parameters if nothing else fixes them
    initializers: ClassVar[Initializers] = {}

    def __init_subclass__(cls) -> None:
        if text := own_text(cls):
            cls.sources = tuple(dict.fromkeys([text, *(text for layer in cls.includes for text in layer.sources)]))
            cls.notation = "\n\n".join(cls.sources)
            cls.initializers = {
                name: initializer for layer in (*cls.includes, cls) for name, initializer in layer.initializers.items()
            }
        cls.inputs, cls.optional_inputs = (
            tuple(normalize_names(dict.fromkeys(names))) for names in (cls.inputs, cls.optional_inputs)
        )
        if file := cls.__dict__.get("changes"):
            shown, cls.notation = apply_changes(cls, file, cls.__dict__.get("removes", ()))  # pyright: ignore[reportAttributeAccessIssue]
            cls.sources = (shown, *cls.sources)
        else:
            shown = cls.notation
        if not cls.output and cls.notation:
            cls.output = cls.__name__
        cls.__doc__ = f"{inspect.cleandoc(cls.__doc__ or '')}\n\n{indent(shown, '    ')}\n\nSource: {cls.citation}."
        flax_nodes.also(cls)
        jax_trees.also(layer_trees.tree_class(cls))

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
        config = require_mapping(config, "config=", "pass the values from the model file")
        definitions = require_text(definitions, "definitions=", 'write definitions="act(x) = relu(x)"')
        remove = require_names(remove, "remove=", 'write remove=["act"]')
        self._set({}, LayerMetadata.of(sizes, definitions, config, remove)._replace(strict=bool(strict)))
        self._set(check_parameters(self, normalize_names(parameters)), self._about)

    @property
    def config(self) -> dict[str, Any]:
        """The configuration of the layer's checkpoint."""
        return json.loads(self._about.config)

    def __reduce__(self) -> Any:
        return type(self)._build_from_parts, (dict(self._kept), self._about)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a layer does not change; write layer.replace({name}=…) for a new one")

    # ------------------------------------------------------------------------------------------------------ creation
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
        """Return a layer whose parameters are initialized as in the original paper or code.

        Parameters
        ----------
        seed : int or key of jax.random
            The seed of the random numbers. For a key, which may be traced, the arrays are JAX arrays (default: 0).
        sizes : mapping of str to int, optional
            The sizes of the axes, and the number of layers.
        dtype : str
            The dtype of the parameters (default: "float64").
        initializers : mapping of str to initializer, optional
            Initializers from `namedtensor.initializers` by parameter name (default: the initializers of the class).
        constants : mapping of str to float, optional
            Constants such as ε.
        strict : bool
            Whether an outer broadcast raises an error (default: False).
        **other : any
            Not accepted. Pass sizes in `sizes`.

        Returns
        -------
        Layer

        Raises
        ------
        NotationError
            If a size that a parameter needs is missing, or is passed as a separate keyword.

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
        initializers = normalize_names(
            require_mapping(initializers, "initializers=", 'write initializers={"W": Normal("0.02")}')
        )
        constants = require_mapping(constants, "constants=", 'write constants={"ε": 1e-6}')
        seed, default_sizes = to_seed(seed), {**cls.default_sizes, **sizes}
        initializers = {**cls.initializers, **initializers}
        result = draw_parameters(cls.formula._goal, seed, default_sizes, dtype, initializers, cls.inputs)
        axes = {axis for tensor in result.values() for axis in tensor.layout.axes}
        left = {name: size for name, size in sizes.items() if name not in axes}
        if constants:
            return cls({**result, **constants}, left, strict=strict)
        return cls._build_from_parts(result, LayerMetadata.of(left, "", {}, ())._replace(strict=bool(strict)))

    def replace(self, parameters: Mapping[str, Any] | None = None, /, **named: Any) -> Self:
        """Return a layer with new values for some parameters.

        Parameters
        ----------
        parameters : mapping of str to tensor or number, optional
            New values, for names that are not Python identifiers.
        **named : tensor or number
            New values by name.

        Returns
        -------
        Layer

        Raises
        ------
        NotationError
            If a name is unknown (201), or a value does not match its declaration.

        Examples
        --------
        >>> import namedtensor as nt
        >>> from transformer import FFN
        >>> layer = FFN.init(sizes={"chans": 2, "hidden": 3})
        >>> layer.replace({"b_2": nt.tensor([1.0, 2.0], "chans")}).parameters["b_2"].tolist()
        [1.0, 2.0]
        """
        inputs = normalize_names(
            {**require_mapping(parameters, "the argument of replace", 'write replace({"W": W})'), **named}
        )
        result = check_parameters(self, {**self.parameters, **inputs})
        replaced = self._build_from_parts(result, self._about._replace(stacked=()))._with(result, self.sharding)
        return replaced._stack_families(least(self._kept)) if self._about.stacked else replaced

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
            A layer whose parameters are PyTorch arrays.

        Raises
        ------
        NotationError
            If the module was not created from a layer of this class (317).

        Examples
        --------
        >>> FFN.from_module(layer.module())  # doctest: +SKIP
        """
        layer = getattr(module, "layer", None)
        if not isinstance(layer, cls):
            text = f"one of {type(layer).__name__}" if isinstance(layer, Layer) else f"a {type(module).__name__}"
            raise NotationError(
                317, f"{cls.__name__}.from_module expects a module of {cls.__name__}, got {text}",
                hint="create such a module with layer.module()",
            )  # fmt: skip
        return layer

    @classmethod
    def file_text(cls, file: str) -> str:
        """Return the text of a file in the folder of the module that defines the class, such as additional definitions.

        Parameters
        ----------
        file : str
            The name of the file.

        Returns
        -------
        str

        Raises
        ------
        NotationError
            If the file cannot be read (409).

        Examples
        --------
        >>> from transformer import T5
        >>> len(T5.file_text("t5_gated.nt").splitlines())
        6
        """
        return text_beside(cls, file)

    # --------------------------------------------------------------------------------------------------------- files
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
        """Load a layer from a file that `save` wrote.

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
            If the file cannot be read, or contains a layer of another class (409).

        Examples
        --------
        >>> FFN.load("ffn.safetensors")  # doctest: +SKIP
        """
        return cls(*read(path, kind(cls)))

    # ------------------------------------------------------------------------------------------------- display
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
