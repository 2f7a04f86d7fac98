"""Every operator of the notation, one record each; a file for each section of the paper.

In the order in which they are read:

    record                   the record and the registry
    lowering, sizes_given    three kinds of `lower`; the sizes of axes that an operator makes
    elementwise, reductions, contraction, along_axes, renaming, indexing, windows, linear_algebra      the records
    user_functions           Python functions with a signature

Importing this registers them. Its law: it imports `core` and `grammar` alone, and needs no arrays: `lower` is handed the
builder of a plan, and what computes is made when it is called.
"""

from . import along_axes, contraction, elementwise, indexing, linear_algebra, reductions, renaming, windows
from .record import REGISTRY, IndexProblem, Operator, register

__all__ = ["REGISTRY", "IndexProblem", "Operator", "register"]
SECTIONS = (elementwise, reductions, contraction, along_axes, renaming, indexing, windows, linear_algebra)
