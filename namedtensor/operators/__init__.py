"""The operators of the notation, with one record per operator and one module per section of the paper.

`record`: the record and the registry; three kinds of `lower`.
`builder`: the builder of plans, as operators see it.
`definitions`: reference definitions, on plain numbers.
`missing_definitions`: operators on missing values.
`matrix_definitions`: operators on matrices.
`transposes`: the transpose rules (VJPs) of linear operators.
`plain_numbers`: folding rules.
`new_sizes`: the sizes of axes that an operator creates.
`labels`: which labels the result of an operator has.
`elementwise`: functions of numbers.
`pseudorandom`: the pseudorandom generator.
`gamma`: the gamma function's logarithm and its derivatives.
`factorials`: the gamma function, factorials, binomial coefficients.
`reductions`: sums and other reductions over axes.
`contraction`: products, summed over axes.
`along_axes`: functions along axes, such as softmax.
`renaming`: axes renamed, merged, split.
`indexing`: elements picked by indices.
`windows`: windows of an axis, and pooling.
`linear_algebra`: inverse, determinant, trace.
`matrix_functions`: triangles, eigenvectors, exponentials of matrices.
`user_functions`: Python functions with a signature.
`array_functions`: the same on arrays, with a differential and a source text.
`usage`: how an operator is written, and its signature as the paper prints it.

Contract: it imports the core and the grammar alone and needs no arrays: `lower` takes the builder of a plan.
"""

from . import (
    along_axes,
    contraction,
    elementwise,
    factorials,
    gamma,
    indexing,
    linear_algebra,
    matrix_functions,
    pseudorandom,
    reductions,
    renaming,
    windows,
)
from .record import REGISTRY, IndexProblem, Operator, register

__all__ = ["REGISTRY", "IndexProblem", "Operator", "register"]
SECTIONS = (
    elementwise,
    gamma,
    factorials,
    pseudorandom,
    reductions,
    contraction,
    along_axes,
    renaming,
    indexing,
    windows,
    linear_algebra,
    matrix_functions,
)
