"""reference"""

from .definitions import Tensor, at, broadcast, evaluate, lift, number, tensor

__all__ = ["Tensor", "at", "broadcast", "evaluate", "lift", "number", "tensor"]
