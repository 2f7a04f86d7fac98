"""Eager operations on tensors from Python: uses records, plans and backends, but no formulas.

`eager`: applies one operator, prepared for the layouts of its operands.
`functions`: functions such as nt.softmax, generated from the operators' records.
`creation`: tensors of a shape, such as zeros.
`random_numbers`: tensors of random numbers.
`quantization`: tensors as 8-bit integers with a scale.
`dlpack`: arrays of named tensors, shared with other libraries.
`elements`: methods that move or convert elements.
`selection`: methods that select elements by their positions.
`mapping`: vmap and scan by axis.
`values`: the values that convert to tensors.
`reshaping`: rename, merge, split, index.
`periods`: partial dates.
`labeled`: operations on tensors whose axes have labels.
`lazy`: methods that are imported at their first use; names of other libraries.
`methods`: the operators and methods of NamedTensor.
`numpy_protocol`: np.exp(A).
`mapped_axes`: axes that vmap and scan map over.
`pytrees`: tensors as pytrees of JAX.
`diagnostics`: errors of mismatched operands.
`tables`: tensors formatted as tables.
`latex`: a tensor as a matrix of the paper.
`digits`: significant digits of printed tensors.

Contract: importing the package adds operators and methods to NamedTensor of `core`; it does not use formulas.
"""

from . import methods
