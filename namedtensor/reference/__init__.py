"""The reference evaluator. It computes checked formulas directly from the paper's definitions, to verify other code.

`definitions`: records, tensors, lifting and the paper's operations.
`terms`: the value of each term. Structural terms are computed by rules, and operators by their definitions.
`claims`: the assertions of a program, compared with the values.
`programs`: `evaluate`, `call` and `magnitude`.

Contract: this package computes with Python numbers. It does not use NumPy or plans.
"""

from .definitions import Tensor, at, broadcast, lift, number, tensor
from .programs import call, evaluate, magnitude

__all__ = ["Tensor", "at", "broadcast", "call", "evaluate", "lift", "magnitude", "number", "tensor"]
