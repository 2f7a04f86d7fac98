"""Layers: formulas, and a tensor for each parameter that they declare.

`parameters`: what a layer is given, against what its formulas declare.
`about`: all of a layer but its parameters, and its file.
`texts`: the formulas that a class is written with.
`families`: families of parameters in one array each.
`torch_modules`: a layer as a module of PyTorch.
`module_methods`: the methods of layers that make them.
`flax_nodes`: a layer in a module of Flax.
`layer_trees`: layers as trees of JAX.
`layer_calls`: the methods of layers that compute, explain and draw their values.
`layer_placement`: those that say how parameters are stored.
`layer`: `Layer`.
`attention_maps`: the weights of attention as pictures.

Contract: it knows of no source text and of no model.
"""
