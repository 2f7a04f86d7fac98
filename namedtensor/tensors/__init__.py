"""Eager operations on named tensors in Python, without formulas.

`eager`: calls of single operators, which are cached by the layouts of their operands.
`functions`: functions such as `nt.softmax`, generated from the operators' records.
`creation`: functions that create a tensor from a shape, such as `nt.zeros`.
`random_numbers`: functions that create tensors of random numbers.
`quantization`: conversion of tensors to 8-bit integers with a scale.
`dlpack`: exchange of arrays with other libraries.
`elements`: methods that move or convert elements.
`selection`: methods that select elements by position.
`mapping`: the functions `nt.vmap` and `nt.scan`, which map over a named axis.
`values`: conversion of Python values to tensors.
`reshaping`: renaming, merging, splitting and indexing of axes.
`periods`: partial dates such as "2024-03" as indices.
`labeled`: operations on tensors whose axes have labels.
`lazy`: methods that are imported on first use, and hints for method names from other libraries.
`methods`: the operators and methods of NamedTensor.
`numpy_protocol`: NumPy functions on named tensors, such as `np.exp(A)`.
`mapped_axes`: names of the axes that JAX's vmap and scan map over.
`pytrees`: registration of named tensors as JAX pytrees.
`diagnostics`: errors for operands that do not match.
`tables`: formatting of tensors as tables.
`latex`: formatting of tensors as LaTeX matrices.
`digits`: the number of significant digits in printed tensors.

Contract: importing this package adds the operators and methods to the class NamedTensor in `core`.
"""

from . import methods
