"""Layers, which are formulas with a tensor for each declared parameter; use them as `namedtensor.layers.Layer`.

A layer is a class with a `notation`. Its parameters, its shapes, its errors, its file, its trees of JAX and its modules
of PyTorch come from there:

    class Linear(Layer):
        notation = '''
            Linear : ℝ^{chans} → ℝ^{out}
            Linear(X) = X ⊙_{chans} W + b
            W ∈ ℝ^{chans × out}
            b ∈ ℝ^{out}
        '''

`parameters`: the check of a layer's inputs against the declarations of its formulas.
`about`: all of a layer but its parameters, and its file.
`texts`: the formulas that a class is written with.
`families`: families of parameters in one array each.
`torch_modules`: a layer as a module of PyTorch.
`module_methods`: the methods of layers that make them.
`flax_nodes`: a layer in a module of Flax.
`layer_trees`: layers as trees of JAX.
`layer_calls`: the methods of layers that compute, explain and draw their values.
`layer_placement`: the methods for the storage of parameters.
`layer`: `Layer`.
`memory`: the parameters in one piece of memory.
`quantized`: parameters as 8-bit integers with a scale.
`attention_maps`: the weights of attention as pictures.

Contract: it does not depend on a source text or a model.
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
    from .torch_modules import LayerModule  # which imports PyTorch

    return LayerModule
