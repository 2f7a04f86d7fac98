"""The value of a formula by the paper's definitions alone: the oracle that tests compare all other ways with.

`definitions`: records, tensors, lifting and the paper's operations.
`functions`: the built-in functions by name, each as it is defined.
`environment`: where names are looked up.
`sizes`: how large an axis is, solved from equations.
`inferred_sizes`: sizes inferred from the values of equations.
`names`: what a name stands for, and what an equation gives it.
`calculus`: derivatives as limits of quotients of differences.
`element_updates`: the elements that updates replace.
`draws`: draws and expectations.
`claims`: what a program claims, checked.
`calls`: the functions that a program defines.
`sums`: operators over a variable.
`evaluation`: the evaluator: a value for each node of the tree.
`programs`: `evaluate` and `call`.

Law: it knows the scope and the grammar; no NumPy, no term and no plan, or it is no oracle.
"""

from .definitions import Tensor, at, broadcast, lift, number, tensor
from .programs import call, evaluate

__all__ = ["Tensor", "at", "broadcast", "call", "evaluate", "lift", "number", "tensor"]
