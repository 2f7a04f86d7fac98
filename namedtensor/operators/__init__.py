"""Every operator of the notation, one record each; a file for each section of the paper.

Importing this registers them. It needs no arrays: what computes is made when a record's `lower` is called, and imports
then what it needs.
"""

from . import along_axes, contraction, elementwise, indexing, linear_algebra, reductions, renaming, windows
from .record import REGISTRY, IndexProblem, Operator, register

__all__ = ["REGISTRY", "IndexProblem", "Operator", "register"]
SECTIONS = (elementwise, reductions, contraction, along_axes, renaming, indexing, windows, linear_algebra)
