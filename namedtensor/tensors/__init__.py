"""Tensors used from Python, one operator at a time: records, plans and backends, never a formula.

`eager`: one operator at once, prepared for the layouts of its operands.
`functions`: nt.softmax and its kin, made of the operators' records.
`values`: what counts as a tensor.
`reshaping`: rename, merge, split, index.
`methods`: the operators and methods that NamedTensor is given.
`numpy_protocol`: np.exp(A).
`mapped_axes`: axes that vmap and scan map over.
`pytrees`: tensors as trees of JAX.
`diagnostics`: errors of operands that do not fit.
`tables`: tensors printed as tables.
`latex`: a tensor as a matrix of the paper.
`digits`: significant digits of printed tensors.

Law: importing the room gives NamedTensor, which lies in `core`, its operators and methods; nothing here knows of formulas.
"""

from . import methods
