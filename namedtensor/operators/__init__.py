"""The operators of the notation, with one record per operator and one module per section of the paper.

`record`: the record of an operator, the registry, and functions that create lowering rules.
`builder`: the interface of the plan builder.
`prelude`: operators that are defined by other operators, in the notation.
`definitions`: reference definitions on plain numbers, for operators that the prelude does not define accurately.
`matrix_definitions`: reference definitions of operators on matrices.
`transposes`: the transpose rules (VJPs) of linear operators.
`plain_numbers`: constant folding.
`new_sizes`: the sizes of axes that an operator creates.
`labels`: the labels of an operator's result.
`elementwise`: functions of numbers.
`pseudorandom`: the pseudorandom generator.
`gamma`: the logarithm of the gamma function, and its derivatives.
`factorials`: the gamma function, factorials and binomial coefficients.
`reductions`: sums and other reductions over axes.
`contraction`: products summed over axes.
`along_axes`: functions along axes, such as softmax.
`renaming`: concatenation along an axis.
`indexing`: selection of elements by index.
`windows`: windows along an axis, and pooling.
`linear_algebra`: inverse, determinant and trace.
`matrix_functions`: Cholesky factors, eigenvectors and exponentials of matrices.
`user_functions`: Python functions with a signature.
`array_functions`: user-defined operators on arrays, with optional differentials and source text.
`usage`: the usage text of an operator, and its signature in the paper's form.

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
