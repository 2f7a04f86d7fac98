"""The reference evaluator: computes formulas by the paper's definitions alone, as the oracle of the tests.

`definitions`: records, tensors, lifting and the paper's operations.
`functions`: the definitions of the built-in functions.
`environment`: name lookup.
`sizes`: axis sizes, solved from equations.
`inferred_sizes`: sizes inferred from the values of equations.
`names`: the meaning of a name, and its value by an equation.
`calculus`: derivatives as limits of difference quotients.
`element_updates`: the elements that updates replace.
`draws`: draws and expectations.
`claims`: checks the assertions of a program.
`calls`: the functions that a program defines.
`sums`: operators over a variable.
`evaluation`: the evaluator: a value for each node of the tree.
`programs`: `evaluate` and `call`.

Contract: it uses the scope and the grammar only; without NumPy, terms and plans it is an independent oracle.
"""

from .definitions import Tensor, at, broadcast, lift, number, tensor
from .programs import call, evaluate

__all__ = ["Tensor", "at", "broadcast", "call", "evaluate", "lift", "number", "tensor"]
