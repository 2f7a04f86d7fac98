"""The operators of the notation, with one record per operator and one module per section of the paper.

`record`: the record of an operator, the registry, and three kinds of `lower`.
`builder`: the interface of the plan builder.
`prelude`: definitions of operators by other operators, in the notation.
`definitions`: reference definitions on plain numbers, for operators without an accurate line in the prelude.
`matrix_definitions`: operators on matrices.
`transposes`: the transpose rules (VJPs) of linear operators.
`plain_numbers`: folding rules.
`new_sizes`: the sizes of axes that an operator creates.
`labels`: the labels of an operator's result.
`elementwise`: functions of numbers.
`pseudorandom`: the pseudorandom generator.
`gamma`: the logarithm of the gamma function, and its derivatives.
`factorials`: the gamma function, factorials and binomial coefficients.
`reductions`: sums and other reductions over axes.
`contraction`: products that are summed over axes.
`along_axes`: functions along axes, such as softmax.
`renaming`: joining along an axis.
`indexing`: selection of elements by index.
`windows`: windows of an axis, and pooling.
`linear_algebra`: inverse, determinant and trace.
`matrix_functions`: Cholesky factors, eigenvectors and exponentials of matrices.
`user_functions`: Python functions with a signature.
`array_functions`: user-defined operators on arrays, with optional differentials and source text.
`usage`: the usage text of an operator, and the signature as the paper prints it.

Contract: the package imports only the core and the grammar. It does not use arrays, because `lower` receives a plan
builder.
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
from .record import REGISTRY, InvalidIndexError, Operator, register

__all__ = ["REGISTRY", "InvalidIndexError", "Operator", "register"]
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
