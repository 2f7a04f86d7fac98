"""Tensors used from Python, one operator at a time: records, plans and backends, never a formula.

Read in this order: `eager` (one operator at once, prepared for the layouts of its operands), `functions` (nt.softmax and
its kin, made of the operators' records), `reshaping` (rename, merge, split, index), `methods` (what NamedTensor is given),
`numpy_protocol` (np.exp(A)), `pytrees` (JAX), `diagnostics` (what is said where operands do not fit), `tables` and `digits`
(how a tensor looks).

Law: importing the room gives NamedTensor, which lies in `core`, its operators and methods; nothing here knows of formulas.
"""

from . import methods
