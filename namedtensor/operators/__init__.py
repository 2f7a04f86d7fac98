"""Every operator of the notation, one record each; a file for each section of the paper."""

from . import along_axes, contraction, elementwise, indexing, linear_algebra, reductions, renaming, windows
from .record import REGISTRY, IndexProblem, Operator

__all__ = [
    "IndexProblem", "Operator", "REGISTRY", "along_axes", "contraction", "elementwise", "indexing", "linear_algebra",
    "reductions", "renaming", "windows",
]  # fmt: skip
