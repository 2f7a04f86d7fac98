"""Tensors used from Python, one operator at a time: records, plans and backends, never a formula.

`eager`: one operator at once, prepared for the layouts of its operands.
`functions`: nt.softmax and its kin, made of the operators' records.
`values`: what counts as a tensor.
`reshaping`: rename, merge, split, index.
`methods`: what NamedTensor is given.
`numpy_protocol`: np.exp(A).
`pytrees`: tensors as trees of JAX.
`diagnostics`: what is said where operands do not fit.
`tables`: how a tensor looks.
`latex`: a tensor as a matrix of the paper.
`digits`: how many digits are shown.

Law: importing the room gives NamedTensor, which lies in `core`, its operators and methods; nothing here knows of formulas.
"""

from . import methods
