"""Layers: formulas with a tensor for each declared parameter.

A layer is a subclass of `Layer` with a `notation`. The notation determines the layer's parameters, shapes, errors,
files, JAX trees and PyTorch modules:

    class Linear(Layer):
        notation = '''
            Linear : ℝ^{chans} → ℝ^{out}
            Linear(X) = X ⊙_{chans} W + b
            W ∈ ℝ^{chans × out}
            b ∈ ℝ^{out}
        '''

`parameters`: checks of parameters and inputs against the declarations in the formulas.
`about`: the metadata of a layer, and the format of layer files.
`texts`: the source text of a layer class's formulas.
`families`: families of parameters, each stored in one array.
`torch_modules`: layers as PyTorch modules.
`module_methods`: the methods that convert a layer to a PyTorch module or an ONNX file.
`flax_nodes`: layers in Flax modules.
`layer_trees`: layers as JAX trees.
`layer_calls`: the methods that compute, explain and draw the values of a layer.
`layer_placement`: the methods that change how parameters are stored.
`layer`: the class `Layer`.
`memory`: storage of all parameters in one block of memory.
`quantized`: storage of parameters as 8-bit integers with a scale.
`attention_maps`: pictures of attention weights.

Contract: this package does not depend on a particular paper or model.
"""

from typing import TYPE_CHECKING

from .attention_maps import attention_maps
from .layer import Layer

if TYPE_CHECKING:
    from .quantized import Quantization
    from .torch_modules import LayerModule

__all__ = ["Layer", "LayerModule", "Quantization", "attention_maps"]


def __getattr__(name: str) -> object:
    if name not in ("LayerModule", "Quantization"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "Quantization":
        from .quantized import Quantization

        return Quantization
    from .torch_modules import LayerModule  # This import loads PyTorch.

    return LayerModule
