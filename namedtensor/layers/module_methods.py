"""The methods of layers that create PyTorch modules and ONNX files."""

# pyright: reportPrivateUsage=false
# This module uses private members of layers to create PyTorch modules.
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from grammar.errors import NotationError

from .layer_placement import LayerPlacement

if TYPE_CHECKING:
    from .torch_modules import LayerModule


class ModuleMethods(LayerPlacement):
    """The methods of `Layer` that create PyTorch modules and ONNX files."""

    def module(
        self, name: str | tuple[str, ...] = "", /, *, dtype: str | None = None, **inputs: str | Iterable[str]
    ) -> LayerModule:
        """Return the layer as a `torch.nn.Module` whose parameters have the names used in the formulas.

        The module accepts plain tensors, whose axes this call declares. It returns a plain tensor with the axes in the
        same order, followed by new axes. One `forward` handles all sizes of axes that neither a parameter nor a number
        fixes. The module also accepts named tensors. It contains a copy of the parameters, and `from_module` converts
        the module back to a layer.

        Parameters
        ----------
        name : str or tuple of str, optional
            The name or names in the formulas whose values the module computes (default: the value of a call).
        dtype : str, optional
            The floating dtype of the parameters. By default, PyTorch arrays keep their dtype, and double-precision
            arrays of other libraries, such as the arrays that `init` returns, are converted to PyTorch's default dtype.
        **inputs
            The axes of each input, in order, such as X="batch seq chans", or "batch seq[5] chans" with a fixed size.

        Raises
        ------
        NotationError
            If PyTorch is not installed, or the layer does not have an input or name.

        Examples
        --------
        >>> import pytest
        >>> torch = pytest.importorskip("torch")
        >>> from transformer import FFN
        >>> module = FFN.init(sizes={"chans": 4, "hidden": 8}).module(X="batch seq chans")
        >>> module.axes, module.W_1.dtype
        (('batch', 'seq', 'chans'), torch.float32)
        """
        from .torch_modules import LayerModule

        self._check_names(inputs, self._arguments() + self.optional_inputs)
        known = self.formula._goal.program.names
        for text in (name,) if isinstance(name, str) else name:
            if text and not known.has(text):
                example = next(iter(self._arguments()), "X")
                raise NotationError(
                    201, f"{type(self).__name__} has no {text}; the argument is a name of its formulas",
                    hint=f'pass the axes of an input by name: .module({example}="batch seq chans")',
                )  # fmt: skip
        layer = self.unstack_layers()
        return LayerModule(layer if dtype is None else layer.to("torch", dtype), inputs, name)

    def to_onnx(self, path: str | os.PathLike[str], dtype: str = "float32", **inputs: str | Iterable[str]) -> None:
        """Export the layer to an ONNX file.

        In the file, inputs, outputs and axes have the formulas' names.

        Parameters
        ----------
        path : str or path
            The file.
        dtype : str
            The dtype of the parameters (default: "float32").
        **inputs : str or iterable of str
            The axes of each input, in order, as for `module`. An axis without a size, such as seq but not seq[5], is dynamic.

        Raises
        ------
        NotationError
            If an axis needs a size (309), or onnx and onnxscript are not installed (408).

        Examples
        --------
        >>> layer.to_onnx("ffn.onnx", X="batch seq chans")  # doctest: +SKIP
        """
        self.module(dtype=dtype, **inputs).to_onnx(path)
