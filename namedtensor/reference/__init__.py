"""The reference evaluator. It computes checked formulas directly from the paper's definitions, to verify other code.

`definitions`: records, tensors, lifting and the paper's operations.
`terms`: the value of each term: structural terms by a rule each, operators by the definition in their record or in the prelude.
`claims`: the assertions of a program, compared with the values.
`programs`: `evaluate`, `call` and `magnitude`.

Contract: it computes with Python's numbers; it needs neither NumPy nor plans.
"""

from .definitions import Tensor, at, broadcast, lift, number, tensor
from .programs import call, evaluate, magnitude

__all__ = ["Tensor", "at", "broadcast", "call", "evaluate", "lift", "magnitude", "number", "tensor"]
