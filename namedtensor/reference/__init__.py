"""reference"""

from .definitions import Tensor, at, broadcast, call, evaluate, lift, number, tensor

__all__ = ["Tensor", "at", "broadcast", "call", "evaluate", "lift", "number", "tensor"]
