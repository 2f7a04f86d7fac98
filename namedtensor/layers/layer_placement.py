"""The methods of layers that control how parameters are stored: array library, stacked families and devices."""

# pyright: reportPrivateUsage=false
# This module uses private members of layers to rebuild layers.
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from ..core.arrays import module_name
from ..programs.families import stack_families
from .families import INT8, MANY, move_parameters
from .layer_calls import LayerCalls

if TYPE_CHECKING:
    from ..sharding.sharding import Rules


class LayerPlacement(LayerCalls):
    """The methods of `Layer` that control how its parameters are stored."""

    def to(self, backend: str, dtype: str | None = None, device: Any = None) -> Self:
        """Return the layer with its parameters as arrays of another library.

        Parameters
        ----------
        backend : {"numpy", "torch", "jax"}
            The library. With "jax", large families are stacked (see `stack_layers`).
        dtype : str, optional
            The dtype of the parameters, such as "float32" (default: as stored). With "int8", weights of products and
            tables become integers W^{int8} with a scale W^{scale}, and the formulas define W as their product.
        device : optional
            The device, by the library's name for it.

        Returns
        -------
        Layer

        Raises
        ------
        NotationError
            If the library is not installed (408), or no weight can be stored as "int8" (405).

        Examples
        --------
        >>> from transformer import FFN
        >>> layer = FFN.init(sizes={"chans": 2, "hidden": 3})
        >>> layer.to("numpy", "float32").parameters["W_1"].dtype
        dtype('float32')
        """
        if dtype == INT8:
            return self._to_int8().to(backend, None, device)
        layer = self._stack_families(MANY) if backend == "jax" else self
        return layer._with(move_parameters(layer._kept, backend, dtype, device))

    def _to_int8(self) -> Self:
        """Return the layer with 8-bit integer weights, each parameter in a separate array."""
        if any(name.endswith(f"{INT8}}}") for name in self.parameters):  # already
            return self
        from .quantized import Quantization

        quantization = Quantization(type(self).__name__, self.formula)
        parameters: dict[str, Any] = {}
        for name, value in self.parameters.items():
            parameters |= quantization.parts(name, value)
        definitions = "\n".join(filter(None, (self._about.definitions, quantization.definitions(parameters))))
        about = self._about._replace(definitions=definitions, stacked=())
        return self._build_from_parts(parameters, about)._with(parameters, self._about.sharding)

    def stack_layers(self) -> Self:
        """Return the layer with each family of parameters, such as W^{l,Q}, stored in one array.

        The members are along the first axis. Values and `parameters` do not change. JAX sees one leaf per family, so it
        traces and compiles a model with 96 layers as fast as a model with 3 layers. Families whose members differ in
        shape or dtype are not stacked.

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
        return self._stack_families(2)

    def _stack_families(self, count: int) -> Self:
        """Return the layer with each family of at least `count` members stored in one array."""
        parameters = stack_families(self._kept, self.formula.declared, count)
        if len(parameters) == len(self._kept):
            return self
        return self._build_from_parts(parameters, self._about._replace(stacked=tuple(self.parameters)))._with(
            parameters, self.sharding
        )

    def unstack_layers(self) -> Self:
        """Return the layer with each parameter in a separate array, which is the default.

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
        return self._build_from_parts(self.parameters, self._about._replace(stacked=()))

    def pack(self, backend: str = "numpy") -> Self:
        """Return the layer with its NumPy parameters side by side in one block of memory.

        The parameters are stored with the order of axes for which the library's products are fastest. For NumPy, the
        longer side of a matrix is contiguous. For PyTorch and JAX, the axes that a product sums over come last. Values do
        not change. Parameters that are not NumPy arrays stay in place.

        Parameters
        ----------
        backend : {"numpy", "torch", "jax"}
            The library that will use the parameters (default: "numpy"). It does not need to be installed.

        Returns
        -------
        Layer

        Raises
        ------
        NotationError
            If the library is unknown (409).

        Examples
        --------
        >>> from transformer import FFN
        >>> layer = FFN.init(sizes={"chans": 2, "hidden": 3})
        >>> layer.pack().parameters["W_1"].axes
        ('chans', 'hidden')
        >>> layer.pack("torch").parameters["W_1"].axes
        ('hidden', 'chans')
        """
        from .memory import pack_parameters

        module_name(backend)
        return self._with(pack_parameters(self._kept, self.formula.tree, may_be_wide=backend == "numpy"), self.sharding)

    def shard(
        self, rules: Rules, mesh: Any, compute_rules: Rules | None = None, *,
        value_rules: Mapping[str, Rules] | None = None, save: Iterable[str] | None = None,
    ) -> Self:  # fmt: skip
        """Place the parameters on the devices of a JAX mesh, as specified by rules for their axis names.

        Parameters
        ----------
        rules : mapping of str to (str or tuple of str)
            The mesh axes that shard each axis.
        mesh : jax.sharding.Mesh
            The mesh.
        compute_rules : mapping, optional
            The rules for computation, if they differ from the rules for stored parameters.
        value_rules : mapping of str to rules, optional
            Additional rules for named values, such as {"X^l": {"seq": "model"}}.
        save : iterable of str, optional
            The values that loop steps save for their gradients. If `save` or `compute_rules` is given, loop steps
            recompute all other values.

        Returns
        -------
        Layer
            A layer with equal values, whose calls also place their inputs on the devices.

        Raises
        ------
        NotationError
            If JAX is not installed (408), the mesh does not have an axis (201), two axes of a parameter are sharded
            over one mesh axis (303), or a size is not divisible (310).

        Examples
        --------
        >>> import jax  # doctest: +SKIP
        >>> mesh = jax.make_mesh((2,), ("data",))  # doctest: +SKIP
        >>> layer.shard({"hidden": "data"}, mesh)  # doctest: +SKIP
        """
        from ..sharding.sharding import Sharding

        return self._with(self._kept, Sharding(rules, mesh, compute_rules, value_rules=value_rules, save=save))
